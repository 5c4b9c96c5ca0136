"""The groups of at least k neighbors on a line with the least loss: a shortest path through sorted numbers."""

from __future__ import annotations

import numpy as np
from numba import njit

from privnb.runtime.arrays import Array, Int, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING


def find_optimal_groups(values: Array, k: int) -> Array:
    """Return, as an integer array (n,), the group of each number; group 0 has the lowest numbers.

    No other division into groups of at least k numbers has a smaller sum of squared distances to the means of the
    groups. In an optimum, groups are runs of k to 2k - 1 sorted numbers, so the function computes only n k sums. Equal
    numbers are sorted by position. If the losses of two divisions agree within a billionth, the search takes the
    division with the shorter last run, because further digits depend on the processor.

    - `values`: integer array (n,).

    Raises ValueError if there are fewer than k numbers.

    Source: Hansen and Mukherjee, "A Polynomial Algorithm for Optimal Univariate Microaggregation", IEEE Transactions on
    Knowledge and Data Engineering 2003, section 3.
    """
    values = np.asarray(values, dtype=np.int64)
    if not 1 <= k <= len(values):
        raise UsageError(f"`k` must be from 1 to the number of records, {len(values)}; got {k}.")
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
            below = float(values[stop - 1] - values[stop - size])  # small enough that its square is exact
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
