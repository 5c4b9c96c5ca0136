"""What adversaries gain: from the average to the worst miner, beside what chance alone gives, and whom they hit."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results, as_shares
from privnb.reporting.charts.base import axis, distinguished, intervals, of_columns, settings
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE, WIDTH
from privnb.reporting.findings.adversary import beyond_controls, subgroups
from privnb.reporting.findings.base import Finding, extremes
from privnb.reporting.findings.rows import WORST
from privnb.runtime import expect, numerals
from privnb.sanitizers import catalogue

# Upright ticks; those of equal value differ in height too.
TALL, LOW = (f"M-.22,-{h}H.22V{h}H-.22Z" for h in (1.4, 0.8))
# What is drawn: name in the legend, shape, colour. Votes and single controls are in the tables.
MINERS = ["average", "worst"]
MARKS = {
    "average": ("average miner", "circle", COLOURS[0]),
    "worst": (WORST, "triangle-right", COLOURS[1]),
    "baseline": ("guess without the release", TALL, INK),
    "control": ("best of what needs no attack", LOW, COLOURS[2]),
}
CONTROLS = ("ZeroR", "permuted")  # one answer for everybody; the miners' guesses, shuffled


@drawing
def spans(results: Results, scenario: str, title: str, unit: str) -> Drawn:
    """Anti-utility in a scenario, from the average to the worst miner by setting and set of miners; as ticks beside the
    main set, the guess without the release and the best of what needs no attack: one answer for everybody, or guesses
    permuted at random. All panels have one scale.

    Parameters
    ----------
    results : DataFrame
        Of `users_and_adversaries.adversaries`.
    scenario : str
        Such as "A".
    title, unit : str
        What the chart is of, and the unit of its axis.
    """
    expect.text("scenario", scenario, "a scenario of the results")
    feared = (results.measure == "anti_utility") & (results.scenario == scenario) & (results.variant != "distinct")
    rows = settings(results[feared])
    rows["kind"] = rows.miner.mask(rows.control != "", rows.control)
    rows = as_shares(rows[rows.kind.isin([*MINERS, *CONTROLS])])
    rows["shown"] = rows.value.fillna(rows.high)  # withheld: drawn at its upper bound
    main = rows[(rows.miner_set == "") & (rows.kind == "worst")]
    some(main.dropna(subset="shown"), "anti-utility")
    controls = rows[rows.kind.isin(CONTROLS) & (rows.miner_set == "")].sort_values("shown", ascending=False)
    best = controls.drop_duplicates("setting").assign(kind="control")
    guess = main.assign(kind="baseline", shown=main.baseline)
    marks = pd.concat([rows[rows.kind.isin(MINERS)], best, guess]).dropna(subset="shown")
    marks = marks.assign(
        row=marks.setting.str.cat(marks.miner_set, sep="|").str.removesuffix("|"),  # after it, the name of another set
        name=marks.kind.map(lambda kind: MARKS[kind][0]),
        said=[numerals.percent(shown) for shown in marks.shown],
    )
    looks = [look for kind, look in MARKS.items() if kind in set(marks.kind)]
    scale = alt.Scale(domain=[0, float(marks[["shown", "high"]].max().max()) or 0.01])
    panels, last = [], marks.sanitizer.drop_duplicates().iloc[-1]
    for sanitizer, part in marks.groupby("sanitizer", sort=False):
        called = catalogue.title(sanitizer)
        panels.append(panel(_spans(part, looks, unit if sanitizer == last else None, scale, called), called))
    withheld = " A withheld number is drawn at its upper bound." if rows.value.isna().any() else ""
    whose = ", of the main set alone" if (marks.miner_set != "").any() else ""
    return (
        alt.vconcat(*panels, spacing=10),
        _nearer(title, rows, main).title,
        f"{unit[0].upper()}{unit[1:]}; bars: from the average to the worst miner. Ticks: what needs no attack, the "
        f"guess and the best of one answer for everybody and guesses permuted at random{whose}. "
        f"Thin lines: {intervals(results[feared & (results.miner == 'worst')])}.{withheld}",
    )


def _spans(
    rows: pd.DataFrame, looks: Sequence[tuple[str, str, str]], unit: str | None, scale: alt.Scale, called: str
) -> alt.LayerChart:
    """One sanitizer's lines: bars from average to worst, points and ticks."""
    order = list(dict.fromkeys(rows.sort_values("miner_set", kind="stable").row))
    order.sort(key=lambda row: list(dict.fromkeys(rows.setting)).index(row.partition("|")[0]))
    short = f"replace(split(datum.value, '|')[1] || datum.value, {json.dumps(called + ', ')}, '')"
    y = alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelExpr=short, ticks=False, labelPadding=12))
    x = alt.X("average:Q", title=unit, axis=axis("{:%}"), scale=scale)
    bars = rows.pivot_table(index="row", columns="kind", values="shown", sort=False).reindex(columns=MINERS)
    base = of_columns(bars.dropna().reset_index(), ["row", *MINERS])
    chart = base.mark_rule(color=PALE, strokeWidth=8).encode(x=x, x2="worst:Q", y=y)
    sure = rows[(rows.kind == "worst") & rows.low.notna() & rows.value.notna()]
    if len(sure):
        chart += of_columns(sure, ["row", "low", "high"]).mark_rule(color=INK).encode(x="low:Q", x2="high:Q", y=y)
    names, shapes, colours = (list(part) for part in zip(*looks, strict=True))
    marks = distinguished("name", names, colours, shapes, columns=2, symbolSize=110)
    tips = [alt.Tooltip("name:N", title="who"), alt.Tooltip("said:N", title="share")]
    points = of_columns(rows, ["row", "name", "shown", "said"]).mark_point(filled=True, size=100, opacity=1)
    return chart + points.encode(x=alt.X("shown:Q", title=unit), y=y, tooltip=tips, **marks)


def _nearer(title: str, rows: pd.DataFrame, worst: pd.DataFrame) -> Finding:
    """At most how many people beyond what needs no attack, and the most and the least people: a `Finding`."""
    for row in beyond_controls(rows).nlargest(1, "beyond").itertuples():
        beyond = f"{numerals.percent(max(row.beyond, 0))} beyond what needs no attack ({row.setting})"
        shown = "of what is shown at most" if worst.value.isna().any() else "at most"
        title = f"{title}: {shown} {beyond}; most people"
    return extremes(worst, title, format="{:%}")[0]


@drawing
def hit(results: Results) -> Drawn:
    """Who is hit: the share of each group for whom the worst miner of scenario A comes nearer, beside the guess's.

    One panel for each sanitizer's loosest and strictest setting. A withheld share is said to be so.
    """
    rows = settings(results[(results.measure == "nearer_share") & (results.miner_set == "")])
    ends = rows.bound.groupby(rows.sanitizer)
    rows = rows[rows.bound.isna() | (rows.bound == ends.transform("min")) | (rows.bound == ends.transform("max"))]
    rows[["low", "high"]] = rows[["low", "high"]].clip(0, 1)
    some(rows.dropna(subset="value"), "share of people hit that may be shown")
    groups = list(dict.fromkeys(rows.group))
    shown = list(dict.fromkeys(rows.setting))
    # One scale for all panels, for they are compared.
    scale = alt.Scale(domain=[0, rows[["value", "high", "baseline"]].max().max() or 0.01])
    panels = [
        panel(_hit(part, groups, scale, labels=setting == shown[0]), setting, (WIDTH + 40) // len(shown))
        for setting, part in rows.groupby("setting", sort=False)
    ]
    found = subgroups(rows)
    return (
        alt.hconcat(*panels, spacing=14),
        found.title if isinstance(found, Finding) else found,
        "Dots: share of the group for whom the worst miner's prediction is nearer to the truth than what was released, "
        f"lower protects more; lines: {intervals(results[results.measure == 'nearer_share'])}; ticks: the guess "
        "without the release. Withheld: few people, or a number that would tell them.",
    )


def _hit(rows: pd.DataFrame, groups: Sequence[str], scale: alt.Scale, *, labels: bool) -> alt.LayerChart:
    """The panel of one setting."""
    rows = rows.assign(said="withheld")
    shown = rows.dropna(subset="value")
    left = alt.Axis(labels=labels, ticks=False, grid=True, labelPadding=10)
    y = alt.Y("group:N", sort=groups, title=None, scale=alt.Scale(domain=groups), axis=left)
    unit, tips = "share of the group", ["group", alt.Tooltip("value:Q", format=".1%")]
    x = alt.X("value:Q", title=unit, axis=alt.Axis(format="~%", tickCount=3), scale=scale)
    base = of_columns(shown, ["group", "value", "low", "high", "baseline"]).encode(y=y)
    panel = base.mark_rule(color=GREY, strokeWidth=2).encode(x=alt.X("low:Q", title=unit), x2="high:Q")
    panel += base.mark_tick(color=INK, thickness=2, size=12).encode(x=alt.X("baseline:Q", title=unit))
    panel += base.mark_point(color=COLOURS[1], filled=True, size=60, opacity=1).encode(x=x, tooltip=tips)
    hidden = rows[rows.value.isna()]
    if len(hidden):
        words = of_columns(hidden, ["group", "said"]).encode(y=y, x=alt.value(0), text="said:N")
        looks: dict[str, Any] = {"align": "left", "fontSize": 10, "dx": 4}
        panel += words.mark_text(stroke="white", strokeWidth=5, **looks)  # no line of the grid goes through them
        panel += words.mark_text(color=GREY, **looks)
    return panel
