"""What the answers say of channels: from the results at hand alone, and nothing that they do not show."""

import pytest
from support.results_frame import finding, made

from privnb.evaluation.results import join, tidy
from privnb.papers import findings
from privnb.papers.askari_2012 import small_channels
from privnb.papers.askari_2012.enumeration import errata as paper_errata
from privnb.papers.findings.channel import most_revealing

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


@pytest.mark.slow
def test_what_counts_is_the_level(small):
    text = findings.random_levels(small).data
    assert text.startswith("**Deterministic publishing as such does not reduce privacy: what counts is the level.**")
    assert "easier to guess than a random one in 3 of 3 spaces, and always suppressing all in 0." in text
    assert "In all 3 spaces what is harder to guess loses more" in text
    assert "no small tables" in findings.random_levels(small_channels.appendix()).data


def test_the_claim_is_of_these_results(small):
    """Were suppression easier to guess in one space, nothing would be said of the level, nor of what it costs."""
    other = small.copy()
    changed = (other.dataset == "askari: 2 rows, ages 2-1") & (other.sanitizer == "all suppressed")
    other.loc[changed & (other.measure == "bayes_risk"), "value"] = 0.2
    text = findings.random_levels(other).data
    assert "differs by space" in text
    assert "always suppressing all in 1." in text
    assert "harder to guess loses more" not in text


@pytest.mark.slow
def test_errata_one_by_one():
    errata = paper_errata.errata()
    text = findings.errata(errata).data
    assert text.count("\n\n") == len(errata)
    assert "1. **Eq. 3** (*wrong*)" in text
    assert "**0.515568, 0.540441**" in text
    assert "**300, 3528**" in text
    assert "`here`" not in text


# Whole tables


def revealing(results, secret="identity"):
    return most_revealing(results[results.measure == f"{secret}_vulnerability"])


def test_the_worst_pair_by_secret():
    who = revealing(sets())
    assert (who.subject, who.value, who.setting) == (
        "Of any two attributes, age and town tell most of a person's row",
        0.05,
        "the original",
    )
    assert who.beside == {
        "without it": 0.0005,
        "all 3 attributes": "50% of people",
        "these two under Mondrian, k = 10, at most": 0.025,
    }
    what = revealing(sets(), "sensitive")
    assert (what.subject, what.value) == ("Of any two attributes, age and sex tell most of a person's job", 0.4)
    assert what.beside["without it"] == 0.25


def test_without_a_release_only_the_original_is_told():
    assert [*revealing(sets(release=False)).beside] == ["without it", "all 3 attributes"]


def test_one_attribute_and_what_is_withheld():
    results = sets()
    assert revealing(results[~results.knows.str.contains(",")]).subject == "Age tells most of a person's row"
    assert revealing(results.assign(value=MISSING)) is None


def test_what_misses_few_stands_at_its_bound():
    """It tells most, but how much may not be said."""
    results, few = sets(), ["age, town", "sex, town"]
    results.loc[results.knows.isin(few), ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    found = revealing(results)
    assert (found.subject, found.number) == (
        "Of any two attributes, age and town tell most of a person's row",
        "97% to 99.9% of people (withheld)",
    )
    assert found.beside["these two under Mondrian, k = 10, at most"] == 0.9987


def test_the_answer_guesses_the_table_and_then_each_row(small):
    said = findings.leakage(join(small, sets(), family()))
    assert said.data.startswith(
        "Knowing the algorithm, an adversary guesses the right one of 330 small tables with probability **12%** "
        "(a blind guess: 1 in 330). Here age and town lead to the row of **5% of people** (by "
        "chance: 0.05%)."
    )
    buckets = finding(said, "worst of buckets")
    assert (buckets.value, buckets.beside["without it"], buckets.setting) == (0.5, 0.001, "Buckets, k = 10")
    assert finding(said, "worst of generalization").value == 0.02
    assert "Anatomy, l = 9: not possible" in said.data


def test_withheld_ends_of_the_family_are_bounds():
    results = family()
    one = (results.sanitizer == "Bucketize") & (results.measure != "bucket_vulnerability")
    results.loc[one, ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    said = findings.leakage(results)
    assert finding(said, "worst of buckets").number == "97% to 99.9% of people (withheld)"
    assert finding(said, "worst of noise").value == 0.04


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leakage", "random_levels"])
def test_what_lacks_rows_is_left_out(small, name):
    whole = join(small, sets(), family())
    parts = [whole.assign(**dict.fromkeys(["value", "low", "high", "baseline"], MISSING))]
    for column in ("measure", "sanitizer", "knows"):
        parts += [whole[whole[column] != each] for each in whole[column].unique()]
    for part in parts:
        assert getattr(findings, name)(part).data
