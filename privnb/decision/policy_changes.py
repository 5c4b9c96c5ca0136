"""The differences between two policies as data, and an earlier policy file that is kept before it is replaced."""

from __future__ import annotations

import datetime
from dataclasses import fields
from pathlib import Path
from typing import Any

from privnb.decision.policies import Policy
from privnb.runtime.tolerances import nearly_equal

Part = dict[str, Any]  # plain values
APART = ("name", "sha256", "caps", "min_class_size", "verified")  # fields that are not compared, or have their own rows


def compare_caps(old: Policy, new: Policy) -> list[Part]:
    """Return the caps of two policies that differ, and their minimum class sizes if these differ, as plain values.

    Each row has the `subject`; the `old` and the `new` number, which is None if the policy has no such cap; and
    `is_wider`, whether the new policy accepts a larger risk.
    """
    olds, news = ({cap.subject: cap.most for cap in policy.caps} for policy in (old, new))
    rows = []
    for subject in dict.fromkeys([*olds, *news]):
        one, other = olds.get(subject), news.get(subject)
        if one is None or other is None or not nearly_equal(one, other):
            is_wider = other is None or (one is not None and other > one)
            rows.append({"subject": subject, "old": one, "new": other, "is_wider": is_wider})
    if old.min_class_size != new.min_class_size:
        sizes = {"old": old.min_class_size, "new": new.min_class_size}
        rows.append({"subject": "", **sizes, "is_wider": new.min_class_size < old.min_class_size})
    return rows


def compare_policies(old: Policy, new: Policy) -> Part:
    """Return what differs between two policies: the `caps`, as in `compare_caps`, and the names of other `fields`."""
    names = [each.name for each in fields(Policy) if each.name not in APART]
    differing = [name.replace("_", " ") for name in names if getattr(old, name) != getattr(new, name)]
    return {"caps": compare_caps(old, new), "fields": differing}


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
