"""The record of the searches of a table: the caps of each search, so that caps that change after results are stated.

The record is a file next to the description of the table. It holds caps, titles and days, and no result.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from privnb.datasets.dataset import PROJECT, list_data_files
from privnb.datasets.description import file_digest, read_description
from privnb.decision.by_policy import Decision
from privnb.decision.policy_changes import policy_values
from privnb.runtime.temporary import atomic_write

FILE = "searches.json"
NEEDED = ("title", "sha256", "min_class_size", "caps")
STATED = (*NEEDED, "adversary")  # the facts about a policy in the record; not every policy names an adversary
KEYS = {"table", "day", *NEEDED}


def record_search(path: Path, decision: Decision) -> Decision:
    """Add the caps of a decision to the record of a table, and return the decision with those of the first search.

    A search belongs to the content of the data files: other roles or hierarchies do not begin a new record. Nothing is
    recorded for a table without a description file, for a table of the package, and in a folder that cannot be written.

    Parameters
    ----------
    path : Path
        The path of the description.
    decision : Decision
        A decision whose results the owner is about to see.
    """
    if not path.is_file():
        return decision
    text = read_description(path)
    if path.resolve().is_relative_to(PROJECT / "data") and text["dataset"].get("licence"):
        return decision  # published tables, which have no owner
    files = list_data_files(path.parent, text)
    table = "-".join(file_digest(each) for each in files)
    stated = {name: value for name, value in policy_values(decision.policy).items() if name in STATED}
    held = _read(path.with_name(FILE))
    own = [each for each in held if each["table"] == table]
    if not own or own[-1]["sha256"] != stated["sha256"]:
        own.append({"table": table, "day": datetime.date.today().isoformat(), **stated})
        try:
            atomic_write(path.with_name(FILE), json.dumps([*held, own[-1]], indent=1) + "\n", 0o600)
        except OSError:
            return decision
    return replace(decision, first_search=own[0])


def _read(file: Path) -> list[Mapping[str, Any]]:
    """Return the searches in a record, in the order of time; a file that is not a record counts as empty."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        return [
            each
            for each in held
            if KEYS <= {*each} and all({"subject", "most", "written"} <= {*cap} for cap in each["caps"])
        ]
    except (OSError, ValueError, TypeError, RecursionError):
        return []
