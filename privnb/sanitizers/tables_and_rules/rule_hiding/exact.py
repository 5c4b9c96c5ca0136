"""Hide rules with the fewest deletions that there are: an integer program.

Records alike in all items that matter are counted, not listed: the unknowns are how many of each kind lose which items.

Source: Menon, Sarkar, Mukherjee, "Maximizing Accuracy of Shared Databases when Concealing Sensitive Patterns",
Information Systems Research 16(3), 2005; Gkoulalas-Divanis and Verykios, "An Integer Programming Approach for Frequent
Itemset Hiding", CIKM 2006 (itemsets that stay frequent); Aggarwal and Yu 2008, chapter 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Annotated, Any, NamedTuple

import numpy as np

from privnb.miners.baskets import Baskets
from privnb.miners.rules import named
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.validation import Positive, Share, validated
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.tables_and_rules.rule_hiding.sensitive import (
    Places,
    Rules,
    SomeBaskets,
    Task,
    changed,
    supporting,
)

SECONDS = 60


Keep = Annotated[
    Sequence[frozenset[str]],
    lambda name, value: expect.kind(name, value, list, tuple, instead="Give itemsets as frozensets of items."),
]


class Hidden(NamedTuple):
    """The changed baskets; how many items were deleted; and the optimality gap, 0 where no fewer would do: the share by
    which fewer may do.
    """

    baskets: Baskets
    deleted: int
    gap: float


@validated
def hide_exactly(
    baskets: SomeBaskets, rules: Rules, *, support: Share, keep: Keep = (), seconds: Positive = SECONDS
) -> Hidden:
    """The baskets with the fewest items deleted for which no rule's itemset is frequent.

    Parameters
    ----------
    baskets : Baskets
        They stay as they are.
    rules : list of Rule
    support : float
        As of `hide`.
    keep : list of frozenset of str, optional
        Itemsets that are to stay frequent.
    seconds : float
        After so many the best that was found stands, with its gap; above 0.

    Returns
    -------
    Hidden

    Raises
    ------
    SanitizationError
        Where there is no solution: it names rules and itemsets that contradict each other, of which none can be left
        out. Or where none was found in time.
    ValueError
        For an unknown item, a threshold out of range, and an itemset to keep that is not frequent.
    """
    task = Task.of(baskets, rules, support, 1.0)
    kept = [tuple(sorted(baskets.places(sorted(_items(items))))) for items in keep]
    for places in kept:
        if (count := int(supporting(baskets.has, places).sum())) < task.least:
            raise ValueError(
                f"'{named(_names(baskets, places))}' shall stay frequent, and has {count} records of the "
                f"{task.least} that it needs. Leave it out."
            )
    program = _Program(baskets.has, task.itemsets, kept, task.least)
    found = program.solve(range(len(program.least)), seconds)
    if found.status == 2:
        raise SanitizationError(_contradiction(program, baskets, task, kept, seconds))
    if found.x is None:
        raise SanitizationError(
            f"no way to hide {len(task.itemsets)} itemsets was found in {seconds:g} seconds. Give more seconds, or "
            "fewer rules."
        )
    has = program.applied(baskets.has, np.rint(found.x).astype(int))
    gap = getattr(found, "mip_gap", 0.0) or 0.0
    return Hidden(changed(baskets, has), int(baskets.has.sum() - has.sum()), float(gap))


def _items(items: Any) -> Any:
    return expect.kind("keep[...]", items, frozenset, set, instead="Give itemsets as frozensets of items.")


def _names(baskets: Baskets, places: Places) -> frozenset[str]:
    return frozenset(baskets.items[place] for place in places)


class _Program:
    """Minimize the items deleted, such that sensitive itemsets lose enough records, and kept ones not too many."""

    def __init__(self, has: BoolArray, sensitive: Sequence[Places], kept: Sequence[Places], least: int) -> None:
        places = sorted({place for places in sensitive for place in places})
        watched = sorted({*places, *chain.from_iterable(kept)})
        patterns, self.group, sizes = np.unique(has[:, watched], axis=0, return_inverse=True, return_counts=True)
        self.group = self.group.ravel()
        column = {place: number for number, place in enumerate(watched)}
        self.options: list[tuple[int, set[int]]] = []  # of each unknown: its group, and the items that go
        rows = []
        wanted = [*((s, True) for s in sensitive), *((k, False) for k in kept)]
        for number, pattern in enumerate(patterns):
            held = [set(s) for s in sensitive if pattern[[column[p] for p in s]].all()]
            for gone in _breaking(held):
                self.options.append((number, gone))
                rows.append([pattern[[column[p] for p in s]].all() and not gone.isdisjoint(s) for s, _ in wanted])
        self.cost = np.array([len(gone) for _, gone in self.options], dtype=float)
        self.sizes = sizes
        self.sign = np.array([1 if hidden else -1 for _, hidden in wanted])
        counts = np.array([supporting(has, s).sum() for s, _ in wanted])
        # Sensitive: at least count - least + 1 records lose it. Kept: at most count - least do.
        self.least = np.where(self.sign > 0, counts - least + 1, -(counts - least))
        self.loses = np.array(rows, dtype=float).reshape(-1, len(wanted)).T * self.sign[:, np.newaxis]

    def solve(self, constraints: Iterable[int], seconds: float) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        group = np.array([number for number, _ in self.options], dtype=int)
        of_group = coo_array((np.ones(len(group)), (group, np.arange(len(group)))), (len(self.sizes), len(group)))
        chosen = list(constraints)
        limits = [LinearConstraint(of_group.tocsr(), ub=self.sizes)]
        if chosen:
            limits.append(LinearConstraint(self.loses[chosen], lb=self.least[chosen]))
        return milp(
            self.cost, constraints=limits, integrality=np.ones(len(group)),
            bounds=Bounds(0, self.sizes[group].astype(float)), options={"time_limit": float(seconds)},
        )  # fmt: skip

    def applied(self, has: BoolArray, numbers: IntArray) -> BoolArray:
        """The records with the items deleted: of those alike the first."""
        has, taken = has.copy(), dict[int, int]()
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(len(self.sizes)))
        for (group, gone), number in zip(self.options, numbers, strict=True):
            start = starts[group] + taken.get(group, 0)
            has[np.ix_(order[start : start + number], np.array(sorted(gone)))] = False
            taken[group] = taken.get(group, 0) + number
        return has


def _breaking(held: Sequence[set[int]]) -> Iterator[set[int]]:
    """Sets of items that are worth deleting together from a record with these sensitive itemsets: each item breaks one
    that no other item of the set does.
    """
    among = sorted(set().union(*held)) if held else []
    for size in range(1, len(held) + 1):
        for gone in map(set, combinations(among, size)):
            if all(any(each & gone == {item} for each in held) for item in gone):
                yield gone


def _contradiction(program: _Program, baskets: Baskets, task: Task, kept: Sequence[Places], seconds: float) -> str:
    """Which of the wishes contradict each other, so that none of those can be left out, in a sentence."""
    left = list(range(len(program.least)))
    for each in list(left):
        without = [other for other in left if other != each]
        if program.solve(without, seconds).status == 2:
            left = without
    sets = [*task.itemsets, *kept]
    hidden = [f"'{named(_names(baskets, sets[i]))}'" for i in left if program.sign[i] > 0]
    stay = [f"'{named(_names(baskets, sets[i]))}'" for i in left if program.sign[i] < 0]
    return (
        f"no deletion hides {' and '.join(hidden)} and keeps {' and '.join(stay)} frequent, with at least {task.least} "
        "records. Leave out one of them."
    )
