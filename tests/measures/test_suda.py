"""SUDA against plain enumeration, the examples of a guide and of a book, and the DIS score's own definition."""

import numpy as np
import pytest
from support import plain_suda

from privnb.measures.disclosure.small_classes import find_small_classes, sum_by_value
from privnb.measures.disclosure.suda import (
    affordable_size,
    dis_suda_scores,
    find_minimal_uniques,
    suda_contributions,
    suda_scores,
)

# Ten records of the World Bank's and IHSN's practice guide on disclosure control: residence, gender, education, labor.
GUIDE = """
urban female secondary-incomplete employed
urban female secondary-incomplete employed
urban female primary-incomplete non-LF
urban male secondary-complete employed
rural female secondary-complete unemployed
urban male secondary-complete employed
urban female primary-complete non-LF
urban male post-secondary unemployed
urban female secondary-incomplete non-LF
urban female secondary-incomplete non-LF
"""
# Eight records of Templ, "Statistical Disclosure Control for Microdata", 2017: age, gender, income, education.
BOOK = """
20s male 50k+ highschool
20s male 50k+ highschool
20s male 50k- highschool
20s male 50k- highschool
20s female 50k- university
20s female 50k- highschool
20s female 50k- middleschool
60s male 50k- university
"""


def coded(text):
    """Return the codes of each column of a table."""
    columns = zip(*(line.split() for line in text.strip().splitlines()), strict=True)
    return [np.unique(column, return_inverse=True)[1] for column in columns]


def random_table(seed):
    """Return the columns and people of a small table, in which some people have several rows."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 30)), int(rng.integers(1, 6))
    columns = [rng.integers(0, rng.integers(1, 6) + 1, n) for _ in range(m)]
    return columns, rng.integers(0, n, n) if seed % 2 else np.arange(n)


def given(columns, people):
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [*zip(people.tolist(), rows, strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_they_are_those_of_plain_enumeration(seed):
    columns, people = random_table(seed)
    size = len(columns) if seed % 3 else max(len(columns) - 1, 1)
    found = find_minimal_uniques(columns, people=people, max_size=size)
    first = [np.flatnonzero(found.index == row) for row in found.row]
    pairs = zip(first, found.subsets[found.subset], strict=True)
    own = {(int(at), tuple(np.flatnonzero(subset).tolist())) for rows, subset in pairs for at in rows}
    assert own == plain_suda.minimal_uniques(given(columns, people), size)
    assert suda_scores(found).tolist() == plain_suda.scores(given(columns, people), size)


def test_rows_with_multiplicities_are_those_of_the_records():
    columns, _ = random_table(4)
    times = np.random.default_rng(1).integers(1, 3, len(columns[0]))
    records = suda_scores(find_minimal_uniques([np.repeat(column, times) for column in columns]))
    assert np.repeat(suda_scores(find_minimal_uniques(columns, times)), times).tolist() == records.tolist()


def test_the_scores_are_those_of_the_guide_and_of_the_book():
    assert suda_scores(find_minimal_uniques(coded(GUIDE))).tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert suda_scores(find_minimal_uniques(coded(BOOK))).tolist() == [0, 0, 0, 0, 4, 2, 6, 8]


def test_the_probabilities_are_those_of_the_guide():
    """The guide's table holds probabilities by the other weighting, for a sample of one percent."""
    found = dis_suda_scores(find_minimal_uniques(coded(GUIDE)), 0.01, "supersets")
    assert found.round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]


def test_contributions_are_those_of_the_msus_with_the_column_and_the_value():
    table = coded(GUIDE)
    found = find_minimal_uniques(table)
    through, total = suda_contributions(found), suda_scores(found).sum()
    for column in range(4):
        having = sum(
            weight for weight, subset in zip(found.weigh(), found.subsets[found.subset], strict=True) if subset[column]
        )
        assert through[:, column].sum() == having
    assert [each.sum() for each in sum_by_value(through, table)] == through.sum(axis=0).tolist()
    assert sum_by_value(through, table)[0][0] == 6, "rural, alone"
    assert (through <= suda_scores(found)[:, None]).all()
    assert total == 34


def test_equal_scores_have_the_probability_of_the_file():
    columns = [np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6])]
    found = find_minimal_uniques(columns)
    alone, paired, f = 4, 4, 0.05
    dis = alone * f / (alone * f + paired * (1 - f))
    assert dis_suda_scores(found, f)[:4] == pytest.approx(dis)
    assert not dis_suda_scores(found, f)[4:].any()


def test_a_table_without_uniques_and_one_without_pairs():
    assert suda_scores(find_minimal_uniques([np.array([0, 0, 1, 1])])).tolist() == [0] * 4
    assert dis_suda_scores(find_minimal_uniques([np.array([0, 0, 1, 1])]), 0.5).tolist() == [0] * 4
    assert dis_suda_scores(find_minimal_uniques([np.array([0, 1])]), 0.5).tolist() == [1, 1]
    assert find_minimal_uniques([np.array([0, 0])]).subsets.shape == (0, 1)


@pytest.mark.parametrize("size", [0, 3, 1.5])
def test_a_size_that_is_not_from_one_to_m_is_refused(size):
    with pytest.raises(ValueError, match="size"):
        find_minimal_uniques([np.array([0, 1]), np.array([0, 1])], max_size=size)
    with pytest.raises(ValueError, match="size"):
        find_small_classes([np.array([0, 1]), np.array([0, 1])], size, 2)


def test_the_affordable_size_grows_with_fewer_rows():
    assert affordable_size(1, 3) == 3
    assert affordable_size(10**9, 12) == 1
    sizes = [affordable_size(n, 12) for n in (10**8, 10**6, 10**5, 10**4, 10)]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("seed", range(6))
def test_small_classes_are_those_of_plain_enumeration(seed):
    columns, people = random_table(seed)
    records, m = given(columns, people), len(columns)
    size, k = max(m // 2, 1), 3
    found = find_small_classes(columns, size, k, people=people)
    through = np.zeros((len(records), m), dtype=int)
    for subset, smallest in zip(found.subsets, found.smallest, strict=True):
        sharing = [
            len({other for other, own in records if all(own[c] == values[c] for c in np.flatnonzero(subset))})
            for _, values in records
        ]
        assert smallest == min(sharing)
        through += np.outer(np.array(sharing) < k, subset)
    assert found.contributions.tolist() == through.tolist()
