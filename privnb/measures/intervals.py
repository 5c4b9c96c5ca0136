"""Confidence intervals of shares and means."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT

QUANTILE = 1.959963984540054  # 97.5% quantile of the standard normal distribution
ROUNDED_QUANTILE = 1.96  # the same quantile, rounded as in printed tables, for intervals of means


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95% interval (low, high) of the share of `successes` among `n`; both ends are from 0 to 1.

    The interval treats the n people as a random sample of many people. Raises ValueError unless 0 <= successes <= n and
    n >= 1.

    Source: Wilson, JASA 22, 1927, pages 209-212.

    >>> low, high = wilson(0, 10)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.278)
    """
    if not (n >= 1 and 0 <= successes <= n):
        raise UsageError(
            f"`n` must be at least 1, and `successes` must be from 0 to `n`; got successes={successes}, n={n}."
        )
    return _score(successes / n, n, QUANTILE)


def class_interval(values: Array, classes: Array) -> tuple[float, float]:
    """Return a 95% interval (low, high) of a mean over people, if the classes of these people are a random sample.

    People in one class of a release have nearly the same risk, so these people are not independent. The variance of the
    mean is the variance of a ratio of sums over classes. The interval is Wilson's interval for the number of
    independent people that would have this variance, with the quantile of Student's t for the number of classes. The
    interval is never narrower than Wilson's interval for the number of all people. If the mean is 0 or 1, each group of
    people that is as large as the smallest class counts as one independent person.

    The interval assumes that the division of people into classes is fixed. For a different sample of people, some
    sanitizers would make very different classes; for example, the first cuts of `Mondrian` may change. A single release
    cannot show this variation; tests/benchmarks/coverage.py measures the coverage of intervals in this case.

    Parameters
    ----------
    values : float array (m,)
        A number from 0 to 1 for each person; for example, 1 if the person's value is certain, otherwise 0.
    classes : integer array (m,)
        The class of each person.

    Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 9A (ratio to size); Franco, Little, Louis, Slud,
    Journal of Survey Statistics and Methodology 7, 2019 (Wilson's interval of the effective number of people).

    Examples
    --------
    The values are certain in one of ten classes, each with ten people:

    >>> classes = np.repeat(np.arange(10), 10)
    >>> [round(end, 2) for end in class_interval(classes == 0, classes)]
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
    from scipy.special import stdtrit  # scipy.stats.t.ppf takes a second and a half to import

    people = n if variance * n <= of_one_person else of_one_person / variance
    return _score(share, people, float(stdtrit(number - 1, 0.975)))


def variance_by_class(values: Array, classes: Array) -> float:
    """Return the variance of the mean of the `values` (m,) of people, if their `classes` (m,) are a random sample.

    The result is the variance of a ratio of sums over classes; it is 0 if there is only one class.

    >>> variance_by_class(np.array([1.0, 1, 0, 0]), np.array([0, 0, 1, 1]))
    0.25
    """
    values, index = np.asarray(values, dtype=float), np.unique(classes, return_inverse=True)[1]
    if len(values) != len(index) or not len(values):
        raise UsageError(
            f"`classes` must give the class of each value; got {len(values)} values and {len(index)} classes. Give "
            "arrays about the same people."
        )
    apart = np.bincount(index, values) - values.mean() * np.bincount(index)
    return float(np.square(apart).sum() / len(values) ** 2 * len(apart) / max(len(apart) - 1, 1))


def _score(share: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of `n` people for the quantile `z`; `n` need not be a whole number."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # # For a share of 0 or 1, the interval ends exactly there; rounding must not move the end further.
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
    """Return Student's 95% interval (low, high) of the mean over repeats, such as seeds, or NaN for similar repeats.

    The interval assumes that the values vary around their mean. Some results have only a few possible values, for
    example a count that is computed from a rounded number. Three equal values of such a result would give an interval
    of width 0, although a fourth value could be different. The result is therefore NaN for fewer than two values, for
    two equal values, and for 3 to 9 values of which fewer than three, or fewer than half, are different. Values that
    agree in 12 digits count as equal. If ten or more values are equal, the interval has the width 0, because at most a
    quarter of further values differ (with 95% confidence). For skewed numbers, the interval covers the mean with a
    probability below 95%: from 88% (3 repeats) to 90% (10 repeats) for exponential numbers, and from 82% to 84% for
    log-normal numbers.

    >>> [round(bound, 2) for bound in t_interval([9.0, 10.0, 11.0])]
    [7.52, 12.48]
    >>> t_interval([9.0, 9.0, 10.0])
    (nan, nan)
    """
    n = len(values)
    if n < 10 and len({f"{value:.12g}" for value in values}) < max(min(n, 3), n / 2):
        return math.nan, math.nan
    return student_interval(values)


def student_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return Student's 95% interval (low, high) of the mean over repeats, even if values are equal.

    The result is NaN for fewer than two repeats. If all repeats are equal, the width of the interval is 0, which does
    not predict the value of the next repeat; see `t_interval`.

    >>> [round(bound, 2) for bound in student_interval([9.0, 9.0, 10.0])]
    [7.9, 10.77]
    """
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # scipy.stats.t.ppf takes a second and a half to import

    mean = float(np.mean(values))
    half = float(stdtrit(n - 1, 0.975) * np.std(values, ddof=1)) / math.sqrt(n)
    return mean - half, mean + half
