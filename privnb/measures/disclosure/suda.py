"""Special uniques, by the small sets of attributes that single out a person in a sample (SUDA2).

A set of attributes is a minimal sample unique (MSU) of a person if nobody else in the sample has the person's values of
these attributes, but, for every proper subset of these attributes, somebody else has the same values. A person with
many small MSUs is also more likely to be unique in the population.
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
        The attributes of each subset that is an MSU of at least one person.
    subset, row : integer arrays (q,)
        The position of the subset of each MSU, and the distinct row that the subset singles out.
    index : integer array (n,)
        The number of the distinct row, from 0, that equals each row of the table.
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
        """Return the score of each MSU as a float array (q,); see `suda_scores`."""
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
    """Return all minimal sample uniques of a table, found by an exact search over the subsets of its attributes.

    The search reads the distinct rows, and tries small subsets first. If a subset singles out a row, every larger
    subset that contains the subset also singles out the row, so the search skips the row for these larger subsets.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.
    people : integer array (n,), optional
        The number of each row's person, from 0, which is needed if a person may have several rows.
    max_size : int, optional
        The maximum number of attributes in an MSU; by default, m. There are about 2^m subsets; see `affordable_size`.

    Raises
    ------
    ValueError
        If there are no columns, or if `max_size` is not from 1 to m.

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
        """Return, for each row, the number of people with the row's values of the attributes in a subset."""
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
    """Return the largest `max_size`, at least 1, for which a search over `rows` distinct rows takes reasonable time.

    >>> affordable_size(25_000, 8), affordable_size(1_000_000, 8)
    (8, 1)
    """
    subsets = np.cumsum([comb(columns, size) for size in range(1, columns + 1)])
    return max(int(np.searchsorted(subsets, GROUPED_ROWS / max(rows, 1), side="right")), 1)


def suda_scores(uniques: MinimalUniques, weighting: Weighting = "factorial") -> FloatArray:
    """Return the SUDA score of each row, as a float array (n,), at least 0; lower protects more.

    If another person has the same row, the score is 0. Otherwise, the score of a row is a sum over the MSUs of the row.
    An MSU of s out of m attributes adds to this sum:

    - "factorial": (m - s)!, the product of (m - i) for i from s to m - 1. This number does not depend on `max_size`, so
      scores of different searches can be compared. sdcMicro computes these scores.
    - "supersets": (2^(m - s) - 1) / binomial(m, s), the number of larger subsets that contain the MSU, divided by the
      number of subsets of s attributes. sdcMicro computes these scores with `original_scores = FALSE`.

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
    """Return the probability that a match with each row is correct, as a float array (n,); lower protects more.

    Probabilities are from 0 to 1. For the whole file, the probability that a match with a unique row is correct is DIS
    = U f / (U f + P (1 - f)), where U is the number of unique people, and P is the number of people in pairs. DIS is
    distributed over the unique rows by the scores of the rows. The odds of a row are the odds of DIS times score^q
    times the mean of score^-q, with q = 1 + (8 - m) / 20 as in sdcMicro. Rows with the score 0 have the probability 0.

    Parameters
    ----------
    uniques : MinimalUniques
    fraction : float
        The share f of the population that is in the sample, above 0 and below 1.
    weighting : str
        The weighting of the scores; see `suda_scores`.

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
    """Return the part of each row's score that is due to MSUs with each attribute, as a float array (n, m).

    The contribution of an attribute is the sum of its column, divided by the sum of `suda_scores`. The contribution of
    a value of the attribute is the sum over the rows with this value, divided by the sum of `suda_scores`.

    Source: sdcMicro, `suda2`, attribute and attribute-level contributions.

    >>> table = [np.array([2, 1, 1]), np.array([0, 3, 0]), np.array([0, 6, 0])]
    >>> found = find_minimal_uniques(table)
    >>> (suda_contributions(found).sum(axis=0) / suda_scores(found).sum()).tolist()
    [0.5, 0.375, 0.375]
    """
    (d, m), weights = (len(uniques.sizes), uniques.subsets.shape[1]), uniques.weigh()
    through = [np.bincount(uniques.row, weights * uniques.subsets[uniques.subset, column], d) for column in range(m)]
    return np.stack(through, axis=1).astype(float)[uniques.index]
