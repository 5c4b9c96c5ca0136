"""One run of the command, which parses the arguments, runs a subcommand, and prints the answer."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import sys
import time
import traceback
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib import import_module, metadata
from typing import Any

from privnb.cli import answer, old_forms
from privnb.cli.answer import Answer, Error
from privnb.cli.arguments import Parser, add_common
from privnb.cli.colors import print_line
from privnb.runtime import progress
from privnb.runtime.entry_points import EntryPointWarning
from privnb.runtime.errors import InputError, PrivnbError, ResourceError
from privnb.runtime.names import EscapingStream
from privnb.runtime.notices import Notice
from privnb.runtime.processes import describe_memory_limit, fit_to_limit, is_out_of_memory
from privnb.runtime.stopping import stop_on_signals

# The subcommands in the order in which people use them: modules of this subpackage.
COMMANDS = (
    "describe", "check", "explore", "decide", "sanitize", "assess", "compare", "run", "report", "lab", "list", "audit",
    "completion",
)  # fmt: skip
SILENT = ("explore", "lab", "completion")  # these subcommands have no answer for programs
WRONG_PATH = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG)
FAULT = 70  # the exit status of a fault in the package

HELP = """
examples:
  privnb describe people.csv                        draft the description of a table
  privnb check people                               count how many people are indistinguishable
  privnb explore people                             try settings live in a browser
  privnb decide people --policy ontario-2025        choose a release by a policy
  privnb sanitize people --model "k=10" --out release.csv
                                                    write a release that satisfies a privacy model
  privnb assess theirs.csv --dataset people         assess a release that another tool made
  privnb compare old.csv new.csv --dataset people   compare two releases of the same people
  privnb report people                              make a report on risks and utility

exit status: 0 done, 1 a condition is not met, 2 wrong arguments, 3 refused for privacy, 4 unusable input,
             5 the machine lacks memory, disk space or a program, 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand, and return the exit status.

    The status is 0 if the subcommand has completed its task, 1 if a condition is not met, 2 for a wrong argument, 3 if
    nothing is released for reasons of privacy, 4 for an input that cannot be used, 5 if the machine does not have
    enough memory or disk space or does not have a program, 70 for a fault in the package, 130 if the user stopped the
    command, 143 for SIGTERM, and 129 for SIGHUP (a closed terminal).
    """
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    with contextlib.redirect_stdout(EscapingStream(sys.stdout)), contextlib.redirect_stderr(EscapingStream(sys.stderr)):
        return _Run(words).status()


class _Run:
    """One run of the command, with the answer that it prints."""

    def __init__(self, words: list[str]) -> None:
        self.began = time.monotonic()
        self.words, old = old_forms.rewrite(words)
        own = self.words[: self.words.index("--")] if "--" in self.words else self.words
        self.command = own[0] if own and own[0] in COMMANDS else None
        self.is_json = "--json" in own
        self.is_quiet = bool({"-q", "--quiet"} & {*own})
        self.notices = [Notice(old, "old-form")] if old else []

    def status(self) -> int:
        """Run the subcommand, print the answer, and return the exit status."""
        try:
            with stop_on_signals():
                return self._run()
        except Exception as error:
            return self._refused(error)
        except KeyboardInterrupt as stop:
            status = 128 + (stop.args[0] if stop.args else signal.SIGINT)
            with contextlib.suppress(OSError):  # the terminal no longer exists
                self._say(Error(int(status), answer.INTERRUPTED, "stopped."))
            return int(status)

    def _run(self) -> int:
        if not self.is_json and not self.is_quiet:
            self._warn(self.notices)
        command = parser()
        words, passed = _apart(self.words)
        args = command.parse_args(words)
        args.rest = passed
        args.call = _call(words, args)
        if args.version:
            print(f"privnb {metadata.version('privnb')}")
            return 0
        if not hasattr(args, "run"):
            command.print_help()
            return 0
        fit_to_limit()
        with self._stated(args):
            found: Answer = args.run(args)
        self._print(found)
        sys.stdout.flush()
        return found.status

    @contextlib.contextmanager
    def _stated(self, args: Namespace) -> Iterator[None]:
        """Show the progress and the warnings that the options request, separately from the answer."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(progress.set_verbosity(quiet=args.quiet, verbose=args.verbose))
            if self.is_json:
                stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            stack.enter_context(warnings.catch_warnings())
            usual = warnings.showwarning

            def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
                if not isinstance(message, EntryPointWarning):
                    usual(message, category, *place, **more)
                    return
                notice = Notice(str(message), message.code)
                self.notices.append(notice)
                if not self.is_json and not self.is_quiet:
                    self._warn([notice])

            warnings.showwarning = show
            yield

    def _print(self, found: Answer) -> None:
        """Print an answer, as text or as JSON."""
        notices = [*self.notices, *found.warnings]
        if self.is_json:
            self._document(found.values, notices, found.error)
            return
        shown = [each for each in found.sentences if not (self.is_quiet and isinstance(each, Notice))]
        if shown:
            print(*shown, sep="\n")
        if found.notes and not self.is_quiet:
            print(*found.notes, sep="\n", file=sys.stderr)
        if found.error is not None:
            self._complain(found.error)

    def _refused(self, error: Exception) -> int:
        """Print the reason why the command failed, and return the exit status.

        An exception that is a fault in the package is raised again.
        """
        if isinstance(error, BrokenPipeError):  # the reader, such as `| head`, has stopped reading
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE
        known = describe_error(error)
        if known is None:
            if self.is_json:
                said = "this is a fault in privnb. Please report it with the traceback on standard error."
                self._document(None, self.notices, Error(FAULT, answer.FAULT, said))
            raise error
        self._say(known)
        return known.status

    def _say(self, error: Error) -> None:
        if self.is_json:
            self._document(None, self.notices, error)
        else:
            self._complain(error)

    def _document(self, values: Any, notices: Sequence[Notice], error: Error | None) -> None:
        print(answer.to_json(self.command, values, notices, error, time.monotonic() - self.began), flush=True)

    def _complain(self, error: Error) -> None:
        print_line("privnb:", "red", error.message, sys.stderr)

    def _warn(self, notices: Sequence[Notice]) -> None:
        for each in notices:
            print_line("privnb:", "yellow", each, sys.stderr)


def run_and_trace() -> int:
    """Run the command, and return the exit status; for a fault in the package, print a traceback and return 70."""
    try:
        return main()
    except Exception:
        traceback.print_exc()
        return FAULT


def describe_error(error: Exception) -> Error | None:
    """Return the error that describes an exception to people; None if the exception is a fault in the package."""
    if isinstance(error, PrivnbError):
        return Error.of(error)
    status = ResourceError.status
    if is_out_of_memory(error):
        said = (
            f"there is not enough memory{describe_memory_limit()}. Allow this process more, lower --memory where the "
            "command "
            "has it, or give fewer records or columns."
        )
        return Error(status, "memory-error", said)
    if isinstance(error, ModuleNotFoundError) and not (error.name or "privnb").startswith("privnb"):
        said = (
            f"this needs the module {error.name}, which is not installed. Install privnb[notebook] for notebooks, "
            "reports and the explorer, or privnb[files] for tables of Excel, SPSS, Stata and SAS."
        )
        return Error(status, "module-error", said)
    if isinstance(error, OSError) and error.filename is not None:  # a file that cannot be read or written
        kind = InputError if error.errno in WRONG_PATH else ResourceError
        return Error(kind.status, kind.code, f"{error.filename}: {error.strerror}.")
    return None


def _call(words: Sequence[str], args: Namespace) -> str:
    """Return the command line for a provenance.

    Paths are shortened to file names, because the names of folders may identify a person.
    """
    paths = {getattr(args, name, None) for name in ("table", "out", "description", "policy", "store", "previous")}

    def named(word: str) -> str:
        option, equals, value = word.partition("=")
        if equals and value in paths:
            return f"{option}={named(value)}"
        return os.path.basename(word.rstrip("/")) if word in paths else word

    return shlex.join(["privnb", *map(named, words)])


def _apart(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments of the command and, separately, the arguments after `--`, which are passed to a server."""
    if "--" not in words or words[0] not in ("explore", "describe", "lab"):
        return [*words], []
    place = words.index("--")
    return [*words[:place]], [*words[place + 1 :]]


def parser() -> Parser:
    """Return the parser of the command line."""
    found = Parser(prog="privnb", description="Privacy and utility of sanitized microdata.")
    found.more = lambda: HELP
    found.flag("--version", text="show the version")
    commands = found.add_subparsers(metavar="COMMAND", title="commands")
    for name in COMMANDS:
        module = import_module(f"privnb.cli.{name}")
        first = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        own_help = name == "report"  # the help of `report` also shows the parameters of a notebook
        command = commands.add_parser(
            name, help=first[0].lower() + first[1:], description=f"{first}.", add_help=not own_help
        )
        module.add_arguments(command)
        add_common(command, answers=name not in SILENT)
        command.set_defaults(run=lambda args, module=module: module.run(args))
    return found
