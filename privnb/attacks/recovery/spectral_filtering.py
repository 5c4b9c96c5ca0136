"""Noise removal by the spectrum, which removes the directions that pure noise could explain."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import spectral_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class SpectralFiltering(NoiseFilter):
    """Keep the directions in which the release varies more than noise of the known variance could vary.

    For a given number of records of independent noise, the theory of large random matrices bounds the variance in any
    direction. Directions above the bound must contain part of the originals. With many records, the bound is close to
    the variance of the noise, so the attack also keeps directions that contain almost only noise. `PCARemoval` keeps
    fewer directions.

    Source: Kargupta, Datta, Wang, Sivakumar, "On the Privacy Preserving Properties of Random Data Perturbation
    Techniques", ICDM 2003; Aggarwal and Yu 2008, section 15.3.2.
    """

    title = "spectral filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        if records < len(covariance):
            raise Unreadable(
                f"{self!r} needs at least as many rows as noisy columns; the release has {records} rows and "
                f"{len(covariance)} noisy columns."
            )
        return spectral_filter(covariance, noise, records)
