"""k-anonymity in which each person sets their own k."""

import numpy as np
import pytest
from made_up import CLINIC

from privnb.microdata.dataset import Dataset, load
from privnb.microdata.schema import Attribute, Categories, Role, Schema, SchemaError
from privnb.privacy_models import KAnonymity, achieved
from privnb.privacy_models.own_k import OwnAnonymity
from privnb.sanitizers import FullDomain, LocalRecoding, Mondrian


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


@pytest.mark.parametrize("kind", [Mondrian, FullDomain, LocalRecoding])
def test_everybody_has_their_own_k(wishes, kind):
    """Counted again from the published labels by pandas; and who asks for less keeps more detail."""
    model = OwnAnonymity((2, 20, 60), "own")
    release = kind(model).sanitize(wishes, rng=1)
    known = wishes.schema.quasi_identifiers
    table = release.table.assign(own=release.table["own"].astype(int))
    groups = table.groupby(known, observed=True)["own"]
    assert (groups.transform("size") >= groups.transform("max")).all()
    assert achieved(model, release) >= 1
    assert groups.size().min() >= achieved(KAnonymity(2), release)


def test_mondrian_gives_who_asks_for_little_smaller_classes(wishes):
    own = Mondrian(OwnAnonymity((2, 20, 60), "own")).sanitize(wishes, rng=1)
    for_all = Mondrian(KAnonymity(60)).sanitize(wishes, rng=1)
    assert own.classes.max() > 2 * for_all.classes.max()


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda d: OwnAnonymity((), "own"), "one k or more"),
        (lambda d: OwnAnonymity((2, 2), "own"), "different"),
        (lambda d: OwnAnonymity((0, 2), "own"), "at least 1"),
        (lambda d: OwnAnonymity((1,), "own"), "at least 2"),
        (lambda d: OwnAnonymity(5, "own"), "tuple"),
        (lambda d: Mondrian(OwnAnonymity((2, 20), "own")).sanitize(d, rng=1), "holds 60, which is none of ks"),
    ],
)
def test_what_cannot_be(wishes, do, says):
    with pytest.raises((ValueError, TypeError, SchemaError), match=says):
        do(wishes)
