"""The tests themselves: they need nothing beside the project, and say what they left out."""

import re
from pathlib import Path
from types import SimpleNamespace

import conftest

TESTS = Path(__file__).parent


def test_what_was_skipped_is_said_in_a_line():
    said = []
    reasons = ["there is no Java.", "HIERARCHIES=FOLDER", "there is no Java."]
    skipped = [SimpleNamespace(longrepr=("test_x.py", 1, f"Skipped: {reason}")) for reason in reasons]
    conftest.pytest_terminal_summary(SimpleNamespace(stats={"skipped": skipped}, write_line=said.append))
    assert said == ["3 skipped. 2: there is no Java; 1: HIERARCHIES=FOLDER."]
    conftest.pytest_terminal_summary(SimpleNamespace(stats={}, write_line=said.append))
    assert len(said) == 1


def test_no_test_looks_outside_the_project():
    """A folder that happens to lie beside one person's project is nowhere else."""
    outside = re.compile(r"\b(PROJECT|ROOT)\s*\.parent|Path\.home|expanduser")
    found = [path.name for path in TESTS.rglob("*.py") if outside.search(path.read_text(encoding="utf-8"))]
    assert found == [Path(__file__).name]
