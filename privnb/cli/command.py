"""One run of the command: its arguments are read, a subcommand runs, and its answer is printed, here alone."""

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
from privnb.cli.colours import say
from privnb.runtime import progress
from privnb.runtime.entry_points import EntryPointWarning
from privnb.runtime.errors import InputError, PrivnbError, ResourceError
from privnb.runtime.names import Shown
from privnb.runtime.notices import Notice
from privnb.runtime.processes import fit_to_limit, memory_limit, wants_memory
from privnb.runtime.stopping import stoppable

# The subcommands in the order in which people use them: modules of this room.
COMMANDS = (
    "describe", "check", "explore", "decide", "sanitize", "run", "report", "lab", "list", "audit", "completion",
)  # fmt: skip
SILENT = ("explore", "lab", "completion")  # have no answer for programs
NOT_THERE = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG)  # what a path can have wrong
FAULT = 70  # the exit status of a fault of the package

HELP = """
examples:
  privnb describe people.csv                        draft what the columns of a table are
  privnb check people                               how many people are indistinguishable
  privnb explore people                             one setting, live, in a browser
  privnb decide people --policy ontario-2025        choose a release by a policy
  privnb sanitize people --model "k=10" --out release.csv
  privnb report people                              the whole loop as pages

exit status: 0 done, 1 a condition is not met, 2 usage, 3 refused for privacy, 4 input, 5 environment, 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; return the exit status.

    It is 0 if all is done, 1 if a condition is not met, 2 for a wrong argument, 3 for a release that is refused for
    privacy, 4 for an input that cannot be used, 5 if the machine lacks something (see `errors`), 70 for a fault of the
    package, 130 if the command was stopped by hand, 143 by SIGTERM, and 129 by SIGHUP (a closed terminal).
    """
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    with contextlib.redirect_stdout(Shown(sys.stdout)), contextlib.redirect_stderr(Shown(sys.stderr)):
        return _Run(words).status()


class _Run:
    """One run of the command, and what is printed of it."""

    def __init__(self, words: list[str]) -> None:
        self.began = time.monotonic()
        self.words, old = old_forms.rewritten(words)
        own = self.words[: self.words.index("--")] if "--" in self.words else self.words
        self.command = own[0] if own and own[0] in COMMANDS else None
        self.is_json = "--json" in own
        self.is_quiet = bool({"-q", "--quiet"} & {*own})
        self.notices = [Notice(old, "old-form")] if old else []

    def status(self) -> int:
        """Run the subcommand and print what came of it; return the exit status."""
        try:
            with stoppable():
                return self._run()
        except Exception as error:
            return self._refused(error)
        except KeyboardInterrupt as stop:
            status = 128 + (stop.args[0] if stop.args else signal.SIGINT)
            with contextlib.suppress(OSError):  # a terminal that is gone
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
        """Show of the work inside what the options ask for; nothing of it is printed where the answer is."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(progress.shown(quiet=args.quiet, verbose=args.verbose))
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
        """Say in one sentence what was refused, and return the exit status. Raise a fault of the package again."""
        if isinstance(error, BrokenPipeError):  # the reader has seen enough, such as `| head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE
        known = known_error(error)
        if known is None:
            if self.is_json:
                said = "this is a fault of privnb. The standard error output says where; please report it."
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
        print(answer.document(self.command, values, notices, error, time.monotonic() - self.began), flush=True)

    def _complain(self, error: Error) -> None:
        say("privnb:", "red", error.message, sys.stderr)

    def _warn(self, notices: Sequence[Notice]) -> None:
        for each in notices:
            say("privnb:", "yellow", each, sys.stderr)


def run_and_trace() -> int:
    """Run the command as a process does: a fault of the package prints its traceback and has a status of its own."""
    try:
        return main()
    except Exception:
        traceback.print_exc()
        return FAULT


def known_error(error: Exception) -> Error | None:
    """Return what an exception says to people, or None for a fault of the package."""
    if isinstance(error, PrivnbError):
        return Error.of(error)
    status = ResourceError.status
    if wants_memory(error):
        said = (
            f"there is not enough memory{memory_limit()}. Allow this process more, lower --memory where the command "
            "has it, or give fewer records or columns."
        )
        return Error(status, "memory-error", said)
    if isinstance(error, ModuleNotFoundError) and not (error.name or "privnb").startswith("privnb"):
        said = (
            f"this needs the module {error.name}, which is not installed. Notebooks, reports and the explorer come "
            "with privnb[notebook], tables of Excel, SPSS, Stata and SAS with privnb[files]."
        )
        return Error(status, "module-error", said)
    if isinstance(error, OSError) and error.filename is not None:  # a file that cannot be read or written
        kind = InputError if error.errno in NOT_THERE else ResourceError
        return Error(kind.status, kind.code, f"{error.filename}: {error.strerror}.")
    return None


def _call(words: Sequence[str], args: Namespace) -> str:
    """Return the command as a provenance repeats it: of a path the name alone, for folders may name somebody."""
    paths = {getattr(args, name, None) for name in ("table", "out", "description", "policy", "store")}

    def named(word: str) -> str:
        option, equals, value = word.partition("=")
        if equals and value in paths:
            return f"{option}={named(value)}"
        return os.path.basename(word.rstrip("/")) if word in paths else word

    return shlex.join(["privnb", *map(named, words)])


def _apart(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments of the command, and those behind `--` that it passes on to the server that it starts."""
    if "--" not in words or words[0] not in ("explore", "describe", "lab"):
        return [*words], []
    place = words.index("--")
    return [*words[:place]], [*words[place + 1 :]]


def parser() -> Parser:
    """Return what reads the arguments of the command."""
    found = Parser(prog="privnb", description="Privacy and utility of sanitized microdata.")
    found.more = lambda: HELP
    found.flag("--version", text="show which version this is")
    commands = found.add_subparsers(metavar="COMMAND", title="commands")
    for name in COMMANDS:
        module = import_module(f"privnb.cli.{name}")
        first = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        own_help = name == "report"  # which also shows what a notebook takes
        command = commands.add_parser(
            name, help=first[0].lower() + first[1:], description=f"{first}.", add_help=not own_help
        )
        module.add_arguments(command)
        add_common(command, answers=name not in SILENT)
        command.set_defaults(run=lambda args, module=module: module.run(args))
    return found
