"""What an adversary gains from one release: each scenario and control against plain counting, and what is withheld."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.results_frame import measured, short

from privnb import evaluation
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.disclosure import nearer_predictions, predicted_gains
from privnb.evaluation.predictions import Predictions, derive_seed, predict_cross_validated, predict_in_sample
from privnb.evaluation.results import KEY_COLUMNS, join_results, make_row_builder, tidy
from privnb.evaluation.utility.utilities import GuessValues
from privnb.measures.utility import mining
from privnb.microdata.hierarchy import Intervals, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.sanitizers import Bucketize, Identity, KMember, LaplaceNoise, Suppress

QUICK = "majority, decision stump, naive Bayes, linear regression"
SIX = ["one", "two", "three", "four", "five", "six"]
AGE = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99))
SEX = Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M")))
PAY = Attribute("pay", Role.SENSITIVE, Categories(("high", "low")))


def anti_utility(*given, **options):
    return short(questions.anti_utility(*given, **options))


def gains_with_predictions(*given, **options):
    return short(questions.gains_with_predictions(*given, **options))


def scenarios(*given, **options):
    found = nearer_predictions.build_scenarios(*given, **options)
    return {"_".join(filter(None, names)): feared for names, feared in found.items()}


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=800)


@pytest.fixture(scope="module")
def attacked(adult):
    return join_results(*(anti_utility(adult, s, miners=QUICK) for s in (KMember(2), KMember(50), LaplaceNoise(0.5))))


@pytest.fixture(scope="module")
def raw(adult):
    """Nothing but counts of one withheld."""
    return anti_utility(adult, KMember(10), miners=QUICK, min_count=2)


def town(ages, sexes, pays=None):
    """People as they are given: ages, a letter each for the sexes, and pay."""
    table = pd.DataFrame({"age": ages, "sex": list(sexes), "pay": pays or ["low"] * len(ages)})
    schema = Schema("town", (AGE, SEX, PAY))
    return Dataset("town", table, schema, {"age": Intervals(AGE.domain, (5, 10, 20, 50, 100)), "sex": flat(SEX)})


def one(results, **where):
    rows = results
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def values(results, measure):
    return results[results.measure == measure].set_index("miner").value


def hits(dataset, sanitizer, seed=1, miners=QUICK, target="age"):
    """The release, its miners' guesses, and whom each comes nearer, by calling what the module calls."""
    release = sanitizer.sanitize(dataset, rng=derive_seed(seed, sanitizer, "sanitize"))
    found = predict_in_sample(release, target, miners, rng=derive_seed(seed, sanitizer, "publish"))
    near = {name: nearer(guess, release, dataset) for name, guess in found.guesses.items()}
    return release, found, near


def nearer(guess, release, dataset, c=0, target="age"):
    hierarchy = release.hierarchies[target]
    return mining.nearer(guess, release.table[target].to_numpy(), dataset.table[target].to_numpy(), c, hierarchy)


# Scenarios


def test_scenarios_by_hand():
    """Six women released in two ways: 0-9 thrice, 0-49 thrice; guessed 0-4 for ages 3, 3, 3, 7, 30 and 30.

    A: the first three. Distinct: 3, 3, 3 are released alike, so one. W weighs those below 5 with 10: 30.
    """
    people = town([3, 3, 3, 7, 30, 31], "FFFFFF")
    release = Suppress("pay").sanitize(people, rng=0)
    release.table["age"] = ["0-9"] * 3 + ["0-49"] * 3
    guess = {"age": np.full(6, "0-4", dtype=object)}
    feared = scenarios("age", 6, share=0.5, weights="age < 5: 10, 1")
    assert list(feared) == ["A", "A_distinct", "B", "C", "C_distinct", "W"]
    worth = {name: idea.worth(guess, people, release) for name, idea in feared.items()}
    weights = {name: idea._interest(people, release) for name, idea in feared.items()}
    assert worth["A"].tolist() == [1, 1, 1, 0, 0, 0]
    assert worth["B"].tolist() == [0] * 6, "no interval is exact"
    assert weights["A"].tolist() == [1] * 6
    assert weights["A_distinct"].tolist() == [1, 0, 0, 1, 0, 0]
    assert weights["W"].tolist() == [10, 10, 10, 1, 1, 1]
    assert weights["C"].sum() == 3
    first = np.flatnonzero(weights["C"])
    ages = release.table.age.to_numpy()
    assert weights["C_distinct"].sum() == len(set(ages[first])), "distinct among the chosen, not the first of all"
    assert (weights["C_distinct"] <= weights["C"]).all()


def test_nearer_by_more_and_shares():
    feared = scenarios("age", 1000, c=60, share=0.05)
    assert feared["A"].functions["age"].keywords == {"c": 60}
    assert feared["B"].functions["age"].keywords == {"c": 100}, "exact whatever is asked of A"
    assert feared["C"].functions["age"].keywords == {"c": 60}
    assert feared["C"].weights.sum() == 50
    other = scenarios("age", 1000, seed=2)["C"].weights
    assert 0 < (other * feared["C"].weights).sum() < 20, "another lot, of which some 2.5 are drawn again"
    assert "W" not in feared


@pytest.mark.slow
def test_the_chosen_few_are_the_same_people_for_all_sanitizers_and_others_for_another_seed(adult, monkeypatch):
    """Whoever is chosen by place is found by who stands there: the table is reordered for another seed."""
    chosen = {}

    def bad_rows(row, scores, min_count):
        chosen.setdefault((row.keywords["scenario"], row.keywords["variant"], current), scores.weights)
        return real(row, scores, min_count)

    real = nearer_predictions.build_anti_utility_rows
    monkeypatch.setattr(nearer_predictions, "build_anti_utility_rows", bad_rows)
    for current in [(KMember(3), 1), (KMember(3), 2), (LaplaceNoise(1), 1)]:
        anti_utility(adult, current[0], miners="majority", seed=current[1])
    noisy, clustered = chosen["C", "", (LaplaceNoise(1), 1)], chosen["C", "", (KMember(3), 1)]
    assert noisy.tolist() == clustered.tolist()
    again = chosen["C", "", (KMember(3), 2)]
    assert again.sum() == clustered.sum() == 40
    other = evaluation.reorder_records(adult, 2).table
    people = [set(table[w > 0].itertuples(index=False)) for table, w in ((adult.table, clustered), (other, again))]
    assert people[0] != people[1]


@pytest.mark.slow
def test_a_scenario_never_exceeds_the_one_that_contains_it(adult):
    for sanitizer in (KMember(10), LaplaceNoise(0.5)):
        rows = anti_utility(adult, sanitizer, miners=QUICK, min_count=2, share=0.5)
        wide = rows[~rows.miner.str.contains("permuted|held-out") & (rows.target == "age")].pivot(
            index="miner", columns="measure", values="value"
        )
        for less, more in [("A_distinct", "A"), ("B", "A"), ("C", "A"), ("C_distinct", "C"), ("C_distinct", "A")]:
            less, more = wide[f"anti_utility_{less}"].dropna(), wide[f"anti_utility_{more}"].dropna()
            assert (less <= more.reindex(less.index).fillna(2)).all()
        assert (wide["anti_utility_C_distinct"] > 2).any()


@pytest.mark.slow
def test_weights_are_the_owners(adult):
    sanitizer, miners = LaplaceNoise(0.5), "majority, linear regression"
    weighted = anti_utility(adult, sanitizer, miners=miners, weights="sex == 'Female': 3, 2")
    counted = anti_utility(adult, sanitizer, miners=miners, weights="sex == 'Female': 1, 0")
    women = (adult.table.sex == "Female").to_numpy()
    release, found, _ = hits(adult, sanitizer, miners=miners)
    for name, guess in found.guesses.items():
        hit = nearer(guess, release, adult)
        assert min((hit & women).sum(), (hit & ~women).sum()) >= 10
        in_sum = one(weighted, measure="anti_utility_W_weighted", miner=name).value
        assert in_sum == 3 * (hit & women).sum() + 2 * (hit & ~women).sum()
        assert one(counted, measure="anti_utility_W", miner=name).value == (hit & women).sum()
    with pytest.raises(ValueError, match="not all 0"):
        anti_utility(adult, sanitizer, miners="majority", weights="age > 200: 1, 0")


# Each number


@pytest.mark.slow
def test_every_row_has_baseline_interval_and_a_name_of_its_own(attacked):
    counts = attacked[attacked.measure.str.startswith("anti_utility")]
    told = counts[counts.value.notna()]
    assert told[["low", "high"]].notna().all(axis=None)
    assert (told.low <= told.value + 1e-9).all()
    assert (told.value <= told.high + 1e-9).all()
    assert set(attacked.better) == {"lower"}
    assert set(counts.measure) == {f"anti_utility_{s}" for s in ("A", "A_distinct", "B", "C", "C_distinct")}
    assert not attacked.duplicated(KEY_COLUMNS).any()
    for _, rows in counts.groupby(["sanitizer", "parameters", "measure"]):
        assert {"fusion: vote", "fusion: stacked", "worst by person"} < set(rows.miner)
        assert {"control: ZeroR", "control: permuted", "control: held-out"} < set(rows.miner)
        assert rows.baseline.nunique(dropna=False) == 1


@pytest.mark.slow
def test_each_miner_fusion_and_person_by_plain_counting(adult, raw):
    release, found, near = hits(adult, KMember(10))
    first = ~release.table.duplicated().to_numpy()
    for name, hit in near.items():
        assert one(raw, measure="anti_utility_A", miner=name).value == hit.sum()
        assert one(raw, measure="anti_utility_A_distinct", miner=name).value == (hit & first).sum()
    anyone = np.any(list(near.values()), axis=0)
    assert (
        one(raw, measure="anti_utility_A", miner="worst by person").value
        == anyone.sum()
        > max(hit.sum() for hit in near.values())
    )
    together = nearer_predictions.predict_ensemble(release, "age", QUICK, found.guesses)
    for name, guess in together.items():
        assert one(raw, measure="anti_utility_A", miner=name).value == nearer(guess, release, adult).sum()
        assert (nearer(guess, release, adult) <= anyone).all() or name == "fusion: stacked"


def test_the_guess_is_the_middle_of_the_domain(adult, raw):
    """Ages 17 to 99: 58, released as 55-59. It is nearer for those of that age whose released interval is longer."""
    release, _, _ = hits(adult, KMember(10))
    by_hand = (adult.table.age.between(55, 59) & (release.table.age != "55-59")).sum()
    assert by_hand > 10
    assert set(raw[raw.measure == "anti_utility_A"].baseline) == {by_hand}


@pytest.mark.slow
def test_nothing_is_nearer_in_the_original(adult):
    """A prediction cannot be nearer to the truth than the truth."""
    results = anti_utility(adult, Identity(), miners=QUICK, min_count=2)
    assert (results.value == 0).all()
    assert results.high.notna().all(), "what was not seen may still be"


@pytest.mark.slow
def test_suppressed_quasi_identifiers_leave_the_guess(adult):
    """With every quasi-identifier at `*`, a miner of the age can only repeat `*`."""
    results = anti_utility(adult, Suppress(), miners=QUICK, min_count=2)
    assert (results.value == 0).all()
    assert results[results.measure == "anti_utility_A"].baseline.gt(0).all()


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", [KMember(20), Suppress("marital-status")], ids=repr)
def test_a_category_can_be_mined(adult, sanitizer):
    results = anti_utility(adult, sanitizer, target="marital-status", miners="majority, naive Bayes")
    assert set(results[results.measure != "nearer_share"].target) == {"marital-status"}
    assert not results.duplicated(KEY_COLUMNS).any()


@pytest.mark.slow
def test_people_without_numbers_can_be_attacked():
    """The first quasi-identifier is mined; whom it hits is asked by sex."""
    people = Dataset(
        "sexes",
        pd.DataFrame({"sex": ["F", "M"] * 20, "pay": ["low", "high"] * 20}),
        Schema("sexes", (SEX, PAY)),
        {"sex": flat(SEX)},
    )
    results = anti_utility(people, Suppress(), miners="majority, naive Bayes")
    assert set(results.target) == {"sex", "sex F", "sex M"}
    gains = gains_with_predictions(people, Suppress(), miners="majority")
    assert one(gains, measure="accuracy_gain").value == 0


@pytest.mark.slow
def test_a_single_miner_has_its_controls_too(adult, raw):
    alone = anti_utility(adult, KMember(10), miners="naive Bayes", min_count=2)
    same = raw[raw.miner == "naive Bayes"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone[alone.miner == "naive Bayes"].reset_index(drop=True), same)
    counts = alone[alone.measure == "anti_utility_A"].set_index("miner").value
    assert {"control: ZeroR", "control: permuted", "control: held-out"} < set(counts.index)
    assert counts["fusion: vote"] == counts["worst by person"] == counts["naive Bayes"], "a fusion of one is that one"


@pytest.mark.slow
def test_fusions_that_are_named_are_there_once(adult):
    named = anti_utility(adult, KMember(10), miners=f"{QUICK}, fusion: stacked, fusion: vote", min_count=2)
    assert not named.duplicated(KEY_COLUMNS).any()
    assert (named.miner == "fusion: vote").sum() == 5


@pytest.mark.slow
def test_miners_that_fail_are_named_in_a_row(adult, monkeypatch):
    def failing(release, target, names, *, rng):
        found = predict_in_sample(release, target, "majority, naive Bayes", rng=rng)
        return found._replace(failed={"slow": "unfinished", "Weka misc.OLM": "unavailable"})

    monkeypatch.setattr(nearer_predictions, "predict_in_sample", failing)
    results = anti_utility(adult, KMember(10), miners=QUICK)
    slow = one(results, status="unfinished")
    assert (slow.measure, slow.miner, slow.target) == ("anti_utility", "slow", "age")
    assert np.isnan(slow.value), "no number of people"
    assert one(results, status="unavailable").miner == "Weka misc.OLM"
    assert {"majority", "naive Bayes"} < set(results[results.measure == "anti_utility_A"].miner)
    for module in (nearer_predictions, predicted_gains):
        monkeypatch.setattr(
            module,
            "predict_in_sample",
            lambda *args, rng: Predictions({}, np.full(len(adult), "*"), {"slow": "unfinished"}),
        )
    alone = anti_utility(adult, KMember(10), miners="majority")
    assert alone[["measure", "miner", "status"]].to_numpy().tolist() == [["anti_utility", "slow", "unfinished"]]
    gained = gains_with_predictions(adult, KMember(10), miners="majority")
    assert gained[["miner", "status"]].to_numpy().tolist() == [["slow", "unfinished"]]


# Seeds


@pytest.mark.slow
def test_same_numbers_again_and_others_for_another_seed(adult, attacked):
    again = anti_utility(adult, LaplaceNoise(0.5), miners=QUICK)
    first = attacked[attacked.sanitizer == "LaplaceNoise"].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, again)
    other = anti_utility(adult, LaplaceNoise(0.5), miners=QUICK, seed=2)
    assert first.drop(columns=["seed"]).columns.equals(other.drop(columns=["seed"]).columns)
    assert not first.value.equals(other.value)


@pytest.mark.slow
def test_another_order_changes_ties_but_not_what_is_free_of_it(adult):
    """Suppression publishes the same rows in any order; clustering starts elsewhere. Which of equal records stands for
    them, and who is chosen, is by order and lot.
    """
    first, second = (anti_utility(adult, Suppress("age"), miners="majority", seed=s) for s in (1, 2))
    drawn = first.measure.str.contains("_C|distinct")
    pd.testing.assert_frame_equal(first[~drawn].drop(columns="seed"), second[~drawn].drop(columns="seed"))
    first, second = (anti_utility(adult, KMember(10), miners="majority", seed=s) for s in (1, 2))
    assert not first.baseline.equals(second.baseline)


# Controls


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", [KMember(10), LaplaceNoise(0.5)], ids=repr)
def test_by_chance_is_what_the_worst_guesses_are_worth_to_anybody(adult, sanitizer):
    """Dealt at random, each guess comes to each person with chance 1/n: the mean over all pairs of both."""
    results = anti_utility(adult, sanitizer, miners=QUICK, min_count=2)
    release, found, near = hits(adult, sanitizer)
    worst = max(near, key=lambda name: near[name].sum())
    n = len(adult)
    expected = np.zeros(n)
    for guess in found.guesses[worst]:  # n guesses, each to all n people
        expected += nearer(np.full(n, guess, dtype=found.guesses[worst].dtype), release, adult) / n
    dealt = one(results, measure="anti_utility_A", miner="control: permuted")
    # A sum of n chances has at most their binomial spread; 20 deals.
    tolerance = 4 * np.sqrt((expected * (1 - expected)).sum() / nearer_predictions.PERMUTATIONS)
    assert dealt.value == pytest.approx(expected.sum(), abs=tolerance)
    assert 0 < dealt.value
    assert dealt.low <= dealt.value <= dealt.high
    first = ~release.table.duplicated().to_numpy()
    distinct = one(results, measure="anti_utility_A_distinct", miner="control: permuted").value
    assert distinct == pytest.approx(expected[first].sum(), abs=tolerance)


@pytest.mark.slow
def test_the_same_guess_for_all_is_the_same_however_it_is_dealt(adult):
    results = anti_utility(adult, LaplaceNoise(0.5), miners="majority, decision stump", min_count=2)
    near = hits(adult, LaplaceNoise(0.5), miners="majority, decision stump")[2]
    assert near["majority"].sum() >= near["decision stump"].sum()
    dealt = one(results, measure="anti_utility_A", miner="control: permuted")
    assert dealt[["value", "low", "high"]].tolist() == [near["majority"].sum()] * 3
    zero = one(results, measure="anti_utility_A", miner="control: ZeroR").value
    assert zero == one(results, measure="anti_utility_A", miner="majority").value


@pytest.mark.slow
def test_zero_r_is_there_without_the_majority(adult, raw):
    others = anti_utility(adult, KMember(10), miners="decision stump, naive Bayes", min_count=2)
    for measure in ("anti_utility_A", "anti_utility_B", "anti_utility_C"):
        same = [one(rows, measure=measure, miner="control: ZeroR").value for rows in (raw, others)]
        assert same[0] == pytest.approx(same[1], nan_ok=True)


def test_the_unseen_are_guessed_by_the_worst_miner_that_never_learned_from_them(adult, raw):
    release, _, near = hits(adult, KMember(10))
    worst = max(near, key=lambda name: near[name].sum())
    guess = predict_cross_validated(release, "age", worst, folds=nearer_predictions.HELD_OUT_FOLDS, seed=1).guesses[
        worst
    ]
    found = one(raw, measure="anti_utility_A", miner="control: held-out").value
    assert found == nearer(guess, release, adult).sum() != near[worst].sum()


def test_of_the_unseen_only_others_are_known():
    """The majority guesses the mean of all numbers that it has seen: of each fold, the mean of the others."""
    release = LaplaceNoise(0.5).sanitize(town(list(range(100)), "FM" * 50), rng=0)
    guess = predict_cross_validated(
        release, "age", "majority", folds=nearer_predictions.HELD_OUT_FOLDS, seed=1
    ).guesses["majority"]
    means = np.unique(guess)
    assert len(means) == 5
    for mean in means:
        assert mean == pytest.approx(release.table.age[guess != mean].mean())


# Withholding


def test_small_counts_are_withheld(attacked):
    counts = attacked[attacked.measure.str.startswith("anti_utility")]
    assert not counts.value.between(0, 10, inclusive="neither").any()
    assert not counts.baseline.between(0, 10, inclusive="neither").any()
    few = counts[counts.value.isna()]
    assert len(few)
    assert {1.0} < set(few.low.dropna()), "and of few who are not hit"
    assert set((few.high - few.low).dropna()) == {8.0}


@pytest.mark.slow
def test_a_weighted_sum_of_few_people_leaves_no_trace(adult):
    """Ten for each person above 75: of few of them neither the sum, the guess, chance nor its range are told."""
    rows = anti_utility(adult, LaplaceNoise(0.5), miners=QUICK, weights="age > 75: 10, 0")
    weighed = rows[rows.measure == "anti_utility_W_weighted"]
    assert (adult.table.age > 75).sum() < 10, "so nobody's number is one of ten people"
    assert (weighed.value.isna() | (weighed.value == 0)).all()
    assert {"majority", "control: permuted", "control: ZeroR"} <= set(weighed[weighed.value.isna()].miner)
    assert weighed[weighed.value.isna()][["low", "high"]].isna().all(axis=None)
    assert (weighed.baseline.isna() | (weighed.baseline == 0)).all()


def test_scenario_w_does_not_tell_what_a_leaves_out():
    """With A it would: 53 hit in all, 50 women, so 3 men; and weighted 10 and 1, 53 and 80 make 3 men as well."""
    women = np.arange(100) < 60
    hit = (np.arange(100) < 50) | (np.arange(100) >= 97)
    people = town(list(range(100)), "F" * 60 + "M" * 40)
    row = make_row_builder(people, Suppress(), 1)
    for weights, kind in ((women, "anti_utility_W"), (np.where(women, 1, 10), "anti_utility_W_weighted")):
        scores = GuessValues(
            {"few men": hit.astype(float), "no man": women * hit * 1.0}, hit * 1.0, weights.astype(float)
        )
        rows = nearer_predictions.build_anti_utility_rows(partial(row, scenario="W"), scores, 10)
        shown = short(nearer_predictions._withhold_few_of_a_weight("W", rows, scores, 10))
        assert set(shown.measure) == {kind}
        assert shown.set_index("miner").value.notna().to_dict() == {"few men": False, "no man": True}
        assert shown.baseline.isna().all()
        few = shown.iloc[0]
        assert (few.low, few.high) == (
            (0, 60) if kind == "anti_utility_W" else pytest.approx((np.nan,) * 2, nan_ok=True)
        )
        other = nearer_predictions.build_anti_utility_rows(row, scores, 10)
        pd.testing.assert_frame_equal(
            nearer_predictions._withhold_few_of_a_weight("C", other.copy(), scores, 10), other
        )


# Who is hit


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(2)
    return town(rng.integers(0, 100, 500).tolist(), "".join(rng.choice(["F", "M"], 500)))


def shares(dataset, hit, guess=None, min_count=10):
    """The rows of `nearer_share` for whom a miner hits, as hits: Series by target; and the guess's."""
    scores = GuessValues(
        {"it": hit.astype(float)}, (hit if guess is None else guess).astype(float), np.ones(len(dataset))
    )
    rows = nearer_predictions._build_group_rows(
        make_row_builder(dataset, Suppress(), 1), dataset, scores, "it", min_count
    )
    assert set(rows.measure) == {"nearer_share"}
    of = pd.concat([evaluation.group_records(dataset, name).astype(str).value_counts() for name in ("age", "sex")])
    of.index = [f"age {label}" if label[0].isdigit() else f"sex {label}" for label in of.index]
    rows = rows.set_index("group")
    numbers = rows.assign(**{c: rows[c] * of.reindex(rows.index) for c in ("value", "low", "high", "baseline")})
    return numbers[["value", "low", "high", "baseline"]]


def test_hits_by_group_add_up_to_the_worst_miners(crowd):
    hit = np.random.default_rng(3).random(500) < 0.5
    found = shares(crowd, hit)
    for name in ("age", "sex"):
        groups = found[found.index.str.startswith(name)]
        assert groups.value.sum() == pytest.approx(hit.sum())
        assert groups.baseline.sum() == pytest.approx(hit.sum())
        assert (groups.low < groups.value).all()
        assert (groups.value < groups.high).all()
    assert found.value["sex F"] == pytest.approx((hit & (crowd.table.sex == "F")).sum())
    assert found.value["age 20-29"] == pytest.approx((hit & crowd.table.age.between(20, 29)).sum())


@pytest.mark.slow
def test_who_is_hit_adds_up_in_a_real_attack(adult):
    rows = anti_utility(adult, LaplaceNoise(0.1), miners="majority, linear regression")
    worst = rows[(rows.measure == "anti_utility_A") & ~rows.miner.str.contains("fusion|control|person")].value.max()
    share = rows[rows.measure == "nearer_share"]
    assert set(share.miner) == {"worst"}
    sexes = share[share.target.str.startswith("sex")].set_index("target").value
    of = adult.table.sex.value_counts()
    assert sum(sexes[f"sex {sex}"] * number for sex, number in of.items()) == pytest.approx(worst)


@pytest.mark.parametrize(
    ("counts", "hidden"),
    [
        ([100, 30, 0, 40, 80], []),
        ([100, 30, 5, 40, 80], [1, 2]),  # the total less what is told would be the 5
        ([100, 30, 5, 6, 80], [2, 3]),  # 11 of two groups
        ([100, 30, 5, 3, 80], [1, 2, 3]),  # 8 of two groups are few as well
        ([0, 0, 5, 0, 0], [2]),  # of whom the total is withheld itself
        ([0, 0, 5, 30, 0], [2, 3]),
        ([0, 3, 3, 3, 0], [1, 2, 3]),
    ],
)
def test_no_count_of_few_is_what_the_total_leaves(counts, hidden):
    number = pd.Series(counts, index=list("abcde"))
    untold = number.index.isin(nearer_predictions._hidden_groups(number, number + 100, 10))
    assert np.flatnonzero(untold).tolist() == hidden
    left = number.sum() - number[~untold].sum()
    assert left == 0 or left >= 10 or left == number.sum()


def test_a_group_too_small_to_show_is_not_what_the_total_leaves():
    """Eight women, three of them hit: left out, but 103 less the 100 men would tell."""
    people = town([30] * 200, "F" * 8 + "M" * 192)
    hit = (np.arange(200) < 3) | (np.arange(200) >= 100)
    found = shares(people, hit)
    assert "sex F" not in found.index
    assert np.isnan(found.value["sex M"])
    assert np.isnan(found.baseline["sex M"])
    none = shares(people, np.arange(200) >= 100)
    assert none.value["sex M"] == pytest.approx(100), "nobody of the eight is hit: that is told"


def test_withheld_groups_keep_their_bounds(crowd):
    sex = (crowd.table.sex == "F").to_numpy()
    few = np.flatnonzero(sex)[:4]
    hit = ~sex
    hit[few] = True
    found = shares(crowd, hit, guess=np.zeros(500))
    assert found.loc["sex F", ["low", "high"]].tolist() == pytest.approx([1, 9])
    assert found.loc["sex M", ["value", "low", "high"]].isna().all(), "or it would tell the other"
    assert found.baseline.loc[["sex F", "sex M"]].eq(0).all(), "the guess hits nobody"


def test_people_are_distinguished_by_the_first_number_and_short_lists(adult):
    assert nearer_predictions.choose_group_attributes(adult) == ["age", "race", "sex"]
    assert nearer_predictions.choose_group_attributes(town([1, 2], "FF")) == ["age", "sex"]


# Table 3


@pytest.fixture(scope="module")
def gained(adult):
    return gains_with_predictions(adult, KMember(3), miners="majority, naive Bayes").set_index("measure")


@pytest.mark.slow
def test_the_gains_before_are_those_of_the_release(adult, gained):
    own = short(evaluation.measure_adversary_gains(adult, [KMember(3)]))
    for _, row in own.iterrows():
        pd.testing.assert_series_equal(gained.loc[row.measure], row.drop("measure"), check_names=False)


def accuracy_gain(dataset, table):
    counts = table.groupby(dataset.schema.quasi_identifiers).salary.value_counts().unstack(fill_value=0)
    return counts.max(axis=1).sum() / len(table) - dataset.table.salary.value_counts(normalize=True).max()


@pytest.mark.slow
def test_both_readings_by_hand(adult):
    """With one miner that names the most common age label for all, Table 3's releases can be made by hand."""
    results = gains_with_predictions(adult, KMember(2), miners="majority")
    table = KMember(2).sanitize(adult, rng=0).table
    commonest = table.age.value_counts().sort_index().idxmax()
    low, high = map(int, commonest.split("-"))
    width = table.age.str.split("-").map(lambda ends: int(ends[1]) - int(ends[0]))
    near = adult.table.age.between(low, high) & (width > high - low)
    for suffix, where in {"predictions": near & ~table.duplicated(), "all_predictions": near}.items():
        assert 0 < where.sum() <= near.sum()
        by_hand = accuracy_gain(adult, table.assign(age=table.age.mask(where, commonest)))
        assert one(results, measure=f"accuracy_gain_with_{suffix}").value == pytest.approx(by_hand)
    assert near.sum() > (near & ~table.duplicated()).sum()


def test_each_reading_has_its_control(gained):
    pairs = {each: f"{each}, random labels" for each in ("predictions", "all_predictions")}
    gains = ("accuracy_gain", "knowledge_gain")
    suffixes = ["", *(f"_with_{name}" for pair in pairs.items() for name in pair)]
    assert set(gained.index) == {f"{gain}{suffix}" for gain in gains for suffix in suffixes}
    assert (gained.baseline > 0).all()
    for gain in gains:
        for name in pairs.values():
            control = gained.loc[f"{gain}_with_{name}"]
            assert control.low < control.value < control.high
        # A class that is split can only raise either gain, and one record moved between classes hardly lowers it.
        assert gained.loc[f"{gain}_with_predictions"].value > gained.loc[gain].value - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["predictions", "all_predictions"])
def test_the_control_deals_out_the_labels_that_the_worst_miner_puts_in(adult, monkeypatch, reading):
    """As many, the same, in both readings; and the attack itself changes those records alone."""
    dealt, put = [], []
    deal, relabel = predicted_gains._permute_labels, predicted_gains._replace_labels

    def dealt_out(release, target, among, labels, hierarchy, rng):
        dealt.append((int(among.sum()), sorted(labels)))
        return deal(release, target, among, labels, hierarchy, rng)

    def relabelled(release, target, where, labels):
        put.append(int(where.sum()))
        return relabel(release, target, where, labels)

    monkeypatch.setattr(predicted_gains, "_permute_labels", dealt_out)
    monkeypatch.setattr(predicted_gains, "_replace_labels", relabelled)
    gains_with_predictions(adult, KMember(3), miners="majority, naive Bayes")
    release, found, near = hits(adult, KMember(3), miners="majority, naive Bayes")
    among = ~release.table.duplicated().to_numpy() if reading == "predictions" else np.ones(len(adult), dtype=bool)
    worst = max(near, key=lambda name: (near[name] & among).sum())
    labels = sorted(found.guesses[worst][near[worst] & among])
    assert dealt.count((among.sum(), labels)) == predicted_gains.DRAWS
    assert put[0 if reading == "predictions" else predicted_gains.DRAWS + 1] == len(labels)


def width(labels):
    return pd.Series(labels).str.split("-").map(lambda ends: int(ends[1]) - int(ends[0]) + 1).to_numpy()


def test_labels_are_dealt_to_longer_cells_of_those_who_may_be_changed(adult):
    release = KMember(10).sanitize(adult, rng=0)
    hierarchy, labels = release.hierarchies["age"], np.array(["20-29"] * 30 + ["40-44"] * 40, dtype=object)
    among = np.arange(len(adult)) % 2 == 0
    seen = set()
    for seed in range(5):
        where, dealt = predicted_gains._permute_labels(
            release, "age", among, labels, hierarchy, np.random.default_rng(seed)
        )
        assert sorted(dealt[where]) == sorted(labels)
        assert not (where & ~among).any()
        assert (width(dealt[where]) < width(release.table.age[where])).all()
        seen.add(tuple(np.flatnonzero(where)))
    assert len(seen) == 5
    # As many as there is room for: no cell is longer than the longest.
    longest = np.array([release.table.age[width(release.table.age).argmax()]] * 5, dtype=object)
    where, _ = predicted_gains._permute_labels(release, "age", among, longest, hierarchy, np.random.default_rng(1))
    assert not where.any()


def test_numbers_that_leave_few_people_are_not_told():
    """12 people less 9 distinct rows are 3; less 2, ten."""
    rows = [
        ("anti_utility_A", "tree", 40), ("anti_utility_C", "tree", 12), ("anti_utility_C_distinct", "tree", 9),
        ("anti_utility_A", "stump", 15), ("anti_utility_C", "stump", 14), ("anti_utility_C_distinct", "stump", 0),
        ("anti_utility_A", "worst by person", 44), ("anti_utility_C", "worst by person", 32),
    ]  # fmt: skip
    row = make_row_builder(load("adult", records=100), KMember(5), 1)
    found = nearer_predictions._withhold_differences(
        tidy([row(value=value, **measured(measure), miner=miner, interval=(1, 50)) for measure, miner, value in rows]),
        10,
    )
    untold = short(found[found.value.isna()])
    assert set(untold.status) == {"withheld"}
    assert list(zip(untold.measure, untold.miner, strict=True)) == [
        ("anti_utility_C_distinct", "tree"), ("anti_utility_C", "stump"), ("anti_utility_A", "worst by person"),
    ]  # fmt: skip
    assert untold[["low", "high"]].isna().all(axis=None)


@pytest.mark.slow
def test_rows_of_other_miners_leave_the_releases_own_gains_out(adult, gained):
    other = gains_with_predictions(adult, KMember(3), miners="majority, naive Bayes", miner_set="Weka 3")
    assert set(other.miner_set) == {"Weka 3"}
    assert set(other.measure) == set(gained.index) - {"accuracy_gain", "knowledge_gain"}
    assert not join_results(other, gained.reset_index()).duplicated(KEY_COLUMNS).any()
    same = gained.loc[other.measure]
    assert other[["value", "low", "high", "baseline"]].equals(
        same[["value", "low", "high", "baseline"]].reset_index(drop=True)
    )


# What cannot be done


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda d: anti_utility(d, KMember(5), target="wait"),
            "has no attribute 'wait'; it has age",
        ),
        (
            lambda d: anti_utility(d, LaplaceNoise(1), miners="naive Bayes"),
            "Add another miner to MINERS",
        ),
        (
            lambda d: anti_utility(d, KMember(5), miners="majority", min_count=1),
            "min_count must be a whole number of at least 2",
        ),
        (
            lambda d: anti_utility(d, KMember(5), miners="majority", share=0),
            "share must be a share above 0",
        ),
        (
            lambda d: anti_utility(d, KMember(5), miners="majority", weights="10"),
            "interest weights must be written",
        ),
    ],
)
def test_what_cannot_be_done_is_said(adult, call, message):
    with pytest.raises(ValueError, match=message):
        call(adult)


def test_a_release_that_cannot_be_read_says_why(adult):
    for found, measure, reason in (
        (anti_utility(adult, Bucketize(KMember(5)), miners="majority"), "anti_utility", "has salary, bucketized"),
        (gains_with_predictions(adult, LaplaceNoise(1), miners="majority"), "accuracy_gain", "no equivalence classes"),
    ):
        (row,) = found.itertuples()
        assert (row.measure, row.status) == (measure, "refused")
        assert reason in row.reason


@pytest.mark.slow
def test_without_a_sensitive_attribute_there_is_an_anti_utility_and_no_gain():
    table = pd.DataFrame({"age": range(60), "sex": ["F", "M", "M"] * 20})
    people = Dataset("ages", table, Schema("ages", (AGE, SEX)), town([1, 2], "FF").hierarchies)
    assert len(anti_utility(people, LaplaceNoise(1), miners="majority, decision stump"))
    with pytest.raises(ValueError, match="'ages' has no sensitive attribute"):
        gains_with_predictions(people, KMember(5), miners="majority")
