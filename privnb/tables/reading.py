"""Read a file of records, whatever wrote it: every cell as text, and each distinct text once.

DuckDB reads text and Parquet, python-calamine spreadsheets, pyreadstat what SPSS, Stata and SAS wrote. The first bytes
of a file say what it is.
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

from privnb.microdata.schema import SchemaError, text
from privnb.runtime import validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import InputFileError, MissingFileError
from privnb.runtime.lazy import pa, pc, pd
from privnb.runtime.names import OWN, apart
from privnb.runtime.validation import validated
from privnb.tables import engine, text_files
from privnb.tables.notation import MISSING, NUMBER
from privnb.tables.text_files import Layout, guessed

MOST = 1_000  # columns
MUCH = 4  # times as many cells as the next one has the sheet that is surely the table
# No leading zero: those are codes, such as postcodes. An exponent has a sign, as in 2.5e-04: 12E3 may be a code.
YEAR = re.compile(r"1[5-9]\d\d|2[01]\d\d")
TEXT, PARQUET, SHEETS = "text", "a Parquet file", "a spreadsheet"
SPSS, STATA, SAS = "an SPSS file", "a Stata file", "a SAS file"
# What the first bytes of a file say that it is; text has none of its own.
KINDS = {
    b"PAR1": PARQUET, b"PK\3\4": SHEETS, b"\xd0\xcf\x11\xe0": SHEETS,
    b"$FL2": SPSS, b"$FL3": SPSS, b"<stata_dta>": STATA, b"\x71\1\1": STATA,
    b"\x71\2\1": STATA, b"\x72\1\1": STATA, b"\x72\2\1": STATA, b"\x73\1\1": STATA, b"\x73\2\1": STATA,
    bytes(12) + b"\xc2\xea": SAS,
}  # fmt: skip
# What its name says.
ENDINGS = {
    ".csv": TEXT, ".tsv": TEXT, ".txt": TEXT, ".parquet": PARQUET, ".xlsx": SHEETS, ".xls": SHEETS, ".xlsb": SHEETS,
    ".ods": SHEETS, ".sav": SPSS, ".zsav": SPSS,
    ".dta": STATA, ".sas7bdat": SAS,
}  # fmt: skip


def read(path: Path, layout: Layout | None = None, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return all records of a file, in its order.

    Parameters
    ----------
    path : Path
    layout : text_files.Layout, optional
        The layout of a text file; None: see `text_files.guessed`.
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
        layout = layout or guessed(path)
        table = _table(path, *_scan(path, layout, names), layout.line_end)
        text_files.check_count([path], [layout], len(table))
        return table
    try:
        return _table(path, *READ.get(found, _scan)(path))
    except (OSError, SchemaError):
        raise
    except Exception as error:  # whatever a library makes of a damaged file
        raise _damaged(path, found, error) from error


def _damaged(path: Path, found: str, error: Exception) -> SchemaError:
    return SchemaError(
        f"{path.name} cannot be read as {found}: {str(error).splitlines()[0].rstrip('.')}. Save it again."
    )


@contextlib.contextmanager
def scanned(
    path: Path, layout: Layout | None = None, names: Sequence[str] | None = None
) -> Iterator[tuple[list[str], str, Callable[[Any], object]]]:
    """Yield what asks the engine for the records of a text or Parquet file, whose columns it calls c0, c1, ...

    Arguments, and errors before it is asked, are those of `read`.

    Yields
    ------
    names : list of str
        The columns.
    query : str
        In SQL, to be asked as long as this is open.
    check : function of a connection
        Raises SchemaError, after the query, for the first line with more or fewer cells than there are names.
    """
    if kind(path) == TEXT:
        with text_files.scanned(path, layout or guessed(path), names) as found:
            yield found
    else:
        columns = parquet_columns(path)
        numbers = ", ".join(f"c{number}" for number in range(len(columns)))  # the engine takes a and A for one name
        yield columns, f"select * from {engine.parquet(path)} as found({numbers})", lambda _: None


def _scan(
    path: Path, layout: Layout | None = None, names: Sequence[str] | None = None
) -> tuple[list[str], list[pa.ChunkedArray]]:
    with (
        scanned(path, layout, names) as (columns, query, check),
        engine.reported([path]),
        engine.opened() as connection,
    ):
        found = connection.sql(f"select columns(*)::varchar from ({query})").to_arrow_table()
        check(connection)
    return columns, found.columns


@validated
def read_unknown(path: validation.Path, encoding: str | None = None) -> tuple[pd.DataFrame, Layout | None, list[Path]]:
    """Return all records of files of unknown layout, each with its columns' names in the first line.

    Parameters
    ----------
    path : path-like
        A file, or a folder of the parts of one table.
    encoding : str, optional
        As in `text_files.guessed`.

    Returns
    -------
    table : DataFrame
        At least one record, see `read`; the parts in the order of their names.
    layout : text_files.Layout or None
        Of text files.
    files : list of Path

    Raises
    ------
    FileNotFoundError
    SchemaError
        As `read`; and for a folder without tables, parts that differ in columns or layout, a file without a record, and
        one that starts with a record.
    """
    files = parts(Path(path))
    layouts = layouts_of(files, encoding)
    tables = [_unknown(file, layout) for file, layout in zip(files, layouts, strict=True)]
    return together(files, tables), layouts[0], files


def parts(path: Path) -> list[Path]:
    """Return the files of the table at `path`, which may be a folder. Raise an error for none."""
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
    """Raise SchemaError if a table has a file twice, by its path or by its content: each record would count twice."""
    sizes, seen = Counter(file.stat().st_size for file in files), dict[bytes, Path]()
    for file in files:
        if sizes[file.stat().st_size] > 1:
            try:
                with file.open("rb") as content:
                    first = seen.setdefault(hashlib.file_digest(content, "sha256").digest(), file)
            except OSError:  # the reader of its records says why it cannot be read
                continue
            if first is not file:
                same = "is listed twice" if first == file else f"has the same content as {first.name}"
                raise SchemaError(f"{file.name} {same}, so that each of its records would count twice. List it once.")


def layouts_of(files: Sequence[Path], encoding: str | None = None) -> list[Layout | None]:
    """How the records of each file stand in it, None in one that is no text. Raises SchemaError for different ones.

    `encoding`: as in `text_files.guessed`.
    """
    layouts = [guessed(file, encoding) if kind(file) == TEXT else None for file in files]
    for file, layout in zip(files, layouts, strict=True):
        if layout != layouts[0]:
            raise SchemaError(
                f"{file.name} is laid out otherwise than {files[0].name}: {layout or kind(file)}, not "
                f"{layouts[0] or kind(files[0])}. Save the parts of a table alike, or name one of them."
            )
    return layouts


def _unknown(path: Path, layout: Layout | None) -> pd.DataFrame:
    table = read(path, layout)
    if table.empty:
        raise SchemaError(no_record(path))
    check_header(path, [*table], table.head(text_files.SEEN).astype(object).fillna("").to_numpy().tolist())
    return table


def no_record(path: Path) -> str:
    """Return why a file is refused that holds no record."""
    return f"{path.name} has column names but no record. There is nothing to do."


def check_header(path: Path, names: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> None:
    """Raise SchemaError for a file whose first line is a record, it seems.

    Parameters
    ----------
    path : Path
    names : list of str
        What stands in the first line.
    rows : list of list of str
        Some of the others. A line of words that none of their columns holds, one of them above numbers, has names.
    """
    columns = [{cell.strip() for cell in column} - {""} for column in zip(*rows, strict=True)]
    words = [(name, cells) for name, cells in zip(names, columns, strict=False) if not NUMBER.fullmatch(name)]
    if not any(name in cells for name, cells in words) and any(
        name[:1].isalpha() and name not in MISSING and cells and all(map(NUMBER.fullmatch, cells))
        for name, cells in words
    ):
        return
    values = [name for name, cells in words if name in cells and len(cells) > 1]  # one alone marks a box that is ticked
    if len(values) >= max(2, len(names) / 2):
        raise SchemaError(
            f"{path.name} starts with a record, it seems: {len(values)} of the {len(names)} texts in line 1 are values "
            "of their own columns. Put a line of column names first."
        )
    numbers = [name for name in names if NUMBER.fullmatch(name)]
    steps = {Decimal(after) - Decimal(before) for before, after in pairwise(numbers)}
    even = len(steps) == 1 or all(map(YEAR.fullmatch, numbers))  # as those are that name columns
    if numbers and not (len(numbers) > 2 and min(steps) > 0 and even):
        raise SchemaError(
            f"{path.name} starts with a record, it seems ({numbers[0]!r} in line 1). Put a line of column names first."
        )


def together(files: Sequence[Path], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the records of several files, one below the other. Raises SchemaError unless all have the same columns."""
    check_same(files, [[*table] for table in tables])
    if len(tables) == 1:
        return tables[0]
    return pd.DataFrame(
        {name: pd.api.types.union_categoricals([table[name] for table in tables]) for name in tables[0]}
    )


def check_same(files: Sequence[Path], columns: Sequence[Sequence[str]]) -> None:
    """Raise SchemaError unless all files have the same columns. `columns`: the names of each."""
    for file, names in zip(files, columns, strict=True):
        if set(names) != set(columns[0]):
            raise SchemaError(
                f"{file.name} has the columns {', '.join(names)}, and {files[0].name} has {', '.join(columns[0])}. "
                "The parts of a table have the same columns: correct them, or name one of them."
            )


def kind(path: Path) -> str:
    """Return what a file is, by its first bytes. Raises SchemaError if its name says something else."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from error
    found = next((kind for mark, kind in KINDS.items() if start.startswith(mark)), TEXT)
    said = ENDINGS.get(path.suffix.lower(), found)
    if said != found:
        raise SchemaError(f"{path.name} is {found}, and by its name {said}. Rename it, or save it anew.")
    return found


def parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file. Raise SchemaError for a damaged one."""
    import pyarrow.parquet

    try:
        names: list[str] = pyarrow.parquet.read_schema(path).names
    except pyarrow.ArrowException as error:
        raise _damaged(path, PARQUET, error) from None
    return names


def _spreadsheet(path: Path) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Return the largest sheet of a workbook of Excel (.xlsx, .xls, .xlsb) or OpenDocument (.ods)."""
    calamine = _needed("python_calamine", path)
    book = calamine.load_workbook(str(path))
    sheets = [each.name for each in book.sheets_metadata if each.typ == calamine.SheetTypeEnum.WorkSheet]
    tables = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in sheets}
    rows = tables[_largest(path, {name: sum(map(len, rows)) for name, rows in tables.items()})]
    if not rows:
        raise SchemaError(f"{path.name} is empty. There is nothing to do.")
    above = text_files.titles([[_cell(cell) for cell in row] for row in rows[: text_files.SEEN]])
    columns = pd.DataFrame(rows[above + 1 :], columns=range(len(rows[0])), dtype=object)
    return apart([_cell(name) for name in rows[above]]), [_written(columns[number]) for number in columns]


def _largest(path: Path, sizes: Mapping[str, int]) -> str:
    """Return the sheet of a workbook that is the table: by far the largest, `{sheet: cells}`."""
    first, *others = sorted(sizes, key=lambda name: -sizes[name])
    if others and MUCH * sizes[others[0]] > sizes[first]:
        raise SchemaError(
            f"{path.name} has several sheets that may be the table, such as {first!r} and {others[0]!r}. Save the one "
            "that is in a file of its own."
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
            f"{path.name} is {kind(path)}, which {library.replace('_', '-')} reads, and that is not installed. Install "
            "privnb[files], or save the table as CSV."
        ) from None


def _written(column: pd.Series) -> pa.ChunkedArray:
    """Return a column of any values as Arrow's texts."""

    codes, distinct = pd.factorize(column.to_numpy(dtype=object))
    texts = pa.array(map(_cell, distinct), pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts)])


def _cell(value: Any) -> str:
    """Return a value as text; a day without its hour, a whole number without a decimal point."""
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or value != value else text(value)


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise SchemaError for what cannot be the names of a file's columns."""
    if len(names) > MOST:
        raise SchemaError(
            f"{path.name} has {len(names):,} columns, and a table of people has at most {MOST:,} here. Save it with "
            "those that may be published or that say who somebody is."
        )
    if nameless := [number for number, name in enumerate(names, 1) if not name.strip()]:
        raise SchemaError(f"{path.name}: column {nameless} has no name. Name it in the first line, or delete it.")
    if any(name.startswith(OWN) for name in names):
        raise SchemaError(
            f"{path.name}: the name of a column must not begin with the invisible character U+{ord(OWN):04X}, which "
            "begins the names of privnb's own columns. Rename the column."
        )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SchemaError(f"{path.name} has more than one column {twice}. Rename one.")


def check_renamed(path: Path, names: Sequence[str], renamed: Mapping[str, str]) -> None:
    """Raise SchemaError unless a file has all columns that are `renamed`, and all its columns differ in name then.

    Parameters
    ----------
    path : Path
    names : list of str
        As the file has them.
    renamed : dict of str to str
        Other names by those of the file.
    """
    if absent := [name for name in renamed if name not in names]:
        raise SchemaError(f"[renamed] has {absent}, which {path.name} lacks. Write each name as the file does.")
    called = Counter(renamed.get(name, name) for name in names)
    if twice := [name for name, times in called.items() if times > 1]:
        raise SchemaError(
            f"[renamed] must give each column of {path.name} a name of its own; got '{twice[0]}' for several. Choose "
            "another name."
        )


def _table(path: Path, names: Sequence[str], columns: Sequence[pa.ChunkedArray], line_end: str = "") -> pd.DataFrame:
    """Return the table of Arrow columns of texts: blank cells are missing, and what has no cell is no record."""
    check_names(path, names)
    ends = ["" for _ in names[1:]] + [line_end]
    with ThreadPoolExecutor(2) as two:  # Arrow needs one processor for a column; each in work takes memory
        table = pd.DataFrame(dict(zip(names, two.map(_texts, columns, ends), strict=True)))
    empty = np.logical_and.reduce([table[name].cat.codes.to_numpy() < 0 for name in names])
    return table[~empty].reset_index(drop=True) if empty.any() else table


def _texts(column: pa.ChunkedArray, line_end: str) -> pd.Categorical:

    column = column.dictionary_encode().combine_chunks()
    texts = pc.utf8_ltrim(column.dictionary, " ")
    if line_end:
        texts = pc.replace_substring_regex(texts, at_the_end(line_end), "")
    blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    distinct = pc.if_else(blank, None, texts).dictionary_encode()
    place = np.append(_whole(distinct.indices), -1)
    return pd.Categorical.from_codes(
        place[_whole(column.indices)], pd.Index(distinct.dictionary.to_numpy(zero_copy_only=False), dtype=object)
    )


def at_the_end(text: str) -> str:
    """Return the pattern of a text that ends a cell."""
    return f"{re.escape(text)}$"


def of_arrow(found: pa.Table) -> pd.DataFrame:
    """Return an Arrow table of any types as `read` returns a file: Categoricals of texts, each record kept."""

    names = found.column_names
    if not all(map(pa.types.is_string, found.schema.types)):
        with engine.opened() as connection:  # which takes a and A for one name
            connection.register("found", found.rename_columns([f"c{number}" for number in range(len(names))]))
            found = connection.sql("select columns(*)::varchar from found").to_arrow_table()
    return pd.DataFrame({name: _texts(column, "") for name, column in zip(names, found.columns, strict=True)})


def _whole(indices: pa.Array) -> IntArray:
    return indices.fill_null(-1).to_numpy(zero_copy_only=False)


READ: dict[str, Callable[[Path], tuple[list[str], list[pa.ChunkedArray]]]] = {
    SHEETS: _spreadsheet, SPSS: partial(_statistics, "read_sav"), STATA: partial(_statistics, "read_dta"),
    SAS: partial(_statistics, "read_sas7bdat"),
}  # fmt: skip
