"""Charts of leakage, by the attributes that an adversary knows and by sanitizer."""

from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.papers.findings.channel import most_revealing
from privnb.reporting.charts.base import (
    average_settings,
    choose_title,
    distinguish_series,
    none,
    of_columns,
    style_chart,
)
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.runtime.names import parse_names
from privnb.runtime.numerals import write_percent
from privnb.runtime.validation import validated
from privnb.runtime.wording import line
from privnb.sanitizers.catalogue import group, groups

MOST = 500  # rows of an aggregate
VULNERABILITIES = ("identity_vulnerability", "attribute_vulnerability", "sensitive_vulnerability")
RIGHT = "probability that the guess is right"
TEXTS = "papers/charts_channel"
TIP = [
    alt.Tooltip("setting:N", title="release"),
    alt.Tooltip("kind:N", title="kind"),
    alt.Tooltip("value:Q", format=".4%", title=RIGHT),
    alt.Tooltip("baseline:Q", format=".4%", title="without the release"),
]


@validated
def known_attributes(results: Results, subject: Literal["identity", "sensitive"] = "identity") -> Any:
    """Draw the probability of a correct guess by an adversary, for each set of attributes that the adversary knows.

    Each set of attributes is a tick, and sets with the same number of attributes are in one line. A label names the set
    that reveals most in each line. There is one panel per release.

    Parameters
    ----------
    results : DataFrame
        The results of `leakage.KnownAttributes`.
    subject : str
        The target of the guess: "identity" or "sensitive".

    Returns
    -------
    Altair chart or Sentences
        A sentence if there is nothing to draw.
    """
    measure = f"{subject}_vulnerability"
    rows = _bounded(average_settings(results[(results.measure == measure) & (results.knows != "")]))
    if rows.empty:
        return none(measure)
    rows = rows.rename(columns={"knows": "names"})
    rows = rows.assign(many=rows.names.map(parse_names).map(len))
    every, x = rows.many.max(), _axis(rows, subject)
    panels = []
    for setting, part in rows.groupby("setting", sort=False):
        worst = part.loc[part.groupby("many").value.idxmax()]
        labels = {row.many: _known(row, every) for row in worst.itertuples()}
        y = alt.Y("known:N", sort=list(labels.values()), title=None, axis=alt.Axis(labelLimit=280))
        ticks = of_columns(_thinned(part.assign(known=part.many.map(labels))), ["known", "setting", "names", "value"])
        worst = worst.assign(known=worst.many.map(labels))
        dots = of_columns(worst, ["known", "setting", "names", "value", "said"]).encode(x=x, y=y)
        tip = [
            alt.Tooltip("setting:N", title="release"),
            alt.Tooltip("names:N", title="known attributes"),
            alt.Tooltip("value:Q", format=".4%", title=RIGHT),
        ]
        before = of_columns(part[["baseline"]].drop_duplicates(), ["baseline"])
        panel = before.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="baseline:Q")
        marks = ticks.mark_tick(thickness=1.2, size=13, color=COLOURS[0], opacity=0.55)
        panel += marks.encode(x=x, y=y, tooltip=tip)
        panel += dots.mark_point(filled=True, size=70, color=COLOURS[1], opacity=1, shape="diamond").encode(tooltip=tip)
        panel += dots.mark_text(dx=8, align="left", fontSize=11).encode(text="said:N")
        panels.append(panel.properties(width=WIDTH - 60, height=alt.Step(21), title=alt.Title(setting, fontSize=12)))
    found = most_revealing(results[results.measure == measure])
    return style_chart(
        alt.vconcat(*panels).resolve_scale(x="shared"),
        choose_title(*(line(TEXTS, "known_attributes_title", each) for each in (found, None))),
        line(TEXTS, "known_attributes", found, float(rows.baseline.iloc[0]), bool(rows.bound.any()), subject),
    )


@validated
def leaks(results: Results, attribute: str = "") -> Any:
    """Draw the probability of a correct guess without a release and with the release of each sanitizer.

    There is one panel per target of the guess, and all panels have the same axis.

    Parameters
    ----------
    results : DataFrame
        The results of `leakage.Leakage`.
    attribute : str
        The quasi-identifier whose value the adversary guesses in the last panel; by default, the first
        quasi-identifier.

    Returns
    -------
    Altair chart or Sentences
        A sentence if there is nothing to draw.
    """
    if not results.measure.isin(VULNERABILITIES).any():
        return none("vulnerability")
    attribute = attribute or next(iter(results[results.measure == "attribute_vulnerability"].target), "")
    subjects = "identity", "sensitive", "attribute"
    rows = pd.concat([_of(results, subject, attribute) for subject in subjects], ignore_index=True)
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
        points = base.mark_point(filled=True, size=60, opacity=1)
        panel += points.encode(x=x, tooltip=TIP, **distinguish_series("kind", order))
        texts = base.mark_text(align="left", fontSize=11, dx=8, color=INK)
        panel += texts.encode(x=alt.datum(1), text="said:N")
        panels.append(panel.properties(width=WIDTH - 80, height=alt.Step(19), title=alt.Title(title, fontSize=12)))
    inner = rows[(rows.subject == "identity") & (rows.kind != "the ends")]
    least, most = inner.loc[inner.value.idxmin()], inner.loc[inner.value.idxmax()]
    return style_chart(
        alt.vconcat(*panels).resolve_scale(x="shared", color="shared", shape="shared"),
        line(TEXTS, "leaks_title", most.share),
        line(
            TEXTS,
            "leaks",
            {"share": least.share, "setting": least.setting, "baseline": float(least.baseline)},
            {"share": most.share, "setting": most.setting},
            bool(rows.low.notna().any()),
        ),
    )


def _of(results: pd.DataFrame, subject: str, attribute: str) -> pd.DataFrame:
    """Return the rows of the panel for one target of the guess."""
    rows = results[(results.measure == f"{subject}_vulnerability") & (results.knows == "")]
    if subject == "attribute":
        rows = rows[rows.target == attribute]
    rows = _bounded(average_settings(rows))
    # If a release has both, the number is better than its bound.
    rows = rows.sort_values("variant", kind="stable").drop_duplicates(["sanitizer", "parameters"]).sort_index()
    bits = np.log2(np.maximum(rows.value / rows.baseline, 1))
    share = rows.said.where(rows.variant == "", "at most " + rows.said)
    panels = {
        "identity": "Whose row is this? The adversary has a register of everybody's quasi-identifiers",
        "sensitive": f"What is a person's {next(iter(rows.target), '')}? The adversary knows the quasi-identifiers",
        "attribute": f"What is a person's own {attribute}? The adversary sees only its released cell",
    }
    return rows.assign(
        share=share,
        said=share.str.cat(bits.map("{:.2f}".format), sep=", ") + " bits",
        kind=rows.sanitizer.map(group),
        panel=panels[subject],
        subject=subject,
    )


def _bounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the share of each row as a text, in the column `said`.

    A withheld share is replaced by its lower bound or, under noise, by its upper bound.
    """
    most, withheld = rows.variant == "at most", rows.value.isna()
    rows = rows.assign(value=rows.value.fillna(rows.low.mask(most, rows.high)), bound=withheld)
    down = rows.value.where(rows.value < 0.1, np.floor(rows.value * 100) / 100)
    least = down.map(lambda share: f"at least {write_percent(share)}", "ignore")
    rows = rows.assign(said=least.where(withheld & ~most, rows.value.map(write_percent, "ignore")))
    # Bounds do not form an interval.
    return rows.assign(low=rows.low.mask(withheld), high=rows.high.mask(withheld)).dropna(subset=["value", "baseline"])


def _axis(rows: pd.DataFrame, subject: str) -> Any:
    low, top = rows.baseline.min(), rows.value.max()
    if subject == "identity":
        return _logarithmic(f"{RIGHT} (logarithmic)", low, min(1, top * 4) if top < 0.5 else 4)
    scale = alt.Scale(domain=[low - 0.05 * (top - low), top + 0.15 * (top - low or 1)], zero=False, nice=False)
    # The room for a label at the right may pass 100 %, where there is nothing.
    axis = alt.Axis(format=".0%", tickCount=6, labelExpr="datum.value > 1.001 ? '' : datum.label")
    return alt.X("value:Q", title=RIGHT, scale=scale, axis=axis)


def _logarithmic(title: str, least: float, most: float) -> alt.X:
    """Return a logarithmic axis with the powers of ten, from the largest power that is at most `least`."""
    power = int(np.floor(np.log10(least)))
    scale = alt.Scale(type="log", domain=[10.0**power, most], nice=False)
    axis = alt.Axis(format="~%", values=[10.0**each for each in range(power, 1)])
    return alt.X("value:Q", title=title, scale=scale, axis=axis)


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows without the sets of attributes that would need too many ticks.

    If there are too many ticks to draw, one tick represents all sets with nearly equal values.
    """
    for digits in (4, 3, 2, 1):
        rounded = rows.value.map(f"{{:.{digits}g}}".format).astype(float)
        kept = rows.assign(value=rounded).drop_duplicates(["known", "value"])
        if len(kept) <= MOST:
            break
    return kept


def _known(row: Any, every: int) -> str:
    """Return the label of a line of the chart: the number of known attributes, and the set that reveals most."""
    if row.many == every:
        return f"all {every}"
    return f"{row.many}: {row.names}" if row.many <= 3 else f"{row.many} of {every}"
