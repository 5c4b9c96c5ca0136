import io
import json
import os
import sys
import threading
import time

import pytest

from privnb.runtime import progress
from privnb.runtime.progress import Bars, Notes, track


class Terminal(io.StringIO):
    def isatty(self):
        return True


def latest(path):
    notes = Notes(path)
    notes.grew()
    return notes.state


@pytest.fixture
def quiet(monkeypatch):
    """Neither a report's run, nor JupyterLab, nor a terminal."""
    monkeypatch.delenv(progress.FILE, raising=False)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


def test_nothing_is_shown_where_nobody_looks(quiet, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert list(track(range(3), "step")) == [0, 1, 2]
    assert sys.stderr.getvalue() == ""


def test_a_terminal_gets_a_bar_that_goes_away(quiet, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(track(iter("ab"), "letters", total=2)) == ["a", "b"]
    assert sys.stderr.getvalue() == "", "nothing that ends at once"
    monkeypatch.setattr(progress, "PATIENCE", 0)
    assert list(track(iter("ab"), "letters", total=2)) == ["a", "b"]
    shown = sys.stderr.getvalue()
    assert "letters" in shown
    assert "0/2, 00:00 elapsed, about ? left" in shown
    assert shown.endswith("\r")


def test_a_bar_appears_before_a_first_item_that_is_slow(quiet, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    shown = []

    def items():
        time.sleep(0.5)
        shown.append(sys.stderr.getvalue())
        yield "a"

    assert list(track(items(), "letters", total=1)) == ["a"]
    assert "letters:   0% |" in shown[0]
    assert sys.stderr.getvalue().endswith("\r")


def test_a_run_of_the_report_gets_lines_in_its_file_and_no_bar(quiet, monkeypatch, tmp_path):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "notes"))
    monkeypatch.setattr(progress, "SECONDS", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    step = track([10, 20], "counting")
    assert next(step) == 10
    assert latest(tmp_path / "notes") == {
        "cell": 0, "step": "counting", "done": 0, "total": 2, "left": None,
    }  # fmt: skip
    assert next(step) == 20
    assert latest(tmp_path / "notes")["done"] == 1
    assert latest(tmp_path / "notes")["left"] > 0
    assert list(step) == []
    assert latest(tmp_path / "notes")["step"] == ""
    assert sys.stderr.getvalue() == ""


def test_lines_are_few_and_small_however_many_items(quiet, monkeypatch, tmp_path):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "notes"))
    monkeypatch.setattr(progress, "SECONDS", 3600)
    assert sum(track(range(100_000), "counting")) == sum(range(100_000))
    lines = (tmp_path / "notes").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == ["counting", ""]


@pytest.fixture
def clock(monkeypatch):
    """`clock(seconds)` lets time pass; else none does."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda seconds: now.append(now.pop() + seconds)


def test_the_time_left_is_told_from_the_first_item_on(quiet, monkeypatch, tmp_path, clock):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "notes"))

    def arriving():  # as results of other processes do: the wait is for the item, not after it
        for seconds in (100, 20, 0):
            clock(seconds)
            yield seconds

    seen = []
    for _ in track(arriving(), "evaluate", total=3):
        seen.append(latest(tmp_path / "notes"))
    told = [json.loads(line) for line in (tmp_path / "notes").read_text(encoding="utf-8").splitlines()]
    assert [(state["done"], state["left"]) for state in told[:-1]] == [(0, None), (1, 200.0), (2, 60.0)]
    assert [state["left"] for state in seen] == [None, 200.0, 60.0]


def test_no_time_left_is_told_without_a_total(quiet, monkeypatch, tmp_path, clock):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "notes"))
    for _ in track((n for n in range(3)), "counting"):
        clock(60)
    lines = (tmp_path / "notes").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("left") for line in lines] == [None] * 5


def test_a_file_that_cannot_be_written_stops_no_computation(quiet, monkeypatch, tmp_path):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "missing" / "notes"))
    assert list(track("ab", "letters")) == ["a", "b"]


def test_latest_of_a_file_in_the_making(tmp_path):
    assert latest(tmp_path / "none")["cell"] == 0
    (tmp_path / "notes").write_text('{"cell": 3, "step": ""}\n{"step": "k', encoding="utf-8")
    assert latest(tmp_path / "notes") == {"cell": 3, "step": "", "done": 0, "total": None, "left": None}


def test_each_line_is_read_once_however_often_the_file_grows(monkeypatch, tmp_path):
    """And only when it is whole."""
    read, real = [], json.loads
    monkeypatch.setattr(progress.json, "loads", lambda line: read.append(real(line)) or real(line))
    notes, file = Notes(tmp_path / "notes"), open(tmp_path / "notes", "a", encoding="utf-8", buffering=1)
    found = [notes.grew()]
    with file:
        for part in ('{"cell": 1}\n', '{"said": "one"}\n{"ce', 'll": 2}\n', "", '{"said": "two"}\n', '{"cell": 3'):
            file.write(part)
            file.flush()
            found.append(notes.grew())
    assert found == [False, True, True, True, False, True, False]
    assert read == [{"cell": 1}, {"said": "one"}, {"cell": 2}, {"said": "two"}]
    assert (notes.state["cell"], notes.state["said"]) == (2, ["one", "two"])


def test_plain_lines_say_each_step_once():
    file = io.StringIO()
    bars = Bars({"01_a": 4}, file)
    for cell, step in [(0, ""), (1, "sanitize"), (1, "sanitize"), (1, "mine"), (2, "sanitize"), (3, "")]:
        bars.show("01_a", {"cell": cell, "step": step, "done": 1, "total": 9, "left": 90})
    bars.end("01_a", "done")
    bars.close()
    assert file.getvalue().splitlines() == ["01_a: running", "01_a: sanitize", "01_a: mine", "01_a: done in 0 s"]


def test_plain_lines_tell_the_time_left_once_a_minute(clock):
    file = io.StringIO()
    bars = Bars({"01_a": 4}, file)
    for second in range(0, 600, 5):
        done = second // 30
        left = (600 - second) if done else None
        bars.show("01_a", {"cell": 1, "step": "evaluate", "done": done, "total": 20, "left": left})
        clock(5)
    lines = file.getvalue().splitlines()
    assert lines[:3] == [
        "01_a: evaluate",
        "01_a: evaluate 2/20, about 9 min left",
        "01_a: evaluate 4/20, about 8 min left",
    ]
    assert lines[-1] == "01_a: evaluate 18/20, about 1 min left"
    assert len(lines) == 10


def test_a_step_that_stands_still_is_not_repeated(clock):
    file = io.StringIO()
    bars = Bars({"01_a": 4}, file)
    for _ in range(9):
        bars.show("01_a", {"cell": 1, "step": "evaluate", "done": 2, "total": 20, "left": 540})
        clock(60)
    assert file.getvalue().splitlines() == ["01_a: evaluate", "01_a: evaluate 2/20, about 9 min left"]


def test_bars_of_a_terminal_show_cells_and_step():
    file = Terminal()
    bars = Bars({"01_a": 4, "02_b": 2}, file)
    bars.show("01_a", {"cell": 1, "step": "sanitize", "done": 3, "total": 9, "left": 839})
    bars.end("02_b", "done")
    bars.close()
    assert "01_a  25%" in file.getvalue()
    assert "1/4 cells, 0 s, sanitize 3/9, about 14 min left" in file.getvalue()
    assert "2/2 cells, done in 0 s" in file.getvalue()


def test_what_cannot_be_counted_is_watched(quiet, monkeypatch, tmp_path):
    monkeypatch.setenv(progress.FILE, str(tmp_path / "notes"))
    monkeypatch.setattr(progress, "SECONDS", 0.001)
    shares = iter([-1, 20, 15, 60.5, 300])
    asked = threading.Event()

    def share():
        now = next(shares, 100)
        if now == 100:
            asked.set()
        return now

    with progress.watch(share, "counting"):
        assert asked.wait(20)
    lines = [json.loads(line) for line in (tmp_path / "notes").read_text(encoding="utf-8").splitlines()]
    done = [line["done"] for line in lines if line["step"]]
    assert done == sorted(done)
    assert done[0] == 0
    assert max(done) > 60
    assert lines[0]["total"] == 100
    assert lines[-1] == {"step": ""}


def test_the_watch_ends_with_an_error_inside(quiet):
    with pytest.raises(ZeroDivisionError), progress.watch(lambda: 0, "counting"):
        1 / 0  # noqa: B018
    assert not [each for each in threading.enumerate() if each is not threading.main_thread() and each.name == "watch"]


def test_a_background_process_notes_each_step_and_returns_to_the_outer_one(monkeypatch):
    told = []
    monkeypatch.setenv(progress.FILE, os.devnull)
    monkeypatch.setattr(progress, "note", lambda **state: told.append(state["step"]))
    monkeypatch.setattr(progress._options, "notes_steps", True)
    with progress.step("preparing"):
        with progress.step("loading"):
            pass
        assert [*progress.track("ab", "letters")] == ["a", "b"]
    assert [each for each, before in zip(told, ["?", *told], strict=False) if each != before] == [
        "preparing", "loading", "preparing", "letters", "", "preparing", "",
    ]  # fmt: skip
