"""Make and check the outdated releases of the project file privnb.toml."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from typing import Any, NamedTuple

from privnb.cli import project
from privnb.cli.answer import Answer, Error
from privnb.cli.arguments import Parser, parse_text
from privnb.runtime.errors import ConditionError
from privnb.runtime.notices import Notice


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.add_argument(
        "names", metavar="NAME", nargs="*", type=parse_text, help="make only these releases (default: all)"
    )
    command.value("--file", "FILE", f"the project file (default: {project.FILE})", default=project.FILE)
    command.flag("--force", text="also make releases that are up to date, and replace existing files")
    command.examples("run", "run nightly --file customers/privnb.toml --json")


def run(args: Namespace) -> Answer:
    """Make and check each release that does not exist or whose inputs have changed.

    If a release fails, the other releases are still made. The status is the highest status of all releases.
    """
    found, ended = project.Project.read(args.file), list[_Ended]()
    with contextlib.chdir(found.folder):
        for step in found.chosen(args.names):
            failed = next((each.step.out for each in ended if each.error and step.needs(each.step.out)), None)
            ended.append(_missing_input(step, failed) if failed else _ended(found, step, is_forced=args.force))
    errors = [each.error for each in ended if each.error]
    worst = max(errors, key=lambda each: each.status, default=None)
    return Answer(
        {"releases": [each.values for each in ended]},
        [line for each in ended for line in each.sentences],
        worst and worst._replace(message="\n".join(each.message for each in errors)),
    )


class _Ended(NamedTuple):
    """The result of one release: its `state`, the answer of the command that made it, and the error, if any."""

    step: project.Step
    state: str
    answer: Answer = Answer()
    error: Error | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The result for programs."""
        error = self.error and {"code": self.error.code, "message": self.error.message}
        release = {"release": dict(self.answer.values)} if self.answer.values else {}
        return {"name": self.step.name, "out": self.step.out, "state": self.state, "error": error, **release}

    @property
    def sentences(self) -> list[str]:
        """The result for people, as sentences that begin with the name of the release."""
        lines = [
            line
            for each in self.answer.sentences
            for line in ([each] if isinstance(each, Notice) else each.splitlines())
            if line
        ]
        return [f"{self.step.name}: {self.state}.", *(_named(self.step, line) for line in lines)]


def _ended(found: project.Project, step: project.Step, *, is_forced: bool) -> _Ended:
    """Make and check a release that is not up to date."""
    from privnb.cli.command import describe_error

    state, made = "not made", Answer()
    try:
        if not is_forced and found.is_up_to_date(step):
            return _Ended(step, "up to date")
        made = _answer(step, [*step.words[:1], *["--force"] * (is_forced or found.is_made(step)), *step.words[1:]])
        if made.error:  # no release complies with the policy
            return _Ended(step, state, made, _of(step, made.error))
        state = "made, check not met"
        found.record(step, is_kept=False)
        checked = _answer(step, step.check)
        found.record(step, is_kept=not checked.error)
        if checked.error:
            return _Ended(step, state, made, _of(step, checked.error, "check"))
    except Exception as error:
        known = describe_error(error)
        if known is None:
            raise
        return _Ended(step, state, made, _of(step, known, "model" if state == "not made" else "check"))
    return _Ended(step, "made", made)


def _missing_input(step: project.Step, failed: str) -> _Ended:
    """Return the result of a release that is not made, because it needs another release, which failed."""
    said = f"this release is made from {failed}, which failed."
    return _Ended(step, "not made", error=_of(step, Error(ConditionError.status, "input-failed", said)))


def _of(step: project.Step, error: Error, model: str = "model") -> Error:
    """Return an error that begins with the name of the release, and that states keys of the project file."""
    return error._replace(message=f"{step.name}: {project.name_keys(error.message, model)}")


def _named(step: project.Step, sentence: str) -> str:
    """Return a sentence that begins with the name of the release, and that states keys of the project file."""
    said = f"{step.name}: {project.name_keys(sentence)}"
    return Notice(said, sentence.code) if isinstance(sentence, Notice) else said


def _answer(step: project.Step, words: list[str]) -> Answer:
    """Run a command of a release, and return the answer of the command."""
    from privnb.cli.command import parser

    args = parser().parse_args(words)
    args.call, args.rest = step.call, []
    answer: Answer = args.run(args)
    return answer
