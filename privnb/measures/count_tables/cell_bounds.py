"""Between which counts each cell of a table lies, as far as its published margins tell.

Decomposable margins bound each cell in closed form; others by linear programs, whose bounds are rounded inwards, or by
integer ones, which are sharp. A cell with narrow bounds that are low tells of few people.

Source: Dobra and Fienberg, "Bounds for Cell Entries in Contingency Tables Given Marginal Totals and Decomposable
Graphs", PNAS 97(22), 2000; Aggarwal and Yu 2008, section 12.5.2.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from privnb.measures.base import state
from privnb.measures.count_tables.known_sums import solved
from privnb.microdata.count_tables import TableOfCounts, check_margins, separators, spread
from privnb.runtime import expect

LARGEST = 5_000  # cells of which programs are solved

state(
    "narrowest_interval",
    kind="privacy",
    better="higher",
    bounds=(0, float("inf")),
    title="Narrowest interval",
    sentence="How many people lie between the bounds of the small count that is known best.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="people",
)


class Between(NamedTuple):
    """The least and the greatest count of each cell: two arrays of one shape, an axis an attribute of `values`."""

    values: dict
    low: np.ndarray
    high: np.ndarray


def cell_bounds(margins, *, whole=False):
    """The least and the greatest count of each cell that agree with all margins.

    Parameters
    ----------
    margins : list of TableOfCounts
        Of one table; what is published of it.
    whole : bool
        Whether integer programs are solved, where margins are not decomposable: slower, and sharp. Without, bounds may
        be wider than what follows for whole counts.

    Returns
    -------
    Between
        Over all their attributes. Wider is better.

    Raises
    ------
    ValueError
        For margins that contradict each other, and for more than 5,000 cells of margins that are not decomposable.

    Source: Dobra and Fienberg, PNAS 2000, theorem 1, for decomposable margins.
    """
    expect.kind("whole", whole, bool)
    values = check_margins(margins)
    shape = tuple(map(len, values.values()))
    order = separators([margin.names for margin in margins])
    if order is not None:
        spreads = [spread(margin, values) for margin in margins]
        high = spreads[0]
        for each in spreads[1:]:
            high = np.minimum(high, each)
        low = sum(spreads)
        for place, shared in order[:-1]:
            low = low - (
                spread(margins[place].margin(tuple(shared)), values) if shared else margins[place].counts.sum()
            )
        low = np.maximum(low, 0)
        return Between(values, np.broadcast_to(low, shape), np.broadcast_to(high, shape))
    cells = np.arange(int(np.prod(shape))).reshape(shape)
    if cells.size > LARGEST:
        raise ValueError(
            f"margins have {cells.size:,} cells, more than {LARGEST:,}. Merge values or leave out a margin."
        )
    sums, wanted = [], []
    for margin in margins:
        target = spread(margin, values)
        at = np.ravel_multi_index(
            [
                np.broadcast_to(index if length > 1 else 0, shape)
                for index, length in zip(np.indices(shape), target.shape, strict=True)
            ],
            target.shape,
        )
        sums.append(
            sparse.csr_array((np.ones(cells.size), (at.ravel(), cells.ravel())), shape=(target.size, cells.size))
        )
        wanted.append(target.ravel())
    wanted = np.concatenate(wanted)
    low, high = solved(sparse.vstack(sums), wanted, wanted, whole=whole)
    return Between(values, low.reshape(shape), high.reshape(shape))


def widths_of_small(table, between, most=3, widest=5):
    """How many cells of each small true count have an interval of each small width.

    Parameters
    ----------
    table : TableOfCounts
        The truth.
    between : Between
        Of its margins.
    most : int
        The greatest count that is small, from 0.
    widest : int
        From 0.

    Returns
    -------
    DataFrame
        One row a true count, 0 to `most`; one column a width, 0 to `widest`: of how many cells, fewer is better.

    Source: Aggarwal and Yu 2008, table 12.6.
    """
    expect.kind("table", table, TableOfCounts)
    expect.kind("between", between, Between, instead="`cell_bounds` gives it.")
    for name, value in (("most", most), ("widest", widest)):
        if expect.whole(name, value, 0) > LARGEST:
            raise ValueError(f"{name} must be at most {LARGEST:,}, got {expect.found(value)}: nobody reads more.")
    if table.values != between.values:
        raise ValueError("table and between must be of the same attributes, in the same order.")
    width = between.high - between.low
    found = [[int(((table.counts == n) & (width == w)).sum()) for w in range(widest + 1)] for n in range(most + 1)]
    return pd.DataFrame(found, pd.RangeIndex(most + 1, name="count"), pd.RangeIndex(widest + 1, name="width"))
