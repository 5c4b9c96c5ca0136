"""How likely somebody in a sample is found in the population that it was drawn from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError

MANY = 50  # people of a sample: of more, the sum of the hypergeometric series is at hand


def individual_risk(sample: ArrayLike, population: ArrayLike) -> FloatArray:
    """How likely a person is linked to the right one of the people of the population who are alike.

    Of a combination that f people of the sample have, the number F of those in the population is not known; given f it
    is taken to follow a negative binomial law, with p = f / (the sum of their sampling weights). The risk is the mean
    of 1 / F. It is 1 / f where the sample is the population.

    Parameters
    ----------
    sample : integer array (m,)
        f of each person, from 1.
    population : float array (m,)
        The sum of the weights of the f people; below f it counts as f.

    Returns
    -------
    float array (m,)
        Above 0 to 1, lower protects better.

    Raises
    ------
    ValueError
        For a count below 1, or a sum that is none.

    Source: Benedetti and Franconi, "Statistical and technological solutions for controlled data dissemination", NTTS
    1998; Franconi and Polettini, "Individual risk estimation in mu-ARGUS: a review", PSD 2004. For f = 1 it is
    p / (1 - p) log(1 / p). In general it is p / f times the hypergeometric function 2F1(1, 1; f + 1; 1 - p),
    by Euler's transformation of the source's form.

    >>> individual_risk([1], [17.0]).round(8).tolist()
    [0.17707583]
    """
    f, whole = _numbers("sample", sample), _numbers("population", population)
    if f.shape != whole.shape or (f < 1).any() or (f % 1 != 0).any():
        raise UsageError(f"sample must be whole numbers of people from 1, one per person, got {expect.found(sample)}.")
    p = f / np.maximum(whole, f)
    return p / f * _gauss(f, p)


def _gauss(f: FloatArray, p: FloatArray) -> FloatArray:
    """2F1(1, 1; f + 1; 1 - p): float array (m,). SciPy 1.17 has no number of it for f from 100 and p below 0.01."""
    from scipy.special import hyp2f1  # seldom needed, and slow to import

    found = hyp2f1(1, 1, np.minimum(f, MANY) + 1, 1 - p)
    many = f > MANY
    term = total = np.ones(many.sum())
    for n in range(1, MANY):  # each term is at most n / (f + n) of the one before: the last is below 1e-28
        term = term * n / (f[many] + n) * (1 - p[many])
        total = total + term
    found[many] = total
    return found


def _numbers(name: str, given: Any) -> FloatArray:
    found = np.asarray(given)
    if found.ndim != 1 or found.dtype.kind not in "iuf" or not (np.isfinite(found) & (found > 0)).all():
        raise UsageError(f"{name} must be an array (m,) of numbers above 0, got {expect.found(given)}.")
    return found.astype(float)
