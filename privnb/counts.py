"""The count-first view: distinct combinations of attribute values with their multiplicities.

Privacy models, gains and losses need only counts. Grouping is the one step that touches every record.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd


class Combinations(NamedTuple):
    """The distinct rows of a table.

    `values`: DataFrame of m distinct rows, sorted by their columns' codes; `multiplicities`: integer array (m,);
    `index`: integer array (n,), the distinct row that each of the n records holds.
    """

    values: pd.DataFrame
    multiplicities: np.ndarray
    index: np.ndarray

    def __repr__(self):  # never the rows: they may be records
        return f"Combinations({len(self.values)} of {len(self.index)} records)"


def combinations(table):
    """Group equal rows of a DataFrame: its distinct rows, how often each stands, and where.

    The result does not depend on the table's index, nor (but for `index`) on the order of its records.

    >>> combinations(pd.DataFrame({"sex": ["F", "M", "F"]})).multiplicities.tolist()
    [2, 1]
    """
    key = np.zeros(len(table), dtype=np.int64)
    for name in table:
        codes, values = pd.factorize(table[name].to_numpy(), sort=True, use_na_sentinel=False)
        # Compressing after each column keeps the key below n * values, so that it cannot overflow.
        key = np.unique(key * max(len(values), 1) + codes, return_inverse=True)[1]
    _, first, index, multiplicities = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return Combinations(table.iloc[first].reset_index(drop=True), multiplicities, index)


def distinct_codes(columns, widths):
    """Group equal rows of integer columns: the first position of each distinct row, in sorted order, and where each
    stands.

    `columns`: integer arrays (n,), each from 0 to below its width. Returns two integer arrays, (m,) and (n,).
    """
    key, room = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column, width in zip(columns, widths, strict=True):
        if room * width >= 2**62:  # the key would overflow: number the combinations so far anew
            key, distinct = pd.factorize(key, sort=True)
            room = len(distinct)
        key = key * width + column
        room *= width
    index, distinct = pd.factorize(key)
    order = np.argsort(distinct)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    index = rank[index]
    first = np.empty(len(order), dtype=np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]
    return first, index


def class_value_counts(classes, values):
    """How often each value stands in each class: integer array (classes, values), columns in sorted order of the
    values.

    `classes`: integer array (n,) with numbers 0..m-1; `values`: array (n,).
    """
    codes, distinct = pd.factorize(np.asarray(values), sort=True, use_na_sentinel=False)
    return tabulate(classes, codes, (int(np.max(classes)) + 1, len(distinct)))


def tabulate(rows, columns, shape, weights=None):
    """How often each pair stands, or the sum of its whole-number weights: integer array of `shape`.

    `rows`, `columns`: integer arrays (n,).
    """
    counts = np.bincount(rows * shape[1] + columns, weights, minlength=shape[0] * shape[1])
    return counts.astype(np.int64, copy=False).reshape(shape)
