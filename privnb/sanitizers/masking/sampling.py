"""Sampling: a random subset of the records, unchanged."""

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
    """Publish a simple random sample of the records, unchanged.

    The people in the sample are as exposed as in the whole table: the release hides only which people are in the
    sample. The rows are a subset of the records, in the order of the table. Measures count only the people in the
    sample; all other people of the table do not count as hidden. If people have several records, people are sampled,
    with all records of each sampled person.

    Parameters
    ----------
    share : float
        The share of people in the sample, above 0 and below 1; the number of people is rounded and is at least one.

    Raises
    ------
    SanitizationError
        If the sample would be the whole table.

    Source: Aggarwal and Yu 2008, section 3.4.1; Willenborg and de Waal, "Elements of Statistical Disclosure Control",
    Springer 2001, section 1.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> len(Sampling(0.25).sanitize(load("adult", records=100), rng=1).table)
    25
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
                f"{self!r}: the sample would be all {number} people. Lower `share`, or publish the table with Identity."
            )
        drawn = rng.permutation(dataset.headcount) < number
        rows = np.flatnonzero(drawn if dataset.people is None else drawn[dataset.people])
        return table.iloc[rows].reset_index(drop=True), {"rows": rows}
