"""The risk of an attack that exceeds the success of the attack on people who are not in the release."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from privnb.measures.intervals import QUANTILE
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError


class ResidualRisk(NamedTuple):
    """A residual risk with its 95% interval.

    Attributes
    ----------
    value, low, high : float
        The risk and the ends of its interval, from -1 to 1; lower is better. The risk is 0 if the attack succeeds
        equally often on people who are not in the release.
    """

    value: float
    low: float
    high: float


def residual_risk(successes: float, n: float, control: float, m: float) -> ResidualRisk:
    """Return the excess of an attack's success rate over its rate on the control, as a share of the largest excess.

    The control consists of people who are not in the release. With the success rates a = `successes` / n and c =
    `control` / m, the risk is (a - c) / (1 - c). The risk is 1 if the attack always succeeds on people of the table,
    and 0 if the two rates are equal. If the attack also always succeeds on the control, the risk is 0, because the
    release then does not add to the success.

    The interval is that of the paper. Each rate has Wilson's interval, with the middle (s + z^2 / 2) / (n + z^2) and
    the half width z / (n + z^2) sqrt(s (n - s) / n + z^2 / 4). The risk is computed from the two middles. If da and dc
    are the half widths of the two rates, error propagation gives the half width of the risk: sqrt((da / (1 - c))^2 +
    (dc (a - 1) / (1 - c)^2)^2). The interval is extended, if necessary, so that it contains the value. A risk
    below -1 is set to -1.

    Parameters
    ----------
    successes, n : float
        The number of successful attacks on people of the table, and the number of attacks.
    control, m : float
        The number of successful attacks on people who are not in the release, and the number of these attacks.

    Returns
    -------
    ResidualRisk

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnadi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, section 4 (risk quantification).

    Examples
    --------
    If 30 of 100 attacks succeed, and 10 of 100 attacks on the control succeed, the risk is (0.3 - 0.1) / (1 - 0.1):

    >>> [round(each, 3) for each in residual_risk(30, 100, 10, 100)]
    [0.222, 0.105, 0.331]
    """
    if not (n > 0 and m > 0 and 0 <= successes <= n and 0 <= control <= m):
        raise UsageError(
            f"`successes` must be from 0 to `n`, and `control` from 0 to `m`, both above 0; got {successes} of {n} and "
            f"{control} of {m}. Give the number of attacks and of successes."
        )
    attack, by_chance = successes / n, control / m
    if by_chance < 1:
        value = max((attack - by_chance) / (1 - by_chance), -1.0)
    else:
        value = 0.0 if attack == 1 else -1.0
    (attack, error), (by_chance, other) = _wilson(successes, n), _wilson(control, m)
    middle, left = (attack - by_chance) / (1 - by_chance), 1 - by_chance
    half = math.hypot(error / left, other * (attack - 1) / left**2)
    return ResidualRisk(value, max(-1.0, min(middle - half, value)), min(1.0, max(middle + half, value)))


def _wilson(successes: float, n: float) -> tuple[float, float]:
    """Return the middle and the half width of Wilson's 95% interval."""
    square = QUANTILE**2
    middle = (successes + square / 2) / (n + square)
    return middle, QUANTILE / (n + square) * math.sqrt(successes * (n - successes) / n + square / 4)


def successes_at_size(matches: IntArray, m: int, n: int) -> float:
    """Return the expected number of predicates that match exactly one of n people, given their matches among m people.

    For n <= m, the expected number is exact: if a predicate matches j of m people, and n of the m people are drawn at
    random, the predicate matches exactly one of the n people with probability j C(m - j, n - 1) / C(m, n). For n > m,
    the model of the paper is fitted to the expected numbers at sizes up to m, and extrapolated to n. In this model, a
    predicate of weight w matches exactly one of n people with probability n w (1 - w)^(n - 1), and this probability is
    integrated over w from 0 to an effective weight.

    Parameters
    ----------
    matches : integer array (predicates,)
        The number of people, among the m people, whom each predicate matches.
    m, n : int

    Returns
    -------
    float
        The expected number, from 0 to the number of predicates.

    References
    ----------
    Giomi et al., PoPETs 2023, section 5.1 and its implementation (anonymeter); Cohen and Nissim, PNAS 117(15), 2020.

    Examples
    --------
    One predicate matches 1 of 4 people, and another predicate matches 2 of these 4 people. If 2 of the 4 people are
    drawn, the first predicate matches exactly one of the two with probability 1/2, and the second predicate with
    probability 2 * 2 / 6.

    >>> round(successes_at_size(np.array([1, 2]), 4, 2), 6)
    1.166667
    """
    if n <= m:
        return _expected(matches, m, n)
    sizes = np.unique(np.linspace(max(2, m // 10), m, 10).astype(int))
    expected = np.array([_expected(matches, m, int(size)) for size in sizes])
    if not expected[-1]:
        return 0.0
    best, ratio = np.inf, 1.0
    for weight in np.geomspace(1e-4 / n, 1.0, 400):
        shape = _integral(sizes, weight)
        scale = float(shape @ expected / (shape @ shape))
        off = float(np.square(scale * shape - expected).sum())
        if off < best:
            best, ratio = off, float(_integral(np.array([n]), weight)[0] / shape[-1])
    return min(float(expected[-1]) * ratio, float(len(matches)))


def _expected(matches: IntArray, m: int, size: int) -> float:
    """Return the expected number of predicates that match exactly one of `size` of the m people."""
    from scipy.special import gammaln

    def choices(of: IntArray | int, some: int) -> FloatArray:
        with np.errstate(invalid="ignore"):
            found = gammaln(np.add(of, 1)) - gammaln(some + 1) - gammaln(np.subtract(of, some) + 1.0)
        return np.where(np.less(of, some), -np.inf, found)

    some = matches[(matches > 0) & (matches <= m)]
    return float((some * np.exp(choices(m - some, size - 1) - choices(m, size))).sum())


def _integral(n: IntArray, weight: float) -> FloatArray:
    """Return the integral of n w (1 - w)^(n - 1) over w from 0 to `weight`: float array, of the shape of n."""
    return np.asarray((1 - (n * weight + 1) * np.exp(n * np.log1p(-min(weight, 1 - 1e-12)))) / (n + 1))
