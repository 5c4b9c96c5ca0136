"""Pages about a table: its report, and the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privnb.runtime import validation
from privnb.runtime.validation import OneOrMore, as_list, validated
from privnb.workbench.table import Table, read


@validated
def report(table: Any, out: validation.Path, *, notebooks: OneOrMore[str] | None = None, **parameters: Any) -> Path:
    """Make a report of a table: a site of pages, its numbers as `results.csv`, and the executed notebooks.

    The folder `store` next to the report keeps finished evaluations, so that a stopped report can continue. If a table
    was read from a DataFrame, its description becomes a file only with `table.save()`.

    Parameters
    ----------
    table : Table
        A table that `read` returned, or anything that `read` accepts.
    out : str or path-like
        The folder of the report, which may be empty, hold an older report, or not exist.
    notebooks : str, or list of str, optional
        The notebooks to run, by the beginning of their names, such as "04"; by default, all notebooks.
    **parameters
        Parameters of the notebooks, such as `K="5, 10"` or `RECORDS=3000`.

    Returns
    -------
    Path
        The page to open first.

    Raises
    ------
    ReportError
        For an unknown notebook or parameter, before anything runs; and for notebooks that have failed.
    """
    from privnb.papers.ledger_page import Ledger
    from privnb.reporting.report import build

    table = table if isinstance(table, Table) else read(table)
    given = {"DATASET": str(table.described_path()), **({"STUDY": table.study} if table.study else {}), **parameters}
    return build(Path(out), None if notebooks is None else as_list(notebooks), given, compare=Ledger.of)


def explore(table: Any, **options: Any) -> Any:
    """Show a table in the explorer, which evaluates one setting live in a notebook.

    Parameters
    ----------
    table : Table
        A table that `read` returned, or anything that `read` accepts.
    **options
        Options of `explorer.explore`, such as `policy`.

    Returns
    -------
    Board
        The board that a notebook shows.
    """
    from privnb.explorer.board import explore as board

    table = table if isinstance(table, Table) else read(table)
    return board(table.dataset, source=str(table.described_path()), **options)
