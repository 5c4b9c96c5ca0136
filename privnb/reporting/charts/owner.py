"""Charts for an owner: how much good utility a release loses, and which sanitizer the rule of the paper chooses."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, is_single_miner
from privnb.reporting.charts.base import (
    average_settings,
    axis,
    choose_title,
    describe_intervals,
    distinguish_series,
    of_columns,
)
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some
from privnb.reporting.charts.looks import COLOURS, PALE
from privnb.reporting.findings.rows import WORST, name_choices, select_most_frequent
from privnb.runtime.numerals import write_percent
from privnb.sanitizers import catalogue

PANEL = 260  # pixels: two panels in one row
CELL = 176  # pixels: as wide as a page for telephones has panels
LETTERS = {"k": "k (larger: stricter)", "epsilon": "epsilon (to the right: more noise)"}


@drawing
def declines(results: Results) -> Drawn:
    """Draw the utility decline by k and by epsilon, with a line and intervals for each miner.

    Each sanitizer has a panel, and each set of miners has a row of panels.

    Dotted lines show the decline at which a miner is not better than the guess, 1 - baseline / original. In the panels
    of noise, dashed lines show the decline if the attributes to which noise is added are published as `*`.
    """
    rows = average_settings(results).dropna(subset="value")  # withheld numbers are not drawn
    every = rows[rows.measure == "utility_decline"]
    worst = every[(every.miner == "worst") & (every.miner_set == "") & every.bound.notna()]
    lines = every[is_single_miner(every)]
    drawn = some(lines[lines.bound.notna()], "utility_decline").assign(low=lambda r: r.low.clip(lower=0))
    good = rows[(rows.measure == "good_utility") & (rows.sanitizer == "Identity")]
    guess = (1 - good.set_index("miner").baseline / good.set_index("miner").value).rename("value")
    absent = lines[lines.sanitizer == "Suppress"].set_index("miner").value
    order = list(dict.fromkeys(drawn.miner))
    lowest = min(0, drawn.value.min(), guess.min())
    most = max(drawn.value.max(), drawn.high.max(), absent.max(), guess.max())
    y = alt.Y("value:Q", title="utility decline", axis=axis("{:%}"), scale=alt.Scale(domain=[lowest, most * 1.05]))
    panels = []
    for name, members in drawn.groupby("miner_set", sort=False):
        row = []
        for sanitizer, part in members.groupby("sanitizer", sort=False):
            letter = part.parameter.iloc[0]
            without_attribute = absent[absent.index.isin(part.miner)] if letter == "epsilon" else absent.iloc[:0]
            chart = alt.layer()
            # The text below the title explains these lines, because names would lie on the curves.
            for reference, dash in ((guess[guess.index.isin(part.miner)], [2, 3]), (without_attribute, [7, 4])):
                if len(reference):
                    chart += _level(reference, order, dash, y)
            chart += _lines(part, order, y, letter)
            title = catalogue.title(sanitizer)
            title = f"{title}, {name or 'main set'}" if drawn.miner_set.nunique() > 1 else title
            row.append(panel(chart.properties(height=220), title, PANEL))
        panels.append(alt.hconcat(*row))
    largest = "; ".join(
        f"{write_percent(part.value.max())} with {part.setting[part.value.idxmax()]}"
        for _, part in worst.groupby("sanitizer", sort=False)
    )
    dashed = ""
    if len(absent):
        bare = rows.setting[rows.sanitizer == "Suppress"].iloc[0]
        dashed = f" The dashed line shows {bare}, which publishes * instead of the noisy numbers."
    return (
        alt.vconcat(*panels),
        f"Utility decline of the worst model: at most {write_percent(worst.value.max())}"
        if len(worst)
        else "Utility decline",
        f"Lines show the utility decline by model; a lower decline keeps more. The largest is {largest or 'not known'}."
        f" Bars show {describe_intervals(results[results.measure == 'utility_decline'])}. The dotted line shows a "
        f"model that is no better than a guess of the most common value for everybody.{dashed}"
        + " A model that predicts better from the release than from the original has a decline of 0%."
        * bool((drawn.value <= 0).any())
        + " A dotted line below 0% belongs to a model that does not reach the guess on the original."
        * bool(lowest < 0),
    )


def _lines(rows: pd.DataFrame, order: Sequence[str], y: alt.Y, letter: str) -> alt.LayerChart:
    """Return the lines of one sanitizer's declines by its bound.

    The miners are shifted, so that no interval hides another interval.
    """
    bounds = sorted(set(rows.bound))
    low, high = bounds[0] / 1.3, bounds[-1] * 1.3
    places = {miner: 1.012 ** (place - (len(order) - 1) / 2) for place, miner in enumerate(order)}
    rows = rows.assign(at=rows.bound * rows.miner.map(places) ** (np.log(high / low) / np.log(50)))
    scale = alt.Scale(type="log", domain=[low, high], nice=False, reverse=letter == "epsilon")
    ticks = alt.Axis(values=bounds, format="~g", grid=False)
    x = alt.X("at:Q", title=LETTERS.get(letter, letter), scale=scale, axis=ticks)
    base = of_columns(rows, ["setting", "miner", "bound", "at", "value", "low", "high"])
    looks = distinguish_series("miner", order)
    base = base.encode(x=x, y=y, color=looks["color"])  # with a shape, a line would draw points of its own
    tips = [
        alt.Tooltip("setting:N"),
        alt.Tooltip("miner:N", title="model"),
        alt.Tooltip("value:Q", title="utility decline", format=".2%"),
    ]
    points = base.mark_point(filled=True, size=60, opacity=1).encode(shape=looks["shape"], tooltip=tips)
    marks = base.mark_line() + points
    if rows.low.notna().any():
        bars = base.mark_rule(strokeWidth=2).encode(y=y.copy(), y2="high:Q")
        bars.encoding.y.shorthand = "low:Q"
        marks += bars
    return marks


def _level(values: pd.Series, order: Sequence[str], dash: Sequence[int], y: alt.Y) -> alt.LayerChart:
    """Return a horizontal line per miner across the whole panel."""
    rows = values.rename_axis("miner").reset_index()
    levels = of_columns(rows, ["miner", "value"])
    return levels.mark_rule(strokeDash=dash, strokeWidth=1.5).encode(
        y=y, color=distinguish_series("miner", order)["color"]
    )


@drawing
def choices(chosen: Results) -> Drawn:
    """Draw the sanitizers that the paper's rule chooses, in a cell per scenario and criterion.

    Each cell also shows the share of the seeds for which the rule chooses this sanitizer.
    """
    rows = average_settings(chosen[chosen.measure == "chosen"])
    rows = some(rows, "sanitizer that keeps enough good utility and hits enough people to compare")
    rows = select_most_frequent(name_choices(rows))
    others = chosen[chosen.measure == "excess_over_choice"].dropna(subset="value")
    alone = len(others) > 0 and others.low.isna().all()  # without intervals, no run was repeated
    every = "one seed" if alone else "all seeds"
    rows["seeds"] = rows.value.map(lambda share: every if share == 1 else f"{write_percent(share)} of the seeds")
    worst = rows[rows.criterion == WORST].set_index("scenario").setting
    rows["alike"] = rows.setting == rows.scenario.map(worst)
    worst_first = sorted(dict.fromkeys(rows.criterion), key=lambda name: name != WORST)  # the paper's own rule
    left = alt.Axis(domain=False, ticks=False, labelLimit=320, title=None)
    base = of_columns(rows, ["scenario", "criterion", "setting", "seeds", "value", "alike"])
    base = base.encode(y=alt.Y("criterion:N", sort=worst_first, axis=left))
    colour = alt.condition("datum.alike", alt.value(COLOURS[5]), alt.value(PALE))
    tips = [
        *(alt.Tooltip(f"{name}:N") for name in ("scenario", "criterion", "setting")),
        alt.Tooltip("value:Q", title="share of the seeds", format=".0%"),
    ]
    cells = base.mark_rect(stroke="white", strokeWidth=3, opacity=0.35).encode(color=colour, tooltip=tips)
    names = base.mark_text(fontSize=11, dy=-6).encode(text="setting:N")
    seeds = base.mark_text(fontSize=10, dy=8).encode(text="seeds:N")
    every_cell = len(rows) == rows.scenario.nunique() * rows.criterion.nunique()
    empty = "" if every_cell else " An empty cell is withheld."
    scenario = alt.Facet("scenario:N", sort=None, title="scenario")
    grid = (cells + names + seeds).properties(width=CELL, height=alt.Step(36)).facet(scenario, columns=3)
    return (
        grid.properties(spacing=10),
        _title(rows),
        "Each cell shows the sanitizer that discloses least, among those that keep enough good utility, by criterion "
        "and scenario, and the share of the seeds in which it does. Blue cells agree with the choice by the worst "
        f"miner; grey cells do not. The paper's rule is not a recommendation.{_agreement(rows)}{empty}",
    )


def _title(rows: pd.DataFrame) -> str:
    picks = rows[rows.criterion == WORST].setting.unique()
    if not len(picks):
        return "Too few people are hit to choose by the worst miner"
    several = "The paper's rule chooses another release in some scenarios"
    one = "The paper's rule chooses one release in all scenarios"
    return choose_title(f"The paper's rule chooses {picks[0]}", one) if len(picks) == 1 else several


def _agreement(rows: pd.DataFrame) -> str:
    """Return a sentence about how many cells of other criteria agree with the choice by the worst miner."""
    of_worst = rows[rows.criterion == WORST].set_index("scenario").setting
    others = rows[(rows.criterion != WORST) & rows.scenario.isin(of_worst.index)]
    same = (others.setting == others.scenario.map(of_worst)).sum()
    return f" {same} of {len(others)} cells of other criteria agree with the worst miner." if len(others) else ""
