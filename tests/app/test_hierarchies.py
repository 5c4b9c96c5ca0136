"""The hierarchy of a column is edited on the page: what it says, what it refuses, and the whole way by keyboard."""

import asyncio
import random
import re
import shutil
import time
from html import unescape
from pathlib import Path

import pytest
from support import browsing
from support.columns_page import open_columns

from privnb.app import hierarchies
from privnb.app.hierarchies import measure_hierarchy
from privnb.datasets.dataset import load
from privnb.datasets.hierarchy_editor import HierarchyEditor
from privnb.explorer import pins
from privnb.explorer.background import BackgroundWorker

JOBS = ["farmer"] * 60 + ["baker"] * 50 + ["nurse"] * 40 + ["doctor"] * 35 + ["teacher"] * 12 + ["diver"] * 3


def text():
    draw = random.Random(2)
    rows = [f"{18 + int(60 * draw.random() ** 2)},{job},{'ill' if draw.random() < 0.3 else 'well'}" for job in JOBS]
    return "age,job,illness\n" + "\n".join(rows) + "\n"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The page of a table; measurements run at once, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(BackgroundWorker, "start", run_now)
    Path("people.csv").write_text(text())
    return open_columns("people.csv")


def run_now(_, task, *, done, failed, progress):
    try:
        result = task()
    except ValueError as error:
        failed(str(error))
    else:
        done(result)


def ask(page, *messages):
    """Do what controls of the page ask for."""
    for name, value in messages:
        page._receive(page._page, {"name": name, "value": value}, None)


def shown(page):
    words = re.sub(r"<(select|textarea).*?</\1>", "", page._page.html, flags=re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]*>", " ", words)).split())


def tree(page):
    return page.hierarchy.edited.tree.text()


def open_jobs(page):
    ask(page, ("hierarchy open", "job"), ("hierarchy text", "care\n nurse\n doctor\nfarmer\nbaker\nteacher\ndiver"))
    ask(page, ("hierarchy read", ""))


def test_a_button_opens_the_hierarchy_of_a_column_that_is_generalized(page):
    assert re.findall(r"Edit the hierarchy of \w+", page._page.html) == [
        f"Edit the hierarchy of {name}" for name in ("age", "job", "illness")
    ]
    ask(page, ("role 2", "sensitive"))
    assert "Edit the hierarchy of illness" not in page._page.html
    ask(page, ("hierarchy open", "job"))
    assert "Hierarchy of job" in shown(page)
    assert re.search(r'aria-expanded="true">Close the hierarchy of job', page._page.html)
    ask(page, ("hierarchy close", ""))
    assert "Hierarchy of job" not in shown(page)
    ask(page, ("hierarchy open", "job"), ("role 1", "unused"))
    assert "Hierarchy of job" not in shown(page)


def test_the_main_button_saves_an_open_hierarchy_and_no_click_loses_its_changes(page):
    for name, value in (("sensitive", "2"), ("person", "each"), ("save", "")):
        ask(page, (name, value))
    assert "Saved." in shown(page)
    open_jobs(page)
    assert page.has_unsaved
    assert "Saved." not in shown(page)
    for lost in (("role 1", "unused"), ("hierarchy open", "age")):
        ask(page, lost)
        assert "The hierarchy of 'job' has unsaved changes, which would be lost." in shown(page)
        assert str(page.roles.chosen["job"]) == "quasi-identifier"
    ask(page, ("hierarchy close", ""))
    assert "Close without the changes" in shown(page)
    assert page.hierarchy.column == "job"
    ask(page, ("hierarchy text", "half"), ("save", ""))
    assert "The hierarchy of 'job' cannot be saved: The text is not applied yet." in shown(page)
    assert "Saved." not in shown(page)
    ask(page, ("hierarchy discard", ""), ("save", ""))
    assert "Saved." in shown(page)
    assert HierarchyEditor.open(page.table, "job").tree.text() == tree(page)
    assert not page.has_unsaved
    ask(page, ("hierarchy drop", ["diver", "care"]), ("hierarchy drop changes", ""))
    assert page.hierarchy.column == ""


def test_a_value_of_few_people_has_no_count(page):
    open_jobs(page)
    assert "farmer 60 people" in shown(page)
    assert "diver" in shown(page)
    assert not re.search(r"diver \d", shown(page))
    assert not re.search(r"teacher \d", shown(page)), "it would tell how many are divers"
    assert "care group of 2 values" in shown(page)


def test_values_are_moved_and_groups_are_made_renamed_and_removed(page):
    open_jobs(page)
    ask(page, ("hierarchy chosen", ["teacher"]), ("hierarchy into", "care"), ("hierarchy move", ""))
    assert tree(page).splitlines() == ["baker", "diver", "care", "  doctor", "  nurse", "  teacher", "farmer"]
    ask(page, ("hierarchy chosen", ["farmer", "baker"]), ("hierarchy new", "food"), ("hierarchy add", ""))
    ask(page, ("hierarchy group", "care"), ("hierarchy name", "people"), ("hierarchy rename", ""))
    ask(page, ("hierarchy drop", ["diver", "food"]))
    assert tree(page).splitlines() == [
        "food", "  baker", "  diver", "  farmer", "people", "  doctor", "  nurse", "  teacher",
    ]  # fmt: skip
    ask(page, ("hierarchy group", "food"), ("hierarchy remove", ""))
    assert tree(page).splitlines()[:2] == ["baker", "diver"]
    ask(page, ("hierarchy save", ""))
    assert "Saved in hierarchies/default/job.csv." in shown(page)
    own = HierarchyEditor.open(page.table, "job")
    assert own.tree.text() == tree(page)
    ask(page, ("hierarchy drop", ["diver", "people"]), ("hierarchy undo", ""))
    assert tree(page) == own.tree.text()


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([("hierarchy move", "")], "nothing is chosen. Mark the values and groups to move first."),
        ([("hierarchy drop", ["care", "care"])], "the group 'care' cannot be moved into itself"),
        ([("hierarchy new", "baker"), ("hierarchy add", "")], "'baker' is the name of a value of the domain"),
        ([("hierarchy add", "")], "a group must have a name"),
        ([("hierarchy text", "care\n nurse\n nurse"), ("hierarchy read", "")], "line 3: 'nurse' is repeated"),
        ([("hierarchy text", "half"), ("hierarchy drop", ["diver", "care"])], "The text is not applied yet."),
        ([("hierarchy text", "half"), ("hierarchy save", "")], "The text is not applied yet."),
        ([("hierarchy new", "later"), ("hierarchy add", ""), ("hierarchy save", "")], "the group 'later' is empty"),
        ([("hierarchy frown", "")], "the page has no action 'frown'"),
    ],
)
def test_what_makes_no_tree_is_said_and_nothing_is_written(page, messages, said):
    open_jobs(page)
    file = page.table.path.parent / "hierarchies" / "default" / "job.csv"
    before = file.read_bytes()
    ask(page, *messages)
    assert f"Nothing has changed: {said}" in shown(page)
    assert re.search(r'role="alert"><b>Nothing has changed:', page._page.html)
    assert file.read_bytes() == before
    ask(page, ("hierarchy discard", ""))
    assert said not in shown(page)


def test_cut_points_are_edited_as_text_and_one_by_one(page):
    ask(page, ("hierarchy open", "age"))
    assert "Cut points of age" in shown(page)
    assert page._page.html.count("<rect") > 5
    ask(page, ("hierarchy text", "30, 65"), ("hierarchy read", ""))
    assert page.hierarchy.edited.points == (30, 65)
    ask(page, ("hierarchy point 1", "60"), ("hierarchy new", "18"), ("hierarchy insert", ""))
    assert page.hierarchy.edited.points == (18, 30, 60)
    assert page._page.html.count('type="range"') == 3
    ask(page, ("hierarchy point 0", "40"))
    assert "`cuts` must increase" in shown(page)
    assert page.hierarchy.edited.points == (18, 30, 60)
    ask(page, ("hierarchy text", "18, x"), ("hierarchy read", ""))
    assert "cut 2 of 2 must be a number" in shown(page)
    ask(page, ("hierarchy discard", ""), ("hierarchy delete 0", ""), ("hierarchy save", ""))
    assert "Saved in people.toml." in shown(page)
    assert page.table.text == page.table.path.read_text()
    assert HierarchyEditor.open(page.table, "age").cuts == (30, 60)
    ask(page, ("sensitive", "2"), ("person", "each"), ("save", ""))
    assert "The roles in people.toml are confirmed" in shown(page)
    assert load("people").schema["age"].domain.cuts == (30, 60)
    assert "Cut points of age" in shown(page), "the hierarchy stays open"
    ask(page, ("hierarchy width", "20"), ("hierarchy save", ""))
    assert load("people").schema["age"].domain.cuts == (20, 40, 60)


def test_public_bounds_are_stated_in_the_page(page):
    ask(page, ("hierarchy open", "age"))
    assert "were read from the records, so they disclose something about people" in shown(page)
    ask(page, ("hierarchy low", "0"), ("hierarchy high", "x"), ("hierarchy bounds", ""))
    assert "the highest number must be a number" in shown(page)
    ask(page, ("hierarchy high", "110"), ("hierarchy bounds", ""), ("hierarchy save", ""))
    assert "Saved in people.toml." in shown(page)
    assert "were read from the records" not in shown(page)
    domain = HierarchyEditor.open(page.table, "age").domain
    assert (domain.low, domain.high) == (0, 110)
    ask(page, ("hierarchy low", "50"), ("hierarchy bounds", ""))
    assert "Give wider bounds" in shown(page)


def test_unsaved_changes_are_kept_if_the_page_is_loaded_again(page, monkeypatch):
    monkeypatch.setenv(pins.STATE, "board.json")
    before = open_columns("people.csv")
    ask(before, ("hierarchy open", "age"), ("hierarchy text", "18, 65"), ("hierarchy read", ""))
    ask(before, ("hierarchy low", "0"), ("hierarchy high", "120"), ("hierarchy bounds", ""))
    assert "Not saved yet. The button Save below the table saves the hierarchy, too." in shown(before)
    again = open_columns("people.csv")
    assert (again.hierarchy.edited.cuts, again.hierarchy.edited.bounds) == ((18, 65), (0, 120))
    ask(again, ("hierarchy save", ""))
    assert "Your changes are lost" not in shown(again)
    ask(
        again,
        ("hierarchy open", "job"),
        ("hierarchy chosen", ["nurse"]),
        ("hierarchy new", "care"),
        ("hierarchy add", ""),
    )
    assert "care" in tree(open_columns("people.csv"))
    (again.table.path.parent / "hierarchies" / "default" / "job.csv").write_text("nobody;*\n")
    assert open_columns("people.csv").hierarchy.column == ""


def test_the_cost_of_both_hierarchies_is_that_of_a_release(page):
    ask(page, ("role 2", "sensitive"))
    open_jobs(page)
    part = page.hierarchy
    costs = [measure_hierarchy(editor, page.roles) for editor in (part.saved, part.edited)]
    assert [part._costs["saved"], part._costs["edited"]] == costs
    assert costs[0] != costs[1]
    assert f"As edited here {costs[1].loss:.0%} {costs[1].own_loss:.0%} {costs[1].labels}" in shown(page)
    ask(page, ("hierarchy save", ""))
    assert part._costs == {"saved": costs[1]}
    assert "As edited here" not in shown(page)


def test_a_cost_that_cannot_be_measured_is_said_and_editing_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(BackgroundWorker, "start", run_now)
    Path("few.csv").write_text("age,job\n" + "".join(f"{30 + i % 3},{'ab'[i % 2]}\n" for i in range(8)))
    page = open_columns("few.csv")
    ask(page, ("hierarchy open", "job"))
    assert "k=10) cannot be reached" in shown(page) or "Lower k" in shown(page)
    ask(page, ("hierarchy chosen", ["a"]), ("hierarchy new", "g"), ("hierarchy add", ""))
    assert tree(page) == "g\n  a\nb"


def test_what_changed_on_disk_is_said(page):
    open_jobs(page)
    file = page.table.path.parent / "hierarchies" / "default" / "job.csv"
    file.write_text(file.read_text() + "\n")
    ask(page, ("hierarchy save", ""))
    assert "job.csv was changed elsewhere since it was read here. Nothing is written." in shown(page)
    assert "care\n  doctor" in tree(page), "nothing is lost"


def test_many_values_are_edited_in_their_file(page, monkeypatch):
    monkeypatch.setattr("privnb.datasets.hierarchy_editor.MOST_VALUES", 5)
    ask(page, ("hierarchy open", "job"))
    assert "'job' has 6 values, and this page shows at most 5. Edit the file hierarchies/default/job.csv" in shown(page)


@pytest.mark.slow
def test_the_page_stays_live_while_a_process_measures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(text())

    async def scene():
        page = open_columns("people.csv")
        ask(page, ("role 2", "sensitive"))
        begin = time.monotonic()
        open_jobs(page)
        taken = time.monotonic() - begin
        assert "measuring …" in shown(page)
        ask(page, ("hierarchy drop", ["diver", "care"]))
        async with asyncio.timeout(300):
            while page.hierarchy._is_measuring:
                await asyncio.sleep(0.05)
        assert "measuring …" not in shown(page)
        assert page.hierarchy._costs["edited"] == measure_hierarchy(page.hierarchy.edited, page.roles)
        page.hierarchy._worker.close()
        return taken

    assert asyncio.run(scene()) < 20, "it did not wait for the process"
    assert hierarchies.K == 10


def test_a_tree_is_made_and_saved_by_keyboard_alone(tmp_path, kernel, browser):
    browsing.copy("your_table", tmp_path / "notebooks")
    shutil.copy(browsing.NOTEBOOKS / "01_load.ipynb", tmp_path / "notebooks")
    (tmp_path / "people.csv").write_text(text())
    with browsing.form(tmp_path, "people.csv") as about, browsing.without_network(browser) as opened:
        page, keys = opened.page, opened.page.keyboard
        page.goto(about["url"])
        page.wait_for_selector(".privnb-saving")

        def go_to(test):
            for _ in range(300):
                if page.evaluate(f"(({test}))(document.activeElement)"):
                    return
                keys.press("Tab")
            raise AssertionError(test)

        def press(words):
            go_to(f"at => at.nodeName === 'BUTTON' && at.textContent === {words!r}")
            keys.press("Enter")

        press("Edit the hierarchy of job")
        page.wait_for_selector("text=Hierarchy of job")
        page.wait_for_selector(".privnb-cost td.n:not([colspan])")
        for value in ("nurse", "doctor"):
            go_to(f"at => at.name === 'hierarchy chosen' && at.value === {value!r}")
            keys.press("Space")
        page.wait_for_selector("text=Marked values and groups (2)")
        go_to("at => at.name === 'hierarchy new'")
        keys.type("care")
        press("Put into a new group")
        page.wait_for_selector("[data-drag=care]")
        go_to("at => at.nodeName === 'SUMMARY' && at.textContent === 'The tree as text'")
        keys.press("Enter")
        go_to("at => at.nodeName === 'TEXTAREA'")
        assert "care\n  doctor\n  nurse" in page.evaluate("document.activeElement.value")
        keys.press("Control+Home")
        keys.type("care\n")
        press("Apply the text")
        page.wait_for_selector("[role=alert] >> text=line ")
        press("Discard the text")
        page.wait_for_selector("[role=alert] >> text=line ", state="detached")
        page.wait_for_selector("text=As edited here")
        press("Save the hierarchy of job")
        page.wait_for_selector("text=Saved in hierarchies/default/job.csv.")
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.drag_and_drop("[data-drag=teacher]", "[data-drag=care] > label")
        page.wait_for_selector("[data-drag=care] [data-drag=teacher]")
        assert (opened.errors, opened.outside) == ([], [])
    file = tmp_path / "data" / "people" / "hierarchies" / "default" / "job.csv"
    assert {line for line in file.read_text().splitlines() if "care" in line} == {
        line for line in file.read_text().splitlines() if line.startswith(("nurse", "doctor"))
    }
