"""How arguments are read: what several subcommands share, and one sentence for each refusal."""

from __future__ import annotations

import argparse
import re
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from privnb.runtime.errors import UsageError
from privnb.runtime.names import columns_in, meant, names_in

if TYPE_CHECKING:
    from privnb.microdata.schema import Role

TABLE = "a file, a folder of its parts, the name of a described dataset, or its .toml file"
ROLES = {  # the role that each option gives to the columns that it lists, and what that means
    "sensitive": ("sensitive", "columns that nobody should learn of a person"),
    "quasi": ("quasi-identifier", "quasi-identifiers: columns that others may know of a person"),
    "keep": ("neutral", "columns that are published as they are"),
    "drop": ("unused", "columns that are not published"),
    "person": ("person", "the column that identifies the person or household of each row"),
}


class Parser(argparse.ArgumentParser):
    """Refuses in one sentence, which says what may have been meant."""

    more: Callable[[], str] = staticmethod(str)  # what follows its help

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **({"formatter_class": _Formatter} | options | {"allow_abbrev": False}))

    def value(self, name: str, metavar: str, text: str, **how: Any) -> None:
        """Add an argument with a value, which is refused if it is empty, unless it has a `type` of its own."""
        if how.get("action", "store") in ("store", "append", "extend"):
            how = {"type": filled} | how
        self.add_argument(name, metavar=metavar, help=text, **how)

    def flag(self, *names: str, text: str) -> None:
        """Add an argument without a value."""
        self.add_argument(*names, action="store_true", help=text)

    def examples(self, *lines: str) -> None:
        """Show these command lines below the help."""
        self.more = lambda: "\nexamples:\n" + "".join(f"  privnb {line}\n" for line in lines)

    def format_help(self) -> str:
        return super().format_help() + self.more()

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = meant([wrong[1]], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        raise UsageError(f"{message}.{near} See `{self.prog} --help`.")


class _Formatter(argparse.HelpFormatter):
    """Keeps a help short: an option with its value is on the line of its meaning."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


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


def assignment(text: str) -> tuple[str, str]:
    """Return name and value of `NAME=VALUE`. Raise ArgumentTypeError for a text without name or equals sign.

    >>> assignment("T=0.1, 0.2")
    ('T', '0.1, 0.2')
    """
    name, equals, value = filled(text).partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE such as K=25, got {text!r}")
    return name.strip(), value


def add_common(command: Parser, *, answers: bool) -> None:
    """Add what every subcommand has; `answers`: whether it has an answer for programs."""
    if answers:
        command.flag("--json", text="print one JSON document instead of text")
    command.flag("-q", "--quiet", text="print only the answer and errors: no progress, notes or warnings")
    command.flag("-v", "--verbose", text="log each step with its seconds")


def add_table(command: Parser, *, optional: bool = False) -> None:
    """Add the table that a subcommand is about, its first argument."""
    if optional:
        command.value("table", "TABLE", f"{TABLE} (adult)", nargs="?")
    else:
        command.value("table", "TABLE", TABLE)


def add_roles(command: Parser, *, may_be_none: bool = False) -> None:
    """Add the roles of columns. `may_be_none`: whether `--sensitive ""` says that no column is sensitive."""
    for name, (_, meaning) in ROLES.items():
        kind = str if may_be_none and name == "sensitive" else name_list
        none = '; "" for none' if may_be_none and name == "sensitive" else ""
        command.value(f"--{name}", "A" if name == "person" else "A,B", meaning + none, type=kind)


def asked_roles(
    args: Namespace,
    known: Collection[str],
    renamed: Mapping[str, str] = MappingProxyType({}),
    names: Sequence[str] = tuple(ROLES),
) -> dict[str, Role]:
    """Return the roles that the options of a command give to columns.

    Parameters
    ----------
    args : Namespace
    known : collection of str
        The columns of the table.
    renamed : dict of str to str, optional
        Those names by others that may be used, too.
    names : sequence of str
        The options that are read.

    Raises
    ------
    UsageError
        For a column that is not there or has two roles, and for two keys of people.
    """
    from privnb.microdata.schema import Role
    from privnb.runtime.names import some_of

    found: dict[str, Role] = {}
    for name in names:
        given = getattr(args, name, None)
        for column in columns_in(given, [*known, *renamed]) if given else ():
            column, role = renamed.get(column, column), Role(ROLES[name][0])
            if column not in known:
                raise UsageError(
                    f"--{name}: there is no column '{column}'.{meant([column], known)} There are: {some_of(known, 20)}."
                )
            if found.setdefault(column, role) is not role:
                raise UsageError(f"'{column}' must have one role; got {found[column]} and {role}. Give it one of them.")
    if len([role for role in found.values() if role is Role.PERSON]) > 1:
        raise UsageError(f"--person must name one column; got {args.person!r}. Join the parts of a key in the file.")
    return found


def has_roles(args: Namespace) -> bool:
    """Return whether an option gives a role to a column."""
    return any(getattr(args, name, None) is not None for name in ROLES)


def add_model(command: Parser, text: str, **how: Any) -> None:
    """Add the models that every class keeps."""
    command.value("--model", "'k=10, t=0.2:A'", text, **how)


def add_study(command: Parser) -> None:
    """Add the study of a description."""
    command.value("--study", "NAME", "the study of the description whose roles apply")


def add_encoding(command: Parser) -> None:
    """Add the encoding of text files."""
    command.value(
        "--encoding",
        "NAME",
        "the encoding of text files that are not UTF-8, such as cp1252 or cp932 (privnb proposes one)",
    )


def add_memory(command: Parser) -> None:
    """Add the memory that the work may take."""
    command.value(
        "--memory",
        "SIZE",
        "the memory that the work may take (2GB), or auto for what the machine has left",
        default="2GB",
    )


def add_outside(command: Parser) -> None:
    """Add how values outside a described domain are taken."""
    command.add_argument(
        "--outside", choices=["refuse", "missing", "widen"], default="refuse",
        help="refuse values outside a described domain, take them as missing, or widen the domain (refuse)",
    )  # fmt: skip


def add_release(command: Parser) -> None:
    """Add how a release is written, and the owner's reason for one that the gate refuses."""
    command.flag("--force", text="replace an existing release")
    command.flag("--bounds", text="write labels of numbers as two columns of numbers, such as age_low and age_high")
    command.flag("--spreadsheet-safe", text="put an apostrophe before each text that a spreadsheet would run (CSV)")
    command.value("--allow", "REASON", "the reason to release what the gate refuses; it is published")


def add_parameters(command: Parser) -> None:
    """Add the parameters of notebooks."""
    command.value(
        "-p", "NAME=VALUE", "set a parameter of the notebooks, such as -p K=25; repeat it for several",
        dest="parameter", action="append", default=[], type=assignment,
    )  # fmt: skip


def add_server(command: Parser) -> None:
    """Add how a page is served."""
    command.value(
        "--allow-host", "HOST", "also answer requests to this host name, such as a hub's; repeat it for several",
        action="append", default=[],
    )  # fmt: skip
    command.value("--base-url", "PATH", "the path below which a hub serves the page (/)", default="/")
