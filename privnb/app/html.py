"""HTML of the tabs, rendered from the templates next to this module."""

from pathlib import Path

from markupsafe import Markup

from privnb.explorer.html import load_templates

TEMPLATES = Path(__file__).parent / "templates"


def render_template(template: str, **values: object) -> Markup:
    """Return the HTML of a template with these values."""
    return Markup(load_templates(TEMPLATES).get_template(f"{template}.html").render(values))
