"""Noise removal by singular values, which removes the directions that contain mostly noise."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import svd_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class SVDFiltering(NoiseFilter):
    """Keep the directions in which the release varies at least twice as much as noise of the known variance.

    In these directions, the originals vary at least as much as the noise. Each of the other directions would add more
    noise than information.

    Source: Guo and Wu, "On the Use of Spectral Filtering for Privacy Preserving Data Mining", SAC 2006; Aggarwal and Yu
    2008, section 15.3.3.
    """

    title = "SVD filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        return svd_filter(covariance, noise)
