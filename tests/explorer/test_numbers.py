"""The numbers of one setting: the same as everywhere else in the package, kept by content, and of nobody alone."""

import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.questions import anti_utility, disclosure
from support.results_frame import short

from privnb import evaluation
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import COLUMNS
from privnb.explorer import readings
from privnb.explorer.panels import describe_exact_columns
from privnb.explorer.readings import (
    axis_measures,
    cache_reading,
    count_class_sizes,
    count_setting,
    find_cached_reading,
    locate_in_plane,
    measure_setting,
    mine_setting,
)
from privnb.explorer.setting import MODEL_BY_LETTER, Setting, apply_roles, make_sanitizer
from privnb.measures import measure_facts
from privnb.measures.disclosure import summary
from privnb.microdata.treatment import Rows
from privnb.microdata.withholding import LIMIT
from privnb.privacy_models import grade_release
from privnb.reporting.charts.base import Aggregate
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.catalogue import kinds

CLINIC = load(Path(__file__).parent.parent / "data" / "clinic" / "clinic.toml")
ADULT = load("adult", "li-li", records=1500)
DATA = {"clinic": CLINIC, "adult": ADULT}
CASES = [("clinic", Setting(kind, k=4, l=2, seed=3)) for kind in kinds() if kind != "MadeElsewhere"]
CASES += [
    ("adult", Setting()),
    ("adult", Setting("Bucketize", k=20, t=0.4)),
    ("adult", Setting("LaplaceNoise", epsilon=3)),
    ("adult", Setting("Mondrian", k=2, quasi_identifiers="age, sex, occupation", sensitive="education", seed=2)),
]
IDS = [f"{name} {setting.sanitizer}" for name, setting in CASES]


def by_name(results):
    results = short(results)
    assert not results.duplicated(["measure", "target"]).any()
    return results.set_index(["measure", "target"])


@pytest.fixture(params=CASES, ids=IDS, scope="module")
def case(request):
    """A setting, its dataset in the setting's roles, its sanitizer, and its reading."""
    name, setting = request.param
    dataset = DATA[name]
    reading = count_setting(dataset, setting)
    assert not reading.refused
    return reading, apply_roles(dataset, setting), make_sanitizer(setting, dataset)


def released(case):
    reading, dataset, made = case
    return made.sanitize(dataset, rng=derive_seed(reading.setting.seed, made, "sanitize"))


@pytest.mark.slow
def test_they_are_the_numbers_of_the_other_notebooks(case, releases_once):
    reading, dataset, made = case
    sensitive, seed = reading.setting.sensitive, reading.setting.seed
    found, classes = by_name(reading.results), released(case).classes is not None
    others = {
        "trade_off": questions.trade_off(dataset, [made], sensitive=sensitive, seed=seed),
        "leakage": questions.leakage(dataset, [made], sensitive=sensitive, seed=seed),
    }
    if not made.randomized or seed == 1:  # it counts its seeds from 1
        others["costs"] = evaluation.measure_information_loss(dataset, [made]).assign(seed=seed)
    if classes and seed == 1:
        others["gains"] = evaluation.measure_adversary_gains(dataset, [made], sensitive=sensitive)
    compared = set()
    for results in others.values():
        theirs = by_name(results)
        both = found.index.intersection(theirs.index)
        compared |= {measure for measure, _ in both}
        ours, theirs = found.loc[both].reset_index(), theirs.loc[both].reset_index()
        ours["baseline"] = ours.baseline.mask(ours.measure == "k_achieved")  # what is asked for, which they do not know
        pd.testing.assert_frame_equal(ours, theirs, check_like=True, rtol=1e-9)
    expected = {"utility_loss", "worse_than_trivial"}
    expected |= {"privacy_loss", "mean_privacy_loss", "certain_disclosure_share"} if classes else set()
    if not (others["leakage"].status == "refused").any():
        expected |= {"identity_vulnerability"}
        of = "bucket_vulnerability" if made.treatment == "bucketized" else "sensitive_vulnerability"
        expected |= {of} if classes else {"sensitive_vulnerability_at_most", "attribute_vulnerability"}
    expected |= {"suppressed_records", "certainty_penalty"} if "costs" in others and classes else set()
    expected |= {"accuracy_gain", "knowledge_gain"} if "gains" in others else set()
    assert expected <= compared
    alone = {"classes", "median_class_size"} if "costs" not in others else set()
    if "leakage" not in compared and (others["leakage"].status == "refused").any():  # a law without all closed forms
        alone |= {"identity_vulnerability", "sensitive_vulnerability_at_most", "attribute_vulnerability"}
    assert set(short(reading.results).measure) - compared - alone <= {
        *(f"{letter}_achieved" for letter in MODEL_BY_LETTER),
        "suppressed_cells", "accuracy_gain", "knowledge_gain", "buckets", "median_bucket_size",
        "certainty_penalty", "suppressed_records", "mean_absolute_error", "change_rate",
    }  # fmt: skip


ANY = {"l": 2, "t": 0.5, "delta": 1}  # a bound that promises something; levels do not depend on it


@pytest.mark.slow
def test_levels_are_graded_from_the_release_beside_what_was_asked(case):
    reading, _, _ = case
    levels = reading.results.set_index("measure").rename(index=lambda name: name.removesuffix("_achieved"))
    levels = levels[levels.index.isin(list(MODEL_BY_LETTER))]
    release = released(case)
    if release.groups is None:
        assert levels.empty, "nobody has a class"
        assert reading.promise
        return
    few = summary.reveals_small_count(release, reading.setting.sensitive)
    asked = reading.setting.bounds
    for letter, kind in MODEL_BY_LETTER.items():
        model = kind(2) if letter == "k" else kind(ANY[letter], reading.setting.sensitive)
        level, told = grade_release(model, release), levels.value[letter]
        if letter != "k" and few and level > (letter == "l"):
            assert np.isnan(told), "it would tell how many have a rare value"
        else:
            assert told == pytest.approx(level)
            if letter in asked and (letter, reading.setting.sanitizer) != ("k", "Bucketize"):
                kept = told - asked[letter] if model.better == "higher" else asked[letter] - told
                assert kept >= -1e-9
        assert levels.baseline[letter] == pytest.approx(asked.get(letter, np.nan), nan_ok=True)
        assert levels.better[letter] == model.better


def test_every_number_is_explained_with_its_direction(case):
    reading, _, _ = case
    for row in reading.results.itertuples():
        meaning = measure_facts(row.measure)
        assert meaning.better == row.better, row.measure
        assert meaning.title
        assert meaning.source
        assert meaning.sentence.endswith(".")


@pytest.mark.slow
def test_rows_that_are_shown_are_sanitized(case):
    reading, dataset, _ = case
    release = released(case)
    if release.has_unprotected_rows:
        nobodys = release.provenance.rows is Rows.SYNTHETIC
        assert ("synthetic row" if nobodys else "the record of one person") in reading.rows
        return
    if isinstance(reading.rows, str):
        assert f"has fewer than {LIMIT} people" in reading.rows
        reading = count_setting(dataset, replace(reading.setting, k=LIMIT))
    assert 0 < len(reading.rows) <= 12
    known = dataset.schema.quasi_identifiers
    assert list(reading.rows) == known
    alone = dataset.table.groupby(known, observed=True)[known[0]].transform("size") < 2
    records = set(map(tuple, dataset.table.loc[alone, known].astype(str).to_numpy()))
    assert records, "somebody is alone in the original"
    assert not records & set(map(tuple, reading.rows[known].astype(str).to_numpy()))


@pytest.mark.slow
def test_class_sizes_hold_everybody_and_no_few(case):
    reading, _, _ = case
    release = released(case)
    if release.groups is None:
        assert reading.sizes is None
        return
    people = reading.sizes.rows
    of = "bucket" if reading.setting.kind.treatment == "bucketized" else "class"
    assert list(people) == [f"people in a {of}", "people"]
    assert people["people"].sum() == len(release)
    assert (people["people"].between(1, LIMIT - 1)).sum() == 0


# Sizes


def sized(*sizes):
    class Made:
        buckets = people = None
        groups = np.repeat(np.arange(len(sizes)), sizes)
        headcount = len(groups)

    return count_class_sizes(Made())


def test_class_sizes_by_hand():
    rows = sized(*[1] * 12, *[3] * 5, 7, 12, 1500).rows
    assert dict(rows.to_numpy()) == {
        "1": 12, "2-4": 15, "5-19": 19, "20-49": 0, "50-99": 0, "100-199": 0, "200-499": 0, "500-999": 0,
        "1,000-1,999": 1500,
    }  # fmt: skip
    assert sized(1, 3, 30).rows.iloc[0].tolist() == ["1-49", 34], "four people are merged with their neighbours"
    assert sized(30).rows.to_numpy().tolist() == [["20-49", 30]]
    assert sized(4, 5) is None, "nine people"


# What a table cannot give


def people(**columns):
    """The clinic with other people: those columns, and everybody alike in the others."""
    alike = {"age": 40, "weight": 60.0, "postcode": "01011", "region": "north", "ward": "day", "diagnosis": "asthma"}
    table = pd.DataFrame({**alike, **columns})
    return Dataset("people", table.assign(patient=table.index.astype(str)), CLINIC.schema, CLINIC.hierarchies)


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        (Setting(k=500), "cannot be reached.*Lower k"),
        (Setting("Anatomy"), "l must be a whole number of at least 2"),
        (Setting("Anatomy", l=10), "cannot be reached.*Lower l"),
        (Setting("GeometricNoise", quasi_identifiers="region"), "no numeric quasi-identifier"),
    ],
)
def test_a_refusal_says_why_and_has_no_numbers(setting, reason):
    reading = count_setting(CLINIC, setting)
    assert pd.Series([reading.refused]).str.contains(reason).all()
    assert reading.results.empty
    assert list(reading.results) == COLUMNS
    assert reading.sizes is None
    assert isinstance(reading.rows, str)
    assert measure_setting(CLINIC, setting).empty


def test_few_suppressed_records_are_not_told_by_their_cells():
    """Six unlike all others are suppressed; each has four cells."""
    dataset = people(age=[40] * 144 + [20, 25, 60, 65, 90, 95], region=["north"] * 144 + ["east", "south", "west"] * 2)
    found = by_name(count_setting(dataset, Setting("FullDomain", k=5)).results)
    records, cells = found.loc[("suppressed_records", "")], found.loc[("suppressed_cells", "")]
    assert (records.low, records.high) == (1, 9)
    assert np.isnan([records.value, cells.value]).all()
    assert np.isnan(found.value["certainty_penalty", ""])


def test_few_suppressed_cells_are_not_told_by_what_cells_lose():
    """Four of 60 people keep one of two cells, and nobody else loses any."""
    dataset = people(age=[40] * 56 + [20] * 4, region=["north"] * 56 + ["north", "east", "south", "west"])
    found = by_name(count_setting(dataset, Setting("Mondrian", k=4, quasi_identifiers="age, region")).results)
    assert found.value["suppressed_records", ""] == 0
    assert np.isnan([found.value[name, ""] for name in ("suppressed_cells", "certainty_penalty")]).all()


def test_a_rare_value_is_not_told_by_the_worst_class():
    """Nine have it, and a class of three could tell who."""
    table = CLINIC.table.copy()
    rare = table.index[table.diagnosis == "asthma"][9:]
    table.loc[rare, "diagnosis"] = "migraine"
    dataset = Dataset("rare", table, CLINIC.schema, CLINIC.hierarchies)
    found = by_name(count_setting(dataset, Setting(k=3)).results)
    for row in (("privacy_loss", "diagnosis"), ("t_achieved", ""), ("delta_achieved", "")):
        assert np.isnan(found.value[row])
    assert found.value["k_achieved", ""] == 3
    assert np.isfinite(by_name(count_setting(dataset, Setting("Suppress")).results).value["l_achieved", ""])


def test_few_who_are_missed_are_told_by_no_gain():
    """Two people of each age, of whom three have what the other has not: a guess misses three."""
    diagnosis = np.where(np.arange(120) % 24 < 12, "asthma", "migraine").astype(object)
    diagnosis[[0, 10, 20]] = "influenza"
    dataset = people(age=20 + np.arange(120) // 2, diagnosis=diagnosis)
    found = by_name(count_setting(dataset, Setting("Identity")).results)
    for measure in ("sensitive_vulnerability", "accuracy_gain", "knowledge_gain"):
        assert np.isnan(found.value[measure, "diagnosis"]), measure
    assert found.low["sensitive_vulnerability", "diagnosis"] == pytest.approx(111 / 120)


def test_few_who_are_not_found_are_not_told_by_the_classes():
    """Of 80 people three share the age of another one."""
    age = np.arange(18, 98)
    age[:3] = 40, 50, 60
    dataset = people(age=age, diagnosis=np.where(age % 2, "asthma", "migraine").astype(object))
    found = by_name(count_setting(dataset, Setting("Identity")).results)
    assert np.isnan(found.value["identity_vulnerability", "identity"])
    assert np.isnan(found.value["classes", ""])


def test_what_is_published_as_it_is_is_said():
    reading = count_setting(CLINIC, Setting(k=5, quasi_identifiers="age, region, ward"))
    assert reading.note == "This setting assumes that an adversary does not know weight, postcode."
    assert {"weight", "postcode", "diagnosis"} <= {*reading.exact[1]}
    assert not count_setting(CLINIC, Setting(k=5)).note


def test_a_sensitive_number_is_published_in_bands_and_not_as_recorded():
    reading = count_setting(CLINIC, Setting(k=5, quasi_identifiers="age, region", sensitive="weight"))
    assert reading.exact[2] == ("weight",)
    assert "weight" not in reading.exact[1]
    assert dict(reading.treated)["weight"] == "in bands"
    assert describe_exact_columns(*reading.exact).endswith("Also published in bands of numbers: weight.")


def test_what_a_release_leaves_exact_is_known_column_by_column():
    def exact(kind):
        reading = count_setting(CLINIC, Setting(kind, l=2))
        assert "diagnosis" in reading.exact[1] or kind == "Bucketize"
        return {*reading.exact[0]}

    known = {*CLINIC.schema.quasi_identifiers}
    assert exact("Mondrian") == set(), "a label that happens to be the value is a label"
    assert exact("Identity") == exact("Bucketize") == known
    assert exact("LaplaceNoise") == {name for name in known if not CLINIC.schema[name].numeric}


# Kept by content


def test_the_same_is_counted_once(monkeypatch):
    setting = Setting(k=7, seed=11)
    first = count_setting(CLINIC, setting)
    monkeypatch.setattr(readings, "count_rows", None)  # a second count would fail
    same = Dataset(CLINIC.name, CLINIC.table.copy(), CLINIC.schema, CLINIC.hierarchies)
    assert same is not CLINIC
    assert count_setting(same, setting).results is first.results
    moved = replace(setting, epsilon=3, miner="majority", scenario="B")  # which Mondrian does not read
    assert count_setting(CLINIC, moved).results is first.results
    assert (count_setting(CLINIC, moved).setting.epsilon, count_setting(CLINIC, moved).setting.scenario) == (3, "B")
    others = [replace(setting, **change) for change in ({"k": 8}, {"seed": 12}, {"sensitive": "ward"}, {"l": 1.2})]
    assert [find_cached_reading(CLINIC, other) for other in others] == [None] * 4
    table = CLINIC.table.copy()
    table.loc[0, "age"] += 1
    assert find_cached_reading(Dataset(CLINIC.name, table, CLINIC.schema, CLINIC.hierarchies), setting) is None


def test_what_another_process_counted_is_kept():
    setting = Setting("Suppress", seed=77)
    assert find_cached_reading(CLINIC, setting) is None
    reading = pickle.loads(
        pickle.dumps(readings._count(CLINIC, readings.check_setting(setting, CLINIC), readings.LIMIT))
    )
    cache_reading(CLINIC, reading)
    assert find_cached_reading(CLINIC, setting).results is reading.results


def test_another_limit_withholds_more_and_is_kept_apart():
    setting = Setting(k=4, seed=78)
    usual, fewer = count_setting(CLINIC, setting), count_setting(CLINIC, setting, min_count=len(CLINIC))
    assert find_cached_reading(CLINIC, setting).results is usual.results
    assert find_cached_reading(CLINIC, setting, len(CLINIC)).results is fewer.results
    gain = usual.results.measure == "accuracy_gain"
    assert (usual.results[gain].value.notna().all(), fewer.results[gain].value.isna().all()) == (True, True)
    assert "has fewer than" in fewer.rows, "nobody's rows but those of so many are shown"
    assert fewer.sizes is None or fewer.sizes.rows["people"].tolist() == [len(CLINIC)]
    with pytest.raises(ValueError, match="min_count must be a whole number of at least 2"):
        count_setting(CLINIC, setting, min_count=1)


def test_readings_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(readings, "MAX_READINGS", 2)
    for seed in (301, 302, 303):
        count_setting(CLINIC, Setting("Suppress", seed=seed))
    there = [find_cached_reading(CLINIC, Setting("Suppress", seed=seed)) is not None for seed in (301, 302, 303)]
    assert there == [False, True, True]


def test_the_same_setting_gives_the_same_numbers():
    setting = Setting("GeometricNoise", epsilon=0.7, seed=5)
    again = readings._count(CLINIC, readings.check_setting(setting, CLINIC), readings.LIMIT)
    pd.testing.assert_frame_equal(count_setting(CLINIC, setting).results, again.results)
    other = count_setting(CLINIC, replace(setting, seed=6)).results
    assert (by_name(other).value != by_name(again.results).value)["mean_absolute_error"].all()


@pytest.mark.slow
def test_no_progress_is_drawn(tmp_path, monkeypatch):
    """A bar inside a callback of the board would be a widget nobody asked for."""
    noted = tmp_path / "progress"
    monkeypatch.setenv("PRIVNB_PROGRESS", str(noted))
    for kind in (name for name, each in kinds().items() if not each.reads_file):
        count_setting(CLINIC, Setting(kind, l=2, seed=21))
    assert not noted.exists()
    evaluation.measure_information_loss(CLINIC, [Suppress()])
    assert noted.exists(), "other functions do draw it"


# What miners tell


@pytest.mark.slow
def test_mined_are_the_numbers_of_the_other_notebooks():
    setting = Setting(k=10, miner="decision stump", scenario="C", seed=2)
    found, made = mine_setting(CLINIC, setting), make_sanitizer(setting, CLINIC)
    options = {"miners": "decision stump", "seed": 2}
    good = evaluation.measure_good_utility(CLINIC, [made, Suppress()], **options)
    bad = anti_utility(CLINIC, made, **options)
    bad = bad[short(bad).measure.isin(["anti_utility_C", "nearer_share"])]
    theirs = pd.concat([good, bad[short(bad).miner.isin(short(found).miner)]], ignore_index=True)
    pd.testing.assert_frame_equal(found.reset_index(drop=True), theirs)
    found = short(found)
    assert {"decision stump", "control: ZeroR", "control: permuted", "control: held-out", "worst"} == set(found.miner)
    assert {"Identity", "Mondrian", "Suppress"} == set(found.sanitizer)
    assert (found.measure == "nearer_share").any(), "who is hit"


@pytest.mark.slow
def test_noise_is_attacked_by_a_miner_that_guesses_numbers():
    setting = Setting("LaplaceNoise", miner="decision tree")
    found = mine_setting(CLINIC, setting)
    gain = disclosure(CLINIC, [make_sanitizer(setting, CLINIC)], miners="decision tree")
    pd.testing.assert_frame_equal(found[found.measure == "accuracy_gain"].reset_index(drop=True), gain)
    assert "A" in set(found.scenario)
    without = mine_setting(CLINIC, replace(setting, miner="naive Bayes"))
    assert set(without.measure) == {"good_utility", "utility_decline", "accuracy_gain"}


@pytest.mark.slow
def test_who_is_not_mined_has_no_rows():
    assert mine_setting(CLINIC, Setting("Bucketize", miner="majority")).empty
    assert set(short(mine_setting(CLINIC, Setting(sensitive="weight", miner="majority"))).measure) == {
        "anti_utility_A",
        "good_utility",
        "nearer_share",
        "utility_decline",
    }, "a number is guessed in bands"
    assert set(mine_setting(CLINIC, Setting("Identity", miner="majority")).sanitizer) == {"Identity", "Suppress"}


def test_a_report_finds_what_the_board_mined(tmp_path, monkeypatch):
    setting = Setting(miner="majority", quasi_identifiers="age, region", sensitive="ward")
    first = measure_setting(CLINIC, setting, str(tmp_path))
    assert set(first.sanitizer) == {"Mondrian", "Identity", "Suppress"}

    def refuse(*_):
        raise AssertionError("mined again")

    monkeypatch.setattr("privnb.evaluation.predictions._predict_each", refuse)
    pd.testing.assert_frame_equal(measure_setting(CLINIC, setting, str(tmp_path)), first)
    with pytest.raises(AssertionError, match="mined again"):
        measure_setting(CLINIC, setting)


@pytest.mark.slow
def test_every_mined_number_is_explained():
    for scenario in "ABC":
        for row in mine_setting(CLINIC, Setting(miner="majority", scenario=scenario)).itertuples():
            assert measure_facts(row.measure).better == row.better
            assert measure_facts(row.measure).sentence


# The plane


def test_the_plane_is_of_counted_readings():
    settings = [Setting(k=k) for k in (5, 20)] + [Setting("Suppress"), Setting("LaplaceNoise"), Setting(k=5, epsilon=2)]
    found = locate_in_plane(CLINIC, [*settings, Setting(k=500)], "privacy_loss", "utility_loss").set_index("setting")
    assert set(found.index) == {"Mondrian, k = 5", "Mondrian, k = 20", "Suppression", "Laplace noise, epsilon 1"}
    for k in (5, 20):
        values = by_name(count_setting(CLINIC, Setting(k=k)).results).value
        assert found.privacy[f"Mondrian, k = {k}"] == pytest.approx(values["privacy_loss", "diagnosis"])
        assert found.utility[f"Mondrian, k = {k}"] == pytest.approx(values["utility_loss", "diagnosis"])
    assert str(found.why["Laplace noise, epsilon 1"]) == "its privacy loss of the worst-off person is missing"
    assert found.status["Suppression"] == "efficient", "nothing tells less"


@pytest.mark.slow
def test_every_axis_can_be_chosen():
    settings = [Setting(k=k) for k in (5, 20)]
    offered = {
        kind: axis_measures(kind, [count_setting(CLINIC, setting) for setting in settings])
        for kind in ("privacy", "utility")
    }
    assert {"accuracy_gain", "privacy_loss", "identity_vulnerability"} <= {each.name for each in offered["privacy"]}
    assert {"utility_loss", "certainty_penalty"} <= {each.name for each in offered["utility"]}
    for privacy, utility in product(offered["privacy"], offered["utility"]):
        assert len(locate_in_plane(CLINIC, settings, privacy.name, utility.name)) == 2


def test_the_axes_wait_for_no_module_that_states_other_measures(monkeypatch):
    reading = count_setting(CLINIC, Setting(k=5))
    monkeypatch.setattr("privnb.measures.base._import_rooms", lambda rooms: pytest.fail("a second of imports"))
    assert len(axis_measures("privacy", [reading])) > 1


def test_releases_about_other_attributes_are_no_alternatives():
    with pytest.raises(
        ValueError, match="must have the same quasi-identifiers and the same sensitive attribute; got 2"
    ):
        locate_in_plane(CLINIC, [Setting(), Setting(sensitive="ward")], "privacy_loss", "utility_loss")
    with pytest.raises(ValueError, match="none of these settings has a release"):
        locate_in_plane(CLINIC, [Setting(k=500)], "privacy_loss", "utility_loss")
    with pytest.raises(
        ValueError,
        match=r"'Accuracy gain' has no value for these settings. Choose another measure of privacy: 'Row traced",
    ):
        locate_in_plane(CLINIC, [Setting("LaplaceNoise")], "accuracy_gain", "utility_loss")


def test_a_number_can_be_sensitive():
    for kind in ("Mondrian", "TopDownSpecialization", "Bucketize"):
        reading = count_setting(CLINIC, Setting(kind, k=10, sensitive="weight"))
        assert not reading.refused
        assert isinstance(reading.sizes, Aggregate)
        # Few people have any one weight, so that the gain of guessing it is withheld; its direction stands.
        assert by_name(reading.results).better["accuracy_gain", "weight"] == "lower"


def test_identity_is_the_original():
    assert make_sanitizer(Setting("Identity"), CLINIC) == Identity()


def test_releases_of_the_plane_are_named_by_all_that_is_asked_of_them():
    settings = [Setting(k=5, t=0.5), Setting(k=10, t=0.5), Setting("Suppress")]
    found = locate_in_plane(CLINIC, settings, "accuracy_gain", "certainty_penalty")
    assert found.setting.tolist() == ["Mondrian, k = 5, t = 0.5", "Mondrian, k = 10, t = 0.5", "Suppression"]
