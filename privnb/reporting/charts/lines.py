"""Line charts: by the bound of a privacy model, by the share of people with a wish, and by the values of a column."""

import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results, name_setting
from privnb.measures import measure_facts
from privnb.measures.base import Measure
from privnb.reporting.charts.base import add_ids, axis, choose_title, distinguish_series, of_columns, tip_format
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some
from privnb.runtime import expect
from privnb.runtime.sentences import join_names
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
    """Return a line with points for each member of `series`; each member has a different color and shape.

    The lines show the values of a measure by the column of the encoding `x`. `upright` holds options of the vertical
    axis.
    """
    looks = distinguish_series(series, order or list(dict.fromkeys(rows[series])))
    y = alt.Y("value:Q", **{"title": of.label, "axis": axis(of.format)} | upright)
    column = x.shorthand.partition(":")[0]
    base = of_columns(rows, [column, "value", series]).encode(x=x, y=y, color=looks["color"])
    tips = [
        alt.Tooltip(f"{series}:N"),
        alt.Tooltip(x.shorthand, title=x["title"], format=x["axis"]["format"]),
        alt.Tooltip("value:Q", title=of.label, format=tip_format(of.format)),
    ]
    points = base.mark_point(filled=True, size=size, opacity=1).encode(shape=looks["shape"], tooltip=tips)
    return base.mark_line() + points  # with a shape, a line would draw points of its own


@drawing
def lines(results: Results, measure: str) -> Drawn:
    """Draw a measure by the bound of a privacy model, with a line per sanitizer and a panel per `parameter`: k, l, t.

    Parameters
    ----------
    results : DataFrame
        The table of `gallery.measure_penalties`.
    measure : str
    """
    of, rows = measure_facts(measure), some(results[results.measure == measure].dropna(subset="value"), measure)
    named = add_ids(rows).assign(sanitizer=rows.sanitizer.map(catalogue.title))
    order = list(dict.fromkeys(named.sanitizer))
    panels = []
    for letter, part in named.groupby("parameter", sort=False):
        scale = alt.Scale(type="log", nice=False) if letter == "k" else alt.Scale(zero=False)
        x = alt.X("bound:Q", title=letter, scale=scale, axis=alt.Axis(values=sorted(set(part.bound)), format="g"))
        chart = curves(part, of, x, "sanitizer", order, title=textwrap.wrap(of.label, 24))
        panels.append(panel(chart.properties(height=HEIGHT), BOUNDS[letter]))
    return (
        alt.vconcat(*panels),
        choose_title(
            f"{of.title} is largest with {name_setting(rows.loc[rows.value.idxmax()])}", f"{of.title} by bound"
        ),
        f"Each line shows the {of.label} by sanitizer; {of.better} is better. Points are missing where a sanitizer "
        "cannot reach a bound, or where a number is withheld.",
    )


@drawing
def by_wishes(results: Results, measure: str) -> Drawn:
    """Draw a measure by the share of people who have a wish, with a line for each method that meets wishes.

    Parameters
    ----------
    results : DataFrame
        The results of `experiments.own_k` or `experiments.guards`.
    measure : str
    """
    of, rows = measure_facts(measure), some(results[(results.measure == measure) & results.value.notna()], measure)
    x = alt.X("bound:Q", title="people with a wish", axis=alt.Axis(values=sorted({*rows.bound}), format=".0%"))
    apart = rows.groupby("variant").value.agg(lambda values: values.max() - values.min())
    moved = max(dict.fromkeys(rows.variant), key=apart.get)  # a flat line shows nothing about wishes
    line = rows[rows.variant == moved].sort_values("bound")
    first, last = line.iloc[0], line.iloc[-1]
    return (
        curves(rows, of, x),
        choose_title(f"{of.title}: {of.bare(first.value)} with few wishes, {of.bare(last.value)} with many", of.title),
        f"The lines show the {of.label} by the share of people who have a wish; {of.better} is better. The title "
        f"compares {first.bound:.0%} with {last.bound:.0%} of people ({moved}). Withheld or impossible numbers have no "
        "point.",
    )


@drawing
def distributions(results: Results, target: str = "") -> Drawn:
    """Draw the distribution of one column by interval or category, with a line for each reading of the release.

    Parameters
    ----------
    results : DataFrame
        The results of `reconstruction.reconstruct_distributions`.
    target : str
        The column. If it is empty, the first column is drawn.
    """
    shares = some(results[results.measure == "interval_share"], "interval share")
    target = target or shares.target.iloc[0]
    expect.one_of("target", target, dict.fromkeys(shares.target))
    known = results[results.target == target].dropna(subset="value")
    first = some(known[known.measure == "interval_share"], "interval share").iloc[0]
    known = known[(known.sanitizer == first.sanitizer) & (known.parameters == first.parameters)]
    rows, losses = (known[known.measure == measure] for measure in ("interval_share", "distribution_loss"))
    of, order = measure_facts("interval_share"), [kind for kind in KINDS if kind in set(rows.variant)]
    x = alt.X("group:N", sort=list(dict.fromkeys(rows.group)), title=target, axis=alt.Axis(labelAngle=-45))
    title = f"How {target} is distributed"
    if len(losses):
        best = losses.loc[losses.value.idxmin()]
        lost = measure_facts("distribution_loss")
        least = f"{lost.bare(best.value)}, {best.variant}"
        title = choose_title(f"{lost.title} of {target}: {least}", f"{lost.title}: {least}", title)
    said = f"Each line shows the {of.label} by {target}. A missing point concerns few people and is withheld."
    return curves(rows, of, x, order=order, size=50), title, said


@drawing
def counts_known(results: Results) -> Drawn:
    """Draw the share of small counts that an adversary knows to within N people, by N.

    One line shows tables that are published in full, and the other line shows tables whose small counts are suppressed.

    Parameters
    ----------
    results : DataFrame
        The results of `published_tables.attack_published_tables`.
    """
    rows = some(results[results.measure == "bounds_within"].dropna(subset="value"), "small count")
    disclosed = rows[rows.bound < results[results.measure == "cells_disclosed"].bound.iloc[0]]
    disclosed = some(disclosed.loc[disclosed.groupby("variant", sort=False).bound.idxmax()], "small count")
    first, *others = disclosed.itertuples()
    of = measure_facts("bounds_within")
    people = "1 person" if first.bound == 1 else f"{first.bound:g} people"
    title = f"{of.bare(first.value)} of small counts are known to within {people}"
    variants = [f"{of.bare(each.value)} ({each.variant})" for each in (first, *others)]
    x = alt.X("bound:Q", title="width of the bounds", axis=alt.Axis(values=sorted({*rows.bound})))
    return (
        curves(rows, of, x, title=of.unit, scale=alt.Scale(domain=[0, 1])),
        title,
        "The lines show the share of small counts whose bounds, from tables of two attributes, differ by at most the "
        f"given number of people; lower is better. Known to within {people}: {join_names(variants)}.",
    )
