"""Gains of the adversary, and how mined predictions change them."""

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.reporting.charts.base import Drawing, finish, none, of_columns, settings
from privnb.reporting.charts.looks import COLOURS, INK, WIDTH
from privnb.reporting.charts.measures import ranges
from privnb.runtime import numerals
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated

PREDICTIONS = {  # put into a release, by variant and control
    ("with predictions", ""): "predictions in distinct rows",
    ("with predictions", "random labels"): "control: random labels in distinct rows",
    ("with all predictions", ""): "predictions for all people",
    ("with all predictions", "random labels"): "control: random labels for all people",
}


@validated
def gains(results: Results, measure: str) -> Drawing | Sentences:
    """A gain by setting, and how predictions change it, by two readings of the attack, each with its control.

    On the left the release's own gain, with what chance alone shows as ticks; on the right what is added to it.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.gains`.
    measure : str
        "accuracy_gain" or "knowledge_gain".

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    title, unit = facts(measure).title, facts(measure).label
    of_it = results[(results.measure == measure) & (results.miner == "")]
    before, after = of_it[of_it.variant == ""], of_it[of_it.variant != ""]
    if before.empty or after.empty:
        return none(f"{measure} with predictions")
    changed = settings(_changed(after, before)).assign(
        kind=lambda r: [PREDICTIONS[pair] for pair in zip(r.variant, r.control, strict=True)]
    )
    released = settings(before).assign(kind="the release")
    order = [kind for kind in PREDICTIONS.values() if kind in set(changed.kind)]
    panels = []
    for name, part in changed.groupby("miner_set", sort=False):
        own = released[released.setting.isin(part.setting)]
        height = alt.Step(max(20, 10 * len(order)), **{"for": "position"})
        left = _released(own, unit).properties(width=WIDTH // 3, height=height)
        right = ranges(part.assign(baseline=float("nan")), "kind", "change of the gain", order=order, labels=False)
        both = alt.hconcat(left, right.properties(width=WIDTH * 2 // 3, height=height))
        panels.append(both.properties(title=alt.Title(name, fontSize=12)) if name else both)
    added, control = (_range(changed.value[(changed.control != "") == of_control]) for of_control in (False, True))
    return finish(
        alt.vconcat(*panels),
        f"{title}: predictions change it by {added}, as many random labels by {control}",
        f"Left: {unit}; ticks: the same classes with values permuted at random. Right: what the worst miner's "
        f"nearer predictions add, and as many random labels. Lines: {_draws(after)}.",
    )


def _range(values: pd.Series) -> str:
    return f"{values.min():+.4f} to {values.max():+.4f}".replace("-", numerals.MINUS)


def _changed(after: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """The rows of gains after an attack, less the release's own gain of the same setting and seed."""
    keys = ["dataset", "sanitizer", "parameters", "seed", "target"]
    own = after.merge(before[[*keys, "value"]], on=keys, how="left", suffixes=("", "_before")).value_before
    rows = after.reset_index(drop=True)
    rows[["value", "low", "high"]] = rows[["value", "low", "high"]].sub(own, axis=0)
    return rows


def _released(rows: pd.DataFrame, unit: str) -> Drawing:
    base = of_columns(rows, ["setting", "value", "baseline"]).encode(y=alt.Y("setting:N", sort=None, title=None))
    return base.mark_bar(color=COLOURS[5], size=14).encode(
        x=alt.X("value:Q", title=unit, axis=alt.Axis(tickCount=4))
    ) + base.mark_tick(color=INK, thickness=2, size=20).encode(x=alt.X("baseline:Q", title=unit))


def _draws(after: pd.DataFrame) -> str:
    """What the lines are: of one seed all draws of the control, else how sure a mean is."""
    control, draws = after[after.control != ""], "from the smallest to the largest draw"
    seeds = control.groupby(["sanitizer", "parameters", "variant", "miner_set"]).size()
    if not len(seeds) or seeds.max() == 1:
        return draws
    said = f"95% intervals of the mean over {seeds.max()} seeds"
    return said if seeds.min() == seeds.max() else f"{said}; where there is one seed, {draws}"
