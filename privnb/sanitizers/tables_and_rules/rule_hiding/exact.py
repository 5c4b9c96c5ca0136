"""An integer program that hides rules with the smallest possible number of deletions.

Records that agree in all relevant items are counted, not listed: the unknowns are the numbers of records of each kind
that lose each set of items.

Source: Menon, Sarkar, Mukherjee, "Maximizing Accuracy of Shared Databases when Concealing Sensitive Patterns",
Information Systems Research 16(3), 2005; Aggarwal and Yu 2008, chapter 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from privnb.miners.baskets import Baskets
from privnb.runtime.validation import Positive, Share, validated
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.tables_and_rules.rule_hiding.heuristics import Rules, SomeBaskets, Task, find_supporting

SECONDS = 60


class HiddenRules(NamedTuple):
    """Baskets in which rules are hidden.

    Attributes
    ----------
    baskets : Baskets
        The changed baskets.
    deleted : int
        The number of deleted items.
    gap : float
        The optimality gap: the share by which the smallest sufficient number of deletions may be lower than `deleted`;
        0 if this number cannot be lower.
    """

    baskets: Baskets
    deleted: int
    gap: float


@validated
def hide_exactly(baskets: SomeBaskets, rules: Rules, *, support: Share, seconds: Positive = SECONDS) -> HiddenRules:
    """Delete the smallest number of items so that no itemset of the rules is frequent; return the changed baskets.

    Parameters
    ----------
    baskets : Baskets
        The original baskets, which stay unchanged.
    rules : list of Rule
        The rules to hide.
    support : float
        The share of records from which an itemset is frequent, see `hide`.
    seconds : float
        The time limit in seconds, above 0. After this time, the function returns the best solution so far, with its
        gap.

    Returns
    -------
    HiddenRules

    Raises
    ------
    SanitizationError
        If no solution was found in time.
    ValueError
        If an item is unknown, or if a threshold is out of range.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    task = Task.of(baskets, rules, support, 1.0)
    places = sorted({place for itemset in task.itemsets for place in itemset})
    kinds, kind, sizes = np.unique(baskets.has[:, places], axis=0, return_inverse=True, return_counts=True)
    options: list[tuple[int, set[int]]] = []  # the kind of record and the items to delete, by unknown
    loses = []
    for number, there in enumerate(kinds):
        held = [set(itemset) for itemset in task.itemsets if {*itemset} <= {*np.array(places)[there].tolist()}]
        for gone in _breaking(held):
            options.append((number, gone))
            loses.append([set(itemset) in held and not gone.isdisjoint(itemset) for itemset in task.itemsets])
    group = np.array([number for number, _ in options], dtype=int)
    of_group = coo_array((np.ones(len(group)), (group, np.arange(len(group)))), (len(sizes), len(group)))
    wanted = [find_supporting(baskets.has, itemset).sum() - task.least + 1 for itemset in task.itemsets]
    lost = np.array(loses, dtype=float).reshape(-1, len(wanted)).T
    found = milp(
        np.array([len(gone) for _, gone in options], dtype=float),
        constraints=[LinearConstraint(of_group.tocsr(), ub=sizes), LinearConstraint(lost, lb=wanted)],
        integrality=np.ones(len(group)),
        bounds=Bounds(0, sizes[group].astype(float)),
        options={"time_limit": float(seconds)},
    )
    if found.x is None:
        raise SanitizationError(
            f"no solution that hides {len(task.itemsets)} itemsets was found in {seconds:g} seconds. Raise "
            "`seconds`, or give fewer rules."
        )
    has = baskets.has.copy()
    left = [
        np.flatnonzero(kind.ravel() == number).tolist() for number in range(len(sizes))
    ]  # the first records of each kind
    for (number, gone), many in zip(options, np.rint(found.x).astype(int), strict=True):
        has[np.ix_(left[number][:many], sorted(gone))] = False
        del left[number][:many]
    deleted = int(baskets.has.sum() - has.sum())
    return HiddenRules(replace(baskets, has=has), deleted, float(getattr(found, "mip_gap", 0.0) or 0.0))


def _breaking(held: Sequence[set[int]]) -> Iterator[set[int]]:
    """Yield sets of items that are worth deleting together from a record that has the sensitive itemsets `held`.

    Each item of a set breaks an itemset that no other item of the set breaks.
    """
    among = sorted(set().union(*held)) if held else []
    for size in range(1, len(held) + 1):
        for gone in map(set, combinations(among, size)):
            if all(any(each & gone == {item} for each in held) for item in gone):
                yield gone
