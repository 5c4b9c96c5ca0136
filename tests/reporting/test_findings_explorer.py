"""What is said of one setting follows from its results alone."""

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb import explorer
from privnb.datasets.dataset import load
from privnb.evaluation.results import tidy
from privnb.explorer import Setting
from privnb.reporting import findings
from privnb.runtime.numerals import write_without_unit
from privnb.sanitizers import catalogue


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def measured(clinic):
    return explorer.measure_setting(clinic, Setting(k=20, miner="decision tree"))


def of(results, measure, **columns):
    rows = results[results.measure == measure]
    for name, wanted in columns.items():
        rows = rows[rows[name] == wanted]
    return rows.iloc[0]


@pytest.mark.slow
def test_each_number_has_its_baseline(measured):
    said = findings.one_setting(measured)
    gain, found = of(measured, "accuracy_gain"), of(measured, "identity_vulnerability")
    assert said.given["setting"] == "Mondrian, k = 20"
    # Under another study the same setting has other numbers.
    assert said.given["source"] == "clinic/clinic, sensitive diagnosis"
    for row in (gain, found):
        number = said.given["numbers"][row.measure]
        assert (number["value"], number["baseline"], number["target"]) == (row.value, row.baseline, row.target)
    assert f"an adversary traces the row of {write_without_unit('{:%}', found.value)} of people" in said.data


def test_a_negative_gain_keeps_its_sign(measured):
    worse = measured.assign(value=measured.value.mask(measured.measure == "accuracy_gain", -0.03))
    assert findings.one_setting(worse).given["numbers"]["accuracy_gain"]["value"] == -0.03


def test_a_withheld_value_is_not_a_number(measured):
    hidden = measured.copy()
    hidden.loc[hidden.measure == "accuracy_gain", ["value", "baseline"]] = np.nan
    hidden.loc[hidden.measure == "identity_vulnerability", ["value", "low", "high"]] = [np.nan, 0.97, 0.99]
    said = findings.one_setting(hidden)
    assert "nan" not in said.data
    assert said.given["numbers"]["accuracy_gain"]["value"] is None
    assert "the row of between 97% and 99% of people" in said.data


@pytest.mark.parametrize("kind", ["LaplaceNoise", "Anatomy", "Bucketize", "Suppress", "Identity"])
def test_every_kind_of_release_has_its_numbers(kind, clinic):
    setting = Setting(kind, k=20, l=2 if kind == "Anatomy" else 0)
    said = findings.one_setting(explorer.count_setting(clinic, setting).results)
    assert said.given["setting"].startswith(catalogue.title(kind))
    assert "nan" not in said.data
    assert ("mean_absolute_error" in said.given["numbers"]) == (kind == "LaplaceNoise")


def test_a_refused_setting_has_its_reason():
    said = findings.one_setting(tidy([]), "The table has 300 records.")
    assert (said.given["refused"], said.given["numbers"]) == ("The table has 300 records.", {})
    assert said.data == "There is no such release. The table has 300 records."
