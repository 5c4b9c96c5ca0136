"""The explorer's reading of releases without classes or laws: what is counted is right, and what is not says why."""

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.explorer import panels
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import Setting
from privnb.microdata.treatment import Rows
from privnb.sanitizers import Sanitizer


@dataclass(frozen=True)
class _Rounded(Sanitizer):
    """Ages to whole tens, which is no label."""

    treatment = "perturbed"

    def _sanitize(self, dataset, table, rng):
        return table.assign(age=table["age"] // 10 * 10), {"perturbed": ("age",)}


@dataclass(frozen=True)
class _Nobodys(Sanitizer):
    """Rows of nobody: columns drawn apart."""

    treatment = "synthetic"
    randomized = True

    def _sanitize(self, dataset, table, rng):
        source = np.random.default_rng(rng)
        drawn = {name: source.permutation(column.to_numpy()) for name, column in table.items()}
        return pd.DataFrame(drawn), {"rows": Rows.SYNTHETIC}


def read(base, monkeypatch):
    """The reading of a public class, which is in every list for as long as this module has it."""
    name = base.__name__.strip("_")
    monkeypatch.setattr(sys.modules[__name__], name, type(name, (base,), {"__module__": __name__}), raising=False)
    return count_setting(load(CLINIC), Setting(name))


def test_a_perturbed_release_has_its_error_and_no_classes(monkeypatch):
    reading = read(_Rounded, monkeypatch)
    measures = set(reading.results.measure)
    assert "mean_absolute_error" in measures
    assert not {"certainty_penalty", "identity_vulnerability", "accuracy_gain", "k_achieved"} & measures
    assert "values of age were changed by an unknown mechanism" in reading.promise
    assert "Each row is the record of one person, with changed values." in panels.render_published(reading)


def test_a_synthetic_release_has_no_number_of_its_records(monkeypatch):
    reading = read(_Nobodys, monkeypatch)
    assert not {"mean_absolute_error", "certainty_penalty", "identity_vulnerability"} & set(reading.results.measure)
    assert "its rows are synthetic, so nobody has a class" in reading.promise
    assert "Each row is synthetic" in panels.render_published(reading)


def test_averages_are_read_by_their_groups():
    said = panels.render_published(count_setting(load(CLINIC), Setting("Microaggregation", k=7)))
    assert "Every class has at least 7 people, who are indistinguishable." in said
    assert "noise" not in panels._lead_published(count_setting(load(CLINIC), Setting("Sampling")))
