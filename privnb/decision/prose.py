"""The sentences of a decision and of a card: macros of templates, in which each line is a sentence."""

import functools
import html
from collections.abc import Mapping
from typing import Any

from privnb.microdata.withholding import CONCERNS_FEW, LIMIT
from privnb.runtime import numerals
from privnb.runtime.names import some_of
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import B, listed

BREAK = "\ufdd3"  # for a line break inside a name: Unicode keeps this character for a program's own use


@functools.cache
def _templates() -> Any:
    import jinja2
    from markupsafe import Markup

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("privnb.decision", "templates"),
        autoescape=True,  # tells names, which may hold line breaks, from what a macro made
        finalize=lambda value: value if isinstance(value, Markup) else str(value).replace("\n", BREAK),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= {"percent": percent, "listed": listed, "some_of": some_of, "number": with_interval}
    made.filters["subject"] = subject
    made.globals |= {"share": numerals.share, "B": B, "CONCERNS_FEW": CONCERNS_FEW, "LIMIT": LIMIT}
    return made


def say(template: str, macro: str, *arguments: object, **named: object) -> list[str]:
    """Return the sentences of a macro, in the file of `templates` with this name, for these arguments."""
    module = _templates().get_template(f"{template}.txt.j2").module
    text = html.unescape(str(getattr(module, macro)(*arguments, **named)))
    return [line.strip(" ").replace(BREAK, "\n") for line in text.split("\n") if line.strip(" ")]


def subject(row: Any) -> str:
    """Return the risk of a row of `vectors`, with the attribute and the group that it is of."""
    of = ", ".join(filter(None, (row.target, row.group)))
    return f"{row.axis} ({of})" if of else str(row.axis)


def with_interval(number: Mapping[str, float | None]) -> str:
    """Return a share of a card with its 95% interval; of a withheld one the bound that is known.

    >>> with_interval({"value": None, "low": None, "high": 0.2})
    'at most 20%'
    """
    value, low, high = (number[name] for name in ("value", "low", "high"))
    if value is None:
        return "withheld" if high is None else numerals.share(float("nan"), float("nan"), high)
    return numerals.share(value, *((value, value) if low is None or high is None else (low, high)))
