"""The arguments that several subcommands have in common, and a parser whose errors suggest a remedy."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from privnb.runtime.errors import UsageError
from privnb.runtime.names import parse_columns, parse_names, suggest

if TYPE_CHECKING:
    from privnb.microdata.schema import Role

TABLE = "a file, a folder of its parts, the name of a described dataset, or its .toml file"
ROLES = {  # for each option, the role of the columns that it lists, and the meaning of that role
    "sensitive": ("sensitive", "columns whose values nobody should learn about a person"),
    "quasi": ("quasi-identifier", "quasi-identifiers: columns that others may know about a person"),
    "keep": ("neutral", "columns that are published as they are"),
    "drop": ("unused", "columns that are not published"),
    "person": ("person", "the column that identifies the person or household of each row"),
}


# A word that is meant as an option: not the value "-", not a negative number or amount, and not a text with spaces.
OPTION = re.compile(r"-(?!\d|\.\d)[^\s=]+(=.*)?", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """A parser; if a word in the arguments is not valid, the error suggests the most similar valid word."""

    more: Callable[[], str] = staticmethod(str)  # returns the text that follows the help

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **({"formatter_class": _Formatter} | options | {"allow_abbrev": False}))

    def value(self, name: str, metavar: str, text: str, **how: Any) -> None:
        """Add an argument with a value; an empty value is an error unless the caller gives a `type`."""
        if how.get("action", "store") in ("store", "append", "extend"):
            how = {"type": parse_text} | how
        self.add_argument(name, metavar=metavar, help=text, **how)

    def flag(self, *names: str, text: str) -> None:
        """Add an argument without a value."""
        self.add_argument(*names, action="store_true", help=text)

    def examples(self, *lines: str) -> None:
        """Add these command lines to the end of the help as examples."""
        self.more = lambda: "\nexamples:\n" + "".join(f"  privnb {line}\n" for line in lines)

    def format_help(self) -> str:
        """Return the help, followed by the examples."""
        return super().format_help() + self.more()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse the arguments.

        Raises UsageError for an unknown option before any other error in the arguments is reported.
        """
        words = [*(sys.argv[1:] if args is None else args)]
        self._refuse_unknown(words)
        found, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        """Raise UsageError if some words are options that the command does not have.

        The error suggests the most similar option.
        """
        known = self._option_string_actions
        own = words[: words.index("--")] if "--" in words else words
        if self._subparsers is not None:  # the options after the subcommand belong to the subcommand
            own = [*itertools.takewhile(lambda word: word.startswith("-"), own)]
        options = [(word, *word.partition("=")[::2]) for word in own if OPTION.fullmatch(word)]
        unknown = [(name, value) for word, name, value in options if not {name, word[:2]} & {*known}]
        if not unknown:
            return
        names = [name for name, _ in unknown]
        cure = suggest(names, [each for each in known if each.startswith("--")])
        models = [self._requested_model(words, *each) for each in unknown if "--model" in known]
        if models and all(models):
            cure = f' Name privacy models in --model, such as --model "{", ".join(models)}".'
        if self._subparsers is not None:
            cure = " Write the options of a command after its name."
        has = "has no option" if len(names) == 1 else "has no options"
        self.error(f"`{self.prog}` {has} {', '.join(names)}", cure)

    @staticmethod
    def _requested_model(words: Sequence[str], name: str, value: str) -> str:
        """Return the privacy model that an unknown option such as `--k 11` requests; empty if it requests none."""
        from privnb.privacy_models import words as of_models

        word = name.lstrip("-").lower()
        following = words[words.index(name) + 1 :] if name in words else [value]
        if word not in of_models.keywords() or not following or not following[0]:
            return ""
        return f"{word}={following[0]}"

    def error(self, message: str, cure: str = "") -> NoReturn:
        """Raise UsageError for arguments that cannot be parsed; the remedy `cure` follows the message."""
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = suggest([wrong[1]], re.findall(r"[\w-]+", wrong[2])) if wrong else cure
        raise UsageError(f"{message}.{near} See `{self.prog} --help`.")


class _Formatter(argparse.HelpFormatter):
    """A formatter of the help that puts each option, its value and its meaning on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


def parse_text(text: str) -> str:
    """Return the text of an argument.

    Raises ArgumentTypeError for an empty text.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty; give a value, or leave out the argument")
    return text


def parse_name_list(text: str) -> str:
    """Return the text of an argument that lists names.

    Raises ArgumentTypeError if the text lists no name.
    """
    if not parse_names(parse_text(text)):
        raise argparse.ArgumentTypeError(f"must list at least one name; got {text!r}")
    return text


def parse_assignment(text: str) -> tuple[str, str]:
    """Return the name and the value of a text such as `NAME=VALUE`.

    Raises ArgumentTypeError if the name or the equals sign is missing.

    >>> parse_assignment("T=0.1, 0.2")
    ('T', '0.1, 0.2')
    """
    name, equals, value = parse_text(text).partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE such as K=25; got {text!r}")
    return name.strip(), value


def add_common(command: Parser, *, answers: bool) -> None:
    """Add the options that every subcommand has; `answers` states whether there is an answer for programs."""
    if answers:
        command.flag("--json", text="print one JSON document instead of text")
    command.flag("-q", "--quiet", text="print only the answer and errors: no progress, notes or warnings")
    command.flag("-v", "--verbose", text="log each step with its seconds")


def add_table(command: Parser, *, optional: bool = False) -> None:
    """Add the table, which is the first argument of a subcommand."""
    if optional:
        command.value("table", "TABLE", f"{TABLE} (default: adult)", nargs="?")
    else:
        command.value("table", "TABLE", TABLE)


def add_roles(command: Parser, *, may_be_none: bool = False) -> None:
    """Add the options for the roles of columns.

    `may_be_none` states whether `--sensitive ""` may mean that no column is sensitive.
    """
    for name, (_, meaning) in ROLES.items():
        kind = str if may_be_none and name == "sensitive" else parse_name_list
        none = '; "" for none' if may_be_none and name == "sensitive" else ""
        command.value(f"--{name}", "A" if name == "person" else "A,B", meaning + none, type=kind)


def parse_role_options(
    args: Namespace,
    known: Collection[str],
    renamed: Mapping[str, str] = MappingProxyType({}),
    names: Sequence[str] = tuple(ROLES),
) -> dict[str, Role]:
    """Return the roles that the options of a command give to columns, as `{column: role}`.

    Parameters
    ----------
    args : Namespace
    known : collection of str
        The columns of the table.
    renamed : dict of str to str, optional
        Further names that the options may contain, and the column that each of these names means.
    names : sequence of str
        The options to read.

    Raises
    ------
    UsageError
        For an unknown column, for a column with two roles, and for more than one person column.
    """
    from privnb.microdata.schema import Role
    from privnb.runtime.names import abbreviate_names

    found: dict[str, Role] = {}
    for name in names:
        given = getattr(args, name, None)
        for column in parse_columns(given, [*known, *renamed]) if given else ():
            column, role = renamed.get(column, column), Role(ROLES[name][0])
            if column not in known:
                raise UsageError(
                    f"--{name}: there is no column '{column}'.{suggest([column], known)} The columns are: "
                    f"{abbreviate_names(known, 20)}."
                )
            if found.setdefault(column, role) is not role:
                raise UsageError(
                    f"'{column}' must have one role; got {found[column]} and {role}. Give the column one role."
                )
    if len([role for role in found.values() if role is Role.PERSON]) > 1:
        raise UsageError(
            f"--person must name one column; got {args.person!r}. If the key has several parts, join them into one "
            "column of the file."
        )
    return found


def has_roles(args: Namespace) -> bool:
    """Return whether at least one option gives a role to a column."""
    return any(getattr(args, name, None) is not None for name in ROLES)


def add_model(command: Parser, text: str, **how: Any) -> None:
    """Add the option for the privacy models that every class must satisfy."""
    command.value("--model", "'k=10, t=0.2:A'", text, **how)


def add_study(command: Parser) -> None:
    """Add the option for the study of a description."""
    command.value("--study", "NAME", "the study whose roles apply; a description may have several studies")


def add_encoding(command: Parser) -> None:
    """Add the option for the encoding of text files."""
    command.value(
        "--encoding",
        "NAME",
        "the encoding of text files that are not UTF-8, such as cp1252 or cp932 (privnb proposes an encoding)",
    )


def add_memory(command: Parser) -> None:
    """Add the option for the memory that a command may use."""
    command.value(
        "--memory",
        "SIZE",
        "the memory that the command may use, or auto for the available memory of the machine (default: 2GB)",
        default="2GB",
    )


def add_outside(command: Parser) -> None:
    """Add the option for the treatment of values outside a described domain."""
    command.add_argument(
        "--outside", choices=["refuse", "missing", "widen"], default="refuse",
        help="values outside a domain: refuse them, treat them as missing, or widen the domain (default: refuse)",
    )  # fmt: skip


def add_release(command: Parser) -> None:
    """Add the options for writing a release, and the owner's reason for a release that the gate refuses."""
    command.flag("--force", text="replace an existing release")
    command.flag("--bounds", text="write each range of numbers as two columns, such as age_low and age_high")
    command.flag(
        "--spreadsheet-safe",
        text="put an apostrophe before each text that a spreadsheet would run as a formula (CSV only)",
    )
    command.value(
        "--allow", "REASON", "your reason for publishing a release that the gate refuses; the reason is published, too"
    )


def add_parameters(command: Parser) -> None:
    """Add the option for the parameters of notebooks."""
    command.value(
        "-p", "NAME=VALUE", "set a parameter of the notebooks, such as -p K=25; may be repeated",
        dest="parameter", action="append", default=[], type=parse_assignment,
    )  # fmt: skip


def add_server(command: Parser) -> None:
    """Add the options for serving a page behind a hub."""
    command.value(
        "--allow-host", "HOST", "also answer requests to this host name, such as that of a hub; may be repeated",
        action="append", default=[],
    )  # fmt: skip
    command.value("--base-url", "PATH", "the path under which a hub serves the page (default: /)", default="/")
