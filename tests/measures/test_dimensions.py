"""Privacy and the number of attributes: worked numbers, draws, and the laws of growth."""

import numpy as np
import pytest
from scipy.optimize import brentq

from privnb.measures.disclosure.dimensions import gaussian_impostors, shared_cell_chance, uniform_impostors


@pytest.mark.parametrize(
    ("records", "attributes", "chance"),
    [(10**6, 20, 0.614677), (10**6, 25, 0.029363), (10**6, 30, 0.000931), (30_000, 14, 0.839755), (2, 1, 0.5)],
)
def test_cells_of_half_of_the_people(records, attributes, chance):
    assert shared_cell_chance(records, attributes) == pytest.approx(chance, abs=5e-7)
    assert shared_cell_chance(records, attributes, 1) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("attributes", "size"), [(1, 0.5), (5, 2.0), (20, 3.0)])
def test_impostors_are_those_that_draws_find(attributes, size):
    rng = np.random.default_rng(attributes)
    own, others = rng.normal(size=(2, 200_000, attributes))
    gaussian = own + size * rng.normal(size=own.shape)
    better = (((gaussian - others) ** 2).sum(axis=1) < ((gaussian - own) ** 2).sum(axis=1)).mean()
    assert gaussian_impostors(2, attributes, size) == pytest.approx(better, abs=0.005)
    uniform = own + rng.uniform(-size, size, own.shape)
    fits = (np.abs(uniform - others) <= size).all(axis=1).mean()
    assert uniform_impostors(2, attributes, size) == pytest.approx(fits, abs=0.005)


def test_gaussian_noise_grows_with_the_root_of_the_dimension_and_uniform_noise_at_least_in_proportion():
    """Of 10,000 records one impostor is left: what size of noise that takes in 64, 256 and 1,024 attributes."""
    needed = {
        count: [brentq(lambda size, d=d, count=count: count(10_000, d, size) - 1, 0.01, 1000) for d in (64, 256, 1024)]
        for count in (gaussian_impostors, uniform_impostors)
    }
    gaussian, uniform = (np.array(each[1:]) / each[:-1] for each in needed.values())
    assert gaussian == pytest.approx(2, rel=0.1), "four times the attributes, twice the noise"
    assert (uniform > 3).all(), "nearly four times the noise"
    assert uniform[-1] == pytest.approx(4, rel=0.1)


def test_sizes_that_mean_nothing_are_refused():
    with pytest.raises(ValueError, match="records must be a whole number of at least 2"):
        shared_cell_chance(1, 3)
    with pytest.raises(ValueError, match="share must be a number above 0 and at most 1"):
        shared_cell_chance(10, 3, 0)
    with pytest.raises(ValueError, match="deviation must be a positive number"):
        gaussian_impostors(10, 3, -1)
    with pytest.raises(ValueError, match="attributes must be a whole number of at least 1"):
        uniform_impostors(10, 0, 1)
