"""Colour, on a terminal that nobody has asked to do without (NO_COLOR)."""

import os
from typing import TextIO

from privnb.runtime.names import control

CODES = {"red": "31", "yellow": "33"}


def say(prefix: str, colour: str, text: str, stream: TextIO) -> None:
    """Print a line that begins with a prefix, in a colour where `stream` is a terminal that shows it."""
    is_coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
    if is_coloured:
        stream.flush()
        control(f"\x1b[{CODES[colour]}m", stream)
    stream.write(prefix)
    if is_coloured:
        control("\x1b[0m", stream)
    print(f" {text}", file=stream)
