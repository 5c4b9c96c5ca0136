"""Estimates from a release about any group of people that is defined by values of quasi-identifiers.

The estimates use the uniform-distribution assumption (Li and Li, KDD 2009, sections 4.2 and 6): every value of a
released cell is equally likely, and every sensitive value of a bucket is equally likely for each person in the bucket.
The modules `populations` and `queries` define the groups.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import encode_values, group_codes, tabulate
from privnb.microdata.hierarchy import SUPPRESSED, flat
from privnb.microdata.hierarchy.categories import list_values
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import UNTRUE
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError

MAX_POSITIONS = 1_000_000  # maximum length of an attribute's line: each position has a place in an array
MAX_VALUES = 2_000  # maximum number of an attribute's values that are queried one by one
_CELLS = 2**18  # size of a table of boxes by groups that is computed at a time; it fits into the cache


class HierarchyLine(NamedTuple):
    """The values of an attribute in the order of `hierarchy`, called the line, and the number of each value's part.

    Queries about groups do not distinguish the values of one part.
    """

    hierarchy: Any
    part: IntArray


@dataclass(frozen=True, repr=False, eq=False)
class Boxes:
    """The people of a table, divided into m boxes of people with the same quasi-identifier cells.

    Attributes
    ----------
    labels : dict of str to integer array (m,)
        The number, from 0, of each box's label, by attribute.
    shares : dict of str to float array (labels, parts)
        The probability that a person with each label is in each part of the attribute's line.
    counts : float array (m, sensitive values + 1)
        The number of people in each box with each sensitive value, or the expected number if the table does not show
        the exact number. The last column is for values that nobody has in the original.
    """

    labels: Mapping[str, np.ndarray]
    shares: Mapping[str, np.ndarray]
    counts: np.ndarray

    @classmethod
    def of_original(cls, dataset: Dataset, sensitive: str | None, lines: Mapping[str, HierarchyLine]) -> "Boxes":
        """Return the boxes of the original table."""
        value: IntArray
        values: Array
        if sensitive is None:
            value, values = np.zeros(len(dataset), dtype=np.int64), np.empty(0)
        else:
            value, values = dataset.schema[sensitive].coded(dataset.cells[sensitive])
        labels = {name: line.part[codes_on_line(dataset, name, line.hierarchy)] for name, line in lines.items()}
        shares = {name: np.eye(int(line.part.max()) + 1) for name, line in lines.items()}
        first, index = group_codes(list(labels.values()), [len(each) for each in shares.values()])
        counts = tabulate(index, value, (len(first), len(values) + 1)).astype(float)
        return cls({name: each[first] for name, each in labels.items()}, shares, counts)

    @classmethod
    def of_release(
        cls, release: Release, sensitive: str | None, lines: Mapping[str, HierarchyLine], values: Array
    ) -> "Boxes":
        """Return the boxes of a release.

        `lines`: the lines of the queries, which may have other hierarchies than the release. `values`: the sensitive
        values of the original, in sorted order.
        """
        absent = [name for name in lines if name not in release.labels_alike or name not in release.hierarchies]
        if absent:
            raise UsageError(
                f"{release!r} has no quasi-identifier {absent}. Try queries about the dataset of this release."
            )
        spread = {name: _spread(release, name, line) for name, line in lines.items()}
        shares = {name: each for name, (_, each) in spread.items()}
        first, index = group_codes([codes for codes, _ in spread.values()], [len(each) for each in shares.values()])
        labels = {name: codes[first] for name, (codes, _) in spread.items()}
        return cls(labels, shares, _sensitive_counts(release, sensitive, values, index[release.equivalence_classes]))

    def chances(self, sets: Mapping[str, BoolArray]) -> dict[str, FloatArray]:
        """Return, by name, the probability that a person with each label is in each set: float arrays (labels, sets).

        `sets[name]`: the parts of the attribute's line in each set, as a boolean array (sets, parts).
        """
        return {name: self.shares[name] @ chosen.T for name, chosen in sets.items()}

    def expected(self, groups: int, sets: Mapping[str, BoolArray]) -> FloatArray:
        """Return the expected number of people with each sensitive value in each group: (groups, sensitive values + 1).

        `groups`: the number of groups; `sets`: the set of each group, by attribute, as in `chances`.
        """
        tables = self.chances(sets)
        total, step = np.zeros((groups, self.counts.shape[1])), max(1, _CELLS // groups)
        for begin in range(0, len(self.counts), step):
            boxes = slice(begin, begin + step)
            weights = reduce(operator.imul, (table[self.labels[name][boxes]] for name, table in tables.items()))
            total += weights.T @ self.counts[boxes]
        return total


def codes_on_line(dataset: Dataset, name: str, hierarchy: Any) -> IntArray:
    """Return the position of each original value on a hierarchy's line, as an integer array (n,).

    Raises ValueError if the domain has more than a million values.
    """
    if hierarchy.size > MAX_POSITIONS:
        raise UsageError(
            f"'{name}' has {hierarchy.size:,} possible values, but a column that defines groups can have at "
            f"most {MAX_POSITIONS:,}. Give the public domain a coarser step."
        )
    return dataset.codes[name] if dataset.hierarchies[name] is hierarchy else hierarchy.codes(dataset.marked(name))


def list_queried_values(dataset: Dataset, sensitive: str | None) -> Array:
    """Return the sensitive values that occur, in sorted order, or an empty array without a sensitive attribute.

    Raises ValueError if the attribute is a quasi-identifier, or if too many values occur.
    """
    if sensitive is None:
        return np.empty(0)
    if dataset.schema[sensitive].name in dataset.schema.quasi_identifiers:
        raise UsageError(
            f"'{sensitive}' is a quasi-identifier of '{dataset.name}', and quasi-identifiers name the groups. Try a "
            "sensitive or neutral attribute."
        )
    values = dataset.schema[sensitive].coded(dataset.cells[sensitive])[1]
    check_value_count(sensitive, len(values))
    return values


def check_value_count(name: str, occurring: int) -> None:
    """Raise ValueError if too many values of an attribute occur to query them one by one."""
    if occurring > MAX_VALUES:
        raise UsageError(
            f"'{name}' has {occurring:,} values that occur; at most {MAX_VALUES:,} can be queried one by one. Give the "
            "public domain a coarser step."
        )


def _spread(release: Release, name: str, line: HierarchyLine) -> tuple[IntArray, FloatArray]:
    """Return the label of each set in `equivalence_classes`, (sets,), and the shares of the parts under each label."""
    own, (hierarchy, part) = release.hierarchies[name], line
    width = int(part.max()) + 1
    if _is_moved_number(release, name):
        own = hierarchy
    codes, labels = _of_sets(release, name)
    if own != hierarchy:
        part = part[hierarchy.codes(own.leaves if hasattr(own, "leaves") else list_values(own.domain))]
    counts = np.stack([np.bincount(part[own.covered(label)], minlength=width) for label in labels])
    shares = counts / counts.sum(axis=1, keepdims=True)
    shares, label = np.unique(shares, axis=0, return_inverse=True)  # queries do not distinguish some labels
    return label.ravel()[codes], shares


def _is_moved_number(release: Release, name: str) -> bool:
    return release.columns[name].kind in UNTRUE and release.schema[name].numeric


def _read(release: Release, name: str) -> tuple[IntArray, Any]:
    """Return the code of each cell of a column, integer array (n,), and the value or label of each code.

    Noisy numbers and means may be outside the domain, or between the steps of the domain; such a number is read as the
    nearest value of the domain.
    """
    if not _is_moved_number(release, name):
        return release.coded(name)
    domain = release.schema[name].numbers
    codes, steps = encode_values(domain.codes(np.clip(release.table[name], domain.low, domain.high)))
    return codes, [domain.value(each) for each in steps]


def _of_sets(release: Release, name: str) -> tuple[IntArray, Any]:
    """Return the result of `_read` with one code for each set in `equivalence_classes`."""
    if not _is_moved_number(release, name):
        return release.labels_alike[name]
    (codes, values), sets = _read(release, name), release.equivalence_classes
    alike = np.empty(int(sets.max()) + 1, dtype=np.int64)
    alike[sets] = codes
    return alike, values


def _sensitive_counts(release: Release, sensitive: str | None, values: Array, index: IntArray) -> FloatArray:
    """Return the number of people in each box with each value in `values`, or with another value: (boxes, values + 1).

    `index`: the box of each record, as an integer array (n,).
    """
    boxes = int(index.max()) + 1
    if sensitive is None:
        return np.bincount(index, minlength=boxes)[:, None].astype(float)
    if sensitive in release.cells:
        codes, labels = _read(release, sensitive)
        meanings = _meanings(labels, values, release.schema[sensitive])
        return tabulate(index, codes, (boxes, len(labels))) @ meanings
    buckets, held = release.by_class(sensitive)
    codes, labels = release.schema[sensitive].coded(held)
    meanings = _meanings(labels, values, release.schema[sensitive])
    known = tabulate(buckets, codes, (int(buckets.max()) + 1, len(labels))) @ meanings
    known /= known.sum(axis=1, keepdims=True)
    classes = release.defined_classes
    first, pair = group_codes([index, classes], [boxes, len(known)])  # sorted by box
    people = np.bincount(pair)[:, None] * known[classes[first]]
    return np.add.reduceat(people, np.searchsorted(index[first], np.arange(boxes)))


def _meanings(labels: Any, values: Array, attribute: Attribute) -> FloatArray:
    """Return the probability of each value in `values`, or of another value, given each label: (labels, values + 1).

    The label `*` stands for any value of the public domain; any other label stands for a single value.
    """
    columns = {value: column for column, value in enumerate(values)}
    found = np.zeros((len(labels), len(values) + 1))
    for row, label in zip(found, labels, strict=True):
        if label == SUPPRESSED and label not in columns:
            row[:] = 1 / flat(attribute).size
            row[-1] *= flat(attribute).size - len(values)
        else:
            row[columns.get(label, -1)] = 1
    return found
