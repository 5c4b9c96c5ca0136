"""Which releases may be chosen: the minimum class size, and caps between the reference releases."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.results_frame import made

from privnb import decision, evaluation
from privnb.datasets.dataset import Dataset
from privnb.decision import check_caps, compute_caps
from privnb.decision.reasons import IS_ORIGINAL, LossComparison, Reason
from privnb.evaluation.results import join_results, tidy
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Bucketize, Identity, KMember, Mondrian, RandomizedResponse, Suppress

MISSING = float("nan")
FEW, ENOUGH = (MISSING, 1, 4), (MISSING, 5, 9)


def points(losses, min_class_size=5):
    """`{"KMember k=2": (privacy, utility, people)}`: who share the rarest combination, (value, low, high) or None."""
    rows = []
    for name, (*pair, people) in losses.items():
        setting = (*name.split(" ", 1), "")[:2]
        found = zip(("risk", "cost", "smallest_combination"), (*pair, people), strict=True)
        for measure, value in found:
            if value is not None:
                numbers = value if isinstance(value, tuple) else (value, MISSING, MISSING)
                better = "higher" if isinstance(value, tuple) else "lower"
                rows.append(made("town", *setting, 1, measure, "", "", *numbers, MISSING, better))
    names = {(*name.split(" ", 1), "")[:2]: name for name in losses}
    return decision.compute_points(
        tidy(rows), privacy="risk", utility="cost", min_class_size=min_class_size, names=names
    )


LOSSES = {
    "Identity": (0.01, 0.0, (50.0, MISSING, MISSING)),
    "Suppress": (0.0, 1.0, (400.0, MISSING, MISSING)),
    "KMember k=2": (0.001, 0.1, FEW),
    "KMember k=5": (0.002, 0.2, ENOUGH),
    "Mondrian k=20": (0.001, 0.3, (20.0, MISSING, MISSING)),
    "Noise": (0.0005, 0.05, None),
}


def test_the_original_and_what_is_below_the_min_class_size_are_compared_with_nothing():
    table = points(LOSSES).set_index("setting")
    assert table.refused.to_dict() == {
        "Identity": "original",
        "Suppress": "",
        "KMember k=2": "below",
        "KMember k=5": "",
        "Mondrian k=20": "",
        "Noise": "size_unknown",
    }
    assert table.status.to_dict() == {
        "Identity": "refused", "KMember k=2": "refused", "Noise": "refused",
        "Suppress": "efficient", "KMember k=5": "efficient", "Mondrian k=20": "efficient",
    }  # fmt: skip


def test_the_min_class_size_is_the_owners():
    strict = points(LOSSES, min_class_size=20).set_index("setting").refused
    assert strict["KMember k=5"] == "below"
    assert strict["Mondrian k=20"] == ""
    unsure = points(LOSSES, min_class_size=7).set_index("setting").refused["KMember k=5"]
    assert unsure == "perhaps_below"
    for min_class_size in (1, 0, 2.5, "5", True):
        with pytest.raises(ValueError, match="min_class_size must be a whole number of at least 2"):
            check_caps(min_class_size)


def test_without_a_min_class_size_nothing_is_recommended():
    table = points(LOSSES, min_class_size=None)
    assert table.refused.isna().all()
    assert table.set_index("setting").status["Identity"] == "efficient", "a comparison has all of them"
    with pytest.raises(ValueError, match="these points have no minimum class size"):
        decision.choose_by_losses(table, privacy_cap=1)


def test_the_least_losses_are_not_chosen_below_the_min_class_size():
    chosen = decision.choose_by_losses(points(LOSSES), privacy_cap=0.1)
    assert chosen.setting[0] == "KMember k=5"
    assert not chosen.setting.isin(["Identity", "KMember k=2", "Noise"]).any(), "nor named as an end or a knee"
    reasons = decision.list_excluded(points(LOSSES), privacy_cap=0.0015)
    assert next(iter(reasons)) == (Reason(IS_ORIGINAL),)
    assert reasons[LossComparison.of("above_cap", axis="privacy", cap=0.0015),] == ["KMember k=5"]
    assert sum(map(len, reasons.values())) == 4


def test_a_cap_is_a_share_of_the_way_between_the_ends():
    table = points(LOSSES)
    assert compute_caps(table, privacy=0.2) == {"privacy_cap": pytest.approx(0.002), "utility_cap": None}
    assert compute_caps(table, privacy=0, utility=0.25) == {"privacy_cap": None, "utility_cap": 0.25}
    ends = points(LOSSES | {"Identity": (np.inf, 0.0, FEW), "Suppress": (0.3, 1.0, ENOUGH)})
    assert compute_caps(ends, privacy=0.5)["privacy_cap"] == 0.3, "unbounded: nothing above what anybody knows"
    lower = points(LOSSES | {"Identity": (0.2, 0.0, FEW), "Suppress": (0.3, 1.0, ENOUGH)})
    assert compute_caps(lower, privacy=0.5)["privacy_cap"] == 0.3
    with pytest.raises(ValueError, match="the privacy loss of the release without quasi-identifiers is missing"):
        compute_caps(table[table.sanitizer != "Suppress"])


@pytest.mark.parametrize("wrong", [-0.1, 1.5, "0.1", True, np.inf, np.nan])
def test_caps_are_shares(wrong):
    with pytest.raises(ValueError, match=r"PRIVACY_CAP must be the largest privacy loss that you accept, .*; got "):
        check_caps(5, privacy=wrong)
    with pytest.raises(ValueError, match=r"UTILITY_CAP must be the largest utility loss that you accept, .*; got "):
        check_caps(5, utility=wrong)


# On tables


def dataset(table):
    """All columns are quasi-identifiers but the last, which is sensitive."""
    *known, secret = [
        Attribute(name, Role.QUASI_IDENTIFIER, Categories(tuple(sorted(set(values))))) for name, values in table.items()
    ]
    schema = Schema("people", (*known, replace(secret, role=Role.SENSITIVE)))
    return Dataset("people", table, schema, {each.name: flat(each) for each in known})


SIXES = dataset(pd.DataFrame({"job": [*"abcde"] * 6, "ill": ["yes", "no"] * 15}))


@pytest.fixture(scope="module")
def rare():
    """2,000 people of whom 2 % have the sensitive value, and half are alone by their quasi-identifiers: the accuracy
    gain of the original is at most 0.02, below every cap of 0.1.
    """
    draw = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "street": draw.integers(0, 1000, 2000).astype(str),
            "job": draw.choice(["nurse", "baker", "clerk"], 2000),
            "ill": np.where(np.arange(2000) % 50 == 0, "yes", "no"),
        }
    )
    return dataset(table)


FAMILY = [
    Identity(), Suppress(), KMember(2), Mondrian(KAnonymity(10)), Bucketize(Mondrian(KAnonymity(10))),
    RandomizedResponse(1.0),
]  # fmt: skip


@pytest.fixture(scope="module")
def measured(rare):
    found = [
        evaluation.measure_combinations(rare, FAMILY),
        evaluation.measure_adversary_gains(rare, FAMILY[:-1]),
        evaluation.measure_information_loss(rare, FAMILY[:-1]),
    ]
    return join_results(*found)


@pytest.mark.slow
def test_a_rare_sensitive_value_does_not_let_the_original_pass(measured):
    gains = measured[(measured.measure == "accuracy_gain") & (measured.sanitizer == "Identity")]
    assert gains.value.tolist() == [pytest.approx(0.02, abs=0.015)], "far below the cap of 0.1 that was the default"
    every = decision.compute_points(measured, privacy="accuracy_gain", utility="certainty_penalty").assign(refused="")
    for left, dangerous in ((every, "Bucketize"), (every[every.sanitizer != "Bucketize"], "Identity")):
        assert decision.choose_by_losses(left, privacy_cap=0.1).sanitizer[0] == dangerous, (
            "by a cap of 0.1 without a minimum class size"
        )
    releases = decision.compute_points(measured, privacy="accuracy_gain", utility="certainty_penalty", min_class_size=5)
    for accepted in ({}, {"privacy": 1}, {"privacy": 0}, {"privacy": 0, "utility": 1}):
        chosen = decision.choose_by_losses(releases, **compute_caps(releases, **accepted)).setting[0]
        assert chosen in ("Suppression", "Mondrian, k = 10"), accepted
    assert compute_caps(releases)["privacy_cap"] < 0.01


def test_the_smallest_combination_is_of_what_is_published(rare, measured):
    """Buckets and noise publish combinations of one: as exact as the original."""
    rows = measured[measured.measure == "smallest_combination"].set_index(["sanitizer", "parameters"])
    said = {name[0] + name[1][-4:]: (row.value, row.low, row.high) for name, row in rows.iterrows()}
    for name, (value, low, high) in said.items():
        if name in ("Suppress", "Mondriank=10"):
            assert value >= 10
        else:
            assert np.isnan(value)
            assert (low, high) == (1, 4), name
    alone = measured[measured.measure == "alone"].set_index("sanitizer").value
    counts = rare.table.groupby(["street", "job"]).size()
    assert alone["Identity"] == (counts == 1).sum() / 2000
    assert alone["Bucketize"] == alone["Identity"]
    assert alone["Suppress"] == 0


def test_a_size_below_the_limit_says_only_its_side_of_the_min_class_size(rare):
    for min_class_size, min_count, sizes in (
        (5, 10, (5, 9)),
        (7, 10, (1, 6)),
        (10, 10, (1, 9)),
        (5, 2, (6, 6)),
        (20, 10, (1, 9)),
    ):
        found = evaluation.measure_combinations(SIXES, [Identity()], min_class_size=min_class_size, min_count=min_count)
        row = found[found.measure == "smallest_combination"].iloc[0]
        assert (row.low, row.high) == sizes if min_count > 6 else row.value == 6, (min_class_size, min_count)


def test_rows_of_nobody_have_no_combination_of_people(rare):
    from privnb.evaluation.combination_sizes import Combinations
    from privnb.evaluation.evaluation_loop import Case, answer_case
    from privnb.microdata.treatment import Rows

    release = KMember(10).sanitize(rare, rng=1)
    object.__setattr__(release.provenance, "rows", Rows.SYNTHETIC)
    (row,) = answer_case(Combinations(), Case(rare, KMember(10), 1, release)).itertuples()
    assert (row.status, row.measure) == ("refused", "smallest_combination")


def test_an_original_whose_combinations_are_shared_is_still_the_original():
    """Every combination belongs to six people: only that it is the original stands in the way."""
    family = [Identity(), Suppress()]
    found = join_results(
        evaluation.measure_combinations(SIXES, family), evaluation.measure_information_loss(SIXES, family)
    )
    table = decision.compute_points(found, privacy="alone", utility="certainty_penalty", min_class_size=5)
    assert table.refused.tolist() == ["original", ""]


@pytest.mark.slow
def test_a_search_keeps_the_min_class_size():
    def evaluate(k):
        people = (float(k), MISSING, MISSING)
        rows = [("risk", (0.01, MISSING, MISSING), "lower"), ("cost", (k / 100, MISSING, MISSING), "lower")]
        rows.append(("smallest_combination", people, "higher"))
        return tidy(
            made("town", "KMember", f"k={k}", 1, name, "", "", *value, MISSING, better) for name, value, better in rows
        )

    tuned = decision.tune(evaluate, range(2, 66), 0.1, privacy="risk", utility="cost", min_class_size=12)
    assert tuned.value >= 12
    assert (tuned.releases.refused != "").any()
