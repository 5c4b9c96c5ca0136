"""Values that change hands among people of nearby ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import plain
from privnb.microdata.rows import Microdata
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import ROUNDING
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import quasi_identifiers
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, gap, steps


def _per_cent(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 < value <= 100):
        raise UsageError(f"{name} must be per cent, a number above 0 and at most 100, got {expect.found(value)}.")


@dataclass(frozen=True)
class RankSwapping(Masking):
    """Swap each value of each quasi-identifier with one whose rank differs by at most p per cent of the records.

    Each attribute is swapped by itself: its values are ranked, equal ones in the order of the records, and from the
    lowest on each that was not swapped changes places with another one within the window, drawn at random. So every
    column has the values that it had, each as often, on the steps of its domain; what goes is who has them together. A
    category ranks where its hierarchy's line has it.

    Parameters
    ----------
    p : float
        Per cent of the number of records, above 0 and at most 100; larger moves values farther. Of fewer than two
        records within the window nobody could swap. Missing numbers stay where they are, and do not count.

    Source: Moore, "Controlled Data-Swapping Techniques for Masking Public Use Microdata Sets", U.S. Bureau of the
    Census 1996; Aggarwal and Yu 2008, section 3.3.3, where p of about 15 does well (3.6.1).
    """

    p: Annotated[float, _per_cent] = 15
    title = "Rank swapping"
    randomized = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.swapping import partners  # numba is slow to import

        names = quasi_identifiers(self, dataset.schema, "swap")
        for name in names:
            attribute, taken = dataset.schema[name], np.arange(len(dataset))
            ranked = steps(attribute, table[name]) if attribute.numeric else dataset.codes[name]
            rows = np.flatnonzero(~gap(attribute, ranked)) if attribute.numeric else taken
            order = rows[np.argsort(ranked[rows], kind="stable")]
            if len(rows):
                taken[order] = order[partners(self._window(len(rows)), rng.random(len(rows)))]
            cells = plain(table[name]).to_numpy() if attribute.numeric else table[name].array
            table[name] = cells[taken]
        return table, {"perturbed": names}

    def _window(self, n: int) -> int:
        if window := int(self.p * n / 100 + ROUNDING):
            return window
        raise SanitizationError(
            f"{self!r}: {self.p:g} % of {n} records are less than one rank. Raise p to {100 / n:.3g} or more."
        )
