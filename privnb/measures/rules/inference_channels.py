"""What follows from published supports: how few people have some items and none of some others.

Who knows how many have X, and how many each itemset between X and Y, knows by inclusion and exclusion how many have X
and nothing else of Y. Where these are few but some, the published counts open an inference channel on them.

Source: Atzori, Bonchi, Giannotti, Pedreschi, "k-Anonymous Patterns", PKDD 2005, and "Anonymity Preserving Pattern
Discovery", VLDB Journal 17(4), 2008; Aggarwal and Yu 2008, sections 5.4.1 and 5.7.1.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import isnan, nan
from typing import NamedTuple

from privnb.measures.base import state
from privnb.miners.rules import Items, Itemsets, named
from privnb.runtime import expect
from privnb.runtime.errors import UsageError

state(
    "inference_channels",
    kind="privacy",
    bounds=(0, float("inf")),
    sentence="How many groups of fewer than k people follow from the published supports.",
    source="Atzori, Bonchi, Giannotti, Pedreschi, VLDB Journal 17(4), 2008",
    unit="groups",
    format="{:,}",
)
state(
    "support_added",
    kind="utility",
    bounds=(0, float("inf")),
    sentence="By how much the published supports are raised so that no group of few people follows, on average.",
    source="Aggarwal and Yu 2008, section 5.7.1",
    unit="of the true support",
    format="{:%}",
)


class InferredGroup(NamedTuple):
    """So many people, `count`, have all items of `having` and none of `lacking`.

    >>> str(InferredGroup(frozenset({"C"}), frozenset({"B"}), 9))
    'C, not B: 9'
    """

    having: Items
    lacking: Items
    count: float  # type: ignore[assignment] # it hides tuple.count

    def __str__(self) -> str:
        without = "".join(f", not {item}" for item in sorted(self.lacking))
        return f"{named(self.having)}{without}: {self.count:g}"


def check_k(k: int) -> int:
    """Raise ValueError unless k is a whole number from 2."""
    return expect.whole("k", k, 2, "one person is always some")


def channels(found: Itemsets, k: int) -> list[InferredGroup]:
    """The groups of fewer than k people that follow from published supports.

    Nobody is no channel: that a group is empty tells of no single person.

    Parameters
    ----------
    found : dict of frozenset of str to float
        Published itemsets and how many people have each. They need not hold their subsets: what follows is what all
        needed counts are published of. The empty itemset is everybody.
    k : int
        From 2.

    Returns
    -------
    list of InferredGroup
        The fewest items first. An itemset that itself has fewer than k is among them, with nothing lacking.

    >>> everybody, b, c, bc = frozenset(), frozenset("B"), frozenset("C"), frozenset("BC")
    >>> [str(each) for each in channels({everybody: 66, b: 55, c: 52, bc: 43}, 10)]
    ['everybody, not B, not C: 2', 'C, not B: 9']
    """
    _check(found)
    check_k(k)
    few = []
    for whole in sorted(found, key=lambda items: (len(items), sorted(items))):
        few += [each for each in _following(found, whole) if 0 < each.count < k]
    return few


def _following(found: Itemsets, whole: Items) -> Iterator[InferredGroup]:
    for having in _subsets(whole):
        lacking = whole - having
        counts = [(-1) ** len(some) * found.get(having | some, nan) for some in _subsets(lacking)]
        if not isnan(count := sum(counts)):
            yield InferredGroup(having, lacking, round(count, 9))


def _subsets(items: Items) -> list[Items]:
    """The subsets of an itemset, the smallest first."""
    return [frozenset(some) for size in range(len(items) + 1) for some in combinations(sorted(items), size)]


def blocked(found: Itemsets, k: int) -> dict[Items, float]:
    """The supports, raised until no group of fewer than k people follows from them.

    For each channel k people are added who have the items of `having` and no others: to the count of these and of
    each subset. The largest come first, since they may close others. Nobody is added to any table: counts say more
    people than there are.

    Parameters
    ----------
    found : dict of frozenset of str to float
        With all subsets of each itemset that a channel has.
    k : int
        From 2.

    Returns
    -------
    dict of frozenset of str to float

    Raises
    ------
    ValueError
        Where channels remain, for want of a subset to add to.
    """
    few, raised = channels(found, k), dict(found)
    by_base: dict[Items, list[InferredGroup]] = {}
    for each in few:
        by_base.setdefault(each.having, []).append(each)
    added: list[Items] = []
    for base in sorted(by_base, key=lambda items: (-len(items), sorted(items))):
        still = (
            each.count + k * sum(other & (each.having | each.lacking) == base for other in added) < k
            for each in by_base[base]
        )
        if any(still):
            added.append(base)
            raised |= {items: raised[items] + k for items in _subsets(base) if items in raised}
    if left := channels(raised, k):
        raise UsageError(
            f"{len(left)} channels cannot be blocked, such as '{left[0]}': not all subsets of the itemsets are "
            "published. Give all of them, as `itemsets` does."
        )
    return raised


def _check(found: Itemsets) -> None:
    expect.kind("found", found, Mapping, instead="`itemsets` gives them.")
    for items, count in found.items():
        expect.kind("an itemset of found", items, frozenset, instead="Write it as a frozenset of items.")
        expect.number("a count of found", count)
