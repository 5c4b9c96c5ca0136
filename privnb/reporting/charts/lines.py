"""A line for each member of a series: by the bound of a privacy model, by wishes, by the values of a column."""

import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.measures.base import Measure
from privnb.reporting.charts.base import axis, distinguished, of_columns
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some
from privnb.reporting.findings.base import Finding, extremes
from privnb.runtime import expect
from privnb.sanitizers import catalogue

HEIGHT = 140  # pixels of a panel of lines: three and their legend are drawn on one screen, not smaller
BOUNDS = {"k": "k-anonymity, by k", "l": "l-diversity (entropy), by l", "t": "t-closeness (equal distance), by t"}
LITERAL, RECONSTRUCTED = "taken literally", "reconstructed (EM)"
KINDS = "the table", LITERAL, RECONSTRUCTED, "reconstructed (Bayes)"


def curves(
    rows: pd.DataFrame,
    of: Measure,
    x: alt.X,
    series: str = "variant",
    order: Sequence[str] | None = None,
    *,
    size: int = 60,
    **upright: Any,
) -> alt.LayerChart:
    """A line with points for each member of `series`, in its colour and shape: the values of a measure by the column of
    the encoding `x`. `upright`: what else the upright axis says.
    """
    looks = distinguished(series, order or list(dict.fromkeys(rows[series])))
    y = alt.Y("value:Q", **{"title": of.label, "axis": axis(of.format)} | upright)
    base = of_columns(rows, [x.shorthand.partition(":")[0], "value", series]).encode(x=x, y=y, **looks)
    return base.mark_line() + base.mark_point(filled=True, size=size, opacity=1)


@drawing
def lines(results: Results, measure: str) -> Drawn:
    """One line per sanitizer of a measure by the bound that varies, one panel for each `parameter`: k, l, t.

    Parameters
    ----------
    results : DataFrame
        Of `gallery.losses`.
    measure : str
    """
    of, rows = facts(measure), some(results[results.measure == measure].dropna(subset="value"), measure)
    named = rows.assign(sanitizer=rows.sanitizer.map(catalogue.title))
    order = list(dict.fromkeys(named.sanitizer))
    panels = []
    for letter, part in named.groupby("parameter", sort=False):
        scale = alt.Scale(type="log", nice=False) if letter == "k" else alt.Scale(zero=False)
        x = alt.X("bound:Q", title=letter, scale=scale, axis=alt.Axis(values=sorted(set(part.bound)), format="g"))
        chart = curves(part, of, x, "sanitizer", order, title=textwrap.wrap(of.label, 24))
        panels.append(panel(chart.properties(height=HEIGHT), BOUNDS[letter]))
    return (
        alt.vconcat(*panels),
        extremes(rows, of.title)[0].title,
        f"Lines: {of.label} by sanitizer; {of.better} is better. A sanitizer that cannot reach a bound has no point "
        "there, nor has a number that is withheld.",
    )


@drawing
def by_wishes(results: Results, measure: str) -> Drawn:
    """A line per way of keeping wishes: a measure by the share of people who have one.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.own_k` or `experiments.guards`.
    measure : str
    """
    of, rows = facts(measure), some(results[(results.measure == measure) & results.value.notna()], measure)
    x = alt.X("bound:Q", title="people with a wish", axis=alt.Axis(values=sorted({*rows.bound}), format=".0%"))
    apart = rows.groupby("variant").value.agg(lambda values: values.max() - values.min())
    moved = max(dict.fromkeys(rows.variant), key=apart.get)  # a line that lies flat tells nothing of wishes
    line = rows[rows.variant == moved].sort_values("bound")
    first, last = line.iloc[0], line.iloc[-1]
    return (
        curves(rows, of, x),
        f"{of.title}, {moved}: {of.bare(first.value)} if {first.bound:.0%} of people have a wish, "
        f"{of.bare(last.value)} if {last.bound:.0%} do",
        f"Lines: {of.label} by how many people have a wish; {of.better} is better. What is withheld or "
        "impossible has no point.",
    )


@drawing
def distributions(results: Results, target: str = "") -> Drawn:
    """A line for each reading of one column, by interval or category.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.reconstructions`.
    target : str
        The column; empty: the first.
    """
    shares = some(results[results.measure == "interval_share"], "interval share")
    target = target or shares.target.iloc[0]
    expect.one_of("target", target, dict.fromkeys(shares.target))
    known = results[results.target == target].dropna(subset="value")
    first = some(known[known.measure == "interval_share"], "interval share").iloc[0]
    known = known[(known.sanitizer == first.sanitizer) & (known.parameters == first.parameters)]
    rows, losses = (known[known.measure == measure] for measure in ("interval_share", "distribution_loss"))
    of, order = facts("interval_share"), [kind for kind in KINDS if kind in set(rows.variant)]
    x = alt.X("group:N", sort=list(dict.fromkeys(rows.group)), title=target, axis=alt.Axis(labelAngle=-45))
    title = f"How {target} is distributed"
    if len(losses):
        best = losses.loc[losses.value.idxmin()]
        title = Finding.of(best, f"{facts('distribution_loss').title}, {target} {best.variant}").title
    said = f"Lines: {of.label} by {target}. A point that is missing is of few people, and withheld."
    return curves(rows, of, x, order=order, size=50), title, said


@drawing
def counts_known(results: Results) -> Drawn:
    """A line each for tables published in full and with small counts suppressed: the share of small counts that are
    known to within so many people.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.tables_published`.
    """
    rows = some(results[results.measure == "bounds_within"].dropna(subset="value"), "small count")
    disclosed = rows[rows.bound < results[results.measure == "cells_disclosed"].bound.iloc[0]]
    disclosed = some(disclosed.loc[disclosed.groupby("variant", sort=False).bound.idxmax()], "small count")
    first, *others = disclosed.itertuples()
    of = facts("bounds_within")
    people = "1 person" if first.bound == 1 else f"{first.bound:g} people"
    title = f"Small counts known to within {people}, {first.variant}: {of.bare(first.value)}"
    title += "".join(f"; {other.variant}: {of.bare(other.value)}" for other in others)
    x = alt.X("bound:Q", title="width of the bounds", axis=alt.Axis(values=sorted({*rows.bound})))
    return (
        curves(rows, of, x, title=of.unit, scale=alt.Scale(domain=[0, 1])),
        title,
        "Lines: share of small counts whose bounds, by tables of two attributes, lie that close; lower is better.",
    )
