"""Spellings are merged and lost zeros restored: found, shown, stated, loaded in every way, and undone."""

from pathlib import Path

import pandas as pd
import pytest
from support.columns_page import open_columns

from privnb.cli import main
from privnb.datasets.dataset import load
from privnb.datasets.description_editor import DescriptionEditor, describe_again
from privnb.microdata.schema import SchemaError
from privnb.publishing.from_files import sanitize

ZIPS = ("01067", "1067", "1069", "10115", "80331")
SEXES = ("F", "f", "M", '"F "')
ROWS = [f"{ZIPS[i % 5]},{SEXES[3 if i < 3 else i % 3]},{('flu', 'cold')[i % 4 // 2]}" for i in range(120)]


@pytest.fixture
def table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("sick.csv").write_text("\n".join(["zip,sex,ill", *ROWS]) + "\n")
    main(["describe", "sick.csv", "--sensitive", "ill", "--confirm"])
    return DescriptionEditor.open("sick")


def test_a_repair_shows_no_spelling_of_few_people(table):
    found = table.repairs(table.roles)
    assert found["sex"].changes == [
        "'f' becomes 'F' in 39 records", "1 spelling, which fewer than 10 records have, changes as well",
    ]  # fmt: skip
    assert found["zip"].changes == ["codes with fewer than 5 digits get leading zeros in 48 records"]
    assert {*found} == {"sex", "zip"}


def test_each_load_repeats_a_repair_and_the_file_stays_as_it_is(table, tmp_path):
    before = (table.path.parent / "sick.csv").read_bytes()
    table, _ = table.repair(["sex", "zip"])
    assert table.repairs(table.roles) == {}
    assert (table.path.parent / "sick.csv").read_bytes() == before
    data = load("sick")
    assert {*data.table["sex"]} == {"F", "M"}
    assert {*data.table["zip"]} == {"01067", "01069", "10115", "80331"}
    assert data.schema["zip"].domain.values == ("01067", "01069", "10115", "80331")
    sanitize(table.path, "k=5", tmp_path / "safe.csv")
    assert {*pd.read_csv(tmp_path / "safe.csv", dtype=str)["sex"]} <= {"F", "M", "*"}


def test_a_derived_column_is_computed_from_repaired_codes(table, tmp_path, capsys):
    table, _ = table.repair(["zip"])
    options = ["--derive", "area: first 2 characters of zip", "--roles", "zip: unused, sex: unused"]
    assert main(["describe", "sick", *options]) == 0
    assert {*load("sick").table["area"]} == {"01", "10", "80"}
    sanitize(table.path, "k=5", tmp_path / "safe.csv")
    assert {*pd.read_csv(tmp_path / "safe.csv", dtype=str)["area"]} == {"01", "10", "80"}


def test_a_corrected_file_keeps_the_repair_and_an_undone_repair_is_gone(table):
    table, _ = table.repair(["sex", "zip"])
    with Path("sick.csv").open("a") as file:
        file.write("4109,f,flu\n")
    again, _ = describe_again("sick.csv")
    assert {*again.cells["zip"].cat.categories} == {"01067", "01069", "04109", "10115", "80331"}
    again, said = again.undo_repair("zip")
    assert "digits" not in again.text
    assert "1067" in {*load("sick").table["zip"]}
    assert {*load("sick").table["sex"]} == {"F", "M"}
    assert said == ["'zip' has the texts of the file again. The domain and the hierarchy are proposed again."]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('spellings = { f = "F", F = "M" }', "no replacement is replaced itself"),
        ("spellings = { f = 1 }", "a table of texts and their replacements"),
        ("digits = 0", "a whole number from 2 to 20"),
    ],
)
def test_a_wrong_correction_is_refused(table, line, words):
    table.path.write_text(table.text.replace("[columns.sex]\n", f"[columns.sex]\n{line}\n"))
    with pytest.raises(SchemaError, match=words):
        load("sick")


def test_the_command_repairs_and_refuses(table, capsys):
    assert main(["describe", "sick", "--repair", "ill"]) == 2
    assert "'ill' needs no repair. The columns that may need one are: zip, sex." in capsys.readouterr().err
    assert main(["describe", "sick", "--repair", "sex,zip"]) == 0
    assert "'f' becomes 'F' in 39 records" in capsys.readouterr().out
    assert {*load("sick").table["sex"]} == {"F", "M"}


def test_a_click_on_the_page_repairs_and_undoes(table):
    page = open_columns(name="sick")

    def ask(name, value):
        page._receive(page._page, {"name": name, "value": value}, None)
        return page._page.html

    ask("role 0", "neutral")
    ask("hierarchy open", "sex")
    assert "Undo the repair of sex" in ask("repair", "sex")
    assert page.hierarchy.column == ""
    assert str(page.roles.chosen["zip"]) == "neutral", "a choice that is not saved yet stays"
    assert load("sick").schema["sex"].domain.values == ("F", "M")
    assert "Repair the values of sex" in ask("undo-repair", "sex")
    assert page.table.text == table.text


def test_a_word_and_its_abbreviation_are_one_value_and_others_are_merged_by_hand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    remarks = "Zoe came late", "patient was sent home again", "all went well on the day"
    words = ["F", "f", "female", "M", "m", "male", "F"]
    rows = [f"{words[i % 7]},{('flu', 'influenza', 'cold')[i % 3]},{i % 4},{remarks[i % 3]}" for i in range(210)]
    Path("mixed.csv").write_text("\n".join(["sex,ill,visits,remark", *rows]) + "\n")
    page = open_columns("mixed.csv")

    def ask(name, value=""):
        page._receive(page._page, {"name": name, "value": value}, None)
        return page._page.html

    assert "with --" not in page._page.html
    assert "repair the values of this column" in page._page.html
    assert page._page.html.count("remarks may name people") == 1
    assert page.table.repairs(page.roles)["sex"].correction.spellings["female"] == "F"
    for name, value in (("sensitive", "2"), ("person", "each"), ("role 1", "neutral"), ("save", "")):
        ask(name, value)
    table, _ = page.table.merge_values("sex", {"f": "F", "m": "M"})
    (alert,) = (each for each in table.seen(table.roles)[0].alerts if "written in several ways" in each)
    assert "'female'" in alert, "the alert stays as long as an abbreviation does"
    table, _ = table.merge_values("sex", {"F": "female"})
    assert {*load("mixed").table["sex"]} == {"female", "M", "male"}
    page = open_columns(name="mixed")
    assert "influenza is read as" in ask("merge open 1")
    assert "female is read as" in ask("merge open 0"), "several repairs are open"
    assert "influenza is read as" in page._page.html
    assert "Choose a value first" in ask("merge apply 1")
    ask("merge as 1 2", "1")
    assert "must stay" in ask("merge as 1 1", "2") + ask("merge apply 1")
    ask("merge as 1 1", "1")
    ask("merge apply 1")
    assert {*load("mixed").table["ill"]} == {"flu", "cold"}
    assert {*load("mixed").table["sex"]} == {"female", "M", "male"}
