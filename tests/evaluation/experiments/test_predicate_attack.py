"""Singling out by predicates on tables whose records are all different."""

from math import exp, sqrt

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.evaluation.experiments.predicate_attack import (
    CLOSED_FORM,
    EXACT,
    IN_RELEASE,
    NOISY,
    OTHERS,
    attack_classes,
)
from privnb.evaluation.results import KEY_COLUMNS
from privnb.microdata.hierarchy import Ranges
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.sanitizers import Identity, Mondrian, Suppress

ATTEMPTS = 2000
ERROR = 3 * sqrt(0.25 / ATTEMPTS)  # three standard errors of a share of the attempts


@pytest.fixture(scope="module")
def numbers():
    """640 people with forty independent numbers, of which the labels of ten people have a small weight together."""
    rng = np.random.default_rng(1)
    names = [f"x{place}" for place in range(40)]
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER, Numbers(0, 99_999)) for name in names]
    schema = Schema("numbers", (*attributes, Attribute("y", Role.SENSITIVE, Numbers(0, 99_999))))
    table = pd.DataFrame(rng.integers(0, 100_000, (640, 41)), columns=[*names, "y"])
    return Dataset("numbers", table, schema, {name: Ranges(schema[name].domain) for name in names})


@pytest.fixture(scope="module")
def results(numbers):
    return attack_classes(numbers, [Mondrian(k=10), Suppress(), Identity()], attempts=ATTEMPTS)


def shares(results, sanitizer):
    return results[results.sanitizer == sanitizer].set_index("variant")[["value", "baseline"]]


def test_a_class_of_ten_leads_to_singling_out_in_39_percent_of_attempts(results):
    """Cohen and Nissim 2020: Mondrian halves 320 people five times, so each class has ten people and the closed form is
    0.9^9. The labels have a small weight, so nearly no other person is singled out."""
    found = shares(results, "Mondrian")
    assert found.value[CLOSED_FORM] == pytest.approx(0.9**9)
    assert found.value[IN_RELEASE] == pytest.approx(0.9**9, abs=ERROR)
    assert found.value[OTHERS] == pytest.approx(found.baseline[OTHERS], abs=ERROR)
    assert found.baseline[OTHERS] < 0.1


def test_full_suppression_is_at_the_baseline(results):
    """One class of all people: the predicate has the weight 1/n and ignores the release."""
    found = shares(results, "Suppress")
    assert found.value[CLOSED_FORM] == pytest.approx(found.baseline[CLOSED_FORM])
    assert found.value[[IN_RELEASE, OTHERS]].to_numpy() == pytest.approx(found.baseline[CLOSED_FORM], abs=ERROR)


def test_exact_records_are_singled_out_always(results):
    found = shares(results, "Identity")
    assert found.value[IN_RELEASE] == found.value[CLOSED_FORM] == 1
    assert found.value[OTHERS] < 0.1


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_noisy_counts_stay_at_the_baseline_and_exact_counts_do_not(numbers, epsilon):
    """Differential privacy bounds the success by exp(epsilon / 10) times the baseline, and from below by the inverse.
    With exact counts, the attempt succeeds if one of ten counts is 1, with the probability 1 - (1 - baseline)^10."""
    found = attack_classes(numbers, [], attempts=ATTEMPTS, epsilon=epsilon).set_index("sanitizer")
    baseline = found.baseline[NOISY]
    factor = exp(epsilon / 10)
    assert baseline / factor - ERROR < found.value[NOISY] < baseline * factor + ERROR
    assert found.value[EXACT] == pytest.approx(1 - (1 - baseline) ** 10, abs=ERROR)


def test_rows_have_different_keys(results):
    assert not results.duplicated(KEY_COLUMNS).any()
    assert ((results.low <= results.value) & (results.value <= results.high) | results.low.isna()).all()
