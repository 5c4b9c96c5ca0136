"""What rules cost to hide, what published models add, and what tables of counts tell."""

import altair as alt

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.reporting.charts.base import Drawing, axis, curves, finish, intervals, none
from privnb.reporting.charts.looks import WIDTH
from privnb.reporting.charts.measures import ranges
from privnb.reporting.findings.base import Finding
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated

COSTS = {"misses_cost": "other rules lost", "artifactual_patterns": "rules found that are new"}
MODEL, CONTROL = "learned from the people", "learned from random labels"


@validated
def hidden_rules(results: Results) -> Drawing | Sentences:
    """Two points for each way to hide rules: the share of other rules that it loses, and of those found that are new.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.rules_hidden`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    rows = results[results.measure.isin(COSTS) & (results.variant == "")].dropna(subset="value")
    if rows.empty:
        return none("hidden rule")
    rows = rows.assign(setting=rows.sanitizer, kind=rows.measure.map(COSTS))
    lost = rows[rows.measure == "misses_cost"]
    least, most = lost.loc[lost.value.idxmin()], lost.loc[lost.value.idxmax()]
    title = Finding.of(
        least, f"Least of the other rules lost, by {least.setting}", setting="", beside={most.setting: most.value}
    ).title
    chart = ranges(rows, "kind", "share of rules", format="{:%}", order=list(COSTS.values())).properties(width=WIDTH)
    return finish(chart, title, "Points: of each way to hide the rules, what becomes of all others; lower is better.")


@validated
def published_models(results: Results) -> Drawing | Sentences:
    """A point for each miner's published model: how many people an adversary guesses right who has it; ticks: who
    has not.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.models_published`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    rows = results[results.measure == "model_channel"].dropna(subset="value")
    if rows.empty:
        return none("published model that may be shown")
    rows = rows.assign(setting=rows.miner, kind=rows.control.map(lambda control: CONTROL if control else MODEL))
    best = rows.loc[(rows.value - rows.baseline).idxmax()]
    of = facts("model_channel")
    chart = ranges(rows, "kind", of.unit, zero=False, format="{:%}", order=[MODEL, CONTROL]).properties(width=WIDTH)
    return finish(
        chart,
        Finding.of(best, f"{of.title}, by {best.miner}", setting="").title,
        f"Points: people guessed right with the published model, lower is better; lines: {intervals(rows)}; "
        "ticks: without it.",
    )


@validated
def counts_known(results: Results) -> Drawing | Sentences:
    """A line each for tables published in full and with small counts suppressed: the share of small counts that are
    known to within so many people.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.tables_published`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    rows = results[results.measure == "bounds_within"].dropna(subset="value")
    if rows.empty:
        return none("small count")
    disclosed = rows[rows.bound < results[results.measure == "cells_disclosed"].bound.iloc[0]]
    disclosed = disclosed.loc[disclosed.groupby("variant", sort=False).bound.idxmax()]
    if disclosed.empty:
        return none("small count")
    first, *others = disclosed.itertuples()
    of = facts("bounds_within")
    people = "1 person" if first.bound == 1 else f"{first.bound:g} people"
    title = f"Small counts known to within {people}, {first.variant}: {of.bare(first.value)}"
    title += "".join(f"; {other.variant}: {of.bare(other.value)}" for other in others)
    x = alt.X("bound:Q", title="width of the bounds", axis=alt.Axis(values=sorted({*rows.bound})))
    y = alt.Y("value:Q", title=of.unit, axis=axis(of.format), scale=alt.Scale(domain=[0, 1]))
    return finish(
        curves(rows, x, y, "variant"),
        title,
        "Lines: share of small counts whose bounds, by tables of two attributes, lie that close; lower is better.",
    )
