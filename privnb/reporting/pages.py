"""From executed notebooks and a ledger to HTML that needs nothing else: no network, no other file, and no script but
where a chart is live.

Charts stand in the pages as the SVG drawn in the run. A cell's tag says what becomes of it: `answer` (on the index as
the notebook's answer), `key` (its figures on the index), `live` (its charts are drawn by Vega, which then stands in
that page, so that their controls work), `interactive` (left out, with a heading right before it), `parameters` and the
others (shown, the code folded away).
"""

import base64
import functools
import hashlib
import itertools
import json
import platform
import re
import tomllib
from importlib import metadata, resources
from pathlib import Path

from privnb.microdata import sentences
from privnb.reporting import ledger_page, vega
from privnb.reporting.charts import V5

LIBRARIES = (
    "privnb", "numpy", "pandas", "scikit-learn", "scipy", "numba", "opendp", "altair", "vl-convert-python", "papermill",
)  # fmt: skip


def make(chosen, executed, ledger):
    """`{file name: HTML}`: `index.html`, a page for each notebook, and `ledger.html` if a printed number was measured.

    `chosen`: the `runs.Notebook`s; `executed`: `{name: executed notebook as JSON text}`; `ledger`: the table that
    `ledger.compare` returns.
    """
    import nbformat

    notebooks = [nbformat.reads(executed[notebook.name], 4) for notebook in chosen]
    pages = [
        {
            "name": notebook.name,
            "question": _question(cells) or notebook.name,
            "cells": _folded(cells),
            "answer": ([cell for cell in cells if _tagged(cell, "answer")] or [None])[-1],
            "key": [cell for cell in cells if _tagged(cell, "key")],
            "script": _vega() if any(_tagged(cell, "live") for cell in cells) else "",
        }
        for notebook, cells in zip(chosen, map(_shown, notebooks), strict=True)
    ]
    templates = _templates()
    page = templates.get_template("page.html.j2")
    files = {
        f"{this['name']}.html": page.render(this=this, before=before, after=after)
        for before, this, after in zip([None, *pages], pages, [*pages[1:], None], strict=False)
    }
    files["index.html"] = templates.get_template("index.html.j2").render(
        pages=pages,
        dataset=_dataset(chosen),
        parameters=_parameters(chosen),
        versions=[("Python", platform.python_version()), *((n, metadata.version(n)) for n in LIBRARIES)],
        ledger=ledger["measured"].notna().any(),
    )
    if ledger["measured"].notna().any():
        files["ledger.html"] = ledger_page.make(templates, ledger)
    return files


def _tagged(cell, tag):
    return tag in cell.metadata.get("tags", [])


def _shown(notebook):
    """The cells that a page shows: not the interactive ones, nor a heading that only they follow."""
    cells = notebook.cells
    return [
        cell
        for cell, after in itertools.zip_longest(cells, cells[1:])
        if not _tagged(cell, "interactive")
        and not (re.fullmatch(r"#+ .*", cell.source.strip()) and after and _tagged(after, "interactive"))
    ]


def _folded(cells):
    """The cells of a page: code that shows nothing is folded together with the code right after it."""
    from nbformat import NotebookNode

    folded = []
    for cell in cells:
        if cell.cell_type == "code" and not cell.source.strip() and not cell.outputs:
            continue
        last = folded[-1] if folded else None
        if cell.cell_type == "code" and last and last.cell_type == "code" and not last.outputs:
            cell = NotebookNode(cell, source=f"{folded.pop().source.strip()}\n\n{cell.source.strip()}")
        folded.append(cell)
    return folded


def _question(cells):
    """The text of the first heading."""
    for cell in cells:
        if cell.cell_type == "markdown" and (found := re.search(r"^#+ +(.+)$", cell.source, re.MULTILINE)):
            return found[1].strip()
    return ""


def _dataset(chosen):
    """What the description file says of the dataset; only its name if there is no such file."""
    name = next((str(n.values["DATASET"]) for n in chosen if n.values.get("DATASET")), "")
    if not name:
        return {"name": ""}
    path = next(n.described for n in chosen if n.values.get("DATASET"))
    try:
        described = tomllib.loads(path.read_text(encoding="utf-8"))["dataset"] if path else {}
    except (OSError, KeyError):
        described = {}
    return {"name": Path(name).stem} | described


def _parameters(chosen):
    """One row for each parameter and value: name, value, default, meaning, and the notebooks that ran with it."""
    rows = {}
    for notebook in chosen:
        for name, value in notebook.values.items():
            default, meaning = notebook.parameters[name].default, notebook.parameters[name].meaning
            value = Path(value).stem if str(value).endswith(".toml") else value
            row = {"name": name, "value": value, "default": default, "meaning": meaning, "notebooks": []}
            rows.setdefault((name, str(value), str(default)), row)["notebooks"].append(notebook.name)
    return sorted(rows.values(), key=lambda row: row["name"])


# --- HTML ---


def _templates():
    import jinja2
    from markupsafe import Markup
    from nbconvert.filters import Highlight2HTML, strip_ansi

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("privnb.reporting", "templates/privnb_report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    highlight = Highlight2HTML(pygments_lexer="python3")
    templates.filters |= {
        "markdown": _markdown,
        "highlight": lambda code: Markup(highlight(code)),
        "plain": strip_ansi,
        "table": _table,
        "figure": functools.partial(_figure, itertools.count(1)),
        "live": _live,
        "sha256": lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode(),
    }
    templates.globals |= {"V5": V5, "version": metadata.version("privnb")}
    templates.globals |= {"SENTENCES": sentences.OPEN, "STYLE": Markup(_template("style.css"))}
    return templates


def _markdown(text, cell=None):
    from markupsafe import Markup
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    attachments = cell.get("attachments", {}) if cell else {}
    renderer = IPythonRenderer(escape=True, attachments=attachments, exclude_anchor_links=True)
    return Markup(MarkdownWithMath(renderer=renderer).render(text))


def _table(html):
    """The HTML of a table, its headings broken after an underscore if need be, and nowhere else in a word."""
    from markupsafe import Markup

    html = re.sub(r"<style\b.*?</style>", "", html, flags=re.DOTALL)  # the page has its own and refuses others
    return Markup(re.sub(r"<th\b[^>]*>[^<]*", lambda heading: heading[0].replace("_", "_<wbr>"), html))


def _figure(numbers, data):
    """An output with a chart as `<figure>`: what the drawing shows is its name, which screen readers say."""
    from markupsafe import Markup, escape

    spec = data.get(V5, {})
    title = spec.get("title", "")
    title = title.get("text", "") if isinstance(title, dict) else title
    name = spec.get("description") or (" ".join(title) if isinstance(title, list) else title) or "chart"
    svg = data.get("image/svg+xml") or _draw(spec)
    svg = svg[svg.index("<svg") :]
    # Names of clips and gradients hold for the whole page: charts would cut each other.
    number = next(numbers)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="chart{number}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#chart{number}-\1)", svg)
    # A label on each mark would hide a second copy of the data, and inside role=img nobody is read it.
    svg = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)
    width = re.search(r'<svg[^>]*? width="([\d.]+)"', svg)
    style = f' style="--width: {width[1]}px"' if width else ""
    name = f'role="img" aria-label="{escape(name)}"'
    return Markup(f'<figure class="chart scroll" {name}{style} tabindex="0">{svg}</figure>')


def _live(data):
    """The specification of a chart as the content of a `<script>`, which no text in it can end."""
    from markupsafe import Markup

    spec = {key: value for key, value in data[V5].items() if key != "$schema"}
    return Markup(json.dumps(spec, separators=(",", ":")).replace("<", r"\u003c"))


@functools.cache
def _vega():
    """Vega, Vega-Lite and Vega-Embed with their licences, and what draws a page's live charts with them: one script."""
    from markupsafe import Markup

    bundle = vega.bundle(_template("live.js")).replace("</script", r"<\/script")
    return Markup(f"/*!\n{_template('licences.txt')}*/\n{bundle}")


def _template(name):
    return resources.files("privnb.reporting").joinpath(f"templates/privnb_report/{name}").read_text(encoding="utf-8")


def _draw(spec):
    import vl_convert

    return vl_convert.vegalite_to_svg({k: v for k, v in spec.items() if k != "$schema"})
