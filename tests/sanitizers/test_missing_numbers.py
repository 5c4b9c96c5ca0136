"""A missing number stays missing in every release, or the release says how many were filled, or there is none."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_contracts import HIERARCHIES, INSTANCES, SCHEMA, toy

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import UNTRUE, Rows
from privnb.privacy_models import KAnonymity
from privnb.privacy_models.anonymity import OwnAnonymity
from privnb.publishing.gate import gate
from privnb.sanitizers import (
    AdditiveNoise,
    DataSwapping,
    GeometricNoise,
    LaplaceNoise,
    LognormalNoise,
    Microaggregation,
    RankSwapping,
    Rotation,
    Rounding,
    SanitizationError,
    TopBottomCoding,
    UnivariateMicroaggregation,
)
from privnb.sanitizers.noise.local_noise import NumericNoise

GAPS = Schema(
    "toy", tuple(replace(a, domain=replace(a.domain, missing="NA")) if a.numeric else a for a in SCHEMA.attributes)
)
NUMBERS = ["age", "weight"]
AGES = Numbers(0, 99, missing="NA")
FILLED = re.compile(r"(\d+) of '(\w+)'")
every = pytest.mark.parametrize("sanitizer", INSTANCES, ids=repr)


def with_gaps(schema=GAPS, rows=60, **share):
    """The table of the contracts with missing numbers in two columns and missing categories, marked `?`."""
    table, rng = toy(rows).table.copy(), np.random.default_rng(3)
    for name, part in ({"age": 0.25, "weight": 0.1} | share).items():
        table[name] = table[name].astype(float).mask(rng.random(rows) < part)
    hierarchies = HIERARCHIES | {"weight": flat(schema["weight"])}
    hierarchies["age"] = Intervals(schema["age"].domain, (5, 10, 20, 50, 100))
    return Dataset("toy", table, schema, hierarchies)


def read(release, name):
    """Which cells of a released column are missing, and which are `*`."""
    cells = pd.Series(np.asarray(release.table[name], dtype=object))
    return (cells.isna() | (cells == "NA")).to_numpy(), (cells == "*").to_numpy()


@every
def test_a_missing_number_stays_missing_or_the_release_counts_it(sanitizer):
    data = with_gaps()
    if isinstance(sanitizer, NumericNoise):
        with pytest.raises(SanitizationError, match=r"numbers of age, weight may be missing, .*`missing_is_public = "):
            sanitizer.sanitize(data, rng=1)
        return
    release = sanitizer.sanitize(data, rng=1)
    note = release.provenance.note
    counted = {name: int(many) for many, name in FILLED.findall(note)}
    assert bool(counted) == ("Missing numbers were replaced by numbers drawn from their columns" in note)
    if release.provenance.rows is Rows.SYNTHETIC:
        assert counted == {name: int(data.table[name].isna().sum()) for name in NUMBERS}
        return
    records = np.arange(len(data)) if release.records is None else release.records
    for name in NUMBERS:
        before = data.table[name].isna().to_numpy()[records]
        missing, hidden = read(release, name)
        invented = (before & ~missing & ~hidden).sum()
        if name in release.treated("suppressed") and len(release.table.columns) > len(data.schema.published):
            assert counted[name] == before.sum(), "new columns are made of the numbers"
        else:
            assert counted.get(name, 0) == invented
        assert not (missing & ~before).any(), "no number becomes missing"


@pytest.mark.parametrize("sanitizer", [each for each in INSTANCES if each.treatment in UNTRUE], ids=repr)
def test_a_release_of_a_complete_table_does_not_depend_on_whether_numbers_may_be_missing(sanitizer):
    complete = with_gaps(age=0, weight=0)
    plain = Dataset("toy", complete.table, SCHEMA, with_gaps(SCHEMA, age=0, weight=0).hierarchies)
    if isinstance(sanitizer, NumericNoise):
        with pytest.raises(SanitizationError, match="may be missing"):  # a refusal must not tell that some are
            sanitizer.sanitize(complete, rng=1)
        return
    releases = [sanitizer.sanitize(each, rng=1) for each in (complete, plain)]
    pd.testing.assert_frame_equal(*(each.table for each in releases), check_dtype=False)
    assert releases[0].provenance.note == releases[1].provenance.note


def lone(values, name="age", **columns):
    attributes = [Attribute(each, Role.QUASI_IDENTIFIER, AGES) for each in (name, *columns)]
    attributes.append(Attribute("ill", Role.SENSITIVE, Categories(("a", "b"))))
    schema = Schema("lone", tuple(attributes))
    table = pd.DataFrame({name: values, **columns, "ill": np.resize(["a", "b"], len(values))})
    return Dataset("lone", table, schema, {each: flat(schema[each]) for each in schema.quasi_identifiers})


@pytest.mark.parametrize("sanitizer", [Microaggregation(3), UnivariateMicroaggregation(3)], ids=repr)
@pytest.mark.parametrize("gaps", [1, 2, 3, 7, 17, 18, 19])
def test_a_class_of_missing_numbers_has_k_people_or_none(sanitizer, gaps):
    ages = np.arange(20.0, 40.0)
    ages[:gaps] = np.nan
    release = sanitizer.sanitize(lone(ages), rng=1)
    assert release.provenance.claims == (KAnonymity(3),)
    assert release.table["age"].value_counts(dropna=False).min() >= 3
    there = 20 - gaps
    filled = gaps if gaps < 3 or there < 3 else 0
    counted = FILLED.findall(release.provenance.note)
    assert counted == ([(str(filled), "age")] if filled else [])
    assert release.table["age"].isna().sum() == gaps - filled
    assert release.table["age"].dropna().between(20 + gaps, 39).all(), "the middle of the domain is nobody's age"


def test_each_pattern_of_missing_numbers_is_a_group_of_its_own():
    rng = np.random.default_rng(0)
    age, hours = rng.integers(0, 99, (2, 200)).astype(float)
    age[:30], hours[20:60] = np.nan, np.nan
    age[60], hours[61] = np.nan, np.nan
    release = Microaggregation(12).sanitize(lone(age, hours=hours), rng=1)
    classes = release.table.groupby(["age", "hours"], dropna=False).size()
    assert classes.min() >= 12
    assert release.people_per_class.min() >= 12
    assert {(name, int(many)) for many, name in FILLED.findall(release.provenance.note)} == {("age", 10), ("hours", 10)}
    assert release.table["age"].isna().sum() == 31 - 10


def test_records_with_a_k_of_their_own_are_not_few_in_their_pattern():
    attributes = Attribute("age", Role.QUASI_IDENTIFIER, AGES), Attribute("k", Role.SENSITIVE, Categories(("3", "6")))
    schema, ages = Schema("own", attributes), np.arange(40.0)
    ages[:4] = np.nan
    table = pd.DataFrame({"age": ages, "k": np.resize(["3", "6"], 40)})
    data = Dataset("own", table, schema, {"age": flat(schema["age"])})
    release = Microaggregation(OwnAnonymity((3, 6), "k")).sanitize(data, rng=1)
    assert release.provenance.claims == (OwnAnonymity((3, 6), "k"),)
    assert FILLED.findall(release.provenance.note) == [("4", "age")], "four are fewer than the six that two of them ask"
    few = Dataset("own", table.assign(k="3"), schema, data.hierarchies)
    alone = Microaggregation(OwnAnonymity((3, 6), "k")).sanitize(few, rng=1)
    assert alone.table["age"].isna().sum() == 4


def test_a_column_without_any_number():
    data = lone(np.full(20, np.nan), hours=np.arange(20.0))
    release = Microaggregation(5).sanitize(data, rng=1)
    assert release.table["age"].isna().all()
    assert release.people_per_class.min() >= 5
    with pytest.raises(
        SanitizationError, match=r"all numbers of age are missing, .*Give these columns the role 'unused'"
    ):
        Rotation().sanitize(data, rng=1)


@pytest.mark.parametrize("sanitizer", [RankSwapping(30), DataSwapping(0.9, "")], ids=repr)
def test_swapping_moves_the_numbers_that_are_there(sanitizer):
    ages = np.arange(60.0)
    ages[::4] = np.nan
    release = sanitizer.sanitize(lone(ages), rng=1)
    assert release.table["age"].isna().tolist() == np.isnan(ages).tolist()
    assert sorted(release.table["age"].dropna()) == sorted(ages[~np.isnan(ages)])
    assert (release.table["age"] != ages)[~np.isnan(ages)].any()


def test_thresholds_are_those_of_the_numbers_that_are_there():
    ages = np.arange(0.0, 80.0)
    half = np.concatenate([ages, np.full(80, np.nan)])
    release = TopBottomCoding(0.1).sanitize(lone(half), rng=1)
    alone = TopBottomCoding(0.1).sanitize(lone(ages), rng=1)
    assert release.table["age"][:80].tolist() == alone.table["age"].tolist()
    assert release.table["age"][80:].isna().all()


@pytest.mark.parametrize("kind", [LaplaceNoise, GeometricNoise])
def test_epsilon_covers_whether_a_number_is_missing_or_says_that_it_is_public(kind):
    public = Schema(
        "toy",
        tuple(
            replace(a, domain=replace(a.domain, missing="NA", missing_is_public=True)) if a.numeric else a
            for a in SCHEMA.attributes
        ),
    )
    data = with_gaps(public)
    release = kind(1.0).sanitize(data, rng=None)
    for name in NUMBERS:
        assert release.table[name].isna().tolist() == data.table[name].isna().tolist()
    promise = release.provenance.promise
    assert promise.epsilon == 2
    assert (
        "It does not cover which numbers of age, weight are missing: the owner declares that public."
        in promise.statement
    )
    complete = with_gaps(SCHEMA, age=0, weight=0)
    assert "declared public" not in kind(1.0).sanitize(complete, rng=None).provenance.promise.statement


def test_a_number_is_drawn_from_its_column():
    """Were it the middle of the domain, the points of the two kinds of people would lie apart."""
    rng = np.random.default_rng(0)
    ages, hours = rng.integers(0, 10, 2_000).astype(float), rng.integers(0, 10, 2_000).astype(float)
    ages[:1_000] = np.nan
    release = Rotation().sanitize(lone(ages, hours=hours), rng=1)
    rows = release.table[["rotated 1", "rotated 2"]].to_numpy()
    gap, there = rows[:1_000].mean(axis=0), rows[1_000:].mean(axis=0)
    assert np.abs(gap - there).max() < 0.01
    assert "1,000 of 'age'" in release.provenance.note


@pytest.mark.parametrize("sanitizer", [AdditiveNoise(), Rounding(), TopBottomCoding(), LognormalNoise()], ids=repr)
def test_the_gate_refuses_a_release_in_which_one_person_lacks_a_number(sanitizer):
    ages = np.repeat(np.arange(10.0) + 30, 4)
    for gaps, allowed in ((0, True), (1, False), (2, True)):
        ages[:gaps] = np.nan
        verdict = gate(sanitizer.sanitize(lone(ages), rng=1))
        assert verdict.allowed == allowed
    assert "One person is unique in" in gate(sanitizer.sanitize(lone(np.append(np.nan, ages[2:])), rng=1)).refusal
