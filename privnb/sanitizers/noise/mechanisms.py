"""Noise with a proven epsilon: seeded for experiments, from a vetted library for publication.

`rng`: a seed or Generator, fast and repeatable, for simulations only: whoever has the seed can subtract the noise, and
floating-point noise leaks through its low bits (Mironov, CCS 2012). None: OpenDP's exact samplers, which cannot be
seeded; only such noise may be published.
"""

from __future__ import annotations

import math
import secrets
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Positive, Randomness, at_least, validated

LARGEST = 1e15  # steps; noise of a larger scale would leave the 64-bit whole numbers


def _steps(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 < value <= LARGEST):
        raise UsageError(f"{name} must be a positive number up to {LARGEST:g}, got {expect.found(value)}.")


@validated
def laplace(values: Any, scale: Positive, *, rng: Randomness) -> FloatArray:
    """`values` plus independent Laplace noise of mean 0 and variance 2 scale^2.

    Parameters
    ----------
    values : array of numbers
    scale : float
        Sensitivity / epsilon, in the unit of the values; above 0.
    rng : int, Generator or None
        None: OpenDP's samplers, whose noise alone may be published.

    Returns
    -------
    float array
        Of the shape of `values`.

    Raises
    ------
    ValueError
        For values that are no finite numbers, and for another scale.

    Source: Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity", TCC 2006.
    """
    values = _numbers("Laplace", values).astype(float)
    if rng is not None:
        return values + np.random.default_rng(rng).laplace(scale=scale, size=values.shape)
    dp = _opendp()
    exact = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float), scale=scale
    )
    return np.array(exact(values.ravel().tolist())).reshape(values.shape)


@validated
def geometric(values: Any, scale: Annotated[float, _steps], *, rng: Randomness) -> IntArray:
    """Whole numbers plus independent two-sided geometric noise (discrete Laplace).

    Noise d has probability (1 - a) / (1 + a) a^|d|, where a = exp(-1 / scale): mean 0, variance 2 a / (1 - a)^2.

    Parameters
    ----------
    values : array of integers
        Steps of the public domain.
    scale : float
        Sensitivity / epsilon, in such steps; above 0, at most 1e15.
    rng : int, Generator or None
        As of `laplace`.

    Returns
    -------
    int64 array
        Of the shape of `values`.

    Raises
    ------
    ValueError
        For values that are no whole numbers, and for another scale.

    Source: Ghosh, Roughgarden, Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", STOC 2009.
    """
    values = _numbers("geometric", values)
    if not np.issubdtype(values.dtype, np.integer):
        raise UsageError(
            f"the values of geometric noise must be whole numbers, got {values.dtype}. Count the steps of the domain."
        )
    if rng is not None:
        # The difference of two one-sided geometric numbers is two-sided geometric.
        one, other = np.random.default_rng(rng).geometric(-np.expm1(-1 / scale), size=(2, *values.shape))
        return values + (one - other)
    dp = _opendp()
    exact = dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)
    return np.array(exact(values.ravel().tolist()), dtype=np.int64).reshape(values.shape)


def _numbers(kind: str, values: Any) -> Array:
    """`values` as an array of numbers. Raises ValueError for what is none, and for missing and infinite ones."""
    found = np.asarray(values)
    if found.dtype.kind not in "iuf":
        raise UsageError(
            f"{kind} noise is for numbers, got values of {found.dtype}. Leave out or fill in what is no number."
        )
    unfit = ~np.isfinite(found)
    if unfit.any():
        raise UsageError(
            f"{kind} noise is for numbers, got {unfit.sum()} of {found.size} missing or infinite values. Noise would "
            "make numbers of them: leave these records out."
        )
    return found


def kept(size: int, epsilon: float) -> float:
    """Probability, 1 / size to 1, that randomized response over `size` categories gives the true one.

    Each other category has (1 - kept) / (size - 1), so that the two differ by the factor exp(epsilon).

    >>> round(kept(2, math.log(3)), 10)  # two coins (Warner 1965)
    0.75
    """
    return 1 / (1 + (size - 1) * math.exp(-epsilon))


@validated
def response(positions: Any, size: Annotated[int, at_least(2)], epsilon: Positive, *, rng: Randomness) -> IntArray:
    """Each position in a domain kept with probability `kept`, else replaced by any other one alike.

    Parameters
    ----------
    positions : integer array (n,)
        From 0 to below `size`.
    size : int
        From 2, of the public domain or of all combinations of several.
    epsilon : float
        Above 0; larger keeps more values.
    rng : int, Generator or None
        As of `laplace`.

    Returns
    -------
    integer array (n,)

    Raises
    ------
    ValueError
        For another epsilon, fewer positions than 2, and one outside of the domain.

    Source: Kairouz, Oh, Viswanath, "Extremal Mechanisms for Local Differential Privacy", NIPS 2014 and JMLR 2016,
    k-ary randomized response.
    """
    whole = isinstance(positions, np.ndarray) and positions.dtype.kind in "iu" and positions.ndim == 1
    if not (whole and len(positions) and 0 <= positions.min() <= positions.max() < size):
        raise UsageError(f"positions must be whole numbers from 0 to {size - 1}, got {expect.found(positions)}.")
    if rng is None:
        return _exact_response(positions, size, epsilon)
    generator = np.random.default_rng(rng)
    away = generator.integers(1, size, len(positions))
    return np.where(generator.random(len(positions)) < kept(size, epsilon), positions, (positions + away) % size)


def _exact_response(codes: IntArray, size: int, epsilon: float) -> IntArray:
    truth = _truth(size, epsilon)
    told = _bernoulli(truth, len(codes)) if truth else np.zeros(len(codes), dtype=bool)
    drawn = np.array([secrets.randbelow(size) for _ in range(len(codes))], dtype=codes.dtype)
    return np.where(told, codes, drawn)


def _truth(size: int, epsilon: float) -> Fraction:
    """Return how likely a response is the true value, where it else is any of `size` values alike, with the true one.

    The true value is 1 + truth * size / (1 - truth) times as likely as any other, and by exact arithmetic no more than
    e^epsilon times. The chance is a float: with many values and a small epsilon it falls short, in the end to 0.
    """
    above = math.expm1(min(epsilon, 700))  # more has no room in a float
    most = Fraction(math.nextafter(math.nextafter(above, 0), 0))  # the library's last digit may be one too large
    truth = above / (above + size)
    while True:
        # What is drawn below is a chance of one half or more, whose complement is exact.
        exact = Fraction(truth) if truth >= 0.5 else 1 - Fraction(1 - truth)
        if exact <= 0 or (exact < 1 and exact * size <= most * (1 - exact)):
            return max(exact, Fraction(0))
        truth = math.nextafter(truth, 0) if truth >= 0.5 else 1 - math.nextafter(1 - truth, 1)


def _bernoulli(chance: Fraction, number: int) -> BoolArray:
    """Draw `number` answers, true with exactly this chance, by OpenDP: boolean array (number,)."""
    dp = _opendp()
    likely = max(chance, 1 - chance)
    answer = dp.m.make_randomized_response_bool(float(likely))
    told = np.array(dp.c.make_composition([answer] * number)(True), dtype=bool)
    return told if likely == chance else ~told


def _opendp() -> Any:
    import opendp.prelude as dp  # slow to import

    dp.enable_features("contrib")
    return dp
