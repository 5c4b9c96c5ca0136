"""Greedy k-member clustering: groups of at least k records that differ as little as possible.

The greedy algorithm asks two questions again and again: which unassigned record is furthest from a given one, and
which adds least to a cluster. Scans answer both with a billion comparisons for 45 thousand records at k = 2; a branch
and bound over a tree of boxes gives the same answers, ties included, in a fraction of a second.

Source: Byun, Kamra, Bertino, Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from typing import NamedTuple

import numpy as np
from numba import njit

from privnb.microdata.hierarchy import Extent
from privnb.microdata.hierarchy.generalization import places
from privnb.runtime.arrays import Array, Int, IntArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.algorithms.box_tree import NEVER, BoxTree, Space, apart, grow, space_of, take


def greedy_k_member(
    codes: Array,
    extents: Sequence[Extent],
    k: int,
    start: int = 0,
    grown: Callable[[np.ndarray, int], bool] | None = None,
) -> IntArray:
    """The cluster of each record, 0 to n // k - 1 in order of formation; every cluster has k records or more.

    codes: integer array (n, attributes), each value's position on its attribute's line. extents: how wide a
    generalization is, one an attribute. A cluster's diameter is the sum of its attributes' extents as fractions of
    the widest, its cost size x diameter. It starts at the unassigned record furthest from the seed of the cluster
    before it (at first: from record `start`) and takes k - 1 times the record that adds least cost. The records left
    over, fewer than k, join in index order the cluster to which they add least. Ties go to the lowest index; costs are
    integers, so that ties are exact.

    `grown`: whether the cluster of these records (an integer array) is finished, whose first so many were not; until
    then it takes one more. A cluster that is not even when no record is left falls apart; then its records, as all left
    over, have the label -1.

    Returns an integer array (n,). Raises ValueError for k or start outside the table, and where exact costs would
    need more than 64 bits. Memory: with 8 attributes some 400 bytes a distinct record.
    """
    n = len(codes)
    if not (1 <= k <= n and 0 <= start < n):
        raise UsageError(f"{n} records need k from 1 to {n} and start from 0 to {n - 1}, got k={k} and start={start}.")
    space, points = _located(np.asarray(codes), extents, k)
    low, high = np.empty((2, len(extents)), np.int64)
    growth, (stack, bounds) = np.empty(len(space.groups), np.int64), np.empty((2, 2 * n), np.int64)
    left = _Left(space, points, grow(space, points), low, high, growth, stack, bounds)
    labels, members, free = np.full(n, -1), np.empty(n, np.int64), n
    seed: Int = start
    lows, highs = np.empty((2, n // k, len(extents)), np.int64)
    for cluster in range(n // k):
        if free < k:
            break
        seed = _open_cluster(left, seed, members[:k])
        size, finished = k, grown is None or grown(members[:k], 0)
        while grown and not finished and size < free:
            members[size] = _add(left)
            size += 1
            finished = grown(members[:size], size - 1)
        if not finished:
            break
        labels[members[:size]] = cluster
        lows[cluster], highs[cluster] = low, high
        free -= size
    if grown is None:
        _join(space, points, labels, lows, highs, k)
    return labels


class _Left(NamedTuple):
    """The records that have no cluster, and the one that grows: its box, from `low` to `high`, and how much each
    category adds to the extent of its attribute, `growth`. The open nodes and bounds are working space of a search.
    """

    space: Space
    points: IntArray
    tree: BoxTree
    low: IntArray
    high: IntArray
    growth: IntArray
    stack: IntArray
    bounds: IntArray


def _located(codes: Array, extents: Sequence[Extent], k: int) -> tuple[Space, IntArray]:
    """The space in which clusters have their diameters as whole numbers, and each record's point."""
    denominators = [extent.denominator for extent in extents]
    unit = lcm(*filter(None, denominators))  # brings fractions with these denominators to one
    if unit * len(extents) * 2 * k >= NEVER:  # no cluster reaches 2k records
        raise UsageError(
            f"extents with the denominators {denominators} have the common denominator {unit}, too large for exact "
            "costs. Give a number's domain a coarser step."
        )
    trees = [a for a, extent in enumerate(extents) if extent.groups is not None]
    weights = np.array([unit // each if each else 0 for each in denominators], dtype=np.int64)
    lines = [a for a in range(len(extents)) if a not in trees]
    columns = [places(codes[:, a], denominators[a]).astype(np.int64) * weights[a] for a in lines]
    columns += [codes[:, a] for a in trees]
    return space_of(columns, unit, [extent.groups for extent in extents if extent.groups is not None], weights[trees])


# A call would pass every array in parts, some sixty arguments: inlined, the search is twice as fast.
@njit(cache=True, inline="always")
def _bound(left: _Left, lows: Array, highs: Array, row: Int, furthest: bool) -> Int:
    """The least that a record in a box can add to the cluster's diameter; furthest: minus the most.

    Growth is 0 in the cluster's box and never falls outwards: least at the coordinate nearest to it, most at an end.
    """
    bound, most = 0, left.space.most
    for a in range(left.space.numbers):
        begin, end, low, high = left.low[a], left.high[a], lows[row, a], highs[row, a]
        further = max(begin - low, high - end) if furthest else max(0, begin - high, low - end)
        bound += min(end - begin + further, most) - min(end - begin, most)
    for a in range(left.space.numbers, len(left.low)):
        low, high = lows[row, a], highs[row, a]
        if furthest:
            bound += max(left.growth[low], left.growth[high])
        else:
            bound += left.growth[min(max(left.low[a], low), high)]
    return -bound if furthest else bound


@njit(cache=True)
def _search(left: _Left, furthest: bool) -> Int:
    """The record with the least bound, of equals the lowest.

    Depth first, the better child first: what cannot beat the best record so far is left out.
    """
    tree, stack, bounds = left.tree, left.stack, left.bounds
    best: Int = NEVER
    found, top = NEVER, 0
    stack[0], bounds[0] = 0, -NEVER
    while top >= 0:
        node, bound = stack[top], bounds[top]
        top -= 1
        if bound > best or tree.first[node] == NEVER or (bound == best and tree.first[node] > found):
            continue
        one = tree.child[node]
        if one >= 0:
            here = _bound(left, tree.low, tree.high, one, furthest)
            there = _bound(left, tree.low, tree.high, one + 1, furthest)
            first = one + (there < here or (there == here and tree.first[one + 1] < tree.first[one]))
            stack[top + 1], bounds[top + 1] = 2 * one + 1 - first, max(here, there)
            stack[top + 2], bounds[top + 2] = first, min(here, there)
            top += 2
            continue
        for place in range(tree.begin[node], tree.end[node]):
            record = tree.order[place]
            bound = _bound(left, left.points, left.points, record, furthest)
            if bound < best or (bound == best and record < found):
                best, found = bound, record
    return found


@njit(cache=True)
def _widen(left: _Left, point: Array, fresh: bool) -> None:
    """Let the cluster's box hold a point too, or nothing else if it is `fresh`."""
    space, low, high = left.space, left.low, left.high
    for a in range(len(point)):
        if fresh or not low[a] <= point[a] <= high[a]:
            low[a] = point[a] if fresh else min(low[a], point[a])
            high[a] = point[a] if fresh else max(high[a], point[a])
            wide = apart(space, a, low[a], high[a])
            for c in range(space.begin[a], space.end[a]):
                left.growth[c] = apart(space, a, min(low[a], c), max(high[a], c)) - wide


@njit(cache=True)
def _open_cluster(left: _Left, seed: Int, members: IntArray) -> Int:
    """Write the first records of the next cluster to `members`; return its seed."""
    # The search gets True or False as literals, as it is then compiled once for each: twice as fast as a variable.
    _widen(left, left.points[seed], True)
    seed = _search(left, True)
    take(left.points, left.tree, seed)
    _widen(left, left.points[seed], True)
    members[0] = seed
    for place in range(1, len(members)):
        members[place] = _add(left)
    return seed


@njit(cache=True)
def _add(left: _Left) -> Int:
    """Take the record that adds least to the cluster, and widen that; return the record."""
    record = _search(left, False)
    take(left.points, left.tree, record)
    _widen(left, left.points[record], False)
    return record


def _join(space: Space, points: IntArray, labels: IntArray, low: IntArray, high: IntArray, k: int) -> None:
    """Let each record without a label join the cluster of k, a box from low to high, whose cost rises least."""

    def diameters(low: IntArray, high: IntArray) -> IntArray:
        total = np.minimum(high - low, space.most)[:, : space.numbers].sum(axis=1)
        for a in range(space.numbers, points.shape[1]):
            total += (space.groups[low[:, a]] == space.groups[high[:, a]]).argmax(axis=1) * space.weights[a]
        return total

    sizes = np.full(len(low), k)
    for record in np.flatnonzero(labels < 0):
        below, above = np.minimum(low, points[record]), np.maximum(high, points[record])
        chosen = np.argmin((sizes + 1) * diameters(below, above) - sizes * diameters(low, high))
        labels[record], low[chosen], high[chosen] = chosen, below[chosen], above[chosen]
        sizes[chosen] += 1
