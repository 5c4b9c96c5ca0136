"""Invisible characters, and those that turn the order of others, shown as escapes: a name reads as it is written."""

import re
import unicodedata
from typing import Any, TextIO

CURSOR = re.compile(r"(?:\s|\x1b\[A)*")  # how several bars of progress move the cursor of a terminal
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a symbol that are blank


def shown(text: str) -> str:
    """Return a text with escapes in place of invisible characters and of those that turn the direction of others.

    >>> print(shown("in\u202ecome"), shown("zip\u200b"), shown("größe, 年齢"))
    in\\u202ecome zip\\u200b größe, 年齢
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(r"[^ -~\n\r\t]", lambda found: _escape(found[0]) if _is_invisible(found[0]) else found[0], text)


class Shown:
    """A stream for people, to which texts are written as `shown` gives them."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text; returns its length, as streams do."""
        self.stream.write(text if CURSOR.fullmatch(text) else shown(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _is_invisible(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") or letter in FILLERS


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
