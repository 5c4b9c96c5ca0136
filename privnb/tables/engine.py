"""The engine that touches every row: DuckDB, opened and closed per question, which asks for nothing from elsewhere."""

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
# What a blank cell is made of, as `reading` knows it: of SQL's own, spaces alone.
BLANK = "".join(filter(str.isspace, map(chr, range(0x3001))))


@contextlib.contextmanager
def opened(**settings: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection to the engine, closed at the end. `settings`: its own, such as `memory_limit`."""

    alone = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), "false")
    with duckdb.connect(config=alone | settings) as connection, _interruptible(connection):
        yield connection


@contextlib.contextmanager
def reported(paths: Iterable[Path]) -> Iterator[None]:
    """Raise what goes wrong in the engine while it reads files as SchemaError and OSError."""

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise SchemaError("the engine needs more memory than it is given. Allow more, or leave out columns.") from None
    except duckdb.IOException as error:
        raise ResourceError(f"{str(error).splitlines()[0]}. Nothing is written.") from error
    except duckdb.Error as error:
        said, names = str(error).splitlines()[0].rstrip("."), ", ".join(path.name for path in paths)
        if "state machine" in said:
            said = "a line break in a cell has no quotation marks around it, or rows end in different line breaks"
        raise SchemaError(f"{names} cannot be read: {said}. Save the table again as CSV.") from error


@contextlib.contextmanager
def _interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt what the engine does when a signal stops this process. By itself the engine looks for signals in the
    main thread alone, and not while that one waits for another.
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


def has(frame: object) -> bool:
    """Return whether a native frame is the engine's own."""

    return isinstance(frame, duckdb.DuckDBPyRelation)


def joined(
    records: duckdb.DuckDBPyRelation,
    combinations: duckdb.DuckDBPyRelation,
    names: Sequence[str],
    more: Sequence[str],
    beside: Mapping[str, str],
) -> duckdb.DuckDBPyRelation | None:
    """Return records with what belongs to their combinations, by one number per row: a third of the time of a join
    by all columns, a missing value equal to another one.

    Parameters
    ----------
    records, combinations : duckdb.DuckDBPyRelation
        Both have the columns `names`.
    names, more : list of str
        Of the combinations, and of what else is taken of the records.
    beside : dict of str to str
        What is taken of the combinations: what each column is called there and in the answer.

    Returns
    -------
    duckdb.DuckDBPyRelation or None
        The columns `beside`, then `more`; None where two combinations have the same number. A record without a
        combination is left out, but for one in 10^13 at a million combinations.
    """
    if not names:
        return None
    types = dict(zip(records.columns, records.types, strict=True))
    number = f"hash({', '.join(f'{name(each)}::{types[each]}' for each in names)}) as {name(NUMBER)}"
    left = records.project(", ".join([number, *map(name, more)])).set_alias("records")
    right = combinations.project(", ".join([number, *(f"{name(own)} as {name(beside[own])}" for own in beside)]))
    if not right.aggregate(f"count(distinct {name(NUMBER)}) = count(*)").fetchall()[0][0]:
        return None
    found = left.join(right.set_alias("combinations"), f"records.{name(NUMBER)} = combinations.{name(NUMBER)}")
    return found.project(", ".join(map(name, [*beside.values(), *more])))


def parquet(path: Path) -> str:
    """Return what reads a Parquet file, in SQL. To the engine *, ? and [ in a path are a pattern, and a=1 a column."""
    literal = re.sub(r"([*?[])", r"[\1]", str(path))
    return f"read_parquet({quoted(literal)}, hive_partitioning = false)"


def name(text: str) -> str:
    """Return a column's name in SQL."""
    return '"' + text.replace('"', '""') + '"'


def blank(column: str) -> str:
    """Return whether a cell is missing or blank, in SQL."""
    return _looked_at(column, "false", _bare(column))


def lacking(column: str, marked: Iterable[str]) -> str:
    """Return whether a cell is missing, blank or one of the texts `marked` after any spaces, in SQL."""
    text, some = f"{column}::varchar", f"in ({', '.join(map(quoted, marked))})"
    return _looked_at(column, f"{text} {some}", f"{_bare(column)} or ltrim({text}, ' ') {some}")


def _bare(column: str) -> str:
    return f"coalesce(trim({column}::varchar, {quoted(BLANK)}), '') = ''"


def _looked_at(column: str, seen: str, other: str) -> str:
    """Return one expression for a cell that begins with a visible letter of ASCII, as nearly all do, and another one
    for other cells: to take blanks off is ten times as slow as to look at the first letter.
    """
    text = f"{column}::varchar"
    return f"(case when {text} >= '!' and {text} < '\x7f' then {seen} else {other} end)"


def quoted(text: str) -> str:
    """Return a text in SQL."""
    return "'" + text.replace("'", "''") + "'"
