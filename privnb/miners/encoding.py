"""One feature space for exact and generalized records, so that miners can read any release.

A miner that learned from a release can predict for exact records, and the reverse.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import coded, distinct_codes
from privnb.microdata.hierarchy import flat
from privnb.microdata.hierarchy.generalization import OfLeaves
from privnb.microdata.schema import Attribute, Numbers, Schema, SchemaError
from privnb.runtime.arrays import Array, FloatArray, IntArray

LEAVES = 50  # columns of an attribute of categories: a miner's time grows with each, and a rare value tells it little


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """n records as miners read them, in two views; `encoded[rows]` selects records by an index or boolean array.

    `features`: float32 array (n, f). A numeric attribute has two columns, the low and the high end of the published
    cell, equal for a number. Where its numbers may be missing there is a third, 1 for a cell that covers a missing one
    and else 0; the ends of a missing one are the median of those records that a miner learns from which are not. Any
    other has one column a leaf of its hierarchy, with 1 / size for each of the leaves that the cell covers and 0
    elsewhere, so that an exact cell is one-hot.

    `labels`: DataFrame (n, attributes), the papers' reading: a number is a number, NaN a missing one; every published
    text is a nominal value (pandas Categorical; code -1 is reserved for cells that training showed nothing of).

    `row`: integer array (n,), equal for records that are equal in all encoded columns.
    """

    HINT: ClassVar[str] = "`encoding.encode` gives it."
    features: FloatArray
    labels: pd.DataFrame
    row: IntArray

    @property
    def records(self) -> Self:
        return self

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:  # never the rows: they may be records
        return f"Encoded({len(self)} records of {', '.join(self.labels)})"

    def __getitem__(self, rows: Array) -> "Encoded":
        return Encoded(self.features[rows], taken(self.labels, rows), self.row[rows])


def taken(view: Any, rows: Array) -> Any:
    """Some records of one view, by an index or boolean array."""
    return view.iloc[rows] if isinstance(view, pd.DataFrame) else view[rows]


def encode(
    table: pd.DataFrame,
    names: Iterable[str],
    schema: Schema,
    hierarchies: Mapping[str, Any],
    like: Encoded | None = None,
) -> Encoded:
    """Encode the columns `names` of a DataFrame of published or exact cells.

    `hierarchies` may lack attributes, which then generalize flat. `like`: the records that a miner learned from, in
    the same columns. A cell that they do not hold is read as one that they do, since a miner knows no other: as the
    narrowest label that covers it (42 as 40-44), else as the commonest that it covers (40-44 as 42); where they hold
    numbers, as the middle of its ends. Without any such it keeps its own features and the reserved code.

    Raises SchemaError for a column that the table lacks, a label that its hierarchy lacks, other columns than those of
    `like`, or two forms of one attribute.
    """
    names = list(names)
    _check(table, names, schema, like)
    columns = [(coded if _are_numbers(schema[n], table[n]) else schema[n].coded)(table[n]) for n in names]
    features, labels = [], {}
    for name, column in zip(names, columns, strict=True):
        seen = None if like is None else like.labels[name]
        numbers = _are_numbers(schema[name], table[name])
        hierarchy = hierarchies.get(name) or flat(schema[name])
        part, labels[name] = _column(column[0], column[1], numbers, schema[name], hierarchy, seen)
        features.append(part)
    _, row = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    return Encoded(np.hstack(features), pd.DataFrame(labels), row)


def _are_numbers(attribute: Attribute, column: pd.Series) -> bool:
    return attribute.numeric and is_numeric_dtype(column)


def _check(table: pd.DataFrame, names: list[str], schema: Schema, like: Encoded | None) -> None:
    for name in names:
        if schema[name].form_of in names:
            raise SchemaError(
                f"'{name}' and '{schema[name].form_of}' are two forms of one attribute: a miner given both counts it "
                "twice. Leave one out."
            )
    absent = [name for name in names if name not in table]
    if absent or not names:
        raise SchemaError(
            f"columns {absent or 'none'} were asked for; the table has {', '.join(map(str, table.columns))}. "
            "Name one or more of those."
        )
    if like is not None and list(like.labels) != names:
        raise SchemaError(f"columns {names} cannot be encoded like {list(like.labels)}. Encode the same columns.")


def _column(
    codes: IntArray, values: Any, numbers: bool, attribute: Attribute, hierarchy: Any, seen: pd.Series | None
) -> tuple[FloatArray, Any]:
    """The features, float32 (n, columns), and the labels, numbers or Categorical (n,), of one column: its distinct
    `values`, and which of them stands where. `numbers`: whether they are to be read as such.
    """
    domain: Any = attribute.domain
    values, missing = pd.Series(values), domain.missing
    if missing is None and values.isna().any():
        raise SchemaError(f"'{attribute.name}' has missing values. Leave those people out, or write '*'.")
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
    """The features of each of the distinct `cells`, float array (cells, columns), and the labels, Categorical (n,)."""
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
    """The columns of numbers, float array (m, columns): twice themselves and, where they have a mark of `missing` ones,
    whether they are.
    """
    return np.column_stack([numbers, numbers, *([] if missing is None else [np.isnan(numbers)])])


def _extents(labels: Iterable[str], domain: Numbers, hierarchy: Any) -> FloatArray:
    """What each label of a numeric attribute covers, float array (labels, columns): its two ends and, where some may be
    missing, whether it covers one.
    """
    ends = np.array([hierarchy.bounds(label) for label in labels], dtype=float).reshape(-1, 2)
    if domain.missing is None:
        return ends
    return np.column_stack([ends, [hierarchy.covers_missing(label) for label in labels]])


def _on_a_line(extents: FloatArray, domain: Numbers) -> FloatArray:
    """The ends of extents within a domain of numbers, float array (m, 2), with a missing one beyond them."""
    ends = np.clip(extents[:, :2], domain.low, domain.high)
    if domain.missing is None:
        return ends
    beyond = domain.high + domain.width
    ends[extents[:, 2] > 0, 1] = beyond
    return np.where(np.isnan(ends), beyond, ends)


def _read_as(cells: Any, given: FloatArray, seen: pd.Series, learned: FloatArray, domain: Numbers) -> IntArray:
    """Which label of `seen` each number or range is read as: integer array (cells,), -1 for none. `given`, `learned`:
    what cells and labels cover.
    """
    # An aligned interval may reach past the domain, as 15-19 does past ages from 17, and so does noise.
    given, learned = (_on_a_line(each, domain) for each in (given, learned))
    (low, high), (first, last) = given.T[:, :, None], learned.T
    covers, within, length = (first <= low) & (high <= last), (low <= first) & (last <= high), last - first
    narrowest = np.where(covers, length, np.inf).argmin(axis=1)
    times = np.bincount(seen.cat.codes[seen.cat.codes >= 0], minlength=len(learned))
    commonest = np.where(within, times, -1).argmax(axis=1)
    found = np.select([covers.any(axis=1), within.any(axis=1)], [narrowest, commonest], -1)
    # Two labels may cover the same numbers, as a node with one child does: the same label comes first.
    same = seen.cat.categories.get_indexer(pd.Index(cells).astype(str))
    return np.where(same >= 0, same, found)


@dataclass(frozen=True, eq=False, repr=False)
class Covered:
    """The leaves of a hierarchy that labels cover, as runs: nothing is as large as labels times leaves.

    Build it by `by`. `begins`: integer array (labels,), the first run of each label; `first`, `last`: integer arrays
    (runs,), the leaves where each run begins and ends; `leaves`: how many there are.
    """

    begins: IntArray
    first: IntArray
    last: IntArray
    leaves: int

    @classmethod
    def by(cls, labels: Sequence[str], hierarchy: OfLeaves) -> Self:
        """Of the texts `labels`, one or more, in a hierarchy whose values are listed."""
        held = [hierarchy.runs(label) for label in labels]
        first, last = np.concatenate(held).T
        return cls(np.cumsum([0, *map(len, held)])[:-1], first, last, len(hierarchy.leaves))

    @cached_property
    def sizes(self) -> IntArray:
        """How many leaves each label covers: integer array (labels,)."""
        return np.add.reduceat(self.last - self.first + 1, self.begins)

    def commonest(self, times: IntArray) -> IntArray:
        """The leaves that have a column of their own, ascending: all where they are few, else those of most people.
        `times`: how many have each label, integer array (labels,); of each they are spread over its leaves.
        """
        if self.leaves <= LEAVES:
            return np.arange(self.leaves)
        people = np.repeat(times / self.sizes, np.diff(np.append(self.begins, len(self.first))))
        ends = (np.bincount(at, people, self.leaves + 1) for at in (self.first, self.last + 1))
        order = np.argsort(-np.round(np.cumsum(np.subtract(*ends))[:-1], 6), kind="stable")
        return np.sort(order[: LEAVES - 1])

    def shares(self, columns: IntArray) -> FloatArray:
        """Which share of each label's leaves each of the `columns` is, and last all others, if there are some: float
        array (labels, columns or one more).
        """
        there = (self.first[:, None] <= columns) & (columns <= self.last[:, None])
        within = np.add.reduceat(there.astype(np.int64), self.begins)
        rest = [(self.sizes - within.sum(axis=1))[:, None]] * (len(columns) < self.leaves)
        return np.hstack([within, *rest]) / self.sizes[:, None]

    def read_as(self, others: "Covered", times: IntArray) -> IntArray:
        """Which of the `others` each label is read as, integer array (labels,): the narrowest that covers it, else the
        commonest, by `times`, that it covers; -1 without any. The first of several.
        """
        narrowest = np.full(self.leaves, -1)  # of each leaf
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
