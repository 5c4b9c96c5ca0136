"""Privacy loss against utility loss: which releases are efficient, where the owner's caps and the knee lie, and both
losses side by side.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.decision import AXES, SEEDS, choices, knee
from privnb.decision.points import Releases, bounded
from privnb.measures import facts
from privnb.reporting.charts import base
from privnb.reporting.charts.base import Layer
from privnb.reporting.charts.drawing import Drawn, drawing, some
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE, WIDTH
from privnb.reporting.charts.narrow import WHOLE
from privnb.runtime.arrays import Array
from privnb.runtime.validation import Number
from privnb.sanitizers import catalogue

Caps = Mapping[str, float | None]  # the most loss that the owner accepts, by axis
Domains = Mapping[str, list[float]]  # the ends of each axis
HEIGHT = 380
PANEL = 250  # pixels of a panel of the R-U map
ABLE, REFUSED = 1, 0  # how opaque the inside of its marks is: who may be chosen, and who may not
CHANNELS = dict(zip(AXES, ("x", "y"), strict=True))
# As many as there are kinds of sanitizers: grey marks have their shape alone. Paths go from -1 to 1.
SHAPES = [
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left",
    "M0,-1L.59,.81L-.95,-.31L.95,-.31L-.59,.81Z",  # star
    "M-.9,-.9L.9,-.9L-.9,.9L.9,.9Z",  # hourglass
    "M-.9,-.9L-.9,.9L.9,-.9L.9,.9Z",  # bow tie
    "M-.5,-.87L.5,-.87L1,0L.5,.87L-.5,.87L-1,0Z",  # hexagon
    "M-1,.6L-1,-.2A1,1,0,0,1,1,-.2L1,.6Z",  # dome
]  # fmt: skip
RING = {"type": "point", "shape": "circle", "size": 330, "strokeWidth": 1.6, "opacity": 1}
CROSS = "M-1,-1L1,1M-1,1L1,-1"  # over what may not be chosen
NAMED = 4  # sanitizers that a sentence below a chart names
LETTER, LINE = 6.0, 13  # pixels that a label of 11 points takes: a letter's width, a line's height


@drawing
def frontier(releases: Releases, *, privacy_cap: Number | None = None, utility_cap: Number | None = None) -> Drawn:
    """Points of `frontier.points`: efficient ones filled and joined by a line, dominated ones grey, undecided hollow.

    The line is a stair, for between two releases nothing can be published. Thin lines: 95% intervals; dashed: the
    caps; a ring: the knee. Efficient releases are named where there is room. The interval of a loss that is known from
    below only ends at its mark.

    Parameters
    ----------
    releases : DataFrame
        Of `frontier.points`.
    privacy_cap, utility_cap : float, optional
        The most loss that the owner accepts.
    """
    drawn = some(drawable(releases), "release with both losses")
    caps = {"privacy": privacy_cap, "utility": utility_cap}
    domains = {axis: domain(drawn, axis, caps[axis]) for axis in AXES}
    ends = {
        channel: {
            **of_number(axis),
            "title": axis_title(axis, releases),
            "scale": {"domain": domains[axis], "nice": False},
            "axis": {"tickCount": 6, "grid": False},
        }
        for axis, channel in CHANNELS.items()
    }
    efficient = drawn[drawn.status == "efficient"].sort_values(list(AXES), kind="stable")
    corner, best = knee(releases), _best(releases, caps)
    chosen = drawn[drawn.setting.isin(best.setting)]
    layers = [*_caps(caps, ends), stair(efficient, ends), *intervals(drawn, ends)]
    if corner is not None:
        layers.append(plain(corner.to_frame().T, AXES, RING | {"color": INK}, ends))
    if len(chosen):
        layers.append(plain(chosen, AXES, RING | {"color": COLOURS[1], "strokeWidth": 3}, ends))
    layers += [points(drawn, ends), *crosses(drawn, ends)]
    ringed = [*chosen.index, *([] if corner is None else [corner.name])]
    layers.append(labels(placed(drawn, efficient, ringed, caps, domains), ends))
    return (
        alt.layer(*(layer.chart for layer in layers), height=HEIGHT, usermeta=WHOLE),
        _title(releases, corner, best),
        _explained(releases, drawn, corner, chosen, caps),
    )


def axis_title(axis: str, releases: pd.DataFrame) -> str:
    """An axis in words: the loss, what measures it, in which unit, and the direction."""
    of, unit = releases[f"{axis}_of"].iloc[0], facts(releases[f"{axis}_measure"].iloc[0]).unit
    said = of if of.startswith(f"{axis} loss") else f"{axis} loss: {of}"
    return f"{said}, {unit} (lower is better)" if unit else f"{said} (lower is better)"


def drawable(releases: pd.DataFrame) -> pd.DataFrame:
    """The releases with two finite losses. A withheld loss is at its upper bound; an end that is not finite, at the
    loss.
    """
    drawn = releases.assign(**{axis: at_most(releases, axis) for axis in AXES})
    drawn = drawn[np.isfinite(drawn[list(AXES)]).all(axis=1)]
    for axis in AXES:
        ends = drawn[[f"{axis}_low", f"{axis}_high"]]
        drawn = drawn.assign(**ends.where(np.isfinite(ends), drawn[axis], axis=0))
    return drawn


def at_most(releases: pd.DataFrame, axis: str) -> pd.Series:
    """A loss, or the upper bound of a withheld one."""
    return releases[axis].fillna(releases[f"{axis}_high"])


def of_number(column: str) -> dict[str, Any]:
    """What an encoding says of a column of numbers."""
    return {"field": column, "type": "quantitative"}


def plain(rows: pd.DataFrame, columns: Sequence[str], mark: dict[str, Any], encoding: dict[str, Any]) -> Layer:
    """Marks for columns of numbers: a `Layer`."""
    return Layer.of(rows[list(columns)].astype(float), columns, mark, encoding)


def domain(drawn: pd.DataFrame, axis: str, cap: float | None) -> list[float]:
    """From the least to the largest number drawn, with room for marks at the ends."""
    there = drawn[[axis, f"{axis}_low", f"{axis}_high"]].to_numpy(float).ravel()
    there = np.append(there[np.isfinite(there)], [] if cap is None else cap)
    low, high = min(there.min(), 0), there.max()
    room = (high - low) * 0.07 or 0.5
    return [float(low - room), float(high + room)]


def _caps(caps: Caps, ends: dict[str, Any]) -> Iterator[Layer]:
    mark = {"type": "rule", "color": COLOURS[1], "strokeDash": [6, 4]}
    for axis, cap in caps.items():
        if cap is not None:
            channel = CHANNELS[axis]
            yield plain(pd.DataFrame({axis: [cap]}), [axis], mark, {channel: ends[channel]})


def stair(efficient: pd.DataFrame, ends: dict[str, Any]) -> Layer:
    """The line through the efficient releases, which are sorted."""
    mark = {"type": "line", "color": GREY, "strokeWidth": 1.2, "interpolate": "step-after"}
    return plain(efficient, AXES, mark, ends)


def intervals(drawn: pd.DataFrame, ends: dict[str, Any]) -> Iterator[Layer]:
    """The intervals of random numbers; those of exact numbers have no length."""
    for axis, channel in CHANNELS.items():
        low, high = f"{axis}_low", f"{axis}_high"
        rows = drawn[drawn[low] < drawn[high]]
        if len(rows):
            span = ends | {channel: of_number(low), f"{channel}2": {"field": high}}
            yield plain(rows, [*AXES, low, high], {"type": "rule", "color": GREY, "strokeWidth": 1}, span)


def points(drawn: pd.DataFrame, ends: dict[str, Any]) -> Layer:
    """One mark per release: its colour says what kind it is of, its shape the sanitizer, its filling the status.

    Of more sanitizers than there are shapes these say the kind, too.
    """
    kinds = list(dict.fromkeys(drawn.sanitizer))
    groups = catalogue.groups(kinds)
    kinds.sort(key=lambda kind: groups.index(catalogue.group(kind)))
    called = catalogue.title if told_apart(kinds) else catalogue.group
    names = list(dict.fromkeys(map(called, kinds)))
    of_names = {called(kind): groups.index(catalogue.group(kind)) % len(COLOURS) for kind in kinds}
    shapes, colours = SHAPES[: len(names)], [COLOURS[of_names[name]] for name in names]
    drawn = drawn.assign(sanitizer=drawn.sanitizer.map(called))
    of = {"refused": 0, "dominated": 1, "undecided": 2, "efficient": 3}  # what matters is drawn last
    rows = drawn.sort_values("status", key=lambda status: status.map(of), kind="stable")
    # One legend tells colour, filling and shape, so all three say the same of it.
    legend = {"columns": 3, "symbolSize": 90, "symbolFillColor": "white"}
    sanitizer = {"field": "sanitizer", "type": "nominal", "title": None, "legend": legend}
    of_name = sanitizer | {"scale": {"domain": names, "range": colours}}
    grey = {"test": "datum.status === 'dominated' || datum.status === 'refused'", "value": PALE}
    filled = {"test": "datum.status === 'efficient'"}
    tips = [{"field": name, "type": "nominal"} for name in ("setting", "status", "why")]
    looks = {
        "color": of_name | {"condition": grey},
        "fill": {"value": "white", "condition": filled | of_name},
        "shape": sanitizer | {"scale": {"domain": names, "range": shapes}},
        "tooltip": [*tips, *({**of_number(axis), "format": ".4~g"} for axis in AXES)],
    }
    mark = {"type": "point", "size": 75, "opacity": 1, "strokeWidth": 1.5}
    return Layer.of(rows, [*AXES, "setting", "sanitizer", "status", "why"], mark, ends | looks)


def told_apart(kinds: Iterable[str]) -> bool:
    """Whether each sanitizer, by name, has a shape of its own."""
    return len(set(kinds)) <= len(SHAPES)


def crosses(drawn: pd.DataFrame, ends: dict[str, Any]) -> Iterator[Layer]:
    """A cross over each release that may not be chosen."""
    rows = drawn[drawn.status == "refused"]
    if len(rows):
        mark = {"type": "point", "shape": CROSS, "size": 150, "color": INK, "strokeWidth": 1.4, "opacity": 1}
        yield plain(rows, AXES, mark, ends)


def labels(names: pd.DataFrame, ends: dict[str, Any]) -> Layer:
    """The names of releases, where there is room: what `placed` tells."""
    mark = {"type": "text", "align": {"expr": "datum.align"}, "baseline": "middle", "fontSize": 11, "color": INK}
    return Layer.of(names, [*AXES, "text", "align"], mark, ends | {"text": {"field": "text", "type": "nominal"}})


def placed(
    drawn: pd.DataFrame, efficient: pd.DataFrame, ringed: Sequence[object], caps: Caps, domains: Domains
) -> pd.DataFrame:
    """Where the names of efficient releases go: no name covers a mark, a line, another name or the edge. Those of
    `ringed`, names of rows, go first; those without room have none.

    DataFrame: `privacy` and `utility` of the text's end, `text`, `align`.
    """
    size = dict(zip(AXES, (WIDTH, HEIGHT), strict=True))
    scale = {axis: size[axis] / (domains[axis][1] - domains[axis][0]) for axis in AXES}

    def pixels(axis: str, values: Any) -> Array:  # upwards, as the losses
        return (np.asarray(values, dtype=float) - domains[axis][0]) * scale[axis]

    marks = dict(zip(drawn.index, zip(*(pixels(axis, drawn[axis]) for axis in AXES), strict=True), strict=True))
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in marks.values()]
    stair = [marks[name] for name in efficient.index]
    for (x, y), (right, below) in pairwise(stair):
        taken += [(x, y - 1, right, y + 1), (right - 1, below, right + 1, y)]
    for axis, cap in caps.items():
        if cap is not None:
            at = pixels(axis, cap)
            taken.append((at - 1, 0, at + 1, HEIGHT) if axis == "privacy" else (0, at - 1, WIDTH, at + 1))
    ends = [pixels(axis, drawn[f"{axis}_{end}"].fillna(drawn[axis])) for axis in AXES for end in ("low", "high")]
    for left, right, low, high in zip(*ends, strict=True):
        taken.append((left, (low + high) / 2 - 1, right, (low + high) / 2 + 1))
        taken.append(((left + right) / 2 - 1, low, (left + right) / 2 + 1, high))
    rows, short = [], drawn.setting
    alike: dict[Any, list[Any]] = {}  # releases of one mark have one label
    for name in efficient.index:
        alike.setdefault(tuple(round(pixel) for pixel in marks[name]), []).append(name)
    seen = {min(names, key=lambda name: len(drawn.parameters[name])) for names in alike.values()}
    kept = [name for name in efficient.index if name in seen]
    for name in dict.fromkeys([*(name for name in ringed if name in seen), *kept[:1], *kept[-1:], *kept]):
        ring, width = 16 if name in ringed else 9, LETTER * len(short[name])
        # Nothing lies below the stair and to its left, so names are looked for there first.
        for across, up, align in (
            (-ring, 0, "right"), (-6, -ring - 5, "right"), (0, -ring - 5, "center"), (6, ring + 5, "left"),
            (ring, 0, "left"), (6, -ring - 5, "left"), (0, ring + 5, "center"), (-6, ring + 5, "right"),
        ):  # fmt: skip
            x, y = marks[name][0] + across, marks[name][1] + up
            left = x - {"left": 0, "center": width / 2, "right": width}[align]
            box = (left, y - LINE / 2, left + width, y + LINE / 2)
            inside = min(box) > 0 and box[2] < WIDTH and box[3] < HEIGHT
            if inside and not any(overlap(box, other) for other in taken):
                taken.append(box)
                place = (domains[axis][0] + pixel / scale[axis] for axis, pixel in zip(AXES, (x, y), strict=True))
                rows.append((*place, short[name], align))
                break
    return pd.DataFrame(rows, columns=[*AXES, "text", "align"])


def overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _best(releases: pd.DataFrame, caps: Caps) -> pd.DataFrame:
    """The choices that the caps make: rows of `choices`, none without a cap."""
    if all(cap is None for cap in caps.values()):
        return pd.DataFrame(columns=["question", "setting"])
    table = choices(releases, **{f"{axis}_cap": cap for axis, cap in caps.items()})
    return table[table.question.str.contains("at most")]


def _title(releases: pd.DataFrame, corner: pd.Series | None, best: pd.DataFrame) -> str:
    efficient = (releases.status == "efficient").sum()
    said = f"{efficient or 'None'} of {len(releases)} releases {'is' if efficient == 1 else 'are'} efficient"
    said += "".join(f"; {row.question}: {row.setting}" for row in best.itertuples())
    return said if len(best) or corner is None else f"{said}; the knee is {corner.setting}"


def _explained(
    releases: pd.DataFrame, drawn: pd.DataFrame, corner: pd.Series | None, chosen: pd.DataFrame, caps: Caps
) -> str:
    there, told = set(drawn.status), told_apart(drawn.sanitizer)
    names = drawn.sanitizer[~bounded(releases.loc[drawn.index])].map(catalogue.title).unique()
    of = ", ".join(names) if len(names) <= NAMED else f"{len(names)} sanitizers without classes"
    efficient = "Filled, with the line: efficient, no other release here is as good in both and better in one."
    refused = "Crossed out: not to be chosen; the original, or too few people share a published combination."
    seeds = f"Thin lines: 95% intervals over seeds; dominance needs {SEEDS} seeds and intervals apart."
    said = {
        "Colour: the kind of release. Shape: the sanitizer.": told,
        "Colour and shape: the kind of release.": not told,
        efficient: "efficient" in there,
        "Grey: dominated.": "dominated" in there,
        "Hollow: undecided.": "undecided" in there,
        refused: "refused" in there,
        f"{of}, hollow or grey: at least what is shown is lost.": len(names),  # of which a lower bound is drawn
        seeds: (drawn.kind == "randomised").any(),
        "Dashed: the owner's caps.": any(cap is not None for cap in caps.values()),
        "Orange ring: the choice within the caps.": len(chosen),
        "Ring: the knee, farthest below the line between the frontier's ends.": corner is not None,
        f"Not drawn, for want of a loss: {len(releases) - len(drawn)}.": len(drawn) < len(releases),
    }
    return " ".join(text for text, holds in said.items() if holds)


@drawing
def risk_utility(releases: Releases) -> Drawn:
    """Two panels beside one another, the risk and the loss, with a line for each release: kind by kind, in each the
    least risk first.

    Parameters
    ----------
    releases : DataFrame
        Of `decision.points`.
    """
    drawn = some(releases.dropna(subset=["privacy", "utility"]), "release with both numbers")
    kinds = catalogue.groups(drawn.sanitizer)
    drawn = drawn.assign(kind=drawn.sanitizer.map(catalogue.group), seen=ABLE)
    drawn.loc[drawn.status == "refused", "seen"] = REFUSED
    drawn = drawn.sort_values("privacy").sort_values("kind", key=lambda kind: kind.map(kinds.index), kind="stable")
    risk, loss = (facts(releases[f"{each}_measure"].iloc[0]) for each in ("privacy", "utility"))
    low = float(drawn.privacy[drawn.privacy > 0].min()) / 2
    logarithmic = alt.Scale(type="log", domain=[low, 1.5], clamp=True, nice=False)
    marks = base.distinguished("kind", kinds)
    marks["fill"] = alt.Fill("kind:N", scale=marks["color"]["scale"], legend=None)
    dots = base.of_columns(drawn, ["privacy", "utility", "setting", "kind", "seen"])
    inside = alt.FillOpacity("seen:Q", scale=None, legend=None)
    dots = dots.mark_point(size=45, strokeWidth=1.6).encode(fillOpacity=inside, tooltip=["setting"], **marks)
    dots = dots.properties(width=PANEL, height=alt.Step(17))
    panels = []
    for side, of, title, scale in (
        ("privacy", risk, f"{risk.label}, logarithmic", logarithmic),
        ("utility", loss, loss.label, alt.Scale(nice=False)),
    ):
        lines = alt.Axis(grid=True, labels=side == "privacy", ticks=side == "privacy", labelLimit=300)
        ticks = base.axis(of.format)
        ticks.tickCount, ticks.grid = 5, False
        x = alt.X(f"{side}:Q", title=title, scale=scale, axis=ticks)
        panels.append(dots.encode(x=x, y=alt.Y("setting:N", sort=drawn.setting.tolist(), title=None, axis=lines)))
    nearest = drawn[drawn.status != "refused"]
    said = "No release may be chosen"
    if len(nearest):
        best = nearest.loc[nearest.privacy.idxmin()]
        said = f"{len(drawn)} releases; of those that may be chosen, {best.setting} has the least risk"
    without = len(releases) - len(drawn)
    unseen = f" {without} of {len(releases)} are not drawn, for a number of theirs is not known." if without else ""
    return (
        alt.hconcat(*panels),
        said,
        f"Points: {risk.phrase} and {loss.phrase} of each release, lower is better. Hollow: it may not be chosen."
        + unseen,
    )
