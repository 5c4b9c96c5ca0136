"""The joins of local recoding: classes that may not stand alone join others, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numba import njit

from privnb.runtime.arrays import BoolArray, Int, IntArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, PricedRows, widen
from privnb.sanitizers.algorithms.recoding.nearest_class import nearest, plant, put


def join(table: PricedRows, classes: IntArray, short: BoolArray, k: int) -> IntArray:
    """Join each class that is `short`, bool array (classes,), cheapest first, to the one where the total rises least.

    table: `PricedRows` of m points. classes: integer array (m,). A union stays short as long as it has fewer than k
    records. Returns the classes, integer array (m,) from 0, in the order of those that they joined.
    """
    return np.unique(_join_all(table, classes, short, k), return_inverse=True)[1]


def join_until(table: PricedRows, classes: IntArray, k: int, holds: Callable[[IntArray], BoolArray]) -> IntArray:
    """`join` classes that are not allowed, until all are. holds: as for `local_recoding`."""
    while not (allowed := np.asarray(holds(classes), dtype=bool)).all():
        if len(allowed) == 1:
            raise UsageError("not even one class of all records is allowed. Ask for less.")
        classes = join(table, classes, ~allowed, k)
    return classes


@njit(cache=True)
def _join_all(table: PricedRows, classes: IntArray, short: BoolArray, k: Int) -> IntArray:
    """`join` with gaps in the numbers that it returns; writes on `short`."""
    tree = plant(table, classes)
    leaves = len(tree.cost) // 2
    parent = np.arange(2 * leaves)
    queue: list[tuple[Any, Any]] = [(tree.cost[leaves + c], leaves + c) for c in range(len(short)) if short[c]]
    heapify(queue)
    while queue:
        cost, leaf = heappop(queue)
        # A class that has been joined to meanwhile is queued anew if it is still short.
        if parent[leaf] != leaf or cost != tree.cost[leaf] or not short[leaf - leaves]:
            continue
        low, high, weight = tree.low[leaf].copy(), tree.high[leaf].copy(), tree.weight[leaf]
        other, _ = nearest(table, tree, low, high, weight, leaf, np.int64(NEVER))
        if other < 0:
            break
        widen(low, high, tree.low[other], tree.high[other])
        parent[leaf] = other
        put(table, tree, leaf, low, high, np.int64(0))
        put(table, tree, other, low, high, tree.weight[other] + weight)
        short[other - leaves] = tree.weight[other] < k
        if short[other - leaves]:
            heappush(queue, (tree.cost[other], other))
    joined = np.empty(len(classes), np.int64)
    for x in range(len(classes)):
        leaf = leaves + classes[x]
        while parent[leaf] != leaf:
            leaf = parent[leaf]
        joined[x] = leaf - leaves
    return joined
