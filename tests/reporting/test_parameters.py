"""What a notebook refuses in its first cells is refused before any notebook starts: a list made from the notebooks."""

import json
import shutil
from pathlib import Path

import pytest
from support.clinic import CLINIC

from privnb import cli
from privnb.datasets import dataset
from privnb.reporting import report
from privnb.reporting.notebooks import OWN, ReportError, check_notebooks, choose_notebooks, notebooks_folder
from privnb.runtime import progress
from privnb.sanitizers.base import DEFAULT_BOUNDS

FOLDER = notebooks_folder(dataset.PROJECT)
BAD = {str: ["banana"], int: ["-1"], float: ["-1", "nan"]}
# Numbers, but no bounds. The explorer takes the first of several.
BOUNDS = {letter.upper(): ["-1", "10, -1"] for letter in DEFAULT_BOUNDS} | {"K_FAMILY": ["1"]}
CASES = [
    (notebook.name, name, value)
    for notebook in choose_notebooks(FOLDER)
    for name, parameter in notebook.parameters.items()
    for value in BAD[type(parameter.default)] + BOUNDS.get(name, [])
    if name not in OWN
    if (notebook.name, value) != ("09_explore", "10, -1")
]


@pytest.mark.parametrize(("notebook", "name", "value"), CASES, ids=str)
def test_a_value_that_cannot_be_is_refused_before_anything_runs(notebook, name, value, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "run_notebooks", None)
    with pytest.raises(ReportError, match=notebook):
        report.build(tmp_path / "out", [notebook], {"DATASET": str(CLINIC), name: value}, folder=FOLDER)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["banana", "1"])
def test_the_command_says_so_in_a_sentence(value, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(report, "run_notebooks", None)
    monkeypatch.chdir(FOLDER)
    asked = [str(CLINIC), "--notebook", "02_sanitize", "-p", f"K={value}", "--out", str(tmp_path / "out")]
    assert cli.main(["report", *asked]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("privnb: 02_sanitize: ")
    assert value in said


@pytest.mark.slow
def test_what_is_right_is_not_refused():
    asked = {"DATASET": str(CLINIC), "K": " 5 ,20", "EPSILON": "1", "L": "2", "PROFILE": "full", "SEEDS": "2"}
    check_notebooks(choose_notebooks(FOLDER, None, asked))


def test_a_fault_of_a_notebook_is_left_to_its_own_run(tmp_path, write_notebook):
    parameters = ("parameters", 'N = 3\nOUT = ""')
    for name, line in (("01_a", "open('no such file')"), ("02_b", "{}['a']"), ("03_c", "raise ValueError(N)")):
        write_notebook(tmp_path, name, "# Why?", parameters, ("setup", line))
    check_notebooks(choose_notebooks(tmp_path, None, {"N": 4}))


@pytest.fixture
def copied(tmp_path):
    """The clinic in another folder, from which each load reads anew, other than in the tests' own."""
    return Path(shutil.copytree(CLINIC.parent, tmp_path / "clinic")) / CLINIC.name


def test_a_table_is_read_once_for_all(copied, monkeypatch):
    calls = []
    monkeypatch.setattr(progress, "note_file", lambda path, checksum: calls.append(path.name))
    check_notebooks(choose_notebooks(FOLDER, ["01_load", "02_sanitize", "03_utility"], {"DATASET": str(copied)}))
    assert calls.count("clinic.csv") == 1
    dataset.load(copied)
    assert calls.count("clinic.csv") == 2


def test_only_what_is_asked_for_is_tried(monkeypatch):
    monkeypatch.setattr(dataset, "load", None)
    check_notebooks(choose_notebooks(FOLDER))


def test_each_notebook_loads_its_table_in_a_cell_that_is_tried():
    for notebook in choose_notebooks(FOLDER):
        cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
        loads = [cell for cell in cells if "load(DATASET" in "".join(cell["source"])]
        tags = [["setup"]] if "DATASET" in notebook.parameters else []
        assert [cell["metadata"].get("tags") for cell in loads] == tags, notebook.name
