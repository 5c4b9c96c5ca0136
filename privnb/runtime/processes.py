"""The environment of the processes that compute (kernels and workers), the start of workers, and memory limits."""

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

from privnb.runtime import temporary

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

# With one thread, sums of floats are the same for any number of jobs, and jobs do not compete for cores.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SHARED = "PRIVNB_SHARED"  # path of the file with the number of running notebooks of a report; set for their kernels
SERVER = "PRIVNB_SERVER"  # set for the server of `served`
ENVIRONMENT = {**dict.fromkeys(THREADS, "1"), "PYTHONHASHSEED": "0"}
LEAST = 1_000_000_000  # bytes of addresses that a command needs, measured on 500 records
ROOMY = 2_000_000_000  # bytes of addresses per core with which libraries can reserve memory freely
M_ARENA_MAX = -8  # of mallopt
# The files of a control group with its limit, its usage, and the part of the usage that it can free.
FIRST_GROUPS = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
SECOND_GROUPS = ("memory.max", "memory.current", "inactive_file")
FRUGAL = {**dict.fromkeys(THREADS, "1"), "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error means that the system did not give this process the memory or the thread it requested."""
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


def describe_memory_limit() -> str:
    """Return the end of a sentence, which states the limit on the addresses of this process; empty without a limit."""
    most = _address_limit()
    if most is None:
        return ""
    needs = f", and a command needs at least {LEAST / 1e6:,.0f} MB" if most < LEAST else ""
    return f": the system limits this process to {most / 1e6:,.0f} MB of addresses (`ulimit -v`){needs}"


def fit_to_limit() -> None:
    """Keep a command within the limit on the addresses of this process (`ulimit -v`), or raise an error.

    A library that cannot reserve addresses ends the process before privnb can explain the reason. If the limit is too
    low for one thread per core, each library uses only one thread and reserves memory only when it needs memory. The
    settings apply to this process and its child processes. Call this function before the libraries are loaded.

    Raises
    ------
    MemoryError
        If the limit is too low even for the smallest table.
    """
    most = _address_limit()
    if most is None or most >= ROOMY * usable_cores():
        return
    if most < LEAST:
        raise MemoryError
    os.environ.update(FRUGAL)
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)  # the environment variables in FRUGAL come too late for this process


def _address_limit() -> int | None:
    with contextlib.suppress(ImportError):  # Windows has no such module
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        return None if most == resource.RLIM_INFINITY else most
    return None


def available_memory() -> int:
    """Return the number of bytes that this process can still allocate.

    The number is the smallest of three numbers: the free memory of the machine, the memory that the control groups
    still allow, and the memory that the limit on addresses still allows.
    """
    left = []
    with contextlib.suppress(OSError, ValueError, IndexError):  # no Linux
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        left += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    if not left:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            left.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    left += read_group_memory()
    if (most := _address_limit()) is not None:
        left.append(most - LEAST // 2)  # libraries reserve addresses that they do not use
    return max(min(left, default=0), 0)


def read_group_memory(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Return the number of bytes that each control group of this process, such as that of a container, still allows.

    Parameters
    ----------
    root : Path
        The folder at which the control groups are mounted.
    own : Path
        The file that lists the control groups of this process.
    """
    found = []
    with contextlib.suppress(OSError, ValueError):
        for line in own.read_text(encoding="utf-8").splitlines():
            _, kinds, place = line.split(":", 2)
            if kinds and "memory" not in kinds.split(","):
                continue
            base = root / "memory" if kinds else root  # the first and the second version of control groups
            names = FIRST_GROUPS if kinds else SECOND_GROUPS
            folder = base / place.strip("/")
            # Each group above limits the process, too; a process in a container sees only the top group.
            for each in (base, *(above for above in (folder, *folder.parents) if base in above.parents)):
                found += _left_in(each, *names)
    return found


def _left_in(folder: Path, limit: str, usage: str, cache: str) -> list[int]:
    with contextlib.suppress(OSError, ValueError):
        most = int((folder / limit).read_text(encoding="ascii"))  # "max" is not a number
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        freed = sum(int(line.split()[1]) for line in lines if line.startswith(f"{cache} "))
        return [most - int((folder / usage).read_text(encoding="ascii")) + freed]
    return []


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_cores() -> int:
    """Return the number of cores that this process should use, at least 1.

    Outside a report, the result is the number of usable cores. In a report, the running notebooks share these cores
    equally.
    """
    sharing = 1
    with contextlib.suppress(KeyError, OSError, ValueError):
        sharing = max(1, int(Path(os.environ[SHARED]).read_text(encoding="utf-8")))
    return -(-usable_cores() // sharing)


@contextlib.contextmanager
def start_workers(*libraries: str) -> Iterator[SpawnContext | ForkServerContext]:
    """Yield a context of multiprocessing that starts worker processes.

    Inside the `with` statement, the environment variables are those of the workers.

    A server process loads the libraries once, and each worker is a fork of the server. Workers are not forks of this
    process, because such a fork would copy threads in the middle of their work. The first call decides which libraries
    the server loads. The libraries must not include modules of the user, because the server would keep the old version
    of a module that changes between two runs. The module does not use loky from joblib, because each worker of loky
    loads the libraries again: two workers took 12 seconds of processor time in every run, while two forks take 0.2
    seconds.
    """
    _find_room_for_sockets()
    theirs = {**ENVIRONMENT, SERVER: "1"}
    before = {name: os.environ.get(name) for name in theirs}
    os.environ.update(theirs)  # set here, because the server loads numpy before any code of privnb runs in it
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
def hide_script() -> Iterator[None]:
    """Hide the script that runs this process from the processes that are started inside the `with` statement.

    Python's multiprocessing imports the script in each new process, so the whole script would run again unless its
    author has written `if __name__ == "__main__":`. Workers call only functions of the package and do not need the
    script.
    """
    script = vars(sys.modules["__main__"])
    hidden = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        script.update({"__spec__": None} | hidden)


def preload_server(*libraries: str) -> None:
    """Start the server of `start_workers` without waiting for it; the server loads libraries in the background."""
    with start_workers(*libraries) as context:
        if context.get_start_method() == "forkserver":
            from multiprocessing.forkserver import ensure_running  # Windows has no such module

            ensure_running()


def silence_output() -> None:
    """Discard all further output of this process and of its libraries, and close the input of this process."""
    silent = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(silent, number)


@functools.cache
def _find_room_for_sockets() -> None:
    """Let multiprocessing put the folder of its sockets into a temporary folder of privnb.

    If this process is killed, the next process of privnb removes the folder. The path of a socket can have at most 103
    bytes, of which the names below the system's temporary folder take 70 bytes. If the path would be longer, /tmp is
    used instead of the system's temporary folder.
    """
    asked = tempfile.gettempdir()
    parent = asked if len(os.fsencode(asked)) <= 33 else "/tmp"
    stack = contextlib.ExitStack()
    place = stack.enter_context(temporary.temporary_folder(Path(parent)))
    multiprocessing.util.Finalize(None, stack.close, exitpriority=-200)  # after multiprocessing's own folder, -100
    try:
        tempfile.tempdir = str(place)
        multiprocessing.util.get_temp_dir()
    finally:
        tempfile.tempdir = asked
