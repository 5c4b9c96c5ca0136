"""The evidence of a card: the questions of reviewers, each with its answer and the place of its number.

The answers are derived from the content of the card, so that a reader of the card can derive them again. "Met" means
that the measured number stays within the cap of the policy of the card; an unknown number never meets a cap.
"""

import calendar
import datetime
from collections.abc import Iterator, Sequence
from typing import Any

from privnb.decision import frameworks, policies
from privnb.decision.frameworks import CRITERIA, CUSTOMARY, LINES, Framework, Question
from privnb.microdata.schema import Role
from privnb.runtime.tolerances import ROUNDING

Part = dict[str, Any]  # a part of a card, as plain values
MET, NOT_MET, UNMEASURED, UNJUDGED = "met", "not met", "not measured", "measured, not judged"
BY_PERSON, NOT_APPLICABLE = "for a person to check", "does not apply"
# The answers to a question: if several lines answer a question, the first of these answers applies.
ANSWERS = (NOT_APPLICABLE, NOT_MET, UNMEASURED, UNJUDGED, BY_PERSON, MET)
OF_ATTRIBUTES = ("attribute", "certainty")  # the risks of each sensitive attribute
NOT_STATED = "not stated"
MONTHS = 12  # the months in a year

Judgment = tuple[str, Part | None, str]  # an answer, its reason with the `kind` of its wording, and a reservation


def gather_evidence(content: Part, again: str) -> Part:
    """Return the questions of all frameworks with their answers, and when, for whom and against which means they apply.

    Parameters
    ----------
    content : dict
        The content of a card without its evidence.
    again : str
        The day by which the risks are measured again, in the ISO format.
    """
    return {
        "measure_again": again,
        "recipient": content["policy"]["recipient"] or NOT_STATED,
        "means": content["policy"]["knows"] or NOT_STATED,
        "frameworks": [_framework(frameworks.read(name), content) for name in frameworks.list_framework_names()],
    }


def add_months(day: datetime.date, months: int) -> datetime.date:
    """Return the same day of a later month, or the last day of that month if the month is shorter.

    >>> add_months(datetime.date(2028, 2, 29), 12), add_months(datetime.date(2026, 11, 30), 3)
    (datetime.date(2029, 2, 28), datetime.date(2027, 2, 28))
    """
    years, month = divmod(day.month - 1 + months, MONTHS)
    year, month = day.year + years, month + 1
    return datetime.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _framework(framework: Framework, content: Part) -> Part:
    stated = {name: getattr(framework, name) for name in ("name", "title", "source", "year", "read", "reading", "unit")}
    return stated | {"questions": [answer_question(question, content) for question in framework.questions]}


def answer_question(question: Question, content: Part) -> Part:
    """Return a question with its answer, the reason for the answer, and the places of its numbers in the card.

    Parameters
    ----------
    question : Question
    content : dict
        The content of a card.

    Returns
    -------
    dict
        `question`, `section` and the `lines` that the card has; `answer`: one of `ANSWERS`; `why`: the reason, with a
        `kind` that selects the sentence in `templates/evidence.j2`, or None; `reservation`: "", "exceeds the hold-out",
        "lenient reading" or "exceeded in groups";
        `places`: the fields of the card that answer the question; `ids`: the rows of results.csv behind its numbers.
    """
    lines = [line for line in question.lines if line not in CRITERIA or list_criterion(line, content)]
    capped = [line for line in lines if line not in CRITERIA]
    judged = [_judge(line, question, content) for line in capped] or [(UNMEASURED, {"kind": "no_line"}, "")]
    answer, why, _ = min(judged, key=lambda each: ANSWERS.index(each[0]))
    criteria = [each for line in lines if line in CRITERIA for each in list_criterion(line, content)]
    exceeds = ["exceeds the hold-out"] * any((each["low"] or 0) > 0 for each in criteria)  # null for few attempts
    reservations = [*exceeds, *filter(None, (each for _, _, each in judged))] if answer == MET else []
    return {
        "question": question.text,
        "section": question.section,
        "lines": lines,
        "answer": answer,
        "why": why,
        "reservation": next(iter(reservations), ""),
        "places": [*dict.fromkeys(filter(None, (LINES[line] for line in lines)))],
        "ids": [*dict.fromkeys(id for line in lines for id in _ids(line, content))],
    }


def list_criterion(line: str, content: Part) -> list[Part]:
    """Return the numbers of a card for one of `CRITERIA`; empty if nobody measured it, or in a card of format 7."""
    return [each for each in content.get("criteria", ()) if each["row"]["measure"] == line.replace(" ", "_")]


def _judge(line: str, question: Question, content: Part) -> Judgment:
    """Return the answer of one line of a card to a question."""
    if line in policies.RISKS:
        return _judge_risk(_risk(line, content), question, content)
    if line == "class size":
        return _judge_class_size(question, content)
    if line == "not tried":
        return UNMEASURED, {"kind": "not_tried"}, ""
    if line == "utility":
        is_measured = bool(content["uses"]["measures"])
        return (UNJUDGED, {"kind": "no_cap"}, "") if is_measured else (UNMEASURED, {"kind": "unknown", "risk": ""}, "")
    if line == "promise" and not content["done"].get("promise"):
        return NOT_APPLICABLE, {"kind": "no_promise"}, ""
    if line == "identifiers":
        identifier = str(Role.IDENTIFIER)
        if published := [entry["name"] for entry in content["dictionary"] if entry["role"] == identifier]:
            return NOT_MET, {"kind": "published", "columns": published}, ""
    return BY_PERSON, None, ""


def _risk(name: str, content: Part) -> Part:
    return next(each for each in content["risks"] if each["risk"] == name)


def _judge_risk(risk: Part, question: Question, content: Part) -> Judgment:
    """Return whether a risk meets the caps of the policy that answer a question. An unknown risk never meets a cap."""
    verdict, caps = risk["verdict"], risk["caps"]
    if verdict["is"] == "not kept":
        return NOT_MET, None, ""
    if risk["unknown"] or verdict["is"] == "unknown":
        return UNMEASURED, {"kind": "unknown", "risk": risk["risk"]}, ""
    if risk["risk"] in OF_ATTRIBUTES and content["unmeasured"]:
        return UNMEASURED, {"kind": "unmeasured", "attributes": content["unmeasured"]}, ""
    of_person = [cap for cap in caps if question.statistic in ("", cap["statistic"])]
    most = question.at_most or (CUSTOMARY if question.is_low else 1.0)
    strict = [cap for cap in of_person if cap["written"] <= most + ROUNDING]
    if not strict:
        laxer = {"kind": "laxer", "most": most, "is_customary": question.is_low}
        return UNJUDGED, laxer if of_person else {"kind": "mean_alone" if caps else "no_cap"}, ""
    lenient, over = any(cap["lenient"] for cap in caps), verdict["groups_over"]
    return MET, None, "exceeded in groups" if over else "lenient reading" if lenient else ""


def _judge_class_size(question: Question, content: Part) -> Judgment:
    """Return whether enough rows of the file, and enough people of the measured release, share each combination."""
    k, people, needed = content["release"]["k"], content["smallest_class"], content["policy"]["min_class_size"]
    sizes = [k] if people is None else [k, people["low"] if people["value"] is None else people["value"]]
    largest = [k] if people is None else [k, people["high"] if people["value"] is None else people["value"]]
    if any(size is not None and size < needed for size in largest):
        return NOT_MET, None, ""
    if people is None or any(size is None or size < needed for size in sizes):
        return UNMEASURED, {"kind": "unknown", "risk": ""}, ""
    if question.at_least is not None and needed < question.at_least:
        return UNJUDGED, {"kind": "smaller", "least": question.at_least}, ""
    return MET, None, ""


def _ids(line: str, content: Part) -> Iterator[str]:
    """Yield the ids of the rows of results behind the numbers of a line."""
    numbers: Sequence[Part | None] = ()
    if line in policies.RISKS:
        risk = _risk(line, content)
        numbers = [risk["mean"], risk["worst_person"]]
    elif line in CRITERIA:
        numbers = list_criterion(line, content)
    elif line == "class size":
        numbers = [content["smallest_class"]]
    elif line == "utility":
        numbers = content["uses"]["measures"]
    for number in numbers:
        yield from (number or {}).get("ids", [])
