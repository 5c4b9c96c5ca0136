"""The distribution of each column: groups that show nobody, and the same groups in a release."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support import person_key
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import ColumnChanges, evaluate, measure_columns, measure_distributions, measure_uniqueness
from privnb.evaluation.column_distributions import expect_people, group_values
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.results import tidy
from privnb.microdata.hierarchy import Ranges, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Treatment
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Anatomy, Identity, LaplaceNoise, LocalSuppression, Mondrian, Sampling, Suppress

DOMAINS = {
    "town": Categories((*"abcdefghijklmnop", "?"), mark="?"),
    "age": Numbers(0, 99, missing="NA"),
    "job": Categories(("yes", "no")),
}


def table(**columns):
    """Return a dataset of neutral columns, or quasi-identifiers, by `{name: {value: people}}`."""
    cells = {
        name: [value for value, people in counts.items() for _ in range(people)] for name, counts in columns.items()
    }
    roles = dict.fromkeys(cells, Role.NEUTRAL)
    schema = Schema("small", tuple(Attribute(name, roles[name], DOMAINS[name]) for name in cells))
    return Dataset("small", pd.DataFrame(cells), schema, {})


def shown(results, target):
    rows = results[(results.measure == "people_with_value") & (results.target == target)]
    return dict(zip(rows.group, rows.value, strict=True))


def value(results, measure, target):
    (row,) = results[(results.measure == measure) & (results.target == target)].itertuples()
    return row.value


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ({"a": 60, "b": 30, "c": 12}, {"a": 60, "b": 30, "c": 12}),
        ({"a": 60, "b": 30, "c": 4, "d": 3}, {"a": 60, "other (3 values)": 37}),
        ({"a": 60, "b": 30, "c": 20, "d": 9, "e": 8}, {"a": 60, "b": 30, "c": 20, "other (2 values)": 17}),
        ({"a": 397, "b": 3}, {"all values": 400}),
        ({"a": 100}, {"a": 100}),
        ({"a": 60, "b": 30, "?": 15}, {"a": 60, "b": 30, "missing": 15}),
        ({"a": 60, "b": 40, "?": 5}, {"a": 60, "other (1 value) or missing": 45}),
        ({"?": 50}, {"missing": 50}),
        ({"a": 5}, {}),
        # 12 people with 11 values would be ten values of one person each, and one of two people.
        ({"a": 60, "b": 20} | dict.fromkeys("cdefghijkl", 1) | {"m": 2}, {"a": 60, "other (12 values)": 32}),
    ],
)
def test_groups_of_categories_show_nobody(counts, groups):
    assert shown(measure_distributions(table(town=counts)), "town") == groups


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ({20: 50, 31: 40}, {"0-19": 0, "20-29": 50, "30-39": 40, "40-99": 0}),
        ({20: 50, 31: 40, 45: 3}, {"0-19": 0, "20-29": 50, "30-49": 43, "50-99": 0}),
        ({20: 50, np.nan: 30}, {"0-19": 0, "20-29": 50, "30-99": 0, "missing": 30}),
        ({20: 50, 31: 40, np.nan: 3}, {"0-19": 0, "20-29": 50, "30-99 or missing": 43}),
    ],
)
def test_groups_of_numbers_show_nobody(counts, groups):
    assert shown(measure_distributions(table(age=counts)), "age") == groups


def test_missing_rare_and_commonest_values():
    found = measure_columns(table(town={"a": 60, "b": 30, "c": 20, "d": 9, "e": 8, "?": 15}))
    assert value(found, "missing_people", "town") == 15
    assert value(found, "rare_values", "town") == 2
    assert value(found, "commonest_value", "town") == 60 / 142
    few = measure_columns(table(town={"a": 60, "b": 40, "?": 5}))
    assert np.isnan(value(few, "missing_people", "town"))


def test_no_commonest_value_from_which_a_count_of_few_people_follows():
    # The band has 53 people, so that 50 of them with one number would reveal the other three.
    found = measure_columns(table(age={20: 50, 21: 3, 31: 40}))
    assert np.isnan(value(found, "commonest_value", "age"))
    assert set(found[found.measure == "commonest_value"].group) == {""}


def test_added_uniqueness_is_a_difference_of_shown_numbers():
    clinic = load(CLINIC)
    unique = measure_uniqueness(clinic).set_index("knows").value
    found = measure_columns(clinic)
    for name, without in {"weight": "age, postcode, region", "region": "age, weight, postcode"}.items():
        every = unique["age, weight, postcode, region"]
        assert value(found, "added_uniqueness", name) == pytest.approx(every - unique[without])


def test_people_with_several_records_count_once():
    visits = person_key.dataset(person_key.table())
    found = measure_distributions(visits)
    for name in ("age", "ill"):
        groups = group_values(visits, name)
        group = groups.of(visits.cells[name].astype(object))
        people = pd.DataFrame({"group": group, "person": visits.people}).groupby("group").person.nunique()
        assert list(shown(found, name).values()) == people.tolist()
        release = Identity().sanitize(visits, rng=0)
        assert expect_people(release, groups)[: len(people)] == pytest.approx(people.to_numpy())


def numbers(n=400, *, rng=3):
    rng = np.random.default_rng(rng)
    schema = Schema(
        "numbers",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
            Attribute("town", Role.QUASI_IDENTIFIER, Categories(tuple("abcd"))),
            Attribute("job", Role.SENSITIVE, Categories(("yes", "no"))),
        ),
    )
    cells = {"age": rng.integers(0, 100, n), "town": rng.choice(list("abcd"), n), "job": np.resize(["yes", "no"], n)}
    hierarchies = {"age": Ranges(schema["age"].domain), "town": flat(schema["town"])}
    return Dataset("numbers", pd.DataFrame(cells), schema, hierarchies)


def changes(dataset, sanitizer):
    return evaluate(dataset, [sanitizer], attacks=[ColumnChanges()])


def test_an_unchanged_column_keeps_its_distribution():
    dataset = numbers()
    before, after = measure_distributions(dataset), changes(dataset, Identity())
    for name in dataset.schema.published:
        assert shown(after, name) == shown(before, name)
        assert value(after, "changed_cells", name) == value(after, "distribution_change", name) == 0


def test_a_label_is_spread_over_its_values():
    dataset = numbers()
    release = Mondrian(KAnonymity(20)).sanitize(dataset, rng=0)
    groups = group_values(dataset, "age")
    expected = np.zeros(10)
    for label in release.table["age"]:
        low, high = map(int, release.hierarchies["age"].bounds(label))
        for age in range(low, high + 1):
            expected[age // 10] += 1 / (high - low + 1)
    assert expect_people(release, groups)[:10] == pytest.approx(expected)


def test_suppressed_cells_are_a_group_of_their_own():
    dataset = numbers()
    after = changes(dataset, Suppress())
    assert shown(after, "age")["suppressed (*)"] == 400
    assert value(after, "distribution_change", "age") == value(after, "changed_cells", "age") == 1


def test_a_difference_of_few_people_is_withheld():
    dataset = numbers()
    for k in (2, 3, 4, 5, 8):
        release = LocalSuppression(k).sanitize(dataset, rng=0)
        after = changes(dataset, LocalSuppression(k))
        for name in ("age", "town"):
            before, known = shown(measure_distributions(dataset), name), shown(after, name)
            lost = np.array([before[group] - known[group] for group in before])
            assert not ((lost > 0) & (lost < 10)).any()
            stars = (release.table[name] == "*").sum()
            if 0 < stars < 10:
                assert np.isnan(list(known.values())).all()
                assert np.isnan(value(after, "changed_cells", name))


@pytest.mark.parametrize(
    ("kind", "cells", "withheld"),
    [
        ("suppressed", {**dict.fromkeys(range(12), "*"), **dict.fromkeys(range(100, 104), "*")}, {"b"}),
        ("perturbed", dict.fromkeys(range(4), "b"), {"a", "b"}),  # the difference of 4 people would be seen
    ],
)
def test_a_group_in_which_few_cells_have_changed_is_withheld(kind, cells, withheld):
    dataset = table(town={"a": 100, "b": 100})
    made = Identity().sanitize(dataset, rng=0)
    town = made.table["town"].astype(object).copy()
    town.iloc[[*cells]] = [*cells.values()]
    facts = replace(made.provenance, columns={"town": Treatment(kind)})
    release = replace(made, table=pd.DataFrame({"town": town}), provenance=facts)
    found = shown(tidy(ColumnChanges().rows(Case(dataset, Identity(), 1, release))), "town")
    assert withheld <= {group for group, people in found.items() if np.isnan(people)}


def test_noise_that_leaves_the_domain_is_shown():
    after = changes(numbers(), LaplaceNoise(0.5))
    assert shown(after, "age")["outside of the domain"] > 10


def test_a_sample_is_counted_among_its_own_people():
    dataset = numbers()
    after = changes(dataset, Sampling(0.5))
    assert set(after[after.measure == "people_with_value"].of) == {200}


def test_a_column_without_cells_of_people_has_a_reason():
    after = changes(numbers(), Anatomy(2, "job"))
    (row,) = after[(after.measure == "changed_cells") & (after.target == "job")].itertuples()
    assert (row.variant, row.status) == ("bucketized", "refused")
    assert row.reason == "job is bucketized: no cell: a separate table lists the values by bucket."
    assert value(after, "distribution_change", "job") == 0


@pytest.mark.parametrize("name", ["age", "town", "job"])
@pytest.mark.parametrize("sanitizer", [Mondrian(KAnonymity(5)), LaplaceNoise(1.0), Sampling(0.9)], ids=repr)
def test_no_shown_number_counts_few_people(sanitizer, name):
    known = np.array(list(shown(changes(numbers(), sanitizer), name).values()))
    assert not ((known > 1e-9) & (known < 10)).any()
