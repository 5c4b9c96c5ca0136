"""Small groups of people that follow from published supports.

Let X be a subset of the itemset Y. The numbers of people with each itemset between X and Y determine, by inclusion and
exclusion, the number of people who have all items of X and no other item of Y. If this number is small but above 0, the
published counts are an inference channel about these people.

Source: Atzori, Bonchi, Giannotti, Pedreschi, "k-Anonymous Patterns", PKDD 2005, and "Anonymity Preserving Pattern
Discovery", VLDB Journal 17(4), 2008; Aggarwal and Yu 2008, sections 5.4.1 and 5.7.1.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import isnan, nan
from typing import NamedTuple

from privnb.measures.base import register_measure
from privnb.miners.rules import Items, Itemsets, join_items
from privnb.runtime import expect
from privnb.runtime.errors import UsageError

register_measure(
    "inference_channels",
    kind="privacy",
    bounds=(0, float("inf")),
    sentence="This number of groups of fewer than k people follows from the published supports. Lower protects more.",
    source="Atzori, Bonchi, Giannotti, Pedreschi, VLDB Journal 17(4), 2008",
    unit="groups",
    format="{:,}",
)
register_measure(
    "support_added",
    kind="utility",
    bounds=(0, float("inf")),
    sentence="Published supports are raised by this share on average so that no small group of people follows from "
    "them. Lower is better.",
    source="Aggarwal and Yu 2008, section 5.7.1",
    unit="of the true support",
    format="{:%}",
)


class InferredGroup(NamedTuple):
    """The number of people, `count`, who have all items of `having` and no item of `lacking`.

    >>> str(InferredGroup(frozenset({"C"}), frozenset({"B"}), 9))
    'C, not B: 9'
    """

    having: Items
    lacking: Items
    count: float  # type: ignore[assignment] # it hides tuple.count

    def __str__(self) -> str:
        without = "".join(f", not {item}" for item in sorted(self.lacking))
        return f"{join_items(self.having)}{without}: {self.count:g}"


def check_k(k: int) -> int:
    """Raise ValueError unless k is a whole number of at least 2."""
    return expect.whole("k", k, 2, "every group has at least 1 person")


def find_channels(found: Itemsets, k: int) -> list[InferredGroup]:
    """Return the groups of fewer than k people whose size follows from published supports.

    An empty group is not a channel, because it reveals nothing about a single person.

    Parameters
    ----------
    found : dict of frozenset of str to float
        The published itemsets, and the number of people with each itemset. The number for the empty itemset is the
        number of all people. Subsets of an itemset may be absent; the size of a group follows only if all required
        counts are published.
    k : int
        The minimum number of people in a group, at least 2.

    Returns
    -------
    list of InferredGroup
        The groups, sorted by the number of items of the itemset Y. A published itemset with fewer than k people is also
        a group, whose `lacking` is empty.

    Examples
    --------
    >>> everybody, b, c, bc = frozenset(), frozenset("B"), frozenset("C"), frozenset("BC")
    >>> [str(each) for each in find_channels({everybody: 66, b: 55, c: 52, bc: 43}, 10)]
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
    """Return the subsets of an itemset, sorted by size."""
    return [frozenset(some) for size in range(len(items) + 1) for some in combinations(sorted(items), size)]


def block_channels(found: Itemsets, k: int) -> dict[Items, float]:
    """Return supports that are raised until no group of fewer than k people follows from the supports.

    To block a channel, the function adds k fictitious people with exactly the items of `having`, so the counts of
    `having` and of each subset of `having` increase by k. The function starts with the largest `having`, because higher
    counts of these items may also block other channels. The raised counts exceed the true numbers of people, because no
    records are added to the table.

    Parameters
    ----------
    found : dict of frozenset of str to float
        The itemsets with their counts, which must include all subsets of each itemset in a channel.
    k : int
        The minimum number of people in a group, at least 2.

    Returns
    -------
    dict of frozenset of str to float

    Raises
    ------
    ValueError
        If channels remain because a subset of an itemset is missing.
    """
    few, raised = find_channels(found, k), dict(found)
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
    if left := find_channels(raised, k):
        raise UsageError(
            f"{len(left)} channels, such as '{left[0]}', cannot be blocked, because some subsets of the itemsets are "
            "missing. Give all subsets, as `itemsets` does."
        )
    return raised


def _check(found: Itemsets) -> None:
    expect.kind("found", found, Mapping, instead="`itemsets` gives them.")
    for items, count in found.items():
        expect.kind("an itemset of found", items, frozenset, instead="Write it as a frozenset of items.")
        expect.number("a count of found", count)
