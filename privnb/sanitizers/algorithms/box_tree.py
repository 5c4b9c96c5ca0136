"""A tree of boxes around the points of records, for exact searches for the record nearest to or farthest from a place.

A search looks into a box only if the box may contain a record that is better than the best record so far, or that is
equally good and has a lower position. Boxes shrink as records are removed; a box without records is skipped.
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
    """The space of points, which defines the distance between two points in each attribute.

    The first `numbers` coordinates of a point are whole numbers with distances of at most `most`. Each other coordinate
    is the number of a row of `groups`, an array (rows, levels); the rows of an attribute run from `begin` to before
    `end`. The distance of two rows is the first level at which both rows are in the same group, times the attribute's
    entry in `weights`.
    """

    numbers: int
    most: float
    begin: IntArray
    end: IntArray
    weights: Array
    groups: IntArray


class BoxTree(NamedTuple):
    """Nested boxes around the records; the box of node 0 contains all records.

    - `low`, `high`: the lower and the upper ends of the box of each node.
    - `child`: the first child of each node, -1 for a leaf; the number of the second child is one higher.
    - `parent`: the parent of each node, -1 for node 0.
    - `first`: the lowest number of a record in the box, or NEVER if the box is empty.
    - `begin`, `end`: the records of a leaf are at the positions from `begin` to before `end` in `order`.
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
    """Return the space of points, and the points as an array (n, attributes): first numbers, then rows of trees.

    - `columns`: an array (n,) for each attribute; the attributes that are numbers come first.
    - `trees`: for each other attribute, the group of each position at each level, as an array (levels, positions).
    - `weights`: the distance that each level adds, for each tree, as an array (trees,).
    """
    numbers, levels = len(columns) - len(trees), max(map(len, trees), default=1)
    rows = [np.pad(groups.T, ((0, 0), (0, levels - len(groups)))) for groups in trees]
    end = np.cumsum([0] * (numbers + 1) + [len(each) for each in rows])
    groups = np.concatenate([np.empty((0, levels), np.int64), *rows]).astype(np.int64)
    space = Space(numbers, most, end[:-1], end[1:], np.append(np.zeros(numbers, weights.dtype), weights), groups)
    return space, np.column_stack(columns) + end[:-1]


@njit(cache=True)
def level(space: Space, one: Int, other: Int) -> Int:
    """Return the first level at which two rows are in the same group."""
    level = 0
    while space.groups[one, level] != space.groups[other, level]:
        level += 1
    return level


@njit(cache=True)
def apart(space: Space, a: Int, low: Any, high: Any) -> Any:
    """Return the distance of two coordinates, the lower one first; it never falls as the coordinates move apart."""
    if a < space.numbers:
        return min(high - low, space.most)
    return level(space, int(low), int(high)) * space.weights[a]


@njit(cache=True)
def _fit(points: Array, tree: BoxTree, node: Int) -> bool:
    """Fit the box of a node to its remaining records; return whether the box has changed."""
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
    """Remove a record from all boxes that contain the record."""
    node = tree.leaf[record]
    tree.end[node] -= 1
    for place in range(tree.begin[node], tree.end[node]):
        if tree.order[place] == record:
            tree.order[place] = tree.order[tree.end[node]]
    while node >= 0 and _fit(points, tree, node):
        node = tree.parent[node]


drop_stale_kernels(take)
