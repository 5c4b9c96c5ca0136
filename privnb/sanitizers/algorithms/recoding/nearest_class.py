"""The class that a box joins at the least cost, found by a search tree over classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from privnb.runtime.arrays import Int, IntArray
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, PricedRows, box_cost, cost, widen

_DEEP = 128  # more than the number of nodes that a search keeps open, which is one per level of the tree


class Tree(NamedTuple):
    """A binary tree over the classes: node i has the children 2i and 2i + 1, and class c is the leaf `leaves + c`.

    - `low`, `high`: integer arrays (2 leaves, attributes), the highest low end and the lowest high end of the classes
      in the node. A box that joins any of these classes therefore covers at least the positions from one end to the
      other.
    - `cost`: (2 leaves,), the highest cost of a class in the node, in units per record.
    - `weight`: (2 leaves,), the lowest number of records of a class in the node.

    The entries of a leaf are those of the leaf's class.

    An empty leaf sets no bound: its weight is `NEVER`.
    """

    low: IntArray
    high: IntArray
    cost: IntArray
    weight: IntArray


@njit(cache=True)
def plant(table: PricedRows, classes: IntArray) -> Tree:
    """Return the tree over the classes of the points of `PricedRows`; `classes` is an integer array (m,)."""
    leaves = 1
    for c in classes:
        while leaves <= c:
            leaves *= 2
    attributes = table.points.shape[1]
    tree = Tree(
        np.full((2 * leaves, attributes), NEVER),
        np.full((2 * leaves, attributes), -1),
        np.full(2 * leaves, -1),
        np.zeros(2 * leaves, np.int64),
    )
    for x in range(len(classes)):
        leaf = leaves + classes[x]
        widen(tree.low[leaf], tree.high[leaf], table.points[x], table.points[x])
        tree.weight[leaf] += table.weights[x]
    for leaf in range(leaves, 2 * leaves):
        if tree.weight[leaf]:
            tree.cost[leaf] = box_cost(table, tree.low[leaf], tree.high[leaf])
        else:
            _clear(tree, leaf)
    for node in range(leaves - 1, 0, -1):
        _pull(tree, node)
    return tree


@njit(cache=True)
def replace_box(table: PricedRows, tree: Tree, leaf: Int, low: IntArray, high: IntArray, weight: Int) -> None:
    """Replace the box (two arrays) and the number of records of a leaf's class; 0 records remove the class."""
    if weight:
        for a in range(len(low)):
            tree.low[leaf, a], tree.high[leaf, a] = low[a], high[a]
        tree.cost[leaf], tree.weight[leaf] = box_cost(table, low, high), weight
    else:
        _clear(tree, leaf)
    node = leaf // 2
    while node and _pull(tree, node):
        node //= 2


@njit(cache=True)
def _clear(tree: Tree, leaf: Int) -> None:
    """Empty a leaf, so that it has no class."""
    tree.low[leaf], tree.high[leaf], tree.cost[leaf], tree.weight[leaf] = -1, NEVER, -1, NEVER


@njit(cache=True)
def _pull(tree: Tree, node: Int) -> bool:
    """Recompute a node from its children; return whether the node changed."""
    left, right, changed = 2 * node, 2 * node + 1, False
    for a in range(tree.low.shape[1]):
        low, high = max(tree.low[left, a], tree.low[right, a]), min(tree.high[left, a], tree.high[right, a])
        changed |= low != tree.low[node, a] or high != tree.high[node, a]
        tree.low[node, a], tree.high[node, a] = low, high
    most, weight = max(tree.cost[left], tree.cost[right]), min(tree.weight[left], tree.weight[right])
    changed |= most != tree.cost[node] or weight != tree.weight[node]
    tree.cost[node], tree.weight[node] = most, weight
    return changed


# A call would pass every array in parts: inlining makes the search faster.
@njit(cache=True, inline="always")
def _rise(table: PricedRows, tree: Tree, node: Int, low: IntArray, high: IntArray, weight: Int, limit: Int) -> Int:
    """Return the smallest rise of the total cost, in units, if a box of records joins a class in the node.

    The cost of the box itself is not counted. The result is exact in a leaf, and `NEVER` if it exceeds the limit.
    """
    if tree.weight[node] == NEVER:
        return NEVER
    total, rise = 0, 0
    for a in range(len(low)):
        total += cost(table, a, min(low[a], tree.low[node, a]), max(high[a], tree.high[node, a]))
        rise = weight * total + tree.weight[node] * max(0, total - tree.cost[node])
        if rise >= limit:
            return NEVER
    return rise


@njit(cache=True)
def nearest(
    table: PricedRows, tree: Tree, low: IntArray, high: IntArray, weight: Int, own: Int, limit: Int
) -> tuple[Int, Int]:
    """Return the leaf, except `own`, that a box of records joins with the least rise of the total cost, and this rise.

    The box is given by two arrays (attributes,), and the rise is in units. If no rise is below the limit, the result is
    -1 and the limit.
    """
    leaves = len(tree.cost) // 2
    stack, bounds = np.empty(_DEEP, np.int64), np.empty(_DEEP, np.int64)
    best = -1
    stack[0], bounds[0], top = 1, _rise(table, tree, 1, low, high, weight, limit), 1
    while top:
        top -= 1
        node = stack[top]
        if bounds[top] >= limit or node == own:
            continue
        if node >= leaves:
            best, limit = node, bounds[top]
            continue
        left = _rise(table, tree, 2 * node, low, high, weight, limit)
        right = _rise(table, tree, 2 * node + 1, low, high, weight, limit)
        nearer = 2 * node + (right < left)
        stack[top], bounds[top] = 4 * node + 1 - nearer, max(left, right)
        stack[top + 1], bounds[top + 1] = nearer, min(left, right)
        top += 2
    return best, limit
