"""Every sanitizer measured for the frontier: which releases, how often, and that what is said of them is so."""

import re

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.results_frame import made

from privnb import decision, evaluation, papers, sanitizers
from privnb.datasets.dataset import Dataset, load
from privnb.decision import policy_search, recommended
from privnb.decision.explanation import explain_decision
from privnb.decision.policies import read
from privnb.evaluation import parameters, profiles, sanitizer_family, trade_off as losses
from privnb.evaluation.profiles import Profile
from privnb.evaluation.results import (
    KEY_COLUMNS,
    SETTING_COLUMNS,
    build_row,
    describe_setting,
    join_results,
    name_setting,
    tidy,
)
from privnb.evaluation.sanitizer_family import MEASURES, _as_lower_bounds
from privnb.measures import measure_facts
from privnb.measures.disclosure.tradeoff import utility_loss
from privnb.measures.utility import populations
from privnb.measures.utility.populations import LargePopulations
from privnb.microdata.schema import Role
from privnb.microdata.treatment import UNTRUE
from privnb.papers import ledger
from privnb.privacy_models import KAnonymity
from privnb.reporting import gallery, run_notes
from privnb.reporting.findings import published_columns
from privnb.reporting.run_notes import show_notes
from privnb.sanitizers import Identity, KMember, LocalRecoding, Mondrian, SanitizationError, Suppress

SETTINGS = {"k": "5, 20", "l": "2, 3", "t": "0.3, 0.5", "delta": "2", "epsilon": "1"}
AXES = {"privacy": "accuracy_gain", "utility": "utility_loss"}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("releases_once")]


@pytest.fixture(scope="module", autouse=True)
def here():
    """Tasks run in this process, one by one; and a profile that measures everything with few settings."""
    few = {**SETTINGS, "k": "5", "miners": "naive Bayes", "all": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "run_tasks", lambda tasks, store, description: [task() for task in tasks])
        patch.setitem(
            profiles.PROFILES, "small", Profile({}, {"majority": 1}, {}, workloads={"naive Bayes": (1, 3)}, family=few)
        )
        yield


@pytest.fixture(scope="module")
def people():
    return load("adult", "li-li", records=300)


@pytest.fixture(scope="module")
def family(people):
    return sanitizer_family.build_family(people, **SETTINGS)


@pytest.fixture(scope="module")
def results(people, family):
    return sanitizer_family.evaluate_family(people, family, *AXES.values())


@pytest.fixture(scope="module")
def everything(people):
    """All measures, of one seed; of each sanitizer one setting per letter."""
    family = sanitizer_family.build_family(people, profile="small", l="2", t="0.3")
    return sanitizer_family.evaluate_family(people, family, profile="small", seeds=1)


def of(results, sanitizer, measure):
    named = (results.sanitizer == type(sanitizer).__name__) & (results.parameters == sanitizer.changed_params())
    return results[named & (results.measure == measure)]


def spoken(results, family):
    """Those of which the accuracy gain can be said; of the others its row gives the reason."""
    refused = {each: of(results, each, "accuracy_gain").query("status == 'refused'") for each in family}
    assert all(rows.reason.str.len().all() and rows.value.isna().all() for rows in refused.values())
    return [each for each in family if refused[each].empty]


# Which releases


def test_every_sanitizer_of_the_package_is_there(people, family):
    package = {
        name for name in sanitizers.__all__ if name not in ("Sanitizer", "SanitizationError") and name[0].isupper()
    }
    alone = {name for name in package if getattr(sanitizers, name).changes == "two numbers"}
    given = {name for name in package if getattr(sanitizers, name).reads_file}
    assert {type(each).__name__ for each in family} == package - alone - given, "age is the only number"
    assert len(set(family)) == len(family)
    slow = [each for each in family if type(each).__name__ in ("KMember", "FullDomain")]
    assert {each.changed_params().split(",")[0] for each in slow} == {"k=5", "k=20"}
    full = [repr(each) for each in sanitizer_family.build_family(people, profile="small")]
    assert sum("KMember(k=5" in each for each in full) == 1 + 2 + 2 + 1  # k; l, t and delta with the smallest k


def test_profiles_are_complete():
    for profile in (profiles.PROFILES[name] for name in ("quick", "full")):
        assert set(profile.family) == {*SETTINGS, "miners", "all"}
    quick, full = (profiles.PROFILES[name].family for name in ("quick", "full"))
    for letter in SETTINGS:
        assert set(quick[letter].split(", ")) <= set(full[letter].split(", ")), "what is there in quick is in full"


def test_each_release_has_both_losses_and_randomised_ones_ten_seeds(family, results):
    assert not results.duplicated(KEY_COLUMNS).any()
    for sanitizer in spoken(results, family):
        for measure in AXES.values():
            rows = of(results, sanitizer, measure)
            rows = rows[rows.miner.isin(["", "worst"]) & ((measure != "accuracy_gain") | (rows.miner == "worst"))]
            # Miners read what has no classes, and are repeated as what is random is.
            mined = measure == "accuracy_gain" and type(sanitizer).treatment in UNTRUE
            repeated = list(range(1, 11)) if sanitizer.randomized or mined else [1]
            assert rows.seed.tolist() == repeated, (sanitizer, measure)
    points = decision.compute_points(results, **AXES)
    assert len(points) == len(family), "of what has no gain the page says that"
    assert decision.are_comparable(points[points.privacy.notna()]).all()


def test_the_worst_adversary_is_the_exact_one_or_the_best_miner_who_may_also_guess_the_commonest(family, results):
    gains = results[results.measure == "accuracy_gain"]
    assert set(gains.miner) == {"", "worst", "naive Bayes", "random tree"}
    for sanitizer in spoken(results, family):
        wide = of(gains, sanitizer, "accuracy_gain").pivot_table(index="seed", columns="miner", values="value")
        noisy = type(sanitizer).treatment in UNTRUE
        assert set(wide) == ({"naive Bayes", "random tree", "worst"} if noisy else {"", "worst"})
        best = wide.drop(columns="worst").max(axis=1)
        assert (wide["worst"] == (best.clip(lower=0) if noisy else best)).all()
        highs = of(gains, sanitizer, "accuracy_gain").query("miner == 'worst'").high
        assert (np.isposinf(highs) if noisy else highs.isna()).all(), sanitizer


def test_a_miner_below_the_commonest_value_reaches_0():
    rows = [
        made("town", name, "", 1, "accuracy_gain", miner, "job", value, np.nan, np.nan, base, "lower")
        for name, miner, value, base in (
            ("LaplaceNoise", "tree", -0.2, -0.1), ("LaplaceNoise", "bayes", 0.1, 0.05), ("Noise", "tree", -0.2, -0.1),
            ("Exact", "", -0.2, -0.1),
        )
    ]  # fmt: skip
    found = _as_lower_bounds(tidy(rows))
    assert found.value.tolist() == [0, 0.1, 0, -0.2]
    assert found.baseline.tolist() == [0, 0.05, 0, -0.1]
    assert found.high.tolist()[:3] == [np.inf] * 3
    assert np.isnan(found.high[3])


def test_noise_dominates_nothing_and_keeps_no_cap(results):
    points = decision.compute_points(results, **AXES).assign(refused="")
    noisy = points.parameters.str.contains("epsilon") & points.privacy.notna()
    assert noisy.any()
    assert np.isposinf(points[noisy].privacy_high).all()
    assert set(points[noisy].status) <= {"dominated", "undecided"}
    assert not points.why.map(str).str.contains(r"Noise|RandomizedResponse").any()
    chosen = decision.choose_by_losses(points, privacy_cap=0.3).setting
    assert not chosen.str.contains("epsilon").any()


@pytest.mark.parametrize("measure", ["workload_utility", "median_relative_error"])
def test_measures_that_vary_have_all_seeds_of_every_release(people, measure):
    some = [Identity(), Mondrian(KAnonymity(5)), LocalRecoding(KAnonymity(5))]
    found = sanitizer_family.evaluate_family(people, some, "privacy_loss", measure, seeds=2)
    for sanitizer in some:
        assert of(found, sanitizer, measure).seed.tolist() == [1, 2], sanitizer
        assert of(found, sanitizer, "privacy_loss").seed.tolist() == [1]
    points = decision.compute_points(found, privacy="privacy_loss", utility=measure)
    assert points.kind.tolist()[1:] == ["randomised"] * 2


def test_no_miner_guesses_more_from_classes_than_is_exact(people):
    classes = [Identity(), Mondrian(KAnonymity(5)), LocalRecoding(KAnonymity(20)), KMember(5)]
    for miner in ("naive Bayes", "decision tree", "random tree", "unpruned tree", "nearest neighbour"):
        rows = questions.disclosure(people, classes, miners=miner)
        wide = rows[rows.measure == "accuracy_gain"].pivot_table(index="parameters", columns="miner", values="value")
        assert (wide[miner] <= wide[""] + 1e-12).all()


# What is said of them


def exact(people, sanitizer, populations):
    """Both losses of a deterministic release by another path: how many guess right by the most common value of each
    combination of published cells, or of each bucket.
    """
    release = sanitizer.sanitize(people, rng=1)
    names, sensitive = people.schema.quasi_identifiers, people.table["occupation"].to_numpy()
    if release.buckets is not None:
        cells = release.table["bucket"].astype(str)
    else:
        cells = release.table[names].astype(str).agg("|".join, axis=1)
    right = pd.crosstab(cells.to_numpy(), sensitive).max(axis=1).sum()
    prior = pd.Series(sensitive).value_counts().max()
    return (right - prior) / len(people), utility_loss(populations, release)


def test_dominance_of_deterministic_releases_by_brute_force(people, family, results):
    # Miners read what is perturbed: of that nothing is exact.
    fixed = [each for each in family if not each.randomized and type(each).treatment not in UNTRUE]
    large = LargePopulations.of(people, "occupation")
    losses = {each: tuple(np.round(exact(people, each, large), 10)) for each in fixed}
    rows = pd.concat([of(results, each, measure) for each in fixed for measure in AXES.values()])
    points = decision.compute_points(rows, **AXES).set_index(["sanitizer", "parameters"])
    beaten = 0
    for each, (privacy, utility) in losses.items():
        better = [p <= privacy and u <= utility and (p, u) != (privacy, utility) for p, u in losses.values()]
        row = points.loc[(type(each).__name__, each.changed_params())]
        assert row.status == ("dominated" if any(better) else "efficient"), each
        assert (row.privacy, row.utility) == pytest.approx((privacy, utility), abs=1e-9)
        beaten += any(better)
    assert 5 < beaten < len(fixed) - 5, "else this checks nothing"


@pytest.mark.parametrize("cap", [0.02, 0.1, 0.2])
def test_caps_are_kept(results, cap):
    points = decision.compute_points(results, **AXES).assign(refused="")
    row = decision.choose_by_losses(points, privacy_cap=cap).iloc[0]
    assert row.privacy_high <= cap + 1e-9
    assert row.utility == pytest.approx(points[points.privacy_high <= cap + 1e-9].utility.min())


def test_of_fewer_than_ten_seeds_nothing_is_decided(family, results):
    noise = [each for each in spoken(results, family) if each.randomized]
    some = [of(results, each, name) for each in (Identity(), Suppress(), *noise) for name in AXES.values()]
    points = decision.compute_points(pd.concat(some).query("seed <= 3"), **AXES)
    assert set(points[points.kind == "randomised"].status) == {"undecided"}
    assert sum(why.data.get("seeds") == 3 for why in points.why) == points[points.kind == "randomised"].privacy.count()
    assert len(noise) >= points[points.kind == "randomised"].privacy.count() > 10


def test_what_cannot_be_done_is_left_out_by_name(people, family, results):
    """The releases that can be made are those of all tests, whose numbers `results` has."""
    made, family = set(family), sanitizer_family.build_family(people, **{**SETTINGS, "k": "5, 400", "l": "2, 12"})
    impossible = [each for each in family if "400" in repr(each) or "12" in repr(each)]
    assert set(family) - made == set(impossible)
    known = [of(results, each, measure) for each in set(family) & made for measure in AXES.values()]
    results = join_results(*known, sanitizer_family.evaluate_family(people, [*impossible, Identity()], "accuracy_gain"))
    said = sanitizer_family.describe_refusals(people, family, results).data
    assert f"{len(impossible)} of {len(family)} settings are not possible" in said
    assert (
        said.count("k = 400 needs at least 400 people; the table has 300. Lower k.") == 1
    )  # of all that it is said of
    for sanitizer in impossible:
        assert re.search(f"(- |; ){re.escape(name_setting(pd.Series(describe_setting(sanitizer))))}[:;]", said)
        assert of(results, sanitizer, "classes").status.tolist() == ["not possible"] * sum(
            seed == 1 or sanitizer.randomized for seed in range(1, 11)
        )
        for measure in ("accuracy_gain", "utility_loss"):
            assert of(results, sanitizer, measure).empty
    assert len(decision.compute_points(results, **AXES)) == len(family) - len(impossible)
    possible = [Identity(), Suppress()]
    assert "All 2 settings" in sanitizer_family.describe_refusals(people, possible, results).data


# Every measure


def test_the_full_profile_measures_everything(everything):
    assert not everything.duplicated(KEY_COLUMNS).any()
    expected = {measure for kind in MEASURES.values() for measures in kind.values() for measure in measures}
    assert expected <= set(everything.measure)
    for measure in expected:
        points = decision.compute_points(everything, privacy=measure, utility="utility_loss")
        assert points.privacy_of[0].startswith(measure_facts(measure).phrase)


def test_results_of_several_notebooks_go_together(people, everything):
    """The same number under the same name, or another name: the ledger refuses two values for one."""
    some = [*evaluation.reference_sanitizers(), *parameters.build_sramka_sanitizers(k="5", epsilon="1")]
    partitions = papers.list_partitions(people, k="5", t="0.3")
    others = [
        evaluation.measure_linkage(people, some),
        evaluation.measure_information_loss(people, some),
        evaluation.measure_adversary_gains(people, some[:3]),
        gallery.measure_penalties(people, k="5", t="0.3"),
        questions.trade_off(people, some),
        papers.measure_trade_off(people, partitions),
        papers.measure_queries(people, partitions),
        questions.utility(people, some, target="occupation", miners="naive Bayes", folds=3),
    ]
    assert len(ledger.compare_with_published(join_results(everything, *others)))


def test_an_axis_is_of_the_kind_that_its_measure_is():
    """Each states so where it is made."""
    for kind, measures in MEASURES.items():
        for measure in (each for several in measures.values() for each in several):
            assert measure_facts(measure).kind == kind, measure


def test_axes(people, monkeypatch):
    assert sanitizer_family.choose_axes(people) == {"privacy": "privacy_loss", "utility": "utility_loss"}
    found = sanitizer_family.choose_axes(people, "reidentification_rate", "workload_utility")
    assert found["privacy"] == "reidentification_rate"
    with pytest.raises(ValueError, match=r"PRIVACY must be a measure of privacy: one of privacy_loss, .*; got 'risk'"):
        sanitizer_family.choose_axes(people, "risk")
    with pytest.raises(
        ValueError, match=r"UTILITY must be a measure of utility: .*certainty_penalty.*; got 'reidentification_rate'"
    ):
        sanitizer_family.choose_axes(people, utility="reidentification_rate")
    monkeypatch.setattr(losses, "find_large_populations", lambda *_: None)
    assert sanitizer_family.choose_axes(people)["utility"] == "certainty_penalty"
    assert sanitizer_family.choose_axes(people, utility="median_relative_error")["utility"] == "median_relative_error"


def test_show_notes_reports_that_utility_losses_are_of_few_conditions(people, monkeypatch):
    assert show_notes(people, utility_loss=True) is None
    monkeypatch.setattr(populations, "MAX_POPULATIONS", 400)
    found = LargePopulations.of(people, "occupation")
    assert found.conditions == 2
    assert f"for the {len(found):,} large groups" in show_notes(people, utility_loss=True).data
    monkeypatch.setattr(run_notes, "find_large_populations", lambda *_: None)
    assert show_notes(people, utility_loss=True) is None


# What is recommended


def test_the_chosen_release_is_measured_next_to_the_original(people):
    found = policy_search.search_policy(people, read("k-5"), profile="small", seeds=1)
    more = recommended.measure_choice(people, found, profile="small")
    assert not more.duplicated(KEY_COLUMNS).any()
    row = more[more.measure == "recommended"].iloc[0]
    chosen = found.decision.chosen
    assert (row.sanitizer, row.parameters) == (chosen.sanitizer, chosen.parameters)
    explained = explain_decision(found, people, more)
    risks = {row["risk"]: row for row in explained["risks"]}
    assert risks["identity"]["original"]["mean"]["value"] > 0.5 > risks["identity"]["release"]["mean"]["value"]
    uses = {use["measure"]: use for use in explained["uses"]}
    assert uses["certainty_penalty"]["original"]["value"] == 0 < uses["certainty_penalty"]["release"]["value"]
    assert uses["certainty_penalty"]["without"]["value"] == 1
    assert uses["certainty_penalty"]["changed"] == []


def test_a_mean_over_altered_columns_names_them(people):
    policy = read("k-5")
    found = policy_search.search_policy(people, policy, profile="small", seeds=1)
    chosen = dict(zip(SETTING_COLUMNS, (found.decision.sanitizer, found.decision.parameters), strict=True))
    numbers = (
        ("change_rate", "", "", 0.3),
        *(
            ("changed_cells", name, kind, share)
            for name, kind, share in (("sex", "noisy", 0.4), ("race", "perturbed", 0.2), ("age", "perturbed", 0.9))
        ),
    )
    rows = [
        build_row(measure, value, dataset="people", target=target, variant=variant, **chosen)
        for measure, target, variant, value in numbers
    ]
    rows.append(build_row("changed_cells", 0.0, dataset="people", target="salary", variant="exact", **chosen))
    (use,) = explain_decision(found, people, tidy(rows))["uses"]
    assert use["changed"] == [{"name": "race", "value": 0.2}, {"name": "sex", "value": 0.4}]


def test_columns_that_are_published_unchanged_are_listed(people):
    roles = people.schema.with_roles({"age": Role.QUASI_IDENTIFIER, "race": Role.NEUTRAL, "sex": Role.NEUTRAL})
    table = people.table[["age", "race", "sex"]]
    neutral = Dataset("neutral", table, roles, {"age": people.hierarchies["age"]})
    found = policy_search.search_policy(neutral, read("k-5"), profile="small", seeds=1)
    columns = explain_decision(found, neutral)["columns"]
    assert (columns["published_unchanged"], columns["stated_unknowable"]) == (["race", "sex"], [])
    said = published_columns(found, neutral).data
    assert said.startswith("No attribute is sensitive.")
    assert "race and sex are published unchanged." in said


def test_along_one_parameter(people, tmp_path):
    values = decision.grid(0.1, 0.8, 40)
    tried = sanitizer_family.vary_parameter(people, "Mondrian t", values)
    evaluate, whole = sanitizer_family.sweep_parameter(people, tried, *AXES.values(), store=tmp_path)
    assert whole is None
    tuned = decision.tune(evaluate, values, 0.1, **AXES, min_class_size=2)
    assert tuned.evaluations == 10
    best = tuned.releases[tuned.releases.value == tuned.value].iloc[0]
    assert best.setting == f"Mondrian, t = {tuned.value}"
    assert best.privacy_high <= 0.1 + 1e-9
    again = evaluate(tuned.value)
    row = again[(again.measure == "accuracy_gain") & (again.miner == "worst")]
    assert row.value.tolist() == pytest.approx([best.privacy])


def test_the_whole_grid_in_the_full_profile(people):
    values = [2, 3]
    settings = sanitizer_family.vary_parameter(people, "KMember k", values)
    evaluate, whole = sanitizer_family.sweep_parameter(people, settings, profile="small")
    assert decision.compute_points(whole, **AXES).parameters.tolist() == [f"k={k}" for k in values]
    assert evaluate(3).equals(whole[whole.parameters == "k=3"])


def test_what_cannot_be_tuned_is_said(people):
    for tuned in ("Mondrian", "Mondrian epsilon", "LaplaceNoise t", "Anatomy t", "Mondrian z", ""):
        with pytest.raises(ValueError, match=r"TUNED must be a sanitizer and its parameter, one of k, l, t"):
            sanitizer_family.vary_parameter(people, tuned, [0.5, 0.6])
    with pytest.raises(ValueError, match=r"k must be a whole number of at least 2 .*got 0\.5"):
        sanitizer_family.vary_parameter(people, "KMember k", [0.5, 0.6])
    settings = sanitizer_family.vary_parameter(people, "Mondrian l", [2, 12])
    evaluate, _ = sanitizer_family.sweep_parameter(people, settings, *AXES.values())
    with pytest.raises(SanitizationError):
        evaluate(12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seeds": -1}, "seeds must be a whole number"),
        ({"miners": "oracle"}, "no miner"),
        ({"profile": "slow"}, "slow"),
    ],
)
def test_what_is_asked_is_checked_first(people, wrong, message):
    with pytest.raises(ValueError, match=message):
        sanitizer_family.evaluate_family(people, [Identity()], *AXES.values(), **wrong)
