"""Models against a population, on releases written by hand: who fits which label is counted with the fingers."""

import pandas as pd
import pytest

from privnb.microdata.hierarchy import Intervals, Taxonomy
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import DeltaPresence, KMap, grade_release

SCHEMA = Schema(
    "toy",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c"))),
    ),
)
HIERARCHIES = {
    "age": Intervals(SCHEMA["age"].domain, (10, 20, 100)),
    "town": Taxonomy("town", (("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*"))),
}
# Twelve people: six in their thirties in a or b, two of fifty in c, four elsewhere.
REGISTER = pd.DataFrame(
    {
        "age": [30, 31, 33, 35, 38, 39, 50, 55, 20, 41, 62, 70],
        "town": ["a", "b", "a", "b", "a", "a", "c", "c", "a", "c", "b", "c"],
    }
)


def release(*rows):
    table = pd.DataFrame(rows, columns=["age", "town"])
    return Release(table, SCHEMA, HIERARCHIES, Provenance("toy", "by hand", {}))


THIRTIES = HIERARCHIES["age"].label(30, 39)
FIFTIES = HIERARCHIES["age"].label(50, 59)
TWO = release((THIRTIES, "ab"), (THIRTIES, "ab"), (THIRTIES, "ab"), (FIFTIES, "c"))


def test_people_who_fit_a_class():
    model = KMap(2, population=REGISTER)
    assert sorted(model.counted(TWO).tolist()) == [[2, 1], [6, 3]]
    assert grade_release(model, TWO) == 2
    assert model.holds(model.counted(TWO)).all()
    assert not KMap(3, population=REGISTER).holds(model.counted(TWO)).all()


def test_people_who_are_alike_are_several():
    twice = pd.concat([REGISTER, REGISTER], ignore_index=True)
    assert sorted(KMap(2, population=twice).counted(TWO).tolist()) == [[4, 1], [12, 3]]


def test_what_is_suppressed_fits_everybody():
    assert grade_release(KMap(2, population=REGISTER), release(("*", "*"))) == 12


def test_classes_may_share_people():
    """Those in their thirties in a fit both labels, so each counts them."""
    both = release((THIRTIES, "ab"), (THIRTIES, "a"))
    assert sorted(KMap(2, population=REGISTER).counted(both).tolist()) == [[4, 1], [6, 1]]


def test_k_map_asks_less_than_k_anonymity():
    """One record alone, and two people whom it could be."""
    assert grade_release(KMap(2, population=REGISTER), release((FIFTIES, "c"))) == 2


def test_presence():
    model = DeltaPresence(0.2, 0.5, population=REGISTER)
    assert model.level(model.counted(TWO)).tolist() == [0.5, 0.5]
    assert model.holds(model.counted(TWO)).all(), "a half is at most a half"
    assert not DeltaPresence(0.2, 0.49, population=REGISTER).holds(model.counted(TWO)).any()
    assert not DeltaPresence(0.6, 1, population=REGISTER).holds(model.counted(TWO)).any(), "the bound has two sides"


def test_a_released_person_beyond_the_population_is_surely_present():
    """The register was to hold everybody of the table; where it does not, the class hides nobody."""
    nobody = release(("0", "a"), ("0", "a"))
    assert KMap(2, population=REGISTER).level(KMap(2, population=REGISTER).counted(nobody)).tolist() == [0]
    assert grade_release(DeltaPresence(0, 0.5, population=REGISTER), nobody) == 1


def test_what_a_population_must_have():
    with pytest.raises(ValueError, match=r"must have every quasi-identifier; got a table without \['town'\]"):
        grade_release(KMap(2, population=REGISTER[["age"]]), TWO)
    with pytest.raises(SchemaError, match="lacks 1 values: 'd'"):
        grade_release(KMap(2, population=REGISTER.assign(town="d")), TWO)


def test_a_population_is_not_shown():
    """It may be a register of people."""
    assert repr(KMap(2, population=REGISTER)) == "KMap(k=2)"
    assert str(DeltaPresence(0, 0.5, population=REGISTER)) == "presence=0..0.5"
