"""Each finding on a small hand-made table of results: the right number, what it stands beside, the right setting."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import frame

from privnb import decision
from privnb.evaluation.results import join_results
from privnb.papers import findings as paper_findings
from privnb.reporting import findings
from privnb.reporting.findings.adversary import subgroups


def results(*rows, seed=1):
    """Rows of (sanitizer, parameters, measure, miner, target, value, low, high, baseline)."""
    return frame(rows, seed=seed)


NONE = np.nan


def unique(*rows):
    return findings.uniqueness(
        results(
            ("Identity", "", "records", "", "", 1000, NONE, NONE, NONE),
            *(("Identity", "", "unique", "", names, *numbers, 0) for names, *numbers in rows),
        )
    )


def test_people_who_are_unique():
    said = unique(
        ("age", 0.01, 0, 0.02), ("age, sex", 0.05, 0, 0.1), ("age, town", 0.2, 0.1, 0.3),
        ("age, sex, town", 0.4, 0.35, 0.45),
    )  # fmt: skip
    everything, (pair,) = said.given["all"], said.given["pairs"]
    assert (everything["value"], everything["attributes"], said.given["records"]) == (0.4, 3, 1000)
    assert (pair["attributes"], pair["value"]) == (["age", "town"], 0.2)
    assert said.data.startswith("40% (95% CI 35–45%) of 1,000 people are unique")


def test_the_pair_that_may_single_out_most_is_named_even_if_its_number_is_withheld():
    """That another pair singles out nobody would be read as the most that two attributes do."""
    said = unique(("age, sex", 0, 0, 0.004), ("age, town", NONE, 0.001, 0.009), ("age, sex, town", 0.4, 0.35, 0.45))
    (pair,) = said.given["pairs"]
    assert (pair["attributes"], pair["value"], pair["high"]) == (["age", "town"], None, 0.009)
    assert "Age and town alone single out between 0.1% and 0.9% of people" in said.data


def test_a_table_without_quasi_identifiers_is_not_called_harmless():
    said = unique()
    assert said.given["all"] is None
    assert "no risk is measured" in said.data


def spans(*rows):
    """Rows of (sanitizer, parameters, certainty penalty)."""
    return results(*((s, p, "certainty_penalty", "", "", value, NONE, NONE, NONE) for s, p, value in rows))


def test_detail_is_compared_at_the_strictest_bounds():
    rows = (("Mondrian", "k=2", 0.02), ("Mondrian", "k=9", 0.1), ("KMember", "k=9", 0.3), ("FullDomain", "k=9", NONE))
    said = findings.release_costs(spans(*rows, ("Mondrian", "t=0.2", 0.4), ("Mondrian", "t=0.1", 0.5)))
    k, t = said.given["bounds"]
    assert (k["letter"], k["bound"], k["least"]["value"], k["most"]["value"]) == ("k", 9, 0.1, 0.3)
    assert [each["setting"] for each in k["withheld"]] == ["Full-domain recoding, k = 9"]
    assert (t["bound"], t["most"]["value"]) == (0.1, 0.5), "a smaller t asks for more"
    assert "10% of the domain with Mondrian, k = 9" in said.data
    (hidden,) = findings.release_costs(spans(("FullDomain", "k=9", NONE))).given["bounds"]
    assert (hidden["least"], len(hidden["withheld"])) == (None, 1)


def decline(sanitizer, parameters, miner, value, error=0.001):
    return (sanitizer, parameters, "utility_decline", miner, "s", value, max(0, value - error), value + error, NONE)


def kept(*declines, best=800, seed=1):
    """Declines of (sanitizer, parameters, miner, value); on the original a is right for `best`, a guess for 700."""
    original = ("Identity", "", "good_utility", "a", "s", best, NONE, NONE, 700)
    return results(original, *(decline(*row) for row in declines), seed=seed)


KEPT = (
    ("KMember", "k=2", "a", 0.025),
    ("KMember", "k=9", "a", 0.1),
    ("KMember", "k=2", "b", 0.03),
    ("KMember", "k=9", "b", 0.01),
    ("KMember", "k=2", "worst", 0.03),
    ("KMember", "k=9", "worst", 0.1),
)


def declines_of(rows):
    return findings.utility_declines(rows).given


def test_the_largest_decline_is_compared_with_a_guess():
    said = findings.utility_declines(kept(*KEPT))
    largest = said.given["largest"]
    assert (largest["setting"], largest["miner"], largest["value"]) == ("k-member clustering, k = 9", "a", 0.1)
    assert said.given["guess"]["better"] == "this"
    assert said.given["guess"]["lost"] == pytest.approx(0.125)
    assert "10.0% (95% CI 9.9–10.1%) fewer people" in said.data


def test_no_miner_beats_the_guess():
    assert declines_of(kept(*KEPT, best=650))["guess"] == {"better": "none", "lost": None}


def test_no_release_has_no_decline():
    assert declines_of(kept(("Identity", "", "a", 0)))["largest"] is None


def noisy(noise, absent, *, seed=1):
    return kept(
        ("LaplaceNoise", "epsilon=0.5", "a", noise),
        ("Suppress", "attributes=age, education", "a", absent),
        ("LaplaceNoise", "epsilon=0.5", "worst", noise),
        ("Suppress", "attributes=age, education", "worst", absent),
        seed=seed,
    )


def test_noise_is_compared_with_leaving_out_its_attributes():
    same = declines_of(noisy(0.03, 0.0305))
    noise = same["noise"]
    assert (noise["most"]["value"], noise["differs"]) == (0.03, [])
    absent = {"setting": "Suppression, attributes = age, education", "low": 0.0305, "high": 0.0305}
    assert noise["absent"] == absent
    assert declines_of(noisy(0.05, 0.03))["noise"]["differs"] == ["more"]
    less = declines_of(noisy(0.01, 0.03))
    assert less["noise"]["differs"] == ["less"]
    assert less["largest"]["setting"].startswith("Laplace noise"), "attributes left out are not a choice of the owner"


def test_noise_is_compared_seed_by_seed():
    # Intervals over people overlap, yet the noise costs about .0015 more in every repeat.
    costs = ((0.03, 0.0285), (0.031, 0.0296), (0.032, 0.0304))
    seeds = [noisy(*pair, seed=seed) for seed, pair in enumerate(costs, start=1)]
    assert declines_of(pd.concat(seeds))["noise"]["differs"] == ["more"]


LINKS = results(
    ("Identity", "", "reidentification_rate", "", "", 0.9, 0.85, 0.95, 0.001),
    ("KMember", "k=2", "reidentification_rate", "", "", 0.3, 0.25, 0.35, 0.001),
    ("KMember", "k=9", "reidentification_rate", "", "", 0.1, 0.05, 0.15, 0.001),
)


def mined(*rows, seed=1, measure="anti_utility_A"):
    """Rows of (sanitizer, parameters, miner, value, low, high, baseline)."""
    return results(*((s, p, measure, miner, "age", *numbers) for s, p, miner, *numbers in rows), seed=seed)


def attack(*, zero=300, chance=350, unseen=480, seed=1):
    return mined(
        ("KMember", "k=2", "a", 500, 480, 520, 200),
        ("KMember", "k=2", "b", 100, 90, 110, 200),
        ("KMember", "k=2", "fusion: vote", 450, 430, 470, 200),
        ("KMember", "k=2", "control: ZeroR", zero, NONE, NONE, 200),
        ("KMember", "k=2", "control: permuted", chance, NONE, NONE, 200),
        ("KMember", "k=2", "control: held-out", unseen, NONE, NONE, 200),
        ("KMember", "k=2", "worst", 500, 480, 520, 200),
        ("KMember", "k=2", "modern worst", 600, 580, 620, 200),
        seed=seed,
    )


def gains_of(attacked, links=None):
    """The data of `adversary_gains`, and what is compared in the first setting."""
    given = findings.adversary_gains(join_results(attacked, LINKS if links is None else links)).given
    return given, *given["compared"][:1]


def ends(number):
    return [round(number[name]) for name in ("value", "low", "high")]


def test_the_worst_miner_is_compared_with_its_controls():
    said = findings.adversary_gains(join_results(attack(), LINKS))
    miner, neighbour = said.given["miner"], said.given["neighbour"]
    assert ends(miner) == [500, 480, 520]
    assert (miner["control"], miner["baseline"], miner["excess"]) == ("permuted", 350, 150)
    assert (neighbour["value"], neighbour["baseline"]) == (0.3, 0.001)
    (compared,) = said.given["compared"]
    assert (compared["control"], compared["excess"]["value"], compared["unseen"]["value"]) == ("permuted", 150, 20)
    assert compared["unseen"]["reached"] == 480
    assert (compared["excess"]["seeds"], compared["excess"]["low"]) == (1, None)
    text = said.data
    assert "500 people (95% CI 480–520)" in text
    assert "the attack adds 150 people" in text
    assert "One seed does not show how certain this difference is." in text


def test_the_answer_is_of_a_number_that_may_be_published():
    few = mined(("LaplaceNoise", "epsilon=0.5", "worst", NONE, 991, 999, NONE))
    given, _ = gains_of(pd.concat([few, attack()]))
    assert given["miner"]["value"] == 500


def test_nothing_is_left_where_chance_gives_as_much():
    _, one = gains_of(attack(chance=505))
    assert (one["excess"]["value"], one["excess"]["is_positive"]) == (-5, False)
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((470, 495, 505), start=1)]
    _, three = gains_of(pd.concat(seeds))
    # More in two seeds of three: 10 -+ 4.303 * 18.03 / sqrt(3).
    assert ends(three["excess"]) == [10, -35, 55]
    assert not three["excess"]["is_positive"]


def test_the_gain_of_a_persons_own_row():
    seeds = [attack(unseen=unseen, seed=seed) for seed, unseen in enumerate((398, 400, 402), start=1)]
    _, own = gains_of(pd.concat(seeds))
    assert (own["unseen"]["reached"], ends(own["unseen"])) == (400, [100, 95, 105])
    assert own["unseen"]["is_positive"]
    _, own = gains_of(attack(unseen=500))
    assert not own["unseen"]["is_positive"]


def test_controls_are_compared_seed_by_seed():
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((488, 490, 492), start=1)]
    _, compared = gains_of(pd.concat(seeds))
    # Within a seed's interval over people, but by 10 in the mean of three seeds: 10 -+ 4.303 * 2 / sqrt(3).
    assert ends(compared["excess"]) == [10, 5, 15]
    assert compared["excess"]["is_positive"]


def test_no_difference_is_of_more_people_than_there_are():
    seeds = [attack(zero=0, chance=chance, seed=seed) for seed, chance in enumerate((10, 300, 490), start=1)]
    rows = join_results(pd.concat(seeds), LINKS)
    free = findings.adversary_gains(rows).given["compared"][0]["excess"]
    assert free["high"] > 600, "Student's t of three seeds"
    rows["of"] = np.where(rows.measure == "anti_utility", 600, rows.of)
    bound = findings.adversary_gains(rows).given["compared"][0]["excess"]
    assert (bound["value"], bound["low"], bound["high"]) == (free["value"], free["low"], 600)


def test_seeds_of_equal_values_have_no_interval():
    seeds = [attack(chance=300, zero=0, seed=seed) for seed in (1, 2, 3)]
    said = findings.adversary_gains(join_results(pd.concat(seeds), LINKS))
    excess = said.given["compared"][0]["excess"]
    assert (excess["value"], excess["low"], excess["are_equal"]) == (200, None, True)
    assert "The 3 seeds gave the same difference" in said.data


def test_two_equal_seeds_of_three_have_an_interval():
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((488, 488, 491), start=1)]
    _, compared = gains_of(pd.concat(seeds))
    # 11 -+ 4.303 * 1.732 / sqrt(3)
    assert ends(compared["excess"]) == [11, 7, 15]
    assert not compared["excess"]["are_equal"]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((NONE, 1, 9, NONE), "fewer than 10 people"),
        ((NONE, 1, 4, NONE), "fewer than 5 people"),
        ((NONE, 91, 99, NONE), "more than 90 people"),
        ((NONE, NONE, NONE, 200), "withheld"),
    ],
)
def test_a_withheld_count_is_as_small_as_its_bound(numbers, text):
    said = findings.adversary_gains(join_results(mined(("KMember", "k=2", "worst", *numbers)), LINKS))
    assert "nan" not in said.data
    assert "None" not in said.data
    assert said.given["compared"] == [], "numbers are not compared where too few people are hit"
    assert said.given["miner"]["excess"] is None
    assert text in said.data


def test_the_group_that_is_hit_most():
    shares = results(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.18, 0.22, 0.05),
        ("KMember", "k=2", "nearer_share", "worst", "sex Male", NONE, 0.01, 0.09, NONE),
    )
    found = subgroups(shares)
    assert (found["group"], found["value"], found["setting"]) == ("sex Female", 0.2, "k-member clustering, k = 2")
    assert found["baseline"] == 0.05
    assert found["other"] == {"group": "sex Male", "value": None, "high": 0.09}
    assert subgroups(shares.assign(high=0.3, low=0.05)) is None


def test_the_neighbour_is_that_of_the_miners_release_and_the_worst_release_is_named():
    """Two sentences about two releases were read as one."""
    attacked = mined(("KMember", "k=9", "worst", 500, 480, 520, 200))
    said = findings.adversary_gains(join_results(attacked, LINKS))
    neighbour, most = said.given["neighbour"], said.given["most_linked"]
    assert (neighbour["setting"], neighbour["value"]) == ("k-member clustering, k = 9", 0.1)
    assert (most["setting"], most["value"]) == ("k-member clustering, k = 2", 0.3)
    assert "The neighbor re-identifies most people with k-member clustering, k = 2: 30% of people" in said.data
    assert findings.adversary_gains(join_results(attack(), LINKS)).given["most_linked"] is None


def test_without_links_nothing_is_said_of_a_neighbour():
    given, _ = gains_of(attack(), LINKS.iloc[:1])
    assert given["neighbour"] is None


def chosen(*rows):
    """Rows of (scenario, criterion, parameters, share)."""
    return results(
        *(("KMember", p, f"chosen_{s}", criterion, "", share, NONE, NONE, NONE) for s, criterion, p, share in rows)
    )


def others(*rows, scenario="A"):
    """Rows of (parameters, more, low, high)."""
    measure = f"excess_over_choice_{scenario}"
    return results(*(("KMember", p, measure, "worst", "", *numbers, NONE) for p, *numbers in rows))


NO_LINKS = results()
CHOSEN = (
    ("A", "worst", "k=2", 0.75),
    ("A", "worst", "k=9", 0.25),
    ("A", "modern worst", "k=2", 1),
    ("A", "fusion: vote", "k=9", 1),
    ("B", "worst", "k=9", 1),
)


def choices_of(rows, links=NO_LINKS, **options):
    """The data of `owner_choice`, and the first scenario."""
    given = findings.owner_choice(rows, links, **options).given
    return given, given["scenarios"][0]


def test_the_owners_choice():
    rows = pd.concat([chosen(*CHOSEN), others(("k=9", 30, -5, 65), ("k=50", 80, 60, 100), ("k=99", 90, 70, 110))])
    given, first = choices_of(rows)
    assert (first["scenario"], first["setting"], first["seeds"]) == ("A", "k-member clustering, k = 2", 0.75)
    assert (first["agree"], first["criteria"]) == (1, 2)
    assert first["instead"] == [{"setting": "k-member clustering, k = 9", "criteria": ["vote of all miners"]}]
    assert first["tied"] == ["k-member clustering, k = 9"]
    (best,) = first["next"]
    assert (best["setting"], ends(best)) == ("k-member clustering, k = 50", [80, 60, 100])
    assert given["scenarios"][1]["setting"] == "k-member clustering, k = 9"
    assert len(given["choices"]) == 2
    assert "k-member clustering with k = 2" in findings.owner_choice(rows, NO_LINKS).data


def test_the_papers_rule_leaves_people_linkable():
    """It chooses k=2, under which a neighbour finds one person in five."""
    found, size = "reidentification_rate", "smallest_combination"
    links = results(
        ("Identity", "", found, "", "", 0.55, 0.5, 0.6, 0.001),
        ("KMember", "k=2", found, "", "", 0.2, 0.19, 0.21, 0.001),
        ("KMember", "k=2", size, "", "", NONE, 1, 4, NONE), ("KMember", "k=9", size, "", "", NONE, 5, 9, NONE),
        ("KMember", "k=9", found, "", "", 0.05, 0.04, 0.06, 0.001),
    )  # fmt: skip
    loose, strict = choices_of(chosen(*CHOSEN), links)[0]["linkable"]
    assert (loose["setting"], loose["value"], loose["original"]["value"]) == ("k-member clustering, k = 2", 0.2, 0.55)
    assert (loose["rarest"]["value"], loose["rarest"]["high"], loose["is_too_rare"]) == (None, 4, True)
    assert not strict["is_too_rare"]
    assert choices_of(chosen(*CHOSEN), links, min_class_size=20)[0]["linkable"][1]["is_too_rare"]
    assert "shared by fewer than 5 people" in findings.owner_choice(chosen(*CHOSEN), links).data


def test_a_choice_by_one_seed_is_marked():
    given, first = choices_of(
        pd.concat([chosen(("A", "worst", "k=2", 1), ("A", "average", "k=2", 1)), others(("k=9", 30, NONE, NONE))])
    )
    assert first["is_one_seed"]
    assert (first["agree"], first["criteria"], first["next"][0]["value"]) == (1, 1, 30)
    assert given["choices"] == ["k-member clustering, k = 2"]


def test_a_withheld_margin_is_not_a_number():
    rows = (("k=9", NONE, NONE, NONE), ("k=50", 80, 60, 100))
    _, first = choices_of(pd.concat([chosen(("A", "worst", "k=2", 1)), others(*rows)]))
    assert (first["withheld"], first["next"][0]["value"]) == (["k-member clustering, k = 9"], 80)
    said = findings.owner_choice(pd.concat([chosen(("A", "worst", "k=2", 1)), others(rows[0])]), NO_LINKS)
    assert not said.given["scenarios"][0]["is_one_seed"], "nothing states how many seeds there were"
    assert "withheld" in said.data
    assert "nan" not in said.data


def test_equal_numbers_of_one_seed_are_a_tie():
    rows = others(("k=9", 0, NONE, NONE), ("k=50", 80, NONE, NONE))
    _, first = choices_of(pd.concat([chosen(("A", "worst", "k=2", 1)), rows]))
    assert first["tied"] == ["k-member clustering, k = 9"]
    assert [(each["value"], each["setting"]) for each in first["next"]] == [(80, "k-member clustering, k = 50")]


def test_weights_of_the_owner_need_not_be_people():
    rows = pd.concat([chosen(("W", "worst", "k=2", 1)), others(("k=9", 30.5, 20, 41), scenario="W")])
    _, first = choices_of(rows)
    (best,) = first["next"]
    assert (best["value"], best["low"], best["high"], best["format"]) == (30.5, 20, 41, "{:,.1f}")


def test_a_scenario_of_few_people_is_not_passed_over():
    given, first = choices_of(chosen(("A", "worst", "k=2", 1), ("W", "average", "k=2", 1)))
    assert first["setting"] == "k-member clustering, k = 2"
    assert given["scenarios"][1] == {"scenario": "W", "setting": None}


def test_many_criteria_that_agree_are_counted():
    rows = [("A", criterion, "k=2", 1) for criterion in ("worst", "average", "modern worst", "worst by person")]
    _, first = choices_of(chosen(*rows))
    assert (first["agree"], first["criteria"], first["instead"], first["others"]) == (3, 3, [], 0)


def test_nothing_was_attacked():
    none = findings.adversary_gains(join_results(attack().iloc[:0], LINKS.iloc[:0]))
    assert none.data == "No release was attacked."


def test_nothing_to_choose():
    assert findings.owner_choice(chosen(), NO_LINKS).given["scenarios"] == []


def gains(mined, random, low, high, *, seed=1, miner="", labels=("predictions", "predictions, random labels")):
    """An accuracy gain of .1 that predictions and random labels change by so much."""
    return results(
        ("KMember", "k=2", "accuracy_gain", "", "s", 0.1, NONE, NONE, NONE),
        ("KMember", "k=2", f"accuracy_gain_with_{labels[0]}", miner, "s", 0.1 + mined, NONE, NONE, NONE),
        ("KMember", "k=2", f"accuracy_gain_with_{labels[1]}", miner, "s", 0.1 + random, 0.1 + low, 0.1 + high, NONE),
        seed=seed,
    )


EVERYBODY = ("all_predictions", "all_predictions, random labels")


def reading(rows, place=0):
    return findings.mined_predictions(rows).given["readings"][place]


def test_predictions_are_compared_with_random_labels():
    two = pd.concat([gains(0.03, 0.01, 0.005, 0.02), gains(0.01, 0.01, 0.005, 0.02, seed=2)])
    three = reading(pd.concat([two, gains(0.03, 0.01, 0.005, 0.02, seed=3)]))
    assert (three["above"], three["comparisons"], three["verdict"]) == (2, 3, "more")
    assert reading(two) == {
        "predictions": "with predictions", "comparisons": 2, "above": 1, "below": 0, "by_chance": 0.05,
        "verdict": "few",
    }  # fmt: skip
    assert "1 of 2 comparisons" in findings.mined_predictions(two).data


def test_predictions_within_the_range_of_the_draws_are_not_beyond_it():
    within = reading(gains(0.018, 0.01, 0.005, 0.02))
    assert (within["above"], within["below"]) == (0, 0)


def test_each_reading_has_its_own_verdict():
    everybody = gains(0.01, 0.02, 0.015, 0.025, labels=EVERYBODY)
    both = pd.concat([gains(0.03, 0.01, 0.005, 0.02), everybody[everybody.variant != ""]])
    first, second = reading(both), reading(both, 1)
    assert (first["above"], first["verdict"]) == (1, "more")
    assert (second["above"], second["below"], second["verdict"]) == (0, 1, "none")
    _, said = findings.mined_predictions(both).data.split("Predictions for all people")
    assert "This number does not exceed what chance gives, so it is not evidence of an attack." in said
    assert "the gain with predictions lies below all draws (expected by chance: 0.025): in these comparisons" in said


def test_predictions_of_another_set_are_measured_from_the_same_release():
    weka = gains(0.02, 0.01, 0.005, 0.015, miner="Weka 3.6.14")
    main = gains(0.03, 0.01, 0.005, 0.015)
    both = reading(pd.concat([main, weka[weka.variant != ""]]))
    assert (both["above"], both["comparisons"]) == (2, 2)


def test_no_predictions_at_all():
    assert findings.mined_predictions(LINKS).given == {"readings": []}


EMPTY = results()


OTHER_TABLES = {
    "assessed_release",
    "compare_with_choice",
    "compared_releases",
    "every_setting",
    "perturbation",
    "policy_decision",
    "publication",
    "published_columns",
    "release_card",
    "search",
    "steep_hierarchy",
}  # these take more than results


@pytest.mark.parametrize("name", sorted({*findings.__all__, *paper_findings.__all__} - OTHER_TABLES))
def test_a_table_without_rows_gives_a_sentence(name):
    tables = [EMPTY, *{"owner_choice": [EMPTY], "personal_wishes": [(5, 50)]}.get(name, [])]
    module = findings if hasattr(findings, name) else paper_findings
    assert getattr(module, name)(*tables).data.endswith(".")


TABLES = {
    "adversary_gains": lambda: (join_results(attack(), LINKS),),
    "mined_predictions": lambda: (gains(0.03, 0.01, 0.005, 0.02),),
    "owner_choice": lambda: (pd.concat([chosen(*CHOSEN), others(("k=9", 30, -5, 65))]), NO_LINKS),
    "utility_declines": lambda: (kept(*KEPT, ("LaplaceNoise", "epsilon=0.5", "a", 0.1)),),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_what_lacks_rows_is_left_out(name):
    """Without any one measure or control, and with all withheld."""
    first, *rest = TABLES[name]()
    parts = [first.assign(**dict.fromkeys(["value", "low", "high", "baseline"], NONE)), first]
    for column in ("measure", "control"):
        parts += [first[first[column] != each] for each in first[column].unique()]
    for part in parts:
        for others in (rest, [each.assign(value=NONE) for each in rest]):
            text = getattr(findings, name)(part, *others).data
            assert text
            assert "nan" not in text


def test_perturbed_releases_of_several_seeds_are_judged_by_their_mean():
    def linked(sanitizer, parameters, risk, loss):
        return [
            (sanitizer, parameters, "reidentification_rate", "", "", risk, NONE, NONE, 0.001),
            (sanitizer, parameters, "certainty_penalty", "", "", loss, NONE, NONE, NONE),
        ]

    ends = linked("Identity", "", 1.0, 0.0) + linked("Suppress", "", 0.01, 1.0)
    parts = [
        results(*ends, *linked("Mondrian", "k=5", 0.2, 0.3), *linked("RankSwapping", "p=5.0", risk, loss), seed=seed)
        for seed, risk, loss in ((1, 0.02, 0.6), (2, 0.06, 0.2))
    ]
    both = join_results(*parts)
    releases = decision.compute_points(both, privacy="reidentification_rate", utility="certainty_penalty")
    found = findings.perturbation(both, releases, both.iloc[:0], 1000)
    best = found.given["perturbed"]
    assert (found.given["useful"], best["setting"]) == (1, "Rank swapping, p = 5.0")
    assert (best["value"], best["loss"]) == pytest.approx((0.04, 0.4)), "half of .6 and .2 is useful, .6 is not"
    assert " of the 1,000 people" in repr(found), "a sample may replace the table"
    assert findings.perturbation(both.iloc[:0], releases, both.iloc[:0], 1000).given["perturbed"] == {}
