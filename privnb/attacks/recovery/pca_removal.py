"""Noise removal by principal components: the few directions in which the originals vary are kept."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import pca_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share


@dataclass(frozen=True)
class PcaRemoval(NoiseFilter):
    """Somebody who knows the law of the noise keeps the few directions that hold most of the originals' variance.

    The covariance of the originals is that of the release less that of the noise. Where columns go together, few
    directions hold nearly all of it, and with the others most of the noise goes: of independent noise the share of
    directions that are kept is what is left. Of noise that goes together as the columns do, nothing is gained.

    Parameters
    ----------
    captured : float
        The share of the originals' variance that the directions must hold, above 0 and at most 1.
    noise : NoiseKnowledge
        As of `NoiseRemoval`.

    Source: Huang, Du, Chen, "Deriving Private Information from Randomized Data", SIGMOD 2005 (PCA-DR); Aggarwal and Yu
    2008, sections 6.5 and 15.3.4.
    """

    captured: Share = 0.95
    title = "PCA filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return pca_filter(covariance, noise, self.captured)
