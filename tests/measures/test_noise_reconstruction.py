"""Distributions behind noise: known mixtures come back, and cells as they are tell less."""

import numpy as np
import pytest

from privnb.datasets.dataset import load
from privnb.measures.noise.noise_reconstruction import (
    bayes_stopping_rule,
    list_intervals,
    reconstruct_distribution,
    true_distribution,
)
from privnb.microdata.schema import Attribute, Categories, Numbers, Role
from privnb.microdata.treatment import Law, Unreadable
from privnb.sanitizers import (
    PRAM,
    AdditiveNoise,
    GeometricNoise,
    LaplaceNoise,
    RandomizedResponse,
    RetentionReplacement,
)
from privnb.sanitizers.noise.laws import Gaussian, Response, Uniform

UNIT = Attribute("x", Role.QUASI_IDENTIFIER, Numbers(0, 5, 0.01))
TOWN = Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c")))


def loss(found, true):
    """Agrawal and Aggarwal 2001, definition 3: half the absolute difference of two distributions, 0 to 1."""
    return np.abs(found.shares - true.shares).sum() / 2


def place(found, position):
    """The interval that a position of the domain is in."""
    return np.searchsorted(found.starts, position, side="right") - 1


def mixture(records, seed=0):
    """Aggarwal and Yu, example 6.4: half on [0, 1], half on [4, 5], with uniform noise on [-1, 1]."""
    rng = np.random.default_rng(seed)
    true = np.round(rng.random(records) + 4 * (rng.random(records) < 0.5), 2)
    return true, true + rng.uniform(-1, 1, records), Uniform(3**-0.5, 0.01)


@pytest.mark.parametrize("way", ["em", "bayes"])
def test_a_mixture_comes_back_the_better_the_more_records_there_are(way):
    losses = []
    for records in (1000, 10_000, 100_000):
        true, noisy, law = mixture(records)
        found = reconstruct_distribution(noisy, law, UNIT, way=way, bins=20)
        assert found.shares.sum() == pytest.approx(1)
        assert (found.shares >= 0).all()
        losses.append(loss(found, true_distribution(true, UNIT, bins=20)))
    naive = loss(true_distribution(noisy, UNIT, bins=20), true_distribution(true, UNIT, bins=20))
    assert losses[2] < losses[0] / 1.5
    assert losses[2] < naive / 3


def test_nothing_is_in_the_gap_that_noise_cannot_bridge():
    """A z of -.5 comes from [0, .5], one of 2 or less from [0, 1]: the middle of the domain is nobody's."""
    true, noisy, law = mixture(20_000)
    found = reconstruct_distribution(noisy, law, UNIT, bins=20)
    assert found.shares[place(found, 100) + 1 : place(found, 400)].sum() < 0.06
    assert (true < 1.01).mean() == pytest.approx(found.shares[: place(found, 100) + 1].sum(), abs=0.03)


def test_without_noise_worth_the_name_the_shares_are_the_cells():
    true, _, _ = mixture(5000)
    found = reconstruct_distribution(true, Gaussian(1e-6, 0.01), UNIT, bins=50)
    assert found.shares == pytest.approx(true_distribution(true, UNIT, bins=50).shares, abs=1e-6)


def test_when_agrawal_and_srikant_stop():
    """1 % of the 95 % threshold of chi-square, 30.14 of 19 degrees of freedom."""
    ended, even = bayes_stopping_rule(1000, 20), np.full(20, 0.05)
    apart = np.zeros(20)
    apart[:2] = (0.30 * 0.05 / 2 / 1000) ** 0.5 * np.array([1, -1])
    assert ended(even + apart * 0.99, even)
    assert not ended(even + apart * 1.01, even)


@pytest.mark.parametrize(
    "sanitizer",
    [
        AdditiveNoise(0.25), AdditiveNoise(0.25, "uniform"), LaplaceNoise(4), GeometricNoise(4),
        RetentionReplacement(0.3), RandomizedResponse(1), PRAM(0.4),
    ],
    ids=repr,
)  # fmt: skip
def test_reconstruction_beats_the_cells_as_they_are(sanitizer):
    adult = load("adult", records=20_000)
    release = sanitizer.sanitize(adult, rng=1)
    for name in ("age", "marital-status"):
        if name not in release.treated("noisy"):
            continue
        attribute, law = adult.schema[name], release.columns[name].law
        true = true_distribution(adult.table[name], attribute)
        naive = loss(true_distribution(release.table[name], attribute), true)
        found = loss(reconstruct_distribution(release.table[name], law, attribute), true)
        assert found < naive / 2, name


def test_categories_come_back_by_iteration():
    rng, law = np.random.default_rng(0), Response(1.0, 3)
    true = rng.choice(3, 50_000, p=[0.7, 0.2, 0.1])
    noisy = np.array(TOWN.domain.values)[
        np.where(rng.random(50_000) < law.true, true, (true + rng.integers(1, 3, 50_000)) % 3)
    ]
    for way in ("em", "bayes"):
        found = reconstruct_distribution(noisy, law, TOWN, way=way)
        assert found.shares == pytest.approx([0.7, 0.2, 0.1], abs=0.02), way
        assert found.starts.tolist() == [0, 1, 2, 3]


def test_intervals_hold_equally_many_steps():
    assert list_intervals(TOWN).tolist() == [0, 1, 2, 3]
    assert list_intervals(UNIT, 10).tolist() == [0, 51, 102, 153, 204, 255, 306, 357, 408, 459, 501]
    ages = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99))
    assert len(list_intervals(ages)) == 84
    assert true_distribution([17, 17, 99, 200], ages).shares[[0, -1]].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: reconstruct_distribution([1.0], Law(), UNIT),
            Unreadable,
            "no closed form of the probability that one value becomes",
        ),
        (lambda: reconstruct_distribution([], Gaussian(1, 0.01), UNIT), ValueError, "at least one value"),
        (lambda: reconstruct_distribution([1.0], Gaussian(1, 0.01), UNIT, way="guess"), ValueError, "way must be"),
        (lambda: reconstruct_distribution([1.0], Gaussian(1, 0.01), UNIT, bins=1), ValueError, "bins"),
        (
            lambda: reconstruct_distribution([99.0], Uniform(1, 0.01), UNIT),
            ValueError,
            "got cells that no value can become",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
