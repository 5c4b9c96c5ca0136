"""The page of a release card, and both of its files beside a release: what a protection officer reads and signs."""

import re

import pandas as pd
from markupsafe import Markup

from privnb.decision import prose
from privnb.decision.answer import EVEN, KEEPS, MEANS, RESERVED, Part, certain, lenient, nearly_certain, unsure
from privnb.decision.card import Card
from privnb.decision.policies import measure_of
from privnb.decision.prose import with_interval
from privnb.evaluation.risks import linkability, membership
from privnb.measures.base import facts
from privnb.reporting.templating import environment, template
from privnb.runtime.names import shown
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import Page, Sentences, listed, say
from privnb.runtime.validation import validated
from privnb.tables.writing import CARD, PAGE

WORST = 3  # groups that are named beside a risk


COLOURS = {KEEPS: "keeps", RESERVED: "reserved"}  # of the answer, as classes of the page; else it breaks the policy


@validated
def texts(card: Card) -> dict[str, str]:
    """What stands of a card beside its release, by the endings of the files: its JSON and its page."""
    return {CARD: card.text, PAGE: page(card)}


@validated
def page(card: Card) -> str:
    """The page of a card: HTML that needs nothing else, a text."""
    made = environment()
    content, answer = card.content, card.content["answer"]
    text = made.get_template("card.html.j2").render(
        STYLE=Markup(made.globals["STYLE"]) + Markup(template("card.css")),
        card=content,
        file=card.name,
        colour=COLOURS.get(answer["status"], "breaks"),
        said=[each for each in answer["sentences"] if each not in {*answer["worst"], *answer["reservations"]}],
        means=MEANS,
        even=percent(EVEN),
        worst=[_worst(content, risk) for risk in content["risks"]],
        risks=[_shown(risk, content) for risk in content["risks"]],
        beside=_beside(content["decision"]["beside"]),
        lost=[facts(name) for name in content["uses"]["by"]],
        uses=[_use(number) for number in content["uses"]["measures"]],
        groups=[_row(number) for number in content["worst_groups"]["shown"]],
        alike=_say("alike", content),
        promised=listed([in_words(claim) for claim in content["done"]["claims"]] or ["no model of privacy"]),
        treated={entry["treated"]: entry["means"] for entry in content["dictionary"]},
        labels=list(dict.fromkeys(entry["labels"] for entry in content["dictionary"] if entry["labels"])),
    )
    return shown(text)


def in_words(claim: str) -> str:
    """A privacy model that a provenance claims, in words.

    >>> in_words("KAnonymity(k=5)"), in_words("TCloseness(t=0.2, sensitive='vote')")
    ('k-anonymity, k = 5', "t-closeness, t = 0.2, sensitive = 'vote'")
    """
    name, _, bounds = claim.removesuffix(")").partition("(")
    words = " ".join(re.findall("[A-Z][a-z]*", name)).lower() or name
    return ", ".join(filter(None, [re.sub(r"\b([a-z]) ", r"\1-", words), bounds.replace("=", " = ")]))


@validated
def reserved(card: Card) -> Sentences:
    """What stands against a release although it keeps its policy: sentences."""
    against = card.content["answer"]["reservations"]
    return say(f"{len(against)} reservation{'s' * (len(against) != 1)}.", [*against])


SAMPLES = {"membership": membership.SAMPLE, "linkability": linkability.SAMPLE}  # people, at most
COLUMNS = ["risk", "asks", "on average", "what the average counts", "worst-off person", "cap", ""]


@validated
def measured(card: Card) -> Page:
    """The risks of a card as a table: a Page."""
    rows = [
        (risk["risk"], risk["asks"], _said(risk["mean"]), risk["counts"], _said(risk["worst_person"]),
         "; ".join(percent(cap["cap"]) for cap in risk["caps"]) or "none",
         _verdict(card.content, risk))
        for risk in card.content["risks"]
    ]  # fmt: skip
    return Page(pd.DataFrame(rows, columns=COLUMNS), "risks")


@validated
def worst(card: Card) -> Page | Sentences:
    """The three groups of which each mean risk is largest, where it is above 0: a Page."""
    groups = card.content["worst_groups"]["shown"]
    above = pd.DataFrame([_row(number) for number in groups if number["value"] > 0])
    if above.empty:
        above_0 = "Of no group that is shown is a risk above 0."
        return say(above_0 if groups else "No group is large enough to be shown.")
    first = above.groupby("risk", sort=False).head(WORST)[["risk", "group", "people", "value"]]
    return Page(first.rename(columns={"value": "mean risk"}).reset_index(drop=True), "groups")


@validated
def untried(card: Card) -> Sentences:
    """What no attack behind a card tried: sentences."""
    return say([*card.content["not_tried"]])


@validated
def useful(card: Card) -> Page:
    """What a user keeps: a Page."""
    rows = [_use(number) for number in card.content["uses"]["measures"]]
    return Page(pd.DataFrame(rows, columns=["title", "of", "value", "better", "without", "says"]), "use")


@validated
def dictionary(card: Card) -> Page:
    """The data dictionary: a Page."""
    names = ["name", "role", "treated", "domain", "labels"]
    return Page(pd.DataFrame(card.content["dictionary"], columns=names), "data dictionary")


@validated
def done(card: Card) -> Sentences:
    """How the file was made, what is promised, and the digests: sentences."""
    content = card.content
    release, claims = content["release"], [in_words(claim) for claim in content["done"]["claims"]]
    promised = "No model of privacy is promised."
    if claims:
        promised = f"Promised, and checked in the labels: {listed(claims)}."
    return say(
        f"Made by {content['decision']['release']}: {release['rows']:,} rows. {_say('alike', content)}",
        promised,
        f"Under the policy {content['policy']['title']}, SHA-256 {content['policy']['sha256'][:16]}…",
    )


def _said(number: Part | None) -> str:
    return "" if number is None else with_interval(number)


def _say(macro: str, *arguments: object) -> str:
    """Return one sentence, or a part of one, on a risk."""
    return "".join(prose.say("risk", macro, *arguments))


def _verdict(content: Part, risk: Part) -> str:
    return _say("verdict", risk, unsure(content, risk), any(lenient(cap) for cap in risk["caps"]))


def _worst(content: Part, risk: Part) -> Part:
    """Return a risk as its line at the top: whose is the largest, and what the policy says."""
    person, group = risk["worst_person"], risk["worst_group"]
    without = "" if person is None or person["baseline"] is None else f"{percent(person['baseline'])} without the file"
    return {
        "risk": risk["risk"],
        "person": risk["no_person"] or with_interval(person),
        "without": "" if risk["no_person"] else without,
        "group": _say("group", group) if group else _say("no_group", risk),
        "mean": risk["unknown"] if risk["mean"] is None else _say("mean", risk["mean"], risk["counts"]),
        "caps": _say("caps", risk),
        "verdict": _verdict(content, risk),
    }


def _shown(risk: Part, content: Part) -> Part:
    """Return a risk as its part of the page: what is asked, a gauge per number, sentences."""
    said = [*prose.say("risk", "numbers", risk), *certain(risk)]
    said += nearly_certain(risk, content["policy"]["near_certainty"]) + prose.say("risk", "attacks", risk, SAMPLES)
    groups = [each for each in content["worst_groups"]["shown"] if each["row"]["measure"] == measure_of(risk["risk"])]
    gauges = [_gauge(risk, "on average", "mean"), _gauge(risk, "worst-off person", "largest")]
    return {
        **risk,
        "said": said,
        "named": [_say("group", each) for each in groups[:WORST] if each["value"] > 0],
        "no_group": _say("no_group", risk),
        "verdict": _verdict(content, risk),
        "gauges": [each for each in gauges if each],
        "caps_said": [_say("cap", cap) for cap in risk["caps"]],
        "ids": [id for number in (risk["mean"], risk["worst_person"]) if number for id in number.get("ids", [])],
    }


def _gauge(risk: Part, says: str, statistic: str) -> Part | None:
    """Return a number of a risk beside its cap, drawn from 0 to 1; None where neither it nor a bound of it is known.

    `says`: whose number it is; its `label` is for people who do not see it.
    """
    number = risk["mean" if statistic == "mean" else "worst_person"]
    if number is None or number["high"] is None:
        return None
    value = number["high"] if number["value"] is None else number["value"]
    most = next((cap["cap"] for cap in risk["caps"] if cap["statistic"] == statistic and not cap["group"]), None)
    label = f"{risk['risk']}, {says}: {percent(value)}" + ("" if most is None else f"; cap {percent(most)}")
    ends = {"value": value, "low": number["low"], "high": number["high"]}
    drawn = {name: max(0.0, min(1.0, end or 0.0)) for name, end in ends.items()}
    return {"says": says, **drawn, "baseline": number["baseline"] or None, "cap": most, "label": label}


def _beside(beside: Part | None) -> Part | None:
    """This release and the next one, as lines of a table; None where there is no next one."""
    if beside is None:
        return None
    pair = beside["this"], beside["other"]
    lines = [("loss of its users", *(with_interval(each["lost"]) for each in pair))]
    for risks in zip(*(each["risks"] for each in pair), strict=True):
        for kind, says in (("mean", "on average"), ("worst_person", "worst-off person")):
            if any(each[kind] for each in risks):
                numbers = (with_interval(each[kind]) if each[kind] else "not measured" for each in risks)
                lines.append((f"{risks[0]['risk']}, {says}", *numbers))
    return {"release": beside["release"], "is": beside["is"], "lines": lines}


def _use(number: Part) -> dict[str, str]:
    """A measure of what users keep or lose: what it is, and its number beside what lies at the ends."""
    of = facts(number["row"]["measure"])
    better = f"{of.better} is better" if of.better else ""
    without = "" if number["baseline"] is None else f"{of.baseline}: {of.written(number['baseline'])}"
    value = "unknown" if number["value"] is None else of.written(number["value"])
    if of.unit == "nats" and number["value"] is not None and number["baseline"]:
        share = percent(number["value"] / number["baseline"])
        value, without = f"{share} of that of the {of.baseline}", f"{of.baseline}: 100%"
    return {"title": of.title, "says": of.sentence, "value": value, "better": better, "without": without,
            "of": number["row"].get("target", "")}  # fmt: skip


def _row(number: Part) -> dict[str, str]:
    of = facts(number["row"]["measure"])
    many = "" if number["people"] is None else f"{number['people']:,}"
    return {"risk": of.title, "group": number["row"]["group"], "people": many, "value": with_interval(number)}
