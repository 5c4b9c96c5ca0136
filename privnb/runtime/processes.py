"""What the environment says in each process that computes, be it a kernel or a worker, and how people start one."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import multiprocessing.util
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from privnb.runtime import unfinished

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

# One thread: sums of floats come out the same for any number of jobs, and jobs do not fight for cores.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SHARED = "PRIVNB_SHARED"  # names the file that says how many notebooks of a report run now; set for their kernels
SERVER = "PRIVNB_SERVER"  # set for the server of `served`
ENVIRONMENT = {**dict.fromkeys(THREADS, "1"), "PYTHONHASHSEED": "0"}
LEAST = 1_000_000_000  # bytes of addresses that a command needs, measured on 500 records
ROOMY = 2_000_000_000  # bytes of addresses for each core, with which libraries reserve what they like
M_ARENA_MAX = -8  # of mallopt
# The files of a control group that say what it may take, what it takes, and what of that it can give back.
FIRST_GROUPS = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
SECOND_GROUPS = ("memory.max", "memory.current", "inactive_file")
FRUGAL = {**dict.fromkeys(THREADS, "1"), "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def wants_memory(error: BaseException | None) -> bool:
    """Return whether the system refused memory to this process, or a thread, which takes memory."""
    while error is not None:
        said = str(error)
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, RuntimeError) and "can't start new thread" in said)
            or (isinstance(error, ImportError) and ("failed to map segment" in said or "allocate memory" in said))
            or type(error).__name__ == "OutOfMemoryException"  # the engine's
        ):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


def memory_limit() -> str:
    """Return how much memory the system lets this process address, as the end of a sentence; empty for no limit."""
    most = _address_limit()
    if most is None:
        return ""
    needs = f", and a command needs at least {LEAST / 1e6:,.0f} MB" if most < LEAST else ""
    return f": the system limits this process to {most / 1e6:,.0f} MB of addresses (`ulimit -v`){needs}"


def fit_to_limit() -> None:
    """Keep a command within the addresses that the system allows it (`ulimit -v`), or refuse it.

    Libraries that cannot reserve addresses end the process, where none of ours can say why. Below what all cores
    want, they get one thread, and memory as it is needed. For this process and those that it starts; call it before the
    libraries are loaded.

    Raises
    ------
    MemoryError
        If the limit is below what the smallest table needs.
    """
    most = _address_limit()
    if most is None or most >= ROOMY * usable_cores():
        return
    if most < LEAST:
        raise MemoryError
    os.environ.update(FRUGAL)
    with contextlib.suppress(OSError, AttributeError, TypeError):  # other libraries of C
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)  # FRUGAL comes too late for this process


def _address_limit() -> int | None:
    with contextlib.suppress(ImportError):  # Windows has none
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        return None if most == resource.RLIM_INFINITY else most
    return None


def available_memory() -> int:
    """Return how many bytes this process can still take: what the machine, the limits of its control groups and the
    system's limit on addresses leave, whichever is least.
    """
    left = []
    with contextlib.suppress(OSError, ValueError, IndexError):  # no Linux
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        left += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    if not left:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            left.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    left += left_in_groups()
    if (most := _address_limit()) is not None:
        left.append(most - LEAST // 2)  # libraries reserve addresses that they do not use
    return max(min(left, default=0), 0)


def left_in_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Return what the control groups of this process, such as a container's, leave it: bytes, one number per limit.

    Parameters
    ----------
    root : Path
        Where the groups are mounted.
    own : Path
        The file that names the groups of this process.
    """
    found = []
    with contextlib.suppress(OSError, ValueError):
        for line in own.read_text(encoding="utf-8").splitlines():
            _, kinds, place = line.split(":", 2)
            if kinds and "memory" not in kinds.split(","):
                continue
            base = root / "memory" if kinds else root  # of the first version of control groups, and of the second
            names = FIRST_GROUPS if kinds else SECOND_GROUPS
            folder = base / place.strip("/")
            # Each group above limits it, too; in a container the top one is all that it sees.
            for each in (base, *(above for above in (folder, *folder.parents) if base in above.parents)):
                found += _left_in(each, *names)
    return found


def _left_in(folder: Path, limit: str, usage: str, cache: str) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        most = int((folder / limit).read_text(encoding="ascii"))  # "max" is no number
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        freed = sum(int(line.split()[1]) for line in lines if line.startswith(f"{cache} "))
        return [most - int((folder / usage).read_text(encoding="ascii")) + freed]
    return []


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def own_cores() -> int:
    """Return how many of them are this process's to use, at least 1: all, or in a report its share among the notebooks
    that run now.
    """
    sharing = 1
    with contextlib.suppress(KeyError, OSError, ValueError):
        sharing = max(1, int(Path(os.environ[SHARED]).read_text(encoding="utf-8")))
    return -(-usable_cores() // sharing)


@contextlib.contextmanager
def served(*libraries: str) -> Iterator[SpawnContext | ForkServerContext]:
    """Give the context to start processes in that compute: while it lasts the environment is theirs, and a server has
    loaded the libraries once.

    A fork of this process would copy threads that are in the middle of something. The server is of the first who asks,
    with the libraries that they name; an owner's modules are not among them, for one that is changed between two runs
    would stay in the server as it was. That workers are copies of a server is not left to joblib, whose loky begins
    each by itself: two of them took 12 seconds of processor to load the libraries in every run, and copies 0.2.
    """
    _find_room_for_sockets()
    theirs = {**ENVIRONMENT, SERVER: "1"}
    before = {name: os.environ.get(name) for name in theirs}
    os.environ.update(theirs)  # here, for the server has loaded numpy before any code of ours runs in it
    known = "forkserver" in multiprocessing.get_all_start_methods()
    context: SpawnContext | ForkServerContext
    context = multiprocessing.get_context("forkserver") if known else multiprocessing.get_context("spawn")
    context.set_forkserver_preload(["privnb.runtime._server", *libraries])
    try:
        yield context
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextlib.contextmanager
def without_script() -> Iterator[None]:
    """Hide the script that runs this process from the processes that are started inside.

    Python's multiprocessing imports that script in each new process, and so runs all of it again unless its author
    wrote `if __name__ == "__main__":`. Workers compute functions of the package alone and do not need it.
    """
    script = vars(sys.modules["__main__"])
    hidden = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        script.update({"__spec__": None} | hidden)


def begin_to_serve(*libraries: str) -> None:
    """Start the server of `served` and do not wait: it loads the libraries while this process does something else."""
    with served(*libraries) as context:
        if context.get_start_method() == "forkserver":
            from multiprocessing.forkserver import ensure_running  # not on Windows

            ensure_running()


def silence() -> None:
    """Show nothing of what this process or a library prints from now on, and ask it nothing."""
    silent = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(silent, number)


@functools.cache
def _find_room_for_sockets() -> None:
    """Give multiprocessing a folder for its sockets within one of ours, which the next process removes if this one is
    killed. Paths of sockets have at most 103 bytes, of which the names below the folder for temporary files take 70:
    in place of a longer one /tmp is taken.
    """
    asked = tempfile.gettempdir()
    beside = asked if len(os.fsencode(asked)) <= 33 else "/tmp"
    stack = contextlib.ExitStack()
    place = stack.enter_context(unfinished.folder(Path(beside)))
    multiprocessing.util.Finalize(None, stack.close, exitpriority=-200)  # after multiprocessing's own folder, -100
    try:
        tempfile.tempdir = str(place)
        multiprocessing.util.get_temp_dir()
    finally:
        tempfile.tempdir = asked
