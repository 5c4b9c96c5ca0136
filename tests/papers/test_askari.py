"""Askari et al.'s examples and the full-scale question: the oracles, what is run, and that gains are leakage."""

import math

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb import papers
from privnb.datasets.dataset import load
from privnb.evaluation.results import COLUMNS, KEY_COLUMNS, join_results
from privnb.papers import ledger, list_channels, measure_guess_values, measure_known_attributes, measure_leakage
from privnb.papers.askari_2012 import small_channels
from privnb.papers.askari_2012.enumeration.errata import section_5_domains
from privnb.sanitizers import Anatomy, Identity, Suppress


@pytest.fixture(scope="module")
def adult():
    return load("adult", "occupation", records=600)


@pytest.fixture(scope="module")
def small():
    """All but the paper's large example."""
    tiny = [name for name in small_channels.SPACES if name != "section 5.3"]
    return join_results(
        small_channels.measure_appendix(), small_channels.measure_aims(), *map(small_channels.measure_space, tiny)
    )


def of(results, measure, **where):
    rows = results[results.measure == measure]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows


# Small tables


@pytest.mark.slow
def test_rows_are_distinguished(small):
    assert list(small.columns) == COLUMNS
    assert not small.duplicated(KEY_COLUMNS).any()
    assert small.dataset.str.startswith("askari: ").all()


@pytest.mark.parametrize(
    ("name", "risks"),
    [
        ("2 rows, ages 2-1", {"any level": 2 / 5, "the lowest": 1 / 10, "all suppressed": 7 / 10}),
        ("3 rows, ages 4-2-1", {"any level": 8 / 9, "the lowest": 23 / 30, "all suppressed": 1 - 4 / 120}),
    ],
)
def test_the_oracles_of_small_spaces(small, name, risks):
    rows = of(small, "bayes_risk", dataset=f"askari: {name}").set_index("sanitizer")
    assert {chosen: rows.value[chosen] for chosen in risks} == pytest.approx(risks)
    inputs = of(small, "tables", dataset=f"askari: {name}").value.iloc[0]
    assert rows.baseline.to_numpy() == pytest.approx(1 - 1 / inputs)


def test_risks_keep_their_bounds_and_vulnerability_is_the_rest(small):
    wide = small.pivot_table(index=["dataset", "sanitizer", "knows"], columns="measure", values="value").dropna(
        subset="bayes_risk"
    )
    assert len(wide) == 4 + 3 * 4
    slack = 1e-12
    assert (wide.lowest_bayes_risk <= wide.bayes_risk + slack).all()
    assert (wide.bayes_risk <= wide.highest_bayes_risk + slack).all()
    assert (wide.bayes_risk <= wide.santhi_vardy_bound + slack).all()
    assert (wide.bayes_risk + wide.posterior_vulnerability).to_numpy() == pytest.approx(1)
    fixed = wide[wide.index.get_level_values("sanitizer").isin(["the lowest", "all suppressed"])]
    assert fixed.bayes_risk.to_numpy() == pytest.approx(fixed.lowest_bayes_risk.to_numpy()), "1 - m/n, section 4.1"


def test_what_else_adversaries_want(small):
    """To hit the whole table is the hardest; who knows of a person starts higher and ends higher."""
    gains = of(small, "expected_gain").pivot_table(index="target", columns="knows", values="value")
    assert gains["knows nothing"].idxmin() == "the table"
    assert (gains["knows a person"] > gains["knows nothing"]).all()
    risk = of(small, "bayes_risk", dataset="askari: 3 rows, ages 4-2-1", sanitizer="any level").value.iloc[0]
    assert gains["knows nothing"]["the table"] == pytest.approx(1 - risk)


@pytest.mark.slow
def test_the_papers_example_is_listed_and_all_printed_numbers_are_met(ran):
    """98,280 tables of which 3,528 are 2-anonymous; every number that the paper prints."""
    results = papers.measure_small_tables()
    whole = results[results.dataset == "askari: section 5.3"]
    assert of(whole, "tables").value.tolist() == [98280]
    assert of(whole, "anonymous_tables").value.tolist() == [3528]
    assert of(whole, "releases", sanitizer="any level").value.tolist() == [section_5_domains().number_of_releases]
    compared = ledger.compare_with_published(results)
    printed = compared[compared.source == "askari-2012"]
    assert len(printed) == 9
    assert set(printed.status) == {"exact"}
    assert {task.func for task in ran} == {
        small_channels.measure_appendix, small_channels.measure_aims, small_channels.measure_users,
        small_channels.measure_space,
    }  # fmt: skip


def test_capacities_are_above_what_leaks(small):
    wide = small.pivot_table(index=["dataset", "sanitizer", "knows"], columns="measure", values="value")
    wide = wide.dropna(subset="shannon_leakage")
    assert len(wide) == 4 + 3 * 4
    leaked = wide.posterior_vulnerability - wide.prior_vulnerability
    assert (leaked <= wide.additive_capacity + 1e-12).all()
    assert (wide.min_entropy_leakage <= np.log2(wide.multiplicative_capacity) + 1e-12).all()
    fixed = wide.loc[(slice(None), "the lowest"), :]
    inputs = small[small.measure == "tables"].set_index("dataset").value
    told = fixed.shannon_leakage.droplevel(["sanitizer", "knows"])
    assert (told < np.log2(inputs[told.index])).all()
    assert wide.shannon_leakage["askari: appendix", "its mechanism", "knows nothing"] == pytest.approx(
        2 - 1.680905, abs=1e-6
    )


def test_users_who_know_something_have_less_to_lose():
    """By the rows of every table: half of all people are 20, known before."""
    found = small_channels.measure_users().set_index(["measure", "sanitizer", "knows", "target"]).value.sort_index()
    original = found["user_utility", "original"]
    # Of ages 1/2, 1/6, 1/6, 1/6; the disease stays as it was.
    known = 2 - (0.5 + 0.5 * math.log2(6))
    assert original["knows nothing", "age"] - original["knows the ages", "age"] == pytest.approx(known)
    assert original["knows nothing", "disease"] == pytest.approx(original["knows the ages", "disease"])
    lost = found["user_degradation", "any level"]
    for target in ("age", "disease", small_channels.EITHER):
        each = lost["knows nothing", target], lost["knows the ages", target]
        assert lost["a population of both", target] == pytest.approx(sum(each) / 2)
        assert each[1] < each[0] or target == "disease"
    whole = small_channels.measure_space("4 rows, ages 4-2-1")
    same = of(whole, "degradation", sanitizer="any level").value.iloc[0]
    assert lost["knows nothing", small_channels.EITHER] == pytest.approx(same)


# Whole tables


def test_one_sanitizer_of_each_kind_at_each_value_between_the_ends(adult):
    found = list_channels(adult, k="5, 10", l="2", epsilon="0.5, 1")
    names = [type(each).__name__ for each in found]
    assert (found[0], found[-1]) == (Identity(), Suppress())
    assert len(set(found)) == len(found)
    assert names.count("Mondrian") == names.count("Bucketize") == names.count("LaplaceNoise") == 2
    assert names.count("Anatomy") == 1
    assert names.index("Mondrian") + 1 == len(names) - 1 - names[::-1].index("Mondrian"), "of one kind side by side"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": ""}, "each be one number, or several"),
        ({"k": "1"}, "k must be a whole number of at least 2"),
        ({"l": "few"}, "L must be one"),
        ({"epsilon": "-1"}, "epsilon must be a positive number"),
    ],
)
def test_what_cannot_be_run_is_said(adult, given, said):
    with pytest.raises(ValueError, match=said):
        list_channels(adult, **given)


@pytest.mark.slow
def test_gains_are_the_leakage_of_the_channel(adult, ran):
    """Posterior minus prior vulnerability is the accuracy gain, the mean total variation the knowledge gain."""
    results = measure_leakage(adult, list_channels(adult, k="10", l="2", epsilon="1"))
    keys = ["sanitizer", "parameters"]
    checked = 0
    for what in ("sensitive", "bucket"):
        told = of(results, f"{what}_vulnerability").set_index(keys)
        moved = of(results, f"{what}_additive_capacity").set_index(keys).value
        accuracy, knowledge = (of(results, f"{name}_gain").set_index(keys).value for name in ("accuracy", "knowledge"))
        for key in told.index.intersection(moved.index):
            if what == "bucket" or key[0] not in ("Bucketize", "Anatomy"):
                assert told.value[key] - told.baseline[key] == pytest.approx(accuracy[key])
                assert moved[key] == pytest.approx(knowledge[key])
                checked += 1
    assert checked == 10, "the ends, six that generalize, two kinds of buckets"
    noisy = results[results.sanitizer.isin(["LaplaceNoise", "GeometricNoise", "RandomizedResponse"])]
    assert len(noisy)
    assert not noisy.measure.str.contains("gain").any()
    assert not results.duplicated(KEY_COLUMNS).any()


def test_a_sanitizer_that_cannot_be_leaves_only_that(adult, ran):
    results = measure_leakage(adult, [Identity(), Anatomy(14, "occupation")])
    rows = results[results.sanitizer == "Anatomy"]
    assert rows[["measure", "status"]].to_numpy().tolist() == [["classes", "not possible"]]


def test_every_set_of_the_original_and_of_its_generalizations(adult, ran):
    results = measure_known_attributes(adult, k="5, 10")
    assert results.parameters.drop_duplicates().tolist() == ["", "k=5", "k=10"]
    assert len(results) == 3 * 2 * 7
    assert len(ran) == 3


def test_gains_that_would_tell_what_is_withheld_are_withheld(ran):
    """50 of 60 are guessed right: a gain and the share of the most common value would tell how few are missed."""
    adult = load("adult", "occupation", records=60)
    for min_count, told in ((10, {"Identity", "Suppress"}), (11, {"Suppress"})):
        results = measure_leakage(adult, [Identity(), Suppress()], min_count=min_count)
        assert set(of(results, "sensitive_vulnerability").dropna(subset="value").sanitizer) == told
        for measure in ("accuracy_gain", "knowledge_gain"):
            assert set(of(results, measure).sanitizer) == told


def test_a_price_on_wrong_guesses(adult, ran):
    """For nothing, the gain is the vulnerability; the dearer a wrong guess, the less is gained, and never below 0."""
    sanitizers = [Identity(), Suppress(), Anatomy(14, "occupation")]
    free, dear, dearer = (
        measure_guess_values(adult, sanitizers, price=price).set_index("sanitizer") for price in (0, 1, 5)
    )
    told = of(measure_leakage(adult, sanitizers[:2]), "sensitive_vulnerability").set_index("sanitizer")
    assert set(free.index) == {"Identity", "Suppress"}, "the third cannot be"
    for column in ("value", "baseline"):
        assert free[column].to_dict() == pytest.approx(told[column].to_dict())
    assert free.value["Identity"] > dear.value["Identity"] > dearer.value["Identity"] > 0
    assert dear.value["Suppress"] == 0
    with pytest.raises(ValueError, match="the price of a wrong guess must be at least 0; got -1"):
        measure_guess_values(adult, sanitizers, price=-1)


@pytest.mark.slow
def test_an_owners_table(ran):
    clinic = load(CLINIC)
    results = join_results(
        measure_known_attributes(clinic, k="5"),
        measure_leakage(clinic, list_channels(clinic, k="5", l="2", epsilon="0.5")),
    )
    assert set(results.dataset) == {clinic.name}
    assert not results.duplicated(KEY_COLUMNS).any()
