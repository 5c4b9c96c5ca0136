"""Tables of any length, which an engine reads, counts and joins.

Only the distinct combinations are in the memory of Python, and the engine may use a part of the memory. Only three
steps process every record: reading, counting and joining. These steps are written once, for any lazy frame that
Narwhals supports. The engine is DuckDB for files, or another engine, such as that of a cluster.
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
from privnb.tables.derivation import DerivedColumns
from privnb.tables.reading import PARQUET, TEXT, file_kind

TIMES, PLACE, MISSING = f"{OWN}times of a combination", f"{OWN}place of a combination", f"{OWN}missing: "

BASE, COMBINATION = 350, 0.0008  # megabytes of the process, and at most of one combination
THREAD = 600  # megabytes with which one thread of the engine counts a million combinations
AUTO, RESERVE = "auto", 0.15  # the share of the available memory that is left to other programs
LEAST, MOST, UNITS = 500, 1e9, {"MB": 1, "GB": 1000}  # the engine rejects sizes beyond 2^64 bytes


@dataclass(frozen=True)
class LongTable:
    """A lazy frame with named columns.

    Parameters
    ----------
    frame : narwhals.LazyFrame
    lent : function of a pyarrow.Table
        A function that converts the table to a lazy frame of the same engine.
    own : dict of str to str
        The name in the frame of each column whose name differs. Names may differ because some characters, such as dots,
        have a special meaning in some engines.
    check : function without arguments, optional
        A function that, after a query, raises SchemaError if the query has read a record with an error.
    share : function without arguments, optional
        A function that returns the progress of a query in percent; a negative number means that the progress is
        unknown.
    """

    frame: Any
    lent: Callable[[pa.Table], Any]
    own: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[], object] = lambda: None
    share: Callable[[], float] = lambda: -1

    def record_count(self) -> int:
        """Return the number of records."""
        return int(self.frame.select(nw.len()).collect(backend="pyarrow").item())

    def repetition(self, names: list[str]) -> tuple[int, int, int]:
        """Return the number of records, of distinct rows in some columns, and of copies of the rarest distinct row."""
        own = self.called(names)
        grouped = self.frame.select(own).group_by(own).agg(nw.len().alias(TIMES))
        times = nw.col(TIMES)
        found = grouped.select(times.sum().alias("s"), nw.len().alias("n"), times.min().alias("m"))
        with progress.watch(self.share, "looking for records that occur more than once"):
            [row] = found.collect(backend="pyarrow").rows()
        self.check()
        records, different, rarest = (int(each or 0) for each in row)
        return records, different, rarest

    def combination_count(self, names: Sequence[str]) -> int:
        """Return the number of distinct combinations of values of some columns."""
        found = self.frame.select(self.called(names)).unique().select(nw.len())
        return int(found.collect(backend="pyarrow").item())

    def counted(self, names: Sequence[str], most: int) -> pa.Table:
        """Return the distinct combinations of values of some columns, and the number of records with each combination.

        Parameters
        ----------
        names : list of str
        most : int
            The number of combinations that fit into memory.

        Returns
        -------
        pyarrow.Table
            The columns `names` in the types of the engine, and TIMES. The table has more than `most` rows if there are
            more combinations.
        """
        own = self.called(names)
        grouped = self.frame.select(own).group_by(own).agg(nw.len().alias(TIMES))
        with progress.watch(self.share, "counting the combinations"):
            found = grouped.head(most + 1).collect(backend="pyarrow").to_native()
        self.check()
        return found.rename_columns([*names, TIMES])

    def called(self, names: Iterable[str]) -> list[str]:
        """Return the names that columns have in the frame."""
        return [self.own.get(name, name) for name in names]

    def replaced(self, pairs: Mapping[str, pa.Table]) -> Self:
        """Return the same table with some values replaced.

        Parameters
        ----------
        pairs : dict of str to pyarrow.Table
            For each column, a table with two columns: the values to replace and their replacements. Other values stay
            unchanged.
        """
        frame, names = self.frame, self.frame.collect_schema().names()
        for own, pair in zip(self.called(pairs), pairs.values(), strict=True):
            pair = self.lent(pair.rename_columns([PLACE, MISSING]))
            frame = frame.join(pair, left_on=own, right_on=PLACE, how="left")
            frame = frame.with_columns(nw.coalesce(nw.col(MISSING), nw.col(own)).alias(own)).select(names)
        return replace(self, frame=frame)

    def deriving(self, derived: DerivedColumns | None, names: Sequence[str]) -> Self:
        """Return the same records with the derived columns that `names` contains.

        The table must have the columns `derived.with_sources(names)`. The engine joins the codes of the sources, and
        computes the lengths of time between two columns.
        """
        if derived is None or not (new := [name for name in names if name in derived.rules]):
            return self
        frame, own = self.frame, dict(self.own)
        for number, name in enumerate(new):
            rule = derived.rules[name]
            codes = [f"{MISSING}{number} {place}" for place in range(len(rule.sources))]
            for source, pair, code in zip(rule.sources, derived.codes[name], codes, strict=True):
                pair = pair.filter(pc.is_valid(pair.column(0)))
                lent = self.lent(pair.rename_columns([PLACE + code, code]))
                frame = frame.join(lent, left_on=self.own.get(source, source), right_on=PLACE + code, how="left")
            value = nw.col(codes[0])
            if rule.is_interval:
                end = nw.col(codes[1]) if codes[1:] else rule.fixed
                value = rule.between(value, end).cast(nw.Int64)
            own[name] = f"derived {number}"
            frame = frame.with_columns(value.alias(own[name]))
        return replace(self, frame=frame.select(*own.values()), own=own)

    def joined(self, combinations: pa.Table, labels: pa.Table, more: Iterable[str] = ()) -> Any:
        """Return the records with the labels of their combinations.

        Parameters
        ----------
        combinations : pyarrow.Table
            The result of `counted`.
        labels : pyarrow.Table
            The labels of the combinations, in the same order, with column names that privnb chooses.
        more : list of str
            Further columns of the records.

        Returns
        -------
        narwhals.LazyFrame
            The columns of `labels`, and then the columns `more`, with the names that `called` returns.
        """
        keys, frame, own = combinations.drop_columns([TIMES]), self.frame, self.called(more)
        keys = keys.rename_columns(self.called(keys.column_names))
        names = keys.column_names
        if engine.is_relation(frame.to_native()):
            called = {PLACE + name: name for name in labels.column_names}
            lent = self.lent(pa.table([*keys.columns, *labels.columns], [*names, *called])).to_native()
            found = engine.join_combinations(frame.to_native(), lent, names, own, called)
            if found is not None:
                return nw.from_native(found)
        for name in names:  # a missing value equals no other value, so a join would lose it
            column = keys.column(name)
            if column.null_count:
                frame = frame.with_columns(nw.col(name).is_null().alias(MISSING + name))
                keys = keys.append_column(MISSING + name, column.is_null())
                some = next((value for value in column.unique().to_pylist() if value is not None), None)
                if some is None:  # a constant column divides nothing
                    keys = keys.drop_columns([name])
                    continue
                frame = frame.with_columns(nw.col(name).fill_null(some))
                keys = keys.set_column(keys.column_names.index(name), name, column.fill_null(some))
        placed = {PLACE + name: labels.column(name) for name in labels.column_names}
        for name, column in placed.items():
            keys = keys.append_column(name, column)
        on = [name for name in keys.column_names if name not in placed]
        found = frame.select([*on, *own]).join(self.lent(keys), on=on, how="inner")
        return found.select(*(nw.col(name).alias(name.removeprefix(PLACE)) for name in placed), *map(nw.col, own))


class TooManyCombinationsError(ResourceError, SchemaError):
    """There are more combinations than fit into the memory."""


class Memory(NamedTuple):
    """The maximum memory of the whole process, as the text `said` of the user and in `megabytes`."""

    said: str
    megabytes: float

    @classmethod
    def of(cls, said: object) -> Memory:
        """Return the memory for a text such as "800MB" or "2GB"; "auto" is the machine's free memory minus a reserve.

        The release does not depend on the memory, as long as all combinations fit into it. Raises UsageError for a text
        that is not a size, and for a size that is too small for any table or larger than the memory of any machine.
        Raises ResourceError if "auto" finds too little memory.
        """
        if said == AUTO:
            return cls._automatic()
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(MB|GB)\s*", str(said), re.IGNORECASE)
        size = float(found[1]) * UNITS[found[2].upper()] if found else 0
        if not LEAST <= size <= MOST:
            raise UsageError(
                f"memory must be a size such as 2GB, at least {LEAST}MB and at most {MOST / 1000:,.0f}GB; "
                f"got {expect.describe_value(said)}. Try '{AUTO}', which takes the free memory of the machine."
            )
        return cls(str(said), size)

    @classmethod
    def _automatic(cls) -> Memory:
        """Return the free memory of the machine minus a reserve, rounded down to a multiple of 100 MB."""
        size = available_memory() * (1 - RESERVE) / 1e6 // 100 * 100
        if size < LEAST:
            raise ResourceError(
                f"this machine has less than {LEAST}MB of memory left for a table. Close other programs, state "
                "a size, or, if privnb runs in a container, give the container more memory."
            )
        return cls(f"{size:.0f}MB", size)

    def engine(self, folder: Path) -> dict[str, Any]:
        """Return the settings of an engine that runs while Python holds the combinations.

        The engine writes data that do not fit into the memory to `folder`.
        """
        return {"memory_limit": f"{(self.megabytes - BASE) / 2:.0f}MB", "temp_directory": str(folder)}

    def counting(self, folder: Path) -> dict[str, Any]:
        """Return the settings of an engine that only counts combinations and is closed afterwards."""
        whole = (self.megabytes - BASE) * 0.8  # the rest is for the results of the engine
        threads = min(usable_cores(), max(1, int(whole / THREAD)))
        return {"memory_limit": f"{whole:.0f}MB", "temp_directory": str(folder), "threads": threads}

    @property
    def combinations(self) -> int:
        """The maximum number of combinations that fit into the memory."""
        return int((self.megabytes - BASE) / COMBINATION)

    @staticmethod
    def enough_for(combinations: int) -> str:
        """Return the smallest memory, in steps of 100 MB, into which this number of combinations fits."""
        megabytes = max(BASE + (combinations + 1) * COMBINATION, LEAST)
        return f"{math.ceil(megabytes / 100) / 10:.1f}GB"

    def counted(
        self, table: LongTable, names: list[str], cure: str, whole: Sequence[str] = (), *, estimates: bool = True
    ) -> pa.Table:
        """Return the distinct combinations of some columns of a LongTable; see `LongTable.counted`.

        Parameters
        ----------
        table : LongTable
        names : list of str
        cure : str
            The remedy for too many combinations, with which the error ends.
        whole : sequence of str
            The columns that are counted afterwards. The memory that the error states is also enough for their
            combinations.
        estimates : bool
            Whether the error states the memory that would be enough. To compute this memory, the table must be read
            again.

        Raises
        ------
        TooManyCombinationsError
            If the combinations do not fit into the memory.
        """
        found = table.counted(names, self.combinations)
        self.check(found, cure, (lambda: table.combination_count([*(whole or names)])) if estimates else None)
        return found

    def check(self, found: pa.Table, instead: str, count: Callable[[], int] | None = None) -> None:
        """Raise TooManyCombinationsError if there are more combinations than fit into the memory.

        `found` is the result of `LongTable.counted` with the maximum number of combinations. `instead` is the remedy in
        the error. `count` is a function that returns the actual number of combinations.
        """
        if len(found) <= self.combinations:
            return
        if count is not None:
            number = count()
            instead = f"{instead} A memory of {self.enough_for(number)} is enough for all {number:,} combinations."
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
            f"{self.said}. The columns with the most values are {said}. {instead}"
        )


def has_blank(found: pa.Table, names: Iterable[str]) -> bool:
    """Return whether at least one combination is blank in all columns `names`.

    `found` is a result of `LongTable.counted`.
    """
    for name in names:
        column = found.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        blank = column.is_null()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            blank = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), True)
        found = found.filter(blank)
    return len(found) > 0


def number_names(names: Iterable[str]) -> dict[str, str]:
    """Return, for each column name, another name that every engine accepts."""
    return {name: f"column {number}" for number, name in enumerate(names)}


@dataclass(frozen=True)
class File:
    """A file of a table, with the layout and the entry that its description states."""

    path: Path
    layout: text_files.Layout | None
    header: Sequence[str] = ()  # the column names of a text file without a header
    entry: Mapping[str, Any] = field(default_factory=dict)  # its entry in a description


def read_columns(files: Sequence[File]) -> list[str]:
    """Return the column names of files, which the description states for text files without a header.

    Raises SchemaError unless all files have the same columns.
    """
    found = [_columns(file) for file in files]
    reading.check_same([file.path for file in files], found)
    return found[0]


def check_record_counts(files: Sequence[File], found: int) -> None:
    """Raise SchemaError unless, in text files, a second reader counts `found` records, the number of the engine."""
    if all(file_kind(file.path) == TEXT for file in files):
        text_files.check_record_count([file.path for file in files], [file.layout for file in files], found)


def _columns(file: File) -> list[str]:
    if file.layout is not None and not file.layout.header:
        return list(file.header)
    _check_kind(file.path)
    layout = file.layout if file_kind(file.path) == TEXT else None
    names = text_files.read_header(file.path, layout) if layout else reading.parquet_columns(file.path)
    reading.check_names(file.path, names)
    reading.check_header(file.path, names, text_files.read_first_records(file.path, layout) if layout else ())
    return names


def _check_kind(path: Path) -> None:
    if (found := file_kind(path)) not in (TEXT, PARQUET):
        raise SchemaError(
            f"{path.name} is {found}. Tables of any length must be CSV or Parquet. Save the table in one of these "
            "formats."
        )


@contextlib.contextmanager
def open_table(
    files: Sequence[File],
    names: Sequence[str],
    renamed: Mapping[str, str],
    complete: Mapping[str, Iterable[str]] | None = None,
    held: bool = False,
    derived: DerivedColumns | None = None,
    **settings: Any,
) -> Iterator[LongTable]:
    """Yield the records of files as a `LongTable` in a new connection to the engine.

    The arguments and the errors are those of `open_queries`. `derived` holds the derived columns, some of which `names`
    may contain, with their codes; see `DerivedColumns.looked_up`.
    """
    own = derived.with_sources(names) if derived else names
    with open_queries(files, own, renamed, complete, held, **settings) as (connection, queries, check):
        relation = connection.sql(" union all by name ".join(queries))
        lent = lambda table: nw.from_native(connection.from_arrow(table))  # noqa: E731
        table = LongTable(nw.from_native(relation), lent, number_names(own), check, connection.query_progress)
        yield table.deriving(derived, names)


@contextlib.contextmanager
def open_queries(
    files: Sequence[File],
    names: Sequence[str],
    renamed: Mapping[str, str],
    complete: Mapping[str, Iterable[str]] | None = None,
    held: bool = False,
    **settings: Any,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[str], Callable[[], None]]]:
    """Yield a connection to the engine, the queries for the records of files, and a check to run after the queries.

    Parameters
    ----------
    files : list of File
    names : list of str
        The columns to read.
    renamed : dict of str to str
        The new names of columns, by their names in the files.
    complete : dict of str to texts, optional
        For each column, the marks of a missing value. If this argument is given, records with missing values are left
        out.
    held : bool
        Whether rows that are blank in all columns are left out, because such rows are not records. If true, all columns
        are read, so this is useful only if some rows are blank in all columns of `names`.
    **settings
        The settings of the engine; see `engine.connect`.

    Yields
    ------
    connection : duckdb.DuckDBPyConnection
    queries : list of str
        One SQL query per file, in brackets, whose columns have the names of `number_names`.
    check : function without arguments
        See `LongTable`.

    Raises
    ------
    SchemaError
        For a file that is neither text nor Parquet, and for a file that does not have all of the columns.
    """
    with contextlib.ExitStack() as stack:
        queries: list[str] = []
        checks: list[Callable[[duckdb.DuckDBPyConnection], object]] = []
        for file in files:
            _check_kind(file.path)
            known, query, check_file = stack.enter_context(reading.scan(file.path, file.layout, file.header))
            checks.append(check_file)
            # A file without its own description may lack columns.
            its = renamed if file.entry else {name: renamed[name] for name in known if name in renamed}
            reading.check_renamed(file.path, known, its)
            columns = {renamed.get(name, name): f"c{number}" for number, name in enumerate(known)}
            if file.layout and (end := file.layout.line_end):
                last = [*columns][-1]
                columns[last] = f"regexp_replace({columns[last]}, {engine.quote_text(reading.end_pattern(end))}, '')"
            if absent := [name for name in names if name not in columns]:
                raise SchemaError(
                    f"{file.path.name} has no column {', '.join(map(repr, absent))}; it has {', '.join(columns)}."
                )
            wanted = ", ".join(
                f"{columns[name]} as {engine.quote_name(own)}" for name, own in number_names(names).items()
            )
            unfit = "false"
            if complete is not None:
                described = [name for name in complete if name in columns]
                unfit = " or ".join(engine.missing_condition(columns[name], complete[name]) for name in described)
            elif held:
                unfit = " and ".join(map(engine.blank_condition, columns.values()))
            queries.append(f"(select {wanted} from ({query}) where not ({unfit}))")
        connection = stack.enter_context(engine.connect(**settings))
        connection.execute(
            "set enable_progress_bar = true; set enable_progress_bar_print = false"
        )  # for `query_progress`

        def check() -> None:
            for each in checks:
                each(connection)

        with engine.convert_engine_errors([file.path for file in files]):
            yield connection, queries, check
