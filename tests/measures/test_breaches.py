"""Amplification, and what noisy cells make an adversary believe."""

import math

import numpy as np
import pytest

from privnb.datasets.dataset import load
from privnb.measures.noise.breaches import (
    amplification,
    downward_posterior,
    mean_downward_posterior,
    mean_upward_posterior,
    upward_posterior,
)
from privnb.measures.noise.matrices import amplification_of
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import (
    MASK,
    PRAM,
    AdditiveNoise,
    DataSwapping,
    GammaDiagonal,
    GeometricNoise,
    Identity,
    LaplaceNoise,
    RandomizedResponse,
    RetentionReplacement,
)
from privnb.sanitizers.noise.laws import Diagonal

ADULT = load("adult", records=3000)


def operators():
    """Evfimievski, Gehrke, Srikant, PODS 2003, section 1: three ways to randomize a number from 0 to 1000."""
    size = 1001
    first = np.full((size, size), 0.8 / 1000)
    np.fill_diagonal(first, 0.2)
    place = (np.arange(size)[None, :] - np.arange(size)[:, None]) % size
    second = np.where((place <= 100) | (place >= size - 100), 1 / 201, 0)
    return first, second, second / 2 + 0.5 / size


def posterior(prior, matrix):
    """How likely each true value (row) is once each published one (column) is seen, by Bayes' rule."""
    joint = np.asarray(prior)[:, None] * matrix
    with np.errstate(invalid="ignore"):
        return joint / joint.sum(axis=0)


def highest(gamma, before):
    """The highest posterior that an amplification allows: Evfimievski et al., PODS 2003, theorem 1."""
    return gamma * before / (1 - before + gamma * before)


@pytest.mark.parametrize(("number", "gamma"), [(0, 250), (1, math.inf), (2, 5.9801)])
def test_the_amplification_of_three_operators(number, gamma):
    """Catalogue 10-06."""
    assert amplification_of(operators()[number]) == pytest.approx(gamma, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sanitizer", "epsilon"),
    [
        (RandomizedResponse(0.7), 6 * 0.7),
        (GammaDiagonal(2.0), 2.0),
        (GammaDiagonal(2.0, attributes="sex"), 2.0),
        (MASK(3.0), 3.0),
        (MASK(3.0, "sex, race"), 3.0),
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
    release = PRAM(0.6).sanitize(ADULT, rng=1)
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
    assert upward_posterior(ADULT, strong) <= highest(math.exp(0.5), 0.05) + 1e-9
    assert downward_posterior(ADULT, strong) >= 1 - highest(math.exp(0.5), 0.5) - 1e-9


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
            "no column with noise of a public law.* age is",
        ),
        (
            lambda: upward_posterior(ADULT, DataSwapping().sanitize(ADULT, rng=1)),
            Unreadable,
            "no column with noise of a public law",
        ),
        (
            lambda: downward_posterior(ADULT, LaplaceNoise(1).sanitize(ADULT, rng=1)),
            Unreadable,
            r"the noisy columns, age, education-num, have no value of at least the share 0\.5 of the records",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_diagonal_matrix_allows_what_its_gamma_says():
    matrix = Diagonal.of_gamma(19, 20).transition(20)
    assert posterior(np.full(20, 0.05), matrix).max() == pytest.approx(0.5) == pytest.approx(highest(19, 0.05))
