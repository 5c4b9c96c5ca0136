"""What makes a chart of a function: what to say where there is nothing to draw, and panels."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import ParamSpec

import altair as alt
import pandas as pd

from privnb.reporting.charts.base import Drawing, finish, none
from privnb.reporting.charts.looks import WIDTH
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import validated

Drawn = tuple[Drawing, str, str]  # the marks of a chart, its title and its description, see `finish`
Given = ParamSpec("Given")


class Nothing(Exception):
    """There is nothing to draw: of what there is none, or `why`, in a sentence."""

    def __init__(self, what: str = "", *, why: str = "") -> None:
        self.said = say(why) if why else none(what)


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the rows of a chart. Without any the chart is a sentence that there is no `what`: raises `Nothing`."""
    if rows.empty:
        raise Nothing(what)
    return rows


def drawing(function: Callable[Given, Drawn]) -> Callable[Given, Drawing | Sentences]:
    """Make a chart of a function: its arguments are checked, and what it returns is finished. A sentence where the
    function raises `Nothing`.
    """
    checked = validated(function)

    @functools.wraps(function)
    def call(*arguments: Given.args, **named: Given.kwargs) -> Drawing | Sentences:
        try:
            return finish(*checked(*arguments, **named))
        except Nothing as nothing:
            return nothing.said

    said = "Altair chart or Sentences\n    A sentence where there is nothing to draw."
    call.__doc__ = f"{inspect.getdoc(function)}\n\nReturns\n-------\n{said}\n"
    return call


def panel(chart: Drawing, title: str, width: int = WIDTH) -> Drawing:
    """One panel of several, with a title of its own."""
    return chart.properties(title=alt.Title(title, fontSize=12), width=width)


def stacked(panels: Sequence[Drawing]) -> Drawing:
    """Panels below one another that share an axis; one alone without its title."""
    return alt.vconcat(*panels).resolve_scale(x="shared") if len(panels) > 1 else panels[0].properties(title="")
