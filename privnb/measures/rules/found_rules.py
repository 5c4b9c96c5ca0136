"""Association rules of a release beside those of the table: which are found, and how far their supports are off.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, section 6; Aggarwal
and Yu 2008, section 10.2.5.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from privnb.measures.base import state
from privnb.miners.rules import Items
from privnb.runtime import expect
from privnb.runtime.validation import instead, validated

ByItems = Annotated[Mapping[Items, float], instead(Mapping, "`itemsets` gives them.")]
_FOUND = {"bounds": (0, float("inf")), "source": "Aggarwal and Yu 2008, section 10.2.5"}
state(
    "support_error",
    kind="utility",
    sentence="How far supports are off, of the itemsets that are found rightly: on average, relative to the true one.",
    unit="of the true support",
    format="{:%}",
    **_FOUND,
)
state(
    "false_itemsets",
    kind="utility",
    title="Itemsets found wrongly",
    sentence="How many itemsets are found frequent that are not, for each that is.",
    unit="per true itemset",
    format="{:%}",
    **_FOUND,
)
state(
    "missed_itemsets",
    kind="utility",
    title="Itemsets missed",
    sentence="Share of the frequent itemsets that are not found.",
    unit="share of itemsets",
    format="{:%}",
    **_FOUND | {"bounds": (0, 1)},
)


@validated
def support_error(true: ByItems, found: ByItems) -> float:
    """How far supports are off, on average and relative to the true one, over the itemsets that both hold.

    The book's formula divides by all true itemsets; its prose, and this, by those that are found rightly.

    Parameters
    ----------
    true, found : dict of frozenset to float
        As of `itemsets`. The empty itemset does not count.

    Returns
    -------
    float
        From 0; lower is better. NaN where no itemset is found rightly.

    Source: Agrawal and Haritsa, ICDE 2005, section 6; Aggarwal and Yu 2008, section 10.2.5.

    >>> a, b, c, d = (frozenset(x) for x in "abcd")
    >>> round(support_error({a: 0.5, b: 0.4, c: 0.2}, {a: 0.45, b: 0.44, d: 0.21}), 9)
    0.1
    """
    both = [items for items in true if items and items in found]
    return float(np.mean([abs(found[i] - true[i]) / true[i] for i in both])) if both else np.nan


def identity_errors(true: Any, found: Any) -> tuple[float, float]:
    """How many itemsets are found that are not there, and how many are missed, each for one that is there.

    Parameters
    ----------
    true, found : dict or set
        Of itemsets, or of rules. The empty itemset does not count.

    Returns
    -------
    tuple of two float
        False ones, which may pass 1, and missed ones, 0 to 1; lower is better. NaN where there is nothing to find.

    Source: Agrawal and Haritsa, ICDE 2005, section 6; Aggarwal and Yu 2008, section 10.2.5.

    >>> false, missed = identity_errors(set("abc"), set("abd"))
    >>> round(false, 4), round(missed, 4)
    (0.3333, 0.3333)
    """
    expect.kind("true", true, Mapping, set, frozenset, instead="`itemsets` gives them.")
    expect.kind("found", found, Mapping, set, frozenset, instead="`itemsets` gives them.")
    true, found = ({each for each in some if each != frozenset()} for some in (true, found))
    return (len(found - true) / len(true), len(true - found) / len(true)) if true else (np.nan, np.nan)
