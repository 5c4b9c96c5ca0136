"""Digests of the inputs of an evaluation: equal content has an equal digest, whatever its form in memory."""

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
from privnb.microdata.counts import factorize
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import UsageTypeError
from privnb.sanitizers.base import Sanitizer

# Packages whose code counts by their version.
VERSIONED_PACKAGES = {
    "numpy": "numpy",
    "pandas": "pandas",
    "sklearn": "scikit-learn",
    "scipy": "scipy",
    "numba": "numba",
}

SITE_PACKAGES = {sysconfig.get_path(name) for name in ("purelib", "platlib")}

# Modules that only read results. No module that computes numbers imports one of them.
RESULT_READERS = (
    "reporting", "papers.charts", "papers.findings", "papers.ledger_page", "explorer", "workbench", "app", "cli",
    "__main__",
)  # fmt: skip


class NotImportable(UsageTypeError):
    """A class or function that another process cannot import, because a notebook's cell or a function defines it."""


def digest(value: Any) -> bytes:
    """Return a digest (32 bytes) of the content of `value`; equal digests mean equal values.

    The function reads plain values, sequences, mappings, arrays, tables, miners, functions and classes of modules, and
    dataclasses such as datasets, sanitizers and privacy models. A text column has the same digest whether its dtype is
    object, str or category. For a class or function outside of privnb, the digest covers the file of its module and the
    user's files that this module imports. For a class or function of an installed package, the digest covers the
    version of the package instead of the files.

    Raises
    ------
    UsageTypeError
        For a value of any other type, including a random generator, whose state a stored result would not advance.

    Examples
    --------
    >>> digest((1, "a")) == digest((1, "a")), digest(1) == digest("1")
    (True, False)
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return digest_bytes(kind.__name__.encode(), repr(value).encode())
    if isinstance(value, np.ndarray | np.generic):
        return _digest_column(value)
    if isinstance(value, pd.DataFrame):
        return digest_bytes(
            b"table", *map(_digest_column, (value.columns, value.index, *(value[name] for name in value)))
        )
    if isinstance(value, type | types.FunctionType):
        return digest_bytes(b"code", f"{value.__module__}.{value.__qualname__}".encode(), _digest_code(value))
    if isinstance(value, enum.Enum):
        parts: Any = [value.name]
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, Mapping):
        parts = [pair for item in value.items() for pair in item]
    elif isinstance(value, Dataset):
        return _digest_dataset(value)
    elif dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
        if isinstance(value, Sanitizer) and value.contents:  # a path is not the content of its file
            parts.append(value.contents)
    elif hasattr(value, "get_params") or kind.__module__.startswith("privnb."):
        parts = [vars(value)]  # an estimator's parameters, and what it has learned
    else:
        raise UsageTypeError(
            f"a {kind.__name__} cannot be an input of a stored result, because this type has no digest. Give seeds as "
            "whole "
            "numbers, and other inputs as plain values, arrays, tables, datasets, sanitizers or functions of a module."
        )
    return _digest_parts(kind, parts)


def _digest_parts(kind: type[Any], parts: tuple[Any, ...] | Sequence[Any]) -> bytes:
    bases = [digest(base) for base in kind.__mro__ if base.__module__ not in ("builtins", "abc")]
    return digest_bytes(kind.__name__.encode(), digest_bytes(*bases), *map(digest, parts))


@functools.lru_cache(maxsize=8)
def _digest_dataset(dataset: Dataset) -> bytes:
    """Return the digest of a dataset, which is computed once because many tasks share the dataset."""
    fields = ("cells" if field.name == "table" else field.name for field in dataclasses.fields(dataset))
    return _digest_parts(type(dataset), [getattr(dataset, name) for name in fields])


@functools.cache
def fingerprint() -> bytes:
    """Return a digest of the package's code and of its dependencies' versions.

    If the code changes, the digest changes, too, so that changed code does not read old results from a store.
    """
    code = [part for name, file in list_sources().items() for part in (name.encode(), file.read_bytes())]
    versions = [f"{name} {importlib.metadata.version(name)}".encode() for name in VERSIONED_PACKAGES.values()]
    return digest_bytes(platform.python_version().encode(), *versions, *code)


def list_sources() -> dict[str, Any]:
    """Return the files of the package's modules, `{name: path}`, without the modules that only read results."""
    package = Path(__file__).parents[1]
    files = sorted((file.relative_to(package).with_suffix("").parts, file) for file in package.rglob("*.py"))
    named = {
        ".".join(("privnb", *parts)): file
        for parts, file in files
        if not {parts[0], ".".join(parts[:2])} & {*RESULT_READERS}
    }
    return {name.removesuffix(".__init__"): file for name, file in named.items()}


def is_unchanged() -> bool:
    """Return whether no file of the package's code has been written since this process began to load the package."""
    return all(file.stat().st_mtime < privnb.BEGAN for file in list_sources().values())


def digest_bytes(*parts: Any) -> bytes:
    """Return a digest of byte strings; the digest depends on where each byte string ends."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _digest_column(values: Any) -> bytes:
    values = getattr(values, "array", values)
    if isinstance(values, pd.Categorical) and isinstance(values.categories.dtype, pd.StringDtype):
        if (values.codes >= 0).any():  # numbered in order of appearance, as texts are
            return _digest_texts(values.shape, *values.factorize())
    values = np.asarray(values)
    if values.dtype.kind in "biufcmM":
        return digest_bytes(b"numbers", values.dtype.str.encode(), repr(values.shape).encode(), values.tobytes())
    cells = values.astype(object).ravel()
    cells[pd.isna(cells)] = None
    if pd.api.types.infer_dtype(cells, skipna=True) != "string":  # 1, 1.0 and True are equal, but differ in type
        return digest_bytes(b"cells", repr(values.shape).encode(), *map(digest, cells))
    return _digest_texts(values.shape, *factorize(cells))


def _digest_texts(shape: tuple[int], codes: IntArray, distinct: Any) -> bytes:
    return digest_bytes(b"texts", repr(shape).encode(), codes.astype(np.int64).tobytes(), digest([*map(str, distinct)]))


def _digest_code(thing: Callable[..., Any] | type[Any]) -> bytes:
    """Return a digest of the code of a class or function; the fingerprint covers the package's own code."""
    if "<" in thing.__qualname__ or thing.__module__ in ("__main__", "__mp_main__"):
        raise NotImportable(
            f"'{thing.__qualname__}' cannot be distinguished from other objects of the same name, and cannot be sent "
            "to another process. Define the class or function at the top of a module."
        )
    if own := _list_own_files(thing.__module__):
        return digest_bytes(*map(Path.read_bytes, own))
    return _find_version(thing.__module__.partition(".")[0])


_distributions = functools.cache(importlib.metadata.packages_distributions)  # it reads the files of every package


@functools.cache
def _find_version(package: str) -> bytes:
    """Return the version of the distribution of an installed package; empty for packages that `fingerprint` covers."""
    if package in {"privnb", *VERSIONED_PACKAGES, *sys.stdlib_module_names}:
        return b""
    named = _distributions().get(package, ())
    return " ".join(f"{each} {importlib.metadata.version(each)}" for each in sorted({*named})).encode()


def _list_own_files(name: str) -> list[Any]:
    """Return the files of a module and of the user's modules that it imports, sorted by module name."""
    found, waiting = {}, [name]
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        foreign = name.partition(".")[0] in {"privnb", *VERSIONED_PACKAGES, *sys.stdlib_module_names}
        if name in found or foreign or not file or any(Path(file).is_relative_to(place) for place in SITE_PACKAGES):
            continue
        found[name] = Path(file)
        package = name if found[name].name == "__init__.py" else name.rpartition(".")[0]
        waiting += _list_imports(package, found[name].read_bytes(), file)
    return [found[name] for name in sorted(found)]


@functools.lru_cache(maxsize=128)
def _list_imports(package: str, source: Any, file: str) -> set[str]:
    """Return the names of all modules that a module's source may import; for `from a import b`, both a and a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source, file)):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            origin = ".".join(filter(None, (above, node.module)))
            found.update([origin, *(f"{origin}.{each.name}" for each in node.names)])
    return found
