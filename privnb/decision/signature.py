"""The part of a release card that its owner states and signs: why the release leaves, on which ground, for how long."""

import datetime
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

from privnb.runtime import expect, validation
from privnb.runtime.errors import MissingFileError, UsageError
from privnb.runtime.validation import Validated, validated

LONGEST = 500  # characters of one field


def _words(name: str, value: Any) -> None:
    expect.kind(name, value, str)
    if len(value) > LONGEST:
        raise UsageError(f"`{name}` must have at most {LONGEST} characters; got {len(value)}. Shorten the text.")


def _parse(day: str) -> datetime.date:
    return datetime.date.fromisoformat(day)


def _day(name: str, value: Any) -> None:
    _words(name, value)
    try:
        _parse(value or "2000-01-01")
    except ValueError:
        raise UsageError(f"`{name}` must be a day such as 2027-12-31, or empty; got {value!r}.") from None


Words = Annotated[str, _words]
Day = Annotated[str, _day]


def _today() -> str:
    return datetime.date.today().isoformat()


@dataclass(frozen=True)
class Signature(Validated):
    """The statements of the person who signs a release card.

    Parameters
    ----------
    purpose : str
        The purpose for which the release is published or shared.
    legal_basis : str
        The legal basis of the publication.
    retention_until : str
        The day until which the recipients may keep the release, such as "2027-12-31".
    name : str
        The name of the person who signs.
    date : str
        The day of the signature; today by default.
    """

    HINT: ClassVar[str] = "Signature(purpose=...) makes one."

    purpose: Words = ""
    legal_basis: Words = ""
    retention_until: Day = ""
    name: Words = ""
    date: Day = field(default_factory=_today)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.retention_until and self.date and _parse(self.retention_until) < _parse(self.date):
            raise UsageError(
                f"`retention_until` must not be before the day of the signature, {self.date}; got "
                f"{self.retention_until}. Give a later day, or correct `date`."
            )

    @property
    def missing(self) -> list[str]:
        """The names of the fields that are still empty."""
        return [name for name, value in asdict(self).items() if not value.strip()]

    def facts(self) -> dict[str, str]:
        """Return the statements as plain values, for a card."""
        return {name: " ".join(value.split()) for name, value in asdict(self).items()}


@validated
def read_signature(path: validation.Path) -> Signature:
    """Return the statements in a TOML file, whose keys are the fields of `Signature`.

    Raises
    ------
    UsageError
        For a file that is not TOML, and for an unknown key or an invalid value.
    MissingFileError
        If there is no such file.
    """
    names = [each.name for each in fields(Signature)]
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFileError(f"there is no file {path}. Write one with {', '.join(names)}.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} must be a TOML file with {', '.join(names)}; it cannot be read: {error}.") from None
    if unknown := [name for name in given if name not in names]:
        raise UsageError(f"{path} must have the keys {', '.join(names)}; got {', '.join(unknown)}. Rename the key.")
    return Signature(**{name: str(value) for name, value in given.items()})
