"""What all ways to hide rules are asked: which rules, in which records, below which thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any

import numpy as np

from privnb.miners.baskets import Baskets
from privnb.miners.rules import Rule
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Share, instead, validated

Places = tuple[int, ...]  # columns of the items of an itemset
SomeBaskets = Annotated[Baskets, instead(Baskets, "`Baskets.of_table(dataset)` gives those of a table.")]
Rules = Annotated[Sequence[Rule], lambda name, value: expect.all_of(name, value, Rule, instead=RULE)]
RULE = 'Rule.read("a, b => c") makes one.'


@dataclass(frozen=True, eq=False)
class Task:
    """Rules that shall not be found: by place in the baskets' columns, and the thresholds in records.

    `left`, `right`: lists of tuples of int, of each rule; `least`: count at which an itemset is frequent;
    `confidence`.
    """

    rules: tuple[Rule, ...]
    left: list[Places]
    right: list[Places]
    least: int
    confidence: float

    @classmethod
    @validated
    def of(cls, baskets: SomeBaskets, rules: Rules, support: Share, confidence: Share, margin: Any = 0.0) -> Task:
        """Raises ValueError for an unknown item, a threshold out of range, and a margin that leaves nothing."""
        if baskets.unknown is not None:
            raise ValueError("baskets have blocked cells already. Hide rules of the original ones.")
        if not (expect.is_number(margin) and 0 <= margin < min(support, confidence)):
            raise ValueError(
                f"margin must be from 0 and below support and confidence, {min(support, confidence):g}, got "
                f"{expect.found(margin)}: nothing would be left below."
            )
        if not rules:
            raise ValueError("there are no rules to hide. Give one or more.")
        left, right = ([tuple(baskets.places(sorted(rule[side]))) for rule in rules] for side in (0, 1))
        least = max(1, ceil((support - margin) * len(baskets) - ROUNDING))
        return cls(tuple(rules), left, right, least, confidence - margin)

    @property
    def itemsets(self) -> list[Places]:
        """The items of each rule, places, once each: a list of tuples."""
        return list(dict.fromkeys(tuple(sorted(a + b)) for a, b in zip(self.left, self.right, strict=True)))


def supporting(has: BoolArray, places: Sequence[int]) -> BoolArray:
    """Which records have all of these items: bool array (n,)."""
    return np.all(has[:, list(places)], axis=1)


def changed(baskets: Baskets, has: BoolArray) -> Baskets:
    """The same baskets with other cells."""
    return Baskets(baskets.items, has, baskets.kinds)


def lengths(has: BoolArray) -> IntArray:
    """Items of each record, integer array (n,)."""
    return np.count_nonzero(has, axis=1)
