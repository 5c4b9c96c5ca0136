"""Brickell and Shmatikov's answer on hand-made results: the right release, the right number, the right direction."""

import numpy as np
import pytest
from support.results_frame import made

from privnb import papers
from privnb.evaluation.results import tidy
from privnb.papers import charts, findings
from privnb.papers.findings.workload import best_adversary, join_sides, select_sanitized_sides

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


def test_the_share_that_is_kept_if_the_adversary_is_held_to_half():
    answer = findings.adversary_and_researcher(results(*COMPARED))
    assert answer.given["comparisons"] == {"more": 2, "less": 1, "comparisons": 3}
    (whole,) = answer.given["originals"]
    assert [round(whole[name], 3) for name in ("value", "low", "high")] == [0.02, 0.019, 0.021]
    assert (whole["miner"], whole["adversary"]["value"], whole["chance"]["value"]) == ("tree", 0.10, 0.03)
    kept = whole["kept"]
    assert [round(kept[name], 2) for name in ("value", "low", "high")] == [0.6, 0.55, 0.65]
    assert (kept["setting"], kept["is_certain"], whole["releases"]) == ("Mondrian, t = 0.2", True, 2)
    assert (kept["researcher"]["value"], kept["adversary"]["value"]) == (0.012, 0.004)
    assert answer.data.startswith(
        "If a release must at least halve the adversary's gain, Mondrian with t = 0.2 keeps 60% (95% CI 55–65%) of the "
        "researcher's gain on pay."
    )
    assert "The adversary gains more than the researcher in 2 of 3 comparisons" in answer.data
    both = findings.adversary_and_researcher(results(*COMPARED, *({**row, "target": "post"} for row in COMPARED)))
    assert "the best releases keep 60% (95% CI 55–65%) of the researcher's gain on pay and 60% on post." in both.data
    assert both.given["comparisons"] == {"more": 4, "less": 2, "comparisons": 6}


def test_an_uncertain_share_is_marked():
    rows = [
        gain(row["parameters"], row["value"], error=0.03)
        if row["measure"] == "workload_gain" and "t=" in row["parameters"]
        else row
        for row in COMPARED
        if "l=5" not in row["parameters"]
    ]
    answer = findings.adversary_and_researcher(results(*rows))
    (whole,) = answer.given["originals"]
    assert [round(whole["kept"][name], 2) for name in ("value", "low", "high")] == [0.6, -0.9, 2.1]
    assert (whole["kept"]["is_certain"], whole["releases"]) == (False, 1)
    assert "The interval of the researcher's gain includes 0. This release is the best of 1" in answer.data


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
    (row,) = select_sanitized_sides(join_sides(rows)).itertuples()
    assert (row.more, row.less) == (more, less)


def test_without_utility_a_release_can_lose_none():
    rows = [
        gain("", 0.0005, sanitizer="Identity")
        if row["sanitizer"] == "Identity" and row["measure"] == "workload_gain"
        else row
        for row in COMPARED
    ]
    answer = findings.adversary_and_researcher(results(*rows))
    (whole,) = answer.given["originals"]
    assert (whole["is_useful"], whole["kept"]) == (False, None)
    assert "The quasi-identifiers have no utility here that a release could lose." in answer.data
    first, *_ = answer.data.split("\n\n")
    assert "over the trivial release is +0.05% of people (95% CI −0.05% to +0.15%)" in first


def test_the_answer_needs_the_original():
    rows = [row for row in COMPARED if not (row["sanitizer"] == "Identity" and row["measure"] == "workload_gain")]
    answer = findings.adversary_and_researcher(results(*rows))
    assert answer.given["originals"] == []
    assert answer.data.startswith("The original was not mined")


def test_without_a_sensitive_attribute_of_categories_the_answer_names_the_cure():
    answer = findings.adversary_and_researcher(results())
    assert not answer.given["is_compared"]
    assert "needs a categorical sensitive attribute, and no study of this table has one." in answer.data


def test_the_best_miner_speaks_for_the_researcher_and_seeds_are_averaged():
    more = [gain(f"k=10{PAPERS}", 0.03, miner="forest"), gain(f"k=10{PAPERS}", 0.05, miner="forest", seed=2)]
    row = join_sides(results(*COMPARED, *more)).set_index("setting").loc["Mondrian, k = 10"]
    assert (row.gain, row.miner, row.adversary) == (pytest.approx(0.04), "forest", 0.08)
    assert list(join_sides(results(*COMPARED)).setting) == NAMES


def test_the_coins():
    """The two sentences of section 7 that are wrong, one of them about two attributes; and only those."""
    holds = charts.check_statements(papers.measure_coins()).holds
    assert set(holds.index[holds == "no"]) == {
        "without Q, nothing about a4", "without Q, nothing about a5", "without S, half of a5"
    }  # fmt: skip


def test_the_verdict_on_the_coins_is_read_off_the_shares():
    coins = papers.measure_coins()
    changed = coins.assign(value=coins.value.where((coins.target != "a5") | (coins.knows != "a1, a2, a4"), 0.5))
    assert charts.check_statements(changed).holds["without S, half of a5"] == "yes"
    assert charts.check_statements(coins[coins.sanitizer == "Identity"]).index.tolist() == ["Q reveals half of S"]
