"""Charts for a telephone: nothing wider than its page, no word lost, no datum changed."""

import re

import altair as alt
import pandas as pd
import vl_convert
from rows import frame

from privnb.reporting import charts
from privnb.reporting.charts.narrow import LABEL, narrow
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


def test_panels_stand_below_one_another_and_each_has_its_labels():
    wide = untitled(charts.hit(HIT))
    slim = narrow(wide)
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
    assert width(narrow(wide)) < 360 < width(wide)
    assert vl_convert.vegalite_to_svg(narrow(wide)).count(">Mondrian<") == 3


def test_the_words_of_a_legend_stand_below_one_another():
    rows = pd.DataFrame({"share": range(4), "attack": [f"an attack with a long name, {n}" for n in range(4)]})
    colour = alt.Color("attack:N", legend=alt.Legend(columns=4, orient="bottom", labelLimit=300))
    wide = alt.Chart(rows).mark_point().encode(x="share:Q", color=colour).properties(width=190).to_dict()
    assert width(narrow(wide)) < 360 < width(wide)


def test_titles_of_axes_wrap():
    rates = frame([("KMember", "k=2", "reidentification_rate", "", "", 0.2, 0.18, 0.22, 0.01)], seed=1)
    slim = narrow(untitled(charts.bars(rates, "reidentification_rate")))
    assert slim["config"]["axis"]["labelLimit"] == LABEL
    assert width(slim) < 400


def test_what_has_controls_or_words_in_cells_is_left_as_it_is():
    words = {"layer": [{"mark": {"type": "rect"}}], "width": 600}
    plane = charts.lattice().to_dict()
    for spec in ({"params": [], "width": 600}, words, plane):
        assert narrow(spec) is spec
    html = templates().filters["figure"]({charts.V5: plane})
    assert html.count("<svg") == html.count('class="whole marks"') == 1


def test_a_page_has_both_drawings_of_a_wide_chart():
    figure = templates().filters["figure"]
    spec = charts.hit(HIT).to_dict()
    html = figure({charts.V5: spec})
    assert html.count("<svg") == 2
    assert html.count('class="narrow marks"') == 1
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids)), "no drawing cuts another"
