"""Noise removal by the spectrum: directions that pure noise could explain are dropped."""

from dataclasses import dataclass

from privnb.attacks.algorithms.noise_filters import spectral_filter
from privnb.attacks.recovery.base import NoiseFilter
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class SpectralFiltering(NoiseFilter):
    """Somebody who knows how wide the noise is keeps the directions in which the release varies more than noise can.

    Of so many records of independent noise the variance in any direction has a bound, which the law of large random
    matrices gives. Directions above it must hold something of the originals. With many records the bound is close to
    the noise's variance, so that directions are kept that hold little but noise: `PcaRemoval` asks for more.

    Source: Kargupta, Datta, Wang, Sivakumar, "On the Privacy Preserving Properties of Random Data Perturbation
    Techniques", ICDM 2003; Aggarwal and Yu 2008, section 15.3.2.
    """

    title = "spectral filtering"

    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        if records < len(covariance):
            raise Unreadable(
                f"{self!r} bounds what noise can do in a release of as many rows as noisy columns, and this one "
                f"has {records} rows and {len(covariance)} noisy columns."
            )
        return spectral_filter(covariance, noise, records)
