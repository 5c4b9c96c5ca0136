"""Mechanisms with a proven epsilon: with a seed for experiments, and with noise from a vetted library for publication.

A seed or Generator as `rng` is fast and repeatable, but only for simulations: anyone with the seed can subtract the
noise, and floating-point noise leaks through its low bits (Mironov, CCS 2012). With None, the exact samplers of OpenDP
draw the noise. These samplers take no seed, and only their noise may be published.
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

MAX_STEPS = 1e15  # noise of a larger scale would exceed 64-bit integers


def _steps(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 < value <= MAX_STEPS):
        raise UsageError(f"{name} must be a positive number up to {MAX_STEPS:g}; got {expect.describe_value(value)}.")


@validated
def add_laplace_noise(values: Any, scale: Positive, *, rng: Randomness) -> FloatArray:
    """Return `values` plus independent Laplace noise with mean 0 and variance 2 scale^2.

    Parameters
    ----------
    values : array of numbers
    scale : float
        Sensitivity / epsilon, in the unit of the values; above 0.
    rng : int, Generator or None
        With None, the samplers of OpenDP are used; only their draws may be published.

    Returns
    -------
    float array
        An array of the shape of `values`.

    Raises
    ------
    ValueError
        If values are not finite numbers, or if the scale is out of range.

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
def add_geometric_noise(values: Any, scale: Annotated[float, _steps], *, rng: Randomness) -> IntArray:
    """Return whole numbers plus independent two-sided geometric noise (discrete Laplace).

    The noise d has the probability (1 - a) / (1 + a) a^|d|, where a = exp(-1 / scale). The mean of the noise is 0, and
    the variance is 2 a / (1 - a)^2.

    Parameters
    ----------
    values : array of integers
        Whole numbers of steps of the public domain.
    scale : float
        Sensitivity / epsilon, in steps of the public domain; above 0 and at most 1e15.
    rng : int, Generator or None
        With None, the samplers of OpenDP are used; only their draws may be published.

    Returns
    -------
    int64 array
        An array of the shape of `values`.

    Raises
    ------
    ValueError
        If values are not whole numbers, or if the scale is out of range.

    Source: Ghosh, Roughgarden, Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", STOC 2009.
    """
    values = _numbers("geometric", values)
    if not np.issubdtype(values.dtype, np.integer):
        raise UsageError(
            f"the values of geometric noise must be whole numbers; got {values.dtype}. Count steps of the domain."
        )
    if rng is not None:
        # The difference of two one-sided geometric numbers is two-sided geometric.
        one, other = np.random.default_rng(rng).geometric(-np.expm1(-1 / scale), size=(2, *values.shape))
        return values + (one - other)
    dp = _opendp()
    exact = dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)
    return np.array(exact(values.ravel().tolist()), dtype=np.int64).reshape(values.shape)


def _numbers(kind: str, values: Any) -> Array:
    """Return `values` as an array of numbers. Raises ValueError unless all values are finite numbers."""
    found = np.asarray(values)
    if found.dtype.kind not in "iuf":
        raise UsageError(
            f"the values of {kind} noise must be numbers; got {found.dtype}. Leave other values out, or replace them "
            "with numbers."
        )
    unfit = ~np.isfinite(found)
    if unfit.any():
        raise UsageError(
            f"the values of {kind} noise must be finite numbers; got {unfit.sum()} of {found.size} that are missing or "
            "infinite. Leave these records out."
        )
    return found


def keep_probability(size: int, epsilon: float) -> float:
    """Return the probability that randomized response over `size` categories keeps the true one, 1 / size to 1.

    Each other category has the probability (1 - probability) / (size - 1); the two probabilities differ by the factor
    exp(epsilon).

    >>> round(keep_probability(2, math.log(3)), 10)  # two coins (Warner 1965)
    0.75
    """
    return 1 / (1 + (size - 1) * math.exp(-epsilon))


@validated
def randomize_response(
    positions: Any, size: Annotated[int, at_least(2)], epsilon: Positive, *, rng: Randomness
) -> IntArray:
    """Return positions in a domain, each kept with probability `keep_probability` or replaced with any other position.

    Parameters
    ----------
    positions : integer array (n,)
        The true positions, from 0 to below `size`.
    size : int
        The number of values of the public domain, or of combinations of several domains; at least 2.
    epsilon : float
        The epsilon of the response, above 0; a larger epsilon keeps more values.
    rng : int, Generator or None
        With None, the samplers of OpenDP are used; only their draws may be published.

    Returns
    -------
    integer array (n,)
        The published positions. All replacements are equally likely.

    Raises
    ------
    ValueError
        If epsilon is not above 0, if the size is below 2, or if a position is outside the domain.

    Source: Kairouz, Oh, Viswanath, "Extremal Mechanisms for Local Differential Privacy", NIPS 2014 and JMLR 2016, k-ary
    randomized response.
    """
    whole = isinstance(positions, np.ndarray) and positions.dtype.kind in "iu" and positions.ndim == 1
    if not (whole and len(positions) and 0 <= positions.min() <= positions.max() < size):
        raise UsageError(
            f"`positions` must be whole numbers from 0 to {size - 1}; got {expect.describe_value(positions)}."
        )
    if rng is None:
        return _exact_response(positions, size, epsilon)
    generator = np.random.default_rng(rng)
    away = generator.integers(1, size, len(positions))
    return np.where(
        generator.random(len(positions)) < keep_probability(size, epsilon), positions, (positions + away) % size
    )


def _exact_response(codes: IntArray, size: int, epsilon: float) -> IntArray:
    truth = _truth(size, epsilon)
    honest = _bernoulli(truth, len(codes)) if truth else np.zeros(len(codes), dtype=bool)
    drawn = np.array([secrets.randbelow(size) for _ in range(len(codes))], dtype=codes.dtype)
    return np.where(honest, codes, drawn)


def _truth(size: int, epsilon: float) -> Fraction:
    """Return the probability of an honest response; all other responses are uniform over all `size` values.

    The true value is 1 + truth * size / (1 - truth) times as likely as any other value; in exact arithmetic, this
    factor is at most e^epsilon. The probability is a float: with many values and a small epsilon, the probability is
    smaller than necessary, and may be 0.
    """
    above = math.expm1(min(epsilon, 700))  # a larger exponent exceeds a float
    most = Fraction(math.nextafter(math.nextafter(above, 0), 0))  # the last digit of the library may be one too large
    truth = above / (above + size)
    while True:
        # `_bernoulli` draws with a probability of at least one half, whose complement is exact.
        exact = Fraction(truth) if truth >= 0.5 else 1 - Fraction(1 - truth)
        if exact <= 0 or (exact < 1 and exact * size <= most * (1 - exact)):
            return max(exact, Fraction(0))
        truth = math.nextafter(truth, 0) if truth >= 0.5 else 1 - math.nextafter(1 - truth, 1)


def _bernoulli(chance: Fraction, number: int) -> BoolArray:
    """Return, as a boolean array (number,), draws by OpenDP that are True with exactly the probability `chance`."""
    dp = _opendp()
    likely = max(chance, 1 - chance)
    answer = dp.m.make_randomized_response_bool(float(likely))
    answers = np.array(dp.c.make_composition([answer] * number)(True), dtype=bool)
    return answers if likely == chance else ~answers


def _opendp() -> Any:
    import opendp.prelude as dp  # slow to import

    dp.enable_features("contrib")
    return dp
