"""The decorator that turns a function into a chart, the sentence for an empty chart, and panels."""

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
    """The end of a function that has nothing to draw: it names what is missing, or states `why` in a sentence."""

    def __init__(self, what: str = "", *, why: str = "") -> None:
        self.said = say(why) if why else none(what)


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the rows of a chart. Raises `Nothing`, with a sentence that `what` is missing, if there are no rows."""
    if rows.empty:
        raise Nothing(what)
    return rows


def drawing(function: Callable[Given, Drawn]) -> Callable[Given, Drawing | Sentences]:
    """Make a function draw a chart: its arguments are checked, and its result is given the common style.

    The result is a sentence if the function raises `Nothing`.
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
    """Return a chart as one of several panels, with its own title."""
    return chart.properties(title=alt.Title(title, fontSize=12), width=width)


def stack_panels(panels: Sequence[Drawing]) -> Drawing:
    """Return panels below one another that share an axis; a single panel loses its title."""
    return alt.vconcat(*panels).resolve_scale(x="shared") if len(panels) > 1 else panels[0].properties(title="")
