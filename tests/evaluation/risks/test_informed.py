"""The risks of an adversary who knows the algorithm: next to the naive ones, and the reasons why there is no attack."""

from functools import partial

import numpy as np
import pytest

from privnb.attacks import Minimality
from privnb.datasets.dataset import load
from privnb.evaluation.evaluation_loop import Case, answer_case
from privnb.evaluation.risks import informed
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.informed import ATTRIBUTE, CERTAIN, MEASURES, InformedAdversary, Knowledge
from privnb.measures.disclosure.conclusions import Conclusions
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.sanitizers import Anatomy, KMember, LaplaceNoise, LocalRecoding, Mondrian

JOB = "occupation"
TWO = DistinctDiversity(2, JOB)


@pytest.fixture(scope="module")
def case():
    return Case(load("adult", "li-li", records=3000), Mondrian(TWO), 1)


def ask(case, *questions):
    """The numbers about everybody, by measure and variant."""
    rows = [row for question in questions for row in answer_case(question, case).to_dict("records")]
    return {(row["measure"], row["variant"]): row for row in rows if not row["group"]}


def test_values_are_certain_to_somebody_who_knows_where_the_algorithm_stops(case):
    found = ask(case, AttributeRisk(JOB), Certainty(JOB), InformedAdversary(JOB))
    table, register = case.dataset.table, case.dataset.table[case.dataset.schema.quasi_identifiers]
    attack = Minimality(JOB).given(case.sanitizer, register, rng=1).fit(case.published[0])
    certain = attack.certain(table)
    assert found["made_certain", ""]["value"] == 0 < certain.sum()
    assert found[CERTAIN, ""]["value"] == pytest.approx(certain.mean())
    without = found["guessed_without_them", ""]["value"]
    right = (attack.predict(table) == table[JOB].astype(str)).mean()
    assert found[ATTRIBUTE, ""]["value"] == pytest.approx(right - without, abs=0.005), "ties count by their chance"
    assert found["attribute_risk", "largest"]["value"] < found[ATTRIBUTE, "largest"]["value"] == 1
    assert {row["miner"] for (measure, _), row in found.items() if measure in MEASURES} == {"minimality"}


def test_estimates_are_not_certain(case):
    table = case.dataset.table
    attack = informed.choose_attack(case, JOB)
    posterior, exact = attack.posterior(table), attack.exact_posterior(table)
    is_estimate = (posterior != exact).any(axis=1)
    assert is_estimate.any()
    assert np.allclose(exact[is_estimate], attack.groups.share(table)[is_estimate])


def test_a_share_that_differs_from_the_naive_one_by_few_people_is_withheld(case):
    n = len(case.dataset)
    before, ones, nobody = np.arange(n) < 100, np.ones(n), np.zeros(n, dtype=bool)
    for further, shown in ((0, 100 / n), (5, np.nan), (10, 110 / n)):
        certain = np.arange(n) < 100 + further
        naive = Conclusions(before, before, n / 2)
        found = Knowledge(ones / 2, ones, ones, np.arange(n), certain, nobody)
        row = informed._build_certain_row(partial(case.row, CERTAIN, target=JOB), case, naive, found, before, certain)
        assert row["value"] == pytest.approx(shown, nan_ok=True)
        if further == 5:
            assert (row["low"], row["high"]) == pytest.approx((101 / n, 109 / n))


def test_all_buckets_together_reveal_more_than_each_bucket_alone(case):
    found = ask(Case(case.dataset, Anatomy(3, JOB), 1), AttributeRisk(JOB), Certainty(JOB), InformedAdversary(JOB))
    assert found[ATTRIBUTE, ""]["low"] > found["attribute_risk", ""]["high"]
    assert found[ATTRIBUTE, ""]["miner"] == "deFinetti"
    assert found[CERTAIN, ""]["value"] == found["made_certain", ""]["value"]


@pytest.mark.parametrize(
    ("sanitizer", "status", "reason"),
    [
        (KMember(5), "refused", "no informed attack on k-member"),
        (LaplaceNoise(1.0), "refused", "no informed attack on Laplace"),
        (Mondrian(KAnonymity(5)), "refused", "do not count 'occupation'"),
        (Mondrian(TWO, split_point="middle"), "unavailable", "not known which cuts"),
        (LocalRecoding(TWO), "unavailable", "not known which finer partitions"),
    ],
    ids=repr,
)
def test_a_release_without_an_attack_states_the_reason(sanitizer, status, reason):
    found = answer_case(InformedAdversary(JOB), Case(load("adult", "li-li", records=200), sanitizer, 1))
    assert found.measure.tolist() == [*MEASURES]
    assert set(found.status) == {status}
    assert found.reason.str.contains(reason).all()
    assert found.value.isna().all()


def test_a_release_of_too_many_classes_is_unknown_and_not_attacked(case, monkeypatch):
    monkeypatch.setattr(informed, "PAIRS", 10)
    (row, *_) = answer_case(InformedAdversary(JOB), case).to_dict("records")
    assert row["status"] == "unavailable"
    assert "Attack a sample" in row["reason"]
