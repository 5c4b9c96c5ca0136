"""Brickell and Shmatikov's answer on hand-made results: the right release, the right number, the right direction."""

import numpy as np
import pytest
from support.results_frame import finding, made

from privnb import papers
from privnb.evaluation.results import tidy
from privnb.papers import charts, findings
from privnb.papers.findings.workload import ahead, best_adversary, both_sides, sanitized

NAMES = ["the original", "Suppression", "Mondrian, k = 10", "Mondrian, l = 5", "Mondrian, t = 0.2"]
PAPERS = ", split_attribute=gain, split_point=below, workload=pay"
NONE = np.nan


def gain(parameters, value, *, sanitizer="Mondrian", error=0.001, miner="tree", seed=1, dataset="toy", target="pay"):
    """A row of the researcher's gain."""
    row = (dataset, sanitizer, parameters, seed, "workload_gain", miner, target, value, value - error, value + error)
    return made(*row, 0, "higher")


def adversary(parameters, value, *, sanitizer="Mondrian", chance=0.0, miner="", seed=1, dataset="toy"):
    row = (dataset, sanitizer, parameters, seed, "accuracy_gain", miner, "job", value, NONE, NONE)
    return made(*row, chance, "lower")


def results(*rows):
    return tidy(rows)


COMPARED = (
    adversary("", 0.10, sanitizer="Identity", chance=0.03),
    adversary("", 0.0, sanitizer="Suppress"),
    adversary(f"k=10{PAPERS}", 0.08),
    adversary(f"c=3 l=5 job{PAPERS}", 0.05),
    adversary(f"t=0.2 job{PAPERS}", 0.004),
    gain("", 0.02, sanitizer="Identity"),
    gain("", -0.01, sanitizer="Suppress"),
    gain("attributes=sensitive", 0.0, sanitizer="Suppress", error=0),
    gain(f"k=10{PAPERS}", 0.021),
    gain(f"c=3 l=5 job{PAPERS}", 0.006),
    gain(f"t=0.2 job{PAPERS}", 0.012),
)


def test_what_is_kept_where_the_adversary_is_held_to_half():
    said = findings.adversary_and_researcher(results(*COMPARED))
    more = ahead(both_sides(results(*COMPARED)))
    assert (more.number, more.beside["less"]) == ("2 of 3 comparisons", "1")
    whole = finding(said, "the original gives the researcher (tree)")
    assert [round(each, 3) for each in (whole.value, whole.low, whole.high)] == [0.02, 0.019, 0.021]
    assert (whole.beside["the adversary"], whole.beside["by chance"]) == (0.10, 0.03)
    kept = finding(said, "toy, predicting pay: held to half")
    assert [round(each, 2) for each in (kept.value, kept.low, kept.high)] == [0.6, 0.55, 0.65]
    assert kept.setting == "Mondrian, t = 0.2"
    assert kept.beside == {"the researcher": "+1.2% of people", "the adversary": "+0.4% of people"}
    assert kept.note.startswith("The best of 2")
    assert said.data.startswith(
        "With the adversary's gain at least halved, Mondrian, t = 0.2 keeps **60%** "
        "(95% interval 55% to 65%) of the researcher's gain on pay. The adversary gains more in **2 of 3 "
        "comparisons**."
    )
    several = findings.adversary_and_researcher(results(*COMPARED, *({**row, "target": "post"} for row in COMPARED)))
    assert "the best releases keep **60%** (95% interval 55% to 65%) of the researcher's gain" in several.data
    assert "on pay and 60% on post. The adversary gains more in **4 of 6 comparisons**." in several.data


def test_a_share_that_may_be_nothing_is_called_so():
    rows = [
        gain(row["parameters"], row["value"], error=0.03)
        if row["measure"] == "workload_gain" and "t=" in row["parameters"]
        else row
        for row in COMPARED
        if "l=5" not in row["parameters"]
    ]
    kept = finding(findings.adversary_and_researcher(results(*rows)), "held to half")
    assert [round(each, 2) for each in (kept.value, kept.low, kept.high)] == [0.6, -0.9, 2.1]
    assert kept.note.startswith("That is not distinguishable from nothing. The best of 1")


def test_the_exact_adversary_goes_before_a_miner():
    """A miner can only round otherwise than the best guess in each class."""
    rows = [adversary("k=5", 0.05 + 1e-12, miner="tree"), adversary("k=5", 0.05)]
    rows += [adversary("epsilon=1.0", value, sanitizer="LaplaceNoise", miner=str(value)) for value in (0.01, 0.03)]
    assert best_adversary(results(*rows)).miner.tolist() == ["", "0.03"]


@pytest.mark.parametrize(
    ("told", "chance", "researcher", "more", "less"),
    [
        (0.0, 0.0, -0.10, False, False),  # the researcher's loss is not the adversary's gain
        (0.01, NONE, -0.10, True, False),
        (0.01, -0.02, -0.10, True, False),
        (0.01, 0.01, -0.10, False, False),  # small classes tell as much by chance
        (0.02, 0.01, 0.0195, False, False),  # within the interval
        (0.02, 0.01, 0.03, False, True),
        (-0.05, 0.0, -0.01, False, False),  # nor is the adversary's loss the researcher's gain
        (-0.05, 0.0, 0.01, False, True),
    ],
)
def test_only_who_gains_something_gains_more(told, chance, researcher, more, less):
    rows = results(
        adversary("k=5", told, chance=chance),
        gain("k=5", researcher),
        adversary("", told, sanitizer="Suppress", chance=chance),
        gain("", researcher, sanitizer="Suppress"),
    )
    (row,) = sanitized(both_sides(rows)).itertuples()
    assert (row.more, row.less) == (more, less)


def test_where_nothing_is_to_be_gained_privacy_costs_nothing():
    rows = [
        gain("", 0.0005, sanitizer="Identity")
        if row["sanitizer"] == "Identity" and row["measure"] == "workload_gain"
        else row
        for row in COMPARED
    ]
    text = findings.adversary_and_researcher(results(*rows)).data
    assert "There is no utility here that privacy could cost." in text
    assert "keeps of the researcher's" not in text
    assert (
        "from the original a researcher guesses right **+0.05% of people** (95% interval −0.05% to +0.15%)"
        in text.split("\n\n")[0]
    )


def test_where_the_original_was_not_mined_it_says_so():
    rows = [row for row in COMPARED if not (row["sanitizer"] == "Identity" and row["measure"] == "workload_gain")]
    text = findings.adversary_and_researcher(results(*rows)).data
    assert text.startswith("The original was not mined")


def test_without_a_sensitive_attribute_of_categories_it_says_what_to_do():
    text = findings.adversary_and_researcher(results()).data
    assert "takes a sensitive attribute of categories, and no study of this table has one. Give a column" in text


def test_the_best_miner_speaks_for_the_researcher_and_seeds_are_averaged():
    more = [gain(f"k=10{PAPERS}", 0.03, miner="forest"), gain(f"k=10{PAPERS}", 0.05, miner="forest", seed=2)]
    row = both_sides(results(*COMPARED, *more)).set_index("setting").loc["Mondrian, k = 10"]
    assert (row.gain, row.miner, row.adversary) == (pytest.approx(0.04), "forest", 0.08)
    assert list(both_sides(results(*COMPARED)).setting) == NAMES


def test_the_coins():
    """The two sentences of section 7 that are wrong, one of them about two attributes; and only those."""
    holds = charts.statements(papers.coins()).holds
    assert set(holds.index[holds == "no"]) == {
        "without Q, nothing of a4", "without Q, nothing of a5", "without S, half of a5"
    }  # fmt: skip


def test_the_verdict_on_the_coins_is_read_off_the_shares():
    coins = papers.coins()
    changed = coins.assign(value=coins.value.where((coins.target != "a5") | (coins.knows != "a1, a2, a4"), 0.5))
    assert charts.statements(changed).holds["without S, half of a5"] == "yes"
    assert charts.statements(coins[coins.sanitizer == "Identity"]).index.tolist() == ["Q tells half of S"]
