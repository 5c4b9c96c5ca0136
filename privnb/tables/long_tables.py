"""Tables of any length: read, counted and joined by an engine, so that no more than their combinations is in memory,
of which the engine is given a part.

Only these three steps touch every record. They are written once, for any lazy frame that Narwhals knows: DuckDB's, of
files, or another engine's, of a cluster.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from privnb.microdata.schema import SchemaError
from privnb.runtime import expect, progress
from privnb.runtime.errors import ResourceError, UsageError
from privnb.runtime.lazy import duckdb, nw, pa, pc
from privnb.runtime.names import OWN
from privnb.runtime.processes import available_memory, usable_cores
from privnb.tables import engine, reading, text_files
from privnb.tables.reading import PARQUET, TEXT, kind

TIMES, PLACE, MISSING = f"{OWN}times of a combination", f"{OWN}place of a combination", f"{OWN}missing: "

BASE, COMBINATION = 350, 0.0008  # megabytes: the process itself, and what one combination takes in it at most
THREAD = 600  # megabytes in which one thread of the engine counts a million combinations
AUTO, RESERVE = "auto", 0.15  # the share of what is available that is left to others
LEAST, MOST, UNITS = 500, 1e9, {"MB": 1, "GB": 1000}  # the engine takes no size beyond 2^64 bytes


@dataclass(frozen=True)
class LongTable:
    """A lazy frame with named columns.

    Parameters
    ----------
    frame : narwhals.LazyFrame
    lent : function of a pyarrow.Table
        Gives it as a lazy frame of the same engine.
    own : dict of str to str
        What columns are called in the frame, by their names, where these differ: engines take some letters, such as
        dots, for more than a name.
    check : function without arguments, optional
        Raises SchemaError for what was wrong with the records that were read, after a question.
    share : function without arguments, optional
        How much of a question is answered, in percent; negative: unknown.
    """

    frame: Any
    lent: Callable[[pa.Table], Any]
    own: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[], object] = lambda: None
    share: Callable[[], float] = lambda: -1

    def record_count(self) -> int:
        """Return how many records there are."""

        return int(self.frame.select(nw.len()).collect(backend="pyarrow").item())

    def repetition(self, names: list[str]) -> tuple[int, int, int]:
        """Return how many records there are, how many differ in some columns, and how often the rarest occurs."""

        own = self.called(names)
        grouped = self.frame.select(own).group_by(own).agg(nw.len().alias(TIMES))
        times = nw.col(TIMES)
        found = grouped.select(times.sum().alias("s"), nw.len().alias("n"), times.min().alias("m"))
        with progress.watched(self.share, "looking for records that occur more than once"):
            [row] = found.collect(backend="pyarrow").rows()
        self.check()
        records, different, rarest = (int(each or 0) for each in row)
        return records, different, rarest

    def combination_count(self, names: Sequence[str]) -> int:
        """Return how many distinct combinations some columns have."""
        found = self.frame.select(self.called(names)).unique().select(nw.len())
        return int(found.collect(backend="pyarrow").item())

    def counted(self, names: Sequence[str], most: int) -> pa.Table:
        """Return the distinct combinations of some columns, and how many records have each.

        Parameters
        ----------
        names : list of str
        most : int
            Combinations that fit into memory.

        Returns
        -------
        pyarrow.Table
            The columns `names` of the engine's own types, and TIMES; more than `most` rows where there are more.
        """

        own = self.called(names)
        grouped = self.frame.select(own).group_by(own).agg(nw.len().alias(TIMES))
        with progress.watched(self.share, "counting the combinations"):
            found = grouped.head(most + 1).collect(backend="pyarrow").to_native()
        self.check()
        return found.rename_columns([*names, TIMES])

    def called(self, names: Iterable[str]) -> list[str]:
        """Return what columns are called in the frame."""
        return [self.own.get(name, name) for name in names]

    def replaced(self, pairs: Mapping[str, pa.Table]) -> Self:
        """Return the same table, in which some values are others.

        Parameters
        ----------
        pairs : dict of str to pyarrow.Table
            By column its values and what stands in their place, two columns; other values stay.
        """

        frame, names = self.frame, self.frame.collect_schema().names()
        for own, pair in zip(self.called(pairs), pairs.values(), strict=True):
            pair = self.lent(pair.rename_columns([PLACE, MISSING]))
            frame = frame.join(pair, left_on=own, right_on=PLACE, how="left")
            frame = frame.with_columns(nw.coalesce(nw.col(MISSING), nw.col(own)).alias(own)).select(names)
        return replace(self, frame=frame)

    def joined(self, combinations: pa.Table, labels: pa.Table, more: Iterable[str] = ()) -> Any:
        """Return the records with the labels of their combinations.

        Parameters
        ----------
        combinations : pyarrow.Table
            As `counted` gives them.
        labels : pyarrow.Table
            Of as many rows, in that order: what stands beside each. Its names are ours.
        more : list of str
            Other columns of the records.

        Returns
        -------
        narwhals.LazyFrame
            The columns of `labels`, then `more` as they are `called`.
        """

        keys, frame, own = combinations.drop_columns([TIMES]), self.frame, self.called(more)
        keys = keys.rename_columns(self.called(keys.column_names))
        names = keys.column_names
        if engine.has(frame.to_native()):
            called = {PLACE + name: name for name in labels.column_names}
            lent = self.lent(pa.table([*keys.columns, *labels.columns], [*names, *called])).to_native()
            found = engine.joined(frame.to_native(), lent, names, own, called)
            if found is not None:
                return nw.from_native(found)
        for name in names:  # a missing value is equal to no other, so that a join would lose it
            column = keys.column(name)
            if column.null_count:
                frame = frame.with_columns(nw.col(name).is_null().alias(MISSING + name))
                keys = keys.append_column(MISSING + name, column.is_null())
                some = next((value for value in column.unique().to_pylist() if value is not None), None)
                if some is None:  # it parts nothing
                    keys = keys.drop_columns([name])
                    continue
                frame = frame.with_columns(nw.col(name).fill_null(some))
                keys = keys.set_column(keys.column_names.index(name), name, column.fill_null(some))
        beside = {PLACE + name: labels.column(name) for name in labels.column_names}
        for name, column in beside.items():
            keys = keys.append_column(name, column)
        on = [name for name in keys.column_names if name not in beside]
        found = frame.select([*on, *own]).join(self.lent(keys), on=on, how="inner")
        return found.select(*(nw.col(name).alias(name.removeprefix(PLACE)) for name in beside), *map(nw.col, own))


class TooManyCombinationsError(ResourceError, SchemaError):
    """More combinations than fit into the memory."""


class Memory(NamedTuple):
    """What the whole process may take at most: as it was `said`, and in `megabytes`."""

    said: str
    megabytes: float

    @classmethod
    def of(cls, said: object) -> Memory:
        """Return what a person says, such as "800MB" or "2GB"; "auto": what the machine has left, less a reserve.

        The release is the same whatever the memory, as long as its combinations fit. Raises UsageError for what is not
        a size, for too little for any table and for more than any machine has; ResourceError where "auto" finds too
        little.
        """
        if said == AUTO:
            return cls._automatic()
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(MB|GB)\s*", str(said), re.IGNORECASE)
        size = float(found[1]) * UNITS[found[2].upper()] if found else 0
        if not LEAST <= size <= MOST:
            raise UsageError(
                f"memory must be a size such as 2GB, at least {LEAST}MB and at most {MOST / 1000:,.0f}GB, "
                f"got {expect.found(said)}. Try '{AUTO}', which takes what the machine has left."
            )
        return cls(str(said), size)

    @classmethod
    def _automatic(cls) -> Memory:
        """Return what the machine has left, in whole steps of 100 MB."""
        size = available_memory() * (1 - RESERVE) / 1e6 // 100 * 100
        if size < LEAST:
            raise ResourceError(
                f"this machine has less than {LEAST}MB of memory left for a table. Close other programs, allow the "
                "container more, or state a size."
            )
        return cls(f"{size:.0f}MB", size)

    def engine(self, folder: Path) -> dict[str, Any]:
        """Return the settings of an engine that works next to its combinations; `folder` takes what does not fit."""
        return {"memory_limit": f"{(self.megabytes - BASE) / 2:.0f}MB", "temp_directory": str(folder)}

    def counting(self, folder: Path) -> dict[str, Any]:
        """Return the settings of an engine that counts combinations and is closed before anything is made of them."""
        whole = (self.megabytes - BASE) * 0.8  # the rest is for what it hands over
        threads = min(usable_cores(), max(1, int(whole / THREAD)))
        return {"memory_limit": f"{whole:.0f}MB", "temp_directory": str(folder), "threads": threads}

    @property
    def combinations(self) -> int:
        """How many fit."""
        return int((self.megabytes - BASE) / COMBINATION)

    @staticmethod
    def enough_for(combinations: int) -> str:
        """Return the least size, in steps of 100 MB, that holds so many combinations."""
        megabytes = max(BASE + (combinations + 1) * COMBINATION, LEAST)
        return f"{math.ceil(megabytes / 100) / 10:.1f}GB"

    def counted(
        self, table: LongTable, names: list[str], cure: str, whole: Sequence[str] = (), *, estimates: bool = True
    ) -> pa.Table:
        """Return the distinct combinations of some columns of a LongTable, as its `counted` gives them.

        Parameters
        ----------
        table : LongTable
        names : list of str
        cure : str
            What to do about more combinations than fit: the end of the error.
        whole : sequence of str
            The columns that are counted after these; the error names a memory that is enough for them, too.
        estimates : bool
            Whether the error names such a memory, for which the table is read once more.

        Raises
        ------
        TooManyCombinationsError
            For more combinations than fit into the memory.
        """
        found = table.counted(names, self.combinations)
        self.check(found, cure, (lambda: table.combination_count([*(whole or names)])) if estimates else None)
        return found

    def check(self, found: pa.Table, instead: str, count: Callable[[], int] | None = None) -> None:
        """Raise TooManyCombinationsError for more combinations than fit, with what to do `instead`.

        `found`: as `LongTable.counted` gives it for so many at most; `count`: returns how many there are.
        """
        if len(found) <= self.combinations:
            return
        if count is not None:
            number = count()
            instead = f"{instead} A memory of {self.enough_for(number)} is enough for its {number:,} combinations."
        counts = {name: len(found.column(name).unique()) for name in found.column_names if name != TIMES}
        if len(counts) == 1:
            raise TooManyCombinationsError(
                f"'{next(iter(counts))}' has more than {self.combinations:,} different values, which do not fit into "
                f"{self.said}. {instead}"
            )
        worst = sorted(counts, key=lambda name: counts[name])[:-4:-1]
        said = ", ".join(f"{name} ({counts[name]:,})" for name in worst)
        raise TooManyCombinationsError(
            f"more than {self.combinations:,} different combinations of {len(counts)} columns do not fit into "
            f"{self.said}. Of so many, these have most values: {said}. {instead}"
        )


def has_blank(found: pa.Table, names: Iterable[str]) -> bool:
    """Return whether a row of combinations, as `LongTable.counted` gives them, has nothing in the columns `names`."""

    for name in names:
        column = found.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        blank = column.is_null()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            blank = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), True)
        found = found.filter(blank)
    return len(found) > 0


def numbered(names: Iterable[str]) -> dict[str, str]:
    """Return names that every engine takes, by columns' own."""
    return {name: f"column {number}" for number, name in enumerate(names)}


@dataclass(frozen=True)
class File:
    """A file of a table."""

    path: Path
    layout: text_files.Layout | None
    header: Sequence[str] = ()  # the columns of a text file without one
    entry: Mapping[str, Any] = field(default_factory=dict)  # what a description says of it


def columns(files: Sequence[File]) -> list[str]:
    """Return the names of the columns of files, as the files themselves say, or a description of text without a header.

    Raises SchemaError unless all have the same ones.
    """
    found = [_columns(file) for file in files]
    reading.check_same([file.path for file in files], found)
    return found[0]


def check_count(files: Sequence[File], found: int) -> None:
    """Raise SchemaError unless a second reader counts as many records in text files as the engine `found`."""
    if all(kind(file.path) == TEXT for file in files):
        text_files.check_count([file.path for file in files], [file.layout for file in files], found)


def _columns(file: File) -> list[str]:
    if file.layout is not None and not file.layout.header:
        return list(file.header)
    _check_kind(file.path)
    layout = file.layout if kind(file.path) == TEXT else None
    names = text_files.header(file.path, layout) if layout else reading.parquet_columns(file.path)
    reading.check_names(file.path, names)
    reading.check_header(file.path, names, text_files.first_records(file.path, layout) if layout else ())
    return names


def _check_kind(path: Path) -> None:
    if (found := kind(path)) not in (TEXT, PARQUET):
        raise SchemaError(f"{path.name} is {found}. From file to file go CSV and Parquet: save it as one of them.")


@contextlib.contextmanager
def opened(
    files: Sequence[File],
    names: Sequence[str],
    renamed: Mapping[str, str],
    complete: Mapping[str, Iterable[str]] | None = None,
    held: bool = False,
    **settings: Any,
) -> Iterator[LongTable]:
    """Open the records of files, as a `LongTable` of an engine of its own, which is closed at the end.

    Arguments and errors as in `asked`.
    """

    with asked(files, names, renamed, complete, held, **settings) as (connection, queries, check):
        relation = connection.sql(" union all by name ".join(queries))
        lent = lambda table: nw.from_native(connection.from_arrow(table))  # noqa: E731
        yield LongTable(nw.from_native(relation), lent, numbered(names), check, connection.query_progress)


@contextlib.contextmanager
def asked(
    files: Sequence[File],
    names: Sequence[str],
    renamed: Mapping[str, str],
    complete: Mapping[str, Iterable[str]] | None = None,
    held: bool = False,
    **settings: Any,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[str], Callable[[], None]]]:
    """Open an engine for the records of files, which is closed at the end, and what asks it for them.

    Parameters
    ----------
    files : list of File
    names : list of str
        The columns that are read.
    renamed : dict of str to str
        Names by those in the files.
    complete : dict of str to texts, optional
        The marks of a missing value by column, if records with one in any column are left out.
    held : bool
        Whether what has no cell in any column is left out: it is no record. All columns are read for that, so it is
        asked where the columns `names` of something are blank.
    **settings
        Of the engine.

    Yields
    ------
    connection : duckdb.DuckDBPyConnection
    queries : list of str
        In SQL, one per file, in brackets. They call the columns as `numbered` does.
    check : function without arguments
        As in a `LongTable`.

    Raises
    ------
    SchemaError
        For files that are none, or lack a column.
    """
    with contextlib.ExitStack() as stack:
        queries: list[str] = []
        checks: list[Callable[[duckdb.DuckDBPyConnection], object]] = []
        for file in files:
            _check_kind(file.path)
            known, query, check_file = stack.enter_context(reading.scanned(file.path, file.layout, file.header))
            checks.append(check_file)
            # A file that is not itself described may lack columns.
            its = renamed if file.entry else {name: renamed[name] for name in known if name in renamed}
            reading.check_renamed(file.path, known, its)
            columns = {renamed.get(name, name): f"c{number}" for number, name in enumerate(known)}
            if file.layout and (end := file.layout.line_end):
                last = [*columns][-1]
                columns[last] = f"regexp_replace({columns[last]}, {engine.quoted(reading.at_the_end(end))}, '')"
            if absent := [name for name in names if name not in columns]:
                raise SchemaError(
                    f"{file.path.name} has no column {', '.join(map(repr, absent))}; it has {', '.join(columns)}."
                )
            wanted = ", ".join(f"{columns[name]} as {engine.name(own)}" for name, own in numbered(names).items())
            unfit = "false"
            if complete is not None:
                described = [name for name in complete if name in columns]
                unfit = " or ".join(engine.lacking(columns[name], complete[name]) for name in described)
            elif held:
                unfit = " and ".join(map(engine.blank, columns.values()))
            queries.append(f"(select {wanted} from ({query}) where not ({unfit}))")
        connection = stack.enter_context(engine.opened(**settings))
        connection.execute("set enable_progress_bar = true; set enable_progress_bar_print = false")  # for its share

        def check() -> None:
            for each in checks:
                each(connection)

        with engine.reported([file.path for file in files]):
            yield connection, queries, check
