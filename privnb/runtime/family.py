"""Classes of a kind: those of the package are found in the files of their room, those of other installed packages by
their entry points, and all others once they are imported.
"""

import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Collection
from functools import cache
from importlib import import_module
from typing import Any

from privnb.runtime import entry_points, expect
from privnb.runtime.errors import UsageError


@cache
def modules(room: str) -> tuple[str, ...]:
    """Return the names of all modules of a room and of its folders; none is imported."""
    found = list(pkgutil.iter_modules(import_module(room).__path__, f"{room}."))
    return tuple(name for each in found for name in (modules(each.name) if each.ispkg else [each.name]))


@cache
def imported(room: str) -> None:
    """Import all modules of a room, and what entry points of other packages name as methods of it."""
    for module in modules(room):
        import_module(module)
    entry_points.load_methods(room, entry_points.check_class)


def lazily(room: str, base: str, **homes: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a room with one class a file, which import a class when it is asked for.

    Parameters
    ----------
    room : str
        The package. A class is in the file of its name: `KMember` in `k_member.py` of any folder.
    base : str
        The name of the class that all of them are below.
    **homes : str
        The module of each name that has another home, `base` among them.
    """

    def get(name: str) -> Any:
        if name == "__all__":
            own = [kind.__name__ for kind in members(get(base)) if kind.__module__.startswith(f"{room}.")]
            return sorted({*own, *homes})
        file = homes.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        for module in modules(room):
            if module.rpartition(".")[2] == file and name != file and hasattr(import_module(module), name):
                setattr(sys.modules[room], name, getattr(sys.modules[module], name))
                return vars(sys.modules[room])[name]
        if not name.startswith("_") and (found := entry_points.find_method(name, [room])) is not None:
            return found
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return get, lambda: [*get("__all__")]


def members(base: type[Any]) -> list[type[Any]]:
    """The classes below `base` that can be made and that a module has under their name; no private ones (`_Name`).

    Those of the package are found in the files of the base's room. To import any other class is enough: one of a
    notebook or of a file of one's own is found like those of the package, and so is what an entry point of another
    installed package names. Of a cell or module that ran again, the
    latest is. Those of the package come first, and both parts are in the order of their names.
    """
    if base.__module__.startswith("privnb."):
        imported(".".join(base.__module__.split(".")[:2]))
    found: list[type[Any]] = []
    for child in base.__subclasses__():
        there = getattr(sys.modules.get(child.__module__), child.__name__, None) is child
        found += [child] if there and not inspect.isabstract(child) and not child.__name__.startswith("_") else []
        found += members(child)
    return sorted(dict.fromkeys(found), key=lambda kind: (not kind.__module__.startswith("privnb."), kind.__name__))


def check_fact(kind: type, name: str, known: Collection[Any], *, several: bool = False) -> None:
    """Raise ValueError where the class `kind` states, or forgot, a fact that is none of `known`: as soon as it is made.

    `several`: it is a tuple of some of them. One that each object tells, a property, is not looked at; and
    an abstract class need not state what has no default.
    """
    value = getattr(kind, name, None)
    if isinstance(value, property) or (value is None and inspect.isabstract(kind)):
        return
    stated = [*value] if several and isinstance(value, tuple) else [value]
    if not all(each in [*known] for each in stated) or (several and not isinstance(value, tuple)):
        what = "a tuple of some of" if several else "one of"
        shown = f"{tuple(stated)}" if several and isinstance(value, tuple) else expect.found(value)
        raise UsageError(
            f"class {kind.__name__}: `{name}` must be {what} {', '.join(map(repr, known)) or 'nothing'}, "
            f"{'and the class does not state it' if value is None else f'got {shown}'}."
        )


def opening(kind: Any) -> str:
    """The first paragraph of the docstring of a class or a function, in plain words."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("`", "")


def sentence(kind: Any) -> str:
    """What a class does, in a sentence: the first one of its docstring.

    >>> sentence(type("Blur", (), {"__doc__": "Blur `ages`. Slowly."}))
    'Blur ages.'
    """
    return opening(kind).split(". ")[0].rstrip(".") + "."


def source(kind: Any) -> str:
    """Who a class or a function is by, as its docstring names them after "Source:"; empty where it names nobody.

    >>> source(type("Blur", (), {"__doc__": "Blur ages. Source: Blur et al., 1999.  More."}))
    'Blur et al., 1999. More.'
    """
    return " ".join(next(iter((kind.__doc__ or "").split("Source: ")[1:]), "").split("\n\n")[0].split())
