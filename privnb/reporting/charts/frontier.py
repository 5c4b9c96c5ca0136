"""Charts of the privacy loss and the utility loss, with the efficient releases, the owner's caps and the knee."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.decision import AXES, SEEDS, choose_by_losses, find_knee
from privnb.decision.points import Releases, are_bounded
from privnb.measures import measure_facts
from privnb.reporting.charts import base
from privnb.reporting.charts.base import Layer
from privnb.reporting.charts.drawing import Drawn, drawing, some
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE, WIDTH
from privnb.reporting.charts.narrow import WHOLE
from privnb.runtime.arrays import Array
from privnb.runtime.sentences import join_names
from privnb.runtime.validation import Number
from privnb.runtime.wording import write_count
from privnb.sanitizers import catalogue

Caps = Mapping[str, float | None]  # the most loss that the owner accepts, by axis
Domains = Mapping[str, list[float]]  # the ends of each axis
HEIGHT = 380
PANEL = 250  # pixels of a panel of the R-U map
ABLE, REFUSED = 1, 0  # opacity of the inside of its marks: a release that may be chosen, and one that may not
CHANNELS = dict(zip(AXES, ("x", "y"), strict=True))
# One shape for each kind of sanitizer: grey marks differ by their shape alone. Paths go from -1 to 1.
SHAPES = [
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left",
    "M0,-1L.59,.81L-.95,-.31L.95,-.31L-.59,.81Z",  # star
    "M-.9,-.9L.9,-.9L-.9,.9L.9,.9Z",  # hourglass
    "M-.9,-.9L-.9,.9L.9,-.9L.9,.9Z",  # bow tie
    "M-.5,-.87L.5,-.87L1,0L.5,.87L-.5,.87L-1,0Z",  # hexagon
    "M-1,.6L-1,-.2A1,1,0,0,1,1,-.2L1,.6Z",  # dome
]  # fmt: skip
RING = {"type": "point", "shape": "circle", "size": 330, "strokeWidth": 1.6, "opacity": 1}
CROSS = "M-1,-1L1,1M-1,1L1,-1"  # over a release that may not be chosen
NAMED = 4  # sanitizers that a sentence below a chart names
LETTER, LINE = 6.0, 13  # pixels that a label of 11 points takes: a letter's width, a line's height


@drawing
def frontier(releases: Releases, *, privacy_cap: Number | None = None, utility_cap: Number | None = None) -> Drawn:
    """Draw the two losses of releases: efficient releases filled, dominated releases gray, undecided releases hollow.

    A line in the form of a stair connects the efficient releases, because there is no release between two neighboring
    efficient releases. Thin lines are 95% intervals, dashed lines are the caps, and a ring marks the knee. The names of
    efficient releases are shown if there is space. If only a lower bound of a loss is known, the interval of the loss
    ends at the mark.

    Parameters
    ----------
    releases : DataFrame
        The table of `decision.points`.
    privacy_cap, utility_cap : float, optional
        The largest loss that the owner accepts.
    """
    drawn = some(drawable(releases), "release with both losses")
    caps = {"privacy": privacy_cap, "utility": utility_cap}
    domains = {axis: domain(drawn, axis, caps[axis]) for axis in AXES}
    ends = {
        channel: {
            **encode_number(axis),
            "title": axis_title(axis, releases),
            "scale": {"domain": domains[axis], "nice": False},
            "axis": {"tickCount": 6, "grid": False},
        }
        for axis, channel in CHANNELS.items()
    }
    efficient = drawn[drawn.status == "efficient"].sort_values(list(AXES), kind="stable")
    corner, best = find_knee(releases), _best(releases, caps)
    chosen = drawn[drawn.setting.isin(best.setting)]
    layers = [*_caps(caps, ends), stair(efficient, ends), *list_intervals(drawn, ends)]
    if corner is not None:
        layers.append(make_layer(corner.to_frame().T, AXES, RING | {"color": INK}, ends))
    if len(chosen):
        layers.append(make_layer(chosen, AXES, RING | {"color": COLOURS[1], "strokeWidth": 3}, ends))
    layers += [draw_points(drawn, ends), *crosses(drawn, ends)]
    ringed = [*chosen.index, *([] if corner is None else [corner.name])]
    layers.append(labels(place_names(drawn, efficient, ringed, caps, domains), ends))
    return (
        alt.layer(*(layer.chart for layer in layers), height=HEIGHT, usermeta=WHOLE),
        _title(releases, best, caps),
        _explained(releases, drawn, corner, chosen, caps),
    )


def axis_title(axis: str, releases: pd.DataFrame) -> str:
    """Return the title of an axis: the loss, the measure of the loss, the unit, and the better direction."""
    of, unit = releases[f"{axis}_of"].iloc[0], measure_facts(releases[f"{axis}_measure"].iloc[0]).unit
    said = of if of.startswith(f"{axis} loss") else f"{axis} loss: {of}"
    return f"{said}, {unit} (lower is better)" if unit else f"{said} (lower is better)"


def drawable(releases: pd.DataFrame) -> pd.DataFrame:
    """Return the releases with two finite losses.

    A withheld loss is replaced by its upper bound, and each infinite end of an interval is replaced by the loss.
    """
    drawn = releases.assign(**{axis: bound_losses(releases, axis) for axis in AXES})
    drawn = drawn[np.isfinite(drawn[list(AXES)]).all(axis=1)]
    for axis in AXES:
        ends = drawn[[f"{axis}_low", f"{axis}_high"]]
        drawn = drawn.assign(**ends.where(np.isfinite(ends), drawn[axis], axis=0))
    return drawn


def bound_losses(releases: pd.DataFrame, axis: str) -> pd.Series:
    """Return a loss of each release; if the loss is withheld, return its upper bound."""
    return releases[axis].fillna(releases[f"{axis}_high"])


def encode_number(column: str) -> dict[str, Any]:
    """Return the encoding of a column of numbers."""
    return {"field": column, "type": "quantitative"}


def make_layer(rows: pd.DataFrame, columns: Sequence[str], mark: dict[str, Any], encoding: dict[str, Any]) -> Layer:
    """Return a `Layer` of marks for columns of numbers."""
    return Layer.of(rows[list(columns)].astype(float), columns, mark, encoding)


def domain(drawn: pd.DataFrame, axis: str, cap: float | None) -> list[float]:
    """Return the range from the smallest to the largest number in the chart, with space for marks at the ends."""
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
            yield make_layer(pd.DataFrame({axis: [cap]}), [axis], mark, {channel: ends[channel]})


def stair(efficient: pd.DataFrame, ends: dict[str, Any]) -> Layer:
    """Return the line in the form of a stair through the efficient releases, which must be sorted."""
    mark = {"type": "line", "color": GREY, "strokeWidth": 1.2, "interpolate": "step-after"}
    return make_layer(efficient, AXES, mark, ends)


def list_intervals(drawn: pd.DataFrame, ends: dict[str, Any]) -> Iterator[Layer]:
    """Yield the intervals of losses; the intervals of exact losses have no length and are left out."""
    for axis, channel in CHANNELS.items():
        low, high = f"{axis}_low", f"{axis}_high"
        rows = drawn[drawn[low] < drawn[high]]
        if len(rows):
            span = ends | {channel: encode_number(low), f"{channel}2": {"field": high}}
            yield make_layer(rows, [*AXES, low, high], {"type": "rule", "color": GREY, "strokeWidth": 1}, span)


def draw_points(drawn: pd.DataFrame, ends: dict[str, Any]) -> Layer:
    """Return one mark per release.

    The color of a mark shows the kind of release, the shape shows the sanitizer, and the filling shows the status.

    If there are more sanitizers than shapes, the shape also shows the kind.
    """
    kinds = list(dict.fromkeys(drawn.sanitizer))
    groups = catalogue.groups(kinds)
    kinds.sort(key=lambda kind: groups.index(catalogue.group(kind)))
    called = catalogue.title if told_apart(kinds) else catalogue.group
    names = list(dict.fromkeys(map(called, kinds)))
    of_names = {called(kind): groups.index(catalogue.group(kind)) % len(COLOURS) for kind in kinds}
    shapes, colours = SHAPES[: len(names)], [COLOURS[of_names[name]] for name in names]
    drawn = base.add_ids(drawn).assign(sanitizer=drawn.sanitizer.map(called), why=drawn.why.map(str))
    of = {"refused": 0, "dominated": 1, "undecided": 2, "efficient": 3}  # the most important marks are drawn last
    rows = drawn.sort_values("status", key=lambda status: status.map(of), kind="stable")
    # Colour, filling and shape share one legend, so the legend has the same settings in all three.
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
        "tooltip": [*tips, *(_tip(axis, ends) for axis in AXES)],
    }
    mark = {"type": "point", "size": 75, "opacity": 1, "strokeWidth": 1.5}
    return Layer.of(rows, [*AXES, "setting", "sanitizer", "status", "why", base.ID], mark, ends | looks)


def _tip(axis: str, ends: dict[str, Any]) -> dict[str, Any]:
    return {**encode_number(axis), "format": ".4~g", "title": ends[CHANNELS[axis]].get("title", f"{axis} loss")}


def told_apart(kinds: Iterable[str]) -> bool:
    """Return whether there are enough shapes for each of the sanitizers to have a different shape."""
    return len(set(kinds)) <= len(SHAPES)


def crosses(drawn: pd.DataFrame, ends: dict[str, Any]) -> Iterator[Layer]:
    """Yield crosses over the releases that must not be chosen."""
    rows = drawn[drawn.status == "refused"]
    if len(rows):
        mark = {"type": "point", "shape": CROSS, "size": 150, "color": INK, "strokeWidth": 1.4, "opacity": 1}
        yield make_layer(rows, AXES, mark, ends)


def labels(names: pd.DataFrame, ends: dict[str, Any]) -> Layer:
    """Return the names of releases at the places that `place_names` returns."""
    mark = {"type": "text", "align": {"expr": "datum.align"}, "baseline": "middle", "fontSize": 11, "color": INK}
    return Layer.of(names, [*AXES, "text", "align"], mark, ends | {"text": {"field": "text", "type": "nominal"}})


def place_names(
    drawn: pd.DataFrame, efficient: pd.DataFrame, ringed: Sequence[object], caps: Caps, domains: Domains
) -> pd.DataFrame:
    """Return the places of the names of efficient releases.

    No name covers a mark, a line, another name or the edge of the chart. The releases in `ringed`, which are labels of
    rows, come first. If there is no space for the name of a release, the name is left out.

    Returns
    -------
    DataFrame
        The columns `privacy` and `utility`, which are the place of the text, `text` and `align`.
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
    """Return whether two boxes (left, bottom, right, top) overlap."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _best(releases: pd.DataFrame, caps: Caps) -> pd.DataFrame:
    """Return the row of the release that `choose_by_losses` chooses within the caps; no row without caps."""
    if all(cap is None for cap in caps.values()):
        return pd.DataFrame(columns=["question", "setting"])
    table = choose_by_losses(releases, **{f"{axis}_cap": cap for axis, cap in caps.items()})
    return table.iloc[:1]


def _title(releases: pd.DataFrame, best: pd.DataFrame, caps: Caps) -> str:
    if best.empty:
        efficient = int((releases.status == "efficient").sum())
        releases_in_words, verb = write_count(len(releases), "release"), "are" if efficient > 1 else "is"
        return f"{efficient or 'None'} of {releases_in_words} {verb} efficient"
    limit = "both caps" if None not in caps.values() else "the cap"
    if best.setting.iloc[0] == "none":
        return f"No release meets {limit}"
    least = f"loses least within {limit}"
    return base.choose_title(f"{best.setting.iloc[0]} {least}", f"One release {least}")


def _explained(
    releases: pd.DataFrame, drawn: pd.DataFrame, corner: pd.Series | None, chosen: pd.DataFrame, caps: Caps
) -> str:
    there, told = set(drawn.status), told_apart(drawn.sanitizer)
    names = drawn.sanitizer[~are_bounded(releases.loc[drawn.index])].map(catalogue.title).unique()
    of = join_names([*names]) if 0 < len(names) <= NAMED else f"{len(names)} sanitizers without classes"
    unknown = len(releases) - len(drawn)
    count, ringed = int((releases.status == "efficient").sum()), "" if corner is None else corner.setting
    said = {
        "The color shows the kind of release, and the shape shows the sanitizer.": told,
        "Color and shape show the kind of release.": not told,
        f"Filled marks on the line are the {write_count(count, 'efficient release')}: no other release here is at "
        "least as good in both losses and better in one.": "efficient" in there,
        "Grey marks are dominated.": "dominated" in there,
        "Hollow marks are undecided.": "undecided" in there,
        "Crossed marks may not be chosen: they are the original, or too few people share a published combination.": (
            "refused" in there
        ),
        f"For {of}, only a lower bound of the loss is known.": len(names),
        f"Thin lines are 95% intervals over seeds; a release of fewer than {SEEDS} seeds is undecided.": (
            (drawn.kind == "randomised").any()
        ),
        "Dashed lines are the owner's caps.": any(cap is not None for cap in caps.values()),
        "The orange ring is the choice within the caps.": len(chosen),
        f"The black ring is the knee ({ringed}), farthest below the line between the ends of the frontier.": ringed,
        f"{write_count(unknown, 'release')} without a known loss cannot be drawn.": unknown,
    }
    return " ".join(text for text, holds in said.items() if holds)


@drawing
def risk_utility(releases: Releases) -> Drawn:
    """Draw two panels next to each other, for the risk and the loss, with a row for each release.

    Releases of the same kind are next to each other, in ascending order of risk.

    Parameters
    ----------
    releases : DataFrame
        The table of `decision.points`.
    """
    drawn = some(releases.dropna(subset=["privacy", "utility"]), "release with both numbers")
    kinds = catalogue.groups(drawn.sanitizer)
    drawn = drawn.assign(kind=drawn.sanitizer.map(catalogue.group), seen=ABLE)
    drawn.loc[drawn.status == "refused", "seen"] = REFUSED
    drawn = drawn.sort_values("privacy").sort_values("kind", key=lambda kind: kind.map(kinds.index), kind="stable")
    risk, loss = (measure_facts(releases[f"{each}_measure"].iloc[0]) for each in ("privacy", "utility"))
    low = float(drawn.privacy[drawn.privacy > 0].min()) / 2
    logarithmic = alt.Scale(type="log", domain=[low, 1.5], clamp=True, nice=False)
    marks = base.distinguish_series("kind", kinds)
    marks["fill"] = alt.Fill("kind:N", scale=marks["color"]["scale"], legend=None)
    dots = base.of_columns(drawn, ["privacy", "utility", "setting", "kind", "seen"])
    tips: list[Any] = ["setting:N", "kind:N"]
    tips += [
        alt.Tooltip(f"{side}:Q", title=of.label, format=".4~g") for side, of in (("privacy", risk), ("utility", loss))
    ]
    inside = alt.FillOpacity("seen:Q", scale=None, legend=None)
    dots = dots.mark_point(size=45, strokeWidth=1.6).encode(fillOpacity=inside, tooltip=tips, **marks)
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
    title = "No release may be chosen"
    if len(nearest):
        least = nearest.setting[nearest.privacy.idxmin()]
        title = base.choose_title(
            f"{least} has the least risk of those that may be chosen", f"Least risk of the possible choices: {least}"
        )
    without = len(releases) - len(drawn)
    unseen = f" {write_count(without, 'release')} cannot be drawn, because a number is missing." if without else ""
    return (
        alt.hconcat(*panels),
        title,
        f"Each row shows the {risk.phrase} and the {loss.phrase} of one of {len(drawn)} releases; lower is better for "
        f"both. Releases with hollow marks may not be chosen.{unseen}",
    )
