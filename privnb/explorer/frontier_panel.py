"""The fourth panel: the privacy-utility plane of the current, pinned and swept settings, with a brush to list some."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
from markupsafe import Markup

from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import SETTING_COLUMNS
from privnb.explorer.html import render_template
from privnb.explorer.page import chart_class
from privnb.explorer.pinned_files import FileReading
from privnb.explorer.pins import FilePin
from privnb.explorer.readings import Reading, axis_measures, find_cached_reading, locate_in_plane
from privnb.explorer.setting import Setting, setting_label
from privnb.measures import measure_facts
from privnb.reporting.charts import explorer as charts
from privnb.runtime import numerals
from privnb.sanitizers import catalogue

Name = tuple[str, ...]  # the sanitizer and the parameters of a release


class FrontierPanel:
    """The plane of one board: two measures, a chart, and a brush.

    `axes` is `{"privacy": measure, "utility": measure}`, see `readings.axis_measures`. `chart` is a widget of the class
    `page.chart_class`. `moved` is called when the brush moves.
    """

    def __init__(self, dataset: Dataset, moved: Callable[[], None], min_count: int) -> None:
        self.dataset, self.moved, self.min_count, self.chart = dataset, moved, min_count, chart_class()()
        self.chart.observe(self._brushed, "box")
        self.axes = {"privacy": "accuracy_gain", "utility": "utility_loss"}
        self.readings: list[Reading | FileReading] = []  # the readings in the chart
        self.releases, self.lead, self.marks = pd.DataFrame(), "", ""
        self.box: dict[str, Any] | None = None
        self._drawn: tuple[Any, ...] | None = None

    def draw(
        self,
        setting: Setting,
        pinned: Sequence[Setting],
        curve: Sequence[Setting],
        files: Sequence[FileReading] = (),
    ) -> None:
        """Draw a setting among counted settings and files of the same roles; `curve` has the settings of a sweep."""
        readings = {
            each: find_cached_reading(self.dataset, each, self.min_count)
            for each in dict.fromkeys((setting, *pinned, *curve))
        }
        self.readings = [each for each in readings.values() if each and not each.refused]
        self.readings += (own := [each for each in files if not each.refused and not each.results.empty])
        named: dict[Setting, Name] = {}
        for each, reading in readings.items():
            if reading and not reading.refused and each.roles == setting.roles:
                name = tuple(reading.results.iloc[0][SETTING_COLUMNS])
                if name not in named.values():  # the first of several seeds, such as the current one
                    named[each] = name
        lists = ([named[each] for each in some if each in named] for some in (pinned, curve))
        kept, swept = map(tuple, lists)
        kept += tuple(tuple(each.results.iloc[0][SETTING_COLUMNS]) for each in own)
        new = tuple(named), tuple(own), named.get(setting), kept, swept, *self.axes.values()
        if new != self._drawn:  # an unchanged chart keeps its brush
            self._drawn, self.box = new, None
            self.releases, self.lead, self.marks, self.chart.spec = _draw_plane(self.dataset, self.min_count, *new)

    def clear(self) -> None:
        """Remove the chart and its texts."""
        self._drawn, self.box, self.releases, self.lead, self.marks = None, None, pd.DataFrame(), "", ""
        self.chart.spec = {}

    def _brushed(self, change: Mapping[str, Any]) -> None:
        self.box = change["new"] if len(self.releases) else None
        self.moved()

    def head(self) -> Markup:
        """Render the sentence above the chart, and the menus of the two measures."""
        sides = {"privacy": "Privacy (horizontal)", "utility": "Utility (vertical)"}
        chosen = []
        for axis, measure in self.axes.items():
            offered = dict.fromkeys([measure_facts(measure), *axis_measures(axis, self.readings)])
            chosen.append((axis, sides[axis], {each.name: each.title for each in offered}, measure))
        return render_template("place", lead=self.lead, axes=chosen, marks=self.marks)

    def listed(self, pinned: list[Setting], setting: Setting, files: Sequence[tuple[FilePin, str]] = ()) -> Markup:
        """Render the releases inside the brush (all releases if there is no brush), and the pins.

        `files` are the pinned files, each with the reason why it has no numbers, or an empty text.
        """
        inside = charts.inside(self.releases, self.box) if self.box else self.releases
        return render_template(
            "listed",
            rows=[
                (
                    row.setting,
                    *(_format_loss(getattr(row, axis), measure) for axis, measure in self.axes.items()),
                    row.status,
                )
                for row in inside.itertuples()
            ],
            columns=["release", *map(_column_title, self.axes.values()), "status"],
            where="in the box" if self.box else "drawn",
            is_empty=self.releases.empty,
            pins=_pins(pinned, setting),
            setting=setting,
            files=files,
            others=any(each.roles != setting.roles for each in pinned),
        )


@lru_cache(maxsize=100)
def _reference_points(
    dataset: Dataset, min_count: int, roles: tuple[str, str], privacy: str, utility: str
) -> pd.DataFrame | None:
    """Return the reference releases as points of the plane; None if the measures do not apply."""
    known, sensitive = roles
    names = catalogue.list_reference_names()
    references = [Setting(name, quasi_identifiers=known, sensitive=sensitive) for name in names]
    try:
        return locate_in_plane(dataset, references, privacy, utility, min_count)
    except ValueError:
        return None


@lru_cache(maxsize=100)
def _draw_plane(
    dataset: Dataset,
    min_count: int,
    settings: tuple[Setting, ...],
    files: tuple[FileReading, ...],
    current: Name | None,
    pinned: tuple[Name, ...],
    curve: tuple[Name, ...],
    privacy: str,
    utility: str,
) -> tuple[pd.DataFrame, str, str, dict[str, Any]]:
    """Return the releases of settings in the plane of two measures, the texts above and below the plane, and the chart.

    `files` are readings of files of other tools. `current`, `pinned` and `curve` hold the sanitizer and the parameters
    of the releases to mark as such.
    """
    try:
        releases = locate_in_plane(dataset, settings, privacy, utility, min_count, files)
    except ValueError as error:  # no setting has such a number
        return pd.DataFrame(), f"{str(error)[0].upper()}{str(error)[1:]}", "", {}
    roles = settings[0].roles if settings else files[0].roles
    between = _reference_points(dataset, min_count, roles, privacy, utility)
    drawn = charts.plane(releases, current=current, pinned=pinned, sweeps=[curve] if curve else (), between=between)
    if not isinstance(drawn, charts.Plane):  # a sentence instead
        return releases, drawn.data, "", {}
    # Title and explanation are text above the chart, where lines wrap and follow the theme.
    fitted = {"width": "container", "height": 300, "background": "transparent"}
    return releases, drawn.title, drawn.marks, drawn.spec | fitted


def _pins(pinned: list[Setting], setting: Setting) -> list[tuple[Setting, str, str]]:
    """Return each pin with its short name, and with a name that includes the fields in which the pins differ."""
    differ = [name for name in ("miner", "scenario", "seed") if len({getattr(each, name) for each in pinned}) > 1]
    found = []
    for each in pinned:
        words = [setting_label(each), *(f"{name} {getattr(each, name)}" for name in differ)]
        found.append(
            (each, setting_label(each), ", ".join(words + ["other attributes"] * (each.roles != setting.roles)))
        )
    return found


def _column_title(measure: str) -> str:
    """Return the column title of a measure: the title and the unit of the measure."""
    *_, unit = numerals.split_format(measure_facts(measure).format)
    return ", ".join(filter(None, (measure_facts(measure).title, unit.strip())))


def _format_loss(loss: float, measure: str) -> str:
    return "unknown" if pd.isna(loss) else measure_facts(measure).bare(loss)
