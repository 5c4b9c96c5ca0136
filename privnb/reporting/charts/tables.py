"""A small table of results to look at."""

from privnb.evaluation.results import bounded, counts_people
from privnb.microdata import expect
from privnb.reporting.charts.base import none, settings

BASELINE = "baseline"


def table(results, *, rows="setting", columns="miner", format="{:,.0f}"):
    """A small table of results to look at: values with their 95% interval, and the guess that they have to beat.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    rows, columns : str or list of str
        Columns of the results, or "setting".
    format : str
        Of the numbers.

    Returns
    -------
    DataFrame or Sentences
        A withheld count reads "fewer than" its bound, any other withheld number "withheld". The baseline is a last
        column or row where one is enough. A sentence where there are no rows.
    """
    expect.these(results=results)
    for name, given in {"rows": rows, "columns": columns}.items():
        if not expect.texts(name, [given] if isinstance(given, str) else given, "columns"):
            raise ValueError(f"{name} must name one column of the results or more, got none of them.")
        for each in [given] if isinstance(given, str) else given:
            expect.one_of(name, each, [*results, "setting"])
    expect.strings(format=format)
    if results.empty:
        return none("row in this table")
    shown = settings(results)
    people = shown.high.notna() & counts_people(shown)
    few = [bounded(*ends) if ends[1] > 0 else "withheld" for ends in shown[["low", "high"]].where(people).to_numpy()]
    cell = shown.value.map(format.format).where(shown.value.notna(), few)
    interval = " (" + shown.low.map(format.format) + " to " + shown.high.map(format.format) + ")"
    shown["cell"] = cell + interval.where(shown.low.notna() & shown.value.notna(), "")
    rows, columns = ([names] if isinstance(names, str) else list(names) for names in (rows, columns))
    per_row, per_column = ((shown.groupby(names).baseline.nunique() <= 1).all() for names in (rows, columns))
    if not (per_row or per_column):
        shown["cell"] += ("; baseline " + shown.baseline.map(format.format)).where(shown.baseline.notna(), "")
    wide = shown.pivot_table(index=rows, columns=columns, values="cell", aggfunc=_one, sort=False).fillna("")
    if per_row and shown.baseline.notna().any():
        wide[_first(columns)] = _guess(shown, rows, format)
    elif per_column and shown.baseline.notna().any():
        wide.loc[_first(rows), :] = _guess(shown, columns, format)
    wide.index.names, wide.columns.names = [None] * len(rows), [None] * len(columns)
    return wide


def _guess(shown, names, format):
    return shown.groupby(names, sort=False).baseline.first().map(format.format, "ignore").fillna("")


def _first(names):
    """The label of the baseline among labels of so many levels."""
    return (BASELINE, *[""] * (len(names) - 1)) if len(names) > 1 else BASELINE


def _one(cells):
    """The cell of a table; of several all, one after the other."""
    return "; ".join(cells)
