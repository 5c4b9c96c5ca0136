"""k-anonymity in which each person sets their own k."""

from dataclasses import replace

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.microdata.schema import Attribute, Categories, Role, Schema, SchemaError
from privnb.privacy_models import KAnonymity, grade_release
from privnb.privacy_models.anonymity import OwnAnonymity
from privnb.sanitizers import FullDomain, LocalRecoding, Microaggregation, Mondrian, SanitizationError
from privnb.sanitizers.algorithms.nearest_groups import group_by_own_k, locate_records


def test_levels():
    """Catalogue 19-04: a class of six in which the largest k asked for is 5, and one in which it is 10."""
    model = OwnAnonymity((2, 10, 5), "own")
    assert model.level(np.array([[4, 2, 0], [5, 0, 1], [3, 0, 0]])).tolist() == [1.2, 0.6, 1.5]
    assert model.holds(np.array([[4, 2, 0], [5, 0, 1], [2, 0, 0], [1, 0, 0]])).tolist() == [True, False, True, False]


@pytest.fixture(scope="module")
def wishes():
    """The clinic, whose people ask for 2, or 20, or, five of them, for 60."""
    dataset = load(CLINIC)
    own = np.where(np.arange(len(dataset)) % 7 == 0, "20", "2")
    own[:5] = "60"
    return asking(dataset, own)


def asking(dataset, own):
    column = Attribute("own", Role.SENSITIVE, Categories(("2", "20", "60")))
    schema = Schema(dataset.schema.dataset, (*dataset.schema.attributes, column))
    return Dataset("clinic", dataset.table.assign(own=own), schema, dataset.hierarchies)


@pytest.mark.parametrize("kind", [Mondrian, FullDomain, LocalRecoding, Microaggregation])
def test_everybody_has_their_own_k(wishes, kind):
    """Counted again from the published labels by pandas; and who asks for less keeps more detail."""
    model = OwnAnonymity((2, 20, 60), "own")
    release = kind(model).sanitize(wishes, rng=1)
    known = wishes.schema.quasi_identifiers
    table = release.table.assign(own=release.table["own"].astype(int))
    groups = table.groupby(known, observed=True)["own"]
    assert (groups.transform("size") >= groups.transform("max")).all()
    assert grade_release(model, release) >= 1
    assert groups.size().min() >= grade_release(KAnonymity(2), release)


def test_mondrian_gives_who_asks_for_little_smaller_classes(wishes):
    own = Mondrian(OwnAnonymity((2, 20, 60), "own")).sanitize(wishes, rng=1)
    for_all = Mondrian(KAnonymity(60)).sanitize(wishes, rng=1)
    assert own.classes.max() > 2 * for_all.classes.max()


def test_averages_are_of_as_many_as_each_asks_for(wishes):
    """Catalogue 19-04. Five ask for 60 and are joined by the 55 nearest; the others are grouped by what they ask for:
    as many as a k asks for, to twice as many less one, but for the few who join a larger group."""
    model = OwnAnonymity((2, 20, 60), "own")
    release = Microaggregation(model).sanitize(wishes, rng=1)
    assert release.provenance.claims == (model,)
    own = release.table["own"].astype(int).to_numpy()
    sizes = np.bincount(release.equivalence_classes)[release.equivalence_classes]
    assert {*sizes[own == 60]} == {60}
    assert (sizes[own == 20] >= 20).all()
    assert np.median(sizes[own == 2]) <= 3
    twenty = replace(wishes, table=wishes.table.assign(own="20"))
    same = Microaggregation(OwnAnonymity((2, 20), "own")).sanitize(twenty, rng=1).table
    columns = wishes.schema.quasi_identifiers
    assert same[columns].equals(Microaggregation(20).sanitize(wishes, rng=1).table[columns])


def test_who_are_too_few_join_the_nearest_group():
    """Seven numbers on a line, worked by hand."""
    space, points, _ = locate_records(np.array([[0], [1], [2], [3], [50], [90], [91]]), [None])
    for asked, groups in [
        ([4, 1, 1, 2, 1, 3, 3], [0, 0, 0, 0, 1, 1, 1]),  # who asks for 1 fills up those who ask for 3
        ([4, 1, 1, 2, 4, 3, 3], [0, 1, 0, 0, 0, 1, 1]),  # the two who lie nearest to 0 and 50
        ([1, 2, 2, 3, 3, 3, 5], [1, 1, 0, 0, 0, 0, 0]),
        ([5, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 0, 0]),  # two are too few for 3, and nobody is left
    ]:
        assert group_by_own_k(space, points, np.array(asked)).tolist() == groups


def fifty(dataset):
    """Fifty people who ask for 60."""
    return replace(dataset, table=dataset.table[:50].assign(own="60"))


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda d: OwnAnonymity((), "own"), "at least one k"),
        (lambda d: OwnAnonymity((2, 2), "own"), "different"),
        (lambda d: OwnAnonymity((0, 2), "own"), "at least 1"),
        (lambda d: OwnAnonymity((1,), "own"), "at least 2"),
        (lambda d: OwnAnonymity(5, "own"), "tuple"),
        (lambda d: Microaggregation(OwnAnonymity((2, 20), "own")).sanitize(d, rng=1), "the column also contains 60"),
        (lambda d: Microaggregation(OwnAnonymity((2,), "wish")).sanitize(d, rng=1), "wish"),
        (lambda d: Microaggregation(OwnAnonymity((2, 60), "own")).sanitize(fifty(d), rng=1), "50 records"),
        (lambda d: Mondrian(OwnAnonymity((2, 20), "own")).sanitize(d, rng=1), "the column also contains 60"),
    ],
)
def test_what_cannot_be(wishes, do, says):
    with pytest.raises((ValueError, TypeError, SchemaError, SanitizationError), match=says):
        do(wishes)
