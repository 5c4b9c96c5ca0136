"""A doubled table is reported in every way in: files and frames, described or not."""

import json
import random
from pathlib import Path

import polars as pl
import pytest

from privnb.cli import main
from privnb.publishing import sanitize_table

DOUBLED = "Each record occurs more than once: 600 records, 300 of them distinct"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(number=300):
    rng = random.Random(1)
    return [f"{20 + n % 50},{'fm'[n % 2]},{n},{rng.choice(['flu', 'cold'])}" for n in range(number)]


def write(path, head="age,sex,stay,illness", times=1):
    Path(path).write_text("\n".join([head, *rows() * times]) + "\n")


def describe(name, *more):
    assert main(["describe", f"{name}.csv", "--sensitive", "illness", "--confirm", *more]) == 0


@pytest.mark.parametrize(("times", "said"), [(2, True), (1, False)])
def test_a_doubled_table_is_said_however_it_is_given(here, capsys, times, said):
    write("people.csv", times=times)
    model = ["--model", "k=4"]
    commands = {
        "sanitize FILE": ["sanitize", "people.csv", *model, "--out", "undescribed.csv"],
        "check": ["check", "people.csv", "--quasi", "age,sex"],
        "describe FILE": ["describe", "people.csv", "--sensitive", "illness", "--confirm"],
        "describe": ["describe", "people"],
        "sanitize NAME": ["sanitize", "people", *model, "--out", "described.csv"],
        "sanitize FILE --description": [
            "sanitize",
            "people.csv",
            "--description",
            "people",
            *model,
            "--out",
            "with.csv",
        ],
    }
    for name, command in commands.items():
        assert main(command) == 0, name
        assert (DOUBLED in capsys.readouterr().out) is said, name
    made = sanitize_table.sanitize(pl.scan_csv("people.csv"), "k=4", dataset="people")
    assert (DOUBLED in " ".join(made.sentences)) is said
    note = json.loads(Path("undescribed.csv.provenance.json").read_text())["note"]
    assert (DOUBLED in note) is said


def test_copies_of_people_who_have_a_key_are_not_doubled(here, capsys):
    write("people.csv", head="age,sex,person,illness", times=2)
    describe("people", "--roles", "person: person")
    assert main(["sanitize", "people", "--model", "k=4", "--out", "out.csv"]) == 0
    assert "Each record occurs" not in capsys.readouterr().out


def test_a_checked_release_is_not_called_doubled(here, capsys):
    write("people.csv", times=2)
    assert main(["sanitize", "people.csv", "--model", "k=2", "--out", "out.csv"]) == 0
    capsys.readouterr()
    assert main(["check", "out.csv", "--quasi", "age,sex"]) == 0
    assert "Each record occurs" not in capsys.readouterr().out
