"""Sentences and tables for people, in which a name or a value stands as it is written and is nothing more.

A sentence is plain text. `say` alone makes HTML of it, and escapes all of it: what stands in a table can be no element,
no link and no formula in a notebook or a page. What our own words stress they mark with `B`, `E` and `C`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain

from privnb.runtime.lazy import pd
from privnb.runtime.names import shown

# Before and after what is bold, emphasized, or as in a terminal. Unicode keeps these characters for a program's own
# use: no text has them, where every other mark might be part of a name.
B, E, C = "\ufdd0", "\ufdd1", "\ufdd2"
MARKS = {B: ("strong", "**"), E: ("em", "*"), C: ("code", "`")}
Part = str | Sequence[str]  # a paragraph, or a list of them
OPEN = '<div class="text mathjax_ignore">'  # without the second class JupyterLab draws what stands between two $


def listed(names: Sequence[str]) -> str:
    """Names as a person lists them, apart where they have commas themselves.

    >>> listed(["a", "b", "c"]), listed(["Mondrian, k = 2", "Mondrian, k = 9", "Anatomy"])
    ('a, b and c', 'Mondrian, k = 2; Mondrian, k = 9; Anatomy')
    """
    *first, last = names
    if first and any("," in name for name in names):
        return "; ".join([*first, last])
    return f"{', '.join(first)} and {last}" if first else last


def unmarked(parts: Sequence[Part]) -> list[str]:
    """Return sentences as plain texts, without the marks of what is stressed, and lists one line each.

    >>> unmarked([f"{B}All{B} of them.", ["a", "b"]])
    ['All of them.', 'a', 'b']
    """
    lines = chain.from_iterable([part] if isinstance(part, str) else part for part in parts)
    return [re.sub("|".join(MARKS), "", line) for line in lines]


class Sentences:
    """What a notebook shows of `parts`: a text is a paragraph, a list of texts a list. `data`: as plain text."""

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    @property
    def data(self) -> str:
        """Paragraphs as Markdown writes them, with names and values as they are: to read, not to render."""
        paragraphs = [
            "\n".join(f"- {line}" for line in part) if not isinstance(part, str) else part for part in self.parts
        ]
        text = "\n\n".join(paragraphs)
        for mark, (_, written) in MARKS.items():
            text = text.replace(mark, written)
        return text

    def __repr__(self) -> str:
        return self.data

    def _repr_html_(self) -> str:
        return f"{OPEN}{''.join(map(_html, self.parts))}</div>"


@dataclass(frozen=True, eq=False)
class Page:
    """A `table` to look at in a notebook, in full, without the numbers of its rows; in plain text it is its `title`."""

    table: pd.DataFrame
    title: str

    def __repr__(self) -> str:
        return self.title

    def _repr_html_(self) -> str:
        return table_html(self.table, index=not isinstance(self.table.index, pd.RangeIndex))


# What stands between two $ is text and not a formula, and no sentence ends in the middle of a word.
DISPLAY = {"display.html.use_mathjax": False, "display.max_colwidth": 120}


def table_html(table: pd.DataFrame, index: bool = False) -> str:
    """Return a table as HTML that shows its texts as they are written, whatever options of pandas are set."""
    with pd.option_context(*chain.from_iterable(DISPLAY.items())):
        return shown(table.to_html(index=index, border=0))


def say(*parts: Part) -> Sentences:
    """Sentences to show: each of `parts` is a text, which becomes a paragraph, or a list of them.

    >>> say(f"{B}All{B} of <b>", ["a", "b"])._repr_html_().removeprefix(OPEN)
    '<p><strong>All</strong> of &lt;b&gt;</p><ul><li>a</li><li>b</li></ul></div>'
    """
    return Sentences(*parts)


def _html(part: Part) -> str:
    return (
        f"<ul>{''.join(f'<li>{_inline(line)}</li>' for line in part)}</ul>"
        if not isinstance(part, str)
        else f"<p>{_inline(part)}</p>"
    )


def _inline(text: str) -> str:
    text = shown(escape(text))
    for mark, (element, _) in MARKS.items():
        text = re.sub(f"{mark}([^{mark}]*){mark}", rf"<{element}>\1</{element}>", text).replace(mark, "")
    return text
