"""Each answer on a small hand-made table of results: the sentence names the right number and the right setting."""

import numpy as np
import pandas as pd

from privnb import answers
from privnb.results import COLUMNS


def results(*rows):
    """Rows of (sanitizer, parameters, measure, miner, target, value, low, high, baseline)."""
    names = ["sanitizer", "parameters", "measure", "miner", "target", "value", "low", "high", "baseline"]
    return pd.DataFrame(rows, columns=names).assign(dataset="toy", seed=1, better="lower")[COLUMNS]


NONE = np.nan


def test_who_stands_out():
    text = answers.who_stands_out(
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
    text = answers.what_it_costs(
        results(
            ("Suppress", "", "certainty_penalty", "", "", 1.0, NONE, NONE, NONE),
            ("KMember", "k=2", "certainty_penalty", "", "", 0.02, NONE, NONE, NONE),
            ("KMember", "k=9", "certainty_penalty", "", "", 0.3, NONE, NONE, NONE),
            ("KMember", "k=2", "k_achieved", "", "", 2, NONE, NONE, NONE),
            ("KMember", "k=9", "k_achieved", "", "", 9, NONE, NONE, NONE),
            ("LaplaceNoise", "epsilon=1.0", "displacement", "", "", 1.04, NONE, NONE, NONE),
        )
    ).data
    assert "spans 2% (KMember(k=2)) to 30% (KMember(k=9)) of its attribute's domain" in text
    assert "2 (k=2), 9 (k=9)" in text
    assert "moves a number by 1.0 (LaplaceNoise(epsilon=1.0)) times" in text


def utility(best):
    return results(
        ("Identity", "", "good_utility", "a", "s", best, NONE, NONE, 700),
        ("Identity", "", "utility_decline", "worst", "s", 0, NONE, NONE, NONE),
        ("KMember", "k=2", "good_utility", "a", "s", 780, NONE, NONE, 700),
        ("KMember", "k=2", "utility_decline", "worst", "s", 0.025, NONE, NONE, NONE),
        ("KMember", "k=9", "good_utility", "a", "s", 720, NONE, NONE, 700),
        ("KMember", "k=9", "utility_decline", "worst", "s", 0.1, NONE, NONE, NONE),
    )


def test_what_users_keep():
    text = answers.what_users_keep(utility(best=800)).data
    assert "2.50% (KMember(k=2)) to 10.00% (KMember(k=9))" in text
    assert "right for 700 people" in text
    assert "original table is right for 800, the worst miner on the worst release for 720" in text
    assert "12.5% of the utility" in text


def test_what_users_keep_when_no_miner_beats_the_guess():
    assert "No miner beats the guess even on the original" in answers.what_users_keep(utility(best=650)).data


LINKS = results(
    ("Identity", "", "correct_links", "", "", 0.9, 0.85, 0.95, 0.001),
    ("KMember", "k=2", "correct_links", "", "", 0.3, 0.25, 0.35, 0.001),
    ("KMember", "k=9", "correct_links", "", "", 0.1, 0.05, 0.15, 0.001),
)


def mined(*rows):
    return results(*((s, p, "anti_utility_A", "worst", "age", *numbers) for s, p, *numbers in rows))


def test_the_setting_that_beats_the_guess_most_is_named():
    noise = mined(
        ("LaplaceNoise", "epsilon=0.5", 500, 480, 520, 300), ("LaplaceNoise", "epsilon=0.1", 900, 890, 910, 895)
    )
    text = answers.what_the_adversary_gains(noise, LINKS).data
    assert "LaplaceNoise(epsilon=0.5): the best miner comes nearer to the truth for 500 people" in text
    assert "the guess without the release does so for 300 people" in text
    assert "gains 200 people more than the guess" in text
    assert "The number measures the noise" in text
    assert "30.0% of all people under KMember(k=2) (95 % interval 25.0% to 35.0%), of 90.0% in the original" in text
    assert "does not make a release safe" in text


def test_a_withheld_count_stays_small_and_named():
    text = answers.what_the_adversary_gains(mined(("KMember", "k=2", NONE, 1, 9, NONE)), LINKS).data
    assert "KMember(k=2): the best miner comes nearer to the truth for fewer than 10 people" in text
    assert "The number measures the noise" not in text


def test_no_gain_within_the_interval():
    text = answers.what_the_adversary_gains(mined(("KMember", "k=2", 100, 90, 110, 95)), LINKS).data
    assert "gains no more than the guess, within its 95 % interval" in text


def test_a_number_that_does_not_rise_is_not_said_to():
    noise = mined(
        ("LaplaceNoise", "epsilon=0.5", 500, 480, 520, 300), ("LaplaceNoise", "epsilon=0.1", 400, 390, 410, 310)
    )
    assert "measures the noise" not in answers.what_the_adversary_gains(noise, LINKS).data


def test_what_predictions_add():
    rows = [
        ("KMember", k, f"{gain}{suffix}", "", "s", value, NONE, NONE, NONE)
        for gain in ("accuracy_gain", "knowledge_gain")
        for k, values in (("k=2", (0.1, 0.13, 0.11)), ("k=9", (0.05, 0.04, 0.05)))
        for suffix, value in zip(("", "_with_predictions", "_with_random_labels"), values, strict=True)
    ]
    text = answers.what_predictions_add(results(*rows)).data
    assert "the accuracy gain by -0.0100 to +0.0300, upwards in 1 of 2 releases" in text
    assert "random labels change it by +0.0000 to +0.0100, upwards in 1." in text
