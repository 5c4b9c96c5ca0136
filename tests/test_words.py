"""Spelling, the words of CONTRIBUTING's voice, and the docstrings' convention, over the texts of the whole project.

`python tests/test_words.py privnb/cli` lists what is left in a room. No number below may rise.
"""

import re
import subprocess
import sys
import tomllib

import pytest
from support import words

# How many words and sentence openings of each room are still to be replaced.
ALLOWED: dict[str, int] = {}
SETTINGS = tomllib.loads((words.ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def rooms():
    """Return the rooms of the package, its other modules and the project's other texts."""
    package = [path for path in (words.ROOT / "privnb").iterdir() if path.name not in ("__pycache__", "py.typed")]
    return words.PAGES + sorted(path.relative_to(words.ROOT).as_posix() for path in package)


def listed(room):
    """Return a line for each word or opening of a room that is to be replaced."""
    return [
        f"{path.relative_to(words.ROOT)}:{line}: {word!r}: rather {better}"
        for path in words.files(room)
        for line, word, better in words.faults(path)
    ]


@pytest.mark.parametrize("room", rooms())
def test_words_of_a_room(room):
    found, allowed = listed(room), ALLOWED.get(room, 0)
    assert len(found) <= allowed, "\n".join(found)
    assert len(found) == allowed, f"lower the number of {room} in {__file__} to {len(found)}"


def test_rooms_with_a_number_exist():
    assert {*ALLOWED} <= {*rooms()}
    assert 0 not in ALLOWED.values()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the number beside it, made anew", ["beside", "anew"]),
        ("besides, `beside` and `secret` are code", []),
        ("their secret leaks through a secret key", ["secret"]),
        ("floor(x) and numpy.floor are functions; the floor is 10", ["floor"]),
        ("the fewest people, or fewer than the fewest", ["fewest"]),
        ("so many people; so many values that nobody reads them", ["so many"]),
        ("there is no class, it is no longer one, it is None, and it is no release", ["is no"]),
        ("records made up for the gallery are made up of values", ["made up"]),
        ("it tells nothing, which tells them apart", ["tells"]),
        ("k stands for a number that stands on the page", ["stands"]),
        ("half of it, of it", ["of it"]),
        ("Make sure. It is not sure.", ["sure"]),
        ("It is thread-safe, is safe to call, and is safe.", ["is safe"]),
        ("Of course it is. Of rows it is. What is it? What it is.", ["Of", "What"]),
        ("It is so.\n\nWhere it is, it is.", ["Where"]),
        ("Where to begin", []),
    ],
)
def test_what_a_pattern_finds(text, found):
    assert [word for _, word, _ in words.text_faults([(1, text)])] == found


def test_texts_of_code_are_docstrings_strings_and_comments():
    code = 'x = "a b # c", f"c {x} d"  # e\n\n# f\n# g\ny = "h"\ndef z():\n    """I j."""\n'
    assert [*words.python(code)] == [(1, "a b # c"), (1, "c X d"), (7, "I j."), (1, "e"), (3, "f\ng")]


def run(*command):
    return subprocess.run([sys.executable, "-m", *command], cwd=words.ROOT, capture_output=True, text=True)


def test_spelling():
    done = run("codespell_lib", *words.PAGES, "privnb")
    assert done.returncode == 0, done.stdout + done.stderr


def test_docstrings_keep_the_convention():
    """`pyproject.toml` lists the rooms that do not yet; the list only becomes shorter."""
    ignored = SETTINGS["tool"]["ruff"]["lint"]["per-file-ignores"]
    unclean = {name for name in ignored if name.startswith("privnb")}
    done = run(
        "ruff",
        "check",
        "privnb",
        "--select",
        "D",
        "--ignore",
        "D105,D107",
        "--output-format",
        "concise",
        "--config",
        "lint.per-file-ignores={}",
    )
    found = done.stdout.splitlines()
    hit = {"/".join(match[1].split("/")[:2]) for line in found if (match := re.match(r"(privnb/.*?):\d", line))}
    new = [line for line in found if (match := re.match(r"privnb/.*?/", line)) and f"{match[0]}**" not in unclean]
    assert not new, "\n".join(new)
    assert unclean == {f"{room}/**" for room in hit}, "remove the lines of clean rooms from pyproject.toml"


if __name__ == "__main__":
    print(*(line for room in sys.argv[1:] or rooms() for line in listed(room)), sep="\n")
