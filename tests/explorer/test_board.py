"""The board without a browser: what controls ask for is what is counted and shown."""

import asyncio
import json
import multiprocessing
import os
import re
import subprocess
import time
from collections import OrderedDict
from dataclasses import replace
from html import unescape
from multiprocessing.connection import Connection
from types import SimpleNamespace

import pytest
from support.clinic import CLINIC, IDENTIFIER, RARE
from support.leak_audit import scan

from privnb.datasets.dataset import load
from privnb.evaluation import store
from privnb.explorer import background, board as module, pins, session
from privnb.explorer.board import Board, explore, parse_setting
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import STEPS, Setting, check_setting, setting_label
from privnb.sanitizers import Mondrian

FIVE = Setting(k=5)
KNOWN = "age, weight, postcode, region, ward"


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


class Forked:
    """A process as `subprocess` starts one, in which all is imported already: `test_work` starts them from nothing."""

    def __init__(self, command, *, pass_fds, **_):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(store.LIBRARIES))
        with Connection(os.dup(*pass_fds)) as line:
            self.process = context.Process(target=serve, args=(line,), daemon=True)
            self.process.start()
        self.kill, self.pid = self.process.kill, self.process.pid

    @property
    def returncode(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()


def serve(line):
    background._serve(os.dup(line.fileno()))


@pytest.fixture
def make(clinic, tmp_path, monkeypatch):
    """A function that makes boards, which are closed at the end; the working folder is an empty one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(background, "subprocess", SimpleNamespace(Popen=Forked, DEVNULL=subprocess.DEVNULL))
    boards = []

    def made(setting=FIVE, **options):
        boards.append(explore(clinic, setting, pins=tmp_path / "pins.json", source=str(CLINIC), **options))
        return boards[-1]

    yield made
    for board in boards:
        board.close()


def page(board, name):
    return unescape(board._pages[name].html)


def told(board):
    """The setting and the numbers that the board tells machines; whether it is busy."""
    found = dict(re.findall(r'data-(\w+)="([^"]*)"', board._pages["state"].html))
    found = {name: unescape(value) for name, value in found.items()}
    return found.pop("busy") == "true", Setting(**json.loads(found.pop("setting"))), found


def use(board, name, value=""):
    """What a page sends when a control is used."""
    board._receive(board._pages["form"], {"name": name, "value": value}, [])


def buttons(board, name):
    """The values of the buttons of this name beside the pins."""
    return [unescape(value) for value in re.findall(f'name="{name}" value="([^"]*)"', board._pages["listed"].html)]


def verdicts(board):
    """What the gauges say of each risk."""
    return dict(re.findall('data-risk="([^"]*)" data-verdict="([^"]*)"', board._pages["risks"].html))


def numbers(results, measure):
    return results[results.measure == measure].value.iloc[0]


# --- what controls do ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("k", 20, 20),
        ("l", 1.2, 1.2),
        ("t", 0.5, 0.5),
        ("delta", 3, 3),
        ("sanitizer", "LocalRecoding", "LocalRecoding"),
        ("miner", "decision tree", "decision tree"),
        ("scenario", "C", "C"),
        ("seed", "7", 7),
        ("quasi_identifiers", ["age", "postcode"], "age, postcode"),
    ],
)
def test_a_control_asks_for_what_is_then_counted_and_shown(name, value, field, make, clinic):
    board = make()
    use(board, name, value)
    busy, setting, mark = told(board)
    assert not busy
    assert getattr(setting, name) == field
    expected = count_setting(clinic, check_setting(setting, clinic))
    assert float(mark["accuracy_gain"]) == pytest.approx(numbers(expected.results, "accuracy_gain"))
    assert f"{numbers(expected.results, 'classes'):,.0f}</b>" in page(board, "published")
    assert board.fault == ""


@pytest.mark.slow
def test_what_nobody_should_learn_is_not_known(make):
    board = make()
    use(board, "sensitive", "postcode")
    assert board.setting.sensitive == "postcode"
    assert "postcode" not in board.setting.quasi_identifiers
    assert board.fault == ""
    use(board, "sensitive", "diagnosis")
    assert "postcode" in board.setting.quasi_identifiers, "the dataset says that it is known"


@pytest.mark.slow
def test_it_says_that_it_counts_before_it_counts(make, monkeypatch):
    monkeypatch.setattr("privnb.explorer.readings._readings", OrderedDict())
    counting = []

    async def scene():
        board, real = make(), session.count_setting
        monkeypatch.setattr(
            session, "count_setting", lambda *given, **options: counting.append(given[1].k) or real(*given, **options)
        )
        for k in (10, 20, 50):
            use(board, "k", k)
            busy, setting, mark = told(board)
            assert (busy, setting.k, mark.get("accuracy_gain")) == (True, k, None), "no number of an older setting"
        assert counting == []
        await asyncio.sleep(0.5)
        assert told(board)[:2] == (False, board.setting)

    asyncio.run(scene())
    assert counting == [50], "of many key presses the last"


def test_what_was_counted_before_is_shown_without_a_word_of_counting(make):
    shown = []

    async def scene():
        board = make()
        use(board, "k", 20)
        await until(lambda: told(board)[:2] == (False, board.setting))
        board._pages["state"].observe(lambda change: shown.append(change["new"]), "html")
        use(board, "k", 5)
        assert told(board)[1].k == 20, "all of it is of one setting"
        assert not shown
        await until(lambda: told(board)[:2] == (False, board.setting))

    asyncio.run(scene())
    assert not any("counting" in html or 'data-busy="true"' in html for html in shown)


def test_what_follows_one_settings_numbers_is_not_begun_once_another_is_asked_for(make, monkeypatch):
    counting = []

    async def scene():
        board, real = make(), session.count_setting
        monkeypatch.setattr(
            session, "count_setting", lambda *given, **options: counting.append(given[1].k) or real(*given, **options)
        )
        time.sleep(session.REST + 0.1)  # a busy machine: the miner of the first setting is due
        use(board, "k", 20)
        await asyncio.sleep(0.2)

    asyncio.run(scene())
    assert counting == [20]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("k", 1, "k must be"),
        ("quasi_identifiers", [], "must know at least one attribute"),
        ("sanitizer", "Magic", "SANITIZER must be one of"),
        ("k", {"no": "number"}, "not 'dict'. This is an error in the explorer"),
    ],
)
def test_a_fault_is_said_and_the_board_goes_on(name, value, said, make):
    board = make()
    use(board, name, value)
    assert said in page(board, "state")
    assert 'role="alert"' in page(board, "state")
    use(board, "k", 20)
    assert told(board)[1].k == 20
    assert 'role="alert"' not in page(board, "state")


def test_a_message_that_means_nothing_is_said_too(make):
    board = make()
    board._receive(board._pages["form"], {}, [])
    assert "KeyError: 'name'. This is an error in the explorer" in page(board, "state")


def test_what_cannot_be_reached_is_said_in_the_panel(make, clinic):
    board = make()
    use(board, "k", 500)
    assert count_setting(clinic, board.setting).refused in page(board, "published")
    assert "pre" not in page(board, "take")
    # Each panel keeps the height that it had.
    assert all("data-empty" in page(board, name) for name in ("published", "kept", "gained", "take", "place", "listed"))
    use(board, "k", 5)
    assert not any("data-empty" in page(board, name) for name in board._pages)
    assert "kept ✓" in page(board, "published")


@pytest.mark.slow
def test_what_stays_exact_is_said_where_it_is_looked_at_and_where_it_is_saved(make):
    board = make()
    use(board, "sanitizer", "LaplaceNoise")
    text = re.sub("<[^>]*>", " ", page(board, "published"))
    assert re.search(
        r"Published as recorded: [^.]*region[^.]*\. Anybody who knows these values can look for a person's row", text
    )
    use(board, "sanitizer", "Mondrian")
    use(board, "quasi_identifiers", KNOWN.split(", "))
    assert "can look for" not in page(board, "published")
    assert "Published as recorded: " in page(board, "published")
    use(board, "save")
    assert re.search("Saved as [^<]* Published as recorded: .*diagnosis", page(board, "take"))


def test_the_plane_shows_what_one_release_lies_between(make):
    board = make()
    (drawn,) = {json.dumps(board.place.chart.spec["datasets"])}
    assert f'"{setting_label(Setting("Identity"))}"' in drawn
    assert f'"{setting_label(Setting("Suppress"))}"' in drawn
    assert "1 release drawn" in page(board, "listed"), "the ends are no choice"


@pytest.mark.slow
def test_a_page_that_is_loaded_again_goes_on_where_it_was(make, tmp_path, monkeypatch):
    monkeypatch.setenv(pins.STATE, str(tmp_path / "board.json"))
    first = make()
    assert first.setting.k == 5, "there is no state yet"
    use(first, "k", 20)
    use(first, "utility", "certainty_penalty")
    use(first, "policy", "k-5")
    second = make()
    assert (second.setting, second.place.axes) == (first.setting, first.place.axes)
    assert 'value="k-5" selected' in page(second, "risks")
    (tmp_path / "board.json").write_text("{")
    assert make().setting.k == 5
    monkeypatch.delenv(pins.STATE)
    use(second, "k", 50)
    assert make().setting.k == 5, "elsewhere, what is asked for is shown"


# --- undo, pins, sweep, save ---


@pytest.mark.slow
def test_undo_takes_back_controls_pins_and_axes_one_by_one(make, clinic):
    board = make()
    use(board, "k", 20)
    use(board, "pin")
    use(board, "utility", "certainty_penalty")
    use(board, "sanitizer", "LocalRecoding")
    assert "Undo the change of sanitizer" in page(board, "actions")
    use(board, "undo")
    assert (board.setting.sanitizer, board.setting.k) == ("Mondrian", 20)
    use(board, "undo")
    assert board.place.axes["utility"] == "utility_loss"
    assert [pin.k for pin in board.pinned] == [20]
    use(board, "undo")
    assert board.pinned == []
    use(board, "undo")
    assert board.setting == check_setting(FIVE, clinic)
    assert "There is no change to undo yet." in page(board, "actions")
    use(board, "undo")
    assert board.fault == ""


@pytest.mark.slow
def test_pins_are_there_again_on_a_new_board(make):
    first = make()
    use(first, "pin")
    use(first, "k", 20)
    use(first, "pin")
    second = make()
    assert [pin.k for pin in second.pinned] == [5, 20]
    use(second, "shown")
    assert "2 releases drawn" in page(second, "listed")
    use(second, "go", buttons(second, "go")[1])
    assert second.setting.k == 20
    use(second, "unpin", buttons(second, "unpin")[0])
    assert [pin.k for pin in make().pinned] == [20]


@pytest.mark.slow
def test_a_second_click_does_nothing_to_the_next_pin(make):
    """It is on its way before the page shows what the first one did."""
    board = make()
    for k in (5, 20):
        use(board, "k", k)
        use(board, "pin")
    (unpin, _), (go, _) = buttons(board, "unpin"), buttons(board, "go")
    for _ in range(2):
        use(board, "unpin", unpin)
        assert ([pin.k for pin in board.pinned], board.fault) == ([20], "")
    use(board, "k", 10)
    use(board, "go", go)
    assert board.setting.k == 10, "nor is the next one gone to"


def test_pins_of_another_table_are_kept_and_not_shown(make, tmp_path):
    other = Setting(quasi_identifiers="weather", sensitive="mood")
    (tmp_path / "pins.json").write_text(json.dumps({"settings": [vars(other)]}))
    board = make()
    assert board.pinned == []
    use(board, "pin")
    assert len(json.loads((tmp_path / "pins.json").read_text())["settings"]) == 2


@pytest.mark.slow
def test_a_sweep_draws_the_curve_of_one_slider(make, clinic):
    board = make()
    use(board, "letter", "k")
    use(board, "sweep")
    possible = [k for k in STEPS["k"] if not count_setting(clinic, check_setting(Setting(k=k), clinic)).refused]
    assert 3 < len(possible) < len(STEPS["k"])
    assert f"{len(possible)} releases drawn" in page(board, "listed")
    assert all(f"Mondrian, k = {k}<" in page(board, "listed") for k in possible)
    assert "A dotted line is a sweep" in page(board, "place")


@pytest.mark.slow
def test_the_brush_lists_what_is_inside(make):
    board = make()
    use(board, "sweep")
    losses = board.place.releases.privacy.sort_values()
    box = {"privacy": [losses.iloc[0] - 1, losses.iloc[1]], "utility": [-1, 100]}
    board.place.chart.box = box  # as the browser sets it
    inside = int((losses <= losses.iloc[1]).sum())
    assert f"{inside} releases in the box" in page(board, "listed")
    board._draw()
    assert "in the box" in page(board, "listed"), "it stays while the miner tells"
    use(board, "pin")
    assert "releases drawn" in page(board, "listed")


@pytest.mark.slow
def test_a_release_is_saved_in_words(make, tmp_path):
    board = make()
    use(board, "quasi_identifiers", ["age", "region"])
    assert "weight, postcode single them out" in page(board, "take"), "it is said before"
    use(board, "save")
    assert "weight, postcode single them out" in page(board, "state")
    assert not [*tmp_path.glob("releases/**/*.csv")]
    use(board, "quasi_identifiers", KNOWN.split(", "))
    assert "The gate refuses" not in page(board, "take")
    use(board, "save")
    (table,) = [path for path in tmp_path.glob("releases/**/*.csv") if ".codebook" not in path.suffixes]
    assert str(table.relative_to(tmp_path)) in page(board, "take")
    use(board, "sanitizer", "Identity")
    use(board, "save")
    assert "The gate refuses Identity()" in page(board, "state")


@pytest.mark.slow
def test_the_miner_runs_beside_it_and_the_latest_wins(make):
    async def scene():
        board = make()
        use(board, "shown")
        await asyncio.sleep(0.2)
        assert 'data-working="true"' in page(board, "state")
        use(board, "miner", "majority")
        async with asyncio.timeout(120):
            while board.mined is None:
                await asyncio.sleep(0.05)
        return board

    board = asyncio.run(scene())
    assert [setting.miner for setting in board._mined] == ["majority"], "a stale result is never taken"
    assert "majority predicts diagnosis" in page(board, "kept")
    assert float(told(board)[2]["good_utility"]) > 0


@pytest.mark.slow
def test_what_is_cancelled_can_be_tried_again(make):
    async def scene():
        board = make()
        use(board, "shown")
        assert verdicts(board)["attribute"] == "working"
        use(board, "cancel")
        assert "This task was cancelled." in page(board, "risks")
        assert verdicts(board)["attribute"] == "unknown"
        assert "This task was cancelled." not in page(board, "kept"), "the miner goes on"
        use(board, "cancel")
        assert "This task was cancelled." in page(board, "kept")
        use(board, "again")
        assert 'data-working="true"' in page(board, "state")
        assert verdicts(board)["attribute"] == "working"

    asyncio.run(scene())


async def until(done):
    async with asyncio.timeout(120):
        while not done():
            await asyncio.sleep(0.02)


@pytest.fixture
def unknown(monkeypatch):
    """Nothing was counted before."""
    monkeypatch.setattr("privnb.explorer.readings._readings", OrderedDict())


@pytest.fixture
def slow(unknown, monkeypatch):
    """Mondrian is counted beside the interface, as are sanitizers that search for seconds."""
    monkeypatch.setattr(Mondrian, "slow", True)


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_what_is_saved_or_swept_while_a_setting_is_counted_leaves_it_to_be_counted(make, tmp_path):
    async def scene():
        board = make(replace(FIVE, quasi_identifiers=KNOWN))
        use(board, "shown")
        for asked_meanwhile in ("save", "sweep"):
            use(board, "k", board.setting.k + 1)
            await until(lambda: board._doing == "count")
            assert told(board)[0], "it says that it counts"
            use(board, asked_meanwhile)
            if asked_meanwhile == "save":
                assert "has no numbers yet" in page(board, "state")
            await until(lambda: board.reading)
            assert board.reading.setting == board.setting
            use(board, "cancel")
        use(board, "save")
        use(board, "k", 23)  # which no other test of this process has counted
        await until(lambda: board.reading)
        assert board.reading.setting.k == 23

    asyncio.run(scene())
    assert len([*(tmp_path / "releases").rglob("*.codebook.csv")]) == 1, "a slow count does not break it off"


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_no_number_of_an_older_setting_stands_where_counting_was_cancelled(make):
    async def scene():
        board = make()
        use(board, "shown")
        assert "release = " in page(board, "take")
        use(board, "k", 20)
        await until(lambda: board._doing == "count")
        use(board, "cancel")
        assert not told(board)[0]
        assert [page(board, name) for name in ("published", "kept", "gained", "take")] == [""] * 4
        assert board.place.chart.spec == {}
        use(board, "again")
        await until(lambda: board.reading)
        assert "release = " in page(board, "take")

    asyncio.run(scene())


@pytest.mark.slow
def test_pins_of_an_earlier_kernel_are_counted_whatever_one_does_meanwhile(make, monkeypatch):
    for k in (10, 20):
        use(make(Setting(k=k)), "pin")
    monkeypatch.setattr("privnb.explorer.readings._readings", OrderedDict())

    async def scene():
        board = make()
        use(board, "shown")
        use(board, "k", 50)
        await until(lambda: "3 releases drawn" in page(board, "listed"))

    asyncio.run(scene())


@pytest.mark.slow
def test_of_two_seeds_the_plane_shows_the_one_that_the_panels_tell(make):
    board = make(Setting("LaplaceNoise", seed=1))
    use(board, "privacy", "identity_vulnerability")
    use(board, "pin")
    use(board, "seed", "2")
    use(board, "pin")
    assert list(board.place.releases.utility) == pytest.approx([numbers(board.reading.results, "utility_loss")])
    assert "seed 1" in page(board, "listed")
    assert "seed 2" in page(board, "listed")


def test_what_stays_is_put_aside_once_so_that_no_key_press_waits_while_it_is_looked_through(make, monkeypatch):
    frozen = []
    monkeypatch.setattr(
        module, "gc", SimpleNamespace(get_freeze_count=lambda: len(frozen), freeze=lambda: frozen.append(1))
    )
    make()
    make()
    assert frozen == [1]


# --- the gauges ---


@pytest.mark.slow
def test_gauges_follow_the_setting_and_never_show_an_older_ones_number(make, monkeypatch):
    monkeypatch.setattr("privnb.explorer.readings._readings", OrderedDict())

    async def scene():
        board = make()
        await until(lambda: verdicts(board)["identity"] == "broken")
        use(board, "k", 20)
        assert {*verdicts(board).values()} == {"working"}, "at once"
        assert "data-value" not in page(board, "risks")
        await until(lambda: verdicts(board)["identity"] == "kept")
        assert verdicts(board)["attribute"] == "working", "nobody looks on"
        use(board, "shown")
        await until(lambda: "working" not in verdicts(board).values())
        assert not board._missing
        measured = page(board, "risks")
        use(board, "miner", "majority")
        assert page(board, "risks") == measured, "a risk depends on no miner that one chooses"
        use(board, "k", 500)
        await until(lambda: "There is no release to attack." in page(board, "risks"))

    asyncio.run(scene())


def test_a_policy_is_chosen_and_the_choice_taken_back(make):
    board = make()
    assert verdicts(board)["identity"] == "broken"
    use(board, "policy", "k-5")
    assert verdicts(board)["identity"] == "kept"
    use(board, "policy", "none")
    assert verdicts(board)["identity"] == "uncapped"
    assert "Undo the choice of the policy" in page(board, "actions")
    use(board, "undo")
    assert verdicts(board)["identity"] == "kept"
    use(board, "policy", "mine")
    assert "policy must be one of" in page(board, "state")


# --- what is shown ---


def test_no_widget_redirects_output(make):
    """An Output widget can hang a notebook run by papermill for ever."""
    from ipywidgets import Output

    def every(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from every(child)

    kinds = [type(widget) for widget in every(make().widget)]
    assert len(kinds) > 10
    assert not any(issubclass(kind, Output) for kind in kinds)


@pytest.mark.slow
def test_the_state_of_the_widgets_holds_no_record(make, clinic, tmp_path):
    from ipywidgets.embed import dependency_state

    board = make(Setting(k=10))
    use(board, "sweep")
    pieces = [each["state"] for each in dependency_state([board.widget]).values()]
    assert sum("html" in piece for piece in pieces) == len(module.PAGES) - 1, "the part for roles is empty"
    for number, piece in enumerate(pieces):
        if "html" in piece:
            (tmp_path / f"{number}.html").write_text(piece["html"], encoding="utf-8")
        (tmp_path / f"{number}.json").write_text(json.dumps({**piece, "_esm": "", "html": ""}), encoding="utf-8")
    canaries = [IDENTIFIER, *(tuple(rare.values()) for rare in RARE)]
    rows = board.reading.rows
    shown = [] if isinstance(rows, str) else [rows]
    assert scan(tmp_path, original=clinic.table, released=shown, canaries=canaries) == []


def test_a_notebooks_parameters_are_a_setting():
    assert parse_setting("", "", "", "", "") == Setting()
    assert parse_setting("10, 50", "2", "0.2, 0.3", "", "0.5", seed=3) == Setting(k=10, l=2, t=0.2, epsilon=0.5, seed=3)
    with pytest.raises(ValueError, match="T must be one number or several"):
        parse_setting("10", "", "a bit", "", "")


def test_a_setting_that_means_nothing_makes_no_board(clinic, tmp_path):
    with pytest.raises(ValueError, match="SANITIZER must be one of"):
        Board(clinic, Setting("Magic"), pins=tmp_path / "pins.json", store="", source="")


@pytest.mark.parametrize("bad", [{"sanitizer": "Nothing"}, {"miner": "nobody"}])
def test_a_pin_that_means_nothing_here_is_left_out(bad, make, clinic):
    board = make()
    board.pins.add(replace(check_setting(Setting(k=4), clinic), **bad))
    board.pin()
    assert board.pinned == [board.setting]
    assert "Mondrian, k = 5" in page(board, "listed")
    assert not board.fault


def test_a_seed_that_is_no_number_is_said_to_be_none(make):
    board = make()
    use(board, "seed", "1.5")
    assert "seed must be a number; got '1.5'" in page(board, "state")
    assert board.setting.seed == 1


def test_what_could_not_be_taken_back_stays_to_be(make):
    board = make()
    board.changes.append(("a fault", lambda: 1 / 0))
    use(board, "undo")
    assert len(board.changes) == 1
    assert "ZeroDivisionError" in page(board, "state")


@pytest.mark.slow
def test_a_page_that_opens_is_told_again_what_was_told_before(make, monkeypatch):
    board, sent = make(), []
    monkeypatch.setattr(board._pages["form"], "send_state", sent.append)
    use(board, "shown")
    assert sent == ["html"]


@pytest.mark.slow
def test_a_board_with_another_limit_withholds_by_it_and_says_so_in_its_command(make, clinic):
    usual, board = make(), make(min_count=len(clinic))
    assert "-p MIN_COUNT" not in page(usual, "take")
    assert f"-p MIN_COUNT={len(clinic)}" in page(board, "take")
    assert board.reading.results.value.isna().sum() > usual.reading.results.value.isna().sum()
    with pytest.raises(ValueError, match="min_count must be a whole number of at least 2"):
        make(min_count=0)


# --- the worst class, and the cuts ---


def test_the_worst_class_and_the_cuts_follow_the_slider(make):
    board = make(Setting(k=50))
    before = page(board, "worst"), page(board, "boxes")
    assert "<table" in before[0]
    assert "<rect" in before[1]
    use(board, "k", 100)
    assert page(board, "worst") != before[0]
    assert page(board, "boxes") != before[1]
    use(board, "sanitizer", "LaplaceNoise")
    assert "<rect" not in page(board, "boxes")


def test_the_directions_of_the_cuts_are_chosen_exchanged_and_undone(make):
    board = make(Setting(k=50))
    assert board.directions == {"across": "age", "up": "weight"}
    use(board, "across", "region")
    assert 'aria-label="' in page(board, "boxes")
    assert board.directions == {"across": "region", "up": "weight"}
    use(board, "up", "region")
    assert board.directions == {"across": "weight", "up": "region"}
    use(board, "undo")
    use(board, "undo")
    assert board.directions == {"across": "age", "up": "weight"}


def test_a_slider_of_the_board_says_where_nothing_is_reachable(make):
    board = make(Setting(k=5))
    assert ": not reachable" in page(board, "form")
    assert "Not reachable from 500 people on" in page(board, "form")
