"""Random partners within a window of ranks."""

from __future__ import annotations

import numpy as np
from numba import njit

from privnb.runtime.arrays import Array, FloatArray, Int, IntArray


def draw_partners(window: int, draws: Array) -> Array:
    """Return, as an integer array (n,), the rank with which each of n ranks is swapped, at most `window` ranks away.

    The array is its own inverse. Beginning with the lowest rank, each rank without a partner gets a random partner: a
    higher rank that is within the window and has no partner. All such ranks are equally likely. If there is no such
    rank, the rank keeps its place. `draws` is a float array (n,) of numbers from 0 to below 1.

    Source: Moore, "Controlled Data-Swapping Techniques for Masking Public Use Microdata Sets", U.S. Bureau of the
    Census 1996, section 3.
    """
    return _partners(int(window), np.asarray(draws, dtype=float))


@njit(cache=True)
def _partners(window: Int, draws: FloatArray) -> IntArray:
    n = len(draws)
    size: Int = 0
    found, pool, place = np.arange(n), np.empty(n, np.int64), np.full(n, -1)
    for rank in range(n):
        for above in range(rank + (window if rank else 1), min(rank + window, n - 1) + 1):
            pool[size], place[above] = above, size
            size += 1
        if place[rank] >= 0:  # a rank is not above itself
            size = _left(pool, place, size, rank)
        if found[rank] == rank and size:
            other = pool[int(draws[rank] * size)]
            size = _left(pool, place, size, other)
            found[rank], found[other] = other, rank
    return found


@njit(cache=True)
def _left(pool: IntArray, place: IntArray, size: Int, rank: Int) -> Int:
    """Remove a rank from the pool; return the new size of the pool."""
    last = pool[size - 1]
    pool[place[rank]], place[last] = last, place[rank]
    place[rank] = -1
    return size - 1
