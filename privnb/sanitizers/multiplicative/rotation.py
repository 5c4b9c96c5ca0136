"""Numbers turned about the middle of their domains by one secret rotation: distances stay, columns do not."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.sanitizers.algorithms.linear import multiplied, orthogonal
from privnb.sanitizers.multiplicative.multiplied import Multiplicative, TwoOrMore


@dataclass(frozen=True)
class Rotation(Multiplicative):
    """Multiply the numeric quasi-identifiers of each record by one secret orthogonal matrix, drawn from Haar measure.

    Distances and inner products stay, so that nearest neighbours, k-means and support vector machines learn what they
    would from the numbers in widths of their domains; trees, which cut columns, do not. The privacy is that of the
    matrix alone: as many known records as there are numbers give it away, and the middle of the domains stays where it
    was. Numbers of a coarse step give it away, too: rows that differ by one step in one number show a column of the
    matrix.

    Parameters
    ----------
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Source: Aggarwal and Yu 2008, sections 7.2.2 and 15.4; Chen and Liu, ICDM 2005.
    """

    attributes: TwoOrMore = None
    order_invariant = True
    title = "Rotation"
    word = "rotated"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        return multiplied(orthogonal(size, rng), points), sqrt(size) / 2
