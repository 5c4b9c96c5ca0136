"""A decision tree of which no node tells of fewer than k people.

Every node says how many people are in it and how many of each class. Who reads two nodes knows their difference, too.
Where each leaf has k people or nobody, so has each node, and each difference of a node and nodes below it.

The tree splits a label of a hierarchy into its children, on whichever attribute tells most about the target, and takes
back a split that leaves few people in a leaf. Numbers that generalize to ranges are cut in two. So it is a table that
generalizes by local recoding, a leaf a class.

Source: Friedman, Wolff, Schuster, "Providing k-anonymity in Data Mining", VLDB Journal 17(4), 2008; Aggarwal and Yu
2008, sections 5.4.2 and 5.7.2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import tabulate
from privnb.microdata.schema import NotForThisTable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import AttributeName, Count, validated

Positions = IntArray | range


@dataclass(frozen=True, eq=False, repr=False)
class TreeNode:
    """Some people: those whose position on each attribute's line is in `within`.

    Parameters
    ----------
    within : dict of str to integer array or range
        Positions by attribute; of numbers that generalize to ranges a range, for there may be billions.
    counts : integer array (classes,)
        How many people are of each class.
    attribute : str
        What it is split by; empty for a leaf.
    children : list of TreeNode
    """

    within: dict[str, Positions]
    counts: IntArray
    attribute: str = ""
    children: "list[TreeNode]" = field(default_factory=list)

    @property
    def people(self) -> int:
        """How many there are: int."""
        return int(self.counts.sum())

    @property
    def leaves(self) -> "list[TreeNode]":
        """Those below it, or itself: a list of TreeNode."""
        return [leaf for child in self.children for leaf in child.leaves] if self.children else [self]

    @property
    def nodes(self) -> "list[TreeNode]":
        """Itself and all below."""
        return [self, *(node for child in self.children for node in child.nodes)]


@dataclass(frozen=True, eq=False, repr=False)
class AnonymousTree:
    """A tree that was learned: `root`, and the `classes` that it guesses, in the order of the nodes' counts."""

    root: TreeNode
    classes: tuple[Any, ...]
    hierarchies: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"AnonymousTree({len(self.root.leaves)} leaves)"

    @validated
    def predict(self, dataset: Dataset) -> Array:
        """The class of each record, object array (n,): the commonest of its leaf, of an empty one that of its parent.

        Of a value that no node holds the guess is that of the last node that does.
        """
        guesses = np.empty(len(dataset), dtype=object)
        self._guess(self.root, dataset.codes, np.arange(len(dataset)), self.root, guesses)
        return guesses

    def _guess(
        self, node: TreeNode, codes: Mapping[str, IntArray], rows: IntArray, last: TreeNode, guesses: Array
    ) -> None:
        known = node if node.people else last
        guesses[rows] = self.classes[int(known.counts.argmax())]
        for child in node.children:
            inside = _among(codes[node.attribute][rows], child.within[node.attribute])
            self._guess(child, codes, rows[inside], known, guesses)

    def described(self) -> list[tuple[dict[str, str], tuple[int, ...]]]:
        """One row per leaf that holds somebody: the labels, by attribute, and how many people are of each class.

        Returns
        -------
        list of tuple
            (dict of str to str, tuple of int).
        """
        return [
            (
                {name: _label(self.hierarchies[name], at) for name, at in leaf.within.items()},
                tuple(leaf.counts.tolist()),
            )
            for leaf in self.root.leaves
            if leaf.people
        ]


@validated
def anonymous_tree(
    dataset: Dataset, target: AttributeName, k: Count, *, attributes: Sequence[str] | None = None
) -> AnonymousTree:
    """Learn a tree on the quasi-identifiers.

    Parameters
    ----------
    dataset : Dataset
        Of one record per person.
    target : str
        The attribute that it guesses, of categories; no quasi-identifier.
    k : int
        From 1, which asks for nothing.
    attributes : list of str, optional
        The quasi-identifiers that it may split by; None: all.

    Returns
    -------
    AnonymousTree

    Raises
    ------
    ValueError
        For a target that is numeric or a quasi-identifier, another attribute, and fewer than k records.
    NotForThisTable
        Without a quasi-identifier, and where people have several records.
    """
    names = dataset.schema.quasi_identifiers
    if attributes is not None:
        expect.texts("attributes", attributes, "quasi-identifiers")
        if unknown := [name for name in attributes if name not in names]:
            known = ", ".join(names)
            raise UsageError(f"{', '.join(unknown)} is no quasi-identifier of '{dataset.name}'. There are {known}.")
        names = list(attributes)
    attribute = dataset.schema[target]
    if not names or dataset.schema.person:
        what = "people of it may have several records" if names else "it has no quasi-identifier column"
        raise NotForThisTable(f"a tree of '{dataset.name}' cannot be learned: {what}. Choose another table or study.")
    if attribute.numeric or target in names:
        what = "numeric" if attribute.numeric else "a quasi-identifier"
        raise UsageError(f"a tree guesses categories by quasi-identifiers, and '{target}' is {what}. Name another one.")
    if len(dataset) < k:
        raise UsageError(f"k must be at most the {len(dataset)} records, got {k}.")
    codes, values = dataset.codes, attribute.categories.values
    classes = attribute.public_domain.codes(dataset.cells[target])
    hierarchies: dict[str, Any] = {name: dataset.hierarchies[name] for name in names}
    everything: dict[str, Positions] = {
        name: (range if _is_line(each) else np.arange)(each.size) for name, each in hierarchies.items()
    }

    def node(within: dict[str, Positions], rows: IntArray) -> TreeNode:
        """Return the node of these people, with all that can be split off."""
        counts = np.bincount(classes[rows], minlength=len(values))
        best: tuple[float, str | None, Any, Any] = ROUNDING, None, None, None  # what tells nothing is no split
        for split, hierarchy in hierarchies.items():
            for of, parts in _splits(hierarchy, within[split], codes[split][rows]):
                table = tabulate(of, classes[rows], (len(parts), len(values)))
                people = table.sum(axis=1)
                gain = round(_entropy(counts) - sum(map(_entropy, table)), 9)
                if ((people >= k) | (people == 0)).all() and gain > best[0]:
                    best = gain, split, of, parts
        _, name, of, parts = best
        if name is None:
            return TreeNode(within, counts)
        children = [node(within | {name: part}, rows[of == number]) for number, part in enumerate(parts)]
        return TreeNode(within, counts, name, children)

    return AnonymousTree(node(everything, np.arange(len(dataset))), tuple(values), hierarchies)


def _entropy(counts: IntArray) -> float:
    """Bits to say everybody's class: the entropy of the shares, by the number of people."""
    occurring = counts[counts > 0]
    return float((occurring * np.log2(occurring.sum() / occurring)).sum()) if len(occurring) else 0.0


def _is_line(hierarchy: Any) -> bool:
    """Whether labels are ranges, which may be cut anywhere."""
    return getattr(hierarchy, "groups", None) is None and getattr(hierarchy, "leaves", None) is None


def _among(codes: IntArray, positions: Positions) -> BoolArray:
    if isinstance(positions, range):
        return (codes >= positions.start) & (codes < positions.stop)
    return np.isin(codes, positions)


def _label(hierarchy: Any, positions: Positions) -> str:
    if isinstance(positions, range):
        return str(hierarchy.label(positions[0], positions[-1]))
    return str(hierarchy.labels(positions, np.zeros(len(positions), dtype=np.int64))[0])


def _splits(hierarchy: Any, positions: Positions, codes: IntArray) -> Iterator[tuple[IntArray, list[Any]]]:
    """Ways to split a label: of each the part of each person, integer array (n,) from 0, and each part's positions."""
    if len(positions) < 2:
        return
    if _is_line(hierarchy):
        for cut in np.unique(codes)[:-1].tolist():
            yield (codes > cut).astype(np.int64), [range(positions[0], cut + 1), range(cut + 1, positions[-1] + 1)]
        return
    groups = getattr(hierarchy, "groups", None)
    for level in [np.arange(hierarchy.size)] if groups is None else reversed([*groups]):
        parts = np.unique(level[positions], return_inverse=True)[1].ravel()
        if parts.max():
            place = np.full(hierarchy.size, -1)
            place[positions] = parts
            yield place[codes], [positions[parts == number] for number in range(parts.max() + 1)]
            return
