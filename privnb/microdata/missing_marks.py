"""How files mark a missing value: which texts do, and which of them a column or a table has."""

from __future__ import annotations

from collections.abc import Iterable

from privnb.microdata.counts import people_among
from privnb.runtime import lazy_pandas as pd
from privnb.runtime.arrays import IntArray

# Marks of a missing value, beside the empty cell; and some that are values as well where no number stands beside them.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "n.a.", "NaN", "nan", "NULL", "null", "k.A.", "k. A.", "keine Angabe")
DASHES = ("-", "--", ".")


def mark_of(columns: Iterable[tuple[pd.Series, IntArray | None]]) -> str:
    """The commonest mark of missing values in a table; "" if none is missing.

    `columns`: of each its Categorical of texts, and how many records each entry stands for, or None.
    """
    counts = dict.fromkeys([*MISSING, *DASHES], 0)
    empty = False
    for column, times in columns:
        codes, categories = column.cat.codes.to_numpy(), column.cat.categories
        empty = empty or bool((codes < 0).any())
        for mark in marks_in(column):
            counts[mark] += people_among(codes == categories.get_loc(mark), times=times)
    mark = max(counts, key=counts.__getitem__)
    return mark if empty or counts[mark] else ""


def marks_in(column: pd.Series) -> list[str]:
    """The marks of missing values that stand in a Categorical of texts, in the order of their list."""
    texts = column.cat.categories
    known = (*MISSING, *DASHES) if len(texts) and texts.str.contains(r"\d").mean() > 0.5 else MISSING
    return [mark for mark in known if mark in texts]
