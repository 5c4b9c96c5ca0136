"""The HTML pages of a report, which are made from executed notebooks and a ledger.

The pages need no network access. A page with charts also loads the script `charts.js`, which lies next to it; without
this file, or without JavaScript, the charts are still drawings. The index states the decision. The page of each
notebook first shows the answer and its chart, and then how the answer was computed. Outputs of privnb are read from
their data in the notebook, never from their HTML.

The tag of a cell determines how the cell is shown. `answer`: the first paragraph is the notebook's answer. `key`: the
first chart is shown next to the answer. `interactive`: the cell is left out, together with a heading right before it.
All other cells are shown with folded code. The metadata of a notebook state the `group` of the index to which the
notebook belongs.
"""

import contextlib
import datetime
import platform
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from nbformat import NotebookNode

from privnb.datasets import description
from privnb.datasets.dataset import load_schema
from privnb.datasets.description import describe_unconfirmed
from privnb.decision.card import Card
from privnb.reporting import glossary, release_card, rendering, result_rows
from privnb.reporting.cells import (
    drop_empty_sections,
    fold_cells,
    label_cells,
    lift_answer,
    lift_chart,
    select_shown,
    split_title,
)
from privnb.reporting.charts import V5
from privnb.reporting.notebooks import FILES, Notebook
from privnb.runtime import names
from privnb.runtime.sentences import MIME
from privnb.runtime.wording import line, wording

LIBRARIES = (
    "privnb", "numpy", "pandas", "scikit-learn", "scipy", "numba", "opendp", "altair", "vl-convert-python", "papermill",
)  # fmt: skip
GROUPS = {"decide": "Decide", "understand": "Understand", "papers": "Papers"}
DECISION, CARD = "decision/decision", "decision/card"  # the templates of answers that the index shows


def make(
    chosen: Sequence[Notebook],
    executed: Mapping[str, str],
    ledger: Any = None,
    results: Mapping[str, pd.DataFrame] | None = None,
) -> dict[str, str]:
    """Return the pages of a report, and the script of live charts, as `{file name: text}`.

    The pages are `index.html`, `about.html`, `glossary.html`, a page for each notebook, and a page for each notebook's
    rows of `results.csv`. There is also `card.html` if a page shows a release card, and `ledger.html` if a printed
    number was measured.

    Parameters
    ----------
    chosen : list of notebooks.Notebook
    executed : dict of str to str
        The executed notebooks as JSON text, by name.
    ledger : papers.ledger_page.Ledger
        The printed numbers of the papers next to the measured numbers; None for a report on another table.
    results : dict of str to DataFrame, optional
        The results that each notebook has saved, by the name of the notebook. The numbers on the page of a notebook
        link to these results.

    Returns
    -------
    dict of str to str
    """
    printed = ledger.by_notebook if ledger else {}
    releases = {name: result_rows.list_releases(table) for name, table in (results or {}).items()}
    pages = [
        _page(notebook, select_shown(nbformat.reads(executed[notebook.name], 4)), printed.get(notebook.name, []))
        | _rows(releases.get(notebook.name, []))
        for notebook in chosen
    ]
    tips = glossary.Tips()
    compared = ledger is not None and ledger.is_measured
    decided, carded = (next((page for page in pages if page["template"] == each), None) for each in (DECISION, CARD))
    written = [*(page["name"] for page in pages), "index", "about", "glossary", *["ledger"] * compared]
    written += ["card"] * bool(carded)
    templates = rendering.templates(tips.tip, {f"{name}.html" for name in written})
    templates.tests["contains"] = lambda names, name: name in names
    parameters = _parameters(chosen)
    changed = [row for row in parameters if row["value"] != row["default"] and row["name"] != "DATASET"]
    asked = list(dict.fromkeys(shlex.quote(f"{row['name']}={row['value']}") for row in changed))  # each once
    dataset, date = _dataset(chosen), datetime.date.today().isoformat()
    templates.globals["claim"] = line("microdata/declared", "invented", date) if dataset.get("invented") else ""
    about = {
        "dataset": dataset,
        "roles": _roles(chosen, results or {}),
        "parameters": parameters,
        "asked": asked,
        "pages": pages,
        "ledger": compared,
    }

    def rendered(name: str, **values: Any) -> str:
        tips.start_page()
        return names.escape_invisible(templates.get_template(f"{name}.html.j2").render(values))

    files = {
        f"{this['name']}.html": rendered("page", this=this, before=before, after=after, ledger=compared, carded=carded)
        for before, this, after in zip([None, *pages], pages, [*pages[1:], None], strict=False)
    }
    files |= {f"{this['name']}.rows.html": rendered("rows", this=this) for this in pages if this["releases"]}
    versions = [("Python", platform.python_version()), *((name, metadata.version(name)) for name in LIBRARIES)]
    files["about.html"] = rendered("about", **about, versions=versions)
    terms = sorted(glossary.terms(), key=lambda term: term.name.lower())
    methods = glossary.methods()
    files["glossary.html"] = rendered("glossary", terms=terms, methods=methods)
    groups = {heading: [page for page in pages if page["group"] == key] for key, heading in GROUPS.items()}
    files["index.html"] = rendered(
        "index",
        **about,
        date=date,
        groups=groups,
        d=decided and decided["answer"]["data"],
        decided=decided,
        undecided=next((page for page in pages if page["decides"] and page is not decided), None),
        card=carded and carded["answer"]["data"],
        carded=carded,
        methods={name for rows in methods.values() for name, _ in rows},
    )
    if carded:
        files["card.html"] = release_card.page(Card(carded["answer"]["data"]), carded["name"], carded["anchors"])
    if compared:
        files["ledger.html"] = ledger.page(templates)
    if any(page["is_live"] for page in pages):
        files[rendering.SCRIPT] = rendering.vega_script()
    return files


def _page(notebook: Notebook, cells: list[NotebookNode], printed: Any) -> dict[str, Any]:
    """Return a page as data: the answer, its chart, the cells below, and the numbers of papers that it measured."""
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    question, cells = split_title(cells)
    chart = lift_chart(cells, "key")
    answer = lift_answer(cells) or {}
    return {
        "name": notebook.name,
        "group": notebook.says("group", "understand"),
        "decides": notebook.says("decides", False),
        "question": question or notebook.name,
        "answer": answer,
        "template": answer.get("template", ""),
        "short": _short(answer),
        "chart": chart,
        "cells": label_cells(fold_cells(drop_empty_sections(cells)), question or notebook.name),
        "printed": printed,
        "is_live": any(V5 in each for each in outputs),
        "has_folded": any("folded" in each.get(MIME, {}) for each in outputs),
    }


def _rows(releases: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows of results of a page, and the anchors to which the numbers on the page link."""
    return {"releases": releases, "anchors": result_rows.anchors(releases)}


def _short(answer: Mapping[str, Any]) -> str:
    """Return an answer as one sentence for the index; empty if the template has no such sentence."""
    if "template" not in answer or not wording().has(answer["template"], "short"):
        return ""
    return line(answer["template"], "short", answer["data"])


def _dataset(chosen: Sequence[Notebook]) -> dict[str, Any]:
    """Return the facts that the description states about the dataset; without a description, only the name."""
    notebook = next((each for each in chosen if each.values.get("DATASET")), None)
    if notebook is None:
        return {"name": ""}
    named = {"name": Path(str(notebook.values["DATASET"])).stem}
    with contextlib.suppress(OSError, KeyError):
        if notebook.described:
            text = notebook.described.read_text(encoding="utf-8")
            stated = tomllib.loads(text)
            files = [entry for entry in stated.get("files", []) if "sha256" in entry]
            return named | stated["dataset"] | {"files": files, "unconfirmed": describe_unconfirmed(text)}
    return named


def _roles(chosen: Sequence[Notebook], results: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the roles in each study of the description that has results, and the notebooks about the study."""
    found: dict[str, dict[str, Any]] = {}
    for notebook in (each for each in chosen if each.name in results and each.described):
        path, about = notebook.described, results[notebook.name].dataset.unique()
        assert path is not None
        for study in description.read_description(path).get("studies", [None]):
            name = f"{path.stem}/{study}" if study else path.stem
            # The name of a sample continues with the number of its records.
            if any(each == name or each.startswith(f"{name} (") for each in about):
                schema = load_schema(path, study)
                names = {"quasi_identifiers": [*schema.quasi_identifiers], "sensitive": [*schema.sensitive]}
                row = {"name": study or path.stem, **names, "notebooks": [], "decides": False}
                found.setdefault(name, row)["notebooks"].append(notebook.name)
                found[name]["decides"] |= notebook.says("decides", False)
    return [*found.values()]


def _parameters(chosen: Sequence[Notebook]) -> list[dict[str, Any]]:
    """Return one row per parameter and value: name, value, default, meaning, and the notebooks that ran with it."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for notebook in chosen:
        for name, value in notebook.values.items():
            parameter = vars(notebook.parameters[name])
            value = Path(value).name if name in FILES else value
            value = Path(value).stem if str(value).endswith(".toml") else value
            row = {"name": name, "value": value, **parameter, "notebooks": []}
            rows.setdefault((name, str(value), str(row["default"])), row)["notebooks"].append(notebook.name)
    return sorted(rows.values(), key=lambda row: row["name"])
