"""Reading of files of records: every cell is read as text, and each distinct text is stored once.

DuckDB reads text and Parquet, python-calamine reads spreadsheets, and pyreadstat reads files of SPSS, Stata and SAS.
The first bytes of a file determine the kind of the file.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from privnb.microdata.schema import SchemaError, to_text
from privnb.runtime import validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import InputFileError, MissingFileError
from privnb.runtime.lazy import pa, pc, pd
from privnb.runtime.names import OWN, make_unique
from privnb.runtime.validation import validated
from privnb.tables import engine, text_files
from privnb.tables.notation import MISSING, NUMBER
from privnb.tables.text_files import Layout, guess_layout

MOST = 1_000  # the maximum number of columns of a table
MUCH = 4  # the sheet of the table has at least 4 times as many cells as any other sheet
YEAR = re.compile(r"1[5-9]\d\d|2[01]\d\d")
TEXT, PARQUET, SHEETS = "text", "a Parquet file", "a spreadsheet"
SPSS, STATA, SAS = "an SPSS file", "a Stata file", "a SAS file"
# The kinds of files by their first bytes; text files have no specific first bytes.
KINDS = {
    b"PAR1": PARQUET, b"PK\3\4": SHEETS, b"\xd0\xcf\x11\xe0": SHEETS,
    b"$FL2": SPSS, b"$FL3": SPSS, b"<stata_dta>": STATA, b"\x71\1\1": STATA,
    b"\x71\2\1": STATA, b"\x72\1\1": STATA, b"\x72\2\1": STATA, b"\x73\1\1": STATA, b"\x73\2\1": STATA,
    bytes(12) + b"\xc2\xea": SAS,
}  # fmt: skip
# The kinds of files by the endings of their names.
ENDINGS = {
    ".csv": TEXT, ".tsv": TEXT, ".txt": TEXT, ".parquet": PARQUET, ".xlsx": SHEETS, ".xls": SHEETS, ".xlsb": SHEETS,
    ".ods": SHEETS, ".sav": SPSS, ".zsav": SPSS,
    ".dta": STATA, ".sas7bdat": SAS,
}  # fmt: skip


def read_records(path: Path, layout: Layout | None = None, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return all records of a file, in the order of the file.

    Parameters
    ----------
    path : Path
    layout : text_files.Layout, optional
        The layout of a text file. By default, `text_files.guess_layout` infers the layout.
    names : sequence of str, optional
        The column names of a text file without a header.

    Returns
    -------
    DataFrame
        The records, with each column as a Categorical of texts without leading spaces. A blank cell is a missing value.
        Blank lines, and lines with only blank cells, are not records.

    Raises
    ------
    SchemaError
        For a file whose name suggests another kind of file, for a file that cannot be decoded, for missing or repeated
        column names, and for a line whose number of cells differs from the number of names.
    OSError
        If the file cannot be read.
    """
    found = file_kind(path)
    if found == TEXT:
        layout = layout or guess_layout(path)
        table = _table(path, *_scan(path, layout, names), layout.line_end)
        text_files.check_record_count([path], [layout], len(table))
        return table
    try:
        return _table(path, *READERS.get(found, _scan)(path))
    except (OSError, SchemaError):
        raise
    except Exception as error:  # libraries raise many types of errors for damaged files
        raise _damaged(path, found, error) from error


def _damaged(path: Path, found: str, error: Exception) -> SchemaError:
    return SchemaError(
        f"{path.name} cannot be read as {found}: {str(error).splitlines()[0].rstrip('.')}. Save the file again."
    )


@contextlib.contextmanager
def scan(
    path: Path, layout: Layout | None = None, names: Sequence[str] | None = None
) -> Iterator[tuple[list[str], str, Callable[[Any], object]]]:
    """Yield a query for the records of a text or Parquet file; the columns of the query are c0, c1, ...

    The arguments are those of `read_records`, and so are the errors that are raised before the query.

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
    if file_kind(path) == TEXT:
        with text_files.scan_text(path, layout or guess_layout(path), names) as found:
            yield found
    else:
        columns = parquet_columns(path)
        numbers = ", ".join(f"c{number}" for number in range(len(columns)))  # the engine ignores the case of names
        yield columns, f"select * from {engine.parquet_source(path)} as found({numbers})", lambda _: None


def _scan(
    path: Path, layout: Layout | None = None, names: Sequence[str] | None = None
) -> tuple[list[str], list[pa.ChunkedArray]]:
    with (
        scan(path, layout, names) as (columns, query, check),
        engine.convert_engine_errors([path]),
        engine.connect() as connection,
    ):
        found = connection.sql(f"select columns(*)::varchar from ({query})").to_arrow_table()
        check(connection)
    return columns, found.columns


@validated
def read_undescribed(
    path: validation.Path, encoding: str | None = None
) -> tuple[pd.DataFrame, Layout | None, list[Path]]:
    """Return all records of files of unknown layout, each of which has the column names in the first line.

    Parameters
    ----------
    path : path-like
        A file, or a folder with the parts of a table.
    encoding : str, optional
        See `text_files.guess_layout`.

    Returns
    -------
    table : DataFrame
        The table, with at least one record, in the form that `read_records` returns. Parts are in the order of their
        file names.
    layout : text_files.Layout or None
        The layout of text files.
    files : list of Path

    Raises
    ------
    FileNotFoundError
    SchemaError
        For the reasons that `read_records` states. Also for a folder without tables, for parts with different columns
        or layouts, for a file without records, and for a file whose first line is a record.
    """
    files = list_parts(Path(path))
    layouts = guess_layouts(files, encoding)
    tables = [_unknown(file, layout) for file, layout in zip(files, layouts, strict=True)]
    return concatenate(files, tables), layouts[0], files


def list_parts(path: Path) -> list[Path]:
    """Return the files of the table at `path`, which may be a folder.

    Raises an error if there are no files.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise MissingFileError(f"there is no file '{path}'.")
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in ENDINGS)
    if not files:
        raise SchemaError(f"'{path}' is a folder without tables. Files of tables end in {', '.join(ENDINGS)}.")
    check_different(files)
    return files


def check_different(files: Sequence[Path]) -> None:
    """Raise SchemaError if two files have the same path or content, because their records would count twice."""
    sizes, seen = Counter(file.stat().st_size for file in files), dict[bytes, Path]()
    for file in files:
        if sizes[file.stat().st_size] > 1:
            try:
                with file.open("rb") as content:
                    first = seen.setdefault(hashlib.file_digest(content, "sha256").digest(), file)
            except OSError:  # the reader of the records will report the error
                continue
            if first is not file:
                same = "is listed twice" if first == file else f"has the same content as {first.name}"
                raise SchemaError(f"{file.name} {same}, so each of its records would count twice. List the file once.")


def guess_layouts(files: Sequence[Path], encoding: str | None = None) -> list[Layout | None]:
    """Return the layout of each text file, and None for each file of another kind.

    For `encoding`, see `text_files.guess_layout`. Raises SchemaError if the layouts differ.
    """
    layouts = [guess_layout(file, encoding) if file_kind(file) == TEXT else None for file in files]
    for file, layout in zip(files, layouts, strict=True):
        if layout != layouts[0]:
            raise SchemaError(
                f"{file.name} differs from {files[0].name} in its layout: {layout or file_kind(file)}, not "
                f"{layouts[0] or file_kind(files[0])}. Save all parts of the table in one layout, or name one part."
            )
    return layouts


def _unknown(path: Path, layout: Layout | None) -> pd.DataFrame:
    table = read_records(path, layout)
    if table.empty:
        raise SchemaError(describe_no_record(path))
    check_header(path, [*table], table.head(text_files.SEEN).astype(object).fillna("").to_numpy().tolist())
    return table


def describe_no_record(path: Path) -> str:
    """Return the error message for a file without records."""
    return f"{path.name} has column names but no records. Give a file with records."


def check_header(path: Path, names: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> None:
    """Raise SchemaError for a file whose first line seems to be a record.

    Parameters
    ----------
    path : Path
    names : list of str
        The texts in the first line.
    rows : list of list of str
        Some rows below the first line. The first line consists of names if no text in it, apart from numbers, occurs as
        a cell of its own column, and if a word in it is the head of a column of numbers.
    """
    columns = [{cell.strip() for cell in column} - {""} for column in zip(*rows, strict=True)]
    words = [(name, cells) for name, cells in zip(names, columns, strict=False) if not NUMBER.fullmatch(name)]
    if not any(name in cells for name, cells in words) and any(
        name[:1].isalpha() and name not in MISSING and cells and all(map(NUMBER.fullmatch, cells))
        for name, cells in words
    ):
        return
    values = [name for name, cells in words if name in cells and len(cells) > 1]  # one value may mark a ticked box
    if len(values) >= max(2, len(names) / 2):
        raise SchemaError(
            f"{path.name} seems to start with a record: {len(values)} of the {len(names)} texts in line 1 "
            "occur again as values in the same column. Add a first line of column names."
        )
    numbers = [name for name in names if NUMBER.fullmatch(name)]
    steps = {Decimal(after) - Decimal(before) for before, after in pairwise(numbers)}
    even = len(steps) == 1 or all(map(YEAR.fullmatch, numbers))  # numbers that name columns are evenly spaced
    if numbers and not (len(numbers) > 2 and min(steps) > 0 and even):
        raise SchemaError(
            f"{path.name} seems to start with a record ({numbers[0]!r} in line 1). Add a first line of column names."
        )


def concatenate(files: Sequence[Path], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the records of several files as one table.

    Raises SchemaError unless all files have the same columns.
    """
    check_same(files, [[*table] for table in tables])
    if len(tables) == 1:
        return tables[0]
    return pd.DataFrame(
        {name: pd.api.types.union_categoricals([table[name] for table in tables]) for name in tables[0]}
    )


def check_same(files: Sequence[Path], columns: Sequence[Sequence[str]]) -> None:
    """Raise SchemaError unless all files have the same columns; `columns` holds the column names of each file."""
    for file, names in zip(files, columns, strict=True):
        if set(names) != set(columns[0]):
            raise SchemaError(
                f"{file.name} has the columns {', '.join(names)}, and {files[0].name} has {', '.join(columns[0])}. "
                "The parts of a table must have the same columns. Correct the parts, or name one part."
            )


def file_kind(path: Path) -> str:
    """Return the kind of a file, which its first bytes determine.

    Raises SchemaError if the name of the file suggests another kind.
    """
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from error
    found = next((kind for mark, kind in KINDS.items() if start.startswith(mark)), TEXT)
    said = ENDINGS.get(path.suffix.lower(), found)
    if said != found:
        raise SchemaError(
            f"{path.name} is {found}, but its name suggests {said}. Rename the file, or save the table again."
        )
    return found


def parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file.

    Raises SchemaError for a damaged file.
    """
    import pyarrow.parquet

    try:
        names: list[str] = pyarrow.parquet.read_schema(path).names
    except pyarrow.ArrowException as error:
        raise _damaged(path, PARQUET, error) from None
    return names


def _spreadsheet(path: Path) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Return the column names and the columns of the largest sheet of a workbook.

    The workbook is a file of Excel (.xlsx, .xls, .xlsb) or OpenDocument (.ods).
    """
    calamine = _needed("python_calamine", path)
    book = calamine.load_workbook(str(path))
    sheets = [each.name for each in book.sheets_metadata if each.typ == calamine.SheetTypeEnum.WorkSheet]
    tables = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in sheets}
    rows = tables[_largest(path, {name: sum(map(len, rows)) for name, rows in tables.items()})]
    if not rows:
        raise SchemaError(f"{path.name} is empty. Give a file with records.")
    above = text_files.count_title_rows([[_cell(cell) for cell in row] for row in rows[: text_files.SEEN]])
    columns = pd.DataFrame(rows[above + 1 :], columns=range(len(rows[0])), dtype=object)
    return make_unique([_cell(name) for name in rows[above]]), [_written(columns[number]) for number in columns]


def _largest(path: Path, sizes: Mapping[str, int]) -> str:
    """Return the name of the sheet that is by far the largest; `sizes` maps each sheet to the number of its cells."""
    first, *others = sorted(sizes, key=lambda name: -sizes[name])
    if others and MUCH * sizes[others[0]] > sizes[first]:
        raise SchemaError(
            f"{path.name} has several sheets that may be the table, such as {first!r} and {others[0]!r}. Save the "
            "correct sheet in its own file."
        )
    return first


def _statistics(function: str, path: Path) -> tuple[list[str], list[pa.ChunkedArray]]:
    read = getattr(_needed("pyreadstat", path), function)
    table, _ = read(path, apply_value_formats=True, formats_as_category=False)
    return list(table), [_written(table[name]) for name in table]


def _needed(library: str, path: Path) -> ModuleType:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise SchemaError(
            f"{path.name} is {file_kind(path)} and needs {library.replace('_', '-')}, which is not installed. "
            "Install privnb[files], or save the table as CSV."
        ) from None


def _written(column: pd.Series) -> pa.ChunkedArray:
    """Return a column of values of any type as an Arrow array of texts."""
    codes, distinct = pd.factorize(column.to_numpy(dtype=object))
    texts = pa.array(map(_cell, distinct), pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)])


def _cell(value: Any) -> str:
    """Return a value as text; a date at midnight has no time, and a whole number has no decimal point."""
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or value != value else to_text(value)


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise SchemaError if the column names of a file are not valid."""
    if len(names) > MOST:
        raise SchemaError(
            f"{path.name} has {len(names):,} columns; at most {MOST:,} are supported. Save the table with only the "
            "columns that may be published or that identify people."
        )
    if nameless := [number for number, name in enumerate(names, 1) if not name.strip()]:
        raise SchemaError(
            f"{path.name}: column {nameless} must have a name. Name the column in the first line, or delete it."
        )
    if any(name.startswith(OWN) for name in names):
        raise SchemaError(
            f"{path.name}: the name of a column must not begin with the invisible character U+{ord(OWN):04X}, which "
            "begins the names of privnb's own columns. Rename the column."
        )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SchemaError(f"{path.name} has more than one column {twice}. Rename one of these columns.")


def check_renamed(path: Path, names: Sequence[str], renamed: Mapping[str, str]) -> None:
    """Raise SchemaError unless a file has all renamed columns and all new names are different.

    Parameters
    ----------
    path : Path
    names : list of str
        The names in the file.
    renamed : dict of str to str
        The new names, by the names in the file.
    """
    if absent := [name for name in renamed if name not in names]:
        raise SchemaError(f"[renamed] has {absent}, which {path.name} lacks. Write each name as in the file.")
    called = Counter(renamed.get(name, name) for name in names)
    if twice := [name for name, times in called.items() if times > 1]:
        raise SchemaError(
            f"[renamed] must give each column of {path.name} a different name; got '{twice[0]}' for several. Choose "
            "another name."
        )


def _table(path: Path, names: Sequence[str], columns: Sequence[pa.ChunkedArray], line_end: str = "") -> pd.DataFrame:
    """Return Arrow columns of texts as a table in which blank cells are missing values and blank rows are dropped."""
    check_names(path, names)
    ends = ["" for _ in names[1:]] + [line_end]
    with ThreadPoolExecutor(2) as two:  # Arrow uses one core per column, and each needs memory
        table = pd.DataFrame(dict(zip(names, two.map(_texts, columns, ends), strict=True)))
    empty = np.logical_and.reduce([table[name].cat.codes.to_numpy() < 0 for name in names])
    return table[~empty].reset_index(drop=True) if empty.any() else table


def _texts(column: pa.ChunkedArray, line_end: str) -> pd.Categorical:

    column = column.dictionary_encode().combine_chunks()
    texts = pc.utf8_ltrim(column.dictionary, " ")
    if line_end:
        texts = pc.replace_substring_regex(texts, end_pattern(line_end), "")
    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    distinct = pc.if_else(blank, None, texts).dictionary_encode()
    place = np.append(_whole(distinct.indices), -1)
    return pd.Categorical.from_codes(
        place[_whole(column.indices)], pd.Index(distinct.dictionary.to_numpy(zero_copy_only=False), dtype=object)
    )


def end_pattern(text: str) -> str:
    """Return a regular expression that matches a text at the end of a cell."""
    return f"{re.escape(text)}$"


def from_arrow(found: pa.Table) -> pd.DataFrame:
    """Return an Arrow table with columns of any types in the form that `read_records` returns.

    Rows with only blank cells are also kept.
    """
    names = found.column_names
    if not all(map(pa.types.is_string, found.schema.types)):
        with engine.connect() as connection:  # the engine ignores the case of names
            connection.register("found", found.rename_columns([f"c{number}" for number in range(len(names))]))
            found = connection.sql("select columns(*)::varchar from found").to_arrow_table()
    return pd.DataFrame({name: _texts(column, "") for name, column in zip(names, found.columns, strict=True)})


def _whole(indices: pa.Array) -> IntArray:
    return indices.fill_null(-1).to_numpy(zero_copy_only=False)


READERS: dict[str, Callable[[Path], tuple[list[str], list[pa.ChunkedArray]]]] = {
    SHEETS: _spreadsheet, SPSS: partial(_statistics, "read_sav"), STATA: partial(_statistics, "read_dta"),
    SAS: partial(_statistics, "read_sas7bdat"),
}  # fmt: skip
