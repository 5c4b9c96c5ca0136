"""Count the records that predicates match; all arguments are numbers.

A predicate is a list of terms, each about one column. A term names an interval of numbers, or a cell whose values a
category must be among.
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
    """Count the people whom each predicate matches in any of their records.

    Parameters
    ----------
    columns, kinds, terms : integer arrays (predicates, terms)
        The column of each term, its kind, and the cell that it names.
    ends : float array (predicates, terms, 2)
        The first and the last number of each term.
    codes : integer array (columns, records)
        The distinct cell of each record.
    cells : float array (columns, distinct, 2)
        The first and the last number of each distinct cell.
    gaps : boolean array (columns, distinct)
        Whether each cell may be a missing number.
    numeric : boolean array (columns,)
    covers : boolean array
        For each column, one after the other, whether each named cell (rows) and each distinct cell of the records have
        a value in common.
    starts, widths : integer arrays (columns,)
        Where each column begins in `covers`, and the number of its distinct cells of records.
    owners : integer array (records,)
        The person of each record.
    enough : int
        Stop after this number of people.

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
