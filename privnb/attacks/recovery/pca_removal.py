"""Noise removal by principal components, which keeps the directions in which the originals vary most."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import pca_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share


@dataclass(frozen=True)
class PCARemoval(NoiseFilter):
    """Keep the directions that contain most of the originals' variance, given the known distribution of the noise.

    The covariance of the originals is the covariance of the release minus the covariance of the noise. If the columns
    are correlated, a small number of directions contains nearly all variance of the originals, and the attack removes
    most of the noise by removing the other directions. The share of independent noise that remains is the number of
    kept directions divided by the number of all directions. The attack does not remove noise that has the same
    correlations as the columns.

    Parameters
    ----------
    captured : float
        The share of the originals' variance that the kept directions must contain, above 0 and at most 1.
    noise : NoiseKnowledge
        The adversary's knowledge of the noise; by default, the published distribution of the noise.

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005 (PCA-DR); Aggarwal and Yu
    2008, sections 6.5 and 15.3.4.
    """

    captured: Share = 0.95
    title = "PCA filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return pca_filter(covariance, noise, self.captured)
