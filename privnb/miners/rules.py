"""Itemsets and association rules: items that occur together in many records.

A record is a set of items. In a table, an item is a value of an attribute, such as `sex=Male`. The support of a rule X
=> Y is the share of records with all items of X and of Y. The confidence of the rule is the share of the records with X
that also have Y.

Itemsets are mined level by level (Apriori) on NumPy bit sets. The library mlxtend 0.25 finds the same itemsets of
Adult, but takes ten times as long and requires matplotlib.

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

MAX_ITEMS = 4  # default maximum number of items in an itemset
MAX_ITEMSETS = 200_000  # nobody reads more itemsets, and most of them would be noise


Items = frozenset[str]
Itemsets = Mapping[Items, float]


class Supports(Protocol):
    """Records in which itemsets are counted: `Baskets`, `Weighted`, or another type with the same attributes."""

    @property
    def items(self) -> tuple[str, ...]:
        """Return the names of all items."""

    @property
    def kinds(self) -> Sequence[object] | None:
        """Return the kind of each item, such as its attribute, or None. A record has at most one item of each kind."""

    def __len__(self) -> int: ...

    def counts(self, prefix: Sequence[int], last: IntArray) -> Array:
        """Return the number of records with an item and all items of `prefix`, for each item in the columns `last`."""


class Rule(NamedTuple):
    """A rule that records with all items of `left` mostly have all items of `right`; the two frozensets are disjoint.

    >>> str(Rule(frozenset({"b", "a"}), frozenset({"c"})))
    'a, b => c'
    """

    left: Items
    right: Items

    @property
    def items(self) -> Items:
        """Return the items of both sides of the rule."""
        return self.left | self.right

    def __str__(self) -> str:
        return f"{join_items(self.left)} => {join_items(self.right)}"

    @classmethod
    @validated
    def read(cls, text: Annotated[str, instead(str, 'Write a rule as "a, b => c".')]) -> Self:
        """Return the rule that a text describes, such as "b, a => c".

        Commas separate the items of a side. The text ` => `, with a space before and after the arrow, separates the
        sides.

        >>> Rule.read("b, a => c") == Rule(frozenset({"a", "b"}), frozenset({"c"}))
        True
        """
        sides = [[item.strip() for item in side.split(",") if item.strip()] for side in text.split(" => ")]
        if len(sides) != 2 or not all(sides) or {*sides[0]} & {*sides[1]}:
            raise UsageError(
                f'a rule must be written as "a, b => c", with different items on the two sides; got {text!r}.'
            )
        return cls(frozenset(sides[0]), frozenset(sides[1]))


class Strength(NamedTuple):
    """The number of records with all items of a rule, and the confidence of the rule, from 0 to 1."""

    count: float  # type: ignore[assignment] # it hides tuple.count
    confidence: float


def join_items(items: Iterable[str]) -> str:
    """Return the items as one text, in alphabetical order.

    >>> join_items(frozenset({"b", "a"})), join_items(frozenset())
    ('a, b', 'everybody')
    """
    return ", ".join(sorted(items)) or "everybody"


@validated
def itemsets(baskets: Supports, support: Share, *, most: Count = MAX_ITEMS) -> Itemsets:
    """Return the itemsets that at least a share `support` of the records have, and the count of each itemset.

    In `Weighted` records, an itemset may have a larger count than one of its subsets. An itemset is counted only if all
    its subsets are frequent, as in FRAPP.

    Parameters
    ----------
    baskets : Baskets or Weighted
        The records, or an object of another type with `items`, `kinds`, `counts` and a length.
    support : float
        The minimum share of records that must have an itemset, above 0 and at most 1.
    most : int
        The maximum number of items in an itemset, at least 1.

    Returns
    -------
    dict of frozenset of str to float
        The count of each itemset, in order of the itemsets' sizes. The first itemset is empty; every record has this
        itemset.

    Raises
    ------
    NotForThisTable
        If there are more than 200,000 frequent itemsets.

    Examples
    --------
    >>> from privnb.miners.baskets import Baskets
    >>> found = itemsets(Baskets.of([{"a", "b"}, {"a"}, {"c"}]), 0.5)
    >>> {join_items(items): count for items, count in found.items()}
    {'everybody': 3, 'a': 2}
    """
    if not (hasattr(baskets, "counts") and hasattr(baskets, "kinds")):
        raise UsageTypeError(
            f"`baskets` must be Baskets; got {expect.describe_value(baskets)}. Try Baskets.of_table(dataset)."
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
        if len(found) > MAX_ITEMSETS:
            raise NotForThisTable(
                f"the support of {support:g} gives more than {MAX_ITEMSETS:,} itemsets of {size} items. Raise "
                "`support`, or lower `most`."
            )
        level = _joined(list(new), found, baskets.kinds)
    names = baskets.items
    return {frozenset(names[place] for place in places): count for places, count in found.items()}


def _joined(
    sets: list[tuple[int, ...]], found: Mapping[tuple[int, ...], float], kinds: Sequence[object] | None
) -> dict[tuple[int, ...], IntArray]:
    """Return, by prefix, the last items of all itemsets with one more item whose subsets are all frequent."""
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
    """Return the rules with at least the given confidence that itemsets yield.

    Parameters
    ----------
    found : dict of frozenset of str to float
        The result of `itemsets`, which contains all subsets of each itemset.
    confidence : float
        The minimum confidence of a rule, above 0 and at most 1.
    left : dict of frozenset of str to float, optional
        The counts of the left sides of rules, if these counts differ from those in `found`.

    Returns
    -------
    dict of Rule to Strength
    """
    if left is not None:
        if lacking := [items for items in found if len(items) == 1 and items not in left]:
            raise UsageError(f"`left` must have the count of each itemset; got no count of {', '.join(lacking[0])}.")
    kept: dict[Rule, Strength] = {}
    sides = found if left is None else left
    for items, count in found.items():
        for size in range(1, len(items)):
            for side in map(frozenset, combinations(sorted(items), size)):
                if sides[side] > 0 and count >= confidence * sides[side] - ROUNDING:
                    kept[Rule(side, items - side)] = Strength(count, count / sides[side])
    return kept
