"""The treatment of each column of a release: inferred from its table, or stated by its sanitizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privnb.microdata.counts import FEW, are_equal, factorize, group_codes, is_coded
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.treatment import Rows, Treatment
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd


def read_stated_treatments(facts: dict[str, Any], rows: Rows, new: Sequence[str]) -> dict[str, Treatment]:
    """Return the treatments that a sanitizer states, `{name: Treatment}`, and remove them from its `facts`."""
    noisy, perturbed = facts.pop("noisy", {}), facts.pop("perturbed", ())
    expect.kind(
        "noisy", noisy, Mapping, instead="Give the law of the noise by column, or name the columns in `perturbed`."
    )
    expect.texts("perturbed", perturbed, "columns")
    stated = {name: Treatment("noisy", law) for name, law in noisy.items()}
    other = dict.fromkeys([*perturbed, *new], Treatment("synthetic" if rows is Rows.SYNTHETIC else "perturbed"))
    return other | stated  # a new column may have noise with a known distribution


def check_positions(rows: Any, n: int) -> IntArray:
    """Return the checked positions of a subset of `n` records, as an integer array."""
    found = np.asarray(expect.vector("rows", rows))
    if found.dtype.kind not in "iu" or len(np.unique(found)) < len(found) or not 0 <= found.min() <= found.max() < n:
        raise UsageError(
            f"`rows` must be positions of different records from 0 to {n - 1}; got {expect.describe_value(rows)}."
        )
    return found


def infer_treatments(
    dataset: Microdata, table: pd.DataFrame, rows: Rows, records: IntArray | None
) -> dict[str, Treatment]:
    """Return the treatment of each column of the dataset, inferred from the table: `{name: Treatment}`."""
    before, names = dataset.cells, dataset.schema.published
    if rows is Rows.SYNTHETIC:
        return {name: Treatment("suppressed" if _is_hidden(table, name) else "synthetic") for name in names}
    if not table.columns.is_unique:
        return {}  # the release will be refused
    if records is not None:
        before, table = before.iloc[records].reset_index(drop=True), table.reset_index(drop=True)
    return {name: Treatment(_kind(before[name], table[name]) if name in table else "bucketized") for name in names}


def _is_hidden(table: pd.DataFrame, name: str) -> bool:
    """Return whether every cell of a column is `*`."""
    return name in table and [*table[name].unique()] == [SUPPRESSED]


def _kind(before: pd.Series, cells: pd.Series) -> str:
    if _differ(*map(_first, (cells, before))):  # finds nearly all generalized columns without a pass over them
        return "generalized"
    if are_equal(cells, before):
        return "exact"
    index, labels = factorize(cells)
    hidden = np.append(labels.astype(object) == SUPPRESSED, False)  # the index of a missing cell is -1
    if not hidden.any():
        return "generalized"
    hidden = hidden[index]
    if hidden.all():
        return "suppressed"
    own, values = factorize(before)
    index, own = index[~hidden], own[~hidden]
    pairs = group_codes([index + 1, own + 1], [len(labels) + 1, len(values) + 1])[0]
    now, then = (
        np.append(labels.astype(object), [None])[index[pairs]],
        np.append(values.astype(object), [None])[own[pairs]],
    )
    return "suppressed" if (now == then).all() else "generalized"


def _first(column: pd.Series) -> Array:
    """Return the first cells of a Series as an object array."""
    if is_coded(column.dtype):
        return np.append(np.asarray(column.cat.categories, dtype=object), [None])[column.array.codes[:FEW]]
    return np.asarray(column.array[:FEW], dtype=object)


def _differ(now: Array, then: Array) -> bool:
    """Return whether any of these cells is neither the original cell nor `*`; missing cells do not count."""
    n = min(len(now), len(then))  # a release without some rows is refused later
    now, then = now[:n], then[:n]
    known = ~(pd.isna(now) | pd.isna(then))
    return bool(((now[known] != then[known]) & (now[known] != SUPPRESSED)).any())
