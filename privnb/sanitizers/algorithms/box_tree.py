"""A tree of boxes around the points of records: the exact record nearest to a place, or farthest from it.

A search looks into a box only if the box may hold a better record than the best so far, or an equally good record with
a lower position. Boxes shrink as records are removed; a box without records is skipped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privnb.runtime.arrays import Array, Int, IntArray
from privnb.sanitizers.algorithms import drop_stale_kernels

NEVER = 2**62  # larger than every distance and every record's position
_LEAF = 8  # records in a box that is not divided


class Space(NamedTuple):
    """The distances between two points, attribute by attribute.

    The first `numbers` coordinates of a point are whole numbers with distances of at most `most`. Each other coordinate
    is a row of `groups` (rows x levels); the rows of an attribute are those from `begin` to before `end`. The distance
    of two rows is the first level at which they are in one group, times `weights`.
    """

    numbers: int
    most: float
    begin: IntArray
    end: IntArray
    weights: Array
    groups: IntArray


class BoxTree(NamedTuple):
    """Boxes within boxes around the records; node 0 holds all of them.

    - `low`, `high`: the box of each node.
    - `child`: the first of the node's two neighboring children, -1 for a leaf.
    - `parent`: the parent of each node, -1 for node 0.
    - `first`: the lowest record in the box, or NEVER if the box is empty.
    - `begin`, `end`: the positions of a leaf's records in `order`.
    - `leaf`: the leaf of each record.
    """

    low: Array
    high: Array
    child: IntArray
    parent: IntArray
    first: IntArray
    begin: IntArray
    end: IntArray
    order: IntArray
    leaf: IntArray


def build_space(columns: list[IntArray], most: Any, trees: list[Array], weights: Array) -> tuple[Space, IntArray]:
    """Return the space of points, and the points as an array (n, attributes): first numbers, then positions in trees.

    - `columns`: one per attribute, the numbers first.
    - `trees`: for each other attribute, the group of each position at each level, as an array (levels, positions).
    - `weights`: the distance of two groups of neighboring levels for each tree, as an array (trees,).
    """
    numbers, levels = len(columns) - len(trees), max(map(len, trees), default=1)
    rows = [np.pad(groups.T, ((0, 0), (0, levels - len(groups)))) for groups in trees]
    end = np.cumsum([0] * (numbers + 1) + [len(each) for each in rows])
    groups = np.concatenate([np.empty((0, levels), np.int64), *rows]).astype(np.int64)
    space = Space(numbers, most, end[:-1], end[1:], np.append(np.zeros(numbers, weights.dtype), weights), groups)
    return space, np.column_stack(columns) + end[:-1]


@njit(cache=True)
def level(space: Space, one: Int, other: Int) -> Int:
    """Return the first level at which two rows are in one group."""
    level = 0
    while space.groups[one, level] != space.groups[other, level]:
        level += 1
    return level


@njit(cache=True)
def apart(space: Space, a: Int, low: Any, high: Any) -> Any:
    """Return the distance of two coordinates, the lower one first; the distance never falls as they move apart."""
    if a < space.numbers:
        return min(high - low, space.most)
    return level(space, int(low), int(high)) * space.weights[a]


@njit(cache=True)
def _fit(points: Array, tree: BoxTree, node: Int) -> bool:
    """Fit the box of a node to its remaining records; return whether this changed the box."""
    one, first = tree.child[node], NEVER
    begin, end = tree.begin[node], tree.end[node]
    if one >= 0:
        first = min(tree.first[one], tree.first[one + 1])
    else:
        for place in range(begin, end):
            first = min(first, tree.order[place])
    changed = first != tree.first[node]
    tree.first[node] = first
    for a in range(points.shape[1] if first != NEVER else 0):
        low = high = points[first, a]
        if one >= 0:
            for child in (one, one + 1):
                if tree.first[child] != NEVER:
                    low, high = min(low, tree.low[child, a]), max(high, tree.high[child, a])
        else:
            for place in range(begin, end):
                low, high = min(low, points[tree.order[place], a]), max(high, points[tree.order[place], a])
        changed |= low != tree.low[node, a] or high != tree.high[node, a]
        tree.low[node, a], tree.high[node, a] = low, high
    return changed


@njit(cache=True)
def grow(space: Space, points: Array) -> BoxTree:
    """Return the tree over all points: each box is halved along its widest side; equal coordinates stay together."""
    n, attributes = points.shape
    nodes = 2 * n
    low, high = np.zeros((nodes, attributes), points.dtype), np.zeros((nodes, attributes), points.dtype)
    child, parent, first = np.full(nodes, -1), np.full(nodes, -1), np.full(nodes, NEVER)
    begin, end, order, leaf = np.zeros(nodes, np.int64), np.full(nodes, n), np.arange(n), np.zeros(n, np.int64)
    tree = BoxTree(low, high, child, parent, first, begin, end, order, leaf)
    number, node = 1, 0
    while node < number:
        _fit(points, tree, node)
        records = order[begin[node] : end[node]].copy()
        if len(records) <= _LEAF:
            leaf[records] = node
        else:
            side = 0
            for a in range(attributes):
                if apart(space, a, low[node, a], high[node, a]) > apart(space, side, low[node, side], high[node, side]):
                    side = a
            values = np.empty(len(records))
            for place in range(len(records)):
                values[place] = points[records[place], side]
            places = np.argsort(values, kind="mergesort")
            for place in range(len(records)):  # numba takes two seconds to compile the assignment of a slice
                order[begin[node] + place] = records[places[place]]
            half = len(records) // 2
            while half > 0 and values[places[half]] == values[places[half - 1]]:
                half -= 1
            if half == 0:
                half = len(records) // 2
                while half < len(records) and values[places[half]] == values[places[0]]:
                    half += 1
            half = begin[node] + (len(records) // 2 if half == len(records) else half)
            child[node] = number
            parent[number : number + 2] = node
            begin[number], end[number] = begin[node], half
            begin[number + 1], end[number + 1] = half, end[node]
            number += 2
        node += 1
    return tree


@njit(cache=True)
def take(points: Array, tree: BoxTree, record: Int) -> None:
    """Take a record out of its boxes."""
    node = tree.leaf[record]
    tree.end[node] -= 1
    for place in range(tree.begin[node], tree.end[node]):
        if tree.order[place] == record:
            tree.order[place] = tree.order[tree.end[node]]
    while node >= 0 and _fit(points, tree, node):
        node = tree.parent[node]


drop_stale_kernels(take)
