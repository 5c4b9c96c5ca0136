"""Estimators of uniqueness in a population, compared with a table that takes the place of the population."""

import pytest
from support import person_key

from privnb.datasets.dataset import load
from privnb.evaluation import measure_population_uniqueness, measure_uniqueness
from privnb.evaluation.population_risk import ESTIMATORS
from privnb.reporting import charts


@pytest.fixture(scope="module")
def adult():
    return load("adult", "sramka", records=4000, rng=1)


@pytest.fixture(scope="module")
def unique(adult):
    return measure_uniqueness(adult)


@pytest.fixture(scope="module")
def measured(adult, unique):
    return measure_population_uniqueness(adult, unique, shares=[0.01, 0.3])


def test_each_estimate_has_the_truth_as_its_baseline(adult, unique, measured):
    estimates = measured[measured.measure == "population_unique_share"]
    assert estimates.variant.tolist() == [*ESTIMATORS], "a sample of 40 people is not drawn"
    truth = unique.value[unique.knows.str.count(",") == len(adult.schema.quasi_identifiers) - 1].item()
    assert estimates.baseline.tolist() == [truth] * len(ESTIMATORS)
    errors = measured[measured.measure == "population_unique_error"].value.to_numpy()
    assert errors == pytest.approx(estimates.value.to_numpy() - truth, nan_ok=True)


def test_estimators_are_closer_to_the_truth_than_the_sample(measured):
    errors = measured[measured.measure == "population_unique_error"].set_index("variant").value.abs()
    for name in ("Pitman", "Poisson", "copula"):
        assert errors[name] < errors["sample"]


def test_the_chart_shows_each_estimate_beside_the_truth(measured):
    chart = charts.population_uniqueness(measured).to_dict()
    drawn = next(iter(chart["datasets"].values()))
    shares = measured[measured.measure == "population_unique_share"]
    assert [row["variant"] for row in drawn] == [*ESTIMATORS]
    assert [row["value"] for row in drawn] == pytest.approx(shares.value.tolist())
    assert {row["baseline"] for row in drawn} == {*shares.baseline}
    assert "withheld" in str(charts.population_uniqueness(measured.iloc[:0]))


def test_the_same_seed_draws_the_same_sample(adult, unique, measured):
    again = measure_population_uniqueness(adult, unique, shares=[0.3])
    assert again.value.tolist() == measured.value.tolist()
    other = measure_population_uniqueness(adult, unique, shares=[0.3], seed=2)
    assert other.value.tolist() != measured.value.tolist()


def test_a_withheld_truth_does_not_follow_from_the_estimates(adult, unique):
    hidden = unique.assign(value=float("nan"))
    assert measure_population_uniqueness(adult, hidden, shares=[0.3]).value.isna().all()


def test_people_of_several_records_have_no_estimate():
    data = person_key.dataset(person_key.table(200))
    assert measure_population_uniqueness(data).empty
