"""Hide rules by unknowns: what is left is true, and nothing false is added.

Source: Saygin, Verykios, Clifton, "Using Unknowns to Prevent Discovery of Association Rules", SIGMOD Record 30(4),
2001; Aggarwal and Yu 2008, section 10.3 and chapter 11.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privnb.miners.baskets import Baskets
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Seed, Share, validated
from privnb.sanitizers.tables_and_rules.rule_hiding.sensitive import Rules, SomeBaskets, Task, lengths, supporting


@validated
def block(
    baskets: SomeBaskets, rules: Rules, *, support: Share, confidence: Share, margin: Any = 0.0, zeros: Seed = 1
) -> Baskets:
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
    margin : float
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
    task = Task.of(baskets, rules, support, confidence, margin)
    has, unknown = baskets.has.copy(), np.zeros_like(baskets.has)
    for left, right in zip(task.left, task.right, strict=True):
        rows = np.flatnonzero(supporting(has, left + right))
        frequency = baskets.has.sum(axis=0)
        victim = min(right, key=lambda place: (frequency[place], place))
        largest = int(supporting(has | unknown, left).sum())
        wanted = min(len(rows) - task.least, len(rows) - np.ceil(task.confidence * largest - ROUNDING)) + 1
        chosen = rows[np.argsort(lengths(has[rows]), kind="stable")][: max(int(wanted), 0)]
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
