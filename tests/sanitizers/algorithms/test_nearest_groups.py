"""Groups of near records against the definition, scanned record by record."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from privnb.microdata.hierarchy import Extent, Ordered, Sets, taxonomies
from privnb.microdata.schema import Attribute, Categories, Role
from privnb.sanitizers.algorithms.nearest_groups import find_centres, group_around, locate_records, mdav

TREE = taxonomies.lists(
    Attribute("town", Role.QUASI_IDENTIFIER, Categories(tuple("abcdef"))),
    {"north": ["a", "b"], "south": ["c", "d", "e"], "sea": ["f"]},
)
KINDS = {"number": None, "tree": TREE.extent(), "set": Sets("s", tuple("abcd")).extent()}
KINDS["order"] = Ordered("o", tuple("abcde")).extent()


def apart(space, a, one, other):
    """The distance in one coordinate."""
    if a < space.numbers:
        return abs(one - other)
    meet = np.flatnonzero(space.groups[int(one)] == space.groups[int(other)])[0]
    return space.weights[a] * meet


def squared(space, one, other):
    return sum(apart(space, a, x, y) ** 2 for a, (x, y) in enumerate(zip(one, other, strict=True)))


def average(space, points):
    centre = [np.rint(points[:, a].mean()) for a in range(space.numbers)]
    for a in range(space.numbers, points.shape[1]):
        rows = range(space.begin[a], space.end[a])
        centre.append(min(rows, key=lambda row: sum(apart(space, a, row, x) ** 2 for x in points[:, a])))
    return np.array(centre, dtype=float)


def scanned(space, points, k):
    """Maximum distance to average as Domingo-Ferrer and Torra state it."""
    left, groups = list(range(len(points))), []

    def farthest(point):
        return max(left, key=lambda record: (squared(space, point, points[record]), -record))

    def grouped(record):
        near = sorted(left, key=lambda other: (squared(space, points[record], points[other]), other))[: k - 1]
        groups.append([record, *near])
        left[:] = [each for each in left if each not in near]

    while len(left) >= 2 * k:
        more = len(left) >= 3 * k
        one = farthest(average(space, points[left]))
        left.remove(one)
        if more:
            other = farthest(points[one])
            left.remove(other)
        grouped(one)
        if more:
            grouped(other)
    groups.append(left)
    found = np.empty(len(points), dtype=int)
    for number, group in enumerate(groups):
        found[group] = number
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.data(), st.integers(2, 70), st.integers(1, 6), st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4)
)
def test_it_is_what_a_scan_finds(data, n, k, kinds):
    """Few values make ties, of which the lowest record is the first."""
    widest = data.draw(st.sampled_from([2, 9, 400, 10**8]))
    sizes = {"number": widest, "tree": 6, "set": 4, "order": 5}
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    codes = np.column_stack([rng.integers(0, sizes[kind], n) for kind in kinds])
    space, points, order = locate_records(codes, [KINDS[kind] for kind in kinds])
    assert sorted(order) == list(range(len(kinds)))
    assert (points == np.rint(points)).all()
    if k > n:
        with pytest.raises(ValueError, match=f"must be from 1 to the number of records, {n}; got {k}"):
            mdav(space, points, k)
        return
    assert mdav(space, points, k).tolist() == scanned(space, points, k).tolist()


@pytest.mark.parametrize(("n", "k"), [(1000, 3), (999, 7), (15, 4), (11, 4), (7, 4), (2000, 50)])
def test_group_sizes(n, k):
    """All have k records but the last, which has up to 2k - 1 (book, section 3.3.2)."""
    codes = np.random.default_rng(3).integers(0, 50, (n, 3))
    space, points, _ = locate_records(codes, [None] * 3)
    sizes = np.bincount(mdav(space, points, k))
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k
    grouped = np.bincount(group_around(space, points, k, np.random.default_rng(1).permutation(n)))
    assert len(grouped) == n // k
    assert grouped.min() >= k
    assert grouped.sum() == n


def test_distances_are_those_of_standardized_numbers():
    """A number counts in its standard deviations, whatever its unit; a category by the level where two meet."""
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.normal(0, 10**7, 300).astype(int), rng.integers(0, 3, 300), rng.integers(0, 6, 300)])
    space, points, order = locate_records(codes, [None, None, TREE.extent()])
    scaled = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    levels = np.argmax(TREE.extent().groups[:, codes[:, 2]] == TREE.extent().groups[:, codes[:1, 2]], axis=0)
    expected = ((scaled[:, :2] - scaled[0, :2]) ** 2).sum(axis=1) + (levels / TREE.extent().denominator) ** 2
    unit = space.weights[-1] * TREE.extent().denominator
    found = [squared(space, points[0], point) / unit**2 for point in points]
    assert order == [0, 1, 2]
    assert found == pytest.approx(expected, rel=1e-4)
    assert max(found) * unit**2 < 2**53, "so that floats are exact"


def test_equal_steps_are_equally_far():
    """Ages 39 and 41 are as far from 40, to the last bit: ties are those of the numbers, not of their rounding."""
    codes = np.random.default_rng(2).integers(17, 91, (500, 1))
    points = locate_records(codes, [None])[1]
    step = (points.max() - points.min()) / (codes.max() - codes.min())
    assert (points == (codes - codes.min()) * step).all()


def test_a_column_of_one_value_counts_nothing():
    codes = np.random.default_rng(2).integers(0, 30, (60, 2))
    both = locate_records(np.column_stack([codes, np.full(60, 7)]), [None] * 3)
    assert mdav(*both[:2], 4).tolist() == mdav(*locate_records(codes, [None] * 2)[:2], 4).tolist()
    space, points, _ = locate_records(np.zeros((9, 2), dtype=int), [None, Extent(1, np.array([[0, 1], [0, 0]]))])
    assert np.bincount(mdav(space, points, 2)).tolist() == [2, 2, 2, 3]


@settings(max_examples=30, deadline=None)
@given(n=st.integers(4, 60), k=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_around_is_what_a_scan_finds(n, k, seed):
    rng = np.random.default_rng(seed)
    codes, seeds = rng.integers(0, 6, (n, 2)), rng.permutation(n)
    space, points, _ = locate_records(codes, [None, None])
    left, groups = list(range(n)), []
    for record in seeds:
        if record in left and len(left) >= k:
            left.remove(record)
            near = sorted(left, key=lambda other: (squared(space, points[record], points[other]), other))[: k - 1]
            left = [each for each in left if each not in near]
            groups.append([record, *near])
    centres = [np.rint(points[group].mean(axis=0)) for group in groups]
    expected = np.empty(n, dtype=int)
    for number, group in enumerate(groups):
        expected[group] = number
    for record in left:
        expected[record] = min(range(len(groups)), key=lambda g: (squared(space, points[record], centres[g]), g))
    assert group_around(space, points, k, seeds).tolist() == expected.tolist()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["tree", "set"]))
def test_the_central_category_is_the_nearest_of_all_the_domain(seed, kind):
    """The most common one of a set; in a tree none outside of the group comes nearer."""
    rng = np.random.default_rng(seed)
    rows, groups = rng.integers(0, 6 if kind == "tree" else 4, 30), rng.permutation(np.arange(30) % 7)
    space, points, _ = locate_records(rows[:, None], [KINDS[kind]])
    found = find_centres(space, points[:, 0], groups)
    for group in range(7):
        costs = [sum(apart(space, 0, row, x) ** 2 for x in points[groups == group, 0]) for row in range(space.end[0])]
        assert costs[found[group]] == min(costs)
        tied = [row for row in points[groups == group, 0] if costs[int(row)] == min(costs)]
        assert found[group] == min(tied)
