"""What an adversary who takes noise off knows of it, each a type: its published law, or what they suppose or estimate.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, section 15.3, where the law is known to
all attacks. To suppose one, or to estimate its variance, is this package's.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from privnb.attacks.algorithms.noise_filters import moments, most_noise
from privnb.microdata.release import Published
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import some_of
from privnb.runtime.validation import Validated

Unit = Literal["column", "domain"]
UNITS = {"column": "of each column's deviation", "domain": "of each domain's width"}


class NoiseKnowledge(Validated, ABC):
    """What is known of noise. A subclass is a frozen dataclass of its parameters.

    Attributes
    ----------
    undoes : str
        The treatment of the columns that it is about, see `Recovery`.
    title : str
        As results say it; empty: the law that was published.
    """

    HINT: ClassVar[str] = "Give one such as EstimatedNoise()."
    undoes = "perturbed"
    title = ""

    @abstractmethod
    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        """Return the law of the noise in each of the columns `names`, of released numbers, float array (n, m).

        Raises Unreadable where the release says too little.
        """


@dataclass(frozen=True)
class PublishedLaw(NoiseKnowledge):
    """The law of the noise, which was published with the release."""

    undoes = "noisy"

    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        laws = {name: published.columns[name].law for name in names}
        return {name: law for name, law in laws.items() if law is not None}


class _Unpublished(NoiseKnowledge):
    """Gaussian noise, drawn apart in each column, equally wide in units of the column or of its domain."""

    unit: Unit

    def laws(self, rows: FloatArray, published: Published, names: Sequence[str]) -> dict[str, Law]:
        if self.unit == "domain":
            units = np.array([published.schema[name].numbers.width for name in names], dtype=float)
        else:
            units = np.sqrt(np.diag(moments(rows)[1]))
        if len(alike := np.flatnonzero(units <= 0).tolist()):
            raise Unreadable(
                f"all numbers of {some_of([names[place] for place in alike])} are alike, so that none has noise."
            )
        deviation = self._deviation(rows / units)
        return {name: _Bell(float(deviation * unit)) for name, unit in zip(names, units, strict=True)}

    @abstractmethod
    def _deviation(self, rows: FloatArray) -> float:
        """Return the standard deviation of the noise, as of the released numbers, (n, m), in units of each column."""


@dataclass(frozen=True)
class SupposedNoise(_Unpublished):
    """Gaussian noise, drawn apart in each column, of a width that nobody published and the adversary supposes.

    Parameters
    ----------
    deviation : float
        The standard deviation, in the unit; above 0. Noise of alpha times the variance of the records has
        sqrt(alpha / (1 + alpha)) standard deviations of the released column.
    unit : str
        "column": the standard deviation of the released column, of which noise has 1 at most; "domain": the width of
        the public domain.
    """

    deviation: float
    unit: Unit = "column"

    def __post_init__(self) -> None:
        super().__post_init__()
        (expect.share if self.unit == "column" else expect.positive)("deviation", self.deviation)

    @property
    def title(self) -> str:  # type: ignore[override] # of its parameters
        return f"supposed noise, {self.deviation:.3g} {UNITS[self.unit]}"

    def _deviation(self, rows: FloatArray) -> float:
        return self.deviation


@dataclass(frozen=True)
class EstimatedNoise(_Unpublished):
    """Gaussian noise, drawn apart in each column, of the greatest width that the release leaves possible.

    Such noise is as wide in the direction in which the release varies least, and there can be no more of it than that:
    see `most_noise`. The estimate is right where records hardly vary in some direction, so that columns must go
    together. Where none do, all is taken for noise, and the mean is guessed.

    Parameters
    ----------
    unit : str
        In which noise is equally wide in all columns; as of `SupposedNoise`.
    """

    unit: Unit = "column"
    title = "estimated noise"

    def _deviation(self, rows: FloatArray) -> float:
        records, columns = rows.shape
        if columns < 2 or records <= columns:
            raise Unreadable(
                f"{self!r} looks for a direction in which the release hardly varies, of two noisy columns or more and "
                f"more rows than columns, and this one has {columns} and {records} rows. Choose SupposedNoise."
            )
        return most_noise(moments(rows)[1], records) ** 0.5


@dataclass(frozen=True)
class _Bell(Law):
    """Gaussian noise, as an adversary supposes it."""

    deviation: float

    def __str__(self) -> str:
        return f"supposed Gaussian noise, standard deviation {self.deviation:g}"

    @property
    def variance(self) -> float:
        return self.deviation**2

    def cumulative(self, noise: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return ndtr(np.asarray(noise) / self.deviation)
