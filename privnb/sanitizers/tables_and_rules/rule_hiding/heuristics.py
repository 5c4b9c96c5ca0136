"""Ways to hide rules one record at a time: which record is changed next, and which of its items goes.

- `1.a`, `1.b`, `2.a`, `2.b`, `2.c`: Dasseni et al. 2001, Verykios et al. 2004.
- `lattice`: Atallah et al. 1999.
- `naive`, `MinFIA`, `MaxFIA`, `IGA`: Oliveira and Zaiane 2002; `SWA`, `RRA`, `RA`: Oliveira and Zaiane 2003.
- `aggregate`, `disaggregate`, `hybrid`: Amiri 2007.

`block` hides by unknowns: what is left is true, and nothing false is added (Saygin et al. 2001).

Source: Atallah, Elmagarmid, Ibrahim, Bertino, Verykios, "Disclosure Limitation of Sensitive Rules", KDEX 1999;
Verykios, Elmagarmid, Bertino, Saygin, Dasseni, "Association Rule Hiding", TKDE 16(4), 2004; Oliveira and Zaiane,
"Privacy Preserving Frequent Itemset Mining", 2002; the same, "Protecting Sensitive Knowledge by Data Sanitization",
ICDM 2003; Saygin, Verykios, Clifton, "Using Unknowns to Prevent Discovery of Association Rules", SIGMOD Record 30(4),
2001; Amiri, "Dare to Share", Decision Support Systems 43(1), 2007; Aggarwal and Yu 2008, chapter 11.
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
RULE = 'Rule.read("a, b => c") makes one.'


@dataclass(frozen=True, eq=False)
class Task:
    """Rules that shall not be found: by place in the baskets' columns, and the thresholds in records.

    `left`, `right`: lists of tuples of int, of each rule; `least`: count at which an itemset is frequent;
    `confidence`.
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
        """Raises ValueError for an unknown item, and a threshold out of range."""
        if baskets.unknown is not None:
            raise UsageError("baskets have blocked cells already. Hide rules of the original ones.")
        if not rules:
            raise UsageError("there are no rules to hide. Give one or more.")
        left, right = ([tuple(baskets.places(sorted(rule[side]))) for rule in rules] for side in (0, 1))
        return cls(baskets, support, left, right, max(1, ceil(support * len(baskets) - ROUNDING)), confidence)

    @property
    def itemsets(self) -> list[Places]:
        """The items of each rule, places, once each: a list of tuples."""
        return list(dict.fromkeys(tuple(sorted(a + b)) for a, b in zip(self.left, self.right, strict=True)))


def supporting(has: BoolArray, places: Sequence[int]) -> BoolArray:
    """Which records have all of these items: bool array (n,)."""
    return np.all(has[:, list(places)], axis=1)


def shortest(has: BoolArray, rows: IntArray) -> IntArray:
    """The rows in order of how many items they have, integer array."""
    return rows[np.argsort(np.count_nonzero(has[rows], axis=1), kind="stable")]


@validated
def hide(
    baskets: SomeBaskets, rules: Rules, *, way: str, support: Share, confidence: Share, rng: Randomness = None
) -> Baskets:
    """The baskets with items deleted, or added, so that the rules are no longer found.

    Not every way always succeeds: `1.a` may run out of records. How many rules stay, and what becomes of the others,
    `measures.rule_hiding.side_effects` says.

    Parameters
    ----------
    baskets : Baskets
        n records; they stay as they are.
    rules : list of Rule
        To be hidden.
    way : str
        One of `WAYS`.
    support, confidence : float
        A rule is found from these shares on; above 0, at most 1. The ways of Oliveira and Zaiane do not ask for them,
        and change every record with a sensitive itemset.
    rng : int, Generator or None
        For `RA`, which draws.

    Returns
    -------
    Baskets
        As many records, of which some may be empty.

    Raises
    ------
    ValueError
        For an unknown item or way, and for a threshold out of range.
    """
    expect.one_of("way", way, WAYS)
    has = baskets.has.copy()
    change, *more = WAYS[way]
    change(has, Task.of(baskets, rules, support, confidence), np.random.default_rng(rng), *more)
    return replace(baskets, has=has)


def _rule_by_rule(has: BoolArray, task: Task, rng: Generator, change: Callable[..., bool]) -> None:
    """1.a, 1.b and 2.a: one rule after the other; what is done for one may bring another back, so they start over."""
    moved = True
    while moved:
        moved = False
        for left, right in zip(task.left, task.right, strict=True):
            both, own = int(supporting(has, left + right).sum()), int(supporting(has, left).sum())
            if both >= task.least and both >= task.confidence * own - ROUNDING:
                moved |= change(has, task, left, right, both, own)


def _raise_left(has: BoolArray, task: Task, left: Places, right: Places, both: int, own: int) -> bool:
    """Records with part of the left side get the rest of it, so that the confidence falls."""
    wanted = floor(both / task.confidence + ROUNDING) - own + 1
    part = has[:, list(left)].sum(axis=1)
    fits = np.flatnonzero((part < len(left)) & ~supporting(has, right))
    chosen = fits[np.argsort(-part[fits], kind="stable")][:wanted]
    has[np.ix_(chosen, np.array(left))] = True
    return len(chosen) > 0


def _lower(has: BoolArray, task: Task, left: Places, right: Places, both: int, own: int, *, any_side: bool) -> bool:
    """The shortest records that the rule is true of lose an item, that which fewest records have: of the rule's right
    side, or of `any_side`.
    """
    rows, frequency = np.flatnonzero(supporting(has, left + right)), has.sum(axis=0)
    victim = min(left + right if any_side else right, key=lambda place: (frequency[place], place))
    wanted = below = both - task.least + 1  # deletions until the support is below
    if victim in right:
        wanted = both - ceil(task.confidence * own - ROUNDING) + 1
    elif task.confidence < 1:  # the left side loses records, too
        wanted = floor((both - task.confidence * own) / (1 - task.confidence) + ROUNDING) + 1
    has[shortest(has, rows)[: min(below, wanted)], victim] = False
    return True


def _lower_itemsets(has: BoolArray, task: Task, rng: Generator, round_robin: bool) -> None:
    """2.b: each sensitive itemset loses its most frequent item in the shortest records; 2.c: its items in turn."""
    size = {places: (-len(places), -int(supporting(has, places).sum())) for places in task.itemsets}
    for places in sorted(task.itemsets, key=lambda places: size[places]):
        rows = np.flatnonzero(supporting(has, places))
        frequency = has.sum(axis=0)
        order = sorted(places, key=lambda place: (-frequency[place], place))
        chosen = (rows if round_robin else shortest(has, rows))[: max(len(rows) - task.least + 1, 0)]
        victims = np.array(order if round_robin else order[:1])
        has[chosen, victims[np.arange(len(chosen)) % len(victims)]] = False


def _descend(has: BoolArray, task: Task, rng: Generator) -> None:
    """Down the lattice to the subset that most have, until one item is left; it goes where fewest pairs are touched."""
    pairs = _pairs(task.baskets, task.support)
    for places in sorted(task.itemsets, key=lambda places: -int(supporting(has, places).sum())):
        subset = places
        while len(subset) > 1:
            smaller = [tuple(p for p in subset if p != out) for out in subset]
            subset = max(smaller, key=lambda each: int(supporting(has, each).sum()))
        (victim,) = subset
        rows = np.flatnonzero(supporting(has, places))
        touched = has[rows][:, pairs[victim]].sum(axis=1)
        has[rows[np.argsort(touched, kind="stable")][: max(len(rows) - task.least + 1, 0)], victim] = False


def _pairs(baskets: Baskets, support: float) -> BoolArray:
    """Bool array (items, items): which pairs of items are frequent."""
    found = np.zeros((len(baskets.items), len(baskets.items)), dtype=bool)
    for items in itemsets(baskets, support, most=2):
        if len(items) == 2:
            a, b = baskets.places(items)
            found[a, b] = found[b, a] = True
    return found


def _lose(has: BoolArray, task: Task, rng: Generator, victims: Callable[..., Sequence[int]]) -> None:
    """The records of each sensitive itemset lose its victims."""
    frequency, shared = has.sum(axis=0), _shared(task.itemsets, has.sum(axis=0))
    for places, rows in _held(has, task):
        has[np.ix_(rows, np.array(victims(places, frequency, shared)))] = False


def _held(has: BoolArray, task: Task) -> list[tuple[Places, IntArray]]:
    """Each sensitive itemset, and the records that have it now."""
    return [(places, np.flatnonzero(supporting(has, places))) for places in task.itemsets]


def _shared(sets: Sequence[Places], frequency: IntArray) -> dict[Places, int]:
    """IGA: of each itemset the item that it shares with most others; those that share it are one group."""
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
    """SWA: a record loses the item that is in most of its sensitive itemsets. All records with one are changed, so that
    it makes no difference how many are looked at together.
    """
    times = np.zeros(has.shape, dtype=int)
    held = _held(has, task)
    for places, rows in held:
        times[np.ix_(rows, np.array(places))] += 1
    for places, rows in held:
        has[rows, np.array(places)[times[np.ix_(rows, np.array(places))].argmax(axis=1)]] = False


def _in_turn(has: BoolArray, task: Task, rng: Generator, drawn: bool) -> None:
    """RRA: the items of a sensitive itemset take turns; RA: they are drawn."""
    for places, rows in _held(has, task):
        turn = rng.integers(0, len(places), len(rows)) if drawn else np.arange(len(rows)) % len(places)
        has[rows, np.array(places)[turn]] = False


def _by_ratio(has: BoolArray, task: Task, rng: Generator, whole: str) -> None:
    """The records that hold most sensitive for each other frequent itemset are emptied, or lose one item; hybrid."""
    frequent = [items for items in itemsets(task.baskets, task.support) if items]
    others = [tuple(sorted(task.baskets.places(items))) for items in frequent]
    others = [places for places in others if places not in task.itemsets]
    cost = _times(has, others)
    lost: dict[int, IntArray] = {}  # of each item the frequent itemsets that go with it, by record
    while open_ := [places for places in task.itemsets if supporting(has, places).sum() >= task.least]:
        supported = np.column_stack([supporting(has, places) for places in open_])
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
        wanted = np.array([supporting(has, places).sum() - task.least + 1 for places in open_])
        # Until the first of them is hidden: then what is worth deleting is another record.
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
    """How many of the itemsets each record has, integer array (n,)."""
    return sum((supporting(has, places).astype(np.int32) for places in sets), np.zeros(len(has), np.int32))


def _goes(supported: BoolArray, victim: IntArray, open_: Sequence[Places], whole: str) -> BoolArray:
    """Which sensitive itemsets a record loses when it is changed: bool array (rows, itemsets)."""
    if whole != "item":
        return supported
    member = np.zeros((len(open_), int(max(map(max, open_))) + 1), dtype=bool)
    for number, places in enumerate(open_):
        member[number, list(places)] = True
    return supported & member[:, victim].T


def _breaking(held: Sequence[Places]) -> list[int]:
    """Items that break all these itemsets, one after the other those that break most: a list."""
    found, held = [], list(held)
    while held:
        among = sorted({place for places in held for place in places})
        best = max(among, key=lambda p: (sum(p in places for places in held), -p))
        found.append(best)
        held = [places for places in held if best not in places]
    return found


WAYS: dict[str, tuple[Any, ...]] = {
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
    """The baskets with cells that say nothing, so that the rules are no longer surely true of them.

    The shortest records that a rule is true of get an unknown in the place of one item of its right side, that which
    fewest records have, until its least confidence or its least support is below the threshold. Beside each of them
    other records, which lack that item, get an unknown in its place, too: if all unknowns stood for items that are
    there, whoever fills them in would have the rules again. Of a table the cell is blocked, so that no value of that
    attribute is left: its other values would say which it is.

    Parameters
    ----------
    baskets : Baskets
        They stay as they are.
    rules : list of Rule
    support, confidence : float
        As of `hide`.
    zeros : int
        From 0: of so many records that lack the item the cell is blocked for each that has it, as far as there are
        some. They are the first that have all other items of the rule, which an adversary would expect to have it, too.

    Returns
    -------
    Baskets
        With `unknown`.

    Raises
    ------
    ValueError
        As of `hide`.
    """
    task = Task.of(baskets, rules, support, confidence)
    has, unknown = baskets.has.copy(), np.zeros_like(baskets.has)
    for left, right in zip(task.left, task.right, strict=True):
        rows = np.flatnonzero(supporting(has, left + right))
        frequency = baskets.has.sum(axis=0)
        victim = min(right, key=lambda place: (frequency[place], place))
        largest = int(supporting(has | unknown, left).sum())
        wanted = min(len(rows) - task.least, len(rows) - np.ceil(task.confidence * largest - ROUNDING)) + 1
        chosen = shortest(has, rows)[: max(int(wanted), 0)]
        others = [place for place in left + right if place != victim]
        lacking = np.flatnonzero(~baskets.has[:, victim] & ~unknown[:, victim])
        order = np.argsort(~supporting(baskets.has[lacking], others), kind="stable")
        beside = lacking[order][: zeros * len(chosen)]
        cells = np.ix_(np.concatenate([chosen, beside]), np.array(_cell(baskets, victim)))
        has[cells], unknown[cells] = False, True
    return replace(baskets, has=has, unknown=unknown)


def _cell(baskets: Baskets, place: int) -> list[int]:
    """The items of which the cell of a table with this item tells: a list of int."""
    if baskets.kinds is None:
        return [place]
    return [other for other, kind in enumerate(baskets.kinds) if kind == baskets.kinds[place]]
