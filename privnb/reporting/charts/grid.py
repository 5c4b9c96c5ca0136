"""Many settings that were counted before, of which readers choose one by the controls of Vega, without a kernel."""

import html
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from privnb.decision import AXES
from privnb.decision.points import check_points
from privnb.evaluation.results import SETTING_COLUMNS, Results
from privnb.measures import measure_facts
from privnb.reporting.charts.base import Aggregate, Drawing, escape_rows
from privnb.reporting.charts.drawing import Drawn, Nothing, drawing
from privnb.reporting.charts.explorer import CURRENT
from privnb.reporting.charts.looks import COLOURS, GREY, INK, PALE
from privnb.reporting.findings.rows import Steps
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.names import escape_invisible
from privnb.runtime.sentences import MIME, FullTable
from privnb.runtime.validation import validated
from privnb.runtime.wording import write_count

# Pixels: how wide the bars and the planes are together; how high a bar, and a plane.
ACROSS, BAR, PANEL = 560, 12, 230
CHOSEN = "datum.row === chosen"


@drawing
def every_setting(
    steps: Steps, results: Results, planes: Sequence[pd.DataFrame], measures: Sequence[str], *, start: str = ""
) -> Drawn:
    """Draw one of many settings, which the reader chooses by a menu and a slider.

    The chart shows the numbers of the setting as bars with their baselines, and compares the losses of the setting with
    those of all other settings. The controls are those of Vega, so that the chart works in JupyterLab and on a page
    without a kernel.

    The chart has these parameters of Vega-Lite: `series` and `step`, which are bound to the controls; `steps`, which is
    the number of steps of the series; `setting`, which is the name of the chosen setting; and `said`, which is a text
    about this setting.

    Parameters
    ----------
    steps : DataFrame
        One row per setting, with the columns `series` (an entry of the menu), `setting` (the name), and `sanitizer` and
        `parameters` (as results state them). Each series is in the order of the slider.
    results : DataFrame
        The numbers of the settings.
    planes : list of DataFrame
        One or two tables of `decision.points`, each of which becomes a panel.
    measures : list of str
        The measures to show, for which a lower value is better.
    start : str
        The setting that is chosen at the beginning; by default, the first setting.
    """
    expect.kind("planes", planes, list, tuple, instead="Give one or two tables of `decision.points`.")
    for place, plane in enumerate(planes):
        check_points(f"planes[{place}]", plane)
    known = _known(measures, results)
    planes = [plane for plane in planes if plane[list(AXES)].notna().all(axis=1).any()]
    if not known:
        raise Nothing("number of these measures")
    rows = escape_rows(_numbered(steps, results, planes, known))
    start = escape_invisible(start)
    data = alt.InlineData(values=rows.astype(object).where(rows.notna(), None).to_dict("records"), name="settings")
    series = rows.groupby("series", sort=False).row.agg(["min", "size"])
    first = rows[rows.setting == start].iloc[0] if start in set(rows.setting) else rows.iloc[0]
    at = list(series.index).index(first.series)
    menu = alt.binding_select(options=list(range(len(series))), labels=list(series.index), name="Sanitizer ")
    slider = alt.binding_range(min=1, max=int(series["size"].max()), step=1, name="Loose to strict ")
    last, row = f"{series['size'].tolist()}[series]", f"{series['min'].tolist()}[series] + min(step, steps) - 1"
    parameters = [
        alt.param("series", value=at, bind=menu),
        alt.param("step", value=int(first.row - series["min"].iloc[at]) + 1, bind=slider),
        alt.param("steps", expr=last),
        alt.param("chosen", expr=row),
        *(alt.param(name, expr=f"data('settings')[chosen].{name}") for name in ("setting", "said")),
    ]
    heading = alt.Chart(data, width=ACROSS, height=14).transform_filter(CHOSEN)
    heading = heading.mark_text(align="left", fontSize=16, fontWeight="bold", color=CURRENT)
    heading = heading.encode(x=alt.value(0), y=alt.value(7), text="heading:N")
    panels = [_strip(data, rows, measure) for measure in known]
    of = [
        {axis: f"{axis} loss: {measure_facts(plane[f'{axis}_measure'].iloc[0]).label}" for axis in AXES}
        for plane in planes
    ]
    across = [alt.hconcat(*(_among(data, rows, place, of) for place in range(len(of))), spacing=24)] if of else []
    return (
        alt.vconcat(heading, *panels, *across, spacing=16).add_params(*parameters),
        f"Choose one of {len(rows)} settings and see what it loses",
        f"The settings belong to {rows.sanitizer.nunique()} sanitizers. Each step of the slider is stricter. The bars "
        "and the diamond show the chosen setting, and the line through the diamond shows the other steps of the "
        "slider. Dark ticks show baselines, and grey ticks show all settings. Filled points with the line are "
        "efficient, hollow blue points are undecided, and hollow grey points are dominated. Shorter bars, and points "
        "further left and down, mean smaller losses.",
    )


def _known(measures: Sequence[str], results: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the measures that have at least one number, as `{name: title}`."""
    if not expect.texts("measures", measures, "measures"):
        raise UsageError("`measures` must name at least one measure; got none.")
    there = set(results.measure[results.value.notna()])
    return {name: measure_facts(name).label for name in measures if name in there}


def _numbered(
    steps: pd.DataFrame, results: pd.DataFrame, planes: Sequence[pd.DataFrame], measures: Mapping[str, str]
) -> pd.DataFrame:
    """Return one row per setting, with all columns that the chart needs.

    The columns are, for each measure, the number, the baseline and a text; for each plane, the losses; and a text about
    the setting.
    """
    rows = steps.assign(row=range(len(steps)))
    for measure in measures:
        found = results[results.measure == measure].drop_duplicates(SETTING_COLUMNS)
        texts = [_worded(measure, *pair) for pair in zip(found.value, found.baseline, strict=True)]
        found = found[[*SETTING_COLUMNS, "value", "baseline"]].assign(text=texts)
        found.columns = [*SETTING_COLUMNS, measure, f"{measure}_base", f"{measure}_text"]
        rows = rows.merge(found, on=SETTING_COLUMNS, how="left", validate="many_to_one")
        rows = rows.fillna({found.columns[-1]: "not counted"})
    for place, plane in enumerate(planes):
        names = {name: f"{name}_{place}" for name in (*AXES, "status", "why")}
        found = plane.assign(why=plane.why.map(str))[[*SETTING_COLUMNS, *names]].rename(columns=names)
        rows = rows.merge(found, on=SETTING_COLUMNS, how="left", validate="many_to_one")
    size, step = rows.groupby("series").row.transform("size"), rows.groupby("series").cumcount() + 1
    of = [f" (step {here} of {all})" if all > 1 else "" for here, all in zip(step, size, strict=True)]
    missing = rows[[*measures]].isna().all(axis=1)
    rows["heading"] = rows.setting + of + np.where(missing, ": this table cannot be sanitized in this way", "")
    worded = rows[[f"{measure}_text" for measure in measures]]
    rows["said"] = [
        "\n".join([name, *(f"{title}: {text}" for title, text in zip(measures.values(), texts, strict=True))])
        for name, texts in zip(rows.heading, worded.itertuples(index=False), strict=True)
    ]
    rows = rows.drop(columns="parameters").replace([np.inf, -np.inf], np.nan)
    return Aggregate(rows, dict.fromkeys(rows, "")).rows


def _worded(measure: str, value: float, baseline: float) -> str:
    if pd.isna(value):
        return "withheld"
    number = measure_facts(measure).bare
    return number(value) + ("" if pd.isna(baseline) else f" (baseline {number(baseline)})")


def _strip(data: alt.InlineData, rows: pd.DataFrame, measure: str) -> Drawing:
    """Return the bar of one measure over ticks of the values of all settings, with a title and the number above."""
    there = rows[[measure, f"{measure}_base"]].to_numpy(float)
    domain = [min(0.0, float(np.nanmin(there))), float(np.nanmax(there)) or 1.0]
    x = alt.X(f"{measure}:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(tickCount=6))
    base = alt.Chart(data, width=ACROSS, height=BAR)
    one = base.transform_filter(CHOSEN)
    tips = [alt.Tooltip("setting:N"), alt.Tooltip(f"{measure}_text:N", title=measure_facts(measure).label)]
    text: dict[str, Any] = {"baseline": "bottom", "fontSize": 12}
    number = one.mark_text(align="right", fontWeight="bold", **text)
    return alt.layer(
        base.mark_tick(color=PALE, thickness=1, size=BAR).encode(x=x),
        one.mark_bar(color=CURRENT, height=BAR - 4).encode(x=x, x2=alt.datum(0), tooltip=tips),
        one.mark_tick(color=INK, thickness=2, size=BAR + 4).encode(x=f"{measure}_base:Q"),
        one.mark_text(align="left", text=measure_facts(measure).label, **text).encode(x=alt.value(0), y=alt.value(-4)),
        number.encode(x=alt.value(ACROSS), y=alt.value(-4), text=f"{measure}_text:N"),
    )


def _among(data: alt.InlineData, rows: pd.DataFrame, place: int, of: Sequence[Mapping[str, str]]) -> Drawing:
    """Return one panel of the two losses: all settings, a line through the efficient settings, and the chosen setting.

    A second line connects the settings of the chosen series.
    """
    encoded: dict[str, Any] = {}
    names = {axis: f"{axis}_{place}" for axis in AXES}
    drawn = rows[[*names.values()]].astype(float).dropna()
    for axis, channel, make in zip(AXES, ("x", "y"), (alt.X, alt.Y), strict=True):
        low, high = drawn[names[axis]].agg(["min", "max"])
        room = (high - low) * 0.07 or 0.5
        encoded[channel] = make(
            f"{names[axis]}:Q",
            title=textwrap.wrap(of[place][axis], 90 // len(of)),
            scale=alt.Scale(domain=[float(min(low, 0) - room), float(high + room)], nice=False),
            axis=alt.Axis(tickCount=5, grid=False),
        )
    base = alt.Chart(data).transform_filter(f"isValid(datum.{names['privacy']}) && isValid(datum.{names['utility']})")
    base, status = base.encode(**encoded), f"datum.status_{place}"
    tips = [alt.Tooltip("setting:N"), *(alt.Tooltip(f"{name}_{place}:N", title=name) for name in ("status", "why"))]
    tips += [alt.Tooltip(f"{names[axis]}:Q", title=of[place][axis], format=",.4~g") for axis in AXES]
    efficient, one = base.transform_filter(f"{status} === 'efficient'"), base.transform_filter(CHOSEN)
    series = base.transform_filter("datum.series === data('settings')[chosen].series")
    return alt.layer(
        efficient.mark_line(color=GREY, strokeWidth=1.2, interpolate="step-after"),
        base.mark_point(size=40, opacity=1, strokeWidth=1.2).encode(
            color=alt.condition(f"{status} === 'dominated'", alt.value(PALE), alt.value(COLOURS[0])),
            fill=alt.condition(f"{status} === 'efficient'", alt.value(COLOURS[0]), alt.value("white")),
            tooltip=tips,
        ),
        series.mark_line(color=CURRENT, strokeWidth=1.5).encode(order="row:Q"),
        one.mark_point(shape="diamond", size=220, opacity=1, filled=True, color=CURRENT, stroke=INK).encode(
            tooltip=tips
        ),
    ).properties(width=(ACROSS - 80 * (len(of) - 1)) // len(of), height=PANEL)


class _Tables:
    """Folded tables, one per series: `{summary: table}`."""

    def __init__(self, folded: Mapping[str, FullTable]) -> None:
        self.folded = folded

    def __repr__(self) -> str:
        return f"tables of {len(self.folded)} series"

    def _repr_html_(self) -> str:
        return "\n".join(
            f"<details><summary>{html.escape(summary)}</summary>{table._repr_html_()}</details>"
            for summary, table in self.folded.items()
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        folded = [{"summary": summary, **table.content} for summary, table in self.folded.items()]
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: {"folded": folded}}


@validated
def every_number(steps: Steps, results: Results, measures: Sequence[str]) -> _Tables:
    """Return the numbers of `every_setting` and the baselines as a folded table for each series of the menu.

    Parameters
    ----------
    steps, results, measures
        The same as for `every_setting`.

    Returns
    -------
    HTML of a notebook
    """
    known = _known(measures, results)
    rows = _numbered(steps, results, [], known)
    columns = {f"{measure}_text": title for measure, title in known.items()}
    return _Tables(
        {
            f"{escape_invisible(series)}: {write_count(len(part), 'setting')}": FullTable(
                part.set_index("setting")[[*columns]].rename(columns=columns).rename_axis(None),
                escape_invisible(series),
            )
            for series, part in rows.groupby("series", sort=False)
        }
    )
