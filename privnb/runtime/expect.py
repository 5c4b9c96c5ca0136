"""Checks of arguments; each error states the argument, the value that was given, and the remedy.

Most functions receive the name and the value of an argument, and return the value or raise an error. The error repeats
the value only if the value is short, because rows of a table must not appear in errors.
"""

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.lazy import pd

LONGEST = 60  # the maximum number of characters of a value that an error repeats
REPEATS = 1000  # more repeats of a random step add no information and would take days


def describe_value(value: Any) -> str:
    """Return a value in the form for errors: a number or a text as it is written, any other object as its type.

    >>> [describe_value(value) for value in (2.5, [1, 2], {}, np.zeros(3), int)]
    ['2.5', 'a list', 'a dict', 'an ndarray', 'the class int']
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None or isinstance(value, str | bytes | bool | Real | np.generic):
        shown = repr(value)
        return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOaeio' or kind == 'ndarray' else 'a'} {kind}"


def kind(name: str, value: Any, *kinds: type, instead: str = "") -> Any:
    """Raise UsageTypeError unless `value` is an instance of one of `kinds`; the error ends with `instead`."""
    if not isinstance(value, kinds):
        wanted = " or ".join("None" if each is type(None) else each.__name__ for each in kinds)
        raise UsageTypeError(f"{name} must be a {wanted}; got {describe_value(value)}.{instead and f' {instead}'}")
    return value


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number, such as a number of NumPy or a fraction, and not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return True


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_fit(name: str, value: Any, fits: object, wanted: str, error: type[UsageError] = UsageError) -> Any:
    """Raise `error`, which states that the argument must be `wanted`, unless `fits` is true."""
    if not fits:
        raise error(f"{name} must be {wanted}; got {describe_value(value)}.")
    return value


def number(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a finite number."""
    return check_fit(name, value, is_number(value), "a finite number")


def positive(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a finite number above 0."""
    return check_fit(name, value, is_number(value) and value > 0, "a positive number")


def above(name: str, value: Any, least: float, why: str) -> Any:
    """Raise ValueError unless `value` is a finite number above `least`; `why` states the reason for this bound."""
    return check_fit(name, value, is_number(value) and value > least, f"a number above {least:.4g} ({why})")


def percentage(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a percentage above 0 and at most 100."""
    return check_fit(name, value, is_number(value) and 0 < value <= 100, "a percentage above 0 and at most 100")


def share(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a share above 0 and at most 1."""
    return check_fit(name, value, is_number(value) and 0 < value <= 1, "a share above 0 and at most 1")


def share_or_none(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a share from 0 to 1."""
    return check_fit(name, value, is_number(value) and 0 <= value <= 1, "a share from 0 to 1")


def between(name: str, value: Any, low: float, high: float, why: str) -> Any:
    """Raise ValueError unless `value` is a number between `low` and `high`; `why` states the reason for the bounds."""
    wanted = f"a number above {low:.4g} and below {high:.4g} ({why})"
    return check_fit(name, value, is_number(value) and low < value < high, wanted)


def boolean(name: str, value: Any) -> Any:
    """Raise TypeError unless `value` is True or False."""
    return check_fit(name, value, isinstance(value, bool | np.bool_), "True or False", UsageTypeError)


def integer(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a whole number."""
    return check_fit(name, value, is_whole(value), "a whole number")


def whole(name: str, value: Any, least: int, why: str = "") -> Any:
    """Raise ValueError unless `value` is a whole number of at least `least`; `why` states the reason for this bound."""
    reason = f" ({why})" if why else ""
    return check_fit(name, value, is_whole(value) and value >= least, f"a whole number of at least {least}{reason}")


def repeats(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a number of repeats, which is a whole number from 0 to `REPEATS`."""
    return check_fit(name, value, is_whole(value) and 0 <= value <= REPEATS, f"a whole number from 0 to {REPEATS:,}")


def text(name: str, value: Any, example: str) -> Any:
    """Raise ValueError unless `value` is a text that is not empty.

    `example` states the object that has this name, such as "an attribute".
    """
    return check_fit(name, value, isinstance(value, str) and value, f"the name of {example}, as text")


def one_of(name: str, value: Any, known: Collection[Any]) -> Any:
    """Raise ValueError unless `value` is one of the texts `known`."""
    if not (isinstance(value, str) and value in known):
        raise UsageError(f"{name} must be one of {', '.join(known)}; got {describe_value(value)}.")
    return value


def strings(**arguments: Any) -> None:
    """Raise TypeError unless each argument is a text, which may be empty."""
    for name, value in arguments.items():
        kind(name, value, str)


def texts(name: str, value: Any, what: str) -> Any:
    """Raise ValueError unless `value` is a list or tuple of different texts.

    `what` states the objects that have these names.
    """
    listed = isinstance(value, list | tuple) and all(isinstance(each, str) and each for each in value)
    check_fit(name, value, listed, f"a list of {what}, each as text")
    if doubled := [each for each, times in Counter(value).items() if times > 1]:
        raise UsageError(f"{name} must be a list of different {what}; got {', '.join(doubled)} more than once.")
    return value


def numbers(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a list or tuple of finite numbers."""
    listed = isinstance(value, list | tuple | range) and all(map(is_number, value))
    return check_fit(name, value, listed, "a list of finite numbers")


def all_of(name: str, value: Any, *kinds: type, instead: str = "") -> Any:
    """Raise UsageTypeError unless `value` is an ordered collection whose items are instances of `kinds`."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        wanted = " or ".join(each.__name__ for each in kinds)
        raise UsageTypeError(
            f"{name} must be a list of {wanted}; got {describe_value(value)}.{instead and f' {instead}'}"
        )
    if not {*map(type, value)} <= {*kinds}:  # long lists usually pass here, so that no name is made for each item
        for place, each in enumerate(value):
            kind(f"{name}[{place}]", each, *kinds, instead=instead)
    return value


def path(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a path or a text that can be a path."""
    fits = isinstance(value, str | os.PathLike) and str(value) and "\0" not in str(value)
    return check_fit(name, value, fits, "a path, as text")


def randomness(name: str, value: Any) -> Any:
    """Raise ValueError unless `value` is a seed, a list of seeds, a NumPy Generator or None."""
    seeds = value if isinstance(value, list | tuple) and value else [value]
    whole_numbers = all(is_whole(each) and each >= 0 for each in seeds)
    fits = value is None or isinstance(value, np.random.Generator) or whole_numbers
    return check_fit(name, value, fits, "a seed (a whole number of at least 0) or a numpy Generator")


def function(name: str, value: Any) -> Any:
    """Raise TypeError unless `value` can be called."""
    return check_fit(name, value, callable(value), "a function", UsageTypeError)


def table(name: str, value: Any, columns: Iterable[str], instead: str = "") -> Any:
    """Raise an error unless `value` is a DataFrame with these columns; the error ends with the remedy `instead`.

    The error is a UsageTypeError for a value of another type, and a UsageError for missing columns.
    """
    kind(name, value, pd.DataFrame, instead=instead)
    if absent := [column for column in columns if column not in value]:
        raise UsageError(f"{name} lacks the columns {', '.join(absent)}.{instead and f' {instead}'}")
    return value


def column(name: str, value: Any, length: int | None = None) -> Any:
    """Raise ValueError unless `value` is a list, array or column with `length` values.

    By default, `value` must have at least 1 value.
    """
    listed = isinstance(value, list | tuple | pd.Series) or (isinstance(value, np.ndarray) and value.ndim == 1)
    many = "values, one or more" if length is None else f"{length} values"
    return check_fit(name, value, listed and len(value) and length in (None, len(value)), f"an array (n,) of {many}")


def vector(name: str, value: Any, length: int | None = None) -> Any:
    """Raise ValueError unless `value` is a list, array or column of finite numbers with `length` values.

    By default, `value` must have at least 1 value.
    """
    plain = isinstance(value, np.ndarray | pd.Series) and value.dtype.kind in "iuf"
    items = value.tolist() if isinstance(value, np.ndarray | pd.Series) and not plain else value
    listed = isinstance(items, list | tuple) or (plain and value.ndim == 1)
    fits = listed and len(items) and length in (None, len(items))
    fits = fits and (np.isfinite(items).all() if plain else all(map(is_number, items)))
    return check_fit(name, value, fits, f"an array (n,) of {'' if length is None else f'{length} '}finite numbers")


def array(name: str, value: Any, dimensions: int) -> Any:
    """Raise ValueError unless `value` is an array of finite numbers that is not empty and has these dimensions.

    `dimensions` is the number of dimensions.
    """
    numeric = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    fits = numeric and value.ndim == dimensions and value.size and np.isfinite(value).all()
    return check_fit(name, value, fits, f"an array of {dimensions} dimensions, of finite numbers")
