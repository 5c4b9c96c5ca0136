"""A judge of released files that shares no code with the package: it reads two CSV files and a provenance, and counts.

It knows the original table, what each column is for, and a policy's numbers, which it has from nobody. A release is
harmful if it singles people out, if it breaks a rule of its policy, or if it discloses a sensitive value with certainty
under a policy that does not forbid it, and does not say so first.
"""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

FLOORS = {
    "all-five": 11, "ema-0070": 11, "groups-of-15": 15, "groups-of-3": 3, "k-5": 5, "ontario-2025-sensitive": 20,
    "ontario-2025": 11,
}  # fmt: skip
FORBIDS_CERTAINTY = {"all-five", "ontario-2025-sensitive", "ontario-2025"}
IDENTITY = {"all-five": 1 / 11, "ema-0070": 1 / 11, "groups-of-15": 0.075, "groups-of-3": 1 / 3, "k-5": 0.2,
            "ontario-2025-sensitive": 0.05, "ontario-2025": 1 / 11}  # fmt: skip
TRUE = ("exact", "generalized", "suppressed")
PUBLIC = 0.95  # a value that so many people have is public


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def judge(original: Path, released: Path, sensitive: list[str], policy: str, said: str) -> list[str]:
    """Return why a released file is harmful: a list of sentences, empty where it is not.

    Parameters
    ----------
    original, released : Path
        CSV files; the provenance lies beside the released one.
    sensitive : list of str
    policy : str
        The name of a ready policy; empty: none was asked for.
    said : str
        What the command printed.
    """
    before, after = rows_of(original), rows_of(released)
    facts = released.with_name(f"{released.name}.provenance.json")
    treated = json.loads(facts.read_text(encoding="utf-8"))["columns"]
    buckets = [*released.parent.glob(f"{released.name}*buckets*")]
    known = [name for name in after[0] if name not in sensitive and treated.get(name, "exact").startswith(TRUE)]
    floor = FLOORS.get(policy, 2)
    groups = defaultdict(list)
    for row in after:
        groups[tuple(row[name] for name in known)].append(row)
    harm = []
    smallest = min(map(len, groups.values()))
    if not buckets and known and smallest < floor:
        harm.append(f"{smallest} rows share a combination of {', '.join(known)}, fewer than {floor}")
    moved = [name for name in after[0] if name not in sensitive and name not in known and name in before[0]]
    if moved and (share := found_again(before, after, [*moved, *known])) > IDENTITY.get(policy, 0.5):
        harm.append(f"{share:.0%} of people stand alone in the original and in the file, with the same values")
    for name in sensitive if not buckets else ():
        if name not in after[0] or not treated.get(name, "exact").startswith(TRUE):
            continue
        common = Counter(row[name] for row in after)
        certain = 0
        for group in groups.values():
            values = {row[name] for row in group}
            if len(values) == 1 and common[next(iter(values))] < PUBLIC * len(after):
                certain += len(group)
        if certain and policy in FORBIDS_CERTAINTY:
            harm.append(f"the {name} of {certain} people is certain under a policy that forbids it")
        elif certain and "certain" not in first_notice(said):
            harm.append(f"the {name} of {certain} people is certain, and that is not the first notice")
    return harm


def found_again(before: list[dict[str, str]], after: list[dict[str, str]], names: list[str]) -> float:
    """Return the share of people whose combination is theirs alone in the original, and one row's in the file."""
    counts = [Counter(tuple(row[name] for name in names) for row in rows) for rows in (before, after)]
    return sum(number == 1 and counts[1][what] == 1 for what, number in counts[0].items()) / len(before)


def first_notice(said: str) -> str:
    """Return the first paragraph after the answer."""
    return [part for part in said.split("\n\n") if part.strip()][1:2][0] if "\n\n" in said else said
