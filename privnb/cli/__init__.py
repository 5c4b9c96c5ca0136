"""The command `privnb`; each subcommand has a module that defines the arguments and runs the subcommand."""

from privnb.cli.command import main, parser, run_and_trace

__all__ = ["main", "parser", "run_and_trace"]
