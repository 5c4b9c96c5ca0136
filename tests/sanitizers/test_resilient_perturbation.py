"""Algorithm 1 of chapter 7: the best of several rotations, noise as little as it takes, and the branch that refuses."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.measures.noise.column_privacy import column_privacy, naive_differences
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.sanitizers import ResilientPerturbation, SanitizationError
from privnb.sanitizers.algorithms.linear import draw_orthogonal, multiply_points, standardize
from privnb.sanitizers.multiplicative.resilient_perturbation import order_columns

NAMES = ["first", "second", "third"]
SCHEMA = Schema("numbers", tuple(Attribute(name, Role.QUASI_IDENTIFIER, Numbers(0, 100)) for name in NAMES))
rng = np.random.default_rng(6)
# Independent and unlike bells: what independent components find.
INDEPENDENT = np.column_stack([rng.integers(0, 101, 800), rng.beta(0.4, 0.4, 800) * 100, rng.beta(1, 6, 800) * 100])


def dataset(points=INDEPENDENT):
    table = pd.DataFrame(np.round(points).astype(int), columns=NAMES)
    return Dataset("numbers", table, SCHEMA, {name: flat(SCHEMA[name]) for name in NAMES})


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_is_the_best_of_all_orders(seed):
    """Against every permutation, by eq. 7.2: on uncorrelated standard scores 2 - 2 r_ii is the naive privacy."""
    source = np.random.default_rng(seed)
    points = standardize(source.normal(size=(300, 4)))[0]
    points = points @ np.linalg.inv(np.linalg.cholesky(np.cov(points.T, bias=True))).T
    matrix = draw_orthogonal(4, source)
    best = max(naive_differences(matrix[list(order)], np.eye(4)).min() for order in permutations(range(4)))
    found = order_columns(matrix, points)
    assert naive_differences(found, np.eye(4)).min() == pytest.approx(best)
    assert column_privacy(multiply_points(found, points), points).min() == pytest.approx(best)


def test_noise_is_as_little_as_it_takes_and_is_needed():
    """Without noise known records give a rotation away; the distances of the release say how much there is."""
    data = dataset()
    places = data.table.to_numpy() / 100 - 0.5
    before = np.square(places[:400] - places[400:]).sum(axis=1)
    noise = []
    for least in (0.05, 0.3):
        release = ResilientPerturbation(least, most=0.5, iterations=3).sanitize(data, rng=1)
        assert release.treated("suppressed") == tuple(NAMES)
        rows = release.table[list(release.treated("perturbed"))].to_numpy()
        noise.append(np.mean(np.square(rows[:400] - rows[400:]).sum(axis=1) - before) / 6)
    assert 0 < noise[0] < noise[1] < 0.5**2


def test_it_refuses_to_release_what_an_attack_comes_near():
    with pytest.raises(
        SanitizationError,
        match=r"the protection of a column is 0\.\d\d with the most noise allowed, which is less than 0\.5",
    ):
        ResilientPerturbation(0.5, most=0.05, iterations=2).sanitize(dataset(), rng=1)


def test_the_same_seed_finds_the_same():
    first, second = (ResilientPerturbation(iterations=2).sanitize(dataset(), rng=3).table for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ResilientPerturbation(0), "least"),
        (lambda: ResilientPerturbation(2), "least"),
        (lambda: ResilientPerturbation(most=0), "most must be a positive number"),
        (lambda: ResilientPerturbation(iterations=0), "iterations must be a whole number of at least 1"),
        (lambda: ResilientPerturbation(known=0), "known must be a whole number of at least 1"),
    ],
)
def test_a_parameter_out_of_its_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_a_table_cannot_give():
    constant = INDEPENDENT * [1, 0, 1]
    with pytest.raises(SanitizationError, match="an attribute has the same value for all records"):
        ResilientPerturbation().sanitize(dataset(constant), rng=1)
    with pytest.raises(SanitizationError, match=r"needs 5 records or more .* the table has 4\."):
        ResilientPerturbation().sanitize(dataset(INDEPENDENT[:4]), rng=1)
