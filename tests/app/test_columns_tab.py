"""Every column of a table gets its role by menu: what the page says, what it does, and the whole way by keyboard."""

import re
import shutil
from html import unescape
from pathlib import Path

import nbformat
import pytest
from support import browsing
from support.columns_page import open_columns

from privnb.app.columns import MEANINGS
from privnb.datasets.dataset import load
from privnb.explorer import pins
from privnb.microdata.schema import Role

ROWS = [(f"Zoe Q{i:02}", 20 + i % 30, "FM"[i % 2], "<b>" if i % 3 else "ill", i % 7) for i in range(60)]
TEXT = "name,age,sex,illness,visits\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TEXT)
    return open_columns("people.csv")


def ask(page, name, value):
    """Do what a control of the page asks for."""
    page._receive(page._page, {"name": name, "value": value}, None)


def shown(page):
    """What a person reads, and the chosen option of each menu by its label."""
    html = page._page.html
    menus = re.findall(r"<label.*?<span>(.*?)</span><select.*?</label>", html, re.DOTALL)
    chosen = re.findall(r"<option[^>]* selected>(.*?)</option>", html)
    words = re.sub(r"<select.*?</select>", "", html, flags=re.DOTALL)
    return unescape(re.sub("<[^>]*>", " ", words)), dict(zip(map(unescape, menus), map(unescape, chosen), strict=True))


def test_a_menu_offers_every_role_and_says_the_proposed_one(page):
    assert {*MEANINGS} == {*Role}
    text, menus = shown(page)
    assert menus == {
        "Which column is sensitive?": "Choose …",
        "Is each row one person?": "Choose …",
        "Role of name": "identifier: names a person",
        **{f"Role of {name}": "quasi-identifier: others may know it" for name in ("age", "sex", "illness", "visits")},
    }
    assert f"The folder {Path.cwd() / 'data' / 'people'} holds a copy of the original records (people.csv)" in " ".join(
        text.split()
    )
    assert "nearly identifies a person" in text
    assert "Edit the hierarchy of age and its domain (a proposal)" in text
    assert "No column is sensitive yet" in text
    assert "Zoe" not in page._page.html
    assert "<b>," not in page._page.html, "a value is text"
    assert "&lt;b&gt;, ill" in page._page.html


@pytest.mark.slow
def test_what_is_chosen_is_said_at_once(page):
    ask(page, "sensitive", "1")
    ask(page, "sensitive", "3")  # arrow keys passed by age
    _, menus = shown(page)
    assert menus["Which column is sensitive?"] == "illness"
    assert (menus["Role of age"], menus["Role of illness"]) == (
        "quasi-identifier: others may know it", "sensitive: nobody should learn it",
    )  # fmt: skip
    ask(page, "role 4", "sensitive")
    assert shown(page)[1]["Which column is sensitive?"] == "illness, visits"
    assert "Not saved yet." in shown(page)[0]
    ask(page, "person", "none")
    ask(page, "sensitive", "none")
    assert shown(page)[1]["Which column is sensitive?"] == "None: there is nothing to protect"
    ask(page, "person", "each")
    assert shown(page)[1]["Is each row one person?"] == "Yes, each row is one person"
    assert "yet" not in shown(page)[0].replace("Not saved yet", "")
    ask(page, "person", "0")
    assert shown(page)[1]["Role of name"] == "person: key of the person"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"name": "role 99", "value": "neutral"}, "IndexError: list index out of range. This is an error in the page."),
        ({"name": "role 0"}, "KeyError: 'value'. This is an error in the page."),
        ({}, "KeyError: 'name'. This is an error in the page."),
        ({"name": "role 0", "value": "queen"}, "'queen' is not a valid Role"),
    ],
)
def test_what_goes_wrong_is_said_and_changes_nothing(message, said, page):
    ask(page, "sensitive", "3")
    before = page.roles
    page._receive(page._page, message, None)
    assert page.roles == before
    assert said in shown(page)[0]
    ask(page, "sensitive", "1")
    assert said not in shown(page)[0]


def test_roles_that_cannot_be_shown_are_not_taken(page, monkeypatch):
    """A fault while the page is drawn was logged where nobody looks, and the page stood still."""
    before, seen = page.roles, type(page.table).seen

    def broken(table, roles, **how):
        if roles != before:
            raise RuntimeError("no ink")
        return seen(table, roles, **how)

    monkeypatch.setattr(type(page.table), "seen", broken)
    ask(page, "sensitive", "3")
    assert page.roles == before
    assert "RuntimeError: no ink. This is an error in the page." in shown(page)[0]


def test_columns_that_look_confidential_are_asked_about_and_become_sensitive_by_a_click(page):
    asked = "illness looks like health data, a special category of personal data (GDPR Art. 9)."
    assert asked in " ".join(shown(page)[0].split())
    assert page.roles.names(Role.SENSITIVE) == []
    ask(page, "accept", "")
    assert page.roles.names(Role.SENSITIVE) == ["illness"]
    assert "GDPR Art. 9)." not in shown(page)[0]
    assert "Not saved yet." in shown(page)[0]


def test_a_neutral_column_that_singles_people_out_is_named_first(page):
    assert "is published exactly" not in shown(page)[0]
    ask(page, "role 2", "neutral")
    said = "sex is published exactly; 60 of 60 people (100%) are unique in it together with the quasi-identifiers."
    assert " ".join(shown(page)[0].split()).startswith(f"Neutral columns that single people out {said}")
    for name in ("role 1", "role 4"):
        ask(page, name, "unused")
    assert "sex is published exactly" not in shown(page)[0], "nobody is unique in it"
    ask(page, "role 0", "neutral")
    text = " ".join(shown(page)[0].split())
    said = "name is published exactly; 60 of 60 people (100%) are unique in it together with the quasi-identifiers"
    assert text.startswith(f"Neutral columns that single people out {said}, and 60 of 60 people (100%) in it alone.")
    assert "Zoe" not in page._page.html


@pytest.mark.slow
def test_saving_says_what_came_of_it(page):
    ask(page, "save", "")
    assert "Saved in people.toml, which stays a draft. No column is sensitive yet" in shown(page)[0]
    for name, value in (("sensitive", "3"), ("person", "each"), ("save", "")):
        ask(page, name, value)
    text = shown(page)[0]
    assert "The roles in people.toml are confirmed, and its 60 records load." in text
    assert re.search(r"privnb report people\b", text)
    assert load("people").schema.sensitive == ["illness"]
    page.table.path.write_text(page.table.path.read_text() + "# mine\n")
    ask(page, "role 4", "unused")
    ask(page, "save", "")
    assert "people.toml was changed elsewhere since it was read here. Nothing is written." in shown(page)[0]


@pytest.mark.slow
def test_a_page_that_is_loaded_again_goes_on_where_it_was(page, monkeypatch):
    monkeypatch.setenv(pins.STATE, "board.json")
    before = open_columns("people.csv")
    for name, value in (("sensitive", "3"), ("person", "each"), ("role 4", "neutral")):
        ask(before, name, value)
    assert shown(open_columns("people.csv")) == shown(before) != shown(page)
    before.table.path.write_text(before.table.text + "# mine\n")
    assert shown(open_columns("people.csv")) == shown(page), "roles of another description"
    Path("board.json").write_text("[]")
    assert shown(open_columns("people.csv")) == shown(page)


def test_the_notebook_is_the_same_page_beside_the_data_of_its_project(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    Path("people.csv").write_text(TEXT)
    cells = [
        cell for cell in nbformat.read(browsing.NOTEBOOKS / "your_table.ipynb", 4).cells if cell.cell_type == "code"
    ]
    names = {"FILE": "people.csv", "NAME": "mine", "POLICY": "k-5", "STORE": ""}
    for cell in cells[1:]:
        exec(cell.source.replace("app.open_table(", "shown = app.open_table("), names)
    assert names["shown"].state.path == tmp_path / "data" / "mine" / "mine.toml"
    assert "Role of illness" in names["shown"].tabs["columns"].page._page.html


def test_from_a_file_to_a_confirmed_description_by_keyboard_alone(tmp_path, kernel, browser):
    browsing.copy("your_table", tmp_path / "notebooks")
    shutil.copy(
        browsing.NOTEBOOKS / "01_load.ipynb", tmp_path / "notebooks"
    )  # a folder of notebooks has one with a number
    (tmp_path / "people.csv").write_text(TEXT)
    with browsing.form(tmp_path, "people.csv") as about, browsing.without_network(browser) as opened:
        page, keys = opened.page, opened.page.keyboard
        page.goto(about["url"])
        page.wait_for_selector(".privnb-saving")

        def type_into(label, text):
            while page.evaluate("document.activeElement.closest('label')?.querySelector('span').textContent") != label:
                keys.press("Tab")
            keys.type(text)

        type_into("Which column is sensitive?", "ill")
        page.wait_for_selector("text=Not saved yet.")
        type_into("Is each row one person?", "Yes")
        type_into("Role of visits", "unu")
        page.wait_for_selector("text=2 dropped: name, visits")
        while page.evaluate("document.activeElement.name") != "save":
            keys.press("Tab")
        keys.press("Enter")
        page.wait_for_selector("text=Saved.")
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert "Zoe" not in page.content()
        assert (opened.errors, opened.outside) == ([], [])
    schema = load("people", folder=tmp_path / "data").schema
    assert (schema.sensitive, schema.quasi_identifiers) == (["illness"], ["age", "sex"])
