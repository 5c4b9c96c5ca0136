"""Counts behind a matrix: the book's numbers, and estimates that are right on average and rise in likelihood."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import hilbert

from privnb.attacks.algorithms.likeliest import STEPS, maximize_expectation
from privnb.measures.noise.matrices import condition_number, markov
from privnb.sanitizers.noise.laws import Diagonal


def bits(kept):
    return np.array([[kept, 1 - kept], [1 - kept, kept]])


def test_the_gamma_diagonal_matrix():
    """Catalogue 10-20: n = 12 and gamma = 19 have x = 1/30, a diagonal of 19/30, and a condition of 5/3."""
    matrix = Diagonal.of_gamma(19, 12).transition(12)
    assert matrix[0, :2] == pytest.approx([19 / 30, 1 / 30])
    assert condition_number(matrix) == pytest.approx(5 / 3) == pytest.approx(1 + 12 / 18)
    inverse = np.linalg.inv(matrix)
    assert inverse[0, :2] == pytest.approx([1.611111, -0.055556], abs=1e-6)
    assert condition_number(Diagonal.of_gamma(19, 200).transition(200)) == pytest.approx(1 + 200 / 18)


def test_four_values_with_a_gamma_of_three():
    """Catalogue 10-20: what is published on average."""
    matrix = Diagonal.of_gamma(3, 4).transition(4)
    assert np.array([40, 30, 20, 10]) @ matrix == pytest.approx([30, 26.6667, 23.3333, 20], abs=1e-4)
    assert condition_number(matrix) == pytest.approx(3)


def test_the_condition_of_the_hilbert_matrix():
    """Aggarwal and Yu, section 10.2.3: "about 10^5"; it is 476,607. A Markov matrix is one divided by its row sums."""
    assert np.linalg.cond(hilbert(5)) == pytest.approx(476_607, rel=1e-4)
    scaled = hilbert(5) / hilbert(5).sum(axis=1, keepdims=True)
    assert condition_number(scaled) == pytest.approx(np.linalg.cond(scaled))


@pytest.mark.parametrize(("number", "condition"), [(1, 1.25), (2, 1.5625), (3, 1.953125), (4, 2.441406)])
def test_the_condition_of_mask_grows_with_each_bit(number, condition):
    """Catalogue 10-11: (2 p - 1)^-n, here for p = .9."""
    matrix = bits(0.9)
    for _ in range(number - 1):
        matrix = np.kron(matrix, bits(0.9))
    assert condition_number(matrix) == pytest.approx(condition, abs=1e-6) == pytest.approx(0.8**-number, abs=1e-6)


def test_the_supports_of_mask():
    """Catalogue 10-11: two items that are published as 50.6, 15.4, 15.4 and 18.6."""
    both, true = np.kron(bits(0.9), bits(0.9)), np.array([60, 10, 10, 20])
    assert true @ both == pytest.approx([50.6, 15.4, 15.4, 18.6])
    assert maximize_expectation(true @ both, both, rise=1e-15) == pytest.approx(true, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_estimates_of_any_matrix(size, seed):
    """More steps are likelier, and the sum stays."""
    rng = np.random.default_rng(seed)
    matrix = 0.6 * np.eye(size) + 0.4 * rng.dirichlet(np.ones(size), size)
    true = rng.integers(1, 500, size)
    seen = true @ matrix
    found = maximize_expectation(seen, matrix, steps=400, rise=1e-14)
    fewer = maximize_expectation(seen, matrix, steps=5, rise=1e-14)
    likelihoods = [seen @ np.log(counts @ matrix) for counts in (fewer, found)]
    assert likelihoods[1] >= likelihoods[0] - 1e-9
    assert found.sum() == pytest.approx(true.sum())
    assert (found >= 0).all()
    drawn = rng.multinomial(2000, seen / seen.sum())
    estimate = np.linalg.solve(matrix.T, drawn)
    error = np.linalg.norm(estimate - 2000 * true / true.sum()) / np.linalg.norm(2000 * true / true.sum())
    expected = 2000 * seen / seen.sum()
    bound = condition_number(matrix) * np.linalg.norm(drawn - expected) / np.linalg.norm(expected)
    assert error <= bound + 1e-9, "Agrawal and Haritsa, theorem 1"


def test_of_a_singular_matrix_the_iteration_still_tells():
    matrix = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    assert condition_number(matrix) == np.inf
    assert maximize_expectation([5, 5, 10], matrix)[2] == pytest.approx(10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: markov("matrix", bits(0.9), 3), "must have 3 rows and columns"),
        (lambda: maximize_expectation([0, 0], bits(0.9)), "at least one count above 0"),
        (lambda: maximize_expectation([-1, 2], bits(0.9)), "counts of at least 0"),
        (lambda: maximize_expectation([1, 2], bits(0.9), steps=0), "steps"),
        (lambda: maximize_expectation([1, 2], bits(0.9), rise=0), "rise"),
        (lambda: maximize_expectation([1, 2], np.array([[1, 0], [1, 0]])), "got cells that no value can become"),
        (lambda: markov("matrix", [[0.5, 0.2], [0.5, 0.5]]), "adds up to 0.7"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_most_steps_of_an_iteration_are_stated():
    assert STEPS == 1000
