"""Which classes there are of a kind: found by importing them, listed nowhere."""

import inspect
import sys

from privnb.runtime import expect


def members(base):
    """The classes below `base` that can be made and that a module has under their name; no private ones (`_Name`).

    To import a class is enough: one of a notebook or of a file of one's own is found like those of the package. Of a
    cell or module that ran again, the latest is.
    """
    found = []
    for child in base.__subclasses__():
        there = getattr(sys.modules.get(child.__module__), child.__name__, None) is child
        found += [child] if there and not inspect.isabstract(child) and not child.__name__.startswith("_") else []
        found += members(child)
    return list(dict.fromkeys(found))


def check_fact(kind, name, known, *, several=False):
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
        raise ValueError(
            f"class {kind.__name__}: `{name}` must be {what} {', '.join(map(repr, known)) or 'nothing'}, "
            f"{'and the class does not state it' if value is None else f'got {shown}'}."
        )


def opening(kind):
    """The first paragraph of the docstring of a class or a function, in plain words."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("`", "")


def sentence(kind):
    """What a class does, in a sentence: the first one of its docstring.

    >>> sentence(type("Blur", (), {"__doc__": "Blur `ages`. Slowly."}))
    'Blur ages.'
    """
    return opening(kind).split(". ")[0].rstrip(".") + "."


def source(kind):
    """Who a class or a function is by, as its docstring names them after "Source:"; empty where it names nobody.

    >>> source(type("Blur", (), {"__doc__": "Blur ages. Source: Blur et al., 1999.  More."}))
    'Blur et al., 1999. More.'
    """
    return " ".join(next(iter((kind.__doc__ or "").split("Source: ")[1:]), "").split("\n\n")[0].split())
