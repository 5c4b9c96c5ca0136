"""Linkability and anti-utility: recomputed by plain loops, closed forms, refusals."""

from functools import partial

import numpy as np
import plain
import pytest
from support import person_key
from support.questions import anti_utility, risks

from privnb.attacks import MinerInference
from privnb.datasets.dataset import load
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks import linkability
from privnb.evaluation.risks.anti_utility import AntiUtilityRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.sanitizer_family import build_family
from privnb.measures.utility import mining
from privnb.microdata.treatment import Rows, Unreadable
from privnb.miners import reference_set, select_able
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import (
    MASK,
    Anatomy,
    Identity,
    KMember,
    LaplaceNoise,
    LatinHypercube,
    Mondrian,
    Rounding,
    Sampling,
    Suppress,
)

PARTS = ("age", "race", "sex"), ("education", "marital-status")


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=60)


@pytest.mark.parametrize(
    "sanitizer",
    [Identity(), KMember(5), LaplaceNoise(20.0), Rounding(), Sampling(0.5), LatinHypercube(), Suppress()],
    ids=lambda each: type(each).__name__,
)
def test_linkability_is_what_loops_over_the_table_find(adult, sanitizer):
    case = Case(adult, sanitizer, 1)
    release = case.release
    scores = LinkabilityRisk(PARTS).scores(case)
    first, second = (
        [set(plain.fitting(release, adult.table.iloc[person], part)) for person in scores.people] for part in PARTS
    )
    pairs = np.array([[len(a & b) / max(len(a) * len(b), 1) for b in second] for a in first])
    m = len(pairs)
    assert scores.chance == pytest.approx(np.diag(pairs))
    assert scores.before == pytest.approx((pairs.sum(axis=1) - np.diag(pairs)) / (m - 1))


def test_parts_that_name_a_person_each_are_always_joined_and_hidden_ones_never():
    """Every age is its own and so is every town: each part leads to one row, the same."""
    table = person_key.table(80).drop_duplicates("patient").reset_index(drop=True)
    table = table.head(40).assign(age=np.arange(40), town=np.array(list("abcde"))[np.arange(40) % 5])
    data = person_key.dataset(table)
    ages = (("age",), ("age", "town"))
    assert LinkabilityRisk(ages).scores(Case(data, Identity(), 1)).risk[0] == pytest.approx(1)
    hidden = LinkabilityRisk(ages).scores(Case(data, Suppress(), 1))
    assert hidden.chance == pytest.approx(1 / 40)
    assert hidden.risk[0] == pytest.approx(hidden.risk[3])


def test_parts_are_dealt_from_the_attribute_that_tells_most(adult):
    dealt = linkability.split_attributes(adult, Case(adult, Identity(), 1).release)
    telling = linkability._measure_information(adult)
    order = [name for pair in zip(*dealt, strict=False) for name in pair]
    assert [telling[name] for name in order] == sorted(telling.values(), reverse=True)[: len(order)]
    assert sorted([*dealt[0], *dealt[1]]) == sorted(adult.schema.published)
    assert 0 <= len(dealt[0]) - len(dealt[1]) <= 1
    held = linkability.split_attributes(adult, Case(adult, Anatomy(2, "occupation"), 1).release)
    assert "occupation" not in {*held[0], *held[1]}


@pytest.mark.slow
def test_at_most_so_many_are_asked_about_and_people_with_several_records_once(monkeypatch):
    monkeypatch.setattr(linkability, "MAX_PEOPLE", 25)
    visits = person_key.dataset(person_key.table(60))
    case = Case(visits, Identity(), 1)
    scores = LinkabilityRisk().scores(case)
    assert len(scores.people) == 25
    assert len(np.unique(scores.people)) == 25
    again = LinkabilityRisk().scores(Case(visits, Suppress(), 1))
    assert scores.people.tolist() == again.people.tolist()
    first, second = linkability.split_attributes(visits, case.release)
    for person, chance in zip(scores.people[:5], scores.chance[:5], strict=True):
        best = 0.0
        for record in np.flatnonzero(visits.people == person):
            known = visits.table.iloc[record]
            fit = [set(plain.fitting(case.release, known, part)) for part in (first, second)]
            best = max(best, len(fit[0] & fit[1]) / (len(fit[0]) * len(fit[1])))
        assert chance == pytest.approx(best)


@pytest.mark.slow
def test_anti_utility_counts_whom_a_miner_comes_nearer_to_beyond_the_bare_guess():
    adult, compared = load("adult", "li-li", records=500), 0
    for sanitizer in (KMember(10), LaplaceNoise(1.0)):
        case = Case(adult, sanitizer, 1)
        scores, who = AntiUtilityRisk("age").scores(case)
        full = anti_utility(adult, sanitizer, miners=who, target="age", min_count=2)
        [row] = full[(full.scenario == "A") & (full.variant == "") & (full.miner == who)].itertuples()
        compared += np.isfinite([row.value, row.baseline]).sum()
        if np.isfinite(row.value):
            assert scores.chance.sum() == row.value
        if np.isfinite(row.baseline):
            assert scores.before.sum() == row.baseline
        release, name = case.release, "age"
        judged = partial(mining.nearer, c=0, hierarchy=adult.hierarchies[name])
        assert not judged(
            release.table[name].to_numpy(),
            release.table[name].to_numpy(),
            adult.table[name],
        ).any()
    assert compared, "else this checks nothing"


@pytest.mark.slow
def test_anti_utility_is_what_loops_over_people_find_in_every_release_of_the_family(adult):
    """The attack guesses from what is published and known of people; loops say of whom it is nearer."""
    question, found = AntiUtilityRisk("age"), {}
    middle, others = adult.schema["age"].domain.middle, [name for name in adult.schema.published if name != "age"]
    for sanitizer in build_family(adult, k="3", l="2", t="0.4", delta="2", epsilon="1"):
        case = Case(adult, sanitizer, 1)
        release = case.release
        kind = found[repr(sanitizer)] = (
            "of nobody" if release.provenance.rows is Rows.SYNTHETIC else release.columns["age"].kind
        )
        if kind == "of nobody":
            with pytest.raises(Unreadable, match="guesses cannot be compared with the record of each row"):
                question.scores(case)
            continue
        scores, who = question.scores(case)
        if kind == "exact":
            assert not scores.chance.any()
            assert not scores.before.any()
            continue
        published, _ = release._published(case.stream("publish"))
        guessed = {}
        for miner in select_able(reference_set(question.miners), release.table["age"])[0]:
            attack = MinerInference(miner, "age").fit(published)
            guessed[miner.name] = plain.nearer(adult, release, "age", attack.predict(release.table[others]))
        bare = f"{middle:g}" if isinstance(release.table["age"].iloc[0], str) else middle
        assert scores.chance.tolist() == guessed[who]
        assert sum(guessed[who]) == max(map(sum, guessed.values()))
        assert scores.before.tolist() == plain.nearer(adult, release, "age", [bare] * len(adult))
    assert {"exact", "suppressed", "generalized", "noisy", "perturbed", "of nobody"} == {*found.values()}


def test_nothing_is_nearer_than_what_was_released_as_it_is():
    adult = load("adult", "li-li", records=500)
    for sanitizer in (Identity(), Anatomy(2, "occupation"), Sampling(0.5)):
        scores, who = AntiUtilityRisk("age").scores(Case(adult, sanitizer, 1))
        assert who == ""
        assert scores.risk[0] == scores.risk[3] == 0
        assert scores.risk[1] < 0 < scores.risk[2]


def test_what_cannot_be_measured_is_refused(adult):
    found = risks(adult, [MASK(1.0), LatinHypercube()])
    status = found[found.group == ""].set_index(["sanitizer", "measure"]).status
    assert status["MASK", "linkability_risk"] == "refused"
    assert status["LatinHypercube", "anti_utility_risk"] == "refused"
    assert status["LatinHypercube", "linkability_risk"].iloc[0] == ""
    with pytest.raises(Unreadable, match="two parts need at least two attributes"):
        linkability.split_attributes(person_key.dataset(person_key.table(60)), _Rows())


class _Rows:
    cells = ("age",)


def test_a_risk_of_no_attribute_is_refused_and_no_zero():
    adult = load("adult", "li-li", records=60)
    case = Case(adult, Mondrian(KAnonymity(5)), 1)
    with pytest.raises(Unreadable, match="no quasi-identifier to predict"):
        AntiUtilityRisk("").rows(case)
    with pytest.raises(Unreadable, match="has no column"):
        AntiUtilityRisk("no such").rows(case)
