"""A search for the nearest rows among the rows that fit, and counts of their values, on arrays of bits and numbers."""

import numpy as np
from numba import njit

from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING


def keep_nearest(
    fit: IntArray, known: FloatArray, released: FloatArray, row: IntArray, most: FloatArray, every: bool
) -> None:
    """Keep only the nearest candidate rows of each group, by changing `fit` in place.

    The unit of all distances is the width of the domain of a column.

    Parameters
    ----------
    fit : bit matrix (groups, bytes of 8 rows)
    known : float array (groups, columns)
    released : float array (distinct, columns)
    row : integer array (rows,)
        The position in `released` of each row.
    most : float array (columns,)
        The maximum distance between two cells of each column; larger distances count as this maximum.
    every : bool
        Whether all rows are candidates of all groups.
    """
    if every:  # equal rows are compared once, column by column, several at a time
        own, ends = np.argsort(row, kind="stable"), np.cumsum(np.bincount(row))
        _of_all(fit, known, np.ascontiguousarray(released.T), most, own, ends)
    else:
        _of_some(fit, known, released, row, most)


@njit(cache=True)
def _of_all(
    fit: IntArray, known: FloatArray, columns: FloatArray, most: FloatArray, own: IntArray, ends: IntArray
) -> None:
    far = np.empty(columns.shape[1])
    for group in range(len(fit)):
        far[:] = 0
        for column in range(len(most)):
            _move(far, columns[column], known[group, column], most[column])
        least = far.min()
        fit[group] = 0
        for one in range(len(far)):
            if far[one] <= least + ROUNDING:
                for place in own[(ends[one - 1] if one else 0) : ends[one]]:
                    fit[group, place // 8] |= np.uint8(128 >> place % 8)


@njit(cache=True)
def _of_some(fit: IntArray, known: FloatArray, released: FloatArray, row: IntArray, most: FloatArray) -> None:
    kept, far = np.empty(len(row), dtype=np.int64), np.empty(len(released))
    asked = np.full(len(released), -1)
    for group in range(len(fit)):
        least, end = np.inf, 0
        for byte in range(fit.shape[1]):
            bits = fit[group, byte]
            if bits == 0:
                continue
            fit[group, byte] = 0
            for bit in range(8):
                if bits & (128 >> bit) == 0:
                    continue
                place = byte * 8 + bit
                one = row[place]
                if asked[one] != group:
                    asked[one], far[one] = group, _apart(known, group, released, one, most, least)
                if far[one] < least - ROUNDING:
                    least, end = far[one], 0
                if far[one] <= least + ROUNDING:
                    least = min(least, far[one])
                    kept[end] = place
                    end += 1
        for place in kept[:end]:
            fit[group, place // 8] |= np.uint8(128 >> place % 8)


@njit(cache=True)
def _move(far: FloatArray, column: FloatArray, value: float, most: float) -> None:
    """Add, for each row, the distance between its cell in a column and a value to `far`, but at most `most`."""
    for one in range(len(far)):
        apart = abs(column[one] - value)
        far[one] += apart if apart < most else most


@njit(cache=True)
def _apart(known: FloatArray, group: int, released: FloatArray, one: int, most: FloatArray, least: float) -> float:
    """Return the distance between two rows, or any number above `least` if the distance exceeds `least`."""
    apart = 0.0
    for column in range(len(most)):
        apart += min(abs(released[one, column] - known[group, column]), most[column])
        if apart > least + ROUNDING:
            break
    return apart


@njit(cache=True)
def add_counts(fit: IntArray, values: IntArray, counts: IntArray) -> None:
    """Add to `counts`, for each group, the number of rows with set bits that have each value.

    `values`: integer array (rows,); `counts`: integer array (groups, values).
    """
    for group in range(len(fit)):
        for byte in range(fit.shape[1]):
            bits = fit[group, byte]
            for bit in range(8) if bits else range(0):
                if bits & (128 >> bit):
                    counts[group, values[byte * 8 + bit]] += 1


@njit(cache=True)
def sum_weights(fit: IntArray, weights: FloatArray) -> FloatArray:
    """Return, for each group, the sum of the `weights` of the rows with set bits: float array (groups,)."""
    total = np.zeros(len(fit))
    for group in range(len(fit)):
        for byte in range(fit.shape[1]):
            bits = fit[group, byte]
            for bit in range(8) if bits else range(0):
                if bits & (128 >> bit):
                    total[group] += weights[byte * 8 + bit]
    return total


@njit(cache=True)
def spread_weights(fit: IntArray, weights: FloatArray, rows: int) -> FloatArray:
    """Return, for each row, the sum of the `weights` of the groups in which the row's bit is set: array (rows,)."""
    total = np.zeros(rows)
    for group in range(len(fit)):
        for byte in range(fit.shape[1]):
            bits = fit[group, byte]
            for bit in range(8) if bits else range(0):
                if bits & (128 >> bit):
                    total[byte * 8 + bit] += weights[group]
    return total


def count_common(first: IntArray, second: IntArray, of_first: IntArray, of_second: IntArray) -> FloatArray:
    """Return the number of rows that the two groups of each of m pairs have in common: float array (m,).

    The first group of a pair is a row of `first`, and the second group is a row of `second`.
    """
    found = np.zeros(len(of_first))
    for start in range(0, len(found), 256):
        part = slice(start, start + 256)
        both = first[of_first[part]] & second[of_second[part]]
        found[part] = np.bitwise_count(both.view(np.uint64)).sum(axis=1)
    return found
