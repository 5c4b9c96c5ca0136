"""A random subset of the records, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.runtime.lazy import pd
from privnb.runtime.validation import between
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError


@dataclass(frozen=True)
class Sampling(Sanitizer):
    """Publish a simple random sample of the records, exactly as they are.

    Whoever is in it is as exposed as in the table: all that it hides is who is in it. The rows are a subset of the
    records, in their order, and measures count the people in it; the table's other people are not counted as hidden.
    Of people with several records the sample is of people, with all records of each.

    Parameters
    ----------
    share : float
        Above 0 and below 1. So many of the people, rounded, and one at least.

    Raises
    ------
    SanitizationError
        Where the share of the table is everybody.

    Source: Aggarwal and Yu 2008, section 3.4.1; Willenborg and de Waal, "Elements of Statistical Disclosure Control",
    Springer 2001, section 1.
    """

    share: Annotated[float, between(0, 1, "a sample is a part of the people")] = 0.5
    title = "Sampling"
    treatment = "exact"
    randomized = True
    coded = True
    counts_people = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        number = max(round(self.share * dataset.headcount), 1)
        if number == dataset.headcount:
            raise SanitizationError(
                f"{self!r}: this share of {number} people is all of them. Lower it, or publish the table as Identity."
            )
        drawn = rng.permutation(dataset.headcount) < number
        rows = np.flatnonzero(drawn if dataset.people is None else drawn[dataset.people])
        return table.iloc[rows].reset_index(drop=True), {"rows": rows}
