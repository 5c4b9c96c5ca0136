"""Each answer on a small hand-made table of results: the sentence names the right number and the right setting."""

import numpy as np
import pandas as pd
from rows import frame

from privnb.reporting import findings


def results(*rows, seed=1):
    """Rows of (sanitizer, parameters, measure, miner, target, value, low, high, baseline)."""
    return frame(rows, seed=seed)


NONE = np.nan


def test_who_stands_out():
    text = findings.who_stands_out(
        results(
            ("Identity", "", "records", "", "", 1000, NONE, NONE, NONE),
            ("Identity", "", "unique", "", "age", 0.01, 0, 0.02, 0),
            ("Identity", "", "unique", "", "age, sex", 0.05, 0, 0.1, 0),
            ("Identity", "", "unique", "", "age, town", 0.2, 0.1, 0.3, 0),
            ("Identity", "", "unique", "", "age, sex, town", 0.4, 0.35, 0.45, 0),
        )
    ).data
    assert "40.0% of the 1,000 people are the only one with their 3 quasi-identifiers" in text
    assert "interval 35.0% to 45.0%" in text
    assert "no more than age and town is enough to single out 20.0%" in text


def test_what_it_costs():
    text = findings.what_it_costs(
        results(
            ("Suppress", "", "certainty_penalty", "", "", 1.0, NONE, NONE, NONE),
            ("KMember", "k=2", "certainty_penalty", "", "", 0.02, NONE, NONE, NONE),
            ("KMember", "k=9", "certainty_penalty", "", "", 0.3, NONE, NONE, NONE),
            ("KMember", "k=2", "k_achieved", "", "", 2, NONE, NONE, NONE),
            ("KMember", "k=9", "k_achieved", "", "", 9, NONE, NONE, NONE),
            ("LaplaceNoise", "epsilon=1.0", "mean_absolute_error", "", "", 1.04, NONE, NONE, NONE),
        )
    ).data
    assert "spans 2% (KMember(k=2)) to 30% (KMember(k=9)) of its attribute's domain" in text
    assert "2 (k=2), 9 (k=9)" in text
    assert "moves a number by 1.0 (LaplaceNoise(epsilon=1.0)) times" in text


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


def test_what_users_keep_in_the_papers_words():
    text = findings.what_users_keep(kept(*KEPT)).data
    assert "KMember (k=2 and k=9) is (0.9000, {a, b})-utility-preserving" in text
    assert "no miner of the set loses more than 10.00%** (95 % interval 9.90% to 10.10%)" in text
    assert "a loses that at KMember(k=9)" in text
    assert "right for 700 people. A is right for 800 on the original" in text
    assert "a decline of 12.50%, and at KMember(k=9) it has lost 80% of that way" in text
    assert "From KMember(k=2) to KMember(k=9) the largest decline rises at each step: 3.00% to 10.00%" in text
    assert "Of single miners 1 of 2 lose more at each stricter step" in text
    assert "oise" not in text, "nothing is said of noise that was not run"


def test_what_users_keep_when_no_miner_beats_the_guess():
    assert "No miner beats the guess even on the original" in findings.what_users_keep(kept(*KEPT, best=650)).data


def test_what_users_keep_without_a_release():
    assert "no decline to speak of" in findings.what_users_keep(kept(("Identity", "", "a", 0))).data


def noisy(noise, absent, *, seed=1):
    return kept(
        ("LaplaceNoise", "epsilon=0.5", "a", noise),
        ("Suppress", "what=age, education", "a", absent),
        ("LaplaceNoise", "epsilon=0.5", "worst", noise),
        ("Suppress", "what=age, education", "worst", absent),
        seed=seed,
    )


def test_noise_is_set_beside_leaving_out_what_it_blurs():
    same = findings.what_users_keep(noisy(0.03, 0.0305)).data
    assert "leaving age and education out altogether costs them 3.05% to 3.05%" in same
    assert "The noise cannot be told from leaving age and education out altogether" in same
    more = findings.what_users_keep(noisy(0.05, 0.03)).data
    assert "clearly more (beyond the 95 % intervals) in 1, clearly less in 0" in more
    assert "a user does better without age and education" in more
    less = findings.what_users_keep(noisy(0.01, 0.03)).data
    assert "Nowhere is noise seen to cost more than leaving age and education out altogether" in less
    assert "Suppress" not in less
    assert "(0.9900, {a})-utility-preserving" in less, "what is left out for comparison is no choice of the owner"


def test_noise_is_compared_seed_by_seed():
    # Intervals over people overlap, yet the noise costs about .0015 more in every repeat.
    costs = ((0.03, 0.0285), (0.031, 0.0296), (0.032, 0.0304))
    seeds = [noisy(*pair, seed=seed) for seed, pair in enumerate(costs, start=1)]
    text = findings.what_users_keep(pd.concat(seeds)).data
    assert "clearly more (beyond the 95 % intervals) in 1" in text
    assert "mean over 3 seeds" in text


def test_other_sets_agree_or_not():
    main = (
        ("KMember", "k=2", "a", 0.03),
        ("LaplaceNoise", "epsilon=0.5", "a", 0.02),
        ("KMember", "k=2", "worst", 0.03),
        ("LaplaceNoise", "epsilon=0.5", "worst", 0.02),
    )
    for weka, said in ((0.01, "agrees"), (0.09, "does not agree")):
        other = (
            ("KMember", "k=2", "Weka 3.6.14 b", 0.04),
            ("KMember", "k=2", "Weka 3.6.14 worst", 0.04),
            ("LaplaceNoise", "epsilon=0.5", "Weka 3.6.14 worst", weka),
        )
        text = findings.what_users_keep(kept(*main, *other)).data
        assert f"The set Weka 3.6.14 loses at most 4.00% under KMember, {weka:.2%} under LaplaceNoise" in text
        assert f"It {said} with the main set" in text
        assert "{a})-utility" in text


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
    text = findings.what_the_adversary_gains(attack(), LINKS).data
    assert "KMember(k=2): the worst miner, a, comes nearer to the truth for 500 people** (95 % interval 480 to" in text
    assert "guess without the release does so for 200 people, one answer for everybody (ZeroR) for 300 people" in text
    assert "its guesses dealt at random for 350 people" in text
    assert "Beyond its guesses dealt at random that is +150 people (one seed, which does not tell how sure" in text
    assert "no more than needs no attack" not in text
    assert "did not learn from it comes nearer for 480: a person's own row gives +20 people (one seed" in text
    assert (
        "450 people under KMember(k=2) (all miners' vote); 600 people under KMember(k=2) (the worst of modern)" in text
    )
    assert "30.0% of all people under KMember(k=2) (95 % interval 25.0% to 35.0%), of 90.0% in the original" in text
    assert "does not make a release safe" in text


def test_nothing_is_left_where_chance_gives_as_much():
    text = findings.what_the_adversary_gains(attack(chance=505), LINKS).data
    assert "Beyond its guesses dealt at random that is -5 people" in text
    assert "no more than needs no attack at all" in text
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((470, 495, 505), start=1)]
    text = findings.what_the_adversary_gains(pd.concat(seeds), LINKS).data
    # More in two seeds of three: 10 -+ 4.303 * 18.03 / sqrt(3).
    assert "that is +10 people (95 % interval -35 to +55): **no more than needs no attack at all" in text


def test_what_a_persons_own_row_gives():
    seeds = [attack(unseen=unseen, seed=seed) for seed, unseen in enumerate((398, 400, 402), start=1)]
    text = findings.what_the_adversary_gains(pd.concat(seeds), LINKS).data
    assert "comes nearer for 400: a person's own row gives +100 people (95 % interval +95 to +105)." in text
    text = findings.what_the_adversary_gains(attack(unseen=500), LINKS).data
    assert "comes nearer for 500: a person's own row is not seen to give more." in text


def test_controls_are_compared_seed_by_seed():
    seeds = [attack(chance=chance, seed=seed) for seed, chance in enumerate((488, 490, 492), start=1)]
    text = findings.what_the_adversary_gains(pd.concat(seeds), LINKS).data
    # Within a seed's interval over people, but by 10 in the mean of three seeds: 10 -+ 4.303 * 2 / sqrt(3).
    assert "Beyond its guesses dealt at random that is +10 people (95 % interval +5 to +15)." in text


def noise(*numbers):
    """Rows of the worst miner under noise: (epsilon, value, baseline)."""
    return mined(*(("LaplaceNoise", f"epsilon={e}", "worst", v, v - 9, v + 9, guess) for e, v, guess in numbers))


def test_the_noise_itself_is_measured_only_where_both_rise():
    said = "The number measures the noise, not a leak"
    # Whatever the order in which the settings come.
    rising = findings.what_the_adversary_gains(noise((0.1, 900, 895), (0.5, 500, 300)), LINKS).data
    assert "rises from 500 to 900, and so does the guess, from 300 to 895" in rising
    assert said in rising
    assert "less the guess it is 200 and 5 people" in rising
    for numbers in (
        [(0.5, 500, 300), (0.1, 400, 310)],  # the value falls
        [(0.5, 500, 300), (0.1, 600, 300)],  # the guess stays
        [(0.5, 500, 300), (0.1, 500, 400)],  # the value stays
        [(0.5, 500, 300), (0.1, 600, 200), (0.05, 700, 310)],  # the guess falls first
        [(0.5, 500, 300)],
        [(0.5, NONE, 300), (0.1, 600, 400)],  # withheld
    ):
        assert said not in findings.what_the_adversary_gains(noise(*numbers), LINKS).data


def test_a_withheld_count_stays_small_and_named():
    text = findings.what_the_adversary_gains(mined(("KMember", "k=2", "worst", NONE, 1, 9, NONE)), LINKS).data
    assert "KMember(k=2): the worst miner comes nearer to the truth for fewer than 10 people**." in text
    assert "Too few people are hit" in text
    assert "nan" not in text


def test_a_withheld_count_is_as_small_as_its_bound():
    few = mined(("KMember", "k=2", "worst", NONE, 1, 4, NONE))
    text = findings.what_the_adversary_gains(few, LINKS).data
    assert "for fewer than 5 people**. The guess without the release does so for fewer than 5 people." in text
    guess = mined(("KMember", "k=2", "worst", 60, 50, 70, NONE))
    text = findings.what_the_adversary_gains(guess, LINKS).data
    assert "The guess without the release does so for few people, or all but few." in text
    most = mined(("KMember", "k=2", "worst", NONE, 91, 99, 60))
    assert "for more than 90 people**." in findings.what_the_adversary_gains(most, LINKS).data


def test_a_number_withheld_for_what_it_would_tell_of_another_is_not_called_small():
    rows = mined(("KMember", "k=2", "worst by person", NONE, NONE, NONE, 200))
    text = findings.what_the_adversary_gains(pd.concat([attack(), rows]), LINKS).data
    assert "a number of people that is withheld under KMember(k=2) (each person's own worst miner" in text
    assert "nan" not in text


def test_exact_predictions_of_few_people_are_said_to_be_withheld():
    exact = mined(
        ("LaplaceNoise", "epsilon=0.5", "worst", 60, 50, 70, 20),
        ("LaplaceNoise", "epsilon=0.2", "worst", 90, 80, 100, 20),
        ("LaplaceNoise", "epsilon=0.1", "worst", NONE, 1, 9, 20),
        measure="anti_utility_B",
    )
    text = findings.what_the_adversary_gains(pd.concat([attack(), exact]), LINKS).data
    assert (
        "of 60 (LaplaceNoise(epsilon=0.5)) to 90 (LaplaceNoise(epsilon=0.2)) people, and of few people, withheld, "
        "under LaplaceNoise(epsilon=0.1); at LaplaceNoise(epsilon=0.2) the guess" in text
    )


def test_exact_predictions():
    exact = mined(
        ("KMember", "k=2", "worst", 0, 0, 1, 0),
        ("LaplaceNoise", "epsilon=0.5", "worst", 60, 50, 70, 20),
        ("LaplaceNoise", "epsilon=0.5", "control: permuted", 55, 50, 60, 20),
        measure="anti_utility_B",
    )
    text = findings.what_the_adversary_gains(pd.concat([attack(), exact]), LINKS).data
    assert "Under KMember no miner of the set names anybody's exact value" in text
    assert "names the exact value (scenario B) of 60 (LaplaceNoise(epsilon=0.5)) people; at" in text
    assert "guess without the release is exact for 20 people; its own guesses dealt at random are exact for 55" in text


def test_who_is_hit():
    shares = results(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.18, 0.22, 0.05),
        ("KMember", "k=2", "nearer_share", "worst", "sex Male", NONE, 0.01, 0.09, NONE),
    )
    text = findings.what_the_adversary_gains(pd.concat([attack(), shares]), LINKS).data
    assert "hits sex Female most (20.0%) and sex Male least (at most 9.0%)" in text
    assert "the guess comes nearer for 5.0% of sex Female" in text
    assert "An average hides" not in findings.what_the_adversary_gains(attack(), LINKS).data
    unsure = shares.assign(high=0.3, low=0.05)
    text = findings.what_the_adversary_gains(pd.concat([attack(), unsure]), LINKS).data
    assert "No group is hit clearly more than another" in text


def test_without_links_nothing_is_said_of_a_neighbour():
    assert "neighbour" not in findings.what_the_adversary_gains(attack(), LINKS.iloc[:1]).data


def chosen(*rows):
    """Rows of (scenario, criterion, parameters, share)."""
    return results(
        *(("KMember", p, f"chosen_{s}", criterion, "", share, NONE, NONE, NONE) for s, criterion, p, share in rows)
    )


def others(*rows, scenario="A"):
    """Rows of (parameters, more, low, high)."""
    measure = f"excess_over_choice_{scenario}"
    return results(*(("KMember", p, measure, "worst", "", *numbers, NONE) for p, *numbers in rows))


CHOSEN = (
    ("A", "worst", "k=2", 0.75),
    ("A", "worst", "k=9", 0.25),
    ("A", "modern worst", "k=2", 1),
    ("A", "fusion: vote", "k=9", 1),
    ("B", "worst", "k=9", 1),
)


def test_what_the_owner_chooses():
    rows = pd.concat([chosen(*CHOSEN), others(("k=9", 30, -5, 65), ("k=50", 80, 60, 100), ("k=99", 90, 70, 110))])
    text = findings.what_the_owner_chooses(rows).data
    assert "Scenario A: by the worst miner the owner chooses KMember(k=2)**, in 75% of the seeds." in text
    assert "Of 2 other criteria 1 chooses the same. Not so: KMember(k=9) by vote of all miners." in text
    assert "not to be told apart from it: KMember(k=9)." in text
    assert "Under KMember(k=50) the worst miner comes nearer for 80 more people (95 % interval 60 to 100)" in text
    assert "Scenario B: by the worst miner the owner chooses KMember(k=9)**. " in text
    assert "The choice depends on the scenario" in text
    assert "That no attack is found is not safety" in text


def test_a_choice_by_one_seed_says_so():
    text = findings.what_the_owner_chooses(
        pd.concat([chosen(("A", "worst", "k=2", 1), ("A", "average", "k=2", 1)), others(("k=9", 30, NONE, NONE))])
    ).data
    assert "one seed" in text
    assert "The other criterion chooses the same: average miner" in text
    assert "for 30 more people, the fewest" in text
    assert "scenarios" not in text


def test_a_withheld_margin_is_no_number():
    rows = (("k=9", NONE, NONE, NONE), ("k=50", 80, 60, 100))
    text = findings.what_the_owner_chooses(pd.concat([chosen(("A", "worst", "k=2", 1)), others(*rows)])).data
    assert "KMember(k=2)**, in all seeds." in text
    assert "for 80 more people (95 % interval 60 to 100), the fewest of those that may be told." in text
    assert "Few people are hit, so how much more it is under KMember(k=9) is withheld." in text
    text = findings.what_the_owner_chooses(pd.concat([chosen(("A", "worst", "k=2", 1)), others(rows[0])])).data
    assert "one seed" not in text, "nothing says how many seeds there were"
    assert "withheld" in text
    assert "nan" not in text


def test_equal_numbers_of_one_seed_are_a_tie():
    rows = others(("k=9", 0, NONE, NONE), ("k=50", 80, NONE, NONE))
    text = findings.what_the_owner_chooses(pd.concat([chosen(("A", "worst", "k=2", 1)), rows])).data
    assert "By one seed not to be told apart from it: KMember(k=9)." in text
    assert "Under KMember(k=50) the worst miner comes nearer for 80 more people, the fewest of the others." in text


def test_what_the_owner_weights_need_not_be_people():
    rows = pd.concat([chosen(("W", "worst", "k=2", 1)), others(("k=9", 30.5, 20, 41), scenario="W")])
    text = findings.what_the_owner_chooses(rows).data
    assert "gains 30.5 more by the owner's weights (95 % interval 20.0 to 41.0), the least of all others." in text
    assert "people**" not in text
    assert "more people" not in text


def test_a_scenario_of_few_people_is_not_passed_over():
    rows = chosen(("A", "worst", "k=2", 1), ("W", "average", "k=2", 1))
    text = findings.what_the_owner_chooses(rows).data
    assert "Scenario W: by the worst miner too few people are hit to compare." in text
    assert "Scenario A: by the worst miner the owner chooses KMember(k=2)" in text


def test_many_criteria_that_agree_are_counted():
    rows = [("A", criterion, "k=2", 1) for criterion in ("worst", "average", "modern worst", "worst by person")]
    text = findings.what_the_owner_chooses(chosen(*rows)).data
    assert "All 3 other criteria choose the same" in text
    assert "No other sanitizer keeps enough good utility" in text


def test_nothing_was_attacked():
    assert "nothing to tell" in findings.what_the_adversary_gains(attack().iloc[:0], LINKS.iloc[:0]).data


def test_nothing_to_choose():
    text = findings.what_the_owner_chooses(chosen()).data
    assert "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing" in text


def gains(mined, random, low, high, *, seed=1, miner="", labels=("predictions", "predictions, random labels")):
    """An accuracy gain of .1 that predictions and random labels change by so much."""
    return results(
        ("KMember", "k=2", "accuracy_gain", "", "s", 0.1, NONE, NONE, NONE),
        ("KMember", "k=2", f"accuracy_gain_with_{labels[0]}", miner, "s", 0.1 + mined, NONE, NONE, NONE),
        ("KMember", "k=2", f"accuracy_gain_with_{labels[1]}", miner, "s", 0.1 + random, 0.1 + low, 0.1 + high, NONE),
        seed=seed,
    )


def test_what_predictions_add():
    two = pd.concat([gains(0.03, 0.01, 0.005, 0.02), gains(0.01, 0.01, 0.005, 0.02, seed=2)])
    more = pd.concat([two, gains(0.03, 0.01, 0.005, 0.02, seed=3)])
    text = findings.what_predictions_add(more).data
    assert "beyond all draws of as many random labels in 2 of 3 comparisons** (gain, miners, setting and seed)" in text
    assert "There the predictions do more than random labels." in text
    text = findings.what_predictions_add(two).data
    assert "in 1 of 2 comparisons** (gain, miners, setting and seed), and stay below all of them in 0" in text
    assert "by chance 0.05 would lie above. That is too few" in text
    assert "There the predictions do more" not in text
    assert "no evidence of an attack" not in text
    assert "in the first record of each distinct row: +0.0200 to +0.0200; random labels +0.0100 to +0.0100" in text
    assert "50% of the increase" in text
    assert "nowledge" not in text


def test_predictions_that_add_no_more_than_random_labels():
    everybody = gains(0.01, 0.02, 0.015, 0.025, labels=("all_predictions", "all_predictions, random labels"))
    text = findings.what_predictions_add(everybody).data
    assert "**For all people the predictions raise a gain beyond all draws of as many random labels in 0 of 1" in text
    assert "and stay below all of them in 1; by chance 0.025 would lie above. No more than by chance" in text
    assert "the increase is no evidence of an attack" in text
    assert "for all people: +0.0100 to +0.0100" in text
    assert "200% of the increase" in text


def test_predictions_within_the_range_of_the_draws_are_not_beyond_it():
    text = findings.what_predictions_add(gains(0.018, 0.01, 0.005, 0.02)).data
    assert "in 0 of 1 comparisons** (gain, miners, setting and seed), and stay below all of them in 0" in text


def test_each_reading_has_its_own_verdict():
    everybody = gains(0.01, 0.02, 0.015, 0.025, labels=("all_predictions", "all_predictions, random labels"))
    first = gains(0.03, 0.01, 0.005, 0.02)
    text = findings.what_predictions_add(pd.concat([first, everybody[everybody.variant != ""]])).data
    one, all_people = text.split("\n\n")[:2]
    assert "in 1 of 1 comparisons" in one
    assert "There the predictions do more than random labels" in one
    assert "in 0 of 1 comparisons" in all_people
    assert "no evidence of an attack" in all_people
    assert "where the record joins another class, that may lower them" in text


def test_predictions_that_add_nothing():
    text = findings.what_predictions_add(gains(0.0, 0.01, 0.005, 0.02)).data
    assert "The predictions raise it in no setting" in text
    assert "inf" not in text


def test_predictions_of_another_set_are_measured_from_the_same_release():
    weka = gains(0.02, 0.01, 0.005, 0.015, miner="Weka 3.6.14")
    main = gains(0.03, 0.01, 0.005, 0.015)
    text = findings.what_predictions_add(pd.concat([main, weka[weka.miner_set != ""]])).data
    assert (
        "predictions of the worst of Weka 3.6.14 in the first record of each distinct row: +0.0200 to +0.0200" in text
    )
    assert "predictions of the worst miner in the first record of each distinct row: +0.0300 to +0.0300" in text
    assert "in 2 of 2 comparisons" in text


def test_no_predictions_at_all():
    assert "no increase to speak of" in findings.what_predictions_add(LINKS).data


def test_seeds_that_are_all_alike_are_no_proof_and_no_all_clear():
    from privnb.reporting.findings.adversary import _apart

    said, more = _apart(pd.Series([500.0, 500.0, 500.0]))
    assert said == "+500 people (3 seeds so alike that they do not tell how sure that is)"
    assert more
