"""Values that a group of people makes certain."""

import numpy as np
import pytest

from privnb.measures.certainty import certain_groups, certain_people, public_shares

COUNTS = np.array([[10, 0, 0], [4, 1, 0], [0, 0, 2], [0, 0, 0]])


def test_people_of_groups_with_one_value_are_counted():
    whole = public_shares(COUNTS.sum(axis=0))
    assert certain_groups(COUNTS, whole).tolist() == [True, False, True, False]
    assert certain_people(COUNTS, whole) == 12


def test_a_value_that_everybody_has_is_not_disclosed_by_a_release():
    counts = np.array([[5, 0], [7, 0]])
    assert certain_people(counts, public_shares(np.array([12, 0]))) == 0
    # The release has a part of the table, in which one value is left.
    assert certain_people(counts, public_shares(np.array([12, 1]))) == 12


@pytest.mark.parametrize(("harmless", "people"), [([True, False, False], 2), ([True, True, True], 0)])
def test_harmless_values_are_not_counted(harmless, people):
    assert certain_people(COUNTS, public_shares(COUNTS.sum(axis=0)), np.array(harmless)) == people


def test_no_groups_make_nothing_certain():
    assert certain_people(np.empty((0, 3), dtype=int), np.ones(3) / 3) == 0


def test_a_value_that_is_nearly_certain_without_the_release_is_not_disclosed_by_it():
    counts = np.array([[11, 0], [3, 1]])
    assert certain_people(counts, np.array([0.94, 0.06])) == 11
    assert certain_people(counts, np.array([0.96, 0.04])) == 0
    assert certain_people(counts, np.array([0.96, 0.04]), near=0.97) == 11


def test_a_value_that_all_people_of_a_group_have_is_certain_though_some_have_another_too():
    counts = np.array([[3, 1]])
    assert certain_groups(counts, np.array([0.5, 0.5])).tolist() == [False]
    assert certain_groups(counts, np.array([0.5, 0.5]), sizes=np.array([3])).tolist() == [True]


def test_counts_are_not_taken_for_shares():
    with pytest.raises(ValueError, match="public_shares"):
        certain_groups(COUNTS, COUNTS.sum(axis=0))
