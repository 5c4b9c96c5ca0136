"""Old names, which raise a DeprecationWarning and work for one more version."""

import functools
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)
# Modules that use an old name on behalf of a caller: the package itself, the import system, and base classes.
GO_BETWEENS = (__name__.partition(".")[0], "importlib", "_frozen_importlib", "abc")


def warn_renamed(old: str, new: str) -> None:
    """Warn that a name has changed; the warning states the line outside the package that uses the old name.

    The statement `from privnb import Pram` looks the name up twice, because the import system first tests whether the
    package has the name. The test causes no warning, so each statement causes only one warning.
    """
    frame, is_test = _find_caller(sys._getframe(1))
    if frame is None or is_test:
        return
    message = f"'{old}' is now '{new}'; the next version will not have the old name."
    warnings.warn_explicit(
        message,
        DeprecationWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "unknown"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _find_caller(frame: FrameType | None) -> tuple[FrameType | None, bool]:
    """Return the first frame outside the package, and whether the import system only tests whether a name exists."""
    is_test = False
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in GO_BETWEENS:
            break
        is_test = is_test or frame.f_code.co_name == "_handle_fromlist"
        frame = frame.f_back
    return frame, is_test


def rename_parameters(**new_by_old: str) -> Callable[[Kind], Kind]:
    """Return a decorator of a class, which then accepts old names of parameters as keywords."""

    def decorate(kind: Kind) -> Kind:
        make: Any = kind.__init__  # type: ignore[misc]

        @functools.wraps(make)
        def accept(self: Any, *arguments: Any, **named: Any) -> None:
            for old in [name for name in named if name in new_by_old]:
                warn_renamed(old, new_by_old[old])
                named[new_by_old[old]] = named.pop(old)
            make(self, *arguments, **named)

        kind.__init__ = accept  # type: ignore[misc]
        return kind

    return decorate
