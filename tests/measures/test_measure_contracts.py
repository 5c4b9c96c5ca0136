"""Every measure states its facts, and keeps its bounds on real releases; they are found, not listed."""

import inspect
import math
import pkgutil
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from privnb import measures
from privnb.attacks import DistanceLinkage, Linkage
from privnb.datasets.dataset import load
from privnb.evaluation import store
from privnb.measures.disclosure import channel, gains, linkage, tradeoff, vulnerability
from privnb.measures.noise import breaches, noise_privacy
from privnb.measures.utility import information_loss, masking, mining, queries
from privnb.measures.utility.attribute_utility import average_utility
from privnb.measures.utility.populations import LargePopulations, size_error
from privnb.microdata.counts import count_combinations
from privnb.papers.askari_2012.enumeration.tables import Tables
from privnb.sanitizers import Identity, KMember, LaplaceNoise, RandomizedResponse, Suppress

FOUND = {
    name: function
    for module in pkgutil.walk_packages(measures.__path__, "privnb.measures.")
    for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction)
    if hasattr(function, "facts")
}
OF_CHANNELS = (
    "prior_vulnerability", "posterior_vulnerability", "bayes_risk", "santhi_vardy_bound", "prior_entropy",
    "conditional_entropy", "mutual_information", "min_entropy_leakage", "multiplicative_capacity",
    "additive_capacity",
)  # fmt: skip
OF_RELEASES = (
    "precision", "certainty_penalty", "normalized_certainty_penalty", "discernibility", "average_class_size",
    "suppressed_records", "suppressed_cells",
)  # fmt: skip
OF_MASKED = (
    "lost_variation", "masking_loss", "nearest_record_rate", "two_nearest_records_rate", "rank_interval_rate",
)  # fmt: skip
OF_NOISE = ("interval_privacy", "information_share_of_noise")
OF_BOTH = ("loss_metric", "non_uniform_entropy", "kl_divergence")
OF_BREACHES = ("upward_posterior", "mean_upward_posterior", "downward_posterior", "mean_downward_posterior")
TABLES = Tables.every({"age": ("young", "old"), "disease": ("cold", "flu")}, records=2)


@pytest.fixture(scope="module")
def values():
    """What each measure gives for the original, two clusterings, and full suppression: `{name: four numbers}`."""
    adult = load("adult", records=500)
    truth = adult.table.salary.to_numpy()
    asked = queries.CountQueries.of(adult, "salary", 2, 0.3, rng=0, number=50)
    groups = LargePopulations.of(adult, "salary")
    exact, exact_key = Identity().sanitize(adult, rng=0)._published(1)
    nearest, blurred = DistanceLinkage().fit(exact), LaplaceNoise(1).sanitize(adult, rng=0)
    answered = RandomizedResponse(1).sanitize(adult, rng=0)
    values, taken = count_combinations(adult.table[adult.schema.quasi_identifiers]).index, {name: [] for name in FOUND}
    for sanitizer in (Identity(), KMember(2), KMember(50), Suppress()):
        release = sanitizer.sanitize(adult, rng=0)
        published, key = release._published(1)
        attack, counts = Linkage().fit(published), gains.class_counts(release, "salary")
        guessed = counts.argmax(axis=1)[release.classes]  # of each class the most common salary
        people = mining.good_utility(np.array(["<=50K", ">50K"])[guessed], truth)
        told = vulnerability.record_channel(*release.by_class("salary"))
        one = {
            **{name: getattr(channel, name)(told) for name in OF_CHANNELS},
            **{name: getattr(information_loss, name)(release) for name in OF_RELEASES},
            **{name: getattr(information_loss, name)(adult, release) for name in OF_BOTH},
            "mean_absolute_error": information_loss.mean_absolute_error(adult, LaplaceNoise(1).sanitize(adult, rng=0)),
            "change_rate": information_loss.change_rate(adult, answered),
            "amplification": breaches.amplification(answered),
            **{name: getattr(breaches, name)(adult, answered) for name in OF_BREACHES},
            **{name: getattr(masking, name)(adult, blurred) for name in OF_MASKED},
            **{name: getattr(noise_privacy, name)(blurred, adult) for name in OF_NOISE},
            "average_relative_error": queries.average_relative_error(asked, release),
            "median_relative_error": queries.median_relative_error(asked, release),
            "privacy_loss": tradeoff.privacy_loss(release, "salary"),
            "utility_loss": tradeoff.utility_loss(groups, release),
            "size_error": size_error(groups, release),
            "average_utility": float(average_utility(TABLES).mean()),
            "prior_accuracy": gains.prior_accuracy(counts),
            "accuracy_gain": gains.accuracy_gain(counts),
            "knowledge_gain": gains.knowledge_gain(counts),
            "posterior_accuracy": gains.posterior_accuracy(counts),
            "information_gain": gains.information_gain(counts),
            "largest_posterior": gains.largest_posterior(counts),
            "largest_disclosure": gains.largest_disclosure(counts),
            "largest_quotient": gains.largest_quotient(counts),
            "reidentification_rate": linkage.reidentification_rate(attack, adult, key)[0],
            "singled_out": linkage.singled_out(attack, adult, key),
            "true_row_place": linkage.true_row_place(nearest, adult, exact_key)[0],
            "good_utility": people,
            "utility_decline": mining.utility_decline(500, people),
            "register_vulnerability": vulnerability.register_vulnerability(release.equivalence_classes, values),
            "anti_utility": mining.anti_utility(guessed == (truth == ">50K")),
        }
        for name, value in one.items():
            taken[name].append(value)
    return taken


@pytest.mark.slow
def test_no_measure_is_left_out(values):
    lacking = [name for name, numbers in values.items() if len(numbers) != 4]
    assert not lacking, "the fixture `values` needs a line for each measure"


@pytest.mark.parametrize("name", FOUND)
def test_within_its_bounds(values, name):
    low, high = FOUND[name].facts.bounds
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in values[name])


@pytest.mark.parametrize(
    "name",
    [
        "accuracy_gain", "knowledge_gain", "information_gain", "largest_disclosure", "largest_posterior",
        "privacy_loss", "reidentification_rate",
        "singled_out", "register_vulnerability", "posterior_vulnerability", "mutual_information", "additive_capacity",
    ],
)  # fmt: skip
def test_privacy_is_best_under_full_suppression_and_worst_without(values, name):
    assert FOUND[name].facts.kind == "privacy"
    assert FOUND[name].facts.better == "lower"
    assert min(values[name]) >= values[name][3] - 1e-9
    assert max(values[name]) <= values[name][0] + 1e-9
    assert values[name][3] < values[name][0]


@pytest.mark.parametrize("name", [*OF_RELEASES, *OF_BOTH, "utility_loss", "size_error"])
def test_information_loss_is_least_in_the_original(values, name):
    facts = FOUND[name].facts
    assert facts.kind == "utility"
    best = max if facts.better == "higher" else min
    assert best(values[name]) == pytest.approx(values[name][0], abs=1e-9)
    assert values[name][3] != values[name][0]


@pytest.mark.parametrize("name", FOUND)
def test_states_its_facts_under_the_name_that_results_carry(name):
    facts = FOUND[name].facts
    assert measures.measure_facts(name) == facts
    assert facts.kind
    assert facts.better
    assert facts.title
    assert facts.sentence.endswith(".")
    assert facts.unit
    assert facts.source
    assert "nan" not in facts.written(0.5)
    assert facts.written(math.inf) == "unbounded"


def test_a_name_has_one_measure():
    with pytest.raises(ValueError, match="other facts are already stated for 'accuracy_gain'"):
        measures.register_measure("accuracy_gain", title="Another")
    with pytest.raises(ValueError, match="Give the measure another name"):

        @measures.measure(kind="privacy", better="lower", bounds=(0, 1))
        def knowledge_gain():
            """Of another file."""


@pytest.mark.parametrize(
    "found",
    [
        math.nan, 47.0, -1, math.inf, -1e-6, None, "0.5", [0.5], (0.5, 0.6, 0.7), (0.5, 0.1, 0.4), (0.5, 0.4),
        (0.5,) * 4, (math.nan, math.nan, math.nan), (math.nan, 0.7, 0.6), (0.5, None, None), np.array([0.5, 2]),
        np.array(["a"]),
    ],
)  # fmt: skip
def test_what_is_no_number_within_the_bounds_is_an_error_of_the_measure(found):
    """NaN would stand in results as withheld, as if it protected somebody."""
    with pytest.raises(ValueError, match=r"measure 'of_a_test' must return a number from 0 to 1, .* got .*Unreadable"):
        gives(found)(1)


@pytest.mark.parametrize(
    "found",
    [
        0, 1, True, 1 + 1e-12, -1e-12, np.float32(0.1), np.int64(1), Fraction(1, 3), np.array([0.5, 1]), np.bool_(True),
        (0.5, math.nan, math.nan), (0.5, 0.5, 0.5), (1.0, 0.9, 1 - 1e-12), (math.nan, 0.1, 0.2),
    ],
)  # fmt: skip
def test_a_number_with_an_interval_or_without_and_a_withheld_one_are_given_as_they_are(found):
    assert gives(found)(1) is found


def gives(found):
    @measures.measure(kind="privacy", better="lower", bounds=(0, 1))
    def of_a_test(release_of_a_test):
        return found

    return of_a_test


def test_a_measure_that_is_defined_again_is_the_new_one():
    for title in ("Homogeneity", "Homogeneous classes"):

        @measures.measure(kind="privacy", better="lower", bounds=(0, 1), title=title)
        def given_away(counts):
            return (counts.max(axis=1) == counts.sum(axis=1)).mean()

        assert measures.measure_facts("given_away").phrase == title.lower()


def test_a_measure_describes_what_its_name_and_facts_say():
    """Its arguments and its range, so that they are written once; a section of its own stays as it is."""
    text = inspect.getdoc(gains.information_gain)
    assert "Parameters\n----------\ncounts : integer array (classes, values)" in text
    assert "Returns\n-------\nfloat\n    From 0 to inf (nats); lower is better.\n\nSource: Brickell" in text
    assert "Returns" not in inspect.getdoc(gains.prior_accuracy), "of one argument its sentence says enough"
    assert inspect.getdoc(tradeoff.privacy_loss).count("Parameters\n---") == 1


def test_who_asks_for_facts_waits_for_no_library_of_workers(monkeypatch):
    asked = []
    monkeypatch.setattr(measures.base, "import_module", lambda name: asked.append(name) or import_module(name))
    for room in measures.base._rooms:
        measures.base._import_room.__wrapped__(room)
    assert {f"privnb.evaluation.{name}" for name in ("results", "utility.workload")} <= {*asked}
    assert not {*asked} & {*store.LIBRARIES}


def test_old_names_of_the_registry_warn():
    with pytest.warns(DeprecationWarning, match="'facts' is now 'measure_facts'"):
        assert measures.facts is measures.measure_facts
    with pytest.raises(AttributeError, match="no attribute 'fact'"):
        measures.fact  # noqa: B018
