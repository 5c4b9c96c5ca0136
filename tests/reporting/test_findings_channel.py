"""What the answers say of channels: from the results at hand alone, and nothing that they do not show."""

import pytest
from rows import finding, made

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
    said = findings.table_guesses(small)
    example = finding(said, "guesses which of four tables went in")
    assert (round(example.value, 4), example.beside["without the release"]) == (0.4596, 0.25)
    assert round(example.beside["wrong"], 4) == 0.5404
    assert round(example.beside["the remaining uncertainty allows"], 4) == 0.6881
    assert "An adversary who knew the table before is never wrong" in example.note
    space = finding(said, "Of 330 possible tables (tables of 4 rows, ages 4-2-1)")
    assert round(space.value, 4) == 0.1187
    assert space.beside["times as likely as without the release"] == "39"
    aim = finding(said, "the best guess gains for the table")
    assert (round(aim.value, 3), round(aim.beside["without the release"], 3)) == (0.111, 0.008)
    assert "our reading of a *close* table" in said.data


def test_what_is_not_listed_is_not_told(small):
    assert len(findings.table_guesses(small_channels.appendix()).found) == 1
    assert "no small tables" in findings.random_levels(small_channels.appendix()).data


def test_what_counts_is_the_level(small):
    said = findings.random_levels(small)
    assert "Deterministic publishing as such does not reduce privacy: what counts is the level." in said.data
    assert finding(said, "always published at the lowest").number == "3 of 3 spaces"
    assert finding(said, "always published at all suppressed").number == "0 of 3 spaces"
    risk = finding(said, "The guess is wrong in tables of 4 rows, ages 4-2-1")
    assert [round(each, 5) for each in (risk.value, *risk.beside.values())] == [0.88131, 0.70303, 0.98485]
    lost = finding(said, "Utility lost per attribute")
    assert [round(each, 2) for each in (lost.value, *lost.beside.values())] == [0.71, 0.55, 0.86]
    assert "In all 3 spaces what is harder to guess loses more" in said.data


def test_the_claim_is_of_these_results(small):
    """Were suppression easier to guess in one space, nothing would be said of the level, nor of what it costs."""
    other = small.copy()
    changed = (other.dataset == "askari: 2 rows, ages 2-1") & (other.sanitizer == "all suppressed")
    other.loc[changed & (other.measure == "bayes_risk"), "value"] = 0.2
    said = findings.random_levels(other)
    assert "differs by space" in said.data
    assert finding(said, "always published at all suppressed").value == 1
    assert "harder to guess loses more" not in said.data


def test_errata_one_by_one():
    errata = enumeration.errata()
    text = findings.errata(errata).data
    assert text.count("\n\n") == len(errata)
    assert "1. **Eq. 3** (*wrong*)" in text
    assert "**0.515568, 0.540441**" in text
    assert "**300, 3528**" in text
    assert "`here`" not in text


def test_what_users_lose_by_what_they_knew():
    """0.70763 bits is what is lost without knowledge, as of `space`; who knew the ages had less to lose."""
    lost = finding(findings.user_losses(small_channels.users()), "(knows nothing)")
    assert round(lost.value, 3) == 0.708
    assert [round(each, 3) for each in lost.beside.values()] == [0.621, 0.664]
    assert "do not say what users lose" in findings.user_losses(small_channels.appendix()).data


# Whole tables


def test_the_worst_pair_by_secret():
    said = findings.revealing_attributes(sets())
    who = finding(said, "Age and town tell most of a person's row")
    assert (who.value, who.setting) == (0.05, "Identity")
    assert who.beside == {"without it": 0.0005, "all 3 attributes": "50.00% of people", "at most, Mondrian k=10": 0.025}
    what = finding(said, "Age and sex tell most of a person's job")
    assert (what.value, what.beside["without it"]) == (0.4, 0.25)


def test_without_a_release_only_the_original_is_told():
    assert "at most" not in findings.revealing_attributes(sets(release=False)).data


def test_one_attribute_and_what_is_withheld():
    results = sets()
    one = results[~results.knows.str.contains(",")]
    assert finding(findings.revealing_attributes(one), "Age tells most of a person's row").value > 0
    assert "as may be shown" in findings.revealing_attributes(results.assign(value=MISSING)).data


def test_what_misses_few_stands_at_its_bound():
    """It tells most, but how much may not be said, nor which of two such pairs does."""
    results, few = sets(), ["age, town", "sex, town"]
    results.loc[results.knows.isin(few), ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    found = finding(findings.revealing_attributes(results), "Age and town tell most of a person's row")
    assert found.note == "Other attributes tell as much."
    assert found.number == "97.87% to 99.87% of people (withheld)"
    assert found.beside["at most, Mondrian k=10"] == 0.9987


def test_withheld_ends_of_the_family_are_bounds(small):
    results = family()
    one = (results.sanitizer == "Bucketize") & (results.measure != "bucket_vulnerability")
    results.loc[one, ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    results.loc[results.variant == "at most", ["value", "low", "high"]] = MISSING, 0.9787, 0.9987
    said = findings.leakage(results)
    rows = finding(said, "traces a row at most")
    assert rows.number == "97.87% to 99.87% of people (withheld)"
    assert rows.beside["under generalization"] == "2.00% of people (Mondrian k=10)"
    assert rows.beside["under noise"] == "4.00% of people (LaplaceNoise epsilon=1)"
    assert finding(said, "is guessed right at most").number == "97.9% to 99.9% of people (withheld)"
    assert finding(said, "For noise only a bound is known").number == "97.9% to 99.9% of people (withheld)"


def test_gains_are_leakage_or_differ():
    said = findings.gains_as_leakage(family())
    assert finding(said, "gains are leakage of this channel").number == "2 of 2 releases with classes or buckets"
    assert finding(said, "Largest accuracy gain").value == pytest.approx(0.15)
    said = findings.gains_as_leakage(family(accuracy=0.1))
    assert finding(said, "Gains and leakage differ in 2 releases by up to").value == pytest.approx(0.05)
    assert "are leakage" not in said.data
    assert "None of these releases" in findings.gains_as_leakage(sets()).data


def test_the_family_on_one_axis(small):
    said = findings.leakage(join(small, sets(), family()))
    rows = finding(said, "traces a row at most")
    assert (rows.value, rows.beside["without it"]) == (0.5, 0.001)
    assert rows.beside["under buckets"] == "50.00% of people (Bucketize k=10)"
    assert rows.beside["in bits, each of which doubles the chance"] == "4.3 to 9.0"
    assert finding(said, "For noise only a bound is known").value == 0.6
    assert "Anatomy l=9 cannot be had" in said.data
    assert round(finding(said, "four tables").value, 4) == 0.4596
    assert finding(said, "Age and town tell most")
    assert "safe" not in said.data


def test_without_noise_nothing_is_said_of_it(small):
    results = family()
    results = results[~results.sanitizer.isin(["LaplaceNoise", "Anatomy"])]
    text = findings.leakage(join(small, sets(), results)).data
    assert "noise" not in text
    assert "cannot be had" not in text


@pytest.mark.parametrize(
    "name", ["gains_as_leakage", "leakage", "random_levels", "revealing_attributes", "table_guesses", "user_losses"]
)
def test_what_lacks_rows_is_left_out(small, name):
    whole = join(small, sets(), family(), small_channels.users())
    parts = [whole.assign(**dict.fromkeys(["value", "low", "high", "baseline"], MISSING))]
    for column in ("measure", "sanitizer", "knows"):
        parts += [whole[whole[column] != each] for each in whole[column].unique()]
    for part in parts:
        assert getattr(findings, name)(part).data
