"""Disclosure by rules, trees and published models of a sample of Adult: tidy results, charts and findings."""

import numpy as np
import pandas as pd
import pytest

from privnb import evaluation
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.disclosure import published_models
from privnb.evaluation.experiments import hidden_rules, mining_results
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, NotForThisTable, Role, Schema
from privnb.miners.rules import Rule
from privnb.reporting import charts, findings
from privnb.runtime.numerals import write_percent
from privnb.sanitizers import Anatomy, Identity, RandomizedResponse, Suppress


@pytest.fixture(scope="module")
def dataset():
    return mining_results.check_table(load("adult", records=1500))


@pytest.fixture(scope="module")
def hidden(dataset):
    return hidden_rules.compare_rule_hiding(dataset, hidden_rules.find_sensitive_rules(dataset, 0.02, number=5), 0.02)


@pytest.fixture(scope="module")
def results(dataset, hidden):
    return evaluation.join_results(
        published_models.attack_published_models(dataset, "majority, unpruned tree", examples=100),
        mining_results.find_inference_channels(dataset, [0.02, 0.1], k=10),
        mining_results.compare_trees(dataset, [5, 50, 100_000], few=10),
        hidden,
        mining_results.mine_releases(dataset, [Identity(), RandomizedResponse(2.0), Suppress()], 0.02),
    )


def value(results, measure, **columns):
    rows = results[results.measure == measure]
    for column, wanted in columns.items():
        rows = rows[rows[column] == wanted]
    (found,) = rows.value
    return found


@pytest.mark.slow
def test_fewer_itemsets_open_fewer_channels(results):
    few, many = (value(results, "inference_channels", bound=bound) for bound in (0.1, 0.02))
    assert 0 <= few < many
    assert value(results, "itemsets", bound=0.1) < value(results, "itemsets", bound=0.02)
    assert value(results, "support_added", bound=0.02) > 0


def test_the_intact_table_gives_every_itemset_and_nothing_gives_few(results):
    for measure in ("missed_itemsets", "false_itemsets", "support_error"):
        found = [value(results, measure, sanitizer=each) for each in ("Identity", "RandomizedResponse", "Suppress")]
        assert found[0] == 0
        assert min(found[1:]) > 0


def test_a_release_without_a_cell_for_each_says_why(dataset):
    rows = mining_results.mine_releases(dataset, [Anatomy(2, "salary")], 0.02)
    assert rows.status.tolist() in (["refused"], ["not possible"])
    assert rows.reason.iloc[0]


def test_sensitive_rules_end_in_a_rare_value_of_the_secret(dataset):
    found = hidden_rules.find_sensitive_rules(dataset, 0.02, number=5)
    assert len(found) == 5
    assert {each for rule in found for each in rule.right} == {"salary=>50K"}
    assert hidden_rules.find_sensitive_rules(dataset, 0.9) == []
    assert len(hidden_rules.compare_rule_hiding(dataset, [], 0.02)) == 0


def test_all_ways_hide_and_blocking_is_undone(hidden):
    shown = hidden[hidden.variant == ""]
    failures = shown[shown.measure == "hiding_failure"].set_index("sanitizer").value
    assert failures.drop("1.a").max() == 0
    assert len(failures) == 18
    assert value(hidden, "optimality_gap") == 0
    assert value(hidden, "artifactual_patterns", sanitizer="blocking", variant="") == 0
    assert value(hidden, "hiding_failure", variant="filled in") > 0
    cost = shown[shown.measure == "cells_changed"].set_index("sanitizer").value
    by_support = ["2.b", "2.c", "lattice", "naive", "MinFIA", "MaxFIA", "IGA", "SWA", "disaggregate"]
    assert cost["exact program"] <= cost[by_support].min()


def test_a_tree_of_k_has_no_small_leaf(results):
    assert value(results, "in_small_leaves", sanitizer="tree") > 0.2
    assert value(results, "in_small_leaves", bound=50) == 0
    assert 100_000 not in set(results.bound), "the half has not so many people"
    accuracy = results[results.measure == "tree_accuracy"]
    assert (accuracy.low < accuracy.value).all()
    assert accuracy.baseline.nunique() == 1


def test_the_finding_names_the_model_that_discloses_most(results):
    found = findings.disclosed_models(results)
    models = found.given["models"]
    assert (models["best"]["miner"], models["is_open"]) == ("unpruned tree", True)
    assert (models["open"], models["number"]) == (1, 2)
    assert write_percent(models["best"]["value"]) in found.data.split("\n\n")[0]
    assert "nan" not in repr(found)
    for part in (results[results.miner != "unpruned tree"], results[results.measure == "inference_channels"].head(0)):
        others = findings.disclosed_models(part).given["models"]
        assert others is None or not others["is_open"]


def test_new_rules_are_unknown_if_no_rule_is_left(hidden):
    lost = hidden.assign(value=hidden.value.where(hidden.measure != "artifactual_patterns"))
    found, without = findings.disclosed_models(hidden).given, findings.disclosed_models(lost).given
    assert found["hidden"]["new"] is not None
    assert without["hidden"] == found["hidden"] | {"new": None}
    assert found["unblocked"]
    assert not findings.disclosed_models(hidden[hidden.measure != "cells_filled"]).given["unblocked"]


def test_charts_say_their_number(results):
    for made in (charts.hidden_rules(results), charts.published_models(results)):
        spec = made.to_dict()
        assert "%" in str(spec["title"]["text"])
    nothing = results.head(0)
    assert "hidden rule" in repr(charts.hidden_rules(nothing))
    assert "published model" in repr(charts.published_models(nothing))


@pytest.mark.slow
def test_supports_are_doubled_until_the_itemsets_can_be_read():
    """Eighteen answers that nearly everybody gives: all sets of up to four of them are as frequent, 4,048."""
    answers = {f"q{i}": np.where(np.arange(60) % 30 == i, "yes", "no") for i in range(18)}
    columns = [Attribute(name, Role.QUASI_IDENTIFIER, Categories(("no", "yes"))) for name in answers]
    trees = {each.name: flat(each) for each in columns}
    asked = Dataset("asked", pd.DataFrame(answers), Schema("asked", tuple(columns)), trees)
    assert mining_results.parse_supports("0.1, 0.9", asked, 2) == [0.9, 1.0]


def test_supports_are_of_k_people_at_least(dataset):
    assert mining_results.parse_supports("0.5, 0.001", dataset, 30) == [0.02, 0.5]
    assert mining_results.parse_tree_bounds("5, 2") == [2, 5]
    assert mining_results.limit_examples(dataset, 500) == 150
    assert [type(each).__name__ for each in mining_results.build_rule_sanitizers(dataset, 10, "6")] == [
        "Mondrian", "FullDomain", "RandomizedResponse", "MASK", "GammaDiagonal", "Suppress"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda d: mining_results.parse_supports("2", d, 10), "SUPPORT must be one share"),
        (lambda d: mining_results.parse_supports("", d, 10), "SUPPORT must be one share"),
        (lambda d: mining_results.parse_supports("0.1", d, 1), "k must be a whole number of at least 2"),
        (lambda d: mining_results.parse_tree_bounds("1"), "K_TREE must be one whole number"),
        (lambda d: mining_results.parse_tree_bounds(""), "K_TREE must be one whole number"),
        (lambda d: mining_results.limit_examples(d, 1), "EXAMPLES must be a whole number of at least 2"),
        (lambda d: hidden_rules.find_sensitive_rules(d, 0.1, number=0), "number must be a whole number"),
        (lambda d: hidden_rules.compare_rule_hiding(d, ["a => b"], 0.1), "must be a Rule"),
        (
            lambda d: hidden_rules.compare_rule_hiding(d, [Rule.read("sex=X => salary=>50K")], 0.1),
            "there is no item 'sex=X'",
        ),
        (lambda d: mining_results.find_inference_channels(d, [0.1], k=1), "k must be a whole number of at least 2"),
        (lambda d: mining_results.build_rule_sanitizers(d, 10, "x"), "EPSILON_RULES"),
    ],
)
def test_bad_input_is_a_clear_error(dataset, call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call(dataset)


def test_tables_without_categories_or_a_secret_have_no_page():
    with pytest.raises(NotForThisTable, match="has no published categorical attribute"):
        mining_results.check_table(load("census"))
    assert np.isfinite(len(mining_results.check_table(load("hypertension"))))
