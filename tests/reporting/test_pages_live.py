"""Pages with live charts, in a browser without a network: tooltips, controls by keyboard, and no other script."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from support import accessible
from support.clinic import CLINIC, IDENTIFIER
from support.leak_audit import scan

from privnb import decision
from privnb.datasets.dataset import load
from privnb.evaluation.results import join_results
from privnb.explorer import sweeps
from privnb.explorer.readings import count_setting
from privnb.measures import measure_facts
from privnb.papers import ledger
from privnb.papers.ledger_page import Ledger
from privnb.reporting import charts, notebooks, pages, rendering, report
from privnb.reporting.charts.base import of_columns, render_chart, style_chart
from privnb.runtime import numerals

pytestmark = pytest.mark.slow

NAME = "10_every_setting"
DRAWN = ".live .vega-embed svg"
TOLD = "name => document.querySelector('.live output').textContent.startsWith(`${name} (`)"


@pytest.fixture(scope="module")
def built(tmp_path_factory, write_notebook):
    """`folder` of pages of the clinic: one with a chart with controls, one with a plain chart, and one without a chart;
    `results` as saved.
    """
    folder, dataset = tmp_path_factory.mktemp("live"), load(CLINIC)
    settings = sweeps.list_settings(dataset, k="2, 5, 20", l="2", t="0.4", delta="2", epsilon="1")
    steps = sweeps.list_steps(dataset, settings)
    results = join_results(*(count_setting(dataset, setting).results for setting in settings))
    planes = [decision.compute_points(results, privacy="accuracy_gain", utility="certainty_penalty")]
    chart = charts.every_setting(steps, results, planes, sweeps.list_shown_measures(), start="Mondrian, k = 5")
    tables = charts.every_number(steps, results, sweeps.list_shown_measures())
    report.save(results, folder, NAME)
    parameters = ("parameters", 'OUT = ""  # where the numbers go')
    write_notebook(
        folder / "notebooks", "08_plain", "# What is lost?", parameters, ("key", "plain"), "## Twice", "plain"
    )
    write_notebook(folder / "notebooks", "09_still", "# Is it still?", parameters, "1 + 1")
    write_notebook(folder / "notebooks", NAME, "# What would every setting publish?", parameters, "chart", "tables")
    points = of_columns(planes[0].dropna(subset=["utility"]), ["setting", "utility"]).mark_point(filled=True, size=90)
    points = points.encode(x="utility:Q", y="setting:N", tooltip=["setting:N", "utility:Q"])
    plain = style_chart(points, "The loss by setting", "Points show the loss.")
    executed = {}
    for notebook in (chosen := notebooks.choose_notebooks(folder / "notebooks")):
        read = nbformat.read(notebook.path, 4)
        for cell in read.cells:
            if cell.source == "chart":
                cell.outputs = [nbformat.v4.new_output("display_data", data=render_chart(chart.to_dict())[0])]
            elif cell.source == "plain":
                cell.outputs = [nbformat.v4.new_output("display_data", data=render_chart(plain.to_dict())[0])]
            elif cell.source == "tables":
                cell.outputs = [nbformat.v4.new_output("display_data", data=tables._repr_mimebundle_())]
        executed[notebook.name] = nbformat.writes(read)
    for name, text in pages.make(chosen, executed, Ledger(ledger.compare_with_published(results))).items():
        (folder / name).write_text(text, encoding="utf-8")
    return SimpleNamespace(folder=folder, results=report.read_results(folder / f"{NAME}.results.csv"), steps=steps)


def read(built, name=NAME):
    return (built.folder / f"{name}.html").read_text(encoding="utf-8")


def test_pages_with_charts_share_one_script_next_to_them(built):
    for name in ("08_plain", NAME):
        assert read(built, name).count('<script defer src="charts.js"></script>') == 1
    for name in ("09_still", "index"):
        assert "<script" not in read(built, name)
        assert "script-src" not in read(built, name)
    assert (built.folder / "charts.js").stat().st_size > 800_000, "Vega"
    assert all(len(path.read_text()) < 700_000 for path in built.folder.glob("*.html")), "no page holds Vega"


def test_a_page_allows_the_script_next_to_it_and_nothing_else(built):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', read(built))
    digest = r"'sha256-[\w+/]{43}='"
    assert re.fullmatch(
        f"default-src 'none'; style-src-elem {digest}; style-src-attr 'unsafe-inline'; img-src data:; "
        f"base-uri 'none'; form-action 'none'; script-src 'self' file:",
        policy,
    )


def test_who_made_vega_and_under_which_licence_stands_in_the_file_that_holds_it(built):
    script = (built.folder / "charts.js").read_text(encoding="utf-8")
    for name in ("Vega", "Vega-Lite", "Vega-Embed"):
        assert re.search(
            rf"^{name}: Copyright \(c\) .*University of Washington Interactive Data Lab$", script, re.MULTILINE
        )
    for clause in ("Redistributions in binary form must reproduce", "Neither the name of", '"AS IS"', "D3: Copyright"):
        assert clause in script
    assert script.index("Redistribution and use") < script.index("THIS SOFTWARE IS PROVIDED BY")


def specifications(text):
    return [*map(json.loads, re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL))]


def test_a_text_cannot_end_the_chart_s_data():
    spec = {"mark": "bar", "usermeta": "</script><script>alert(1)</script><!--", "$schema": "elsewhere"}
    text = rendering._specifications(spec, spec)
    assert text.count("<") == 2, "the element itself"
    assert specifications(text) == [{"wide": {"mark": "bar", "usermeta": spec["usermeta"]}}]


def test_a_chart_s_data_have_only_what_the_chart_shows(built):
    spec = {
        "data": {"name": "rows"},
        "mark": "bar",
        "title": "secret",
        "encoding": {"x": {"field": "a.b".replace(".", "\\.")}, "tooltip": [{"field": "said"}]},
        "transform": [{"filter": "datum['per cent'] > 0"}],
        "layer": [{"data": {"values": [{"cap": 1, "secret": 2}]}, "encoding": {"y": {"field": "cap"}}}],
        "datasets": {"rows": [{"a.b": 1, "said": "x", "per cent": 2, "secret": 3, "aa": 4}]},
    }
    found = rendering.prune_fields(spec)
    assert found["datasets"] == {"rows": [{"a.b": 1, "said": "x", "per cent": 2}]}
    assert found["layer"][0]["data"]["values"] == [{"cap": 1}]
    for each in specifications(read(built, "08_plain")):
        rows = [row for data in each["wide"]["datasets"].values() for row in data]
        named = str({key: value for key, value in each["wide"].items() if key != "datasets"})
        assert rows
        assert all(f"'{name}'" in named or f"datum.{name}" in named for row in rows for name in row)
        assert "datasets" not in each["narrow"]


def said(built, setting, measure):
    """A number of `results.csv` as the page says it."""
    row = built.steps[built.steps.setting == setting].iloc[0]
    found = built.results[
        (built.results.sanitizer == row.sanitizer)
        & (built.results.parameters == row.parameters)
        & (built.results.measure == measure)
    ]
    value, baseline = found.iloc[0][["value", "baseline"]]
    format = measure_facts(measure).format
    beside = "" if pd.isna(baseline) else f" (baseline {numerals.write_without_unit(format, baseline)})"
    return f"{numerals.write_without_unit(format, value)}{beside}"


def test_the_saved_numbers_change_from_step_to_step(built):
    """So that a page which shows a wrong step would be noticed."""
    numbers = [said(built, f"Mondrian, k = {k}", "certainty_penalty") for k in (2, 5, 20)]
    assert len(set(numbers)) == 3


def told_politely(page):
    """Whether a screen reader reads the numbers aloud when they change."""
    return page.locator('.live output[aria-live="polite"][aria-atomic="true"]').count() == 1


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_chart_becomes_live_when_it_comes_into_view_and_its_marks_have_tooltips(built, offline, width, scheme):
    page = offline.page
    page.set_viewport_size({"width": width, "height": 600})
    page.emulate_media(color_scheme=scheme)
    page.goto((built.folder / "08_plain.html").as_uri())
    first, last = page.locator("figure.chart").first, page.locator("figure.chart").last
    still = last.bounding_box()
    first.locator(".drawn svg").wait_for()
    last.scroll_into_view_if_needed()
    last.locator(".drawn svg").wait_for()
    assert last.locator(".drawing > svg:visible").count() == 0
    for side in ("width", "height"):
        assert last.bounding_box()[side] == pytest.approx(still[side], abs=3), "nothing moves"
    last.locator(".drawn .mark-symbol path").last.hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    assert "setting" in tip.inner_text()
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    name = last.get_by_role("img").get_attribute("aria-label")
    assert last.locator("figcaption strong").inner_text() in name
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    assert last.locator(".drawing > svg:visible").count() == 1, "the drawing is printed"
    assert last.locator(".drawn svg:visible").count() == 0
    assert offline.outside == []
    assert offline.errors == []


def test_a_chart_that_is_live_follows_the_width_of_the_page(built, offline):
    page = offline.page
    page.goto((built.folder / "08_plain.html").as_uri())
    svg = page.locator("figure.chart .drawn svg").first
    svg.wait_for()
    wide = svg.get_attribute("width")
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function(
        "wide => document.querySelector('figure.chart .drawn svg').getAttribute('width') !== wide", arg=wide
    )
    assert page.locator("figure.chart").first.locator(".drawn").count() == 1, "in the place of the former"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_slider_and_the_menu_work_by_keyboard_offline(built, offline, width, scheme):
    page = offline.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto((built.folder / f"{NAME}.html").as_uri())
    page.locator(DRAWN).wait_for()
    assert page.locator(".needs").is_hidden()
    assert told_politely(page)
    shown, told = page.locator(DRAWN), page.locator(".live output")
    slider = page.get_by_role("slider", name="Loose to strict")
    menu = page.get_by_role("combobox", name="Sanitizer")

    def check(setting):
        page.wait_for_function(
            "name => document.querySelector('.live output').textContent.startsWith(name)", arg=setting
        )
        for measure in ("certainty_penalty", "accuracy_gain", "identity_vulnerability"):
            line = f"{measure_facts(measure).label}: {said(built, setting, measure)}"
            assert line in told.text_content().split("\n")
            assert shown.locator("text", has_text=said(built, setting, measure)).count()
        assert shown.locator("text", has_text=f"{setting} (").count() == 1
        assert slider.get_attribute("aria-valuetext") == setting

    check("Mondrian, k = 5")
    page.keyboard.press("Tab")
    while not slider.evaluate("element => element === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    check("Mondrian, k = 20")
    page.keyboard.press("Home")
    check("Mondrian, k = 2")
    page.keyboard.press("End")
    check("Mondrian, k = 20")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    assert page.locator(".vega-bind", has=slider).inner_text().split() == [*"Loose to strict Mondrian, k = 20".split()]
    menu.focus()
    page.keyboard.type("Local recoding: k")
    check("Local recoding, k = 20")
    menu.select_option(label="Suppression")
    page.wait_for_function("() => document.querySelector('.live output').textContent.startsWith('Suppress')")
    assert slider.is_disabled(), "there is one setting only"
    menu.focus()
    page.keyboard.press("Home")
    check("Mondrian, k = 2")
    assert slider.is_enabled()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_by_role("img", name=re.compile("Choose one of")).count() == 1
    assert offline.outside == []
    assert offline.errors == []


def test_tables_below_hold_what_the_chart_shows(built, offline):
    page = offline.page
    page.goto((built.folder / f"{NAME}.html").as_uri())
    page.get_by_role("link", name="The numbers of this chart").focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#numbers")
    summary = page.get_by_text("Mondrian: k: 3 settings")
    assert page.locator("#numbers summary").count() > 1
    summary.focus()
    page.keyboard.press("Enter")
    row = page.get_by_role("row", name="Mondrian, k = 20 ")
    assert said(built, "Mondrian, k = 20", "accuracy_gain") in row.inner_text()


@pytest.mark.parametrize("missing", ["JavaScript", "the file"])
def test_without_the_script_the_drawing_stays(missing, built, browser, tmp_path):
    context = browser.new_context(java_script_enabled=missing != "JavaScript")
    page = context.new_page()
    alone = shutil.copy(built.folder / f"{NAME}.html", tmp_path)  # as an attachment of a letter
    page.goto((Path(alone) if missing == "the file" else built.folder / f"{NAME}.html").as_uri())
    assert page.locator(".live svg:visible").bounding_box()["height"] > 300
    assert "need JavaScript and the file charts.js" in page.locator(".needs").inner_text()
    context.close()


def test_no_other_script_runs(built, offline, tmp_path):
    shutil.copy(built.folder / "charts.js", tmp_path)
    planted = tmp_path / "page.html"
    attack = "<script>document.title = 'taken'</script><img src=x: onerror=\"document.title = 'taken'\">"
    planted.write_text(read(built).replace("</main>", f"{attack}</main>"), encoding="utf-8")
    offline.page.goto(planted.as_uri())
    offline.page.locator(DRAWN).wait_for()
    assert offline.page.title() == "What would every setting publish?"
    assert any("Content Security Policy" in error for error in offline.errors)


def test_each_page_is_accessible(built):
    accessible.check(built.folder)


@pytest.mark.parametrize(
    ("pattern", "instead", "fault"),
    [
        ('class="skip" ', "", "the first link does not lead to the content"),
        ('<th scope="row">', "<th>", "a heading has no scope"),
        (r"<table[^>]*", "<table", "a table has no name"),
        (r'role="img" aria-label="[^"]*"', "", "a drawing has no name"),
        (r'<details class="marks">.*?</details>', "", "a chart has no table of its numbers"),
        ('<span class="unseen"> of: [^<]*', "<span>", "two buttons have the name 'Show the code'"),
    ],
)
def test_a_missing_name_is_found(built, pattern, instead, fault):
    name = NAME if "scope" in pattern else "08_plain"
    page = re.sub(pattern, instead, read(built, name), flags=re.DOTALL)
    assert any(fault in each for each in accessible.faults(page))


@pytest.mark.parametrize("name", [NAME, "08_plain", "index", "glossary", "about"])
def test_the_place_of_the_keyboard_has_a_frame_of_two_pixels(name, built, offline):
    page = offline.page
    page.goto((built.folder / f"{name}.html").as_uri())
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        tag, width = page.evaluate(
            "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineWidth]"
        )
        if tag == "BODY":
            break
        seen.add(tag)
        assert width == "2px", tag
    assert "A" in seen
    assert offline.errors == []


# --- nobody's data ---


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC).table


@pytest.mark.parametrize("name", ["08_plain", NAME])
def test_a_live_page_shows_nobody(name, built, clinic):
    assert scan(built.folder / f"{name}.html", original=clinic, canaries=[IDENTIFIER]) == []


@pytest.mark.parametrize("what", ["a person", "a crowd", "a planted value"])
def test_the_scan_reads_the_chart_s_data(what, built, clinic, tmp_path):
    """The same page with one thing more among the rows of its chart."""
    start = '"values":['
    page = read(built)
    assert page.count(start) == 1
    rows = clinic.iloc[: 1 if what == "a person" else 20].to_dict("records")
    if what == "a planted value":
        rows = [{"setting": f"Mondrian {IDENTIFIER}"}]
    planted = tmp_path / "page.html"
    more = json.dumps(rows, default=str)[1:-1]
    planted.write_text(page.replace(start, f"{start}{more},"), encoding="utf-8")
    found = {leak.what for leak in scan(planted, original=clinic, canaries=[IDENTIFIER])}
    expected = {
        "a person": "raw record",
        "a crowd": "more than 12 record-like rows",
        "a planted value": "planted value",
    }
    assert expected[what] in found
