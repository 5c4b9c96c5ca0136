"""What is saved: measured in the files themselves, said beforehand, refused where somebody stands alone."""

import hashlib
import json
import os
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import cli
from privnb.datasets.dataset import Dataset, load
from privnb.decision import card
from privnb.evaluation.predictions import derive_seed
from privnb.explorer import saving
from privnb.explorer.readings import count_setting
from privnb.explorer.saving import export_terms, save_release
from privnb.explorer.setting import Setting, apply_roles, make_sanitizer
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models.grading import grade
from privnb.publishing.gate import Refused
from privnb.sanitizers import SanitizationError

SEED = 918273645
BESIDE = "", ".codebook.csv", ".codebook.json", ".provenance.json"  # a release and what stands beside it
WHY = "This test reads what is saved."
EVERYTHING = "age, weight, postcode, region, ward"
FIVE = Setting(k=5, quasi_identifiers=EVERYTHING, seed=SEED)
MADE = [
    FIVE,
    replace(FIVE, sanitizer="LocalRecoding", t=0.6),
    replace(FIVE, sanitizer="FullDomain"),
    replace(FIVE, sanitizer="TopDownSpecialization"),
    replace(FIVE, sanitizer="KMember", l=1.2),
]
BUCKETS = [replace(FIVE, sanitizer="Bucketize"), replace(FIVE, sanitizer="Anatomy", l=2)]
NOISE = [Setting(kind, epsilon=2, seed=SEED) for kind in ("LaplaceNoise", "GeometricNoise", "RandomizedResponse")]


def read(path):
    """A saved table, each cell as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


def of(clinic, *names):
    """The clinic's table with these columns alone."""
    roles = {name: clinic.schema[name].role for name in names}
    return Dataset("clinic", clinic.table[[*names]], clinic.schema.with_roles(roles), clinic.hierarchies)


@pytest.fixture(scope="module")
def blurred(clinic):
    """A function: the clinic as noise of a kind can publish it, with no column that singles anybody out."""
    numbers, words = of(clinic, "age", "weight", "ward", "diagnosis"), of(clinic, "region", "diagnosis")
    return lambda setting: words if setting.sanitizer == "RandomizedResponse" else numbers


def of_board(dataset, setting):
    """The release as the board has it."""
    made = make_sanitizer(setting, dataset)
    return made.sanitize(apply_roles(dataset, setting), rng=derive_seed(setting.seed, made, "sanitize"))


def status(release, provenance, *more):
    """The status of `privnb check` on a saved release, in the roles that its provenance names."""
    text = json.loads(provenance.read_text())
    names = ",".join(text["quasi-identifiers"])
    return cli.main(["check", str(release), "--quasi", names, "--sensitive", text["sensitive"][0], *more])


@pytest.mark.slow
@pytest.mark.parametrize("setting", MADE, ids=lambda setting: setting.sanitizer)
def test_a_saved_release_keeps_what_was_asked(clinic, tmp_path, setting):
    table, provenance = save_release(clinic, setting, tmp_path)
    assert status(table, provenance, "--model", "k=5") == 0
    assert status(table, provenance, "--model", "k=300") == 1
    text = json.loads(provenance.read_text())
    found = read(table)
    graded = grade(found, text["quasi-identifiers"], "diagnosis").set_index("measure").value
    assert graded["records"] == len(clinic)
    assert graded["k achieved"] >= 5
    assert graded["t, equal distance"] <= (setting.t or 1)
    assert graded["l, frequency"] >= (setting.l or 1)
    assert text["files"] == {table.name: hashlib.sha256(table.read_bytes()).hexdigest()}
    assert text["claims"][0] == "KAnonymity(k=5)"
    assert text["measured"]["k"] == graded["k achieved"] == text["measured"]["claims"]["KAnonymity(k=5)"]
    assert {*text["measured"]["claims"]} == {*text["claims"]}
    assert text["columns"]["age"] == "generalized"
    assert text["columns"]["diagnosis"] == "exact"
    assert "patient" not in found


def test_saved_rows_are_the_releases_sorted_by_what_they_hold(clinic, tmp_path):
    released = of_board(clinic, FIVE).table.astype(str).agg("|".join, axis=1).tolist()
    orders = [read(save_release(clinic, FIVE, tmp_path)[0]).agg("|".join, axis=1).tolist() for _ in range(2)]
    assert orders[0] == orders[1] == sorted(released)
    assert released != orders[0]


@pytest.mark.parametrize("setting", [FIVE, *BUCKETS, *NOISE], ids=lambda setting: setting.sanitizer)
def test_no_file_holds_the_seed(clinic, blurred, tmp_path, setting):
    for path in save_release(blurred(setting) if setting in NOISE else clinic, setting, tmp_path, allow=WHY):
        assert str(SEED) not in path.read_text()
        assert "seed" not in path.read_text()


def test_noise_is_drawn_afresh_and_promises_its_epsilon(blurred, tmp_path):
    one, other = (save_release(blurred(NOISE[0]), NOISE[0], tmp_path) for _ in range(2))
    ages = [read(table)["age"].astype(float) for table, _ in (one, other)]
    assert not {*ages[0]} & {*ages[1]}
    text = json.loads(one[1].read_text())
    assert text["use"] == "release"
    assert text["promise"]["epsilon"] == 4
    assert "Each further noisy release" in text["promise"]["statement"]
    assert [name for name, treatment in text["columns"].items() if treatment == "exact"] == ["ward", "diagnosis"]
    assert text["columns"]["age"] == "noisy: Laplace noise, scale 40.5"
    assert text["rows"] == "the records"
    assert text["measured"]["k"] is None


@pytest.mark.parametrize("setting", BUCKETS, ids=lambda setting: setting.sanitizer)
def test_buckets_are_a_third_file(clinic, tmp_path, setting):
    with pytest.raises(Refused, match="age, weight, postcode single them out"):
        save_release(clinic, setting, tmp_path)
    table, provenance, buckets = save_release(clinic, setting, tmp_path, allow=WHY)
    text = json.loads(provenance.read_text())
    rows, values = read(table), read(buckets)
    assert {*text["files"]} == {table.name, buckets.name}
    assert "diagnosis" not in rows
    assert {*values["attribute"]} == {"diagnosis"}
    assert (
        rows["bucket"].value_counts().to_dict() == values["count"].astype(int).groupby(values["bucket"]).sum().to_dict()
    )
    assert text["note"].startswith("Quasi-identifiers are exact")
    assert text["use"] == "release"
    assert text["columns"]["diagnosis"] == "bucketized"
    # Of the exact quasi-identifiers, counted by other means.
    assert text["measured"]["k"] == rows[EVERYTHING.split(", ")].value_counts().min() == 1
    for claim, level in text["measured"]["claims"].items():
        assert claim == "FrequencyDiversity(l=2, sensitive='diagnosis')"
        counts = values.assign(count=values["count"].astype(int)).groupby("bucket")["count"].agg(["sum", "max"])
        assert level == pytest.approx((counts["sum"] / counts["max"]).min())


def test_a_release_in_which_somebody_stands_alone_is_not_saved(clinic, tmp_path):
    with pytest.raises(Refused, match=r"The gate refuses Identity\(\)\. One person is unique in age"):
        save_release(clinic, Setting("Identity"), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["Mondrian", "Suppress"])
def test_a_release_with_quasi_identifiers_as_they_are_is_not_saved(clinic, tmp_path, kind):
    with pytest.raises(Refused, match=r"weight, postcode.* single them out. Let a model generalize them"):
        save_release(clinic, replace(FIVE, sanitizer=kind, quasi_identifiers="age, region"), tmp_path)
    with pytest.raises(Refused, match=r"weight.* out. Let a model generalize"):
        save_release(clinic, Setting(kind, k=5, sensitive="weight"), tmp_path)
    assert not list(tmp_path.iterdir())
    save_release(clinic, replace(FIVE, sanitizer=kind), tmp_path)


def test_what_cannot_be_reached_leaves_no_file(clinic, tmp_path):
    with pytest.raises(SanitizationError, match="cannot be reached"):
        save_release(clinic, replace(FIVE, l=10), tmp_path)
    assert not list(tmp_path.iterdir())


def test_saving_overwrites_nothing_and_leaves_nothing_half_done(clinic, tmp_path, monkeypatch):
    folders = [save_release(clinic, FIVE, tmp_path / "new")[0].parent for _ in range(3)]
    name = "clinic-clinic-Mondrian-k5"
    assert [folder.name for folder in folders] == [name, f"{name}-2", f"{name}-3"]
    assert {path.name for path in folders[1].iterdir()} == {f"{name}.csv{each}" for each in BESIDE}

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(saving.json, "dumps", full)
    with pytest.raises(OSError, match="no space"):
        save_release(clinic, FIVE, tmp_path / "new")
    assert sorted((tmp_path / "new").iterdir()) == sorted(folders)


def test_parquet_holds_what_csv_holds(clinic, tmp_path):
    path, provenance = save_release(clinic, FIVE, tmp_path, "Parquet")
    assert path.suffix == ".parquet"
    saved, seen = pd.read_parquet(path), pd.read_csv(save_release(clinic, FIVE, tmp_path)[0])
    columns = list(seen)
    assert list(saved) == columns
    assert saved.value_counts().sort_index().equals(seen.value_counts().sort_index())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert json.loads(provenance.read_text())["files"] == {path.name: digest}
    assert card.read_file_provenance(path)["sanitizer"], "a card reads it, as of a file that `decide` has written"


@pytest.mark.parametrize("kind", BUCKETS, ids=lambda setting: setting.sanitizer)
def test_numbers_and_words_by_bucket_are_text_in_parquet(tmp_path, kind):
    data, setting = people(job=["@smith", "tailor"] * 200), replace(kind, quasi_identifiers="")
    buckets = [save_release(data, setting, tmp_path, format, allow=WHY)[2] for format in saving.FORMATS]
    words, values = pd.read_csv(buckets[0], dtype={"value": str}), pd.read_parquet(buckets[1])
    assert set(words["attribute"]) == set(values["attribute"]) == {"job", "pay"}
    assert set(words["value"]) == set(values["value"])
    assert values["value"].map(type).eq(str).all()


def test_another_format_is_refused(clinic, tmp_path):
    with pytest.raises(ValueError, match="format must be one of CSV, Parquet; got 'xlsx'"):
        save_release(clinic, FIVE, tmp_path, "xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", saving.FORMATS)
def test_a_saved_release_is_the_owners_alone_until_it_is_handed_on(clinic, tmp_path, format):
    before = os.umask(0o022)
    try:
        saved = save_release(clinic, FIVE, tmp_path / "releases", format=format)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in saved} == {0o600}
    assert stat.S_IMODE(saved[0].parent.stat().st_mode) == 0o700


# --- every column is asked about ---

PEOPLE = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("Aford", "=Bton", "-Cham"))),
        Attribute("cost", Role.NEUTRAL, Numbers(0, 999_999)),
        Attribute("job", Role.SENSITIVE, Categories(("@smith", "tailor"))),
        Attribute("pay", Role.SENSITIVE, Numbers(0, 999_999)),
    ),
)


def people(n=400, **columns):
    rng = np.random.default_rng(2)
    own = {
        "age": rng.integers(20, 60, n),
        "town": rng.choice(["Aford", "=Bton", "-Cham"], n),
        "cost": rng.integers(0, 3, n) * 1000,
        "job": rng.choice(["@smith", "tailor"], n),
        "pay": rng.choice(999_999, n, replace=False),
    }
    hierarchies = {name: flat(PEOPLE[name]) for name in PEOPLE.quasi_identifiers}
    return Dataset("people", pd.DataFrame(own | columns), PEOPLE, hierarchies)


def test_exact_quasi_identifiers_beside_noise_are_said_and_refused_where_somebody_stands_alone(clinic, tmp_path):
    setting = Setting("RandomizedResponse")
    said, refused, _ = export_terms(clinic, setting, of_board(clinic, setting))
    assert any("exact quasi-identifiers: age, weight. An adversary who" in text for text in said)
    assert "One person is unique in age, weight as published" in refused
    with pytest.raises(Refused, match="One person is unique in age, weight as"):
        save_release(clinic, setting, tmp_path)
    assert not list(tmp_path.iterdir())
    # Nobody stands alone: it is saved, and says what it has.
    aged = people(age=np.repeat([30, 40], 200), cost=0)
    _, provenance = save_release(aged, setting, tmp_path)
    text = json.loads(provenance.read_text())
    response = "noisy: randomized response, 3 values, each true one kept with 0.5761"
    assert text["columns"] == dict.fromkeys(["age", "town", "cost", "job", "pay"], "exact") | {"town": response}
    assert (
        "The release has exact quasi-identifiers: age. An adversary who knows the values of a person finds the row."
        in text["said"]
    )
    assert text["gate"]["allowed"]


@pytest.mark.parametrize("kind", ["Mondrian", "Suppress"])
def test_neutral_columns_that_single_somebody_out_beside_the_labels_are_refused(tmp_path, kind):
    costs = people(cost=np.random.default_rng(3).choice(999_999, 400, replace=False))
    setting = Setting(kind, k=10)
    said, refused, _ = export_terms(costs, setting, of_board(costs, setting))
    assert "The release has exact neutral columns: cost. No guarantee covers them." in said
    assert any(text.startswith("More than half of the values in cost, pay are distinct") for text in said)
    assert "cost singles them out. Let a model generalize it (role 'quasi-identifier')" in refused
    with pytest.raises(Refused, match="cost singles them out"):
        save_release(costs, setting, tmp_path)
    _, provenance = save_release(costs, replace(setting, quasi_identifiers="age, town, cost"), tmp_path)
    text = json.loads(provenance.read_text())
    assert text["gate"]["allowed"]
    assert text["measured"]["k"] >= 10


def test_one_person_alone_is_enough(tmp_path):
    """All share their age, town and cost with 199 others, but for one, whose cost is another."""
    few = people(age=np.repeat([30, 40], 200), town="Aford", cost=np.repeat([1000, 2000], 200))
    setting = Setting("Mondrian", k=100)
    save_release(few, setting, tmp_path)
    cost = few.table["cost"].to_numpy().copy()
    cost[7] = 3000
    alone = people(age=np.repeat([30, 40], 200), town="Aford", cost=cost)
    with pytest.raises(Refused, match=r"fewer than 10 people\. cost singles them out"):
        save_release(alone, setting, tmp_path)
    cost[:100] = 3000
    save_release(people(age=np.repeat([30, 40], 200), town="Aford", cost=cost), setting, tmp_path)


@pytest.mark.slow
def test_text_that_a_spreadsheet_may_run_is_said_and_stays_as_it_is(tmp_path):
    data = people(age=30, cost=0)
    for setting, named in (
        (Setting("Suppress"), "job"),
        (Setting("LaplaceNoise"), "town, job"),
        (Setting("Bucketize", k=2), "town, job"),
    ):
        assert (
            count_setting(data, setting)
            .terms.sentences[-1]
            .startswith(f"Text in {named} begins with =, +, -, @ or a tab")
        )
        table, provenance, *buckets = save_release(data, setting, tmp_path, allow=WHY)
        assert any(text.startswith(f"Text in {named} begins") for text in json.loads(provenance.read_text())["said"])
        held = read(buckets[0])["value"] if buckets else read(table)["job"]
        assert {"@smith", "tailor"} <= {*held}
        if "town" in named:
            assert {*read(table)["town"]} == {"Aford", "=Bton", "-Cham"}
    plain = people(town="Aford", job="tailor", cost=-0)
    assert not any("spreadsheet" in text for text in count_setting(plain, Setting("LaplaceNoise")).terms.sentences)


def test_what_is_drawn_is_said_to_be_drawn_anew(clinic):
    for setting in (*BUCKETS, replace(NOISE[0])):
        said = [text for text in count_setting(clinic, setting).terms.sentences if "is certain for" not in text]
        assert "Saving repeats all random draws" in said[0], "only what is certain is said before it"
    assert not any("random" in text for text in count_setting(clinic, FIVE).terms.sentences)


@pytest.mark.parametrize("format", saving.FORMATS)
def test_two_saved_releases_cannot_be_put_side_by_side(clinic, tmp_path, format):
    """Rows stand where their own cells put them: the table in another order gives the same files, byte for byte."""
    order = np.random.default_rng(4).permutation(len(clinic))
    other = Dataset(clinic.name, clinic.table.iloc[order], clinic.schema, clinic.hierarchies)
    for setting in (FIVE, replace(FIVE, sanitizer="LocalRecoding"), replace(FIVE, sanitizer="Suppress")):
        one, two = (save_release(data, setting, tmp_path, format)[0].read_bytes() for data in (clinic, other))
        assert one == two
    owned = Dataset(clinic.name, clinic.table.copy(), clinic.schema, clinic.hierarchies)
    owned.table.attrs["first"] = "CANARY"
    owned.table["diagnosis"] = pd.Categorical(owned.table["diagnosis"], list(dict.fromkeys(owned.table["diagnosis"])))
    assert (
        save_release(owned, FIVE, tmp_path, format)[0].read_bytes()
        == save_release(clinic, FIVE, tmp_path, format)[0].read_bytes()
    )


def test_saved_buckets_are_numbered_anew_each_time(clinic, tmp_path):
    """By people who can be told apart: the numbers of two savings go together no more than by chance."""
    numbers = []
    for _ in range(2):
        rows = read(save_release(clinic, BUCKETS[0], tmp_path, allow=WHY)[0])
        key = rows[EVERYTHING.split(", ")].agg("|".join, axis=1)
        numbers.append(rows["bucket"].astype(int).set_axis(key)[~key.duplicated(keep=False).to_numpy()])
        assert rows["bucket"].astype(int).is_monotonic_increasing is False
    both = pd.concat(numbers, axis=1, join="inner").drop_duplicates()
    assert len(both) > 20
    assert (both.iloc[:, 0] == both.iloc[:, 1]).sum() <= 12, "by chance about one bucket, whatever their number"


def test_a_file_in_the_place_of_the_folder_is_refused_before_anything_is_made(clinic, tmp_path):
    file = tmp_path / "saved"
    file.write_text("mine")
    for folder in (file, file / "deeper"):
        with pytest.raises(ValueError, match=r"`folder` must be a folder; got '.*', but '.*saved' is a file"):
            save_release(clinic, FIVE, folder)
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]
