"""A page with a live chart, in a browser without a network: its controls by keyboard, and nothing else that runs."""

import json
import re
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
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
from privnb.reporting.charts.base import render_chart
from privnb.runtime import numerals

pytestmark = pytest.mark.slow

NAME = "10_every_setting"
DRAWN = ".live .vega-embed svg"
TOLD = "name => document.querySelector('.live output').textContent.startsWith(`${name} (`)"


@pytest.fixture(scope="module")
def built(tmp_path_factory, write_notebook):
    """`folder` of the pages of a notebook with a live chart of the clinic, and of one without; `results` as saved."""
    folder, dataset = tmp_path_factory.mktemp("live"), load(CLINIC)
    settings = sweeps.list_settings(dataset, k="2, 5, 20", l="2", t="0.4", delta="2", epsilon="1")
    steps = sweeps.list_steps(dataset, settings)
    results = join_results(*(count_setting(dataset, setting).results for setting in settings))
    planes = [decision.compute_points(results, privacy="accuracy_gain", utility="certainty_penalty")]
    chart = charts.every_setting(steps, results, planes, sweeps.list_shown_measures(), start="Mondrian, k = 5")
    tables = charts.every_number(steps, results, sweeps.list_shown_measures())
    report.save(results, folder, NAME)
    parameters = ("parameters", 'OUT = ""  # where the numbers go')
    write_notebook(folder / "notebooks", "09_still", "# Is it still?", parameters, ("key", "chart"))
    write_notebook(
        folder / "notebooks", NAME, "# What would every setting publish?", parameters, ("live", "chart"), "tables"
    )
    executed = {}
    for notebook in (chosen := notebooks.choose_notebooks(folder / "notebooks")):
        read = nbformat.read(notebook.path, 4)
        for cell in read.cells:
            if cell.source == "chart":
                cell.outputs = [nbformat.v4.new_output("display_data", data=render_chart(chart.to_dict())[0])]
            elif cell.source == "tables":
                cell.outputs = [nbformat.v4.new_output("display_data", data={"text/html": tables._repr_html_()})]
        executed[notebook.name] = nbformat.writes(read)
    for name, text in pages.make(chosen, executed, Ledger(ledger.compare_with_published(results))).items():
        (folder / name).write_text(text, encoding="utf-8")
    return SimpleNamespace(folder=folder, results=report.read_results(folder / f"{NAME}.results.csv"), steps=steps)


def read(built, name=NAME):
    return (built.folder / f"{name}.html").read_text(encoding="utf-8")


def test_only_the_live_page_has_a_script_and_it_is_there_once(built):
    live, *others = (read(built, name) for name in (NAME, "09_still", "index"))
    assert live.count("<script") == 2
    assert live.count('<script type="application/json">') == 1
    assert len(live) > 900_000, "Vega"
    for page in others:
        assert "<script" not in page
        assert "script-src" not in page
        assert len(page) < 600_000


def test_the_page_allows_its_own_script_by_its_digest_and_nothing_else(built):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', read(built))
    digest = r"'sha256-[\w+/]{43}='"
    assert re.fullmatch(
        f"default-src 'none'; style-src-elem {digest}; style-src-attr 'unsafe-inline'; img-src data:; "
        f"base-uri 'none'; form-action 'none'; script-src {digest}",
        policy,
    )


def test_who_made_vega_and_under_which_licence_stands_in_the_page_that_holds_it(built):
    live, still = read(built), read(built, "09_still")
    for name in ("Vega", "Vega-Lite", "Vega-Embed"):
        assert re.search(
            rf"^{name}: Copyright \(c\) .*University of Washington Interactive Data Lab$", live, re.MULTILINE
        )
    for clause in ("Redistributions in binary form must reproduce", "Neither the name of", '"AS IS"', "D3: Copyright"):
        assert clause in live
    assert live.index("Redistribution and use") < live.index("THIS SOFTWARE IS PROVIDED BY")
    assert "Redistribution" not in still


def test_a_text_cannot_end_the_chart_s_data():
    spec = {"description": "</script><script>alert(1)</script><!--", "$schema": "elsewhere"}
    text = rendering._live({charts.V5: spec})
    assert "<" not in text
    assert json.loads(text) == {"description": spec["description"]}


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


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_slider_and_the_menu_work_by_keyboard_offline(built, offline, width, scheme):
    page = offline.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto((built.folder / f"{NAME}.html").as_uri())
    page.locator(DRAWN).wait_for()
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
    offline.page.goto((built.folder / f"{NAME}.html").as_uri())
    offline.page.get_by_text("Mondrian: k: 3 settings").click()
    row = offline.page.get_by_role("row", name="Mondrian, k = 20 ")
    assert said(built, "Mondrian, k = 20", "accuracy_gain") in row.inner_text()


def test_without_javascript_the_still_picture_stays(built, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built.folder / f"{NAME}.html").as_uri())
    assert page.locator(".live svg:visible").bounding_box()["height"] > 300
    assert "need JavaScript" in page.locator("noscript").inner_text()
    context.close()


def test_no_other_script_runs(built, offline, tmp_path):
    planted = tmp_path / "page.html"
    attack = "<script>document.title = 'taken'</script><img src=x: onerror=\"document.title = 'taken'\">"
    planted.write_text(read(built).replace("</main>", f"{attack}</main>"), encoding="utf-8")
    offline.page.goto(planted.as_uri())
    offline.page.locator(DRAWN).wait_for()
    assert offline.page.title() == "What would every setting publish?"
    assert any("Content Security Policy" in error for error in offline.errors)


# --- nobody's data ---


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC).table


def test_the_live_page_shows_nobody(built, clinic):
    assert scan(built.folder / f"{NAME}.html", original=clinic, canaries=[IDENTIFIER]) == []


@pytest.mark.parametrize("what", ["a person", "a crowd", "a planted value"])
def test_the_scan_reads_the_chart_s_data(what, built, clinic, tmp_path):
    """The same page, without Vega, with one thing more among the rows of its chart."""
    start = '"values":['
    page = re.sub('<script type="module">.*?</script>', "", read(built), flags=re.DOTALL)
    assert len(page) < 600_000
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
