"""Text files of records: how their lines are laid out, what is guessed of that, and which line is at fault.

DuckDB reads them. What is no UTF-8 is read from a copy in UTF-8, which is its owner's alone and gone afterwards.
"""

import codecs
import contextlib
import csv
import io
import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from privnb.microdata import engine
from privnb.microdata.schema import SchemaError

SEPARATORS = ",;\t|"
LONGEST = 2_000_000  # bytes of a line; DuckDB refuses more
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# What DuckDB finds wrong with a line.
FAULTS = {
    "TOO MANY COLUMNS": "has more {}. Correct the line, or delete it.",
    "MISSING COLUMNS": "has fewer {}. Correct the line, or delete it.",
    "UNQUOTED VALUE": "has a quotation mark that belongs to no other. Correct it: a cell with such a mark stands in "
    'quotation marks, and has it twice, as in "a 5"" nail".',
    "LINE SIZE OVER MAXIMUM": "is longer than 2,000,000 bytes. Is this a table? If so, leave that column out.",
}


@dataclass(frozen=True)
class Layout:
    """How records stand in a text file; files of other kinds say so themselves.

    Parameters
    ----------
    separator : str
        One character.
    encoding : str
        As Python names it.
    header : bool
        Whether the first line has the columns' names.
    skip_lines : int
        Lines above all others that are neither names nor records.
    line_end : str
        What each line ends in, and is no part of its last value.
    """

    separator: str = ","
    encoding: str = "utf-8"
    header: bool = True
    skip_lines: int = 0
    line_end: str = ""


def records(path, layout, names=None):
    """The names of the columns of a text file, and a column of texts each, as Arrow has them.

    Parameters
    ----------
    path : Path
    layout : Layout
    names : sequence of str, optional
        Of the columns of a file without a header.

    Raises
    ------
    SchemaError
        For an empty file, one that cannot be decoded, and a line with more or fewer cells than there are names.
    """
    with _utf8(path, layout.encoding) as file:
        skipped = layout.skip_lines
        if layout.header:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                names, skipped = _first(path, lines, layout)
            if not names:
                raise SchemaError(f"{path.name} is empty. There is nothing to do.")
        columns = ", ".join(f"c{number}: 'VARCHAR'" for number in range(len(names)))
        found, faults = engine.queried(
            f"select * from read_csv($file, delim = $separator, quote = '\"', escape = '\"', header = false, "
            f"skip = {skipped}, auto_detect = false, nullstr = '', store_rejects = true, columns = {{{columns}}})",
            "select line_byte_position, error_type from reject_errors where trim(csv_line, ' \r\n\t') != '' "
            "order by line_byte_position limit 1",
            file=str(file),
            separator=layout.separator,
        )
        if faults:
            place, fault = faults[0]
            number = f"than {len(names)} cells, separated by {layout.separator!r}"
            raise SchemaError(
                f"{path.name}: line {_line(file.read_bytes(), place - 1)} "
                + FAULTS.get(fault, f"cannot be read ({fault.lower()}). Correct it.").format(number)
            )
    return names, found.columns


def guessed(path):
    """The layout of a text file with a header: its encoding, and the separator that gives its first line most cells.

    What is no UTF-8 is taken for Western European text of Windows (cp1252). Raises SchemaError for a file that is both.
    """
    content = path.read_bytes()
    encoding = next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")
    fault = _fault(content, encoding)
    if encoding == "utf-8" and fault is not None:
        encoding = "cp1252"
        if _fault(content, encoding) is not None or not content.decode("utf-8", "ignore").isascii():
            raise SchemaError(
                f"{path.name} has two encodings, it seems: it is UTF-8 but for byte 0x{content[fault]:02x} in line "
                f"{_line(content, fault)}. Save it in UTF-8."
            )
    first = _decoded(path, content, encoding)[:LONGEST]  # its first line, and more
    layouts = [Layout(separator, encoding) for separator in SEPARATORS]
    return max(layouts, key=lambda each: len(_first(path, io.StringIO(first, newline=""), each)[0]))


def _first(path, lines, layout):
    """The cells of the first line of a text that is not blank, and the number of lines up to its end."""
    above = sum(1 for _ in itertools.islice(lines, layout.skip_lines))
    reader = csv.reader(lines, delimiter=layout.separator, skipinitialspace=True)
    try:
        cells = next((cells for cells in reader if any(cell.strip() for cell in cells)), [])
    except csv.Error as error:
        raise SchemaError(f"{path.name}: line {reader.line_num} cannot be read as CSV: {error}.") from None
    return cells, above + reader.line_num


@contextlib.contextmanager
def _utf8(path, encoding):
    """The path of a text file in UTF-8 with one kind of line ends: itself, or a copy for as long as it is read."""
    if _is_plain(path, encoding):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "text"
        text = _decoded(path, path.read_bytes(), encoding)
        copy.write_text(text.replace("\r\n", "\n"), encoding="utf-8", newline="")
        yield copy


def _is_plain(path, encoding):
    """Whether the engine can read a file as it is. A name with *, ? or [ would be a pattern to it."""
    content = path.read_bytes()
    return (
        (content.isascii() or (encoding == "utf-8" and _fault(content, encoding) is None))
        and (b"\r" not in content or content.count(b"\r\n") in (0, content.count(b"\n")))
        and b"\0" not in content
        and not set("*?[") & set(str(path))
    )


def _decoded(path, content, encoding):
    fault = _fault(content, encoding)
    if fault is not None:
        raise SchemaError(
            f"{path.name} is not text in {encoding}: byte 0x{content[fault]:02x} in line {_line(content, fault)}. "
            "Save it as CSV in UTF-8, or say its encoding in [format]."
        )
    found = content.decode(encoding)
    if "\0" in found:
        line = _line(content, content.index(b"\0"))
        raise SchemaError(f"{path.name} is no text file: line {line} holds a zero byte. Save it as CSV in UTF-8.")
    return found.removeprefix("\ufeff")


def _fault(content, encoding):
    """The place of the first byte that is none of an encoding; None if there is none."""
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start


def _line(content, place):
    return content[:place].count(b"\n") + 1
