"""What is said of one setting follows from its results alone."""

import numpy as np
import pandas as pd
import pytest
from made_up import CLINIC
from rows import finding

from privnb import explorer
from privnb.explorer import Setting
from privnb.microdata.dataset import load
from privnb.microdata.numerals import bare
from privnb.reporting import findings


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def measured(clinic):
    return explorer.measured(clinic, Setting(k=20, miner="decision tree"))


def said(results, refused=""):
    return findings.one_setting(results, refused).data


def of(results, measure, **columns):
    rows = results[results.measure == measure]
    for name, wanted in columns.items():
        rows = rows[rows[name] == wanted]
    return rows.iloc[0]


def test_each_number_stands_beside_its_baseline(measured):
    report = findings.one_setting(measured)
    gain, found = of(measured, "accuracy_gain"), of(measured, "identity_vulnerability")
    good = of(measured, "good_utility", sanitizer="Mondrian")
    assert report.data.startswith("Under **Mondrian k=20**, a published cell spans **")
    assert (
        f"is guessed right for **{bare('{:+%}', gain.value)} of people** (by chance: {bare('{:+%}', gain.baseline)})"
        in report.data
    )
    assert (
        f"a row leads to its person for **{bare('{:%}', found.value)} of people** "
        f"(by chance: {bare('{:%}', found.baseline)})." in report.data
    )
    predicted = finding(report, f"rightly predicts the {good.target}")
    assert (predicted.value, predicted.low, predicted.high) == (good.value, good.low, good.high)
    trivial = of(measured, "good_utility", sanitizer="Suppress").value
    assert predicted.beside["from the trivial release"] == f"{trivial:,.0f} people"
    assert all(each.better for each in report.found)
    assert "no number here says that it is safe" in report.data


def test_fewer_than_chance_is_said_so(measured):
    worse = measured.assign(value=measured.value.mask(measured.measure == "accuracy_gain", -0.03))
    assert "guessed right for **-3% of people**" in said(worse)


def test_what_is_withheld_is_no_number(measured):
    hidden = measured.copy()
    hidden.loc[hidden.measure == "accuracy_gain", ["value", "baseline"]] = np.nan
    hidden.loc[hidden.measure == "identity_vulnerability", ["value", "low", "high"]] = [np.nan, 0.97, 0.99]
    text = said(hidden)
    assert "nan" not in text
    assert "is guessed right for **withheld**" in text
    assert "for **97% to 99% of people (withheld)**" in text


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
    assert "than the release: fewer than 10 people**" in text
    assert "(95% interval 1 to 9)" not in text


@pytest.mark.parametrize("kind", ["LaplaceNoise", "Anatomy", "Bucketize", "Suppress", "Identity"])
def test_every_kind_of_release_has_its_sentences(kind, clinic):
    setting = Setting(kind, k=20, l=2 if kind == "Anatomy" else 0)
    text = said(explorer.counted(clinic, setting).results)
    assert text.startswith(f"Under **{kind}")
    assert "nan" not in text
    assert ("noise moves a number by" in text) == (kind == "LaplaceNoise")


def test_what_cannot_be_reached_says_why():
    assert said(pd.DataFrame({"value": [np.nan]}), "the table has 300 records.") == (
        "**There is no such release.** the table has 300 records."
    )
