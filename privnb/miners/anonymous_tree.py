"""A decision tree in which every node has at least k people.

Every node shows the number of its people, in total and in each class. A reader can also subtract the numbers of one
node from those of another node. If each leaf contains either no people or at least k people, the same is true of each
node, and of the difference between a node and any nodes below the node.

Each node is split on the attribute that is most informative about the target. A split divides a label of the
attribute's hierarchy into the children of the label, or a range of numbers into two ranges. A split is rejected if it
would create a leaf with 1 to k - 1 people. The tree therefore corresponds to a table that is generalized by local
recoding, with an equivalence class for each leaf.

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
    """A node of the tree: the people whose value of each attribute is at one of the positions in `within`.

    Parameters
    ----------
    within : dict of str to integer array or range
        The positions of the values in the order of each attribute's hierarchy, by attribute. The positions are a range
        if the attribute's numbers generalize to ranges, because there may be billions of positions.
    counts : integer array (classes,)
        The number of people in each class of the target.
    attribute : str
        The attribute on which the node is split; empty for a leaf.
    children : list of TreeNode
    """

    within: dict[str, Positions]
    counts: IntArray
    attribute: str = ""
    children: "list[TreeNode]" = field(default_factory=list)

    @property
    def people(self) -> int:
        """Return the number of people in the node."""
        return int(self.counts.sum())

    @property
    def leaves(self) -> "list[TreeNode]":
        """Return the leaves below the node, or the node itself if it is a leaf."""
        return [leaf for child in self.children for leaf in child.leaves] if self.children else [self]

    @property
    def nodes(self) -> "list[TreeNode]":
        """Return the node and all nodes below it."""
        return [self, *(node for child in self.children for node in child.nodes)]


@dataclass(frozen=True, eq=False, repr=False)
class AnonymousTree:
    """A fitted tree: the `root`, and the `classes` that the tree predicts, in the order of `TreeNode.counts`."""

    root: TreeNode
    classes: tuple[Any, ...]
    hierarchies: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"AnonymousTree({len(self.root.leaves)} leaves)"

    @validated
    def predict(self, dataset: Dataset) -> Array:
        """Return, as an object array (n,), the most common class in the leaf of each record.

        A leaf without people predicts the most common class of its nearest ancestor with people. If no child of a node
        covers the value of a record, the prediction is the most common class of the node's people.
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

    def describe_leaves(self) -> list[tuple[dict[str, str], tuple[int, ...]]]:
        """Return, for each leaf with people, the label of each attribute and the number of people in each class."""
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
    """Learn a tree that predicts the target from the quasi-identifiers.

    Parameters
    ----------
    dataset : Dataset
        A table with one record per person.
    target : str
        The attribute to predict. The attribute must have categories and must not be a quasi-identifier.
    k : int
        The minimum number of people in a node that is not empty, at least 1. A minimum of 1 has no effect.
    attributes : list of str, optional
        The quasi-identifiers on which nodes may be split. If None, all quasi-identifiers are used.

    Returns
    -------
    AnonymousTree

    Raises
    ------
    ValueError
        If the target is numeric or a quasi-identifier, if an attribute is not a quasi-identifier, or if there are fewer
        than k records.
    NotForThisTable
        If there is no quasi-identifier, or if people may have several records.
    """
    names = dataset.schema.quasi_identifiers
    if attributes is not None:
        expect.texts("attributes", attributes, "quasi-identifiers")
        if unknown := [name for name in attributes if name not in names]:
            raise UsageError(
                f"`attributes` must be quasi-identifiers of '{dataset.name}', {', '.join(names)}; got "
                f"{', '.join(unknown)}."
            )
        names = list(attributes)
    attribute = dataset.schema[target]
    if not names or dataset.schema.person:
        what = "its people may have several records" if names else "it has no quasi-identifier column"
        raise NotForThisTable(f"a tree of '{dataset.name}' cannot be learned: {what}. Choose another table or study.")
    if attribute.numeric or target in names:
        what = "numeric" if attribute.numeric else "a quasi-identifier"
        raise UsageError(
            f"`target` must have categories and not be a quasi-identifier; '{target}' is {what}. Name another "
            "attribute."
        )
    if len(dataset) < k:
        raise UsageError(f"`k` must be at most the number of records, {len(dataset)}; got {k}.")
    codes, values = dataset.codes, attribute.categories.values
    classes = attribute.public_domain.codes(dataset.cells[target])
    hierarchies: dict[str, Any] = {name: dataset.hierarchies[name] for name in names}
    everything: dict[str, Positions] = {
        name: (range if _is_line(each) else np.arange)(each.size) for name, each in hierarchies.items()
    }

    def node(within: dict[str, Positions], rows: IntArray) -> TreeNode:
        """Return the node of the people in `rows`, with all nodes below this node."""
        counts = np.bincount(classes[rows], minlength=len(values))
        best: tuple[float, str | None, Any, Any] = ROUNDING, None, None, None  # a split must be informative
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
    """Return the number of bits that encode all people's classes: the shares' entropy times the number of people."""
    occurring = counts[counts > 0]
    return float((occurring * np.log2(occurring.sum() / occurring)).sum()) if len(occurring) else 0.0


def _is_line(hierarchy: Any) -> bool:
    """Return whether the labels of a hierarchy are ranges of numbers, which may be cut at any number."""
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
    """Yield each split of a label: the number of each person's part, (n,) from 0, and the positions of each part."""
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
