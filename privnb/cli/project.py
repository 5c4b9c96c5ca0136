"""The project file `privnb.toml`, which lists the releases to make, their tables, and the checks of the releases."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from privnb.runtime.errors import InputError, MissingFileError, OutputExistsError, UsageError
from privnb.runtime.names import join_names, suggest
from privnb.runtime.temporary import atomic_write

FILE, STATE = "privnb.toml", ".privnb"
LISTS = ("sensitive", "quasi", "keep", "drop")  # keys whose value is a column or a list of columns
TEXTS = ("person", "study", "description", "algorithm", "outside", "memory", "encoding", "allow", "profile", "store")
NUMBERS = ("records", "seeds")
FLAGS = ("spreadsheet_safe", "bounds")
PUBLISHED = ("sensitive", "keep")  # roles of columns that appear in a release
INPUTS = ("table", "description", "policy")
KEYS = ("name", "table", "model", "policy", "out", *LISTS, *TEXTS, *NUMBERS, *FLAGS, "check")
OF_DECIDE = (
    "study",
    "outside",
    *LISTS,
    "person",
    "allow",
    "profile",
    "store",
    *NUMBERS,
    *FLAGS,
)  # keys of a release by a policy
OF_SANITIZE = (*LISTS, "person", "study", "description", "algorithm", "outside", "memory", "encoding", "allow", *FLAGS)


@dataclass(frozen=True)
class Step:
    """One release of a project, which is one section of the project file.

    Attributes
    ----------
    name : str
    settings : dict
        The content of the section, in which all keys have been checked.
    """

    name: str
    settings: Mapping[str, Any]

    @property
    def out(self) -> str:
        """The path of the release."""
        return str(self.settings["out"])

    @property
    def call(self) -> str:
        """The command that the provenance of the release states."""
        return f"privnb run {self.name}"

    @property
    def words(self) -> list[str]:
        """The command that makes the release, as a list of words."""
        by_policy = "policy" in self.settings
        verb, asked = ("decide", "policy") if by_policy else ("sanitize", "model")
        keys = (asked, "out", *(OF_DECIDE if by_policy else OF_SANITIZE))
        options = [word for key in keys if key in self.settings for word in _option(key, self.settings[key])]
        return [verb, *options, "--", self.settings["table"]]

    @property
    def check(self) -> list[str]:
        """The command that checks the written release, as a list of words.

        The command does not count people, because people were counted when the release was made.
        """
        model = self.settings.get("check")
        keys = () if self.settings.get("bounds") else PUBLISHED  # each such column is two columns in the file
        roles = [word for key in keys if key in self.settings for word in _option(key, self.settings[key])]
        return ["check", "--accept-uncounted", *([f"--model={model}"] if model else []), *roles, "--", self.out]

    def needs(self, out: str) -> bool:
        """Return whether the release is made from `out`, the output of another release."""
        inputs = [Path(self.settings[key]).resolve() for key in INPUTS if key in self.settings]
        return any(Path(out).resolve() in (each, *each.parents) for each in inputs)

    def digest(self) -> str:
        """Return the SHA-256 of all facts on which the release depends: settings, version of privnb and input files.

        Raises MissingFileError for a table or a policy that does not exist.
        """
        files = {path: _content(path) for key in INPUTS for path in self._files(key)}
        said = [metadata.version("privnb"), dict(self.settings), files]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def _files(self, key: str) -> list[str]:
        """Return the files or folders that the setting `key` means; for a described dataset, return its folder."""
        from privnb.cli.tables import find_table, is_file

        given = self.settings.get(key)
        if given is None or key == "policy":
            return [given] if given and Path(given).is_file() else []
        found = [given] if is_file(given) else []
        description = find_table(given).description
        return found + ([str(description.parent)] if description else [])


@dataclass(frozen=True)
class Project:
    """A project file, and the record of the releases that were made from it.

    Attributes
    ----------
    folder : Path
        The folder of the project file; the paths in the project file are relative to this folder.
    steps : list of Step
    """

    folder: Path
    steps: Sequence[Step]

    @classmethod
    def read(cls, path: str | os.PathLike[str] = FILE) -> Project:
        """Return the project that a file describes.

        Raises
        ------
        MissingFileError
            If there is no such file.
        InputError
            For a file that is not TOML, for an unknown key, for a value of the wrong type, for a release without a
            table, without a model or policy, or without an output, and for two releases with the same output or name.
        """
        path = Path(path)
        if not path.is_file():
            raise MissingFileError(
                f"there is no file {path}. Write a project file with [[release]], table, model and out, as the "
                "documentation shows."
            )
        try:
            text = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path.name} is not valid TOML: {error}. Correct that line.") from None
        if {*text} != {"release"} or not text["release"] or not isinstance(text["release"], list):
            found = ", ".join(name for name in text if name != "release")
            raise InputError(
                f"{path.name} must have only [[release]] sections; got {found or 'none'}. Put each key below "
                "[[release]]."
            )
        steps = [_step(path.name, number, section) for number, section in enumerate(text["release"], 1)]
        for what, names in {"out": [os.path.normpath(s.out) for s in steps], "name": [s.name for s in steps]}.items():
            if twice := [name for name, times in Counter(names).items() if times > 1]:
                raise InputError(
                    f"{path.name}: two releases have {what} = '{twice[0]}'. Give each release its own {what}."
                )
        for step in steps:
            _check_words(path.name, step)
        return cls(path.resolve().parent, steps)

    def chosen(self, names: Sequence[str]) -> list[Step]:
        """Return the releases with these names; if no names are given, return all releases.

        Raises InputError for an unknown name.
        """
        known = [step.name for step in self.steps]
        if unknown := [name for name in names if name not in known]:
            raise InputError(
                f"there is no release '{unknown[0]}'.{suggest(unknown, known)} The project has {', '.join(known)}."
            )
        return [step for step in self.steps if not names or step.name in names]

    def is_up_to_date(self, step: Step) -> bool:
        """Return whether the release exists, is unchanged, and would be made in the same way by another run.

        Raises
        ------
        OutputExistsError
            For an output that this project did not make, or that was changed after this project made it.
        """
        from privnb.datasets.description import file_digest

        out, made = self.folder / step.out, self._made.get(step.out)
        if not out.exists():
            return False
        if made is None or made["output"] != file_digest(out):
            if self._is_left(step):
                return False
            raise OutputExistsError(
                f"{step.out} was not made by this project, or was changed since then. Move the file away, or run with "
                "--force."
            )
        return bool(made["digest"] == step.digest())

    def is_made(self, step: Step) -> bool:
        """Return whether the release at the path of the step was made by this project, so that it may be replaced."""
        return step.out in self._made or self._is_left(step)

    def _is_left(self, step: Step) -> bool:
        """Return whether an interrupted run of this project made the release, but did not record it.

        The provenance of the release shows this.
        """
        from privnb.datasets.description import file_digest
        from privnb.tables.writing import FACTS

        out = self.folder / step.out
        try:
            made = json.loads(Path(f"{out}{FACTS}").read_text(encoding="utf-8"))["made"]
            return bool(made["call"] == step.call and made["sha256"] == file_digest(out))
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def record(self, step: Step, *, is_kept: bool) -> None:
        """Record the inputs of a release in a file that only the owner can read.

        `is_kept` states whether the release passes its check; a release that does not pass its check is never up to
        date. The file of this record is not stored next to the release, because it contains the digest of the input. An
        adversary who guesses the whole table could confirm the guess by the digest.
        """
        from privnb.datasets.description import file_digest

        place = self.folder / STATE
        place.mkdir(mode=0o700, exist_ok=True)
        atomic_write(place / ".gitignore", "*\n", 0o600)
        entry = {"digest": step.digest() if is_kept else "", "output": file_digest(self.folder / step.out)}
        made = json.dumps(self._made | {step.out: entry}, indent=1)
        atomic_write(place / "made.json", f"{made}\n", 0o600)

    @property
    def _made(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / STATE / "made.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):  # the record is lost or damaged, so make all releases again
            return {}
        return found if isinstance(found, dict) else {}


def _step(file: str, number: int, section: Mapping[str, Any]) -> Step:
    """Return a section of a project file as a step.

    Raises InputError for a section that is not valid.
    """
    where = f"release {number} of {file}"
    for key, value in section.items():
        if key not in KEYS:
            raise InputError(
                f"{where} has the unknown key '{key}'.{suggest([key], KEYS)} The valid keys are: {', '.join(KEYS)}."
            )
        kinds: tuple[type, ...] = (bool,) if key in FLAGS else (int,) if key in NUMBERS else (str,)
        is_list = key in LISTS and isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not is_list and (not isinstance(value, kinds) or (key in NUMBERS and isinstance(value, bool))):
            words = "true or false" if key in FLAGS else "a whole number" if key in NUMBERS else "text"
            raise InputError(f"{where}: {key} must be {words}{' or a list of texts' * (key in LISTS)}; got {value!r}.")
    if absent := [key for key in ("table", "out") if not section.get(key)]:
        raise InputError(
            f"{where} must name {absent[0]}; got {', '.join(section) or 'nothing'}. Add a line that begins with "
            f"{absent[0]} =."
        )
    if ("model" in section) == ("policy" in section):
        raise InputError(
            f'{where} must have either model, such as "k=10", or policy, such as "ontario-2025". '
            "Give exactly one of the two keys."
        )
    if "check" in section and "person" in section:
        raise InputError(
            f"{where} must have either person or check: a release lacks the person column, and people cannot be "
            "counted without this column. The models of a release count people and are checked before the release is "
            "written. Leave out one of the two keys."
        )
    able = OF_DECIDE if "policy" in section else OF_SANITIZE
    asked = {*section} - {"name", "table", "model", "policy", "out", "check", *able}
    if asked:
        other = "a model" if "policy" in section else "a policy"
        raise InputError(f"{where}: the key {sorted(asked)[0]} needs {other}. Leave out this key.")
    return Step(str(section.get("name") or Path(section["out"]).name), section)


def _check_words(file: str, step: Step) -> None:
    """Raise InputError if a step has a value that the commands of the release do not accept."""
    from privnb.cli.command import parser

    for words, model in ((step.words, "model"), (step.check, "check")):
        try:
            parser().parse_args(words)
        except UsageError as error:
            said, _, _ = str(error).partition(" See `")  # the help of the command does not apply
            raise InputError(f"release '{step.name}' of {file}: {name_keys(said, model)}") from None


def _option(key: str, value: Any) -> list[str]:
    """Return the option of a command that corresponds to a key of the project file."""
    option = f"--{key.replace('_', '-')}"
    if key in FLAGS:
        return [option] * bool(value)
    return [f"{option}={join_names([value] if isinstance(value, str) else value) if key in LISTS else value}"]


def name_keys(text: str, model: str = "model") -> str:
    """Return a text in which options of a command are replaced by keys of the project file.

    `model` is the key that corresponds to `--model`.

    >>> print(name_keys("Name the key with --person, or try --outside missing (`privnb decide --out`)."))
    Name the key with `person = ...`, or try `outside = "missing"` (`privnb decide --out`).
    """

    def key_of(found: re.Match[str]) -> str:
        key = {"model": model}.get(found[1], str(found[1]).replace("-", "_"))
        value = f'"{found[2]}"' if found[2] else found[3] or "..."
        return f"`{key} = {'true' if key in FLAGS else value}`" if key in KEYS else found[0]

    return re.sub(r'`[^`]*`|--([a-z-]+)(?: (missing|widen)| ("[^"]*"))?', key_of, text)


def _content(path: str) -> str:
    """Return the SHA-256 of a file or, for a folder, of the names and the contents of all files in the folder."""
    from privnb.datasets.description import checksum

    place = Path(path)
    if place.is_file():
        return checksum(place)
    files = sorted(each for each in place.rglob("*") if each.is_file())
    return hashlib.sha256(
        "".join(f"{each.relative_to(place)} {checksum(each)}\n" for each in files).encode()
    ).hexdigest()
