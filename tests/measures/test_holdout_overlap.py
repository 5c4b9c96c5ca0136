"""The overlap of a hold-out with a table: worked examples by hand, and the coverage of the interval."""

import numpy as np
import pytest

from privnb.measures.disclosure.holdout_overlap import measure_overlap
from privnb.runtime.errors import UsageError


def test_a_worked_example():
    # 10 records of 7 combinations: 4 records have the combination 0, so 4 of 10 have the values of another record.
    records = np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    others = np.array([0, 1, 1, 2, 7, 8, 9, 0])  # 5 of 8 have the values of a record
    found = measure_overlap(records, others)
    assert (found.people, found.equal, found.expected, found.share) == (8, 5, 0.4, 0.625)
    assert found.inside == pytest.approx((0.625 - 0.4) / 0.6)
    error = np.sqrt(0.625 * 0.375 / 8 + 0.4 * 0.6 / 10)
    assert found.high == pytest.approx(min(1, (0.225 + 1.959964 * error) / 0.6), abs=1e-6)
    assert found.low == 0  # 0.225 - 1.96 * 0.231 is below 0


def test_nobody_can_be_recognized_if_every_record_is_repeated():
    found = measure_overlap(np.array([0, 0, 1, 1]), np.array([0, 1]))
    assert (found.equal, found.inside, found.low, found.high) == (2, 0, 0, 1)


@pytest.mark.parametrize("share", [0, 0.1, 0.4])
def test_the_interval_covers_the_share_of_people_who_are_in_the_table(share):
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        records = rng.geometric(0.01, 1000)
        inside = rng.choice(records, int(share * 500), replace=False)
        found = measure_overlap(records, np.append(inside, rng.geometric(0.01, 500 - len(inside))))
        covered += found.low <= share <= found.high
    assert covered >= 180


def test_an_empty_holdout_is_refused():
    with pytest.raises(UsageError, match="must not be empty; got 3 and 0"):
        measure_overlap(np.arange(3), np.array([], dtype=int))
