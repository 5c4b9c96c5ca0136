"""The pictures and tables of Brickell and Shmatikov's comparison."""

import json

import numpy as np
import pytest
from support.results_frame import made
from test_findings_workload import COMPARED, adversary, gain, results

from privnb import papers
from privnb.evaluation.results import tidy
from privnb.papers import charts
from privnb.papers.ledger import read_published
from privnb.reporting.charts.base import render_chart

MORE = "The adversary gains more than the researcher in"


def said(chart):
    spec = chart.to_dict()
    return " ".join(spec["title"]["text"]), " ".join(spec["title"]["subtitle"]), json.dumps(spec)


def panels(chart):
    return [panel["title"]["text"] for panel in chart.to_dict()["concat"]]


@pytest.mark.slow
def test_figures_1_to_4():
    other = [row | {"dataset": "other"} for row in COMPARED]
    first = [row | {"target": "job"} for row in COMPARED if row["measure"] == "workload_gain"]
    chart = charts.compare_gains(results(*first, *COMPARED, *other))
    title, explained, spec = said(chart)
    assert title == f"{MORE} 6 of 9 comparisons"
    assert len(title.split()) <= 12
    assert explained.startswith("The researcher gains more in 3 of the comparisons.")
    assert "the original and Suppression are shown, but not counted" in explained
    assert "the better of two trivial releases" in explained
    assert "95% intervals over people (one seed)" in explained
    # A column a data set, the workloads below each other.
    assert panels(chart) == [["toy", "workload: job"], ["other", "workload: pay"], ["toy", "workload: pay"]]
    settings = [panel["layer"][1]["encoding"]["y"]["scale"]["domain"] for panel in chart.to_dict()["concat"]]
    assert settings[0] == ["the original", "Suppression", "Mondrian, k = 10", "Mondrian, l = 5", "Mondrian, t = 0.2"]
    assert "attributes=sensitive" not in spec
    assert render_chart(chart.to_dict())[0]["image/svg+xml"].startswith("<svg")


def test_one_table_is_one_column_and_every_miner_has_its_mark():
    more = gain("k=10, split_attribute=gain, split_point=below, workload=pay", 0.03, miner="forest")
    chart = charts.compare_gains(results(*COMPARED, more))
    assert chart.to_dict()["columns"] == 1
    colour = chart.to_dict()["concat"][0]["layer"][-1]["encoding"]["color"]
    assert colour["scale"]["domain"] == ["adversary", "tree", "forest"]


def diamonds(chart):
    """The values of the adversary's marks."""
    sets = chart.to_dict()["datasets"].values()
    return [row["value"] for rows in sets for row in rows if row.get("who") == "adversary"]


def test_what_tells_nothing_is_not_counted_as_the_adversarys():
    rows = [adversary("k=2", 0.0), gain("k=2", -0.1), adversary("k=3", 0.01, chance=0.02), gain("k=3", -0.1)]
    title, _, _ = said(charts.compare_gains(results(*rows)))
    assert title == f"{MORE} 0 of 2 comparisons"
    rows[2] = adversary("k=3", 0.03, chance=0.02)
    title, _, _ = said(charts.compare_gains(results(*rows)))
    assert title == f"{MORE} 1 of 2 comparisons"


@pytest.mark.slow
def test_under_noise_the_best_miner_is_the_adversary():
    noise = [
        adversary("epsilon=1.0", 0.03, sanitizer="LaplaceNoise", miner="tree"),
        adversary("epsilon=1.0", 0.05, sanitizer="LaplaceNoise", miner="forest"),
        gain("epsilon=1.0", 0.01, sanitizer="LaplaceNoise"),
    ]
    exact = [adversary("k=2", 0.1), gain("k=2", 0.02)]
    chart = charts.compare_gains(results(*exact, *noise))
    assert sorted(diamonds(chart)) == [0.05, 0.1]
    assert "under noise, it is at least the gain of the best miner" in said(chart)[1]
    assert "under noise" not in said(charts.compare_gains(results(*exact)))[1]


def test_without_a_researcher_there_is_a_sentence():
    assert charts.compare_gains(results(adversary("k=2", 0.1))).data == (
        "None of these settings has a release with a researcher's gain."
    )


def test_printed_numbers_stand_beside_the_measured_ones():
    cell = read_published().set_index("item").loc["table3/A_acc/k=10"]
    row = ("adult/occupation", cell.sanitizer, cell.parameters, 1, "accuracy_gain", "", "occupation", 0.098)
    rows = tidy([made(*row, np.nan, np.nan, 0.0, "lower")])
    shown = charts.compare_printed(rows, "brickell-shmatikov-2008", "table3/")
    assert shown.loc["A_acc/k=10", ["published", "measured", "status"]].tolist() == ["0.0957", 0.098, "within"]
    assert len(shown) == 30
    absent = charts.compare_printed(rows, "brickell-shmatikov-2008", "table2/").data
    assert absent.startswith("This run measured none of these published numbers, because")


def test_statements_of_section_7():
    shown = charts.check_statements(papers.measure_coins())
    assert shown.holds.value_counts().to_dict() == {"yes": 7, "no": 3}
    row = shown.loc["without S, half of a5"]
    assert row.tolist() == ["0.5", "a1, a2, a4", "1", "0, 1", "no"], "never half, whichever set is used"


def test_marks_hold_no_column_that_is_not_drawn():
    spec = charts.compare_gains(results(*COMPARED)).to_dict()
    for rows in spec["datasets"].values():
        assert all(set(row) <= {"setting", "who", "value", "low", "high", "chance", "zero", "id"} for row in rows)
