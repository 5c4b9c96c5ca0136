"""The app in a browser: all tabs by keyboard, from a file to the tab of the release, with no error in the console."""

import os
import signal
from pathlib import Path

import pytest
from support import browsing

pytestmark = [pytest.mark.browser, pytest.mark.kernel]

ROWS = [(f"Zoe Q{i:02}", 20 + i % 30, "FM"[i % 2], "cold" if i % 3 else "flu") for i in range(90)]
TITLES = ["Columns", "Policy", "Choose", "Explore", "Card", "Release"]
HEADINGS = {
    "Policy": "Which risks do you accept?", "Choose": "What should you publish?", "Card": "Who signs this release",
    "Release": "Write the release",
}  # fmt: skip


def tab(page, title):
    return page.get_by_role("tab", name=title)


def focused(page):
    return page.evaluate("document.activeElement.name || document.activeElement.textContent")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("officer")
    (folder / "people.csv").write_text("name,age,sex,illness\n" + "".join(",".join(map(str, r)) + "\n" for r in ROWS))
    (folder / "notebooks").mkdir()
    for name in ("your_table", "09_explore"):
        (folder / "notebooks" / f"{name}.ipynb").write_bytes((browsing.NOTEBOOKS / f"{name}.ipynb").read_bytes())
    return folder


def test_the_tabs_work_by_keyboard_from_a_file_to_the_board(root, browser):
    with browsing.app(root, "people.csv") as about, browsing.without_network(browser) as seen:
        page = seen.page
        page.goto(about["url"])
        page.get_by_role("tab").first.wait_for()
        assert [each.inner_text().partition(". ")[2] for each in page.get_by_role("tab").all()] == TITLES
        page.get_by_label("Which column is sensitive?").select_option(label="illness")
        page.get_by_label("Is each row one person?").select_option(label="Yes, each row is one person")
        page.get_by_role("button", name="Save", exact=True).press("Enter")
        page.get_by_text("are confirmed", exact=False).first.wait_for()
        assert focused(page) == "save", "the focus stays on the button"
        page.get_by_role("button", name="Continue to Policy").press("Enter")
        page.get_by_role("tabpanel", name="Policy").wait_for()
        page.wait_for_function("document.activeElement.textContent.includes('Policy')")
        tab(page, "Columns").press("Enter")
        page.get_by_role("tabpanel", name="Columns").wait_for()
        tab(page, "Columns").focus()
        for title in TITLES[1:]:
            page.keyboard.press("ArrowRight")
            page.wait_for_function(
                "title => document.querySelector('[role=tab][aria-selected=true]').textContent.includes(title)",
                arg=title,
            )
            assert title in page.evaluate("document.activeElement.textContent"), "the focus moves with the tab"
            page.get_by_role("tabpanel", name=title).wait_for()
            if title in HEADINGS:
                page.get_by_role("heading", name=HEADINGS[title]).wait_for()
            else:
                page.locator(".privnb-sliders").wait_for()
        tab(page, "Policy").press("Enter")
        cap = page.get_by_label("Cap on the attribute, in percent")
        cap.fill("7")
        cap.press("Tab")
        page.get_by_role("button", name="Save as our policy").press("Enter")
        page.get_by_role("button", name="Save as our policy").wait_for(state="detached")
        assert page.evaluate("document.activeElement !== document.body"), "the focus moves to a message"
        own = next(Path(root).rglob("policy.toml"))
        assert "at_most = 0.07" in own.read_text()
        assert page.locator("select[name=policy]").first.input_value() == str(own), "the saved policy is selected"
        tab(page, "Card").press("Enter")
        page.get_by_label("Purpose of the release").fill("Research")
        page.get_by_label("Purpose of the release").press("Tab")
        page.get_by_text("Still empty: Legal basis").wait_for()
        page.reload()
        page.get_by_role("tab").first.wait_for()
        tab(page, "Card").press("Enter")
        page.get_by_label("Purpose of the release").wait_for()
        assert page.get_by_label("Purpose of the release").input_value() == "Research", "kept over a reload"
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert not seen.errors
        (kernel,) = browsing.kernels(about["pid"])
        os.kill(kernel, signal.SIGKILL)
        page.get_by_text("The kernel of this page has ended").first.wait_for()
        assert not any("Zoe" in each for each in page.locator("body").all_inner_texts())
        assert not seen.outside
