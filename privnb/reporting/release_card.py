"""The page of a release card, and both of its files beside a release: what a protection officer reads and signs."""

from importlib import resources
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from privnb.decision.card import ENDING, check
from privnb.decision.reasons import UNSAID
from privnb.measures.base import facts
from privnb.microdata import numerals
from privnb.microdata.sentences import Page, say
from privnb.reporting.rendering import templates

PAGE = ".card.html"
WORST = 3  # groups that are named beside a risk


class Gauge(NamedTuple):
    """One risk beside its cap, drawn from 0 to `end`: shares of the width."""

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
    made = templates()
    own = resources.files("privnb.reporting").joinpath("templates/privnb_report/card.css").read_text(encoding="utf-8")
    content = card.content
    return made.get_template("card.html.j2").render(
        STYLE=made.globals["STYLE"] + Markup(own),
        card=content,
        file=card.name,
        risks=[_shown(risk, content) for risk in content["risks"]],
        uses=[_use(number) for number in content["uses"]["measures"]],
        groups=[_row(number) for number in content["worst_groups"]["shown"]],
    )


def measured(card):
    """The five risks of a card as a table: a Page."""
    check(card)
    rows = [
        (risk["risk"], risk["asks"], _said(risk["mean"]), _said(risk["worst_person"]),
         "; ".join(_share(cap["cap"]) for cap in risk["caps"]) or "none",
         _verdict(risk))
        for risk in card.content["risks"]
    ]  # fmt: skip
    return Page(pd.DataFrame(rows, columns=["risk", "asks", "on average", "worst-off person", "cap", ""]), "risks")


def worst(card):
    """The three groups of which each mean risk is largest: a Page."""
    check(card)
    groups = pd.DataFrame([_row(number) for number in card.content["worst_groups"]["shown"]])
    if groups.empty:
        return say("No group is large enough to be shown.")
    first = groups.groupby("risk", sort=False).head(WORST)[["risk", "group", "value"]]
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
    k = "" if release["k"] is None else f" At least {release['k']} rows share each combination."
    promised = (
        f"Promised, and checked in the labels: {', '.join(claims)}." if claims else "No model of privacy is promised."
    )
    return say(
        f"Made by {content['done']['sanitizer']}: {release['rows']:,} rows.{k}",
        promised,
        f"Under the policy {content['policy']['title']}, SHA-256 {content['policy']['sha256'][:16]}…",
    )


def _said(number):
    return "" if number is None else _with_interval(number)


def _verdict(risk):
    if risk["caps"]:
        return "kept" if all(cap["kept"] for cap in risk["caps"]) else "not kept"
    return "unknown" if risk["unknown"] else "no cap"


def _on_average(mean, counts):
    """A mean and what it counts, as a sentence: a gain that is none is no negative number of people.

    >>> number = {"value": -0.05, "low": -0.1, "high": 0.01, "unit": "share of people"}
    >>> _on_average(number, "more people are found").startswith("On average no more people are found: ")
    True
    """
    none = counts.startswith("more") and mean["value"] is not None and mean["value"] <= 0
    said = _with_interval(mean)
    return f"On average no {counts}: {said}." if none else f"On average {said} {counts}."


def _shown(risk, content):
    """A risk as its part of the page: what is asked, a gauge per cap, sentences."""
    said = []
    if risk["unknown"]:
        said.append(f"It is unknown. {risk['unknown']} Unknown does not mean low.")
    if mean := risk["mean"]:
        said.append(_on_average(mean, risk["counts"]))
        if mean["baseline"] is not None:
            said.append(f"Without the file: {_share(mean['baseline'])} ({risk['baseline_is']}).")
    if worst := risk["worst_person"]:
        without = "" if worst["baseline"] is None else f", and {_share(worst['baseline'])} without the file"
        said.append(f"For the worst-off person: {_alone(worst)}{without}.")
    if ceiling := risk["ceiling"]:
        said.append(f"The same attack on the records themselves: {_alone(ceiling)}.")
    measure = f"{risk['risk'].replace('-', '_')}_risk"
    groups = [each for each in content["worst_groups"]["shown"] if each["row"]["measure"] == measure]
    named = [f"{each['row']['group']}: {_share(each['value'])}" for each in groups[:WORST]]
    gauges = [_gauge(cap, risk) for cap in risk["caps"]] or ([_gauge(None, risk)] if mean else [])
    return {
        **risk, "said": said, "groups": named, "gauges": [each for each in gauges if each], "verdict": _verdict(risk),
        "caps_said": [_cap(cap) for cap in risk["caps"]],
    }  # fmt: skip


def _cap(cap):
    who = f" ({cap['group']})" if cap["group"] else ""
    if cap["high"] is None:
        return f"{cap['says']}{who}: unknown, so the cap of {_share(cap['cap'])} is not kept."
    verb = "at most" if cap["high"] == cap["value"] or cap["value"] is None else "up to"
    kept = "is kept" if cap["kept"] else "is not kept"
    says = cap["says"][0].upper() + cap["says"][1:]
    return f"{says}{who}: {verb} {_share(cap['high'])}. The cap of {_share(cap['cap'])} {kept}."


def _gauge(cap, risk):
    """A cap beside its number; without one the mean risk by itself."""
    number = cap or risk["mean"]
    if number["high"] is None:
        return None
    value = number["high"] if number["value"] is None else number["value"]
    base = (risk["worst_person"] if cap and "worst-off" in cap["says"] else risk["mean"]) or {}
    most = cap["cap"] if cap else None
    ends = [number["high"], value, base.get("baseline") or 0, 2 * most if most else 0, 0.01]
    end = min(1.0, 1.1 * max(ends))
    label = f"{cap['says'] if cap else risk['risk']}: {_share(value)}" + (f"; cap {_share(most)}" if most else "")
    baseline = base.get("baseline")
    scaled = [None if each is None else max(0.0, min(1.0, each / end)) for each in (number["low"], baseline, most)]
    return Gauge(max(0, value) / end, scaled[0] or 0, min(1.0, max(0, number["high"]) / end), *scaled[1:], label)


def _use(number):
    """A measure of what users keep or lose: what it is, and its number beside what lies at the ends."""
    of = facts(number["row"]["measure"])
    better = {"lower": "lower is better", "higher": "higher is better"}.get(of.better, "")
    without = "" if number["baseline"] is None else f"{of.baseline}: {of.written(number['baseline'])}"
    value = "unknown" if number["value"] is None else of.written(number["value"])
    if of.unit == UNSAID and number["value"] is not None and number["baseline"]:
        share = _share(number["value"] / number["baseline"])
        value, without = f"{share} of that of the {of.baseline}", ""
    return {"title": of.title, "says": of.sentence, "value": value, "better": better, "without": without,
            "of": number["row"].get("target", "")}  # fmt: skip


def _row(number):
    of = facts(number["row"]["measure"])
    return {"risk": of.title, "group": number["row"]["group"], "value": _with_interval(number), "of": number["row"]}


def _alone(number):
    """A number without its interval; of a withheld one the bound that is known.

    >>> _alone({"value": None, "low": None, "high": 0.2})
    'at most 20%'
    """
    return _with_interval(number) if number["value"] is None else _share(number["value"])


def _with_interval(number):
    value, low, high = number["value"], number["low"], number["high"]
    if value is None:
        return "withheld" if high is None else f"at most {_share(high)}"
    if low is None or low == high:
        return _share(value)
    text, *ends = numerals.interval("{:%}", value, low, high)
    return f"{text} (95% interval: {' to '.join(ends)})"


def _share(value):
    return numerals.bare("{:%}", value)
