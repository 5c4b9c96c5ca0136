"""Tables of a few records, and tables in which every combination of quasi-identifiers occurs, as people have them."""

import numpy as np
import pandas as pd
import pytest

from privnb import answers, charts, evaluation, gallery
from privnb.dataset import Dataset
from privnb.hierarchy import flat
from privnb.sanitizers import KMember, LaplaceNoise, SanitizationError
from privnb.schema import Attribute, Categories, Numbers, Role, Schema

SCHEMA = Schema(
    "few",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 60)),
        Attribute("region", Role.QUASI_IDENTIFIER, Categories(("n", "s", "w"))),
        Attribute("plan", Role.QUASI_IDENTIFIER, Categories(("x", "y", "z"))),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout", "cold"))),
    ),
)


def table(records):
    """Of 369 records and more every combination occurs."""
    every = np.array([(age, region, plan) for age in range(41) for region in range(3) for plan in range(3)])
    rows = (
        every[np.arange(records) % len(every)] if records >= len(every) else every[:: len(every) // records][:records]
    )
    values = {"age": rows[:, 0] + 20, "region": np.array([*"nsw"])[rows[:, 1]], "plan": np.array([*"xyz"])[rows[:, 2]]}
    return pd.DataFrame(values).assign(illness=[("flu", "gout", "cold")[i % 3] for i in range(records)])


def dataset(records):
    return Dataset("few", table(records), SCHEMA, {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers})


def test_defaults_of_k_end_where_the_table_does():
    assert evaluation.default_k("", dataset(5)) == "2"
    assert evaluation.default_k(" ", dataset(50)) == "2, 10, 50"
    assert evaluation.default_k("", dataset(400)) == "2, 10, 50, 100"
    assert evaluation.settings(evaluation.default_k("", dataset(5)), "1") == [KMember(2), LaplaceNoise(1.0)]


def test_what_is_left_out_is_said_and_what_fits_is_not():
    said = evaluation.left_out("", dataset(15)).data
    assert "50, 100" in said
    assert "15 records" in said
    assert "10," not in said
    assert evaluation.left_out("", dataset(100)) is None
    assert evaluation.left_out("2, 100", dataset(15)) is None


@pytest.mark.parametrize("asked", ["100", "2, 100", 100])
def test_a_k_that_was_asked_for_is_not_left_out(asked):
    assert evaluation.default_k(asked, dataset(15)) == asked
    *_, largest = evaluation.settings(evaluation.default_k(asked, dataset(15)))
    with pytest.raises(SanitizationError, match=r"KMember\(k=100.* the table has 15 records. Lower k to 15 or less"):
        largest.sanitize(dataset(15), rng=1)


@pytest.mark.parametrize("records", [2, 5, 9])
def test_groups_of_too_few_people_are_a_sentence(records):
    shown = charts.people(evaluation.people_by(dataset(records), "age"))
    assert shown.data == "The table has fewer than 10 people, so that no group of them is shown."


@pytest.mark.parametrize("records", [2, 5, 9])
def test_a_share_of_few_people_is_no_hardly_any(records):
    """All of them are unique; nobody is told how many, and at most all are."""
    unique = evaluation.uniqueness(dataset(records))
    assert unique.value.isna().any()
    assert (unique.high <= 1).all()
    said = answers.who_stands_out(evaluation.join(evaluation.describe(dataset(records)), unique)).data
    assert f"{1 / records:.0%} to 100%" in said
    assert "withheld" in said
    assert "hardly any" not in said


def test_where_every_combination_occurs_the_gallery_is_a_sentence():
    data = dataset(400)
    shown = gallery.side_by_side(data, gallery.family(data, k=5))
    assert "every combination of the quasi-identifiers of 'few' belongs to somebody" in shown.data
    assert "age" in str(gallery.side_by_side(dataset(60), [KMember(2)]).table)
