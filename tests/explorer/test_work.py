import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from privnb.explorer import background as module
from privnb.explorer.background import BackgroundWorker
from privnb.runtime import progress

# The processes of most tests do without the imports that a person's first task would wait for.
BARE = (
    "import sys; from privnb.explorer import background; background._prepare = int; background._serve(int(sys.argv[1]))"
)
HERE = str(Path(__file__).parent)


def own(value):
    return value, os.getpid()


def slow(log, items=1200):
    """Takes two minutes, counted aloud; `log` gets the number of its process."""
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    for _ in progress.track(range(items), "count sheep"):
        time.sleep(0.1)


def silent(log):
    """Takes two minutes and says nothing."""
    slow(log, 0)
    time.sleep(120)


def refused():
    from privnb.datasets.dataset import load

    load("nowhere")


def refusing():
    from privnb.privacy_models import KAnonymity

    KAnonymity(0)


def wrong():
    return {}["sheep"]


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def unsendable():
    return lambda: None


def pool(log):
    """A task that has processes of its own, each of which logs its number."""
    from privnb.evaluation import store

    store.LIBRARIES = ("privnb.evaluation.store",)  # the tasks need no more, which takes seconds
    store.run_tasks([partial(slow, log, items) for items in (1201, 1202)], store.Store(f"{log}-store"), jobs=2)


class Heavy:
    """Counts how often it is sent."""

    sent = 0

    def __init__(self):
        self.content = np.zeros(2_000_000)

    def __reduce__(self):
        Heavy.sent += 1
        return _heavy, (self.content,)


def _heavy(content):
    heavy = object.__new__(Heavy)
    heavy.content = content
    return heavy


def size(heavy):
    return len(heavy.content), id(heavy)


@pytest.fixture
def work(monkeypatch):
    monkeypatch.setattr(module, "CHILD", BARE)
    work = BackgroundWorker()
    yield work
    work.close()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def started(work, task, told=None):
    """A future of what the task comes to: ("done", result) or ("failed", text)."""
    future = asyncio.get_running_loop().create_future()
    work.start(
        task,
        done=lambda value: future.set_result(("done", value)),
        failed=lambda text: future.set_result(("failed", text)),
        progress=lambda *state: told is not None and told.append(state),
    )
    return future


def outcome(work, task, told=None):
    async def main():
        return await asyncio.wait_for(started(work, task, told), 120)

    return asyncio.run(main())


def pids(log):
    return [int(line) for line in log.read_text(encoding="utf-8").split()] if log.exists() else []


async def until(condition):
    limit = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < limit
        await asyncio.sleep(0.02)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_a_task_is_done_elsewhere_and_told_of_on_the_callers_loop(work):
    threads = []

    async def main():
        done = started(work, partial(own, "sheep"))
        assert work._job
        done.add_done_callback(lambda _: threads.append(threading.current_thread()))
        return await asyncio.wait_for(done, 120)

    kind, (value, pid) = asyncio.run(main())
    assert (kind, value) == ("done", "sheep")
    assert pid != os.getpid()
    assert threads == [threading.current_thread()]
    assert not work._job


@pytest.mark.slow
def test_the_process_of_a_finished_task_does_the_next_one(work):
    first, second = (outcome(work, partial(own, number)) for number in (1, 2))
    assert first[1][1] == second[1][1]


@pytest.mark.slow
def test_the_latest_wins_and_the_older_process_ends_at_once(work, log):
    told = []

    async def main():
        older = started(work, partial(slow, log), told)
        await until(lambda: pids(log))
        newer = started(work, partial(own, "new"))
        before = len(told)
        await until(lambda: not alive(pids(log)[0]))
        result = await asyncio.wait_for(newer, 120)
        await asyncio.sleep(3 * module.POLL)
        assert not older.done()
        assert len(told) == before
        return result

    assert asyncio.run(main())[1][0] == "new"


@pytest.mark.slow
def test_a_key_held_down_ends_in_the_last_setting_alone(work, log):
    async def main():
        futures = [started(work, partial(own, number)) for number in range(20)]
        await asyncio.wait_for(futures[-1], 120)
        return [future.done() for future in futures], futures[-1].result()

    done, (_, (value, _)) = asyncio.run(main())
    assert done == [False] * 19 + [True]
    assert value == 19


@pytest.mark.slow
def test_progress_is_told_with_the_time_left(work, log):
    told = []

    async def main():
        await asyncio.wait_for(started(work, partial(slow, log, items=8), told), 120)

    asyncio.run(main())
    assert told[0] == (None, module.STARTING)
    fractions = [fraction for fraction, text in told if text.startswith("count sheep: ")]
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] <= 1
    assert any(text.endswith("s left") for _, text in told)
    assert len(told) == len({*told}) or told[-1] == (None, "computing")


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"step": "", "done": 3, "total": 4, "left": 1.0}, (None, "computing")),
        ({"step": "mine", "done": 3, "total": None, "left": None}, (None, "mine")),
        ({"step": "mine", "done": 0, "total": 4, "left": None}, (0, "mine: 0 of 4")),
        ({"step": "mine", "done": 3, "total": 4, "left": 0.2}, (0.75, "mine: 3 of 4, about 1 s left")),
        ({"step": "mine", "done": 1, "total": 4, "left": 150}, (0.25, "mine: 1 of 4, about 2 min left")),
    ],
)
def test_progress_in_words(state, expected):
    assert module._describe_progress(state) == expected


@pytest.mark.slow
def test_progress_of_an_earlier_task_is_no_longer_told(work, log):
    async def main():
        told = []
        await asyncio.wait_for(started(work, partial(slow, log, items=5)), 120)
        await asyncio.wait_for(started(work, partial(time.sleep, 0.5), told), 120)
        return told

    assert {text for _, text in asyncio.run(main())} <= {module.STARTING, "computing"}


@pytest.mark.slow
def test_errors_say_what_to_do_and_the_next_task_goes_on(work):
    assert outcome(work, refusing)[1].startswith("k must be")
    kind, text = outcome(work, refused)
    assert kind == "failed"
    assert text.startswith("there is no dataset 'nowhere'")
    assert outcome(work, wrong) == ("failed", f"KeyError: 'sheep'. {module.ADVICE}")
    assert outcome(work, unsendable)[0] == "failed"
    kind, text = outcome(work, killed)
    assert kind == "failed"
    assert "signal 9, perhaps because memory ran out" in text
    assert outcome(work, partial(own, "on"))[1][0] == "on"


@pytest.mark.slow
def test_a_process_that_was_killed_while_idle_is_replaced(work):
    _, (_, pid) = outcome(work, partial(own, 1))
    os.kill(pid, signal.SIGKILL)

    async def main():
        await until(lambda: work._worker.process.returncode is not None)
        return await asyncio.wait_for(started(work, partial(own, 2)), 120)

    kind, (value, other) = asyncio.run(main())
    assert (kind, value) == ("done", 2)
    assert other != pid


def test_a_process_that_cannot_start_is_told(work, monkeypatch):
    monkeypatch.setattr(module, "CHILD", "raise SystemExit(3)")
    kind, text = outcome(work, partial(own, 1))
    assert kind == "failed"
    assert "status 3" in text


@pytest.mark.slow
def test_a_task_that_cannot_be_sent_is_refused_and_leaves_the_older_one(work, log):
    async def main():
        started(work, partial(slow, log))
        await until(lambda: pids(log))
        with pytest.raises(AttributeError, match="lambda"):
            started(work, lambda: 1)
        assert work._job
        assert alive(pids(log)[0])

    asyncio.run(main())


def test_without_an_event_loop_it_says_so(work):
    with pytest.raises(RuntimeError, match="running event loop"):
        work.start(partial(own, 1), done=print, failed=print, progress=print)
    assert not work._job


@pytest.mark.slow
def test_stop_ends_a_task_without_a_word(work, log):
    async def main():
        future = started(work, partial(slow, log))
        await until(lambda: pids(log))
        work.stop()
        assert not work._job
        await until(lambda: not alive(pids(log)[0]))
        await asyncio.sleep(3 * module.POLL)
        assert not future.done()
        return await asyncio.wait_for(started(work, partial(own, "again")), 120)

    assert asyncio.run(main())[1][0] == "again"


@pytest.mark.slow
def test_the_processes_of_a_stopped_task_end_with_it(work, log):
    async def main():
        started(work, partial(pool, str(log)))
        await until(lambda: len(pids(log)) == 2)
        work.stop()
        await until(lambda: not any(map(alive, pids(log))))

    asyncio.run(main())


@pytest.mark.slow
def test_what_is_shared_is_sent_once_to_each_process(monkeypatch):
    monkeypatch.setattr(module, "CHILD", BARE)
    monkeypatch.setattr(Heavy, "sent", 0)
    heavy = Heavy()
    work = BackgroundWorker(heavy)
    try:
        first, second = (outcome(work, partial(size, heavy)) for _ in range(2))
        assert first == second  # the very same object there
        assert first[1][0] == 2_000_000
        assert len(module._pickle_task(partial(size, heavy), work._shared)) < 1000
        assert Heavy.sent == 1
    finally:
        work.close()


def test_a_start_waits_for_no_process(monkeypatch):
    """Its line is far too short for what is shared, and nobody reads it."""
    monkeypatch.setattr(module, "CHILD", "import time; time.sleep(120)")
    work = BackgroundWorker(bytes(50_000_000))

    async def main():
        started(work, partial(own, 1))
        process = work._worker.process
        work.close()
        await until(lambda: process.returncode is not None)

    asyncio.run(main())


@pytest.mark.slow
def test_a_task_from_another_thread_wins_and_is_told_there(work, log):
    """JupyterLab has widgets answered in a thread of their own."""
    told = []

    def other():
        async def main():
            future = started(work, partial(own, "other"))
            future.add_done_callback(lambda _: told.append(threading.current_thread()))
            return await asyncio.wait_for(future, 120)

        told.append(asyncio.run(main()))

    async def main():
        older = started(work, partial(slow, log))
        await until(lambda: pids(log))
        thread = threading.Thread(target=other)
        thread.start()
        await until(lambda: len(told) == 2)
        thread.join()
        assert not older.done()
        return thread

    thread = asyncio.run(main())
    assert told[0] is thread
    assert told[1][1][0] == "other"


def test_unused_work_goes_with_its_processes(work):
    mine = BackgroundWorker()
    mine.warm()
    process = mine._worker.process
    assert process.poll() is None
    del mine
    assert process.wait(60) == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "pass"], ids=["killed", "at its end"])
def test_no_process_outlives_the_one_that_made_it(end, log):
    code = f"""
import asyncio, os, sys
sys.path.insert(0, {HERE!r})
from test_work import BARE, module, partial, pids, silent, started, until, BackgroundWorker, Path
module.CHILD = BARE
log, work = Path({str(log)!r}), BackgroundWorker()
async def main():
    started(work, partial(silent, log))
    await until(lambda: pids(log) and work._reserve and work._reserve.line.poll())  # both idle
    print(work._reserve.process.pid, flush=True)
asyncio.run(main())
{end}
"""
    script = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    left = [*pids(log), int(script.stdout)]
    assert len(left) == 2
    asyncio.run(until(lambda: not any(map(alive, left))))


BEGIN = f"""
import asyncio, os, sys
sys.path.insert(0, {HERE!r})
from functools import partial
from test_work import BARE, BackgroundWorker, module, own, pids, slow, started, until
from pathlib import Path
work = BackgroundWorker()
work.warm()
"""


def test_a_notebook_sees_results_and_ends_with_its_processes(write_notebook, log, tmp_path, kernel):
    """In the same manner as a report runs it; the last cell leaves a task at work."""
    write_notebook(
        tmp_path,
        "work",
        BEGIN,
        "future = started(work, partial(own, 'sheep'))",
        "assert (await asyncio.wait_for(future, 90))[1][0] == 'sheep'",
        f"log = Path({str(log)!r}); _ = started(work, partial(slow, log))",
        "await until(lambda: pids(log) and work._reserve)",
        "with log.open('a') as file: file.write(f'{work._reserve.process.pid} {os.getpid()}\\n')",
    )
    import papermill

    papermill.execute_notebook(
        tmp_path / "work.ipynb",
        tmp_path / "done.ipynb",
        kernel_name="python3",
        progress_bar=False,
        execution_timeout=120,
    )
    assert len(pids(log)) == 3
    asyncio.run(until(lambda: not any(map(alive, pids(log)))))


def test_a_kernel_answers_widgets_in_a_subshell_and_leaves_nothing_when_killed(log, kernel):
    from jupyter_client.manager import start_new_kernel  # each process would else import it with its tasks

    manager, client = start_new_kernel(kernel_name="python3")

    def execute(code, subshell=None):
        message = client.session.msg("execute_request", {"code": code, "silent": False, "store_history": False})
        message["header"]["subshell_id"] = subshell
        client.shell_channel.send(message)
        while (reply := client.get_shell_msg(timeout=90))["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            pass
        assert reply["content"]["status"] == "ok", reply["content"]

    try:
        client.control_channel.send(client.session.msg("create_subshell_request"))
        subshell = client.get_control_msg(timeout=60)["content"]["subshell_id"]
        execute(f"{BEGIN}\nmodule.CHILD = BARE; log = Path({str(log)!r}); older = started(work, partial(slow, log))")
        execute("await until(lambda: pids(log))")
        execute("newer = started(work, partial(own, 'new')); assert older.get_loop() is not newer.get_loop()", subshell)
        execute("assert (await asyncio.wait_for(newer, 90))[1][0] == 'new' and not older.done()", subshell)
        execute("_ = started(work, partial(slow, log))", subshell)
        execute("await until(lambda: len(pids(log)) == 2 and work._reserve)", subshell)
        execute("with log.open('a') as file: file.write(f'{work._reserve.process.pid} {os.getpid()}\\n')")
        os.kill(pids(log)[-1], signal.SIGKILL)
        assert len(pids(log)) == 4
        asyncio.run(until(lambda: not any(map(alive, pids(log)))))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
