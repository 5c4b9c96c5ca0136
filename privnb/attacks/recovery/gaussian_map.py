"""Noise removal by Bayes' rule: the most likely original of each noisy record under a Gaussian prior."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import gaussian_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class GaussianMap(NoiseFilter):
    """Guess the most likely original of each noisy record, given a Gaussian prior and the known noise.

    If the records and the noise are Gaussian, the guess is the most likely original. For other distributions, the guess
    is the linear guess with the smallest expected squared error, so no `NoiseFilter` has a smaller error. If the noise
    has the same correlations as the columns, the attack can only move all numbers towards the mean by the same factor.

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005 (BE-DR); Aggarwal and Yu
    2008, section 15.3.5.
    """

    title = "MAP with a Gaussian prior"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return gaussian_filter(covariance, noise)
