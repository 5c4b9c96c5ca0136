"""Scores of a risk: the probability that an adversary is right about each person, with the release and without it.

The mean over people, the risk of the worst-off person, the interval and the risks of groups follow from these two
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import Row
from privnb.evaluation.risks.groups import EVERYBODY, RARE, find_groups
from privnb.measures.intervals import QUANTILE, class_interval, normal_interval, variance_by_class, wilson
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Rows
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Scores:
    """The probabilities that an adversary is right about each of m people.

    Parameters
    ----------
    chance, before : float array (m,)
        The probability with the release and without it, 0 to 1.
    people : integer array (m,)
        The indices of the people in `Dataset.people`, or of the records if each record belongs to a different person.
    gain : bool
        Whether the risk is what the release adds: the mean of `chance` - `before`, with the baseline 0. If False, the
        risk is the mean of `chance`, with the mean of `before` as the baseline.
    counted : bool
        Whether the sums of `chance` and of `before` count people who are guessed correctly, so that small numbers are
        withheld.
    surest : pair of float arrays (m,), optional
        The certainty of the guess about each person, with and without the release; if None, `chance` and `before`.
    worst : bool
        Whether the largest certainty is a probability for one person.
    unsafe : bool
        Whether the largest certainty could disclose a small number of people who have a value.
    classes : integer array (m,), optional
        The class of each person in the release, see `find_class_of_people`: people in one class are not independent, so
        the interval is that of a sample of classes. If None, all people are independent.
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
        """Return the mean over people, its 95% interval, and the baseline, as (value, low, high, baseline).

        The interval describes other people who are drawn at random class by class and treated in the same way: their
        classes are made in the same way, and the model behind a guess does not change.
        """
        chance, before = float(self.chance.mean()), float(self.before.mean())
        if self.gain:
            return chance - before, *compute_paired_interval(self.chance - self.before, self.classes), 0.0
        if self.classes is None:
            return chance, *wilson(min(chance, 1) * len(self.people), len(self.people)), before
        return chance, *class_interval(self.chance, self.classes), before

    @property
    def largest(self) -> tuple[float, float]:
        """Return the score of the worst-off person, and the largest score without the release.

        If `surest` is given, the second number is the certainty of the same guess without the release.
        """
        if self.surest is None:
            return float(self.chance.max()), float(self.before.max())
        sure, before = self.surest
        return float(sure.max()), float(before[np.isclose(sure, sure.max())].min())

    @cached_property
    def counts(self) -> tuple[Any, ...]:
        """Return the numbers of correct guesses, with and without the release, that other numbers may reveal."""
        return (self.chance, self.before) if self.counted else (self.chance,)

    def of(self, chosen: BoolArray) -> Scores | GroupDifference:
        """Return the scores of the people whom a boolean array (m,) selects."""
        surest = self.surest and (self.surest[0][chosen], self.surest[1][chosen])
        parts = {name: getattr(self, name)[chosen] for name in ("chance", "before", "people")}
        classes = None if self.classes is None else self.classes[chosen]
        return replace(self, **parts, surest=surest, classes=classes)

    def rows(self, row: Callable[..., Row], dataset: Dataset, min_count: int) -> list[Row]:
        """Return rows of the mean and of the worst-off person, for everybody and then by group.

        `row` builds a row, `row(value, variant=, group=, interval=, baseline=)`.
        """
        found = []
        for group, chosen, hidden in self._groups(dataset, min_count):
            part = self.of(chosen)
            if hidden:
                value, low, high, baseline = (np.nan,) * 4
            else:
                value, low, high, baseline = part.risk
            found.append(row(value, group=group, interval=(low, high), baseline=baseline))
            if self.worst:
                largest, without = (np.nan, np.nan) if not part.people.size else part.largest
                bare = chosen.sum() < min_count or (self.unsafe and largest > without)
                largest, without = (np.nan, np.nan) if bare else (largest, without)
                found.append(row(largest, variant="largest", group=group, baseline=without))
        return found

    def _groups(self, dataset: Dataset, min_count: int) -> Iterator[tuple[str, BoolArray, bool]]:
        """Yield the name of each group, its people as a boolean array (m,), and whether its mean is withheld."""
        everybody = np.ones(len(self.people), dtype=bool)
        hidden = self._tells(everybody, min_count)
        yield EVERYBODY, everybody, hidden
        for partition in find_groups(dataset).among(self.people, min_count):
            names = list(partition)
            unseen = [self._tells(partition[name], min_count) for name in names]
            if any(unseen) and not hidden:
                unseen = self._hide_complements(partition, unseen, min_count)
            if names == [RARE]:
                rest = everybody & ~partition[RARE]
                unseen = [unseen[0] or bool(rest.any() and self._tells(rest, min_count))]
            yield from zip(names, partition.values(), unseen, strict=True)

    def _tells(self, chosen: BoolArray, min_count: int) -> bool:
        """Return whether the mean over these people would reveal a count of few people."""
        n = int(chosen.sum())
        if n < min_count:
            return True
        sums = [float(each[chosen].sum()) for each in self.counts]
        few = [
            withholding.is_few(n - each, min_count) or (self.counted and withholding.is_few(each, min_count))
            for each in sums
        ]
        return bool(any(few))

    def _hide_complements(self, partition: Mapping[str, Any], hidden: Sequence[bool], min_count: int) -> list[bool]:
        """Return whether to withhold each mean of a partition, so that none follows from the mean of all people.

        If one mean is withheld, at least two means are withheld, and the groups of the withheld means together have
        enough correct and wrong guesses.
        """
        unseen, parts = np.array(hidden), list(partition.values())
        for place in np.argsort([part.sum() for part in parts], kind="stable"):
            together = np.logical_or.reduce([part for part, hid in zip(parts, unseen, strict=True) if hid])
            if unseen.sum() > 1 and not self._tells(together, min_count):
                break
            unseen[place] = True
        return list(unseen)


@dataclass(frozen=True, eq=False)
class GroupDifference(Scores):
    """The difference between the shares of members and of other people who are guessed to be members.

    Parameters
    ----------
    member : boolean array (m,)
        Whether each person is a member.
    worth : float
        The number of independent people as which each non-member counts in the interval. The number is below 1 if
        non-members are compared with a sample of the population, because the draw of the sample also changes the share
        of non-members.
    """

    member: BoolArray = field(kw_only=True)
    worth: float = 1.0

    @property
    def risk(self) -> tuple[float, float, float, float]:
        """Return the difference between the shares, its interval, and the baseline 0: (value, low, high, baseline)."""
        first, second = (float(self.chance[who].mean()) for who in (self.member, ~self.member))
        n, m = (int(who.sum()) for who in (self.member, ~self.member))
        return first - second, *compute_difference_interval(first, second, n, m * self.worth), 0.0

    def of(self, chosen: BoolArray) -> GroupDifference:
        """Return the scores of the people whom a boolean array (m,) selects."""
        return replace(cast(GroupDifference, super().of(chosen)), member=self.member[chosen])

    def _tells(self, chosen: BoolArray, min_count: int) -> bool:
        """Return whether members or non-members are too few; guesses about a random half disclose no person's data."""
        return bool(min((self.member & chosen).sum(), (~self.member & chosen).sum()) < min_count)


def compute_difference_interval(first: float, second: float, n: float, m: float) -> tuple[float, float]:
    """Return a 95% interval (low, high) of the difference between two shares, of `n` and of `m` independent people.

    References
    ----------
    Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17, 1998,
    method 10.

    Examples
    --------
    >>> [round(end, 4) for end in compute_difference_interval(56 / 70, 48 / 80, 70, 80)]
    [0.0524, 0.3339]
    """
    n, m = max(n, 1), max(m, 1)  # an effective number of people below 1 counts as 1
    (low, high), (least, most) = wilson(first * n, n), wilson(second * m, m)
    apart = first - second
    return (float(apart - np.hypot(first - low, most - second)), float(apart + np.hypot(high - first, second - least)))


def compute_paired_interval(differences: np.ndarray, classes: np.ndarray | None = None) -> tuple[float, float]:
    """Return a 95% interval (low, high) of the mean of paired differences, each from -1 to 1.

    The interval is Wald's with two pseudo-pairs, half of each sign, so that its width is above 0 if no pair differs.
    For differences of -1, 0 and 1, it equals the interval of the source. With `classes`, an integer array (m,), the
    interval is that of a sample of classes, which is never narrower; see `intervals.class_interval`.

    Source: Agresti and Min, "Simple improved confidence intervals for comparing matched proportions", Statistics in
    Medicine 24, 2005, section 2.

    >>> low, high = compute_paired_interval(np.zeros(98))
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


def find_owners(dataset: Dataset, release: Release) -> IntArray:
    """Return the person of each row of a release: an index of `Dataset.people`, or of a record if that is None."""
    records = np.arange(len(dataset)) if release.records is None else release.records
    return records if dataset.people is None else dataset.people[records]


def find_people(dataset: Dataset, release: Release) -> IntArray:
    """Return the people who have rows in the release, in ascending order, as an integer array."""
    return np.unique(find_owners(dataset, release))


def find_class_of_people(dataset: Dataset, release: Release, groups: np.ndarray | None = None) -> np.ndarray | None:
    """Return, as an integer array (people,), the class of each person of the release; None if it has no classes.

    The people are in ascending order of their index or, without a person column, of their record. If a person has
    several records, the class of the first record counts. `groups` is the class of each row, integer array (rows,),
    such as `Release.groups`; if None, `Release.equivalence_classes` is used, provided that all quasi-identifiers have
    true labels.
    """
    if groups is None:
        if release.provenance.rows is Rows.SYNTHETIC or {*release.schema.quasi_identifiers} - {*release.treated(*TRUE)}:
            return None
        groups = release.equivalence_classes
    return groups[np.unique(find_owners(dataset, release), return_index=True)[1]]
