"""An auditor of what is shown, for tests: it asks more of a page, a notebook or a table than `privnb` itself does.

`scan` puts five questions to every text and table of a file: planted values, planted combinations, crowds of records,
raw records, small counts. The package refuses an output for names and raw records alone (`leaks.find_records`).

A row is *record-like* if it shows a person rather than a group: by the rules of `leaks`, where a label of a release
counts as a value, and any number of attributes is enough if nothing else stands next to them and the same row comes
twice, for the rows of an aggregate differ. It is not if it states a number of at least `min_count` people and as many
have the original values that it shows. Without the original nothing is known of the attributes, and the rule is
blunter: a row of three or more cells in a table without a column that is a count or a measure by its name, unless it
is a label followed by numbers only.
"""

import re
from collections import Counter
from itertools import chain, islice

from privnb.microdata.withholding import LIMIT
from privnb.publishing import leaks
from privnb.publishing.leaks import NO_COUNT, KnownRecords, RecordColumns, ShownRecord, names_people_count
from privnb.publishing.text_extraction import NUMBER, TextTable, list_unescaped, normalize_cell, split_lines


def scan(path, *, original=None, released=(), canaries=(), min_count=LIMIT, rows=12):
    """All leaks in a file or, if `path` is a folder, in every file below it.

    `.ipynb`, `.html`, `.svg`, `.csv` and `.json` are taken apart; anything else is read as text.

    Parameters
    ----------
    path : str or Path
    original : DataFrame, optional
        The records to protect.
    released : sequence of DataFrame
        The releases of which rows may be shown that `min_count` rows are like.
    canaries : sequence of str or tuple
        Values that must not occur at all, and values that must not occur in one row, line or label together.
    min_count : int
        The smallest number of people that may be shown.
    rows : int
        The largest number of record-like rows in one table, list or text.

    Returns
    -------
    list of Leak

    Raises
    ------
    ValueError
        For an empty canary.
    FileNotFoundError
        For a path that is not there.
    """
    known = Blunt() if original is None else Audited(original, released, min_count)
    words, tuples = _planted(canaries)

    def asked(node):
        records = list(islice(known.records(node), rows + 1))
        raw = [("raw record", leaks.describe_place(each)) for each in records if known.is_raw(each)][:1]
        planted = list(_canaries(node, words, tuples))
        return planted, [*_crowds(records, rows), *raw, *_small_counts(node, known, min_count)]

    def masked(place):
        for word in words:
            place = re.sub(re.escape(word), "…", place, flags=re.IGNORECASE)
        return place

    return leaks.scan_files(path, asked, lambda text: _canaries(text, words, ()), masked)


def _planted(canaries):
    words, tuples = [], []
    for canary in canaries:
        values = canary if isinstance(canary, tuple) else (canary,)
        if not values or not all(normalize_cell(value) for value in values):
            raise ValueError(f"a canary must not be empty; got {canary!r}. Leave it out, or plant a value.")
        if isinstance(canary, tuple):
            tuples.append(tuple(normalize_cell(value) for value in canary))
        else:
            words.append(str(canary).casefold())
    return words, tuples


def _canaries(node, words, tuples):
    """Planted values, as they are or escaped for HTML, JSON or an address."""
    if isinstance(node, TextTable):
        for row in node.rows if tuples else ():
            for values in tuples:
                if set(values) <= set(row):
                    yield "planted combination of values", _shortened(*values)
        return
    for text in list_unescaped(node):
        folded = text.casefold()
        for word in words:
            if word in folded and (_is_word(word) or re.search(_alone(word), folded)):
                yield "planted value", _shortened(word)
        for values in tuples:
            if all(value in text for value in values):
                patterns = [_alone(value) for value in values]
                lines = (line for line in split_lines(text) if all(value in line for value in values))
                if any(all(re.search(pattern, line) for pattern in patterns) for line in lines):
                    yield "planted combination of values", _shortened(*values)


def _crowds(records, limit):
    if len(records) > limit:
        yield f"more than {limit} record-like rows", f"row {records[0].row} to row {records[-1].row} and perhaps more"


def _small_counts(node, known, min_count):
    """Counts of 1 to `min_count` - 1 people, by the name of column or row, or in a grid of one attribute by another."""
    if not isinstance(node, TextTable) or not node.listed or not node.names:
        return
    names = [name.casefold() for name in node.names]
    columns = [i for i, name in enumerate(names) if names_people_count(name) and name not in known.attributes]
    columns += _unnamed_count(names, known.attributes) + known.grid(node)
    long = "measure" in names and "value" in names and (names.index("measure"), names.index("value"))
    small = []
    for number, row in enumerate([node.names, *node.rows]):
        cells = [(names[i], row[i]) for i in columns] if number else []
        if long and names_people_count(row[long[0]]):
            cells.append((row[long[0]], row[long[1]]))
        if names_people_count(row[0]) and all(NUMBER.fullmatch(cell) for cell in row[1:]):
            cells += [(row[0], cell) for cell in row[1:]]
        small += [(number, name) for name, cell in cells if _is_small(cell, min_count)]
    if small:
        where = f"first in row {small[0][0]}" if small[0][0] else "in the heading"
        yield f"fewer than {min_count} people", f"{len(small)} counts of '{small[0][1] or 'no name'}', {where}"


MEASURE = re.compile(
    NO_COUNT.pattern
    + r"|value|measure|printed|published|baseline|worst|difference|tolerance|score|accuracy|gain|loss|risk"
    r"|utility|decline|^(?:low|high|min|max|std|default|meaning)$"
)


def _unnamed_count(names, attributes):
    """The last column if it has no telling name and all before it are attributes: what `groupby(...).size()` leaves."""
    groups = [name for name in names[:-1] if name]
    alone = names and groups and names[-1] in ("", "0", "value", "values") and all(g in attributes for g in groups)
    return [len(names) - 1] if alone else []


def _is_small(cell, min_count):
    return bool(NUMBER.fullmatch(cell)) and float(cell).is_integer() and 0 < float(cell) < min_count


class Blunt:
    """Nothing is known of the records: rows are records by what a table looks like."""

    attributes = frozenset()

    def records(self, node):
        yield from _blunt(node) if isinstance(node, TextTable) else ()

    def is_raw(self, shown):
        return False

    def grid(self, table):
        return []


class Row(ShownRecord):
    """A record-like row, and whether it is raw."""

    raw = False


class Audited(KnownRecords):
    """What is known of the records, and of releases: which rows show a record."""

    def __init__(self, original, released, min_count):
        super().__init__(original, min_count)
        self.released = [RecordColumns(table) for table in released]
        for columns in self.released:
            for name in self.attributes & set(columns.names):
                self.domain[name] |= set(columns.domain[name]) - {""}
        self.values = set().union(*self.domain.values())
        self.words = {value for value in self.values if not NUMBER.fullmatch(value)}
        self.starts = {found[0] for found in map(leaks.WORD.search, self.words) if found}

    def is_raw(self, shown):
        return shown.raw

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
        for candidate in chain([table], leaks._turned(table, self.attributes)):
            columns, needed = self._columns(candidate)
            if not columns:
                continue
            names = [name.casefold() for name in candidate.names]
            counts = [i for i, name in enumerate(names) if names_people_count(name) and name not in self.attributes]
            bare = self._is_bare(candidate)
            rows = [tuple(row[i] for i in columns.values()) for row in candidate.rows]
            repeated = bare and table.listed and len(set(rows)) < len(rows)
            if len(columns) < needed and not repeated:
                continue
            for number, (row, values) in enumerate(zip(candidate.rows, rows, strict=True), 1):
                shown = {n: v for n, v in zip(columns, values, strict=True) if v in self.domain[n]}
                leaves = {n: v for n, v in shown.items() if v in self.original.domain[n]}
                if len(shown) < self.needed and self._counts(dict(zip(columns, values, strict=True))):
                    continue
                if (len(shown) < needed and not (repeated and shown)) or self._is_group(row, counts, leaves):
                    continue
                yield self._row(number, shown, self._is_raw(leaves, needed) and not self._is_released(shown))

    def _row(self, number, shown, raw):
        row = Row(number, list(shown))
        row.raw = raw
        return row

    def _is_group(self, row, counts, leaves):
        stated = any(NUMBER.fullmatch(row[i]) and float(row[i]) >= self.min_count for i in counts)
        return stated and (not leaves or self.original.count(leaves) >= self.min_count)

    def _is_released(self, shown):
        """Whether a release has so many rows of these values that each may be anybody's."""
        return any(columns.count(shown) >= self.min_count for columns in self.released)

    def _unnamed(self, number, cells):
        cells = [cell for cell in cells if cell in self.values]
        if self._is_few(cells):
            return
        counter = Counter(cells)
        raw = self.original.best_match(counter)
        public = max((columns.best_match(counter) for columns in self.released), key=len, default={})
        shown = max(public, raw, key=len)
        if self._is_one_record(cells, shown):
            hidden = len(public) >= len(raw) and self._is_released(public)
            yield self._row(number, shown, self._is_raw(raw, self.many) and not hidden)


def _blunt(table):
    """The record-like rows of a table of which nothing is known but its names."""
    if not table.listed or any(
        names_people_count(name) or MEASURE.search(name.casefold().replace("_", " ")) for name in table.names
    ):
        return
    start = int(any(table.names) and table.names[0] in ("", "index"))
    for number, row in enumerate(table.rows, 1):
        label, *rest = [*filter(None, row)] or [""]
        result = not NUMBER.fullmatch(label) and all(NUMBER.fullmatch(cell.rstrip("%")) for cell in rest)
        if sum(map(bool, row[start:])) > 2 and not result:
            yield ShownRecord(number, [])


def _alone(value):
    return rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)"


def _is_word(value):
    """Whether a value is so long and wordy that it means itself also inside another word."""
    return len(value) >= 6 and bool(re.search(r"[^\W\d]", value))


def _shortened(*values):
    return " with ".join(f"{value[:1]}… ({len(value)} characters)" for value in values)
