"""Tables of a few records, and tables in which every combination of quasi-identifiers occurs, as people have them."""

import re

import numpy as np
import pandas as pd
import pytest

from privnb import evaluation, papers
from privnb.datasets.dataset import Dataset
from privnb.decision import policies, policy_search
from privnb.evaluation import parameters, profiles
from privnb.evaluation.experiments import users_and_adversaries
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Numbers, Role, Schema
from privnb.papers import charts as paper_charts, findings as paper_findings
from privnb.privacy_models import EntropyDiversity, FrequencyDiversity, KAnonymity, RecursiveDiversity
from privnb.reporting import charts, findings, gallery
from privnb.reporting.run_notes import show_notes
from privnb.runtime.numerals import write_without_unit
from privnb.sanitizers import Anatomy, KMember, LaplaceNoise, Mondrian, SanitizationError, catalogue

SCHEMA = Schema(
    "few",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 60)),
        Attribute("region", Role.QUASI_IDENTIFIER, Categories(("n", "s", "w"))),
        Attribute("plan", Role.QUASI_IDENTIFIER, Categories(("x", "y", "z"))),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout", "cold"))),
    ),
)


def table(records):
    """Of 369 records and more every combination occurs."""
    every = np.array([(age, region, plan) for age in range(41) for region in range(3) for plan in range(3)])
    rows = (
        every[np.arange(records) % len(every)] if records >= len(every) else every[:: len(every) // records][:records]
    )
    values = {"age": rows[:, 0] + 20, "region": np.array([*"nsw"])[rows[:, 1]], "plan": np.array([*"xyz"])[rows[:, 2]]}
    return pd.DataFrame(values).assign(illness=[("flu", "gout", "cold")[i % 3] for i in range(records)])


def dataset(records):
    return Dataset("few", table(records), SCHEMA, {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers})


def test_defaults_of_k_end_where_the_table_does():
    assert parameters.choose_k("", dataset(5)) == "2"
    assert parameters.choose_k(" ", dataset(50)) == "2, 10, 50"
    assert parameters.choose_k("", dataset(400)) == "2, 10, 50, 100"
    assert parameters.build_sramka_sanitizers(parameters.choose_k("", dataset(5)), "1") == [
        KMember(2),
        LaplaceNoise(1.0),
    ]


def test_show_notes_names_the_defaults_of_k_that_are_too_large():
    note = show_notes(dataset(15), k="").data
    assert "except 50 and 100, because the table has 15 records" in note
    assert show_notes(dataset(100), k="") is None
    assert show_notes(dataset(15), k="2, 100") is None
    assert show_notes(dataset(15)) is None


def test_why_a_setting_cannot_be_had_does_not_tell_how_few_have_another_value():
    """Of 100 people all but three have the flu: neither 97, nor 1.03 = 100 / 97, nor the entropy is said."""
    whole = dataset(100)
    whole = Dataset("few", whole.table.assign(illness=["gout"] * 3 + ["flu"] * 97), SCHEMA, whole.hierarchies)
    models = [FrequencyDiversity(2, "illness"), EntropyDiversity(2, "illness"), RecursiveDiversity(3, 2, "illness")]
    sanitizers = [Anatomy(2, "illness"), *(Mondrian(KAnonymity(2), model) for model in models)]
    for sanitizer in sanitizers:
        with pytest.raises(SanitizationError, match="cannot be reached") as refused:
            sanitizer.sanitize(whole, rng=1)
        said = str(refused.value).removeprefix(repr(sanitizer))
        assert {float(number) for number in re.findall(r"\d+\.?\d*", said)} <= {2, 3}  # the bounds


@pytest.mark.parametrize("asked", ["100", "2, 100", 100])
def test_a_k_that_was_asked_for_is_not_left_out(asked):
    with pytest.raises(ValueError, match=r"K must not exceed the 15 records of few; got 100"):
        parameters.choose_k(asked, dataset(15))
    assert parameters.choose_k(asked, dataset(100)) == asked
    with pytest.raises(SanitizationError, match=r"KMember\(k=100.* the table has 15 records. Lower k to 15 or less"):
        KMember(100).sanitize(dataset(15), rng=1)


@pytest.mark.parametrize("records", [2, 5, 9])
def test_groups_of_too_few_people_are_a_sentence(records):
    shown = charts.people(evaluation.count_people(dataset(records), "age"))
    assert shown.data == "The table has fewer than 10 people, so no group of people is shown."


@pytest.mark.parametrize("records", [2, 5, 9])
def test_a_share_of_few_people_is_no_hardly_any(records):
    """All of them are unique; nobody is told how many, and at most all are."""
    unique = evaluation.measure_uniqueness(dataset(records))
    assert unique.value.isna().any()
    assert (unique.high <= 1).all()
    said = findings.uniqueness(evaluation.join_results(evaluation.describe(dataset(records)), unique))
    assert said.given["all"]["value"] is None
    assert f"between {write_without_unit('{:%}', 1 / records)} and 100%" in said.data


@pytest.mark.slow
def test_where_every_combination_occurs_the_gallery_is_a_sentence():
    data = dataset(400)
    shown = gallery.show_side_by_side(data, catalogue.build_one_per_class(data, k=5))
    assert "every combination of the quasi-identifiers of 'few' belongs to somebody" in shown.data
    assert "age" in str(gallery.show_side_by_side(dataset(60), [KMember(2)]).table)


# What miners guess of so few people is withheld; each page says so, and none ends before its last line.


@pytest.fixture
def here(monkeypatch):
    """Tasks run in this process."""
    monkeypatch.setattr(
        profiles,
        "run_tasks",
        lambda tasks, store, description: [task.func(*task.args, **task.keywords) for task in tasks],
    )


@pytest.mark.parametrize("records", [2, 5, 9])
def test_a_table_of_fewer_records_than_folds_has_a_fold_a_record(records):
    found = evaluation.measure_good_utility(dataset(records), [KMember(2)], miners="majority, decision tree")
    assert set(found.measure) == {"good_utility", "utility_decline"}
    assert found.value.isna().all()


@pytest.mark.parametrize("records", [2, 9])
def test_what_users_keep_of_few_people_is_withheld_in_words(here, records):
    found = users_and_adversaries.evaluate_users(dataset(records), [KMember(2), LaplaceNoise(0.5)], miners="majority")
    assert charts.declines(found).data == "None of these settings has a utility decline."
    assert findings.utility_declines(found).given["is_withheld"]


def test_a_miner_that_is_right_for_nobody_on_the_original_has_no_decline(here):
    """Of 15 people with three illnesses, five each, a majority of the others never has one's own."""
    found = users_and_adversaries.evaluate_users(dataset(15), [KMember(2)], miners="majority")
    assert found[found.measure == "good_utility"].value.tolist() == [0, 0]
    assert not (found.measure == "utility_decline").any()
    assert charts.declines(found).data == "None of these settings has a utility decline."
    assert findings.utility_declines(found).given["largest"] is None


@pytest.mark.slow
def test_a_decline_that_is_withheld_beside_one_that_is_told_is_not_drawn(here):
    """Under noise naive Bayes misses a few of 60 people."""
    found = users_and_adversaries.evaluate_users(
        dataset(60), [KMember(2), LaplaceNoise(0.5)], miners="majority, naive Bayes"
    )
    withheld = found[(found.measure == "utility_decline") & found.value.isna()]
    assert set(withheld.sanitizer) == {"LaplaceNoise"}
    assert "at most 0%" in " ".join(charts.declines(found).to_dict()["title"]["text"])
    largest = findings.utility_declines(found).given["largest"]
    assert (largest["setting"], largest["miner"]) == ("k-member clustering, k = 2", "majority")
    original = found.assign(value=found.value.mask(found.sanitizer == "Identity"))
    assert findings.utility_declines(original).given["guess"]["better"] == "unknown"


@pytest.mark.slow
@pytest.mark.parametrize("records", [2, 9])
def test_without_a_researcher_there_is_nothing_to_compare(here, records):
    compared = papers.compare_sanitizers(papers.list_data_sets([dataset(records)]), miners="majority")
    assert not (compared.measure == "workload_gain").any()
    assert "a researcher's gain" in paper_charts.compare_gains(compared).data
    assert "nothing to compare" in paper_findings.adversary_and_researcher(compared).data


def test_of_fewer_people_than_may_be_shown_nothing_is_decided():
    with pytest.raises(NotForThisTable, match="'few' has 9 people, and every count of fewer than 10"):
        policy_search.search_policy(dataset(9), policies.read("k-5"), seeds=1)
