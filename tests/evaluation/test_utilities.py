"""Intervals of declines by hand and against a bootstrap, what is withheld, and what a number is called."""

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.evaluation.predictions import Predictions
from privnb.evaluation.results import make_row_builder
from privnb.evaluation.utility.good_utility import build_good_utility_rows, compute_decline_interval
from privnb.evaluation.utility.utilities import (
    AntiUtility,
    GoodUtility,
    GuessValues,
    build_anti_utility_rows,
    describe_unit,
    withhold_baseline,
)
from privnb.measures.utility import mining
from privnb.microdata.hierarchy import Intervals
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.sanitizers import Suppress

AGE = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99))
PEOPLE = Dataset(
    "people", pd.DataFrame({"age": np.arange(100)}), Schema("people", (AGE,)), {"age": Intervals(AGE.domain, (10, 100))}
)
ROW = make_row_builder(PEOPLE, Suppress(), 1)


def people(*hits, of=100):
    """1 for the first people of each number in `hits`, else 0."""
    return [np.arange(of) < hit for hit in hits]


def scores(weights=None, baseline=0, **hits):
    by_miner = {name: people(number)[0].astype(float) for name, number in hits.items()}
    weights = np.ones(100) if weights is None else np.asarray(weights, dtype=float)
    return GuessValues(by_miner, people(baseline)[0].astype(float), weights)


def told(rows):
    return rows.set_index("miner")[["value", "low", "high", "baseline"]]


# The interval of a decline


def test_the_interval_of_a_decline_by_hand():
    """8 of 10 people right before, 6 after, 1 of them new: kept is 6/8, and the residuals' mean square is
    (5 (1/4)^2 + 3 (3/4)^2 + 1) / 10 = 3/10, their mean 0.
    """
    before, after = np.array([1.0] * 8 + [0, 0]), np.array([1.0] * 5 + [0, 0, 0, 1, 0])
    half = 1.96 * np.sqrt(0.3) * np.sqrt(10) / 8
    assert compute_decline_interval(before, after) == pytest.approx((0, 0.25 + half))
    assert 0.25 - half < 0, "a decline is never negative"
    # A hundred times the people: a tenth of the width.
    assert compute_decline_interval(np.tile(before, 100), np.tile(after, 100)) == pytest.approx(
        (0.25 - half / 10, 0.25 + half / 10)
    )


def test_the_interval_of_a_decline_against_a_bootstrap():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, 2000)
    before = (rng.random(2000) < 0.8) * weights
    after = np.where(rng.random(2000) < 0.9, before, (rng.random(2000) < 0.5) * weights)
    drawn = rng.integers(0, 2000, (3000, 2000))
    declines = 1 - after[drawn].sum(axis=1) / before[drawn].sum(axis=1)
    low, high = compute_decline_interval(before.astype(float), after.astype(float))
    assert 0 < low < high
    assert [low, high] == pytest.approx(np.quantile(declines, [0.025, 0.975]), abs=0.1 * (high - low))


def test_a_decline_of_nothing_is_certain():
    before = people(8, of=10)[0].astype(float)
    assert compute_decline_interval(before, before) == (0, 0)
    assert compute_decline_interval(before, np.ones(10))[0] == 0, "a gain is no decline"


def test_people_are_compared_with_themselves():
    """As many right before and after, but not the same ones, is less sure than the same ones."""
    before = people(50)[0].astype(float)
    assert compute_decline_interval(before, before) == (0, 0)
    assert compute_decline_interval(before, before[::-1])[1] > 0.2


def test_a_miner_without_guesses_on_the_original_has_no_decline():
    rows = pd.DataFrame(build_good_utility_rows(ROW, "age", scores(one=40, other=30), scores(one=50), 10))
    assert rows[["measure", "miner", "value"]].values.tolist() == [
        ["good_utility", "one", 40], ["utility_decline", "one", pytest.approx(0.2)], ["good_utility", "other", 30],
    ]  # fmt: skip


# What is told


def test_counts_of_few_people_keep_their_bounds_alone():
    found = told(build_anti_utility_rows(ROW, scores(nobody=0, few=9, enough=10, many=60), 10))
    assert found.value.fillna(-1).to_dict() == {"nobody": 0, "few": -1, "enough": 10, "many": 60}
    assert found.loc["few", ["low", "high"]].tolist() == [1, 9]
    assert found.baseline.eq(0).all(), "nobody is not few"
    # Wilson, as people.
    assert found.loc["many", ["low", "high"]].tolist() == pytest.approx([50.2, 69.06], abs=0.01)
    assert told(build_anti_utility_rows(ROW, scores(baseline=9, many=60), 10)).baseline.isna().all()
    assert told(build_anti_utility_rows(ROW, scores(baseline=9, few=9), 9)).loc[
        "few", ["value", "baseline"]
    ].tolist() == [9, 9]


def test_a_weighted_sum_of_few_people_is_withheld_however_large_it_is():
    found = told(build_anti_utility_rows(ROW, scores([5] * 100, baseline=9, nobody=0, few=9, enough=10), 10))
    assert found.value.fillna(-1).to_dict() == {"nobody": 0, "few": -1, "enough": 50}
    assert found[["low", "high", "baseline"]].isna().all(axis=None)
    assert told(build_anti_utility_rows(ROW, scores([5] * 100, baseline=10, few=9), 10)).baseline.item() == 50


def test_whom_nobody_weighs_does_not_count_as_people():
    """Sixty are hit; nine of them have a weight."""
    found = told(build_anti_utility_rows(ROW, scores(np.arange(100) < 9, hit=60), 10))
    assert found.value.isna().all()
    found = told(build_anti_utility_rows(ROW, scores(5 * (np.arange(100) < 9), hit=60, baseline=60), 10))
    assert found[["value", "baseline"]].isna().all(axis=None)


def test_the_shown_baseline():
    assert withhold_baseline(scores([5] * 100, baseline=10), 10) == 50
    assert np.isnan(withhold_baseline(scores([5] * 100, baseline=9), 10))
    assert withhold_baseline(scores([5] * 100), 10) == 0


# Units


def test_people_are_counted_and_all_else_is_weighted():
    counted, interval = describe_unit(scores(one=50))
    assert counted == {"of": 100}
    assert interval(50) == pytest.approx((40.38, 59.62), abs=0.01)
    counted, interval = describe_unit(scores(np.arange(100) < 50, one=50))
    assert counted == {"of": 50}
    assert interval(50) == pytest.approx((46.43, 50), abs=0.01), "of the 50 people who have a weight"
    for other in (scores([2] * 100, one=50), scores(one=50)._replace(baseline=np.full(100, 0.5))):
        counted, interval = describe_unit(other)
        assert counted == {"variant": "weighted", "of": other.weights.sum()}
        assert np.isnan(interval(50)).all()


# Who guesses


def test_guesses_that_are_there_are_scored_for_miners_that_have_all_targets():
    release = Suppress().sanitize(PEOPLE, rng=0)
    exact = Predictions({"one": np.full(100, "0-9", object), "other": np.full(100, "*", object)}, np.full(100, "*"), {})
    idea = AntiUtility("age")
    assert idea.score({"age": exact}, PEOPLE, release).utilities == {"one": 10, "other": 0}
    assert AntiUtility("age", miners="Weka trees.J48").score({"age": exact}, PEOPLE, release).by_miner.keys() == {
        "one", "other",
    }  # fmt: skip
    nothing = exact._replace(guesses={}, failed={"one": "unfinished"})
    with pytest.raises(ValueError, match="no miner of 'standard' can guess all of age"):
        idea.score({"age": nothing}, PEOPLE, release)


def test_the_best_single_answer_is_weighed():
    idea = GoodUtility({"age": mining.within(5)}, weights=np.arange(100) >= 90, miners="majority", folds=None)
    weights = (np.arange(100) >= 90).astype(float)
    answer = idea._single_answer("age", PEOPLE, weights)
    assert mining.sum_weighted(mining.within(5)(answer, PEOPLE.table.age), weights) == 10
