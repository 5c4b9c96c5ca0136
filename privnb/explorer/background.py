"""Slow work in a background process, which runs one task at a time; a newer task replaces an older one.

The pools of multiprocessing do not fit: they cannot kill a task, they import the main script again, and they start a
tracker that ignores the signal to end, so that a finished notebook waits half a minute for the tracker.

The module contains the code of both ends of the pipe, which share one protocol.
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
CHILD = "import sys; from privnb.explorer.background import _serve; _serve(int(sys.argv[1]))"
STARTING = "starting a process"
ADVICE = "Choose another setting, or try again; the rest keeps working."


class BackgroundWorker:
    """A runner of tasks in another process: a newer task ends the older task, whose result is dropped.

    `shared` holds the objects that the tasks have in common, such as the dataset. Each process receives these objects
    once and in advance, so that a task such as `partial(function, dataset, ...)` is small. There are at most two
    processes: one process that works, and one in reserve that has finished its imports. The processes end with this
    object, and with the process that made it.
    """

    def __init__(self, *shared: Any) -> None:
        self._shared = shared
        self._worker: _Process | None = None
        self._reserve: _Process | None = None
        self._job: _Task | None = None
        # JupyterLab runs callbacks of widgets and cells in different threads, each with its own event loop.
        self._lock = threading.RLock()

    def warm(self) -> None:
        """Start a process before the first task, which would otherwise wait some seconds for imports.

        The call takes only the time to pickle the shared objects: a tenth of a second for Adult.
        """
        with self._lock:
            both = filter(None, (self._worker, self._reserve))
            alive = [worker for worker in both if worker.process.returncode is None]
            self._worker, self._reserve, *_ = [*(alive or [_Process(self._sent)]), None]

    def start(
        self,
        task: Callable[[], Any],
        *,
        done: Callable[[Any], object],
        failed: Callable[[str], object],
        progress: Callable[[float | None, str], object],
    ) -> None:
        """Run `task`, a picklable function without arguments such as a `partial`, and kill an older task.

        Either `done(result)` or `failed(text)` is called once, unless a newer task or `stop` comes first. Until then,
        each change of the progress calls `progress(fraction, text)`, with a `fraction` from 0 to 1, or None if the
        fraction is unknown. All calls happen on the event loop of the caller, so they may change widgets. `text`
        describes the step and the time left, or the error and its remedy. The progress comes from `progress.track`
        within the task.

        Raises RuntimeError if no event loop runs (every notebook has an event loop), and an error of pickle for a task
        that cannot be sent.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "background tasks need a running event loop, which every notebook has. In a script, start the tasks "
                "within asyncio.run()."
            ) from None
        job = _Task(_pickle_task(task, self._shared), done, failed, progress)
        with self._lock:
            self.stop()
            self.warm()
            self._job = job
        loop.call_soon(self._tick, loop, job)

    def stop(self) -> None:
        """End the running task at once, if there is one; its callbacks are no longer called."""
        with self._lock:
            if self._worker is not None and self._job is not None and self._job.begun:
                self._worker.end()
                self._worker = None
            self._job = None  # a task that no process has received is dropped

    def close(self) -> None:
        """Stop the task and end the processes; a later `start` makes new ones."""
        with self._lock:
            self.stop()
            for worker in filter(None, (self._worker, self._reserve)):
                worker.end()
            self._worker = self._reserve = None

    @cached_property
    def _sent(self) -> bytes:
        return pickle.dumps(self._shared)

    def _tick(self, loop: asyncio.AbstractEventLoop, job: "_Task") -> None:
        with self._lock:  # held during callbacks, so that a newer task cannot start in the middle of one
            worker = self._worker
            if job is not self._job or worker is None:
                return
            loop.call_later(POLL, self._tick, loop, job)
            for kind, value in worker.receive():
                if kind in ("done", "failed"):
                    self._job = None
                    (job.done if kind == "done" else job.failed)(value)
                    return
                worker.ready |= kind == "ready"
                job.state |= value
            if worker.process.returncode is not None:
                self._job = None
                job.failed(_describe_end(worker.process.returncode, job.begun))
                return
            job.report()  # its callback may start a newer task
            if job is self._job and worker.ready and not job.begun:
                job.begun = True
                self._reserve = self._reserve or _Process(self._sent)
                with contextlib.suppress(OSError):  # the process has ended, which the next tick notices
                    worker.line.send_bytes(job.task)


@dataclass(eq=False)
class _Task:
    """A task as bytes, its callbacks, whether a process has received the task, its progress and its last message."""

    task: bytes
    done: Callable[[Any], object]
    failed: Callable[[str], object]
    progress: Callable[[float | None, str], object]
    begun: bool = False
    state: dict[str, Any] = field(default_factory=lambda: {"step": ""})
    message: tuple[float | None, str] | None = None

    def report(self) -> None:
        """Call `progress` if the message has changed."""
        message = _describe_progress(self.state) if self.begun else (None, STARTING)
        if message != self.message:
            self.message = message
            self.progress(*message)


class _Process:
    """A process and the connection to it."""

    def __init__(self, shared: bytes) -> None:
        self.ready = False
        self.line, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CHILD, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                # The process finds the same modules as this one.
                env={**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # An interrupt of the kernel must not reach the process. It has no session of its own, because Linux
                # treats sessions as equals and would ignore its low priority.
                process_group=0,
            )
        # The thread fills a pipe that is not read yet, and waits for a killed process, so that the interface does not.
        threading.Thread(target=_attend, args=(self.process, self.line, shared), daemon=True).start()
        self.end = weakref.finalize(self, self.process.kill)

    def receive(self) -> Iterator[tuple[str, Any]]:
        """Yield the new messages: pairs of "ready", "step", "done" or "failed", and a value."""
        with contextlib.suppress(EOFError, OSError):
            while self.line.poll():
                yield pickle.loads(self.line.recv_bytes())


def _attend(process: subprocess.Popen[bytes], line: Connection, shared: bytes) -> None:
    with contextlib.suppress(OSError):
        line.send_bytes(shared)
    process.wait()


def _pickle_task(task: Callable[[], Any], shared: tuple[Any, ...]) -> bytes:
    """Return `task` as bytes, in which each shared object is replaced by its position."""
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


def _describe_progress(state: Mapping[str, Any]) -> tuple[float | None, str]:
    """Return the arguments of the callback `progress` for the state of a task: the fraction or None, and a text."""
    if not state["step"]:
        return None, "computing"
    if not state["total"]:
        return None, state["step"]
    text, left = f"{state['step']}: {state['done']} of {state['total']}", state["left"]
    if left is not None:
        text += f", about {left / 60:.0f} min left" if left >= 60 else f", about {max(left, 1):.0f} s left"
    return state["done"] / state["total"], text


def _describe_end(code: int, begun: bool) -> str:
    if not begun:
        command = "python -c 'import privnb.explorer.background'"
        return f"The background process could not be started (status {code}). Run `{command}` to see the error."
    reason = f"signal {-code}, perhaps because memory ran out" if code < 0 else f"status {code}"
    return (
        f"The background process ended before its task was done ({reason}). Try fewer records, a simpler miner or "
        "fewer settings at once; the rest keeps working."
    )


# --- in the process ---


def _serve(handle: int) -> None:
    """Prepare, then run one task after another, until the other side closes the connection or is killed."""
    with contextlib.suppress(OSError):
        os.nice(10)  # the interface comes first
    line: Connection = Connection(handle)
    given: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def say(*pair: object) -> None:
        line.send_bytes(pickle.dumps(pair))

    os.environ[progress.FILE] = os.devnull  # no bars; progress goes through the connection instead
    progress.note = lambda **state: say("step", state)
    progress.note_steps()
    threading.Thread(target=_listen, args=(line, given), daemon=True).start()
    sent, shared = given.get(), None
    with contextlib.suppress(Exception):  # the task that needs it will raise the error again
        _prepare()
        shared = pickle.loads(sent)
    say("ready", {})
    while True:
        task = given.get()
        try:
            shared = pickle.loads(sent) if shared is None else shared
            say("done", _Unpickler(io.BytesIO(task), shared).load()())
        except Exception as error:
            say("failed", _describe_error(error))


def _listen(line: Connection, given: queue.SimpleQueue[bytes]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            given.put(line.recv_bytes())
    os._exit(1)


def _prepare() -> None:
    """Import the modules that a task needs, which takes seconds."""
    from privnb.evaluation.predictions import resolve_miners
    from privnb.explorer import readings, risks  # noqa: F401
    from privnb.sanitizers.algorithms import partitioning  # noqa: F401

    resolve_miners("naive Bayes")


def _describe_error(error: Exception) -> str:
    """Return an error in words.

    Errors of the package are written for people; the text of any other error consists of its name, its message and
    advice.
    """
    if isinstance(error, PrivnbError):
        return str(error)
    return f"{type(error).__name__}: {str(error) or 'there is no message'}. {ADVICE}"
