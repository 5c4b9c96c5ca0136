"""Charts of twelve invented people that show the steps of Mondrian and a search of all levels.

No other charts may show records. These charts may, because the people are invented and no function accepts another
table.
"""

from operator import itemgetter
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.papers import twelve
from privnb.reporting.charts.base import distinguish_series, style_chart
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE
from privnb.reporting.charts.narrow import WHOLE
from privnb.runtime.wording import line

AGE, HOUSE = (18, 60), (0, 42)
TEXTS = "papers/charts_twelve"


def cuts() -> Any:
    """Draw Mondrian step by step: the people in the plane of age and house, the boxes, and the cuts between boxes."""
    people, boxes = twelve.load_people().table, twelve.list_boxes()
    titles = {1: "First cut: 6 and 6", 2: "Second cuts: 3 in each"}
    chart = alt.hconcat(*(_step(people, boxes, step, title) for step, title in titles.items()), spacing=14)
    return style_chart(
        chart,
        line(TEXTS, "cuts_title"),
        line(TEXTS, "cuts"),
    )


def _step(people: pd.DataFrame, boxes: pd.DataFrame, step: int, title: str) -> Any:
    domains = {"house": alt.Scale(domain=HOUSE, nice=False), "age": alt.Scale(domain=AGE, nice=False)}
    looks: dict[str, Any] = {name: {"scale": each, "axis": alt.Axis(tickCount=4)} for name, each in domains.items()}
    x, y = looks["house"] | {"title": "house"}, looks["age"] | {"title": "age" if step == 1 else None}
    named = [f"ages {b.age_min} to {b.age_max}, houses {b.house_min} to {b.house_max}" for b in boxes.itertuples()]
    box = alt.Chart(boxes.assign(box=named)[boxes["step"] == step]).mark_rect(
        fill=COLOURS[0], fillOpacity=0.12, stroke=COLOURS[0]
    )
    letters = alt.Chart(people[["person", "age", "house", "illness"]]).encode(
        x=alt.X("house:Q", **x), y=alt.Y("age:Q", **y), tooltip=["person", "age", "house", "illness"]
    )
    layers = [
        box.encode(
            x=alt.X("house_min:Q", **x), x2="house_max:Q", y=alt.Y("age_min:Q", **y), y2="age_max:Q",
            tooltip="box:N",
        ),
        letters.mark_point(filled=True, size=60).encode(**distinguish_series("illness", ["flu", "asthma", "diabetes"])),
        letters.mark_text(dx=9, dy=-7, fontSize=13, color=INK).encode(text="person"),
    ]  # fmt: skip
    lines = alt.Chart(_lines(boxes, step)).mark_rule(strokeDash=[4, 3], stroke=GREY)
    layers.append(lines.encode(x="x:Q", x2="x2:Q", y="y:Q", y2="y2:Q"))
    return alt.layer(*layers).properties(width=212, height=230, title=alt.Title(title, fontSize=13, offset=4))


def _lines(boxes: pd.DataFrame, step: int) -> pd.DataFrame:
    """Return the lines of the cuts up to a step.

    A line is halfway between the two new boxes, and crosses the whole box that is cut.
    """
    lines, axes = [], {"house": "x", "age": "y"}
    every = boxes.to_dict("records")
    for whole in (box for box in every if box["step"] < step):
        low, high = [
            box for box in every
            if box["step"] == whole["step"] + 1
            and all(whole[f"{n}_min"] <= box[f"{n}_min"] and box[f"{n}_max"] <= whole[f"{n}_max"] for n in axes)
        ]  # fmt: skip
        for cut, along in (("house", "age"), ("age", "house")):
            low, high = sorted((low, high), key=itemgetter(f"{cut}_min"))
            if low[f"{cut}_max"] < high[f"{cut}_min"]:
                ends = {axes[cut]: [(low[f"{cut}_max"] + high[f"{cut}_min"]) / 2] * 2}
                ends[axes[along]] = [whole[f"{along}_min"] - 1, whole[f"{along}_max"] + 1]
                lines.append([*ends["x"], *ends["y"]])
                break
    return pd.DataFrame(lines, columns=["x", "x2", "y", "y2"])


def lattice() -> Any:
    """Draw every choice of one level per attribute, the finest at the bottom, and mark the best choice with k = 3."""
    nodes = twelve.list_lattice()
    ages = np.array(["exact age", "10 years", "20 years", "any age"], dtype=object)
    houses = np.array(["exact house", "10 houses", "20 houses", "any house"], dtype=object)
    nodes = nodes.assign(
        x=nodes.house - nodes.age,
        y=nodes.age + nodes.house,
        name=ages[nodes.age] + ", " + houses[nodes.house],
        keeps=np.select([nodes.chosen, nodes.k >= 3], ["keeps k = 3, least penalty", "keeps k = 3"], "smaller k"),
        said=nodes.k.map("k = {}".format),
        lost=nodes.penalty.map("{:.0%}".format),
    )
    above = pd.concat([nodes.assign(age=nodes.age - 1), nodes.assign(house=nodes.house - 1)])
    edges = nodes.merge(above, on=["age", "house"], suffixes=("", "2"))[["x", "y", "x2", "y2"]]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-3.8, 3.8]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.5, 6.5]))
    order = ["keeps k = 3, least penalty", "keeps k = 3", "smaller k"]
    looks = distinguish_series("keeps", order, [COLOURS[1], COLOURS[0], PALE], ["diamond", "circle", "circle"])
    titles = {"name": "levels", "said": "k reached", "lost": "certainty penalty"}
    tip = [alt.Tooltip(name, title=title) for name, title in titles.items()]
    base = alt.Chart(nodes[["x", "y", "name", "keeps", "said", "lost"]]).encode(x=x, y=y)
    chart = alt.layer(
        alt.Chart(edges).mark_rule(stroke=PALE).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"),
        base.mark_point(filled=True, size=420, opacity=1).encode(**looks, tooltip=tip),
        base.mark_text(dy=-20, fontSize=12, color=INK).encode(text="name"),
        base.mark_text(dy=21, fontSize=12, color=INK).encode(text=alt.Text("label:N")).transform_calculate(
            label="datum.said + ', ' + datum.lost"
        ),
    ).properties(height=460, usermeta=WHOLE)  # fmt: skip
    chosen = nodes[nodes["chosen"]].iloc[0]
    return style_chart(
        chart,
        line(TEXTS, "lattice_title", chosen["name"], chosen["lost"]),
        line(TEXTS, "lattice"),
    )
