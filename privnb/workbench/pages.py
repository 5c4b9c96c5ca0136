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

    The folder `store` next to it keeps finished evaluations, so that a report that was stopped goes on. The description
    of a table that was read from a DataFrame is a file only after `table.save()`.

    Parameters
    ----------
    table : Table
        Of `read`; anything that `read` takes is read first.
    out : str or path-like
        The folder of the report: nothing, an empty folder, or an older report.
    notebooks : str, or list of str, optional
        Only these, by the beginning of their names, such as "04"; None: all.
    **parameters
        Parameters of the notebooks, such as `K="5, 10"` or `RECORDS=3000`.

    Returns
    -------
    Path
        The page to open first.

    Raises
    ------
    ReportError
        For an unknown notebook or parameter, before anything runs, and for notebooks that failed.
    """
    from privnb.papers.ledger_page import Ledger
    from privnb.reporting.report import build

    table = table if isinstance(table, Table) else read(table)
    given = {"DATASET": str(table.described_path()), **({"STUDY": table.study} if table.study else {}), **parameters}
    return build(Path(out), None if notebooks is None else as_list(notebooks), given, compare=Ledger.of)


def explore(table: Any, **options: Any) -> Any:
    """Show a table in the explorer: one setting, live next to sliders, in a notebook.

    Parameters
    ----------
    table : Table
        Of `read`; anything that `read` takes is read first.
    **options
        Those of `explorer.explore`, such as `policy`.

    Returns
    -------
    Board
        What a notebook shows.
    """
    from privnb.explorer.board import explore as board

    table = table if isinstance(table, Table) else read(table)
    return board(table.dataset, source=str(table.described_path()), **options)
