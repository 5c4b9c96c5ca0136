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
    """Return a 95% interval (low, high) of the mean of people's `values`, 0 to 1, for a random sample of classes.

    People in one class of a release have nearly the same risk, so they are not independent. The variance is the
    variance of a ratio of sums over classes. The interval is Wilson's for the number of independent people with this
    variance, with the quantile of Student's t for the number of classes; it is never narrower than Wilson's for all
    people. For a share of 0 or 1, a group of people of the size of the smallest class counts as one person.

    The interval assumes that the division of people into classes is fixed. For other people, some sanitizers make very
    different classes (such as `Mondrian`, if the first cuts change). One release cannot show this variation;
    tests/benchmarks/coverage.py measures the coverage of intervals in this case.

    Parameters
    ----------
    values : float array (m,)
        A number for each person, such as 1 if their value is certain.
    classes : integer array (m,)
        The class of each person.

    Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 9A (ratio to size); Franco, Little, Louis, Slud,
    Journal of Survey Statistics and Methodology 7, 2019 (Wilson's interval of the effective number of people).

    Examples
    --------
    In one of ten classes of ten people, the value is certain:

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
    """Return the variance of the mean of people's `values`, (m,), if the `classes`, (m,), are a random sample.

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
    """Return Wilson's interval of a share of `n` people, not necessarily a whole number, by the quantile `z`."""
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
    """Return Student's 95% interval (low, high) of the mean of repeats, such as seeds; NaN if they are too similar.

    The interval assumes that the values spread around their mean. The result is NaN for fewer than two values, and for
    a few equal repeats. Repeats may have only a few possible values, such as a count that follows from a rounded
    number. Three equal values would then give an interval of width 0, although a fourth value could be different. Among
    3 to 9 repeats, at least three and at least half must therefore be different values; values are equal if they agree
    in 12 digits. After ten equal repeats, at most a quarter of further values differ (with 95% confidence), and the
    interval keeps its width of 0. For skewed numbers, the interval covers less than 95%: from 88% (3 repeats) to 90%
    (10 repeats) for exponential numbers, and from 82% to 84% for log-normal numbers.

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
    """Return Student's 95% interval (low, high) of the mean of repeats, even if some are equal; NaN for fewer than two.

    If all repeats are equal, the width is 0, which predicts nothing about the next repeat; see `t_interval`.

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
