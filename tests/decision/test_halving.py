"""A search by successive halving: what it spends, and what it finds on a problem whose frontier is known."""

import numpy as np
import pytest

from privnb.decision.halving import find_dominated, order_by_volume, plan_rungs, search_settings


def hypervolume(vectors):
    """Return the share of the unit cube that vectors cover."""
    return find_dominated(vectors).any(axis=0).mean()


@pytest.mark.parametrize("records", [16_000, 45_222, 1_000_000])
@pytest.mark.parametrize("settings", [8, 9, 31, 96, 110])
def test_it_spends_at_most_a_quarter(records, settings):
    spent = sum(rung.records * rung.settings for rung in plan_rungs(records, settings))
    assert spent <= records * settings / 4


def test_a_volume_is_the_union_of_boxes():
    two = np.array([[0.5, 0.0], [0.0, 0.5]])
    assert hypervolume(two) == pytest.approx(0.75, abs=0.005)
    assert hypervolume(two[:1]) == pytest.approx(0.5, abs=0.005)
    assert hypervolume(np.array([[0.2, 0.3, 0.6]])) == pytest.approx(0.8 * 0.7 * 0.4, abs=0.005)
    assert hypervolume(np.array([[0.1, np.nan]])) == 0 == hypervolume(np.array([[1.0, 0.0]]))
    assert order_by_volume(np.array([[0.9, 0.9], [0.5, 0.4], [0.6, 0.5], [0.1, 0.95]]))[0] == 1


def test_it_finds_nearly_all_volume_of_a_known_problem():
    """Risk and loss of 128 settings trade off along a curve.

    A sample of r records adds noise, and a loss of 3 / r^.5.
    """
    rng = np.random.default_rng(0)
    place, beyond = np.linspace(0, 1, 128), rng.exponential(0.15, 128)
    truth = np.column_stack([(1 - place) ** 2 + beyond, place**2 + beyond])

    def measured(settings, records):
        noise = np.random.default_rng(records).normal(0, 3 / np.sqrt(records), (len(settings), 2))
        return truth[settings] + (noise + np.array([0, 3 / np.sqrt(records)])) * (records < 40_000), []

    steps = search_settings(range(128), 40_000, measured)
    assert [len(left) for _, left in steps] == [128, 24]
    found = hypervolume(truth[steps[-1][1]])
    assert found >= 0.95 * hypervolume(truth)
    assert found > 1.1 * hypervolume(truth[rng.choice(128, 24, replace=False)]), "and more than a choice at random"
