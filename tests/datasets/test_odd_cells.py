"""A column of numbers or dates stays one although few cells hold something else: these are counted and asked about."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.columns_page import open_columns

from privnb import cli
from privnb.app.columns import render_form
from privnb.datasets.alerts import find_alerts
from privnb.datasets.column_types import count_partial_dates, recognize
from privnb.datasets.column_values import Values
from privnb.datasets.dataset import load
from privnb.datasets.description_editor import DescriptionEditor
from privnb.explorer import pins
from privnb.microdata.hierarchy.taxonomies import coarser_forms, dates
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError

MANY = range(200)
DECIMALS = [f"{60 + n * 37 % 400 / 10 + 0.1:.1f}" for n in MANY]
DAYS = [f"{1950 + n % 40}-{1 + n % 12:02}-{1 + n * 7 % 28:02}" for n in MANY]
QUESTION = "Do they mean a missing value?"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def column(name, texts, mark="?"):
    return recognize(name, Values.of(pd.Series([*map(str, texts)]).astype("category"), mark))


def new(name, cells, *more):
    """The description's columns of a table of these cells, a group and an illness; and what the command said."""
    rows = (f"{cell},{'fm'[n % 2]},{'ab'[n % 3 > 0]}\n" for n, cell in enumerate(cells))
    Path(f"{name}.csv").write_text(f"{name},sex,ill\n" + "".join(rows))
    assert cli.main(["describe", f"{name}.csv", "--sensitive", "ill", "--confirm", *more]) == 0
    return tomllib.loads(Path(f"data/{name}/{name}.toml").read_text())["columns"]


@pytest.mark.parametrize("word", ["unknown", "<null>", "inf", "-inf", "n/k", "#DIV/0!", "<0.5", "12 kg"])
def test_one_odd_word_leaves_a_column_of_decimals_numbers(here, capsys, word):
    cells = [*DECIMALS[:-1], word]
    assert new("score", cells)["score"]["missing"] == [word]
    said = capsys.readouterr().out
    assert "score: Cells that do not hold numbers count as missing: 1 of 200. " + QUESTION in said
    assert word not in said, "it may be one person's own"
    dataset = load("score")
    assert isinstance(dataset.schema["score"].domain, Numbers)
    assert dataset.table["score"].isna().tolist() == [False] * 199 + [True]
    np.testing.assert_allclose(dataset.table["score"].to_numpy()[:199], [*map(float, DECIMALS[:199])])


def test_the_page_asks_until_the_owner_has_answered(here, capsys):
    new("score", [*DECIMALS[:180], *["unknown"] * 10, *DECIMALS[190:]])
    assert "10 of 200, such as unknown. " in capsys.readouterr().out, "what ten people share may be named"
    table = DescriptionEditor.open("score")
    assert QUESTION in str(render_form(table, table.roles))
    path = Path("data/score/score.toml")
    path.write_text(path.read_text().replace("# a guess: texts of", "# checked: texts of"))
    table = DescriptionEditor.open("score")
    assert QUESTION not in str(render_form(table, table.roles))
    assert load("score").table["score"].isna().sum() == 10


def test_an_answer_on_the_page_is_kept_in_the_description(here, monkeypatch):
    new("score", [*DECIMALS[:-1], "unknown"])
    monkeypatch.setenv(pins.STATE, str(here / "state.json"))
    page = open_columns("", "score")
    page._receive(page._page, {"name": "missing 0", "value": ""}, None)
    assert page.roles.missing == (), "nothing is chosen"
    assert "What do the cells of another type mean?" in page._page.html
    page._receive(page._page, {"name": "missing 0", "value": "none"}, None)
    assert QUESTION not in page._page.html
    again = open_columns("", "score")
    assert again.roles.missing == ("score",), "a page that is loaded again keeps what was chosen"
    before = tomllib.loads(Path("data/score/score.toml").read_text())
    page._receive(page._page, {"name": "save", "value": ""}, None)
    text = Path("data/score/score.toml").read_text()
    assert "# checked: texts of another type count as missing" in text
    assert tomllib.loads(text) == before
    assert QUESTION not in str(render_form(page.table, page.roles))
    assert page.table.guessed_missing == []


def test_no_odd_cell_is_read_that_the_description_does_not_name(here):
    new("score", [*DECIMALS[:-1], "unknown"])
    path = Path("data/score/score.toml")
    path.write_text(re.sub(r'missing = \["unknown"\].*\n', "", path.read_text()))
    with pytest.raises(SchemaError, match="score"):
        load("score")


def test_odd_cells_are_missing_in_a_release_from_file_to_file(here, capsys):
    Path("score.csv").write_text("score,sex\n" + "".join(f"{each},f\n" for each in [*DECIMALS[:-1], "unknown"]))
    assert cli.main(["sanitize", "score.csv", "--model", "k=3", "--algorithm", "mondrian", "--out", "out.csv"]) == 0
    assert "score: 1 cells of another type count as missing" in capsys.readouterr().out
    out = pd.read_csv("out.csv")
    assert len(out) == 200
    assert "unknown" not in Path("out.csv").read_text()
    assert out["score"].str.fullmatch(r"[\d.]+-[\d.]+|\*").all()


def test_a_decimal_comma_is_seen_beside_an_odd_word(here):
    rows = "".join(f"{each.replace('.', ',')};f;{'ab'[n % 2]}\n" for n, each in enumerate([*DECIMALS[:-1], "unknown"]))
    Path("score.csv").write_text("score;sex;ill\n" + rows)
    assert cli.main(["describe", "score.csv", "--sensitive", "ill", "--confirm"]) == 0
    assert load("score").table["score"].max() == max(map(float, DECIMALS[:-1]))


@pytest.mark.parametrize("word", ["unknown", "0000-00-00", "1987-02-30", "<null>"])
def test_one_odd_cell_leaves_a_column_of_days_dates(here, capsys, word):
    described = new("born", [*DAYS[:-1], word])["born"]
    assert described["missing"] == [word]
    assert described["role"] == "quasi-identifier"
    assert "Cells that do not hold dates count as missing: 1 of 200. " + QUESTION in capsys.readouterr().out
    assert load("born").table["born"].tolist() == [*DAYS[:-1], "NA"]


def test_a_role_that_is_given_later_names_the_odd_cells_as_well(here):
    new("score", [*DECIMALS[:-1], "unknown"], "--roles", "score: unused")
    path = Path("data/score/score.toml")
    text = re.sub(r'(domain = \{ low|missing = \["unknown"\]).*\n', "", path.read_text())
    path.write_text(text)
    table = DescriptionEditor.open("score")
    table, lacks = table.save(table.roles.having({"score": Role.NEUTRAL}))
    assert (lacks, tomllib.loads(table.text)["columns"]["score"]["missing"]) == ([], ["unknown"])
    assert load("score").table["score"].isna().sum() == 1


def test_what_is_of_another_type_stays_so():
    ages = [*range(18, 90)] * 3
    for name, texts, role, said in [
        ("age", [*ages, "90+"], Role.QUASI_IDENTIFIER, "in order: 73 values"),
        ("room", [*ages, "12b"], Role.QUASI_IDENTIFIER, "73 values"),  # a code, of which some have letters
        ("room", [*ages, "012"], Role.QUASI_IDENTIFIER, "73 values"),
        ("score", [*DECIMALS[:100], *[f"word {n}" for n in range(20)]], Role.IDENTIFIER, "nearly identifies"),
        ("ticket", [*range(1000, 1700, 7), *["A/5", "C.A.", "LINE"] * 10], Role.IDENTIFIER, "nearly identifies"),
        ("score", [*DECIMALS[:100], *["unknown"] * 40], Role.QUASI_IDENTIFIER, "a number, 100 different and 40 mis"),
        ("key", [*range(1, 200), "unknown"], Role.IDENTIFIER, "nearly identifies a person"),
        ("town", ["Ulm", "Bonn", "Trier", "5"] * 20, Role.QUASI_IDENTIFIER, "4 values"),
    ]:
        found = column(name, texts)
        assert (found.role, said in found.reason) == (role, True), (name, found.role, found.reason)
        assert not found.odd or found.domain is None or isinstance(found.domain, Numbers)
    with pytest.raises(SchemaError, match="two orders"):
        column("seen", [f"{n % 28 + 1:02}/{n % 12 + 1:02}/1999" for n in range(199)] + ["03/28/1999"])


def test_dates_of_mixed_precision_are_dates_and_are_counted(here, capsys):
    cells = [day if n % 3 else day[:7] if n % 2 else day[:4] for n, day in enumerate(DAYS)]
    assert new("born", cells)["born"]["role"] == "quasi-identifier"
    partly = sum(len(each) < 10 for each in cells)
    said = f"dates of mixed precision: {partly} of 200 dates have only a month or a year. They stay as they are"
    assert said in capsys.readouterr().out
    assert load("born").table["born"].tolist() == cells
    assert cli.main(["sanitize", "born", "--model", "k=5", "--algorithm", "mondrian", "--out", "out.csv"]) == 0
    assert len(pd.read_csv("out.csv")) == 200


def test_a_year_alone_is_in_no_month_and_every_label_holds_its_dates():
    rows = {row[0]: row[1:] for row in column("born", ["2001-05-03", "2001-05", "2001", "1999-12-31"] * 9).tree.rows}
    assert rows["2001-05-03"] == ("in 2001-05", "2001-Q2", "in 2001", "2000-2009", "*")
    assert rows["2001-05"] == rows["2001-05-03"]
    assert rows["2001"] == ("2001", "2001", "in 2001", "2000-2009", "*")
    german = {row[0]: row[1:] for row in column("born", ["03.05.2001", "05.2001", "2001"] * 9).tree.rows}
    assert german["05.2001"] == german["03.05.2001"] == ("in 2001-05", "2001-Q2", "in 2001", "2000-2009", "*")
    both = column("born", ["05/06/2001", "05/2001", "1999"] * 9)
    assert "the form is ambiguous" in both.reason
    assert {row[1] for row in both.tree.rows} == {"in 2001", "in 1999"}


def test_days_alone_have_the_labels_that_they_had():
    born = Attribute("born", Role.QUASI_IDENTIFIER, Categories(("2001-05-03", "2002-01-01")))
    assert dates(born).rows[0] == ("2001-05-03", "2001-05", "2001-Q2", "2001", "2000-2009", "*")
    assert coarser_forms("%Y%m%d") == coarser_forms("%YQ%q") == coarser_forms("%d.%m.%y") == ()


def test_only_dates_of_mixed_precision_are_alerted():
    for texts, partly in [(DAYS, 0), (["2001", "2002"], 0), (["2001-05", "2001", "2001"], 2), (["a", "b"], 0)]:
        values = Values.of(pd.Series(texts).astype("category"), "?")
        assert count_partial_dates(values) == partly
        said = find_alerts({"born": values}, {"born": Role.QUASI_IDENTIFIER}, [])["born"]
        assert any("mixed precision" in each for each in said) == bool(partly)
