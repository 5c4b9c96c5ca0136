"""The command `privnb`: a module for each subcommand, with its arguments and what it does."""

from privnb.cli.command import main, parser, run_and_trace

__all__ = ["main", "parser", "run_and_trace"]
