"""Values that a group of people makes certain."""

import numpy as np
import pytest

from privnb.measures.certainty import certain_groups, certain_people

COUNTS = np.array([[10, 0, 0], [4, 1, 0], [0, 0, 2], [0, 0, 0]])


def test_people_of_groups_with_one_value_are_counted():
    whole = COUNTS.sum(axis=0)
    assert certain_groups(COUNTS, whole).tolist() == [True, False, True, False]
    assert certain_people(COUNTS, whole) == 12


def test_a_value_that_everybody_has_is_not_disclosed_by_a_release():
    counts = np.array([[5, 0], [7, 0]])
    assert certain_people(counts, np.array([12, 0])) == 0
    # The release has a part of the table, in which one value is left.
    assert certain_people(counts, np.array([12, 1])) == 12


@pytest.mark.parametrize(("harmless", "people"), [([True, False, False], 2), ([True, True, True], 0)])
def test_harmless_values_are_not_counted(harmless, people):
    assert certain_people(COUNTS, COUNTS.sum(axis=0), np.array(harmless)) == people


def test_no_groups_make_nothing_certain():
    assert certain_people(np.empty((0, 3), dtype=int), np.array([1, 1, 1])) == 0
