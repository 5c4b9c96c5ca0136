"""The items of a release, as an honest user who knows the sanitizer counts them.

All values of a label are equally likely. The counts are corrected for noise with a public distribution by the inverse
of the matrix of the noise, and for joint noise of several columns by the inverse of the marginal matrix. Cells with
noise of an unknown distribution and cells of synthetic rows are read unchanged.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, sections 2 and 5;
Aggarwal and Yu 2008, sections 10.2.5 and 10.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.noise.matrices import MAX_MATRIX_VALUES, condition_number
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Jointly, Unreadable, name_column
from privnb.miners.baskets import Baskets, Weighted, list_categorical, list_items, name_item
from privnb.miners.rules import Supports
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated


@validated
def list_released_items(dataset: Dataset, release: Release) -> Supports:
    """Return the items of a release as an honest user counts them, in a form that `itemsets` can mine.

    Parameters
    ----------
    dataset : Dataset
        The dataset, whose schema states which attributes have items.
    release : Release

    Returns
    -------
    Baskets, Weighted or JointItems
        Bit sets if every cell is read as one value; otherwise, weights.

    Raises
    ------
    Unreadable
        If the release has buckets (because buckets do not show the value of a person), if noise cannot be inverted, or
        if an attribute has more than 2,000 values.
    NotForThisTable
        If the table has no categories.
    """
    schema, parts = dataset.schema, {}
    together: dict[tuple[str, ...], Jointly] = {}
    names = list_categorical(schema)
    if long := [name for name in names if len(schema[name].categories.values) > MAX_MATRIX_VALUES]:
        raise Unreadable(
            f"'{long[0]}' has {len(schema[long[0]].categories.values):,} possible values; at most "
            f"{MAX_MATRIX_VALUES:,} can be items. Give the public domain coarser values, or leave out the attribute."
        )
    for name in names:
        treatment = release.columns.get(name)
        bits = [name_item(name, value) for value in schema[name].categories.values]
        if all(bit in release.columns for bit in bits):  # MASK publishes a column for each item
            parts[name] = np.array([_undone(release, bit, release.schema[bit])[1] for bit in bits])
        elif treatment is None or treatment.kind == "bucketized":
            raise Unreadable(
                f"rules are counted row by row, and rows of {release.provenance.sanitizer} do not show their '{name}'. "
                "Try a release that has a cell for each row."
            )
        elif treatment.kind in ("exact", "generalized", "suppressed"):
            parts[name] = _meant(release, name, schema[name])
        elif treatment.law is not None and treatment.law.together is None:
            parts[name] = _undone(release, name, schema[name])
        else:
            parts[name] = _literal(release, name, schema[name])
            if treatment.law is not None and (joint := treatment.law.together) is not None:
                together[joint.names] = joint
    items, kinds = list_items(schema)
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
    """Items under joint noise, which keeps all values of a record or replaces all values of the record at random.

    Let n be the number of possible combinations of the attributes with joint noise in an itemset, and p the probability
    that a record is kept. The support of the itemset in the release is p times the true support plus (1 - p) / n times
    the support of the itemset's other items. The true support is computed from this equation.

    Parameters
    ----------
    seen : Baskets or Weighted
    kept : float
        The probability that a record was kept, above 0.
    sizes : dict of str to int
        The number of values of each attribute with joint noise.

    Source: Agrawal and Haritsa, ICDE 2005, section 5.
    """

    seen: Supports
    kept: float
    sizes: Mapping[Any, int]

    @property
    def items(self) -> tuple[str, ...]:
        """Return the names of all items."""
        return self.seen.items

    @property
    def kinds(self) -> Sequence[object] | None:
        """Return the kind of each item, or None if items have no kinds."""
        return self.seen.kinds

    def __len__(self) -> int:
        return len(self.seen)

    def __repr__(self) -> str:
        return f"JointItems({self.seen!r}, kept {self.kept:.4g})"

    def counts(self, prefix: Sequence[int], last: IntArray) -> FloatArray:
        """Return the estimated true counts of itemsets; see `Baskets.counts`."""
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
            if not changed:  # no item of the itemset was drawn
                without[~replaced] = seen[~replaced]
            else:
                without[~replaced] = self.seen.counts(others, np.asarray(last)[~replaced])
        by_chance = np.where(replaced | bool(changed), (1 - self.kept) * without / (values * sizes), 0.0)
        return np.where(replaced | bool(changed), (seen - by_chance) / self.kept, seen)

    def _count(self, places: Sequence[int]) -> float:
        return float(self.seen.counts(places[:-1], np.array(places[-1:]))[0]) if places else float(len(self))


def _kept(joint: Jointly) -> float:
    """Return the probability that noise keeps a record; a record that is not kept becomes a random combination."""
    law, size = joint.law, float(np.prod(joint.sizes, dtype=float))
    if not hasattr(law, "true"):
        raise Unreadable(f"{law} cannot be inverted for itemsets, because its matrix is not constant off the diagonal.")
    kept = (law.true * size - 1) / (size - 1)
    if not kept > ROUNDING:
        raise Unreadable(f"{law} cannot be inverted, because this noise leaves no record as it was.")
    return kept


def _undone(release: Release, name: str, attribute: Attribute) -> Any:
    """Return the weight of each value in each row, (values, n), from the inverse of the matrix of the noise."""
    values, law = attribute.categories.values, release.columns[name].noise_law
    with name_column(name):
        matrix = law.transition(len(values))
        if not np.isfinite(condition_number(matrix)):
            raise Unreadable(f"{law} cannot be inverted, because this noise makes values indistinguishable.")
    inverse = np.linalg.solve(matrix.T, np.eye(len(values)))  # a column holds the weights of one published value
    return inverse[:, attribute.categories.codes(release.cells[name])]


def _literal(release: Release, name: str, attribute: Attribute) -> Any:
    codes = attribute.categories.codes(release.cells[name])
    return np.eye(len(attribute.categories.values))[:, codes]


def _meant(release: Release, name: str, attribute: Attribute) -> Any:
    """Return the share of each value among the values that each row's label covers, as a float array (values, n)."""
    hierarchy = release.hierarchies.get(name) or flat(attribute)
    codes, labels = release.coded(name)
    place = attribute.categories.codes(getattr(hierarchy, "leaves", attribute.categories.values))
    shares = np.zeros((len(attribute.categories.values), len(labels)))
    for number, label in enumerate(labels):
        covered = place[hierarchy.covered(label)]
        shares[covered, number] = 1 / len(covered)
    return shares[:, codes]
