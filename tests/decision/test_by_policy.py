"""The decision by a policy: recomputed by hand on made-up vectors, and what must never be chosen."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.explained import explained
from support.results_frame import made

from privnb import decision
from privnb.decision import by_policy, explanation, release_risks
from privnb.decision.policies import Cap, Need, Policy
from privnb.evaluation.results import tidy
from privnb.reporting import charts
from privnb.runtime.wording import write

MISSING = float("nan")
POLICY = Policy(
    "ours", "Ours", "the owner", "a hospital", "age",
    caps=(Cap("identity", 0.09, "largest", people=11), Cap("attribute", 0.05)), needs=(Need("cost", 0.9),),
)  # fmt: skip


# The cap to the letter, so that a group of 11 keeps it outright.
LOSS = replace(POLICY, caps=(Cap("identity", 1 / 11, "largest"), *POLICY.caps[1:]))


def results(releases):
    """`{"Mondrian k=10": {"identity": ..., "attribute": ..., "cost": ..., "people": ...}}`; numbers, (value, low,
    high), lists of these by seed, or text: why it is unknown.
    """
    rows = []
    for name, found in releases.items():
        setting = (*name.split(" ", 1), "")[:2]
        columns = {
            "identity": ("identity_risk", {"variant": "largest"}), "attribute": ("attribute_risk", {}),
            "cost": ("cost", {}), "people": ("smallest_combination", {}),
            "certain": ("made_certain", {}),
        }  # fmt: skip
        found = {"certain": 0.0} | found
        for key, (measure, more) in columns.items():
            values = found.get(key, MISSING)
            for seed, value in enumerate(values if isinstance(values, list) else [values], 1):
                why = value if isinstance(value, str) else ""
                numbers = value if isinstance(value, tuple) else (MISSING if why else value, MISSING, MISSING)
                more = more | ({"status": "refused", "reason": why} if why else {})
                rows.append(made("town", *setting, seed, measure, "", "", *numbers, MISSING, "lower", **more))
        for group, value in found.get("groups", {}).items():
            rows.append(
                made("town", *setting, 1, "attribute_risk", "", "", value, value, value, 0, "lower", group=group)
            )
    return tidy(rows)


RELEASES = {
    "Identity": {"identity": 1.0, "attribute": 0.4, "cost": 0.0, "people": 50.0},
    "Suppress": {"identity": 0.001, "attribute": 0.0, "cost": 0.8, "people": 900.0},
    "Mondrian k=10": {"identity": 0.1, "attribute": 0.01, "cost": 0.1, "people": 10.0},
    "Mondrian k=11": {"identity": 1 / 11, "attribute": 0.02, "cost": 0.2, "people": 11.0},
    "Mondrian k=20": {"identity": 0.05, "attribute": (0.02, 0.01, 0.03), "cost": 0.4, "people": 20.0},
    "Mondrian k=25": {"identity": 0.04, "attribute": (0.04, 0.02, 0.06), "cost": 0.1, "people": 25.0},
    "KMember k=30": {"identity": 0.03, "attribute": "no classes", "cost": 0.05, "people": 30.0},
    "FullDomain k=40": {"identity": 0.02, "attribute": 0.0, "cost": 0.7899, "people": 40.0},
    "LocalRecoding k=50": {"identity": 0.02, "attribute": 0.0, "cost": 0.76, "people": (MISSING, 1, 4)},
}  # fmt: skip


def decided(releases=RELEASES, policy=POLICY):
    return decision.decide(results(releases), policy)


def whys(found):
    """Return why each release is ruled out, as plain values: {setting: list of reasons}."""
    return {setting: [reason.data for reason in reasons] for setting, reasons in found.ruled_out}


def broken(risk, cap, is_surely_above, value, low, high):
    """Return the reason of a release that exceeds a cap."""
    named = {"risk": risk, "cap": cap, "is_surely_above": is_surely_above}
    numbers = {"value": value, "low": low, "high": high}
    return {"kind": "cap", **named, **{name: pytest.approx(each) for name, each in numbers.items()}}


def test_the_least_loss_that_keeps_every_cap_is_chosen_and_all_others_say_why_not():
    found = decided(policy=LOSS)
    assert (found.sanitizer, found.parameters, found.runner_up) == ("Mondrian", "k=11", "Mondrian, k = 20")
    assert found.chosen.loss == pytest.approx(0.2 / 0.8)
    why = whys(found)
    assert [each["kind"] for each in why["the original"]] == ["original", "cap", "cap"]
    assert why["Mondrian, k = 10"] == [broken("identity of the worst-off person", 1 / 11, True, 0.1, 0.1, 0.1)]
    assert why["Mondrian, k = 25"] == [broken("attribute", 0.05, False, 0.04, 0.02, 0.06)]
    unknown = {"kind": "cap", "risk": "attribute", "cap": 0.05, "is_surely_above": False, "why": "no classes"}
    assert why["k-member clustering, k = 30"] == [unknown]
    (lost,) = why["Full-domain recoding, k = 40"]
    assert (lost["kind"], lost["most"], lost["accepted"]) == ("lost", pytest.approx(0.987, abs=1e-3), 0.9)
    assert why["Local recoding, k = 50"][0] == {"kind": "below", "minimum": 5}
    assert explanation.explain_rule(found) | {"least": None} == {
        "rule": "least loss", "kept": 2, "releases": 9, "near_least": 1, "bare_used": pytest.approx(0.02, abs=0.02),
        "least": None,
    }  # fmt: skip
    assert set(found.releases.setting) == {"Mondrian, k = 11", "Mondrian, k = 20", *why}


def test_the_upper_end_of_what_is_lost_counts():
    """Users may lose at most 90% of 0.8, which is 0.72; by chance it is 0.7, between 0.6 and 0.74."""
    releases = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    for high, kept in ((0.71, True), (0.74, False)):
        found = decided(releases | {"Mondrian k=11": RELEASES["Mondrian k=11"] | {"cost": (0.7, 0.6, high)}})
        assert found.releases.set_index("setting").kept["Mondrian, k = 11"] == kept
    (lost,) = whys(found)["Mondrian, k = 11"]
    assert (lost["kind"], lost["most"]) == ("lost", pytest.approx(0.925))


@pytest.mark.parametrize(("error", "without", "kept"), [(0.2, 0.1, False), (0.2, 0.3, True), (0.04, 0.01, True)])
def test_a_release_that_misleads_about_the_sizes_of_groups_is_ruled_out(error, without, kept):
    """More wrong than no values at all, and by more than the smallest large group, which has 5% of people."""
    found = results(RELEASES)
    sizes = found[found.measure == "cost"].assign(measure="size_error", value=error, baseline=without)
    decided = decision.decide(pd.concat([found, sizes[sizes.parameters == "k=20"]]), LOSS)
    why = whys(decided).get("Mondrian, k = 20", [{}])[-1]
    assert (why == {"kind": "misleading", "missed": error, "bare": without}) == (not kept)
    assert ("Mondrian, k = 20" in [*decided.kept.setting]) == kept
    assert "Mondrian, k = 11" in [*decided.kept.setting]


def test_where_there_is_nothing_to_lose_what_is_worse_is_ruled_out():
    ends = {name: {**RELEASES[name], "cost": 0.1} for name in ("Identity", "Suppress", "Mondrian k=11")}
    found = results({**ends, "Mondrian k=20": {**RELEASES["Mondrian k=20"], "cost": 0.2}})
    decided = decision.decide(found, LOSS)
    assert [*decided.kept.loss] == [0.0, 0.0]
    assert whys(decided)["Mondrian, k = 20"] == [{"kind": "worse", "measure": "cost", "is_surely_worse": True}]


def test_where_the_chosen_file_is_refused_the_runner_up_is_chosen_and_it_says_why():
    first = decided(policy=LOSS)
    found = first.without_chosen("It was lost.")
    assert (found.setting, found.runner_up) == (first.runner_up, "")
    assert len(found.kept) == 1
    assert whys(found)["Mondrian, k = 11"] == [{"kind": "file_refused", "why": "It was lost"}]
    assert found.refused == (("Mondrian, k = 11", "It was lost."),)
    assert (first.refused, first.setting) == ((), "Mondrian, k = 11"), "the first decision is as it was"
    last = found.without_chosen("It was lost too.")
    assert (last.chosen, [setting for setting, _ in last.refused]) == (None, ["Mondrian, k = 11", "Mondrian, k = 20"])
    with pytest.raises(ValueError, match="`without_chosen` needs a chosen release"):
        last.without_chosen("It was lost.")


@pytest.mark.slow
def test_no_release_below_the_min_class_size_nor_the_original_is_chosen_whatever_the_caps():
    loose = Policy("loose", "", "", "", "", caps=(Cap("identity", 1.0, "largest"),), needs=(Need("cost"),))
    assert decided(policy=loose).setting == "k-member clustering, k = 30"
    strict = Policy("min_class_size", "", "", "", "", min_class_size=45, caps=loose.caps, needs=loose.needs)
    assert decided(policy=strict).setting == "Suppression"
    nobody = {name: RELEASES[name] | {"people": 4.0} for name in RELEASES}
    found = decided(nobody, loose)
    assert found.chosen is None
    assert (found.sanitizer, found.runner_up) == ("none", "")
    assert explanation.explain_rule(found) == {"rule": "none", "kept": 0, "releases": 9}


def test_of_several_draws_the_smallest_combination_counts_and_none_may_be_unknown():
    for people, why in (([30.0, 4.0], "below"), ([30.0, MISSING], "size_unknown")):
        drawn = {"identity": [0.01] * 2, "attribute": [0.0] * 2, "cost": [0.1] * 2, "people": people}
        names = ("Identity", "Suppress")
        found = decided({name: RELEASES[name] for name in names} | {"LaplaceNoise epsilon=1": drawn})
        assert whys(found)["Laplace noise, epsilon 1"][0]["kind"] == why


def test_an_unknown_or_absent_risk_keeps_no_cap():
    policy = Policy("more", "", "", "", "", caps=(Cap("membership", 1.0),), needs=(Need("cost"),))
    found = decided(policy=policy)
    assert found.chosen is None
    # A class below the minimum size rules a release out by that alone: nothing more was to be measured of it.
    below = set(found.releases.setting[found.releases.status == "refused"])
    assert all("not measured" in reasons[-1]["why"] for name, reasons in whys(found).items() if name not in below)
    assert all(len(reasons) == 1 for name, reasons in found.ruled_out if name in below)
    assert found.nearest_first.iloc[0].setting not in below


def test_a_cap_of_the_worst_group_reads_each_group():
    policy = Policy("groups", "", "", "", "", caps=(Cap("attribute", 0.1, group="worst group"),), needs=(Need("cost"),))
    releases = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    releases["Mondrian k=11"] = RELEASES["Mondrian k=11"] | {"groups": {"race: a": 0.05, "race: b": 0.2}}
    releases["Mondrian k=20"] = RELEASES["Mondrian k=20"] | {"groups": {"race: a": 0.1, "race: b": 0.01}}
    found = decided(releases, policy)
    assert found.setting == "Mondrian, k = 20"
    above = broken("attribute in each group (race: b)", 0.1, True, 0.2, 0.2, 0.2)
    assert whys(found)["Mondrian, k = 11"] == [above]


def test_of_several_sensitive_attributes_the_worst_counts_and_none_may_be_unknown():
    def of(target, setting, value, **more):
        return made("town", *setting, 1, "attribute_risk", "", target, value, MISSING, MISSING, 0, "lower", **more)

    found = results({name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20")})
    first, second = ("Mondrian", "k=11"), ("Mondrian", "k=20")
    unknown = {"status": "refused", "reason": "nobody's class is known"}
    others = [of("income", first, 0.2), of("income", second, MISSING, **unknown)]
    found = found.assign(target=found.target.where(found.measure != "attribute_risk", "job"))
    why = whys(decision.decide(pd.concat([found, tidy(others)]), POLICY))
    assert why["Mondrian, k = 11"] == [broken("attribute (income)", 0.05, True, 0.2, 0.2, 0.2)]
    assert [(each["risk"], each["why"]) for each in why["Mondrian, k = 20"]] == [
        ("attribute (income)", "nobody's class is known")
    ]


def test_seeds_widen_what_is_drawn_and_the_upper_end_counts():
    drawn = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    drawn["LaplaceNoise epsilon=1"] = {
        "identity": [0.01] * 3, "attribute": [0.01, 0.05, 0.09], "cost": [0.1, 0.2, 0.3], "people": 30.0
    }  # fmt: skip
    found = decided(drawn)
    row = found.vectors[(found.vectors.sanitizer == "LaplaceNoise") & (found.vectors.measure == "attribute_risk")].iloc[
        0
    ]
    assert (row.value, row.seeds) == (pytest.approx(0.05), 3)
    assert row.low < 0 < 0.14 < row.high
    assert found.chosen is None
    assert whys(found)["Laplace noise, epsilon 1"][0]["risk"] == "attribute"
    assert found.releases.set_index("setting").status["Laplace noise, epsilon 1"] == "undecided", "of too few seeds"


def test_dominance_is_over_the_whole_vector():
    low = np.array([[0.1, 0.1, 0.1], [0.2, 0.1, 0.1], [0.0, 0.5, 0.1], [0.05, 0.05, 0.05]])
    as_good, better = by_policy.beats(low, low)
    assert (as_good & better)[0].tolist() == [False, True, False, False]
    assert (as_good & better)[3].tolist() == [True, True, False, False]
    status = decided().releases.set_index("setting").status
    assert status["Mondrian, k = 10"] == "efficient", (
        "nothing that is sure loses less on one axis and no more on others"
    )
    assert (status["the original"], status["k-member clustering, k = 30"]) == ("refused", "undecided")


def test_losses_need_both_ends_and_one_dataset():
    with pytest.raises(ValueError, match="`results` must have 'cost' for the original and Suppression"):
        decided({name: RELEASES[name] for name in ("Identity", "Mondrian k=11")})
    with pytest.raises(ValueError, match="`results` must come from one dataset; got no rows"):
        decision.decide(results({}), POLICY)


def test_the_counts_state_how_many_releases_each_reason_rules_out():
    found = {(row["kind"], row["subject"]): row for row in explanation.count_ruled_out(decided(policy=LOSS))}
    assert {key: row["number"] for key, row in found.items()} == {
        ("measured", ""): 9, ("kept", ""): 2, ("cap", "identity of the worst-off person"): 1, ("cap", "attribute"): 2,
        ("minimum", ""): 1, ("original", ""): 1, ("loss", ""): 2,
    }  # fmt: skip
    assert found["cap", "attribute"]["unknown"] == 1


@pytest.mark.slow
def test_each_cap_of_a_risk_states_how_it_is_kept():
    """Custom reads 0.09 as one in 11, which exceeds it to the letter."""
    found = decided({name: RELEASES[name] | {"identity": max(RELEASES[name]["identity"], 1 / 11)} for name in RELEASES})
    own = results(RELEASES)
    axes = found.vectors[found.vectors.setting == found.setting]
    groups = {"shown": [], "withheld_by": {}}
    profile = release_risks.risk_of("identity", own[own.parameters == "k=11"], axes, found.policy, groups, None)
    (cap,) = profile["caps"]
    assert (cap["kept"], cap["lenient"], cap["written"]) == (True, True, 0.09)
    assert profile["verdict"] == {"is": "kept by the lenient reading", "groups_over": 0}


@pytest.mark.parametrize(
    ("certain", "state", "alternative"),
    [
        ({11: 0.1, 20: 0.1}, "yes", "Full-domain recoding, k = 40"),
        ({11: 0.1}, "yes", "Mondrian, k = 20"),
        ({11: 0.1, 20: [0.0, 0.1], 40: 0.1}, "yes", None),
        ({11: (MISSING, 0.001, 0.02)}, "withheld", None),
        ({20: 0.1, 40: 0.1}, "", None),
    ],
)
def test_a_release_that_discloses_a_value_has_an_alternative_that_does_not(certain, state, alternative):
    names = ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20", "FullDomain k=40")
    few = {name: RELEASES[name] for name in names}
    few["FullDomain k=40"] = few["FullDomain k=40"] | {"cost": 0.72}
    few["Suppress"] = few["Suppress"] | {"identity": 0.2}  # so that it does not keep the policy
    policy = replace(LOSS, caps=(*LOSS.caps[:2], Cap("certainty", 1.0)), order="loss")
    found = decided(
        {
            name: of_it | ({"certain": certain[k]} if (k := int(name.partition("=")[2] or 0)) in certain else {})
            for name, of_it in few.items()
        },
        policy,
    )
    assert (found.setting, found.chosen.certain) == ("Mondrian, k = 11", state if state else found.chosen.certain)
    assert (found.chosen.certain in ("yes", "withheld")) == bool(state)
    other = found.certain_free_alternative
    assert (None if other is None else other.setting) == alternative


def test_the_attributes_of_which_values_are_certain_have_their_shares_of_people():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11")}
    shares = [("job", 0.1), ("income", 0.4)]
    key = "town", "Mondrian", "k=11", 1, "made_certain", ""
    more = [made(*key, name, share, share, share, 0) for name, share in shares]
    policy = Policy("k", "K", "", "", "", caps=LOSS.caps[:1], needs=LOSS.needs)
    found = decision.decide(pd.concat([results(few), tidy(more)]), policy)
    assert found.chosen.made_certain == [("income", 0.4), ("job", 0.1)]


def test_certainty_is_capped_at_nobody_wherever_the_attribute_risk_is():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20")}
    few["Mondrian k=11"] = few["Mondrian k=11"] | {"certain": 0.01}
    found = decided(few, LOSS)
    assert found.setting == "Mondrian, k = 20"
    assert whys(found)["Mondrian, k = 11"] == [broken("certainty", 0, True, 0.01, 0.01, 0.01)]
    few["Mondrian k=20"] = few["Mondrian k=20"] | {"certain": (MISSING, 0.001, 0.01)}
    few["Suppress"] = few["Suppress"] | {"certain": "nobody's class is known"}
    found = decided(few, LOSS)
    assert found.chosen is None, "what is withheld is somebody's, and what is unknown keeps no cap"


def test_certainty_counts_the_worst_seed_and_no_interval():
    drawn = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    noise = {"identity": 0.01, "attribute": 0.01, "cost": 0.1, "people": 30.0}
    drawn["LaplaceNoise epsilon=1"] = noise | {"certain": [(0.0, 0.0, 0.001)] * 3}
    assert decided(drawn).setting == "Laplace noise, epsilon 1"
    drawn["LaplaceNoise epsilon=1"] = noise | {"certain": [0.0, 0.0, 0.01]}
    assert whys(decided(drawn))["Laplace noise, epsilon 1"] == [broken("certainty", 0, True, 0.01, 0.01, 0.01)]


def test_a_lenient_reading_never_beats_an_outright_one():
    found = decided()
    assert (found.setting, found.runner_up) == ("Mondrian, k = 20", "Mondrian, k = 11")
    assert found.releases.lenient[:2].tolist() == [False, True]


def test_within_the_tolerance_of_the_least_loss_the_least_used_cap_is_chosen():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20")}
    few["Mondrian k=20"] = few["Mondrian k=20"] | {"cost": 0.215}
    found = decided(few, LOSS)
    assert (found.setting, found.runner_up) == ("Mondrian, k = 20", "Mondrian, k = 11")
    why = explanation.explain_rule(found)
    assert (why["rule"], why["near_least"], why["least"]["setting"]) == ("lower risk", 2, "Mondrian, k = 11")
    assert (why["least"]["used"], found.chosen.used) == (pytest.approx(1), pytest.approx(0.6))
    for other in (replace(LOSS, tolerance=0.01), replace(LOSS, order="loss")):
        assert decided(few, other).setting == "Mondrian, k = 11"


@pytest.mark.parametrize(("identity", "attribute", "by_chance"), [
    (0.01, (0.02, -0.01, 0.045), True),  # both intervals overlap
    (0.01, (0.045, 0.042, 0.048), False),
    (0.085, (0.02, -0.01, 0.045), False),  # the identity risk, the tightest cap, has no interval
])  # fmt: skip
def test_a_difference_in_the_use_of_a_cap_is_within_chance_where_the_intervals_overlap(identity, attribute, by_chance):
    few = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    few["Mondrian k=11"] = {"identity": identity, "attribute": attribute, "cost": 0.2, "people": 11.0}
    few["Mondrian k=20"] = {"identity": 0.01, "attribute": (0.0, -0.02, 0.02), "cost": 0.21, "people": 20.0}
    few["Mondrian k=25"] = {"identity": 0.01, "attribute": (0.0, -0.02, 0.01), "cost": 0.3, "people": 25.0}
    found = decided(few, LOSS)
    least = explanation.explain_rule(found)["least"]
    assert (found.setting, least["setting"], least["is_chance"]) == ("Mondrian, k = 20", "Mondrian, k = 11", by_chance)
    assert least["tightest"] == ("attribute" if identity < 0.05 else "identity of the worst-off person")
    _, after = explanation._next(found)["next"]
    assert (after["setting"], after["is_beyond"]) == ("Mondrian, k = 25", True)
    text = " ".join(map(str, write("decision/decision", "why", explained(why=explanation.explain_rule(found)))))
    assert ("This difference is within chance" in text) == by_chance


def test_stricter_caps_require_the_measured_release_of_least_loss_that_keeps_them_with_all_others():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=20")}
    few["Mondrian k=11"] = RELEASES["Mondrian k=11"] | {"attribute": (0.0, -0.01, 0.03)}
    found = decided(few, replace(LOSS, needs=(Need("cost"),)))
    person = results(few).query("measure == 'attribute_risk'").assign(variant="largest", value=0.7, high=MISSING)
    person.loc[person.sanitizer == "Suppress", "value"] = 0.4
    stricter = {each["subject"]: each for each in explanation.list_stricter(found, person)}
    assert [*stricter] == ["identity of the worst-off person", "attribute", "attribute of the worst-off person"]
    identity, attribute, worst = (
        [([*map(pytest.approx, step["caps"])], step["is_kept"], step["other"] and step["other"]["setting"])
         for step in each["steps"]]
        for each in stricter.values()
    )  # fmt: skip
    assert identity == [([0.75 / 11], False, "Mondrian, k = 20"), ([0.5 / 11, 0.25 / 11], False, "Suppression")]
    assert attribute == [([0.0375], True, None), ([0.025, 0.0125], False, "Suppression")]
    assert worst == [([0.5], False, "Suppression"), ([0.25], False, None)]
    text = str(write("decision/decision", "stricter", explained(stricter=[*stricter.values()])))
    assert ". Caps of 2.5% and 1.2% would require Suppression, at a utility loss of 100%." in text
    assert "The policy sets no cap on the attribute risk of the worst-off person, which is 70%." in text
    assert "No measured release that complies with the policy meets a cap of 25%." in text


def test_vectors_between_the_ends():
    found = by_policy.scale_vectors(by_policy.compute_vectors(results(RELEASES), POLICY))
    assert found["Identity", ""].tolist() == [1, 1, 0, 0]
    assert found["Suppress", ""].tolist() == [0, 0, 0, 1]
    identity, attribute, _, loss = found["Mondrian", "k=20"]
    assert (identity, attribute, loss) == pytest.approx((0.049 / 0.999, 0.03 / 0.4, 0.5))
    assert np.isnan(found["KMember", "k=30"][1])


def test_the_chart_of_the_caps_shows_the_chosen_release_first():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11")}
    few["Mondrian k=20"] = RELEASES["Mondrian k=20"] | {"cost": 0.215}
    found = decided(few, LOSS)
    assert found.nearest_first.setting.iloc[0] == "Mondrian, k = 11", "the least loss"
    y = charts.caps(found).to_dict()["spec"]["layer"][1]["encoding"]["y"]
    assert y["sort"][:2] == [found.setting, "Mondrian, k = 11"]


@pytest.mark.slow
def test_the_chart_of_a_decision_shows_each_release_by_its_loss_and_its_tightest_cap():
    chart = charts.within_caps(decided(policy=LOSS)).to_dict()
    assert chart["title"]["text"] == ["The policy chooses Mondrian, k = 11"]
    said = " ".join(chart["title"]["subtitle"])
    assert "Releases without a known loss or risk are not drawn." in said, "k-member's attribute risk"
    below = {"Mondrian k=2": RELEASES["KMember k=30"] | {"people": 2.0}}
    said = " ".join(charts.within_caps(decided(RELEASES | below)).to_dict()["title"]["subtitle"])
    assert "Releases whose classes are too small or without a known loss or risk are not drawn." in said
    data = chart["datasets"][chart["layer"][1]["data"]["name"]]
    found = {row["setting"]: (row["state"], row["place"], row["loss"]) for row in data}
    assert found["the original"] == ("ruled out", 2, 0), "it is at 1,100% of the cap: drawn at the edge"
    assert found["Mondrian, k = 11"] == ("chosen", pytest.approx(1), pytest.approx(0.25))
    assert found["Mondrian, k = 20"] == ("keeps the policy", pytest.approx(0.6), pytest.approx(0.5))
    assert found["Mondrian, k = 25"] == ("ruled out", pytest.approx(1.2), pytest.approx(0.125))
    assert found["Full-domain recoding, k = 40"][0] == "ruled out", "of both caps nothing, but too much is lost"
    none = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=10")}
    assert charts.within_caps(decided(none)).to_dict()["title"]["text"] == ["No release complies with the policy"]
    unknown = {name: found | {"attribute": "nobody knows"} for name, found in RELEASES.items()}
    assert charts.within_caps(decided(unknown)).data == "None of these settings has a cap."


def test_a_cap_that_no_release_can_be_shown_to_keep_is_unattainable():
    policy = Policy("m", "M", "", "", "", caps=(Cap("attribute", 0.1), Cap("certainty", 1.0)), needs=(Need("cost"),))
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11")}
    few["Suppress"] = few["Suppress"] | {"attribute": (0.06, 0.01, 0.11)}
    few["Mondrian k=11"] = few["Mondrian k=11"] | {"attribute": (0.16, 0.11, 0.21)}
    found = decision.decide(results(few), policy, people=1900)
    assert found.chosen is None
    (attribute,) = found.unattainable
    assert (attribute["subject"], attribute["cap"], attribute["people"]) == ("attribute", 0.1, 1900)
    assert (attribute["is_surely_above"], attribute["people_needed"]) == (False, 3000)
    assert attribute["bare"] == {"value": 0.06, "low": 0.01, "high": 0.11}
    assert attribute["least"] == {"setting": "Suppression", "high": 0.11}
    few["Suppress"] = few["Suppress"] | {"attribute": (0.3, 0.2, 0.4)}
    assert decided(few, policy).unattainable[0]["is_surely_above"]
    few["Mondrian k=11"] = few["Mondrian k=11"] | {"attribute": 0.05}
    assert decided(few, policy).unattainable == []
