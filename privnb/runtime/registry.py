"""Discovery of classes: those in the files of privnb, those of entry points, and those that were imported."""

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
def list_modules(room: str) -> tuple[str, ...]:
    """Return the names of all modules in a subpackage and in its folders, without importing the modules."""
    found = list(pkgutil.iter_modules(import_module(room).__path__, f"{room}."))
    return tuple(name for each in found for name in (list_modules(each.name) if each.ispkg else [each.name]))


@cache
def import_modules(room: str) -> None:
    """Import all modules of a subpackage, and load the methods that other packages register for the subpackage."""
    for module in list_modules(room):
        import_module(module)
    entry_points.load_methods(room, entry_points.check_class)


def import_lazily(room: str, base: str, **homes: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a subpackage with one class per file; they import a class on first use.

    Parameters
    ----------
    room : str
        The name of the subpackage. Each class is in a file with the name of the class, in any folder of the subpackage:
        `KMember` is in `k_member.py`, and `PCARemoval` is in `pca_removal.py`.
    base : str
        The name of the base class of all these classes.
    **homes : str
        The module of each name that is not in a file with this name, including the module of `base`.
    """

    def get(name: str) -> Any:
        if name == "__all__":
            own = [kind.__name__ for kind in find_classes(get(base)) if kind.__module__.startswith(f"{room}.")]
            return sorted({*own, *homes})
        file = homes.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
        for module in list_modules(room):
            if module.rpartition(".")[2] == file and name != file and hasattr(import_module(module), name):
                setattr(sys.modules[room], name, getattr(sys.modules[module], name))
                return vars(sys.modules[room])[name]
        if not name.startswith("_") and (found := entry_points.find_method(name, [room])) is not None:
            return found
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return get, lambda: [*get("__all__")]


def find_classes(base: type[Any]) -> list[type[Any]]:
    """Return the concrete public subclasses of `base` that are attributes of their modules, by their own names.

    The function finds the classes of privnb in the files of the subpackage of `base`, and the classes that entry points
    of other installed packages register. Any other class, for instance of a notebook or of a file of the user, is found
    only after it is imported. If a cell or a module ran several times, only the latest version of a class is returned.
    The classes of privnb come first, and then all other classes; both groups are sorted by name.
    """
    if base.__module__.startswith("privnb."):
        import_modules(".".join(base.__module__.split(".")[:2]))
    found = [
        each
        for each in dict.fromkeys(_list_subclasses(base))
        if getattr(sys.modules.get(each.__module__), each.__name__, None) is each
        and not inspect.isabstract(each)
        and not each.__name__.startswith("_")
    ]
    return sorted(found, key=lambda kind: (not kind.__module__.startswith("privnb."), kind.__name__))


def _list_subclasses(base: type[Any]) -> list[type[Any]]:
    """Return all subclasses of `base` that have been defined so far."""
    return [each for child in base.__subclasses__() for each in (child, *_list_subclasses(child))]


def check_fact(kind: type, name: str, known: Collection[Any], *, several: bool = False) -> None:
    """Raise UsageError if the class `kind` does not state a fact, or states a value that is not in `known`.

    The check runs when the class is defined. If `several` is true, the fact must be a tuple of values in `known`. A
    property is not checked, because the value of a property depends on the object. An abstract class need not state the
    fact.
    """
    value = getattr(kind, name, None)
    if isinstance(value, property) or (value is None and inspect.isabstract(kind)):
        return
    stated = [*value] if several and isinstance(value, tuple) else [value]
    if not all(each in [*known] for each in stated) or (several and not isinstance(value, tuple)):
        what = "a tuple of some of" if several else "one of"
        shown = f"{tuple(stated)}" if several and isinstance(value, tuple) else expect.describe_value(value)
        raise UsageError(
            f"class {kind.__name__}: `{name}` must be {what} {', '.join(map(repr, known)) or 'nothing'}"
            f"{', and the class does not state it' if value is None else f'; got {shown}'}."
        )


def first_paragraph(kind: Any) -> str:
    """Return the first paragraph of the docstring of a class or function, without backticks."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("`", "")


def first_sentence(kind: Any) -> str:
    """Return the first sentence of the docstring of a class or function, which summarizes it.

    >>> first_sentence(type("Blur", (), {"__doc__": "Blur `ages`. Slowly."}))
    'Blur ages.'
    """
    return first_paragraph(kind).split(". ")[0].rstrip(".") + "."


def find_cited_source(kind: Any) -> str:
    """Return the source that a docstring cites after "Source:"; empty if the docstring cites no source.

    >>> find_cited_source(type("Blur", (), {"__doc__": "Blur ages. Source: Blur et al., 1999.  More."}))
    'Blur et al., 1999. More.'
    """
    return " ".join(next(iter((kind.__doc__ or "").split("Source: ")[1:]), "").split("\n\n")[0].split())
