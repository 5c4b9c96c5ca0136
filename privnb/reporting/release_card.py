"""The page of a release card, and the parts of a card for notebooks."""

import re
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from privnb.decision.answer import KEEPS, RESERVED
from privnb.decision.card import Card
from privnb.decision.evidence import NOT_APPLICABLE
from privnb.decision.policies import measure_of
from privnb.decision.release_risks import Part, above_average
from privnb.measures.base import measure_facts
from privnb.reporting.templating import environment, template
from privnb.runtime.language import current_language
from privnb.runtime.names import escape_invisible
from privnb.runtime.sentences import FullTable, Sentences, join_names, say, strip_markup
from privnb.runtime.validation import validated
from privnb.runtime.wording import filters, line, write
from privnb.tables.writing import CARD, PAGE

WORST = 3  # the number of groups that are named next to a risk
COLOURS = {KEEPS: "keeps", RESERVED: "reserved"}  # classes of the page by answer; any other answer is "breaks"
ATTRIBUTE_COLUMNS = ("attribute", "mean", "worst_person", "certain", "lost")
COLUMNS = ["risk", "question", "release", "without the file", "cap", "verdict"]


@validated
def render_card(card: Card) -> dict[str, str]:
    """Return the texts of a card, the JSON document and the page, by the endings of their file names.

    The page is in the present language; the JSON document is the same in every language.
    """
    return {CARD: card.text, PAGE: page(card)}


@validated
def page(card: Card, explained: str = "", anchors: Collection[str] = (), file: str = "") -> str:
    """Return the page of a card, in the present language, as HTML that needs no other file.

    Texts that come from data, such as the names of policies, stay in their language.

    Parameters
    ----------
    card : Card
    explained : str
        The name of the page of a report that explains the card. It is given if the report does not contain the file of
        the release.
    anchors : collection of str
        The anchors of the rows of `results.csv` for this page, to which the card links.
    file : str
        The name of the card's JSON file, if it is not `card.name`.
    """
    made = environment()
    content = card.content
    groups = content["worst_groups"]["shown"]
    text = made.select_template([f"{current_language()}/card.html.j2", "card.html.j2"]).render(
        STYLE=Markup(made.globals["STYLE"]) + Markup(template("card.css")),
        card=content,
        file=file or card.name,
        explained=explained,
        anchors=anchors,
        colour=COLOURS.get(content["answer"]["status"], "breaks"),
        risks=[_risk(risk, content) for risk in content["risks"]],
        worst=[_group(each) for each in _worst_groups(content)],
        next=_next(content["decision"]["next"]),
        uses=[_use(number) for number in content["uses"]["measures"]],
        groups=[_group(number) for number in groups],
        attributes=write_attributes(content.get("attributes", ()), content["uses"]["lost"]),
        widest=_exceeded_person(content),
        promised=_text("reporting/card", "promised", [write_claim(claim) for claim in content["done"]["claims"]]),
        treated={entry["treated"]: entry["means"] for entry in content["dictionary"]},
        labels=list(dict.fromkeys(entry["labels"] for entry in content["dictionary"] if entry["labels"])),
        frameworks=[_framework(each, content) for each in content.get("evidence", {}).get("frameworks", ())],
    )
    return escape_invisible(text)


def write_claim(claim: str) -> str:
    """Return the text for readers of a privacy model that a provenance claims.

    >>> write_claim("KAnonymity(k=5)"), write_claim("TCloseness(t=0.2, sensitive='vote')")
    ('k-anonymity, k = 5', "t-closeness, t = 0.2, sensitive = 'vote'")
    """
    name, _, bounds = claim.removesuffix(")").partition("(")
    words = " ".join(re.findall("[A-Z][a-z]*", name)).lower() or name
    return ", ".join(filter(None, [re.sub(r"\b([a-z]) ", r"\1-", words), bounds.replace("=", " = ")]))


@validated
def risks(card: Card) -> FullTable:
    """Return the risks of a card as a table."""
    rows = [[_risk(risk, card.content)[name] for name in COLUMNS] for risk in card.content["risks"]]
    return FullTable(pd.DataFrame(rows, columns=COLUMNS), "risks")


@validated
def worst_groups(card: Card) -> FullTable | Sentences:
    """Return the groups of people with the largest mean of each risk, if it is larger than the mean of all people."""
    rows = [_group(number) for number in _worst_groups(card.content, WORST)]
    if not rows:
        return say(*write("decision/card", "no_worst_group"))
    return FullTable(pd.DataFrame(rows), "groups")


@validated
def not_tried(card: Card) -> Sentences:
    """Return sentences about the attacks that nobody has tried on the release."""
    return say(*write("decision/card", "not_tried", card.content))


@validated
def evidence(card: Card) -> Sentences:
    """Return one sentence for each framework about how the card answers the questions of reviewers."""
    return say(*write("decision/evidence", "overview", card.content))


@validated
def uses(card: Card) -> FullTable:
    """Return the measures of utility as a table."""
    return FullTable(pd.DataFrame([_use(number) for number in card.content["uses"]["measures"]]), "uses")


@validated
def columns(card: Card) -> FullTable:
    """Return the published columns as a table: role, treatment, meaning of a cell, public domain, and labels.

    A column of the table that would be empty is left out.
    """
    names = {
        "name": "column", "role": "role", "treated": "treatment", "means": "a cell holds", "domain": "domain",
        "labels": "labels",
    }  # fmt: skip
    table = pd.DataFrame(card.content["dictionary"], columns=[*names])
    return FullTable(table.loc[:, (table != "").any()].rename(columns=names), "columns")


@validated
def provenance(card: Card) -> Sentences:
    """Return sentences about how the file was made, and about the promises of the release."""
    content = card.content
    claims = [write_claim(claim) for claim in content["done"]["claims"]]
    return say(*write("decision/card", "provenance", content, join_names(claims) if claims else ""))


def _text(template: str, macro: str, *arguments: object) -> str:
    return strip_markup(line(template, macro, *arguments))


def _risk(risk: Part, content: Part) -> Part:
    """Return the facts about a risk: the row of the table and the part of the page."""
    near = content["policy"]["near_certainty"]
    worst = _groups_at_risk(risk, content)[:WORST]
    gauges = [_gauge(risk, statistic) for statistic in ("mean", "largest")]
    numbers = [number for number in (risk["mean"], risk["worst_person"]) if number]
    return {
        "name": risk["risk"],
        "risk": _text("reporting/card", "risk", risk["risk"]),
        "question": _text("decision/risks", "question", risk["risk"]),
        "release": _text("decision/risks", "cell", risk),
        "without the file": _text("decision/risks", "without", risk),
        "cap": _text("decision/risks", "caps", risk),
        "verdict": _text("decision/risks", "verdict", risk),
        "state": risk["verdict"]["is"],
        "is_reserved": bool(risk["verdict"]["groups_over"]),
        "numbers": write("decision/risks", "numbers", risk, near),
        "adversary": _text("decision/risks", "adversary", risk),
        "worst": [_text("decision/card", "group", each) for each in worst],
        "no_group": _text("decision/card", "no_group", risk),
        "gauges": [each for each in gauges if each],
        "ids": [id for number in numbers for id in number.get("ids", [])],
    }


def _framework(framework: Part, content: Part) -> Part:
    """Return a framework as its part of the page: its summary, its source and a row for each question."""
    rows = [
        {
            "question": each["question"],
            "section": each["section"],
            "state": each["answer"],
            "answer": _text("decision/evidence", "answer", each),
            "stated": [
                line("decision/evidence", "stated", name, content)
                for name in each["lines"][: 1 if each["answer"] == NOT_APPLICABLE else None]
            ],
            "places": each["places"],
            "ids": each["ids"],
        }
        for each in framework["questions"]
    ]
    summary = _text("decision/evidence", "summary", framework)
    return {"summary": summary, "reading": line("decision/evidence", "reading", framework), "rows": rows}


def _groups_at_risk(risk: Part, content: Part) -> list[Part]:
    """Return the groups whose risk is larger than the mean of all people, in descending order of the risk."""
    own = [each for each in content["worst_groups"]["shown"] if each["row"]["measure"] == measure_of(risk["risk"])]
    return above_average(own, risk["mean"])


def _worst_groups(content: Part, most: int = 1) -> list[Part]:
    """Return the `most` groups with the largest mean of each risk, if it is larger than the mean of all people."""
    return [each for risk in content["risks"] for each in _groups_at_risk(risk, content)[:most]]


def write_attributes(attributes: Sequence[Part], lost: Part) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of a table of sensitive attributes, as texts.

    `attributes` is the result of `release_risks.list_attributes`, and `lost` is the utility loss of the release. The
    column of the utility loss is left out if it is about no attribute in particular.
    """
    names = [name for name in ATTRIBUTE_COLUMNS if name != "lost" or any(each["lost"] for each in attributes)]
    rows = [[_text("decision/risks", "attribute_cell", name, each, lost) for name in names] for each in attributes]
    return [_text("decision/risks", "attribute_column", name) for name in names], rows


def _exceeded_person(content: Part) -> Part | None:
    """Return the identity risk of the worst-off person if the interval of a group exceeds this risk; otherwise, None.

    The identity risk of the worst-off person is exact, and is an upper bound of the mean of each group. Other risks of
    a person do not have the same unit as means.
    """
    risk = next(each for each in content["risks"] if each["risk"] == "identity")
    person, measure = risk["worst_person"], measure_of("identity")
    if person is None or person["value"] is None:
        return None
    groups = (each for each in content["worst_groups"]["shown"] if each["row"]["measure"] == measure)
    return person if any((each["high"] or 0) > person["value"] for each in groups) else None


def _gauge(risk: Part, statistic: str) -> Part | None:
    """Return the data of a bar from 0 to 1 with a number of a risk and its cap; None for an unknown number.

    If the number is withheld, the bar shows its upper bound. `statistic` is "mean" for the average and "largest" for
    the worst-off person. The `label` of the bar is for screen readers.
    """
    number = risk["mean" if statistic == "mean" else "worst_person"]
    if number is None or number["high"] is None:
        return None
    value = number["high"] if number["value"] is None else number["value"]
    most = next((cap["cap"] for cap in risk["caps"] if cap["statistic"] == statistic and not cap["group"]), None)
    whose = _text("reporting/card", "whose", statistic)
    label = _text("reporting/card", "gauge", risk["risk"], statistic, value, most)
    counted = risk["risk"] == "certainty"  # without an interval
    ends = {"value": value, "low": value if counted else number["low"], "high": value if counted else number["high"]}
    drawn = {name: max(0.0, min(1.0, end or 0.0)) for name, end in ends.items()}
    return {"whose": whose, **drawn, "baseline": number["baseline"] or None, "cap": most, "label": label}


def _next(other: Part | None) -> Part | None:
    """Return a table that compares this release with the next-best release; None if there is no other release."""
    if other is None:
        return None
    pair, show = (other["this"], other["other"]), filters(current_language())
    rows = [(_text("reporting/card", "loss"), *(show["number"](each["lost"]) for each in pair))]
    for both in zip(*(each["risks"] for each in pair), strict=True):
        name = _text("reporting/card", "risk", both[0]["risk"])
        for kind, statistic in (("mean", "mean"), ("worst_person", "largest")):
            if any(each[kind] for each in both):
                write = show["quantity" if both[0]["risk"] == "certainty" else "number"]  # certain values are counted
                numbers = (
                    write(each[kind]) if each[kind] else _text("reporting/card", "not_measured") for each in both
                )
                rows.append((f"{name}, {_text('reporting/card', 'whose', statistic)}", *numbers))
    return {"release": other["release"], "is": other["is"], "rows": rows}


def _use(number: Part) -> dict[str, str]:
    """Return a row with a measure of utility or loss, and its value for the release without quasi-identifiers."""
    of, show = measure_facts(number["row"]["measure"]), filters(current_language())
    without = "" if number["baseline"] is None else show["in_format"](number["baseline"], of.format)
    value = number["value"]
    shown = _text("reporting/card", "unknown") if value is None else show["in_format"](value, of.format)
    if of.unit == "nats" and value is not None and number["baseline"]:
        shown, without = show["percent"](value / number["baseline"]), show["percent"](1)
    target = number["row"].get("target", "")
    named: Sequence[Any] = (
        _text("reporting/card", "title", of.name, of.title) + (f" ({target})" if target else ""),
        shown,
        without,
        _text("reporting/card", "compared", of.name, of.baseline) if without else "",
        _text("reporting/card", "meaning", of.name, of.sentence),
    )
    return dict(zip(("measure", "this file", "for comparison", "compared with", "meaning"), named, strict=True))


def _group(number: Part) -> dict[str, str]:
    of, show = measure_facts(number["row"]["measure"]), filters(current_language())
    return {
        "risk": _text("reporting/card", "title", of.name, of.title),
        "group": _text("reporting/card", "group", number["row"]["group"]),
        "people": "" if number["people"] is None else show["count"](number["people"]),
        "mean risk": show["number"](number),
    }
