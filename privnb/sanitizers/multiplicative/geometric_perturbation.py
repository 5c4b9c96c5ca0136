"""Geometric perturbation: a rotation with a hidden center and with noise, so that distances are not exact."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Positive
from privnb.sanitizers.algorithms.linear import draw_orthogonal, multiply_points
from privnb.sanitizers.multiplicative.base import Multiplicative, TwoOrMore


@dataclass(frozen=True)
class GeometricPerturbation(Multiplicative):
    """Rotate the numeric quasi-identifiers of all records by a secret matrix, shift them, and add noise.

    The shift is the same for all records and hides the center of the rotation; for each column, the shift is drawn
    uniformly from a range that is one width of the domain. The noise hides exact distances, by which an adversary could
    recognize the rows of known records: the noise raises the squared distance of two rows by 2 d sigma^2 on average,
    for d numbers. Without noise, the distances would be exact.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise in each released column, in widths of a domain. For no noise, see
        `Rotation`.
    attributes : tuple of str, optional
        At least two numeric quasi-identifiers. By default, all of them are rotated.

    Source: Aggarwal and Yu 2008, section 7.2.5, definition 1; Chen, Sun, Liu, SDM 2007.
    """

    sigma: Positive = 0.05
    attributes: TwoOrMore = None
    title = "Geometric perturbation"
    word = "perturbed"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        turned = multiply_points(draw_orthogonal(size, rng), points) + rng.uniform(-0.5, 0.5, size)
        # The largest of a billion Gaussian draws is about 6 standard deviations.
        return turned + rng.normal(0, self.sigma, points.shape), sqrt(size) / 2 + 0.5 + 6 * self.sigma
