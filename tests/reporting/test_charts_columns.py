"""Panels of the columns of a table and of a release: what they draw, and what they leave out."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import (
    ColumnChanges,
    describe,
    evaluate,
    join_results,
    measure_columns,
    measure_distributions,
)
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.reporting import charts
from privnb.sanitizers import LocalSuppression, Mondrian


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=600, rng=1)


@pytest.fixture(scope="module")
def measured(adult):
    return measure_columns(adult)


@pytest.fixture(scope="module")
def compared(adult):
    changes = evaluate(adult, [Mondrian(KAnonymity(10))], attacks=[ColumnChanges()])
    return join_results(measure_distributions(adult), changes)


def rows(chart):
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def words(chart):
    text = chart.to_dict()["title"]["text"]
    return (text if isinstance(text, str) else " ".join(text)).split()


def panels(chart):
    return {panel["title"]["text"]: panel["title"].get("subtitle") for panel in chart.to_dict()["concat"]}


def test_a_panel_per_column(adult, measured):
    chart = charts.columns(measured)
    assert [*panels(chart)] == adult.schema.published
    assert len(words(chart)) <= 12
    assert min(row["people"] for row in rows(chart) if row["people"]) >= 10
    assert all(0 <= row["share"] <= 1 for row in rows(chart))


def test_a_release_next_to_the_original(adult, compared):
    chart = charts.column_changes(compared)
    assert panels(chart)["occupation"] == ["published unchanged"]
    assert panels(chart)["age"][0].endswith("% of cells")
    assert {row["table"] for row in rows(chart)} == {"original", "release"}
    assert len(words(chart)) <= 12
    assert not any(0 < row["people"] < 10 for row in rows(chart))


def test_the_caption_counts_the_values_that_no_longer_occur(compared):
    gone = (compared.measure == "people_with_value") & (compared.target == "race") & (compared.group == "Black")
    changed = compared.assign(value=compared.value.mask(gone & (compared.sanitizer != "Identity"), 0))
    assert (gone & (compared.sanitizer == "Identity") & (compared.value > 0)).any()
    (age,) = re.findall("release: ([0-9]+) of age[.]", charts.column_changes(compared).to_dict()["description"])
    assert f"{age} of age and 1 of race." in charts.column_changes(changed).to_dict()["description"]


def test_a_withheld_number_has_no_bar(adult):
    changes = evaluate(adult, [LocalSuppression(3)], attacks=[ColumnChanges()])
    chart = charts.column_changes(join_results(measure_distributions(adult), changes))
    withheld = changes[(changes.measure == "people_with_value") & changes.value.isna()]
    assert len(withheld)
    drawn = sum(row["table"] == "release" for row in rows(chart))
    assert drawn == (changes.measure == "people_with_value").sum() - len(withheld)
    assert "NaN" not in json.dumps(chart.to_dict())


def test_nothing_to_draw_is_a_sentence(measured, compared):
    assert "no columns to compare" in charts.column_changes(measured).data
    assert "too few people" in charts.columns(measured[measured.measure != "people_with_value"]).data
    tiny = load("twelve")
    assert charts.columns(measure_columns(tiny), min_count=10).to_dict()


def test_at_most_24_columns_are_drawn():
    names = [f"c{number}" for number in range(30)]
    schema = Schema("wide", tuple(Attribute(name, Role.NEUTRAL, Categories(("a", "b"))) for name in names))
    cells = pd.DataFrame({name: np.repeat(["a", "b"], [20, 30]) for name in names})
    wide = Dataset("wide", cells, schema, {})
    chart, found = charts.columns(measure_columns(wide)), measure_columns(wide)
    assert len(panels(chart)) == 24
    assert "first 24 of 30 columns" in chart.to_dict()["description"]
    assert len(charts.column_table(join_results(describe(wide), found), schema).table) == 30


def test_the_table_has_a_row_per_column(adult, measured):
    shown = charts.column_table(join_results(describe(adult), measured), adult.schema).table
    assert [*shown.index] == adult.schema.published
    assert shown.loc["sex", "values"] == "2 of 2"
    assert shown.loc["occupation", "added uniqueness"] == ""
    assert shown.loc["workclass", "most common value"].startswith("Private (")
    assert set(shown.missing) == {"none"}
