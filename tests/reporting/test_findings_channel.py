"""What the answers say of channels: from the results at hand alone, and nothing that they do not show."""

import pytest
from rows import made

from privnb.evaluation.results import join, tidy
from privnb.reporting import findings
from privnb.studies.askari_2012 import enumeration, small_channels

MISSING = float("nan")


@pytest.fixture(scope="module")
def small():
    spaces = [name for name in small_channels.SPACES if name != "section 5.3"]
    return join(small_channels.appendix(), small_channels.aims(), *map(small_channels.space, spaces))


def row(sanitizer, parameters, measure, value, target="job", baseline=MISSING, low=MISSING, high=MISSING):
    return made("place", sanitizer, parameters, 1, measure, "", target, value, low, high, baseline, "lower")


def sets(release=True):
    values = {"age": (0.01, 0.3), "sex": (0.001, 0.35), "town": (0.005, 0.31), "age, sex": (0.02, 0.4),
              "age, town": (0.05, 0.33), "sex, town": (0.01, 0.36), "age, sex, town": (0.5, 0.6)}  # fmt: skip
    rows = []
    for sanitizer, parameters, share in (("Identity", "", 1), ("Mondrian", "k=10", 0.5))[: 1 + release]:
        for known, (who, what) in values.items():
            rows.append(
                row(sanitizer, parameters, "identity_vulnerability", who * share, f"identity from {known}", 0.0005)
            )
            rows.append(row(sanitizer, parameters, "sensitive_vulnerability", what, f"job from {known}", 0.25))
    return tidy(rows)


def family(accuracy=0.15):
    rows = []
    for sanitizer, parameters, who in (("Mondrian", "k=10", 0.02), ("Bucketize", "partition=Mondrian k=10", 0.5)):
        what = "sensitive" if sanitizer == "Mondrian" else "bucket"
        rows += [
            row(sanitizer, parameters, "identity_vulnerability", who, "identity", 0.001),
            row(sanitizer, parameters, "sensitive_vulnerability", 0.4, baseline=0.25),
            row(sanitizer, parameters, f"{what}_additive_capacity", 0.2, baseline=0),
            row(sanitizer, parameters, "accuracy_gain", accuracy, baseline=0.01),
            row(sanitizer, parameters, "knowledge_gain", 0.2, baseline=0.01),
        ]
    rows.append(row("Bucketize", "partition=Mondrian k=10", "bucket_vulnerability", 0.4, baseline=0.25))
    rows.append(row("LaplaceNoise", "epsilon=1", "identity_vulnerability", 0.04, "identity", 0.001, 0.03, 0.05))
    rows.append(row("LaplaceNoise", "epsilon=1", "sensitive_vulnerability_at_most", 0.6, baseline=0.25))
    rows.append(row("Anatomy", "l=9, sensitive=job", "classes", MISSING) | {"status": "not possible"})
    return tidy(rows)


# Small tables


def test_how_likely_the_table_is(small):
    text = findings.how_likely_the_table_is_guessed(small).data
    assert "four tables went in with probability 0.4596**, without the release 0.25" in text
    assert "wrong with probability 0.5404; the uncertainty that is left allows at most 0.6881" in text
    assert "Who knew the table before is never wrong" in text
    assert (
        "Of 330 possible tables (tables of 4 rows, ages 4-2-1) the right one is guessed with probability 0.1187" in text
    )
    assert "39 times as likely" in text
    assert "0.111 instead of 0.008 for the table" in text
    assert "our reading of a *close* table" in text


def test_what_is_not_listed_is_not_told(small):
    assert findings.how_likely_the_table_is_guessed(small_channels.appendix()).data.count("**") == 2
    assert "no small tables" in findings.what_choosing_at_random_gains(small_channels.appendix()).data


def test_what_counts_is_the_level(small):
    text = findings.what_choosing_at_random_gains(small).data
    assert "Deterministic publishing as such does not reduce privacy: what counts is the level." in text
    assert "at random in 3 of 3 spaces" in text
    assert "deterministic, in 0. In tables of 4 rows, ages 4-2-1" in text
    assert "0.70303 (the lowest), 0.88131 (any level) and 0.98485 (all suppressed)" in text
    assert "0.55 (the lowest), 0.71 (any level) and 0.86 (all suppressed)" in text
    assert "In all 3 spaces what is harder to guess loses more" in text


def test_the_claim_is_of_these_results(small):
    """Were suppression easier to guess in one space, nothing would be said of the level, nor of what it costs."""
    other = small.copy()
    changed = (other.dataset == "askari: 2 rows, ages 2-1") & (other.sanitizer == "all suppressed")
    other.loc[changed & (other.measure == "bayes_risk"), "value"] = 0.2
    text = findings.what_choosing_at_random_gains(other).data
    assert "differs by space" in text
    assert "deterministic, in 1. In" in text
    assert "harder to guess loses more" not in text


def test_errata_one_by_one():
    errata = enumeration.errata()
    text = findings.erratum_by_erratum(errata).data
    assert text.count("\n\n") == len(errata)
    assert "1. **Eq. 3** (*wrong*)" in text
    assert "**0.515568, 0.540441**" in text
    assert "**300, 3528**" in text
    assert "`here`" not in text


def test_what_users_lose_is_told_by_what_they_knew():
    """0.70763 bits is what is lost without knowledge, as of `space`; who knew the ages had less to lose."""
    text = findings.what_users_lose(small_channels.users()).data
    assert "0.708 (knows nothing), 0.621 (knows the ages) and 0.664 (a population of both)" in text
    assert "tell of no users" in findings.what_users_lose(small_channels.appendix()).data


# Whole tables


def test_the_worst_pair_by_secret():
    who, what = findings.which_attributes_give_away(sets()).data.split("\n\n")
    assert "Of all pairs of attributes age and town tell most of which row is a person's" in who
    assert "probability 5%, without a release 0.05%" in who
    assert "With all 3 it is 50.0%" in who
    assert "With the same in the release it is at most 2.5% under Mondrian(k=10)" in who
    assert "age and sex tell most of a person's job" in what
    assert "40.0%, without a release 25.0%" in what


def test_without_a_release_only_the_original_is_told():
    assert "in the release" not in findings.which_attributes_give_away(sets(release=False)).data


def test_one_attribute_and_what_is_withheld():
    results = sets()
    one = results[~results.knows.str.contains(",")]
    text = findings.which_attributes_give_away(one).data
    assert "Of all attributes age tells most of which row is a person's" in text
    assert "pairs" not in text
    assert "as may be shown" in findings.which_attributes_give_away(results.assign(value=MISSING)).data


def test_what_misses_few_stands_at_its_bound():
    """It tells most, but how much may not be said, nor which of two such pairs does."""
    results, few = sets(), ["age, town", "sex, town"]
    results.loc[results.knows.isin(few), ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    text = findings.which_attributes_give_away(results).data
    assert "age and town are among those that tell most of which row is a person's" in text
    assert "with probability at least 97.8%, without a release 0.05%" in text
    assert "in the release it is at most 99.9%" in text


def test_withheld_ends_of_the_family_are_bounds(small):
    results = family()
    one = (results.sanitizer == "Bucketize") & (results.measure != "bucket_vulnerability")
    results.loc[one, ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    results.loc[results.variant == "at most", ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    text = findings.what_leaks(results).data
    assert "2% under generalization, at least 97.8% under buckets and 4% under noise" in text
    assert "40.0% (Mondrian(k=10)) to at least 97.8% (Bucketize(partition=Mondrian k=10))" in text
    assert "at most 99.9%, what the original tells" in text


def test_gains_are_leakage_or_differ():
    text = findings.how_gains_are_leakage(family()).data
    assert "in all 2 releases with classes or buckets" in text
    assert "largest accuracy gain here is 0.1500" in text
    text = findings.how_gains_are_leakage(family(accuracy=0.1)).data
    assert "differ by up to 0.05 in 2 releases" in text
    assert "are leakage" not in text
    assert "None of these releases" in findings.how_gains_are_leakage(sets()).data


def test_the_family_on_one_axis(small):
    text = findings.what_leaks(join(small, sets(), family())).data
    assert "2% under generalization, 50.0% under buckets and 4% under noise**; without a release with 0.1%" in text
    assert "4.3 (Mondrian(k=10)) to 9.0 (Bucketize(partition=Mondrian k=10))" in text
    assert "Of noise only a bound is known: at most 60.0%" in text
    assert "Anatomy(l=9, sensitive=job) cannot be had" in text
    assert "0.4596" in text
    assert "age and town tell most" in text
    assert "safe" not in text


def test_without_noise_nothing_is_said_of_it(small):
    results = family()
    results = results[~results.sanitizer.isin(["LaplaceNoise", "Anatomy"])]
    text = findings.what_leaks(join(small, sets(), results)).data
    assert "noise" not in text
    assert "cannot be had" not in text
