"""How Ctrl-C, SIGTERM and SIGHUP stop a command: once, at a place where nothing swallows it."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

WAIT = 0.02  # seconds until a stop that came at a bad moment is tried again
noted: list[int] = []  # signals that came before the command was ready


def note(number: int, _: FrameType | None) -> None:
    """Note a signal that comes before the command is ready; `stoppable` stops then."""
    noted.append(number)


@contextlib.contextmanager
def interrupts_noted() -> Iterator[None]:
    """Note Ctrl-C while this process loads and runs a command, unless it ignores Ctrl-C, as under `nohup`. At the end
    the work is done, and Ctrl-C is ignored for the rest of the process.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, note)
    yield
    if signal.getsignal(signal.SIGINT) is note:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """End what runs inside by KeyboardInterrupt on SIGINT, SIGTERM and SIGHUP, so that it leaves no process and no
    unfinished file.

    Libraries swallow what is raised while they are imported or in a callback that must not fail. The stop waits for the
    end of an import, and is tried again after such a callback. An error that a library makes of a stop is a stop.

    Raises
    ------
    KeyboardInterrupt
        With the number of the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    stopped: list[int] = []
    waits = False

    def stop(number: int, frame: FrameType | None) -> None:
        for each in mine.keys() - {signal.SIGINT}:  # once is enough: neither signal stops what cleans up
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
    usual = signal.SIG_DFL, signal.default_int_handler, note  # not under nohup
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
