"""Attacks that read one noisy column by itself: what the reconstructed distribution tells of each number."""

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import DistributionAnalysis, EmpiricalMap, GaussianMap
from privnb.attacks.recovery.by_distribution import (
    bound_originals,
    edges_of,
    likelihoods,
    posterior,
    reconstruct_shares,
)
from privnb.microdata.release import Published
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.microdata.treatment import Treatment, Unreadable
from privnb.sanitizers.noise.laws import Gaussian, Geometric, Response, Uniform
from privnb.sanitizers.noise.mechanisms import add_geometric_noise

SCHEMA = Schema("lots", (Attribute("lot", Role.QUASI_IDENTIFIER, Numbers(-2, 8, 0.1)),))
PLUS_MINUS_1 = Uniform(3**-0.5, 0.1)


def published(noisy, law, schema=SCHEMA):
    return Published(pd.DataFrame({"lot": noisy}), schema, {}, {"lot": Treatment("noisy", law)})


def two_boxes(n, rng):
    """Half of the numbers evenly in [0, 1], half in [5, 6]."""
    return np.round(rng.random(n) + 5 * (rng.random(n) < 0.5), 1)


def test_noise_and_an_empty_place_exclude_what_the_book_says():
    """Section 15.3.6: noise in [-1, 1] and y = 1 leave [0, 2]; density .5 on [0, 1] and [5, 6] shrinks it to [0, 1]."""
    edges = np.arange(-2, 9.0)
    likelihood = likelihoods(PLUS_MINUS_1.cumulative, np.array([1.0]), edges)
    assert np.ravel(bound_originals(likelihood, np.full(10, 0.1), edges, 0.01)).tolist() == [0, 2]
    shares = np.where((edges[:-1] == 0) | (edges[:-1] == 5), 0.5, 0)
    assert np.ravel(bound_originals(likelihood, shares, edges, 0.01)).tolist() == [0, 1]
    everywhere = likelihoods(PLUS_MINUS_1.cumulative, np.array([3.0]), edges)
    assert np.ravel(bound_originals(everywhere, shares, edges, 0.01)).tolist() == [-2, 8], "nothing explains it"


def test_distribution_analysis_finds_the_empty_place_by_itself():
    rng = np.random.default_rng(1)
    true = two_boxes(6_000, rng)
    noisy = true + rng.uniform(-1, 1, 6_000)
    attack = DistributionAnalysis().fit(published(noisy, PLUS_MINUS_1))
    guess = attack.predict(attack.published.table)[:, 0]
    assert np.sqrt(np.mean((guess - true) ** 2)) < 0.75 * np.sqrt(np.mean((noisy - true) ** 2))


def test_few_common_values_are_found_again():
    rng = np.random.default_rng(2)
    schema = Schema("lots", (Attribute("lot", Role.QUASI_IDENTIFIER, Numbers(0, 100)),))
    true = rng.choice([10.0, 50.0, 90.0], 4_000, p=[0.6, 0.3, 0.1])
    noisy = true + rng.normal(0, 12, 4_000)
    release = published(noisy, Gaussian(12, 1), schema)
    guess = EmpiricalMap().fit(release).predict(release.table)[:, 0]
    assert np.mean(np.abs(guess - true) <= 3) > 0.85
    assert np.mean(np.abs(noisy - true) <= 3) < 0.25
    supposing_a_bell = GaussianMap().fit(release).predict(release.table)[:, 0]
    assert np.mean(np.abs(supposing_a_bell - true) <= 3) < 0.5
    assert np.mean((guess - true) ** 2) < np.mean((supposing_a_bell - true) ** 2)


def test_noise_in_whole_steps_is_read_in_whole_steps():
    rng = np.random.default_rng(3)
    schema = Schema("lots", (Attribute("lot", Role.QUASI_IDENTIFIER, Numbers(0, 30)),))
    true = rng.choice([5, 25], 3_000)
    noisy = add_geometric_noise(true, 3.0, rng=rng)
    release = published(noisy, Geometric(3.0, 1), schema)
    guess = EmpiricalMap().fit(release).predict(release.table)[:, 0]
    assert np.mean(np.abs(guess - true) <= 1) > 0.95
    assert set(guess % 1) == {0.0}


def test_the_reconstructed_shares_explain_the_noisy_numbers():
    rng = np.random.default_rng(4)
    true = two_boxes(20_000, rng)
    edges = np.linspace(-2, 8, 21)
    shares = reconstruct_shares(likelihoods(PLUS_MINUS_1.cumulative, true + rng.uniform(-1, 1, 20_000), edges))
    assert shares.sum() == pytest.approx(1)
    own = np.histogram(true + 1e-9, edges)[0] / len(true)
    assert np.abs(shares - own).sum() / 2 < 0.1


def test_a_posterior_is_bayes_rule():
    likelihood, shares = np.array([[0.2, 0.1], [0.0, 0.0]]), np.array([0.25, 0.75])
    np.testing.assert_allclose(posterior(likelihood, shares), [[0.4, 0.6], [0.25, 0.75]])


@pytest.mark.parametrize(("domain", "bins"), [(Numbers(0, 9), 10), (Numbers(0, 10_000), 200)])
def test_a_wide_domain_has_few_bins(domain, bins):
    edges = edges_of(domain)
    assert (len(edges) - 1, edges[0], edges[-1]) == (bins, -0.5, domain.high + 0.5)


def test_a_law_that_says_nothing_of_its_noise_is_refused():
    release = published(np.ones(20), Response(1.0, 5))
    for attack in (EmpiricalMap(), GaussianMap()):
        with pytest.raises(Unreadable, match="has no closed form of"):
            attack.fit(release)


def test_what_counts_as_empty_is_a_share():
    with pytest.raises(ValueError, match="empty must be a share above 0"):
        DistributionAnalysis(0)
