"""The text of a description file: what only its comments say, and its roles changed with all else as it was."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

import tomlkit
from tomlkit.items import Item

from privnb.microdata.schema import Role

PROPOSAL = "PROPOSAL"  # in a comment: a draft read the value from the records, and nobody has replaced it
GUESS = "a guess"  # in a comment: nobody has checked the value


def reasons(text: str) -> dict[str, str]:
    """Return the comment beside the role of each column, where a draft says why it proposes it."""
    return {name: comment for name, comment in _comments(text, "role").items() if comment}


def proposals(text: str) -> list[str]:
    """Return the columns whose domain still stands beside the word PROPOSAL."""
    return [*_begins(text, "domain", PROPOSAL)]


def guessed_missing(text: str) -> list[str]:
    """Return the columns of which a draft guessed that texts of another type count as missing."""
    return [*_begins(text, "missing", GUESS)]


def proposed_encoding(text: str) -> str:
    """Return what a draft says beside an encoding that another one fits as well; "" for one that is stated."""
    layout = _read(text).get("format", {}) if PROPOSAL in text else {}
    comment = _comment(layout, "encoding")
    return comment if comment.startswith(PROPOSAL) else ""


def edit(
    text: str,
    roles: Mapping[str, Role],
    more: Mapping[str, str] | None = None,
    confirmed: bool = False,
    days: Mapping[str, tuple[str, str]] | None = None,
    missing: Collection[str] = (),
) -> str:
    """Return the text of a description with these roles; comments, domains and all else stay.

    Parameters
    ----------
    roles
        By column.
    more
        Further lines of a column.
    confirmed
        Whether the line `draft = true` goes.
    days
        For a column how its days are written, and the comment beside its role.
    missing
        The columns whose owner has checked what a draft guessed of their line `missing`.
    """
    document = tomlkit.parse(text)
    columns: Any = document["columns"]
    for name, role in roles.items():
        if columns[name]["role"] != role:
            columns[name]["role"] = str(role)
    for name, lines in (more or {}).items():
        for key, item in tomlkit.parse(lines).items():
            columns[name].append(key, item)
    for name, (form, reason) in (days or {}).items():
        columns[name]["days"] = form
        columns[name]["role"].comment(reason)
    for name in {*missing}.intersection(guessed_missing(text)):
        columns[name]["missing"].comment(_comment(columns[name], "missing").replace(GUESS, "checked", 1))
    if confirmed:
        document.pop("draft", None)
    return tomlkit.dumps(document)


def quote(text: str) -> str:
    """Return text as TOML writes it, with every character written out that cannot be seen."""
    return "".join(
        f"\\U{ord(each):08X}" if unicodedata.category(each) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp") else each
        for each in json.dumps(text, ensure_ascii=False)
    )


@functools.lru_cache(8)  # a description is read once for each of its uses
def _read(text: str) -> Mapping[str, Any]:
    return tomlkit.parse(text)


def _comments(text: str, key: str) -> dict[str, str]:
    """The comment beside a key of each column that has it."""
    columns = _read(text).get("columns", {})
    return {name: _comment(column, key) for name, column in columns.items() if key in column}


def _begins(text: str, key: str, word: str) -> list[str]:
    comments = _comments(text, key) if word in text else {}
    return [name for name, comment in comments.items() if re.match(rf"{word}\b", comment)]


def _comment(table: Any, key: str) -> str:
    item = table.get(key)
    return item.trivia.comment.lstrip("# ").rstrip() if isinstance(item, Item) else ""
