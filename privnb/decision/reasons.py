"""The reasons why a release is ruled out, as data; the templates of this package write the sentences."""

import functools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from privnb.runtime.language import current_language
from privnb.runtime.sentences import strip_markup
from privnb.runtime.wording import line

# The first four concern the minimum class size.
IS_ORIGINAL, UNSURE, BELOW, PERHAPS_BELOW = "original", "size_unknown", "below", "perhaps_below"
CAP, LOST, UNKNOWN_LOSS, WORSE, MISLEADING, REFUSED = (
    "cap", "lost", "unknown_loss", "worse", "misleading", "file_refused",
)  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """A reason why a release is ruled out.

    Parameters
    ----------
    kind : str
        The name of the macro of `templates/reasons.j2` that writes the reason.
    values : tuple of (str, value)
        The arguments of the macro, as pairs of a name and a plain value.
    """

    kind: str
    values: tuple[tuple[str, Hashable], ...] = ()
    template: ClassVar[str] = "decision/reasons"

    @classmethod
    def of(cls, kind: str, **values: Hashable) -> Self:
        """Return a reason of a kind with the arguments of its macro."""
        return cls(kind, tuple(values.items()))

    @property
    def data(self) -> dict[str, Any]:
        """The reason as plain values."""
        return {"kind": self.kind, **dict(self.values)}

    def __str__(self) -> str:
        return _worded(self.template, self, current_language())


@dataclass(frozen=True)
class LossComparison(Reason):
    """The comparison of a release with others by two losses: a macro of `templates/two_losses.j2`, and its values."""

    template: ClassVar[str] = "decision/two_losses"


def join_reasons(reasons: Iterable[Reason]) -> str:
    """Return reasons as one text."""
    return "; ".join(map(str, reasons))


@functools.lru_cache(maxsize=4096)
def _worded(template: str, reason: Reason, language: str) -> str:  # `language` is a part of the key of the cache
    return strip_markup(line(template, reason.kind, **dict(reason.values)))
