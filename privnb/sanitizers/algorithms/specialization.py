"""Top-down specialization: a cut through the tree of each attribute moves down, one value at a time.

A node is a run of positions on the line of its attribute, and so are its children. The specialization of a node splits
only the classes that contain the node, so each step examines only the rows of these classes. This is enough for two
reasons: further splits never enlarge the smallest class that a candidate would leave, and a value whose specialization
violates a model now would also violate this model later.

Source: Fung, Wang, Yu, "Top-Down Specialization for Information and Privacy Preservation", ICDE 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from privnb.microdata.counts import tabulate
from privnb.microdata.hierarchy import Intervals, Ranges, Taxonomy
from privnb.privacy_models.requirement import Requirement
from privnb.runtime.arrays import Array, BoolArray, IntArray

_EQUAL = 12  # number of digits in which gains, which are sums of logarithms, agree on every machine
_NONE = 2**62  # larger than every class


@dataclass(eq=False)
class Candidate:
    """A value of the cut that has children and may be specialized.

    The value covers the positions `first` to `last` on the line of attribute number `attribute`, at level `level` of
    the attribute's tree. The children of the value begin at the positions `begins`. `rows`: the rows of the requirement
    that have the value. `parts`: the child of each row. `gain`: InfoGain in bits. `smallest`: the number of records in
    the smallest class after specialization.
    """

    attribute: int
    first: int
    last: int
    level: int
    begins: Array
    rows: Array
    parts: Array
    gain: float
    rank: int  # for `Ranges`: the number of thresholds that have a larger gain but break a model
    number: int
    smallest: int = _NONE
    valid: bool = True

    @property
    def children(self) -> list[tuple[int, int]]:
        """Return the positions (first, last) of each child, in the order of the line."""
        return list(zip(self.begins.tolist(), [*(self.begins[1:] - 1).tolist(), self.last], strict=True))


class Cut:
    """A cut through the trees of all attributes, which is at the roots until values are specialized.

    `requirement`: the requirement that every class must satisfy. `hierarchies`: the hierarchies of the attributes, see
    `keep_nested_widths`. `target`: the code of the workload attribute in each row, as an integer array (m,). `nodes`:
    the first position of each row's node, as an integer array (attributes, m). `k`: the number of records in the
    smallest class.
    """

    def __init__(self, requirement: Requirement, hierarchies: Sequence[Any], target: IntArray) -> None:
        self._requirement, self._target = requirement, target
        self.hierarchies = [keep_nested_widths(hierarchy) for hierarchy in hierarchies]
        self._trees = [build_tree(hierarchy) for hierarchy in self.hierarchies]
        self._sizes = [hierarchy.size for hierarchy in hierarchies]
        shape = len(hierarchies), len(target)
        self.nodes = np.zeros(shape, dtype=np.int64)
        self.k = int(requirement.people.sum())
        self._classes, self._number = np.zeros(shape[1], dtype=np.int64), 1
        self._open: dict[int, Candidate] = {}  # the candidates, by number
        self._tried = 0
        self._owner, self._part = np.full(shape, -1), np.zeros(shape, dtype=np.int64)
        for a, (levels, size) in enumerate(zip(self._trees, self._sizes, strict=True)):
            self._add(a, 0, size - 1, 0 if levels is None else len(levels) - 1, np.arange(shape[1]))
        self._drop_invalid()

    @property
    def candidates(self) -> list[Candidate]:
        """Return the values that may be specialized, because every class would still satisfy all models."""
        return list(self._open.values())

    def loss(self, candidate: Candidate) -> int:
        """Return AnonyLoss: the number of records, from 0, by which specialization would shrink the smallest class."""
        return max(self.k - candidate.smallest, 0)

    def score(self, candidate: Candidate) -> float:
        """Return the score InfoGain / (AnonyLoss + 1); the candidate with the highest score is specialized first."""
        return candidate.gain / (self.loss(candidate) + 1)

    def best(self) -> Candidate | None:
        """Return the candidate with the highest score, or None if there are no candidates.

        Among candidates with equal scores, the result is the one with the first attribute, and among values of this
        attribute the first one on the line.
        """
        return max(self._open.values(), key=lambda c: (self.score(c), -c.attribute, -c.first), default=None)

    def specialize(self, candidate: Candidate) -> None:
        """Replace a value by its children in the whole table."""
        a, rows, parts = candidate.attribute, candidate.rows, candidate.parts
        self.k -= self.loss(candidate)
        self.nodes[a, rows] = candidate.begins[parts]
        self._drop(candidate)
        if (parts != parts[0]).any():
            index, split = pd.factorize(self._classes[rows] * len(candidate.begins) + parts)
            self._classes[rows] = self._number + index
            self._number += len(split)
            for other in range(len(self._trees)):
                self._judge(other, rows)
        for part, (first, last) in enumerate(candidate.children):
            self._add(a, first, last, candidate.level - 1, rows[parts == part])
        self._drop_invalid()

    def _add(self, attribute: int, first: int, last: int, level: int, rows: IntArray, rank: int = 0) -> None:
        """Make a node a candidate, unless the node has no children or no rows."""
        levels, codes = self._trees[attribute], self._requirement.codes[rows, attribute]
        if not len(rows):
            return
        people, target = self._requirement.people[rows], self._target[rows]
        shape = int(target.max()) + 1
        if levels is None:
            values, places = np.unique(codes, return_inverse=True)
            left = np.cumsum(tabulate(places, target, (len(values), shape), people), axis=0)
            gains = _gain(np.stack([left[:-1], left[-1] - left[:-1]], axis=1))
            order = np.argsort(-gains, kind="stable")
            large = find_large_splits(places, self._classes[rows], people, self._requirement.least)[order[rank:]]
            if not large.any():
                return
            rank += int(large.argmax())
            begins = np.array([first, values[order[rank]] + 1])
        else:
            while level > 0 and levels[level - 1, first] == levels[level, first]:
                level -= 1
            if level == 0:
                return
            begins = first + np.flatnonzero(np.diff(levels[level - 1, first : last + 1], prepend=-1))
        parts = np.searchsorted(begins, codes, side="right") - 1
        gain = float(_gain(tabulate(parts, target, (len(begins), shape), people)))
        self._open[self._tried] = Candidate(attribute, first, last, level, begins, rows, parts, gain, rank, self._tried)
        self._owner[attribute, rows], self._part[attribute, rows] = self._tried, parts
        self._tried += 1
        self._judge(attribute, rows)

    def _judge(self, attribute: int, rows: IntArray) -> None:
        """Store the effect of an attribute's candidates on the classes of `rows`, which contain complete classes."""
        owner = self._owner[attribute, rows]
        rows, owner = rows[owner >= 0], owner[owner >= 0]
        if not len(rows):
            return
        requirement = self._requirement
        # All rows of a class hold the same node, so class and child determine the candidate.
        index, parts = pd.factorize(self._classes[rows] * self._sizes[attribute] + self._part[attribute, rows])
        sizes = np.bincount(index, requirement.people[rows], len(parts)).astype(np.int64)
        fine = (sizes >= requirement.least) | (sizes == 0)
        if requirement.beyond_size:
            fine &= requirement.holds(index, len(parts), rows, requirement.beyond_size)
        sizes[sizes == 0] = _NONE
        owners = np.empty(len(parts), dtype=np.int64)
        owners[index] = owner
        for number in np.unique(owners):
            candidate, its = self._open[number], owners == number
            candidate.smallest = min(candidate.smallest, int(sizes[its].min()))
            candidate.valid &= bool(fine[its].all())

    def _drop(self, candidate: Candidate) -> None:
        del self._open[candidate.number]
        self._owner[candidate.attribute, candidate.rows] = -1

    def _drop_invalid(self) -> None:
        """Drop the candidates that violate a model; for a range, try the next threshold instead."""
        while broken := [candidate for candidate in self.candidates if not candidate.valid]:
            for c in broken:
                self._drop(c)
                if self._trees[c.attribute] is None:
                    self._add(c.attribute, c.first, c.last, c.level, c.rows, c.rank + 1)


def keep_nested_widths(hierarchy: Any) -> Any:
    """Return a hierarchy whose labels are all nodes of one tree.

    Only `Intervals` change: from the widest width down, each width that does not divide the last width that was kept is
    dropped.
    """
    if not isinstance(hierarchy, Intervals):
        return hierarchy
    kept = hierarchy.widths[-1:]
    for width in reversed(hierarchy.widths[:-1]):
        if kept[0] % width == 0:
            kept = (width, *kept)
    return replace(hierarchy, widths=kept)


def build_tree(hierarchy: Any) -> IntArray | None:
    """Return the tree in which an attribute is specialized, as an array (levels, positions) with each position's node.

    Levels go from the lowest up to the root, and one node may be at several levels. The result is None for `Ranges`,
    whose tree grows with the cut. Widths must nest: see `keep_nested_widths`.
    """
    if isinstance(hierarchy, Ranges):
        return None
    if isinstance(hierarchy, Taxonomy):
        labels = np.array(hierarchy.rows, dtype=object).T
        return pd.factorize(labels.ravel())[0].reshape(labels.shape)
    if isinstance(hierarchy, Intervals):
        groups = hierarchy.groups.astype(np.int64)
        groups -= groups.min()
        return groups + np.arange(len(groups))[:, None] * (int(groups.max()) + 1)
    positions = np.arange(len(hierarchy.values))
    return np.stack([positions, np.full(len(positions), len(positions))])


def label_node(hierarchy: Any, first: int, last: int, level: int) -> Any:
    """Return the label of a node; if a branch of a tree does not fork, return the label at the given level."""
    if isinstance(hierarchy, Taxonomy):
        return hierarchy.rows[first][level]
    positions = np.arange(first, last + 1)
    return hierarchy.labels(positions, np.zeros_like(positions))[0]


def find_large_splits(places: Any, classes: Array, people: Array, least: int) -> BoolArray:
    """Return, as a boolean array (values - 1,), whether a threshold leaves no class part of 1 to `least` - 1 records.

    `places`: for each row, the number of its value, 0 to values - 1 in the order of the line. Every class must have at
    least `least` records, or no records. The function checks all thresholds at once, because separate checks would take
    minutes for a wide domain of numbers.
    """
    order = np.lexsort([places, classes])
    places, classes, people = places[order], classes[order], people[order]
    ends = np.append(np.flatnonzero(np.diff(classes)), len(classes) - 1)
    through = np.cumsum(people)
    left = through - np.repeat(np.append(0, through[ends[:-1]]), np.diff(ends, prepend=-1))
    right = np.repeat(through[ends], np.diff(ends, prepend=-1)) - through
    # A threshold between a value and the next one of its class leaves these numbers of records on either side.
    small = ((0 < left) & (left < least)) | ((0 < right) & (right < least))
    small = np.flatnonzero(small)
    values = int(places.max()) + 1
    broken = np.bincount(places[small], minlength=values) - np.bincount(places[small + 1], minlength=values)
    return np.cumsum(broken)[:-1] == 0


def _gain(counts: Array) -> Any:
    """Return the InfoGain of a split in bits, from counts (..., children, values of the workload)."""
    people = counts.sum(axis=(-2, -1))
    left = _uncertainty(counts.sum(axis=-2)) - _uncertainty(counts).sum(axis=-1)
    return np.round(np.maximum(left, 0) / np.maximum(people, 1), _EQUAL)


def _uncertainty(counts: Array) -> Array:
    """Return the entropy of the counts along the last axis, in bits, times their sum."""
    total = counts.sum(axis=-1)
    return total * np.log2(np.maximum(total, 1)) - (counts * np.log2(np.maximum(counts, 1))).sum(axis=-1)
