"""Estimators of scikit-learn's kind as miners: cloned, seeded, named, guarded, and part of what a store knows."""

import re
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from privnb.attacks import MinerInference
from privnb.evaluation import evaluate
from privnb.evaluation.disclosure.disclosures import Disclosure
from privnb.evaluation.disclosure.nearer_predictions import NearerPredictions
from privnb.evaluation.disclosure.predicted_gains import PredictedGains
from privnb.evaluation.disclosure.published_models import attack_published_models
from privnb.evaluation.evaluation_loop import answer_question
from privnb.evaluation.experiments.users_and_adversaries import evaluate_adversaries, evaluate_gains, evaluate_users
from privnb.evaluation.predictions import predict_cross_validated, predict_in_sample
from privnb.evaluation.risks.anti_utility import AntiUtilityRisk
from privnb.evaluation.store import Store
from privnb.evaluation.utility.good_utility import measure_good_utility
from privnb.evaluation.utility.utilities import AntiUtility, GoodUtility
from privnb.evaluation.utility.workload import WorkloadGain, WorkloadUtility
from privnb.miners import Miner, reference_set
from privnb.miners.miner import Failed
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.sanitizers import LaplaceNoise, Mondrian
from privnb.testing.sanitizers import toy

DATA = toy(120)
MONDRIAN = Mondrian(10)
PIPELINE = make_pipeline(StandardScaler(), LogisticRegression())


class Breaks(ClassifierMixin, BaseEstimator):
    """Raise an error that quotes a record, in learning or in predicting, if the records are not invented ones."""

    def __init__(self, when="fit"):
        self.when = when

    def fit(self, features, target):
        if self.when == "fit" and features.max() > 1:
            raise ZeroDivisionError("somebody has gout")
        return self

    def predict(self, features):
        if self.when == "predict" and features.max() > 1:
            raise ZeroDivisionError("somebody has gout")
        return {
            "short": np.zeros(3),
            "text": np.full(len(features), "gout"),
            "unknown": np.full(len(features), 99),
            "half": np.full(len(features), 0.5),
        }[self.when]


class Endless(RegressorMixin, BaseEstimator):
    def fit(self, features, target):
        return self

    def predict(self, features):
        return np.full(len(features), np.inf)


class FewLabels(GaussianNB):
    """Fail on a fold with all four diseases, as an estimator may that one fold does not suit."""

    calls = 0

    def fit(self, features, target):
        type(self).calls += 1
        if type(self).calls % 3 == 2:
            raise ValueError("this fold does not suit")
        return super().fit(features, target)


def test_an_estimator_is_cloned_seeded_and_named():
    forest = RandomForestClassifier(3)
    [first, second, third] = reference_set(["majority", forest, PIPELINE])
    assert [each.name for each in (first, second, third)] == [
        "majority",
        "RandomForestClassifier",
        "LogisticRegression",
    ]
    assert (second.regressor, third.regressor) == (None, None)
    assert second.classifier.estimator is not forest
    assert (second.classifier.estimator.random_state, forest.random_state) == (0, None)
    assert third.classifier.estimator.get_params()["logisticregression__random_state"] == 0
    assert reference_set(RandomForestClassifier(3, random_state=7))[0].classifier.estimator.random_state == 7
    [number] = reference_set(Ridge())
    assert (number.classifier, number.regressor is None) == (None, False)


def test_several_of_a_class_are_called_by_their_parameters():
    names = [each.name for each in reference_set([RandomForestClassifier(3), RandomForestClassifier(5), "naive Bayes"])]
    assert names == ["RandomForestClassifier(n_estimators=3)", "RandomForestClassifier(n_estimators=5)", "naive Bayes"]
    with pytest.raises(UsageError, match=r"two with the name Ridge\(\)"):
        reference_set([Ridge(), Ridge()])


def test_fusions_combine_estimators_too():
    fusion = reference_set([GaussianNB(), "decision tree, fusion: vote"])[-1]
    assert [each.name for each in fusion.members] == ["GaussianNB", "decision tree"]


REFUSED = [KMeans(), StandardScaler(), make_pipeline(StandardScaler()), BaseEstimator(), Ridge, 3, None, [[Ridge()]]]


@pytest.mark.parametrize("given", REFUSED, ids=str)
@pytest.mark.parametrize(
    "asked",
    [
        reference_set,
        lambda given: GoodUtility("disease", miners=given),
        lambda given: MinerInference(given, "disease"),
        lambda given: measure_good_utility(DATA, MONDRIAN, miners=given),
        lambda given: WorkloadUtility("disease", given),
    ],
)
def test_what_cannot_predict_is_refused_before_anything_runs(asked, given):
    with pytest.raises(UsageTypeError, match="must be names of miners, or classifiers or regressors"):
        asked(given)


def test_a_class_is_told_to_be_made():
    with pytest.raises(UsageTypeError, match=r"Try Ridge\(\)"):
        reference_set(Ridge)


def test_one_that_is_no_clone_of_itself_is_refused():
    class Changes(RegressorMixin, BaseEstimator):
        def __init__(self, much=1):
            self.much = [much]

        def fit(self, features, target): ...

        def predict(self, features): ...

    with pytest.raises(UsageTypeError, match="estimators that scikit-learn can clone; got a Changes"):
        reference_set(Changes())


@pytest.mark.parametrize("when", ["fit", "predict", "short", "text", "unknown", "half"])
def test_what_fails_is_refused_without_its_words_and_stands_in_no_average(when):
    release = MONDRIAN.sanitize(DATA, rng=1)
    for found in (
        predict_in_sample(release, "disease", [Breaks(when), "majority"], rng=1),
        predict_cross_validated(release, "disease", [Breaks(when), "majority"], folds=3, seed=1),
    ):
        assert ([*found.guesses], found.failed) == (["majority"], {"Breaks": "refused"})
        assert "the miner 'Breaks' failed in" in found.reasons["Breaks"]
        assert "gout" not in found.reasons["Breaks"]


class NeedsLicence(GaussianNB):
    def fit(self, features, target):
        raise RuntimeError("There is no licence.\nSee the manual.")


class Quotes(GaussianNB):
    """Raise an error that quotes a record, and another one about invented numbers."""

    def fit(self, features, target):
        raise (ValueError if features.max() > 1 else KeyError)(f"{features.max()}")


def test_another_error_of_invented_numbers_is_not_shown():
    found = predict_in_sample(MONDRIAN.sanitize(DATA, rng=1), "disease", [Quotes(), "majority"], rng=1)
    assert "Invented" not in found.reasons["Quotes"]


def test_a_message_that_invented_numbers_lead_to_is_shown():
    found = predict_in_sample(MONDRIAN.sanitize(DATA, rng=1), "disease", [NeedsLicence(), "majority"], rng=1)
    assert re.search(
        r"RuntimeError in line \d+ of `fit`\. .* with the message: There is no licence\. ",
        found.reasons["NeedsLicence"],
    )


class CountsThreads(GaussianNB):
    threads: ClassVar[list[int]] = []

    def fit(self, features, target):
        self.threads.extend(each["num_threads"] for each in threadpool_info())
        return super().fit(features, target)


def test_an_estimator_works_on_one_thread():
    predict_in_sample(MONDRIAN.sanitize(DATA, rng=1), "disease", CountsThreads(), rng=1)
    assert {*CountsThreads.threads} == {1}


def test_numbers_that_are_not_finite_are_no_guesses():
    found = predict_in_sample(LaplaceNoise(1.0).sanitize(DATA, rng=1), "age", [Endless(), "majority"], rng=1)
    assert "numbers that are not finite" in found.reasons["Endless"]


def test_one_that_fails_on_a_fold_is_refused():
    FewLabels.calls = 0
    found = measure_good_utility(DATA, MONDRIAN, miners=[FewLabels(), "majority"], folds=3)
    rows = found[(found.sanitizer == "Identity") & (found.miner == "FewLabels")]
    assert rows.status.tolist() == ["refused"]
    assert "ValueError" in rows.reason.item()


def test_one_for_numbers_says_of_labels_that_it_cannot():
    found = measure_good_utility(DATA, MONDRIAN, miners=[Ridge(), "majority"], folds=3)
    assert set(found[found.miner == "Ridge"].status) == {"refused"}
    assert "does not predict labels" in found[found.miner == "Ridge"].reason.iloc[0]
    alone = measure_good_utility(DATA, MONDRIAN, miners=Ridge(), folds=3)
    assert (alone.status.tolist(), alone.value.notna().any()) == (["refused"], False)


QUESTIONS = [
    lambda miners: WorkloadUtility("disease", miners, folds=3),
    lambda miners: WorkloadGain("disease", miners, folds=3),
    lambda miners: Disclosure("disease", miners=miners),
    lambda miners: NearerPredictions("age", miners),
    lambda miners: PredictedGains("age", "disease", miners),
    lambda miners: AntiUtilityRisk("age", miners),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_takes_them_and_states_what_fails(question):
    found = evaluate(DATA, MONDRIAN, measures=question([GaussianNB(), PIPELINE]), min_count=2)
    assert found.value.notna().any()
    assert not found.status.eq("refused").any()
    failed = evaluate(DATA, MONDRIAN, measures=question([Breaks()]), min_count=2)
    assert failed.status.eq("refused").any()
    assert any("'Breaks' failed" in reason for reason in failed.reason)


def test_attacks_take_an_estimator_or_a_name():
    asked = [MinerInference(each, "disease") for each in (PIPELINE, "decision tree", Breaks())]
    found = evaluate(DATA, MONDRIAN, attacks=asked).set_index("miner")
    assert found.value.notna().to_dict() == {"LogisticRegression": True, "decision tree": True, "Breaks": False}
    assert found.status["Breaks"] == "refused"
    with pytest.raises(UsageError, match="`miner` must be one miner; got 3"):
        MinerInference("basic", "disease")


def test_utilities_and_published_models_take_them():
    assert GoodUtility("disease", miners=[PIPELINE, "majority"]).miners[0].name == "LogisticRegression"
    assert AntiUtility("age", miners=["majority", "naive Bayes"]).miners == "majority, naive Bayes"
    found = attack_published_models(DATA, [GaussianNB()], examples=40, min_count=2)
    assert set(found.miner) == {"GaussianNB"}


def test_the_same_estimator_guesses_the_same():
    first, second = (measure_good_utility(DATA, MONDRIAN, miners=RandomForestClassifier(3), folds=3) for _ in range(2))
    assert first.equals(second)
    [ready] = reference_set("naive Bayes")
    with pytest.raises(Failed, match="does not predict numbers"):
        ready.fit(None, np.array([1.0]))


def test_a_store_knows_an_estimator_by_its_parameters(tmp_path):
    store = Store(tmp_path / "kept")

    def key(*miners):
        return store.key(answer_question, DATA, MONDRIAN, 1, WorkloadUtility("disease", list(miners), folds=3))

    assert key(LogisticRegression(C=1.0)) == key(LogisticRegression(C=1.0))
    different = [
        LogisticRegression(C=2.0), RandomForestClassifier(3), make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), LogisticRegression(random_state=5),
    ]  # fmt: skip
    assert len({key(each) for each in different} | {key(LogisticRegression())}) == 6
    assert key("naive Bayes", "majority") == store.key(
        answer_question, DATA, MONDRIAN, 1, WorkloadUtility("disease", "naive Bayes, majority", folds=3)
    )
    with pytest.raises(UsageTypeError, match="has no digest"):
        key(RandomForestClassifier(random_state=np.random.RandomState(1)))


def test_a_store_keeps_what_an_estimator_guessed(tmp_path):
    asked = {
        "measures": [WorkloadUtility("disease", [PIPELINE], folds=3)],
        "min_count": 2,
        "store": str(tmp_path / "kept"),
    }
    first = evaluate(DATA, [MONDRIAN, Mondrian(20)], **asked)
    kept = {*(tmp_path / "kept").glob("*.result")}
    assert len(kept) == 2
    assert first.value.equals(evaluate(DATA, [MONDRIAN, Mondrian(20)], **asked).value)
    assert {*(tmp_path / "kept").glob("*.result")} == kept


def test_a_miner_with_a_name_of_its_own_is_guarded():
    found = predict_in_sample(MONDRIAN.sanitize(DATA, rng=1), "disease", [Miner("mine", Breaks())], rng=1)
    assert found.failed == {"mine": "refused"}


@pytest.mark.slow
def test_the_experiments_of_the_pages_take_them():
    asked = {"miners": [GaussianNB(), "majority"], "seeds": 1}
    kept = evaluate_users(DATA, [MONDRIAN], **asked)
    near = evaluate_adversaries(DATA, [MONDRIAN], target="age", **asked)
    gained = evaluate_gains(DATA, [MONDRIAN], target="age", **asked)
    assert {"GaussianNB", "majority"} <= {*kept.miner} & {*near.miner}
    assert gained.value.notna().any()
