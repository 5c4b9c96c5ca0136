"""How many cells of a table of counts are small, and how many of them a log-linear model leaves free.

A hierarchical log-linear model keeps the margins over some sets of attributes and leaves all else as even as it can.

Source: Aggarwal and Yu 2008, section 12.5.2.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Annotated

from privnb.measures.base import state
from privnb.microdata.count_tables import TableOfCounts
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, validated

state(
    "small_count_share",
    kind="privacy",
    title="Counts of one or two",
    sentence="Share of the cells of a table of counts that hold one or two people.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="share of cells",
    format="{:%}",
)


Margins = Annotated[
    Sequence[Sequence[str]],
    lambda name, value: expect.all_of(name, value, str, tuple, list, instead="Give the attributes of each margin."),
]


@validated
def small_count_share(table: TableOfCounts, most: Count = 2) -> float:
    """Share of the cells of a table with 1 to `most` records: 0 to 1, lower is better.

    Parameters
    ----------
    table : TableOfCounts
    most : int
        From 1.

    Returns
    -------
    float

    Source: Aggarwal and Yu 2008, section 12.5.2.

    >>> import numpy as np
    >>> small_count_share(TableOfCounts({"A": ("a", "b", "c", "d")}, np.array([0, 1, 2, 3])))
    0.5
    """
    return float(((table.counts > 0) & (table.counts <= most)).mean())


@validated
def degrees_of_freedom(levels: Mapping[str, int], sets: Margins) -> int:
    """Cells less free parameters of a hierarchical log-linear model; zeros of a table are not taken off.

    Parameters
    ----------
    levels : dict of str to int
        How many values each attribute has.
    sets : list of tuple of str
        The attributes of each margin that is kept.

    Returns
    -------
    int

    >>> degrees_of_freedom({"A": 2, "B": 3}, ["A", "B"])
    2
    """
    kept = {frozenset(some) for each in sets for size in range(len(each) + 1) for some in combinations(each, size)}
    if unknown := sorted(frozenset().union(*kept) - levels.keys()):
        raise UsageError(
            f"sets must be of the attributes of levels, {', '.join(levels) or 'none'}, got "
            f"{', '.join(map(str, unknown))}."
        )
    return prod(levels.values()) - sum(prod(levels[name] - 1 for name in some) for some in kept)
