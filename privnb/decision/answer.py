"""The answer of a card as data: whether the release complies with the policy, and the reservations about the release.

The answer is derived from the content of the card, so that a reader of the card can derive it again.
"""

from collections.abc import Iterator
from typing import Any

from privnb.decision import policies
from privnb.decision.explanation import MISLED, MUCH
from privnb.decision.policy_changes import list_unprotected
from privnb.microdata.schema import Role

KEEPS, RESERVED, BREAKS = "keeps the policy", "keeps the policy, with reservations", "breaks the policy"
EVEN = 0.5  # a risk without a cap is a reservation if it is more likely than not
OF_ONE = ("identity", "attribute", "linkability")  # risks that are measured for one person

Part = dict[str, Any]  # a part of a card, as plain values


def answer(content: Part) -> Part:
    """Return whether the release of a card complies with the card's policy, and the reservations about the release.

    Parameters
    ----------
    content : dict
        The content of a card, without its answer.

    Returns
    -------
    dict
        `keeps`: whether the release complies with the policy; `status`: one of `KEEPS`, `RESERVED`, `BREAKS`; `caps`:
        the number of caps; `kept`: the number of caps that the release meets; `is_small`: whether the smallest class
        has too few rows; `reservations`: a list of dicts, each with a `kind`, which selects the sentence in
        `templates/card.j2`. A large loss and misled users come first, then a policy that protects no
        sensitive values, then values that are disclosed with certainty.
    """
    release, policy, risks = content["release"], content["policy"], content["risks"]
    caps = [cap for risk in risks for cap in risk["caps"]]
    kept = sum(cap["kept"] for cap in caps)
    is_small = release["k"] is not None and release["k"] < policy["min_class_size"]
    gate = content["done"].get("gate")
    ruled_out = bool(content["decision"].get("reasons"))
    keeps = kept == len(caps) and not is_small and not ruled_out and (gate is None or gate["allowed"])
    reservations = [*_of_utility(content), *_of_policy(content), *_of_risks(risks), *_of_making(content)]
    return {
        "keeps": keeps,
        "status": BREAKS if not keeps else RESERVED if reservations else KEEPS,
        "caps": len(caps),
        "kept": kept,
        "is_small": is_small,
        "reservations": reservations,
    }


def _of_utility(content: Part) -> Iterator[Part]:
    """Yield the reservations about the rows.

    They are a large loss, misled users, columns without information, copies of records, and vanished values.
    """
    lost = content["uses"]["lost"]
    if lost["value"] is not None and lost["value"] > MUCH:
        yield {"kind": "much_lost", "number": lost}
    for number in content["uses"]["measures"]:
        if number["row"]["measure"] == "worse_than_trivial" and (number["value"] or 0.0) > MISLED:
            yield {"kind": "misled", "number": number}
    if empty := content.get("empty_columns"):
        yield {"kind": "empty_columns", "columns": empty, "of": len(content["release"]["quasi_identifiers"])}
    copies = content.get("copies")
    if copies and copies["copied"] and (copies["copied"]["low"] or 0) > 0:
        yield {"kind": "copied", "number": copies["copied"]}
    if content.get("vanished"):
        yield {"kind": "vanished", "columns": content["vanished"]}


def _of_policy(content: Part) -> Iterator[Part]:
    """Yield the reservation that the policy limits no risk that a sensitive value is disclosed."""
    sensitive = [column["name"] for column in content["dictionary"] if column["role"] == Role.SENSITIVE]
    if unprotected := list_unprotected(content["policy"], sensitive):
        yield {"kind": "unprotected", "attributes": unprotected}


def _of_risks(risks: list[Part]) -> Iterator[Part]:
    """Yield the reservations about the risks of a release: values that are disclosed with certainty come first."""
    for risk in risks:
        for number in risk["certain"]:
            yield {"kind": "certain", "attribute": number["row"].get("target", ""), "number": number}
    for risk in risks:
        if risk["risk"] == "certainty" and risk["withheld"]:
            yield {"kind": "certain_withheld", "attributes": [*filter(None, risk["withheld"])]}
        yield from _of_risk(risk)
    if unknown := [risk["risk"] for risk in risks if risk["unknown"]]:
        yield {"kind": "unknown", "risks": unknown}


def _of_risk(risk: Part) -> Iterator[Part]:
    """Yield the reservations about one risk: numbers that the caps of the risk do not limit or limit only leniently."""
    name = risk["risk"]
    person_is_capped = any(cap["statistic"] == "largest" for cap in risk["caps"])
    if name in OF_ONE and not person_is_capped and _is_likely(risk["worst_person"]):
        yield {"kind": "worst_person", "risk": name, "number": risk["worst_person"]}
    if name == "certainty":
        return
    if not risk["caps"] and _is_likely(risk["mean"]):
        yield {"kind": "average", "risk": name, "number": risk["mean"]}
    elif not risk["caps"] and _is_likely(risk["worst_group"]):
        yield {"kind": "worst_group", "risk": name, "number": risk["worst_group"]}
    for cap in risk["caps"]:
        if cap["kept"] and cap["exceeded_in"]:
            yield {"kind": "groups_over", "risk": name, "cap": cap["cap"], "groups": cap["exceeded_in"]}
        if cap["lenient"]:
            yield {"kind": "lenient", "risk": name, "cap": cap}


def _of_making(content: Part) -> Iterator[Part]:
    """Yield the reservations about the policy, the measurement and the file of a release."""
    policy, done = content["policy"], content["done"]
    if not policy["verified"]:
        yield {"kind": "unverified_policy", "is_ours": policy["name"] in policies.list_policy_names()}
    if content["unmeasured"]:
        yield {"kind": "unmeasured", "attributes": content["unmeasured"]}
    ruled_out = content["decision"].get("reasons") and not content["decision"]["chosen"]  # the verdict states why
    if content["decision"]["chosen"] != content["decision"]["release"] and not ruled_out:
        yield {"kind": "not_chosen", "chosen": content["decision"]["chosen"]}
    if content["measured_on"] != done.get("dataset"):
        yield {"kind": "other_records", "dataset": content["measured_on"]}
    if not str(done["use"]).startswith("release"):
        yield {"kind": "seeded"}
    if policy["changed"]:
        yield {"kind": "policy_changed"}
    changed = content["decision"].get("caps_changed")
    if changed and any(row["is_wider"] for row in changed["rows"]):
        yield {"kind": "caps_changed"}


def _is_likely(number: Part | None) -> bool:
    """Return whether a risk is at least one half, and larger than without the file."""
    if number is None or number["value"] is None:
        return False
    return number["value"] >= EVEN and number["value"] > (number["baseline"] or 0)
