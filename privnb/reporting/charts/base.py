"""The common parts of all charts: the aggregates that charts show, the style, and the drawing.

An Altair chart writes all of its data into the notebook and the page, even columns that the chart does not draw. A
chart is therefore made from an `Aggregate`, a small table with declared columns, in which each row concerns at least
`min_count` people.
"""

import functools
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

import altair as alt
import pandas as pd
import vl_convert
from IPython import get_ipython

from privnb.evaluation.results import (
    KEY_COLUMNS,
    QUESTION_COLUMNS,
    SETTING_COLUMNS,
    average_seeds,
    compute_mean_ids,
    compute_release_ids,
    name_settings,
)
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.reporting.charts.looks import COLOURS, LONG, LOOKS, V5, WIDTH
from privnb.runtime import numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.names import escape_invisible
from privnb.runtime.sentences import DISPLAY, FullTable, Sentences, say
from privnb.runtime.validation import Validated, instead, validated

ID = "id"  # the column that names the rows of results behind a row of a chart: the anchor on their page
TITLE_WORDS = 12
MAX_ROWS = 500  # of a table that is shown in full, and of the data of a chart
Drawing = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart | alt.FacetChart
Chart = TypeVar("Chart", bound=Drawing)


@dataclass(frozen=True, eq=False)
class Aggregate(Validated):
    """A table that may be shown: it has only declared columns, and at most 500 rows.

    Parameters
    ----------
    rows : DataFrame
        The rows. The column `people`, if there is one, holds the number of people whom each row concerns.
    titles : dict of str to str
        The titles of the columns, including the unit; columns without a title are left out.
    min_count : int

    Raises
    ------
    ValueError
        If a row concerns 1 to `min_count` - 1 people. Merge such rows with neighboring rows first.
    """

    rows: pd.DataFrame
    titles: Annotated[Mapping[str, str], instead(Mapping, "Give a title per column.")]
    min_count: MinCount = LIMIT

    def __post_init__(self) -> None:
        super().__post_init__()
        missing = [name for name in self.titles if name not in self.rows]
        if missing:
            raise UsageError(
                f"`titles` must name columns of `rows`; got {missing}, but the columns are {', '.join(self.rows)}."
            )
        if len(self.rows) > MAX_ROWS:
            raise UsageError(
                f"`rows` must have at most {MAX_ROWS} rows; got {len(self.rows)} rows. Form larger groups."
            )
        if "people" in self.titles and self.rows["people"].between(1, self.min_count - 1).any():
            raise UsageError(
                f"each row must concern at least {self.min_count} people; got fewer. Merge small rows with neighboring "
                "ones."
            )
        object.__setattr__(self, "rows", escape_rows(self.rows[list(self.titles)].reset_index(drop=True)))

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        titles = {name: title for name, title in self.titles.items() if name != ID}
        table, ids = self.rows[[*titles]], None
        if ID in self.rows:
            ids = table.apply(lambda cells: self.rows[ID].where(cells.map(str).map(begins_with_number), ""))
        return FullTable(table.rename(columns=titles), ", ".join(titles.values()), ids)._repr_mimebundle_()


def escape_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in which invisible characters in texts are replaced by visible escapes."""
    return rows.assign(**{name: _shown(rows[name]) for name in rows if _shown_differs(rows[name])})


def _shown_differs(column: pd.Series) -> bool:
    return column.dtype.kind == "O" and any(
        isinstance(value, str) and escape_invisible(value) != value for value in column
    )


def _shown(column: pd.Series) -> Any:
    texts = column.astype(object).map(lambda value: escape_invisible(value) if isinstance(value, str) else value)
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return texts
    return pd.Categorical(
        texts, dict.fromkeys(map(escape_invisible, map(str, column.cat.categories))), column.cat.ordered
    )


class Layer(NamedTuple):
    """Marks that show the rows of an `Aggregate`; `mark` and `encoding` have the meaning that they have in Vega-Lite.

    Charts that are drawn again at each key press consist of layers, because Altair checks and copies every part of a
    chart. This takes longer than the counting of a release.
    """

    rows: pd.DataFrame
    mark: dict[str, Any]
    encoding: dict[str, Any]

    @classmethod
    def of(cls, rows: pd.DataFrame, columns: Sequence[str], mark: dict[str, Any], encoding: dict[str, Any]) -> "Layer":
        """Return marks that show `columns` of `rows`; the rows must satisfy the conditions of an `Aggregate`."""
        return cls(Aggregate(rows, dict.fromkeys(columns, "")).rows, mark, encoding)

    @property
    def chart(self) -> alt.Chart:
        """The layer as an Altair chart."""
        mark: Any = self.mark
        return alt.Chart(self.rows, mark=mark, encoding=alt.FacetedEncoding(**self.encoding))

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows in the form for Vega-Lite: a list of dicts, with None for numbers that are not finite."""
        columns = [
            [None if isinstance(each, float) and not math.isfinite(each) else each for each in self.rows[name].tolist()]
            for name in self.rows
        ]
        return [dict(zip(self.rows, row, strict=True)) for row in zip(*columns, strict=True)]


def of_columns(rows: pd.DataFrame, columns: Sequence[str]) -> alt.Chart:
    """Return a chart of `columns` of `rows`, and of the column `id` that `add_ids` adds.

    The rows must satisfy the conditions of an `Aggregate`.
    """
    rows = add_ids(rows)
    return alt.Chart(Aggregate(rows, dict.fromkeys([*columns, *[ID] * (ID in rows)], "")).rows)


def add_ids(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the column `id`; it is added if the rows are results or state a setting.

    The id is an anchor on the page of rows of results. It leads to the rows of the same number for all seeds or, if the
    rows only state a setting, to all numbers of the release.
    """
    if ID in rows:
        return rows
    if {*KEY_COLUMNS} <= {*rows}:
        return rows.assign(**{ID: [f"rows-{each}" for each in compute_mean_ids(rows)]})
    return name_releases(rows) if {*SETTING_COLUMNS} <= {*rows} else rows


def name_releases(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the `id` of their release, for rows with numbers of several measures; see `add_ids`."""
    return rows.assign(**{ID: [f"release-{each}" for each in compute_release_ids(rows)]})


Counts = Annotated[pd.Series, instead(pd.Series, "Count people by group, as `value_counts` does.")]


@validated
def merge_small(counts: Counts, min_count: MinCount = LIMIT) -> pd.Series:
    """Return counts in which neighboring groups are merged, so that each group has 0 or at least `min_count` people.

    Parameters
    ----------
    counts : Series
        The number of people in each group; the labels of the groups have an order.
    min_count : int

    Returns
    -------
    Series
        The number of people in each group; the label of a merged group is "first to last".

    >>> merge_small(pd.Series({"80-84": 60, "85-89": 8, "90-94": 5})).to_dict()
    {'80-84': 60, '85-89 to 90-94': 13}
    """
    merged: list[tuple[object, object, int]] = []
    for label, people in counts.items():
        if merged and 0 < merged[-1][2] < min_count:
            merged[-1] = merged[-1][0], label, merged[-1][2] + people
        else:
            merged.append((label, label, people))
    while len(merged) > 1 and 0 < merged[-1][2] < min_count:
        (first, _, a), (_, last, b) = merged[-2:]
        merged[-2:] = [(first, last, a + b)]
    return pd.Series({f"{a}" if a == b else f"{a} to {b}": people for a, b, people in merged})


def setup() -> None:
    """Set up a notebook so that charts are drawn without network access, and tables are shown in full, as on a page.

    Call this function once in each notebook.
    """
    if shell := get_ipython():
        shell.display_formatter.mimebundle_formatter.for_type(pd.DataFrame, _show_in_full)
    for option, value in DISPLAY.items():
        pd.set_option(option, value)
    alt.renderers.register("privnb", render_chart)
    alt.renderers.enable("privnb")
    alt.data_transformers.enable("default", max_rows=MAX_ROWS)


def _show_in_full(table: pd.DataFrame, **_: object) -> dict[str, Any] | None:
    """Return the outputs for a table that a notebook shows in full; None for a long table, which pandas shortens."""
    if len(table) > MAX_ROWS:
        return None
    written = table.map(lambda value: f"{value:.6g}" if isinstance(value, float) and value == value else value)
    return FullTable(written, f"A table of {len(table)} rows")._repr_mimebundle_()


def render_chart(spec: dict[str, Any], **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the outputs for a chart in a notebook, and the metadata of the outputs."""
    # Altair writes Vega-Lite 6, and JupyterLab draws Vega-Lite 5; all other hosts show the SVG.
    live = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    return {V5: live, "image/svg+xml": vl_convert.vegalite_to_svg(spec), "text/plain": str(spec.get("description"))}, {}


def average_settings(results: pd.DataFrame) -> pd.DataFrame:
    """Return the means over seeds, with the columns `setting` and `id`.

    `setting` consists of the name of the sanitizer and its main parameter.
    """
    together = average_seeds(results)
    return add_ids(together.assign(setting=name_settings(together)))


def describe_intervals(results: pd.DataFrame) -> str:
    """Return a phrase that states over what the 95% intervals of these results vary: seeds or people."""
    seeds = results.groupby(["dataset", *SETTING_COLUMNS, *QUESTION_COLUMNS], dropna=False).size()
    if not len(seeds) or seeds.max() == 1:
        return "95% intervals over people (one seed)"
    text = f"95% intervals of the mean over {seeds.max()} seeds, if the seeds differ"
    return text if seeds.min() == seeds.max() else f"{text}, or over people for results with one seed"


def distinguish_series(
    series: str, order: Sequence[str], colours: Sequence[str] = COLOURS, shapes: Any = alt.Undefined, **legend: Any
) -> dict[str, Any]:
    """Return encodings that distinguish the members of `series` by color and by shape, with a single legend.

    In the legend, a long name that consists of two parts has two lines.
    """
    longest = max(map(len, order), default=0)
    lines = "split(replace(datum.label, ': ', ':|'), '|')" if longest > LONG else alt.Undefined
    looks: dict[str, Any] = {
        "title": None,
        "legend": alt.Legend(**{"columns": 4 if longest < 24 else 2, "labelExpr": lines} | legend),
    }
    # Two scales with the same domain share one legend of colour and shape.
    return {
        "color": alt.Color(f"{series}:N", scale=alt.Scale(domain=order, range=colours), **looks),
        "shape": alt.Shape(f"{series}:N", scale=alt.Scale(domain=order, range=shapes), **looks),
    }


def axis(format: str) -> alt.Axis:
    """Return an axis with space between the labels, and with enough digits to distinguish the labels."""
    _, sign, kind, _ = numerals.split_format(format)
    return alt.Axis(format=sign + (kind if kind == "%" else ",~f"), tickCount=8)


def begins_with_number(cell: str) -> bool:
    """Return whether a cell of a table begins with a number.

    >>> begins_with_number("12% (95% CI 10–14%)"), begins_with_number("+0.5"), begins_with_number("k = 5")
    (True, True, False)
    """
    return bool(re.match(r"[-+\N{MINUS SIGN}<]?\d", cell))


def tip_format(format: str) -> str:
    """Return the format of numbers in tooltips that corresponds to the format of a measure."""
    return ".2~%" if "%" in format else ",.4~g"


def none(what: str) -> Sentences:
    """Return the sentence that replaces an empty chart."""
    what = what.replace("_", " ")
    noun = what.split(" with ")[0].split(" that ")[0]
    article = "" if noun.endswith("s") and not noun.endswith("ss") else "an " if what[0] in "aeio" else "a "
    return say(f"None of these settings has {article}{what}.")


def choose_title(*titles: str) -> str:
    """Return the first title with at most 12 words; if there is none, return the last title.

    Titles may be long because the names of columns and groups may have any length.

    >>> choose_title("The largest group of many long words in a row of occupation is clerks", "The largest group")
    'The largest group'
    """
    words = (sum(any(map(str.isalnum, word)) for word in title.split()) for title in titles)
    return next((title for title, many in zip(titles, words, strict=True) if many <= TITLE_WORDS), titles[-1])


def style_chart(chart: Chart, title: str, description: str) -> Chart:
    """Return the chart with the common style: a title, a subtitle that explains the marks, and a description.

    The description consists of the title and the subtitle, and is for screen readers. A chart without panels has the
    default width unless it states another width.
    """
    title, description = escape_invisible(title), escape_invisible(description)
    # Pages join the lines with spaces, so that no line may end within a word.
    wrap = functools.partial(textwrap.wrap, break_on_hyphens=False)
    chart["title"] = alt.Title(wrap(title, 86), subtitle=wrap(description, 110))
    chart["description"] = f"{title}. {description}"
    chart["config"] = alt.Config(**LOOKS)  # item by item: `properties` would copy the chart with all its layers
    if isinstance(chart, alt.Chart | alt.LayerChart) and chart.width is alt.Undefined:
        chart["width"] = WIDTH
    # If the host has not chosen a renderer, this chart uses that of `setup`: Altair's default needs the network.
    if alt.renderers.active == "default":
        object.__setattr__(chart, "_repr_mimebundle_", lambda **_: render_chart(chart.to_dict()))
    return chart
