"""The core loads, sanitizes, assesses and decides without what the extras install."""

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# What a distribution calls its module, where that is not its own name; and what comes with JupyterLab.
MODULES = {"vl-convert-python": "vl_convert", "python-calamine": "python_calamine", "jpype1": "jpype"}
ALONG = {"IPython", "ipykernel", "jupyter_client", "jupyter_core", "jupyter_server", "tornado", "traitlets", "openpyxl"}
BLOCK = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def modules():
    names = [re.match(r"[\w-]+", each)[0] for extra in EXTRAS.values() for each in extra]
    return {MODULES.get(name, name) for name in names} | ALONG


@pytest.fixture
def run(tmp_path):
    """Run code in an empty folder, where no module of an extra can be imported."""

    def ran(code):
        once = f"if __name__ == '__main__':\n{textwrap.indent(code, '    ')}"  # and not in workers
        (tmp_path / "run.py").write_text(f"BLOCKED = {modules()!r}{BLOCK}{once}")
        done = subprocess.run(
            [sys.executable, "run.py"],
            cwd=tmp_path,
            timeout=600,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ran


def test_python_loads_sanitizes_and_assesses(run):
    code = """
from privnb import KAnonymity, Linkage, Mondrian, grade_release, evaluate, load
dataset = load("hypertension")
release = Mondrian(KAnonymity(5)).sanitize(dataset, rng=1)
print(grade_release(KAnonymity(5), release) >= 5)
print(len(evaluate(dataset, [Mondrian(KAnonymity(5))], attacks=[Linkage()])) > 0)
"""
    assert run(code).split() == ["True", "True"]


@pytest.mark.slow
def test_commands_sanitize_check_and_decide(run, tmp_path):
    rows = "".join(f"{20 + n % 30},{n % 3},{n % 7}\n" for n in range(300))
    (tmp_path / "people.csv").write_text(f"age,ward,ill\n{rows}")
    code = """
from privnb.cli import main
from privnb.decision import policy_search
settings = policy_search.build_family  # one of each sanitizer
first = lambda tried: list({type(each): each for each in tried}.values())
policy_search.build_family = lambda *given, **more: first(settings(*given, **more))
policy_search.build_diverse = lambda *given, **more: []
print(main(["sanitize", "people.csv", "--model", "k=5", "--out", "a.csv"]), main(["check", "a.csv"]))
print(main(["decide", "twelve", "--policy", "k-5", "--out", "b.csv"]))
print(main(["sanitize", "nobody.csv", "--model", "k=5", "--out", "c.csv"]))
"""
    said = run(code).split("\n")
    assert {*said} >= {"0 0", "0", "4"}
    assert (tmp_path / "b.csv.card.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("command", [["report"], ["explore"]])
def test_what_needs_an_extra_says_which(run, command):
    said = run(f"from privnb.cli import main; import sys; sys.stderr = sys.stdout; print(main({command!r}))")
    assert "privnb[notebook]" in said
    assert said.split()[-1] == "5"
