"""Figures 2 and 3 of Li and Li 2009, with the privacy loss and the utility loss of releases."""

import textwrap
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import measure_facts
from privnb.papers.findings.tradeoff import GAINS, LOSSES, critiques, join_critiques
from privnb.papers.li_li_2009.study import identify_queries, pair_losses
from privnb.reporting.charts.base import (
    ID,
    choose_title,
    distinguish_series,
    name_releases,
    none,
    of_columns,
    style_chart,
)
from privnb.reporting.charts.frontier import LETTER, LINE, overlap
from privnb.reporting.charts.looks import GREY, INK, WIDTH
from privnb.runtime import numerals
from privnb.runtime.validation import validated
from privnb.runtime.wording import line

HEIGHT = 300
TEXTS = "papers/charts_tradeoff"


@validated
def trade_off(results: Results, measure: str = "utility_loss") -> Any:
    """Draw a measure of utility loss of each release against its privacy loss, as in Figures 2 and 3 of Li and Li 2009.

    There is one line per combination of privacy model, form and target. Dashed lines show the ends of both scales.

    Parameters
    ----------
    results : DataFrame
        Tidy results with `privacy_loss` and the measure for the same releases. The vertical lines show `revealed_loss`.
        The horizontal line shows the loss of the trivial release, which is the baseline of the measure.
    measure : str
        The measure of utility loss.

    Returns
    -------
    Altair chart or Sentences
        A sentence if there is nothing to draw.
    """
    if not (results.measure == measure).any():
        return none(measure)
    rows = pair_losses(results, measure).dropna(subset="privacy").reset_index(drop=True)  # a withheld loss lies nowhere
    if rows.empty:
        return none(measure)
    rows = name_releases(_with_series(rows))
    order = list(dict.fromkeys(rows.series))  # of models the same in every chart, so that each keeps its colour
    if len(rows[["target", "variant"]].drop_duplicates()) > 1:
        order = list(rows.groupby("series").value.mean().sort_values(ascending=False).index)  # as the lines lie
    rows = rows.sort_values(["series", "privacy"], kind="stable").reset_index(drop=True)
    scale = results[results.measure == "revealed_loss"].value.agg(["min", "max"]).dropna()
    right = max(rows.privacy.max(), scale.max() if len(scale) else 0)
    x = alt.X("privacy:Q", title=_unit(results), scale=alt.Scale(domain=[0, right * 1.04], nice=False))
    of = measure_facts(measure)
    ticks = alt.Axis(format="%" if "%" in of.format else "~g", tickCount=6)
    y = alt.Y(
        "value:Q", title=textwrap.wrap(f"{of.label}, {of.better} is better", 44, break_on_hyphens=False), axis=ticks
    )
    columns = ["series", "privacy", "value", "low", "high", "letter", "bound"]
    looks = distinguish_series("series", order)
    # Vega-Lite gives a line, and the lower end of a rule, a mark of its own where they have a shape.
    base = of_columns(rows, columns).encode(x=x, y=y, color=looks["color"])
    tip = [
        alt.Tooltip("series:N", title="line"),
        alt.Tooltip("letter:N", title="parameter"),
        alt.Tooltip("bound:Q", title="its value"),
        alt.Tooltip("privacy:Q", format=".4f", title="privacy loss"),
        alt.Tooltip("value:Q", format=".4f", title=of.label),
    ]
    summary = _summary(rows, measure)
    chart = base.mark_line(strokeWidth=1.2)
    if rows.low.notna().any():
        chart += base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q")
    chart += base.mark_point(filled=True, size=55, opacity=1).encode(shape=looks["shape"], tooltip=tip)
    return style_chart(
        (_scales(scale, rows) + chart + _ends(rows, right)).properties(width=WIDTH, height=HEIGHT),
        choose_title(*(line(TEXTS, macro, summary) for macro in ("trade_off_title", "trade_off_short"))),
        line(TEXTS, "trade_off", summary, _notes(scale, rows, results[results.measure == measure].seed.nunique())),
    )


@validated
def two_critiques(results: Results) -> Any:
    """Draw the direct comparison of Brickell and Shmatikov and the losses of Li and Li, one row per release.

    The upper panel shows the gains of an adversary and a researcher, and the lower panel shows the privacy loss and the
    utility loss, each as a share of its scale.

    `results`: rows of `papers.measure_trade_off` and `papers.compare_directly`.
    """
    wide = join_critiques(results)
    if wide.empty:
        return none("direct comparison")
    found = critiques(results)
    releases = name_releases(wide.index.to_frame(index=False, name="parameters").assign(sanitizer="Mondrian"))
    ids = dict(zip(wide.setting, releases[ID], strict=True))
    wide.index = wide.setting
    wide["privacy_loss"] /= results[results.measure == "revealed_loss"].value.min()
    wide["utility_loss"] /= results[results.measure == "utility_loss"].baseline.iloc[0]
    wide = wide[[*GAINS, *LOSSES]].rename(columns=lambda name: measure_facts(name).phrase).rename_axis(columns="series")
    looks = distinguish_series("series", list(wide))
    y = alt.Y("setting:N", sort=list(wide.index), title=None)
    units = {
        "people guessed correctly beyond the trivial release, as a share of all": wide.iloc[:, :2],
        "loss, as a share of the scale (0: nothing is lost; lower is better)": wide.iloc[:, 2:],
    }
    panels = [
        of_columns(
            part.stack().rename("value").reset_index().assign(**{ID: lambda rows: rows.setting.map(ids)}),
            ["setting", "series", "value"],
        )
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("value:Q", title=unit, axis=alt.Axis(format="%")),
            y=y,
            tooltip=[
                alt.Tooltip("setting:N", title="release"),
                alt.Tooltip("series:N", title="measure"),
                alt.Tooltip("value:Q", format=".2%", title="share"),
            ],
            **looks,
        )
        .properties(width=WIDTH, height=alt.Step(18))
        for unit, part in units.items()
    ]
    return style_chart(
        alt.vconcat(*panels),
        line(TEXTS, "two_critiques_title", found),
        line(TEXTS, "two_critiques", found),
    )


def _with_series(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with `series`, the name of each row's line, made of the model, the form and the kind of queries.

    The name omits a part that is the same in all rows.
    """
    asked = identify_queries(rows)
    kinds = asked.dimension.map("qd={:g}".format), asked.selectivity.map("sel={:g}".format)
    several = [part for part in (rows.model, rows.form, *kinds, rows.variant) if part.nunique() > 1] or [rows.model]
    return rows.assign(series=several[0].str.cat(several[1:], sep=", ").str.strip(", "))


def _unit(results: pd.DataFrame) -> str:
    distance = results[results.measure == "privacy_loss"].variant.iloc[0] or "Jensen-Shannon"
    unit = "nats" if distance in ("Jensen-Shannon", "Kullback-Leibler") else "share"
    return f"privacy loss of the worst-off person ({distance}, {unit}; lower is better)"


def _scales(scale: pd.Series, rows: pd.DataFrame) -> Any:
    """Return the ends of both scales as dashed lines."""
    layers = alt.layer()
    for column, ends in (("privacy", scale.rename("privacy").to_frame()), ("baseline", _trivial(rows))):
        if len(ends):
            rule = of_columns(ends, [column]).mark_rule(color=GREY, strokeDash=[5, 4])
            layers += rule.encode(**{"x" if column == "privacy" else "y": f"{column}:Q"})
    return layers


def _trivial(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the loss of the trivial release as a frame, which is empty if the rows have different trivial losses."""
    trivial = rows[["baseline"]].drop_duplicates().dropna()
    return trivial if len(trivial) == 1 else trivial.head(0)


def _ends(rows: pd.DataFrame, right: float) -> Any:
    """Return the parameters at both ends of each line as texts; omit a text that would cover a mark or another text."""
    ends = rows.loc[[i for _, part in rows.groupby("series", sort=False) for i in (part.index[0], part.index[-1])]]
    ends = ends[~ends.index.duplicated()].assign(text=lambda r: r.letter + " = " + r.bound.map("{:g}".format))
    ends = ends.sort_values("value", ascending=False).drop_duplicates("text")
    across, up = WIDTH / (right * 1.04 or 1), HEIGHT / (rows.value.max() or 1)  # pixels of one unit
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in zip(rows.privacy * across, rows.value * up, strict=True)]
    places = (("left", 8, 0), ("left", 5, 13), ("left", 5, -13), ("right", -8, 0), ("right", -5, 13))
    kept = []
    for row in ends.itertuples():  # where neither a mark nor another name lies; else it has none
        for align, shift, rise in places:
            x, y, width = row.privacy * across + shift, row.value * up + rise, LETTER * len(row.text)
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


def _summary(rows: pd.DataFrame, measure: str) -> dict[str, Any]:
    """Return the lowest and the highest line at a privacy loss that all lines reach.

    If there is one line, or no such privacy loss, the result has the releases with the least and the largest value
    instead.

    The numbers are texts, because the loss at a point between two measured releases is interpolated and not exact.
    """
    written, name, plain = (
        measure_facts(measure).bare,
        measure_facts(measure).phrase,
        partial(numerals.write_without_unit, "{:g}"),
    )
    groups = list(rows.groupby("series", sort=False))
    at, high = max(part.privacy.min() for _, part in groups), min(part.privacy.max() for _, part in groups)
    if len(groups) == 1 or at > high:
        least, most = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
        ends = [{"value": written(row.value), "privacy": plain(row.privacy)} for row in (least, most)]
        return {"name": name, "at": None, "least": ends[0], "most": ends[1]}
    reached = {series: np.interp(at, part.privacy, part.value) for series, part in groups}
    least, *_, most = sorted(reached, key=lambda series: reached[series])
    ends = [{"value": written(reached[series]), "series": series} for series in (least, most)]
    return {"name": name, "at": plain(at), "least": ends[0], "most": ends[1]}


def _notes(scale: pd.Series, rows: pd.DataFrame, seeds: int) -> dict[str, Any]:
    """Return the facts from which the template explains the marks of the chart."""
    return {
        "queries": [name for name in ("sel", "qd") if rows.series.str.contains(f"{name}=").any()],
        "models": list(rows.model.unique()),
        "several_forms": rows.form.nunique() > 1,
        "certain": {"least": f"{scale['min']:.3f}", "most": f"{scale['max']:.3f}"} if len(scale) else None,
        "trivial": [f"{loss:.3g}" for loss in _trivial(rows).baseline],
        "only_buckets": set(rows.form) == {"in buckets"},
        "has_intervals": bool(rows.low.notna().any()),
        "draws": int(seeds),
    }
