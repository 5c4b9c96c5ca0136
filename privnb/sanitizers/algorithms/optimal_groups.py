"""The groups of at least k neighbours on a line that lose least: the shortest path through sorted numbers."""

from __future__ import annotations

import numpy as np
from numba import njit

from privnb.runtime.arrays import Array, Int, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING


def optimal_groups(values: Array, k: int) -> Array:
    """The group of each number, 0, 1, ... from the lowest on: integer array (n,).

    No other groups of k or more have a smaller sum of squared distances to their means. In an optimum groups are runs
    of sorted numbers and have k to 2k - 1 of them, so n k sums say all. Equal numbers are sorted by position. Of runs
    that lose alike, within a billionth, the shorter last one is taken: further digits depend on the processor.

    values: integer array (n,). Raises ValueError for fewer than k.

    Source: Hansen and Mukherjee, "A Polynomial Algorithm for Optimal Univariate Microaggregation", IEEE Transactions on
    Knowledge and Data Engineering 2003, section 3.
    """
    values = np.asarray(values, dtype=np.int64)
    if not 1 <= k <= len(values):
        raise UsageError(f"{len(values)} records need k from 1 to {len(values)}, got k={k}.")
    order = np.argsort(values, kind="stable")
    groups = np.empty(len(values), np.int64)
    groups[order] = _path(values[order], int(k))
    return groups


@njit(cache=True)
def _path(values: IntArray, k: Int) -> IntArray:
    n = len(values)
    costs, before = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    costs[0] = 0.0
    for stop in range(k, n + 1):
        total = squares = 0.0
        for size in range(1, min(2 * k - 1, stop) + 1):
            below = float(values[stop - 1] - values[stop - size])  # small, so that its square is exact
            total += below
            squares += below * below
            if size >= k:
                cost = costs[stop - size] + (squares - total * total / size)
                if cost < costs[stop] * (1 - ROUNDING) or costs[stop] == np.inf:
                    costs[stop], before[stop] = cost, stop - size
    starts = np.zeros(n, np.int64)
    stop = n
    while stop > 0:
        stop = before[stop]
        starts[stop] = 1
    return np.cumsum(starts) - 1
