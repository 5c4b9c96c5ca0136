"""Noise removal by principal components: the attack keeps the directions in which the originals vary most."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import pca_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share


@dataclass(frozen=True)
class PCARemoval(NoiseFilter):
    """Keep the directions that contain most of the originals' variance, by the known distribution of the noise.

    The covariance of the originals is that of the release minus that of the noise. If columns are correlated, a small
    number of directions contains nearly all variance, and most of the noise is removed with the other directions. The
    share of independent noise that remains is the share of the directions that the attack keeps. The attack does not
    remove noise that is correlated like the columns.

    Parameters
    ----------
    captured : float
        The share of the originals' variance that the directions must contain, above 0 and at most 1.
    noise : NoiseKnowledge
        The adversary's knowledge of the noise; by default its published distribution.

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005 (PCA-DR); Aggarwal and Yu
    2008, sections 6.5 and 15.3.4.
    """

    captured: Share = 0.95
    title = "PCA filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return pca_filter(covariance, noise, self.captured)
