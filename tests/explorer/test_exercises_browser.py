"""The page of the twelve invented people in a real browser: two exercises are solved by keyboard alone."""

import os
from pathlib import Path

import pytest
from support import browsing

pytestmark = [pytest.mark.usefixtures("kernel"), pytest.mark.slow]
LINE = "This table is declared invented; nothing is withheld on this screen."


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("learn")
    browsing.copy("09_explore", root / "notebooks")
    with browsing.app(root, "twelve") as about:
        yield about


def tab_to(page, selector):
    """Press Tab until the focus is on a control, as a person without a mouse does."""
    for _ in range(150):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {selector}")


def solved(page, number):
    page.locator(".privnb-learn > summary", has_text=f"10 exercises, {number} solved").wait_for()


def test_two_exercises_are_solved_by_keyboard(served, browser):
    with browsing.without_network(browser) as opened:
        page = opened.page
        page.goto(served["url"])
        page.locator(".privnb-status[data-setting]").wait_for(timeout=120_000)
        assert page.get_by_text(LINE).count() == 1
        page.get_by_text("12 sanitized rows").wait_for()

        tab_to(page, "[name=k]")
        for _ in range(2):  # from 10 to 3
            page.keyboard.press("ArrowLeft")
        page.locator(".privnb-status", has_text="k = 3: counted").wait_for()
        tab_to(page, ".privnb-learn > summary")
        page.keyboard.press("Enter")
        tab_to(page, "li[data-key=k] summary")
        page.keyboard.press("Enter")
        tab_to(page, "button[name=check][value=k]")
        page.keyboard.press("Enter")
        solved(page, 1)
        said = page.locator("li[data-key=k] [role=status]")
        assert said.text_content() == "Right. The explanation is below."

        tab_to(page, "li[data-key=noise] summary")
        page.keyboard.press("Enter")
        tab_to(page, "input[name=answer-noise]")
        page.keyboard.type("10")
        page.keyboard.press("Enter")
        page.locator("li[data-key=noise] [role=status]", has_text="A smaller epsilon is enough").wait_for()
        assert page.evaluate("() => document.activeElement.name") == "answer-noise"
        for _ in range(2):
            page.keyboard.press("Backspace")
        page.keyboard.type("1.67")
        page.keyboard.press("Enter")
        solved(page, 2)
        page.locator("li[data-key=noise] .privnb-explanation").wait_for()
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=Path(folder) / "learn.png", full_page=True)

        page.reload()
        page.locator(".privnb-status[data-setting]").wait_for(timeout=120_000)
        solved(page, 2)
        assert opened.errors == []
        assert opened.outside == []
