"""Noise removal that excludes originals that are too far from the noisy number or that nobody has."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.recovery.by_distribution import ByColumn, posterior
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share


@dataclass(frozen=True)
class DistributionAnalysis(ByColumn):
    """Exclude the originals of each noisy number that are impossible, given the known range of the noise.

    A possible original is within the range of the noise around the noisy number, and in a bin that is not empty in the
    reconstructed distribution. The guess is the mean of the possible originals. Unbounded noise does not exclude any
    values by its range, so the attack is for uniform noise and similar noise with a limited range. The attack recovers
    the numbers of people whose value is separated from the values of other people by a gap in the distribution.

    Parameters
    ----------
    empty : float
        A bin counts as empty if its number of originals is less than this share of the mean number per bin; above 0 and
        at most 1.
    noise : NoiseKnowledge
        The adversary's knowledge of the noise; by default, the published distribution of the noise.

    Source: Aggarwal and Yu 2008, section 15.3.6.
    """

    empty: Share = 0.1
    title = "distribution analysis"

    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        some = np.where(shares >= self.empty / len(shares), shares, 0)
        return posterior(likelihood, some / some.sum()) @ middles
