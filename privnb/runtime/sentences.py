"""Sentences and tables for people, which show names and values as plain text and never as markup.

A plain text is escaped when it is shown. Only `Markup` objects, which templates and functions such as `strong` return,
keep their HTML elements. A value of a table therefore never becomes an element, a link or a formula in a notebook or a
page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from markupsafe import Markup, escape

from privnb.runtime.lazy import pd
from privnb.runtime.names import escape_invisible

MIME = "application/vnd.privnb+json"  # the type of an output's data in a notebook, which pages render
Part = str | Sequence[str]  # a paragraph, or the items of a list
NO_BREAK_SPACES = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
OPEN = '<div class="text mathjax_ignore">'  # the second class prevents formulas between two $


def join_names(names: Sequence[str], conjunction: str = "and") -> str:
    """Return names as a list in a sentence, with commas or, if a name contains a comma, with semicolons between them.

    `conjunction` is the word before the last name.

    >>> join_names(["a", "b", "c"]), join_names(["Mondrian, k = 2", "Mondrian, k = 9", "Anatomy"])
    ('a, b and c', 'Mondrian, k = 2; Mondrian, k = 9; Anatomy')
    """
    *first, last = names
    if first and any("," in name for name in names):
        return "; ".join([*first, last])
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def strong(text: object) -> Markup:
    """Return a text in bold.

    >>> strong("a < b")
    Markup('<strong>a &lt; b</strong>')
    """
    return Markup("<strong>{}</strong>").format(text)


def code(text: object) -> Markup:
    """Return a text as the HTML element for code."""
    return Markup("<code>{}</code>").format(text)


def strip_markup(part: str) -> str:
    """Return a text without its markup.

    >>> strip_markup(Markup("<strong>All</strong> of &lt;b&gt;")), strip_markup("a < b")
    ('All of <b>', 'a < b')
    """
    if not isinstance(part, Markup):
        return part
    for space in NO_BREAK_SPACES:  # `striptags` would replace them by spaces at which a line may break
        part = part.replace(space, Markup(f"&#{ord(space)};"))
    return part.striptags()


def list_lines(parts: Sequence[Part]) -> list[str]:
    """Return each paragraph and each item of a list as a plain text.

    >>> list_lines([Markup("<strong>All</strong> of them."), ["a", "b"]])
    ['All of them.', 'a', 'b']
    """
    return [
        strip_markup(line) for line in chain.from_iterable([part] if isinstance(part, str) else part for part in parts)
    ]


class Sentences:
    """Paragraphs and lists that a notebook shows.

    Parameters
    ----------
    *parts : str or list of str
        A text is a paragraph, and a list of texts is a list of items.
    """

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    @property
    def data(self) -> str:
        """The sentences as plain text, with a blank line between paragraphs and a dash before each item of a list."""
        return "\n\n".join(
            strip_markup(part) if isinstance(part, str) else "\n".join(f"- {strip_markup(item)}" for item in part)
            for part in self.parts
        )

    @property
    def content(self) -> dict[str, Any]:
        """The sentences as plain values, which a page reads from an executed notebook."""
        return {"parts": [inline(part) if isinstance(part, str) else [*map(inline, part)] for part in self.parts]}

    def __repr__(self) -> str:
        return self.data

    def _repr_html_(self) -> str:
        return f"{OPEN}{''.join(map(_html, self.parts))}</div>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {"text/plain": self.data, "text/html": self._repr_html_(), MIME: self.content}


@dataclass(frozen=True, eq=False)
class FullTable:
    """A table that a notebook shows in full.

    Parameters
    ----------
    table : DataFrame
        The table. The index of the table is shown unless it only numbers the rows.
    title : str
        The text that replaces the table in plain text.
    ids : DataFrame, optional
        A table of the same shape with the ids of the rows of results from which each number was computed; cells without
        ids are empty.
    """

    table: pd.DataFrame
    title: str
    ids: pd.DataFrame | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether the index of the table is shown."""
        return not isinstance(self.table.index, pd.RangeIndex)

    @property
    def content(self) -> dict[str, Any]:
        """The table as texts for a page, in the "split" form of pandas; each heading is a list of levels."""
        index = [_levels(each) for each in self.table.index] if self.is_indexed else []
        named = {"data": self.table} if self.ids is None else {"data": self.table, "ids": self.ids}
        cells = {
            name: [[*map(_text, row)] for row in table.itertuples(index=False, name=None)]
            for name, table in named.items()
        }
        return {"title": repr(self), "columns": [_levels(each) for each in self.table.columns], "index": index} | cells

    def __repr__(self) -> str:
        return escape_invisible(self.title)

    def _repr_html_(self) -> str:
        return table_html(self.table, index=self.is_indexed)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.content}


def _levels(label: object) -> list[str]:
    return [*map(_text, label)] if isinstance(label, tuple) else [_text(label)]


def _text(value: object) -> str:
    return "" if value is None or value != value else escape_invisible(str(value))


# Text between two $ must not become a formula, and sentences must not be cut off in the middle of a word.
DISPLAY = {"display.html.use_mathjax": False, "display.max_colwidth": 120}


def table_html(table: pd.DataFrame, index: bool = False) -> str:
    """Return a table as HTML that shows texts unchanged and complete; options of pandas have no effect."""
    with pd.option_context(*chain.from_iterable(DISPLAY.items())):
        return escape_invisible(table.to_html(index=index, border=0))


def say(*parts: Part) -> Sentences:
    """Return sentences that a notebook shows: each text is a paragraph, and each list of texts is a list of items.

    >>> say(Markup("<strong>All</strong> of &lt;b&gt;"), ["a", "<b>"])._repr_html_().removeprefix(OPEN)
    '<p><strong>All</strong> of &lt;b&gt;</p><ul><li>a</li><li>&lt;b&gt;</li></ul></div>'
    """
    return Sentences(*parts)


def inline(text: str) -> Markup:
    """Return a text as HTML without block elements, in which invisible characters are shown as escapes."""
    return Markup(escape_invisible(str(escape(text))))


def _html(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{inline(part)}</p>"
    return f"<ul>{''.join(f'<li>{inline(item)}</li>' for item in part)}</ul>"
