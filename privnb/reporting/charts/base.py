"""What all charts share: the aggregates that they are made of, their looks, and how they are drawn.

An Altair chart writes all of its data into the notebook and the page, columns that it does not draw included. So a
chart is made of an `Aggregate`: a small table with declared columns in which no row stands for fewer than `fewest`
people.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar

import altair as alt
import pandas as pd
import vl_convert

from privnb.evaluation.results import QUESTION, SETTING, over_seeds, setting_names
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.reporting.charts.looks import COLOURS, LONG, LOOKS, V5, WIDTH
from privnb.runtime import numerals
from privnb.runtime.errors import UsageError
from privnb.runtime.names import shown
from privnb.runtime.sentences import DISPLAY, Sentences, say, table_html
from privnb.runtime.validation import Validated, instead, validated

Drawing = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart | alt.FacetChart
Chart = TypeVar("Chart", bound=Drawing)


@dataclass(frozen=True, eq=False)
class Aggregate(Validated):
    """A table that may be shown: declared columns only, at most 500 rows, each of at least `fewest` people.

    Parameters
    ----------
    rows : DataFrame
        A column `people` holds the number of people behind each row.
    titles : dict of str to str
        Of columns, with the unit; columns without a title are left out.
    fewest : int

    Raises
    ------
    ValueError
        For a row of 1 to `fewest` - 1 people: merge it with its neighbour first.
    """

    rows: pd.DataFrame
    titles: Annotated[Mapping[str, str], instead(Mapping, "Give a title per column.")]
    fewest: MinCount = LIMIT

    def __post_init__(self) -> None:
        super().__post_init__()
        missing = [name for name in self.titles if name not in self.rows]
        if missing:
            raise UsageError(f"the aggregate declares {missing}, which its rows lack ({', '.join(self.rows)}).")
        if len(self.rows) > 500:
            raise UsageError(f"an aggregate has at most 500 rows, got {len(self.rows)}. Group more coarsely.")
        if "people" in self.titles and self.rows["people"].between(1, self.fewest - 1).any():
            raise UsageError(f"a row stands for fewer than {self.fewest} people. Merge it with its neighbours.")
        object.__setattr__(self, "rows", shown_rows(self.rows[list(self.titles)].reset_index(drop=True)))

    def _repr_html_(self) -> str:
        return table_html(self.rows.rename(columns=self.titles))


def shown_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with each text as `shown` gives it."""
    return rows.assign(**{name: _shown(rows[name]) for name in rows if _shown_differs(rows[name])})


def _shown_differs(column: pd.Series) -> bool:
    return column.dtype.kind == "O" and any(isinstance(value, str) and shown(value) != value for value in column)


def _shown(column: pd.Series) -> Any:
    texts = column.astype(object).map(lambda value: shown(value) if isinstance(value, str) else value)
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return texts
    return pd.Categorical(texts, dict.fromkeys(map(shown, map(str, column.cat.categories))), column.cat.ordered)


class Layer(NamedTuple):
    """Marks that show `rows`, those of an `Aggregate`; `mark` and `encoding` as Vega-Lite writes them.

    What is drawn at each key press is made of these alone: Altair checks and copies every part, which takes longer than
    to count a release.
    """

    rows: pd.DataFrame
    mark: dict[str, Any]
    encoding: dict[str, Any]

    @classmethod
    def of(cls, rows: pd.DataFrame, columns: Sequence[str], mark: dict[str, Any], encoding: dict[str, Any]) -> "Layer":
        """Marks that show these columns of rows that may be shown, see `Aggregate`."""
        return cls(Aggregate(rows, dict.fromkeys(columns, "")).rows, mark, encoding)

    @property
    def chart(self) -> alt.Chart:
        """The same as an Altair chart."""
        mark: Any = self.mark
        return alt.Chart(self.rows, mark=mark, encoding=alt.FacetedEncoding(**self.encoding))

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows as Vega-Lite reads them: a list of dicts, None for what is no finite number."""
        columns = [
            [None if isinstance(each, float) and not math.isfinite(each) else each for each in self.rows[name].tolist()]
            for name in self.rows
        ]
        return [dict(zip(self.rows, row, strict=True)) for row in zip(*columns, strict=True)]


def of_columns(rows: pd.DataFrame, columns: Sequence[str]) -> alt.Chart:
    """A chart of these columns of rows that may be shown, see `Aggregate`."""
    return alt.Chart(Aggregate(rows, dict.fromkeys(columns, "")).rows)


Counts = Annotated[pd.Series, instead(pd.Series, "Count people by group, as `value_counts` does.")]


@validated
def merge_small(counts: Counts, fewest: MinCount = LIMIT) -> pd.Series:
    """Merge neighbouring groups until each holds at least `fewest` people (or nobody).

    Parameters
    ----------
    counts : Series
        People by ordered label.
    fewest : int

    Returns
    -------
    Series
        Alike; a merged label reads "first to last".

    >>> merge_small(pd.Series({"80-84": 60, "85-89": 8, "90-94": 5})).to_dict()
    {'80-84': 60, '85-89 to 90-94': 13}
    """
    merged: list[tuple[object, object, int]] = []
    for label, people in counts.items():
        if merged and 0 < merged[-1][2] < fewest:
            merged[-1] = merged[-1][0], label, merged[-1][2] + people
        else:
            merged.append((label, label, people))
    while len(merged) > 1 and 0 < merged[-1][2] < fewest:
        (first, _, a), (_, last, b) = merged[-2:]
        merged[-2:] = [(first, last, a + b)]
    return pd.Series({f"{a}" if a == b else f"{a} to {b}": people for a, b, people in merged})


def setup() -> None:
    """Make charts draw without a network in JupyterLab, in papermill runs and in pages, and tables show their texts as
    they are written. Call once per notebook.
    """
    for option, value in DISPLAY.items():
        pd.set_option(option, value)
    alt.renderers.register("privnb", render)
    alt.renderers.enable("privnb")
    alt.data_transformers.enable("default", max_rows=500)


def render(spec: dict[str, Any], **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
    # Written by Vega-Lite 6's API, drawn by JupyterLab's Vega-Lite 5; the SVG serves all others.
    live = {**spec, "$schema": "https://vega.github.io/schema/vega-lite/v5.json"}
    return {V5: live, "image/svg+xml": vl_convert.vegalite_to_svg(spec), "text/plain": str(spec.get("description"))}, {}


def settings(results: pd.DataFrame) -> pd.DataFrame:
    """One row for several seeds, with `setting`: how a person names a sanitizer and its main parameter."""
    together = over_seeds(results)
    return together.assign(setting=setting_names(together))


def intervals(results: pd.DataFrame) -> str:
    """What the 95% intervals of these results are about: other repeats, or other people."""
    seeds = results.groupby(["dataset", *SETTING, *QUESTION], dropna=False).size()
    if not len(seeds) or seeds.max() == 1:
        return "95% intervals over people (one seed)"
    text = f"95% intervals of the mean over {seeds.max()} seeds, none where they are too much alike"
    return text if seeds.min() == seeds.max() else f"{text}, or over people for what has one seed only"


def distinguished(
    series: str, order: Sequence[str], colours: Sequence[str] = COLOURS, shapes: Any = alt.Undefined, **legend: Any
) -> dict[str, Any]:
    """Encodings that tell the members of `series` apart by colour and by shape, in one legend; a long name of two parts
    has two lines there.
    """
    longest = max(map(len, order), default=0)
    lines = "split(replace(datum.label, ': ', ':|'), '|')" if longest > LONG else alt.Undefined
    looks: dict[str, Any] = {
        "title": None,
        "legend": alt.Legend(**{"columns": 4 if longest < 24 else 2, "labelExpr": lines} | legend),
    }
    # The same domain stated twice makes one legend of colour and shape.
    return {
        "color": alt.Color(f"{series}:N", scale=alt.Scale(domain=order, range=colours), **looks),
        "shape": alt.Shape(f"{series}:N", scale=alt.Scale(domain=order, range=shapes), **looks),
    }


def axis(format: str) -> alt.Axis:
    """An axis with room between its labels and as many digits as tell them apart."""
    _, sign, kind, _ = numerals.parts(format)
    return alt.Axis(format=sign + (kind if kind == "%" else ",~f"), tickCount=8)


def none(what: str) -> Sentences:
    """Said instead of an empty chart."""
    what = what.replace("_", " ")
    noun = what.split(" with ")[0].split(" that ")[0]
    article = "" if noun.endswith("s") and not noun.endswith("ss") else "an " if what[0] in "aeio" else "a "
    return say(f"None of these settings has {article}{what}.")


def finish(chart: Chart, title: str, description: str) -> Chart:
    """The looks that all charts share: a title that says something, below it what the marks mean, and both as the
    description for those who cannot see it. A chart without panels has the usual width unless it states its own.
    """
    title, description = shown(title), shown(description)
    chart["title"] = alt.Title(textwrap.wrap(title, 86), subtitle=textwrap.wrap(description, 110))
    chart["description"] = f"{title}. {description}"
    chart["config"] = alt.Config(**LOOKS)  # item by item: `properties` would copy the chart with all its layers
    if isinstance(chart, alt.Chart | alt.LayerChart) and chart.width is alt.Undefined:
        chart["width"] = WIDTH
    # A host that has chosen no renderer gets that of `setup` for this chart alone: Altair's asks a network for Vega.
    if alt.renderers.active == "default":
        object.__setattr__(chart, "_repr_mimebundle_", lambda **_: render(chart.to_dict()))
    return chart
