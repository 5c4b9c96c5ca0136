"""The knee, the choice under caps, and what is said of them, on points whose answers are known by hand."""

import numpy as np
import pytest
from support.results_frame import made

from privnb import decision
from privnb.decision import choose_by_losses, find_knee
from privnb.evaluation.results import tidy
from privnb.reporting import charts
from privnb.reporting.findings.frontier import _compare

MISSING = float("nan")


def points(losses):
    """`{"KMember k=2": (privacy, utility)}`, each a number or one a seed, or (None, low, high) for a withheld one."""
    rows = []
    for name, pair in losses.items():
        setting = (*name.split(" ", 1), "")[:2]
        for measure, values in zip(("risk", "cost"), pair, strict=True):
            if isinstance(values, tuple):
                rows.append(made("town", *setting, 1, measure, "", "", MISSING, *values[1:], MISSING, "lower"))
                continue
            base = 0.01 if measure == "risk" else MISSING
            rows += [
                made("town", *setting, seed, measure, "", "", value, MISSING, MISSING, base, "lower")
                for seed, value in enumerate(np.atleast_1d(values), 1)
            ]
    # None is below the min_class_size: that is tested in `test_policy`.
    names = {(*name.split(" ", 1), "")[:2]: name for name in losses}
    return decision.compute_points(tidy(rows), privacy="risk", utility="cost", names=names).assign(refused="")


def noise(mean, seeds=10):
    return mean + 0.05 * np.linspace(-1, 1, seeds)


CURVE = {
    "Identity": (1.0, 0.0),
    "KMember k=2": (0.5, 0.1),
    "KMember k=5": (0.2, 0.2),
    "KMember k=9": (0.1, 0.6),
    "Suppress": (0.0, 1.0),
    "Mondrian k=5": (0.4, 0.5),
}


def row(table, question):
    found = table[table.question.map(str).str.contains(question)]
    assert len(found) == 1
    return found.iloc[0]


# The knee


def test_the_knee_lies_farthest_below_the_line_between_the_ends():
    """1 - x - y: .4, .6 and .3 for the three between the ends."""
    assert find_knee(points(CURVE)).setting == "KMember k=5"


def test_the_knee_does_not_depend_on_units():
    scaled = {name: (1000 * p + 7, u / 1000) for name, (p, u) in CURVE.items()}
    assert find_knee(points(scaled)).setting == "KMember k=5"


@pytest.mark.parametrize(
    "losses",
    [
        {"Identity": (1.0, 0.0), "Suppress": (0.0, 1.0)},
        {"Identity": (1.0, 0.0), "KMember k=2": (0.5, 0.5), "Suppress": (0.0, 1.0)},
        {"Identity": (1.0, 0.0), "KMember k=2": (0.9, 0.9), "Suppress": (0.0, 1.0)},
        {f"KMember k={k}": (0.3, 0.4) for k in range(4)},
        {"Identity": (np.inf, 0.0), "KMember k=2": (0.1, 0.1), "Suppress": (0.0, 1.0)},
    ],
    ids=["two", "on the line", "above the line", "all equal", "an infinite end"],
)
def test_no_knee(losses):
    assert find_knee(points(losses)) is None


# Under a cap


def test_the_least_utility_loss_under_the_cap():
    found = row(choose_by_losses(points(CURVE), privacy_cap=0.45), "at most 0.45")
    assert found.setting == "KMember k=5"
    assert (found.privacy, found.utility) == (0.2, 0.2)
    why = found.why.data
    assert (why["kind"], why["kept"], why["releases"], why["axis"]) == ("kept_least", 4, 6, "utility")
    assert found.costs.data["more"] == (("privacy", "Suppress", 0.2), ("utility", "Identity", 0.2))


def test_a_cap_that_is_just_reached_is_kept():
    assert row(choose_by_losses(points(CURVE), privacy_cap=0.2), "at most").setting == "KMember k=5"
    assert (
        row(choose_by_losses(points({"KMember k=2": (0.1 + 0.2, 1)}), privacy_cap=0.3), "at most").setting
        == "KMember k=2"
    )


def test_the_least_privacy_loss_under_a_utility_cap():
    found = choose_by_losses(points(CURVE), utility_cap=0.6)
    assert row(found, "privacy loss with a utility loss of at most 0.6").setting == "KMember k=9"


def test_of_equal_costs_the_one_that_protects_more():
    losses = {"KMember k=2": (0.3, 0.2), "KMember k=3": (0.1, 0.2), "KMember k=4": (0.2, 0.2)}
    found = row(choose_by_losses(points(losses), privacy_cap=0.5), "at most")
    assert found.setting == "KMember k=3"
    assert found.why.data["near"] == ("KMember k=4", "KMember k=2")


def test_the_upper_bound_of_a_random_release_counts():
    """Ten values from .25 to .35: the mean .3, its upper bound .324 (by hand: .0319 * 2.262 / sqrt(10) more)."""
    losses = {"LaplaceNoise epsilon=1": (noise(0.3), noise(0.1)), "Suppress": (0.0, 1.0)}
    table = points(losses)
    assert table.privacy_high[0] == pytest.approx(0.3 + 0.0336416 * 2.2621572 / np.sqrt(10), abs=1e-4)
    assert row(choose_by_losses(table, privacy_cap=0.31), "at most").setting == "Suppress"
    assert row(choose_by_losses(table, privacy_cap=0.33), "at most").setting == "LaplaceNoise epsilon=1"


def test_too_few_seeds_keep_no_cap():
    found = row(
        choose_by_losses(
            points({"LaplaceNoise epsilon=1": (noise(0.1, 9), noise(0.1, 9)), "Suppress": (0, 1)}), privacy_cap=1
        ),
        "at most",
    )
    assert found.setting == "Suppress"
    assert found.why.data["left_out"] == 1


def test_random_costs_that_cannot_be_distinguished_are_named():
    losses = {f"LaplaceNoise epsilon={e}": (noise(0.1), noise(0.3 + e / 100)) for e in (1, 2, 20)}
    found = row(choose_by_losses(points(losses), privacy_cap=0.2), "at most")
    assert found.setting == "LaplaceNoise epsilon=1"
    assert found.why.data["near"] == ("LaplaceNoise epsilon=2",)


def test_a_withheld_number_stands_at_its_upper_bound():
    losses = {"KMember k=2": ((None, 1, 9), 0.1), "KMember k=3": (5, 0.2)}
    assert row(choose_by_losses(points(losses), privacy_cap=8), "at most").setting == "KMember k=3"
    assert row(choose_by_losses(points(losses), privacy_cap=9), "at most").setting == "KMember k=2"


def test_a_cap_that_nothing_keeps():
    found = choose_by_losses(points({"KMember k=2": (0.3, 0.1), "KMember k=3": (0.2, 0.2)}), privacy_cap=0.1)
    assert row(found, "at most").setting == "none"
    assert row(found, "at most").why.data["needed"] == (("privacy", "KMember k=3", 0.2),)
    assert row(found, "at most").costs is None


def test_points_of_which_some_have_no_min_class_size_are_refused():
    some = points(CURVE)
    some["refused"] = some.refused.astype(object).where(some.index > 0, MISSING)
    with pytest.raises(ValueError, match="these points have no minimum class size"):
        choose_by_losses(some)


def test_caps_and_releases_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="finite number; got nan"):
        choose_by_losses(points(CURVE), privacy_cap=MISSING)
    table = choose_by_losses(points({"LaplaceNoise epsilon=1": (0.1, 0.1)}))
    assert table.setting.tolist() == ["none"]
    assert str(table.why[0]) == (
        "no release meets the minimum class size; 1 cannot be chosen whatever the caps are, because a loss is not "
        "fully known"
    )


# Known from below only


def with_noise_below(risk, cost):
    """The curve, and noise whose risk is a lower bound: the best of all by its means."""
    losses = points({**CURVE, "LaplaceNoise epsilon=1": (noise(risk), noise(cost))})
    below = losses.sanitizer == "LaplaceNoise"
    status = [*points(CURVE).status.tolist(), "undecided"]
    return losses.assign(privacy_high=losses.privacy_high.mask(below, np.inf), status=status)


def test_a_lower_bound_keeps_no_cap_and_is_no_end_and_no_knee():
    table = with_noise_below(-1.0, -1.0)
    found = choose_by_losses(table, privacy_cap=0.45)
    assert not found.setting.str.startswith("LaplaceNoise").any()
    assert find_knee(table).setting == "KMember k=5"
    assert row(found, "privacy loss of at most 0.45").setting == "KMember k=5"
    assert row(found, "privacy loss of at most 0.45").why.data["left_out"] == 1
    assert choose_by_losses(table, utility_cap=0.15).setting[0] == "KMember k=2"
    assert found.setting.tolist()[-2:] == ["Suppress", "Identity"]


def test_both_caps_are_kept_by_one_release():
    assert choose_by_losses(points(CURVE), privacy_cap=0.45, utility_cap=0.3).setting[0] == "KMember k=5"
    none = choose_by_losses(points(CURVE), privacy_cap=0.15, utility_cap=0.3).iloc[0]
    assert str(none.question) == (
        "the least utility loss with a privacy loss of at most 0.15 and a utility loss of at most 0.3"
    )
    assert none.setting == "none"
    assert str(none.why) == (
        "no release meets both caps; KMember k=5 would need a privacy loss of 0.2 to be accepted; "
        "KMember k=9 would need a utility loss of 0.6 to be accepted"
    )


def test_an_exact_infinite_loss_is_still_an_end():
    found = choose_by_losses(points({"Identity": (np.inf, 0.0), "KMember k=2": (0.1, 0.1)}), privacy_cap=0.2)
    assert found.setting.tolist() == ["KMember k=2", "KMember k=2", "Identity"]


def test_releases_with_only_a_lower_bound_are_counted():
    assert _compare(with_noise_below(0.3, 0.3))["not_bounded"] == 1
    assert _compare(points(CURVE))["not_bounded"] == 0


def test_releases_are_counted_by_status():
    counts = _compare(points(CURVE))
    assert (counts["releases"], counts["efficient"], counts["dominated"], counts["undecided"]) == (6, 5, 1, 0)
    assert counts["losses"] == {"privacy": "risk (privacy loss)", "utility": "cost (utility loss)"}


# In words


def test_the_table_says_losses_baselines_and_costs():
    shown = charts.which(choose_by_losses(points(CURVE), privacy_cap=0.45)).rows
    first = shown.iloc[0]
    assert first.question == "the least utility loss with a privacy loss of at most 0.45"
    assert (first.setting, first.privacy, first.utility) == ("KMember k=5", "0.2; baseline 0.01", "0.2")
    assert first.why == "4 of 6 releases meet the cap, and this release has the least utility loss"
    assert first.costs == "0.2 more privacy loss than Suppress and 0.2 more utility loss than Identity"
    assert shown.question[1] == "the knee of the frontier"
    assert shown.setting[1] == "KMember k=5"
    assert len(shown) == 4


def test_intervals_withheld_numbers_and_no_choice_are_written():
    table = points({"LaplaceNoise epsilon=1": (noise(0.3), noise(0.1)), "KMember k=2": ((None, 1, 9), 0.2)})
    shown = charts.which(choose_by_losses(table, privacy_cap=0.1)).rows
    assert shown.setting[0] == "none"
    assert shown.why[0].startswith("no release meets")
    assert shown.privacy[1].startswith("0.300 (0.2")
    table = points({"KMember k=2": ((None, 1, 9), 0.2)})
    assert charts.which(choose_by_losses(table, privacy_cap=10)).rows.privacy[0] == "withheld, at most 9"
