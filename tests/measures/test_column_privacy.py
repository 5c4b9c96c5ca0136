"""Column privacy and the difference that a rotation makes, on closed forms."""

import numpy as np
import pytest

from privnb.measures.noise.column_privacy import column_privacy, naive_differences
from privnb.sanitizers.algorithms.linear import draw_orthogonal, multiply_points


def turn(degrees):
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[cos, -sin], [sin, cos]])


@pytest.mark.parametrize(("degrees", "differences"), [(90, 2), (60, 1), (0, 0), (180, 4)])
def test_a_rotation_of_two_uncorrelated_numbers(degrees, differences):
    """Aggarwal and Yu 2008, eq. 7.2 with C = I: 2 - 2 cos of the angle."""
    assert naive_differences(turn(degrees), np.eye(2)) == pytest.approx([differences] * 2)


def test_the_formula_of_a_rotation_is_the_variance_of_difference():
    """Eq. 7.3 against the definition, on correlated numbers."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    matrix = draw_orthogonal(4, rng)
    turned = multiply_points(matrix, points)
    found = naive_differences(matrix, np.cov(points.T, bias=True))
    assert found == pytest.approx([np.var(turned[:, i] - points[:, i]) for i in range(4)])


@pytest.mark.slow
def test_the_mean_over_rotations_is_2_on_standard_scores_and_not_1():
    """7.5.1 prints c_ii, which is 1 here (an erratum): over Haar measure it is c_ii + trace(C) / d."""
    rng = np.random.default_rng(1)
    covariance = np.array([[1, 0.6, 0.2], [0.6, 1, -0.3], [0.2, -0.3, 1]])
    drawn = [naive_differences(draw_orthogonal(3, rng), covariance) for _ in range(8000)]
    error = np.std(drawn, axis=0).max() / np.sqrt(8000)
    assert np.mean(drawn, axis=0) == pytest.approx([2, 2, 2], abs=5 * error)
    assert error < 0.02
    other = np.diag([9.0, 1, 2])
    drawn = [naive_differences(draw_orthogonal(3, rng), other) for _ in range(8000)]
    assert np.mean(drawn, axis=0) == pytest.approx([13, 5, 6], rel=0.05)


def test_columns_are_normalized_before_they_are_compared():
    """A unit or an origin hides nothing, and a column of little variance is not private for that (7.4.2)."""
    rng = np.random.default_rng(2)
    true = np.column_stack([rng.normal(0, 1, 500), rng.normal(0, 0.001, 500)])
    assert column_privacy(true * [100, 3] + [5, -2], true) == pytest.approx([0, 0], abs=1e-9)
    assert column_privacy(-true, true) == pytest.approx([4, 4])
    assert column_privacy(np.ones_like(true), true) == pytest.approx([2, 2])
    related = [np.corrcoef(true[:, i], true[:, i] + true[:, 0])[0, 1] for i in range(2)]
    assert column_privacy(true + true[:, :1], true) == pytest.approx([2 * (1 - each) for each in related])


def test_a_column_that_everybody_knows_is_refused():
    with pytest.raises(ValueError, match="must have a variance in each column"):
        column_privacy(np.eye(2), np.ones((2, 2)))
