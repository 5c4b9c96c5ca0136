"""Search for data of single people in pages, notebooks and tables before these are shown.

`check_outputs` raises an error for an output that contains an original record. `find_records` searches every text and
table in a file (see `text_extraction`) for names and identifiers, for raw records and for rare combinations of
quasi-identifiers.

A row of a table, or a line of a text, shows a raw record if at least one person, but fewer than `min_count` people,
have all original values in the row or line, and if these are values of

- at least half of the attributes, and at least three attributes, under the column names of the original; three
  attributes are enough if the row contains nothing else;
- or, without such names (renamed columns, loose text, lists), at least two thirds of the attributes, and at least four
  attributes, all from one record; two of the values must be words, because numbers alone match by chance.

A row or line shows a rare combination if it contains values of at least three quasi-identifiers under their names, or
of all quasi-identifiers without names, and if at least one of the values is a word.

Some leaks are not found: a record of which an aggregate shows fewer attributes; a name that is a word of privnb's own
texts or has fewer than four letters; a number that identifies a person, if such numbers are so dense that a count would
be equal to one of these numbers by chance; and parts of a file that `text_extraction` does not extract.
"""

import functools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.datasets import dataset
from privnb.datasets.dataset import DatasetDescription
from privnb.datasets.outside import Outside
from privnb.microdata.schema import PUBLISHED, Role
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.publishing.text_extraction import (
    NUMBER,
    TextTable,
    decode_base64,
    extract,
    extract_strings,
    list_unescaped,
    normalize_cell,
    split_lines,
)
from privnb.runtime import validation
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import MissingFileError, PrivacyError
from privnb.runtime.validation import validated

PACKAGE = Path(__file__).resolve().parents[1]
OWN_TEXTS = (".py", ".js", ".css", ".j2", ".ipynb", ".toml")  # the words in these files of the package name nobody
MAX_PLACES = 8  # the most places that an error names
OUTSIDE: tuple[Outside, ...] = (
    "widen",
    "missing",
)  # "missing" is for values that no wider domain can hold, such as words among numbers
Finding = tuple[str, str]  # the kind of a leak, and its place


@dataclass(frozen=True)
class Leak:
    """Data of a single person in a file; `evidence` states the place of the data, but not the data."""

    file: str
    place: str  # "cell 4, output 1, chart data 'data-3'"
    what: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.what} ({self.evidence})"


class ShownRecord(NamedTuple):
    """A record in a row of a table or in a line of a text: the number of the row or line, and the attributes shown."""

    row: int
    attributes: list[str]


@dataclass(frozen=True, eq=False)
class Original:
    """The records to protect, with the roles of one study.

    Parameters
    ----------
    table : DataFrame
        The published columns of the records.
    quasi_identifiers : list of str
    people : integer array (n,), optional
        The number of the person of each record. If it is None, each record belongs to a different person.
    """

    table: pd.DataFrame
    quasi_identifiers: list[str]
    people: IntArray | None = None

    def known(self, min_count: int) -> list["KnownRecords"]:
        """Return the records, and their combinations of quasi-identifiers, in the form that the search needs."""
        kept = self.__dict__.setdefault("_kept", {})
        if min_count not in kept:
            kept[min_count] = [KnownRecords(self.table, min_count, self.people)]
            if len(self.quasi_identifiers) > 2:
                kept[min_count].append(RareCombinations(self.table[self.quasi_identifiers], min_count, self.people))
        return kept[min_count]


@validated
def find_personal_rows(rows: pd.DataFrame, originals: Sequence[Original], min_count: MinCount = LIMIT) -> BoolArray:
    """Return, as a boolean array (rows,), whether each row would reveal a single person if it were shown alone.

    Parameters
    ----------
    rows : DataFrame
        Rows whose columns are attributes.
    originals : sequence of Original
    min_count : int
        The minimum number of people; a combination of values that at least this number of people share reveals nobody.
    """
    known, names = [each for original in originals for each in original.known(min_count)], tuple(map(str, rows))
    nodes = [TextTable(names, (tuple(map(normalize_cell, row)),)) for row in rows.itertuples(index=False)]
    return np.array([any(True for each in known for _ in each.records(node)) for node in nodes], dtype=bool)


@validated
def find_records(
    path: validation.Path,
    originals: Sequence[Original],
    names: "Names",
    min_count: MinCount = LIMIT,
    public: Sequence[str] = (),
) -> list[Leak]:
    """Return original records, rare combinations, names and identifiers in a file or in every file below a folder.

    Parameters
    ----------
    path : str or Path
    originals : sequence of Original
    names : Names
    min_count : int
        The minimum number of people; a combination of values that at least this number of people share reveals nobody.
    public : sequence of str
        Public texts that are not searched, such as the script of a library, because a letter in such a text may equal a
        value.

    Raises
    ------
    FileNotFoundError
        For a path that does not exist.
    """
    known = [each for original in originals for each in original.known(min_count)]

    def search(node: str | TextTable) -> tuple[list[Finding], list[Finding]]:
        first = [(each.what, next(each.records(node), None)) for each in known]
        return list(names.found(node)), list(
            dict.fromkeys((what, describe_place(shown)) for what, shown in first if shown)
        )

    return scan_files(path, search, names.found, names.masked, public)


def describe_place(shown: ShownRecord) -> str:
    """Return the place of a record, without the values of the record."""
    return f"row {shown.row}: {len(shown.attributes)} attributes: {', '.join(shown.attributes[:4])}, …"


def scan_files(
    path: str | os.PathLike[str],
    search: Callable[[str | TextTable], tuple[list[Finding], list[Finding]]],
    search_text: Callable[[str], Iterable[Finding]],
    mask: Callable[[str], str],
    public: Sequence[str] = (),
) -> list[Leak]:
    """Return all leaks in the files at a path.

    Parameters
    ----------
    path : str or Path
    search : function
        A function that receives a text or table and returns two lists of findings. The first list holds the findings of
        `search_text`.
    search_text : function
    mask : function
        A function that returns the name of a place without leaked data.
    public : sequence of str
        See `find_records`.
    """
    search = functools.cache(search)  # a chart is in a notebook, on its page and on the index
    path = Path(path)
    if not path.exists():
        raise MissingFileError(f"there is nothing to scan at {path}.")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    leaks: dict[tuple[str, str, str], Leak] = {}
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        content = file.read_bytes()
        for known in public:
            content = content.replace(known.encode(), b"")
        text, found, seen = content.decode("utf-8", errors="replace"), list[tuple[str, Finding]](), False
        for place, node in chain([("file name", name)], extract(file.suffix.lower(), text)):
            planted, others = search(node)
            seen = seen or bool(planted)
            found += [(place, each) for each in planted + others]
        if not seen:  # no name was found in the parts, so search the whole file, including parts that were not opened
            readable = text if "\ufffd" not in text else extract_strings(content)
            said = chain([readable], decode_base64(readable))
            found += [("text of the file", each) for part in said for each in search_text(part)]
        for place, (what, where) in found:
            leaks.setdefault((name, place, what), Leak(mask(name), mask(place), what, where))
    return list(leaks.values())


WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+")
MAX_NAME_WORDS = 6  # the most words of a name that is searched in a long table
MIN_LETTERS = 4  # a single word with fewer letters names nobody
MAX_DENSITY = 1000  # if more than 1 in 1,000 numbers of a length names a person, a count may equal one by chance


class Names:
    """The names and identifiers of people, for which texts are searched word by word.

    Parameters
    ----------
    columns : dict of str to sequence of str
        The values of each identifying column.
    ours : str
        The words of privnb's own texts, as `join_words` returns them. A name that is one of these words, or a sequence
        of these words, is not searched for.
    """

    what = "name or identifier"

    def __init__(self, columns: Mapping[str, Sequence[object]], ours: str = "") -> None:
        self.first: dict[
            str, list[tuple[list[str], str]]
        ] = {}  # the rest of each name and its column, keyed by the first word of the name
        spoken, own = f" {ours} ", set(ours.split(" "))
        for column, values in columns.items():
            keys = {tuple(WORD.findall(str(value).casefold())) for value in values} - {()}
            for key in keys - _dense(keys):
                if _is_ours(key[0], own) if len(key) == 1 else own.issuperset(key) and f" {' '.join(key)} " in spoken:
                    continue
                self.first.setdefault(key[0], []).append((list(key[1:]), column))

    def found(self, node: str | TextTable) -> Iterator[Finding]:
        """Yield a finding for each column that contains a name that occurs in a text."""
        if self.first and isinstance(node, str):
            columns = {column for text in list_unescaped(node) for _, _, column in self._in(text)}
            yield from ((self.what, f"of the column '{column}'") for column in sorted(columns))

    def masked(self, text: str) -> str:
        """Return a text in which each name is replaced by "…"."""
        for start, end, _ in sorted(self._in(text), reverse=True):
            text = f"{text[:start]}…{text[end:]}"
        return text

    def _in(self, text: str) -> Iterator[tuple[int, int, str]]:
        folded = text.casefold()
        if self.first.keys().isdisjoint(WORD.findall(folded)):
            return
        words = [*WORD.finditer(folded)]
        for place, word in enumerate(words):
            for rest, column in self.first.get(word[0], ()):
                after = words[place + 1 : place + 1 + len(rest)]
                if [each[0] for each in after] == rest:
                    yield word.start(), [word, *after][-1].end(), column


def join_words(*texts: str) -> str:
    """Return the words of texts in lower case, separated by spaces."""
    return " ".join(word for text in texts for word in WORD.findall(text.casefold()))


def list_word_spans(text: str) -> set[str]:
    """Return all possible names in a text, which are sequences of one to six neighboring words in lower case.

    >>> sorted(list_word_spans("One, two"))
    ['one', 'one, two', 'two']
    """
    folded, found = text.casefold(), set[str]()
    words = [word.span() for word in WORD.finditer(folded)]
    for place, (start, _) in enumerate(words):
        found |= {folded[start:end] for _, end in words[place : place + MAX_NAME_WORDS]}
    return found


def _dense(keys: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the names that are numbers so dense that a count may be equal to one of these numbers by chance."""
    numbers = [key for key in keys if len(key) == 1 and key[0].isdigit()]
    many = Counter(len(key[0]) for key in numbers)
    return {key for key in numbers if many[len(key[0])] * MAX_DENSITY > 9 * 10 ** (len(key[0]) - 1)}


def _is_ours(word: str, ours: set[str]) -> bool:
    return word in ours or (len(word) < MIN_LETTERS and not word.isdigit()) or not re.fullmatch(r"\w+", word)


COUNT = re.compile(r"^(?:people|counts?|n|size|__count)$|people|persons|records")
NO_COUNT = re.compile(r"\b(?:shares?|rates?|ratio|fraction|per|percent|proportion|probability|mean|average|median)\b|%")
DIFFERENT = "different values"  # the heading of a column of counts, which may equal a person's values by chance
NAME_COLUMNS = 3  # the first columns, which may hold the names of attributes


def _all_numbers(cells: Iterable[str]) -> bool:
    return all(NUMBER.fullmatch(cell) for cell in cells if cell)


def names_people_count(name: str) -> bool:
    """Return whether a column with this name contains numbers of people."""
    name = name.casefold().replace("_", " ") if not name.startswith("__") else name
    return bool(COUNT.search(name)) and not NO_COUNT.search(name)


class RecordColumns:
    """A table of records as plain text, in which the values of a shown row are looked up."""

    def __init__(self, table: pd.DataFrame, people: IntArray | None = None) -> None:
        self.people = people
        self.names = [str(name).casefold() for name in table.columns]
        self.codes, self.index = [], []
        for place in range(table.shape[1]):
            codes, values = pd.factorize(table.iloc[:, place])
            texts = np.array([*map(normalize_cell, values), ""], dtype=object)  # a missing value has the code -1
            codes, values = pd.factorize(texts[codes])
            self.codes.append(codes)
            self.index.append({value: code for code, value in enumerate(values)})
        self.domain = dict(zip(self.names, self.index, strict=True))

    def count(self, shown: Mapping[str, str]) -> int:
        """Return the number of people who have all values in `shown`, `{attribute: value}`."""
        if not shown or any(value not in self.domain.get(name, ()) for name, value in shown.items()):
            return 0
        alike = np.ones(len(self.codes[0]), dtype=bool)
        for name, value in shown.items():
            alike &= self.codes[self.names.index(name)] == self.domain[name][value]
        return int(alike.sum()) if self.people is None else len(np.unique(self.people[alike]))

    def best_match(self, cells: Counter[str]) -> dict[str, str]:
        """Return, as `{attribute: value}`, the shared values of the record that shares the most values with `cells`."""
        hits = np.zeros(len(self.codes[0]), dtype=np.int16)
        for codes, index in zip(self.codes, self.index, strict=True):
            shown = [index[cell] for cell in cells if cell in index]
            if shown:
                mask = np.zeros(len(index), dtype=bool)
                mask[shown] = True
                hits += mask[codes]
        best: dict[str, str] = {}
        for record in np.flatnonzero(hits == hits.max(initial=1))[:50]:
            left, match = cells.copy(), dict[str, str]()
            for name, codes, index in zip(self.names, self.codes, self.index, strict=True):
                value = next((cell for cell in left if left[cell] and index.get(cell) == codes[record]), None)
                if value is not None:  # a cell holds the value of only one attribute
                    left[value] -= 1
                    match[name] = value
            best = max(best, match, key=len)
        return best


class KnownRecords:
    """The records to protect, in a form in which rows that show one of these records are found."""

    what = "raw record"

    def __init__(self, original: pd.DataFrame, min_count: int, people: IntArray | None = None) -> None:
        self.original = RecordColumns(original, people)
        self.min_count = min_count
        self.attributes = set(self.original.names)
        self.needed = min(max(3, (len(self.attributes) + 1) // 2), len(self.attributes))
        self.many = max(4, -(-2 * len(self.attributes) // 3))  # if no column names help
        self.domain = {name: {*texts} - {""} for name, texts in self.original.domain.items()}
        self.values = set().union(*self.domain.values())
        self.words = {value for value in self.values if not NUMBER.fullmatch(value)}
        self.starts = {found[0] for found in map(WORD.search, self.words) if found}

    def records(self, node: str | TextTable) -> Iterator[ShownRecord]:
        """Yield each record that a row of a table or a line of a text shows."""
        if not isinstance(node, TextTable):
            yield from self._in_text(node)
        elif any(
            name.casefold() in self.attributes for name in chain(node.names, *(row[:NAME_COLUMNS] for row in node.rows))
        ):
            yield from self._named(node)
        else:
            # The first column may hold row numbers; without a heading, the names are the first row.
            numbered = any(node.names) and _all_numbers(node.names[:1])
            shown = [i for i, name in enumerate(node.names) if not (names_people_count(name) or (numbered and i == 0))]
            for number, row in enumerate([node.names, *node.rows]):
                yield from self._unnamed(number, [row[i] for i in shown])

    def _named(self, table: TextTable) -> Iterator[ShownRecord]:
        for candidate in chain([table], _turned(table, self.attributes)):
            columns, needed = self._columns(candidate)
            for number, row in enumerate(candidate.rows, 1) if len(columns) >= needed else ():
                cells = {name: row[i] for name, i in columns.items()}
                shown = {name: value for name, value in cells.items() if value in self.domain[name]}
                if not (len(shown) < self.needed and self._counts(cells)) and self._is_raw(shown, needed):
                    yield ShownRecord(number, list(shown))

    def _columns(self, table: TextTable) -> tuple[dict[str, int], int]:
        """Return the columns of attributes in a table, and the number of attributes that a record must show."""
        names = [name.casefold() for name in table.names]
        columns = {name: i for i, name in enumerate(names) if name in self.attributes}
        return columns, min(3, self.needed) if self._is_bare(table) else self.needed

    def _is_bare(self, table: TextTable) -> bool:
        """Return whether a table has only attributes and row numbers."""
        others = [i for i, name in enumerate(table.names) if name.casefold() not in self.attributes]
        numbered = (_all_numbers(row[i] for row in table.rows) for i in others)
        return all(table.names[i].casefold() in ("", "index") for i in others) and all(numbered)

    def _counts(self, cells: Mapping[str, str]) -> bool:
        """Return whether cells are counts, because a number is under an attribute whose values are words."""
        return any(NUMBER.fullmatch(cell) and self.domain[name] <= self.words for name, cell in cells.items())

    def _is_raw(self, shown: Mapping[str, str], needed: int) -> bool:
        """Return whether `shown` has enough values, and some, but fewer than `min_count`, people have these values."""
        return len(shown) >= needed and 0 < self.original.count(shown) < self.min_count

    def _unnamed(self, number: int, cells: Iterable[str]) -> Iterator[ShownRecord]:
        cells = [cell for cell in cells if cell in self.values]
        if self._is_few(cells):
            return
        shown = self.original.best_match(Counter(cells))
        if self._is_one_record(cells, shown) and self._is_raw(shown, self.many):
            yield ShownRecord(number, list(shown))

    def _is_few(self, cells: Sequence[str]) -> bool:
        return len(cells) < self.many or sum(cell in self.words for cell in cells) < 2

    def _is_one_record(self, cells: Sequence[str], shown: Mapping[str, str]) -> bool:
        """Return whether cells show a single record, and not a list of values of an attribute."""
        words = sum(value in self.words for value in shown.values())
        others = sum(cell in self.words for cell in cells) - words
        return len(shown) >= self.many and words > 1 and 2 * others < len(shown)

    def _in_text(self, text: str) -> Iterator[ShownRecord]:
        lines, names, spoken = _read(text)
        loose = not self.starts.isdisjoint(spoken)
        if not loose and self.attributes.isdisjoint(names):
            return
        upright: dict[str, str] = {}  # a record that is written from top to bottom
        counts = False  # whether the lines are counts of values
        for number, (line, name, value, words) in enumerate(lines, 1):
            counts = DIFFERENT in line or (counts and name in self.attributes)
            if upright and (name in upright or name not in self.attributes):
                yield from self._named(TextTable(tuple(upright), (tuple(upright.values()),), listed=False))
                upright = {}
            if name in self.attributes and not counts:
                upright[name] = normalize_cell(value)
            if loose and len(line) >= 2 * self.many - 1 and sum(word in self.starts for word in words) > 1:
                yield from self._unnamed(number, self._words_of(line))

    def _words_of(self, line: str) -> Iterator[str]:
        """Yield the cells of a line; several words form one cell if together they are a value."""
        line = re.sub(r"^\s*\d+(?:\s{2,}|\s*[\t,;|])", "", line)  # the number of the row
        for chunk in filter(None, map(str.strip, BETWEEN.split(line))):
            cell = normalize_cell(chunk)
            if cell in self.values or " " not in cell:
                yield cell
                continue
            words = cell.split(" ")
            while words:
                size = next((n for n in range(min(6, len(words)), 1, -1) if " ".join(words[:n]) in self.values), 1)
                yield normalize_cell(" ".join(words[:size]))
                words = words[size:]


class RareCombinations(KnownRecords):
    """The combinations of quasi-identifiers that few people have."""

    what = "rare combination of quasi-identifiers"

    def __init__(self, original: pd.DataFrame, min_count: int, people: IntArray | None = None) -> None:
        super().__init__(original, min_count, people)
        self.needed, self.many = 3, max(3, len(self.attributes))

    def _is_raw(self, shown: Mapping[str, str], needed: int) -> bool:
        return any(value in self.words for value in shown.values()) and super()._is_raw(shown, needed)


PAIR = re.compile(r"[\s{'\"]*([\w .()-]*?[\w)])['\"]?(?:\s*[:=]\s*|\s{2,})(\S.*)")
BETWEEN = re.compile(r"[\t,;|(){}\[\]'\"]|\s{2,}|\s&\s|:\s|(?<![<>!])=")


@functools.lru_cache(1)  # several searches read the same text, one after the other
def _read(text: str) -> tuple[list[tuple[str, str | None, str, list[str]]], set[str | None], set[str]]:
    """Return the lines of a text that are not blank, the names in the text, and the words of the text.

    Each line is returned with its words. If a line may be a pair of a name and a value, it is also returned with this
    pair.
    """
    lines = []
    for line in [*split_lines(text), "."]:
        if line.strip():
            pair = PAIR.match(line)
            name, value = (pair[1].casefold(), pair[2].strip("'\" ,")) if pair else (None, "")
            lines.append((line, name, value, WORD.findall(line)))
    return lines, {name for _, name, _, _ in lines}, set(chain.from_iterable(words for *_, words in lines))


def _turned(table: TextTable, attributes: set[str]) -> Iterator[TextTable]:
    """Yield tables with rows and columns exchanged, because records may be written from top to bottom.

    The names of `attributes` are in one of the first columns. Several records may follow one another.
    """
    for place in range(min(NAME_COLUMNS, len(table.names))):
        parts: list[list[tuple[str, ...]]] = [[]]
        names: set[str] = set()
        for row in table.rows:
            name = row[place].casefold()
            if name in names:
                parts, names = [*parts, []], set()
            parts[-1].append(row)
            names |= {name} & attributes
        for part in parts:
            heads = (table.names[place], *(row[place] for row in part))
            columns = [*zip(table.names, *part, strict=True)][place + 1 :]
            yield TextTable(heads, tuple(column for column in columns if column[0] != DIFFERENT), table.listed)


# --- The records and names of a described table ---


class LeakError(PrivacyError):
    """An output contains an original record, a name or an identifier.

    The message states the places of these data, but not the data.

    Attributes
    ----------
    leaks : list of Leak
    """

    def __init__(self, leaks: list[Leak], kept: str) -> None:
        self.leaks = leaks
        places = [f"  {leak}" for leak in leaks[:MAX_PLACES]]
        more = [f"  and {len(leaks) - MAX_PLACES:,} more places"] if len(leaks) > MAX_PLACES else []
        done = "Show groups and counts there instead, or give a public column another role in the description."
        text = f"the output holds data of single people in {len(leaks):,} places and is not published:"
        super().__init__("\n".join([text, *places, *more, f"{done} {kept}".strip()]))


@validated
def check_outputs(
    folder: validation.Path,
    described: Iterable[str | os.PathLike[str]],
    *,
    min_count: MinCount = LIMIT,
    kept: str = "",
    public: Sequence[str] = (),
) -> None:
    """Raise LeakError if a file in `folder`, or in a folder below, contains an original record of a dataset.

    Parameters
    ----------
    folder : path-like
        The folder or the file to be shown.
    described : sequence of path-like
        The description files of the datasets, or their names.
    min_count : int
        The minimum number of people; a combination of values that at least this number of people share reveals nobody.
    kept : str
        A sentence for the end of the error, which states where the results are kept.
    public : sequence of str
        Texts that everybody knows; see `find_records`.
    """
    leaks: dict[Leak, None] = {}
    for path in dict.fromkeys(dataset.find_description(name).resolve() for name in described):
        leaks |= dict.fromkeys(find_records(folder, *read_protected(path), min_count, public))
    if leaks:
        raise LeakError([*leaks], kept)


def read_protected(path: Path) -> tuple[list[Original], Names]:
    """Return the data of a described dataset to protect: the records, once per study, and the names."""
    described = DatasetDescription.of(path, None)
    text = described.text
    cells = dataset.read_cells(path.parent, text)
    for outside in OUTSIDE:  # values outside their domains belong to people, too
        described, _ = described.taking(outside, [*cells], functools.partial(dataset._different, cells))
    table, originals = described.cleaned(cells), dict[Any, Original]()
    for study in text.get("studies", [None]):
        schema = DatasetDescription.of(path, study).schema
        names = tuple(each.name for each in schema.attributes if each.role in PUBLISHED)
        own = [name for name in schema.quasi_identifiers if name in names]
        people = None if schema.person is None else pd.factorize(table[schema.person], use_na_sentinel=False)[0]
        originals.setdefault((names, tuple(own)), Original(table[[*names]], own, people))
    values = {
        name: [*cells[name].cat.categories, *entry.get("spellings", ())] for name, entry in text["columns"].items()
    }
    # Unused columns with nearly one value per person also name people.
    alone = {name for name in dataset.columns_in_role(text, Role.UNUSED) if len(values[name]) > len(cells) / 2}
    persons = dataset.columns_in_role(text, Role.IDENTIFIER, Role.PERSON) | alone
    naming = {name: values[name] for name in text["columns"] if name in persons}
    return [*originals.values()], Names(naming, _ours(path, text, naming) if naming else "")


def _ours(path: Path, text: Mapping[str, Any], naming: Mapping[str, Any]) -> str:
    """Return the words that name nobody: the words of privnb's own texts and of the description.

    The entries of the columns `naming`, which identify people, are left out.
    """
    public = {name: entry for name, entry in text["columns"].items() if name not in naming}
    said = str({**text, "columns": public}) + " ".join(map(str, text["columns"]))
    trees = (file.read_text(encoding="utf-8") for file in path.parent.glob("hierarchies/*/*.csv"))
    return f"{_words()} {join_words(said, *trees)}"


@functools.cache
def _words() -> str:
    files = [*PACKAGE.rglob("*"), *(dataset.PROJECT / "notebooks").glob("[0-9][0-9]_*.ipynb")]
    texts = (file.read_text(encoding="utf-8") for file in files if file.suffix in OWN_TEXTS)
    return join_words(*texts)
