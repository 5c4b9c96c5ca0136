"""People of a hold-out who also have a record in the table, and who therefore make the membership risk look smaller."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privnb.measures.intervals import QUANTILE, normal_interval
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated


class HoldoutOverlap(NamedTuple):
    """How many people of a hold-out have the values of a record, and how many of them are probably in the table.

    Attributes
    ----------
    people : int
        The people of the hold-out.
    equal : int
        The people of the hold-out who have the values of a record, by chance or because the record is theirs.
    expected : float
        The share of records that have the values of another record, from 0 to 1. A person of the same population who
        is not in the table has the values of a record with nearly the same probability.
    inside, low, high : float
        The estimated share of the hold-out that is in the table, from 0 to 1, with its 95% interval. Lower is better.
    """

    people: int
    equal: int
    expected: float
    inside: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of the hold-out that has the values of a record, from 0 to 1."""
        return self.equal / self.people


@validated
def measure_overlap(records: IntArray, others: IntArray) -> HoldoutOverlap:
    """Measure how many people of a hold-out have the values of a record, and estimate how many are in the table.

    Let s be the share of the hold-out with the values of a record, and e the share of records with the values of
    another record. If a share i of the hold-out is in the table, then s = i + (1 - i) e on average, so that
    i = (s - e) / (1 - e). The interval is that of a difference of two independent shares (Wald).

    Parameters
    ----------
    records, others : integer array (n,), (m,)
        The number of the combination of values of each record, and of each person of the hold-out.

    Returns
    -------
    HoldoutOverlap

    Raises
    ------
    ValueError
        If there are no records or no other people.

    Examples
    --------
    >>> found = measure_overlap(np.arange(100), np.append(np.arange(20), np.arange(200, 280)))
    >>> found.equal, found.expected, found.inside
    (20, 0.0, 0.2)
    """
    if not (len(records) and len(others)):
        raise UsageError(
            f"`records` and `others` must not be empty; got {len(records)} and {len(others)} entries. Give "
            "people who are not in the table."
        )
    times = np.bincount(records, minlength=int(max(records.max(), others.max())) + 1)
    equal, expected = int(np.count_nonzero(times[others])), float(np.mean(times[records] > 1))
    share = equal / len(others)
    if expected == 1:  # every record has the values of another one, so nobody can be recognized
        return HoldoutOverlap(len(others), equal, expected, 0.0, 0.0, 1.0)
    error = np.sqrt(share * (1 - share) / len(others) + expected * (1 - expected) / len(records))
    ends = (share - expected, *normal_interval(share - expected, float(error), QUANTILE))
    inside, low, high = (min(1.0, max(0.0, end / (1 - expected))) for end in ends)
    return HoldoutOverlap(len(others), equal, expected, inside, low, high)
