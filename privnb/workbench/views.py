"""How the nouns of the workbench show themselves in a notebook: sentences first, one table, and the rest folded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from privnb.runtime.names import shown
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import Part, say, table_html

# What somebody asks a noun for that has another one, by its name.
ELSEWHERE = {
    **dict.fromkeys(
        ["risks", "utility"],
        'A release has it: `table.sanitize("k=10")` makes one, and `table.sanitize(Identity())` the table as it is.',
    ),
    "write": 'A release has it: try `table.sanitize("k=10").write(FILE)`, or `comparison.choose().write(FILE)`.',
    **dict.fromkeys(["sanitize", "compare", "decide", "set_roles"], "A table has it; `privnb.read(...)` makes one."),
    "choose": "A comparison has it: try `table.compare(SANITIZERS).choose()`.",
    "report": "It is a function: try `privnb.report(table, FOLDER)`.",
    "explore": "It is a function: try `privnb.explore(table)`.",
    "save": "A table has it; a release is saved by `write(FILE)`.",
    **dict.fromkeys(
        ["head", "tail", "columns", "shape", "describe", "loc", "iloc", "to_csv", "to_parquet", "to_html"],
        "A DataFrame has it: try `.frame`.",
    ),
}
# Notebooks align cells to the right, which no text can be read in.
STYLE = "<style>.privnb-view td, .privnb-view th {text-align: left; vertical-align: top; white-space: normal}</style>"


class Noun:
    """What `read` and its methods return: an attribute that it lacks is looked up in `ELSEWHERE`."""

    def __getattr__(self, name: str) -> Any:
        if name in ELSEWHERE:
            raise AttributeError(f"{type(self).__name__} has no `{name}`. {ELSEWHERE[name]}", name=name, obj=self)
        return object.__getattribute__(self, name)  # raises the error of Python, or of the property itself


def view(sentences: Sequence[Part], table: pd.DataFrame, folded: Mapping[str, pd.DataFrame] | None = None) -> str:
    """Return HTML: sentences, a table, and further tables behind their titles.

    Parameters
    ----------
    sentences : sequence of str or of lists of str
        The answer first; see `sentences.say`.
    table : DataFrame
        What everybody looks at.
    folded : dict of str to DataFrame, optional
        What some look at, by a title that says what it is. Empty tables are left out.
    """
    parts = [say(*sentences)._repr_html_(), table_html(_written(table))]
    for title, rows in (folded or {}).items():
        if len(rows):
            parts.append(f"<details><summary>{shown(escape(title))}</summary>{table_html(_written(rows))}</details>")
    return f'<div class="privnb-view">{STYLE}{"".join(parts)}</div>'


def _written(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its shares, columns of floats, and its truth values as people read them."""
    written = {name: table[name].map(_share) for name in table.select_dtypes("float")}
    written |= {name: table[name].map({True: "yes", False: "no"}) for name in table.select_dtypes("bool")}
    return table.assign(**written)


def _share(value: float) -> str:
    return "unknown" if math.isnan(value) else percent(value)
