"""A store of results: each evaluation is stored under a digest of its inputs and computed only once.

After a run is killed, the next run continues where it stopped, and computes the same numbers to the last digit. Only
tidy results and single numbers are stored, never records, releases or guesses about people. The store does not use
joblib's `Memory`, because `Memory` stores any return value, uses a key that depends on the dtype of a column, and
notices only changes of the function itself.
"""

import concurrent.futures
import contextlib
import hashlib
import inspect
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.digests import NotImportable, digest, digest_bytes, fingerprint, is_unchanged
from privnb.evaluation.results import COLUMNS
from privnb.runtime import expect, processes, progress
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.processes import ENVIRONMENT, share_cores
from privnb.runtime.temporary import atomic_write

Folder = Annotated[
    str | os.PathLike[str],
    lambda name, value: expect.kind(name, value, str, os.PathLike, instead="Name a folder; empty: none."),
]

SMALL_TABLE, START_SECONDS = (
    2_000,
    6,
)  # records of tables that are begun with at once, for as long as workers take to start
LIBRARIES = ("privnb.evaluation._preloaded",)  # modules that take seconds to load
TAG = "CACHEDIR.TAG"  # by its standard name, so that backups leave the folder out
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of privnb. Remove the folder to forget them.\n"
KILLED_ADVICE = "Perhaps memory ran out. Try fewer jobs; finished evaluations are kept."
ENTRY = ".result"
Result = TypeVar("Result")
Task = partial[Any]
Places = list[int]  # of tasks
Entry = Any  # a number, or the type and the cells of each column of tidy results
Made = tuple[Entry, str]  # an entry, and why it could not be kept


@dataclass(frozen=True)
class Store:
    """Results in files of `folder`, one file per evaluation; several processes may use the folder at once.

    The folder is created if it is missing, and Git ignores it. A folder that contains other files is refused.
    """

    folder: str | os.PathLike[str]

    def __post_init__(self) -> None:
        folder = Path(self.folder).resolve()
        object.__setattr__(self, "folder", folder)
        check_folder(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # results are as private as their data
        for name, text in ((TAG, TAG_TEXT), (".gitignore", "*\n")):
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")

    def call(self, function: Callable[..., Result], *inputs: Any, **options: Any) -> Result:
        """Return the result of `function(*inputs, **options)`; read it from the folder if the folder has it.

        `function` must draw random numbers only from the seeds among its arguments. A damaged entry counts as missing.
        If a result cannot be written, it is returned but not stored, and a warning reports this once.

        Raises
        ------
        UsageTypeError
            For an input that has no digest, and for a result other than tidy results or a number, because such a result
            is not stored.
        """
        key = self.key(function, *inputs, **options)
        entry, trouble = self._found_or_made(key, function, inputs, options)
        progress.warn_once(trouble)
        return _build_results([entry])[0]

    def _found_or_made(
        self, key: str, function: Callable[..., Result], inputs: Iterable[Any], options: Mapping[str, Any]
    ) -> tuple[Entry, str]:
        """Return the entry, and the reason why the entry could not be stored ("" if it is stored)."""
        entry, trouble = self._read(key), ""
        if entry is None:
            text = _encode(function(*inputs, **options))
            entry = _decode(text)  # decode a new result, too, so that the first run returns what a later run reads
            try:
                self._write(key, text)
            except OSError as error:
                trouble = (
                    f"{self.folder} cannot keep more results ({error.strerror or error}); the run continues without it."
                )
        return entry, trouble

    def key(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
        """Return the name of an evaluation: 64 hexadecimal digits.

        The name depends on the function, its arguments and the package's code. The name is the same whether an argument
        is given by position, by name or by default.
        """
        given = inspect.signature(function).bind(*inputs, **options)
        given.apply_defaults()
        return digest_bytes(fingerprint(), digest(function), digest(given.arguments)).hex()

    def _read(self, key: str) -> Entry | None:
        """Return the content of an entry (see `_decode`); None if the entry is missing or damaged."""
        try:
            checksum, _, text = (Path(self.folder) / f"{key}{ENTRY}").read_bytes().partition(b"\n")
            return _decode(text) if checksum == _checksum(key, text) else None
        except (OSError, ValueError, TypeError):
            return None

    def _write(self, key: str, text: bytes) -> None:
        """Write an entry completely or not at all.

        If two processes write the same entry, the later process replaces the file with an equal file.
        """
        atomic_write(Path(self.folder) / f"{key}{ENTRY}", _checksum(key, text) + b"\n" + text, 0o600)


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise an error for a folder that cannot store results: a file, or a folder that contains other files."""
    folder = Path(folder).resolve()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} must be a folder for results; got a file. Choose an empty folder or a new one.")
    # The tag is written first, so that no folder has results without a tag.
    if folder.exists() and any(folder.iterdir()) and not (folder / TAG).exists():
        raise UsageError(f"{folder} holds files other than results. Choose an empty folder or a new one.")


def run_tasks(
    tasks: Iterable[Task], store: Store, *, jobs: int | None = None, description: str = "evaluate"
) -> list[Any]:
    """Return the results of independent `tasks`, in the order of the tasks; do not repeat tasks with stored results.

    `tasks` are `functools.partial` objects such as `partial(measure_good_utility, dataset, [KMember(2)])`; equal tasks
    are computed once. If a task's function has the attribute `shared = 3`, tasks with the same first three inputs,
    which determine a release, run in one process. `jobs` is the number of processes that run at a time; it does not
    change any result. If `jobs` is None, there is one process per available core. Only this process is used if there is
    a single core, or while the tasks of small tables take less time than starting workers. `progress.track` shows the
    progress and the remaining time.

    The first error stops the run and is raised, with the number of the failed task in a note. As after an interrupt,
    finished results are stored, and unfinished tasks are stopped. A task with a method that a notebook's cell defines
    runs in this process after all other tasks, and its result is not stored.
    """
    tasks = list(tasks)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise UsageError(f"`jobs` must be the number of processes that run at a time, at least 1; got {jobs!r}.")
    keys = [_key_or_none(store, task) for task in tasks]
    places = {key: place for place, key in reversed(list(enumerate(keys))) if key is not None}
    found = {key: entry for key in places if (entry := store._read(key)) is not None}
    names = {place: key for key, place in places.items()}
    missing = sorted(place for place, key in names.items() if key not in found)
    if missing:
        groups: dict[Hashable, Places] = {}
        for place in missing:
            groups.setdefault(_shared_inputs(place, tasks[place]), []).append(place)
        made = _evaluate_groups(list(groups.values()), jobs, store, tasks)
        with contextlib.closing(made):
            for group, results in progress.track(made, description, len(groups)):
                for place, (entry, trouble) in zip(group, results, strict=True):
                    found[names[place]] = entry
                    progress.warn_once(trouble)
    own = [place for place, key in enumerate(keys) if key is None]
    if own:
        progress.warn_once(
            "Methods that a notebook's cell defines run in this process, and their results are not kept. To keep them, "
            "define the methods in a file that the notebook imports."
        )
    entries: dict[int, Entry] = {}
    for place in progress.track(own, description) if own else ():
        with progress.hide_bars():
            entries[place] = _decode(_encode(tasks[place]()))
    return _build_results([entries[place] if key is None else found[key] for place, key in enumerate(keys)])


def _key_or_none(store: Store, task: Task) -> str | None:
    """Return the key of a task; None for a task with a method that no other process can import."""
    try:
        return store.key(task.func, *task.args, **task.keywords)
    except NotImportable:
        return None


def _is_like_worker() -> bool:
    """Return whether this process has the environment of a worker, and the code that a worker would load."""
    return all(os.environ.get(name) == value for name, value in ENVIRONMENT.items()) and is_unchanged()


def _is_small(tasks: Sequence[Task]) -> bool:
    tables = [given for task in tasks for given in task.args if isinstance(given, Dataset)]
    return bool(tables) and max(map(len, tables)) <= SMALL_TABLE


def _evaluate_groups(
    groups: list[Places], jobs: int | None, store: Store, tasks: Sequence[Task]
) -> Generator[tuple[Places, list[Made]], None, None]:
    """Yield (places, [(entry, trouble)]) of each group of places as soon as the group is finished.

    The first groups run in this process as long as no other core is available, or for a few seconds if the tables are
    small.
    """
    here = jobs is None and _is_like_worker()
    begun = time.process_time()  # processor time, because workers also take longer to start on a busy machine
    seconds = START_SECONDS if _is_small(tasks) else 0
    while here and groups and (share_cores() == 1 or time.process_time() - begun < seconds):
        group = groups.pop(0)
        with progress.hide_bars():
            made = [_evaluate_task(place, store, tasks[place], len(tasks)) for place in group]
        yield group, made
    if not groups:
        return
    missing = {place: tasks[place] for group in groups for place in group}
    with _start_workers(min(jobs or share_cores(), len(groups)), store, missing) as workers:
        try:
            with processes.hide_script():
                futures = {workers.submit(_evaluate, group, len(tasks)): group for group in groups}
        except (ConnectionError, EOFError) as error:
            raise BrokenProcessPool(f"The server of the workers was killed. {KILLED_ADVICE}") from error
        for future in concurrent.futures.as_completed(futures):
            try:
                yield futures[future], future.result()
            except (BrokenProcessPool, ConnectionError, EOFError) as error:  # the killed worker's task is not known
                raise BrokenProcessPool(f"A worker was killed. {KILLED_ADVICE}") from error


def _shared_inputs(place: int, task: Task) -> Hashable:
    """Return a key of the inputs that tasks in one process share; for a task that shares no input, return its place."""
    inputs = getattr(task.func, "shared", 0)
    return (task.func, *map(id, task.args[:1]), *task.args[1:inputs]) if inputs else place


@contextlib.contextmanager
def _start_workers(
    jobs: int, store: Store, tasks: Mapping[int, Task]
) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    with processes.start_workers(*LIBRARIES) as context:
        theirs, ours = context.Pipe(duplex=False)
        # Each worker receives all tasks at once, so that a shared dataset is sent and kept once.
        given = theirs, dict(os.environ), store, tasks
        workers = concurrent.futures.ProcessPoolExecutor(jobs, context, _start_worker, given)
        try:
            yield workers
        except BaseException:
            ours.close()
            raise
        finally:
            workers.shutdown(cancel_futures=True)
            ours.close()
            theirs.close()


# --- in a worker ---

_worker_state: dict[str, Any] = {}  # the store and the tasks, `{place: task}`


def _start_worker(parent: Connection, environment: dict[str, str], store: Store, tasks: Mapping[int, Task]) -> None:
    """Prepare a worker without progress bars; it ends as soon as the parent dies or closes its side of the pipe."""
    os.environ.clear()  # the server has the environment of the first run
    os.environ.update(environment | {progress.FILE: os.devnull})
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt reaches the parent too, which decides
    if environment.get(progress.FILE):  # a worker of a report is a copy of a server that has the report's terminal
        processes.silence_output()
    _worker_state.update(store=store, tasks=tasks)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _evaluate(places: Places, many: int) -> list[Made]:
    return [_evaluate_task(place, _worker_state["store"], _worker_state["tasks"][place], many) for place in places]


def _evaluate_task(place: int, store: Store, task: Task, many: int) -> Made:
    # The key is computed again. If the code changed since the run began, the result has another key.
    try:
        key = store.key(task.func, *task.args, **task.keywords)
        return store._found_or_made(key, task.func, task.args, task.keywords)
    except Exception as error:
        error.add_note(f"This was task {place + 1} of {many}, {task.func.__name__}.")
        raise


# --- what is kept ---

PLAIN = (str, bool, int, float, type(None))
NUMERIC = ("float64", "int64", "bool")
DTYPES = (*NUMERIC, "str", "object")


def _checksum(key: str, text: bytes) -> bytes:
    return hashlib.sha256(key.encode() + text).hexdigest().encode()


def _encode(value: object) -> bytes:
    """Encode tidy results or a number as JSON with exact floats; raise an error for anything else."""
    if isinstance(value, pd.DataFrame) and list(value.columns) == COLUMNS:
        columns = [(str(value[name].dtype), [_to_plain(cell) for cell in value[name].tolist()]) for name in COLUMNS]
        if all(dtype in DTYPES and all(type(cell) in PLAIN for cell in cells) for dtype, cells in columns):
            return json.dumps(columns).encode()
    elif type(_to_plain(value)) in (bool, int, float):
        return json.dumps(_to_plain(value)).encode()
    raise UsageTypeError(
        f"only tidy results (the columns {', '.join(COLUMNS)}, with numbers and texts in them) and single numbers are "
        f"stored; got a {type(value).__name__}. Return results instead of records, releases or guesses."
    )


def _to_plain(cell: object) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _decode(text: bytes) -> Entry:
    """Return a number, or the type and the cells of each column of tidy results."""
    value = json.loads(text)
    if type(value) in (bool, int, float):
        return value
    if isinstance(value, list) and len(value) == len(COLUMNS) and len({len(cells) for _, cells in value}) == 1:
        return value
    raise UsageError("neither results nor a number")


def _build_results(entries: Sequence[Entry]) -> list[Any]:
    """Return numbers as they are, and tidy results as tables.

    Tables with columns of the same types are built as one table, which is then divided, because building two dozen
    Series per table takes longer than most evaluations.
    """
    found = list(entries)
    alike: dict[tuple[str, ...], Places] = {}
    for place, entry in enumerate(entries):
        if isinstance(entry, list):
            alike.setdefault(tuple(dtype for dtype, _ in entry), []).append(place)
    for dtypes, places in alike.items():
        kinds: dict[str, dict[str, list[Any]]] = {}
        columns = zip(*(entries[place] for place in places), strict=True)
        for name, dtype, cells in zip(COLUMNS, dtypes, columns, strict=True):
            kinds.setdefault(dtype, {})[name] = list(chain.from_iterable(some for _, some in cells))
        table = pd.concat([_build_columns(dtype, columns) for dtype, columns in kinds.items()], axis=1)[COLUMNS]
        end = 0
        for place in places:
            begin, end = end, end + len(entries[place][0][1])
            found[place] = table.iloc[begin:end]
            found[place].index = pd.RangeIndex(end - begin)
    return found


def _build_columns(dtype: str, columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Return columns of one type as a table."""
    plain = dtype if dtype in NUMERIC else object
    return pd.DataFrame(np.array([*columns.values()], dtype=plain).T, columns=[*columns], dtype=dtype)
