"""Sums that contradict each other, by all subsets of small sets of sums."""

from itertools import combinations, product

import numpy as np
import pytest

from privnb.measures.count_tables.cell_bounds import cell_bounds
from privnb.measures.count_tables.margin_bounds import bound_rounded, bound_suppressed
from privnb.microdata.contradictions import find_contradiction, list_sums
from privnb.microdata.count_tables import TableOfCounts

TWO = ("1", "2")


def agree(sums, known):
    """Whether bits have these sums, by all bits."""
    return any((sums @ bits == known).all() for bits in product((0, 1), repeat=sums.shape[1]))


@pytest.mark.parametrize("seed", range(8))
def test_no_sum_can_be_left_out(seed):
    """All bits of five people, and all subsets of the sums that are found."""
    rng = np.random.default_rng(seed)
    sums, known = rng.integers(0, 2, (7, 5)), rng.integers(0, 4, 7)
    found = find_contradiction(sums, known, known, ceiling=1, whole=True)
    assert agree(sums, known) == (len(found) == 0)
    assert not len(found) or not agree(sums[found], known[found])
    for others in combinations(found, max(len(found) - 1, 0)):
        assert agree(sums[[*others]], known[[*others]])


def test_sums_of_bits_that_only_fractions_have():
    """Each pair of three people has one bit: halves fit, and no bits do."""
    sums, known = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), [1, 1, 1]
    assert find_contradiction(sums, known, known, ceiling=1).tolist() == []
    assert find_contradiction(sums, known, known, ceiling=1, whole=True).tolist() == [0, 1, 2]


def test_margins_name_the_counts_that_contradict():
    """Nobody with B = 2 has C = 1, all with A = 2 have B = 2, and five people have A = 2 and C = 1."""
    same, never = np.eye(2, dtype=int) * 5, (1 - np.eye(2, dtype=int)) * 5
    pairs = (("A", "B", same), ("B", "C", same), ("A", "C", never))
    margins = [TableOfCounts({a: TWO, b: TWO}, counts) for a, b, counts in pairs]
    with pytest.raises(ValueError, match=r"the known sums \(A=., B=.\), .* and \(A=., C=.\) contradict each other"):
        cell_bounds(margins)


def test_tables_name_the_entries_that_contradict():
    """1 + 3 is not 9: the column has a wrong total. Two counts below 10 have no total above 20."""
    wrong = np.ma.array([[1, 2, 3], [3, 4, 7], [9, 0, 10]], mask=[[0, 0, 0], [0, 0, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match=r"the known sums \(0, 0\), \(1, 0\) and \(total, 0\) contradict"):
        bound_suppressed(wrong)
    with pytest.raises(ValueError, match=r"the known sums \(0\), \(1\) and \(total\) contradict"):
        bound_rounded(np.array([5, 5, 25]), 5)


def test_an_error_lists_at_most_six_sums():
    assert list_sums(["a"]) == "a"
    assert list_sums([*"abcdefgh"]) == "a, b, c, d, e, f and 2 more"
