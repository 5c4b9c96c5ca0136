"""Releases with equal numbers: the one with the stronger promise is chosen, and no other order changes."""

import pytest
from test_by_policy import POLICY, RELEASES, results

from privnb import decision
from privnb.decision.promises import is_stronger, list_promises
from privnb.privacy_models import DistinctDiversity, KAnonymity, TCloseness
from privnb.sanitizers import Identity, KMember, Mondrian

EQUAL = {"identity": 1 / 11, "attribute": (0.02, 0.01, 0.03), "cost": 0.2, "people": 11.0}
ENDS = {name: RELEASES[name] for name in ("Identity", "Suppress")}


def promise(*models):
    return list_promises([Mondrian(*models)]).popitem()[1]


@pytest.mark.parametrize(("strong", "weak"), [
    ([KAnonymity(10)], [KAnonymity(5)]),
    ([KAnonymity(5), DistinctDiversity(2, "job")], [KAnonymity(5)]),
    ([DistinctDiversity(3, "job")], [DistinctDiversity(2, "job")]),
    ([TCloseness(0.2, "job")], [TCloseness(0.4, "job")]),
])  # fmt: skip
def test_a_promise_with_more_models_or_stronger_bounds_is_stronger(strong, weak):
    assert is_stronger(promise(*strong), promise(*weak))
    assert not is_stronger(promise(*weak), promise(*strong))


def test_promises_about_different_models_are_not_compared():
    one, other = promise(KAnonymity(10)), promise(KAnonymity(5), DistinctDiversity(2, "job"))
    assert not is_stronger(one, other)
    assert not is_stronger(other, one)
    assert not is_stronger(one, one)
    assert list_promises([Identity()]) == {}
    assert list_promises([KMember(10)]) == {("KMember", "k=10"): one}


def test_a_release_is_replaced_only_by_one_whose_promise_includes_its_own():
    """t-closeness comes earlier than a larger k, but does not include k = 8."""
    made = [Mondrian(k=8), Mondrian(TCloseness(0.4, "job")), Mondrian(k=10)]
    promises = list_promises(made)
    releases = ENDS | {" ".join(key): EQUAL for key in promises}
    found = decision.decide(results(releases), POLICY, promises=promises)
    assert found.kept.parameters[:3].tolist() == ["k=10", "k=8", "t=0.4 job"]


@pytest.mark.parametrize(("second", "chosen"), [
    (EQUAL, "k=10"),
    (EQUAL | {"attribute": (0.02, 0.01, 0.031)}, "k=8"),  # another risk
    (EQUAL | {"cost": 0.2001}, "k=8"),  # another loss
])  # fmt: skip
def test_only_among_equal_numbers_the_stronger_promise_is_chosen(second, chosen):
    promises = list_promises([Mondrian(k=8), Mondrian(k=10)])
    releases = ENDS | {"Mondrian k=8": EQUAL, "Mondrian k=10": second}
    found = decision.decide(results(releases), POLICY, promises=promises)
    assert found.parameters == chosen
    assert decision.decide(results(releases), POLICY).parameters == "k=8", "without promises, the order stays"
    assert {found.without_chosen("The file breaks a rule.").parameters, chosen} == {"k=8", "k=10"}
