"""Microaggregation: the literature's figures, what it keeps of numbers and people, and what it refuses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb import load
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, flat, taxonomies
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity, grade_release
from privnb.sanitizers import Microaggregation, SanitizationError

SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99, missing="NA")),
        Attribute("height", Role.QUASI_IDENTIFIER, Numbers(1, 2.5, step=0.01)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
        Attribute("grade", Role.QUASI_IDENTIFIER, Categories(("one", "two", "three", "four"))),
        Attribute("illness", Role.SENSITIVE, Categories(("cough", "flu"))),
    ),
)
TOWNS = taxonomies.lists(SCHEMA["town"], {"north": ["a", "b"], "south": ["c", "d"]})
HIERARCHIES = {
    "age": Intervals(SCHEMA["age"].domain, (5, 10, 20, 50, 100)),
    "height": Ranges(SCHEMA["height"].domain),
    "town": TOWNS,
    "grade": Ordered("grade", SCHEMA["grade"].domain.values),
}


def people(rows=60, seed=0, **columns):
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.integers(0, 100, rows),
        "height": np.round(rng.normal(1.7, 0.1, rows), 2).clip(1, 2.5),
        "town": rng.choice(list("abcd"), rows),
        "grade": rng.choice(["one", "two", "three", "four"], rows),
        "illness": rng.choice(["cough", "flu"], rows),
    }
    return Dataset("people", pd.DataFrame(table | columns), SCHEMA, HIERARCHIES)


def within(release, dataset):
    """SSE/SST in per cent of standardized columns (population standard deviation): the literature's loss."""
    before = dataset.table[dataset.schema.quasi_identifiers].to_numpy(dtype=float)
    after = release.table[dataset.schema.quasi_identifiers].to_numpy(dtype=float)
    return 100 * (((after - before) / before.std(axis=0)) ** 2).sum() / before.size


@pytest.mark.parametrize(("k", "printed"), [(3, 5.6922), (5, 9.0884), (10, 14.1559)])
def test_census_loses_what_the_literature_prints(k, printed):
    """Domingo-Ferrer and Mateo-Sanz 2002 and later papers: MDAV on Census, all 13 columns."""
    census = load("census")
    release = Microaggregation(k).sanitize(census, rng=0)
    assert round(within(release, census), 4) == printed
    assert grade_release(KAnonymity(k), release) == k


def test_means_of_columns_stay():
    census = load("census")
    release = Microaggregation(10).sanitize(census, rng=0)
    assert release.table.mean().to_numpy() == pytest.approx(census.table.mean().to_numpy(), rel=1e-12)
    assert (release.table.std() < census.table.std()).all(), "what varies within groups is gone"


def test_every_group_is_published_alike_and_as_its_centre():
    data = people()
    release = Microaggregation(4).sanitize(data, rng=0)
    assert release.treated("perturbed") == ("age", "height", "town", "grade")
    assert release.treated("exact") == ("illness",)
    assert release.provenance.claims == (KAnonymity(4),)
    assert not release.provenance.simulation
    for rows in release.table.groupby(release.equivalence_classes).groups.values():
        before, after = data.table.loc[rows], release.table.loc[rows].iloc[0]
        assert 4 <= len(rows) < 8
        assert after["age"] == pytest.approx(before["age"].mean())
        assert after["height"] == pytest.approx(before["height"].mean())
        places = before["grade"].map(HIERARCHIES["grade"].leaves.index)
        assert after["grade"] == HIERARCHIES["grade"].leaves[round(places.mean())]
        assert after["town"] in {*before["town"]}


def test_towns_of_one_side_are_nearer():
    """Three of the north and two of one town of the south: the centre is in the north, not the most common town."""
    towns = ["a", "b", "a", "b", "c", "c", "c"]
    data = people(7, town=towns, grade=["one"] * 7, age=[50] * 7, height=[1.7] * 7)
    release = Microaggregation(7).sanitize(data, rng=0)
    # Squared distances: towns of one side meet at half the height. a: 2/4 + 3; c: 4.
    assert {*release.table["town"]} == {"a"}


def test_blocks_are_grouped_by_themselves():
    data = people()
    together = Microaggregation(5).sanitize(data, rng=0)
    blocks = Microaggregation(5, blocks=[["age"], ["height", "grade"]])
    apart = blocks.sanitize(data, rng=0)
    assert blocks.blocks == (("age",), ("height", "grade"))
    assert apart.treated("exact") == ("town", "illness")
    assert apart.provenance.claims == ()
    assert "no k is promised" in apart.provenance.note
    assert (apart.table["age"].value_counts() >= 5).all()
    assert (apart.table.groupby(["height", "grade"]).size() >= 5).all()
    loss = [np.mean((each.table["age"] - data.table["age"]) ** 2) for each in (together, apart)]
    assert loss[1] < loss[0] / 5, "one number alone loses little"
    one = Microaggregation(5, (("age", "height", "town", "grade"),)).sanitize(data, rng=0)
    assert one.provenance.claims == (KAnonymity(5),)
    pd.testing.assert_frame_equal(one.table, together.table)


def test_a_missing_number_stays_missing():
    ages = np.where(np.arange(60) % 3 == 0, np.nan, 20.0)
    release = Microaggregation(20).sanitize(people(age=ages), rng=0)
    assert release.table["age"].isna().tolist() == np.isnan(ages).tolist()
    assert release.table["age"].mean() == 20
    assert release.people_per_class.min() >= 20


def test_columns_of_one_value_and_tables_of_one_group():
    data = people(5, height=[1.5] * 5)
    release = Microaggregation(3).sanitize(data, rng=0)
    assert release.table["height"].tolist() == pytest.approx([1.5] * 5)
    assert len({*release.table["age"]}) == 1


@pytest.mark.parametrize("k", [1, 0, 2.5, True, "3"])
def test_k_must_be_a_whole_number_from_two(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 2"):
        Microaggregation(k)


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        ("age", TypeError, r"blocks must be a list .* got 'age'\. Give blocks of names"),
        (("age", "town"), TypeError, r"blocks\[0\] must be a list or tuple; got 'age'"),
        ((("age", 3),), ValueError, r"blocks\[0\] must be a list of quasi-identifiers"),
        ((("age",), ("town", "age")), ValueError, "each quasi-identifier once; got age in several"),
        (((),), ValueError, "must each name at least one quasi-identifier"),
    ],
)
def test_blocks_that_are_none(blocks, error, message):
    with pytest.raises(error, match=message):
        Microaggregation(3, blocks)


def test_what_a_table_cannot_give():
    data = people()
    before = data.table.copy()
    with pytest.raises(SanitizationError, match=r"Microaggregation\(k=61, .* has 60 records\. Lower k to 60 or less"):
        Microaggregation(61).sanitize(data, rng=0)
    with pytest.raises(
        SanitizationError, match=r"quasi-identifiers of 'people', which are age, h.*; got \['illness'\]"
    ):
        Microaggregation(3, (("age", "illness"),)).sanitize(data, rng=0)
    bare = replace(data, schema=SCHEMA.with_roles({"illness": Role.SENSITIVE}), table=data.table[["illness"]])
    with pytest.raises(SanitizationError, match="has no quasi-identifier to average"):
        Microaggregation(3).sanitize(replace(bare, hierarchies={}), rng=0)
    pd.testing.assert_frame_equal(data.table, before)


def test_a_set_has_its_commonest_value():
    data = replace(people(), hierarchies=HIERARCHIES | {"town": flat(SCHEMA["town"])})
    release = Microaggregation(60).sanitize(data, rng=0)
    counts = data.table["town"].value_counts()
    assert release.table["town"].iloc[0] in counts.index[counts == counts.max()]
