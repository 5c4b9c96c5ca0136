"""Extraction of all texts and tables from a notebook, page, table or text, including nested and encoded parts.

Parts that are drawn as pixels, compressed or encrypted are not extracted.
"""

import base64
import binascii
import csv
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html.parser import HTMLParser
from itertools import chain
from os.path import commonprefix
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class TextTable(NamedTuple):
    """Rows of cells as plain text; each row has as many cells as there are `names`.

    `listed` states whether the rows are a table.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    listed: bool = True


Node = tuple[str, "str | TextTable"]  # a place, and its text or table


def extract(suffix: str, text: str) -> Iterator[Node]:
    """Return all texts and tables of a file; the ending of the file's name determines how they are extracted."""
    if suffix in (".ipynb", ".json"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return _content("text", text)
        return _notebook(document) if suffix == ".ipynb" and isinstance(document, dict) else _json("data", document)
    if suffix == ".csv":
        return chain([("text", text)], _frames("table", text))
    return _page("", text) if suffix in (".html", ".htm", ".svg", ".xml") else _content("text", text)


def _notebook(notebook: Mapping[str, Any]) -> Iterator[Node]:
    yield from _json("notebook", _without(notebook, "cells"))
    for number, cell in enumerate(notebook.get("cells", ()), 1):
        place = f"cell {number}"
        yield from _content(f"{place}, source", _joined(cell.get("source", "")))
        yield from _json(place, _without(cell, "source", "outputs"))
        for count, output in enumerate(cell.get("outputs", ()), 1):
            here = f"{place}, output {count}"
            yield from _json(here, _without(output, "text", "data", "traceback"))
            yield from _content(f"{here}, {output.get('name', 'text')}", _joined(output.get("text", "")))
            traceback = "\n".join(output.get("traceback", ()))
            yield from _content(f"{here}, traceback", re.sub(r"\x1b\[[\d;]*m", "", traceback))
            for kind, data in output.get("data", {}).items():
                data = data if "json" in kind else _joined(data)
                place_of = f"{here}, {kind}"
                yield from _content(place_of, data) if isinstance(data, str) else _json(place_of, data)


def _without(parent: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in parent.items() if key not in keys}


def _joined(lines: Any) -> Any:
    return "".join(lines) if isinstance(lines, list) and all(isinstance(line, str) for line in lines) else lines


def _json(place: str, value: Any) -> Iterator[Node]:
    """Yield all words of a JSON value as one text, and the lists and columns of the value as tables."""
    yield place, "\n".join(_scalars(value))
    yield from _inside(place, value)


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _scalars(inner)
    elif value is not None:
        yield str(value)


def _inside(place: str, value: Any) -> Iterator[Node]:
    if isinstance(value, str):
        if len(value) >= 24 or "\n" in value or ";" in value:
            yield from _content(place, value)
    elif isinstance(value, dict):
        plain = _plain(value)
        if len(plain) > 1:
            yield place, TextTable(tuple(map(str, plain)), (tuple(map(normalize_cell, plain.values())),), listed=False)
        yield from _fields(place, value)
    elif isinstance(value, list):
        if all(isinstance(row, dict) for row in value):
            yield place, _table_of([_plain(row) for row in value])
            features = [row["properties"] for row in value if isinstance(row.get("properties"), dict)]  # of a map
            yield place, _table_of(features)
        elif all(isinstance(row, list) for row in value):
            yield place, _table((), [[cell for cell in row if not isinstance(cell, CONTAINERS)] for row in value])
        elif not any(isinstance(cell, CONTAINERS) for cell in value):
            yield place, TextTable(("",) * len(value), (tuple(map(normalize_cell, value)),), listed=False)
        if all(isinstance(line, str) for line in value):
            yield from _content(place, "\n".join(value))
        for inner in value:
            if isinstance(inner, dict):
                yield from _fields(place, inner)
            elif isinstance(inner, list) and not any(isinstance(cell, CONTAINERS) for cell in inner):
                yield from chain.from_iterable(
                    _inside(place, cell) for cell in inner
                )  # the row itself has been yielded above
            else:
                yield from _inside(place, inner)


def _fields(place: str, value: Mapping[str, Any]) -> Iterator[Node]:
    yield from _columns(place, value)
    for key, inner in value.items():
        each = chain.from_iterable(inner) if key == "data" and _is_split(value) else [inner]  # its rows are named
        yield from chain.from_iterable(_inside(_under(place, value, key), part) for part in each)


CONTAINERS = (dict, list)


def _under(place: str, parent: Mapping[str, Any], key: str) -> str:
    """Return the name of a place inside an object; the name contains `key` if this helps readers to find the place."""
    if key == "datasets":
        return f"{place}, chart data"
    if place.endswith("chart data"):
        return f"{place} '{key[:24]}'"
    if key == "data" and isinstance(parent[key], dict) and "values" in parent[key]:
        return f"{place}, chart data '{str(parent[key].get('name', 'inline'))[:24]}'"
    if key == "state" and "model_name" in parent:
        return f"{place}, widget state {parent['model_name']}"
    return f"{place}, {key}" if key in ("metadata", "attachments", "papermill", "widgets", "parameters") else place


def _columns(place: str, value: Mapping[str, Any]) -> Iterator[Node]:
    """Yield the tables in an object that pandas wrote by column, by row, or split into columns, index and data."""
    lists = {k: v for k, v in value.items() if isinstance(v, list) and not any(isinstance(c, dict | list) for c in v)}
    for size in {len(v) for v in lists.values()} - {0, 1}:
        same = {k: v for k, v in lists.items() if len(v) == size}
        yield place, _table(same, zip(*same.values(), strict=True))
    objects = {k: v for k, v in value.items() if isinstance(v, dict) and v and v == _plain(v)}
    if len(objects) > 1:
        yield place, _table_of(list(objects.values()))
    if objects and len({tuple(v) for v in objects.values()}) == 1:
        yield place, _table(objects, zip(*(v.values() for v in objects.values()), strict=True))
    if _is_split(value):
        labels = value.get("index") or [[]] * len(value["data"])
        rows = zip(map(_levels, labels), value["data"], strict=False)
        yield place, _table(map(" ".join, map(_levels, value["columns"])), ([*label, *row] for label, row in rows))


def _is_split(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a table that is split into columns, index and data."""
    columns, data = value.get("columns"), value.get("data")
    return isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data)


def _levels(label: Any) -> list[str]:
    """Return the levels of a heading, or of a label of the index, as texts."""
    return [*map(str, label)] if isinstance(label, list) else [str(label)]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an object that are neither objects nor lists."""
    return {key: cell for key, cell in row.items() if not isinstance(cell, dict | list)}


def _table_of(objects: Sequence[Mapping[str, Any]]) -> TextTable:
    names = list(dict.fromkeys(chain.from_iterable(objects)))
    return _table(names, [[row.get(name) for name in names] for row in objects])


def _table(names: Iterable[Any], rows: Iterable[Iterable[Any]]) -> TextTable:
    """Return the table of names and cells, aligned at the right, because cells are missing only at the left."""
    cells = [tuple(map(normalize_cell, row)) for row in rows]
    heads = tuple(map(normalize_cell, names))
    width = max([len(heads), *map(len, cells)], default=0)
    aligned = tuple(("",) * (width - len(row)) + row for row in cells) if width else ()
    return TextTable(("",) * (width - len(heads)) + heads, aligned)


def _content(place: str, text: str) -> Iterator[Node]:
    """Yield the parts of a text of unknown format: JSON, HTML, tables in aligned columns, and encoded texts."""
    markup = re.search(r"<(?:html|table|svg|div|p|pre|dl|ul|ol|iframe|script)[\s>]", text)
    if not markup:
        yield place, text
    for said in decode_base64(text):
        yield from _content(f"{place}, base64", said)
    if text.startswith("data:") and "%" in text:
        yield from _content(f"{place}, address", unquote(text))
    parsed = _parsed(text)
    for value in [parsed] if len(parsed) > 1 else parsed:
        yield from _json(place, value)
    if markup:
        yield from _page(f"{place}, ", text, own=text)
    elif not parsed or "\n" in text:
        yield from _frames(place, text)


def _parsed(text: str) -> list[Any]:
    """Return the JSON objects and lists in a text; such an object may be the whole text or a part of a script."""
    values: list[Any] = []
    end = 0
    decoder = json.JSONDecoder()
    for start in re.finditer(r"\{\s*\"|\[\s*[\[{\"\d]", text):
        if start.start() >= end:
            try:
                value, end = decoder.raw_decode(text, start.start())
                values.append(value)
            except (ValueError, RecursionError):
                continue
    return values


def _frames(place: str, text: str) -> Iterator[Node]:
    """Yield the tables in plain text: frames and series of pandas, Markdown, and values separated by commas or tabs."""
    for block in _unwrapped(text):
        lines = [line for line in block.split("\n") if line.strip() and not re.fullmatch(r"[\s|:+=-]+", line)]
        if len(lines) < 2:
            continue
        for mark in "\t,;|":
            if sum(mark in line for line in lines[:20]) > 1:
                rows = list(csv.reader((line.strip("| ") if mark == "|" else line for line in lines), delimiter=mark))
                rows = [row for row in rows if len(row) > 1]
                if rows:
                    yield place, _table(rows[0], [row for row in rows[1:] if len(row) == len(rows[0])])
        series = re.fullmatch(r"(?:Name: (.*?), )?(?:Length: \d+, )?dtype: \w+", lines[-1].strip())
        first = next((i for i, line in enumerate(lines) if re.search(r"\S\s{2,}\S", line)), len(lines))
        # The name of a single column is above the column at the right; the name of the index is below, at the left.
        above = [i for i in range(max(0, first - 2), first) if lines[i].startswith(" ")]
        start = max(0, first - 1) if series else min([*above, first])
        head, *body = _aligned(lines[start : -1 if series else None], wide=bool(series))
        if series:  # the heading, if there is one, names the index
            head, body = (head, body) if head and not head[-1] else ([], [head, *body])
            head = [*head[:-1], series[1] or ""]
        yield place, _table(head, [row for row in body if sum(map(bool, row)) > 1])


def _aligned(lines: list[str], wide: bool) -> list[list[str]]:
    """Return the cells of lines whose cells are aligned in columns.

    A column ends before a position that is blank in all lines, or before the next name. If `wide` is true, a column
    ends only before two such positions.
    """
    width = max(map(len, lines), default=0)
    lines = [line.ljust(width) for line in lines]
    inked = "".join("x" if "".join(column).strip() else " " for column in zip(*lines, strict=True))
    columns: list[tuple[int, int]] = []
    for run in re.finditer("x+", inked):
        begin, end = run.span()
        near = bool(columns) and begin - columns[-1][1] == 1
        labels = columns == [(0, begin - 1)]  # the labels are at the left, and a label may have several words
        if near and (wide or labels or lines[0][begin] == " "):
            columns[-1] = columns[-1][0], end
        elif near and not any(line[slice(*columns[-1])].strip() for line in lines[1:]):
            columns[-1] = columns[-1][0], end  # a name of several words has its last word above the cells
        else:
            columns.append((begin, end))
    return [[line[slice(*column)].strip() for column in columns] for line in lines] or [[]]


def _unwrapped(text: str) -> list[str]:
    """Return the paragraphs of a text; blocks of columns into which pandas has wrapped a table are joined."""
    blocks: list[str] = []
    for block in re.split(r"\n[^\S\n]*\n", text.replace("\r", "\n")):
        last, lines = blocks[-1].split("\n") if blocks else [], block.split("\n")
        if any(line.endswith("\\") for line in last[:2]) and len(lines) >= len(last):
            rows = list(zip(last, lines, strict=False))
            label = min(len(commonprefix(pair)) for pair in rows)  # noqa: RUF071 the labels of the rows are repeated
            width = max(map(len, last))
            blocks[-1] = "\n".join(f"{a.removesuffix(chr(92)).ljust(width)}  {b[label:]}" for a, b in rows)
        else:
            blocks.append(block)
    return blocks


class _Page(HTMLParser):
    """A parser for the tables, labels, scripts, attributes, comments and texts of a page."""

    BLOCKS = frozenset(
        "p div li tr td th h1 h2 h3 h4 h5 h6 dt dd br text title desc section summary caption pre script style".split()
    )
    KINDS = MappingProxyType(
        {"title": "labels", "desc": "labels", "pre": "pre", "style": "comments", "script": "scripts"}
    )
    QUIET = frozenset(("d", "points", "transform"))  # attributes of shapes, which are long and hold only numbers
    SAID = frozenset(("aria-label", "aria-description", "title", "alt"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[TextTable] = []
        self.said: dict[str, list[str]] = {name: [] for name in ("labels", "scripts", "pre", "comments", "texts")}
        self.attributes: list[str] = []
        self.data: list[dict[str, str | None]] = []
        self.text: list[str] = []
        self.open: list[dict[str, Any]] = []
        self.raw = ""
        self.feed(text)
        self.close()
        self._flush()
        while self.open:
            self._end_table()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and name not in self.QUIET:
                (self.said["labels"] if name in self.SAID else self.attributes).append(value)
        data = {name.removeprefix("data-"): value for name, value in attributes if name.startswith("data-")}
        if len(data) > 1:
            self.data.append(data)
        if tag in self.BLOCKS and tag != "dd":
            self._flush()
        if tag in ("script", "style", "pre", "title", "desc", "text"):
            self.raw = tag
        elif tag == "table":
            self.open.append({"rows": [], "cell": None})
        elif self.open and tag in ("tr", "td", "th"):
            self._end_cell()
            table = self.open[-1]
            if tag == "tr" or not table["rows"]:
                table["rows"].append([])
            if tag != "tr":
                span = dict(attributes).get("colspan") or ""
                table["cell"], table["tag"], table["span"] = [], tag, int(span) if span.isdigit() else 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "dt":
            self.text.append(": ")
        elif tag in self.BLOCKS:
            self._flush()
            self.raw = "" if tag == self.raw else self.raw
        if self.open and tag in ("td", "th", "tr"):
            self._end_cell()
        elif self.open and tag == "table":
            self._end_table()

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self.open and self.open[-1]["cell"] is not None:
            self.open[-1]["cell"].append(data)

    def handle_comment(self, data: str) -> None:
        self.said["comments"].append(data)

    unknown_decl = handle_pi = handle_comment

    def _flush(self) -> None:
        text, self.text = "".join(self.text), []
        if text.strip():
            self.said[self.KINDS.get(self.raw, "texts")].append(text)

    def _end_cell(self) -> None:
        table = self.open[-1]
        if table["cell"] is not None:
            table["rows"][-1] += [("".join(table["cell"]), table["tag"])] * min(table["span"], 1000)
            table["cell"] = None

    def _end_table(self) -> None:
        self._end_cell()
        names: list[str] = []
        rows: list[list[str]] = []
        for row in self.open.pop()["rows"]:
            cells = [cell.strip() for cell, _ in row]
            if any(tag == "td" for _, tag in row):
                rows.append(cells)
            else:  # pandas names the index in a second heading, so the last word counts
                names += [""] * (len(cells) - len(names))
                names = [cell or name for cell, name in zip(cells, names, strict=False)] + names[len(cells) :]
        self.tables.append(_table(names, rows))


NESTED = re.compile(r"\n.*\S.*\n|[\[{<]|[A-Za-z0-9+/_-]{24}")  # a text that may hold nested parts


def _page(place: str, text: str, own: str = "") -> Iterator[Node]:
    """Yield the parts of HTML or SVG.

    A part must be shorter than the text `own`, so that the search for nested parts ends.
    """
    page = _Page(text)
    for number, table in enumerate(page.tables, 1):
        yield f"{place}table {number}", table
    yield f"{place}attributes", "\n".join(page.attributes)
    yield f"{place}attributes", _table_of(page.data)
    texts, labels = ([" ".join(text.split()) for text in page.said[kind]] for kind in ("texts", "labels"))
    yield f"{place}text", "\n".join(texts)
    yield f"{place}labels", "\n".join(labels)
    once = dict.fromkeys(texts)  # a page may name the same group of people in several places
    yield from ((f"{place}labels", table) for table in _labelled([*labels, *once]))
    parts = {"script": page.said["scripts"], "pre": page.said["pre"], "comment": page.said["comments"]}
    parts["attribute"] = [value for value in page.attributes if len(value) >= 24]
    parts["text"] = [value for value in page.said["texts"] if NESTED.search(value)]
    for kind, values in parts.items():
        for number, value in enumerate(values, 1):
            if len(value) < len(own or text):
                yield from _content(f"{place}{kind} {number}", value)


def _labelled(labels: Iterable[str]) -> list[TextTable]:
    """Return tables from the labels of marks that Vega writes, such as "age: 86; people: 1".

    The labels of axes and legends are left out.
    """
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for label in labels:
        if ": " in label and " titled '" not in label and not label.startswith("Title text"):
            pairs = [part.partition(": ") for part in label.split("; ")]
            if all(mark for _, mark, _ in pairs):
                tables.setdefault(tuple(name for name, _, _ in pairs), []).append([value for _, _, value in pairs])
    return [_table(names, rows) for names, rows in tables.items()]


# --- The spelling of a value ---


def normalize_cell(value: object) -> str:
    """Return a value as plain text, which is the same for 39, 39.0, "39" and " 39 "; empty for a missing value."""
    return "" if value is None or (isinstance(value, float) and value != value) else _spelled(str(value))


@lru_cache(2**17)
def _spelled(text: str) -> str:
    text = " ".join(text.split())
    if text[:1] in "-−0123456789" and text[-1:].isdigit():
        number = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("−", "-"))
        if NUMBER.fullmatch(number):
            return number.rstrip("0").rstrip(".") if "." in number and "e" not in number else number
    return text


def split_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text; a long line is split after closing brackets, so that each tuple is one line."""
    for line in re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", text).splitlines():
        yield from [line] if len(line) <= 400 else re.split(r"[)\]}]", line)


def list_unescaped(text: str) -> Iterator[str]:
    """Yield a text, and then the same text after each step that removes escapes of HTML, JSON, Python or addresses."""
    yield text
    for _ in range(2):
        for decode in (html.unescape, _unescaped, unquote):
            said = decode(text)
            if said != text:
                yield said
            text = said


def _unescaped(text: str) -> str:
    return re.sub(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))", lambda m: chr(int(m[1] or m[2], 16)), text)


def decode_base64(text: str) -> Iterator[str]:
    """Yield the texts in strings of at least 24 characters that are encoded in base64."""
    wrapped = re.fullmatch(r"\s*(?:[A-Za-z0-9+/_-]+\n)+[A-Za-z0-9+/_-]*=*\s*", text)
    for token in re.findall(r"[A-Za-z0-9+/_-]{24,}", text.replace("\n", "") if wrapped else text):
        token = token.translate({ord("-"): "+", ord("_"): "/"})
        try:
            content = base64.b64decode(token + "=" * (-len(token) % 4))
        except binascii.Error:  # the length is invalid
            continue
        try:
            said = content.decode("utf-8")
        except UnicodeDecodeError:
            said = "\0"
        yield extract_strings(content) if re.search(r"[\0-\x08\x0e-\x1f]", said) else said


def extract_strings(content: bytes) -> str:
    """Return the texts of at least six letters that `content` contains."""
    return "\n".join(run.decode() for run in re.findall(rb"[ -~]{6,}", content))
