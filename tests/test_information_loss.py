"""The certainty penalty against a hand-worked table, and its ends."""

import pandas as pd
import pytest

from privnb.dataset import Dataset, load
from privnb.hierarchy import Ranges, Taxonomy
from privnb.information_loss import certainty_penalty, displacement
from privnb.release import Provenance, Release
from privnb.sanitizers import Identity, KMember, LaplaceNoise, Suppress
from privnb.schema import Attribute, Categories, Numbers, Role, Schema

SCHEMA = Schema(
    "toy",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 100)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d", "e"))),
    ),
)
HIERARCHIES = {
    "age": Ranges(Numbers(0, 100)),
    "town": Taxonomy("town", tuple((t, "west" if t in "ab" else "east", "*") for t in "abcde")),
}


def test_worked_example():
    """Ages: 10 of 100, then *: 0.1 and 1. Towns: 2 of 5 leaves and 1: 0.25 and 0. Mean of the four cells."""
    released = pd.DataFrame({"age": ["20-30", "*"], "town": ["west", "c"]})
    release = Release(released, SCHEMA, HIERARCHIES, Provenance("toy", "by hand", {}))
    assert certainty_penalty(release) == pytest.approx((0.1 + 1 + 0.25 + 0) / 4)


def test_ends_and_order():
    adult = load("adult", "sramka-taxonomy", records=600)
    penalty = [certainty_penalty(s.sanitize(adult, rng=0)) for s in (Identity(), KMember(2), KMember(20), Suppress())]
    assert penalty[0] == 0
    assert penalty[-1] == 1
    assert penalty == sorted(penalty)


def test_displacement_by_hand():
    table = pd.DataFrame({"age": [20, 40], "town": ["a", "b"]})
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    moved = Release(
        table.assign(age=[30.0, 20.0]), SCHEMA, HIERARCHIES, Provenance("toy", "by hand", {}, noisy=("age",))
    )
    assert displacement(data, moved) == pytest.approx((10 + 20) / 2 / 100)


def test_displacement_is_the_scale_of_the_noise():
    """The mean absolute value of Laplace noise is its scale, here domain width / epsilon."""
    adult = load("adult", "occupation", records=20_000)
    release = LaplaceNoise(0.5).sanitize(adult, rng=1)
    assert displacement(adult, release) == pytest.approx(1 / 0.5, rel=0.05)


def test_each_refuses_the_others_release():
    adult = load("adult", records=50)
    with pytest.raises(ValueError, match="generalizes nothing"):
        certainty_penalty(LaplaceNoise(1.0).sanitize(adult, rng=0))
    with pytest.raises(ValueError, match="adds no noise"):
        displacement(adult, Identity().sanitize(adult, rng=0))
