"""Bucketization and Anatomy: what the two tables say together, and what they do not."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from support import questions

from privnb import evaluation
from privnb.attacks import Linkage, MinerInference
from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure import gains, linkage
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.miners import reference_set
from privnb.privacy_models import (
    AlphaKAnonymity,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    KMap,
    TCloseness,
    grade_release,
)
from privnb.sanitizers import Anatomy, Bucketize, Identity, KMember, LaplaceNoise, SanitizationError, Suppress
from privnb.sanitizers.generalization.anatomy import _groups
from privnb.sanitizers.generalization.bucketize import publish_in_buckets
from privnb.sanitizers.generalization.mondrian import Mondrian

DISEASES = ("bronchitis", "dyspepsia", "flu", "gastritis", "pneumonia")


def hospital(diseases, ages=None, visits=None):
    """A table of people with these diseases; with `visits` a second sensitive attribute."""
    columns = {"age": (Role.QUASI_IDENTIFIER, Numbers(0, 99), range(20, 20 + len(diseases)) if ages is None else ages)}
    columns["disease"] = Role.SENSITIVE, Categories(DISEASES), diseases
    if visits is not None:
        columns["visits"] = Role.SENSITIVE, Numbers(0, 9), visits
    schema = Schema("hospital", tuple(Attribute(name, role, domain) for name, (role, domain, _) in columns.items()))
    table = pd.DataFrame({name: list(values) for name, (_, _, values) in columns.items()})
    return Dataset("hospital", table, schema, {"age": flat(schema["age"])})


def contents(release, name="disease"):
    """The multiset of each bucket's values: Counters by bucket number."""
    held = {}
    for attribute, bucket, value, count in release.buckets.itertuples(index=False):
        if attribute == name:
            held.setdefault(bucket, Counter())[value] += count
    return held


@pytest.fixture(scope="module")
def adult():
    return load("adult", "occupation", records=600)


@pytest.fixture(scope="module")
def pair(adult):
    """A generalized release and its bucketized form."""
    return [sanitizer.sanitize(adult, rng=1) for sanitizer in (KMember(5), Bucketize(KMember(5)))]


def test_the_example_of_xiao_and_tao():
    """VLDB 2006, tables 1 and 3: eight patients, two groups of four; tables (a) by row and (b) by group."""
    diseases = ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"]
    data = hospital(diseases, [23, 27, 35, 59, 61, 65, 65, 70])
    groups = np.repeat([0, 1], 4)
    rows, facts = publish_in_buckets(data, data.table, groups, np.random.default_rng(0))
    numbers = rows.bucket.unique()
    assert rows.age.tolist() == [23, 27, 35, 59, 61, 65, 65, 70]
    assert rows.bucket.tolist() == numbers[groups].tolist()
    assert set(facts["buckets"].itertuples(index=False, name=None)) == {
        ("disease", numbers[0], "dyspepsia", 2),
        ("disease", numbers[0], "pneumonia", 2),
        ("disease", numbers[1], "bronchitis", 1),
        ("disease", numbers[1], "flu", 2),
        ("disease", numbers[1], "gastritis", 1),
    }


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(diseases=st.lists(st.sampled_from(DISEASES), min_size=4, max_size=40), seed=st.integers(0, 99), data=st.data())
def test_each_value_is_published_as_often_as_it_occurs_and_never_in_a_row(diseases, seed, data):
    visits = data.draw(st.lists(st.integers(0, 9), min_size=len(diseases), max_size=len(diseases)))
    patients = hospital(diseases, visits=visits)
    for sanitizer in (Bucketize(KMember(3)), Anatomy(2, "disease")):
        try:
            release = sanitizer.sanitize(patients, rng=seed)
        except SanitizationError:
            assert max(Counter(diseases).values()) * 2 > len(diseases)
            continue
        assert list(release.table) == ["age", "bucket"]
        for name, column in (("disease", diseases), ("visits", visits)):
            assert sum(contents(release, name).values(), Counter()) == Counter(column)
            sizes = {bucket: values.total() for bucket, values in contents(release, name).items()}
            assert sizes == Counter(release.table.bucket)


@given(seed=st.integers(0, 10**6))
def test_nothing_published_depends_on_whose_value_is_whose(seed):
    """Dealt anew within its bucket, every value leads to the same two tables."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(5), 4))
    diseases = rng.choice(DISEASES, 20)
    dealt = np.empty_like(diseases)
    for group in range(5):
        dealt[groups == group] = rng.permutation(diseases[groups == group])
    published = []
    for column in (diseases, dealt):
        data = hospital(column)
        rows, facts = publish_in_buckets(data, data.table, groups, np.random.default_rng(3))
        published.append((rows, facts["buckets"]))
    pd.testing.assert_frame_equal(published[0][0], published[1][0])
    pd.testing.assert_frame_equal(published[0][1], published[1][1])


@pytest.mark.slow
def test_buckets_are_numbered_by_lot():
    """So that the first is not the one with the first records, or the one that was made first."""
    data = hospital(["flu", "gastritis"] * 4)
    groups = np.repeat(np.arange(4), 2)
    firsts = [publish_in_buckets(data, data.table, groups, np.random.default_rng(s))[0].bucket[0] for s in range(400)]
    assert all(60 <= times <= 140 for times in np.bincount(firsts, minlength=4))


@settings(max_examples=100, deadline=None)
@given(counts=st.lists(st.integers(0, 12), min_size=5, max_size=5), l=st.integers(2, 5), seed=st.integers(0, 99))
def test_anatomy_puts_different_values_into_every_bucket(counts, l, seed):  # noqa: E741
    diseases = np.repeat(DISEASES, counts)
    if len(diseases) < 2:
        return
    data = hospital(np.random.default_rng(seed).permutation(diseases))
    if max(counts) * l > len(diseases):
        with pytest.raises(SanitizationError, match="more than one in"):
            Anatomy(l, "disease").sanitize(data, rng=seed)
        return
    release = Anatomy(l, "disease").sanitize(data, rng=seed)
    held = contents(release)
    assert len(held) == len(diseases) // l, "a bucket fewer than can be"
    for values in held.values():
        assert set(values.values()) == {1}
        assert l <= values.total() < 2 * l
    assert release.provenance.claims == (FrequencyDiversity(l, "disease"),)
    assert grade_release(FrequencyDiversity(2, "disease"), release) >= l
    assert grade_release(DistinctDiversity(2, "disease"), release) >= l
    assert grade_release(EntropyDiversity(2, "disease"), release) >= l * (1 - 1e-12)


def test_anatomy_draws_any_record_of_a_value():
    """Of three with flu each is as likely to share a bucket with the first who has gastritis, wherever they stand."""
    flu_or_gastritis, partners = np.array([0, 1, 0, 1, 0, 1]), Counter()
    for seed in range(300):
        bucket = _groups(flu_or_gastritis, 2, np.random.default_rng(seed))
        partners[next(i for i in (0, 2, 4) if bucket[i] == bucket[1])] += 1
    assert all(70 <= partners[i] <= 130 for i in (0, 2, 4)), partners


def test_anatomy_draws_any_home_for_who_is_left_over():
    """Seven people, l = 2, three buckets: the seventh joins one without their value, each as often as the other."""
    diseases, largest = np.array([0, 0, 0, 1, 1, 2, 3]), Counter()
    for seed in range(300):
        bucket = _groups(diseases, 2, np.random.default_rng(seed))
        assert sorted(np.bincount(bucket)) == [2, 2, 3]
        largest[frozenset(diseases[bucket == np.bincount(bucket).argmax()])] += 1
    assert len(largest) > 1
    assert min(largest.values()) > 90


def test_anatomy_says_which_value_is_too_common_and_what_can_be_had():
    data = hospital(["flu"] * 20 + ["gastritis", "pneumonia", "pneumonia", "dyspepsia"] * 5)
    said = r"more than one in 3 records have 'flu', 50\.0% of all\. Lower l to 2"
    with pytest.raises(SanitizationError, match=said):
        Anatomy(3, "disease").sanitize(data, rng=0)
    Anatomy(2, "disease").sanitize(data, rng=0)
    with pytest.raises(SanitizationError, match="A smaller l does not help: choose another sanitizer"):
        Anatomy(2, "disease").sanitize(hospital(["flu", "flu", "gastritis"]), rng=0)


@pytest.mark.parametrize("l", [1, 0, -2, 2.5, True, "2"])
def test_l_must_be_a_whole_number_from_two(l):  # noqa: E741
    with pytest.raises(ValueError, match="l must be a whole number of at least 2"):
        Anatomy(l, "disease")


def test_anatomy_protects_a_sensitive_attribute():
    with pytest.raises(SanitizationError, match="'age' is not a sensitive attribute of 'hospital', which has disease"):
        Anatomy(2, "age").sanitize(hospital(["flu", "gastritis"]), rng=0)


def test_other_sensitive_attributes_are_published_apart_and_without_a_promise():
    data = hospital(["flu", "gastritis"] * 3, visits=[5] * 6)
    release = Anatomy(2, "disease").sanitize(data, rng=0)
    assert all(values == {5: 2} for values in contents(release, "visits").values())
    assert "The association between disease and visits is lost" in release.provenance.note
    assert "The release promises nothing about visits" in release.provenance.note
    assert grade_release(DistinctDiversity(2, "visits"), release) == 1


def test_models_of_sensitive_values_reach_the_same_level_in_buckets_as_in_classes(pair):
    name = "occupation"
    for model in (
        TCloseness(0.5, name), DeltaDisclosure(1.0, name), FrequencyDiversity(2, name), DistinctDiversity(2, name),
        AlphaKAnonymity(0.5, 2, name),
    ):  # fmt: skip
        assert grade_release(model, pair[1]) == pytest.approx(grade_release(model, pair[0]))


def test_models_of_people_are_graded_by_the_exact_quasi_identifiers(pair, adult):
    intact = Identity().sanitize(adult, rng=0)
    assert grade_release(KAnonymity(5), pair[0]) >= 5
    assert grade_release(KAnonymity(5), pair[1]) == grade_release(KAnonymity(5), intact) == 1
    crowd = KMap(2, population=pd.concat([adult.table] * 3))
    assert grade_release(crowd, pair[1]) == grade_release(crowd, intact) == 3


def test_claims_of_people_who_look_alike_are_given_up():
    models = KAnonymity(10), AlphaKAnonymity(1.0, 2, "disease"), FrequencyDiversity(1.01, "disease")
    release = Bucketize(Mondrian(*models)).sanitize(hospital(DISEASES * 2), rng=0)
    assert release.provenance.claims == (FrequencyDiversity(1.01, "disease"),)
    note = release.provenance.note
    assert "Note of the partition: No cut is allowed" in note, "what the partition says of itself goes for its buckets"
    assert "KAnonymity(k=10) and AlphaKAnonymity(alpha=1.0, k=2, sensitive='disease')" in note
    assert "cannot claim" in note


def test_suppressed_records_are_published_with_their_quasi_identifiers():
    data = hospital(DISEASES)
    release = Bucketize(Suppress()).sanitize(data, rng=0)
    assert release.suppressed == 0
    assert release.table.age.tolist() == data.table.age.tolist()
    assert "suppressed form one bucket" in release.provenance.note


@pytest.mark.parametrize("partition", [LaplaceNoise(1.0), Anatomy(2, "disease"), Bucketize(KMember(2))], ids=repr)
def test_a_partition_needs_equivalence_classes(partition):
    with pytest.raises(
        SanitizationError, match=r"release of the partition \(.*(noisy|bucketized).*\) has no equivalence classes"
    ):
        Bucketize(partition).sanitize(hospital(DISEASES), rng=0)


def test_a_partition_is_a_sanitizer():
    with pytest.raises(TypeError, match=r"partition must be a Sanitizer; got 10"):
        Bucketize(10)


def test_a_column_named_bucket_is_refused():
    data = hospital(DISEASES)
    schema = Schema("hospital", (*data.schema.attributes, Attribute("bucket", Role.NEUTRAL, Numbers(0, 9))))
    named = Dataset("hospital", data.table.assign(bucket=3), schema, data.hierarchies)
    with pytest.raises(SanitizationError, match=r"has a column 'bucket'.* Rename the column"):
        Bucketize(KMember(2)).sanitize(named, rng=0)


def test_there_must_be_something_to_hide():
    data = hospital(DISEASES)
    bare = Dataset("hospital", data.table[["age"]], Schema("hospital", data.schema.attributes[:1]), data.hierarchies)
    with pytest.raises(SanitizationError, match="no sensitive attribute to hide"):
        Bucketize(KMember(2)).sanitize(bare, rng=0)


def test_linking_is_as_easy_as_in_the_original(adult, pair):
    found = []
    for release in (Identity().sanitize(adult, rng=0), pair[1], pair[0]):
        published, key = release._published(1)
        found.append(linkage.reidentification_rate(Linkage().fit(published), adult, key))
    assert found[0] == pytest.approx(found[1])
    assert found[0][0] > 2 * found[2][0], "generalized, the same classes do hide people"


def test_miners_refuse_buckets(pair):
    attack = MinerInference(reference_set("decision tree")[0], "age")
    with pytest.raises(ValueError, match=r"MinerInference reads columns that .*, bucketized.*: .*DeFinetti, .*Linkage"):
        attack.fit(pair[1]._published(1)[0])


def test_gains_are_those_of_the_classes(pair):
    for measure in (gains.accuracy_gain, gains.knowledge_gain):
        classes, buckets = (measure(gains.class_counts(release, "occupation")) for release in pair)
        assert buckets == pytest.approx(classes)
        assert buckets > 0
    dealt = [gains.permute_gains(release, "occupation", rng=2) for release in pair]
    assert dealt[0] == pytest.approx(dealt[1], abs=0.01)


@pytest.mark.slow
def test_evaluation_of_a_bucketized_release(adult):
    sanitizers = [Bucketize(KMember(5))]
    costs = evaluation.measure_information_loss(adult, sanitizers).set_index("measure").value
    assert set(costs.index) == {
        "buckets", "median_bucket_size", "k_achieved", "suppressed_records", "certainty_penalty"
    }  # fmt: skip
    assert costs["certainty_penalty"] == costs["suppressed_records"] == 0
    assert costs["k_achieved"] == 1
    assert costs["median_bucket_size"] >= 5
    linked = evaluation.measure_linkage(adult, [Identity(), *sanitizers])
    assert linked.value[0] == pytest.approx(linked.value[1])
    assert linked.parameters[1] == "partition=KMember k=5"
    assert len(evaluation.measure_adversary_gains(adult, sanitizers)) == 2
    for mined, released in (
        (evaluation.measure_good_utility, sanitizers),
        (questions.anti_utility, sanitizers[0]),
        (questions.gains_with_predictions, sanitizers[0]),
    ):
        for target in ("occupation", "sex"):
            found = mined(adult, released, miners="decision tree", target=target)
            (reason,) = found.reason[found.status == "refused"]
            assert re.search("MinerInference reads columns that .*, bucketized", reason)
