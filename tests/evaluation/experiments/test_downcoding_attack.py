"""Downcoding with minimal labels and with wider ones, compared with the closed form and with chance."""

from math import sqrt

import pytest

from privnb.evaluation.experiments.downcoding_attack import CLOSED_FORM, MINIMAL, PRIOR, UNLIKE, attack_minimal_labels
from privnb.evaluation.results import KEY_COLUMNS
from privnb.sanitizers import Identity, Suppress

CLUSTERS, SEEDS = 150, 3


@pytest.fixture(scope="module")
def results():
    return attack_minimal_labels(10, clusters=CLUSTERS, attributes=7, seeds=SEEDS)


def shares(results, group):
    return results[results.group == group].groupby(["sanitizer", "knows"])[["value", "baseline"]].mean()


def test_a_constant_fraction_is_recovered_from_minimal_labels(results):
    """About one person differs per cluster, and at most one of a cluster is recovered; the share of recovered people
    has a standard error of at most sqrt(0.5 / clusters), because the variance of a cluster is at most 0.5."""
    found = shares(results, UNLIKE)
    expected = results[results.variant == CLOSED_FORM].value.iloc[0]
    assert expected > 0.38
    error = sqrt(0.5 / (CLUSTERS * SEEDS))
    assert found.value["Mondrian", MINIMAL] == pytest.approx(expected, abs=3 * error)


def test_wider_labels_are_at_chance(results):
    """The levels of the whole table are wide in all attributes. About 450 people differ, and tossing coins is right
    with the probability 1 / 2^7, so at most three standard errors more are recovered."""
    found = shares(results, UNLIKE)
    chance = found.baseline["FullDomain", MINIMAL]
    assert found.value["FullDomain", MINIMAL] < chance + 3 * sqrt(chance / 450)
    assert found.value["FullDomain", PRIOR] == found.value["Mondrian", PRIOR] == 0
    everybody = shares(results, "")
    assert everybody.value["FullDomain", PRIOR] == pytest.approx(everybody.baseline["FullDomain", PRIOR])
    assert everybody.value["Mondrian", MINIMAL] > everybody.baseline["Mondrian", MINIMAL]


def test_suppression_is_the_baseline_and_exact_records_are_the_ceiling():
    found = attack_minimal_labels(10, [Suppress(), Identity()], clusters=20)
    everybody = shares(found, "")
    assert (everybody.value["Suppress"] == everybody.baseline["Suppress"]).all()
    assert (everybody.value["Identity"] == 1).all()
    assert (shares(found, UNLIKE).value["Identity"] == 1).all()
    assert (shares(found, UNLIKE).value["Suppress"] == 0).all()


def test_rows_have_different_keys(results):
    assert not results.duplicated(KEY_COLUMNS).any()
