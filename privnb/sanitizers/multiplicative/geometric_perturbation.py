"""Numbers turned, shifted and blurred: a rotation whose centre is hidden and whose distances are not exact."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Positive
from privnb.sanitizers.algorithms.linear import multiplied, orthogonal
from privnb.sanitizers.multiplicative.multiplied import Multiplicative, TwoOrMore


@dataclass(frozen=True)
class GeometricPerturbation(Multiplicative):
    """Turn the numeric quasi-identifiers of all records by one secret rotation, shift them all alike, and add noise.

    The shift, drawn evenly from a width of the domain in each column, hides the centre of the rotation. The noise hides
    distances, by which somebody finds the rows of records that they know. A squared distance of two rows is on average
    2 d sigma^2 more than that of the records, for d numbers. Without noise the distances are exact.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise in each released column, in widths of a domain; 0 is refused, see `Rotation`.
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Source: Aggarwal and Yu 2008, section 7.2.5, definition 1; Chen, Sun, Liu, SDM 2007.
    """

    sigma: Positive = 0.05
    attributes: TwoOrMore = None
    title = "Geometric perturbation"
    word = "perturbed"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        turned = multiplied(orthogonal(size, rng), points) + rng.uniform(-0.5, 0.5, size)
        # Of a billion Gaussian draws the largest is about 6 deviations.
        return turned + rng.normal(0, self.sigma, points.shape), sqrt(size) / 2 + 0.5 + 6 * self.sigma
