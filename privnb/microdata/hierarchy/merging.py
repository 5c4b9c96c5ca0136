"""Trees of few branches: siblings are merged, so that one rare value does not forbid every cut of a node."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain, pairwise

from privnb.microdata import expect
from privnb.microdata.hierarchy.categories import Taxonomy

LISTED = 3  # a label of more members says how many there are
AT_ONCE = 4  # neighbours that are joined in one step: so the rare end of an order soon is one group


def merged(tree, counts, most=3, in_order=False, lowest=0):
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

    Returns
    -------
    Taxonomy
        With all levels of `tree`. A new label lists two or three members with | between them; of more it names the
        first and the last in their order, or without one the commonest.

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
    expect.kind("tree", tree, Taxonomy)
    expect.kind("counts", counts, Mapping)
    expect.whole("most", most, 2)
    expect.kind("in_order", in_order, bool)
    if not (expect.is_whole(lowest) and -tree.height <= lowest < tree.height):
        raise ValueError(f"lowest must be a level of the tree below *, 0 to {tree.height - 1}, got {lowest!r}.")
    rows = tree.rows
    levels = [[row[0] for row in rows]]
    for level, (lower, upper) in enumerate(pairwise(zip(*rows, strict=True))):
        records = Counter()
        for label, row in zip(lower, rows, strict=True):
            records[label] += counts.get(row[0], 0)
        families = {}
        for child, parent in dict.fromkeys(zip(lower, upper, strict=True)):
            families.setdefault(parent, []).append(child)
        steps = [list(_steps(children, records, most, in_order)) for children in families.values()]
        depth = max(map(len, steps)) if level >= lowest % tree.height else 0
        for step in range(depth):
            labels = {child: child for child in lower}
            for own in steps:  # a family of fewer steps takes the last ones
                labels |= own[step - depth] if len(own) >= depth - step else {}
            levels.append([labels[child] for child in lower])
        levels.append(upper)
    found = {row[0]: row for row in zip(*levels, strict=True)}
    return Taxonomy(tree.name, tuple(found[row[0]] for row in tree._as_given))


def _steps(children, records, most, in_order):
    """For each level in between, from the lowest up, the label of the group that holds each child."""
    place = {child: number for number, child in enumerate(children)}
    groups = [[child] for child in children]
    while len(groups) > most:
        groups = (_neighbours if in_order else _rarest)(groups, records, most)
        labels = [_label(sorted(group, key=place.get), records, in_order) for group in groups]
        yield {child: label for group, label in zip(groups, labels, strict=True) for child in group}


def _rarest(groups, records, most):
    """Groups of `most` groups, of as many records as each other as far as that goes."""
    ranked = sorted(groups, key=lambda group: sum(map(records.get, group)))
    return [[*chain(*ranked[first : first + most])] for first in range(0, len(ranked), most)]


def _neighbours(groups, records, most):
    """A `most`-th of as many groups, of neighbours with few records."""
    found = [(sum(map(records.get, group)), 1, group) for group in groups]
    while len(found) > -(-len(groups) // most):
        pairs = [(a[0] + b[0], place) for place, (a, b) in enumerate(pairwise(found)) if a[1] + b[1] <= AT_ONCE]
        if not pairs:
            break
        place = min(pairs)[1]
        found[place : place + 2] = [tuple(a + b for a, b in zip(*found[place : place + 2], strict=True))]
    return [group for *_, group in found]


def _label(group, records, in_order):
    if len(group) <= LISTED:
        return "|".join(group)
    return f"{group[0]} to {group[-1]}" if in_order else f"{max(group, key=records.get)} and {len(group) - 1} others"
