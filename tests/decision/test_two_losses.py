"""The knee, the choice under caps, and what is said of them, on points whose answers are known by hand."""

import numpy as np
import pytest
from support.results_frame import made

from privnb import decision
from privnb.decision import choices, knee
from privnb.evaluation.results import tidy
from privnb.reporting import charts
from privnb.reporting.findings.frontier import _compared

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
    # None is below the floor: that is tested in `test_policy`.
    names = {(*name.split(" ", 1), "")[:2]: name for name in losses}
    return decision.points(tidy(rows), privacy="risk", utility="cost", names=names).assign(refused="")


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
    found = table[table.question.str.contains(question)]
    assert len(found) == 1
    return found.iloc[0]


# The knee


def test_the_knee_lies_farthest_below_the_line_between_the_ends():
    """1 - x - y: .4, .6 and .3 for the three between the ends."""
    assert knee(points(CURVE)).setting == "KMember k=5"


def test_the_knee_does_not_depend_on_units():
    scaled = {name: (1000 * p + 7, u / 1000) for name, (p, u) in CURVE.items()}
    assert knee(points(scaled)).setting == "KMember k=5"


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
    assert knee(points(losses)) is None


# Under a cap


def test_the_least_utility_loss_under_the_cap():
    found = row(choices(points(CURVE), privacy_cap=0.45), "at most 0.45")
    assert found.setting == "KMember k=5"
    assert (found.privacy, found.utility) == (0.2, 0.2)
    assert found.why == "4 of 6 releases keep the cap, and this one loses least utility"
    assert found.costs == "0.2 more privacy loss than Suppress and 0.2 more utility loss than Identity"


def test_a_cap_that_is_just_reached_is_kept():
    assert row(choices(points(CURVE), privacy_cap=0.2), "at most").setting == "KMember k=5"
    assert row(choices(points({"KMember k=2": (0.1 + 0.2, 1)}), privacy_cap=0.3), "at most").setting == "KMember k=2"


def test_the_least_privacy_loss_under_a_utility_cap():
    found = choices(points(CURVE), utility_cap=0.6)
    assert row(found, "privacy loss with a utility loss of at most 0.6").setting == "KMember k=9"


def test_of_equal_costs_the_one_that_protects_more():
    losses = {"KMember k=2": (0.3, 0.2), "KMember k=3": (0.1, 0.2), "KMember k=4": (0.2, 0.2)}
    found = row(choices(points(losses), privacy_cap=0.5), "at most")
    assert found.setting == "KMember k=3"
    assert found.why.endswith("not distinguishable from KMember k=4, KMember k=2")


def test_the_upper_bound_of_a_random_release_counts():
    """Ten values from .25 to .35: the mean .3, its upper bound .324 (by hand: .0319 * 2.262 / sqrt(10) more)."""
    losses = {"LaplaceNoise epsilon=1": (noise(0.3), noise(0.1)), "Suppress": (0.0, 1.0)}
    table = points(losses)
    assert table.privacy_high[0] == pytest.approx(0.3 + 0.0336416 * 2.2621572 / np.sqrt(10), abs=1e-4)
    assert row(choices(table, privacy_cap=0.31), "at most").setting == "Suppress"
    assert row(choices(table, privacy_cap=0.33), "at most").setting == "LaplaceNoise epsilon=1"


def test_too_few_seeds_keep_no_cap():
    found = row(
        choices(points({"LaplaceNoise epsilon=1": (noise(0.1, 9), noise(0.1, 9)), "Suppress": (0, 1)}), privacy_cap=1),
        "at most",
    )
    assert found.setting == "Suppress"
    assert "1 cannot be chosen whatever the caps" in found.why


def test_random_costs_that_cannot_be_distinguished_are_named():
    losses = {f"LaplaceNoise epsilon={e}": (noise(0.1), noise(0.3 + e / 100)) for e in (1, 2, 20)}
    found = row(choices(points(losses), privacy_cap=0.2), "at most")
    assert found.setting == "LaplaceNoise epsilon=1"
    assert found.why.endswith("by utility loss not distinguishable from LaplaceNoise epsilon=2")


def test_a_withheld_number_stands_at_its_upper_bound():
    losses = {"KMember k=2": ((None, 1, 9), 0.1), "KMember k=3": (5, 0.2)}
    assert row(choices(points(losses), privacy_cap=8), "at most").setting == "KMember k=3"
    assert row(choices(points(losses), privacy_cap=9), "at most").setting == "KMember k=2"


def test_a_cap_that_nothing_keeps():
    found = choices(points({"KMember k=2": (0.3, 0.1), "KMember k=3": (0.2, 0.2)}), privacy_cap=0.1)
    assert row(found, "at most").setting == "none"
    assert row(found, "at most").why == (
        "no release keeps the cap; for KMember k=3 a privacy loss of 0.2 would have to be accepted"
    )
    assert row(found, "at most").costs == ""


def test_points_of_which_some_have_no_floor_are_refused():
    some = points(CURVE)
    some["refused"] = some.refused.astype(object).where(some.index > 0, MISSING)
    with pytest.raises(ValueError, match="these points have no floor"):
        choices(some)


def test_caps_and_releases_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="finite number, got nan"):
        choices(points(CURVE), privacy_cap=MISSING)
    table = choices(points({"LaplaceNoise epsilon=1": (0.1, 0.1)}))
    assert table.setting.tolist() == ["none"]
    assert table.why[0] == (
        "no release keeps the floor; 1 cannot be chosen whatever the caps, because a loss is not known in full"
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
    found = choices(table, privacy_cap=0.45)
    assert not found.setting.str.startswith("LaplaceNoise").any()
    assert knee(table).setting == "KMember k=5"
    assert row(found, "privacy loss of at most 0.45").setting == "KMember k=5"
    assert "1 cannot be chosen whatever the caps" in row(found, "privacy loss of at most 0.45").why
    assert choices(table, utility_cap=0.15).setting[0] == "KMember k=2"
    assert found.setting.tolist()[-2:] == ["Suppress", "Identity"]


def test_both_caps_are_kept_by_one_release():
    assert choices(points(CURVE), privacy_cap=0.45, utility_cap=0.3).setting[0] == "KMember k=5"
    none = choices(points(CURVE), privacy_cap=0.15, utility_cap=0.3).iloc[0]
    assert (
        none.question == "the least utility loss with a privacy loss of at most 0.15 and a utility loss of at most 0.3"
    )
    assert none.setting == "none"
    assert none.why == (
        "no release keeps both caps; for KMember k=5 a privacy loss of 0.2 would have to be accepted; "
        "for KMember k=9 a utility loss of 0.6 would have to be accepted"
    )


def test_an_exact_infinite_loss_is_still_an_end():
    found = choices(points({"Identity": (np.inf, 0.0), "KMember k=2": (0.1, 0.1)}), privacy_cap=0.2)
    assert found.setting.tolist() == ["KMember k=2", "KMember k=2", "Identity"]


def test_what_is_known_from_below_is_counted():
    assert "Of 1 a loss is known from below only" in " ".join(_compared(with_noise_below(0.3, 0.3)))
    assert "from below" not in " ".join(_compared(points(CURVE)))


# In words


def test_releases_are_counted_by_what_no_other_one_beats():
    said = next(_compared(points(CURVE)))
    assert said.startswith("Of 6 releases 5 are efficient")
    assert "risk (privacy loss) and cost (utility loss)" in said
    assert "1 are dominated, 0 cannot be decided" not in said
    assert "1 is dominated, 0 cannot be decided" in said


def test_the_table_says_losses_baselines_and_costs():
    shown = charts.which(choices(points(CURVE), privacy_cap=0.45)).rows
    first = shown.iloc[0]
    assert first.question == "the least utility loss with a privacy loss of at most 0.45"
    assert (first.setting, first.privacy, first.utility) == ("KMember k=5", "0.2; baseline 0.01", "0.2")
    assert first.why.startswith("4 of 6 releases keep the cap")
    assert first.why.endswith("it costs 0.2 more privacy loss than Suppress and 0.2 more utility loss than Identity")
    assert shown.question[1] == "the knee of the frontier"
    assert shown.setting[1] == "KMember k=5"
    assert len(shown) == 4


def test_intervals_withheld_numbers_and_no_choice_are_written():
    table = points({"LaplaceNoise epsilon=1": (noise(0.3), noise(0.1)), "KMember k=2": ((None, 1, 9), 0.2)})
    shown = charts.which(choices(table, privacy_cap=0.1)).rows
    assert shown.setting[0] == "none"
    assert shown.why[0].startswith("no release keeps")
    assert shown.privacy[1].startswith("0.300 (0.2")
    table = points({"KMember k=2": ((None, 1, 9), 0.2)})
    assert charts.which(choices(table, privacy_cap=10)).rows.privacy[0] == "withheld, at most 9"
