"""Counts of few people stay withheld: the limit cannot be switched off, and nothing that is shown tells them."""

import importlib
import inspect
from collections import Counter
from functools import cache, partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from support import auditor, questions
from support.naming import naming

from privnb import app, evaluation, papers
from privnb.attacks import Linkage, MinerInference
from privnb.datasets.dataset import Dataset, load
from privnb.decision import policies, policy_search, recommended
from privnb.decision.assessment import Assessment, assess_given, assess_release
from privnb.decision.comparison import compare_releases
from privnb.evaluation import (
    column_distributions,
    evaluation_loop,
    release_measures,
    results,
    sanitizer_family,
    trade_off,
    verdict,
)
from privnb.evaluation.contributions import measure_contributions
from privnb.evaluation.disclosure import (
    leakage,
    nearer_predictions,
    published_models,
)
from privnb.evaluation.disclosure.release_pairs import ReleasePair, count_disclosures
from privnb.evaluation.experiments import (
    aggregate_attacks,
    bucket_attack,
    informed_adversaries,
    masking_attack,
    mining_results,
    noise_removal,
    personalized_privacy,
    perturbation,
    recoding_attack,
    reconstruction,
    users_and_adversaries,
)
from privnb.evaluation.population_risk import measure_population_uniqueness
from privnb.evaluation.utility.utilities import AntiUtility, GoodUtility
from privnb.explorer import board, export, pinned_files, readings, sweeps
from privnb.explorer.boxes import find_boxes
from privnb.explorer.pins import FilePin
from privnb.explorer.readings import count_class_sizes, count_setting
from privnb.explorer.risks import measure_fast_risks, measure_slow_risks
from privnb.explorer.setting import Setting
from privnb.explorer.worst_class import find_worst_class
from privnb.measures.disclosure import summary
from privnb.measures.utility.information_loss import suppressed_records
from privnb.microdata import cuts, withholding
from privnb.microdata.count_tables import TableOfCounts
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.withholding import Margin, suppress
from privnb.miners import reference_set
from privnb.privacy_models import KAnonymity
from privnb.publishing import leaks
from privnb.reporting import charts, report
from privnb.reporting.charts.base import merge_small
from privnb.reporting.notebooks import ReportError, choose_notebooks, notebooks_folder
from privnb.sanitizers import FullDomain, Identity, KMember, MadeElsewhere, Mondrian, RankSwapping, Suppress
from privnb.sanitizers.tables_and_rules import cell_suppression

PACKAGE = Path(withholding.__file__).parents[1]
DESCRIPTION = Path(__file__).parent.parent / "data" / "clinic" / "clinic.toml"
CLINIC = load(DESCRIPTION)

# --- the limit ---

AXES = ("accuracy_gain", "utility_loss")
COUNTS = pd.Series([20, 30], index=pd.Index(["a", "b"], name="ward"))
NOTHING = Suppress().sanitize(CLINIC, rng=1)
OWNER = verdict.Scenario(GoodUtility("diagnosis"), AntiUtility("age"))
MAJORITY_OWNER = verdict.Scenario(GoodUtility("diagnosis", miners="majority"), AntiUtility("age", miners="majority"))
UNSEARCHED = object.__new__(policy_search.PolicySearch)
GIVEN_FILE = FilePin("theirs.csv", "0" * 64, "clinic"), Path("nowhere")
PAIR = object.__new__(ReleasePair)
MAJORITY = MinerInference(reference_set("majority")[0], "diagnosis")
SOME = FullDomain(KAnonymity(10), suppress=0.2)  # people are suppressed
ASKED = {  # every function that takes the limit
    "answer_for_each": lambda limit: evaluation_loop.answer_for_each(
        CLINIC, [Identity()], evaluation_loop.LinkageQuestion(), min_count=limit
    ),
    "Case": lambda limit: evaluation_loop.Case(CLINIC, Identity(), 1, min_count=limit),
    "measure_adversary_gains": lambda limit: evaluation.measure_adversary_gains(CLINIC, [Identity()], min_count=limit),
    "describe": lambda limit: evaluation.describe(CLINIC, min_count=limit),
    "evaluate": lambda limit: evaluation.evaluate(CLINIC, [Identity()], attacks=[Linkage()], min_count=limit),
    "measure_good_utility": lambda limit: evaluation.measure_good_utility(CLINIC, [KMember(10)], min_count=limit),
    "measure_linkage": lambda limit: evaluation.measure_linkage(CLINIC, [KMember(10)], min_count=limit),
    "evaluate_users": lambda limit: users_and_adversaries.evaluate_users(CLINIC, [KMember(10)], min_count=limit),
    "evaluate_adversaries": lambda limit: users_and_adversaries.evaluate_adversaries(
        CLINIC, [KMember(10)], min_count=limit
    ),
    "Aggregate": lambda limit: charts.Aggregate(pd.DataFrame({"people": [20]}), {"people": "people"}, limit),
    "count_every_setting": lambda limit: sweeps.count_every_setting(CLINIC, [Setting()], min_count=limit),
    "sweep_parameter": lambda limit: sanitizer_family.sweep_parameter(
        CLINIC, {2: KMember(2)}, "privacy_loss", min_count=limit
    ),
    "evaluate_family": lambda limit: sanitizer_family.evaluate_family(
        CLINIC, [KMember(10)], "privacy_loss", min_count=limit
    ),
    "evaluate_release": lambda limit: sanitizer_family.evaluate_release(
        CLINIC, KMember(10), KMember(10).sanitize(CLINIC, rng=1), "privacy_loss", min_count=limit
    ),
    "count_setting": lambda limit: count_setting(CLINIC, Setting(), min_count=limit),
    "compare": lambda limit: OWNER.compare(CLINIC, [KMember(10)], min_count=limit),
    "show": lambda limit: KMember(10).sanitize(CLINIC, rng=1).show(min_count=limit),
    "measure_combinations": lambda limit: evaluation.measure_combinations(CLINIC, [KMember(10)], min_count=limit),
    "measure_information_loss": lambda limit: evaluation.measure_information_loss(
        CLINIC, [KMember(10)], min_count=limit
    ),
    "judge": lambda limit: OWNER.judge(CLINIC, KMember(10), min_count=limit),
    "measure_known_attributes": lambda limit: papers.measure_known_attributes(CLINIC, min_count=limit),
    "measure_leakage": lambda limit: papers.measure_leakage(CLINIC, [Identity()], min_count=limit),
    "measure_contributions": lambda limit: measure_contributions(CLINIC, min_count=limit),
    "measure_population_uniqueness": lambda limit: measure_population_uniqueness(CLINIC, min_count=limit),
    "assess_release": lambda limit: assess_release(
        MadeElsewhere("theirs.csv"), CLINIC, policies.read("k-5"), min_count=limit
    ),
    "assess_given": lambda limit: assess_given(
        MadeElsewhere("theirs.csv"), CLINIC, policies.read("k-5"), min_count=limit
    ),
    "Assessment": lambda limit: Assessment(*[None] * 7, min_count=limit),
    "compare_releases": lambda limit: compare_releases("old.csv", "new.csv", CLINIC, min_count=limit),
    "count_disclosures": lambda limit: count_disclosures(PAIR, limit),
    "merge_small": lambda limit: merge_small(COUNTS, min_count=limit),
    "columns": lambda limit: charts.columns(results.tidy([]), min_count=limit),
    "column_changes": lambda limit: charts.column_changes(results.tidy([]), min_count=limit),
    "measure_columns": lambda limit: evaluation.measure_columns(CLINIC, min_count=limit),
    "measure_distributions": lambda limit: evaluation.measure_distributions(CLINIC, min_count=limit),
    "group_values": lambda limit: column_distributions.group_values(CLINIC, "ward", limit),
    "compare_columns": lambda limit: recommended.compare_columns(CLINIC, UNSEARCHED, min_count=limit),
    "people": lambda limit: charts.people(COUNTS, min_count=limit),
    "withhold_penalty": lambda limit: release_measures.withhold_penalty(
        Suppress().sanitize(CLINIC, rng=1), min_count=limit
    ),
    "measure_scales": lambda limit: trade_off.measure_scales(CLINIC, min_count=limit),
    "reveals_small_count": lambda limit: summary.reveals_small_count(NOTHING, "diagnosis", min_count=limit),
    "measure_uniqueness": lambda limit: evaluation.measure_uniqueness(CLINIC, min_count=limit),
    "withhold_counts": lambda limit: results.withhold_counts(results.tidy([]), limit),
    "measure_reference_gains": lambda limit: evaluation.measure_reference_gains([CLINIC], min_count=limit),
    "measure_guess_values": lambda limit: papers.measure_guess_values(CLINIC, [Identity()], min_count=limit),
    "measure_trade_off": lambda limit: papers.measure_trade_off(CLINIC, {"k": [KMember(10)]}, min_count=limit),
    "compare_gains": lambda limit: trade_off.compare_gains(CLINIC, [KMember(10)], min_count=limit),
    "compare_directly": lambda limit: papers.compare_directly(CLINIC, {"k": [KMember(10)]}, min_count=limit),
    "compare_sanitizers": lambda limit: papers.compare_sanitizers([], min_count=limit),
    "compare_others": lambda limit: papers.compare_others([], min_count=limit),
    "compare_with_and_without": lambda limit: papers.compare_with_and_without([], min_count=limit),
    "evaluate_gains": lambda limit: users_and_adversaries.evaluate_gains(CLINIC, [Identity()], min_count=limit),
    "measure_risk_and_loss": lambda limit: perturbation.measure_risk_and_loss(CLINIC, [Identity()], min_count=limit),
    "measure_masking_scores": lambda limit: perturbation.measure_masking_scores(min_count=limit),
    "remove_noise": lambda limit: noise_removal.remove_noise(CLINIC, [0.1], min_count=limit),
    "remove_masking_noise": lambda limit: noise_removal.remove_masking_noise(CLINIC, min_count=limit),
    "measure_rotation_removal": lambda limit: noise_removal.measure_rotation_removal(CLINIC, [2], min_count=limit),
    "reconstruct_distributions": lambda limit: reconstruction.reconstruct_distributions(
        CLINIC, [Identity()], min_count=limit
    ),
    "count_class_sizes": lambda limit: count_class_sizes(Identity().sanitize(CLINIC, rng=1), limit),
    "find_boxes": lambda limit: find_boxes(Identity().sanitize(CLINIC, rng=1), limit),
    "find_worst_class": lambda limit: find_worst_class(Identity().sanitize(CLINIC, rng=1), "diagnosis", limit),
    "write_command": lambda limit: export.write_command(CLINIC, Setting(), min_count=limit),
    "open_table": lambda limit: app.open_table("", str(DESCRIPTION), min_count=limit),
    "explore": lambda limit: board.explore(CLINIC, min_count=limit),
    "measure_setting": lambda limit: readings.measure_setting(CLINIC, Setting(), min_count=limit),
    "mine_setting": lambda limit: readings.mine_setting(CLINIC, Setting(), min_count=limit),
    "locate_in_plane": lambda limit: readings.locate_in_plane(CLINIC, [Setting()], *AXES, min_count=limit),
    "measure_fast_risks": lambda limit: measure_fast_risks(CLINIC, Setting(), limit),
    "measure_slow_risks": lambda limit: measure_slow_risks(CLINIC, Setting(), ["identity"], min_count=limit)[0],
    "read_file": lambda limit: pinned_files.read_file(CLINIC, Setting(), *GIVEN_FILE, limit),
    "read_files": lambda limit: pinned_files.read_files(CLINIC, Setting(), [GIVEN_FILE[0]], GIVEN_FILE[1], limit),
    "measure_file_risks": lambda limit: pinned_files.measure_file_risks(
        CLINIC, Setting(), *GIVEN_FILE, ["identity"], limit
    ),
    "mine_file": lambda limit: pinned_files.mine_file(CLINIC, Setting(), *GIVEN_FILE, limit),
    "find_cached_reading": lambda limit: readings.find_cached_reading(CLINIC, Setting(), min_count=limit),
    "even_cuts": lambda limit: cuts.even_cuts(Numbers(0, 9), np.arange(10.0), np.full(10, 10), limit),
    "attack_published_models": lambda limit: published_models.attack_published_models(
        CLINIC, "majority", min_count=limit
    ),
    "compare_trees": lambda limit: mining_results.compare_trees(CLINIC, [5], min_count=limit),
    "compare_own_k": lambda limit: personalized_privacy.compare_own_k(CLINIC, [0.1], (2, 5), min_count=limit),
    "compare_guards": lambda limit: personalized_privacy.compare_guards(CLINIC, [0.1], 0.5, 5, min_count=limit),
    "compare_linkage": lambda limit: masking_attack.compare_linkage(CLINIC, [RankSwapping()], min_count=limit),
    "attack_recoding_runs": lambda limit: recoding_attack.attack_recoding_runs(CLINIC, min_count=limit),
    "attack_margins": lambda limit: aggregate_attacks.attack_margins(CLINIC, min_count=limit),
    "attack_one_release": lambda limit: informed_adversaries.attack_one_release(
        CLINIC, [Mondrian(2)], "diagnosis", min_count=limit
    ),
    "attack_two_releases": lambda limit: informed_adversaries.attack_two_releases(
        CLINIC, [Mondrian(2)], "diagnosis", min_count=limit
    ),
    "attack_buckets": lambda limit: bucket_attack.attack_buckets(CLINIC, "diagnosis", [2], min_count=limit),
    "search_policy": lambda limit: policy_search.search_policy(CLINIC, policies.read("k-5"), min_count=limit),
    "search_policy_in_roles": lambda limit: policy_search.search_policy_in_roles(
        len, CLINIC, policies.read("k-5"), min_count=limit
    ),
    "measure_releases": lambda limit: policy_search.measure_releases(
        CLINIC, [KMember(5)], policies.read("k-5"), "quick", 1, limit, ""
    ),
    "suppress_small_counts": lambda limit: cell_suppression.suppress_small_counts(
        TableOfCounts({"a": ("x", "y")}, np.array([20, 30])), limit
    ),
    "find_personal_rows": lambda limit: leaks.find_personal_rows(pd.DataFrame({"age": [1]}), [], limit),
    "find_records": lambda limit: leaks.find_records("tests", [], leaks.Names({}), limit),
    "check_outputs": lambda limit: leaks.check_outputs("tests", [], min_count=limit),
}  # fmt: skip
NO_LIMITS = [1, 0, -1, float("nan"), float("inf"), 2.5, 10.0, "x", "10", None, True, np.float64(10), [10]]


@pytest.mark.parametrize("name", ASKED)
def test_no_function_withholds_less_than_counts_of_one(name, monkeypatch):
    asked = users_and_adversaries
    for module in (release_measures, leakage, trade_off, nearer_predictions, papers.askari_2012.study, asked):
        for ran in ("ask", "row_builder", "evaluated", "mine"):
            monkeypatch.setattr(module, ran, None, raising=False)  # nothing ran before it was refused
    for limit in NO_LIMITS:
        with naming(limit), pytest.raises(ValueError, match="min_count must be a whole number of at least 2; got "):
            ASKED[name](limit)


def test_the_list_above_names_every_function_that_takes_the_limit():
    files = [path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py") if path.stem != "__main__"]
    files = [file.parent if file.name == "__init__" else file for file in files]
    takes = set()
    for module in (importlib.import_module(".".join(["privnb", *file.parts])) for file in files):
        for thing in vars(module).values():
            for found in [thing, *(vars(thing).values() if inspect.isclass(thing) else ())]:
                if inspect.isfunction(found) and "min_count" in inspect.signature(found).parameters:
                    takes.add(thing.__name__ if found.__name__ == "__init__" else found.__name__)
    # Parts of `anti_utility`; records in a cell of a miner's; rows of a case, whose limit was checked.
    other = {
        "build_anti_utility_rows",
        "build_good_utility_rows",
        "withhold_baseline",
        "DecisionTable",
        "build_row",
        "make_row_builder",
        "ask",
        "answer_question",
        "case",
    }
    other |= {"find_reading_key", "rows", "count_settings", "FrontierPanel", "make_case", "Reading", "Session"}
    # Parts of others; a scan may look for no small counts.
    other |= {"among", "known", "attack_published_model", "scan", "KnownRecords", "RareCombinations"}
    other.add("describe_step")  # words of a count that `find_boxes` has withheld
    other.add("RareCategories")  # how many people a category of its own has
    assert {name for name in takes - other if not name.startswith("_")} == set(ASKED)


@pytest.mark.parametrize(
    "name", ["describe", "gains", "attack", "link", "measure", "user", "owner", "frontier", "setting"]
)
def test_another_limit_holds_wherever_it_is_asked_for(name):
    """Of 300 people all counts but those of 0 and of 300 are few, or miss few, where 200 are."""
    asked = {
        "describe": lambda: evaluation.describe(CLINIC, min_count=200),
        "gains": lambda: evaluation.measure_adversary_gains(CLINIC, [KMember(10)], min_count=200),
        "attack": lambda: evaluation.evaluate(CLINIC, [KMember(10)], attacks=[MAJORITY], min_count=200),
        "link": lambda: evaluation.measure_linkage(CLINIC, [KMember(2)], min_count=200),
        "measure": lambda: evaluation.evaluate(CLINIC, [SOME], measures=[suppressed_records], min_count=200),
        "user": lambda: evaluation.measure_good_utility(CLINIC, [KMember(10)], miners="majority", min_count=200),
        "frontier": lambda: sanitizer_family.evaluate_family(
            CLINIC, [KMember(2)], "reidentification_rate", min_count=200
        ),
        "setting": lambda: sweeps.count_every_setting(CLINIC, [Setting("Mondrian", k=10)], min_count=200),
        "owner": lambda: MAJORITY_OWNER.judge(CLINIC, KMember(10), min_count=200).table,
    }[name]()
    counted = asked[asked.measure.isin([
        "prior_accuracy", "accuracy_gain", "knowledge_gain", "guessed_right", "reidentification_rate",
        "suppressed_records", "good_utility", "anti_utility",
    ])]  # fmt: skip
    assert len(counted)
    assert counted.value.isin([0, 300]).sum() + counted.value.isna().sum() == len(counted)
    assert counted.value.isna().any()


@pytest.mark.parametrize("limit", [2, 10, np.int64(10), np.uint8(11)], ids=repr)
def test_whole_numbers_of_any_kind_are_limits(limit):
    assert withholding.check_min_count(limit) == limit


LIMITED = [notebook.name for notebook in choose_notebooks(notebooks_folder()) if "MIN_COUNT" in notebook.parameters]


@pytest.mark.parametrize("limit", ["0", "1", "-1", "nan", "inf", "2.5", "x", "", 0, 1.0, True])
@pytest.mark.parametrize("name", LIMITED)
def test_no_notebook_starts_without_a_limit(name, limit, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "run_notebooks", None)
    with pytest.raises(ReportError, match="MIN_COUNT"):
        report.build(tmp_path / "out", notebooks=[name], parameters={"MIN_COUNT": limit})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("people", "few", "tells"),
    [*((n, False, n > 30 and n < 40) for n in (0, 10, 30, 31, 39, 40)), (1, True, True), (9, True, True)],
)
def test_few_people_are_one_to_nine_and_a_count_tells_of_those_whom_it_misses(people, few, tells):
    assert withholding.is_few(people) == few
    assert withholding.reveals_few(people, 40) == tells
    assert (
        np.isnan(withholding.withhold_share(people, 40)[0])
        == np.isnan(withholding.withhold_count(people, 40)[0])
        == tells
    )
    assert (
        np.isnan(withholding.withhold_group_share(people, 40)[0])
        == np.isnan(withholding.withhold_group_count(people, 40)[0])
        == (tells and not few)
    )


# --- what follows from what is shown ---


@st.composite
def declared(draw):
    """(cells, margins): people of a small table by two columns, and by sets of people that contain one another, as
    counts with all that is known of how they belong together; which are important is drawn.
    """
    n = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups = {name: rng.integers(draw(st.integers(1, 4)), size=n) for name in ("ward", "sex")}
    chain = np.cumsum(rng.random((draw(st.integers(0, 3)), n)) < draw(st.sampled_from([0.03, 0.2, 0.5, 0.9])), axis=0)
    sets = {f"set {i}": each > 0 for i, each in enumerate(chain)}
    cells, margins = {name: int(each.sum()) for name, each in sets.items()}, []
    margins += [Margin(b, [a]) for a, b in combinations(sets, 2)] + [Margin(n, [name]) for name in sets]
    for name, of in groups.items():
        within = {f"{name} {value}": of == value for value in np.unique(of)}
        if draw(st.booleans()):
            cells |= {label: int(each.sum()) for label, each in within.items()}
            margins.append(Margin(n, tuple(within), rest=False))
        for chosen in draw(st.lists(st.sampled_from([*sets, "none"]), max_size=2, unique=True)):
            if chosen in sets:
                parts = {f"{chosen}, {label}": int((sets[chosen] & each).sum()) for label, each in within.items()}
                cells |= parts
                margins.append(Margin(chosen, tuple(parts), rest=False))
                known = [label if label in cells else int(each.sum()) for label, each in within.items()]
                margins += [Margin(whole, [part]) for whole, part in zip(known, parts, strict=True)]
    order = draw(st.permutations(list(cells)))
    return {name: cells[name] for name in order}, margins


def test_a_withheld_count_of_nobody_is_known_to_be_none():
    """It is not of few people, and 12 of the 27 would follow as 15 and 12 are shown."""
    cells = {"p1": 15, "all": 27, "p3": 12, "p2": 0, "p0": 0}
    margins = [Margin("all", ("p0", "p1", "p2", "p3"), rest=False), Margin(30, ("all",))]
    assert auditor.follows(cells, margins, suppress(cells, margins, 10), 10) == []


@pytest.mark.parametrize(
    ("limit", "cells", "margins", "withheld"),
    [
        # Two withheld counts of at most 9 people that add up to 18 are both 9.
        (10, {"all": 18, "a": 9, "b": 9}, [Margin("all", ("a", "b"), rest=False)], {"all", "a", "b"}),
        # A withheld count of nobody may be known to be one.
        (10, {"all": 18, "a": 9, "b": 9, "c": 0}, [Margin("all", ("a", "b", "c"), rest=False)], {"all", "a", "b"}),
        # A withheld count of at least 10 people and one of at least 1 that add up to 11 are 10 and 1.
        (10, {"all": 11, "a": 10, "b": 1}, [Margin("all", ("a", "b"), rest=False)], {"all", "b"}),
        # By w2, p1 + p3 = 6, and by w1, p0 + p1 + p2 <= 7: p0 may be at most 1.5, which is no number of people.
        (
            3,
            {"w2": 6, "p0": 1, "p3": 2, "w1": 7, "p2": 2, "p1": 4},
            [Margin(3, ("p0", "p3"), rest=False), Margin("w1", ("p0", "p1", "p2")), Margin("w2", ("p1", "p3"), False)],
            {"w1", "p0", "p1", "p2", "p3"},
        ),
        # p0, p1 and p2 can each be one person more or fewer, and that is enough to show w2.
        (
            5,
            {"p0": 4, "p2": 6, "p1": 3, "w2": 11},
            [Margin(12, ("p1", "p2")), Margin(10, ("p1", "p2")), Margin("w2", ("p0", "p2")), Margin(14, ("p1", "p2"))],
            {"p0", "p1", "p2"},
        ),
        # p2 is at its least value, and can be larger.
        (5, {"p1": 0, "p0": 9, "p2": 1}, [Margin(18, ("p0", "p1", "p2"))], {"p2"}),
    ],
)
def test_a_withheld_count_can_have_other_whole_values_within_its_bounds(limit, cells, margins, withheld):
    """The bounds are 1 and `limit` - 1 for few people and `limit` for more; less than one person is no difference."""
    assert suppress(cells, margins, limit) == withheld
    assert auditor.follows(cells, margins, withheld, limit) == []


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(declared(), st.integers(3, 12))
def test_no_count_of_few_people_follows_from_the_cells_that_are_shown(table, limit):
    cells, margins = table
    assume(not auditor.follows(cells, margins, {*cells}, limit))  # all but nobody few of each: the limit itself tells
    withheld = suppress(cells, margins, limit)
    assert auditor.follows(cells, margins, withheld, limit) == []
    assert all(cells[name] == 0 or cells[name] >= limit for name in cells.keys() - withheld)


@settings(deadline=None, max_examples=20)
@given(declared(), st.integers(3, 12))
def test_no_more_is_withheld_than_must_be(table, limit):
    """Each withheld count is of few people, or would let the count of few people follow if it were shown too."""
    cells, margins = table
    withheld = suppress(cells, margins, limit)
    for name in withheld:
        assert 0 < cells[name] < limit or auditor.follows(cells, margins, withheld - {name}, limit)


@settings(deadline=None, max_examples=60)
@given(st.sets(st.frozensets(st.sampled_from("abcdef"))), st.data())
def test_of_sets_all_nested_pairs_are_margins(sets, data):
    people = {tuple(sorted(each)): data.draw(st.integers(0, 40)) for each in sets}
    with pytest.MonkeyPatch.context() as replaced:
        replaced.setattr(withholding, "suppress", lambda cells, margins, limit: (cells, margins, limit))
        cells, margins, limit = withholding.suppress_sets(people, 40, 7)
    pairs = [Margin(b, (a,)) for a in people for b in people if {*a} < {*b}]
    assert (cells, limit) == (people, 7)
    assert Counter(margins) == Counter([*pairs, *(Margin(40, (each,)) for each in people)])


def test_margins_of_nested_groups_are_not_read_again_for_every_cell(monkeypatch):
    """Of thirty attributes there are 4,526 cells and 34,000 margins: that took a minute."""
    read = []

    class Read(Margin):
        @property
        def rest(self):
            read.append(self)
            return self[2]

    monkeypatch.setattr(withholding, "Margin", Read)
    names = [(name,) for name in "abcdefghijklmnopqrstuvwxyz"]
    sets = [*names, sum(names, ())]
    assert withholding.suppress_sets(dict.fromkeys(sets, 20), 40) == set()
    assert len(read) == len(set(read)) == 26 + 27


def test_the_auditor_finds_what_follows():
    total = Margin("all", ["a", "b", "c"], rest=False)
    cells = {"all": 60, "a": 40, "b": 17, "c": 3}
    assert auditor.follows(cells, [total], {"c"}, 10) == ["c", "all less a, b"]
    assert auditor.follows(cells, [total], {"b", "c"}, 10) == []
    few = {"all": 49, "a": 40, "b": 4, "c": 5}  # none of either alone, but nine of both
    assert auditor.follows(few, [total], {"b", "c"}, 10) == ["all less a"]
    assert auditor.follows({"all": 18, "a": 9, "b": 9}, [total._replace(parts=["a", "b"])], {"a", "b"}, 10) == [
        "a",
        "b",
    ]
    alone = {"sex": 392, "age, sex": 396}
    assert auditor.follows({"age": 396}, [Margin(400, ["age"])], set(), 10) == ["400 less age"]
    assert auditor.follows(alone, [Margin("age, sex", ["sex"])], set(), 10) == ["age, sex less sex"]


# --- the evaluations: what their rows tell ---


def people(n, seed=0):
    """A made-up table of `n` people, some of whose values are rare."""
    rng = np.random.default_rng([n, seed])
    drawn = {
        "age": rng.integers(20, 20 + n // 3, n),
        "town": rng.choice(["Aford", "Bford", "Cford", "Dford"], n, p=[0.5, 0.3, 0.18, 0.02]),
        "sex": rng.choice(["F", "M"], n),
        "illness": rng.choice(["flu", "gout", "rare"], n, p=[0.7, 0.28, 0.02]),
    }
    roles = {name: Role.QUASI_IDENTIFIER for name in drawn} | {"illness": Role.SENSITIVE}
    domains = {name: Categories(tuple(sorted({*values}))) for name, values in drawn.items() if name != "age"}
    domains["age"] = Numbers(20, 20 + n // 3)
    schema = Schema("people", tuple(Attribute(name, roles[name], domains[name]) for name in drawn))
    known = ("age", "town", "sex")
    return Dataset("people", pd.DataFrame(drawn), schema, {name: flat(schema[name]) for name in known})


def alone_but(n, few):
    """A table of `n` people of whom all but `few` stand out by their age."""
    made = people(n, seed=1)
    ages = np.arange(n)
    ages[:few] = 0
    schema = Schema("people", (Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, n)), *made.schema.attributes[1:]))
    return Dataset("people", made.table.assign(age=ages), schema, made.hierarchies | {"age": flat(schema["age"])})


def test_all_but_four_of_four_hundred_are_not_told():
    """Withheld is a share of few people, and of all but few; of many, and of all, it is shown."""
    rows = evaluation.measure_uniqueness(alone_but(400, 4)).set_index("knows")
    assert np.isnan(rows.value["age"])
    assert (rows.low["age"], rows.high["age"]) == (391 / 400, 399 / 400)
    assert evaluation.measure_uniqueness(alone_but(400, 0)).set_index("knows").value["age"] == 1
    assert evaluation.measure_uniqueness(alone_but(400, 10)).set_index("knows").value["age"] == 390 / 400


def test_two_shown_sets_do_not_tell_few_people():
    """By age 380 of 400 stand out, by age and sex four more."""
    made = alone_but(400, 20)
    ages, sexes = np.arange(400), np.array(["F"] * 400)
    ages[:20] = np.repeat(np.arange(10), 2)  # ten pairs, of which two are of both sexes
    sexes[[1, 3]] = "M"
    table = made.table.assign(age=ages, sex=sexes, town="Aford")
    made = Dataset("people", table, made.schema, made.hierarchies)
    rows = evaluation.measure_uniqueness(made).set_index("knows").value
    alone = {name: rows[name] * 400 for name in ("age", "age, sex", "age, town, sex") if not np.isnan(rows[name])}
    assert alone == {"age, sex": 384, "age, town, sex": 384}


TABLES = {"clinic": CLINIC, **{f"{n} people": people(n) for n in (50, 120, 400)}, "all but 4": alone_but(400, 4)}


def forget():
    """What is kept of a dataset between calls was withheld by another rule."""
    for thing in [*vars(leakage).values(), *vars(trade_off).values()]:
        getattr(thing, "cache_clear", int)()


@pytest.fixture(params=TABLES)
def both(request, monkeypatch):
    """A table, and a function that gives what an evaluation tells: `{key: number}`, and the keys that it withholds."""
    dataset = TABLES[request.param]

    @cache
    def evaluated(evaluate):
        shown = evaluate(dataset)
        with monkeypatch.context() as bare:
            bare.setattr(withholding, "is_few", lambda people, limit=10: people != people)
            forget()
            everything = evaluate(dataset)
        forget()
        return shown, everything

    def told(evaluate, key=("measure", "miner", "target"), column="value"):
        shown, everything = (rows.set_index(list(key))[column] for rows in evaluated(evaluate))
        assert shown.dropna().equals(everything[shown.notna()])
        return everything.to_dict(), {*shown.index[shown.isna()]}

    return dataset, told


def test_uniqueness_tells_of_nobody(both):
    dataset, told = both
    shares, withheld = told(evaluation.measure_uniqueness, key=["knows"])
    n, sets = len(dataset), {name: {*name.split(", ")} for name in shares}
    assert len(sets) == 2 ** len(dataset.schema.quasi_identifiers) - 1
    cells = {name: round(share * n) for name, share in shares.items()}
    margins = [Margin(b, [a]) for a in sets for b in sets if sets[a] < sets[b]] + [Margin(n, [name]) for name in sets]
    assert auditor.follows(cells, margins, withheld, 10) == []


def test_known_attributes_and_leakage_tell_of_nobody(both):
    dataset, told = both
    n = len(dataset)
    key = ["sanitizer", "measure", "knows", "target"]
    for evaluate in (
        partial(run, sanitizers=[Identity(), KMember(5)]) for run in (questions.known_subsets, questions.leakage)
    ):
        for column in ("value", "baseline"):
            found, hidden = told(evaluate, key, column)
            shares = {each: share for each, share in found.items() if each[1].endswith("_vulnerability")}
            assert len(shares) > 2
            for (sanitizer, measure, *rest), share in shares.items():
                number = round(share * n)
                if (sanitizer, measure, *rest) not in hidden:
                    assert not 0 < n - number < 10, (sanitizer, measure, *rest)
                    assert measure == "identity_vulnerability" or not 0 < number < 10, (sanitizer, measure, *rest)
                else:
                    leak = sanitizer, measure.replace("vulnerability", "leakage"), *rest
                    assert column == "baseline" or leak in hidden or leak not in found


def test_a_gain_and_its_prior_tell_of_nobody(both):
    """People guessed right are the prior's and the gain's together."""
    dataset, told = both
    n, sensitive = len(dataset), dataset.schema.sensitive[0]
    prior, hidden = told(evaluation.describe)
    prior, hidden = prior["prior_accuracy", "", sensitive], ("prior_accuracy", "", sensitive) in hidden
    for sanitizer in (Identity(), KMember(5), Suppress()):
        gain, withheld = told(lambda d, each=sanitizer: evaluation.measure_adversary_gains(d, [each]))
        key = "accuracy_gain", "", sensitive
        cells = {"prior": round(prior * n), "right": round((prior + gain[key]) * n)}
        margins = [Margin(n, ["prior"]), Margin(n, ["right"])]
        unseen = {name for name, so in {"prior": hidden, "right": hidden or key in withheld}.items() if so}
        assert auditor.follows(cells, margins, unseen, 10) == []
        assert not hidden or key in withheld  # the intact table would tell the prior


@pytest.mark.slow
def test_who_is_hit_tells_of_nobody(both):
    dataset, told = both
    n = len(dataset)

    def attack(data):
        return questions.anti_utility(data, KMember(5), miners="majority, decision stump", target="age", share=0.5)

    key = ["measure", "scenario", "variant", "control", "miner", "group"]
    found, withheld = told(attack, key)
    counts = {each[1:5]: value for each, value in found.items() if each[0] == "anti_utility"}
    hidden = {each[1:5] for each in withheld if each[0] == "anti_utility"}
    larger = {("A", "distinct"): ("A", ""), ("B", ""): ("A", ""), ("C", ""): ("A", ""), ("C", "distinct"): ("C", "")}
    cells = {each: round(value) for each, value in counts.items() if each[2] != "permuted"}
    assert {each[:2] for each in cells} == {("A", ""), *larger}
    margins = [Margin(n, [each]) for each in cells if each[:2] in (("A", ""), ("B", ""))]
    margins += [Margin(round(n * 0.5), [each]) for each in cells if each[:2] == ("C", "")]
    for scenario, variant, control, miner in cells:
        own, name = (scenario, variant, control, miner), (scenario, variant)
        while name := larger.get(name):
            margins.append(Margin((*name, control, miner), [own]))
        if miner in ("majority", "decision stump") and not control:
            margins.append(Margin((scenario, variant, "", "worst by person"), [own]))
    assert auditor.follows(cells, margins, hidden, 10) == []
    for column in ("value", "baseline"):
        shares, hidden = told(attack, key, column)
        shares = {each[-1]: value for each, value in shares.items() if each[0] == "nearer_share"}
        hidden = {each[-1] for each in hidden if each[0] == "nearer_share"}
        assert shares
        for name in nearer_predictions.choose_group_attributes(dataset):
            of = evaluation.group_records(dataset, name).value_counts()
            of = {f"{name} {label}": size for label, size in of.items() if f"{name} {label}" in shares}
            if sum(of.values()) < n:  # there are groups too small to be shown
                continue
            cells = {label: round(shares[label] * size) for label, size in of.items()}
            margins = [Margin("all", tuple(cells), rest=False), Margin(n, ["all"])]
            margins += [Margin(size, [label]) for label, size in of.items()]
            total = sum(cells.values())
            unseen = hidden | ({"all"} if 0 < total < 10 or 0 < n - total < 10 else set())
            assert auditor.follows(cells | {"all": total}, margins, unseen, 10) == []


def test_the_explorer_tells_of_nobody(both):
    dataset, told = both
    n = len(dataset)
    for kind in ("Identity", "Mondrian", "Bucketize"):
        asked = Setting(kind, k=5, sensitive=dataset.schema.sensitive[0])
        found, hidden = told(lambda d, setting=asked: count_setting(d, setting).results)
        for key, value in found.items():
            share = key[0].endswith("_vulnerability") or key[0] == "certain_disclosure_share"
            whole = key[0] in ("classes", "buckets", "suppressed_records")
            if key not in hidden and (share or whole):
                number = round(value * n) if share else value
                assert not 0 < n - number < 10, key
                assert key[0] in ("classes", "buckets", "identity_vulnerability") or not 0 < number < 10, key
