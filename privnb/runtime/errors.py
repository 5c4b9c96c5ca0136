"""The errors that privnb raises: one hierarchy, and one class for each exit status of the command line.

Each class also inherits from the builtin exception that Python programmers expect: `except ValueError` catches
a `UsageError`. Any other exception that leaves the package is a fault of the package.
"""

from typing import ClassVar

__all__ = [
    "ConditionError", "InputError", "InputFileError", "MissingFileError", "OutputExistsError", "PrivacyError",
    "PrivnbError", "ResourceError", "UsageError", "UsageTypeError",
]  # fmt: skip


class PrivnbError(Exception):
    """The base class of all errors that privnb raises.

    Attributes
    ----------
    status : int
        The exit status of the command line for this error.
    code : str
        A stable name of the error for programs, in lower case with hyphens, such as "schema-error".
    """

    status: ClassVar[int]
    code: ClassVar[str]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__).strip("-_")
        cls.code = words if words.endswith("-error") else f"{words}-error"


class ConditionError(PrivnbError, ValueError):
    """A condition that was asked for is not met (exit status 1)."""

    status = 1


class UsageError(PrivnbError, ValueError):
    """An argument or a setting is wrong (exit status 2)."""

    status = 2


class UsageTypeError(UsageError, TypeError):
    """An argument is of the wrong type (exit status 2)."""


class OutputExistsError(UsageError, FileExistsError):
    """An output exists already and is left as it is (exit status 2)."""


class PrivacyError(PrivnbError, ValueError):
    """Nothing is released, because it would harm people or because no release keeps what was asked (exit status 3)."""

    status = 3


class InputError(PrivnbError, ValueError):
    """A table, a description, a policy or another input cannot be used as it is (exit status 4)."""

    status = 4


class InputFileError(InputError, OSError):
    """A file cannot be read (exit status 4)."""


class MissingFileError(InputFileError, FileNotFoundError):
    """A file, a folder or a dataset does not exist (exit status 4)."""


class ResourceError(PrivnbError, OSError):
    """The machine lacks something: memory, disk space, a permission or a program (exit status 5)."""

    status = 5


for _public in [each for each in vars().values() if isinstance(each, type) and issubclass(each, PrivnbError)]:
    _public.__module__ = "privnb"  # where people import it from, and what a traceback names
