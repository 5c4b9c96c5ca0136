"""Strict multidimensional partitioning: repeated cuts of distinct rows into parts that all satisfy a requirement.

All groups of one depth are cut together: numba proposes a cut for each group, and the models check all cuts in one
call.

Source: LeFevre, DeWitt, Ramakrishnan, "Mondrian Multidimensional k-Anonymity", ICDE 2006; for the choice by information
gain, LeFevre, DeWitt, Ramakrishnan, "Workload-Aware Anonymization", KDD 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numba import njit

from privnb.microdata.hierarchy.generalization import places
from privnb.privacy_models.requirement import Requirement
from privnb.runtime.arrays import Array, FloatArray, Int, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.sanitizers.algorithms.options import SPLIT_ATTRIBUTES, SPLIT_POINTS

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

LINE, SET, TREE = range(3)  # how an attribute is cut: between two positions, into any two sets, into a node's children
_LEFT, _BELOW, _EITHER, _NEAREST, _MIDDLE, _BEST = range(len(SPLIT_POINTS))
_RANGE, _PENALTY, _GAIN = range(len(SPLIT_ATTRIBUTES))


def _inner(kernel: Kernel) -> Kernel:
    """Compile a function that is called only by kernels."""
    return njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(kernel)  # type: ignore[call-overload]


class Geometry(NamedTuple):
    """The data that determine how each attribute is cut.

    - `kinds`: the kind of each attribute, (attributes,).
    - `steps`: the largest distance of two positions, (attributes,).
    - `places`: the positions that occur, in order, (attributes, places).
    - `groups`: for trees, the node of each place at each level, (attributes, levels, places).
    - `widths`: for trees, the number of leaves of that node minus one, (attributes, levels, places).

    The code of a row is the number of a place in `places`, so no array is as long as a domain.
    """

    kinds: IntArray
    steps: IntArray
    places: IntArray
    groups: IntArray
    widths: IntArray


class CutRows(NamedTuple):
    """The rows to cut.

    - `codes`: the codes of each row, (m, attributes).
    - `people`: the number of records of each row, (m,).
    - `target` and `person`: the codes of the target and of the people, (m,) or empty.
    - `targets` and `persons`: the number of different targets and the number of people. If `persons` is 0, each record
      belongs to a different person.
    """

    codes: IntArray
    people: IntArray
    target: IntArray
    targets: int
    person: IntArray
    persons: int

    def of(self, order: Array) -> CutRows:
        """Return the rows at the positions `order`, in this order."""
        target, person = (each[order] if len(each) else each for each in (self.target, self.person))
        return self._replace(
            codes=self.codes.take(order, axis=0), people=self.people[order], target=target, person=person
        )


class CutRule(NamedTuple):
    """The rules for the attribute and for the place of a cut, and the minimum number of people in a part."""

    choose: int
    median: int
    least: int


class Workspace(NamedTuple):
    """Working space of a cut: arrays with an entry for each place of an attribute's line, and one additional entry.

    - `held`: the number of records at each place.
    - `side`: the side of each place.
    - `values`: the places that occur.
    - `table`: the counts of each target at these places.
    - `below` and `above`: the number of people with a record up to each place, and with a record above it.
    - `first` and `last`: the first and the last place of each person.
    """

    held: IntArray
    side: IntArray
    values: IntArray
    table: IntArray
    below: IntArray
    above: IntArray
    first: IntArray
    last: IntArray


def build_geometry(
    codes: Array, kinds: Sequence[int], steps: Any, trees: Mapping[int, IntArray]
) -> tuple[IntArray, Geometry]:
    """Return the codes of the rows, (m, attributes), among the positions that occur, and the attributes' `Geometry`.

    `kinds`, `steps`: the kind of each attribute, and the largest distance of two of its positions; `trees`:
    `{attribute: groups}`.
    """
    found, index = zip(*map(_occurring, codes.T), strict=True)
    codes = np.column_stack(index)
    most = max(map(len, found))
    levels = max((len(groups) for groups in trees.values()), default=1)
    at = np.zeros((len(kinds), most), dtype=np.int64)
    padded, widths = np.zeros((2, len(kinds), levels, most), dtype=np.int32)
    for a, occurring in enumerate(found):
        at[a, : len(occurring)] = places(occurring, steps[a])
        for level in range(levels if a in trees else 0):
            row = trees[a][min(level, len(trees[a]) - 1)]  # levels above the root repeat the root
            padded[a, level, : len(occurring)] = row[occurring]
            widths[a, level, : len(occurring)] = np.bincount(row)[row[occurring]] - 1
    return codes, Geometry(np.array(kinds), np.array(steps), at, padded, widths)


def _occurring(column: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions that occur, in order, and for each row the number of its position among these."""
    if column.max() < len(column):
        occurs = np.bincount(column) > 0
        return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[column]
    found = np.sort(pd.unique(column))
    return found, np.searchsorted(found, column).astype(np.int32)


def _counted(codes: IntArray | None) -> tuple[IntArray, int]:
    """Return codes as the kernels read them, and the number of codes; for None, return an empty array and 0."""
    return (np.zeros(0, dtype=np.int64), 0) if codes is None else (codes.astype(np.int64), int(codes.max()) + 1)


def partition(
    requirement: Requirement, codes: Array, shape: Geometry, choose: str, median: str, target: IntArray | None = None
) -> IntArray:
    """Return, as an integer array (m,), the class of each row of `requirement`, from 0 in the order of the cuts.

    `codes`, `shape`: the codes of the rows and their geometry, from `build_geometry`. `choose`: one of
    `SPLIT_ATTRIBUTES`, the rule for the attribute to cut first. This attribute is the one with the widest normalized
    range, the one whose cut leaves the smallest certainty penalty, or the one with the largest information gain about
    `target`. `target` is an integer array (m,) with the codes of a workload attribute. Among equally good attributes,
    the first one is cut. `median`: one of `SPLIT_POINTS`.
    """
    index: IntArray = np.arange(len(requirement.people))
    rows = CutRows(codes, requirement.people, *_counted(target), *_counted(requirement.persons))
    how = CutRule(SPLIT_ATTRIBUTES.index(choose), SPLIT_POINTS.index(median), requirement.least)
    begin, end = np.array([0]), np.array([len(index)])
    found = 0
    classes = np.empty(len(index), dtype=np.int64)
    while len(begin):
        part, parts = _cuts(requirement, shape, how, index, rows, begin, end)
        done = parts == 0
        classes[index[_positions(begin[done], end[done])]] = found + np.repeat(
            np.arange(done.sum()), (end - begin)[done]
        )
        found += int(done.sum())
        order, begin, end = _split(part, parts, begin, end)
        index, rows = index[order], rows.of(order)
    return classes


def _cuts(
    requirement: Requirement, shape: Geometry, how: CutRule, index: IntArray, rows: CutRows, begin: Array, end: Array
) -> tuple[IntArray, IntArray]:
    """Return each row's part after its group is cut, and each group's number of parts, 0 if there is no cut."""
    nodes = len(begin)
    part, parts = np.zeros(len(index), dtype=np.int32), np.zeros(nodes, dtype=np.int64)
    tries, ranks = np.zeros(nodes, dtype=np.int64), np.zeros((nodes, rows.codes.shape[1]), dtype=np.int64)
    pending = np.arange(nodes)
    while len(pending):
        _propose(rows, shape, how, begin, end, pending, ranks, tries, part, parts)
        pending = pending[parts[pending] > 0]
        if not requirement.beyond_people or not len(pending):
            break
        where = _positions(begin[pending], end[pending])
        offset = np.zeros(nodes, dtype=np.int64)
        offset[pending] = np.cumsum(parts[pending]) - parts[pending]
        node = np.repeat(pending, (end - begin)[pending])
        number = int(parts[pending].sum())
        fine = requirement.holds(offset[node] + part[where], number, index[where], requirement.beyond_people)
        refused = ~np.logical_and.reduceat(fine, offset[pending])
        pending = pending[refused]
        tries[pending] += 1
        parts[pending] = 0
    return part, parts


def _positions(begin: Array, end: Array) -> IntArray:
    """Return the positions of all parts; each part runs from its begin to the position before its end."""
    length = end - begin
    return np.repeat(begin - np.cumsum(length) + length, length) + np.arange(length.sum())


def _split(part: IntArray, parts: IntArray, begin: Array, end: Array) -> tuple[IntArray, IntArray, IntArray]:
    """Return the order that puts each part of each cut group together, and the positions at which parts begin and end.

    Groups without a cut are left out.
    """
    where = _positions(begin[parts > 0], end[parts > 0])
    number = np.repeat(np.cumsum(parts) - parts, np.where(parts > 0, end - begin, 0)) + part[where]
    ends = np.cumsum(np.bincount(number, minlength=parts.sum()))
    return where[np.argsort(number, kind="stable")], np.append(0, ends)[:-1], ends


@njit(cache=True)
def _propose(
    rows: CutRows, shape: Geometry, how: CutRule, begin: Array, end: Array, pending: Array, ranks: Array, tries: Array,
    part: IntArray, parts: IntArray,
) -> None:  # fmt: skip
    """Write, for each pending group, the next cut that leaves all parts large enough, if there is such a cut.

    `tries` contains, for each group, the position of the next cut in the order of preference. This order consists of
    the attributes in the order of `ranks` and, within each attribute, of the cuts that the split point offers.
    """
    attributes = rows.codes.shape[1]
    stride = shape.places.shape[1] + 1  # larger than the number of cuts of any attribute
    counts = np.zeros((stride if how.median == _BEST else 1, max(rows.targets, 1)), np.int64)
    space = Workspace(
        np.zeros(stride, np.int64),
        np.zeros(stride, np.int32),
        np.empty(stride, np.int64),
        counts,
        np.empty(stride, np.int64),
        np.empty(stride, np.int64),
        np.full(rows.persons, -1),
        np.full(rows.persons, -1),
    )
    low, high = np.empty((1, attributes), np.int64), np.empty((1, attributes), np.int64)
    worth, spare = np.empty(attributes), np.empty(attributes)
    widest_set, most = 1, 2
    for a in range(attributes):
        if shape.kinds[a] == SET:
            widest_set = shape.places.shape[1]
        elif shape.kinds[a] == TREE:
            most = max(most, min(shape.steps[a] + 1, shape.places.shape[1]))
    seen = np.zeros((most if how.choose == _PENALTY else 1, attributes, widest_set), np.int64)
    stamp = 0
    nowhere, one = np.zeros(0, np.int32), np.int64(1)
    for node in pending:
        b, e = begin[node], end[node]
        total = np.int64(0)
        for i in range(b, e):
            total += rows.people[i]
        parts[node] = 0
        if total < 2 * how.least:
            continue
        stamp += 1
        _spread(rows, shape, b, e, nowhere, one, low, high, seen, stamp, worth)
        first, last = low[0], high[0]
        if tries[node] == 0:
            if how.choose != _RANGE:
                for a in range(attributes):
                    if worth[a] == 0:
                        continue
                    found = _cut(rows, shape, how, space, b, e, a, tries[node], total, first, last, part)[0]
                    if found == 0:
                        worth[a] = 0
                    elif how.choose == _GAIN:
                        worth[a] = 2 + _known_of_target(rows, part, b, e, found)
                    else:
                        stamp += 1
                        lows, highs = np.empty((found, attributes), np.int64), np.empty((found, attributes), np.int64)
                        remaining = _spread(rows, shape, b, e, part, found, lows, highs, seen, stamp, spare)
                        worth[a] = attributes + 1 - remaining / total
            for place in range(attributes):
                best = 0
                for a in range(attributes):
                    if worth[a] > worth[best] + ROUNDING:
                        best = a
                ranks[node, place] = best if worth[best] > 0 else -1
                worth[best] = -1.0
        attempt = tries[node]
        while attempt < attributes * stride:
            a = ranks[node, attempt // stride]
            if a < 0:
                break
            found, preference = _cut(rows, shape, how, space, b, e, a, attempt % stride, total, first, last, part)
            if found > 0:
                parts[node] = found
                tries[node] = attempt // stride * stride + preference
                break
            attempt = (attempt // stride + 1) * stride


@_inner
def _spread(
    rows: CutRows, shape: Geometry, b: Int, e: Int, part: IntArray, parts: Int, low: Array, high: Array, seen: Any,
    stamp: Int, span: FloatArray,
) -> float:  # fmt: skip
    """Return the certainty penalty of the rows from b to before e, summed over people, if each part has its own labels.

    `part`: the part of each row; if it is empty, all rows are in part 0. The function writes the ends of each part to
    `low` and `high`, (parts, attributes). It writes the normalized range of each attribute in the last part to `span`,
    from 0 (one value) to 1 (the whole domain).
    """
    attributes = rows.codes.shape[1]
    weight = np.zeros(parts, np.int64)
    distinct = np.zeros((parts, attributes), np.int64)
    for p in range(parts):
        for a in range(attributes):
            low[p, a], high[p, a] = shape.places.shape[1], -1
    for i in range(b, e):
        p = part[i] if len(part) else 0
        weight[p] += rows.people[i]
        for a in range(attributes):
            code = rows.codes[i, a]
            if code < low[p, a]:
                low[p, a] = code
            if code > high[p, a]:
                high[p, a] = code
            if shape.kinds[a] == SET and seen[p, a, code] != stamp:
                seen[p, a, code] = stamp
                distinct[p, a] += 1
    penalty = 0.0
    for p in range(parts):
        for a in range(attributes):
            if low[p, a] == high[p, a]:
                wide = 0
            elif shape.kinds[a] == LINE:
                wide = shape.places[a, high[p, a]] - shape.places[a, low[p, a]]
            elif shape.kinds[a] == SET:
                wide = distinct[p, a] - 1
            else:
                wide = shape.widths[a, _common(shape.groups, a, low[p, a], high[p, a]), low[p, a]]
            span[a] = min(wide / shape.steps[a], 1.0) if wide > 0 else 0.0
            penalty += weight[p] * span[a]
    return penalty


@_inner
def _common(groups: Array, a: Int, low: Int, high: Int) -> Int:
    """Return the lowest level at which two leaves belong to the same node."""
    level = 0
    while groups[a, level, low] != groups[a, level, high]:
        level += 1
    return level


@_inner
def _cut(
    rows: CutRows, shape: Geometry, how: CutRule, space: Workspace, b: Int, e: Int, a: Int, preference: Int, total: Int,
    low: Array, high: Array, part: IntArray,
) -> tuple[Int, Int]:  # fmt: skip
    """Write the part of each row for the first cut of attribute `a` whose parts are all large enough.

    The function tries cuts from the given preference on. The result is the number of parts, or 0 if there is no such
    cut, and the preference of the cut.
    """
    count, side, values = space.held, space.side, space.values
    two = np.int64(2)  # a literal would make numba compile `_enough` once more
    distinct = _count(rows, b, e, a, low[a], high[a], count, values)
    if shape.kinds[a] == LINE:
        return _cut_line(rows, shape, how, space, b, e, a, preference, total, distinct, part)
    if shape.kinds[a] == SET:
        for way in range(preference, 2):
            left = _halves(count, values, distinct, side, way)
            if min(left, total - left) >= how.least:
                for i in range(b, e):
                    part[i] = side[rows.codes[i, a]]
                if _enough(rows, part, b, e, two, how.least, space.last):
                    return 2, way
        return 0, 0
    if preference > 0:
        return 0, 0
    level = _common(shape.groups, a, low[a], high[a]) - 1
    parts = np.int64(0)
    for j in range(distinct):
        if j == 0 or shape.groups[a, level, values[j]] != shape.groups[a, level, values[j - 1]]:
            parts += 1
        side[values[j]] = parts - 1
    for p in range(parts):
        size = 0
        for j in range(distinct):
            if side[values[j]] == p:
                size += count[values[j]]
        if size < how.least:
            return 0, 0
    for i in range(b, e):
        part[i] = side[rows.codes[i, a]]
    if not _enough(rows, part, b, e, parts, how.least, space.last):
        return 0, 0
    return parts, 0


@_inner
def _enough(rows: CutRows, part: IntArray, b: Int, e: Int, parts: Int, least: Int, seen: Any) -> bool:
    """Return whether at least `least` people have a record in each part.

    The callers have already checked the number of records.
    """
    if rows.persons == 0:
        return True
    begin = np.zeros(parts + 1, np.int64)
    for i in range(b, e):
        begin[part[i] + 1] += 1
    for p in range(parts):
        begin[p + 1] += begin[p]
    people = np.empty(e - b, np.int64)
    for i in range(b, e):  # the rows are sorted part by part; `begin` then has the end of each part
        people[begin[part[i]]] = rows.person[i]
        begin[part[i]] += 1
        seen[rows.person[i]] = -1
    at = 0
    for p in range(parts):
        found = 0
        while at < begin[p]:
            if seen[people[at]] != p:
                seen[people[at]] = p
                found += 1
            at += 1
        if found < least:
            return False
    return True


@_inner
def _count_people(
    rows: CutRows, b: Int, e: Int, a: Int, distinct: Int, left: IntArray, total: Int, space: Workspace
) -> None:
    """Write the number of people with a record up to each place, and with a record above each place.

    `left`: the number of records up to each place.
    """
    below, above, first, last, place = space.below, space.above, space.first, space.last, space.side
    if rows.persons == 0:
        for j in range(distinct):
            below[j], above[j] = left[j], total - left[j]
        return
    for j in range(distinct):
        place[space.values[j]] = j
        below[j] = above[j] = 0
    for i in range(b, e):
        first[rows.person[i]] = -1
    for i in range(b, e):
        person, at = rows.person[i], place[rows.codes[i, a]]
        if first[person] < 0:
            first[person] = last[person] = at
        first[person], last[person] = min(first[person], at), max(last[person], at)
    for i in range(b, e):
        person = rows.person[i]
        if first[person] >= 0:
            below[first[person]] += 1
            if last[person] > 0:
                above[last[person] - 1] += 1
            first[person] = -1
    for j in range(1, distinct):
        below[j] += below[j - 1]
        above[distinct - 1 - j] += above[distinct - j]


@_inner
def _count(rows: CutRows, b: Int, e: Int, a: Int, first: Int, last: Int, count: IntArray, values: Array) -> Int:
    """Write the places of attribute `a` that occur from `first` to `last`, in order, and the number of people at each.

    Returns the number of these places.
    """
    distinct = np.int64(0)  # a literal would make numba compile the variable twice
    if last - first < 4 * (e - b) + 256:
        for code in range(first, last + 1):
            count[code] = -1
        for i in range(b, e):
            code = rows.codes[i, a]
            count[code] = max(count[code], 0) + rows.people[i]
        for code in range(first, last + 1):
            if count[code] >= 0:
                values[distinct] = code
                distinct += 1
        return distinct
    for i in range(b, e):
        count[rows.codes[i, a]] = -1
    for i in range(b, e):
        code = rows.codes[i, a]
        if count[code] < 0:
            values[distinct] = code
            count[code] = 0
            distinct += 1
        count[code] += rows.people[i]
    _sort(values, distinct)
    return distinct


@_inner
def _sort(values: Array, length: Int) -> None:
    """Sort the first `length` values by Shell's method (1959), because numba takes 2 s to compile `np.sort`."""
    gap = length // 2
    while gap > 0:
        for i in range(gap, length):
            at, value = i, values[i]
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 2


@_inner
def _halves(count: IntArray, values: Array, distinct: Int, side: Array, way: Int) -> Int:
    """Put each value on side 0 or 1, with about the same number of people on each side; return the number on side 0.

    The first way puts the most common values on side 0, so that the label of that side is short. The second way begins
    with the most common value and puts each value on the side with fewer people, so that the two sides are more even.
    """
    order, total = np.empty(distinct, np.int64), 0
    for place in range(distinct):  # insertion sort, because there are few values
        j = place
        while place > 0 and count[values[order[place - 1]]] < count[values[j]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = j
        total += count[values[j]]
    left, right, open_side = 0, 0, 0
    for place in range(distinct):
        value = values[order[place]]
        people = count[value]
        if way == 1:
            chosen = 0 if left <= right else 1
        else:
            if place > 0 and abs(2 * (left + people) - total) >= abs(2 * left - total):
                open_side = 1
            chosen = open_side
        side[value] = chosen
        if chosen == 0:
            left += people
        else:
            right += people
    return left


@_inner
def _cut_line(
    rows: CutRows, shape: Geometry, how: CutRule, space: Workspace, b: Int, e: Int, a: Int, preference: Int, total: Int,
    distinct: Int, part: IntArray,
) -> tuple[Int, Int]:  # fmt: skip
    """Write a cut between two positions, see `_cut`: positions up to a threshold are part 0, all others are part 1."""
    count, values, places, median = space.held, space.values, shape.places, how.median
    if median == _BEST:
        worth = _worths(rows, b, e, a, values, distinct, space.table)
    left, sum_so_far = np.empty(distinct, np.int64), 0
    for j in range(distinct):
        sum_so_far += count[values[j]]
        left[j] = sum_so_far
    _count_people(rows, b, e, a, distinct, left, total, space)
    middle = 0  # the median value
    while 2 * left[middle] < total:
        middle += 1
    if median == _MIDDLE and distinct > 1:
        middle = 0
        while 2 * places[a, values[middle + 1]] <= places[a, values[0]] + places[a, values[distinct - 1]]:
            middle += 1
    below, above = middle - 1, middle  # the next thresholds on either side of one half
    used = np.zeros(distinct, np.int64)
    several = median == _NEAREST or median == _BEST
    for chosen in range(distinct - 1 if several else 2 if median == _EITHER else 1):
        if median == _NEAREST:
            if above >= distinct - 1 or (below >= 0 and total - 2 * left[below] <= 2 * left[above] - total):
                j, below = below, below - 1
            else:
                j, above = above, above + 1
        elif median == _BEST:
            j = -1
            for t in range(distinct - 1):
                if used[t] == 0 and (j < 0 or worth[t] > worth[j] + ROUNDING * total):
                    j = t
            used[j] = 1
        else:
            j = middle - (median == _BELOW or chosen == 1)
        if chosen >= preference and 0 <= j < distinct - 1 and min(space.below[j], space.above[j]) >= how.least:
            for i in range(b, e):
                part[i] = rows.codes[i, a] > values[j]
            return 2, chosen
    return 0, 0


@_inner
def _worths(rows: CutRows, b: Int, e: Int, a: Int, values: Array, distinct: Int, table: IntArray) -> FloatArray:
    """Return, for each threshold, the information about the target: minus the remaining entropy, weighted by people."""
    for j in range(distinct):
        for c in range(rows.targets):
            table[values[j], c] = 0
    right, left = np.zeros(rows.targets, np.int64), np.zeros(rows.targets, np.int64)
    for i in range(b, e):
        table[rows.codes[i, a], rows.target[i]] += rows.people[i]
        right[rows.target[i]] += rows.people[i]
    worth = np.empty(distinct)
    for j in range(distinct):
        for c in range(rows.targets):
            left[c] += table[values[j], c]
            right[c] -= table[values[j], c]
        worth[j] = _unevenness(left) + _unevenness(right)
    return worth


@_inner
def _unevenness(counts: Array) -> float:
    """Return minus the entropy of counts times their sum, in nats: sum of c ln c - n ln n."""
    total, result = 0, 0.0
    for c in counts:
        total += c
        if c > 0:
            result += c * np.log(c)
    return result - total * np.log(total) if total > 0 else 0.0


@_inner
def _known_of_target(rows: CutRows, part: IntArray, b: Int, e: Int, parts: Int) -> float:
    """Return minus the share of uncertainty about the target that the written cut leaves, from -1 (all) to 0 (none)."""
    counts = np.zeros((parts, rows.targets), np.int64)
    total = 0
    for i in range(b, e):
        counts[part[i], rows.target[i]] += rows.people[i]
        total += rows.people[i]
    left = 0.0
    for p in range(parts):
        left += _unevenness(counts[p])
    return left / (total * np.log(rows.targets)) if rows.targets > 1 else 0.0
