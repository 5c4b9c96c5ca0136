"""The owner's choice from results made by hand: criteria, ties, thresholds, seeds, and what is withheld."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import made, short

from privnb.decision import owner_choice
from privnb.decision.owner_choice import choose_by_criteria
from privnb.evaluation.disclosure import nearer_predictions
from privnb.evaluation.results import COLUMNS, KEY_COLUMNS, tidy
from privnb.sanitizers import KMember, LaplaceNoise

A, B, C = ("KMember", "k=2"), ("KMember", "k=50"), ("LaplaceNoise", "epsilon=0.5")
MISSING = float("nan")


def row(setting, measure, miner, value, seed=1, *, baseline=0.0, low=MISSING, high=MISSING):
    return made("town", *setting, seed, measure, miner, "age", value, low, high, baseline, "lower")


def kept(declines, seed=1):
    """What honest users lose: a decline for each setting, or one a seed."""
    rows = [
        row(setting, "utility_decline", miner, each, number)
        for setting, values in declines.items()
        for number, each in enumerate(np.atleast_1d(values), seed)
        for miner in ("naive Bayes", "worst")
    ]
    return tidy(rows)


def attacked(counts, scenario="A", measure="anti_utility", **options):
    """`{miner: {setting: number or one a seed}}` as results; None is a withheld count."""
    rows = []
    for miner, by_setting in counts.items():
        for setting, values in by_setting.items():
            for seed, value in enumerate(values if isinstance(values, list) else [values], 1):
                few = {"low": 1, "high": 9} if value is None else {}
                told = MISSING if value is None else value
                rows.append(row(setting, f"{measure}_{scenario}", miner, told, seed, **few, **options))
    return tidy(rows)


def same(worst, **others):
    """A worst miner, and beside it nothing dealt by chance."""
    nobody = {setting: [0] * np.size(values) for setting, values in worst.items()}
    return {"worst": worst, "control: permuted": nobody} | others


CHEAP = {A: 0.01, B: 0.02, C: 0.03}


def picks(results, measure="chosen_A"):
    """`{criterion: {setting: share}}`."""
    found = {}
    results = short(results)
    for each in results[results.measure == measure].itertuples():
        found.setdefault(each.miner, {})[each.sanitizer, each.parameters] = each.value
    return found


# The choice


def test_the_least_anti_utility_is_chosen_by_each_criterion():
    """By the worst miner the second, by the average the third, less the guess the first."""
    results = pd.concat(
        [
            attacked({"worst": {A: 300}, "control: permuted": {A: 250}}, baseline=290),
            attacked({"worst": {B: 100}, "control: permuted": {B: 90}}, baseline=40),
            attacked({"worst": {C: 120}, "control: permuted": {C: 120}}, baseline=20),
            attacked({"average": {A: 30, B: 20, C: 10}, "fusion: vote": {A: 1, B: 2, C: 3}}),
            attacked({"worst by person": {A: 400, B: 200, C: 100}, "modern worst": {A: 9, B: 8, C: 7}}),
            attacked({"naive Bayes": {A: 0, B: 1, C: 1}, "control: ZeroR": {A: 0, B: 1, C: 1}}),
            attacked({"control: held-out": {A: 0, B: 1, C: 1}, "modern control: permuted": {A: 0, B: 1, C: 1}}),
        ]
    )
    found = choose_by_criteria(kept(CHEAP), results, scenarios="A")
    assert picks(found) == {
        "worst": {B: 1}, "average": {C: 1}, "fusion: vote": {A: 1}, "worst by person": {C: 1}, "modern worst": {C: 1},
        "worst less guess": {A: 1}, "worst less permuted": {C: 1},
    }  # fmt: skip
    assert list(found) == COLUMNS
    assert not found.duplicated(KEY_COLUMNS).any()
    assert set(found.better) == {"lower"}
    assert set(found.dataset) == {"town"}


def test_what_costs_users_too_much_is_not_chosen():
    counts = attacked(same({A: 300, B: 200, C: 100}))
    for least, expected in [(0.97, C), (0.9701, B), (0.98, B), (0.99, A)]:
        assert picks(choose_by_criteria(kept(CHEAP), counts, min_good=least, scenarios="A"))["worst"] == {expected: 1}
    none = choose_by_criteria(kept(CHEAP), counts, min_good=0.995, scenarios="A")
    assert none.empty
    assert list(none) == COLUMNS
    for wrong in (95, -0.1, MISSING):
        with pytest.raises(ValueError, match="MIN_GOOD must be the share of good utility to keep, from 0 to 1"):
            choose_by_criteria(kept(CHEAP), counts, min_good=wrong)


def test_enough_is_over_all_seeds():
    """0.04 and 0.06 are 0.05 on average, which a floating-point sum must not exceed."""
    counts = attacked(same({A: 1, B: 2}))
    assert picks(choose_by_criteria(kept({A: [0.04, 0.06], B: [0.0, 0.0]}), counts, scenarios="A"))["worst"] == {A: 1}
    assert picks(choose_by_criteria(kept({A: [0.04, 0.07], B: [0.0, 0.0]}), counts, scenarios="A"))["worst"] == {B: 1}
    assert picks(choose_by_criteria(kept({A: [0.1] * 3}), attacked(same({A: 1})), min_good=0.9, scenarios="A"))[
        "worst"
    ] == {A: 1}


def test_of_equals_the_one_that_costs_less():
    counts = attacked(same({A: 100, B: 100, C: 100}))
    for declines, expected in [({A: 0.02, B: 0.01, C: 0.03}, B), ({A: 0.03, B: 0.02, C: 0.01}, C)]:
        found = picks(choose_by_criteria(kept(declines), counts, scenarios="A"))
        assert found == {name: {expected: 1} for name in ("worst", "worst less guess", "worst less permuted")}


def test_the_original_and_what_was_not_attacked_are_no_choice():
    users = kept({("Identity", ""): 0.0, **CHEAP, ("Suppress", "attributes=age"): 0.0})
    assert picks(choose_by_criteria(users, attacked(same({B: 5, C: 6})), scenarios="A"))["worst"] == {B: 1}


# Scenarios


def test_each_scenario_that_is_asked_for_once():
    counts = pd.concat([attacked(same({A: 1, B: 2}), scenario) for scenario in ("A", "B", "C", "A_distinct")])
    assert set(short(choose_by_criteria(kept(CHEAP), counts)).measure) == {
        f"{measure}_{scenario}" for measure in ("chosen", "excess_over_choice") for scenario in "ABC"
    }
    twice = choose_by_criteria(kept(CHEAP), counts, scenarios="A_distinct, A_distinct")
    assert set(short(twice).measure) == {"chosen_A_distinct", "excess_over_choice_A_distinct"}
    assert not twice.duplicated(KEY_COLUMNS).any()
    for wrong in ("D", "", " , "):
        with pytest.raises(ValueError, match="SCENARIO must name one or more of A, A_distinct, B, C; got"):
            choose_by_criteria(kept(CHEAP), counts, scenarios=wrong)


def test_a_weighted_scenario():
    counts = attacked(same({A: 70.5, B: 60.5}), "W_weighted")
    assert picks(choose_by_criteria(kept(CHEAP), counts, scenarios="W"), "chosen_W")["worst"] == {B: 1}


# Seeds


def test_shares_are_of_the_seeds_and_differences_paired():
    """By hand: the second is the least in three of four seeds; the first has 10, 20, 30 and -20 more."""
    counts = attacked(same({A: [110, 220, 330, 80], B: [100, 200, 300, 100]}))
    found = choose_by_criteria(kept(CHEAP), counts, scenarios="A")
    assert picks(found)["worst"] == {B: 0.75, A: 0.25}
    more = found[found.measure == "excess_over_choice"]
    assert len(more) == 1
    assert more[["sanitizer", "parameters", "miner", "value"]].to_numpy().tolist() == [[*A, "worst", 10]]
    differences = np.array([10, 20, 30, -20])
    half = 3.182446 * differences.std(ddof=1) / 2  # Student's t with 3 degrees of freedom
    assert more[["low", "high"]].to_numpy() == pytest.approx(np.array([[10 - half, 10 + half]]))


def test_a_set_of_one_seed_beside_several():
    counts = pd.concat([attacked(same({A: [10, 30], B: [20, 20]})), attacked({"modern worst": {A: 50, B: 40}})])
    found = choose_by_criteria(kept(CHEAP), counts, scenarios="A")
    assert picks(found)["worst"] == {A: 0.5, B: 0.5}
    assert picks(found)["modern worst"] == {B: 1}
    single = choose_by_criteria(kept(CHEAP), attacked(same({A: 10, B: 20})), scenarios="A")
    more = single[single.measure == "excess_over_choice"]
    assert more.value.tolist() == [10]
    assert more[["low", "high"]].isna().all(axis=None), "one seed says nothing of others"


def test_a_seed_that_a_control_lacks_is_not_compared_with_it():
    counts = pd.concat([attacked({"worst": {A: [30, 10], B: [20, 20]}}), attacked({"control: permuted": {A: 0, B: 0}})])
    assert picks(choose_by_criteria(kept(CHEAP), counts, scenarios="A")) == {
        "worst": {A: 0.5, B: 0.5}, "worst less guess": {A: 0.5, B: 0.5}, "worst less permuted": {B: 1},
    }  # fmt: skip


def test_a_setting_alone_has_nobody_to_be_compared_with():
    found = choose_by_criteria(kept(CHEAP), attacked(same({A: [10, 20]})), scenarios="A")
    assert set(short(found).measure) == {"chosen_A"}
    assert set(found.value) == {1}


# What is withheld, or not there


def test_a_withheld_count_stands_at_its_upper_bound():
    found = choose_by_criteria(kept(CHEAP), attacked(same({A: 30, B: None})), scenarios="A")
    assert picks(found)["worst"] == {B: 1}
    assert found[found.measure == "excess_over_choice"].value.isna().all(), "a bound is no margin"
    both = picks(choose_by_criteria(kept(CHEAP), attacked(same({A: None, B: None})), scenarios="A"))
    assert both["worst"] == {A: 1}, "nobody can tell them apart"
    assert picks(choose_by_criteria(kept(CHEAP), attacked(same({A: 0, B: None})), scenarios="A"))["worst"] == {A: 1}


def test_a_decline_that_is_withheld_in_one_seed_is_not_known_to_be_enough():
    users = kept({A: [0.01, 0.01], B: [0.01, MISSING]})
    found = choose_by_criteria(users, attacked(same({A: [30, 30], B: [20, 20]})), scenarios="A")
    assert picks(found)["worst"] == {A: 1}
    assert choose_by_criteria(kept({B: MISSING}), attacked(same({B: 20})), min_good=0, scenarios="A").empty


def test_no_choice_where_a_number_has_no_bound():
    """Scenario W by weights, or by a condition: what is withheld may be anything."""
    for scenario in ("W", "W_weighted"):
        counts = attacked(same({A: 30, B: None}), scenario=scenario)
        told = attacked({"average": {A: 30, B: 20}}, scenario=scenario)
        found = choose_by_criteria(kept(CHEAP), pd.concat([counts, told]), scenarios="W")
        assert picks(found, "chosen_W") == {"average": {B: 1}}
        assert not (found.measure == "excess_over_choice").any()


def test_less_than_the_guess_is_nothing_gained():
    counts = pd.concat([attacked(same({A: 10}), baseline=90), attacked(same({B: 10}), baseline=20)])
    assert picks(choose_by_criteria(kept(CHEAP), counts, scenarios="A"))["worst less guess"] == {A: 1}, (
        "the cheaper of two 0"
    )


def test_an_average_of_withheld_counts_is_no_reason_to_be_passed_over():
    """The safest sanitizer is the one whose counts are few: its average has bounds alone."""
    worst, few = attacked(same({A: 300, B: 12})), attacked({"average": {A: 200}})
    few.loc[1] = tidy([row(B, "anti_utility_A", "average", MISSING, low=4, high=10)]).loc[0]
    assert picks(choose_by_criteria(kept(CHEAP), pd.concat([worst, few]), scenarios="A"))["average"] == {B: 1}


def test_a_withheld_guess_is_none():
    counts = attacked(same({A: 30, B: 31}), baseline=MISSING)
    assert picks(choose_by_criteria(kept(CHEAP), counts, scenarios="A"))["worst less guess"] == {A: 1}


def test_a_single_miner_has_no_controls():
    found = picks(
        choose_by_criteria(kept(CHEAP), attacked({"worst": {A: 30, B: 20}, "average": {A: 30, B: 20}}), scenarios="A")
    )
    assert found == {"worst": {B: 1}, "average": {B: 1}, "worst less guess": {B: 1}}


def test_settings_are_named_as_results_name_them():
    """The keys above are what sanitizers say of themselves."""
    assert [(type(s).__name__, s.changed_params()) for s in (KMember(2), KMember(50), LaplaceNoise(0.5))] == [A, B, C]


def test_what_is_asked_is_checked_before_anything_is_mined():
    assert owner_choice.check_scenarios("B, A, B", 1.0) == ["B", "A"]
    assert owner_choice.check_scenarios("W", 0, weights="age >= 60: 10") == ["W"]
    for scenarios, min_good in (("W", 0.95), ("", 0.95), ("A", 95), ("A", -0.1)):
        with pytest.raises(ValueError, match=r"SCENARIO must name one or more of|MIN_GOOD must be the share"):
            owner_choice.check_scenarios(scenarios, min_good)


def test_the_scenarios_to_choose_from_are_the_adversarys():
    def names(**options):
        return {"_".join(filter(None, each)) for each in nearer_predictions.build_scenarios("age", 100, **options)}

    assert names() == owner_choice.SCENARIOS
    assert names(weights="age >= 60: 10") == {*owner_choice.SCENARIOS, "W"}


def test_attacks_without_a_worst_miner_are_refused():
    """Rather than a traceback, or a choice among nothing."""
    for attacked in (tidy([]), tidy([row(A, "anti_utility_A", "it", 3)])):
        with pytest.raises(
            ValueError, match="`attacked` must have the anti-utility of a worst miner; got results without"
        ):
            owner_choice.choose_by_criteria(tidy([]), attacked)
