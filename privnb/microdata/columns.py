"""Coded columns: the distinct values of a column, and a code for the value of each record.

A coded column is a Categorical whose categories are the values in no particular order; a missing cell has the code -1.
The reader of files returns coded columns, and the counting functions accept coded columns, so that no record is ever
stored as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from privnb.microdata.counts import factorize, factorize_objects, is_coded
from privnb.runtime.lazy import pd


@cache
def text_type() -> pd.StringDtype:
    """Return the pandas type in which text is stored by default.

    The type stores each text as a Python object, because texts in Arrow's format would have to be converted for each
    count.
    """
    return pd.StringDtype("python", na_value=np.nan)


class DecodedTable:
    """The field `table` of a dataset or a release; the object stores this table as `cells`.

    `cells` is a DataFrame with coded columns where possible. Reading `table` decodes `cells`, which takes 8 bytes per
    cell and a pass over each column.
    """

    def __get__(self, owner: Any, kind: type | None = None) -> pd.DataFrame:
        if owner is None:
            raise AttributeError("table")  # so that the field does not have a default value
        if "table" not in vars(owner):
            vars(owner)["table"] = decode_table(owner.cells)
        return vars(owner)["table"]

    def __set__(self, owner: Any, table: pd.DataFrame) -> None:
        vars(owner).pop("table", None)
        vars(owner)["cells"] = table


def decode_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a DataFrame with text and numbers instead of codes; without codes, return `cells` itself."""
    if not any(map(is_coded, cells.dtypes)):
        return cells
    return pd.DataFrame({name: decode_column(cells[name]) for name in cells}, index=cells.index)


def assign_columns(table: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return `table.assign(**columns)` for any column names.

    >>> assign_columns(pd.DataFrame({"age": [30]}), {"self": [1]}).columns.tolist()
    ['age', 'self']
    """
    table = table.copy(deep=False)
    for name, cells in columns.items():
        table[name] = cells
    return table


def decode_column(column: pd.Series) -> pd.Series:
    """Return a Series with text or numbers instead of codes; whole numbers become floats if a cell is missing."""
    if not is_coded(column.dtype):
        return column
    dtype = column.cat.categories.dtype
    return column.astype(float if _gapless(dtype) and column.hasnans else dtype)


def _gapless(dtype: Any) -> bool:
    """Return whether cells of this type are NumPy integers, a type that has no missing value."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iu"


def encode_column(column: pd.Series) -> pd.Series:
    """Return a Series in coded form.

    If the cells have several types, as in a Series of the equal values 1, 1.0 and True, the Series is returned
    unchanged.
    """
    if is_coded(column.dtype):
        return column
    if column.dtype == object:
        cells = column.to_numpy()
        if pd.api.types.infer_dtype(cells[factorize_objects(cells)[1]], skipna=True) not in ("string", "empty"):
            return column
    texts = column.dtype == object or isinstance(column.dtype, pd.StringDtype)
    codes, values = factorize(column) if texts else pd.factorize(column.array)
    return pd.Series(
        make_categorical(codes, pd.Index(values, dtype=column.dtype)), column.index, name=column.name, copy=False
    )


def make_categorical(codes: Any, values: Any) -> pd.Categorical:
    """Return the Categorical whose entry i is `values[codes[i]]`; the code -1 marks a missing entry.

    `codes` is an integer array (n,). `values` is an array, a Series or an Index (m,), which may contain repeated and
    missing values.

    >>> list(make_categorical([0, 1, 2, -1], ["a", "b", "a"]))
    ['a', 'b', 'a', nan]
    """
    given, codes, values = getattr(values, "dtype", None), np.asarray(codes), pd.Index(values)
    if isinstance(values.dtype, pd.StringDtype) and given != values.dtype:
        values = values.astype(text_type())
    if _gapless(values.dtype) and codes.min(initial=0) < 0:
        values = values.astype(float)  # as pandas does for a column with gaps
    if values.hasnans or not values.is_unique:
        number, values = pd.factorize(values)
        codes = np.append(number, -1)[codes]
    return pd.Categorical.from_codes(codes, values)


def map_values(function: Callable[[pd.Series], Any], column: pd.Series) -> pd.Series:
    """Return the result of `function` for each cell; for a coded Series, pass each distinct value only once."""
    if not is_coded(column.dtype):
        return function(column)
    codes, values = factorize(column)
    return pd.Series(make_categorical(codes, function(pd.Series(values))), column.index, name=column.name, copy=False)
