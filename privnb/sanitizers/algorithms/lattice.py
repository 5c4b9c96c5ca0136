"""The lattice of full-domain generalizations: the classes of each node, the classes to suppress, and the loss.

A node generalizes every attribute to one of the attribute's levels, which is the same for all records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np

from privnb.measures.utility.information_loss import OccurringValues
from privnb.microdata.counts import group_codes, tabulate
from privnb.microdata.hierarchy import SUPPRESSED, Intervals, LeveledRanges, Taxonomy
from privnb.privacy_models.base import Tally
from privnb.privacy_models.requirement import Requirement
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.sanitizers.algorithms.options import CELL_LOSSES, CLASS_LOSSES

MAX_NODES = 2**22  # maximum number of nodes: a search scans all of them after each check
_QUICK = 2**16  # number of nodes that a search checks within seconds
_ROLLED_UP = 2**22  # number of rows of checked nodes that are kept, to roll up other nodes
_TURNS = 256  # number of classes that may join the suppressed ones and are examined together


def list_levels(hierarchy: Any, positions: IntArray) -> Array:
    """Return, as an object array (levels, positions), the label of each position at each level; the last level is `*`.

    A taxonomy has its own levels, `Intervals` have a level for each width, and `LeveledRanges` have levels of public
    intervals. All other hierarchies have two levels, the exact value and `*`.
    """
    if isinstance(hierarchy, Taxonomy):
        return np.array(hierarchy.rows, dtype=object).T[:, positions]
    if isinstance(hierarchy, Intervals):
        rows = [hierarchy.at(level, positions) for level in range(len(hierarchy.widths))]
    elif isinstance(hierarchy, LeveledRanges):
        rows = hierarchy.levels(positions)
    else:
        rows = [hierarchy.labels(positions, np.arange(len(positions)))]
    return np.array([*rows, [SUPPRESSED] * len(positions)], dtype=object)


def limit_levels(hierarchies: Sequence[Any], labels: list[Array]) -> list[Array]:
    """Return the levels; if there are too many for a fast search, leave out middle levels of `LeveledRanges`.

    The function repeatedly removes the middle level of the attribute with the most levels until the search is fast
    enough.
    """
    ranged = [a for a, hierarchy in enumerate(hierarchies) if isinstance(hierarchy, LeveledRanges)]
    while ranged and prod(map(len, labels)) > _QUICK:
        a = max(ranged, key=lambda a: len(labels[a]))
        if len(labels[a]) <= 2:
            break
        labels[a] = np.delete(labels[a], len(labels[a]) // 2, axis=0)
    return labels


class Classes(NamedTuple):
    """The classes at a node, in the order of their first rows; rows are in the order of the attributes' lines.

    `rows`: one row of each group of rows that agree in their class and in all counted codes, as an integer array (r,).
    `amounts`: the number of people whom each of these rows represents, (r,). `class_of`: the class of each row, (r,).
    `sizes`: the number of records of each class, (classes,). `origin`: for each row that was rolled up, the position in
    `rows` of the row that represents it.
    """

    rows: Array
    amounts: Array
    class_of: Array
    sizes: Array
    origin: Array


class Lattice:
    """All nodes over the rows of a `Requirement`, numbered from 0; node 0 has every attribute at its lowest level.

    `labels[a]`: the label of each value of attribute a at each level, as an object array (levels, values) in the order
    of the attribute's line; `codes[:, a]`: the value of each row. A level is above another level if each of its groups
    is a union of groups of the other level; intervals of 50, for example, are not above intervals of 20. Raises
    ValueError if there are more than 4,194,304 nodes.
    """

    def __init__(self, hierarchies: Sequence[Any], requirement: Requirement) -> None:
        self.hierarchies, self.requirement = hierarchies, requirement
        values = [np.unique(column, return_inverse=True) for column in requirement.codes.T]
        self.positions = [positions for positions, _ in values]
        self.labels = limit_levels(
            hierarchies, [list_levels(*pair) for pair in zip(hierarchies, self.positions, strict=True)]
        )
        self.shape = tuple(len(labels) for labels in self.labels)
        self.nodes = prod(self.shape)
        if self.nodes > MAX_NODES:
            raise UsageError(
                f"the lattice has {self.nodes:,} nodes; at most {MAX_NODES:,} are allowed. "
                "Leave out levels or quasi-identifiers."
            )
        groups = [np.array([pd.factorize(row)[0] for row in labels]) for labels in self.labels]
        self._above = [_coarser(each) for each in groups]
        people, tallies = requirement.people, requirement.tallies
        # # Rows that differ in one of these codes are counted separately; a code that all rows share is not needed.
        counted = [people > 0, *(t.columns for t in tallies), *(t.weights > 0 for t in tallies)]
        counted += [] if requirement.persons is None else [requirement.persons]
        counted = [np.asarray(c, np.int64) for c in (*counted, *requirement.values.values()) if c.min() < c.max()]
        marks = group_codes(counted, [c.max() + 1 for c in counted])[1] if counted else np.zeros_like(people)
        groups.append(np.arange(marks.max() + 1)[None])
        self.codes = np.column_stack([*(codes for _, codes in values), marks]).astype(np.int32)
        self._groups = np.concatenate([each.ravel() for each in groups])
        begin = np.cumsum([0, *(each.size for each in groups)])
        self._begin = [first + each.shape[1] * np.arange(len(each)) for first, each in zip(begin, groups, strict=False)]
        amounts = np.max([people, *(tally.weights for tally in tallies)], axis=0)
        # Records come before people who are only in a population, so that classes have the order of their records.
        self._order = np.argsort(people == 0, kind="stable")
        self._everything = self._order, amounts[self._order]
        self._known: dict[int, tuple[IntArray, IntArray]] = {}
        self._kept = 0
        self._length = np.full(self.nodes, np.iinfo(np.int64).max)  # rows of the nodes that are known

    def levels_of(self, node: int) -> tuple[int, ...]:
        """Return the level of each attribute at a node."""
        return tuple(int(level) for level in np.unravel_index(node, self.shape))

    def above(self, node: int) -> BoolArray:
        """Return the node and all nodes above it, as a boolean array (nodes,)."""
        return _product([order[level] for order, level in zip(self._above, self.levels_of(node), strict=True)])

    def below(self, node: int) -> BoolArray:
        """Return the node and all nodes below it, as a boolean array (nodes,)."""
        return _product([order[:, level] for order, level in zip(self._above, self.levels_of(node), strict=True)])

    def is_top(self, node: int) -> bool:
        """Return whether every label at a node is `*`, so that all records are indistinguishable."""
        at = zip(self.labels, self.levels_of(node), strict=True)
        return all((labels[level] == SUPPRESSED).all() for labels, level in at)

    def classes(self, node: int, below: BoolArray) -> Classes:
        """Return the `Classes` of a node, rolled up from the node in `below` with the smallest number of known rows."""
        lower = np.flatnonzero(below)
        nearest = int(lower[self._length[lower].argmin()])
        classes = self.roll_up(node, self._known.get(nearest))
        if self._kept + len(classes.rows) <= _ROLLED_UP:
            self._kept += len(classes.rows)
            self._known[int(node)] = classes.rows, classes.amounts
            self._length[node] = len(classes.rows)
        return classes

    def roll_up(self, node: int, known: tuple[IntArray, IntArray] | None = None) -> Classes:
        """Return the `Classes` of a node, rolled up from `known` rows and amounts, or from all rows."""
        rows, amounts = known or self._everything
        begin = np.array([begin[level] for begin, level in zip(self._begin, (*self.levels_of(node), 0), strict=True)])
        origin, first = _grouped(self._groups, begin, self.codes, rows)
        rows, amounts = rows[first], np.bincount(origin, amounts).astype(np.int64)
        index: IntArray = np.arange(len(rows))
        if len(self._groups) > self._begin[-1][0] + 1:  # there is more than one mark
            index, _ = _grouped(self._groups, begin[:-1], self.codes, rows)
        sizes = np.bincount(index, amounts * (self.requirement.people[rows] > 0)).astype(np.int64)
        return Classes(rows, amounts, index, sizes, origin)

    def class_of_rows(self, classes: Classes) -> IntArray:
        """Return the class of each row, as an integer array (m,); `classes` must be rolled up from all rows."""
        of_rows = np.empty(len(self._order), dtype=np.int64)
        of_rows[self._order] = classes.class_of[classes.origin]
        return of_rows

    def fails(self, classes: Classes, tallies: Sequence[Tally]) -> BoolArray:
        """Return, as a boolean array (classes,), whether each class violates the model of any of these tallies."""
        merged = self._merged(classes, tallies)
        return ~self.requirement.holds(classes.class_of, len(classes.sizes), classes.rows, merged)

    def breaking(self, classes: Classes, tallies: Sequence[Tally]) -> Any:
        """Return the minimum number of records that every lower node suppresses because of the models of `tallies`."""
        merged = self._merged(classes, tallies)
        return classes.sizes @ self.requirement.breaking(classes.class_of, len(classes.sizes), classes.rows, merged)

    def _merged(self, classes: Classes, tallies: Sequence[Tally]) -> list[Tally]:
        """Return the tallies over the rolled-up rows."""
        merged = []
        for tally in tallies:
            weights = np.zeros_like(self.requirement.people)
            weights[classes.rows] = _weights(tally, classes)
            merged.append(replace(tally, weights=weights))
        return merged

    def suppressed(self, classes: Classes, broken: BoolArray, limit: int) -> BoolArray | None:
        """Return, as a boolean array (classes,), whether each class is suppressed so that no `broken` class is left.

        The result is None if more than `limit` records would have to be suppressed. The suppressed records form one
        class, which must also satisfy the models. As long as it violates a model, the smallest remaining class joins
        it; among equally small classes, the first one joins.
        """
        if not broken.any():
            return broken
        if classes.sizes[broken].sum() > limit:
            return None
        order = np.argsort(classes.sizes, kind="stable")
        order = order[~broken[order] & (classes.sizes[order] > 0)]
        order = order[classes.sizes[broken].sum() + np.cumsum(classes.sizes[order]) <= limit]
        turn = np.where(broken, 0, -1)
        turn[order] = 1 + np.arange(len(order))
        tallies = self.requirement.tallies
        joining, before = [_joining(tally, classes, turn[classes.class_of]) for tally in tallies], [0] * len(tallies)
        for begin in range(0, 1 + len(order), _TURNS):
            keeps = np.ones(min(_TURNS, 1 + len(order) - begin), dtype=bool)
            for i, tally in enumerate(tallies):
                turns, columns, weights = joining[i]
                here = (begin <= turns) & (turns < begin + _TURNS)
                shape = len(keeps), len(tally.whole)
                counts = tabulate(turns[here] - begin, columns[here], shape, weights[here])
                counts = before[i] + np.cumsum(counts, axis=0)
                before[i] = counts[-1].copy()
                if hasattr(tally.model, "population"):
                    counts[:, 0] = tally.whole[0]  # `*` covers everybody
                keeps &= tally.model.holds(counts, tally.whole)
            if keeps.any():
                return (turn >= 0) & (turn <= begin + keeps.argmax())
        return None


class OfCells:
    """A loss that is the mean loss of the cells, given their labels.

    `least`: the loss of each node without suppression.
    """

    falls = True  # whether the loss that suppression adds falls as classes merge

    def __init__(self, lattice: Lattice, name: str) -> None:
        people, price = lattice.requirement.people, CELL_LOSSES[name]
        means, self._spared = [], []
        for a, hierarchy in enumerate(lattice.hierarchies):
            of_values = np.bincount(lattice.codes[:, a], people)
            held = of_values > 0
            known = OccurringValues.of(lattice.positions[a][held], of_values[held])
            labels = {SUPPRESSED, *lattice.labels[a][:, held].ravel()}
            prices = {label: price(hierarchy, label, known) for label in labels}
            cost = np.array([[prices.get(label, 0.0) for label in row] for row in lattice.labels[a]])
            own = np.log2(np.maximum(of_values, 1)) if name == "non-uniform entropy" else 0.0
            means.append(((cost - own) * of_values).sum(axis=1))
            self._spared.append(prices[SUPPRESSED] - cost)
        self._lattice, self._cells = lattice, people.sum() * len(means)
        self.least = reduce(np.add.outer, means).ravel() / self._cells

    def without(self, node: int, classes: Classes) -> float:
        """Return the loss of a node without suppression."""
        return self.least[node]

    def added(self, node: int, classes: Classes, suppressed: BoolArray) -> float:
        """Return the loss that suppression of these classes adds."""
        here, lattice = suppressed[classes.class_of], self._lattice
        rows, amounts = classes.rows[here], classes.amounts[here]
        spared = np.zeros(len(rows))
        for a, level in enumerate(lattice.levels_of(node)):
            spared += self._spared[a][level][lattice.codes[rows, a]]
        return float(spared @ (amounts * (lattice.requirement.people[rows] > 0))) / self._cells


class OfClasses:
    """A loss that depends on the sizes of classes or on their counts of `target`.

    The loss never falls when unsuppressed classes merge. `least`: a lower bound of the loss of each node, which the
    search raises as it examines nodes.
    """

    def __init__(self, lattice: Lattice, name: str, target: str | None = None) -> None:
        self._lattice, self._price, self._target = lattice, CLASS_LOSSES[name], target
        self.falls = name != "average class size"  # suppression of many small classes more than halves their number
        self.least = np.zeros(lattice.nodes)

    def _cost(self, classes: Classes, suppressed: BoolArray) -> float:
        measured = classes.sizes
        if self._target is not None:
            values, people = self._lattice.requirement.values[self._target], self._lattice.requirement.people
            amounts = classes.amounts * (people[classes.rows] > 0)
            measured = tabulate(classes.class_of, values[classes.rows], (len(measured), values.max() + 1), amounts)
        kept = ~suppressed & (classes.sizes > 0)
        return self._price(measured[kept], int(classes.sizes[suppressed].sum()))

    def without(self, node: int, classes: Classes) -> float:
        """Return the loss of a node without suppression."""
        return self._cost(classes, np.zeros(len(classes.sizes), dtype=bool))

    def added(self, node: int, classes: Classes, suppressed: BoolArray) -> float:
        """Return the loss that suppression of these classes adds."""
        return self._cost(classes, suppressed) - self.without(node, classes)


def bind_loss(lattice: Lattice, name: str, target: str | None = None) -> OfCells | OfClasses:
    """Return the loss with this name, bound to a lattice."""
    return OfCells(lattice, name) if name in CELL_LOSSES else OfClasses(lattice, name, target)


def _grouped(groups: IntArray, begin: IntArray, codes: Array, rows: Array) -> tuple[IntArray, IntArray]:
    """Return a number for each of `rows`, which is equal for rows with equal groups, and the first row of each number.

    The group of a code of attribute a is `groups[begin[a] + code]`; numbers are in the order of their first
    occurrences.
    """
    columns = [groups[start + codes[rows, a]] for a, start in enumerate(begin)]
    first, index = group_codes(columns, [column.max() + 1 for column in columns])
    order = np.argsort(first)
    return np.argsort(order)[index], first[order]


def _joining(tally: Tally, classes: Classes, turns: IntArray) -> tuple[IntArray, IntArray, Array]:
    """Return three arrays, the turns, columns and amounts by which the counts of a tally grow as classes join.

    `turns`: the turn in which each rolled-up row joins, as an integer array (r,); -1 means never. A person with records
    in several classes is counted when the first of these classes joins.
    """
    if tally.persons is None:
        return turns, tally.columns[classes.rows], _weights(tally, classes)
    order = np.argsort(turns, kind="stable")
    order = order[turns[order] >= 0]
    found = tally.counted(classes.rows[order])  # the first of equal rows
    return (
        turns[order][found.places],
        found.columns,
        np.ones(len(found.columns)) if found.weights is None else found.weights,
    )


def _weights(tally: Tally, classes: Classes) -> Array:
    """Return the number of people whom a model counts for each rolled-up row: all people of the row, or nobody."""
    return classes.amounts * (tally.weights[classes.rows] > 0)


def _coarser(groups: IntArray) -> BoolArray:
    """Return a boolean array (levels, levels) in which [i, j] states whether level j is level i or above level i.

    `groups` is an integer array (levels, values).
    """
    both = [[len(np.unique(low * groups.shape[1] + high)) for high in groups] for low in groups]
    return np.triu(np.array(both) == groups.max(axis=1, keepdims=True) + 1)


def _product(chosen: Sequence[BoolArray]) -> BoolArray:
    """Return, as a boolean array (nodes,), whether all levels of each node are in `chosen`, one array per attribute."""
    # # The loop begins with the last attribute, because numpy is fast if the second factor is long.
    return reduce(lambda later, each: np.logical_and.outer(each, later).ravel(), reversed(chosen))
