"""The rows of `results.csv` behind a page, and the links of its numbers to them."""

import re

import altair as alt
import nbformat
import pandas as pd
import pytest
from support.chart_texts import faults
from test_pages import cell, words

from privnb.evaluation.results import average_seeds, build_row, compute_mean_ids, compute_row_ids, tidy
from privnb.measures import measure_facts
from privnb.microdata.withholding import ReportedCount
from privnb.reporting import charts, notebooks, pages, rendering, report, result_rows
from privnb.reporting.charts import tips
from privnb.reporting.charts.base import TITLE_WORDS, choose_title, of_columns, render_chart, style_chart
from privnb.runtime.sentences import MIME

NAME = "01_a"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two releases by two miners, of two seeds each; a count of few people is withheld."""
    rows = [
        build_row(
            "anti_utility", ReportedCount(people, 100, (0.01, 0.9)), dataset="clinic", sanitizer="Suppress",
            parameters=f"columns='{column}'", seed=seed, miner=miner, baseline=0.1,
        )
        for column in ("age", "<b>")
        for miner, more in (("tree", 0), ("average", 30))
        for seed, people in ((1, 20 + more), (2, 40 + more if column == "age" else 3))
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("saved")
    report.save(tidy(rows), folder, NAME)
    return report.read_results(folder / f"{NAME}.results.csv")


@pytest.fixture(scope="module")
def made(results, write_notebook, tmp_path_factory):
    """The pages of a notebook that shows the results as a table and as a chart."""
    folder = tmp_path_factory.mktemp("made") / "notebooks"
    write_notebook(folder, NAME, "# Who?", ("parameters", 'OUT = ""  # where the numbers go'))
    notebook = nbformat.read(folder / f"{NAME}.ipynb", 4)
    notebook.cells += [
        cell(charts.table(results)),
        cell(**render_chart(charts.bars(results[results.miner == "tree"], "anti_utility").to_dict())[0]),
    ]
    chosen = notebooks.choose_notebooks(folder, [NAME])
    return pages.make(chosen, {NAME: nbformat.writes(notebook)}, None, {NAME: results})


def linked(html):
    """The numbers of a page that link to rows: (id, text)."""
    return re.findall(rf'<a href="{NAME}\.rows\.html#([^"]+)">([^<]+)</a>', html)


def test_a_cell_of_a_table_names_the_rows_of_all_its_seeds(results):
    content = charts.table(results)._repr_mimebundle_()[MIME]
    means = average_seeds(results)
    values = dict(zip(compute_mean_ids(means), means.value, strict=True))
    for row, ids in zip(content["data"], content["ids"], strict=True):
        for text, id in zip(row, ids, strict=True):
            own = results[[each == id.removeprefix("rows-") for each in compute_mean_ids(results)]]
            assert len(own) == 2
            if "(" in text:  # neither a baseline nor withheld
                assert text.startswith(measure_facts("anti_utility").bare(own.value.mean()).rstrip("0"))
                assert values[id.removeprefix("rows-")] == pytest.approx(own.value.mean())


def test_rows_in_memory_have_the_ids_of_the_file():
    rows = tidy([build_row("accuracy_gain", 0.2, dataset="adult", sanitizer="Suppress", seed=seed) for seed in (1, 2)])
    read = rows.assign(seed=rows.seed.astype(float))
    assert compute_row_ids(rows) == compute_row_ids(read)
    assert len({*compute_row_ids(rows)}) == 2
    assert len({*compute_mean_ids(rows)}) == 1


def test_each_number_of_a_page_links_to_its_rows_and_each_row_has_an_anchor(made, results):
    rows = made[f"{NAME}.rows.html"]
    anchors = re.findall(r' id="([^"]+)"', rows)
    assert len(set(anchors)) == len(anchors)
    assert {f"row-{id}" for id in compute_row_ids(results)} <= {*anchors}
    numbers = linked(made[f"{NAME}.html"])
    assert {id for id, _ in numbers} <= {*anchors}
    assert {f"rows-{id}" for id in compute_mean_ids(results)} == {id for id, _ in numbers}
    assert f'href="{NAME}.rows.html"' in made[f"{NAME}.html"]


def test_the_page_of_rows_shows_what_results_csv_has_and_no_withheld_number(made, results):
    html = made[f"{NAME}.rows.html"]
    shown = re.findall(r'<tr id="row-(\w+)">.*?</tr>', html)
    assert [*shown] == [id for id in compute_row_ids(results) if id in shown]
    assert len(shown) == len(results)
    withheld = results[results.status == "withheld"]
    assert len(withheld) == 2
    for id in compute_row_ids(withheld):
        row = re.search(rf'<tr id="row-{id}">(.*?)</tr>', html)[1]
        cells = [rendering.strip_tags(each) for each in re.findall(r"<td>(.*?)</td>", row)]
        assert cells[:3] == [id, "2", ""]
        assert cells[-1] == "withheld"
        assert "0.03" not in row
    assert "<b>" not in html
    assert "Suppression" in words(html)


def test_the_numbers_of_a_chart_are_listed_below_it_with_their_rows(made, results):
    html = made[f"{NAME}.html"]
    listed = re.search(r'<details class="marks">.*?</details>', html, re.DOTALL)[0]
    assert "The numbers of this chart" in listed
    known = average_seeds(results[results.miner == "tree"]).dropna(subset="value")
    written = [measure_facts("anti_utility").bare(value) for value in known.value]
    assert [text for _, text in linked(listed)] == written
    assert [id for id, _ in linked(listed)] == [f"rows-{id}" for id in compute_mean_ids(known)]


def test_no_results_have_no_rows():
    assert result_rows.list_releases(tidy([])) == []


# --- the tooltips of a drawing ---


def drawn(**rows):
    """A chart of points with tooltips, and a line without."""
    base = of_columns(
        pd.DataFrame({"setting": ["a<b", "c"], "value": [0.125, 0.5], "id": ["rows-1", ""]} | rows),
        ["setting", "value"],
    )
    marks = [alt.Tooltip("setting:N"), alt.Tooltip("value:Q", title="share", format=".1%")]
    x = alt.X("value:Q")
    chart = base.mark_rule().encode(x=x) + base.mark_point().encode(x=x, y="setting:N", tooltip=marks)
    return style_chart(chart, "Two points", "Points by setting.")


def test_a_mark_with_a_tooltip_has_it_as_its_title_and_no_other_mark_has_one():
    html = rendering._figure(iter([1]), render_chart(drawn().to_dict())[0])
    wide = html.partition("</svg>")[0]  # the narrow drawing has the same
    assert re.findall("<title>(.*?)</title>", wide, re.DOTALL) == [
        "setting: a&lt;b\nshare: 12.5%",
        "setting: c\nshare: 50.0%",
    ]
    assert "rows-1" not in html
    assert "aria-roledescription" not in html


def test_the_table_of_a_chart_has_the_columns_of_its_tooltips():
    table = rendering._marks(render_chart(drawn().to_dict())[0])
    assert table["columns"] == [["setting"], ["share"]]
    assert table["data"] == [["a<b", "12.5%"], ["c", "50.0%"]]
    assert table["ids"] == [["", "rows-1"], ["", ""]]


def panel(title, value):
    rows = pd.DataFrame({"setting": ["a"], "value": [value], "side": ["left"]})
    chart = of_columns(rows, ["setting", "value", "side"]).mark_point()
    chart = chart.encode(x="value:Q", tooltip=["setting:N", "value:Q"])
    return chart.properties(title=title) if title else chart


def test_the_table_of_a_chart_names_the_panel_of_each_mark():
    both = alt.hconcat(panel("first", 1), panel(alt.Title(["second", "of two"]), 1))
    html = rendering._figure(iter([1]), render_chart(style_chart(both, "Two", "Two panels.").to_dict())[0])
    assert "<title>panel: second, of two\nsetting: a\nvalue: 1</title>" in html
    table = rendering._marks(render_chart(style_chart(both, "Two", "Two panels.").to_dict())[0])
    assert table["columns"] == [["panel"], ["setting"], ["value"]]
    assert table["data"] == [["first", "a", "1"], ["second, of two", "a", "1"]]
    named = style_chart(alt.hconcat(panel("value", 1), panel("a", 1)), "Two", "Two panels.")
    assert rendering._marks(render_chart(named.to_dict())[0])["columns"] == [["setting"], ["value"]]
    alone = style_chart(alt.hconcat(panel("first", 1)), "One", "One panel.")
    assert rendering._marks(render_chart(alone.to_dict())[0])["columns"] == [["setting"], ["value"]]


@pytest.mark.parametrize("facet", [{"facet": "side:N"}, {"column": "side:N"}])
def test_the_table_of_a_faceted_chart_names_the_panel(facet):
    for chart in (panel("", 1).facet(**facet), panel("", 1).encode(**facet)):
        table = rendering._marks(render_chart(style_chart(chart, "One", "One panel.").to_dict())[0])
        assert table["data"] == [["left", "a", "1"]]


def test_a_value_that_is_missing_has_no_line_in_a_tooltip():
    table = rendering._marks(render_chart(drawn(value=[0.125, None]).to_dict())[0])
    assert ["a<b", "12.5%"] in table["data"]


def test_a_drawing_without_tooltips_stays_the_same():
    svg = '<svg width="10"><path d="M0,0"/></svg>'
    assert tips.add_titles(svg) == svg


# --- what the check of all charts finds ---


def test_the_check_of_a_chart_finds_long_titles_and_marks_without_a_tooltip():
    assert faults(drawn().to_dict()) == []
    long = style_chart(drawn(), " ".join(["word"] * 13), "Points.").to_dict()
    assert faults(long) == [f"13 words in the title “{' '.join(['word'] * 13)}”"]
    bare = drawn().to_dict()
    tooltip = bare["layer"][1]["encoding"].pop("tooltip")
    assert faults(bare) == ["no tooltip on a point of “Two points”"]
    bare["layer"][1]["encoding"]["tooltip"] = tooltip[1:]
    assert faults(bare) == ["no name in the tooltip of a point of “Two points”"]


def test_a_title_with_a_long_name_gives_way_to_a_shorter_one():
    long = " ".join(["name"] * TITLE_WORDS)
    assert choose_title(f"{long} loses least", "One release loses least") == "One release loses least"
    assert choose_title(long, "no") == long
    assert choose_title("k = 5, t = 0.2", "no") == "k = 5, t = 0.2"
