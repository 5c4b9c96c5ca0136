import json
import os
import shlex
import stat
import subprocess
import sys
import textwrap
from dataclasses import asdict, fields, replace
from pathlib import Path

import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import cli
from privnb.datasets.dataset import load
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import KEY_COLUMNS
from privnb.explorer import parse_setting
from privnb.explorer.export import write_code, write_command
from privnb.explorer.pins import Pins
from privnb.explorer.readings import measure_setting
from privnb.explorer.setting import Setting, apply_roles, check_setting, make_sanitizer
from privnb.reporting.notebooks import choose_notebooks, notebooks_folder
from privnb.reporting.report import read_results as read_results

SEED = 918273645
FIVE = Setting(k=5, seed=SEED)
MADE = [
    FIVE,
    replace(FIVE, sanitizer="LocalRecoding", t=0.6),
    replace(FIVE, sanitizer="FullDomain"),
    replace(FIVE, sanitizer="TopDownSpecialization"),
    replace(FIVE, sanitizer="KMember", l=1.2),
]
BUCKETS = [replace(FIVE, sanitizer="Bucketize"), replace(FIVE, sanitizer="Anatomy", l=2)]
NOISE = [replace(FIVE, sanitizer=kind, epsilon=2) for kind in ("LaplaceNoise", "GeometricNoise", "RandomizedResponse")]
ROLES = replace(FIVE, quasi_identifiers="age, ward", sensitive="diagnosis")


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=100)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "09_explore.pins.json"


def test_pins_outlive_their_object(path):
    pins = Pins(path)
    assert pins.settings == []
    assert not path.exists()
    pins.add(FIVE)
    pins.add(ROLES)
    pins.add(FIVE)
    assert pins.settings == Pins(path).settings == [FIVE, ROLES]
    pins.remove(FIVE)
    assert pins.settings == Pins(path).settings == [ROLES]
    with pytest.raises(ValueError, match="not pinned"):
        pins.remove(FIVE)
    assert json.loads(path.read_text())["settings"] == [asdict(ROLES)]


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("usual_umask")
def test_pins_are_the_owners_alone(path):
    Pins(path).add(FIVE)
    assert mode(path) == 0o600


def test_undo_takes_back_one_change_after_the_other(path):
    pins = Pins(path)
    pins.undo()
    for setting in (FIVE, ROLES, *NOISE):
        pins.add(setting)
    pins.remove(ROLES)
    pins.add(FIVE)  # is there
    for expected in ([FIVE, *NOISE], [FIVE, ROLES, *NOISE], [FIVE, ROLES, *NOISE[:2]]):
        pins.undo()
        assert pins.settings == Pins(path).settings == expected
    for _ in range(9):
        pins.undo()
    assert Pins(path).settings == []


def test_two_boards_lose_nothing_of_each_other(path):
    one, other = Pins(path), Pins(path)
    one.add(FIVE)
    other.add(ROLES)
    one.add(NOISE[0])
    assert Pins(path).settings == [FIVE, ROLES, NOISE[0]]
    other.undo()
    assert Pins(path).settings == one._read()[0] == [FIVE, NOISE[0]]


def test_pins_survive_that_somebody_removes_their_file(path):
    pins = Pins(path)
    pins.add(FIVE)
    path.unlink()
    pins.add(ROLES)
    assert Pins(path).settings == [FIVE, ROLES]


DAMAGED = [
    b"", b"{", b'{"settings": [', b"[]", b'{"pins": []}', b'{"settings": [1]}', b'{"settings": [{"k": "ten"}]}',
    b'{"settings": [{"k": true}]}', b'{"settings": [{"epsilon": "1"}]}', b'{"settings": [{"unheard": 1}]}', b"\xff\xfe",
    b'{"settings": [{"k": 2.5}]}', b'{"settings": [{"epsilon": NaN}]}', b'{"settings": [{"t": Infinity}]}',
    b'{"settings": [{"delta": -Infinity}]}', b'{"settings": [{"l": 1e999}]}', b"[" * 100_000,
    b'{"settings": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"settings": [{"k": -5}]}', b'{"settings": [{"k": 1}]}',
    b'{"settings": [{"l": -2}]}', b'{"settings": [{"t": 3}]}', b'{"settings": [{"epsilon": 0}]}',
    b'{"settings": [{"seed": -1}]}',
]  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: str(text)[:40])
def test_a_damaged_file_is_refused_and_left_as_it_is(path, text):
    path.write_bytes(text)
    with pytest.raises(ValueError, match="The file is unchanged"):
        Pins(path)
    assert path.read_bytes() == text


def test_a_file_that_is_damaged_later_is_left_as_it_is(path):
    pins = Pins(path)
    pins.add(FIVE)
    path.write_text("{")
    for change in (lambda: pins.add(ROLES), lambda: pins.remove(FIVE), pins.undo):
        with pytest.raises(ValueError, match="The file is unchanged"):
            change()
    assert path.read_text() == "{"
    assert pins.settings == [FIVE]


def test_a_change_that_cannot_be_written_leaves_file_and_pins(path, monkeypatch):
    pins = Pins(path)
    pins.add(FIVE)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    for change in (lambda: pins.add(ROLES), pins.undo):
        with pytest.raises(OSError, match="no space"):
            change()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    monkeypatch.undo()
    assert pins.settings == [FIVE]
    pins.undo()
    assert Pins(path).settings == []


def test_pins_need_their_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="folder for pinned settings does not exist"):
        Pins(tmp_path / "none" / "pins.json")


def of_board(dataset, setting):
    """The release as the board has it."""
    made = make_sanitizer(setting, dataset)
    return made.sanitize(apply_roles(dataset, setting), rng=derive_seed(setting.seed, made, "sanitize"))


@pytest.mark.slow
def test_the_lines_make_the_very_release_in_a_fresh_python(clinic, tmp_path):
    sample = clinic.sample(250, rng=0)
    settings = [*MADE, *BUCKETS, *NOISE, ROLES, Setting("Suppress"), Setting("Identity")]
    script = "".join(
        f"def case{number}():\n{textwrap.indent(write_code(sample, setting, CLINIC), '    ')}    return release\n"
        for number, setting in enumerate(settings)
    )
    script += "import pickle, sys\n"
    script += f"pickle.dump([(r.table, r.buckets) for r in ({', '.join(f'case{i}()' for i in range(len(settings)))},)]"
    script += f", open({str(tmp_path / 'made')!r}, 'wb'))\n"
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, cwd=tmp_path)
    made = pd.read_pickle(tmp_path / "made")
    for setting, (table, buckets) in zip(settings, made, strict=True):
        expected = of_board(sample, setting)
        pd.testing.assert_frame_equal(table, expected.table)
        if setting in BUCKETS:
            pd.testing.assert_frame_equal(buckets, expected.buckets)


def test_the_lines_are_few_and_name_what_they_use(adult):
    assert write_code(adult, Setting(t=0.5)).splitlines() == [
        "from privnb.datasets.dataset import load",
        "from privnb.privacy_models import KAnonymity, TCloseness",
        "from privnb.sanitizers import Mondrian",
        "",
        "dataset = load('adult', 'sramka', records=100)",
        "release = Mondrian(KAnonymity(k=10), TCloseness(t=0.5, sensitive='salary', distance='equal'))"
        ".sanitize(dataset, rng=1)",
        "published, _ = release.publish()",
    ]


@pytest.mark.parametrize("setting", [*MADE, *BUCKETS, *NOISE], ids=lambda setting: setting.sanitizer)
def test_the_lines_say_of_all_that_is_drawn_that_a_seed_undoes_it(clinic, setting):
    *_, caution, _, publish = write_code(clinic, setting).splitlines()
    drawn = setting not in MADE
    assert drawn == caution.startswith("# Anybody who knows the seed can undo")
    assert publish.endswith("rng=None).publish()" if drawn else "= release.publish()")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (Setting(), {}),
        (Setting(epsilon=0.3), {}),
        (Setting(k=20, l=1.5, seed=0), {"K": "20", "L": "1.5", "SEED": "0"}),
        (Setting("LaplaceNoise", epsilon=0.3, miner="decision tree"),
         {"SANITIZER": "LaplaceNoise", "EPSILON": "0.3", "MINER": "decision tree"}),
        (Setting(quasi_identifiers="sex,age", scenario="C"),
         {"QUASI_IDENTIFIERS": "age, sex", "SENSITIVE": "salary", "SCENARIO": "C"}),
    ],
)  # fmt: skip
def test_the_command_reads_back_as_the_setting(adult, setting, expected):
    words = shlex.split(write_command(adult, setting))
    args = cli.parser().parse_args(words[1:])
    assert words[0] == "privnb"
    assert (args.notebook, args.table) == (["09_explore"], "adult")
    assert dict(args.parameter) == {"STUDY": "sramka", "RECORDS": "100", **expected}


@pytest.mark.parametrize(
    "setting",
    [
        Setting(),
        Setting("RandomizedResponse", epsilon=0.3, miner="decision tree", seed=0),
        Setting("KMember", 20, 1.5, 0.25, 2, 1.0, "age, sex", "occupation", "decision stump", "C", 7),
    ],
    ids=["defaults", "some", "all"],
)
def test_the_notebook_reads_the_command_as_the_setting(adult, setting):
    args = cli.parser().parse_args(shlex.split(write_command(adult, setting))[1:])
    (notebook,) = choose_notebooks(notebooks_folder(Path(__file__).parent), args.notebook, dict(args.parameter))
    values = {name.lower(): value for name, value in notebook.values.items()}
    found = parse_setting(**{field.name: values[field.name] for field in fields(Setting)})
    assert check_setting(found, adult) == check_setting(setting, adult)
    assert (values["study"], values["records"]) == ("sramka", 100)


def test_the_command_reports_the_numbers_of_the_board(clinic, tmp_path, kernel):
    """Every number that the board shows, counted or mined, is in the report's `results.csv`."""
    setting = Setting("Mondrian", k=6, t=0.6, scenario="B", miner="decision stump", seed=3)
    words = shlex.split(write_command(clinic, setting, source=CLINIC))
    assert cli.main([*words[1:], "--out", str(tmp_path / "report")]) == 0
    found = read_results(tmp_path / "report" / "results.csv").set_index(KEY_COLUMNS).value
    shown = measure_setting(clinic, setting).astype({"seed": float}).set_index(KEY_COLUMNS).value
    assert {"accuracy_gain", "good_utility", "anti_utility"} <= set(shown.index.get_level_values("measure"))
    pd.testing.assert_series_equal(found[shown.index], shown, rtol=1e-9)


def test_the_command_names_a_table_by_its_path(clinic, tmp_path):
    words = shlex.split(write_command(clinic, FIVE, source=tmp_path / "my table.toml"))
    assert words[2] == str(tmp_path / "my table.toml")
    assert "RECORDS" not in words
