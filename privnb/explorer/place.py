"""The fourth panel: where a setting lies among those that were pinned or swept, and a brush that lists some of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
from markupsafe import Markup

from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import SETTING
from privnb.explorer.html import render
from privnb.explorer.numbers import Reading, axes, plane, recalled
from privnb.explorer.page import drawing
from privnb.explorer.setting import Setting, label
from privnb.measures import facts
from privnb.reporting.charts import explorer as charts
from privnb.runtime import numerals
from privnb.sanitizers import catalogue

Name = tuple[str, ...]  # of a release, by sanitizer and parameters


class Place:
    """The plane of one board: two measures, a chart, and what the brush holds.

    `axes`: `{"privacy": measure, "utility": measure}`, see `numbers.axes`. `chart`: see `page.drawing`. `moved`: called
    when the brush moves.
    """

    def __init__(self, dataset: Dataset, moved: Callable[[], None], fewest: int) -> None:
        self.dataset, self.moved, self.fewest, self.chart = dataset, moved, fewest, drawing()()
        self.chart.observe(self._brushed, "box")
        self.axes = {"privacy": "accuracy_gain", "utility": "utility_loss"}
        self.readings: list[Reading] = []  # those that are drawn
        self.releases, self.lead, self.marks = pd.DataFrame(), "", ""
        self.box: dict[str, Any] | None = None
        self._drawn: tuple[Any, ...] | None = None

    def draw(self, setting: Setting, pinned: Sequence[Setting], curve: Sequence[Setting]) -> None:
        """Draw a setting among those of the same roles that are counted; `curve`: the settings of a sweep."""
        readings = {
            each: recalled(self.dataset, each, self.fewest) for each in dict.fromkeys((setting, *pinned, *curve))
        }
        self.readings = [each for each in readings.values() if each and not each.refused]
        named: dict[Setting, Name] = {}
        for each, reading in readings.items():
            if reading and not reading.refused and each.roles == setting.roles:
                name = tuple(reading.results.iloc[0][SETTING])
                if name not in named.values():  # of several seeds the first, such as the current one
                    named[each] = name
        lists = ([named[each] for each in some if each in named] for some in (pinned, curve))
        new = tuple(named), named.get(setting), *map(tuple, lists), *self.axes.values()
        if new != self._drawn:  # else a brush on it stays
            self._drawn, self.box = new, None
            self.releases, self.lead, self.marks, self.chart.spec = _drawn(self.dataset, self.fewest, *new)

    def clear(self) -> None:
        """Show nothing."""
        self._drawn, self.box, self.releases, self.lead, self.marks = None, None, pd.DataFrame(), "", ""
        self.chart.spec = {}

    def _brushed(self, change: Mapping[str, Any]) -> None:
        self.box = change["new"] if len(self.releases) else None
        self.moved()

    def head(self) -> Markup:
        """Return where the setting lies, and the two measures to choose."""
        sides = {"privacy": "Privacy, across", "utility": "Utility, upwards"}
        chosen = []
        for axis, measure in self.axes.items():
            offered = dict.fromkeys([facts(measure), *axes(axis, self.readings)])
            chosen.append((axis, sides[axis], {each.name: each.title for each in offered}, measure))
        return render("place", lead=self.lead, axes=chosen, marks=self.marks)

    def listed(self, pinned: list[Setting], setting: Setting) -> Markup:
        """Return the releases inside the brush, or all; and the pins, each to go to or to take away."""
        inside = charts.inside(self.releases, self.box) if self.box else self.releases
        return render(
            "listed",
            rows=[
                (row.setting, *(_loss(getattr(row, axis), measure) for axis, measure in self.axes.items()), row.status)
                for row in inside.itertuples()
            ],
            columns=["release", *map(_headed, self.axes.values()), "among these"],
            where="in the box" if self.box else "drawn",
            is_empty=self.releases.empty,
            pins=_pins(pinned, setting),
            setting=setting,
            others=any(each.roles != setting.roles for each in pinned),
        )


@lru_cache(maxsize=100)
def _ends(dataset: Dataset, fewest: int, roles: tuple[str, str], privacy: str, utility: str) -> pd.DataFrame | None:
    """What all releases lie between, as points of the plane; None where it has no such numbers."""
    known, sensitive = roles
    ends = [Setting(kind, quasi_identifiers=known, sensitive=sensitive) for kind in catalogue.references()]
    try:
        return plane(dataset, ends, privacy, utility, fewest)
    except ValueError:
        return None


@lru_cache(maxsize=100)
def _drawn(
    dataset: Dataset,
    fewest: int,
    settings: tuple[Setting, ...],
    current: Name | None,
    pinned: tuple[Name, ...],
    curve: tuple[Name, ...],
    privacy: str,
    utility: str,
) -> tuple[pd.DataFrame, str, str, dict[str, Any]]:
    """The releases of settings in the plane of two measures, what is said above and below it, and the chart itself.

    `current`, `pinned`, `curve`: which of them are marked so, by sanitizer and parameters.
    """
    try:
        releases = plane(dataset, settings, privacy, utility, fewest)
    except ValueError as error:  # none of them has such a number
        return pd.DataFrame(), f"{str(error)[0].upper()}{str(error)[1:]}", "", {}
    between = _ends(dataset, fewest, settings[0].roles, privacy, utility)
    drawn = charts.plane(releases, current=current, pinned=pinned, sweeps=[curve] if curve else (), between=between)
    if not isinstance(drawn, charts.Plane):  # a sentence instead
        return releases, drawn.data, "", {}
    # Title and explanation stand above the chart, where they fold and follow the theme.
    fitted = {"width": "container", "height": 300, "background": "transparent"}
    return releases, drawn.title, drawn.marks, drawn.spec | fitted


def _pins(pinned: list[Setting], setting: Setting) -> list[tuple[Setting, str, str]]:
    """Each pin with what it is called, and with what else differs between the pins."""
    differ = [name for name in ("miner", "scenario", "seed") if len({getattr(each, name) for each in pinned}) > 1]
    found = []
    for each in pinned:
        words = [label(each), *(f"{name} {getattr(each, name)}" for name in differ)]
        found.append((each, label(each), ", ".join(words + ["other attributes"] * (each.roles != setting.roles))))
    return found


def _headed(measure: str) -> str:
    """What a column of a measure is called: its title and unit."""
    *_, unit = numerals.parts(facts(measure).format)
    return ", ".join(filter(None, (facts(measure).title, unit.strip())))


def _loss(loss: float, measure: str) -> str:
    return "unknown" if pd.isna(loss) else facts(measure).bare(loss)
