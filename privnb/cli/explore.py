"""Go from a table to a signed release card on a page, in tabs, and try settings interactively."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from privnb.cli import serving, tables
from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser, add_parameters, add_roles, add_server, add_table, has_roles, parse_role_options

OPENED = "The explorer is open at {url}\nCtrl-C ends it."


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command, optional=True)
    add_roles(command)
    add_parameters(command)
    add_server(command)
    command.epilog = "Arguments after -- are passed on to Voila, which serves the page."
    command.examples(
        "explore admissions.csv", "explore people",
        'explore people -p SANITIZER="Local recoding" -p K=25 -- --no-browser',
    )  # fmt: skip


def run(args: Namespace) -> Answer:
    """Serve the explorer only on this machine, protected by a token and without network access."""
    from privnb.app.server import check_explorer_parameters
    from privnb.reporting.notebooks import choose_notebooks, find_notebooks

    serving.begin()
    hub = serving.list_options(args)
    folder = find_notebooks()
    if path := _draft(args):
        opened = f"{serving.describe_copy(path)}\n{OPENED}"
        serving.serve(serving.Page(serving.find_app(), {"FILE": "", "NAME": str(path)}, opened), args.rest, **hub)
        return Answer()
    with tables.name_for_notebooks(args, folder) as dataset:
        parameters = dict(args.parameter) | ({"DATASET": dataset} if dataset else {})
        (notebook,) = choose_notebooks(folder, ["09_explore"], parameters)
        check_explorer_parameters(notebook)
        serving.serve(serving.Page(notebook.path, notebook.asked, OPENED), args.rest, **hub)
    return Answer()


def _draft(args: Namespace) -> Path | None:
    """Return the path of the description if it is still a draft; None if the table has a confirmed description.

    The description of a new file is drafted, with the roles that the options state.
    """
    from privnb.datasets import description
    from privnb.datasets.description_editor import DescriptionEditor, find_or_draft

    if args.table is None:
        return None
    path = tables.find_table(args.table).description
    if path is not None:
        return path if description.read_description(path).get("draft") else None
    table = DescriptionEditor.open(find_or_draft(args.table))
    if has_roles(args):
        asked = parse_role_options(args, table.roles.chosen, table.renamed)
        table, _ = table.save(table.roles.having(asked), confirm=False)
    return table.path
