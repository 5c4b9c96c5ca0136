"""Points and dominance on results made by hand: exact and random losses, ties, missing and withheld numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from support.results_frame import made

from privnb import decision
from privnb.decision import Loss
from privnb.decision.reasons import LossComparison
from privnb.evaluation.results import tidy

MISSING = float("nan")


def row(
    setting, measure, value, seed=1, *, miner="", target="", better="lower", low=MISSING, high=MISSING, base=MISSING
):
    return made("town", *setting, seed, measure, miner, target, value, low, high, base, better)


def results(losses, **options):
    """`{"KMember k=2": (privacy, utility)}`, each a number or one a seed."""
    rows = []
    for name, pair in losses.items():
        setting = (*name.split(" ", 1), "")[:2]
        for measure, values in zip(("risk", "cost"), pair, strict=True):
            rows += [
                row(setting, measure, value, seed, **options) for seed, value in enumerate(np.atleast_1d(values), 1)
            ]
    return tidy(rows)


def named(losses):
    """Each release by the text that the test names it by."""
    return {(*name.split(" ", 1), "")[:2]: name for name in losses}


def judged(losses):
    table = decision.compute_points(results(losses), privacy="risk", utility="cost", names=named(losses))
    why = {setting: reason.data for setting, reason in zip(table.setting, table.why, strict=True)}
    return dict(zip(table.setting, table.status, strict=True)), why


def around(mean, spread=0.01, seeds=10):
    """Values of that mean, so many seeds, on both sides of it."""
    return mean + spread * np.linspace(-1, 1, seeds)


# Ten losses, all but one small; half of their 95 % interval is 2.2621572 standard errors.
SKEWED = [step / 1000 for step in range(9)] + [0.109]
SKEWED_HALF = 2.2621572 * np.std(SKEWED, ddof=1) / np.sqrt(10)

# Exact numbers


def test_deterministic_releases_are_compared_exactly():
    status, why = judged(
        {
            "KMember k=2": (0.5, 0.1),
            "KMember k=5": (0.3, 0.2),
            "KMember k=9": (0.3000001, 0.2),
            "Mondrian k=5": (0.4, 0.3),
            "Suppress": (0.0, 1.0),
        }
    )
    assert status == {
        "KMember k=2": "efficient", "KMember k=5": "efficient", "KMember k=9": "dominated",
        "Mondrian k=5": "dominated", "Suppress": "efficient",
    }  # fmt: skip
    assert why["KMember k=9"] == {"kind": "dominated", "by": "KMember k=5", "less": ("privacy",), "others": 0}
    both = {"kind": "dominated", "by": "KMember k=5", "less": ("privacy", "utility"), "others": 1}
    assert why["Mondrian k=5"] == both


def test_equal_releases_do_not_dominate_each_other_but_what_both_do():
    """0.1 + 0.2 and 0.3 are equal: sums in another order."""
    status, why = judged({"KMember k=2": (0.1 + 0.2, 0.5), "KMember k=3": (0.3, 0.5), "KMember k=4": (0.3, 0.6)})
    assert list(status.values()) == ["efficient", "efficient", "dominated"]
    assert why["KMember k=2"] == {"kind": "efficient", "equal": ("KMember k=3",)}


def test_a_release_is_named_by_one_that_may_be_published_instead():
    _, why = judged({"KMember k=4": (0.6, 0.6), "KMember k=3": (0.5, 0.5), "KMember k=2": (0.4, 0.4)})
    assert (why["KMember k=4"]["by"], why["KMember k=4"]["others"]) == ("KMember k=2", 1)


def test_infinite_losses_are_compared():
    status, _ = judged({"Identity": (np.inf, 0.0), "KMember k=2": (0.5, 0.1), "KMember k=3": (np.inf, 0.1)})
    assert list(status.values()) == ["efficient", "efficient", "dominated"]


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_against_the_definition(pairs):
    status, _ = judged({f"KMember k={i}": (p / 10, u / 10) for i, (p, u) in enumerate(pairs)})
    for i, (p, u) in enumerate(pairs):
        dominated = any(q <= p and v <= u and (q, v) != (p, u) for q, v in pairs)
        assert status[f"KMember k={i}"] == ("dominated" if dominated else "efficient")


# Random numbers


def test_random_releases_are_compared_by_their_intervals():
    status, _ = judged(
        {
            "LaplaceNoise epsilon=1": (around(0.30), around(0.30)),
            "LaplaceNoise epsilon=2": (around(0.50), around(0.50)),  # clearly worse
            "LaplaceNoise epsilon=3": (around(0.301), around(0.50)),  # utility is, privacy cannot be told
            "KMember k=2": (0.29, 0.29),
        }
    )
    assert status == {
        "LaplaceNoise epsilon=1": "dominated", "LaplaceNoise epsilon=2": "dominated",
        "LaplaceNoise epsilon=3": "dominated", "KMember k=2": "efficient",
    }  # fmt: skip


def test_overlapping_intervals_decide_nothing():
    status, why = judged(
        {
            "LaplaceNoise epsilon=1": (around(0.30), around(0.30)),
            "LaplaceNoise epsilon=3": (around(0.301), around(0.50)),
        }
    )
    assert list(status.values()) == ["efficient", "undecided"]
    assert why["LaplaceNoise epsilon=3"] == {"kind": "overlapping", "by": "LaplaceNoise epsilon=1"}


@pytest.mark.parametrize(("seeds", "status"), [(9, "undecided"), (10, "dominated")])
def test_a_random_release_needs_ten_seeds(seeds, status):
    noisy, other = "LaplaceNoise epsilon=1", "KMember k=2"
    worse = {noisy: (around(0.5, seeds=seeds), around(0.5, seeds=seeds)), other: (0.1, 0.1)}
    found, why = judged(worse)
    assert found == {noisy: status, other: "efficient"}
    if seeds == 9:
        assert why[noisy] == {"kind": "few_seeds", "loss": "risk", "seeds": 9, "needed": 10}
    # As little can it dominate.
    found, _ = judged({noisy: (around(0.5, seeds=seeds), around(0.5, seeds=seeds)), other: (0.9, 0.9)})
    assert found[other] == ("efficient" if seeds == 9 else "dominated")


def test_one_seed_of_noise_is_never_exact():
    status, why = judged({"LaplaceNoise epsilon=1": (0.1, 0.1), "KMember k=2": (0.5, 0.5)})
    assert list(status.values()) == ["undecided", "efficient"]
    assert why["LaplaceNoise epsilon=1"]["seeds"] == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("KMember k=2", "deterministic"),
        ("KMember k=2, start=None", "randomised"),
        ("Bucketize partition=KMember k=2, start=None", "randomised"),
        ("Bucketize partition=Mondrian k=2", "deterministic"),
        ("Anatomy l=2, sensitive=disease", "randomised"),
        ("OwnSanitizer k=2", "randomised"),
    ],
)
def test_which_sanitizers_draw_lots(name, kind):
    table = decision.compute_points(results({name: (0.1, 0.1)}), privacy="risk", utility="cost")
    assert table.kind.tolist() == [kind]


def test_a_deterministic_release_of_random_measures_is_random():
    """Mined with other folds: the same release, other numbers."""
    table = decision.compute_points(
        results({"KMember k=2": (around(0.3), [0.1] * 10), "KMember k=5": ([0.2] * 3, 0.1)}),
        privacy="risk",
        utility="cost",
    )
    assert table.kind.tolist() == ["randomised", "deterministic"]
    assert table.privacy_low[0] < 0.3 < table.privacy_high[0]
    assert table.status.tolist() == ["dominated", "efficient"]  # by privacy, with equal utility


def test_the_interval_is_of_the_mean():
    """By hand: 9, 10, 11 have a standard deviation of 1; t of 2 degrees is 4.303."""
    table = decision.compute_points(results({"KMember k=2": ([9.0, 10.0, 11.0], 1)}), privacy="risk", utility="cost")
    half = 4.3026527 / np.sqrt(3)
    assert table.privacy[0] == 10
    assert [table.privacy_low[0], table.privacy_high[0]] == pytest.approx([10 - half, 10 + half])
    assert table.privacy_seeds[0] == 3


@pytest.mark.slow
def test_two_alike_releases_are_seldom_distinguished():
    """What the docstring says: about one pair in a hundred."""
    random, pairs, wrong = np.random.default_rng(1), 0, 0
    for _ in range(25):
        losses = {f"LaplaceNoise epsilon={e}": (random.normal(1, 0.1, 10), [0.1] * 10) for e in range(12)}
        table = decision.compute_points(results(losses), privacy="risk", utility="cost")
        wrong += (table.privacy_high.to_numpy()[:, None] < table.privacy_low.to_numpy()).sum()
        pairs += 12 * 11 // 2
    assert 0 < wrong / pairs < 0.02


@pytest.mark.parametrize("measure", ["workload_utility", "average_relative_error", "median_relative_error"])
def test_measures_that_draw_folds_or_queries_are_never_exact_of_one_seed(measure):
    def found(seeds):
        losses = {"KMember k=2": (0.1, around(0.300, seeds=seeds)), "KMember k=3": (0.1, around(0.301, seeds=seeds))}
        return decision.compute_points(results(losses).replace("cost", measure), privacy="risk", utility=measure)

    assert found(10).kind.tolist() == ["randomised", "randomised"]
    assert found(10).status.tolist() == ["efficient", "undecided"]
    assert found(1).status.tolist() == ["undecided", "undecided"]
    assert found(1).why[0].data["seeds"] == 1
    assert found(10).utility_low[0] < 0.3 < found(10).utility_high[0]


def test_the_same_number_of_ten_seeds_is_exact_of_a_random_measure():
    losses = {"Suppress": (0.0, [0.2] * 10), "KMember k=2": (0.1, [0.2] * 10)}
    found = decision.compute_points(
        results(losses).replace("cost", "workload_utility"), privacy="risk", utility="workload_utility"
    )
    assert found.kind.tolist() == ["deterministic", "deterministic"]
    assert found.status.tolist() == ["efficient", "dominated"]


@pytest.mark.parametrize(
    ("measure", "clipped"),
    [("certain_disclosure_share", True), ("knowledge_gain", True), ("accuracy_gain", False), ("never_stated", False)],
)
def test_only_what_cannot_be_negative_by_its_facts_is_bounded_by_zero(measure, clipped):
    """Ten values from 0 to .109, nine of them below .01: the mean is .0145, and t reaches .0091 below 0."""
    losses = {"LaplaceNoise epsilon=1": (SKEWED, 0.2)}
    found = decision.compute_points(results(losses).replace("risk", measure), privacy=measure, utility="cost")
    assert found.privacy_low[0] == (0 if clipped else pytest.approx(np.mean(SKEWED) - SKEWED_HALF, abs=1e-6))


def test_what_counts_down_from_a_best_may_be_negative():
    rows = results({"LaplaceNoise epsilon=1": (0.1, [0.9 - loss for loss in SKEWED])})
    rows.loc[rows.measure == "cost", "better"] = "higher"
    found = decision.compute_points(rows, privacy="risk", utility=Loss("cost", best=0.9))
    assert found.utility_low[0] == pytest.approx(np.mean(SKEWED) - SKEWED_HALF, abs=1e-6)


# Known from below only


def with_bounds(losses, below="LaplaceNoise"):
    """Points, of which the risk of one sanitizer is a lower bound."""
    rows = results(losses)
    rows.loc[(rows.sanitizer == below) & (rows.measure == "risk"), "high"] = np.inf
    return decision.compute_points(rows, privacy="risk", utility="cost")


def test_a_lower_bound_dominates_nothing():
    losses = {"LaplaceNoise epsilon=1": (around(0.1), around(0.1)), "KMember k=2": (0.5, 0.5)}
    found = with_bounds(losses)
    assert found.status.tolist() == ["undecided", "efficient"]
    assert found.why[0].data == {"kind": "lower_bound", "loss": "risk", "least": pytest.approx(0.1)}
    assert np.isposinf(found.privacy_high[0])
    assert found.privacy_low[0] == pytest.approx(0.1, abs=0.01)
    assert judged(losses)[0]["KMember k=2"] == "dominated", "else this checks nothing"


def test_a_lower_bound_can_be_dominated():
    found = with_bounds({"LaplaceNoise epsilon=1": (around(0.5), around(0.5)), "KMember k=2": (0.1, 0.1)})
    assert found.status.tolist() == ["dominated", "efficient"]


def test_a_lower_bound_of_one_seed_alone_makes_the_bound():
    rows = results({"LaplaceNoise epsilon=1": (around(0.1), around(0.1)), "KMember k=2": (0.5, 0.5)})
    rows.loc[0, "high"] = np.inf
    found = decision.compute_points(rows, privacy="risk", utility="cost")
    assert found.status.tolist() == ["undecided", "efficient"]


def test_an_exact_infinite_loss_is_no_lower_bound():
    found = with_bounds({"Identity": (np.inf, 0.0), "KMember k=2": (0.5, 0.1)}, below="Identity")
    assert found.status.tolist() == ["efficient", "efficient"]


# Missing and withheld


def test_a_release_without_a_loss_is_undecided():
    table = pd.concat([results({"KMember k=2": (0.5, 0.5)}), tidy([row(("Identity", ""), "cost", 0.0)])])
    found = decision.compute_points(table, privacy="risk", utility="cost")
    assert dict(zip(found.setting, found.status, strict=True)) == {
        "k-member clustering, k = 2": "efficient",
        "the original": "undecided",
    }
    assert found.why[1].data == {"kind": "missing", "loss": "risk"}
    assert np.isnan(found.privacy[1])


def test_a_withheld_number_is_compared_by_its_bounds():
    """Fewer than 10 people: 1 to 9."""
    rows = [row(("KMember", f"k={k}"), "cost", 0.5) for k in (2, 3, 4)]
    rows += [
        row(("KMember", "k=2"), "risk", MISSING, low=1, high=9),
        row(("KMember", "k=3"), "risk", 20),
        row(("KMember", "k=4"), "risk", 5),
    ]
    found = decision.compute_points(tidy(rows), privacy="risk", utility="cost")
    assert found.status.tolist() == ["undecided", "dominated", "efficient"]
    assert found.why[0].data == {"kind": "withheld", "loss": "risk"}
    assert found.why[1].data["less"] == ("privacy",)


WORDED = {
    "its risk is withheld": LossComparison.of("withheld", loss="risk"),
    "B loses as much utility and less privacy": LossComparison.of("dominated", by="B", less=("privacy",), others=0),
    "B loses less of both, and 1 other release dominates it, too": LossComparison.of(
        "dominated", by="B", less=("privacy", "utility"), others=1
    ),
    "only a lower bound of its loss is known: its risk is at least 0.1": LossComparison.of(
        "lower_bound", loss="risk", least=0.1
    ),
    "its privacy loss exceeds the cap of 0.0015": LossComparison.of("above_cap", axis="privacy", cap=0.0015),
}


@pytest.mark.parametrize("text", WORDED)
def test_a_comparison_is_worded_as_a_clause(text):
    assert str(WORDED[text]) == text


def test_a_number_withheld_without_bounds_compares_with_none():
    rows = [row(("KMember", "k=2"), measure, MISSING) for measure in ("risk", "cost")]
    found = decision.compute_points(
        pd.concat([tidy(rows), results({"KMember k=3": (9.0, 9.0)})]), privacy="risk", utility="cost"
    )
    assert found.status.tolist() == ["undecided", "efficient"]


def test_the_bounds_of_a_withheld_number_say_nothing_of_other_noise():
    rows = [row(("LaplaceNoise", "epsilon=1.0"), "risk", MISSING, seed, low=1, high=9) for seed in range(10)]
    rows += [row(("LaplaceNoise", "epsilon=1.0"), "cost", 0.5, seed) for seed in range(10)]
    found = decision.compute_points(
        pd.concat([tidy(rows), results({"KMember k=3": (20.0, 0.9)})]), privacy="risk", utility="cost"
    )
    assert found.status.tolist() == ["undecided", "efficient"]


# Which rows are meant


def test_higher_is_better_counts_down_from_the_best():
    rows = results({"KMember k=2": (0.5, 0.9), "KMember k=3": (0.4, 0.7)}).assign(better="lower")
    rows.loc[rows.measure == "cost", ["better", "baseline"]] = ["higher", 0.2]
    found = decision.compute_points(rows, privacy="risk", utility="cost")
    assert found.utility.tolist() == pytest.approx([0.0, 0.2])
    assert found.utility_baseline.tolist() == pytest.approx([0.7, 0.7])
    assert found.status.tolist() == ["efficient", "efficient"]
    assert found.utility_of[0] == "cost, below the best"
    found = decision.compute_points(rows, privacy="risk", utility=Loss("cost", best=1))
    assert found.utility.tolist() == pytest.approx([0.1, 0.3])


def test_the_worst_miner_unless_another_is_named():
    rows = pd.concat(
        [
            results({"KMember k=2": (value, value)}, miner=miner)
            for miner, value in (("tree", 1), ("worst", 2), ("forest", 3))
        ]
    )
    assert decision.compute_points(rows, privacy="risk", utility="cost").privacy.tolist() == [2]
    assert decision.compute_points(rows, privacy=Loss("risk", miner="tree"), utility="cost").privacy.tolist() == [1]
    with pytest.raises(ValueError, match=r"each miner of 'tree', 'forest'. Name one"):
        decision.compute_points(rows[rows.miner != "worst"], privacy="risk", utility="cost")


def test_what_is_not_there_is_named():
    rows = results({"KMember k=2": (1, 1)}, target="age")
    with pytest.raises(ValueError, match="no measure 'loss' in these results, which have cost, risk"):
        decision.compute_points(rows, privacy="loss", utility="cost")
    with pytest.raises(ValueError, match="each target of 'age'"):
        decision.compute_points(rows, privacy=Loss("risk", target="sex"), utility="cost")
    with pytest.raises(ValueError, match="has no better direction"):
        decision.compute_points(rows.assign(better=""), privacy="risk", utility="cost")
    with pytest.raises(ValueError, match="from one dataset"):
        decision.compute_points(pd.concat([rows, rows.assign(dataset="city")]), privacy="risk", utility="cost")


def test_a_run_joined_twice_counts_once_and_two_numbers_not_at_all():
    rows = results({"KMember k=2": (1, 1)})
    assert len(decision.compute_points(pd.concat([rows, rows]), privacy="risk", utility="cost")) == 1
    with pytest.raises(ValueError, match="two numbers for KMember k=2, seed 1"):
        decision.compute_points(pd.concat([rows, rows.assign(value=2)]), privacy="risk", utility="cost")


def test_names_say_as_much_as_is_needed():
    names = (
        "KMember k=2, models=x",
        "Mondrian k=5, split_point=left",
        "Mondrian k=5, split_point=best",
        "Suppress attributes=age, sex",
    )
    table = decision.compute_points(results({name: (1, 1) for name in names}), privacy="risk", utility="cost")
    assert table.setting.tolist() == [
        "k-member clustering, k = 2",
        "Mondrian, k = 5, split_point = left",
        "Mondrian, k = 5, split_point = best",
        "Suppression, attributes = age, sex",
    ]
