"""Tables to look at: of results, of efficient releases, of a choice."""

from collections.abc import Sequence
from typing import Annotated, Any

import pandas as pd

from privnb.decision import AXES, Summary
from privnb.decision.points import Releases
from privnb.decision.summary import Line
from privnb.decision.two_losses import check_choices
from privnb.evaluation.results import Results, bounded, counts_people
from privnb.measures import facts
from privnb.measures.base import Measure
from privnb.reporting.charts.base import Aggregate, none, settings
from privnb.reporting.charts.frontier import axis_title
from privnb.reporting.findings.base import Finding
from privnb.runtime import expect, numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import instead, optional, validated
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
            raise UsageError(f"{name} must name one column of the results or more, got none of them.")
        for each in [given] if isinstance(given, str) else given:
            expect.one_of(name, each, [*results, "setting"])
    if results.empty:
        return none("row in this table")
    shown = settings(results)
    people = shown.high.notna() & counts_people(shown)
    few = [bounded(*ends) if ends[1] > 0 else "withheld" for ends in shown[["low", "high"]].where(people).to_numpy()]
    numbers = zip(shown.measure, shown.value, shown.low, shown.high, few, strict=True)
    shown["cell"] = [
        few if pd.isna(value) else numerals.ranged(facts(name).format, value, *ends)
        for name, value, *ends, few in numbers
    ]
    pairs = zip(shown.measure, shown.baseline, strict=True)
    shown["guess"] = [facts(name).bare(base) if pd.notna(base) else "" for name, base in pairs]
    shown["measure"] = shown.measure.map(lambda name: facts(name).label)
    shown["sanitizer"] = shown.sanitizer.map({name: catalogue.title(name) for name in shown.sanitizer.unique()})
    rows, columns = ([names] if isinstance(names, str) else list(names) for names in (rows, columns))
    per_row, per_column = ((shown.groupby(names).baseline.nunique() <= 1).all() for names in (rows, columns))
    if not (per_row or per_column):
        shown["cell"] += ("; baseline " + shown.guess).where(shown.guess != "", "")
    wide = shown.pivot_table(index=rows, columns=columns, values="cell", aggfunc="; ".join, sort=False).fillna("")
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


@validated
def which(table: Annotated[pd.DataFrame, check_choices]) -> Aggregate:
    """The table of `decision.choices`: which release, why, and what it costs."""
    costs = ("; it costs " + table.costs).where(table.costs != "", "")
    titles = {"question": "the owner's question", "setting": "which release", **{axis: f"{axis} loss" for axis in AXES}}
    return Aggregate(_written(table).assign(why=table.why + costs), titles | {"why": "why, and what it costs"})


@validated
def efficient(releases: Releases) -> Aggregate | Sentences:
    """The efficient releases, from the least privacy loss on: what lies on the line of the chart."""
    rows = releases[releases.status == "efficient"].sort_values(list(AXES), kind="stable")
    if rows.empty:
        return none("efficient release")
    titles = {axis: axis_title(axis, rows) for axis in AXES}
    return Aggregate(_written(rows), {"setting": "efficient release", **titles})


@validated
def summary(
    found: Annotated[Summary | None, optional(instead(Summary, "`decision.summary` gives it."))],
) -> Aggregate | Sentences:
    """The lines of a `decision.Summary`: each with its 95% interval, and the baseline that needs no release."""
    if found is None:
        return none("decision")
    rows = []
    for line in found.lines:
        numbers = line.original, line.release, line.baseline
        absent = "not measured" if not any(numbers) else "undefined" if found.setting else "–"
        rows.append((line.title, *(_with_interval(line, each) if each else absent for each in numbers)))
    titles = {
        "title": "risks, and utilities",
        "original": "original",
        "release": found.setting or "none is recommended",
        "baseline": "baseline",
    }
    return Aggregate(pd.DataFrame(rows, columns=[*titles]), titles)


def _with_interval(line: Line, number: Sequence[float]) -> str:
    """A number of a line with its interval."""
    value, low, high = number
    said = Finding("", value, low, high, line.format)
    return f"{said.number} ({said.ends})" if said.ends else said.number


def _written(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with both losses as text, with their intervals."""
    written = {}
    for axis in AXES:
        of = facts(rows[f"{axis}_measure"].iloc[0]) if f"{axis}_measure" in rows else Measure(axis)
        numbers = rows[[axis, f"{axis}_low", f"{axis}_high", f"{axis}_baseline"]]
        written[axis] = [_number(of, *each) for each in numbers.itertuples(index=False)]
    return rows.assign(**written)


def _number(of: Measure, value: float, low: float, high: float, baseline: float) -> str:
    if pd.isna(value):
        return "" if pd.isna(high) else f"withheld, at most {of.bare(high)}"
    beside = "" if pd.isna(baseline) else f"; baseline {of.bare(baseline)}"
    return numerals.ranged(of.format, value, low, high) + beside
