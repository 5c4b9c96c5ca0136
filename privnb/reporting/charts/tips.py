"""Tooltips of charts without a script: the title of each mark in the SVG, and a table of the tooltips of all marks.

The text of the tooltip becomes the description of the mark, which Vega writes into the SVG. If a chart has several
panels, the first line of the text states the panel of the mark.
"""

import json
import re
from collections.abc import Mapping
from html import escape, unescape
from typing import Any

from privnb.reporting.charts.base import ID, begins_with_number

PANEL = "panel"
CONCATS = ("hconcat", "vconcat", "concat")
MARK = re.compile(
    r'<(path|rect|line|text) aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"([^>]*?)(/?)>'
)


def describe_marks(part: Any, panel: tuple[str, ...] = ()) -> Any:
    """Return a specification in which each mark with a tooltip has the tooltip as its only description.

    Parameters
    ----------
    part : dict, list or value
        A part of a Vega-Lite specification.
    panel : tuple of str
        The Vega expressions whose values together are the name of the panel that contains the part.
    """
    if isinstance(part, list):
        return [describe_marks(each, panel) for each in part]
    if not isinstance(part, dict):
        return part
    if "mark" not in part:
        panel += tuple(map(_datum, _facets(part.get("facet"))))
        return {name: _describe_within(name, value, panel) for name, value in part.items()}
    mark = part["mark"] if isinstance(part["mark"], dict) else {"type": part["mark"]}
    if not (tips := tooltips(part)):
        return part | {"mark": mark | {"aria": False}}
    channels = part["encoding"]
    own = [field for name in ("row", "column", "facet") for field in _facets(channels.get(name))]
    panel += tuple(_datum(field) for field in own)
    shown = {_datum(tip["field"]) for tip in tips}
    names = " + ', ' + ".join(name for name in panel if name not in shown)
    first = [f"{json.dumps(f'{chr(10)}{PANEL}: ')} + {names}"] * bool(names)
    lines = " + ".join([*first, *map(_line, tips), _line({"field": ID, "title": ID})])
    return part | {"encoding": part["encoding"] | {"description": {"value": {"expr": f"slice({lines}, 1)"}}}}


def _describe_within(name: str, value: Any, panel: tuple[str, ...]) -> Any:
    """Return a property of a specification with described marks.

    The panels of a concatenation are described by their titles.
    """
    if name in ("data", "datasets", "config", "encoding"):
        return value
    if name not in CONCATS:
        return describe_marks(value, panel)
    titles = [_panel_title(each) for each in value]
    several = len(set(titles)) > 1
    return [
        describe_marks(each, panel + (json.dumps(title),) * bool(title and several))
        for each, title in zip(value, titles, strict=True)
    ]


def _panel_title(panel: Mapping[str, Any]) -> str:
    """Return the title of a panel on one line; empty if the panel has no title."""
    title = panel.get("title") or ""
    text = title.get("text", "") if isinstance(title, dict) else title
    return text if isinstance(text, str) else ", ".join(text)


def _facets(facet: Any) -> list[str]:
    """Return the fields by which a facet separates its panels."""
    if not isinstance(facet, dict):
        return []
    fields = [facet, *(facet.get(name) for name in ("row", "column"))]
    return [each["field"] for each in fields if isinstance(each, dict) and "field" in each]


def _datum(field: str) -> str:
    return f"datum[{json.dumps(field)}]"


def tooltips(layer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of the tooltip of a layer."""
    tips = layer.get("encoding", {}).get("tooltip", [])
    return [tips] if isinstance(tips, dict) else tips


def _line(tip: Mapping[str, Any]) -> str:
    """Return the expression of a tooltip's line; the line begins with a line break, and is empty without a value."""
    value = _datum(tip["field"])
    numbers = ",.12~g" if tip.get("type") == "quantitative" else ""
    written = f"format({value}, {json.dumps(tip.get('format', numbers))})" if tip.get("format", numbers) else value
    beginning = json.dumps(f"\n{_title(tip)}: ")
    return f"(isValid({value}) ? {beginning} + {written} : '')"


def _title(tip: Mapping[str, Any]) -> str:
    title = tip.get("title") or tip["field"]
    return title if isinstance(title, str) else " ".join(title)


def add_titles(svg: str) -> str:
    """Return a drawing in which the description of each mark is its title, which browsers show next to the pointer."""

    def title(found: re.Match[str]) -> str:
        tag, label, rest, closed = found.groups()
        text = "\n".join(line for line in unescape(label).split("\n") if not line.startswith(f"{ID}: "))
        return f"<{tag}{rest}><title>{escape(text, quote=False)}</title>" + f"</{tag}>" * bool(closed)

    return MARK.sub(title, svg)


def list_marks(spec: Mapping[str, Any], svg: str) -> dict[str, Any]:
    """Return the descriptions of the marks of a drawing as a table, with `columns`, `data` and the `ids` of numbers.

    If other cells, or the titles of columns, already state the panel of each mark, the table has no column for panels.
    """
    titles = {_title(tip) for layer in layers(spec) for tip in tooltips(layer)} | {ID, PANEL}
    longest_first, rows = sorted(titles, key=len, reverse=True), []
    for found in MARK.finditer(svg):
        lines = unescape(found[2]).split("\n")
        named = (
            (next((title for title in longest_first if line.startswith(f"{title}: ")), ""), line) for line in lines
        )
        row = {title: line.removeprefix(f"{title}: ") for title, line in named}
        if row not in rows:
            rows.append(row)
    if all(_names_panel(row) for row in rows):
        rows = [{title: text for title, text in row.items() if title != PANEL} for row in rows]
    columns = [*dict.fromkeys(title for row in rows for title in row if title != ID)]
    cells = [[row.get(title, "") for title in columns] for row in rows]
    ids = [[row.get(ID, "") * begins_with_number(cell) for cell in line] for row, line in zip(rows, cells, strict=True)]
    return {"columns": [[title] for title in columns], "index": [], "data": cells, "ids": ids}


def _names_panel(row: Mapping[str, str]) -> bool:
    """Return whether a row states its panel even without the line for the panel."""
    others = {text for pair in row.items() if pair[0] != PANEL for text in pair}
    return row.get(PANEL, "") in {"", *others}


def layers(part: Any) -> list[dict[str, Any]]:
    """Return all parts of a specification that have a `mark`."""
    if isinstance(part, list):
        return [layer for each in part for layer in layers(each)]
    if not isinstance(part, dict):
        return []
    here = [part] if "mark" in part and "encoding" in part else []
    within = ("layer", *CONCATS, "spec")
    return [*here, *(layer for name in within for layer in layers(part.get(name)))]
