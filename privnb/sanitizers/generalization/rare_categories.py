"""Global recoding of rare categories: each rare category gets a label that more records share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy
from privnb.microdata.rows import Microdata
from privnb.runtime.arrays import IntArray
from privnb.runtime.deprecation import rename_parameters
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import require_categorical


@rename_parameters(fewest="min_records")
@dataclass(frozen=True)
class RareCategories(Sanitizer):
    """Replace categories of fewer than `min_records` records with broader labels, throughout the table.

    In a taxonomy, a rare label is replaced with its parent, level by level, until each published label has enough
    records; common labels under the same parent stay unchanged. Without a taxonomy, the rare categories form one
    "other" group, whose label lists these categories. Every published label must be a label of the attribute's
    hierarchy, so that readers can look up the label. In a hierarchy of one level, the label of the group is therefore
    `*`. Numbers are published unchanged. The release claims nothing, because a class may still be a single record.

    Parameters
    ----------
    min_records : int
        The minimum number of records of a label, at least 2. If the whole table has fewer records, every category is
        `*`.

    Source: Aggarwal and Yu 2008, section 3.4.2 and 8.2.1 (global recoding, the least frequent categories merged);
    Willenborg and de Waal, "Elements of Statistical Disclosure Control", Springer 2001.
    """

    min_records: Annotated[int, at_least(2, "a category of one record belongs to one person")] = 100
    order_invariant = True
    title = "Recoding of rare categories"
    changes = "categories"
    global_recoding = True
    coded = True
    by_combinations = True

    @property
    def key(self) -> str:
        """The text from which draws are derived."""
        return repr(self).replace("min_records=", "fewest=")

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        for attribute in require_categorical(self, dataset.schema):
            codes, hierarchy = dataset.codes[attribute.name], dataset.hierarchies[attribute.name]
            records = np.bincount(codes, dataset.times, hierarchy.size).astype(np.int64)
            labels = (_climbed if isinstance(hierarchy, Taxonomy) else _grouped)(hierarchy, records, self.min_records)
            if any(labels[each] != hierarchy.leaves[each] for each in np.flatnonzero(records)):
                table[attribute.name] = make_categorical(codes, np.array(labels, dtype=object))
        return table, {}


def _climbed(tree: Taxonomy, records: IntArray, min_records: int) -> list[str]:
    """Return the label of each leaf after rare labels have moved up; leaves that do not occur keep their own labels."""
    leaves = np.flatnonzero(records)
    numbers, names = pd.factorize(np.array([tree.rows[leaf] for leaf in leaves], dtype=object).ravel())
    numbers, people, top = numbers.reshape(len(leaves), -1), records[leaves], names == SUPPRESSED
    level, place, first = np.zeros(len(leaves), dtype=np.int64), np.arange(len(leaves)), np.zeros(len(names), np.int64)
    while True:
        number = numbers[place, level]
        held = np.bincount(number, people, len(names))
        if ((held == 0) | (held >= min_records)).all() or held[top].sum() == people.sum():
            break
        first[number[::-1]] = place[::-1]
        rare = (held > 0) & (held < min_records) & ~top
        if (
            rare.any()
        ):  # from the lowest level up, so that rare siblings meet at their parent before one of them climbs on
            lowest = level[first[rare]].min()
            chosen = rare[number] & (level[first[number]] == lowest)
            level[chosen] += 1
        else:  # a rare `*` absorbs the next rarest label, which is the only way to make it more common
            others = np.flatnonzero((held > 0) & ~top)
            level[number == others[np.lexsort([first[others], held[others]])[0]]] = tree.height
    labels = list(tree.leaves)
    for leaf, name in zip(leaves, names[number], strict=True):
        labels[leaf] = name
    return labels


def _grouped(hierarchy: Any, records: IntArray, min_records: int) -> list[str]:
    """Return the label of each leaf; rare leaves have the label of their group."""
    occurring = np.flatnonzero(records)
    order = occurring[np.lexsort([occurring, records[occurring]])]
    through = np.cumsum(records[order])
    rare = int((records[order] < min_records).sum())
    labels = list(hierarchy.leaves)
    if rare:
        # # The group absorbs the next rarest category until the group is common.
        number = max(rare, min(int(np.searchsorted(through, min_records)) + 1, len(order)))
        group = np.sort(order[:number])
        name = hierarchy.labels(group, np.zeros(len(group), dtype=np.int64))[0]
        for each in group:
            labels[each] = name
    return labels
