"""Cells blanked, rare categories recoded, values exchanged, records sampled: what is kept exactly, what is refused."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from support.plain_losses import classification_metric

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure import linkage
from privnb.measures.utility import information_loss
from privnb.microdata.hierarchy import Ordered, Sets, Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Rows
from privnb.sanitizers import (
    DataSwapping,
    Identity,
    LocalSuppression,
    RareCategories,
    Sampling,
    SanitizationError,
)
from privnb.sanitizers.generalization.local_suppression import choose_blank_cells

TOWNS = ("a1", "a2", "b1", "b2", "b3", "c1")
TREE = Taxonomy("town", tuple((town, town[0], "*") for town in TOWNS))
SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 69, missing="?")),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS)),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("f", "m"))),
        Attribute("ill", Role.SENSITIVE, Categories(("yes", "no"))),
        Attribute("ward", Role.NEUTRAL, Categories(("x", "y"))),
    ),
)


def people(towns, hierarchy=TREE, seed=0, **more):
    """`towns`: how many people are of each town."""
    rng, rows = np.random.default_rng(seed), sum(towns)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "town": np.repeat(TOWNS[: len(towns)], towns),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["yes", "no"], rows),
            "ward": rng.choice(["x", "y"], rows),
        }
    ).assign(**more)
    hierarchies = {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers} | {"town": hierarchy}
    return Dataset("people", table, SCHEMA, hierarchies)


@pytest.mark.parametrize(
    ("towns", "labels"),
    [
        ([40, 20, 30, 7, 5, 12], {"a1": 40, "a2": 20, "b1": 30, "b": 12, "c1": 12}),
        # c1 has no sibling, and takes what is rarest then to the top.
        ([40, 20, 30, 7, 5, 3], {"a1": 40, "a2": 20, "b1": 30, "*": 15}),
        ([4, 2], {"*": 6}),
    ],
)
def test_only_rare_leaves_of_a_tree_climb(towns, labels):
    """b2 and b3 meet at b, and b1, their sibling, stays as it is."""
    release = RareCategories(10).sanitize(people(towns), rng=1)
    assert release.table.groupby("town").size().to_dict() == labels
    assert release.treated("exact")[-2:] == ("ill", "ward")
    assert release.columns["town"].kind == ("generalized" if "b" in labels else "suppressed")


@pytest.mark.parametrize(
    ("hierarchy", "labels"),
    [
        (Sets("town", TOWNS), {"a1": 40, "a2": 20, "b1": 30, "b2|b3|c1": 15}),
        # Its end, b2, few people share: as of all labels it moves outwards.
        (Ordered("town", TOWNS), {"a1": 40, "a2": 20, "b1": 30, "b1|b2|b3|c1": 15}),
        (flat(SCHEMA["town"]), {"a1": 40, "a2": 20, "b1": 30, "*": 15}),
    ],
    ids=["sets", "ordered", "one level"],
)
def test_the_others_are_one_group_that_the_hierarchy_can_name(hierarchy, labels):
    release = RareCategories(10).sanitize(people([40, 20, 30, 7, 5, 3], hierarchy), rng=1)
    assert release.table.groupby("town").size().to_dict() == labels


def test_a_group_that_is_rare_itself_takes_in_the_next_rarest():
    release = RareCategories(10).sanitize(people([40, 20, 30, 4], Sets("town", TOWNS)), rng=1)
    assert release.table.groupby("town").size().to_dict() == {"a1": 40, "b1": 30, "a2|b2": 24}


@pytest.mark.parametrize("hierarchy", [TREE, Sets("town", TOWNS)], ids=["tree", "sets"])
@settings(max_examples=60, deadline=None)
@given(towns=st.lists(st.integers(0, 12), min_size=1, max_size=6).filter(lambda t: sum(t) > 1), few=st.integers(2, 20))
def test_no_published_category_is_rare_unless_the_table_is_small(hierarchy, towns, few):
    data = people(towns, hierarchy)
    release = RareCategories(few).sanitize(data, rng=1)
    for name in ("town", "sex"):
        seen = release.table.groupby(name).size()
        assert seen.min() >= few or len(seen) == 1
    counted = pd.crosstab(data.table["town"], release.table["town"])
    assert ((counted > 0).sum(axis=1) == 1).all(), "a value is published alike wherever it stands"


@settings(max_examples=80, deadline=None)
@given(
    shape=st.tuples(st.integers(2, 40), st.integers(1, 4)),
    width=st.integers(1, 5),
    k=st.integers(2, 6),
    seed=st.integers(0, 10**6),
)
def test_local_suppression_reaches_k_in_any_order_of_the_rows(shape, width, k, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, width, shape)
    if len(codes) < k:
        return
    blank = choose_blank_cells(codes, k)
    shown = pd.DataFrame(np.where(blank, -1, codes))
    assert shown.groupby(list(shown)).size().min() >= k
    order = rng.permutation(len(codes))
    assert (choose_blank_cells(codes[order], k) == blank[order]).all()
    own = pd.DataFrame(codes).groupby(list(range(shape[1])))[0].transform("size").to_numpy()
    if (own >= k).all():
        assert not blank.any(), "who is like k - 1 others stays as they are"


def test_one_cell_is_blanked_where_one_is_enough():
    codes = np.array([[0, 0, 0]] * 3 + [[1, 1, 0], [1, 1, 1], [1, 1, 2]])
    assert choose_blank_cells(codes, 3).tolist() == [[False] * 3] * 3 + [[False, False, True]] * 3


def test_whoever_is_left_over_joins_the_class_that_costs_least():
    """Two records of six are like nobody else; they join the class that shares their first value."""
    codes = np.array([[0, 0]] * 4 + [[1, 1]] * 4 + [[1, 2]])
    assert choose_blank_cells(codes, 3).tolist() == [[False, False]] * 4 + [[False, True]] * 5


def test_local_suppression_is_claimed_checked_and_costs_less_than_whole_records():
    adult = load("adult", records=4000)
    release = LocalSuppression(5).sanitize(adult, rng=1)
    assert [repr(model) for model in release.provenance.claims] == ["KAnonymity(k=5)"]
    assert release.people_per_class.min() >= 5
    rare = Identity().sanitize(adult, rng=1)
    violators = int((rare.people_per_class[rare.equivalence_classes] < 5).sum())
    cells = information_loss.suppressed_cells(release)
    assert 0 < cells < violators * 3, "less than three of eight cells for each record that is too rare"


@pytest.mark.parametrize(
    ("sanitizer", "message"),
    [
        (LocalSuppression(200), "the table has 105 records. Lower k to 105"),
        (DataSwapping(0.5, "age"), "must name published attributes that are not swapped, .*; got 'age'"),
        (DataSwapping(0.5, "nothing"), "must name published attributes that are not swapped, .*; got 'nothing'"),
        (DataSwapping(1e-9), "nothing was swapped"),
        (Sampling(0.999), "would be all 105 people"),
    ],
)
def test_what_the_table_cannot_give_is_refused(sanitizer, message):
    data = people([40, 20, 30, 7, 5, 3])
    before = data.table.copy()
    with pytest.raises(SanitizationError, match=message):
        sanitizer.sanitize(data, rng=1)
    pd.testing.assert_frame_equal(data.table, before)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LocalSuppression(1), lambda: RareCategories(1), lambda: DataSwapping(0), lambda: DataSwapping(1.5),
        lambda: Sampling(0), lambda: Sampling(1), lambda: DataSwapping(within=None),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises((ValueError, TypeError), match="must be"):
        make()


def test_one_category_and_missing_numbers():
    data = people([30])
    gaps = people([30], age=np.where(np.arange(30) < 3, np.nan, 40))
    assert RareCategories(5).sanitize(data, rng=1).treated("exact") == tuple(SCHEMA.names())
    assert RareCategories(40).sanitize(data, rng=1).table["town"].unique().tolist() == ["*"]
    swapped = DataSwapping(1.0).sanitize(gaps, rng=1)
    assert swapped.table["age"].isna().tolist() == gaps.table["age"].isna().tolist()
    release = LocalSuppression(10).sanitize(gaps, rng=1)
    assert release.people_per_class.min() >= 10


@pytest.mark.parametrize("within", ["sensitive", "ill, ward", ""])
def test_swapping_keeps_low_order_margins_exactly(within):
    """Dalenius and Reiss 1982: each attribute's values, and its table with those that records are alike in."""
    data = people([40, 20, 30, 7, 5, 3])
    release = DataSwapping(0.8, within).sanitize(data, rng=1)
    alike = {"sensitive": ["ill"], "ill, ward": ["ill", "ward"], "": []}[within]
    assert set(release.treated("perturbed")) <= {*SCHEMA.quasi_identifiers}
    for name in SCHEMA.quasi_identifiers:
        before, after = (table.groupby([name, *alike]).size() for table in (data.table, release.table))
        pd.testing.assert_series_equal(before, after)
    moved = (release.table["town"] != data.table["town"]).mean()
    assert 0.1 < moved < 0.8
    both = [table.groupby(["town", "sex"]).size() for table in (data.table, release.table)]
    assert not both[0].equals(both[1])


def test_a_sample_is_the_records_own_and_whole_people():
    data = people([40, 20, 30, 7, 5, 3])
    release = Sampling(0.3).sanitize(data, rng=1)
    assert release.provenance.rows is Rows.SUBSET
    assert len(release) == round(0.3 * 105)
    assert (np.diff(release.records) > 0).all()
    pd.testing.assert_frame_equal(release.table, data.table.iloc[release.records].reset_index(drop=True))
    attributes = (*SCHEMA.attributes, Attribute("who", Role.PERSON))
    keyed = data.table.assign(who=[f"p{i // 3}" for i in range(105)])
    households = Dataset("people", keyed, Schema("people", attributes), data.hierarchies)
    release = Sampling(0.3).sanitize(households, rng=1)
    assert len(release) == 3 * round(0.3 * 35)
    assert keyed.iloc[release.records].groupby("who").size().unique().tolist() == [3]


def test_a_sample_is_measured_as_the_people_who_are_in_it():
    """Identity of a dataset of these records alone is the same release, whatever is measured."""
    data = people([400, 200, 300, 70, 50, 30])
    release = Sampling(0.3).sanitize(data, rng=1)
    part = Dataset("people", data.table.iloc[release.records], SCHEMA, data.hierarchies)
    whole = Identity().sanitize(part, rng=1)
    for function in (
        information_loss.loss_metric,
        information_loss.kl_divergence,
        information_loss.non_uniform_entropy,
    ):
        assert function(data, release) == pytest.approx(function(part, whole)), function
    for one, other in ((data, release), (part, whole)):
        assert classification_metric(one, other, "ill") == pytest.approx(classification_metric(part, whole, "ill"))
    found = []
    for dataset, each in ((data, release), (part, whole)):
        published, key = each._published(2)
        found.append(linkage.reidentification_rate(Linkage().fit(published), dataset, key))
    assert found[0][0] <= found[1][0], "who is not in the sample cannot be found in it"


def test_no_margin_of_a_swapped_table_is_of_another_size():
    data = people([40, 20, 30, 7, 5, 3])
    release = DataSwapping(1.0).sanitize(data, rng=1)
    for name, ill in product(SCHEMA.quasi_identifiers, ("yes", "no")):
        before, after = (sorted(t.loc[t["ill"] == ill, name], key=str) for t in (data.table, release.table))
        assert before == after
