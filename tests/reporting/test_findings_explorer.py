"""What is said of one setting follows from its results alone."""

import numpy as np
import pandas as pd
import pytest
from made_up import CLINIC

from privnb import explorer
from privnb.explorer import Setting
from privnb.microdata.dataset import load
from privnb.reporting import findings


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def measured(clinic):
    return explorer.measured(clinic, Setting(k=20, miner="decision tree"))


def said(results, refused=""):
    return findings.what_one_setting_gives(results, refused).data


def of(results, measure, **columns):
    rows = results[results.measure == measure]
    for name, wanted in columns.items():
        rows = rows[rows[name] == wanted]
    return rows.iloc[0]


def test_each_number_stands_beside_its_baseline(measured):
    text = said(measured)
    gain, found = of(measured, "accuracy_gain"), of(measured, "identity_vulnerability")
    good = of(measured, "good_utility", sanitizer="Mondrian")
    least = of(measured, "k_achieved").value
    assert text.startswith(f"**Mondrian(k=20):** nobody can be linked to fewer than {least:.0f} released records")
    assert f"{gain.value:.2%} more of the people" in text
    assert f"{gain.baseline:.2%}" in text
    assert f"{found.value:.2%}; without the release {found.baseline:.2g}" in text
    predicted = f"rightly predicts the {good.target} of {good.value:,.0f} people"
    assert f"{predicted} (95 % interval {good.low:,.0f} to {good.high:,.0f})" in text
    assert f"{of(measured, 'good_utility', sanitizer='Suppress').value:,.0f} people from the trivial release" in text
    assert text.count("is better") == 3
    assert "no number here says that it is safe" in text


def test_fewer_than_chance_is_said_so(measured):
    worse = measured.assign(value=measured.value.mask(measured.measure == "accuracy_gain", -0.03))
    assert "3.00% fewer of the people" in said(worse)


def test_what_is_withheld_is_no_number(measured):
    hidden = measured.copy()
    hidden.loc[hidden.measure == "accuracy_gain", ["value", "baseline"]] = np.nan
    hidden.loc[hidden.measure == "identity_vulnerability", ["value", "low", "high"]] = [np.nan, 0.97, 0.99]
    text = said(hidden)
    assert "nan" not in text
    assert "names the commonest value;" not in text
    assert "with probability 97.00% to 99.00%, for more is withheld; without the release" in text


def test_what_was_not_measured_is_not_claimed(clinic):
    text = said(explorer.counted(clinic, Setting(k=20)).results)
    assert "What a miner keeps of it was not measured here." in text
    assert "What an adversary's miner gains was not measured here." in text


def test_a_count_of_few_people_is_not_told(measured):
    bad = measured.measure == "anti_utility"
    few = measured.assign(
        value=measured.value.mask(bad), low=measured.low.mask(bad, 1), high=measured.high.mask(bad, 9)
    )
    text = said(few)
    assert "fewer than 10 people than the release" in text
    assert "(95 % interval 1 to 9)" not in text


@pytest.mark.parametrize("kind", ["LaplaceNoise", "Anatomy", "Bucketize", "Suppress", "Identity"])
def test_every_kind_of_release_has_its_sentences(kind, clinic):
    setting = Setting(kind, k=20, l=2 if kind == "Anatomy" else 0)
    text = said(explorer.counted(clinic, setting).results)
    assert text.startswith(f"**{kind}")
    assert "nan" not in text
    assert ("noise moves a number" in text) == (kind == "LaplaceNoise")


def test_what_cannot_be_reached_says_why():
    assert said(pd.DataFrame({"value": [np.nan]}), "the table has 300 records.") == (
        "**There is no such release.** the table has 300 records."
    )
