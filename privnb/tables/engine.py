"""The engine that processes all rows: DuckDB, with one connection for each query and without network access."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from privnb.microdata.schema import SchemaError
from privnb.runtime.errors import ResourceError
from privnb.runtime.lazy import duckdb
from privnb.runtime.names import OWN

NUMBER = f"{OWN}number of a combination"
STOPS = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
# The characters of a blank cell, as in `reading`. SQL itself trims only spaces.
BLANK = "".join(filter(str.isspace, map(chr, range(0x3001))))


@contextlib.contextmanager
def connect(**settings: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the engine; `settings` are settings of DuckDB, such as `memory_limit`."""
    alone = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), "false")
    with duckdb.connect(config=alone | settings) as connection, _interruptible(connection):
        yield connection


@contextlib.contextmanager
def convert_engine_errors(paths: Iterable[Path]) -> Iterator[None]:
    """Convert the errors that the engine raises while it reads files to a SchemaError or a ResourceError."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise SchemaError(
            "the engine needs more memory than it may take. Allow more memory, or leave out columns."
        ) from None
    except duckdb.IOException as error:
        raise ResourceError(f"{str(error).splitlines()[0]}. Nothing is written.") from error
    except duckdb.Error as error:
        said, names = str(error).splitlines()[0].rstrip("."), ", ".join(path.name for path in paths)
        if "state machine" in said:
            said = "a cell with a line break is not quoted, or rows end in different line breaks"
        raise SchemaError(f"{names} cannot be read: {said}. Save the table again as CSV.") from error


@contextlib.contextmanager
def _interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt the engine when a signal stops this process.

    The engine itself checks for signals only in the main thread, and not while the main thread waits for another
    thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_interrupt, args=(reader, connection), daemon=True)
    try:
        watcher.start()
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.close()
        if watcher.ident is not None:
            watcher.join()
        reader.close()


def _interrupt(signals: socket.socket, connection: duckdb.DuckDBPyConnection) -> None:
    while number := signals.recv(1):
        if number[0] in STOPS:
            connection.interrupt()


def is_relation(frame: object) -> bool:
    """Return whether a native frame is a relation of DuckDB."""
    return isinstance(frame, duckdb.DuckDBPyRelation)


def join_combinations(
    records: duckdb.DuckDBPyRelation,
    combinations: duckdb.DuckDBPyRelation,
    names: Sequence[str],
    more: Sequence[str],
    renamed: Mapping[str, str],
) -> duckdb.DuckDBPyRelation | None:
    """Return records joined with the columns of their combinations, by one hash per row.

    This join takes a third of the time of a join by all columns, in which missing values would have to count as equal.

    Parameters
    ----------
    records, combinations : duckdb.DuckDBPyRelation
        Two relations with the columns `names`.
    names, more : list of str
        The columns that determine a combination, and further columns of the records to return.
    renamed : dict of str to str
        The names in the result of the columns of `combinations` to add, as `{column: name}`.

    Returns
    -------
    duckdb.DuckDBPyRelation or None
        The columns of `renamed` and then those of `more`; None if two combinations have the same hash. Records without
        a combination are left out; if there are a million combinations, about one of 10^13 such records is not left
        out, because of a chance match of hashes.
    """
    if not names:
        return None
    types = dict(zip(records.columns, records.types, strict=True))
    number = f"hash({', '.join(f'{quote_name(each)}::{types[each]}' for each in names)}) as {quote_name(NUMBER)}"
    left = records.project(", ".join([number, *map(quote_name, more)])).set_alias("records")
    right = combinations.project(
        ", ".join([number, *(f"{quote_name(own)} as {quote_name(renamed[own])}" for own in renamed)])
    )
    if not right.aggregate(f"count(distinct {quote_name(NUMBER)}) = count(*)").fetchall()[0][0]:
        return None
    found = left.join(
        right.set_alias("combinations"), f"records.{quote_name(NUMBER)} = combinations.{quote_name(NUMBER)}"
    )
    return found.project(", ".join(map(quote_name, [*renamed.values(), *more])))


def parquet_source(path: Path) -> str:
    """Return the SQL expression that reads a Parquet file.

    The expression quotes the path, because the engine would otherwise interpret the characters *, ? and [ as a pattern,
    and a folder such as a=1 as a column.
    """
    literal = re.sub(r"([*?[])", r"[\1]", str(path))
    return f"read_parquet({quote_text(literal)}, hive_partitioning = false)"


def quote_name(text: str) -> str:
    """Return the name of a column, quoted for SQL."""
    return '"' + text.replace('"', '""') + '"'


def blank_condition(column: str) -> str:
    """Return the SQL condition that a cell is missing or blank."""
    return _looked_at(column, "false", _bare(column))


def missing_condition(column: str, marked: Iterable[str]) -> str:
    """Return the SQL condition that a cell is missing, blank, or one of `marked`, apart from leading spaces."""
    text, some = f"{column}::varchar", f"in ({', '.join(map(quote_text, marked))})"
    return _looked_at(column, f"{text} {some}", f"{_bare(column)} or ltrim({text}, ' ') {some}")


def _bare(column: str) -> str:
    return f"coalesce(trim({column}::varchar, {quote_text(BLANK)}), '') = ''"


def _looked_at(column: str, seen: str, other: str) -> str:
    """Return the SQL that uses `seen` for cells that begin with a visible ASCII character, and `other` for other cells.

    Nearly all cells begin with such a character, and the check of the first character is ten times as fast as the
    removal of blanks.
    """
    text = f"{column}::varchar"
    return f"(case when {text} >= '!' and {text} < '\x7f' then {seen} else {other} end)"


def quote_text(text: str) -> str:
    """Return a text, quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"
