"""Noise removal by exclusion: where noise cannot reach, and where nobody was, the original is not."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.recovery.by_distribution import ByColumn, posterior
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share


@dataclass(frozen=True)
class DistributionAnalysis(ByColumn):
    """Somebody who knows how far noise can move a number crosses out what it cannot be.

    An original lies within the noise's reach of the noisy number, and where the reconstructed distribution has anybody.
    The guess is the mean of what is left. Noise without an end excludes nothing, so that it is for uniform noise and
    its like. People by themselves in a gap of the distribution are found.

    Parameters
    ----------
    empty : float
        A bin that holds less than this share of what it would if all were alike counts as empty: above 0, at most 1.
    noise : NoiseKnowledge
        As of `NoiseRemoval`.

    Source: Aggarwal and Yu 2008, section 15.3.6.
    """

    empty: Share = 0.1
    title = "distribution analysis"

    def _guess(self, likelihood: FloatArray, shares: FloatArray, middles: FloatArray) -> FloatArray:
        some = np.where(shares >= self.empty / len(shares), shares, 0)
        return posterior(likelihood, some / some.sum()) @ middles
