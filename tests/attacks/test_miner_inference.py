"""The adversary with a ready-made miner: what they may see, and what they guess from exact and generalized cells."""

import inspect

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import MinerInference
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, Taxonomy
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.miners import reference_set, select_able
from privnb.sanitizers import Identity, LaplaceNoise, Suppress

AGES = Numbers(17, 99)
JOBS = ("nurse", "medic", "clerk", "lawyer")
SCHEMA = Schema(
    "town",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, AGES),
        Attribute("job", Role.QUASI_IDENTIFIER, Categories(JOBS)),
        Attribute("hours", Role.NEUTRAL, Numbers(1, 99)),
        Attribute("pay", Role.SENSITIVE, Categories(("high", "low"))),
    ),
)
CARE = {"nurse": "care", "medic": "care", "clerk": "office", "lawyer": "office"}
HIERARCHIES = {
    "age": Intervals(AGES, (5, 10, 20, 100)),
    "job": Taxonomy("job", tuple((job, kind, "*") for job, kind in CARE.items())),
}
MINERS = reference_set("standard")
MINING = reference_set("basic")  # those of the standard set for labels that look at every column


def town(n=240, seed=0):
    """A town in which whoever is 50 or older, or in an office, is paid well."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(17, 91, n), "job": rng.choice(JOBS, n), "hours": rng.integers(1, 99, n)})
    well = (table["age"] >= 50) | table["job"].map(CARE).eq("office")
    return Dataset("town", table.assign(pay=np.where(well, "high", "low")), SCHEMA, HIERARCHIES)


def generalized(dataset, width=10):
    """Every age as its interval of `width`, every job as its kind: made here, by no sanitizer."""
    low = dataset.table["age"] // width * width
    ages = low.astype(str) + "-" + (low + width - 1).astype(str)
    table = dataset.table.assign(age=ages, job=dataset.table["job"].map(CARE))
    return Release(table, SCHEMA, HIERARCHIES, Provenance("town", "by hand", {}))


TOWN = town()
RELEASE = generalized(TOWN)
TOLD = RELEASE._published(5)[0]
OTHERS = town(seed=1)


@pytest.mark.parametrize("miner", MINING, ids=lambda m: m.name)
def test_learned_from_a_generalized_table_it_guesses_for_exact_records(miner):
    attack = MinerInference(miner, "pay", ("age", "job")).fit(TOLD)
    right = np.mean(attack.predict(OTHERS.table[["age", "job"]]) == attack.truth(OTHERS))
    assert right > 0.9 > np.mean(attack.baseline(OTHERS.table) == attack.truth(OTHERS))


@pytest.mark.parametrize("miner", MINING, ids=lambda m: m.name)
def test_learned_from_an_exact_table_it_guesses_for_generalized_records(miner):
    """Intervals of width 10 do not straddle 50 and jobs of a kind are paid alike: nothing that matters is lost."""
    attack = MinerInference(miner, "pay", ("age", "job")).fit(Identity().sanitize(TOWN, rng=0)._published(0)[0])
    asked = generalized(OTHERS).table
    right = np.mean(attack.predict(asked) == attack.truth(OTHERS))
    assert right > 0.9 > np.mean(attack.baseline(asked) == attack.truth(OTHERS))


@pytest.mark.parametrize("miner", MINERS, ids=lambda m: m.name)
@pytest.mark.parametrize("what", ["quasi-identifiers", "sensitive"])
def test_no_better_than_the_baseline_against_suppression(miner, what):
    """With nothing to go by every miner falls back on the column alone."""
    target = "pay" if what == "quasi-identifiers" else "job"
    published, key = Suppress(what).sanitize(TOWN, rng=0)._published(3)
    if not miner.predicts(published.table[target]):
        assert miner.name == "linear regression"
        return
    known = ("age", "job") if target == "pay" else ("pay",)
    attack = MinerInference(miner, target, known).fit(published)
    truth = attack.truth(TOWN)[key]
    hits = np.sum(attack.predict(published.table) == truth)
    assert hits <= np.sum(attack.baseline(published.table) == truth)


def test_a_column_published_as_labels_is_guessed_as_labels_and_numbers_as_numbers():
    for miner in select_able(MINERS, TOLD.table["age"])[0]:
        guesses = MinerInference(miner, "age").fit(TOLD).predict(RELEASE.table)
        assert set(guesses) <= set(TOLD.table["age"])
    noisy = LaplaceNoise(0.5).sanitize(TOWN, rng=1)
    numeric, left_out = select_able(MINERS, noisy.table["age"])
    assert left_out == ["naive Bayes"]
    for miner in numeric:
        guesses = MinerInference(miner, "age").fit(noisy._published(0)[0]).predict(noisy.table)
        assert guesses.dtype == float
        assert np.isfinite(guesses).all()


def test_the_guesses_of_known_records_are_in_their_order_whatever_their_index():
    attack = MinerInference(reference_set("decision tree")[0], "pay").fit(TOLD)
    guesses = attack.predict(RELEASE.table)
    assert len(set(guesses)) == 2
    order = np.random.default_rng(2).permutation(len(guesses))
    assert attack.predict(RELEASE.table.iloc[order]).tolist() == guesses[order].tolist()
    assert attack.predict(RELEASE.table.set_index(pd.Index([3] * len(guesses)))).tolist() == guesses.tolist()


@pytest.mark.parametrize("miner", MINERS, ids=lambda m: m.name)
def test_the_index_of_the_release_does_not_matter(miner):
    target = "pay" if miner.predicts(TOLD.table["pay"]) else "hours"
    odd = TOLD._replace(table=TOLD.table.set_index(pd.Index(np.arange(len(TOLD.table)) % 5)))
    first, second = (MinerInference(miner, target).fit(told).predict(RELEASE.table) for told in (TOLD, odd))
    assert first.tolist() == second.tolist()


def test_the_target_of_a_known_record_is_not_read():
    attack = MinerInference(reference_set("decision tree")[0], "pay").fit(TOLD)
    flipped = RELEASE.table["pay"].map({"high": "low", "low": "high"})
    guesses = attack.predict(RELEASE.table).tolist()
    assert attack.predict(RELEASE.table.assign(pay=flipped)).tolist() == guesses
    assert attack.predict(RELEASE.table.drop(columns="pay")).tolist() == guesses


def test_only_the_columns_that_are_known_are_read():
    attack = MinerInference(reference_set("decision tree")[0], "pay", ("age", "job")).fit(TOLD)
    assert set(attack.predict(RELEASE.table[["age", "job"]])) == {"high", "low"}
    with pytest.raises(SchemaError, match="reads age of each person, but the table of known people has only job"):
        attack.predict(RELEASE.table[["job"]])


def test_the_baseline_is_what_the_column_alone_gives():
    """58 is the middle of 17 to 99; where ages are labels, 55-59 is the narrowest that holds it."""
    tree, majority = reference_set("decision tree, majority")
    assert set(MinerInference(tree, "pay").fit(TOLD).baseline(RELEASE.table)) == {"high"}
    assert set(MinerInference(tree, "age").fit(TOLD).baseline(RELEASE.table)) == {"55-59"}
    noisy = LaplaceNoise(0.5).sanitize(TOWN, rng=1)._published(0)[0]
    assert MinerInference(tree, "age").fit(noisy).baseline(RELEASE.table.iloc[:2]).tolist() == [58.0, 58.0]
    # A neutral attribute has no hierarchy of its own.
    labels = TOLD._replace(table=TOLD.table.assign(hours="1-99"))
    assert set(MinerInference(majority, "hours").fit(labels).baseline(RELEASE.table)) == {"50"}


def test_nothing_that_guesses_takes_the_truth():
    for verb in (MinerInference.fit, MinerInference.predict, MinerInference.baseline):
        assert set(inspect.signature(verb).parameters) <= {"self", "published", "known"}
    assert MinerInference(MINERS[0], "age").truth(TOWN).tolist() == TOWN.table["age"].tolist()


def test_one_attack_serves_many_releases():
    attack = MinerInference(reference_set("decision tree")[0], "pay")
    fitted = attack.fit(TOLD)
    attack.fit(Suppress().sanitize(TOWN, rng=0)._published(0)[0])
    assert len(set(fitted.predict(RELEASE.table))) == 2
    with pytest.raises(ValueError, match="has not seen a release yet"):
        attack.predict(RELEASE.table)


@pytest.mark.parametrize(
    ("target", "known", "found"),
    [
        ("pay", ("age", "pay"), "must not list the predicted column"),
        ("wealth", None, "`target` must be one of .*; got 'wealth'"),
        ("pay", ("zip",), "no attribute 'zip'"),
    ],
)
def test_columns_that_cannot_be_are_refused(target, known, found):
    with pytest.raises(ValueError, match=found):
        MinerInference(MINERS[0], target, known).fit(TOLD)
