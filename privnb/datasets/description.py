"""A description file `<name>.toml`: what it may say, each key with the values that it takes, in one table; what its
comments alone say; and how its roles are changed with all else as it was.

A description comes with a table, perhaps from a stranger. So all of it is looked at before any of it is used.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

import tomlkit
from tomlkit.items import Item

from privnb.datasets.column_types import DAYS
from privnb.microdata.schema import PUBLISHED, Role, SchemaError
from privnb.runtime import progress
from privnb.runtime.errors import InputFileError
from privnb.tables import reading
from privnb.tables.encodings import is_text_encoding
from privnb.tables.notation import THOUSANDS

PROPOSAL = "PROPOSAL"  # in a comment: a draft read the value from the records, and nobody has replaced it
GUESS = "a guess"  # in a comment: nobody has checked the value


@dataclass(frozen=True)
class Value:
    """A single value: what it is, in words for an error, and whether one fits."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class TomlTable:
    """A table with these keys, of which some are `needed`; with others too where it is `open`."""

    keys: Mapping[str, object]
    needed: tuple[str, ...] = ()
    open: bool = False


@dataclass(frozen=True)
class Named:
    """A table from names, of which there are at least `least`, to values of one kind."""

    each: object
    least: int = 0


@dataclass(frozen=True)
class TomlTables:
    """A list of at least one table."""

    each: TomlTable


def _text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    # Not a truth value, which Python counts as a number; nothing beyond 2^53, where floats have gaps.
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 2**53


def _list(each: Callable[[Any], bool], least: int = 0) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(each, value))


def _one_of(*texts: str) -> Value:
    return Value("one of " + ", ".join(texts), lambda value: _text(value) and value in texts)


def _domain(value: Any) -> bool:
    if isinstance(value, Mapping):
        ends = {"low", "high"} <= set(value) <= {*NUMBER_KEYS}
        cuts = value.get("cuts", 1)
        # Steps finer than that are no numbers that floats tell apart.
        return (
            ends
            and value.get("step", 1) != 0
            and all(_number(value[key]) for key in value if key not in ("cuts", "missing", "missing_is_public"))
            and (_number(cuts) or _numbers(cuts))
            and _text(value.get("missing", ""))
            and isinstance(value.get("missing_is_public", False), bool)
        )
    if _text(value):
        return _inside(value) and value.endswith(".csv")
    return _list(_text, 1)(value) and len(set(value)) == len(value)


def _recoding(value: Any) -> bool:
    if isinstance(value, Mapping):
        return (
            {"widths"} <= set(value) <= {"widths", "distance"}
            and value.get("distance", "range") == "range"
            and (_widths(value["widths"]))
        )
    return _text(value) or _widths(value)  # which text it may be depends on the column


def _plain(value: object) -> bool:
    return _text(value) and re.fullmatch(r"[\w-][\w.-]*", value) is not None


def _inside(value: object) -> bool:
    return _text(value) and value != "" and not Path(value).is_absolute() and ".." not in Path(value).parts


_numbers = _list(_number)
_widths = _list(lambda width: _number(width) and width > 0, 1)

NUMBER_KEYS = ("low", "high", "step", "cuts", "missing", "missing_is_public")  # of a domain of numbers
TEXT = Value("text", _text)
NAMES = Value('a list of columns, such as ["age", "sex"]', _list(_text))
DOMAIN = Value(
    'a list of different texts, such as ["F", "M"], a .csv file beside the description whose lines begin with '
    'them, or numbers { low = 0, high = 99 }, with step and cuts if need be, and missing = "NA" where there are gaps, '
    "with missing_is_public = true where everybody may know which they are",
    _domain,
)
RECODING = Value(
    '"ordered" or "set" (categories), "range", a list of widths or { widths = [...] } (numbers)', _recoding
)
KEYS = TomlTable(
    {
        "draft": Value("true or false", lambda value: isinstance(value, bool)),
        "dataset": TomlTable(
            dict.fromkeys(("name", "title", "description", "source", "licence", "citation", "default_study"), TEXT),
            open=True,
        ),
        "files": TomlTables(
            TomlTable(
                {
                    "path": Value("the name of a file in the description's own folder", _inside),
                    "sha256": TEXT,
                    "made_of": NAMES,
                    "skip_lines": Value("a whole number from 0", lambda value: type(value) is int and value >= 0),
                    "line_end": TEXT,
                },
                ("path",),
            )
        ),
        "format": TomlTable(
            {
                "separator": Value("one character", lambda v: _text(v) and len(v) == 1 and v not in '"\r\n'),
                "encoding": Value('a text encoding that Python knows, such as "utf-8" or "cp1252"', is_text_encoding),
                "header": Value("true or false", lambda value: isinstance(value, bool)),
                "quote": _one_of('"', "'"),
                "decimal": _one_of(".", ","),
                "thousands": _one_of(*THOUSANDS),
                "missing": TEXT,
                "records_with_missing": _one_of("keep", "drop", "refuse"),
            }
        ),
        "renamed": Named(TEXT),
        "columns": Named(
            TomlTable(
                {
                    "role": _one_of(*Role),
                    "domain": DOMAIN,
                    "unit": TEXT,
                    "form_of": TEXT,
                    "days": _one_of(*DAYS),
                    "missing": NAMES,
                    "cannot_be_known": TEXT,
                    "harmless": Named(TEXT),
                    "public_distribution": Named(Value("a share from 0 to 1", lambda v: _number(v) and 0 <= v <= 1)),
                },
                ("role",),
            ),
            least=1,
        ),
        "studies": Named(
            TomlTable(
                {
                    **dict.fromkeys(Role, NAMES),
                    "description": TEXT,
                    "hierarchies": Value("the name of a folder in hierarchies/", _plain),
                    "sensitivity": Named(Value("a number above 0", lambda value: _number(value) and value > 0)),
                    "recoding": Named(RECODING),
                    "ends": _one_of("public", "exact"),
                    "cannot_be_known": Named(TEXT),
                }
            )
        ),
    },
    ("dataset", "files", "columns"),
)


def read(path: Path) -> dict[str, Any]:
    """The description in the file at `path`, as TOML reads it, every key of it checked; `proposed` is a key more of
    each column whose domain a draft read from the records, and that nobody has replaced, and `doubt` one of its format
    where another encoding fits its files as well.

    Raises SchemaError for what is no TOML in UTF-8, a key that is unknown or missing, and a value that cannot be, and
    OSError, which names the file.
    """
    try:
        whole = path.read_bytes()
        progress.seen(path.resolve(), hashlib.sha256(whole).hexdigest())
        written = whole.decode("utf-8")
        text = tomllib.loads(written)
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise SchemaError(f"{path.name} is not UTF-8 text. Save it as TOML in UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError(f"{path.name} is not valid TOML: {error}. Correct that line.") from None
    absent = [section for section in KEYS.needed if section not in text]
    if absent:
        raise SchemaError(
            f"{path.name} lacks [{'], ['.join(absent)}]. See data/adult/adult.toml for one that is whole."
        )
    _check(path.name, "", text, KEYS)
    for name in proposals(written):
        text["columns"][name]["proposed"] = True
    if doubt := proposed_encoding(written):
        text["format"]["doubt"] = doubt
    return text


def checksum(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits. Raises OSError, which names the file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from error


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder that of its parts' names and digests, in the order of the alphabet."""
    if path.is_file():
        return checksum(path)
    parts = "".join(f"{each.name} {checksum(each)}\n" for each in sorted(reading.parts(path)))
    return hashlib.sha256(parts.encode()).hexdigest()


def inside(folder: Path, name: str) -> Path:
    """The path of the file `name` in `folder`. Raises SchemaError for one that leads outside, if only by a link."""
    path = folder / name
    if not _inside(str(name)) or not path.resolve().is_relative_to(folder.resolve()):
        raise SchemaError(
            f"'{name}' leads out of {folder}, where the files of a description belong. Copy the file there and name it."
        )
    return path


def _check(file: str, where: str, value: object, rule: object) -> None:
    """Raise SchemaError unless `value` is as `rule` says; `where` is its key, such as `columns.age.role`."""

    def refuse(words: str) -> NoReturn:
        found = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:76]}..."
        raise SchemaError(f"{file}: {where} is {words}; got {found}. Correct it.")

    match rule:
        case Value(words, fits):
            if not fits(value):
                refuse(words)
        case TomlTables(each):
            if not isinstance(value, list) or not value:
                refuse(f"at least one table, written [[{where}]]")
            for entry in value:
                _check(file, where, entry, each)
        case Named(each, least):
            if not isinstance(value, Mapping) or len(value) < least:
                refuse("a table" + " that is not empty" * bool(least))
            for name, entry in value.items():
                _check(file, f"{where}.{name}", entry, each)
        case TomlTable(keys, needed, is_open):
            if not isinstance(value, Mapping):
                refuse("a table")
            absent = [key for key in needed if key not in value]
            strange = [key for key in value if key not in keys and not is_open]
            if absent:
                raise SchemaError(f"{file}: {where} has no {', '.join(absent)}. Add it: {_words(keys[absent[0]])}.")
            if strange:
                raise SchemaError(
                    f"{file}: {where or 'it'} has {strange[0]!r}, which means nothing. It may have {', '.join(keys)}."
                )
            for key in keys:
                if key in value:
                    _check(file, f"{where}.{key}".lstrip("."), value[key], keys[key])


def _words(rule: object) -> str:
    return rule.words if isinstance(rule, Value) else "a table"


def reasons(text: str) -> dict[str, str]:
    """Return the comment beside the role of each column, where a draft says why it proposes it."""
    columns = _read(text).get("columns", {}).items()
    return {name: comment for name, column in columns if (comment := _comment(column, "role"))}


def proposals(text: str) -> list[str]:
    """Return the columns whose domain still stands beside the word PROPOSAL."""
    return _begins(text, "domain", PROPOSAL)


def unconfirmed(text: str) -> str:
    """How many domains of what is published were read from the records, and what that means.

    Parameters
    ----------
    text : str
        Of a description.

    Returns
    -------
    str
        A sentence; empty if there is none.
    """
    columns = tomllib.loads(text).get("columns", {})  # a report may be of what is no whole description
    stated = [name for name, entry in columns.items() if "domain" in entry and entry["role"] in PUBLISHED]
    proposed = {*proposals(text)}.intersection(stated)
    if not proposed:
        return ""
    return (
        f"{len(proposed)} of {len(stated)} domains were read from the records, and nobody has replaced them: which "
        "values there can be and where ranges end tells of the records, and no promise of noise holds. The "
        "description of the table marks each of them as PROPOSAL."
    )


def guessed_missing(text: str) -> list[str]:
    """Return the columns of which a draft guessed that texts of another type count as missing."""
    return _begins(text, "missing", GUESS)


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


def _begins(text: str, key: str, word: str) -> list[str]:
    """The columns in which the comment beside a key begins with a word."""
    columns = _read(text).get("columns", {}) if word in text else {}
    return [name for name, column in columns.items() if re.match(rf"{word}\b", _comment(column, key))]


def _comment(table: Any, key: str) -> str:
    item = table.get(key)
    return item.trivia.comment.lstrip("# ").rstrip() if isinstance(item, Item) else ""
