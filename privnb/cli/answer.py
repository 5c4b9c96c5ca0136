"""The answer of a subcommand: values for programs, sentences for people, warnings with codes, and the exit status."""

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
from privnb.runtime.notices import Notice

VERSIONED = ("duckdb", "numpy", "opendp", "pandas", "pyarrow", "scikit-learn")  # libraries on which results depend
INTERRUPTED, FAULT = "interrupted", "fault"  # the codes of errors without a class


class Error(NamedTuple):
    """The reason why a command has an exit status other than 0.

    Attributes
    ----------
    status : int
        The exit status.
    code : str
        A stable name for programs, in lower case with hyphens.
    message : str
        Sentences for people.
    """

    status: int
    code: str
    message: str

    @classmethod
    def of(cls, error: PrivnbError) -> Error:
        """Return the reason that describes an error of the package."""
        return cls(error.status, error.code, str(error))


@dataclass(frozen=True)
class Answer:
    """The answer of a subcommand.

    Attributes
    ----------
    values : dict
        The values for programs; `answer.schema.json` describes the values of each command.
    sentences : sequence of str
        The sentences for people, on standard output. A Notice among the sentences is a warning, which `--quiet` leaves
        out.
    notes : sequence of str
        The sentences for people about the run of the command, on standard error.
    error : Error, optional
        The reason for an exit status other than 0 although there is an answer, such as a condition that is not met.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sentences: Sequence[str] = ()
    error: Error | None = None
    notes: Sequence[str] = ()

    @property
    def status(self) -> int:
        """The exit status."""
        return self.error.status if self.error else 0

    @property
    def warnings(self) -> list[Notice]:
        """The warnings among the sentences and the notes."""
        return [each for each in (*self.sentences, *self.notes) if isinstance(each, Notice)]


def unmet_condition(sentence: str) -> Error | None:
    """Return the error for a condition that is not met, which `sentence` describes; None for an empty sentence."""
    return Error.of(ConditionError(sentence)) if sentence else None


def to_json(
    command: str | None,
    values: Mapping[str, Any] | None,
    warnings: Iterable[Notice],
    error: Error | None,
    seconds: float,
) -> str:
    """Return the JSON document that a command prints with `--json`.

    Parameters
    ----------
    command : str, optional
        The subcommand; None if the subcommand was not recognized.
    values : dict, optional
        The values of the answer; None if there is no answer.
    warnings : iterable of Notice
    error : Error, optional
    seconds : float
    """
    versions = {name: metadata.version(name) for name in VERSIONED} | {"python": platform.python_version()}
    content = {
        "privnb": metadata.version("privnb"),
        "command": command,
        "status": error.status if error else 0,
        "values": values,
        "warnings": [{"code": each.code, "message": str(each)} for each in warnings],
        "error": error and {"code": error.code, "message": error.message},
        "seconds": round(seconds, 3),
        "versions": versions,
    }
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value in the form that JSON can represent; NaN and infinity become null."""
    if hasattr(value, "item") and not hasattr(value, "__len__"):  # a NumPy number
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
