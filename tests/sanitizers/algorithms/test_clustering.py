"""Greedy k-member clustering against its definition, taken literally."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from privnb.datasets.dataset import load
from privnb.microdata.hierarchy import Extent, Intervals, Ranges
from privnb.microdata.schema import Numbers
from privnb.sanitizers.algorithms.clustering import greedy_k_member


def widths(extent, values):
    """How far apart each two of the rising positions `values` are, as fractions of the widest: an array."""

    def width(low, high):
        if low == high or extent.denominator == 0:
            return Fraction(0)
        if extent.groups is None:
            missing = high > extent.denominator  # as far from each number as these are at most
            return Fraction(1) if missing else Fraction(high - low, extent.denominator)
        level = next(i for i, groups in enumerate(extent.groups) if groups[low] == groups[high])
        return Fraction(level, extent.denominator)

    return np.array([[width(min(a, b), max(a, b)) for b in values] for a in values])


def scan(codes, extents, k, start=0):
    """The clusters by looking at every record, every time. Costs are integers in the product of all denominators."""
    unit = prod(extent.denominator or 1 for extent in extents)
    values = [np.unique(column) for column in codes.T]
    codes = np.column_stack([np.searchsorted(*pair) for pair in zip(values, codes.T, strict=True)])
    tables = [widths(extent, present.tolist()) * unit for extent, present in zip(extents, values, strict=True)]
    assert all(cell.denominator == 1 for table in tables for cell in table.flat)
    tables = [table.astype(int) for table in tables]

    def cost(low, high, size):
        return size * sum(table[low[..., a], high[..., a]] for a, table in enumerate(tables))

    def rise(members, records):
        low, high = members.min(axis=0), members.max(axis=0)
        larger = cost(np.minimum(low, records), np.maximum(high, records), len(members) + 1)
        return larger - cost(low, high, len(members))

    labels = np.full(len(codes), -1)
    seed = start
    for cluster in range(len(codes) // k):
        free = np.flatnonzero(labels < 0)
        seed = free[np.argmax(rise(codes[[seed]], codes[free]))]  # argmax and argmin keep the first of equals
        labels[seed] = cluster
        for _ in range(k - 1):
            free = np.flatnonzero(labels < 0)
            labels[free[np.argmin(rise(codes[labels == cluster], codes[free]))]] = cluster
    for record in np.flatnonzero(labels < 0):
        labels[record] = np.argmin([rise(codes[labels == c], codes[record]) for c in range(len(codes) // k)])
    return labels


def tree(rng, leaves, height):
    """A taxonomy of neighbouring leaves, each level a random coarsening of the one below."""
    groups = [np.arange(leaves)]
    for _ in range(height - 1):
        merged = np.concatenate([[0], np.cumsum(rng.random(groups[-1][-1]) < 0.5)])
        groups.append(merged[groups[-1]])
    return Extent(height, np.array([*groups, np.zeros(leaves, int)]))


KINDS = {
    "range": lambda rng: Ranges(Numbers(0, int(rng.integers(1, 80)))).extent(),
    "wide range": lambda rng: Ranges(Numbers(0, 730)).extent(),
    "sex": lambda rng: tree(rng, 2, 1),
    "flat": lambda rng: tree(rng, int(rng.integers(1, 12)), 1),
    "tree": lambda rng: tree(rng, int(rng.integers(1, 40)), int(rng.integers(2, 5))),
    "ages": lambda rng: Intervals(Numbers(17, 99), (5, 10, 20, 50, 100)).extent(),
    "do not nest at all": lambda rng: Intervals(Numbers(0, 29), (1, 2, 3, 7, 30)).extent(),
    "one width": lambda rng: Intervals(Numbers(0, 9), (10,)).extent(),
}


@st.composite
def tables(draw):
    """codes, extents, k and start of a small random table: few values an attribute, for many ties and duplicates. Of
    numbers some are missing: their code is the one above all others.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32), label="seed"))
    extents = [KINDS[kind](rng) for kind in draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=5))]
    k = draw(st.sampled_from([2, 3, 10, 50, 100]))
    n = draw(st.integers(k, 4 * k if k > 3 else 70))
    columns = []
    for extent in extents:
        size = extent.denominator + 1 if extent.groups is None else extent.groups.shape[1]
        values = rng.integers(0, size, draw(st.integers(1, 12)))
        if extent.groups is None and draw(st.booleans()):
            values[0] = size
        columns.append(rng.choice(values, n))
    return np.column_stack(columns), extents, k, draw(st.integers(0, n - 1))


@given(tables())
@settings(max_examples=300, deadline=None)
def test_equals_the_definition(table):
    codes, extents, k, start = table
    np.testing.assert_array_equal(greedy_k_member(codes, extents, k, start), scan(codes, extents, k, start))


@pytest.fixture(scope="module", params=[("sramka", 597, 1), ("sramka", 1048, 2), ("sramka-taxonomy", 1499, 3)], ids=str)
def adult(request):
    """codes and extents of a random part of Adult, of a size that leaves many records over."""
    study, records, seed = request.param
    dataset = load("adult", study, records=records, rng=seed)
    generalizations = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]
    columns = [dataset.table[name] for name in dataset.schema.quasi_identifiers]
    codes = np.column_stack([g.codes(column) for g, column in zip(generalizations, columns, strict=True)])
    return codes, [g.extent() for g in generalizations]


@pytest.mark.parametrize("k", [2, 10, 50, 100])
def test_equals_the_definition_on_adult(adult, k):
    np.testing.assert_array_equal(greedy_k_member(*adult, k), scan(*adult, k))


def test_five_numbers_by_hand():
    codes, extents = np.array([[0], [10], [1], [9], [5]]), [Extent(10, None)]
    # 10 is furthest from 0 and takes 9; 0 is furthest from 10 and takes 1; 5 adds 3 x 5 - 2 x 1 to either.
    assert greedy_k_member(codes, extents, 2).tolist() == [1, 0, 1, 0, 0]
    # From 10, 0 comes first.
    assert greedy_k_member(codes, extents, 2, start=1).tolist() == [0, 1, 0, 1, 0]


def test_equal_records_are_taken_in_their_order():
    assert greedy_k_member(np.zeros((7, 2), int), [Extent(4, None)] * 2, 3).tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_a_cluster_grows_with_what_is_left_over():
    codes = np.array([[0], [0], [0], [20], [20], [20], [20], [10]])
    # The fourth 20 joins its equals; the 10 then adds 5 x 10 there, and 4 x 10 to the three zeros.
    assert greedy_k_member(codes, [Extent(20, None)], 3).tolist() == [1, 1, 1, 0, 0, 0, 0, 1]


def test_one_cluster_holds_all():
    codes = np.random.default_rng(0).integers(0, 9, (30, 3))
    assert not greedy_k_member(codes, [Extent(9, None)] * 3, 30).any()


@pytest.mark.parametrize(("k", "start"), [(0, 0), (6, 0), (2, 5), (2, -1)])
def test_refuses_what_lies_outside_the_table(k, start):
    with pytest.raises(ValueError, match=f"must be from 1 to 5.*got k={k} and start={start}"):
        greedy_k_member(np.zeros((5, 1), int), [Extent(1, None)], k, start)


def test_refuses_costs_that_would_overflow():
    denominators = [2**21 - 9, 2**21 - 19, 2**21 - 21]  # no common factors: their unit alone has 63 bits
    codes = np.array([[0, 0, 0], denominators])
    with pytest.raises(ValueError, match=r"common denominator .* too large for exact costs"):
        greedy_k_member(codes, [Extent(d, None) for d in denominators], 2)
