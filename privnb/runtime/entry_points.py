"""Methods of other installed packages: what their entry points name is found like the methods of this package.

A package states them in its `pyproject.toml`, and nobody has to import it:

    [project.entry-points."privnb.sanitizers"]
    neighbours = "their_package:Neighbours"

The group is the name of the room. Entry points are looked up and loaded when a room is first asked which methods there
are. One that cannot be used is named in a warning and left out.
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
_loading = threading.RLock()  # a module that is loaded may ask for the methods itself


@cache
def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, in the order of their names; none is loaded."""
    from importlib import metadata  # which takes longer than the rest of `import privnb`

    return tuple(sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value)))


def load_group(group: str) -> dict[EntryPoint, Any]:
    """Return what the entry points of a group name, loaded once: `{entry point: object}`.

    One that cannot be loaded is left out with a warning.
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
    """Return what a group names, by the entry points' names, as `check(entry point, object)` gives it.

    What `check` refuses is left out with a warning, and so is the second of two entry points of one name.
    """
    found: dict[str, Any] = {}
    for point, thing in load_group(group).items():
        try:
            if point.name in found:
                raise UsageError("another installed package has an entry point of this name")
            found[point.name] = check(point, thing)
        except Exception as error:
            warn_about(point, error)
    return found


def check_class(point: EntryPoint, thing: Any) -> Any:
    """Raise UsageError unless an entry point names a class of the kind that its group is of, or a module of some."""
    own = isinstance(thing, type) and any(kind.__module__.startswith(f"{point.group}.") for kind in thing.__mro__)
    if not (own or isinstance(thing, ModuleType)):
        from privnb.runtime import expect  # with NumPy, which the help of a command does without

        raise UsageError(f"it must name a class below one of {point.group}, or a module; got {expect.found(thing)}")
    return thing


def find_method(name: str, groups: Sequence[str] = GROUPS) -> Any:
    """Return what an installed package's entry point has under this name, a class or a function; None without any.

    No entry point is loaded unless one of its group states the name, or a module.
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
    """Warn that an entry point is left out, and why."""
    package = point.dist.name if point.dist else "an installed package"
    warnings.warn(
        f"{package}: its entry point '{point.name} = {point.value}' of the group '{point.group}' cannot be used "
        f"({type(error).__name__}: {error}). privnb leaves it out. Update or uninstall {package}.",
        EntryPointWarning,
        stacklevel=2,
    )
