"""Colour, on a terminal that nobody has asked to do without (NO_COLOR)."""

import os
from typing import TextIO

CODES = {"red": "31", "yellow": "33", "bold": "1"}


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """Return a text in a colour where `stream` is a terminal that shows it; else as it is."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[{CODES[colour]}m{text}\x1b[0m"
