"""What pages are rendered with: the templates, and how text, tables and charts become HTML that needs nothing else."""

import functools
import itertools
import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import jinja2
from markupsafe import Markup, escape
from nbformat import NotebookNode

from privnb.reporting import vega
from privnb.reporting.charts import V5
from privnb.reporting.charts.base import render
from privnb.reporting.charts.narrow import WIDE, fitting, narrow
from privnb.reporting.templating import environment, template

ROWS, COLUMNS = 12, 8  # a table of more is folded away
PROSE = 25  # characters without a digit that a cell of words begins with


def templates() -> jinja2.Environment:
    """The pages' templates with their filters. Charts of one environment share no names."""
    from nbconvert.filters import Highlight2HTML, strip_ansi

    made = environment()
    highlight = Highlight2HTML(pygments_lexer="python3")
    made.filters |= {
        "markdown": markdown,
        "highlight": lambda code: Markup(highlight(code)),
        "plain": strip_ansi,
        "table": _table,
        "figure": functools.partial(_figure, itertools.count(1)),
        "thumbnail": functools.partial(_thumbnail, itertools.count(1)),
        "live": _live,
        "wall": wall,
    }
    made.globals |= {"V5": V5}
    return made


def markdown(text: str, cell: NotebookNode | None = None) -> Markup:
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    attachments = cell.get("attachments", {}) if cell else {}
    renderer = IPythonRenderer(escape=True, attachments=attachments, exclude_anchor_links=True)
    html = MarkdownWithMath(renderer=renderer).render(text)
    return Markup(re.sub(r"<h([23])>(.*?)</h\1>", _anchored, html))


def _anchored(heading: re.Match[str]) -> str:
    """A heading that can be linked to, by its words."""
    level, text = heading.groups()
    return f'<h{level} id="{anchor(plain(text))}">{text}</h{level}>'


def anchor(text: str) -> str:
    """What names a place of a page, by its words.

    >>> anchor("Table 1: good utility")
    'Table-1-good-utility'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


def _table(html: str) -> Markup:
    """The HTML of a table, its headings broken after an underscore if need be, and nowhere else in a word; a cell of
    some words is prose.
    """
    html = re.sub(r"<style\b.*?</style>", "", html, flags=re.DOTALL)  # the page has its own and refuses others
    html = re.sub(rf"<td>(?=[^<\d]{{{PROSE}}})", '<td class="prose">', html)
    return Markup(re.sub(r"<th\b[^>]*>[^<]*", lambda heading: heading[0].replace("_", "_<wbr>"), html))


def wall(html: str) -> str:
    """What a table that is a wall of numbers holds, in a line to fold it behind; empty for any other table."""
    if "<details" in html:
        return ""
    rows = re.findall(r"<tr\b.*?</tr>", html.partition("<tbody")[2], re.DOTALL)
    cells = [re.findall(r"<td\b[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows]
    columns, every = max(map(len, cells), default=0), [cell for row in cells for cell in row]
    numbers = sum(bool(re.match(r"\W*\d|\s*$", re.sub("<[^>]*>", "", cell))) for cell in every)
    if (len(rows) <= ROWS and columns <= COLUMNS) or 2 * numbers < len(every):
        return ""
    heads = re.findall(r"<th\b[^>]*>(.*?)</th>", html.partition("<tbody")[0], re.DOTALL)
    names = list(dict.fromkeys(filter(None, (plain(head) for head in heads))))
    more = ", ..." if len(names) > 6 else ""
    return f"Table of {len(rows)} rows and {columns} columns: {', '.join(names[:6])}{more}"


def plain(html: str) -> str:
    """The text of some HTML, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


def is_chart(data: dict[str, Any]) -> bool:
    """Whether an output is a chart."""
    return V5 in data or "image/svg+xml" in data


def draw(notebook: str) -> None:
    """Draw the charts of an executed notebook, JSON text, which its page will then find drawn."""
    for cell in json.loads(notebook)["cells"]:
        for output in cell.get("outputs", ()):
            if V5 in output.get("data", ()):
                _figure(itertools.count(), output["data"])


def _figure(numbers: Iterator[int], data: dict[str, Any]) -> Markup:
    """An output with a chart as `<figure>`: its title as text, which wraps, and below it the drawing."""
    title, number = _title(data), next(numbers)
    svg = _drawing(data, f"chart{number}")
    width = _width(svg)
    if V5 in data and width and width > WIDE:
        slim = narrow(data[V5])
        if slim is data[V5]:
            svg = svg.replace('class="', 'class="whole ', 1)
        else:
            slim = narrow(data[V5], fitting(_width(_drawing({V5: slim}, "")) or WIDE))
            svg += _drawing({V5: slim}, f"narrow{number}").replace('class="', 'class="narrow ', 1)
    style = f' style="--width: {width:g}px"' if width else ""
    lines = zip(("strong", "span"), title, strict=True)
    said = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in lines if text)
    caption = f"<figcaption>{said}</figcaption>" if said else ""
    name = f'role="img" aria-label="{escape(_name(data))}"'
    drawing = f'<div class="drawing scroll" {name}{style} tabindex="0">{svg}</div>'
    return Markup(f'<figure class="chart">{caption}{drawing}</figure>')


def _width(svg: str) -> float | None:
    """How many pixels a drawing is wide; None where it does not say so."""
    found = re.search(r'<svg[^>]*? width="([\d.]+)"', svg)
    return found and float(found[1])


def _thumbnail(numbers: Iterator[int], data: dict[str, Any]) -> Markup:
    """An output with a chart as a small picture: its marks and lines without words, which nobody could read."""
    svg = re.sub(r"<text\b.*?</text>", "", _drawing(data, f"small{next(numbers)}"), flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r'\1 preserveAspectRatio="xMidYMin slice"', svg, count=1)
    return Markup(f'<span class="small" role="img" aria-label="{escape(_name(data))}">{svg}</span>')


def _title(data: dict[str, Any]) -> list[str]:
    """The title of a chart and the line below it, each on one line."""
    title = data.get(V5, {}).get("title", "")
    both = (title.get("text", ""), title.get("subtitle", "")) if isinstance(title, dict) else (title, "")
    return [each if isinstance(each, str) else " ".join(each) for each in both]


def _name(data: dict[str, Any]) -> str:
    """What screen readers say of a chart."""
    return data.get(V5, {}).get("description") or _title(data)[0] or "chart"


def _drawing(data: dict[str, Any], name: str) -> str:
    """The SVG of a chart without its title. Names of clips and gradients hold for a whole page: charts would cut each
    other.
    """
    spec = _bare(data.get(V5, {}))
    svg = _drawn(json.dumps(spec)) if spec else data["image/svg+xml"]
    svg = svg[svg.index("<svg") :]
    # Vega counts them on from chart to chart of a process: here each chart begins anew.
    new = {old: f"{name}-{number}" for number, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)))}
    svg = re.sub(r'\bid="([^"]+)"', lambda found: f'id="{new[found[1]]}"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", lambda found: f"url(#{new.get(found[1], found[1])})", svg)
    # A label on each mark would hide a second copy of the data, and inside role=img nobody is read it.
    return re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)


@functools.lru_cache(maxsize=256)
def _drawn(spec: str) -> str:
    """The SVG of a chart, a page's and its thumbnail's: it is drawn once."""
    return render(json.loads(spec))[0]["image/svg+xml"]


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification of a chart without its title, which the page says as text."""
    return {key: value for key, value in spec.items() if key not in ("$schema", "title")}


def _live(data: dict[str, Any]) -> Markup:
    """The specification of a chart as the content of a `<script>`, which no text in it can end."""
    return Markup(json.dumps(_bare(data[V5]), separators=(",", ":")).replace("<", r"\u003c"))


@functools.cache
def vega_script() -> Markup:
    """Vega, Vega-Lite and Vega-Embed with their licences, and what draws a page's live charts with them: one script."""
    bundle = vega.bundle(template("live.js")).replace("</script", r"<\/script")
    return Markup(f"/*!\n{template('licences.txt')}*/\n{bundle}")
