"""Rank swapping: values are swapped with values of nearby ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import decode_column
from privnb.microdata.rows import Microdata
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Percentage
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import require_quasi_identifiers
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, find_gaps, to_steps


@dataclass(frozen=True)
class RankSwapping(Masking):
    """Swap each quasi-identifier value with a value whose rank differs by at most p percent of the records.

    The attributes are swapped separately. The values of an attribute are ranked; equal values are ranked in the order
    of the records. Beginning with the lowest rank, each value that has not been swapped yet is swapped with a random
    value of a higher rank within the window that has not been swapped either. Every column therefore keeps its values,
    which remain on the steps of the domain, and their frequencies. The association between columns becomes weaker. The
    rank of a category is its position on the line of its hierarchy.

    Parameters
    ----------
    p : float
        The size of the window as a percentage of the number of records, above 0 and at most 100; a larger p moves
        values farther. The window must contain at least one other record. Missing numbers stay with their records and
        are not counted.

    Source: Moore, "Controlled Data-Swapping Techniques for Masking Public Use Microdata Sets", U.S. Bureau of the
    Census 1996; Aggarwal and Yu 2008, section 3.3.3; section 3.6.1 recommends p of about 15.
    """

    p: Percentage = 15
    title = "Rank swapping"
    randomized = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.swapping import draw_partners  # numba is slow to import

        names = require_quasi_identifiers(self, dataset.schema, "swap")
        for name in names:
            attribute, taken = dataset.schema[name], np.arange(len(dataset))
            ranked = to_steps(attribute, table[name]) if attribute.numeric else dataset.codes[name]
            rows = np.flatnonzero(~find_gaps(attribute, ranked)) if attribute.numeric else taken
            order = rows[np.argsort(ranked[rows], kind="stable")]
            if len(rows):
                taken[order] = order[draw_partners(self._window(len(rows)), rng.random(len(rows)))]
            cells = decode_column(table[name]).to_numpy() if attribute.numeric else table[name].array
            table[name] = cells[taken]
        return table, {"perturbed": names}

    def _window(self, n: int) -> int:
        if window := int(self.p * n / 100 + ROUNDING):
            return window
        raise SanitizationError(
            f"{self!r}: {self.p:g}% of {n} records is less than one rank. Raise `p` to {100 / n:.3g} or more."
        )
