"""Linkage by adversaries who know the masking method: own rows are never excluded, and worked examples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.attacks import DistanceLinkage, GroupMeanLinkage, RankWindowLinkage
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.sanitizers import Identity, Microaggregation, RankSwapping, SanitizationError, UnivariateMicroaggregation

SCHEMA = Schema(
    "people",
    (
        Attribute("a", Role.QUASI_IDENTIFIER, Numbers(0, 9, missing="NA")),
        Attribute("b", Role.QUASI_IDENTIFIER, Numbers(-1, 1, 0.1)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("x", "y", "z"))),
    ),
)
HIERARCHIES = {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers}
BLOCKS = ("a", "b"), ("town",)
# One missing number in ten, so that some tables have fewer than k of them, which are then filled.
PERSON = st.tuples(st.sampled_from([*map(float, range(9)), np.nan]), st.integers(-10, 10), st.sampled_from("xyz"))


def people(rows):
    table = pd.DataFrame(rows, columns=["a", "b", "town"])
    return Dataset("people", table.assign(b=table["b"] / 10), SCHEMA, HIERARCHIES)


def fit(attack, sanitizer, data, seed=1):
    published, key = sanitizer.sanitize(data, rng=seed).publish()
    return attack.fit(published), attack.fit(published).truth(data, key)


@settings(deadline=None, max_examples=60)
@given(st.lists(PERSON, min_size=4, max_size=24), st.integers(2, 4), st.floats(10, 100), st.integers(0, 99))
def test_the_own_row_is_always_a_candidate(rows, k, p, seed):
    """Equal values, missing numbers that stay or are filled, steps that floats do not represent exactly, categories."""
    data = people(rows)
    for sanitizer, attack in (
        (UnivariateMicroaggregation(k), GroupMeanLinkage(k=k)),
        (Microaggregation(k), GroupMeanLinkage(k=k, blocks=(("a", "b", "town"),))),
        (Microaggregation(k, BLOCKS), GroupMeanLinkage(k=k, blocks=BLOCKS)),
        (RankSwapping(p), RankWindowLinkage(p=p)),
    ):
        try:
            fitted, own = fit(attack, sanitizer, data, seed)
        except SanitizationError:
            continue
        assert fitted.has_candidate(data.table, own).all()
        many, chance = fitted.count_candidates(data.table), fitted.chance(data.table, own)
        assert (many >= 1).all()
        assert (chance[many == 1] == 1).all()
        assert ((chance == 0) | (chance >= 1 / many - 1e-12)).all()


def numbers(high=99, **columns):
    schema = Schema("numbers", tuple(Attribute(name, Role.QUASI_IDENTIFIER, Numbers(0, high)) for name in columns))
    return Dataset("numbers", pd.DataFrame(columns), schema, {name: flat(schema[name]) for name in columns})


def test_sorted_groups_have_the_intervals_of_neighboring_means():
    """Groups {0, 1, 2}, {10, 11, 30} and {51, 52, 53}, with the means 1, 17 and 52. The first group has at most
    3 - 0 = 3; the second group lies between 1 and 51 - 2 = 49 and above 51 - 104; the third has at least 17."""
    data = numbers(x=[0, 1, 2, 10, 11, 30, 51, 52, 53])
    fitted, own = fit(GroupMeanLinkage(k=3), UnivariateMicroaggregation(3), data)
    assert sorted(fitted.published.table["x"].unique()) == [1, 17, 52]
    assert fitted.count_candidates(data.table).tolist() == [3, 6, 6, 3, 3, 6, 3, 3, 3]
    assert fitted.count_candidates(pd.DataFrame({"x": [0, 3, 4, 16, 17, 49, 50]})).tolist() == [3, 6, 3, 3, 6, 6, 3]
    np.testing.assert_allclose(fitted.chance(data.table, own), 1 / 3)


def test_equal_means_of_several_groups_contain_their_mean_only():
    """Six rows of 5 are two groups of three; a person with 6 therefore has only the three rows
    with the mean 7, whereas a person with 5 may be one of them, next to 8 and 8."""
    data = numbers(x=[5] * 6 + [6, 7, 8])
    fitted, _ = fit(GroupMeanLinkage(k=3), UnivariateMicroaggregation(3), data)
    assert fitted.count_candidates(data.table).tolist() == [9] * 6 + [3, 3, 3]


def test_the_window_of_ranks_contains_the_row_that_is_not_nearest():
    """Ten different values and a window of one rank: each value has three candidates, and two at the ends. With a
    second column in another order, the windows intersect in fewer rows."""
    x = np.array([0, 1, 2, 3, 4, 50, 51, 90, 91, 99])
    data = numbers(x=x)
    fitted, _ = fit(RankWindowLinkage(p=10), RankSwapping(10), data)
    assert fitted.count_candidates(data.table).tolist() == [2, *[3] * 8, 2]
    both = numbers(x=x, y=x[[3, 7, 0, 9, 4, 1, 8, 5, 2, 6]])
    fitted, own = fit(RankWindowLinkage(p=10), RankSwapping(10), both)
    assert (fitted.count_candidates(both.table) == 1).sum() >= 5
    naive, _ = fit(DistanceLinkage(), RankSwapping(10), both)
    assert fitted.chance(both.table, own).mean() > naive.chance(both.table, own).mean()


def test_equal_values_have_all_their_ranks():
    data = numbers(x=[1, 1, 1, 1, 2, 2, 3, 3, 3, 4])
    fitted, _ = fit(RankWindowLinkage(p=10), RankSwapping(10), data)
    assert fitted.count_candidates(data.table).tolist() == [6] * 4 + [9] * 2 + [6] * 3 + [4]


def test_people_who_are_not_in_the_release_may_have_no_candidate():
    data = numbers(x=[0, 1, 2, 90, 91, 92], y=[0, 1, 2, 90, 91, 92])
    fitted, _ = fit(GroupMeanLinkage(k=3), UnivariateMicroaggregation(3), data)
    strangers = pd.DataFrame({"x": [0, 0], "y": [99, 0]})
    assert fitted.count_candidates(strangers).tolist() == [0, 3]
    assert (fitted.published.table.iloc[fitted.predict(strangers)[1:]]["x"] == 1).all()


def test_exact_rows_are_the_ceiling():
    data = numbers(x=[*range(20)], y=[*range(20)])
    for attack in (GroupMeanLinkage(), RankWindowLinkage()):
        fitted, own = fit(attack, Identity(), data)
        assert (fitted.count_candidates(data.table) == 1).all()
        assert (fitted.chance(data.table, own) == 1).all()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: RankWindowLinkage(p=0), r"p must be a percentage above 0 and at most 100; got 0"),
        (lambda: GroupMeanLinkage(k=1), "k must be"),
        (lambda: GroupMeanLinkage(blocks=("a", "b")), "Give blocks of names"),
        (lambda: GroupMeanLinkage(blocks=((),)), "blocks"),
    ],
)
def test_wrong_parameters_are_refused(make, error):
    with pytest.raises((ValueError, TypeError), match=error):
        make()
