"""Lazy frames of DuckDB, Polars and Spark as tables of any length.

The library Narwhals groups and joins the frames, and this module adds, for each engine, the operations that Narwhals
does not have. The frame of a release is either made from the distinct rows of the release or sorted by content, so that
it does not disclose the order of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import Any, Self

import numpy as np

from privnb.microdata.schema import SchemaError
from privnb.runtime import expect
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.lazy import nw, pa
from privnb.runtime.names import OWN, suggest
from privnb.tables import engine
from privnb.tables.derivation import DerivedColumns
from privnb.tables.long_tables import LongTable, number_names

ROW, POWER = f"{OWN}row of the release", f"{OWN}power of two"
MOST = 16  # the largest power of two in which the engine receives a multiplicity


def _in_duckdb(frame: Any, ours: pa.Table) -> Any:
    # The connection of the frame finds the table by the name of the Python variable.
    return frame.query("a name that nothing else has", "select * from ours")


def _in_polars(frame: Any, table: pa.Table) -> Any:
    return nw.from_arrow(table, backend="polars").lazy().to_native()


def _in_spark(frame: Any, table: pa.Table) -> Any:
    return frame.sparkSession.createDataFrame(table).hint("broadcast")  # avoids a shuffle of the records


def _named(frame: Any, names: Sequence[str]) -> Any:
    own = nw.from_native(frame)
    return own.rename(dict(zip(own.collect_schema().names(), names, strict=True))).to_native()


def _named_in_spark(frame: Any, names: Sequence[str]) -> Any:
    return frame.toDF(*names)  # Narwhals would read a dot in a name as a field of a column


# Operations that Narwhals lacks, as functions of native frames: convert a pyarrow.Table to a frame of the same
# engine, and rename all columns of a frame.
ENGINES = {
    nw.Implementation.DUCKDB: (_in_duckdb, _named),
    nw.Implementation.POLARS: (_in_polars, _named),
    nw.Implementation.PYSPARK: (_in_spark, _named_in_spark),
}


@dataclass(frozen=True)
class LongFrame(LongTable):
    """A lazy frame in an engine of the user; a release of this frame is a frame in the same engine.

    `named` is the function that renames columns, the second item of the engine's entry in `ENGINES`.
    """

    named: Callable[[Any, Sequence[str]], Any] = _named

    @classmethod
    def of(cls, frame: Any, renamed: Mapping[str, str]) -> Self:
        """Return a native lazy frame as a LongFrame; `renamed` maps column names of the frame to new names.

        Raises UsageTypeError for an object that is not a lazy frame of an engine in `ENGINES`, and SchemaError for a
        repeated column name.
        """
        try:
            known = nw.from_native(frame)
        except TypeError:
            known = None
        if not isinstance(known, nw.LazyFrame):
            raise UsageTypeError(
                f"frame must be a lazy frame of DuckDB, Polars or Spark; got {expect.describe_value(frame)}. Make a "
                "Dataset from "
                "a table in memory, or give the path of its file."
            )
        if known.implementation not in ENGINES:
            raise UsageTypeError(
                f"frame must be a lazy frame of DuckDB, Polars or Spark; got one of {known.implementation.value}. "
                "Write the frame to Parquet files and give the path of their folder."
            )
        names, frame, (lend, named) = [*known.columns], known.to_native(), ENGINES[known.implementation]
        names = [renamed.get(name, name) for name in names]
        if len(own := number_names(names)) < len(names):
            raise SchemaError(
                f"the frame has more than one column with the same name: {', '.join(names)}. Rename one of these "
                "columns."
            )
        lent = lambda table: nw.from_native(lend(frame, table))  # noqa: E731
        return cls(nw.from_native(named(frame, [*own.values()])), lent, own, named=named)

    def having(self, names: Sequence[str]) -> Self:
        """Return the frame itself.

        Raises SchemaError if the frame does not have all of these columns.
        """
        if absent := [name for name in names if name not in self.own]:
            raise SchemaError(
                f"the frame has no column {', '.join(map(repr, absent))}; it has {', '.join(self.own)}."
                f"{suggest(absent, self.own)}"
            )
        return self

    def opened(
        self,
        names: Sequence[str],
        *,
        complete: Mapping[str, Iterable[str]] | None = None,
        held: bool = False,
        derived: DerivedColumns | None = None,
        **_: Any,
    ) -> AbstractContextManager[Self]:
        """Return a context manager that yields the frame, restricted like the table of `long_tables.open_table`.

        The frame must have the columns `names`, or the sources of those that are `derived`.
        """
        table = self.having(derived.with_sources(names) if derived else names)
        table = table if complete is None else table.complete(complete)
        return nullcontext((table.held() if held else table).deriving(derived, names))

    def complete(self, marked: Mapping[str, Iterable[str]]) -> Self:
        """Return the records without missing values.

        `marked` maps each column to the texts that mark a missing value; columns that the frame does not have are
        ignored.
        """
        marked = {name: texts for name, texts in marked.items() if name in self.own}
        cells = [nw.col(name).cast(nw.String) for name in self.called(marked)]
        lacking = [
            _looked_at(cell, cell.is_in(texts), reduce(or_, (_marked(cell, text) for text in texts), _bare(cell)))
            for cell, texts in zip(cells, marked.values(), strict=True)
        ]
        return replace(self, frame=self.frame.filter(~reduce(or_, lacking)))

    def held(self) -> Self:
        """Return the rows with at least one cell that is not blank; other rows are not records."""
        cells = [nw.col(name).cast(nw.String) for name in self.own.values()]
        blank = [_looked_at(cell, nw.lit(False), _bare(cell)) for cell in cells]
        return replace(self, frame=self.frame.filter(~reduce(and_, blank)))

    def repeated(self, rows: pa.Table, times: IntArray) -> Any:
        """Return a frame of given rows without reading the records.

        The multiplicity of each row is split into powers of two. The engine receives the row once for each power, and
        repeats it as often as the power states.

        Parameters
        ----------
        rows : pyarrow.Table
        times : integer array
            The multiplicity of each row in the frame.

        Returns
        -------
        native lazy frame
        """
        row, power = split_into_powers(times)
        each = np.arange(power.max() + 1, dtype=np.int32)
        pieces, doubled = pa.table({ROW: row, POWER: power}), pa.table({POWER: np.repeat(each, 2**each)})
        frame = self.lent(pieces).join(self.lent(doubled), on=POWER, how="inner")
        return self._given(frame, rows, {})

    def released(
        self, combinations: pa.Table, place: IntArray, rows: pa.Table, values: Mapping[str, tuple[pa.Table, pa.Array]]
    ) -> Any:
        """Return a frame with one row per record, sorted by content.

        Each row consists of the record's row in the release and the record's other published cells.

        Parameters
        ----------
        combinations : pyarrow.Table
            The result of `counted`. Records with combinations that are not in the result are left out.
        place : integer array
            The position in `rows` of the row of each combination.
        rows : pyarrow.Table
        values : dict of str to (pyarrow.Table, pyarrow.Array)
            For each column, the values that `counted` returns, and the published form of each of these values.

        Returns
        -------
        native lazy frame
        """
        cells = {name: f"cell {number}" for number, name in enumerate(values)}
        left = [*values]
        frame = self.joined(combinations, pa.table({ROW: place.astype(np.int32)}), left)
        for name, (found, published) in values.items():
            left.remove(name)
            done = [each for each in cells if each not in (name, *left)]
            table = replace(self, frame=frame, own={**self.own} | {each: cells[each] for each in done})
            frame = table.joined(found, pa.table({cells[name]: published}), [ROW, *done, *left])
        return self._given(frame, rows, cells)

    def _given(self, frame: Any, rows: pa.Table, cells: Mapping[str, str]) -> Any:
        """Return a native frame that replaces the number in each row of `frame` by the row of `rows` with this number.

        The frame also has the columns `cells`.
        """
        labels = [f"label {number}" for number in range(rows.num_columns)]
        own = rows.rename_columns(labels).append_column(ROW, pa.array(np.arange(len(rows), dtype=np.int32)))
        frame = frame.join(self.lent(own), on=ROW, how="inner")
        if cells:
            frame = frame.sort(ROW, *cells.values())
        return self.named(frame.select(*labels, *cells.values()).to_native(), [*rows.column_names, *cells])


def _looked_at(cell: Any, seen: Any, other: Any) -> Any:
    """Return the Narwhals expression with the meaning of `engine._looked_at`."""
    return nw.when((cell >= "!") & (cell < "\x7f")).then(seen).otherwise(other)


def _bare(cell: Any) -> Any:
    return (cell.str.strip_chars(engine.BLANK) == "").fill_null(True)


def _marked(cell: Any, mark: str) -> Any:
    return (cell.str.replace_all("^ +", "") == mark).fill_null(True)


def split_into_powers(times: IntArray) -> tuple[IntArray, IntArray]:
    """Return numbers as sums of powers of two, as pairs of the index of a number and the exponent of a power.

    The result is two integer arrays, in the order of the index.

    >>> split_into_powers(np.array([5, 1, 131072]))
    (array([0, 0, 1, 2, 2], dtype=int32), array([ 2,  0,  0, 16, 16], dtype=int32))
    """
    whole = times >> MOST
    found = [(np.repeat(np.arange(len(times)), whole), np.full(whole.sum(), MOST))]
    for power in reversed(range(MOST)):
        row = np.flatnonzero(times >> power & 1)
        found.append((row, np.full(len(row), power)))
    rows, powers = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(rows, kind="stable")  # engines divide rows in this order, so each part has rows of all sizes
    return rows[order].astype(np.int32), powers[order].astype(np.int32)
