"""Li and Li's experiments: what is run, what is said of all releases together, and what holds of Adult."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from support.results_frame import made, short

from privnb.datasets.dataset import load
from privnb.evaluation import profiles, trade_off as losses
from privnb.evaluation.evaluation_loop import answer_for_each
from privnb.evaluation.parameters import choose_study
from privnb.evaluation.results import KEY_COLUMNS, join_results, tidy
from privnb.measures.utility.queries import READINGS
from privnb.papers import (
    compare_directly,
    ledger,
    list_partitions,
    measure_queries,
    measure_trade_off,
    pair_losses,
    select_queries,
)

NOTEBOOK = Path(__file__).parent.parent.parent / "notebooks" / "06_li_li.ipynb"
pytestmark = pytest.mark.usefixtures("releases_once")


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=400)


def of(results, measure, sanitizer="Mondrian"):
    rows = results[(results.measure == measure) & (results.sanitizer == sanitizer)]
    return rows.set_index("parameters").value


def parameter(name):
    (cell,) = (c for c in nbformat.read(NOTEBOOK, 4).cells if "parameters" in c.metadata.get("tags", []))
    return re.search(rf'^{name} = "([^"]*)"', cell.source, re.MULTILINE)[1]


def test_the_study_of_the_paper_unless_another_is_asked_for(tmp_path):
    assert choose_study("adult") == "li-li"
    assert choose_study("adult", "occupation") == "occupation"
    assert choose_study("coins") == ""
    assert choose_study("nowhere", "mine") == "mine", "load says what is wrong with it"


def test_one_mondrian_a_bound(adult):
    found = list_partitions(adult, k="10, 20", l=3.5, t="0.1", delta="1, 2")
    names = {letter: [each.changed_params() for each in of_letter] for letter, of_letter in found.items()}
    assert names == {
        "k": ["k=10, split_point=left", "k=20, split_point=left"],
        "l": ["frequency l=3.5 occupation, split_point=left"],
        "t": ["Jensen-Shannon t=0.1 occupation, split_point=left"],
        "delta": ["delta=1 occupation, split_point=left", "delta=2 occupation, split_point=left"],
    }
    assert list_partitions(adult, k="10", median="nearest")["k"][0].changed_params() == "k=10"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "K, L, T and DELTA must not all be empty"),
        ({"l": "many"}, "L must be one number or several"),
        ({"delta": "0"}, "delta must be a positive number; got 0"),
        ({"k": "10", "median": "mean"}, "split_point must be one of left"),
        ({"t": "0.3, 0.7"}, r"t must be a number above 0 and below 0\.6931 .*; got 0\.7"),
    ],
)
def test_what_cannot_be_run_is_said(adult, given, said):
    with pytest.raises(ValueError, match=said):
        list_partitions(adult, **given)


@pytest.mark.slow
def test_every_release_in_both_forms_and_all_together(adult, ran):
    chosen = list_partitions(adult, k="10, 50, 5000", t="0.1, 0.3", delta="1")
    results = measure_trade_off(adult, chosen)
    private = of(results, "privacy_loss")
    assert len(private) == 5
    assert np.isnan(of(results, "classes")["k=5000, split_point=left"])
    buckets = of(results, "privacy_loss", "Bucketize")
    np.testing.assert_array_equal(buckets, private)
    every = "k=10 50 5000, t=0.1 0.3, delta=1"
    assert of(results, "largest_privacy_loss")[every] == private.max()
    small = of(results, "utility_loss") < 0.04
    assert of(results, "share_of_small_utility_loss")[every] == small.mean()
    above = results[results.measure == "above_scale"].set_index(["sanitizer", "group"]).value
    scale = results[results.measure == "revealed_loss"].value.min()
    for letter in chosen:
        assert above["Mondrian", letter] == (private[private.index.str.contains(f"{letter}=")] > scale).sum()
    below = of(results, "classes").filter(regex="delta=0")
    assert below.index.str.extract(r"delta=([\d.]+)")[0].astype(float).tolist() == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert not private.index.str.contains("delta=0").any()
    assert not results.duplicated(KEY_COLUMNS).any()
    assert {task.func for task in ran} == {losses.measure_scales, answer_for_each}


@pytest.mark.slow
def test_without_delta_nothing_is_said_of_delta(adult, ran):
    results = measure_trade_off(adult, list_partitions(adult, k="50"))
    assert not results.parameters.str.contains("delta").any()


@pytest.mark.slow
def test_figure_3_asks_what_the_paper_asks(adult, ran):
    results = measure_queries(adult, list_partitions(adult, k="50", t="0.1, 0.2, 0.3"), number=30, seeds=2)
    queries = results[results.measure == "queries"]
    queries = short(queries)
    plain = queries[queries.variant == ""]
    expected = {f"qd=4, sel={s}" for s in ("0.03", "0.05", "0.07", "0.1")} | {f"qd={d}, sel=0.05" for d in range(2, 7)}
    assert set(plain.target) == expected
    assert set(queries.target) - set(plain.target) == {f"{each}, literal" for each in expected}
    assert set(queries.seed) == {1, 2}
    errors = results[(results.measure == "average_relative_error")]
    of_k = errors[errors.parameters.str.contains("k=50")]
    assert set(of_k.target) == {"qd=4, sel=0.05"}
    assert set(of_k.sanitizer) == {"Mondrian", "Bucketize"}
    literal = errors[errors.variant == READINGS[1]]
    assert not literal.parameters.str.contains("t=0.2 ").any()
    assert not results.duplicated(KEY_COLUMNS).any()


def test_quick_and_full_draw_as_often_as_their_profiles_say():
    assert profiles.PROFILES["quick"].queries == 1
    assert profiles.PROFILES["full"].queries >= 10


@pytest.mark.slow
def test_fewer_quasi_identifiers_than_the_paper(ran):
    """Three of them: queries of four cannot be asked, nor is anything said of them."""
    data = load("adult", "occupation", records=400)
    results = measure_queries(data, list_partitions(data, t="0.3"), number=30)
    assert set(results.target.str.extract(r"qd=(\d)")[0]) == {"2", "3"}
    assert (results[results.measure == "queries"].value == 30).all()
    shown = pair_losses(
        join_results(measure_trade_off(data, list_partitions(data, t="0.3")), select_queries(results)),
        "average_relative_error",
    )
    assert shown.target.tolist() == ["qd=3, sel=0.05"]


def test_the_direct_comparison_takes_every_fourth(adult, ran):
    chosen = list_partitions(adult, k="10, 20, 30, 40, 50, 60", t="0.2, 0.4")
    results = compare_directly(adult, chosen, miners="majority")
    found = results[results.measure == "accuracy_gain"].parameters.tolist()
    assert found == [
        "k=10, split_point=left",
        "k=50, split_point=left",
        "Jensen-Shannon t=0.2 occupation, split_point=left",
    ]


# What is drawn of it


def row(sanitizer, parameters, measure, value, target="job", seed=1, baseline=np.nan):
    return made("town", sanitizer, parameters, seed, measure, "", target, value, np.nan, np.nan, baseline, "lower")


def errors():
    rows = [
        row(sanitizer, f"{prefix}{model}, split_point=left", "average_relative_error", value, target, seed)
        for sanitizer, prefix in (("Mondrian", ""), ("Bucketize", "partition=Mondrian "))
        for model, targets in (
            ("k=10", ["qd=4, sel=0.05"]),
            ("Jensen-Shannon t=0.1 job", ["qd=4, sel=0.05", "qd=4, sel=0.1", "qd=2, sel=0.05"]),
            ("Jensen-Shannon t=0.2 job", ["qd=4, sel=0.05", "qd=4, sel=0.1, literal"]),
        )
        for target in targets
        for seed, value in ((1, 0.1), (2, 0.3))
    ]
    return tidy([*rows, row("Mondrian", "k=10, split_point=left", "privacy_loss", 0.5)])


@pytest.mark.parametrize(
    ("by", "targets"),
    [
        ("", {"qd=4, sel=0.05"}),
        ("selectivity", {"qd=4, sel=0.05", "qd=4, sel=0.1"}),
        ("dimension", {"qd=4, sel=0.05", "qd=2, sel=0.05"}),
    ],
)
@pytest.mark.parametrize("form", ["Mondrian", "Bucketize"])
def test_one_panel_holds_its_own_queries(by, targets, form):
    found = select_queries(errors(), by, form)
    assert "privacy_loss" in set(found.measure)
    shown = found[found.measure == "average_relative_error"]
    assert set(shown.target) == targets
    assert set(shown.sanitizer) == {form}
    assert shown.parameters.str.contains("k=10").any() == (by == "")


@pytest.mark.slow
def test_every_task_of_people_withholds_by_the_limit_that_is_asked_for(adult, ran):
    some = list_partitions(adult, k="10", delta="1")
    measure_trade_off(adult, some, min_count=11)
    compare_directly(adult, some, miners="majority", min_count=11)
    assert {task.keywords["min_count"] for task in ran} == {11}


def test_losses_stand_side_by_side():
    found = pair_losses(errors(), "average_relative_error")
    assert found[["letter", "bound", "model", "form", "privacy"]].values.tolist() == [
        ["k", 10.0, "k-anonymity", "generalized", 0.5]
    ], "only what has both losses"
    assert found.value.tolist() == [pytest.approx(0.2)]
    assert found.low[0] < 0.2 < found.high[0]


# What holds of Adult


def test_the_ledger_names_the_lists_of_the_notebook():
    lists = {letter: parameter(letter.upper()) for letter in ("k", "l", "t", "delta")}
    every = ", ".join(f"{letter}={text.replace(',', '')}" for letter, text in lists.items())
    published = ledger.read_published()
    named = published[published.measure.isin(["largest_privacy_loss", "share_of_small_utility_loss", "above_scale"])]
    assert len(named) == 3
    assert set(named.parameters) == {every}


@pytest.mark.slow
def test_what_holds_of_adult(ran):
    """Bands of an independent study, whose Mondrian differs in its ties; no loss need be monotone in a parameter."""
    data = load("adult", "li-li")
    results = measure_trade_off(data, list_partitions(data, k="100, 5000", l="3", t="0.1", delta="2"))
    private, generalized = of(results, "privacy_loss"), of(results, "utility_loss")
    buckets = of(results, "utility_loss", "Bucketize")
    by_k = "k=5000, split_point=left"
    assert 0.01 < private[by_k] < 0.13
    assert 0.015 < generalized[by_k] < 0.045
    assert (buckets.to_numpy() < generalized.to_numpy()).all()
    by_t = private.filter(like="t=0.1").iloc[0]
    assert 0.09 < by_t <= 0.1, "a tight bound"
    assert (generalized < 0.04).all()
    assert private.filter(like="l=3").iloc[0] > 0.35
    trivial = results[(results.sanitizer == "Suppress") & (results.measure == "utility_loss")]
    assert trivial.value.round(5).tolist() == [0.04623]
    status = ledger.compare_with_published(results).set_index(["source", "item"]).status["li-li-2009"]
    exact = status[status.index.str.startswith(("Q/", "P_loss/revealed/", "U_loss/all"))]
    assert exact.drop("Q/Priv-house-serv").eq("exact").all()
    assert exact["Q/Priv-house-serv"] == "within"
    assert len(exact) == 17
