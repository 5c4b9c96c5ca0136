"""The price of a policy: curves recomputed by hand from invented vectors."""

import numpy as np
import pytest
from support.results_frame import made

from privnb import decision
from privnb.decision.policies import Cap, Need, Policy
from privnb.decision.price import loss_by_cap, loss_by_people
from privnb.evaluation.results import tidy
from privnb.reporting import charts

POLICY = Policy(
    "ours", "Ours", "the owner", "a hospital", "age",
    caps=(Cap("identity", 0.1), Cap("linkability", 0.1)), needs=(Need("cost", 0.9),),
)  # fmt: skip
NAN = float("nan")
# identity and linkability as (value, low, high), the loss, and the smallest class
RELEASES = {
    ("Identity", ""): ((1, 1, 1), (1, 1, 1), 0.0, 50),
    ("Suppress", ""): ((0.01, 0.0, 0.02), (0.04, 0.01, 0.07), 1.0, 900),
    ("Mondrian", "k=10"): ((0.08, 0.07, 0.09), (0.05, 0.01, 0.09), 0.3, 20),
    ("Mondrian", "k=20"): ((0.04, 0.03, 0.05), (0.05, 0.02, 0.08), 0.5, 20),
    ("Mondrian", "k=30"): ((0.02, 0.01, 0.03), (0.09, 0.04, 0.14), 0.2, 30),  # breaks the cap on linkability
    ("Mondrian", "k=2"): ((0.001, 0.001, 0.001), (0.01, 0.01, 0.01), 0.1, 2),  # below the minimum class size
    ("KMember", "k=40"): ((0.01, 0.01, 0.01), (0.01, 0.01, 0.01), 0.95, 40),  # loses more than the need accepts
}


@pytest.fixture(scope="module")
def decided():
    rows = []
    for setting, (identity, linkability, cost, people) in RELEASES.items():
        for measure, numbers in (("identity_risk", identity), ("linkability_risk", linkability)):
            rows.append(made("town", *setting, 1, measure, "", "", *map(float, numbers), NAN, "lower"))
        for measure, value in (("cost", cost), ("smallest_combination", float(people))):
            rows.append(made("town", *setting, 1, measure, "", "", value, NAN, NAN, NAN, "lower"))
    return decision.decide(tidy(rows), POLICY, people=400)


def curve(frame, axis):
    return frame[frame.axis == axis][["at_most", "loss"]].round(6).to_numpy().tolist()


def test_each_cap_has_the_least_loss_under_the_other_caps(decided):
    found = loss_by_cap(decided)
    assert curve(found, "identity") == [[0.05, 0.5], [0.09, 0.3]]
    assert curve(found, "linkability") == [[0.08, 0.5], [0.09, 0.3], [0.14, 0.2]]
    assert set(found.cap) == {0.1}


def test_releases_that_may_not_be_chosen_are_left_out(decided):
    assert not loss_by_cap(decided).setting.str.contains("k = 2$|k = 40|Suppression").any()


def test_more_people_shrink_the_interval_and_not_the_risk(decided):
    """k=30 has a linkability of .09 with an upper end of .14: .09 + .05 / sqrt(m) is at most .1 from m = 25 on."""
    found = loss_by_people(decided).set_index("people").loss
    assert [*found.index] == [200, 400, 800, 1600, 3200, 6400, 12800, 25600]
    assert found.round(6).tolist() == [0.5, *[0.3] * 5, *[0.2] * 2]


def test_an_unknown_number_of_people_has_no_projection(decided):
    from dataclasses import replace

    assert loss_by_people(replace(decided, people=0)).empty


def test_charts_hold_these_points(decided):
    for draw, points in ((charts.loss_by_cap, loss_by_cap(decided)), (charts.loss_by_people, loss_by_people(decided))):
        spec = draw(decided).to_dict()
        rows = max(spec["datasets"].values(), key=len)
        assert np.allclose(sorted(row["loss"] for row in rows), sorted(points.loss))
