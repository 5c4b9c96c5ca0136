"""Show one setting of a table live, as a page without code."""

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
    """Show the explorer: on this machine only, its token on, nothing asked of the network."""
    from privnb.explorer.app import check_setting
    from privnb.reporting.notebooks import choose, own_notebooks

    serving.begin()
    hub = serving.settings(args)
    folder = own_notebooks()
    with tables.for_notebooks(args, folder) as dataset:
        parameters = dict(args.parameter) | ({"DATASET": dataset} if dataset else {})
        (notebook,) = choose(folder, ["09_explore"], parameters)
        check_setting(notebook)
        serving.serve(serving.Page(notebook.path, notebook.asked), args.rest, **hub)
    return Answer()
