"""What the answers say of Li and Li's trade-off: from the results at hand alone, and nothing that they do not show."""

import pytest
from support.results_frame import finding, made

from privnb.evaluation.results import join, tidy
from privnb.papers import findings
from privnb.papers.findings.tradeoff import both_critiques, critiques

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


def said(results):
    return findings.privacy_models(results).data


def test_without_populations_it_says_so():
    losses = releases(LOSSES)
    text = said(join(SCALES, losses[losses.measure == "privacy_loss"]))
    assert text.startswith("The worst-off person loses **0.05 nats** of privacy under Mondrian, k = 100; **0.4 nats**")
    assert "there is no utility loss here" in text
    assert "there is no utility loss here" not in said(join(SCALES, losses))


@pytest.mark.slow
def test_the_answer_has_both_losses_of_both_ends():
    assert said(releases(LOSSES)).startswith(
        "The worst-off person loses **0.05 nats** of privacy and users **0.04 nats** of utility under Mondrian, k = "
        "100; **0.4 nats** (by chance: 0.15) and **0.01 nats** (without quasi-identifiers: 0.05) under Mondrian, t = "
        "0.4."
    )
    assert said(releases({"k=10": (0.3, 0.02)})).startswith(
        "The worst-off person loses **0.3 nats** of privacy and users"
    )


def test_the_efficient_ones_by_privacy_model():
    efficient = finding(findings.privacy_models(releases(LOSSES)), "Releases generalized that no other one beats")
    assert efficient.number == "3 of 4"
    assert efficient.beside == {"under k-anonymity": "1 of 2", "under t-closeness": "2 of 2"}


def test_a_withheld_privacy_loss_is_not_efficient():
    losses = LOSSES | {"t=0.9": (MISSING, 0.001), "l=3": (MISSING, 0.03)}
    efficient = finding(findings.privacy_models(releases(losses)), "Releases generalized that no other one beats")
    assert efficient.beside["under t-closeness"] == "2 of 3"
    assert efficient.beside["under l-diversity"] == "0 of 1"


def test_nothing_is_said_of_t_closeness_without_it():
    report = findings.privacy_models(releases({"k=10": (0.3, 0.02)}))
    assert "t-closeness" not in report.data
    assert finding(report, "Releases generalized that no other one beats").beside == {"under k-anonymity": "1 of 1"}


@pytest.mark.parametrize("factor", [0.5, 1, 2])
def test_buckets_are_compared_pair_by_pair(factor):
    ratio = finding(findings.privacy_models(releases(LOSSES, factor)), "Utility loss of generalized cells")
    assert (ratio.value, ratio.beside["at least"]) == (pytest.approx(1 / factor), pytest.approx(1 / factor))


def test_buckets_that_lose_less_here_and_more_there_have_both_ratios():
    one, other = releases({"k=10": (0.3, 0.02)}, 0.5), releases({"k=100": (0.05, 0.04)}, 3)
    ratio = finding(findings.privacy_models(join(one, other)), "Utility loss of generalized cells")
    assert (ratio.value, ratio.beside["at least"]) == (pytest.approx(2), pytest.approx(1 / 3))


def test_what_no_release_keeps_is_named():
    none = row("Mondrian", "frequency l=5.5 job, split_point=left", "classes", MISSING) | {"status": "not possible"}
    text = said(join(SCALES, releases(LOSSES), tidy([none])))
    assert "Not kept even by all records together, so without a release: Mondrian, frequency l = 5.5." in text


def test_nothing_to_say_is_said():
    assert "None of these privacy models can be kept" in said(SCALES)


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
    direct, avoided = critiques(join(releases(LOSSES), tidy(gains)))
    assert direct.number == f"{ahead} of 4 releases"
    assert avoided.value == pytest.approx(0.8)


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
    both = join(releases(LOSSES), tidy(gains), tidy(exact))
    wide = both_critiques(both)
    assert wide.workload_gain.tolist() == [0.3, 0.3, 0.2, 0.2], "no mean over miners"
    assert wide.low.tolist() == [0.05, 0.05, 0.19, 0.19], "the interval of the same miner"
    assert wide.ahead.tolist() == [False, False, True, True]
    assert critiques(both)[0].number == "2 of 4 releases"


def test_without_a_researcher_nobody_disagrees():
    assert critiques(releases(LOSSES)) == []
