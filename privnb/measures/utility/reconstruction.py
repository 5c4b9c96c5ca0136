"""What a release lets a researcher say about any group of people who are named by values of their quasi-identifiers.

By the uniform-distribution assumption (Li and Li, KDD 2009, sections 4.2 and 6): within a released cell every value is
equally likely, and so is, for each person of a bucket, every sensitive value of the bucket. Groups are the questions of
`populations` and `queries`.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import coded, distinct_codes, tabulate
from privnb.microdata.hierarchy import SUPPRESSED, flat
from privnb.microdata.hierarchy.categories import values_of
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import UNTRUE
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError

POSITIONS = 1_000_000  # of an attribute's line, at most: each has its place in an array
VALUES = 2_000  # that are asked for one by one, at most
_CELLS = 2**18  # of a table of boxes by groups at a time: it stays in the cache


class HierarchyLine(NamedTuple):
    """The values of an attribute as `hierarchy` lines them up, and into which part each falls, integer array (values,).

    Questions about groups do not tell the values of one part apart.
    """

    hierarchy: Any
    part: IntArray


@dataclass(frozen=True, repr=False, eq=False)
class Boxes:
    """The people of a table by the quasi-identifier cells that they share, m boxes.

    `labels[name]`: integer array (m,), the label of each box, from 0; `shares[name]`: float array (labels, parts), how
    likely a person under a label is in each part of the attribute's line. `counts`: float array (m, sensitive values
    + 1), the people of a box with each sensitive value, as many as are to be expected where the table does not tell;
    the last column is for values that nobody has in the original.
    """

    labels: Mapping[str, np.ndarray]
    shares: Mapping[str, np.ndarray]
    counts: np.ndarray

    @classmethod
    def of_original(cls, dataset: Dataset, sensitive: str | None, lines: Mapping[str, HierarchyLine]) -> "Boxes":
        """All people where they are."""
        value: IntArray
        values: Array
        if sensitive is None:
            value, values = np.zeros(len(dataset), dtype=np.int64), np.empty(0)
        else:
            value, values = dataset.schema[sensitive].coded(dataset.cells[sensitive])
        labels = {name: line.part[codes_of(dataset, name, line.hierarchy)] for name, line in lines.items()}
        shares = {name: np.eye(int(line.part.max()) + 1) for name, line in lines.items()}
        first, index = distinct_codes(list(labels.values()), [len(each) for each in shares.values()])
        counts = tabulate(index, value, (len(first), len(values) + 1)).astype(float)
        return cls({name: each[first] for name, each in labels.items()}, shares, counts)

    @classmethod
    def of_release(
        cls, release: Release, sensitive: str | None, lines: Mapping[str, HierarchyLine], values: Array
    ) -> "Boxes":
        """As published. `lines`: the questions', whatever hierarchies the release has; `values`: the sensitive values
        of the original, sorted.
        """
        absent = [name for name in lines if name not in release.labels_alike or name not in release.hierarchies]
        if absent:
            raise UsageError(f"{release!r} has no quasi-identifier {absent}. Ask it about those of its own dataset.")
        spread = {name: _spread(release, name, line) for name, line in lines.items()}
        shares = {name: each for name, (_, each) in spread.items()}
        first, index = distinct_codes([codes for codes, _ in spread.values()], [len(each) for each in shares.values()])
        labels = {name: codes[first] for name, (codes, _) in spread.items()}
        return cls(labels, shares, _sensitive_counts(release, sensitive, values, index[release.equivalence_classes]))

    def chances(self, sets: Mapping[str, BoolArray]) -> dict[str, FloatArray]:
        """How likely a person under each label is in each set: one float array (labels, sets) an attribute, by name.

        `sets[name]`: boolean array (sets, parts) of an attribute's line.
        """
        return {name: self.shares[name] @ chosen.T for name, chosen in sets.items()}

    def expected(self, groups: int, sets: Mapping[str, BoolArray]) -> FloatArray:
        """People of each sensitive value in each of so many groups: float array (groups, sensitive values + 1).

        `sets`: as of `chances`, for each attribute the set of each group.
        """
        tables = self.chances(sets)
        total, step = np.zeros((groups, self.counts.shape[1])), max(1, _CELLS // groups)
        for begin in range(0, len(self.counts), step):
            boxes = slice(begin, begin + step)
            weights = reduce(operator.imul, (table[self.labels[name][boxes]] for name, table in tables.items()))
            total += weights.T @ self.counts[boxes]
        return total


def codes_of(dataset: Dataset, name: str, hierarchy: Any) -> IntArray:
    """The position of each original value on a hierarchy's line, integer array (n,).

    Raises ValueError for a domain of too many values to give each its place.
    """
    if hierarchy.size > POSITIONS:
        raise UsageError(
            f"'{name}' has {hierarchy.size:,} possible values, and groups can be named by at most {POSITIONS:,}. Give "
            "its public domain a coarser step."
        )
    return dataset.codes[name] if dataset.hierarchies[name] is hierarchy else hierarchy.codes(dataset.marked(name))


def values_asked(dataset: Dataset, sensitive: str | None) -> Array:
    """The sensitive values that occur, sorted; none without a sensitive attribute. Raises ValueError for a
    quasi-identifier and for too many values.
    """
    if sensitive is None:
        return np.empty(0)
    if dataset.schema[sensitive].name in dataset.schema.quasi_identifiers:
        raise UsageError(
            f"'{sensitive}' is a quasi-identifier of '{dataset.name}': groups are named by it. Ask for the values of a "
            "sensitive or neutral attribute."
        )
    values = dataset.schema[sensitive].coded(dataset.cells[sensitive])[1]
    check_number(sensitive, len(values))
    return values


def check_number(name: str, occurring: int) -> None:
    """Raise ValueError for an attribute of which too many values occur to ask for them one by one."""
    if occurring > VALUES:
        raise UsageError(
            f"{occurring:,} values of '{name}' occur, too many to ask for them one by one (at most {VALUES:,}). Give "
            "its public domain a coarser step."
        )


def _spread(release: Release, name: str, line: HierarchyLine) -> tuple[IntArray, FloatArray]:
    """The label of each of the `equivalence_classes`, integer array (sets,), and how likely each part of the line is
    under each label.
    """
    own, (hierarchy, part) = release.hierarchies[name], line
    width = int(part.max()) + 1
    if _is_moved_number(release, name):
        own = hierarchy
    codes, labels = _of_sets(release, name)
    if own != hierarchy:
        part = part[hierarchy.codes(own.leaves if hasattr(own, "leaves") else values_of(own.domain))]
    counts = np.stack([np.bincount(part[own.covered(label)], minlength=width) for label in labels])
    shares = counts / counts.sum(axis=1, keepdims=True)
    shares, label = np.unique(shares, axis=0, return_inverse=True)  # some labels no question tells apart
    return label.ravel()[codes], shares


def _is_moved_number(release: Release, name: str) -> bool:
    return release.columns[name].kind in UNTRUE and release.schema[name].numeric


def _read(release: Release, name: str) -> tuple[IntArray, Any]:
    """What each cell of a column is read as, integer array (n,) of positions, and what these stand for.

    Noise, means and the like leave the domain and its steps: a reader takes the nearest value that there can be.
    """
    if not _is_moved_number(release, name):
        return release.coded(name)
    domain = release.schema[name].numbers
    codes, steps = coded(domain.codes(np.clip(release.table[name], domain.low, domain.high)))
    return codes, [domain.value(each) for each in steps]


def _of_sets(release: Release, name: str) -> tuple[IntArray, Any]:
    """What `_read` gives, by the `equivalence_classes`."""
    if not _is_moved_number(release, name):
        return release.labels_alike[name]
    (codes, values), sets = _read(release, name), release.equivalence_classes
    alike = np.empty(int(sets.max()) + 1, dtype=np.int64)
    alike[sets] = codes
    return alike, values


def _sensitive_counts(release: Release, sensitive: str | None, values: Array, index: IntArray) -> FloatArray:
    """People of each box with each of the `values`, or with none of them: float array (boxes, values + 1).

    `index`: integer array (n,), the box of each record.
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
    first, pair = distinct_codes([index, classes], [boxes, len(known)])  # sorted by box
    people = np.bincount(pair)[:, None] * known[classes[first]]
    return np.add.reduceat(people, np.searchsorted(index[first], np.arange(boxes)))


def _meanings(labels: Any, values: Array, attribute: Attribute) -> FloatArray:
    """How likely each of `values`, or none of them, is under each label: itself, or any of the public domain under `*`.

    Float array (labels, values + 1).
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
