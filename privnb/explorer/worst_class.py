"""The class that discloses most about the sensitive attribute, compared with the whole table.

The class is drawn only as far as the threshold rule allows: no count of few people follows from its bars, for the class
or for the other people of the table. This holds even if the reader knows the counts of the table and knows which of the
merged counts concern few people. All levels that the panel shows are computed from the bars.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from privnb.microdata import withholding
from privnb.microdata.bands import Bands
from privnb.microdata.counts import (
    count_people_among,
    count_people_by_group,
    encode_values,
    select_person_rows,
    tabulate,
    tabulate_in_parts,
)
from privnb.microdata.release import Release
from privnb.microdata.schema import to_text
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import BasicBetaLikeness
from privnb.reporting.charts.base import Aggregate
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.numerals import write_percent
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import validated
from privnb.sanitizers.base import MODEL_BY_LETTER

MAX_BARS = 14  # further values share the last bar
MAX_NAMES = 3  # a bar that more values share does not name them
MAX_TRIES = 200  # the number of classes that are tried, from the class that discloses most
UNBOUNDED = 1e15
MODELS = {letter: MODEL_BY_LETTER[letter] for letter in ("t", "delta")} | {"beta": BasicBetaLikeness}


class Level(NamedTuple):
    """The level of the class for one model.

    `is_bound` states whether the level is a lower bound, because the bars merge values. `is_worst` states whether no
    other class of the release has a worse level.
    """

    value: float
    is_bound: bool
    is_worst: bool


class ValueShares(NamedTuple):
    """A sensitive value, and the shares of the people of the class and of the table that have it.

    `is_shared` states whether several values share the bar.
    """

    value: str
    in_class: float
    in_table: float
    is_shared: bool = False

    @property
    def texts(self) -> tuple[str, str]:
        """The two shares in percent."""
        return write_percent(self.in_class), write_percent(self.in_table)


class WorstClass(NamedTuple):
    """The class that discloses most.

    `group` is "class" or "bucket". `bars` has the columns `value`, `is_shared`, `people` (in the class) and `whole` (in
    the table).
    `people` and `headcount` are the numbers of people in the class and in the table. `guess` is the most common value
    of the class, and `before` is the most common value of the table. `levels` is `{letter: Level}`. `worse` is the
    number of people in classes that disclose more and are not drawn, as `withholding.withhold_count` returns it.
    """

    group: str
    sensitive: str
    bars: Aggregate
    people: int
    headcount: int
    guess: ValueShares
    before: ValueShares
    levels: dict[str, Level]
    worse: withholding.Shown

    @property
    def has_several_values(self) -> bool:
        """Whether people may have several values, so that the shares of the values add up to more than 1."""
        return int(self.bars.rows.whole.sum()) > self.headcount

    @property
    def shares(self) -> list[tuple[ValueShares, int]]:
        """The shares and the number of people in the class of each bar."""
        return [
            (ValueShares(row.value, row.people / self.people, row.whole / self.headcount, row.is_shared), row.people)
            for row in self.bars.rows.itertuples()
        ]


class _Counts(NamedTuple):
    """The counted rows of a release, and the numbers of people by class and by value."""

    classes: IntArray
    codes: IntArray
    values: Array
    people: IntArray | None
    times: IntArray | None
    sizes: IntArray
    whole: IntArray

    @classmethod
    def of(cls, release: Release, sensitive: str) -> Self:
        classes, cells, people, times = release.counted(sensitive)
        codes, values = encode_values(cells)
        sizes, whole = (count_people_by_group(groups, people, times=times) for groups in (classes, codes))
        return cls(np.asarray(classes), codes, values, people, times, sizes, whole)

    def parts(self) -> Iterator[IntArray]:
        """Yield the number of people by class and value, a few classes at a time."""
        once = select_person_rows(self.people, self.classes, self.codes)
        weights = None if self.times is None else self.times[once]
        return tabulate_in_parts(self.classes[once], self.codes[once], (len(self.sizes), len(self.whole)), weights)

    def in_class(self, number: int) -> IntArray:
        """Return the number of people with each value in one class, as an integer array (values,)."""
        rows = np.flatnonzero(self.classes == number)
        once = rows[select_person_rows(None if self.people is None else self.people[rows], self.codes[rows])]
        weights = None if self.times is None else self.times[once]
        return tabulate(np.zeros_like(once), self.codes[once], (1, len(self.whole)), weights)[0]

    def among(self, rows: BoolArray) -> int:
        """Return the number of people with at least one of the selected rows."""
        return count_people_among(rows, self.people, self.times)


@validated
def find_worst_class(release: Release, sensitive: str, min_count: MinCount = LIMIT) -> WorstClass | str:
    """Return the class that discloses most about a sensitive attribute, or a sentence on why no class is drawn.

    The class is the one with the largest share of one value or, of several such classes, the one with the largest
    distance from the whole table (t). A class is left out if its largest bar would concern few people, or all but a few
    people of the class. If few people have some of the values, these values share one bar with further values.

    Parameters
    ----------
    release : Release
    sensitive : str
    min_count : int
        Counts of fewer people are not shown.

    Returns
    -------
    WorstClass or str
    """
    if release.groups is None:
        return "This release has no classes that an adversary could look up."
    counts, group = _Counts.of(release, sensitive), "class" if release.buckets is None else "bucket"
    largest, levels = _grade(counts)
    reached = {letter: levels[letter] >= levels[letter].max() - EXACT for letter in levels}
    rare = merge_rare(counts.whole, min_count)
    for number in _candidates(counts, largest, levels["t"], min_count):
        own = counts.in_class(number)
        merged = None if rare is None else merge_values(own, counts.whole, rare, min_count)
        # The board shows the worst t and delta exactly, so that merged counts of their class might follow.
        told = [levels[letter][number] for letter in ("t", "delta") if reached[letter][number]]
        if merged is not None and not (merged.any() and (len(counts.sizes) < 3 or np.isfinite(told).any())):
            break
    else:
        return (
            f"No {group} is drawn, because in each {group} the bar of the most common value would show fewer than "
            f"{min_count} people, or all people of the {group} but fewer than {min_count}."
        )
    people, headcount = int(counts.sizes[number]), counts.among(np.ones(len(counts.codes), dtype=bool))
    names = np.array(["missing" if pd.isna(each) else to_text(each) or "(empty)" for each in counts.values], object)
    order = _order(release, sensitive, counts)
    safe = [_join(each, merged, order) for each in (own, counts.whole)]
    found = {
        "k": Level(people, False, bool(people == counts.sizes.min())),
        "l": Level(float(people / own.max()), False, bool(largest[number] >= largest.max() - EXACT)),
    }
    for letter, kind in MODELS.items():
        level = float(kind(0.5, sensitive).level(safe[0][None], safe[1])[0])
        found[letter] = Level(level, bool(merged.any() and np.isfinite(level)), bool(reached[letter][number]))
    guess, before = (
        ValueShares(str(names[value]), float(own[value] / people), float(counts.whole[value] / headcount))
        for value in (own.argmax(), counts.whole.argmax())
    )
    worse = counts.among((largest > largest[number] + EXACT)[counts.classes])
    bars = _draw(names, own, counts.whole, merged, order, min_count)
    shown = withholding.withhold_count(worse, headcount, min_count) if worse else (0, np.nan, np.nan)
    return WorstClass(group, sensitive, bars, people, headcount, guess, before, found, shown)


def merge_rare(whole: IntArray, least: int) -> BoolArray | None:
    """Return which values of the table share one bar, because few people have some of them.

    The result is None if no count of the table can be shown. The most common value never shares a bar.

    >>> merge_rare(np.array([90, 40, 6, 5]), 10).tolist()
    [False, False, True, True]
    """
    return _merge([whole], *_bounds(whole, least), least)


def merge_values(own: IntArray, whole: IntArray, rare: BoolArray, least: int) -> BoolArray | None:
    """Return which values of a class share one bar, so that no count of few people follows from the bars.

    Parameters
    ----------
    own : integer array (values,)
        The number of people of the class with each value.
    whole : integer array (values,)
        The number of people of the table with each value. The reader may know the numbers of at least `least` people.
    rare : boolean array (values,)
        The values that share a bar in every class; see `merge_rare`.
    least : int
        Counts of fewer people are not shown.

    Returns
    -------
    boolean array (values,) or None
        None if the most common value of the class would share a bar, or if nothing protects the small counts.

    >>> none = np.zeros(4, dtype=bool)
    >>> merge_values(np.array([30, 12, 8, 0]), np.array([90, 40, 50, 20]), none, 10).tolist()
    [False, True, True, False]
    >>> merge_values(np.array([12, 3, 0, 0]), np.array([90, 50, 40, 20]), none, 10) is None
    True
    """
    place = int(rare.argmax())
    joined = []
    for each in (own, whole):  # the rare values count as one value
        made = np.where(rare, 0, each)
        made[place] += each[rare].sum()
        joined.append(made)
    own_joined, whole_joined = joined
    rest = whole_joined - own_joined
    (low, high), (least_rest, most_rest) = _bounds(own_joined, least), _bounds(rest, least)
    low, high = np.maximum(low, whole_joined - most_rest), np.minimum(high, whole_joined - least_rest)
    merged = _merge([own_joined, rest], low, high, least)
    if merged is None or (rare.any() and (own_joined.argmax() == place)):
        return None
    return merged | rare


def _bounds(counts: IntArray, least: int) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of counts for a reader who knows which of them are 0, which are few, and which are neither."""
    few, many = withholding.is_few(counts, least), counts >= least
    return np.where(many, least, np.where(few, 1.0, 0)), np.where(many, UNBOUNDED, np.where(few, least - 1.0, 0))


def _merge(rows: list[IntArray], low: FloatArray, high: FloatArray, least: int) -> BoolArray | None:
    """Return which values share one bar, so that in no row a count of few people follows.

    Each of `rows` is an integer array (values,); the bar of the first row is the one that is drawn. `low` and `high`
    are the bounds of its counts for the reader. The bar shows 0 or at least `least` people of each row, and the count
    of each value that few people of a row have can differ by 1 or more if the other counts of the bar differ too.
    """
    own = rows[0]
    few = np.logical_or.reduce([withholding.is_few(row, least) for row in rows])
    merged = few.copy()
    others = [value for value in np.argsort(own, kind="stable") if own[value] and not few[value]]
    while merged.any():
        up, down = (high - own) * merged, (own - low) * merged
        varies = ((up > 0) & (down.sum() > down)) | ((down > 0) & (up.sum() > up))
        if varies[few].all() and not any(withholding.is_few(row[merged].sum(), least) for row in rows):
            break
        if not others:
            return None
        merged[others.pop(0)] = True
    return None if merged[own.argmax()] else merged


def _grade(counts: _Counts) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return, for each class, the largest share of one value and the level of each of `MODELS`."""
    models = {letter: kind(0.5, "any") for letter, kind in MODELS.items()}  # no level depends on the bound or the name
    most, levels = list[IntArray](), {letter: list[FloatArray]() for letter in models}
    for part in counts.parts():
        most.append(part.max(axis=1))
        for letter, model in models.items():
            levels[letter].append(model.level(part, counts.whole))
    return np.concatenate(most) / counts.sizes, {letter: np.concatenate(each) for letter, each in levels.items()}


def _candidates(counts: _Counts, largest: FloatArray, distances: FloatArray, least: int) -> list[int]:
    """Return the classes whose largest bar may be drawn, from the class that discloses most."""
    most, headcount = np.rint(largest * counts.sizes), counts.among(np.ones(len(counts.codes), dtype=bool))
    may = (counts.sizes >= least) & (most >= least)
    for rest in (counts.sizes - most, headcount - counts.sizes):
        may &= ~withholding.is_few(rest, least)
    found = np.flatnonzero(may)
    order = np.lexsort([-distances[found].round(9), -largest[found].round(9)])
    return [int(number) for number in found[order[:MAX_TRIES]]]


def _order(release: Release, sensitive: str, counts: _Counts) -> IntArray:
    """Return the order of the bars: that of bands, or else from the most common value of the table."""
    domain = release.schema[sensitive].domain
    if isinstance(domain, Bands):
        return np.argsort(domain.codes(counts.values), kind="stable")
    return np.argsort(-counts.whole, kind="stable")


def _join(counts: IntArray, merged: BoolArray, order: IntArray) -> IntArray:
    """Return the counts of the bars in their order, with the merged values as the last bar."""
    alone = counts[order[~merged[order]]]
    return np.append(alone, counts[merged].sum()) if merged.any() else alone


def _draw(
    names: Array, own: IntArray, whole: IntArray, merged: BoolArray, order: IntArray, min_count: int
) -> Aggregate:
    """Return the bars; if there are too many values, the values with the fewest people share the last bar."""
    if (over := int((~merged).sum() + merged.any()) - MAX_BARS) > 0:
        rank = [value for value in np.lexsort([whole, own]) if not merged[value]]
        merged = merged.copy()
        merged[rank[: over + (not merged.any())]] = True
    shared = [str(names[value]) for value in order if merged[value]]
    last = " or ".join(shared) if len(shared) <= MAX_NAMES else f"{len(shared)} other values"
    rows = {
        "value": [*names[order[~merged[order]]], *[last] * bool(shared)],
        "is_shared": [*[False] * int((~merged).sum()), *[True] * bool(shared)],
        "people": _join(own, merged, order),
        "whole": _join(whole, merged, order),
    }
    return Aggregate(pd.DataFrame(rows), {name: name for name in rows}, min_count)
