"""Combinations with their counts stand for records: whatever is asked of them comes out alike."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from support import person_key

from privnb.attacks import Linkage
from privnb.datasets.dataset import load
from privnb.evaluation import evaluate
from privnb.microdata.rows import CombinationTable
from privnb.microdata.schema import Role
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import FrequencyDiversity, KAnonymity, KMap, TCloseness
from privnb.sanitizers import (
    Bucketize,
    FullDomain,
    KMember,
    LaplaceNoise,
    LocalRecoding,
    Mondrian,
    RareCategories,
    SanitizationError,
    Suppress,
    TopDownSpecialization,
)
from privnb.sanitizers.catalogue import kinds


def sanitizers(secret):
    return [
        Mondrian(KAnonymity(3)),
        Mondrian(KAnonymity(2), TCloseness(0.4, secret), split_attribute="penalty"),
        LocalRecoding(KAnonymity(2), FrequencyDiversity(1.2, secret)),
        FullDomain(KAnonymity(3), suppress=0.1),
        FullDomain(TCloseness(0.3, secret), suppress=20),
        TopDownSpecialization(KAnonymity(3), workload=secret),
        Bucketize(Mondrian(KAnonymity(2))),
        RareCategories(20),
        Suppress(),
        Suppress("sensitive"),
    ]


def published(release):
    """Every published row but a bucket's number, and how often it stands."""
    cells = release.cells.drop(columns="bucket", errors="ignore").astype(str)
    times = np.ones(len(cells), dtype=int) if release.times is None else release.times
    return pd.Series(times).groupby([cells[name].to_numpy() for name in cells]).sum()


def outcome(sanitizer, data):
    try:
        release = sanitizer.sanitize(data, rng=1)
    except SanitizationError as refused:
        return str(refused)
    facts = release.provenance
    held = release.buckets
    return {
        "rows": published(release).to_dict(),
        "claims": facts.claims,
        "note": facts.note,
        "columns": {name: str(treatment) for name, treatment in release.columns.items()},
        "people": sorted(release.people_per_class),
        "suppressed": (release.suppressed, release.suppressed_people, release.headcount),
        "buckets": None if held is None else sorted(held.groupby("bucket")["count"].sum()),
        "levels": [
            sorted(np.concatenate([model.level(*each) for each in parts(model, release)])) for model in facts.claims
        ],
    }


def parts(model, release):
    some, whole = model.parts(release)
    return [(counts, whole) for counts in some]


@pytest.mark.slow
@settings(max_examples=25)  # tables, each by ten sanitizers
@given(st.integers(20, 60), st.integers(0, 2**20), st.booleans())
def test_what_is_made_of_counts_is_what_is_made_of_the_records(people, seed, alone):
    data = person_key.visits(people, rng=seed, **({"patient": Role.IDENTIFIER} if alone else {}))
    counted, place = CombinationTable.of(data)
    assert counted.record_count == len(data)
    assert np.array_equal(np.bincount(place), counted.times)
    assert (counted.schema.person is None) == alone
    for sanitizer in sanitizers("ill"):
        assert outcome(sanitizer, counted) == outcome(sanitizer, data), sanitizer


@pytest.mark.slow
def test_the_same_of_adult_in_all_studies():
    for study in ("sramka", "occupation", "li-li"):
        data = load("adult", study, records=1500)
        counted, _ = CombinationTable.of(data)
        assert len(counted) < len(data)
        for sanitizer in sanitizers(data.schema.sensitive[0]):
            assert outcome(sanitizer, counted) == outcome(sanitizer, data), (study, sanitizer)


def test_every_kind_that_works_by_combinations_is_tried():
    tried = {type(each) for each in sanitizers("ill")}
    own = [kind for kind in kinds().values() if kind.__module__.startswith("privnb.")]
    assert tried == {kind for kind in own if kind.by_combinations}


def test_what_counts_a_population_counts_the_same(visits):
    known = ["age", "sex", "town"]
    model = KMap(3, population=pd.concat([visits.table[known], person_key.table(300, rng=3)[known]]))
    counted, _ = CombinationTable.of(visits)
    assert outcome(Mondrian(model), counted) == outcome(Mondrian(model), visits)


@pytest.fixture
def visits():
    return person_key.visits(40, patient=Role.IDENTIFIER)


def test_what_needs_records_refuses_counts(visits):
    counted, _ = CombinationTable.of(visits)
    for sanitizer in (KMember(3), LaplaceNoise(1.0)):
        with pytest.raises(TypeError, match="dataset must be a Dataset; got a CombinationTable"):
            sanitizer.sanitize(counted, rng=1)
    with pytest.raises(TypeError, match="got a CombinationTable"):
        evaluate(counted, [Suppress()], attacks=[Linkage()])
    release = Suppress().sanitize(counted, rng=1)
    for ask in (release.publish, release.show, lambda: release._published(1)):
        with pytest.raises(Unreadable, match="combinations and their counts"):
            ask()


def test_counts_are_whole_numbers_one_per_row(visits):
    counted, _ = CombinationTable.of(visits)
    for times in (counted.times[1:], counted.times * 0, counted.times / 2):
        with pytest.raises(ValueError, match="`times` must be an array"):
            CombinationTable("visits", counted.cells, counted.schema, counted.hierarchies, times)


def test_counting_again_changes_nothing(visits):
    once, _ = CombinationTable.of(visits)
    twice, place = CombinationTable.of(once)
    assert twice.cells.astype(str).equals(once.cells.astype(str))
    assert np.array_equal(twice.times, once.times)
    assert np.array_equal(place, np.arange(len(once)))
    assert "patient" not in repr(once)


def test_values_that_ten_people_share_are_counted_in_people():
    data = person_key.visits(60)
    counted, _ = CombinationTable.of(data)
    alone, _ = CombinationTable.of(person_key.visits(60, patient=Role.IDENTIFIER))
    for name in data.shared:
        assert np.array_equal(counted.shared[name], data.shared[name])
    assert any(
        len(alone.shared[name]) != len(data.shared[name]) for name in data.shared
    )  # records are more than people
