"""HTML of the board, rendered from the templates next to this module."""

import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"


@cache
def load_templates(folder: Path = TEMPLATES) -> "jinja2.Environment":
    """Return the templates of a folder and those of the explorer, which the others import.

    Lines are joined without spaces, because spaces would be visible between buttons.
    """
    import jinja2

    def joined(name: str) -> str:
        path = next((each / name for each in (folder, TEMPLATES) if (each / name).is_file()), folder / name)
        return "".join(map(str.strip, path.read_text(encoding="utf-8").splitlines()))

    loader = jinja2.FunctionLoader(joined)
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    made.globals["infinity"] = math.inf
    made.filters |= {"json": json.dumps, "named": lambda names: {name: name for name in names}}
    return made


def render_template(template: str, **values: object) -> Markup:
    """Return the HTML of a template with these values."""
    return Markup(load_templates().get_template(f"{template}.html").render(values))
