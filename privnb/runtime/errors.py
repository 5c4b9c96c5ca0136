"""The errors that privnb raises, in one hierarchy with a base class for each exit status of the command line.

Each class also inherits from the builtin exception that Python programmers expect: for example, `except ValueError`
catches a `UsageError`. Any other exception that the package raises is a fault of the package.
"""

import errno
from typing import ClassVar

__all__ = [
    "ConditionError", "InputError", "InputFileError", "MissingFileError", "OutputError", "OutputExistsError",
    "PrivacyError", "PrivnbError", "ResourceError", "UsageError", "UsageTypeError",
]  # fmt: skip

# The numbers of errors of the system for a path that cannot be written, whatever the machine has left.
UNUSABLE = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
    errno.ENAMETOOLONG,
)  # fmt: skip


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
    """A stated condition is not met (exit status 1)."""

    status = 1


class UsageError(PrivnbError, ValueError):
    """An argument or a setting is wrong (exit status 2)."""

    status = 2


class UsageTypeError(UsageError, TypeError):
    """An argument is of the wrong type (exit status 2)."""


class OutputError(UsageError, OSError):
    """An output cannot be written to its path; the folder does not exist or is not writable (exit status 2)."""


class OutputExistsError(OutputError, FileExistsError):
    """An output already exists, and privnb does not replace it (exit status 2)."""


class PrivacyError(PrivnbError, ValueError):
    """Nothing is released (exit status 3).

    The release would harm people, or no release meets the stated requirements.
    """

    status = 3


class InputError(PrivnbError, ValueError):
    """A table, a description, a policy or another input cannot be used without a correction (exit status 4)."""

    status = 4


class InputFileError(InputError, OSError):
    """A file cannot be read (exit status 4)."""


class MissingFileError(InputFileError, FileNotFoundError):
    """A file, a folder or a dataset does not exist (exit status 4)."""


class ResourceError(PrivnbError, OSError):
    """The machine does not have enough memory or disk space, or does not have a program (exit status 5)."""

    status = 5


def output_error(said: str, error: OSError) -> OutputError | ResourceError:
    """Return the error for a failed write: OutputError if the path is the cause, and ResourceError otherwise."""
    return OutputError(said) if error.errno in UNUSABLE else ResourceError(said)


for _public in [each for each in vars().values() if isinstance(each, type) and issubclass(each, PrivnbError)]:
    _public.__module__ = "privnb"  # the module from which people import it, and which a traceback names
