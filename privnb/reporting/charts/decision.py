"""The frontier in tables: which releases are efficient, and which one answers an owner's question."""

import pandas as pd

from privnb.decision import AXES
from privnb.decision.caps import check_choices
from privnb.microdata import expect
from privnb.reporting.charts.base import Aggregate, none

# In what a measure counts, by its name.
UNITS = {
    "privacy loss": "nats", "mean privacy loss": "nats", "utility loss": "nats", "information gain": "nats",
    "largest quotient": "nats", "accuracy gain": "share of people", "posterior accuracy": "share of people",
    "correct links": "share of people", "workload utility": "share of people", "misled": "share of large populations",
    "certainty penalty": "share of the domain", "knowledge gain": "distance, 0 to 1",
    "largest disclosure": "distance, 0 to 1", "average relative error": "share of the true count",
    "median relative error": "share of the true count",
}  # fmt: skip


def which(table):
    """The table of `frontier.choices`: which release, why, and what it costs."""
    check_choices(table)
    costs = ("; it costs " + table.costs).where(table.costs != "", "")
    titles = {"question": "the owner's question", "setting": "which release", **{axis: f"{axis} loss" for axis in AXES}}
    return Aggregate(_told(table).assign(why=table.why + costs), titles | {"why": "why, and what it costs"})


def efficient(releases):
    """The efficient releases, from the least privacy loss on: what lies on the line of the chart."""
    expect.these(releases=releases)
    rows = releases[releases.status == "efficient"].sort_values(list(AXES), kind="stable")
    if rows.empty:
        return none("efficient release")
    titles = {axis: measured(axis, rows[f"{axis}_of"].iloc[0]) for axis in AXES}
    return Aggregate(_told(rows), {"setting": "efficient release", **titles})


def measured(axis, of):
    """An axis in words: the loss, what measures it, in which unit, and the direction."""
    unit = next((unit for name, unit in UNITS.items() if of.startswith(name)), "")
    said = f"{axis} loss" if of == f"{axis} loss" else f"{axis} loss: {of}"
    return f"{said}, {unit} (lower is better)" if unit else f"{said} (lower is better)"


def _told(rows):
    """The rows with both losses as text, with their intervals."""
    told = {
        axis: [_number(*bounds) for bounds in rows[[axis, f"{axis}_low", f"{axis}_high"]].itertuples(index=False)]
        for axis in AXES
    }
    return rows.assign(**told)


def _number(value, low, high):
    if pd.isna(value):
        return "" if pd.isna(high) else f"withheld, at most {high:.4g}"
    return f"{value:.4g}" + (f" ({low:.4g} to {high:.4g})" if low < high else "")
