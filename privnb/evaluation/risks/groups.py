"""Groups of people for whom a risk is measured separately.

The groups are categories of the table, and people with rare combinations. Small groups are merged, never left out.
People whose records are in several groups form a separate group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.dataset_summary import group_records
from privnb.evaluation.disclosure.nearer_predictions import choose_group_attributes
from privnb.microdata.counts import count_people_by_group, encode_values, group_codes
from privnb.runtime.arrays import BoolArray, IntArray

EVERYBODY = ""
RARE = "rare combinations"
OTHER_GROUPS = "other groups"
SEVERAL_GROUPS = "several"  # the group of people whose records are in several groups


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a dataset's people.

    Attributes
    ----------
    by_attribute : dict of str to (integer array (people,), list of str)
        The group of each person, and the names of the groups; the groups of one attribute cover all people.
    rare : boolean array (people,)
        Whether at least one of the person's records has a combination of quasi-identifiers that no other person has.
    """

    by_attribute: dict[str, Any]
    rare: np.ndarray

    def among(self, people: IntArray, min_count: int) -> list[dict[str, BoolArray]]:
        """Return the groups of `people`, an integer array (m,) that selects some of all people.

        The list has one `{name: boolean array (m,)}` for each attribute that divides these people, and one for the
        people with rare combinations. A group of fewer than `min_count` people is merged with the next smallest groups;
        only the group with rare combinations is never merged.
        """
        found = []
        for attribute, (number, labels) in self.by_attribute.items():
            named = _merge_small(number[people], labels, min_count)
            if len(named) > 1:
                found.append({f"{attribute}: {label}": chosen for label, chosen in named.items()})
        rare = self.rare[people]
        return [*found, {RARE: rare}] if rare.any() else found


def _merge_small(number: IntArray, labels: Sequence[str], min_count: int) -> dict[str, BoolArray]:
    """Return `{label: boolean array}` of the groups `number`, an integer array (m,), with small groups merged."""
    sizes = np.bincount(number, minlength=len(labels))
    order = [place for place in np.argsort(sizes, kind="stable") if sizes[place]]
    small = [place for place in order if sizes[place] < min_count]
    while small and sizes[small].sum() < min_count and len(small) < len(order):
        small.append(order[len(small)])
    kept = [place for place in range(len(labels)) if sizes[place] and place not in small]
    found = {labels[place]: number == place for place in kept}
    return found | ({OTHER_GROUPS: np.isin(number, small)} if small else {})


@lru_cache(maxsize=4)
def find_groups(dataset: Dataset) -> Groups:
    """Return the `Groups` of a dataset, by the attributes that `choose_group_attributes` returns."""
    by_attribute = {
        name: _group_people(group_records(dataset, name), dataset.people) for name in choose_group_attributes(dataset)
    }
    columns = [encode_values(dataset.cells[name]) for name in dataset.schema.quasi_identifiers]
    if not columns:
        return Groups(by_attribute, np.zeros(dataset.headcount, dtype=bool))
    _, alike = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    alone = count_people_by_group(alike, dataset.people)[alike] == 1
    return Groups(by_attribute, alone if dataset.people is None else np.bincount(dataset.people, alone) > 0)


def _group_people(column: pd.Series, people: IntArray | None) -> tuple[IntArray, list[str]]:
    """Return the group of each person, as an integer array, and the names of the groups."""
    codes, values = encode_values(column)
    labels = [str(value) for value in values]
    if people is None:
        return codes, labels
    least = np.full(int(people.max()) + 1, len(labels))
    most = np.zeros_like(least)
    np.minimum.at(least, people, codes)
    np.maximum.at(most, people, codes)
    return np.where(least == most, least, len(labels)), [*labels, SEVERAL_GROUPS]
