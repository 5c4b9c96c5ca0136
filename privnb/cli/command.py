"""One run of the command: its arguments are read, a subcommand runs, and what is refused is said in one sentence."""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module, metadata

from privnb.cli.arguments import Parser
from privnb.runtime.errors import InputError, PrivnbError, ResourceError
from privnb.runtime.names import Shown
from privnb.runtime.processes import fit_to_limit, memory_limit, runs_as, wants_memory
from privnb.runtime.stopping import stoppable

COMMANDS = ("report", "lab", "app", "new", "describe", "sanitize", "decide", "check", "audit")  # modules of this room

EXAMPLES = """\
examples:
  {0} report                             the whole loop on the shipped table
  {0} report --notebook 04 -p K 25       one notebook with another setting
  {0} app                                one setting, live, in a browser
  {0} app --new people.csv               a table of your own: say by menu what its columns are,
  {0} new people.csv                     or draft its description for an editor,
  {0} check people.csv                   grade it,
  {0} report --dataset people            and report on it
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; return the exit status.

    It is 0 if all is done, 1 if a condition is not met, 2 for a wrong argument, 3 for a release that is refused for
    privacy, 4 for an input that cannot be used, 5 if the machine lacks something (see `errors`), 130 if the command was
    stopped by hand, 143 by SIGTERM, and 129 by SIGHUP (a closed terminal).
    """
    with contextlib.redirect_stdout(Shown(sys.stdout)), contextlib.redirect_stderr(Shown(sys.stderr)):
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    try:
        with stoppable():
            command = parser()
            args = command.parse_args(arguments)
            if args.version:
                print(f"privnb {metadata.version('privnb')}")
                return 0
            if not hasattr(args, "run"):
                command.print_help()
                return 0
            fit_to_limit()
            done: int = args.run(args) or 0
            sys.stdout.flush()
            return done
    except Exception as error:
        status = _refused(error)
        if status is None:
            raise
        return status
    except KeyboardInterrupt as stop:
        with contextlib.suppress(OSError):  # a terminal that is gone
            print("privnb: stopped.", file=sys.stderr)
        return 128 + (stop.args[0] if stop.args else signal.SIGINT)


def _refused(error: Exception) -> int | None:
    """Say in one sentence what was refused, and return the exit status, or None for a fault of the package."""
    if isinstance(error, BrokenPipeError):  # the reader has seen enough, such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    status = ResourceError.status
    if isinstance(error, PrivnbError):
        status, said = error.status, str(error)
    elif wants_memory(error):
        said = (
            f"there is not enough memory{memory_limit()}. Allow this process more, lower --memory where the command "
            "has it, or give fewer records or columns."
        )
    elif isinstance(error, ModuleNotFoundError) and not (error.name or "privnb").startswith("privnb"):
        said = (
            f"this needs the module {error.name}, which is not installed. Notebooks, reports and the explorer come "
            "with privnb[notebook], tables of Excel, SPSS, Stata and SAS with privnb[files]."
        )
    elif isinstance(error, OSError) and error.filename is not None:  # a file that cannot be read or written
        said = f"{error.filename}: {error.strerror}."
        status = InputError.status if isinstance(error, FileNotFoundError | IsADirectoryError) else status
    else:
        return None
    print(f"privnb: {said}", file=sys.stderr)
    return status


def parser() -> Parser:
    """Return what reads the arguments of the command."""
    found = Parser(prog="privnb", description="Privacy and utility of sanitized microdata.")
    found.more = lambda: "\n" + EXAMPLES.format(runs_as())
    found.flag("--version", "show which version this is")
    commands = found.add_subparsers(metavar="COMMAND")
    for name in COMMANDS:
        module = import_module(f"privnb.cli.{name}")
        first = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        command = commands.add_parser(name, help=first[0].lower() + first[1:], description=f"{first}.")
        module.add_arguments(command)
        command.set_defaults(run=lambda args, module=module: module.run(args))
    return found
