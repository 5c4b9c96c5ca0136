"""Files of any length without a description: the columns, and the counts of the combinations of cells.

The database engine counts the combinations in CSV and Parquet files. Files of other formats are read into memory,
because the programs that write such files limit the number of rows.
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

from privnb.datasets.alerts import count_repetition, describe_repetition
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime import progress, temporary, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.validation import validated
from privnb.tables import bounds, engine, long_tables, reading
from privnb.tables.long_tables import TIMES, File, Memory
from privnb.tables.writing import FACTS

if TYPE_CHECKING:
    import duckdb

# Types whose values are equal if their texts are equal; other types have equal values with different texts.
AS_TEXT = ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")
FIRST = 2  # the number of records, per combination that fits, that are counted before all others
FEWER = "Name quasi-identifiers without columns with many values, or allow more memory."


@dataclass(frozen=True)
class UndescribedTable:
    """A table without a description.

    The provenance next to the table may state that a column was written as two columns of bounds. The two columns then
    become one column of labels again: `age_low` and `age_high` become `age`.

    Parameters
    ----------
    names : list of str
        The names of the columns of the table.
    files : list of File
        The files that the engine reads.
    table : DataFrame, optional
        The records, if the engine does not read them.
    bounds : dict of str to dict
        The facts about each column that is two columns in the file, by name; see `Bounded.facts`.
    """

    names: list[str]
    files: list[File]
    table: pd.DataFrame | None = None
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    @validated
    def of(cls, path: validation.Path) -> Self:
        """Return the table in a file or in a folder of parts.

        The method raises the same errors as `reading.read_undescribed`.
        """
        paths = reading.list_parts(Path(path))
        layouts = reading.guess_layouts(paths)
        if any(reading.file_kind(each) not in (reading.TEXT, reading.PARQUET) for each in paths):
            table, _, _ = reading.read_undescribed(path)
            return cls([*table], [], table)
        files = [File(each, layout) for each, layout in zip(paths, layouts, strict=True)]
        names = long_tables.read_columns(files)
        known = _read_published_bounds(Path(path)).items()
        pairs = {name: each for name, each in known if {each["low"], each["high"]} <= {*names} and name not in names}
        called = {each["low"]: name for name, each in pairs.items()}
        upper = {each["high"] for each in pairs.values()}
        return cls([called.get(name, name) for name in names if name not in upper], files, None, pairs)

    def _in_file(self, names: Iterable[str]) -> list[str]:
        """Return the columns of the file that contain the columns `names` of the table."""
        own = ([self.bounds[name][end] for end in ("low", "high")] if name in self.bounds else [name] for name in names)
        return [*chain.from_iterable(own)]

    @progress.step("looking for records that occur more than once")
    def copies(self, roles: Mapping[str, Role], memory: Memory) -> str:
        """Return a sentence if each record occurs more than once (see `describe_repetition`); otherwise, ""."""
        roles = {**dict.fromkeys(self.names, Role.UNUSED), **roles}
        if self.table is not None:
            cells = self.table
            return describe_repetition(roles, self.names, lambda names: count_repetition(cells[names]))

        def engines(names: list[str]) -> tuple[int, int, int]:
            own = self._in_file(names)
            with (
                temporary.temporary_folder() as folder,
                long_tables.open_table(self.files, own, {}, held=True, **memory.counting(folder)) as table,
            ):
                return table.repetition(own)

        return describe_repetition(roles, self.names, engines)

    def counted(
        self, names: Sequence[str], memory: Memory, *, estimates: bool = True
    ) -> tuple[pd.DataFrame, IntArray | None]:
        """Return the combinations of cells in some columns, and the number of records with each combination.

        Parameters
        ----------
        names : list of str
        memory : Memory
            The memory that the whole process may use.
        estimates : bool
            See `Memory.counted`.

        Returns
        -------
        cells : DataFrame
            The combinations, in the form that `reading.read_records` returns. A combination may occur in several rows.
        times : integer array, or None
            The number of records of each row; None if each row is 1 record.

        Raises
        ------
        SchemaError
            For the reasons that `reading.read_records` states, for a file without records, and for more combinations
            than fit into the memory.
        """
        if self.table is not None:
            return self.table[[*names]], None
        cells, times = self._counted(self._in_file(names), memory, estimates)
        if own := [name for name in names if name in self.bounds]:
            found = {name: bounds.join_bounds(self.bounds[name], cells) for name in own}
            cells = pd.DataFrame({name: found[name] if name in found else cells[name] for name in names})
        return cells, times

    def _counted(self, names: Sequence[str], memory: Memory, estimates: bool) -> tuple[pd.DataFrame, IntArray]:
        """Return the combinations of cells in columns of the file, and their counts."""
        whole_names = self._in_file(self.names)
        with (
            temporary.temporary_folder() as folder,
            long_tables.open_queries(self.files, whole_names, {}, **memory.counting(folder)) as (
                connection,
                queries,
                check,
            ),
        ):
            parts = [connection.sql(f"select {_cells(connection.sql(query))} from {query}") for query in queries]
            for file, part in zip(self.files, parts, strict=True):
                if not part.filter(f"not ({_blank(part)})").limit(1).fetchall():
                    check()
                    raise SchemaError(reading.describe_no_record(file.path))
            whole = functools.reduce(lambda above, part: above.union(part), parts)
            numbered = long_tables.number_names(whole_names)
            own = ", ".join(engine.quote_name(numbered[name]) for name in names)
            most = memory.combinations
            for records in (whole.limit(FIRST * most), whole):  # too many values usually appear in the first records
                with progress.watch(connection.query_progress, "counting the combinations"):
                    found = records.aggregate(f"{own}, count(*)", own).limit(most + 1).to_arrow_table()
                found = found.rename_columns([*names, TIMES])
                check()
                memory.check(found, FEWER, (lambda: _different(whole, own)) if estimates else None)
                if found.column(TIMES).to_numpy().sum() < FIRST * most:
                    break
            cells, times = reading.from_arrow(found.drop_columns([TIMES])), found.column(TIMES).to_numpy().copy()
            held = np.logical_or.reduce([cells[name].cat.codes.to_numpy() >= 0 for name in names])
            if not held.all() and set(names) < set(whole_names):
                [(number,)] = whole.filter(f"not ({_blank(whole)})").aggregate("count(*)").fetchall()
                if others := number - times[held].sum():  # some records have cells only in other columns
                    blank = held.argmin()
                    held[blank], times[blank] = True, others
        long_tables.check_record_counts(self.files, int(times[held].sum()))
        return cells[held], times[held]


def _different(relation: duckdb.DuckDBPyRelation, own: str) -> int:
    """Return the number of distinct combinations of values in the columns `own` of a relation.

    `own` lists the columns in SQL.
    """
    [(number,)] = relation.aggregate(own, own).aggregate("count(*)").fetchall()
    return int(number)


def _read_published_bounds(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the columns that, according to a provenance, are two columns in the file; empty without a provenance."""
    provenance_file = path.with_name(path.name + FACTS)
    with contextlib.suppress(OSError, ValueError, RecursionError):
        stated = json.loads(provenance_file.read_text(encoding="utf-8"))
        found = stated.get(bounds.FACTS, {}) if isinstance(stated, dict) else {}
        if isinstance(found, dict) and all(
            {"low", "high", "suppressed", "missing"} <= {*each} for each in found.values()
        ):
            return found
    return {}


def _cells(relation: duckdb.DuckDBPyRelation) -> str:
    """Return, in SQL, the columns of a relation, converted so that cells are equal if their texts are equal."""
    return ", ".join(
        column if str(kind) in AS_TEXT else f"{column}::varchar as {column}"
        for column, kind in zip(map(engine.quote_name, relation.columns), relation.types, strict=True)
    )


def _blank(relation: duckdb.DuckDBPyRelation) -> str:
    """Return the SQL condition that the cells of a row are blank in all columns of a relation."""
    return " and ".join(map(engine.blank_condition, map(engine.quote_name, relation.columns)))
