"""Methods that users define outside the package, and the description of their failures."""

import traceback
from types import FunctionType
from typing import Any


def is_own(method: Any) -> bool:
    """Return whether a class, a function, or the class of an object is defined outside the package."""
    return _package(_home(method)) != "privnb"


def describe_failure(method: Any, error: BaseException) -> str:
    """Return a phrase that states the class of an error and the line of the user's method that raised the error.

    The message of the error is left out, because the message may quote records, and the returned phrase is stored in
    results, pages and cards.

    >>> def divide():
    ...     return 1 / 0
    >>> try:
    ...     divide()
    ... except ZeroDivisionError as error:
    ...     describe_failure(divide, error)
    'ZeroDivisionError in line 2 of `divide`'
    """
    package, place = _package(_home(method)), " in what it returned"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _package(frame.f_globals.get("__name__", "")) == package:
            place = f" in line {line} of `{frame.f_code.co_name}`"
    return f"{type(error).__name__}{place}"


def _home(method: Any) -> str:
    return (method if isinstance(method, type | FunctionType) else type(method)).__module__


def _package(module: str) -> str:
    return module.partition(".")[0]
