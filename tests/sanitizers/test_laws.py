"""Laws in closed form, against their own integrals, sums and limits."""

import numpy as np
import pytest
from scipy.integrate import quad

from privnb.measures.noise.matrices import amplification_of, markov
from privnb.microdata.treatment import Jointly, Law, Unreadable
from privnb.sanitizers.noise.laws import Diagonal, Gaussian, Geometric, Laplace, Part, Response, Transition, Uniform
from privnb.sanitizers.noise.mechanisms import keep_probability

PRIOR, POSITIONS = np.array([0.5, 0.02, 0.18, 0.3]), np.array([0, 2, 3, 9])
ADDED = [Gaussian(1.5, 0.5), Gaussian(0.2, 0.5), Uniform(1.5, 0.5), Uniform(0.1, 0.5)]


def density(law, noise):
    """Of a law in steps, from its cumulative probability."""
    width = 1e-5
    return (law.cumulative((noise + width) * law.step) - law.cumulative((noise - width) * law.step)) / (2 * width)


@pytest.mark.parametrize("law", ADDED, ids=str)
def test_additive_noise_is_guessed_as_its_integral_says(law):
    reach = 9 * law.in_steps
    ends = sorted({each + side * law.in_steps * 3**0.5 for each in POSITIONS for side in (-1, 0, 1)})
    whole = quad(lambda cell: (PRIOR * density(law, cell - POSITIONS)).max(), -reach, 9 + reach, points=ends, limit=500)
    assert law.vulnerability(PRIOR, POSITIONS) == pytest.approx(whole[0], abs=1e-4)


@pytest.mark.parametrize("law", ADDED, ids=str)
def test_the_capacity_of_additive_noise_is_reached_by_a_uniform_prior(law):
    size = 12
    guessed = law.vulnerability(np.full(size, 1 / size), np.arange(size))
    assert law.capacity(size) == pytest.approx(guessed * size)
    assert law.amplification(size) == np.inf


def test_a_value_that_nobody_has_stands_under_no_bell():
    law = Gaussian(1, 1)
    assert law.vulnerability([0.5, 0, 0.5], [0, 1, 2]) == pytest.approx(law.vulnerability([0.5, 0.5], [0, 2]))
    assert law.vulnerability([1e-9, 1], [0, 1]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("law", [*ADDED, Laplace(2, 0.5), Geometric(2, 0.5)], ids=str)
def test_the_variance_is_that_of_the_cumulative_probability(law):
    ends = (np.arange(-40_001, 40_001) + 0.5) * 0.0025  # no end lies on a step of 0.5
    square = np.diff(law.cumulative(ends)) @ ((ends[1:] + ends[:-1]) / 2) ** 2
    assert law.variance == pytest.approx(square, rel=1e-3)
    assert law.covariance("another column") == 0


@pytest.mark.parametrize("law", [*ADDED, Laplace(2, 0.5), Geometric(2, 0.5)], ids=str)
def test_noise_is_at_most_a_number_as_often_as_said(law):
    grid = np.arange(-200, 201) * 0.5
    share = law.cumulative(grid)
    assert (np.diff(share) >= 0).all()
    assert share[[0, -1]] == pytest.approx([0, 1], abs=1e-9)
    if isinstance(law, Geometric):
        decay = np.exp(-0.25)
        assert np.diff(share) == pytest.approx((1 - decay) / (1 + decay) * decay ** np.abs(grid[1:] / 0.5))
        assert law.cumulative(0.3) == law.cumulative(0.0)
    else:
        assert share == pytest.approx(1 - law.cumulative(-grid))


def test_randomized_response_is_the_gamma_diagonal_matrix():
    response, diagonal = Response(np.log(19), 12), Diagonal.of_gamma(19, 12)
    assert response.transition(12) == pytest.approx(diagonal.transition(12))
    assert diagonal.true == pytest.approx(keep_probability(12, np.log(19)))
    assert diagonal.amplification(12) == pytest.approx(19)
    assert diagonal.found([np.arange(12)]) == pytest.approx(12 * 19 / 30)
    same = Transition(tuple(map(tuple, diagonal.transition(12))))
    prior = np.array([0.4, 0.35, 0.15, 0.1])
    places = np.array([1, 5, 6, 9])
    for name, given in {"vulnerability": (prior, places), "capacity": (12,), "amplification": (12,)}.items():
        assert getattr(same, name)(*given) == pytest.approx(getattr(diagonal, name)(*given)), name
    difference = same.surprise(places, places + 1) - same.surprise(places, places)
    assert difference == pytest.approx(diagonal.surprise(places, places + 1.0))


@pytest.mark.parametrize(("size", "true", "other"), [(3, 0.733333, 0.133333), (6, 0.666667, 0.066667)])
def test_marginals_of_the_gamma_diagonal_matrix(size, true, other):
    """Catalogue 10-21, n = 12 and gamma = 19: of a part of the attributes it is a diagonal matrix again."""
    whole = Diagonal.of_gamma(19, 12)
    part = whole.marginal(size)
    assert (part.true, part.other) == (pytest.approx(true, abs=1e-6), pytest.approx(other, abs=1e-6))
    summed = whole.transition(12).reshape(size, 12 // size, size, 12 // size).sum(axis=3)[:, 0]
    assert part.transition(size) == pytest.approx(summed)
    assert np.linalg.cond(part.transition(size)) == pytest.approx(5 / 3)


def test_a_combination_has_its_place():
    """Aggarwal and Yu, section 10.2.1: age, sex and education, 12 combinations, counted there from 1."""
    joint = Jointly(("age", "sex", "education"), (3, 2, 2), Law())
    of = {(0, 0, 0): 1, (0, 0, 1): 2, (0, 1, 1): 4, (2, 0, 0): 9, (1, 0, 0): 5, (1, 1, 0): 7, (2, 1, 1): 12}
    assert (joint.positions(np.array(list(of)).T) + 1).tolist() == list(of.values())


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5]], "must be square; got 1 x 2"),
        ([[0.5, 0.5], [1.5, -0.5]], "must hold probabilities; got -0.5"),
        ([[0.5, 0.4], [0.5, 0.5]], "row 0 adds up to 0.9"),
        ([[0.9, 0.8], [0.1, 0.2]], "notation of FRAPP"),
        ([[0.5, 0.5], [1]], "rows of numbers with the same length"),
        ([["a", "b"], ["c", "d"]], "rows of numbers with the same length"),
        ([[np.nan, 1], [0, 1]], "finite numbers"),
    ],
)
def test_what_is_no_markov_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        markov("matrix", matrix)


def test_amplification_of_a_matrix():
    assert amplification_of([[0.9, 0.1], [0.1, 0.9]]) == pytest.approx(9)
    assert amplification_of([[1, 0], [0.5, 0.5]]) == np.inf
    assert amplification_of([[1, 0], [1, 0]]) == 1, "what is never published tells nobody anything"
    assert Laplace(10, 1).amplification(83) == pytest.approx(np.exp(8.2))
    assert Response(1.5, 4).amplification(4) == pytest.approx(np.exp(1.5))


def test_a_diagonal_below_the_rest_is_no_kept_value():
    with pytest.raises(ValueError, match=r"at least 1 / size, 0\.25"):
        Diagonal(0.2, 4)
    with pytest.raises(Unreadable, match="its matrix has 6,000 values"):
        Diagonal(0.5, 6000).transition(6000)
    part = Part(Jointly(("a", "b"), (2, 3), Transition(((0.5, 0.5), (0.5, 0.5)))))
    with pytest.raises(Unreadable, match="drawn together for a, b has no closed form"):
        part.vulnerability(PRIOR, POSITIONS)
