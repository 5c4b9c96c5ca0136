"""Files that nobody has described, of any length: which columns they have, and how many records have which cells.

CSV and Parquet are counted by the engine. Files of other kinds are read, whose length their programs bound.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from privnb.datasets.alerts import doubled, repetition
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime import progress, unfinished, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.validation import validated
from privnb.tables import bounds, engine, long_tables, reading
from privnb.tables.long_tables import TIMES, File, Memory
from privnb.tables.writing import FACTS

if TYPE_CHECKING:
    import duckdb

# What the engine tells apart as its texts are: of others, as 0.0 and -0.0, two texts may be equal.
AS_TEXT = ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")
FIRST = 2  # times as many records as combinations fit are counted before all
FEWER = "Name the quasi-identifiers, without columns of so many values, or allow more memory."


@dataclass(frozen=True)
class Unknown:
    """A table that nobody has described.

    Two columns of bounds are one column of labels again, if the provenance beside the table says so: `age_low` and
    `age_high` are `age`.

    Parameters
    ----------
    names : list of str
        Of its columns.
    files : list of File
        That the engine reads.
    table : DataFrame, optional
        Its records, where the engine does not read them.
    bounds : dict of str to dict
        By name the columns that are two in the file, see `Bounded.facts`.
    """

    names: list[str]
    files: list[File]
    table: pd.DataFrame | None = None
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    @validated
    def of(cls, path: validation.Path) -> Self:
        """The table in a file, or in a folder of parts. Arguments and errors as of `reading.read_unknown`."""
        paths = reading.parts(Path(path))
        layouts = reading.layouts_of(paths)
        if any(reading.kind(each) not in (reading.TEXT, reading.PARQUET) for each in paths):
            table, _, _ = reading.read_unknown(path)
            return cls([*table], [], table)
        files = [File(each, layout) for each, layout in zip(paths, layouts, strict=True)]
        names = long_tables.columns(files)
        known = _bounds_beside(Path(path)).items()
        pairs = {name: each for name, each in known if {each["low"], each["high"]} <= {*names} and name not in names}
        called = {each["low"]: name for name, each in pairs.items()}
        upper = {each["high"] for each in pairs.values()}
        return cls([called.get(name, name) for name in names if name not in upper], files, None, pairs)

    def _in_file(self, names: Iterable[str]) -> list[str]:
        """Return the columns of the file that hold some columns."""
        own = ([self.bounds[name][end] for end in ("low", "high")] if name in self.bounds else [name] for name in names)
        return [*chain.from_iterable(own)]

    @progress.step("looking for records that occur more than once")
    def copies(self, roles: Mapping[str, Role], memory: Memory) -> str:
        """Return a sentence if each record occurs more than once, see `doubled`; else an empty text."""
        roles = {**dict.fromkeys(self.names, Role.UNUSED), **roles}
        if self.table is not None:
            cells = self.table
            return doubled(roles, self.names, lambda names: repetition(cells[names]))

        def engines(names: list[str]) -> tuple[int, int, int]:
            own = self._in_file(names)
            with (
                unfinished.folder() as folder,
                long_tables.opened(self.files, own, {}, held=True, **memory.counting(folder)) as table,
            ):
                return table.repetition(own)

        return doubled(roles, self.names, engines)

    def counted(
        self, names: Sequence[str], memory: Memory, *, estimates: bool = True
    ) -> tuple[pd.DataFrame, IntArray | None]:
        """The distinct combinations of the cells of some columns, and how many records have each.

        Parameters
        ----------
        names : list of str
        memory : Memory
            That the whole may take.
        estimates : bool
            As of `Memory.counted`.

        Returns
        -------
        cells : DataFrame
            See `reading.read`. Equal rows may stand more than once.
        times : integer array, or None
            How many records have each row; None: one.

        Raises
        ------
        SchemaError
            As of `reading.read`, for a file without a record, and for more combinations than fit into the memory.
        """
        if self.table is not None:
            return self.table[[*names]], None
        cells, times = self._counted(self._in_file(names), memory, estimates)
        if own := [name for name in names if name in self.bounds]:
            found = {name: bounds.joined(self.bounds[name], cells) for name in own}
            cells = pd.DataFrame({name: found[name] if name in found else cells[name] for name in names})
        return cells, times

    def _counted(self, names: Sequence[str], memory: Memory, estimates: bool) -> tuple[pd.DataFrame, IntArray]:
        """Return the same of columns of the file."""
        whole_names = self._in_file(self.names)
        with (
            unfinished.folder() as folder,
            long_tables.asked(self.files, whole_names, {}, **memory.counting(folder)) as (connection, queries, check),
        ):
            parts = [connection.sql(f"select {_cells(connection.sql(query))} from {query}") for query in queries]
            for file, part in zip(self.files, parts, strict=True):
                if not part.filter(f"not ({_blank(part)})").limit(1).fetchall():
                    check()
                    raise SchemaError(reading.no_record(file.path))
            whole = functools.reduce(lambda above, part: above.union(part), parts)
            numbered = long_tables.numbered(whole_names)
            own = ", ".join(engine.name(numbered[name]) for name in names)
            most = memory.combinations
            for records in (whole.limit(FIRST * most), whole):  # too many values are mostly seen in the first records
                with progress.watched(connection.query_progress, "counting the combinations"):
                    found = records.aggregate(f"{own}, count(*)", own).limit(most + 1).to_arrow_table()
                found = found.rename_columns([*names, TIMES])
                check()
                memory.check(found, FEWER, (lambda: _different(whole, own)) if estimates else None)
                if found.column(TIMES).to_numpy().sum() < FIRST * most:
                    break
            cells, times = reading.of_arrow(found.drop_columns([TIMES])), found.column(TIMES).to_numpy().copy()
            held = np.logical_or.reduce([cells[name].cat.codes.to_numpy() >= 0 for name in names])
            if not held.all() and set(names) < set(whole_names):
                [(number,)] = whole.filter(f"not ({_blank(whole)})").aggregate("count(*)").fetchall()
                if others := number - times[held].sum():  # which have cells in other columns alone
                    blank = held.argmin()
                    held[blank], times[blank] = True, others
        long_tables.check_count(self.files, int(times[held].sum()))
        return cells[held], times[held]


def _different(relation: duckdb.DuckDBPyRelation, own: str) -> int:
    """Return how many distinct combinations some columns of a relation have, in SQL."""
    [(number,)] = relation.aggregate(own, own).aggregate("count(*)").fetchall()
    return int(number)


def _bounds_beside(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return which columns are two in a file, as the provenance beside it says; none without one."""
    beside = path.with_name(path.name + FACTS)
    with contextlib.suppress(OSError, ValueError, RecursionError):
        stated = json.loads(beside.read_text(encoding="utf-8"))
        found = stated.get(bounds.FACTS, {}) if isinstance(stated, dict) else {}
        if isinstance(found, dict) and all(
            {"low", "high", "suppressed", "missing"} <= {*each} for each in found.values()
        ):
            return found
    return {}


def _cells(relation: duckdb.DuckDBPyRelation) -> str:
    """The columns of a relation, in SQL, so that cells are equal where their texts are."""
    return ", ".join(
        column if str(kind) in AS_TEXT else f"{column}::varchar as {column}"
        for column, kind in zip(map(engine.name, relation.columns), relation.types, strict=True)
    )


def _blank(relation: duckdb.DuckDBPyRelation) -> str:
    """Whether there is nothing in any column of a relation, in SQL."""
    return " and ".join(map(engine.blank, map(engine.name, relation.columns)))
