"""Groups of at least k records that lie near each other: maximum distance to average, around records drawn, each own k.

Both ask again and again which record is farthest from a place, and which are nearest to it. A tree of boxes answers
exactly, ties included, and forgets the records that have a group, so that a million records of three numbers take
seconds; in many dimensions boxes rule little out, and the answers take a pass over the records each.

Source: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation", DMKD
2005, section 4 (MDAV-generic); Aggarwal and Yu, "A Condensation Approach to Privacy Preserving Data Mining", EDBT 2004,
section 2; the same, "On Variable Constraints in Privacy Preserving Data Mining", SDM 2005: the records of each k are
grouped among themselves. Deviation: who is too few for a group there is joined by the nearest who ask for less, where
that paper moves whole groups from one k to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privnb.microdata.hierarchy.generalization import places
from privnb.runtime.arrays import Array, FloatArray, Int, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.sanitizers.algorithms.box_tree import NEVER, BoxTree, Space, apart, grow, level, space_of, take

_EXACT = 2.0**52  # floats are exact on whole numbers below twice that
_FINE = 2.0**16  # a step of so many units is a whole number of them, within 1 / 131,072 of its length


def located(codes: Array, extents: Sequence[Any]) -> tuple[Space, np.ndarray, list[int]]:
    """A space in which distances are whole numbers, the point of each record, and which attribute each coordinate is.

    codes: integer array (n, attributes), each value's position on its attribute's line. extents: None for a number,
    whose distance is in its standard deviations (population); for another attribute how wide a generalization is,
    which is its distance, 0 to 1. The sum of squares over the attributes is that of MDAV-generic.

    All squared distances are below 2^53, so that floats have them exactly and ties are exact: a step of a number is a
    whole number of units where its rounding moves it by less than 1 / 131,072; else each value is rounded, to a unit.

    Returns the Space, a float array (n, attributes) of whole numbers, and the attributes in the order of its columns.
    """
    codes = np.asarray(codes, dtype=np.int64)
    trees = [a for a, extent in enumerate(extents) if extent is not None and extent.groups is not None]
    lines = [a for a in range(len(extents)) if a not in trees]
    steps, scales = [], []
    for a in lines:
        column = codes[:, a] if extents[a] is None else places(codes[:, a], extents[a].denominator)
        column = column - column.min()
        # Rounded, for a sum's last digits depend on the processor.
        scale = float(f"{column.std():.12g}") if extents[a] is None else max(extents[a].denominator, 1)
        steps.append(column)
        scales.append(scale or 1.0)
    spread = sum((column.max() / scale) ** 2 for column, scale in zip(steps, scales, strict=True)) + len(trees)
    unit = min(2.0 ** np.floor(np.log2(_EXACT / max(spread, 1e-9)) / 2 - ROUNDING), 2.0**24)  # of a standard deviation
    for place, (column, scale) in enumerate(zip(steps, scales, strict=True)):
        step = unit / scale
        steps[place] = column * np.rint(step) if step >= _FINE else np.rint(column * step)
    weights = np.rint(unit / np.array([max(extents[a].denominator, 1) for a in trees], dtype=float))
    columns = [*steps, *(codes[:, a] for a in trees)]
    space, points = space_of(columns, np.inf, [extents[a].groups for a in trees], weights)
    return space, points.astype(float), lines + trees


def mdav(space: Space, points: Array, k: int) -> IntArray:
    """The group of each record by maximum distance to average, 0, 1, ... in order of formation: integer array (n,).

    While 3k records or more are left: the one farthest from their average, and the one farthest from that, each make a
    group with the k - 1 nearest to it, the first before the second, which the first does not take. Of 2k to 3k - 1 the
    one farthest from their average does, and the others are the last group; fewer are one group. So every group has k
    records, but for the last, which has up to 2k - 1. Ties go to the lowest index.

    The average has the mean of each number, rounded to a unit, and of each category the value with the least sum of
    squared distances, the first of them on its line.

    Raises ValueError for fewer than k records.
    """
    _check(points, k)
    return _mdav(_left(space, points), int(k))


def around(space: Space, points: Array, k: int, seeds: Array) -> IntArray:
    """The group of each record around records drawn, 0, 1, ... in order of formation: integer array (n,).

    While k records or more are left: the next of `seeds` (the records in random order) that is makes a group with the
    k - 1 nearest to it. Each of the fewer than k that are left then joins the group whose average is nearest. Ties go
    to the lowest index. Points of numbers alone. Raises ValueError for fewer than k records.
    """
    _check(points, k)
    groups = _around(_left(space, points), int(k), np.asarray(seeds, dtype=np.int64))
    there = groups >= 0
    averages = np.rint(np.column_stack([np.bincount(groups[there], column[there]) for column in points.T]) / k)
    for record in np.flatnonzero(~there):
        groups[record] = ((points[record] - averages) ** 2).sum(axis=1).argmin()
    return groups


def own_groups(space: Space, points: Array, ks: Array) -> IntArray:
    """The group of each record, 0, 1, ...: integer array (n,).

    ks: what each record asks for, integer array (n,). From the largest k to the smallest, the records that ask for it
    and have no group yet are grouped by `mdav`. Where they are too few, those nearest to them all (the least sum of
    squared distances) of the records that ask for less fill them up to k; where these do not suffice either, each of
    the few joins the group of the record nearest to it, which has a larger k. Ties go to the lowest index.

    Raises ValueError for fewer records than the largest k.
    """
    groups = np.full(len(points), -1)
    for k in sorted({*ks.tolist()}, reverse=True):
        free = groups < 0
        asking, others = np.flatnonzero(free & (ks == k)), np.flatnonzero(free & (ks < k))
        if not len(asking):
            continue
        if (lacking := k - len(asking)) > 0 and lacking <= len(others):
            far = sum(_squared(space, points[others], points[record]) for record in asking)
            asking = np.sort(np.append(asking, others[np.argsort(far, kind="stable")[:lacking]]))
        if len(asking) >= k or free.all():
            groups[asking] = groups.max() + 1 + mdav(space, points[asking], k)
            continue
        grouped = np.flatnonzero(~free)
        for record in asking:
            groups[record] = groups[grouped[np.argmin(_squared(space, points[grouped], points[record]))]]
    return groups


def _squared(space: Space, points: Array, point: Array) -> FloatArray:
    """The squared distance of each of several points to one: float array (n,)."""
    numbers = space.numbers
    far = ((points[:, :numbers] - point[:numbers]) ** 2).sum(axis=1)
    for a in range(numbers, points.shape[1]):
        levels = (space.groups[points[:, a].astype(np.int64)] == space.groups[int(point[a])]).argmax(axis=1)
        far += (levels * space.weights[a]) ** 2
    return far


def central(space: Space, rows: Array, groups: Array) -> IntArray:
    """The category of each group with the least sum of squared distances to those of its records, the first of several
    on its line; rows of `space.groups`, as `rows` of the records are: integer array (groups,).

    No category outside of a group comes nearer to all of it, for distances are those of a tree.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(groups)))
    return _central(space, rows.astype(np.int64), order, starts)


def _check(points: FloatArray, k: int) -> None:
    if not 1 <= k <= len(points):
        raise UsageError(f"{len(points)} records need k from 1 to {len(points)}, got k={k}.")


class _Left(NamedTuple):
    """The records that have no group yet, and working space of a search.

    sums: of each number, (attributes,). costs: how many levels each category is apart from the records', squared, in
    sum, (rows,).
    """

    space: Space
    points: FloatArray
    tree: BoxTree
    sums: FloatArray
    costs: IntArray
    stack: IntArray
    bounds: FloatArray


def _left(space: Space, points: FloatArray) -> _Left:
    """All records, of which none has a group."""
    costs = np.zeros(len(space.groups), np.int64)
    for a in range(space.numbers, points.shape[1]):
        rows = space.groups[space.begin[a] : space.end[a]]
        times = np.bincount(points[:, a].astype(np.int64) - space.begin[a], minlength=len(rows))
        costs[space.begin[a] : space.end[a]] = [times @ (rows == row).argmax(axis=1) ** 2 for row in rows]
    stack, bounds = np.empty(2 * len(points), np.int64), np.empty(2 * len(points))  # one a node
    return _Left(space, points, grow(space, points), points.sum(axis=0), costs, stack, bounds)


@njit(cache=True)
def _distance(space: Space, one: FloatArray, other: FloatArray) -> float:
    """The squared distance of two points."""
    total = 0.0
    for a in range(len(one)):
        total += apart(space, a, one[a], other[a]) ** 2
    return total


@njit(cache=True)
def _bound(space: Space, point: FloatArray, low: FloatArray, high: FloatArray, far: bool) -> float:
    """The squared distance of a point to a box: no point in it is nearer; `far`: minus the most that one is away."""
    total = 0.0
    for a in range(len(point)):
        if far:
            total -= max(apart(space, a, low[a], point[a]), apart(space, a, point[a], high[a])) ** 2
        elif point[a] < low[a]:
            total += apart(space, a, point[a], low[a]) ** 2
        elif point[a] > high[a]:
            total += apart(space, a, high[a], point[a]) ** 2
    return total


@njit(cache=True)
def _search(left: _Left, point: FloatArray, far: bool, found: IntArray) -> None:
    """Put the records nearest to a point into `found`, nearest first, of equals the lowest; `far`: the farthest."""
    space, tree, stack, bounds = left.space, left.tree, left.stack, left.bounds
    worth, top = np.full(len(found), np.inf), 0
    found[:] = NEVER
    stack[0], bounds[0] = 0, -np.inf
    while top >= 0:
        node, bound = stack[top], bounds[top]
        top -= 1
        if bound > worth[-1] or tree.first[node] == NEVER or (bound == worth[-1] and tree.first[node] > found[-1]):
            continue
        one = tree.child[node]
        if one >= 0:
            here = _bound(space, point, tree.low[one], tree.high[one], far)
            there = _bound(space, point, tree.low[one + 1], tree.high[one + 1], far)
            best = one + (there < here)
            stack[top + 1], bounds[top + 1] = 2 * one + 1 - best, max(here, there)
            stack[top + 2], bounds[top + 2] = best, min(here, there)
            top += 2
            continue
        for place in range(tree.begin[node], tree.end[node]):
            record = tree.order[place]
            away = _distance(space, point, left.points[record]) * (-1 if far else 1)
            if away > worth[-1] or (away == worth[-1] and record > found[-1]):
                continue
            spot = len(found) - 1
            while spot > 0 and (worth[spot - 1] > away or (worth[spot - 1] == away and found[spot - 1] > record)):
                worth[spot], found[spot] = worth[spot - 1], found[spot - 1]
                spot -= 1
            worth[spot], found[spot] = away, record


@njit(cache=True)
def _take(left: _Left, record: Int) -> None:
    """Forget a record, also in what the average is made of."""
    space, point = left.space, left.points[record]
    take(left.points, left.tree, record)
    for a in range(len(point)):
        left.sums[a] -= point[a]
        for row in range(space.begin[a], space.end[a]):
            left.costs[row] -= level(space, row, int(point[a])) ** 2


@njit(cache=True)
def _group(left: _Left, groups: IntArray, number: Int, seed: Int, found: IntArray) -> None:
    """Make a group of a record that is taken and the nearest that are left, as many as `found` holds."""
    groups[seed] = number
    if len(found):
        _search(left, left.points[seed], False, found)
    for record in found:
        groups[record] = number
        _take(left, record)


@njit(cache=True)
def _mdav(left: _Left, k: Int) -> IntArray:
    space, n = left.space, len(left.points)
    groups, number, remaining = np.full(n, -1), 0, n
    found, end, point = np.empty(k - 1, np.int64), np.empty(1, np.int64), np.empty(len(left.sums))
    while remaining >= 2 * k:
        for a in range(len(point)):
            if a < space.numbers:
                point[a] = np.rint(left.sums[a] / remaining)
            else:
                point[a] = space.begin[a] + np.argmin(left.costs[space.begin[a] : space.end[a]])
        _search(left, point, True, end)
        first = end[0]
        _take(left, first)
        two = remaining >= 3 * k
        if two:
            _search(left, left.points[first], True, end)
            _take(left, end[0])
        _group(left, groups, number, first, found)
        if two:
            _group(left, groups, number + 1, end[0], found)
        number, remaining = number + 1 + two, remaining - (1 + two) * k
    groups[groups < 0] = number
    return groups


@njit(cache=True)
def _around(left: _Left, k: Int, seeds: IntArray) -> IntArray:
    """The group of each record; -1 of those that are left."""
    groups, number = np.full(len(seeds), -1), 0
    found = np.empty(k - 1, np.int64)
    for seed in seeds:
        if groups[seed] < 0 and number < len(seeds) // k:
            _take(left, seed)
            _group(left, groups, number, seed, found)
            number += 1
    return groups


@njit(cache=True)
def _central(space: Space, rows: IntArray, order: IntArray, starts: IntArray) -> IntArray:
    chosen, times = np.empty(len(starts) - 1, np.int64), np.zeros(len(space.groups), np.int64)
    different = np.empty(len(space.groups), np.int64)
    for group in range(len(chosen)):
        best, many = NEVER, 0
        for place in range(starts[group], starts[group + 1]):
            row = rows[order[place]]
            if times[row] == 0:
                different[many] = row
                many += 1
            times[row] += 1
        for row in different[:many]:
            cost = 0
            for other in different[:many]:
                cost += times[other] * level(space, row, other) ** 2
            if cost < best or (cost == best and row < chosen[group]):
                best, chosen[group] = cost, row
        times[different[:many]] = 0
    return chosen
