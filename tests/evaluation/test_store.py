import json
import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.context import BaseContext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import tasks
from support.clinic import CLINIC

import privnb
from privnb.datasets.dataset import load
from privnb.evaluation import store as module
from privnb.evaluation.release_measures import measure_information_loss, measure_linkage
from privnb.evaluation.results import COLUMNS, join_results, make_row_builder, tidy
from privnb.evaluation.store import Store, run_tasks
from privnb.runtime import processes
from privnb.sanitizers import Identity, KMember, LaplaceNoise


@pytest.fixture
def calls(monkeypatch, tmp_path):
    monkeypatch.setenv(tasks.LOG, str(tmp_path / "log"))
    return lambda: (tmp_path / "log").read_text(encoding="utf-8").split() if (tmp_path / "log").exists() else []


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def entries(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.result")}


def start(folder, number):
    return script(f"print(tasks.steps({str(folder)!r}, {number}))")


def script(call, **options):
    path = f"import sys; sys.path[:0] = [{str(Path(tasks.__file__).parents[1])!r}]"
    code = f"{path}; from support import tasks; tasks.store.LIBRARIES = ('support.tasks',); {call}"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, **options)


def wait_for(number, calls):
    limit = time.monotonic() + 60
    while len(calls()) < number and time.monotonic() < limit:
        time.sleep(0.01)
    assert len(calls()) >= number


@pytest.mark.slow
def test_a_run_killed_halfway_goes_on_where_it_stopped_with_the_same_bytes(calls, tmp_path):
    killed = start(tmp_path / "killed", 8)
    wait_for(3, lambda: entries(tmp_path / "killed"))
    killed.kill()
    # Its workers hold the same pipe: that it ends says that none is left.
    assert killed.communicate(timeout=20)[0] == ""
    assert killed.returncode == -9
    finished = entries(tmp_path / "killed")
    assert 3 <= len(finished) < 8
    begun = calls()
    resumed = tasks.steps(tmp_path / "killed", 8)
    again = calls()[len(begun) :]
    assert len(again) == 8 - len(finished)
    assert sorted({*begun, *again}) == list("01234567")
    assert {name: entries(tmp_path / "killed")[name] for name in finished} == finished
    whole = tasks.steps(tmp_path / "whole", 8)
    assert len(json.loads(whole)) == 8
    assert resumed == whole
    assert entries(tmp_path / "killed") == entries(tmp_path / "whole")


@pytest.mark.slow
def test_an_interrupt_ends_the_workers_at_once_and_without_a_word_of_theirs(calls, tmp_path):
    process = script(
        f"tasks.interrupted({str(tmp_path / 'results')!r})", stderr=subprocess.PIPE, start_new_session=True
    )
    wait_for(2, calls)
    wait_for(1, lambda: entries(tmp_path / "results"))
    time.sleep(0.5)  # one worker is at work, the other waits
    os.killpg(process.pid, signal.SIGINT)  # to parent and workers, as JupyterLab and a terminal do
    # The workers hold the same pipes: that these end says that none is left.
    said = process.communicate(timeout=20)[1]
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert said.count("Traceback") == 1
    assert len(calls()) == 2


@pytest.mark.slow
def test_an_interrupt_of_a_worker_is_left_to_the_parent(store):
    assert run_tasks([partial(tasks.interrupting)], store, jobs=1) == [1]


@pytest.mark.slow
def test_two_runs_at_once_in_one_folder_are_both_right(calls, tmp_path):
    both = [start(tmp_path / "shared", 4) for _ in range(2)]
    first, second = (process.communicate(timeout=60)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert len(json.loads(first)) == 4
    assert first == second
    assert len(entries(tmp_path / "shared")) == 4
    assert not list((tmp_path / "shared").glob("*.partial"))
    done = calls()
    assert tasks.steps(tmp_path / "shared", 4) == first.strip()
    assert calls() == done


@pytest.mark.slow
def test_evaluations_come_back_exactly_as_they_were(store):
    dataset = load(CLINIC)
    two = [
        partial(measure_information_loss, dataset, [KMember(5)]),
        partial(measure_linkage, dataset, [LaplaceNoise(1.0), KMember(9)], seeds=2),
    ]
    for _ in range(2):
        for found, task in zip(run_tasks(two, store, jobs=2), two, strict=True):
            pd.testing.assert_frame_equal(found, task(), check_exact=True)
    assert len(entries(store.folder)) == 2


@pytest.mark.slow
def test_a_stored_result_is_not_computed_again(calls, store):
    first = store.call(tasks.step, 3)
    pd.testing.assert_frame_equal(store.call(tasks.step, number=3, scale=1.0), first, check_exact=True)
    assert calls() == ["3"]
    store.call(tasks.step, 3, 2.0)
    store.call(tasks.step, 4)
    assert calls() == ["3", "3", "4"]


def test_results_are_the_owners_alone(calls, tmp_path):
    before = os.umask(0o022)
    try:
        kept = Store(tmp_path / "reports" / "store")
        kept.call(tasks.value, 1.0)
    finally:
        os.umask(before)
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.folder.glob("*.result")} == {0o600}


def test_the_key_is_of_function_seed_sanitizer_and_data(store):
    dataset = load(CLINIC)
    keys = [
        store.key(measure_linkage, dataset, [LaplaceNoise(1.0)]),
        store.key(measure_linkage, dataset, [LaplaceNoise(1.0)], seeds=2),
        store.key(measure_linkage, dataset, [LaplaceNoise(2.0)]),
        store.key(measure_linkage, dataset.sample(299, rng=1), [LaplaceNoise(1.0)]),
        store.key(measure_information_loss, dataset, [LaplaceNoise(1.0)]),
    ]
    assert len(set(keys)) == len(keys)
    assert store.key(measure_linkage, load(CLINIC), sanitizers=[LaplaceNoise(1.0)], seeds=1) == keys[0]


def test_changed_code_returns_no_old_number(calls, store, monkeypatch):
    store.call(tasks.value, 1)
    monkeypatch.setattr(module, "fingerprint", lambda: b"another formula")
    store.call(tasks.value, 1)
    assert calls() == ["value"] * 2


def _flip(text):
    return text.replace(b"0.", b"1.", 1)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [lambda text: b"", lambda text: text[:70], lambda text: text[:-1], _flip])
def test_a_damaged_entry_is_computed_anew(calls, store, damage):
    first = store.call(tasks.step, 3)
    (path,) = store.folder.glob("*.result")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert path.read_bytes() != whole
    pd.testing.assert_frame_equal(store.call(tasks.step, 3), first, check_exact=True)
    assert calls() == ["3", "3"]
    assert path.read_bytes() == whole


@pytest.mark.parametrize("text", [b"no JSON", b'{"a": 1}', b"null", b'"text"', b"[1]", b"[[1, 2]]", b"\xff"])
def test_an_entry_with_a_right_checksum_and_no_result_is_computed_anew(calls, store, text):
    store._write(store.key(tasks.value, 3), text)
    assert store.call(tasks.value, 3) == 3
    assert run_tasks([partial(tasks.value, 3)], store, jobs=1) == [3], "and is then as it should be"
    assert len(calls()) == 1


def test_an_entry_that_is_a_folder_counts_as_missing(calls, store, capsys):
    (store.folder / f"{store.key(tasks.value, 3)}.result").mkdir()
    assert store.call(tasks.value, 3) == 3
    assert "cannot keep more results (Is a directory)" in capsys.readouterr().err


def test_a_worker_that_cannot_write_says_so_to_the_parent(calls, store, capsys):
    (store.folder / f"{store.key(tasks.value, 3)}.result").mkdir()
    assert run_tasks([partial(tasks.value, 3)], store, jobs=1) == [3]
    assert "cannot keep more results (Is a directory)" in capsys.readouterr().err


def test_a_file_keeps_no_results(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="must be a folder for results"):
        Store(tmp_path / "file")


def test_an_entry_under_another_name_counts_as_damaged(calls, store):
    store.call(tasks.value, 1)
    (path,) = store.folder.glob("*.result")
    path.rename(store.folder / f"{store.key(tasks.value, 2)}.result")
    assert store.call(tasks.value, 2) == 2
    assert len(calls()) == 2


def test_a_write_that_fails_leaves_nothing_and_stops_nothing(calls, store, monkeypatch, capsys):
    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(module.os, "replace", full)
    assert [store.call(tasks.value, 1), store.call(tasks.value, 2)] == [1, 2]
    said = f"{store.folder} cannot keep more results (disk full); the run continues without it.\n"
    assert capsys.readouterr().err == said, "once"
    assert {path.name for path in store.folder.iterdir()} == {"CACHEDIR.TAG", ".gitignore"}


@pytest.mark.parametrize("number", [0, -7, 10**30, True, 0.1 + 0.2, -0.0, 5e-324, float("inf")])
def test_numbers_come_back_to_the_last_bit(calls, store, number):
    for _ in range(2):
        found = store.call(tasks.value, number)
        assert (type(found), repr(found)) == (type(number), repr(number))
    assert calls() == ["value"]


def test_floats_of_results_come_back_to_the_last_bit(calls, store):
    bits = np.random.default_rng(0).integers(0, 2**63, 4000, dtype=np.uint64)
    floats = bits.view(float)[np.isfinite(bits.view(float))]
    assert len(floats) > 3900
    row = make_row_builder(load(CLINIC), Identity(), "")
    results = tidy([row(f"m{i}", number) for i, number in enumerate(floats)])
    for _ in range(2):
        pd.testing.assert_frame_equal(store.call(tasks.value, results), results, check_exact=True)
        assert store.call(tasks.value, results).value.to_numpy().tobytes() == floats.tobytes()
    assert calls() == ["value"]


def test_mixed_seeds_come_back_with_their_types(calls, store):
    dataset = load(CLINIC)
    results = join_results(*(tidy([make_row_builder(dataset, Identity(), seed)("records", 1)]) for seed in ("", 1)))
    assert store.call(tasks.value, results).seed.tolist() == ["", 1]


@pytest.mark.parametrize(
    "refused",
    [
        load(CLINIC).table,
        load(CLINIC).table.assign(value=1.0),
        np.array([1.0, 2.0]),
        [1.0],
        "a text",
        None,
        pd.DataFrame([[("a", "record")] * len(COLUMNS)], columns=COLUMNS),
    ],
)
def test_no_record_and_no_guess_is_stored(calls, store, refused):
    with pytest.raises(TypeError, match="only tidy results"):
        store.call(tasks.value, refused)
    assert entries(store.folder) == {}


def test_nothing_of_a_record_lies_in_the_folder(store):
    dataset = load(CLINIC)
    store.call(measure_information_loss, dataset, [KMember(5)])
    kept = b"".join(path.read_bytes() for path in store.folder.iterdir())
    assert b"k_achieved" in kept
    assert not any(name.encode() in kept for name in (b"CANARY-".decode(), "187.5", "04977", "08313"))


def test_results_of_a_run_stand_in_the_order_of_its_tasks_and_equal_ones_are_computed_once(calls, store):
    found = run_tasks([partial(tasks.value, n) for n in (3, 1, 3, 2)], store, jobs=2)
    assert found == [3, 1, 3, 2]
    assert len(calls()) == 3
    assert run_tasks([], store) == []


def test_tables_of_equal_tasks_can_be_changed_apart(calls, store):
    first, second = run_tasks([partial(tasks.step, 1)] * 2, store)
    first["value"] = 0.0
    assert (second.value != 0).all()


def test_a_failing_task_is_named_and_the_finished_stay(store):
    with pytest.raises(ZeroDivisionError) as caught:
        run_tasks([partial(tasks.failing, number) for number in (1, 2, 3)], store, jobs=1)
    assert caught.value.__notes__ == ["This was task 2 of 3, failing."]
    assert store.key(tasks.failing, 1) + ".result" in entries(store.folder)


def test_after_an_error_nobody_waits_for_the_other_tasks(calls, store):
    with pytest.raises(ZeroDivisionError) as caught:
        run_tasks([partial(tasks.slow, number) for number in (0, 1, 2)], store, jobs=2)
    assert caught.value.__notes__ == ["This was task 1 of 3, slow."]
    assert "waited" not in calls()
    for pid in calls():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_a_worker_that_is_killed_ends_the_run_and_no_task_is_blamed(store):
    with pytest.raises(BrokenProcessPool) as caught:
        run_tasks([partial(tasks.dying), partial(tasks.value, 1)], store, jobs=1)
    assert str(caught.value).startswith("A worker was killed. Perhaps memory ran out.")
    assert str(caught.value).endswith("finished evaluations are kept.")


def test_a_server_of_workers_that_is_killed_is_said(store, monkeypatch):
    def broken(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(module.concurrent.futures.ProcessPoolExecutor, "submit", broken)
    with pytest.raises(BrokenProcessPool, match=r"The server of the workers was killed.*finished evaluations are kept"):
        run_tasks([partial(tasks.value, 1)], store, jobs=1)


def test_where_all_is_found_no_worker_starts(calls, store, monkeypatch):
    two = [partial(tasks.value, n) for n in (1, 2)]
    first = run_tasks(two, store, jobs=1)
    monkeypatch.setattr(module, "_start_workers", None)
    assert run_tasks(two, store) == first == [1, 2]


@pytest.mark.slow
def test_workers_start_once_and_take_the_missing_tasks_in_the_order_given(calls, store):
    store.call(tasks.step, 7)
    assert len(set(run_tasks([partial(tasks.worker, n) for n in range(8)], store, jobs=2))) <= 2
    before = len(calls())
    run_tasks([partial(tasks.step, n) for n in (9, 7, 1, 8, 0)], store, jobs=1)
    assert calls()[before:] == ["9", "1", "8", "0"]


def test_workers_begin_with_all_code_of_their_fingerprint_and_no_module_of_an_owner(store, monkeypatch):
    """Either may have changed since the server of the workers started: what it then makes would bear a wrong key."""
    asked, real = [], BaseContext.set_forkserver_preload
    monkeypatch.setattr(BaseContext, "set_forkserver_preload", lambda *given: asked.append(given[1]) or real(*given))
    assert (
        run_tasks(
            [partial(measure_information_loss, load(CLINIC), [Identity()]), partial(tasks.unloaded)], store, jobs=1
        )[1]
        == 0
    )
    assert asked == [["privnb.runtime._server", "privnb.evaluation._preloaded"]]


def test_workers_have_one_thread_and_leave_the_environment_as_it_was(store, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert run_tasks([partial(tasks.threads)], store, jobs=1) == [1]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_progress_counts_what_is_left_to_do(calls, store, monkeypatch):
    seen = []
    monkeypatch.setattr(module.progress, "track", lambda items, *told: seen.append(told) or items)
    store.call(tasks.value, 1)
    run_tasks([partial(tasks.value, n) for n in (1, 2, 3)], store, description="mine")
    assert seen == [("mine", 2)]


def test_no_worker_starts_for_what_takes_less_time_than_starting_one(store, monkeypatch):
    clinic, started = load(CLINIC), []
    monkeypatch.setattr(module, "share_cores", lambda: 2)
    monkeypatch.setattr(module, "_start_workers", lambda *given: started.append(given))
    two = [partial(measure_information_loss, clinic, [each]) for each in (Identity(), KMember(5))]
    assert len(run_tasks(two, store)) == 2
    assert not started
    for name, value in (("START_SECONDS", 0), ("SMALL_TABLE", 299)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            with pytest.raises(TypeError, match="context manager"):
                run_tasks([partial(measure_information_loss, clinic, [LaplaceNoise(0.5)])], store)
    with monkeypatch.context() as patch:
        patch.setattr(privnb, "BEGAN", 0)  # a file was written since: what is loaded may be older than its key
        with pytest.raises(TypeError, match="context manager"):
            run_tasks([partial(measure_information_loss, clinic, [LaplaceNoise(0.5)])], store)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with pytest.raises(TypeError, match="context manager"):
        run_tasks([partial(measure_information_loss, clinic, [LaplaceNoise(0.5)])], store)
    assert len(started) == 4


def test_where_another_notebook_has_the_other_core_no_worker_starts_until_it_ends(store, monkeypatch, tmp_path):
    clinic, started, shared = load(CLINIC), [], tmp_path / "sharing"
    monkeypatch.setattr(module, "SMALL_TABLE", 0)
    monkeypatch.setattr(module, "_start_workers", lambda jobs, *given: started.append(jobs))
    monkeypatch.setattr(processes, "usable_cores", lambda: 3)
    monkeypatch.setenv(processes.SHARED, str(shared))
    shared.write_text("3")
    tasks = [
        partial(measure_information_loss, clinic, [each]) for each in (Identity(), KMember(5), KMember(6), KMember(7))
    ]
    assert len(run_tasks(tasks[:2], store)) == 2
    assert not started

    def ends(items, *told):
        for item in items:
            yield item
            shared.write_text("2")

    monkeypatch.setattr(module.progress, "track", ends)
    with pytest.raises(TypeError, match="context manager"):
        run_tasks(tasks, store)
    assert started == [1], "two cores are free for the one task that is left"
    assert store._read(store.key(measure_information_loss, clinic, [KMember(6)])) is not None


@pytest.mark.parametrize(("said", "own"), [("2", 2), ("3", 1), ("7", 1), ("0", 3), ("", 3), (None, 3)])
def test_the_cores_of_a_process_are_its_share(monkeypatch, tmp_path, said, own):
    monkeypatch.setattr(processes, "usable_cores", lambda: 3)
    monkeypatch.setenv(processes.SHARED, str(tmp_path / "sharing"))
    if said is not None:
        (tmp_path / "sharing").write_text(said)
    assert processes.share_cores() == own


@pytest.mark.parametrize("jobs", [1, None])
def test_tasks_note_no_steps_of_their_own(store, monkeypatch, tmp_path, jobs):
    monkeypatch.setenv(module.progress.FILE, str(tmp_path / "notes"))
    monkeypatch.setattr(module.progress, "SECONDS", 0)
    run_tasks([partial(measure_information_loss, load(CLINIC), [KMember(5)])], store, jobs=jobs)
    notes = [json.loads(line) for line in (tmp_path / "notes").read_text(encoding="utf-8").splitlines()]
    assert [note["step"] for note in notes if "step" in note] == ["evaluate", "evaluate", ""]


def test_jobs_must_be_a_number_from_one(store):
    with pytest.raises(ValueError, match="got 0"):
        run_tasks([], store, jobs=0)


def test_the_folder_keeps_itself_out_of_git(store):
    assert (store.folder / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert {path.name for path in store.folder.iterdir()} == {"CACHEDIR.TAG", ".gitignore"}


def test_a_folder_of_other_things_is_refused_and_left_alone(tmp_path):
    (tmp_path / "data.csv").write_text("a", encoding="utf-8")
    with pytest.raises(ValueError, match="holds files other than results"):
        Store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
