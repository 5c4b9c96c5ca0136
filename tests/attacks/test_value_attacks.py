"""Attacks that compute the probability of each sensitive value: worked examples, certificates and controls."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.attacks import Composition, Corruption, Homogeneity, Minimality
from privnb.attacks.inference.value_attack import ValueAttack
from privnb.datasets.dataset import Dataset, load
from privnb.microdata.hierarchy import Taxonomy, flat, keep_exact_ends
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import ConfidenceBound, DistinctDiversity, KAnonymity, TCloseness
from privnb.sanitizers import (
    Anatomy,
    FullDomain,
    Identity,
    KMember,
    LaplaceNoise,
    LocalRecoding,
    Mondrian,
    Suppress,
    TopDownSpecialization,
)  # fmt: skip

ILL = ("HIV", "flu", "cold", "none")


def patients(places, ill, names=("q1", "q2")):
    """People in places q1, q2, ..., whose root is Q, with an illness each."""
    schema = Schema(
        "patients",
        (
            Attribute("place", Role.QUASI_IDENTIFIER, Categories(names)),
            Attribute("ill", Role.SENSITIVE, Categories(ILL)),
        ),
    )
    table = pd.DataFrame({"place": places, "ill": ill})
    rows = tuple((name, "*") for name in names)
    return Dataset("patients", table, schema, {"place": Taxonomy("place", rows)})


def publish(dataset, sanitizer):
    return sanitizer.sanitize(dataset, rng=1).publish()[0]


def posterior(attack, **known):
    found = attack.posterior(pd.DataFrame(known))
    return [dict(zip(attack.values.tolist(), row.tolist(), strict=True)) for row in found]


PLACES = ["q1"] * 2 + ["q2"] * 5
# Wong et al., VLDB 2007, section 1: at most half of the people of a class may have HIV.
WONG = patients(PLACES, ["HIV", "HIV", *["none"] * 5])


def test_homogeneity_reads_the_shares_of_a_class():
    dataset = patients(["q1", "q1", "q2", "q2", "q2"], ["HIV", "HIV", "flu", "flu", "cold"])
    attack = Homogeneity("ill").fit(publish(dataset, Identity()))
    first, second = posterior(attack, place=["q1", "q2"])
    assert first == {"HIV": 1, "flu": 0, "cold": 0}
    assert second == pytest.approx({"HIV": 0, "flu": 2 / 3, "cold": 1 / 3})
    assert attack.certain(pd.DataFrame({"place": ["q1", "q2"]})).tolist() == [True, False]
    assert dict(zip(attack.values, attack.prior, strict=True)) == {"HIV": 0.4, "cold": 0.2, "flu": 0.4}


def test_corruption_subtracts_what_is_known():
    dataset = patients(["q1"] * 4, ["HIV", "flu", "flu", "cold"])
    published = publish(dataset, Suppress())
    known = dataset.table.iloc[[1, 2]]
    (left,) = posterior(Corruption("ill").given(known).fit(published), place=["q1"])
    assert left == {"HIV": 0.5, "cold": 0.5, "flu": 0}
    attack = Corruption("ill").given(dataset.table.iloc[[1, 2, 3]]).fit(published)
    assert attack.certain(dataset.table[:1]).tolist() == [True]
    assert attack.predict(dataset.table[:1]).tolist() == ["HIV"]


def test_corrupted_people_must_be_in_the_release():
    dataset = patients(["q1"] * 4, ["HIV", "flu", "flu", "cold"])
    published = publish(dataset, Suppress())
    with pytest.raises(ValueError, match="`corrupted` must be people in the release, which has 4 rows; got 5 people"):
        Corruption("ill").given(dataset.table.iloc[[0, 0, 1, 2, 3]]).fit(published)
    with pytest.raises(ValueError, match="`corrupted` contradicts the release"):
        Corruption("ill").given(dataset.table.iloc[[0, 0]]).fit(published)
    with pytest.raises(SchemaError, match="`corrupted` must have the column 'ill'"):
        Corruption("ill").given(dataset.table[["place"]])


def test_two_releases_are_intersected():
    """By hand: HIV or flu in one release, HIV or cold in the other; so HIV, as in Ganta et al., section 2."""
    one = patients(["q1", "q1"], ["HIV", "flu"])
    other = patients(["q1", "q1", "q2"], ["HIV", "cold", "none"])
    attack = Composition("ill").given(publish(other, Identity())).fit(publish(one, Identity()))
    assert attack.certain(one.table[:1]).tolist() == [True]
    assert attack.predict(one.table[:1]).tolist() == ["HIV"]
    nobody = pd.DataFrame({"place": ["q2"]})
    assert attack.posterior(nobody).sum() == 0
    assert attack.predict(nobody).tolist() == [None]


def test_probabilities_of_two_releases_by_hand():
    """The shares are 2, 1, 1 of 4 in one release and 1, 2, 1 of 4 in the other, and 3, 3, 2 of 8 in both together."""
    one = patients(["q1"] * 4, ["HIV", "HIV", "flu", "cold"])
    other = patients(["q1"] * 4, ["HIV", "flu", "flu", "cold"])
    attack = Composition("ill").given(publish(other, Suppress())).fit(publish(one, Suppress()))
    (found,) = posterior(attack, place=["q1"])
    weight = {"HIV": 2 * 1 / 3, "flu": 1 * 2 / 3, "cold": 1 * 1 / 2}  # s1(v) s2(v) / p(v)
    assert found == pytest.approx({name: each / sum(weight.values()) for name, each in weight.items()})


def test_releases_of_different_schemas_are_refused():
    other = load("adult", records=50)
    attack = Composition("ill").given(publish(other, Suppress()))
    with pytest.raises(SchemaError, match="needs releases with the same quasi-identifiers and the attribute 'ill'"):
        attack.fit(publish(WONG, Suppress()))


def test_the_worked_example_of_minimality_under_global_recoding():
    """Wong et al., section 1: Q would not have been published for all unless both people of q1 had HIV."""
    sanitizer = FullDomain(ConfidenceBound(0.5, "ill", "HIV"))
    published = publish(WONG, sanitizer)
    assert set(published.table["place"]) == {"*"}
    before = posterior(Homogeneity("ill").fit(published), place=["q1", "q2"])
    assert before[0] == pytest.approx({"HIV": 2 / 7, "none": 5 / 7})
    attack = Minimality("ill").given(sanitizer, WONG.table[["place"]]).fit(published)
    assert posterior(attack, place=["q1", "q2"]) == [{"HIV": 1, "none": 0}, {"HIV": 0, "none": 1}]


class LocalExample:
    """The local recoding of Wong et al., Table 1(d): q1 and two people of q2 are published as Q."""

    models = (ConfidenceBound(0.5, "ill", "HIV"),)
    global_recoding = False

    def list_refinements(self, cells):
        from privnb.privacy_models.refinement import Refinement

        return [Refinement(np.arange(2), np.array([0, 1]))]


def test_probabilities_of_minimality_by_hand():
    """Two people of q1, three of q2, two have HIV, at most half of a place: q1 has both, or neither.

    If q1 has one, q2 has one of three, and both places could have been published. If q1 has both, q1 could not; if q1
    has none, q2 has two of three and could not. Of the 1 + 3 remaining assignments, one gives HIV to q1.
    """
    dataset = patients(["q1"] * 2 + ["q2"] * 3, ["HIV", "HIV", "none", "none", "none"])
    published = publish(dataset, Suppress())
    attack = Minimality("ill").given(LocalExample(), dataset.table[["place"]]).fit(published)
    first, second = posterior(attack, place=["q1", "q2"])
    assert first["HIV"] == pytest.approx(1 / 4)
    assert second["HIV"] == pytest.approx(2 / 4)


def test_drawn_assignments_estimate_the_same_probabilities(monkeypatch):
    from privnb.attacks.inference import minimality

    monkeypatch.setattr(minimality, "TABLES", 1)
    dataset = patients(["q1"] * 2 + ["q2"] * 3, ["HIV", "HIV", "none", "none", "none"])
    attack = Minimality("ill", draws=4000).given(LocalExample(), dataset.table[["place"]])
    (first,) = posterior(attack.fit(publish(dataset, Suppress())), place=["q1"])
    # A tenth of 10 assignments are 1, and 4 remain of 10: 1,600 draws, with a standard error of .011.
    assert first["HIV"] == pytest.approx(1 / 4, abs=0.045)


def workers(rng, n):
    """A small random table with a number, an ordered column's stand-in and a taxonomy."""
    schema = Schema(
        "workers",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 29, 1)),
            Attribute("place", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
            Attribute("ill", Role.SENSITIVE, Categories(ILL)),
        ),
    )
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 30, n),
            "place": rng.choice(["a", "b", "c", "d"], n),
            "ill": rng.choice(ILL, n, p=[0.15, 0.25, 0.3, 0.3]),
        }
    )
    tree = Taxonomy("place", (("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")))
    return Dataset("workers", table, schema, {"age": keep_exact_ends(flat(schema["age"])), "place": tree})


MINIMAL = [
    Mondrian(DistinctDiversity(2, "ill")),
    Mondrian(ConfidenceBound(0.5, "ill", "HIV")),
    FullDomain(TCloseness(0.5, "ill")),
    TopDownSpecialization(DistinctDiversity(2, "ill"), workload="ill"),
]


@pytest.mark.parametrize("sanitizer", MINIMAL, ids=repr)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 14))
@settings(max_examples=15)
def test_no_certificate_is_false_and_no_true_value_is_excluded(sanitizer, seed, n):
    dataset = workers(np.random.default_rng(seed), n)
    try:
        release = sanitizer.sanitize(dataset, rng=seed)
    except ValueError:
        return  # the table as a whole violates the model
    register = dataset.table[dataset.schema.quasi_identifiers]
    attack = Minimality("ill").given(sanitizer, register).fit(release.publish()[0])
    found = attack.posterior(register)
    true = np.searchsorted(attack.values, dataset.table["ill"].astype(str))
    assert (found[np.arange(n), true] > 0).all()


def gain(sanitizer, assumed, tables=12, n=20):
    """Return how much the assumption that `assumed` made the release adds to the probability of the true value.

    The result is the mean over tables, and its standard error.
    """
    found = []
    for seed in range(tables):
        dataset = workers(np.random.default_rng(seed), n)
        published, register = publish(dataset, sanitizer), dataset.table[["age", "place"]]
        attacks = Homogeneity("ill"), Minimality("ill").given(assumed, register)
        before, after = (each.fit(published).posterior(register) for each in attacks)
        true = np.searchsorted(attacks[0].fit(published).values, dataset.table["ill"].astype(str))
        found.append((after - before)[np.arange(n), true].mean())
    return np.mean(found), np.std(found, ddof=1) / tables**0.5


@pytest.mark.slow
def test_an_algorithm_that_does_not_stop_at_the_bound_discloses_nothing():
    """Classes that do not depend on the values are the control; the same attack gains on classes that do."""
    minimal = Mondrian(ConfidenceBound(0.34, "ill", "HIV"))
    added, error = gain(minimal, minimal)
    assert added > 2 * error
    added, error = gain(Mondrian(KAnonymity(5)), minimal)
    assert added < 2 * error


def test_a_model_of_sizes_discloses_nothing():
    dataset = workers(np.random.default_rng(1), 40)
    register = dataset.table[["age", "place"]]
    published = publish(dataset, Mondrian(4))
    attacks = Homogeneity("ill"), Minimality("ill").given(Mondrian(4), register)
    one, other = (each.fit(published).posterior(register) for each in attacks)
    assert (one == other).all()


def test_minimality_refuses_what_it_cannot_reason_about():
    dataset = workers(np.random.default_rng(1), 40)
    register = dataset.table[["age", "place"]]
    published = publish(dataset, Mondrian(DistinctDiversity(2, "ill")))
    for sanitizer, message in (
        (LocalRecoding(3), "it is not known which finer partitions LocalRecoding"),
        (Mondrian(DistinctDiversity(2, "ill"), split_point="middle"), "does not try every threshold"),
        (FullDomain(DistinctDiversity(2, "ill"), suppress=3), "may suppress records"),
    ):
        with pytest.raises(ValueError, match=message):
            sanitizer.list_refinements(None)
    with pytest.raises(ValueError, match="KMember does not stop at the bound of a privacy model"):
        Minimality("ill").given(KMember(3), register)
    with pytest.raises(ValueError, match="`register` must contain the people in the release"):
        Minimality("ill").given(MINIMAL[0], register[:7]).fit(published)
    buckets = publish(dataset, Anatomy(2, "ill"))
    with pytest.raises(Unreadable, match="needs equivalence classes; this release has buckets"):
        Minimality("ill").given(MINIMAL[0], register).fit(buckets)


@pytest.mark.parametrize("attack", [Homogeneity("age"), Composition("age"), Corruption("age")])
def test_a_column_that_is_not_published_as_it_is_cannot_be_attacked(attack):
    published = publish(workers(np.random.default_rng(1), 40), Mondrian(4))
    with pytest.raises(Unreadable, match="does not publish exact values of 'age'"):
        attack.fit(published)
    with pytest.raises(Unreadable, match="reads columns that are"):
        attack.fit(publish(workers(np.random.default_rng(1), 40), LaplaceNoise(1.0)))


def test_all_of_them_state_probabilities():
    dataset = load("adult", records=300)
    known = dataset.table[dataset.schema.quasi_identifiers]
    for kind in (Homogeneity, Corruption, Composition, Minimality):
        assert issubclass(kind, ValueAttack)
        attack = kind(dataset.schema.sensitive[0]).fit(publish(dataset, Mondrian(5)))
        assert attack.posterior(known).sum(axis=1) == pytest.approx(1)
