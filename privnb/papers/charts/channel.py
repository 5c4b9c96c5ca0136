"""What releases leak, as charts: by what is known of a person, and of all kinds of sanitizers on one axis."""

from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.papers.findings.channel import most_revealing
from privnb.reporting.charts.base import distinguished, finish, none, of_columns, settings
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.runtime.names import names_in
from privnb.runtime.numerals import percent
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import group, groups

MOST = 500  # rows of an aggregate
VULNERABILITIES = ("identity_vulnerability", "attribute_vulnerability", "sensitive_vulnerability")
RIGHT = "probability that the guess is right"


@validated
def known_attributes(results: Results, secret: Literal["identity", "sensitive"] = "identity") -> Any:
    """How likely a guess is right for an adversary who knows some attributes of a person.

    A tick for each set of attributes, by their number; the set that tells most is named. One panel per release.

    Parameters
    ----------
    results : DataFrame
        Of `leakage.Known`.
    secret : str
        "identity" or "sensitive".

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    measure = f"{secret}_vulnerability"
    rows = _bounded(settings(results[(results.measure == measure) & (results.knows != "")]))
    if rows.empty:
        return none(measure)
    rows = rows.rename(columns={"knows": "names"})
    rows = rows.assign(many=rows.names.map(names_in).map(len))
    every, x = rows.many.max(), _axis(rows, secret)
    panels = []
    for setting, part in rows.groupby("setting", sort=False):
        worst = part.loc[part.groupby("many").value.idxmax()]
        labels = {row.many: _known(row, every) for row in worst.itertuples()}
        y = alt.Y("known:N", sort=list(labels.values()), title=None, axis=alt.Axis(labelLimit=280))
        ticks = of_columns(_thinned(part.assign(known=part.many.map(labels))), ["known", "value"])
        worst = worst.assign(known=worst.many.map(labels))
        dots = of_columns(worst, ["known", "names", "value", "said"]).encode(x=x, y=y)
        tip = ["names", alt.Tooltip("value:Q", format=".4%", title=RIGHT)]
        before = of_columns(part[["baseline"]].drop_duplicates(), ["baseline"])
        panel = before.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="baseline:Q")
        panel += ticks.mark_tick(thickness=1.2, size=13, color=COLOURS[0], opacity=0.55).encode(x=x, y=y)
        panel += dots.mark_point(filled=True, size=70, color=COLOURS[1], opacity=1, shape="diamond").encode(tooltip=tip)
        panel += dots.mark_text(dx=8, align="left", fontSize=11).encode(text="said:N")
        panels.append(panel.properties(width=WIDTH - 60, height=alt.Step(21), title=alt.Title(setting, fontSize=12)))
    found = most_revealing(results[results.measure == measure])
    return finish(
        alt.vconcat(*panels).resolve_scale(x="shared"),
        found.title if found else f"{facts(measure).title} by what an adversary knows",
        "Ticks: sets of known attributes, by how many there are; diamonds: the set that tells most, named at the left. "
        f"Dashed: without the release, {percent(rows.baseline.iloc[0])}."
        + (" At least: where few people are guessed or missed, only a bound is shown." if rows.bound.any() else "")
        + (" Equal lengths are equal leakage in bits." if secret == "identity" else ""),
    )


@validated
def leaks(results: Results, attribute: str = "") -> Any:
    """All sanitizers on one axis: how likely a guess is right before and after, whatever kind of release it is made
    from. One panel per secret.

    Parameters
    ----------
    results : DataFrame
        Of `leakage.Leakage`.
    attribute : str
        The quasi-identifier whose own value is guessed in the last panel, by default the first.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    if not results.measure.isin(VULNERABILITIES).any():
        return none("vulnerability")
    attribute = attribute or next(iter(results[results.measure == "attribute_vulnerability"].target), "")
    secrets = "identity", "sensitive", "attribute"
    rows = pd.concat([_of(results, secret, attribute) for secret in secrets], ignore_index=True)
    order = groups(rows.sanitizer)
    title = f"{RIGHT} (logarithmic; twice as likely is 1 bit of leakage)"
    x = _logarithmic(title, rows[["value", "baseline"]].min(axis=None), 1)
    columns = ["setting", "value", "low", "high", "baseline", "kind", "said"]
    panels = []
    for title, part in rows.groupby("panel", sort=False):
        base = of_columns(part, columns).encode(y=alt.Y("setting:N", sort=None, title=None))
        panel = base.mark_tick(color=INK, thickness=2, size=13).encode(x="baseline:Q")
        panel += base.mark_rule(color=GREY, strokeWidth=1).encode(x="baseline:Q", x2="value:Q")
        if part.low.notna().any():
            panel += base.mark_rule(color=INK, strokeWidth=3).encode(x="low:Q", x2="high:Q")
        panel += base.mark_point(filled=True, size=60, opacity=1).encode(x=x, **distinguished("kind", order))
        texts = base.mark_text(align="left", fontSize=11, dx=8, color=INK)
        panel += texts.encode(x=alt.datum(1), text="said:N")
        panels.append(panel.properties(width=WIDTH - 80, height=alt.Step(19), title=alt.Title(title, fontSize=12)))
    inner = rows[(rows.secret == "identity") & (rows.kind != "the ends")]
    least, most = inner.loc[inner.value.idxmin()], inner.loc[inner.value.idxmax()]
    return finish(
        alt.vconcat(*panels).resolve_scale(x="shared", color="shared", shape="shared"),
        f"A released row is traced to its person for {least.share} ({least.setting}) to {most.share} "
        f"({most.setting}) of people; without a release for {percent(least.baseline)}",
        "Marks: how likely one guess is right; ticks: the same guess without the release; numbers: the "
        "probability, and the leakage in bits. "
        + ("Bars: 95% intervals. " if rows.low.notna().any() else "")
        + "At most: what the original tells, which noise cannot exceed. Lower is better.",
    )


def _of(results: pd.DataFrame, secret: str, attribute: str) -> pd.DataFrame:
    """The rows of one panel."""
    rows = results[(results.measure == f"{secret}_vulnerability") & (results.knows == "")]
    if secret == "attribute":
        rows = rows[rows.target == attribute]
    rows = _bounded(settings(rows))
    # Where a release has both, the number is better than its bound.
    rows = rows.sort_values("variant", kind="stable").drop_duplicates(["sanitizer", "parameters"]).sort_index()
    bits = np.log2(np.maximum(rows.value / rows.baseline, 1))
    share = rows.said.where(rows.variant == "", "at most " + rows.said)
    panels = {
        "identity": "Whose is a row? For an adversary with a register of everybody's quasi-identifiers",
        "sensitive": f"What is a person's {next(iter(rows.target), '')}? For an adversary with their quasi-identifiers",
        "attribute": f"What is a person's own {attribute}? For an adversary who sees its released cell alone",
    }
    return rows.assign(
        share=share,
        said=share.str.cat(bits.map("{:.2f}".format), sep=", ") + " bits",
        kind=rows.sanitizer.map(group),
        panel=panels[secret],
        secret=secret,
    )


def _bounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with their share as `said`. A withheld one stands at its lower bound, of noise at its upper one."""
    most, withheld = rows.variant == "at most", rows.value.isna()
    rows = rows.assign(value=rows.value.fillna(rows.low.mask(most, rows.high)), bound=withheld)
    down = rows.value.where(rows.value < 0.1, np.floor(rows.value * 100) / 100)
    least = down.map(lambda share: f"at least {percent(share)}", "ignore")
    rows = rows.assign(said=least.where(withheld & ~most, rows.value.map(percent, "ignore")))
    # Bounds are no intervals.
    return rows.assign(low=rows.low.mask(withheld), high=rows.high.mask(withheld)).dropna(subset=["value", "baseline"])


def _axis(rows: pd.DataFrame, secret: str) -> Any:
    low, top = rows.baseline.min(), rows.value.max()
    if secret == "identity":
        return _logarithmic(f"{RIGHT} (logarithmic)", low, min(1, top * 4) if top < 0.5 else 4)
    scale = alt.Scale(domain=[low - 0.05 * (top - low), top + 0.15 * (top - low or 1)], zero=False, nice=False)
    # The room for a label at the right may pass 100 %, where there is nothing.
    axis = alt.Axis(format=".0%", tickCount=6, labelExpr="datum.value > 1.001 ? '' : datum.label")
    return alt.X("value:Q", title=RIGHT, scale=scale, axis=axis)


def _logarithmic(title: str, least: float, most: float) -> alt.X:
    """An axis with the powers of ten, from the one below `least`."""
    power = int(np.floor(np.log10(least)))
    scale = alt.Scale(type="log", domain=[10.0**power, most], nice=False)
    axis = alt.Axis(format="~%", values=[10.0**each for each in range(power, 1)])
    return alt.X("value:Q", title=title, scale=scale, axis=axis)


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """Sets that tell nearly the same are one tick, where there are more than can be drawn."""
    for digits in (4, 3, 2, 1):
        rounded = rows.value.map(f"{{:.{digits}g}}".format).astype(float)
        kept = rows.assign(value=rounded).drop_duplicates(["known", "value"])
        if len(kept) <= MOST:
            break
    return kept


def _known(row: Any, every: int) -> str:
    """How a row of the chart is labelled: how many attributes are known, and which of them tell most."""
    if row.many == every:
        return f"all {every}"
    return f"{row.many}: {row.names}" if row.many <= 3 else f"{row.many} of {every}"
