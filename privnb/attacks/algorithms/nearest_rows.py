"""A search for the nearest rows by the distances between cells, on arrays of numbers.

A released row is a list of cells, and `distances` is the distance between each person and each cell of each column. The
search compares all rows. If several rows are equally near, each of these rows is equally likely to be chosen; the
probabilities are exact.
"""

import math

import numpy as np
from numba import njit

from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING

OUT, TIED, IN = 0, 1, 2


@njit(cache=True)
def _of_rows(far: FloatArray, distances: FloatArray, cells: IntArray) -> None:
    """Write the distance between a person and each row into `far`.

    `cells`: the cell of each row in each column, integer array (columns, rows).
    """
    far[:] = 0
    for column in range(len(cells)):
        own = cells[column]
        for row in range(len(far)):
            far[row] += distances[own[row]]


@njit(cache=True)
def _nearest(far: FloatArray, times: IntArray, k: int, place: IntArray) -> tuple[int, int]:
    """Mark each row in `place` as IN, TIED or OUT, and return the number of IN rows and the number of TIED rows.

    A row is IN if it is among the k nearest rows, TIED if it is as near as other rows and not all of these can be among
    the k nearest, and OUT otherwise.
    """
    within, tied, before = 0, 0, -1.0
    while True:
        least, number = np.inf, 0
        for row in range(len(far)):
            if far[row] > before and far[row] < least:
                least = far[row]
        for row in range(len(far)):
            if before < far[row] <= least + ROUNDING:
                number += times[row]
        if within + number >= k or number == 0:
            tied = number
            break
        within += number
        before = least + ROUNDING
    for row in range(len(far)):
        place[row] = IN if far[row] <= before else (TIED if far[row] <= least + ROUNDING else OUT)
    return within, tied


@njit(cache=True)
def _choose(n: int, k: int) -> float:
    """Return the natural logarithm of the binomial coefficient "n choose k"."""
    if k < 0 or k > n or n < 0:
        return -np.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@njit(cache=True)
def chance_of_common_row(
    within: tuple[int, int], tied: tuple[int, int], k: int, both: int, first: int, second: int, common: int
) -> float:
    """Return the probability that two sets of k rows have a row in common.

    Each set contains the rows that are nearest, and the rest of the set is drawn from the rows that are tied.

    Parameters
    ----------
    within, tied : pairs of int
        The number of rows that each set is certain to contain, and the number of tied rows from which the rest of each
        set is drawn.
    k : int
    both : int
        The number of rows that both sets are certain to contain.
    first, second : int
        `first` is the number of tied rows of the first set that the second set is certain to contain; `second` is the
        number of tied rows of the second set that the first set is certain to contain.
    common : int
        The number of rows that are tied for both sets.

    Returns
    -------
    float

    Examples
    --------
    For each of two sets, one of two tied rows is drawn, and one row is tied for both sets. Both sets contain this row
    in one of four cases:

    >>> round(chance_of_common_row((0, 0), (2, 2), 1, 0, 0, 0, 1), 6)
    0.25
    """
    if both:
        return 1.0
    draws, others = min(k - within[0], tied[0]), min(k - within[1], tied[1])
    apart = 0.0
    for drawn in range(min(draws, common) + 1):
        way = _choose(common, drawn) + _choose(tied[0] - first - common, draws - drawn) - _choose(tied[0], draws)
        way += _choose(tied[1] - second - drawn, others) - _choose(tied[1], others)
        apart += math.exp(way)
    return max(0.0, 1.0 - apart)


@njit(cache=True)
def link_parts(
    distances: tuple[FloatArray, FloatArray],
    cells: tuple[IntArray, IntArray],
    times: tuple[IntArray, IntArray],
    pairs: IntArray,
    often: IntArray,
    k: int,
) -> FloatArray:
    """Return, for each person, the probability that the k nearest rows by two parts have a row in common.

    Parameters
    ----------
    distances : pair of float arrays (m, cells)
        The distances between the first part of each person and the cells, and the same for the second part.
    cells : pair of integer arrays (columns, rows)
        The distinct rows of each of the two parts.
    times : pair of integer arrays (rows,)
        The number of released rows that equal each distinct row.
    pairs : integer array (distinct, 2)
        The distinct row of each part, for each distinct pair of parts of a released row.
    often : integer array (distinct,)
        The number of released rows with each pair.
    k : int

    Returns
    -------
    float array (m,)
    """
    found = np.zeros(len(distances[0]))
    far = (np.empty(len(times[0])), np.empty(len(times[1])))
    place = (np.zeros(len(times[0]), dtype=np.int64), np.zeros(len(times[1]), dtype=np.int64))
    for person in range(len(found)):
        _of_rows(far[0], distances[0][person], cells[0])
        _of_rows(far[1], distances[1][person], cells[1])
        one = _nearest(far[0], times[0], k, place[0])
        two = _nearest(far[1], times[1], k, place[1])
        both, first, second, common = 0, 0, 0, 0
        for row in range(len(pairs)):
            own, other = place[0][pairs[row, 0]], place[1][pairs[row, 1]]
            if own == OUT or other == OUT:
                continue
            if own == IN and other == IN:
                both += often[row]
            elif other == IN:
                first += often[row]
            elif own == IN:
                second += often[row]
            else:
                common += often[row]
        within, tied = (one[0], two[0]), (one[1], two[1])
        found[person] = chance_of_common_row(within, tied, k, both, first, second, common)
    return found


@njit(cache=True)
def guess_by_nearest(
    distances: FloatArray, cells: IntArray, order: IntArray, ends: IntArray, guesses: IntArray, right: FloatArray
) -> FloatArray:
    """Return, for each person, the probability that a guess from a random one of the nearest rows is correct.

    Parameters
    ----------
    distances : float array (m, cells)
    cells : integer array (columns, distinct)
        The distinct rows.
    order : integer array (rows,)
        The released rows, sorted by the number of the distinct row.
    ends : integer array (distinct,)
        The position in `order` at which the released rows of each distinct row end.
    guesses : integer array (rows,)
        The cell of each released row in the guessed column.
    right : float array (m, guesses)
        The probability that each of these cells is a correct guess about each person.

    Returns
    -------
    float array (m,)
    """
    found, far = np.zeros(len(distances)), np.empty(len(ends))
    for person in range(len(found)):
        _of_rows(far, distances[person], cells)
        least, number = far.min() + ROUNDING, 0
        for row in range(len(far)):
            if far[row] <= least:
                for place in range(ends[row - 1] if row else 0, ends[row]):
                    found[person] += right[person, guesses[order[place]]]
                    number += 1
        found[person] /= number
    return found
