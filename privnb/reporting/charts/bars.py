"""Bars with numbers: a measure by setting, people by group, and people who are unique by the attributes known."""

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import measure_facts
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.reporting.charts.base import (
    ID,
    Aggregate,
    Counts,
    average_settings,
    axis,
    choose_title,
    describe_intervals,
    distinguish_series,
    merge_small,
    name_releases,
    of_columns,
)
from privnb.reporting.charts.drawing import Drawn, Nothing, drawing, some
from privnb.reporting.charts.frontier import LETTER
from privnb.reporting.charts.looks import COLOURS, INK
from privnb.reporting.charts.narrow import ACROSS
from privnb.runtime import numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.names import escape_invisible, parse_names

FAR = 50  # times the smallest number: a larger number needs a logarithmic axis


@drawing
def bars(results: Results, measure: str) -> Drawn:
    """Draw one measure as bars with numbers, one bar per setting; if the axis is logarithmic, draw dots.

    A line shows the interval, and a tick shows the baseline.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str
    """
    of = measure_facts(measure)
    whole = results[results.measure == measure]
    rows = average_settings(whole)
    known = rows.value.notna()
    some(rows[known], measure)
    rows[["low", "high"]] = rows[["low", "high"]].where(
        known
    )  # the bounds of a withheld number do not form an interval
    rows["said"] = [of.bare(value) if pd.notna(value) else "" for value in rows.value]
    wide = rows.value.min() >= 1 and rows.value.max() >= FAR * rows.value.min()
    rows["at"] = _place_numbers(rows, rows.high if rows.high[known].notna().all() else rows.value, wide)
    base = of_columns(rows, ["setting", "value", "low", "high", "baseline", "said", "at"])
    base = base.encode(y=alt.Y("setting:N", sort=None, title=None))
    x = alt.X("value:Q", title=of.label, axis=axis(of.format))
    if wide:  # else all bars but the longest would be invisible
        most = 2 * float(rows.value.max())
        powers = [10**power for power in range(13) if 10**power <= most]
        ticks = alt.Axis(format=",%" if "%" in of.format else ",", values=powers)
        scale = alt.Scale(type="log", domain=[1, most], nice=False)
        x = alt.X("value:Q", title=f"{of.label}, logarithmic scale", axis=ticks, scale=scale)
    # The length of a bar means nothing on a logarithmic axis.
    marks = (
        base.mark_point(color=COLOURS[0], filled=True, size=90, opacity=1) if wide else base.mark_bar(color=COLOURS[5])
    )
    chart = marks.encode(x=x, tooltip=[alt.Tooltip("setting:N"), alt.Tooltip("said:N", title=of.label)])
    chart += base.mark_text(align="left", dx=6).encode(x="at:Q", text="said:N")
    mark = "dot" if wide else "bar"
    explained = [f"{mark.capitalize()}s show the {of.label} by setting."]
    explained += [f"A number without a {mark} is withheld."] * (not known.all())
    if rows.low[known].notna().all():
        explained.append(f"Lines show {describe_intervals(whole)}.")
        chart += base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(x="low:Q", x2="high:Q")
    if rows.baseline.notna().all():
        explained.append(f"Ticks show the baseline, {of.baseline or 'a guess without the release'}.")
        chart += base.mark_tick(color=INK, thickness=2, size=16).encode(x="baseline:Q")
    # A withheld number may be the largest.
    largest = f": at most {numerals.write_number(of.format, rows.value.max())}" if known.all() else " of each release"
    return chart, f"{of.title}{largest}", " ".join(explained)


def _place_numbers(rows: pd.DataFrame, ends: pd.Series, wide: bool) -> pd.Series:
    """Return the place on the axis at which the number of each bar begins; it is also suitable for a narrow page.

    The number begins at the end of the bar. If the tick of the baseline would cross the number, the number begins at
    the baseline.
    """
    across = ACROSS / (np.log(2 * rows.value.max()) if wide else rows[["value", "high", "baseline"]].max().max() or 1)
    room = (np.log(rows.baseline / ends) if wide else rows.baseline - ends) * across
    return ends.mask((room > 0) & (room < LETTER * (1 + rows.said.map(len))), rows.baseline)


def histogram(counted: Aggregate, column: str, unit: str, angle: int) -> alt.Chart:
    """Return bars of the number of people in each group, where the groups are those in a column of an `Aggregate`."""
    x = alt.X(f"{column}:N", sort=None, title=unit, axis=alt.Axis(labelAngle=angle))
    tips = [alt.Tooltip(f"{column}:N", title=unit), "people:Q"]
    bars = alt.Chart(counted.rows).mark_bar(color=COLOURS[0])
    return bars.encode(x=x, y=alt.Y("people:Q", title="people"), tooltip=tips)


@drawing
def people(counts: Counts, everybody: int | None = None, min_count: MinCount = LIMIT) -> Drawn:
    """Draw bars of the number of people in each group.

    Parameters
    ----------
    counts : Series
        The number of people in each group, with the attribute as the name of the index; small groups are merged with
        neighboring groups.
    everybody : int, optional
        The number of all people, if a person with several records may be in several groups. If it is None, the sum of
        `counts` is used.
    min_count : int
        The minimum number of all people; if there are fewer people, a sentence replaces the chart.
    """
    if everybody is not None and not counts.max() <= everybody <= counts.sum():
        raise UsageError(
            "`everybody` must be at least the size of the largest group and at most the sum of all groups; got "
            f"{everybody}."
        )
    if 0 < counts.sum() < min_count:
        raise Nothing(why=f"The table has fewer than {min_count} people, so no group of people is shown.")
    unit = str(counts.index.name)
    merged = merge_small(counts, min_count)
    most = numerals.write_percent(merged.max() / (everybody or merged.sum()))
    groups = merged.rename_axis("group").rename("people").reset_index()
    shown = Aggregate(groups, {"group": unit, "people": "people"}, min_count)
    return (
        histogram(shown, "group", unit, -45),
        choose_title(
            f"The largest group of {unit} is {merged.idxmax()} ({most})", f"The largest group: {most} of people"
        ),
        f"Bars show the number of people by {unit}.",
    )


@drawing
def uniqueness(results: Results) -> Drawn:
    """Draw the share of people who are unique, by the number of known quasi-identifiers.

    The chart shows the mean and the range over all sets of this number of quasi-identifiers.
    """
    rows = results[results.measure == "unique"].assign(known=lambda r: r.knows.map(parse_names).map(len))
    if rows.empty:
        raise Nothing(why="No attribute is known to others: this table has no quasi-identifier.")
    rows["drawn"] = rows.value.fillna(rows.high)  # withheld: at its upper bound, if it has one
    sets = rows.groupby("known")
    spread = sets.drawn.agg(["min", "max"]).assign(mean=sets.drawn.agg(lambda drawn: drawn.mean(skipna=False)))
    spread = spread.assign(exact=sets.value.agg(lambda value: value.notna().all())).reset_index()
    spread[ID] = f"{name_releases(rows)[ID].iloc[0]}-unique"
    known = "number of quasi-identifiers that the adversary knows"
    x = alt.X("known:O", title=known, axis=alt.Axis(labelAngle=0))
    base = of_columns(spread, ["known", "min", "mean", "max"]).encode(x=x)
    share = alt.Y("min:Q", title="share of people who are unique", axis=alt.Axis(format="%"))
    tips = [
        alt.Tooltip("known:O", title="known quasi-identifiers"),
        *(alt.Tooltip(f"{name}:Q", title=f"{name} share of people", format=".2%") for name in ("min", "mean", "max")),
    ]
    return (
        base.mark_bar(color=COLOURS[5], size=14).encode(y=share, y2="max:Q", tooltip=tips)
        + base.mark_point(color=COLOURS[1], filled=True, size=80, shape="diamond", opacity=1).encode(
            y="mean:Q", tooltip=tips
        ),
        f"All {spread.known.iloc[-1]} quasi-identifiers together identify {_mean(spread.iloc[-1])}",
        f"One quasi-identifier identifies {_mean(spread.iloc[0])} on average over the quasi-identifiers. Bars show the "
        "range over all sets of that many quasi-identifiers, and diamonds the mean over these sets."
        + " If a value is withheld, the chart shows its known upper bound."
        * (not spread.exact.all()),
    )


@drawing
def contributions(results: Results) -> Drawn:
    """Draw the share of the SUDA score that comes from each quasi-identifier, with the values that contribute most.

    Parameters
    ----------
    results : DataFrame
        Results of `measure_contributions`.
    """
    rows = results[(results.measure == "suda_share") & results.value.notna()]
    whole = rows[rows.group == ""].sort_values("value", ascending=False, kind="stable")
    if whole.empty:
        raise Nothing(
            why="The contributions of the columns are withheld or not defined, because hardly anybody is unique."
        )
    most_exposed = {row.target: row for row in rows[rows.group != ""].itertuples()}
    said = [numerals.write_percent(value) for value in whole.value]
    for place, name in enumerate(whole.target):
        if (own := most_exposed.get(name)) is not None:
            said[place] += f" ({escape_invisible(own.group)}: {numerals.write_percent(own.value)})"
    whole = name_releases(whole).assign(said=said, target=whole.target.map(escape_invisible))
    whole[ID] = [f"{each}-suda-{name}" for each, name in zip(whole[ID], whole.target, strict=True)]
    base = of_columns(whole, ["target", "value", "said"]).encode(y=alt.Y("target:N", sort=None, title=None))
    x = alt.X("value:Q", title="share of the SUDA score", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    tips = [alt.Tooltip("target:N", title="column"), alt.Tooltip("said:N", title="share of the SUDA score")]
    most = whole.iloc[0]
    return (
        base.mark_bar(color=COLOURS[5]).encode(x=x, tooltip=tips)
        + base.mark_text(align="left", dx=6).encode(x="value:Q", text="said:N"),
        choose_title(
            f"Sets with {most.target} make up {numerals.write_percent(most.value)} of the SUDA score",
            f"Sets with one column make up {numerals.write_percent(most.value)} of the SUDA score",
        ),
        "Bars show the share of the SUDA score that comes from minimal sample uniques with the column. In brackets: "
        "the value or group of values that contributes most.",
    )


@drawing
def population_uniqueness(results: Results) -> Drawn:
    """Draw estimates of the share of unique people in a population, by estimator and size of the sample.

    Ticks show the true share.

    Parameters
    ----------
    results : DataFrame
        Results of `measure_population_uniqueness`.
    """
    rows = results[(results.measure == "population_unique_share") & results.value.notna()]
    if rows.empty:
        raise Nothing(why="Uniqueness in the population is withheld, or the table is too small for a sample.")
    rows = rows.assign(said=[numerals.write_percent(value) for value in rows.value])
    truth = numerals.write_percent(rows.baseline.iloc[0])
    base = of_columns(rows, ["variant", "scenario", "value", "baseline", "said"])
    base = base.encode(y=alt.Y("variant:N", sort=None, title="estimator"))
    x = alt.X("value:Q", title="share of people who are unique", axis=alt.Axis(format="%"))
    tips = [
        alt.Tooltip("variant:N", title="estimator"),
        alt.Tooltip("scenario:N", title="from a"),
        alt.Tooltip("said:N", title="estimate"),
    ]
    looks = distinguish_series("scenario", [*dict.fromkeys(rows.scenario)])
    return (
        base.mark_tick(color=INK, thickness=2, size=24).encode(x="baseline:Q")
        + base.mark_point(filled=True, size=90, opacity=1).encode(x=x, tooltip=tips, **looks),
        f"In the population, {truth} of people are unique; samples suggest otherwise",
        "Dots show the estimates from random samples of the table, and ticks the share in the whole table, which is "
        "the truth here. The row sample shows the share of unique people in the sample itself.",
    )


def _mean(sets: pd.Series) -> str:
    """Return the text of the mean in a row of `spread`; a mean of upper bounds is an upper bound."""
    if np.isnan(sets["mean"]):
        return "a withheld share of people"
    share = numerals.write_number("{:%} of people", sets["mean"])
    return share if sets.exact else f"at most {share}"
