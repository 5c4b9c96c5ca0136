"""Cell suppression: small counts of a table are withheld, and so are counts that would reveal small counts.

Source: Cox, "Suppression Methodology and Statistical Disclosure Control", JASA 75(370), 1980; Fischetti and Salazar,
"Solving the Cell Suppression Problem on Tabular Data with Linear Constraints", Management Science 47(7), 2001.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from privnb.measures.count_tables.margin_bounds import MAX_BASE, bound_suppressed
from privnb.microdata.count_tables import TableOfCounts, add_totals, totals_matrix
from privnb.microdata.withholding import MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, validated
from privnb.sanitizers.errors import SanitizationError


class SuppressedTable(NamedTuple):
    """A table with its totals, which are last on each axis.

    Attributes
    ----------
    published : masked integer array
    small : boolean array
        Whether each count has to be protected.
    low, high : arrays
        The bounds of each entry for an adversary who sees the table.
    """

    published: np.ma.MaskedArray[Any, Any]
    small: BoolArray
    low: Array
    high: Array


@validated
def suppress_small_counts(table: TableOfCounts, min_count: MinCount, *, width: Count | None = None) -> SuppressedTable:
    """Suppress the counts from 1 to below `min_count`, and further counts so that each small count is uncertain.

    The function protects one small count at a time. Each time, the function suppresses the smallest number of further
    counts and, among equal numbers, the smallest counts. An empty cell is not sensitive: zeros are published unless
    they protect another count. Afterwards, a separate program computes the bounds of every small count from the
    published table. The bounds hold against adversaries without further knowledge; a person who is one of two people in
    a cell knows more.

    Parameters
    ----------
    table : TableOfCounts
        The table, in which each record is one person.
    min_count : int
        The number from which a count is published, at least 2.
    width : int, optional
        The minimum difference between the two bounds of each small count, at least 1. If None, `min_count` is used.

    Returns
    -------
    SuppressedTable

    Raises
    ------
    SanitizationError
        If no suppression suffices.
    """
    width = min_count if width is None else width
    if width > MAX_BASE:
        raise UsageError(f"`width` must be at most {MAX_BASE:,}; got {expect.describe_value(width)}.")
    if table.counts.dtype.kind not in "iu":
        raise UsageError("`table` must have whole counts; got expected counts.")
    entries = add_totals(table.counts)
    small = (entries > 0) & (entries < min_count)
    if small.flat[-1]:
        raise SanitizationError(f"the table has fewer than {min_count} records, so no part can be published.")
    hidden, sums = small.copy(), totals_matrix(table.counts.shape)
    low, high = bound_suppressed(np.ma.array(entries, mask=hidden))
    for place in np.flatnonzero(small).tolist():
        if high.flat[place] - low.flat[place] < width:
            hidden.flat[np.flatnonzero(_find_complement(sums, entries.ravel(), hidden.ravel(), place, width))] = True
            low, high = bound_suppressed(np.ma.array(entries, mask=hidden))
    published = np.ma.array(np.where(hidden, 0, entries), mask=hidden)
    low, high = bound_suppressed(published)
    if (high - low)[small].min(initial=width) < width:
        raise SanitizationError(f"a small count has bounds that differ by less than {width}. Lower `width`.")
    return SuppressedTable(published, small, low, high)


def _find_complement(sums: Any, entries: IntArray, hidden: BoolArray, place: int, width: int) -> BoolArray:
    """Return, as a boolean array, the entries that have to be hidden so that one entry is uncertain by `width`.

    The program looks for two tables that agree in all published entries, and differ by `width` in the entry at `place`.
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
    total = np.arange(number) == number - 1  # without the total, counts have no bound
    costs = np.where(hidden, 0, 1 + entries / (entries[-1] * number))
    found = milp(
        np.concatenate([np.zeros(2 * cells), costs]),
        constraints=constraints,
        bounds=Bounds(np.zeros(2 * cells + number), np.concatenate([np.full(2 * cells, np.inf), ~total])),
        integrality=np.ones(2 * cells + number),
    )
    if found.x is None:
        raise SanitizationError(
            f"no suppression leaves a count of {entries[place]} uncertain by {width}. Lower `width`, or merge values."
        )
    return found.x[2 * cells :] > 0.5
