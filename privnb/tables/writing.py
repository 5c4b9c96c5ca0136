"""A release written to a file, whole or not at all.

Its rows are sorted by what they hold, so that their order tells nothing of the table's.
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

from privnb.microdata.schema import text
from privnb.runtime import progress, unfinished
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import MissingFileError, OutputExistsError, PrivnbError, ResourceError, UsageError
from privnb.runtime.lazy import pa, pc
from privnb.tables import spreadsheets
from privnb.tables.spreadsheets import Formulas

# Distinct rows, as `Release.counted_rows` returns them; the values of a column may be Arrow's.
Columns = Mapping[str, tuple[IntArray, "Array | pa.Array"]]

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG  # of errors: there is no room to write
PIECE = 2**20  # rows at a time
PART = 10_000_000  # rows of a file in a folder
ENDINGS = ".parquet", ".csv", ""  # without one it is a folder of Parquet files
FACTS, BUCKETS = ".provenance.json", ".buckets.csv"  # the ends of the names of what stands beside a release
CODEBOOK, DESCRIPTOR = ".codebook.csv", ".codebook.json"
CARD, PAGE = ".card.json", ".card.html"
BESIDE = FACTS, BUCKETS, CODEBOOK, DESCRIPTOR, CARD, PAGE


class Written(NamedTuple):
    """What was written to a file.

    Attributes
    ----------
    formulas : Formulas
    values : dict of str to list
        By column its different texts, or numbers; of a column of numbers that is written record by record, None.
    """

    formulas: Formulas
    values: dict[str, list[Any] | None]


def output(path: str | os.PathLike[str], *, spreadsheet_safe: bool = False, force: bool = False) -> Path:
    """Return where a release goes.

    Raises
    ------
    UsageError
        For a place of another kind, and for one that is no CSV file if it is to be `spreadsheet_safe`.
    OutputExistsError
        If the release is there, or a file that would be next to it, unless `force` replaces it.
    MissingFileError
        If there is no folder for it.
    """
    if "://" in str(path):
        raise UsageError(f"'{path}' is an address, and a release is written to a file or folder here.")
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"'{path.name}' ends in {path.suffix}. A release is a file that ends in .parquet or .csv, or a folder, "
            "whose name has no ending."
        )
    if spreadsheet_safe and path.suffix != ".csv":
        raise UsageError(
            f"{spreadsheets.OPTION} changes text in a CSV file; got '{path.name}'. Give a name that ends in .csv, or "
            f"leave out {spreadsheets.OPTION}."
        )
    for each in () if force else (path, *beside(path)):
        if each.exists():
            raise OutputExistsError(
                f"{each} exists already and is left as it is. Give another name, move it away, or replace the release "
                "(--force; in Python `force=True`)."
            )
    if path.is_dir() and not Path(f"{path.resolve()}{FACTS}").is_file():
        raise OutputExistsError(
            f"{path} is a folder and not a release: it has no provenance next to it, and it is never replaced. Give "
            "another name."
        )
    if not path.parent.is_dir():
        raise MissingFileError(f"there is no folder '{path.parent}' to write to. Make it, or give another one.")
    return path


def beside(path: Path) -> list[Path]:
    """Return the places of all that may stand beside a release at `path`."""
    return [path.with_name(path.name + ending) for ending in BESIDE]


@contextlib.contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Open a folder next to `path`, for its owner alone, that is gone at the end, and with it all that is unfinished.
    What a process that was killed has left of the same name goes as well. A disk that is full says so, wherever it is.
    """
    with contextlib.ExitStack() as stack:
        with reported(path):
            place = stack.enter_context(unfinished.folder(path.parent, path.name))
        try:
            yield place
        except OSError as error:
            if error.errno not in FULL or isinstance(error, ResourceError):
                raise
            with reported(path):
                raise


@contextlib.contextmanager
def reported(path: Path) -> Iterator[None]:
    """Let an error while `path` is written say so, and that nothing is left of it."""
    try:
        yield
    except PrivnbError:
        raise
    except OSError as error:
        why = error.strerror or str(error).splitlines()[0]
        raise ResourceError(f"{path} cannot be written: {why}. Nothing is left of it.") from error


def finish(made: Path, path: Path, texts: Mapping[str, str], sources: Sequence[Path], *, force: bool = False) -> None:
    """Move what is `made` to `path`, after the `texts` that stand beside it, by their endings: all of it or nothing.

    Nobody may read it who may not read each of the `sources`, files or folders that it was made of. With `force` it
    takes the place of what is there, of which nothing stays beside it; else what is there by now stays.
    """
    with reported(path), contextlib.ExitStack() as undone:
        for ending, content in texts.items():
            made.with_name(made.name + ending).write_text(content, encoding="utf-8")
        for each in made.parent.rglob("*"):
            _protect(each, sources)
        before = made.parent.with_name("before")
        before.mkdir()
        for there in (path, *beside(path)) if force else ():
            if there.exists():
                os.rename(there, before / there.name)
                undone.callback(os.rename, before / there.name, there)
        for own in (*(made.with_name(made.name + ending) for ending in texts), made):
            _place(own, path.with_name(own.name), undone)
        undone.pop_all()  # whole: nothing of it is undone


def _protect(path: Path, sources: Sequence[Path]) -> None:
    """Take from `path` each permission that one of `sources` does not give."""
    allowed = 0o666
    for source in sources:
        allowed &= source.stat().st_mode
    if path.is_dir():  # its owner moves it; others enter it who may read it
        allowed |= (allowed & 0o444) >> 2 | 0o700
    path.chmod(path.stat().st_mode & allowed)


def _place(own: Path, there: Path, undone: contextlib.ExitStack) -> None:
    """Give a file or a folder the place where nothing is. What is `undone` removes it from there.

    Raises OutputExistsError if somebody has just made something there.
    """
    try:
        if own.is_dir():
            there.mkdir()  # which is refused where anything is; a rename would take the place of an empty folder
            undone.callback(shutil.rmtree, there, ignore_errors=True)
            os.replace(own, there)
            return
        try:
            os.link(own, there)
            undone.callback(there.unlink, missing_ok=True)
        except FileExistsError:
            raise
        except OSError:  # of a file system without links
            there.touch(exist_ok=False)
            undone.callback(there.unlink, missing_ok=True)
            shutil.copy2(own, there)
    except FileExistsError:
        raise OutputExistsError(f"{there} exists by now, and is left as it is. Nothing of the release stays.") from None


def write(
    made: Path,
    columns: Columns,
    times: IntArray | None,
    batches: Iterator[tuple[IntArray, list[pa.Array]]] | None = None,
    more: Mapping[str, pa.DataType] | None = None,
    records: int | None = None,
    *,
    spreadsheet_safe: bool = False,
) -> Written:
    """Write rows to a file or folder, and return what they hold: a Written.

    Parameters
    ----------
    made : Path
        Its name ends in one of the `ENDINGS`.
    columns, times
        The distinct rows, as `Release.counted_rows` gives them.
    batches : iterable of (integer array, list of pyarrow.Array), optional
        Which row each published one is, and its cells in the columns `more`; None: each row as often as `times` says.
    more : dict of str to pyarrow.DataType
    records : int, optional
        How many rows there are in `batches`, for the bar that shows how many are written.
    spreadsheet_safe : bool
        Whether formulas in a CSV file are escaped.
    """
    counts = np.zeros(1, dtype=int) if times is None else times
    total, written, left, number = records or int(counts.sum()), 0, 0, 0
    form: Parquet | Csv = (Csv if made.suffix == ".csv" else Parquet)(columns, more or {}, spreadsheet_safe)
    values = {name: arrow(own).to_pylist() for name, (_, own) in columns.items()}
    texts: dict[str, set[Any]] = {name: set() for name, kind in (more or {}).items() if pa.types.is_string(kind)}
    with progress.watched(lambda: 100 * written / total, "writing the rows"), contextlib.ExitStack() as stack:
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
    return Written(form.formulas, {**values, **dict.fromkeys(more or {}), **found})


def _ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Yield the same items of a generator, each made in a thread of its own while the one before it is used."""
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
    """A Parquet file: its distinct `columns`, coded, and the types of `more` columns."""

    formulas = Formulas()  # no spreadsheet opens it

    def __init__(self, columns: Columns, more: Mapping[str, pa.DataType], spreadsheet_safe: bool) -> None:

        self.columns = []
        for codes, values in columns.values():
            found = arrow(values).drop_null()  # a missing value stands last, and in no dictionary
            codes = pa.array(codes.astype(np.int32), mask=codes == len(found))
            self.columns.append(pa.DictionaryArray.from_arrays(codes, found))
        types = (column.type for column in self.columns)
        self.schema = pa.schema([*zip(columns, types, strict=True), *more.items()])
        self.more = [*more]

    def opened(self, path: Path) -> contextlib.AbstractContextManager[Any]:
        from pyarrow.parquet import ParquetWriter

        # Without the schema of Arrow, by which a reader would take every column for categories. The ends of labels help
        # no reader, and take a third of the time.
        return ParquetWriter(path, self.schema, store_schema=False, write_statistics=self.more)

    def add(self, file: Any, place: IntArray, cells: Sequence[pa.Array]) -> None:

        rows = pa.array(place)
        own = [column.take(rows) for column in self.columns]
        file.write_batch(pa.record_batch([*own, *cells], schema=self.schema))


class Csv:
    """A CSV file, in which formulas of spreadsheets are found, and escaped if it is `spreadsheet_safe`."""

    def __init__(self, columns: Columns, more: Mapping[str, pa.DataType], spreadsheet_safe: bool) -> None:

        self.more, self.is_escaped = [*more], spreadsheet_safe
        self.found: dict[str, bool] = {}
        cells = [self._cells(name, arrow(values)).take(pa.array(codes)) for name, (codes, values) in columns.items()]
        self.lines = [_joined(cells, ",")] if columns else []
        heads = [self._cells(name, pa.array([name])) for name in (*columns, *more)]
        self.head = ",".join(cell.to_pylist()[0] for cell in heads) + "\n"

    @property
    def formulas(self) -> Formulas:
        return Formulas(tuple(name for name, held in self.found.items() if held), self.is_escaped)

    @contextlib.contextmanager
    def opened(self, path: Path) -> Iterator[Any]:
        with path.open("wb") as file:
            file.write(self.head.encode())
            yield file

    def add(self, file: Any, place: IntArray, cells: Sequence[pa.Array]) -> None:

        own = [lines.take(pa.array(place)) for lines in self.lines]
        lines = _joined([*own, *map(self._cells, self.more, cells)], ",")
        _, _, content = _joined([lines, _text("")], "\n").buffers()
        file.write(content)

    def _cells(self, name: str, values: pa.Array) -> pa.Array:
        """Return the cells of a column as CSV has them."""
        self.found[name] = self.found.get(name) or spreadsheets.holds_formula(values)
        return _quoted(spreadsheets.escaped(values) if self.is_escaped else values)


def arrow_table(columns: Columns) -> pa.Table:
    """Return rows, as `Release.counted_rows` gives them, as Arrow's."""

    return pa.table({name: arrow(values).take(pa.array(codes)) for name, (codes, values) in columns.items()})


def arrow(values: Array | pa.Array) -> pa.Array:
    """Return distinct values as Arrow's: numbers, or texts; null for what is missing."""
    if isinstance(values, pa.Array):
        return values
    numbers = values.dtype != object  # the numbers among labels are texts
    return pa.array(
        [None if value is None or value != value else value if numbers else text(value) for value in values.tolist()]
    )


def _quoted(column: pa.Array) -> pa.Array:
    """Return the cells of a column as CSV has them."""

    column = pc.fill_null(column.cast(pa.large_string()), "")
    quoted = _joined([_text(""), pc.replace_substring(column, '"', '""'), _text("")], '"')
    return pc.if_else(pc.match_substring_regex(column, '[",\r\n]'), quoted, column)


def _text(value: str) -> pa.Scalar:

    return pa.scalar(value, pa.large_string())  # of pieces of more than 2 GB


def _joined(columns: Sequence[Any], between: str) -> pa.Array:
    """Return the texts of some columns side by side, with `between` them."""

    return pc.binary_join_element_wise(*columns, _text(between))
