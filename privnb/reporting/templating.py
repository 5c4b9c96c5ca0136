"""The templates of pages, with what every page has: the style, and text that no element can come of."""

from __future__ import annotations

import base64
import hashlib
from importlib import metadata, resources

import jinja2
from markupsafe import Markup

from privnb.runtime import sentences


def environment() -> jinja2.Environment:
    """Return the pages' templates, with the style and the version that each of them names."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("privnb.reporting", "templates/privnb_report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["sha256"] = lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    made.globals |= {"version": metadata.version("privnb")}
    made.globals |= {"SENTENCES": sentences.OPEN, "STYLE": Markup(template("style.css"))}
    return made


def template(name: str) -> str:
    """Return the text of a file among the templates."""
    return resources.files("privnb.reporting").joinpath(f"templates/privnb_report/{name}").read_text(encoding="utf-8")
