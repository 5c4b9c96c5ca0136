"""The naive estimate, which uses each perturbed column as the guess of the original column."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.recovery.unmixing import Places, Unmixing
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class NaiveEstimate(Unmixing[None]):
    """Use each perturbed number as the guess of the original number, without further knowledge.

    After a random rotation, this guess is further from the truth than the mean. The guess succeeds only if the matrix
    is near the identity. A perturbation that defeats this attack may fail against other attacks.

    Source: Chen and Liu in Aggarwal and Yu 2008, section 7.5.1 (naive estimation). Erratum: for d columns with the
    covariance C, the expected variance of the difference between the released and the original column i is c_ii +
    trace(C) / d, not about c_ii.
    """

    title = "naive estimate"
    square = True

    def _solved(self, seen: FloatArray, people: Places) -> None:
        return None

    def _places(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        return seen
