"""Columns are computed from others by one click: what the page offers, what it keeps, and what it says."""

import shutil
import tomllib

import pytest
from support import browsing
from support.columns_page import open_columns
from support.stays import STAY, write_stays

from privnb.microdata.schema import Role

SHOWN = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_stays()
    return open_columns("stay.csv")


def ask(page, name, value):
    page._receive(page._page, {"name": name, "value": value}, None)


def stated(page):
    return tomllib.loads(page.table.path.read_text())["columns"]


def test_a_click_adds_a_column_and_keeps_the_choices(page):
    assert 'aria-label="Add length_of_stay: days from admission to discharge"' in page._page.html
    ask(page, "role 5", "sensitive")
    ask(page, "role 2", "neutral")
    ask(page, "person", "each")
    ask(page, "derive", STAY.words)
    assert stated(page)["length_of_stay"]["derived"] == {"days_from": "admission", "to": "discharge"}
    assert stated(page)["ill"]["role"] == "quasi-identifier", "an unsaved choice is not saved"
    chosen = page.roles.chosen
    assert (chosen["ill"], chosen["admission"]) == (Role.SENSITIVE, Role.NEUTRAL)
    assert (chosen["discharge"], chosen["length_of_stay"]) == (Role.UNUSED, Role.QUASI_IDENTIFIER)
    assert page.roles.one_each
    html = page._page.html
    assert "discharge now has the role unused, because other columns are computed from it." in html
    assert "admission keeps the role neutral, so a release contains it, too." in html
    assert 'aria-label="Remove the column length_of_stay"' in html
    assert "Add length_of_stay" not in html


def test_a_click_removes_a_column(page):
    ask(page, "derive", STAY.words)
    ask(page, "role 5", "sensitive")
    ask(page, "remove", "length_of_stay")
    assert "length_of_stay" not in stated(page)
    assert [*page.roles.chosen] == [*page.table.cells] == [*stated(page)]
    assert page.roles.chosen["ill"] is Role.SENSITIVE
    assert "&#39;length_of_stay&#39; is removed." in page._page.html


def test_a_removed_column_closes_its_hierarchy(page):
    ask(page, "derive", STAY.words)
    ask(page, "hierarchy open", "length_of_stay")
    assert page.hierarchy.column == "length_of_stay"
    ask(page, "remove", "length_of_stay")
    assert page.hierarchy.column == ""
    assert "is an error in the page" not in page._page.html


def test_a_description_that_changed_elsewhere_is_said(page):
    changed = page.table.path.read_text() + "# mine\n"
    page.table.path.write_text(changed)
    before = page.roles
    ask(page, "derive", STAY.words)
    assert "was changed elsewhere since it was read here. Nothing is written." in page._page.html
    assert page.table.path.read_text() == changed
    assert page.roles == before


def test_by_keyboard_alone(tmp_path, kernel, browser):
    browsing.copy("your_table", tmp_path / "notebooks")
    shutil.copy(browsing.NOTEBOOKS / "01_load.ipynb", tmp_path / "notebooks")
    write_stays(tmp_path / "stay.csv")
    with browsing.form(tmp_path, "stay.csv") as about, browsing.without_network(browser) as opened:
        page, keys = opened.page, opened.page.keyboard
        page.goto(about["url"])
        page.wait_for_selector(".privnb-saving")

        def go_to(text):
            while not page.evaluate(SHOWN).startswith(text):
                keys.press("Tab")

        go_to("Compute a column from admission")
        keys.press("Enter")
        go_to("Add length_of_stay")
        keys.press("Enter")
        page.wait_for_selector("text='length_of_stay' is computed")
        assert page.evaluate(SHOWN) == "Compute a column from admission", "the focus stays near"
        go_to("Remove the column length_of_stay")
        keys.press("Enter")
        page.wait_for_selector("text='length_of_stay' is removed")
        assert page.evaluate("document.activeElement.closest('.privnb-live') !== null")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 1000})
            assert page.evaluate("document.documentElement.scrollWidth") == width
        assert (opened.errors, opened.outside) == ([], [])
