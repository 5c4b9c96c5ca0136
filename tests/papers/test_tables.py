"""Small tables: all of them, and how many there are, against listing every way to fill in the rows."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb

import numpy as np
import pandas as pd
import pytest

from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration.errata import count_tables_as_printed
from privnb.papers.askari_2012.enumeration.tables import (
    Tables,
    number_of_anonymous_tables,
    number_of_tables,
)

DOMAINS = {"age": ("20", "30", "40"), "disease": ("Cold", "Flu")}
AGES = Taxonomy("age", (("20", "20-30", "*"), ("30", "20-30", "*"), ("40", "40", "*")))


def multisets(domains, records):
    return {tuple(sorted(rows)) for rows in product(product(*domains.values()), repeat=records)}


def test_every_table_once():
    tables = Tables.every(DOMAINS, records=3)
    listed = [tuple(sorted(tables[i])) for i in range(len(tables))]
    assert len(listed) == len(set(listed)) == number_of_tables(6, 3) == 56
    assert set(listed) == multisets(DOMAINS, 3)
    assert (tables.counts.sum(axis=1) == 3).all()


def test_the_paper_example_has_98280_tables():
    domains = {"age": "1234", "gender": "MF", "disease": "CHD"}
    tables = Tables.every(domains, records=5)
    assert len(tables) == number_of_tables(24, 5) == 98_280
    assert tables.anonymous(["age", "gender"], 2).sum() == number_of_anonymous_tables(8, 3, 5, 2) == 3_528


@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("values", [1, 2, 3])
def test_the_number_of_anonymous_tables(cells, values):
    """By listing; eq. 25 is right for whole rows (one value) where k divides the rows, and else often wrong."""
    failed = 0
    for records in range(1, 6):
        rows = list(combinations_with_replacement(product(range(cells), range(values)), records))
        for k in range(1, records + 1):
            classes = [np.bincount([cell for cell, _ in table], minlength=cells) for table in rows]
            truth = sum(all(size == 0 or size >= k for size in sizes) for sizes in classes)
            assert number_of_anonymous_tables(cells, values, records, k) == truth
            printed = count_tables_as_printed(cells * values, records, k)
            failed += printed != truth
            if values == 1:
                whole = sum(
                    comb(cells, g) * comb(records - g * k + g - 1, g - 1) for g in range(1, records // k + 1)
                )  # fmt: skip
                assert whole == truth
                assert printed == truth or records % k
    assert failed > 0 or (cells, values) == (1, 1)


def test_too_many_tables_are_counted_not_listed():
    with pytest.raises(ValueError, match=r"there are 3,838,380 tables of 6 rows over 35 kinds .* 1,000,000 can be"):
        Tables.every({"a": "1234567", "b": "12345"}, records=6)
    with pytest.raises(ValueError, match="can be compared in pairs"):
        Tables.every({"a": tuple("123456789")}, records=8).rows_in_common()


def test_one_table_as_counts():
    frame = pd.DataFrame({"age": [20, 40, 20], "disease": ["Flu", "Cold", "Flu"]}, index=[7, 7, 7])
    tables = Tables.of(frame, DOMAINS)
    assert tables[0] == (("20", "Flu"), ("20", "Flu"), ("40", "Cold"))
    assert repr(tables) == "Tables(1 over age: 3, disease: 2)"
    assert Tables.of(frame).domains == {"age": ("20", "40"), "disease": ("Cold", "Flu")}
    assert tables.counted("age").tolist() == [[2, 1]]
    assert tables.counted().tolist() == [[3]]
    with pytest.raises(ValueError, match=r"'age' contains '40', which is not in its domain \('20', '30'\)"):
        Tables.of(frame, {"age": ("20", "30")})


def test_generalized_row_by_row():
    tables = Tables.every(DOMAINS, records=2)
    coarse = tables.generalized((AGES,), (1,))
    label = {row[0]: row[1] for row in AGES.rows}
    assert coarse.domains == {"age": ("20-30", "40"), "disease": ("Cold", "Flu")}
    for i in range(len(tables)):
        assert sorted(coarse[i]) == sorted((label[age], disease) for age, disease in tables[i])
    distinct, which = coarse.distinct()
    assert len(distinct) == number_of_tables(4, 2)
    first = Tables.every(coarse.domains, records=2)
    assert [distinct[i] for i in range(10)] == [first[i] for i in range(10)]
    assert all(distinct[at] == coarse[i] for i, at in enumerate(which))
    same = tables.generalized((AGES,), (0,))
    assert [same[i] for i in range(len(same))] == [tables[i] for i in range(len(tables))]


def test_what_an_adversary_knows_of_people():
    tables = Tables.every(DOMAINS, records=3)
    listed = [tables[i] for i in range(len(tables))]
    assert tables.holding(age="30").tolist() == [any(age == "30" for age, _ in rows) for rows in listed]
    assert tables.holding(age="30", disease="Flu").tolist() == [("30", "Flu") in rows for rows in listed]
    shares = tables.shares("disease", age="30")
    for i, rows in enumerate(listed):
        people = [disease for age, disease in rows if age == "30"]
        assert shares[:, i].tolist() == [Fraction(people.count(d), len(people) or 1) for d in ("Cold", "Flu")]
    with pytest.raises(ValueError, match="no table contains age='31'"):
        tables.holding(age="31")
    with pytest.raises(ValueError, match="no table contains zip='1'"):
        tables.shares("disease", zip="1")


def test_rows_in_common():
    tables = Tables.every(DOMAINS, records=3)
    common = tables.rows_in_common()
    assert common.shape == (56, 56)
    assert (np.diag(common) == 3).all()
    assert (common == common.T).all()
    assert (common == 3).sum() == 56  # tables are distinct
    left = list(tables[4])
    shared = sum(left.remove(row) is None for row in tables[30] if row in left)
    assert common[4, 30] == shared
