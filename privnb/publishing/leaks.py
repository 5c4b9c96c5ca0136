"""What a page, a notebook or a table must not hold when it is shown: anything of a single person.

`check` refuses an output that holds an original record, before it leaves. `records_in` looks into every text and table
of a file (`hiding_places` finds them) for names and identifiers, for raw records and for rare combinations of
quasi-identifiers.

A row of a table, or a line of a text, shows a raw record if some people, and fewer than `fewest`, have the original
values that it shows, and it shows values of

- at least half of the attributes (and three) under columns named like the original's; three are enough if nothing else
  stands next to them;
- or, without such names (renamed columns, loose text, lists), one and the same record for two thirds of the attributes
  (and four), two of them in words, since numbers alone fit by chance.

A rare combination shows three quasi-identifiers under their names, or all of them without, one of them in words.

Not found, next to what `hiding_places` does not open: an aggregate of fewer attributes that is a disguise; a name that
is a common word of ours or shorter than four letters; a number that names a person where such numbers are so dense that
a count would be one by chance.
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
from privnb.datasets.dataset import Chosen
from privnb.datasets.outside import Outside
from privnb.microdata.schema import PUBLISHED, Role
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.publishing.hiding_places import NUMBER, Table, cell_of, decoded, lines_of, opened, printable, readings
from privnb.runtime import validation
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import MissingFileError, PrivacyError
from privnb.runtime.validation import validated

PACKAGE = Path(__file__).resolve().parents[1]
TEXTS = (".py", ".js", ".css", ".j2", ".ipynb", ".toml")  # of ours, whose words name nobody
SAID = 8  # places that an error names
OUTSIDE: tuple[Outside, ...] = ("widen", "missing")  # of values that no wider domain holds, such as words among numbers
Finding = tuple[str, str]  # what is found, and where to look for it


@dataclass(frozen=True)
class Leak:
    """Something of a single person in a file; `evidence` says where to look without repeating it."""

    file: str
    place: str  # "cell 4, output 1, chart data 'data-3'"
    what: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.what} ({self.evidence})"


class Shown(NamedTuple):
    """A record that a row of a table, or a line of a text, shows: the number of the row, and its attributes there."""

    row: int
    attributes: list[str]


@dataclass(frozen=True, eq=False)
class Original:
    """Records to protect, as one study has them.

    Parameters
    ----------
    table : DataFrame
        What is published of them.
    quasi_identifiers : list of str
    people : integer array (n,), optional
        Whose record each is; None: each is another person's.
    """

    table: pd.DataFrame
    quasi_identifiers: list[str]
    people: IntArray | None = None

    def known(self, fewest: int) -> list["Known"]:
        """Return what is known of them: as records, and as combinations of quasi-identifiers. It is kept."""
        kept = self.__dict__.setdefault("_kept", {})
        if fewest not in kept:
            kept[fewest] = [Known(self.table, fewest, self.people)]
            if len(self.quasi_identifiers) > 2:
                kept[fewest].append(RareCombinations(self.table[self.quasi_identifiers], fewest, self.people))
        return kept[fewest]


@validated
def persons_own(rows: pd.DataFrame, originals: Sequence[Original], fewest: MinCount = LIMIT) -> BoolArray:
    """Return which of some rows would be taken for a single person's if they were shown alone: bool array (rows,).

    Parameters
    ----------
    rows : DataFrame
        Its columns are attributes.
    originals : sequence of Original
    fewest : int
        What this many people share reveals nobody.
    """
    known, names = [each for original in originals for each in original.known(fewest)], tuple(map(str, rows))
    nodes = [Table(names, (tuple(map(cell_of, row)),)) for row in rows.itertuples(index=False)]
    return np.array([any(True for each in known for _ in each.records(node)) for node in nodes], dtype=bool)


@validated
def records_in(
    path: validation.Path,
    originals: Sequence[Original],
    names: "Names",
    fewest: MinCount = LIMIT,
    public: Sequence[str] = (),
) -> list[Leak]:
    """Return original records, rare combinations, names and identifiers in a file or in every file below a folder.

    Parameters
    ----------
    path : str or Path
    originals : sequence of Original
    names : Names
    fewest : int
        What this many people share reveals nobody.
    public : sequence of str
        Texts that everybody knows, such as a library's script, in which one letter may be a country's name: they are
        not looked at.

    Raises
    ------
    FileNotFoundError
        For a path that is not there.
    """
    known = [each for original in originals for each in original.known(fewest)]

    def search(node: str | Table) -> tuple[list[Finding], list[Finding]]:
        first = [(each.what, next(each.records(node), None)) for each in known]
        return list(names.found(node)), list(dict.fromkeys((what, evidence(shown)) for what, shown in first if shown))

    return scan_files(path, search, names.found, names.masked, public)


def evidence(shown: Shown) -> str:
    """Return where a record is shown, without its values."""
    return f"row {shown.row}: {len(shown.attributes)} attributes: {', '.join(shown.attributes[:4])}, …"


def scan_files(
    path: str | os.PathLike[str],
    search: Callable[[str | Table], tuple[list[Finding], list[Finding]]],
    search_text: Callable[[str], Iterable[Finding]],
    mask: Callable[[str], str],
    public: Sequence[str] = (),
) -> list[Leak]:
    """Return all that is found in the files at a path.

    Parameters
    ----------
    path : str or Path
    search : function
        Returns two lists of what a text or table holds; the first has what `search_text` finds in a text.
    search_text : function
    mask : function
        Returns the name of a place without what is looked for.
    public : sequence of str
        As in `records_in`.
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
        for place, node in chain([("file name", name)], opened(file.suffix.lower(), text)):
            planted, others = search(node)
            seen = seen or bool(planted)
            found += [(place, each) for each in planted + others]
        if not seen:  # nothing that the walk has opened, yet perhaps a corner that it does not know
            readable = text if "\ufffd" not in text else printable(content)
            said = chain([readable], decoded(readable))
            found += [("text of the file", each) for part in said for each in search_text(part)]
        for place, (what, where) in found:
            leaks.setdefault((name, place, what), Leak(mask(name), mask(place), what, where))
    return list(leaks.values())


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

    def __init__(self, columns: Mapping[str, Sequence[object]], ours: str = "") -> None:
        self.first: dict[
            str, list[tuple[list[str], str]]
        ] = {}  # by its first word the rest of each name, and its column
        spoken, own = f" {ours} ", set(ours.split(" "))
        for column, values in columns.items():
            keys = {tuple(WORD.findall(str(value).casefold())) for value in values} - {()}
            for key in keys - _dense(keys):
                if _is_ours(key[0], own) if len(key) == 1 else own.issuperset(key) and f" {' '.join(key)} " in spoken:
                    continue
                self.first.setdefault(key[0], []).append((list(key[1:]), column))

    def found(self, node: str | Table) -> Iterator[Finding]:
        """Yield a finding for each column of whose people a text names somebody."""
        if self.first and isinstance(node, str):
            columns = {column for text in readings(node) for _, _, column in self._in(text)}
            yield from ((self.what, f"of the column '{column}'") for column in sorted(columns))

    def masked(self, text: str) -> str:
        """Return a text without the names in it."""
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


def words_of(*texts: str) -> str:
    """Return the words of texts in small letters, a space between them."""
    return " ".join(word for text in texts for word in WORD.findall(text.casefold()))


def spans(text: str) -> set[str]:
    """Return the words of a text, and up to six together as they are written, in small letters: what a name in it could
    be.

    >>> sorted(spans("One, two"))
    ['one', 'one, two', 'two']
    """
    folded, found = text.casefold(), set[str]()
    words = [word.span() for word in WORD.finditer(folded)]
    for place, (start, _) in enumerate(words):
        found |= {folded[start:end] for _, end in words[place : place + MOST]}
    return found


def _dense(keys: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the names that are numbers so dense among those of their length that a count would be one by chance."""
    numbers = [key for key in keys if len(key) == 1 and key[0].isdigit()]
    many = Counter(len(key[0]) for key in numbers)
    return {key for key in numbers if many[len(key[0])] * DENSE > 9 * 10 ** (len(key[0]) - 1)}


def _is_ours(word: str, ours: set[str]) -> bool:
    return word in ours or (len(word) < SHORT and not word.isdigit()) or not re.fullmatch(r"\w+", word)


COUNT = re.compile(r"^(?:people|counts?|n|size|__count)$|people|persons|records")
NO_COUNT = re.compile(r"\b(?:shares?|rates?|ratio|fraction|per|percent|proportion|probability|mean|average|median)\b|%")
DIFFERENT = "different values"  # a column with how many each attribute has, which may be somebody's values by chance
ASIDE = 3  # columns that may hold the names of attributes


def _all_numbers(cells: Iterable[str]) -> bool:
    return all(NUMBER.fullmatch(cell) for cell in cells if cell)


def counts_people(name: str) -> bool:
    """Return whether a column of this name holds numbers of people."""
    name = name.casefold().replace("_", " ") if not name.startswith("__") else name
    return bool(COUNT.search(name)) and not NO_COUNT.search(name)


class Columns:
    """One table of records as plain text, to look up whose values a shown row has."""

    def __init__(self, table: pd.DataFrame, people: IntArray | None = None) -> None:
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

    def count(self, shown: Mapping[str, str]) -> int:
        """Return how many people have all the values of `shown`, `{attribute: value}`."""
        if not shown or any(value not in self.domain.get(name, ()) for name, value in shown.items()):
            return 0
        alike = np.ones(len(self.codes[0]), dtype=bool)
        for name, value in shown.items():
            alike &= self.codes[self.names.index(name)] == self.domain[name][value]
        return int(alike.sum()) if self.people is None else len(np.unique(self.people[alike]))

    def best_match(self, cells: Counter[str]) -> dict[str, str]:
        """Return `{attribute: value}` of the record that shares most values with `cells`, a Counter."""
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
                if value is not None:  # a cell tells one attribute only
                    left[value] -= 1
                    match[name] = value
            best = max(best, match, key=len)
        return best


class Known:
    """What is known of the records to protect: which rows show one of them."""

    what = "raw record"

    def __init__(self, original: pd.DataFrame, fewest: int, people: IntArray | None = None) -> None:
        self.original = Columns(original, people)
        self.fewest = fewest
        self.attributes = set(self.original.names)
        self.needed = min(max(3, (len(self.attributes) + 1) // 2), len(self.attributes))
        self.many = max(4, -(-2 * len(self.attributes) // 3))  # where no column names help
        self.domain = {name: {*texts} - {""} for name, texts in self.original.domain.items()}
        self.values = set().union(*self.domain.values())
        self.words = {value for value in self.values if not NUMBER.fullmatch(value)}
        self.starts = {found[0] for found in map(WORD.search, self.words) if found}

    def records(self, node: str | Table) -> Iterator[Shown]:
        """Yield each record that a row of a table or a line of a text shows."""
        if not isinstance(node, Table):
            yield from self._in_text(node)
        elif any(name.casefold() in self.attributes for name in chain(node.names, *(row[:ASIDE] for row in node.rows))):
            yield from self._named(node)
        else:
            # The first column may tell the number of the row; where there is no heading, names are the first row.
            numbered = any(node.names) and _all_numbers(node.names[:1])
            shown = [i for i, name in enumerate(node.names) if not (counts_people(name) or (numbered and i == 0))]
            for number, row in enumerate([node.names, *node.rows]):
                yield from self._unnamed(number, [row[i] for i in shown])

    def _named(self, table: Table) -> Iterator[Shown]:
        for candidate in chain([table], _turned(table, self.attributes)):
            columns, needed = self._columns(candidate)
            for number, row in enumerate(candidate.rows, 1) if len(columns) >= needed else ():
                cells = {name: row[i] for name, i in columns.items()}
                shown = {name: value for name, value in cells.items() if value in self.domain[name]}
                if not (len(shown) < self.needed and self._counts(cells)) and self._is_raw(shown, needed):
                    yield Shown(number, list(shown))

    def _columns(self, table: Table) -> tuple[dict[str, int], int]:
        """Return the columns of attributes in a table, and how many of them make a row a record."""
        names = [name.casefold() for name in table.names]
        columns = {name: i for i, name in enumerate(names) if name in self.attributes}
        return columns, min(3, self.needed) if self._is_bare(table) else self.needed

    def _is_bare(self, table: Table) -> bool:
        """Whether nothing stands next to the attributes of a table but the numbers of its rows."""
        others = [i for i, name in enumerate(table.names) if name.casefold() not in self.attributes]
        numbered = (_all_numbers(row[i] for row in table.rows) for i in others)
        return all(table.names[i].casefold() in ("", "index") for i in others) and all(numbered)

    def _counts(self, cells: Mapping[str, str]) -> bool:
        """Whether cells are no record's: numbers where all values of an attribute are words."""
        return any(NUMBER.fullmatch(cell) and self.domain[name] <= self.words for name, cell in cells.items())

    def _is_raw(self, shown: Mapping[str, str], needed: int) -> bool:
        """Whether fewer people than the minimum count have the original values that are shown."""
        return len(shown) >= needed and 0 < self.original.count(shown) < self.fewest

    def _unnamed(self, number: int, cells: Iterable[str]) -> Iterator[Shown]:
        cells = [cell for cell in cells if cell in self.values]
        if self._is_few(cells):
            return
        shown = self.original.best_match(Counter(cells))
        if self._is_one_record(cells, shown) and self._is_raw(shown, self.many):
            yield Shown(number, list(shown))

    def _is_few(self, cells: Sequence[str]) -> bool:
        return len(cells) < self.many or sum(cell in self.words for cell in cells) < 2

    def _is_one_record(self, cells: Sequence[str], shown: Mapping[str, str]) -> bool:
        """Whether cells show one record: a list of an attribute's values holds more words than one record can."""
        words = sum(value in self.words for value in shown.values())
        others = sum(cell in self.words for cell in cells) - words
        return len(shown) >= self.many and words > 1 and 2 * others < len(shown)

    def _in_text(self, text: str) -> Iterator[Shown]:
        lines, names, spoken = _read(text)
        loose = not self.starts.isdisjoint(spoken)
        if not loose and self.attributes.isdisjoint(names):
            return
        upright: dict[str, str] = {}  # a record set out from top to bottom
        counts = False  # whether these are how many values there are
        for number, (line, name, value, words) in enumerate(lines, 1):
            counts = DIFFERENT in line or (counts and name in self.attributes)
            if upright and (name in upright or name not in self.attributes):
                yield from self._named(Table(tuple(upright), (tuple(upright.values()),), listed=False))
                upright = {}
            if name in self.attributes and not counts:
                upright[name] = cell_of(value)
            if loose and len(line) >= 2 * self.many - 1 and sum(word in self.starts for word in words) > 1:
                yield from self._unnamed(number, self._words_of(line))

    def _words_of(self, line: str) -> Iterator[str]:
        """Yield the cells of a line whatever stands between them; several words are one cell if they are one value."""
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


class RareCombinations(Known):
    """The same of quasi-identifiers alone: combinations that few people have."""

    what = "rare combination of quasi-identifiers"

    def __init__(self, original: pd.DataFrame, fewest: int, people: IntArray | None = None) -> None:
        super().__init__(original, fewest, people)
        self.needed, self.many = 3, max(3, len(self.attributes))

    def _is_raw(self, shown: Mapping[str, str], needed: int) -> bool:
        return any(value in self.words for value in shown.values()) and super()._is_raw(shown, needed)


PAIR = re.compile(r"[\s{'\"]*([\w .()-]*?[\w)])['\"]?(?:\s*[:=]\s*|\s{2,})(\S.*)")
BETWEEN = re.compile(r"[\t,;|(){}\[\]'\"]|\s{2,}|\s&\s|:\s|(?<![<>!])=")


@functools.lru_cache(1)  # several ask the same of a text, one after the other
def _read(text: str) -> tuple[list[tuple[str, str | None, str, list[str]]], set[str | None], set[str]]:
    """Return the lines of a text that are not blank, each with the name and value of a pair that it may be, and its
    words; and the names and the words of all.
    """
    lines = []
    for line in [*lines_of(text), "."]:
        if line.strip():
            pair = PAIR.match(line)
            name, value = (pair[1].casefold(), pair[2].strip("'\" ,")) if pair else (None, "")
            lines.append((line, name, value, WORD.findall(line)))
    return lines, {name for _, name, _, _ in lines}, set(chain.from_iterable(words for *_, words in lines))


def _turned(table: Table, attributes: set[str]) -> Iterator[Table]:
    """Yield the table with rows and columns exchanged: records set out from top to bottom, or several one below the
    other. The names of `attributes` stand in one of the first columns.
    """
    for place in range(min(ASIDE, len(table.names))):
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
            yield Table(heads, tuple(column for column in columns if column[0] != DIFFERENT), table.listed)


# --- What may not leave of a described table ---


class LeakError(PrivacyError):
    """An output holds an original record, a name or an identifier. The message says where, and shows none.

    Attributes
    ----------
    leaks : list of Leak
    """

    def __init__(self, leaks: list[Leak], kept: str) -> None:
        self.leaks = leaks
        places = [f"  {leak}" for leak in leaks[:SAID]]
        more = [f"  and {len(leaks) - SAID:,} more places"] if len(leaks) > SAID else []
        done = "Show groups and counts there instead, or give a column that is public another role in the description."
        text = f"it holds what is of single people, in {len(leaks):,} places, and is not put into its place:"
        super().__init__("\n".join([text, *places, *more, f"{done} {kept}".strip()]))


@validated
def check(
    folder: validation.Path,
    described: Iterable[str | os.PathLike[str]],
    *,
    fewest: MinCount = LIMIT,
    kept: str = "",
    public: Sequence[str] = (),
) -> None:
    """Raise LeakError if a file below `folder` holds an original record of a dataset.

    Parameters
    ----------
    folder : path-like
        Of what is to be shown, or one file.
    described : sequence of path-like
        The description files of the datasets, or their names.
    fewest : int
        What this many people share reveals nobody.
    kept : str
        Where the work is kept, a sentence for the error.
    public : sequence of str
        Texts that everybody knows, see `records_in`.
    """
    leaks: dict[Leak, None] = {}
    for path in dict.fromkeys(dataset.find(name).resolve() for name in described):
        leaks |= dict.fromkeys(records_in(folder, *protected(path), fewest, public))
    if leaks:
        raise LeakError([*leaks], kept)


def protected(path: Path) -> tuple[list[Original], Names]:
    """Return what may not leave of the dataset of a description: its records, once per study, and names."""
    described = Chosen.of(path, None)
    text = described.text
    cells = dataset.cells(path.parent, text)
    for outside in OUTSIDE:  # values outside of their domains are somebody's, too
        described, _ = described.taking(outside, [*cells], functools.partial(dataset._different, cells))
    table, originals = described.cleaned(cells), dict[Any, Original]()
    for study in text.get("studies", [None]):
        schema = Chosen.of(path, study).schema
        names = tuple(each.name for each in schema.attributes if each.role in PUBLISHED)
        own = [name for name in schema.quasi_identifiers if name in names]
        people = None if schema.person is None else pd.factorize(table[schema.person], use_na_sentinel=False)[0]
        originals.setdefault((names, tuple(own)), Original(table[[*names]], own, people))
    values = {name: cells[name].cat.categories.tolist() for name in text["columns"]}
    # Unused columns of nearly one value per person name people as well.
    alone = {name for name in dataset.in_role(text, Role.UNUSED) if len(values[name]) > len(cells) / 2}
    persons = dataset.in_role(text, Role.IDENTIFIER, Role.PERSON) | alone
    naming = {name: values[name] for name in text["columns"] if name in persons}
    return [*originals.values()], Names(naming, _ours(path, text, naming) if naming else "")


def _ours(path: Path, text: Mapping[str, Any], naming: Mapping[str, Any]) -> str:
    """Return the words that name nobody: of our own texts, and of the description without the columns `naming`."""
    public = {name: entry for name, entry in text["columns"].items() if name not in naming}
    said = str({**text, "columns": public}) + " ".join(map(str, text["columns"]))
    trees = (file.read_text(encoding="utf-8") for file in path.parent.glob("hierarchies/*/*.csv"))
    return f"{_words()} {words_of(said, *trees)}"


@functools.cache
def _words() -> str:
    files = [*PACKAGE.rglob("*"), *(dataset.PROJECT / "notebooks").glob("[0-9][0-9]_*.ipynb")]
    texts = (file.read_text(encoding="utf-8") for file in files if file.suffix in TEXTS)
    return words_of(*texts)
