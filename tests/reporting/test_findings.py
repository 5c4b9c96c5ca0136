"""Each finding on a small hand-made table of results: the right number, what it stands beside, the right setting."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import finding, frame
from support.sentences import words

from privnb import decision
from privnb.evaluation.results import join
from privnb.papers import findings as paper_findings
from privnb.reporting import findings
from privnb.reporting.findings.adversary import subgroups
from privnb.reporting.findings.base import Finding, reported


def results(*rows, seed=1):
    """Rows of (sanitizer, parameters, measure, miner, target, value, low, high, baseline)."""
    return frame(rows, seed=seed)


NONE = np.nan


def test_a_finding_is_one_sentence_of_one_form():
    found = Finding(
        "People guessed right",
        1234,
        1200,
        1260,
        "{:,.0f} people",
        "k-member clustering, k = 9",
        {"the guess": 900},
        "lower",
        "So it is.",
    )
    assert str(found).replace("\ufdd0", "**") == (
        "**People guessed right: 1,234 people** under k-member clustering, k = 9 (95% interval 1,200 to 1,260); the "
        "guess: 900 people; lower is better. So it is."
    )
    assert found.title == (
        "People guessed right: 1,234 people under k-member clustering, k = 9 (95% interval 1,200 to 1,260); the guess: "
        "900 people"
    )
    assert found.text.replace("\ufdd0", "") == "1,234 people (95% interval 1,200 to 1,260; the guess: 900)"
    few = Finding("People", NONE, 1, 9, "{:,.0f} people", beside={"the guess": NONE})
    assert str(few).replace("\ufdd0", "") == "People: fewer than 10 people; the guess: withheld."
    assert few.title == "People: withheld; the guess: withheld"
    assert few.text.replace("\ufdd0", "") == "fewer than 10 people (the guess: withheld)"


@pytest.mark.parametrize(
    ("format", "numbers", "said"),
    [
        ("{:,.0f} people", (NONE, 91, 99), "more than 90 people"),
        ("{:,.0f} people", (NONE, NONE, NONE), "withheld"),
        ("{:.1%} of people", (NONE, 0.01, 0.09), "1% to 9% of people (withheld)"),
        ("{:.3g}", (np.inf,), "unbounded"),
    ],
)
def test_a_withheld_number_is_said_by_its_bounds(format, numbers, said):
    assert reported(format, *numbers) == said


def test_who_stands_out():
    said = findings.uniqueness(
        results(
            ("Identity", "", "records", "", "", 1000, NONE, NONE, NONE),
            ("Identity", "", "unique", "", "age", 0.01, 0, 0.02, 0),
            ("Identity", "", "unique", "", "age, sex", 0.05, 0, 0.1, 0),
            ("Identity", "", "unique", "", "age, town", 0.2, 0.1, 0.3, 0),
            ("Identity", "", "unique", "", "age, sex, town", 0.4, 0.35, 0.45, 0),
        )
    )
    assert said.data == (
        "**40% of 1,000 people** (95% interval 35% to 45%) stand alone (toy): nobody else shares all 3 "
        "quasi-identifiers. A blind guess finds 1 record in 1,000. **Age and town** alone single out 20% of people."
    )


def test_two_facts_that_may_single_out_most_are_named_even_if_their_number_is_withheld():
    """That another pair singles out nobody would be read as the most that two facts do."""
    said = findings.uniqueness(
        results(
            ("Identity", "", "records", "", "", 1000, NONE, NONE, NONE),
            ("Identity", "", "unique", "", "age, sex", 0, 0, 0.004, 0),
            ("Identity", "", "unique", "", "age, town", NONE, 0.001, 0.009, 0),
            ("Identity", "", "unique", "", "age, sex, town", 0.4, 0.35, 0.45, 0),
        )
    )
    assert said.data.endswith("**Age and town** alone single out 0.1% to 0.9% of people (withheld).")


def test_a_table_whose_description_names_no_quasi_identifier_is_not_called_harmless():
    said = findings.uniqueness(results(("Identity", "", "records", "", "", 1000, NONE, NONE, NONE))).data
    assert said.startswith("Who stands out is not known: the description names no quasi-identifier.")


def spans(*rows):
    """Rows of (sanitizer, parameters, certainty penalty)."""
    return results(*((s, p, "certainty_penalty", "", "", value, NONE, NONE, NONE) for s, p, value in rows))


def test_what_it_costs():
    rows = (("Mondrian", "k=2", 0.02), ("Mondrian", "k=9", 0.1), ("KMember", "k=9", 0.3), ("FullDomain", "k=9", NONE))
    said = findings.release_costs(spans(*rows, ("Mondrian", "t=0.2", 0.4), ("Mondrian", "t=0.1", 0.5)))
    assert said.data.startswith(
        "A published cell spans on average **10% of the domain** under Mondrian, k = 9, and **30% of the domain** "
        "under k-member clustering, k = 9."
    )
    most = finding(said, "At k = 9 a cell spans on average at most")
    assert (most.value, most.beside["least, Mondrian, k = 9"], most.note) == (
        0.3,
        0.1,
        "Withheld: Full-domain recoding, k = 9.",
    )
    assert finding(said, "At t = 0.1 a cell spans on average at most").value == 0.5, "a smaller t asks for more"
    assert findings.release_costs(spans(("FullDomain", "k=9", NONE))).data.startswith(
        "- **At k = 9 a cell spans on average at most: withheld**"
    )


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


def test_what_users_lose_beside_a_mere_guess():
    said = findings.utility_declines(kept(*KEPT)).data
    assert said == (
        "Under k-member clustering, k = 9, a loses most: it rightly predicts the s of **10.0%** (95% interval 9.9% to "
        "10.1%) fewer people than on the original. A mere guess, the commonest value for everybody, loses **12%**."
    )


def test_what_users_keep_when_no_miner_beats_the_guess():
    assert (
        "**no miner beats a mere guess** even on the original" in findings.utility_declines(kept(*KEPT, best=650)).data
    )


def test_what_users_keep_without_a_release():
    assert "no decline to speak of" in findings.utility_declines(kept(("Identity", "", "a", 0))).data


def noisy(noise, absent, *, seed=1):
    return kept(
        ("LaplaceNoise", "epsilon=0.5", "a", noise),
        ("Suppress", "attributes=age, education", "a", absent),
        ("LaplaceNoise", "epsilon=0.5", "worst", noise),
        ("Suppress", "attributes=age, education", "worst", absent),
        seed=seed,
    )


def test_noise_is_set_beside_leaving_out_what_it_blurs():
    same = findings.utility_declines(noisy(0.03, 0.0305))
    costs = finding(same, "Noise costs one miner")
    assert costs.value == 0.03
    assert costs.beside["Suppression, attributes = age, education"] == "3.0% to 3.0%"
    assert "no evidence that noise differs from leaving these attributes out" in costs.note
    more = findings.utility_declines(noisy(0.05, 0.03))
    assert "users do better without these attributes" in finding(more, "Noise costs").note
    less = findings.utility_declines(noisy(0.01, 0.03))
    assert "nowhere costs more" in finding(less, "Noise costs").note
    assert less.data.startswith("Under Laplace noise"), "what is left out for comparison is no choice of the owner"


def test_noise_is_compared_seed_by_seed():
    # Intervals over people overlap, yet the noise costs about .0015 more in every repeat.
    costs = ((0.03, 0.0285), (0.031, 0.0296), (0.032, 0.0304))
    seeds = [noisy(*pair, seed=seed) for seed, pair in enumerate(costs, start=1)]
    said = findings.utility_declines(pd.concat(seeds))
    assert "Where noise costs more" in finding(said, "Noise costs").note


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


def test_the_worst_miner_stands_beside_its_controls():
    said = findings.adversary_gains(join(attack(), LINKS))
    assert said.data.startswith(
        "One miner nears the age of **500 people** (95% interval 480 to 520; shuffled guesses: 350) under "
        "k-member clustering, k = 2; a neighbour finds **30% of people** (95% interval 25% to 35%; chance: 0.1%) "
        "there."
    )
    beyond = finding(said, "beyond its guesses permuted at random")
    assert beyond.value == 150
    assert beyond.note == "One seed does not tell how sure that is."
    assert finding(said, "beyond what it reaches for people whose rows it did not see (480)").value == 20


def test_the_longest_answer_has_forty_words():
    """All of Adult: two releases, two intervals, and a chance of one person."""
    noise = mined(("LaplaceNoise", "epsilon=0.5", "worst", 42836, 42595, 43078, 39932))
    said = findings.adversary_gains(join(noise, LINKS.assign(baseline=1 / 45222))).data.split("\n\n")[0]
    assert "1 in 45,000" in said
    assert words(said) == 40


def test_the_answer_is_of_a_number_that_may_be_told():
    few = mined(("LaplaceNoise", "epsilon=0.5", "worst", NONE, 991, 999, NONE))
    text = findings.adversary_gains(join(pd.concat([few, attack()]), LINKS)).data
    assert "nears the age of **500 people**" in text.split("\n\n")[0]


def test_nothing_is_left_where_chance_gives_as_much():
    beyond = finding(findings.adversary_gains(join(attack(chance=505), LINKS)), "beyond its guesses permuted")
    assert beyond.value == -5
    assert "no more than needs no attack at all" in beyond.note
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((470, 495, 505), start=1)]
    beyond = finding(findings.adversary_gains(join(pd.concat(seeds), LINKS)), "beyond its guesses permuted")
    # More in two seeds of three: 10 -+ 4.303 * 18.03 / sqrt(3).
    assert [round(each) for each in (beyond.value, beyond.low, beyond.high)] == [10, -35, 55]
    assert "no more than needs no attack at all" in beyond.note


def test_what_a_persons_own_row_gives():
    seeds = [attack(unseen=unseen, seed=seed) for seed, unseen in enumerate((398, 400, 402), start=1)]
    own = finding(findings.adversary_gains(join(pd.concat(seeds), LINKS)), "did not see (400)")
    assert [round(each) for each in (own.value, own.low, own.high)] == [100, 95, 105]
    assert own.note == ""
    own = finding(findings.adversary_gains(join(attack(unseen=500), LINKS)), "did not see (500)")
    assert "no evidence that a person's own row helps" in own.note


def test_controls_are_compared_seed_by_seed():
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((488, 490, 492), start=1)]
    beyond = finding(findings.adversary_gains(join(pd.concat(seeds), LINKS)), "beyond its guesses permuted")
    # Within a seed's interval over people, but by 10 in the mean of three seeds: 10 -+ 4.303 * 2 / sqrt(3).
    assert [round(each) for each in (beyond.value, beyond.low, beyond.high)] == [10, 5, 15]
    assert beyond.note == ""


def test_no_difference_is_of_more_people_than_there_are():
    seeds = [attack(zero=0, chance=chance, seed=seed) for seed, chance in enumerate((10, 300, 490), start=1)]
    rows = join(pd.concat(seeds), LINKS)
    free = finding(findings.adversary_gains(rows), "beyond its guesses permuted")
    assert free.high > 600, "Student's t of three seeds"
    rows["of"] = np.where(rows.measure == "anti_utility", 600, rows.of)
    bound = finding(findings.adversary_gains(rows), "beyond its guesses permuted")
    assert (bound.value, bound.low, bound.high) == (free.value, free.low, 600)


def test_seeds_that_are_all_alike_are_no_proof_and_no_all_clear():
    seeds = [attack(chance=300, zero=0, seed=seed) for seed in (1, 2, 3)]
    beyond = finding(findings.adversary_gains(join(pd.concat(seeds), LINKS)), "beyond its guesses permuted")
    assert beyond.value == 200
    assert np.isnan(beyond.low)
    assert beyond.note == "3 seeds so alike do not tell how sure that is."


def nearer(*numbers):
    said = findings.adversary_gains(join(mined(("KMember", "k=2", "worst", *numbers)), LINKS))
    assert "nan" not in said.data
    assert not said.found, "numbers are not set apart where too few people are hit"
    return said.data.split(" under ")[0]


def test_a_withheld_count_is_as_small_as_its_bound():
    assert "**fewer than 10 people** (guess: withheld)" in nearer(NONE, 1, 9, NONE)
    assert "fewer than 5 people" in nearer(NONE, 1, 4, NONE)
    assert "more than 90 people" in nearer(NONE, 91, 99, NONE)
    assert "withheld" in nearer(NONE, NONE, NONE, 200)


def test_who_is_hit():
    shares = results(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.18, 0.22, 0.05),
        ("KMember", "k=2", "nearer_share", "worst", "sex Male", NONE, 0.01, 0.09, NONE),
    )
    found = subgroups(shares)
    assert found.subject.endswith("who is hit: of sex Female")
    assert (found.value, found.setting) == (0.2, "k-member clustering, k = 2")
    assert found.beside == {"without it": 0.05, "of sex Male": "at most 9%"}
    assert "No group is hit clearly more than another" in subgroups(shares.assign(high=0.3, low=0.05))


def test_without_links_nothing_is_said_of_a_neighbour():
    assert "neighbour" not in findings.adversary_gains(join(attack(), LINKS.iloc[:1])).data


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


def test_what_the_owner_chooses():
    rows = pd.concat([chosen(*CHOSEN), others(("k=9", 30, -5, 65), ("k=50", 80, 60, 100), ("k=99", 90, 70, 110))])
    said = findings.owner_choice(rows, NO_LINKS)
    choice = finding(said, "Scenario A: by the worst miner the paper's rule chooses k-member clustering, k = 2")
    assert choice.value == 0.75
    assert choice.beside == {
        "other criteria that choose the same": "1 of 2",
        "k-member clustering, k = 9 instead": "by vote of all miners",
        "not distinguishable from it": "k-member clustering, k = 9",
    }
    margin = finding(said, "Scenario A: more people for whom the worst miner comes nearer, at least")
    assert (margin.value, margin.low, margin.high, margin.setting) == (80, 60, 100, "k-member clustering, k = 50")
    assert (
        finding(said, "Scenario B: by the worst miner the paper's rule chooses k-member clustering, k = 9").value == 1
    )
    assert "The choice depends on the scenario" in said.data
    assert "That no attack is found is not safety" in said.data


def test_what_the_papers_rule_chooses_is_said_beside_whom_it_leaves_linkable():
    """It chooses k=2, under which a neighbour finds one person in five."""
    found, size = "reidentification_rate", "smallest_combination"
    links = results(
        ("Identity", "", found, "", "", 0.55, 0.5, 0.6, 0.001),
        ("KMember", "k=2", found, "", "", 0.2, 0.19, 0.21, 0.001),
        ("KMember", "k=2", size, "", "", NONE, 1, 4, NONE), ("KMember", "k=9", size, "", "", NONE, 5, 9, NONE),
        ("KMember", "k=9", found, "", "", 0.05, 0.04, 0.06, 0.001),
    )  # fmt: skip
    said = findings.owner_choice(chosen(*CHOSEN), links)
    loose = finding(said, "With k-member clustering, k = 2, the rule's choice, a neighbour finds the row of")
    assert (loose.value, loose.setting) == (0.2, "")
    assert loose.beside["original"] == "55% of people"
    assert loose.beside["who share the rarest combination of quasi-identifiers"] == "fewer than 5 people"
    assert loose.note == "That is below the floor of 5 people: it is not recommended, whatever the rule says."
    assert "no recommendation" in finding(said, "With k-member clustering, k = 9").note
    strict = finding(findings.owner_choice(chosen(*CHOSEN), links, floor=20), "With k-member clustering, k = 9")
    assert "below the floor of 20 people" in strict.note
    assert "the owner chooses" not in said.data


def test_a_choice_by_one_seed_says_so():
    said = findings.owner_choice(
        pd.concat([chosen(("A", "worst", "k=2", 1), ("A", "average", "k=2", 1)), others(("k=9", 30, NONE, NONE))]),
        NO_LINKS,
    )
    choice = finding(said, "chooses k-member clustering, k = 2")
    assert choice.number == "one seed"
    assert choice.beside["other criteria that choose the same"] == "1 of 1"
    assert finding(said, "more people").value == 30
    assert "scenarios" not in said.data


def test_a_withheld_margin_is_no_number():
    rows = (("k=9", NONE, NONE, NONE), ("k=50", 80, 60, 100))
    said = findings.owner_choice(pd.concat([chosen(("A", "worst", "k=2", 1)), others(*rows)]), NO_LINKS)
    choice = finding(said, "chooses k-member clustering, k = 2")
    assert choice.value == 1
    assert choice.beside["withheld, as few people are hit"] == "k-member clustering, k = 9"
    assert finding(said, "more people").value == 80
    text = findings.owner_choice(pd.concat([chosen(("A", "worst", "k=2", 1)), others(rows[0])]), NO_LINKS).data
    assert "one seed" not in text, "nothing says how many seeds there were"
    assert "withheld" in text
    assert "nan" not in text


def test_equal_numbers_of_one_seed_are_a_tie():
    rows = others(("k=9", 0, NONE, NONE), ("k=50", 80, NONE, NONE))
    said = findings.owner_choice(pd.concat([chosen(("A", "worst", "k=2", 1)), rows]), NO_LINKS)
    assert finding(said, "chooses").beside["not distinguishable from it"] == "k-member clustering, k = 9"
    assert (finding(said, "more people").value, finding(said, "more people").setting) == (
        80,
        "k-member clustering, k = 50",
    )


def test_what_the_owner_weights_need_not_be_people():
    rows = pd.concat([chosen(("W", "worst", "k=2", 1)), others(("k=9", 30.5, 20, 41), scenario="W")])
    said = findings.owner_choice(rows, NO_LINKS)
    margin = finding(said, "more by the owner's weights")
    assert (margin.value, margin.low, margin.high) == (30.5, 20, 41)
    assert "people**" not in said.data
    assert "more people" not in said.data


def test_a_scenario_of_few_people_is_not_passed_over():
    rows = chosen(("A", "worst", "k=2", 1), ("W", "average", "k=2", 1))
    text = findings.owner_choice(rows, NO_LINKS).data
    assert "Scenario W: by the worst miner too few people are hit to compare." in text
    assert "Scenario A: by the worst miner the paper's rule chooses k-member clustering, k = 2" in text


def test_many_criteria_that_agree_are_counted():
    rows = [("A", criterion, "k=2", 1) for criterion in ("worst", "average", "modern worst", "worst by person")]
    choice = finding(findings.owner_choice(chosen(*rows), NO_LINKS), "chooses")
    assert choice.beside == {"other criteria that choose the same": "3 of 3"}
    assert "No other sanitizer keeps enough good utility" in choice.note


def test_nothing_was_attacked():
    none = findings.adversary_gains(join(attack().iloc[:0], LINKS.iloc[:0]))
    assert none.data == "No release was attacked."


def test_nothing_to_choose():
    text = findings.owner_choice(chosen(), NO_LINKS).data
    assert "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing" in text


def gains(mined, random, low, high, *, seed=1, miner="", labels=("predictions", "predictions, random labels")):
    """An accuracy gain of .1 that predictions and random labels change by so much."""
    return results(
        ("KMember", "k=2", "accuracy_gain", "", "s", 0.1, NONE, NONE, NONE),
        ("KMember", "k=2", f"accuracy_gain_with_{labels[0]}", miner, "s", 0.1 + mined, NONE, NONE, NONE),
        ("KMember", "k=2", f"accuracy_gain_with_{labels[1]}", miner, "s", 0.1 + random, 0.1 + low, 0.1 + high, NONE),
        seed=seed,
    )


EVERYBODY = ("all_predictions", "all_predictions, random labels")


def test_what_predictions_add():
    two = pd.concat([gains(0.03, 0.01, 0.005, 0.02), gains(0.01, 0.01, 0.005, 0.02, seed=2)])
    more = pd.concat([two, gains(0.03, 0.01, 0.005, 0.02, seed=3)])
    beyond = finding(findings.mined_predictions(more), "raise a gain beyond all draws")
    assert beyond.number == "2 of 3 comparisons"
    assert "The predictions do more than random labels." in beyond.note
    beyond = finding(findings.mined_predictions(two), "raise a gain beyond all draws")
    assert beyond.number == "1 of 2 comparisons"
    assert beyond.beside == {"by chance": "0.05", "below all draws": "0"}
    assert "too few to conclude" in beyond.note


def test_predictions_within_the_range_of_the_draws_are_not_beyond_it():
    beyond = finding(findings.mined_predictions(gains(0.018, 0.01, 0.005, 0.02)), "beyond all draws")
    assert (beyond.value, beyond.beside["below all draws"]) == (0, "0")


def test_each_reading_has_its_own_verdict():
    everybody = gains(0.01, 0.02, 0.015, 0.025, labels=EVERYBODY)
    first = gains(0.03, 0.01, 0.005, 0.02)
    said = findings.mined_predictions(pd.concat([first, everybody[everybody.variant != ""]]))
    one, all_people = finding(said, "in the first record"), finding(said, "for all people")
    assert one.number == "1 of 1 comparisons"
    assert "do more than random labels" in one.note
    assert all_people.number == "0 of 1 comparisons"
    assert all_people.beside["below all draws"] == "1"
    assert "the increase is no evidence of an attack" in all_people.note


def test_predictions_of_another_set_are_measured_from_the_same_release():
    weka = gains(0.02, 0.01, 0.005, 0.015, miner="Weka 3.6.14")
    main = gains(0.03, 0.01, 0.005, 0.015)
    said = findings.mined_predictions(pd.concat([main, weka[weka.variant != ""]]))
    assert finding(said, "beyond all draws").number == "2 of 2 comparisons"


def test_no_predictions_at_all():
    assert "no increase to speak of" in findings.mined_predictions(LINKS).data


EMPTY = results()


OTHER_TABLES = {
    "by_policy",
    "errata",
    "every_setting",
    "floors",
    "perturbation",
    "publication",
    "release_card",
    "search",
    "steep_hierarchy",
}  # these take more than results


@pytest.mark.parametrize("name", sorted({*findings.__all__, *paper_findings.__all__} - OTHER_TABLES))
def test_a_table_without_rows_gives_a_sentence(name):
    tables = [EMPTY, *{"owner_choice": [EMPTY], "own_wishes": [(5, 50)]}.get(name, [])]
    module = findings if hasattr(findings, name) else paper_findings
    assert getattr(module, name)(*tables).data.endswith(".")


TABLES = {
    "adversary_gains": lambda: (join(attack(), LINKS),),
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
    both = join(*parts)
    releases = decision.points(both, privacy="reidentification_rate", utility="certainty_penalty")
    said = repr(findings.perturbation(both, releases, both.iloc[:0], 1000))
    assert "Of the 1 perturbed releases that are useful" in said
    assert "4% of the 1,000 people" in said, "a sample may stand for the table"
    assert len(said.split("\n\n")[0].split()) <= 40
    assert "at 40% of what suppression loses" in said, "half of .6 and .2 is useful, .6 is not"
