"""Trees with few children per node: rare siblings are merged, so that a rare value does not prevent a cut."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from privnb.microdata.hierarchy.categories import Taxonomy
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least, validated

LISTED = 3  # the maximum number of members that a label lists
AT_ONCE = 4  # the number of neighbors that one step joins, so that the rare end of an order soon becomes one group


@validated
def merge_siblings(
    tree: Taxonomy,
    counts: Mapping[str, int],
    most: Annotated[int, at_least(2)] = 3,
    in_order: bool = False,
    lowest: int = 0,
    named: Annotated[int, at_least(0)] = 0,
) -> Taxonomy:
    """Return the tree with additional levels, so that no node has many children.

    A node has at most `most` children or, if `in_order` is true, at most 4.

    Mondrian cuts a node if each child that occurs in the records contains at least k people. If `*` is the only level
    above the values, one rare value prevents all cuts. Siblings are therefore merged, at most `most` into one node,
    beginning with the rarest siblings.

    Parameters
    ----------
    tree : Taxonomy
    counts : Mapping of str to int
        The number of records of each leaf, which decides which siblings are merged. If the counts come from the records
        to be published, the tree discloses something about these records, like a bound that is read from them.
    most : int
        2 or more.
    in_order : bool
        Whether only neighboring siblings are merged, at most four into one node, beginning with the neighbors that have
        the fewest records.
    lowest : int
        The lowest level at which nodes are merged; 0 means the leaves, and -1 the children of `*`.
    named : int
        The minimum number of records of each value that a new label contains, because a rarer value may be the words of
        a single person. If a group has no such value, its label contains a number instead.

    Returns
    -------
    Taxonomy
        The tree with all levels of `tree` and the new levels. The label of a group of two or three members lists the
        members with | between them. The label of a larger group contains the first and the last member if `in_order` is
        true, and otherwise the most common member.

    Raises
    ------
    SchemaError
        If the tree already has the label that a new group would have.
    ValueError
        If `lowest` is not a level of the tree.

    >>> towns = {"Bonn": 30, "Köln": 60, "Trier": 2, "Ulm": 20, "Worms": 1}
    >>> merge_siblings(Taxonomy("town", tuple((town, "*") for town in towns)), towns).levels()
       level  groups  largest                    examples
    0      0       5        1      Bonn, Köln, Trier, ...
    1      1       2        3  Bonn|Köln, Trier|Ulm|Worms
    2      2       1        5                           *
    """
    if not -tree.height <= lowest < tree.height:
        raise UsageError(f"`lowest` must be a level of the tree below *, from 0 to {tree.height - 1}; got {lowest!r}.")
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
            for own, each in steps:  # a family with fewer steps uses the last steps
                if len(each) >= depth - step:
                    labels[own] = each[step - depth]
            found.append(labels[codes])
        found.append(upper)
    rows_by_leaf = dict(zip(levels[0], zip(*(level.tolist() for level in found), strict=True), strict=True))
    return Taxonomy(tree.name, tuple(rows_by_leaf[row[0]] for row in tree._as_given))


def _steps(children: Any, records: Any, most: int, in_order: bool, named: int) -> Any:
    """Yield, for each new level from the lowest up, the label of the group of each child, as an object array (m,).

    `children` is an object array (m,) of labels. `records`, an integer array (m,), is the number of records of each
    child.
    """
    group, number = np.arange(len(children)), len(children)
    while number > most:
        joined = (_neighbours if in_order else _rarest)(np.bincount(group, records).astype(np.int64), most)
        group = joined[group]
        number = int(group.max()) + 1
        yield _labels(children, records, group, in_order, named)[group]


def _rarest(sums: Any, most: int) -> Any:
    """Return the group of each item of `sums`: in sorted order, each `most` consecutive items form a group."""
    joined = np.empty(len(sums), dtype=np.intp)
    joined[np.argsort(sums, kind="stable")] = np.arange(len(sums)) // most
    return joined


def _neighbours(sums: Any, most: int) -> Any:
    """Return the group of each item of `sums`, an integer array (m,) of records.

    The two neighboring groups with the fewest records together are merged repeatedly, until at most m / `most` groups,
    rounded up, are left.
    """
    found = [(records, 1) for records in sums.tolist()]
    while len(found) > -(-len(sums) // most):
        pairs = [(a[0] + b[0], place) for place, (a, b) in enumerate(pairwise(found)) if a[1] + b[1] <= AT_ONCE]
        if not pairs:
            break
        place = min(pairs)[1]
        found[place : place + 2] = [tuple(a + b for a, b in zip(*found[place : place + 2], strict=True))]
    return np.repeat(np.arange(len(found)), [groups for _, groups in found])


def _labels(children: Any, records: Any, group: Any, in_order: bool, named: int) -> Any:
    """Return the label of each group, as an object array (groups,).

    `group`, an integer array (m,), holds the group of each child.
    """
    sizes = np.bincount(group)
    ends = np.cumsum(sizes)
    members = children[np.argsort(group, kind="stable")]
    most = np.lexsort([-records, group])[ends - sizes]  # the most common child, or the first of several
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
