"""The cells of an executed notebook as its page has them: what is said first is lifted out, what shows nothing goes."""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import nbformat
from markupsafe import Markup
from nbformat import NotebookNode

from privnb.reporting import rendering
from privnb.reporting.notebooks import tagged
from privnb.runtime import sentences


def shown(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that a page shows: not the interactive ones, nor a heading that only they follow."""
    cells = notebook.cells
    return [
        cell
        for cell, after in itertools.zip_longest(cells, cells[1:])
        if not tagged(cell, "interactive")
        and not (re.fullmatch(r"#+ .*", cell.source.strip()) and after and tagged(after, "interactive"))
    ]


def folded(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The cells of a page: code that shows nothing is folded together with the code right after it."""
    folded: list[NotebookNode] = []
    for cell in cells:
        if cell.cell_type == "code" and not cell.source.strip() and not cell.outputs:
            continue
        last = folded[-1] if folded else None
        if cell.cell_type == "code" and last and last.cell_type == "code" and not last.outputs:
            cell = NotebookNode(cell, source=f"{folded.pop().source.strip()}\n\n{cell.source.strip()}")
        folded.append(cell)
    return folded


def titled(cells: Sequence[NotebookNode]) -> tuple[str, list[NotebookNode]]:
    """The text of the first heading, and the cells without it."""
    cells = [*cells]
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown" and (found := re.search(r"^#+ +(.+)\n*", cell.source, re.MULTILINE)):
            rest = cell.source[: found.start()] + cell.source[found.end() :]
            cells[place : place + 1] = [NotebookNode(cell, source=rest)] * bool(rest.strip())
            return found[1].strip(), cells
    return "", cells


def lift_chart(cells: list[NotebookNode], tag: str, leave: bool = False) -> dict[str, Any] | None:
    """The first chart of a cell with this tag: `{data, live}`, or None. Its cell loses it, unless it is to be left."""
    for place, cell in enumerate(cells):
        if cell.cell_type != "code" or not tagged(cell, tag):
            continue
        for output in cell.outputs:
            if rendering.is_chart(output.get("data", {})):
                if not leave:
                    said = _shows("<p>The chart of this step stands at <a href='#answer'>the top</a>.</p>")
                    outputs = [said if each is output else each for each in cell.outputs]
                    cells[place] = NotebookNode(cell, outputs=outputs)
                return {"data": output.data, "live": tagged(cell, "live")}
    return None


def lift_answer(cells: list[NotebookNode]) -> str:
    """The first paragraph of the last answer as HTML, "" without one. Its other paragraphs stay at their place."""
    place = next((at for at, cell in reversed([*enumerate(cells)]) if tagged(cell, "answer")), None)
    if place is None:
        return ""
    cell = cells[place]
    if cell.cell_type == "markdown":
        first = next((part for part in re.split(r"\n\s*\n", cell.source) if not part.lstrip().startswith("#")), "")
        cells[place] = NotebookNode(cell, source=cell.source.replace(first, "", 1))
        return rendering.markdown(first, cell)
    for at, output in enumerate(cell.outputs):
        html = _sentences(output.get("data", {}))
        if paragraph := re.search(r"<p>.*?</p>", html, re.DOTALL):
            rest = html.replace(paragraph[0], "", 1)
            others = [_shows(rest)] * bool(rendering.plain(rest))
            cells[place] = NotebookNode(cell, outputs=[*cell.outputs[:at], *others, *cell.outputs[at + 1 :]])
            return Markup(paragraph[0])
    return ""


def _sentences(data: dict[str, Any]) -> str:
    """What an output says in sentences, as HTML."""
    html = data.get("text/html", "")
    return html if html.startswith(sentences.OPEN) else rendering.markdown(data.get("text/markdown", ""))


def _shows(html: str) -> NotebookNode:
    """An output of sentences."""
    html = html if html.startswith(sentences.OPEN) else f"{sentences.OPEN}{html}</div>"
    return nbformat.v4.new_output("display_data", data={"text/html": html})


def without_empty_sections(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The cells without headings that nothing shown follows: neither text, nor an output, nor a heading below it."""
    kept, after = [], 1  # the level of the heading that comes next, 9 for anything else that is shown
    for cell in reversed(cells):
        heading = cell.cell_type == "markdown" and re.fullmatch(r"(#+) .*", cell.source.strip())
        if heading and after <= len(heading[1]):
            continue
        if heading:
            after = len(heading[1])
        elif cell.cell_type == "markdown" and cell.source.strip():
            after = len(found[1]) if (found := re.match(r"(#+) ", cell.source.lstrip())) else 9
        elif cell.get("outputs"):
            after = 9
        kept.append(cell)
    return kept[::-1]
