"""A perturbed column taken for the number that it was made of."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class NaiveEstimate(Unmixing[None]):
    """Somebody who knows nothing takes each perturbed column for a number, in the order in which they stand.

    With a rotation drawn by lot they are further from the truth than whoever guesses the mean; they hope for a matrix
    near the identity. What a perturbation hides from them it may hide from nobody else.

    Source: Chen and Liu in Aggarwal and Yu 2008, section 7.5.1 (naive estimation). Erratum: the expected variance of
    the difference of column i is c_ii + trace(C) / d, not about c_ii, for covariance C of d columns.
    """

    title = "naive estimate"
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> None:
        return None

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return seen
