"""The notebooks with a file that another tool made: one more release next to those of privnb, never the choice."""

import json
import re
from pathlib import Path

import pytest
from support import one_process
from support.clinic import CLINIC, IDENTIFIER, RARE
from support.leak_audit import scan

from privnb.datasets.dataset import load
from privnb.reporting import report
from privnb.reporting.notebooks import ReportError, choose_notebooks, notebooks_folder
from privnb.sanitizers import Mondrian

FOLDER = notebooks_folder(Path(__file__))
PAGES = ["08_decision", "11_perturbation", "15_release_card"]
HEADINGS = ("A release that another tool made", "The card of a release that another tool made")
FEW = {"DATASET": str(CLINIC), "SEEDS": 1, "SAMPLE": 150}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a generalized file of the clinic, a copy of the clinic, and people who are not in the clinic."""
    folder = tmp_path_factory.mktemp("private-folder")
    people = load(CLINIC)
    Mondrian(k=20).sanitize(people, rng=1).publish()[0].table.to_csv(folder / "theirs.csv", index=False)
    published = people.table[people.schema.published]
    published.to_csv(folder / "copy.csv", index=False)
    published.assign(weight=199.5).to_csv(folder / "others.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def reports(files, tmp_path_factory):
    """The report with the file, which is named relative to the folder of the command, and the report without it."""
    made, without = (tmp_path_factory.mktemp(name) / "report" for name in ("with", "without"))
    asked = {"notebooks": PAGES, "parameters": FEW}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(files)
        given = asked | {"parameters": FEW | {"RELEASE": "theirs.csv"}}
        one_process.build_all({made: given, without: asked})
    return made, without


@pytest.fixture
def made(reports):
    """The report with the file."""
    return reports[0]


@pytest.fixture
def without(reports):
    """The report without the file."""
    return reports[1]


def page(report, name):
    return (report / f"{name}.html").read_text(encoding="utf-8")


def text(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.slow
def test_the_file_is_compared_with_the_choice_and_never_chosen(made):
    html = page(made, "08_decision")
    assert HEADINGS[0] in html
    section = text(html.partition(HEADINGS[0])[2])
    assert re.search(r"theirs\.csv breaks the policy", section)
    assert "theirs.csv has 300 rows: the rows are the records." in section
    assert re.search(r"utility loss 80%", section)
    assert re.search(r"records measured 300 300", section)
    results = report.read_results(made / "results.csv")
    assert "MadeElsewhere" in set(results.sanitizer)
    assert set(results[results.measure == "recommended"].sanitizer).isdisjoint({"MadeElsewhere"})
    assert "file = theirs.csv" not in html.partition(HEADINGS[0])[0]


@pytest.mark.slow
def test_the_file_is_one_more_release_of_the_map(made, without):
    theirs, ours = (
        json.dumps(json.loads((each / "notebooks/11_perturbation.ipynb").read_text())) for each in (made, without)
    )
    assert "Release made elsewhere, file = theirs.csv" in theirs
    assert "Release made elsewhere" not in ours
    results = report.read_results(made / "results.csv")
    linked = results[(results.sanitizer == "MadeElsewhere") & (results.measure == "reidentification_rate")]
    assert [*linked.dataset] == ["clinic/clinic (150 records)"]
    assert 0 < linked.value.iloc[0] < 0.5


@pytest.mark.slow
def test_the_card_of_the_file_follows_the_card_of_the_choice(made):
    _, heading, section = page(made, "15_release_card").partition(HEADINGS[1])
    assert heading
    assert "theirs.csv breaks the policy" in text(section)
    assert "Can an adversary re-identify a person? 4%" in text(section)
    assert "made elsewhere" not in page(made, "card")


@pytest.mark.slow
def test_nothing_is_shown_without_a_file(without):
    for name in PAGES:
        assert not any(each in page(without, name) for each in HEADINGS)
    assert "MadeElsewhere" not in set(report.read_results(without / "results.csv").sanitizer)


@pytest.mark.slow
def test_no_page_has_a_path_or_a_record(made, files):
    for path in (each for each in made.rglob("*") if each.is_file()):
        assert files.name not in path.read_text(encoding="utf-8"), path
    assert "RELEASE=theirs.csv" in text((made / "about.html").read_text(encoding="utf-8"))
    dataset = load(CLINIC)
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    released = [Mondrian(k=20).sanitize(dataset, rng=1).table]
    shown = [made / "results.csv", *(made / "notebooks").iterdir(), *(made / f"{name}.html" for name in PAGES)]
    for path in shown:
        assert [*scan(path, original=dataset.table, canaries=canaries, released=released)] == [], path


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"RELEASE": "absent.csv"}, r"there is no file absent\.csv"),
        ({"RELEASE": "others.csv"}, r"others\.csv do not cover a record"),
        ({"RELEASE": "theirs.csv", "RECORDS": 100}, "must not be a sample if a release is given"),
        ({"RELEASE": "theirs.csv", "ROWS": "synthetic"}, "synthetic rows must have values of the domain"),
        ({"ROWS": "synthetic"}, "a release must be named"),
        ({"RELEASE": "theirs.csv", "TREATMENTS": "age"}, "`treatments` must list columns with their treatments"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_runs(name, given, said, files, tmp_path, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setattr(report, "run_notebooks", None)
    with pytest.raises(ReportError, match=said):
        report.build(tmp_path / "out", [name], {"DATASET": str(CLINIC)} | given, folder=FOLDER)
    assert list(tmp_path.iterdir()) == []


def test_a_holdout_that_is_in_the_table_is_refused(files, tmp_path, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setattr(report, "run_notebooks", None)
    given = {"RELEASE": "theirs.csv", "HOLDOUT": "copy.csv"}
    with pytest.raises(ReportError, match=r"most people of copy\.csv have the values of a record"):
        report.build(tmp_path / "out", ["08"], {"DATASET": str(CLINIC)} | given, folder=FOLDER)


def test_a_file_is_found_in_the_folder_of_the_command(files, monkeypatch, tmp_path):
    monkeypatch.chdir(files)
    (chosen,) = choose_notebooks(FOLDER, ["08"], {"RELEASE": "theirs.csv", "POLICY": "k-5"})
    assert chosen.asked == {"RELEASE": str(files / "theirs.csv"), "POLICY": "k-5"}
    (tmp_path / "own.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    (chosen,) = choose_notebooks(FOLDER, ["08"], {"POLICY": "own.toml"})
    assert chosen.asked == {"POLICY": str(tmp_path / "own.toml")}
