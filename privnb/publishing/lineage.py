"""How and when a release was made: the call, the versions, the time, and the names of input and output.

The digest of the output says which file a provenance is of. The digest of the input is left out on purpose: an
adversary who knows all records but one could try every value of the last one, and the digest would confirm the right
guess. A digest with a key is of no use to anybody but the owner, who finds the input by its name and the date.
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

MADE = "made"  # the part of a provenance
PACKAGES = ("privnb", "duckdb", "numpy", "pandas")
MACHINE = ("versions", "at", "seconds", "sha256")  # facts that are of no record and of nobody's choice


@dataclass(frozen=True)
class Run:
    """The making of one release, from when it begins.

    Parameters
    ----------
    call : str
        How the release was asked for, without folders.
    source : str, optional
        The name of the input, without its folder.
    """

    call: str
    source: str | None = None
    began: float = field(default_factory=time.monotonic)

    def facts(self, made: Path | None = None) -> dict[str, Any]:
        """Return the part `MADE` of a provenance. `made`: the file or folder of the release, once it is whole."""
        return {
            "call": self.call,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self.began, 1),
            "input": self.source,
            "output": None if made is None else made.name,
            "sha256": None if made is None else file_digest(made),
        }


def python_call(function: Callable[..., object], given: Mapping[str, object]) -> str:
    """Return a call in Python with the arguments that differ from their defaults; of a path the name alone.

    >>> def sanitize(source, model, out, *, memory="2GB"): ...
    >>> python_call(sanitize, {"source": Path("/home/us/people.csv"), "model": "k=5", "out": "a.csv", "memory": "2GB"})
    "sanitize('people.csv', 'k=5', 'a.csv')"
    """
    said = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in given or (value := given[name]) == parameter.default:
            continue
        shown = repr(Path(value).name if isinstance(value, Path) else value)
        said.append(f"{name}={shown}" if parameter.kind is parameter.KEYWORD_ONLY else shown)
    return f"{function.__name__}({', '.join(said)})"
