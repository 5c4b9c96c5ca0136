"""Rotation of numbers about the middle of their domains by a secret matrix: it preserves distances, but not columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.sanitizers.algorithms.linear import draw_orthogonal, multiply_points
from privnb.sanitizers.multiplicative.base import Multiplicative, TwoOrMore


@dataclass(frozen=True)
class Rotation(Multiplicative):
    """Multiply the numeric quasi-identifiers of each record by one secret random orthogonal matrix.

    The matrix is drawn from Haar measure. Distances and inner products stay the same, so nearest neighbors, k-means and
    support vector machines learn the same as from the original numbers, measured in widths of their domains. Trees,
    which cut columns, do not learn the same. Privacy depends only on the secret matrix: an adversary who knows as many
    records as there are numbers in a record can compute the matrix, and the point in the middle of all domains does not
    move. Numbers with a coarse step also disclose the matrix: the rows of two records that differ by one step in one
    number show a column of the matrix.

    Parameters
    ----------
    attributes : tuple of str, optional
        At least two numeric quasi-identifiers. By default, all of them are rotated.

    Source: Aggarwal and Yu 2008, sections 7.2.2 and 15.4; Chen and Liu, ICDM 2005.
    """

    attributes: TwoOrMore = None
    order_invariant = True
    title = "Rotation"
    word = "rotated"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        return multiply_points(draw_orthogonal(size, rng), points), sqrt(size) / 2
