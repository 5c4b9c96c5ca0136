"""Errors of the itemsets and rules that are found in a release, compared with those that are found in the table.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, section 6; Aggarwal
and Yu 2008, section 10.2.5.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from privnb.measures.base import register_measure
from privnb.miners.rules import Items
from privnb.runtime import expect
from privnb.runtime.validation import instead, validated

ByItems = Annotated[Mapping[Items, float], instead(Mapping, "`itemsets` gives them.")]
_SOURCE = "Aggarwal and Yu 2008, section 10.2.5"
_FOUND = {"bounds": (0, float("inf")), "source": _SOURCE}
register_measure(
    "support_error",
    kind="utility",
    sentence="Supports of correctly found itemsets have this error on average, relative to the true support. Lower is "
    "better.",
    unit="of the true support",
    format="{:%}",
    **_FOUND,
)
register_measure(
    "false_itemsets",
    kind="utility",
    title="Itemsets found wrongly",
    sentence="For each frequent itemset of the table, this number of infrequent itemsets is found in the release. "
    "Lower is better.",
    unit="per true itemset",
    format="{:%}",
    **_FOUND,
)
register_measure(
    "missed_itemsets",
    kind="utility",
    title="Itemsets missed",
    sentence="This share of the frequent itemsets of the table is not found in the release. Lower is better.",
    unit="share of itemsets",
    format="{:%}",
    **_FOUND | {"bounds": (0, 1)},
)


@validated
def support_error(true: ByItems, found: ByItems) -> float:
    """Return the mean relative error of supports over the itemsets that both mappings contain.

    The formula in the book divides by the number of all true itemsets. The text of the book and this function divide by
    the number of itemsets that are found correctly.

    Parameters
    ----------
    true, found : dict of frozenset to float
        The results of `itemsets` for the table and for the release. The empty itemset does not count.

    Returns
    -------
    float
        The error, from 0; lower is better. The error is NaN if no itemset is found correctly.

    Source: Agrawal and Haritsa, ICDE 2005, section 6; Aggarwal and Yu 2008, section 10.2.5.

    >>> a, b, c, d = (frozenset(x) for x in "abcd")
    >>> round(support_error({a: 0.5, b: 0.4, c: 0.2}, {a: 0.45, b: 0.44, d: 0.21}), 9)
    0.1
    """
    both = [items for items in true if items and items in found]
    return float(np.mean([abs(found[i] - true[i]) / true[i] for i in both])) if both else np.nan


def identity_errors(true: Any, found: Any) -> tuple[float, float]:
    """Return the numbers of falsely found and of missed itemsets, each divided by the number of true itemsets.

    Parameters
    ----------
    true, found : dict or set
        The itemsets or rules of the table and of the release. The empty itemset does not count.

    Returns
    -------
    tuple of two float
        The relative number of false itemsets, which may exceed 1, and the relative number of missed itemsets, from 0 to
        1; lower is better. Both numbers are NaN if there are no true itemsets.

    Source: Agrawal and Haritsa, ICDE 2005, section 6; Aggarwal and Yu 2008, section 10.2.5.

    >>> false, missed = identity_errors(set("abc"), set("abd"))
    >>> round(false, 4), round(missed, 4)
    (0.3333, 0.3333)
    """
    expect.kind("true", true, Mapping, set, frozenset, instead="`itemsets` gives them.")
    expect.kind("found", found, Mapping, set, frozenset, instead="`itemsets` gives them.")
    true, found = ({each for each in some if each != frozenset()} for some in (true, found))
    return (len(found - true) / len(true), len(true - found) / len(true)) if true else (np.nan, np.nan)
