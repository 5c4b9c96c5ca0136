"""Every measure says its kind, direction and bounds, and keeps them on real releases; they are found, not listed."""

import inspect
import re

import numpy as np
import pytest

from privnb.attacks import Linkage
from privnb.measures import gains, linkage, mining, vulnerability
from privnb.microdata.counts import combinations
from privnb.microdata.dataset import load
from privnb.sanitizers import Identity, KMember, Suppress

SUBJECTS = (gains, linkage, mining, vulnerability)
FOUND = {
    name: function
    for subject in SUBJECTS
    for name, function in inspect.getmembers(subject, inspect.isfunction)
    if hasattr(function, "bounds") and function.__module__ == subject.__name__
}


@pytest.fixture(scope="module")
def values():
    """What each measure gives for the original, two clusterings, and full suppression: `{name: four numbers}`."""
    adult = load("adult", records=500)
    truth = adult.table.salary.to_numpy()
    values, taken = combinations(adult.table[adult.schema.quasi_identifiers]).index, {name: [] for name in FOUND}
    for sanitizer in (Identity(), KMember(2), KMember(50), Suppress()):
        release = sanitizer.sanitize(adult, rng=0)
        published, key = release._published(1)
        attack, counts = Linkage().fit(published), gains.class_counts(release, "salary")
        guessed = counts.argmax(axis=1)[release.classes]  # of each class the commonest salary
        people = mining.good_utility(np.array(["<=50K", ">50K"])[guessed], truth)
        one = {
            "prior_accuracy": gains.prior_accuracy(counts),
            "accuracy_gain": gains.accuracy_gain(counts),
            "knowledge_gain": gains.knowledge_gain(counts),
            "posterior_accuracy": gains.posterior_accuracy(counts),
            "information_gain": gains.information_gain(counts),
            "largest_disclosure": gains.largest_disclosure(counts),
            "largest_quotient": gains.largest_quotient(counts),
            "correct_links": linkage.correct_links(attack, adult, key)[0],
            "singled_out": linkage.singled_out(attack, adult, key),
            "good_utility": people,
            "utility_decline": mining.utility_decline(500, people),
            "register_vulnerability": vulnerability.register_vulnerability(release.indistinguishable, values),
            "anti_utility": mining.anti_utility(guessed == (truth == ">50K")),
        }
        for name, value in one.items():
            taken[name].append(value)
    return taken


def test_no_measure_is_left_out(values):
    assert all(len(numbers) == 4 for numbers in values.values()), values


@pytest.mark.parametrize("name", FOUND)
def test_within_its_bounds(values, name):
    low, high = FOUND[name].bounds
    assert all(low - 1e-12 <= value <= high + 1e-12 for value in values[name])


@pytest.mark.parametrize(
    "name", ["accuracy_gain", "knowledge_gain", "correct_links", "singled_out", "register_vulnerability"]
)
def test_privacy_is_best_under_full_suppression_and_worst_without(values, name):
    assert FOUND[name].kind == "privacy"
    assert FOUND[name].better == "lower"
    assert min(values[name]) >= values[name][3] - 1e-12
    assert max(values[name]) <= values[name][0] + 1e-12
    assert values[name][3] < values[name][0]


@pytest.mark.parametrize("name", FOUND)
def test_names_its_source(name):
    assert re.search(r"[Ss]ection\s+\d|Source:", FOUND[name].__doc__)
