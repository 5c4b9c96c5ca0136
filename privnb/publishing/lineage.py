"""The lineage of a release: the call, the versions, the time, and the names of the input and the output.

The digest of the output identifies the file that a provenance describes. The digest of the input is left out on
purpose: an adversary who knows all records except one could try all possible values of this record, and the digest
would confirm the correct guess. A keyed digest would help only the owner, who can also find the input by its name and
date.
"""

from __future__ import annotations

import inspect
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from privnb.datasets.description import file_digest

MADE = "made"  # the key of the lineage in a provenance
PACKAGES = ("privnb", "duckdb", "numpy", "pandas")
MACHINE = ("versions", "at", "seconds", "sha256")  # facts that depend on neither the records nor a person's choice


@dataclass(frozen=True)
class Run:
    """The run that makes one release, from the beginning.

    Parameters
    ----------
    call : str
        The command or the Python call that makes the release, without folders.
    source : str, optional
        The name of the input without its folder.
    """

    call: str
    source: str | None = None
    began: float = field(default_factory=time.monotonic)

    def facts(self, made: Path | None = None) -> dict[str, Any]:
        """Return the lineage for a provenance; `made` is the complete file or folder of the release."""
        return {
            "call": self.call,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self.began, 1),
            "input": self.source,
            "output": None if made is None else made.name,
            "sha256": None if made is None else file_digest(made),
        }


def format_call(function: Callable[..., object], given: Mapping[str, object]) -> str:
    """Return a Python call with the arguments that differ from their defaults; a path is shortened to its name.

    >>> def sanitize(source, model, out, *, memory="2GB"): ...
    >>> format_call(sanitize, {"source": Path("/home/us/people.csv"), "model": "k=5", "out": "a.csv", "memory": "2GB"})
    "sanitize('people.csv', 'k=5', 'a.csv')"
    """
    said = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in given or (value := given[name]) == parameter.default:
            continue
        shown = repr(Path(value).name if isinstance(value, Path) else value)
        said.append(f"{name}={shown}" if parameter.kind is parameter.KEYWORD_ONLY else shown)
    return f"{function.__name__}({', '.join(said)})"
