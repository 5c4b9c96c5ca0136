"""Pages about a table: the report, and the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privnb.runtime import validation
from privnb.runtime.validation import OneOrMore, as_list, validated
from privnb.workbench.table import Table, read


@validated
def report(table: Any, out: validation.Path, *, notebooks: OneOrMore[str] | None = None, **parameters: Any) -> Path:
    """Make a report of a table: a folder with HTML pages, the numbers as `results.csv`, and the executed notebooks.

    The folder `store` next to the report keeps completed evaluations, so that a stopped report can continue. If a table
    was read from a DataFrame, the description of the table is saved only by `table.save()`.

    Parameters
    ----------
    table : Table
        A table that `read` returned, or an object that `read` accepts as its source.
    out : str or path-like
        The folder of the report. The folder need not exist; if it exists, it must be empty or contain an older report.
    notebooks : str, or list of str, optional
        The notebooks to run, by the beginnings of their names, such as "04"; by default, all notebooks.
    **parameters
        Parameters of the notebooks, such as `K="5, 10"` or `RECORDS=3000`.

    Returns
    -------
    Path
        The path of the page to open first.

    Raises
    ------
    ReportError
        For an unknown notebook or parameter, in which case no notebook runs, and for notebooks that have failed.
    """
    from privnb.papers.ledger_page import Ledger
    from privnb.reporting.report import build

    table = table if isinstance(table, Table) else read(table)
    given = {"DATASET": str(table.described_path()), **({"STUDY": table.study} if table.study else {}), **parameters}
    return build(Path(out), None if notebooks is None else as_list(notebooks), given, compare=Ledger.of)


def explore(table: Any, **options: Any) -> Any:
    """Show a table in the explorer, which evaluates one setting of a sanitizer at a time in a notebook.

    Parameters
    ----------
    table : Table
        A table that `read` returned, or an object that `read` accepts as its source.
    **options
        Further options of `explorer.explore`, such as `policy`.

    Returns
    -------
    Board
        The object that a notebook shows as the explorer.
    """
    from privnb.explorer.board import explore as board

    table = table if isinstance(table, Table) else read(table)
    return board(table.dataset, source=str(table.described_path()), **options)
