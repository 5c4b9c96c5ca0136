"""Local recoding: valid classes, the least cost where it can be known, and nothing that depends on record order."""

import hashlib
import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from privnb.microdata.hierarchy import Taxonomy
from privnb.sanitizers.algorithms import drop_stale_kernels, recoding
from privnb.sanitizers.algorithms.recoding import label_costs, local_recoding
from privnb.sanitizers.algorithms.recoding.label_costs import UNIT, cost, price_rows

TREE = Taxonomy("tree", tuple((leaf, leaf[0], "*") for leaf in ("a1", "a2", "b1", "b2", "b3", "c1"))).groups
SEX = Taxonomy("sex", (("F", "*"), ("M", "*"))).groups
LINES = [TREE, SEX, 9]  # two taxonomies and a line of nine numbers, with a missing one beyond


def penalty(codes, multiplicities, classes, lines=LINES):
    """Sum over records and attributes of the share of the line under the label; written apart from the kernel."""
    total = 0.0
    for a, line in enumerate(lines):
        for c in set(classes.tolist()):
            held = codes[classes == c, a]
            if isinstance(line, int):
                mixed = held.min() < held.max() == line
                share = 1 if mixed else (held.max() - held.min()) / (line - 1)
            else:
                level = next(row for row in line if len(set(row[held])) == 1)
                share = ((level == level[held[0]]).sum() - 1) / (len(level) - 1)
            total += share * multiplicities[classes == c].sum()
    return total


def partitions(count):
    """Every partition of a few things, as tuples of numbers in which each appears first after all lower ones."""
    found = [(0,)]
    for _ in range(count - 1):
        found = [(*head, c) for head in found for c in range(max(head) + 2)]
    return [np.array(classes) for classes in found]


def least(codes, multiplicities, k, lines=LINES):
    """The least penalty over all partitions of a tiny table."""
    allowed = [c for c in partitions(len(codes)) if np.bincount(c, multiplicities).min() >= k]
    return min(penalty(codes, multiplicities, classes, lines) for classes in allowed)


@st.composite
def tables(draw):
    row = st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 9))
    rows = draw(st.lists(row, min_size=1, max_size=40, unique=True))
    multiplicities = np.array(draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows))))
    k = draw(st.integers(1, int(multiplicities.sum())))
    return np.array(rows), multiplicities, k


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_classes_have_k_records_and_do_not_depend_on_order(table, random):
    codes, multiplicities, k = table
    classes = local_recoding(codes, multiplicities, LINES, k)
    assert np.bincount(classes, multiplicities).min() >= k
    assert sorted(set(classes)) == list(range(classes.max() + 1))
    order = list(range(len(codes)))
    random.shuffle(order)
    np.testing.assert_array_equal(local_recoding(codes[order], multiplicities[order], LINES, k), classes[order])


@pytest.mark.slow
def test_tiny_tables_against_every_partition():
    """The search promises no optimum; on tiny tables it mostly finds it and is never far off."""
    rng = np.random.default_rng(0)
    grid = np.array(list(product(range(6), range(2), range(9))))
    ratios = []
    for _ in range(200):
        codes = rng.choice(grid, rng.integers(2, 7), replace=False)
        multiplicities = rng.integers(1, 5, len(codes))
        k = int(rng.integers(1, multiplicities.sum() + 1))
        found = penalty(codes, multiplicities, local_recoding(codes, multiplicities, LINES, k))
        best = least(codes, multiplicities, k)
        ratios.append((found + 1e-9) / (best + 1e-9))
    assert min(ratios) == pytest.approx(1)
    assert np.mean(np.isclose(ratios, 1)) >= 0.9
    assert np.mean(ratios) <= 1.1
    assert max(ratios) <= 3


def test_large_trees_cost_the_same_without_a_square(monkeypatch):
    grid = np.array(list(product(range(6), range(2), range(9))))
    priced_of = [price_rows(grid, np.ones(len(grid)), LINES)]
    monkeypatch.setattr(label_costs, "SQUARE", 5)
    priced_of.append(price_rows(grid, np.ones(len(grid)), LINES))
    assert [table.width.tolist() for table in priced_of] == [[6, 2, 0], [0, 2, 0]]
    asked = [(a, low, high) for a, n in enumerate((6, 2)) for low in range(n) for high in range(n)]
    one, other = ([cost(table, *each) for each in asked] for table in priced_of)
    assert one == other


def test_separate_groups_are_found():
    groups = [[(0, 0, 0), (1, 0, 0)], [(2, 1, 4), (3, 1, 4)], [(5, 0, 8), (5, 0, 7)]]
    codes = np.array([row for group in groups for row in group])
    classes = local_recoding(codes, np.ones(6, int), LINES, 2)
    assert classes[0] == classes[1]
    assert classes[2] == classes[3]
    assert classes[4] == classes[5]
    assert len(set(classes)) == 3
    assert penalty(codes, np.ones(6), classes) == pytest.approx(least(codes, np.ones(6), 2))


def test_frequent_combinations_stay_exact():
    codes = np.array([(leaf, 0, 0) for leaf in range(6)])
    assert sorted(local_recoding(codes, np.full(6, 5), LINES, 5)) == list(range(6))


def test_the_rest_keeps_the_parents_label():
    """Two rare values of different branches share the root: frequent ones need not follow them, nor be cut."""
    codes = np.array([(leaf, 0, 0) for leaf in range(6)])
    classes = local_recoding(codes, np.array([9, 2, 9, 9, 9, 3]), LINES, 5)
    assert classes[1] == classes[5]
    assert len(set(classes)) == 5


@pytest.mark.parametrize(("multiplicity", "k"), [(1, 1), (7, 7), (7, 2)])
def test_equal_records_are_one_class(multiplicity, k):
    assert local_recoding(np.array([[3, 1, 4]]), np.array([multiplicity]), LINES, k).tolist() == [0]


def test_k_of_all_records_is_one_class():
    codes = np.array([(leaf, leaf % 2, leaf) for leaf in range(6)])
    assert set(local_recoding(codes, np.ones(6, int), LINES, 6)) == {0}


def test_k_of_one_keeps_every_combination_exact():
    codes = np.array([(leaf, leaf % 2, leaf) for leaf in range(6)])
    assert penalty(codes, np.ones(6), local_recoding(codes, np.ones(6, int), LINES, 1)) == 0


def test_numbers_with_an_outlier():
    """A cut at the median, not the middle: one number far off does not keep the others together."""
    codes = np.array([[x] for x in (*range(20), 1_000_000)])
    classes = local_recoding(codes, np.ones(21, int), [1_000_001], 2)
    assert classes.max() + 1 >= 8
    assert penalty(codes, np.ones(21), classes, [1_000_001]) < 2.1


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_classes_that_are_not_allowed_join_others(table, seed):
    codes, multiplicities, k = table
    sensitive = np.random.default_rng(seed).integers(0, 3, len(codes))

    def two_values(classes):
        return np.array([len(set(sensitive[classes == c])) >= 2 for c in range(classes.max() + 1)])

    if len(set(sensitive)) < 2:
        with pytest.raises(ValueError, match="must allow one class of all records"):
            local_recoding(codes, multiplicities, LINES, k, two_values)
        return
    classes = local_recoding(codes, multiplicities, LINES, k, two_values)
    assert two_values(classes).all()
    assert np.bincount(classes, multiplicities).min() >= k


def test_what_holds_already_is_left_alone():
    codes = np.array([(leaf, leaf % 2, leaf) for leaf in range(6)])
    free = local_recoding(codes, np.ones(6, int), LINES, 2)
    asked = local_recoding(codes, np.ones(6, int), LINES, 2, lambda classes: np.ones(classes.max() + 1, bool))
    np.testing.assert_array_equal(free, asked)


@pytest.mark.parametrize("k", [0, 7])
def test_refuses_k_outside_the_table(k):
    codes = np.array([(leaf, 0, 0) for leaf in range(6)])
    with pytest.raises(ValueError, match="`k` must be from 1 to"):
        local_recoding(codes, np.ones(6, int), LINES, k)


FOUND = {3: "33deed2d7441d34a", 12: "b9756717cbd1d513", 25: "4493e2d140cc4ab1"}


@pytest.mark.parametrize("k", FOUND)
def test_the_classes_are_those_of_a_search_that_asks_everybody_anew_after_each_move(k):
    lines = [TREE, SEX, 40, TREE]
    shape = [line if isinstance(line, int) else len(line[0]) for line in lines]
    codes = np.column_stack(np.unravel_index(np.arange(1200) * 1009 % np.prod(shape), shape))
    classes = local_recoding(codes, 1 + np.arange(1200) % 3, lines, k)
    assert hashlib.sha256(classes.astype("<i8").tobytes()).hexdigest()[:16] == FOUND[k], "what that search found"


def test_refuses_rows_that_are_not_distinct():
    with pytest.raises(ValueError, match="distinct"):
        local_recoding(np.array([[0, 0, 0], [0, 0, 0]]), np.ones(2, int), LINES, 1)


def test_kernels_older_than_a_file_are_compiled_anew():
    cache = Path(recoding.move.stats.cache_path)
    cache.mkdir(parents=True, exist_ok=True)
    stale, fresh = cache / "stale.nbi", cache / "fresh.nbi"
    stale.touch()
    fresh.touch()
    os.utime(stale, (0, 0))
    drop_stale_kernels(recoding.move)
    assert not stale.exists()
    assert fresh.exists()
    fresh.unlink()


def test_a_missing_number_costs_as_much_with_any_number():
    """Their label is `*`: as much as that of all numbers. The missing one alone costs nothing."""
    table = price_rows(np.array([[0], [3], [8], [9]]), np.ones(4), [9])
    places = table.points[:, 0].tolist()
    assert [cost(table, 0, low, places[3]) for low in places] == [UNIT, UNIT, UNIT, 0]
    assert [cost(table, 0, places[0], high) for high in places[:3]] == [0, UNIT * 3 // 8, UNIT]
