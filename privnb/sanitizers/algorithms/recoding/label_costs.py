"""What the labels of classes cost: the part of local recoding that knows taxonomies and runs of numbers.

A box is the positions that a class covers, attribute by attribute, from its array `low` to its array `high`, both
(attributes,) and ends included. Its label is the smallest that covers it. Costs are integers, so that sums and ties
are exact: 1, the cost of a label that covers a whole line, is 2^20 units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from privnb.microdata.hierarchy.generalization import places
from privnb.runtime.arrays import Array, Int, IntArray

UNIT = 2**20
NEVER = 2**62  # above every cost and position
SQUARE = 4096  # leaves: the costs of a larger tree would take 64 MB and more, and are looked up level by level


class PricedRows(NamedTuple):
    """Distinct combinations and what labels cost them.

    points: integer array (m, attributes), positions on the attributes' lines. weights: integer array (m,), records of
    each point. groups: integer array (attributes, levels, positions), the node that holds each position at each level.
    nodes: of the same shape, the units that the label of each node costs. spans: the units that the label of positions
    low to high costs, attribute a's square from begin[a] in rows of width[a]; 0 rows of a tree of more than `SQUARE`
    leaves. steps: where labels are runs, which need no square, how far apart two positions are at most; else 0. Of runs
    the points are `places`.
    """

    points: IntArray
    weights: IntArray
    groups: IntArray
    nodes: IntArray
    spans: IntArray
    begin: IntArray
    width: IntArray
    steps: IntArray


def priced(codes: Array, weights: Array, lines: Sequence[Any]) -> PricedRows:
    """The `PricedRows` of combinations, integer array (m, attributes), and the records of each, integer array (m,).

    lines: one an attribute; an integer array (levels, positions) with the node that holds each position at each level,
    whose label is the lowest common one; or the number of positions, for labels that run from the lowest to the
    highest, but for that of a missing number, which stands last.
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
    """The units that each pair of positions costs: integer array (positions, positions)."""
    costs = np.full((groups.shape[1],) * 2, -1, np.int32)
    for node, of_node in zip(groups, nodes, strict=False):
        costs = np.where((costs < 0) & (node[:, None] == node), of_node[node][:, None], costs)
    return costs.astype(np.int32)


@njit(cache=True)
def cost(table: PricedRows, a: Int, low: Int, high: Int) -> Int:
    """Units that the label of positions low to high of attribute a costs each record."""
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
    """Units that the labels of a box, arrays (attributes,), cost each record, summed over the attributes."""
    total = np.int64(0)
    for a in range(len(low)):
        total += cost(table, a, low[a], high[a])
    return total


@njit(cache=True)
def empty(low: IntArray, high: IntArray) -> None:
    """Make a box, arrays (attributes,), one without positions."""
    low[:], high[:] = NEVER, -1


@njit(cache=True)
def widen(low: IntArray, high: IntArray, other_low: IntArray, other_high: IntArray) -> None:
    """Let a box cover another one, or a point given twice; all arrays (attributes,)."""
    for a in range(len(low)):
        low[a] = min(low[a], other_low[a])
        high[a] = max(high[a], other_high[a])


@njit(cache=True)
def divide(table: PricedRows, members: IntArray, a: Int, low: Int, high: Int, down: Int, child: IntArray) -> IntArray:
    """Write the number of the node under which each member lies, some levels `down` from attribute a's label.

    The label is that of low to high. A run has one level below, of two: up to the median and above it. members: integer
    array (size,), rows of the points. child: integer array of at least that length, to write on. Returns the records
    under each node, integer array (nodes,), some of them 0; an empty array when the label has no such level.
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
    """The lowest position from low on up to which half of the members' records lie; high if that is above it."""
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
