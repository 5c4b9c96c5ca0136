"""From notebooks to a report, by one call.

A report folder holds `index.html`, one page per notebook, `results.csv` and, in `notebooks/`, the executed notebooks; a
report of the papers' table also `ledger.csv`. It is built in a hidden folder beside its destination and put into place
when it is whole (see `places`), so that an older report is either untouched or replaced.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import nbformat
import pandas as pd

from privnb import decision
from privnb.evaluation import store
from privnb.evaluation.results import COLUMNS, KEY, TEXTS, identified
from privnb.microdata.withholding import LIMIT
from privnb.publishing import leaks
from privnb.reporting import pages, places, rendering
from privnb.reporting.notebooks import Notebook, ReportError, check, choose, notebooks_folder
from privnb.reporting.running import SECONDS, Ended, failed_folder, forget_failures, run, store_folder, without
from privnb.runtime import processes, progress
from privnb.runtime.errors import ConditionError
from privnb.runtime.unfinished import atomic_write

NUMBERS = ["bound", "seed", "value", "low", "high", "baseline", "of"]
# Parameters that results tell or bear, or that change none of the numbers which papers print.
NAMED = ("DATASET", "STUDY", "RECORDS", "K", "EPSILON", "SEEDS", "FEWEST", "PROFILE", "SCENARIO", "WEIGHTS", "MIN_GOOD")
DIGITS = "%.12g"  # fewer than a float has: in which order a processor adds up must not show


class Incomplete(ConditionError):
    """Some notebooks of a report failed, and it was made without them, or all of them did. The message says which,
    where, and why.
    """


def save(results: pd.DataFrame, out: str, name: str) -> None:
    """Write the tidy `results` of a notebook to `<out>/<name>.results.csv`; only check them if `out` is empty.

    Numbers are written with 12 digits.

    Parameters
    ----------
    results : DataFrame
        The columns `results.COLUMNS`, one row per number. `dataset`, `sanitizer` and `measure` are never empty; a
        missing `value` was withheld or not measured, as `status` says; no two rows have the same `results.KEY`.
    out : str
        The folder; empty: none.
    name : str
        The notebook's file name without its ending, "03_utility".

    Raises
    ------
    ReportError
        For any other table.
    """
    results = _checked(results, name)
    if out:
        path = Path(out) / f"{name}.results.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(results, path, 0o600)  # whose data they are of, and who may read that, is not known here


def read(path: str | Path) -> pd.DataFrame:
    """Read the results that `save` or `build` wrote: texts as text, empty rather than missing, and numbers as floats;
    without the ids of rows, which follow from them (`results.identified`).
    """
    types = {column: str for column in TEXTS} | {column: float for column in NUMBERS}
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
    """Run notebooks and put their report at `out`; progress goes to stderr.

    Finished evaluations are kept in the folder `store` next to `out`, and a note says so: after a kill the next build
    continues.

    Parameters
    ----------
    out : str or Path
        Where the report goes: nothing, an empty folder, or an older report.
    notebooks : list of str
        Names; None for all that are for this table, see `notebooks.choose`.
    parameters : dict
        `{name: value}`, see `notebooks.choose`.
    jobs : int
        Notebooks run at a time (None: one per usable core), which changes no number.
    folder : str or Path
        Where the notebooks are.
    seconds : float
        How long a notebook may give no sign of progress.
    compare : function
        Compares the results of notebooks on the papers' table with the printed numbers: `papers.ledger_page.Ledger.of`.
        None: the report has no ledger.

    Returns
    -------
    Path
        Of the report's `index.html`.

    Raises
    ------
    ReportError
        For a wrong request, before anything runs; if no notebook has anything to say; and for an `out` that cannot be
        written to or is something else than a report. What was at `out` is then as it was.
    Incomplete
        If notebooks fail and others do not. The report is then at `out`, and says on their pages that they failed.
    """
    out = Path(out).resolve()
    chosen = choose(folder or notebooks_folder(), notebooks, parameters)
    jobs = processes.usable_cores() if jobs is None else jobs
    if not isinstance(jobs, int) or jobs < 1:
        raise ReportError(f"jobs is how many notebooks run at a time, got {jobs!r}. Give 1 or more.")
    if not out.name:
        raise ReportError(f"{out} is no folder for a report. Choose another one with --out.")
    others = {
        store_folder(out): "finished evaluations", failed_folder(out): "notebooks that fail",
        withheld_folder(out): "reports that hold records",
    }  # fmt: skip
    if what := others.get(out):
        raise ReportError(f"{out} is for {what}, not for a report. Choose another folder with --out.")
    if _is_made(out.parent):
        within = f"{out} lies in another report, which a build replaces as a whole."
        raise ReportError(f"{within} Choose another folder with --out.")
    if out.exists() and not (out.is_dir() and (_is_made(out) or not any(out.iterdir()))):
        raise ReportError(
            f"{out} exists and is no report: it has no index.html with a results.csv. "
            "It is left as it is. Choose another folder with --out, or move it away."
        )
    if any("STORE" in notebook.parameters for notebook in chosen):
        store.check(store_folder(out))
        if not store_folder(out).exists():
            kept = "keeps finished evaluations, so that the next report is faster. Delete it at any time."
            progress.say(f"{store_folder(out)} {kept}")
    nothing = check(chosen)
    if len(nothing) == len(chosen):
        reasons = "\n".join(dict.fromkeys(nothing.values()))
        raise ReportError(f"there is nothing to say about this table. {reasons}")
    with places.work_folder(out) as work:
        left = [notebook for notebook in chosen if notebook.name not in nothing]
        silent = (notebook for notebook in chosen if notebook.name in nothing)
        ended = {notebook.name: without(notebook, nothing[notebook.name]) for notebook in silent}
        with _drawing() as draw:
            ended |= run(left, work, out, jobs=jobs, seconds=seconds, then=draw)
        failures = {name: each.failed for name, each in ended.items() if each.failed}
        forget_failures(out, but=failures)
        if not any(each.done for each in ended.values()):
            raise Incomplete("\n".join([*failures.values(), "No report was written."]))
        _assemble(chosen, ended, work, compare)
        _refuse_leaks(chosen, out, work, list(failures.values()))
        places.swap(work / "report", out, work / "previous")
    if failures:
        raise Incomplete("\n".join([*failures.values(), f"The report of the others: {(out / 'index.html').as_uri()}"]))
    return out / "index.html"


@contextlib.contextmanager
def _drawing() -> Iterator[Callable[[Ended], object]]:
    """What draws the charts of a notebook that has ended, while others run: its page finds them drawn."""
    thread = ThreadPoolExecutor(1)
    try:
        yield lambda ended: thread.submit(rendering.draw, ended.text)
    finally:
        thread.shutdown(cancel_futures=True)


def withheld_folder(out: Path) -> Path:
    """Where a report is kept that would have been at `out`, and holds an original record: for its owner alone."""
    return out.with_name("withheld-report")


def _refuse_leaks(chosen: Sequence[Notebook], out: Path, work: Path, failures: Sequence[str]) -> None:
    """Raise LeakError if what is made holds an original record; the report is then in `withheld_folder`, which else is
    removed.
    """
    kept = withheld_folder(out)
    described = dict.fromkeys(notebook.described for notebook in chosen if notebook.described)
    fewest = [notebook.values["FEWEST"] for notebook in chosen if "FEWEST" in notebook.values]
    where = f"What is made is kept in {kept}, for you alone, and finished evaluations beside it: the next run is short."
    limits: dict[str, Any] = {"fewest": min([LIMIT, *fewest]), "public": (str(rendering.vega_script()),)}
    try:
        leaks.check(work / "report", described, kept="\n".join([where, *failures]), **limits)
    except leaks.LeakError:
        (work / "report").chmod(0o700)
        places.swap(work / "report", kept, work / "withheld-before")
        raise
    shutil.rmtree(kept, ignore_errors=True)


def left_out(index: Path) -> list[str]:
    """What a report does not show, sentences: which of its pages have nothing to say about this table, how many of its
    numbers are withheld, and how many were not possible. `index`: as `build` gives it.
    """
    statuses = read(index.with_name("results.csv")).status
    withheld, absent = (int((statuses == status).sum()) for status in ("withheld", "not possible"))
    executed = {path.stem: nbformat.read(path, 4) for path in sorted((index.parent / "notebooks").glob("*.ipynb"))}
    # Such a page is made of a title and a sentence.
    silent = [name for name, page in executed.items() if not any(c.source for c in page.cells if c.cell_type == "code")]
    said = [f"These pages have nothing to say about this table, and say why: {', '.join(silent)}."] * bool(silent)
    if withheld:
        said.append(f"{withheld:,} of {len(statuses):,} numbers are withheld because they tell about few people.")
    if absent:
        said.append(f"{absent:,} {'was' if absent == 1 else 'were'} not possible; results.csv says why.")
    return said


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
            refuse(f"column '{column}' holds something else than numbers ({error})", "Leave it empty instead.")
    for column in TEXTS:
        results[column] = ["" if pd.isna(cell) else str(cell) for cell in results[column]]
    for column in ("dataset", "sanitizer", "measure"):
        empty = results.index[results[column] == ""]
        if len(empty):
            refuse(f"column '{column}' is empty in row {empty[0]}", "Fill it, or leave the row out.")
    strange = sorted(set(results["better"]) - {"higher", "lower", ""})
    if strange:
        refuse(f"column 'better' says {strange[0]!r}", "Say 'higher', 'lower' or nothing.")
    twice = results.loc[results.duplicated(KEY), KEY]
    if len(twice):
        refuse(f"two rows are called {twice.iloc[0].to_dict()}", "Keep one, or tell them apart.")
    return results


def _write(table: pd.DataFrame, path: Path, mode: int = 0o666) -> None:
    """As CSV, whole or not at all, in a file of at most this mode."""
    atomic_write(path, table.to_csv(index=False, float_format=DIGITS, lineterminator="\n"), mode)


def _is_made(folder: Path) -> bool:
    return (folder / "index.html").exists() and (folder / "results.csv").exists()


def _assemble(chosen: Sequence[Notebook], ended: Mapping[str, Ended], work: Path, compare: Any) -> None:
    """Make `work/report` of how the notebooks `ended`, and of the numbers that they wrote to `work/numbers`."""
    tables = {}
    for notebook in (notebook for notebook in chosen if ended[notebook.name].done):
        path = work / "numbers" / f"{notebook.name}.results.csv"
        if not path.is_file():
            end = f'End it with `report.save(results, OUT, "{notebook.name}")`.'
            raise ReportError(f"{notebook.path.name} ran and wrote no numbers. {end}")
        tables[notebook.name] = read(path)
    results = pd.concat(tables.values(), ignore_index=True)
    ledger = None
    if compare and all(notebook.papers for notebook in chosen):  # the papers' numbers are of their table
        alike = [notebook.name for notebook in chosen if notebook.name in tables and _as_published(notebook)]
        ledger = compare({name: tables[name] for name in alike})
    executed = {name: each.text for name, each in ended.items()}
    files = {f"notebooks/{notebook.path.name}": executed[notebook.name] for notebook in chosen}
    files |= pages.make(chosen, executed, ledger, decision.summary(results))
    (work / "report" / "notebooks").mkdir(parents=True)
    _write(results.assign(id=identified(results)), work / "report" / "results.csv")
    if ledger:
        _write(ledger.table, work / "report" / "ledger.csv")
    for name, text in files.items():
        (work / "report" / name).write_text(text, encoding="utf-8")
    _close_as_the_data(chosen, work / "report")


def _close_as_the_data(chosen: Sequence[Notebook], made: Path) -> None:
    """Whoever may not read a file of the data may not read what is `made` of it."""
    readers = 0o044  # the group, and all others
    for described in {notebook.described for notebook in chosen if notebook.described}:
        for path in (described.parent, *described.parent.rglob("*")):
            readers &= _mode(path)
    for path in (made, *made.rglob("*")):
        path.chmod(path.stat().st_mode & (0o700 | readers | (readers >> 2 if path.is_dir() else 0)))


def _mode(path: Path) -> int:
    """Who may read a file: nobody else where that cannot be said; anybody what is gone, or a link to nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return ~0
    except OSError:
        return 0


def _as_published(notebook: Notebook) -> bool:
    """Whether a notebook ran in the setting of its paper, but for what its results name themselves."""
    others = {name: value for name, value in notebook.values.items() if name not in NAMED}
    return all(value == notebook.parameters[name].default for name, value in others.items())
