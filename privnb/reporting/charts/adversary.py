"""Charts of the gains of adversaries, compared with gains by chance, and of the groups that adversaries hit most."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results, convert_to_shares, describe_bounds, find_people_counts
from privnb.reporting.charts.base import (
    average_settings,
    axis,
    choose_title,
    describe_intervals,
    distinguish_series,
    of_columns,
)
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE, WIDTH
from privnb.reporting.findings.adversary import beyond_controls, subgroups
from privnb.reporting.findings.rows import WORST
from privnb.runtime import expect, numerals
from privnb.runtime.sentences import join_names, strip_markup
from privnb.runtime.wording import line
from privnb.sanitizers import catalogue

# Upright ticks; those of equal value differ in height too.
TALL, LOW = (f"M-.22,-{h}H.22V{h}H-.22Z" for h in (1.4, 0.8))
# The marks that are drawn: name in the legend, shape, colour. The tables show votes and single controls.
MINERS = ["average", "worst"]
MARKS = {
    "average": ("average miner", "circle", COLOURS[0]),
    "worst": (WORST, "triangle-right", COLOURS[1]),
    "baseline": ("guess without the release", TALL, INK),
    "control": ("best control without an attack", LOW, COLOURS[2]),
}
CONTROLS = ("ZeroR", "permuted")  # one answer for everybody; the miners' guesses, shuffled


@drawing
def spans(results: Results, scenario: str, title: str, unit: str) -> Drawn:
    """Draw the anti-utility in a scenario, from the average to the worst miner, by setting and set of miners.

    For the main set of miners, ticks show the guess without the release and the better of two controls, which need no
    attack: one answer for everybody, and guesses permuted at random. All panels have the same scale.

    Parameters
    ----------
    results : DataFrame
        The results of `users_and_adversaries.evaluate_adversaries`.
    scenario : str
        The scenario, such as "A".
    title, unit : str
        The first words of the title (at most six), and the unit of the axis.
    """
    expect.text("scenario", scenario, "a scenario of the results")
    feared = (results.measure == "anti_utility") & (results.scenario == scenario) & (results.variant != "distinct")
    rows = average_settings(results[feared])
    rows["kind"] = rows.miner.mask(rows.control != "", rows.control)
    rows = rows[rows.kind.isin([*MINERS, *CONTROLS])]
    people, ends = rows.high.notna() & find_people_counts(rows), rows[["low", "high"]].to_numpy()
    # A withheld number reads as in a table of results.
    bounds = [
        f"{describe_bounds(*each)} people" if is_known else "withheld"
        for each, is_known in zip(ends, people, strict=True)
    ]
    rows = convert_to_shares(rows.assign(said=bounds))
    rows["said"] = [
        said if pd.isna(value) else numerals.write_percent(value)
        for said, value in zip(rows.said, rows.value, strict=True)
    ]
    rows["shown"] = rows.value.fillna(rows.high)  # withheld: drawn at its upper bound
    main = rows[(rows.miner_set == "") & (rows.kind == "worst")]
    some(main.dropna(subset="shown"), "anti-utility")
    controls = rows[rows.kind.isin(CONTROLS) & (rows.miner_set == "")].sort_values("shown", ascending=False)
    best = controls.drop_duplicates("setting").assign(kind="control")
    guess = main.assign(
        kind="baseline", shown=main.baseline, said=main.baseline.map(numerals.write_percent, na_action="ignore")
    )
    marks = pd.concat([rows[rows.kind.isin(MINERS)], best, guess]).dropna(subset="shown")
    marks = marks.assign(
        row=marks.setting.str.cat(marks.miner_set, sep="|").str.removesuffix("|"),  # after it, the name of another set
        name=marks.kind.map(lambda kind: MARKS[kind][0]),
    )
    looks = [look for kind, look in MARKS.items() if kind in set(marks.kind)]
    scale = alt.Scale(domain=[0, float(marks[["shown", "high"]].max().max()) or 0.01])
    panels, last = [], marks.sanitizer.drop_duplicates().iloc[-1]
    for sanitizer, part in marks.groupby("sanitizer", sort=False):
        called = catalogue.title(sanitizer)
        panels.append(panel(_spans(part, looks, unit, scale, called, is_last=sanitizer == last), called))
    withheld = (
        " A withheld number is drawn at its upper bound and does not count in the title."
        if rows.value.isna().any()
        else ""
    )
    whose = ", of the main set alone" if (marks.miner_set != "").any() else ""
    return (
        alt.vconcat(*panels, spacing=10),
        _title(title, rows),
        f"{_guessed(main)}The axis shows the {unit}. Each bar reaches from the average miner to the worst one. "
        "Ticks show two controls that need no attack: the guess without the release, and the better of one answer for "
        f"everybody and guesses permuted at random{whose}. "
        f"Thin lines show {describe_intervals(results[feared & (results.miner == 'worst')])}.{withheld}",
    )


def _spans(
    rows: pd.DataFrame,
    looks: Sequence[tuple[str, str, str]],
    unit: str,
    scale: alt.Scale,
    called: str,
    *,
    is_last: bool,
) -> alt.LayerChart:
    """Draw the panel of one sanitizer: bars from the average to the worst miner, points and ticks.

    The axis of the last panel has the unit as its title.
    """
    titled = unit if is_last else None
    order = list(dict.fromkeys(rows.sort_values("miner_set", kind="stable").row))
    order.sort(key=lambda row: list(dict.fromkeys(rows.setting)).index(row.partition("|")[0]))
    short = f"replace(split(datum.value, '|')[1] || datum.value, {json.dumps(called + ', ')}, '')"
    y = alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelExpr=short, ticks=False, labelPadding=12))
    x = alt.X("average:Q", title=titled, axis=axis("{:%}"), scale=scale)
    bars = rows.pivot_table(index="row", columns="kind", values="shown", sort=False).reindex(columns=MINERS)
    base = of_columns(bars.dropna().reset_index(), ["row", *MINERS])
    chart = base.mark_rule(color=PALE, strokeWidth=8).encode(x=x, x2="worst:Q", y=y)
    sure = rows[(rows.kind == "worst") & rows.low.notna() & rows.value.notna()]
    if len(sure):
        chart += of_columns(sure, ["row", "low", "high"]).mark_rule(color=INK).encode(x="low:Q", x2="high:Q", y=y)
    names, shapes, colours = (list(part) for part in zip(*looks, strict=True))
    marks = distinguish_series("name", names, colours, shapes, columns=2, symbolSize=110)
    tips = [
        alt.Tooltip("setting:N", title="setting"),
        alt.Tooltip("name:N", title="attacker"),
        alt.Tooltip("said:N", title=unit),
    ]
    points = of_columns(rows, ["row", "setting", "name", "shown", "said"]).mark_point(filled=True, size=100, opacity=1)
    return chart + points.encode(x=alt.X("shown:Q", title=titled), y=y, tooltip=tips, **marks)


def _guessed(rows: pd.DataFrame) -> str:
    """Return a sentence about the attribute that the attackers guess, followed by a space; empty without attributes."""
    names = [name for name in dict.fromkeys(rows.target) if name]
    return f"The attackers guess {join_names(names)}. " if names else ""


def _title(title: str, rows: pd.DataFrame) -> str:
    """Return the title of the chart, which states by how much the worst miner exceeds the controls at most."""
    for row in beyond_controls(rows).nlargest(1, "beyond").itertuples():
        return choose_title(f"{title} beyond chance for at most {numerals.write_percent(max(row.beyond, 0))}", title)
    return title


@drawing
def hit(results: Results) -> Drawn:
    """Draw, by group, the share of people to whose values the worst miner of scenario A is nearer than the release.

    Ticks show the same share for the guess without the release. Each sanitizer has a panel for its loosest setting and
    a panel for its strictest setting. A withheld share is marked as withheld.
    """
    rows = average_settings(results[(results.measure == "nearer_share") & (results.miner_set == "")])
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
    pair = subgroups(rows)
    differ = strip_markup(line("reporting/charts", "hit_groups", pair))
    return (
        alt.hconcat(*panels, spacing=14),
        choose_title(*(strip_markup(line("reporting/charts", "hit", pair, is_named)) for is_named in (True, False))),
        f"{_guessed(rows)}Dots show the share of the group for whom the worst miner's prediction is nearer to the "
        "truth than the released value; lower is better. "
        f"Lines show {describe_intervals(results[results.measure == 'nearer_share'])}. Ticks show the guess without "
        f"the release. A number that would reveal few people is withheld. {differ}".rstrip(),
    )


def _hit(rows: pd.DataFrame, groups: Sequence[str], scale: alt.Scale, *, labels: bool) -> alt.LayerChart:
    """Draw the panel of one setting."""
    rows = rows.assign(said="withheld")
    shown = rows.dropna(subset="value")
    left = alt.Axis(labels=labels, ticks=False, grid=True, labelPadding=10)
    y = alt.Y("group:N", sort=groups, title=None, scale=alt.Scale(domain=groups), axis=left)
    unit, tips = (
        "share of the group",
        [alt.Tooltip("setting:N"), "group", alt.Tooltip("value:Q", title="share of the group", format=".1%")],
    )
    x = alt.X("value:Q", title=unit, axis=alt.Axis(format="~%", tickCount=3), scale=scale)
    base = of_columns(shown, ["setting", "group", "value", "low", "high", "baseline"]).encode(y=y)
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
