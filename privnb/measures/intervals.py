"""How sure a measured share, or the mean of repeats, can be."""

import math

import numpy as np


def wilson(successes, n):
    """95% interval (low, high) of a share of which `successes` of `n` were seen; both lie in 0..1, also for 0 and n.

    It says how far the share may lie from the one seen, were the n people a random sample of many.
    Raises ValueError unless 0 <= successes <= n and n >= 1. Source: Wilson, JASA 22, 1927, pages 209-212.

    >>> low, high = wilson(0, 10)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.278)
    """
    if not (n >= 1 and 0 <= successes <= n):
        raise ValueError(f"an interval needs 0 <= successes <= n and n >= 1, got successes={successes}, n={n}.")
    z = 1.959963984540054  # 97.5 % quantile of the standard normal distribution
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and n the interval ends there exactly; rounding must not move it past.
    return (0.0 if successes == 0 else middle - half), (1.0 if successes == n else middle + half)


def t_interval(values):
    """95% interval (low, high) of the mean of repeats, such as seeds: Student's t. NaN where it would say too much.

    It supposes values that spread about their mean. Of fewer than two values nothing follows. Nor of a few repeats that
    are alike, because each gives one of few values, such as a count that follows from a rounded number: three equal
    ones would give an interval of width 0, and a fourth may lie anywhere. So of 3 to 9 repeats at least three must
    differ, and half of them; equal means equal in 12 digits. Ten that are all alike leave at most a quarter of others
    unlike them (95%), and keep their width of 0. Of skewed numbers the interval covers less than 95%.

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
