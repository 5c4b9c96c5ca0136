"""What a report leaves beside it, whichever way it ends, and that there is always one once there was one."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from privnb.reporting import places
from privnb.runtime.errors import OutputError

NOTEBOOK = """\
import os, tempfile, time
left = tempfile.mkstemp()  # a file that only a kill would leave, were it not in the report's own folder
with open("pid", "w") as log:
    print(os.getpid(), file=log, flush=True)
while not os.path.exists("go"):
    time.sleep(0.1)
import pandas as pd
from privnb.reporting import report
from privnb.evaluation.results import COLUMNS
rows = [dict(dataset="small", sanitizer="Identity()", measure="m", value=1)]
report.save(pd.DataFrame(rows, columns=COLUMNS), OUT, "01_a")
"""


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


@pytest.fixture
def project(tmp_path, write_notebook, kernel):
    """A notebook that waits until there is a file `go`, a `tmp`, and an older report."""
    write_notebook(tmp_path / "notebooks", "01_a", ("parameters", "OUT = ''"), NOTEBOOK)
    (tmp_path / "tmp").mkdir()
    older = tmp_path / "reports" / "small"
    older.mkdir(parents=True)
    for name in ("index.html", "results.csv"):
        (older / name).write_text("older")
    return tmp_path


@contextlib.contextmanager
def started(project, hangup=signal.SIG_DFL):
    """The process of a report, in which a closed terminal does what `hangup` says, whatever it does to the tests."""
    command = [sys.executable, "-m", "privnb.cli", "report", "--out", "reports/small"]
    environment = os.environ | {"TMPDIR": str(project / "tmp")}
    process = subprocess.Popen(
        command, cwd=project, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup),
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def at_work(project):
    """The kernel of the run, once it is at it."""
    log, limit = project / "notebooks" / "pid", time.monotonic() + 300
    while not (log.exists() and log.read_text().endswith("\n")):
        assert time.monotonic() < limit
        time.sleep(0.05)
    return int(log.read_text())


def wait_for_the_end_of(pid):
    limit = time.monotonic() + 60
    while not gone(pid) and time.monotonic() < limit:
        time.sleep(0.05)
    assert gone(pid), "nothing goes on computing"


@pytest.mark.parametrize(
    ("number", "status", "kill"), [(signal.SIGTERM, 143, os.kill), (signal.SIGHUP, 129, os.killpg)], ids=["TERM", "HUP"]
)
def test_a_report_that_is_told_to_stop_leaves_nothing(project, number, status, kill):
    """SIGTERM to the report alone, and SIGHUP to its group, as from a terminal that is closed."""
    before = files(project / "reports")
    with started(project) as process:
        pid = at_work(project)
        kill(process.pid, number)
        said = process.communicate(timeout=120)[1]
    assert process.returncode == status
    assert said.splitlines()[-1] == "privnb: stopped."
    assert "Traceback" not in said
    wait_for_the_end_of(pid)
    assert files(project / "reports") == before
    assert [path.name for path in (project / "reports").iterdir()] == ["small"]
    assert list((project / "tmp").iterdir()) == []


def test_under_nohup_a_report_outlives_its_terminal(project):
    with started(project, signal.SIG_IGN) as process:
        at_work(project)
        os.killpg(process.pid, signal.SIGHUP)
        (project / "notebooks" / "go").touch()
        process.communicate(timeout=300)
    assert process.returncode == 0
    assert (project / "reports" / "small" / "results.csv").read_text() != "older"


def test_the_next_build_sweeps_what_a_killed_one_left(project):
    with started(project) as process:
        pid = at_work(project)
        process.kill()
        process.communicate(timeout=120)
    wait_for_the_end_of(pid)
    assert len(list((project / "reports").glob(".small-*"))) == 1, "a kill leaves a hidden folder"
    (project / "notebooks" / "go").touch()
    with started(project) as again:
        again.communicate(timeout=300)
    assert again.returncode == 0
    assert [path.name for path in (project / "reports").iterdir()] == ["small"]
    assert [path for path in (project / "tmp").rglob("*") if path.is_file()] == [], "an empty folder of sockets may be"


def test_a_build_at_work_is_not_swept(tmp_path):
    with places.work_folder(tmp_path / "one") as first, places.work_folder(tmp_path / "other") as second:
        (first / "tmp" / "kept").touch()
        places.sweep(tmp_path)
        assert (first / "tmp" / "kept").exists()
        assert second.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_what_is_no_work_folder(tmp_path):
    for name in (".git/config", ".small-abcdefgh/index.html", "report.lock", "small/index.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".small-other").mkdir()
    (tmp_path / ".small-other" / places.LOCK).write_text("small")
    (tmp_path / "precious").mkdir()
    (tmp_path / ".small-other" / "tmp").symlink_to(tmp_path / "precious")
    before = files(tmp_path)
    places.sweep(tmp_path)
    assert (tmp_path / "precious").exists(), "a link that leads to no folder of ours"
    assert files(tmp_path) == before


SIGNALLED_TWICE = """\
import signal
from privnb.runtime import stopping
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
try:
    with stopping.stop_on_signals():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            print("cleaned up")
except KeyboardInterrupt as stop:
    print(*stop.args)
"""


def test_a_second_signal_does_not_stop_what_cleans_up():
    """As of a terminal or a service manager, which send SIGTERM and SIGHUP one after the other."""
    done = subprocess.run([sys.executable, "-c", SIGNALLED_TWICE], timeout=60, capture_output=True, text=True)
    assert (done.stdout.split("\n")[:2], done.returncode) == (["cleaned up", "15"], 0)


# --- between two steps ---


def stopped_at(step, folder):
    """Make and leave a work folder, stopped once, as by a signal, at a line of Python; whether there is such a line."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename == contextlib.__file__ or frame.f_code is places._alone.__wrapped__.__code__:
            return None  # these hold a lock that goes with the process: this one lives on
        count += event == "line"
        if event == "line" and count == step:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with places.work_folder(folder / "reports" / "small") as work:
            (work / "tmp" / "left").touch()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return count >= step


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file that the stop left open
def test_a_signal_at_any_line_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(places.tempfile, "tempdir", str(tmp_path / "tmp"))
    step = 1
    with ThreadPoolExecutor(1) as aside:  # what is stopped in the middle of an error leaves that to its thread
        while aside.submit(stopped_at, step, tmp_path).result():
            left = [*tmp_path.glob("tmp/*"), *tmp_path.glob("reports/*"), *tmp_path.glob("reports/.*")]
            assert not left, f"stopped at line {step}: {left}"
            step += 1
    assert step > 500, "all lines of making and of removing were tried"


@pytest.fixture
def two(tmp_path):
    """An older report, and a newer one that is ready to be put in its place."""
    for name in ("small", ".small-abcdefgh/report"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "index.html").write_text("older" if name == "small" else "newer")
    (tmp_path / ".small-abcdefgh" / places.LOCK).write_text("small")
    return tmp_path


KILLED = """\
import os, sys
from pathlib import Path
from privnb.reporting import places
folder, there = Path(sys.argv[1]), sys.argv[2] == "True"
if not there:
    places._exchanged = lambda one, other: False
owner, name = (places, "_exchanged") if there else (Path, "rename")
first = getattr(owner, name)
def then_die(*given):
    first(*given)
    os.kill(os.getpid(), 9)
setattr(owner, name, then_die)
work = folder / ".small-abcdefgh"
places.swap(work / "report", folder / "small", work / "previous")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("exchange", "left"), [(True, "newer"), (False, None)])
def test_a_kill_after_the_first_step_leaves_a_report(two, exchange, left):
    done = subprocess.run([sys.executable, "-c", KILLED, str(two), str(exchange)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    there = two / "small" / "index.html"
    assert (there.read_text() if there.exists() else None) == left
    with places.work_folder(two / "another"):  # the next build, of whatever report
        assert there.read_text() == (left or "older")
    assert [path.name for path in two.iterdir()] == ["small"]


@pytest.mark.parametrize("exchange", [True, False])
def test_reports_change_places(two, exchange, monkeypatch):
    if not exchange:
        monkeypatch.setattr(places.ctypes, "CDLL", lambda *_, **__: object())
    work = two / ".small-abcdefgh"
    places.swap(work / "report", two / "small", work / "previous")
    assert (two / "small" / "index.html").read_text() == "newer"
    (older,) = (path for path in work.iterdir() if path.is_dir())
    assert (older / "index.html").read_text() == "older"


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match="the report could not be written to"),
        places.work_folder(tmp_path / "file" / "out"),
    ):
        pass
