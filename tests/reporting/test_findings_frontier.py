"""Findings about the frontier and a search, on small tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import made

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


def said(results, min_class_size=5, privacy=0.2, utility=0):
    releases = decision.compute_points(results, **AXES, min_class_size=min_class_size)
    return findings.publication(results, releases, min_class_size, privacy=privacy, utility=utility)


def test_the_release_that_comes_first_is_stated_with_its_loss_and_the_caps(results):
    found = said(results)
    chosen, (cap,) = found.given["chosen"], found.given["caps"]
    assert (chosen["setting"], chosen["axis"], chosen["value"]) == ("Mondrian, t = 0.2", "utility", pytest.approx(0.4))
    assert (cap["axis"], cap["most"]["value"], cap["share"], cap["is_share"]) == (
        "privacy",
        pytest.approx(0.1),
        0.2,
        False,
    )
    first = found.data.split("\n\n")[0]
    assert first.startswith("Mondrian with t = 0.2 comes first by two losses alone")
    assert "40% of that of the release without quasi-identifiers" in first
    assert "to that of the original" in first


def test_losses_in_nats_are_shares_of_the_largest_one(results):
    """A unit of information means nothing to a person: neither the loss nor its cap is stated in it."""
    found = said(results, privacy=0, utility=0.5)
    assert found.given["caps"][0]["is_share"]
    assert "nats" not in found.data.split("\n\n")[0]


@pytest.mark.parametrize("end", ["Identity", "Suppress"])
def test_without_a_cap_neither_reference_release_is_needed(results, end):
    """Without either of them a loss in nats is a share of nothing, so that it is stated in nats."""
    chosen = said(results[results.sanitizer != end], privacy=0).given["chosen"]
    assert (chosen["is_share"], chosen["format"]) == (False, "{:g} nats")


def test_a_cap_whose_other_end_is_withheld_is_no_share_of_the_way_there(results):
    """A table of few people: the original's gain is withheld, so the cap is what needs no quasi-identifiers, 0."""
    original = (results.sanitizer == "Identity") & (results.measure == "accuracy_gain")
    found = said(results.assign(value=results.value.mask(original), low=MISSING, high=MISSING))
    (cap,) = found.given["caps"]
    assert (cap["most"]["value"], cap["known"]) == (0, [True, False])
    assert "the loss of the original is not known" in found.data
    assert "of the distance" not in found.data


def test_small_losses_are_no_powers_of_ten(results):
    tiny = tidy(rows("Mondrian k=9", 0.09, 6.85e-05))
    text = said(pd.concat([results, tiny], ignore_index=True)).data
    assert "utility loss is 0.14% of that" in text
    assert "e-05" not in text


def test_every_release_that_cannot_be_chosen_is_listed_with_the_reason(results):
    loose = tidy(rows("Mondrian k=5", 0.3, 0.01))
    pair = tidy(rows("KMember k=2", 0.01, 0.001, people=FEW))
    found = said(pd.concat([results, loose, pair], ignore_index=True))
    by_setting = {name: each["reasons"] for each in found.given["left_out"] for name in each["settings"]}
    assert [*by_setting][:2] == ["the original", "k-member clustering, k = 2"]
    assert by_setting["Mondrian, k = 5"] == ["its privacy loss exceeds the cap of 0.1"]
    assert "Laplace noise, epsilon 1" in by_setting
    assert "4 of 6 releases cannot be chosen:" in found.data


def test_nothing_is_chosen_if_nothing_keeps_the_minimum_class_size_and_caps(results):
    found = said(results, min_class_size=50)
    assert found.given["chosen"] is None
    assert found.data.startswith("Publish none of these releases")
    assert "no release meets the minimum class size" in found.data
    text = said(results, privacy=0.1, utility=0.1).data
    assert "Suppression would need a utility loss of 0.05 to be accepted" in text


def test_releases_are_counted_and_lower_bounds_named(results):
    found = said(results).given
    counts = found["counts"]
    assert (counts["releases"], counts["efficient"], counts["refused"]) == (4, 2, 1)
    assert found["mined"] == {"sanitizers": ["Laplace noise"], "miners": ["naive Bayes"]}
    assert "safe" not in said(results).data


def test_buckets_of_exact_quasi_identifiers_are_not_recommended(results):
    buckets = tidy(rows("Bucketize partition=Mondrian t=0.2 job", 0.09, 0.01, people=FEW))
    found = said(pd.concat([results, buckets], ignore_index=True)).given
    assert found["chosen"]["setting"] == "Mondrian, t = 0.2"
    assert any("Buckets, t = 0.2" in each["settings"] for each in found["left_out"])


def test_exact_gains_have_no_such_note(results):
    assert said(results[results.sanitizer != "LaplaceNoise"]).given["mined"] == {}


def search(results_of, cap):
    return decision.tune(
        lambda k: tidy(rows(f"KMember k={k}", *results_of(k))), range(2, 66), cap, **AXES, min_class_size=None
    )


def losses(k):
    return 1 / k, k / 100


@pytest.mark.slow
def test_what_the_search_found():
    tuned = search(losses, 0.1)
    said = findings.search(tuned, 0.1, None, **AXES)
    found = said.given
    assert (found["found"]["value"], found["found"]["setting"]) == (0.1, "k-member clustering, k = 10")
    assert (found["tried"], found["size"], found["whole"]) == (tuned.evaluations, 64, None)
    assert found["least"]["privacy"] == tuned.releases.privacy_high[tuned.releases.value == 10].iloc[0]
    assert "utility loss is 0.1, and its privacy loss is 0.1" in said.data
    whole = tidy([row for k in range(2, 66) for row in rows(f"KMember k={k}", *losses(k))])
    assert findings.search(tuned, 0.1, whole, **AXES).given["more"] is None


@pytest.mark.slow
def test_a_search_that_missed_the_best_states_by_how_much():
    best = {"KMember k=64": (0.09, 0.08)}
    whole = tidy([row for setting, pair in best.items() for row in rows(setting, *pair)])
    said = findings.search(search(losses, 0.1), 0.1, whole, **AXES)
    assert (said.given["whole"]["value"], said.given["whole"]["setting"]) == (0.08, "k-member clustering, k = 64")
    assert said.given["more"]["share"] == pytest.approx(0.25)
    nothing = findings.search(search(lambda k: (1.0, k / 100), 0.1), 0.1, whole, **AXES)
    assert (nothing.given["found"], nothing.given["least"]["privacy"]) == (None, 1)
    assert "No tried value keeps the privacy loss at or below 0.1." in nothing.data
    assert "The search missed this value." in nothing.data


@pytest.mark.slow
def test_a_search_among_lower_bounds_finds_nothing_and_states_why():
    def noisy(epsilon):
        return tidy(rows(f"LaplaceNoise epsilon={epsilon}", 0.01, 1 / epsilon, miner="tree", seeds=10, high=np.inf))

    tuned = decision.tune(noisy, range(1, 33), 0.1, **AXES, min_class_size=None)
    assert tuned.value is None
    found = findings.search(tuned, 0.1, None, **AXES)
    assert found.given["least"]["is_lower_bound"]
    assert "inf" not in found.data


def test_without_a_cap_nothing_is_searched():
    assert not findings.search(None, 0, None).given["is_searched"]
    assert "needs a PRIVACY_CAP above 0" in findings.search(None, 0, None).data
