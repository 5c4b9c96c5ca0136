"""Large populations, which are groups of people about whom a researcher wants to learn something."""

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
from privnb.measures.utility.reconstruction import Boxes, HierarchyLine, codes_on_line, list_queried_values
from privnb.microdata.release import Release
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Hierarchies, Share, validated

SUPPORT = 0.05  # minimum share of all people in a large group
MAX_POPULATIONS = 2**15  # twenty attributes that are mostly "no" would make a million populations


@dataclass(frozen=True, repr=False, eq=False)
class LargePopulations:
    """The conjunctions of quasi-identifier values, or of hierarchy nodes, that hold for the share `support` of people.

    Each conjunction defines a population. A conjunction has at least one attribute, and its nodes are below the root;
    nodes with the same leaves count once. The populations depend only on the original, so `LargePopulations.of`
    computes them once for all releases.

    Attributes
    ----------
    records : int
        The number of original records.
    nodes : dict of str to boolean array (nodes, parts of the line)
        The nodes of each attribute that are large without a further condition.
    labels : tuple of str
        The names of the nodes of all attributes.
    parent, node : integer array (populations,)
        Population i has the conditions of its parent and one additional condition, `labels[node[i]]`. `parent[i]` is 0
        if the parent consists of all people, and j + 1 if the parent is population j. A parent comes before its
        children.
    counts : float array (populations, sensitive values + 1)
        The number of people in each population with each value in `values`; the last column is 0.
    conditions : int or None
        The maximum number of conditions of the listed populations, if an additional condition would result in more than
        32,768 populations. None if all populations are listed.

    Source: Li and Li, KDD 2009, section 4.2, in which `support` is called minSup.
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
        """Return the large populations of a dataset, with the counts of sensitive values, or only their sizes.

        Parameters
        ----------
        dataset : Dataset
        sensitive : str or None
            The sensitive attribute. If None, `values` is empty, and `counts` has one column, the sizes of the
            populations.
        support : float
            The minimum share of the records, above 0 and at most 1.
        hierarchies : dict of str to Generalization, optional
            The hierarchies whose nodes define populations, by quasi-identifier. For other quasi-identifiers, the
            populations are defined by the hierarchies of the dataset and by halves of the values.

        Raises
        ------
        ValueError
            If the support is not a share above 0, if `sensitive` is a quasi-identifier, or if no population contains
            the share `support` of the records.
        """
        values = list_queried_values(dataset, sensitive)
        least = math.ceil(round(support * len(dataset), 9))
        asked = {**dataset.hierarchies, **(hierarchies or {})}
        lines, nodes, labels = {}, {}, []
        for name in dataset.schema.quasi_identifiers:
            hierarchy = asked[name]
            people = np.bincount(codes_on_line(dataset, name, hierarchy), minlength=hierarchy.size)
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
                f"with at least {least} people ({support:.1%} of all). Lower `support`, or give the attributes "
                "hierarchies."
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
        """Return the text of each population, such as "age 20-39, sex Female"."""
        words = [""]
        for parent, node in zip(self.parent, self.node, strict=True):
            words.append(f"{words[parent]}, {self.labels[node]}" if parent else self.labels[node])
        return words[1:]

    def estimated(self, release: Release) -> FloatArray:
        """Return the expected number of people with each sensitive value in each population, according to a release.

        The result is a float array (populations, sensitive values + 1). If a noisy release has nobody in a population,
        the counts of all people in the release are used for this population.
        """
        found, everybody = self._found(release)
        return np.where(found.sum(axis=1, keepdims=True) > 0, found, everybody)

    def shares(self, release: Release) -> FloatArray:
        """Return the expected share of people in each population, according to a release, as a float array."""
        found, everybody = self._found(release)
        return found.sum(axis=1) / everybody.sum()

    def _found(self, release: Release) -> tuple[FloatArray, FloatArray]:
        """Return `_expected` for a release, and the number of people in the release by sensitive value."""
        boxes = Boxes.of_release(release, self.sensitive, self.lines, self.values)
        return self._expected(boxes), boxes.counts.sum(axis=0)

    def _expected(self, boxes: Boxes) -> FloatArray:
        """Return the expected number of people with each sensitive value in each population.

        The result is a float array (populations, sensitive values + 1). People are counted together if they have equal
        labels in all attributes that are not yet processed. This is faster, because a table has thousands of
        combinations of labels, but only about a dozen combinations of the last two attributes.

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
        """Return the populations, as five arrays, in an order in which the subsets of each directly follow it.

        The first array is the place of each population in this order. The other four arrays are in this order: the
        attribute of the last condition, the node of the last condition, the number of conditions, and whether the
        population has no subsets.
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


@measure(
    kind="utility",
    better="lower",
    bounds=(0, 1),
    sentence="This is the mean error of the sizes of large groups of people that are estimated from the release, as a "
    "share of all people. Lower is better.",
    unit="share of people",
    baseline="trivial release",
)
def size_error(populations: LargePopulations, release: Release) -> float:
    """Return the mean absolute difference between the true and the expected share of people in each large population.

    The error is 0 for the original. In a release without quasi-identifiers, all values are equally likely; a release
    with a larger error than such a release misleads its users.

    Source: this package, based on Li and Li, KDD 2009, section 4.2.
    """
    actual = populations.counts.sum(axis=1) / populations.records
    return float(np.abs(populations.shares(release) - actual).mean())


def _large_nodes(people: IntArray, hierarchy: Any, least: int) -> dict[bytes, BoolArray]:
    """Return the leaves and inner nodes with at least `least` records, except the root, as boolean arrays (positions,).

    `people`: the number of records at each position.
    """
    found: dict[bytes, BoolArray] = {}
    for level in getattr(hierarchy, "groups", [np.arange(hierarchy.size)]):
        for group in np.flatnonzero(np.bincount(level, people) >= least):
            node = level == group
            if not node.all():
                found.setdefault(node.tobytes(), node)
    return found


def _large_halves(people: IntArray, least: int) -> dict[bytes, BoolArray]:
    """Return the halves of the line, cut at the median record, and recursively the halves of halves, as boolean arrays.

    Each half has at least `least` records. `people`: the number of records at each position.
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
    """Return which parts of the line each node contains, and the part of each position.

    The results are a boolean array (nodes, parts) and an integer array (positions,). A line may have a million
    positions, and most neighboring positions are in the same nodes. For speed, the function compares only the first
    position of each run of such neighbors.
    """
    first = np.append(True, (large[:, 1:] != large[:, :-1]).any(axis=0))
    nodes, part = np.unique(large[:, first], axis=1, return_inverse=True)
    return nodes, part.ravel()[np.cumsum(first) - 1]


def _conjunctions(boxes: Boxes, nodes: Mapping[str, BoolArray], least: int) -> tuple[IntArray, IntArray, int | None]:
    """Return the parent and the last node of each large population, and the maximum number of conditions."""
    people, names = boxes.counts.sum(axis=1), list(nodes)
    offset = np.cumsum([0, *map(len, nodes.values())])
    found: list[tuple[int, Any]] = []
    last: list[tuple[int, int, IntArray]] = [(0, 0, np.arange(len(people), dtype=np.int32))]
    conditions = 0
    while last:  # one condition after another, so that parents come first
        more, longer = [], []
        for population, first, rows in last:
            for a in range(first, len(names)):
                large, labels = nodes[names[a]], boxes.labels[names[a]][rows]
                held = large @ np.bincount(labels, people[rows], large.shape[1])
                for node in np.flatnonzero(held >= least):
                    more.append((population, offset[a] + node))
                    longer.append((len(found) + len(more), a + 1, rows[large[node][labels]]))
            if found and len(found) + len(more) > MAX_POPULATIONS:
                return *np.array(found).T, conditions
        found, last, conditions = found + more, longer, conditions + 1
    return *np.array(found).T, None


def _rests(labels: list[IntArray]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return, for each attribute, the distinct "rests": the sequences of labels from the attribute to the last one.

    The result consists of four integer arrays. The first array is, for each box, the rest that starts at the first
    attribute. The second and the third array are, for each rest, the label of its first attribute, and the rest that
    starts at the next attribute. The fourth array is the position at which the rests that start at each attribute
    begin.
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
    """Return the expected number of people with each sensitive value in each population: (populations, values).

    Parameters
    ----------
    counts : float array (boxes, values)
        The number of people in each box.
    rest, first, following, rests : integer array
        The result of `_rests`.
    chances : float array
        The probability that a person with a label is in each node. The table of attribute a starts at begins[a], and
        has rows of the length widths[a].
    attribute, node, conditions, innermost : array
        The result of `LargePopulations._walk`.
    """
    values, deepest = counts.shape[1], conditions.max()
    # For the last population with each number of conditions: the rests of its people, their number, the attribute
    # from which they start, and the number of people of each value with each rest.
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
