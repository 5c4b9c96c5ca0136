"""Read a file of records, whatever wrote it: every cell as text, and each distinct text once.

DuckDB reads text and Parquet, openpyxl Excel's workbooks, pyreadstat what SPSS, Stata and SAS wrote. The first
bytes of a file say what it is. A connection is opened and closed per file, and asks for nothing from elsewhere.
"""

import codecs
import contextlib
import csv
import datetime
import importlib
import io
import itertools
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from privnb.microdata import expect
from privnb.microdata.hierarchy.generalization import text
from privnb.microdata.names import name_list
from privnb.microdata.schema import SchemaError

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")  # no leading zero: those are codes, such as postcodes
SEPARATORS = ",;\t|"
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
TEXT, PARQUET, EXCEL = "text", "a Parquet file", "an Excel workbook"
SPSS, STATA, SAS = "an SPSS file", "a Stata file", "a SAS file"
# What the first bytes of a file say that it is; text has none of its own.
KINDS = {
    b"PAR1": PARQUET, b"PK\3\4": EXCEL, b"$FL2": SPSS, b"$FL3": SPSS, b"<stata_dta>": STATA, b"\x71\1\1": STATA,
    b"\x71\2\1": STATA, b"\x72\1\1": STATA, b"\x72\2\1": STATA, b"\x73\1\1": STATA, b"\x73\2\1": STATA,
    bytes(12) + b"\xc2\xea": SAS,
}  # fmt: skip
# What its name says.
ENDINGS = {
    ".csv": TEXT, ".tsv": TEXT, ".txt": TEXT, ".parquet": PARQUET, ".xlsx": EXCEL, ".sav": SPSS, ".zsav": SPSS,
    ".dta": STATA, ".sas7bdat": SAS,
}  # fmt: skip
PYREADSTAT = {SPSS: "read_sav", STATA: "read_dta", SAS: "read_sas7bdat"}


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


def read(path, layout=None, names=None):
    """All records of a file, in its order.

    Parameters
    ----------
    path : Path
    layout : Layout, optional
        Of a text file; None: see `guessed`.
    names : sequence of str, optional
        The columns of a text file without a header.

    Returns
    -------
    DataFrame
        Per column a Categorical of texts, without spaces before them. A blank cell is missing. A line that is blank, or
        has blank cells alone, is no record.

    Raises
    ------
    SchemaError
        For a file of another kind than its name says, or that cannot be decoded; no names, or two columns of one; a
        line with more or fewer cells than there are names.
    OSError
        If it cannot be read.
    """
    found = kind(path)
    if found == TEXT:
        return _text(path, layout or guessed(path), names)
    if found == PARQUET:
        return _parquet(path)
    sheet = _excel(path) if found == EXCEL else _statistics(path, found)
    return _table(path, list(map(str, sheet)), [_written(sheet.iloc[:, place]) for place in range(sheet.shape[1])])


def read_unknown(path):
    """All records of a file of unknown layout with its columns' names in the first line.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    table : DataFrame
        At least one record, see `read`.
    layout : Layout or None
        Of a text file.

    Raises
    ------
    FileNotFoundError
    SchemaError
        As `read`; and for a folder, a file without a record, and one that starts with a record.
    """
    path = Path(expect.path("path", path))
    if path.is_dir():
        tables = name_list(sorted(each.name for each in path.iterdir() if each.suffix.lower() in ENDINGS))
        raise SchemaError(f"'{path}' is a folder. Name a file{f' in it: {tables}' if tables else ''}.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'.")
    layout = guessed(path) if kind(path) == TEXT else None
    table = read(path, layout)
    if table.empty:
        raise SchemaError(f"{path.name} has column names but no record. There is nothing to do.")
    number = next((name for name in table if NUMBER.fullmatch(name)), None)
    if number:
        raise SchemaError(
            f"{path.name} starts with a record, it seems ({number!r} in line 1). Put a line of column names first."
        )
    return table, layout


def kind(path):
    """What a file is, by its first bytes. Raises SchemaError if its name says something else."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror}.") from error
    found = next((kind for mark, kind in KINDS.items() if start.startswith(mark)), TEXT)
    said = ENDINGS.get(path.suffix.lower(), found)
    if said != found:
        raise SchemaError(f"{path.name} is {found}, and by its name {said}. Rename it, or save it anew.")
    return found


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
    decoded = _decoded(path, content, encoding)
    layouts = [Layout(separator, encoding) for separator in SEPARATORS]
    return max(layouts, key=lambda each: len(_first(path, io.StringIO(decoded, newline=""), each)[0]))


def _text(path, layout, names):
    with _utf8(path, layout.encoding) as file:
        skipped = layout.skip_lines
        if layout.header:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                names, skipped = _first(path, lines, layout)
            if not names:
                raise SchemaError(f"{path.name} is empty. There is nothing to do.")
        columns = ", ".join(f"c{number}: 'VARCHAR'" for number in range(len(names)))
        found, faults = _queried(
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
    return _table(path, names, found.columns, layout.line_end)


def _first(path, lines, layout):
    """The cells of the first line of a text that is not blank, and the number of lines up to its end."""
    above = sum(1 for _ in itertools.islice(lines, layout.skip_lines))
    reader = csv.reader(lines, delimiter=layout.separator, skipinitialspace=True)
    try:
        cells = next((cells for cells in reader if any(cell.strip() for cell in cells)), [])
    except csv.Error as error:
        raise SchemaError(f"{path.name}: line {reader.line_num} cannot be read as CSV: {error}.") from None
    return cells, above + reader.line_num


def _parquet(path):
    found, _ = _queried("select columns(*)::varchar from read_parquet($file)", file=str(path))
    return _table(path, found.column_names, found.columns)


def _excel(path):
    _needed("openpyxl", path)
    sheet = pd.read_excel(path, header=None, dtype=object)  # with a header, pandas would rename double names
    if sheet.empty:
        raise SchemaError(f"{path.name} is empty. There is nothing to do.")
    return sheet[1:].set_axis(sheet.iloc[0].map(_cell), axis=1)


def _statistics(path, found):
    read = getattr(_needed("pyreadstat", path), PYREADSTAT[found])
    return read(path, apply_value_formats=True, formats_as_category=False)[0]


def _needed(library, path):
    try:
        return importlib.import_module(library)
    except ImportError:
        raise SchemaError(
            f"{path.name} is {kind(path)}, which {library} reads, and that is not installed. Install privnb[files], or "
            "save the table as CSV."
        ) from None


def _written(column):
    """A column of any values as Arrow's texts."""
    import pyarrow as pa

    codes, distinct = pd.factorize(column.to_numpy(dtype=object))
    texts = pa.array(map(_cell, distinct), pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)])


def _cell(value):
    """A value as text; a day without its hour, a whole number without a decimal point."""
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or value != value else text(value)


def _queried(query, after=None, **given):
    """What DuckDB answers to a query, an Arrow table, and to one asked after it, a list of rows."""
    import duckdb

    with duckdb.connect(
        config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    ) as engine:
        found = engine.sql(query, params=given).to_arrow_table()
        return found, engine.execute(after).fetchall() if after else []


@contextlib.contextmanager
def _utf8(path, encoding):
    """The path of a text file in UTF-8 with one kind of line ends: itself, or a copy for as long as it is read."""
    content = path.read_bytes()
    windows = content.count(b"\r\n")
    plain = content.isascii() or (encoding == "utf-8" and _fault(content, encoding) is None)
    if plain and windows in (0, content.count(b"\n")) and b"\0" not in content and not set("*?[") & set(str(path)):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "text"
        copy.write_text(_decoded(path, content, encoding).replace("\r\n", "\n"), encoding="utf-8", newline="")
        yield copy


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


def _table(path, names, columns, line_end=""):
    """The table of Arrow columns of texts: blank cells are missing, and what has no cell is no record."""
    if nameless := [number for number, name in enumerate(names, 1) if not name.strip()]:
        raise SchemaError(f"{path.name}: column {nameless} has no name. Name it in the first line, or delete it.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SchemaError(f"{path.name} has more than one column {twice}. Rename one.")
    ends = ["" for _ in names[1:]] + [line_end]
    table = pd.DataFrame(dict(zip(names, map(_texts, columns, ends), strict=True)))
    empty = np.logical_and.reduce([table[name].cat.codes.to_numpy() < 0 for name in names])
    return table[~empty].reset_index(drop=True) if empty.any() else table


def _texts(column, line_end):
    import pyarrow.compute as pc

    column = column.dictionary_encode().combine_chunks()
    texts = pc.utf8_ltrim(column.dictionary, " ")
    if line_end:
        texts = pc.replace_substring_regex(texts, f"{re.escape(line_end)}$", "")
    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    distinct = pc.if_else(blank, None, texts).dictionary_encode()
    place = np.append(_whole(distinct.indices), -1)
    return pd.Categorical.from_codes(
        place[_whole(column.indices)], pd.Index(distinct.dictionary.to_numpy(zero_copy_only=False), dtype=object)
    )


def _whole(indices):
    return indices.fill_null(-1).to_numpy(zero_copy_only=False)
