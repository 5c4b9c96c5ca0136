"""Effects of hiding sensitive rules, on the sensitive rules, on other rules and on the items.

Source: Aggarwal and Yu 2008, sections 8.3 and 8.4; Oliveira and Zaiane, 2002.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from privnb.measures.base import register_measure
from privnb.miners.baskets import Baskets
from privnb.miners.rules import Rule, Strength, itemsets, rules
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Share, validated

_OF_RULES = {"kind": "utility", "format": "{:%}"}
register_measure(
    "hiding_failure",
    sentence="This share of the sensitive rules can still be found in the release. Lower protects more.",
    source="Aggarwal and Yu 2008, equation 8.4",
    unit="share of sensitive rules",
    **_OF_RULES | {"kind": "privacy"},
)
register_measure(
    "misses_cost",
    sentence="This share of the rules that are not sensitive can no longer be found in the release. Lower is better.",
    source="Aggarwal and Yu 2008, equation 8.14",
    unit="share of other rules",
    **_OF_RULES,
)
register_measure(
    "artifactual_patterns",
    title="Artifacts",
    sentence="This share of the rules found in the release does not hold in the original. Lower is better.",
    source="Aggarwal and Yu 2008, equation 8.15",
    unit="share of rules found",
    **_OF_RULES,
)
register_measure(
    "dissimilarity",
    sentence="The frequencies of items in the release differ from the original by this share of all items. Lower is "
    "better.",
    source="Aggarwal and Yu 2008, equation 8.5",
    unit="share of items",
    **_OF_RULES | {"bounds": (0, float("inf"))},
)


class SideEffects(NamedTuple):
    """Three shares of rules, the number of lost rules, and the number of ghost rules.

    Lower shares are better. A share is NaN if the number of rules in the denominator is 0.
    """

    hiding_failure: float
    misses_cost: float
    artifactual_patterns: float
    lost: int
    ghosts: int


def side_effects(before: Collection[Rule], after: Collection[Rule], sensitive: Collection[Rule]) -> SideEffects:
    """Return the effects of a hiding method on sensitive rules and on other rules.

    Parameters
    ----------
    before, after : set or dict of Rule
        The rules found in the original and in the release.
    sensitive : list of Rule
        The rules to be hidden. Rules that are not found in the original are ignored.

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
    """Return the sum of the differences between item frequencies, divided by the number of items in all records.

    The result is at least 0; lower is better. The frequency of an item with blocked cells is the mean of the lowest and
    the highest possible frequency.

    Parameters
    ----------
    before, after : Baskets
        Baskets with the same items.

    Source: Aggarwal and Yu 2008, equation 8.5.
    """
    if before.items != after.items:
        raise UsageError("`before` and `after` must have the same items, in the same order.")
    frequencies = after.has.sum(axis=0) + (0 if after.unknown is None else after.unknown.sum(axis=0) / 2)
    true = before.has.sum(axis=0)
    return float(np.abs(true - frequencies).sum() / max(true.sum(), 1))


def certain_rules(baskets: Baskets, support: Share, confidence: Share) -> dict[Rule, Strength]:
    """Return the rules whose support and confidence reach the thresholds for all possible values of the blocked cells.

    Parameters
    ----------
    baskets : Baskets
    support, confidence : float
        The minimum support and confidence of a rule, above 0 and at most 1.

    Returns
    -------
    dict of Rule to Strength
        The rules, each with its lowest possible support and confidence.
    """
    found = itemsets(baskets, support)
    if baskets.unknown is None:
        return rules(found, confidence)
    greatest = Baskets(baskets.items, baskets.has | baskets.unknown, None)
    return rules(found, confidence, left=itemsets(greatest, support))
