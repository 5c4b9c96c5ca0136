"""Brickell and Shmatikov's gains: a worked example, their printed numbers, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privnb.dataset import load
from privnb.measures import gains
from privnb.sanitizers import Identity, LaplaceNoise, Suppress

COUNTS = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 20)).filter(
    lambda counts: (counts.sum(axis=1) > 0).all()
)


@pytest.fixture(scope="module")
def occupation():
    return load("adult", "occupation")


def test_worked_example():
    """Two classes of four: (3, 1) and (1, 3). Prior 1/2; guesses right 6/8; each class lies 1/4 from the whole."""
    counts = np.array([[3, 1], [1, 3]])
    assert gains.prior_accuracy(counts) == 0.5
    assert gains.accuracy_gain(counts) == 0.25
    assert gains.knowledge_gain(counts) == 0.25


def test_intact_row_of_table_3(occupation):
    counts = gains.class_counts(Identity().sanitize(occupation, rng=0), "occupation")
    assert counts.shape == (561, 14)
    assert f"{gains.accuracy_gain(counts):.4f}" == "0.1034"
    assert f"{gains.knowledge_gain(counts):.4f}" == "0.2492"


@pytest.mark.parametrize("what", ["quasi-identifiers", "sensitive"])
def test_suppressed_row_of_table_3(occupation, what):
    counts = gains.class_counts(Suppress(what).sanitize(occupation, rng=0), "occupation")
    assert gains.accuracy_gain(counts) == 0
    assert gains.knowledge_gain(counts) == 0


def test_baselines_of_figures_2_and_1(occupation):
    counts = gains.class_counts(Suppress().sanitize(occupation, rng=0), "occupation")
    assert f"{100 * gains.prior_accuracy(counts):.2f}" == "13.31"
    marital = load("adult", "marital")
    counts = gains.class_counts(Suppress().sanitize(marital, rng=0), "marital-status")
    assert f"{100 * gains.prior_accuracy(counts):.2f}" == "46.56"


@given(COUNTS)
def test_bounds(counts):
    accuracy, knowledge = gains.accuracy_gain(counts), gains.knowledge_gain(counts)
    assert -1e-12 <= accuracy <= 1
    assert 0 <= knowledge <= 1


@given(COUNTS)
def test_merging_classes_never_helps_the_adversary(counts):
    merged = np.vstack([counts[:-2], counts[-2:].sum(axis=0)])
    assert gains.accuracy_gain(merged) <= gains.accuracy_gain(counts) + 1e-12
    assert gains.knowledge_gain(merged) <= gains.knowledge_gain(counts) + 1e-12


def test_chance_alone_gives_small_classes_a_gain(occupation):
    sample = occupation.sample(2000, rng=1)
    release = Identity().sanitize(sample, rng=0)
    accuracy, knowledge = gains.gains_by_chance(release, "occupation", rng=1)
    counts = gains.class_counts(release, "occupation")
    assert 0 < accuracy < gains.accuracy_gain(counts)
    assert 0 < knowledge < gains.knowledge_gain(counts)


def test_noise_has_no_classes():
    sample = load("adult", "sramka", records=100)
    with pytest.raises(ValueError, match="noise leaves no equivalence classes"):
        gains.class_counts(LaplaceNoise(1.0).sanitize(sample, rng=0), "salary")
