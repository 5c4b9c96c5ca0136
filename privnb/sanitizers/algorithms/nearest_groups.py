"""Groups of at least k records that lie near each other: maximum distance to average, and around records drawn.

Both ask again and again which record is farthest from a place, and which are nearest to it. A tree of boxes answers
exactly, ties included, and forgets the records that have a group, so that a million records of three numbers take
seconds; in many dimensions boxes rule little out, and the answers take a pass over the records each.

Source: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation", DMKD
2005, section 4 (MDAV-generic); Aggarwal and Yu, "A Condensation Approach to Privacy Preserving Data Mining", EDBT 2004,
section 2.

One module, for numba compiles its kernels together, and all keep one tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privnb.microdata.hierarchy.generalization import places
from privnb.runtime.arrays import Array, FloatArray, Int, IntArray
from privnb.runtime.tolerances import ROUNDING

_NEVER = 2**62  # above every record's position
_LEAF = 16  # records of a box that is not divided
_EXACT = 2.0**52  # floats are exact on whole numbers below twice that
_FINE = 2.0**16  # a step of so many units is a whole number of them, within 1 / 131,072 of its length


class Space(NamedTuple):
    """How far apart two points are: the root of the sum of their squares by attribute.

    The first `numbers` coordinates of a point are whole numbers, `unit` to a standard deviation. Each other one is a
    row of `groups` (rows x levels), an attribute's from `begin` to before `end`: two of them are as many times
    `weights` apart as the first level has at which they are in one group.
    """

    numbers: int
    unit: float
    begin: Array
    end: Array
    weights: Array
    groups: Array


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
    unit = 2.0 ** np.floor(np.log2(_EXACT / max(spread, 1e-9)) / 2 - ROUNDING)
    unit = min(unit, 2.0**24)
    points = np.empty(codes.shape)
    for place, (column, scale) in enumerate(zip(steps, scales, strict=True)):
        step = unit / scale
        points[:, place] = column * np.rint(step) if step >= _FINE else np.rint(column * step)
    levels = max((len(extents[a].groups) for a in trees), default=1)
    begin, end = np.zeros((2, codes.shape[1]), dtype=np.int64)
    weights, rows = np.zeros(codes.shape[1]), [np.empty((0, levels), dtype=np.int64)]
    for place, a in enumerate(trees, len(lines)):
        groups = extents[a].groups
        begin[place] = end[place - 1] if place else 0
        end[place] = begin[place] + groups.shape[1]
        weights[place] = np.rint(unit / max(extents[a].denominator, 1))
        rows.append(np.pad(groups.T, ((0, 0), (0, levels - len(groups)))))
        points[:, place] = begin[place] + codes[:, a]
    space = Space(len(lines), unit, begin, end, weights, np.concatenate(rows).astype(np.int64))
    return space, points, lines + trees


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
    return _mdav(space, points, int(k))


def around(space: Space, points: Array, k: int, seeds: Array) -> IntArray:
    """The group of each record around records drawn, 0, 1, ... in order of formation: integer array (n,).

    While k records or more are left: the next of `seeds` (the records in random order) that is makes a group with the
    k - 1 nearest to it. Each of the fewer than k that are left then joins the group whose average is nearest. Ties go
    to the lowest index. Points of numbers alone. Raises ValueError for fewer than k records.
    """
    _check(points, k)
    return _around(space, points, int(k), np.asarray(seeds, dtype=np.int64))


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
        raise ValueError(f"{len(points)} records need k from 1 to {len(points)}, got k={k}.")


class _Tree(NamedTuple):
    """Boxes within boxes around the records that have no group yet. Node 0 holds all of them.

    low, high: a node's box. child: the first of its two neighbouring children, -1 for a leaf. parent: -1 for node 0.
    first: the lowest record in the box; _NEVER in an empty one. begin, size: where a leaf's records stand in `order`.
    leaf: of each record.
    """

    low: Array
    high: Array
    child: Array
    parent: Array
    first: Array
    begin: Array
    size: Array
    order: Array
    leaf: Array


@njit(cache=True)
def _level(space: Space, one: Int, other: Int) -> Int:
    """The first level at which two rows are in one group."""
    level = 0
    while space.groups[one, level] != space.groups[other, level]:
        level += 1
    return level


@njit(cache=True)
def _apart(space: Space, a: Int, one: float, other: float) -> float:
    """How far apart two coordinates are."""
    if a < space.numbers:
        return abs(one - other)
    return _level(space, int(one), int(other)) * space.weights[a]


@njit(cache=True)
def _distance(space: Space, one: FloatArray, other: FloatArray) -> float:
    """The squared distance of two points."""
    total = 0.0
    for a in range(space.numbers):
        total += (one[a] - other[a]) ** 2
    for a in range(space.numbers, len(one)):
        total += _apart(space, a, one[a], other[a]) ** 2
    return total


@njit(cache=True)
def _least(space: Space, point: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """The squared distance of a point to a box: no point in it is nearer."""
    total = 0.0
    for a in range(space.numbers):
        if point[a] < low[a]:
            total += (low[a] - point[a]) ** 2
        elif point[a] > high[a]:
            total += (point[a] - high[a]) ** 2
    for a in range(space.numbers, len(point)):
        if point[a] < low[a]:
            total += _apart(space, a, point[a], low[a]) ** 2
        elif point[a] > high[a]:
            total += _apart(space, a, high[a], point[a]) ** 2
    return total


@njit(cache=True)
def _most(space: Space, point: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """No point in a box is farther from this one: a squared distance."""
    total = 0.0
    for a in range(space.numbers):
        total += max(point[a] - low[a], high[a] - point[a]) ** 2
    for a in range(space.numbers, len(point)):
        total += max(_apart(space, a, point[a], low[a]), _apart(space, a, point[a], high[a])) ** 2
    return total


@njit(cache=True)
def _fit(points: FloatArray, tree: _Tree, node: Int) -> bool:
    """Fit the box of a leaf, or of a node around its children's; whether it changed."""
    dims, changed = points.shape[1], False
    for a in range(dims):
        low, high = np.inf, -np.inf
        if tree.child[node] < 0:
            for place in range(tree.begin[node], tree.begin[node] + tree.size[node]):
                value = points[tree.order[place], a]
                low, high = min(low, value), max(high, value)
        else:
            one = tree.child[node]
            low, high = min(tree.low[one, a], tree.low[one + 1, a]), max(tree.high[one, a], tree.high[one + 1, a])
        changed = changed or low != tree.low[node, a] or high != tree.high[node, a]
        tree.low[node, a], tree.high[node, a] = low, high
    first = _NEVER
    if tree.child[node] < 0:
        for place in range(tree.begin[node], tree.begin[node] + tree.size[node]):
            first = min(first, tree.order[place])
    else:
        first = min(tree.first[tree.child[node]], tree.first[tree.child[node] + 1])
    changed = changed or first != tree.first[node]
    tree.first[node] = first
    return changed


@njit(cache=True)
def _grow(space: Space, points: FloatArray) -> _Tree:
    """The tree over all points: each box is halved along its widest side."""
    n, dims = points.shape
    nodes = 4 * (n // _LEAF + 1) + 1
    order, leaf = np.arange(n), np.zeros(n, np.int64)
    child, parent = np.full(nodes, -1), np.full(nodes, -1)
    begin, size, first = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.full(nodes, _NEVER)
    tree = _Tree(np.zeros((nodes, dims)), np.zeros((nodes, dims)), child, parent, first, begin, size, order, leaf)
    size[0], number, node = n, 1, 0
    while node < number:
        start, stop = begin[node], begin[node] + size[node]
        if size[node] > _LEAF:
            widest, side = -1.0, 0
            for a in range(dims):
                low, high = np.inf, -np.inf
                for place in range(start, stop):
                    low, high = min(low, points[order[place], a]), max(high, points[order[place], a])
                wide = _apart(space, a, low, high)
                if wide > widest:
                    widest, side = wide, a
            values = np.empty(stop - start)
            for place in range(start, stop):
                values[place - start] = points[order[place], side]
            moved = order[start:stop][np.argsort(values, kind="mergesort")]
            for place in range(start, stop):  # to assign a slice takes numba two seconds to compile
                order[place] = moved[place - start]
            half = size[node] // 2
            child[node] = number
            parent[number : number + 2] = node
            begin[number], size[number] = start, half
            begin[number + 1], size[number + 1] = start + half, size[node] - half
            number += 2
        else:
            for place in range(start, stop):
                leaf[order[place]] = node
        node += 1
    for each in range(number - 1, -1, -1):
        _fit(points, tree, each)
    return tree


@njit(cache=True)
def _remove(points: FloatArray, tree: _Tree, record: Int) -> None:
    """Forget a record."""
    node = tree.leaf[record]
    last = tree.begin[node] + tree.size[node] - 1
    for place in range(tree.begin[node], last + 1):
        if tree.order[place] == record:
            tree.order[place] = tree.order[last]
            break
    tree.size[node] -= 1
    while node >= 0 and _fit(points, tree, node):
        node = tree.parent[node]


@njit(cache=True)
def _farthest(space: Space, points: FloatArray, tree: _Tree, point: FloatArray, stack: Array, bounds: Array) -> Int:
    """The record farthest from a point, of several the lowest."""
    best, found, top = -1.0, _NEVER, 0
    stack[0], bounds[0] = 0, np.inf
    while top >= 0:
        node, bound = stack[top], bounds[top]
        top -= 1
        if bound < best or (bound == best and tree.first[node] > found):
            continue
        if tree.child[node] < 0:
            for place in range(tree.begin[node], tree.begin[node] + tree.size[node]):
                record = tree.order[place]
                far = _distance(space, point, points[record])
                if far > best or (far == best and record < found):
                    best, found = far, record
            continue
        one = tree.child[node]
        here = there = -1.0
        if tree.first[one] != _NEVER:
            here = _most(space, point, tree.low[one], tree.high[one])
        if tree.first[one + 1] != _NEVER:
            there = _most(space, point, tree.low[one + 1], tree.high[one + 1])
        nearer, farther = (one, one + 1) if here < there else (one + 1, one)
        if min(here, there) >= 0:
            top += 1
            stack[top], bounds[top] = nearer, min(here, there)
        if max(here, there) >= 0:
            top += 1
            stack[top], bounds[top] = farther, max(here, there)
    return found


@njit(cache=True)
def _nearest(
    space: Space, points: FloatArray, tree: _Tree, point: FloatArray, number: Int, found: IntArray, stack: Array,
    bounds: Array,
) -> None:  # fmt: skip
    """Put the `number` records nearest to a point into `found`, the nearest first, of several the lowest."""
    near = np.full(number, np.inf)
    found[:number] = _NEVER
    top = 0
    stack[0], bounds[0] = 0, 0.0
    while top >= 0:
        node, bound = stack[top], bounds[top]
        top -= 1
        if bound > near[-1] or (bound == near[-1] and tree.first[node] > found[number - 1]):
            continue
        if tree.child[node] < 0:
            for place in range(tree.begin[node], tree.begin[node] + tree.size[node]):
                record = tree.order[place]
                far = _distance(space, point, points[record])
                if far > near[-1] or (far == near[-1] and record > found[number - 1]):
                    continue
                spot = number - 1
                while spot > 0 and (near[spot - 1] > far or (near[spot - 1] == far and found[spot - 1] > record)):
                    near[spot], found[spot] = near[spot - 1], found[spot - 1]
                    spot -= 1
                near[spot], found[spot] = far, record
            continue
        one = tree.child[node]
        here = there = np.inf
        if tree.first[one] != _NEVER:
            here = _least(space, point, tree.low[one], tree.high[one])
        if tree.first[one + 1] != _NEVER:
            there = _least(space, point, tree.low[one + 1], tree.high[one + 1])
        nearer, farther = (one, one + 1) if here <= there else (one + 1, one)
        if max(here, there) < np.inf:
            top += 1
            stack[top], bounds[top] = farther, max(here, there)
        if min(here, there) < np.inf:
            top += 1
            stack[top], bounds[top] = nearer, min(here, there)


@njit(cache=True)
def _costs(space: Space, points: FloatArray) -> IntArray:
    """How many levels each category is apart from the records', squared, in sum: integer array (rows,)."""
    costs = np.zeros(len(space.groups), np.int64)
    for a in range(space.numbers, points.shape[1]):
        times = np.zeros(space.end[a] - space.begin[a], np.int64)
        for value in points[:, a]:
            times[int(value) - space.begin[a]] += 1
        for row in range(space.begin[a], space.end[a]):
            for other in range(space.begin[a], space.end[a]):
                if times[other - space.begin[a]]:
                    costs[row] += times[other - space.begin[a]] * _level(space, row, other) ** 2
    return costs


@njit(cache=True)
def _average(space: Space, sums: Array, costs: Array, left: Int, point: FloatArray) -> None:
    """Put the average of the records that are left into `point`."""
    for a in range(space.numbers):
        point[a] = np.rint(sums[a] / left)
    for a in range(space.numbers, len(point)):
        point[a] = space.begin[a] + np.argmin(costs[space.begin[a] : space.end[a]])


@njit(cache=True)
def _take(space: Space, points: FloatArray, tree: _Tree, sums: Array, costs: Array, record: Int) -> None:
    """Forget a record, also in what the average is made of."""
    _remove(points, tree, record)
    for a in range(space.numbers):
        sums[a] -= points[record, a]
    for a in range(space.numbers, points.shape[1]):
        for row in range(space.begin[a], space.end[a]):
            costs[row] -= _level(space, row, int(points[record, a])) ** 2


@njit(cache=True)
def _ranked(space: Space, points: FloatArray, groups: IntArray, point: FloatArray) -> tuple[IntArray, FloatArray]:
    """The records without a group, the farthest from a point first, and how far each is."""
    records = np.flatnonzero(groups < 0)
    radius = np.empty(len(records))
    for place in range(len(records)):
        radius[place] = np.sqrt(_distance(space, point, points[records[place]]))
    order = np.argsort(-radius, kind="mergesort")
    return records[order], radius[order]


@njit(cache=True)
def _outermost(
    space: Space, points: FloatArray, groups: IntArray, point: FloatArray, drift: float, ranked: Array, radius: Array
) -> tuple[Int, Int]:
    """The record farthest from a point, of several the lowest; how many records were looked at.

    They are ranked by their distance from a point that lies `drift` away, so none after it is far enough. In a cloud
    whose outermost records are taken one after the other no box rules much out.
    """
    best, found, seen = -1.0, _NEVER, 0
    reach = drift + 1.0  # a unit, for roots are rounded
    for place in range(len(ranked)):
        if radius[place] + reach < np.sqrt(max(best, 0.0)):
            break
        seen += 1
        record = ranked[place]
        if groups[record] < 0:
            far = _distance(space, point, points[record])
            if far > best or (far == best and record < found):
                best, found = far, record
    return found, seen


@njit(cache=True)
def _mdav(space: Space, points: FloatArray, k: Int) -> IntArray:
    n, dims = points.shape
    tree = _grow(space, points)
    groups, number, left = np.full(n, -1), 0, n
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    found, point, two = np.empty(max(k - 1, 1), np.int64), np.empty(dims), np.empty(2, np.int64)
    sums, costs = np.zeros(dims), _costs(space, points)
    for a in range(space.numbers):
        sums[a] = points[:, a].sum()
    _average(space, sums, costs, left, point)
    base, looked = point.copy(), 0
    ranked, radius = _ranked(space, points, groups, base)
    while left >= 2 * k:
        _average(space, sums, costs, left, point)
        if looked > 8 * left:  # then they were ranked too long ago
            base, looked = point.copy(), 0
            ranked, radius = _ranked(space, points, groups, base)
        drift = np.sqrt(_distance(space, point, base))
        two[0], seen = _outermost(space, points, groups, point, drift, ranked, radius)
        looked += seen
        _take(space, points, tree, sums, costs, two[0])
        ends = 2 if left >= 3 * k else 1
        if ends == 2:
            two[1] = _farthest(space, points, tree, points[two[0]], stack, bounds)
            _take(space, points, tree, sums, costs, two[1])
        for end in two[:ends]:
            groups[end] = number
            if k > 1:
                _nearest(space, points, tree, points[end], k - 1, found, stack, bounds)
                for record in found[: k - 1]:
                    groups[record] = number
                    _take(space, points, tree, sums, costs, record)
            number += 1
        left -= ends * k
    groups[groups < 0] = number
    return groups


@njit(cache=True)
def _around(space: Space, points: FloatArray, k: Int, seeds: Array) -> IntArray:
    n, dims = points.shape
    tree = _grow(space, points)
    groups, number, left = np.full(n, -1), 0, n
    stack, bounds, found = np.empty(128, np.int64), np.empty(128), np.empty(max(k - 1, 1), np.int64)
    averages = np.zeros((n // k, dims))
    for seed in seeds:
        if left < k:
            break
        if groups[seed] >= 0:
            continue
        groups[seed] = number
        _remove(points, tree, seed)
        averages[number] += points[seed]
        if k > 1:
            _nearest(space, points, tree, points[seed], k - 1, found, stack, bounds)
            for record in found[: k - 1]:
                groups[record] = number
                _remove(points, tree, record)
                averages[number] += points[record]
        number += 1
        left -= k
    for record in np.flatnonzero(groups < 0):
        best = np.inf
        for group in range(number):
            far = 0.0
            for a in range(dims):
                far += (points[record, a] - np.rint(averages[group, a] / k)) ** 2
            if far < best:
                best, groups[record] = far, group
    return groups


@njit(cache=True)
def _central(space: Space, rows: IntArray, order: IntArray, starts: IntArray) -> IntArray:
    chosen, times = np.empty(len(starts) - 1, np.int64), np.zeros(len(space.groups), np.int64)
    different = np.empty(len(space.groups), np.int64)
    for group in range(len(chosen)):
        best, many = _NEVER, 0
        for place in range(starts[group], starts[group + 1]):
            row = rows[order[place]]
            if times[row] == 0:
                different[many] = row
                many += 1
            times[row] += 1
        for row in different[:many]:
            cost = 0
            for other in different[:many]:
                cost += times[other] * _level(space, row, other) ** 2
            if cost < best or (cost == best and row < chosen[group]):
                best, chosen[group] = cost, row
        times[different[:many]] = 0
    return chosen
