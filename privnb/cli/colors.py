"""Colored lines on a terminal, unless NO_COLOR is set."""

import os
from typing import TextIO

from privnb.runtime.names import write_control

CODES = {"red": "31", "yellow": "33"}


def print_line(prefix: str, color: str, text: str, stream: TextIO) -> None:
    """Print a line with a prefix; the prefix is colored if `stream` is a terminal that shows colors."""
    is_colored = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
    if is_colored:
        stream.flush()
        write_control(f"\x1b[{CODES[color]}m", stream)
    stream.write(prefix)
    if is_colored:
        write_control("\x1b[0m", stream)
    print(f" {text}", file=stream)
