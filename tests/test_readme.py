"""What the README shows runs as it stands there."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pins
import pytest

from privnb import cli
from privnb.cli import old_forms
from privnb.miners import reference
from privnb.reporting import notebooks
from privnb.sanitizers.catalogue import kinds

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


CODE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)  # the last in test_spark.py


@pytest.mark.slow
def test_the_loop_in_ten_lines_runs(monkeypatch, tmp_path, kernel):
    monkeypatch.chdir(tmp_path)
    lots, n = np.random.default_rng(1), 600
    columns = {"age": lots.integers(20, 80, n), "zip": lots.choice(["80331", "80333", "80335"], n)}
    columns |= {"ward": lots.choice(["north", "south"], n), "illness": lots.choice(["flu", "cold", "none"], n)}
    pd.DataFrame(columns).to_csv("people.csv", index=False)
    names = {}
    exec(compile(CODE[0], "README.md", "exec"), names)
    assert names["table"].roles["ward"] == "quasi-identifier"
    assert {"good_utility", "utility_decline"} <= {*names["users"].results.measure}
    assert len(names["trials"].sanitizers) == 3
    assert names["card"].card.content["answer"]["keeps"]
    written = {path.name for path in tmp_path.iterdir()}
    assert {f"release.csv{ending}" for ending in ("", ".codebook.csv", ".provenance.json", ".card.json")} <= written
    assert (tmp_path / "report" / "index.html").is_file()
    lines = [line for line in CODE[0].splitlines() if line and not line.startswith(("import", "from"))]
    assert len(lines) <= 10
    for noun in ("table", "release", "risks", "users", "trials", "decision", "card"):
        assert "<" in names[noun]._repr_html_()
        assert len(names[noun].frame) > 0
        assert names[noun].plot() is not None


@pytest.mark.slow
def test_what_it_shows_runs(monkeypatch):
    """On a sample, and with miners that learn at once, for time's sake; every call is the README's."""
    from privnb import datasets, load

    monkeypatch.setitem(reference.SETS, "three", ("naive Bayes",))
    monkeypatch.setitem(reference.SETS, "five", ("majority", "naive Bayes", "linear regression"))
    monkeypatch.setattr(datasets, "load", lambda name: load(name, records=300))
    _, loop, owner, _ = CODE
    names = {}
    exec(compile(loop, "README.md", "exec"), names)
    assert {*names["risks"].measure} == {"reidentification_rate", "certainty_penalty"}
    assert names["risks"].sanitizer.nunique() == 3
    exec(compile(owner, "README.md", "exec"), names)
    assert names["verdict"].sanitizer == names["KMember"](k=10)


COMMANDS = re.findall(r"^\.venv/bin/privnb (?!.*--help)(.*?)(?: +#.*)?$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_there_is(command):
    words = shlex.split(command)
    assert old_forms.rewritten(words) == (words, "")
    args = cli.parser().parse_args(words)
    if getattr(args, "notebook", None):
        assert notebooks.choose(ROOT / "notebooks", args.notebook, dict(args.parameter))


def test_there_are_commands_to_copy():
    assert {command.split()[0] for command in COMMANDS} >= {
        "describe",
        "check",
        "explore",
        "decide",
        "sanitize",
        "report",
    }


def test_its_picture_recommends_what_may_be_published():
    """No buckets of exact quasi-identifiers, whatever their losses: the policy's floor refuses them."""
    (recommended,) = re.findall(r"under the policy .*? ([a-z-]+) with \w+ = \d+ is recommended", TEXT)
    (treatment,) = (kind.treatment for kind in kinds().values() if kind.title.lower() == recommended)
    assert treatment in ("generalized", "perturbed")


def test_per_cent_stands_right_behind_its_number():
    """One way everywhere, as `numerals` writes it: a line does not end between the two."""
    texts = {ROOT / "README.md", ROOT / "privnb" / "papers" / "published.csv", *(ROOT / "notebooks").glob("*.ipynb")}
    assert {path.name: re.findall(r".{20}\d %(?! \d)", path.read_text(encoding="utf-8")) for path in texts} == {
        path.name: [] for path in texts
    }


def test_ten_lines():
    code = CODE[1]
    statements = [line for line in code.splitlines() if line and not line.startswith(("from ", "import "))]
    assert len(statements) <= 10


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", TEXT))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


def test_every_notebook_is_named():
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"`{notebook.stem}`" in TEXT


def test_the_table_of_sanitizers_says_what_the_classes_say():
    assert pins.TABLE.search(TEXT)[0] == pins.table(), "run `make pins`"


def test_the_places_of_the_books_sections_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.search(r"## The book's sections\n(.*?)\n## ", text, re.DOTALL)[1]
    files = re.findall(r"`(\w+/[\w/.]+)`", table)
    assert len(files) > 50
    assert [name for name in files if not (ROOT / "privnb" / name).exists()] == []
    pages = re.findall(r"`(\d\d_\w+)`", table)
    assert [name for name in pages if not (ROOT / "notebooks" / f"{name}.ipynb").exists()] == []
    sections = re.findall(r"^\| ([^|]*)", table, re.MULTILINE)
    chapters = {int(number) for row in sections for number in re.findall(r"(?<![\d.])\d+", row)}
    assert chapters >= set(range(2, 21))
