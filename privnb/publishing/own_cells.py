"""Columns that a release has record by record, as the table does: their cells as the description says, as Arrow's."""

from privnb.microdata.columns import plain
from privnb.tables import reading


def published(chosen, batch):
    """Columns that are published record by record, as the description says.

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


def arrow(cells, schema):
    """Cleaned columns as Arrow's: a list of arrays."""
    import pyarrow as pa

    return [pa.array(plain(cells[name]), arrow_type(schema[name]), from_pandas=True) for name in cells]


def _as_written(attribute, column):
    """A column of which each cell is a value of its domain as it stands, so that nothing is to be cleaned, as of nearly
    every file: an array; None for any other.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    domain = attribute.domain
    if domain is None or column.null_count or not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        return None
    if not attribute.numeric:
        texts = pa.types.is_string(column.type)
        return column if texts and pc.all(pc.is_in(column, pa.array(domain.values))).as_py() else None
    if domain.step != 1 or not float(domain.low).is_integer():
        return None
    if pa.types.is_string(column.type) and not pc.all(pc.match_substring_regex(column, r"^-?\d{1,15}$")).as_py():
        return None
    column = column.cast(pa.int64())
    ends = pc.min_max(column).as_py()
    return column if domain.low <= ends["min"] and ends["max"] <= domain.high else None


def arrow_type(attribute):
    """How the cells of a column that is published record by record are kept: a type of Arrow's."""
    import pyarrow as pa

    if not attribute.numeric:
        return pa.string()
    whole = all(float(number).is_integer() for number in (attribute.domain.low, attribute.domain.step))
    return pa.int64() if whole else pa.float64()
