"""What every risk is: how sure an adversary is of each person with the release, beside how sure without it.

The mean over people, the worst-off person, the interval and the numbers of groups all follow from these two arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import Row
from privnb.evaluation.risks.groups import EVERYBODY, RARE, groups_of
from privnb.measures.intervals import QUANTILE, normal_interval, of_classes, variance_by_class, wilson
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Rows
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Scores:
    """How likely an adversary is right about each of m people.

    Parameters
    ----------
    chance, before : float array (m,)
        With the release and without it, 0 to 1.
    people : integer array (m,)
        Who they are, a number of `Dataset.people`, or of the record where each is another person's.
    gain : bool
        Whether the risk is what the release adds, the mean of `chance` - `before` against 0, and not the mean of
        `chance` against that of `before`.
    counted : bool
        Whether the sums of `chance` and of `before` count people who are guessed right, so that few are withheld.
    surest : pair of float arrays (m,), optional
        How sure the adversary is of each, with and without the release; None: `chance` and `before`.
    worst : bool
        Whether the largest of these is a probability for one person.
    unsafe : bool
        Whether the largest one could tell how many people have a value that few have.
    classes : integer array (m,), optional
        The class of each person in the release, see `classes_of`: people in one class are not independent, and the
        interval is that of a sample of classes. None: each person is independent of the others.
    """

    chance: np.ndarray
    before: np.ndarray
    people: np.ndarray
    gain: bool = False
    counted: bool = False
    surest: tuple[FloatArray, FloatArray] | None = None
    worst: bool = True
    unsafe: bool = False
    classes: np.ndarray | None = None

    @property
    def risk(self) -> tuple[float, float, float, float]:
        """The mean over people, its 95% interval, and the baseline: value, low, high, baseline.

        The interval is that of other people, drawn at random class by class, to whom the same is done: their classes
        are made in the same way, and what a guess has learned stays as it is.
        """
        chance, before = float(self.chance.mean()), float(self.before.mean())
        if self.gain:
            return chance - before, *paired(self.chance - self.before, self.classes), 0.0
        if self.classes is None:
            return chance, *wilson(min(chance, 1) * len(self.people), len(self.people)), before
        return chance, *of_classes(self.chance, self.classes), before

    @property
    def largest(self) -> tuple[float, float]:
        """The worst-off person's, and the largest without the release, or, of `surest`, what the adversary is sure of
        without it of the same guess: two floats.
        """
        if self.surest is None:
            return float(self.chance.max()), float(self.before.max())
        sure, before = self.surest
        return float(sure.max()), float(before[np.isclose(sure, sure.max())].min())

    @cached_property
    def counts(self) -> tuple[Any, ...]:
        """The people who are guessed right, with the release and without it, as far as numbers tell of them."""
        return (self.chance, self.before) if self.counted else (self.chance,)

    def of(self, chosen: BoolArray) -> Scores | Apart:
        """Those of some of the people. `chosen`: boolean array (m,)."""
        surest = self.surest and (self.surest[0][chosen], self.surest[1][chosen])
        parts = {name: getattr(self, name)[chosen] for name in ("chance", "before", "people")}
        classes = None if self.classes is None else self.classes[chosen]
        return replace(self, **parts, surest=surest, classes=classes)

    def rows(self, row: Callable[..., Row], dataset: Dataset, fewest: int) -> list[Row]:
        """Rows of the mean and of the worst-off person, of everybody and then by group: a list.

        `row`: makes one, `row(value, variant=, group=, interval=, baseline=)`.
        """
        found = []
        for group, chosen, hidden in self._groups(dataset, fewest):
            part = self.of(chosen)
            if hidden:
                value, low, high, baseline = (np.nan,) * 4
            else:
                value, low, high, baseline = part.risk
            found.append(row(value, group=group, interval=(low, high), baseline=baseline))
            if self.worst:
                largest, without = (np.nan, np.nan) if not part.people.size else part.largest
                bare = chosen.sum() < fewest or (self.unsafe and largest > without)
                largest, without = (np.nan, np.nan) if bare else (largest, without)
                found.append(row(largest, variant="largest", group=group, baseline=without))
        return found

    def _groups(self, dataset: Dataset, fewest: int) -> Iterator[tuple[str, BoolArray, bool]]:
        """Yield each group's name, who is in it, and whether its mean is withheld."""
        everybody = np.ones(len(self.people), dtype=bool)
        hidden = self._tells(everybody, fewest)
        yield EVERYBODY, everybody, hidden
        for partition in groups_of(dataset).among(self.people, fewest):
            names = list(partition)
            unseen = [self._tells(partition[name], fewest) for name in names]
            if any(unseen) and not hidden:
                unseen = self._beside(partition, unseen, fewest)
            if names == [RARE]:
                rest = everybody & ~partition[RARE]
                unseen = [unseen[0] or bool(rest.any() and self._tells(rest, fewest))]
            yield from zip(names, partition.values(), unseen, strict=True)

    def _tells(self, chosen: BoolArray, fewest: int) -> bool:
        """Whether the mean of these people would tell of few of them."""
        n = int(chosen.sum())
        if n < fewest:
            return True
        sums = [float(each[chosen].sum()) for each in self.counts]
        few = [withholding.few(n - each, fewest) or (self.counted and withholding.few(each, fewest)) for each in sums]
        return bool(any(few))

    def _beside(self, partition: Mapping[str, Any], hidden: Sequence[bool], fewest: int) -> list[bool]:
        """Which means of a partition are withheld, such that with everybody's none of them follows: at least two, of
        whom together no few are right or wrong.
        """
        unseen, parts = np.array(hidden), list(partition.values())
        for place in np.argsort([part.sum() for part in parts], kind="stable"):
            together = np.logical_or.reduce([part for part, hid in zip(parts, unseen, strict=True) if hid])
            if unseen.sum() > 1 and not self._tells(together, fewest):
                break
            unseen[place] = True
        return list(unseen)


@dataclass(frozen=True, eq=False)
class Apart(Scores):
    """Whether each person is taken for one of a kind, and how much more often those who are of it than the others.

    Parameters
    ----------
    member : boolean array (m,)
        Who is of it.
    worth : float
        As how many independent people each of those who are not of it counts in the interval: fewer than one where
        they are compared with a sample of the population, whose draw moves their share as well.
    """

    member: BoolArray = field(kw_only=True)
    worth: float = 1.0

    @property
    def risk(self) -> tuple[float, float, float, float]:
        first, second = (float(self.chance[who].mean()) for who in (self.member, ~self.member))
        n, m = (int(who.sum()) for who in (self.member, ~self.member))
        return first - second, *difference(first, second, n, m * self.worth), 0.0

    def of(self, chosen: BoolArray) -> Apart:
        return replace(cast(Apart, super().of(chosen)), member=self.member[chosen])

    def _tells(self, chosen: BoolArray, fewest: int) -> bool:
        """Guesses are about a half that was drawn by lot: they tell of nobody, but both kinds must be some people."""
        return bool(min((self.member & chosen).sum(), (~self.member & chosen).sum()) < fewest)


def difference(first: float, second: float, n: float, m: float) -> tuple[float, float]:
    """95% interval (low, high) of the difference of two shares, of `n` and of `m` independent people.

    Source: Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine
    17, 1998, method 10.

    >>> [round(end, 4) for end in difference(56 / 70, 48 / 80, 70, 80)]
    [0.0524, 0.3339]
    """
    (low, high), (least, most) = wilson(first * n, n), wilson(second * m, m)
    apart = first - second
    return (float(apart - np.hypot(first - low, most - second)), float(apart + np.hypot(high - first, second - least)))


def paired(differences: np.ndarray, classes: np.ndarray | None = None) -> tuple[float, float]:
    """Return a 95% interval (low, high) of the mean of paired differences, each from -1 to 1.

    Wald's with two pseudo-pairs, half of each sign, so that it keeps a width where no pair differs. Of differences -1,
    0 and 1 it is that of the source. With `classes`, integer array (m,), it is that of a sample of classes, and never
    narrower, see `intervals.of_classes`.

    Source: Agresti and Min, "Simple improved confidence intervals for comparing matched proportions", Statistics in
    Medicine 24, 2005, section 2.

    >>> low, high = paired(np.zeros(98))
    >>> round(low, 3), round(high, 3)
    (-0.02, 0.02)
    """
    n = len(differences) + 2
    mean = float(np.sum(differences)) / n
    variance = max((float(np.square(differences).sum()) + 1) / n - mean**2, 0) / n
    if classes is not None:
        variance = max(variance, variance_by_class(differences, classes))
    low, high = normal_interval(mean, float(np.sqrt(variance)), QUANTILE)
    return max(-1.0, low), min(1.0, high)


def owners_of(dataset: Dataset, release: Release) -> IntArray:
    """Return whom each row of a release is of: a number of `Dataset.people`, or of the record without a key."""
    records = np.arange(len(dataset)) if release.records is None else release.records
    return records if dataset.people is None else dataset.people[records]


def people_of(dataset: Dataset, release: Release) -> IntArray:
    """Return whose rows are in the release, ascending: integer array."""
    return np.unique(owners_of(dataset, release))


def classes_of(dataset: Dataset, release: Release, groups: np.ndarray | None = None) -> np.ndarray | None:
    """Return the class of each person of the release, integer array (people,), or None where it has no classes.

    The people are in ascending order of their number, or of their record without a key; of several records of a person
    the first one's class counts. `groups`: which class each row is in, integer array (rows,), such as `Release.groups`;
    None: its set of `Release.equivalence_classes`, if all quasi-identifiers have true labels.
    """
    if groups is None:
        if release.provenance.rows is Rows.NOBODY or {*release.schema.quasi_identifiers} - {*release.treated(*TRUE)}:
            return None
        groups = release.equivalence_classes
    return groups[np.unique(owners_of(dataset, release), return_index=True)[1]]
