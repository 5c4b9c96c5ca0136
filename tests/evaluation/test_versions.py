"""Two releases of the same people, whose joint classes and differences are counted by hand."""

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.evaluation.disclosure.release_pairs import ReleasePair, count_disclosures
from privnb.evaluation.evaluation_loop import Case, answer_case
from privnb.evaluation.results import build_row
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.together import Together, take_worst, with_previous
from privnb.evaluation.versions import Version, find_version, join_versions, read_version
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.runtime.errors import InputError
from privnb.sanitizers import Identity, LaplaceNoise, Suppress

ILLNESSES = ("asthma", "cold", "flu")
# Two groups by age, {A, B} and {C, D}, and two by house, {A, C} and {B, D}. E joins A and B by age.
PEOPLE = {
    "A": (21, 5, "flu"),
    "B": (25, 21, "cold"),
    "C": (31, 8, "asthma"),
    "D": (35, 25, "flu"),
    "E": (27, 22, "asthma"),
}
BY_AGE = {"A": "20-29", "B": "20-29", "C": "30-39", "D": "30-39", "E": "20-29"}
BY_HOUSE = {"A": "1-10", "B": "21-30", "C": "1-10", "D": "21-30", "E": "21-30"}


def table(names: str) -> Dataset:
    """The people with these names."""
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 59)),
        Attribute("house", Role.QUASI_IDENTIFIER, Numbers(1, 40)),
        Attribute("illness", Role.SENSITIVE, Categories(ILLNESSES)),
    )
    schema = Schema("street", attributes)
    cells = pd.DataFrame([PEOPLE[name] for name in names], columns=["age", "house", "illness"])
    return Dataset("street", cells, schema, {name: flat(schema[name]) for name in schema.quasi_identifiers})


def write(folder, file: str, names: str, **labels) -> str:
    """A release of these people, with labels of age, of house, or of neither, in an order of its own."""
    rows = [
        (labels.get("age", {}).get(name, "*"), labels.get("house", {}).get(name, "*"), PEOPLE[name][2])
        for name in sorted(names, key=lambda name: PEOPLE[name][2])
    ]
    pd.DataFrame(rows, columns=["age", "house", "illness"]).to_csv(folder / file, index=False)
    return str(folder / file)


@pytest.fixture
def pair_of(tmp_path):
    """The pair of two releases of some people of the dataset."""

    def build(dataset, old, new):
        read = (
            read_version(write(tmp_path, f"{n}.csv", names, **how), dataset)[0]
            for n, (names, how) in enumerate((old, new))
        )
        return ReleasePair(dataset, *read)

    return build


def named(pair: ReleasePair, who, names: str) -> str:
    """The names of the people about whom an array is true."""
    return "".join(name for name, is_it in zip(names, pair.of_people(who), strict=True) if is_it)


def test_two_releases_that_hide_two_people_each_single_out_everybody(pair_of):
    pair = pair_of(table("ABCD"), ("ABCD", {"age": BY_AGE}), ("ABCD", {"house": BY_HOUSE}))
    assert pair.smallest == {"old": 2, "new": 2, "pair": 1}
    assert named(pair, pair.below, "ABCD") == "ABCD"
    illness = pair.find_values("illness")
    # A: {flu, cold} and {flu, asthma} have only flu in common; D: {asthma, flu} and {cold, flu}. B and C keep two.
    assert named(pair, illness.common, "ABCD") == "AD"
    assert named(pair, illness.matched, "ABCD") == "ABCD"
    assert not illness.alone.any()
    assert not illness.differenced.any()


def test_a_release_and_itself_reveal_nothing_more(pair_of):
    by_age = ("ABCD", {"age": BY_AGE})
    pair = pair_of(table("ABCD"), by_age, by_age)
    assert pair.smallest == {"old": 2, "new": 2, "pair": 2}
    illness = pair.find_values("illness")
    for who in (pair.below, illness.common, illness.matched, illness.differenced):
        assert not who.any()
    counted = count_disclosures(pair, min_count=2)
    assert counted["people"]["added"] == {"value": 0.0, "low": None, "high": None}
    assert counted["people"]["both"]["value"] == 4


@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_person_in_one_release_only_is_revealed_by_the_difference(pair_of, is_dropped):
    """{A, B, E} minus {A, B} leaves E, and {asthma, cold, flu} minus {cold, flu} leaves E's illness."""
    both = ("ABCD", {"age": BY_AGE}), ("ABCDE", {"age": BY_AGE})
    pair = pair_of(table("ABCDE"), *(both[::-1] if is_dropped else both))
    assert pair.smallest == {"old": 2, "new": 2, "pair": 1}
    assert named(pair, pair.below, "ABCDE") == "E"
    illness = pair.find_values("illness")
    assert named(pair, illness.differenced, "ABCDE") == "E"
    assert not illness.alone.any()
    counted = count_disclosures(pair, min_count=2)
    withheld = {"value": None, "low": 1.0, "high": 1.0}
    assert counted["people"]["dropped" if is_dropped else "added"] == withheld
    assert counted["people"]["both"]["value"] is None, "with the numbers of rows, it reveals the withheld one"
    assert counted["revealed"]["dropped" if is_dropped else "added"]["people"] == withheld


def test_a_row_of_a_person_who_left_the_table_is_nobodys(pair_of):
    """The table lacks E, whose row in the old release covers no record."""
    pair = pair_of(table("ABCD"), ("ABCDE", {"age": BY_AGE}), ("ABCD", {"age": BY_AGE}))
    assert (pair.old.without_record, pair.new.without_record) == (1, 0)
    assert pair.smallest["old"] == 2
    assert len(pair.people) == 5
    assert named(pair, pair.find_values("illness").differenced, "ABCDE") == "E"


def test_a_file_of_other_people_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"most of the 4 rows of other\.csv cover no record"):
        read_version(write(tmp_path, "other.csv", "ABCE", age=dict.fromkeys("ABCE", "50-59")), table("ABCD"))


def test_the_larger_risk_of_a_release_alone_and_of_the_pair_counts(tmp_path):
    """By house alone, two people share each class; together with the release by age, everybody is alone."""
    people = table("ABCD")
    old = read_version(write(tmp_path, "old.csv", "ABCD", age=BY_AGE), people)[0]
    case = Case(people, Suppress(), 1, min_count=2)
    alone, both = (
        answer_case(question, case) for question in (ReidentificationRisk(), Together(ReidentificationRisk(), old))
    )
    of = [rows[(rows.group == "")].set_index("variant").value for rows in (alone, both)]
    assert of[0][""] == pytest.approx(1 / 4), "without quasi-identifiers, four people are alike"
    assert of[1][""] == pytest.approx(1 / 2), "and the release by age alone hides two"
    original = answer_case(Together(ReidentificationRisk(), old), Case(people, Identity(), 1, min_count=2))
    assert (original[original.variant == "largest"].value == 1).all()
    assert [type(each) for each in with_previous([AttributeRisk("illness"), Certainty("illness")], old)] == [
        Together,
        Together,
    ]


@pytest.mark.parametrize(
    ("group", "together", "expected"),
    [("", 0.3, 0.3), ("", 0.1, 0.2), ("", np.nan, np.nan), ("age: 20-29", 0.3, 0.3), ("age: 20-29", np.nan, 0.2)],
)
def test_an_unknown_risk_of_everybody_is_the_largest_and_that_of_a_group_is_none(group, together, expected):
    rows = [
        build_row("identity_risk", value, dataset="street", sanitizer="Suppress", group=group)
        for value in (0.2, together)
    ]
    (worst,) = take_worst(rows[:1], rows[1:])
    assert worst["value"] == pytest.approx(expected, nan_ok=True)


def test_a_release_without_classes_is_unknown_and_not_harmless(tmp_path):
    people = table("ABCD")
    old = read_version(write(tmp_path, "old.csv", "ABCD", age=BY_AGE), people)[0]
    noisy = answer_case(Together(ReidentificationRisk(), old), Case(people, LaplaceNoise(1.0), 1, min_count=2))
    assert noisy.status.tolist() == ["refused"]
    assert "no classes to compare" in noisy.reason[0]
    with pytest.raises(Unreadable):
        find_version(people, LaplaceNoise(1.0).sanitize(people, rng=1))


def test_a_version_of_other_records_is_refused():
    version = Version("old.csv", 5, np.zeros(5, dtype=int), np.arange(5), {})
    with pytest.raises(InputError, match="matched with 5 records; got a dataset of 4 records"):
        join_versions(table("ABCD"), version)
