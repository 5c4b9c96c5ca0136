"""Greedy k-member clustering: groups of at least k records, with small differences between the records of a group.

The greedy algorithm repeats two queries: which unassigned record is furthest from a given record, and which record adds
the least cost to a cluster. Scans of all records would take a billion comparisons for 45 thousand records and k = 2. A
branch-and-bound search over a tree of boxes gives the same answers, including ties, in a fraction of a second.

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
from privnb.sanitizers.algorithms.box_tree import NEVER, BoxTree, Space, apart, build_space, grow, take


def greedy_k_member(
    codes: Array,
    extents: Sequence[Extent],
    k: int,
    start: int = 0,
    grown: Callable[[np.ndarray, int], bool] | None = None,
) -> IntArray:
    """Return the cluster of each record, 0 to n // k - 1 in order of formation; every cluster has at least k records.

    - `codes`: integer array (n, attributes), the position of each value on the line of its attribute.
    - `extents`: the widths of generalizations, one `Extent` per attribute.

    The diameter of a cluster is the sum of its extents, each as a fraction of the attribute's widest extent. The cost
    of a cluster is its size times its diameter. A cluster starts at the unassigned record that is furthest from the
    seed of the previous cluster; the first cluster starts at the record that is furthest from record `start`. Then, k -
    1 times, the record that adds the least cost joins the cluster. Fewer than k records are left over; in the order of
    their index, each of these records joins the cluster to which it adds the least cost. Among records with equal
    costs, the one with the lowest index is taken; costs are integers, so equality is exact.

    `grown`: a function of the records of a cluster (an integer array) and of a number, 0 in the first call: the
    previous call for the cluster had only this number of its first records. The function returns whether the cluster is
    finished; if not, the cluster takes one more record. If no records are left, an unfinished cluster is dissolved; its
    records, and all records left over, then have the label -1.

    Returns an integer array (n,). Raises ValueError if `k` or `start` is out of range, or if exact costs would need
    more than 64 bits. With 8 attributes, the function needs about 400 bytes of memory per distinct record.
    """
    n = len(codes)
    if not (1 <= k <= n and 0 <= start < n):
        raise UsageError(f"`k` must be from 1 to {n}, and `start` from 0 to {n - 1}; got k={k} and start={start}.")
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
    """The records without a cluster, and the one cluster that grows.

    `low` and `high` are the ends of the cluster's box. `growth` is the amount that each category would add to the
    cluster's extent in the attribute of the category. `stack`, the open nodes, and `bounds` are working space of a
    search.
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
    """Return the space in which diameters of clusters are whole numbers, and the point of each record."""
    denominators = [extent.denominator for extent in extents]
    unit = lcm(*filter(None, denominators))  # the common denominator of the fractions
    if unit * len(extents) * 2 * k >= NEVER:  # no cluster reaches 2k records
        raise UsageError(
            f"extents with the denominators {denominators} have the common denominator {unit}, which is too large for "
            "exact costs. Give the domain of a numeric attribute a coarser step."
        )
    trees = [a for a, extent in enumerate(extents) if extent.groups is not None]
    weights = np.array([unit // each if each else 0 for each in denominators], dtype=np.int64)
    lines = [a for a in range(len(extents)) if a not in trees]
    columns = [places(codes[:, a], denominators[a]).astype(np.int64) * weights[a] for a in lines]
    columns += [codes[:, a] for a in trees]
    return build_space(
        columns, unit, [extent.groups for extent in extents if extent.groups is not None], weights[trees]
    )


# # A call would pass every array in parts, about sixty arguments. Inlining makes the search twice as fast.
@njit(cache=True, inline="always")
def _bound(left: _Left, lows: Array, highs: Array, row: Int, furthest: bool) -> Int:
    """Return the least that a record in a box can add to the cluster's diameter or, if `furthest`, minus the most.

    The growth is 0 within the cluster's box and never falls with the distance from this box. In the other box, the
    growth is therefore smallest at the coordinate nearest to the cluster's box, and largest at the low or the high end.
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
    """Return the record with the smallest bound; among records with equal bounds, the one with the lowest index.

    The search is depth-first, begins with the better child, and skips boxes that cannot contain a better record than
    the best record so far.
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
    """Widen the box of the cluster to cover a point; if the box is `fresh`, let it cover only this point."""
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
    """Write the first records of the next cluster to `members`; return the seed of this cluster."""
    # # For the literals True and False, numba compiles the search separately, which is twice as fast as a variable.
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
    """Take the record that adds the least to the cluster, widen the cluster, and return the record."""
    record = _search(left, False)
    take(left.points, left.tree, record)
    _widen(left, left.points[record], False)
    return record


def _join(space: Space, points: IntArray, labels: IntArray, low: IntArray, high: IntArray, k: int) -> None:
    """Add each unlabeled record to the cluster whose cost rises least; each cluster has k records and a box."""

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
