"""The charts of one setting: the sizes of the classes, and a comparison of its losses with those of other settings."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision import AXES
from privnb.decision.points import Releases
from privnb.evaluation.results import SETTING_COLUMNS
from privnb.reporting.charts import frontier
from privnb.reporting.charts.bars import histogram
from privnb.reporting.charts.base import Aggregate, Layer, choose_title, none, render_chart
from privnb.reporting.charts.drawing import Drawn, drawing
from privnb.reporting.charts.frontier import CHANNELS, HEIGHT, axis_title, encode_number, make_layer
from privnb.reporting.charts.looks import COLOURS, GREY, LOOKS, WIDTH
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import instead, optional, validated
from privnb.runtime.wording import sentence_case

CURRENT = COLOURS[1]
BRUSH, RELEASES = "brush", "releases"
TITLE = 44  # letters of an axis's title in a line: a panel is narrower than a page


@drawing
def class_sizes(
    sizes: Annotated[Aggregate, instead(Aggregate, "Merge small bins first, as `charts.merge_small` does.")],
) -> Drawn:
    """Draw bars of the number of people by the size of their class.

    `sizes` is an Aggregate with a column of labels and a column `people`, in which small bins have been merged.
    """
    label = next(name for name in sizes.titles if name != "people")
    rows, unit = sizes.rows, sizes.titles[label]
    kind, alike = "classes", "People in a class have the same published quasi-identifiers."
    if label.endswith("bucket"):
        kind = "buckets"
        alike = "A bucket does not link people to sensitive values; quasi-identifiers are published unchanged."
    most, everybody = rows.loc[rows.people.idxmax()], rows.people.sum()
    return (
        histogram(sizes, label, unit, 0 if len(rows) < 7 else -45).properties(height=200),
        f"{most.people / everybody:.0%} of {everybody:,} people are in {kind} of {most[label]}",
        f"Bars show the number of people by the size of their {label.rpartition(' ')[2]}. {alike}",
    )


# --- the plane ---


@dataclass(frozen=True)
class Plane:
    """A chart of releases, in which the data can be replaced without a new specification.

    Parameters
    ----------
    title : str
        The title of the chart.
    marks : str
        The meaning of the marks.
    spec : dict
        The specification in Vega-Lite, with named data and without `title` and `marks`. The specification stays the
        same if only the rows change.
    """

    title: str
    marks: str
    spec: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the specification of the whole chart in Vega-Lite."""
        return self.spec | {"title": {"text": self.title, "subtitle": self.marks}, "width": WIDTH, "height": HEIGHT}

    def _repr_mimebundle_(self, **options: object) -> tuple[dict[str, Any], dict[str, Any]]:
        return render_chart(self.to_dict())


@validated
def plane(
    releases: Releases,
    *,
    current: tuple[str, ...] | None = None,
    pinned: Sequence[tuple[str, ...]] = (),
    sweeps: Sequence[Sequence[tuple[str, ...]]] = (),
    between: Releases | None = None,
) -> Plane | Sentences:
    """Draw the privacy loss and the utility loss of releases, with a ring around the current setting.

    The names of the pinned releases and of the current release are shown if there is space. Users can select a
    rectangle, which is the selection `brush` of Vega-Lite; `inside` returns the selected releases.

    Parameters
    ----------
    releases : DataFrame
        The table of `decision.points`.
    current : (str, str), optional
        The current setting, as results state it: `(sanitizer, parameters)`.
    pinned : list of (str, str)
    sweeps : list of list of (str, str)
        A list of settings for each curve.
    between : DataFrame, optional
        The table of `decision.points` for the reference releases, with which a single release can be compared.

    Returns
    -------
    Plane or Sentences
        A sentence if there is nothing to draw.
    """
    if current is not None:
        _check_settings("current", [current])
    _check_settings("pinned", pinned)
    for place, sweep in enumerate(expect.kind("sweeps", sweeps, list, tuple)):
        _check_settings(f"sweeps[{place}]", sweep)
    releases = releases.reset_index(drop=True)
    drawn = frontier.drawable(releases)
    if drawn.empty:
        return none("release with both losses")
    between = releases.iloc[:0] if between is None else between.dropna(subset=list(AXES))
    every = pd.concat([drawn, between]) if len(between) else drawn
    domains = {axis: frontier.domain(every, axis, None) for axis in AXES}
    ends = {
        channel: {
            **encode_number(axis),
            "title": textwrap.wrap(axis_title(axis, releases), TITLE),
            "scale": {"zero": False, "nice": False},
            # In words of its own: Vega's tell the range of the rows that it was drawn with first.
            "axis": {"tickCount": 6, "grid": False, "description": axis_title(axis, releases)},
        }
        for axis, channel in CHANNELS.items()
    }
    named = pd.MultiIndex.from_frame(drawn[SETTING_COLUMNS])
    here, kept = (named.isin(list(filter(None, some))) for some in ([current], pinned))
    efficient = drawn[drawn.status == "efficient"].sort_values(list(AXES), kind="stable")
    ring = {"type": "point", "shape": "circle", "size": 420, "color": CURRENT, "strokeWidth": 3, "opacity": 1}
    releases_drawn = frontier.draw_points(drawn, ends)
    names = frontier.place_names(drawn, drawn[here | kept], drawn.index[here], dict.fromkeys(AXES), domains)
    layers = [
        # The ends of the axes are data too: a chart is not drawn again if only its data change.
        make_layer(pd.DataFrame(domains), AXES, {"type": "point", "opacity": 0}, ends),
        frontier.stair(efficient, ends),
        *_curves(drawn, named, sweeps, ends),
        *frontier.list_intervals(drawn, ends),
        make_layer(drawn[here], AXES, ring, ends),
        *_between(between, domains, ends),
        releases_drawn,
        frontier.labels(names, ends),
    ]
    title, marks = _place(releases, len(drawn), current), _why(releases, len(drawn), current)
    marks += _marks(drawn, here, sweeps, between)
    spec = {
        "description": f"{title}. {marks}",
        "config": LOOKS,
        "layer": [
            {"data": {"name": f"rows{place}"}, "mark": layer.mark, "encoding": layer.encoding}
            | ({"name": RELEASES} if layer is releases_drawn else {})
            for place, layer in enumerate(layers)
        ],
        "params": [{"name": BRUSH, "select": {"type": "interval"}, "views": [RELEASES]}],
        "datasets": {f"rows{place}": layer.values for place, layer in enumerate(layers)},
    }
    return Plane(title, marks, spec)


@validated
def inside(
    releases: Releases,
    box: Annotated[
        Mapping[str, Sequence[float]] | None, optional(instead(Mapping, "Give two numbers an axis, as the brush does."))
    ],
) -> pd.DataFrame:
    """Return the rows of `decision.points` inside the selected rectangle.

    Parameters
    ----------
    releases : DataFrame
        The table of `decision.points`.
    box : dict or None
        The selected rectangle, `{"privacy": [low, high], "utility": [low, high]}`. If it is empty or None, no row is
        returned.

    Returns
    -------
    DataFrame
        The rows in ascending order of privacy loss.
    """
    if not box:
        return releases.iloc[:0]
    within = [frontier.bound_losses(releases, axis).between(*sorted(box[axis])) for axis in AXES if axis in box]
    return releases[np.logical_and.reduce(within)].sort_values(list(AXES), kind="stable")


def _check_settings(name: str, settings: Any) -> None:
    """Raise ValueError unless each of `settings` is a pair of texts, (sanitizer, parameters), as results state it."""
    pairs = isinstance(settings, list | tuple)
    if not pairs or not all(isinstance(e, list | tuple) and list(map(type, e)) == [str, str] for e in settings):
        found = expect.describe_value(settings)
        raise UsageError(f"{name} must be settings, each (sanitizer, parameters) as text; got {found}.")


def _curves(
    drawn: pd.DataFrame, named: pd.MultiIndex, sweeps: Sequence[Sequence[tuple[str, ...]]], ends: dict[str, Any]
) -> Iterator[Layer]:
    """Yield a dotted line through the releases of each sweep, in the order of its steps."""
    for sweep in sweeps:
        found = named.get_indexer_for([step for step in sweep if step in named])
        rows = drawn[list(AXES)].iloc[found].assign(step=range(len(found)))
        mark = {"type": "line", "color": COLOURS[0], "strokeWidth": 1.5, "strokeDash": [2, 3]}
        yield make_layer(rows, [*AXES, "step"], mark, ends | {"order": encode_number("step")})


def _between(rows: pd.DataFrame, domains: Mapping[str, list[float]], ends: dict[str, Any]) -> Iterator[Layer]:
    """Yield crosses for the reference releases, with their names on the side of the middle of the chart."""
    if rows.empty:
        return
    names = pd.DataFrame({"text": rows.setting, **{axis: rows[axis] for axis in AXES}})
    middle = {axis: sum(domains[axis]) / 2 for axis in AXES}
    names["align"] = np.where(rows.privacy > middle["privacy"], "right", "left")
    step = (domains["utility"][1] - domains["utility"][0]) / 18
    names["utility"] += np.where(rows.utility > middle["utility"], -step, step)
    cross = {"type": "point", "shape": "cross", "size": 90, "color": GREY, "filled": True, "opacity": 1}
    yield make_layer(rows, AXES, cross, ends)
    yield frontier.labels(names, ends)


def _place(releases: pd.DataFrame, drawn: int, current: tuple[str, ...] | None) -> str:
    """Return a title that states the status of the current setting among the `drawn` releases."""
    row = releases[[tuple(setting) == current for setting in releases[SETTING_COLUMNS].to_numpy()]]
    number = f"{drawn} release{'s' * (drawn > 1)}"
    if row.empty:
        efficient = (releases.status == "efficient").sum()
        return f"{efficient or 'None'} of {number} {'is' if efficient == 1 else 'are'} efficient"
    row = row.iloc[0]
    if drawn == 1:
        return choose_title(f"{row.setting} is the only release", "There is one release")
    return choose_title(f"{row.setting} is {row.status} among {number}", f"This setting is {row.status} among {number}")


def _why(releases: pd.DataFrame, drawn: int, current: tuple[str, ...] | None) -> str:
    """Return a sentence with the reason for the status of the current setting."""
    row = releases[[tuple(setting) == current for setting in releases[SETTING_COLUMNS].to_numpy()]]
    if drawn == 1 and len(row):
        return "Pin or sweep settings to compare this release with others. "
    reasons = [f"{sentence_case(str(each.why))}. " for each in row.itertuples() if each.status != "efficient"]
    return "".join(reasons)


def _marks(drawn: pd.DataFrame, here: Array, sweeps: Sequence[object], between: pd.DataFrame) -> str:
    there = set(drawn.status)
    said = {
        "The ring is the current setting.": here.any(),
        "A dotted line is a sweep of one parameter.": sweeps,
        "Filled marks with the line are efficient.": "efficient" in there,
        "Grey marks are dominated.": "dominated" in there,
        "Hollow marks are undecided.": "undecided" in there,
        "Crosses are the original and the release without quasi-identifiers.": len(between) > 1,
        "Drag a box to list the releases in it; a double click removes it.": True,
    }
    return " ".join(text for text, holds in said.items() if holds)
