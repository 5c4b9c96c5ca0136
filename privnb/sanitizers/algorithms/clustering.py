"""Greedy k-member clustering: groups of at least k records that differ as little as possible.

The greedy algorithm asks two questions again and again: which unassigned record is furthest from a given one, and
which adds least to a cluster. Scans answer both with a billion comparisons for 45 thousand records at k = 2; a branch
and bound over a tree of boxes gives the same answers, ties included, in a fraction of a second.

Source: Byun, Kamra, Bertino, Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007, section 4.

One module, for numba compiles its kernels together, and all keep one tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privnb.microdata.hierarchy import Extent
from privnb.microdata.hierarchy.generalization import places
from privnb.runtime.arrays import Array, Int, IntArray

_NEVER = 2**62  # above every cost and every record's position


def integer_weights(denominators: Sequence[int]) -> list[int]:
    """The integers that bring fractions with these denominators to one unit; 0 for the denominator 0.

    >>> integer_weights([15, 4, 2, 1, 0])
    [4, 15, 30, 60, 0]
    """
    unit = lcm(*filter(None, denominators))
    return [unit // denominator if denominator else 0 for denominator in denominators]


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
        raise ValueError(f"{n} records need k from 1 to {n} and start from 0 to {n - 1}, got k={k} and start={start}.")
    points, geometry = _locate(np.asarray(codes), extents, k)
    # Equal records share a leaf of the tree; `following` leads from each to the next of them.
    order = np.lexsort(points.T)
    distinct = np.concatenate([[True], np.any(points[order[1:]] != points[order[:-1]], axis=1)])
    following = np.full(n, -1)
    following[order[:-1]] = np.where(distinct[1:], -1, order[1:])
    if grown is None:
        return _cluster(points, geometry, order[distinct], following, int(k), int(start))
    return _cluster_until(points, geometry, order[distinct], following, int(k), int(start), grown)


class _Geometry(NamedTuple):
    """How wide a box is. The coordinates of the first `ranges` attributes are weighted places, `unit` apart at most;
    those of the others are rows of `groups` (rows x levels), an attribute's from `begin` to before `end`."""

    ranges: int
    unit: int
    weights: Array
    begin: Array
    end: Array
    groups: Array


class _Tree(NamedTuple):
    """Boxes within boxes around the unassigned records. Node 0 holds all of them, a leaf those of one point.

    low, high: a node's box. child: the first of its two neighbouring children, -1 for a leaf. parent: -1 for node 0.
    first: the lowest record in the box.
    """

    low: Array
    high: Array
    child: Array
    parent: Array
    first: Array


def _locate(codes: Array, extents: Sequence[Any], k: int) -> tuple[IntArray, _Geometry]:
    """Each record's point, integer array (n, attributes), and the geometry of the points."""
    weights = integer_weights([extent.denominator for extent in extents])
    unit = max(weight * extent.denominator for weight, extent in zip(weights, extents, strict=True))
    if unit * len(extents) * 2 * k >= _NEVER:  # no cluster reaches 2k records
        raise ValueError(
            f"extents with the denominators {[extent.denominator for extent in extents]} have the common denominator "
            f"{unit}, too large for exact costs. Give a number's domain a coarser step."
        )
    attributes = sorted(range(len(extents)), key=lambda a: extents[a].groups is not None)
    levels = max((len(extent.groups) for extent in extents if extent.groups is not None), default=1)
    points = np.empty(codes.shape, np.int64)
    begin, end = np.zeros((2, len(extents)), np.int64)
    rows = [np.empty((0, levels), np.int64)]
    for column, a in enumerate(attributes):
        groups = extents[a].groups
        if groups is None:
            points[:, column] = places(codes[:, a], extents[a].denominator) * weights[a]
            continue
        # Values that share their group at every level are one coordinate.
        new = np.concatenate([[True], np.any(groups[:, 1:] != groups[:, :-1], axis=0)])
        begin[column] = end[column - 1]
        end[column] = begin[column] + new.sum()
        points[:, column] = begin[column] + (np.cumsum(new) - 1)[codes[:, a]]
        rows.append(np.pad(groups[:, new].T, ((0, 0), (0, levels - len(groups)))))
    ranges = sum(extent.groups is None for extent in extents)
    in_order = np.array([weights[a] for a in attributes])
    return points, _Geometry(ranges, unit, in_order, begin, end, np.concatenate(rows).astype(np.int64))


@njit(cache=True)
def _extent(geometry: _Geometry, a: Int, low: Int, high: Int) -> Int:
    """The weighted extent from low to high, which never falls as they move apart: all bounds rest on that."""
    if a < geometry.ranges:
        return min(high - low, geometry.unit)
    level = 0
    while geometry.groups[low, level] != geometry.groups[high, level]:
        level += 1
    return level * geometry.weights[a]


@njit(cache=True)
def _grow(geometry: _Geometry, points: Array, records: Array) -> _Tree:
    """The tree over the points of `records`, which it reorders."""
    nodes, attributes = 2 * len(records) - 1, points.shape[1]
    tree = _Tree(
        np.full((nodes, attributes), _NEVER),
        np.full((nodes, attributes), -1),
        np.full(nodes, -1),
        np.full(nodes, -1),
        np.full(nodes, _NEVER),
    )
    begin, end = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    end[0] = len(records)
    used = 1
    for node in range(nodes):
        low, high = tree.low[node], tree.high[node]
        for i in range(begin[node], end[node]):
            tree.first[node] = min(tree.first[node], records[i])
            _widen(low, high, points[records[i]])
        if end[node] - begin[node] == 1:
            continue
        # Cut the widest side; of equals the one with fewest coordinates, where a cut rules out most.
        side: Any = np.int64(-1)  # numba compiles `_split` twice for a literal
        widest: Int = -1
        for a in range(attributes):
            width = _extent(geometry, a, low[a], high[a])
            if low[a] < high[a] and (width > widest or (width == widest and high[a] - low[a] < high[side] - low[side])):
                side, widest = a, width
        cut = _split(points, records, begin[node], end[node], side, (low[side] + high[side]) // 2)
        tree.child[node] = used
        begin[used], end[used] = begin[node], cut
        begin[used + 1], end[used + 1] = cut, end[node]
        tree.parent[used] = tree.parent[used + 1] = node
        used += 2
    return tree


@njit(cache=True)
def _widen(low: Array, high: Array, point: Array) -> None:
    for a in range(len(point)):
        low[a] = min(low[a], point[a])
        high[a] = max(high[a], point[a])


@njit(cache=True)
def _split(points: Array, records: Array, begin: Int, end: Int, side: Int, middle: Int) -> Int:
    """Move the records up to the middle of a side to the front; return where the others begin."""
    while begin < end:
        if points[records[begin], side] <= middle:
            begin += 1
        else:
            end -= 1
            records[begin], records[end] = records[end], records[begin]
    return begin


@njit(cache=True)
def _tabulate(geometry: _Geometry, a: Int, low: Int, high: Int, growth: IntArray) -> None:
    """Note for every coordinate of attribute a how much it would add to the extent from low to high."""
    extent = _extent(geometry, a, low, high)
    for c in range(geometry.begin[a], geometry.end[a]):
        growth[c] = _extent(geometry, a, min(low, c), max(high, c)) - extent


@njit(cache=True, inline="always")
def _wider(geometry: _Geometry, low: Int, high: Int, more: Int) -> Int:
    """What is added to the extent from low to high of a range that becomes so much wider."""
    return min(high - low + more, geometry.unit) - min(high - low, geometry.unit)


# A call would pass every array in parts, some sixty arguments: inlined, the search is twice as fast.
@njit(cache=True, inline="always")
def _bound(
    geometry: _Geometry, tree: _Tree, node: Int, low: Array, high: Array, growth: IntArray, furthest: bool
) -> Int:
    """The least that a record in the node's box can add to the diameter of low to high; furthest: minus the most.

    Growth is 0 from low to high and never falls outwards: least at the coordinate nearest to low, most at an end.
    """
    bound = 0
    if furthest:
        for a in range(geometry.ranges):
            bound -= _wider(geometry, low[a], high[a], max(low[a] - tree.low[node, a], tree.high[node, a] - high[a]))
        for a in range(geometry.ranges, len(low)):
            bound -= max(growth[tree.low[node, a]], growth[tree.high[node, a]])
    else:
        for a in range(geometry.ranges):
            bound += _wider(geometry, low[a], high[a], max(0, low[a] - tree.high[node, a], tree.low[node, a] - high[a]))
        for a in range(geometry.ranges, len(low)):
            bound += growth[min(max(low[a], tree.low[node, a]), tree.high[node, a])]
    return bound


@njit(cache=True)
def _search(
    geometry: _Geometry, tree: _Tree, low: Array, high: Array, growth: IntArray, furthest: bool, open_nodes: Array,
    open_bounds: Array,
) -> Int:  # fmt: skip
    """The leaf with the least bound, of equals the one with the lowest record. The open arrays are working space.

    Depth first, the better child first: what cannot beat the best leaf so far is left out.
    """
    best, best_first, best_leaf = _NEVER, _NEVER, -1
    open_nodes[0], open_bounds[0] = 0, -_NEVER
    count = 1
    while count > 0:
        count -= 1
        node, bound = open_nodes[count], open_bounds[count]
        while bound < best or (bound == best and tree.first[node] < best_first):
            node_a = tree.child[node]
            if node_a < 0:
                best, best_first, best_leaf = bound, tree.first[node], node
                break
            node_b = node_a + 1
            bound_a = _bound(geometry, tree, node_a, low, high, growth, furthest)
            bound_b = _bound(geometry, tree, node_b, low, high, growth, furthest)
            if bound_b < bound_a or (bound_b == bound_a and tree.first[node_b] < tree.first[node_a]):
                node_a, node_b, bound_a, bound_b = node_b, node_a, bound_b, bound_a
            open_nodes[count], open_bounds[count] = node_b, bound_b
            count += 1
            node, bound = node_a, bound_a
    return best_leaf


@njit(cache=True)
def _take(tree: _Tree, leaf: Int, following: Array) -> Int:
    """Take the lowest record out of a leaf and draw the boxes around it tight; return the record."""
    record = tree.first[leaf]
    node = tree.parent[leaf]
    if following[record] >= 0:
        tree.first[leaf] = following[record]
    elif node >= 0:
        # Nothing is left in the leaf: its sibling takes their parent's place.
        sibling = 2 * tree.child[node] + 1 - leaf
        for a in range(tree.low.shape[1]):
            tree.low[node, a], tree.high[node, a] = tree.low[sibling, a], tree.high[sibling, a]
        tree.first[node], tree.child[node] = tree.first[sibling], tree.child[sibling]
        if tree.child[node] >= 0:
            tree.parent[tree.child[node]] = tree.parent[tree.child[node] + 1] = node
        node = tree.parent[node]
    while node >= 0 and _tighten(tree, node):
        node = tree.parent[node]
    return record


@njit(cache=True)
def _tighten(tree: _Tree, node: Int) -> bool:
    """Fit a node to its children; return whether that changed it."""
    left, right = tree.child[node], tree.child[node] + 1
    first = min(tree.first[left], tree.first[right])
    changed = first != tree.first[node]
    tree.first[node] = first
    for a in range(tree.low.shape[1]):
        low = min(tree.low[left, a], tree.low[right, a])
        high = max(tree.high[left, a], tree.high[right, a])
        changed |= low != tree.low[node, a] or high != tree.high[node, a]
        tree.low[node, a], tree.high[node, a] = low, high
    return changed


def _cluster_until(
    points: Array, geometry: _Geometry, records: Array, following: Array, k: int, start: int,
    grown: Callable[[Array, int], bool],
) -> IntArray:  # fmt: skip
    n, attributes = points.shape
    labels = np.full(n, -1)
    low, high = np.empty(attributes, np.int64), np.empty(attributes, np.int64)
    tree = _grow(geometry, points, records)
    space = np.empty(len(tree.child), np.int64), np.empty(len(tree.child), np.int64)
    growth = np.empty(len(geometry.groups), np.int64)
    seed: Int = start
    members, left = np.empty(n, np.int64), n
    for cluster in range(n // k):
        if left < k:
            break
        seed = _open_cluster(points, geometry, tree, following, seed, k, low, high, growth, *space, members)
        size, finished = k, grown(members[:k], 0)
        while not finished and size < left:
            members[size] = _add(points, geometry, tree, following, low, high, growth, *space)
            size += 1
            finished = grown(members[:size], size - 1)
        if not finished:
            break
        labels[members[:size]] = cluster
        left -= size
    return labels


@njit(cache=True)
def _open_cluster(
    points: Array, geometry: _Geometry, tree: _Tree, following: Array, seed: Int, k: Int, low: Array, high: Array,
    growth: IntArray, open_nodes: Array, open_bounds: Array, members: IntArray,
) -> Int:  # fmt: skip
    """Write the first k records of the next cluster to `members`; return its seed."""
    # The search gets True or False as literals, as it is then compiled once for each: twice as fast as a variable.
    _begin(geometry, points[seed], low, high, growth)
    leaf = _search(geometry, tree, low, high, growth, True, open_nodes, open_bounds)
    seed = _take(tree, leaf, following)
    members[0] = seed
    _begin(geometry, points[seed], low, high, growth)
    for place in range(1, k):
        members[place] = _add(points, geometry, tree, following, low, high, growth, open_nodes, open_bounds)
    return seed


@njit(cache=True)
def _add(
    points: Array, geometry: _Geometry, tree: _Tree, following: Array, low: Array, high: Array, growth: IntArray,
    open_nodes: Array, open_bounds: Array,
) -> Int:  # fmt: skip
    """Take the record that adds least to the cluster from low to high, and widen it; return the record."""
    leaf = _search(geometry, tree, low, high, growth, False, open_nodes, open_bounds)
    record = _take(tree, leaf, following)
    _include(geometry, points[record], low, high, growth)
    return record


@njit(cache=True)
def _cluster(points: Array, geometry: _Geometry, records: Array, following: Array, k: Int, start: Int) -> IntArray:
    n, attributes = points.shape
    clusters = n // k
    labels = np.full(n, -1)
    low, high = np.empty((clusters, attributes), np.int64), np.empty((clusters, attributes), np.int64)
    tree = _grow(geometry, points, records)
    open_nodes, open_bounds = np.empty(len(tree.child), np.int64), np.empty(len(tree.child), np.int64)
    growth = np.empty(len(geometry.groups), np.int64)
    members, seed = np.empty(k, np.int64), start
    for cluster in range(clusters):
        seed = _open_cluster(
            points, geometry, tree, following, seed, k, low[cluster], high[cluster], growth, open_nodes, open_bounds,
            members,
        )  # fmt: skip
        labels[members] = cluster
    _join(geometry, points, labels, low, high, np.full(clusters, k))
    return labels


@njit(cache=True)
def _begin(geometry: _Geometry, point: Array, low: Array, high: Array, growth: IntArray) -> None:
    """Set the box from low to high to a point."""
    for a in range(len(point)):
        low[a] = high[a] = point[a]
        _tabulate(geometry, a, low[a], high[a], growth)


@njit(cache=True)
def _include(geometry: _Geometry, point: Array, low: Array, high: Array, growth: IntArray) -> None:
    """Widen the box from low to high to hold a point."""
    for a in range(len(point)):
        if not low[a] <= point[a] <= high[a]:
            low[a], high[a] = min(low[a], point[a]), max(high[a], point[a])
            _tabulate(geometry, a, low[a], high[a], growth)


@njit(cache=True)
def _join(geometry: _Geometry, points: Array, labels: Array, low: Array, high: Array, sizes: Array) -> None:
    """Let each record without a label join the cluster, a box from low to high, whose cost rises least."""
    for record in range(len(labels)):
        if labels[record] >= 0:
            continue
        least = _NEVER
        for cluster in range(len(sizes)):
            diameter, widened = 0, 0
            for a in range(points.shape[1]):
                at, below, above = points[record, a], low[cluster, a], high[cluster, a]
                diameter += _extent(geometry, a, below, above)
                widened += _extent(geometry, a, min(below, at), max(above, at))
            rise = (sizes[cluster] + 1) * widened - sizes[cluster] * diameter
            if rise < least:
                least, labels[record] = rise, cluster
        sizes[labels[record]] += 1
        _widen(low[labels[record]], high[labels[record]], points[record])
