"""HTML of the page, made from the templates beside this module."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"


@cache
def templates() -> "jinja2.Environment":
    """Return the templates. The lines of each are joined without their space, which would show between buttons."""
    import jinja2

    def joined(name: str) -> str:
        return "".join(map(str.strip, (TEMPLATES / name).read_text(encoding="utf-8").splitlines()))

    loader = jinja2.FunctionLoader(joined)
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    made.filters |= {"json": json.dumps, "named": lambda names: {name: name for name in names}}
    return made


def render(template: str, **values: object) -> Markup:
    """Return the HTML of a template with these values."""
    return Markup(templates().get_template(f"{template}.html").render(values))
