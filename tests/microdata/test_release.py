"""What a release says of itself, and what it hands out."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import encode_values
from privnb.microdata.hierarchy import flat, keep_exact_ends
from privnb.microdata.release import sort_by_content
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import TCloseness
from privnb.sanitizers import Bucketize, Identity, KMember, LaplaceNoise, Mondrian, Suppress

SCHEMA = Schema(
    "ward",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M"))),
        Attribute("disease", Role.SENSITIVE, Categories(("cough", "flu", "gout"))),
        Attribute("visits", Role.SENSITIVE, Numbers(0, 9)),
        Attribute("room", Role.NEUTRAL, Categories(("1", "2"))),
    ),
)
SANITIZERS = {
    "generalized": [Identity(), KMember(3), Suppress()],
    "noisy": [LaplaceNoise(1.0)],
    "bucketized": [Bucketize(KMember(3)), Bucketize(Suppress())],
}


def ward(rows=30):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 30, rows),
            "sex": rng.choice(["F", "M"], rows),
            "disease": rng.choice(["cough", "flu", "gout"], rows),
            "visits": rng.integers(0, 4, rows),
            "room": rng.choice(["1", "2"], rows),
        }
    )
    return Dataset("ward", table, SCHEMA, {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers})


@pytest.mark.parametrize("kind", SANITIZERS)
def test_a_release_and_what_it_publishes_say_the_same_of_their_columns(kind):
    for sanitizer in SANITIZERS[kind]:
        release = sanitizer.sanitize(ward(), rng=1)
        published, _ = release._published(2)
        assert release.columns == published.columns == release.provenance.columns
        assert release.treated(kind) == published.treated(kind)
        assert bool(release.treated(kind)) == (sanitizer not in (Identity(), Suppress()))
        assert release.generalized == (kind == "generalized")


def test_what_is_published_by_class():
    """A table's columns in its own order; what stands by bucket alone as often as it is counted."""
    data = ward()
    release = Bucketize(KMember(3)).sanitize(data, rng=1)
    classes, rooms = release.by_class("room")
    assert classes.tolist() == release.table.bucket.tolist()
    assert rooms.tolist() == data.table.room.tolist()
    for name in ("disease", "visits"):
        classes, values = release.by_class(name)
        published = sorted(zip(classes.tolist(), values, strict=True))
        assert published == sorted(zip(release.table.bucket, data.table[name], strict=True))
    with pytest.raises(SchemaError, match="has no attribute 'weight'"):
        release.by_class("weight")


def test_classes_are_buckets_and_look_alikes_are_not():
    release = Bucketize(Suppress()).sanitize(ward(), rng=1)
    assert set(release.classes) == {0}
    alike = release.table.groupby(["age", "sex"]).ngroup()
    assert len(set(release.equivalence_classes)) == alike.nunique() > 1
    clustered = KMember(3).sanitize(ward(), rng=1)
    assert clustered.classes is clustered.equivalence_classes
    assert LaplaceNoise(1.0).sanitize(ward(), rng=1).classes is None


@pytest.mark.parametrize("sanitizer", [KMember(3), Suppress(), Identity(), Bucketize(KMember(3)), LaplaceNoise(1.0)])
def test_labels_of_those_who_look_alike_are_those_of_the_rows(sanitizer):
    release = sanitizer.sanitize(ward(), rng=1)
    for name, (number, labels) in release.labels_alike.items():
        assert np.array_equal(labels[number][release.equivalence_classes], release.table[name])
    for name in release.table:
        for found, expected in zip(release.coded(name), encode_values(release.table[name]), strict=True):
            assert np.array_equal(found, expected)


def test_nobody_is_told_from_anybody_without_quasi_identifiers():
    schema = SCHEMA.with_roles({"disease": "sensitive", "room": "neutral"})
    release = Identity().sanitize(Dataset("ward", ward().table[["disease", "room"]], schema, {}), rng=1)
    assert set(release.equivalence_classes) == {0}
    assert not release.labels_alike


def test_buckets_are_handed_out_with_the_shuffled_rows():
    release = Bucketize(KMember(3)).sanitize(ward(), rng=1)
    published, key = release._published(2)
    assert sorted(key) == list(range(30)) != list(key)
    pd.testing.assert_frame_equal(published.table, release.table.iloc[key].reset_index(drop=True))
    pd.testing.assert_frame_equal(published.buckets, release.buckets)
    assert Identity().sanitize(ward(), rng=1)._published(2)[0].buckets is None


def test_no_text_of_a_release_shows_a_row():
    release = Bucketize(KMember(3)).sanitize(ward(), rng=1)
    published, _ = release._published(2)
    assert repr(published) == "Published(30 rows of age, sex, room, bucket)"
    assert repr(release) == "Release(30 rows of ward by Bucketize(partition=KMember(k=3, start=0)))"


def test_rows_beside_a_bucket_number_are_not_shown():
    """They hold people's own quasi-identifiers, whatever the buckets are claimed to keep."""
    for sanitizer in SANITIZERS["bucketized"] + SANITIZERS["noisy"]:
        release = sanitizer.sanitize(ward(), rng=1)
        assert release.has_unprotected_rows
        with pytest.raises(ValueError, match="are not shown"):
            release.show()
    assert not KMember(3).sanitize(ward(), rng=1).has_unprotected_rows


def test_the_note_leaves_with_the_release():
    provenance = Bucketize(KMember(3)).sanitize(ward(), rng=1).provenance
    assert provenance.note
    assert provenance.public()["note"] == provenance.note
    assert KMember(3).sanitize(ward(), rng=1).provenance.public()["note"] == ""


def test_public_provenance_is_plain():
    for sanitizers in SANITIZERS.values():
        for sanitizer in sanitizers:
            public = sanitizer.sanitize(ward(), rng=1).provenance.public()
            assert json.loads(json.dumps(public))["sanitizer"] == repr(sanitizer)
    assert public["parameters"] == {"partition": "Suppress(attributes='quasi-identifiers')"}


def test_a_claim_that_leaves_people_alone_shows_nobody():
    """A loose t is kept by classes of one."""
    data = replace(ward(), hierarchies={name: keep_exact_ends(own) for name, own in ward().hierarchies.items()})
    release = Mondrian(TCloseness(0.99, "disease")).sanitize(data, rng=0)
    assert np.bincount(release.classes).min() == 1
    with pytest.raises(ValueError, match="are not shown"):
        release.show()


def test_the_table_of_buckets_is_handed_out_in_the_order_of_its_new_numbers():
    """In its own order it would say which new number an old one has."""
    published, _ = Bucketize(KMember(3)).sanitize(ward(), rng=1).publish()
    pd.testing.assert_frame_equal(published.buckets, sort_by_content(published.buckets))


def test_rows_that_fewer_people_share_are_not_shown():
    release = KMember(3).sanitize(ward(), rng=1)
    assert 3 <= release.people_per_class.min() <= release.people_per_class.max() < 10
    assert len(release.show(min_count=3)) == 12
    assert release.show(min_count=10).empty


def test_a_record_is_suppressed_whose_quasi_identifiers_all_are():
    whole = Suppress().sanitize(ward(), rng=1)
    table = whole.table.assign(age=["20", *["*"] * 29], sex=["*", "F", *["*"] * 28])
    some = replace(whole, table=table)
    assert (whole.suppressed, whole.suppressed_people) == (30, 30)
    assert (some.suppressed, some.suppressed_people) == (28, 28)
