"""The command `privnb`: a module for each subcommand, with its arguments and what it does."""

from privnb.cli.command import main, parser

__all__ = ["main", "parser"]
