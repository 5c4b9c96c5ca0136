"""Rotation of numbers about the middle of their domains by a secret matrix, which preserves distances, not columns."""

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
    support vector machines learn the same as from the numbers in widths of their domains. Trees, which cut columns, do
    not. Privacy rests only on the secret matrix: one known record for each number discloses the matrix, and the middle
    of the domains keeps its place. Numbers with a coarse step disclose the matrix, too: two rows that differ by one
    step in one number show a column of the matrix.

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
