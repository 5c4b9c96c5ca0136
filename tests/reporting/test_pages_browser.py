"""The terms and numbers of a page in a browser: by keyboard, by touch, and without a network."""

import nbformat
import pytest
from support import browsing
from test_pages import cell

from privnb.evaluation.results import build_row, tidy
from privnb.reporting import charts, glossary, notebooks, pages

NAME = "01_a"
FOCUSED = "element => element === document.activeElement"


@pytest.fixture(scope="module")
def page(tmp_path_factory, write_notebook):
    """The path of a page with a term and a number that links to its rows."""
    folder = tmp_path_factory.mktemp("page")
    write_notebook(
        folder / "notebooks",
        NAME,
        "# Who?\n\nA [class](glossary.html#term-class) of people.",
        ("parameters", 'OUT = ""  # where the numbers go'),
    )
    rows = tidy(
        [build_row("accuracy_gain", 0.25, dataset="clinic", sanitizer="Suppress", seed=seed) for seed in range(40)]
    )
    notebook = nbformat.read(folder / "notebooks" / f"{NAME}.ipynb", 4)
    notebook.cells.append(cell(charts.table(rows, columns="measure")))
    made = pages.make(
        notebooks.choose_notebooks(folder / "notebooks", [NAME]), {NAME: nbformat.writes(notebook)}, None, {NAME: rows}
    )
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / f"{NAME}.html"


def test_a_term_opens_and_closes_by_keyboard(page, offline):
    offline.page.goto(page.as_uri())
    term, tip = offline.page.locator("button.term").first, offline.page.locator(".tip").first
    for _ in range(20):
        if term.evaluate(FOCUSED):
            break
        offline.page.keyboard.press("Tab")
    assert term.evaluate(FOCUSED)
    assert not tip.is_visible()
    for key in ("Enter", "Space"):
        offline.page.keyboard.press(key)
        assert tip.is_visible()
        (meaning,) = (each.means for each in glossary.terms() if each.place == "term-class")
        assert tip.inner_text().startswith(meaning)
        offline.page.keyboard.press("Escape")
        assert not tip.is_visible()
        assert term.evaluate(FOCUSED), "the reader goes on where the term is"
    offline.page.keyboard.press("Enter")
    offline.page.keyboard.press("Tab")
    assert tip.locator("a").evaluate(FOCUSED), "the link to the glossary is next"
    assert offline.errors == []


def test_a_term_opens_and_closes_by_touch(page, browser):
    with browsing.without_network(browser, has_touch=True) as opened:
        opened.page.set_viewport_size({"width": 390, "height": 800})
        opened.page.goto(page.as_uri())
        tip = opened.page.locator(".tip").first
        opened.page.locator("button.term").first.tap()
        assert tip.is_visible()
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        opened.page.locator("h1").tap()
        assert not tip.is_visible()
        assert opened.outside == []


def test_a_number_leads_by_keyboard_to_its_rows(page, offline):
    offline.page.goto(page.as_uri())
    number = offline.page.locator("td a", has_text="25%").first
    number.focus()
    offline.page.keyboard.press("Enter")
    offline.page.wait_for_url("**/*.rows.html#rows-*")
    target = offline.page.locator(":target")
    assert target.locator("tr").count() == 40
    assert target.bounding_box()["y"] < 1000
    assert offline.errors == []
