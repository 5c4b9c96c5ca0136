"""How well some margins give back a table of counts, and how many of its cells are small.

A hierarchical log-linear model keeps the margins over some sets of attributes and leaves all else as even as it can.

Source: Aggarwal and Yu 2008, section 12.5.2; Bishop, Fienberg, Holland, "Discrete Multivariate Analysis", 1975, chapter
3, for the fit.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Annotated, NamedTuple

import numpy as np

from privnb.measures.base import state
from privnb.microdata.count_tables import TableOfCounts, check_margins, spread
from privnb.runtime import expect
from privnb.runtime.validation import Count, validated

_ROUNDS, _CLOSE = 10_000, 1e-9

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


class Fit(NamedTuple):
    """`expected`: float array of the table's shape; `g2`: twice the log-likelihood that the model loses, from 0, lower
    fits better; `df`: the cells less the free parameters."""

    expected: np.ndarray
    g2: float
    df: int


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
        raise ValueError(
            f"sets must be of the attributes of levels, {', '.join(levels) or 'none'}, got "
            f"{', '.join(map(str, unknown))}."
        )
    return prod(levels.values()) - sum(prod(levels[name] - 1 for name in some) for some in kept)


def fitted(margins: Sequence[TableOfCounts]) -> TableOfCounts:
    """The table that has these margins and is else as even as can be, by iterative proportional fitting.

    In decomposable ones this is the product of the margins by what they share.

    Parameters
    ----------
    margins : list of TableOfCounts

    Returns
    -------
    TableOfCounts
        Of all their attributes; its counts are no whole numbers.

    Raises
    ------
    ValueError
        For margins that contradict each other.
    """
    values = check_margins(margins)
    targets = [spread(margin, values) for margin in margins]
    shape = tuple(map(len, values.values()))
    found = np.ones(shape)
    for _ in range(_ROUNDS):
        off = 0.0
        for target in targets:
            axes = tuple(axis for axis, length in enumerate(target.shape) if length == 1 and shape[axis] > 1)
            now = found.sum(axis=axes, keepdims=True)
            off = max(off, np.abs(now - target).max())
            found = found * np.divide(target, now, out=np.zeros(now.shape), where=now > 0)
        if off <= _CLOSE * max(1, targets[0].sum()):
            return TableOfCounts(values, found)
    names = ", ".join(" x ".join(margin.names) for margin in margins)
    raise ValueError(f"no table fits the margins {names}: {_ROUNDS:,} rounds leave {off:.2g}. Do they contradict?")


@validated
def fit(table: TableOfCounts, sets: Margins) -> Fit:
    """How well the margins over some sets of attributes give back a table.

    Parameters
    ----------
    table : TableOfCounts
    sets : list of tuple of str
        Attributes that none holds are taken as even.

    Returns
    -------
    Fit

    Source: Aggarwal and Yu 2008, section 12.5.2.
    """
    if not sets:
        raise ValueError("sets must be one set of attributes or more, got none.")
    df = degrees_of_freedom({name: len(values) for name, values in table.values.items()}, sets)
    model = fitted([table.margin(each) for each in sets])
    missing = prod(len(values) for name, values in table.values.items() if name not in model.values)
    expected = np.broadcast_to(spread(model, table.values) / missing, table.counts.shape)
    some = table.counts > 0
    g2 = 2 * (table.counts[some] * np.log(table.counts[some] / expected[some])).sum()
    return Fit(expected, max(float(g2), 0.0), df)
