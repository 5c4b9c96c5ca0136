"""The notebooks that have cells for the papers' table, on a sample of it, in one process, and a scan of all they leave.
All of them run in test_notebooks.py, on a made-up table."""

from pathlib import Path

import pytest
from support import chart_texts, one_process, sentences
from support.clinic import CLINIC
from support.leak_audit import scan

from privnb.datasets.dataset import load
from privnb.evaluation import parameters
from privnb.reporting.notebooks import choose_notebooks

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
RECORDS = 300
# Those of the papers, which an owner's report has not, and those with cells of the papers' table.
PAPERS = [
    "00_twelve_people", "02_sanitize", "03_utility", "05_brickell_shmatikov", "06_li_li", "07_askari_channel",
    "11_perturbation", "12_undo_noise", "13_frontier", "14_informed_adversary", "16_results_and_tables",
]  # fmt: skip


@pytest.fixture(scope="module")
def adult(tmp_path_factory, kernel):
    """The report of a sample of Adult."""
    few = {"K": "10, 50", "EPSILON": "0.5", "T": "0.4", "DELTA": "3", "SEEDS": 2}  # what is tried is a page
    few |= {"SUPPORT": "0.05, 0.1", "K_TREE": "10, 50", "EPSILON_RULES": "3"}
    few |= {"DEVIATION": "0.05, 0.2", "KNOWN": "0, 4", "SYNTHETIC_RECORDS": 1000, "QUERIES": 100}
    asked = few | {"RECORDS": RECORDS, "MINERS": "majority, decision stump"}
    _, *papers = PAPERS  # the first has a table of its own, and is the same page in test_notebooks.py
    return one_process.build(tmp_path_factory.mktemp("adult") / "report", notebooks=papers, parameters=asked)


def test_all_notebooks_with_cells_of_the_papers_table_are_there():
    every = choose_notebooks(NOTEBOOKS)
    tagged = [
        notebook.name
        for notebook in every
        if any("paper" in cell.metadata.get("tags", []) for cell in notebook.read().cells if cell.cell_type == "code")
    ]
    own = [notebook.name for notebook in choose_notebooks(NOTEBOOKS, None, {"DATASET": str(CLINIC)})]
    assert [name for name in (each.name for each in every) if name in tagged or name not in own] == PAPERS


def test_each_chart_has_a_short_title_and_tooltips_with_names(adult):
    chart_texts.check(adult)


def test_nothing_of_adults_people_is_shown(adult):
    dataset = load("adult", records=RECORDS)
    released = [s.sanitize(dataset, rng=1).table for s in parameters.build_sramka_sanitizers(k="10, 50")]
    assert [*scan(adult, original=dataset.table, released=released)] == []


def test_each_page_answers_first_with_a_number_in_forty_words(adult):
    sentences.check(adult)
