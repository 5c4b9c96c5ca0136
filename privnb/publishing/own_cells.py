"""Columns that a release has record by record, as the table does: their cells as the description says, as Arrow's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privnb.microdata.columns import plain
from privnb.microdata.schema import Attribute, Categories, Numbers, Schema
from privnb.runtime.arrays import IntArray
from privnb.tables import reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from privnb.datasets.dataset import Chosen


def published(chosen: Chosen, batch: pa.RecordBatch) -> tuple[IntArray | slice, list[pa.Array]]:
    """Return columns that are published record by record, as the description says.

    Parameters
    ----------
    chosen : Chosen
    batch : pyarrow.RecordBatch
        Some rows of an engine's answer.

    Returns
    -------
    kept : integer array or slice
        Which rows are published.
    cells : list of pyarrow.Array
        Of these.

    Raises
    ------
    SchemaError
        For values outside their domains.
    """
    import pyarrow as pa

    names = batch.schema.names
    cells = [_as_written(chosen.schema[name], batch.column(name)) for name in names]
    if all(each is not None for each in cells):
        return slice(None), cells
    clean = chosen.cleaned(reading.of_arrow(pa.table(batch)), names)
    return clean.index, arrow(clean[names], chosen.schema)


def arrow(cells: pd.DataFrame, schema: Schema) -> list[pa.Array]:
    """Return cleaned columns as Arrow's."""
    import pyarrow as pa

    return [pa.array(plain(cells[name]), arrow_type(schema[name]), from_pandas=True) for name in cells]


def _as_written(attribute: Attribute, column: pa.Array) -> pa.Array | None:
    """Return a column of which each cell is a value of its domain as it is, so that nothing is to be cleaned, as in
    nearly every file; None for any other.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    domain = attribute.domain
    if domain is None or column.null_count or not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        return None
    if isinstance(domain, Categories):
        texts = pa.types.is_string(column.type)
        return column if texts and pc.all(pc.is_in(column, pa.array(domain.values))).as_py() else None
    if domain.step != 1 or not float(domain.low).is_integer():
        return None
    if pa.types.is_string(column.type) and not pc.all(pc.match_substring_regex(column, r"^-?\d{1,15}$")).as_py():
        return None
    column = column.cast(pa.int64())
    ends = pc.min_max(column).as_py()
    return column if domain.low <= ends["min"] and ends["max"] <= domain.high else None


def arrow_type(attribute: Attribute) -> pa.DataType:
    """Return how the cells of a column that is published record by record are kept."""
    import pyarrow as pa

    domain = attribute.domain
    if not isinstance(domain, Numbers):
        return pa.string()
    whole = all(float(number).is_integer() for number in (domain.low, domain.step))
    return pa.int64() if whole else pa.float64()
