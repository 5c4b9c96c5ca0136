"""Bars, each with its number: one measure by setting, people by group, people singled out by what is known of them."""

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.reporting.charts.base import Aggregate, Counts, axis, intervals, merge_small, of_columns, settings
from privnb.reporting.charts.drawing import Drawn, Nothing, drawing, some
from privnb.reporting.charts.frontier import LETTER
from privnb.reporting.charts.looks import COLOURS, INK
from privnb.reporting.charts.narrow import ACROSS
from privnb.reporting.findings.base import extremes
from privnb.runtime import numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.names import names_in

FAR = 50  # from so many times the smallest number on, the largest one needs a logarithmic axis


@drawing
def bars(results: Results, measure: str) -> Drawn:
    """Bars of one measure, one bar per setting, with the number beside it; its interval as a line, its baseline as a
    tick.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str
    """
    of = facts(measure)
    whole = results[results.measure == measure]
    rows = settings(whole)
    known = rows.value.notna()
    some(rows[known], measure)
    rows[["low", "high"]] = rows[["low", "high"]].where(known)  # bounds of what is withheld are no intervals
    rows["said"] = [of.bare(value) if pd.notna(value) else "" for value in rows.value]
    wide = rows.value.min() >= 1 and rows.value.max() >= FAR * rows.value.min()
    rows["at"] = _beside(rows, rows.high if rows.high[known].notna().all() else rows.value, wide)
    base = of_columns(rows, ["setting", "value", "low", "high", "baseline", "said", "at"])
    base = base.encode(y=alt.Y("setting:N", sort=None, title=None))
    x = alt.X("value:Q", title=of.label, axis=axis(of.format))
    if wide:  # else all bars but the longest would be invisible
        most = 2 * float(rows.value.max())
        powers = [10**power for power in range(13) if 10**power <= most]
        ticks = alt.Axis(format=",%" if "%" in of.format else ",", values=powers)
        scale = alt.Scale(type="log", domain=[1, most], nice=False)
        x = alt.X("value:Q", title=f"{of.label}, logarithmic scale", axis=ticks, scale=scale)
    chart = base.mark_bar(color=COLOURS[5]).encode(x=x, **({"x2": alt.datum(1)} if wide else {}))
    chart += base.mark_text(align="left", dx=6).encode(x="at:Q", text="said:N")
    explained = [f"Bars: {of.label} by setting", *["without a bar: withheld"] * (not known.all())]
    if rows.low[known].notna().all():
        explained.append(f"lines: {intervals(whole)}")
        chart += base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(x="low:Q", x2="high:Q")
    if rows.baseline.notna().all():
        explained.append(f"ticks: the baseline, {of.baseline or 'a guess without the release'}")
        chart += base.mark_tick(color=INK, thickness=2, size=16).encode(x="baseline:Q")
    return chart, extremes(rows, of.title)[0].title, "; ".join(explained) + "."


def _beside(rows: pd.DataFrame, ends: pd.Series, wide: bool) -> pd.Series:
    """Where the number of each bar begins: at its end, or at its baseline where that would go through the number, on a
    narrow page too.
    """
    across = ACROSS / (np.log(2 * rows.value.max()) if wide else rows[["value", "high", "baseline"]].max().max() or 1)
    room = (np.log(rows.baseline / ends) if wide else rows.baseline - ends) * across
    return ends.mask((room > 0) & (room < LETTER * (1 + rows.said.map(len))), rows.baseline)


def histogram(counted: Aggregate, column: str, unit: str, angle: int) -> alt.Chart:
    """Bars of people by the groups of a column of an `Aggregate`."""
    x = alt.X(f"{column}:N", sort=None, title=unit, axis=alt.Axis(labelAngle=angle))
    tips = [alt.Tooltip(f"{column}:N", title=unit), "people:Q"]
    bars = alt.Chart(counted.rows).mark_bar(color=COLOURS[0])
    return bars.encode(x=x, y=alt.Y("people:Q", title="people"), tooltip=tips)


@drawing
def people(counts: Counts, everybody: int | None = None, fewest: MinCount = LIMIT) -> Drawn:
    """Bars of people by group.

    Parameters
    ----------
    counts : Series
        People by group, its index named after the attribute; small groups are merged with their neighbours.
    everybody : int, optional
        How many people there are, where one with several records may be in several groups; None: their sum.
    fewest : int
        All together are at least as many; else a sentence says so.
    """
    if everybody is not None and not counts.max() <= everybody <= counts.sum():
        raise UsageError(f"everybody must be as many as the largest group, at most as all of them, got {everybody}.")
    if 0 < counts.sum() < fewest:
        raise Nothing(why=f"The table has fewer than {fewest} people, so that no group of them is shown.")
    unit = str(counts.index.name)
    merged = merge_small(counts, fewest)
    most = numerals.percent(merged.max() / (everybody or merged.sum()))
    groups = merged.rename_axis("group").rename("people").reset_index()
    shown = Aggregate(groups, {"group": unit, "people": "people"}, fewest)
    return (
        histogram(shown, "group", unit, -45),
        f"{most} of all people have {unit} {merged.idxmax()}, the commonest group",
        f"Bars: number of people by {unit}.",
    )


@drawing
def uniqueness(results: Results) -> Drawn:
    """Share of people singled out, by how many quasi-identifiers are known: the mean over all sets, and their range."""
    rows = results[results.measure == "unique"].assign(known=lambda r: r.knows.map(names_in).map(len))
    if rows.empty:
        raise Nothing(why="No attribute is known to others: this table has no quasi-identifier.")
    rows["drawn"] = rows.value.fillna(rows.high)  # withheld: at its upper bound, if it has one
    sets = rows.groupby("known")
    spread = sets.drawn.agg(["min", "max"]).assign(mean=sets.drawn.agg(lambda drawn: drawn.mean(skipna=False)))
    spread = spread.assign(exact=sets.value.agg(lambda value: value.notna().all())).reset_index()
    known = "number of quasi-identifiers that the adversary knows"
    x = alt.X("known:O", title=known, axis=alt.Axis(labelAngle=0))
    base = of_columns(spread, ["known", "min", "mean", "max"]).encode(x=x)
    share = alt.Y("min:Q", title="share of people who are unique", axis=alt.Axis(format="%"))
    return (
        base.mark_bar(color=COLOURS[5], size=14).encode(y=share, y2="max:Q")
        + base.mark_point(color=COLOURS[1], filled=True, size=80, shape="diamond", opacity=1).encode(y="mean:Q"),
        f"One known attribute singles out {_mean(spread.iloc[0])} on average, "
        f"all {spread.known.iloc[-1]} together {_mean(spread.iloc[-1])}",
        "Bars: range over all sets of as many quasi-identifiers; diamonds: their mean."
        + " Of what is withheld the upper bound is drawn, if there is one." * (not spread.exact.all()),
    )


def _mean(sets: pd.Series) -> str:
    """The mean of a row of `spread`, in words: of bounds it is one itself."""
    if np.isnan(sets["mean"]):
        return "a withheld share of people"
    share = numerals.written("{:%} of people", sets["mean"])
    return share if sets.exact else f"at most {share}"
