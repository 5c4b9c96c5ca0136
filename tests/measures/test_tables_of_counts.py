"""Tables of counts, by Table 12.5 of the book: 48 cells that are Adult's."""

import itertools
import tomllib
from functools import partial

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import find_description
from privnb.measures.count_tables.cell_bounds import cell_bounds
from privnb.measures.count_tables.log_linear import degrees_of_freedom, small_count_share
from privnb.measures.count_tables.margin_bounds import bound_sums
from privnb.microdata.count_tables import TableOfCounts, add_totals

# Table 12.5: rows D, G, H; columns A, C.
PRINTED = """
198 139 943 567 2357 2225 11 19 240 715 1009 3781 246 144 765 294 3092 2018 8 14 274 480 1040 2465
2327 2558 835 524 2794 3735 8 14 51 105 114 770 1411 1316 617 359 3738 3953 4 15 32 68 78 372
"""
TWO, THREE = ("1", "2"), ("1", "2", "3")
DECOMPOSABLE = ["ACDG", "ACDH"]


@pytest.fixture(scope="module")
def table():
    counts = np.array(PRINTED.split(), dtype=int).reshape(2, 2, 2, 3, 2).transpose(3, 4, 0, 1, 2)
    return TableOfCounts({"A": THREE, "C": TWO, "D": TWO, "G": TWO, "H": TWO}, counts)


@pytest.fixture(scope="module")
def people():
    """All 48,842 records of Adult, those with missing values among them."""
    path = find_description("adult")
    names = list(tomllib.loads(path.read_text())["columns"])
    read = partial(pd.read_csv, names=names, skipinitialspace=True)
    return pd.concat([read(path.with_name("adult.data")), read(path.with_name("adult.test"), skiprows=1)])


def test_the_table_is_adult(table, people):
    """Catalogue 12-11. A: under 25, 55 or more, between; C:
    high school or less, more; D: married, not; G: not 40 hours, 40; H: at most 50K, more."""
    recoded = pd.DataFrame(
        {
            "A": np.select([people["age"] < 25, people["age"] >= 55], ["1", "2"], "3"),
            "C": np.where(people["education-num"] <= 9, "1", "2"),
            "D": np.where(people["marital-status"].str.startswith("Married"), "1", "2"),
            "G": np.where(people["hours-per-week"] == 40, "2", "1"),
            "H": np.where(people["salary"].str.startswith(">"), "2", "1"),
        }
    )
    assert (TableOfCounts.of(recoded, list("ACDGH")).counts == table.counts).all()


def test_degrees_of_freedom():
    """Section 12.5.2: 600, 634 and 36, by the levels that the book states."""
    levels = {"A": 3, "B": 4, "C": 2, "D": 2, "E": 2, "F": 2, "G": 2, "H": 2}
    assert degrees_of_freedom(levels, ["ABCFG", "ACDFG", "ACDGH", "ADEFG"]) == 600
    assert degrees_of_freedom(levels, ["ACDGH", "ABFG", "ABCG", "ADFG", "BEFG", "DEFG"]) == 634
    assert degrees_of_freedom({name: n for name, n in levels.items() if name not in "BH"}, ["ACFG", "ADEFG"]) == 36


def test_bounds_in_closed_form(table):
    """Catalogue 12-05: 2327 in 2323 to 2335, 8 in 0 to 12, 1411 in 1403 to 1415, 4 in 0 to 12; the narrowest is 12."""
    values, low, high = cell_bounds([table.margin(each) for each in DECOMPOSABLE])
    order = [list(values).index(name) for name in "ACDGH"]
    low, high = low.transpose(order), high.transpose(order)
    at = (0, 0, 1)
    assert table.counts[at].tolist() == [[2327, 8], [1411, 4]]
    assert np.dstack([low[at], high[at]]).tolist() == [[[2323, 2335], [0, 12]], [[1403, 1415], [0, 12]]]
    assert ((low <= table.counts) & (table.counts <= high)).all()
    assert (high - low).min() == 12


def frechet(table):
    rows, columns = (table.margin(name).counts for name in table.names)
    return np.maximum(0, rows[:, None] + columns - table.counts.sum()), np.minimum(rows[:, None], columns)


def test_bounds_of_two_attributes():
    """Catalogue 12-04: Frechet's."""
    table = TableOfCounts({"A": THREE, "B": TWO}, np.array([[5, 0], [1, 2], [0, 9]]))
    found = cell_bounds([table.margin(name) for name in "AB"])
    assert all((mine == its).all() for mine, its in zip(found[1:], frechet(table), strict=True))


def test_bounds_by_programs():
    """All pairs of three attributes, which are not decomposable: by all tables that there are."""
    table = TableOfCounts({"A": TWO, "B": TWO, "C": THREE}, np.array([[[1, 0, 2], [0, 3, 1]], [[2, 1, 0], [1, 0, 1]]]))
    margins = [table.margin(each) for each in ("AB", "BC", "AC")]
    found = cell_bounds(margins)
    # The tables with these margins differ by multiples of two moves.
    moves = [np.einsum("a,b,c->abc", [1, -1], [1, -1], c) for c in ([1, -1, 0], [0, 1, -1])]
    tables = [table.counts + i * moves[0] + j * moves[1] for i, j in itertools.product(range(-9, 10), repeat=2)]
    tables = [each for each in tables if (each >= 0).all()]
    assert len(tables) > 1
    assert (found.low == np.min(tables, axis=0)).all()
    assert (found.high == np.max(tables, axis=0)).all()


def test_whole_counts_may_be_bound_more_narrowly():
    """x + y = 1, y + z = 1, x + z = 1 has no whole solution; x + y + z = 2 above them halves what whole ones cannot."""
    sums = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 1]])
    assert [found.tolist() for found in bound_sums(sums, [1] * 3, [1] * 3)] == [[0, 0, 0, 0], [0, 0, 0, 1]]
    assert [found.tolist() for found in bound_sums(sums, [1] * 3, [1] * 3, whole=True)] == [[0, 0, 0, 1], [0, 0, 0, 1]]


@pytest.mark.slow
def test_eight_attributes_of_adult(people):
    """An 8-way table of 768 cells, and the bounds of the seven without B, by margins that are not decomposable.

    All eight take 7.6 seconds of one core, for which the tests have no time.
    """
    of = pd.DataFrame(
        {
            "A": np.select([people["age"] < 25, people["age"] >= 55], ["1", "2"], "3"),
            "B": np.select(
                [
                    people["workclass"] == "Private",
                    people["workclass"].str.startswith("Self"),
                    people["workclass"].str.endswith("gov"),
                ],
                ["1", "2", "3"],
                "4",
            ),
            "C": np.where(people["education-num"] <= 9, "1", "2"),
            "D": np.where(people["marital-status"].str.startswith("Married"), "1", "2"),
            "E": np.where(people["race"] == "White", "1", "2"),
            "F": people["sex"],
            "G": np.where(people["hours-per-week"] == 40, "2", "1"),
            "H": np.where(people["salary"].str.startswith(">"), "2", "1"),
        }
    )
    table = TableOfCounts.of(of, list("ABCDEFGH"))
    assert table.counts.size == 768
    assert 0 < small_count_share(table) < small_count_share(table, most=10) < 1
    found = cell_bounds([table.margin(each) for each in ("ACDGH", "ADFG", "AEF", "DEG")])
    table = table.margin("ACDEFGH")
    order = [list(found.values).index(name) for name in "ACDEFGH"]
    low, high = found.low.transpose(order), found.high.transpose(order)
    assert ((low <= table.counts) & (table.counts <= high)).all()
    assert 0 < (high - low).min() < (high - low).max()


def test_totals_stand_last():
    assert add_totals(np.ones((2, 2, 2), dtype=int))[-1, -1].tolist() == [4, 4, 8]


def changed(margin):
    return TableOfCounts(margin.values, margin.counts + 1)


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda t: cell_bounds([t.margin("AC"), changed(t.margin("CD"))]), "A x C and C x D contradict"),
        (lambda t: cell_bounds([t.margin("A"), changed(t.margin("H"))]), "totals differ by up to 2"),
        (lambda t: cell_bounds([t.margin("A"), TableOfCounts({"A": TWO}, np.ones(2))]), "same values of 'A'"),
        (lambda t: cell_bounds([]), "at least one table of counts"),
        (lambda t: cell_bounds([t.counts]), "TableOfCounts"),
        (lambda t: t.margin("AX"), "got X"),
        (lambda t: degrees_of_freedom({"A": 2}, ["AX"]), "got X"),
        (lambda t: TableOfCounts({"A": TWO}, np.array([1, 2, 3])), "shape"),
        (lambda t: TableOfCounts({"A": TWO}, np.array([1, -2])), "at least 0"),
        (lambda t: TableOfCounts.of(pd.DataFrame({"x": ["a", None]}), ["x"]), "missing"),
        (lambda t: bound_sums(np.array([[1.0, 1.0], [1.0, 1.0]]), [1, 2], [1, 2]), "contradict"),
    ],
)  # fmt: skip
def test_what_cannot_be(table, do, says):
    with pytest.raises((ValueError, TypeError), match=says):
        do(table)


@pytest.mark.slow
def test_margins_that_agree_pairwise_and_still_contradict():
    """A and B alike, B and C alike, A and C never: no table has these."""
    same, never = np.eye(2, dtype=int) * 5, (1 - np.eye(2, dtype=int)) * 5
    margins = [
        TableOfCounts({a: TWO, b: TWO}, c) for a, b, c in (("A", "B", same), ("B", "C", same), ("A", "C", never))
    ]
    with pytest.raises(ValueError, match="contradict each other"):
        cell_bounds(margins)
