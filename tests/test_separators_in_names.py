"""Names with separators work in every role, in options and on page 09, and so do a file's own names."""

import csv
import json
import random

import pytest

from privnb import explorer
from privnb.cli import main
from privnb.datasets.dataset import load
from privnb.reporting import charts, findings

NAMES = ["age", "sex: at birth", "City, State", "a=b", "x|y", "in/out"]
CONFIRMED = ["--roles", "sex: at birth: quasi-identifier, in/out: unused", "--confirm"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table whose columns have separators in their names."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        for _ in range(300):
            towns = ["Bern, BE", "Thun, BE", "Chur, GR"]
            writer.writerow([rng.randint(20, 60), *map(rng.choice, ("fm", towns, "pq", "rs", ["in", "out"]))])
    return tmp_path


@pytest.mark.parametrize("sensitive", ["City, State", '"City, State"'])
def test_page_09_measures_a_sensitive_column_with_a_comma(here, sensitive):
    assert main(["describe", "people.csv", "--sensitive", sensitive, *CONFIRMED]) == 0
    dataset = load("people")
    assert dataset.schema.sensitive == ["City, State"]
    asked = {"quasi_identifiers": "", "sensitive": sensitive, "miner": "naive Bayes", "scenario": "A", "seed": 1}
    setting = explorer.check_setting(
        explorer.parse_setting("10", "", "", "", "1", sanitizer="Mondrian", **asked), dataset
    )
    reading, results = (
        explorer.count_setting(dataset, setting, min_count=10),
        explorer.measure_setting(dataset, setting, "", 10),
    )
    assert "City, State" in set(results.target[results.measure == "good_utility"])
    assert findings.one_setting(results, reading.refused)
    assert charts.hit(results)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", ["sensitive", "neutral", "identifier"])
def test_every_role_takes_every_name(here, name, role):
    other = "a=b" if name != "a=b" else "x|y"
    quoted = f'"{name}"' if "," in name else name
    roles = f"{quoted}: {role}" + f", {other}: sensitive" * (role != "sensitive")
    assert main(["describe", "people.csv", "--roles", roles, "--confirm"]) == 0
    dataset = load("people")
    assert dataset.schema[name.replace("/", " ")].role == role


@pytest.mark.parametrize("name", NAMES[1:])
def test_models_and_check_take_every_name(here, capsys, name):
    quoted = f'"{name}"' if {*name} & {*",:=|"} else name
    assert main(["sanitize", "people.csv", "--model", f"k=3, l=2:{quoted}", "--out", "out.csv"]) == 0
    assert name.replace("/", " ") in json.loads((here / "out.csv.provenance.json").read_text())["columns"]
    capsys.readouterr()
    known = ", ".join(f'"{each}"' for each in NAMES if each != name)
    for given in {name, quoted}:
        assert main(["check", "people.csv", "--quasi", known, "--sensitive", given]) == 0
        assert f"'{name}'" in capsys.readouterr().out


def test_a_mark_of_a_missing_value_is_given_to_a_name_with_a_comma(here):
    roles = ["--sensitive", "a=b", "--missing", '"City, State": "Bern, BE", in/out: out', "--confirm"]
    assert main(["describe", "people.csv", *roles]) == 0
    table = load("people").table
    assert "Bern, BE" not in set(table["City, State"])
    assert "out" not in set(table["in out"])


def test_sanitize_says_a_changed_name_and_keeps_it_in_the_provenance(here, capsys):
    assert main(["sanitize", "people.csv", "--model", 'k=3, t=0.9:"in/out"', "--out", "out.csv"]) == 0
    facts = json.loads((here / "out.csv.provenance.json").read_text())
    assert facts["renamed"] == {"in/out": "in out"}
    for said in (capsys.readouterr().out, facts["note"]):
        assert "'in/out' is called 'in out' here: a name must not" in said


def test_a_model_finds_a_changed_name_next_to_a_similar_one(here):
    text = (here / "people.csv").read_text().replace("x|y", "in out")
    (here / "people.csv").write_text(text)
    assert main(["sanitize", "people.csv", "--model", "k=3, l=2:in/out", "--out", "out.csv"]) == 0
    facts = json.loads((here / "out.csv.provenance.json").read_text())
    assert facts["renamed"] == {"in/out": "in out 2"}
    assert "DistinctDiversity(l=2, sensitive='in out 2')" in facts["claims"]


def test_a_name_that_its_owner_chose_is_taken_by_models_and_explained(here, capsys):
    assert main(["describe", "people.csv", "--sensitive", "x|y", "--confirm"]) == 0
    path = here / "data" / "people" / "people.toml"
    text = path.read_text().replace('[columns."x|y"]', "[columns.mark]")
    path.write_text(text.replace("[renamed]\n", '[renamed]\n"x|y" = "mark"\n'))
    (path.parent / "hierarchies" / "default" / "x|y.csv").rename(path.parent / "hierarchies" / "default" / "mark.csv")
    capsys.readouterr()
    assert main(["describe", "people"]) == 0
    assert "'x|y' is called 'mark' here: its description renames it under [renamed]." in capsys.readouterr().out
    assert main(["sanitize", "people", "--model", "k=3, l=2:x|y", "--out", "out.csv"]) == 0
    facts = json.loads((here / "out.csv.provenance.json").read_text())
    assert facts["renamed"] == {"in/out": "in out", "x|y": "mark"}
    assert "DistinctDiversity(l=2, sensitive='mark')" in facts["claims"]


def test_a_name_that_is_changed_is_said(here, capsys):
    assert main(["describe", "people.csv", "--sensitive", "in/out"]) == 0
    assert "'in/out' is called 'in out' here" in capsys.readouterr().out


def test_check_takes_the_names_of_the_source(tmp_path, monkeypatch, capsys):
    """`a/b` is called `a b 2` where the table has `a b`, and means that column."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + n % 50},{'fm'[n % 2]},{n % 3},{n % 2}" for n in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["in/out,sex,a b,a/b", *rows]) + "\n")
    assert main(["sanitize", "people.csv", "--model", "k=4, p=2:a/b", "--out", "out.csv", "--allow", "a test"]) == 0
    said = []
    asked = (("in/out,sex", "a/b", 0), ("in out,sex", "a b 2", 0), ("in out,sex", "a b", 1))
    for known, sensitive, status in asked:  # of the last one's column the file claims nothing
        capsys.readouterr()
        assert main(["check", "out.csv", "--quasi", known, "--sensitive", sensitive]) == status
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]
