"""Noise removal by one matrix, which keeps the directions in which the originals vary, or weighs them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privnb.attacks.algorithms.noise_filters import gaussian_filter, moments, pca_filter, spectral_filter, svd_filter
from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.recovery.base import NoiseRemoval
from privnb.microdata.release import Published
from privnb.microdata.treatment import Law, Unreadable, of_column
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Share


class NoiseFilter(NoiseRemoval[Map]):
    """A `NoiseRemoval` that is one matrix, see `algorithms.noise_filters`."""

    def _without(self, rows: FloatArray, laws: Mapping[str, Law], published: Published) -> Map:
        if len(rows) < 2:
            raise Unreadable(f"{self!r} reads how noisy columns vary, and the release has {len(rows)} row.")
        mean = rows.mean(axis=0)
        return Map(mean, mean, self._made(moments(rows)[1], noise_covariance(laws), len(rows)))

    @abstractmethod
    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        """Return the filter: float array (m, m)."""

    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self.learned.solution(rows)


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


def noise_covariance(laws: Mapping[str, Law]) -> FloatArray:
    """Return the covariance of the noise of columns, `{name: Law}`: float array (columns, columns)."""
    found = np.array([[law.covariance(other) for other in laws] for law in laws.values()], dtype=float)
    for place, (name, law) in enumerate(laws.items()):
        with of_column(name):
            found[place, place] = law.variance
    return found
