"""Copies in synthetic rows: the hidden share is in the interval, and copies of the hold-out raise no alarm."""

import numpy as np
import pytest

from privnb.measures.disclosure.memorization import estimate_copied_share, share_nearer
from privnb.runtime.errors import UsageError

ROWS = 4000


def population(rng, size):
    """Numbers of combinations: a half of the people share few combinations, and the others many."""
    return np.where(rng.random(size) < 0.5, rng.geometric(0.02, size), 1000 + rng.integers(0, 40_000, size))


def hidden(seed, share, records, others, *, of_others=False):
    """The estimate for rows of the population, among which a share are copies."""
    rng = np.random.default_rng(seed)
    table, holdout, rows = population(rng, records), population(rng, others), population(rng, ROWS)
    copies = int(share * ROWS)
    rows[:copies] = rng.choice(holdout if of_others else table, copies, replace=False)
    return estimate_copied_share(rng.permutation(rows), table, holdout)


@pytest.mark.parametrize(("records", "others"), [(9000, 9000), (12_000, 5000), (5000, 12_000)])
@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.2])
def test_the_interval_holds_the_share_that_was_copied(records, others, share):
    found = [hidden(seed, share, records, others) for seed in range(20)]
    assert sum(each.low <= share <= each.high for each in found) >= 18
    assert np.mean([each.value for each in found]) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_copies_of_the_holdout_are_no_copies_of_the_table(share):
    alarms = [hidden(seed, share, 9000, 9000, of_others=True).low > 0 for seed in range(20)]
    assert sum(alarms) <= 1


def test_a_perfect_copy_is_at_the_ceiling():
    table, holdout = np.arange(1000), np.arange(1000, 2000)
    assert estimate_copied_share(table, table, holdout)[:3] == (1, 1, 1)
    assert estimate_copied_share(holdout, table, holdout)[:3] == (0, 0, 0)


def test_what_cannot_be_compared_is_refused():
    some = np.arange(5)
    with pytest.raises(UsageError, match="must not be empty; got 5, 5 and 0"):
        estimate_copied_share(some, some, some[:0])
    with pytest.raises(UsageError, match="all of them occur there"):
        estimate_copied_share(some, some, some)


def test_the_nearest_record_is_a_straw_man():
    """Rows that copy every tenth record and lie between the people otherwise pass the test of nearest records."""
    rng = np.random.default_rng(1)
    table, holdout = rng.random((2, 2000, 4))
    rows = np.vstack([table[:50], rng.random((950, 4))])
    assert share_nearer(rows, table, holdout, np.full(4, np.inf)) == pytest.approx(0.5, abs=0.06)
    code = {tuple(row): number for number, row in enumerate(np.vstack([table, holdout, rows]))}
    numbers = (np.array([code[tuple(row)] for row in part]) for part in (rows, table, holdout))
    assert estimate_copied_share(*numbers).low > 0.03


def test_the_nearest_records_agree_with_a_plain_search():
    rng = np.random.default_rng(2)
    rows, table, holdout = (rng.integers(0, 4, (each, 3)).astype(float) for each in (40, 60, 30))
    most = np.array([np.inf, 1.0, np.inf])

    def distance(row, part):
        return min(np.minimum(np.abs(row - other), most).sum() for other in part)

    expected = [
        2 / 3
        if distance(row, table) == distance(row, holdout)
        else float(distance(row, table) < distance(row, holdout))
        for row in rows
    ]
    assert share_nearer(rows, table, holdout, most) == pytest.approx(np.mean(expected))
