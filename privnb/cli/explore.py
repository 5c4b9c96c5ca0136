"""Try settings on a table interactively, on a page that shows no code."""

from __future__ import annotations

from argparse import Namespace

from privnb.cli import serving, tables
from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser, add_parameters, add_roles, add_server, add_table


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command, optional=True)
    add_roles(command)
    add_parameters(command)
    add_server(command)
    command.epilog = "Arguments after -- are passed on to Voila, which serves the page."
    command.examples("explore people", 'explore people -p SANITIZER="Local recoding" -p K=25 -- --no-browser')


def run(args: Namespace) -> Answer:
    """Serve the explorer only on this machine, protected by a token and without network access."""
    from privnb.app.server import check_explorer_parameters
    from privnb.reporting.notebooks import choose_notebooks, find_notebooks

    serving.begin()
    hub = serving.list_options(args)
    folder = find_notebooks()
    with tables.name_for_notebooks(args, folder) as dataset:
        parameters = dict(args.parameter) | ({"DATASET": dataset} if dataset else {})
        (notebook,) = choose_notebooks(folder, ["09_explore"], parameters)
        check_explorer_parameters(notebook)
        opened = "The explorer is open at {url}\nCtrl-C ends it."
        serving.serve(serving.Page(notebook.path, notebook.asked, opened), args.rest, **hub)
    return Answer()
