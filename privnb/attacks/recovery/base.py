"""What every attack is that recovers numbers: of each released row it guesses the numbers that it was made from."""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from privnb.attacks.algorithms.noise_filters import moments
from privnb.attacks.base import Attack
from privnb.attacks.recovery.noise_knowledge import NoiseKnowledge, PublishedLaw
from privnb.attacks.recovery.recovery_knowledge import numbers
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Unreadable, of_column
from privnb.runtime import expect
from privnb.runtime.names import some_of


class Recovery(Attack):
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
    targets : tuple of str
        Of a fitted attack: the attributes whose numbers it guesses, in the order of its guesses' columns.
    """

    undoes: str
    knows = None
    people = 0
    supported_treatments = ("exact", "generalized", "suppressed", "noisy", "perturbed")

    def given(self, knowledge):
        """A copy of this attack whose adversary has this `Knowledge`. Raises TypeError for another type of it."""
        if self.knows is None:
            raise TypeError(f"{self!r} needs to know nothing beside the release. Fit it as it is.")
        expect.kind("knowledge", knowledge, self.knows)
        knowing = copy(self)
        vars(knowing).update(_knowledge=knowledge)
        return knowing

    @property
    def known_beside(self):
        """What the adversary knows beside the release, as results say it; empty: nothing that is not public."""
        return "" if self.knows is None else self.knows.title.format(people=self.people)

    @property
    def knowledge(self):
        """What the adversary knows beside the release. Raises Unreadable where nothing was given."""
        if "_knowledge" not in vars(self):
            raise Unreadable(
                f"{self!r} needs to know {self.known_beside}, and was given nothing. Give a "
                f"{self.knows.__name__} by `given`; `evaluate` draws one."
            )
        return vars(self)["_knowledge"]

    def _learn(self, published):
        released = self.columns(published)
        if self.knows is not None and len(self.knowledge) > len(published.table):
            raise Unreadable(
                f"{self!r} was given {len(self.knowledge):,} known people, and the release has "
                f"{len(published.table):,} rows. Give at most as many."
            )
        rows = numbers("the release", published.table, released)
        return {"_names": released, "targets": released, **self._learned(rows, published, released)}

    def columns(self, published):
        """The released columns that are read, a tuple: those with numbers that were treated as `undoes` says.

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
    def _learned(self, rows, published, names):
        """What is drawn from the released columns `names`, float array (n, names), once for all guesses."""

    @abstractmethod
    def _recovered(self, rows, rng):
        """The guesses for released rows, float array (m, names): float array (m, targets)."""

    @abstractmethod
    def _expected(self):
        """The mean of each target as far as the adversary knows it without anybody's row: float array (targets,)."""

    def predict(self, known, *, rng=0):
        """The numbers that each released row was made from.

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
        return self._recovered(self._rows(known, rng), np.random.default_rng(rng))

    def baseline(self, known, *, rng=0):
        """The mean of each column, for everyone: float array (m, targets)."""
        return np.tile(self._expected(), (len(self._rows(known, rng)), 1))

    def literal(self, known):
        """What stands in the released rows, taken for the truth: float array (m, targets), or None."""
        rows = self._rows(known, 0)
        places = [self._names.index(name) for name in self.targets if name in self._names]
        return rows[:, places] if len(places) == len(self.targets) else None

    def truth(self, dataset):
        """The original numbers, NaN where one is missing: float array (n, targets). For the evaluator alone."""
        expect.these(dataset=dataset)
        _ = self.published  # what was released says what is guessed
        return np.column_stack([pd.to_numeric(dataset.table[name], errors="coerce") for name in self.targets])

    def _rows(self, known, rng):
        _ = self.published
        expect.these(known=known, rng=rng)
        if absent := [name for name in self._names if name not in known]:
            raise SchemaError(f"{self!r} reads {some_of(absent)} of released rows, and these have {some_of(known)}.")
        return numbers("the known rows", known, self._names)


@dataclass(frozen=True)
class NoiseRemoval(Recovery):
    """A `Recovery` that takes noise off.

    Parameters
    ----------
    noise : NoiseKnowledge
        What the adversary knows of the noise: by default the law that was published.
    """

    noise: NoiseKnowledge = field(default=PublishedLaw(), kw_only=True)

    def __post_init__(self):
        expect.kind("noise", self.noise, NoiseKnowledge, instead="Give one such as EstimatedNoise().")

    @property
    def undoes(self):
        return self.noise.undoes

    @property
    def known_beside(self):
        return self.noise.title

    def _learned(self, rows, published, names):
        if own := hidden(published):
            raise Unreadable(
                f"{type(self).__name__} takes noise off numbers, and {some_of(names)} stand for {some_of(own)}. "
                "Choose an attack on rotations or projections."
            )
        laws = self.noise.laws(rows, published, names)
        return {"_mean": rows.mean(axis=0), **self._without(rows, laws, published)}

    @abstractmethod
    def _without(self, rows, laws, published):
        """As `_learned`; `laws`: `{name: Law}` of the columns."""

    def _expected(self):
        domains = [self.published.schema[name].domain for name in self._names]
        # The noise has the mean 0, but that of few rows may be anywhere.
        return np.clip(self._mean, [domain.low for domain in domains], [domain.high for domain in domains])


class NoiseFilter(NoiseRemoval):
    """A `NoiseRemoval` that is one matrix, see `algorithms.noise_filters`."""

    def _without(self, rows, laws, published):
        if len(rows) < 2:
            raise Unreadable(f"{self!r} reads how noisy columns vary, and the release has {len(rows)} row.")
        return {"_filter": self._made(moments(rows)[1], noise_covariance(laws), len(rows))}

    @abstractmethod
    def _made(self, covariance, noise, records):
        """The filter: float array (m, m)."""

    def _recovered(self, rows, rng):
        return self._mean + (rows - self._mean) @ self._filter


def hidden(published):
    """The numbers that a release hides in all rows, such as those that columns of a sanitizer's own stand for: a list
    of names.
    """
    numeric = (name for name in published.treated("suppressed") if published.schema[name].numeric)
    return [name for name in numeric if pd.to_numeric(published.table[name], errors="coerce").isna().all()]


def noise_covariance(laws):
    """The covariance of the noise of columns, `{name: Law}`: float array (columns, columns)."""
    found = np.array([[law.covariance(other) for other in laws] for law in laws.values()], dtype=float)
    for place, (name, law) in enumerate(laws.items()):
        with of_column(name):
            found[place, place] = law.variance
    return found
