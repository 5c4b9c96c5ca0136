"""The notebooks: their form; the real job on a made-up table, and a scan of all that it leaves. Its other half is
test_notebooks_adult.py, so that two workers share it."""

import csv
import json
import re
from pathlib import Path

import leaks
import nbformat
import pytest
from made_up import CLINIC, IDENTIFIER, RARE

from privnb import studies
from privnb.microdata.dataset import load
from privnb.reporting import report

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
# The papers' examples without anybody's data: coins, small tables, 66 tuples.
MADE_UP = ("section7/", "section5.", "appendix/", "figure5.")
every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path, kind):
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


@every
def test_form(path):
    first, *_ = cells(path, "markdown")
    assert re.match(r"# .+\?\n", first.source), "the title is a question"
    code = cells(path, "code")
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert sum("answer" in cell.metadata.get("tags", []) for cell in code) == 1
    assert not any(cell.outputs or cell.execution_count for cell in code), "outputs are not committed"
    assert not any(re.search(r"^\s*(def|for|while|class) ", cell.source, re.MULTILINE) for cell in code)
    assert "## Sources" in cells(path, "markdown")[-1].source


@every
def test_every_parameter_is_explained(path):
    (parameters,) = (cell for cell in cells(path, "code") if "parameters" in cell.metadata.get("tags", []))
    for line in parameters.source.splitlines():
        # papermill cannot read a comment with = or ; in it.
        assert re.fullmatch(r'[A-Z_]+ = ("[^"]*"|[\d.]+)  # [^=;]{10,}', line), line


@pytest.fixture(scope="module")
def clinic(tmp_path_factory, kernel):
    """The report of the made-up table, built as `privnb report` builds it."""
    out = tmp_path_factory.mktemp("clinic") / "report"
    report.build(out, parameters={"DATASET": str(CLINIC), "K": "5, 20", "EPSILON": "0.5, 0.1"})
    return out


def test_another_table_goes_through_the_whole_loop(clinic):
    assert len(leaks.shown(clinic)) == 2 * len(NOTEBOOKS) + 3
    results = report.read(clinic / "results.csv")
    made_up = {name for name in results.dataset if name in ("coins", "hypertension") or name.startswith("askari: ")}
    assert set(results.dataset) - made_up == {"clinic/clinic"}, "the papers' made-up examples are run with any table"
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
    with open(clinic / "ledger.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["item"].startswith(MADE_UP)]
    assert {row["status"] for row in rows} == {"not run", "not reproducible"}


def test_nothing_of_the_clinics_people_is_shown(clinic):
    dataset = load(CLINIC)
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    released = [s.sanitize(dataset, rng=1).table for s in studies.sramka_sanitizers(k="5, 20")]
    assert leaks.scan_report(clinic, original=dataset.table, canaries=canaries, released=released) == []


def test_executed_notebooks_carry_no_widgets_and_no_paths(clinic):
    for path in (clinic / "notebooks").glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert "widgets" not in json.loads(text)["metadata"]
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
    assert leaks.scan(planted, original=dataset.table)
