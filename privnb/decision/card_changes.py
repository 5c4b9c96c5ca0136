"""The comparison of two release cards of one dataset: what changed in settings, risks, utility and caps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from privnb.decision.by_policy import ENDS
from privnb.decision.card import Card
from privnb.measures.base import measure_facts
from privnb.runtime.errors import InputError
from privnb.runtime.tolerances import nearly_equal
from privnb.runtime.validation import validated

Part = dict[str, Any]  # plain values
QUANTITY = ("measure", "variant", "scenario", "target", "group")  # the entries that name the quantity of a number
BROKEN, KEPT = "newly broken", "newly kept"


@validated
def compare_cards(old: Card, new: Card) -> Part:
    """Compare two cards of the same dataset.

    Parameters
    ----------
    old, new : Card

    Returns
    -------
    dict
        Plain values. `settings`: the facts about the release, the data and the policy that differ, each with `old` and
        `new`. `same_policy`: whether the caps are the same; if not, `caps` is empty. `risks`, `uses`: each number in
        both cards, with `old`, `new`, the `difference` of the values and `within_chance`, whether the intervals
        overlap. A risk is not `comparable` if the cards measure different quantities, such as the people whom synthetic
        rows single out and the people who are re-identified. `caps`: each cap with `change`: "newly broken", "newly
        kept" or empty.

    Raises
    ------
    InputError
        If the cards are of different datasets, because their risks cannot be compared.
    """
    of = [card.content for card in (old, new)]
    names = [content["measured_on"].partition("/")[0] for content in of]
    if names[0] != names[1]:
        raise InputError(
            f"the cards must be of one dataset; got {old.content['release']['file']} of '{names[0]}' and "
            f"{new.content['release']['file']} of '{names[1]}', whose risks concern different people. Give two cards "
            "of one dataset."
        )
    same = _caps_of(of[0]) == _caps_of(of[1])
    return {
        "kind": "cards",
        "old": of[0]["release"]["file"],
        "new": of[1]["release"]["file"],
        "dataset": names[0],
        "settings": [*_settings(*of)],
        "same_policy": same,
        "policies": [content["policy"]["title"] for content in of],
        "risks": [*_risks(*of)],
        "uses": [*_uses(*of)],
        "caps": [*_caps(*of)] if same else [],
    }


def _caps_of(content: Part) -> list[Any]:
    """Return the conditions of a card's policy."""
    policy = content["policy"]
    return [policy["name"], policy["caps"], policy["min_class_size"], policy["near_certainty"], policy.get("adversary")]


def _settings(old: Part, new: Part) -> Iterator[Part]:
    """Yield the facts about the two releases that differ."""
    facts = _facts(old), _facts(new)
    for name, one in facts[0].items():
        if one != facts[1][name]:
            yield {"name": name, "old": one, "new": facts[1][name]}
    columns = [content["done"]["columns"] for content in (old, new)]
    for name in dict.fromkeys([*columns[0], *columns[1]]):
        one, other = (each.get(name, "not published").partition(":")[0] for each in columns)
        if one != other:
            yield {"name": f"the column {name}", "old": one, "new": other}


def _facts(content: Part) -> dict[str, str]:
    """Return the facts that identify a release, its data and its policy, `{name: text}`."""
    done, release = content["done"], content["release"]
    made = done.get("made", {})
    return {
        "the release": content["decision"]["release"],
        "the study": content["measured_on"],
        "the number of rows": f"{release['rows']:,}",
        "the smallest class (k)": str(release["k"] or "not counted"),
        "the origin of the rows": done["rows"],
        "the policy": content["policy"]["title"],
        "the digest of the policy": content["policy"]["sha256"][:12],
        "the caps": "changed after results had been seen" if "caps_changed" in content["decision"] else "not changed",
        "the number of people": "unknown" if content["people"] is None else f"{content['people']:,}",
        "the input": str(made.get("input", "not stated")),
        "the version of privnb": str(made.get("versions", {}).get("privnb", "not stated")),
    }


def _risks(old: Part, new: Part) -> Iterator[Part]:
    """Yield each risk of both cards, as the mean over people and for the worst-off person."""
    others: dict[str, Part] = {risk["risk"]: risk for risk in new["risks"]}
    for risk in old["risks"]:
        for whose in ("mean", "worst_person"):
            one, other = risk[whose], others.get(risk["risk"], {}).get(whose)
            if number := one or other:
                target = number["row"].get("target", "")
                same = one is None or other is None or _name_quantity(one) == _name_quantity(other)
                unlike: Part = {} if same else {"difference": None, "within_chance": False}
                found = _compare(one, other) | unlike
                yield {"risk": risk["risk"], "whose": whose, "target": target, "comparable": same, **found}


def _name_quantity(number: Part) -> tuple[str, ...]:
    """Return the entries that name the quantity of a number, which differs between synthetic and other rows."""
    return tuple(number["row"].get(name, "") for name in QUANTITY)


def _uses(old: Part, new: Part) -> Iterator[Part]:
    """Yield the loss of the users and each measure of utility in both cards."""
    lost = _compare(old["uses"]["lost"], new["uses"]["lost"])
    yield {"measure": "loss", "title": "Utility loss", "unit": "", **lost}
    of = [{_name_use(each): each for each in content["uses"]["measures"]} for content in (old, new)]
    for name in of[0]:
        if name in of[1]:
            facts = measure_facts(name[0])
            numbers = _compare(of[0][name], of[1][name])
            yield {"measure": name[0], "title": facts.title, "unit": facts.unit, **numbers}


def _name_use(number: Part) -> tuple[str, ...]:
    """Return the entries that name a number of utility in its card."""
    return tuple(number["row"].get(name, "") for name in ("measure", "target", "miner"))


def _compare(old: Part | None, new: Part | None) -> Part:
    """Return two numbers, their difference, and whether the difference is within chance: whether the intervals overlap.

    A number without an interval is an exact count. If either number has no interval, the difference is not reported as
    within chance.
    """
    numbers = [None if each is None else {end: each[end] for end in ENDS} for each in (old, new)]
    unknown: Part = dict.fromkeys(ENDS)
    one, other = (unknown if each is None else each for each in numbers)
    difference, overlap = None, False
    if one["value"] is not None and other["value"] is not None:
        difference = 0.0 if nearly_equal(one["value"], other["value"]) else other["value"] - one["value"]
    if is_estimate(one) and is_estimate(other):
        overlap = bool(one["low"] <= other["high"] and other["low"] <= one["high"])
    return {"old": numbers[0], "new": numbers[1], "difference": difference, "within_chance": overlap}


def is_estimate(number: Part) -> bool:
    """Return whether a number has an interval, and is not only counted in the release."""
    return number["low"] is not None and number["high"] is not None and number["low"] < number["high"]


def _caps(old: Part, new: Part) -> Iterator[Part]:
    """Yield each cap of two cards of one policy, and whether the second release newly breaks or meets the cap."""
    of = [{cap["subject"]: cap for risk in content["risks"] for cap in risk["caps"]} for content in (old, new)]
    for subject in of[0]:
        if subject in of[1]:
            one, other = (each[subject] for each in of)
            change = "" if one["kept"] == other["kept"] else KEPT if other["kept"] else BROKEN
            numbers = ({end: each[end] for end in (*ENDS, "kept")} for each in (one, other))
            sides = dict(zip(("old", "new"), numbers, strict=True))
            yield {"subject": subject, "cap": other["cap"], **sides, "change": change}
