"""What every attack is that recovers numbers: of each released row it guesses the numbers that it was made from."""

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
from privnb.attacks.recovery.recovery_knowledge import Knowledge, numbers
from privnb.datasets.dataset import Dataset
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Law, Unreadable, of_column
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.names import some_of
from privnb.runtime.validation import Randomness, validated

Solution = TypeVar("Solution")


class Solved(NamedTuple, Generic[Solution]):
    """What a `Recovery` learned.

    Parameters
    ----------
    names : tuple of str
        The released columns that it reads.
    targets : tuple of str
        The attributes whose numbers it guesses, in the order of its guesses' columns.
    solution
        How it guesses them, of a type of its own.
    units
        In which units an `Unmixing` reads rows and guesses.
    """

    names: tuple[str, ...]
    targets: tuple[str, ...]
    solution: Solution
    units: Any = None


class Recovery(Attack[Solved[Solution]]):
    """An adversary who undoes what was done to the numbers of released rows, whosever they are.

    What they know of a person is the person's released row. What they know beside the release is of the type `knows`,
    and comes by `given`.

    Attributes
    ----------
    undoes : str
        The treatment of the columns that it undoes: "noisy" or "perturbed".
    knows : type of Knowledge, or None
        What the adversary must know beside the release; None: nothing that is not public, such as the law of noise.
    people : int
        Of how many people they know it.
    """

    undoes: str
    knows: type[Knowledge] | None = None
    people: int = 0
    _knowledge: Knowledge | None = None
    supported_treatments = ("exact", "generalized", "suppressed", "noisy", "perturbed")

    def given(self, knowledge: Knowledge) -> Self:
        """Return a copy of this attack whose adversary has this `Knowledge`, of the type `knows`."""
        if self.knows is None:
            raise UsageTypeError(f"{self!r} needs to know nothing beside the release. Fit it as it is.")
        expect.kind("knowledge", knowledge, self.knows)
        knowing = copy(self)
        object.__setattr__(knowing, "_knowledge", knowledge)
        return knowing

    @property
    def known_beside(self) -> str:
        """What the adversary knows beside the release, as results say it; empty: nothing that is not public."""
        return "" if self.knows is None else self.knows.title.format(people=self.people)

    @property
    def knowledge(self) -> Knowledge:
        """What the adversary knows beside the release. Raises Unreadable where nothing was given."""
        if self._knowledge is None:
            kind = self.knows.__name__ if self.knows else "Knowledge"
            raise Unreadable(
                f"{self!r} needs to know {self.known_beside}, and was given nothing. Give a {kind} by `given`; "
                "`evaluate` draws one."
            )
        return self._knowledge

    @property
    def targets(self) -> tuple[str, ...]:
        """Of a fitted attack: the attributes whose numbers it guesses, in the order of its guesses' columns."""
        return self.learned.targets

    def _learn(self, published: Published) -> Solved[Solution]:
        names = self.columns(published)
        if self.knows is not None and len(self.knowledge) > len(published.table):
            raise Unreadable(
                f"{self!r} was given {len(self.knowledge):,} known people, and the release has "
                f"{len(published.table):,} rows. Give at most as many."
            )
        return self._solve(numbers("the release", published.table, names), published, names)

    def columns(self, published: Published) -> tuple[str, ...]:
        """Return the released columns that are read, a tuple: those with numbers that were treated as `undoes` says.

        Raises Unreadable where there is none, and for a treatment of columns that it does not read.
        """
        self.check(published)
        if found := tuple(name for name in published.treated(self.undoes) if published.schema[name].numeric):
            return found
        has = {name: each.kind for name, each in published.columns.items()}
        raise Unreadable(
            f"{type(self).__name__} undoes {self.undoes} numbers, and this release has none: {some_of(has)} are "
            f"{' and '.join(dict.fromkeys(has.values()))}. Choose a sanitizer that changes numbers so."
        )

    @abstractmethod
    def _solve(self, rows: FloatArray, published: Published, names: tuple[str, ...]) -> Solved[Solution]:
        """Return what is drawn from the released columns `names`, float array (n, names), once for all guesses."""

    @abstractmethod
    def _recovered(self, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the guesses for released rows, float array (m, names): float array (m, targets)."""

    @abstractmethod
    def _expected(self) -> FloatArray:
        """Return the mean of each target as far as the adversary knows it without anybody's row: float array
        (targets,).
        """

    @validated
    def predict(self, known: pd.DataFrame, *, rng: Randomness = 0) -> FloatArray:
        """Return the numbers that each released row was made from.

        Parameters
        ----------
        known : DataFrame
            m released rows.
        rng : int, Generator or None
            Of attacks that choose among guesses that are equally good.

        Returns
        -------
        float array (m, targets)
            Columns as `targets` says, in the unit of each attribute.
        """
        return self._recovered(self._rows(known), np.random.default_rng(rng))

    @validated
    def baseline(self, known: pd.DataFrame, *, rng: Randomness = 0) -> FloatArray:
        """Return the mean of each column, for everyone: float array (m, targets)."""
        return np.tile(self._expected(), (len(self._rows(known)), 1))

    @validated
    def literal(self, known: pd.DataFrame) -> FloatArray | None:
        """Return what stands in the released rows, taken for the truth: float array (m, targets), or None."""
        rows, names = self._rows(known), self.learned.names
        places = [names.index(name) for name in self.targets if name in names]
        return rows[:, places] if len(places) == len(self.targets) else None

    @validated
    def truth(self, dataset: Dataset) -> FloatArray:
        """Return the original numbers, NaN where one is missing: float array (n, targets). For the evaluator alone."""
        return np.column_stack([pd.to_numeric(dataset.table[name], errors="coerce") for name in self.targets])

    def _rows(self, known: pd.DataFrame) -> FloatArray:
        names = self.learned.names
        if absent := [name for name in names if name not in known]:
            raise SchemaError(f"{self!r} reads {some_of(absent)} of released rows, and these have {some_of(known)}.")
        return numbers("the known rows", known, names)


@dataclass(frozen=True)
class NoiseRemoval(Recovery[Solution]):
    """A `Recovery` that takes noise off.

    Parameters
    ----------
    noise : NoiseKnowledge
        What the adversary knows of the noise: by default the law that was published.
    """

    noise: NoiseKnowledge = field(default=PublishedLaw(), kw_only=True)

    @property
    def undoes(self) -> str:  # type: ignore[override] # of the noise
        return self.noise.undoes

    @property
    def known_beside(self) -> str:
        return self.noise.title

    def _solve(self, rows: FloatArray, published: Published, names: tuple[str, ...]) -> Solved[Solution]:
        if own := hidden(published):
            raise Unreadable(
                f"{type(self).__name__} takes noise off numbers, and {some_of(names)} stand for {some_of(own)}. "
                "Choose an attack on rotations or projections."
            )
        return Solved(names, names, self._without(rows, self.noise.laws(rows, published, names), published))

    @abstractmethod
    def _without(self, rows: FloatArray, laws: Mapping[str, Law], published: Published) -> Solution:
        """Return what is learned of the released numbers, by the laws of the noise in their columns."""

    def _expected(self) -> FloatArray:
        names, published = self.learned.names, self.published
        domains = [published.schema[name].numbers for name in names]
        mean = numbers("the release", published.table, names).mean(axis=0)
        # The noise has the mean 0, but that of few rows may be anywhere.
        return np.clip(mean, [domain.low for domain in domains], [domain.high for domain in domains])


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


def hidden(published: Published) -> list[str]:
    """Return the numbers that a release hides in all rows, such as those that columns of a sanitizer's own stand for: a
    list of names.
    """
    numeric = (name for name in published.treated("suppressed") if published.schema[name].numeric)
    return [name for name in numeric if pd.to_numeric(published.table[name], errors="coerce").isna().all()]


def noise_covariance(laws: Mapping[str, Law]) -> FloatArray:
    """Return the covariance of the noise of columns, `{name: Law}`: float array (columns, columns)."""
    found = np.array([[law.covariance(other) for other in laws] for law in laws.values()], dtype=float)
    for place, (name, law) in enumerate(laws.items()):
        with of_column(name):
            found[place, place] = law.variance
    return found
