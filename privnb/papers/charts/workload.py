"""What a release gives an adversary and a researcher, on one axis; and printed numbers beside the measured ones."""

from typing import Any

import altair as alt
import pandas as pd

from privnb.evaluation.results import Results, setting_name
from privnb.papers import ledger
from privnb.papers.findings.workload import ahead, best_adversary, both_sides, gains
from privnb.reporting.charts.base import distinguished, finish, intervals, none, of_columns
from privnb.reporting.charts.looks import COLOURS, GREY, INK, WIDTH
from privnb.runtime.sentences import say
from privnb.runtime.validation import validated

ADVERSARY = "adversary"
TICK = "M-.2,-1H.2V1H-.2Z"


@validated
def compared(results: Results) -> Any:
    """Figures 1 to 4: the gains of the adversary and of each researcher's miner by sanitization, one panel per data
    set and workload.

    Ticks: what the adversary would gain by chance, from the same classes with values permuted at random.
    """
    sides = both_sides(results)
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
    exact = "exact for the people in the table"
    if ((rows.who == ADVERSARY) & (rows.miner != "")).any():
        exact += ", but under noise at least so much, as the best miner reaches"
    return finish(
        alt.concat(*panels, columns=max(1, WIDTH // width)).resolve_scale(x="shared"),
        ahead(sides).title,
        f"People guessed right beyond the trivial sanitization, as a share of all. Diamonds: the adversary, {exact}; "
        "ticks: the same classes with values permuted at random. Other marks: the researcher by miner; lines: "
        f"{intervals(results[results.measure == 'workload_gain'])}. More and less: beyond the interval of the "
        "researcher's best miner, where the one ahead gains more than 0, and the adversary more than by chance.",
    )


def _marks(results: pd.DataFrame) -> pd.DataFrame:
    """One row a mark: data set, workload ("" for the adversary), setting, who, value, low, high, chance.

    The adversary is that of `best_adversary`.
    """
    rows = gains(results)
    rows = pd.concat([best_adversary(rows), rows[rows.measure != "accuracy_gain"]]).sort_index()
    adversary = rows.measure == "accuracy_gain"
    return rows.assign(
        setting=[setting_name(row) for row in rows.itertuples()],
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
    chart += base.mark_point(shape=TICK, filled=True, size=60, color=INK, opacity=1).encode(x="chance:Q")
    chart += base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x,
        **distinguished("who", order, colours, shapes, columns=4, symbolSize=90),
        tooltip=["setting", "who", alt.Tooltip("value:Q", format="+.2%")],
    )
    return chart.properties(height=alt.Step(20 if len(order) == 2 else 9 * len(order), **{"for": "position"}))


@validated
def printed(results: Results, source: str, items: str) -> Any:
    """The paper's numbers whose item starts with `items` beside the measured ones: the rows of the ledger.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    source : str
        The paper, as the ledger names it, such as "askari-2012".
    items : str
        The beginning of an item, such as "table2/".

    Returns
    -------
    DataFrame or Sentences
        A sentence where none of them is measured, as on another table or a sample.
    """
    published = ledger.read_published()
    asked = (published.source == source) & published.item.str.startswith(items)
    rows = ledger.compare(results, published[asked])
    if rows.measured.isna().all():
        return say(
            "None of these settings was measured here as the paper did: with its table, its miner and all its records. "
            "The ledger has the paper's numbers, and beside them what a longer run has measured."
        )
    columns = ["published", "measured", "difference", "tolerance", "status"]
    return rows.set_index(rows.item.str.removeprefix(items)).rename_axis(None)[columns].round(4)
