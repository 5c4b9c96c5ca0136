"""Tolerances within which two numbers count as equal.

A tolerance covers only the rounding errors of floats. A number that ends an iteration, or that keeps a divisor above
zero, is a setting of an algorithm and is defined in the module of this algorithm.
"""

import numpy as np

from privnb.runtime.arrays import Array

ROUNDING = 1e-9  # sums and products of many floats, such as a share times a count, or the same sum in another order
EXACT = 1e-12  # shares of counts, and sums of a few of them
STEP = 1e-6  # a fraction of a step of a domain; a number that is closer than this to a step lies on the step


def nearly_equal(first: float | Array, second: float | Array) -> Array:
    """Return whether two numbers, or the elements of two arrays, are equal apart from rounding errors of floats.

    >>> bool(nearly_equal(0.1 + 0.2, 0.3)), bool(nearly_equal(1.0, 1.000001))
    (True, False)
    """
    return np.isclose(first, second, rtol=ROUNDING, atol=EXACT)
