"""The leaves of a hierarchy that labels cover, as runs: nothing is as large as labels times leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privnb.microdata.hierarchy.generalization import OfLeaves
from privnb.runtime.arrays import FloatArray, IntArray

LEAVES = 50  # columns of an attribute of categories: a miner's time grows with each, and a rare value tells it little


@dataclass(frozen=True, eq=False, repr=False)
class Covered:
    """What some labels cover.

    Build it by `by`. `begins`: integer array (labels,), the first run of each label; `first`, `last`: integer arrays
    (runs,), the leaves where each run begins and ends; `leaves`: how many there are.
    """

    begins: IntArray
    first: IntArray
    last: IntArray
    leaves: int

    @classmethod
    def by(cls, labels: Sequence[str], hierarchy: OfLeaves) -> Covered:
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

    def read_as(self, others: Covered, times: IntArray) -> IntArray:
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
