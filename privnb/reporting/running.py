"""Notebooks run with papermill, each in a thread and a kernel of its own.

A notebook that fails stops no other one. It leaves a copy in `failed-notebooks/` beside the report, its failing cell
marked, in the place of what an earlier report left there; the next report without a failure removes it. The copy holds
a traceback, which may show values of the data: it is for the owner's eyes, in a folder that no other user can open, and
no part of a report. In the report stands which cell failed, and nothing that the error says.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_core.utils import ensure_event_loop
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from papermill.execute import raise_for_execution_errors, remove_error_markers
from traitlets.config import Config

from privnb.reporting import LIBRARIES, kernels
from privnb.reporting.notebooks import OWN, Notebook, ReportError, tagged
from privnb.runtime import processes, progress
from privnb.runtime.sentences import B, say
from privnb.runtime.unfinished import atomic_write

SECONDS = 3600  # without a sign of progress; a message of the kernel that gets lost would else stop a run for ever
ROOM = 2**20  # bytes: a disk with fewer is full
NOTHING = "NotForThisTable"  # the error of `microdata.schema`, as a kernel names it


@dataclass(frozen=True)
class Ended:
    """How a notebook ended.

    `text`: the executed notebook as JSON text, without times, widget state and paths of this machine; of a notebook
    that failed, or has nothing to say, one with its title and a sentence. `failed`: what went wrong and where, for its
    owner alone. `silent`: why it has nothing to say about this table.
    """

    text: str
    failed: str = ""
    silent: str = ""

    @property
    def done(self) -> bool:
        return not (self.failed or self.silent)


def without(notebook: Notebook, reason: str) -> Ended:
    """How a notebook ended that has nothing to say about this table, for `reason`."""
    why = f"{reason[:1].upper()}{reason[1:]}"
    return Ended(_sentence(notebook, f"{B}This page has nothing to say about this table.{B} {why}"), silent=reason)


def run(
    chosen: Sequence[Notebook],
    work: Path,
    out: Path,
    *,
    jobs: int,
    seconds: float = SECONDS,
    then: Callable[[Ended], object] = lambda ended: None,
) -> dict[str, Ended]:
    """Run notebooks, `jobs` at a time; returns `{name: Ended}`, in the order of `chosen`.

    `work`: a folder to run in, with a folder `tmp` for temporary files; each notebook's `OUT` is `work/numbers`, and
    its `STORE` the folder `store` beside `out`, which outlives the run. One that would find what an earlier one has
    stored begins when that has ended (`Notebook.after`). Progress goes to stderr. A notebook that fails
    leaves a marked copy in `failed_folder(out)`; the others go on. To fail is also to give no sign of progress for
    `seconds`: no cell begins, and no item of a step (`progress.track`) is done. `then` is called with each as it ends.
    """
    for name in ("asked", "executed", "numbers", "notes"):
        (work / name).mkdir()
    bars = progress.Bars({notebook.name: len(notebook.read().cells) + 1 for notebook in chosen})  # papermill's, too
    # First those that others wait for, so that no core is idle while the last of these works alone.
    needed = {notebook.after for notebook in chosen}
    waiting = sorted(chosen, key=lambda notebook: notebook.name not in needed)
    running: list[_Run] = []
    said: set[str] = set()
    contents: dict[str, str] = {}
    ended: dict[str, Ended] = {}
    sharing = 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                unfinished = {each.name for each in waiting} | {each.notebook.name for each in running}
                notebook = next((each for each in waiting if each.after not in unfinished), None)
                if notebook is None:  # each waits for one that runs
                    break
                waiting.remove(notebook)
                running.append(_start(notebook, work, out))
            if len(running) != sharing:
                sharing = len(running)
                atomic_write(_sharing(work), str(sharing))  # whole or not at all: they may be reading it
            for each in list(running):
                goes_on = each.goes_on()
                each.listen()
                bars.show(each.notebook.name, each.state)
                for text in set(each.state.get("said", ())) - said:
                    bars.say(text)
                    said.add(text)
                for path, digest in each.state.get("seen", ()):
                    if contents.setdefault(path, digest) != digest:
                        raise ReportError(
                            f"{path} has changed since this run began: its pages would show two tables. No report was "
                            "written. Run it again."
                        )
                if goes_on and time.monotonic() - each.heard > seconds:
                    _stop([each])
                    each.error, goes_on = f"TimeoutError: there was no sign of progress for {seconds} s", False
                if not goes_on:
                    running.remove(each)
                    name = each.notebook.name
                    ended[name] = _failure(each, work, out) if each.error else Ended(_cleaned(each.notebook, work, out))
                    then(ended[name])
                    word = "failed" if ended[name].failed else "nothing to say" if ended[name].silent else "done"
                    bars.end(name, word)
            time.sleep(0.2)  # to look takes a thousandth of that
    finally:
        _stop(running)
        with contextlib.suppress(OSError):  # a terminal that is gone
            bars.close()
    return {notebook.name: ended[notebook.name] for notebook in chosen}


class _Manager(kernels.OfCopies):
    """The manager of one notebook's kernel: nbclient makes it of a class that knows its `run`."""

    libraries, silent = LIBRARIES, True
    run: _Run
    # Whatever kernels are installed: this Python's.
    kernel_spec = KernelSpec(argv=[sys.executable], display_name="Python 3", language="python")

    async def _async_pre_start_kernel(self, **asked: Any) -> tuple[list[str], dict[str, Any]]:
        self.run.manager = self
        return await super()._async_pre_start_kernel(**asked | {"env": self.run.environment})


@dataclass
class _Run:
    """A notebook on its way, what it notes of itself, and when it last did."""

    notebook: Notebook
    notes: progress.Notes
    environment: Mapping[str, str] = field(default_factory=dict)
    heard: float = math.inf  # until the first cell begins, the limit for the start of a kernel is nbclient's own
    cell: int = 0  # how many have begun
    error: str = ""  # what stopped it, and why
    manager: _Manager | None = None
    thread: threading.Thread | None = None

    @property
    def state(self) -> dict[str, Any]:
        return self.notes.state | {"cell": self.cell}

    def goes_on(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    def listen(self) -> None:
        if self.notes.grew():
            self.heard = time.monotonic()

    def begin(self, work: Path, values: Mapping[str, object]) -> None:
        """Run it in a thread, with the parameters `values`; what comes of it goes to the folder `executed`."""
        asked = work / "asked" / self.notebook.path.name
        asked.write_text(nbformat.writes(self.notebook.read()), encoding="utf-8")
        self.thread = threading.Thread(target=self._execute, args=(asked, work, values), daemon=True)
        self.thread.start()

    def _execute(self, asked: Path, work: Path, values: Mapping[str, object]) -> None:
        try:
            with contextlib.closing(ensure_event_loop()):  # the one of this thread
                papermill.execute_notebook(
                    asked,
                    work / "executed" / asked.name,
                    values,
                    kernel_name="python3",
                    language="python",  # whatever the notebook says of itself, or does not say
                    progress_bar=False,
                    iopub_timeout=60,  # its own 4 s are too few on a busy machine
                    record_timing=False,
                    store_widget_state=False,
                    coalesce_streams=True,
                    on_cell_start=self._cell_starts,
                    resources={"metadata": {"path": str(self.notebook.path.parent)}},
                    config=Config({"KernelManager": {"connection_file": f"{work}/notes/{self.notebook.name}.json"}}),
                    kernel_manager_class=type("Manager", (_Manager,), {"run": self}),
                )
        except Exception as error:
            self.error = f"{type(error).__name__}: {' '.join(str(error).split())}"
        finally:
            self.kill()

    def _cell_starts(self, cell: NotebookNode, cell_index: int) -> None:
        self.cell, self.heard = cell_index, time.monotonic()

    def kill(self) -> None:
        """End its kernel, without which papermill ends too."""
        if self.manager is not None and self.manager.copy is not None:
            self.manager.copy.kill()


def _start(notebook: Notebook, work: Path, out: Path) -> _Run:
    own = {"OUT": work / "numbers", "STORE": store_folder(out)}
    values = {**notebook.asked, **{name: str(path) for name, path in own.items() if name in notebook.parameters}}
    notes = work / "notes" / notebook.name
    environment = {
        **os.environ,
        "IPYTHONDIR": str(work / "ipython"),  # no start-up file of the user's
        processes.SHARED: str(_sharing(work)),
        progress.FILE: str(notes),
        "TMPDIR": os.path.realpath(work / "tmp"),  # what a kill leaves of theirs goes with the folder
        **processes.ENVIRONMENT,
    }
    run = _Run(notebook, progress.Notes(notes), environment)
    run.begin(work, values)
    return run


def _sharing(work: Path) -> Path:
    """The file that says to the notebooks how many of them share the cores."""
    return work / "notes" / "sharing"  # no notebook's name


def _stop(runs: Sequence[_Run]) -> None:
    for each in runs:
        each.kill()
    for each in runs:
        if each.thread is not None:
            each.thread.join(20)


def _failure(ended: _Run, work: Path, out: Path) -> Ended:
    """How a notebook ended that stopped; leaves the marked copy of one that failed next to `out`."""
    notebook, reason = ended.notebook, ended.error
    copy = work / "executed" / notebook.path.name
    if not copy.exists():
        return _failed(notebook, "could not be started", f": {_full(work, out) or reason}{_memory(reason)}")
    try:
        executed = remove_error_markers(nbformat.read(copy, 4))
    except ValueError:  # cut short
        return _failed(notebook, "failed", f": {_full(work, out) or reason}.")
    name, _, message = reason.partition(": ")
    if name != "PapermillExecutionError":  # out of time or memory: the notebook itself does not say so
        cells = [*executed.cells[ended.cell :], *reversed(executed.cells)]  # or the last, if none was left
        cell = next(cell for cell in cells if cell.cell_type == "code")
        error = nbformat.v4.new_output("error", ename=name, evalue=message, traceback=[reason])
        cell.outputs = [output for output in cell.outputs if output.output_type != "error"] + [error]
    try:
        raise_for_execution_errors(executed, str(copy))
    except PapermillExecutionError as error:
        if error.ename == NOTHING:
            return without(notebook, error.evalue)
        cell = f"cell In [{error.exec_count or ' '}], which begins `{error.source.strip().splitlines()[0]}`"
        reason = re.sub(r"\x1b\[[0-9;]*m", "", f"{error.ename}: {error.evalue}").strip()
    reason += _memory(reason)
    failed = failed_folder(out)
    failed.mkdir(mode=0o700, exist_ok=True)
    failed.chmod(0o700)
    marked = failed / notebook.path.name
    marked.touch(0o600)
    marked.write_text(_cleaned(notebook, work, out), encoding="utf-8")
    where = f":\n{reason}\nIts partly executed copy, with that cell marked, is in {failed}."
    return _failed(notebook, f"failed in {cell}", where)


def _failed(notebook: Notebook, how: str, why: str) -> Ended:
    """`how` is for everybody; `why` may show values of the data."""
    here = f"{B}This page could not be made.{B} The notebook {how}."
    return Ended(_sentence(notebook, here), failed=f"{notebook.path.name} {how}{why}")


def _sentence(notebook: Notebook, text: str) -> str:
    """A notebook with the title of this one, and a sentence for its answer: JSON text."""
    read = notebook.read().cells
    cells = [cell for cell in read if cell.cell_type == "markdown"][:1]
    cells = [nbformat.v4.new_markdown_cell(cell.source.strip().partition("\n")[0], id="title") for cell in cells]
    deciding = any(tagged(cell, "summary") for cell in read)
    tags, said = ["answer", "summary"] if deciding else ["answer"], say(text)
    shown = nbformat.v4.new_output("display_data", {"text/html": said._repr_html_(), "text/plain": said.data})
    answer = nbformat.v4.new_code_cell("", id="answer", metadata={"tags": tags}, outputs=[shown])
    return nbformat.writes(nbformat.v4.new_notebook(cells=[*cells, answer]))


def _full(work: Path, out: Path) -> str:
    """Which disk has no room left, in words; "" if all have."""
    places = (place for place in (work, (work / "tmp"), store_folder(out)) if place.exists())
    full = [str(place.resolve()) for place in places if shutil.disk_usage(place).free < ROOM]
    return f"there is no room left on the disk of {', '.join(full)}. Make room there" if full else ""


def _memory(reason: str) -> str:
    """What a kernel that dies, or cannot load a library, leaves unsaid."""
    dead = re.search("DeadKernel|MemoryError|failed to map segment|Cannot allocate memory", reason)
    return "\nPerhaps for want of memory. Try fewer at a time, with --jobs 1." if dead else ""


def store_folder(out: Path) -> Path:
    """Where the notebooks of a report at `out` keep finished evaluations: beside it, for a build replaces `out`."""
    return out.with_name("store")


def failed_folder(out: Path) -> Path:
    """Where the marked copies of notebooks that fail in a report at `out` stand."""
    return out.with_name("failed-notebooks")


def forget_failures(out: Path, but: Container[str] = ()) -> None:
    """Remove the marked copies that earlier reports left beside `out`, but those of the notebooks of these names."""
    with contextlib.suppress(OSError):
        for path in failed_folder(out).glob("[0-9][0-9]_*.ipynb"):
            if path.stem not in but:
                path.unlink()
        failed_folder(out).rmdir()


def _cleaned(notebook: Notebook, work: Path, out: Path) -> str:
    executed = nbformat.read(work / "executed" / notebook.path.name, 4)
    for part in (executed, *executed.cells):
        for key in ("papermill", "widgets"):
            part.metadata.pop(key, None)
    for position, cell in enumerate(executed.cells):
        injected = tagged(cell, "injected-parameters")
        if injected or tagged(cell, "papermill-error-cell-tag"):
            cell.id = f"papermill-{position}"  # papermill's own is random
        if injected:
            cell.source = re.sub(rf"^({'|'.join(OWN)}) = .*$", r'\1 = ""', cell.source, flags=re.MULTILINE)
        if tagged(cell, "interactive") and cell.cell_type == "code":
            cell.outputs = []  # a widget is nothing without its kernel
    texts = functools.partial(_without_paths, _places(notebook, work, out))
    return nbformat.writes(nbformat.from_dict(_each_text(executed, texts)), version=4)


def _each_text(node: Any, change: Callable[[str], str]) -> Any:
    if isinstance(node, dict):
        return {key: _each_text(value, change) for key, value in node.items()}
    if isinstance(node, list):
        return [_each_text(value, change) for value in node]
    return change(node) if isinstance(node, str) else node


def _places(notebook: Notebook, work: Path, out: Path) -> dict[str, str]:
    """What stands for each folder of this machine, `{path: words}`, the longest path first."""
    dataset = Path(str(notebook.values.get("DATASET", "")))
    places = {Path.home(): "~", notebook.path.parent.parent: ".", Path(sys.prefix): "python"}
    places |= {work: "report", store_folder(out): "store"} | ({dataset.parent: "data"} if dataset.is_absolute() else {})
    order = sorted(places, key=lambda place: len(place.parts), reverse=True)
    return {str(place): places[place] for place in order if len(place.parts) > 1}  # never the root itself


def _without_paths(places: Mapping[str, str], text: str) -> str:
    for place, words in places.items():
        if place in text:
            start = r"(?:(?<![\w/])|(?<=\dm))"  # not inside a longer path; or after a colour, in a traceback
            text = re.sub(rf"{start}{re.escape(place)}(?![\w-])", words, text)
    # Where a warning comes from.
    return re.sub(r"/[\w/.-]*/ipykernel_\d+/\d+\.py", "cell", text) if "/ipykernel_" in text else text
