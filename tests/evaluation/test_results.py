"""What is said of several miners and of several seeds, and that neither tells what was withheld."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from support.results_frame import made, short

from privnb.evaluation.results import (
    COLUMNS,
    KEY_COLUMNS,
    average_seeds,
    join_results,
    summarize_miners,
    tidy,
    withhold_counts,
)
from privnb.measures.intervals import t_interval

NONE = np.nan


def row(miner, value, low=NONE, high=NONE, *, seed=1, measure="anti_utility_A", baseline=0.0, parameters="k=2"):
    return made("town", "KMember", parameters, seed, measure, miner, "age", value, low, high, baseline, "lower")


def few(miner, **options):
    return row(miner, NONE, 1, 9, **options)


def told(results, column="miner"):
    return short(results).set_index(column)[["value", "low", "high"]].apply(tuple, axis=1).to_dict()


def same(found, expected):
    return {name: pytest.approx(values, nan_ok=True) for name, values in expected.items()} == found


# Several miners


def test_the_worst_and_the_average():
    found = summarize_miners(tidy([row("one", 30, 20, 40), row("two", 50, 40, 60), row("three", 10, 5, 20)]), "modern")
    assert same(told(found), {"modern worst": (50, 40, 60), "modern average": (30, NONE, NONE)})
    assert list(found) == COLUMNS
    assert told(summarize_miners(tidy([row("one", 0.0), row("two", 0.0)]), averages=False)).keys() == {"worst"}


def test_each_sanitizer_seed_measure_and_target_has_its_own():
    apart = [{"seed": 2}, {"measure": "anti_utility_B"}, {"parameters": "k=3"}, {}]
    found = summarize_miners(tidy([row(miner, 10, **options) for miner in ("one", "two") for options in apart]))
    assert len(found) == 8
    assert not found.duplicated(KEY_COLUMNS).any()


@given(st.lists(st.sampled_from([0, 3, 7, 9, 10, 14, 200]), min_size=1, max_size=5))
def test_neither_tells_what_was_withheld(counts):
    """Whatever the withheld counts are, the summary is the same, and both of its bounds hold."""
    exact = tidy([row(str(place), count) for place, count in enumerate(counts)])
    shown = withhold_counts(exact, 10)
    summed = summarize_miners(shown)
    found = told(summed)
    others = exact.assign(value=exact.value.where(shown.value.notna(), 5))
    pd.testing.assert_frame_equal(summarize_miners(withhold_counts(others, 10)), summed)
    for name, number in {"worst": max(counts), "average": np.mean(counts)}.items():
        value, low, high = found[name]
        hidden = number in range(1, 10) if name == "worst" else any(0 < count < 10 for count in counts)
        assert np.isnan(value) == hidden
        assert low <= number <= high if hidden else value == pytest.approx(number)


def test_the_bounds_of_an_average_follow_from_those_told():
    found = summarize_miners(tidy([row("one", 100, 80, 120), few("two"), row("three", 0, 0, 1)]))
    assert same(told(found), {"worst": (100, 80, 120), "average": (NONE, 101 / 3, 109 / 3)})


def test_what_is_withheld_without_bounds_may_be_the_worst():
    weighted = {"measure": "anti_utility_W_weighted"}
    found = summarize_miners(
        tidy([row("one", 15, **weighted), row("two", NONE, **weighted), row("three", 0, **weighted)])
    )
    assert same(told(found), {"worst": (NONE,) * 3, "average": (NONE,) * 3})


def test_nothing_to_sum_up():
    assert list(summarize_miners(tidy([]))) == COLUMNS
    assert len(join_results(tidy([row("one", 1)]), summarize_miners(tidy([])))) == 1


# Several seeds


def test_repeats_become_their_mean_with_the_interval_of_it():
    found = average_seeds(tidy([row("one", value, 1, 99, seed=seed) for seed, value in enumerate([90, 100, 110], 1)]))
    low, high = stats.t.interval(0.95, 2, 100, stats.sem([90, 100, 110]))
    assert same(told(found), {"one": (100, low, high)})
    assert found.seed.isna().all()
    assert list(found) == COLUMNS


def test_a_single_seed_keeps_its_interval_and_rows_their_order():
    rows = [row("b", 50, 40, 60), row("a", 20, 10, 30), row("b", 70, 60, 80, seed=2), row("c", 5, 1, 9)]
    found = average_seeds(tidy(rows))
    assert found.miner.tolist() == ["b", "a", "c"]
    assert told(found)["a"] == (20, 10, 30)
    assert told(found)["b"][0] == 60
    once = tidy(rows[1:])
    pd.testing.assert_frame_equal(average_seeds(once), once, check_dtype=False)


def test_one_withheld_seed_withholds_the_mean():
    found = average_seeds(tidy([row("one", 12, 8, 17), few("one", seed=2), row("one", 14, 9, 20, seed=3)]))
    assert same(told(found), {"one": (NONE, 1, 20)})
    guessed = [row("one", 50, baseline=baseline, seed=seed) for seed, baseline in enumerate([40, NONE], 1)]
    assert average_seeds(tidy(guessed)).baseline.isna().all()


@pytest.mark.parametrize(
    ("counts", "of", "mean"),
    [
        ([21, 0, 0], NONE, (NONE, 1, 9)),
        ([60, 60, 39], 60, (NONE, 51, 59)),
        ([0, 0, 0], NONE, None),
        ([30, 0, 0], NONE, None),
        ([5, 6, 7], NONE, None),  # shown one by one, so that the reader's limit is lower
        ([3, 0, 0], NONE, (NONE, 1, 9)),
    ],
)
def test_a_mean_of_few_people_is_withheld_as_a_count_is(counts, of, mean):
    rows = tidy([row("one", count, seed=seed) for seed, count in enumerate(counts, 1)]).assign(of=of)
    found = told(average_seeds(rows))["one"]
    assert same({"one": found}, {"one": mean}) if mean else found[0] == np.mean(counts)
    weighted = average_seeds(rows.assign(variant="weighted"))
    assert weighted.value.item() == np.mean(counts)
    guessed = tidy([row("one", 50, baseline=count, seed=seed) for seed, count in enumerate(counts, 1)]).assign(of=of)
    assert average_seeds(guessed).baseline.isna().item() == bool(mean and np.isnan(mean[0]))


def test_an_interval_stays_where_numbers_can_be():
    counts = average_seeds(tidy([row("one", value, seed=seed) for seed, value in enumerate([10, 60], 1)]))
    assert counts.low.item() == 0
    again = tidy([row("one", value, seed=value) for value in (10, 60)])
    assert average_seeds(again.assign(of=70)).high.item() == 70, "of 70 people"
    assert average_seeds(again.assign(of=600)).high.item() > 300
    gains = [row("one", each, seed=seed, measure="accuracy_gain") for seed, each in enumerate([10, 60], 1)]
    assert average_seeds(tidy(gains)).low.item() < 0
    differences = average_seeds(tidy([row("one", value, seed=seed) for seed, value in enumerate([-10, 60], 1)]))
    assert differences.low.item() < -10


@pytest.mark.parametrize("values", [[3.0], []])
def test_one_repeat_says_nothing_of_others(values):
    assert np.isnan(t_interval(values)).all()


@pytest.mark.parametrize("values", [[4, 4], [9, 9, 9], [9, 9, 10], [0.1 + 0.2, 0.3, 1.0], [0, 0, 0, 0, 0, 1, 2]])
def test_repeats_that_give_one_of_few_values_have_no_interval(values):
    """With one of few values a seed, three alike would have an interval of width 0."""
    assert np.isnan(t_interval(values)).all()


def test_the_intervals_over_seeds_that_are_given_cover_where_a_seed_gives_one_of_few_values():
    """A count that follows from a rounded mean of noise, as in scenario B of the majority miner."""
    drawn = np.random.default_rng(1).normal(0, 1.1, (2000, 3)).round()
    triples = 900 - 150 * abs(drawn)
    given = np.array([np.isfinite(t_interval(triple)[0]) for triple in triples.tolist()])
    half = stats.t.ppf(0.975, 2) * triples.std(axis=1, ddof=1) / np.sqrt(3)
    covers = abs(triples.mean(axis=1) - triples.mean()) <= half + 1e-9
    assert covers.mean() < 0.9  # of all triples Student's t covers too few
    assert covers[given].mean() > 0.95
    assert 0.1 < given.mean() < 0.9


@pytest.mark.parametrize(("draw", "low", "high"), [("exponential", 0.87, 0.91), ("lognormal", 0.81, 0.85)])
def test_of_skewed_numbers_students_interval_covers_as_often_as_it_says(draw, low, high):
    for repeats in (3, 10):
        drawn = getattr(np.random.default_rng(1), draw)(size=(3000, repeats))
        ends = np.array([t_interval(each) for each in drawn.tolist()])
        true = 1.0 if draw == "exponential" else np.exp(0.5)
        assert low < ((ends[:, 0] <= true) & (true <= ends[:, 1])).mean() < high


@given(st.lists(st.integers(-(10**6), 10**6).map(float), min_size=2, max_size=20, unique=True))
def test_students_interval(values):
    low, high = t_interval(values)
    error = stats.sem(values)
    half = stats.t.ppf(0.975, len(values) - 1) * error
    assert [low, high] == pytest.approx([np.mean(values) - half, np.mean(values) + half], abs=1e-6 * (1 + half))


# What is withheld


def test_counts_of_people_alone_are_withheld_and_the_given_results_stay():
    given = tidy([row("one", 9, 5, 15, baseline=9), row("two", 10, baseline=10), row("three", 0)])
    shown = withhold_counts(given, 10)
    assert same(told(shown), {"one": (NONE, 1, 9), "two": (10, NONE, NONE), "three": (0, NONE, NONE)})
    assert shown.baseline.fillna(-1).tolist() == [-1, 10, 0]
    assert given.value.tolist() == [9, 10, 0]
    gain = tidy([row("", 0.5, measure="accuracy_gain")])
    pd.testing.assert_frame_equal(withhold_counts(gain, 10), gain)
    with pytest.raises(ValueError, match="min_count must be a whole number of at least 2; got 1"):
        withhold_counts(gain, 1)
