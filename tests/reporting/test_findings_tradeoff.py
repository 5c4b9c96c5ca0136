"""What the answers say of Li and Li's trade-off: from the results at hand alone, and nothing that they do not show."""

import pytest
from rows import made

from privnb.evaluation.results import join, tidy
from privnb.reporting import findings
from privnb.reporting.findings.tradeoff import both_critiques
from privnb.studies.li_li_2009 import characteristics

MISSING = float("nan")


def row(sanitizer, parameters, measure, value, target="job", baseline=MISSING, low=MISSING, high=MISSING):
    return made("town", sanitizer, parameters, 1, measure, "", target, value, low, high, baseline, "lower")


def releases(losses, buckets=0.5):
    """`{"k=10": (privacy, utility)}` in both forms; buckets lose that share of the utility loss."""
    rows = []
    for model, (privacy, utility) in losses.items():
        for form, prefix, factor in (("Mondrian", "", 1), ("Bucketize", "partition=Mondrian ", buckets)):
            name = f"{prefix}{model} job, median=left"
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
    return findings.what_the_trade_off_is(results).data


def test_the_scales_in_words():
    text = findings.how_losses_read(join(SCALES, releases(LOSSES))).data
    assert "0.400 (job clerk, the smallest) to 0.600 (job smith, the largest of those shown)" in text
    assert "utility loss of 0.0500**, the mean over 120 large populations" in text


def test_a_withheld_value_is_no_end_of_the_scale():
    scales = SCALES.copy()
    scales.loc[1, "value"] = MISSING
    text = findings.how_losses_read(join(scales, releases(LOSSES))).data
    assert "0.400 (job clerk, the smallest) to 0.400 (job clerk, the largest of those shown)" in text


def test_without_populations_it_says_so():
    text = findings.how_losses_read(SCALES.assign(value=0.0)).data
    assert "there is no utility loss here" in text
    assert "utility loss of" not in text


def test_what_lies_below_the_line_is_not_what_is_dominated():
    text = said(releases(LOSSES))
    assert "1 of 2 under k-anonymity and 2 of 2 under t-closeness" in text
    assert "Some t release dominates 1 of the 2 other releases." in text
    assert "Of the 1 within the range of t-closeness none lies below the line through the 2 t releases" in text
    assert "; 1 outside that range" in text
    text = said(releases(LOSSES | {"l=3": (0.2, 0.012)}))
    assert "dominates 1 of the 3 other releases. Of the 2 within the range of t-closeness 1 lies below" in text
    above = said(releases(LOSSES | {"k=10": (0.3, 0.014)}))
    assert "dominates none of the 2 other releases. Of the 1 within the range of t-closeness none lies below" in above


def test_a_withheld_privacy_loss_lies_nowhere():
    losses = LOSSES | {"t=0.9": (MISSING, 0.001), "l=3": (MISSING, 0.03)}
    assert "none lies below the line through the 2 t releases; 1 outside that range" in said(releases(losses))


def test_nothing_is_said_of_t_closeness_without_it():
    text = said(releases({"k=10": (0.3, 0.02)}))
    assert "t-closeness" not in text
    assert "efficient are 1 of 1 under k-anonymity" in text


@pytest.mark.parametrize(("factor", "less", "more"), [(0.5, 4, 0), (1, 0, 0), (2, 0, 4)])
def test_buckets_are_compared_pair_by_pair(factor, less, more):
    text = said(releases(LOSSES, factor))
    assert f"Buckets lose less utility than generalized cells in {less} of 4 pairs, more in {more}" in text
    assert ("generalization loses 2.00 times as much where they lose less" in text) == (factor == 0.5)
    assert ("buckets lose 2.00 times as much where they lose more" in text) == (factor == 2)


def test_buckets_that_lose_less_here_and_more_there_have_both_ratios():
    one, other = releases({"k=10": (0.3, 0.02)}, 0.5), releases({"k=100": (0.05, 0.04)}, 3)
    text = said(join(one, other))
    assert "in 1 of 2 pairs, more in 1; generalization loses 2.00 times as much where they lose less" in text
    assert "; buckets lose 3.00 times as much where they lose more." in text


def test_the_papers_claims_with_what_holds_here():
    claims = [
        row("Mondrian", "k=10, t=0.1", "share_of_small_utility_loss", 0.5),
        row("Bucketize", "k=10, t=0.1", "share_of_small_utility_loss", 1.0),
        row("Bucketize", "k=10, t=0.1", "above_scale", 2, "k"),
        row("Bucketize", "k=10, t=0.1", "above_scale", 0, "t"),
        row("Mondrian", "delta=0.5 job, median=left", "classes", 1),
        row("Mondrian", "delta=0.9 job, median=left", "classes", 5),
        row("Mondrian", "frequency l=5.5 job, median=left", "classes", MISSING) | {"status": "not possible"},
    ]
    text = said(join(SCALES, releases(LOSSES), tidy(claims)))
    assert "every utility loss below 0.04; here that holds of 50% generalized and 100% in buckets" in text
    assert "scale (0.400) lie 2 under k-anonymity; in the paper two under l-diversity" in text
    assert "1 at 0.5 and 5 at 0.9" in text
    assert "Not kept even by all records together, so without a release: l=5.5." in text


def test_what_chance_alone_shows():
    assert "In 2 of 4 generalized releases the worst-off person loses no more than if" in said(releases(LOSSES))


def test_errors_fall_or_do_not():
    def errors(at):
        return tidy(
            [
                row(
                    "Bucketize",
                    "partition=Mondrian Jensen-Shannon t=0.1 job, median=left",
                    "average_relative_error",
                    *pair,
                )
                for pair in at
            ]
        )

    falls = errors([(0.2, "qd=4, sel=0.03"), (0.1, "qd=4, sel=0.1"), (0.3, "qd=2, sel=0.03")])
    text = said(join(releases(LOSSES), falls))
    assert "falls with a larger selectivity at each step in 1 of 1 releases: mean 20.0% at sel=0.03, 10.0%" in text
    assert "falls with a higher dimension at each step in 1 of 1 releases: mean 30.0% at qd=2, 20.0% at qd=4" in text
    rises = errors([(0.1, "qd=4, sel=0.03"), (0.2, "qd=4, sel=0.1")])
    assert "at each step in 0 of 1 releases" in said(join(releases(LOSSES), rises))
    empty = [
        row("Identity", "", "queries", 1000, "qd=4, sel=0.03, literal"),
        row("Identity", "", "empty_queries", 850, "qd=4, sel=0.03, literal"),
    ]
    assert "leaves 85% of the queries nobody to count" in said(join(releases(LOSSES), falls, tidy(empty)))
    assert "there is no relative error" in said(join(releases(LOSSES), tidy(empty)))


def test_nothing_to_say_is_said():
    assert "None of these privacy models can be kept" in said(SCALES)


@pytest.mark.parametrize(("low", "tie"), [(0.08, 4), (0.2, 0)])
def test_the_critics_disagree_in_numbers(low, tie):
    gains = [
        row("Mondrian", f"{model} job, median=left", measure, *value)
        for model in LOSSES
        for measure, value in (
            ("accuracy_gain", (0.1, "job", 0.01)),
            ("workload_gain", (0.1 + low / 10, "job", 0.0, low, 0.3)),
        )
    ]
    text = findings.where_critics_disagree(join(releases(LOSSES), tidy(gains))).data
    assert f"does not clearly gain more than the adversary in {tie} of 4 releases" in text
    assert "10.0 to 10.0" in text
    assert "avoid 20% to 80%" in text
    assert "loses 0.050 to 0.400. At k=100, which loses least privacy, it is 20%" in text


def test_of_several_miners_the_best_in_each_release_is_the_researcher():
    gains = [
        made("town", "Mondrian", f"{model} job, median=left", 1, "workload_gain", miner, "job", *three, 0.0, "higher")
        for place, model in enumerate(LOSSES)
        for miner, three in (("tree", (0.2, 0.19, 0.21)), ("forest", (0.3 * (place < 2), 0.05, 0.4)))
    ]
    exact = [row("Mondrian", f"{model} job, median=left", "accuracy_gain", 0.1, baseline=0.01) for model in LOSSES]
    both = join(releases(LOSSES), tidy(gains), tidy(exact))
    wide = both_critiques(both)
    assert wide.workload_gain.tolist() == [0.3, 0.3, 0.2, 0.2], "no mean over miners"
    assert wide.low.tolist() == [0.05, 0.05, 0.19, 0.19], "the interval of the same miner"
    assert wide.ahead.tolist() == [False, False, True, True]
    text = findings.where_critics_disagree(both).data
    assert "adversary in 2 of 4 releases** (95 % intervals; in each the best of 2 miners): 20.0 to 30.0" in text
    assert "Neither has neutral attributes, so both learn the same thing" in text


def test_without_a_researcher_nobody_disagrees():
    assert "not here" in findings.where_critics_disagree(releases(LOSSES)).data


def test_the_examples_in_words():
    examples = [getattr(characteristics, case.replace(" ", "_"))() for case in characteristics.CASES]
    text = findings.what_examples_show(join(*examples)).data
    assert text.count("**") == 6
    specific, individual, false = text.split("\n\n")
    assert "the worst-off person loses 0.1017 either way" in specific
    assert "direct comparison goes is 0.0360 either way" in individual
    assert "loses 0.2744 and 0.0007" in individual
    assert "where nothing is told, is 0.0000 and 0.0324" in false
