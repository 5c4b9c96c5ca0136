"""How far a long step is: a bar for people, lines in a file for the report that waits for it."""

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

from privnb.runtime.names import control

Item = TypeVar("Item")
FILE = "PRIVNB_PROGRESS"  # the environment variable that names the file; set for the kernels of a report
SECONDS = 0.2  # between two lines of one step in that file
QUIET = 60  # seconds between two plain lines of one step, where the report has no terminal
CLEAR = "\x1b[K"  # the rest of a terminal's line
# The form of a progress bar on a terminal.
LAYOUT = "{desc}: {percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt}, {elapsed} elapsed, about {remaining} left"
PATIENCE = 2  # seconds that a step may take before a terminal shows it

logger = logging.getLogger("privnb")  # steps with their seconds; never a value of a record


def track(iterable: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """The items of `iterable`, with a bar that shows how many are done.

    The bar is a widget in JupyterLab and text on stderr in a terminal; it goes away at the end. In a run of the
    report the progress goes to the file that the report reads, so that no notebook holds a bar. Elsewhere (a script
    whose stderr is no terminal, a notebook run by other tools) nothing is shown.

    `description`: a few words on the step; `total`: number of items, if `iterable` has no length.

    >>> list(track("ab", "letters"))
    ['a', 'b']
    """
    if _silent:
        return iter(iterable)
    return _logged(_visible(iterable, description, total), description)


def _logged(items: Iterator[Item], description: str) -> Iterator[Item]:
    """Yield the items, and log how long they took."""
    began = time.monotonic()
    yield from items
    logger.info("%s: %.1f s", description, time.monotonic() - began)


def _visible(iterable: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Return the items with what shows how many are done, where somebody looks."""
    if _silent or _options.quiet:
        return iter(iterable)
    total = total or operator.length_hint(iterable) or None
    if os.environ.get(FILE):
        return _noted(iterable, description, total)
    layout = None
    # Only JupyterLab's kernels know the session that they belong to; one started by papermill does not.
    if "JPY_SESSION_NAME" in os.environ:
        from tqdm.auto import tqdm
    elif _is_terminal():
        from tqdm import tqdm

        layout = LAYOUT if total else None
    else:
        return iter(iterable)
    return _bar(tqdm(iterable, desc=description, total=total, leave=False, delay=PATIENCE, bar_format=layout))


def _bar(bar: Any) -> Iterator[Any]:
    """Yield the items of a bar, which appears before a slow first item, and next to which no step shows itself."""
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
    """What the command line asks to show."""

    quiet = False


_options = _Options()
_steps: list[str] = []  # those that go on, the innermost last; "" is a bar


@contextlib.contextmanager
def shown(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Show inside as much as a command was asked to.

    Parameters
    ----------
    quiet : bool
        Neither bars nor what `say` says.
    verbose : bool
        Log each step with its seconds on stderr.
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
    """Log how long a step takes, and show on a terminal that it goes on, as soon as that takes long.

    Parameters
    ----------
    description : str
        A few words on the step, without any value of a record.
    """
    began = time.monotonic()
    visible = not (_silent or _options.quiet or os.environ.get(FILE)) and _is_terminal()
    ended = threading.Event()

    def show() -> None:
        drawn = False
        while not ended.wait(PATIENCE if not drawn else SECONDS):
            if _steps and _steps[-1] == description:
                control("\r", sys.stderr)
                sys.stderr.write(f"{description}, {time.monotonic() - began:.0f} s ")
                control(CLEAR, sys.stderr)
                sys.stderr.flush()
                drawn = True
        if drawn:
            control("\r" + CLEAR, sys.stderr)
            sys.stderr.flush()

    showing = threading.Thread(target=show, name="step", daemon=True) if visible else None
    _steps.append(description)
    if showing:
        showing.start()
    try:
        yield
    finally:
        ended.set()
        if showing:
            showing.join()
        _steps.pop()
    logger.info("%s: %.1f s", description, time.monotonic() - began)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


_silent: list[bool] = []  # one for each step inside which others show nothing


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Steps inside show no bars of their own, as those of a worker do not."""
    _silent.append(True)
    try:
        yield
    finally:
        _silent.pop()


@contextlib.contextmanager
def watched(share: Callable[[], float], description: str) -> Iterator[None]:
    """A bar as of `track` for what goes on inside. `share()`: how much of it is done, in percent; negative: unknown."""
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


def note(**state: Any) -> None:
    """Append `state` as a line of JSON to the file of this run. A full disk is no reason to stop a computation."""
    with contextlib.suppress(OSError), open(os.environ[FILE], "a", encoding="utf-8") as file:
        file.write(json.dumps(state) + "\n")


_said: set[str] = set()


def say(text: str) -> None:
    """Tell people of a trouble that stops nothing, once: on stderr, or in a run of the report on its stderr."""
    if not text or text in _said or _options.quiet:
        return
    _said.add(text)
    if os.environ.get(FILE):
        note(said=text)
    else:
        print(text, file=sys.stderr)


def seen(path: str | os.PathLike[str], digest: str) -> None:
    """In a run of the report: this process has read the file `path`, with content of this digest."""
    if os.environ.get(FILE):
        note(seen=[str(path), digest])


class Notes:
    """The state that the lines of a run's file amount to, read on as the file grows.

    Attributes
    ----------
    state : dict
        `cell` (cells done), `step`, `done`, `total`, `left` (seconds); and lists of all that was `said` and `seen`,
        where there is any.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._read = path, 0
        self.state: dict[str, Any] = {"cell": 0, "step": "", "done": 0, "total": None, "left": None}

    def grew(self) -> bool:
        """Whether there are new lines, which `state` then tells."""
        before = self._read
        with contextlib.suppress(OSError), open(self.path, "rb") as file:
            file.seek(before)
            for line in file:
                if not line.endswith(b"\n"):  # still in the making
                    break
                self._read += len(line)
                with contextlib.suppress(ValueError):  # cut short, by a disk that was full
                    entry = json.loads(line)
                    for key in ("said", "seen"):
                        if key in entry:
                            self.state.setdefault(key, []).append(entry.pop(key))
                    self.state.update(entry)
        return self._read > before


class Bars:
    """One line a notebook on `file` (stderr): a bar in a terminal, elsewhere a plain line for each new step, and one
    a minute on how far it is.

    `cells`: `{notebook: number of its cells}`.
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
        """Show the `state` (as of `Notes`) of one notebook."""
        step, left = state["step"], state["left"] or 0
        counted = f"{step} {state['done']}/{state['total']}" if step and state["total"] else step
        counted += f", about {left / 60:.0f} min left" if left >= 60 else ""
        line = step or ("" if name in self.since else "running")
        if (name, step) in self.said and time.monotonic() - self.spoke[name] >= QUIET:
            line = counted
        self._put(name, state["cell"], ", ".join(filter(None, [self._time(name), counted])), line)

    def end(self, name: str, word: str) -> None:
        """Close the line of one notebook with `word`, such as "done", and its time."""
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
        """A line of its own, beside the bars."""
        print(text, file=self.file, flush=True)

    def close(self) -> None:
        for bar in self.bars.values():
            bar.close()


def taken(seconds: float) -> str:
    """How long something took, for people.

    >>> taken(7.4), taken(299.6)
    ('7 s', '5 min 0 s')
    """
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
