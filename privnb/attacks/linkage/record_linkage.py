"""The base classes of attacks that link a person to a released row."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from privnb.attacks.base import Attack, Columns
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import abbreviate_names
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Randomness, validated

CELLS = 2**22  # scores of people and rows that are computed at a time


Learned = TypeVar("Learned")


class RecordLinkage(Attack[Learned]):
    """An adversary who looks for a person's row, knows some columns of the person, and knows that the row is released.

    Subclasses have the parameter `known`, a tuple of columns or None for all quasi-identifiers.
    """

    HINT: ClassVar[str] = "Give one fitted to the release: Linkage().fit(published)."
    known: Columns

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.known is not None:
            object.__setattr__(self, "known", tuple(self.known))

    def _known_names(self, published: Published) -> tuple[str, ...]:
        names = self.known or tuple(published.schema.quasi_identifiers)
        if held := [name for name in names if name in published.treated("bucketized")]:
            raise Unreadable(
                f"{self!r} reads rows, and rows do not have {abbreviate_names(held)}, because these columns are "
                "bucketized. Leave these columns out of `known`, or choose another sanitizer."
            )
        if absent := [name for name in names if name not in published.table]:
            raise SchemaError(
                f"{self!r}: `known` must list columns of the release, {', '.join(published.table)}; got {absent}."
            )
        return names

    def _check_complete(self, names: tuple[str, ...], known: pd.DataFrame) -> None:
        schema = self.published.schema
        gaps = [name for name in names if schema[name].public_domain.missing is None and known[name].isna().any()]
        if gaps:
            raise SchemaError(
                f"{self!r}: `known` must not have missing values; got missing values in {gaps}. Write '*' instead of a "
                "missing value."
            )

    @abstractmethod
    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return the exact probability that `predict` returns the row in `rows` for each person, as an array (m,)."""

    @validated
    def baseline(self, known: pd.DataFrame, *, rng: Randomness = 0) -> IntArray:
        """Return a random row for each person, the guess of an adversary who knows only who is in the release."""
        return np.random.default_rng(rng).integers(len(self.published.table), size=len(known))

    def truth(self, dataset: Dataset, key: IntArray) -> IntArray:  # type: ignore[override] # its rows are the key's
        """Return the published row of each released record, in the dataset's order, as an integer array (rows,).

        `key`: the record of each published row, as `Release.publish` returns it.
        """
        if len(key) != len(self.published.table) or np.max(key) >= len(dataset):
            raise UsageError(
                f"`key` must have one row for each record of '{dataset.name}', {len(dataset)}; got {len(key)} rows. "
                f"Try the key of a release of '{dataset.name}'."
            )
        return np.argsort(key)


class Distinct:
    """The distinct rows of a table of numbers, the distinct row of each row, and the count of each distinct row.

    `values`: array (distinct, columns); `index`: integer array (rows,); `times`: array (distinct,) with the counts.
    """

    def __init__(self, columns: Mapping[str, FloatArray], rows: int) -> None:
        self.values, self.index, self.times = (
            np.zeros((min(rows, 1), 0)),
            np.zeros(rows, dtype=np.int64),
            np.array([rows]),
        )
        if columns:
            whole = np.column_stack([*columns.values()])
            self.values, index, self.times = np.unique(whole, axis=0, return_inverse=True, return_counts=True)
            self.index = index.ravel()


class Scored(NamedTuple):
    """The released columns that a `ScoredLinkage` compares, the distinct rows, and whether each column is numeric."""

    names: tuple[str, ...]
    rows: Distinct
    numeric: BoolArray
    labels: Mapping[str, Any] = {}  # the columns of labels, as a subclass reads them


class ScoredLinkage(RecordLinkage[Scored]):
    """An attack that scores every released row for every person, and links the person to a random row of the best ones.

    The attack reads numbers and categories. The attack leaves out a column that is wholly or partly suppressed, and a
    column whose values are the same in every row.
    """

    HINT: ClassVar[str] = "Give one such as DistanceLinkage()."
    supported_treatments: ClassVar[tuple[str, ...]] = ("exact", "suppressed", "noisy", "perturbed")

    def _learn(self, published: Published) -> Scored:
        names = [name for name in self._known_names(published) if name not in published.treated("suppressed")]
        columns = {name: self._points(published, name, published.table[name]) for name in names}
        columns = {name: column for name, column in columns.items() if np.ptp(column)}
        numeric = np.array([published.schema[name].numeric for name in columns], dtype=bool)
        return Scored(tuple(columns), Distinct(columns, len(published.table)), numeric)

    def _points(self, published: Published, name: str, column: pd.Series) -> FloatArray:
        """Return the cells of a column as numbers that can be compared, as a float array (n,)."""
        return to_coordinates(published, name, column)

    def _against(self, people: Distinct) -> Array:
        """Return the part of the computation of scores that depends on all known people together."""
        return np.empty(0)

    @abstractmethod
    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        """Return the score of each distinct released row for each distinct person: float array (people, rows).

        `people`: float array (people, columns) of numbers or, in columns of categories, positions; `drawn`: the result
        of `_against`.
        """

    def scores(self, known: pd.DataFrame) -> FloatArray:
        """Return the score of each released row for each person, higher if more likely, as a float array (m, rows).

        The method is meant for a limited number of people; see `OneToOne`.
        """
        everyone = self._people(known)
        found = self._scores(everyone.values, self._against(everyone))
        return found[everyone.index][:, self.learned.rows.index]

    @validated
    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return the exact probability that `predict` returns the row in `rows` for each person, as an array (m,)."""
        chances = np.zeros(len(known))
        for people, group, best, _ in self._best(known):
            true = self.learned.rows.index[rows[people]]
            chances[people] = best[group, true] / (best @ self.learned.rows.times)[group]
        return chances

    @validated
    def ranks(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return the rank of the score of each person's own row among all rows, 1 for the best, as a float array (m,).

        Rows with equal scores share the mean of their ranks. `rows` holds the row of each person, as an integer array
        (m,).
        """
        found = np.zeros(len(known))
        for people, group, _, scores in self._best(known):
            own = scores[group, self.learned.rows.index[rows[people]]][:, None]
            of_people = scores[group]
            better, equal = of_people > own + ROUNDING, np.abs(of_people - own) <= ROUNDING
            found[people] = better @ self.learned.rows.times + (equal @ self.learned.rows.times + 1) / 2
        return found

    @validated
    def predict(self, known: pd.DataFrame, *, rng: Randomness = 0) -> IntArray:
        """Return the row to which each known person is linked, drawn from the best rows, as an integer array (m,).

        `known`: DataFrame of m people with the columns that the adversary knows.
        """
        generator, chosen, rows = np.random.default_rng(rng), np.full(len(known), -1), self.learned.rows
        order, starts = np.argsort(rows.index, kind="stable"), np.cumsum(rows.times) - rows.times
        for people, group, best, _ in self._best(known):
            upto = (best * rows.times).cumsum(axis=1)[group]
            nth = generator.integers(upto[:, -1])
            distinct = (upto <= nth[:, None]).sum(axis=1)
            before = upto[np.arange(len(people)), distinct] - rows.times[distinct]
            chosen[people] = order[starts[distinct] + nth - before]
        return chosen

    def _people(self, known: pd.DataFrame) -> Distinct:
        self._check_known(self.learned.names, known)
        self._check_complete(self.known or self.learned.names, known)
        columns = {name: self._points(self.published, name, known[name]) for name in self.learned.names}
        return Distinct(columns, len(known))

    def _best(self, known: pd.DataFrame) -> Iterator[tuple[IntArray, IntArray, BoolArray, FloatArray]]:
        """Yield people (positions in `known`), the group of each person, and each group's best rows and all scores.

        People with equal known cells are one group. The best rows are a boolean array (groups, distinct rows); the
        scores are the result of `_scores`.
        """
        everyone = self._people(known)
        drawn, size = self._against(everyone), max(1, CELLS // len(self.learned.rows.values))
        order = np.argsort(everyone.index, kind="stable")
        for start in range(0, len(everyone.values), size):
            scores = self._scores(everyone.values[start : start + size], drawn)
            ends = np.searchsorted(everyone.index[order], [start, start + size])
            people = order[ends[0] : ends[1]]
            yield people, everyone.index[people] - start, scores >= scores.max(axis=1, keepdims=True) - ROUNDING, scores


def to_coordinates(published: Published, name: str, column: pd.Series) -> FloatArray:
    """Return the cells of a column as float array (n,): numbers, or the positions of categories.

    A missing number becomes a number that is far from the domain.
    """
    if published.schema[name].numeric:
        domain = published.schema[name].numbers
        return domain.points(domain.read(column).to_numpy(dtype=float))
    return (published.hierarchies.get(name) or flat(published.schema[name])).codes(column).astype(float)
