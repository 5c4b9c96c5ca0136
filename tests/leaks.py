"""What a page, a notebook or a table must not hold when it is shown: anything of a single person.

`scan` takes a file apart into texts and tables, wherever they hide, and puts four questions to each: planted values,
crowds of records, raw records, small counts.

A row is *record-like* if it shows a person rather than a group. With the original table at hand that is a row with

- under columns named like the original's: at least half of its attributes (and three), each by an original value or
  a label of a release; three are enough if nothing else stands beside them, and any number if moreover the same row
  comes twice, for the rows of an aggregate differ;
- or, without such names (renamed columns, loose text, lists): values of one and the same record of the original or of
  a release for two thirds of the attributes (and four), two of them in words, since numbers alone fit by chance.

It is not if it states a number of at least `fewest` people and so many are alike in the original values that it shows.
Without the original nothing is known of the attributes, and the rule is blunter: a row of three or more cells in a
table without a column that is a count or a measure by its name, unless it is a label followed by numbers only.

Not seen: what is drawn in pixels, compressed or encrypted; an aggregate of fewer attributes that is a disguise.
This module is longer than others because a notebook has many hiding places; each has a few lines in the second half.
"""

import base64
import binascii
import csv
import html
import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from html.parser import HTMLParser
from itertools import chain, islice
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Leak:
    """Something of a single person in a file; `evidence` says where to look without repeating it."""

    file: str
    place: str  # "cell 4, output 1, chart data 'data-3'"
    what: str
    evidence: str

    def __str__(self):
        return f"{self.file}: {self.place}: {self.what} ({self.evidence})"


class Table(NamedTuple):
    """Rows of cells as plain text, all as long as `names`. `listed`: made to be read as a table, no loose object."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    listed: bool = True


def scan(path, *, original=None, released=(), canaries=(), fewest=10, rows=12):
    """All leaks in a file or, if `path` is a folder, in every file below it; an empty list if there are none.

    `.ipynb`, `.html`, `.svg`, `.csv` and `.json` are taken apart; anything else is read as text. `original`: DataFrame
    of the records to protect. `released`: DataFrames, the releases of which rows may be shown that `fewest` rows are
    like. `canaries`: values that must not occur at all (strings), and values that must not occur in one row, line or
    label together (tuples).
    `fewest`: the smallest number of people that may be shown. `rows`: the largest number of record-like rows in one
    table, list or text.

    Raises ValueError for an empty canary and FileNotFoundError for a path that is not there.
    """
    known = _Known(original, released, fewest)
    words, tuples = _planted(canaries)

    @cache  # a chart stands in a notebook, on its page and on the index
    def asked(node):
        records = list(islice(known.records(node), rows + 1))
        planted = list(_canaries(node, words, tuples))
        return planted, [*_crowds(records, rows), *_raw(records), *_small_counts(node, known, fewest)]

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is nothing to scan at {path}.")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    leaks = {}
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        for place, what, evidence in _scan_file(file, name, asked, words):
            for word in words:
                place = re.sub(re.escape(word), "…", place, flags=re.IGNORECASE)
            leaks.setdefault((name, place, what), Leak(name, place, what, evidence))
    return list(leaks.values())


def shown(report):
    """The files of a report that are looked at: its pages, notebooks and tables."""
    return [path for path in sorted(report.rglob("*")) if path.suffix in (".html", ".ipynb", ".csv")]


def scan_report(report, **known):
    """What `scan` finds in each of them, as texts."""
    return [str(leak) for leak in scan(report, **known)]


def _scan_file(file, name, asked, words):
    content = file.read_bytes()
    text = content.decode("utf-8", errors="replace")
    seen = False
    for place, node in chain([("file name", name)], _open(file.suffix.lower(), text)):
        planted, others = asked(node)
        seen = seen or bool(planted)
        yield from ((place, *leak) for leak in planted + others)
    if not seen:  # nothing that the walk has opened, yet perhaps a corner that it does not know
        readable = text if "\ufffd" not in text else _printable(content)
        for node in chain([readable], _base64(readable)):
            yield from (("text of the file", *leak) for leak in _canaries(node, words, ()))


# --- What is looked for ---


def _planted(canaries):
    words, tuples = [], []
    for canary in canaries:
        values = canary if isinstance(canary, tuple) else (canary,)
        if not values or not all(_cell(value) for value in values):
            raise ValueError(f"a canary must not be empty, got {canary!r}. Leave it out, or plant a value.")
        if isinstance(canary, tuple):
            tuples.append(tuple(_cell(value) for value in canary))
        else:
            words.append(str(canary).casefold())
    return words, tuples


def _canaries(node, words, tuples):
    """Planted values, as they are or escaped for HTML, JSON or an address."""
    if isinstance(node, Table):
        for row in node.rows if tuples else ():
            for values in tuples:
                if set(values) <= set(row):
                    yield "planted combination of values", _shortened(*values)
        return
    for text in _readings(node):
        folded = text.casefold()
        for word in words:
            if word in folded and (_is_word(word) or re.search(_alone(word), folded)):
                yield "planted value", _shortened(word)
        for values in tuples:
            if all(value in text for value in values):
                patterns = [_alone(value) for value in values]
                lines = (line for line in _lines(text) if all(value in line for value in values))
                if any(all(re.search(pattern, line) for pattern in patterns) for line in lines):
                    yield "planted combination of values", _shortened(*values)


def _crowds(records, limit):
    if len(records) > limit:
        yield f"more than {limit} record-like rows", f"row {records[0][0]} to row {records[-1][0]} and perhaps more"


def _raw(records):
    for number, attributes, raw in records:
        if raw:
            yield "raw record", f"row {number}: {len(attributes)} attributes: {', '.join(attributes[:4])}, …"
            return


def _small_counts(node, known, fewest):
    """Counts of 1 to `fewest` - 1 people, by the name of column or row, or in a grid of one attribute by another."""
    if not isinstance(node, Table) or not node.listed or not node.names:
        return
    names = [name.casefold() for name in node.names]
    columns = [i for i, name in enumerate(names) if _counts_people(name) and name not in known.attributes]
    columns += _unnamed_count(names, known.attributes) + known.grid(node)
    long = "measure" in names and "value" in names and (names.index("measure"), names.index("value"))
    small = []
    for number, row in enumerate([node.names, *node.rows]):
        cells = [(names[i], row[i]) for i in columns] if number else []
        if long and _counts_people(row[long[0]]):
            cells.append((row[long[0]], row[long[1]]))
        if _counts_people(row[0]) and all(NUMBER.fullmatch(cell) for cell in row[1:]):
            cells += [(row[0], cell) for cell in row[1:]]
        small += [(number, name) for name, cell in cells if _is_small(cell, fewest)]
    if small:
        where = f"first in row {small[0][0]}" if small[0][0] else "in the heading"
        yield f"fewer than {fewest} people", f"{len(small)} counts of '{small[0][1] or 'no name'}', {where}"


COUNT = re.compile(r"^(?:people|counts?|n|size|__count)$|people|persons|records")
NO_COUNT = re.compile(r"\b(?:shares?|rates?|ratio|fraction|per|percent|proportion|probability|mean|average|median)\b|%")
MEASURE = re.compile(
    NO_COUNT.pattern
    + r"|value|measure|printed|published|baseline|worst|difference|tolerance|score|accuracy|gain|loss|risk"
    r"|utility|decline|^(?:low|high|min|max|std|default|meaning)$"
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _all_numbers(cells):
    return all(NUMBER.fullmatch(cell) for cell in cells if cell)


def _counts_people(name):
    name = name.casefold().replace("_", " ") if not name.startswith("__") else name
    return bool(COUNT.search(name)) and not NO_COUNT.search(name)


def _unnamed_count(names, attributes):
    """The last column if it has no telling name and all before it are attributes: what `groupby(...).size()` leaves."""
    groups = [name for name in names[:-1] if name]
    alone = names and groups and names[-1] in ("", "0", "value", "values") and all(g in attributes for g in groups)
    return [len(names) - 1] if alone else []


def _is_small(cell, fewest):
    return bool(NUMBER.fullmatch(cell)) and float(cell).is_integer() and 0 < float(cell) < fewest


class _Columns:
    """One table of records as plain text, to look up whose values a shown row has."""

    def __init__(self, table):
        self.names = [str(name).casefold() for name in table.columns]
        self.codes, self.index = [], []
        for place in range(table.shape[1]):
            codes, values = pd.factorize(table.iloc[:, place])
            texts = np.array([*map(_cell, values), ""], dtype=object)  # a missing value has the code -1
            codes, values = pd.factorize(texts[codes])
            self.codes.append(codes)
            self.index.append({value: code for code, value in enumerate(values)})
        self.domain = dict(zip(self.names, self.index, strict=True))

    def count(self, shown):
        """How many records have all the values of `shown`, `{attribute: value}`."""
        if not shown or any(value not in self.domain.get(name, ()) for name, value in shown.items()):
            return 0
        alike = np.ones(len(self.codes[0]), dtype=bool)
        for name, value in shown.items():
            alike &= self.codes[self.names.index(name)] == self.domain[name][value]
        return int(alike.sum())

    def told(self, cells):
        """`{attribute: value}` of the record that shares most values with `cells`, a Counter."""
        hits = np.zeros(len(self.codes[0]), dtype=np.int16)
        for codes, index in zip(self.codes, self.index, strict=True):
            shown = [index[cell] for cell in cells if cell in index]
            if shown:
                mask = np.zeros(len(index), dtype=bool)
                mask[shown] = True
                hits += mask[codes]
        best = {}
        for record in np.flatnonzero(hits == hits.max(initial=1))[:50]:
            left, told = cells.copy(), {}
            for name, codes, index in zip(self.names, self.codes, self.index, strict=True):
                value = next((cell for cell in left if left[cell] and index.get(cell) == codes[record]), None)
                if value is not None:  # a cell tells one attribute only
                    left[value] -= 1
                    told[name] = value
            best = max(best, told, key=len)
        return best


class _Known:
    """What is known of the records to protect: which rows show one of them."""

    def __init__(self, original, released, fewest):
        self.original = None if original is None else _Columns(original)
        self.released = [_Columns(table) for table in released]
        self.fewest = fewest
        self.attributes = set(self.original.names) if self.original else set()
        self.needed = min(max(3, (len(self.attributes) + 1) // 2), len(self.attributes))
        self.many = max(4, -(-2 * len(self.attributes) // 3))  # where no column names help
        self.domain = {name: set() for name in self.attributes}  # values and released labels of each attribute
        for columns in [self.original, *self.released] if self.original else ():
            for name in self.attributes & set(columns.names):
                self.domain[name] |= set(columns.domain[name]) - {""}
        self.values = set().union(*self.domain.values())
        self.words = {value for value in self.values if not NUMBER.fullmatch(value)}

    def records(self, node):
        """Yield (row number, attributes shown, whether raw) for each record-like row of a table or line of a text."""
        if self.original is None:
            yield from _blunt(node) if isinstance(node, Table) else ()
        elif not isinstance(node, Table):
            yield from self._in_text(node)
        elif any(name.casefold() in self.attributes for name in chain(node.names, (row[0] for row in node.rows))):
            yield from self._named(node)
        else:
            # The first column may tell the number of the row; where there is no heading, names are the first row.
            numbered = any(node.names) and _all_numbers(node.names[:1])
            told = [i for i, name in enumerate(node.names) if not (_counts_people(name) or (numbered and i == 0))]
            for number, row in enumerate([node.names, *node.rows]):
                yield from self._unnamed(number, [row[i] for i in told])

    def grid(self, table):
        """Columns of counts in a table of one attribute (rows) by another (columns), known by its values at the top."""
        totals = {"All", "Total", ""}
        inner = [i for i, name in enumerate(table.names) if i and name not in totals]
        names, labels = {table.names[i] for i in inner}, {row[0] for row in table.rows} - totals
        across = {attribute for attribute, values in self.domain.items() if len(names) > 1 and names <= values}
        down = {attribute for attribute, values in self.domain.items() if labels and labels <= values}
        fits = across and down and len(across | down) > 1
        return inner if fits and all(re.fullmatch(r"\d*", row[i]) for row in table.rows for i in inner) else []

    def _named(self, table):
        for candidate in (table, _turned(table)):
            names = [name.casefold() for name in candidate.names]
            columns = {name: i for i, name in enumerate(names) if name in self.attributes}
            if not columns:
                continue
            counts = [i for i, name in enumerate(names) if _counts_people(name) and name not in self.attributes]
            beside = [i for i, name in enumerate(names) if name not in self.attributes]
            bare = all(names[i] in ("", "index") and _all_numbers(row[i] for row in candidate.rows) for i in beside)
            needed = min(3, self.needed) if bare else self.needed
            shown = [tuple(row[i] for i in columns.values()) for row in candidate.rows]
            repeated = bare and table.listed and len(set(shown)) < len(shown)
            if len(columns) < needed and not repeated:
                continue
            for number, (row, values) in enumerate(zip(candidate.rows, shown, strict=True), 1):
                told = {n: v for n, v in zip(columns, values, strict=True) if v in self.domain[n]}
                leaves = {n: v for n, v in told.items() if v in self.original.domain[n]}
                if (len(told) < needed and not (repeated and told)) or self._is_group(row, counts, leaves):
                    continue
                raw = len(leaves) >= needed and self.original.count(leaves) and not self._is_released(told)
                yield number, list(told), bool(raw)

    def _is_group(self, row, counts, leaves):
        stated = any(NUMBER.fullmatch(row[i]) and float(row[i]) >= self.fewest for i in counts)
        return stated and (not leaves or self.original.count(leaves) >= self.fewest)

    def _is_released(self, told):
        """Whether a release has so many rows of these values that each may be anybody's."""
        return any(columns.count(told) >= self.fewest for columns in self.released)

    def _unnamed(self, number, cells):
        cells = [cell for cell in cells if cell in self.values]
        if len(cells) < self.many:
            return
        counter = Counter(cells)
        raw = self.original.told(counter)
        public = max((columns.told(counter) for columns in self.released), key=len, default={})
        told = max(public, raw, key=len)
        words = sum(value in self.words for value in told.values())
        # A list of an attribute's values, as in its description, holds more words than one record can.
        others = sum(cell in self.words for cell in cells) - words
        if len(told) >= self.many and words > 1 and 2 * others < len(told):
            hidden = len(public) >= len(raw) and self._is_released(public)
            yield number, list(told), len(raw) >= self.many and not hidden

    def _in_text(self, text):
        upright = {}  # a record set out from top to bottom
        for number, line in enumerate([*_lines(text), "."], 1):
            if not line.strip():
                continue
            pair = PAIR.match(line)
            name = pair and pair[1].casefold()
            if upright and (name in upright or name not in self.attributes):
                yield from self._named(Table(tuple(upright), (tuple(upright.values()),), listed=False))
                upright = {}
            if name in self.attributes:
                upright[name] = _cell(pair[2].strip("'\" ,"))
            if len(line) >= 2 * self.many - 1:
                yield from self._unnamed(number, self._words_of(line))

    def _words_of(self, line):
        """The cells of a line whatever stands between them; several words are one cell if they are one value."""
        line = re.sub(r"^\s*\d+(?:\s{2,}|\s*[\t,;|])", "", line)  # the number of the row
        for chunk in filter(None, map(str.strip, BETWEEN.split(line))):
            cell = _cell(chunk)
            if cell in self.values or " " not in cell:
                yield cell
                continue
            words = cell.split(" ")
            while words:
                size = next((n for n in range(min(6, len(words)), 1, -1) if " ".join(words[:n]) in self.values), 1)
                yield _cell(" ".join(words[:size]))
                words = words[size:]


PAIR = re.compile(r"[\s{'\"]*([\w .()-]*?[\w)])['\"]?(?:\s*[:=]\s*|\s{2,})(\S.*)")
BETWEEN = re.compile(r"[\t,;|(){}\[\]'\"]|\s{2,}|\s&\s|:\s|(?<![<>!])=")


def _blunt(table):
    """The record-like rows of a table of which nothing is known but its names."""
    if not table.listed or any(
        _counts_people(name) or MEASURE.search(name.casefold().replace("_", " ")) for name in table.names
    ):
        return
    start = int(any(table.names) and table.names[0] in ("", "index"))
    for number, row in enumerate(table.rows, 1):
        label, *rest = [*filter(None, row)] or [""]
        result = not NUMBER.fullmatch(label) and all(NUMBER.fullmatch(cell.rstrip("%")) for cell in rest)
        if sum(map(bool, row[start:])) > 2 and not result:
            yield number, [], False


def _turned(table):
    """The table with rows and columns exchanged: a record set out from top to bottom."""
    names = (table.names[0], *(row[0] for row in table.rows)) if table.names else ()
    return Table(names, tuple(zip(table.names, *table.rows, strict=True))[1:], table.listed)


# --- Where it is looked for: generators of (place, text or Table) ---


def _open(suffix, text):
    if suffix in (".ipynb", ".json"):
        try:
            document = json.loads(text)
        except ValueError:
            return _content("text", text)
        walk = _notebook if suffix == ".ipynb" and isinstance(document, dict) else partial(_json, "data")
        return walk(document)
    if suffix == ".csv":
        return chain([("text", text)], _frames("table", text))
    return _page("", text) if suffix in (".html", ".htm", ".svg", ".xml") else _content("text", text)


def _notebook(notebook):
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
                walk = _content if isinstance(data, str) else _json
                yield from walk(f"{here}, {kind}", data)


def _without(parent, *keys):
    return {key: value for key, value in parent.items() if key not in keys}


def _joined(lines):
    return "".join(lines) if isinstance(lines, list) and all(isinstance(line, str) for line in lines) else lines


def _json(place, value):
    """A parsed value: all it says as one text; every list of objects, list of lists or set of columns as a table."""
    yield place, "\n".join(_scalars(value))
    yield from _inside(place, value)


def _scalars(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _scalars(inner)
    elif value is not None:
        yield str(value)


def _inside(place, value):
    if isinstance(value, str):
        if len(value) >= 24 or "\n" in value or ";" in value:
            yield from _content(place, value)
    elif isinstance(value, dict):
        plain = _plain(value)
        if len(plain) > 1:
            yield place, Table(tuple(map(str, plain)), (tuple(map(_cell, plain.values())),), listed=False)
        yield from _fields(place, value)
    elif isinstance(value, list):
        if all(isinstance(row, dict) for row in value):
            yield place, _table_of([_plain(row) for row in value])
            features = [row["properties"] for row in value if isinstance(row.get("properties"), dict)]  # of a map
            yield place, _table_of(features)
        elif all(isinstance(row, list) for row in value):
            yield place, _table((), [[cell for cell in row if not isinstance(cell, CONTAINERS)] for row in value])
        elif not any(isinstance(cell, CONTAINERS) for cell in value):
            yield place, Table(("",) * len(value), (tuple(map(_cell, value)),), listed=False)
        if all(isinstance(line, str) for line in value):
            yield from _content(place, "\n".join(value))
        for inner in value:
            if isinstance(inner, dict):
                yield from _fields(place, inner)
            elif isinstance(inner, list) and not any(isinstance(cell, CONTAINERS) for cell in inner):
                yield from chain.from_iterable(_inside(place, cell) for cell in inner)  # the row itself stands above
            else:
                yield from _inside(place, inner)


def _fields(place, value):
    yield from _columns(place, value)
    for key, inner in value.items():
        yield from _inside(_under(place, value, key), inner)


CONTAINERS = (dict, list)


def _under(place, parent, key):
    """The name of a place inside an object, where it has one that helps to find it."""
    if key == "datasets":
        return f"{place}, chart data"
    if place.endswith("chart data"):
        return f"{place} '{key[:24]}'"
    if key == "data" and isinstance(parent[key], dict) and "values" in parent[key]:
        return f"{place}, chart data '{str(parent[key].get('name', 'inline'))[:24]}'"
    if key == "state" and "model_name" in parent:
        return f"{place}, widget state {parent['model_name']}"
    return f"{place}, {key}" if key in ("metadata", "attachments", "papermill", "widgets", "parameters") else place


def _columns(place, value):
    """The ways in which pandas writes a table as one object: by column, by row, or split."""
    lists = {k: v for k, v in value.items() if isinstance(v, list) and not any(isinstance(c, dict | list) for c in v)}
    for size in {len(v) for v in lists.values()} - {0, 1}:
        same = {k: v for k, v in lists.items() if len(v) == size}
        yield place, _table(same, zip(*same.values(), strict=True))
    objects = {k: v for k, v in value.items() if isinstance(v, dict) and v and v == _plain(v)}
    if len(objects) > 1:
        yield place, _table_of(list(objects.values()))
    if objects and len({tuple(v) for v in objects.values()}) == 1:
        yield place, _table(objects, zip(*(v.values() for v in objects.values()), strict=True))
    if isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        yield place, _table(value["columns"], [row for row in value["data"] if isinstance(row, list)])


def _plain(row):
    """What an object says itself, without the objects and lists in it."""
    return {key: cell for key, cell in row.items() if not isinstance(cell, dict | list)}


def _table_of(objects):
    names = list(dict.fromkeys(chain.from_iterable(objects)))
    return _table(names, [[row.get(name) for name in names] for row in objects])


def _table(names, rows):
    """Names and cells aligned at the right: a name or a label that is left out stands at the left."""
    rows = [tuple(map(_cell, row)) for row in rows]
    names = tuple(_cell(name) for name in names)
    width = max([len(names), *map(len, rows)], default=0)
    rows = tuple(("",) * (width - len(row)) + row for row in rows) if width else ()
    return Table(("",) * (width - len(names)) + names, rows)


def _content(place, text):
    """A text of unknown format: JSON, HTML, tables set in columns, and what is encoded in it."""
    markup = re.search(r"<(?:html|table|svg|div|p|pre|dl|ul|ol|iframe|script)[\s>]", text)
    if not markup:
        yield place, text
    for decoded in _base64(text):
        yield from _content(f"{place}, base64", decoded)
    if text.startswith("data:") and "%" in text:
        yield from _content(f"{place}, address", unquote(text))
    parsed = _parsed(text)
    for value in [parsed] if len(parsed) > 1 else parsed:
        yield from _json(place, value)
    if markup:
        yield from _page(f"{place}, ", text, own=text)
    elif not parsed or "\n" in text:
        yield from _frames(place, text)


def _parsed(text):
    """The JSON objects and lists in a text: the whole of it, or parts of a script."""
    values, end = [], 0
    decoder = json.JSONDecoder()
    for start in re.finditer(r"\{\s*\"|\[\s*[\[{\"\d]", text):
        if start.start() >= end:
            try:
                value, end = decoder.raw_decode(text, start.start())
                values.append(value)
            except (ValueError, RecursionError):
                continue
    return values


def _frames(place, text):
    """Tables in plain text: pandas' frames and series, Markdown, comma- and tab-separated values."""
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
        # The name of a single column stands above it, at the right; that of the index below, at the left.
        above = [i for i in range(max(0, first - 2), first) if lines[i].startswith(" ")]
        start = max(0, first - 1) if series else min([*above, first])
        head, *body = _aligned(lines[start : -1 if series else None], wide=bool(series))
        if series:  # the heading, if there is one, names the index
            head, body = (head, body) if head and not head[-1] else ([], [head, *body])
            head = [*head[:-1], series[1] or ""]
        yield place, _table(head, [row for row in body if sum(map(bool, row)) > 1])


def _aligned(lines, wide):
    """The cells of lines that are set in columns: those end where all lines are blank, or where the next name begins.

    `wide`: a column ends only where two blanks stand side by side.
    """
    width = max(map(len, lines), default=0)
    lines = [line.ljust(width) for line in lines]
    inked = "".join("x" if "".join(column).strip() else " " for column in zip(*lines, strict=True))
    columns = []
    for run in re.finditer("x+", inked):
        begin, end = run.span()
        near = bool(columns) and begin - columns[-1][1] == 1
        labels = columns == [(0, begin - 1)]  # at the left; a label may be of several words
        if near and (wide or labels or lines[0][begin] == " "):
            columns[-1] = columns[-1][0], end
        elif near and not any(line[slice(*columns[-1])].strip() for line in lines[1:]):
            columns[-1] = columns[-1][0], end  # a name of several words, over its cells with the last of them
        else:
            columns.append((begin, end))
    return [[line[slice(*column)].strip() for column in columns] for line in lines] or [[]]


def _unwrapped(text):
    """The paragraphs of a text; a frame that pandas has broken into blocks of columns is put together again."""
    blocks = []
    for block in re.split(r"\n[^\S\n]*\n", text.replace("\r", "\n")):
        last, lines = blocks[-1].split("\n") if blocks else [], block.split("\n")
        if any(line.endswith("\\") for line in last[:2]) and len(lines) >= len(last):
            rows = list(zip(last, lines, strict=False))
            label = min(len(commonprefix(pair)) for pair in rows)  # noqa: RUF071 the rows' labels come again
            width = max(map(len, last))
            blocks[-1] = "\n".join(f"{a.removesuffix(chr(92)).ljust(width)}  {b[label:]}" for a, b in rows)
        else:
            blocks.append(block)
    return blocks


class _Page(HTMLParser):
    """Tables, labels, scripts, attributes, comments and text of a page."""

    BLOCKS = frozenset(
        "p div li tr td th h1 h2 h3 h4 h5 h6 dt dd br text title desc section summary caption pre script style".split()
    )
    QUIET = frozenset(("d", "points", "transform"))  # of shapes: long, and numbers only
    SAID = frozenset(("aria-label", "aria-description", "title", "alt"))

    def __init__(self, text):
        super().__init__()
        self.tables, self.labels, self.attributes, self.scripts, self.pre, self.comments = [], [], [], [], [], []
        self.data, self.texts, self.text, self.open, self.raw = [], [], [], [], ""
        self.feed(text)
        self.close()
        self._flush()
        while self.open:
            self._end_table()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and name not in self.QUIET:
                (self.labels if name in self.SAID else self.attributes).append(value)
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

    def handle_endtag(self, tag):
        if tag == "dt":
            self.text.append(": ")
        elif tag in self.BLOCKS:
            self._flush()
            self.raw = "" if tag == self.raw else self.raw
        if self.open and tag in ("td", "th", "tr"):
            self._end_cell()
        elif self.open and tag == "table":
            self._end_table()

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1]["cell"] is not None:
            self.open[-1]["cell"].append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    unknown_decl = handle_pi = handle_comment

    def _flush(self):
        text, self.text = "".join(self.text), []
        if text.strip():
            kinds = {"title": self.labels, "desc": self.labels, "pre": self.pre}
            kinds |= {"style": self.comments, "script": self.scripts}
            kinds.get(self.raw, self.texts).append(text)

    def _end_cell(self):
        table = self.open[-1]
        if table["cell"] is not None:
            table["rows"][-1] += [("".join(table["cell"]), table["tag"])] * min(table["span"], 1000)
            table["cell"] = None

    def _end_table(self):
        self._end_cell()
        names, rows = [], []
        for row in self.open.pop()["rows"]:
            cells = [cell.strip() for cell, _ in row]
            if any(tag == "td" for _, tag in row):
                rows.append(cells)
            else:  # pandas names the index in a second heading: the last word counts
                names += [""] * (len(cells) - len(names))
                names = [cell or name for cell, name in zip(cells, names, strict=False)] + names[len(cells) :]
        self.tables.append(_table(names, rows))


def _page(place, text, own=""):
    """HTML or SVG. `own` is a text that has led here: a part as long as the whole would lead here for ever."""
    page = _Page(text)
    for number, table in enumerate(page.tables, 1):
        yield f"{place}table {number}", table
    yield f"{place}attributes", "\n".join(page.attributes)
    yield f"{place}attributes", _table_of(page.data)
    texts, labels = ([" ".join(text.split()) for text in said] for said in (page.texts, page.labels))
    yield f"{place}text", "\n".join(texts)
    yield f"{place}labels", "\n".join(labels)
    yield from ((f"{place}labels", table) for table in _labelled(labels + texts))
    parts = {"script": page.scripts, "pre": page.pre, "comment": page.comments}
    parts["attribute"] = [value for value in page.attributes if len(value) >= 24]
    parts["text"] = [value for value in page.texts if re.search(r"\n.*\S.*\n|[\[{<]|[A-Za-z0-9+/_-]{24}", value)]
    for kind, values in parts.items():
        for number, value in enumerate(values, 1):
            if len(value) < len(own or text):
                yield from _content(f"{place}{kind} {number}", value)


def _labelled(labels):
    """Tables from the labels that Vega writes on marks: "age: 86; people: 1"; not those of its axes and legends."""
    tables = {}
    for label in labels:
        if ": " in label and " titled '" not in label and not label.startswith("Title text"):
            pairs = [part.partition(": ") for part in label.split("; ")]
            if all(mark for _, mark, _ in pairs):
                tables.setdefault(tuple(name for name, _, _ in pairs), []).append([value for _, _, value in pairs])
    return [_table(names, rows) for names, rows in tables.items()]


# --- How a value is written ---


def _cell(value):
    """A value as plain text, the same for 39, 39.0, "39" and " 39 "; empty for a missing one."""
    return "" if value is None or (isinstance(value, float) and value != value) else _spelled(str(value))


@cache
def _spelled(text):
    text = " ".join(text.split())
    if text[:1] in "-−0123456789" and text[-1:].isdigit():
        number = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("−", "-"))
        if NUMBER.fullmatch(number):
            return number.rstrip("0").rstrip(".") if "." in number and "e" not in number else number
    return text


def _lines(text):
    """The lines of a text, long ones cut where a bracket closes, so that a list of tuples becomes one line each."""
    for line in re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", text).splitlines():
        yield from [line] if len(line) <= 400 else re.split(r"[)\]}]", line)


def _readings(text):
    """A text as it is and, step by step, without the escapes of HTML, JSON, Python and addresses."""
    yield text
    for _ in range(2):
        for decode in (html.unescape, _unescaped, unquote):
            decoded = decode(text)
            if decoded != text:
                yield decoded
            text = decoded


def _unescaped(text):
    return re.sub(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))", lambda m: chr(int(m[1] or m[2], 16)), text)


def _base64(text):
    """What strings of 24 characters and more say in base64, if that is text or holds some."""
    wrapped = re.fullmatch(r"\s*(?:[A-Za-z0-9+/_-]+\n)+[A-Za-z0-9+/_-]*=*\s*", text)
    for token in re.findall(r"[A-Za-z0-9+/_-]{24,}", text.replace("\n", "") if wrapped else text):
        token = token.translate({ord("-"): "+", ord("_"): "/"})
        try:
            content = base64.b64decode(token + "=" * (-len(token) % 4))
        except binascii.Error:  # a length that no encoding has
            continue
        try:
            decoded = content.decode("utf-8")
        except UnicodeDecodeError:
            decoded = "\0"
        yield _printable(content) if re.search(r"[\0-\x08\x0e-\x1f]", decoded) else decoded


def _printable(content):
    return "\n".join(run.decode() for run in re.findall(rb"[ -~]{6,}", content))


def _alone(value):
    return rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)"


def _is_word(value):
    """Whether a value is so long and wordy that it means itself also inside another word."""
    return len(value) >= 6 and bool(re.search(r"[^\W\d]", value))


def _shortened(*values):
    return " with ".join(f"{value[:1]}… ({len(value)} characters)" for value in values)
