"""The answers about Li and Li's trade-off: from the results at hand alone."""

import pytest
from support.results_frame import made

from privnb.evaluation.results import join_results, tidy
from privnb.papers import findings
from privnb.papers.findings.tradeoff import critiques, join_critiques

MISSING = float("nan")


def row(sanitizer, parameters, measure, value, target="job", baseline=MISSING, low=MISSING, high=MISSING):
    return made("town", sanitizer, parameters, 1, measure, "", target, value, low, high, baseline, "lower")


def releases(losses, buckets=0.5):
    """`{"k=10": (privacy, utility)}` in both forms; buckets lose that share of the utility loss."""
    rows = []
    for model, (privacy, utility) in losses.items():
        for form, prefix, factor in (("Mondrian", "", 1), ("Bucketize", "partition=Mondrian ", buckets)):
            name = f"{prefix}{model} job, split_point=left"
            rows.append(row(form, name, "privacy_loss", privacy, baseline=0.15))
            rows.append(row(form, name, "utility_loss", utility * factor, baseline=0.05))
    return tidy(rows)


SCALES = tidy(
    [
        row("Identity", "", "revealed_loss", 0.4) | {"group": "clerk"},
        row("Identity", "", "revealed_loss", 0.6) | {"group": "smith"},
        row("Identity", "", "large_populations", 120),
    ]
)
LOSSES = {"k=10": (0.3, 0.02), "k=100": (0.05, 0.04), "Jensen-Shannon t=0.1": (0.1, 0.02), "t=0.4": (0.4, 0.01)}


def given(results):
    return findings.privacy_models(results).given


def test_without_large_groups_the_answer_names_the_cure():
    losses = releases(LOSSES)
    answer = findings.privacy_models(join_results(SCALES, losses[losses.measure == "privacy_loss"]))
    assert answer.given["has_no_utility_loss"]
    assert [each["utility"] for each in answer.given["losses"]] == [None, None]
    assert "there is no utility loss here" in answer.data
    assert not given(join_results(SCALES, losses))["has_no_utility_loss"]


def test_the_answer_has_both_losses_of_both_ends():
    answer = findings.privacy_models(releases(LOSSES))
    losses = [(each["setting"], each["privacy"]["value"], each["utility"]["value"]) for each in answer.given["losses"]]
    assert losses == [("Mondrian, k = 100", 0.05, 0.04), ("Mondrian, t = 0.4", 0.4, 0.01)]
    assert answer.data.startswith(
        "Under Mondrian, k = 100, the worst-off person loses 0.05 nats of privacy (by chance, 0.15 nats), and users "
        "lose 0.04 nats of utility (without quasi-identifiers, 0.05 nats)."
    )
    assert len(given(releases({"k=10": (0.3, 0.02)}))["losses"]) == 1


def efficient(results):
    found, *_ = given(results)["efficient"]
    return found["efficient"], {each["model"]: (each["efficient"], each["releases"]) for each in found["models"]}


def test_the_efficient_releases_by_privacy_model():
    assert efficient(releases(LOSSES)) == (3, {"k-anonymity": (1, 2), "t-closeness": (2, 2)})
    assert efficient(releases({"k=10": (0.3, 0.02)})) == (1, {"k-anonymity": (1, 1)})


def test_a_withheld_privacy_loss_is_not_efficient():
    losses = LOSSES | {"t=0.9": (MISSING, 0.001), "l=3": (MISSING, 0.03)}
    _, models = efficient(releases(losses))
    assert (models["t-closeness"], models["l-diversity"]) == ((2, 3), (0, 1))


@pytest.mark.parametrize("factor", [0.5, 1, 2])
def test_buckets_are_compared_pair_by_pair(factor):
    ratio = given(releases(LOSSES, factor))["buckets"]
    assert (ratio["least"], ratio["most"]) == (pytest.approx(1 / factor), pytest.approx(1 / factor))


def test_buckets_may_lose_less_in_one_pair_and_more_in_another():
    one, other = releases({"k=10": (0.3, 0.02)}, 0.5), releases({"k=100": (0.05, 0.04)}, 3)
    answer = findings.privacy_models(join_results(one, other))
    assert answer.given["buckets"] == {"least": pytest.approx(1 / 3), "most": pytest.approx(2)}
    assert "lose 0.33 to 2.00 times as much utility" in answer.data


def test_models_without_a_release_are_named():
    none = row("Mondrian", "frequency l=5.5 job, split_point=left", "classes", MISSING) | {"status": "not possible"}
    answer = findings.privacy_models(join_results(SCALES, releases(LOSSES), tidy([none])))
    assert answer.given["impossible"] == ["Mondrian, frequency l = 5.5"]
    assert "does not meet the bounds of Mondrian with frequency l = 5.5" in answer.data


def test_without_any_release_the_answer_says_so():
    assert "does not allow any of these privacy models" in findings.privacy_models(SCALES).data


@pytest.mark.parametrize(("low", "ahead"), [(0.08, 0), (0.2, 4)])
def test_the_critics_disagree_in_numbers(low, ahead):
    gains = [
        row("Mondrian", f"{model} job, split_point=left", measure, *value)
        for model in LOSSES
        for measure, value in (
            ("accuracy_gain", (0.1, "job", 0.01)),
            ("workload_gain", (0.1 + low / 10, "job", 0.0, low, 0.3)),
        )
    ]
    found = critiques(join_results(releases(LOSSES), tidy(gains)))
    assert found == {"ahead": ahead, "releases": 4, "avoided": pytest.approx(0.8)}


def test_of_several_miners_the_best_in_each_release_is_the_researcher():
    gains = [
        made(
            "town",
            "Mondrian",
            f"{model} job, split_point=left",
            1,
            "workload_gain",
            miner,
            "job",
            *three,
            0.0,
            "higher",
        )
        for place, model in enumerate(LOSSES)
        for miner, three in (("tree", (0.2, 0.19, 0.21)), ("forest", (0.3 * (place < 2), 0.05, 0.4)))
    ]
    exact = [row("Mondrian", f"{model} job, split_point=left", "accuracy_gain", 0.1, baseline=0.01) for model in LOSSES]
    both = join_results(releases(LOSSES), tidy(gains), tidy(exact))
    wide = join_critiques(both)
    assert wide.workload_gain.tolist() == [0.3, 0.3, 0.2, 0.2], "no mean over miners"
    assert wide.low.tolist() == [0.05, 0.05, 0.19, 0.19], "the interval of the same miner"
    assert wide.ahead.tolist() == [False, False, True, True]
    assert (critiques(both)["ahead"], critiques(both)["releases"]) == (2, 4)


def test_without_a_researcher_nobody_disagrees():
    assert critiques(releases(LOSSES)) is None
