"""What undoes a secret matrix, on arrays: the book's oracles, closed forms against draws, and what cannot be undone."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ortho_group

from privnb.attacks.algorithms import unmixing
from privnb.attacks.algorithms.unmixing import fit_map, match_axes, undo_projection, undo_rotation


def records(n, d, rng):
    """Skewed, uneven numbers that go together."""
    return rng.gamma(np.arange(1, d + 1), size=(n, d)) * np.linspace(1, 3, d) @ rng.normal(size=(d, d))


def rotation(d, seed):
    return ortho_group.rvs(d, random_state=seed)


# Known pairs of a rotation (15-08).


@pytest.mark.parametrize("d", [2, 3, 6])
def test_as_many_independent_pairs_as_numbers_give_a_rotation_away(d):
    rng = np.random.default_rng(1)
    originals, turn = records(200, d, rng), rotation(d, d)
    released = originals @ turn
    found = undo_rotation(originals[:d], released[:d], rng)
    np.testing.assert_allclose(found(released), originals, atol=1e-9)
    if d > 2:
        fewer = undo_rotation(originals[: d - 2], released[: d - 2], rng)
        np.testing.assert_allclose(fewer(released[: d - 2]), originals[: d - 2], atol=1e-9, err_msg="the known ones")
        assert np.abs(fewer(released) - originals).max() > 1
        span = rng.normal(size=(20, d - 2)) @ originals[: d - 2]
        np.testing.assert_allclose(fewer(span @ turn), span, atol=1e-8, err_msg="what they span")


def test_records_that_hardly_vary_in_one_direction_are_enough():
    """As money in three columns is, one of them nearly the sum of the others."""
    rng = np.random.default_rng(20)
    originals = rng.normal(size=(50, 3))
    originals[:, 2] = originals[:, 0] + originals[:, 1] + 1e-6 * originals[:, 2]
    turn = rotation(3, 9)
    found = undo_rotation(originals[:3], originals[:3] @ turn, rng)
    np.testing.assert_allclose(found(originals @ turn), originals, atol=1e-8)


def test_one_pair_more_gives_a_rotation_with_a_shift_away():
    rng = np.random.default_rng(2)
    originals, turn, shift = records(100, 4, rng), rotation(4, 4), rng.normal(size=4)
    released = originals @ turn + shift
    np.testing.assert_allclose(undo_rotation(originals[:5], released[:5], rng)(released), originals, atol=1e-8)
    assert np.abs(undo_rotation(originals[:3], released[:3], rng)(released) - originals).max() > 0.5


def test_noisy_pairs_give_the_rotation_of_least_squares():
    rng = np.random.default_rng(3)
    originals, turn = records(300, 3, rng), rotation(3, 3)
    released = originals @ turn + rng.normal(0, 0.1, (300, 3))
    found = undo_rotation(originals[:50], released[:50], rng)
    assert np.sqrt(np.mean((found(released) - originals) ** 2)) < 0.15
    np.testing.assert_allclose(found.matrix @ found.matrix.T, np.eye(3), atol=1e-9)


# Known pairs of any matrix (15-09).


def test_regression_undoes_any_matrix_with_and_without_a_shift():
    rng = np.random.default_rng(5)
    originals, matrix = records(100, 4, rng), rng.normal(size=(4, 4))
    released = originals @ matrix
    np.testing.assert_allclose(fit_map(originals[:4], released[:4])(released), originals, atol=1e-6)
    shifted = released + 5
    np.testing.assert_allclose(fit_map(originals[:5], shifted[:5])(shifted), originals, atol=1e-6)


def test_more_pairs_make_a_regression_through_noise_better():
    rng = np.random.default_rng(6)
    originals, turn = records(2_000, 4, rng), rotation(4, 1)
    released = originals @ turn + rng.normal(0, 0.2, originals.shape)
    errors = [
        np.sqrt(np.mean((fit_map(originals[:p], released[:p])(released) - originals) ** 2)) for p in (6, 30, 1_000)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] == pytest.approx(0.2, rel=0.05), "the noise of the row itself stays"


def test_of_fewer_columns_comes_back_what_they_hold():
    rng = np.random.default_rng(7)
    originals, matrix = records(50, 4, rng), rng.normal(size=(4, 2))
    guess = fit_map(originals[:10], originals[:10] @ matrix)(originals @ matrix)
    np.testing.assert_allclose(guess @ matrix, originals @ matrix, atol=1e-6)
    assert np.abs(guess - originals).max() > 0.1


def test_too_few_pairs_are_refused_and_dependent_ones_tell_of_what_they_span():
    known = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0]])
    with pytest.raises(ValueError, match="a regression on 3 numbers needs at least 3 people; got 2"):
        fit_map(known[:2], known[:2])
    turn = rotation(3, 3)
    span = np.array([[5.0, -7, 0], [0.3, 0.3, 0]])
    np.testing.assert_allclose(fit_map(known, known @ turn)(span @ turn), span, atol=1e-9)


# Known pairs of a Gaussian matrix (15-10).


def test_a_sum_of_known_records_is_recovered_exactly():
    """X_p = e1, e2 in R^3, M a turn by 90 degrees in the plane, x = (2, 3, 0)."""
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    known = np.eye(3)[:2]
    one = np.array([[2.0, 3, 0]])
    found = undo_projection(known, known @ turn.T, one @ turn.T, np.random.default_rng(1))
    np.testing.assert_allclose(found, one, atol=1e-9)


def loss(x, known, images, row):
    """Minus the logarithm of the likelihood of [Y_p, y] given [X_p, x], of entries of variance 1 / columns."""
    pair, rows = np.vstack([known, x]), np.vstack([images, row])
    gram = pair @ pair.T
    variance = np.mean(np.linalg.lstsq(known @ unmixing.span_basis(known), images)[0] ** 2)
    trace = np.trace(np.linalg.solve(gram, rows @ rows.T))
    return rows.shape[1] / 2 * np.linalg.slogdet(gram)[1] + trace / (2 * variance)


def test_the_likeliest_record_is_that_which_a_search_finds():
    """Of Theorem 15.2: the objective whose maximum the book searches for by Nelder-Mead."""
    rng = np.random.default_rng(8)
    known, matrix = rng.normal(size=(2, 4)), rng.normal(size=(4, 3)) / 3**0.5
    row = rng.normal(size=4) @ matrix
    images = known @ matrix
    own = undo_projection(known, images, row[None], rng)[0]
    starts = (rng.normal(size=4) for _ in range(6))
    best = min((minimize(loss, start, (known, images, row)) for start in starts), key=lambda found: found.fun)
    assert loss(own, known, images, row) == pytest.approx(best.fun, abs=1e-6)
    basis = unmixing.span_basis(known)
    np.testing.assert_allclose(own @ basis, best.x @ basis, atol=1e-3, err_msg="what known records span")
    away = [np.linalg.norm(each - each @ basis @ basis.T) for each in (own, best.x)]
    assert away[0] == pytest.approx(away[1], abs=1e-3)
    mirrored = 2 * own @ basis @ basis.T - own
    assert loss(mirrored, known, images, row) == pytest.approx(best.fun, abs=1e-6), "it is unique up to a turn off them"


def test_more_columns_and_more_pairs_make_the_likeliest_record_better():
    rng = np.random.default_rng(9)
    originals = rng.normal(size=(300, 8))

    def error(p, k):
        matrix = rng.normal(size=(8, k)) / k**0.5
        released = originals @ matrix
        guess = undo_projection(originals[:p], released[:p], released[p:], rng)
        return np.sqrt(np.mean((guess - originals[p:]) ** 2))

    assert error(2, 8) > error(6, 8) > error(8, 8) == pytest.approx(0, abs=1e-6)
    lengths = [np.mean([error(2, k) for _ in range(5)]) for k in (3, 200)]
    assert lengths[0] > lengths[1]


# Known sample (15-11).


def test_a_sample_gives_a_rotation_of_skewed_records_away():
    """Three gamma-distributed components, 4,000 records, a sample of 1,000 others; the digest's median relative error
    with a test in three dimensions is .029.
    """
    rng = np.random.default_rng(11)
    drawn = rng.gamma([1.0, 2, 3], size=(5_000, 3)) * [5.0, 2, 1]
    originals, sample, turn = drawn[:4_000], drawn[4_000:], rotation(3, 5)
    released = originals @ turn
    guess = match_axes(sample, released)(released)
    off = np.median(np.linalg.norm(guess - originals, axis=1) / np.linalg.norm(originals, axis=1))
    assert off < 0.1
    moved = match_axes(sample, released + 7)(released + 7)
    np.testing.assert_allclose(moved, guess, atol=1e-8, err_msg="a shift hides nothing")


def test_an_axis_with_two_ends_alike_may_be_mirrored_and_round_records_have_none():
    rng = np.random.default_rng(12)
    even = rng.normal(size=(3_000, 3)) * [3.0, 2, 1]
    samples = rng.normal(size=(8, 500, 3)) * [3.0, 2, 1]
    turn = rotation(3, 2)
    off = [np.abs(match_axes(sample, even @ turn)(even @ turn) - even).mean(axis=0) for sample in samples]
    assert np.max(off) > 1
    all_alike = rng.normal(size=(3_000, 3))
    guess = match_axes(rng.normal(size=(500, 3)), all_alike @ turn)(all_alike @ turn)
    assert np.sqrt(np.mean((guess - all_alike) ** 2)) > 0.5


def test_a_random_matrix_turns_no_axes():
    rng = np.random.default_rng(13)
    originals = rng.gamma([1.0, 2, 3], size=(4_000, 3)) * [3.0, 2, 1]
    released = originals @ rng.normal(size=(3, 3))
    guess = match_axes(originals[:1_000], released)(released)
    off = np.sqrt(np.mean(((guess - originals) / originals.std(axis=0)) ** 2))
    assert off > 0.5
