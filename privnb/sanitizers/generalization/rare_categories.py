"""Categories that few records have, published under a label that more of them share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy
from privnb.microdata.rows import Microdata
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import categorical


@dataclass(frozen=True)
class RareCategories(Sanitizer):
    """Give each category of a quasi-identifier that fewer than `fewest` records have a broader label, the same one
    wherever it stands.

    In a taxonomy a rare label climbs a level until each label that is published stands for enough records: common
    values stay as they are beside it. Without a taxonomy the rare ones become one "other" group, whose label lists
    them. A label must be one that the attribute's hierarchy knows, for a label that nobody can look up would be no
    generalization: so in a hierarchy of one level the group is `*`. Numbers are published as they are. Classes may
    still be of one record: nothing is claimed.

    Parameters
    ----------
    fewest : int
        From 2. Where the whole table has fewer records, every category is `*`.

    Source: Aggarwal and Yu 2008, section 3.4.2 and 8.2.1 (global recoding, the least frequent categories merged);
    Willenborg and de Waal, "Elements of Statistical Disclosure Control", Springer 2001.
    """

    fewest: Annotated[int, at_least(2, "a category of one record is one person's")] = 100
    order_invariant = True
    title = "Recoding of rare categories"
    changes = "categories"
    global_recoding = True
    coded = True
    by_combinations = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        for attribute in categorical(self, dataset.schema):
            codes, hierarchy = dataset.codes[attribute.name], dataset.hierarchies[attribute.name]
            records = np.bincount(codes, dataset.times, hierarchy.size).astype(np.int64)
            labels = (_climbed if isinstance(hierarchy, Taxonomy) else _grouped)(hierarchy, records, self.fewest)
            if any(labels[each] != hierarchy.leaves[each] for each in np.flatnonzero(records)):
                table[attribute.name] = of_codes(codes, np.array(labels, dtype=object))
        return table, {}


def _climbed(tree: Taxonomy, records: IntArray, fewest: int) -> list[str]:
    """The label of each leaf, list: rare labels climb until none is. Leaves that nobody has keep their own."""
    leaves = np.flatnonzero(records)
    numbers, names = pd.factorize(np.array([tree.rows[leaf] for leaf in leaves], dtype=object).ravel())
    numbers, people, top = numbers.reshape(len(leaves), -1), records[leaves], names == SUPPRESSED
    level, place, first = np.zeros(len(leaves), dtype=np.int64), np.arange(len(leaves)), np.zeros(len(names), np.int64)
    while True:
        number = numbers[place, level]
        held = np.bincount(number, people, len(names))
        if ((held == 0) | (held >= fewest)).all() or held[top].sum() == people.sum():
            break
        first[number[::-1]] = place[::-1]
        rare = (held > 0) & (held < fewest) & ~top
        if rare.any():  # from the lowest level up, so that rare siblings meet at their parent before either climbs on
            lowest = level[first[rare]].min()
            chosen = rare[number] & (level[first[number]] == lowest)
            level[chosen] += 1
        else:  # what is rare at the top takes in the next rarest: nothing else can make it commoner
            others = np.flatnonzero((held > 0) & ~top)
            level[number == others[np.lexsort([first[others], held[others]])[0]]] = tree.height
    labels = list(tree.leaves)
    for leaf, name in zip(leaves, names[number], strict=True):
        labels[leaf] = name
    return labels


def _grouped(hierarchy: Any, records: IntArray, fewest: int) -> list[str]:
    """The label of each leaf, list: the rare ones have that of their group."""
    occurring = np.flatnonzero(records)
    order = occurring[np.lexsort([occurring, records[occurring]])]
    through = np.cumsum(records[order])
    rare = int((records[order] < fewest).sum())
    labels = list(hierarchy.leaves)
    if rare:
        # The group takes in the next rarest until it is common itself.
        number = max(rare, min(int(np.searchsorted(through, fewest)) + 1, len(order)))
        group = np.sort(order[:number])
        name = hierarchy.labels(group, np.zeros(len(group), dtype=np.int64))[0]
        for each in group:
            labels[each] = name
    return labels
