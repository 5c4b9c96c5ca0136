"""Arithmetic on arrays of probabilities, floats or fractions.

Many entries of an array of fractions (dtype object) are one and the same number. A fraction takes microseconds where a
float takes nanoseconds, so each distinct one is computed with once, and sums are of whole numbers of a common unit.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from privnb.microdata.counts import distinct_codes, objects
from privnb.runtime.arrays import Array, IntArray


def each(function: Callable[..., Array], *arrays: Array) -> Array:
    """`function` of arrays (n,) entry by entry, as `function(*arrays)` gives it.

    >>> each(np.multiply, np.array([Fraction(1, 2)] * 2), np.array([Fraction(1, 3), Fraction(3)])).tolist()
    [Fraction(1, 6), Fraction(3, 2)]
    """
    if any(array.dtype != object for array in arrays):
        return function(*arrays)
    codes, places = zip(*map(objects, arrays), strict=True)
    first, index = distinct_codes(codes, map(len, places))
    return function(*(array[first] for array in arrays))[index]


def total(values: Array) -> Any:
    """The sum of an array (n,)."""
    return added(np.zeros(len(values), dtype=np.int64), values, 1)[0]


def added(index: IntArray, values: Array, size: int) -> Array:
    """The sum of the values of each index below `size`: array (size,), 0 where there is none."""
    if values.dtype != object or not len(values):
        return _reduced(np.add, index, values, size)
    codes, place = objects(values)
    distinct = values[place]
    if not all(isinstance(value, Rational) for value in distinct):  # a float gain of a fraction
        return _reduced(np.add, index, values, size)
    unit = math.lcm(*(value.denominator for value in distinct))
    counts = [value.numerator * (unit // value.denominator) for value in distinct]
    fits = max(map(abs, counts), default=0) * len(values) < 2**62
    sums = _reduced(np.add, index, np.array(counts, dtype=np.int64 if fits else object)[codes], size)
    found, which = np.unique(sums, return_inverse=True)
    return np.array([Fraction(int(count), unit) for count in found], dtype=object)[which]


def largest(index: IntArray, values: Array, size: int) -> Array:
    """The largest of the values of each index below `size`, none negative: array (size,), 0 where there is none."""
    if values.dtype != object:
        return _reduced(np.maximum, index, values, size)
    codes, place = objects(values)
    ordered, rank = np.unique(np.append(values[place], np.array([Fraction(0)])), return_inverse=True)
    return ordered[np.maximum(_reduced(np.maximum, index, rank[codes], size), rank[-1])]


def _reduced(operation: Any, index: IntArray, values: Array, size: int) -> Array:
    order = np.argsort(index, kind="stable")
    held, starts = np.unique(index[order], return_index=True)
    found = np.zeros(size, values.dtype)
    if len(held):
        found[held] = operation.reduceat(values[order], starts)
    return found
