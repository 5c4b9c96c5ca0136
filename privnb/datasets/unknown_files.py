"""Files that nobody has described, of any length: which columns they have, and how many records have which cells.

CSV and Parquet are counted by the engine. Files of other kinds are read, whose length their programs bound.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from privnb.datasets.alerts import doubled, repetition
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime import unfinished, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.validation import validated
from privnb.tables import engine, long_tables, reading
from privnb.tables.long_tables import TIMES, File, Memory

if TYPE_CHECKING:
    import duckdb

# What the engine tells apart as its texts are: of others, as 0.0 and -0.0, two texts may be equal.
AS_TEXT = ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")
FIRST = 2  # times as many records as combinations fit are counted before all
FEWER = "Name the quasi-identifiers, without columns of so many values, or allow more memory."


@dataclass(frozen=True)
class Unknown:
    """A table that nobody has described.

    Parameters
    ----------
    names : list of str
        Of its columns.
    files : list of File
        That the engine reads.
    table : DataFrame, optional
        Its records, where the engine does not read them.
    """

    names: list[str]
    files: list[File]
    table: pd.DataFrame | None = None

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
        return cls(long_tables.columns(files), files)

    def copies(self, roles: Mapping[str, Role], memory: Memory) -> str:
        """Return a sentence if each record occurs more than once, see `doubled`; else an empty text."""
        roles = {**dict.fromkeys(self.names, Role.UNUSED), **roles}
        if self.table is not None:
            cells = self.table
            return doubled(roles, self.names, lambda names: repetition(cells[names]))

        def engines(names: list[str]) -> tuple[int, int, int]:
            with (
                unfinished.folder() as folder,
                long_tables.opened(self.files, names, {}, held=True, **memory.counting(folder)) as table,
            ):
                return table.repetition(names)

        return doubled(roles, self.names, engines)

    def counted(self, names: Sequence[str], memory: Memory) -> tuple[pd.DataFrame, IntArray | None]:
        """The distinct combinations of the cells of some columns, and how many records have each.

        Parameters
        ----------
        names : list of str
        memory : Memory
            That the whole may take.

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
            return self.table[names], None
        with (
            unfinished.folder() as folder,
            long_tables.asked(self.files, self.names, {}, **memory.counting(folder)) as (connection, queries, check),
        ):
            parts = [connection.sql(f"select {_cells(connection.sql(query))} from {query}") for query in queries]
            for file, part in zip(self.files, parts, strict=True):
                if not part.filter(f"not ({_blank(part)})").limit(1).fetchall():
                    check()
                    raise SchemaError(reading.no_record(file.path))
            whole = functools.reduce(lambda above, part: above.union(part), parts)
            numbered = long_tables.numbered(self.names)
            own = ", ".join(engine.name(numbered[name]) for name in names)
            most = memory.combinations
            for records in (whole.limit(FIRST * most), whole):  # too many values are mostly seen in the first records
                found = records.aggregate(f"{own}, count(*)", own).limit(most + 1).to_arrow_table()
                found = found.rename_columns([*names, TIMES])
                check()
                memory.check(found, FEWER)
                if found.column(TIMES).to_numpy().sum() < FIRST * most:
                    break
            cells, times = reading.of_arrow(found.drop_columns([TIMES])), found.column(TIMES).to_numpy().copy()
            held = np.logical_or.reduce([cells[name].cat.codes.to_numpy() >= 0 for name in names])
            if not held.all() and set(names) < set(self.names):
                [(number,)] = whole.filter(f"not ({_blank(whole)})").aggregate("count(*)").fetchall()
                if others := number - times[held].sum():  # which have cells in other columns alone
                    blank = held.argmin()
                    held[blank], times[blank] = True, others
        long_tables.check_count(self.files, int(times[held].sum()))
        return cells[held], times[held]


def _cells(relation: duckdb.DuckDBPyRelation) -> str:
    """The columns of a relation, in SQL, so that cells are equal where their texts are."""
    return ", ".join(
        column if str(kind) in AS_TEXT else f"{column}::varchar as {column}"
        for column, kind in zip(map(engine.name, relation.columns), relation.types, strict=True)
    )


def _blank(relation: duckdb.DuckDBPyRelation) -> str:
    """Whether there is nothing in any column of a relation, in SQL."""
    return " and ".join(map(engine.blank, map(engine.name, relation.columns)))
