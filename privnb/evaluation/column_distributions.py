"""The distribution of people over the values of each column, in the original table and in a release.

The values of a column are put into at most 20 groups. The groups of a numeric column are runs of its public bands. The
groups of a categorical column are the most common categories, and one group for all other categories. Groups are merged
until the shown counts reveal no count of fewer than `min_count` people. The people of a release are counted in the
groups of the original, so that the two distributions can be compared.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.dataset_summary import measure_uniqueness
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row, check_results, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.microdata import withholding
from privnb.microdata.bands import Bands
from privnb.microdata.counts import count_people_among, count_people_by_group, select_person_rows
from privnb.microdata.hierarchy import SUPPRESSED, flat
from privnb.microdata.hierarchy.generalization import OnALine
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Numbers, to_text
from privnb.microdata.treatment import KINDS, TRUE, Rows
from privnb.microdata.withholding import LIMIT, Margin, MinCount, ReportedCount
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.names import parse_names
from privnb.runtime.sentences import strip_markup
from privnb.runtime.validation import optional, validated
from privnb.runtime.wording import line
from privnb.sanitizers import Identity

MAX_VALUES, MAX_BANDS = 8, 18  # groups of categories that are named, and of numbers
OTHER, MISSING, STARS, OUTSIDE = "other", "missing", "suppressed", "outside"  # the variants of a group without a value
COLUMN_CHANGES = ("changed_cells", "distribution_change")  # the measures of a column of a release
NAMES = {OTHER: "other values", MISSING: "missing", STARS: "suppressed (*)", OUTSIDE: "outside of the domain"}

register_measure(
    "people_with_value",
    title="People with a value",
    sentence="This is the number of people with a value of a column, or with one of a group of values. For generalized "
    "cells, it is the number expected if all values of a label are equally likely.",
    unit="people",
)
register_measure(
    "missing_people", title="Missing", sentence="This is the number of people with a missing value.", unit="people"
)
register_measure(
    "rare_values",
    sentence="This is the number of values of a column that fewer people than the minimum count have.",
    format="{:,}",
)
register_measure(
    "commonest_value",
    sentence="This is the share of people who have the most common value of a column, which is the group of the row.",
    unit="share of people",
)
register_measure(
    "added_uniqueness",
    sentence="This is the share of people who are unique by all quasi-identifiers and would not be unique without this "
    "one.",
    unit="share of people",
)
register_measure(
    "changed_cells",
    sentence="This is the share of people whose published value of a column is not exactly their own.",
    unit="share of people",
)
register_measure(
    "distribution_change",
    sentence="This is the share of people who would have to move to another group of values to turn the original "
    "distribution of a column into that of the release.",
    source="total variation distance",
    unit="share of people",
)


class ValueGroups(NamedTuple):
    """The groups of the values of one column.

    Attributes
    ----------
    attribute : Attribute
    labels : list of str
    variants : list of str
        For each group: "other", "missing" or "outside" if the label of the group does not name values; otherwise empty.
    people : list of int
        The number of people of the original in each group.
    starts : integer array (groups of numbers,)
        The positions of the domain at which the groups of numbers begin; empty for a categorical column.
    place : dict of str to int
        The index of the group of each category or band; a category that is not a key is in the group "other".
    min_count : int
        The minimum number of people in a group that is not empty.
    """

    attribute: Attribute
    labels: list[str]
    variants: list[str]
    people: list[int]
    starts: IntArray
    place: Mapping[str, int]
    min_count: int

    def of(self, values: Any) -> IntArray:
        """Return, as an integer array (m,), the group of each of m values of the column."""
        if not len(self.starts) or isinstance(self.attribute.domain, Bands):
            other = self.variants.index(OTHER)
            return np.array([self.place.get(to_text(value), other) for value in values], dtype=np.int64)
        domain = self.attribute.numbers
        steps = (pd.to_numeric(np.asarray(values), errors="coerce").astype(float) - domain.low) / domain.step
        inside = (steps > -0.5) & (steps < domain.steps + 0.5)
        found = self.at(np.where(inside, np.rint(np.where(inside, steps, 0)), 0).astype(np.int64))
        found = np.where(inside, found, self.variants.index(OUTSIDE))
        return np.where(np.isnan(steps), self.place.get(MISSING, self.variants.index(OUTSIDE)), found)

    def at(self, positions: IntArray) -> IntArray:
        """Return, as an integer array, the group of each position in the domain of a numeric column."""
        return np.searchsorted(self.starts, positions, side="right") - 1

    def shares(self, hierarchy: Any, label: str) -> FloatArray:
        """Return, as a float array (groups,), the share of a label's values that lies in each group."""
        if issubclass(type(hierarchy), OnALine) and not hasattr(hierarchy, "leaves"):
            domain, (first, last) = self.attribute.numbers, hierarchy.ends(label)
            ends = np.append(self.starts[1:], domain.steps + 1) - 1
            found = np.zeros(len(self.labels))
            found[: len(self.starts)] = np.maximum(np.minimum(ends, last) - np.maximum(self.starts, first) + 1, 0)
            if last > domain.steps:
                found[self.place[MISSING]] += 1
        else:
            covered = self.of(np.array(hierarchy.leaves, dtype=object)[hierarchy.covered(label)])
            found = np.bincount(covered, minlength=len(self.labels)).astype(float)
        return found / found.sum()


@validated
def group_values(dataset: Dataset, name: str, min_count: MinCount = LIMIT) -> ValueGroups | None:
    """Group the values of a column so that no group reveals a small count of people.

    Parameters
    ----------
    dataset : Dataset
    name : str
    min_count : int
        Groups of fewer people are merged with other groups. Groups whose counts would reveal a smaller number are also
        merged.

    Returns
    -------
    ValueGroups or None
        The groups; None if the table has fewer than `min_count` people.
    """
    attribute = dataset.schema[name]
    index, values = attribute.coded(dataset.cells[name])
    bands = attribute.domain if isinstance(attribute.domain, Bands) else None
    if isinstance(attribute.domain, Numbers):
        bands = Bands.of(attribute.domain)
    if bands is None:
        fine = np.arange(len(values))
        size, labels = len(values), [*map(to_text, values)]
    else:
        number = {label: place for place, label in enumerate(bands.values)}
        fine = np.array([number[each] for each in (values if attribute.domain is bands else bands.labels(values))])
        size, labels = len(bands.values), [*bands.values]
    mark = labels.index(attribute.public_domain.mark) if attribute.public_domain.mark in labels else -1
    counted = _Counted.of(fine[index], dataset.people, size)
    fine_groups = (_categories if bands is None else _bands)(counted, labels, mark)
    groups = _merge(fine_groups, counted, dataset.headcount, mark, min_count, ordered=bands is not None)
    if groups is None:
        return None
    people = [counted.people(group) for group in groups]
    if bands is None:
        return _of_categories(attribute, groups, people, labels, mark, min_count)
    return _of_bands(attribute, bands, groups, people, mark, min_count)


class _Counted(NamedTuple):
    """Numbers of people by fine group, `single`; with a person column, also the `pairs` of fine groups and people."""

    single: IntArray
    pairs: tuple[IntArray, IntArray] | None

    @classmethod
    def of(cls, index: IntArray, people: IntArray | None, size: int) -> "_Counted":
        rows = select_person_rows(people, index)
        single = np.bincount(index[rows], minlength=size)
        return cls(single, None if people is None else (index[rows], people[rows]))

    def people(self, group: Sequence[int]) -> int:
        """Return the number of people who have a value in at least one of these fine groups."""
        if self.pairs is None or len(group) == 1:
            return int(self.single[list(group)].sum())
        index, people = self.pairs
        return count_people_among(np.isin(index, group), people)


def _categories(counted: _Counted, labels: Sequence[str], mark: int) -> list[list[int]]:
    """Return a group for each of the most common values, then one for all other values, then one for missing values."""
    order = [each for each in np.argsort(-counted.single, kind="stable").tolist() if each != mark]
    named = len(order) if len(order) <= MAX_VALUES + 1 else MAX_VALUES
    groups = [[each] for each in order[:named]] + [order[named:]] * (len(order) > named)
    return groups + [[mark]] * (mark >= 0)


def _bands(counted: _Counted, labels: Sequence[str], mark: int) -> list[list[int]]:
    """Return groups of neighboring bands, and the missing value last; merge bands that are too many or empty."""
    size = len(labels) - (mark >= 0)
    step = -(-size // MAX_BANDS)
    groups: list[list[int]] = []
    for begin in range(0, size, step):
        group = [*range(begin, min(begin + step, size))]
        if groups and not counted.single[groups[-1]].any() and not counted.single[group].any():
            groups[-1] += group
        else:
            groups.append(group)
    return groups + [[mark]] * int(mark >= 0 and counted.single[mark] > 0)


def _merge(
    groups: list[list[int]], counted: _Counted, n: int, mark: int, min_count: int, *, ordered: bool
) -> list[list[int]] | None:
    """Merge groups until the counts reveal no small number of people in one group, no group or several groups."""
    while True:
        people = [counted.people(group) for group in groups]
        lone = [groups[-1] == [mark]] * (mark >= 0)
        if not _reveals(groups, people, n, mark, min_count, ordered=ordered):
            return groups
        if len(groups) == 1:
            return None if withholding.is_few(n, min_count) else groups
        last = len(groups) - 1
        if any(lone) and (withholding.is_few(people[-1], min_count) or len(groups) == 2):
            place = last
        elif not ordered:
            place = last - any(lone)
        else:
            own = range(len(groups) - any(lone))
            least = min((each for each in own if people[each]), key=lambda each: people[each], default=own[-1])
            neighbors = [each for each in (least - 1, least + 1) if each in own]
            place = (
                max(least, min(neighbors, key=lambda each: (people[each] == 0, people[each]))) if neighbors else last
            )
        groups = [*groups[: place - 1], groups[place - 1] + groups[place], *groups[place + 1 :]]


def _reveals(
    groups: Sequence[Sequence[int]], people: Sequence[int], n: int, mark: int, min_count: int, *, ordered: bool
) -> bool:
    """Return whether the numbers of people in the groups reveal a small count of people."""
    if any(withholding.reveals_few(each, n, min_count) for each in people):
        return True
    if withholding.is_few(sum(people) - n, min_count):  # people with values of several groups
        return True
    # The label of a group of categories has their number: 12 people with 11 values would be ten values of one person.
    values = [(each, len(set(group) - {mark})) for each, group in zip(people, groups, strict=True) if len(group) > 1]
    return not ordered and any(withholding.is_few(each - number, min_count) for each, number in values)


def _of_categories(
    attribute: Attribute, groups: list[list[int]], people: list[int], labels: Sequence[str], mark: int, min_count: int
) -> ValueGroups:
    names, variants = [], []
    for group in groups:
        number, held = len(set(group) - {mark}), mark in group
        if len(group) == 1:
            variants.append(MISSING if held else "")
            names.append(NAMES[MISSING] if held else _named(labels[group[0]]))
        else:
            variants.append(OTHER)
            what = "all values" if len(groups) == 1 else f"other ({number} value{'s' * (number != 1)})"
            names.append(what + " or missing" * held)
    place = {labels[each]: number for number, group in enumerate(groups) for each in group}
    if OTHER not in variants:  # values that nobody has in the original may be published
        names, variants, people = [*names, NAMES[OTHER]], [*variants, OTHER], [*people, 0]
    return ValueGroups(attribute, names, variants, people, np.empty(0, dtype=np.int64), place, min_count)


def _named(label: str) -> str:
    """Return the label of a value, in quotation marks if it could be mistaken for the label of a group of values."""
    return f"“{label}”" if label in NAMES.values() or label.startswith(("other (", "all values")) else label


def _of_bands(
    attribute: Attribute, bands: Bands, groups: list[list[int]], people: list[int], mark: int, min_count: int
) -> ValueGroups:
    domain, starts, names, variants = bands.numbers, [], [], []
    place: dict[str, int] = {}
    for number, group in enumerate(groups):
        own = sorted(set(group) - {mark})
        place |= {bands.values[each]: number for each in own}
        if mark in group:
            place |= {MISSING: number, bands.values[mark]: number}
        if not own:
            variants.append(MISSING)
            names.append(NAMES[MISSING])
            continue
        low, after = bands.starts[own[0]], [*bands.starts, domain.size][own[-1] + 1]
        starts.append(low)
        ends = dict.fromkeys(to_text(domain.value(each)) for each in (low, min(after - 1, domain.steps)))
        names.append((" to " if any(end.startswith("-") for end in ends) else "-").join(ends))
        variants.append("")
        names[-1] += " or missing" * (mark in group)
    others = [OTHER, MISSING, OUTSIDE] if MISSING not in place and domain.missing else [OTHER, OUTSIDE]
    for variant in others[1:]:
        names, variants, people = [*names, NAMES[variant]], [*variants, variant], [*people, 0]
    place.setdefault(MISSING, variants.index(MISSING) if MISSING in variants else len(names) - 1)
    if isinstance(attribute.domain, Bands):
        variants = [OTHER if each == OUTSIDE else each for each in variants]
    return ValueGroups(attribute, names, variants, people, np.array(starts), place, min_count)


@validated
def measure_columns(
    dataset: Dataset,
    unique: Annotated[pd.DataFrame | None, optional(check_results)] = None,
    *,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Measure each published column's distribution, its missing, rare and most common values, and its uniqueness.

    Parameters
    ----------
    dataset : Dataset
    unique : DataFrame, optional
        The results of `measure_uniqueness`; if None, the function computes these results.
    min_count : int
        Counts of fewer people are withheld or merged with other counts.

    Returns
    -------
    DataFrame
        Rows for each column, whose name is in `target`. The rows `people_with_value` count the people in each group of
        values; the label of the group is in `group`. Further rows are `missing_people`, `rare_values` and
        `commonest_value` and, for a quasi-identifier, `added_uniqueness`.

    Examples
    --------
    >>> from privnb import load
    >>> from privnb.evaluation import measure_columns
    >>> rows = measure_columns(load("twelve"), min_count=2)
    >>> rows[rows.target == "house"].measure.unique().tolist()
    ['people_with_value', 'missing_people', 'rare_values', 'commonest_value', 'added_uniqueness']
    """
    row, n = make_row_builder(dataset, Identity(), "", min_count), dataset.headcount
    if unique is None:
        unique = measure_uniqueness(dataset, min_count=min_count)
    rows, added = list[Row](), _added_uniqueness(unique, dataset)
    for name in dataset.schema.published:
        attribute, groups = dataset.schema[name], group_values(dataset, name, min_count)
        index, values = attribute.coded(dataset.cells[name])
        rows += _distribution(row, groups, n)
        counts = count_people_by_group(index, dataset.people)
        texts = [*map(to_text, values)]
        mark = attribute.public_domain.mark
        missing = int(counts[texts.index(mark)]) if mark in texts else 0
        own = np.array([text != mark for text in texts])
        rows.append(
            row("missing_people", ReportedCount(missing, n, rule=withholding.withhold_count), target=name, of=n)
        )
        rare = int((withholding.is_few(counts, min_count) & own).sum())
        rows.append(row("rare_values", ReportedCount(rare, n, rule=withholding.withhold_group_count), target=name))
        place = int(np.argmax(np.where(own, counts, -1)))
        commonest, value = _show_commonest(groups, texts[place], int(counts[place]), n)
        rows.append(row("commonest_value", commonest, target=name, group=value))
        if name in added:
            rows.append(row("added_uniqueness", added[name], target=name))
    return tidy(rows)


@validated
def measure_distributions(dataset: Dataset, *, min_count: MinCount = LIMIT) -> pd.DataFrame:
    """Count the people with each value of each published column, or with each group of values.

    Parameters
    ----------
    dataset : Dataset
    min_count : int
        Groups of fewer people are merged with other groups.

    Returns
    -------
    DataFrame
        Rows `people_with_value`, with the column in `target` and the label of the group in `group`; there are no rows
        for a table of fewer than `min_count` people.
    """
    row, n = make_row_builder(dataset, Identity(), "", min_count), dataset.headcount
    names = dataset.schema.published
    return tidy(each for name in names for each in _distribution(row, group_values(dataset, name, min_count), n))


def _distribution(row: Callable[..., Row], groups: ValueGroups | None, n: int) -> Iterator[Row]:
    """Yield the rows of the distribution of one column in the original."""
    if groups is not None:
        for people, label, variant in zip(groups.people, groups.labels, groups.variants, strict=True):
            if people or not variant:
                yield row("people_with_value", people, target=groups.attribute.name, group=label, variant=variant, of=n)


def _show_commonest(groups: ValueGroups | None, value: str, people: int, n: int) -> tuple[Any, str]:
    """Return the share of people with the most common value, and the value; NaN and no value if the share is withheld.

    The share is withheld if the number of people with the value and the number in the value's group differ by a small
    count. The share of a category is also withheld if the category is in one group with other categories.
    """
    if groups is None:
        return np.nan, ""
    group = int(groups.of([value])[0])
    alone = groups.people[group] == people
    if not alone and (not len(groups.starts) or withholding.is_few(groups.people[group] - people, groups.min_count)):
        return np.nan, ""
    if withholding.reveals_few(people, n, groups.min_count):
        return np.nan, ""
    return ReportedCount(people, n), value


def _added_uniqueness(unique: pd.DataFrame, dataset: Dataset) -> dict[str, float]:
    """Return, by quasi-identifier, the share of people who would not be unique without this quasi-identifier.

    Each share is the difference between two numbers of the results, or NaN if one of the two numbers is withheld.
    """
    names = dataset.schema.quasi_identifiers
    rows = unique[unique.measure == "unique"]
    shares = {frozenset(parse_names(knows)): value for knows, value in zip(rows.knows, rows.value, strict=True)}
    every = shares.get(frozenset(names), np.nan)
    without = {name: shares.get(frozenset(names) - {name}, np.nan if len(names) > 1 else 0.0) for name in names}
    return {name: float(max(every - share, 0)) if share == share else np.nan for name, share in without.items()}


# --- the same columns in a release ---


@dataclass(frozen=True)
class ColumnChanges(Question):
    """Question about the distribution of a release's columns, in the groups of the original, and about the changes."""

    primary_measure = "changed_cells"

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        return [
            row
            for name in case.dataset.schema.published
            if (groups := group_values(case.dataset, name, case.min_count)) is not None
            for row in _changes(case, groups)
        ]


def _changes(case: Case, groups: ValueGroups) -> Iterator[Row]:
    """Yield the rows of one column: its changed cells, its distribution, and the change of the distribution."""
    name, release, limit = groups.attribute.name, case.release, case.min_count
    kind = release.columns[name].kind if name in release.columns else ""
    kind = kind if name in release.cells or kind == "bucketized" else ""
    m, changed = release.headcount, _changed(case.dataset, release, name) if kind else None
    if changed is None:
        reason = strip_markup(line("evaluation/notes", "no_cells", name, kind, KINDS.get(kind, "")))
        refused = {"status": "refused", "reason": reason}
        yield case.row("changed_cells", np.nan, target=name, variant=kind, **refused)
        if not kind:
            return
    else:
        yield case.row("changed_cells", ReportedCount(changed, m), target=name, variant=kind)
    people = expect_people(release, groups)
    # If the cells of few people have changed, the difference of both distributions would reveal how many.
    few = changed is not None and withholding.is_few(changed, limit)
    hidden = {*range(len(people))} if few else _hidden(release, groups, people, limit, unchanged=changed == 0)
    labels, variants = [*groups.labels, NAMES[STARS]], [*groups.variants, STARS]
    before = np.array([*groups.people, 0], dtype=float)
    for place, (number, label, variant) in enumerate(zip(people, labels, variants, strict=True)):
        if number > 0 or before[place] or not variant:
            value = np.nan if place in hidden else float(number)
            yield case.row("people_with_value", value, target=name, group=label, variant=variant, of=m)
    change = np.abs(before / before.sum() - people / people.sum()).sum() / 2
    change = np.nan if hidden and change else min(float(change), 1.0)
    yield case.row("distribution_change", change, target=name)


def expect_people(release: Release, groups: ValueGroups) -> FloatArray:
    """Return the expected number of a release's people in each group and, last, the number with a suppressed cell.

    The function assumes that all values of a label are equally likely; `reconstruction` makes the same assumption about
    combinations of values.

    Parameters
    ----------
    release : Release
    groups : ValueGroups

    Returns
    -------
    float array (groups + 1,)
    """
    name = groups.attribute.name
    _, cells, people, times = release.counted(name)
    index, labels = release.coded(name) if name in release.cells else groups.attribute.coded(cells)
    shares = _spread(release, groups, labels)
    if people is None:
        return np.bincount(index, times, len(labels)) @ shares
    rows = select_person_rows(people, index)
    index, person = index[rows], np.unique(people[rows], return_inverse=True)[1]
    with np.errstate(divide="ignore"):
        none = np.log1p(-np.minimum(shares, 1))  # a person is in a group unless none of their labels means it
    return np.array([(1 - np.exp(np.bincount(person, each[index]))).sum() for each in none.T])


def _spread(release: Release, groups: ValueGroups, labels: Any) -> FloatArray:
    """Return, as (labels, groups + 1), the share of each label's values in each group; the last column is 1 for `*`."""
    found = np.zeros((len(labels), len(groups.labels) + 1))
    texts, exact = [*map(to_text, labels)], _is_exact(release, groups.attribute, labels)
    stars = ~exact & (np.array(texts, dtype=object) == SUPPRESSED)
    found[stars, -1] = 1
    place = np.flatnonzero(exact)
    found[place, groups.of(np.asarray(labels, dtype=object)[place])] = 1
    hierarchy = _hierarchy(release, groups.attribute)
    for each in np.flatnonzero(~exact & ~stars):
        found[each, :-1] = groups.shares(hierarchy, texts[each])
    return found


def _hierarchy(release: Release, attribute: Attribute) -> Any:
    return release.hierarchies.get(attribute.name) or flat(attribute)


def _is_exact(release: Release, attribute: Attribute, labels: Any) -> BoolArray:
    """Return, as a boolean array (labels,), whether each label is a single value, and not `*` or a set of values."""
    if release.columns[attribute.name].kind not in TRUE:
        return np.array([to_text(label) != SUPPRESSED for label in labels], dtype=bool)
    domain = release.schema[attribute.name].public_domain
    return domain.has(np.asarray(labels, dtype=object))


def _changed(dataset: Dataset, release: Release, name: str) -> int | None:
    """Return the number of people with a cell that is not exactly their value; None if no cell belongs to a person."""
    if name not in release.cells or release.provenance.rows is Rows.SYNTHETIC:
        return None
    index, labels = release.coded(name)
    if release.columns[name].kind in TRUE:
        return release.people_among(~_is_exact(release, release.schema[name], labels)[index])
    if release.columns[name].kind == "synthetic" or name not in dataset.cells:
        return None
    own, values = dataset.schema[name].coded(release.originals(dataset).cells[name])
    known = {value: code for code, value in enumerate(labels)}
    same = np.array([known.get(value, -1) for value in values])[own] == index
    return release.people_among(~same)


def _hidden(release: Release, groups: ValueGroups, people: FloatArray, limit: int, *, unchanged: bool) -> set[int]:
    """Return the indices of the groups whose numbers of people in a release are withheld."""
    if unchanged and release.provenance.rows is Rows.RECORDS:  # it is the original's, whose groups are shown
        return set()
    cells = {place: float(number) for place, number in enumerate(people) if number > 0}
    order = dict(sorted(cells.items(), key=lambda each: -each[1]))
    whole = release.headcount
    margins = [Margin(whole, (each,)) for each in order] if release.people is not None else []
    margins += [] if release.people is not None else [Margin(whole, tuple(order), rest=False)]
    if release.columns[groups.attribute.name].kind in TRUE:
        # People whose own value is not published are counted by a difference, unless the number is an estimate.
        counted = [each for each in order if each < len(groups.people) and float(order[each]).is_integer()]
        margins += [Margin(groups.people[each], (each,)) for each in counted if groups.people[each] >= order[each]]
    return withholding.suppress(order, margins, limit)
