"""Finer partitions that a sanitizer rejected, because a part violates one of its privacy models.

A sanitizer that stops at the bound tries finer partitions of its classes until none of them satisfies the models. These
refinements depend on the quasi-identifiers alone, so an adversary who knows the quasi-identifiers of all people in a
release can list them, and can conclude that each of them violates a model. Each sanitizer lists its own refinements,
see `ModelBasedSanitizer.list_refinements`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from privnb.microdata.counts import group_codes
from privnb.microdata.hierarchy import Sets, Taxonomy
from privnb.runtime.arrays import Array, IntArray


class Cells(NamedTuple):
    """The distinct combinations of quasi-identifiers of the people in a release, and their equivalence classes.

    `positions` is the position of each combination on the line of each attribute: integers (cells, attributes).
    `people` is the number of people with each combination, and `classes` is the class of each: integers (cells,).
    `hierarchies` are the hierarchies of the attributes.
    """

    positions: IntArray
    people: IntArray
    classes: IntArray
    hierarchies: Sequence[Any]


class Refinement(NamedTuple):
    """A finer partition of some cells: the positions of these cells, and the part of each of them, from 0."""

    cells: IntArray
    parts: IntArray


def list_cuts(cells: IntArray, positions: IntArray, hierarchy: Any) -> Iterator[Refinement]:
    """Yield the cuts of some cells in one attribute: at each threshold, or into the children of a taxonomy's node.

    Categories without an order have no cuts here.
    """
    if isinstance(hierarchy, Taxonomy):
        yield from list_children(cells, positions, hierarchy.groups)
    elif not isinstance(hierarchy, Sets):
        for threshold in np.unique(positions)[1:]:
            yield Refinement(cells, (positions >= threshold).astype(np.int64))


def list_children(cells: IntArray, positions: IntArray, tree: Array) -> Iterator[Refinement]:
    """Yield the cut of some cells into the children of the smallest node that covers them, if there are several.

    `tree` is the node of each position at each level, from the leaves to the root: an array (levels, positions).
    """
    for level in reversed(tree):
        found, parts = np.unique(level[positions], return_inverse=True)
        if len(found) > 1:
            yield Refinement(cells, parts)
            return


def split_by(groups: IntArray) -> list[IntArray]:
    """Return the positions of the members of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def combine(columns: Sequence[IntArray]) -> IntArray:
    """Return the number of each row's combination of codes."""
    return group_codes(columns, [int(column.max()) + 1 for column in columns])[1]


def is_finer(fine: IntArray, coarse: IntArray) -> bool:
    """Return whether each group of `fine` lies in one group of `coarse`."""
    return len(np.unique(fine)) == len(np.unique(combine([fine, coarse])))


def join_positions(positions: IntArray, classes: IntArray) -> IntArray:
    """Return the published value of each cell in an attribute under global recoding, as numbers from 0.

    All positions that occur in one class have the same published value.
    """
    from scipy.sparse import coo_array  # takes long to import, and most sanitizers do not need it
    from scipy.sparse.csgraph import connected_components

    found, index = np.unique(positions, return_inverse=True)
    size = len(found) + int(classes.max()) + 1
    links = coo_array((np.ones(len(index)), (index, len(found) + classes)), shape=(size, size))
    return connected_components(links, directed=False)[1][index]
