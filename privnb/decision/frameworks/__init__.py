"""Frameworks: TOML files that list the questions of reviewers, and the lines of a release card that answer them.

A question is in our own words. Each framework states its source, and whether we have read the source itself.
`decision.evidence` answers the questions from the content of a card.
"""

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from privnb.decision import policies
from privnb.runtime import expect, validation
from privnb.runtime.errors import InputError, UsageError
from privnb.runtime.names import suggest
from privnb.runtime.validation import Share, Validated, optional, validated

# The lines of a card that can answer a question, and the place of each line in the card; "person" has no place, because
# only a person can answer the question.
CRITERIA = ("excess singling out", "excess linkability", "excess inference")
LINES = {
    **{risk: f"risks.{risk}" for risk in policies.RISKS},
    **dict.fromkeys(CRITERIA, "criteria"),
    "class size": "release.k",
    "recipient": "policy.recipient",
    "means": "policy.knows",
    "caps": "policy.caps",
    "columns": "dictionary",
    "identifiers": "dictionary",
    "treatment": "done.columns",
    "claims": "done.claims",
    "promise": "done.promise",
    "method": "decision",
    "utility": "uses",
    "not tried": "not_tried",
    "review": "evidence.measure_again",
    "person": "",
}


class FrameworkError(InputError):
    """A file that is not a framework; the message states the file, the key, what was found, and what to write."""


def _check_lines(name: str, value: object) -> None:
    expect.all_of(name, value, str, instead=f"The lines are {', '.join(LINES)}.")
    for line in value:  # type: ignore[attr-defined]
        expect.one_of(name, line, LINES)


CUSTOMARY = 0.09  # the laxest of the thresholds for public releases in the frameworks that state a number


@dataclass(frozen=True)
class Question(Validated):
    """A question of a reviewer.

    Parameters
    ----------
    text : str
        The question in our own words.
    section : str
        The place of the question in the source.
    lines : tuple of str
        The lines of a card that answer the question, from `LINES`; if empty, no line of a card answers it. `CRITERIA`
        support the answer of another line where a card has them, because no policy caps them.
    statistic : str
        "largest" if only a cap on the risk of the worst-off person answers the question; if empty, any cap does.
    at_most : float, optional
        The largest risk that the source accepts, if it states one. A larger cap does not answer the question.
    is_low : bool
        Whether the source asks for a low risk without a number. A cap above `CUSTOMARY` then does not answer the
        question, because no guideline that we know calls a larger risk low.
    at_least : int, optional
        The smallest class size that the source accepts, if it states one. A smaller minimum class size does not answer
        the question.
    """

    text: Annotated[str, lambda name, value: expect.text(name, value, "a question")]
    section: Annotated[str, lambda name, value: expect.text(name, value, "a place in the source")]
    lines: Annotated[tuple[str, ...], _check_lines] = ()
    statistic: Literal["", "largest"] = ""
    at_most: Annotated[Share | None, optional(expect.share)] = None
    is_low: bool = False
    at_least: Annotated[int | None, optional(validation.at_least(2, "a group of one is a person"))] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lines", tuple(self.lines))


@dataclass(frozen=True)
class Framework(Validated):
    """The questions that the reviewers of a release answer by a law, a guideline or a standard.

    Parameters
    ----------
    name : str
        The name of its file, without the ending.
    title : str
        A short title.
    source : str
        The document with the questions.
    year : int
        The year of the document.
    read : bool
        Whether the authors of privnb have read the source itself, and not only a summary.
    reading : str
        The text that we have read, and how we interpret it.
    unit : str
        The noun for its questions, in the plural, such as "criteria".
    questions : tuple of Question
        At least one question.
    sha256 : str
        The digest of the file.
    """

    HINT: ClassVar[str] = "decision.frameworks.read(name) returns one."

    name: str
    title: str
    source: str
    year: Annotated[int, validation.at_least(1900)]
    read: bool
    reading: str
    questions: Annotated[tuple[Question, ...], validation.several(Question)]
    unit: str = "questions"
    sha256: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.questions:
            raise UsageError("questions must have at least one entry; got none. Add a [[questions]] table.")
        object.__setattr__(self, "questions", tuple(self.questions))


def list_framework_names() -> list[str]:
    """Return the names of the package's frameworks in alphabetical order."""
    return sorted(path.stem for path in Path(str(files(__package__))).glob("*.toml"))


@validated
def read(name: str) -> Framework:
    """Return a framework of the package. Raises FrameworkError if there is no framework of this name.

    >>> [question.lines for question in read("wp29-2014").questions[:2]]
    [('identity', 'excess singling out'), ('linkability', 'excess linkability')]
    """
    known = list_framework_names()
    if name not in known:
        raise FrameworkError(
            f"'{name}' is not a framework; the frameworks are {', '.join(known)}.{suggest([name], known)} Name one of "
            "these frameworks."
        )
    return parse_framework(files(__package__).joinpath(f"{name}.toml").read_bytes(), name)


def parse_framework(content: bytes, name: str) -> Framework:
    """Return a framework from the bytes of its file. Raises FrameworkError if the bytes are not a framework."""
    try:
        text = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise FrameworkError(f"framework '{name}' is not a valid TOML file: {error}. Correct the file.") from None
    keys = [each.name for each in fields(Framework) if each.name not in ("name", "sha256")]
    _check_keys(name, text, keys)
    if missing := [key for key in keys if key not in text and key != "unit"]:
        raise FrameworkError(
            f"framework '{name}' lacks {', '.join(missing)}. Add the keys; the frameworks of the package are examples."
        )
    rows = text["questions"] if isinstance(text["questions"], list) else [text["questions"]]
    text["questions"] = tuple(_question(f"{name}, questions {number}", row) for number, row in enumerate(rows, 1))
    try:
        return Framework(name=name, sha256=hashlib.sha256(content).hexdigest(), **text)
    except (TypeError, ValueError) as error:
        raise FrameworkError(f"framework '{name}': {error}") from None


def _question(where: str, row: Any) -> Question:
    if not isinstance(row, dict):
        raise FrameworkError(
            f"framework '{where}' must be a table; got {expect.describe_value(row)}. Write [[questions]] above "
            "its keys."
        )
    _check_keys(where, row, [each.name for each in fields(Question)])
    try:
        return Question(**row)
    except (TypeError, ValueError) as error:
        raise FrameworkError(f"framework '{where}': {error}") from None


def _check_keys(where: str, given: Iterable[str], known: list[str]) -> None:
    if unknown := [key for key in given if key not in known]:
        raise FrameworkError(
            f"framework '{where}' has an unknown key, {', '.join(map(repr, unknown))}; the possible keys are "
            f"{', '.join(known)}.{suggest(unknown, known)}"
        )
