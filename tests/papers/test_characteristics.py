"""The made-up tables behind Li and Li's three characteristics: every number by hand."""

import math

import pytest

from privnb.papers.li_li_2009 import characteristics
from privnb.papers.li_li_2009.characteristics import (
    CASES,
    build_people,
    false_or_correct,
    individual_or_accumulated,
    specific_or_aggregate,
)


def divergence(p, q):
    """Jensen-Shannon, of the shares of the ill alone."""
    found = 0
    for a, b in ((p, q), (1 - p, 1 - q)):
        found += sum(x * math.log(2 * x / (a + b)) for x in (a, b) if x) / 2
    return found


def told(results):
    return results.pivot_table(index="sanitizer", columns="measure", values="value", sort=False)


def test_specific_knowledge_costs_as_much_and_is_worth_nothing():
    found = told(specific_or_aggregate())
    assert found.index.tolist() == ["nothing is published", "the town is published", "the house is published"]
    assert found.privacy_loss.tolist() == pytest.approx([0, divergence(0.5, 0.1), divergence(0.5, 0.1)])
    assert found.utility_loss["the town is published"] == pytest.approx(0, abs=1e-4)
    assert found.utility_loss["the house is published"] >= found.utility_loss["nothing is published"] > 0.04
    gain = {"the town is published": 0.1 * 0.4 + 0.9 * (0.1 - 50 / 900), "the house is published": 0.002 * 0.4 * 2}
    assert found.knowledge_gain[list(gain)].tolist() == pytest.approx(list(gain.values()))


def test_a_mean_hides_who_loses_all():
    found = told(individual_or_accumulated())
    home, sex = (found.loc[f"the {what} is published"] for what in ("home", "sex"))
    assert home.knowledge_gain == pytest.approx(sex.knowledge_gain) == pytest.approx(0.036)
    assert home.privacy_loss == pytest.approx(divergence(1, 0.4))
    assert sex.privacy_loss == pytest.approx(max(divergence(0.436, 0.4), divergence(0.364, 0.4)))
    assert sex.utility_loss < home.utility_loss < found.utility_loss["nothing is published"]


def test_what_is_false_costs_as_much_and_is_worse_than_nothing():
    found = told(false_or_correct())
    assert found.knowledge_gain.tolist() == pytest.approx([0, 0.1, 0.1])
    assert found.privacy_loss["the opposite is published"] == pytest.approx(
        found.privacy_loss["the truth is published"]
    )
    assert found.privacy_loss["the truth is published"] == pytest.approx(
        max(divergence(0.3, 0.2), divergence(0.1, 0.2))
    )
    nothing = (divergence(0.2, 0.3) + divergence(0.2, 0.1)) / 2
    assert found.utility_loss.tolist() == pytest.approx([nothing, 0, divergence(0.3, 0.1)])


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_told_of_a_thousand_people(case, monkeypatch):
    made = []
    monkeypatch.setattr(characteristics, "build_people", lambda *a, **k: made.append(build_people(*a, **k)) or made[-1])
    results = getattr(characteristics, case.replace(" ", "_"))()
    assert {len(people) for people in made} == {1000}
    assert set(results.target) == {case}
    assert set(results.better) == {"lower"}
