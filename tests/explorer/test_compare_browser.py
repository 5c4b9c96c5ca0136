"""The comparison in a real browser, by keyboard: two pinned settings and a file of another tool, on the page of
`privnb explore`.
"""

import json
import shutil
from pathlib import Path

import pytest
from support import browsing

pytestmark = pytest.mark.usefixtures("kernel")
FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
DONE = """() => document.querySelector(".privnb-state").dataset.working === "false"
    && !document.querySelector(".privnb-sides").textContent.includes("…")"""
CELLS = (
    """row => [...document.querySelectorAll(`.privnb-sides tr[data-key="${row}"] td`)].map(cell => cell.innerText)"""
)
WIDE = """() => {
    const scroll = document.querySelector(".privnb-sides"), page = document.documentElement;
    return [scroll.scrollWidth > scroll.clientWidth, page.scrollWidth <= window.innerWidth];
}"""


@pytest.fixture
def opened(tmp_path, browser):
    """The page of the twelve people at `page`, the folder of its notebook, and what went wrong."""
    shutil.copytree(FOREIGN, tmp_path / "table")
    shutil.copy(FOREIGN / "refused" / "pair.csv", tmp_path / "table" / "files")
    browsing.copy("09_explore", tmp_path / "notebooks")
    with (
        browsing.app(tmp_path, str(tmp_path / "table" / "people.toml"), "-p", "K=3", "-p", "MIN_COUNT=2") as about,
        browsing.without_network(browser) as found,
    ):
        found.folder = tmp_path / "notebooks"
        found.page.goto(about["url"], timeout=300_000, wait_until="domcontentloaded")
        found.page.locator(".privnb-status[data-setting]").wait_for()
        yield found


def press(page, control, *keys):
    page.locator(f"[name={control}]:not([aria-disabled=true])").first.focus()
    for key in keys:
        page.keyboard.press(key)


def test_two_pins_and_a_file_are_compared_by_keyboard(opened):
    page, pins = opened.page, opened.page.locator(".privnb-pins li")
    button = page.locator("button[name=compare]")
    assert button.get_attribute("aria-disabled") == "true"
    press(page, "pin", "Enter")
    pins.first.wait_for()
    press(page, "k", "ArrowLeft")
    page.locator(".privnb-status", has_text="k = 2: counted").wait_for()
    press(page, "pin", "Enter")
    pins.nth(1).wait_for()

    page.locator(".privnb-add summary").press("Enter")
    path = page.get_by_label("Path of the file")
    path.fill("../table/files/pair.csv")
    path.press("Enter")
    error = page.locator(".privnb-add [role=alert]")
    error.wait_for()
    assert "pair.csv, line 3" in error.inner_text()
    assert path.input_value() == "../table/files/pair.csv"
    path.fill("table/files/arx.csv")  # from the folder of the project
    press(page, "add-file", "Enter")
    pins.nth(2).wait_for()
    error.wait_for(state="detached")
    page.get_by_role("heading", name="3 releases drawn").wait_for()

    press(page, "compare", "Enter")
    sides = page.get_by_role("region", name="Comparison of 3 releases")
    sides.wait_for()
    assert button.get_attribute("aria-expanded") == "true"
    page.wait_for_function(DONE)
    heads = sides.get_by_role("columnheader").evaluate_all("all => all.map(each => each.firstChild.textContent)")
    assert heads == ["value", "Mondrian, k = 2", "Mondrian, k = 3", "arx.csv"]
    assert page.evaluate(CELLS, "k") == ["2 people", "3 people", "does not apply"]
    assert page.evaluate(CELLS, "treated born") == ["suppressed", "suppressed", "generalized"]
    risks = page.evaluate(CELLS, "identity")
    assert [text.split()[0] for text in risks] == ["50%", "33%", "100%"]
    assert all("Cap: at most 9.1%" in text and "exceeded" in text for text in risks)
    assert "best" in risks[1]
    assert "worst" in risks[2]
    scopes = sides.locator("th").evaluate_all("all => all.map(each => each.scope)")
    assert set(scopes) == {"col", "row", "rowgroup"}

    every = sides.locator("th[scope=row]").count()
    page.locator("[name=only]").focus()
    page.keyboard.press("Space")
    page.wait_for_function(
        "every => document.querySelectorAll('.privnb-sides th[scope=row]').length < every", arg=every
    )
    assert sides.locator("tr[data-differs=false]").count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"() => ({WIDE})().every(Boolean)")  # the table scrolls inside itself

    (entry,) = json.loads((opened.folder / "09_explore.pins.json").read_text())["files"]
    assert (entry["path"], set(entry)) == (
        "../table/files/arx.csv",
        {"path", "sha256", "dataset", "rows", "perturbed"},
    )
    assert opened.outside == []
    assert opened.errors == []
