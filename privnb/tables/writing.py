"""Writing of a release to files: either the whole release or nothing is written.

Rows are sorted by content, so that their order does not disclose the order of the original table.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from privnb.microdata.schema import to_text
from privnb.runtime import progress, temporary
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import (
    OutputError,
    OutputExistsError,
    PrivnbError,
    ResourceError,
    UsageError,
    output_error,
)
from privnb.runtime.lazy import pa, pc
from privnb.tables import spreadsheets
from privnb.tables.spreadsheets import Formulas

# Distinct rows in the format of `Release.counted_rows`; the values of a column may be an Arrow array.
Columns = Mapping[str, tuple[IntArray, "Array | pa.Array"]]

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG  # errors for lack of space
PIECE = 2**20  # the number of rows that are written at a time
PART = 10_000_000  # the number of rows in each file of a folder
ENDINGS = ".parquet", ".csv", ""  # "": a folder of Parquet files
FACTS, BUCKETS = ".provenance.json", ".buckets.csv"  # endings of the names of companion files
CODEBOOK, DESCRIPTOR = ".codebook.csv", ".codebook.json"
CARD, PAGE = ".card.json", ".card.html"
COMPANIONS = FACTS, BUCKETS, CODEBOOK, DESCRIPTOR, CARD, PAGE


class WrittenRows(NamedTuple):
    """The content of a written file.

    Attributes
    ----------
    formulas : Formulas
    values : dict of str to list
        The distinct texts or numbers of each column. For a column of numbers that is written record by record, the
        value is None.
    """

    formulas: Formulas
    values: dict[str, list[Any] | None]


def check_output(path: str | os.PathLike[str], *, spreadsheet_safe: bool = False, force: bool = False) -> Path:
    """Return `path` as a Path if a release can be written there.

    Raises
    ------
    UsageError
        For a path that is neither that of a folder nor that of a file that ends in .parquet or .csv. If
        `spreadsheet_safe` is true, also for a file that is not CSV.
    OutputExistsError
        If the release or a companion file exists, unless `force` is true; also if `path` is a folder that is not a
        release.
    OutputError
        If the folder of `path` does not exist.
    """
    if "://" in str(path):
        raise UsageError(
            f"'{path}' is an address, but a release must be written to a local file or folder. Give a path."
        )
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"'{path.name}' ends in {path.suffix}. A release must be a file that ends in .parquet or .csv, or a "
            "folder without an ending."
        )
    if spreadsheet_safe and path.suffix != ".csv":
        raise UsageError(
            f"{spreadsheets.OPTION} applies only to CSV files; got '{path.name}'. Give a name that ends in .csv, or "
            f"leave out {spreadsheets.OPTION}."
        )
    for each in () if force else (path, *list_companions(path)):
        if each.exists():
            raise OutputExistsError(
                f"{each} exists already and is not changed. Give another name, move the release away, or replace the "
                "release "
                "(--force; in Python `force=True`)."
            )
    if path.is_dir() and not Path(f"{path.resolve()}{FACTS}").is_file():
        raise OutputExistsError(
            f"{path} is a folder and not a release, because there is no provenance next to it, so it is never "
            "replaced. Give another name."
        )
    if not path.parent.is_dir():
        raise OutputError(
            f"the folder '{path.parent}' for the output does not exist. Create the folder, or give another one."
        )
    return path


def list_companions(path: Path) -> list[Path]:
    """Return the paths of all files that may accompany a release at `path`."""
    return [path.with_name(path.name + ending) for ending in COMPANIONS]


@contextlib.contextmanager
def stage(path: Path) -> Iterator[Path]:
    """Yield a temporary folder next to `path`, and remove the folder and its content at the end.

    Only the user who started the process can read the folder.

    Temporary folders for the same path that a killed process left behind are also removed. Raises ResourceError if the
    disk is full.
    """
    with contextlib.ExitStack() as stack:
        with convert_write_errors(path, "Nothing was written. Give another path."):
            place = stack.enter_context(temporary.temporary_folder(path.parent, path.name))
        try:
            yield place
        except OSError as error:
            if error.errno not in FULL or isinstance(error, ResourceError):
                raise
            with convert_write_errors(path):
                raise


@contextlib.contextmanager
def convert_write_errors(path: Path, left: str = "The unfinished file was removed.") -> Iterator[None]:
    """Convert an OSError that is raised while `path` is written to an OutputError or a ResourceError.

    The new error ends with the sentence `left`, which states what has been written or removed.
    """
    try:
        yield
    except PrivnbError:
        raise
    except OSError as error:
        why = error.strerror or str(error).splitlines()[0]
        raise output_error(f"{path} cannot be written: {why}. {left}", error) from error


def move_files(
    made: Path, path: Path, texts: Mapping[str, str], sources: Sequence[Path], *, force: bool = False
) -> None:
    """Move the file or folder `made` to `path`, together with all companion files, or move nothing.

    `texts` are the contents of the companion files, by the endings of their names. `sources` are the original files or
    folders; only users who may read all of these may read the release. If `force` is true, the release replaces an
    existing release and all of its companion files. If `force` is false, existing files stay unchanged.
    """
    with convert_write_errors(path), contextlib.ExitStack() as undone:
        for ending, content in texts.items():
            made.with_name(made.name + ending).write_text(content, encoding="utf-8")
        for each in made.parent.rglob("*"):
            _protect(each, sources)
        before = made.parent.with_name("before")
        before.mkdir()
        for there in (path, *list_companions(path)) if force else ():
            if there.exists():
                os.rename(there, before / there.name)
                undone.callback(os.rename, before / there.name, there)
        for own in (*(made.with_name(made.name + ending) for ending in texts), made):
            _place(own, path.with_name(own.name), undone)
        undone.pop_all()  # the move is complete, so nothing is undone


def _protect(path: Path, sources: Sequence[Path]) -> None:
    """Remove from `path` each permission that at least one of `sources` does not grant."""
    allowed = 0o666
    for source in sources:
        allowed &= source.stat().st_mode
    if path.is_dir():  # its owner can move the folder, and its readers can open it
        allowed |= (allowed & 0o444) >> 2 | 0o700
    path.chmod(path.stat().st_mode & allowed)


def _place(own: Path, there: Path, undone: contextlib.ExitStack) -> None:
    """Move a file or folder to the free path `there`; register in `undone` how to undo the move.

    Raises OutputExistsError if the path is not free.
    """
    try:
        if own.is_dir():
            there.mkdir()  # this fails if the path exists; a rename would replace an empty folder
            undone.callback(shutil.rmtree, there, ignore_errors=True)
            os.replace(own, there)
            return
        try:
            os.link(own, there)
            undone.callback(there.unlink, missing_ok=True)
        except FileExistsError:
            raise
        except OSError:  # the file system has no links
            there.touch(exist_ok=False)
            undone.callback(there.unlink, missing_ok=True)
            shutil.copy2(own, there)
    except FileExistsError:
        raise OutputExistsError(
            f"{there} was created in the meantime and is not changed. The unfinished release was removed."
        ) from None


def write(
    made: Path,
    columns: Columns,
    times: IntArray | None,
    batches: Iterator[tuple[IntArray, list[pa.Array]]] | None = None,
    more: Mapping[str, pa.DataType] | None = None,
    records: int | None = None,
    *,
    spreadsheet_safe: bool = False,
) -> WrittenRows:
    """Write rows to a file or folder, and return the content of the rows as WrittenRows.

    Parameters
    ----------
    made : Path
        A path that ends in one of `ENDINGS`.
    columns, times
        The distinct rows in the format of `Release.counted_rows`.
    batches : iterable of (integer array, list of pyarrow.Array), optional
        For each published row, the position of its distinct row, and its cells in the columns `more`. If `batches` is
        None, each distinct row is written as often as `times` states.
    more : dict of str to pyarrow.DataType
    records : int, optional
        The number of rows in `batches`, for the progress bar.
    spreadsheet_safe : bool
        Whether to escape formulas in a CSV file.
    """
    counts = np.zeros(1, dtype=int) if times is None else times
    total, written, left, number = records or int(counts.sum()), 0, 0, 0
    form: Parquet | Csv = (Csv if made.suffix == ".csv" else Parquet)(columns, more or {}, spreadsheet_safe)
    values = {name: values_to_arrow(own).to_pylist() for name, (_, own) in columns.items()}
    texts: dict[str, set[Any]] = {name: set() for name, kind in (more or {}).items() if pa.types.is_string(kind)}
    with progress.watch(lambda: 100 * written / total, "writing the rows"), contextlib.ExitStack() as stack:
        if made.suffix:
            file = stack.enter_context(form.opened(made))
        else:
            made.mkdir()
        for place, cells in _ahead(batches or _repeated(counts)):
            if left <= 0 and not made.suffix:
                stack.close()
                number, left = number + 1, PART
                file = stack.enter_context(form.opened(made / f"part-{number:05}.parquet"))
            form.add(file, place, cells)
            for name, column in zip(more or {}, cells, strict=True):
                if name in texts:
                    texts[name].update(pc.unique(column).to_pylist())
            left, written = left - len(place), written + len(place)
    found = {name: sorted(held, key=lambda each: (each is None, each)) for name, held in texts.items()}
    return WrittenRows(form.formulas, {**values, **dict.fromkeys(more or {}), **found})


def _ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Yield the items of a generator; a thread computes each item while the item before it is in use."""
    end = object()
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, end)
        while (item := following.result()) is not end:
            following = thread.submit(next, items, end)
            yield item


def _repeated(times: IntArray) -> Iterator[tuple[IntArray, list[pa.Array]]]:
    ends = np.cumsum(times)
    for begin in range(0, int(ends[-1]), PIECE):
        end = min(begin + PIECE, int(ends[-1]))
        first, last = np.searchsorted(ends, [begin, end - 1], side="right")
        rows = np.arange(first, last + 1)
        yield np.repeat(rows, np.minimum(ends[rows], end) - np.maximum(ends[rows] - times[rows], begin)), []


class Parquet:
    """A writer of Parquet files.

    `columns` holds the distinct rows in coded form, and `more` holds the names and types of further columns.
    """

    formulas = Formulas()  # spreadsheets do not open Parquet files

    def __init__(self, columns: Columns, more: Mapping[str, pa.DataType], spreadsheet_safe: bool) -> None:

        self.columns = []
        for codes, values in columns.values():
            found = values_to_arrow(values).drop_null()  # a missing value is last and not in the dictionary
            codes = pa.array(codes.astype(np.int32), mask=codes == len(found))
            self.columns.append(pa.DictionaryArray.from_arrays(codes, found))
        types = (column.type for column in self.columns)
        self.schema = pa.schema([*zip(columns, types, strict=True), *more.items()])
        self.more = [*more]

    def opened(self, path: Path) -> contextlib.AbstractContextManager[Any]:
        """Return an open file at `path`."""
        from pyarrow.parquet import ParquetWriter

        # The schema of Arrow would make every column categorical for readers. Statistics of labels do not help readers
        # and take a third of the time.
        return ParquetWriter(path, self.schema, store_schema=False, write_statistics=self.more)

    def add(self, file: Any, place: IntArray, cells: Sequence[pa.Array]) -> None:
        """Write some rows to an open file."""
        rows = pa.array(place)
        own = [column.take(rows) for column in self.columns]
        file.write_batch(pa.record_batch([*own, *cells], schema=self.schema))


class Csv:
    """A writer of CSV files, which detects formulas and, if `spreadsheet_safe` is true, escapes them."""

    def __init__(self, columns: Columns, more: Mapping[str, pa.DataType], spreadsheet_safe: bool) -> None:

        self.more, self.is_escaped = [*more], spreadsheet_safe
        self.found: dict[str, bool] = {}
        cells = [
            self._cells(name, values_to_arrow(values)).take(pa.array(codes))
            for name, (codes, values) in columns.items()
        ]
        self.lines = [_joined(cells, ",")] if columns else []
        heads = [self._cells(name, pa.array([name])) for name in (*columns, *more)]
        self.head = ",".join(cell.to_pylist()[0] for cell in heads) + "\n"

    @property
    def formulas(self) -> Formulas:
        """The formulas that were found in the written rows."""
        return Formulas(tuple(name for name, held in self.found.items() if held), self.is_escaped)

    @contextlib.contextmanager
    def opened(self, path: Path) -> Iterator[Any]:
        """Yield an open file at `path` with its header."""
        with path.open("wb") as file:
            file.write(self.head.encode())
            yield file

    def add(self, file: Any, place: IntArray, cells: Sequence[pa.Array]) -> None:
        """Write some rows to an open file."""
        own = [lines.take(pa.array(place)) for lines in self.lines]
        lines = _joined([*own, *map(self._cells, self.more, cells)], ",")
        _, _, content = _joined([lines, _text("")], "\n").buffers()
        file.write(content)

    def _cells(self, name: str, values: pa.Array) -> pa.Array:
        """Return the cells of a column as texts for a CSV file."""
        self.found[name] = self.found.get(name) or spreadsheets.holds_formula(values)
        return _quoted(spreadsheets.escape(values) if self.is_escaped else values)


def to_arrow_table(columns: Columns) -> pa.Table:
    """Return rows in the format of `Release.counted_rows` as an Arrow table."""
    return pa.table({name: values_to_arrow(values).take(pa.array(codes)) for name, (codes, values) in columns.items()})


def values_to_arrow(values: Array | pa.Array) -> pa.Array:
    """Return distinct values as an Arrow array of numbers or texts; missing values are null."""
    if isinstance(values, pa.Array):
        return values
    numbers = values.dtype != object  # numbers among labels are texts
    return pa.array(
        [None if value is None or value != value else value if numbers else to_text(value) for value in values.tolist()]
    )


def _quoted(column: pa.Array) -> pa.Array:
    """Return the cells of a column as texts; a cell that needs quotation marks in a CSV file has them."""
    column = pc.fill_null(column.cast(pa.large_string()), "")
    quoted = _joined([_text(""), pc.replace_substring(column, '"', '""'), _text("")], '"')
    return pc.if_else(pc.match_substring_regex(column, '[",\r\n]'), quoted, column)


def _text(value: str) -> pa.Scalar:

    return pa.scalar(value, pa.large_string())  # a large string, because a piece may have more than 2 GB


def _joined(columns: Sequence[Any], between: str) -> pa.Array:
    """Return, for each row, the texts of some columns, joined with `between`."""
    return pc.binary_join_element_wise(*columns, _text(between))
