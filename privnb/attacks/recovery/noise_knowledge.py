"""The adversary's knowledge of noise, which is the published, an assumed or an estimated distribution.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, section 15.3, in which all attacks know
the distribution. Attacks that assume a distribution or estimate its variance were added by this package.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from privnb.attacks.algorithms.noise_filters import largest_noise, moments
from privnb.microdata.release import Published
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import abbreviate_names
from privnb.runtime.validation import Validated

Unit = Literal["column", "domain"]
UNITS = {"column": "of each column's deviation", "domain": "of each domain's width"}


class NoiseKnowledge(Validated, ABC):
    """Knowledge of noise. Each subclass is a frozen dataclass.

    Attributes
    ----------
    undoes : str
        The treatment of the noisy columns; see `Recovery`.
    title : str
        The text that describes the knowledge in results, which is empty for a published distribution.
    """

    HINT: ClassVar[str] = "Give one such as EstimatedNoise()."
    undoes = "perturbed"
    title = ""

    @abstractmethod
    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        """Return the distribution (`Law`) of the noise in each column of `names`.

        `rows`: the released numbers, float array (n, m).

        Raises Unreadable if the release does not contain enough information about the noise.
        """


@dataclass(frozen=True)
class PublishedLaw(NoiseKnowledge):
    """The distribution of the noise that was published with the release."""

    undoes = "noisy"

    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        """Return the published distribution of the noise in each column."""
        laws = {name: published.columns[name].law for name in names}
        return {name: law for name, law in laws.items() if law is not None}


class _Unpublished(NoiseKnowledge):
    """Independent Gaussian noise with the same standard deviation in every column, in the `unit` of the column."""

    unit: Unit

    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        """Return Gaussian distributions, one for each column, with the same deviation in units of the column."""
        if self.unit == "domain":
            units = np.array([published.schema[name].numbers.width for name in names], dtype=float)
        else:
            units = np.sqrt(np.diag(moments(rows)[1]))
        if len(constant := np.flatnonzero(units <= 0).tolist()):
            raise Unreadable(
                f"all numbers of {abbreviate_names([names[place] for place in constant])} are equal, so these columns "
                "have no noise."
            )
        deviation = self._deviation(rows / units)
        return {name: _Bell(float(deviation * unit)) for name, unit in zip(names, units, strict=True)}

    @abstractmethod
    def _deviation(self, rows: FloatArray) -> float:
        """Return the standard deviation of the noise in units of the columns, given the released numbers, (n, m)."""


@dataclass(frozen=True)
class SupposedNoise(_Unpublished):
    """Independent Gaussian noise in each column, with a standard deviation that the adversary assumes.

    Parameters
    ----------
    deviation : float
        The standard deviation in the `unit`; above 0. If the variance of the noise is alpha times the variance of the
        original records, the standard deviation of the noise is sqrt(alpha / (1 + alpha)) standard deviations of the
        released column.
    unit : str
        "column" is the standard deviation of the released column; in this unit, `deviation` is at most 1. "domain" is
        the width of the public domain.
    """

    deviation: float
    unit: Unit = "column"

    def __post_init__(self) -> None:
        super().__post_init__()
        (expect.share if self.unit == "column" else expect.positive)("deviation", self.deviation)

    @property
    def title(self) -> str:  # type: ignore[override] # it depends on the parameters
        """Return the text that describes the knowledge in results."""
        return f"supposed noise, {self.deviation:.3g} {UNITS[self.unit]}"

    def _deviation(self, rows: FloatArray) -> float:
        return self.deviation


@dataclass(frozen=True)
class EstimatedNoise(_Unpublished):
    """Independent Gaussian noise in each column, with the largest standard deviation that the release allows.

    The variance of such noise is at most the variance of the release in the direction in which the release varies
    least; see `largest_noise`. The estimate is accurate if the columns are so strongly correlated that the originals
    hardly vary in some direction. Without correlation, the attack treats all variation as noise and guesses the mean.

    Parameters
    ----------
    unit : str
        The unit in which the standard deviation of the noise is equal in all columns, as in `SupposedNoise`.
    """

    unit: Unit = "column"
    title = "estimated noise"

    def _deviation(self, rows: FloatArray) -> float:
        records, columns = rows.shape
        if columns < 2 or records <= columns:
            raise Unreadable(
                f"{self!r} needs at least 2 noisy columns and more rows than columns; the release has {columns} "
                f"columns and {records} rows. Try SupposedNoise."
            )
        return largest_noise(moments(rows)[1], records) ** 0.5


@dataclass(frozen=True)
class _Bell(Law):
    """The distribution of Gaussian noise that an adversary assumes."""

    deviation: float

    def __str__(self) -> str:
        return f"supposed Gaussian noise, standard deviation {self.deviation:g}"

    @property
    def variance(self) -> float:
        """Return the variance of the noise."""
        return self.deviation**2

    def cumulative(self, noise: FloatArray) -> FloatArray:
        """Return, for each number in `noise`, the probability that the noise is at most this number."""
        from scipy.special import ndtr

        return ndtr(np.asarray(noise) / self.deviation)
