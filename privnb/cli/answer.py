"""What a subcommand answers: values for programs, sentences for people, warnings with codes, and the exit status."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import metadata
from os import PathLike
from typing import Any, NamedTuple

from privnb.runtime.errors import ConditionError, PrivnbError

VERSIONED = ("duckdb", "numpy", "opendp", "pandas", "pyarrow", "scikit-learn")  # libraries on which results depend
NOTE = "note"  # the code of a sentence that has no other one
INTERRUPTED, FAULT = "interrupted", "fault"  # the codes of what is no error of a class


class Notice(NamedTuple):
    """Something that the user should know and that stops nothing.

    Attributes
    ----------
    code : str
        A stable name for programs, in lower case with hyphens.
    message : str
        A sentence for people.
    """

    code: str
    message: str

    @classmethod
    def of(cls, message: object) -> Notice:
        """Return a sentence of another room as a warning, with the code that it carries if it carries one."""
        return cls(str(getattr(message, "code", NOTE)), str(message))


class Error(NamedTuple):
    """Why a command did not do what it was asked to do: a stable code, and a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True)
class Answer:
    """What a subcommand answers.

    Attributes
    ----------
    values : dict
        For programs, as `answer.schema.json` describes them for each command.
    sentences : sequence of str
        For people, on standard output.
    warnings : sequence of Notice
        In the text they are among the sentences already.
    notes : sequence of str
        For people, on standard error: how the work went.
    unmet : str
        The condition that is not met, a sentence; the exit status is then 1.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sentences: Sequence[str] = ()
    warnings: Sequence[Notice] = ()
    unmet: str = ""
    notes: Sequence[str] = ()

    @property
    def status(self) -> int:
        """The exit status."""
        return ConditionError.status if self.unmet else 0

    @property
    def error(self) -> Error | None:
        """The condition that is not met as an error; None if there is none."""
        return Error(ConditionError.code, self.unmet) if self.unmet else None


def error_of(error: PrivnbError) -> Error:
    """Return an error of the package with its code."""
    return Error(error.code, str(error))


def document(
    command: str | None,
    status: int,
    values: Mapping[str, Any] | None,
    warnings: Iterable[Notice],
    error: Error | None,
    seconds: float,
) -> str:
    """Return the one JSON document of a command that was given `--json`.

    Parameters
    ----------
    command : str, optional
        The subcommand; None if it was not recognized.
    status : int
        The exit status.
    values : dict, optional
        None if the command did not come to an answer.
    warnings : iterable of Notice
    error : Error, optional
    seconds : float
    """
    versions = {name: metadata.version(name) for name in VERSIONED} | {"python": platform.python_version()}
    content = {
        "privnb": metadata.version("privnb"),
        "command": command,
        "status": status,
        "values": values,
        "warnings": [each._asdict() for each in warnings],
        "error": None if error is None else error._asdict(),
        "seconds": round(seconds, 3),
        "versions": versions,
    }
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: no NaN and no infinity, which are null."""
    if hasattr(value, "item") and not hasattr(value, "__len__"):  # a number of NumPy
        value = value.item()
    match value:
        case Enum():
            return str(value.value)
        case None | bool() | int() | str():
            return value if type(value) in (bool, int, type(None)) else str(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case PathLike():
            return str(value)
        case Iterable():
            return [_plain(each) for each in value]
    return str(value)
