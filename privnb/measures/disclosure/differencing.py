"""Differencing, the disclosure by two releases of the same people that neither of the two releases causes alone.

An adversary has both releases and knows the quasi-identifiers of a person. In each release, the adversary finds the
class that covers the person. The functions make three comparisons of the two classes:

| comparison | reveals | function |
|---|---|---|
| the rows in both classes | the person is one of them, if rows of one record can be matched | `join_classes` |
| the values in both classes | the person has one of them, even if rows cannot be matched | `find_common_values` |
| the counts of both classes | the values of people who are in one release only | `subtract_classes` |

All functions take the class of each record in each release as integer arrays (n,) from 0. A record that is not in a
release has the class `ABSENT` in this release, and is compared with the other absent records. If rows can be matched,
the rows that only one release has are the rows of people who were added or dropped.

References
----------
Ganta, Kasiviswanathan, Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008, section 2, for
the intersection attack. Byun, Li, Bertino, Li, Sohn, "Privacy-preserving incremental data dissemination", Journal of
Computer Security 17, 2009, for the difference attack and the tracing of records.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from privnb.microdata.counts import group_codes, tabulate
from privnb.runtime.arrays import BoolArray, IntArray

ABSENT = -1  # the class of a record that a release does not have
UNKNOWN = -1  # the code of a cell that is not a value, such as a label or `*`


def join_classes(old: IntArray, new: IntArray) -> IntArray:
    """Return the joint class of each record, as an integer array (n,) of numbers from 0.

    Records with the same class in the old release and the same class in the new release have the same joint class.

    Parameters
    ----------
    old, new : integer array (n,)
        The class of each record in each release.

    Examples
    --------
    If two releases divide the same four people into different classes of two people, each joint class has one person:

    >>> join_classes(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])).tolist()
    [0, 1, 2, 3]

    A person who was added to a class is the only person in a joint class:

    >>> join_classes(np.array([0, 0, ABSENT]), np.array([0, 0, 0])).tolist()
    [1, 1, 0]
    """
    columns = [old - ABSENT, new - ABSENT]
    return group_codes(columns, [int(each.max(initial=0)) + 1 for each in columns])[1]


def list_class_values(classes: IntArray, codes: IntArray, shape: tuple[int, int]) -> BoolArray:
    """Return which sensitive values a person in each class may have, as a boolean array (classes + 1, values).

    The last row is for people who are not in the release, who may have any value.

    Parameters
    ----------
    classes, codes : integer array (rows,)
        The class and the value of each row. A row with the code `UNKNOWN` may have any value.
    shape : pair of int
        The number of classes, and the number of values.

    Examples
    --------
    >>> list_class_values(np.array([0, 0, 1]), np.array([0, 1, 1]), (2, 3)).astype(int).tolist()
    [[1, 1, 0], [0, 1, 0], [1, 1, 1]]
    """
    found = np.zeros((shape[0] + 1, shape[1]), dtype=bool)
    found[ABSENT] = True
    known = codes != UNKNOWN
    found[classes[known], codes[known]] = True
    found[classes[~known]] = True
    return found


def find_common_values(of_old: BoolArray, of_new: BoolArray, old: IntArray, new: IntArray) -> BoolArray:
    """Return which values occur in both classes of each record, as a boolean array (n, values).

    The function performs the intersection attack, which does not match rows. An adversary who knows only the two
    classes of a person concludes that the person has one of the values in both classes.

    Parameters
    ----------
    of_old, of_new : boolean array (classes + 1, values)
        The results of `list_class_values` for the old and for the new release.
    old, new : integer array (n,)
        The class of each record in each release.

    Examples
    --------
    A class has cold and flu in the first release, and flu and gout in the second release:

    >>> cold_flu, flu_gout = np.array([[1, 1, 0], [1, 1, 1]]) > 0, np.array([[0, 1, 1], [1, 1, 1]]) > 0
    >>> find_common_values(cold_flu, flu_gout, np.array([0]), np.array([0])).astype(int).tolist()
    [[0, 1, 0]]
    """
    return of_old[old] & of_new[new]


class Differences(NamedTuple):
    """The differences between the counts of values in two releases, by region.

    Records that are in both releases are shared. A region is a smallest set of classes of one release that contains the
    same shared records as a set of classes of the other release. Shared records cancel out in the difference between
    the two counts of a region.

    Attributes
    ----------
    region : integer array (n,)
        The region of each record, from 0; `ABSENT` for a record that neither release has.
    added, dropped : integer array (regions, values)
        The number of records with each value that only the new release has, and the number that only the old release
        has.
    """

    region: IntArray
    added: IntArray
    dropped: IntArray

    def find_revealed(self, is_added: BoolArray, k: int) -> BoolArray:
        """Return whether the differences reveal each person who was added or dropped.

        A person is revealed if the number of records that remain in the difference of the person's region is below `k`.

        Parameters
        ----------
        is_added : boolean array (n,)
            True for records that only the new release has. The other compared records are those that only the old
            release has.
        k : int

        Returns
        -------
        boolean array (n,)
        """
        return np.where(is_added, *((0 < left) & (left < k) for left in self._left)) & (self.region != ABSENT)

    def find_certain(self, is_added: BoolArray, codes: IntArray) -> BoolArray:
        """Return whether the only value in the difference is the value of each person who was added or dropped.

        Parameters
        ----------
        is_added : boolean array (n,)
            See `find_revealed`.
        codes : integer array (n,)
            The value of each record.

        Returns
        -------
        boolean array (n,)
        """
        sure = [(side > 0).sum(axis=1)[self.region] == 1 for side in (self.added, self.dropped)]
        own = [side[self.region, codes] > 0 for side in (self.added, self.dropped)]
        pairs = (one & other for one, other in zip(sure, own, strict=True))
        return np.where(is_added, *pairs) & (self.region != ABSENT)

    @property
    def _left(self) -> tuple[IntArray, IntArray]:
        """The numbers of added and of dropped records that remain in each record's region, as two arrays (n,)."""
        added, dropped = (side.sum(axis=1)[self.region] for side in (self.added, self.dropped))
        return added, dropped


def subtract_classes(
    old: IntArray, new: IntArray, old_codes: IntArray, new_codes: IntArray, values: int
) -> Differences:
    """Return, by region, the counts of the new release minus the counts of the old release.

    The function performs the difference attack, which does not match rows. The number of people who were added to a
    region is the difference between the two counts of the region, and the values of these people are the difference
    between the two multisets of values. If one added person and one dropped person have the same value, the value
    cancels out.

    Parameters
    ----------
    old, new : integer array (n,)
        The class of each record in each release.
    old_codes, new_codes : integer array (n,)
        The value of each record in each release, from 0. The function does not read the values of absent records.
    values : int
        The number of values.

    Examples
    --------
    One person has flu, another person has gout, and a third person with flu is added to the class of these two people:

    >>> old, new, codes = np.array([0, 0, ABSENT]), np.array([0, 0, 0]), np.array([0, 1, 0])
    >>> found = subtract_classes(old, new, codes, codes, 2)
    >>> found.added.tolist(), found.dropped.tolist()
    ([[1, 0]], [[0, 0]])
    >>> found.find_revealed(np.array([False, False, True]), 2).tolist()
    [False, False, True]
    """
    in_old, in_new = old != ABSENT, new != ABSENT
    first = int(old.max(initial=ABSENT)) + 1
    nodes = first + int(new.max(initial=ABSENT)) + 1
    shared = in_old & in_new
    edges = old[shared], first + new[shared]
    count, of_class = connected_components(coo_array((np.ones(len(edges[0])), edges), shape=(nodes, nodes)), False)
    region = np.full(len(old), ABSENT)
    region[in_old] = of_class[old[in_old]]
    region[in_new] = of_class[first + new[in_new]]
    parts = ((in_new, new_codes), (in_old, old_codes))
    of_new, of_old = (tabulate(region[who], codes[who], (count, values)) for who, codes in parts)
    change = of_new - of_old
    return Differences(region, np.maximum(change, 0), np.maximum(-change, 0))
