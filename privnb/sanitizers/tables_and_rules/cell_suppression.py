"""Cell suppression: small counts of a table are not published, nor what would give them back.

Source: Cox, "Suppression Methodology and Statistical Disclosure Control", JASA 75(370), 1980; Fischetti and Salazar,
"Solving the Cell Suppression Problem on Tabular Data with Linear Constraints", Management Science 47(7), 2001.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.measures.count_tables.known_sums import LARGEST, suppressed_bounds
from privnb.microdata import withholding
from privnb.microdata.count_tables import TableOfCounts, sums_of, with_totals
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, validated
from privnb.sanitizers.errors import SanitizationError

Fewest = Annotated[int, lambda name, value: withholding.check(value, name)]


class Suppressed(NamedTuple):
    """A table with its totals, which stand last on each axis: masked integer array `published`; `small`: boolean array,
    the counts that it is about; `low` and `high`: between which counts each entry lies for whoever sees it."""

    published: np.ma.MaskedArray[Any, Any]
    small: BoolArray
    low: Array
    high: Array


@validated
def suppress(table: TableOfCounts, fewest: Fewest, *, width: Count | None = None) -> Suppressed:
    """Suppress the counts of 1 to below `fewest`, and as few others as leave each of them uncertain.

    Others are found one small count at a time, the fewest first and among these the smallest. Nobody is no secret:
    zeros are published unless they protect another count. Afterwards the bounds of every small count are computed from
    what is published, by another program. They hold for who knows nothing else; who is one of two people in a cell
    knows more.

    Parameters
    ----------
    table : TableOfCounts
        Of records that are one person each.
    fewest : int
        From 2.
    width : int, optional
        By how much at least the bounds of each small count differ, from 1; None: `fewest`.

    Returns
    -------
    Suppressed

    Raises
    ------
    SanitizationError
        Where no suppression will do.
    """
    width = fewest if width is None else width
    if width > LARGEST:
        raise UsageError(f"width must be at most {LARGEST:,}, got {expect.found(width)}.")
    if table.counts.dtype.kind not in "iu":
        raise UsageError("table must hold whole counts to suppress some, got expected ones.")
    entries = with_totals(table.counts)
    small = (entries > 0) & (entries < fewest)
    if small.flat[-1]:
        raise SanitizationError(f"the table has fewer than {fewest} records. No part of it can be published.")
    hidden, sums = small.copy(), sums_of(table.counts.shape)
    low, high = suppressed_bounds(np.ma.array(entries, mask=hidden))
    for place in np.flatnonzero(small).tolist():
        if high.flat[place] - low.flat[place] < width:
            hidden.flat[np.flatnonzero(_beside(sums, entries.ravel(), hidden.ravel(), place, width))] = True
            low, high = suppressed_bounds(np.ma.array(entries, mask=hidden))
    published = np.ma.array(np.where(hidden, 0, entries), mask=hidden)
    low, high = suppressed_bounds(published)
    if (high - low)[small].min(initial=width) < width:
        raise SanitizationError(f"a small count has bounds that differ by less than {width}. Lower width.")
    return Suppressed(published, small, low, high)


def _beside(sums: Any, entries: IntArray, hidden: BoolArray, place: int, width: int) -> BoolArray:
    """The entries that have to be hidden so that one is uncertain by `width`: boolean array.

    Two tables are looked for that agree in all that stays published, and differ by `width` there.
    """
    number, cells = sums.shape
    up, down = np.full(number, float(width)), np.minimum(entries, width).astype(float)
    nothing, limits = sparse.csr_array((number, cells)), [sparse.diags_array(side) for side in (up, down)]
    rows = [
        sparse.hstack([sums if table == 0 else nothing, nothing if table == 0 else sums, side])
        for table in (0, 1)
        for side in (-limits[0], limits[1])
    ]
    apart = sparse.hstack([sums[[place]], -sums[[place]], sparse.csr_array((1, number))])
    ends = [(-np.inf, entries), (entries, np.inf)] * 2
    constraints = [LinearConstraint(sparse.csr_array(row), *end) for row, end in zip(rows, ends, strict=True)]
    constraints.append(LinearConstraint(sparse.csr_array(apart), width, np.inf))
    total = np.arange(number) == number - 1  # without it counts have no bound
    costs = np.where(hidden, 0, 1 + entries / (entries[-1] * number))
    found = milp(
        np.concatenate([np.zeros(2 * cells), costs]),
        constraints=constraints,
        bounds=Bounds(np.zeros(2 * cells + number), np.concatenate([np.full(2 * cells, np.inf), ~total])),
        integrality=np.ones(2 * cells + number),
    )
    if found.x is None:
        raise SanitizationError(
            f"no suppression leaves a count of {entries[place]} uncertain by {width}. Lower width, or merge values."
        )
    return found.x[2 * cells :] > 0.5
