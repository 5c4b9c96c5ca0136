"""The decision by a policy: recomputed by hand on made-up vectors, and what must never be chosen."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.results_frame import made

from privnb import decision
from privnb.decision import by_policy
from privnb.decision.policies import Cap, Need, Policy
from privnb.evaluation.results import tidy
from privnb.reporting import charts
from privnb.runtime.sentences import B

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


def test_the_least_loss_that_keeps_every_cap_is_chosen_and_all_others_say_why_not():
    found = decided(policy=LOSS)
    assert (found.sanitizer, found.parameters, found.runner_up) == ("Mondrian", "k=11", "Mondrian, k = 20")
    assert found.chosen.loss == pytest.approx(0.2 / 0.8)
    why = dict(found.ruled_out)
    assert why["the original"][0] == "it publishes the data as they are"
    assert len(why["the original"]) == 3
    assert why["Mondrian, k = 10"] == ["identity of the worst-off person is 10%, above the cap of 9.1%"]
    assert why["Mondrian, k = 25"] == ["attribute is 4% (95%: 2% to 6%), which may be above the cap of 5%"]
    assert why["k-member clustering, k = 30"] == ["attribute is unknown: no classes"]
    assert "99% of what there is to lose is lost, of at most 90%" in why["Full-domain recoding, k = 40"][0]
    assert "fewer than 5 people" in why["Local recoding, k = 50"][0]
    assert "2 of 9 releases keep the policy" in found.why
    assert set(found.releases.setting) == {"Mondrian, k = 11", "Mondrian, k = 20", *why}


def test_the_upper_end_of_what_is_lost_counts():
    """Users may lose at most 90% of 0.8, which is 0.72; by chance it is 0.7, between 0.6 and 0.74."""
    releases = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    for high, kept in ((0.71, True), (0.74, False)):
        found = decided(releases | {"Mondrian k=11": RELEASES["Mondrian k=11"] | {"cost": (0.7, 0.6, high)}})
        assert found.releases.set_index("setting").kept["Mondrian, k = 11"] == kept
    assert "92% of what there is to lose is lost, of at most 90%" in dict(found.ruled_out)["Mondrian, k = 11"][0]


@pytest.mark.parametrize(("error", "without", "kept"), [(0.2, 0.1, False), (0.2, 0.3, True), (0.04, 0.01, True)])
def test_a_release_that_misleads_about_the_sizes_of_groups_is_ruled_out(error, without, kept):
    """More wrong than no values at all, and by more than the smallest large group, which has 5% of people."""
    found = results(RELEASES)
    sizes = found[found.measure == "cost"].assign(measure="size_error", value=error, baseline=without)
    decided = decision.decide(pd.concat([found, sizes[sizes.parameters == "k=20"]]), LOSS)
    why = dict(decided.ruled_out).get("Mondrian, k = 20", [""])[-1]
    assert why.startswith("it misleads about the sizes of large groups, which it misses by 20% of people") == (not kept)
    assert ("Mondrian, k = 20" in [*decided.kept.setting]) == kept
    assert "Mondrian, k = 11" in [*decided.kept.setting]


def test_where_there_is_nothing_to_lose_what_is_worse_is_ruled_out():
    ends = {name: {**RELEASES[name], "cost": 0.1} for name in ("Identity", "Suppress", "Mondrian k=11")}
    found = results({**ends, "Mondrian k=20": {**RELEASES["Mondrian k=20"], "cost": 0.2}})
    decided = decision.decide(found, LOSS)
    assert [*decided.kept.loss] == [0.0, 0.0]
    assert dict(decided.ruled_out)["Mondrian, k = 20"] == ["cost is worse than without any quasi-identifier"]


def test_where_the_chosen_file_is_refused_the_runner_up_is_chosen_and_it_says_why():
    first = decided(policy=LOSS)
    found = first.without_chosen("It was lost.")
    assert (found.setting, found.runner_up) == (first.runner_up, "")
    assert "1 of 9 releases keeps the policy" in found.why
    assert dict(found.ruled_out)["Mondrian, k = 11"] == ["It was lost"]
    assert found.sentences[1] == "Mondrian, k = 11 was chosen before, and its file is refused: It was lost."
    assert (first.refused, first.setting) == ((), "Mondrian, k = 11"), "the first decision is as it was"
    last = found.without_chosen("It was lost too.")
    assert (last.chosen, [setting for setting, _ in last.refused]) == (None, ["Mondrian, k = 11", "Mondrian, k = 20"])
    assert "The nearest is " in last.sentences[3]
    with pytest.raises(ValueError, match="there is none to refuse"):
        last.without_chosen("It was lost.")


@pytest.mark.slow
def test_no_release_below_the_floor_nor_the_original_is_chosen_whatever_the_caps():
    loose = Policy("loose", "", "", "", "", caps=(Cap("identity", 1.0, "largest"),), needs=(Need("cost"),))
    assert decided(policy=loose).setting == "k-member clustering, k = 30"
    strict = Policy("floor", "", "", "", "", floor=45, caps=loose.caps, needs=loose.needs)
    assert decided(policy=strict).setting == "Suppression"
    nobody = {name: RELEASES[name] | {"people": 4.0} for name in RELEASES}
    found = decided(nobody, loose)
    assert found.chosen is None
    assert (found.sanitizer, found.runner_up) == ("none", "")
    assert found.why == "None of 9 releases keeps the policy."
    assert found.sentences[1].startswith("The nearest is ")


def test_of_several_draws_the_smallest_combination_counts_and_none_may_be_unknown():
    for people, why in (([30.0, 4.0], "its rarest combination"), ([30.0, MISSING], "how many people share its rarest")):
        drawn = {"identity": [0.01] * 2, "attribute": [0.0] * 2, "cost": [0.1] * 2, "people": people}
        names = ("Identity", "Suppress")
        found = decided({name: RELEASES[name] for name in names} | {"LaplaceNoise epsilon=1": drawn})
        assert dict(found.ruled_out)["Laplace noise, epsilon 1"][0].startswith(why)


def test_an_unknown_or_absent_risk_keeps_no_cap():
    policy = Policy("more", "", "", "", "", caps=(Cap("membership", 1.0),), needs=(Need("cost"),))
    found = decided(policy=policy)
    assert found.chosen is None
    # What is below the floor is ruled out by that alone: nothing more was to be measured of it.
    below = set(found.releases.setting[found.releases.status == "refused"])
    assert all("was not measured" in reasons[-1] for name, reasons in found.ruled_out if name not in below)
    assert all(len(reasons) == 1 for name, reasons in found.ruled_out if name in below)
    assert found.nearest_first.iloc[0].setting not in below


def test_a_cap_of_the_worst_group_reads_each_group():
    policy = Policy("groups", "", "", "", "", caps=(Cap("attribute", 0.1, group="worst group"),), needs=(Need("cost"),))
    releases = {name: RELEASES[name] for name in ("Identity", "Suppress")}
    releases["Mondrian k=11"] = RELEASES["Mondrian k=11"] | {"groups": {"race: a": 0.05, "race: b": 0.2}}
    releases["Mondrian k=20"] = RELEASES["Mondrian k=20"] | {"groups": {"race: a": 0.1, "race: b": 0.01}}
    found = decided(releases, policy)
    assert found.setting == "Mondrian, k = 20"
    assert dict(found.ruled_out)["Mondrian, k = 11"][0].startswith("attribute in each group (race: b) is 20%, above")


def test_of_several_sensitive_attributes_the_worst_counts_and_none_may_be_unknown():
    def of(target, setting, value, **more):
        return made("town", *setting, 1, "attribute_risk", "", target, value, MISSING, MISSING, 0, "lower", **more)

    found = results({name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20")})
    first, second = ("Mondrian", "k=11"), ("Mondrian", "k=20")
    unknown = {"status": "refused", "reason": "nobody's class is known"}
    others = [of("income", first, 0.2), of("income", second, MISSING, **unknown)]
    found = found.assign(target=found.target.where(found.measure != "attribute_risk", "job"))
    why = dict(decision.decide(pd.concat([found, tidy(others)]), POLICY).ruled_out)
    assert why["Mondrian, k = 11"] == ["attribute (income) is 20%, above the cap of 5%"]
    assert why["Mondrian, k = 20"] == ["attribute (income) is unknown: nobody's class is known"]


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
    assert "attribute is" in dict(found.ruled_out)["Laplace noise, epsilon 1"][0]
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
    with pytest.raises(ValueError, match="what is lost of 'cost' is counted between the original and Suppression"):
        decided({name: RELEASES[name] for name in ("Identity", "Mondrian k=11")})
    with pytest.raises(ValueError, match="a decision is about one dataset, got no rows"):
        decision.decide(results({}), POLICY)


def test_it_is_said_for_people_the_answer_first():
    said = decided(policy=LOSS).sentences
    assert said[0].replace(B, "").startswith("Mondrian, k = 11 is chosen under the policy Ours. 2 of 9")
    assert "The runner-up is Mondrian, k = 20." in said
    assert said[3][0] == "identity of the worst-off person: 9.1%, of at most 9.1%."
    (lists,) = [part for part in said[4:] if isinstance(part, list)]
    assert "attribute: 2 of 7 releases that keep the floor, unknown of 1 of them." in lists
    assert [line for line in lists if line.startswith(("the floor", "it is the original"))] == [
        "the floor of 5 people: 1.",
        "it is the original: 1.",
    ]
    assert "A digest" not in said[-1]
    assert said[-1].endswith("That no attack found more does not mean that there is none.")
    none = decided(policy=Policy("x", "X", "", "", "", caps=(Cap("membership", 1.0),), needs=POLICY.needs)).sentences
    assert "No release is chosen" in none[0]


@pytest.mark.slow
def test_how_much_of_each_cap_the_choice_uses_is_said():
    lenient = decided(
        {name: RELEASES[name] | {"identity": max(RELEASES[name]["identity"], 1 / 11)} for name in RELEASES}
    ).caps
    assert lenient == (
        "Caps of Ours, as we read it: identity of the worst-off person 9.1% of 9.1% (9% to the letter), "
        "attribute 2% of 5%, certainty 0% of 0%."
    )
    assert decided(policy=replace(POLICY, verified=True)).caps.startswith("Caps of Ours: identity")
    other = replace(POLICY, caps=(Cap("identity", 0.5, "largest"), Cap("attribute", 0.021)))
    assert decided(policy=other).caps.endswith(" of 50%, attribute 1% of 2.1%, certainty 0% of 0%.")
    none = Policy("x", "X", "", "", "", caps=(Cap("membership", 1.0),), needs=POLICY.needs)
    assert decided(policy=none).caps == ""


@pytest.mark.parametrize(
    ("certain", "said"),
    [
        ({11: 0.1, 20: 0.1}, "Full-domain recoding, k = 40 discloses nobody's and loses 90%."),
        ({11: 0.1}, "Mondrian, k = 20 discloses nobody's and loses 50%."),
        ({11: 0.1, 20: [0.0, 0.1], 40: 0.1}, "No other release that keeps the policy is known to disclose nobody's."),
        ({11: (MISSING, 0.001, 0.02)}, "Whether this release discloses a sensitive value with certainty is withheld"),
        ({20: 0.1, 40: 0.1}, ""),
    ],
)
def test_what_it_costs_that_nobodys_value_is_certain_is_said(certain, said):
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
    assert found.setting == "Mondrian, k = 11"
    assert said in found.certainty
    assert bool(found.certainty) == bool(said)
    assert not said or found.sentences[1] == found.certainty, "it is the first notice"


def test_of_how_many_people_the_value_is_certain_is_said():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11")}
    shares = [("job", 0.1), ("income", 0.4)]
    key = "town", "Mondrian", "k=11", 1, "made_certain", ""
    more = [made(*key, name, share, share, share, 0) for name, share in shares]
    policy = Policy("k", "K", "", "", "", caps=LOSS.caps[:1], needs=LOSS.needs)
    found = decision.decide(pd.concat([results(few), tidy(more)]), policy)
    start = "This release discloses the income of 40% of people and the job of 10% of people with certainty."
    assert found.certainty.startswith(start)


def test_certainty_is_capped_at_nobody_wherever_the_attribute_risk_is():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20")}
    few["Mondrian k=11"] = few["Mondrian k=11"] | {"certain": 0.01}
    found = decided(few, LOSS)
    assert found.setting == "Mondrian, k = 20"
    assert dict(found.ruled_out)["Mondrian, k = 11"] == ["certainty is 1%, above the cap of 0%"]
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
    why = dict(decided(drawn).ruled_out)
    assert why["Laplace noise, epsilon 1"] == ["certainty is 1%, above the cap of 0%"]


def test_a_lenient_reading_never_beats_an_outright_one():
    found = decided()
    assert (found.setting, found.runner_up) == ("Mondrian, k = 20", "Mondrian, k = 11")
    assert found.releases.lenient[:2].tolist() == [False, True]


def test_within_the_tolerance_of_the_least_loss_the_least_used_cap_is_chosen():
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11", "Mondrian k=20")}
    few["Mondrian k=20"] = few["Mondrian k=20"] | {"cost": 0.215}
    found = decided(few, LOSS)
    assert (found.setting, found.runner_up) == ("Mondrian, k = 20", "Mondrian, k = 11")
    assert "uses 60% of it, Mondrian, k = 11 100%" in found.why
    for other in (replace(LOSS, tolerance=0.01), replace(LOSS, order="loss")):
        assert decided(few, other).setting == "Mondrian, k = 11"


def test_vectors_between_the_ends():
    found = by_policy.scaled(by_policy.vectors(results(RELEASES), POLICY))
    assert found["Identity", ""].tolist() == [1, 1, 0, 0]
    assert found["Suppress", ""].tolist() == [0, 0, 0, 1]
    identity, attribute, _, loss = found["Mondrian", "k=20"]
    assert (identity, attribute, loss) == pytest.approx((0.049 / 0.999, 0.03 / 0.4, 0.5))
    assert np.isnan(found["KMember", "k=30"][1])


@pytest.mark.slow
def test_the_chart_of_a_decision_shows_each_release_by_its_loss_and_its_tightest_cap():
    chart = charts.within_caps(decided(policy=LOSS)).to_dict()
    assert chart["title"]["text"] == ["Mondrian, k = 11 is chosen from the 2 releases that keep the policy"]
    said = " ".join(chart["title"]["subtitle"])
    assert "Not drawn, as something is unknown: 1." in said, "k-member's attribute risk"
    below = {"Mondrian k=2": RELEASES["KMember k=30"] | {"people": 2.0}}
    said = " ".join(charts.within_caps(decided(RELEASES | below)).to_dict()["title"]["subtitle"])
    assert "Not drawn, as the floor rules them out: 1. " in said
    data = chart["datasets"][chart["layer"][1]["data"]["name"]]
    found = {row["setting"]: (row["state"], row["place"], row["loss"]) for row in data}
    assert found["the original"] == ("ruled out", 2, 0), "it is at 1,100% of the cap: drawn at the edge"
    assert found["Mondrian, k = 11"] == ("chosen", pytest.approx(1), pytest.approx(0.25))
    assert found["Mondrian, k = 20"] == ("keeps the policy", pytest.approx(0.6), pytest.approx(0.5))
    assert found["Mondrian, k = 25"] == ("ruled out", pytest.approx(1.2), pytest.approx(0.125))
    assert found["Full-domain recoding, k = 40"][0] == "ruled out", "of both caps nothing, but too much is lost"
    none = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=10")}
    assert charts.within_caps(decided(none)).to_dict()["title"]["text"] == ["No release keeps the policy"]
    unknown = {name: found | {"attribute": "nobody knows"} for name, found in RELEASES.items()}
    assert charts.within_caps(decided(unknown)).data == "None of these settings has a cap."


def test_a_cap_that_no_release_can_be_shown_to_keep_is_said_first():
    policy = Policy("m", "M", "", "", "", caps=(Cap("attribute", 0.1), Cap("certainty", 1.0)), needs=(Need("cost"),))
    few = {name: RELEASES[name] for name in ("Identity", "Suppress", "Mondrian k=11")}
    few["Suppress"] = few["Suppress"] | {"attribute": (0.06, 0.01, 0.11)}
    few["Mondrian k=11"] = few["Mondrian k=11"] | {"attribute": (0.16, 0.11, 0.21)}
    found = decision.decide(results(few), policy, people=1900)
    assert found.chosen is None
    assert found.sentences[1:4] == [
        "No release of this table can be shown to keep the cap of 10% on attribute: even without any quasi-identifier "
        "it is 6% (95%: 1% to 11%). With 1,900 people, the 95% interval spans ±5 percentage points.",
        "About 3,000 people would be needed to show it.",
        "The smallest cap that a release is shown to keep is 11% (Suppression).",
    ]
    few["Suppress"] = few["Suppress"] | {"attribute": (0.3, 0.2, 0.4)}
    said = decided(few, policy).sentences[1]
    assert said.startswith(
        "No release of this table keeps the cap of 10% on attribute: even without any quasi-identifier"
    )
    few["Mondrian k=11"] = few["Mondrian k=11"] | {"attribute": 0.05}
    assert decided(few, policy).unattainable == []
