"""Lazy frames of other engines as tables of any length: DuckDB's relations, Polars' and Spark's frames.

Narwhals groups and joins them. What it has no word for is here, by engine. A frame of a release is made of its distinct
rows, or sorted by what it holds: no order of the records reaches it.
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
from privnb.runtime.names import OWN, meant
from privnb.tables import engine
from privnb.tables.long_tables import LongTable, numbered

ROW, POWER = f"{OWN}row of the release", f"{OWN}power of two"
MOST = 16  # a row that stands more often is given to the engine in pieces of so many powers of two


def _in_duckdb(frame: Any, ours: pa.Table) -> Any:
    # In the connection that the frame is of, which finds a table of Python's by the name of its variable.
    return frame.query("a name that nothing else has", "select * from ours")


def _in_polars(frame: Any, table: pa.Table) -> Any:
    return nw.from_arrow(table, backend="polars").lazy().to_native()


def _in_spark(frame: Any, table: pa.Table) -> Any:
    return frame.sparkSession.createDataFrame(table).hint("broadcast")  # so that no record is shuffled for it


def _named(frame: Any, names: Sequence[str]) -> Any:
    own = nw.from_native(frame)
    return own.rename(dict(zip(own.collect_schema().names(), names, strict=True))).to_native()


def _named_in_spark(frame: Any, names: Sequence[str]) -> Any:
    return frame.toDF(*names)  # Narwhals would take a dot in a name for a part of a column


# What Narwhals lacks of an engine, functions of its own frames: of a frame and a pyarrow.Table, the table as a frame
# beside it; of a frame and as many names as it has columns, the frame with these.
ENGINES = {
    nw.Implementation.DUCKDB: (_in_duckdb, _named),
    nw.Implementation.POLARS: (_in_polars, _named),
    nw.Implementation.PYSPARK: (_in_spark, _named_in_spark),
}


@dataclass(frozen=True)
class LongFrame(LongTable):
    """A lazy frame of somebody else's engine, to which frames of ours are given back.

    `named`: the second function of its `ENGINES`.
    """

    named: Callable[[Any, Sequence[str]], Any] = _named

    @classmethod
    def of(cls, frame: Any, renamed: Mapping[str, str]) -> Self:
        """Return that of a native lazy frame. `renamed`: names by those in the frame.

        Raises TypeError for what is none, or of an engine that is not known, and SchemaError for two columns of a name.
        """
        try:
            known = nw.from_native(frame)
        except TypeError:
            known = None
        if not isinstance(known, nw.LazyFrame):
            raise UsageTypeError(
                f"frame must be a lazy frame of DuckDB, Polars or Spark, got {expect.found(frame)}. Of a table in "
                "memory make a Dataset and give it to a sanitizer, or give the path of its file."
            )
        if known.implementation not in ENGINES:
            raise UsageTypeError(
                f"frame must be a lazy frame of DuckDB, Polars or Spark, got one of {known.implementation.value}. "
                "Write it to Parquet files and give the path of their folder."
            )
        names, frame, (lend, named) = [*known.columns], known.to_native(), ENGINES[known.implementation]
        names = [renamed.get(name, name) for name in names]
        if len(own := numbered(names)) < len(names):
            raise SchemaError(f"the frame has more than one column of a name: {', '.join(names)}. Rename one.")
        lent = lambda table: nw.from_native(lend(frame, table))  # noqa: E731
        return cls(nw.from_native(named(frame, [*own.values()])), lent, own, named=named)

    def having(self, names: Sequence[str]) -> Self:
        """Return itself. Raise SchemaError unless it has all these columns."""
        if absent := [name for name in names if name not in self.own]:
            raise SchemaError(
                f"the frame has no column {', '.join(map(repr, absent))}; it has {', '.join(self.own)}."
                f"{meant(absent, self.own)}"
            )
        return self

    def opened(
        self, *, complete: Mapping[str, Iterable[str]] | None = None, held: bool = False, **_: Any
    ) -> AbstractContextManager[Self]:
        """Open some of its records, as `long_tables.opened` does: a context of a LongFrame."""
        table = self if complete is None else self.complete(complete)
        return nullcontext(table.held() if held else table)

    def complete(self, marked: Mapping[str, Iterable[str]]) -> Self:
        """Return those of its records that lack no value in a column. `marked`: by column the texts that say that it is
        missing; columns that it has not do not count.
        """
        marked = {name: texts for name, texts in marked.items() if name in self.own}
        cells = [nw.col(name).cast(nw.String) for name in self.called(marked)]
        lacking = [
            _looked_at(cell, cell.is_in(texts), reduce(or_, (_marked(cell, text) for text in texts), _bare(cell)))
            for cell, texts in zip(cells, marked.values(), strict=True)
        ]
        return replace(self, frame=self.frame.filter(~reduce(or_, lacking)))

    def held(self) -> Self:
        """Return those of its rows that have a cell in any column: others are no records."""
        cells = [nw.col(name).cast(nw.String) for name in self.own.values()]
        blank = [_looked_at(cell, nw.lit(False), _bare(cell)) for cell in cells]
        return replace(self, frame=self.frame.filter(~reduce(and_, blank)))

    def repeated(self, rows: pa.Table, times: IntArray) -> Any:
        """Return a frame of rows of ours, made of none of the records.

        The engine is given each row once for each power of two that its number is the sum of, and multiplies these.

        Parameters
        ----------
        rows : pyarrow.Table
        times : integer array
            How often each row stands in the frame.

        Returns
        -------
        native lazy frame
        """

        row, power = powers(times)
        each = np.arange(power.max() + 1, dtype=np.int32)
        pieces, doubled = pa.table({ROW: row, POWER: power}), pa.table({POWER: np.repeat(each, 2**each)})
        frame = self.lent(pieces).join(self.lent(doubled), on=POWER, how="inner")
        return self._given(frame, rows, {})

    def released(
        self, combinations: pa.Table, place: IntArray, rows: pa.Table, values: Mapping[str, tuple[pa.Table, pa.Array]]
    ) -> Any:
        """Return a frame of the records, each as its row of a release with its other published cells, sorted.

        Parameters
        ----------
        combinations : pyarrow.Table
            As `counted` gives them; records of others are left out.
        place : integer array
            Which of `rows` each combination is.
        rows : pyarrow.Table
        values : dict of str to (pyarrow.Table, pyarrow.Array)
            By column its values as `counted` gives them, and how each is published.

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
        """Return a native frame of `rows`, each where `frame` says which it is, and of its `cells`, by their names."""

        labels = [f"label {number}" for number in range(rows.num_columns)]
        own = rows.rename_columns(labels).append_column(ROW, pa.array(np.arange(len(rows), dtype=np.int32)))
        frame = frame.join(self.lent(own), on=ROW, how="inner")
        if cells:
            frame = frame.sort(ROW, *cells.values())
        return self.named(frame.select(*labels, *cells.values()).to_native(), [*rows.column_names, *cells])


def _looked_at(cell: Any, seen: Any, other: Any) -> Any:
    """As `engine.blank` looks at a cell, an expression of Narwhals."""
    return nw.when((cell >= "!") & (cell < "\x7f")).then(seen).otherwise(other)


def _bare(cell: Any) -> Any:
    return (cell.str.strip_chars(engine.BLANK) == "").fill_null(True)


def _marked(cell: Any, mark: str) -> Any:
    return (cell.str.replace_all("^ +", "") == mark).fill_null(True)


def powers(times: IntArray) -> tuple[IntArray, IntArray]:
    """Return numbers as sums of powers of two: which number, and which power, in the order of the numbers.

    >>> powers(np.array([5, 1, 131072]))
    (array([0, 0, 1, 2, 2], dtype=int32), array([ 2,  0,  0, 16, 16], dtype=int32))
    """
    whole = times >> MOST
    found = [(np.repeat(np.arange(len(times)), whole), np.full(whole.sum(), MOST))]
    for power in reversed(range(MOST)):
        row = np.flatnonzero(times >> power & 1)
        found.append((row, np.full(len(row), power)))
    rows, powers = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(rows, kind="stable")  # an engine parts them as they stand, and each part has some of all sizes
    return rows[order].astype(np.int32), powers[order].astype(np.int32)
