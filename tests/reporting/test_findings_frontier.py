"""What is said of the frontier and of a search, on small tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import finding, made

from privnb import decision
from privnb.evaluation.results import tidy
from privnb.reporting import findings

MISSING = float("nan")
FEW = (MISSING, 1, 4)
AXES = {"privacy": "accuracy_gain", "utility": "utility_loss"}


def rows(setting, gain, loss, *, miner="", seeds=1, high=MISSING, people=(MISSING, 5, 9)):
    """`people`: who share the rarest combination, (value, low, high); by default not fewer than 5."""
    name = (*setting.split(" ", 1), "")[:2]
    return [
        # Repeats that were all alike would have no interval.
        made("town", *name, seed, measure, who, "job", value * (1 + (seed - 1) / 1e6), MISSING, bound, 0.01, "lower")
        for seed in range(1, seeds + 1)
        for measure, who, value, bound in (
            ("accuracy_gain", miner, gain, MISSING), ("accuracy_gain", "worst", gain, high),
            ("utility_loss", "", loss, MISSING),
        )
    ] + [made("town", *name, 1, "smallest_combination", "", "", *people, MISSING, "higher")]  # fmt: skip


@pytest.fixture
def results():
    found = [
        *rows("Identity", 0.5, 0.0, people=FEW),
        *rows("Suppress", 0.0, 0.05),
        *rows("Mondrian t=0.2 job", 0.09, 0.02),
    ]
    return tidy([*found, *rows("LaplaceNoise epsilon=1", 0.2, 0.04, miner="naive Bayes", seeds=10, high=np.inf)])


def said(results, floor=5, privacy=0.2, utility=0):
    releases = decision.points(results, **AXES, floor=floor)
    return findings.publication(results, releases, floor, privacy=privacy, utility=utility)


def test_the_recommendation_comes_first_and_is_short(results):
    first = said(results).data.split("\n\n")[0]
    assert first == (
        "**Mondrian, t = 0.2** comes first (town, sensitive job): utility loss 40% of that without "
        "quasi-identifiers, the least with "
        "accuracy gain up to +10% (20% of the way to the original's) and at least 5 people per combination."
    )
    assert len(first.split()) <= 40


def test_both_floors_are_said():
    owners = decision.policies.read("ontario-2025")
    text = findings.floors(5, owners).data
    assert "at least **5 people**" in text
    assert f"The policy {owners.title} has its own floor: **11 people**." in text


def test_losses_in_nats_are_shares_of_the_largest_one(results):
    """A unit of information says nothing to a person: neither the loss nor its cap is said in it."""
    text = said(results, privacy=0, utility=0.5).data.split("\n\n")[0]
    assert "nats" not in text
    assert "utility loss up to 50% of that without quasi-identifiers" in text


@pytest.mark.parametrize("end", ["Identity", "Suppress"])
def test_where_nothing_is_capped_no_end_is_asked_for(results, end):
    """Without either end a loss in nats is a share of nothing, so that it is said as it stands."""
    text = said(results[results.sanitizer != end], privacy=0).data.split("\n\n")[0]
    assert "comes first" in text
    assert "utility loss 0.02 nats, the least with at least 5 people" in text


def test_a_cap_whose_other_end_is_withheld_is_no_share_of_the_way_there(results):
    """A table of few people: the original's gain is withheld, so the cap is what needs no quasi-identifiers, 0."""
    original = (results.sanitizer == "Identity") & (results.measure == "accuracy_gain")
    text = said(results.assign(value=results.value.mask(original), low=MISSING, high=MISSING)).data
    assert "accuracy gain up to 0% (the original's is not known) and at least 5 people" in text
    assert "of the way" not in text


def test_small_losses_are_no_powers_of_ten(results):
    tiny = tidy(rows("Mondrian k=9", 0.09, 6.85e-05))
    text = said(pd.concat([results, tiny], ignore_index=True)).data
    assert "utility loss 0.14% of that without quasi-identifiers" in text
    assert "e-05" not in text


def test_every_release_that_is_left_out_is_listed_with_the_reason(results):
    loose = tidy(rows("Mondrian k=5", 0.3, 0.01))
    pair = tidy(rows("KMember k=2", 0.01, 0.001, people=FEW))
    said_of = said(pd.concat([results, loose, pair], ignore_index=True))
    lines = next(part for part in said_of.parts if isinstance(part, list))
    assert lines[:2] == [
        "It publishes the data as they are: the original.",
        "Its rarest combination of quasi-identifiers belongs to fewer than 5 people: k-member clustering, k = 2.",
    ]
    assert "Its privacy loss is above the cap of 0.1: Mondrian, k = 5." in lines
    assert any(line.endswith(": Laplace noise, epsilon 1.") for line in lines)
    assert "5 of 6 releases are left out" not in said_of.data
    assert "4 of 6 releases are left out" in said_of.data


def test_nothing_is_recommended_where_nothing_keeps_floor_and_caps(results):
    text = said(results, floor=50).data
    assert text.startswith("**None of these releases should be published** (town, sensitive job): none has accuracy")
    assert "no release keeps the floor" in text
    text = said(results, privacy=0.1, utility=0.1).data
    assert "for Suppression a utility loss of 0.05 would have to be accepted" in text


def test_which_to_publish(results):
    text = said(results).data
    assert "Of 4 releases 2 are efficient" in text
    assert "as good in both accuracy gain (privacy loss) and utility loss and better in one" in text
    assert "1 may not be chosen whatever the losses" in text
    assert "Without classes (Laplace noise) it is what the best of naive Bayes reaches" in text
    assert "exact for an adversary who knows the class" in text
    assert "nobody can guess better" not in text
    assert "such a release dominates no other one, and keeps no cap on this gain" in text
    assert "safe" not in text


def test_buckets_of_exact_quasi_identifiers_are_not_recommended(results):
    buckets = tidy(rows("Bucketize partition=Mondrian t=0.2 job", 0.09, 0.01, people=FEW))
    text = said(pd.concat([results, buckets], ignore_index=True)).data
    assert text.startswith("**Mondrian, t = 0.2** comes first")
    assert "belongs to fewer than 5 people: Buckets, t = 0.2." in text


def test_exact_gains_have_no_such_note(results):
    assert "better attack" not in said(results[results.sanitizer != "LaplaceNoise"]).data


def search(results_of, cap):
    return decision.tune(lambda k: tidy(rows(f"KMember k={k}", *results_of(k))), range(2, 66), cap, **AXES, floor=None)


def losses(k):
    return 1 / k, k / 100


@pytest.mark.slow
def test_what_the_search_found():
    tuned = search(losses, 0.1)
    said = findings.search(tuned, 0.1, None, **AXES)
    found = finding(said, "Least utility loss with a privacy loss of at most 0.1")
    assert (found.value, found.setting) == (0.1, "k-member clustering, k = 10")
    assert found.beside == {
        "values tried": f"{tuned.evaluations} of the grid's 64",
        "its privacy loss": tuned.releases.privacy_high[tuned.releases.value == 10].iloc[0],
    }
    assert "The whole grid was not evaluated, so how near this comes to its best is not known here" in said.data
    assert "%" not in said.data, "no rate that these results do not show"
    whole = tidy([row for k in range(2, 66) for row in rows(f"KMember k={k}", *losses(k))])
    assert "The search loses no more" in findings.search(tuned, 0.1, whole, **AXES).data


@pytest.mark.slow
def test_a_search_that_missed_says_by_how_much():
    best = {"KMember k=64": (0.09, 0.08)}
    whole = tidy([row for setting, pair in best.items() for row in rows(setting, *pair)])
    grid = finding(findings.search(search(losses, 0.1), 0.1, whole, **AXES), "whole grid")
    assert (grid.value, grid.setting) == (0.08, "k-member clustering, k = 64")
    assert grid.note == "The search loses 25.0% more."
    nothing = search(lambda k: (1.0, k / 100), 0.1)
    said = findings.search(nothing, 0.1, whole, **AXES)
    least = finding(said, "Least upper bound of the privacy loss")
    assert least.value == 1
    assert "No value tried keeps a privacy loss of at most 0.1." in least.note
    assert finding(said, "whole grid").note == "The search missed it."


@pytest.mark.slow
def test_a_search_among_lower_bounds_finds_nothing_and_says_why():
    def noisy(epsilon):
        return tidy(rows(f"LaplaceNoise epsilon={epsilon}", 0.01, 1 / epsilon, miner="tree", seeds=10, high=np.inf))

    tuned = decision.tune(noisy, range(1, 33), 0.1, **AXES, floor=None)
    assert tuned.value is None
    text = findings.search(tuned, 0.1, None, **AXES).data
    assert "known from below only, so none is sure to keep a privacy loss of at most 0.1" in text
    assert "inf" not in text
    assert "unbounded" in text


def test_without_a_cap_nothing_is_searched():
    assert "takes a PRIVACY_CAP above 0" in findings.search(None, 0, None).data
