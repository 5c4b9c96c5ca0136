"""The likeliest counts behind what is seen, where each value is seen as others by chance: the one iteration for all."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Positive, validated

STEPS = 1000  # of an iteration, at most
RISE = 1e-9  # of the mean log-likelihood, below which an iteration ends


@validated
def expectation_maximized(
    seen: ArrayLike,
    likelihood: FloatArray,
    *,
    steps: Count = STEPS,
    rise: Positive = RISE,
    ended: Callable[[FloatArray, FloatArray], bool] | None = None,
) -> FloatArray:
    """Return how many records have each value, estimated iteratively: the likeliest counts, none of them below 0.

    Each step gives every record seen to the values as likely as these are to stand behind it. The likelihood never
    falls. It may end before the likeliest counts are reached.

    Parameters
    ----------
    seen : array (cells,)
        How many records have each cell.
    likelihood : float array (values, cells)
        How likely each cell is seen for each value.
    steps : int
        At most so many.
    rise : float
        It ends once the mean log-likelihood rises by less; above 0.
    ended : function of two float arrays (values,), optional
        Whether it ends with these shares, the last and those before; None: by `rise`.

    Returns
    -------
    float array (values,)
        Of the same sum.

    Raises
    ------
    ValueError
        For cells that no value explains.

    Source: Agrawal and Aggarwal, "On the Design and Quantification of Privacy Preserving Data Mining Algorithms", PODS
    2001, section 3 (expectation maximization).

    >>> found = expectation_maximized([74, 26], np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> found.round(2).tolist()
    [80.0, 20.0]
    """
    seen = np.asarray(seen, dtype=float)
    if (seen < 0).any() or not seen.sum() > 0:
        raise UsageError("seen must be counts from 0, and not all 0.")
    total, occurring = seen.sum(), seen > 0
    weights, explained = seen[occurring] / total, np.ascontiguousarray(likelihood[:, occurring])
    if not (explained.sum(axis=0) > 0).all():
        raise UsageError("some of what is seen cannot come from any value by this law. Give the law of these cells.")
    before = shares = np.full(len(likelihood), 1 / len(likelihood))
    likelihood_before = -np.inf
    for step in range(steps + 1):
        mixed = shares @ explained
        reached = float(weights @ np.log(mixed))
        if step == steps or (step and (ended(shares, before) if ended else reached - likelihood_before < rise)):
            break
        before, shares, likelihood_before = shares, shares * (explained @ (weights / mixed)), reached
    return shares * total
