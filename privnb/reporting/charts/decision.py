"""The frontier in tables: which releases are efficient, and which one answers an owner's question."""

import pandas as pd

from privnb.decision import AXES, Summary
from privnb.decision.two_losses import check_choices
from privnb.measures import facts
from privnb.measures.base import Measure
from privnb.reporting.charts.base import Aggregate, none
from privnb.reporting.findings.base import Finding
from privnb.runtime import expect, numerals


def which(table):
    """The table of `decision.choices`: which release, why, and what it costs."""
    check_choices("table", table)
    costs = ("; it costs " + table.costs).where(table.costs != "", "")
    titles = {"question": "the owner's question", "setting": "which release", **{axis: f"{axis} loss" for axis in AXES}}
    return Aggregate(_written(table).assign(why=table.why + costs), titles | {"why": "why, and what it costs"})


def efficient(releases):
    """The efficient releases, from the least privacy loss on: what lies on the line of the chart."""
    expect.these(releases=releases)
    rows = releases[releases.status == "efficient"].sort_values(list(AXES), kind="stable")
    if rows.empty:
        return none("efficient release")
    titles = {axis: axis_title(axis, rows) for axis in AXES}
    return Aggregate(_written(rows), {"setting": "efficient release", **titles})


def summary(found):
    """The lines of a `decision.Summary`: each with its 95% interval, and the baseline that needs no release."""
    if found is None:
        return none("decision")
    expect.kind("found", found, Summary, instead="`decision.summary` gives it.")
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


def _with_interval(line, number):
    """A number of a line with its interval."""
    said = Finding("", *number, format=line.format)
    return f"{said.number} ({said.interval.removeprefix('95% interval ')})" if said.interval else said.number


def axis_title(axis, releases):
    """An axis in words: the loss, what measures it, in which unit, and the direction."""
    of, unit = releases[f"{axis}_of"].iloc[0], facts(releases[f"{axis}_measure"].iloc[0]).unit
    said = of if of.startswith(f"{axis} loss") else f"{axis} loss: {of}"
    return f"{said}, {unit} (lower is better)" if unit else f"{said} (lower is better)"


def _written(rows):
    """The rows with both losses as text, with their intervals."""
    written = {}
    for axis in AXES:
        of = facts(rows[f"{axis}_measure"].iloc[0]) if f"{axis}_measure" in rows else Measure(axis)
        bounds = rows[[axis, f"{axis}_low", f"{axis}_high", f"{axis}_baseline"]]
        written[axis] = [_number(of.format, *each) for each in bounds.itertuples(index=False)]
    return rows.assign(**written)


def _number(format, value, low, high, baseline):
    if pd.isna(value):
        return "" if pd.isna(high) else f"withheld, at most {numerals.bare(format, high)}"
    beside = "" if pd.isna(baseline) else f"; baseline {numerals.bare(format, baseline)}"
    return numerals.ranged(format, value, low, high) + beside
