from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from privnb.microdata.counts import (
    are_equal,
    class_value_counts,
    count_combinations,
    count_people_among,
    count_people_by_group,
    factorize,
    group_codes,
    max_per_person,
    select_person_rows,
    stable_order,
)

COLUMNS = {
    "number": st.sampled_from([1.0, 2.5, -3.0, np.nan]),
    "whole": st.integers(0, 3),
    "text": st.sampled_from(["a", "b", "ab", None]),
    "mixed": st.sampled_from([1, "1", "*"]),  # a released column may hold numbers beside labels
}
rows = st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=30)


def table_of(rows):
    return pd.DataFrame(rows).astype({"mixed": object})


def plain(table):
    """Rows as tuples in which a missing cell equals a missing cell."""
    return [tuple("missing" if pd.isna(cell) else (type(cell).__name__, cell) for cell in row) for row in table.values]


@given(rows)
def test_combinations_are_those_of_plain_counting(rows):
    table = table_of(rows)
    found = count_combinations(table)
    counted = Counter(plain(table))
    assert dict(zip(plain(found.values), found.multiplicities.tolist(), strict=True)) == dict(counted)
    assert [plain(found.values)[i] for i in found.index] == plain(table)


@given(rows)
def test_combinations_are_those_of_pandas(rows):
    table = table_of(rows).drop(columns="mixed")
    found = count_combinations(table)
    sizes = table.groupby(list(table), dropna=False).size()
    assert sorted(found.multiplicities) == sorted(sizes)
    assert len(found.values) == len(sizes)


@given(rows, st.randoms(use_true_random=False))
def test_neither_index_nor_order_matters(rows, random):
    table = table_of(rows)
    order = list(range(len(table)))
    random.shuffle(order)
    other = count_combinations(table.iloc[order].set_axis([9] * len(table)))
    found = count_combinations(table)
    pd.testing.assert_frame_equal(other.values, found.values)
    assert other.multiplicities.tolist() == found.multiplicities.tolist()
    assert other.index.tolist() == found.index[order].tolist()


ONE = ["a", "b", "ab", None, np.nan, 1, 1.0, "1", 2.5, float("nan")]  # each of them one object, however often it stands
CELLS = st.one_of(st.sampled_from(ONE), st.sampled_from(["a", "b", "x" * 9]).map(lambda text: "".join(list(text))))


@given(
    st.lists(CELLS, max_size=30),
    st.sampled_from([{}, {"sort": True}, {"use_na_sentinel": False}]),
    st.sampled_from([slice(None), slice(None, None, -2)]),
    st.booleans(),
)
def test_factorized_is_as_pandas_does_it(cells, options, some, many):
    """With equal cells that are one object, and with equal ones that are several; for few cells and for thousands."""
    cells *= 3000 // max(len(cells), 1) if many else 1
    cells = np.array([*cells, None], dtype=object)[:-1][some]
    (codes, distinct), (expected, values) = factorize(cells, **options), pd.factorize(cells, **options)
    assert codes.tolist() == expected.tolist()
    assert list(map(repr, distinct)) == list(map(repr, values))


def test_many_columns_of_many_values_do_not_overflow():
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.integers(0, 1000, (2000, 30)))  # 1000**30 possible rows
    table = pd.concat([table, table.iloc[:500]])
    assert sorted(count_combinations(table).multiplicities) == [1] * 1500 + [2] * 500


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), min_size=1, max_size=40))
def test_class_value_counts(pairs):
    classes, values = (np.array(column) for column in zip(*pairs, strict=True))
    counts = class_value_counts(classes, values)
    assert counts.shape == (classes.max() + 1, len(set(values)))
    for column, value in enumerate(sorted(set(values))):
        assert counts[:, column].tolist() == [pairs.count((c, value)) for c in range(classes.max() + 1)]


@pytest.mark.parametrize("widths", [[3, 5], [400, 7], [2**40, 2**20], [2**31, 2**31, 2**31], [2**62]], ids=str)
def test_rows_are_numbered_as_numpy_sorts_them_by_place_by_sorting_and_without_room_for_both(widths):
    draws = np.random.default_rng(1)
    pool = [draws.integers(0, width, 300) for width in widths]
    some = draws.integers(0, 300, 2000)
    columns = [own[some] for own in pool]
    _, first, index = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)
    found = group_codes(columns, widths)
    assert np.array_equal(found[0], first)
    assert np.array_equal(found[1], index.ravel())


@pytest.mark.parametrize("most", [1, 50, 2**50, 2**62])
@pytest.mark.parametrize("size", [0, 1, 999, 1000, 5000])
def test_a_stable_order_is_numpys(size, most):
    numbers = np.random.default_rng(size).integers(0, most, size)
    assert np.array_equal(stable_order(numbers), np.argsort(numbers, kind="stable"))


def test_coded_columns_are_the_same_whatever_the_order_of_their_values():
    cells = pd.Series(["a", "b", None, "a"] * 50)
    one, other = (
        cells.astype(pd.CategoricalDtype(pd.Index(names, dtype=object))) for names in (["a", "b"], list("cba"))
    )
    assert are_equal(one, other)
    assert are_equal(other, one)
    for changed in ("b", None):
        unlike = cells.copy()
        unlike.iloc[-1] = changed
        assert not are_equal(one, unlike.astype(other.dtype))


@pytest.mark.parametrize("different", [7, 3_000, 90_000])
def test_rows_are_grouped_alike_by_hashing_and_by_sorting(different):
    """What is hashed has few distinct numbers among many; both ways give sorted numbers and their first places."""
    rng = np.random.default_rng(5)
    numbers = rng.choice(2**40, different, replace=False)[rng.integers(0, different, 100_000)]
    first, index = group_codes([numbers], [2**40])
    expected, places, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    assert (numbers[first] == expected).all()
    assert (first == places).all()
    assert (index == inverse).all()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=30))
def test_people_are_counted_once_however_many_rows_they_have(rows):
    people, groups, values = map(np.array, zip(*rows, strict=True))
    in_group = {group: {person for person, other, _ in rows if other == group} for group in range(3)}
    assert count_people_by_group(groups, people, number=3).tolist() == [len(in_group[group]) for group in range(3)]
    assert count_people_among(groups == 0, people) == len(in_group[0])
    assert max_per_person(values, people).tolist() == [
        max(value for person, _, value in rows if person == each) for each in sorted({*people.tolist()})
    ]
    once = select_person_rows(people, groups, values)
    kept = list(zip(people[once].tolist(), groups[once].tolist(), values[once].tolist(), strict=True))
    assert sorted(kept) == sorted({*rows})


def test_rows_without_people_count_as_often_as_they_stand():
    groups, times = np.array([0, 1, 1]), np.array([4, 2, 5])
    assert count_people_by_group(groups, times=times).tolist() == [4, 7]
    assert count_people_by_group(groups).tolist() == [1, 2]
    assert count_people_among(groups == 1, times=times) == 7
    assert count_people_among(groups == 1) == 2
