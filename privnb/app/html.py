"""HTML of the tabs, rendered from the templates next to this module."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from privnb.explorer.html import load_templates
from privnb.reporting.charts.base import Drawing

TEMPLATES = Path(__file__).parent / "templates"


def render_template(template: str, **values: object) -> Markup:
    """Return the HTML of a template with these values."""
    return Markup(load_templates(TEMPLATES).get_template(f"{template}.html").render(values))


def chart_spec(chart: Drawing) -> dict[str, Any]:
    """Return the specification of a chart for the widget `explorer.page.chart_class`, on a transparent background."""
    return chart.to_dict() | {"background": "transparent"}
