"""Classes by every subset of m quasi-identifiers, and the columns and values that make classes small (LKC, k^m).

An adversary seldom knows all quasi-identifiers of a person. This module computes k for every set of m
quasi-identifiers.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from privnb.microdata.counts import count_people_by_group, group_codes
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError


class SmallClasses(NamedTuple):
    """The classes of a table with n rows by each of s subsets of its m attributes.

    Attributes
    ----------
    subsets : boolean array (s, m)
        The attributes of each subset.
    smallest : integer array (s,)
        The number of people in the smallest class by each subset, which is k for an adversary who knows these
        attributes. Higher protects more.
    contributions : integer array (n, m)
        For each row and each attribute, the number of subsets that contain the attribute and by which the row is in a
        class of fewer than k people.
    """

    subsets: BoolArray
    smallest: IntArray
    contributions: IntArray

    def __repr__(self) -> str:  # never show the rows, which may be records
        return f"SmallClasses({len(self.subsets)} subsets; the smallest class has {self.smallest.min()} people)"


def find_small_classes(
    columns: Sequence[IntArray],
    size: int,
    k: int,
    times: IntArray | None = None,
    people: IntArray | None = None,
) -> SmallClasses:
    """Return the classes by every subset of `size` attributes, see `SmallClasses`.

    Smaller subsets need not be counted, because their classes are unions of the classes by larger subsets.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each quasi-identifier.
    size : int
        The number of attributes that an adversary knows, from 1 to m.
    k : int
        The minimum class size, at least 2.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.
    people : integer array (n,), optional
        The number of each row's person, from 0, which is needed if a person may have several rows.

    Raises
    ------
    ValueError
        If `size` is not from 1 to m, or if `k` is below 2.

    Source: Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data", KDD 2009 (LKC-privacy, with L = `size` and
    without the limit on confidence); Terrovitis, Mamoulis and Kalnis, VLDB 2008 (k^m-anonymity).

    Examples
    --------
    >>> found = find_small_classes([np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([0, 1, 1])], size=2, k=2)
    >>> found.smallest.tolist(), found.contributions.sum(axis=0).tolist()
    ([1, 1, 1], [4, 2, 4])
    """
    m = len(columns)
    expect.whole("k", k, 2)
    if not 1 <= expect.whole("size", size, 1) <= m:
        raise UsageError(f"`size` must be from 1 to {m}, the number of columns; got {size}.")
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    subsets = [*combinations(range(m), size)]
    members, contributions = np.zeros((len(subsets), m), dtype=bool), np.zeros((len(columns[0]), m), dtype=np.int64)
    smallest = np.zeros(len(subsets), dtype=np.int64)
    for i, subset in enumerate(subsets):
        group = group_codes([columns[c] for c in subset], [widths[c] for c in subset])[1]
        sizes = count_people_by_group(group, people, times=times)
        members[i, list(subset)], smallest[i] = True, sizes.min()
        contributions[np.ix_(sizes[group] < k, members[i])] += 1
    return SmallClasses(members, smallest, contributions)


def sum_by_value(contributions: FloatArray | IntArray, columns: Sequence[IntArray]) -> list[FloatArray]:
    """Return the total contribution of each value of each column, as m float arrays (values,).

    Parameters
    ----------
    contributions : array (n, m)
        The contribution of each column in each row; see `SmallClasses` and `suda.suda_contributions`.
    columns : m integer arrays (n,)
        The codes, from 0, of each column.

    Examples
    --------
    >>> [each.tolist() for each in sum_by_value(np.array([[1], [2], [4]]), [np.array([0, 1, 0])])]
    [[5.0, 2.0]]
    """
    return [np.bincount(codes, contributions[:, c]).astype(float) for c, codes in enumerate(columns)]
