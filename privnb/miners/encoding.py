"""A common feature space for exact and generalized records, so that miners can read any release.

A miner that learned from a release can predict exact records, and a miner that learned from exact records can predict a
release.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import encode_values, group_codes
from privnb.microdata.hierarchy import flat
from privnb.microdata.hierarchy.generalization import OfLeaves
from privnb.microdata.schema import Attribute, Numbers, Schema, SchemaError
from privnb.runtime.arrays import Array, FloatArray, IntArray

LEAVES = 50  # maximum columns of a categorical attribute: each takes a miner time, and rare values have little effect


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """n records as miners read them, in two views; `encoded[rows]` selects records by an index or boolean array.

    Attributes
    ----------
    features : float32 array (n, f)
        A numeric attribute has two columns: the low and the high end of the published cell, which are equal if the cell
        is a number. If numbers of the attribute may be missing, a third column is 1 for a cell that covers missing
        numbers and 0 for any other cell; both ends of a missing number are the median of the numbers in the training
        records. Any other attribute has a column for each leaf of its hierarchy. The value in this column is 1 /
        (number of leaves that the cell covers) if the cell covers the leaf, and otherwise 0. An exact cell is therefore
        encoded one-hot.
    labels : DataFrame (n, attributes)
        The records as in the papers: a number stays a number, and a missing number is NaN. Every published text is a
        nominal value (pandas Categorical, where code -1 is reserved for cells that were absent in training).
    row : integer array (n,)
        A number for each record. Records with equal encoded columns have the same number.
    """

    HINT: ClassVar[str] = "`encoding.encode` gives it."
    features: FloatArray
    labels: pd.DataFrame
    row: IntArray

    @property
    def records(self) -> Self:
        """Return the object itself, which contains both views, for miners with `view="records"`."""
        return self

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:  # never the rows: they may be records
        return f"Encoded({len(self)} records of {', '.join(self.labels)})"

    def __getitem__(self, rows: Array) -> "Encoded":
        return Encoded(self.features[rows], take_records(self.labels, rows), self.row[rows])


def take_records(view: Any, rows: Array) -> Any:
    """Return the records of one view that an index array or a boolean array selects."""
    return view.iloc[rows] if isinstance(view, pd.DataFrame) else view[rows]


def encode(
    table: pd.DataFrame,
    names: Iterable[str],
    schema: Schema,
    hierarchies: Mapping[str, Any],
    like: Encoded | None = None,
) -> Encoded:
    """Encode the columns `names` of a DataFrame of published or exact cells.

    Parameters
    ----------
    table : DataFrame
    names : list of str
    schema : Schema
    hierarchies : dict
        The hierarchies by attribute. An attribute that is absent here gets a flat hierarchy.
    like : Encoded, optional
        The records that a miner was trained on, in the same columns. A cell that does not occur in these records is
        replaced by one that does: by the narrowest label that covers the cell (42 by 40-44), or else by the most common
        value that the cell covers (40-44 by 42). If the training records contain numbers, a range is replaced by its
        middle. If there is no replacement, the cell keeps its own features and gets the reserved code -1.

    Raises
    ------
    SchemaError
        If the table lacks a column, if a hierarchy lacks a label, if the columns differ from those of `like`, or if two
        columns are forms of the same attribute.
    """
    names = list(names)
    _check(table, names, schema, like)
    columns = [(encode_values if _are_numbers(schema[n], table[n]) else schema[n].coded)(table[n]) for n in names]
    features, labels = [], {}
    for name, column in zip(names, columns, strict=True):
        seen = None if like is None else like.labels[name]
        numbers = _are_numbers(schema[name], table[name])
        hierarchy = hierarchies.get(name) or flat(schema[name])
        part, labels[name] = _column(column[0], column[1], numbers, schema[name], hierarchy, seen)
        features.append(part)
    _, row = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    return Encoded(np.hstack(features), pd.DataFrame(labels), row)


def _are_numbers(attribute: Attribute, column: pd.Series) -> bool:
    return attribute.numeric and is_numeric_dtype(column)


def _check(table: pd.DataFrame, names: list[str], schema: Schema, like: Encoded | None) -> None:
    for name in names:
        if schema[name].form_of in names:
            raise SchemaError(
                f"'{name}' and '{schema[name].form_of}' are two forms of one attribute, which a miner would count "
                "twice. Leave out one of these columns."
            )
    absent = [name for name in names if name not in table]
    if absent or not names:
        raise SchemaError(
            f"`names` must be columns of the table, {', '.join(map(str, table.columns))}; got {absent or 'no name'}. "
            "Name at least one column."
        )
    if like is not None and list(like.labels) != names:
        raise SchemaError(f"columns {names} cannot be encoded like {list(like.labels)}. Encode the same columns.")


def _column(
    codes: IntArray, values: Any, numbers: bool, attribute: Attribute, hierarchy: Any, seen: pd.Series | None
) -> tuple[FloatArray, Any]:
    """Return the features of one column, float32 (n, columns), and its labels, (n,), as numbers or a Categorical.

    `values` contains the distinct values of the column; `codes` contains the position of each record's value in
    `values`. `numbers` is True if the values are numbers.
    """
    domain: Any = attribute.domain
    values, missing = pd.Series(values), domain.missing
    if missing is None and values.isna().any():
        raise SchemaError(
            f"'{attribute.name}' has missing values. Leave out the people without a value, or write '*' for a missing "
            "value."
        )
    kind = float if numbers else str
    among, cells = pd.factorize(values.astype(kind), sort=True, use_na_sentinel=False)  # a missing number comes last
    codes = among[codes]
    if not attribute.numeric:
        features, labels = _of_categories(codes, cells, hierarchy, seen)
        return features.astype(np.float32)[codes], labels
    given = _ends(cells.to_numpy(), missing) if numbers else _extents(cells, domain, hierarchy)
    people: Any
    if seen is None:
        learned, people = given, codes
        labels = cells.to_numpy()[codes] if numbers else pd.Categorical.from_codes(codes, cells)
    elif is_numeric_dtype(seen):
        given, learned = (_ends(each, missing) for each in (given[:, :2].mean(axis=1), seen.to_numpy()))
        people = slice(None)
        labels = given[codes, 0]
    else:
        learned, people = _extents(seen.cat.categories, domain, hierarchy), seen.cat.codes
        found = _read_as(cells, given, seen, learned, domain)
        given = np.where(found[:, None] >= 0, learned[found], given)
        labels = pd.Categorical.from_codes(found[codes], seen.cat.categories)
    if missing is not None:
        middles = learned[:, :2].mean(axis=1)[people]
        known = middles[~np.isnan(middles)]
        given = np.where(np.isnan(given), np.median(known) if len(known) else domain.middle, given)
    return given.astype(np.float32)[codes], labels


def _of_categories(
    codes: IntArray, cells: Any, hierarchy: Any, seen: pd.Series | None
) -> tuple[FloatArray, pd.Categorical]:
    """Return the features of the distinct cells, a float array (cells, columns), and the Categorical (n,) of labels."""
    covered = Covered.by(cells, hierarchy)
    if seen is None:
        columns = covered.commonest(np.bincount(codes, minlength=len(cells)))
        return covered.shares(columns), pd.Categorical.from_codes(codes, cells)
    known = seen.cat.categories
    learned = Covered.by(known, hierarchy)
    times = np.bincount(seen.cat.codes[seen.cat.codes >= 0], minlength=len(known))
    found = known.get_indexer(cells)
    new = np.flatnonzero(found < 0)
    if len(new):
        found[new] = Covered.by(cells[new], hierarchy).read_as(learned, times)
    columns = learned.commonest(times)
    shares = np.where(found[:, None] >= 0, learned.shares(columns)[found], covered.shares(columns))
    return shares, pd.Categorical.from_codes(found[codes], known)


def _ends(numbers: FloatArray, missing: str | None) -> FloatArray:
    """Return the features of numbers, (m, columns): each number twice, and whether it is missing if numbers may be."""
    return np.column_stack([numbers, numbers, *([] if missing is None else [np.isnan(numbers)])])


def _extents(labels: Iterable[str], domain: Numbers, hierarchy: Any) -> FloatArray:
    """Return the two ends of each label and, if numbers may be missing, whether the label covers missing numbers.

    The result is a float array (labels, columns).
    """
    ends = np.array([hierarchy.bounds(label) for label in labels], dtype=float).reshape(-1, 2)
    if domain.missing is None:
        return ends
    return np.column_stack([ends, [hierarchy.covers_missing(label) for label in labels]])


def _on_a_line(extents: FloatArray, domain: Numbers) -> FloatArray:
    """Return the ends of extents, clipped to the domain, as a float array (m, 2); missing numbers lie above it."""
    ends = np.clip(extents[:, :2], domain.low, domain.high)
    if domain.missing is None:
        return ends
    beyond = domain.high + domain.width
    ends[extents[:, 2] > 0, 1] = beyond
    return np.where(np.isnan(ends), beyond, ends)


def _read_as(cells: Any, given: FloatArray, seen: pd.Series, learned: FloatArray, domain: Numbers) -> IntArray:
    """Return, as an integer array (cells,), the code of the label in `seen` that replaces each number or range, or -1.

    `given` contains the extents of the cells; `learned` contains the extents of the labels in `seen`.
    """
    # # An aligned interval may exceed the domain, such as 15-19 for ages from 17, and so may a noisy number.
    given, learned = (_on_a_line(each, domain) for each in (given, learned))
    (low, high), (first, last) = given.T[:, :, None], learned.T
    covers, within, length = (first <= low) & (high <= last), (low <= first) & (last <= high), last - first
    narrowest = np.where(covers, length, np.inf).argmin(axis=1)
    times = np.bincount(seen.cat.codes[seen.cat.codes >= 0], minlength=len(learned))
    commonest = np.where(within, times, -1).argmax(axis=1)
    found = np.select([covers.any(axis=1), within.any(axis=1)], [narrowest, commonest], -1)
    # Two labels may cover the same numbers, such as a node and its only child: the same label has priority.
    same = seen.cat.categories.get_indexer(pd.Index(cells).astype(str))
    return np.where(same >= 0, same, found)


@dataclass(frozen=True, eq=False, repr=False)
class Covered:
    """The leaves of a hierarchy that each label covers, stored as runs of adjacent leaves.

    Attributes
    ----------
    begins : integer array (labels,)
        The position of the first run of each label.
    first, last : integer array (runs,)
        The first and the last leaf of each run.
    leaves : int
        The number of leaves.
    """

    begins: IntArray
    first: IntArray
    last: IntArray
    leaves: int

    @classmethod
    def by(cls, labels: Sequence[str], hierarchy: OfLeaves) -> Self:
        """Return the runs of one or more labels in a hierarchy that lists its leaves."""
        held = [hierarchy.runs(label) for label in labels]
        first, last = np.concatenate(held).T
        return cls(np.cumsum([0, *map(len, held)])[:-1], first, last, len(hierarchy.leaves))

    @cached_property
    def sizes(self) -> IntArray:
        """Return the number of leaves that each label covers, as an integer array (labels,)."""
        return np.add.reduceat(self.last - self.first + 1, self.begins)

    def commonest(self, times: IntArray) -> IntArray:
        """Return the most common leaves, at most `LEAVES`, in ascending order. Each of them gets a separate column.

        `times` is the number of people with each label, an integer array (labels,). The people with a label are divided
        evenly among the leaves of the label.
        """
        if self.leaves <= LEAVES:
            return np.arange(self.leaves)
        people = np.repeat(times / self.sizes, np.diff(np.append(self.begins, len(self.first))))
        ends = (np.bincount(at, people, self.leaves + 1) for at in (self.first, self.last + 1))
        order = np.argsort(-np.round(np.cumsum(np.subtract(*ends))[:-1], 6), kind="stable")
        return np.sort(order[: LEAVES - 1])

    def shares(self, columns: IntArray) -> FloatArray:
        """Return the share of each label's leaves that each leaf in `columns` has, and the share of all other leaves.

        The result is a float array (labels, columns). The last column, for all other leaves, is absent if there are no
        others.
        """
        there = (self.first[:, None] <= columns) & (columns <= self.last[:, None])
        within = np.add.reduceat(there.astype(np.int64), self.begins)
        rest = [(self.sizes - within.sum(axis=1))[:, None]] * (len(columns) < self.leaves)
        return np.hstack([within, *rest]) / self.sizes[:, None]

    def read_as(self, others: "Covered", times: IntArray) -> IntArray:
        """Return, as an integer array (labels,), the position of the label in `others` that replaces each label, or -1.

        The replacement is the narrowest label of `others` that covers the label. If there is no such label, the
        replacement is the most common label of `others`, by `times`, that the label covers; if there is no such label
        either, the result is -1. If several labels are equally suitable, the first of these labels is the replacement.
        """
        narrowest = np.full(self.leaves, -1)  # the narrowest label of each leaf
        ends = np.append(others.begins, len(others.first))
        for label in np.lexsort([-np.arange(len(others.begins)), -others.sizes]):
            for run in range(ends[label], ends[label + 1]):
                narrowest[others.first[run] : others.last[run] + 1] = label
        found, runs = narrowest[self.first[self.begins]], np.append(self.begins, len(self.first))
        for label in np.flatnonzero(self.sizes > 1):
            own = slice(runs[label], runs[label + 1])
            overlap = np.minimum(self.last[own, None], others.last) - np.maximum(self.first[own, None], others.first)
            shared = np.add.reduceat(np.maximum(overlap + 1, 0).sum(axis=0), others.begins)
            covers, within = shared == self.sizes[label], shared == others.sizes
            found[label] = -1
            if covers.any():
                found[label] = np.where(covers, others.sizes, np.inf).argmin()
            elif within.any():
                found[label] = np.where(within, times, -1).argmax()
        return found
