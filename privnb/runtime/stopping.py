"""Handling of Ctrl-C, SIGTERM and SIGHUP: a command stops only once, when no library would swallow the exception."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

WAIT = 0.02  # seconds until a stop is tried again if it came at a bad moment
noted: list[int] = []  # signals that came before the command was ready


def note_signal(number: int, _: FrameType | None) -> None:
    """Record a signal that arrives before the command is ready, so that `stop_on_signals` later stops the command."""
    noted.append(number)


@contextlib.contextmanager
def note_interrupts() -> Iterator[None]:
    """Record Ctrl-C while this process loads and runs a command.

    A process that ignores Ctrl-C, as under `nohup`, continues to ignore Ctrl-C. At the end of the `with` statement, the
    work is done, so the process then ignores Ctrl-C.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, note_signal)
    yield
    if signal.getsignal(signal.SIGINT) is note_signal:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGINT, SIGTERM and SIGHUP inside the `with` statement, so that cleanup code runs.

    After a stop, no process and no incomplete file is left. Libraries swallow exceptions that are raised while the
    libraries are imported, or in a callback that must not fail. A stop therefore waits for the end of an import, and is
    tried again after such a callback. An error that a library raises because of a stop counts as a stop.

    Raises
    ------
    KeyboardInterrupt
        The exception holds the number of the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    stopped: list[int] = []
    waits = False

    def stop(number: int, frame: FrameType | None) -> None:
        for each in mine.keys() - {signal.SIGINT}:  # once is enough; neither signal stops the code that cleans up
            signal.signal(each, signal.SIG_IGN)
        stopped.append(number)
        stop_here(None, frame)

    def stop_here(_: int | None, frame: FrameType | None) -> None:
        nonlocal waits
        if waits := can_wait and _is_importing(frame):
            signal.setitimer(signal.ITIMER_REAL, WAIT)
        else:
            raise KeyboardInterrupt(stopped[-1])

    def retry(lost: Any) -> None:
        nonlocal waits
        if can_wait and stopped and issubclass(lost.exc_type, KeyboardInterrupt):
            waits = True
            signal.setitimer(signal.ITIMER_REAL, WAIT)
        else:
            report_lost(lost)

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    usual = signal.SIG_DFL, signal.default_int_handler, note_signal  # not under nohup
    mine = {number: handler for number, handler in before.items() if handler in usual}
    can_wait = hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL  # not on Windows
    report_lost = sys.unraisablehook
    try:
        sys.unraisablehook = retry
        if can_wait:
            signal.signal(signal.SIGALRM, stop_here)
        for number in mine:
            signal.signal(number, stop)
        if noted:
            raise KeyboardInterrupt(noted[-1])
        yield
    except Exception:
        if not stopped:
            raise
        raise KeyboardInterrupt(stopped[0]) from None  # a notebook that the same signal ended did not fail by itself
    finally:
        for number, handler in mine.items():
            signal.signal(number, handler)
        if can_wait:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.unraisablehook = report_lost
        noted.clear()
    if waits:  # the work ended first
        raise KeyboardInterrupt(stopped[0])


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
