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


def sentence(kind):
    """What a class does, in a sentence: the first one of its docstring.

    >>> sentence(type("Blur", (), {"__doc__": "Blur `ages`. Slowly."}))
    'Blur ages.'
    """
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split()).split(". ")[0].replace("`", "").rstrip(".") + "."


def source(kind):
    """Who a class is by, as its docstring names them after "Source:"; empty where it names nobody.

    >>> source(type("Blur", (), {"__doc__": "Blur ages. Source: Blur et al., 1999.  More."}))
    'Blur et al., 1999. More.'
    """
    return " ".join(next(iter((kind.__doc__ or "").split("Source: ")[1:]), "").split("\n\n")[0].split())
