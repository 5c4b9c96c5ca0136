"""Policies as plain values, the differences between two policies, and the copy of a policy file that is replaced."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from privnb.decision import policies
from privnb.decision.by_policy import LARGE, Decision
from privnb.decision.policies import Policy
from privnb.runtime.tolerances import nearly_equal

Part = dict[str, Any]  # plain values
ADVERSARY = "adversary"
APART = (
    "name",
    "sha256",
    "caps",
    "min_class_size",
    "verified",
    ADVERSARY,
)  # fields that are not compared, or have their own rows
VALUE_RISKS = {"attribute", "certainty", "near certainty"}  # risks that a sensitive value is disclosed


def policy_values(policy: Policy) -> Part:
    """Return a policy as plain values."""
    stated = ("name", *policies.TEXTS, "verified", "min_class_size", "near_certainty", "tolerance", "order", "sha256")
    caps = [{"risk": cap.risk, "subject": cap.subject, "written": cap.at_most, "most": cap.most} for cap in policy.caps]
    needs = [{"measure": need.measure, "most_lost": need.most_lost, "weight": need.weight} for need in policy.needs]
    large = [need.measure for need in policy.needs] == LARGE
    texts = {name: getattr(policy, name) for name in stated}
    if policy.is_informed:
        texts[ADVERSARY] = policy.adversary
    return texts | {"caps": caps, "needs": needs, "about_large_groups": large}


def list_unprotected(policy: Mapping[str, Any], sensitive: Sequence[str]) -> list[str]:
    """Return the sensitive attributes if a policy limits no risk that their values are disclosed.

    The policy is plain values with `caps`, such as those of `policy_values`. A cap of 100% limits nothing.
    """
    limited = {cap["risk"] for cap in policy["caps"] if cap["most"] < 1}
    return [] if limited & VALUE_RISKS else [*sensitive]


def explain_changed_caps(decision: Decision) -> Part:
    """Return the caps that differ from those of the first search of the table, under the key `caps_changed`.

    The value has the `day`, the `title` and the `sha256` of the policy of the first search, and the `rows` of
    `compare_caps`. The result is empty if no cap differs, or if the first search is not known.
    """
    first = decision.first_search
    rows = [] if first is None else compare_caps(first, policy_values(decision.policy))
    if first is None or not rows:
        return {}
    return {"caps_changed": {**{name: first[name] for name in ("day", "title", "sha256")}, "rows": rows}}


def compare_caps(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Part]:
    """Return the caps of two policies that differ, and their minimum class sizes and adversaries if these differ.

    The policies are plain values with `caps` and `min_class_size`, such as those of `explanation.policy_values`. Each
    row has the `subject`, which is empty for the minimum class size and "adversary" for the adversary; the `old` and
    the `new` number, which is None if the policy has no such cap; and `is_wider`, whether the new policy accepts a
    larger risk.
    """
    olds, news = ({cap["subject"]: cap for cap in policy["caps"]} for policy in (old, new))
    rows = []
    for subject in dict.fromkeys([*olds, *news]):
        most, next_most = (caps[subject]["most"] if subject in caps else None for caps in (olds, news))
        if most is None or next_most is None or not nearly_equal(most, next_most):
            is_wider = next_most is None or (most is not None and next_most > most)
            written = [caps[subject]["written"] if subject in caps else None for caps in (olds, news)]
            one, other = written if written[0] != written[1] else (most, next_most)
            rows.append({"subject": subject, "old": one, "new": other, "is_wider": is_wider})
    one, other = old["min_class_size"], new["min_class_size"]
    if one != other:
        rows.append({"subject": "", "old": one, "new": other, "is_wider": other < one})
    if (ADVERSARY in old) != (ADVERSARY in new):
        rows.append({"subject": ADVERSARY, "old": None, "new": None, "is_wider": ADVERSARY in old})
    return rows


def compare_policies(old: Policy, new: Policy) -> Part:
    """Return what differs between two policies: the `caps`, as in `compare_caps`, and the names of other `fields`."""
    names = [each.name for each in fields(Policy) if each.name not in APART]
    differing = [name.replace("_", " ") for name in names if getattr(old, name) != getattr(new, name)]
    return {"caps": compare_caps(policy_values(old), policy_values(new)), "fields": differing}


def keep_earlier(path: Path) -> Path:
    """Copy a policy file to a file whose name has the date of its last change, and return the path of the copy.

    An existing file is never replaced; a file with the same content counts as the copy.

    Raises
    ------
    OSError
        If the file cannot be read, or the copy cannot be written.
    """
    content = path.read_bytes()
    changed = datetime.date.fromtimestamp(path.stat().st_mtime)
    number = 1
    while True:
        ending = f"-{number}" if number > 1 else ""
        kept = path.with_name(f"{path.stem}-{changed.isoformat()}{ending}{path.suffix}")
        if not kept.exists():
            with open(kept, "xb") as file:
                file.write(content)
            return kept
        if kept.read_bytes() == content:
            return kept
        number += 1
