"""What is compared; that it comes out of its parts as if it were made at once; what the ledger finds of it."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.clinic import CLINIC
from support.in_process import in_this_process

from privnb import papers
from privnb.datasets.dataset import Dataset, load, load_studies
from privnb.evaluation import evaluation_loop, profiles
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.profiles import Profile
from privnb.evaluation.results import COLUMNS, KEY_COLUMNS
from privnb.evaluation.utility import workload
from privnb.microdata.schema import Role
from privnb.miners import reference_set, weka
from privnb.papers import ledger
from privnb.papers.brickell_shmatikov_2008 import PAPER
from privnb.privacy_models import DeltaDisclosure, RecursiveDiversity, TCloseness
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.catalogue import kinds, reference_sanitizers

MINERS = "naive Bayes, majority"
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("releases_once")]


@pytest.fixture(scope="module")
def studies():
    return load_studies("adult", records=400)


@pytest.fixture(scope="module")
def sets(studies):
    return papers.list_data_sets(studies)


def small_here(patch):
    """Tasks run in this process, in a profile "small"; the list of them."""
    patch.setitem(profiles.PROFILES, "small", Profile({}, {}, {}, workloads={MINERS: (2, 3)}))
    return in_this_process(patch)


@pytest.fixture
def here(monkeypatch):
    return small_here(monkeypatch)


def values(results, **where):
    for column, value in where.items():
        results = results[results[column] == value]
    return results.set_index(KEY_COLUMNS)[["value", "low", "high", "baseline"]].sort_index()


# What is compared


def test_profiles_name_miners_that_there_are():
    for profile in profiles.PROFILES.values():
        main, *others = profile.workloads
        assert main != "Weka"
        assert all(names == "Weka" or reference_set(names) for names in (main, *others))
        assert all(seeds >= 1 and folds >= 2 for seeds, folds in profile.workloads.values())
    assert next(iter(profiles.PROFILES["full"].workloads)) == next(iter(profiles.PROFILES["quick"].workloads))


def test_the_papers_data_sets(sets):
    assert [each.dataset.name.split(" ")[0] for each in sets] == ["adult/marital", "adult/occupation"]
    marital, occupation = sets
    assert marital.dataset.schema.quasi_identifiers == ["age", "education-num", "occupation"]
    assert occupation.dataset.schema.quasi_identifiers == ["age", "race", "sex"]
    assert marital.targets == ["marital-status", "salary"], "Figures 1 and 3"
    assert occupation.targets == ["occupation", "marital-status"], "Figures 2 and 4"


def test_which_privacy_refuses_to_tell_the_sexes_apart():
    """A_diff of women .2490, of men .1199: t = .2, l from 8 on and every finite delta allow no cut by sex alone."""
    people = load("adult", "occupation").table
    counts = pd.crosstab(people["sex"], people["occupation"]).to_numpy()

    def kept(model):
        return model.holds(counts, counts.sum(axis=0)).all()

    closeness = TCloseness(0.2, "occupation")
    assert closeness.level(counts, counts.sum(axis=0)).round(4).tolist() == [0.2490, 0.1199]
    assert [kept(TCloseness(t, "occupation")) for t in (0.4, 0.3, 0.2)] == [True, True, False]
    diverse = [kept(RecursiveDiversity(3, l, "occupation")) for l in (2, 5, 8, 10, 15)]  # noqa: E741
    assert diverse == [True, True, False, False, False]
    assert not any(kept(DeltaDisclosure(delta, "occupation")) for delta in (0.8, 1.0, 1.2, 100))


def test_one_study_or_another_workload(studies):
    (only,) = papers.list_data_sets(studies, study="occupation", workload="salary")
    assert only.targets == ["occupation", "salary"]
    both = papers.list_data_sets(studies, workload="workclass")
    assert [each.workload for each in both] == ["workclass", "workclass"]
    here, there = papers.list_data_sets(studies, workload="marital-status")
    assert here.targets == ["marital-status", "salary"], "sensitive there, so the paper's stays"
    assert there.workload == "marital-status"


def test_a_table_of_ones_own(studies):
    (clinic,) = papers.list_data_sets(load_studies(CLINIC))
    assert clinic.targets == ["diagnosis", "ward"]
    data = clinic.dataset
    roles = {name: data.schema[name].role for name in data.table} | {"ward": Role.SENSITIVE}
    alone = Dataset("clinic/alone", data.table, data.schema.with_roles(roles), data.hierarchies)
    (without,) = papers.list_data_sets([alone])
    assert without.targets == ["ward"], "the first sensitive attribute; and nothing is neutral"
    with pytest.raises(ValueError, match=r"got 'wealth', and the neutral attributes are .*'ward'"):
        papers.list_data_sets([data], workload="wealth")


@pytest.fixture
def of_numbers():
    """The clinic, whose only sensitive attribute is a number."""
    data = load(CLINIC)
    roles = {name: data.schema[name].role for name in data.table}
    roles |= {"weight": Role.SENSITIVE, "diagnosis": Role.NEUTRAL}
    return Dataset("clinic/numbers", data.table, data.schema.with_roles(roles), data.hierarchies)


def test_a_sensitive_number_leaves_nothing_to_compare(of_numbers):
    sets = papers.list_data_sets([of_numbers])
    assert sets == []
    papers.check_comparison(of_numbers, sets)
    for found in (papers.compare_with_and_without(sets), papers.compare_sanitizers(sets), papers.compare_others(sets)):
        assert found.empty
        assert list(found) == COLUMNS
    with pytest.raises(ValueError, match="sensitive attribute; got 'ward', and the neutral attributes are"):
        papers.list_data_sets([of_numbers], workload="ward")


# Table 2


def test_table_2_is_the_two_ends_of_each_attribute_of_categories(sets, here):
    found = papers.compare_with_and_without(sets[-1:], profile="small", seeds=1)
    data = sets[-1].dataset
    targets = {"workclass", "education", "marital-status", "occupation", "native-country", "salary"}
    assert set(found.target) == targets, "those of the paper's table"
    assert set(found.sanitizer) == {"Identity", "Suppress"}
    assert len(found) == 6 * 2 * 2
    plain = questions.utility(data, reference_sanitizers(), target="salary", miners=MINERS, folds=3)
    pd.testing.assert_frame_equal(values(found, target="salary"), values(plain))


# Figures 1 to 4


@pytest.fixture(scope="module")
def compared(sets):
    with pytest.MonkeyPatch.context() as patch:
        small_here(patch)
        return papers.compare_sanitizers(sets[-1:], profile="small")


def test_parts_come_out_as_the_whole_does(sets, compared):
    """The intervals too: each person is compared with themselves, however the work is split."""
    _, each = sets
    every = disclosures.build_paper_sanitizers(each.sensitive, each.workload)
    for target in each.targets:
        whole = questions.utility_gain(each.dataset, every, target=target, miners=MINERS, seed=2, folds=3)
        whole = whole[~((whole.measure == "workload_gain") & (whole.parameters == "attributes=sensitive"))]
        found = compared[compared.measure.isin(["workload_utility", "workload_gain"])]
        pd.testing.assert_frame_equal(values(found, target=target, seed=2), values(whole), check_exact=True)


def test_the_adversary_is_that_of_table_3(sets, compared):
    _, each = sets
    plain = questions.disclosure(each.dataset, disclosures.build_paper_sanitizers(each.sensitive, each.workload))
    found = compared[compared.measure.isin(plain.measure)]
    pd.testing.assert_frame_equal(values(found), values(plain), check_exact=True)


def test_equal_releases_are_mined_once(sets, here):
    papers.compare_sanitizers(sets[:1], profile="small", seeds=1)
    groups = [
        task.args[1]
        for task in here
        if task.func is evaluation_loop.answer_for_each and isinstance(task.args[2], workload.WorkloadGain)
    ]
    mined = [sanitizer for group in groups for sanitizer in group]
    ends = [task.args for task in here if task.func is evaluation_loop.answer_question]
    trivial = [sanitizer for _, sanitizer, _, question, _ in ends if question.target == "salary"]
    assert len(mined) == 2 * len(set(mined)), "once for each of two targets"
    assert 5 < len(set(mined)) < 15
    assert max(map(len, groups)) <= 7
    assert Suppress("sensitive") in trivial, "a trivial one takes part in U_base"


def test_every_task_withholds_by_the_limit_that_is_asked_for(sets, here):
    asked = {"profile": "small", "miners": "majority", "seeds": 1, "min_count": 11}
    papers.compare_sanitizers(sets[:1], **asked)
    papers.compare_with_and_without(sets[:1], **asked)
    assert {task.keywords.get("min_count", task.args[-1]) for task in here} == {11}


def test_what_was_finished_is_not_run_again(sets, here, tmp_path, monkeypatch):
    options = {"profile": "small", "seeds": 1, "store": str(tmp_path)}
    first = papers.compare_sanitizers(sets[-1:], **options)
    monkeypatch.setattr(workload, "predict_cross_validated", lambda *given, **options: pytest.fail("mined again"))
    pd.testing.assert_frame_equal(papers.compare_sanitizers(sets[-1:], **options), first)


def test_miners_that_cannot_guess_a_target_are_left_out(sets, here, monkeypatch):
    few = {"majority": (1, 2), "linear regression": (1, 2)}  # which guesses numbers only
    monkeypatch.setitem(profiles.PROFILES, "few", Profile({}, {}, {}, workloads=few))
    found = papers.compare_with_and_without(sets[-1:], profile="few")
    assert set(found.miner) == {"majority"}
    found = papers.compare_sanitizers(sets[-1:], profile="few")
    assert set(found.miner) == {"", "majority"}


def test_wekas_other_miners_take_part_in_the_baseline_of_a_neutral_workload(sets, here, monkeypatch, java):
    quick = ("bayes.NaiveBayes", "trees.J48")
    monkeypatch.setitem(weka.SETS, "basic", quick)
    monkeypatch.setitem(profiles.PROFILES, "both", Profile({}, {}, {}, workloads={"majority": (1, 2), "Weka": (1, 2)}))
    found = papers.compare_sanitizers(sets[-1:], profile="both")
    bayes, tree = (f"Weka {weka.version()} {name}" for name in quick)
    gains, utilities = (found[found.measure == f"workload_{name}"] for name in ("gain", "utility"))
    assert set(gains.miner) == {"majority", tree}
    assert set(zip(utilities.target, utilities.sanitizer, strict=True)) >= {("marital-status", "Mondrian")}
    assert set(utilities[utilities.miner == bayes].target) == {"marital-status"}, "not of the sensitive attribute"
    assert set(utilities[utilities.miner == bayes].sanitizer) == {"Suppress"}
    trivial = utilities[(utilities.sanitizer == "Suppress") & (utilities.target == "marital-status")]
    best = trivial[trivial.miner.isin([bayes, tree])].value.max()
    intact = found[(found.sanitizer == "Identity") & (found.target == "marital-status") & (found.miner == tree)]
    intact = intact.set_index("measure").value
    assert intact.workload_gain == pytest.approx(intact.workload_utility - best)


# Beyond the paper


def test_each_kind_of_sanitizer_has_its_adversary(sets, here):
    found = papers.compare_others(sets[-1:], profile="small", neutral="salary, workclass", knows="salary")
    gains = found[found.measure == "workload_gain"]
    assert set(zip(gains.target, gains.knows, strict=True)) == {("marital-status", "workclass, salary")}
    adversary = found[found.measure == "accuracy_gain"]
    assert set(zip(adversary.target, adversary.knows, strict=True)) == {("occupation", "salary")}
    unread = {"Bucketize", "Anatomy", "MASK"}  # buckets, and columns that nobody has
    noise = {name for name, kind in kinds().items() if kind.treatment == "noisy"} - unread
    assert {"LaplaceNoise", "GeometricNoise", "RandomizedResponse"} < noise
    assert set(adversary[adversary.miner != ""].sanitizer) == noise
    assert set(adversary[adversary.sanitizer.isin(noise)].miner) == {"naive Bayes", "majority"}
    assert set(adversary[adversary.sanitizer.isin(noise)].seed) == {1, 2}
    buckets = {"Bucketize", "Anatomy"}
    assert buckets <= set(adversary.sanitizer)
    assert not buckets & set(gains.sanitizer)
    assert set(found[found.status == "refused"].sanitizer) == unread
    assert {"Mondrian", "LocalRecoding", "KMember", "FullDomain", "TopDownSpecialization"} <= set(gains.sanitizer)


def test_in_the_quick_profile_one_data_set_is_enough(sets, here, monkeypatch):
    assert [profiles.PROFILES[name].others for name in ("quick", "full")] == [1, None]
    for many, names in ((1, {"adult/marital"}), (None, {"adult/marital", "adult/occupation"})):
        small = Profile({}, {}, {}, workloads={"majority": (1, 2)}, others=many)
        monkeypatch.setitem(profiles.PROFILES, "small", small)
        found = papers.compare_others(sets, profile="small")
        assert set(found.dataset.str.split(" ").str[0]) == names


def test_kinds_that_a_table_cannot_have_are_left_out(here):
    """One value has more than half of the people, so no two of Anatomy's values can stand in each bucket."""
    data = load_studies("adult", records=300)[0]
    (case,) = papers.list_data_sets([data])
    assert data.table[case.sensitive].value_counts(normalize=True).max() > 0.5
    found = papers.compare_others([case], profile="small", miners="majority", seeds=1)
    assert "Anatomy" not in set(found.sanitizer)
    assert {"Mondrian", "LaplaceNoise"} <= set(found.sanitizer)


def test_a_neutral_attribute_of_no_data_set_is_refused(sets):
    with pytest.raises(
        ValueError, match=r"neutral attributes must be among .*'workclass'.*; got \['age'\]. Choose some"
    ):
        papers.compare_others(sets, knows="salary, age")
    with pytest.raises(ValueError, match="PROFILE must be one of quick, full; got 'slow'"):
        papers.compare_others(sets, profile="slow")


# The ledger


def test_every_number_of_the_paper_is_found(sets, here, monkeypatch):
    """A sample under the whole table's name, and a miner under the name of each of Weka's."""
    monkeypatch.setattr(evaluation_loop, "make_row_builder", _named(evaluation_loop.make_row_builder))
    table_2 = papers.compare_with_and_without(sets[-1:], profile="small", miners="majority", seeds=1)
    compared = papers.compare_sanitizers(sets, profile="small", miners="majority", seeds=1)
    weka_rows = [
        rows[rows.miner == "majority"].assign(miner=f"Weka 3.6.14 {name}")
        for rows in (table_2, compared)
        for name in ("trees.J48", "trees.RandomForest", "bayes.NaiveBayes")
    ]
    results = profiles.drop_repeated_rows([table_2, compared, *weka_rows, papers.measure_coins()])
    found = ledger.compare_with_published(results)
    found = found[found.source == "brickell-shmatikov-2008"].set_index("item")
    elsewhere = found.index.str.match("records|table1/|baseline/")  # `evaluation.describe` has these
    assert len(found[~elsewhere]) == 12 + 7 + 30 + 10
    assert found[~elsewhere].measured.notna().all()
    assert (found[elsewhere].status == "not run").all()
    coins = found[found.index.str.startswith("section7/")]
    assert coins.status.value_counts().to_dict() == {"exact": 9, "not reproducible": 1}
    assert coins.measured["section7/S-omitted/a5"] == 1


def _named(row_builder):
    def named(dataset, sanitizer, seed, min_count):
        row = row_builder(dataset, sanitizer, seed, min_count)
        return partial(row, dataset=dataset.name.split(" (")[0])

    return named


def test_the_coins_are_sanitized_as_section_7_says():
    found = papers.measure_coins()
    assert set(zip(found.sanitizer, found.parameters, strict=True)) == {
        (type(each).__name__, each.changed_params())
        for each in (Identity(), Suppress("a2"), Suppress(), Suppress("sensitive"))
    }
    assert np.isfinite(found.value).all()


def test_the_papers_workloads_are_neutral(sets):
    for each in sets:
        assert each.workload == PAPER[each.dataset.name.split(" (")[0].rpartition("/")[2]]
        assert each.dataset.schema[each.workload].role is Role.NEUTRAL
