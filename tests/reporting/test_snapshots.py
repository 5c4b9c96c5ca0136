"""The text of each page and of each help text, as snapshots that are reviewed as prose.

The numbers on the pages are fixed, because `snapshots/findings.json` has the data of invented findings. A change of a
template, a notebook or a help text therefore changes a snapshot, and a change of a computation does not.
"""

import argparse
import datetime
import difflib
import json
import os
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from support import accessible
from support.explained import nothing_kept
from support.plain_text import sentences, text_of
from support.results_frame import frame

from privnb import papers
from privnb.cli.command import COMMANDS, parser
from privnb.decision.card import Card
from privnb.papers import ledger, twelve
from privnb.papers.ledger_page import Ledger
from privnb.reporting import pages, release_card
from privnb.reporting.notebooks import choose_notebooks
from privnb.runtime.sentences import say
from privnb.runtime.wording import Worded, write

SNAPSHOTS = Path(__file__).parent / "snapshots"
FINDINGS = json.loads((SNAPSHOTS / "findings.json").read_text(encoding="utf-8"))
NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"
OTHERS = ["index", "about", "ledger", "01_load.rows", "card", "card_to_sign", "nothing_kept", "notes", "charts"]
PAGES = [*sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb")), *OTHERS]
HELPS = ["privnb", *COMMANDS]
HOW = "Read the new text aloud. If it reads well: RENEW=1 .venv/bin/python -m pytest tests/reporting/test_snapshots.py"
NOTES = [
    ("reporting/run_notes", "sample", 3000, 45222),
    ("reporting/run_notes", "bands", "income", "4 bands from 0 to 100"),
    ("reporting/run_notes", "default_k", ["50", "100"], 40, "people"),
    ("reporting/run_notes", "several_records", "visits", "patient"),
    ("reporting/run_notes", "missing_numbers", ["age", "weight"]),
    ("reporting/run_notes", "no_number", "coins"),
    ("reporting/run_notes", "few_conditions", 1200, 2),
    ("reporting/run_notes", "silent", "The table has no quasi-identifier."),
    ("reporting/run_notes", "failed", "stopped because the memory was used up"),
    ("evaluation/notes", "weka_ran", "3.6.14"),
    ("evaluation/notes", "weka_lacks", "Java is not installed."),
    ("evaluation/notes", "weka_unused", "3.6.14"),
    ("evaluation/notes", "target", "age", True, True, "illness"),
    ("evaluation/notes", "refusals", 20, []),
    ("evaluation/notes", "refusals", 20, [{"settings": ["Anatomy, l = 9"], "why": "the table has 5 values."}]),
    ("evaluation/verdict", "reason", {"good": "naive Bayes"}, {"good": ["80%", "90%"]}),
]  # fmt: skip
HIT = {"setting": "Mondrian, k = 10", "value": 0.31, "group": "age: 70-79"}
HIT |= {"other": {"group": "age: 30-39", "value": 0.12, "high": 0.12}}
MOST = {"names": ["age", "ward"], "measure": "identity_vulnerability", "target": "", "value": 0.31}
MOST |= {
    "format": "{:%} of people",
    "every": {"names": ["age", "sex", "ward"], "value": 0.5, "format": "{:%} of people"},
}
MOST |= {"releases": [{"setting": "Mondrian, k = 10", "at_most": 0.1}]}
ENDS = [
    {"setting": "Mondrian, k = 50", "share": "2%", "baseline": 0.001},
    {"setting": "PRAM", "share": "11%", "baseline": 0.001},
]
LINES = {"name": "utility loss", "at": "0.1"} | {
    end: {"series": series, "value": value, "privacy": "0.1"}
    for end, series, value in (
        ("least", "t-closeness, generalized", "0.02"),
        ("most", "k-anonymity, generalized", "0.03"),
    )
}
AXES = {"certain": {"least": "0.488", "most": "0.692"}, "trivial": ["0.042"], "only_buckets": False}
AXES |= {"queries": ["sel", "qd"], "models": ["t-closeness"]}
AXES |= {"has_intervals": True, "draws": 10}
CHARTS = [
    ("reporting/charts", "hit", HIT),
    ("reporting/charts", "hit_groups", HIT),
    ("papers/charts_channel", "known_attributes_title", MOST),
    ("papers/charts_channel", "known_attributes", MOST, 0.001, True, "identity"),
    ("papers/charts_channel", "leaks_title", "11%"),
    ("papers/charts_channel", "leaks", *ENDS, True),
    ("papers/charts_tradeoff", "trade_off_title", LINES),
    ("papers/charts_tradeoff", "trade_off_short", LINES),
    ("papers/charts_tradeoff", "trade_off", LINES, AXES),
    ("papers/charts_tradeoff", "two_critiques_title", {"ahead": 3, "releases": 20}),
    ("papers/charts_tradeoff", "two_critiques", {"avoided": 0.6}),
    ("papers/charts_twelve", "cuts_title"),
    ("papers/charts_twelve", "cuts"),
    ("papers/charts_twelve", "lattice_title", "any age, houses in tens", "62%"),
    ("papers/charts_twelve", "lattice"),
    ("papers/charts_workload", "compared_title", {"more": 5, "comparisons": 30}),
    ("papers/charts_workload", "compared", {"less": 2}, True, "95% intervals"),
    ("papers/charts_workload", "not_measured"),
]


def compare(name, text):
    """Assert that a snapshot is this text; write it if the environment has RENEW."""
    path, new = SNAPSHOTS / f"{name}.txt", text.splitlines()
    if os.environ.get("RENEW"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    old = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    differences = difflib.unified_diff(old, new, f"{name}.txt", "now", lineterm="")
    assert old == new, "\n".join(["", *differences, "", HOW])


# --- pages ---


@pytest.fixture(scope="module")
def made():
    """The pages of a report, and the card of its release, by file name."""
    chosen = choose_notebooks(NOTEBOOKS)
    executed = {notebook.name: nbformat.writes(executed_copy(notebook)) for notebook in chosen}
    unique = frame([("Identity", "", "unique", "", "age, sex", 0.05, 0.04, 0.06, 0)], dataset="adult/sramka")
    rows = ledger.compare_with_published(papers.measure_hypertension()).groupby("status", sort=False).head(3)
    (card,) = FINDINGS["15_release_card"].values()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "datetime", SimpleNamespace(date=SimpleNamespace(today=lambda: datetime.date(2026, 1, 2))))
        patch.setattr(pages.platform, "python_version", lambda: "3")
        patch.setattr(metadata, "version", lambda _: "1")
        html = pages.make(chosen, executed, Ledger(rows), {"01_load": unique})
        html["card_to_sign"] = release_card.page(Card(card["data"]))
    return html


@pytest.fixture(scope="module")
def texts(made):
    """The texts of the pages of a report, of the card of its release, and of the notes on a run, by name."""
    html = {name: page for name, page in made.items() if name != "charts.js"}
    html["nothing_kept"] = Worded("decision/decision", nothing_kept())._repr_html_()
    for name, written in (("notes", NOTES), ("charts", CHARTS)):
        html[name] = "".join(say(*write(*each))._repr_html_() for each in written)
    return {name.removesuffix(".html"): text_of(page) for name, page in html.items()}


def executed_copy(notebook):
    """Return a notebook whose cells show findings of fixed data. The cells on the twelve people run."""
    copy, given = notebook.read(), FINDINGS.get(notebook.name, {})
    for cell in copy.cells:
        if cell.cell_type == "code":
            code, cell.source = cell.source, ""
            shown = Worded(**given[cell.id]) if cell.id in given else None
            if code.startswith("twelve."):
                shown = eval(code, {"twelve": twelve})
            if shown is not None:
                cell.outputs = [nbformat.v4.new_output("display_data", data=shown._repr_mimebundle_())]
    return copy


def test_each_finding_is_that_of_a_cell():
    cells = {path.stem: {cell.id for cell in nbformat.read(path, 4).cells} for path in NOTEBOOKS.glob("[0-9]*.ipynb")}
    assert {(name, cell) for name, found in FINDINGS.items() for cell in found if cell not in cells[name]} == set()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_as_reviewed(name, texts):
    compare(f"pages/{name}", texts[name])


def test_each_page_is_accessible(made):
    """Readers with a keyboard or a screen reader find names, headings and numbers."""
    pages = {name: page for name, page in made.items() if name != "charts.js"}
    assert [fault for name, page in pages.items() for fault in accessible.faults(page, name)] == []


# --- help ---


@pytest.mark.parametrize("name", HELPS)
def test_a_help_text_reads_as_reviewed(name):
    compare(f"help/{name}", help_text(name))


def help_text(name):
    """Return the sentences of a help text, without the layout of argparse, which differs between versions of Python."""
    command = parser()
    (commands,) = (each for each in command._actions if isinstance(each, argparse._SubParsersAction))
    about = {each.dest: each.help for each in commands._choices_actions} if name == "privnb" else {}
    command = command if name == "privnb" else commands.choices[name]
    lines = [command.prog, "", *sentences(command.description), ""]
    for action in command._actions:
        if action.help and not isinstance(action, argparse._HelpAction):
            value = f" {action.metavar or ''}".rstrip()
            lines += [(", ".join(action.option_strings) + value).strip(), f"    {action.help % vars(action)}"]
    lines += [line for command, text in about.items() for line in (command, f"    {text}")]
    below = [text.strip("\n") for text in (command.epilog or "", command.more())]
    return "\n".join([*lines, *(f"\n{text}" for text in below if text)])


def test_each_text_has_one_snapshot():
    names = {f"pages/{name}.txt" for name in PAGES} | {f"help/{name}.txt" for name in HELPS}
    assert {path.relative_to(SNAPSHOTS).as_posix() for path in SNAPSHOTS.rglob("*.txt")} == names
