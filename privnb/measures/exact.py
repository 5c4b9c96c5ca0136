"""Arithmetic on arrays of probabilities, which are floats or fractions.

Typically, many entries of an array of fractions (dtype object) are equal. An operation takes microseconds for a
fraction, but nanoseconds for a float. The functions therefore compute with each distinct fraction only once, and add
fractions as whole multiples of a common unit.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from privnb.microdata.counts import factorize_objects, group_codes
from privnb.runtime.arrays import Array, IntArray


def apply_distinct(function: Callable[..., Array], *arrays: Array) -> Array:
    """Return `function(*arrays)` for arrays (n,), with one computation for each distinct combination of fractions.

    >>> apply_distinct(np.multiply, np.array([Fraction(1, 2)] * 2), np.array([Fraction(1, 3), Fraction(3)])).tolist()
    [Fraction(1, 6), Fraction(3, 2)]
    """
    if any(array.dtype != object for array in arrays):
        return function(*arrays)
    codes, places = zip(*map(factorize_objects, arrays), strict=True)
    first, index = group_codes(codes, map(len, places))
    return function(*(array[first] for array in arrays))[index]


def total(values: Array) -> Any:
    """Return the sum of an array (n,)."""
    return sum_by_index(np.zeros(len(values), dtype=np.int64), values, 1)[0]


def sum_by_index(index: IntArray, values: Array, size: int) -> Array:
    """Return, for each index below `size`, the sum of the values with this index, as an array (size,)."""
    if values.dtype != object or not len(values):
        return _reduced(np.add, index, values, size)
    codes, place = factorize_objects(values)
    distinct = values[place]
    if not all(isinstance(value, Rational) for value in distinct):  # such as a float gain times a fraction
        return _reduced(np.add, index, values, size)
    unit = math.lcm(*(value.denominator for value in distinct))
    counts = [value.numerator * (unit // value.denominator) for value in distinct]
    fits = max(map(abs, counts), default=0) * len(values) < 2**62
    sums = _reduced(np.add, index, np.array(counts, dtype=np.int64 if fits else object)[codes], size)
    found, which = np.unique(sums, return_inverse=True)
    return np.array([Fraction(int(count), unit) for count in found], dtype=object)[which]


def max_by_index(index: IntArray, values: Array, size: int) -> Array:
    """Return, for each index below `size`, the maximum of 0 and the values with the index, as an array (size,)."""
    if values.dtype != object:
        return _reduced(np.maximum, index, values, size)
    codes, place = factorize_objects(values)
    ordered, rank = np.unique(np.append(values[place], np.array([Fraction(0)])), return_inverse=True)
    return ordered[np.maximum(_reduced(np.maximum, index, rank[codes], size), rank[-1])]


def _reduced(operation: Any, index: IntArray, values: Array, size: int) -> Array:
    order = np.argsort(index, kind="stable")
    held, starts = np.unique(index[order], return_index=True)
    found = np.zeros(size, values.dtype)
    if len(held):
        found[held] = operation.reduceat(values[order], starts)
    return found
