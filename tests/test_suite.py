"""The tests themselves: they need nothing beside the project, and say what they left out."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import conftest
import pytest
from support import compiled
from support.naming import naming

TESTS = Path(__file__).parent


def test_what_was_skipped_is_said_in_a_line():
    said = []
    reasons = ["there is no Java.", "HIERARCHIES=FOLDER", "there is no Java."]
    skipped = [SimpleNamespace(longrepr=("test_x.py", 1, f"Skipped: {reason}")) for reason in reasons]
    conftest.pytest_terminal_summary(SimpleNamespace(stats={"skipped": skipped}, write_line=said.append))
    assert said == ["3 skipped. 2: there is no Java; 1: HIERARCHIES=FOLDER."]
    conftest.pytest_terminal_summary(SimpleNamespace(stats={}, write_line=said.append))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("arguments", "many"),
    [
        (["tests", "privnb"], True), (["tests"], True), (["tests/test_suite.py"], False),
        (["tests/test_suite.py::test_a", "tests/test_suite.py::test_b"], False),
        (["tests/test_suite.py", "tests/test_names.py::test_a"], True),
    ],
)  # fmt: skip
def test_kernels_are_compiled_before_more_than_one_file(arguments, many):
    assert conftest.many(arguments) == many


@pytest.mark.parametrize("name", compiled.NAMES)
def test_what_compiles_the_kernels_makes_a_release(name):
    assert len(compiled.release(name).table) == 300


def test_a_cache_is_cold_until_numba_has_kept_something(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert compiled.cold()
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert not compiled.cold()
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    (tmp_path / "folder").mkdir()
    kept = tmp_path / "folder" / "moves.move.py311.nbi"
    kept.touch()
    assert not compiled.cold()
    os.utime(kept, (0, 0))
    assert compiled.cold(), "the file with the kernel is newer"


def test_a_fault_names_its_case():
    with pytest.raises(AssertionError) as fault, naming("sheep", 2):
        raise AssertionError("lost")
    assert fault.value.__notes__ == ["in the case 'sheep', 2"]


def test_no_test_looks_outside_the_project():
    """A folder that happens to lie beside one person's project is nowhere else."""
    outside = re.compile(r"\b(PROJECT|ROOT)\s*\.parent|Path\.home|expanduser")
    found = [path.name for path in TESTS.rglob("*.py") if outside.search(path.read_text(encoding="utf-8"))]
    assert found == [Path(__file__).name]
