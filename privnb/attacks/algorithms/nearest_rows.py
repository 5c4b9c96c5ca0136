"""Search for the nearest rows by distances of cells; all arguments are numbers.

A released row is a list of cells, and `distances` holds the distance of each person from each cell of each column. All
rows are searched. If several rows are equally near, each of them is as likely to be taken, and the probabilities are
exact.
"""

import math

import numpy as np
from numba import njit

from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING

OUT, TIED, IN = 0, 1, 2


@njit(cache=True)
def _of_rows(far: FloatArray, distances: FloatArray, cells: IntArray) -> None:
    """Write the distance of a person from each row, whose `cells` are an integer array (columns, rows)."""
    far[:] = 0
    for column in range(len(cells)):
        own = cells[column]
        for row in range(len(far)):
            far[row] += distances[own[row]]


@njit(cache=True)
def _nearest(far: FloatArray, times: IntArray, k: int, place: IntArray) -> tuple[int, int]:
    """Mark which rows are among the k nearest: IN, TIED with others for the last places, or OUT.

    Return the numbers of rows that are IN and TIED.
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
    """Return the logarithm of the number of choices of k among n."""
    if k < 0 or k > n or n < 0:
        return -np.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@njit(cache=True)
def chance_of_common_row(
    within: tuple[int, int], tied: tuple[int, int], k: int, both: int, first: int, second: int, common: int
) -> float:
    """Return the probability that two sets of k rows have a row in common.

    Each set has the rows that are nearest, and draws the rest among the rows that are tied.

    Parameters
    ----------
    within, tied : pairs of int
        The numbers of rows that each set has, and among which it draws.
    k : int
    both : int
        The number of rows that both sets have.
    first, second : int
        The number of rows that the second (the first) set has, and among which the first (the second) set draws.
    common : int
        The number of rows among which both sets draw.

    Returns
    -------
    float

    Examples
    --------
    Each of two sets draws one of two rows, and one of these rows is the same: both draw it in one of four cases.

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
    """Return, for each person, the probability that the k nearest rows of two parts have a row in common.

    Parameters
    ----------
    distances : pair of float arrays (m, cells)
        The distances of the people's two parts.
    cells : pair of integer arrays (columns, rows)
        The distinct rows of each part.
    times : pair of integer arrays (rows,)
        The number of released rows that each distinct row stands for.
    pairs : integer array (distinct, 2)
        The rows of both parts that belong to one released row.
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
    """Return, for each person, the probability that the guess of a nearest row, drawn at random, is right.

    Parameters
    ----------
    distances : float array (m, cells)
    cells : integer array (columns, distinct)
        The distinct rows.
    order : integer array (rows,)
        The released rows in the order of their distinct rows.
    ends : integer array (distinct,)
        The end of each distinct row in `order`.
    guesses : integer array (rows,)
        The cell of each released row in the column that is guessed.
    right : float array (m, guesses)
        The probability that each of these cells is right about each person.

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
