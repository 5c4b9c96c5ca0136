"""Groups of at least k nearby records: by maximum distance to average, around random records, or by individual k.

The three algorithms repeatedly search for the records that are farthest from a point or nearest to it. The search in a
tree of boxes is exact, including ties, and records that have a group are removed from the tree. A million records of
three numbers take seconds. In many dimensions, boxes exclude few records, so that each search reads nearly all
remaining records.

Source: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation", DMKD
2005, section 4 (MDAV-generic); Aggarwal and Yu, "A Condensation Approach to Privacy Preserving Data Mining", EDBT 2004,
section 2; Aggarwal and Yu, "On Variable Constraints in Privacy Preserving Data Mining", SDM 2005, in which the records
of each k are grouped among themselves. Deviation from the last paper: if too few records request a k, the nearest
records that request a smaller k join them, whereas the paper moves whole groups from one k to another.
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
from privnb.sanitizers.algorithms.box_tree import NEVER, BoxTree, Space, apart, build_space, grow, level, take

_EXACT = 2.0**52  # floats represent whole numbers below twice this number exactly
_FINE = 2.0**16  # a step of this number of units is rounded to whole units, by at most 1 / 131,072 of its length


def locate_records(codes: Array, extents: Sequence[Any]) -> tuple[Space, np.ndarray, list[int]]:
    """Return a space whose distances are whole numbers, the point of each record, and the attribute of each coordinate.

    - `codes`: integer array (n, attributes), the position of each value on the line of its attribute.
    - `extents`: None for a number, whose distances are measured in standard deviations of the column (as of a
      population); for any other attribute, the widths of generalizations, which are the distances, from 0 to 1.

    The squared distance between two points is the sum of squares over the attributes, as in MDAV-generic.

    All squared distances are below 2^53, so floats represent them exactly and ties are exact. A step of a number is
    rounded to a whole number of units if this changes the step by less than 1 / 131,072 of its length; otherwise, each
    value is rounded to a whole number of units.

    Returns the `Space`, the points as a float array (n, attributes) of whole numbers, and the attributes in the order
    of the points' columns.
    """
    codes = np.asarray(codes, dtype=np.int64)
    trees = [a for a, extent in enumerate(extents) if extent is not None and extent.groups is not None]
    lines = [a for a in range(len(extents)) if a not in trees]
    steps, scales = [], []
    for a in lines:
        column = codes[:, a] if extents[a] is None else places(codes[:, a], extents[a].denominator)
        column = column - column.min()
        # # The unit is rounded, because the last digits of a sum depend on the processor.
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
    space, points = build_space(columns, np.inf, [extents[a].groups for a in trees], weights)
    return space, points.astype(float), lines + trees


def mdav(space: Space, points: Array, k: int) -> IntArray:
    """Return, as an array (n,), the group of each record by maximum distance to average, in order of formation.

    As long as at least 3k records are left, two groups are formed. The first record is the one farthest from the
    average of the remaining records, and the second record is the one farthest from the first record. Each of these two
    records forms a group with the k - 1 records nearest to it; the first group does not take the second record. If 2k
    to 3k - 1 records are left, the record farthest from their average forms a group with the k - 1 records nearest to
    it, and the remaining records form the last group. If fewer than 2k records are left, they form the last group.
    Every group therefore has k records, except for the last group, which has up to 2k - 1. Among equally distant
    records, the one with the lowest index is taken.

    The average consists of the mean of each number, rounded to a unit, and of the category of each other attribute that
    has the smallest sum of squared distances; among categories with equal sums, it is the first one on the attribute's
    line.

    Raises ValueError if there are fewer than k records.
    """
    _check(points, k)
    return _mdav(_left(space, points), int(k))


def group_around(space: Space, points: Array, k: int, seeds: Array) -> IntArray:
    """Return, as an integer array (n,), the group of each record around random records, in order of formation.

    As long as at least k records are left, the next record in `seeds` (all records in random order) that has no group
    forms a group with the k - 1 records nearest to it. In the end, fewer than k records are left over; each of these
    records joins the group whose average is nearest to it. Among equally distant records or groups, the one with the
    lowest index is taken. All attributes of the points must be numbers. Raises ValueError if there are fewer than k
    records.
    """
    _check(points, k)
    groups = _around(_left(space, points), int(k), np.asarray(seeds, dtype=np.int64))
    grouped = groups >= 0
    averages = np.rint(np.column_stack([np.bincount(groups[grouped], column[grouped]) for column in points.T]) / k)
    for record in np.flatnonzero(~grouped):
        groups[record] = ((points[record] - averages) ** 2).sum(axis=1).argmin()
    return groups


def group_by_own_k(space: Space, points: Array, ks: Array) -> IntArray:
    """Return, as an integer array (n,), the group of each record, from 0, if each record requests an individual k.

    - `ks`: the k that each record requests, as an integer array (n,).

    From the largest k to the smallest, `mdav` groups the records that request this k and have no group yet. If there
    are fewer than k such records, the nearest records with a smaller k (by the sum of squared distances) join these
    records. If there are still fewer than k records, each record that requests this k joins the group of the grouped
    record that is nearest to it. Among equally distant records, the one with the lowest index is taken.

    Raises ValueError if there are fewer records than the largest k.
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
    """Return, as a float array (n,), the squared distance of each of several points to one point."""
    numbers = space.numbers
    far = ((points[:, :numbers] - point[:numbers]) ** 2).sum(axis=1)
    for a in range(numbers, points.shape[1]):
        levels = (space.groups[points[:, a].astype(np.int64)] == space.groups[int(point[a])]).argmax(axis=1)
        far += (levels * space.weights[a]) ** 2
    return far


def find_centres(space: Space, rows: Array, groups: Array) -> IntArray:
    """Return, as an array (groups,), the category with the least sum of squared distances to the records of each group.

    Among categories with equal sums, the result is the first one on the attribute's line. Categories are given as the
    numbers of rows of `space.groups`, in `rows` and in the result. The result is always a category of the group: no
    other category is nearer to the whole group, because distances are those of a tree.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(groups)))
    return _central(space, rows.astype(np.int64), order, starts)


def _check(points: FloatArray, k: int) -> None:
    if not 1 <= k <= len(points):
        raise UsageError(f"`k` must be from 1 to the number of records, {len(points)}; got {k}.")


class _Left(NamedTuple):
    """The records without a group, and working space of a search.

    - `sums`: the sum of each number over the records, (attributes,).
    - `costs`: for each category, the sum of its squared distances, in levels, to the categories of the records,
      (rows,).
    """

    space: Space
    points: FloatArray
    tree: BoxTree
    sums: FloatArray
    costs: IntArray
    stack: IntArray
    bounds: FloatArray


def _left(space: Space, points: FloatArray) -> _Left:
    """Return the state in which no record has a group."""
    costs = np.zeros(len(space.groups), np.int64)
    for a in range(space.numbers, points.shape[1]):
        rows = space.groups[space.begin[a] : space.end[a]]
        times = np.bincount(points[:, a].astype(np.int64) - space.begin[a], minlength=len(rows))
        costs[space.begin[a] : space.end[a]] = [times @ (rows == row).argmax(axis=1) ** 2 for row in rows]
    stack, bounds = np.empty(2 * len(points), np.int64), np.empty(2 * len(points))  # one a node
    return _Left(space, points, grow(space, points), points.sum(axis=0), costs, stack, bounds)


@njit(cache=True)
def _distance(space: Space, one: FloatArray, other: FloatArray) -> float:
    """Return the squared distance of two points."""
    total = 0.0
    for a in range(len(one)):
        total += apart(space, a, one[a], other[a]) ** 2
    return total


@njit(cache=True)
def _bound(space: Space, point: FloatArray, low: FloatArray, high: FloatArray, far: bool) -> float:
    """Return the smallest squared distance of a point to a box, or minus the largest squared distance if `far`."""
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
    """Write the records nearest to a point, or farthest from it if `far`, to `found`, by distance and then by index."""
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
    """Remove a record from its boxes, and from the sums and costs that determine the average."""
    space, point = left.space, left.points[record]
    take(left.points, left.tree, record)
    for a in range(len(point)):
        left.sums[a] -= point[a]
        for row in range(space.begin[a], space.end[a]):
            left.costs[row] -= level(space, row, int(point[a])) ** 2


@njit(cache=True)
def _group(left: _Left, groups: IntArray, number: Int, seed: Int, found: IntArray) -> None:
    """Form a group of `seed`, a removed record, and the `len(found)` remaining records that are nearest to it."""
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
    """Return the group of each record, or -1 for a record that is left over."""
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
