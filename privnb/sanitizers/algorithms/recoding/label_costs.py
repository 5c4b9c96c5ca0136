"""The costs of class labels: the part of local recoding that depends on taxonomies and runs of numbers.

A box consists of the positions that a class covers. In each attribute, these are the positions from `low` to `high`,
including both ends; `low` and `high` are arrays (attributes,). The label of a box is the smallest label that covers the
box. Costs are integers, so that sums and ties are exact. A label that covers a whole line has the cost 1, which is 2^20
units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privnb.microdata.hierarchy.generalization import places
from privnb.runtime.arrays import Array, Int, IntArray

UNIT = 2**20
NEVER = 2**62  # larger than every cost and position
SQUARE = 4096  # number of leaves; the costs of a larger tree would take at least 64 MB and are looked up level by level


class PricedRows(NamedTuple):
    """Distinct combinations and the costs of their labels.

    - `points`: positions on the lines of the attributes, or places for runs, as an integer array (m, attributes).
    - `weights`: the number of records of each point, as an integer array (m,).
    - `groups`: the node of each position at each level, as an integer array (attributes, levels, positions).
    - `nodes`: the cost of the label of each node, in units, as an array of the same shape.
    - `spans`: the cost, in units, of the label of each pair of positions, low and high. The costs of attribute a are a
      square that begins at begin[a], in rows of length width[a]; a tree of more than `SQUARE` leaves has no rows.
    - `steps`: the largest distance of two positions if labels are runs, which need no square; otherwise 0.
    """

    points: IntArray
    weights: IntArray
    groups: IntArray
    nodes: IntArray
    spans: IntArray
    begin: IntArray
    width: IntArray
    steps: IntArray


def price_rows(codes: Array, weights: Array, lines: Sequence[Any]) -> PricedRows:
    """Return the `PricedRows` of combinations, which are the rows of the integer array `codes` (m, attributes).

    - `weights`: the number of records of each combination, as an integer array (m,).
    - `lines`: one per attribute. A line may be an integer array (levels, positions) with the node of each position at
      each level; a label is then the lowest common node. A line may also be the number of positions; a label then runs
      from the lowest to the highest position, except for the label of a missing number, whose position is last.
    """
    points, weights = np.array(codes, np.int64, order="C"), np.ascontiguousarray(weights, np.int64)
    trees = [np.asarray(line) for line in lines if not np.isscalar(line)]
    levels, positions = (max((tree.shape[axis] for tree in trees), default=1) for axis in (0, 1))
    groups, nodes = np.zeros((2, len(lines), levels, positions), np.int64)
    steps, begin, width = np.zeros((3, len(lines)), np.int64)
    spans: list[IntArray] = [np.empty(0, np.int32)]
    for a, line in enumerate(lines):
        if np.ndim(line) == 0:
            steps[a] = max(int(line) - 1, 1)
            points[:, a] = places(points[:, a], steps[a])
            continue
        leaves = np.shape(line)[1]
        for level, row in enumerate(np.asarray(line)):
            _, node, under = np.unique(row, return_inverse=True, return_counts=True)
            groups[a, level, :leaves] = node
            nodes[a, level, : len(under)] = (under - 1) * UNIT // max(leaves - 1, 1)
        if leaves <= SQUARE:
            begin[a], width[a] = sum(map(len, spans)), leaves
            spans.append(_square(groups[a, : len(line), :leaves], nodes[a]).ravel())
    return PricedRows(points, weights, groups, nodes, np.concatenate(spans), begin, width, steps)


def _square(groups: IntArray, nodes: IntArray) -> IntArray:
    """Return, as an integer array (positions, positions), the cost of each pair of positions, in units."""
    costs = np.full((groups.shape[1],) * 2, -1, np.int32)
    for node, of_node in zip(groups, nodes, strict=False):
        costs = np.where((costs < 0) & (node[:, None] == node), of_node[node][:, None], costs)
    return costs.astype(np.int32)


@njit(cache=True)
def cost(table: PricedRows, a: Int, low: Int, high: Int) -> Int:
    """Return the cost per record, in units, of the label of positions low to high of attribute a."""
    if table.width[a]:
        return np.int64(table.spans[table.begin[a] + low * table.width[a] + high])
    if table.steps[a]:
        return min(high - low, table.steps[a]) * UNIT // table.steps[a]
    level = 0
    while table.groups[a, level, low] != table.groups[a, level, high]:
        level += 1
    return table.nodes[a, level, table.groups[a, level, low]]


@njit(cache=True)
def box_cost(table: PricedRows, low: IntArray, high: IntArray) -> Int:
    """Return the cost per record, in units, of the labels of a box, summed over the attributes."""
    total = np.int64(0)
    for a in range(len(low)):
        total += cost(table, a, low[a], high[a])
    return total


@njit(cache=True)
def empty(low: IntArray, high: IntArray) -> None:
    """Empty a box, given as two arrays (attributes,), so that the box contains no positions."""
    low[:], high[:] = NEVER, -1


@njit(cache=True)
def widen(low: IntArray, high: IntArray, other_low: IntArray, other_high: IntArray) -> None:
    """Widen a box to cover another box, or a point that is given as both ends; all arrays are (attributes,)."""
    for a in range(len(low)):
        low[a] = min(low[a], other_low[a])
        high[a] = max(high[a], other_high[a])


@njit(cache=True)
def divide(table: PricedRows, members: IntArray, a: Int, low: Int, high: Int, down: Int, child: IntArray) -> IntArray:
    """Write, for each member, the number of its node that is `down` levels below the label of attribute a.

    The label covers low to high. A run has one level below it, with two nodes: up to the median and above the median.
    `members` is an integer array (size,) of numbers of points. The function writes to `child`, an integer array of at
    least the same length. Returns the number of records under each node as an integer array (nodes,); some of these
    numbers may be 0. The array is empty if there is no such level below the label.
    """
    is_run, level = table.steps[a] > 0, np.int64(0)
    if not is_run:
        while table.groups[a, level, low] != table.groups[a, level, high]:
            level += 1
    if low == high or down > (1 if is_run else level):
        return np.zeros(0, np.int64)
    records = np.zeros(2 if is_run else table.groups.shape[2], np.int64)
    cut = _median(table, members, a, low, high - 1) if is_run else high
    for i in range(len(members)):
        at = table.points[members[i], a]
        child[i] = at > cut if is_run else table.groups[a, level - down, at]
        records[child[i]] += table.weights[members[i]]
    return records


@njit(cache=True)
def _median(table: PricedRows, members: IntArray, a: Int, low: Int, high: Int) -> Int:
    """Return the lowest position from low to high up to which at least half of the members' records lie."""
    total = np.int64(0)
    for x in members:
        total += table.weights[x]
    while low < high:
        middle = (low + high) // 2
        below = np.int64(0)
        for x in members:
            below += table.weights[x] if table.points[x, a] <= middle else 0
        if 2 * below >= total:
            high = middle
        else:
            low = middle + 1
    return low
