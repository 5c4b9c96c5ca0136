"""Methods of other installed packages, which privnb finds by their entry points and treats like its own methods.

Another package lists its methods in its `pyproject.toml`, so that users need not import the package:

[project.entry-points."privnb.sanitizers"] neighbours = "their_package:Neighbours"

The group has the name of a subpackage of privnb. Entry points are looked up and loaded when privnb first needs the
methods of this subpackage. An entry point that cannot be used is left out, and a warning states its name.
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

    If an entry point cannot be loaded, a warning is given, and the entry point is left out.
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

    `check(entry point, object)` returns the method or raises an error. If `check` raises an error, or if an earlier
    entry point has the same name, a warning is given, and the method is left out.
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
    """Return `thing`, the object of an entry point.

    Raises UsageError unless the object is a class of the kind that the group requires, or a module with such
    classes.
    """
    own = isinstance(thing, type) and any(kind.__module__.startswith(f"{point.group}.") for kind in thing.__mro__)
    if not (own or isinstance(thing, ModuleType)):
        from privnb.runtime import expect  # this loads NumPy, which the help of a command does not need

        raise UsageError(
            f"it must name a module, or a subclass of a class in {point.group}; got {expect.describe_value(thing)}"
        )
    return thing


def find_method(name: str, groups: Sequence[str] = GROUPS) -> Any:
    """Return the class or function that another installed package registers under this name, or None.

    Only entry points that have this name, or that refer to a module, are loaded.
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
    """Warn that an entry point is left out, and state the reason."""
    package = point.dist.name if point.dist else "an installed package"
    warnings.warn(
        f"{package}: its entry point '{point.name} = {point.value}' of the group '{point.group}' cannot be used "
        f"({type(error).__name__}: {error}). privnb leaves it out. Update or uninstall {package}.",
        EntryPointWarning,
        stacklevel=2,
    )
