"""What several miners guess is what each would guess alone; what fails is named; fusions add no knowledge."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import MinerInference
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import predictions as mined
from privnb.evaluation.attributes import check_published
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.miners import cross_val_predictions, reference_set, stacking, vote, weka
from privnb.miners.encoding import encode
from privnb.miners.fusion import Vote
from privnb.sanitizers import Bucketize, Identity, KMember, LaplaceNoise, Suppress

LABELS, NUMBERS = "majority, decision stump, naive Bayes, decision tree", "majority, linear regression, decision tree"


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=400)


@pytest.fixture(scope="module", params=[KMember(5), LaplaceNoise(0.5)], ids=repr)
def release(adult, request):
    return request.param.sanitize(adult, rng=3)


def names(release):
    return NUMBERS if release.treated("noisy") else LABELS


def same(guesses):
    """What equals these guesses: labels as they are, numbers but for the last digits of a sum."""
    return pytest.approx(guesses.tolist()) if guesses.dtype == float else guesses.tolist()


def encoded(release):
    others = [name for name in release.schema.published if name != "age"]
    return encode(release.table, others, release.schema, release.hierarchies)


# One by one


def test_each_miner_guesses_what_it_would_alone(release):
    """`MinerInference` encodes what it is asked for anew; here all miners share one encoding of the shuffled table."""
    found = mined.predict_in_sample(release, "age", names(release), rng=7)
    published, _ = release._published(7)
    assert list(found.guesses) == names(release).split(", ")
    for miner in reference_set(names(release)):
        attack = MinerInference(miner, "age").fit(published)
        assert found.guesses[miner.name].tolist() == same(attack.predict(release.table))
        assert found.baseline.tolist() == same(attack.baseline(release.table))
    assert found.failed == {}


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
    predictions, guess, *_ = mined.predict_in_sample(Identity().sanitize(data, rng=0), "code", "decision tree", rng=5)
    assert predictions["decision tree"].tolist() == table.code.tolist()
    assert set(guess) == {table.code.mode()[0]}


def test_the_unseen_are_guessed_from_others_alone(release):
    found = mined.predict_cross_validated(release, "age", names(release), folds=3, seed=4)
    column = release.table["age"].to_numpy()
    for miner in reference_set(names(release)):
        guess = cross_val_predictions(miner, encoded(release), column, folds=3, seed=4)
        assert found.guesses[miner.name].tolist() == same(guess)


def test_who_cannot_guess_such_a_column_is_left_out(release):
    able = mined.predict_in_sample(release, "age", "naive Bayes, linear regression", rng=1).guesses
    assert list(able) == ["linear regression" if release.treated("noisy") else "naive Bayes"]
    other = "naive Bayes" if release.treated("noisy") else "linear regression"
    with pytest.raises(ValueError, match=rf"\['{other}'\] cannot predict 'age' .* Add another miner to MINERS"):
        mined.predict_in_sample(release, "age", other, rng=1)


def test_a_release_that_miners_do_not_read_is_refused(adult):
    release = Bucketize(KMember(5)).sanitize(adult, rng=1)
    with pytest.raises(ValueError, match=r"MinerInference reads columns that are exact, .* this release has"):
        mined.predict_in_sample(release, "age", "majority", rng=1)
    with pytest.raises(ValueError, match=r"MinerInference reads columns that are exact, .* this release has"):
        mined.predict_cross_validated(release, "age", "majority", folds=3, seed=1)


def test_only_what_is_published_can_be_mined(adult):
    assert check_published(adult, "age") == "age"
    roles = {attribute.name: attribute.role for attribute in adult.schema.attributes} | {"age": Role.IDENTIFIER}
    hidden = Dataset("hidden", adult.table, adult.schema.with_roles(roles), adult.hierarchies)
    with pytest.raises(ValueError, match=r"'age' is not published\. Choose one of workclass"):
        check_published(hidden, "age")


# What fails


@dataclass(frozen=True)
class Strange:
    """A miner that does `does` instead of guessing."""

    name: str
    does: object = field(repr=False)

    def predicts(self, target):
        return True

    def fit(self, encoded, target):
        return self

    def predict(self, encoded):
        return self.does(encoded)

    def cross_val_predictions(self, encoded, target, folds, seed):
        return self.does(encoded)


def raising(error):
    def does(encoded):
        raise error("why")

    return does


@pytest.mark.parametrize("of", ["predict_in_sample", "predict_cross_validated"])
def test_who_says_nothing_keeps_what_was_released(release, monkeypatch, of):
    """Every second guess is None, or NaN of numbers: the released cell of that very person stands there."""
    nothing, said, kind = (np.nan, 33.5, float) if release.treated("noisy") else (None, "30-34", object)

    def half(encoded):
        return np.array([nothing if row % 2 == 0 else said for row in encoded.row], dtype=kind)

    miner = Strange("half", half)
    monkeypatch.setattr(mined, "resolve_miners", lambda names: (miner,))
    options = {"rng": 1} if of == "predict_in_sample" else {"folds": 3, "seed": 1}
    guess = getattr(mined, of)(release, "age", "half", **options).guesses["half"]
    column = release.table["age"].to_numpy()
    kept = guess == column
    assert kept.sum() > 50
    assert (~kept).sum() > 50
    assert set(guess[~kept]) == {said}


def test_who_says_nothing_of_an_exact_attribute_is_not_right(release, monkeypatch):
    """In cross-validation the released cell is the truth that the miner was not shown."""
    miner = Strange("silent", lambda encoded: np.full(len(encoded.row), None, dtype=object))
    monkeypatch.setattr(mined, "resolve_miners", lambda names: (miner,))
    guess = mined.predict_cross_validated(release, "salary", "silent", folds=3, seed=1).guesses["silent"]
    assert set(guess) == {""}


def test_failures_are_named_and_others_go_on(release, monkeypatch):
    class Fault(RuntimeError):
        pass

    kinds = {"unfinished": weka.Unfinished, "unavailable": weka.Unavailable, "refused": weka.DataRefused}
    miners = [Strange(name, raising(error)) for name, error in kinds.items()]
    monkeypatch.setattr(mined, "resolve_miners", lambda names: (*miners, *reference_set("majority")))
    for found in (
        mined.predict_in_sample(release, "age", "", rng=1),
        mined.predict_cross_validated(release, "age", "", folds=3, seed=1),
    ):
        assert found.failed == {name: name for name in kinds}
        assert list(found.guesses) == ["majority"]
    # All of them: still no guess is made up, and the baseline is there.
    monkeypatch.setattr(mined, "resolve_miners", lambda names: tuple(miners))
    found = mined.predict_in_sample(release, "age", "", rng=1)
    assert (found.guesses, len(found.failed), len(found.baseline)) == ({}, 3, len(release))
    monkeypatch.setattr(mined, "resolve_miners", lambda names: (Strange("faulty", raising(Fault)),))
    with pytest.raises(Fault):
        mined.predict_in_sample(release, "age", "", rng=1)


# Fusion


def test_a_vote_on_guesses_is_what_the_miner_that_votes_says(release):
    found = mined.predict_in_sample(release, "age", names(release), rng=7)
    together = mined.predict_ensemble(release, "age", names(release), found.guesses)
    voter = mined.predict_in_sample(release, "age", f"{names(release)}, fusion: vote", rng=7).guesses["fusion: vote"]
    assert list(together) == ["fusion: vote", "fusion: stacked"]
    assert together["fusion: vote"].tolist() == same(voter)


@pytest.mark.slow
def test_a_stack_on_guesses_has_the_last_step_of_the_miner_that_stacks(release):
    """The last step learns from three folds of the table in the dataset's order, which the miner that stacks reads in
    published order: other folds, so other guesses of some people. In one order they are the same.
    """
    members = reference_set(names(release))
    column = release.table["age"]
    guesses = {m.name: m.fit(encoded(release), column).predict(encoded(release)) for m in members}
    stack = Vote("fusion: stacked", members, stacking).fit(encoded(release), column)
    together = mined.predict_ensemble(release, "age", names(release), guesses)
    assert together["fusion: stacked"].tolist() == same(stack.predict(encoded(release)))


def test_a_fusion_knows_nothing_but_the_release(adult):
    """Where everybody's cell is suppressed, the miners can learn no label, and their fusions make none up."""
    release = Suppress("sex").sanitize(adult, rng=0)
    found = mined.predict_in_sample(release, "sex", "majority, naive Bayes", rng=1).guesses
    together = mined.predict_ensemble(release, "sex", "majority, naive Bayes", found)
    assert set(np.concatenate(list(together.values()))) == {"*"}


def test_members_that_failed_have_no_voice(release):
    found = mined.predict_in_sample(release, "age", "majority, decision tree", rng=7).guesses
    together = mined.predict_ensemble(release, "age", names(release), found)
    given = list(found.values())
    assert together["fusion: vote"].tolist() == same(vote(given))
    trust = stacking(reference_set("majority, decision tree"), encoded(release), release.table["age"].to_numpy())
    assert together["fusion: stacked"].tolist() == same(trust(given))


# Names and seeds


def test_miners_by_name(monkeypatch):
    assert mined.resolve_miners("basic") == reference_set("basic")
    monkeypatch.setattr(weka, "find_miners_by_name", lambda names: ("Weka's", names))
    assert mined.resolve_miners("Weka basic") == ("Weka's", "Weka basic")


def test_each_purpose_setting_and_seed_has_a_stream_of_its_own():
    streams = [
        mined.derive_seed(seed, sanitizer, purpose)
        for seed in (1, 2)
        for sanitizer in (KMember(2), KMember(20), LaplaceNoise(1), None)
        for purpose in ("sanitize", "publish", "deal")
    ]
    assert len({tuple(each) for each in streams}) == len(streams)
    first = {tuple(np.random.default_rng(each).integers(2**32, size=4)) for each in streams}
    assert len(first) == len(streams)
