"""Counts of the records that match predicates, on arrays of numbers.

A predicate is a list of terms, and each term is about one column. A term contains an interval in which a number must
be, or a cell among whose values a category must be.
"""

import numpy as np
from numba import njit

from privnb.runtime.arrays import BoolArray, FloatArray, IntArray

AMONG, NOT_AMONG, MISSING, ANYTHING = 0, 1, 2, 3  # kinds of terms


@njit(cache=True)
def _meets(
    kind: int, low: float, high: float, own_low: float, own_high: float, gap: bool, numeric: bool, covered: bool
) -> bool:
    if kind == ANYTHING:
        return True
    if kind == MISSING:
        return gap
    if numeric:
        meets = own_low <= high and own_high >= low
        return meets if kind == AMONG else not meets
    return covered if kind == AMONG else not covered


@njit(cache=True)
def count_matches(
    columns: IntArray,
    kinds: IntArray,
    ends: FloatArray,
    terms: IntArray,
    codes: IntArray,
    cells: FloatArray,
    gaps: BoolArray,
    numeric: BoolArray,
    covers: BoolArray,
    starts: IntArray,
    widths: IntArray,
    owners: IntArray,
    enough: int,
) -> IntArray:
    """Return the number of people of whom at least one record matches each predicate.

    Parameters
    ----------
    columns, kinds, terms : integer arrays (predicates, terms)
        The column, the kind and the cell of each term.
    ends : float array (predicates, terms, 2)
        The first and the last number of each term.
    codes : integer array (columns, records)
        The distinct cell of each record.
    cells : float array (columns, distinct, 2)
        The first and the last number of each distinct cell.
    gaps : boolean array (columns, distinct)
        Whether each distinct cell may be a missing number.
    numeric : boolean array (columns,)
    covers : boolean array
        For each column, one after the other, whether each cell of a term (rows) and each distinct cell of the records
        (columns) have a value in common.
    starts, widths : integer arrays (columns,)
        The position at which each column begins in `covers`, and the number of distinct cells that the records have in
        the column.
    owners : integer array (records,)
        The person of each record.
    enough : int
        The number of people after which the count of a predicate stops.

    Returns
    -------
    integer array (predicates,)
    """
    found = np.zeros(len(columns), dtype=np.int64)
    seen = np.full(owners.max() + 1, -1)
    for predicate in range(len(columns)):
        number = 0
        for record in range(len(owners)):
            meets = True
            for term in range(columns.shape[1]):
                column = columns[predicate, term]
                code = codes[column, record]
                covered = False
                if not numeric[column]:
                    covered = covers[starts[column] + terms[predicate, term] * widths[column] + code]
                own = cells[column, code]
                if not _meets(
                    kinds[predicate, term], ends[predicate, term, 0], ends[predicate, term, 1], own[0], own[1],
                    gaps[column, code], numeric[column], covered,
                ):  # fmt: skip
                    meets = False
                    break
            if meets and seen[owners[record]] != predicate:
                seen[owners[record]] = predicate
                number += 1
                if number >= enough:
                    break
        found[predicate] = number
    return found
