"""Values that a group of people makes certain."""

import numpy as np
import pytest

from privnb.measures.disclosure.certainty import (
    are_harmless,
    certain_groups,
    public_shares,
    reveals_small_rest,
)
from privnb.microdata.schema import Attribute, Categories, Role

COUNTS = np.array([[10, 0, 0], [4, 1, 0], [0, 0, 2], [0, 0, 0]])


def certain_people(counts, *given, **named):
    return counts[certain_groups(counts, *given, **named)].sum()


def test_people_of_groups_with_one_value_are_counted():
    whole = COUNTS.sum(axis=0) / COUNTS.sum()
    assert certain_groups(COUNTS, whole).tolist() == [True, False, True, False]
    assert certain_people(COUNTS, whole) == 12


def test_a_value_that_everybody_has_is_not_disclosed_by_a_release():
    counts = np.array([[5, 0], [7, 0]])
    assert certain_people(counts, np.array([1.0, 0.0])) == 0
    # The release has a part of the table, in which one value is left.
    assert certain_people(counts, np.array([12, 1]) / 13) == 12


@pytest.mark.parametrize(("harmless", "people"), [([True, False, False], 2), ([True, True, True], 0)])
def test_harmless_values_are_not_counted(harmless, people):
    assert certain_people(COUNTS, COUNTS.sum(axis=0) / COUNTS.sum(), np.array(harmless)) == people


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


def test_what_is_public_is_counted_by_people_or_declared():
    codes, people, times = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), np.array([1, 1, 4, 2])
    ill = Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu")))
    assert public_shares(ill, codes, ("cold", "flu")).tolist() == [0.5, 0.5]
    assert public_shares(ill, codes, ("cold", "flu"), people).tolist() == [0.5, 1.0], "one person has both"
    assert public_shares(ill, codes, ("cold", "flu"), times=times).tolist() == [0.25, 0.75]
    declared = Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu")), public_distribution={"flu": 0.97})
    assert public_shares(declared, codes, ("cold", "flu"), people).tolist() == [0.0, 0.97]


def test_a_suppressed_cell_and_a_value_that_its_owner_names_harm_nobody():
    ill = Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu")), harmless={"cold": "Who has none?"})
    assert are_harmless(ill, ["cold", "flu", "*"]).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("people", "right", "tells", "withheld"),
    [(0, 5, True, False), (20, 20, False, False), (20, 29, False, True), (20, 30, False, False), (20, 30, True, True)],
)
def test_a_number_that_tells_of_few_others_is_withheld(people, right, tells, withheld):
    assert reveals_small_rest(people, right, tells) is withheld
