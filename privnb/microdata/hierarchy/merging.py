"""Trees of few branches: siblings are merged, so that one rare value does not forbid every cut of a node."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from privnb.microdata.hierarchy.categories import Taxonomy
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least, validated

LISTED = 3  # a label of more members says how many there are
AT_ONCE = 4  # neighbours that are joined in one step: so the rare end of an order soon is one group


@validated
def merged(
    tree: Taxonomy,
    counts: Mapping[str, int],
    most: Annotated[int, at_least(2)] = 3,
    in_order: bool = False,
    lowest: int = 0,
    named: Annotated[int, at_least(0)] = 0,
) -> Taxonomy:
    """The tree with levels in between, so that no node has more than `most` children, in order up to four.

    Mondrian cuts a node if each of its children that occurs holds k people. In one step from a value to `*`, one rare
    value forbids that. So siblings are merged from the rare up, `most` of them in one.

    Parameters
    ----------
    tree : Taxonomy
    counts : Mapping of str to int
        Records per leaf. They decide which siblings are merged: counts of the records themselves tell something about
        them, as an end of a domain does that was read from them.
    most : int
        2 or more.
    in_order : bool
        Whether only neighbours are merged, up to four in one, those with the fewest records first.
    lowest : int
        The level of the lowest nodes that are merged; 0: the leaves; -1: the children of `*`.
    named : int
        How many records a member has at least that a new label names, where the leaves are children of `*`: what fewer
        people have may be a person's own words. The others are numbered.

    Returns
    -------
    Taxonomy
        With all levels of `tree`. A new label lists two or three members with | between them; of more it names the
        first and the last in their order, or without one the commonest, unless even that has fewer than `named`.

    Raises
    ------
    SchemaError
        If a new label is one that the tree has already.
    ValueError
        For a level that the tree has not.

    >>> towns = {"Bonn": 30, "Köln": 60, "Trier": 2, "Ulm": 20, "Worms": 1}
    >>> merged(Taxonomy("town", tuple((town, "*") for town in towns)), towns).levels()
       level  groups  largest                    examples
    0      0       5        1      Bonn, Köln, Trier, ...
    1      1       2        3  Bonn|Köln, Trier|Ulm|Worms
    2      2       1        5                           *
    """
    if not -tree.height <= lowest < tree.height:
        raise UsageError(f"lowest must be a level of the tree below *, 0 to {tree.height - 1}, got {lowest!r}.")
    rows = tree.rows
    levels = [np.array(level, dtype=object) for level in zip(*rows, strict=True)]
    of_leaves, found = np.array([counts.get(leaf, 0) for leaf in levels[0]], dtype=np.int64), levels[:1]
    for level, (lower, upper) in enumerate(pairwise(levels)):
        codes, children = pd.factorize(lower)
        records = np.bincount(codes, of_leaves).astype(np.int64)
        parent = np.empty(len(children), dtype=np.intp)
        parent[codes] = pd.factorize(upper)[0]
        families = np.split(np.argsort(parent, kind="stable"), np.cumsum(np.bincount(parent))[:-1])
        steps = [(own, [*_steps(children[own], records[own], most, in_order, named)]) for own in families]
        depth = max(len(each) for _, each in steps) if level >= lowest % tree.height else 0
        for step in range(depth):
            labels = children.copy()
            for own, each in steps:  # a family of fewer steps takes the last ones
                if len(each) >= depth - step:
                    labels[own] = each[step - depth]
            found.append(labels[codes])
        found.append(upper)
    rows_by_leaf = dict(zip(levels[0], zip(*(level.tolist() for level in found), strict=True), strict=True))
    return Taxonomy(tree.name, tuple(rows_by_leaf[row[0]] for row in tree._as_given))


def _steps(children: Any, records: Any, most: int, in_order: bool, named: int) -> Any:
    """For each level in between, from the lowest up, the label of the group that holds each child: object array.

    `children`: object array (m,) of labels; `records`: of each, integer array (m,).
    """
    group, number = np.arange(len(children)), len(children)
    while number > most:
        joined = (_neighbours if in_order else _rarest)(np.bincount(group, records).astype(np.int64), most)
        group = joined[group]
        number = int(group.max()) + 1
        yield _labels(children, records, group, in_order, named)[group]


def _rarest(sums: Any, most: int) -> Any:
    """In which group each group of `sums` records is: `most` in one, which have as many as others as far as it goes."""
    joined = np.empty(len(sums), dtype=np.intp)
    joined[np.argsort(sums, kind="stable")] = np.arange(len(sums)) // most
    return joined


def _neighbours(sums: Any, most: int) -> Any:
    """The same of neighbours with few records: a `most`-th of as many groups."""
    found = [(records, 1) for records in sums.tolist()]
    while len(found) > -(-len(sums) // most):
        pairs = [(a[0] + b[0], place) for place, (a, b) in enumerate(pairwise(found)) if a[1] + b[1] <= AT_ONCE]
        if not pairs:
            break
        place = min(pairs)[1]
        found[place : place + 2] = [tuple(a + b for a, b in zip(*found[place : place + 2], strict=True))]
    return np.repeat(np.arange(len(found)), [groups for _, groups in found])


def _labels(children: Any, records: Any, group: Any, in_order: bool, named: int) -> Any:
    """The label of each group: object array (groups,). `group`: of each child, integer array (m,)."""
    sizes = np.bincount(group)
    ends = np.cumsum(sizes)
    members = children[np.argsort(group, kind="stable")]
    most = np.lexsort([-records, group])[ends - sizes]  # the commonest; of equally common ones the first
    rarest = np.minimum.reduceat(records[np.argsort(group, kind="stable")], ends - sizes)
    found = np.empty(len(sizes), dtype=object)
    for place, (size, end) in enumerate(zip(sizes.tolist(), ends.tolist(), strict=True)):
        if size <= LISTED and rarest[place] >= named:
            found[place] = "|".join(members[end - size : end])
        elif in_order:
            found[place] = f"{members[end - size]} to {members[end - 1]}"
        elif records[most[place]] >= named:
            found[place] = f"{children[most[place]]} and {size - 1} others"
        else:
            found[place] = f"{size} rare ones ({place + 1} of {len(sizes)})"
    return found
