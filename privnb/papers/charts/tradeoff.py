"""Li and Li's figures: what releases lose of privacy against what they lose of utility."""

from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.papers.findings.tradeoff import GAINS, LOSSES, both_critiques, critiques
from privnb.papers.li_li_2009.study import pairs, queries_of
from privnb.reporting.charts.base import distinguished, finish, none, of_columns
from privnb.reporting.charts.frontier import LETTER, LINE, overlap
from privnb.reporting.charts.looks import GREY, INK, WIDTH
from privnb.runtime import numerals
from privnb.runtime.validation import validated

HEIGHT = 300


@validated
def trade_off(results: Results, measure: str = "utility_loss") -> Any:
    """Privacy loss of each release against a measure of utility loss, one line per privacy model, form and target where
    these differ; beside it what both scales mean. Figures 2 and 3 of Li and Li 2009.

    Parameters
    ----------
    results : DataFrame
        With `privacy_loss` of the same releases; `revealed_loss` makes the vertical lines, the trivial release, which
        is the measure's baseline, the horizontal one.
    measure : str
        Of utility loss.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    if not (results.measure == measure).any():
        return none(measure)
    rows = pairs(results, measure).dropna(subset="privacy").reset_index(drop=True)  # a withheld loss lies nowhere
    if rows.empty:
        return none(measure)
    rows = _with_series(rows)
    order = list(dict.fromkeys(rows.series))  # of models the same in every chart, so that each keeps its colour
    if len(rows[["target", "variant"]].drop_duplicates()) > 1:
        order = list(rows.groupby("series").value.mean().sort_values(ascending=False).index)  # as the lines lie
    rows = rows.sort_values(["series", "privacy"], kind="stable").reset_index(drop=True)
    scale = results[results.measure == "revealed_loss"].value.agg(["min", "max"]).dropna()
    right = max(rows.privacy.max(), scale.max() if len(scale) else 0)
    x = alt.X("privacy:Q", title=_unit(results), scale=alt.Scale(domain=[0, right * 1.04], nice=False))
    of = facts(measure)
    ticks = alt.Axis(format="%" if "%" in of.format else "~g", tickCount=6)
    y = alt.Y("value:Q", title=f"{of.label}, {of.better} is better", axis=ticks)
    columns = ["series", "privacy", "value", "low", "high", "letter", "bound"]
    looks = distinguished("series", order)
    # Vega-Lite gives a line, and the lower end of a rule, a mark of its own where they have a shape.
    base = of_columns(rows, columns).encode(x=x, y=y, color=looks["color"])
    tip = ["series", "letter", "bound", alt.Tooltip("privacy:Q", format=".4f"), alt.Tooltip("value:Q", format=".4f")]
    chart = base.mark_line(strokeWidth=1.2)
    if rows.low.notna().any():
        chart += base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q")
    chart += base.mark_point(filled=True, size=55, opacity=1).encode(shape=looks["shape"], tooltip=tip)
    return finish(
        (_scales(scale, rows) + chart + _ends(rows, right)).properties(width=WIDTH, height=HEIGHT),
        _title(rows, measure),
        _explained(scale, rows, results[results.measure == measure].seed.nunique()),
    )


@validated
def two_critiques(results: Results) -> Any:
    """The direct comparison beside Li and Li's losses, one row per release: above, what an adversary and a researcher
    gain; below, the two losses as shares of the ends of their scales.

    `results`: rows of `papers.trade_off` and `papers.direct`.
    """
    wide = both_critiques(results)
    if wide.empty:
        return none("direct comparison")
    found = critiques(results)
    wide.index = wide.setting
    wide["privacy_loss"] /= results[results.measure == "revealed_loss"].value.min()
    wide["utility_loss"] /= results[results.measure == "utility_loss"].baseline.iloc[0]
    wide = wide[[*GAINS, *LOSSES]].rename(columns=lambda name: facts(name).phrase).rename_axis(columns="series")
    looks = distinguished("series", list(wide))
    y = alt.Y("setting:N", sort=list(wide.index), title=None)
    units = {
        "people guessed right beyond what the trivial release allows, as a share of all": wide.iloc[:, :2],
        "loss, as a share of the scale (0 nothing is lost; lower is better)": wide.iloc[:, 2:],
    }
    panels = [
        of_columns(part.stack().rename("value").reset_index(), ["setting", "series", "value"])
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x=alt.X("value:Q", title=unit, axis=alt.Axis(format="%")), y=y, **looks)
        .properties(width=WIDTH, height=alt.Step(18))
        for unit, part in units.items()
    ]
    return finish(
        alt.vconcat(*panels),
        "; ".join(f"{each.subject}: {each.number}" for each in found),
        "Above: Brickell and Shmatikov's direct comparison, on the sensitive attribute: the adversary's accuracy gain "
        "and the researcher's workload gain, of several miners the best; no quasi-identifiers or no sensitive "
        "attribute gain 0; clearly: beyond its 95% interval. Below: Li and Li's privacy loss, as a share of the "
        "smallest loss of a value disclosed for certain, and utility loss, as a share of that without "
        "quasi-identifiers.",
    )


def _with_series(rows: pd.DataFrame) -> pd.DataFrame:
    """What tells the lines apart: model, form and kind of queries, as far as there are several."""
    asked = queries_of(rows)
    kinds = asked.dimension.map("qd={:g}".format), asked.selectivity.map("sel={:g}".format)
    several = [part for part in (rows.model, rows.form, *kinds, rows.variant) if part.nunique() > 1] or [rows.model]
    return rows.assign(series=several[0].str.cat(several[1:], sep=", ").str.strip(", "))


def _unit(results: pd.DataFrame) -> str:
    distance = results[results.measure == "privacy_loss"].variant.iloc[0] or "Jensen-Shannon"
    unit = "nats" if distance in ("Jensen-Shannon", "Kullback-Leibler") else "share"
    return f"privacy loss of the worst-off person ({distance}, {unit}; lower is better)"


def _scales(scale: pd.Series, rows: pd.DataFrame) -> Any:
    """What the ends of the scales are, as dashed lines."""
    layers = alt.layer()
    for column, ends in (("privacy", scale.rename("privacy").to_frame()), ("baseline", _trivial(rows))):
        if len(ends):
            rule = of_columns(ends, [column]).mark_rule(color=GREY, strokeDash=[5, 4])
            layers += rule.encode(**{"x" if column == "privacy" else "y": f"{column}:Q"})
    return layers


def _trivial(rows: pd.DataFrame) -> pd.DataFrame:
    """What the trivial release loses, where that is one number for all."""
    trivial = rows[["baseline"]].drop_duplicates().dropna()
    return trivial if len(trivial) == 1 else trivial.head(0)


def _ends(rows: pd.DataFrame, right: float) -> Any:
    """The parameters at both ends of each line, where they do not cover one another."""
    ends = rows.loc[[i for _, part in rows.groupby("series", sort=False) for i in (part.index[0], part.index[-1])]]
    ends = ends[~ends.index.duplicated()].assign(text=lambda r: r.letter + " = " + r.bound.map("{:g}".format))
    ends = ends.sort_values("value", ascending=False).drop_duplicates("text")
    across, up = WIDTH / (right * 1.04 or 1), HEIGHT / (rows.value.max() or 1)  # pixels of one unit
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in zip(rows.privacy * across, rows.value * up, strict=True)]
    places = (("left", 8, 0), ("left", 5, 13), ("left", 5, -13), ("right", -8, 0), ("right", -5, 13))
    kept = []
    for row in ends.itertuples():  # where neither a mark nor another name lies; else it has none
        for align, beside, above in places:
            x, y, width = row.privacy * across + beside, row.value * up + above, LETTER * len(row.text)
            left = x if align == "left" else x - width
            box = (left, y - LINE / 2, left + width, y + LINE / 2)
            if 0 < box[0] and box[2] < WIDTH + 60 and 0 < box[1] and not any(overlap(box, other) for other in taken):
                taken.append(box)
                kept.append((x / across, y / up, row.text, align))
                break
    columns = ["privacy", "value", "text", "align"]
    return (
        of_columns(pd.DataFrame(kept, columns=columns), columns)
        .mark_text(align=alt.ExprRef("datum.align"), baseline="middle", fontSize=11, color=INK)
        .encode(x="privacy:Q", y="value:Q", text="text:N")
    )


def _title(rows: pd.DataFrame, measure: str) -> str:
    """Which line lies lowest and which highest where all of them run, or else where the one begins and ends."""
    written, name, plain = facts(measure).bare, facts(measure).phrase, partial(numerals.bare, "{:g}")
    groups = list(rows.groupby("series", sort=False))
    at, high = max(part.privacy.min() for _, part in groups), min(part.privacy.max() for _, part in groups)
    if len(groups) == 1 or at > high:
        least, most = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
        ends = [f"{written(row.value)} at a privacy loss of {plain(row.privacy)}" for row in (least, most)]
        return f"{name.capitalize()}: {ends[0]}, {ends[1]}"
    reached = {series: np.interp(at, part.privacy, part.value) for series, part in groups}
    least, *_, most = sorted(reached, key=lambda series: reached[series])
    least, most = (f"{written(reached[series])} ({series})" for series in (least, most))
    return f"At a privacy loss of {plain(at)} the {name} is {least} to {most}"


def _explained(scale: pd.Series, rows: pd.DataFrame, seeds: int) -> str:
    said = ["Marks: one release each, lines join those of one privacy model as its parameter changes."]
    if len(scale):
        said.append(
            f"Dashed, upright: what a person loses whose value is disclosed for certain, {scale['min']:.3f} (the "
            f"smallest) to {scale['max']:.3f} (the largest of those shown)."
        )
    for loss in _trivial(rows).baseline:
        end = "all people in one bucket" if set(rows.form) == {"in buckets"} else "no quasi-identifiers at all"
        said.append(f"Dashed, level: {end}, {loss:.3g}.")
    if rows.low.notna().any():
        over = f"{seeds} draws of the queries" if seeds > 1 else "the queries"
        said.append(f"Thin upright lines: 95% intervals over {over}.")
    return " ".join(said)
