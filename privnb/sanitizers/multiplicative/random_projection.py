"""Random projection, which maps numbers to fewer columns and preserves distances in expectation."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Count
from privnb.sanitizers.algorithms.linear import multiply_points
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.multiplicative.base import Multiplicative, TwoOrMore


@dataclass(frozen=True)
class RandomProjection(Multiplicative):
    """Project the numeric quasi-identifiers of each record to fewer columns by one secret Gaussian matrix.

    Inner products and squared distances stay the same in expectation. The variance of the inner product of x and y is
    (|x|^2 |y|^2 + (x.y)^2) / dimensions, which is large for few columns. Even an adversary who knows the matrix lacks
    one number for each column that the projection removes.

    Parameters
    ----------
    dimensions : int, optional
        The number of released columns, from 1 to the number of attributes. With None, half of the number of attributes
        is used, rounded up.
    attributes : tuple of str, optional
        At least two numeric quasi-identifiers. By default, all of them are projected.

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
            raise SanitizationError(f"{self!r} has {size} numbers to project. Lower `dimensions` to {size} or less.")
        # A row of the matrix is longer than sqrt(size) + 6 once in 10^8: its length is Lipschitz in Gaussian draws.
        reach = sqrt(size) / 2 * (sqrt(size) + 6) / sqrt(kept)
        return multiply_points(rng.standard_normal((kept, size)) / sqrt(kept), points), reach
