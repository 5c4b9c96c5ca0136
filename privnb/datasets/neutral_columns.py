"""Neutral columns, whose exact values single people out: how many people are unique in such a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.microdata.counts import count_people_among, count_people_by_group, group_codes
from privnb.microdata.schema import Role
from privnb.microdata.withholding import Margin, is_few, suppress
from privnb.runtime.arrays import IntArray


class UniquePeople(NamedTuple):
    """The numbers of people who are unique in a neutral column.

    `alone` is the number of people of whom a value of the column belongs to nobody else, and `together` the same number
    for the values of the column and of all quasi-identifiers together. A number that concerns fewer than ten people, or
    all but fewer than ten of the `people` of the table, is None, and so is a number from which such a number follows.
    """

    name: str
    people: int
    alone: int | None
    together: int | None
    few_others: bool  # whether `together` is withheld because it is all but a few people


def find_unique_people(cells: pd.DataFrame, roles: Mapping[str, Role]) -> list[UniquePeople]:
    """Return the neutral columns in which somebody is unique together with the quasi-identifiers.

    Parameters
    ----------
    cells : DataFrame
        The records, with each column as a Categorical. A missing value counts as one more value.
    roles : dict of str to Role
        The role of each column. If a column is the key of people, people are counted, and otherwise records.

    Returns
    -------
    list of UniquePeople
        The column in which most people are unique comes first.
    """
    neutral = [name for name, role in roles.items() if role is Role.NEUTRAL]
    if not neutral or not len(cells):
        return []
    known = [_codes(cells[name]) for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    keys = [_codes(cells[name]) for name, role in roles.items() if role is Role.PERSON]
    people = np.unique(keys[0], return_inverse=True)[1] if keys else None
    total = len(cells) if people is None else int(people.max()) + 1
    groups = [_group(known)] if known else []
    found = []
    for name in neutral:
        own = _codes(cells[name])
        alone, together = _count_unique([own], people), _count_unique([own, *groups], people)
        if together:
            counts = {"together": together, "alone": alone}
            margins = [Margin(total, ("together",)), Margin(total, ("alone",)), Margin("together", ("alone",))]
            hidden = suppress(counts, margins)
            shown = {each: None if each in hidden else count for each, count in counts.items()}
            few_others = "together" in hidden and not is_few(together)
            found.append((together, UniquePeople(name, total, shown["alone"], shown["together"], few_others)))
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def _codes(column: pd.Series) -> IntArray:
    return column.cat.codes.to_numpy().astype(np.int64) + 1  # 0 is a missing value


def _group(columns: Sequence[IntArray]) -> IntArray:
    return group_codes(columns, [int(each.max()) + 1 for each in columns])[1]


def _count_unique(columns: Sequence[IntArray], people: IntArray | None) -> int:
    """Return the number of people with a combination of values that no other person has."""
    groups = _group(columns)
    return count_people_among(count_people_by_group(groups, people)[groups] == 1, people)
