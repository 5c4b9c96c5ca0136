"""What an owner looks at: how much good utility a sanitizer costs, and which sanitizer they would choose."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, of_one_miner
from privnb.reporting.charts.base import axis, distinguished, intervals, of_columns, settings
from privnb.reporting.charts.drawing import Drawn, drawing, panel, some
from privnb.reporting.charts.looks import COLOURS, PALE
from privnb.reporting.findings.rows import WORST, most_often, named
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import listed
from privnb.sanitizers import catalogue

PANEL = 260  # pixels: two panels beside each other
CELL = 176  # pixels: as wide as a page for telephones has panels
LETTERS = {"k": "k (larger: stricter)", "epsilon": "epsilon (to the right: more noise)"}


@drawing
def declines(results: Results) -> Drawn:
    """Utility decline by k and by epsilon: one line per miner with its interval, one panel per sanitizer, one row of
    panels per set of miners.

    Dotted: the decline at which a miner is no better than the guess, 1 - baseline / original. Dashed, beside noise: the
    decline if the attributes that noise blurs are published as `*`.
    """
    rows = settings(results).dropna(subset="value")  # what is withheld is not drawn
    every = rows[rows.measure == "utility_decline"]
    worst = every[(every.miner == "worst") & (every.miner_set == "") & every.bound.notna()]
    lines = every[of_one_miner(every)]
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
            beside = absent[absent.index.isin(part.miner)] if letter == "epsilon" else absent.iloc[:0]
            chart = alt.layer()
            # The text below the title says what they are: names would lie on the curves.
            for reference, dash in ((guess[guess.index.isin(part.miner)], [2, 3]), (beside, [7, 4])):
                if len(reference):
                    chart += _level(reference, order, dash, y)
            chart += _lines(part, order, y, letter)
            title = catalogue.title(sanitizer)
            title = f"{title}, {name or 'main set'}" if drawn.miner_set.nunique() > 1 else title
            row.append(panel(chart.properties(height=220), title, PANEL))
        panels.append(alt.hconcat(*row))
    named = "; ".join(
        f"at most {percent(part.value.max())} ({part.setting[part.value.idxmax()]})"
        for _, part in worst.groupby("sanitizer", sort=False)
    )
    dashed = ""
    if len(absent):
        dashed = f" Dashed: {rows[rows.sanitizer == 'Suppress'].setting.iloc[0]}, which leaves out what noise blurs."
    return (
        alt.vconcat(*panels),
        f"Utility decline of the miner that loses most: {named}",
        f"Lines: decline by miner, lower keeps more; bars: {intervals(results[results.measure == 'utility_decline'])}. "
        f"Dotted: where the miner would be no better than the guess, the commonest value for everybody.{dashed}"
        + " Below 0%: the miner predicts better from the release than from the original."
        * bool(lowest < 0),
    )


def _lines(rows: pd.DataFrame, order: Sequence[str], y: alt.Y, letter: str) -> alt.LayerChart:
    """Lines of one sanitizer's declines by its bound; miners stand side by side, so that no interval hides another."""
    bounds = sorted(set(rows.bound))
    low, high = bounds[0] / 1.3, bounds[-1] * 1.3
    places = {miner: 1.012 ** (place - (len(order) - 1) / 2) for place, miner in enumerate(order)}
    rows = rows.assign(at=rows.bound * rows.miner.map(places) ** (np.log(high / low) / np.log(50)))
    scale = alt.Scale(type="log", domain=[low, high], nice=False, reverse=letter == "epsilon")
    ticks = alt.Axis(values=bounds, format="~g", grid=False)
    x = alt.X("at:Q", title=LETTERS.get(letter, letter), scale=scale, axis=ticks)
    base = of_columns(rows, ["miner", "bound", "at", "value", "low", "high"])
    base = base.encode(x=x, y=y, **distinguished("miner", order))
    tips = ["miner", "bound", alt.Tooltip("value:Q", format=".2%")]
    marks = base.mark_line() + base.mark_point(filled=True, size=60, opacity=1).encode(tooltip=tips)
    if rows.low.notna().any():
        bars = base.mark_rule(strokeWidth=2).encode(y=y.copy(), y2="high:Q")
        bars.encoding.y.shorthand = "low:Q"
        bars.encoding.shape = alt.Undefined
        marks += bars
    return marks


def _level(values: pd.Series, order: Sequence[str], dash: Sequence[int], y: alt.Y) -> alt.LayerChart:
    """A horizontal line a miner across the panel."""
    rows = values.rename_axis("miner").reset_index()
    levels = of_columns(rows, ["miner", "value"])
    return levels.mark_rule(strokeDash=dash, strokeWidth=1.5).encode(y=y, color=distinguished("miner", order)["color"])


@drawing
def choices(chosen: Results) -> Drawn:
    """Which sanitizer the paper's rule chooses: a cell for each scenario and criterion, with the share of the seeds."""
    rows = settings(chosen[chosen.measure == "chosen"])
    rows = some(rows, "sanitizer that keeps enough good utility and hits enough people to compare")
    rows = most_often(named(rows))
    others = chosen[chosen.measure == "excess_over_choice"].dropna(subset="value")
    alone = len(others) > 0 and others.low.isna().all()  # no interval beside it: nothing was repeated
    every = "one seed" if alone else "all seeds"
    rows["seeds"] = rows.value.map(lambda share: every if share == 1 else f"{percent(share)} of the seeds")
    worst = rows[rows.criterion == WORST].set_index("scenario").setting
    rows["alike"] = rows.setting == rows.scenario.map(worst)
    worst_first = sorted(dict.fromkeys(rows.criterion), key=lambda name: name != WORST)  # the paper's own rule
    left = alt.Axis(domain=False, ticks=False, labelLimit=320, title=None)
    base = of_columns(rows, ["scenario", "criterion", "setting", "seeds", "value", "alike"])
    base = base.encode(y=alt.Y("criterion:N", sort=worst_first, axis=left))
    colour = alt.condition("datum.alike", alt.value(COLOURS[5]), alt.value(PALE))
    cells = base.mark_rect(stroke="white", strokeWidth=3, opacity=0.35).encode(color=colour)
    names = base.mark_text(fontSize=11, dy=-6).encode(text="setting:N")
    seeds = base.mark_text(fontSize=10, dy=8).encode(text="seeds:N")
    every_cell = len(rows) == rows.scenario.nunique() * rows.criterion.nunique()
    empty = "" if every_cell else " Empty: a number that is withheld."
    scenario = alt.Facet("scenario:N", sort=None, title="scenario")
    grid = (cells + names + seeds).properties(width=CELL, height=alt.Step(36)).facet(scenario, columns=3)
    return (
        grid.properties(spacing=10),
        _picks(rows),
        "Cells: of the sanitizers that keep enough good utility, the one that gives the adversary least, by criterion "
        "and scenario, and the share of the seeds in which it is so. Blue: the setting that the worst miner leads to; "
        f"grey: another one.{empty}",
    )


def _picks(rows: pd.DataFrame) -> str:
    """What the worst miner leads to, and how many of the other cells agree."""
    of_worst = rows[rows.criterion == WORST].set_index("scenario").setting
    picks = "; ".join(f"{setting} in {listed(list(part.index))}" for setting, part in of_worst.groupby(of_worst))
    if of_worst.empty:
        return "Too few people are hit to choose by the worst miner"
    others = rows[(rows.criterion != WORST) & rows.scenario.isin(of_worst.index)]
    same = (others.setting == others.scenario.map(of_worst)).sum()
    agree = f"{same} of {len(others)} cells of other criteria agree"
    return f"The paper's rule, which is no recommendation, chooses {picks}; {agree}"
