"""What it costs if everybody chooses, on a sample of Adult."""

import pytest

from privnb.datasets.dataset import load
from privnb.evaluation.experiments import personalized_privacy
from privnb.evaluation.experiments.personalized_privacy import AFTER, BEFORE, LARGER_K, OWN_K, SMALLER_K
from privnb.reporting import findings
from privnb.runtime.numerals import write_percent


@pytest.fixture(scope="module")
def results():
    dataset = load("adult", records=1500)
    return personalized_privacy.compare_own_k(dataset, [0.05, 0.5], (2, 20)), personalized_privacy.compare_guards(
        dataset, [0.1, 0.5], 0.7, 5
    )


@pytest.mark.slow
def test_a_k_of_ones_own_lies_between_one_k_for_all(results):
    own, _ = results
    loss = own[own.measure == "certainty_penalty"].pivot_table(index="bound", columns="variant", values="value")
    assert (loss[SMALLER_K] < loss[OWN_K]).all()
    assert (loss[OWN_K] <= loss[LARGER_K] + 0.02).all()  # Mondrian's choice of cuts is no search for the least loss
    assert loss[OWN_K].is_monotonic_increasing
    kept = own[own.measure == "wishes_kept"].set_index(["variant", "bound"]).value
    assert (kept[[OWN_K, LARGER_K]] == 1).all()
    assert (kept[SMALLER_K].fillna(0) < 0.5).all()


def test_nobody_who_guards_is_breached_afterwards(results):
    _, guarded = results
    told = guarded[guarded.measure == "wishes_breached"].set_index(["variant", "bound"]).value
    loss = guarded[guarded.measure == "value_loss"].set_index(["variant", "bound"]).value
    assert (told[BEFORE] > 0).all()
    assert (told[AFTER] == 0).all()
    assert (loss[BEFORE] == 0).all()
    assert loss[AFTER].is_monotonic_increasing


def test_who_is_breached_without_quasi_identifiers_is_the_baseline(results):
    """By how common each value is: above the bound lies the commoner salary alone."""
    _, guarded = results
    rows = guarded[(guarded.measure == "wishes_breached") & (guarded.variant == BEFORE)]
    shares = load("adult", records=1500).table["salary"].value_counts(normalize=True)
    assert (shares > 0.7).sum() == 1
    assert rows.baseline.tolist() == pytest.approx([shares.max()] * len(rows), abs=0.08)
    assert (rows.baseline != rows.value).all()


def test_the_finding_compares_own_wishes_with_one_k_for_all(results):
    own, guarded = results
    wishes, guards = findings.personal_wishes(own, (2, 20)), findings.personal_wishes(guarded, (2, 20))
    loss = wishes.given["loss"]
    assert loss["share"] == 0.05
    assert loss["smaller"]["value"] < loss["own"]["value"] < loss["larger"]["value"]
    assert write_percent(loss["own"]["value"]) in wishes.data.split("\n\n")[0]
    before = guarded[(guarded.measure == "wishes_breached") & (guarded.variant == BEFORE)]
    assert guards.given["loss"] is None
    assert guards.given["breached"]["value"] == before.value.iloc[0]
    assert "guard" in guards.data


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (lambda d: personalized_privacy.parse_shares("0.1, 1"), "WISHING"),
        (lambda d: personalized_privacy.check_ks(5, 5, d), "K_LARGER must be a whole number above K"),
        (lambda d: personalized_privacy.check_ks(5, 10_000, d), "fewer than K_LARGER"),
        (lambda d: personalized_privacy.check_breach(2), "BREACH"),
    ],
)
def test_what_cannot_be_asked(do, says):
    with pytest.raises(ValueError, match=says):
        do(load("adult", records=20))
