"""The answers about channels: from the results at hand alone."""

import pytest
from support.results_frame import made

from privnb.evaluation.results import join_results, tidy
from privnb.papers import findings
from privnb.papers.askari_2012 import small_channels
from privnb.papers.findings.channel import most_revealing

MISSING = float("nan")


@pytest.fixture(scope="module")
def small():
    spaces = [name for name in small_channels.SPACES if name != "section 5.3"]
    return join_results(
        small_channels.measure_appendix(), small_channels.measure_aims(), *map(small_channels.measure_space, spaces)
    )


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
def test_the_level_decides(small):
    answer = findings.random_levels(small)
    assert answer.given == {"spaces": 3, "lowest": 3, "suppressed": 0, "safer_loses_more": True}
    assert answer.data.startswith("Deterministic publishing does not by itself reduce privacy: the effect depends")
    assert "do not contain small tables" in findings.random_levels(small_channels.measure_appendix()).data


def test_the_claim_is_computed_from_the_results(small):
    """If suppression is easier to guess in one space, the claim and the loss of utility change."""
    other = small.copy()
    changed = (other.dataset == "askari: 2 rows, ages 2-1") & (other.sanitizer == "all suppressed")
    other.loc[changed & (other.measure == "bayes_risk"), "value"] = 0.2
    answer = findings.random_levels(other)
    assert answer.given == {"spaces": 3, "lowest": 3, "suppressed": 1, "safer_loses_more": False}
    assert "the effect depends on the level" not in answer.data


# Whole tables


def revealing(results, secret="identity"):
    return most_revealing(results[results.measure == f"{secret}_vulnerability"])


def test_the_worst_pair_by_question():
    who = revealing(sets())
    assert (who["names"], who["value"], who["baseline"]) == (["age", "town"], 0.05, 0.0005)
    assert who["setting"] == "the original"
    assert (who["every"]["value"], len(who["every"]["names"])) == (0.5, 3)
    assert who["releases"] == [{"setting": "Mondrian, k = 10", "at_most": 0.025}]
    what = revealing(sets(), "sensitive")
    assert (what["names"], what["target"], what["value"], what["baseline"]) == (["age", "sex"], "job", 0.4, 0.25)


def test_without_a_release_there_is_the_original_alone():
    assert revealing(sets(release=False))["releases"] == []


def test_one_attribute_and_withheld_numbers():
    results = sets()
    assert revealing(results[~results.knows.str.contains(",")])["names"] == ["age"]
    assert revealing(results.assign(value=MISSING)) is None


def test_a_withheld_number_is_compared_by_its_bound():
    results, few = sets(), ["age, town", "sex, town"]
    results.loc[results.knows.isin(few), ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    found = revealing(results)
    assert (found["names"], found["value"], found["low"], found["high"]) == (["age", "town"], None, 0.9787, 0.9987)
    assert found["releases"] == [{"setting": "Mondrian, k = 10", "at_most": 0.9987}]


def test_the_answer_guesses_the_table_and_then_each_row(small):
    answer = findings.leakage(join_results(small, sets(), family()))
    given = answer.given
    assert (given["guess"]["tables"], round(given["guess"]["value"], 2)) == (330, 0.12)
    assert (given["attributes"]["names"], given["attributes"]["value"]) == (["age", "town"], 0.05)
    worst = {each["family"]: (each["setting"], each["value"], each["baseline"]) for each in given["worst"]}
    assert worst["buckets"] == ("Buckets, k = 10", 0.5, 0.001)
    assert worst["generalization"][1] == 0.02
    assert given["impossible"] == ["Anatomy, l = 9"]
    first, second, *_ = answer.data.split("\n\n")
    assert "330 small tables with a probability of 12%; a blind guess" in first
    traced = "who knows age and town traces 5% of people to the right row; without any attribute, the share is 0.05%."
    assert traced in second
    assert "This table does not allow Anatomy, l = 9" in answer.data


def test_withheld_shares_are_bounds():
    results = family()
    one = (results.sanitizer == "Bucketize") & (results.measure != "bucket_vulnerability")
    results.loc[one, ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    answer = findings.leakage(results)
    worst = {each["family"]: each for each in answer.given["worst"]}
    assert (worst["buckets"]["value"], worst["buckets"]["low"], worst["noise"]["value"]) == (None, 0.9787, 0.04)
    assert "between 97% and 99.9% of people" in answer.data


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leakage", "random_levels"])
def test_what_lacks_rows_is_left_out(small, name):
    whole = join_results(small, sets(), family())
    parts = [whole.assign(**dict.fromkeys(["value", "low", "high", "baseline"], MISSING))]
    for column in ("measure", "sanitizer", "knows"):
        parts += [whole[whole[column] != each] for each in whole[column].unique()]
    for part in parts:
        assert getattr(findings, name)(part).data
