"""Membership: copies that tell everything, releases that tell nothing, false alarms; `test_every_release` has the
densities."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support import person_key
from support.questions import risks

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks import membership
from privnb.evaluation.risks.membership import (
    MembershipRisk,
    bound_advantage,
    choose_threshold,
    score_members,
    split_people,
)
from privnb.evaluation.risks.scores import GroupDifference
from privnb.microdata.hierarchy import Ranges
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import (
    Identity,
    KMember,
    Microaggregation,
    Mondrian,
    Suppress,
)


def test_a_copy_of_different_records_tells_everything():
    visits = person_key.dataset(person_key.table(200).drop_duplicates(["age", "sex", "town", "ill", "ward"]))
    one = visits.table.drop_duplicates("patient").head(150)
    alone = person_key.dataset(one)
    scores = MembershipRisk().scores(Case(alone, Identity(), 1))
    assert bound_advantage(alone, *split_people(alone, 1)) == pytest.approx(1)
    assert scores.risk[0] == pytest.approx(1)
    assert scores.risk[1] > 0.8


def test_a_copy_comes_near_the_ceiling_that_equal_records_set():
    adult = load("adult", "li-li", records=6000)
    value = MembershipRisk().scores(Case(adult, Identity(), 1)).risk[0]
    ceiling = bound_advantage(adult, *split_people(adult, 1))
    assert 0.85 * ceiling <= value <= ceiling + 0.03


@pytest.mark.slow
def test_what_tells_nothing_keeps_zero_within_its_interval_as_often_as_it_says():
    """The interval is of 95%. Of 20 releases of people who are neither members nor asked about, and 20 without a
    quasi-identifier, more than 5 of each miss 0 in about 3 of 10,000 series."""
    adult = load("adult", "li-li", records=1500)
    missed = {"others": 0, "suppressed": 0}
    for seed in range(1, 21):
        order = np.random.default_rng(seed).permutation(1500)
        members, others, released = np.sort(order[:500]), np.sort(order[500:1000]), np.sort(order[1000:])
        release = Identity().sanitize(_part(adult, released), rng=seed)
        hidden = Suppress().sanitize(_part(adult, members), rng=seed)
        for kind, each in (("others", release), ("suppressed", hidden)):
            _, low, high, _ = score_members(adult, each, members, others, seed).risk
            missed[kind] += not low <= 0 <= high
    assert max(missed.values()) <= 5
    scores = score_members(adult, Identity().sanitize(_part(adult, members), rng=1), members, others, 1)
    assert scores.risk[1] > 0.3, "and the members' own records are told"


def _part(dataset, records):
    return replace(dataset, table=dataset.cells.iloc[records])


def test_the_ceiling_is_the_total_variation_of_what_people_publish():
    visits = person_key.dataset(person_key.table(80))
    members, others = split_people(visits, 1)
    published = visits.table[visits.schema.published].astype(str).agg("|".join, axis=1)
    signs = published.groupby(visits.people).agg(lambda own: tuple(sorted(own)))
    shares = [signs.iloc[who].value_counts(normalize=True) for who in (members, others)]
    both = pd.concat(shares, axis=1).fillna(0).to_numpy()
    assert bound_advantage(visits, members, others) == pytest.approx(np.abs(both[:, 0] - both[:, 1]).sum() / 2)
    assert len({*members} | {*others}) == visits.headcount


def test_the_threshold_is_the_best_of_all():
    rng = np.random.default_rng(3)
    for _ in range(20):
        ratio, member = rng.integers(0, 6, 40).astype(float), rng.random(40) < 0.5
        rates = {
            cut: (ratio >= cut)[member].mean() - (ratio >= cut)[~member].mean() for cut in [*np.unique(ratio), np.inf]
        }
        found = choose_threshold(ratio, member)
        assert found.advantage == pytest.approx(rates[found.ratio])
        assert found.advantage == pytest.approx(max(rates.values()))


@pytest.mark.slow
def test_groups_and_people_of_several_records():
    adult = load("adult", "li-li", records=1500)
    case = Case(adult, Mondrian(KAnonymity(5)), 1)
    scores = MembershipRisk().scores(case)
    women = (adult.table.sex == "Female").to_numpy()[scores.people]
    found = risks(adult, [case.sanitizer])
    of = found[(found.measure == "membership_risk") & (found.variant == "")].set_index("group").value
    rates = [scores.chance[women & kind].mean() for kind in (scores.member, ~scores.member)]
    assert of["sex: Female"] == pytest.approx(rates[0] - rates[1])
    assert of[""] == pytest.approx(scores.chance[scores.member].mean() - scores.chance[~scores.member].mean())
    visits = person_key.dataset(person_key.table(120))
    told_of = MembershipRisk().scores(Case(visits, Identity(), 1))
    assert len(np.unique(told_of.people)) == len(told_of.people)
    assert set(told_of.people[told_of.member]) == set(split_people(visits, 1)[0])


def test_a_group_without_some_of_either_kind_is_withheld():
    member = np.r_[np.ones(30, dtype=bool), np.zeros(5, dtype=bool)]
    scores = GroupDifference(np.ones(35), np.zeros(35), np.arange(35), gain=True, worst=False, member=member)
    assert scores._tells(np.ones(35, dtype=bool), 10)
    assert not scores._tells(np.ones(35, dtype=bool), 5)


def test_what_half_of_the_people_cannot_give_is_refused():
    adult = load("adult", "li-li", records=60)
    found = risks(adult, [KMember(40)])
    row = found[found.measure == "membership_risk"].iloc[0]
    assert row.status == "refused"
    assert "a random half" in row.reason
    with pytest.raises(Unreadable, match="too few people"):
        score_members(adult, Identity().sanitize(adult, rng=0), np.arange(3), np.arange(3, 60), 1)


def test_the_same_people_are_members_for_all_releases_of_a_seed():
    adult = load("adult", "li-li", records=60)
    assert (
        split_people(adult, 1)[0].tolist() == split_people(adult, 1)[0].tolist() != split_people(adult, 2)[0].tolist()
    )
    asked = [MembershipRisk().scores(Case(adult, each, 1)).people.tolist() for each in (Identity(), Suppress())]
    assert asked[0] == asked[1]
    assert membership.MAX_PEOPLE >= 1000


def test_columns_that_are_true_tell_of_members_whatever_the_averages_beside_them():
    rng = np.random.default_rng(1)
    numbers = Numbers(0, 1_000_000)
    attributes = Attribute("income", Role.QUASI_IDENTIFIER, numbers), Attribute("bill", Role.NEUTRAL, numbers)
    table = pd.DataFrame({"income": rng.integers(0, 1_000_000, 400), "bill": rng.permutation(400) * 2_000})
    bills = Dataset("bills", table, Schema("bills", attributes), {"income": Ranges(numbers)})
    release = Microaggregation(200).sanitize(bills, rng=1)
    assert release.columns["bill"].kind == "exact"
    assert MembershipRisk().scores(Case(bills, Microaggregation(200), 1)).risk[0] > 0.95
