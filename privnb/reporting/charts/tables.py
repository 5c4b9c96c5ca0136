"""Tables for readers: results, efficient releases, and choices of releases."""

from collections.abc import Sequence
from typing import Annotated, Any

import pandas as pd

from privnb.decision import AXES
from privnb.decision.points import Releases
from privnb.decision.two_losses import check_choices
from privnb.evaluation.results import Results, describe_bounds, find_people_counts, select_measured
from privnb.measures import measure_facts
from privnb.measures.base import Measure
from privnb.reporting.charts.base import ID, Aggregate, add_ids, average_settings, none
from privnb.reporting.charts.frontier import axis_title
from privnb.runtime import expect, numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import FullTable, Sentences
from privnb.runtime.validation import validated
from privnb.sanitizers import catalogue

BASELINE = "baseline"


@validated
def table(
    results: Results, *, rows: str | Sequence[str] = "setting", columns: str | Sequence[str] = "miner"
) -> FullTable | Sentences:
    """Return a small table of results, with the values, their 95% intervals, and the guess as the baseline.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    rows, columns : str or list of str
        The columns of the results, or "setting", whose values become the rows and columns of the table.

    Returns
    -------
    FullTable or Sentences
        Each number has the format of its measure; measures and sanitizers are listed by their titles. A withheld count
        is shown as "fewer than" its bound, and any other withheld number as "withheld". The baseline is the last column
        or row if a single column or row is enough. Empty columns are left out. If there are no rows, the result is a
        sentence.
    """
    for name, given in {"rows": rows, "columns": columns}.items():
        if not expect.texts(name, [given] if isinstance(given, str) else given, "columns"):
            raise UsageError(f"{name} must name at least one column of the results; got other names.")
        for each in [given] if isinstance(given, str) else given:
            expect.one_of(name, each, [*results, "setting"])
    shown = average_settings(results) if len(select_measured(results)) else results[:0]
    if shown.empty:
        return none("row in this table")
    people = shown.high.notna() & find_people_counts(shown)
    few = [
        describe_bounds(*ends) if ends[1] > 0 else "withheld"
        for ends in shown[["low", "high"]].where(people).to_numpy()
    ]
    numbers = zip(shown.measure, shown.value, shown.low, shown.high, few, strict=True)
    shown["cell"] = [
        few if pd.isna(value) else numerals.write_estimate(measure_facts(name).format, value, *ends)
        for name, value, *ends, few in numbers
    ]
    pairs = zip(shown.measure, shown.baseline, strict=True)
    shown["guess"] = [measure_facts(name).bare(base) if pd.notna(base) else "" for name, base in pairs]
    shown["measure"] = shown.measure.map(lambda name: measure_facts(name).label)
    shown["sanitizer"] = shown.sanitizer.map({name: catalogue.title(name) for name in shown.sanitizer.unique()})
    rows, columns = ([names] if isinstance(names, str) else list(names) for names in (rows, columns))
    per_row, per_column = ((shown.groupby(names).baseline.nunique() <= 1).all() for names in (rows, columns))
    if not (per_row or per_column):
        shown["cell"] += ("; baseline " + shown.guess).where(shown.guess != "", "")
    wide = shown.pivot_table(index=rows, columns=columns, values="cell", aggfunc="; ".join, sort=False).fillna("")
    ids = shown.pivot_table(index=rows, columns=columns, values=ID, aggfunc="first", sort=False)
    if per_row and shown.baseline.notna().any():
        own = shown.groupby(rows, sort=False)
        wide[_first(columns)], ids[_first(columns)] = own.guess.max(), own[ID].first()
    elif per_column and shown.baseline.notna().any():
        own = shown.groupby(columns, sort=False)
        wide.loc[_first(rows), :], ids.loc[_first(rows), :] = own.guess.max(), own[ID].first()
    wide = wide.fillna("").loc[:, lambda table: (table != "").any()]
    ids = ids.reindex_like(wide)
    wide.index.names, wide.columns.names = [None] * len(rows), [None] * len(columns)
    return FullTable(wide, "table", ids)


def _first(names: Sequence[str]) -> Any:
    """Return the label of the baseline, with one level for each of `names`."""
    return (BASELINE, *[""] * (len(names) - 1)) if len(names) > 1 else BASELINE


@validated
def which(table: Annotated[pd.DataFrame, check_choices]) -> Aggregate:
    """Return the table of `decision.choices` for readers: releases, reasons, and additional losses."""
    titles = {"question": "the owner's question", "setting": "which release", **{axis: f"{axis} loss" for axis in AXES}}
    written = _written(table)
    written = written.assign(**{name: written[name].map(str) for name in ("question", "why")})
    written = written.assign(costs=written.costs.map(lambda costs: "" if costs is None else str(costs)))
    return Aggregate(add_ids(written), titles | {"why": "why", "costs": "additional loss", ID: ""})


@validated
def efficient(releases: Releases) -> Aggregate | Sentences:
    """Return the efficient releases, which lie on the line of the chart, in ascending order of privacy loss."""
    rows = releases[releases.status == "efficient"].sort_values(list(AXES), kind="stable")
    if rows.empty:
        return none("efficient release")
    titles = {axis: axis_title(axis, rows) for axis in AXES}
    return Aggregate(add_ids(_written(rows)), {"setting": "efficient release", **titles, ID: ""})


def _written(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, in which both losses are texts that include the intervals."""
    written = {}
    for axis in AXES:
        of = measure_facts(rows[f"{axis}_measure"].iloc[0]) if f"{axis}_measure" in rows else Measure(axis)
        numbers = rows[[axis, f"{axis}_low", f"{axis}_high", f"{axis}_baseline"]]
        written[axis] = [_number(of, *each) for each in numbers.itertuples(index=False)]
    return rows.assign(**written)


def _number(of: Measure, value: float, low: float, high: float, baseline: float) -> str:
    if pd.isna(value):
        return "" if pd.isna(high) else f"withheld, at most {of.bare(high)}"
    compared = "" if pd.isna(baseline) else f"; baseline {of.bare(baseline)}"
    return numerals.write_estimate(of.format, value, low, high) + compared
