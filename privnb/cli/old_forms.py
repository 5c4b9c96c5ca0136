"""Conversion of command lines of version 0.1 to their present form. Delete this module in the next version.

`command.py` calls only the function `rewrite` of this module.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

RENAMED = {  # for each subcommand, the old and the new names of options
    "check": {"--quasi-identifiers": "--quasi", "--dataset": "--description"},
    "sanitize": {"--dataset": "--description"},
    "decide": {"--release": "--out"},
}
PARAMETERS = {  # the old and the new names of notebook parameters
    "FEWEST": "MIN_COUNT",
    "K_FLOOR": "MIN_CLASS_SIZE",
    "MADE_UP": "SYNTHETIC_RECORDS",
}
VALUES = ("-p", "--parameter")  # a name and a value followed these options as two words


def rewrite(arguments: Sequence[str]) -> tuple[list[str], str]:
    """Return the arguments in their present form, and a warning; the warning is empty if no argument changed.

    >>> rewrite(["new", "people.csv"])[0], rewrite(["report", "-p", "K", "25", "--dataset", "mine"])[0]
    (['describe', 'people.csv'], ['report', 'mine', '-p', 'K=25'])
    >>> rewrite(["report", "-p", "FEWEST", "5"])[0], rewrite(["check", "people.csv"])
    (['report', '-p', 'MIN_COUNT=5'], (['check', 'people.csv'], ''))
    """
    if not arguments:
        return [], ""
    command, *words = arguments
    after = words[words.index("--") :] if "--" in words else []
    new = _words(command, _apart(words[: len(words) - len(after)]))
    if new == [command, *words[: len(words) - len(after)]]:
        return [*arguments], ""
    form = f"privnb {shlex.join([*new, *after])}"
    return [
        *new,
        *after,
    ], f"this form of the command is deprecated and will be removed in the next version. Write `{form}`."


def _apart(words: Sequence[str]) -> list[str]:
    """Return the words, with each old option and its value split into two words."""
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
    """Return the words, with each parameter and its value joined to one word."""
    found: list[str] = []
    rest = [*words]
    while rest:
        word = rest.pop(0)
        if word not in VALUES or not rest:
            found.append(word)
            continue
        name, equals, value = rest.pop(0).partition("=")
        value = rest.pop(0) if not equals and rest else value
        found += ["-p", f"{PARAMETERS.get(name, name)}={value}" if equals or value else name]
    return found


def _taken(words: Sequence[str], option: str) -> tuple[list[str], str | None]:
    """Return the words without an option and its value, and the value or None."""
    words = [*words]
    if option not in words or words.index(option) + 1 == len(words):
        return words, None
    place = words.index(option)
    return words[:place] + words[place + 2 :], words[place + 1]
