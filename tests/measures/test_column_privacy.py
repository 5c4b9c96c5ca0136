"""VoD, scale-free security, column privacy and the gap of a transformation, on closed forms."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from privnb.measures.noise.column_privacy import (
    column_privacy,
    least_column_privacy,
    mean_column_privacy,
    naive_differences,
    scale_free_security,
    transformation_gap,
    variance_of_difference,
)
from privnb.sanitizers.algorithms.linear import multiplied, orthogonal, standardized


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
    matrix = orthogonal(4, rng)
    turned = multiplied(matrix, points)
    found = naive_differences(matrix, np.cov(points.T, bias=True))
    assert found == pytest.approx([variance_of_difference(turned[:, i], points[:, i]) for i in range(4)])


@pytest.mark.slow
def test_the_mean_over_rotations_is_2_on_standard_scores_and_not_1():
    """7.5.1 prints c_ii, which is 1 here (an erratum): over Haar measure it is c_ii + trace(C) / d."""
    rng = np.random.default_rng(1)
    covariance = np.array([[1, 0.6, 0.2], [0.6, 1, -0.3], [0.2, -0.3, 1]])
    drawn = [naive_differences(orthogonal(3, rng), covariance) for _ in range(8000)]
    error = np.std(drawn, axis=0).max() / np.sqrt(8000)
    assert np.mean(drawn, axis=0) == pytest.approx([2, 2, 2], abs=5 * error)
    assert error < 0.02
    other = np.diag([9.0, 1, 2])
    drawn = [naive_differences(orthogonal(3, rng), other) for _ in range(8000)]
    assert np.mean(drawn, axis=0) == pytest.approx([13, 5, 6], rel=0.05)


def test_a_constant_error_is_no_difference():
    true = np.array([1.0, 2, 4, 9])
    assert variance_of_difference(true + 7, true) == pytest.approx(0)
    assert variance_of_difference(-true, true) == pytest.approx(4 * np.var(true))
    assert scale_free_security(true, true) == 0
    assert scale_free_security(np.full(4, 3.0), true) == pytest.approx(1)
    assert scale_free_security(10 * true, true) == pytest.approx(81)


def test_columns_are_normalized_before_they_are_compared():
    """A unit or an origin hides nothing, and a column of little variance is not private for that (7.4.2)."""
    rng = np.random.default_rng(2)
    true = np.column_stack([rng.normal(0, 1, 500), rng.normal(0, 0.001, 500)])
    assert column_privacy(true * [100, 3] + [5, -2], true) == pytest.approx([0, 0], abs=1e-9)
    assert column_privacy(-true, true) == pytest.approx([4, 4])
    assert column_privacy(np.ones_like(true), true) == pytest.approx([2, 2])
    related = [np.corrcoef(true[:, i], true[:, i] + true[:, 0])[0, 1] for i in range(2)]
    assert column_privacy(true + true[:, :1], true) == pytest.approx([2 * (1 - each) for each in related])


def test_the_least_and_the_mean_by_weight():
    true = standardized(np.random.default_rng(3).normal(size=(400, 2)))[0]
    estimated = np.column_stack([true[:, 0], -true[:, 1]])
    assert least_column_privacy(estimated, true) == pytest.approx(0, abs=1e-9)
    assert mean_column_privacy(estimated, true) == pytest.approx(2)
    assert mean_column_privacy(estimated, true, [1, 2]) == pytest.approx(1)


def test_a_tree_is_the_control_that_a_rotation_does_change():
    """7.3: nearest neighbours guess the same of rotated records; axis-parallel cuts do not."""
    rng = np.random.default_rng(4)
    points = rng.normal(size=(400, 2))
    labels = np.where(np.abs(points).max(axis=1) < 0.9, "in", "out")  # a box, which a tree cuts out at once
    turned = multiplied(turn(45), points)
    gaps = {}
    for miner in (KNeighborsClassifier(5), DecisionTreeClassifier(max_leaf_nodes=5, random_state=0)):
        before, after = (miner.fit(each[:200], labels[:200]).predict(each[200:]) for each in (points, turned))
        gaps[type(miner)] = transformation_gap(before, after, labels[200:])
    assert gaps[KNeighborsClassifier] == pytest.approx(0, abs=0.005)
    assert gaps[DecisionTreeClassifier] > 0.05


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: variance_of_difference([1.0, 2], [1.0, 2, 3]), r"got shapes \(2,\) and \(3,\)"),
        (lambda: scale_free_security([1.0, 2], [3.0, 3]), "a column without variance has no share of it"),
        (lambda: least_column_privacy(np.eye(2), np.ones((2, 2))), "a column without variance cannot be normalized"),
        (lambda: least_column_privacy(np.eye(2), np.eye(2), [1, 0.5]), r"weights .* 1 and more, got \[1, 0\.5\]"),
        (lambda: mean_column_privacy(np.eye(2), np.eye(2), [1]), "weights must be"),
        (lambda: variance_of_difference([1.0, np.nan], [1.0, 2]), "estimated must be"),
    ],
)
def test_bad_input(asked, message):
    with pytest.raises(ValueError, match=message):
        asked()
