"""The decision of a report in one look, from results made by hand."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import made

from privnb import decision
from privnb.decision.summary import NONE, recommendation, reservations
from privnb.evaluation.results import COLUMNS, join, tidy
from privnb.runtime import numerals

MISSING = float("nan")


def rows(setting, numbers, *, dataset="town", seed=1):
    """Results of one release: `{measure: (value, low, high, baseline)}`; "anti_utility_A ZeroR" is that control."""
    name, of_it = (*setting.split(" ", 1), "")[:2], []
    for measure, number in numbers.items():
        measure, _, who = measure.partition(" ")
        of_it.append(made(dataset, *name, seed, measure, who, "job", *number, "lower"))
    return of_it


def exact(value, baseline=MISSING):
    return value, MISSING, MISSING, baseline


ORIGINAL = {
    "alone": exact(0.4, 0), "reidentification_rate": (0.5, 0.45, 0.55, 0.001), "attribute_risk": exact(0.5, 0),
    "largest_posterior": (MISSING, MISSING, MISSING, MISSING), "anti_utility_A worst": exact(0, 12),
    "certainty_penalty": exact(0), "utility_loss": exact(0, 0.07), "workload_utility tree": (0.4, 0.38, 0.42, 0.3),
}  # fmt: skip
CHOSEN = {
    "alone": exact(0, 0), "reidentification_rate": (0.02, 0.01, 0.03, 0.001), "attribute_risk": exact(0.05, 0),
    "largest_posterior": exact(0.6, 0.3), "anti_utility_A worst": exact(90, 12),
    "anti_utility_A control: ZeroR": exact(70), "anti_utility_A control: permuted": exact(40),
    "anti_utility_A control: held-out": exact(88),
    "certainty_penalty": exact(0.3), "utility_loss": exact(0.03, 0.07),
    "workload_utility tree": (0.37, 0.35, 0.39, 0.3),
}  # fmt: skip


@pytest.fixture
def results():
    table = pd.DataFrame(
        {"question": ["the least"], "setting": ["Mondrian k=10"], "sanitizer": "Mondrian", "parameters": "k=10"}
    ).assign(why="it keeps the cap")
    found = tidy(
        [
            *rows("Identity", ORIGINAL),
            *rows("Mondrian k=10", CHOSEN),
            *rows("Suppress", {"certainty_penalty": exact(1)}),
        ]
    )
    return join(found, recommendation(found, table, "the least with what it keeps"))


def lines(results):
    return {line.title: line for line in decision.summary(results).lines}


def test_what_is_guessed_stands_beside_what_is_guessed_without_the_person(results):
    known = join(results, tidy(rows("Mondrian k=10", {"guessed_without_them": exact(0.33)})))
    line = lines(known)["attribute: sensitive value guessed; baseline: from others' records"]
    assert [number[0] for number in (line.original, line.release, line.baseline)] == pytest.approx([0.83, 0.38, 0.33])


@pytest.mark.slow
def test_the_lines_of_a_decision(results):
    found = decision.summary(results)
    assert (found.setting, found.reason) == (
        "Mondrian, k = 10",
        "The least with what it keeps. Measured on town, sensitive job.",
    )
    assert [line.kind for line in found.lines] == ["risk"] * 7 + ["utility"] * 3
    said = lines(results)
    assert [*said][:7] == [
        "singled out", "identity: found by a neighbour",
        "attribute: sensitive value guessed beyond others' records",
        "sensitive value guessed, worst-off person", "worst miner nearer than what is published",
        "linkability: two parts linked", "membership: known for a member",
    ]  # fmt: skip
    found = said["identity: found by a neighbour"]
    assert (found.original, found.release) == ((0.5, 0.45, 0.55), (0.02, 0.01, 0.03))
    assert found.baseline[0] == 0.001
    assert (found.better, numerals.written(found.format, 0.02)) == ("lower", "2% of people")
    assert said["detail lost"].baseline[0] == 1, "the release without quasi-identifiers"
    assert said["honest user's miner guesses right"].better == "higher"


def test_the_worst_miner_stands_beside_what_needs_no_attack(results):
    """Of the guess, one answer for all and dealt guesses the strongest; to have learned of others is an attack."""
    assert lines(results)["worst miner nearer than what is published"].baseline[0] == 70


@pytest.mark.slow
def test_of_cells_that_need_not_be_true_it_stands_how_many_are_changed(results):
    """Nothing says how much detail they lost, and a line without a number says that nothing happened to them."""
    own = results.measure.isin(["certainty_penalty"]) & (results.sanitizer == "Mondrian")
    moved = join(results[~own], tidy(rows("Mondrian k=10", {"mean_absolute_error": exact(0.009)})))
    assert lines(moved)["numbers moved"].release[0] == 0.009
    changed = lines(join(moved, tidy(rows("Mondrian k=10", {"change_rate": exact(0.04)}))))["categories changed"]
    assert (changed.original[0], changed.release[0], changed.baseline) == (0, 0.04, None)
    assert numerals.written(changed.format, 0.04) == "4% of records"
    assert "detail lost" not in lines(moved)
    assert "detail lost" in lines(results)


@pytest.mark.slow
def test_what_is_not_measured_is_none_and_what_is_withheld_is_no_number(results):
    said = lines(results)
    assert said["membership: known for a member"] == decision.Line(
        "risk", "membership: known for a member", "", "lower"
    )
    assert np.isnan(said["sensitive value guessed, worst-off person"].original).all()
    without = lines(results[results.measure != "workload_utility"])
    assert without["honest user's miner guesses right"].release is None


@pytest.mark.slow
def test_rows_of_other_studies_and_copies_change_nothing(results):
    other = tidy(rows("Mondrian k=10", {"attribute_risk": exact(0.9, 0)}, dataset="town, other study"))
    # As text, since NaN is unequal to itself.
    assert str(decision.summary(join(results, other, results))) == str(decision.summary(results))


@pytest.mark.slow
def test_reservations_are_those_of_the_chosen_release(results):
    assert decision.summary(results).reserved == 0
    card = {"answer": {"reservations": ["It is kept on average.", "A digest was read."]}}
    own, other = (results[results.sanitizer == name] for name in ("Mondrian", "Identity"))
    assert decision.summary(join(results, reservations(card, other))).reserved == 0
    row = reservations(card, own)
    assert (row.value[0], row.reason[0]) == (2, "It is kept on average. A digest was read.")
    assert decision.summary(join(results, row)).reserved == 2


def test_without_a_decision_there_is_no_summary(results):
    assert decision.summary(results[results.measure != "recommended"]) is None


def test_where_nothing_is_recommended_the_original_stands_alone(results):
    table = pd.DataFrame(
        {
            "question": ["the least"],
            "setting": ["none"],
            "sanitizer": [np.nan],
            "parameters": [np.nan],
            "why": "too few",
        }
    )
    found = results[results.measure != "recommended"]
    row = recommendation(found, table, "none keeps it")
    assert [*row] == COLUMNS
    assert (row.sanitizer[0], row.status[0], row.reason[0]) == (
        NONE,
        "not possible",
        "None keeps it. Measured on town, sensitive job.",
    )
    none = decision.summary(join(found[found.sanitizer != "Mondrian"], row))
    assert (none.setting, none.reason) == ("", "None keeps it. Measured on town, sensitive job.")
    assert all(line.release is None for line in none.lines)
    assert none.lines[0].original[0] == 0.4


@pytest.mark.slow
def test_the_surest_guess_is_the_cards(results):
    title = "sensitive value guessed, worst-off person"
    assert lines(results)[title].release[0] == 0.6
    largest = [
        made("town", *setting, 1, "attribute_risk", "", "job", value, MISSING, MISSING, 0.5, "lower", variant="largest")
        for setting, value in ((("Identity", ""), 1.0), (("Mondrian", "k=10"), 0.7))
    ]
    found = lines(join(results, tidy(largest)))
    line = found[title]
    assert (line.original[0], line.release[0], line.baseline[0]) == (1.0, 0.7, 0.5)
    assert found["attribute: sensitive value guessed beyond others' records"].release[0] == 0.05


def test_of_several_sensitive_attributes_that_stands_in_a_line_which_is_worst_in_the_release(results):
    def of(target, setting, value, variant=""):
        numbers = (value, MISSING, MISSING, 0.5)
        return made("town", *setting, 1, "attribute_risk", "", target, *numbers, "lower", variant=variant)

    others = [of("income", ("Identity", ""), 0.3), of("income", ("Mondrian", "k=10"), 0.2)]
    sure = [of("income", ("Mondrian", "k=10"), 0.9, "largest"), of("job", ("Mondrian", "k=10"), 1.0, "largest")]
    sure += [of(target, ("Identity", ""), 1.0, "largest") for target in ("income", "job")]
    known = [*rows("Mondrian k=10", {"guessed_without_them": exact(0.1)})]
    known = tidy(known).assign(target=["income"])
    found = lines(join(results, tidy([*others, *sure]), known))
    line = found["attribute: sensitive value guessed; baseline: from others' records (income)"]
    assert (line.original[0], line.release[0]) == pytest.approx((0.4, 0.3)), "the original is worse of job"
    assert found["sensitive value guessed, worst-off person (job)"].release[0] == 1.0
