"""The command line of version 0.1, rewritten into that of today: to be deleted, whole, in the next version.

`command.py` calls `rewritten` and nothing else here.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

RENAMED = {  # by subcommand: its options that are called otherwise
    "check": {"--quasi-identifiers": "--quasi", "--dataset": "--description"},
    "sanitize": {"--dataset": "--description"},
    "decide": {"--release": "--out"},
}
VALUES = ("-p", "--parameter")  # were followed by a name and a value


def rewritten(arguments: Sequence[str]) -> tuple[list[str], str]:
    """Return the arguments as they are written today, and a sentence that says so; empty where nothing was changed.

    >>> rewritten(["new", "people.csv"])[0], rewritten(["report", "-p", "K", "25", "--dataset", "mine"])[0]
    (['describe', 'people.csv'], ['report', 'mine', '-p', 'K=25'])
    >>> rewritten(["check", "people.csv"])
    (['check', 'people.csv'], '')
    """
    if not arguments:
        return [], ""
    command, *words = arguments
    after = words[words.index("--") :] if "--" in words else []
    new = _words(command, _apart(words[: len(words) - len(after)]))
    if new == [command, *words[: len(words) - len(after)]]:
        return [*arguments], ""
    form = f"privnb {shlex.join([*new, *after])}"
    return [*new, *after], f"this form of the command goes in the next version. Write `{form}`."


def _apart(words: Sequence[str]) -> list[str]:
    """Return the words, in which an old option and its value are two."""
    old = {"--dataset", "--new", "--describe", "--release", "--quasi-identifiers", "--at-least-k"}
    found: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        found += [name, value] if equals and name in old else [word]
    return found


def _words(command: str, words: Sequence[str]) -> list[str]:
    words = _parameters(words) if command in ("report", "app", "explore") else [*words]
    renamed = RENAMED.get(command, {})
    words = [renamed.get(word, word) for word in words]
    if command == "new":
        return ["describe", *words]
    if command == "check" and "--at-least-k" in words:
        words, k = _taken(words, "--at-least-k")
        asked = f"k={k}"
        if "--model" in words:
            words, others = _taken(words, "--model")
            asked += f", {others}"
        return [command, *words, "--model", asked]
    if command in ("app", "report", "explore"):
        words, described = _taken(words, "--dataset")
        table = [] if described is None else [described]
        if command != "app":
            return [command, *table, *words]
        words, new = _taken(words, "--new")
        words, form_of = _taken(words, "--describe")
        tables = [each for each in (new, form_of) if each is not None]
        return ["describe", *tables, "--form", *table, *words] if tables else ["explore", *table, *words]
    return [command, *words]


def _parameters(words: Sequence[str]) -> list[str]:
    """Return the words, in which each parameter and its value are one."""
    found: list[str] = []
    rest = [*words]
    while rest:
        word = rest.pop(0)
        if word in VALUES and len(rest) > 1 and "=" not in rest[0]:
            found += ["-p", f"{rest.pop(0)}={rest.pop(0)}"]
        else:
            found.append("-p" if word in VALUES else word)
    return found


def _taken(words: Sequence[str], option: str) -> tuple[list[str], str | None]:
    """Return the words without an option and its value, and the value; None where it is not there or has none."""
    words = [*words]
    if option not in words or words.index(option) + 1 == len(words):
        return words, None
    place = words.index(option)
    return words[:place] + words[place + 2 :], words[place + 1]
