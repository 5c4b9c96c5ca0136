"""A small table of results to look at."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from privnb.evaluation.results import Results, bounded, counts_people
from privnb.measures import facts
from privnb.reporting.charts.base import none, settings
from privnb.runtime import expect, numerals
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated
from privnb.sanitizers import catalogue

BASELINE = "baseline"


@validated
def table(
    results: Results, *, rows: str | Sequence[str] = "setting", columns: str | Sequence[str] = "miner"
) -> pd.DataFrame | Sentences:
    """A small table of results to look at: values with their 95% interval, and the guess that they have to beat.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    rows, columns : str or list of str
        Columns of the results, or "setting".

    Returns
    -------
    DataFrame or Sentences
        Each number is written as its measure states; measures and sanitizers stand by their titles. A withheld count
        reads "fewer than" its bound, any other withheld number "withheld". The baseline is a last column or row where
        one is enough; columns of nothing are left out. A sentence where there are no rows.
    """
    for name, given in {"rows": rows, "columns": columns}.items():
        if not expect.texts(name, [given] if isinstance(given, str) else given, "columns"):
            raise ValueError(f"{name} must name one column of the results or more, got none of them.")
        for each in [given] if isinstance(given, str) else given:
            expect.one_of(name, each, [*results, "setting"])
    if results.empty:
        return none("row in this table")
    shown = settings(results)
    people = shown.high.notna() & counts_people(shown)
    few = [bounded(*ends) if ends[1] > 0 else "withheld" for ends in shown[["low", "high"]].where(people).to_numpy()]
    numbers = zip(shown.measure, shown.value, shown.low, shown.high, few, strict=True)
    written = [
        few if pd.isna(value) else numerals.ranged(facts(name).format, value, *ends)
        for name, value, *ends, few in numbers
    ]
    pairs = zip(shown.measure, shown.baseline, strict=True)
    shown["cell"], shown["guess"] = written, [facts(name).bare(base) if pd.notna(base) else "" for name, base in pairs]
    shown["measure"] = shown.measure.map(lambda name: facts(name).label)
    shown["sanitizer"] = shown.sanitizer.map({name: catalogue.title(name) for name in shown.sanitizer.unique()})
    rows, columns = ([names] if isinstance(names, str) else list(names) for names in (rows, columns))
    per_row, per_column = ((shown.groupby(names).baseline.nunique() <= 1).all() for names in (rows, columns))
    if not (per_row or per_column):
        shown["cell"] += ("; baseline " + shown.guess).where(shown.guess != "", "")
    wide = shown.pivot_table(index=rows, columns=columns, values="cell", aggfunc=_one, sort=False).fillna("")
    if per_row and shown.baseline.notna().any():
        wide[_first(columns)] = _guess(shown, rows)
    elif per_column and shown.baseline.notna().any():
        wide.loc[_first(rows), :] = _guess(shown, columns)
    wide = wide.fillna("").loc[:, lambda table: (table != "").any()]
    wide.index.names, wide.columns.names = [None] * len(rows), [None] * len(columns)
    return wide


def _guess(shown: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    return shown.groupby(names, sort=False).guess.max()


def _first(names: Sequence[str]) -> Any:
    """The label of the baseline among labels of so many levels."""
    return (BASELINE, *[""] * (len(names) - 1)) if len(names) > 1 else BASELINE


def _one(cells: Iterable[str]) -> str:
    """The cell of a table; of several all, one after the other."""
    return "; ".join(cells)
