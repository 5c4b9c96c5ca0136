"""A chart of the gains of an adversary and a researcher, and a table of published and measured numbers."""

from typing import Any

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results, name_setting
from privnb.papers import ledger
from privnb.papers.findings.workload import ahead, average_gains, best_adversary, join_sides
from privnb.reporting.charts.base import add_ids, describe_intervals, distinguish_series, none, of_columns, style_chart
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.runtime.sentences import say
from privnb.runtime.validation import validated
from privnb.runtime.wording import line, write

ADVERSARY = "adversary"
TEXTS = "papers/charts_workload"
TICK = "M-.2,-1H.2V1H-.2Z"


@validated
def compare_gains(results: Results) -> Any:
    """Draw Figures 1 to 4, the gains of the adversary and of each of the researcher's miners, by release.

    There is one panel per data set and workload. Ticks show the gain that the adversary has by chance, which is
    computed from permuted sensitive values.
    """
    sides = join_sides(results)
    if sides.empty or sides.gain.isna().all():
        return none("release with a researcher's gain")
    rows = _marks(results)
    order = [ADVERSARY, *dict.fromkeys(rows.who[rows.who != ADVERSARY])]
    pairs = sides[["dataset", "target"]].drop_duplicates()
    pairs = pairs.assign(place=pairs.groupby("dataset").cumcount()).sort_values("place", kind="stable")
    settings = sides.groupby("dataset", sort=False).setting.agg(set)
    width = WIDTH if len(settings) == 1 else WIDTH // 2  # a column per data set, as the paper has it
    panels = []
    for data, target, _ in pairs.itertuples(index=False):
        part = sides[(sides.dataset == data) & (sides.target == target)]
        here = rows[(rows.dataset == data) & rows.target.isin(["", target])]
        first = pairs.dataset.iloc[0]
        named = data == first or set(part.setting) != settings[first]
        panel = _panel(here, list(part.setting), order, named)
        panels.append(panel.properties(width=width, title=alt.Title([data, f"workload: {target}"], fontSize=12)))
    noisy = bool(((rows.who == ADVERSARY) & (rows.miner != "")).any())
    found = ahead(sides)
    return style_chart(
        alt.concat(*panels, columns=max(1, WIDTH // width)).resolve_scale(x="shared"),
        line(TEXTS, "compared_title", found),
        line(TEXTS, "compared", found, noisy, describe_intervals(results[results.measure == "workload_gain"])),
    )


def _marks(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row per mark, with the workload as `target` and with the columns `setting`, `who` and `chance`.

    The rows of the adversary come from `best_adversary`, and have an empty `target`.
    """
    rows = average_gains(results)
    rows = pd.concat([best_adversary(rows), rows[rows.measure != "accuracy_gain"]]).sort_index()
    adversary = rows.measure == "accuracy_gain"
    return add_ids(rows).assign(
        setting=[name_setting(row) for row in rows.itertuples()],
        who=rows.miner.where(~adversary, ADVERSARY),
        target=rows.target.where(~adversary, ""),
        chance=rows.baseline.where(adversary),
    )


def _panel(rows: pd.DataFrame, settings: list[str], order: list[str], named: bool) -> Any:
    base = of_columns(rows, ["setting", "who", "value", "low", "high", "chance"]).encode(
        y=alt.Y("setting:N", title=None, scale=alt.Scale(domain=settings), axis=alt.Axis(grid=True, labels=named)),
        yOffset=alt.YOffset("who:N", sort=order, scale=alt.Scale(domain=order)),
    )
    x = alt.X("value:Q", title="gain (share of people)", axis=alt.Axis(format="+.0%", tickCount=5))
    shapes = ["diamond", "circle", "square", "triangle-up", "cross", "triangle-down"]
    colours = [COLOURS[1], COLOURS[0], *COLOURS[2:]]
    zero = alt.Chart(pd.DataFrame({"zero": [0]})).mark_rule(color=GREY).encode(x="zero:Q")
    chart = zero + base.mark_rule(color=GREY, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    tips = [
        alt.Tooltip("setting:N", title="release"),
        alt.Tooltip("who:N", title="adversary or miner"),
        alt.Tooltip("value:Q", format="+.2%", title="gain, share of people"),
        alt.Tooltip("chance:Q", format="+.2%", title="by chance"),
    ]
    chance = base.mark_point(shape=TICK, filled=True, size=60, color=INK, opacity=1)
    chart += chance.encode(x="chance:Q", tooltip=tips)
    looks = distinguish_series("who", order, colours, shapes, columns=4, symbolSize=90)
    chart += base.mark_point(filled=True, size=55, opacity=1).encode(x=x, tooltip=tips, **looks)
    return chart.properties(height=alt.Step(20 if len(order) == 2 else 9 * len(order), **{"for": "position"}))


@validated
def compare_printed(results: Results, source: str, items: str) -> Any:
    """Return the rows of the ledger for the numbers of a paper whose `item` starts with `items`.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    source : str
        The name of the paper in the ledger, such as "askari-2012".
    items : str
        The beginning of an item, such as "table2/".

    Returns
    -------
    DataFrame or Sentences
        A sentence if none of these numbers was measured, for example because the results are of another table or of a
        sample.
    """
    published = ledger.read_published()
    asked = (published.source == source) & published.item.str.startswith(items)
    rows = ledger.compare_with_published(results, published[asked])
    if rows.measured.isna().all():
        return say(*write(TEXTS, "not_measured"))
    columns = ["published", "measured", "difference", "tolerance", "status"]
    return rows.set_index(rows.item.str.removeprefix(items)).rename_axis(None)[columns].round(4)
