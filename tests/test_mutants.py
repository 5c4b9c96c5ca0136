"""Every fault that `make mutants` plants can be planted, and its report tells caught faults from those that survive."""

import ast
import subprocess

import mutants
import pytest
from faults import FAULTS
from mutants import PROJECT, Fault, NotFoundOnceError, plant, report


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.function}: {fault.text[:30]}")
def test_each_fault_can_be_planted(fault):
    """If a text has changed or a function is gone, the fault needs the new text, or another fault in its place."""
    path, text = plant(fault, PROJECT / "privnb")
    assert text != path.read_text(encoding="utf-8")
    assert fault.tests
    for test in fault.tests:
        file, _, name = test.partition("::")
        tree = ast.parse((PROJECT / "tests" / file).read_text(encoding="utf-8"))
        assert not name or name in [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]


def test_no_fault_is_listed_twice():
    assert len({fault[1:4] for fault in FAULTS}) == len(FAULTS)


RULES = """
class Rule:
    def holds(self, people):
        return people >= 10


def few(people):
    \"\"\"Return whether people >= 10 is wrong.\"\"\"
    return not Rule().holds(people)
"""
TESTS = """
from privnb.rules import Rule, few


def test_rule():
    assert Rule().holds(10)


def test_few():
    assert few(9)


def test_broken():
    assert few(10)
"""


@pytest.fixture
def project(tmp_path):
    """A small project with a rule that guards people, and its tests."""
    for name, text in {"privnb/__init__.py": "", "privnb/rules.py": RULES, "tests/test_rules.py": TESTS}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path


def fault(replacement, test="test_rule", function="Rule.holds", text="people >= 10"):
    return Fault("rules", function, text, replacement, (f"test_rules.py::{test}",))


def test_the_report_tells_caught_faults_from_those_that_survive(project, capsys):
    faults = [fault("people > 10"), fault("people >= 9"), fault("people >= 9", "test_few"), fault("len(people)")]
    assert report(faults, project) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("rules")]
    assert [line.split()[2] for line in lines] == ["caught", "SURVIVED", "caught", "caught"]
    assert (project / "privnb/rules.py").read_text(encoding="utf-8") == RULES, "the project itself is not changed"


def test_a_fault_that_cannot_be_planted_or_run_is_not_caught(project, capsys):
    faults = [fault("people > 10", "test_broken"), fault("people >="), fault("9", text="8")]
    assert report(faults, project) == 3
    printed = capsys.readouterr().out
    assert "tests/test_rules.py::test_broken fails without any fault" in printed
    assert "NOT RUN: a test fails without it" in printed
    assert printed.count("NOT PLANTED: ") == 2


def test_tests_that_take_too_long_are_no_answer(project, monkeypatch):
    monkeypatch.setattr(mutants, "SECONDS", 0.01)
    assert mutants.outcome(fault("people > 10"), project, 1) == "NO ANSWER IN TIME"


@pytest.mark.parametrize(
    ("function", "text", "times"),
    [("Rule.holds", "people > 10", 0), ("holds", "people >= 10", 0), ("Rule.holds", "people", 2), ("Rule", "10", 1)],
)
def test_a_text_must_occur_once_in_the_function(function, text, times, project):
    if times == 1:
        path, planted = plant(fault("11", function=function, text=text), project / "privnb")
        assert (path.name, planted) == ("rules.py", RULES.replace("10", "11", 1))
    else:
        with pytest.raises(NotFoundOnceError, match=rf"occurs {times} times in functions called {function}"):
            plant(fault("11", function=function, text=text), project / "privnb")
