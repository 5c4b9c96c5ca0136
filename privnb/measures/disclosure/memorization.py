"""Copies of records in synthetic rows, by the share of rows that equal a record and are not equal by chance.

A row that equals a record need not be a copy, because common combinations of values occur in every table. The hold-out
is the control; it consists of people from the same population whose records the synthesizer did not read. If a row is
drawn from the population, it equals a record of the table and a record of the hold-out with the same probability. If a
row is a copy, it always equals a record of the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from privnb.measures.intervals import QUANTILE, normal_interval
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Matrix, validated


class CopiedShare(NamedTuple):
    """An estimate of the share of rows that are copies of records, with its 95% interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its 95% interval, from 0 to 1; lower is better.
    equal : float
        The share of rows that equal a record of the table, whether by chance or not.
    by_chance : float
        The share of rows that would equal a record of a hold-out that is as large as the table.
    """

    value: float
    low: float
    high: float
    equal: float
    by_chance: float


@validated
def estimate_copied_share(rows: IntArray, records: IntArray, others: IntArray) -> CopiedShare:
    """Return an estimate of the share of synthetic rows that were copied from records.

    All records are compared with the rows. If the table is larger than the hold-out, the table is divided into parts as
    large as the hold-out; if the hold-out is larger, it is divided into parts as large as the table. The results of the
    parts are averaged.

    Let `a` be the share of parts of the table in which a row occurs, and `b` the share of equally large parts of the
    hold-out in which the row occurs. The mean of a - b is 0 for rows that are drawn from the population. For copies,
    the mean of a - b is the mean over all records. The estimate is therefore the mean of a - b over the rows, divided
    by the mean of a - b over the records. The interval counts equal rows as one observation, because equal rows occur
    in the same parts.

    Parameters
    ----------
    rows : integer array (r,)
        The code of the combination of values of each synthetic row.
    records, others : integer array (n,), (m,)
        The code of the combination of values of each record of the table, and of each record of the hold-out.

    Returns
    -------
    CopiedShare

    Raises
    ------
    ValueError
        If there are no rows, no records or no people in the hold-out, or if all records also occur in the hold-out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> records, others, fresh = np.split(rng.integers(0, 10**6, 3000), 3)
    >>> found = estimate_copied_share(np.append(records[:100], fresh[:900]), records, others)
    >>> round(found.value, 2), found.low < 0.1 < found.high
    (0.1, True)
    """
    if not (len(rows) and len(records) and len(others)):
        raise UsageError(
            f"rows, records and others must not be empty; got {len(rows)}, {len(records)} and {len(others)}. Give "
            "people who are not in the table as the hold-out."
        )
    size = int(max(rows.max(), records.max(), others.max())) + 1
    part = min(len(records), len(others))
    in_records, in_others = (_share_of_parts(each, part, size) for each in (records, others))
    of_copies = float((in_records - in_others)[records].mean())
    if of_copies <= 0:
        raise UsageError("records must differ from the hold-out; all of them occur there. Give other people.")
    values, times = np.unique(rows, return_counts=True)
    difference = (in_records - in_others)[values]
    mean = float(np.dot(times, difference)) / len(rows)
    error = float(np.sqrt(np.square(times * (difference - mean)).sum())) / len(rows)
    ends = (mean, *normal_interval(mean, error, QUANTILE))
    value, low, high = (min(1.0, max(0.0, end / of_copies)) for end in ends)
    is_there = _share_of_parts(records, len(records), size)
    return CopiedShare(value, low, high, float(is_there[rows].mean()), float(in_others[rows].mean()))


@validated
def share_nearer(rows: Matrix, records: Matrix, others: Matrix, most: FloatArray) -> float:
    """Return the share of rows that are nearer to a record of the table than to any record of the hold-out.

    This number is widely used, but it misleads: a file whose rows copy a tenth of the records and are far from all
    other records can have the same number as a file without copies. Compare the number with `estimate_copied_share` and
    with the membership risk.

    Parameters
    ----------
    rows, records, others : float array (r, columns), (n, columns), (m, columns)
        The cells as numbers whose differences are distances. A row that is equally near to a record of the table and to
        a record of the hold-out counts as n / (n + m) of a row. The expected result without memorization is also n / (n
        + m).
    most : float array (columns,)
        The maximum distance between two cells of each column; larger distances count as this maximum.

    Returns
    -------
    float
        The share, from 0 to 1; lower is better.

    Examples
    --------
    >>> rows, records, others = np.array([[0.0], [1.0]]), np.array([[0.0]]), np.array([[1.0]])
    >>> share_nearer(rows, records, others, np.array([np.inf]))
    0.5
    """
    distinct, times = np.unique(rows, axis=0, return_counts=True)
    near, far = (_nearest(distinct, np.unique(each, axis=0), most) for each in (records, others))
    tied = np.abs(near - far) <= ROUNDING
    nearer = np.where(tied, len(records) / (len(records) + len(others)), near < far)
    return float(np.dot(times, nearer)) / len(rows)


@njit(cache=True)
def _nearest(rows: FloatArray, records: FloatArray, most: FloatArray) -> FloatArray:
    """Return the distance between each row and the nearest record, as a float array (rows,)."""
    found = np.empty(len(rows))
    for row in range(len(rows)):
        least = np.inf
        for record in range(len(records)):
            apart = 0.0
            for column in range(rows.shape[1]):
                apart += min(abs(rows[row, column] - records[record, column]), most[column])
                if apart >= least:
                    break
            least = min(least, apart)
        found[row] = least
    return found


def _share_of_parts(records: IntArray, part: int, size: int) -> FloatArray:
    """Return the share of parts in which each combination of values occurs, as a float array (size,).

    Each part has `part` records, and each record is in at least one part. The last part is filled with records of the
    first part.
    """
    mixed = np.random.default_rng(0).permutation(records)
    number = -(-len(records) // part)
    parts = np.resize(mixed, (number, part))
    return np.mean([np.bincount(each, minlength=size) > 0 for each in parts], axis=0)
