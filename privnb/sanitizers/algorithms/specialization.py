"""Top-down specialization: a cut through the tree of each attribute that moves down, one value at a time.

A node is a run of positions on its attribute's line, and so are its children. Specializing one splits only the classes
that hold it, so after each step only their rows are looked at again: further splits never make the smallest class that
a candidate would leave larger, and what breaks a model once breaks it for good.

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

_EQUAL = 12  # digits to which gains, sums of logarithms, are the same on every machine
_NONE = 2**62  # above every class


@dataclass(eq=False)
class Candidate:
    """A value of the cut that has children and may be specialized.

    It covers the positions `first` to `last` of the line of the attribute numbered `attribute`; in its tree it stands
    at `level`, and its children begin at `begins`. `rows`: those of the requirement that hold it, `parts`: the child
    of each. `gain`: InfoGain in bits; `smallest`: records in the smallest class that specializing would make.
    """

    attribute: int
    first: int
    last: int
    level: int
    begins: Array
    rows: Array
    parts: Array
    gain: float
    rank: int  # for `Ranges`: how many thresholds of more gain broke a model
    number: int
    smallest: int = _NONE
    valid: bool = True

    @property
    def children(self) -> list[tuple[int, int]]:
        """(first, last) of each child, in the order of the line."""
        return list(zip(self.begins.tolist(), [*(self.begins[1:] - 1).tolist(), self.last], strict=True))


class Cut:
    """A cut through the trees of all attributes, at their roots until values are specialized.

    `requirement`: what every class must keep; `hierarchies`: of its attributes, kept as `nested` makes them;
    `target`: integer array (m,), the workload attribute's code in each row. `nodes`: integer array (attributes, m), for
    each row where its node begins; `k`: records in the smallest class.
    """

    def __init__(self, requirement: Requirement, hierarchies: Sequence[Any], target: IntArray) -> None:
        self._requirement, self._target = requirement, target
        self.hierarchies = [nested(hierarchy) for hierarchy in hierarchies]
        self._trees = [tree(hierarchy) for hierarchy in self.hierarchies]
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
        """The values that may be specialized: every class would keep all models."""
        return list(self._open.values())

    def loss(self, candidate: Candidate) -> int:
        """AnonyLoss: by how many records specializing would make the smallest class smaller, from 0."""
        return max(self.k - candidate.smallest, 0)

    def score(self, candidate: Candidate) -> float:
        """InfoGain / (AnonyLoss + 1): bits about the workload for what they disclose; higher is specialized first."""
        return candidate.gain / (self.loss(candidate) + 1)

    def best(self) -> Candidate | None:
        """The candidate of the highest score, or None without one. In a tie the attribute that stands first has it, and
        of its values the one that stands first on the line."""
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
        """Make a node a candidate, unless it has no children or no rows."""
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
            large = large_enough(places, self._classes[rows], people, self._requirement.least)[order[rank:]]
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
        """Note what specializing the attribute's candidates would leave of the classes of `rows`, which are whole."""
        owner = self._owner[attribute, rows]
        rows, owner = rows[owner >= 0], owner[owner >= 0]
        if not len(rows):
            return
        requirement = self._requirement
        # All of a class hold the same node, so that class and child tell the candidate, too.
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
        """Drop what breaks a model; a range tries its next threshold instead."""
        while broken := [candidate for candidate in self.candidates if not candidate.valid]:
            for c in broken:
                self._drop(c)
                if self._trees[c.attribute] is None:
                    self._add(c.attribute, c.first, c.last, c.level, c.rows, c.rank + 1)


def nested(hierarchy: Any) -> Any:
    """The hierarchy whose labels are all nodes of one tree: of the widths of `Intervals` those that divide the next
    wider one that is kept. All others are trees as they are.
    """
    if not isinstance(hierarchy, Intervals):
        return hierarchy
    kept = hierarchy.widths[-1:]
    for width in reversed(hierarchy.widths[:-1]):
        if kept[0] % width == 0:
            kept = (width, *kept)
    return replace(hierarchy, widths=kept)


def tree(hierarchy: Any) -> IntArray | None:
    """The tree that an attribute is specialized in: integer array (levels, positions), the node that holds each
    position from the lowest level up to the root. One node may stand at several levels. None for `Ranges`: theirs
    grows with the cut. Widths must nest: see `nested`.
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


def named(hierarchy: Any, first: int, last: int, level: int) -> Any:
    """The label of a node; where a branch of a tree does not fork, that of its level."""
    if isinstance(hierarchy, Taxonomy):
        return hierarchy.rows[first][level]
    positions = np.arange(first, last + 1)
    return hierarchy.labels(positions, np.zeros_like(positions))[0]


def large_enough(places: Any, classes: Array, people: Array, least: int) -> BoolArray:
    """Which thresholds leave no part of a class with fewer than `least` records: boolean array (values - 1,).

    `places`: of each row, the number of its value, 0 to values - 1 in the order of the line. Every class has `least` or
    more, or nobody. All thresholds at once: tried one by one, a wide domain of numbers would take minutes.
    """
    order = np.lexsort([places, classes])
    places, classes, people = places[order], classes[order], people[order]
    ends = np.append(np.flatnonzero(np.diff(classes)), len(classes) - 1)
    through = np.cumsum(people)
    left = through - np.repeat(np.append(0, through[ends[:-1]]), np.diff(ends, prepend=-1))
    right = np.repeat(through[ends], np.diff(ends, prepend=-1)) - through
    # From its place up to before the next one of its class, a threshold leaves so many on either side.
    small = ((0 < left) & (left < least)) | ((0 < right) & (right < least))
    small = np.flatnonzero(small)
    values = int(places.max()) + 1
    broken = np.bincount(places[small], minlength=values) - np.bincount(places[small + 1], minlength=values)
    return np.cumsum(broken)[:-1] == 0


def _gain(counts: Array) -> Any:
    """InfoGain of a split in bits, from counts (..., children, values of the workload)."""
    people = counts.sum(axis=(-2, -1))
    left = _uncertainty(counts.sum(axis=-2)) - _uncertainty(counts).sum(axis=-1)
    return np.round(np.maximum(left, 0) / np.maximum(people, 1), _EQUAL)


def _uncertainty(counts: Array) -> Array:
    """Entropy of the counts along the last axis, in bits, times their sum."""
    total = counts.sum(axis=-1)
    return total * np.log2(np.maximum(total, 1)) - (counts * np.log2(np.maximum(counts, 1))).sum(axis=-1)
