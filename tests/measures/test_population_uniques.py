"""Estimators of uniqueness in a population: their own models drawn at random, closed forms, and a practice guide."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, nbinom

from privnb.measures.disclosure.copula_uniqueness import (
    GaussianCopula,
    copula_uniqueness,
    cut_shares,
    fit_copula,
    likelihood_of_uniqueness,
)
from privnb.measures.disclosure.dependence import strongest_tree
from privnb.measures.disclosure.individual_risk import global_risk, individual_risk
from privnb.measures.disclosure.poisson_uniqueness import cell_shares, poisson_uniqueness
from privnb.measures.disclosure.population_uniques import (
    estimate_class_number,
    expect_small_classes,
    fit_pitman,
    negative_binomial_uniqueness,
    pitman_uniqueness,
    zayatz_uniqueness,
)
from privnb.measures.disclosure.reidentification_risks import reidentification_risks

OF_SIZES = (zayatz_uniqueness, pitman_uniqueness, negative_binomial_uniqueness)


def draw_sample(sizes, fraction, seed=1):
    """Return the class sizes of a simple random sample of a population with these class sizes."""
    people = np.repeat(np.arange(len(sizes)), sizes)
    chosen = np.random.default_rng(seed).choice(people, round(fraction * len(people)), replace=False)
    return np.unique(chosen, return_counts=True)[1]


def draw_pitman(people, theta, alpha, seed=1):
    """Return the class sizes of a population drawn by Pitman's rule, one person after the other."""
    rng, sizes, classes = np.random.default_rng(seed), [], []
    for i in range(people):
        if rng.random() < (theta + len(sizes) * alpha) / (theta + i):
            classes.append(len(sizes))
            sizes.append(1)
            continue
        while True:  # a class of j people with a probability proportional to j - alpha
            own = classes[rng.integers(i)]
            if rng.random() < 1 - alpha / sizes[own]:
                break
        classes.append(own)
        sizes[own] += 1
    return np.array(sizes)


def share(sizes):
    return (sizes == 1).sum() / sizes.sum()


@pytest.mark.parametrize(("theta", "alpha"), [(200, 0.6), (50, 0.8), (500, 0.3)])
def test_pitmans_population_is_estimated_by_his_formula(theta, alpha):
    population = draw_pitman(20_000, theta, alpha)
    found = fit_pitman(population)
    assert found[1] == pytest.approx(alpha, abs=0.05)
    assert pitman_uniqueness(draw_sample(population, 0.1), 0.1) == pytest.approx(share(population), rel=0.25)


def test_the_expected_share_is_the_product_over_the_people_who_come_later():
    sizes = np.array([1] * 30 + [2] * 8 + [4] * 5)
    theta, alpha = fit_pitman(sizes)
    later = np.arange(1, 10 * sizes.sum())
    assert pitman_uniqueness(sizes, 0.1) == pytest.approx(np.prod((theta + alpha + later - 1) / (theta + later)))


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.2), (2.0, 0.5)])
def test_a_slide_negative_binomial_population_is_estimated_by_it(alpha, beta):
    population = 1 + nbinom(alpha, beta).rvs(20_000, random_state=1)
    sample = draw_sample(population, 0.3)
    expected = 20_000 * expect_small_classes(alpha, beta, 0.3)
    assert [(sample == 1).sum(), (sample == 2).sum()] == pytest.approx(expected, rel=0.05)
    assert estimate_class_number(sample, 0.3) == pytest.approx(20_000, rel=0.15)
    assert negative_binomial_uniqueness(sample, 0.3) == pytest.approx(share(population), abs=0.05)


def test_probabilities_of_small_classes_are_sums_over_the_law():
    alpha, beta, f = 0.7, 0.3, 0.2
    size = np.arange(1, 400)
    chance = nbinom(alpha, beta).pmf(size - 1)
    one = (chance * size * f * (1 - f) ** (size - 1)).sum()
    two = (chance * size * (size - 1) / 2 * f**2 * (1 - f) ** (size - 2.0)).sum()
    assert expect_small_classes(alpha, beta, f) == pytest.approx([one, two])


def test_zayatz_is_exact_if_the_classes_of_the_sample_are_those_of_the_population():
    """By hand: two classes of one person and one of two, n = 4 of N = 8."""
    h = {1: 1 / 2, 2: 2 * 20 / 70}
    assert zayatz_uniqueness([1, 1, 2], 0.5) == pytest.approx(2**2 / (2 * h[1] + h[2]) / 8)


@pytest.mark.parametrize("estimate", OF_SIZES)
def test_a_census_and_a_sample_without_uniques_are_exact(estimate):
    assert estimate([2, 3], 0.1) == 0
    assert estimate([1] * 5, 1.0) == pytest.approx(1)
    sizes = np.array([1] * 40 + [2] * 20 + [3] * 10)
    assert 0 <= estimate(sizes, 0.01) <= 1
    if estimate is not pitman_uniqueness:  # which expects the share of a population, and does not count it
        assert estimate(sizes, 1.0) == pytest.approx(share(sizes))


@pytest.mark.parametrize("estimate", OF_SIZES)
@pytest.mark.parametrize(("sizes", "fraction"), [([0, 1], 0.5), ([], 0.5), ([1.5], 0.5), ([1], 0), ([1], 2), ("x", 1)])
def test_what_is_no_sample_is_refused(estimate, sizes, fraction):
    with pytest.raises(ValueError, match="must be"):
        estimate(sizes, fraction)


def independent(n, seed=1):
    """Return four columns of n people without dependence, and the probability of each person's cell."""
    rng = np.random.default_rng(seed)
    shares = [rng.dirichlet(np.ones(width)) for width in (9, 6, 8, 5)]
    columns = [rng.choice(len(each), n, p=each) for each in shares]
    return columns, np.prod([each[codes] for each, codes in zip(shares, columns, strict=True)], axis=0)


@pytest.mark.parametrize("estimate", [poisson_uniqueness, copula_uniqueness])
def test_a_population_of_independent_columns_is_estimated_from_a_twentieth(estimate):
    columns, _ = independent(20_000)
    place = np.ravel_multi_index(columns, [9, 6, 8, 5])
    truth = (np.bincount(place) == 1).sum() / 20_000
    chosen = np.random.default_rng(2).choice(20_000, 1000, replace=False)
    assert estimate([codes[chosen] for codes in columns], 0.05) == pytest.approx(truth, rel=0.5, abs=0.004)


def test_rows_with_multiplicities_are_those_of_the_records():
    columns, _ = independent(200)
    times = np.random.default_rng(3).integers(1, 3, 200)
    records = [np.repeat(codes, times) for codes in columns]
    assert poisson_uniqueness(columns, 0.1, times) == pytest.approx(poisson_uniqueness(records, 0.1))
    assert copula_uniqueness(columns, 0.1, times) == pytest.approx(copula_uniqueness(records, 0.1))


def test_the_log_linear_model_keeps_the_pairs_of_its_tree():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 4, 5000)
    columns = [first, (first + (rng.random(5000) < 0.2)) % 4, rng.integers(0, 3, 5000)]
    cells = np.stack(np.meshgrid(range(4), range(4), range(3), indexing="ij"), -1).reshape(-1, 3).T
    everywhere = cell_shares([np.append(codes, own) for codes, own in zip(columns, cells, strict=True)])[5000:]
    assert everywhere.sum() == pytest.approx(1)
    pair = np.bincount(np.append(columns[0], cells[0]) * 4 + np.append(columns[1], cells[1]), minlength=16) / 5048
    assert everywhere.reshape(16, 3).sum(axis=1) == pytest.approx(pair)
    assert strongest_tree(np.zeros((2, 2))) == [(0, None), (1, None)]


def correlated(correlation):
    """Return a copula of three attributes of 2, 3 and 4 values."""
    shares = [np.array([0.6, 0.4]), np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])]
    from scipy.special import ndtri

    edges = [ndtri(np.concatenate([[0], np.cumsum(each[:-1]), [1]])) for each in shares]
    return GaussianCopula([np.arange(len(each)) for each in shares], edges, correlation)


def test_a_copula_is_fitted_to_its_own_draws_and_its_cells_have_the_normal_probability():
    true = np.array([[1, 0.5, 0.2], [0.5, 1, 0.6], [0.2, 0.6, 1]])
    copula = correlated(true)
    drawn = copula.draw(100_000, np.random.default_rng(1))
    assert fit_copula(drawn).correlation == pytest.approx(true, abs=0.04)
    cells = [np.array([0, 1, 1]), np.array([0, 2, 1]), np.array([0, 3, 1])]
    law = multivariate_normal(np.zeros(3), true)
    ends = [[copula.edges[c][codes + side] for c, codes in enumerate(cells)] for side in (0, 1)]
    exact = [law.cdf(np.array(ends[1])[:, i], lower_limit=np.array(ends[0])[:, i]) for i in range(3)]
    found = copula.cell_probabilities(cells, np.random.default_rng(1), draws=4000)
    assert found == pytest.approx(exact, rel=0.03)
    likelihood = likelihood_of_uniqueness(copula, cells, 10)
    assert likelihood == pytest.approx((1 - np.array(exact)) ** 9, rel=0.2)


def test_cut_shares_are_those_of_the_normal_distribution():
    first, second = np.array([-np.inf, -1, 0.5, np.inf]), np.array([-np.inf, 0.2, np.inf])
    law = multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]])
    exact = [
        law.cdf([first[i + 1], second[j + 1]], lower_limit=[first[i], second[j]]) for i in range(3) for j in range(2)
    ]
    assert cut_shares(first, second, 0.8).ravel() == pytest.approx(exact, abs=1e-6)


def test_too_large_a_population_is_refused():
    with pytest.raises(ValueError, match="likelihood_of_uniqueness"):
        copula_uniqueness([np.arange(100) % 7], 1e-6)


def test_the_global_risk_is_that_of_the_practice_guide():
    """Ten records of the World Bank's guide: sample and population frequencies, individual risks, and their mean."""
    f = [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    whole = [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    risks = individual_risk(f, whole)
    printed = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert risks == pytest.approx(printed, abs=2e-4)  # the guide computes some by an approximation
    found = global_risk(risks)
    assert found.share == pytest.approx(0.01582, abs=5e-5)
    assert found.expected == pytest.approx(10 * found.share)


def test_prosecutor_journalist_and_marketer_are_those_of_their_definitions():
    f, whole = np.array([1, 2, 5]), np.array([4, 10, 6])
    found = reidentification_risks(f, whole, cap=0.2)
    assert found.prosecutor == pytest.approx((3 / 8, 1, 3 / 8))
    linked = (1 / 4 + 2 / 10 + 5 / 6) / 8
    assert found.journalist == pytest.approx((1 / 8, 1 / 4, max(3 / 20, linked)))
    assert found.marketer == pytest.approx(linked)
    census = reidentification_risks(f)
    assert census.prosecutor == census.journalist
    assert census.marketer == pytest.approx(3 / 8)


@pytest.mark.parametrize(("f", "whole"), [([0], None), ([], None), ([2], [1]), ([1, 1], [3])])
def test_what_is_no_class_is_refused(f, whole):
    with pytest.raises(ValueError, match="must hold"):
        reidentification_risks(f, whole)
