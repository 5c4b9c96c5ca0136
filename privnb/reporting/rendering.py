"""The rendering of pages: the templates, and texts, tables and charts as HTML.

Each chart is drawn when its page is made, and this drawing is in the page. If the file `charts.js` lies next to the
page, a browser draws the chart again when it comes into view, with tooltips and controls.
"""

import functools
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from html import unescape
from typing import Any

import jinja2
from markupsafe import Markup, escape
from nbformat import NotebookNode

from privnb.reporting import vega
from privnb.reporting.charts import V5, tips
from privnb.reporting.charts.base import render_chart
from privnb.reporting.charts.narrow import WIDE, fit_width, narrow_chart
from privnb.reporting.templating import environment, template
from privnb.runtime.sentences import MIME

GLOSSARY = "glossary.html"
SCRIPT = "charts.js"  # the file next to the pages that draws live charts
ROWS, COLUMNS = 12, 8  # a larger table of numbers is folded away
HEADING = re.compile(r"<th\b(?![^>]*\bscope=)")
SCOPES = ("row", "col")  # of headings outside and inside <thead>
TABLE = re.compile(r"<table\b(?![^>]*\baria-label=)")
PROSE = 25  # a longer cell without a digit among its first characters is prose


def templates(
    term: Callable[[str, str], str] | None = None, pages: Collection[str] | None = None
) -> jinja2.Environment:
    """Return the templates of pages and the filters that templates use; see `environment`.

    Names inside the SVG of a chart differ from the names in all other charts.
    """
    from nbconvert.filters import Highlight2HTML, strip_ansi

    made = environment(term)
    highlight = Highlight2HTML(pygments_lexer="python3")
    made.filters |= {
        "markdown": functools.partial(markdown, term=term, pages=pages),
        "highlight": lambda code: Markup(highlight(code)),
        "plain": strip_ansi,
        "figure": functools.partial(_figure, itertools.count(1)),
        "marks": _marks,
        "has_controls": has_controls,
        "named": name_tables,
        "chart_title": title,
        "is_wall": is_wall,
        "marked": lambda part: Markup(part) if isinstance(part, str) else [*map(Markup, part)],
        "breakable": lambda name: Markup(str(escape(name)).replace("_", "_<wbr>")),
    }
    made.globals |= {"V5": V5, "MIME": MIME, "SCRIPT": SCRIPT, "is_prose": is_prose, "has_prose": has_prose}
    return made


def markdown(
    text: str,
    cell: NotebookNode | None = None,
    term: Callable[[str, str], str] | None = None,
    pages: Collection[str] | None = None,
) -> Markup:
    """Return Markdown as HTML.

    A link to the glossary becomes a term; see `glossary.Tips`. `pages` are the pages of the report; a link to any other
    page becomes plain text.
    """
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Renderer(IPythonRenderer):
        def link(self, text: str, url: str, title: str | None = None) -> str:
            page, _, place = url.partition("#")
            if term and page == GLOSSARY:
                return str(term(Markup(text), place))
            is_absent = pages is not None and re.fullmatch(r"[\w-]+\.html", page) and page not in pages
            return text if is_absent else super().link(text, url, title)

    attachments = cell.get("attachments", {}) if cell else {}
    renderer = Renderer(escape=True, attachments=attachments, exclude_anchor_links=True)
    html = MarkdownWithMath(renderer=renderer).render(text)
    return Markup(re.sub(r"<h([23])>(.*?)</h\1>", _anchored, html))


def _anchored(heading: re.Match[str]) -> str:
    """Return a heading with an anchor that is made of the words of the heading."""
    level, text = heading.groups()
    return f'<h{level} id="{anchor(strip_tags(text))}">{text}</h{level}>'


def anchor(text: str) -> str:
    """Return the anchor of a heading or a caption.

    >>> anchor("Table 1: good utility")
    'Table-1-good-utility'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


def is_wall(table: Mapping[str, Any]) -> bool:
    """Return whether a table is large and consists mainly of numbers; a page folds such a table."""
    cells = [cell for row in table["data"] for cell in row]
    numbers = sum(bool(re.match(r"\W*\d|\s*$", cell)) for cell in cells)
    return (len(table["data"]) > ROWS or len(table["columns"]) > COLUMNS) and 2 * numbers >= len(cells)


def is_prose(table: Mapping[str, Any], column: int) -> bool:
    """Return whether a column of a table contains prose."""
    return any(len(row[column]) > PROSE and not re.search(r"\d", row[column][:PROSE]) for row in table["data"])


def has_prose(table: Mapping[str, Any]) -> bool:
    """Return whether at least one column of a table contains prose."""
    return any(is_prose(table, column) for column in range(len(table["columns"])))


def strip_tags(html: str) -> str:
    """Return the text in some HTML, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


def is_chart(data: dict[str, Any]) -> bool:
    """Return whether the data of an output are a chart."""
    return V5 in data or "image/svg+xml" in data


def has_controls(data: Mapping[str, Any]) -> bool:
    """Return whether a chart has controls, with which readers choose what the chart shows."""
    return any("bind" in parameter for parameter in data.get(V5, {}).get("params", ()))


def name_tables(html: str, label: str) -> Markup:
    """Return HTML in which each table has a name, and each heading a scope; for HTML that privnb has not written.

    >>> print(name_tables("<table><thead><tr><th>a</th></tr></thead><tr><th>b</th></tr></table>", "c"))
    <table aria-label="c"><thead><tr><th scope="col">a</th></tr></thead><tr><th scope="row">b</th></tr></table>
    """
    parts = re.split(r"(<thead\b.*?</thead>)", html, flags=re.DOTALL)
    text = "".join(HEADING.sub(f'<th scope="{SCOPES[place % 2]}"', part) for place, part in enumerate(parts))
    return Markup(TABLE.sub(lambda _: f'<table aria-label="{escape(label)}"', text))


def draw(notebook: str) -> None:
    """Draw the charts of an executed notebook, given as JSON text, before its page needs them."""
    for cell in json.loads(notebook)["cells"]:
        for output in cell.get("outputs", ()):
            if V5 in output.get("data", ()):
                _figure(itertools.count(), output["data"])


def _figure(numbers: Iterator[int], data: dict[str, Any]) -> Markup:
    """Return a chart as a `<figure>` element, with the title as text, which can wrap, and the drawing below.

    The tooltip of a mark is the title of the mark in the drawing.
    """
    titles, number = _title(data), next(numbers)
    spec, slim = data.get(V5, {}), data.get(V5, {})
    svg = _drawing(data, f"chart{number}")
    width = _width(svg)
    if spec and width and width > WIDE:
        slim = narrow_chart(spec)
        if slim is spec:
            svg = svg.replace('class="', 'class="whole ', 1)
        else:
            slim = narrow_chart(spec, fit_width(_width(_drawing({V5: slim}, "")) or WIDE))
            svg += _drawing({V5: slim}, f"narrow{number}").replace('class="', 'class="narrow ', 1)
    style = f' style="--width: {width:g}px"' if width else ""
    lines = zip(("strong", "span"), titles, strict=True)
    said = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in lines if text)
    caption = f"<figcaption>{said}</figcaption>" if said else ""
    name = f'role="img" aria-label="{escape(_name(data))}"'
    drawing = f'<div class="drawing scroll" {name}{style} tabindex="0">{svg}</div>'
    return Markup(f'<figure class="chart">{caption}{drawing}{_specifications(spec, slim)}</figure>')


def _specifications(wide: dict[str, Any], slim: dict[str, Any]) -> str:
    """Return the element with the specifications of a chart, for wide and for narrow pages; empty without any.

    The data are in the specification for wide pages alone.
    """
    if not wide:
        return ""
    specs = {"wide": prune_fields(_bare(wide, "description"))}
    if slim is not wide:
        specs["narrow"] = _bare(slim, "description", "datasets")
    # No text can end the element.
    text = json.dumps(specs, separators=(",", ":"), ensure_ascii=False).replace("<", r"\u003c")
    return f'<script type="application/json">{text}</script>'


def prune_fields(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose data have only the fields that the other parts of the specification name.

    >>> bars = {"encoding": {"x": {"field": "age"}}, "datasets": {"data": [{"age": "20-29", "id": "row-1"}]}}
    >>> prune_fields(bars)["datasets"]
    {'data': [{'age': '20-29'}]}
    """
    named = "\n".join(_texts({name: value for name, value in spec.items() if name != "datasets"})).replace("\\", "")

    def is_named(field: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(field)}(?!\w)", named) is not None

    def pruned(part: Any) -> Any:
        if isinstance(part, list):
            return [*map(pruned, part)]
        if not isinstance(part, dict):
            return part
        rows = {name: _keep(value, is_named) for name, value in part.items() if name == "values"}
        return {name: pruned(value) for name, value in part.items()} | rows

    datasets = {name: _keep(rows, is_named) for name, rows in spec.get("datasets", {}).items()}
    return pruned({name: value for name, value in spec.items() if name != "datasets"}) | (
        {"datasets": datasets} if datasets else {}
    )


def _keep(rows: Any, is_named: Callable[[str], bool]) -> Any:
    """Return rows of data with the named fields; a list of other values stays as it is."""
    if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
        return rows
    kept = {name: is_named(name) for row in rows for name in row}
    return [{name: value for name, value in row.items() if kept[name]} for row in rows]


def _texts(part: Any) -> Iterator[str]:
    """Yield all texts in a specification except those in the rows of data."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for each in part:
            yield from _texts(each)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name not in ("values", "title", "description"):
                yield from _texts(value)


def _marks(data: dict[str, Any]) -> dict[str, Any]:
    """Return the tooltips of a chart as a table, for readers without a mouse.

    For a chart with controls, the table has no rows.
    """
    spec = data.get(V5, {})
    if not spec or has_controls(data):
        return {"data": []}
    bare = tips.describe_marks(_bare(spec))
    return tips.list_marks(bare, _drawn(json.dumps(bare)))


def _width(svg: str) -> float | None:
    """Return the width of a drawing in pixels; None if the drawing states no width."""
    found = re.search(r'<svg[^>]*? width="([\d.]+)"', svg)
    return found and float(found[1])


def title(data: Mapping[str, Any]) -> str:
    """Return the title of a chart; empty for data that are not a chart, or a chart without a title."""
    return _title(data)[0]


def _title(data: Mapping[str, Any]) -> list[str]:
    """Return the title and the subtitle of a chart, each on one line."""
    of = data.get(V5, {}).get("title", "")
    both = (of.get("text", ""), of.get("subtitle", "")) if isinstance(of, dict) else (of, "")
    return [each if isinstance(each, str) else " ".join(each) for each in both]


def _name(data: dict[str, Any]) -> str:
    """Return the description of a chart for screen readers."""
    return data.get(V5, {}).get("description") or _title(data)[0] or "chart"


def _drawing(data: dict[str, Any], name: str) -> str:
    """Return the SVG of a chart without its title.

    The names of clips and gradients begin with `name`, so that they are unique on a page.
    """
    spec = tips.describe_marks(_bare(data.get(V5, {})))
    svg = tips.add_titles(_drawn(json.dumps(spec))) if spec else data["image/svg+xml"]
    svg = svg[svg.index("<svg") :]
    # Vega numbers these names through all charts of a process; here each chart has its own.
    new = {old: f"{name}-{number}" for number, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)))}
    svg = re.sub(r'\bid="([^"]+)"', lambda found: f'id="{new[found[1]]}"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", lambda found: f"url(#{new.get(found[1], found[1])})", svg)
    # The other labels are of axes and legends, and screen readers ignore labels inside role=img.
    return re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)


@functools.lru_cache(maxsize=256)
def _drawn(spec: str) -> str:
    """Return the SVG of a chart; a chart with the same specification is drawn only once."""
    return render_chart(json.loads(spec))[0]["image/svg+xml"]


def _bare(spec: dict[str, Any], *others: str) -> dict[str, Any]:
    """Return the specification of a chart without the title, which the page shows as text, and without `others`."""
    return {key: value for key, value in spec.items() if key not in ("$schema", "title", *others)}


@functools.cache
def vega_script() -> str:
    """Return the text of `charts.js`: Vega, Vega-Lite and Vega-Embed with their licenses, and the code that draws."""
    # A page of a folder may not load a module, so that this is a script, whose names are its own.
    return f"/*!\n{template('licences.txt')}*/\n(() => {{\n{vega.bundle(template('live.js'))}\n}})();\n"
