"""Levels, what lies above what, and roll-ups that count as if made from the records."""

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, LeveledRanges, Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import DistinctDiversity, KAnonymity
from privnb.privacy_models.requirement import Requirement
from privnb.sanitizers.algorithms.lattice import Lattice, bind_loss, list_levels
from privnb.sanitizers.generalization.full_domain import LOSSES

TOWNS = Taxonomy("town", tuple((leaf, leaf[0], "*") for leaf in ("a1", "a2", "b1", "b2", "b3")))
WIDTHS = (5, 10, 20, 50, 100)


TWO = (KAnonymity(2),)


def lattice_of(records=60, seed=0, models=TWO, extra=()):
    rng = np.random.default_rng(seed)
    schema = Schema(
        "table",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99)),
            Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS.leaves)),
            Attribute("disease", Role.SENSITIVE, Categories(("flu", "cold", "gout"))),
        ),
    )
    columns = {
        "age": rng.integers(17, 100, records),
        "town": rng.choice(TOWNS.leaves, records),
        "disease": rng.choice(["flu", "cold", "gout"], records),
    }
    hierarchies = {"age": Intervals(Numbers(17, 99), WIDTHS), "town": TOWNS}
    data = Dataset("table", pd.DataFrame(columns), schema, hierarchies)
    return Lattice(list(hierarchies.values()), Requirement(models, data, extra))


def test_levels_of_every_kind():
    assert list_levels(TOWNS, np.array([0, 2, 4])).tolist() == [["a1", "b1", "b3"], ["a", "b", "b"], ["*", "*", "*"]]
    ages = list_levels(Intervals(Numbers(17, 99), WIDTHS), np.array([0, 24, 40]))  # 17, 41, 57
    assert ages.tolist() == [
        ["15-19", "40-44", "55-59"], ["10-19", "40-49", "50-59"], ["0-19", "40-59", "40-59"],
        ["0-49", "0-49", "50-99"], ["0-99", "0-99", "0-99"], ["*", "*", "*"],
    ]  # fmt: skip
    assert list_levels(Ranges(Numbers(1, 9)), np.array([0, 4])).tolist() == [["1", "5"], ["*", "*"]]
    ages = list_levels(LeveledRanges(Numbers(17, 99, cuts=(18, 65, 80))), np.array([0, 1, 60]))
    assert ages.tolist() == [
        ["17", "18", "77"], ["17", "18-64", "65-79"], ["17", "18-79", "18-79"],
        ["17", "18-99", "18-99"], ["*", "*", "*"],
    ]  # fmt: skip
    for kind in (Sets, Ordered):
        assert list_levels(kind("x", ("u", "v", "w")), np.array([1, 2])).tolist() == [["v", "w"], ["*", "*"]]


def test_many_ranges_keep_fewer_levels_so_that_a_search_is_quick():
    ages = Numbers(17, 99)
    schema = Schema("wide", tuple(Attribute(f"a{n}", Role.QUASI_IDENTIFIER, ages) for n in range(9)))
    table = pd.DataFrame(np.random.default_rng(1).integers(17, 100, (40, 9)), columns=schema.names())
    data = Dataset("wide", table, schema, {name: LeveledRanges(ages) for name in table})
    lattice = Lattice(list(data.hierarchies.values()), Requirement(TWO, data))
    assert 2**9 < lattice.nodes <= 2**16
    for labels, name in zip(lattice.labels, table, strict=True):
        assert labels[0].tolist() == [str(age) for age in sorted(set(table[name]))]
        assert set(labels[-1]) == {"*"}
    few = Dataset("few", table.iloc[:, :4], Schema("few", schema.attributes[:4]), data.hierarchies)
    few = Lattice([data.hierarchies[name] for name in few.table], Requirement(TWO, few))
    assert set(few.shape) == {len(list_levels(LeveledRanges(ages), np.array([0])))}


def test_every_label_covers_its_value():
    lattice = lattice_of()
    for hierarchy, positions, labels in zip(lattice.hierarchies, lattice.positions, lattice.labels, strict=True):
        for row in labels:
            assert all(position in hierarchy.covered(label) for position, label in zip(positions, row, strict=True))


def test_intervals_of_50_are_not_above_those_of_20():
    lattice = lattice_of(400)
    above = lattice.above(np.ravel_multi_index((2, 0), lattice.shape)).reshape(lattice.shape)
    assert above[:, 0].tolist() == [False, False, True, False, True, True]
    assert above[2].tolist() == [True, True, True]
    below = lattice.below(np.ravel_multi_index((3, 1), lattice.shape)).reshape(lattice.shape)
    assert below[:, 1].tolist() == [True, True, False, True, False, False]
    assert below[3].tolist() == [True, True, False]


def test_above_and_below_are_each_others_converse():
    lattice = lattice_of(400)
    above = np.array([lattice.above(node) for node in range(lattice.nodes)])
    below = np.array([lattice.below(node) for node in range(lattice.nodes)])
    assert (above == below.T).all()
    assert above.diagonal().all()


@pytest.mark.parametrize("models", [TWO, (*TWO, DistinctDiversity(2, "disease"))])
@pytest.mark.parametrize("extra", [(), ("disease",)])
def test_rolled_up_from_another_node_as_from_all_records(models, extra):
    lattice = lattice_of(200, 1, models, extra)
    for node in range(lattice.nodes):  # from the lowest up, so that there is mostly another node to start from
        rolled, whole = lattice.classes(node, lattice.below(node)), lattice.roll_up(node)
        for name in ("rows", "amounts", "class_of", "sizes"):
            np.testing.assert_array_equal(getattr(rolled, name), getattr(whole, name))
        labels = [each[level] for each, level in zip(lattice.labels, lattice.levels_of(node), strict=True)]
        published = pd.DataFrame({a: labels[a][lattice.codes[lattice.requirement.index, a]] for a in range(2)})
        expected = published.groupby([0, 1], sort=False).size()
        assert sorted(whole.sizes) == sorted(expected)
        of_records = lattice.class_of_rows(whole)[lattice.requirement.index]
        assert published.groupby([0, 1]).ngroup().groupby(of_records).nunique().eq(1).all()
        assert (np.bincount(of_records) == whole.sizes).all()
        fails = lattice.fails(whole, lattice.requirement.tallies)
        rows_fail = ~lattice.requirement.holds(lattice.class_of_rows(whole), len(whole.sizes))
        assert (fails == rows_fail).all()


def test_classes_come_in_the_order_of_their_first_record():
    lattice = lattice_of(100, 2)
    codes = lattice.requirement.codes
    for node in range(lattice.nodes):
        classes = lattice.roll_up(node)
        first = [tuple(codes[row]) for row in classes.rows]
        assert first == sorted(first)


def test_the_suppressed_are_joined_by_the_smallest_classes_until_they_hold():
    lattice = lattice_of(60, 3, (KAnonymity(4),))
    classes = lattice.roll_up(np.ravel_multi_index((2, 1), lattice.shape))
    broken = np.arange(len(classes.sizes)) == np.argmax(classes.sizes == classes.sizes[classes.sizes < 4].min())
    size = classes.sizes[broken].sum()
    next_one = np.sort(classes.sizes[~broken])[0]
    chosen = lattice.suppressed(classes, broken, 60)
    assert (chosen >= broken).all()
    assert classes.sizes[chosen].sum() >= 4 > size
    assert classes.sizes[chosen & ~broken].min() == next_one
    needed = classes.sizes[chosen].sum()
    assert lattice.suppressed(classes, broken, needed - 1) is None
    assert (lattice.suppressed(classes, broken, needed) == chosen).all()
    assert not lattice.suppressed(classes, np.zeros_like(broken), 0).any()


def test_many_classes_may_have_to_join():
    """More than are looked at together: 700 people of two values of whom only the last may be told."""
    schema = Schema(
        "many",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 999)),
            Attribute("disease", Role.SENSITIVE, Categories(("flu", "cold"))),
        ),
    )
    people = pd.DataFrame({"age": range(700), "disease": ["flu"] * 699 + ["cold"]})
    data = Dataset("many", people, schema, {"age": Ranges(Numbers(0, 999))})
    lattice = Lattice([Ranges(Numbers(0, 999))], Requirement((DistinctDiversity(2, "disease"),), data))
    classes = lattice.roll_up(0)
    first = np.arange(700) == 0
    assert lattice.suppressed(classes, first, 700).sum() == 700
    assert lattice.suppressed(classes, first, 699) is None


@pytest.mark.parametrize("name", LOSSES)
def test_losses_rise_along_the_order_and_what_suppression_adds_falls(name):
    """What the search rests on, for the suppression of the same records below as above."""
    target = "disease" if name == "classification metric" else None
    lattice = lattice_of(80, 4, extra=("disease",) if target else ())
    loss = bind_loss(lattice, name, target)
    for low in range(lattice.nodes):
        below, above = lattice.roll_up(low), np.flatnonzero(lattice.above(low))
        for high in above:
            classes = lattice.roll_up(high)
            assert loss.without(high, classes) >= loss.without(low, below) - 1e-12
            broken = classes.sizes < 3
            parent = lattice.class_of_rows(classes)
            child = lattice.class_of_rows(below)
            of_child = np.zeros(len(below.sizes), dtype=bool)
            np.logical_or.at(of_child, child, broken[parent])
            if loss.falls:
                assert loss.added(low, below, of_child) >= loss.added(high, classes, broken) - 1e-12
            assert loss.added(low, below, of_child) >= -1e-12
