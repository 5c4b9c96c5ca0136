"""No sanitization: the original table without its identifiers, one of the two reference releases."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.runtime.lazy import pd
from privnb.sanitizers.base import Sanitized, Sanitizer


@dataclass(frozen=True)
class Identity(Sanitizer):
    """Publish every record unchanged, as a reference: this release protects nobody.

    Brickell and Shmatikov call this release "Intact".

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> Identity().sanitize(load("adult", records=10), rng=1).treated("generalized")
    ()
    """

    order_invariant = True
    title = "the original"
    counts_people = True
    treatment = "exact"
    reference = True
    coded = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        return table, {}
