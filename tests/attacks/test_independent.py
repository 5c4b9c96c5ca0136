"""Independent components, on arrays: what plain ones leave open, and what distributions and a sample add."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from privnb.attacks.algorithms.independent import (
    find_components,
    match_by_columns,
    match_by_distributions,
    match_by_sample,
)


def independent(n, rng):
    """Three numbers of other distributions each, none of which is its own mirror image."""
    return np.column_stack([rng.exponential(1, n), 4 * rng.beta(4, 1, n), 5 * rng.beta(0.3, 0.8, n)])


def error(guess, true):
    return np.sqrt(np.mean(((guess - true) / true.std(axis=0)) ** 2))


@pytest.fixture(scope="module")
def turned():
    rng = np.random.default_rng(1)
    true = independent(5_000, rng)
    return true, true @ ortho_group.rvs(3, random_state=3), independent(1_000, rng)


def test_components_are_the_numbers_up_to_order_and_scale(turned):
    true, released, _ = turned
    together = np.abs(np.corrcoef(true.T, find_components(released).sources.T)[:3, 3:])
    assert together.max(axis=1).min() > 0.99
    assert sorted(together.argmax(axis=1)) == [0, 1, 2]


def test_distributions_of_columns_name_and_scale_them(turned):
    true, released, others = turned
    apart = np.column_stack([np.sort(column) for column in others.T])  # what stands side by side is nobody's
    assert error(match_by_distributions(released, apart)(released), true) < 0.1
    plain = error(match_by_columns(released)(released), true)
    assert plain > 0.5, "without them each part is taken for a column of the release"


def test_a_sample_undoes_a_matrix_that_is_no_rotation_and_numbers_that_go_together():
    rng = np.random.default_rng(2)
    mixed = rng.normal(size=(3, 3))
    true, others = independent(5_000, rng) @ mixed, independent(2_000, rng) @ mixed
    released = true @ rng.normal(size=(3, 3)) + [1, 2, 3]
    assert error(match_by_sample(released, others)(released), true) < 0.2
    apart = np.column_stack([np.sort(column) for column in others.T])
    assert error(match_by_distributions(released, apart)(released), true) > 0.3, "the numbers are no components"


def test_bells_have_no_components():
    rng = np.random.default_rng(4)
    true = rng.normal(size=(5_000, 3))
    released = true @ ortho_group.rvs(3, random_state=2)
    assert error(match_by_distributions(released, true[:500])(released), true) > 0.3


def test_rows_that_lie_in_a_plane_are_refused():
    flat = np.random.default_rng(5).random((100, 3)) * [1, 1, 0]
    with pytest.raises(ValueError, match="the rows must vary in 3 directions; got rows that vary in 2"):
        find_components(flat)
    with pytest.raises(ValueError, match="a component must vary"):
        match_by_distributions(flat[:, :2], np.ones((10, 2)))
