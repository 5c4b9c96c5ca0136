"""Expectation maximization of the counts of values that are observed with random changes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Positive, validated

STEPS = 1000  # maximum number of steps
RISE = 1e-9  # the iteration ends if the mean log-likelihood rises by less than this in a step


@validated
def maximize_expectation(
    seen: ArrayLike,
    likelihood: FloatArray,
    *,
    steps: Count = STEPS,
    rise: Positive = RISE,
    ended: Callable[[FloatArray, FloatArray], bool] | None = None,
) -> FloatArray:
    """Return the most likely number of records with each original value, computed by iteration.

    Each step divides every observed record among the original values, in proportion to the probability that the record
    has each of these values. The likelihood never decreases from step to step. The iteration may stop before the most
    likely counts are reached.

    Parameters
    ----------
    seen : array (cells,)
        The number of records in which each cell is observed.
    likelihood : float array (values, cells)
        The probability that each cell is observed if the original has each value.
    steps : int
        The maximum number of steps.
    rise : float
        The iteration ends if the mean log-likelihood increases by less than this number in a step; above 0.
    ended : function of two float arrays (values,), optional
        A function of the shares after and before the last step that returns whether the iteration ends. If None, `rise`
        decides.

    Returns
    -------
    float array (values,)
        The number of records with each value; the sum is the same as the sum of `seen`.

    Raises
    ------
    ValueError
        If an observed cell has the probability 0 for all values.

    Source: Agrawal and Aggarwal, "On the Design and Quantification of Privacy Preserving Data Mining Algorithms", PODS
    2001, section 3 (expectation maximization).

    >>> found = maximize_expectation([74, 26], np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> found.round(2).tolist()
    [80.0, 20.0]
    """
    seen = np.asarray(seen, dtype=float)
    if (seen < 0).any() or not seen.sum() > 0:
        raise UsageError("`seen` must hold counts of at least 0, and at least one count above 0.")
    total, occurring = seen.sum(), seen > 0
    weights, explained = seen[occurring] / total, np.ascontiguousarray(likelihood[:, occurring])
    if not (explained.sum(axis=0) > 0).all():
        raise UsageError(
            "every cell must be possible under the noise; got cells that no value can become. Give as `law` the law of "
            "the noise that was added."
        )
    before = shares = np.full(len(likelihood), 1 / len(likelihood))
    likelihood_before = -np.inf
    for step in range(steps + 1):
        mixed = shares @ explained
        reached = float(weights @ np.log(mixed))
        if step == steps or (step and (ended(shares, before) if ended else reached - likelihood_before < rise)):
            break
        before, shares, likelihood_before = shares, shares * (explained @ (weights / mixed)), reached
    return shares * total
