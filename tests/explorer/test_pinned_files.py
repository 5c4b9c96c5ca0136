"""Files of other tools as pins: what is kept about them, what is measured, and what a bad or changed file does."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.decision import policies
from privnb.decision.assessment import assess_release
from privnb.decision.policies import RISKS
from privnb.explorer import pinned_files
from privnb.explorer.pinned_files import measure_file_risks, mine_file, read_file, read_files
from privnb.explorer.pins import CHANGED, VANISHED, FilePin, Pins, find_file, find_trouble, open_file, pin_file
from privnb.explorer.readings import locate_in_plane
from privnb.explorer.risks import ORDER
from privnb.explorer.setting import Setting, check_setting
from privnb.runtime.errors import MissingFileError, UsageError
from privnb.sanitizers import Mondrian
from privnb.sanitizers.made_elsewhere import MadeElsewhere

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
SEES_ALL = 2  # the smallest limit, so that twelve people have numbers
NUMBERS = ["measure", "variant", "group", "scenario", "target", "value", "low", "high"]


@pytest.fixture(scope="module")
def people():
    return load(FOREIGN / "people.toml")


@pytest.fixture(scope="module")
def setting(people):
    return check_setting(Setting(k=3), people)


@pytest.fixture
def project(tmp_path):
    """A project with notebooks, and with files of other tools in both folders."""
    (tmp_path / "notebooks").mkdir()
    shutil.copy(FOREIGN / "files" / "arx.csv", tmp_path / "notebooks" / "arx.csv")
    shutil.copy(FOREIGN / "files" / "synthetic.csv", tmp_path / "synthetic.csv")
    return tmp_path


@pytest.fixture
def folder(project):
    return project / "notebooks"


# --- paths ---


@pytest.mark.parametrize("path", ["arx.csv", " arx.csv ", "../notebooks/arx.csv", "notebooks/arx.csv", "{}/arx.csv"])
def test_a_path_is_from_the_notebook_or_the_project_or_absolute(path, folder):
    assert find_file(path.format(folder), folder) == folder / "arx.csv"
    assert pin_file(path.format(folder), folder, "people").path == "arx.csv"


def test_a_path_outside_the_project_stays_absolute(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "theirs.csv"
    shutil.copy(folder / "arx.csv", other)
    assert pin_file(str(other), folder, "people").path == str(other.resolve())
    assert pin_file("synthetic.csv", folder, "people").path == "../synthetic.csv"


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_a_path_that_names_nothing_is_refused(path, folder):
    with pytest.raises(UsageError, match="`path` must name a file"):
        find_file(path, folder)


def test_a_missing_file_is_named_with_the_folders_that_were_searched(folder):
    with pytest.raises(MissingFileError, match=r"no file 'theirs\.csv'.*notebooks.*Correct the path"):
        find_file("theirs.csv", folder)
    with pytest.raises(MissingFileError, match="no file"):
        pin_file("x" * 5000, folder, "people")


def test_a_file_that_changes_or_vanishes_has_no_numbers_until_it_is_as_before(folder, people, setting):
    pin, path = pin_file("arx.csv", folder, "people"), folder / "arx.csv"
    before, times = path.read_bytes(), path.stat()
    assert find_trouble(pin, folder) == ""
    path.write_bytes(before.replace(b"asthma", b"flu", 1))
    assert find_trouble(pin, folder) == CHANGED
    with pytest.raises(UsageError, match="has changed since it was pinned"):
        open_file(pin, folder)
    reading = read_file(people, setting, pin, folder, SEES_ALL)
    assert reading.refused == CHANGED
    assert reading.results.empty
    for measure in (lambda: measure_file_risks(people, setting, pin, folder, ["identity"], SEES_ALL),
                    lambda: mine_file(people, setting, pin, folder, SEES_ALL)):  # fmt: skip
        with pytest.raises(UsageError, match="has changed"):
            measure()
    path.unlink()
    assert find_trouble(pin, folder) == VANISHED
    path.write_bytes(before)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert find_trouble(pin, folder) == ""


# --- what the pins keep ---


def test_the_pins_keep_path_digest_and_answers_and_no_record(folder):
    pins = Pins(folder / "pins.json")
    pin = pin_file("arx.csv", folder, "people", rows="in order", perturbed=["job", "age"])
    pins.add(pin)
    assert json.loads((folder / "pins.json").read_text()) == {
        "settings": [],
        "files": [
            {
                "path": "arx.csv",
                "sha256": pin.sha256,
                "dataset": "people",
                "rows": "in order",
                "perturbed": ["age", "job"],
            }
        ],
    }
    assert Pins(folder / "pins.json").files == [pin]
    assert not any(word in (folder / "pins.json").read_text() for word in ("asthma", "148**", "diabetes"))


def test_a_file_is_pinned_once_and_undo_brings_the_older_pin_back(folder):
    pins, other = Pins(folder / "pins.json"), Setting(k=4)
    first, synthetic = pin_file("arx.csv", folder, "people"), pin_file("synthetic.csv", folder, "people")
    for pin in (first, synthetic, other):
        pins.add(pin)
    again = pin_file("arx.csv", folder, "people", perturbed=["age"])
    pins.add(again)
    assert pins.files == Pins(folder / "pins.json").files == [again, synthetic]
    pins.undo()
    assert pins.files == [first, synthetic]
    pins.remove(first)
    assert pins.files == [synthetic]
    with pytest.raises(ValueError, match="not pinned"):
        pins.remove(first)
    pins.undo()
    assert (pins.files, pins.settings) == ([first, synthetic], [other])
    for _ in range(5):
        pins.undo()
    assert (pins.files, pins.settings) == ([], [])


ENTRY = {"path": "a.csv", "sha256": "0" * 64, "dataset": "people", "rows": "measured", "perturbed": []}


@pytest.mark.parametrize(
    "bad",
    [
        {"path": ""}, {"path": 1}, {"path": "a\0"}, {"sha256": "0" * 63}, {"sha256": None}, {"rows": "mine"},
        {"rows": []}, {"perturbed": "age"}, {"perturbed": [1]}, {"dataset": None}, {"unheard": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_pin_of_a_file_leaves_the_file_of_pins_as_it_is(bad, folder):
    path = folder / "pins.json"
    text = json.dumps({"settings": [], "files": [ENTRY | bad]})
    path.write_text(text)
    with pytest.raises(ValueError, match="The file is unchanged"):
        Pins(path)
    assert path.read_text() == text
    path.write_text(json.dumps({"settings": [], "files": [ENTRY]}))
    assert Pins(path).files == [FilePin("a.csv", "0" * 64, "people")]


# --- what is measured ---


def test_a_file_is_measured_as_assess_measures_it(folder, people, setting):
    """The same questions about the same release have the same answers, value and interval."""
    pin = pin_file("arx.csv", folder, "people")
    found, _ = measure_file_risks(people, setting, pin, folder, ORDER, SEES_ALL)
    assert set(found) == set(RISKS)
    sanitizer = MadeElsewhere(str(folder / "arx.csv"))
    assessed = assess_release(sanitizer, people, policies.read("k-5"), min_count=SEES_ALL).own_results
    compared = 0
    for risk, rows in found.items():
        theirs = assessed[assessed.measure.isin(rows.measure)][NUMBERS].reset_index(drop=True)
        for name in ("value", "low", "high"):
            np.testing.assert_array_equal(rows[name].to_numpy(float), theirs[name].to_numpy(float), err_msg=risk)
        compared += rows.value.notna().sum()
    assert compared > 5
    (reason,) = found["membership"].reason
    assert "Give a hold-out" in reason


def test_a_reading_tells_how_columns_were_treated_and_what_rows_stand_for(folder, people, setting):
    arx = read_file(people, setting, pin_file("arx.csv", folder, "people"), folder, SEES_ALL)
    assert dict(arx.treated) == {
        "Rows": "the records", "age": "generalized", "zip": "generalized", "job": "suppressed", "born": "generalized",
        "illness": "exact",
    }  # fmt: skip
    assert arx.results.set_index("measure").value["k_achieved"] == 1
    shutil.copy(FOREIGN / "files" / "sdcmicro.csv", folder)
    lacking = read_file(people, setting, pin_file("sdcmicro.csv", folder, "people"), folder, SEES_ALL)
    assert dict(lacking.treated)["born"] == "not in the file"
    made = pin_file("synthetic.csv", folder, "people", rows="synthetic")
    synthetic = read_file(people, setting, made, folder, SEES_ALL)
    assert dict(synthetic.treated)["Rows"] == "synthetic"
    assert "k_achieved" not in set(synthetic.results.measure)
    assert "its rows are synthetic" in synthetic.promise


def test_few_people_are_withheld_in_a_file_too(folder, people, setting):
    pin = pin_file("arx.csv", folder, "people")
    shown, withheld = (read_file(people, setting, pin, folder, limit).results.set_index("measure").value
                       for limit in (SEES_ALL, 10))  # fmt: skip
    assert shown.notna()["classes"]
    assert withheld.isna()["classes"]


@pytest.mark.parametrize("name", sorted(path.name for path in (FOREIGN / "refused").iterdir()))
def test_a_bad_file_is_refused_in_the_words_of_the_reader(name, people, setting):
    folder = FOREIGN / "refused"
    reading = read_file(people, setting, pin_file(name, folder, "people"), folder, SEES_ALL)
    assert reading.refused.startswith(f"{name}, line ")
    assert reading.results.empty


@pytest.mark.parametrize("text", ["", "age\n", "name,phone\nx,1\n", "\x00\x01", "age,age\n1,2\n"], ids=repr)
def test_a_file_that_is_no_table_of_these_people_is_refused(text, folder, people, setting):
    (folder / "bad.csv").write_text(text)
    reading = read_file(people, setting, pin_file("bad.csv", folder, "people"), folder, SEES_ALL)
    assert reading.refused
    assert reading.results.empty


def test_the_miner_of_a_file_states_why_it_has_no_number(folder, people, setting):
    found = mine_file(people, setting, pin_file("arx.csv", folder, "people"), folder, SEES_ALL)
    own = found[found.sanitizer == "MadeElsewhere"].drop_duplicates("measure").set_index("measure")
    assert own.value["good_utility"] >= 0
    synthetic = pin_file("synthetic.csv", folder, "people", rows="synthetic")
    found = mine_file(people, setting, synthetic, folder, SEES_ALL)
    own = found[(found.sanitizer == "MadeElsewhere") & (found.measure == "good_utility")]
    assert own.value.isna().all()
    assert "synthetic" in own.reason.iloc[0]


def test_a_file_is_a_point_only_if_it_has_both_measures(folder, people, setting):
    pins = [
        pin_file("arx.csv", folder, "people"),
        pin_file("synthetic.csv", folder, "people", rows="synthetic"),
    ]
    files = read_files(people, setting, pins, folder, SEES_ALL)
    found = locate_in_plane(people, [setting], "accuracy_gain", "utility_loss", SEES_ALL, files)
    assert sorted(found.setting) == ["Mondrian, k = 3", "arx.csv"]
    point = found.set_index("setting").loc["arx.csv"]
    own = files[0].results.drop_duplicates("measure").set_index("measure").value
    assert (point.privacy, point.utility) == (own["accuracy_gain"], own["utility_loss"])


def test_a_file_of_a_large_table_has_the_risks_of_all_and_the_miner_of_sampled_people(tmp_path, monkeypatch):
    clinic = load(CLINIC)
    setting, sample = check_setting(Setting(k=5), clinic), clinic.sample(120, rng=0)
    Mondrian(k=5).sanitize(clinic, rng=1).table.to_csv(tmp_path / "theirs.csv", index=False)
    monkeypatch.setattr(pinned_files, "sample_large_table", lambda _: sample)
    pin = pin_file("theirs.csv", tmp_path, "clinic")
    found, _ = measure_file_risks(clinic, setting, pin, tmp_path, ["identity", "linkability"])
    assert {*found["identity"].dataset, *found["linkability"].dataset} == {clinic.name}
    identity = found["identity"].query("variant == '' and group == ''")
    assert 0 < identity.value.iloc[0] <= 1 / 5 + 1e-9
    mined = mine_file(clinic, setting, pin, tmp_path)
    own = mined[(mined.sanitizer == "MadeElsewhere") & (mined.measure == "good_utility")]
    assert set(own.dataset) == {sample.name}
    assert 0 < own.value.iloc[0] <= len(sample)
