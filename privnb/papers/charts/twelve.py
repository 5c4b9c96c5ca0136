"""What Mondrian and a search of all levels do to twelve made-up people, drawn in full.

These charts show records, which no other chart may: they are nobody's, and nothing here takes another table.
"""

from typing import Any

import altair as alt
import pandas as pd

from privnb.papers import twelve
from privnb.reporting.charts.base import distinguished, finish
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE
from privnb.reporting.charts.narrow import WHOLE

AGE, HOUSE = (18, 60), (0, 42)


def cuts() -> Any:
    """Mondrian, step by step: the twelve in the plane of age and house, the boxes and the cuts between them."""
    people, boxes = twelve.people().table, twelve.boxes().drop(columns=["class", "people"])
    titles = {1: "First cut: 6 and 6", 2: "Second cuts: 3 in each"}
    chart = alt.hconcat(*(_step(people, boxes, step, title) for step, title in titles.items()), spacing=14)
    return finish(
        chart,
        "Mondrian cuts the twelve people into boxes of three",
        "Each letter is a made-up person. A box is what is published of the people in it; a dashed line is a cut: of "
        "the attribute that is wider in the box, between the middle people, while 3 or more are left on both sides.",
    )


def _step(people: pd.DataFrame, boxes: pd.DataFrame, step: int, title: str) -> Any:
    axis = alt.Axis(tickCount=4)
    x: dict[str, Any] = {"scale": alt.Scale(domain=HOUSE, nice=False), "title": "house", "axis": axis}
    y: dict[str, Any] = {
        "scale": alt.Scale(domain=AGE, nice=False),
        "title": "age" if step == 1 else None,
        "axis": axis,
    }
    own = boxes[boxes["step"] == step]
    box = alt.Chart(own).mark_rect(fill=COLOURS[0], fillOpacity=0.12, stroke=COLOURS[0])
    letters = alt.Chart(people[["person", "age", "house", "illness"]]).encode(
        x=alt.X("house:Q", **x), y=alt.Y("age:Q", **y), tooltip=["person", "age", "house", "illness"]
    )
    layers = [
        box.encode(
            x=alt.X("house_min:Q", **x), x2="house_max:Q", y=alt.Y("age_min:Q", **y), y2="age_max:Q",
            tooltip=["age_min", "age_max", "house_min", "house_max"],
        ),
        letters.mark_point(filled=True, size=60).encode(**distinguished("illness", ["flu", "asthma", "diabetes"])),
        letters.mark_text(dx=9, dy=-7, fontSize=13, color=INK).encode(text="person"),
    ]  # fmt: skip
    lines = alt.Chart(_lines(boxes, step)).mark_rule(strokeDash=[4, 3], stroke=GREY)
    layers.append(lines.encode(x="x:Q", x2="x2:Q", y="y:Q", y2="y2:Q"))
    return alt.layer(*layers).properties(width=212, height=230, title=alt.Title(title, fontSize=13, offset=4))


def _lines(boxes: pd.DataFrame, step: int) -> pd.DataFrame:
    """The cuts up to a step: half way between the two boxes, through the whole box that is cut."""
    lines = []
    for earlier in range(step):
        for whole in boxes[boxes["step"] == earlier].itertuples():
            parts = [
                part
                for part in boxes[boxes["step"] == earlier + 1].itertuples()
                if whole.age_min <= part.age_min <= part.age_max <= whole.age_max
                and whole.house_min <= part.house_min <= part.house_max <= whole.house_max
            ]
            first, second = sorted(parts, key=lambda part: (part.house_min, part.age_min))
            if first.house_max < second.house_min:
                middle = (first.house_max + second.house_min) / 2
                lines.append({"x": middle, "x2": middle, "y": whole.age_min - 1, "y2": whole.age_max + 1})
            else:
                low, high = sorted(parts, key=lambda part: part.age_min)
                middle = (low.age_max + high.age_min) / 2
                lines.append({"x": whole.house_min - 1, "x2": whole.house_max + 1, "y": middle, "y2": middle})
    return pd.DataFrame(lines)


def lattice() -> Any:
    """Every choice of a level per attribute, the finest at the bottom, and the one that loses least with k = 3."""
    nodes = twelve.lattice()
    words = {
        "age": ["exact age", "10 years", "20 years", "any age"],
        "house": ["exact house", "10 houses", "20 houses", "any house"],
    }
    nodes["x"], nodes["y"] = nodes["house"] - nodes["age"], nodes["age"] + nodes["house"]
    nodes["name"] = [
        f"{words['age'][age]}, {words['house'][house]}" for age, house in zip(nodes.age, nodes.house, strict=True)
    ]
    nodes["keeps"] = nodes["k"].ge(3).map({True: "keeps k = 3", False: "does not"})
    nodes.loc[nodes["chosen"], "keeps"] = "keeps it and loses least"
    nodes["said"] = [f"k = {k}" for k in nodes["k"]]
    nodes["lost"] = [f"{penalty:.0%}" for penalty in nodes["penalty"]]
    at = nodes.set_index(["age", "house"])[["x", "y"]]
    edges = pd.DataFrame(
        [
            {"x": at.x[below], "y": at.y[below], "x2": at.x[above], "y2": at.y[above]}
            for below in at.index
            for above in ((below[0] + 1, below[1]), (below[0], below[1] + 1))
            if above in at.index
        ]
    )
    x, y = (
        alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-3.8, 3.8])),
        alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.5, 6.5])),
    )
    order = ["keeps it and loses least", "keeps k = 3", "does not"]
    looks = distinguished("keeps", order, [COLOURS[1], COLOURS[0], PALE], ["diamond", "circle", "circle"])
    titles = {"name": "levels", "said": "achieved", "lost": "penalty"}
    base = alt.Chart(nodes[["x", "y", "name", "keeps", "said", "lost"]]).encode(x=x, y=y)
    chart = alt.layer(
        alt.Chart(edges).mark_rule(stroke=PALE).encode(x=x, x2="x2:Q", y=y, y2="y2:Q"),
        base.mark_point(filled=True, size=420, opacity=1).encode(
            **looks,
            tooltip=[alt.Tooltip(name, title=title) for name, title in titles.items()],
        ),
        base.mark_text(dy=-20, fontSize=12, color=INK).encode(text="name"),
        base.mark_text(dy=21, fontSize=12, color=INK).encode(text=alt.Text("label:N")).transform_calculate(
            label="datum.said + ', ' + datum.lost"
        ),
    ).properties(height=460, usermeta=WHOLE)  # fmt: skip
    chosen = nodes[nodes["chosen"]].iloc[0]
    return finish(
        chart,
        f"One level for everybody: of all that keep k = 3, '{chosen['name']}' loses least, {chosen['lost']}",
        "Each node generalizes all ages to one level and all houses to one; below it the k that it achieves and its "
        "certainty penalty. Lines lead up to coarser levels; what keeps k = 3 below keeps it above.",
    )
