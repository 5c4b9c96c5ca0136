"""What releases leak of a person: every row against plain counting, bounds against attacks, and what is withheld."""

import math
import re
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.clinic import CLINIC
from support.results_frame import Shortened

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.disclosure import disclosures
from privnb.measures.disclosure import gains
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.privacy_models import KAnonymity, RecursiveDiversity
from privnb.sanitizers import (
    Anatomy,
    Bucketize,
    FullDomain,
    GeometricNoise,
    Identity,
    KMember,
    LaplaceNoise,
    Mondrian,
    RandomizedResponse,
    Suppress,
)

questions = Shortened(questions)


@pytest.fixture(scope="module")
def sample():
    return load("adult", "occupation", records=3000)


@pytest.fixture(scope="module")
def ward():
    """Eight people by town and sex, who have the flu or gout."""
    rows = ["a F flu", "a F flu", "a F gout", "a M gout", "b M flu", "b M gout", "b M gout", "b M gout"]
    table = pd.DataFrame([row.split() for row in rows], columns=["town", "sex", "illness"])
    domains = {"town": ("a", "b"), "sex": ("F", "M"), "illness": ("flu", "gout")}
    attributes = tuple(
        Attribute(name, Role.SENSITIVE if name == "illness" else Role.QUASI_IDENTIFIER, Categories(values))
        for name, values in domains.items()
    )
    schema = Schema("ward", attributes)
    return Dataset("ward", table, schema, {name: flat(schema[name]) for name in ("town", "sex")})


def one(results, **where):
    for column, value in where.items():
        results = results[results[column] == value]
    assert len(results) == 1, results
    return results.iloc[0]


def value(results, measure, **where):
    return one(results, measure=measure, **where).value


# Every set of quasi-identifiers


def test_the_ward_by_hand(ward):
    """Towns: 2 of 4 (flu or gout) and 3 of 4; sexes: 2 of 3 and 4 of 5; both: 2 of 3, 1 of 1, 3 of 4."""
    found = questions.known_subsets(ward, [Identity()], min_count=2)
    rows = found.set_index("target")
    assert {known: rows.value[known] * 8 for known in ("town", "sex", "town, sex")} == {
        "town": 2, "sex": 2, "town, sex": 3,
    }  # fmt: skip
    assert {known: rows.value[f"illness from {known}"] * 8 for known in ("town", "sex", "town, sex")} == {
        "town": 5, "sex": 6, "town, sex": 6,
    }  # fmt: skip
    assert rows.baseline.tolist() == [1 / 8, 5 / 8] * 3
    assert set(found.better) == {"lower"}


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", [Identity(), FullDomain(KAnonymity(5)), Anatomy(4, "occupation")], ids=repr)
def test_subsets_by_the_definition(sample, sanitizer):
    """Someone finds the rows that look as the person would; in them, or in their buckets, any value may be theirs."""
    release = disclosures.sanitize_or_replace(sample, sanitizer)
    found = questions.known_subsets(sample, [sanitizer]).set_index(["measure", "target"]).value
    shares = {}
    if release.buckets is not None:
        for bucket, part in release.buckets.groupby("bucket"):
            shares[bucket] = (part.set_index("value")["count"] / part["count"].sum()).to_dict()
    for known in (known for size in range(1, 4) for known in combinations(sample.schema.quasi_identifiers, size)):
        guesses, true = defaultdict(Counter), defaultdict(Counter)
        for row, occupation in zip(release.table.to_dict("records"), sample.table.occupation, strict=True):
            group = tuple(row[name] for name in known)
            true[group][occupation] += 1
            for value, share in (shares[row["bucket"]] if shares else {occupation: 1}).items():
                guesses[group][value] += share
        right = 0
        for group, counter in guesses.items():
            best = [value for value, share in counter.items() if share > max(counter.values()) - 1e-9]
            right += sum(true[group][value] for value in best) / len(best)
        assert found["identity_vulnerability", ", ".join(known)] == pytest.approx(len(guesses) / 3000)
        assert found["sensitive_vulnerability", f"occupation from {', '.join(known)}"] == pytest.approx(right / 3000)


def test_nothing_tells_more_than_the_original(sample):
    """Not even labels that overlap, of which there are more than of the values that they cover."""
    sanitizers = [Mondrian(KAnonymity(10)), KMember(10), Anatomy(3, "occupation"), Suppress()]
    found = questions.known_subsets(sample, [Identity(), *sanitizers])
    wide = found.pivot_table(index=["measure", "target"], columns="sanitizer", values="value")
    assert len(wide) == 14
    assert (wide.le(wide["Identity"] + 1e-12, axis=0)).all(axis=None)
    assert (wide["Mondrian"] < wide["Identity"]).any()
    prior = sample.table.occupation.value_counts().max() / 3000
    assert wide.Suppress.to_numpy() == pytest.approx([1 / 3000] * 7 + [prior] * 7)


def test_what_is_withheld_is_not_known_from_any_set(sample):
    found = questions.known_subsets(sample, [Suppress("sensitive")])
    rows = found[found.measure == "sensitive_vulnerability"]
    assert (rows.value == rows.baseline).all()
    assert value(found, "identity_vulnerability", target="age, race, sex") > 100 / 3000


def test_noise_leaves_no_groups(sample):
    (row,) = questions.known_subsets(sample, [LaplaceNoise(1.0)]).itertuples()
    assert (row.status, row.measure) == ("refused", "identity_vulnerability")
    assert re.search("noise in .* leaves no equivalence classes. Use `leakage`", row.reason)


# One scale


FAMILY = [
    Identity(), Mondrian(KAnonymity(10)), FullDomain(KAnonymity(10)), Bucketize(Mondrian(KAnonymity(50))),
    Anatomy(5, "occupation"), RandomizedResponse(1.0), GeometricNoise(0.1, {"age": 1}), LaplaceNoise(10.0),
    Suppress(), Suppress("sensitive"),
]  # fmt: skip


@pytest.fixture(scope="module")
def family(sample):
    return questions.leakage(sample, FAMILY)


@pytest.mark.slow
def test_vulnerability_and_leakage_say_the_same(family):
    """Bits are doublings of the chance of one guess."""
    pairs = family[family.measure.str.contains("_vulnerability")]
    keys = ["sanitizer", "parameters", "target"]
    for row in pairs.itertuples():
        measure = row.measure.replace("_vulnerability", "_leakage")
        bits = one(family, measure=measure, **{key: getattr(row, key) for key in keys})
        assert row.baseline * 2**bits.value == pytest.approx(row.value)
        assert bits.baseline == 0
        assert row.baseline - 1e-12 <= row.value <= 1 + 1e-12
        if not math.isnan(row.low):
            assert row.low <= row.value <= row.high
            assert row.baseline * 2**bits.low == pytest.approx(row.low)
            assert row.baseline * 2**bits.high == pytest.approx(row.high)
    assert set(family.better) == {"lower"}


def test_the_two_ends_of_the_scale(family, sample):
    groups = sample.table.groupby(["age", "race", "sex"]).ngroups
    original, nothing = (family[(family.sanitizer == s) & (family.parameters == "")] for s in ("Identity", "Suppress"))
    assert value(original, "identity_leakage") == pytest.approx(math.log2(groups))
    assert original[original.measure == "attribute_vulnerability"].value.tolist() == pytest.approx([1, 1, 1])
    assert nothing[nothing.measure.str.endswith("_leakage")].value.tolist() == pytest.approx([0] * 5)
    hidden = family[family.parameters == "attributes=sensitive"]
    assert value(hidden, "sensitive_leakage") == 0
    assert value(hidden, "identity_leakage") == pytest.approx(math.log2(groups))


def test_every_leakage_lies_between_the_ends(family):
    """No release tells more of a person than the original; of buckets too, unless the bucket is known."""
    most = family[family.sanitizer == "Identity"].set_index(["measure", "target"]).value
    for row in family[family.measure.str.contains("_leakage")].itertuples():
        if not row.measure.startswith("bucket"):
            of = row.measure.removesuffix("_at_most")
            assert -1e-12 <= row.value <= most[of, row.target] + 1e-12, row


@pytest.mark.slow
def test_brickell_and_shmatikovs_gains_are_on_the_scale(sample):
    """Posterior minus prior is the accuracy gain, the additive capacity the knowledge gain; of who knows the bucket."""
    for sanitizer in FAMILY[:5]:
        told = questions.disclosure(sample, [sanitizer]).set_index("measure").value
        found = questions.leakage(sample, [sanitizer]).set_index(["measure", "target"])
        what = "bucket" if isinstance(sanitizer, Anatomy | Bucketize) else "sensitive"
        row = found.loc[f"{what}_vulnerability", "occupation"]
        assert row.value - row.baseline == pytest.approx(told.accuracy_gain)
        assert found.value[f"{what}_additive_capacity", "occupation"] == pytest.approx(told.knowledge_gain)
        assert told.knowledge_gain > 0.05


def test_who_knows_the_bucket_knows_more(family):
    """Three thousand people share a few hundred combinations of quasi-identifiers, and so lie in several buckets."""
    anatomy = family[family.sanitizer == "Anatomy"]
    assert value(anatomy, "bucket_vulnerability") == pytest.approx(1 / 5, abs=0.001)
    guessed = one(anatomy, measure="sensitive_vulnerability")
    assert guessed.baseline < guessed.value < value(anatomy, "sensitive_vulnerability_at_most")
    over_mondrian = family[family.sanitizer == "Bucketize"]
    assert value(over_mondrian, "sensitive_leakage") == pytest.approx(value(over_mondrian, "bucket_leakage"))


def test_attributes_by_plain_counting(sample, family):
    release = disclosures.sanitize_or_replace(sample, FAMILY[1])
    pairs = pd.crosstab(release.table.age, sample.table.age).to_numpy()
    row = one(family, sanitizer="Mondrian", measure="attribute_vulnerability", target="age")
    assert row.value == pytest.approx(pairs.max(axis=1).sum() / 3000)
    assert row.baseline == sample.table.age.value_counts().max() / 3000
    noisy = family[family.sanitizer == "GeometricNoise"]
    assert value(noisy, "attribute_capacity", target="age") == pytest.approx(math.log2(5.0965867), abs=1e-7)
    assert 0 < value(noisy, "attribute_leakage", target="age") < value(noisy, "attribute_capacity", target="age")
    assert value(noisy, "attribute_vulnerability", target="sex") == pytest.approx(1), "published as it is"


@pytest.mark.parametrize("noise", [LaplaceNoise(20.0), RandomizedResponse(2.0)], ids=repr)
def test_no_attack_on_noise_beats_the_bound(sample, noise):
    """Not even a tree that learns from the release and is asked about the people in it."""
    attack = questions.disclosure(sample, [noise], miners="unpruned tree, naive Bayes")
    best = attack[attack.measure == "accuracy_gain"].value.max()
    row = one(questions.leakage(sample, [noise]), measure="sensitive_vulnerability_at_most")
    assert 0 < best < row.value - row.baseline


def test_more_noise_leaks_less(sample):
    epsilons = (0.1, 1.0, 10.0, 100.0)
    for noise in (LaplaceNoise, RandomizedResponse):
        found = questions.leakage(sample, [noise(epsilon) for epsilon in epsilons])
        for measure, target in (("identity_leakage", "identity"), ("attribute_capacity", None)):
            values = found[(found.measure == measure) & (found.target == (target or found.target))]
            values = values.drop_duplicates("parameters").value.tolist()
            assert len(values) == 4
            assert values == sorted(values)
            assert values[0] < values[-1]


def test_impossible_for_this_table(ward):
    found = questions.leakage(ward, [Anatomy(2, "illness")])  # five of eight have gout
    assert found[["measure", "target", "status"]].to_numpy().tolist() == [["classes", "illness", "not possible"]]
    whole = questions.leakage(ward, [Mondrian(RecursiveDiversity(3, 4, "illness"))], min_count=2)
    assert value(whole, "identity_leakage") == 0, "no split is allowed: all are one class"


def test_few_people_are_not_counted(ward):
    """Eight people: no share of them is told, and no leakage that would tell one."""
    found = questions.leakage(ward, [Identity()])
    people = found[found.measure.isin(["attribute_vulnerability", "sensitive_vulnerability"])]
    assert people[["value", "baseline"]].isna().all(axis=None)
    assert (people.low == 1 / 8).all()
    assert (people.high == 1).all()
    bits = found[found.measure.isin(["attribute_leakage", "sensitive_leakage"])]
    assert bits[["value", "low", "high"]].isna().all(axis=None)
    assert np.isnan(value(found, "sensitive_additive_capacity"))
    assert questions.known_subsets(ward, [Identity()]).value.isna().all()


def test_neither_are_the_few_who_are_missed():
    """Of 300 people of the clinic three are not told apart by age and weight, and nobody by these and the postcode."""
    clinic = load(str(CLINIC))
    found = questions.known_subsets(clinic, [Identity()]).set_index("target")
    for target in ("age, weight", "diagnosis from age, weight", "age, weight, region"):
        assert np.isnan(found.value[target])
        assert (found.low[target], found.high[target]) == (291 / 300, 299 / 300)
    assert found.value["age, weight, postcode"] == found.value["diagnosis from age, weight, postcode"] == 1
    assert found.value["weight, postcode"] == 286 / 300, "14 are missed"
    assert found.value["region"] == 5 / 300, "five groups are no people"
    told = found.value.dropna() * 300
    missed = 300 - told
    assert ((missed > 9.5) | (missed < 1e-9)).all()


def test_what_would_tell_of_few_people_is_withheld_too(ward):
    """The additive capacity, with the shares of the values; a leakage; where three of eight are missed."""
    for min_count, withheld in ((2, False), (3, True)):  # six of eight are guessed right
        found = questions.leakage(ward, [Identity()], min_count=min_count)
        for measure in ("sensitive_vulnerability", "sensitive_leakage", "sensitive_additive_capacity"):
            assert np.isnan(value(found, measure)) == withheld
        assert value(found, "identity_vulnerability") == 3 / 8, "three groups are no people, and five are missed"
    assert np.isnan(value(questions.leakage(ward, [Identity()], min_count=6), "identity_leakage"))


# Aims of one's own


def test_worth_by_hand(ward):
    """Silence is worth 0, a right guess 1, a wrong one -2: a guess is worth a try above two thirds.

    Known: two of three have flu (0), one of one gout (1), three of four gout (3 - 2). Before: five of eight, silence.
    """
    gain = pd.DataFrame([[1, -2], [-2, 1], [0, 0]], index=["flu", "gout", "nothing"], columns=["flu", "gout"])
    row = one(questions.worth(ward, [Identity()], gain, min_count=2), measure="expected_gain")
    assert (row.value, row.baseline) == (pytest.approx(2 / 8), 0)
    assert one(questions.worth(ward, [Suppress()], gain, min_count=2), measure="expected_gain").value == 0
    assert questions.worth(ward, [Identity()], gain)[["value", "baseline"]].isna().all(axis=None), "of eight people"


def test_worth_of_a_right_guess_is_the_vulnerability(sample, family):
    names = sorted(sample.schema["occupation"].domain.values)
    gain = pd.DataFrame(np.eye(len(names)), columns=names)
    worth = questions.worth(sample, FAMILY, gain)
    for row in worth.itertuples():
        assert row.measure == "expected_gain" + "_at_most" * row.sanitizer.endswith(("Noise", "Response"))
        what = "bucket" if row.sanitizer in ("Anatomy", "Bucketize") else "sensitive"
        measure = row.measure.replace("expected_gain", f"{what}_vulnerability")
        same = one(family, measure=measure, sanitizer=row.sanitizer, parameters=row.parameters)
        assert (row.value, row.baseline) == (pytest.approx(same.value), pytest.approx(same.baseline))


def test_what_cannot_be_asked_is_refused(ward):
    with pytest.raises(
        ValueError, match=r"the columns of `gain` lack values of 'illness': gout\. Give each value a column"
    ):
        questions.worth(ward, [Identity()], pd.DataFrame({"flu": [1]}))
    for function in (questions.known_subsets, questions.leakage):
        with pytest.raises(ValueError, match="'sex' is a quasi-identifier of 'ward', so the adversary knows it"):
            function(ward, [Identity()], sensitive="sex")
        with pytest.raises(ValueError, match="min_count must be a whole number of at least 2; got 1"):
            function(ward, [Identity()], min_count=1)


def test_an_owners_own_table():
    """Numbers in steps of 0.5, postcodes, unknown regions."""
    clinic = load(str(CLINIC))
    sanitizers = [Identity(), Mondrian(KAnonymity(5)), LaplaceNoise(5.0), GeometricNoise(5.0), RandomizedResponse(2.0)]
    sanitizers.append(Anatomy(2, "diagnosis"))
    found = questions.leakage(clinic, sanitizers)
    assert found.sanitizer.drop_duplicates().tolist() == [type(sanitizer).__name__ for sanitizer in sanitizers]
    counts = gains.class_counts(disclosures.sanitize_or_replace(clinic, sanitizers[1]), "diagnosis")
    assert value(found, "sensitive_vulnerability", sanitizer="Mondrian") == pytest.approx(
        gains.posterior_accuracy(counts)
    )
    assert questions.known_subsets(clinic, [Identity()]).target.nunique() == 30
    pd.testing.assert_frame_equal(found, questions.leakage(clinic, sanitizers))
