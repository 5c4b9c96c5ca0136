"""Methods of other installed packages, found by their entry points like the methods of this package.

A package states its methods in its `pyproject.toml`, so that users need not import the package:

[project.entry-points."privnb.sanitizers"] neighbours = "their_package:Neighbours"

The group is the name of the subpackage. Entry points are looked up and loaded when privnb first needs the methods of a
subpackage. An entry point that cannot be used is left out, with a warning that names it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from privnb.runtime.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = (
    "privnb.sanitizers", "privnb.attacks", "privnb.measures", "privnb.miners", "privnb.policies",
    "privnb.privacy_models",
)  # fmt: skip


class EntryPointWarning(UserWarning):
    """An entry point of another package cannot be used."""

    code = "entry-point"


_found: dict[str, dict[EntryPoint, Any]] = {}
_loading = threading.RLock()  # a module that is being loaded may itself look up the methods


@cache
def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, sorted by name, without loading them."""
    from importlib import metadata  # this import takes longer than the rest of `import privnb`

    return tuple(sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value)))


def load_group(group: str) -> dict[EntryPoint, Any]:
    """Return `{entry point: object}` for a group, and load each entry point only once.

    An entry point that cannot be loaded is left out with a warning.
    """
    with _loading:
        if group not in _found:
            _found[group] = {}
            for point in find_entry_points(group):
                try:
                    _found[group][point] = point.load()
                except (Exception, SystemExit) as error:
                    warn_about(point, error)
        return _found[group]


def load_methods(group: str, check: Callable[[EntryPoint, Any], Any]) -> dict[str, Any]:
    """Return the checked methods of a group, by the names of their entry points.

    `check(entry point, object)` returns the method or raises an error. A method that `check` refuses is left out with a
    warning. The same happens to the second of two entry points with the same name.
    """
    found: dict[str, Any] = {}
    for point, thing in load_group(group).items():
        try:
            if point.name in found:
                raise UsageError("another installed package has an entry point with this name")
            found[point.name] = check(point, thing)
        except Exception as error:
            warn_about(point, error)
    return found


def check_class(point: EntryPoint, thing: Any) -> Any:
    """Raise UsageError unless an entry point names a class of its group, or a module with such classes."""
    own = isinstance(thing, type) and any(kind.__module__.startswith(f"{point.group}.") for kind in thing.__mro__)
    if not (own or isinstance(thing, ModuleType)):
        from privnb.runtime import expect  # this loads NumPy, which the help of a command does not need

        raise UsageError(
            f"it must name a module, or a subclass of a class in {point.group}; got {expect.describe_value(thing)}"
        )
    return thing


def find_method(name: str, groups: Sequence[str] = GROUPS) -> Any:
    """Return the class or function that an installed package registers under this name; None if there is none.

    Entry points are loaded only if they state the name, or if they name a module.
    """
    for group in groups:
        for point in find_entry_points(group):
            if not point.attr or point.attr == name:
                thing = load_group(group).get(point)
                found = thing if point.attr else getattr(thing, name, None)
                if found is not None:
                    return found
    return None


def warn_about(point: EntryPoint, error: BaseException) -> None:
    """Warn that an entry point is left out, and give the reason."""
    package = point.dist.name if point.dist else "an installed package"
    warnings.warn(
        f"{package}: its entry point '{point.name} = {point.value}' of the group '{point.group}' cannot be used "
        f"({type(error).__name__}: {error}). privnb leaves it out. Update or uninstall {package}.",
        EntryPointWarning,
        stacklevel=2,
    )
