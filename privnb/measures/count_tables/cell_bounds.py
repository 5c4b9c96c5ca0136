"""Bounds on the count of each cell of a table, given published margins of the table.

If the margins are decomposable, the bounds have a closed form. Otherwise, linear programs give the bounds; these bounds
are rounded inwards to whole numbers and may be wider than the sharp bounds on whole counts. Narrow bounds on a small
count reveal a small number of people.

Source: Dobra and Fienberg, "Bounds for Cell Entries in Contingency Tables Given Marginal Totals and Decomposable
Graphs", PNAS 97(22), 2000; Aggarwal and Yu 2008, section 12.5.2.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from privnb.measures.base import register_measure
from privnb.measures.count_tables.margin_bounds import bound_sums
from privnb.microdata.count_tables import (
    TableOfCounts,
    check_margins,
    expand_margin,
    find_separators,
    margins_matrix,
    name_count,
)
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

MAX_CELLS = 5_000  # maximum size of a table for which linear programs are solved

register_measure(
    "narrowest_interval",
    kind="privacy",
    better="higher",
    bounds=(0, float("inf")),
    sentence="Published margins bound each small count; this is the width of the narrowest interval between these "
    "bounds. Higher protects more.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="people",
)


class CellBounds(NamedTuple):
    """The lowest and the highest count of each cell, as two arrays with one axis for each attribute in `values`."""

    values: dict[str, tuple[Any, ...]]
    low: np.ndarray
    high: np.ndarray


@validated
def cell_bounds(margins: Sequence[TableOfCounts]) -> CellBounds:
    """Return, for each cell, the lowest and the highest count that agree with all margins.

    Parameters
    ----------
    margins : list of TableOfCounts
        The published margins of one table.

    Returns
    -------
    CellBounds
        The bounds of each cell of the table of all attributes in the margins. Wider bounds protect better.

    Raises
    ------
    ValueError
        If the margins contradict each other, or if they are not decomposable and the table has more than 5,000 cells.
        The error names the margins or the counts that contradict each other.

    Source: Dobra and Fienberg, PNAS 2000, theorem 1, for decomposable margins.
    """
    values = check_margins(margins)
    shape = tuple(map(len, values.values()))
    order = find_separators([margin.names for margin in margins])
    if order is not None:
        spreads = [expand_margin(margin, values) for margin in margins]
        high = reduce(np.minimum, spreads)
        low = sum(spreads)
        for place, shared in order[:-1]:
            low = low - (
                expand_margin(margins[place].margin(tuple(shared)), values) if shared else margins[place].counts.sum()
            )
        low = np.maximum(low, 0)
        return CellBounds(values, np.broadcast_to(low, shape), np.broadcast_to(high, shape))
    if (size := math.prod(shape)) > MAX_CELLS:
        raise UsageError(
            f"`margins` must have at most {MAX_CELLS:,} cells; got {size:,}. Merge values or leave out a margin."
        )
    sums, known = margins_matrix(margins, values)
    low, high = bound_sums(sums, known, known, name=lambda place: name_count(margins, values, place))
    return CellBounds(values, low.reshape(shape), high.reshape(shape))
