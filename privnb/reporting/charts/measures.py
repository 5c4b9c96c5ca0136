"""One measure by setting: bars, dots, lines."""

import textwrap
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, as_shares
from privnb.measures import facts
from privnb.reporting.charts.base import (
    Aggregate,
    Drawing,
    axis,
    curves,
    distinguished,
    finish,
    intervals,
    none,
    of_columns,
    settings,
)
from privnb.reporting.charts.frontier import LETTER
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.reporting.charts.narrow import ACROSS
from privnb.reporting.findings.base import extremes
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated
from privnb.sanitizers import catalogue

FAR = 50  # from so many times the smallest number on, the largest one needs a logarithmic axis
HEIGHT = 140  # pixels of a panel of lines: three and their legend are drawn on one screen, not smaller
BOUNDS = {"k": "k-anonymity, by k", "l": "l-diversity (entropy), by l", "t": "t-closeness (equal distance), by t"}


@validated
def bars(results: Results, measure: str) -> Drawing | Sentences:
    """Bars of one measure, one bar per setting, with the number beside it; its interval as a line, its baseline as a
    tick.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    of = facts(measure)
    rows = settings(results[results.measure == measure])
    known = rows.value.notna()
    if not known.any():
        return none(measure)
    rows[["low", "high"]] = rows[["low", "high"]].where(known)  # bounds of what is withheld are no intervals
    rows["said"] = [of.bare(value) if pd.notna(value) else "" for value in rows.value]
    wide = rows.value.min() >= 1 and rows.value.max() >= FAR * rows.value.min()
    rows["at"] = _beside(rows, rows.high if rows.high[known].notna().all() else rows.value, wide)
    shown = Aggregate(rows, dict.fromkeys(["setting", "value", "low", "high", "baseline", "said", "at"], "")).rows
    base = alt.Chart(shown).encode(y=alt.Y("setting:N", sort=None, title=None))
    x = alt.X("value:Q", title=of.label, axis=axis(of.format))
    if wide:  # else all bars but the longest would be invisible
        x = alt.X(
            "value:Q",
            title=f"{of.label}, logarithmic scale",
            axis=alt.Axis(
                format=",%" if "%" in of.format else ",",
                values=[10**power for power in range(13) if 10**power <= 2 * rows.value.max()],
            ),
            scale=alt.Scale(type="log", domain=[1, 2 * float(rows.value.max())], nice=False),
        )
    chart = base.mark_bar(color=COLOURS[5]).encode(x=x, **({"x2": alt.datum(1)} if wide else {}))
    chart += base.mark_text(align="left", dx=6).encode(x="at:Q", text="said:N")
    explained = [f"Bars: {of.label} by setting"]
    if not known.all():
        explained.append("without a bar: withheld")
    if rows.low[known].notna().all():
        explained.append(f"lines: {intervals(results[results.measure == measure])}")
        chart += base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(x="low:Q", x2="high:Q")
    if rows.baseline.notna().all():
        explained.append(f"ticks: the baseline, {of.baseline or 'a guess without the release'}")
        chart += base.mark_tick(color=INK, thickness=2, size=16).encode(x="baseline:Q")
    return finish(chart, extremes(rows, of.title)[0].title, "; ".join(explained) + ".")


def _beside(rows: pd.DataFrame, ends: pd.Series, wide: bool) -> pd.Series:
    """Where the number of each bar begins: at its end, or at its baseline where that would go through the number, on a
    narrow page too.
    """
    across = ACROSS / (np.log(2 * rows.value.max()) if wide else rows[["value", "high", "baseline"]].max().max() or 1)
    room = (np.log(rows.baseline / ends) if wide else rows.baseline - ends) * across
    return ends.mask((room > 0) & (room < LETTER * (1 + rows.said.map(len))), rows.baseline)


@validated
def dots(results: Results, measure: str) -> Drawing | Sentences:
    """One dot per setting and miner, its 95% interval as a line; ticks mark the baseline. One panel per set of
    miners.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    title = facts(measure).title
    unit = f"{facts(measure).phrase} (share of {facts(measure).unit})"
    rows = settings(results[results.measure == measure])
    if rows.value.isna().all():
        return none(measure)
    rows = as_shares(rows)
    order = list(dict.fromkeys(rows.miner))
    panels = [
        ranges(part, "miner", unit, zero=False, format="{:%}", order=order).properties(
            title=alt.Title(name or "main set of miners", fontSize=12), width=WIDTH
        )
        for name, part in rows.groupby("miner_set", sort=False)
    ]
    return finish(
        alt.vconcat(*panels).resolve_scale(x="shared") if len(panels) > 1 else panels[0].properties(title=""),
        extremes(rows, title, format="{:%}")[0].title,
        f"Dots: {unit} by setting and miner; lines: {intervals(results[results.measure == measure])}; ticks: the "
        "baseline.",
    )


@validated
def lines(results: Results, measure: str) -> Drawing | Sentences:
    """One line per sanitizer of a measure by the bound that varies, one panel for each `parameter`: k, l, t.

    Parameters
    ----------
    results : DataFrame
        Of `gallery.losses`.
    measure : str

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    of, rows = facts(measure), results[results.measure == measure].dropna(subset="value")
    if rows.empty:
        return none(measure)
    rows = rows.assign(sanitizer=rows.sanitizer.map(catalogue.title))
    order = list(dict.fromkeys(rows.sanitizer))
    panels = []
    for letter, part in rows.groupby("parameter", sort=False):
        scale = alt.Scale(type="log", nice=False) if letter == "k" else alt.Scale(zero=False)
        x = alt.X("bound:Q", title=letter, scale=scale, axis=alt.Axis(values=sorted(set(part.bound)), format="g"))
        y = alt.Y("value:Q", title=textwrap.wrap(of.label, 24), axis=axis(of.format))
        panel = curves(part, x, y, "sanitizer", order)
        panels.append(panel.properties(title=alt.Title(BOUNDS[letter], fontSize=12), width=WIDTH, height=HEIGHT))
    return finish(
        alt.vconcat(*panels),
        extremes(results[results.measure == measure].dropna(subset="value"), of.title)[0].title,
        f"Lines: {of.label} by sanitizer; {of.better} is better. A sanitizer that cannot reach a bound has no point "
        "there, nor has a number that is withheld.",
    )


def ranges(
    rows: pd.DataFrame,
    series: str,
    unit: str,
    *,
    zero: bool = True,
    format: str = "{:,}",
    order: Sequence[str] | None = None,
    labels: bool = True,
    colours: Sequence[str] = COLOURS,
) -> alt.LayerChart:
    """A point for each setting and member of `series`, each in its colour and shape, with interval and baseline.

    `order`: all members that the legend lists; None: those of these rows. `labels`: whether settings are named.
    `colours`: one for each of `order`.
    """
    here = list(dict.fromkeys(rows[series]))
    order = order or here
    base = of_columns(rows, ["setting", series, "value", "low", "high", "baseline"]).encode(
        y=alt.Y("setting:N", sort=None, title=None, axis=alt.Axis(labels=labels, ticks=labels, labelLimit=320)),
        yOffset=alt.YOffset(f"{series}:N", sort=here),
    )
    x = alt.X("value:Q", title=unit, axis=axis(format), scale=alt.Scale(zero=zero))
    chart = alt.layer()
    if rows.baseline.notna().any():
        chart += base.mark_tick(color=INK, thickness=2, size=8).encode(x=alt.X("baseline:Q", title=unit))
    if rows.low.notna().any():
        chart += base.mark_rule(color=GREY).encode(x="low:Q", x2="high:Q")
    chart += base.mark_point(filled=True, size=60, opacity=1).encode(x=x, **distinguished(series, order, colours))
    return chart.properties(height=alt.Step(max(20, 10 * len(here)), **{"for": "position"}))
