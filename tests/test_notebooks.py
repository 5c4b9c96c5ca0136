"""The notebooks: their form; all of them on a made-up table, a scan of all that they leave, their pages in a browser.
Those with cells of the papers' table run on it in test_notebooks_adult.py."""

import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from support import accessible, chart_texts, one_process, sentences
from support.clinic import CLINIC, IDENTIFIER, RARE
from support.leak_audit import scan

from privnb.datasets.dataset import load
from privnb.decision import policies
from privnb.evaluation import parameters
from privnb.microdata.schema import Role
from privnb.microdata.withholding import LIMIT
from privnb.reporting import report
from privnb.reporting.notebooks import choose_notebooks

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9]*.ipynb"))
YOURS = NOTEBOOKS[0].with_name("your_table.ipynb")  # which is no part of a report
OWN = [
    "01_load",
    "02_sanitize",
    "04_attack",
    "08_decision",
    "09_explore",
    "10_every_setting",
    "11_perturbation",
    "12_undo_noise",
    "14_informed_adversary",
    "15_release_card",
    "16_results_and_tables",
    "17_my_own_k",
]
IN_KERNELS = ["03_utility", "09_explore"]  # which has workers of its own, and widgets
every = pytest.mark.parametrize("path", [*NOTEBOOKS, YOURS], ids=lambda path: path.stem)


def cells(path, kind):
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


@every
def test_form(path):
    first, *_ = cells(path, "markdown")
    assert re.match(r"# .+\?\n", first.source), "the title is a question"
    assert "You will learn" not in first.source, "the answer comes first"
    code = cells(path, "code")
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert sum("answer" in cell.metadata.get("tags", []) for cell in code) == (path != YOURS)
    assert not any(cell.outputs or cell.execution_count for cell in code), "outputs are not committed"
    assert not any(re.search(r"^\s*(def|for|while|class) ", cell.source, re.MULTILINE) for cell in code)
    assert "## Sources" in cells(path, "markdown")[-1].source
    kept = [cell["source"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    assert all(line.endswith("\n") for lines in kept for line in lines[:-1]), "a file's diff is of lines"


@every
def test_every_parameter_is_explained(path):
    (parameters,) = (cell for cell in cells(path, "code") if "parameters" in cell.metadata.get("tags", []))
    for line in parameters.source.splitlines():
        # papermill cannot read a comment with = or ; in it.
        assert re.fullmatch(r'[A-Z_]+ = ("[^"]*"|[\d.]+)  # [^=;]{10,}', line), line


@every
def test_the_policies_that_a_parameter_names_are_those_of_the_package(path):
    for line in re.findall(r"^POLICY = .*$", cells(path, "code")[0].source, re.MULTILINE):
        assert f": {', '.join(policies.list_policy_names())}, or the path of" in line


@pytest.mark.parametrize("path", NOTEBOOKS[1:], ids=lambda path: path.stem)  # 00 is of made-up people alone
def test_the_least_number_of_people_that_is_shown_is_a_parameter(path):
    parameters, *others = (cell.source for cell in cells(path, "code"))
    assert re.search(rf"^MIN_COUNT = {LIMIT}  #", parameters, re.MULTILINE)
    assert any(re.search(r'(min_count=|"min_count": |, )MIN_COUNT\b', source) for source in others), (
        "and it is passed on"
    )


@pytest.fixture(scope="module")
def clinic(tmp_path_factory, kernel):
    """The report of the made-up table, of all notebooks by name, in one process."""
    # Miners that learn, and the steps of delta that a notebook has by itself: Adult's report has those of l.
    few = {"K": "5, 20", "EPSILON": "0.5", "L": "2", "T": "0.3", "SEEDS": 2, "QUERIES": 100, "SYNTHETIC_RECORDS": 2000}
    asked = few | {"DATASET": str(CLINIC), "MINERS": "majority, naive Bayes, decision tree"}
    out, every = tmp_path_factory.mktemp("clinic") / "report", [path.stem for path in NOTEBOOKS]
    return one_process.build(out, notebooks=every, parameters=asked)


@pytest.fixture(scope="module")
def in_kernels(tmp_path_factory, kernel):
    """Some of them as `privnb report --notebook` builds their report."""
    out = tmp_path_factory.mktemp("kernels") / "report"
    few = {"K": "5", "EPSILON": "0.5", "MINERS": "majority, decision stump", "SEEDS": 1}
    report.build(out, IN_KERNELS, {"DATASET": str(CLINIC)} | few)
    return out


def test_an_owners_report_is_of_the_notebooks_that_are_about_any_table():
    folder = NOTEBOOKS[0].parent
    assert [notebook.name for notebook in choose_notebooks(folder, None, {"DATASET": str(CLINIC)})] == OWN
    assert [notebook.name for notebook in choose_notebooks(folder)] == [path.stem for path in NOTEBOOKS]
    assert {*folder.glob("*.ipynb")} == {*NOTEBOOKS, YOURS}


def test_what_runs_for_the_papers_table_alone_stands_in_cells_of_its_own():
    for path in NOTEBOOKS:
        texts = ["\n".join(cell.source for cell in cells) for cells in split(path)]
        assert "hypertension" not in texts[0], "their made-up examples"


def test_the_notebook_of_roles_explains_each_of_them():
    text = "".join(cell.source for cell in cells(YOURS, "markdown"))
    assert [role for role in Role if f"- *{role.capitalize()}*: " not in text] == []


def split(path):
    """The cells of a notebook that run for any table, and those that run for the papers' alone."""
    every = nbformat.read(path, 4).cells
    papers = [cell for cell in every if "paper" in cell.metadata.get("tags", [])]
    return [cell for cell in every if cell not in papers], papers


def test_another_table_goes_through_the_whole_loop(clinic):
    assert (
        len([path for path in clinic.rglob("*") if path.suffix in (".html", ".ipynb", ".csv")])
        == 3 * len(NOTEBOOKS) + 5
    )  # a page, its rows and the notebook; the index, the card, what was run, the glossary, the numbers
    results = report.read_results(clinic / "results.csv")
    invented = {name for name in results.dataset if name in ("coins", "twelve/twelve") or name.startswith("askari: ")}
    assert set(results.dataset) - invented == {"clinic/clinic"}, "invented examples are run with any table"
    measures = {
        "reidentification_rate",
        "good_utility",
        "anti_utility",
        "accuracy_gain",
        "knowledge_gain",
        "certainty_penalty",
    }
    assert measures <= set(results.measure)
    assert "A" in set(results[results.measure == "anti_utility"].scenario)
    assert not (clinic / "ledger.csv").exists(), "the papers print nothing of this table"
    assert not re.search("href=.ledger", (clinic / "index.html").read_text(encoding="utf-8"))


def test_each_page_answers_first_with_a_number(clinic):
    sentences.check(clinic)


def test_each_chart_has_a_short_title_and_tooltips_with_names(clinic):
    chart_texts.check(clinic)


def test_each_page_is_accessible(clinic):
    accessible.check(clinic)


def test_each_link_of_a_number_ends_at_its_rows_of_results_csv(clinic):
    ids = pd.read_csv(clinic / "results.csv", dtype=str).id
    rows = {path.name: path.read_text(encoding="utf-8") for path in clinic.glob("*.rows.html")}
    anchors = {name: {*re.findall(r' id="([^"]+)"', html)} for name, html in rows.items()}
    assert {*chain.from_iterable(anchors.values())} >= {f"row-{id}" for id in ids}
    linked = Counter()
    for path in clinic.glob("*.html"):
        for name, place in re.findall(r'href="(\w+\.rows\.html)#([^"]+)"', path.read_text(encoding="utf-8")):
            assert place in anchors[name], (path.name, place)
            linked[path.stem] += 1
    shown = {"02_sanitize", "03_utility", "04_attack", "05_brickell_shmatikov", "06_li_li", "13_frontier"}
    assert {name for name, links in linked.items() if links >= 40} >= shown


def test_nothing_of_the_clinics_people_is_shown(clinic, in_kernels):
    dataset = load(CLINIC)
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    released = [s.sanitize(dataset, rng=1).table for s in parameters.build_sramka_sanitizers(k="5, 20")]
    for made in (clinic, in_kernels):
        assert [*scan(made, original=dataset.table, canaries=canaries, released=released)] == []


def test_executed_notebooks_carry_no_widgets_and_no_paths(clinic, in_kernels):
    assert sorted(path.stem for path in (in_kernels / "notebooks").iterdir()) == IN_KERNELS
    for path in [*(clinic / "notebooks").glob("*.ipynb"), *(in_kernels / "notebooks").glob("*.ipynb")]:
        text = path.read_text(encoding="utf-8")
        assert "widgets" not in json.loads(text)["metadata"]
        assert " at 0x" not in text, "an object without words"
        assert str(Path(__file__).parent.parent) not in text


def test_the_scan_would_see_a_record(clinic, tmp_path):
    """The same scan of the same page with one original record in it."""
    dataset = load(CLINIC)
    page = (clinic / "01_load.html").read_text(encoding="utf-8")
    record = dataset.table.iloc[57]
    row = "<table><tr>" + "".join(f"<td>{value}</td>" for value in record) + "</tr></table>"
    planted = tmp_path / "page.html"
    planted.write_text(page.replace("</main>", row + "</main>"), encoding="utf-8")
    assert row in planted.read_text(encoding="utf-8")
    assert scan(planted, original=dataset.table)


def test_every_risk_has_its_baseline(clinic):
    """Baseline and interval stand beside each number that says what an adversary reaches; gains are exact."""
    results = report.read_results(clinic / "results.csv")
    risks = results[
        (results.better == "lower") & results.measure.str.match("anti|reidentification|accuracy|knowledge|unique")
    ]
    risks = risks[(risks.miner != "average") & risks.value.notna()]
    sampled = risks[~risks.measure.str.contains("_gain")]
    assert sampled.low.notna().all()
    assert sampled.high.notna().all()
    withheld = risks.measure.str.startswith("anti")
    assert risks[~withheld].baseline.notna().all()


def test_the_decision_is_printed_on_at_most_two_sheets(clinic, offline):
    offline.page.set_viewport_size({"width": 703, "height": 900})
    offline.page.goto((clinic / "index.html").as_uri())
    assert offline.page.locator(".verdict").is_visible()
    assert offline.page.locator(".contents li").count() == len([*(clinic / "notebooks").iterdir()])
    offline.page.emulate_media(media="print")
    offline.page.evaluate(
        "while (document.querySelector('.decision ~ *')) document.querySelector('.decision ~ *').remove()"
    )
    assert len(re.findall(rb"/Type /Page\b", offline.page.pdf(format="A4"))) <= 3


def test_pages_draw_without_a_network_and_say_their_answer_on_the_first_screen(clinic, offline):
    offline.page.set_viewport_size({"width": 1280, "height": 900})
    for name in ["index", *(path.stem for path in (clinic / "notebooks").iterdir())]:
        offline.page.goto((clinic / f"{name}.html").as_uri())
        figures = offline.page.locator("figure.chart svg:visible")
        assert figures.count() >= (name != "index")
        assert all(figures.nth(i).bounding_box()["height"] > 50 for i in range(figures.count()))
        first = offline.page.locator(".verdict" if name == "index" else ".lead").bounding_box()
        assert first["y"] + first["height"] < 900, name
    assert offline.outside == []
    assert offline.errors == []
