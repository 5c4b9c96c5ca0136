"""What is said of one setting follows from its results alone."""

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb import explorer
from privnb.datasets.dataset import load
from privnb.evaluation.results import tidy
from privnb.explorer import Setting
from privnb.reporting import findings
from privnb.runtime.numerals import bare
from privnb.sanitizers import catalogue


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


@pytest.mark.slow
def test_each_number_stands_beside_its_baseline(measured):
    report = findings.one_setting(measured)
    gain, found = of(measured, "accuracy_gain"), of(measured, "identity_vulnerability")
    whose = "clinic/clinic, sensitive diagnosis"  # under another study the same setting has other numbers
    assert report.data.startswith(f"Under **Mondrian, k = 20** ({whose}), a published cell spans **")
    guessed, traced = (
        f"**{bare(format, row.value)} of people** (chance: {bare(format, row.baseline)})"
        for format, row in (("{:+%}", gain), ("{:%}", found))
    )
    assert f"a guess of the {gain.target} gains {guessed}; a row leads to its person for {traced}." in report.data
    assert "no number here says that this release is safe" in report.data


def test_fewer_than_chance_is_said_so(measured):
    worse = measured.assign(value=measured.value.mask(measured.measure == "accuracy_gain", -0.03))
    assert " gains **−3% of people**" in said(worse)


def test_what_is_withheld_is_no_number(measured):
    hidden = measured.copy()
    hidden.loc[hidden.measure == "accuracy_gain", ["value", "baseline"]] = np.nan
    hidden.loc[hidden.measure == "identity_vulnerability", ["value", "low", "high"]] = [np.nan, 0.97, 0.99]
    text = said(hidden)
    assert "nan" not in text
    assert " gains **withheld**" in text
    assert "for **97% to 99% of people (withheld)**" in text


@pytest.mark.parametrize("kind", ["LaplaceNoise", "Anatomy", "Bucketize", "Suppress", "Identity"])
def test_every_kind_of_release_has_its_sentences(kind, clinic):
    setting = Setting(kind, k=20, l=2 if kind == "Anatomy" else 0)
    text = said(explorer.counted(clinic, setting).results)
    assert text.startswith(f"Under **{catalogue.title(kind)}")
    assert "nan" not in text
    assert ("noise moves a number by" in text) == (kind == "LaplaceNoise")


def test_what_cannot_be_reached_says_why():
    assert said(tidy([]), "the table has 300 records.") == ("**There is no such release.** the table has 300 records.")
