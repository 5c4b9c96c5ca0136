"""Policies as files: the ready ones say where their numbers come from, and what is no policy is refused in words."""

import pytest

from privnb.decision import policies
from privnb.decision.policies import Cap, Need, PolicyError, read

GOOD = """
title = "Ours"
source = "the owner"
recipient = "a hospital"
knows = "age"
min_class_size = 7

[[caps]]
risk = "identity"
statistic = "largest"
at_most = 0.1

[[needs]]
measure = "utility_loss"
"""


def parsed(text):
    return policies.parse_policy(text.encode(), "ours")


def test_a_policy_that_caps_the_attribute_risk_caps_certainty_at_nobody_unless_it_says_otherwise():
    attribute = GOOD.replace('"identity"\nstatistic = "largest"', '"attribute"')
    stated = '[[caps]]\nrisk = "certainty"\nat_most = 0.01\n'
    assert [str(cap) for cap in parsed(attribute).caps] == ["attribute: at most 10%", "certainty: nobody"]
    assert [str(cap) for cap in parsed(attribute + stated).caps] == ["attribute: at most 10%", "certainty: at most 1%"]
    assert [cap.risk for cap in parsed(GOOD).caps] == ["identity"]
    near = parsed(GOOD + stated.replace('"certainty"', '"near certainty"')).caps[-1]
    assert (near.measure, near.counted) == ("nearly_certain", True)
    with pytest.raises(PolicyError, match="a cap on certainty must apply to everybody"):
        parsed(GOOD + stated + 'group = "worst group"\n')
    for key in ("tolerance = 2", 'order = "any"', "near_certainty = 1"):
        with pytest.raises(PolicyError, match=key.partition(" ")[0]):
            parsed(f"{key}\n{GOOD}")


@pytest.mark.parametrize("name", policies.list_policy_names())
def test_ready_ones_state_source_convention_and_a_min_class_size_that_agrees_with_their_cap_of_identity(name):
    policy = read(name)
    assert policy.name == name
    assert all([policy.source, policy.recipient, policy.knows, policy.convention])
    assert policy.verified or "summary" in policies.files(policies.__name__).joinpath(f"{name}.toml").read_text()
    (identity,) = [cap for cap in policy.caps if cap.risk == "identity" and cap.statistic == "largest"]
    assert 1 / policy.min_class_size <= identity.most + 1e-12, "what the minimum class size allows keeps the cap"
    if identity.people:
        assert 1 / identity.people > identity.at_most, "people are named only where custom is looser than the letter"
        assert "by custom" in policy.convention.lower()


def test_a_file_of_the_owners_is_read_with_its_hash(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(GOOD)
    policy = read(path)
    assert (policy.name, policy.min_class_size, policy.needs) == ("ours", 7, (Need("utility_loss"),))
    assert (policy.caps, policy.verified) == ((Cap("identity", 0.1, "largest"),), False)
    assert policy.sha256 == parsed(GOOD).sha256 != parsed(GOOD + "\n").sha256
    path.write_text(GOOD.replace("0.1", "0.2"))
    assert read(path).sha256 != policy.sha256


def test_the_old_key_of_the_minimum_class_size_warns():
    with pytest.warns(DeprecationWarning, match="'floor' is now 'min_class_size'"):
        assert parsed(GOOD.replace("min_class_size", "floor")).min_class_size == 7
    with pytest.raises(PolicyError, match="unknown key, 'floor'"):
        parsed(f"floor = 7\n{GOOD}")


def test_a_threshold_read_as_a_group_is_kept_by_that_group():
    assert Cap("identity", 0.09, people=11).most == 1 / 11
    assert Cap("identity", 0.09, people=12).most == 0.09
    assert Cap("identity", 0.09).most == 0.09
    assert str(Cap("anti-utility", 0.5, group="worst group")) == "anti-utility in each group: at most 50%"
    assert Cap("anti-utility", 0.5).measure == "anti_utility_risk"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("at_most = 0.1", "at_most = 1.5", r"ours, caps 1': at_most must"),
        ("at_most = 0.1", 'at_most = "x"', r"ours, caps 1': at_most must"),
        ('risk = "identity"', 'risk = "identty"', r"ours, caps 1': risk must be one of"),
        ('statistic = "largest"', 'statistics = "largest"', r"has an unknown key, 'statistics'; .* Did you mean"),
        ("min_class_size = 7", "min_class_size = 1", "min_class_size must be a whole number of at least 2"),
        ("min_class_size = 7", "min_clas_size = 7", r"has an unknown key, 'min_clas_size'; .* Did you mean"),
        ('title = "Ours"', "", "lacks title"),
        ('title = "Ours"', "title = 3", "title must be"),
        ("[[caps]]", "[[needs]]", "lacks caps"),
        ('measure = "utility_loss"', 'measure = ""', "ours, needs 1"),
        ('measure = "utility_loss"', 'measure = "utility_loss"\nweight = 0', "weight must be"),
        ("[[caps]]", "caps = [3]\n[x]", "has an unknown key, 'x'"),
        ("min_class_size = 7", "min_class_size = ", "not a valid TOML file"),
    ],
)
def test_what_is_no_policy_is_refused_with_its_place(old, new, message):
    with pytest.raises(PolicyError, match=message):
        parsed(GOOD.replace(old, new, 1))


def test_an_unknown_name_lists_the_ready_ones(tmp_path):
    with pytest.raises(
        PolicyError, match=r"'ontario' is not a ready policy; the ready policies are all-five, .*ontario-2025"
    ):
        read("ontario")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.toml")
