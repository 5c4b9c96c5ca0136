"""Linear programming reconstruction: from noisy counts of random groups of people to one bit of each person.

The adversary knows the members of each group and sees how many of them have a property, with noise. The bits that the
counts imply are unknowns between 0 and 1 of a linear program, which minimizes the sum of the absolute errors of all
answers.

Source: Dinur and Nissim, "Revealing information while preserving privacy", PODS 2003; Dwork, McSherry, Talwar, "The
price of privacy and the limits of LP decoding", STOC 2007 (the sum of absolute errors).
"""

from typing import Annotated

import numpy as np
from scipy.optimize import linprog
from scipy.special import ndtr

from privnb.microdata.contradictions import find_contradiction, list_sums
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, optional, validated

MAX_PEOPLE = 400  # a program of this size takes seconds


def _check_error(name: str, value: float) -> None:
    if expect.number(name, value) < 0:
        raise UsageError(f"`{name}` must be at least 0; got {value}.")


def _check_groups(name: str, value: Array) -> None:
    groups = expect.array(name, value, 2)
    if not (groups.size and np.isin(groups, (0, 1)).all() and groups.shape[1] <= MAX_PEOPLE):
        raise UsageError(
            f"`{name}` must be an array (queries, people) of 0 and 1, with 1 to {MAX_PEOPLE} people; got an array of "
            f"the shape {groups.shape}. Attack a part of the people."
        )


def _check_answers(name: str, value: Array) -> None:
    if not np.isfinite(np.asarray(expect.array(name, value, 1), dtype=float)).all():
        raise UsageError(f"`{name}` must be finite numbers. Leave out the other answers and their groups.")


@validated
def reconstruct_bits(
    groups: Annotated[Array, _check_groups],
    answers: Annotated[Array, _check_answers],
    error: Annotated[float | None, optional(_check_error)] = None,
) -> FloatArray:
    """Return the bit of each person that noisy counts imply, as a number from 0 to 1.

    Parameters
    ----------
    groups : array (queries, people) of 0 and 1
        Whether each person is a member of the group of each query; at most 400 people.
    answers : array (queries,)
        The published number of members with the property, with noise.
    error : float, optional
        The largest error of an answer, if the adversary knows it.

    Returns
    -------
    float array (people,)
        A number of at least 0.5 is the guess that the person has the property.

    Raises
    ------
    ValueError
        If the answers contradict each other, because no bits have answers with errors of at most `error`. The error
        lists a set of contradicting answers, none of which can be left out.

    Examples
    --------
    The exact answers 2, 2 and 1 about groups of four people disclose all bits:

    >>> groups = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]])
    >>> reconstruct_bits(groups, np.array([2, 2, 1])).round().astype(int).tolist()
    [1, 1, 0, 0]
    """
    queries, people = groups.shape
    if len(answers) != queries:
        raise UsageError(
            f"`answers` must have one answer for each of the {queries} groups; got {len(answers)}. Give both in the "
            "same order."
        )
    members, answers = np.asarray(groups, dtype=float), np.asarray(answers, dtype=float)
    # The dual program has a row for each person and not for each answer, so it is several times faster. Its first
    # variables are the weights of the answers, from -1 to 1. If errors are limited, weights may exceed 1 at a price.
    parts, prices = [members.T], [-answers]
    if error is not None:
        parts, prices = [*parts, members.T, -members.T], [*prices, error - answers, error + answers]
    limits = [(-1, 1)] * queries + [(0, None)] * (queries * (len(parts) - 1) + people)
    found = linprog(
        np.concatenate([*prices, np.ones(people)]),
        A_ub=np.hstack([*parts, -np.eye(people)]),
        b_ub=np.zeros(people),
        bounds=limits,
        method="highs",
    )
    if found.x is None:
        assert error is not None  # errors without a bound fit all answers
        places = find_contradiction(members, answers - error, answers + error, ceiling=1)
        raise UsageError(
            f"the answers to the queries {list_sums([str(place) for place in places])} contradict each other: no "
            f"bits have these answers with errors of at most {error:g}. Correct one of these answers, or state a "
            "larger `error`."
        )
    return np.clip(-found.ineqlin.marginals, 0, 1)


def draw_groups(queries: int, people: int, rng: np.random.Generator) -> IntArray:
    """Return random groups, as an array (queries, people) of 0 and 1; each person is a member with probability 1/2."""
    return rng.integers(0, 2, (queries, people))


@validated
def expect_right_bits(people: Count, queries: Count, noise: Annotated[float, _check_error]) -> float:
    """Return the approximate share of bits that least squares recovers from noisy counts of random groups.

    The groups are those of `draw_groups`, and the bits are 0 or 1 with probability 1/2. A membership has the variance
    1/4, so the estimate of a bit by m answers about n people has the variance 4 s^2 / (m - n) for noise with the
    standard deviation s. The rounded estimate is right if its error in the direction of the other bit is below 1/2: the
    share is the standard normal distribution function at sqrt(m - n) / (4 s). The phase change follows: for m = 4 n,
    the share exceeds 95% if s is below 0.263 sqrt(n), and if s = c n, the share approaches 1/2 as n grows.

    Parameters
    ----------
    people, queries : int
        The numbers n and m; there must be more queries than people.
    noise : float
        The standard deviation of the noise of an answer, in people.

    Returns
    -------
    float
        From 0.5, which is chance, to 1. Linear programming differs from least squares by a few percentage points.

    Source: our derivation.

    >>> [round(expect_right_bits(400, 1600, noise), 3) for noise in (0, 5.2, 20, 400)]
    [1.0, 0.952, 0.667, 0.509]
    """
    if queries <= people:
        raise UsageError(
            f"`queries` must exceed the number of people, {people}; got {queries}. Least squares needs more answers."
        )
    return float(ndtr(np.sqrt(queries - people) / (4 * noise))) if noise else 1.0
