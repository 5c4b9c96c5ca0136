"""The joins of local recoding: classes that are not allowed join other classes, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numba import njit

from privnb.runtime.arrays import BoolArray, Int, IntArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, PricedRows, widen
from privnb.sanitizers.algorithms.recoding.nearest_class import nearest, plant, replace_box


def join(table: PricedRows, classes: IntArray, short: BoolArray, k: int) -> IntArray:
    """Return the classes after each class in `short` has joined the class where it adds the least cost.

    - `table`: `PricedRows` of m points.
    - `classes`: integer array (m,).

    The cheapest class joins first. A union of classes remains short as long as it has fewer than k records. Returns the
    classes as an integer array (m,), numbered from 0 in the order of the former numbers of the classes that other
    classes joined.
    """
    return np.unique(_join_all(table, classes, short, k), return_inverse=True)[1]


def join_until(table: PricedRows, classes: IntArray, k: int, holds: Callable[[IntArray], BoolArray]) -> IntArray:
    """Return the classes after classes that are not allowed have joined other classes, until all classes are allowed.

    - `holds`: a function of an integer array (m,) of classes, which returns, as a boolean array (classes,), whether
      each class is allowed.
    """
    while not (allowed := np.asarray(holds(classes), dtype=bool)).all():
        if len(allowed) == 1:
            raise UsageError(
                "`holds` must allow one class of all records; got a function that refuses this class. Relax the models."
            )
        classes = join(table, classes, ~allowed, k)
    return classes


@njit(cache=True)
def _join_all(table: PricedRows, classes: IntArray, short: BoolArray, k: Int) -> IntArray:
    """Return the classes after the joins of `join`, with gaps in their numbers; change `short` in place."""
    tree = plant(table, classes)
    leaves = len(tree.cost) // 2
    parent = np.arange(2 * leaves)
    queue: list[tuple[Any, Any]] = [(tree.cost[leaves + c], leaves + c) for c in range(len(short)) if short[c]]
    heapify(queue)
    while queue:
        cost, leaf = heappop(queue)
        # A class that others have joined in the meantime is queued again if it is still short.
        if parent[leaf] != leaf or cost != tree.cost[leaf] or not short[leaf - leaves]:
            continue
        low, high, weight = tree.low[leaf].copy(), tree.high[leaf].copy(), tree.weight[leaf]
        other, _ = nearest(table, tree, low, high, weight, leaf, np.int64(NEVER))
        if other < 0:
            break
        widen(low, high, tree.low[other], tree.high[other])
        parent[leaf] = other
        replace_box(table, tree, leaf, low, high, np.int64(0))
        replace_box(table, tree, other, low, high, tree.weight[other] + weight)
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
