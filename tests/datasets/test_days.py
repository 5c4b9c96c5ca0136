"""How days are written, where that is ambiguous: asked, said by word or by menu, kept, and what comes of it."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from support.columns_page import open_columns

from privnb.cli import main
from privnb.datasets.dataset import load
from privnb.datasets.description_editor import DescriptionEditor
from privnb.microdata.schema import SchemaError

DAYS = [f"{1 + i % 12:02}/{1 + i % 11:02}/{2018 + i % 3}" for i in range(120)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A table whose days could begin with the day or the month; every tenth is missing."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{day if i % 10 else ''},{'fm'[i % 2]},{'abc'[i % 3]}" for i, day in enumerate(DAYS)]
    Path("seen.csv").write_text("seen,sex,ill\n" + "\n".join(rows) + "\n")
    return tmp_path / "data" / "seen"


def tree(place):
    return [line.split(";") for line in (place / "hierarchies/default/seen.csv").read_text().splitlines()]


def test_without_an_answer_the_tree_has_years_alone_and_says_what_to_do(place, capsys):
    main(["describe", "seen.csv"])
    assert "state --days 'seen: dd/mm/yyyy' for months" in (place / "seen.toml").read_text()
    assert {"2018", "2019", "2020"} == {row[1] for row in tree(place)} - {"?"}


@pytest.mark.parametrize("answer", ["dd/mm/yyyy", "mm/dd/yyyy"])
def test_an_answer_makes_months_and_a_gap_stays_one(place, answer, capsys):
    main(["describe", "seen.csv", "--sensitive", "ill", "--days", f"seen: {answer}", "--confirm"])
    entry = tomllib.loads((place / "seen.toml").read_text())["columns"]["seen"]
    assert entry["days"] == answer.replace("dd", "%d").replace("mm", "%m").replace("yyyy", "%Y")
    month = {row[0]: row[1] for row in tree(place)}
    assert month.pop("?") == "?"
    assert all(month[day] == f"{day[6:]}-{day[3:5] if answer[0] == 'd' else day[:2]}" for day in month)
    assert "is ambiguous" not in (place / "seen.toml").read_text()
    assert load(str(place / "seen.toml")).hierarchies["seen"].height == len(tree(place)[0]) - 1


def test_the_other_answer_makes_the_tree_anew(place, capsys):
    main(["describe", "seen.csv", "--sensitive", "ill", "--days", "seen: dd/mm/yyyy"])
    first = tree(place)
    main(["describe", str(place / "seen.toml"), "--days", "seen: mm/dd/yyyy"])
    assert tree(place) != first
    assert (place / "seen.toml").read_text().count("days =") == 1


def test_without_the_file_the_tree_is_the_calendars(place, capsys):
    main(["describe", "seen.csv", "--sensitive", "ill", "--days", "seen: dd/mm/yyyy", "--confirm"])
    path = place / "seen.toml"
    named = tomllib.loads(path.read_text())["columns"]["seen"]["domain"]
    assert isinstance(named, list)
    (place / "hierarchies/default/seen.csv").unlink()
    assert load(str(path)).hierarchies["seen"].levels().loc[1, "groups"] == 1 + len({day[3:] for day in DAYS})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("seen: dd.mm.yyyy", "all of its values can be read as dd/mm/yyyy or mm/dd/yyyy"),
        ("sex: dd/mm/yyyy", "not all of its values are days"),
        ("seen: day first", "is not a form of days"),
        ("seen", "must give a column its form of days"),
        ("sen: dd/mm/yyyy", "there is no column 'sen'"),
    ],
)
def test_what_is_no_answer_is_refused_and_nothing_is_written(place, answer, said, capsys):
    main(["describe", "seen.csv", "--sensitive", "ill"])
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert main(["describe", str(place / "seen.toml"), "--days", answer]) in (2, 4)
    assert said in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_menu_asks_for_it_and_its_answer_is_saved(place, capsys):
    page = open_columns("seen.csv")
    assert page._page.html.count("Format of the dates of ") == 1
    page._receive(page._page, {"name": "days 0", "value": ""}, None)
    assert page.roles.days == {}
    for name, value in (("sensitive", "2"), ("person", "each"), ("days 0", "%m/%d/%Y"), ("save", "")):
        page._receive(page._page, {"name": name, "value": value}, None)
    assert DescriptionEditor.open(str(place / "seen.toml")).roles.days == {"seen": "%m/%d/%Y"}
    assert load(str(place / "seen.toml")).hierarchies["seen"].height > 3


def test_a_form_that_is_none_is_refused_when_the_description_is_read(place, capsys):
    main(["describe", "seen.csv", "--sensitive", "ill", "--days", "seen: dd/mm/yyyy", "--confirm"])
    path = place / "seen.toml"
    path.write_text(path.read_text().replace('days = "%d/%m/%Y"', 'days = "%d %q"'))
    with pytest.raises(SchemaError, match="days"):
        load(str(path))


def test_roles_alone_make_no_tree_anew(place, capsys):
    main(["describe", "seen.csv", "--sensitive", "ill", "--days", "seen: dd/mm/yyyy"])
    path = place / "hierarchies/default/seen.csv"
    path.write_text(path.read_text().replace("2018", "early"))
    table = DescriptionEditor.open(str(place / "seen.toml"))
    table.save(replace(table.roles.person(""), one_each=True))
    assert "early" in path.read_text()
