"""Bayes' rule through a known matrix, breaches and what bounds them: the papers' numbers, and what releases show."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from privnb.datasets.dataset import load
from privnb.measures.noise.breaches import (
    amplification,
    downward_posterior,
    mean_downward_posterior,
    mean_upward_posterior,
    upward_posterior,
)
from privnb.measures.noise.matrices import amplification_of
from privnb.measures.noise.posteriors import breach_gamma, breaches, posterior, posterior_bounds, randomized_bounds
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import (
    AdditiveNoise,
    DataSwapping,
    GammaDiagonal,
    GeometricNoise,
    Identity,
    LaplaceNoise,
    Mask,
    Pram,
    RandomizedResponse,
    RetentionReplacement,
)
from privnb.sanitizers.noise.matrix_laws import Diagonal

ADULT = load("adult", records=3000)


def operators():
    """Evfimievski, Gehrke, Srikant, PODS 2003, section 1: three ways to randomize a number from 0 to 1000."""
    size = 1001
    first = np.full((size, size), 0.8 / 1000)
    np.fill_diagonal(first, 0.2)
    place = (np.arange(size)[None, :] - np.arange(size)[:, None]) % size
    second = np.where((place <= 100) | (place >= size - 100), 1 / 201, 0)
    return first, second, second / 2 + 0.5 / size


@pytest.mark.parametrize(
    ("number", "zero", "outside", "gamma"),
    [(0, 0.71633, 0.82952, 250), (1, 0.04808, 1.0, math.inf), (2, 0.02937, 0.70775, 5.9801)],
)
def test_the_posterior_table_of_three_operators(number, zero, outside, gamma):
    """Catalogue 10-06: what R = 0 tells of A, that X = 0, and of B, that X is not in {200, ..., 800}."""
    prior = np.full(1001, 0.00099)
    prior[0] = 0.01
    matrix, places = operators()[number], np.arange(1001)
    properties = np.array([places == 0, (places < 200) | (places > 800)])
    assert properties @ prior == pytest.approx([0.01, 0.40501], abs=1e-5)
    assert properties @ posterior(prior, matrix)[:, 0] == pytest.approx([zero, outside], abs=1e-5)
    assert amplification_of(matrix) == pytest.approx(gamma, rel=1e-4)
    found = breaches(prior, matrix, properties, rho1=0.41, rho2=0.9)
    assert found.upward.tolist() == [False, number == 1]
    assert found.highest[0] >= zero - 1e-5


@pytest.mark.parametrize(
    ("rho1", "rho2", "gamma"), [(0.05, 0.5, 19), (0.05, 0.4, 12.6667), (0.1, 0.5, 9), (0.01, 0.5, 99), (0.2, 0.5, 4)]
)
def test_the_gamma_that_prevents_a_breach(rho1, rho2, gamma):
    """Catalogue 10-08; a gamma of 19 is an epsilon of 2.94444."""
    assert breach_gamma(rho1, rho2) == pytest.approx(gamma, abs=1e-4)
    assert posterior_bounds(gamma, rho1)[1] == pytest.approx(rho2, abs=1e-5)
    assert posterior_bounds(gamma, 1 - rho1)[0] == pytest.approx(1 - rho2, abs=1e-5)
    assert math.log(breach_gamma(0.05, 0.5)) == pytest.approx(2.94444, abs=1e-5)


@pytest.mark.parametrize(("before", "after"), [(0.01, 0.16102), (0.05, 0.5), (0.1, 0.67857), (0.2, 0.82609)])
def test_what_a_gamma_of_19_allows(before, after):
    assert posterior_bounds(19, before)[1] == pytest.approx(after, abs=1e-5)
    assert posterior_bounds(5.9801, 0.05)[1] == pytest.approx(0.23939, abs=1e-5)


@pytest.mark.parametrize(
    ("spread", "low", "high"), [(0.5, 0.33228, 0.60114), (0.25, 0.42799, 0.55614), (1, 0, 0.66879), (0, 0.5, 0.5)]
)
def test_the_range_of_the_randomized_matrix(spread, low, high):
    """Catalogue 10-22: a prior of .05, gamma = 19, n = 2000; the paper prints 33 to 60 %."""
    assert randomized_bounds(19, 2000, spread, 0.05) == pytest.approx((low, high), abs=1e-5 if spread else 1e-9)


def test_a_binary_symmetric_channel():
    """Aggarwal and Yu, section 4.3.1: .8 and .2, prior (.1, .9)."""
    after = posterior([0.1, 0.9], [[0.8, 0.2], [0.2, 0.8]])
    assert after[0, 0] == pytest.approx(0.307692, abs=1e-6)
    assert after.sum(axis=0) == pytest.approx(1)
    assert np.isnan(posterior([0.5, 0.5], [[1, 0], [1, 0]])[:, 1]).all(), "never published"


@settings(max_examples=80, deadline=None)
@given(size=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_no_property_moves_beyond_what_gamma_allows(size, seed):
    """Theorem 1 of PODS 2003, of every property and any prior; below the gamma of a pair there is no such breach."""
    rng = np.random.default_rng(seed)
    matrix, prior = rng.dirichlet(np.ones(size) * 5, size), rng.dirichlet(np.ones(size))
    gamma = amplification_of(matrix)
    properties = (np.arange(1, 2**size - 1)[:, None] >> np.arange(size)) % 2 == 1
    found = breaches(prior, matrix, properties, rho1=0.2, rho2=0.8)
    for before, low, high in zip(found.before, found.lowest, found.highest, strict=True):
        least, most = posterior_bounds(gamma, min(before, 1))
        assert least - 1e-9 <= low <= high <= most + 1e-9
    if gamma < breach_gamma(0.2, 0.8):
        assert not (found.upward | found.downward).any()
    # A downward breach of a property is an upward one of its complement.
    other = breaches(prior, matrix, ~properties, rho1=0.2, rho2=0.8)
    assert (found.downward == other.upward).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sanitizer", "epsilon"),
    [
        (RandomizedResponse(0.7), 6 * 0.7),
        (GammaDiagonal(2.0), 2.0),
        (GammaDiagonal(2.0, attributes="sex"), 2.0),
        (Mask(3.0), 3.0),
        (Mask(3.0, "sex, race"), 3.0),
        (LaplaceNoise(0.5, {"education-num": 15}), 2 * 0.5),
        (GeometricNoise(0.5, {"education-num": 15}), 2 * 0.5),
    ],
    ids=repr,
)
def test_the_logarithm_of_the_amplification_is_the_epsilon_that_is_promised(sanitizer, epsilon):
    """gamma = e^epsilon, of all columns of a record."""
    assert math.log(amplification(sanitizer.sanitize(ADULT, rng=1))) == pytest.approx(epsilon)
    promise = sanitizer.sanitize(ADULT.sample(50, rng=0), rng=None).provenance.promise
    assert promise.epsilon == pytest.approx(epsilon)


def test_what_has_no_epsilon_amplifies_without_bound():
    assert amplification(AdditiveNoise().sanitize(ADULT, rng=1)) == math.inf
    kept = RetentionReplacement(0.5).sanitize(ADULT, rng=1)
    sizes = [each.law.size for each in kept.columns.values() if each.law]
    assert amplification(kept) == pytest.approx(math.prod(1 + size for size in sizes))


def test_the_posteriors_of_a_release_are_those_of_its_matrices():
    release = Pram(0.6).sanitize(ADULT, rng=1)
    worst, mean = [], []
    for name in release.treated("noisy"):
        values = ADULT.schema[name].domain.values
        prior = np.bincount(ADULT.schema[name].domain.codes(ADULT.table[name]), minlength=len(values)) / len(ADULT)
        seen = np.bincount(ADULT.schema[name].domain.codes(release.table[name]), minlength=len(values))
        rare = (prior > 0) & (prior <= 0.05)
        if rare.any():
            after = np.nan_to_num(posterior(prior, release.columns[name].law.transition(len(values))))[rare].max(axis=0)
            worst.append(after[seen > 0].max())
            mean.append(after @ seen / seen.sum())
    assert upward_posterior(ADULT, release) == pytest.approx(max(worst))
    assert mean_upward_posterior(ADULT, release) == pytest.approx(np.mean(mean))


def test_more_noise_leaves_less_to_be_believed():
    weak, strong = (RandomizedResponse(epsilon).sanitize(ADULT, rng=1) for epsilon in (4, 0.5))
    for measured in (upward_posterior, mean_upward_posterior):
        assert measured(ADULT, strong) < measured(ADULT, weak)
    for measured in (downward_posterior, mean_downward_posterior):
        assert measured(ADULT, strong) > measured(ADULT, weak)
    assert upward_posterior(ADULT, strong) <= posterior_bounds(math.exp(0.5), 0.05)[1] + 1e-9
    assert downward_posterior(ADULT, strong) >= posterior_bounds(math.exp(0.5), 0.5)[0] - 1e-9


def test_cells_of_added_noise_are_weighed_by_their_law():
    noisy = AdditiveNoise(1e-4).sanitize(ADULT, rng=1)
    assert upward_posterior(ADULT, noisy) == pytest.approx(1), "without noise worth the name"
    blurred = LaplaceNoise(0.05).sanitize(ADULT, rng=1)
    assert mean_upward_posterior(ADULT, blurred) < 0.1
    # Nearly every cell tells its value, so that the mean is the share of records whose value is rare.
    columns = [ADULT.table[name] for name in noisy.treated("noisy")]
    rare = [column.map(column.value_counts(normalize=True)) <= 0.05 for column in columns]
    assert mean_upward_posterior(ADULT, noisy) == pytest.approx(np.mean(rare), abs=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: amplification(Identity().sanitize(ADULT, rng=1)),
            Unreadable,
            "adds no noise of a known law .* age is",
        ),
        (
            lambda: upward_posterior(ADULT, DataSwapping().sanitize(ADULT, rng=1)),
            Unreadable,
            "adds no noise of a known law",
        ),
        (
            lambda: downward_posterior(ADULT, LaplaceNoise(1).sanitize(ADULT, rng=1)),
            Unreadable,
            r"age, education-num, which have noise, hold no value that at least 0\.5 of the records have",
        ),
        (lambda: posterior([0.5, 0.4], np.eye(2)), ValueError, r"add up to 1, got 0\.9"),
        (lambda: posterior([0.5, 0.5], np.eye(3)), ValueError, "of 2 rows and columns"),
        (lambda: breaches([0.5, 0.5], np.eye(2), np.eye(2)), ValueError, "boolean array"),
        (lambda: breach_gamma(0.5, 0.5), ValueError, "rho1 must be below rho2"),
        (lambda: breach_gamma(0, 0.5), ValueError, "rho1"),
        (lambda: posterior_bounds(0.5, 0.5), ValueError, "gamma must be at least 1"),
        (lambda: posterior_bounds(2, 1.5), ValueError, "before must be a probability"),
        (lambda: randomized_bounds(19, 2, 2, 0.5), ValueError, "spread"),
        (lambda: randomized_bounds(19, 2, 1, 0.5), ValueError, "spread must leave probabilities"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_diagonal_matrix_allows_what_its_gamma_says():
    matrix = Diagonal.of_gamma(19, 20).transition(20)
    assert (
        posterior(np.full(20, 0.05), matrix).max() == pytest.approx(0.5) == pytest.approx(posterior_bounds(19, 0.05)[1])
    )
