"""The progress of long steps: bars for people and, for a report that runs notebooks, lines in a file."""

import contextlib
import json
import logging
import operator
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

from privnb.runtime.names import write_control

Item = TypeVar("Item")
FILE = "PRIVNB_PROGRESS"  # the environment variable that names the file; set for the kernels of a report
SECONDS = 0.2  # the minimum time between two lines of one step in that file
QUIET = 60  # seconds between two plain lines of one step if the report has no terminal
CLEAR = "\x1b[K"  # the rest of a terminal's line
# The form of a progress bar on a terminal.
LAYOUT = "{desc}: {percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt}, {elapsed} elapsed, about {remaining} left"
PATIENCE = 2  # seconds that a step may take before a terminal shows it

logger = logging.getLogger("privnb")  # logs steps with their duration in seconds, and never a value of a record


def track(iterable: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Return an iterator over the items of `iterable` that shows a progress bar.

    The bar is a widget in JupyterLab, and text on stderr in a terminal; the bar disappears at the end. During a report,
    progress is written to a file that the report reads, so that no notebook stores a bar. Otherwise, nothing is shown,
    for example in a script whose stderr is not a terminal, or in a notebook that another tool runs.

    `description` describes the step in a few words. `total` is the number of items, and is needed only if `iterable`
    has no length.

    >>> list(track("ab", "letters"))
    ['a', 'b']
    """
    if _silent:
        return iter(iterable)
    return _logged(_visible(iterable, description, total), description)


def _logged(items: Iterator[Item], description: str) -> Iterator[Item]:
    """Yield the items, and then log the time that all items took."""
    began = time.monotonic()
    yield from items
    logger.info("%s: %.1f s", description, time.monotonic() - began)


def _visible(iterable: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Return an iterator over the items that shows the progress if there is a terminal, a widget or a report."""
    if _silent or _options.quiet:
        return iter(iterable)
    total = total or operator.length_hint(iterable) or None
    if os.environ.get(FILE):
        return _noted(iterable, description, total)
    layout = None
    # Only kernels of JupyterLab know the session that they belong to; a kernel that papermill started does not.
    if "JPY_SESSION_NAME" in os.environ:
        from tqdm.auto import tqdm
    elif _is_terminal():
        from tqdm import tqdm

        layout = LAYOUT if total else None
    else:
        return iter(iterable)
    return _bar(tqdm(iterable, desc=description, total=total, leave=False, delay=PATIENCE, bar_format=layout))


def _bar(bar: Any) -> Iterator[Any]:
    """Yield the items of a bar.

    The bar appears even if the first item is slow. While the bar is shown, the steps that compute an item are
    hidden.
    """
    first = threading.Timer(PATIENCE, bar.refresh)
    first.daemon = True
    first.start()
    _steps.append("")
    try:
        yield from bar
    finally:
        first.cancel()
        first.join()
        _steps.pop()


class _Options:
    """The options of the command line that determine what is shown."""

    quiet = False
    notes_steps = False


_options = _Options()
_steps: list[str] = []  # the running steps, with the innermost last; "" is a bar


def note_steps() -> None:
    """Let this process note each step, and not only bars."""
    _options.notes_steps = True


def _note_step() -> None:
    """Note the innermost running step; empty if there is none."""
    if _options.notes_steps and not _silent:
        note(step=_steps[-1] if _steps else "", done=0, total=None, left=None)


@contextlib.contextmanager
def set_verbosity(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Apply the options of a command for the display of progress inside the `with` statement.

    Parameters
    ----------
    quiet : bool
        Whether to hide bars and the warnings of `warn_once`.
    verbose : bool
        Whether to log each step and its duration in seconds on stderr.
    """
    before, level, handler = _options.quiet, logger.level, logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("privnb: %(message)s"))
    _options.quiet = quiet
    if verbose:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        _options.quiet = before
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextlib.contextmanager
def step(description: str) -> Iterator[None]:
    """Log the duration of a step, and show on a terminal that a slow step is still running.

    Parameters
    ----------
    description : str
        A few words that describe the step, without any value of a record.
    """
    began = time.monotonic()
    visible = not (_silent or _options.quiet or os.environ.get(FILE)) and _is_terminal()
    ended = threading.Event()

    def show() -> None:
        drawn = False
        while not ended.wait(PATIENCE if not drawn else SECONDS):
            if _steps and _steps[-1] == description:
                write_control("\r", sys.stderr)
                sys.stderr.write(f"{description}, {time.monotonic() - began:.0f} s ")
                write_control(CLEAR, sys.stderr)
                sys.stderr.flush()
                drawn = True
        if drawn:
            write_control("\r" + CLEAR, sys.stderr)
            sys.stderr.flush()

    showing = threading.Thread(target=show, name="step", daemon=True) if visible else None
    _steps.append(description)
    _note_step()
    if showing:
        showing.start()
    try:
        yield
    finally:
        ended.set()
        if showing:
            showing.join()
        _steps.pop()
        _note_step()
    logger.info("%s: %.1f s", description, time.monotonic() - began)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


_silent: list[bool] = []  # one item for each step inside which other steps show nothing


@contextlib.contextmanager
def hide_bars() -> Iterator[None]:
    """Hide the bars of all steps inside the `with` statement; workers use this function."""
    _silent.append(True)
    try:
        yield
    finally:
        _silent.pop()


@contextlib.contextmanager
def watch(share: Callable[[], float], description: str) -> Iterator[None]:
    """Show a bar, as `track` does, for the work inside the `with` statement.

    `share()` returns the percentage of the work that has been done; a negative number means that it is unknown.
    """
    ended = threading.Event()

    def percents() -> Iterator[int]:
        done = 0
        while not ended.wait(SECONDS):
            now = min(int(share()), 100)
            yield from range(done, now)
            done = max(done, now)

    began = time.monotonic()
    looking = threading.Thread(target=lambda: [*_visible(percents(), description, 100)], name="watch", daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()
    logger.info("%s: %.1f s", description, time.monotonic() - began)


def _noted(iterable: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    began = last = time.monotonic()
    note(step=description, done=0, total=total, left=None)
    for done, item in enumerate(iterable, 1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS:
            last = now
            note(step=description, done=done, total=total, left=total and (now - began) / done * (total - done))
    note(step="")
    _note_step()


def note(**state: Any) -> None:
    """Append `state` as a line of JSON to the progress file of this run.

    An error because of a full disk is ignored, because such an error should not stop a computation.
    """
    with contextlib.suppress(OSError), open(os.environ[FILE], "a", encoding="utf-8") as file:
        file.write(json.dumps(state) + "\n")


_said: set[str] = set()


def warn_once(text: str) -> None:
    """Print a warning, but each text only once: on stderr or, in a notebook of a report, on stderr of the report."""
    if not text or text in _said or _options.quiet:
        return
    _said.add(text)
    if os.environ.get(FILE):
        note(said=text)
    else:
        print(text, file=sys.stderr)


def note_file(path: str | os.PathLike[str], digest: str) -> None:
    """If this process runs for a report, record that it has read the file `path`, whose content has this digest."""
    if os.environ.get(FILE):
        note(seen=[str(path), digest])


class Notes:
    """The state of a run, which the progress file of the run describes and which is updated as the file grows.

    Attributes
    ----------
    state : dict
        The keys are `cell` (the number of completed cells), `step` (the description of the running step), `done` and
        `total` (numbers of items of the step), and `left` (the estimated remaining time in seconds). If there are
        warnings, `said` lists them; if files were read, `seen` lists them.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._read = path, 0
        self.state: dict[str, Any] = {"cell": 0, "step": "", "done": 0, "total": None, "left": None}

    def grew(self) -> bool:
        """Update `state` with the new lines of the file, and return whether there were new lines."""
        before = self._read
        with contextlib.suppress(OSError), open(self.path, "rb") as file:
            file.seek(before)
            for line in file:
                if not line.endswith(b"\n"):  # the line is still being written
                    break
                self._read += len(line)
                with contextlib.suppress(ValueError):  # the line was cut because the disk was full
                    entry = json.loads(line)
                    for key in ("said", "seen"):
                        if key in entry:
                            self.state.setdefault(key, []).append(entry.pop(key))
                    self.state.update(entry)
        return self._read > before


class Bars:
    """The progress of several notebooks, shown on `file` (stderr) with one line for each notebook.

    A terminal shows bars. If `file` is not a terminal, each new step prints a line, and a long step prints a line per
    minute. `cells` maps each notebook to the number of its cells.
    """

    def __init__(self, cells: Mapping[str, int], file: TextIO | None = None) -> None:
        self.cells, self.file = cells, file or sys.stderr
        self.since: dict[str, float] = {}
        self.bars: dict[str, Any] = {}
        self.shown: dict[str, tuple[int | None, str]] = {}
        self.said: set[tuple[str, str]] = set()
        self.spoke: dict[str, float] = {}
        if self.file.isatty():
            from tqdm import tqdm

            width = max(map(len, cells))
            layout = "{desc} {percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt} cells{postfix}"
            for place, (name, total) in enumerate(cells.items()):
                self.bars[name] = tqdm(
                    desc=name.ljust(width), total=total, position=place, file=self.file, bar_format=layout
                )

    def show(self, name: str, state: Mapping[str, Any]) -> None:
        """Show the `state` of one notebook, in the format of `Notes.state`."""
        step, left = state["step"], state["left"] or 0
        counted = f"{step} {state['done']}/{state['total']}" if step and state["total"] else step
        counted += f", about {left / 60:.0f} min left" if left >= 60 else ""
        line = step or ("" if name in self.since else "running")
        if (name, step) in self.said and time.monotonic() - self.spoke[name] >= QUIET:
            line = counted
        self._put(name, state["cell"], ", ".join(filter(None, [self._time(name), counted])), line)

    def end(self, name: str, word: str) -> None:
        """Close the line of one notebook with `word`, such as "done", and the time that the notebook took."""
        text = f"{word} in {self._time(name)}"
        self._put(name, self.cells[name] if word == "done" else None, text, text)

    def _time(self, name: str) -> str:
        now = time.monotonic()
        return f"{now - self.since.setdefault(name, now):.0f} s"

    def _put(self, name: str, cell: int | None, postfix: str, line: str) -> None:
        bar = self.bars.get(name)
        if bar is None:
            if line and (name, line) not in self.said:
                print(f"{name}: {line}", file=self.file, flush=True)
                self.said.add((name, line))
                self.spoke[name] = time.monotonic()
        elif (cell, postfix) != self.shown.get(name):
            self.shown[name] = cell, postfix
            bar.n = bar.n if cell is None else min(cell, bar.total)
            bar.set_postfix_str(postfix)

    def say(self, text: str) -> None:
        """Print a line next to the bars."""
        print(text, file=self.file, flush=True)

    def close(self) -> None:
        """Remove the bars."""
        for bar in self.bars.values():
            bar.close()


def format_duration(seconds: float) -> str:
    """Return a duration as a text.

    >>> format_duration(7.4), format_duration(299.6)
    ('7 s', '5 min 0 s')
    """
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
