"""Dependence between columns, by the mutual information of each pair and the tree of the strongest dependences."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from privnb.microdata.counts import tabulate
from privnb.runtime.arrays import FloatArray, IntArray


def mutual_informations(columns: Sequence[IntArray], times: IntArray | None = None) -> FloatArray:
    """Return the mutual information of each pair of columns, corrected for the size of the sample: float array (m, m).

    The estimate from n people exceeds the true mutual information by about (K - Kx - Ky + 1) / 2n, where K is the
    number of pairs of values that occur, and Kx and Ky are the numbers of values that occur in each column. The
    function subtracts this excess, and sets a negative result to 0. The results are in nats, and the diagonal is 0.

    Parameters
    ----------
    columns : m integer arrays (n,)
        The codes, from 0, of each column.
    times : integer array (n,), optional
        The number of people that each row represents; by default, one.

    Source: Miller, "Note on the bias of information estimates", 1955.

    Examples
    --------
    >>> codes = np.arange(1000) % 2
    >>> mutual_informations([codes, codes]).round(2).tolist()  # ln 2
    [[0.0, 0.69], [0.69, 0.0]]
    """
    m, widths = len(columns), [int(codes.max(initial=0)) + 1 for codes in columns]
    found = np.zeros((m, m))
    for i, j in combinations(range(m), 2):
        counts = tabulate(columns[i], columns[j], (widths[i], widths[j]), times)
        n = counts.sum()
        bias = (np.count_nonzero(counts) - sum(np.count_nonzero(counts.sum(axis=a)) for a in (0, 1)) + 1) / (2 * n)
        found[i, j] = found[j, i] = max(information_of_shares(counts / n) - bias, 0)
    return found


def information_of_shares(joint: FloatArray) -> float:
    """Return the mutual information of two attributes in nats, given the share of each pair of values, array (r, c)."""
    first, second = joint.sum(axis=1), joint.sum(axis=0)

    def entropy(shares: FloatArray) -> float:
        some = shares[shares > 0]
        return float(-(some * np.log(some)).sum())

    return max(entropy(first) + entropy(second) - entropy(joint), 0.0)


def strongest_tree(information: FloatArray) -> list[tuple[int, int | None]]:
    """Return the tree over m columns with the largest total information, as a list of pairs (column, parent).

    Each parent comes before its children. A column that does not depend on any column before it has the parent None.

    Parameters
    ----------
    information : float array (m, m)
        The mutual information of each pair of columns.

    Source: Chow and Liu, "Approximating discrete probability distributions with dependence trees", IEEE TIT 14, 1968.

    Examples
    --------
    >>> strongest_tree(np.array([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]))
    [(0, None), (1, 0), (2, None)]
    """
    tree: list[tuple[int, int | None]] = [(0, None)]
    while len(tree) < len(information):
        inside = [column for column, _ in tree]
        outside = [column for column in range(len(information)) if column not in inside]
        between = information[np.ix_(outside, inside)]
        column, parent = np.unravel_index(between.argmax(), between.shape)
        tree.append((outside[column], inside[parent] if between[column, parent] > 0 else None))
    return tree
