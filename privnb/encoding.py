"""One feature space for exact and generalized records, so that miners can read any release.

A miner that learned from a release can predict for exact records, and the reverse.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.counts import combinations
from privnb.hierarchy import flat
from privnb.schema import SchemaError


@dataclass(frozen=True, eq=False)
class Encoded:
    """n records as miners read them, in two views; `encoded[rows]` selects records by an index or boolean array.

    `features`: float32 array (n, f). A numeric attribute has two columns, the low and the high end of the published
    cell, equal for a number. Any other has one column a leaf of its hierarchy, with 1 / size for each of the leaves
    that the cell covers and 0 elsewhere, so that an exact cell is one-hot.

    `labels`: DataFrame (n, attributes), the papers' reading: a number is a number, every published text is a nominal
    value (pandas Categorical; code -1 is reserved for cells that training showed nothing of).

    `row`: integer array (n,), equal for records that are equal in all encoded columns.
    """

    features: np.ndarray
    labels: pd.DataFrame
    row: np.ndarray

    def __len__(self):
        return len(self.row)

    def __getitem__(self, rows):
        return Encoded(self.features[rows], self.labels.iloc[rows], self.row[rows])


def encode(table, names, schema, hierarchies, like=None):
    """Encode the columns `names` of a DataFrame of published or exact cells.

    `hierarchies` may lack attributes, which then generalize flat. `like`: an `Encoded` of the same columns whose
    vocabulary is used. A cell that it does not hold is read as the narrowest of its labels that covers the cell
    (42 as 40-44), or as the middle of its ends where `like` holds numbers.

    Raises SchemaError for a column that the table lacks, a label that its hierarchy lacks, other columns than those of
    `like`, or two forms of one attribute.
    """
    names = list(names)
    _check(table, names, schema, like)
    features, labels = [], {}
    for name in names:
        seen = None if like is None else like.labels[name]
        part, labels[name] = _column(table[name], schema[name], hierarchies.get(name) or flat(schema[name]), seen)
        features.append(part)
    return Encoded(np.hstack(features), pd.DataFrame(labels), combinations(table[names]).index)


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


def _column(column, attribute, hierarchy, seen):
    """The features, float32 (n, columns), and the labels, numbers or Categorical (n,), of one column."""
    if attribute.numeric and is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=float)
        features = np.column_stack([numbers, numbers]).astype(np.float32)
        if seen is None or is_numeric_dtype(seen):
            return features, numbers
        codes, cells = pd.factorize(numbers)
        return features, _recoded(codes, cells, np.column_stack([cells, cells]), attribute, hierarchy, seen)
    codes, cells = pd.factorize(column.astype(str), sort=True)
    ends = _ends(cells, attribute, hierarchy)
    features = (ends if attribute.numeric else _shares(ends, hierarchy)).astype(np.float32)[codes]
    if seen is None:
        return features, pd.Categorical.from_codes(codes, cells)
    if is_numeric_dtype(seen):
        return features, ends.mean(axis=1)[codes]
    return features, _recoded(codes, cells, ends, attribute, hierarchy, seen)


def _ends(labels, attribute, hierarchy):
    """First and last of what each label covers, float array (labels, 2): numbers, or positions of leaves."""
    ends = hierarchy.bounds if attribute.numeric else hierarchy.cover
    return np.array([ends(label) for label in labels], dtype=float).reshape(-1, 2)


def _shares(ends, hierarchy):
    """The share of each leaf in each label, float array (labels, leaves): 1 / size where it is covered."""
    leaf = np.arange(len(hierarchy.leaves))
    covered = (ends[:, :1] <= leaf) & (leaf <= ends[:, 1:])
    return covered / covered.sum(axis=1, keepdims=True)


def _recoded(codes, cells, ends, attribute, hierarchy, seen):
    """The cells as Categorical of the labels in `seen`: the same label, else the narrowest that covers the cell."""
    labels = seen.cat.categories
    spans = _ends(labels, attribute, hierarchy)
    if attribute.numeric:
        # An aligned interval may reach past the domain, as 15-19 does past ages from 17, and so does noise.
        spans, ends = (np.clip(each, attribute.domain.low, attribute.domain.high) for each in (spans, ends))
    covers = (spans[:, 0] <= ends[:, :1]) & (ends[:, 1:] <= spans[:, 1])
    narrowest = np.where(covers, spans[:, 1] - spans[:, 0], np.inf).argmin(axis=1)
    found = np.where(covers.any(axis=1), narrowest, -1)
    # Two labels may cover the same leaves, as a node with one child does: the same label comes first.
    same = labels.get_indexer(pd.Index(cells).astype(str))
    return pd.Categorical.from_codes(np.where(same >= 0, same, found)[codes], labels)
