"""The R-U map: every release by its risk and its loss, one panel per kind."""

import numpy as np

from privnb.measures import facts
from privnb.microdata import expect
from privnb.reporting.charts.base import COLOURS, INK, PALE, Aggregate, alt, axis, finish, none
from privnb.sanitizers import catalogue

ACROSS, SIZE, PER_LINE = 250, 190, 2  # pixels of a panel, and panels side by side
LETTER, BEYOND = 5.2, 40  # pixels of a letter, and how far a name may pass the panel's end
LINE = 12 / SIZE  # the height of a name, as a share of a panel's


def risk_utility(releases):
    """One panel per kind of release, with equal axes: its releases in colour and named, all others in grey.

    Parameters
    ----------
    releases : DataFrame
        Of `decision.points`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    expect.these(releases=releases)
    drawn = releases.dropna(subset=["privacy", "utility"])
    if drawn.empty:
        return none("release with both numbers")
    drawn = drawn.assign(kind=drawn.sanitizer.map(catalogue.group))
    columns = ["privacy", "utility", "setting", "kind"]
    every = Aggregate(drawn, dict.fromkeys(columns, "")).rows
    risk, loss = (facts(releases[f"{each}_measure"].iloc[0]) for each in ("privacy", "utility"))
    low = float(drawn.privacy[drawn.privacy > 0].min()) / 2
    x = alt.X(
        "privacy:Q", title=f"{risk.label}, logarithmic", axis=_plain(risk.format),
        scale=alt.Scale(type="log", domain=[low, 1.5], clamp=True, nice=False),
    )  # fmt: skip
    room = 1.08 * float(drawn.utility.max()) or 1.0
    scale = alt.Scale(type="sqrt", domain=[0, room], nice=False)
    y = alt.Y("utility:Q", title=loss.label, axis=_plain(loss.format), scale=scale)
    panels = []
    for place, kind in enumerate(catalogue.groups(drawn.sanitizer)):
        here, others = every[every.kind == kind], every[every.kind != kind]
        marks = alt.Chart(others).mark_point(filled=True, color=PALE, size=20, opacity=0.8).encode(x=x, y=y)
        base = alt.Chart(_beside(here, low, room)).encode(x=x, y=y, tooltip=["setting"])
        marks += base.mark_point(filled=True, color=COLOURS[place % len(COLOURS)], size=55, opacity=1)
        height = alt.Y("label:Q", title=loss.label, scale=scale)
        for side, apart in (("left", 7), ("right", -7)):
            named = base.transform_filter(f"datum.side === '{side}'").encode(y=height, text="setting:N")
            marks += named.mark_text(align=side, dx=apart, fontSize=10, color=INK)
        panels.append(marks.properties(width=ACROSS, height=SIZE, title=alt.Title(kind, fontSize=12)))
    nearest = drawn[drawn.status != "refused"]
    said = "No release may be chosen"
    if len(nearest):
        best = nearest.loc[nearest.privacy.idxmin()]
        said = f"{len(drawn)} releases; of those that may be chosen, {best.setting} has the least risk"
    rows = [alt.hconcat(*panels[start : start + PER_LINE]) for start in range(0, len(panels), PER_LINE)]
    return finish(
        alt.vconcat(*rows),
        said,
        f"Points: releases by {risk.phrase} (to the left is better) and {loss.phrase} (lower is better); grey: those "
        "of other kinds.",
    )


def _plain(format):
    made = axis(format)
    made.grid, made.tickCount = False, 5
    return made


def _beside(rows, low, room):
    """The rows with the side on which their names stand, and at which height, so that names do not cover each other."""
    rows = rows.sort_values("utility").reset_index(drop=True)
    last, places = dict.fromkeys(("left", "right"), -LINE), []
    across = ACROSS * np.log(rows.privacy.clip(lower=low) / low) / np.log(1.5 / low)
    right = across + LETTER * rows.setting.str.len() < ACROSS + BEYOND
    sides = np.where(right, "left", "right")  # as Vega calls the end of a text that stands at the mark
    for side, utility in zip(sides, rows.utility, strict=True):
        last[side] = max((utility / room) ** 0.5, last[side] + LINE)
        places.append(room * min(last[side], 1.0) ** 2)
    return rows.assign(side=sides, label=places)
