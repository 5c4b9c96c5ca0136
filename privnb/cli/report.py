"""Run the notebooks and make a report of them."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privnb.cli.arguments import Parser, add_parameters, name_list
from privnb.cli.own_notebooks import named_dataset
from privnb.runtime.names import names_in

if TYPE_CHECKING:
    from privnb.reporting.notebooks import Notebook


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.more = _offer
    command.value(
        "--notebook", "NAME", "only these; the beginning of a name will do, such as 04",
        nargs="+", action="extend", type=name_list,
    )  # fmt: skip
    add_parameters(command)
    command.value("--out", "DIR", "where the report goes (reports/<dataset>, or reports/<dataset>-<profile>)")
    command.value("--jobs", "N", "notebooks run at a time (one per core)", type=int)
    command.flag("--pdf", "print it to report.pdf too, with Chromium or Chrome")


def run(args: Namespace) -> None:
    """Run the notebooks; say where the report is, how long it took, and what is not in it."""
    from privnb.reporting import LIBRARIES, printing
    from privnb.reporting.notebooks import choose, notebooks_folder
    from privnb.runtime.processes import begin_to_serve
    from privnb.runtime.progress import taken

    begun = time.monotonic()
    if args.pdf:
        printing.browser()  # refused before anything runs

    parameters = dict(args.parameter)
    named = args.notebook and (names_in(",".join(args.notebook)) or args.notebook)  # also "2, 4"
    folder = notebooks_folder()
    if args.dataset:
        parameters["DATASET"] = named_dataset(args.dataset, folder)
    chosen = choose(folder, named, parameters)
    begin_to_serve(*LIBRARIES)
    from privnb.papers.ledger_page import Ledger
    from privnb.reporting.report import build, left_out  # a second, in which the server does the same

    out = args.out or _default(folder, chosen, named)
    index = build(out, named, parameters, jobs=args.jobs, compare=Ledger.of)
    print(index.resolve().as_uri())  # which a terminal opens at a click
    if args.pdf:
        print(printing.pdf(index.parent).as_uri())
    print(" ".join([f"Made in {taken(time.monotonic() - begun)}.", *left_out(index)]), file=sys.stderr)


def _offer() -> str:
    """Return what a report can be asked for, of the notebooks that are here."""
    from privnb.reporting.notebooks import choose, notebooks_folder, offered

    return "\n" + offered(choose(notebooks_folder()))


def _default(folder: Path, chosen: Sequence[Notebook], named: Sequence[str] | None) -> Path:
    """Return `reports/<dataset>`; a report of another profile, or of some notebooks, goes next to it."""
    from privnb.reporting.notebooks import reports_folder

    dataset = next((n.values["DATASET"] for n in chosen if "DATASET" in n.values), "notebooks")
    asked = {n.asked["PROFILE"]: n.parameters["PROFILE"].default for n in chosen if "PROFILE" in n.asked}
    profile = [str(name) for name, default in asked.items() if name != default]
    name = "-".join([Path(dataset).stem, *profile, *(n.name for n in chosen if named)])
    return reports_folder(folder) / name
