"""What attacks have in common that look for the released row of a person: how likely it is found, and by chance."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple, TypeVar

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
from privnb.runtime.names import some_of
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Randomness, validated

CELLS = 2**22  # scores of a person and a row that are held at a time


Learned = TypeVar("Learned")


class RecordLinkage(Attack[Learned]):
    """Somebody knows some columns of a person, and that the person is in the release, and wants their row.

    Its subclasses have the parameter `known`, a tuple of columns or None for all quasi-identifiers.
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
                f"{self!r} reads rows, and no row has {some_of(held)}: these are bucketized. Leave them out of "
                "`known`, or choose another sanitizer."
            )
        if absent := [name for name in names if name not in published.table]:
            raise SchemaError(f"{self!r}: the release has no column {absent}; it has {', '.join(published.table)}.")
        return names

    def _check_complete(self, names: tuple[str, ...], known: pd.DataFrame) -> None:
        schema = self.published.schema
        gaps = [name for name in names if schema[name].public_domain.missing is None and known[name].isna().any()]
        if gaps:
            raise SchemaError(f"{self!r}: known has missing values in {gaps}. Leave those people out, or write '*'.")

    @abstractmethod
    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return the probability that `predict` gives `rows` (integer array (m,)), 0 to 1: exact, nothing is drawn."""

    @validated
    def baseline(self, known: pd.DataFrame, *, rng: Randomness = 0) -> IntArray:
        """Return a row at random among all: what knowing that somebody is in the release is worth by itself."""
        return np.random.default_rng(rng).integers(len(self.published.table), size=len(known))

    def truth(self, dataset: Dataset, key: IntArray) -> IntArray:  # type: ignore[override] # its rows are the key's
        """Return the published row of each record that was released, in the dataset's order: integer array (rows,).

        `key`: the record of each published row, as `Release.publish` gives it.
        """
        if len(key) != len(self.published.table) or np.max(key) >= len(dataset):
            raise UsageError(
                f"the key has {len(key)} rows, '{dataset.name}' {len(dataset)} records. Take its release's."
            )
        return np.argsort(key)


class Distinct:
    """Rows of numbers, each once: `values` (distinct, columns), which of them each row is (`index`), and how often
    (`times`).
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
    """The released columns that a `ScoredLinkage` compares, their distinct rows, and which of them are numbers."""

    names: tuple[str, ...]
    rows: Distinct
    numeric: BoolArray


class ScoredLinkage(RecordLinkage[Scored]):
    """One that scores every released row for every person, and takes a row of the best score, at random among several.

    It reads numbers and categories. A column that is suppressed, be it in part, tells of nobody and is left out, and so
    is a number that is the same in every row.
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
        """Return cells as the numbers that are compared, float array (n,)."""
        return points(published, name, column)

    def _against(self, people: Distinct) -> Array:
        """Return what is drawn from all the known people before any is scored."""
        return np.empty(0)

    @abstractmethod
    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        """Return how well each distinct released row fits each of some distinct people: float array (people, rows).

        `people`: float array (people, columns), positions for categories; `drawn`: of `_against`.
        """

    def scores(self, known: pd.DataFrame) -> FloatArray:
        """Return how well each released row fits each person, higher is likelier: float array (m, rows).

        For few people: see `OneToOne`, which says how many.
        """
        everyone = self._people(known)
        found = self._scores(everyone.values, self._against(everyone))
        return found[everyone.index][:, self.learned.rows.index]

    @validated
    def chance(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        chances = np.zeros(len(known))
        for people, group, best, _ in self._best(known):
            true = self.learned.rows.index[rows[people]]
            chances[people] = best[group, true] / (best @ self.learned.rows.times)[group]
        return chances

    @validated
    def ranks(self, known: pd.DataFrame, rows: IntArray) -> FloatArray:
        """Return at which place the person's own row stands among all: float array (m,), from 1, the best fit, to rows.

        Rows that fit as well as it share their places: it has the middle one. `rows`: integer array (m,).
        """
        found = np.zeros(len(known))
        for people, group, _, scores in self._best(known):
            own = scores[group, self.learned.rows.index[rows[people]]][:, None]
            of_people = scores[group]
            better, alike = of_people > own + ROUNDING, np.abs(of_people - own) <= ROUNDING
            found[people] = better @ self.learned.rows.times + (alike @ self.learned.rows.times + 1) / 2
        return found

    @validated
    def predict(self, known: pd.DataFrame, *, rng: Randomness = 0) -> IntArray:
        """Return the published row chosen for each known person: integer array (m,), at random among the best.

        Parameters
        ----------
        known : DataFrame
            m people with the columns that the adversary knows.
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
        """Yield `people` (positions in `known`), the `group` of each, which distinct rows are best of each group, a
        boolean array (groups, rows), and their scores, as `_scores`.
        """
        everyone = self._people(known)
        drawn, size = self._against(everyone), max(1, CELLS // len(self.learned.rows.values))
        order = np.argsort(everyone.index, kind="stable")
        for start in range(0, len(everyone.values), size):
            scores = self._scores(everyone.values[start : start + size], drawn)
            ends = np.searchsorted(everyone.index[order], [start, start + size])
            people = order[ends[0] : ends[1]]
            yield people, everyone.index[people] - start, scores >= scores.max(axis=1, keepdims=True) - ROUNDING, scores


def points(published: Published, name: str, column: pd.Series) -> FloatArray:
    """Return cells as numbers, float array (n,): a number itself, or a category's position. A missing number lies far
    off.
    """
    if published.schema[name].numeric:
        domain = published.schema[name].numbers
        return domain.points(domain.read(column).to_numpy(dtype=float))
    return (published.hierarchies.get(name) or flat(published.schema[name])).codes(column).astype(float)
