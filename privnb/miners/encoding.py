"""One feature space for exact and generalized records, so that miners can read any release.

A miner that learned from a release can predict for exact records, and the reverse.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import coded, distinct_codes
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import SchemaError

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

    features: np.ndarray
    labels: pd.DataFrame
    row: np.ndarray

    @property
    def records(self):
        return self

    def __len__(self):
        return len(self.row)

    def __repr__(self):  # never the rows: they may be records
        return f"Encoded({len(self)} records of {', '.join(self.labels)})"

    def __getitem__(self, rows):
        return Encoded(self.features[rows], taken(self.labels, rows), self.row[rows])


def taken(view, rows):
    """Some records of one view, by an index or boolean array."""
    return view.iloc[rows] if isinstance(view, pd.DataFrame) else view[rows]


def encode(table, names, schema, hierarchies, like=None):
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
        part, labels[name] = _column(*column, numbers, schema[name], hierarchy, seen)
        features.append(part)
    _, row = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    return Encoded(np.hstack(features), pd.DataFrame(labels), row)


def _are_numbers(attribute, column):
    return attribute.numeric and is_numeric_dtype(column)


def _check(table, names, schema, like):
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


def _column(codes, values, numbers, attribute, hierarchy, seen):
    """The features, float32 (n, columns), and the labels, numbers or Categorical (n,), of one column: its distinct
    `values`, and which of them stands where. `numbers`: whether they are to be read as such.
    """
    values, missing = pd.Series(values), attribute.domain.missing
    if missing is None and values.isna().any():
        raise SchemaError(f"'{attribute.name}' has missing values. Leave those people out, or write '*'.")
    kind = float if numbers else str
    among, cells = pd.factorize(values.astype(kind), sort=True, use_na_sentinel=False)  # a missing number comes last
    codes = among[codes]
    size = 1
    if numbers:
        given = _ends(cells.to_numpy(), missing)
    elif attribute.numeric:
        given = _extents(cells, attribute, hierarchy)
    else:
        known = [] if seen is None else seen.cat.categories
        covered, size = _parts(hierarchy.members([*cells, *known]))
        given, learned = covered[: len(cells)], covered[len(cells) :]
    if seen is None:
        learned, people = given, codes
        labels = cells.to_numpy()[codes] if numbers else pd.Categorical.from_codes(codes, cells)
    elif is_numeric_dtype(seen):
        given, learned = (_ends(each, missing) for each in (given[:, :2].mean(axis=1), seen.to_numpy()))
        people = slice(None)
        labels = given[codes, 0]
    else:
        learned = _extents(seen.cat.categories, attribute, hierarchy) if attribute.numeric else learned
        people = seen.cat.codes
        found = _read_as(cells, given, seen, learned, attribute, size)
        given = np.where(found[:, None] >= 0, learned[found], given)
        labels = pd.Categorical.from_codes(found[codes], seen.cat.categories)
    if missing is not None:
        middles = learned[:, :2].mean(axis=1)[people]
        known = middles[~np.isnan(middles)]
        given = np.where(np.isnan(given), np.median(known) if len(known) else attribute.domain.middle, given)
    features = given if attribute.numeric else _shares(given, learned, people, size)
    return features.astype(np.float32)[codes], labels


def _parts(members):
    """The leaves as labels tell them apart: of a boolean array (labels, leaves) one column for neighbours with equal
    ones, float array, and how many leaves each column stands for, integer array; each leaf alone where they are few.
    """
    if members.shape[1] <= LEAVES:
        return members.astype(float), np.ones(members.shape[1], dtype=np.int64)
    begins = np.flatnonzero(np.append(True, (members[:, 1:] != members[:, :-1]).any(axis=0)))
    return members[:, begins].astype(float), np.diff(np.append(begins, members.shape[1]))


def _shares(given, learned, people, size):
    """What cells cover as shares of leaves, float array (cells, columns): `given`, with rare leaves as one where there
    are many. `learned`: what the labels cover that a miner learns from; `people`: which of them each record has; `size`
    as of `_parts`.
    """
    shares, counts = given / (given @ size)[:, None], np.bincount(people[people >= 0], minlength=len(learned))
    if size.sum() <= LEAVES:
        return shares
    times, part = counts @ (learned / (learned @ size)[:, None]), np.repeat(np.arange(len(size)), size)
    order = np.argsort(-np.round(times, 6)[part], kind="stable")
    common, rare = np.sort(order[: LEAVES - 1]), np.bincount(part[order[LEAVES - 1 :]], minlength=len(size))
    return np.column_stack([shares[:, part[common]], shares @ rare])


def _ends(numbers, missing):
    """The columns of numbers, float array (m, columns): twice themselves and, where they have a mark of `missing` ones,
    whether they are.
    """
    return np.column_stack([numbers, numbers, *([] if missing is None else [np.isnan(numbers)])])


def _extents(labels, attribute, hierarchy):
    """What each label of a numeric attribute covers, float array (labels, columns): its two ends and, where some may be
    missing, whether it covers one.
    """
    ends = np.array([hierarchy.bounds(label) for label in labels], dtype=float).reshape(-1, 2)
    if attribute.domain.missing is None:
        return ends
    return np.column_stack([ends, [hierarchy.covers_missing(label) for label in labels]])


def _on_a_line(extents, domain):
    """The ends of extents within a domain of numbers, float array (m, 2), with a missing one beyond them."""
    ends = np.clip(extents[:, :2], domain.low, domain.high)
    if domain.missing is None:
        return ends
    beyond = domain.high + domain.width
    ends[extents[:, 2] > 0, 1] = beyond
    return np.where(np.isnan(ends), beyond, ends)


def _read_as(cells, given, seen, learned, attribute, size):
    """Which label of `seen` each cell is read as: integer array (cells,), -1 for none. `given`, `learned`: what cells
    and labels cover; `size` as of `_parts`.
    """
    if attribute.numeric:
        # An aligned interval may reach past the domain, as 15-19 does past ages from 17, and so does noise.
        given, learned = (_on_a_line(each, attribute.domain) for each in (given, learned))
        (low, high), (first, last) = given.T[:, :, None], learned.T
        covers, within, length = (first <= low) & (high <= last), (low <= first) & (last <= high), last - first
    else:
        shared, length = (given * size) @ learned.T, learned @ size
        covers, within = shared == (given @ size)[:, None], shared == length
    narrowest = np.where(covers, length, np.inf).argmin(axis=1)
    times = np.bincount(seen.cat.codes[seen.cat.codes >= 0], minlength=len(learned))
    commonest = np.where(within, times, -1).argmax(axis=1)
    found = np.select([covers.any(axis=1), within.any(axis=1)], [narrowest, commonest], -1)
    # Two labels may cover the same leaves, as a node with one child does: the same label comes first.
    same = seen.cat.categories.get_indexer(pd.Index(cells).astype(str))
    return np.where(same >= 0, same, found)
