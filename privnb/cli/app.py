"""Show the explorer as a page, without code."""

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from privnb.cli.arguments import Parser, add_parameters, filled
from privnb.cli.own_notebooks import named_dataset, own_notebooks


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_parameters(command)
    command.value("--new", "FILE", "a table of your own instead: say by menu what its columns are")
    command.value("--name", "NAME", "with --new: its folder under data/ (the file's name)")
    command.value("--describe", "NAME", "the same page of a table that is described already")
    command.value(
        "--allow-host", "HOST", "also answer requests that address this name, such as a hub's; may be repeated",
        action="append", default=[],
    )  # fmt: skip
    command.value("--base-url", "PATH", "the path below which a hub serves the page (/)", default="/")
    command.add_argument("rest", nargs="*", type=filled, metavar="-- ARGUMENT", help="passed on to Voila")


def run(args: Namespace) -> None:
    """Show the explorer, or the columns of a table, as a page: on this machine only, its token on, nothing asked of the
    network.
    """
    from privnb.explorer import LIBRARIES
    from privnb.runtime.processes import begin_to_serve

    begin_to_serve(*LIBRARIES)
    from traitlets.config import Config  # seconds, in which the server does the same

    from privnb.explorer.app import checked_host, checked_prefix, served
    from privnb.runtime import unfinished

    base_url, hosts = checked_prefix(args.base_url), [*map(checked_host, args.allow_host)]
    path, asked = _columns(args) if args.new or args.describe or args.name else _explorer(args)
    templates = Path(__file__).parents[1] / "reporting" / "templates" / "app"
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(templates), os.environ.get("JUPYTER_PATH")]))
    with unfinished.folder() as folder:  # that of a page which was killed goes with the next one
        page, settings = served(asked, folder, base_url=base_url, hosts=hosts)
        page.launch_instance([str(path), *args.rest], config=Config(settings))


def _explorer(args: Namespace) -> tuple[Path, Mapping[str, object]]:
    """Return the notebook of the explorer, and what is asked of it."""
    from privnb.explorer.app import check_setting
    from privnb.reporting.notebooks import choose

    parameters, folder = dict(args.parameter), own_notebooks()
    if args.dataset:
        parameters["DATASET"] = named_dataset(args.dataset, folder)
    (notebook,) = choose(folder, ["09_explore"], parameters)
    check_setting(notebook)
    return notebook.path, notebook.asked


def _columns(args: Namespace) -> tuple[Path, Mapping[str, object]]:
    """Return the notebook of a table's columns, and which table; refused here if it cannot be opened there."""
    from privnb.datasets.own_table import OwnTable, described
    from privnb.reporting.notebooks import ReportError

    if bool(args.new) == bool(args.describe) or (args.name and not args.new) or args.dataset or args.parameter:
        raise ReportError(
            "what a table's columns are is a page of its own: --new FILE, if need be with --name NAME, or --describe "
            "NAME. Leave out the rest; --dataset and -p are the explorer's."
        )
    path = own_notebooks() / "your_table.ipynb"
    if not path.is_file():
        raise ReportError(f"{path.parent} lacks {path.name}. Copy it there, or work in another folder.")
    table = OwnTable.open(str(described(args.new or "", args.describe or args.name or "")))
    return path, {"FILE": "", "NAME": str(table.path)}
