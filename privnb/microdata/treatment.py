"""The treatment of each column of a release, and the origin of the rows; attacks and measures check both facts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError

# The information that a published cell gives about the record of its row.
KINDS = {
    "exact": "the record's own value",
    "generalized": "a label that covers the record's value",
    "suppressed": "the record's own value or *",
    "bucketized": "no cell: a separate table lists the values by bucket",
    "noisy": "drawn from the record's value by a publicly known distribution",
    "perturbed": "another value, drawn or computed without a publicly known distribution",
    "synthetic": "nothing: the row is synthetic",
}
IN_BANDS = "in bands"  # the name for readers of an exact column whose domain is bands of numbers
MEANINGS = KINDS | {IN_BANDS: "the band of numbers that contains the record's value"}
TRUE = ("exact", "generalized", "suppressed")  # the kinds whose cells are all true of their records
UNTRUE = ("noisy", "perturbed", "synthetic")  # the kinds whose cells need not hold the value of their record


class Unreadable(UsageError):
    """An attack or a measure is not defined for the treatment of the columns or for the origin of the rows."""


class Rows(StrEnum):
    """The origin of the rows of a release."""

    RECORDS = "the records"  # row i is record i
    SUBSET = "a subset of the records"
    SYNTHETIC = "synthetic"

    @classmethod
    def _missing_(cls, value: object) -> "Rows | None":
        return cls.SYNTHETIC if value == "nobody's" else None  # provenance of version 0.1.0


class Law:
    """The distribution of the noise in one column.

    The distribution is public, so an adversary who sees a noisy cell can compute how likely each true value is. A
    subclass is a frozen dataclass whose fields are the parameters of the distribution, describes itself in `__str__`,
    and implements the closed forms that exist for the distribution. A measure that needs a closed form that a subclass
    does not implement is not available. The position of a number is its number of steps from the low end of the public
    domain; the position of a category is its number in the list of categories, from 0.

    Attributes
    ----------
    together : Jointly, optional
        The law of all columns that are drawn together with this column; None if the column is drawn independently.
    """

    HINT: ClassVar[str] = "Take the law of a noisy column: release.columns[name].law."
    together: "Jointly | None" = None

    def vulnerability(self, prior: FloatArray, positions: IntArray) -> float:
        """Return the probability of a correct guess of the true value from a noisy cell.

        The probability lies between `max(prior)` and `sum(prior)`.

        `prior`, a float array (m,), holds the probability of each of `positions`, an ascending integer array (m,).
        """
        raise self._without("the probability that a cell is guessed")

    def capacity(self, size: int) -> float:
        """Return the largest factor, at least 1, by which a cell with `size` values can raise an adversary's gain."""
        raise self._without("the most that a cell can reveal")

    def surprise(self, true: IntArray, seen: Array) -> FloatArray:
        """Return the negative log-likelihood of each published cell given its true position, as a float array.

        The result omits a constant. `true` is an integer array of positions. `seen` is an array of published cells,
        whose shape is the same; it holds steps from the low end of the domain, or positions of categories.
        """
        raise self._without("the probability that a row belongs to a person")

    def transition(self, size: int) -> FloatArray:
        """Return the probability of each published value given each true value, as a float array (true, published)."""
        raise self._without("the probability that one value becomes another")

    def amplification(self, size: int) -> float:
        """Return gamma, at least 1: the largest ratio between the probabilities of a cell under two true values."""
        raise self._without("the largest ratio of a cell's probabilities under two true values")

    def cumulative(self, noise: Any) -> FloatArray:
        """Return, as a float array, the probability that the noise is at most each number in `noise`.

        The numbers are in the unit of the attribute.
        """
        raise self._without("the probability that noise is at most a number")

    @property
    def variance(self) -> float:
        """The variance of the noise, in the square of the attribute's unit; above 0.

        The mean of the noise is 0.
        """
        raise self._without("the mean square of the noise")

    def covariance(self, other: str) -> float:
        """Return the covariance between this noise and that in the column `other`; 0 if they are independent."""
        return 0.0

    def found(self, groups: Sequence[IntArray]) -> float:
        """Return the expected number of people whom an adversary re-identifies by their noisy cells.

        `groups` lists, for each group that an adversary can distinguish from other groups, the positions of the people
        in the group, as an ascending integer array.
        """
        return float(sum(self.vulnerability(np.ones(len(group)), group) for group in groups))

    def _without(self, what: str) -> Unreadable:
        return Unreadable(f"{self} has no closed form of {what}. Give {type(self).__name__} one.")


@contextmanager
def name_column(name: str) -> Iterator[None]:
    """Add the name of a column to an error that the column's law raises inside the `with` statement."""
    try:
        yield
    except Unreadable as error:
        raise Unreadable(f"the noise of '{name}' cannot be evaluated: {error}") from None


@dataclass(frozen=True)
class Jointly:
    """Several columns whose values are drawn together, according to one law over the combinations of the values.

    Parameters
    ----------
    names : tuple of str
        The names of the columns.
    sizes : tuple of int
        The number of values of each column. Combinations are numbered in the order in which the last column varies
        fastest.
    law : Law
        The law over the positions of all combinations.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    law: Law

    def positions(self, columns: Sequence[IntArray] | Sequence[Sequence[int]]) -> IntArray:
        """Return the position of each combination, as an integer array (n,).

        `columns` holds the positions of the values in each column, as integer arrays (n,).

        >>> int(Jointly(("age", "sex"), (3, 2), Law()).positions([np.array([2]), np.array([1])])[0])
        5
        """
        return np.ravel_multi_index([np.asarray(column) for column in columns], self.sizes)


@dataclass(frozen=True)
class Treatment:
    """The treatment of a column: one of `KINDS`, and the `Law` of the column's noise.

    >>> str(Treatment("generalized"))
    'generalized'
    """

    kind: str
    law: Law | None = None

    def __post_init__(self) -> None:
        expect.one_of("kind", self.kind, KINDS)
        expect.kind("law", self.law, Law, type(None), instead="Subclass privnb.microdata.treatment.Law.")
        if (self.kind == "noisy") != (self.law is not None):
            raise UsageError(
                f"`law` must be given for a noisy column and for no other column; got {self.kind!r} with {self.law}."
            )

    def __str__(self) -> str:
        return f"{self.kind}: {self.law}" if self.law else self.kind

    @property
    def noise_law(self) -> Law:
        """The law of a noisy column.

        Raises Unreadable for any other column, because such a column has no law.
        """
        if self.law is None:
            raise Unreadable(f"only a noisy column has a law; this column is {self.kind}.")
        return self.law


def select_columns(columns: Mapping[str, Treatment], *kinds: str) -> tuple[str, ...]:
    """Return the names of the columns that have one of the treatments `kinds`; `columns` is `{name: Treatment}`."""
    return tuple(name for name, treatment in columns.items() if treatment.kind in kinds)
