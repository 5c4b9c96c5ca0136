"""The charts of the explorer: what they say, what they draw of each setting, and what a brush holds."""

import html
import re

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert
from support.results_frame import made

from privnb import decision, measures
from privnb.evaluation import results
from privnb.reporting import charts
from privnb.reporting.charts import base

LOSSES = {  # risk and cost of each setting; None: not counted
    ("KMember", "k=2"): (0.412, 0.103),
    ("KMember", "k=5"): (0.307, 0.209),
    ("KMember", "k=10"): (0.104, 0.408),
    ("Mondrian", "k=5"): (0.356, 0.303),
    ("Suppress", ""): (0.0, 1.01),
    ("LaplaceNoise", "epsilon=1"): (None, 0.611),
}
MEASURES = ["risk", "cost", "never"]
measures.register_measure("risk", unit="share")
measures.register_measure("cost", unit="nats")
SWEEP = [("KMember", f"k={k}") for k in (2, 5, 10)]


def tidy(losses=LOSSES):
    rows = [
        made("town", *setting, 1, measure, "", "", np.nan if value is None else value, np.nan, np.nan, base, "lower")
        for setting, pair in losses.items()
        for measure, value, base in zip(("risk", "cost"), pair, (0.05, np.nan), strict=True)
        if value is not None
    ]
    return results.tidy(rows)


def points(losses=LOSSES):
    return decision.compute_points(tidy(losses), privacy="risk", utility="cost")


def texts(spec):
    svg = vl_convert.vegalite_to_svg(spec)
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg)]


def title(chart):
    return " ".join(chart.title.text)


# --- class sizes ---


def sizes(people):
    rows = pd.DataFrame({"people in a class": list(people), "people": people.values()})
    return charts.Aggregate(rows, {name: name for name in rows})


def test_class_sizes_say_which_are_commonest():
    chart = charts.class_sizes(sizes({"10-19": 300, "20-49": 600, "50-99": 100}))
    assert title(chart) == "60% of 1,000 people are in classes of 20-49"
    assert chart.to_dict()["description"].startswith(title(chart))
    assert {"10-19", "20-49", "50-99", "people in a class", "people"} <= set(texts(chart.to_dict()))


def test_one_class_has_no_commonest_size():
    assert title(charts.class_sizes(sizes({"200-499": 400}))) == "100% of 400 people are in classes of 200-499"


def test_people_in_buckets_are_not_said_to_be_alike():
    rows = pd.DataFrame({"people in a bucket": ["2"], "people": [400]})
    chart = charts.class_sizes(charts.Aggregate(rows, {name: name for name in rows}))
    assert title(chart) == "100% of 400 people are in buckets of 2"
    assert "No quasi-identifier" not in chart.to_dict()["description"]


# --- the plane ---


def drawn(chart):
    """The rows that each layer draws, with its mark."""
    spec = chart.to_dict()
    layers = [layer for layer in spec["layer"] if "mark" in layer]
    return [(layer["mark"], spec["datasets"][layer["data"]["name"]]) for layer in layers]


def test_plane_rings_the_current_setting_and_names_it_and_the_pinned():
    chart = charts.plane(points(), current=("KMember", "k=5"), pinned=[("KMember", "k=10")], sweeps=[SWEEP])
    (ring,) = [rows for mark, rows in drawn(chart) if mark.get("size") == 420]
    assert ring == [{"privacy": 0.307, "utility": 0.209}]
    (curve,) = [rows for mark, rows in drawn(chart) if mark.get("strokeDash")]
    assert [(row["step"], row["privacy"]) for row in curve] == [(0, 0.412), (1, 0.307), (2, 0.104)]
    said = texts(chart.to_dict())
    assert {"k-member clustering, k = 5", "k-member clustering, k = 10"} <= set(said)
    assert "k-member clustering, k = 2" not in said
    assert chart.title == "k-member clustering, k = 5 is efficient among 5 releases"


def test_plane_of_one_release_compares_it_with_nothing():
    chart = charts.plane(points().query("sanitizer == 'KMember' and parameters == 'k=5'"), current=("KMember", "k=5"))
    assert chart.title == "k-member clustering, k = 5 is the only release"


def test_plane_says_what_beats_the_current_setting():
    chart = charts.plane(points(), current=("Mondrian", "k=5"))
    assert chart.title == "Mondrian, k = 5 is dominated among 5 releases"
    assert chart.marks.startswith("K-member clustering with k = 5 loses less of both. ")


@pytest.mark.parametrize("current", [None, ("Mondrian", "k=99"), ("LaplaceNoise", "epsilon=1")])
def test_plane_without_the_current_setting_counts_the_efficient(current):
    chart = charts.plane(points(), current=current)
    assert "4 of" in chart.title or "risk is missing" in chart.marks
    assert not [rows for mark, rows in drawn(chart) if mark.get("size") == 420 and rows]
    assert vl_convert.vegalite_to_svg(chart.to_dict())


def test_plane_without_any_loss_says_so():
    nothing = points().assign(privacy=np.nan, privacy_high=np.nan)
    assert "None of these settings" in charts.plane(nothing).data


def test_with_other_rows_the_plane_stays_the_same_chart():
    one, other = (charts.plane(points(), current=("KMember", f"k={k}")).spec for k in (5, 10))
    for name in ("datasets", "description"):
        assert one.pop(name) != other.pop(name)
    assert one == other


def test_the_plane_waits_for_no_library_of_charts(monkeypatch):
    for name in ("Chart", "layer", "X", "Y", "Scale", "Axis", "Title", "Config"):
        monkeypatch.setattr(alt, name, lambda *_, **__: pytest.fail("Altair takes longer than to count"))
    assert charts.plane(points(), current=("KMember", "k=5"), sweeps=[SWEEP], between=points()).spec["layer"]


def test_a_notebook_shows_the_plane_under_its_title():
    chart = charts.plane(points(), current=("Mondrian", "k=5"))
    shown, _ = chart._repr_mimebundle_()
    assert chart.title in html.unescape(shown["image/svg+xml"])


def test_rows_without_a_finite_number_have_none():
    rows = pd.DataFrame({"people": [10, 20], "loss": [np.inf, 0.5], "text": ["a", "b"]})
    layer = base.Layer(rows, {"type": "point"}, {})
    assert layer.values == [{"people": 10, "loss": None, "text": "a"}, {"people": 20, "loss": 0.5, "text": "b"}]


def test_the_box_holds_the_releases_inside():
    box = {"privacy": [0.05, 0.32], "utility": [0.1, 0.5]}
    assert list(charts.inside(points(), box).setting) == ["k-member clustering, k = 10", "k-member clustering, k = 5"]


@pytest.mark.parametrize("box", [None, {}])
def test_nothing_is_inside_no_box(box):
    assert charts.inside(points(), box).empty


def test_a_box_drawn_from_right_to_left_holds_the_same():
    assert list(charts.inside(points(), {"privacy": [0.5, 0.3], "utility": [0, 1]}).setting) == [
        "k-member clustering, k = 5",
        "Mondrian, k = 5",
        "k-member clustering, k = 2",
    ]


# --- every setting ---

STEPS = pd.DataFrame(
    [
        *(("KMember: k", f"KMember {text}", "KMember", text) for text in ("k=2", "k=5", "k=10", "k=99")),
        ("Mondrian: k", "Mondrian, k = 5", "Mondrian", "k=5"),
        ("LaplaceNoise: epsilon", "LaplaceNoise epsilon=1", "LaplaceNoise", "epsilon=1"),
        ("Suppress", "Suppress", "Suppress", ""),
    ],
    columns=["series", "setting", "sanitizer", "parameters"],
)


@pytest.fixture(scope="module")
def every():
    return charts.every_setting(STEPS, tidy(), [points()], MEASURES, start="KMember k=5").to_dict()


def chosen(spec, series, step):
    """The spec with its controls moved."""
    values = {"series": series, "step": step}
    return spec | {"params": [p | {"value": values[p["name"]]} if p["name"] in values else p for p in spec["params"]]}


@pytest.mark.slow
def test_controls_list_every_series_and_the_longest_slider(every):
    menu, slider = (parameter["bind"] for parameter in every["params"][:2])
    assert menu["labels"] == ["KMember: k", "Mondrian: k", "LaplaceNoise: epsilon", "Suppress"]
    assert (slider["min"], slider["max"]) == (1, 4)
    assert [p["value"] for p in every["params"][:2]] == [0, 2], "KMember k=5"


@pytest.mark.parametrize(
    ("series", "step", "said"),
    [
        (0, 1, ["KMember k=2 (step 1 of 4)", "0.412 (baseline 0.05)", "0.103"]),
        (0, 3, ["KMember k=10 (step 3 of 4)", "0.104 (baseline 0.05)", "0.408"]),
        (
            0,
            4,
            ["KMember k=99 (step 4 of 4): this table cannot be sanitized in this way", "not counted", "not counted"],
        ),
        (1, 4, ["Mondrian, k = 5", "0.356 (baseline 0.05)", "0.303"]),
        (2, 1, ["LaplaceNoise epsilon=1", "not counted", "0.611"]),
        (3, 2, ["Suppress", "0 (baseline 0.05)", "1.01"]),
    ],
)
def test_each_position_of_the_controls_shows_its_setting(every, series, step, said):
    there = texts(chosen(every, series, step))
    start = there.index(said[0])
    assert [text for text in there[start:] if text in said] == said
    others = {"KMember k=5 (step 2 of 4)", "Mondrian, k = 5"} - {said[0]}
    assert not others & set(there)


def test_a_measure_that_nobody_counted_has_no_bar(every):
    assert "never counted" not in texts(every)


def test_what_is_chosen_is_told_in_a_sentence(every):
    (values,) = every["datasets"].values() if "datasets" in every else [every["data"]["values"]]
    assert values[0]["said"] == "KMember k=2 (step 1 of 4)\nrisk (share): 0.412 (baseline 0.05)\ncost (nats): 0.103"


def test_tables_hold_the_same_numbers():
    page = charts.every_number(STEPS, tidy(), MEASURES)._repr_html_()
    assert re.findall(r"<summary>(.*?)</summary>", page)[:2] == ["KMember: k: 4 settings", "Mondrian: k: 1 setting"]
    for text in ("0.412 (baseline 0.05)", "not counted", "0.356 (baseline 0.05)", "cost (nats)"):
        assert text in page


def test_a_withheld_number_is_distinguished_from_one_that_is_not_counted():
    results = tidy()
    results.loc[results.parameters == "k=5", "value"] = np.nan
    assert "<td>withheld</td>" in charts.every_number(STEPS, results, MEASURES)._repr_html_()


def test_settings_without_any_number_say_so():
    assert "None of these settings" in charts.every_setting(STEPS, tidy().iloc[:0], [], MEASURES).data


def test_no_more_settings_than_an_aggregate_may_show():
    many = pd.concat([STEPS] * 80, ignore_index=True)
    with pytest.raises(ValueError, match="`rows` must have at most 500"):
        charts.every_setting(many, tidy(), [], MEASURES)
