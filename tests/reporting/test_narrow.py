"""Charts for a telephone: nothing wider than its page, no word lost, no datum changed."""

import itertools
import re

import altair as alt
import pandas as pd
import pytest
import vl_convert
from support.results_frame import frame

from privnb.papers.charts import lattice
from privnb.reporting import charts
from privnb.reporting.charts.narrow import LABEL, narrow_chart
from privnb.reporting.rendering import templates

HIT = frame(
    [
        ("KMember", f"k={k}", "nearer_share", "worst", f"sex {sex}", 0.2, 0.18, 0.22, 0.05)
        for k in (2, 9)
        for sex in ("Female", "Male")
    ],
    seed=1,
)


def width(spec):
    return float(re.search(r'<svg[^>]*? width="([\d.]+)"', vl_convert.vegalite_to_svg(spec))[1])


def untitled(chart):
    return {name: value for name, value in chart.to_dict().items() if name != "title"}


@pytest.mark.slow
def test_panels_stand_below_one_another_and_each_has_its_labels():
    wide = untitled(charts.hit(HIT))
    slim = narrow_chart(wide)
    assert "hconcat" in wide
    assert len(slim["vconcat"]) == len(wide["hconcat"]) == 2
    assert slim["datasets"] == wide["datasets"]
    assert width(slim) < 360 < width(wide)
    svg = vl_convert.vegalite_to_svg(slim)
    assert svg.count(">sex Female<") == 2
    assert svg.count(">sex Male<") == 2


def test_facets_stand_below_one_another_too():
    rows = pd.DataFrame({"risk": list("abc") * 2, "release": ["Mondrian"] * 3 + ["Suppression"] * 3, "share": range(6)})
    points = alt.Chart(rows).mark_point().encode(x="share:Q", y="release:N").properties(width=190)
    wide = points.facet("risk:N", columns=3).to_dict()
    assert width(narrow_chart(wide)) < 360 < width(wide)
    assert vl_convert.vegalite_to_svg(narrow_chart(wide)).count(">Mondrian<") == 3


def test_the_words_of_a_legend_stand_below_one_another():
    rows = pd.DataFrame({"share": range(4), "attack": [f"an attack with a long name, {n}" for n in range(4)]})
    colour = alt.Color("attack:N", legend=alt.Legend(columns=4, orient="bottom", labelLimit=300))
    wide = alt.Chart(rows).mark_point().encode(x="share:Q", color=colour).properties(width=190).to_dict()
    assert width(narrow_chart(wide)) < 360 < width(wide)


def test_titles_of_axes_wrap():
    rates = frame([("KMember", "k=2", "reidentification_rate", "", "", 0.2, 0.18, 0.22, 0.01)], seed=1)
    slim = narrow_chart(untitled(charts.bars(rates, "reidentification_rate")))
    assert slim["config"]["axis"]["labelLimit"] == LABEL
    assert width(slim) < 400


def test_what_has_controls_or_words_in_cells_is_left_as_it_is():
    words = {"layer": [{"mark": {"type": "rect"}}], "width": 600}
    plane = lattice().to_dict()
    for spec in ({"params": [], "width": 600}, words, plane):
        assert narrow_chart(spec) is spec
    html = templates().filters["figure"]({charts.V5: plane})
    assert html.count("<svg") == html.count('class="whole marks"') == 1


@pytest.mark.slow
def test_a_page_has_both_drawings_of_a_wide_chart():
    figure = templates().filters["figure"]
    spec = charts.hit(HIT).to_dict()
    html = figure({charts.V5: spec})
    assert html.count("<svg") == 2
    assert html.count('class="narrow marks"') == 1
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids)), "no drawing cuts another"


@pytest.mark.slow
def test_a_drawing_fills_a_narrow_page_and_is_not_scaled_down():
    ages = pd.Series({f"{age}-{age + 4}": 100 for age in range(15, 95, 5)}).rename_axis("age")
    for spec in (charts.hit(HIT).to_dict(), charts.people(ages).to_dict()):
        spec["width"] = 520
        html = templates().filters["figure"]({charts.V5: spec})
        drawn = float(re.search(r'class="narrow marks"[^>]*? width="([\d.]+)"', html)[1])
        assert 345 <= drawn <= 358, "the width of a page on a telephone, less its margins"


def test_panels_in_columns_stand_below_one_another_too():
    rows = pd.DataFrame({"release": ["Mondrian", "Suppression"], "share": range(2)})
    base = alt.Chart(rows).mark_point().encode(x="share:Q").properties(width=190)
    first, second = (base.encode(y=alt.Y("release:N", axis=alt.Axis(labels=labels))) for labels in (True, False))
    slim = narrow_chart(alt.concat(first, second, columns=2).to_dict())
    assert width(slim) < 360
    assert vl_convert.vegalite_to_svg(slim).count(">Mondrian<") == 2


def test_labels_that_would_touch_are_left_out():
    rows = pd.DataFrame({"share": [0, 0.015]})
    x = alt.X("share:Q", axis=alt.Axis(tickCount=15, format=".3f"), scale=alt.Scale(nice=False))
    chart = charts.base.style_chart(alt.Chart(rows).mark_point().encode(x=x), "A title", "What it is of")
    labels = r'transform="translate\(([\d.]+),16\)"[^>]*opacity="1">0\.\d'
    places = [float(at) for at in re.findall(labels, vl_convert.vegalite_to_svg(chart.to_dict()))]
    assert len(places) > 5
    assert min(b - a for a, b in itertools.pairwise(places)) > 40, "30 pixels are a label, and 5 the room between all"
