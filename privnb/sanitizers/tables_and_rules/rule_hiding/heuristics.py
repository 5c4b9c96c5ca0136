"""Heuristics that hide rules one record at a time: they choose the next record to change and the items to delete.

- `1.a`, `1.b`, `2.a`, `2.b`, `2.c`: Dasseni et al. 2001, Verykios et al. 2004.
- `lattice`: Atallah et al. 1999.
- `naive`, `MinFIA`, `MaxFIA`, `IGA`: Oliveira and Zaiane 2002; `SWA`, `RRA`, `RA`: Oliveira and Zaiane 2003.
- `aggregate`, `disaggregate`, `hybrid`: Amiri 2007.

`block` hides rules by unknown cells: all other cells stay true, and no false cell is added (Saygin et al. 2001).

Source: Atallah, Elmagarmid, Ibrahim, Bertino, Verykios, "Disclosure Limitation of Sensitive Rules", KDEX 1999;
Verykios, Elmagarmid, Bertino, Saygin, Dasseni, "Association Rule Hiding", TKDE 16(4), 2004; Oliveira and Zaiane,
"Privacy Preserving Frequent Itemset Mining", 2002; Oliveira and Zaiane, "Protecting Sensitive Knowledge by Data
Sanitization", ICDM 2003; Saygin, Verykios, Clifton, "Using Unknowns to Prevent Discovery of Association Rules", SIGMOD
Record 30(4), 2001; Amiri, "Dare to Share", Decision Support Systems 43(1), 2007; Aggarwal and Yu 2008, chapter 11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, floor
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from privnb.miners.baskets import Baskets
from privnb.miners.rules import Rule, itemsets
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Randomness, Seed, Share, instead, validated

Places = tuple[int, ...]  # columns of the items of an itemset
SomeBaskets = Annotated[Baskets, instead(Baskets, "`Baskets.of_table(dataset)` gives those of a table.")]
Rules = Annotated[Sequence[Rule], lambda name, value: expect.all_of(name, value, Rule, instead=RULE)]
RULE = 'Try Rule.read("a, b => c").'


@dataclass(frozen=True, eq=False)
class Task:
    """Rules that must not be found, and the thresholds from which itemsets and rules are found.

    Attributes
    ----------
    left, right : list of tuple of int
        The columns of the items on each side of each rule.
    least : int
        The count from which an itemset is frequent.
    confidence : float
        The confidence from which a rule is found.
    """

    baskets: Baskets
    support: float
    left: list[Places]
    right: list[Places]
    least: int
    confidence: float

    @classmethod
    @validated
    def of(cls, baskets: SomeBaskets, rules: Rules, support: Share, confidence: Share) -> Task:
        """Return the task. Raises ValueError if an item is unknown, or if a threshold is out of range."""
        if baskets.unknown is not None:
            raise UsageError("`baskets` must not have blocked cells. Give the original baskets.")
        if not rules:
            raise UsageError("`rules` must contain at least one rule; got none.")
        left, right = ([tuple(baskets.places(sorted(rule[side]))) for rule in rules] for side in (0, 1))
        return cls(baskets, support, left, right, max(1, ceil(support * len(baskets) - ROUNDING)), confidence)

    @property
    def itemsets(self) -> list[Places]:
        """The different itemsets of the rules, as a list of tuples of columns."""
        return list(dict.fromkeys(tuple(sorted(a + b)) for a, b in zip(self.left, self.right, strict=True)))


def find_supporting(has: BoolArray, places: Sequence[int]) -> BoolArray:
    """Return, as a boolean array (n,), whether each record has all the given items."""
    return np.all(has[:, list(places)], axis=1)


def sort_by_length(has: BoolArray, rows: IntArray) -> IntArray:
    """Return the rows, as an integer array, in ascending order of their number of items."""
    return rows[np.argsort(np.count_nonzero(has[rows], axis=1), kind="stable")]


@validated
def hide(
    baskets: SomeBaskets, rules: Rules, *, way: str, support: Share, confidence: Share, rng: Randomness = None
) -> Baskets:
    """Delete or add items so that the rules are no longer found; return the changed baskets.

    Not every method always succeeds: `1.a` may run out of records. `measures.rule_hiding.side_effects` reports the
    number of rules that remain, and the effect on other rules.

    Parameters
    ----------
    baskets : Baskets
        The original baskets of n records, which stay unchanged.
    rules : list of Rule
        The rules to hide.
    way : str
        One of `HIDING_METHODS`.
    support, confidence : float
        A rule is found if it reaches these shares, above 0 and at most 1. The methods of Oliveira and Zaiane do not use
        these shares and change every record with a sensitive itemset.
    rng : int, Generator or None
        The source of random draws for `RA`.

    Returns
    -------
    Baskets
        The same number of records; some of them may be empty.

    Raises
    ------
    ValueError
        If an item or the method is unknown, or if a threshold is out of range.
    """
    expect.one_of("way", way, HIDING_METHODS)
    has = baskets.has.copy()
    change, *more = HIDING_METHODS[way]
    change(has, Task.of(baskets, rules, support, confidence), np.random.default_rng(rng), *more)
    return replace(baskets, has=has)


def _rule_by_rule(has: BoolArray, task: Task, rng: Generator, change: Callable[..., bool]) -> None:
    """Hide one rule after another (1.a, 1.b and 2.a).

    A change for one rule may make another rule appear again, so the loop is repeated until it changes no more records.
    """
    moved = True
    while moved:
        moved = False
        for left, right in zip(task.left, task.right, strict=True):
            both, own = int(find_supporting(has, left + right).sum()), int(find_supporting(has, left).sum())
            if both >= task.least and both >= task.confidence * own - ROUNDING:
                moved |= change(has, task, left, right, both, own)


def _raise_left(has: BoolArray, task: Task, left: Places, right: Places, both: int, own: int) -> bool:
    """Add the missing items of the left side to records that have part of this side, so that the confidence falls."""
    wanted = floor(both / task.confidence + ROUNDING) - own + 1
    part = has[:, list(left)].sum(axis=1)
    fits = np.flatnonzero((part < len(left)) & ~find_supporting(has, right))
    chosen = fits[np.argsort(-part[fits], kind="stable")][:wanted]
    has[np.ix_(chosen, np.array(left))] = True
    return len(chosen) > 0


def _lower(has: BoolArray, task: Task, left: Places, right: Places, both: int, own: int, *, any_side: bool) -> bool:
    """Delete the least frequent item of a rule from the shortest records that support the rule.

    The item is from the right side of the rule or, with `any_side`, from either side.
    """
    rows, frequency = np.flatnonzero(find_supporting(has, left + right)), has.sum(axis=0)
    victim = min(left + right if any_side else right, key=lambda place: (frequency[place], place))
    wanted = below = both - task.least + 1  # deletions until the support is below
    if victim in right:
        wanted = both - ceil(task.confidence * own - ROUNDING) + 1
    elif task.confidence < 1:  # the left side loses records too
        wanted = floor((both - task.confidence * own) / (1 - task.confidence) + ROUNDING) + 1
    has[sort_by_length(has, rows)[: min(below, wanted)], victim] = False
    return True


def _lower_itemsets(has: BoolArray, task: Task, rng: Generator, round_robin: bool) -> None:
    """Delete each itemset's most frequent item from its shortest records (2.b), or delete its items in turn (2.c)."""
    size = {places: (-len(places), -int(find_supporting(has, places).sum())) for places in task.itemsets}
    for places in sorted(task.itemsets, key=lambda places: size[places]):
        rows = np.flatnonzero(find_supporting(has, places))
        frequency = has.sum(axis=0)
        order = sorted(places, key=lambda place: (-frequency[place], place))
        chosen = (rows if round_robin else sort_by_length(has, rows))[: max(len(rows) - task.least + 1, 0)]
        victims = np.array(order if round_robin else order[:1])
        has[chosen, victims[np.arange(len(chosen)) % len(victims)]] = False


def _descend(has: BoolArray, task: Task, rng: Generator) -> None:
    """Descend the lattice to the most frequent subset until a single item is left; delete this item (lattice).

    The item is deleted from the records in which it is in the smallest number of frequent pairs.
    """
    pairs = _pairs(task.baskets, task.support)
    for places in sorted(task.itemsets, key=lambda places: -int(find_supporting(has, places).sum())):
        subset = places
        while len(subset) > 1:
            smaller = [tuple(p for p in subset if p != out) for out in subset]
            subset = max(smaller, key=lambda each: int(find_supporting(has, each).sum()))
        (victim,) = subset
        rows = np.flatnonzero(find_supporting(has, places))
        touched = has[rows][:, pairs[victim]].sum(axis=1)
        has[rows[np.argsort(touched, kind="stable")][: max(len(rows) - task.least + 1, 0)], victim] = False


def _pairs(baskets: Baskets, support: float) -> BoolArray:
    """Return, as a boolean array (items, items), whether each pair of items is frequent."""
    found = np.zeros((len(baskets.items), len(baskets.items)), dtype=bool)
    for items in itemsets(baskets, support, most=2):
        if len(items) == 2:
            a, b = baskets.places(items)
            found[a, b] = found[b, a] = True
    return found


def _lose(has: BoolArray, task: Task, rng: Generator, victims: Callable[..., Sequence[int]]) -> None:
    """Delete the victims of each sensitive itemset from the records that have the itemset."""
    frequency, shared = has.sum(axis=0), _shared(task.itemsets, has.sum(axis=0))
    for places, rows in _held(has, task):
        has[np.ix_(rows, np.array(victims(places, frequency, shared)))] = False


def _held(has: BoolArray, task: Task) -> list[tuple[Places, IntArray]]:
    """Return each sensitive itemset with the records that now have it."""
    return [(places, np.flatnonzero(find_supporting(has, places))) for places in task.itemsets]


def _shared(sets: Sequence[Places], frequency: IntArray) -> dict[Places, int]:
    """Return, for each itemset, the item that it shares with the most itemsets; these form one group (IGA)."""
    victim, left = dict[Places, int](), list(sets)
    while left:
        among = sorted({place for places in left for place in places})
        best = max(among, key=lambda p: (sum(p in places for places in left), -frequency[p], -p))
        victim |= {places: best for places in left if best in places}
        left = [places for places in left if best not in places]
    return victim


VICTIMS: dict[str, Callable[..., Sequence[int]]] = {
    "naive": lambda places, frequency, shared: places,
    "MinFIA": lambda places, frequency, shared: [min(places, key=lambda p: (frequency[p], p))],
    "MaxFIA": lambda places, frequency, shared: [max(places, key=lambda p: (frequency[p], -p))],
    "IGA": lambda places, frequency, shared: [shared[places]],
}


def _commonest(has: BoolArray, task: Task, rng: Generator) -> None:
    """Delete, from each sensitive itemset of a record, the item that is in most of these itemsets (SWA).

    All records with a sensitive itemset are changed, so the size of the window makes no difference.
    """
    times = np.zeros(has.shape, dtype=int)
    held = _held(has, task)
    for places, rows in held:
        times[np.ix_(rows, np.array(places))] += 1
    for places, rows in held:
        has[rows, np.array(places)[times[np.ix_(rows, np.array(places))].argmax(axis=1)]] = False


def _in_turn(has: BoolArray, task: Task, rng: Generator, drawn: bool) -> None:
    """Delete the items of a sensitive itemset in turn (RRA) or at random (RA)."""
    for places, rows in _held(has, task):
        turn = rng.integers(0, len(places), len(rows)) if drawn else np.arange(len(rows)) % len(places)
        has[rows, np.array(places)[turn]] = False


def _by_ratio(has: BoolArray, task: Task, rng: Generator, whole: str) -> None:
    """Empty the records with the most sensitive itemsets per other frequent itemset, or delete items from them.

    `whole`: "record" (aggregate), "item" (disaggregate) or "items of the record" (hybrid).
    """
    frequent = [items for items in itemsets(task.baskets, task.support) if items]
    others = [tuple(sorted(task.baskets.places(items))) for items in frequent]
    others = [places for places in others if places not in task.itemsets]
    cost = _times(has, others)
    lost: dict[int, IntArray] = {}  # the number of frequent itemsets with each item, by record
    while open_ := [places for places in task.itemsets if find_supporting(has, places).sum() >= task.least]:
        supported = np.column_stack([find_supporting(has, places) for places in open_])
        if whole == "item":
            best, victim = np.full(len(has), -1.0), np.zeros(len(has), dtype=int)
            for place in sorted({place for places in open_ for place in places}):
                if place not in lost:
                    among = [places for places in others if place in places]
                    lost[place] = _times(has, among)
                ratio = supported[:, [place in places for places in open_]].sum(axis=1) / (1 + lost[place])
                better = ratio > best
                best, victim = np.where(better, ratio, best), np.where(better, place, victim)
        else:
            best = supported.sum(axis=1) / (1 + cost)
            victim = np.zeros(len(has), dtype=int)
        order = np.argsort(-np.round(best, 9), kind="stable")
        order = order[supported[order].any(axis=1)]
        gone = np.cumsum(_goes(supported[order], victim[order], open_, whole), axis=0)
        wanted = np.array([find_supporting(has, places).sum() - task.least + 1 for places in open_])
        # Stop when the first itemset is hidden: another record is then the best choice.
        steps = int(np.where((gone >= wanted).any(axis=0), (gone >= wanted).argmax(axis=0), len(order)).min()) + 1
        rows = order[:steps]
        if whole == "record":
            has[rows] = False
        elif whole == "item":
            has[rows, victim[rows]] = False
        else:
            for row in rows:
                held = [places for places, own in zip(open_, supported[row], strict=True) if own]
                has[row, _breaking(held)] = False


def _times(has: BoolArray, sets: Sequence[Places]) -> IntArray:
    """Return the number of itemsets that each record has, as an integer array (n,)."""
    return sum((find_supporting(has, places).astype(np.int32) for places in sets), np.zeros(len(has), np.int32))


def _goes(supported: BoolArray, victim: IntArray, open_: Sequence[Places], whole: str) -> BoolArray:
    """Return, as a boolean array (rows, itemsets), which sensitive itemsets a changed record loses."""
    if whole != "item":
        return supported
    member = np.zeros((len(open_), int(max(map(max, open_))) + 1), dtype=bool)
    for number, places in enumerate(open_):
        member[number, list(places)] = True
    return supported & member[:, victim].T


def _breaking(held: Sequence[Places]) -> list[int]:
    """Return a list of items that break all these itemsets; each next item breaks the most of the rest."""
    found, held = [], list(held)
    while held:
        among = sorted({place for places in held for place in places})
        best = max(among, key=lambda p: (sum(p in places for places in held), -p))
        found.append(best)
        held = [places for places in held if best not in places]
    return found


HIDING_METHODS: dict[str, tuple[Any, ...]] = {
    "1.a": (_rule_by_rule, _raise_left),
    "1.b": (_rule_by_rule, partial(_lower, any_side=False)),
    "2.a": (_rule_by_rule, partial(_lower, any_side=True)),
    "2.b": (_lower_itemsets, False),
    "2.c": (_lower_itemsets, True),
    "lattice": (_descend,),
    **{name: (_lose, victims) for name, victims in VICTIMS.items()},
    "SWA": (_commonest,),
    "RRA": (_in_turn, False),
    "RA": (_in_turn, True),
    "aggregate": (_by_ratio, "record"),
    "disaggregate": (_by_ratio, "item"),
    "hybrid": (_by_ratio, "items of the record"),
}


@validated
def block(baskets: SomeBaskets, rules: Rules, *, support: Share, confidence: Share, zeros: Seed = 1) -> Baskets:
    """Make cells unknown so that the rules are no longer true with certainty; return the changed baskets.

    In the shortest records that support a rule, the least frequent item of the rule's right side becomes unknown, until
    the lowest possible confidence or support of the rule is below the threshold. For each of these records, the item
    also becomes unknown in `zeros` records that lack the item: if every unknown cell concealed an item, anyone could
    fill in the unknown cells and find the rules again. In a table, all values of the item's attribute become unknown,
    because the other values would disclose the hidden value.

    Parameters
    ----------
    baskets : Baskets
        The original baskets, which stay unchanged.
    rules : list of Rule
        The rules to hide.
    support, confidence : float
        A rule is found if it reaches these shares, above 0 and at most 1.
    zeros : int
        The number of records without the item in which the cell is blocked, for each such record with the item; at
        least 0. If possible, these records have all other items of the rule, so that an adversary would expect the item
        in these records. There may be too few such records.

    Returns
    -------
    Baskets
        The baskets with `unknown` cells.

    Raises
    ------
    ValueError
        If an item is unknown, or if a threshold is out of range.
    """
    task = Task.of(baskets, rules, support, confidence)
    has, unknown = baskets.has.copy(), np.zeros_like(baskets.has)
    for left, right in zip(task.left, task.right, strict=True):
        rows = np.flatnonzero(find_supporting(has, left + right))
        frequency = baskets.has.sum(axis=0)
        victim = min(right, key=lambda place: (frequency[place], place))
        largest = int(find_supporting(has | unknown, left).sum())
        wanted = min(len(rows) - task.least, len(rows) - np.ceil(task.confidence * largest - ROUNDING)) + 1
        chosen = sort_by_length(has, rows)[: max(int(wanted), 0)]
        others = [place for place in left + right if place != victim]
        lacking = np.flatnonzero(~baskets.has[:, victim] & ~unknown[:, victim])
        order = np.argsort(~find_supporting(baskets.has[lacking], others), kind="stable")
        unlike = lacking[order][: zeros * len(chosen)]
        cells = np.ix_(np.concatenate([chosen, unlike]), np.array(_cell(baskets, victim)))
        has[cells], unknown[cells] = False, True
    return replace(baskets, has=has, unknown=unknown)


def _cell(baskets: Baskets, place: int) -> list[int]:
    """Return a list of the items that belong to the same cell of a table as the given item."""
    if baskets.kinds is None:
        return [place]
    return [other for other, kind in enumerate(baskets.kinds) if kind == baskets.kinds[place]]
