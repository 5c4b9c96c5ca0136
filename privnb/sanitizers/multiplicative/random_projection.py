"""Numbers projected at random to fewer columns: distances stay in expectation."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Count
from privnb.sanitizers.algorithms.linear import multiplied
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.multiplicative.multiplied import Multiplicative, TwoOrMore


@dataclass(frozen=True)
class RandomProjection(Multiplicative):
    """Multiply the numeric quasi-identifiers of each record by one secret Gaussian matrix that has fewer rows.

    Inner products and squared distances stay in expectation: of x and y the inner product varies by (|x|^2 |y|^2 +
    (x.y)^2) / dimensions, which is much for so few columns. Whoever knows the matrix still lacks as many numbers as
    there are columns fewer.

    Parameters
    ----------
    dimensions : int, optional
        Of what is released, 1 to the number of attributes; None: half of these, rounded up.
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Source: Aggarwal and Yu 2008, sections 7.2.3 and 15.4; Liu, Kargupta, Ryan, IEEE TKDE 18(1), 2006.
    """

    dimensions: Count | None = None
    attributes: TwoOrMore = None
    order_invariant = True
    title = "Random projection"
    word = "projected"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        kept = (size + 1) // 2 if self.dimensions is None else self.dimensions
        if kept > size:
            raise SanitizationError(f"{self!r} has {size} numbers to project. Lower dimensions to {size} or less.")
        # A row of the matrix is longer than sqrt(size) + 6 once in 10^8: its length is Lipschitz in Gaussian draws.
        reach = sqrt(size) / 2 * (sqrt(size) + 6) / sqrt(kept)
        return multiplied(rng.standard_normal((kept, size)) / sqrt(kept), points), reach
