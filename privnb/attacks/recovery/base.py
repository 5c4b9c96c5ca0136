"""The base classes of attacks that recover the original numbers of each released row."""

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.noise_filters import moments
from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.base import Attack
from privnb.attacks.recovery.noise_knowledge import NoiseKnowledge, PublishedLaw
from privnb.attacks.recovery.recovery_knowledge import Knowledge, to_number_array
from privnb.datasets.dataset import Dataset
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Law, Unreadable, name_column
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.names import abbreviate_names
from privnb.runtime.validation import Randomness, validated

Solution = TypeVar("Solution")


class Solved(NamedTuple, Generic[Solution]):
    """The result of fitting a `Recovery`.

    Parameters
    ----------
    names : tuple of str
        The names of the released columns that the attack reads.
    targets : tuple of str
        The attributes that the attack recovers, in the order of the columns of its guesses.
    solution
        What the attack has learned. The type depends on the attack.
    units
        The `Units` of an `Unmixing`; None for other attacks.
    """

    names: tuple[str, ...]
    targets: tuple[str, ...]
    solution: Solution
    units: Any = None


class Recovery(Attack[Solved[Solution]]):
    """An adversary who recovers the original numbers of released rows.

    The adversary reads released rows, and does not need to know to whom the rows belong. The method `given` adds
    further knowledge of the type `knows`.

    Attributes
    ----------
    undoes : str
        The treatment of columns that the attack undoes: "noisy" or "perturbed".
    knows : type of Knowledge, or None
        The type of the knowledge that the adversary needs in addition to the release. If None, the adversary needs only
        public knowledge, such as the distribution of the noise.
    people : int
        The number of people whom this knowledge is about.
    """

    undoes: str
    knows: type[Knowledge] | None = None
    people: int = 0
    _knowledge: Knowledge | None = None
    supported_treatments = ("exact", "generalized", "suppressed", "noisy", "perturbed")

    def given(self, knowledge: Knowledge) -> Self:
        """Return a copy of this attack whose adversary has `knowledge`, which must be of the type `knows`."""
        if self.knows is None:
            raise UsageTypeError(
                f"{self!r} needs no knowledge in addition to the release. Fit the attack without `given`."
            )
        expect.kind("knowledge", knowledge, self.knows)
        knowing = copy(self)
        object.__setattr__(knowing, "_knowledge", knowledge)
        return knowing

    @property
    def knowledge_title(self) -> str:
        """Return the adversary's knowledge as a text for results, or an empty text if all knowledge is public."""
        return "" if self.knows is None else self.knows.title.format(people=self.people)

    @property
    def knowledge(self) -> Knowledge:
        """Return the knowledge of the adversary in addition to the release.

        Raises Unreadable if no knowledge was given.
        """
        if self._knowledge is None:
            kind = self.knows.__name__ if self.knows else "Knowledge"
            raise Unreadable(
                f"{self!r} needs to know {self.knowledge_title}, but got no knowledge. Call `given` with a {kind}, or "
                "run the attack with `evaluate`, which draws the knowledge."
            )
        return self._knowledge

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the attributes that a fitted attack recovers, in the order of the columns of its guesses."""
        return self.learned.targets

    def _learn(self, published: Published) -> Solved[Solution]:
        names = self.columns(published)
        if self.knows is not None and len(self.knowledge) > len(published.table):
            raise Unreadable(
                f"{self!r} must know at most {len(published.table):,} people, the number of rows in the release; got "
                f"{len(self.knowledge):,} people. Give the attack knowledge about fewer people."
            )
        return self._solve(to_number_array("the release", published.table, names), published, names)

    def columns(self, published: Published) -> tuple[str, ...]:
        """Return the released columns that the attack reads, which are the numeric columns with the treatment `undoes`.

        Raises Unreadable if there are no such columns, or if a column has a treatment that the attack does not support.
        """
        self.check(published)
        if found := tuple(name for name in published.treated(self.undoes) if published.schema[name].numeric):
            return found
        has = {name: each.kind for name, each in published.columns.items()}
        raise Unreadable(
            f"{type(self).__name__} needs {self.undoes} numbers; in this release, {abbreviate_names(has)} are "
            f"{' and '.join(dict.fromkeys(has.values()))}. Choose a sanitizer that makes {self.undoes} numbers."
        )

    @abstractmethod
    def _solve(self, rows: FloatArray, published: Published, names: tuple[str, ...]) -> Solved[Solution]:
        """Return what the attack learns from `rows`, the numbers in the columns `names`: float array (n, names)."""

    @abstractmethod
    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the guesses for m released rows, as a float array (m, targets)."""

    @abstractmethod
    def _expected(self) -> FloatArray:
        """Return the mean of each target according to the adversary's knowledge, as a float array (targets,)."""

    @validated
    def predict(self, known: pd.DataFrame, *, rng: Randomness = 0) -> FloatArray:
        """Return the guessed original numbers of each released row.

        Parameters
        ----------
        known : DataFrame
            A table of m released rows.
        rng : int, Generator or None
            The source of the random choice among equally good guesses.

        Returns
        -------
        float array (m, targets)
            The guesses, one column per attribute in `targets`, in the unit of the attribute.
        """
        return self._recovered(self._rows(known), np.random.default_rng(rng))

    @validated
    def baseline(self, known: pd.DataFrame, *, rng: Randomness = 0) -> FloatArray:
        """Return the mean of each target as the guess for every row: float array (m, targets)."""
        return np.tile(self._expected(), (len(self._rows(known)), 1))

    @validated
    def literal(self, known: pd.DataFrame) -> FloatArray | None:
        """Return the released numbers as guesses (m, targets), or None if a target is not a released column."""
        rows, names = self._rows(known), self.learned.names
        places = [names.index(name) for name in self.targets if name in names]
        return rows[:, places] if len(places) == len(self.targets) else None

    @validated
    def truth(self, dataset: Dataset) -> FloatArray:
        """Return, for the evaluator only, the original numbers as a float array (n, targets), NaN if missing."""
        return np.column_stack([pd.to_numeric(dataset.table[name], errors="coerce") for name in self.targets])

    def _rows(self, known: pd.DataFrame) -> FloatArray:
        names = self.learned.names
        if absent := [name for name in names if name not in known]:
            raise SchemaError(
                f"{self!r} reads {abbreviate_names(absent)} of released rows; got rows with only "
                f"{abbreviate_names(known)}. Give rows with all columns of the release."
            )
        return to_number_array("the known rows", known, names)


@dataclass(frozen=True)
class NoiseRemoval(Recovery[Solution]):
    """A `Recovery` that removes noise.

    Parameters
    ----------
    noise : NoiseKnowledge
        The adversary's knowledge of the noise; by default, the published distribution of the noise.
    """

    noise: NoiseKnowledge = field(default=PublishedLaw(), kw_only=True)

    @property
    def undoes(self) -> str:  # type: ignore[override] # it depends on the noise
        """Return the treatment of the noisy columns."""
        return self.noise.undoes

    @property
    def knowledge_title(self) -> str:
        """Return the knowledge of the noise as a text for results, or an empty text for a published distribution."""
        return self.noise.title

    def _solve(self, rows: FloatArray, published: Published, names: tuple[str, ...]) -> Solved[Solution]:
        if own := find_hidden_numbers(published):
            raise Unreadable(
                f"{type(self).__name__} removes noise from numbers, but {abbreviate_names(names)} replace "
                f"{abbreviate_names(own)}. Choose an attack on rotations or projections."
            )
        return Solved(names, names, self._without(rows, self.noise.laws(rows, published, names), published))

    @abstractmethod
    def _without(self, rows: FloatArray, laws: Mapping[str, Law], published: Published) -> Solution:
        """Return what the attack learns from the released numbers and from the distribution of each column's noise."""

    def _expected(self) -> FloatArray:
        names, published = self.learned.names, self.published
        domains = [published.schema[name].numbers for name in names]
        mean = to_number_array("the release", published.table, names).mean(axis=0)
        # # The expected noise is 0, but the mean noise of a small number of rows may be far from 0.
        return np.clip(mean, [domain.low for domain in domains], [domain.high for domain in domains])


class NoiseFilter(NoiseRemoval[Map]):
    """A `NoiseRemoval` that multiplies all records by the same matrix; see `algorithms.noise_filters`."""

    def _without(self, rows: FloatArray, laws: Mapping[str, Law], published: Published) -> Map:
        if len(rows) < 2:
            raise Unreadable(
                f"{self!r} needs at least 2 rows to measure their variation; the release has {len(rows)}. Attack a "
                "release with more rows."
            )
        mean = rows.mean(axis=0)
        return Map(mean, mean, self._made(moments(rows)[1], noise_covariance(laws), len(rows)))

    @abstractmethod
    def _made(self, covariance: FloatArray, noise: FloatArray, records: int) -> FloatArray:
        """Return the matrix of the filter, as a float array (m, m)."""

    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self.learned.solution(rows)


def find_hidden_numbers(published: Published) -> list[str]:
    """Return the numeric columns that a release hides in all rows, for example because new columns replace them."""
    numeric = (name for name in published.treated("suppressed") if published.schema[name].numeric)
    return [name for name in numeric if pd.to_numeric(published.table[name], errors="coerce").isna().all()]


def noise_covariance(laws: Mapping[str, Law]) -> FloatArray:
    """Return the covariance of the noise of columns with the given distributions, as an array (columns, columns)."""
    found = np.array([[law.covariance(other) for other in laws] for law in laws.values()], dtype=float)
    for place, (name, law) in enumerate(laws.items()):
        with name_column(name):
            found[place, place] = law.variance
    return found
