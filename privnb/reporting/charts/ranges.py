"""A point for each setting and member of a series, with interval and baseline: of miners, attacks, published models,
ways to hide rules, and predictions.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from privnb import attacks
from privnb.attacks.recovery.base import Recovery
from privnb.evaluation.results import SETTING, Results, as_shares
from privnb.measures import facts
from privnb.reporting.charts.base import axis, distinguished, intervals, of_columns, settings
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some, stacked
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.reporting.findings.base import Finding, extremes
from privnb.runtime import numerals

COSTS = {"misses_cost": "other rules lost", "artifactual_patterns": "rules found that are new"}
MODEL, CONTROL = "learned from the people", "learned from random labels"
LITERAL = "taken literally"
RELEASE = ["dataset", *SETTING]
NOISE = (  # what takes noise off stands together in charts: as many as there are colours
    attacks.PcaRemoval, attacks.SpectralFiltering, attacks.SvdFiltering, attacks.GaussianMap, attacks.EmpiricalMap,
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
    """One dot per setting and miner, its 95% interval as a line; ticks mark the baseline. One panel per set of
    miners.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    measure : str
    """
    of, whole = facts(measure), results[results.measure == measure]
    unit = f"{of.phrase} (share of {of.unit})"
    rows = settings(whole)
    some(rows.dropna(subset="value"), measure)
    rows = as_shares(rows)
    looks: dict[str, Any] = {"zero": False, "format": "{:%}", "order": list(dict.fromkeys(rows.miner))}
    panels = [
        panel(ranges(part, "miner", unit, **looks), name or "main set of miners")
        for name, part in rows.groupby("miner_set", sort=False)
    ]
    return (
        stacked(panels),
        extremes(rows, of.title, format="{:%}")[0].title,
        f"Dots: {unit} by setting and miner; lines: {intervals(whole)}; ticks: the baseline.",
    )


@drawing
def hidden_rules(results: Results) -> Drawn:
    """Two points for each way to hide rules: the share of other rules that it loses, and of those found that are new.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.rules_hidden`.
    """
    rows = results[results.measure.isin(COSTS) & (results.variant == "")].dropna(subset="value")
    rows = some(rows, "hidden rule").assign(setting=rows.sanitizer, kind=rows.measure.map(COSTS))
    lost = rows[rows.measure == "misses_cost"]
    least, most = lost.loc[lost.value.idxmin()], lost.loc[lost.value.idxmax()]
    said, beside = f"Least of the other rules lost, by {least.setting}", {most.setting: most.value}
    return (
        ranges(rows, "kind", "share of rules", format="{:%}", order=list(COSTS.values())),
        Finding.of(least, said, setting="", beside=beside).title,
        "Points: of each way to hide the rules, what becomes of all others; lower is better.",
    )


@drawing
def published_models(results: Results) -> Drawn:
    """A point for each miner's published model: how many people an adversary guesses right who has it; ticks: who
    has not.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.models_published`.
    """
    rows = results[results.measure == "model_channel"].dropna(subset="value")
    rows = some(rows, "published model that may be shown")
    rows = rows.assign(setting=rows.miner, kind=rows.control.map(lambda control: CONTROL if control else MODEL))
    best, of = rows.loc[(rows.value - rows.baseline).idxmax()], facts("model_channel")
    return (
        ranges(rows, "kind", of.unit, zero=False, format="{:%}", order=[MODEL, CONTROL]),
        Finding.of(best, f"{of.title}, by {best.miner}", setting="").title,
        f"Points: people guessed right with the published model, lower is better; lines: {intervals(rows)}; "
        "ticks: without it.",
    )


@drawing
def recovery(results: Results, measure: str = "recovery_error") -> Drawn:
    """A point for each release and attack, ticks for the guess without anybody's row; a panel for each table.

    A method has the same colour in every chart, whatever its adversary knows.

    Parameters
    ----------
    results : DataFrame
        Tidy results of attacks that recover numbers.
    measure : str
        `recovery_error`, or `cell_error` of made-up records, whose ticks are the noisy numbers as they stand.
    """
    of, rows = facts(measure), settings(some(of_all(results, measure), measure))
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
        best, how = attacks.loc[left.idxmin()], "takes most of it off"
        beside = {LITERAL: literal[tuple(best[RELEASE])]}
    else:
        best, how, beside = rows.loc[(rows.value / rows.baseline).idxmin()], "comes nearest", {}
    lines = f"; lines: {intervals(rows)}" if rows.low.notna().any() else ""
    return (
        stacked(panels),
        Finding.of(best, f"{of.title} of {best.miner}, which {how}", beside=beside).title,
        f"Points: {of.label} by release and attack, lower is nearer{lines}; ticks: {of.baseline}.",
    )


def _colours() -> dict[str, str]:
    """`{title: colour}` of the methods that recover numbers."""
    every = [each for name in attacks.__all__ if issubclass(each := getattr(attacks, name), Recovery)]
    methods = [*NOISE, *(each for each in every if each not in NOISE)]
    return {each.title: colour for each, colour in zip(methods, itertools.cycle(COLOURS), strict=False)}


def of_all(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The rows of a measure about all columns and everybody, the released numbers as they stand as one more attack."""
    rows = results[(results.measure == measure) & (results.group == "") & (results.control == "")]
    rows = rows[(rows.target == "") & rows.value.notna()]
    as_it_stands = rows[rows.variant == LITERAL]
    once = as_it_stands.drop_duplicates(RELEASE).assign(miner=LITERAL, variant="")
    attacks = rows[rows.variant == ""]
    known = attacks.miner.where(attacks.knows == "", attacks.miner + ": " + attacks.knows)
    return pd.concat([attacks.assign(miner=known), once], ignore_index=True)


@drawing
def gains(results: Results, measure: str) -> Drawn:
    """A gain by setting, and how predictions change it, by two readings of the attack, each with its control.

    On the left the release's own gain, with what chance alone shows as ticks; on the right what is added to it.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.gains`.
    measure : str
        "accuracy_gain" or "knowledge_gain".
    """
    title, unit = facts(measure).title, facts(measure).label
    of_it = results[(results.measure == measure) & (results.miner == "")]
    before, after = of_it[of_it.variant == ""], of_it[of_it.variant != ""]
    for each in (before, after):
        some(each, f"{measure} with predictions")
    changed = settings(_changed(after, before))
    changed["kind"] = [PREDICTIONS[pair] for pair in zip(changed.variant, changed.control, strict=True)]
    released = settings(before).assign(kind="the release")
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
        f"{title}: predictions change it by {added}, as many random labels by {control}",
        f"Left: {unit}; ticks: the same classes with values permuted at random. Right: what the worst miner's "
        f"nearer predictions add, and as many random labels. Lines: {_draws(after)}.",
    )


def _range(values: pd.Series) -> str:
    return f"{values.min():+.4f} to {values.max():+.4f}".replace("-", numerals.MINUS)


def _changed(after: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """The rows of gains after an attack, less the release's own gain of the same setting and seed."""
    keys = [*RELEASE, "seed", "target"]
    own = after.merge(before[[*keys, "value"]], on=keys, how="left", suffixes=("", "_before")).value_before
    rows = after.reset_index(drop=True)
    rows[["value", "low", "high"]] = rows[["value", "low", "high"]].sub(own, axis=0)
    return rows


def _released(rows: pd.DataFrame, unit: str) -> alt.LayerChart:
    base = of_columns(rows, ["setting", "value", "baseline"]).encode(y=alt.Y("setting:N", sort=None, title=None))
    x = alt.X("value:Q", title=unit, axis=alt.Axis(tickCount=4))
    ticks = base.mark_tick(color=INK, thickness=2, size=20).encode(x=alt.X("baseline:Q", title=unit))
    return base.mark_bar(color=COLOURS[5], size=14).encode(x=x) + ticks


def _draws(after: pd.DataFrame) -> str:
    """What the lines are: of one seed all draws of the control, else how sure a mean is."""
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
