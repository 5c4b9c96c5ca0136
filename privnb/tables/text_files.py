"""Text files of records: the inference of their layout, the scan of their records, and errors with line numbers.

DuckDB reads the files. A file that is not UTF-8, or whose header contains line breaks, is read from a temporary copy
that only the user who started the process can read. The csv module of Python counts the records a second time. Files
are scanned in pieces, because a file may be larger than the memory.
"""

from __future__ import annotations

import codecs
import collections
import contextlib
import csv
import io
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from privnb.microdata.schema import SchemaError
from privnb.runtime import temporary
from privnb.runtime.lazy import duckdb
from privnb.runtime.names import make_unique
from privnb.tables import encodings, engine
from privnb.tables.notation import NUMBER

SEPARATORS = ",;\t|"
SEEN = 20  # the number of rows in which the column names are searched
LONGEST = 2_000_000  # the maximum length of a line in DuckDB, in bytes
BREAKS = {"\r\n": r"\r\n", "\n": r"\n", "\r": r"\r"}  # line breaks, and their names in DuckDB
# Errors of DuckDB that concern a line.
TITLE = "A TITLE"  # a line with one cell above the column names
FAULTS = {
    TITLE: "has more than one cell, but line 1, which should hold the column names, has one. If it is a title, delete "
    "the lines above the names.",
    "TOO MANY COLUMNS": "has more {}. Correct the line, or delete it.",
    "MISSING COLUMNS": "has fewer {}. Correct the line, or delete it.",
    "UNQUOTED VALUE": "has an unmatched quotation mark. Correct it: a cell with such a mark must be in quotation "
    'marks and double it, as in "a 5"" nail".',
    "LINE SIZE OVER MAXIMUM": "is longer than 2,000,000 bytes. Check whether the file is a table, and leave out the "
    "long column.",
}


@dataclass(frozen=True)
class Layout:
    """The layout of a text file of records; files of other kinds need no such statement.

    Parameters
    ----------
    separator : str
        The separator of cells, which is one character.
    encoding : str
        The encoding, by the name that Python uses.
    header : bool
        Whether the first line holds the column names.
    skip_lines : int
        The number of lines at the top that are neither names nor records.
    line_end : str
        A text at the end of each line that does not belong to the last cell.
    quote : str
        The quotation mark, " or ', around cells that contain a separator.
    is_proposed : bool
        Whether the encoding is only a proposal, because it is neither stated nor certain.
    others : tuple of str
        The encodings that fit equally well but result in different letters.
    """

    separator: str = ","
    encoding: str = "utf-8"
    header: bool = True
    skip_lines: int = 0
    line_end: str = ""
    quote: str = '"'
    is_proposed: bool = field(default=False, compare=False, repr=False)
    others: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """Return the layout that a description states for a file, as `{key: value}`; further keys are ignored."""
        return cls(**{key: value for key, value in said.items() if key in cls.__dataclass_fields__})


@contextlib.contextmanager
def scan_text(
    path: Path, layout: Layout, names: Sequence[str] | None = None
) -> Iterator[tuple[list[str], str, Callable[[duckdb.DuckDBPyConnection], None]]]:
    """Yield a query for the records of a text file; the columns of the query are c0, c1, ...

    The arguments and the errors are those of `reading.scan`, but the layout must be given.

    Yields
    ------
    names : list of str
        The names of the columns.
    query : str
        The SQL query, which is valid only inside the `with` statement.
    check : function of a connection
        A function to call after the query. It raises SchemaError for the first line whose number of cells differs from
        the number of names.
    """
    with contextlib.ExitStack() as stack:
        is_plain = _is_plain(path, layout.encoding)
        if not is_plain:
            _check(path, layout.encoding)
        first, lines, line_break = _top(path, layout)
        own, above = (first, lines) if layout.header else ([*(names or ())], layout.skip_lines)
        file, skipped = path, above
        if not is_plain or _is_miscounted(path, layout, above):
            file, skipped = stack.enter_context(_copied(path, layout.encoding, above)), 0
            line_break = line_break.replace("\r\n", "\n")
        columns = ", ".join(f"c{number}: 'VARCHAR'" for number in range(len(own)))

        def check(connection: duckdb.DuckDBPyConnection) -> None:
            faults = connection.execute(
                "select line_byte_position, error_type from reject_errors join reject_scans using (scan_id, file_id) "
                "where file_path = $file and trim(csv_line, ' \r\n\t') != '' order by line_byte_position limit 1",
                {"file": str(file)},
            ).fetchall()
            if faults:
                place, fault = faults[0]
                number = f"than {len(own)} cells, separated by {layout.separator!r}"
                if len(own) == 1 and fault == "TOO MANY COLUMNS":
                    fault, number = TITLE, ""
                line = above - skipped + _line(file, place - 1)
                said = FAULTS.get(fault, f"cannot be read ({fault.lower()}). Correct it.").format(number)
                if layout.header and fault == "TOO MANY COLUMNS" and line == above + 1:
                    said += " If the lines above it are a title and not column names, delete them."
                raise SchemaError(f"{path.name}: line {line} {said}")

        mark = engine.quote_text(layout.quote)
        query = (
            f"select * from read_csv({engine.quote_text(str(file))}, delim = {engine.quote_text(layout.separator)}, "
            f"quote = {mark}, escape = {mark}, header = false, skip = {skipped}, auto_detect = false, nullstr = '', "
            f"new_line = '{BREAKS[line_break]}', store_rejects = true, columns = {{{columns}}})"
        )
        yield own, query, check


def check_record_count(paths: Sequence[Path], layouts: Sequence[Layout | None], found: int) -> None:
    """Raise SchemaError unless the csv module of Python counts the same number of records as the engine.

    Parameters
    ----------
    paths : list of Path
        The paths of text files.
    layouts : list of Layout
    found : int
        The number of records that the engine has read from all files. A row with only blank cells is not a record.
    """
    counted = sum(_record_count(path, layout) for path, layout in zip(paths, layouts, strict=True) if layout)
    if counted != found:
        raise SchemaError(
            f"{', '.join(path.name for path in paths)} cannot be read reliably: one reader finds {found:,} records, "
            f"and a second one {counted:,}. Check for unmatched quotation marks and line breaks in cells, or save the "
            "table again as CSV in UTF-8."
        )


ONE_LIMIT = threading.Lock()  # protects the limit on the length of a cell, which the csv module shares among threads


def _record_count(path: Path, layout: Layout) -> int:
    """Return the number of rows below the header that have at least one cell that is not blank."""
    with ONE_LIMIT, _opened(path, layout.encoding) as lines:
        before = csv.field_size_limit(LONGEST)
        try:
            if layout.header:
                _first(path, lines, layout)
            else:
                collections.deque(itertools.islice(lines, layout.skip_lines), 0)
            rows: Iterable[list[str]] = (cells for cells, _ in _rows(path, lines, layout) if cells)
            if end := layout.line_end:
                rows = ([*cells[:-1], cells[-1].removesuffix(end)] for cells in rows)
            return sum(1 for cells in rows if any(map(str.strip, cells)))
        finally:
            csv.field_size_limit(before)


def read_header(path: Path, layout: Layout) -> list[str]:
    """Return the column names of a text file with a given layout, without reading the lines below the header.

    Raises SchemaError for an empty file.
    """
    return _top(path, layout)[0]


def read_first_records(path: Path, layout: Layout) -> list[list[str]]:
    """Return the cells of some rows below the header that have as many cells as the header."""
    with _opened(path, layout.encoding) as lines:
        names, _ = _first(path, lines, layout)
        rows: list[list[str]] = []
        with contextlib.suppress(SchemaError):  # a faulty row is reported when all rows are read
            rows.extend(cells for cells, _ in itertools.islice(_rows(path, lines, layout), SEEN))
    return [cells for cells in rows if len(cells) == len(names)]


def _top(path: Path, layout: Layout) -> tuple[list[str], int, str]:
    """Return the names in the first row of a text file, the number of the row's last line, and its line break.

    Raises SchemaError if the layout has a header but the file is empty.
    """
    with _opened(path, layout.encoding) as lines:
        names, number = _first(path, lines, layout)
    if layout.header and not names:
        raise SchemaError(f"{path.name} is empty. Give a file with records.")
    with _opened(path, layout.encoding) as lines:
        last = collections.deque(itertools.islice(lines, number if names else None), 1)
    return make_unique(names), number, next((each for each in BREAKS if last and last[0].endswith(each)), "\n")


def guess_layout(path: Path, encoding: str | None = None) -> Layout:
    """Return the inferred layout of a text file with a header.

    The layout consists of the encoding, the title rows, the separator and the quotation mark.

    The separator is the character that divides the first line into the most names. If each name is in single quotation
    marks, the file uses single quotation marks. `encoding` is the encoding that the owner states. If it is None, the
    encoding is UTF-8 or UTF-16 if one of these fits the file, and otherwise the proposal of
    `encodings.propose_encoding`. Raises SchemaError for a file that mixes two encodings.
    """
    with path.open("rb") as file:
        start = file.read(4 * LONGEST)  # holds more than the first line
    marked = next((name for mark, name in encodings.MARKS.items() if start.startswith(mark)), "utf-8")
    found = encodings.Proposal(encoding or marked)
    if encoding:
        encodings.check_encoding_name(encoding)
        _check(path, encoding)
    elif marked == "utf-8" and (fault := _fault(path, marked)) is not None:
        proposal = encodings.propose_encoding(partial(_pieces, path), lambda name: _fault(path, name) is None)
        if proposal is None:
            raise SchemaError(
                f"{path.name} seems to mix two encodings: it is UTF-8 except for {_where(path, fault)}. Save the file "
                "in UTF-8, or state its encoding."
            )
        found = proposal
    is_proposed, encoding = found.encoding not in encodings.MARKS.values() and not encoding, found.encoding
    _check_zeros(path, encoding)
    first = codecs.getincrementaldecoder(encoding)().decode(start).removeprefix("\ufeff")[:LONGEST]

    def cells(layout: Layout) -> list[str]:
        return _first(path, io.StringIO(first, newline=""), layout)[0]

    def below_titles(separator: str) -> Layout:
        layout = Layout(separator, encoding, is_proposed=is_proposed, others=found.others)
        rows: list[tuple[list[str], int]] = []
        with contextlib.suppress(SchemaError):  # a row that is too long for names may be a record
            rows.extend(itertools.islice(_rows(path, io.StringIO(first, newline=""), layout), SEEN))
        above = count_title_rows([cells for cells, _ in rows])
        return replace(layout, skip_lines=rows[above - 1][1] if above else 0)

    best = max(map(below_titles, SEPARATORS), key=lambda each: len(cells(each)))
    single = all(len(cell) > 2 and cell[0] == cell[-1] == "'" for cell in cells(best))
    return replace(best, quote="'") if single else best


def check_encoding(path: Path, layout: Layout | None) -> None:
    """Raise SchemaError for a layout whose encoding is a proposal if other encodings are also possible."""
    if layout is not None and layout.others:
        raise SchemaError(
            f"{path.name} is not UTF-8. Its encoding may be {layout.encoding} or {' or '.join(layout.others)}, which "
            f"give different letters. State the correct encoding, such as --encoding {layout.encoding} or "
            f"encoding={layout.encoding!r}, or save the file in UTF-8."
        )


def count_title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows above the column names, such as title, note and blank rows of a spreadsheet.

    Each of these rows has at most one cell, or two cells if the first cell ends in a colon. The row below these rows
    has at least three names, which are not numbers, and each record has the same number of cells as the row of names.

    >>> count_title_rows([["Patients"], [], ["as of:", "2020-12-31"], ["age", "sex", "town"], ["34", "f", "Bern"]])
    3
    >>> count_title_rows([["age", "sex", "town"], ["34", "f", "Bern"]])
    0
    """
    held = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    above = next((at for at, row in enumerate(held) if len(row) > 1 + "".join(row[:1]).endswith(":")), 0)
    names = held[above] if held else []
    alike = {len(row) for row, cells in zip(rows[above:], held[above:], strict=True) if cells}
    fits = len(names) > 2 and len(alike) == 1 and len(rows) > above + 1 and any(held[:above])
    return above if fits and not any(map(NUMBER.fullmatch, names)) else 0


def _first(path: Path, lines: IO[str], layout: Layout) -> tuple[list[str], int]:
    """Return the cells of the first row that is not blank, and the number of lines up to the end of the row."""
    above = sum(1 for _ in itertools.islice(lines, layout.skip_lines))
    for cells, line in _rows(path, lines, layout):
        if any(cell.strip() for cell in cells):
            return cells, above + line
    return [], above


def _rows(path: Path, lines: IO[str], layout: Layout) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row of a text, and the number of lines up to the end of the row."""
    reader = csv.reader(lines, delimiter=layout.separator, quotechar=layout.quote, skipinitialspace=True)
    try:
        for cells in reader:
            yield cells, reader.line_num
    except csv.Error as error:
        raise SchemaError(f"{path.name}: line {reader.line_num} cannot be read as CSV: {error}.") from None


@contextlib.contextmanager
def _opened(path: Path, encoding: str) -> Iterator[IO[str]]:
    """Yield an open text file, positioned after its byte order mark, in which all line breaks stay unchanged."""
    with path.open(encoding=encoding, newline="") as file:
        if file.read(1) != "\ufeff":
            file.seek(0)
        yield file


def _is_miscounted(path: Path, layout: Layout, above: int) -> bool:
    """Return whether the engine may miscount the first `above` lines of a file, which it skips.

    The engine counts rows instead of lines, but a quoted cell may contain line breaks. The engine also interprets a
    byte order mark as a part of the first cell. Without a byte order mark, a header of one line is always one row.
    """
    with _opened(path, layout.encoding) as lines:
        if not any(layout.quote in line for line in itertools.islice(lines, above)):
            return False
    return above > 1 or not layout.header or next(_pieces(path)).startswith(codecs.BOM_UTF8)


@contextlib.contextmanager
def _copied(path: Path, encoding: str, above: int) -> Iterator[Path]:
    """Yield the path of a copy in UTF-8 with one kind of line break, without the first `above` lines."""
    with temporary.temporary_folder() as folder:
        copy, held = folder / "text", ""
        with _opened(path, encoding) as source, copy.open("w", encoding="utf-8", newline="") as file:
            collections.deque(itertools.islice(source, above), 0)
            while piece := source.read(PIECE):
                text = held + piece
                held = "\r" if text.endswith("\r") else ""  # this may be half of a line break
                file.write(text.removesuffix(held).replace("\r\n", "\n"))
            file.write(held)
        yield copy


PIECE = 2**24  # the number of bytes of a file that are read at a time


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _is_plain(path: Path, encoding: str) -> bool:
    """Return whether the engine can read a file without a copy.

    The file must be UTF-8 with one kind of line break, and the path must not contain *, ? or [, which the engine would
    interpret as a pattern.
    """
    if set("*?[") & set(str(path)):
        return False
    known, breaks, before = codecs.getincrementaldecoder("utf-8")(), np.zeros(3, dtype=np.int64), b""
    for piece in _pieces(path):
        if b"\0" in piece:
            return False
        if not piece.isascii() or known.getstate()[0]:
            if encoding != "utf-8":
                return False
            try:
                known.decode(piece)
            except UnicodeDecodeError:
                return False
        if b"\r" in piece or before == b"\r":
            breaks[:2] += piece.count(b"\r"), (before + piece).count(b"\r\n")
        breaks[2] += piece.count(b"\n")
        before = piece[-1:]
    return not known.getstate()[0] and (not breaks[0] or breaks[1] in (0, breaks[2]))


def _check(path: Path, encoding: str) -> None:
    """Raise SchemaError for a file that is not a text in this encoding."""
    if (fault := _fault(path, encoding)) is not None:
        raise SchemaError(
            f"{path.name} is not text in {encoding}: {_where(path, fault)}. Save the file as CSV in UTF-8, or state "
            "its encoding in [format]."
        )
    _check_zeros(path, encoding)


def _check_zeros(path: Path, encoding: str) -> None:
    """Raise SchemaError for a file with a zero byte; `encoding` is the encoding of the file."""
    wide, known = encoding in encodings.MARKS.values(), codecs.getincrementaldecoder(encoding)()
    for number, piece in enumerate(_pieces(path)):
        if not wide and piece.isascii() and b"\0" not in piece:
            continue
        text = known.decode(piece)
        if "\0" in text:
            known.reset()
            before = sum(known.decode(each).count("\n") for each in itertools.islice(_pieces(path), number))
            line = 1 + before + text[: text.index("\0")].count("\n")
            raise SchemaError(
                f"{path.name} is not a text file: line {line} holds a zero byte. Save the file as CSV in UTF-8."
            )


def _fault(path: Path, encoding: str) -> int | None:
    """Return the position of the first byte that does not fit an encoding; None if all bytes fit the encoding."""
    known, done = codecs.getincrementaldecoder(encoding)(), 0
    for piece in _pieces(path):
        held = len(known.getstate()[0])
        if held or encoding != "utf-8" or not piece.isascii():  # ASCII is faster to check
            try:
                known.decode(piece)
            except UnicodeDecodeError as error:
                return done - held + error.start
        done += len(piece)
    held = len(known.getstate()[0])
    try:
        known.decode(b"", final=True)
    except UnicodeDecodeError:
        return done - held
    return None


def _where(path: Path, place: int) -> str:
    """Return a phrase that states the byte at a position and the number of its line."""
    with path.open("rb") as file:
        file.seek(place)
        return f"byte 0x{file.read(1)[0]:02x} in line {_line(path, place)}"


def _line(path: Path, place: int) -> int:
    """Return the number of the line, as text editors count lines, that contains the byte at a position."""
    number, left, before = 1, place, b""
    for piece in _pieces(path):
        seen = piece[:left]
        number += seen.count(b"\n") + seen.count(b"\r") - (before + seen).count(b"\r\n")
        before, left = seen[-1:], left - len(piece)
        if left <= 0:
            break
    return number
