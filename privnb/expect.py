"""What an argument must be, checked where it comes in: an error names it, says what was found and what to do.

Each function takes the name of the argument and its value, raises, and otherwise returns the value. What was found is
shown only where it is short: the rows of a table belong into no error.
"""

import math
from numbers import Integral, Real

import numpy as np

LONGEST = 60  # letters of a value that an error repeats


def found(value):
    """A value as an error shows it: plain ones as they are written, of any other the kind.

    >>> found(2.5), found([1, 2]), found({}), found(np.zeros(3))
    ('2.5', 'a list', 'a dict', 'an ndarray')
    """
    if value is None or isinstance(value, str | bytes | bool | Real | np.generic | type):
        shown = repr(value)
        return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOaeio' or kind == 'ndarray' else 'a'} {kind}"


def kind(name, value, *kinds, instead=""):
    """Raise TypeError unless `value` is of one of `kinds`. `instead`: what gives one, to end the error with."""
    if not isinstance(value, kinds):
        wanted = " or ".join(each.__name__ for each in kinds)
        raise TypeError(f"{name} must be a {wanted}, got {found(value)}.{instead and f' {instead}'}")
    return value


def is_number(value):
    """Whether it is a finite number and no bool; those of numpy and fractions are."""
    return isinstance(value, Real) and not isinstance(value, bool) and _finite(value)


def _finite(value):
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return True


def number(name, value):
    """Raise ValueError unless `value` is a finite number."""
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number, got {found(value)}.")
    return value


def positive(name, value):
    """Raise ValueError unless `value` is a finite number above 0."""
    if not (is_number(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, got {found(value)}.")
    return value


def above(name, value, least, why):
    """Raise ValueError unless `value` is a finite number above `least`; `why` it cannot be that."""
    if not (is_number(value) and value > least):
        raise ValueError(f"{name} must be a number above {least} ({why}), got {found(value)}.")
    return value


def share(name, value):
    """Raise ValueError unless `value` is a share above 0 and at most 1."""
    if not (is_number(value) and 0 < value <= 1):
        raise ValueError(f"{name} must be a share above 0 and at most 1, got {found(value)}.")
    return value


def between(name, value, low, high, why):
    """Raise ValueError unless `value` is a number above `low` and below `high`, see `why`."""
    if not (is_number(value) and low < value < high):
        raise ValueError(f"{name} must be a number above {low:.4g} and below {high:.4g} ({why}), got {found(value)}.")
    return value


def whole(name, value, least, why=""):
    """Raise ValueError unless `value` is a whole number of at least `least`; `why` it cannot be less."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        reason = f" ({why})" if why else ""
        raise ValueError(f"{name} must be a whole number of at least {least}{reason}, got {found(value)}.")
    return value


def text(name, value, example):
    """Raise ValueError unless `value` is text and not empty; `example`: what it says, such as "an attribute"."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be the name of {example}, as text, got {found(value)}.")
    return value


def one_of(name, value, known):
    """Raise ValueError unless `value` is one of the texts `known`."""
    if not (isinstance(value, str) and value in known):
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {found(value)}.")
    return value
