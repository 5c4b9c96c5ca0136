"""How arguments are read: what several subcommands share, and one sentence for each refusal."""

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

from privnb.runtime.names import meant, names_in


class Parser(argparse.ArgumentParser):
    """Refuses in one sentence, which says what may have been meant."""

    more: Callable[[], str] = staticmethod(str)  # what follows its help

    def value(self, name: str, metavar: str, text: str, **how: Any) -> None:
        """Add an argument with a value, which is refused if it is empty, unless it has a `type` of its own."""
        if how.get("action", "store") in ("store", "append", "extend"):
            how = {"type": filled} | how
        self.add_argument(name, metavar=metavar, help=text, **how)

    def flag(self, name: str, text: str) -> None:
        """Add an argument without a value."""
        self.add_argument(name, action="store_true", help=text)

    def format_help(self) -> str:
        return super().format_help() + self.more()

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = meant([wrong[1]], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        self.exit(2, f"{self.prog}: {message}.{near} `{self.prog} --help` says more.\n")


def filled(text: str) -> str:
    """Return the text of an argument. Raise ArgumentTypeError for an empty one."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty; give a value, or leave it out")
    return text


def name_list(text: str) -> str:
    """Return the text of an argument that lists names. Raise ArgumentTypeError for one that lists none."""
    if not names_in(filled(text)):
        raise argparse.ArgumentTypeError(f"must list at least one name, got {text!r}")
    return text


def add_roles(command: Parser) -> None:
    """Add the roles of columns."""
    command.value("--sensitive", "A,B", 'what nobody should learn; "" if there is nothing', type=str)
    command.value(
        "--roles", "'A: ROLE, B: ROLE'",
        "identifier, person (the key of whose rows these are), weight (for how many people a row stands), "
        "quasi-identifier, sensitive, neutral or unused; 'q*' is each column whose name begins with q",
    )  # fmt: skip
    command.value(
        "--days", "'A: dd/mm/yyyy'",
        "how its days are written, where that cannot be seen: then months and quarters are made for it anew",
    )  # fmt: skip
    command.flag("--confirm", "it is no draft any more; without a key each row is one person")


def add_encoding(command: Parser) -> None:
    """Add the encoding of text files."""
    command.value("--encoding", "NAME", "of text files that are not UTF-8, such as cp1252 or cp932 (it is proposed)")


def add_memory(command: Parser) -> None:
    """Add the memory that the work may take."""
    command.value("--memory", "SIZE", "what it may take at most (2GB)", default="2GB")


def add_release(command: Parser) -> None:
    """Add how a release is written, and the owner's reason for one that the gate refuses."""
    command.flag(
        "--spreadsheet-safe",
        "put an apostrophe before each text in the CSV file that a spreadsheet would run as a formula",
    )
    command.value(
        "--allow",
        "REASON",
        "release what the gate refuses, for this reason: output, provenance and card repeat it",
    )


def add_parameters(command: Parser) -> None:
    """Add the parameters of notebooks, and the dataset."""
    command.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), type=str,
        help="set a parameter of the notebooks, such as -p K 25",
    )  # fmt: skip
    command.value("--dataset", "NAME", "folder under data/, or a .toml file")
