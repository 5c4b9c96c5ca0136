"""Conversion of data frames of any library, and of rows from a database, to Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from privnb.microdata.schema import SchemaError
from privnb.runtime import expect
from privnb.runtime.errors import InputError, UsageTypeError
from privnb.runtime.lazy import pa

MIN_ROWS = 2
KINDS = "a file, a folder, the name of a described dataset, a DataFrame, an Arrow table, a Polars or DuckDB relation"


def frame_to_arrow(source: Any) -> pa.Table:
    """Return a data frame of any library as an Arrow table of plain columns.

    Parameters
    ----------
    source : DataFrame, Arrow table or reader, Polars frame, DuckDB relation
        Any object with the Arrow C stream interface, or a lazy frame whose `collect` method returns such an object. If
        the index of a pandas DataFrame has a name, it becomes a column, as in files that pandas writes; an index
        without a name is dropped.

    Returns
    -------
    pyarrow.Table
        The table. A column of ordered categories is a dictionary column, whose order `find_category_orders` returns.

    Raises
    ------
    UsageTypeError
        For an object that is not a table.
    SchemaError
        For columns with the same name, for a name that is not text, and for cells that are not single values.
    """
    if hasattr(source, "collect") and not hasattr(source, "__arrow_c_stream__"):  # a lazy frame
        source = source.collect()
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _checked(_from_pandas(_checked_pandas(source)))
    if not hasattr(source, "__arrow_c_stream__") or hasattr(source, "iloc"):  # a Series is only one column of a table
        raise UsageTypeError(
            f"`source` must be {KINDS}; got {expect.describe_value(source)}. Try pandas.DataFrame(...)."
        )
    return _checked(pa.table(source))


def run_query(query: str, connection: Any) -> pa.Table:
    """Run a query, and return the rows that the database returns.

    Parameters
    ----------
    query : str
        A query in the SQL dialect of the database.
    connection : object
        A connection of DBAPI or ADBC (sqlite3, duckdb, psycopg, ...), or an engine or connection of SQLAlchemy.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        For a query that the database refuses, and for a query that returns no table.
    UsageTypeError
        For an object that is not a connection.
    """
    try:
        if hasattr(connection, "register"):  # DuckDB, whose cursors lack registered tables
            found = _answered(connection.sql(query))
        elif hasattr(connection, "cursor"):
            with closing(connection.cursor()) as cursor:
                found = _fetched(cursor, query)
        elif hasattr(connection, "connect") or hasattr(connection, "exec_driver_sql"):
            import pandas as pd

            found = _from_pandas(pd.read_sql_query(query, connection))
        else:
            raise UsageTypeError(
                "`connection` must be a DBAPI or ADBC connection, or one of SQLAlchemy; got "
                f"{expect.describe_value(connection)}. "
                'Try sqlite3.connect("people.db").'
            )
    except (UsageTypeError, SchemaError):
        raise
    except Exception as error:  # each database raises errors of its own
        said = _reason(error)
        raise InputError(f"the database refuses the query: {said.rstrip('.')}. Correct the query.") from error
    if not found.num_rows:
        raise InputError("the query returns no rows. Try a query that returns the records of the table.")
    return _checked(found)


def find_category_orders(table: pa.Table) -> dict[str, list[str]]:
    """Return the categories of each column of ordered texts, from the lowest to the highest category."""
    found = {}
    for field in table.schema:
        if pa.types.is_dictionary(field.type) and _is_text(field.type.value_type):
            column = table.column(field.name).unify_dictionaries()
            found[field.name] = column.chunk(0).dictionary.to_pylist()
    return found


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write an Arrow table to a Parquet file that only the user of this process can read."""
    from pyarrow import parquet

    for number, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(number, field.name, _decoded(table.column(number)))
    path.touch(0o600)
    parquet.write_table(table, path)


def _is_text(kind: pa.DataType) -> bool:
    return any(of(kind) for of in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column as plain values.

    Texts of the type string view become strings, because Arrow cannot cast string views.
    """
    kind = pa.string() if _is_text(column.type.value_type) else column.type.value_type
    chunks = [(chunk.indices, chunk.dictionary.cast(kind)) for chunk in column.chunks]
    return pa.chunked_array([pa.DictionaryArray.from_arrays(*each).dictionary_decode() for each in chunks], kind)


def _reason(error: Exception) -> str:
    """Return the first line of a database's error; return only its class if the line may contain a record's value."""
    causes = [error, *filter(None, [error.__cause__, getattr(error, "orig", None)])]
    about_a_value = any(kind.__name__ == "DataError" for each in causes for kind in type(each).__mro__)
    said = next(iter(str(error).splitlines()), "")
    return type(error).__name__ if about_a_value or not said else said


def _answered(relation: Any) -> pa.Table:
    """Return a relation of DuckDB as an Arrow table.

    Raises InputError for None, which DuckDB returns for a query without a result.
    """
    if relation is None:
        raise InputError("it returns no table")
    return relation.to_arrow_table()


def _fetched(cursor: Any, query: str) -> pa.Table:
    """Run a query with a cursor, and return its rows as Arrow."""
    cursor.execute(query)
    if cursor.description is None:
        raise InputError("it returns no table")
    if hasattr(cursor, "fetch_arrow_table"):  # ADBC's
        return cursor.fetch_arrow_table()
    names = [str(each[0]) for each in cursor.description]
    rows = cursor.fetchall()
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pa.Table.from_arrays([_column(name, list(cells)) for name, cells in zip(names, columns, strict=True)], names)


def _checked_pandas(frame: Any) -> Any:
    """Return the frame, with its index as the first column if the index has a name.

    Raises SchemaError for an index of rows or columns with several levels, and for column names that are not text.
    """
    for what, index in {"index": frame.index, "columns": frame.columns}.items():
        if getattr(index, "nlevels", 1) > 1:
            raise SchemaError(
                f"the {what} of the DataFrame must have one level; got a MultiIndex of {index.nlevels}. Try "
                f"{'frame.reset_index()' if what == 'index' else 'joining the levels of each name'}."
            )
    if frame.index.name is not None and frame.index.name not in frame.columns:
        frame = frame.reset_index()
    if wrong := [name for name in frame.columns if not isinstance(name, str)]:
        raise SchemaError(
            f"the names of columns must be text; got {wrong[0]!r}. Try frame.rename(columns=str), or name the columns."
        )
    return frame


def _from_pandas(frame: Any) -> pa.Table:
    names = [*frame.columns]
    _check_names(names)
    return pa.Table.from_arrays([_column(name, frame[name]) for name in names], names)


def _column(name: str, cells: Any) -> pa.Array:
    """Return the cells of a column as an Arrow array.

    Raises SchemaError if the cells have several types.
    """
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        kinds = sorted({type(each).__name__ for each in cells if each is not None})
        raise SchemaError(
            f"the column '{name}' must hold values of one simple type; got {', '.join(kinds[:4])}. Try "
            f'frame["{name}"].astype(str), or drop the column.'
        ) from error


def _check_names(names: Sequence[str]) -> None:
    """Raise SchemaError for two columns with the same name."""
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise SchemaError(
            f"the columns must have different names; got '{twice[0]}' twice. Rename one of these columns."
        )


def _checked(table: pa.Table) -> pa.Table:
    """Return the table, in which dictionary columns are decoded unless their values are ordered.

    Raises SchemaError for repeated column names, for a table that is too small, and for a column whose cells are not
    single values.
    """
    _check_names(table.column_names)
    if not table.num_columns or table.num_rows < MIN_ROWS:
        raise SchemaError(
            f"the table must have at least one column and {MIN_ROWS} rows, so that there is somebody to hide among; "
            f"got {table.num_columns:,} and {table.num_rows:,}. Check how the table was made."
        )
    for number, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind):
            is_ordered, kind = kind.ordered, kind.value_type
            if not is_ordered or not _is_text(kind):
                table = table.set_column(number, field.name, _decoded(table.column(number)))
        types = pa.types
        if any(of(kind) for of in (types.is_nested, types.is_binary, types.is_large_binary, types.is_interval)):
            raise SchemaError(
                f"each cell of the column '{field.name}' must be one value; got {kind}. Try one column for each part, "
                "or drop the column."
            )
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            raise SchemaError(
                f"the times of the column '{field.name}' must have no time zone; got {kind.tz}. Try times in one zone "
                "without its name: dt.tz_convert(None) in pandas gives UTC, and a cast to timestamp is enough in SQL."
            )
        if pa.types.is_null(kind):
            table = table.set_column(number, field.name, table.column(number).cast(pa.string()))
    return table
