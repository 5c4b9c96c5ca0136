"""How far a long step is: a bar for people, lines in a file for the report that waits for it."""

import contextlib
import json
import operator
import os
import sys
import time

FILE = "PRIVNB_PROGRESS"  # the environment variable that names the file; set for the kernels of a report
SECONDS = 0.2  # between two lines of one step


def track(iterable, description, total=None):
    """The items of `iterable`, with a bar that shows how many are done.

    The bar is a widget in JupyterLab and text on stderr in a terminal; it goes away at the end. In a run of the
    report the progress goes to the file that the report reads, so that no notebook holds a bar. Elsewhere (a script
    whose stderr is no terminal, a notebook run by other tools) nothing is shown.

    `description`: a few words on the step; `total`: number of items, if `iterable` has no length.

    >>> list(track("ab", "letters"))
    ['a', 'b']
    """
    if os.environ.get(FILE):
        return _noted(iterable, description, total or operator.length_hint(iterable) or None)
    # Only JupyterLab's kernels know the session that they belong to; one started by papermill does not.
    if "JPY_SESSION_NAME" in os.environ:
        from tqdm.auto import tqdm
    elif sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm
    else:
        return iter(iterable)
    return iter(tqdm(iterable, desc=description, total=total, leave=False))


def _noted(iterable, description, total):
    last = -SECONDS
    for done, item in enumerate(iterable):
        if time.monotonic() - last >= SECONDS:
            last = time.monotonic()
            note(step=description, done=done, total=total)
        yield item
    note(step="")


def note(**state):
    """Append `state` as a line of JSON to the file of this run. A full disk is no reason to stop a computation."""
    with contextlib.suppress(OSError), open(os.environ[FILE], "a", encoding="utf-8") as file:
        file.write(json.dumps(state) + "\n")


def latest(path):
    """The state that the lines in `path` amount to: `cell` (cells done), `step`, `done`, `total`."""
    state = {"cell": 0, "step": "", "done": 0, "total": None}
    with contextlib.suppress(OSError):
        for line in path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):  # the last line may still be in the making
                state.update(json.loads(line))
    return state


class Bars:
    """One line a notebook on `file` (stderr): a bar in a terminal, elsewhere a plain line when something changes.

    `cells`: `{notebook: number of its cells}`.
    """

    def __init__(self, cells, file=None):
        self.cells, self.file = cells, file or sys.stderr
        self.said, self.since, self.bars = {}, {}, {}
        if self.file.isatty():
            from tqdm import tqdm

            width = max(map(len, cells))
            layout = "{desc} {percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt} cells{postfix}"
            for place, (name, total) in enumerate(cells.items()):
                self.bars[name] = tqdm(
                    desc=name.ljust(width), total=total, position=place, file=self.file, bar_format=layout
                )

    def show(self, name, state):
        """Show `state` (as `latest` gives it) of one notebook."""
        self.since.setdefault(name, time.monotonic())
        step = state["step"] or ("running" if name not in self.said else "")
        counted = f"{step} {state['done']}/{state['total']}" if state["step"] and state["total"] else step
        self._put(name, state["cell"], step, counted)

    def end(self, name, word):
        """Close the line of one notebook with `word`, such as "done", and its time."""
        now = time.monotonic()
        text = f"{word} in {now - self.since.get(name, now):.0f} s"
        self._put(name, self.cells[name] if word == "done" else None, text, text)

    def _put(self, name, cell, text, counted):
        if name in self.bars:
            if cell is not None:
                self.bars[name].n = min(cell, self.cells[name])
            self.bars[name].set_postfix_str(counted, refresh=False)
            self.bars[name].refresh()
        elif text and self.said.get(name) != text:
            print(f"{name}: {text}", file=self.file, flush=True)
        if text:
            self.said[name] = text

    def close(self):
        for bar in self.bars.values():
            bar.close()
