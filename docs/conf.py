"""Settings of the documentation site, which `make docs` builds in build/docs."""

import inspect
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import facts  # noqa: E402
from jinja2 import Environment, StrictUndefined  # noqa: E402

project = "privnb"
author = copyright = "the authors of privnb"
release = version = metadata.version("privnb")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["examples"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
default_role, smartquotes = "py:obj", False
autodoc_default_options = {"members": True}
autodoc_typehints, autodoc_preserve_defaults = "none", True
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"privnb {version}"
html_static_path, html_css_files = ["_static"], ["site.css"]

TEMPLATES = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
TEMPLATES.filters |= {each.__name__: each for each in (facts.plain, facts.prose, facts.code, facts.first, facts.link)}
TEMPLATES.filters["policy"] = facts.policies.read
TEMPLATES.filters["framework"] = facts.frameworks.read
HEADER = re.compile(r"^\w[\w ]*\n-{3,}$", re.MULTILINE)  # of a section of numpydoc
BAR = re.compile(r">>>.*|`[^`]*`|\|")  # reStructuredText substitutes the text between two bars


def write(app):
    """Write the pages of public names and of notebooks."""
    for old in [*DOCS.glob("reference/*/*.md"), *DOCS.glob("gallery/*/*.md")]:
        old.unlink()
    for path, text in facts.pages():
        (DOCS / path).parent.mkdir(exist_ok=True)
        (DOCS / path).write_text(text, encoding="utf-8")


def render(app, docname, content):
    """Fill in the templates of reference/ and gallery/."""
    if Path(docname).parent.name in ("reference", "gallery"):
        content[0] = TEMPLATES.from_string(content[0]).render(vars(facts) | {"report": app.config.privnb_report})


def order(app, what, name, thing, options, lines):
    """Put the paragraphs of a docstring that follow its sections before them, where numpydoc expects them."""
    blocks = re.split(r"\n{2,}", "\n".join(lines).strip())
    start = next((place for place, block in enumerate(blocks) if HEADER.match(block)), len(blocks))
    late = [block for block in blocks[start:] if block.startswith(">>> ") or is_prose(block)]
    text = "\n\n".join([*blocks[:start], *late, *(block for block in blocks[start:] if block not in late)])
    lines[:] = BAR.sub(lambda bar: r"\|" if bar[0] == "|" else bar[0], text).split("\n")


def is_prose(block):
    """Return whether a paragraph is prose, not an entry: no line is indented, and it ends in a full stop."""
    return block.endswith(".") and not HEADER.match(block) and not re.search(r"^\s", block, re.MULTILINE)


def sign(app, what, name, thing, options, signature, returns):
    """Return the parameters of a class, where a constructor that it inherits hides them."""
    if signature != "(*_, **__)":
        return None
    parameters = [each.replace(annotation=each.empty) for each in inspect.signature(thing).parameters.values()]
    return str(inspect.Signature(parameters)), returns


def resolve(app, env, node, content):
    """Return a name in a docstring as code, where the name has no page."""
    return content if node["refdomain"] == "py" and node["refdoc"].startswith("reference/") else None


def copy_report(app, error):
    """Copy the report that the gallery links."""
    if app.config.privnb_report and not error:
        shutil.copytree(app.config.privnb_report, Path(app.outdir, "gallery", "report"), dirs_exist_ok=True)


def setup(app):
    """Connect the functions above to the build."""
    report = DOCS.parent / "reports" / "adult"
    app.add_config_value("privnb_report", str(report) if (report / "index.html").exists() else "", "html")
    app.connect("builder-inited", write)
    app.connect("source-read", render)
    app.connect("autodoc-process-docstring", order, priority=100)
    app.connect("autodoc-process-signature", sign)
    app.connect("missing-reference", resolve)
    app.connect("build-finished", copy_report)
