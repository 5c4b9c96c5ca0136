"""The execution of notebooks by papermill; each notebook runs in its own thread and kernel.

If a notebook fails, the other notebooks still run. A copy of the failed notebook, in which the failed cell is marked,
is written to `failed-notebooks/` next to the report and replaces the copy of an earlier report; the next report without
a failure removes the copy. The copy contains a traceback, which may show values of the data. The copy is therefore only
for the owner, is in a folder that no other user can open, and is not part of the report. The report states the failed
cell, without the text of the error.
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
from privnb.reporting.notebooks import FILES, OWN, Notebook, ReportError, has_tag
from privnb.runtime import processes, progress
from privnb.runtime.sentences import Sentences
from privnb.runtime.temporary import atomic_write
from privnb.runtime.wording import write

SECONDS = 3600  # the limit without progress, because a lost message of a kernel would stop a run for ever
ROOM = 2**20  # a disk with fewer free bytes is full
NOTHING = "NotForThisTable"  # the name of the error of `microdata.schema` in a kernel


@dataclass(frozen=True)
class NotebookRun:
    """The result of the run of a notebook.

    `text` is the executed notebook as JSON text, without times, widget state and paths of this machine. If the notebook
    failed or does not apply to the table, `text` is a notebook with the title and a sentence. `failed` is the error and
    its place, which only the owner may see. `silent` is the reason why the notebook does not apply to the table.
    """

    text: str
    failed: str = ""
    silent: str = ""

    @property
    def done(self) -> bool:
        """Whether the notebook ran to the end without an error."""
        return not (self.failed or self.silent)


def skip_notebook(notebook: Notebook, reason: str) -> NotebookRun:
    """Return the result of a notebook that does not apply to this table, with the reason."""
    why = f"{reason[:1].upper()}{reason[1:]}"
    return NotebookRun(_answered(notebook, "silent", why), silent=reason)


def run_notebooks(
    chosen: Sequence[Notebook],
    work: Path,
    out: Path,
    *,
    jobs: int,
    seconds: float = SECONDS,
    then: Callable[[NotebookRun], object] = lambda ended: None,
) -> dict[str, NotebookRun]:
    """Run notebooks, up to `jobs` at the same time, and return `{name: NotebookRun}` in the order of `chosen`.

    `work` is the folder of the run, with a folder `tmp` for temporary files. The parameter `OUT` of each notebook is
    `work/numbers`, and the parameter `STORE` is the folder `store` next to `out`, which remains after the run. A
    notebook that uses the stored evaluations of an earlier notebook starts after the earlier notebook has ended
    (`Notebook.after`). The progress is shown on stderr. If a notebook fails, a marked copy is written to
    `find_failed_folder(out)`, and the other notebooks continue. A notebook also fails if it makes no progress for
    `seconds` seconds, that is, if no cell starts and no item of a step (`progress.track`) ends. `then` is called with
    the result of each notebook.
    """
    for name in ("asked", "executed", "numbers", "notes"):
        (work / name).mkdir()
    bars = progress.Bars({notebook.name: len(notebook.read().cells) + 1 for notebook in chosen})  # one is papermill's
    # Notebooks for which others wait come first, so that no core is idle while the last one runs alone.
    needed = {notebook.after for notebook in chosen}
    waiting = sorted(chosen, key=lambda notebook: notebook.name not in needed)
    running: list[_Run] = []
    said: set[str] = set()
    contents: dict[str, str] = {}
    ended: dict[str, NotebookRun] = {}
    sharing = 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                unfinished = {each.name for each in waiting} | {each.notebook.name for each in running}
                notebook = next((each for each in waiting if each.after not in unfinished), None)
                if notebook is None:  # each of them waits for a notebook that runs
                    break
                waiting.remove(notebook)
                running.append(_start(notebook, work, out))
            if len(running) != sharing:
                sharing = len(running)
                atomic_write(_sharing(work), str(sharing))  # notebooks may be reading the file
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
                            f"{path} changed while the report was made, so its pages would show two different tables. "
                            "The report was not written. Make the report again."
                        )
                if goes_on and time.monotonic() - each.heard > seconds:
                    _stop([each])
                    each.error, goes_on = f"TimeoutError: the notebook showed no progress for {seconds} s", False
                if not goes_on:
                    running.remove(each)
                    name = each.notebook.name
                    ended[name] = (
                        _failure(each, work, out) if each.error else NotebookRun(_cleaned(each.notebook, work, out))
                    )
                    then(ended[name])
                    word = "failed" if ended[name].failed else "nothing to report" if ended[name].silent else "done"
                    bars.end(name, word)
            time.sleep(0.2)  # one turn of the loop takes a thousandth of that
    finally:
        _stop(running)
        with contextlib.suppress(OSError):  # the terminal may be gone
            bars.close()
    return {notebook.name: ended[notebook.name] for notebook in chosen}


class _Manager(kernels.OfCopies):
    """The manager of the kernel of one notebook.

    nbclient creates the manager from a subclass that has the attribute `run`.
    """

    libraries, silent = LIBRARIES, True
    run: _Run
    # The kernel uses this Python, whatever kernels are installed.
    kernel_spec = KernelSpec(argv=[sys.executable], display_name="Python 3", language="python")

    async def _async_pre_start_kernel(self, **asked: Any) -> tuple[list[str], dict[str, Any]]:
        self.run.manager = self
        return await super()._async_pre_start_kernel(**asked | {"env": self.run.environment})


@dataclass
class _Run:
    """A running notebook, the notes of its progress, and the time of the last progress."""

    notebook: Notebook
    notes: progress.Notes
    environment: Mapping[str, str] = field(default_factory=dict)
    heard: float = math.inf  # the time of the last progress; before the first cell, nbclient has its own limit
    cell: int = 0  # the number of cells that have started
    error: str = ""  # the error that stopped it
    manager: _Manager | None = None
    thread: threading.Thread | None = None

    @property
    def state(self) -> dict[str, Any]:
        """The state in the notes of progress, with the number of cells that have started."""
        return self.notes.state | {"cell": self.cell}

    def goes_on(self) -> bool:
        """Return whether the notebook still runs."""
        return self.thread is not None and self.thread.is_alive()

    def listen(self) -> None:
        """Read the new notes of progress."""
        if self.notes.grew():
            self.heard = time.monotonic()

    def begin(self, work: Path, values: Mapping[str, object]) -> None:
        """Run the notebook in a thread with the parameters `values`, and write the result to the folder `executed`."""
        asked = work / "asked" / self.notebook.path.name
        asked.write_text(nbformat.writes(self.notebook.read()), encoding="utf-8")
        self.thread = threading.Thread(target=self._execute, args=(asked, work, values), daemon=True)
        self.thread.start()

    def _execute(self, asked: Path, work: Path, values: Mapping[str, object]) -> None:
        try:
            with contextlib.closing(ensure_event_loop()):  # the event loop of this thread
                papermill.execute_notebook(
                    asked,
                    work / "executed" / asked.name,
                    values,
                    kernel_name="python3",
                    language="python",  # the metadata of a notebook may name no language, or another one
                    progress_bar=False,
                    iopub_timeout=60,  # the default of 4 s is too short on a busy machine
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
        """End the kernel, which also ends papermill."""
        if self.manager is not None and self.manager.copy is not None:
            self.manager.copy.kill()


def _start(notebook: Notebook, work: Path, out: Path) -> _Run:
    own = {"OUT": work / "numbers", "STORE": store_folder(out)}
    values = {**notebook.asked, **{name: str(path) for name, path in own.items() if name in notebook.parameters}}
    notes = work / "notes" / notebook.name
    environment = {
        **os.environ,
        "IPYTHONDIR": str(work / "ipython"),  # without the user's start-up files
        processes.SHARED: str(_sharing(work)),
        progress.FILE: str(notes),
        "TMPDIR": os.path.realpath(work / "tmp"),  # temporary files are removed with the folder
        **processes.ENVIRONMENT,
    }
    run = _Run(notebook, progress.Notes(notes), environment)
    run.begin(work, values)
    return run


def _sharing(work: Path) -> Path:
    """Return the path of the file that contains the number of notebooks that share the cores."""
    return work / "notes" / "sharing"  # notebooks have other names


def _stop(runs: Sequence[_Run]) -> None:
    for each in runs:
        each.kill()
    for each in runs:
        if each.thread is not None:
            each.thread.join(20)


def _failure(ended: _Run, work: Path, out: Path) -> NotebookRun:
    """Return the result of a notebook that stopped; if it failed, keep a marked copy of the notebook next to `out`."""
    notebook, reason = ended.notebook, ended.error
    copy = work / "executed" / notebook.path.name
    if not copy.exists():
        return _failed(notebook, "could not be started", f": {_full(work, out) or reason}{_memory(reason)}")
    try:
        executed = remove_error_markers(nbformat.read(copy, 4))
    except ValueError:  # the file is incomplete
        return _failed(notebook, "failed", f": {_full(work, out) or reason}.")
    name, _, message = reason.partition(": ")
    if name != "PapermillExecutionError":  # the notebook does not contain an error if time or memory ran out
        cells = [*executed.cells[ended.cell :], *reversed(executed.cells)]  # or the last one
        cell = next(cell for cell in cells if cell.cell_type == "code")
        error = nbformat.v4.new_output("error", ename=name, evalue=message, traceback=[reason])
        cell.outputs = [output for output in cell.outputs if output.output_type != "error"] + [error]
    try:
        raise_for_execution_errors(executed, str(copy))
    except PapermillExecutionError as error:
        if error.ename == NOTHING:
            return skip_notebook(notebook, error.evalue)
        cell = f"cell In [{error.exec_count or ' '}], which begins with `{error.source.strip().splitlines()[0]}`"
        reason = re.sub(r"\x1b\[[0-9;]*m", "", f"{error.ename}: {error.evalue}").strip()
    reason += _memory(reason)
    failed = find_failed_folder(out)
    failed.mkdir(mode=0o700, exist_ok=True)
    failed.chmod(0o700)
    marked = failed / notebook.path.name
    marked.touch(0o600)
    marked.write_text(_cleaned(notebook, work, out), encoding="utf-8")
    where = f":\n{reason}\nIts partly executed copy, with that cell marked, is in {failed}."
    return _failed(notebook, f"failed in {cell}", where)


def _failed(notebook: Notebook, how: str, why: str) -> NotebookRun:
    """Return the result of a failed notebook.

    `how` is for all readers of the report, and `why` is only for the owner, because it may show values of the data.
    """
    return NotebookRun(_answered(notebook, "failed", how), failed=f"{notebook.path.name} {how}{why}")


def _answered(notebook: Notebook, macro: str, *arguments: str) -> str:
    """Return, as JSON text, a notebook whose title is that of `notebook` and whose answer is written by a macro."""
    read = notebook.read().cells
    cells = [cell for cell in read if cell.cell_type == "markdown"][:1]
    cells = [nbformat.v4.new_markdown_cell(cell.source.strip().partition("\n")[0], id="title") for cell in cells]
    said = Sentences(*write("reporting/run_notes", macro, *arguments))
    shown = nbformat.v4.new_output("display_data", said._repr_mimebundle_())
    answer = nbformat.v4.new_code_cell("", id="answer", metadata={"tags": ["answer"]}, outputs=[shown])
    return nbformat.writes(nbformat.v4.new_notebook(cells=[*cells, answer]))


def _full(work: Path, out: Path) -> str:
    """Return a phrase that states which disks are full; empty if no disk is full."""
    places = (place for place in (work, (work / "tmp"), store_folder(out)) if place.exists())
    full = [str(place.resolve()) for place in places if shutil.disk_usage(place).free < ROOM]
    return f"the disk of {', '.join(full)} is full. Free space there" if full else ""


def _memory(reason: str) -> str:
    """Return advice if there was perhaps too little memory, because the kernel died or could not load a library."""
    dead = re.search("DeadKernel|MemoryError|failed to map segment|Cannot allocate memory", reason)
    return "\nPerhaps the memory was exhausted. Run fewer notebooks at a time, with --jobs 1." if dead else ""


def store_folder(out: Path) -> Path:
    """Return the folder of completed evaluations, which is next to `out` because a build replaces `out`."""
    return out.with_name("store")


def find_failed_folder(out: Path) -> Path:
    """Return the folder of the marked copies of failed notebooks, for a report at `out`."""
    return out.with_name("failed-notebooks")


def forget_failures(out: Path, but: Container[str] = ()) -> None:
    """Remove the marked copies that earlier reports have left next to `out`, except copies with the names `but`."""
    with contextlib.suppress(OSError):
        for path in find_failed_folder(out).glob("[0-9][0-9]_*.ipynb"):
            if path.stem not in but:
                path.unlink()
        find_failed_folder(out).rmdir()


def _cleaned(notebook: Notebook, work: Path, out: Path) -> str:
    executed = nbformat.read(work / "executed" / notebook.path.name, 4)
    for part in (executed, *executed.cells):
        for key in ("papermill", "widgets"):
            part.metadata.pop(key, None)
    for position, cell in enumerate(executed.cells):
        injected = has_tag(cell, "injected-parameters")
        if injected or has_tag(cell, "papermill-error-cell-tag"):
            cell.id = f"papermill-{position}"  # papermill gives it a random id
        if injected:
            cell.source = re.sub(rf"^({'|'.join(OWN)}) = .*$", r'\1 = ""', cell.source, flags=re.MULTILINE)
        if has_tag(cell, "interactive") and cell.cell_type == "code":
            cell.outputs = []  # a widget does not work without its kernel
    texts = functools.partial(_without_paths, _places(notebook, work, out))
    return nbformat.writes(nbformat.from_dict(_each_text(executed, texts)), version=4)


def _each_text(node: Any, change: Callable[[str], str]) -> Any:
    if isinstance(node, dict):
        return {key: _each_text(value, change) for key, value in node.items()}
    if isinstance(node, list):
        return [_each_text(value, change) for value in node]
    return change(node) if isinstance(node, str) else node


def _places(notebook: Notebook, work: Path, out: Path) -> dict[str, str]:
    """Return the words that replace the paths of folders, `{path: words}`, beginning with the longest path."""
    dataset = Path(str(notebook.values.get("DATASET", "")))
    places = {Path.home(): "~", notebook.path.parent.parent: ".", Path(sys.prefix): "python"}
    given = (Path(str(notebook.values.get(name, ""))) for name in (*FILES, "POLICY"))
    places |= {file: file.name for file in given if file.is_absolute()}
    places |= {work: "report", store_folder(out): "store"} | ({dataset.parent: "data"} if dataset.is_absolute() else {})
    order = sorted(places, key=lambda place: len(place.parts), reverse=True)
    return {str(place): places[place] for place in order if len(place.parts) > 1}  # never the root itself


def _without_paths(places: Mapping[str, str], text: str) -> str:
    for place, words in places.items():
        if place in text:
            start = r"(?:(?<![\w/])|(?<=\dm))"  # not inside a longer path; or after a colour, in a traceback
            text = re.sub(rf"{start}{re.escape(place)}(?![\w-])", words, text)
    # Warnings name the temporary file of their cell.
    return re.sub(r"/[\w/.-]*/ipykernel_\d+/\d+\.py", "cell", text) if "/ipykernel_" in text else text
