"""Cell suppression and controlled rounding, each by all tables that agree with what is published."""

import contextlib
import itertools
from functools import cache

import numpy as np
import pytest

from privnb.measures.count_tables.margin_bounds import bound_rounded, bound_suppressed
from privnb.microdata.count_tables import TableOfCounts, add_totals, totals_matrix
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.tables_and_rules.cell_suppression import suppress_small_counts
from privnb.sanitizers.tables_and_rules.controlled_rounding import _unbiased, round_counts


def table(counts):
    counts = np.array(counts)
    return TableOfCounts({f"A{i}": tuple(map(str, range(n))) for i, n in enumerate(counts.shape)}, counts)


SMALL = table([[20, 50, 1], [8, 19, 22], [17, 32, 12]])


@cache
def every(shape, most):
    """All tables of counts up to `most`, with their totals."""
    cells = np.array(list(itertools.product(range(most + 1), repeat=int(np.prod(shape)))))
    return (cells @ totals_matrix(shape).T.toarray().astype(int)).reshape(-1, *(n + 1 for n in shape))


def ends(tables):
    return tables.min(axis=0), tables.max(axis=0)


def test_totals_as_sums():
    assert (totals_matrix((3, 3)) @ SMALL.counts.ravel() == add_totals(SMALL.counts).ravel()).all()


def test_one_small_count_takes_three_others_with_it():
    """A cell of a two-way table is uncertain only in a cycle of four: fewest others, and of these the smallest."""
    found = suppress_small_counts(SMALL, 5, width=5)
    assert found.published.mask.sum() == 4
    assert sorted(add_totals(SMALL.counts)[found.published.mask]) == [1, 12, 17, 20]
    assert [found.low[0, 2], found.high[0, 2]] == [0, 13]
    assert (found.published.data[found.published.mask] == 0).all()  # nothing stands behind the mask
    assert found.published[-1, -1] == 181


def test_without_the_others_it_is_given_back():
    alone = np.ma.array(add_totals(SMALL.counts), mask=False)
    alone[0, 2] = np.ma.masked
    assert [each[0, 2] for each in bound_suppressed(alone)] == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2)])
def test_bounds_are_those_of_all_tables(shape):
    """Suppressed: those that agree in what is published. Rounded: those less than the base away."""
    drawn, inside, tried = np.random.default_rng(1), tuple(slice(n) for n in shape), 0
    axes = tuple(range(1, len(shape) + 1))
    for _ in range(4):
        one, tables = table(drawn.integers(0, 3, shape)), every(shape, 3)
        with contextlib.suppress(SanitizationError):  # of three attributes not every table has a rounding
            near = round_counts(one, 2, rng=1)
            agreeing = tables[(abs(tables - near.published) < 2).all(axis=axes)]
            assert all((mine == its).all() for mine, its in zip(near[1:], ends(agreeing), strict=True))
            tried += 1
        with contextlib.suppress(SanitizationError):
            found = suppress_small_counts(one, 2, width=1)
            shown = ~np.ma.getmaskarray(found.published)
            agreeing = tables[(tables == found.published.data)[:, shown].all(axis=1)]
            assert ((found.high - found.low)[found.small] >= 1).all()
            if agreeing[:, *inside].max() < 3:  # else there are more than were made
                assert all((mine == its).all() for mine, its in zip(found[2:], ends(agreeing), strict=True))
                tried += 1
    assert tried > 2


@pytest.mark.slow
def test_rounding_adds_up_and_goes_to_a_neighbour():
    entries = add_totals(SMALL.counts)
    drawn = [round_counts(SMALL, 5, rng=seed) for seed in range(10)]
    for found in drawn:
        assert (found.published % 5 == 0).all()
        assert (abs(found.published - entries) < 5).all()
        assert (found.published[entries % 5 == 0] == entries[entries % 5 == 0]).all()
        assert (add_totals(found.published[:3, :3]) == found.published).all()
        assert ((found.low <= entries) & (entries <= found.high)).all()
    assert 1 < np.mean([found.published[1, 2] for found in drawn]) < 25
    assert len({found.published.tobytes() for found in drawn}) > 3


@pytest.mark.parametrize("counts", [SMALL.counts.tolist(), [1, 2, 4, 11], [[1, 1], [1, 2]], [[0, 3, 0], [0, 0, 4]]])
def test_the_mean_of_roundings_is_the_true_one(counts):
    """Cox 1987. Of 4000 draws each mean is within five standard errors, of a spread of half the base at most."""
    entries = add_totals(np.array(counts))
    rng = np.random.default_rng(1)
    drawn = np.array([_unbiased(np.array(counts), 5, rng) for _ in range(4000)])
    assert abs(drawn.mean(axis=0) - entries).max() < 5 * 2.5 / 4000**0.5
    assert (abs(drawn - entries) < 5).all()
    assert all((add_totals(each[tuple(slice(n) for n in np.shape(counts))]) == each).all() for each in drawn[:50])


def test_a_large_table_is_rounded_and_adds_up():
    counts = np.random.default_rng(1).integers(0, 30, (60, 40))
    found = _unbiased(counts, 7, np.random.default_rng(2))
    assert (found % 7 == 0).all()
    assert (add_totals(found[:60, :40]) == found).all()


def test_a_width_that_rounding_does_not_leave_is_seen(monkeypatch):
    """The claim is computed from what is published, not believed."""
    monkeypatch.setattr("privnb.sanitizers.tables_and_rules.controlled_rounding.bound_rounded", lambda p, _: (p, p))
    with pytest.raises(SanitizationError, match="differ by less than 4"):
        round_counts(SMALL, 5, rng=1)
    monkeypatch.setattr("privnb.sanitizers.tables_and_rules.cell_suppression._find_complement", lambda *_: [])
    with pytest.raises(SanitizationError, match="differ by less than 5"):
        suppress_small_counts(SMALL, 5)


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda: suppress_small_counts(table([[1, 0], [0, 1]]), 5), "fewer than 5 records"),
        (lambda: suppress_small_counts(table([[9, 1]]), 5, width=50), "uncertain by 50"),
        (lambda: suppress_small_counts(SMALL, 1), "min_count must be a whole number of at least 2"),
        (lambda: suppress_small_counts(SMALL.counts, 5), "TableOfCounts"),
        (lambda: suppress_small_counts(table([[0.5, 1], [2, 3]]), 5), "whole counts"),
        (lambda: round_counts(SMALL, 1, rng=1), "base must be"),
        (lambda: round_counts(SMALL, 5, rng="x"), "rng must be"),
        (lambda: bound_suppressed(np.ma.array([1, 2], mask=[False, True])), "grand total"),
        (lambda: bound_rounded(np.array([0, -9]), 5), "below 0"),
    ],
)
def test_what_cannot_be(do, says):
    with pytest.raises((ValueError, TypeError), match=says):
        do()
