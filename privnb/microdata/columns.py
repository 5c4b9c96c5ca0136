"""Coded columns: the distinct values of a column, and of each record the number of the value that it has.


They are Categoricals whose categories are what is found, in no order; the code of a missing cell is -1. The reader
hands them over, and whoever counts reads them, so that no record costs a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from privnb.microdata.counts import factorized, is_coded, objects
from privnb.runtime.lazy import pd


@cache
def text_type() -> pd.StringDtype:
    """Return the type of text that is not given in another way: each is one object of Python's, where Arrow's are
    written out for every count.
    """
    return pd.StringDtype("python", na_value=np.nan)


class WrittenOut:
    """The field `table` of a dataset or a release. It is kept as `cells`, a DataFrame of coded columns where these can
    be coded, and written out when it is first asked for, which takes 8 bytes per cell and a pass over each column.
    """

    def __get__(self, owner: Any, kind: type | None = None) -> pd.DataFrame:
        if owner is None:
            raise AttributeError("table")  # so that the field has no default
        if "table" not in vars(owner):
            vars(owner)["table"] = written(owner.cells)
        return vars(owner)["table"]

    def __set__(self, owner: Any, table: pd.DataFrame) -> None:
        vars(owner).pop("table", None)
        vars(owner)["cells"] = table


def written(cells: pd.DataFrame) -> pd.DataFrame:
    """A DataFrame of cells as text and numbers, and not as codes: the same one if it holds no codes."""
    if not any(map(is_coded, cells.dtypes)):
        return cells
    return pd.DataFrame({name: plain(cells[name]) for name in cells}, index=cells.index)


def having(table: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """`table.assign(**columns)`, whatever the columns are called.

    >>> having(pd.DataFrame({"age": [30]}), {"self": [1]}).columns.tolist()
    ['age', 'self']
    """
    table = table.copy(deep=False)
    for name, cells in columns.items():
        table[name] = cells
    return table


def plain(column: pd.Series) -> pd.Series:
    """A Series as text or numbers, and not as codes; whole numbers with gaps as floats."""
    if not is_coded(column.dtype):
        return column
    dtype = column.cat.categories.dtype
    return column.astype(float if _gapless(dtype) and column.hasnans else dtype)


def _gapless(dtype: Any) -> bool:
    """Whether cells of this type are whole numbers of NumPy, which have no missing one."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iu"


def in_codes(column: pd.Series) -> pd.Series:
    """A Series as a coded one; as it is if its cells are of several kinds, of which 1, 1.0 and True are equal."""
    if is_coded(column.dtype):
        return column
    if column.dtype == object:
        cells = column.to_numpy()
        if pd.api.types.infer_dtype(cells[objects(cells)[1]], skipna=True) not in ("string", "empty"):
            return column
    texts = column.dtype == object or isinstance(column.dtype, pd.StringDtype)
    codes, values = factorized(column) if texts else pd.factorize(column.array)
    return pd.Series(of_codes(codes, pd.Index(values, dtype=column.dtype)), column.index, name=column.name, copy=False)


def of_codes(codes: Any, values: Any) -> pd.Categorical:
    """The Categorical whose entry i is `values[codes[i]]`, a missing one at code -1.

    `codes`: integer array (n,); `values`: array, Series or Index (m,), of which some may be equal or missing.

    >>> list(of_codes([0, 1, 2, -1], ["a", "b", "a"]))
    ['a', 'b', 'a', nan]
    """
    given, codes, values = getattr(values, "dtype", None), np.asarray(codes), pd.Index(values)
    if isinstance(values.dtype, pd.StringDtype) and given != values.dtype:
        values = values.astype(text_type())
    if _gapless(values.dtype) and codes.min(initial=0) < 0:
        values = values.astype(float)  # as a column with gaps is
    if values.hasnans or not values.is_unique:
        number, values = pd.factorize(values)
        codes = np.append(number, -1)[codes]
    return pd.Categorical.from_codes(codes, values)


def by_value(function: Callable[[pd.Series], Any], column: pd.Series) -> pd.Series:
    """What `function` makes of a Series cell by cell; it is given each value of a coded one once."""
    if not is_coded(column.dtype):
        return function(column)
    codes, values = factorized(column)
    return pd.Series(of_codes(codes, function(pd.Series(values))), column.index, name=column.name, copy=False)
