"""Tidy results: what is in them, what they withhold, and that they repeat."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb import evaluation
from privnb.dataset import Dataset, load
from privnb.hierarchy import flat
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Identity, KMember, LaplaceNoise, Suppress
from privnb.schema import Attribute, Categories, Role, Schema


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=1500)


@pytest.fixture(scope="module")
def mined(adult):
    return evaluation.anti_utility(adult, evaluation.settings(k="2, 50", epsilon=0.5))


def one(results, **where):
    rows = results
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def test_settings():
    assert evaluation.settings(k="2,10", epsilon="0.5") == [KMember(2), KMember(10), LaplaceNoise(0.5)]
    assert evaluation.settings(k=5) == [KMember(5)]
    assert evaluation.settings(k="2, 2") == [KMember(2)]
    with pytest.raises(ValueError, match="no sanitizer to run: give one value or more of k or epsilon"):
        evaluation.settings(k="", epsilon=" ")


@pytest.mark.parametrize("wrong", [{"k": "two"}, {"k": "2.5"}, {"epsilon": "small"}])
def test_settings_refuse_what_is_no_number(wrong):
    with pytest.raises(ValueError, match=r"must be one number or several separated by commas"):
        evaluation.settings(**wrong)


def test_settings_refuse_what_protects_nobody():
    with pytest.raises(ValueError, match="k must be a whole number of at least 2"):
        evaluation.settings(k="1")
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        evaluation.settings(epsilon="0")


def test_describe(adult):
    facts = evaluation.describe(adult)
    assert one(facts, measure="records").value == 1500
    assert one(facts, measure="domain_size", target="sex").value == 2
    prior = one(facts, measure="prior_accuracy")
    assert prior.value == pytest.approx((adult.table.salary == "<=50K").mean())
    assert prior.low < prior.value < prior.high


def test_uniqueness_by_plain_counting(adult):
    unique = evaluation.uniqueness(adult)
    assert len(unique) == 2**8 - 1
    names = ["age", "occupation"]
    alone = (adult.table.groupby(names).age.transform("size") == 1).mean()
    assert one(unique, target="age, occupation").value == pytest.approx(alone)


def test_uniqueness_withholds_few_people(adult):
    unique = evaluation.uniqueness(adult)
    names = [name.split(", ") for name in unique.target]
    alone = np.array([(adult.table.groupby(n)[n[0]].transform("size") == 1).sum() for n in names[:40]])
    few = (alone > 0) & (alone < 10)
    assert few.any()
    assert unique.value[:40].isna().to_numpy().tolist() == few.tolist()


def test_anti_utility_has_baseline_and_interval(mined):
    worst = mined[(mined.miner == "worst") & mined.value.notna()]
    assert worst[["low", "high"]].notna().all(axis=None)
    assert (worst.low <= worst.value + 1e-9).all()
    assert (worst.value <= worst.high + 1e-9).all()
    assert set(mined.better) == {"lower"}
    assert set(mined.measure) == {f"anti_utility_{s}" for s in ("A", "A_distinct", "B", "C")}


def test_anti_utility_adds_up(adult):
    """Average and worst are those of the miners; a scenario never exceeds the one that contains it."""
    raw = evaluation.anti_utility(adult, [KMember(10)], fewest=2)
    for _, rows in raw.groupby("measure"):
        miners = rows[~rows.miner.isin(["average", "worst"])].value
        assert rows[rows.miner == "worst"].value.item() == miners.max()
        average = rows[rows.miner == "average"].value.item()
        told = miners.notna().all() and not 0 < miners.mean() < 2
        assert average == pytest.approx(miners.mean()) if told else np.isnan(average)
    worst = raw[raw.miner == "worst"].set_index("measure").value
    assert worst["anti_utility_A"] >= worst["anti_utility_A_distinct"]
    assert worst["anti_utility_A"] >= worst["anti_utility_B"]
    assert worst["anti_utility_A"] >= worst["anti_utility_C"]
    assert worst["anti_utility_B"] == 0, "no released interval is shorter than five years"


def test_small_counts_are_withheld(mined):
    assert not mined.value.between(0, 10, inclusive="neither").any()
    assert not mined.baseline.between(0, 10, inclusive="neither").any()
    withheld = mined[mined.value.isna() & (mined.miner != "average")]
    assert len(withheld)
    assert set(withheld.low) == {1.0}
    assert set(withheld.high) == {9.0}


def test_nothing_is_nearer_in_the_original(adult):
    """A prediction cannot be nearer to the truth than the truth."""
    assert (evaluation.anti_utility(adult, [Identity()], fewest=2).value == 0).all()


def test_suppressed_quasi_identifiers_leave_the_guess(adult):
    """With every quasi-identifier at `*`, a miner of the age can only repeat `*`."""
    results = evaluation.anti_utility(adult, [Suppress()], fewest=2)
    assert (results[~results.miner.isin(["average"])].value == 0).all()


def test_utility_of_the_trivial_release(adult):
    results = evaluation.good_utility(adult, [Suppress("sensitive"), Suppress()])
    commonest = adult.table.salary.value_counts().max()
    suppressed = results[(results.parameters == "what=sensitive") & (results.measure == "good_utility")]
    assert (suppressed.value == 0).all(), "a release without the attribute teaches nothing of it"
    bare = results[(results.sanitizer == "Suppress") & (results.parameters == "") & (results.measure == "good_utility")]
    assert (bare.value == commonest).all(), "without quasi-identifiers the commonest value is all there is"
    declines = results[results.measure == "utility_decline"]
    assert declines[declines.sanitizer == "Identity"].value.eq(0).all()
    worst = one(declines, parameters="what=sensitive", miner="worst")
    assert worst.value == 1
    for _, rows in declines.groupby(["sanitizer", "parameters"]):
        assert rows[rows.miner == "worst"].value.item() == rows.value.max()


def test_gains_with_predictions_prints_its_control(adult):
    results = evaluation.gains_with_predictions(adult, [KMember(10)])
    wide = results.set_index("measure").value
    for gain in ("accuracy_gain", "knowledge_gain"):
        assert wide[f"{gain}_with_predictions"] >= wide[gain] - 0.01
        assert f"{gain}_with_random_labels" in wide
    assert (results.baseline > 0).all()


def test_predictions_are_given_back_to_their_people():
    """Where one column tells another, a tree that saw the shuffled release predicts each record rightly, in order."""
    towns = np.random.default_rng(0).choice(list("abcd"), 60)
    people = Schema(
        "towns",
        (
            Attribute("town", Role.QUASI_IDENTIFIER, Categories(tuple("abcd"))),
            Attribute("code", Role.SENSITIVE, Categories(tuple("WXYZ"))),
        ),
    )
    table = pd.DataFrame({"town": towns, "code": [dict(zip("abcd", "WXYZ", strict=True))[town] for town in towns]})
    data = Dataset("towns", table, people, {"town": flat(people["town"])})
    predictions, guess = evaluation.mine(Identity().sanitize(data, rng=0), "code", "decision tree", rng=5)
    assert predictions["decision tree"].tolist() == table.code.tolist()
    assert set(guess) == {table.code.mode()[0]}


def test_the_guess_is_the_middle_of_the_domain(adult):
    """Ages 17 to 99: 58, released as 55-59. It is nearer for those of that age whose released interval is longer."""
    raw = evaluation.anti_utility(adult, [KMember(10)], fewest=2)
    released = KMember(10).sanitize(adult, rng=0).table.age
    by_hand = (adult.table.age.between(55, 59) & (released != "55-59")).sum()
    assert by_hand > 10
    assert set(raw[raw.measure == "anti_utility_A"].baseline) == {by_hand}


def test_predictions_are_put_into_the_first_of_equal_rows(adult):
    """With one miner that names the commonest age label for all, Table 3's release can be made by hand."""
    results = evaluation.gains_with_predictions(adult, [KMember(2)], miners="majority")
    table = KMember(2).sanitize(adult, rng=0).table
    commonest = table.age.value_counts().sort_index().idxmax()
    low, high = map(int, commonest.split("-"))
    width = table.age.str.split("-").map(lambda ends: int(ends[1]) - int(ends[0]))
    near = adult.table.age.between(low, high) & (width > high - low) & ~table.duplicated()
    table.loc[near, "age"] = commonest
    counts = table.groupby(adult.schema.quasi_identifiers).salary.value_counts().unstack(fill_value=0)
    right = counts.max(axis=1).sum() / len(table) - (table.salary == "<=50K").mean()
    assert near.sum() > 0
    assert one(results, measure="accuracy_gain_with_predictions").value == pytest.approx(right)


def test_the_control_changes_as_many_records_at_random(adult):
    release = KMember(10).sanitize(adult, rng=0)
    where, labels = evaluation._random_labels(release, "age", np.ones(len(adult), dtype=bool), 30, 1)
    assert where.sum() == 30
    assert all(int(label.split("-")[1]) - int(label.split("-")[0]) == 4 for label in labels)
    widths = release.table.age[where].str.split("-").map(lambda ends: int(ends[1]) - int(ends[0]))
    assert (widths > 4).all(), "only a label that can become shorter is replaced"
    assert len(set(labels)) > 5


def test_k_is_counted_not_believed(adult):
    """A sanitizer that claims k = 7 and publishes the original is graded by its labels."""

    class Liar:
        randomized = False

        def changed_params(self):
            return "k=7"

        def sanitize(self, dataset, *, rng):
            release = Identity().sanitize(dataset, rng=rng)
            return replace(release, provenance=replace(release.provenance, claims=(KAnonymity(7),)))

    costs = evaluation.costs(adult, [Liar()])
    assert one(costs, measure="k_achieved").value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: evaluation.anti_utility(d, [KMember(5)], target="wait"), "has no attribute 'wait'; it has age"),
        (lambda d: evaluation.good_utility(d, [KMember(5)], target="age"), "'age' is a number"),
        (lambda d: evaluation.anti_utility(d, [LaplaceNoise(1)], miners="naive Bayes"), "Add another miner to MINERS"),
        (lambda d: evaluation.anti_utility(d, [KMember(5)], fewest=1), "fewest must be 2 or more"),
        (lambda d: evaluation.anti_utility(d, [KMember(5)], share=0), "selects nobody for scenario C"),
        (lambda d: evaluation.linked(d, [KMember(5)], seeds=0), "number of repeats from 1"),
    ],
)
def test_what_cannot_be_done_is_said(adult, call, message):
    with pytest.raises(ValueError, match=message):
        call(adult)


def test_a_category_can_be_mined(adult):
    results = evaluation.anti_utility(adult, [KMember(20)], target="marital-status", miners="majority, naive Bayes")
    assert set(results.target) == {"marital-status"}


def test_withheld_miners_cannot_be_computed_from_the_average(mined):
    for _, rows in mined.groupby(["sanitizer", "parameters", "seed", "measure"]):
        if rows[~rows.miner.isin(["average", "worst"])].value.isna().any():
            assert rows[rows.miner == "average"].value.isna().all()


def test_links_beat_the_guess_where_records_stand_alone(adult):
    links = evaluation.linked(adult, [Identity(), Suppress(), KMember(10)])
    assert one(links, sanitizer="Suppress").value == pytest.approx(1 / len(adult))
    intact = one(links, sanitizer="Identity").value
    distinct = len(adult.table[adult.schema.quasi_identifiers].drop_duplicates())
    assert intact == pytest.approx(distinct / len(adult))
    assert (links.baseline == 1 / len(adult)).all()
    assert 1 / len(adult) < one(links, sanitizer="KMember").value < intact


def test_same_numbers_again(adult, mined):
    again = evaluation.anti_utility(adult, evaluation.settings(k="2, 50", epsilon=0.5))
    pd.testing.assert_frame_equal(mined, again)


def test_seeds_repeat_only_what_is_random(adult):
    results = evaluation.linked(adult, [KMember(50), LaplaceNoise(0.5)], seeds=3)
    assert results.groupby("sanitizer").seed.nunique().to_dict() == {"KMember": 1, "LaplaceNoise": 3}


def test_settings_do_not_share_their_noise(adult):
    """Scaled by epsilon, two settings' noise would be equal if they shared a seed."""
    noise = {}
    for release, sanitizer, _ in evaluation.releases(adult, evaluation.settings(epsilon="0.5, 0.1")):
        noise[sanitizer.epsilon] = (release.table.age - adult.table.age) * sanitizer.epsilon
    assert abs(np.corrcoef(noise[0.5], noise[0.1])[0, 1]) < 0.2


def test_people_by_counts_everybody(adult):
    assert evaluation.people_by(adult, "age").sum() == len(adult)
    assert evaluation.people_by(adult, "sex").to_dict() == adult.table.sex.value_counts().to_dict()
    assert evaluation.people_by(adult, "age").loc["35-39"] == adult.table.age.between(35, 39).sum()
