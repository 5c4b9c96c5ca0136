"""The risks of one release as data: each risk with its caps, its verdict, and the groups for which it is largest."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import policies
from privnb.decision.by_policy import ENDS, LOSS, average_numbers, get_numbers, keeps_cap, plain_number, risk_sort_key
from privnb.decision.policies import Policy
from privnb.evaluation.results import KEY_COLUMNS, compute_row_ids, select_measured
from privnb.evaluation.risks.groups import OTHER_GROUPS, find_groups
from privnb.measures.base import measure_facts
from privnb.microdata import withholding
from privnb.microdata.schema import Schema
from privnb.runtime.tolerances import ROUNDING

Part = dict[str, Any]  # plain values
# The key of a number, which is a mean over seeds and, in each seed, that of the best miner.
ROW = [name for name in KEY_COLUMNS if name not in ("seed", "miner")]
NOT_MEASURED, WITHHELD = "not measured", "withheld"  # reasons for an unknown risk; attacks state further ones
ATTACKED, NO_ATTACK, UNKNOWN = "attacked", "no attack known", "unknown"  # whether an informed adversary attacked


def numbers_of(rows: pd.DataFrame) -> list[Part]:
    """Return the numbers of some rows of results, one for each key, as plain values.

    Each number is the mean over the seeds, with its key and the ids of its rows, which are those of `results.csv`.
    """
    rows = select_measured(rows)
    if rows.empty:
        return []
    # In plain lists, because a frame per key takes a hundred times as long.
    places: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(zip(*(map(str, rows[name].tolist()) for name in ROW), strict=True)):
        places.setdefault(key, []).append(place)
    columns, ids, randomized = get_numbers(rows), compute_row_ids(rows), rows.randomized.tolist()
    found = list[Part]()
    for key, own in places.items():
        mean = average_numbers({name: column[own] for name, column in columns.items()}, any(randomized[i] for i in own))
        stated = {"seeds": int(mean["seeds"]), "unknown": mean["reason"]}
        row = {name: text for name, text in zip(ROW, key, strict=True) if text}
        numbers = {name: plain_number(mean[name]) for name in (*ENDS, "baseline")}
        found.append({**numbers, **stated, "row": row, "ids": [ids[i] for i in own]})
    return found


def mean_and_worst(risk: str, own: pd.DataFrame, like: Sequence[Part | None] = (None, None)) -> list[Part | None]:
    """Return the mean of a risk over everybody, and the risk of the worst-off person; None for a missing number.

    If several attributes are sensitive, the numbers are those of the worst attribute, or of the attributes of the two
    numbers in `like`.
    """
    found, whole = [], own[(own.measure == policies.measure_of(risk)) & (own.group == "")]
    for variant, other in zip(("", "largest"), like, strict=True):
        numbers = numbers_of(whole[whole.variant == variant])
        same = [each for each in numbers if other is None or _same_target(each, other)]
        found.append(max(same, key=_badly, default=None))
    return found


def list_attributes(own: pd.DataFrame, names: Sequence[str], policy: Policy) -> list[Part]:
    """Return the attribute risk and the utility loss of each sensitive attribute; empty for fewer than two attributes.

    Parameters
    ----------
    own : DataFrame
        The rows of a release in the results.
    names : sequence of str
        The sensitive attributes.
    policy : Policy
        The policy, whose needs name the measures of the utility loss.

    Returns
    -------
    list of dict
        For each attribute, its name (`attribute`) and the numbers `mean`, `worst_person`, `certain` and `lost`; a
        number is None if it was not measured.
    """
    whole = own[own.group == ""]
    needs, plain = [need.measure for need in policy.needs], whole[whole.variant == ""]
    risks = whole[whole.measure == policies.measure_of("attribute")]
    tables = {
        "mean": risks[risks.variant == ""],
        "worst_person": risks[risks.variant == "largest"],
        "certain": plain[plain.measure == policies.measure_of("certainty")],
        "lost": plain[plain.measure.isin(needs)],
    }
    return [
        {"attribute": name}
        | {key: next(iter(numbers_of(rows[rows.target == name])), None) for key, rows in tables.items()}
        for name in names
        if len(names) > 1
    ]


def list_informed(own: pd.DataFrame) -> list[Part]:
    """Return what an adversary who knows the algorithm learns about each sensitive attribute; empty if not measured.

    Parameters
    ----------
    own : DataFrame
        The rows of a release in the results.

    Returns
    -------
    list of dict
        For each attribute, its name (`attribute`) and the name of the `attack`, which is empty if there is no attack.
        `is` is "attacked", "no attack known" or "unknown", and `reason` is why there is no attack. `mean`,
        `worst_person` and `certain` are the numbers of this adversary, and `naive_mean` and `naive_certain` those of
        the adversary who knows the quasi-identifiers. `others` is the share of people whose value is guessed correctly
        from the records of all other people. A number is None if it was not measured.
    """
    whole = own[own.group == ""]
    informed = {risk: (measure, policies.measure_of(risk)) for risk, measure in policies.INFORMED.items()}
    (attribute, naive), (certain, naive_certain) = informed["attribute"], informed["certainty"]
    wanted = {
        "mean": (attribute, ""),
        "worst_person": (attribute, "largest"),
        "certain": (certain, ""),
        "naive_mean": (naive, ""),
        "naive_certain": (naive_certain, ""),
        "others": ("guessed_without_them", ""),
    }
    found = []
    for name, rows in whole[whole.measure == attribute].groupby("target", sort=False):
        of = whole[whole.target == name]
        numbers = {
            key: next(iter(numbers_of(of[(of.measure == measure) & (of.variant == variant)])), None)
            for key, (measure, variant) in wanted.items()
        }
        first = rows.iloc[0]
        stated = {"": ATTACKED, "withheld": ATTACKED, "refused": NO_ATTACK}.get(first.status, UNKNOWN)
        about = {"attribute": name, "attack": first.miner, "is": stated, "reason": first.reason}
        found.append(about | numbers)
    return found


def _same_target(number: Part, other: Part) -> bool:
    return number["row"].get("target") == other["row"].get("target")


def _badly(number: Part) -> tuple[bool, bool, float, float]:
    return risk_sort_key(
        *(math.nan if number[name] is None else number[name] for name in ("value", "high", "baseline"))
    )


def risk_of(risk: str, own: pd.DataFrame, axes: pd.DataFrame, policy: Policy, groups: Part, people: int | None) -> Part:
    """Return one of the risks of a release, as plain values.

    Parameters
    ----------
    risk : str
        One of `policies.RISKS`.
    own, axes : DataFrame
        The rows of the release in the results, and in the vectors of `by_policy.compute_vectors`.
    policy : Policy
    groups : dict
        The result of `groups_at_risk`.
    people : int, optional
        The number of people in the table; None if the number is unknown.
    """
    measure = policies.measure_of(risk)
    rows = own[own.measure == measure]
    everybody, targets = rows[rows.group == ""], [*dict.fromkeys(filter(None, rows.target))]
    mean, largest = mean_and_worst(risk, own)
    reasons = [NOT_MEASURED] if rows.empty else [*filter(None, everybody.reason), WITHHELD]
    unknown = "" if mean or largest else reasons[0]
    shown = [each for each in groups["shown"] if each["row"]["measure"] == measure]
    others = numbers_of(own[own.measure == "guessed_without_them"]) if risk == "attribute" else []
    other = next((each for each in others if mean and _same_target(each, mean)), None)
    measures = [*policies.DISCLOSURES.values()] if risk == "certainty" else [measure]
    certain, near = (numbers_of(own[own.measure == name]) for name in measures) if len(measures) > 1 else ([], [])
    surest = numbers_of(everybody[everybody.variant == "largest"])
    bare = [each for each in certain if each["value"] is None] or [each for each in surest if _is_bare(each)]
    capped = [cap for cap in policy.caps if cap.measure in measures]
    held = [row for row in axes.itertuples() if row.axis != LOSS and row.measure in measures]
    stated = ("unit", "baseline", "source")
    unit, baseline, source = ("" if rows.empty else getattr(measure_facts(measure), name) for name in stated)
    caps = [_cap(*pair, shown) for pair in zip(held, capped, strict=True)]
    return {
        "risk": risk,
        "people": people,
        "unknown": unknown,
        "mean": mean,
        "worst_person": largest,
        "no_person": _no_person(largest, unknown),
        "worst_group": next(iter(above_average(shown, mean)), None),
        "groups": len(shown),
        "groups_withheld": groups["withheld_by"].get(measure, 0),
        "ceiling": next(iter(numbers_of(own[(own.measure == f"{risk}_ceiling") & (own.group == "")])), None),
        "others": other,
        "guessed": _guessed(mean, other),
        "certain": _counted(certain, people),
        "nearly_certain": _counted(near, people),
        "targets": targets,
        "withheld": [each["row"].get("target", "") for each in bare],
        "unit": unit,
        "baseline_is": baseline,
        "source": source,
        "caps": caps,
        "verdict": judge_risk(caps, unknown),
    }


def _guessed(mean: Part | None, others: Part | None) -> float | None:
    """Return the share of people whose sensitive value is guessed correctly with the release; None if unknown.

    The attribute risk is this share minus the share that is guessed correctly from the records of all other people.
    """
    if mean is None or others is None or mean["value"] is None or others["value"] is None:
        return None
    return min(1.0, max(0.0, float(mean["value"] + others["value"])))


def _counted(numbers: list[Part], people: int | None) -> list[Part]:
    """Return the shares of people above 0 in descending order, each also as a number of people."""
    shown = sorted((each for each in numbers if each["value"]), key=lambda each: -each["value"])
    return [each | {"people": None if people is None else round(people * each["value"])} for each in shown]


def above_average(groups: Sequence[Part], mean: Part | None) -> list[Part]:
    """Return the groups whose risk is larger than average: the whole interval lies above the mean over everybody.

    The risk of a group whose interval contains the mean may differ from the mean by chance alone.
    """
    of_all = max(0.0, (mean and mean["value"]) or 0.0)
    return [each for each in groups if each["low"] is not None and each["low"] > of_all]


def _no_person(largest: Part | None, unknown: str) -> str:
    """Return why the risk of the worst-off person is not shown, in words of the schema; empty if the risk is shown."""
    if largest is not None:
        return "withheld" if _is_bare(largest) else ""
    return "risk unknown" if unknown else "of nobody alone"


def _is_bare(number: Part) -> bool:
    return number["value"] is None and number["high"] is None


def _cap(row: Any, cap: policies.Cap, groups: list[Part]) -> Part:
    """Return a cap with the risk that it limits and, for a mean over everybody, the groups that exceed the cap."""
    numbers = {name: plain_number(getattr(row, name)) for name in (*ENDS, "cap")}
    over = [each for each in groups if each["low"] is not None and each["low"] > row.cap]
    plain = cap.statistic == "mean" and cap.group == "everybody" and not cap.counted
    kept = bool(keeps_cap(row))
    return {
        "subject": cap.subject,
        "target": row.target,
        "statistic": cap.statistic,
        "group": row.group,
        **numbers,
        "written": float(cap.at_most),
        "kept": kept,
        "lenient": kept and row.high > cap.at_most + ROUNDING,
        "exceeded_in": over if plain else [],
        "unknown": row.reason,
        **({"adversary": row.adversary} if row.adversary else {}),
    }


def judge_risk(caps: Sequence[Part], unknown: str) -> Part:
    """Return whether a release meets the caps on a risk.

    The result also counts the groups whose risk exceeds a cap that the mean over everybody does not exceed. A group
    counts only if its whole interval lies above the cap.
    """
    if not caps:
        state = "unknown" if unknown else "no cap"
    elif not all(cap["kept"] for cap in caps):
        unknown_alone = all(cap["kept"] or cap["high"] is None for cap in caps)
        state = "unknown" if unknown_alone else "not kept"
    else:
        state = "kept by the lenient reading" if any(cap["lenient"] for cap in caps) else "kept"
    over = max((len(cap["exceeded_in"]) for cap in caps), default=0)
    return {"is": state, "groups_over": over}


def groups_at_risk(own: pd.DataFrame, dataset: Dataset | Schema) -> Part:
    """Return the mean risks of groups of people in descending order, and the number of risks that are withheld."""
    rows = own[own.measure.isin([policies.measure_of(risk) for risk in policies.RISKS]) & (own.group != "")]
    found = list[Part]()
    for _, risks in rows[rows.variant == ""].groupby("measure", sort=False):
        largest: dict[str, Part] = {}  # by group: the largest number over the sensitive attributes
        for number in numbers_of(risks):
            both = largest.get(group := number["row"]["group"], number), number
            largest[group] = max(both, key=lambda each: (each["value"] is not None, each["value"] or 0.0))
        people = group_sizes(dataset, [*largest]) if isinstance(dataset, Dataset) else {}
        found += [number | {"people": people.get(group)} for group, number in largest.items()]
    bare = Counter(each["row"]["measure"] for each in found if each["value"] is None)
    shown = [each for each in found if each["value"] is not None]
    order = sorted(shown, key=lambda each: (each["row"]["measure"], -each["value"]))
    return {"shown": order, "withheld": sum(bare.values()), "withheld_by": dict(bare)}


def group_sizes(dataset: Dataset, names: Sequence[str]) -> Mapping[str, int]:
    """Return the number of people of a table in each group.

    Parameters
    ----------
    dataset : Dataset
    names : list of str
        The names of all groups of one risk, as `Groups.among` returns them.

    Returns
    -------
    dict of str to int
        The number of people by the name of the group. The groups of an attribute all belong to one partition of the
        table, so that no smaller group can be derived from two of these groups. The result leaves out groups that are
        not part of the partition, and groups of few people or of all but a few people.
    """
    everybody, found = np.arange(dataset.headcount), dict[str, int]()
    for partition in find_groups(dataset).among(everybody, withholding.LIMIT):
        counts = {name: int(chosen.sum()) for name, chosen in partition.items()}
        attribute = next(iter(counts)).partition(": ")[0]
        if {name for name in names if name.startswith(f"{attribute}: ")} - {*counts}:
            counts.pop(f"{attribute}: {OTHER_GROUPS}", None)  # these are not the other groups of the risk
        found |= counts
    least, most = withholding.LIMIT, dataset.headcount - withholding.LIMIT
    return {name: found[name] for name in names if least <= found.get(name, 0) <= most}
