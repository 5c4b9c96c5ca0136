"""What an analyst can ask for: which controls apply, what is filled in, and the sanitizer that is made of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from privnb.datasets.dataset import load
from privnb.explorer.setting import (
    FALLING,
    LETTERS,
    MODEL_BY_LETTER,
    STEPS,
    Setting,
    apply_roles,
    attacked_attribute,
    check_setting,
    exact_quasi_identifiers,
    inactive_controls,
    list_choices,
    make_sanitizer,
    why_not_mined,
)
from privnb.papers.li_li_2009.characteristics import build_people
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.catalogue import kinds

CLINIC = load(Path(__file__).parent.parent / "data" / "clinic" / "clinic.toml")
TOWNS = build_people((30, "north", "ill"), (10, "north", "well"), (50, "south", "well"), knows=("town",))
ALL = Setting(k=5, l=2, t=0.4, delta=2.0, epsilon=0.5)
THREE = "KAnonymity(k=5), FrequencyDiversity(l=2, sensitive='diagnosis'), "
THREE += "TCloseness(t=0.4, sensitive='diagnosis', distance='equal'), DeltaDisclosure(delta=2, sensitive='diagnosis')"
MADE = {
    "Mondrian": f"Mondrian({THREE})",
    "LocalRecoding": f"LocalRecoding({THREE})",
    "FullDomain": f"FullDomain({THREE}, suppress=0.05)",
    "TopDownSpecialization": f"TopDownSpecialization({THREE}, workload='diagnosis')",
    "KMember": f"KMember(k=5, start=0, models=({THREE.removeprefix('KAnonymity(k=5), ')}))",
    "Bucketize": f"Bucketize(partition=Mondrian({THREE}))",
    "Anatomy": "Anatomy(l=2, sensitive='diagnosis')",
    "LaplaceNoise": "LaplaceNoise(epsilon=0.5, sensitivity=None)",
    "GeometricNoise": "GeometricNoise(epsilon=0.5, sensitivity=None)",
    "RandomizedResponse": "RandomizedResponse(epsilon=0.5)",
    "Suppress": "Suppress(attributes='quasi-identifiers')",
    "Identity": "Identity()",
}


def test_every_sanitizer_of_the_package_can_be_asked_for():
    assert set(MADE) <= set(kinds())


@pytest.mark.parametrize("kind", MADE)
def test_the_sanitizer_that_is_made(kind):
    assert repr(make_sanitizer(replace(ALL, sanitizer=kind), CLINIC)) == MADE[kind]


def test_zero_asks_for_nothing():
    assert repr(make_sanitizer(Setting(k=3), CLINIC)) == "Mondrian(KAnonymity(k=3))"
    assert Setting(k=3, t=0.2).bounds == {"k": 3, "t": 0.2}
    assert Setting("LaplaceNoise", k=3, epsilon=2).bounds == {"epsilon": 2}
    with pytest.raises(ValueError, match="l must be a whole number of at least 2"):
        make_sanitizer(Setting("Anatomy"), CLINIC)


def test_every_step_of_every_slider_can_be_asked_for():
    assert set(STEPS) == set(LETTERS)
    for letter, steps in STEPS.items():
        asked = [step for step in steps if step]
        assert asked == sorted(set(asked), reverse=letter in FALLING), "to the right is stricter"
        assert steps[: len(steps) - len(asked)] in ((), (0,)), "off is leftmost"
        assert getattr(Setting(), letter) in steps, "the board starts on a step"
        for step in steps:
            kind = "LaplaceNoise" if letter == "epsilon" else "Mondrian"
            assert make_sanitizer(Setting(kind, **{letter: step}), CLINIC)


def test_a_whole_number_is_one_setting_however_it_is_written():
    assert check_setting(Setting(l=2.0, epsilon=1.0), CLINIC) == check_setting(Setting(l=2, epsilon=1), CLINIC)
    assert repr(make_sanitizer(Setting("LaplaceNoise", epsilon=1.0), CLINIC)).startswith("LaplaceNoise(epsilon=1,")


def test_what_was_checked_is_checked_anew_for_another_table_and_after_a_change():
    setting = check_setting(Setting(), CLINIC)
    assert check_setting(setting, CLINIC) is setting
    with pytest.raises(ValueError, match="k must be"):
        check_setting(replace(setting, k=0), CLINIC)
    with pytest.raises(ValueError, match="must be some of town"):
        check_setting(setting, TOWNS)


def test_names_are_filled_in_once():
    setting = check_setting(Setting(), CLINIC)
    assert setting.roles == ("age, weight, postcode, region", "diagnosis")
    assert check_setting(setting, CLINIC) == setting
    assert check_setting(Setting(quasi_identifiers="region , age"), CLINIC).quasi_identifiers == "age, region"
    known = check_setting(Setting(sensitive="region"), CLINIC)
    assert known.roles == ("age, weight, postcode", "region"), "a secret is not known"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sanitizer": "Mondrain"}, "SANITIZER must be one of Mondrian, .*'Mondrain'"),
        ({"k": 1}, "k must be a whole number of at least 2"),
        ({"l": 0.5}, "l must be a number above 1"),
        ({"t": 1.2}, "t must be a number above 0 and below 1"),
        ({"delta": -1}, "delta must be a positive number"),
        ({"epsilon": 0}, "epsilon must be a positive number"),
        ({"quasi_identifiers": "age, zip"}, "QUASI_IDENTIFIERS must be some of age, .*'zip'"),
        ({"quasi_identifiers": "patient"}, "QUASI_IDENTIFIERS must be some of"),
        ({"sensitive": "patient"}, "not published"),
        ({"quasi_identifiers": "age", "sensitive": "age"}, "cannot be both"),
        ({"quasi_identifiers": "diagnosis"}, "no sensitive attribute|cannot be both"),
        ({"miner": "naive bayes"}, "MINER must be one of"),
        ({"scenario": "D"}, "SCENARIO must be one of A, B, C; got 'D'"),
        ({"seed": -1}, "SEED must be a whole number of at least 0"),
    ],
)
def test_what_cannot_be_asked_for_says_what_can(change, message):
    with pytest.raises(ValueError, match=message):
        check_setting(Setting(**change), CLINIC)


def test_a_table_offers_what_it_can_have():
    offered = list_choices(CLINIC)
    assert offered["sanitizer"] == tuple(name for name, kind in kinds().items() if not kind.reads_file)
    assert offered["quasi_identifiers"] == ("age", "weight", "postcode", "region", "ward", "diagnosis")
    assert offered["sensitive"][0] == "diagnosis"
    assert {"naive Bayes", "decision tree", "majority"} <= set(offered["miner"])
    assert not {"linear regression", "gradient boosting", "fusion: vote"} & set(offered["miner"])
    made = {name: kind for name, kind in kinds().items() if not kind.reads_file}
    without = {*made} - {*list_choices(TOWNS)["sanitizer"]}
    assert without == {name for name, kind in made.items() if "numbers" in kind.changes}, "it has no number"
    with pytest.raises(ValueError, match="SANITIZER must be one of"):
        check_setting(Setting("LaplaceNoise"), TOWNS)


@pytest.mark.parametrize("kind", MADE)
def test_controls_that_a_sanitizer_does_not_read_say_why(kind):
    reasons = inactive_controls(Setting(kind, l=2), CLINIC)
    letters = kinds()[kind].letters
    assert set(reasons) - {"miner", "scenario"} == set(LETTERS) - set(letters)
    assert all(kind in reasons[letter] for letter in reasons if letter in LETTERS)
    assert ("miner" in reasons) == (kinds()[kind].treatment == "bucketized")
    # Naive Bayes guesses categories; where the original is published, nothing is left to guess.
    assert ("scenario" in reasons) == (kind in ("Bucketize", "Anatomy", "Identity", "LaplaceNoise", "GeometricNoise"))


def test_what_a_slider_changes_is_what_its_sanitizer_reads():
    """The letters of each class are true: another value makes another sanitizer, and of the others it makes none."""
    for kind, letters in ((name, each.letters) for name, each in kinds().items() if not each.reads_file):
        setting = replace(ALL, sanitizer=kind)
        for letter, other in {"k": 7, "l": 3, "t": 0.3, "delta": 1.5, "epsilon": 2}.items():
            same = make_sanitizer(replace(setting, **{letter: other}), CLINIC) == make_sanitizer(setting, CLINIC)
            assert same == (letter not in letters)


def test_another_miner_reads_noise():
    assert "adversary" in why_not_mined(Setting("LaplaceNoise"), CLINIC)
    assert why_not_mined(Setting("LaplaceNoise", miner="decision tree"), CLINIC) == {}
    assert list(why_not_mined(Setting(sensitive="ward"), CLINIC)) == []
    assert why_not_mined(Setting(sensitive="weight"), CLINIC) == {}, "its bands are predicted"
    assert attacked_attribute(Setting(), CLINIC) == "age"
    assert attacked_attribute(Setting("RandomizedResponse"), CLINIC) == "postcode", "age is published as it is"


def test_roles_that_are_the_datasets_own_change_nothing():
    assert apply_roles(CLINIC, Setting()) is CLINIC
    assert apply_roles(CLINIC, Setting(quasi_identifiers="region, postcode, weight, age")) is CLINIC


def test_roles_are_as_chosen():
    chosen = apply_roles(CLINIC, Setting(quasi_identifiers="age, ward", sensitive="region"))
    assert chosen.schema.quasi_identifiers == ["age", "ward"]
    assert chosen.schema.sensitive == ["region", "diagnosis"], "what the description calls sensitive stays so"
    assert chosen.schema.names("neutral") == ["weight", "postcode"]
    assert chosen.schema.names("identifier") == ["patient"]
    assert chosen.name == "clinic/clinic (known: age, ward; sensitive: region)"
    assert chosen.hierarchies["age"] is CLINIC.hierarchies["age"]
    release = make_sanitizer(Setting(k=5, sensitive="region"), chosen).sanitize(chosen, rng=1)
    assert set(release.table["ward"]) <= {"day", "night", "*"}
    assert release.provenance.claims[0].k == 5


def test_quasi_identifiers_taken_for_unknown_are_exposed():
    assert exact_quasi_identifiers(Setting(), CLINIC) == []
    assert exact_quasi_identifiers(Setting(quasi_identifiers="age, ward", sensitive="region"), CLINIC) == [
        "weight",
        "postcode",
        "region",
    ]
    bucketized = Setting("Anatomy", l=2, quasi_identifiers="age, ward", sensitive="region")
    assert exact_quasi_identifiers(bucketized, CLINIC) == ["weight", "postcode"]


def test_noise_needs_a_number_among_those_chosen():
    setting = Setting("LaplaceNoise", quasi_identifiers="postcode, region")
    with pytest.raises(SanitizationError, match="has no numeric quasi-identifier"):
        make_sanitizer(setting, CLINIC).sanitize(apply_roles(CLINIC, setting), rng=1)


def test_a_sanitizer_starts_with_the_bound_that_it_cannot_do_without():
    assert Setting().first_bounds("Anatomy") == {"l": 2}
    assert Setting(l=3).first_bounds("Anatomy") == {}
    assert Setting().first_bounds("KMember") == Setting().first_bounds("LaplaceNoise") == {}, "these are asked already"


def test_names_are_complete():
    assert set(MODEL_BY_LETTER) == set(LETTERS) - {"epsilon"}
