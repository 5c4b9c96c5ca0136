"""The part of a release card that its owner states and signs: why the release leaves, on which ground, for how long."""

import datetime
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar

from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Validated

LONGEST = 500  # characters of one field


def _words(name: str, value: Any) -> None:
    expect.kind(name, value, str)
    if len(value) > LONGEST:
        raise UsageError(f"`{name}` must have at most {LONGEST} characters; got {len(value)}. Shorten the text.")


def _day(name: str, value: Any) -> None:
    _words(name, value)
    try:
        datetime.date.fromisoformat(value or "2000-01-01")
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

    @property
    def missing(self) -> list[str]:
        """The names of the fields that are still empty."""
        return [name for name, value in asdict(self).items() if not value.strip()]

    def facts(self) -> dict[str, str]:
        """Return the statements as plain values, for a card."""
        return {name: " ".join(value.split()) for name, value in asdict(self).items()}
