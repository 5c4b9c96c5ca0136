"""How sure a measured share, or the mean of repeats, can be."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT

QUANTILE = 1.959963984540054  # 97.5% quantile of the standard normal distribution
ROUNDED_QUANTILE = 1.96  # the same, as tables print it, for intervals of means


def wilson(successes: float, n: float) -> tuple[float, float]:
    """95% interval (low, high) of a share of which `successes` of `n` were seen; both lie in 0..1, also for 0 and n.

    It says how far the share may lie from the one seen, were the n people a random sample of many.
    Raises ValueError unless 0 <= successes <= n and n >= 1. Source: Wilson, JASA 22, 1927, pages 209-212.

    >>> low, high = wilson(0, 10)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.278)
    """
    if not (n >= 1 and 0 <= successes <= n):
        raise UsageError(f"an interval needs 0 <= successes <= n and n >= 1, got successes={successes}, n={n}.")
    return _score(successes / n, n, QUANTILE)


def of_classes(values: Array, classes: Array) -> tuple[float, float]:
    """Return a 95% interval (low, high) of the mean of people's `values`, 0 to 1, if the classes are a random sample.

    People in one class of a release have nearly the same risk, so that they are not independent. The variance is that
    of a ratio of sums over classes. The interval is Wilson's of as many independent people as have this variance, by
    Student's t of the number of classes, and never narrower than Wilson's of all people. For a share of 0 or 1, as many
    people as the smallest class has count as one.

    The interval takes the way in which people are divided into classes as it is. Of other people, some sanitizers make
    very different classes (`Mondrian`, where the first cuts change), which one release cannot show;
    tests/benchmarks/coverage.py measures how often intervals cover then.

    Parameters
    ----------
    values : float array (m,)
        Of each person, such as 1 where a value is certain.
    classes : integer array (m,)
        The class of each person.

    Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 9A (ratio to size); Franco, Little, Louis, Slud,
    Journal of Survey Statistics and Methodology 7, 2019 (Wilson's interval of the effective number of people).

    Examples
    --------
    Ten classes of ten people, one of which is certain:

    >>> classes = np.repeat(np.arange(10), 10)
    >>> [round(end, 2) for end in of_classes(classes == 0, classes)]
    [0.01, 0.48]
    >>> [round(end, 2) for end in wilson(10, 100)]
    [0.06, 0.17]
    """
    variance = variance_by_class(values, classes)
    sizes, n = np.unique(classes, return_counts=True)[1], len(values)
    share = min(max(float(np.mean(values)), 0.0), 1.0)
    number, of_one_person = len(sizes), share * (1 - share)
    if number == 1 or not EXACT < share < 1 - EXACT:  # no two classes differ
        return _score(share, n if number == 1 else n / sizes.min(), QUANTILE)
    from scipy.special import stdtrit  # what scipy.stats calls t.ppf, and takes a second and a half to import

    people = n if variance * n <= of_one_person else of_one_person / variance
    return _score(share, people, float(stdtrit(number - 1, 0.975)))


def variance_by_class(values: Array, classes: Array) -> float:
    """Return the variance of the mean of people's `values`, float array (m,), if their `classes`, integer array (m,),
    are a random sample: that of a ratio of sums over classes; 0 with one class.

    >>> variance_by_class(np.array([1.0, 1, 0, 0]), np.array([0, 0, 1, 1]))
    0.25
    """
    values, index = np.asarray(values, dtype=float), np.unique(classes, return_inverse=True)[1]
    if len(values) != len(index) or not len(values):
        raise UsageError(
            f"`classes` must name the class of each value; got {len(values)} values and {len(index)} classes. Try the "
            "arrays of the same people."
        )
    apart = np.bincount(index, values) - values.mean() * np.bincount(index)
    return float(np.square(apart).sum() / len(values) ** 2 * len(apart) / max(len(apart) - 1, 1))


def _score(share: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a share of `n` people, not necessarily a whole number, by the quantile `z`."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the interval ends there exactly; rounding must not move it past.
    return (0.0 if share <= 0 else float(middle - half)), (1.0 if share >= 1 else float(middle + half))


def normal_interval(mean: float, error: float, quantile: float = ROUNDED_QUANTILE) -> tuple[float, float]:
    """Return the 95% interval (low, high) of a mean with the standard error `error`, by the normal approximation.

    >>> [round(end, 3) for end in normal_interval(10, 0.5)]
    [9.02, 10.98]
    """
    half = quantile * error
    return mean - half, mean + half


def mean_interval(values: FloatArray) -> tuple[float, float]:
    """Return the 95% interval (low, high) of the mean of the values of many people or queries.

    >>> [round(float(end), 2) for end in mean_interval(np.array([9.0, 10.0, 11.0, 10.0]))]
    [9.31, 10.69]
    """
    mean: Any = np.mean(values)
    error: Any = np.std(values) / np.sqrt(len(values))
    return normal_interval(mean, error)


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """95% interval (low, high) of the mean of repeats, such as seeds: Student's t. NaN where it would say too much.

    It supposes values that spread about their mean. Of fewer than two values nothing follows. Nor of a few repeats that
    are alike, because each gives one of few values, such as a count that follows from a rounded number: three equal
    ones would give an interval of width 0, and a fourth may lie anywhere. So of 3 to 9 repeats at least three must
    differ, and half of them; equal means equal in 12 digits. Ten that are all alike leave at most a quarter of others
    unlike them (95%), and keep their width of 0. Of skewed numbers the
    interval covers less than 95%: exponential ones 88% (3 repeats) to 90% (10), log-normal ones 82% to 84%.

    >>> [round(bound, 2) for bound in t_interval([9.0, 10.0, 11.0])]
    [7.52, 12.48]
    >>> t_interval([9.0, 9.0, 10.0])
    (nan, nan)
    """
    n = len(values)
    if n < 2 or (n < 10 and len({f"{value:.12g}" for value in values}) < max(min(n, 3), n / 2)):
        return math.nan, math.nan
    from scipy.special import stdtrit  # what scipy.stats calls t.ppf, and takes a second and a half to import

    mean = float(np.mean(values))
    half = float(stdtrit(n - 1, 0.975) * np.std(values, ddof=1)) / math.sqrt(n)
    return mean - half, mean + half
