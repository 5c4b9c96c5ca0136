"""What hiding some rules did to them and to the others.

Source: Aggarwal and Yu 2008, sections 8.3 and 8.4; Oliveira and Zaiane, 2002.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from privnb.measures.base import state
from privnb.miners.baskets import Baskets
from privnb.miners.rules import Rule, Strength, itemsets, rules
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Share, validated

_OF_RULES = {"kind": "utility", "format": "{:%}"}
state(
    "hiding_failure",
    sentence="Share of the sensitive rules that are still found.",
    source="Aggarwal and Yu 2008, equation 8.4",
    unit="share of sensitive rules",
    **_OF_RULES | {"kind": "privacy"},
)
state(
    "misses_cost",
    sentence="Share of the other rules that are no longer found.",
    source="Aggarwal and Yu 2008, equation 8.14",
    unit="share of other rules",
    **_OF_RULES,
)
state(
    "artifactual_patterns",
    title="Artifacts",
    sentence="Share of the rules found that the original does not have.",
    source="Aggarwal and Yu 2008, equation 8.15",
    unit="share of rules found",
    **_OF_RULES,
)
state(
    "dissimilarity",
    sentence="By how much the frequencies of the items differ, of all items in the records.",
    source="Aggarwal and Yu 2008, equation 8.5",
    unit="share of items",
    **_OF_RULES | {"bounds": (0, float("inf"))},
)


class SideEffects(NamedTuple):
    """Shares 0 to 1, lower is better, NaN of nothing; and how many rules were lost and are new (ghosts)."""

    hiding_failure: float
    misses_cost: float
    artifactual_patterns: float
    lost: int
    ghosts: int


def side_effects(before: Collection[Rule], after: Collection[Rule], sensitive: Collection[Rule]) -> SideEffects:
    """What became of rules.

    Parameters
    ----------
    before, after : set or dict of Rule
        Those that are found in the original, and afterwards.
    sensitive : list of Rule
        Those that were to be hidden. Of those that were not found before nothing is counted.

    Returns
    -------
    SideEffects

    Source: Aggarwal and Yu 2008, equations 8.4, 8.14 and 8.15.
    """
    for name, value in (("before", before), ("after", after)):
        expect.kind(name, value, Mapping, set, frozenset, instead="`rules` gives them.")
    expect.all_of("sensitive", sensitive, Rule, instead='Rule.read("a, b => c") makes one.')
    before, after, sensitive = {*before}, {*after}, {*sensitive} & {*before}
    others = before - sensitive
    return SideEffects(
        _share(len(sensitive & after), len(sensitive)),
        _share(len(others - after), len(others)),
        _share(len(after - before), len(after)),
        len(others - after),
        len(after - before),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else np.nan


@validated
def dissimilarity(before: Baskets, after: Baskets) -> float:
    """By how much the frequencies of the items differ, of all items in the records: from 0; lower is better.

    Of an item whose cells are blocked, the frequency is the mean of the least and the greatest possible.

    Parameters
    ----------
    before, after : Baskets
        Of the same items.

    Returns
    -------
    float

    Source: Aggarwal and Yu 2008, equation 8.5.
    """
    if before.items != after.items:
        raise UsageError("before and after must be of the same items, in the same order.")
    frequencies = after.has.sum(axis=0) + (0 if after.unknown is None else after.unknown.sum(axis=0) / 2)
    true = before.has.sum(axis=0)
    return float(np.abs(true - frequencies).sum() / max(true.sum(), 1))


def sure_rules(baskets: Baskets, support: Share, confidence: Share) -> dict[Rule, Strength]:
    """The rules whose least support and least confidence reach the thresholds: those that blocked cells leave sure.

    Parameters
    ----------
    baskets : Baskets
    support, confidence : float
        Above 0, at most 1.

    Returns
    -------
    dict of Rule to Strength
        The least ones. Without blocked cells, all rules.
    """
    found = itemsets(baskets, support)
    if baskets.unknown is None:
        return rules(found, confidence)
    greatest = Baskets(baskets.items, baskets.has | baskets.unknown, None)
    return rules(found, confidence, left=itemsets(greatest, support))
