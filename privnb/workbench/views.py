"""The views of the workbench's objects in a notebook: sentences, a visible table, and folded tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from privnb.runtime.names import escape_invisible
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import Part, say, table_html

# Hints for attributes that other objects have, by the names of the attributes.
ELSEWHERE = {
    **dict.fromkeys(
        ["risks", "utility"],
        'A release has this method. `table.sanitize("k=10")` makes one, `table.sanitize(Identity())` the original.',
    ),
    "write": 'A release has it. Try `table.sanitize("k=10").write(FILE)` or `comparison.choose().write(FILE)`.',
    **dict.fromkeys(
        ["sanitize", "compare", "decide", "assess", "set_roles"],
        "A table has this method; `privnb.read(...)` makes one.",
    ),
    "choose": "A comparison has this method. Try `table.compare(SANITIZERS).choose()`.",
    "report": "This is a function. Try `privnb.report(table, FOLDER)`.",
    "explore": "This is a function. Try `privnb.explore(table)`.",
    "save": "A table has this method; `write(FILE)` saves a release.",
    **dict.fromkeys(
        ["head", "tail", "columns", "shape", "describe", "loc", "iloc", "to_csv", "to_parquet", "to_html"],
        "A DataFrame has this attribute. Try `.frame`.",
    ),
}
# Notebooks align cells to the right, which makes texts hard to read.
STYLE = "<style>.privnb-view td, .privnb-view th {text-align: left; vertical-align: top; white-space: normal}</style>"


class Noun:
    """The base class of the objects of the workbench.

    If an attribute does not exist but is a key of `ELSEWHERE`, the error states a hint.
    """

    def __getattr__(self, name: str) -> Any:
        if name in ELSEWHERE:
            raise AttributeError(f"{type(self).__name__} has no `{name}`. {ELSEWHERE[name]}", name=name, obj=self)
        return object.__getattribute__(self, name)  # raises the error of Python, or of the property


def view(sentences: Sequence[Part], table: pd.DataFrame, folded: Mapping[str, pd.DataFrame] | None = None) -> str:
    """Return the HTML of sentences, a visible table, and folded tables, which a click on their titles unfolds.

    Parameters
    ----------
    sentences : sequence of str or of lists of str
        The sentences, beginning with the answer; see `sentences.say`.
    table : DataFrame
        The table that is always visible.
    folded : dict of str to DataFrame, optional
        The folded tables, by title. Empty tables are left out.
    """
    parts = [say(*sentences)._repr_html_(), table_html(_written(table))]
    for title, rows in (folded or {}).items():
        if len(rows):
            parts.append(
                f"<details><summary>{escape_invisible(escape(title))}</summary>{table_html(_written(rows))}</details>"
            )
    return f'<div class="privnb-view">{STYLE}{"".join(parts)}</div>'


def _written(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which shares (columns of floats) and truth values are formatted for people."""
    written = {name: table[name].map(_share) for name in table.select_dtypes("float")}
    written |= {name: table[name].map({True: "yes", False: "no"}) for name in table.select_dtypes("bool")}
    return table.assign(**written)


def _share(value: float) -> str:
    return "unknown" if math.isnan(value) else write_percent(value)
