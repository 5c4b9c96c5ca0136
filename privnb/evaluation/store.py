"""Results that outlive a run: each evaluation is kept under the content of what went into it, and made only once.

A run killed at any moment goes on where it stopped, with the same numbers to the last digit. Only tidy results and
single numbers are kept, never records, releases or guesses about persons. (joblib's Memory keeps whatever a function
returns, pickles its key, so that a column's dtype changes it, and notices a change of that one function only.)
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
from privnb.evaluation.content import OfThisProcess, content, fingerprint, sealed, unchanged
from privnb.evaluation.results import COLUMNS
from privnb.runtime import expect, processes, progress
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.processes import ENVIRONMENT, own_cores
from privnb.runtime.unfinished import atomic_write

Folder = Annotated[
    str | os.PathLike[str],
    lambda name, value: expect.kind(name, value, str, os.PathLike, instead="Name a folder; empty: none."),
]

SMALL, SECONDS = 2_000, 6  # records of tables that are begun with at once, for as long as workers take to start
LIBRARIES = ("privnb.evaluation._preloaded",)  # they load in seconds
TAG = "CACHEDIR.TAG"  # by its standard name, so that backups leave the folder out
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# Results of privnb. Remove the folder to forget them.\n"
KILLED = "Perhaps it was for want of memory. Try fewer jobs; what is finished stays."
ENTRY = ".result"
Result = TypeVar("Result")
Task = partial[Any]
Places = list[int]  # of tasks
Entry = Any  # a number, or the type and the cells of each column of tidy results
Made = tuple[Entry, str]  # an entry, and why it could not be kept


@dataclass(frozen=True)
class Store:
    """Results in files of `folder`, one an evaluation; several processes may use it at once.

    The folder is made where it is missing, and keeps itself out of Git. Raises ValueError for one that holds other
    things.
    """

    folder: str | os.PathLike[str]

    def __post_init__(self) -> None:
        folder = Path(self.folder).resolve()
        object.__setattr__(self, "folder", folder)
        check(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # results are as private as their data
        for name, text in ((TAG, TAG_TEXT), (".gitignore", "*\n")):
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")

    def call(self, function: Callable[..., Result], *inputs: Any, **options: Any) -> Result:
        """What `function(*inputs, **options)` returns: tidy results or a number, from the folder if it is there.

        `function` must draw from the seeds that it is given alone. An entry that is damaged counts as missing; a
        result that cannot be written is returned and not kept, which `progress.say` says once. Raises TypeError for
        inputs without a content (see `content`) and for any other result, which is not kept.
        """
        key = self.key(function, *inputs, **options)
        entry, trouble = self._found_or_made(key, function, inputs, options)
        progress.say(trouble)
        return _results([entry])[0]

    def _found_or_made(
        self, key: str, function: Callable[..., Result], inputs: Iterable[Any], options: Mapping[str, Any]
    ) -> tuple[Entry, str]:
        """The entry, and why it could not be kept ("" if it is)."""
        entry, trouble = self._read(key), ""
        if entry is None:
            text = _encoded(function(*inputs, **options))
            entry = _decoded(text)  # of a new result too: what a first run returns is what a later one reads
            try:
                self._write(key, text)
            except OSError as error:
                trouble = f"{self.folder} keeps no more results ({error.strerror or error}); the run goes on without."
        return entry, trouble

    def key(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> str:
        """The name of an evaluation, 64 hexadecimal digits: of the function, its arguments and the code beneath.

        An argument counts the same whether given by place, by name or by default.
        """
        given = inspect.signature(function).bind(*inputs, **options)
        given.apply_defaults()
        return sealed(fingerprint(), content(function), content(given.arguments)).hex()

    def _read(self, key: str) -> Entry | None:
        """What an entry holds, see `_decoded`; None where there is none, or one that is damaged."""
        try:
            checksum, _, text = (Path(self.folder) / f"{key}{ENTRY}").read_bytes().partition(b"\n")
            return _decoded(text) if checksum == _checksum(key, text) else None
        except (OSError, ValueError, TypeError):
            return None

    def _write(self, key: str, text: bytes) -> None:
        """Whole or not at all. Of two processes that write the same entry, the later replaces it by its equal."""
        atomic_write(Path(self.folder) / f"{key}{ENTRY}", _checksum(key, text) + b"\n" + text, 0o600)


def check(folder: str | os.PathLike[str]) -> None:
    """Raise ValueError for a folder that cannot keep results: a file, or one that holds other things."""
    folder = Path(folder).resolve()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder, so it cannot keep results. Choose an empty folder or a new one.")
    # The tag comes first, so that nothing of ours lies in a folder without it.
    if folder.exists() and any(folder.iterdir()) and not (folder / TAG).exists():
        raise UsageError(f"{folder} holds other things than results. Choose an empty folder or a new one.")


def run(tasks: Iterable[Task], store: Store, *, jobs: int | None = None, description: str = "evaluate") -> list[Any]:
    """The results of independent `tasks`, in their order; those that `store` has are not computed again.

    `tasks`: `functools.partial` objects such as `partial(good_utility, dataset, [KMember(2)])`, equal ones computed
    once. Tasks whose function says `shared = 3` and that have their first three inputs in common, which say a release,
    are given to one process. `jobs`: processes at a time, which changes no number. None: one per core that is this
    process's to use, and none beside this one where that is a single core, or as long as small tables take less than
    it takes to start them. Progress is shown by `progress.track`, whose bars
    tell the time left. The first error stops the run and is raised, with the task's place in a note; what is finished
    stays. Nobody waits then, nor after an interrupt, for what the others are at. A task with a method that a notebook's
    cell defines is computed in this process, last, and not kept.
    """
    tasks = list(tasks)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise UsageError(f"jobs is how many processes run at a time, got {jobs!r}. Give 1 or more.")
    keys = [_key_or_none(store, task) for task in tasks]
    places = {key: place for place, key in reversed(list(enumerate(keys))) if key is not None}
    found = {key: entry for key in places if (entry := store._read(key)) is not None}
    names = {place: key for key, place in places.items()}
    missing = sorted(place for place, key in names.items() if key not in found)
    if missing:
        groups: dict[Hashable, Places] = {}
        for place in missing:
            groups.setdefault(_shared(place, tasks[place]), []).append(place)
        made = _evaluated(list(groups.values()), jobs, store, tasks)
        with contextlib.closing(made):
            for group, results in progress.track(made, description, len(groups)):
                for place, (entry, trouble) in zip(group, results, strict=True):
                    found[names[place]] = entry
                    progress.say(trouble)
    own = [place for place, key in enumerate(keys) if key is None]
    if own:
        progress.say(
            "Methods of a notebook's cell are computed in this process, and their results are not kept. Define them in "
            "a file that the notebook imports to have them kept."
        )
    entries: dict[int, Entry] = {}
    for place in progress.track(own, description) if own else ():
        with progress.silent():
            entries[place] = _decoded(_encoded(tasks[place]()))
    return _results([entries[place] if key is None else found[key] for place, key in enumerate(keys)])


def _key_or_none(store: Store, task: Task) -> str | None:
    """The key of a task; None for one with a method that no other process can import."""
    try:
        return store.key(task.func, *task.args, **task.keywords)
    except OfThisProcess:
        return None


def _as_a_worker() -> bool:
    """Whether this process computes as a worker does, and by the code that a worker would load."""
    return all(os.environ.get(name) == value for name, value in ENVIRONMENT.items()) and unchanged()


def _small(tasks: Sequence[Task]) -> bool:
    tables = [given for task in tasks for given in task.args if isinstance(given, Dataset)]
    return bool(tables) and max(map(len, tables)) <= SMALL


def _evaluated(
    groups: list[Places], jobs: int | None, store: Store, tasks: Sequence[Task]
) -> Generator[tuple[Places, list[Made]], None, None]:
    """What the groups of places come to, as they are finished: (places, [(entry, trouble)]). The first ones are made
    here: as long as no other core is this process's, and of small tables until it has worked for some seconds.
    """
    here = jobs is None and _as_a_worker()
    begun = time.process_time()  # not the clock's: on a busy machine workers take longer to start, too
    seconds = SECONDS if _small(tasks) else 0
    while here and groups and (own_cores() == 1 or time.process_time() - begun < seconds):
        group = groups.pop(0)
        with progress.silent():
            made = [_made(place, store, tasks[place], len(tasks)) for place in group]
        yield group, made
    if not groups:
        return
    missing = {place: tasks[place] for group in groups for place in group}
    with _workers(min(jobs or own_cores(), len(groups)), store, missing) as workers:
        try:
            with processes.without_script():
                futures = {workers.submit(_evaluate, group, len(tasks)): group for group in groups}
        except (ConnectionError, EOFError) as error:
            raise BrokenProcessPool(f"The server of the workers was killed. {KILLED}") from error
        for future in concurrent.futures.as_completed(futures):
            try:
                yield futures[future], future.result()
            except (BrokenProcessPool, ConnectionError, EOFError) as error:  # whose task it was is not known
                raise BrokenProcessPool(f"A worker was killed. {KILLED}") from error


def _shared(place: int, task: Task) -> Hashable:
    """What the tasks of one process have in common: those inputs, by identity; a task that shares none is alone."""
    inputs = getattr(task.func, "shared", 0)
    return (task.func, *map(id, task.args[:1]), *task.args[1:inputs]) if inputs else place


@contextlib.contextmanager
def _workers(jobs: int, store: Store, tasks: Mapping[int, Task]) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    with processes.served(*LIBRARIES) as context:
        theirs, ours = context.Pipe(duplex=False)
        # Each worker gets all the tasks at once, so that a dataset which they share is sent and kept once.
        given = theirs, dict(os.environ), store, tasks
        workers = concurrent.futures.ProcessPoolExecutor(jobs, context, _begin, given)
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

_given: dict[str, Any] = {}  # the store and the tasks, `{place: task}`


def _begin(parent: Connection, environment: dict[str, str], store: Store, tasks: Mapping[int, Task]) -> None:
    """No bars of its own; and the end as soon as the parent closes its side of the pipe, by an error or by dying."""
    os.environ.clear()  # a server's is that of the first run
    os.environ.update(environment | {progress.FILE: os.devnull})
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt reaches the parent too, which decides
    if environment.get(progress.FILE):  # a report's: the server that it is a copy of has the report's terminal
        processes.silence()
    _given.update(store=store, tasks=tasks)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            parent.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _evaluate(places: Places, many: int) -> list[Made]:
    return [_made(place, _given["store"], _given["tasks"][place], many) for place in places]


def _made(place: int, store: Store, task: Task, many: int) -> Made:
    # The key is made anew: had the code changed since the run began, the result would belong to another one.
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


def _encoded(value: object) -> bytes:
    """Tidy results or a number as JSON, whose floats are exact. Raises TypeError for anything else."""
    if isinstance(value, pd.DataFrame) and list(value.columns) == COLUMNS:
        columns = [(str(value[name].dtype), [_plain(cell) for cell in value[name].tolist()]) for name in COLUMNS]
        if all(dtype in DTYPES and all(type(cell) in PLAIN for cell in cells) for dtype, cells in columns):
            return json.dumps(columns).encode()
    elif type(_plain(value)) in (bool, int, float):
        return json.dumps(_plain(value)).encode()
    raise UsageTypeError(
        f"only tidy results (the columns {', '.join(COLUMNS)}, with numbers and texts in them) and single numbers are "
        f"stored, got a {type(value).__name__}: records, releases and guesses about persons are not. Return results."
    )


def _plain(cell: object) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _decoded(text: bytes) -> Entry:
    """A number, or of tidy results the type and the cells of each column."""
    value = json.loads(text)
    if type(value) in (bool, int, float):
        return value
    if isinstance(value, list) and len(value) == len(COLUMNS) and len({len(cells) for _, cells in value}) == 1:
        return value
    raise UsageError("neither results nor a number")


def _results(entries: Sequence[Entry]) -> list[Any]:
    """Numbers as they are, and tidy results as tables. Those with columns of the same types are made at once and
    divided: two dozen Series per table take longer than most evaluations.
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
        table = pd.concat([_alike(dtype, columns) for dtype, columns in kinds.items()], axis=1)[COLUMNS]
        end = 0
        for place in places:
            begin, end = end, end + len(entries[place][0][1])
            found[place] = table.iloc[begin:end]
            found[place].index = pd.RangeIndex(end - begin)
    return found


def _alike(dtype: str, columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Columns of one type as a table."""
    plain = dtype if dtype in NUMERIC else object
    return pd.DataFrame(np.array([*columns.values()], dtype=plain).T, columns=[*columns], dtype=dtype)
