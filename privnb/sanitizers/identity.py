"""No sanitization: the original table without its identifiers, as the other end of every comparison."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.runtime.lazy import pd
from privnb.sanitizers.base import Sanitized, Sanitizer


@dataclass(frozen=True)
class Identity(Sanitizer):
    """Publish every record as it is ("Intact" in Brickell and Shmatikov). Protects nobody."""

    order_invariant = True
    title = "the original"
    counts_people = True
    treatment = "exact"
    reference = True
    coded = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        return table, {}
