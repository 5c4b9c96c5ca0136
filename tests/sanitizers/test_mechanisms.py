"""Both sources of noise have the distribution that the formula states, and that distribution keeps its epsilon.

Unseedable noise cannot be repeated: its bounds leave less than one false alarm in a thousand million runs.
"""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from privnb.sanitizers.noise.mechanisms import (
    _truth,
    add_geometric_noise,
    add_laplace_noise,
    keep_probability,
    randomize_response,
)

SCALE = 82 / 0.5
RARE = 1e-11
SOURCES = pytest.mark.parametrize("rng", [20261121, None], ids=["seeded", "unseedable"])


def widest_gap(sample, cdf):
    """Largest difference of the sample's distribution function from `cdf` at whole numbers, and its rare bound.

    The bound holds for every sample size and for discrete distributions (Dvoretzky, Kiefer, Wolfowitz, Massart).
    """
    points, counts = np.unique(sample, return_counts=True)
    return np.abs(counts.cumsum() / len(sample) - cdf(points)).max(), math.sqrt(math.log(2 / RARE) / 2 / len(sample))


def two_sided_geometric(scale):
    """scipy's discrete Laplace distribution, P(d) = tanh(1 / (2 scale)) exp(-|d| / scale)."""
    return stats.dlaplace(1 / scale)


@pytest.mark.slow
@SOURCES
def test_laplace_distribution(rng):
    noise = add_laplace_noise(np.full(20_000, 40.0), SCALE, rng=rng) - 40
    assert stats.kstest(noise, stats.laplace(scale=SCALE).cdf).pvalue > RARE
    assert np.isclose(noise.var(), 2 * SCALE**2, rtol=0.15)


@pytest.mark.slow
@SOURCES
@pytest.mark.parametrize("scale", [0.4, 3.0, SCALE])
def test_geometric_distribution(rng, scale):
    noise = add_geometric_noise(np.full(40_000, 40), scale, rng=rng) - 40
    assert noise.dtype == np.int64
    gap, bound = widest_gap(noise, two_sided_geometric(scale).cdf)
    assert gap < bound


@pytest.mark.parametrize("scale", [0.4, 3.0, SCALE])
def test_geometric_variance(scale):
    """2 a / (1 - a)^2, within five standard errors of the variance of 200,000 draws."""
    noise = add_geometric_noise(np.zeros(200_000, dtype=int), scale, rng=5)
    a = math.exp(-1 / scale)
    variance, kurtosis = 2 * a / (1 - a) ** 2, float(two_sided_geometric(scale).stats("k"))
    assert abs(noise.var() - variance) < 5 * variance * math.sqrt((kurtosis + 2) / 200_000)
    assert abs(noise.mean()) < 5 * math.sqrt(variance / 200_000)


def test_scales_of_any_size_stay_whole_numbers():
    assert not add_geometric_noise(np.zeros(1000, dtype=int), 1e-300, rng=1).any()
    for rng in (1, None):
        far = add_geometric_noise(np.zeros(1000, dtype=int), 1e15, rng=rng)
        assert 1e14 < np.abs(far).mean() < 1e16
        assert np.abs(far).max() < 2**62


@pytest.mark.slow
@SOURCES
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 5])
def test_randomized_response_distribution(rng, epsilon, size):
    n, truth = 8_000, 1
    answers = randomize_response(np.full(n, truth), size, epsilon, rng=rng)
    true_one = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    other = 1 / (math.exp(epsilon) + size - 1)
    for category in range(size):
        expected = true_one if category == truth else other
        assert stats.binomtest(int((answers == category).sum()), n, expected).pvalue > RARE / (size * 12)


@SOURCES
def test_each_value_is_answered_for_by_itself(rng):
    """With a large epsilon nearly all answers are true, so values in any order come back in that order."""
    values = np.random.default_rng(2).integers(0, 3, 400)
    answers = randomize_response(values, 4, 30.0, rng=rng)
    assert np.array_equal(answers, values)  # fails by chance in one of 10 thousand million runs


@given(size=st.integers(2, 60), epsilon=st.floats(1e-6, 200))
def test_randomized_response_keeps_its_epsilon(size, epsilon):
    true_one = keep_probability(size, epsilon)
    assert 1 / size <= true_one <= 1
    if epsilon < 20:  # above, 1 - kept loses its digits
        ratio = true_one / ((1 - true_one) / (size - 1))
        assert ratio <= math.exp(epsilon) * (1 + 1e-6)
        assert ratio == pytest.approx(math.exp(epsilon), rel=1e-6)


@pytest.mark.parametrize("size", [2, 3, 14, 41])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.5, 1.0, 5.0, 35.0, 50.0, 1000.0])
def test_the_publishable_response_never_exceeds_its_epsilon(size, epsilon):
    """Plain rounding would: at epsilon 50 the probability of the true value is 1 as a float, and hides nothing."""
    truth = _truth(size, epsilon)
    above = truth * size / (1 - truth)  # by which the factor is above 1
    assert above <= Fraction(math.expm1(min(epsilon, 700)))
    spent = math.log1p(float(above))
    assert spent == pytest.approx(min(epsilon, 36 + math.log(size)), rel=0.05)


@given(size=st.integers(2, 2**40), epsilon=st.floats(1e-12, 100))
def test_a_response_from_many_values_is_the_stated_one_or_tells_less(size, epsilon):
    truth = _truth(size, epsilon)
    assert 0 <= truth < 1
    assert truth * size / (1 - truth) <= Fraction(math.expm1(epsilon))
    stated, drawn = keep_probability(size, epsilon), float(truth + (1 - truth) / size)
    assert drawn == pytest.approx(stated, rel=1e-9, abs=2.0**-52)


def test_a_publishable_response_lists_no_domain():
    """Each of a billion values would be 8 GB, and a list of them five times as much."""
    positions = np.full(2000, 10**9 - 1)
    tracemalloc.start()
    try:
        drawn = randomize_response(positions, 10**9, math.log(10**9), rng=None)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert 0.4 < (drawn == positions).mean() < 0.6, "of gamma = n one half, and fails once in 10^18 runs"
    others = drawn[drawn != positions]
    assert stats.kstest(others / 10**9, "uniform").pvalue > RARE
    assert not (randomize_response(positions, 2**40, 1e-9, rng=None) == positions).any()


@pytest.mark.slow
def test_both_sources_agree():
    seeded, fresh = (add_laplace_noise(np.zeros(20_000), 3.0, rng=rng) for rng in (1, None))
    assert stats.ks_2samp(seeded, fresh).pvalue > RARE


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: add_laplace_noise([1, 2, 3], 1.0, rng=rng),
        lambda rng: add_geometric_noise([1, 2, 3] * 30, 20.0, rng=rng),
        lambda rng: randomize_response(np.array([0, 1] * 100), 4, 0.5, rng=rng),
    ],
    ids=["laplace", "geometric", "randomized response"],
)
def test_seeded_noise_repeats_and_fresh_noise_does_not(draw):
    assert np.array_equal(draw(4), draw(4))
    assert not np.array_equal(draw(4), draw(5))
    assert not np.array_equal(draw(None), draw(None))


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_scale_must_be_positive(scale):
    with pytest.raises(ValueError, match="scale must be a positive number"):
        add_laplace_noise([1.0], scale, rng=0)
    with pytest.raises(ValueError, match="scale must be a positive number"):
        add_geometric_noise([1], scale, rng=0)


def test_geometric_noise_is_for_whole_numbers_within_64_bits():
    with pytest.raises(ValueError, match=r"must be whole numbers; got float64"):
        add_geometric_noise([1.5], 1.0, rng=0)
    with pytest.raises(ValueError, match=r"a positive number up to 1e\+15; got 2"):
        add_geometric_noise([1], 2e15, rng=0)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), True, "1"])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        randomize_response(np.array([0]), 2, epsilon, rng=0)


@pytest.mark.parametrize("size", [0, 1])
def test_categories_must_be_two_or_more(size):
    with pytest.raises(ValueError, match="size must be a whole number of at least 2"):
        randomize_response(np.array([0]), size, 1.0, rng=0)


@SOURCES
def test_values_outside_the_domain_are_refused(rng):
    for outside in (-1, 2):
        with pytest.raises(ValueError, match="`positions` must be whole numbers from 0 to 1"):
            randomize_response(np.array([0, outside]), 2, 1.0, rng=rng)


@SOURCES
def test_noise_makes_no_number_of_a_missing_value(rng):
    for missing in ([float("nan")], [1.0, np.inf], pd.Series([1.5, None])):
        with pytest.raises(ValueError, match=r"got 1 of \d that are missing or infinite.* Leave these records out"):
            add_laplace_noise(missing, 1.0, rng=rng)
        with pytest.raises(ValueError, match=r"got 1 of [12] that are missing or infinite"):
            add_geometric_noise(missing, 1.0, rng=rng)


@SOURCES
@pytest.mark.parametrize("values", [["1"], [None, 1], [True], pd.Series([1, None], dtype="Int64")], ids=repr)
def test_noise_is_for_numbers(values, rng):
    for mechanism in (add_laplace_noise, add_geometric_noise):
        with pytest.raises(ValueError, match=r"noise must be (finite )?numbers; got"):
            mechanism(values, 1.0, rng=rng)
