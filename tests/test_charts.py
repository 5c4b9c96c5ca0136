"""Charts hold aggregates, are titled and described, and draw."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privnb import charts, evaluation
from privnb.dataset import load


@pytest.fixture(scope="module")
def results():
    adult = load("adult", records=1200)
    settings = evaluation.settings(k="2, 50", epsilon=0.5)
    return {
        "facts": evaluation.describe(adult),
        "unique": evaluation.uniqueness(adult),
        "costs": evaluation.costs(adult, [*evaluation.ends(), *settings]),
        "utility": evaluation.good_utility(adult, settings, miners="naive Bayes, decision tree", folds=3),
        "mined": evaluation.anti_utility(adult, settings, miners="majority, decision stump"),
        "links": evaluation.linked(adult, [*evaluation.ends(), *settings]),
        "gains": evaluation.gains_with_predictions(adult, settings[:2], miners="majority, decision stump"),
        "ages": evaluation.people_by(adult, "age"),
    }


@pytest.fixture(scope="module")
def drawn(results):
    return {
        "people": charts.people(results["ages"]),
        "uniqueness": charts.uniqueness(results["unique"]),
        "costs": charts.bars(results["costs"], "certainty_penalty", "A title", "a share", format=".1%"),
        "links": charts.bars(results["links"], "correct_links", "A title", "a share", format=".1%"),
        "dots": charts.dots(results["utility"], "good_utility", "A title", "people", of=1200),
        "spans": charts.spans(results["mined"], "anti_utility_A", "A title", "people", of=1200),
        "gains": charts.gains(results["gains"], "accuracy_gain", "A title", "a gain"),
    }


NAMES = ["people", "uniqueness", "costs", "links", "dots", "spans", "gains"]


@pytest.mark.parametrize("name", NAMES)
def test_titled_described_and_small(drawn, name):
    spec = drawn[name].to_dict()
    assert spec["title"]
    assert len(spec["description"]) > 40
    assert all(len(rows) <= 60 for rows in spec["datasets"].values())


@pytest.mark.parametrize("name", NAMES)
def test_draws_without_a_network(drawn, name):
    import vl_convert

    svg = vl_convert.vegalite_to_svg(drawn[name].to_dict())
    assert svg.startswith("<svg")
    # An empty plot has axes but no marks.
    assert svg.count("<path") > 10
    assert "NaN" not in svg
    assert "http" not in svg.replace("http://www.w3.org", "")


def test_one_legend_for_colour_and_shape(drawn):
    import vl_convert

    assert vl_convert.vegalite_to_svg(drawn["dots"].to_dict()).count("role-legend-entry") == 1


def test_no_chart_counts_fewer_than_ten_people(drawn):
    for rows in drawn["people"].to_dict()["datasets"].values():
        assert min(row["people"] for row in rows) >= 10


def test_the_renderer_serves_lab_and_pages(drawn):
    bundle, _ = charts._render(drawn["people"].to_dict())
    assert set(bundle) == {charts.V5, "image/svg+xml", "text/plain"}
    assert json.dumps(bundle[charts.V5])
    assert bundle[charts.V5]["$schema"].endswith("v5.json")


def test_aggregate_refuses_a_person():
    rows = pd.DataFrame({"age": [86, 40], "people": [1, 1200]})
    with pytest.raises(ValueError, match="fewer than 10 people"):
        charts.Aggregate(rows, {"age": "age", "people": "people"})


def test_aggregate_refuses_a_table_of_records():
    rows = pd.DataFrame({"age": range(501)})
    with pytest.raises(ValueError, match="at most 500 rows"):
        charts.Aggregate(rows, {"age": "age"})


def test_aggregate_drops_what_is_not_declared():
    rows = pd.DataFrame({"age": ["30-39"], "people": [12], "name": ["somebody"]})
    assert "name" not in charts.Aggregate(rows, {"age": "age", "people": "people"}).rows
    with pytest.raises(ValueError, match="declares"):
        charts.Aggregate(rows, {"height": "cm"})


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30))
def test_merging_keeps_everybody_and_shows_nobody(counts):
    series = pd.Series(counts, index=[f"g{i}" for i in range(len(counts))])
    merged = charts.merge_small(series)
    assert merged.sum() == series.sum()
    if series.sum() >= 10:
        assert not merged.between(1, 9).any()


def test_table_says_what_it_withholds(results):
    text = charts.table(results["mined"]).to_html()
    assert "baseline" in text
    assert charts.table(results["mined"][results["mined"].value.isna()]).isin(["fewer than 10"]).any(axis=None)


def test_table_keeps_every_number(results):
    shown = charts.table(results["costs"], rows="setting", columns="measure", format="{:.3f}")
    assert shown.loc["KMember k=2", "k_achieved"] == "2.000"
    assert shown.loc["Suppress", "certainty_penalty"] == "1.000"


def test_several_seeds_are_drawn_as_their_mean(results):
    twice = pd.concat([results["links"], results["links"].assign(seed=2, value=results["links"].value + 0.1)])
    (rows,) = charts.bars(twice, "correct_links", "A title", "a share").to_dict()["datasets"].values()
    assert len(rows) == len(results["links"])
    assert rows[0]["value"] == pytest.approx(results["links"].value.iloc[0] + 0.05)


def test_an_empty_chart_is_a_sentence(results):
    assert (
        "None of these settings has a displacement"
        in charts.bars(results["links"], "displacement", "A title", "a share").data
    )


def test_titles_are_computed(results):
    title = charts.bars(results["links"], "correct_links", "Links", "a share", format=".1%").to_dict()["title"]
    text = title["text"]
    title = text if isinstance(text, str) else " ".join(text)
    most = results["links"].value.max()
    assert f"to {most:.1%} (Identity)" in title
