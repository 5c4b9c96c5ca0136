"""The cells of an executed notebook in the form for its page, with the answer apart and without empty cells."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

from privnb.reporting import rendering
from privnb.reporting.notebooks import has_tag
from privnb.runtime.sentences import MIME


def select_shown(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the cells that a page shows, without interactive cells and without a heading right before such a cell."""
    cells = notebook.cells
    return [
        cell
        for cell, after in itertools.zip_longest(cells, cells[1:])
        if not has_tag(cell, "interactive")
        and not (re.fullmatch(r"#+ .*", cell.source.strip()) and after and has_tag(after, "interactive"))
    ]


def fold_cells(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the cells, in which the code of a cell without output is added to the code cell right after it."""
    folded: list[NotebookNode] = []
    for cell in cells:
        if cell.cell_type == "code" and not cell.source.strip() and not cell.outputs:
            continue
        last = folded[-1] if folded else None
        if cell.cell_type == "code" and last and last.cell_type == "code" and not last.outputs:
            cell = NotebookNode(cell, source=f"{folded.pop().source.strip()}\n\n{cell.source.strip()}")
        folded.append(cell)
    return folded


def split_title(cells: Sequence[NotebookNode]) -> tuple[str, list[NotebookNode]]:
    """Return the text of the first heading, and the cells without this heading."""
    cells = [*cells]
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown" and (found := re.search(r"^#+ +(.+)\n*", cell.source, re.MULTILINE)):
            rest = cell.source[: found.start()] + cell.source[found.end() :]
            cells[place : place + 1] = [NotebookNode(cell, source=rest)] * bool(rest.strip())
            return found[1].strip(), cells
    return "", cells


def lift_chart(cells: list[NotebookNode], tag: str) -> dict[str, Any] | None:
    """Remove the first chart from the cells with this tag, and return its data; None without a chart."""
    for place, cell in enumerate(cells):
        if cell.cell_type != "code" or not has_tag(cell, tag):
            continue
        for output in cell.outputs:
            if rendering.is_chart(output.get("data", {})):
                cells[place] = NotebookNode(cell, outputs=[each for each in cell.outputs if each is not output])
                return dict(output.data)
    return None


def label_cells(cells: Sequence[NotebookNode], question: str) -> list[NotebookNode]:
    """Return the cells with a `label`, which names the code and the output of a cell.

    The label is the title of the first chart of the cell, or the heading above the cell. Different cells have different
    labels.
    """
    labelled, heading, times = [], question, Counter[str]()
    for cell in cells:
        if cell.cell_type == "markdown":
            headings = re.findall(r"^#+ +(.+)$", cell.source, re.MULTILINE)
            heading = rendering.strip_tags(rendering.markdown(headings[-1])) if headings else heading
            labelled.append(NotebookNode(cell, label=heading))
            continue
        titles = (rendering.title(output.get("data", {})) for output in cell.get("outputs", ()))
        label = next(filter(None, titles), heading)
        times[label] += 1
        labelled.append(NotebookNode(cell, label=f"{label} ({times[label]})" if times[label] > 1 else label))
    return labelled


def lift_answer(cells: list[NotebookNode]) -> dict[str, Any] | None:
    """Remove the answer from the last cell with the tag `answer`, and return the answer.

    The answer is the content of `Sentences`, or the first paragraph of Markdown. The rest of the cell stays in its
    place. The result is None if there is no answer.
    """
    place = next((at for at, cell in reversed([*enumerate(cells)]) if has_tag(cell, "answer")), None)
    if place is None:
        return None
    cell = cells[place]
    if cell.cell_type == "markdown":
        first = next((part for part in re.split(r"\n\s*\n", cell.source) if not part.lstrip().startswith("#")), "")
        cells[place] = NotebookNode(cell, source=cell.source.replace(first, "", 1))
        return {"markdown": first}
    for at, output in enumerate(cell.outputs):
        content = output.get("data", {}).get(MIME, {})
        if text := output.get("data", {}).get("text/markdown"):
            cells[place] = NotebookNode(cell, outputs=[each for each in cell.outputs if each is not output])
            return {"markdown": text}
        if "template" in content or "parts" in content:
            rest = nbformat.v4.new_output("display_data", data={MIME: {**content, "is_lifted": True}})
            others = [rest] * (len(content.get("parts", [])) > 1 or "template" in content)
            cells[place] = NotebookNode(cell, outputs=[*cell.outputs[:at], *others, *cell.outputs[at + 1 :]])
            return dict(content)
    return None


def drop_empty_sections(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the cells without the headings of empty sections.

    A section is empty if it has no text, no output and no lower heading.
    """
    kept, after = [], 1  # the level of the next heading, or 9 for anything else that is shown
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
