"""The decorator of functions that draw charts, the sentence for an empty chart, and panels."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import ParamSpec

import altair as alt
import pandas as pd

from privnb.reporting.charts.base import Drawing, none, style_chart
from privnb.reporting.charts.looks import WIDTH
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import validated

Drawn = tuple[Drawing, str, str]  # the marks of a chart, its title and its description, see `style_chart`
Given = ParamSpec("Given")


class Nothing(Exception):
    """An exception that ends a function that has nothing to draw, with a sentence for the reader.

    The sentence states `what` is missing, or is the sentence `why`.
    """

    def __init__(self, what: str = "", *, why: str = "") -> None:
        self.said = say(why) if why else none(what)


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the rows of a chart.

    If there are no rows, raises `Nothing` with a sentence that `what` is missing.
    """
    if rows.empty:
        raise Nothing(what)
    return rows


def drawing(function: Callable[Given, Drawn]) -> Callable[Given, Drawing | Sentences]:
    """Return a function that draws a chart: it checks the arguments, and gives the result the common style.

    If the function raises `Nothing`, the result is a sentence.
    """
    checked = validated(function)

    @functools.wraps(function)
    def call(*arguments: Given.args, **named: Given.kwargs) -> Drawing | Sentences:
        try:
            return style_chart(*checked(*arguments, **named))
        except Nothing as nothing:
            return nothing.said

    said = "Altair chart or Sentences\n    A sentence if there is nothing to draw."
    call.__doc__ = f"{inspect.getdoc(function)}\n\nReturns\n-------\n{said}\n"
    return call


def panel(chart: Drawing, title: str, width: int = WIDTH) -> Drawing:
    """Return a chart as one of several panels, with a title of the panel."""
    return chart.properties(title=alt.Title(title, fontSize=12), width=width)


def stack_panels(panels: Sequence[Drawing]) -> Drawing:
    """Return a chart of panels below each other, with the same horizontal axis; a single panel has no title."""
    return alt.vconcat(*panels).resolve_scale(x="shared") if len(panels) > 1 else panels[0].properties(title="")
