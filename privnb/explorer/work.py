"""Slow work beside the interface: one task at a time, the latest wins, in a process that was made ready before.

Not multiprocessing's pools: those cannot kill a task, import the main script again, and start a tracker that ignores
the signal to end, so that a kernel waits half a minute for it when a notebook is done.

One module, for both ends of the pipe speak one language.
"""

import asyncio
import contextlib
import io
import os
import pickle
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from privnb.runtime import progress
from privnb.runtime.errors import PrivnbError
from privnb.runtime.processes import ENVIRONMENT

POLL = 0.05  # seconds between two looks at the process; a look takes some 0.1 ms
CHILD = "import sys; from privnb.explorer.work import _serve; _serve(int(sys.argv[1]))"
STARTING = "starting a process"
ADVICE = "Choose another setting, or the same again; all else goes on."


class Work:
    """Tasks for other processes, one at a time: a newer task ends the older one, whose result nobody sees.

    `shared`: what tasks have in common, such as the dataset. It is sent to each process once and ahead of them, so that
    a task of `partial(function, dataset, ...)` is small. Two processes at most: one at work, one in reserve with its
    imports done. They end with this object, and with the process that made it, however that ends.
    """

    def __init__(self, *shared: Any) -> None:
        self._shared = shared
        self._worker: _Worker | None = None
        self._reserve: _Worker | None = None
        self._job: _Job | None = None
        # JupyterLab has widgets answered in another thread than cells, each with an event loop of its own.
        self._lock = threading.RLock()

    def warm(self) -> None:
        """Start a process ahead of the first task, which would else wait some seconds for its imports.

        Returns at once, but for the time that it takes to pickle what is shared: a tenth of a second for Adult.
        """
        with self._lock:
            both = filter(None, (self._worker, self._reserve))
            alive = [worker for worker in both if worker.process.returncode is None]
            self._worker, self._reserve, *_ = [*(alive or [_Worker(self._sent)]), None]

    def start(
        self,
        task: Callable[[], Any],
        *,
        done: Callable[[Any], object],
        failed: Callable[[str], object],
        progress: Callable[[float | None, str], object],
    ) -> None:
        """Run `task`, a picklable function without arguments such as a `partial`; an older one is killed.

        One of `done(result)` and `failed(text)` is called once, unless a newer task or `stop` comes first; until then
        `progress(fraction, text)` on each change, `fraction` 0 to 1, or None where it is not known. All are called on
        the event loop that this is called on, so they may change widgets. `text` says what is being done and the time
        left, or what went wrong and what to do. Progress is what the task tells `progress.track`.

        Raises RuntimeError without a running event loop, which every notebook has, and PicklingError or its like for a
        task that cannot be sent.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "work needs a running event loop to report to, as notebooks have. In a script, start it within "
                "asyncio.run()."
            ) from None
        job = _Job(_pickled(task, self._shared), done, failed, progress)
        with self._lock:
            self.stop()
            self.warm()
            self._job = job
        loop.call_soon(self._tick, loop, job)

    def stop(self) -> None:
        """End the task that runs, if any, at once; none of its callbacks is called any more."""
        with self._lock:
            if self._worker is not None and self._job is not None and self._job.begun:
                self._worker.end()
                self._worker = None
            self._job = None  # one that no process has yet is just forgotten

    def close(self) -> None:
        """Stop, and end the processes; a later `start` makes new ones."""
        with self._lock:
            self.stop()
            for worker in filter(None, (self._worker, self._reserve)):
                worker.end()
            self._worker = self._reserve = None

    @cached_property
    def _sent(self) -> bytes:
        return pickle.dumps(self._shared)

    def _tick(self, loop: asyncio.AbstractEventLoop, job: "_Job") -> None:
        with self._lock:  # held during callbacks: a newer task cannot start in the middle of one
            worker = self._worker
            if job is not self._job or worker is None:
                return
            loop.call_later(POLL, self._tick, loop, job)
            for kind, value in worker.heard():
                if kind in ("done", "failed"):
                    self._job = None
                    (job.done if kind == "done" else job.failed)(value)
                    return
                worker.ready |= kind == "ready"
                job.state |= value
            if worker.process.returncode is not None:
                self._job = None
                job.failed(_ending(worker.process.returncode, job.begun))
                return
            job.tell()  # which may start a newer one
            if job is self._job and worker.ready and not job.begun:
                job.begun = True
                self._reserve = self._reserve or _Worker(self._sent)
                with contextlib.suppress(OSError):  # it has ended: the next look will tell
                    worker.line.send_bytes(job.task)


@dataclass(eq=False)
class _Job:
    """A task as bytes, who is called back, whether a process has it, how far it is, and the last message."""

    task: bytes
    done: Callable[[Any], object]
    failed: Callable[[str], object]
    progress: Callable[[float | None, str], object]
    begun: bool = False
    state: dict[str, Any] = field(default_factory=lambda: {"step": ""})
    message: tuple[float | None, str] | None = None

    def tell(self) -> None:
        message = _worded(self.state) if self.begun else (None, STARTING)
        if message != self.message:
            self.message = message
            self.progress(*message)


class _Worker:
    """A process and the line to it."""

    def __init__(self, shared: bytes) -> None:
        self.ready = False
        self.line, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CHILD, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                # It finds the modules that are found here.
                env={**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # An interrupt of the kernel is none of its business. Not a session of its own: of those Linux makes
                # each an equal, and a low priority would count for nothing.
                process_group=0,
            )
        # Neither may keep the interface waiting: to fill a pipe that is not read yet, and for a killed process to go.
        threading.Thread(target=_attend, args=(self.process, self.line, shared), daemon=True).start()
        self.end = weakref.finalize(self, self.process.kill)

    def heard(self) -> Iterator[tuple[str, Any]]:
        """What it said since the last look: pairs of "ready", "step", "done" or "failed", and what goes with it."""
        with contextlib.suppress(EOFError, OSError):
            while self.line.poll():
                yield pickle.loads(self.line.recv_bytes())


def _attend(process: subprocess.Popen[bytes], line: Connection, shared: bytes) -> None:
    with contextlib.suppress(OSError):
        line.send_bytes(shared)
    process.wait()


def _pickled(task: Callable[[], Any], shared: tuple[Any, ...]) -> bytes:
    """`task` as bytes, in which what is shared stands by its place alone."""
    file = io.BytesIO()
    _Pickler(file, shared).dump(task)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: tuple[Any, ...]) -> None:
        super().__init__(file)
        self.places = {id(each): place for place, each in enumerate(shared)}

    def persistent_id(self, thing: object) -> int | None:
        return self.places.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: tuple[Any, ...]) -> None:
        super().__init__(file)
        self.shared = shared

    def persistent_load(self, place: int) -> Any:
        return self.shared[place]


def _worded(state: Mapping[str, Any]) -> tuple[float | None, str]:
    """What a task has noted of itself, as `progress` receives it: the fraction or None, and a text."""
    if not state["step"]:
        return None, "computing"
    if not state["total"]:
        return None, state["step"]
    text, left = f"{state['step']}: {state['done']} of {state['total']}", state["left"]
    if left is not None:
        text += f", about {left / 60:.0f} min left" if left >= 60 else f", about {max(left, 1):.0f} s left"
    return state["done"] / state["total"], text


def _ending(code: int, begun: bool) -> str:
    if not begun:
        command = "python -c 'import privnb.explorer.work'"
        return f"No process could be started beside the interface (status {code}). Run `{command}` to see why."
    reason = f"signal {-code}, perhaps for want of memory" if code < 0 else f"status {code}"
    return (
        f"The process that computed this ended before it was done ({reason}). Try fewer records, a simpler miner or "
        "fewer settings at once; all else goes on."
    )


# --- in the process ---


def _serve(handle: int) -> None:
    """Get ready, then do one task after the other, until the other side closes the line, if only by being killed."""
    with contextlib.suppress(OSError):
        os.nice(10)  # the interface comes first
    line: Connection = Connection(handle)
    given: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def say(*pair: object) -> None:
        line.send_bytes(pickle.dumps(pair))

    os.environ[progress.FILE] = os.devnull  # no bars; the notes go through the line instead
    progress.note = lambda **state: say("step", state)
    threading.Thread(target=_listen, args=(line, given), daemon=True).start()
    sent, shared = given.get(), None
    with contextlib.suppress(Exception):  # the task that needs it will say so
        _prepare()
        shared = pickle.loads(sent)
    say("ready", {})
    while True:
        task = given.get()
        try:
            shared = pickle.loads(sent) if shared is None else shared
            say("done", _Unpickler(io.BytesIO(task), shared).load()())
        except Exception as error:
            say("failed", _said(error))


def _listen(line: Connection, given: queue.SimpleQueue[bytes]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            given.put(line.recv_bytes())
    os._exit(1)


def _prepare() -> None:
    """Import what a task is about to need: all of it is in functions, for it takes seconds."""
    from privnb.evaluation.predictions import miners_of
    from privnb.explorer import numbers, risks  # noqa: F401
    from privnb.sanitizers.algorithms import partitioning  # noqa: F401

    miners_of("naive Bayes")


def _said(error: Exception) -> str:
    """An error in words: the package's own are meant for people, others are named and come with what to do."""
    if isinstance(error, PrivnbError):
        return str(error)
    return f"{type(error).__name__}: {str(error) or 'no more is said'}. {ADVICE}"
