"""The items of a release, as an honest user counts them who reads it as it says it was made.

A label stands for each of its values alike. Noise by a public law is undone by the inverse of its matrix, and the law
that draws several columns together by that of its marginal. Cells that were changed by no known law are taken
literally, and so are rows that are nobody's.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, sections 2 and 5;
Aggarwal and Yu 2008, sections 10.2.5 and 10.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.noise.matrices import MOST, condition_number
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Jointly, Unreadable, of_column
from privnb.miners.baskets import Baskets, Weighted, categories, item, items_of
from privnb.miners.rules import Supports
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated


@validated
def released_items(dataset: Dataset, release: Release) -> Supports:
    """The items of a release, as `itemsets` mines them: the table's, as an honest user counts them there.

    Parameters
    ----------
    dataset : Dataset
        For its schema: which attributes have items.
    release : Release

    Returns
    -------
    Baskets, Weighted or JointItems
        Bit sets where every cell is read as one value, weights where it is not, see the top.

    Raises
    ------
    Unreadable
        For buckets, which say of nobody which value they have, for laws that cannot be undone, and for an attribute of
        more than 2,000 values.
    NotForThisTable
        For a table without categories.
    """
    schema, parts = dataset.schema, {}
    together: dict[tuple[str, ...], Jointly] = {}
    names = categories(schema)
    if long := [name for name in names if len(schema[name].categories.values) > MOST]:
        raise Unreadable(
            f"'{long[0]}' has {len(schema[long[0]].categories.values):,} possible values, each an item: at most "
            f"{MOST:,}. Give its public domain coarser ones, or leave it out."
        )
    for name in names:
        treatment = release.columns.get(name)
        bits = [item(name, value) for value in schema[name].categories.values]
        if all(bit in release.columns for bit in bits):  # MASK: each a column
            parts[name] = np.array([_undone(release, bit, release.schema[bit])[1] for bit in bits])
        elif treatment is None or treatment.kind == "bucketized":
            raise Unreadable(
                f"rules are counted row by row, and no row of {release.provenance.sanitizer} says its '{name}'. Mine a "
                "release with a cell for each."
            )
        elif treatment.kind in ("exact", "generalized", "suppressed"):
            parts[name] = _meant(release, name, schema[name])
        elif treatment.law is not None and treatment.law.together is None:
            parts[name] = _undone(release, name, schema[name])
        else:
            parts[name] = _literal(release, name, schema[name])
            if treatment.law is not None and (joint := treatment.law.together) is not None:
                together[joint.names] = joint
    items, kinds = items_of(schema)
    found: Supports
    weights = np.vstack([parts[name] for name in names])
    if ((weights == 0) | (weights == 1)).all():
        found = Baskets(items, np.ascontiguousarray(weights.T.astype(bool)), kinds)
    else:
        found = Weighted(items, kinds, weights)
    for joint in together.values():
        sizes = {name: size for name, size in zip(joint.names, joint.sizes, strict=True)}
        found = JointItems(found, _kept(joint), sizes)
    return found


@dataclass(frozen=True, eq=False, repr=False)
class JointItems:
    """Items of which some were drawn together: a record's values were kept, all of them, or replaced by any others.

    Of an itemset with n values possible for its replaceable items, kept with probability p, p of its true support is
    seen and (1 - p) / n of that of its other items. What is seen is so undone.

    Parameters
    ----------
    seen : Baskets or Weighted
    kept : float
        How likely a record was kept, above 0.
    sizes : dict of str to int
        How many values each attribute has that was drawn together.

    Source: Agrawal and Haritsa, ICDE 2005, section 5.
    """

    seen: Supports
    kept: float
    sizes: Mapping[Any, int]

    @property
    def items(self) -> tuple[str, ...]:
        return self.seen.items

    @property
    def kinds(self) -> Sequence[object] | None:
        return self.seen.kinds

    def __len__(self) -> int:
        return len(self.seen)

    def __repr__(self) -> str:
        return f"JointItems({self.seen!r}, kept {self.kept:.4g})"

    def counts(self, prefix: Sequence[int], last: IntArray) -> FloatArray:
        """As of `Baskets`, estimated."""
        seen = np.asarray(self.seen.counts(prefix, last), dtype=np.float64)
        kinds = self.kinds or ()
        changed = [place for place in prefix if kinds[place] in self.sizes]
        values = float(np.prod([self.sizes[kinds[place]] for place in changed], dtype=np.float64))
        others = tuple(place for place in prefix if place not in changed)
        sizes = np.array([self.sizes.get(kinds[place], 1) for place in last], dtype=np.float64)
        replaced = sizes > 1
        without = np.empty(len(last))
        without[replaced] = self._count(others)
        if (~replaced).any():
            if not changed:  # nothing of the itemset was drawn
                without[~replaced] = seen[~replaced]
            else:
                without[~replaced] = self.seen.counts(others, np.asarray(last)[~replaced])
        by_chance = np.where(replaced | bool(changed), (1 - self.kept) * without / (values * sizes), 0.0)
        return np.where(replaced | bool(changed), (seen - by_chance) / self.kept, seen)

    def _count(self, places: Sequence[int]) -> float:
        return float(self.seen.counts(places[:-1], np.array(places[-1:]))[0]) if places else float(len(self))


def _kept(joint: Jointly) -> float:
    """How likely a record is kept of a law that makes every other combination as likely as each other one."""
    law, size = joint.law, float(np.prod(joint.sizes, dtype=float))
    if not hasattr(law, "true"):
        raise Unreadable(f"{law}: only a matrix that is alike off its diagonal is undone for itemsets.")
    kept = (law.true * size - 1) / (size - 1)
    if not kept > ROUNDING:
        raise Unreadable(f"{law}: nothing of the records is left to undo.")
    return kept


def _undone(release: Release, name: str, attribute: Attribute) -> Any:
    """The weight of each value for each row, float array (values, n): its column of the inverse of the law's matrix."""
    values, law = attribute.categories.values, release.columns[name].noise_law
    with of_column(name):
        matrix = law.transition(len(values))
        if not np.isfinite(condition_number(matrix)):
            raise Unreadable(f"{law} makes values alike, so that it cannot be undone.")
    inverse = np.linalg.solve(matrix.T, np.eye(len(values)))  # a column is what it makes of one published row
    return inverse[:, attribute.categories.codes(release.cells[name])]


def _literal(release: Release, name: str, attribute: Attribute) -> Any:
    codes = attribute.categories.codes(release.cells[name])
    return np.eye(len(attribute.categories.values))[:, codes]


def _meant(release: Release, name: str, attribute: Attribute) -> Any:
    """The share of each value in each row's label, float array (values, n)."""
    hierarchy = release.hierarchies.get(name) or flat(attribute)
    codes, labels = release.coded(name)
    place = attribute.categories.codes(getattr(hierarchy, "leaves", attribute.categories.values))
    shares = np.zeros((len(attribute.categories.values), len(labels)))
    for number, label in enumerate(labels):
        covered = place[hierarchy.covered(label)]
        shares[covered, number] = 1 / len(covered)
    return shares[:, codes]
