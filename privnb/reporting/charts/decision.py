"""The frontier in tables: which releases are efficient, and which one answers an owner's question."""

from collections.abc import Sequence
from typing import Annotated

import pandas as pd

from privnb.decision import AXES, Summary
from privnb.decision.points import Releases
from privnb.decision.summary import Line
from privnb.decision.two_losses import check_choices
from privnb.measures import facts
from privnb.measures.base import Measure
from privnb.reporting.charts.base import Aggregate, none
from privnb.reporting.findings.base import Finding
from privnb.runtime import numerals
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import instead, optional, validated


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
    return f"{said.number} ({said.interval.removeprefix('95% interval ')})" if said.interval else said.number


def axis_title(axis: str, releases: pd.DataFrame) -> str:
    """An axis in words: the loss, what measures it, in which unit, and the direction."""
    of, unit = releases[f"{axis}_of"].iloc[0], facts(releases[f"{axis}_measure"].iloc[0]).unit
    said = of if of.startswith(f"{axis} loss") else f"{axis} loss: {of}"
    return f"{said}, {unit} (lower is better)" if unit else f"{said} (lower is better)"


def _written(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with both losses as text, with their intervals."""
    written = {}
    for axis in AXES:
        of = facts(rows[f"{axis}_measure"].iloc[0]) if f"{axis}_measure" in rows else Measure(axis)
        bounds = rows[[axis, f"{axis}_low", f"{axis}_high", f"{axis}_baseline"]]
        written[axis] = [_number(of.format, *each) for each in bounds.itertuples(index=False)]
    return rows.assign(**written)


def _number(format: str, value: float, low: float, high: float, baseline: float) -> str:
    if pd.isna(value):
        return "" if pd.isna(high) else f"withheld, at most {numerals.bare(format, high)}"
    beside = "" if pd.isna(baseline) else f"; baseline {numerals.bare(format, baseline)}"
    return numerals.ranged(format, value, low, high) + beside
