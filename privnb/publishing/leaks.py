"""What a page, a notebook or a table must not hold when it is shown: anything of a single person.

`scan` puts five questions to every text and table of a file (`hiding_places` finds them): planted values, names and
identifiers, crowds of records, raw records, small counts. `records_in` puts those two that prove a leak: names and
identifiers, and raw records; it is what refuses an output.

A row is *record-like* if it shows a person rather than a group. With the original table at hand that is a row with

- under columns named like the original's: at least half of its attributes (and three), each by an original value or
  a label of a release; three are enough if nothing else stands beside them, and any number if moreover the same row
  comes twice, for the rows of an aggregate differ;
- or, without such names (renamed columns, loose text, lists): values of one and the same record of the original or of
  a release for two thirds of the attributes (and four), two of them in words, since numbers alone fit by chance.

It is not if it states a number of at least `fewest` people and so many are alike in the original values that it shows.
It is *raw* if some people, and fewer than `fewest`, have the original values that it shows. So is a rare combination:
quasi-identifiers, three under their names or all without, one of them in words.
Without the original nothing is known of the attributes, and the rule is blunter: a row of three or more cells in a
table without a column that is a count or a measure by its name, unless it is a label followed by numbers only.

Not seen, beside what `hiding_places` does not open: an aggregate of fewer attributes that is a disguise; a name that is
a common word of ours or shorter than four letters; a number that names a person where such numbers are so dense that a
count would be one by chance.
Long, since what is record-like, raw and a name is one definition in several forms.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pandas as pd

from privnb.microdata.withholding import LIMIT
from privnb.publishing.hiding_places import NUMBER, Table, cell_of, decoded, lines_of, opened, printable, readings
from privnb.runtime import expect


@dataclass(frozen=True)
class Leak:
    """Something of a single person in a file; `evidence` says where to look without repeating it."""

    file: str
    place: str  # "cell 4, output 1, chart data 'data-3'"
    what: str
    evidence: str

    def __str__(self):
        return f"{self.file}: {self.place}: {self.what} ({self.evidence})"


def scan(path, *, original=None, released=(), canaries=(), fewest=LIMIT, rows=12):
    """All leaks in a file or, if `path` is a folder, in every file below it.

    `.ipynb`, `.html`, `.svg`, `.csv` and `.json` are taken apart; anything else is read as text.

    Parameters
    ----------
    path : str or Path
    original : DataFrame, optional
        The records to protect.
    released : sequence of DataFrame
        The releases of which rows may be shown that `fewest` rows are like.
    canaries : sequence of str or tuple
        Values that must not occur at all, and values that must not occur in one row, line or label together.
    fewest : int
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
    known = _Known(original, released, fewest)
    words, tuples = _planted(canaries)

    def asked(node):
        records = list(islice(known.records(node), rows + 1))
        planted = list(_canaries(node, words, tuples))
        return planted, [*_crowds(records, rows), *_raw(records), *_small_counts(node, known, fewest)]

    def masked(place):
        for word in words:
            place = re.sub(re.escape(word), "…", place, flags=re.IGNORECASE)
        return place

    return _scanned(path, asked, lambda text: _canaries(text, words, ()), masked)


@dataclass(frozen=True, eq=False)
class Original:
    """Records to protect, as of one study.

    Parameters
    ----------
    table : DataFrame
        What is published of them.
    quasi_identifiers : list of str
    people : integer array (n,), optional
        Whose each record is; None: another person's each.
    """

    table: pd.DataFrame
    quasi_identifiers: list
    people: np.ndarray | None = None

    def known(self, fewest):
        """What is known of them: as records, and as combinations of quasi-identifiers. It is kept."""
        kept = self.__dict__.setdefault("_kept", {})
        if fewest not in kept:
            kept[fewest] = [_Known(self.table, (), fewest, self.people)]
            if len(self.quasi_identifiers) > 2:
                kept[fewest].append(_Rare(self.table[self.quasi_identifiers], (), fewest, self.people))
        return kept[fewest]


def persons_own(rows, originals, fewest=LIMIT):
    """Which of some rows would be taken for a single person's, were they shown alone.

    Parameters
    ----------
    rows : DataFrame
        Its columns are attributes.
    originals : sequence of Original
    fewest : int
        What so many people share is nobody's.

    Returns
    -------
    bool array (n,)
    """
    expect.these(fewest=fewest)
    known, names = [each for original in originals for each in original.known(fewest)], tuple(map(str, rows))
    nodes = [Table(names, (tuple(map(cell_of, row)),)) for row in rows.itertuples(index=False)]
    return np.array([any(raw for each in known for *_, raw in each.records(node)) for node in nodes], dtype=bool)


def records_in(path, originals, names, fewest=LIMIT, public=()):
    """Original records, rare combinations, names and identifiers in a file or in every file below a folder.

    Parameters
    ----------
    path : str or Path
    originals : sequence of Original
    names : Names
    fewest : int
        What so many people share is nobody's.
    public : sequence of str
        Texts that everybody knows, such as a library's script, in which one letter may be a country's name: they are
        not looked at.

    Returns
    -------
    list of Leak

    Raises
    ------
    FileNotFoundError
        For a path that is not there.
    """
    expect.these(fewest=fewest)
    known = [each for original in originals for each in original.known(fewest)]

    def asked(node):
        found = chain.from_iterable(_raw(each.records(node), each.what) for each in known)
        return list(names.found(node)), list(dict.fromkeys(found))

    return _scanned(path, asked, names.found, names.masked, public)


def _scanned(path, asked, bare, masked, public=()):
    """All that is found in the files at `path`.

    `asked`: two lists, of which the first is what `bare` finds in a text. `masked`: a place without what was found.
    """
    asked = cache(asked)  # a chart stands in a notebook, on its page and on the index
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is nothing to scan at {path}.")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    leaks = {}
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        for place, what, evidence in _scan_file(file, name, asked, bare, public):
            leaks.setdefault((name, place, what), Leak(masked(name), masked(place), what, evidence))
    return list(leaks.values())


def shown(report):
    """The files of a report that are looked at: its pages, notebooks and tables."""
    return [path for path in sorted(report.rglob("*")) if path.suffix in (".html", ".ipynb", ".csv")]


def scan_report(report, **known):
    """What `scan` finds in each of them, as texts."""
    return [str(leak) for leak in scan(report, **known)]


def _scan_file(file, name, asked, bare, public=()):
    content = file.read_bytes()
    for text in public:
        content = content.replace(text.encode(), b"")
    text = content.decode("utf-8", errors="replace")
    seen = False
    for place, node in chain([("file name", name)], opened(file.suffix.lower(), text)):
        planted, others = asked(node)
        seen = seen or bool(planted)
        yield from ((place, *leak) for leak in planted + others)
    if not seen:  # nothing that the walk has opened, yet perhaps a corner that it does not know
        readable = text if "\ufffd" not in text else printable(content)
        for node in chain([readable], decoded(readable)):
            yield from (("text of the file", *leak) for leak in bare(node))


# --- What is looked for ---


def _planted(canaries):
    words, tuples = [], []
    for canary in canaries:
        values = canary if isinstance(canary, tuple) else (canary,)
        if not values or not all(cell_of(value) for value in values):
            raise ValueError(f"a canary must not be empty, got {canary!r}. Leave it out, or plant a value.")
        if isinstance(canary, tuple):
            tuples.append(tuple(cell_of(value) for value in canary))
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
    for text in readings(node):
        folded = text.casefold()
        for word in words:
            if word in folded and (_is_word(word) or re.search(_alone(word), folded)):
                yield "planted value", _shortened(word)
        for values in tuples:
            if all(value in text for value in values):
                patterns = [_alone(value) for value in values]
                lines = (line for line in lines_of(text) if all(value in line for value in values))
                if any(all(re.search(pattern, line) for pattern in patterns) for line in lines):
                    yield "planted combination of values", _shortened(*values)


WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+")
MOST = 6  # words of a name that is looked for in a long table
SHORT = 4  # letters: a single word of fewer names nobody
DENSE = 1000  # of so many numbers of a length at most one may name a person, else a count would by chance


class Names:
    """What names a person, to be looked for word by word.

    Parameters
    ----------
    columns : dict of str to sequence of str
        The values of each identifying column.
    ours : str
        The words of our own texts, as `words_of` gives them: one of them alone, or several in this order, name nobody.
    """

    what = "name or identifier"

    def __init__(self, columns, ours=""):
        self.first = {}  # by its first word the rest of each name, and its column
        spoken, own = f" {ours} ", set(ours.split(" "))
        for column, values in columns.items():
            keys = {tuple(WORD.findall(str(value).casefold())) for value in values} - {()}
            for key in keys - _dense(keys):
                if _is_ours(key[0], own) if len(key) == 1 else own.issuperset(key) and f" {' '.join(key)} " in spoken:
                    continue
                self.first.setdefault(key[0], []).append((list(key[1:]), column))

    def found(self, node):
        """Which columns a text names people of: pairs of what was found and where to look."""
        if self.first and isinstance(node, str):
            columns = {column for text in readings(node) for _, _, column in self._in(text)}
            yield from ((self.what, f"of the column '{column}'") for column in sorted(columns))

    def masked(self, text):
        """A text without the names in it."""
        for start, end, _ in sorted(self._in(text), reverse=True):
            text = f"{text[:start]}…{text[end:]}"
        return text

    def _in(self, text):
        folded = text.casefold()
        if self.first.keys().isdisjoint(WORD.findall(folded)):
            return
        words = [*WORD.finditer(folded)]
        for place, word in enumerate(words):
            for rest, column in self.first.get(word[0], ()):
                after = words[place + 1 : place + 1 + len(rest)]
                if [each[0] for each in after] == rest:
                    yield word.start(), [word, *after][-1].end(), column


def words_of(*texts):
    """The words of texts in small letters, a space between them: str."""
    return " ".join(word for text in texts for word in WORD.findall(text.casefold()))


def spans(text):
    """The words of a text and of each string in it, up to six together as they are written, in small letters: what a
    name in it could be; a set.

    >>> sorted(spans("One, two"))
    ['one', 'one, two', 'two']
    """
    folded, found = text.casefold(), set()
    words = [word.span() for word in WORD.finditer(folded)]
    for place, (start, _) in enumerate(words):
        found |= {folded[start:end] for _, end in words[place : place + MOST]}
    return found


def _dense(keys):
    """Of names the numbers that are so dense among those of their length that a count would be one by chance."""
    numbers = [key for key in keys if len(key) == 1 and key[0].isdigit()]
    many = Counter(len(key[0]) for key in numbers)
    return {key for key in numbers if many[len(key[0])] * DENSE > 9 * 10 ** (len(key[0]) - 1)}


def _is_ours(word, ours):
    return word in ours or (len(word) < SHORT and not word.isdigit()) or not re.fullmatch(r"\w+", word)


def _crowds(records, limit):
    if len(records) > limit:
        yield f"more than {limit} record-like rows", f"row {records[0][0]} to row {records[-1][0]} and perhaps more"


def _raw(records, what="raw record"):
    for number, attributes, raw in records:
        if raw:
            yield what, f"row {number}: {len(attributes)} attributes: {', '.join(attributes[:4])}, …"
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
DIFFERENT = "different values"  # a column with how many each attribute has, which may be somebody's values by chance
ASIDE = 3  # columns that may hold the names of attributes
MEASURE = re.compile(
    NO_COUNT.pattern
    + r"|value|measure|printed|published|baseline|worst|difference|tolerance|score|accuracy|gain|loss|risk"
    r"|utility|decline|^(?:low|high|min|max|std|default|meaning)$"
)


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

    def __init__(self, table, people=None):
        self.people = people
        self.names = [str(name).casefold() for name in table.columns]
        self.codes, self.index = [], []
        for place in range(table.shape[1]):
            codes, values = pd.factorize(table.iloc[:, place])
            texts = np.array([*map(cell_of, values), ""], dtype=object)  # a missing value has the code -1
            codes, values = pd.factorize(texts[codes])
            self.codes.append(codes)
            self.index.append({value: code for code, value in enumerate(values)})
        self.domain = dict(zip(self.names, self.index, strict=True))

    def count(self, shown):
        """How many people have all the values of `shown`, `{attribute: value}`."""
        if not shown or any(value not in self.domain.get(name, ()) for name, value in shown.items()):
            return 0
        alike = np.ones(len(self.codes[0]), dtype=bool)
        for name, value in shown.items():
            alike &= self.codes[self.names.index(name)] == self.domain[name][value]
        return int(alike.sum()) if self.people is None else len(np.unique(self.people[alike]))

    def best_match(self, cells):
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
            left, shown = cells.copy(), {}
            for name, codes, index in zip(self.names, self.codes, self.index, strict=True):
                value = next((cell for cell in left if left[cell] and index.get(cell) == codes[record]), None)
                if value is not None:  # a cell tells one attribute only
                    left[value] -= 1
                    shown[name] = value
            best = max(best, shown, key=len)
        return best


class _Known:
    """What is known of the records to protect: which rows show one of them."""

    what = "raw record"

    def __init__(self, original, released, fewest, people=None):
        self.original = None if original is None else _Columns(original, people)
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
        self.starts = {found[0] for found in map(WORD.search, self.words) if found}

    def records(self, node):
        """Yield (row number, attributes shown, whether raw) for each record-like row of a table or line of a text."""
        if self.original is None:
            yield from _blunt(node) if isinstance(node, Table) else ()
        elif not isinstance(node, Table):
            yield from self._in_text(node)
        elif any(name.casefold() in self.attributes for name in chain(node.names, *(row[:ASIDE] for row in node.rows))):
            yield from self._named(node)
        else:
            # The first column may tell the number of the row; where there is no heading, names are the first row.
            numbered = any(node.names) and _all_numbers(node.names[:1])
            shown = [i for i, name in enumerate(node.names) if not (_counts_people(name) or (numbered and i == 0))]
            for number, row in enumerate([node.names, *node.rows]):
                yield from self._unnamed(number, [row[i] for i in shown])

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
        for candidate in chain([table], _turned(table, self.attributes)):
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
                shown = {n: v for n, v in zip(columns, values, strict=True) if v in self.domain[n]}
                leaves = {n: v for n, v in shown.items() if v in self.original.domain[n]}
                if len(shown) < self.needed and self._counts(dict(zip(columns, values, strict=True))):
                    continue
                if (len(shown) < needed and not (repeated and shown)) or self._is_group(row, counts, leaves):
                    continue
                yield number, list(shown), self._is_raw(leaves, needed) and not self._is_released(shown)

    def _counts(self, cells):
        """Whether cells are no record's: numbers where all values of an attribute are words."""
        return any(NUMBER.fullmatch(cell) and self.domain[name] <= self.words for name, cell in cells.items())

    def _is_raw(self, leaves, needed):
        return len(leaves) >= needed and 0 < self.original.count(leaves) < self.fewest

    def _is_group(self, row, counts, leaves):
        stated = any(NUMBER.fullmatch(row[i]) and float(row[i]) >= self.fewest for i in counts)
        return stated and (not leaves or self.original.count(leaves) >= self.fewest)

    def _is_released(self, shown):
        """Whether a release has so many rows of these values that each may be anybody's."""
        return any(columns.count(shown) >= self.fewest for columns in self.released)

    def _unnamed(self, number, cells):
        cells = [cell for cell in cells if cell in self.values]
        if len(cells) < self.many or sum(cell in self.words for cell in cells) < 2:
            return
        counter = Counter(cells)
        raw = self.original.best_match(counter)
        public = max((columns.best_match(counter) for columns in self.released), key=len, default={})
        shown = max(public, raw, key=len)
        words = sum(value in self.words for value in shown.values())
        # A list of an attribute's values, as in its description, holds more words than one record can.
        others = sum(cell in self.words for cell in cells) - words
        if len(shown) >= self.many and words > 1 and 2 * others < len(shown):
            hidden = len(public) >= len(raw) and self._is_released(public)
            yield number, list(shown), self._is_raw(raw, self.many) and not hidden

    def _in_text(self, text):
        lines, names, words = _read(text)
        loose = not self.starts.isdisjoint(words)
        if not loose and self.attributes.isdisjoint(names):
            return
        upright, counts = {}, False  # a record set out from top to bottom; whether these are how many values there are
        for number, (line, name, value, words) in enumerate(lines, 1):
            counts = DIFFERENT in line or (counts and name in self.attributes)
            if upright and (name in upright or name not in self.attributes):
                yield from self._named(Table(tuple(upright), (tuple(upright.values()),), listed=False))
                upright = {}
            if name in self.attributes and not counts:
                upright[name] = cell_of(value)
            if loose and len(line) >= 2 * self.many - 1 and sum(word in self.starts for word in words) > 1:
                yield from self._unnamed(number, self._words_of(line))

    def _words_of(self, line):
        """The cells of a line whatever stands between them; several words are one cell if they are one value."""
        line = re.sub(r"^\s*\d+(?:\s{2,}|\s*[\t,;|])", "", line)  # the number of the row
        for chunk in filter(None, map(str.strip, BETWEEN.split(line))):
            cell = cell_of(chunk)
            if cell in self.values or " " not in cell:
                yield cell
                continue
            words = cell.split(" ")
            while words:
                size = next((n for n in range(min(6, len(words)), 1, -1) if " ".join(words[:n]) in self.values), 1)
                yield cell_of(" ".join(words[:size]))
                words = words[size:]


class _Rare(_Known):
    """The same of quasi-identifiers alone: combinations that few people have."""

    what = "rare combination of quasi-identifiers"

    def __init__(self, *known):
        super().__init__(*known)
        self.needed, self.many = 3, max(3, len(self.attributes))

    def _is_raw(self, leaves, needed):
        return any(value in self.words for value in leaves.values()) and super()._is_raw(leaves, needed)


PAIR = re.compile(r"[\s{'\"]*([\w .()-]*?[\w)])['\"]?(?:\s*[:=]\s*|\s{2,})(\S.*)")
BETWEEN = re.compile(r"[\t,;|(){}\[\]'\"]|\s{2,}|\s&\s|:\s|(?<![<>!])=")


@lru_cache(1)  # several ask the same of a text, one after the other
def _read(text):
    """The lines of a text that are not blank, each with the name and value of a pair that it may be, and its words;
    and the names and the words of all.
    """
    lines = []
    for line in [*lines_of(text), "."]:
        if line.strip():
            pair = PAIR.match(line)
            name, value = (pair[1].casefold(), pair[2].strip("'\" ,")) if pair else (None, "")
            lines.append((line, name, value, WORD.findall(line)))
    return lines, {name for _, name, _, _ in lines}, set(chain.from_iterable(words for *_, words in lines))


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


def _turned(table, attributes):
    """The table with rows and columns exchanged: records set out from top to bottom, or several one below the other.
    The names of `attributes` stand in one of the first columns.
    """
    for place in range(min(ASIDE, len(table.names))):
        parts, names = [[]], set()
        for row in table.rows:
            name = row[place].casefold()
            if name in names:
                parts, names = [*parts, []], set()
            parts[-1].append(row)
            names |= {name} & attributes
        for part in parts:
            heads = (table.names[place], *(row[place] for row in part))
            columns = [*zip(table.names, *part, strict=True)][place + 1 :]
            yield Table(heads, tuple(column for column in columns if column[0] != DIFFERENT), table.listed)


def _alone(value):
    return rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)"


def _is_word(value):
    """Whether a value is so long and wordy that it means itself also inside another word."""
    return len(value) >= 6 and bool(re.search(r"[^\W\d]", value))


def _shortened(*values):
    return " with ".join(f"{value[:1]}… ({len(value)} characters)" for value in values)
