"""Large populations: the groups of people about whom a researcher would learn something."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numba import njit

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.utility.reconstruction import Boxes, HierarchyLine, codes_of, values_asked
from privnb.microdata.release import Release
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Hierarchies, Share, validated

SUPPORT = 0.05  # of all people: groups of so many are large
MOST = 2**15  # populations: of twenty attributes that are mostly "no" there would be a million


@dataclass(frozen=True, repr=False, eq=False)
class LargePopulations:
    """All conjunctions of quasi-identifier values, or of nodes of their hierarchies below the root, that at least the
    share `support` of the original records satisfies.

    A conjunction is of one attribute or more; nodes with the same leaves count once. The populations depend on the
    original alone: find them once, with `LargePopulations.of`, and ask every release about them.

    `records`: of the original. `nodes[name]`: boolean array (nodes, parts of the line), those of an attribute that are
    large by themselves;
    `labels`: what each node is called, through all attributes. Population i is that of number `parent[i]` (0:
    everybody, j + 1: population j) with one condition more, `labels[node[i]]`; parents come first. `counts`: float
    array (populations, sensitive values + 1), people with each of `values`, and a 0. `conditions`: the most that one
    has, where one more would make more than 32,768 populations; None where they are all.

    Source: Li and Li, KDD 2009, section 4.2; minSup is `support`.
    """

    HINT: ClassVar[str] = "LargePopulations.of makes them."
    sensitive: str | None
    support: float
    records: int
    values: np.ndarray
    lines: Mapping[str, HierarchyLine]
    nodes: Mapping[str, np.ndarray]
    labels: tuple[str, ...]
    parent: np.ndarray
    node: np.ndarray
    counts: np.ndarray
    conditions: int | None

    @classmethod
    @validated
    def of(
        cls, dataset: Dataset, sensitive: str | None, support: Share = SUPPORT, hierarchies: Hierarchies = None
    ) -> "LargePopulations":
        """Find those of a dataset for questions about its attribute `sensitive`, or about their sizes alone.

        Parameters
        ----------
        dataset : Dataset
        sensitive : str or None
            None: `values` is empty, and `counts` has one column, for everybody.
        support : float
            The smallest share of the records, above 0, at most 1.
        hierarchies : dict of str to Generalization, optional
            Whose nodes alone are meant, by quasi-identifier; for those not named, the dataset's own, and halves.

        Returns
        -------
        LargePopulations

        Raises
        ------
        ValueError
            For a support that is no share above 0, a quasi-identifier as `sensitive`, and where no population is so
            large.
        """
        values = values_asked(dataset, sensitive)
        least = math.ceil(round(support * len(dataset), 9))
        asked = {**dataset.hierarchies, **(hierarchies or {})}
        lines, nodes, labels = {}, {}, []
        for name in dataset.schema.quasi_identifiers:
            hierarchy = asked[name]
            people = np.bincount(codes_of(dataset, name, hierarchy), minlength=hierarchy.size)
            sets = _large_nodes(people, hierarchy, least)
            has_levels = hasattr(hierarchy, "groups") or name in (hierarchies or {})
            if not has_levels and people[~np.any([*sets.values()], axis=0)].sum() >= least:
                sets |= _large_halves(people, least)
            if not sets:
                continue
            large = np.array([*sets.values()])
            nodes[name], part = _parts(large)
            lines[name] = HierarchyLine(hierarchy, part)
            places = np.nonzero(large)
            labels += [f"{name} {label}" for label in hierarchy.labels(places[1], places[0])]
        if not labels:
            raise UsageError(
                f"no quasi-identifier of '{dataset.name}' has a value, a node below a root or a half of its values "
                f"with {least} people ({support:.1%} of all). Lower the support, or give the attributes hierarchies."
            )
        original = Boxes.of_original(dataset, sensitive, lines)
        parent, node, conditions = _conjunctions(original, nodes, least)
        shapes = lines, nodes, tuple(labels), parent, node
        found = cls(sensitive, support, len(dataset), values, *shapes, np.empty(0), conditions)
        return replace(found, counts=found._expected(original))

    def __len__(self) -> int:
        return len(self.node)

    def __repr__(self) -> str:
        names = ", ".join(self.lines)
        few = "" if self.conditions is None else f", of at most {self.conditions} conditions"
        return f"LargePopulations({len(self):,} of at least {self.support:.1%} of all people, by {names}{few})"

    @cached_property
    def predicates(self) -> list[str]:
        """Each population in words, such as "age 20-39, sex Female": list of text."""
        words = [""]
        for parent, node in zip(self.parent, self.node, strict=True):
            words.append(f"{words[parent]}, {self.labels[node]}" if parent else self.labels[node])
        return words[1:]

    def estimated(self, release: Release) -> FloatArray:
        """How many people of each sensitive value a release lets one expect in each population: float array
        (populations, sensitive values + 1).

        Of a population in which a noisy release shows nobody, all people of the release.
        """
        found, everybody = self._found(release)
        return np.where(found.sum(axis=1, keepdims=True) > 0, found, everybody)

    def shares(self, release: Release) -> FloatArray:
        """Return the share of people that a release lets one expect in each population: float array (populations,)."""
        found, everybody = self._found(release)
        return found.sum(axis=1) / everybody.sum()

    def _found(self, release: Release) -> tuple[FloatArray, FloatArray]:
        """`_expected` of a release, and all its people, float array (sensitive values + 1,)."""
        boxes = Boxes.of_release(release, self.sensitive, self.lines, self.values)
        return self._expected(boxes), boxes.counts.sum(axis=0)

    def _expected(self, boxes: Boxes) -> FloatArray:
        """How many people of each sensitive value are to be expected in each population: float array (populations,
        sensitive values + 1).

        People whose labels are equal from the next attribute on are counted together: a table has thousands of
        combinations of labels, and a dozen of those of its last two attributes.

        Source: the uniform-distribution assumption, Li and Li, KDD 2009, section 4.2.
        """
        place, attribute, node, conditions, innermost = self._walk
        tables = [*boxes.chances(self.nodes).values()]
        begins, widths = np.cumsum([0, *(table.size for table in tables)]), np.array([len(table.T) for table in tables])
        chances = np.concatenate([table.ravel() for table in tables])
        rests = _rests([boxes.labels[name] for name in self.nodes])
        return _summed(boxes.counts, *rests, chances, begins, widths, attribute, node, conditions, innermost)[place]

    @cached_property
    def _walk(self) -> tuple[IntArray, IntArray, IntArray, IntArray, BoolArray]:
        """The populations in an order in which all that lie within one follow it at once: the place of each, and by
        place the attribute of its last condition, the node of that, the number of its conditions, and whether it is the
        innermost. Five arrays.
        """
        size = np.ones(len(self) + 1, dtype=np.int64)
        for i in range(len(self), 0, -1):
            size[self.parent[i - 1]] += size[i]
        place, free, conditions = np.zeros((3, len(self) + 1), dtype=np.int64)
        free[0] = 1
        for i, parent in enumerate(self.parent, 1):
            place[i] = free[parent]
            free[parent] += size[i]
            free[i] = place[i] + 1
            conditions[i] = conditions[parent] + 1
        order = np.argsort(place)[1:]
        begins = np.cumsum([0, *map(len, self.nodes.values())])
        node = self.node[order - 1]
        attribute = np.searchsorted(begins, node, side="right") - 1
        return place[1:] - 1, attribute, node - begins[attribute], conditions[order], size[order] == 1


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of people", baseline="trivial release")
def size_error(populations: LargePopulations, release: Release) -> float:
    """How wrong the release is about how many people are in large groups.

    The mean over large populations of the difference between the share of all people who are in one and the share that
    the release lets one expect; 0 as the original. How to read it: a release without quasi-identifiers takes every
    value for equally likely. A release that is more wrong than that one tells its users something false.

    Source: this package, after Li and Li, KDD 2009, section 4.2.
    """
    actual = populations.counts.sum(axis=1) / populations.records
    return float(np.abs(populations.shares(release) - actual).mean())


def _large_nodes(people: IntArray, hierarchy: Any, least: int) -> dict[bytes, BoolArray]:
    """Return leaves and inner nodes of at least `least` records, but not the whole: boolean arrays (positions,).

    `people`: records at each position.
    """
    found: dict[bytes, BoolArray] = {}
    for level in getattr(hierarchy, "groups", [np.arange(hierarchy.size)]):
        for group in np.flatnonzero(np.bincount(level, people) >= least):
            node = level == group
            if not node.all():
                found.setdefault(node.tobytes(), node)
    return found


def _large_halves(people: IntArray, least: int) -> dict[bytes, BoolArray]:
    """Return the halves of the line at the median record, and the halves of each, as long as both have at least `least`
    records: boolean arrays (positions,), each once. `people`: records at each position.
    """
    through, runs, found = np.append(0, np.cumsum(people)), [(0, len(people))], dict[bytes, BoolArray]()
    places = np.arange(len(people))
    for first, last in runs:
        middle = int(np.searchsorted(through, (through[first] + through[last]) / 2))
        if min(through[middle] - through[first], through[last] - through[middle]) >= least:
            halves = [(first, middle), (middle, last)]
            nodes = [(places >= begin) & (places < end) for begin, end in halves]
            found |= {node.tobytes(): node for node in nodes}
            runs += halves
    return found


def _parts(large: BoolArray) -> tuple[BoolArray, IntArray]:
    """Return the nodes by the parts of the line that they distinguish, boolean array (nodes, parts), and the part of
    each position, integer array (positions,).

    Most neighbours are alike, and a line may have a million positions: only the first of a run is compared.
    """
    first = np.append(True, (large[:, 1:] != large[:, :-1]).any(axis=0))
    nodes, part = np.unique(large[:, first], axis=1, return_inverse=True)
    return nodes, part.ravel()[np.cumsum(first) - 1]


def _conjunctions(boxes: Boxes, nodes: Mapping[str, BoolArray], least: int) -> tuple[IntArray, IntArray, int | None]:
    """The parent and the last node of each large population, two integer arrays, and the most conditions of one, as in
    `LargePopulations`.
    """
    people, names = boxes.counts.sum(axis=1), list(nodes)
    offset = np.cumsum([0, *map(len, nodes.values())])
    found: list[tuple[int, Any]] = []
    last: list[tuple[int, int, IntArray]] = [(0, 0, np.arange(len(people), dtype=np.int32))]
    conditions = 0
    while last:  # so that parents come first
        more, longer = [], []
        for population, first, rows in last:
            for a in range(first, len(names)):
                large, labels = nodes[names[a]], boxes.labels[names[a]][rows]
                held = large @ np.bincount(labels, people[rows], large.shape[1])
                for node in np.flatnonzero(held >= least):
                    more.append((population, offset[a] + node))
                    longer.append((len(found) + len(more), a + 1, rows[large[node][labels]]))
            if found and len(found) + len(more) > MOST:
                return *np.array(found).T, conditions
        found, last, conditions = found + more, longer, conditions + 1
    return *np.array(found).T, None


def _rests(labels: list[IntArray]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The labels of boxes from each attribute on, each such rest once. Four integer arrays: which rest from the first
    attribute on each box has; of each rest its label of its first attribute and which rest follows from the next one
    on; where the rests from an attribute on begin among all.
    """
    rest, many, found = np.zeros(len(labels[0]), dtype=np.int64), 1, []
    for label in reversed(labels):
        rest, distinct = pd.factorize(label.astype(np.int64) * many + rest)
        found.append(divmod(distinct, many))
        many = len(distinct)
    first, following = (np.concatenate(parts) for parts in zip(*reversed(found), strict=True))
    return rest, first, following, np.cumsum([0, *(len(distinct) for distinct, _ in reversed(found)), 1])


@njit(cache=True)
def _summed(
    counts: FloatArray,
    rest: IntArray,
    first: IntArray,
    following: IntArray,
    rests: IntArray,
    chances: Any,
    begins: IntArray,
    widths: IntArray,
    attribute: IntArray,
    node: IntArray,
    conditions: IntArray,
    innermost: BoolArray,
) -> FloatArray:
    """How many people of each sensitive value are to be expected in each of many populations: float array (populations,
    values).

    counts: of the people that are published alike, float array (boxes, values). rest, first, following, rests: of
    `_rests`. attribute, node, conditions, innermost: of `LargePopulations._walk`. chances: how likely a person under a
    label is in each node, from 0 to 1; the table of attribute a from begins[a], in rows of widths[a].
    """
    values, deepest = counts.shape[1], conditions.max()
    # Of the last population with so many conditions: the rests that people in it have, how many, from which attribute
    # on, and how many people of each value have each.
    begin, many, start = rests[: deepest + 1], np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    held, people = np.arange(rests[deepest + 1]), np.zeros((rests[deepest + 1], values))
    many[0] = rests[1]
    for box in range(len(rest)):
        for value in range(values):
            people[rest[box], value] += counts[box, value]
    where, written, now = np.zeros(rests[1] + 1, np.int64), np.zeros(rests[1] + 1, np.int64), 0
    total = np.zeros((len(node), values))
    for place in range(len(node)):
        outer = conditions[place] - 1
        while start[outer] <= attribute[place]:
            a = start[outer]
            conditioned = a == attribute[place]
            row = begins[a] + node[place]
            last = begin[outer] + many[outer]
            if conditioned:
                for i in range(begin[outer], last):
                    share = chances[row + first[rests[a] + held[i]] * widths[a]]
                    for value in range(values):
                        total[place, value] += share * people[i, value]
                if innermost[place]:
                    break
            inner = outer + 1 if conditioned else outer  # an attribute without a condition is left out
            now, free = now + 1, begin[inner]
            for i in range(begin[outer], last):
                at = rests[a] + held[i]
                share = chances[row + first[at] * widths[a]] if conditioned else 1.0
                if share == 0:
                    continue
                to = following[at]
                if written[to] != now:
                    written[to], where[to], held[free] = now, free, to
                    for value in range(values):
                        people[free, value] = share * people[i, value]
                    free += 1
                else:
                    for value in range(values):
                        people[where[to], value] += share * people[i, value]
            many[inner], start[inner] = free - begin[inner], a + 1
            if conditioned:
                break
    return total
