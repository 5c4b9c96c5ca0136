"""The risk that a person in a sample is re-identified in the population from which the sample was drawn."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError

MANY = 50  # number of people in a sample above which the hypergeometric series converges fast


def individual_risk(sample: ArrayLike, population: ArrayLike) -> FloatArray:
    """Return, for each person in a sample, the probability of a correct link to a person in the population.

    A person is linked at random to one of the F people in the population with the same combination of values. If f
    people in the sample have the combination, F is unknown. Given f, F is assumed to follow a negative binomial
    distribution with p = f / (the sum of the sampling weights of the f people). The risk is the mean of 1 / F. If the
    sample is the population, the risk is 1 / f.

    Parameters
    ----------
    sample : integer array (m,)
        The number f of people in the sample with the combination of each person, at least 1.
    population : float array (m,)
        The sum of the sampling weights of these f people; a sum below f counts as f.

    Returns
    -------
    float array (m,)
        Probabilities above 0 and at most 1; lower protects better.

    Raises
    ------
    ValueError
        If a count is below 1, or if a sum is not a positive number.

    Source: Benedetti and Franconi, "Statistical and technological solutions for controlled data dissemination", NTTS
    1998; Franconi and Polettini, "Individual risk estimation in mu-ARGUS: a review", PSD 2004. For f = 1, the risk is p
    / (1 - p) log(1 / p). In general, the risk is p / f times the hypergeometric function 2F1(1, 1; f + 1; 1 - p), which
    follows from the formula of the source by Euler's transformation.

    >>> individual_risk([1], [17.0]).round(8).tolist()
    [0.17707583]
    """
    f, whole = _numbers("sample", sample), _numbers("population", population)
    if f.shape != whole.shape or (f < 1).any() or (f % 1 != 0).any():
        raise UsageError(
            f"`sample` must be whole numbers of at least 1, one for each person; got {expect.describe_value(sample)}."
        )
    p = f / np.maximum(whole, f)
    return p / f * _gauss(f, p)


class GlobalRisk(NamedTuple):
    """The risk of a whole sample, as the expected number of re-identified people and their share of the sample."""

    expected: float
    share: float


def global_risk(individual: ArrayLike) -> GlobalRisk:
    """Return the expected number and share of people in a sample who are re-identified; lower protects more.

    If the share is low, a few people may still have a high risk, so also look at the largest individual risks.

    Parameters
    ----------
    individual : float array (n,)
        The risk of each person; see `individual_risk`. Without sampling weights, this risk is 1 / f.

    Raises
    ------
    ValueError
        If a risk is not above 0.

    Source: Franconi and Polettini, PSD 2004; Benschop, Machingauta and Welch, "Statistical disclosure control: a
    practice guide", World Bank, global risk.

    >>> global_risk([0.5, 0.5, 0.25, 0.25])
    GlobalRisk(expected=1.5, share=0.375)
    """
    risks = _numbers("individual", individual)
    return GlobalRisk(float(risks.sum()), float(risks.mean()))


def _gauss(f: FloatArray, p: FloatArray) -> FloatArray:
    """Return the hypergeometric function 2F1(1, 1; f + 1; 1 - p), as a float array (m,).

    The function of SciPy 1.17 gives wrong results if f is at least 100 and p is below 0.01.
    """
    from scipy.special import hyp2f1  # imported only if needed, because the import is slow

    found = hyp2f1(1, 1, np.minimum(f, MANY) + 1, 1 - p)
    many = f > MANY
    term = total = np.ones(many.sum())
    for n in range(1, MANY):  # each term is at most n / (f + n) of the previous one: the last is below 1e-28
        term = term * n / (f[many] + n) * (1 - p[many])
        total = total + term
    found[many] = total
    return found


def _numbers(name: str, given: Any) -> FloatArray:
    found = np.asarray(given)
    if found.ndim != 1 or found.dtype.kind not in "iuf" or not (np.isfinite(found) & (found > 0)).all():
        raise UsageError(f"`{name}` must be an array (m,) of numbers above 0; got {expect.describe_value(given)}.")
    return found.astype(float)
