"""The page of a release card, and both of its files beside a release: what a protection officer reads and signs.

Long, since each line of a card is one function here, and the page and the notebook say the same.
"""

import re
from importlib import resources
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from privnb.decision.answer import (
    EVEN,
    KEEPS,
    MEANS,
    RESERVED,
    certain,
    lenient,
    nearly_certain,
    unsure,
)
from privnb.decision.card import ENDING, check
from privnb.decision.policies import measure_of
from privnb.decision.prose import with_interval
from privnb.evaluation.risks import linkability, membership
from privnb.measures.base import facts
from privnb.microdata.withholding import LIMIT
from privnb.publishing.decided import PAGE
from privnb.reporting.templating import environment
from privnb.runtime.invisible import shown
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import Page, listed, say

WORST = 3  # groups that are named beside a risk


COLOURS = {KEEPS: "keeps", RESERVED: "reserved"}  # of the answer, as classes of the page; else it breaks the policy


class Gauge(NamedTuple):
    """One number of a risk beside its cap, drawn from 0 to 1, which is 0% to 100%."""

    says: str  # whose number it is
    value: float
    low: float
    high: float
    baseline: float | None
    cap: float | None
    label: str  # for whoever does not see it


def texts(card):
    """What stands of a card beside its release, by the endings of the files: its JSON and its page."""
    check(card)
    return {ENDING: card.text, PAGE: page(card)}


def page(card):
    """The page of a card: HTML that needs nothing else, a text."""
    check(card)
    made = environment()
    own = resources.files("privnb.reporting").joinpath("templates/privnb_report/card.css").read_text(encoding="utf-8")
    content = card.content
    answer = content["answer"]
    text = made.get_template("card.html.j2").render(
        STYLE=made.globals["STYLE"] + Markup(own),
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
        alike=_alike(content),
        promised=listed([in_words(claim) for claim in content["done"]["claims"]] or ["no model of privacy"]),
        treated={entry["treated"]: entry["means"] for entry in content["dictionary"]},
        labels=list(dict.fromkeys(entry["labels"] for entry in content["dictionary"] if entry["labels"])),
    )
    return shown(text)


def in_words(claim):
    """A privacy model that a provenance claims, in words.

    >>> in_words("KAnonymity(k=5)"), in_words("TCloseness(t=0.2, sensitive='vote')")
    ('k-anonymity, k = 5', "t-closeness, t = 0.2, sensitive = 'vote'")
    """
    name, _, bounds = claim.removesuffix(")").partition("(")
    words = " ".join(re.findall("[A-Z][a-z]*", name)).lower() or name
    return ", ".join(filter(None, [re.sub(r"\b([a-z]) ", r"\1-", words), bounds.replace("=", " = ")]))


def reserved(card):
    """What stands against a release although it keeps its policy: sentences."""
    check(card)
    against = card.content["answer"]["reservations"]
    return say(f"{len(against)} reservation{'s' * (len(against) != 1)}.", [*against])


# How many people a risk is measured of, where it is not of all.
ASKED = {
    "membership": f"At most {membership.SAMPLE:,} people of the table and as many others were asked about.",
    "linkability": f"At most {linkability.SAMPLE:,} people were asked about.",
}
COLUMNS = ["risk", "asks", "on average", "what the average counts", "worst-off person", "cap", ""]


def measured(card):
    """The risks of a card as a table: a Page."""
    check(card)
    rows = [
        (risk["risk"], risk["asks"], _said(risk["mean"]), risk["counts"], _said(risk["worst_person"]),
         "; ".join(percent(cap["cap"]) for cap in risk["caps"]) or "none",
         _verdict(card.content, risk))
        for risk in card.content["risks"]
    ]  # fmt: skip
    return Page(pd.DataFrame(rows, columns=COLUMNS), "risks")


def worst(card):
    """The three groups of which each mean risk is largest, where it is above 0: a Page."""
    check(card)
    groups = pd.DataFrame([_row(number) for number in card.content["worst_groups"]["shown"]])
    if groups.empty:
        return say("No group is large enough to be shown.")
    above = groups[[number["value"] > 0 for number in card.content["worst_groups"]["shown"]]]
    if above.empty:
        return say("Of no group that is shown is a risk above 0.")
    first = above.groupby("risk", sort=False).head(WORST)[["risk", "group", "people", "value"]]
    return Page(first.rename(columns={"value": "mean risk"}).reset_index(drop=True), "groups")


def untried(card):
    """What no attack behind a card tried: sentences."""
    check(card)
    return say([*card.content["not_tried"]])


def useful(card):
    """What a user keeps: a Page."""
    check(card)
    rows = [_use(number) for number in card.content["uses"]["measures"]]
    return Page(pd.DataFrame(rows, columns=["title", "of", "value", "better", "without", "says"]), "use")


def dictionary(card):
    """The data dictionary: a Page."""
    check(card)
    names = ["name", "role", "treated", "domain", "labels"]
    return Page(pd.DataFrame(card.content["dictionary"], columns=names), "data dictionary")


def done(card):
    """How the file was made, what is promised, and the digests: sentences."""
    check(card)
    content = card.content
    release, claims = content["release"], content["done"]["claims"]
    promised = listed([in_words(claim) for claim in claims]) if claims else ""
    promised = f"Promised, and checked in the labels: {promised}." if claims else "No model of privacy is promised."
    return say(
        f"Made by {content['decision']['release']}: {release['rows']:,} rows. {_alike(content)}",
        promised,
        f"Under the policy {content['policy']['title']}, SHA-256 {content['policy']['sha256'][:16]}…",
    )


def _said(number):
    return "" if number is None else with_interval(number)


def _verdict(content, risk):
    caps, many = risk["caps"], unsure(content, risk)
    if not caps:
        return "unknown" if risk["unknown"] else "no cap"
    if not all(cap["kept"] for cap in caps):
        return "not kept"
    groups = {"measured above it in": max(len(cap["exceeded_in"]) for cap in caps), "not shown to be below it in": many}
    if said := [f"{where} {count} group{'s' * (count > 1)}" for where, count in groups.items() if count]:
        return f"kept on average; {', '.join(said)}"
    return "kept by a lenient reading" if any(lenient(cap) for cap in caps) else "kept"


def _worst(content, risk):
    """A risk as its line at the top: whose is the largest, and what the policy says."""
    person, group = risk["worst_person"], risk["worst_group"]
    without = "" if person is None or person["baseline"] is None else f"{percent(person['baseline'])} without the file"
    caps = [f"{_written(cap)}{WHOSE[cap['statistic']] if not cap['group'] else ', each group'}"
            for cap in risk["caps"]]  # fmt: skip
    return {
        "risk": risk["risk"],
        "person": risk["no_person"] or with_interval(person),
        "without": "" if risk["no_person"] else without,
        "group": _group_said(group) if group else _no_group(risk),
        "mean": risk["unknown"] if risk["mean"] is None else _mean_said(risk["mean"], risk["counts"]),
        "caps": "; ".join(caps) or "none",
        "verdict": _verdict(content, risk),
    }


def _written(cap):
    """A cap as the policy writes it, and as it is read."""
    written = percent(cap["written"])
    return written if cap["written"] == cap["cap"] else f"{written}, read as {percent(cap['cap'])}"


WHOSE = {"mean": ", on average", "largest": ", worst-off person"}  # whom a cap is on


def _mean_said(mean, counts):
    none = counts.startswith("more") and mean["value"] is not None and mean["value"] <= 0
    return f"{NO_BETTER} {_compared(counts)}: {with_interval(mean)}" if none else with_interval(mean)


NO_BETTER = "no better than guessing"


def _compared(counts):
    """What a gain is over, of the words for what its mean counts: without the file, unless they say it."""
    return next((counts[counts.index(each) :] for each in ("from ", "without ") if each in counts), "without the file")


def _no_group(risk):
    if risk["groups_withheld"] and not risk["groups"]:
        return f"withheld, because fewer than {LIMIT} people are right or wrong"
    if not risk["groups"]:
        return "not measured, because there are no groups"
    return f"none of {risk['groups']} is above 0"


def _group_said(number):
    """A group with its people and its mean risk."""
    many = "" if number["people"] is None else f" ({number['people']:,} people)"
    return f"{number['row']['group']}{many}: {with_interval(number)}"


def _on_average(mean, counts):
    """A mean and what it counts, as a sentence: a gain that is none is no negative number of people.

    >>> number = {"value": -0.05, "low": -0.1, "high": 0.01, "unit": "share of people"}
    >>> _on_average(number, "more people are found").startswith("On average no better than guessing without the file: ")
    True
    """
    said = _mean_said(mean, counts)
    return f"On average {said}." if said.startswith(NO_BETTER) else f"On average {said} {counts}."


def _shown(risk, content):
    """A risk as its part of the page: what is asked, a gauge per number, sentences."""
    said, of = [], ["", ""]
    if len(risk["of"]) > 1:  # of several sensitive attributes the worst one stands there, each time
        of = [f" ({number['row']['target']})" if number else "" for number in (risk["mean"], risk["worst_person"])]
    if risk["unknown"]:
        said.append(f"It is unknown. {risk['unknown']} Unknown does not mean low.")
    if mean := risk["mean"]:
        said.append(_on_average(mean, risk["counts"] + of[0]))
        if risk["others"]:
            already = f"guessed right already{of[0]}"
            said.append(f"From all other people's records {with_interval(risk['others'])} are {already}.")
        if mean["value"] is not None and mean["value"] < 0:
            said.append("Below 0 the file misleads more often than it helps.")
        if mean["baseline"]:
            said.append(f"Without the file: {percent(mean['baseline'])} ({risk['baseline_is']}).")
    worst = risk["worst_person"]
    if risk["no_person"]:
        said.append(f"For the worst-off person: {risk['no_person']}.")
    else:
        without = "" if worst["baseline"] is None else f", and {percent(worst['baseline'])} without the file"
        said.append(f"For the worst-off person{of[1]}: {_alone(worst)}{without}.")
    said += [*certain(risk), *nearly_certain(risk, content["policy"]["near_certainty"])]
    if ceiling := risk["ceiling"]:
        said.append(f"No attack can exceed what the records themselves would tell: {_alone(ceiling)}.")
    if risk["risk"] in ASKED and mean:
        said.append(ASKED[risk["risk"]])
    if risk["risk"] == "membership":
        said.append("The number is for somebody who does not know yet who is in the table.")
        said.append("Who knows it already learns nothing more by this attack.")
    measure = measure_of(risk["risk"])
    groups = [each for each in content["worst_groups"]["shown"] if each["row"]["measure"] == measure]
    named = [_group_said(each) for each in groups[:WORST] if each["value"] > 0]
    gauges = [_gauge(risk, *each) for each in (("on average", mean, "mean"), ("worst-off person", worst, "largest"))]
    return {
        **risk, "said": said, "named": named, "no_group": _no_group(risk), "verdict": _verdict(content, risk),
        "gauges": [each for each in gauges if each], "caps_said": [_cap(cap) for cap in risk["caps"]],
    }  # fmt: skip


def _cap(cap):
    who = f" ({cap['group']})" if cap["group"] else ""
    if cap["high"] is None:
        return f"{cap['says']}{who}: unknown, so the cap of {percent(cap['cap'])} is not kept."
    verb = "at most" if cap["high"] == cap["value"] or cap["value"] is None else "up to"
    kept = "is kept" if cap["kept"] else "is not kept"
    if cap["exceeded_in"]:
        kept = (
            "is kept on average, and the measured risk is above it in "
            f"{len(cap['exceeded_in'])} group{'s' * (len(cap['exceeded_in']) > 1)}"
        )
    says = cap["says"][0].upper() + cap["says"][1:]
    return f"{says}{who}: {verb} {percent(cap['high'])}. The cap of {percent(cap['cap'])} {kept}."


def _gauge(risk, says, number, statistic):
    """A number of a risk beside the cap on it; None where neither it nor a bound of it is known."""
    if number is None or number["high"] is None:
        return None
    value = number["high"] if number["value"] is None else number["value"]
    most = next((cap["cap"] for cap in risk["caps"] if cap["statistic"] == statistic and not cap["group"]), None)
    label = f"{risk['risk']}, {says}: {percent(value)}" + ("" if most is None else f"; cap {percent(most)}")
    baseline = number["baseline"] or None
    inside = [None if each is None else max(0.0, min(1.0, each)) for each in (value, number["low"], number["high"])]
    return Gauge(says, inside[0], inside[1] or 0.0, inside[2], baseline, most, label)


def _beside(beside):
    """This release and the next one, as lines of a table; None where there is no next one."""
    if beside is None:
        return None
    pair = beside["this"], beside["other"]
    lines = [("loss of its users", *(with_interval(each["lost"]) for each in pair))]
    for this, other in zip(*(each["risks"] for each in pair), strict=True):
        for kind, says in (("mean", "on average"), ("worst_person", "worst-off person")):
            if this[kind] or other[kind]:
                numbers = (with_interval(each[kind]) if each[kind] else "not measured" for each in (this, other))
                lines.append((f"{this['risk']}, {says}", *numbers))
    return {"release": beside["release"], "is": beside["is"], "lines": lines}


def _alike(content):
    """How many rows share each combination: a sentence, which says so where it cannot be counted in the file."""
    release, before = content["release"], content["alike"]
    if release["k"] is not None:
        return f"At least {release['k']} rows share each combination of quasi-identifiers."
    if not release["quasi_identifiers"]:
        return "How many share a combination is not counted: the file has no quasi-identifiers."
    said = "How many share each combination is not counted in the file: its cells are not true of their records."
    least = None if before is None else before["low"] if before["value"] is None else before["value"]
    return said + (f" When it was measured, at least {least:,.0f} people shared each combination." if least else "")


def _use(number):
    """A measure of what users keep or lose: what it is, and its number beside what lies at the ends."""
    of = facts(number["row"]["measure"])
    better = {"lower": "lower is better", "higher": "higher is better"}.get(of.better, "")
    without = "" if number["baseline"] is None else f"{of.baseline}: {of.written(number['baseline'])}"
    value = "unknown" if number["value"] is None else of.written(number["value"])
    if of.unit == "nats" and number["value"] is not None and number["baseline"]:
        share = percent(number["value"] / number["baseline"])
        value, without = f"{share} of that of the {of.baseline}", f"{of.baseline}: 100%"
    return {"title": of.title, "says": of.sentence, "value": value, "better": better, "without": without,
            "of": number["row"].get("target", "")}  # fmt: skip


def _row(number):
    of = facts(number["row"]["measure"])
    many = "" if number["people"] is None else f"{number['people']:,}"
    return {"risk": of.title, "group": number["row"]["group"], "people": many, "value": with_interval(number)}


def _alone(number):
    """A number without its interval; of a withheld one the bound that is known.

    >>> _alone({"value": None, "low": None, "high": 0.2})
    'at most 20%'
    """
    return with_interval(number) if number["value"] is None else percent(number["value"])
