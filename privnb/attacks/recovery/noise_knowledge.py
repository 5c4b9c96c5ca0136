"""The adversary's knowledge of noise: its published distribution, or an assumed or estimated one.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, section 15.3, where all attacks know
the distribution. Assuming a distribution and estimating its variance are additions of this package.
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
    """Knowledge of noise. A subclass is a frozen dataclass of its parameters.

    Attributes
    ----------
    undoes : str
        The treatment of the noisy columns; see `Recovery`.
    title : str
        The text in results; empty for a published distribution.
    """

    HINT: ClassVar[str] = "Give one such as EstimatedNoise()."
    undoes = "perturbed"
    title = ""

    @abstractmethod
    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        """Return the distribution (`Law`) of the noise in each column of `names`. `rows`: released numbers, (n, m).

        Raises Unreadable if the release is not informative enough.
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
    """Independent Gaussian noise with the same deviation in every column, in units of the column or of its domain."""

    unit: Unit

    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        """Return, for each column, a Gaussian distribution with the same deviation in units of the column."""
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
        """Return the standard deviation of the noise in units of the columns, from the released numbers, (n, m)."""


@dataclass(frozen=True)
class SupposedNoise(_Unpublished):
    """Independent Gaussian noise in each column, with a deviation that the adversary assumes.

    Parameters
    ----------
    deviation : float
        The standard deviation in the `unit`; above 0. If noise has alpha times the variance of the records, its
        deviation is sqrt(alpha / (1 + alpha)) standard deviations of the released column.
    unit : str
        "column" is the standard deviation of the released column; the deviation is then at most 1. "domain" is the
        width of the public domain.
    """

    deviation: float
    unit: Unit = "column"

    def __post_init__(self) -> None:
        super().__post_init__()
        (expect.share if self.unit == "column" else expect.positive)("deviation", self.deviation)

    @property
    def title(self) -> str:  # type: ignore[override] # it depends on the parameters
        """Return the text in results."""
        return f"supposed noise, {self.deviation:.3g} {UNITS[self.unit]}"

    def _deviation(self, rows: FloatArray) -> float:
        return self.deviation


@dataclass(frozen=True)
class EstimatedNoise(_Unpublished):
    """Independent Gaussian noise in each column, with the largest deviation that the release allows.

    The variance of such noise is at most that of the release in its least variable direction, see `largest_noise`. The
    estimate is right if the columns are so strongly correlated that records hardly vary in some direction. Without
    correlation, the attack mistakes all variation for noise and guesses the mean.

    Parameters
    ----------
    unit : str
        The unit in which noise is equal in all columns, as for `SupposedNoise`.
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
    """Gaussian noise that an adversary assumes."""

    deviation: float

    def __str__(self) -> str:
        return f"supposed Gaussian noise, standard deviation {self.deviation:g}"

    @property
    def variance(self) -> float:
        """Return the variance of the noise."""
        return self.deviation**2

    def cumulative(self, noise: FloatArray) -> FloatArray:
        """Return the probability that the noise is at most each of these numbers."""
        from scipy.special import ndtr

        return ndtr(np.asarray(noise) / self.deviation)
