"""The rendering of pages: the templates, and texts, tables and charts as HTML that needs no other file."""

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
ROWS, COLUMNS = 12, 8  # a larger table of numbers is folded away
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
        "live": _live,
        "is_wall": is_wall,
        "marked": lambda part: Markup(part) if isinstance(part, str) else [*map(Markup, part)],
        "breakable": lambda name: Markup(str(escape(name)).replace("_", "_<wbr>")),
    }
    made.globals |= {"V5": V5, "MIME": MIME, "is_prose": is_prose, "has_prose": has_prose}
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
    title, number = _title(data), next(numbers)
    svg = _drawing(data, f"chart{number}")
    width = _width(svg)
    if V5 in data and width and width > WIDE:
        slim = narrow_chart(data[V5])
        if slim is data[V5]:
            svg = svg.replace('class="', 'class="whole ', 1)
        else:
            slim = narrow_chart(data[V5], fit_width(_width(_drawing({V5: slim}, "")) or WIDE))
            svg += _drawing({V5: slim}, f"narrow{number}").replace('class="', 'class="narrow ', 1)
    style = f' style="--width: {width:g}px"' if width else ""
    lines = zip(("strong", "span"), title, strict=True)
    said = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in lines if text)
    caption = f"<figcaption>{said}</figcaption>" if said else ""
    name = f'role="img" aria-label="{escape(_name(data))}"'
    drawing = f'<div class="drawing scroll" {name}{style} tabindex="0">{svg}</div>'
    return Markup(f'<figure class="chart">{caption}{drawing}</figure>')


def _marks(data: dict[str, Any]) -> dict[str, Any]:
    """Return the tooltips of a chart as a table, for readers without a mouse.

    For a chart with controls, the table has no rows.
    """
    spec = data.get(V5, {})
    if not spec or "params" in spec:
        return {"data": []}
    bare = tips.describe_marks(_bare(spec))
    return tips.list_marks(bare, _drawn(json.dumps(bare)))


def _width(svg: str) -> float | None:
    """Return the width of a drawing in pixels; None if the drawing states no width."""
    found = re.search(r'<svg[^>]*? width="([\d.]+)"', svg)
    return found and float(found[1])


def _title(data: dict[str, Any]) -> list[str]:
    """Return the title and the subtitle of a chart, each on one line."""
    title = data.get(V5, {}).get("title", "")
    both = (title.get("text", ""), title.get("subtitle", "")) if isinstance(title, dict) else (title, "")
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


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a chart without the title, because the page shows the title as text."""
    return {key: value for key, value in spec.items() if key not in ("$schema", "title")}


def _live(data: dict[str, Any]) -> Markup:
    """Return the specification of a chart as the content of a `<script>` element, which no text can end."""
    return Markup(json.dumps(_bare(data[V5]), separators=(",", ":")).replace("<", r"\u003c"))


@functools.cache
def vega_script() -> Markup:
    """Return the script of live charts: Vega, Vega-Lite and Vega-Embed with their licenses, and the code that draws."""
    bundle = vega.bundle(template("live.js")).replace("</script", r"<\/script")
    return Markup(f"/*!\n{template('licences.txt')}*/\n{bundle}")
