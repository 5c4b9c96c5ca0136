"""Itemsets and association rules: what occurs together in many records.

A record is a set of items. Of a table an item is a value of an attribute, such as `sex=Male`. A rule X => Y has a
support, the share of records with all items of both sides, and a confidence, its share of the records with those of X.

Mined level by level (Apriori) on bit sets of numpy. mlxtend 0.25 finds the same itemsets of Adult in ten times as long
and would bring matplotlib with it.

Source: Agrawal and Srikant, "Fast Algorithms for Mining Association Rules", VLDB 1994; Aggarwal and Yu 2008, section
10.2.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Annotated, NamedTuple, Protocol, Self

import numpy as np

from privnb.microdata.schema import NotForThisTable
from privnb.miners.baskets import Baskets
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Count, Share, instead, optional, validated

ITEMS = 4  # in an itemset, at most, unless asked otherwise
ITEMSETS = 200_000  # at most: more are nobody's to read, and mostly noise


Items = frozenset[str]
Itemsets = Mapping[Items, float]


class Supports(Protocol):
    """Records of items, of which itemsets are counted: `Baskets`, `Weighted`, or what has their attributes."""

    @property
    def items(self) -> tuple[str, ...]: ...

    @property
    def kinds(self) -> Sequence[object] | None: ...

    def __len__(self) -> int: ...

    def counts(self, prefix: Sequence[int], last: IntArray) -> Array: ...


class Rule(NamedTuple):
    """Who has the items of `left` mostly has those of `right`: two frozensets of str, which share none.

    >>> str(Rule(frozenset({"b", "a"}), frozenset({"c"})))
    'a, b => c'
    """

    left: Items
    right: Items

    @property
    def items(self) -> Items:
        """Those of both sides."""
        return self.left | self.right

    def __str__(self) -> str:
        return f"{named(self.left)} => {named(self.right)}"

    @classmethod
    @validated
    def read(cls, text: Annotated[str, instead(str, 'Write a rule as "a, b => c".')]) -> Self:
        """The rule that is written so: items with commas between, and ` => `, in spaces, between the sides.

        Raises ValueError for another text.

        >>> Rule.read("b, a => c") == Rule(frozenset({"a", "b"}), frozenset({"c"}))
        True
        """
        sides = [[item.strip() for item in side.split(",") if item.strip()] for side in text.split(" => ")]
        if len(sides) != 2 or not all(sides) or {*sides[0]} & {*sides[1]}:
            raise UsageError(f'a rule is "a, b => c", with items on both sides and none on both, got {text!r}.')
        return cls(frozenset(sides[0]), frozenset(sides[1]))


class Strength(NamedTuple):
    """How many records a rule is of, and its confidence, 0 to 1."""

    count: float  # type: ignore[assignment] # it hides tuple.count
    confidence: float


def named(items: Iterable[str]) -> str:
    """Items in one text, in order.

    >>> named(frozenset({"b", "a"})), named(frozenset())
    ('a, b', 'everybody')
    """
    return ", ".join(sorted(items)) or "everybody"


@validated
def itemsets(baskets: Supports, support: Share, *, most: Count = ITEMS) -> Itemsets:
    """The itemsets of at least a share of the records, and how many records have each.

    Of `Weighted` records, whose counts may rise when an item is added, an itemset is asked for once all its subsets
    are found, as in FRAPP.

    Parameters
    ----------
    baskets : Baskets or Weighted
        Or what has their `items`, `kinds`, `counts` and length.
    support : float
        Above 0, at most 1.
    most : int
        Items of an itemset, from 1.

    Returns
    -------
    dict of frozenset of str to float
        The smallest first. The empty itemset, which everybody has, is among them.

    Raises
    ------
    NotForThisTable
        For more than 200,000 itemsets.
    """
    if not (hasattr(baskets, "counts") and hasattr(baskets, "kinds")):
        raise UsageTypeError(
            f"baskets must be Baskets, got {expect.found(baskets)}. `Baskets.of_table(dataset)` gives those of a table."
        )
    least = support * len(baskets) - ROUNDING
    number = int if isinstance(baskets, Baskets) else float
    found: dict[tuple[int, ...], float] = {(): len(baskets)}
    level: dict[tuple[int, ...], IntArray] = {(): np.arange(len(baskets.items))}
    for size in range(1, min(most, len(baskets.items)) + 1):
        new: dict[tuple[int, ...], float] = {}
        for prefix, last in level.items():
            counts = baskets.counts(prefix, last)
            kept = counts >= least
            new |= {(*prefix, int(p)): number(c) for p, c in zip(last[kept], counts[kept], strict=True)}
        found |= new
        if len(found) > ITEMSETS:
            raise NotForThisTable(
                f"support {support:g} gives more than {ITEMSETS:,} itemsets of {size} items. Raise support, or lower "
                "most."
            )
        level = _joined(list(new), found, baskets.kinds)
    names = baskets.items
    return {frozenset(names[place] for place in places): count for places, count in found.items()}


def _joined(
    sets: list[tuple[int, ...]], found: Mapping[tuple[int, ...], float], kinds: Sequence[object] | None
) -> dict[tuple[int, ...], IntArray]:
    """By prefix the last items of the itemsets of one item more whose subsets are all found."""
    together: dict[tuple[int, ...], list[int]] = {}
    level = {}
    for places in sets:
        together.setdefault(places[:-1], []).append(places[-1])
    for prefix, last in together.items():
        for number, first in enumerate(last):
            longer = (*prefix, first)
            fits = [
                other
                for other in last[number + 1 :]
                if (kinds is None or kinds[first] != kinds[other])
                and all((*prefix[:i], *prefix[i + 1 :], first, other) in found for i in range(len(prefix)))
            ]
            if fits:
                level[longer] = np.array(fits)
    return level


@validated
def rules(
    found: Annotated[Itemsets, instead(Mapping, "`itemsets` gives them.")],
    confidence: Share,
    *,
    left: Annotated[Itemsets | None, optional(instead(Mapping, "Give counts by itemset."))] = None,
) -> dict[Rule, Strength]:
    """The rules of itemsets that are at least so confident.

    Parameters
    ----------
    found : dict of frozenset of str to float
        As of `itemsets`, with all subsets.
    confidence : float
        Above 0, at most 1.
    left : dict of frozenset of str to float, optional
        The counts of left sides, where those are others.

    Returns
    -------
    dict of Rule to Strength
    """
    if left is not None:
        if lacking := [items for items in found if len(items) == 1 and items not in left]:
            raise UsageError(f"left must have the count of each itemset, and lacks {', '.join(lacking[0])}.")
    kept: dict[Rule, Strength] = {}
    of = found if left is None else left
    for items, count in found.items():
        for size in range(1, len(items)):
            for side in map(frozenset, combinations(sorted(items), size)):
                if of[side] > 0 and count >= confidence * of[side] - ROUNDING:
                    kept[Rule(side, items - side)] = Strength(count, count / of[side])
    return kept
