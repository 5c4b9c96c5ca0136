"""Ways to hide rules one record at a time: which record is changed next, and which of its items goes.

- `1.a`, `1.b`, `2.a`, `2.b`, `2.c`: Dasseni et al. 2001, Verykios et al. 2004.
- `lattice`: Atallah et al. 1999.
- `naive`, `MinFIA`, `MaxFIA`, `IGA`: Oliveira and Zaiane 2002; `SWA`, `RRA`, `RA`: Oliveira and Zaiane 2003.
- `aggregate`, `disaggregate`, `hybrid`: Amiri 2007.

Source: Atallah, Elmagarmid, Ibrahim, Bertino, Verykios, "Disclosure Limitation of Sensitive Rules", KDEX 1999;
Verykios, Elmagarmid, Bertino, Saygin, Dasseni, "Association Rule Hiding", TKDE 16(4), 2004; Oliveira and Zaiane,
"Privacy Preserving Frequent Itemset Mining", 2002; the same, "Protecting Sensitive Knowledge by Data Sanitization",
ICDM 2003; Amiri, "Dare to Share", Decision Support Systems 43(1), 2007; Aggarwal and Yu 2008, chapter 11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor
from typing import Annotated, Any

import numpy as np

from privnb.miners.baskets import Baskets
from privnb.miners.rules import itemsets
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Randomness, Share, validated
from privnb.sanitizers.tables_and_rules.rule_hiding.sensitive import (
    Places,
    Rules,
    SomeBaskets,
    Task,
    changed,
    lengths,
    supporting,
)

WINDOW = 1000  # records that SWA looks at together


def _disclosure(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 <= value < 1):
        raise ValueError(f"{name} must be a share from 0 and below 1, got {expect.found(value)}.")


@validated
def hide(
    baskets: SomeBaskets,
    rules: Rules,
    *,
    way: str,
    support: Share,
    confidence: Share,
    margin: Any = 0.0,
    disclosure: Annotated[float, _disclosure] = 0.0,
    rng: Randomness = None,
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
        A rule is found from these shares on; above 0, at most 1.
    margin : float
        Rules are pushed below both by so much; from 0, below both.
    disclosure : float
        The share of the records with a sensitive itemset that stay as they are, 0 to 1, below 1: for the ways of
        Oliveira and Zaiane, which ask for no thresholds. 0 hides all.
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
    task = Task.of(baskets, rules, support, confidence, margin)
    has = baskets.has.copy()
    change, *more = WAYS[way]
    given = {"support": support, "baskets": baskets, "disclosure": disclosure, "rng": rng}
    change(has, task, *more, given)
    return changed(baskets, has)


def _rule_by_rule(has: BoolArray, task: Task, change: Callable[..., bool], given: Mapping[str, Any]) -> None:
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


def _lower_right(has: BoolArray, task: Task, left: Places, right: Places, both: int, own: int) -> bool:
    """The shortest records that the rule is true of lose an item of its right side, that which fewest records have."""
    return _lower(has, task, left, right, right, both, own)


def _lower_any(has: BoolArray, task: Task, left: Places, right: Places, both: int, own: int) -> bool:
    """The same with the items of both sides."""
    return _lower(has, task, left, right, left + right, both, own)


def _lower(has: BoolArray, task: Task, left: Places, right: Places, among: Places, both: int, own: int) -> bool:
    rows, frequency = np.flatnonzero(supporting(has, left + right)), has.sum(axis=0)
    victim = min(among, key=lambda place: (frequency[place], place))
    wanted = below = both - task.least + 1  # deletions until the support is below
    if victim in right:
        wanted = both - ceil(task.confidence * own - ROUNDING) + 1
    elif task.confidence < 1:  # the left side loses records, too
        wanted = floor((both - task.confidence * own) / (1 - task.confidence) + ROUNDING) + 1
    has[_shortest(has, rows)[: min(below, wanted)], victim] = False
    return True


def _shortest(has: BoolArray, rows: IntArray) -> IntArray:
    return rows[np.argsort(lengths(has[rows]), kind="stable")]


def _lower_itemsets(has: BoolArray, task: Task, round_robin: bool, given: Mapping[str, Any]) -> None:
    """2.b: each sensitive itemset loses its most frequent item in the shortest records; 2.c: its items in turn."""
    size = {places: (-len(places), -int(supporting(has, places).sum())) for places in task.itemsets}
    for places in sorted(task.itemsets, key=lambda places: size[places]):
        rows = np.flatnonzero(supporting(has, places))
        frequency = has.sum(axis=0)
        order = sorted(places, key=lambda place: (-frequency[place], place))
        chosen = (rows if round_robin else _shortest(has, rows))[: max(len(rows) - task.least + 1, 0)]
        victims = np.array(order if round_robin else order[:1])
        has[chosen, victims[np.arange(len(chosen)) % len(victims)]] = False


def _descend(has: BoolArray, task: Task, given: Mapping[str, Any]) -> None:
    """Down the lattice to the subset that most have, until one item is left; it goes where fewest pairs are touched."""
    pairs = _pairs(given["baskets"], given["support"])
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


def _by_conflict(has: BoolArray, task: Task, victims: Callable[..., Sequence[int]], given: Mapping[str, Any]) -> None:
    """A share of the records of each sensitive itemset, those with most such itemsets first, lose its victims."""
    sets = task.itemsets
    degree = _times(has, sets)
    rows_of = {places: np.flatnonzero(supporting(has, places)) for places in sets}
    frequency, shared = has.sum(axis=0), _shared(sets, has.sum(axis=0))
    for places in sets:
        rows = rows_of[places]
        chosen = rows[np.argsort(-degree[rows], kind="stable")][: _many(rows, given)]
        has[np.ix_(chosen, np.array(victims(places, frequency, shared)))] = False


def _many(rows: IntArray, given: Mapping[str, Any]) -> int:
    return ceil((1 - given["disclosure"]) * len(rows) - ROUNDING)


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


def _by_window(has: BoolArray, task: Task, given: Mapping[str, Any]) -> None:
    """SWA: window by window the shortest records lose the item that is in most of the sensitive itemsets there."""
    for start in range(0, len(has), WINDOW):
        window = has[start : start + WINDOW]
        supported = np.column_stack([supporting(window, places) for places in task.itemsets])
        inside = np.zeros((len(task.itemsets), has.shape[1]), dtype=int)
        for number, places in enumerate(task.itemsets):
            inside[number, list(places)] = 1
        times = supported.astype(int) @ inside
        size = lengths(window)
        for number, places in enumerate(task.itemsets):
            rows = np.flatnonzero(supported[:, number])
            chosen = rows[np.argsort(size[rows], kind="stable")][: _many(rows, given)]
            victim = np.array(places)[times[np.ix_(chosen, np.array(places))].argmax(axis=1)]
            window[chosen, victim] = False


def _in_turn(has: BoolArray, task: Task, drawn: bool, given: Mapping[str, Any]) -> None:
    """RRA: the items of a sensitive itemset take turns; RA: they are drawn."""
    rng = np.random.default_rng(given["rng"])
    for places, rows in [(places, np.flatnonzero(supporting(has, places))) for places in task.itemsets]:
        chosen = rows[: _many(rows, given)]
        turn = rng.integers(0, len(places), len(chosen)) if drawn else np.arange(len(chosen)) % len(places)
        has[chosen, np.array(places)[turn]] = False


def _by_ratio(has: BoolArray, task: Task, whole: str, given: Mapping[str, Any]) -> None:
    """The records that hold most sensitive for each other frequent itemset are emptied, or lose one item; hybrid."""
    frequent = [items for items in itemsets(given["baskets"], given["support"]) if items]
    others = [tuple(sorted(given["baskets"].places(items))) for items in frequent]
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
                    lost[place] = sum(
                        (supporting(has, p).astype(np.int32) for p in among), np.zeros(len(has), np.int32)
                    )
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
    "1.b": (_rule_by_rule, _lower_right),
    "2.a": (_rule_by_rule, _lower_any),
    "2.b": (_lower_itemsets, False),
    "2.c": (_lower_itemsets, True),
    "lattice": (_descend,),
    **{name: (_by_conflict, victims) for name, victims in VICTIMS.items()},
    "SWA": (_by_window,),
    "RRA": (_in_turn, False),
    "RA": (_in_turn, True),
    "aggregate": (_by_ratio, "record"),
    "disaggregate": (_by_ratio, "item"),
    "hybrid": (_by_ratio, "items of the record"),
}
