"""The filters on made-up records whose answer is known: what the theory predicts, and what they cannot do.

The generator: 20,000 Gaussian records of m = 50 attributes, covariance Q diag(5 x 400, 45 x 1) Q', noise of variance
25. Errors are mean squared errors per cell.
"""

import numpy as np
import pytest

from privnb.attacks.algorithms.noise_filters import (
    gaussian_filter,
    gaussian_posterior,
    moments,
    noise_bounds,
    pca_filter,
    spectral_filter,
    svd_filter,
)

N, M, VARIANCE = 20_000, 50, 25.0
STRENGTHS = np.repeat([400.0, 1.0], [5, 45])
BETA = 1250 / 2045  # noise of covariance BETA times the records' has the power of white noise of variance 25


def made(records, strengths, rng):
    """Gaussian records, and their covariance's root."""
    turn = np.linalg.qr(rng.normal(size=(len(strengths), len(strengths))))[0]
    root = np.sqrt(strengths)[:, None] * turn.T
    return rng.normal(size=(records, len(strengths))) @ root, root


@pytest.fixture(scope="module")
def white():
    rng = np.random.default_rng(1)
    records, _ = made(N, STRENGTHS, rng)
    return records, records + rng.normal(0, VARIANCE**0.5, records.shape)


@pytest.fixture(scope="module")
def coloured():
    rng = np.random.default_rng(2)
    records, root = made(N, STRENGTHS, rng)
    return records, records + BETA**0.5 * rng.normal(size=records.shape) @ root, BETA * root.T @ root


def error(pair, filter):
    records, released = pair[:2]
    mean = released.mean(axis=0)
    return np.mean((mean + (released - mean) @ filter - records) ** 2)


def filters(released, noise):
    covariance = moments(released)[1]
    return {
        "spectral": spectral_filter(covariance, noise, len(released)),
        "svd": svd_filter(covariance, noise),
        "pca": pca_filter(covariance, noise, 0.95),
        "map": gaussian_filter(covariance, noise),
    }


def kept(filter):
    """Of a projection: onto how many directions."""
    return round(np.trace(filter))


def test_white_noise_comes_off_as_far_as_the_theory_says(white):
    """Huang, Du, Chen 2005: of the noise 5 of 50 directions stay, and of the records 45 of variance 1 are lost; the
    posterior variance of each direction is lambda 25 / (lambda + 25).
    """
    made = filters(white[1], VARIANCE * np.eye(M))
    assert error(white, np.eye(M)) == pytest.approx(25, rel=0.03)
    assert (kept(made["pca"]), kept(made["svd"])) == (5, 5)
    theory = 25 * 5 / 50 + 45 / 50
    assert theory == pytest.approx(3.400)
    assert error(white, made["pca"]) == pytest.approx(theory, rel=0.03)
    assert error(white, made["svd"]) == pytest.approx(theory, rel=0.03)
    posterior = np.mean(STRENGTHS * VARIANCE / (STRENGTHS + VARIANCE))
    assert posterior == pytest.approx(3.218, abs=5e-4)
    assert error(white, made["map"]) == pytest.approx(posterior, rel=0.03)


def test_the_spectrum_keeps_each_direction_that_varies_more_than_noise_can(white):
    """So many records tell a variance of 26 from one of 25 in some directions, which it keeps, noise and all."""
    covariance, noise = moments(white[1])[1], VARIANCE * np.eye(M)
    filter = spectral_filter(covariance, noise, N)
    more = np.sum(np.linalg.eigvalsh(covariance) > noise_bounds(VARIANCE, N / M)[1])
    assert kept(filter) == more >= 5
    on_average = 25 * more / 50 + (50 - more) / 50
    assert on_average < error(white, filter) < 1.05 * on_average, "these directions are kept for their loud noise"


def test_noise_that_goes_together_as_the_columns_do_stays(coloured):
    """The control: whoever knows its covariance only shrinks all numbers by 1 / (1 + beta)."""
    _, released, noise = coloured
    assert np.mean(np.diag(noise)) == pytest.approx(VARIANCE)
    theory = BETA / (1 + BETA) * STRENGTHS.mean()
    assert theory == pytest.approx(15.52, abs=5e-3)
    knowing, supposing = filters(released, noise), filters(released, np.diag(np.diag(noise)))
    assert error(coloured, knowing["map"]) == pytest.approx(theory, rel=0.03)
    for filter in (*knowing.values(), *supposing.values(), *filters(released, VARIANCE * np.eye(M)).values()):
        assert error(coloured, filter) > 0.97 * theory
    np.testing.assert_allclose(knowing["map"], np.eye(M) / (1 + BETA), atol=0.1)


def test_where_columns_do_not_go_together_nothing_comes_off():
    rng = np.random.default_rng(3)
    records = 5 * rng.normal(size=(5_000, 6))
    pair = records, records + 5 * rng.normal(size=records.shape)
    made = filters(pair[1], VARIANCE * np.eye(6))
    assert error(pair, made["pca"]) == pytest.approx(25, rel=0.1)
    assert error(pair, made["map"]) == pytest.approx(12.5, rel=0.03), "each number is shrunk by itself"


def test_three_components_of_twenty():
    """Aggarwal and Yu 2008, 15.3.4: records of rank 3 (standard deviations 10, 7, 5) and noise of variance 1, of which
    3 / 20 stays.

    """
    rng = np.random.default_rng(4)
    records, _ = made(5_000, np.array([100.0, 49, 25] + [0] * 17), rng)
    pair = records, records + rng.normal(size=records.shape)
    made_of = filters(pair[1], np.eye(20))
    assert [kept(made_of[name]) for name in ("spectral", "svd", "pca")] == [3, 3, 3]
    for name in ("spectral", "svd", "pca"):
        assert error(pair, made_of[name]) == pytest.approx(0.15, rel=0.03)
    assert noise_bounds(1, 5_000 / 20)[1] == pytest.approx(1.1305, abs=5e-5)


@pytest.mark.parametrize(
    ("variance", "ratio", "low", "high"), [(1, 4, 0.25, 2.25), (1, 100, 0.81, 1.21), (0.25, 25, 0.16, 0.36)]
)
def test_the_bounds_of_noise(variance, ratio, low, high):
    assert noise_bounds(variance, ratio) == pytest.approx((low, high))


def test_the_bounds_hold_what_noise_does():
    noise = np.random.default_rng(5).normal(size=(20_000, 50))
    low, high = noise_bounds(1, 400)
    found = np.linalg.eigvalsh(moments(noise)[1])
    assert low - 0.02 < found.min() < found.max() < high + 0.02


def test_the_posterior_of_a_gaussian():
    """Aggarwal and Yu 2008, 15.3.5, in one and two dimensions."""
    weight, _ = gaussian_posterior(np.array([[4.0]]), np.array([[1.0]]))
    assert 10 + (15 - 10) * weight[0, 0] == pytest.approx(14)
    weights, left = gaussian_posterior(np.array([[2.0, 1], [1, 2]]), np.eye(2))
    np.testing.assert_allclose(np.array([3, 0]) @ weights, [1.875, 0.375])
    np.testing.assert_allclose(left, [[0.625, 0.125], [0.125, 0.625]])


def test_without_a_prior_the_likeliest_is_what_was_released():
    weights, _ = gaussian_posterior(1e9 * np.eye(2), np.array([[1.0, 0.5], [0.5, 1]]))
    np.testing.assert_allclose(weights, np.eye(2), atol=1e-6)


@pytest.mark.parametrize("name", ["spectral", "svd", "pca", "map"])
def test_units_of_columns_do_not_matter(name, white):
    """Income in cents is attacked as income in euros is."""
    units = np.repeat([1.0, 1000.0], 25)
    own = filters(white[1], VARIANCE * np.eye(M))[name]
    other = filters(white[1] * units, VARIANCE * np.diag(units**2))[name]
    np.testing.assert_allclose(units[:, None] * other / units, own, atol=1e-6)


def test_a_column_that_is_the_sum_of_others_makes_no_trouble():
    rng = np.random.default_rng(6)
    records = rng.normal(size=(2_000, 3))
    records = np.column_stack([records, records.sum(axis=1), np.full(2_000, 7.0)])
    root = np.column_stack([np.eye(3), np.ones(3), np.zeros(3)])
    singular = 0.5 * root.T @ root
    pair = records, records + 0.5**0.5 * rng.normal(size=(2_000, 3)) @ root
    best = gaussian_filter(moments(pair[1])[1], singular + 1e-9 * np.eye(5))
    assert np.isfinite(best).all()
    assert error(pair, best) < error(pair, np.eye(5))
    weights, left = gaussian_posterior(np.zeros((5, 5)), singular)
    assert not weights.any()
    assert not left.any()


def test_a_column_without_noise_is_refused():
    with pytest.raises(ValueError, match="must have a variance above 0"):
        svd_filter(np.eye(2), np.diag([1.0, 0]))


def test_one_record_does_not_vary():
    with pytest.raises(ValueError, match="at least 2 records; got 1"):
        moments(np.ones((1, 3)))


def test_where_all_is_noise_the_mean_is_guessed():
    covariance = np.diag([0.9, 1.0])
    for filter in (
        spectral_filter(covariance, np.eye(2), 100),
        svd_filter(covariance, np.eye(2)),
        pca_filter(covariance, np.eye(2), 0.95),
        gaussian_filter(covariance, np.eye(2)),
    ):
        np.testing.assert_allclose(filter, 0, atol=1e-12)
