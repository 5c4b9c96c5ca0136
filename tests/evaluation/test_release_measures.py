"""Tidy results: what is in them, what they withhold, and that they repeat."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.questions import leakage, trade_off

from privnb import evaluation
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import parameters
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.predictions import Predictions
from privnb.evaluation.release_measures import withhold_penalty
from privnb.evaluation.utility.utilities import GoodUtility
from privnb.explorer.setting import Setting, apply_roles
from privnb.measures.utility.information_loss import (
    certainty_penalty,
    discernibility,
    loss_metric,
    precision,
    suppressed_cells,
    suppressed_records,
)
from privnb.measures.utility.mining import good_utility
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import FullDomain, Identity, KMember, LaplaceNoise, Suppress


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=1500)


def one(results, **where):
    rows = results
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def test_settings():
    assert parameters.build_sramka_sanitizers(k="2,10", epsilon="0.5") == [KMember(2), KMember(10), LaplaceNoise(0.5)]
    assert parameters.build_sramka_sanitizers(k=5) == [KMember(5)]
    assert parameters.build_sramka_sanitizers(k="2, 2") == [KMember(2)]
    with pytest.raises(ValueError, match=r"no sanitizer to run. Give at least one value of k or epsilon"):
        parameters.build_sramka_sanitizers(k="", epsilon=" ")


@pytest.mark.parametrize("wrong", [{"k": "two"}, {"k": "2.5"}, {"epsilon": "small"}])
def test_settings_refuse_what_is_no_number(wrong):
    with pytest.raises(ValueError, match=r"must be one number or several separated by commas"):
        parameters.build_sramka_sanitizers(**wrong)


def test_settings_refuse_what_protects_nobody():
    with pytest.raises(ValueError, match="k must be a whole number of at least 2"):
        parameters.build_sramka_sanitizers(k="1")
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        parameters.build_sramka_sanitizers(epsilon="0")


def test_describe(adult):
    facts = evaluation.describe(adult)
    assert one(facts, measure="records").value == 1500
    assert one(facts, measure="domain_size", target="sex").value == 2
    prior = one(facts, measure="prior_accuracy")
    assert prior.value == pytest.approx((adult.table.salary == "<=50K").mean())
    assert prior.low < prior.value < prior.high


def test_uniqueness_by_plain_counting(adult):
    unique = evaluation.measure_uniqueness(adult)
    assert len(unique) == 2**8 - 1
    names = ["age", "occupation"]
    alone = (adult.table.groupby(names).age.transform("size") == 1).mean()
    assert one(unique, knows="age, occupation").value == pytest.approx(alone)


def test_uniqueness_withholds_few_people(adult):
    unique = evaluation.measure_uniqueness(adult)
    names = [name.split(", ") for name in unique.knows]
    alone = np.array([(adult.table.groupby(n)[n[0]].transform("size") == 1).sum() for n in names[:40]])
    few = (alone > 0) & (alone < 10)
    assert few.any()
    assert unique.value[:40].isna().to_numpy().tolist() == few.tolist()


@pytest.mark.slow
def test_utility_of_the_trivial_release(adult):
    results = evaluation.measure_good_utility(adult, [Suppress("sensitive"), Suppress()])
    commonest = adult.table.salary.value_counts().max()
    suppressed = results[(results.parameters == "attributes=sensitive") & (results.measure == "good_utility")]
    assert (suppressed.value == 0).all(), "a release without the attribute teaches nothing of it"
    bare = results[(results.sanitizer == "Suppress") & (results.parameters == "") & (results.measure == "good_utility")]
    assert (bare.value == commonest).all(), "without quasi-identifiers the most common value is all there is"
    declines = results[results.measure == "utility_decline"]
    assert declines[declines.sanitizer == "Identity"].value.eq(0).all()
    lost = declines[declines.parameters == "attributes=sensitive"]
    assert lost[["value", "low", "high"]].eq(1).all(axis=None)


@pytest.fixture(scope="module")
def few_suppressed():
    """200 people by sex and race, of whom a few are suppressed while nobody else loses anything, and the sanitizer."""
    roles = Setting(quasi_identifiers="sex, race", sensitive="salary")
    return apply_roles(load("adult", records=200), roles), FullDomain(KAnonymity(3), suppress=9)


def test_few_suppressed_people_are_not_told_by_what_cells_lose(few_suppressed):
    """Where everybody else loses nothing, or what is public, the loss is their number."""
    data, sanitizer = few_suppressed
    release = sanitizer.sanitize(data, rng=1)
    costs, true = evaluation.measure_information_loss(data, [sanitizer]), certainty_penalty(release)
    assert 2 <= release.suppressed < 10
    assert true * 200 == pytest.approx(release.suppressed)
    assert np.isnan(one(costs, measure="suppressed_records").value)
    penalty = one(costs, measure="certainty_penalty")
    assert penalty.status == "withheld"
    # From what one suppressed person loses to what nine do, and the others as much as ten people.
    assert [penalty.low, penalty.high] == pytest.approx([1 / 200, 19 / 200])
    asked = [precision, loss_metric, discernibility, suppressed_cells, suppressed_records]
    assert evaluation.evaluate(data, [sanitizer], measures=asked).status.eq("withheld").all()
    assert (
        one(evaluation.measure_information_loss(data, [sanitizer], min_count=2), measure="certainty_penalty").value
        == true
    )


@pytest.mark.parametrize("races", ["exact", "*"])
def test_the_bounds_of_a_withheld_loss_are_those_of_any_few_suppressed_people(few_suppressed, races):
    """Or of all but a few."""
    data, sanitizer = few_suppressed
    release = sanitizer.sanitize(data, rng=1)
    whole = data.table[release.table.columns].astype(object)
    if races == "*":
        whole["race"] = "*"
    for numbers in (range(1, 10), range(191, 200)):
        found = set()
        for suppressed in numbers:
            table = whole.copy()
            table.loc[table.index[:suppressed], ["sex", "race"]] = "*"
            value, low, high = withhold_penalty(replace(release, table=table))
            assert np.isnan(value)
            assert low <= certainty_penalty(replace(release, table=table)) <= high <= 1
            found.add((low, high))
        assert len(found) == 1


def test_few_who_are_not_alone_are_told_by_no_table():
    """Of 150 people one shares a row, and no table shows that 149 do not."""
    data = load("adult", records=150)
    assert len(data.table[data.schema.quasi_identifiers].drop_duplicates()) == 149
    for table in (evaluation.measure_information_loss(data, [Identity()]), trade_off(data, [Identity()])):
        assert one(table, measure="classes").status == "withheld"
    for found in (evaluation.measure_linkage(data, [Identity()]), leakage(data, [Identity()])):
        row = one(found[found.measure.isin(["reidentification_rate", "identity_vulnerability"])])
        assert row.status == "withheld"
        assert [row.low, row.high] == pytest.approx([141 / 150, 149 / 150])


def test_k_is_counted_not_believed(adult):
    """A sanitizer that claims k = 7 and publishes the original is graded by its labels."""

    class Liar(Suppress):
        randomized = False

        def changed_params(self):
            return "k=7"

        def sanitize(self, dataset, *, rng):
            release = Identity().sanitize(dataset, rng=rng)
            return replace(release, provenance=replace(release.provenance, claims=(KAnonymity(7),)))

    costs = evaluation.measure_information_loss(adult, [Liar()])
    assert one(costs, measure="k_achieved").value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda d: evaluation.measure_good_utility(d, [KMember(5)], target="wait"),
            "has no attribute 'wait'; it has age",
        ),
        (lambda d: evaluation.measure_good_utility(d, [KMember(5)], target="age"), "'age' is a number"),
        (lambda d: evaluation.measure_good_utility(d, [], miners="linear regression"), "Add another miner to MINERS"),
        (lambda d: evaluation.measure_linkage(d, [KMember(5)], seeds=0), "seeds must be"),
    ],
)
def test_what_cannot_be_done_is_said(adult, call, message):
    with pytest.raises(ValueError, match=message):
        call(adult)


def test_links_beat_the_guess_where_records_stand_alone(adult):
    links = evaluation.measure_linkage(adult, [Identity(), Suppress(), KMember(10)])
    assert one(links, sanitizer="Suppress").value == pytest.approx(1 / len(adult))
    intact = one(links, sanitizer="Identity").value
    distinct = len(adult.table[adult.schema.quasi_identifiers].drop_duplicates())
    assert intact == pytest.approx(distinct / len(adult))
    assert (links.baseline == 1 / len(adult)).all()
    assert 1 / len(adult) < one(links, sanitizer="KMember").value < intact


def test_seeds_repeat_only_what_is_random(adult):
    results = evaluation.measure_linkage(adult, [KMember(50), LaplaceNoise(0.5)], seeds=3)
    assert results.groupby("sanitizer").seed.nunique().to_dict() == {"KMember": 1, "LaplaceNoise": 3}


def test_settings_do_not_share_their_noise(adult):
    """Scaled by epsilon, two settings' noise would be equal if they shared a seed."""
    noise = {}
    for sanitizer in parameters.build_sramka_sanitizers(epsilon="0.5, 0.1"):
        release = Case(adult, sanitizer, 1).release
        noise[sanitizer.epsilon] = (release.table.age - adult.table.age) * sanitizer.epsilon
    assert abs(np.corrcoef(noise[0.5], noise[0.1])[0, 1]) < 0.2


def test_people_by_counts_everybody(adult):
    assert evaluation.count_people(adult, "age").sum() == len(adult)
    assert evaluation.count_people(adult, "sex").to_dict() == adult.table.sex.value_counts().to_dict()
    assert evaluation.count_people(adult, "age").loc["35-39"] == adult.table.age.between(35, 39).sum()


# Repeats of good utility


@pytest.mark.slow
def test_good_utility_of_a_seed_is_that_of_the_reordered_table(adult):
    first, second = (
        evaluation.measure_good_utility(adult, [KMember(5)], miners="decision tree", seed=s) for s in (1, 2)
    )
    assert first[["sanitizer", "measure"]].equals(second[["sanitizer", "measure"]])
    assert set(second.seed) == {2}
    good = first.measure == "good_utility"
    assert (first.value != second.value)[good].all(), "other folds, and another start of the clustering"
    assert first.baseline.equals(second.baseline)
    again = evaluation.measure_good_utility(adult, [KMember(5)], miners="decision tree", seed=2)
    pd.testing.assert_frame_equal(again, second)


def test_the_first_seed_is_the_order_of_the_file(adult):
    assert evaluation.reorder_records(adult, 1) is adult
    other, third = (evaluation.reorder_records(adult, seed).table for seed in (2, 3))
    assert not other.equals(third)
    for table in (other, third):
        assert not table.equals(adult.table)
        assert sorted(table.itertuples(index=False)) == sorted(adult.table.itertuples(index=False))


def test_the_original_is_there_once(adult):
    results = evaluation.measure_good_utility(adult, [Identity(), Suppress()], miners="majority")
    assert results.groupby(["sanitizer", "measure"]).size().eq(1).all()
    assert list(results.sanitizer.unique()) == ["Identity", "Suppress"]


def test_the_baseline_is_the_commonest_value(adult):
    results = evaluation.measure_good_utility(adult, [KMember(5)], miners="majority")
    commonest = np.full(len(adult), adult.table.salary.mode()[0])
    assert set(results.baseline.dropna()) == {good_utility(commonest, adult.table.salary)}


@pytest.mark.parametrize("fails", ["Identity", "KMember"])
def test_a_miner_that_does_not_finish_is_named(adult, monkeypatch, fails):
    """On a release it has no row of utility; on the original there is nothing to compare any release with.

    Folds that no other test has: the original is mined once for all that ask the same.
    """
    real = GoodUtility.mined

    def mined(self, case):
        if type(case.sanitizer).__name__ == fails:
            return {"salary": Predictions({}, np.full(len(case.dataset), "<=50K"), {"slow": "unfinished"})}
        return real(self, case)

    monkeypatch.setattr(GoodUtility, "mined", mined)
    results = evaluation.measure_good_utility(adult, [KMember(5), Suppress()], miners="majority", folds=len(fails))
    failed = one(results, status="unfinished")
    assert (failed.sanitizer, failed.miner, failed.measure) == (fails, "slow", "good_utility")
    others = results[results.status != "unfinished"].groupby("sanitizer").size().to_dict()
    assert others == ({} if fails == "Identity" else {"Identity": 2, "Suppress": 2})


# Groups


def test_groups_of_a_number_are_equal_steps(adult):
    ages = evaluation.group_records(adult, "age")
    assert ages.cat.categories.tolist()[:2] == ["10-19", "20-29"]
    low, high = ages.str.split("-", expand=True).astype(int).to_numpy().T
    assert adult.table.age.between(low, high).all()
    assert evaluation.group_records(adult, "sex").equals(adult.table.sex)


@pytest.mark.parametrize(
    ("domain", "values", "labels"),
    [
        (Numbers(0, 1, 0.1), [0.0, 0.1, 0.3, 0.7], ["0", "0.1", "0.3", "0.7"]),
        (Numbers(0, 5), [0, 3, 5], ["0", "3", "5"]),
        (Numbers(-20, 20), [-20, -1, 0, 20], ["-20--16", "-5--1", "0-4", "20-24"]),
        (Numbers(0, 90, 3), [0, 9, 12, 15, 90], ["0-12", "0-12", "0-12", "15-27", "90-102"]),
        (Numbers(17, 57, 2), [17, 19, 21, 57], ["17-19", "17-19", "21-23", "57-59"]),
        (Numbers(0, 2_000_000), [0, 1_234_567], ["0-199999", "1200000-1399999"]),
    ],
)
def test_groups_hold_the_values_that_their_labels_say(domain, values, labels):
    attribute = Attribute("x", Role.NEUTRAL, domain)
    data = Dataset("x", pd.DataFrame({"x": values}), Schema("x", (attribute,)), {})
    assert evaluation.group_records(data, "x").tolist() == labels
