"""Which classes there are of a kind: found by importing them, listed nowhere."""

import inspect


def members(base):
    """The classes below `base` that can be made; no private ones, whose names begin with `_`.

    To import a class is enough: one of a notebook or of a file of one's own is found like those of the package.
    """
    found = []
    for child in base.__subclasses__():
        found += [] if inspect.isabstract(child) or child.__name__.startswith("_") else [child]
        found += members(child)
    return list(dict.fromkeys(found))
