"""Small cells of a table of counts, and the degrees of freedom of a log-linear model.

A hierarchical log-linear model preserves the margins over some sets of attributes, and has the most even distribution
with these margins.

Source: Aggarwal and Yu 2008, section 12.5.2.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Annotated

from privnb.measures.base import register_measure
from privnb.microdata.count_tables import TableOfCounts
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, validated

register_measure(
    "small_count_share",
    kind="privacy",
    title="Counts of one or two",
    sentence="This share of the cells in a table of counts holds one or two people. Lower protects more.",
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
    """Return the share of a table's cells that contain 1 to `most` records, from 0 to 1; lower protects better.

    Source: Aggarwal and Yu 2008, section 12.5.2.

    >>> import numpy as np
    >>> small_count_share(TableOfCounts({"A": ("a", "b", "c", "d")}, np.array([0, 1, 2, 3])))
    0.5
    """
    return float(((table.counts > 0) & (table.counts <= most)).mean())


@validated
def degrees_of_freedom(levels: Mapping[str, int], sets: Margins) -> int:
    """Return the number of cells minus the number of free parameters of a log-linear model.

    Empty cells count as cells.

    Parameters
    ----------
    levels : dict of str to int
        The number of values of each attribute.
    sets : list of tuple of str
        The sets of attributes whose margins the model preserves.

    Examples
    --------
    >>> degrees_of_freedom({"A": 2, "B": 3}, ["A", "B"])
    2
    """
    kept = {frozenset(some) for each in sets for size in range(len(each) + 1) for some in combinations(each, size)}
    if unknown := sorted(frozenset().union(*kept) - levels.keys()):
        raise UsageError(
            f"`sets` must contain attributes of `levels`, {', '.join(levels) or 'which is empty'}; got "
            f"{', '.join(map(str, unknown))}."
        )
    return prod(levels.values()) - sum(prod(levels[name] - 1 for name in some) for some in kept)
