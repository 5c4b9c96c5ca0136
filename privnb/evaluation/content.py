"""What went into an evaluation, as a digest: equal content, equal digest, however it is kept in memory."""

import ast
import dataclasses
import enum
import functools
import hashlib
import importlib.metadata
import platform
import sys
import sysconfig
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import privnb
from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import factorized
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import UsageTypeError

# Packages whose version stands for their code.
VERSIONED = {"numpy": "numpy", "pandas": "pandas", "sklearn": "scikit-learn", "scipy": "scipy", "numba": "numba"}

INSTALLED = {sysconfig.get_path(name) for name in ("purelib", "platlib")}

# What only reads results: no module that makes numbers imports one of these.
READERS = (
    "reporting", "papers.charts", "papers.findings", "papers.ledger_page", "explorer", "workbench", "cli", "__main__",
)  # fmt: skip


class OfThisProcess(UsageTypeError):
    """A class or function of a notebook's cell, or within another function: no other process can import it."""


def content(value: Any) -> bytes:
    """A digest (32 bytes) of what `value` holds, not of how it is kept: equal digests, equal values.

    Of plain values, sequences, mappings, arrays, tables, functions and classes of modules, miners, and dataclasses:
    datasets, sanitizers, privacy models. A text column counts the same as object, str or category. The code of a
    class or function outside the package counts with the file of its module, and with those of one's own that it
    imports; that of an installed package with the package's version.
    Raises TypeError for anything else, and for a random generator, which a stored result would not advance.

    >>> content((1, "a")) == content((1, "a")), content(1) == content("1")
    (True, False)
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return sealed(kind.__name__.encode(), repr(value).encode())
    if isinstance(value, np.ndarray | np.generic):
        return _column(value)
    if isinstance(value, pd.DataFrame):
        return sealed(b"table", *map(_column, (value.columns, value.index, *(value[name] for name in value))))
    if isinstance(value, type | types.FunctionType):
        return sealed(b"code", f"{value.__module__}.{value.__qualname__}".encode(), _code(value))
    if isinstance(value, enum.Enum):
        parts: Any = [value.name]
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, Mapping):
        parts = [pair for item in value.items() for pair in item]
    elif isinstance(value, Dataset):
        return _of_dataset(value)
    elif dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif hasattr(value, "get_params") or kind.__module__.startswith("privnb."):
        parts = [vars(value)]  # an estimator's parameters, and what it has learned
    else:
        raise UsageTypeError(
            f"a {kind.__name__} is no input of a stored result, since its content has no digest. Give whole numbers "
            "as seeds, and else plain values, arrays, tables, datasets, sanitizers or functions of a module."
        )
    return _whole(kind, parts)


def _whole(kind: type[Any], parts: tuple[Any, ...] | Sequence[Any]) -> bytes:
    bases = [content(base) for base in kind.__mro__ if base.__module__ not in ("builtins", "abc")]
    return sealed(kind.__name__.encode(), sealed(*bases), *map(content, parts))


@functools.lru_cache(maxsize=8)
def _of_dataset(dataset: Dataset) -> bytes:
    """Read once: a dataset is an input of many tasks, and never changed."""
    fields = ("cells" if field.name == "table" else field.name for field in dataclasses.fields(dataset))
    return _whole(type(dataset), [getattr(dataset, name) for name in fields])


@functools.cache
def fingerprint() -> bytes:
    """A digest of the package's code and of the versions beneath it: a changed formula returns no old number."""
    code = [part for name, file in sources().items() for part in (name.encode(), file.read_bytes())]
    versions = [f"{name} {importlib.metadata.version(name)}".encode() for name in VERSIONED.values()]
    return sealed(platform.python_version().encode(), *versions, *code)


def sources() -> dict[str, Any]:
    """The package's modules with their files, `{name: path}`.

    What only reads results (`READERS`) is left out: a chart can change no number.
    """
    package = Path(__file__).parents[1]
    files = sorted((file.relative_to(package).with_suffix("").parts, file) for file in package.rglob("*.py"))
    named = {
        ".".join(("privnb", *parts)): file for parts, file in files if not {parts[0], ".".join(parts[:2])} & {*READERS}
    }
    return {name.removesuffix(".__init__"): file for name, file in named.items()}


def unchanged() -> bool:
    """Whether no file that the fingerprint covers was written since this process began to load the package: then what
    it has loaded, and loads from now on, is what the fingerprint says.
    """
    return all(file.stat().st_mtime < privnb.BEGAN for file in sources().values())


def sealed(*parts: Any) -> bytes:
    """A digest of byte strings that tells where each one ends."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _column(values: Any) -> bytes:
    values = getattr(values, "array", values)
    if isinstance(values, pd.Categorical) and isinstance(values.categories.dtype, pd.StringDtype):
        if (values.codes >= 0).any():  # numbered as they first stand, as texts are
            return _texts(values.shape, *values.factorize())
    values = np.asarray(values)
    if values.dtype.kind in "biufcmM":
        return sealed(b"numbers", values.dtype.str.encode(), repr(values.shape).encode(), values.tobytes())
    cells = values.astype(object).ravel()
    cells[pd.isna(cells)] = None
    if pd.api.types.infer_dtype(cells, skipna=True) != "string":  # 1, 1.0 and True are equal, but not the same
        return sealed(b"cells", repr(values.shape).encode(), *map(content, cells))
    return _texts(values.shape, *factorized(cells))


def _texts(shape: tuple[int], codes: IntArray, distinct: Any) -> bytes:
    return sealed(b"texts", repr(shape).encode(), codes.astype(np.int64).tobytes(), content([*map(str, distinct)]))


def _code(thing: Callable[..., Any] | type[Any]) -> bytes:
    """The code behind a class or function, unless the fingerprint has it."""
    if "<" in thing.__qualname__ or thing.__module__ in ("__main__", "__mp_main__"):
        raise OfThisProcess(
            f"'{thing.__qualname__}' cannot be distinguished from others of its name, nor sent to another process. "
            "Define it at the top of a module."
        )
    if own := _own_files(thing.__module__):
        return sealed(*map(Path.read_bytes, own))
    return _version(thing.__module__.partition(".")[0])


_distributions = functools.cache(importlib.metadata.packages_distributions)  # it reads the files of every package


@functools.cache
def _version(package: str) -> bytes:
    """The version of the distribution that an installed package came with; empty for those that `fingerprint` has."""
    if package in {"privnb", *VERSIONED, *sys.stdlib_module_names}:
        return b""
    named = _distributions().get(package, ())
    return " ".join(f"{each} {importlib.metadata.version(each)}" for each in sorted({*named})).encode()


def _own_files(name: str) -> list[Any]:
    """The file of a module and those of the modules that it imports, at any depth, but for packages that are installed
    and this one: a list of Path, by name.
    """
    found, waiting = {}, [name]
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        foreign = name.partition(".")[0] in {"privnb", *VERSIONED, *sys.stdlib_module_names}
        if name in found or foreign or not file or any(Path(file).is_relative_to(place) for place in INSTALLED):
            continue
        found[name] = Path(file)
        package = name if found[name].name == "__init__.py" else name.rpartition(".")[0]
        waiting += _imported(package, found[name].read_bytes(), file)
    return [found[name] for name in sorted(found)]


@functools.lru_cache(maxsize=128)
def _imported(package: str, source: Any, file: str) -> set[str]:
    """The modules that a text of a package's module imports, by the names that they may have; of `from a import b` both
    a and a.b. A text that is no Python is an error with the name and the line of its file.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source, file)):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            origin = ".".join(filter(None, (above, node.module)))
            found.update([origin, *(f"{origin}.{each.name}" for each in node.names)])
    return found
