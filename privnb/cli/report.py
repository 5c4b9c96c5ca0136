"""Run the notebooks on a table and make a report from them."""

from __future__ import annotations

import argparse
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser, add_parameters, add_roles, add_table, parse_name_list
from privnb.runtime.names import parse_names
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.reporting.notebooks import Notebook


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.register("action", "help_of", _Help)
    command.add_argument(
        "-h",
        "--help",
        action="help_of",
        nargs="?",
        metavar="NOTEBOOK",
        help="show this help, or the parameters of a notebook",
    )
    add_table(command, optional=True)
    command.value(
        "--notebook", "NOTEBOOK", "run only these notebooks; the beginning of a name is enough, such as 04",
        nargs="+", action="extend", type=parse_name_list,
    )  # fmt: skip
    add_parameters(command)
    command.value(
        "--out", "DIR", "the folder of the report (default: reports/<dataset>, or reports/<dataset>-<profile>)"
    )
    add_roles(command)
    command.value("--jobs", "N", "the number of notebooks that run at the same time (default: one per core)", type=int)
    command.flag("--pdf", text="also print the report to report.pdf, with Chromium or Chrome")
    command.examples("report people", "report people --notebook 04 -p K=25", "report --help 04")


class _Help(argparse.Action):
    """The option that shows the help of the command, or the parameters of one notebook."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        from privnb.cli import list as listing

        print(parser.format_help() if values is None else listing.format_parameters(values), end="")
        parser.exit()


def run(args: Namespace) -> Answer:
    """Run the notebooks, and state where the report is, how long the run took, and which pages are left out."""
    from privnb.reporting import LIBRARIES, printing
    from privnb.reporting.notebooks import choose_notebooks, notebooks_folder
    from privnb.runtime.processes import preload_server
    from privnb.runtime.progress import format_duration

    begun = time.monotonic()
    if args.pdf:
        printing.browser()  # this raises an error before anything runs

    named = args.notebook and (parse_names(",".join(args.notebook)) or args.notebook)  # the option may also be "2, 4"
    folder = notebooks_folder()
    with tables.name_for_notebooks(args, folder) as dataset:
        parameters = dict(args.parameter) | ({"DATASET": dataset} if dataset else {})
        chosen = choose_notebooks(folder, named, parameters)
        preload_server(*LIBRARIES)
        from privnb.papers.ledger_page import Ledger
        from privnb.reporting.report import (
            build,
            list_left_out,
        )  # takes a second, while the server starts

        out = args.out or _default(folder, chosen, named)
        index = build(out, named, parameters, jobs=args.jobs, compare=Ledger.of)
    pdf = printing.pdf(index.parent) if args.pdf else None
    withheld = list_left_out(index)
    time_taken = f"Made in {format_duration(time.monotonic() - begun)}."
    values = {
        "table": args.table,
        "index": index.resolve(),
        "pdf": pdf,
        "notebooks": [each.name for each in chosen],
        "results": index.resolve().with_name("results.csv"),
    }
    links = [index.resolve().as_uri(), *([pdf.as_uri()] if pdf else [])]  # a terminal opens these links at a click
    return Answer(values, links, notes=[time_taken, *(Notice(each, "left-out") for each in withheld)])


def _default(folder: Path, chosen: Sequence[Notebook], named: Sequence[str] | None) -> Path:
    """Return the default path of the report, `reports/<dataset>`.

    If the profile is not the default, or if only some notebooks run, the path has a suffix.
    """
    from privnb.reporting.notebooks import reports_folder

    dataset = next((n.values["DATASET"] for n in chosen if "DATASET" in n.values), "notebooks")
    asked = {n.asked["PROFILE"]: n.parameters["PROFILE"].default for n in chosen if "PROFILE" in n.asked}
    profile = [str(name) for name, default in asked.items() if name != default]
    name = "-".join([Path(dataset).stem, *profile, *(n.name for n in chosen if named)])
    return reports_folder(folder) / name
