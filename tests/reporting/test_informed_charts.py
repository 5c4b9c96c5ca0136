"""The chart, the table and the finding about adversaries who know more, on results that are computed here."""

import pytest

from privnb.datasets.dataset import load
from privnb.evaluation import results as tidy_results
from privnb.evaluation.experiments.informed_adversaries import (
    attack_one_release,
    attack_two_releases,
    build_attacked_family,
)  # fmt: skip
from privnb.evaluation.results import tidy
from privnb.reporting import charts, findings
from privnb.sanitizers import Identity, Suppress

JOB = "occupation"


@pytest.fixture(scope="module")
def results():
    dataset = load("adult", "li-li", records=1200)
    family = build_attacked_family(dataset, JOB, k="2, 50")
    parts = attack_one_release(dataset, family, JOB), attack_two_releases(dataset, family, JOB, shared=0.4)
    return tidy_results.join_results(*parts)


def test_the_family_has_the_ends_and_each_bound():
    dataset = load("adult", "li-li", records=100)
    first, *made, last = build_attacked_family(dataset, JOB, k="2, 5", l=3, t=0.4)
    assert isinstance(first, Identity)
    assert isinstance(last, Suppress)
    assert len(made) == 6


def test_the_chart_shows_the_gain_beyond_the_control(results):
    drawn = charts.informed_gains(results)
    rows = [row for values in drawn.to_dict()["datasets"].values() for row in values]
    for row in rows:
        assert row["gain"] == pytest.approx(row["value"] - row["others"])
    assert {row["adversary"] for row in rows} >= {"Homogeneity", "Corruption", "Minimality"}


def test_the_table_names_the_strongest_attack_and_what_was_not_possible(results):
    table = charts.strongest_attacks(results).table
    assert table.loc["Mondrian, k = 2", "strongest attack"] == "Composition"
    assert table.loc["Anatomy, l = 2", "not possible here"] == "Minimality"
    assert table.loc["Mondrian, k = 2", "not possible here"] == ""


def test_the_finding_compares_with_the_adversary_who_knows_nothing_else(results):
    data = findings.informed_adversaries(results).given
    guess = data["guess"]
    assert guess["value"] > guess["before"]
    assert guess["setting"] not in ("the original", "Suppression")
    assert data["certain"]["value"] > data["certain"]["before"]


def test_nothing_was_attacked():
    assert "No release of this table was attacked" in findings.informed_adversaries(tidy([])).data
    assert "release that was attacked" in charts.strongest_attacks(tidy([])).data
