"""The report, for which one call runs the notebooks and makes the pages.

The folder of a report contains `index.html`, a page per notebook, `results.csv` and, in `notebooks/`, the executed
notebooks. A report on the table of the papers also contains `ledger.csv`. The report is built in a hidden folder next
to its destination, and is moved to the destination when it is complete (see `places`). An older report is therefore
either unchanged or completely replaced.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import nbformat
import pandas as pd

from privnb.evaluation import store
from privnb.evaluation.results import COLUMNS, KEY_COLUMNS, TEXT_COLUMNS, compute_row_ids
from privnb.microdata.withholding import LIMIT
from privnb.publishing import leaks
from privnb.reporting import pages, places, rendering
from privnb.reporting.notebooks import Notebook, ReportError, check_notebooks, choose_notebooks, notebooks_folder
from privnb.reporting.result_rows import DIGITS
from privnb.reporting.running import (
    SECONDS,
    NotebookRun,
    find_failed_folder,
    forget_failures,
    run_notebooks,
    skip_notebook,
    store_folder,
)
from privnb.runtime import processes, progress
from privnb.runtime.errors import ConditionError
from privnb.runtime.temporary import atomic_write

NUMBERS = ["bound", "seed", "value", "low", "high", "baseline", "of"]
# Parameters that results name themselves, or that do not change the numbers which papers print.
NAMED = (
    "DATASET",
    "STUDY",
    "RECORDS",
    "K",
    "EPSILON",
    "SEEDS",
    "MIN_COUNT",
    "PROFILE",
    "SCENARIO",
    "WEIGHTS",
    "MIN_GOOD",
)


class Incomplete(ConditionError):
    """Some notebooks of a report failed, or all notebooks failed, so that there is no report.

    The message states the notebooks, the cells that failed and the reasons.
    """


def save(results: pd.DataFrame, out: str, name: str) -> None:
    """Check the tidy `results` of a notebook, and write them to `<out>/<name>.results.csv` unless `out` is empty.

    Numbers are written with 12 significant digits.

    Parameters
    ----------
    results : DataFrame
        A table with the columns `results.COLUMNS` and a row per number. `dataset`, `sanitizer` and `measure` must not
        be empty. If a `value` is missing, it was withheld or not measured; `status` states the reason. No two rows may
        have the same `results.KEY_COLUMNS`.
    out : str
        The path of the folder. If it is empty, nothing is written.
    name : str
        The file name of the notebook without its ending, such as "03_utility".

    Raises
    ------
    ReportError
        If `results` does not have this form.
    """
    results = _checked(results, name)
    if out:
        path = Path(out) / f"{name}.results.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(results, path, 0o600)  # the readers of the data are not known here


def read_results(path: str | Path) -> pd.DataFrame:
    """Return the results in a file that `save` or `build` has written.

    A missing text is an empty text, and numbers are floats. The ids of rows are left out, because they can be computed
    from the rows (`results.compute_row_ids`).
    """
    types = {column: str for column in TEXT_COLUMNS} | {column: float for column in NUMBERS}
    empty = {column: [""] for column in NUMBERS}
    return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=empty, usecols=COLUMNS.__contains__)


def build(
    out: str | Path,
    notebooks: Iterable[str] | None = None,
    parameters: Mapping[str, object] | None = None,
    *,
    jobs: int | None = None,
    folder: str | Path | None = None,
    seconds: float = SECONDS,
    compare: Any = None,
) -> Path:
    """Run notebooks, write the report to `out`, and show the progress on stderr.

    Completed evaluations are kept in the folder `store` next to `out`, so that the next build can continue after an
    interruption. A note states this.

    Parameters
    ----------
    out : str or Path
        The folder of the report, which must be new or empty, or contain an older report.
    notebooks : list of str
        The names of notebooks; None means all notebooks that apply to this table. See `notebooks.choose_notebooks`.
    parameters : dict
        The values of parameters, `{name: value}`; see `notebooks.choose_notebooks`.
    jobs : int
        The number of notebooks that run at the same time; by default, it is the number of usable cores. This number
        does not affect any result.
    folder : str or Path
        The folder of the notebooks.
    seconds : float
        The time in seconds after which a notebook without progress fails.
    compare : function
        A function, such as `papers.ledger_page.Ledger.of`, that compares the results of notebooks on the table of the
        papers with the printed numbers. If it is None, the report has no ledger.

    Returns
    -------
    Path
        The path of the report's `index.html`.

    Raises
    ------
    ReportError
        If the request is not valid, in which case no notebook runs; if no notebook applies to the table; or if `out`
        cannot be written or is not a report. `out` is then unchanged.
    Incomplete
        If some notebooks fail. The report is then at `out`, and the pages of the failed notebooks state that they
        failed.
    """
    out = Path(out).resolve()
    chosen = choose_notebooks(folder or notebooks_folder(), notebooks, parameters)
    jobs = processes.usable_cores() if jobs is None else jobs
    if not isinstance(jobs, int) or jobs < 1:
        raise ReportError(f"`jobs` must be the number of notebooks that run at a time; got {jobs!r}. Give 1 or more.")
    if not out.name:
        raise ReportError(f"`out` must be a folder for the report; got {out}. Choose another folder with --out.")
    others = {
        store_folder(out): "finished evaluations", find_failed_folder(out): "failed notebooks",
        withheld_folder(out): "reports that contain records",
    }  # fmt: skip
    if what := others.get(out):
        raise ReportError(f"{out} is for {what}, not for a report. Choose another folder with --out.")
    if _is_made(out.parent):
        within = f"{out} lies in another report, which a build replaces as a whole."
        raise ReportError(f"{within} Choose another folder with --out.")
    if out.exists() and not (out.is_dir() and (_is_made(out) or not any(out.iterdir()))):
        raise ReportError(
            f"{out} exists and is not a report, because index.html or results.csv is missing. "
            "The folder was not changed. Choose another folder with --out, or move this one away."
        )
    if any("STORE" in notebook.parameters for notebook in chosen):
        store.check_folder(store_folder(out))
        if not store_folder(out).exists():
            kept = "keeps finished evaluations, so that the next report is faster. Delete it at any time."
            progress.warn_once(f"{store_folder(out)} {kept}")
    nothing = check_notebooks(chosen)
    if len(nothing) == len(chosen):
        reasons = "\n".join(dict.fromkeys(nothing.values()))
        raise ReportError(f"no notebook has anything to report about this table. {reasons}")
    with places.work_folder(out) as work:
        left = [notebook for notebook in chosen if notebook.name not in nothing]
        silent = (notebook for notebook in chosen if notebook.name in nothing)
        ended = {notebook.name: skip_notebook(notebook, nothing[notebook.name]) for notebook in silent}
        with _drawing() as draw:
            ended |= run_notebooks(left, work, out, jobs=jobs, seconds=seconds, then=draw)
        failures = {name: each.failed for name, each in ended.items() if each.failed}
        forget_failures(out, but=failures)
        if not any(each.done for each in ended.values()):
            raise Incomplete("\n".join([*failures.values(), "No report was written."]))
        _assemble(chosen, ended, work, compare)
        _refuse_leaks(chosen, out, work, list(failures.values()))
        places.swap(work / "report", out, work / "previous")
    if failures:
        raise Incomplete(
            "\n".join([*failures.values(), f"The report of the other notebooks: {(out / 'index.html').as_uri()}"])
        )
    return out / "index.html"


@contextlib.contextmanager
def _drawing() -> Iterator[Callable[[NotebookRun], object]]:
    """Yield a function that draws the charts of a completed notebook in a thread while other notebooks run."""
    thread = ThreadPoolExecutor(1)
    try:
        yield lambda ended: thread.submit(rendering.draw, ended.text)
    finally:
        thread.shutdown(cancel_futures=True)


def withheld_folder(out: Path) -> Path:
    """Return the folder that contains, instead of `out`, a report with an original record, only for its owner."""
    return out.with_name("withheld-report")


def _refuse_leaks(chosen: Sequence[Notebook], out: Path, work: Path, failures: Sequence[str]) -> None:
    """Raise LeakError if the report contains an original record.

    If so, the report is first moved to `withheld_folder`. Otherwise, an older folder of this name is removed.
    """
    kept = withheld_folder(out)
    described = dict.fromkeys(notebook.described for notebook in chosen if notebook.described)
    min_count = [notebook.values["MIN_COUNT"] for notebook in chosen if "MIN_COUNT" in notebook.values]
    where = f"The report is kept in {kept} for you alone; finished evaluations are kept, so that the next run is short."
    limits: dict[str, Any] = {"min_count": min([LIMIT, *min_count]), "public": (rendering.vega_script(),)}
    try:
        leaks.check_outputs(work / "report", described, kept="\n".join([where, *failures]), **limits)
    except leaks.LeakError:
        (work / "report").chmod(0o700)
        places.swap(work / "report", kept, work / "withheld-before")
        raise
    shutil.rmtree(kept, ignore_errors=True)


def list_left_out(index: Path) -> list[str]:
    """Return sentences about the omissions of a report; `index` is the result of `build`.

    The sentences list the pages that do not apply to this table, and state the numbers of values that are withheld or
    not possible.
    """
    statuses = read_results(index.with_name("results.csv")).status
    withheld, absent = (int((statuses == status).sum()) for status in ("withheld", "not possible"))
    executed = {path.stem: nbformat.read(path, 4) for path in sorted((index.parent / "notebooks").glob("*.ipynb"))}
    # A notebook that does not apply has only a title and a sentence.
    silent = [name for name, page in executed.items() if not any(c.source for c in page.cells if c.cell_type == "code")]
    sentences = [f"These pages have nothing to report about this table and state why: {', '.join(silent)}."]
    sentences *= bool(silent)
    if withheld:
        sentences.append(f"{withheld:,} of {len(statuses):,} numbers are withheld because they concern few people.")
    if absent:
        verb = "number was" if absent == 1 else "numbers were"
        sentences.append(f"{absent:,} {verb} not possible; results.csv states why.")
    return sentences


def _checked(results: pd.DataFrame, name: str) -> pd.DataFrame:
    def refuse(found: str, do: str) -> NoReturn:
        raise ReportError(f"the results of '{name}' cannot be saved: {found}. {do}")

    if list(results.columns) != COLUMNS:
        missing = ", ".join(column for column in COLUMNS if column not in results.columns) or "none"
        foreign = ", ".join(str(column) for column in results.columns if column not in COLUMNS) or "none"
        order = f"Give exactly, and in this order: {', '.join(COLUMNS)}."
        refuse(f"missing columns: {missing}; unknown columns: {foreign}", order)
    if results.empty:
        refuse("the table has no rows", "Give one row per number.")
    results = results.reset_index(drop=True)
    for column in NUMBERS:
        try:
            results[column] = pd.to_numeric(results[column]).astype(float)
        except (ValueError, TypeError) as error:
            refuse(f"column '{column}' must have numbers only ({error})", "Leave other cells empty.")
    for column in TEXT_COLUMNS:
        results[column] = ["" if pd.isna(cell) else str(cell) for cell in results[column]]
    for column in ("dataset", "sanitizer", "measure"):
        empty = results.index[results[column] == ""]
        if len(empty):
            refuse(f"column '{column}' is empty in row {empty[0]}", "Fill the cell, or leave the row out.")
    strange = sorted(set(results["better"]) - {"higher", "lower", ""})
    if strange:
        refuse(f"column 'better' has {strange[0]!r}", "Write 'higher', 'lower' or nothing.")
    twice = results.loc[results.duplicated(KEY_COLUMNS), KEY_COLUMNS]
    if len(twice):
        refuse(
            f"two rows have the key {twice.iloc[0].to_dict()}", "Keep one of the rows, or give the rows different keys."
        )
    return results


def _write(table: pd.DataFrame, path: Path, mode: int = 0o666) -> None:
    """Write a table as CSV, completely or not at all, to a file that has at most the permissions `mode`."""
    atomic_write(path, table.to_csv(index=False, float_format=DIGITS, lineterminator="\n"), mode)


def _is_made(folder: Path) -> bool:
    return (folder / "index.html").exists() and (folder / "results.csv").exists()


def _assemble(chosen: Sequence[Notebook], ended: Mapping[str, NotebookRun], work: Path, compare: Any) -> None:
    """Make `work/report` from the completed notebooks in `ended` and the results in `work/numbers`."""
    tables = {}
    for notebook in (notebook for notebook in chosen if ended[notebook.name].done):
        path = work / "numbers" / f"{notebook.name}.results.csv"
        if not path.is_file():
            end = f'End it with `report.save(results, OUT, "{notebook.name}")`.'
            raise ReportError(f"{notebook.path.name} ran but did not save its results. {end}")
        tables[notebook.name] = read_results(path)
    results = pd.concat(tables.values(), ignore_index=True)
    ledger = None
    if compare and all(notebook.papers for notebook in chosen):  # papers print numbers about their own table
        comparable = [notebook.name for notebook in chosen if notebook.name in tables and _as_published(notebook)]
        ledger = compare({name: tables[name] for name in comparable})
    executed = {name: each.text for name, each in ended.items()}
    files = {f"notebooks/{notebook.path.name}": executed[notebook.name] for notebook in chosen}
    files |= pages.make(chosen, executed, ledger, tables)
    (work / "report" / "notebooks").mkdir(parents=True)
    _write(results.assign(id=compute_row_ids(results)), work / "report" / "results.csv")
    if ledger:
        _write(ledger.table, work / "report" / "ledger.csv")
    for name, text in files.items():
        (work / "report" / name).write_text(text, encoding="utf-8")
    _close_as_the_data(chosen, work / "report")


def _close_as_the_data(chosen: Sequence[Notebook], made: Path) -> None:
    """Remove the permissions to read a report from all users who may not read all files of the data."""
    readers = 0o044  # the group, and all other users
    for described in {notebook.described for notebook in chosen if notebook.described}:
        for path in (described.parent, *described.parent.rglob("*")):
            readers &= _mode(path)
    for path in (made, *made.rglob("*")):
        path.chmod(path.stat().st_mode & (0o700 | readers | (readers >> 2 if path.is_dir() else 0)))


def _mode(path: Path) -> int:
    """Return the permissions of a file: none if they are unknown, and all if the file does not exist any more."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return ~0
    except OSError:
        return 0


def _as_published(notebook: Notebook) -> bool:
    """Return whether a notebook ran with the parameters of its paper, except parameters that the results state."""
    others = {name: value for name, value in notebook.values.items() if name not in NAMED}
    return all(value == notebook.parameters[name].default for name, value in others.items())
