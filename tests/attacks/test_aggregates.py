"""Reconstruction from aggregates: closed forms, and all tables of small margins."""

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest

from privnb.attacks.aggregates.linear_reconstruction import draw_groups, expect_right_bits, reconstruct_bits
from privnb.attacks.aggregates.ranked_reconstruction import rank_by_prior, rank_records
from privnb.microdata.count_tables import TableOfCounts

TWO, THREE = ("1", "2"), ("1", "2", "3")


def drawn(people, queries, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, people), draw_groups(queries, people, rng), rng


def test_exact_counts_disclose_all_bits():
    bits, groups, _ = drawn(40, 60, 1)
    assert (reconstruct_bits(groups, groups @ bits).round() == bits).all()


def test_no_bits_fit_the_answers_better():
    """The program is at least as good as the truth, and as all bits of eight people."""
    bits, groups, rng = drawn(8, 24, 2)
    answers = groups @ bits + rng.normal(0, 2, 24)
    missed = np.abs(groups @ reconstruct_bits(groups, answers) - answers).sum()
    assert missed <= min(np.abs(groups @ each - answers).sum() for each in product((0, 1), repeat=8)) + 1e-6


@pytest.mark.parametrize("noise", [2.0, 5.0])
def test_least_squares_recovers_as_many_bits_as_the_closed_form_says(noise):
    """The derivation of `expect_right_bits`, by 30 draws of 50 bits: three standard errors, and 1/n for the mean of
    1 / (m - n), which the derivation replaces by its limit."""
    shares, people, queries = [], 50, 200
    for seed in range(30):
        bits, groups, rng = drawn(people, queries, seed)
        answers = groups @ bits + rng.normal(0, noise, queries)
        shares.append(((np.linalg.lstsq(groups, answers)[0] > 0.5) == bits).mean())
    expected = expect_right_bits(people, queries, noise)
    tolerance = 3 * sqrt(expected * (1 - expected) / (30 * people)) + 1 / people
    assert np.mean(shares) == pytest.approx(expected, abs=tolerance)


def test_a_known_error_of_answers_may_be_exceeded():
    """The first two people cannot have more bits than all four, unless each answer is off by 1/2."""
    groups, answers = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]]), np.array([1, 2, 1])
    with pytest.raises(ValueError, match="the answers to the queries 0 and 1 contradict each other"):
        reconstruct_bits(groups, answers, 0.4)
    assert np.abs(groups @ reconstruct_bits(groups, answers, 0.5) - answers).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("error", [0.5, 2.0])
def test_a_known_error_limits_the_errors_of_all_answers(error):
    bits, groups, rng = drawn(20, 60, 3)
    answers = groups @ bits + rng.uniform(-error, error, 60)
    found = reconstruct_bits(groups, answers, error)
    missed = np.abs(groups @ found - answers)
    assert missed.max() <= error + 1e-6
    assert missed.sum() <= np.abs(groups @ bits - answers).sum() + 1e-6
    free = np.abs(groups @ reconstruct_bits(groups, answers) - answers)
    assert free.sum() <= missed.sum() + 1e-6


def test_a_record_is_as_confident_as_random_joins_contain_it():
    """Three of five people have a = 1, and two have c = 1. No join has both with probability C(2, 2) / C(5, 2), since
    both people with c = 1 are then among the two with a = 2."""
    a, c = TableOfCounts({"A": TWO}, np.array([3, 2])), TableOfCounts({"C": TWO}, np.array([2, 3]))
    found = rank_records([a, c], 2000, rng=1)
    share = dict(zip(map(tuple, found.codes.tolist()), found.confidence, strict=True))
    expected = 1 - comb(2, 2) / comb(5, 2)
    assert share[0, 0] == pytest.approx(expected, abs=3 * sqrt(expected * (1 - expected) / 2000))


def test_a_full_table_discloses_its_records_and_no_others():
    table = TableOfCounts({"A": THREE, "B": TWO}, np.array([[5, 0], [1, 2], [0, 9]]))
    found = rank_records([table], 3, rng=1)
    assert sorted(map(tuple, found.codes.tolist())) == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert found.confidence.tolist() == [1] * 4
    assert found.codes[0].tolist() == [2, 1], "the record that most people have is first"


def test_tables_are_joined_by_the_attributes_that_they_share():
    """The margins of each drawn table are those that are published, in three tables that share attributes."""
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 3, (2, 3, 2, 2))
    table = TableOfCounts({"A": TWO, "B": THREE, "C": TWO, "D": TWO}, counts)
    margins = [table.margin(names) for names in ("AB", "BC", "BD")]
    found = rank_records(margins, 1, rng=1)
    for margin in margins:
        axes = ["ABCD".index(name) for name in margin.names]
        assert {*map(tuple, found.codes[:, axes].tolist())} == {*map(tuple, np.argwhere(margin.counts).tolist())}


def test_margins_that_are_not_decomposable_lead_to_tables_that_have_them():
    """All tables with the three margins of two attributes differ by multiples of one move."""
    counts = np.array([[[1, 0], [0, 1]], [[2, 1], [1, 3]]])
    move = np.einsum("a,b,c->abc", [1, -1], [1, -1], [1, -1])
    tables = [counts + step * move for step in range(-9, 10)]
    tables = [each for each in tables if (each >= 0).all()]
    table = TableOfCounts({"A": TWO, "B": TWO, "C": TWO}, counts)
    found = rank_records([table.margin(names) for names in ("AB", "BC", "AC")], 10, rng=1)
    share = dict(zip(map(tuple, found.codes.tolist()), found.confidence, strict=True))
    assert len(tables) > 1
    for cell in product((0, 1), repeat=3):
        own = [each[cell] > 0 for each in tables]
        assert share.get(cell, 0) == all(own) or any(own) > all(own)


def test_the_prior_is_the_product_of_the_shares():
    rng = np.random.default_rng(1)
    table = TableOfCounts({"A": THREE, "B": TWO, "C": THREE}, rng.integers(1, 9, (3, 2, 3)))
    a, b, c = (table.margin(name).counts / table.counts.sum() for name in "ABC")
    every = np.sort(np.einsum("a,b,c->abc", a, b, c).ravel())[::-1]
    assert rank_by_prior([table.margin("AB"), table.margin("BC")], 7).confidence == pytest.approx(every[:7])


def test_margins_of_two_tables_cannot_be_attacked():
    same, never = np.eye(2, dtype=int) * 5, (1 - np.eye(2, dtype=int)) * 5
    pairs = (("A", "B", same), ("B", "C", same), ("A", "C", never))
    margins = [TableOfCounts({a: TWO, b: TWO}, counts) for a, b, counts in pairs]
    with pytest.raises(ValueError, match=r"the counts \(A=., B=.\).* contradict each other: no table"):
        rank_records(margins, 1, rng=1)
    with pytest.raises(ValueError, match="whole counts; those of A have fractions"):
        rank_records([TableOfCounts({"A": TWO}, np.array([0.5, 1.5]))])
