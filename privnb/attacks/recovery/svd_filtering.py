"""Noise removal by singular values: directions that hold more noise than anything else are dropped."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import svd_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class SvdFiltering(NoiseFilter):
    """Somebody who knows how wide the noise is keeps the directions in which the release varies twice as much.

    There the originals vary at least as much as the noise does. To keep another direction would add more noise than it
    gives back.

    Source: Guo and Wu, "On the Use of Spectral Filtering for Privacy Preserving Data Mining", SAC 2006; Aggarwal and Yu
    2008, section 15.3.3.
    """

    title = "SVD filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return svd_filter(covariance, noise)
