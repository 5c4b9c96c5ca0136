"""The templates of pages, with the style of all pages and the escaping of text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from importlib import metadata, resources

import jinja2
from markupsafe import Markup

from privnb.runtime.language import current_language
from privnb.runtime.sentences import inline
from privnb.runtime.template_code import share_code
from privnb.runtime.wording import Wording, filters


def environment(term: Callable[[str, str], str] | None = None) -> jinja2.Environment:
    """Return the templates of pages, with the style and the version of the package; for `term`, see `Wording`.

    The filters and sentences are in the present language.
    """
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("privnb.reporting", "templates/privnb_report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=share_code("pages", current_language()),
    )
    made.filters["sha256"] = lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    made.globals |= {"version": metadata.version("privnb")}
    wording = Wording(term)
    made.filters |= filters(current_language()) | {"inline": inline}
    made.globals |= {
        "LANGUAGE": current_language(),
        "STYLE": Markup(template("style.css")),
        "write": wording.parts,
        "line": wording.line,
        "has": wording.has,
    }
    return made


def template(name: str) -> str:
    """Return the text of a file in the folder of templates."""
    return resources.files("privnb.reporting").joinpath(f"templates/privnb_report/{name}").read_text(encoding="utf-8")
