"""From executed notebooks, a ledger and a decision to HTML that needs nothing else: no network, no other file, and no
script but where a chart is live.

The index says the decision in one look; each notebook's page says its answer and its chart first, then how they were
found. Charts stand in the pages as the SVG drawn in the run. A cell's tag says what becomes of it: `answer` (its first
paragraph is the notebook's answer, at the top of the page), `key` (the first of their charts stands there too),
`summary` (its chart is the one of the index), `live` (its charts are drawn by Vega, which then stands in that page, so
that their controls work), `interactive` (left out, with a heading right before it), `parameters` and the others (shown,
the code folded away).
"""

import contextlib
import platform
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from privnb.datasets.description import unconfirmed
from privnb.decision import Summary
from privnb.reporting import glossary, rendering
from privnb.reporting.cells import folded, lift_answer, lift_chart, shown, titled, without_empty_sections
from privnb.reporting.findings.base import Finding
from privnb.reporting.findings.rows import capitalized
from privnb.reporting.notebooks import Notebook, tagged
from privnb.runtime import names, numerals

LIBRARIES = (
    "privnb", "numpy", "pandas", "scikit-learn", "scipy", "numba", "opendp", "altair", "vl-convert-python", "papermill",
)  # fmt: skip
LONGEST = 25  # words of an answer on the index


def make(
    chosen: Sequence[Notebook], executed: Mapping[str, str], ledger: Any = None, summary: Summary | None = None
) -> dict[str, str]:
    """`{file name: HTML}`: `index.html`, a page for each notebook, `about.html` and `glossary.html`; `ledger.html` if a
    printed number was measured.

    Parameters
    ----------
    chosen : list of notebooks.Notebook
    executed : dict of str to str
        The executed notebooks as JSON text, by name.
    ledger : papers.ledger_page.Ledger
        The printed numbers of the papers beside the measured ones; None: a report of another table.
    summary : decision.Summary
        Of all results; None where no decision was made: the index then is the list of pages alone.

    Returns
    -------
    dict of str to str
    """
    printed = ledger.by_notebook if ledger else {}
    pages = [
        _page(notebook, shown(nbformat.reads(executed[notebook.name], 4)), printed.get(notebook.name, []))
        for notebook in chosen
    ]
    templates = rendering.templates()
    compared = ledger is not None and ledger.is_measured
    parameters = _parameters(chosen)
    changed = [row for row in parameters if row["value"] != row["default"] and row["name"] != "DATASET"]
    asked = list(dict.fromkeys(f"{row['name']} = {row['value']}" for row in changed))  # in words, each once
    about = {"dataset": _dataset(chosen), "parameters": parameters, "asked": asked, "pages": pages, "ledger": compared}

    def rendered(name: str, **values: Any) -> str:
        templates.filters["explained"] = glossary.FirstUses()  # of this page
        return names.shown(templates.get_template(f"{name}.html.j2").render(values))

    files = {
        f"{this['name']}.html": rendered("page", this=this, before=before, after=after)
        for before, this, after in zip([None, *pages], pages, [*pages[1:], None], strict=False)
    }
    versions = [("Python", platform.python_version()), *((name, metadata.version(name)) for name in LIBRARIES)]
    files["about.html"] = rendered("about", **about, versions=versions)
    terms = sorted(glossary.terms(), key=lambda term: term.name.lower())
    files["glossary.html"] = rendered("glossary", terms=terms, methods=glossary.methods())
    decided = next((page for page in pages if page["decides"]), None)
    files["index.html"] = rendered(
        "index",
        **about,
        summary=summary,
        reason=f"{capitalized(summary.reason).rstrip('.')}." if summary else decided and decided["undecided"],
        lines=_lines(summary),
        decided=decided,
        carded=next((page for page in pages if page["name"].endswith("release_card")), None),
    )
    if compared:
        files["ledger.html"] = ledger.page(templates)
    return files


def _page(notebook: Notebook, cells: list[NotebookNode], printed: Any) -> dict[str, Any]:
    """What a page says first, the cells that say how it was found, and what of the papers it measured."""
    live, decides = (any(tagged(cell, tag) for cell in cells) for tag in ("live", "summary"))
    question, cells = titled(cells)
    summary = lift_chart(cells, "summary", leave=True)
    chart = lift_chart(cells, "key")
    answer = lift_answer(cells)
    return {
        "name": notebook.name,
        "question": question or notebook.name,
        "answer": answer,
        "sentence": _cut(rendering.plain(answer)),
        "chart": chart,
        "summary": summary,
        "decides": decides,
        "undecided": rendering.plain(re.sub("<strong>.*?</strong>", "", answer)),
        "cells": folded(without_empty_sections(cells)),
        "printed": printed,
        "script": rendering.vega_script() if live else "",
    }


def _lines(summary: Summary | None) -> dict[str, list[dict[str, Any]]]:
    """`{heading: rows}` of the index's table: a risk or a utility of original, release and baseline, in words."""
    if summary is None:
        return {}
    lines: dict[str, list[dict[str, Any]]] = {"Risk": [], "Utility": []}
    for line in summary.lines:
        unit = numerals.parts(line.format)[3] if line.format else ""
        format, shared = line.format.removesuffix(unit), re.sub("^of ", "share of ", unit.strip())
        numbers = [_number(format, number) for number in (line.original, line.release, line.baseline)]
        row = {"title": line.title, "unit": shared, "better": line.better, "numbers": numbers}
        lines[line.kind.capitalize()].append(row)
    return lines


def _number(format: str, number: Sequence[float] | None) -> dict[str, str] | None:
    """A number and its interval, in a format without the unit, which stands beside them once."""
    if number is None:
        return None
    value, low, high = number
    found = Finding("", value, low, high, format)
    text, _, withheld = found.number.partition(" (")
    return {"value": text, "interval": found.ends or withheld.rstrip(")")}


def _cut(text: str) -> str:
    """The first sentence of a text. If it is longer than `LONGEST`: its first clauses, or itself without what stands in
    brackets.
    """
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z\d])", text.strip())[0]
    bare = re.sub(r" \([^()]*\)", "", sentence)
    for short in (sentence, *_clauses(sentence, "; "), bare, *_clauses(sentence, "[,:] ")):
        if sum(any(letter.isalnum() for letter in word) for word in short.split()) <= LONGEST:
            return short
    return " ".join([*sentence.split()[:LONGEST], "..."])


def _clauses(sentence: str, end: str) -> list[str]:
    """The beginnings of a sentence up to an `end` that stands in no bracket, the longest first, as sentences."""
    starts = [sentence[: found.start()] for found in re.finditer(end, sentence)]
    return [f"{start}." for start in reversed(starts) if start.count("(") <= start.count(")")]


def _dataset(chosen: Sequence[Notebook]) -> dict[str, Any]:
    """What the description file says of the dataset; only its name if there is no such file."""
    notebook = next((each for each in chosen if each.values.get("DATASET")), None)
    if notebook is None:
        return {"name": ""}
    named = {"name": Path(str(notebook.values["DATASET"])).stem}
    with contextlib.suppress(OSError, KeyError):
        if notebook.described:
            text = notebook.described.read_text(encoding="utf-8")
            return named | tomllib.loads(text)["dataset"] | {"unconfirmed": unconfirmed(text)}
    return named


def _parameters(chosen: Sequence[Notebook]) -> list[dict[str, Any]]:
    """One row for each parameter and value: name, value, default, meaning, and the notebooks that ran with it."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for notebook in chosen:
        for name, value in notebook.values.items():
            parameter = vars(notebook.parameters[name])
            value = Path(value).stem if str(value).endswith(".toml") else value
            row = {"name": name, "value": value, **parameter, "notebooks": []}
            rows.setdefault((name, str(value), str(row["default"])), row)["notebooks"].append(notebook.name)
    return sorted(rows.values(), key=lambda row: row["name"])
