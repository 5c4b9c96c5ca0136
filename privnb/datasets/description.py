"""Description files `<name>.toml`: the keys, the valid values, the information in the comments, and edits.

A description may come from an unknown author, so the whole description is checked before any part of it is used.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeGuard

import tomlkit
from tomlkit.items import Item

from privnb.datasets.column_types import DAYS
from privnb.microdata.schema import PUBLISHED, Role, SchemaError
from privnb.runtime import progress
from privnb.runtime.errors import InputFileError
from privnb.runtime.names import suggest
from privnb.tables import reading
from privnb.tables.corrections import KEYS as CORRECTIONS, Correction
from privnb.tables.derivation import UNITS, Derivation, DerivedColumns
from privnb.tables.encodings import is_text_encoding
from privnb.tables.notation import THOUSANDS

PROPOSAL = "PROPOSAL"  # marks a value that a draft read from the records and nobody has replaced
QUESTION = ". Sensitive?"  # begins the question that may follow the reason for a role
GUESS = "a guess"  # marks a value that nobody has checked


@dataclass(frozen=True)
class Value:
    """The rule of a single value: a description of valid values for errors, and a test of whether a value is valid."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class TomlTable:
    """The rule of a table: the rule of each key, and the keys that are `needed`; if `open`, other keys are allowed."""

    keys: Mapping[str, object]
    needed: tuple[str, ...] = ()
    open: bool = False


@dataclass(frozen=True)
class Named:
    """The rule of a table with names as keys: the rule that each value follows, and the minimum number of names."""

    each: object
    least: int = 0


@dataclass(frozen=True)
class TomlTables:
    """The rule of a list of at least one table: the rule that each table follows."""

    each: TomlTable


def _text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    # A bool, which is a number in Python, is refused, and so is a number beyond 2^53, where floats have gaps.
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 2**53


def _list(each: Callable[[Any], bool], least: int = 0) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(each, value))


def _one_of(*texts: str) -> Value:
    return Value("one of " + ", ".join(texts), lambda value: _text(value) and value in texts)


def _domain(value: Any) -> bool:
    if isinstance(value, Mapping):
        ends = {"low", "high"} <= set(value) <= {*NUMBER_KEYS}
        cuts = value.get("cuts", 1)
        # Floats cannot distinguish finer steps.
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
    return _text(value) or _widths(value)  # the allowed texts depend on the column


def _plain(value: object) -> bool:
    return _text(value) and re.fullmatch(r"[\w-][\w.-]*", value) is not None


def _inside(value: object) -> bool:
    return _text(value) and value != "" and not Path(value).is_absolute() and ".." not in Path(value).parts


def _spellings(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_text, value.values())) and value.keys().isdisjoint(value.values())


def _derivation(value: Any) -> bool:
    try:
        return isinstance(value, Mapping) and bool(Derivation.of(value))
    except SchemaError:
        return False


_numbers = _list(_number)
_widths = _list(lambda width: _number(width) and width > 0, 1)

NUMBER_KEYS = ("low", "high", "step", "cuts", "missing", "missing_is_public")  # of a domain of numbers
TEXT = Value("text", _text)
NAMES = Value('a list of columns, such as ["age", "sex"]', _list(_text))
DOMAIN = Value(
    'a list of different texts, such as ["F", "M"], a .csv file next to the description whose lines begin with '
    'them, or numbers { low = 0, high = 99 }, with step and cuts if needed, and missing = "NA" if numbers may be '
    "missing, "
    "with missing_is_public = true if everybody may know which are missing",
    _domain,
)
RECODING = Value(
    '"ordered" or "set" (categories), "range", a list of widths or { widths = [...] } (numbers)', _recoding
)
DERIVED = Value(
    'a rule: { years_from = "birth", to = "admission" } or { days_from = "admission", to = "discharge" }, in which '
    "`to` may also be a day without quotation marks, such as 2024-12-31; "
    '{ year_of = "admission" }, { quarter_of = "admission" }, { month_of = "admission" }; '
    'or { prefix_of = "zip", characters = 2 }',
    _derivation,
)
SPELLINGS = Value(
    'a table of texts and their replacements, such as { f = "F" }, in which no replacement is replaced itself',
    _spellings,
)
DIGITS = Value("a whole number from 2 to 20", lambda value: type(value) is int and 2 <= value <= 20)
KEYS = TomlTable(
    {
        "draft": Value("true or false", lambda value: isinstance(value, bool)),
        "dataset": TomlTable(
            {
                **dict.fromkeys(
                    ("name", "title", "description", "source", "licence", "citation", "default_study"), TEXT
                ),
                "invented": Value("true or false", lambda value: isinstance(value, bool)),
            },
            open=True,
        ),
        "files": TomlTables(
            TomlTable(
                {
                    "path": Value("the name of a file in the description's own folder", _inside),
                    "sha256": TEXT,
                    "made_of": NAMES,
                    "skip_lines": Value(
                        "a whole number of at least 0", lambda value: type(value) is int and value >= 0
                    ),
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
                    "derived": DERIVED,
                    "missing": NAMES,
                    "spellings": SPELLINGS,
                    "digits": DIGITS,
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


def read_description(path: Path) -> dict[str, Any]:
    """Return the description in the file at `path`, in which all keys have been checked.

    Two keys are added: `proposed` for each column whose domain a draft has read from the records and nobody has
    replaced, and `doubt` for the format if another encoding also fits the file. Raises SchemaError for a file that is
    not TOML in UTF-8, for an unknown or missing key, for an invalid value, and for a derived column without its
    sources; raises InputFileError for a file that cannot be read.
    """
    try:
        whole = path.read_bytes()
        progress.note_file(path.resolve(), hashlib.sha256(whole).hexdigest())
        written = whole.decode("utf-8")
        text = tomllib.loads(written)
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise SchemaError(f"{path.name} is not UTF-8 text. Save the file as TOML in UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError(f"{path.name} is not valid TOML: {error}. Correct that line.") from None
    absent = [section for section in KEYS.needed if section not in text]
    if absent:
        raise SchemaError(
            f"{path.name} lacks [{'], ['.join(absent)}]. See data/adult/adult.toml for a complete description."
        )
    _check(path.name, "", text, KEYS)
    _check_derived(path.name, text)
    for name in find_proposals(written):
        text["columns"][name]["proposed"] = True
    if doubt := read_proposed_encoding(written):
        text["format"]["doubt"] = doubt
    return text


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits.

    Raises InputFileError if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from error


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file; for a folder, return the SHA-256 of the sorted names and digests of its parts."""
    if path.is_file():
        return checksum(path)
    parts = "".join(f"{each.name} {checksum(each)}\n" for each in sorted(reading.list_parts(path)))
    return hashlib.sha256(parts.encode()).hexdigest()


def resolve_inside(folder: Path, name: str) -> Path:
    """Return the path of `name` in `folder`.

    Raises SchemaError for a path that leads out of the folder, even if it does so only through a link.
    """
    path = folder / name
    if not _inside(str(name)) or not path.resolve().is_relative_to(folder.resolve()):
        raise SchemaError(
            f"'{name}' leads out of {folder}, the folder of the description. Copy the file into this folder, and give "
            "the name of the copy."
        )
    return path


def _check(file: str, where: str, value: object, rule: object) -> None:
    """Raise SchemaError unless `value` follows `rule`; `where` is the key of the value, such as `columns.age.role`."""

    def refuse(words: str) -> NoReturn:
        found = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:76]}..."
        raise SchemaError(f"{file}: {where} must be {words}; got {found}. Correct the value.")

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
                raise SchemaError(
                    f"{file}: {where} lacks {', '.join(absent)}. Add {absent[0]}: {_words(keys[absent[0]])}."
                )
            if strange:
                raise SchemaError(
                    f"{file}: {where or 'the description'} has the unknown key {strange[0]!r}. The valid keys are: "
                    f"{', '.join(keys)}."
                )
            for key in keys:
                if key in value:
                    _check(file, f"{where}.{key}".lstrip("."), value[key], keys[key])


def read_derived(
    columns: Mapping[str, Any], marks: Mapping[str, Collection[str]] = MappingProxyType({})
) -> DerivedColumns:
    """Return the derived columns of a description.

    `columns` is the part `columns` of the description, and `marks` holds the texts that mark a missing value in each
    column.
    """
    return DerivedColumns(
        {name: Derivation.of(entry["derived"]) for name, entry in columns.items() if "derived" in entry},
        {name: entry["days"] for name, entry in columns.items() if "days" in entry},
        marks,
        read_corrections(columns, marks),
    )


def read_corrections(
    columns: Mapping[str, Any], marks: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[str, Correction]:
    """Return the corrections of texts that a description states, by column; for the arguments, see `read_derived`."""
    found = {name: Correction.of(entry, marks.get(name, ())) for name, entry in columns.items()}
    return {name: correction for name, correction in found.items() if correction}


def list_file_columns(columns: Mapping[str, Any]) -> list[str]:
    """Return the columns of a description that are in the files, in contrast to derived columns."""
    return [name for name, entry in columns.items() if "derived" not in entry]


def _check_derived(file: str, text: Mapping[str, Any]) -> None:
    """Raise SchemaError for a derived column whose sources the description does not describe as it needs them."""
    derived, there = read_derived(text["columns"]), list_file_columns(text["columns"])
    for name, rule in derived.rules.items():
        where = f"{file}: columns.{name}.derived"
        for source in rule.sources:
            if source in derived.rules:
                raise SchemaError(
                    f"{where} must be computed from columns of the file; '{source}' is a derived column. Name the "
                    f"columns from which '{source}' is computed."
                )
            if source not in there:
                day = " A fixed day has no quotation marks." * bool(re.fullmatch(r"\d{4}-\d\d-\d\d", source))
                raise SchemaError(
                    f"{where} must name columns of the file; got '{source}'.{day}{suggest([source], there)} The "
                    f"columns are: {', '.join(there)}."
                )
            form = derived.forms.get(source, "")
            if not rule.fits(form):
                found = f"are written as {form!r}" if form else "have no stated format"
                raise SchemaError(
                    f"{where} needs {UNITS[rule.kind]} in '{source}', whose dates {found}. State the format in "
                    f'columns.{source}.days, such as "%d.%m.%Y".'
                )


def _words(rule: object) -> str:
    return rule.words if isinstance(rule, Value) else "a table"


def read_reasons(text: str) -> dict[str, str]:
    """Return the comment after the role of each column, in which a draft states the reason for the role."""
    columns = _read(text).get("columns", {}).items()
    return {name: comment for name, column in columns if (comment := _comment(column, "role"))}


def find_proposals(text: str) -> list[str]:
    """Return the columns whose domain still has a comment that begins with the word PROPOSAL."""
    return _begins(text, "domain", PROPOSAL)


def describe_unconfirmed(text: str) -> str:
    """Return sentences about the number of published domains that were read from the records, and the consequences.

    Parameters
    ----------
    text : str
        The text of a description.

    Returns
    -------
    str
        The sentences; empty if there are no such domains.
    """
    columns = tomllib.loads(text).get("columns", {})  # a report may use an incomplete description
    stated = [name for name, entry in columns.items() if "domain" in entry and entry["role"] in PUBLISHED]
    proposed = {*find_proposals(text)}.intersection(stated)
    if not proposed:
        return ""
    return (
        f"{len(proposed)} of {len(stated)} domains were read from the records and not replaced. Their values and "
        "bounds disclose something about the records, and promises of noise do not hold. The description of the table "
        "marks these domains as PROPOSAL."
    )


def find_guessed_missing(text: str) -> list[str]:
    """Return the columns for which a draft guessed that texts of another type count as missing."""
    return _begins(text, "missing", GUESS)


def read_proposed_encoding(text: str) -> str:
    """Return the comment of a draft on the encoding if other encodings are also possible; otherwise, ""."""
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
    """Return the text of a description with these roles; all other parts, such as comments, stay as they are.

    Parameters
    ----------
    roles
        The new roles, by column.
    more
        The lines to add to the entries of some columns, by column.
    confirmed
        Whether to delete the line `draft = true`.
    days
        The format of the days, and the comment on the role, by column.
    missing
        The columns for which the owner has confirmed the guess in the line `missing`.
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
    for name in {*missing}.intersection(find_guessed_missing(text)):
        columns[name]["missing"].comment(_comment(columns[name], "missing").replace(GUESS, "checked", 1))
    if confirmed:
        document.pop("draft", None)
    return tomlkit.dumps(document)


def add_derived(
    text: str,
    entries: Mapping[str, str],
    days: Mapping[str, str],
    unused: Collection[str],
    mark: str = "",
) -> str:
    """Return the text of a description with further derived columns; all other parts stay as they are.

    Parameters
    ----------
    text
    entries
        The lines of the entry of each new column, by name.
    days
        The formats of the dates to state for source columns, by name.
    unused
        The columns that get the role unused.
    mark
        The mark of a missing value to state, if the description states none.
    """
    document = tomlkit.parse(text)
    columns: Any = document["columns"]
    for name, form in days.items():
        columns[name]["days"] = form
    for name in unused:
        columns[name]["role"] = str(Role.UNUSED)
    for name, lines in entries.items():
        entry = tomlkit.table()
        for key, item in tomlkit.parse(lines).items():
            entry.append(key, item)
        last = columns[[*columns][-1]]
        if not last.as_string().endswith("\n\n"):
            last.add(tomlkit.nl())
        columns.append(name, entry)
    if mark:
        document.setdefault("format", tomlkit.table())["missing"] = mark
    return tomlkit.dumps(document)


def edit_correction(text: str, name: str, correction: Correction) -> str:
    """Return the text of a description with another correction of a column; all other parts stay as they are.

    A correction without effect deletes the keys of the earlier correction.
    """
    document: Any = tomlkit.parse(text)
    column = document["columns"][name]
    for key in CORRECTIONS:
        column.pop(key, None)
    pairs, lines = ", ".join(f"{quote(old)} = {quote(new)}" for old, new in correction.spellings.items()), ""
    if pairs:
        lines += f"spellings = {{ {pairs} }} # the texts on the left are read as those on the right\n"
    if correction.digits:
        lines += f"digits = {correction.digits} # shorter codes get leading zeros\n"
    for key, item in tomlkit.parse(lines).items():
        column[key] = item
    return tomlkit.dumps(document)


def edit_domain(text: str, name: str, line: str, reason: str = "") -> str:
    """Return the text of a description in which `line` states the domain of a column; nothing else changes.

    If a `reason` is given, it replaces the reason in the comment on the role, but not the question in this comment.
    """
    document: Any = tomlkit.parse(text)
    column = document["columns"][name]
    domain = tomlkit.parse(line)
    has_comment = bool(_comment(domain, "domain"))
    column["domain"] = domain["domain"]
    if not has_comment:
        column["domain"].trivia.comment = column["domain"].trivia.comment_ws = ""  # the former comment would stay
    if reason:
        _, asks, question = _comment(column, "role").partition(QUESTION)
        column["role"].comment(f"{reason}{asks}{question}")
    return tomlkit.dumps(document)


def derived_line(rule: Derivation) -> str:
    """Return the line of a description that states the rule of a derived column."""
    values = {key: quote(value) if isinstance(value, str) else str(value) for key, value in rule.stated.items()}
    return f"derived = {{ {', '.join(f'{key} = {value}' for key, value in values.items())} }}"


def remove_column(text: str, name: str) -> str:
    """Return the text of a description without the entry of a column; all other parts stay as they are."""
    document = tomlkit.parse(text)
    columns: Any = document["columns"]
    columns.remove(name)
    return tomlkit.dumps(document)


def edit_numbers(text: str, name: str, cuts: float | Sequence[float], bounds: tuple[float, float] | None = None) -> str:
    """Return the text of a description with other cuts and bounds of the numbers of a column; nothing else changes.

    If `bounds`, the lowest and the highest number, are given, the owner has stated them: the mark of a proposal is
    removed.
    """
    document: Any = tomlkit.parse(text)
    domain = document["columns"][name]["domain"]
    domain["cuts"] = cuts if isinstance(cuts, int | float) else [*cuts]
    if bounds is not None:
        domain["low"], domain["high"] = bounds
        domain.pop("widened", None)
        domain.trivia.comment = domain.trivia.comment_ws = ""
    return tomlkit.dumps(document)


def quote(text: str) -> str:
    """Return a text in the syntax of TOML, with escapes for all invisible characters."""
    return "".join(
        f"\\U{ord(each):08X}" if unicodedata.category(each) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp") else each
        for each in json.dumps(text, ensure_ascii=False)
    )


@functools.lru_cache(8)  # several functions read the same description
def _read(text: str) -> Mapping[str, Any]:
    return tomlkit.parse(text)


def _begins(text: str, key: str, word: str) -> list[str]:
    """Return the columns for which the comment after the key `key` begins with `word`."""
    columns = _read(text).get("columns", {}) if word in text else {}
    return [name for name, column in columns.items() if re.match(rf"{word}\b", _comment(column, key))]


def _comment(table: Any, key: str) -> str:
    item = table.get(key)
    return item.trivia.comment.lstrip("# ").rstrip() if isinstance(item, Item) else ""
