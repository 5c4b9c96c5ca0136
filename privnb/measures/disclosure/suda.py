"""Special uniques: the small sets of attributes that single out a person of a sample (SUDA2).

A set of attributes is a minimal sample unique (MSU) of a person if nobody else in the sample has the person's values of
these attributes, and every smaller set of them is shared with somebody. A person with many small MSUs stands out for
many reasons, and is more likely to be unique in the population, too.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb, factorial
from typing import Literal, NamedTuple

import numpy as np

from privnb.measures.base import register_measure
from privnb.microdata.counts import count_people_by_group, group_codes
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError

GROUPED_ROWS = 2**25  # the number of rows, over all subsets, that `affordable_size` allows: a few seconds

Weighting = Literal["factorial", "supersets"]

register_measure(
    "suda_share",
    kind="privacy",
    title="SUDA contribution",
    sentence="This share of the total SUDA score comes from minimal sample uniques that include the column, or the "
    "value of the column. Generalizing the columns and values with the largest shares protects the most. The shares of "
    "columns do not add up to 100%, because a minimal sample unique may include several columns.",
    source="Manning, Haglin and Keane, DMKD 16, 2008; Templ, Statistical Disclosure Control for Microdata, 2017",
    unit="share of the score",
)


class MinimalUniques(NamedTuple):
    """The minimal sample uniques (MSUs) of a table with n rows and m attributes.

    Attributes
    ----------
    subsets : boolean array (s, m)
        The attributes of each subset that is an MSU of somebody.
    subset, row : integer arrays (q,)
        The subset of each MSU, and the distinct row that it singles out.
    index : integer array (n,)
        The distinct row, from 0, of each given row.
    sizes : integer array (d,)
        The number of people with each distinct row.
    """

    subsets: BoolArray
    subset: IntArray
    row: IntArray
    index: IntArray  # type: ignore[assignment]  # a tuple has a method of that name
    sizes: IntArray

    def __repr__(self) -> str:  # never show the rows, which may be records
        return f"MinimalUniques({len(self.row)} in {len(self.subsets)} subsets of {self.subsets.shape[1]} attributes)"

    def weigh(self, weighting: Weighting = "factorial") -> FloatArray:
        """Return the score of each MSU, float array (q,), see `suda_scores`."""
        m = self.subsets.shape[1]
        by_size = [
            factorial(m - size) if weighting == "factorial" else (2 ** (m - size) - 1) / comb(m, size)
            for size in range(m + 1)
        ]
        return np.array(by_size, dtype=float)[self.subsets.sum(axis=1)][self.subset]


def find_minimal_uniques(
    columns: Sequence[IntArray],
    times: IntArray | None = None,
    people: IntArray | None = None,
    max_size: int | None = None,
) -> MinimalUniques:
    """Find all minimal sample uniques of a table, by exact search over the subsets of its attributes by size.

    The search works on the distinct rows. A row that a subset singles out is singled out by every larger subset and
    shares its values with nobody, so the search leaves it out there.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    times : integer array (n,), optional
        The number of people that each row represents; by default one.
    people : integer array (n,), optional
        The person of each row, from 0, if a person may have several rows.
    max_size : int, optional
        The largest number of attributes in an MSU; by default m. There are about 2^m subsets, see `affordable_size`.

    Raises
    ------
    ValueError
        If there are no columns, or `max_size` is not from 1 to m.

    Source: Manning, Haglin and Keane, "A recursive search algorithm for statistical disclosure assessment", DMKD 16,
    2008; Elliot, Manning and Ford, "A computational algorithm for handling the special uniques problem", IJUFKS 10(5),
    2002.

    Examples
    --------
    >>> found = find_minimal_uniques([np.array([1, 0, 0]), np.array([0, 1, 0])])
    >>> found.subsets[found.subset].astype(int).tolist(), found.index[[0, 1, 2]].tolist(), found.row.tolist()
    ([[1, 0], [0, 1], [1, 1]], [2, 1, 0], [2, 1, 0])
    """
    m = len(columns)
    largest = m if max_size is None else expect.whole("max_size", max_size, 1)
    if not 1 <= largest <= m:
        raise UsageError(f"`columns` must be at least one, and `max_size` from 1 to {m}; got max_size={max_size}.")
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    keys = [*columns] if people is None else [*columns, people]
    first, row = group_codes(keys, [*widths, *([] if people is None else [int(people.max(initial=0)) + 1])])
    codes, whose = [column[first] for column in columns], None if people is None else people[first]
    number = np.bincount(row, times).astype(np.int64)

    def count_people(subset: tuple[int, ...], rows: IntArray) -> IntArray:
        """Return the number of people who share the values of a subset with each of the rows."""
        group = group_codes([codes[c][rows] for c in subset], [widths[c] for c in subset])[1]
        some = None if whose is None else whose[rows]
        return count_people_by_group(group, some, times=number[rows])[group]

    subsets, found = list[tuple[int, ...]](), list[IntArray]()
    singled: dict[tuple[int, ...], BoolArray] = {(): np.zeros(len(first), dtype=bool)}
    for size in range(1, largest + 1):
        smaller, singled = singled, {}
        for subset in combinations(range(m), size):
            alone = np.logical_or.reduce([smaller[subset[:i] + subset[i + 1 :]] for i in range(size)])
            rest = np.flatnonzero(~alone)
            new = rest[count_people(subset, rest) == 1] if len(rest) else rest
            alone[new] = True
            singled[subset] = alone
            if len(new):
                subsets.append(subset)
                found.append(new)
    every = np.arange(len(first))
    members = np.zeros((len(subsets), m), dtype=bool)
    for i, subset in enumerate(subsets):
        members[i, list(subset)] = True
    lengths = [len(each) for each in found]
    return MinimalUniques(
        members,
        np.repeat(np.arange(len(subsets)), lengths),
        np.concatenate([every[:0], *found]),
        row,
        count_people(tuple(range(m)), every) if len(every) else number,
    )


def affordable_size(rows: int, columns: int) -> int:
    """Return the largest size of an MSU that a search over this number of distinct rows can afford: int, at least 1.

    >>> affordable_size(25_000, 8), affordable_size(1_000_000, 8)
    (8, 1)
    """
    subsets = np.cumsum([comb(columns, size) for size in range(1, columns + 1)])
    return max(int(np.searchsorted(subsets, GROUPED_ROWS / max(rows, 1), side="right")), 1)


def suda_scores(uniques: MinimalUniques, weighting: Weighting = "factorial") -> FloatArray:
    """Return the SUDA score of each row: float array (n,), from 0; lower protects more.

    A row that somebody else shares has the score 0. An MSU of s among m attributes adds to the score of its row:

    - "factorial": (m - s)!, the product of (m - i) for i from s to m - 1. It is the same for every `max_size`, so that
      scores of different searches can be compared. sdcMicro computes these scores.
    - "supersets": (2^(m - s) - 1) / binomial(m, s), the number of larger subsets, divided by the number of subsets of
      the size s. sdcMicro computes these scores with `original_scores = FALSE`.

    Parameters
    ----------
    uniques : MinimalUniques
    weighting : str
        "factorial" or "supersets".

    Source: Elliot, Manning, Mayes, Gurd and Bane, "SUDA: a program for detecting special uniques", UNECE work session
    on statistical data confidentiality, 2005; Manning, Haglin and Keane, DMKD 16, 2008; sdcMicro, `suda2`.

    >>> suda_scores(find_minimal_uniques([np.array([2, 1, 1]), np.array([0, 3, 0]), np.array([0, 6, 0])])).tolist()
    [2.0, 4.0, 2.0]
    """
    return np.bincount(uniques.row, uniques.weigh(weighting), len(uniques.sizes)).astype(float)[uniques.index]


def dis_suda_scores(uniques: MinimalUniques, fraction: float, weighting: Weighting = "factorial") -> FloatArray:
    """Return the probability that a match with each row is correct: float array (n,), 0 to 1; lower protects more.

    The file-level probability DIS that a match with a unique row is correct follows from the numbers U of unique people
    and P of people in pairs, DIS = U f / (U f + P (1 - f)). It is spread over the unique rows by their scores: the odds
    are those of DIS times score^q times the mean of score^-q, with q = 1 + (8 - m) / 20 as in sdcMicro. Rows of score 0
    have the probability 0.

    Parameters
    ----------
    uniques : MinimalUniques
    fraction : float
        The share f of the population that is in the sample, above 0 and below 1.
    weighting : str
        The weighting of the scores, see `suda_scores`.

    Source: Skinner and Elliot, "A measure of disclosure risk for microdata", JRSS B 64(4), 2002 (DIS); sdcMicro,
    `suda2` (the exponent q).

    >>> table = [np.array([0, 1, 2, 2]), np.array([0, 1, 1, 1])]
    >>> dis_suda_scores(find_minimal_uniques(table), 0.1).round(4).tolist()
    [0.1613, 0.0725, 0.0, 0.0]
    """
    expect.between("fraction", fraction, 0, 1, "a sample is a part of the population")
    scores = suda_scores(uniques, weighting)
    scored, m = scores[scores > 0], uniques.subsets.shape[1]
    alone, paired = np.count_nonzero(uniques.sizes == 1), 2 * np.count_nonzero(uniques.sizes == 2)
    if not len(scored):
        return scores
    if not paired:
        return (scores > 0).astype(float)
    q = 1 + (8 - m) / 20
    odds = alone * fraction / (paired * (1 - fraction)) * scores**q * np.mean(scored**-q)
    return odds / (1 + odds)


def suda_contributions(uniques: MinimalUniques) -> FloatArray:
    """Return the score of each row through the MSUs that include each attribute: float array (n, m).

    Divided by the total of `suda_scores`, the sum over the rows is the contribution of an attribute, and the sum over
    the rows with one of its values is the contribution of this value.

    Source: sdcMicro, `suda2`, attribute and attribute-level contributions.

    >>> table = [np.array([2, 1, 1]), np.array([0, 3, 0]), np.array([0, 6, 0])]
    >>> found = find_minimal_uniques(table)
    >>> (suda_contributions(found).sum(axis=0) / suda_scores(found).sum()).tolist()
    [0.5, 0.375, 0.375]
    """
    (d, m), weights = (len(uniques.sizes), uniques.subsets.shape[1]), uniques.weigh()
    through = [np.bincount(uniques.row, weights * uniques.subsets[uniques.subset, column], d) for column in range(m)]
    return np.stack(through, axis=1).astype(float)[uniques.index]
