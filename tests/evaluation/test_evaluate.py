"""One way to results: each release is made once, a stranger's measure and attack need no other line."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import evaluation
from privnb.attacks import DistanceLinkage, Linkage, MinerInference
from privnb.attacks.base import Attack
from privnb.datasets.dataset import load
from privnb.evaluation import evaluate, evaluation_loop
from privnb.evaluation.disclosure.disclosures import Disclosure
from privnb.evaluation.disclosure.nearer_predictions import NearerPredictions
from privnb.evaluation.disclosure.predicted_gains import PredictedGains
from privnb.evaluation.evaluation_loop import AttackQuestion, Question
from privnb.evaluation.release_measures import AdversaryGains, InformationLoss
from privnb.evaluation.results import COLUMNS, KEY_COLUMNS, join_results
from privnb.evaluation.utility.good_utility import UserUtility, _score_original
from privnb.evaluation.utility.workload import WorkloadGain, _find_base
from privnb.measures.base import measure
from privnb.measures.intervals import wilson
from privnb.measures.utility.information_loss import discernibility
from privnb.microdata.treatment import Unreadable
from privnb.miners import reference_set
from privnb.sanitizers import Anatomy, Identity, KMember, LaplaceNoise, SanitizationError, Suppress

FOUND = ["measure", "value", "status"]


@measure(kind="privacy", better="lower", bounds=(0, 1))
def homogeneous(release, sensitive):
    if release.classes is None:
        raise Unreadable("there are no classes")
    classes, values = release.by_class(sensitive)
    return float((pd.Series(np.asarray(values)).groupby(np.asarray(classes)).nunique() == 1).mean())


@measure(kind="utility", better="higher", bounds=(0, 1))
def kept_cells(dataset, release):
    names = dataset.schema.quasi_identifiers
    same = (release.table[names].astype(str).to_numpy() == dataset.table[names].astype(str).to_numpy()).mean()
    return float(same), max(0.0, float(same) - 0.1), min(1.0, float(same) + 0.1)


@dataclass(frozen=True)
class Commonest(Attack):
    """Says of everybody the most common published value, with the release and without it."""

    target: str
    supported_treatments = ("exact", "generalized", "suppressed", "noisy")

    def predict(self, known):
        assert self.target not in known, "nobody is told the answer"
        return self.baseline(known)

    def baseline(self, known):
        return np.full(len(known), self.published.table[self.target].mode()[0], dtype=object)

    def truth(self, dataset):
        return dataset.table[self.target].to_numpy()


@pytest.fixture(scope="module")
def people():
    return load(CLINIC)


def one(results, **where):
    for column, wanted in where.items():
        results = results[results[column] == wanted]
    assert len(results) == 1, results
    return results.iloc[0]


def test_a_strangers_measure_is_asked_of_each_release(people):
    found = evaluate(people, [Identity(), KMember(5), LaplaceNoise(1)], measures=[homogeneous, kept_cells], seeds=2)
    assert list(found) == COLUMNS
    assert not found.duplicated(KEY_COLUMNS).any()
    intact = one(found, sanitizer="Identity", measure="kept_cells")
    assert (intact.value, intact.low, intact.high, intact.better) == (1, 0.9, 1, "higher")
    by_hand = homogeneous(KMember(5).sanitize(people, rng=1), "diagnosis")
    classes = one(found, sanitizer="KMember", measure="homogeneous")
    assert (classes.value, classes.target, classes.parameter, classes.bound) == (by_hand, "diagnosis", "k", 5)
    noise = found[(found.sanitizer == "LaplaceNoise") & (found.measure == "homogeneous")]
    assert noise.seed.tolist() == [1, 2], "noise is repeated, and nothing else"
    assert noise.status.tolist() == ["refused"] * 2
    assert noise.value.isna().all()


def test_a_strangers_attack_is_counted_in_people(people):
    found = evaluate(people, [KMember(5), Anatomy(2, "diagnosis")], attacks=[Commonest("diagnosis")])
    row, right = one(found, sanitizer="KMember"), people.table.diagnosis.value_counts().max()
    assert (row.measure, row.miner, row.target, row.better) == ("guessed_right", "Commonest", "diagnosis", "lower")
    assert row.value == row.baseline == right / len(people)
    assert (row.low, row.high) == wilson(int(right), len(people))
    assert one(found, sanitizer="Anatomy").status == "refused", "it reads no buckets"


WRONG = {
    "nobody": lambda m: None,
    "a scalar": lambda m: "flu",
    "too few": lambda m: np.full(3, "flu", dtype=object),
    "only None": lambda m: np.full(m, None),
    "only NaN": lambda m: np.full(m, np.nan),
    "numbers for text": lambda m: np.ones(m, dtype=int),
    "outside the domain": lambda m: np.full(m, "no such diagnosis", dtype=object),
}


@pytest.mark.parametrize(
    ("method", "wrong"),
    [(method, wrong) for method in ("predict", "baseline") for wrong in WRONG]
    + [("truth", wrong) for wrong in list(WRONG)[:-1]],  # what an attack is right about need not be the column itself
)
def test_an_attack_that_can_never_be_right_is_no_safety(people, method, wrong, monkeypatch):
    monkeypatch.setattr(Commonest, method, lambda self, given: WRONG[wrong](len(given)))
    with pytest.raises(ValueError, match=r"^Commonest\(target='diagnosis'\): (predict|baseline|truth) "):
        evaluate(people, [KMember(5)], attacks=[Commonest("diagnosis")])


@pytest.mark.parametrize("wrong", [None, 0.5, np.float64(0.5), np.zeros(3), np.full(300, np.nan)])
def test_a_linkage_says_of_each_person_how_likely_it_finds_them(people, wrong, monkeypatch):
    for method in ("chance", "ranks"):
        with monkeypatch.context() as patch:
            patch.setattr(DistanceLinkage, method, lambda self, known, rows: wrong)
            with pytest.raises(ValueError, match=rf"^DistanceLinkage\(.*: {method} must be .* of 300 finite numbers"):
                evaluate(people, [Identity()], attacks=[DistanceLinkage()])


def test_an_attack_may_guess_of_some_people_alone_and_as_the_release_writes_it(people, monkeypatch):
    asked = {"attacks": [Commonest("diagnosis")]}
    everybody = one(evaluate(people, [KMember(5)], **asked))
    real = Commonest.baseline
    half = np.arange(len(people)) % 2 == 0
    monkeypatch.setattr(Commonest, "predict", lambda self, known: np.where(half, real(self, known), None))
    some = one(evaluate(people, [KMember(5)], **asked))
    assert 0 < some.value < everybody.value
    labels = MinerInference(reference_set("majority")[0], "age", ("ward",))
    assert one(evaluate(people, [KMember(5)], attacks=[labels])).value == 0, "labels are no ages, and are guesses"


def test_attacks_by_several_miners_have_rows_of_their_own(people):
    miners = reference_set("majority, naive Bayes")
    found = evaluate(people, [KMember(5)], attacks=[MinerInference(miner, "diagnosis") for miner in miners])
    assert found.miner.tolist() == ["majority", "naive Bayes"]
    assert one(found, miner="majority").value == one(found, miner="majority").baseline


def test_an_attack_that_tells_few_is_withheld(people):
    few = people.sample(12, rng=1)
    row = one(evaluate(few, [Suppress()], attacks=[Commonest("diagnosis")]))
    assert np.isnan(row.value)
    assert row.status == "withheld"


def test_each_release_is_made_once(people, monkeypatch):
    made = []
    real = KMember.sanitize
    monkeypatch.setattr(
        KMember, "sanitize", lambda self, *given, **options: made.append(self) or real(self, *given, **options)
    )
    asked = {
        "attacks": [Linkage(), Commonest("diagnosis")],
        "measures": [InformationLoss(), AdversaryGains("diagnosis"), discernibility],
    }
    found = evaluate(people, [KMember(5), KMember(10)], **asked)
    assert made == [KMember(5), KMember(10)]
    alone = join_results(
        evaluation.measure_information_loss(people, [KMember(5)]),
        evaluation.measure_adversary_gains(people, [KMember(5)]),
    )
    same = found[(found.parameters == "k=5") & found.measure.isin(alone.measure)].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, alone)


def test_what_is_not_possible_says_so(people):
    asked = {
        "attacks": [Commonest("diagnosis"), Linkage()],
        "measures": [discernibility, InformationLoss(), AdversaryGains("diagnosis")],
    }
    found = evaluate(people, [KMember(10**6)], **asked)
    assert found.measure.tolist() == [
        "guessed_right", "reidentification_rate", "discernibility", "certainty_penalty", "accuracy_gain"
    ]  # fmt: skip
    assert found.status.eq("not possible").all()
    assert found.value.isna().all()
    assert found.reason.str.contains(r"KMember\(k=1000000.* cannot be reached: the table has 300 records").all()
    with pytest.raises(SanitizationError, match="cannot be reached"):
        evaluation.measure_information_loss(people, [KMember(10**6)])


def test_a_question_that_cannot_be_asked_of_a_release_says_why(people):
    """Whichever question it is, and the others have their answers."""
    found = evaluate(people, [LaplaceNoise(1)], measures=[InformationLoss(), AdversaryGains("diagnosis"), homogeneous])
    refused = found[found.status == "refused"]
    assert refused.measure.tolist() == ["accuracy_gain", "homogeneous"]
    assert refused.reason.tolist()[1] == "there are no classes"
    assert (refused.reason != "").all()
    assert (found.reason[found.status == ""] == "").all()
    assert (found.status == "").any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "seeds"),
    [
        (NearerPredictions("age", "majority"), {1, 2}),
        (PredictedGains("age", "diagnosis", "majority"), {1, 2}),
        (Disclosure("diagnosis", miners="majority"), {1, 2}),
        (Disclosure("diagnosis"), {1}),
    ],
)
def test_what_miners_learn_is_asked_of_each_seed(people, question, seeds):
    """Of a release without noise too: its records come to them in another order."""
    assert set(evaluate(people, [Suppress()], attacks=[question], seeds=2).seed) == seeds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "of_the_dataset"),
    [
        (UserUtility("diagnosis", "majority", 2), _score_original),
        (WorkloadGain("diagnosis", "majority", "all", 2), _find_base),
    ],
)
def test_what_is_mined_of_the_dataset_is_kept_for_the_next_sanitizer(people, question, of_the_dataset):
    of_the_dataset.cache_clear()
    evaluate(people, [KMember(5), Suppress()], measures=[question], seeds=9)
    made = of_the_dataset.cache_info()
    assert (made.misses, made.hits) == (9, 9)


def test_with_a_store_nothing_is_made_twice(people, tmp_path):
    """Real workers; and what another caller asked for alone is there."""
    asked = {"attacks": [Linkage()], "measures": [InformationLoss(), discernibility], "seeds": 2}
    sanitizers = [KMember(5), LaplaceNoise(1)]
    first = evaluate(people, sanitizers, store=tmp_path, **asked)
    pd.testing.assert_frame_equal(first, evaluate(people, sanitizers, **asked))
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.result")}
    assert len(kept) == 3 * 3, "three questions of one release and of two noisy ones"
    again = evaluate(people, sanitizers, attacks=[Linkage()], store=tmp_path)
    assert again.equals(first[(first.measure == "reidentification_rate") & (first.seed == 1)].reset_index(drop=True))
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.result")} == kept


def test_an_answer_is_of_the_release_of_these_very_parameters(people):
    """1 equals 1.0, and draws other noise; the store keeps them apart."""
    for sanitizer in (LaplaceNoise(1), LaplaceNoise(1.0)):
        alone = evaluate(people, [sanitizer], measures=[InformationLoss()])
        pd.testing.assert_frame_equal(evaluation_loop.answer_question(people, sanitizer, 1, InformationLoss()), alone)


def test_what_cannot_be_asked_is_refused(people):
    def queried(release, queries):
        return 0.0

    for asked, message in (
        ({}, "there is nothing to evaluate. Give attacks, measures, or both"),
        (
            {"measures": [queried]},
            "queried must take no arguments but `release`, `dataset` and `sensitive`; got also queries",
        ),
        ({"measures": [discernibility], "seeds": 0}, "seeds"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate(people, [KMember(5)], **asked)
    for asked, message in (
        (
            {"attacks": [Commonest]},
            r"attacks\[0\] must be a Attack or Question; got the class .*such as Linkage",
        ),
        ({"attacks": "Linkage"}, r"attacks\[0\] must be a Attack or Question; got 'Linkage'\. Give a list"),
        ({"measures": [3]}, r"measures\[0\] must be a function or Question; got 3\. Give functions, not their names"),
        ({"measures": ["kept_cells"]}, r"measures\[0\] must .* got 'kept_cells'\. .* not their names, such as"),
        ({"measures": "kept_cells"}, r"measures\[0\] must be a function or Question; got 'kept_cells'\."),
    ):
        with pytest.raises(TypeError, match=message):
            evaluate(people, [KMember(5)], **asked)
    with pytest.raises(
        ValueError, match=r"<lambda> does not state `kind`, `better` or `bounds`. Mark the function with `@measure"
    ):
        evaluate(people, [KMember(5)], measures=[lambda release: 0.5])
    assert issubclass(AttackQuestion, Question)


@measure(kind="privacy", better="lower", bounds=(0, 1))
def failing(release):
    return {}["nothing"]


@pytest.mark.parametrize("stored", [False, True])
def test_an_error_says_what_was_asked_of_which_release(people, stored, tmp_path, monkeypatch):
    asked = {"store": str(tmp_path / "store") if stored else "", "seeds": 2}
    with pytest.raises(KeyError) as caught:
        evaluate(people, [LaplaceNoise(1)], measures=[failing], **asked)
    release = r"about the release of LaplaceNoise(epsilon=1, sensitivity=None) with seed 1."
    assert caught.value.__notes__[0] == f"This was the measure failing, {release}"
    assert len(caught.value.__notes__) == 1 + stored, "and the place of the task"
    monkeypatch.setattr(Commonest, "predict", lambda self, known: self.nothing)
    with pytest.raises(AttributeError) as caught:
        evaluate(people, [LaplaceNoise(1)], attacks=[Commonest("diagnosis")])
    assert caught.value.__notes__ == [f"This was the attack Commonest(target='diagnosis'), {release}"]


def test_with_a_store_noise_of_a_stated_sensitivity_is_measured_as_without(people, tmp_path):
    noise = [LaplaceNoise(1.0, {"age": 82})]
    kept = evaluate(people, noise, attacks=[Linkage()], store=tmp_path / "store")
    pd.testing.assert_frame_equal(kept, evaluate(people, noise, attacks=[Linkage()]))
