"""How a release treats each column, and whose its rows are: what attacks and measures ask before they read it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError

# What a published cell says of the record that its row is of.
KINDS = {
    "exact": "the record's own value",
    "generalized": "a label that covers the record's value",
    "suppressed": "the record's own value or *",
    "bucketized": "no cell: the values stand by bucket in a table of their own",
    "noisy": "drawn from the record's value by a law that everybody knows",
    "perturbed": "changed, by no law that is known",
    "synthetic": "nothing: the row is nobody's",
}
TRUE = ("exact", "generalized", "suppressed")  # kinds of which every cell is true of its record
UNTRUE = ("noisy", "perturbed", "synthetic")  # and of which a cell is a value that need not be the record's


class Unreadable(UsageError):
    """An attack or a measure cannot speak of a release that treats its columns or rows so."""


class Rows(StrEnum):
    """Whose the rows of a release are."""

    RECORDS = "the records"  # row i is record i
    SUBSET = "a subset of the records"
    NOBODY = "nobody's"


class Law:
    """The law of the noise in one column. It is public: whoever knows it can weigh what a noisy cell may stand for.

    A subclass is a frozen dataclass of its parameters, states itself in `__str__`, and gives the closed forms that it
    has; measures that need another one are absent. Positions count steps of the public domain, or categories, from 0.

    Attributes
    ----------
    together : Jointly, optional
        The law of all columns that are drawn together with this one; None: the column is drawn by itself.
    """

    HINT: ClassVar[str] = "A release has that of each noisy column: release.columns[name].law."
    together: "Jointly | None" = None

    def vulnerability(self, prior: FloatArray, positions: IntArray) -> float:
        """How likely the true value is guessed from a noisy cell: a number from `max(prior)` to `sum(prior)`.

        `prior`: float array (m,), how likely each of the ascending `positions`, integer array (m,), is.
        """
        raise self._without("how likely a cell is guessed")

    def capacity(self, size: int) -> float:
        """How many times more any adversary can gain from a cell of a domain of `size` values: 1 and more."""
        raise self._without("what a cell can tell at most")

    def surprise(self, true: IntArray, seen: Array) -> FloatArray:
        """-ln of how likely each cell is seen where each position is true, up to a constant: float array.

        `true`: integer array; `seen`: array of the same shape, in steps from 0 or positions of categories.
        """
        raise self._without("how likely a row is anybody's")

    def transition(self, size: int) -> FloatArray:
        """How likely each value is published for each true one: float array (size, size), rows add up to 1."""
        raise self._without("how likely each value becomes each other one")

    def amplification(self, size: int) -> float:
        """Gamma: how many times likelier any cell is for one true value than for another, of `size` values; from 1."""
        raise self._without("how much likelier one true value makes a cell than another does")

    def cumulative(self, noise: Any) -> FloatArray:
        """How likely the noise is at most each of these numbers, in the attribute's unit: float array."""
        raise self._without("how likely noise is at most a number")

    @property
    def variance(self) -> float:
        """The mean square of the noise, whose mean is 0, in the attribute's unit squared: float above 0."""
        raise self._without("how far it moves a number")

    def covariance(self, other: str) -> float:
        """That of the noise in this column with the noise in the column `other`: 0 where it is drawn by itself."""
        return 0.0

    def found(self, groups: Sequence[IntArray]) -> float:
        """How many people are found by their noisy cell, on average, among people of different values.

        `groups`: the positions in each group of people who are known apart, a list of ascending integer arrays.
        """
        return float(sum(self.vulnerability(np.ones(len(group)), group) for group in groups))

    def _without(self, what: str) -> Unreadable:
        return Unreadable(f"{self} has no closed form of {what}. Give {type(self).__name__} one.")


@contextmanager
def of_column(name: str) -> Iterator[None]:
    """What a law refuses inside names the column whose noise it is of."""
    try:
        yield
    except Unreadable as error:
        raise Unreadable(f"of the noise of '{name}' nothing is known here: {error}") from None


@dataclass(frozen=True)
class Jointly:
    """Several columns drawn together: one law over the combinations of their values.

    Parameters
    ----------
    names : tuple of str
        The columns.
    sizes : tuple of int
        How many values each has. A combination's position counts the last column's values fastest.
    law : Law
        Over the positions of all combinations.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    law: Law

    def positions(self, columns: Sequence[IntArray] | Sequence[Sequence[int]]) -> IntArray:
        """The position of each combination, integer array (n,). `columns`: integer arrays (n,), one of each column.

        >>> int(Jointly(("age", "sex"), (3, 2), Law()).positions([np.array([2]), np.array([1])])[0])
        5
        """
        return np.ravel_multi_index([np.asarray(column) for column in columns], self.sizes)


@dataclass(frozen=True)
class Treatment:
    """What was done to a column: one of `KINDS`, and the `Law` of noise.

    >>> str(Treatment("generalized"))
    'generalized'
    """

    kind: str
    law: Law | None = None

    def __post_init__(self) -> None:
        expect.one_of("kind", self.kind, KINDS)
        expect.kind("law", self.law, Law, type(None), instead="Subclass privnb.microdata.treatment.Law.")
        if (self.kind == "noisy") != (self.law is not None):
            raise UsageError(f"a noisy column has a law and no other one has, got {self.kind!r} with {self.law}.")

    def __str__(self) -> str:
        return f"{self.kind}: {self.law}" if self.law else self.kind

    @property
    def noise_law(self) -> Law:
        """The law of a noisy column. Raises Unreadable for another column, which has none."""
        if self.law is None:
            raise Unreadable(f"a column has a law if it is noisy, this one is {self.kind}.")
        return self.law


def treated(columns: Mapping[str, Treatment], *kinds: str) -> tuple[str, ...]:
    """The names of the columns, of `{name: Treatment}`, that were treated in one of these ways: a tuple."""
    return tuple(name for name, treatment in columns.items() if treatment.kind in kinds)
