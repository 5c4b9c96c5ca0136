"""Between which counts each cell of a table lies, as far as its published margins tell.

Decomposable margins bound each cell in closed form; others by linear programs, whose bounds are rounded inwards
and may be wider than what follows for whole counts. A cell with narrow bounds that are low tells of few people.

Source: Dobra and Fienberg, "Bounds for Cell Entries in Contingency Tables Given Marginal Totals and Decomposable
Graphs", PNAS 97(22), 2000; Aggarwal and Yu 2008, section 12.5.2.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from privnb.measures.base import state
from privnb.measures.count_tables.known_sums import solved
from privnb.microdata.count_tables import TableOfCounts, check_margins, separators, spread
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated

LARGEST = 5_000  # cells of which programs are solved

state(
    "narrowest_interval",
    kind="privacy",
    better="higher",
    bounds=(0, float("inf")),
    sentence="How many people lie between the bounds of the small count that is known best.",
    source="Aggarwal and Yu 2008, section 12.5.2",
    unit="people",
)


class Between(NamedTuple):
    """The least and the greatest count of each cell: two arrays of one shape, an axis an attribute of `values`."""

    values: dict[str, tuple[Any, ...]]
    low: np.ndarray
    high: np.ndarray


@validated
def cell_bounds(margins: Sequence[TableOfCounts]) -> Between:
    """The least and the greatest count of each cell that agree with all margins.

    Parameters
    ----------
    margins : list of TableOfCounts
        Of one table; what is published of it.

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
    values = check_margins(margins)
    shape = tuple(map(len, values.values()))
    order = separators([margin.names for margin in margins])
    if order is not None:
        spreads = [spread(margin, values) for margin in margins]
        high = reduce(np.minimum, spreads)
        low = sum(spreads)
        for place, shared in order[:-1]:
            low = low - (
                spread(margins[place].margin(tuple(shared)), values) if shared else margins[place].counts.sum()
            )
        low = np.maximum(low, 0)
        return Between(values, np.broadcast_to(low, shape), np.broadcast_to(high, shape))
    if (size := math.prod(shape)) > LARGEST:
        raise UsageError(f"margins have {size:,} cells, more than {LARGEST:,}. Merge values or leave out a margin.")
    sums, wanted = [], []
    for margin in margins:
        target = spread(margin, values)
        kept = [np.eye(n) if length == n else np.ones((1, n)) for n, length in zip(shape, target.shape, strict=True)]
        sums.append(reduce(sparse.kron, kept, sparse.eye_array(1)))
        wanted.append(target.ravel())
    known = np.concatenate(wanted)
    low, high = solved(sparse.vstack(sums), known, known)
    return Between(values, low.reshape(shape), high.reshape(shape))
