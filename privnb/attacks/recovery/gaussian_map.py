"""Noise removal by Bayes: the likeliest original of each noisy record, were records Gaussian."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import gaussian_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class GaussianMap(NoiseFilter):
    """Somebody who knows the law of the noise weighs each noisy record against all others, as if they were Gaussian.

    It is the likeliest original where records and noise are Gaussian, and whatever they are the guess of least squared
    error among those that are sums of the noisy numbers, so that no `NoiseFilter` does better. Noise that goes together
    as the columns do leaves it only to shrink all numbers alike towards the mean.

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005 (BE-DR); Aggarwal and Yu
    2008, section 15.3.5.
    """

    title = "MAP with a Gaussian prior"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return gaussian_filter(covariance, noise)
