"""Releases side by side: every number of the panels, what differs, which is best, and what is still unknown."""

import asyncio
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from privnb.datasets.dataset import load
from privnb.decision import policies
from privnb.decision.policies import RISKS
from privnb.explorer import side_by_side
from privnb.explorer.board import explore
from privnb.explorer.gauges import make_gauges
from privnb.explorer.panels import split_numbers
from privnb.explorer.pinned_files import measure_file_risks, mine_file, read_file
from privnb.explorer.pins import CHANGED, Pins, pin_file
from privnb.explorer.readings import count_setting, mine_setting
from privnb.explorer.risks import ORDER, measure_slow_risks
from privnb.explorer.setting import Setting, check_setting
from privnb.explorer.side_by_side import Compared, compare_side_by_side

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
SEES_ALL = 2
POLICY = policies.read("all-five")


@pytest.fixture(scope="module")
def people():
    return load(FOREIGN / "people.toml")


@pytest.fixture(scope="module")
def setting(people):
    return check_setting(Setting(k=3), people)


def compared(people, setting, min_count=SEES_ALL, *, mined=True, measured=True):
    reading = count_setting(people, setting, min_count=min_count)
    return Compared(
        setting,
        reading,
        mine_setting(people, setting, min_count=min_count) if mined else None,
        measure_slow_risks(people, setting, ORDER, min_count=min_count)[0] if measured else {},
        "",
        "",
        {},
    )


def of_file(people, setting, name, **answers):
    folder = FOREIGN / "files"
    pin = pin_file(name, folder, "people", **answers)
    given = people, setting, pin, folder
    risks, _ = measure_file_risks(*given, ORDER, SEES_ALL)
    return Compared(pin, read_file(*given, SEES_ALL), mine_file(*given, SEES_ALL), risks, "", "", {})


@pytest.fixture(scope="module")
def pair(people, setting):
    """Two settings and a file of ARX, all measured."""
    other = check_setting(Setting(k=2), people)
    return [compared(people, setting), compared(people, other), of_file(people, setting, "arx.csv")]


@pytest.fixture(scope="module")
def found(pair, setting):
    return compare_side_by_side(pair, setting, POLICY)


def rows(found):
    return {row.title: row for group in found.groups for row in group.rows}


def test_every_number_of_the_panels_is_there_as_the_panels_write_it(found, pair):
    for place, release in enumerate(pair):
        parts = split_numbers(release.reading)
        expected = [(each.title, each.value, each.details) for part in parts.values() for each in part]
        there = [
            (row.title, row.cells[place].text, row.cells[place].details) for group in found.groups for row in group.rows
        ]
        assert len(expected) > 10
        assert [each for each in expected if each not in there] == []


def test_the_risks_have_value_interval_cap_and_verdict_of_the_gauges(found, pair):
    (risks,) = (group for group in found.groups if group.title == "Risks")
    assert [row.title for row in risks.rows] == [risk.capitalize() for risk in RISKS]
    for place, release in enumerate(pair):
        for gauge, row in zip(make_gauges(POLICY, release.risks), risks.rows, strict=True):
            assert row.cells[place].text == gauge.value
            assert gauge.verdict_text in row.cells[place].details
            assert gauge.context in row.cells[place].details


def test_the_columns_name_each_release_and_what_it_is(found):
    assert [(column.title, column.what) for column in found.columns] == [
        ("Mondrian, k = 3", "current setting"), ("Mondrian, k = 2", "pinned setting"),
        ("arx.csv", "file of another tool"),
    ]  # fmt: skip


def test_what_differs_is_marked_and_alone_if_asked(found):
    every, different = rows(found), rows(found.select_different())
    assert every["k"].differs
    assert not every["l"].differs, "off in both settings, and no bound of a file"
    assert not every["Miner"].differs
    assert set(different) == {title for title, row in every.items() if row.differs}
    assert 5 < len(different) < len(every)


def test_how_a_file_was_treated_and_what_its_rows_stand_for_is_beside_the_settings(found):
    every = rows(found)
    assert [cell.text for cell in every["Rows"].cells] == ["the records"] * 3
    assert [cell.text for cell in every["Column born"].cells] == ["suppressed", "suppressed", "generalized"]
    assert [cell.text for cell in every["Sanitizer"].cells] == ["Mondrian", "Mondrian", "made by another tool"]
    assert every["Stated origin of the rows"].cells[2].text == "matched with records"


def test_best_and_worst_are_those_of_the_better_direction(found):
    every = rows(found)
    assert [cell.mark for cell in every["k achieved"].cells] == ["best", "", "worst"]  # higher is better: 3, 2, 1
    penalties = [float(re.sub("%.*", "", cell.text)) for cell in every["Certainty penalty"].cells]
    marks = [cell.mark for cell in every["Certainty penalty"].cells]
    assert (marks.index("best"), marks.index("worst")) == (int(np.argmin(penalties)), int(np.argmax(penalties)))
    assert {cell.mark for cell in every["Classes"].cells} == {""}, "no direction is better"
    overlap = [row for row in every.values() if "overlap" in row.remark]
    assert overlap
    assert {cell.mark for row in overlap for cell in row.cells} == {""}


def test_releases_with_other_roles_are_shown_but_never_ranked(people, setting):
    other = check_setting(replace(setting, k=2, quasi_identifiers="age, zip"), people)
    found = compare_side_by_side([compared(people, setting), compared(people, other)], setting, POLICY)
    assert [column.is_replaceable for column in found.columns] == [True, False]
    assert {cell.mark for row in rows(found).values() for cell in row.cells} == {""}
    assert rows(found)["Attributes known to the adversary"].differs
    assert rows(found)["k achieved"].cells[1].text


def test_withheld_stays_withheld_and_unranked(people, setting):
    settings = [setting, check_setting(Setting(k=2), people)]
    found = rows(compare_side_by_side([compared(people, each, 10) for each in settings], setting, POLICY))
    reading = count_setting(people, setting, min_count=10)
    withheld = set(reading.results.measure[reading.results.value.isna()])
    assert {"classes", "accuracy_gain"} <= withheld
    for title in ("Classes", "Accuracy gain"):
        assert [cell.text for cell in found[title].cells] == ["withheld"] * 2
        assert {cell.mark for cell in found[title].cells} == {""}
        assert not found[title].differs


def test_what_is_not_measured_yet_is_no_number(people, setting):
    waiting = compared(people, setting, mined=False, measured=False)
    found = rows(
        compare_side_by_side([waiting, compared(people, check_setting(Setting(k=2), people))], setting, POLICY)
    )
    assert found["Identity"].cells[0].text == side_by_side.MEASURING
    assert found["Correct predictions from this release"].cells[0].text == side_by_side.MEASURING
    assert {found["Identity"].cells[0].mark, found["Identity"].cells[1].mark} == {""}
    counting = Compared(setting, None, None, {}, "", "", {})
    found = rows(compare_side_by_side([counting, waiting], setting, POLICY))
    assert found["k achieved"].cells[0].text == side_by_side.WAITING


def test_an_impossible_setting_and_a_changed_file_state_why_and_have_no_numbers(people, setting):
    impossible = check_setting(Setting(k=500), people)
    refused = count_setting(people, impossible, min_count=SEES_ALL)
    file = of_file(people, setting, "arx.csv")
    changed = Compared(file.pin, None, None, {}, CHANGED, "", {})
    releases = [compared(people, setting), Compared(impossible, refused, None, {}, "", "", {}), changed]
    found = compare_side_by_side(releases, setting, POLICY)
    assert [column.trouble for column in found.columns] == ["", refused.refused, CHANGED]
    numbers = [row for group in found.groups[1:] for row in group.rows]
    assert len(numbers) > 20
    assert {row.cells[1].text for row in numbers} == {side_by_side.NO_RELEASE}
    assert {row.cells[2].text for row in numbers} == {side_by_side.NO_NUMBER}


def test_a_synthetic_file_states_why_numbers_are_absent(people, setting):
    made = of_file(people, setting, "synthetic.csv", rows="synthetic")
    found = rows(compare_side_by_side([compared(people, setting), made], setting, POLICY))
    assert found["k achieved"].cells[1].text == side_by_side.ABSENT
    assert "its rows are synthetic" in found["Notes"].cells[1].text
    assert "synthetic" in found["Numbers of the miner"].cells[1].text
    assert any("hold-out" in each for each in found["Membership"].cells[1].details)


# --- on the board ---


def use(board, name, value=""):
    """What a page sends when a control is used."""
    board._receive(board._pages["compare"], {"name": name, "value": value}, [])


def page(board, name="compare"):
    return unescape(board._pages[name].html)


async def until(holds, seconds=120):
    for _ in range(20 * seconds):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never happened")


@pytest.fixture
def make(people, tmp_path):
    (tmp_path / "notebooks").mkdir()
    for path in (FOREIGN / "files" / "arx.csv", FOREIGN / "refused" / "pair.csv"):
        shutil.copy(path, tmp_path / "notebooks")
    boards = []

    def made(setting=Setting(k=3)):  # noqa: B008
        boards.append(explore(people, setting, pins=tmp_path / "notebooks" / "pins.json", min_count=SEES_ALL))
        return boards[-1]

    yield made
    for board in boards:
        board.close()


def add(board, path, rows="measured", perturbed=()):
    use(board, "file-path", path)
    use(board, "file-rows", rows)
    use(board, "file-perturbed", list(perturbed))
    use(board, "add-file")


def test_a_file_is_added_compared_and_let_go(make):
    board = make()
    assert "Pin a setting or add a file first" in page(board)
    add(board, "arx.csv")
    (pin,) = board.pins.files
    assert (pin.path, pin.rows, pin.perturbed) == ("arx.csv", "measured", ())
    board._draw()
    board._draw_place()
    assert "arx.csv" in set(board.place.releases.setting)
    assert "arx.csv (file of another tool)" in page(board, "listed")
    use(board, "compare")
    head = re.findall(r'<th scope="col">([^<]*)', page(board))
    assert head == ["value", "Mondrian, k = 3", "arx.csv"]
    assert re.findall(r'<th scope="rowgroup"[^>]*><span>([^<]*)', page(board)) == list(side_by_side.GROUPS)
    every = page(board).count('<th scope="row">')
    use(board, "only", ["only"])
    assert 5 < page(board).count('<th scope="row">') < every
    use(board, "only", [])
    assert page(board).count('<th scope="row">') == every
    use(board, "unpin-file", "arx.csv")
    assert board.pins.files == []
    use(board, "undo")
    assert board.pins.files == [pin]
    assert not board.fault


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        (("pair.csv",), "pair.csv, line 3: the labels of 'age' must have one meaning"),
        (("nothing.csv",), "there is no file 'nothing.csv'"),
        (("",), "`path` must name a file"),
        (("arx.csv", "in order"), "row i of arx.csv must cover record i"),
        (("arx.csv", "synthetic"), "synthetic rows must have values of the domain"),
        (("arx.csv", "mine"), "rows must be one of"),
    ],
)
def test_a_bad_file_is_refused_in_the_page_and_nothing_is_lost(answers, error, make):
    board = make()
    board.pin()
    before = board.pins.path.read_text()
    add(board, *answers)
    assert error in re.search(r'role="alert">(.*?)</p>', page(board)).group(1)
    assert f'value="{answers[0]}"' in page(board), "what was typed is lost"
    assert board.pins.path.read_text() == before
    assert board.reading
    assert not board.fault
    add(board, "arx.csv")
    assert 'role="alert"' not in page(board)
    assert [pin.path for pin in board.pins.files] == ["arx.csv"]


def test_a_file_that_changes_meanwhile_says_so_and_shows_no_numbers(make):
    board = make()
    add(board, "arx.csv")
    use(board, "compare")
    path = board.pins.folder / "arx.csv"
    text = path.read_text()
    path.write_text(text + text.splitlines()[1] + "\n")
    board._draw()
    board._draw_place()
    assert CHANGED in page(board)
    assert CHANGED in page(board, "listed")
    assert "arx.csv" not in set(board.place.releases.setting)
    again = make()
    assert CHANGED in page(again, "listed") or CHANGED in str(again.file_trouble_of(again.pinned_files[0]))
    path.write_text(text)
    board._draw()
    assert CHANGED not in page(board)


def test_files_of_another_table_are_left_out(make, tmp_path):
    board = make()
    pins = Pins(board.pins.path)
    pins.add(pin_file("arx.csv", pins.folder, "clinic"))
    board.pin()
    assert len(board.pins.files) == 1
    assert board.pinned_files == []
    assert "arx.csv" not in page(board, "listed")


def test_the_missing_numbers_are_measured_in_the_background_and_can_be_cancelled(make):
    async def walk():
        board = make()
        add(board, "arx.csv")
        board.pin()
        use(board, "k", 2)
        use(board, "shown")
        await until(lambda: board.reading and len(board.risks) == len(RISKS) and board.mined is not None)
        assert side_by_side.MEASURING not in page(board)
        use(board, "compare")
        assert side_by_side.MEASURING in page(board)
        await until(lambda: board._doing == "compare")
        use(board, "cancel")
        assert board.is_paused
        await until(lambda: side_by_side.MEASURING not in page(board))
        assert "not measured" in page(board)
        use(board, "resume")
        await until(lambda: not board._doing and side_by_side.MEASURING not in page(board))
        assert 'name="resume"' not in page(board)
        assert page(board).count("no cap") + page(board).count("✗ exceeded") + page(board).count("✓ kept") >= 12
        assert not board.fault

    asyncio.run(walk())


def test_several_redraws_of_an_unchanged_release_format_its_numbers_once(make, monkeypatch):
    board = make()
    add(board, "arx.csv")
    use(board, "compare")
    calls = []
    monkeypatch.setattr(side_by_side, "make_gauges", lambda *given: calls.append(given) or [])
    board._compare()
    assert calls == []
