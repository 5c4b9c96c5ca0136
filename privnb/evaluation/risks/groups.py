"""For whom a risk is measured apart: the table's own categories, and the people whose combination is theirs alone.

Small groups are merged, never left out. A person of whom several records say several things is in a group of those.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.disclosure.nearer_predictions import grouping
from privnb.evaluation.people import groups
from privnb.microdata.counts import coded, distinct_codes, people_in
from privnb.runtime.arrays import BoolArray, IntArray

EVERYBODY = ""
RARE = "rare combinations"
OTHERS = "other groups"
SEVERAL = "several"  # what a person's records say who has records in several groups


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a dataset's people.

    Attributes
    ----------
    by_attribute : dict of str to (integer array (people,), list of str)
        Which group each person is in, and the groups' names; the groups of one attribute are of everybody.
    rare : boolean array (people,)
        Whose combination of quasi-identifiers, of any of their records, no other person has.
    """

    by_attribute: dict[str, Any]
    rare: np.ndarray

    def among(self, people: IntArray, fewest: int) -> list[dict[str, BoolArray]]:
        """The groups of some of the people, integer array (m,): a list of `{name: boolean array (m,)}`, one per
        attribute that tells people apart, and one of the rare.

        A group of fewer than `fewest` of them, but for the rare, is merged with the next smallest ones.
        """
        found = []
        for attribute, (number, labels) in self.by_attribute.items():
            named = _merged(number[people], labels, fewest)
            if len(named) > 1:
                found.append({f"{attribute}: {label}": chosen for label, chosen in named.items()})
        rare = self.rare[people]
        return [*found, {RARE: rare}] if rare.any() else found


def _merged(number: IntArray, labels: Sequence[str], fewest: int) -> dict[str, BoolArray]:
    """`{label: boolean array}` of groups, integer array (m,), the small ones as one."""
    sizes = np.bincount(number, minlength=len(labels))
    order = [place for place in np.argsort(sizes, kind="stable") if sizes[place]]
    small = [place for place in order if sizes[place] < fewest]
    while small and sizes[small].sum() < fewest and len(small) < len(order):
        small.append(order[len(small)])
    kept = [place for place in range(len(labels)) if sizes[place] and place not in small]
    found = {labels[place]: number == place for place in kept}
    return found | ({OTHERS: np.isin(number, small)} if small else {})


@lru_cache(maxsize=4)
def groups_of(dataset: Dataset) -> Groups:
    """The `Groups` of a dataset: by the attributes of `nearer_predictions.grouping`, the first number in steps and
    quasi-identifiers of few categories.
    """
    by_attribute = {name: _of_people(groups(dataset, name), dataset.people) for name in grouping(dataset)}
    columns = [coded(dataset.cells[name]) for name in dataset.schema.quasi_identifiers]
    if not columns:
        return Groups(by_attribute, np.zeros(dataset.headcount, dtype=bool))
    _, alike = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    alone = people_in(alike, dataset.people)[alike] == 1
    return Groups(by_attribute, alone if dataset.people is None else np.bincount(dataset.people, alone) > 0)


def _of_people(column: pd.Series, people: IntArray | None) -> tuple[IntArray, list[str]]:
    """The group of each person, integer array, and the groups' names."""
    codes, values = coded(column)
    labels = [str(value) for value in values]
    if people is None:
        return codes, labels
    least = np.full(int(people.max()) + 1, len(labels))
    most = np.zeros_like(least)
    np.minimum.at(least, people, codes)
    np.maximum.at(most, people, codes)
    return np.where(least == most, least, len(labels)), [*labels, SEVERAL]
