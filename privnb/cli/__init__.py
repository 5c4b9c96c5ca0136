"""The command `privnb`: one module for each subcommand, with its arguments and its work."""

from privnb.cli.command import main, parser, run_and_trace

__all__ = ["main", "parser", "run_and_trace"]
