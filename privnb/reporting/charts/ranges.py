"""Charts with a point for each setting and each member of a series, with the interval and the baseline.

The members of a series are miners, attacks, published models, algorithms that hide rules, or predictions.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from privnb import attacks
from privnb.attacks.recovery.base import Recovery
from privnb.evaluation.results import SETTING_COLUMNS, Results, convert_to_shares
from privnb.measures import measure_facts
from privnb.reporting.charts.base import (
    add_ids,
    average_settings,
    axis,
    choose_title,
    describe_intervals,
    distinguish_series,
    of_columns,
    tip_format,
)
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some, stack_panels
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.runtime import numerals
from privnb.runtime.wording import sentence_case

COSTS = {"misses_cost": "other rules lost", "artifactual_patterns": "rules found that are new"}
MODEL, CONTROL = "learned from the people", "learned from random labels"
LITERAL = "taken literally"
RELEASE = ["dataset", *SETTING_COLUMNS]
NOISE = (  # attacks that remove noise share a chart, one colour each
    attacks.PCARemoval, attacks.SpectralFiltering, attacks.SVDFiltering, attacks.GaussianMap, attacks.EmpiricalMap,
    attacks.DistributionAnalysis,
)  # fmt: skip
PREDICTIONS = {  # put into a release, by variant and control
    ("with predictions", ""): "predictions in distinct rows",
    ("with predictions", "random labels"): "control: random labels in distinct rows",
    ("with all predictions", ""): "predictions for all people",
    ("with all predictions", "random labels"): "control: random labels for all people",
}


@drawing
def dots(results: Results, measure: str) -> Drawn:
    """Draw a dot for each setting and miner, with the 95% interval and the baseline, in a panel per set of miners.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str
    """
    of, whole = measure_facts(measure), results[results.measure == measure]
    unit = f"{of.phrase} (share of {of.unit})"
    rows = average_settings(whole)
    some(rows.dropna(subset="value"), measure)
    rows = convert_to_shares(rows)
    looks: dict[str, Any] = {"zero": False, "format": "{:%}", "order": list(dict.fromkeys(rows.miner))}
    panels = [
        panel(ranges(part, "miner", unit, **looks), name or "main set of miners")
        for name, part in rows.groupby("miner_set", sort=False)
    ]
    best = rows.loc[rows.dropna(subset="value").groupby(["miner_set", "miner"]).value.idxmax()].setting.value_counts()
    of_miners = f" for {best.iloc[0]} of {best.sum()} miners" if len(best) > 1 else ""
    return (
        stack_panels(panels),
        choose_title(f"{of.title} is largest with {best.index[0]}{of_miners}", f"{of.title} by release"),
        f"Dots show the {unit} by setting and miner, lines {describe_intervals(whole)}, and ticks the baseline.",
    )


@drawing
def hidden_rules(results: Results) -> Drawn:
    """Draw the share of other rules that are lost if an algorithm hides rules, and the share of new rules.

    Parameters
    ----------
    results : DataFrame
        The results of `hidden_rules.compare_rule_hiding`.
    """
    rows = results[results.measure.isin(COSTS) & (results.variant == "")].dropna(subset="value")
    rows = add_ids(some(rows, "hidden rule")).assign(setting=rows.sanitizer, kind=rows.measure.map(COSTS))
    lost = rows[rows.measure == "misses_cost"]
    least, most = lost.loc[lost.value.idxmin()], lost.loc[lost.value.idxmax()]
    fewest = f"fewest other rules: {numerals.write_percent(least.value)}"
    return (
        ranges(rows, "kind", "share of rules", format="{:%}", order=list(COSTS.values())),
        choose_title(f"{least.setting} loses {fewest}", f"One algorithm loses {fewest}"),
        "Points show how each algorithm that hides rules affects the other rules; lower is better. "
        f"{most.setting} loses most: {numerals.write_percent(most.value)}.",
    )


@drawing
def published_models(results: Results) -> Drawn:
    """Draw how many people an adversary guesses correctly with and without the published model of each miner.

    Parameters
    ----------
    results : DataFrame
        The results of `published_models.attack_published_models`.
    """
    rows = results[results.measure == "model_channel"].dropna(subset="value")
    rows = some(rows, "published model that may be shown")
    kinds = rows.control.map(lambda control: CONTROL if control else MODEL)
    rows = add_ids(rows).assign(setting=rows.miner, kind=kinds)
    best, of = rows.loc[(rows.value - rows.baseline).idxmax()], measure_facts("model_channel")
    guessed = f"{of.bare(best.value)} of people are guessed correctly"
    return (
        ranges(rows, "kind", of.unit, zero=False, format="{:%}", order=[MODEL, CONTROL]),
        choose_title(f"With the published {best.miner}, {guessed}", f"With a published model, {guessed}"),
        f"Points show the people guessed correctly with the published model (lower is better), lines "
        f"{describe_intervals(rows)}, and ticks those guessed correctly without it.",
    )


@drawing
def recovery(results: Results, measure: str = "recovery_error") -> Drawn:
    """Draw a point for each release and attack, and a tick for the guess without any row, in a panel per table.

    A method has the same color in all charts, independent of what the adversary knows.

    Parameters
    ----------
    results : DataFrame
        Tidy results of attacks that recover numbers.
    measure : str
        `recovery_error`, or `cell_error` for synthetic records; for `cell_error`, the ticks show the noisy numbers
        taken literally.
    """
    of, rows = measure_facts(measure), of_all(average_settings(results[results.measure == measure]), measure)
    rows = some(rows, measure)
    order, known = list(dict.fromkeys(rows.miner)), _colours()
    colours = [known.get(name.partition(": ")[0], GREY) for name in order]
    panels = [
        panel(ranges(part, "miner", of.label, format=of.format, order=order, colours=colours), name)
        for name, part in rows.groupby("dataset", sort=False)
    ]
    literal = rows[rows.miner == LITERAL].set_index(RELEASE).value
    attacks = rows[rows.miner != LITERAL]
    left = attacks.value / literal.reindex(pd.MultiIndex.from_frame(attacks[RELEASE])).to_numpy()
    if left.notna().any():
        best = attacks.loc[left.idxmin()]
        did, gained = "removes most error", f" (taken literally: {of.bare(literal[tuple(best[RELEASE])])})"
    else:
        best, did, gained = rows.loc[(rows.value / rows.baseline).idxmin()], "comes nearest", ""
    left_over = f"{did}: {of.bare(best.value)} is left"
    title = choose_title(f"{sentence_case(best.method)} {left_over}", f"One attack {left_over}")
    lines = f", lines {describe_intervals(rows)}" if rows.low.notna().any() else ""
    return (
        stack_panels(panels),
        title,
        f"Points show the {of.label} by release and attack; lower is nearer to the true numbers{lines}; ticks show the "
        f"error of {of.baseline}. The title is about {best.setting}{gained}.",
    )


def _colours() -> dict[str, str]:
    """Return the color of each method that recovers numbers, by the title of the method."""
    every = [each for name in attacks.__all__ if issubclass(each := getattr(attacks, name), Recovery)]
    methods = [*NOISE, *(each for each in every if each not in NOISE)]
    return {each.title: colour for each, colour in zip(methods, itertools.cycle(COLOURS), strict=False)}


def of_all(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows of a measure for all columns and people together; the released numbers are one more attack."""
    rows = results[(results.measure == measure) & (results.group == "") & (results.control == "")]
    rows = rows[(rows.target == "") & rows.value.notna()]
    as_it_stands = rows[rows.variant == LITERAL]
    once = as_it_stands.drop_duplicates(RELEASE).assign(miner=LITERAL, variant="", method=LITERAL)
    attacks = rows[rows.variant == ""]
    known = attacks.miner.where(attacks.knows == "", attacks.miner + ": " + attacks.knows)
    return pd.concat([attacks.assign(miner=known, method=attacks.miner), once], ignore_index=True)


@drawing
def gains(results: Results, measure: str) -> Drawn:
    """Draw a gain by setting, and the change of the gain if predictions are used, in two readings of the attack.

    The left panels show the gain from the release, with ticks for the gain by chance. The right panels show the change
    of this gain by predictions and by controls.

    Parameters
    ----------
    results : DataFrame
        The results of `experiments.gains`.
    measure : str
        "accuracy_gain" or "knowledge_gain".
    """
    title, unit = measure_facts(measure).title, measure_facts(measure).label
    of_it = results[(results.measure == measure) & (results.miner == "")]
    before, after = of_it[of_it.variant == ""], of_it[of_it.variant != ""]
    for each in (before, after):
        some(each, f"{measure} with predictions")
    changed = average_settings(_changed(after, before))
    changed["kind"] = [PREDICTIONS[pair] for pair in zip(changed.variant, changed.control, strict=True)]
    released = average_settings(before).assign(kind="the release")
    order = [kind for kind in PREDICTIONS.values() if kind in set(changed.kind)]
    panels = []
    for name, part in changed.groupby("miner_set", sort=False):
        own = released[released.setting.isin(part.setting)]
        right = ranges(part.assign(baseline=float("nan")), "kind", "change of the gain", order=order, labels=False)
        right.width, right.height = WIDTH * 2 // 3, alt.Step(max(20, 10 * len(order)), **{"for": "position"})
        both = alt.hconcat(_released(own, unit).properties(width=WIDTH // 3, height=right.height), right)
        panels.append(both.properties(title=alt.Title(name, fontSize=12)) if name else both)
    added, control = (_range(changed.value[(changed.control != "") == of_control]) for of_control in (False, True))
    return (
        alt.vconcat(*panels),
        f"{title}: predictions change it by {added}",
        f"The left panel shows the {unit}; its ticks show the same classes with values permuted at random. The right "
        f"panel shows how much the gain changes if the worst miner's nearer predictions are inserted, and if the same "
        f"number of random labels is inserted (random labels: {control}). Lines show {_draws(after)}.",
    )


def _range(values: pd.Series) -> str:
    least, most = (round(value, 4) + 0.0 for value in (values.min(), values.max()))  # no negative zero
    return f"{least:+.4f} to {most:+.4f}".replace("-", numerals.MINUS)


def _changed(after: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Return the gains after an attack, minus the gain from the release alone for the same setting and seed."""
    keys = [*RELEASE, "seed", "target"]
    own = after.merge(before[[*keys, "value"]], on=keys, how="left", suffixes=("", "_before")).value_before
    rows = after.reset_index(drop=True)
    rows[["value", "low", "high"]] = rows[["value", "low", "high"]].sub(own, axis=0)
    return rows


def _released(rows: pd.DataFrame, unit: str) -> alt.LayerChart:
    base = of_columns(rows, ["setting", "value", "baseline"]).encode(y=alt.Y("setting:N", sort=None, title=None))
    x = alt.X("value:Q", title=unit, axis=alt.Axis(tickCount=4))
    ticks = base.mark_tick(color=INK, thickness=2, size=20).encode(x=alt.X("baseline:Q", title=unit))
    tips = [
        alt.Tooltip("setting:N"),
        alt.Tooltip("value:Q", title=unit, format=",.4~g"),
        alt.Tooltip("baseline:Q", title="by chance", format=",.4~g"),
    ]
    return base.mark_bar(color=COLOURS[5], size=14).encode(x=x, tooltip=tips) + ticks


def _draws(after: pd.DataFrame) -> str:
    """Return a phrase with the meaning of the lines.

    For one seed, a line covers all draws of the control; otherwise, it is the interval of a mean.
    """
    control, draws = after[after.control != ""], "from the smallest to the largest draw"
    seeds = control.groupby(["sanitizer", "parameters", "variant", "miner_set"]).size()
    if not len(seeds) or seeds.max() == 1:
        return draws
    said = f"95% intervals of the mean over {seeds.max()} seeds"
    return said if seeds.min() == seeds.max() else f"{said}; where there is one seed, {draws}"


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
    """Return a chart with a point for each setting and member of `series`, with the interval and the baseline.

    Each member has a different color and shape. `order` lists all members for the legend; if it is None, these are the
    members in `rows`. `labels` states whether the names of settings are shown. `colours` holds a color for each member
    in `order`.
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
    chart += base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x, tooltip=_tips(series, unit, format), **distinguish_series(series, order, colours)
    )
    return chart.properties(height=alt.Step(max(20, 10 * len(here)), **{"for": "position"}))


def _tips(series: str, unit: str, format: str) -> list[Any]:
    """Return the tooltip of a point: the setting, the member of the series, and the value with its unit."""
    return ["setting:N", f"{series}:N", alt.Tooltip("value:Q", title=unit, format=tip_format(format))]
