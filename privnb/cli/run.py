"""Make and check the releases of a project file, privnb.toml, that are not up to date."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from typing import Any

from privnb.cli import project
from privnb.cli.answer import Answer, Notice
from privnb.cli.arguments import Parser, filled


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.add_argument("names", metavar="NAME", nargs="*", type=filled, help="only these releases (all)")
    command.value("--file", "FILE", f"the project file ({project.FILE})", default=project.FILE)
    command.flag("--force", text="make releases again that are up to date, and replace what stands in their places")
    command.examples("run", "run nightly --file customers/privnb.toml --json")


def run(args: Namespace) -> Answer:
    """Make each release that is missing or whose inputs changed, and check it; status 1 if a check is not met."""
    found = project.Project.read(args.file)
    values, sentences, warnings, unmet = list[dict[str, Any]](), list[str](), list[Notice](), list[str]()
    with contextlib.chdir(found.folder):
        for step in found.chosen(args.names):
            if not args.force and found.is_up_to_date(step):
                values.append({"name": step.name, "out": step.out, "state": "up to date"})
                sentences.append(f"{step.name}: up to date.")
                continue
            made = _answer(step, [*step.words, *["--force"] * (args.force or found.is_made(step))])
            if made.unmet:  # no release keeps the policy
                state, checked = "not made", made
            else:
                found.record(step, is_kept=False)
                checked = _answer(step, step.check)
                state = "made, check not met" if checked.unmet else "made"
                found.record(step, is_kept=not checked.unmet)
            values.append({"name": step.name, "out": step.out, "state": state, "release": dict(made.values)})
            sentences += [f"{step.name}: {state}.", *made.sentences]
            warnings += [*made.warnings]
            unmet += [f"{step.name}: {checked.unmet}"] * bool(checked.unmet)
    return Answer({"releases": values}, sentences, warnings, " ".join(unmet))


def _answer(step: project.Step, words: list[str]) -> Answer:
    """Return the answer of a command of a release."""
    from privnb.cli.command import parser

    args = parser().parse_args(words)
    args.call, args.rest = f"privnb run {step.name}", []
    answer: Answer = args.run(args)
    return answer
