"""Methods of other packages, found by their entry points: one is installed from a wheel, and one is broken."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.clinic import CLINIC

PROJECT_FOLDER = Path(__file__).resolve().parent
PACKAGE = PROJECT_FOLDER / "support" / "third_party"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip installed the wheel of the package, both without a network."""
    folder = tmp_path_factory.mktemp("third party")
    source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    [wheel] = (folder / "dist").glob("*.whl")
    target = ["--target", str(folder / "installed"), "--no-deps", "--no-index", "--no-compile", str(wheel)]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *target]
    subprocess.run(install, check=True, capture_output=True)
    return folder / "installed"


def run(code, folder, *options, cwd=None):
    """What a process says as JSON that has the folder on its path, and what it says on the side."""
    places = [str(folder), str(PROJECT_FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return (json.loads(done.stdout) if done.stdout.startswith(("{", "[")) else done.stdout), done.stderr


EVERYWHERE = f"""
import json, sys
import privnb
assert "clinic_methods" not in sys.modules
from privnb import Decades, Identity, MinerInference, evaluate, kept_cells, load
from privnb.attacks import Commonest
from privnb.decision import policies
from privnb.explorer.setting import list_choices
from privnb.measures import measure_facts, list_measures
from privnb.miners import labellers, reference_set
from privnb.sanitizers import catalogue, Decades as again

data = load({str(CLINIC)!r})
found = evaluate(
    data, [Decades(), Identity()], measures=kept_cells,
    attacks=[Commonest("diagnosis", "age"), MinerInference("shallow-forest", "diagnosis")],
)
print(json.dumps({{
    "last": [*catalogue.kinds()][-1],
    "same": again is Decades,
    "family": "Decades()" in map(repr, catalogue.build_one_per_class(data)),
    "explorer": list_choices(data)["sanitizer"][-1],
    "measure": measure_facts("kept_cells").sentence,
    "utility": "kept_cells" in [each.name for each in list_measures("utility")],
    "miner": [each.name for each in reference_set("majority, shallow-forest")],
    "labellers": labellers()[-1],
    "policy": [policies.list_policy_names()[-1], policies.read("clinic").min_class_size],
    "rows": found[found.sanitizer == "Decades"][["measure", "miner", "status"]].values.tolist(),
    "numbers": bool(found.value.notna().all()),
}}))
"""


@pytest.mark.slow
def test_an_installed_package_appears_everywhere(installed):
    found, side = run(EVERYWHERE, installed, "-W", "error")
    assert side == ""
    assert found == {
        "last": "Decades",
        "same": True,
        "family": True,
        "explorer": "Decades",
        "measure": "Share of the quasi-identifiers' cells that a release does not publish as they are.",
        "utility": True,
        "miner": ["majority", "shallow-forest"],
        "labellers": "shallow-forest",
        "policy": ["clinic", 5],
        "rows": [["guessed_right", "the most common value", ""], ["guessed_right", "shallow-forest", ""],
                 ["kept_cells", "", ""]],
        "numbers": True,
    }  # fmt: skip


CONTRACTS = """
from privnb import Decades, kept_cells, testing
from privnb.attacks import Commonest

testing.check_sanitizer(Decades)
testing.check_attack(Commonest)
testing.check_measure(kept_cells)
print("kept")
"""


@pytest.mark.slow
def test_its_methods_keep_the_contracts(installed):
    assert run(CONTRACTS, installed) == ("kept\n", "")


@pytest.mark.slow
def test_the_command_line_knows_them(installed, tmp_path):
    out = tmp_path / "released.csv"
    asked = ["sanitize", str(CLINIC), "--model", "k=5", "--algorithm", "Decades", "--out", str(out)]
    code = f"""
from privnb.cli import main
for kind in ("sanitizers", "attacks", "measures", "miners", "policies"):
    assert main(["list", kind]) == 0
print("status", main({asked!r}))
"""
    said, side = run(code, installed, cwd=tmp_path)
    assert said.endswith("status 2\n"), side
    assert "Decades cannot enforce k=5" in side, "it is known, and keeps no model"
    listed = (
        "Decades", "Commonest", "kept_cells", "shallow-forest", "Predicts labels; from an installed package.", "clinic",
    )  # fmt: skip
    assert [each for each in listed if each not in said] == []


@pytest.mark.slow
def test_a_store_knows_another_version(installed):
    code = "from privnb import Decades; from privnb.evaluation.digests import digest; print(digest(Decades()).hex())"
    before, _ = run(code, installed)
    assert run(code, installed)[0] == before
    file = installed / "clinic_methods" / "decades.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\n# another version\n", encoding="utf-8")
    try:
        assert run(code, installed)[0] != before
    finally:
        file.write_text(text, encoding="utf-8")


# Broken ones

METHODS = """
from dataclasses import dataclass
from pathlib import Path
from privnb import Sanitizer

NUMBER = 3
POLICY = Path(__file__).with_name("nowhere.toml")

@dataclass(frozen=True)
class Mondrian(Sanitizer):
    '''Do nothing, under a name that privnb has.'''
    def _sanitize(self, dataset, table, rng):
        return table

@dataclass(frozen=True)
class Fine(Sanitizer):
    '''Do nothing.'''
    def _sanitize(self, dataset, table, rng):
        return table

def no_estimator():
    return 3
"""
ENTRY_POINTS = """
[privnb.sanitizers]
fine = broken:Fine
mondrian = broken:Mondrian
gone = broken:Gone
stops = stopping:Never
number = broken:NUMBER
absent = nothing_there:Gone

[privnb.attacks]
wrong = broken:Fine

[privnb.measures]
unmarked = broken:no_estimator

[privnb.miners]
majority = broken:no_estimator
three_of_them = broken:no_estimator

[privnb.policies]
nowhere = broken:POLICY
k-5 = broken:POLICY
"""
ASKED = """
import json, warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import privnb
    assert said == []
    from privnb.attacks import Linkage
    from privnb.decision import policies
    from privnb.measures import measure_facts
    from privnb.miners import reference_set
    from privnb.runtime.registry import find_classes
    from privnb.sanitizers import catalogue
    from privnb import Attack, Fine
    for time in range(2):
        kinds = catalogue.kinds()
        find_classes(Attack)
        measure_facts("nothing")
        [majority] = reference_set("majority")
        ready = policies.list_policy_names()
print(json.dumps({
    "kinds": [kinds["Mondrian"].__module__, kinds["Fine"].__name__, [*kinds][-1]],
    "miner": type(majority.classifier).__module__,
    "policies": "nowhere" in ready,
    "said": sorted(str(each.message) for each in said),
    "kept": [each for each in kinds if each in ("Gone", "Never")],
}))
"""


@pytest.fixture
def broken(tmp_path):
    folder = tmp_path / "broken-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (tmp_path / "broken.py").write_text(METHODS, encoding="utf-8")
    (tmp_path / "stopping.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    return tmp_path


def test_what_is_broken_is_named_in_a_warning_and_breaks_nothing(broken):
    found, side = run(ASKED, broken)
    assert side == ""
    assert found["kinds"] == ["privnb.sanitizers.generalization.mondrian", "Fine", "Fine"]
    assert (found["kept"], found["policies"]) == ([], False)
    assert not found["miner"].startswith("privnb.miners.own"), "privnb's own keep their names"
    said = found["said"]
    for part in ("'gone = ", "'stops = ", "'number = ", "'absent = ", "'wrong = ", "'unmarked = ", "'majority = ",
                 "'three_of_them = ", "'nowhere = ", "'k-5 = "):  # fmt: skip
        assert len([each for each in said if part in each]) == 1, (part, said)
    assert all(each.startswith("broken: its entry point '") for each in said)
    assert len(said) == 10
    assert any("'absent = nothing_there:Gone' of the group 'privnb.sanitizers'" in each for each in said)


def test_a_command_says_it_in_a_line_and_as_a_warning_with_a_code(broken):
    code = "from privnb.cli import main; main(['list', 'policies'])"
    said, side = run(code, broken)
    assert "k-5" in said
    assert [line.startswith("privnb: broken: its entry point '") for line in side.splitlines()] == [True, True]
    listed, side = run(code.replace("'policies'", "'policies', '--json'"), broken)
    assert side == ""
    assert [each["code"] for each in listed["warnings"]] == ["entry-point", "entry-point"]


def test_an_import_loads_no_entry_point(broken):
    (broken / "broken.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    code = (
        "import sys; import privnb; from privnb import Mondrian, KAnonymity, load, evaluate; "
        "print([name for name in ('broken', 'stopping') if name in sys.modules])"
    )
    assert run(code, broken, "-W", "error")[0] == []
