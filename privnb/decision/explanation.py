"""A decision as data: the recommended release with its reasons and risks, the alternatives, and the search.

Pages, notebooks, the command line and cards show this data; the templates of this package write the sentences.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision import policies
from privnb.decision.by_policy import ENDS, LOSS, Decision, keeps_cap, plain_number
from privnb.decision.points import BARE, ORIGINAL
from privnb.decision.policy_changes import explain_changed_caps, list_unprotected, policy_values
from privnb.decision.policy_search import PolicySearch, find_release_key
from privnb.decision.reasons import BELOW, CAP, IS_ORIGINAL, PERHAPS_BELOW, UNKNOWN_LOSS, UNSURE
from privnb.decision.release_risks import Part, groups_at_risk, list_attributes, numbers_of, risk_of
from privnb.evaluation.results import SETTING_COLUMNS, SUMMARIES, Results
from privnb.measures.base import measure_facts
from privnb.microdata.schema import Role, Schema
from privnb.runtime.sentences import strip_markup
from privnb.runtime.tolerances import ROUNDING, nearly_equal
from privnb.runtime.wording import line
from privnb.sanitizers import base

MUCH = 0.5  # the share of the utility above whose loss the owner gets advice
MISLED = 0.1  # the share of large groups above which a release misleads its users
USES = ("certainty_penalty", "change_rate", "mean_absolute_error", "utility_loss", "size_error", "workload_utility")
OF_NOISE = {"change_rate": False, "mean_absolute_error": True}  # measures that average columns; True: of numbers
LOSSES = ("loss", "loss_low", "loss_high")
PARTS = (0.75, 0.5, 0.25)  # smaller caps, as parts of the policy's
IDENTITY = "identity of the worst-off person"
PERSON = "attribute of the worst-off person"
PERSON_CAPS = (0.5, 0.25)  # possible caps on that risk
NEXT = 2  # the number of releases for which the page explains why they are not chosen


def explain_decision(found: PolicySearch, dataset: Dataset, more: Results | None = None) -> Part:
    """Return a decision as plain values.

    Parameters
    ----------
    found : PolicySearch
    dataset : Dataset
        The table that was searched, in the roles of the search.
    more : DataFrame, optional
        Further results of the chosen release and of the original, from `recommended.measure_choice`, and optionally
        from `recommended.compare_columns`.

    Returns
    -------
    dict
        `policy` and `table`; `unprotected`, the sensitive attributes if the policy limits no risk that their values are
        disclosed; `chosen`, the chosen release or None; `why`, the rule that chose the release; `misled`,
        the share of large groups that the release misrepresents; `risks`, each for the `release` and the `original`,
        see `release_risks.risk_of`; `uses`, the measures of utility, each for the `original`, for the `release` and for
        the table `without` quasi-identifiers, with the columns that the measure averages (`changed`);
        `has_rows_at_risk`, whether people have several rows, and the identity risk of the worst-off person exceeds 1 in
        k in the chosen release or rules out releases that lose less; `columns_of_rows`, the quasi-identifiers in which
        the rows of a person differ; `alternatives` and `next`, other releases; `stricter`, what smaller caps would
        require; `counts`; and the other entries that the templates use.
    """
    decision = found.decision
    return {
        "policy": policy_values(decision.policy),
        "unprotected": list_unprotected(policy_values(decision.policy), dataset.schema.sensitive),
        "table": _table(found, dataset),
        "chosen": None if decision.chosen is None else _release(decision, decision.chosen),
        "why": explain_rule(decision),
        "smallest_class": _smallest_class(found),
        "certain": _certain(decision, dataset),
        "misled": _misled(found),
        "risks": _risks(found, dataset),
        "uses": _uses(found, found.of_uses if more is None else more, dataset.schema),
        **_next(decision),
        "alternatives": [*_alternatives(decision)],
        "stricter": [*list_stricter(decision, found.results)] if decision.chosen is not None else [],
        "near": decision.near,
        "nearest": [_release(decision, row) for _, row in _nearest(decision).iterrows()],
        "has_rows_at_risk": _has_rows_at_risk(decision, dataset, _smallest_class(found)),
        "columns_of_rows": _columns_of_rows(dataset),
        "unattainable": decision.unattainable,
        "refused": [{"setting": setting, "why": reason} for setting, reason in decision.refused],
        "counts": [*_search(found), *count_ruled_out(decision)],
        "columns": _columns(found, dataset),
        "help": help_for(found, dataset),
        **({"previous": decision.previous} if decision.previous else {}),
        **explain_changed_caps(decision),
        **_attributes(found, dataset.schema),
    }


def explain_refusal(found: PolicySearch, dataset: Dataset) -> str:
    """Return why no release is recommended, and what the owner can do, as one text."""
    explained = explain_decision(found, dataset)
    said = line("decision/decision", "short", explained), line("decision/decision", "help", explained["help"])
    return " ".join(filter(None, map(strip_markup, said)))


def explain_rule(decision: Decision) -> Part:
    """Return the rule that chose the release: "none", "least loss", or "lower risk" (within the tolerance)."""
    found: Part = {"kept": len(decision.kept), "releases": len(decision.releases)}
    if decision.chosen is None or decision.least is None:
        return {"rule": "none", **found}
    rule = "least loss" if decision.chosen.loss <= decision.least.loss + ROUNDING else "lower risk"
    bare = None if decision.bare is None else plain_number(decision.bare.used)
    found |= {"near_least": decision.near_least, "bare_used": bare}
    return {"rule": rule, **found, "least": _release(decision, decision.least)}


def _release(decision: Decision, row: Any) -> Part:
    """Return a release as plain values: its setting, its loss, its use of the tightest cap, and why it is ruled out.

    `tightest` is the tightest cap of the release; `is_chance` states whether the uses of this cap by the release and by
    the chosen release differ by no more than chance. `is_beyond` states whether the loss of the release exceeds the
    least loss by more than the policy's tolerance.
    """
    chosen, least = decision.chosen, decision.least
    tightest = None if chosen is None else decision.tightest_cap(row if row.used >= chosen.used else chosen)
    own = decision.vectors[(decision.vectors[SETTING_COLUMNS] == [row.sanitizer, row.parameters]).all(axis=1)]
    return {
        "setting": row.setting,
        "loss": _loss(row),
        "used": plain_number(row.used),
        "tightest": "" if tightest is None else str(tightest.axis),
        "is_chance": chosen is not None and decision.differs_by_chance(row, chosen),
        "is_beyond": least is not None and bool(row.loss > least.loss + decision.policy.tolerance + ROUNDING),
        "kept": bool(row.kept),
        "lenient": bool(row.lenient),
        "certain": row.certain,
        "drawn": bool(row.random),
        "draws": int(own.seeds.max()) if row.random and len(own) else 0,
        "reasons": [reason.data for reason in row.reasons],
    }


def _loss(row: Any) -> Part:
    """Return the loss of the users of a release, with its interval."""
    return {end: plain_number(row[name]) for end, name in zip(ENDS, LOSSES, strict=True)}


def _table(found: PolicySearch, dataset: Dataset) -> Part:
    schema, measured = dataset.schema, found.steps[-1][0].records
    return {
        "name": dataset.name,
        "records": found.records or len(dataset),
        "sample": measured if found.records else 0,
        "people": dataset.headcount,
        "rows_are_people": schema.person is None,
        "quasi_identifiers": [*schema.quasi_identifiers],
        "sensitive": [*schema.sensitive],
    }


def _columns_of_rows(dataset: Dataset) -> list[str]:
    """Return the quasi-identifiers in which the rows of a person differ."""
    if dataset.people is None:
        return []
    cells, found = dataset.cells, []
    for name in dataset.schema.quasi_identifiers:
        kinds = pd.DataFrame({"person": dataset.people, "value": cells[name].array}).drop_duplicates()
        if len(kinds) > dataset.headcount:
            found.append(name)
    return found


def _has_rows_at_risk(decision: Decision, dataset: Dataset, smallest: float | None) -> bool:
    """Return whether people have several rows, and the risk of the worst-off person exceeds 1 in k or rules out much.

    `smallest` is the number of people in the smallest class of the chosen release.
    """
    if dataset.schema.person is None or dataset.headcount == len(dataset):
        return False
    if decision.chosen is not None:
        own = decision.vectors[(decision.vectors.axis == IDENTITY) & (decision.vectors.setting == decision.setting)]
        if smallest and (own.value > 1 / smallest + ROUNDING).any():
            return True
        if decision.chosen.loss <= MUCH:
            return False
    reasons = [reason.data for own in decision.releases.reasons for reason in own]
    return any(each["kind"] == CAP and each["risk"] == IDENTITY for each in reasons)


def _smallest_class(found: PolicySearch) -> float | None:
    """Return the number of people who share the rarest published combination of quasi-identifiers; None if unknown."""
    sizes = found.results[found.results.measure == "smallest_combination"]
    own = sizes[(sizes[SETTING_COLUMNS] == [found.decision.sanitizer, found.decision.parameters]).all(axis=1)]
    return plain_number((own.value.fillna(own.low)).min()) if len(own) and found.decision.chosen is not None else None


def _misled(found: PolicySearch) -> float | None:
    """Return the share of large groups about which the chosen release errs more than the trivial release.

    The trivial release has no quasi-identifiers. The result is None if the share is at most `MISLED` or was not
    measured.
    """
    rows = found.results[found.results.measure == "worse_than_trivial"]
    own = rows[(rows[SETTING_COLUMNS] == [found.decision.sanitizer, found.decision.parameters]).all(axis=1)]
    shares = [each["value"] for each in numbers_of(own[own.control == ""]) if each["value"] is not None]
    return max((share for share in shares if share > MISLED), default=None)


def _attributes(found: PolicySearch, schema: Schema) -> Part:
    """Return the numbers of each sensitive attribute of the chosen release under `attributes`, if there are several."""
    decision, results = found.decision, found.results
    own = results[(results[SETTING_COLUMNS] == [decision.sanitizer, decision.parameters]).all(axis=1)]
    listed = list_attributes(own[own.control == ""], schema.sensitive, decision.policy) if len(own) else []
    return {"attributes": listed} if listed else {}


def _certain(decision: Decision, dataset: Dataset) -> Part:
    """Return the certain disclosures of the chosen release, and the alternative release without certain disclosures."""
    chosen, other = decision.chosen, decision.certain_free_alternative
    certain = [] if chosen is None else chosen.made_certain
    whose = [{"attribute": name, "share": float(share)} for name, share in certain]
    return {
        "is": "" if chosen is None else chosen.certain,
        "of": whose,
        "people": dataset.headcount,
        "alternative": None if other is None else _release(decision, other),
    }


def _risks(found: PolicySearch, dataset: Dataset) -> list[Part]:
    """Return each risk that was measured or is capped, for the chosen release and for the original."""
    decision = found.decision
    sides = {"release": (decision.sanitizer, decision.parameters), "original": (ORIGINAL, "")}
    rows, profiles = [], {}
    for side, key in sides.items():
        own, axes = (each[(each[SETTING_COLUMNS] == [*key]).all(axis=1)] for each in (found.results, decision.vectors))
        own = own[own.control == ""]
        if own.empty:
            continue
        groups = groups_at_risk(own, dataset)
        profiles[side] = {
            risk: risk_of(risk, own, axes, decision.policy, groups, dataset.headcount) for risk in policies.RISKS
        }
    for risk in policies.RISKS:
        both = {side: profile[risk] for side, profile in profiles.items()}
        if any(not each["unknown"] or each["caps"] for each in both.values()):
            rows.append({"risk": risk, "release": both.get("release"), "original": both.get("original")})
    return rows


def _uses(found: PolicySearch, results: pd.DataFrame, schema: Schema) -> list[Part]:
    """Return each measure of utility that was measured, for the chosen release and for the two reference releases."""
    whole = (results.control == "") & (results.variant == "") & (results.group == "") & (results.miner_set == "")
    rows = results[whole & ~results.miner.isin({*SUMMARIES} - {"worst"})]
    chosen = found.decision.sanitizer, found.decision.parameters
    keys = {"release": chosen, "original": (ORIGINAL, ""), "without": (BARE, "")}
    changed = results[(results.measure == "changed_cells") & (results[SETTING_COLUMNS] == [*chosen]).all(axis=1)]
    used = []
    for measure in USES:
        own = rows[rows.measure == measure]
        both = {
            side: next(iter(numbers_of(own[(own[SETTING_COLUMNS] == [*key]).all(axis=1)])), None)
            for side, key in keys.items()
        }
        if both["release"] or both["original"]:
            stated, own = measure_facts(measure), {"changed": _changed(changed, schema, measure)}
            used.append({"measure": measure, "format": stated.format, "is_share": stated.unit == "nats", **both, **own})
    return used


def _changed(rows: pd.DataFrame, schema: Schema, measure: str) -> list[Part]:
    """Return the noisy or perturbed columns that a measure averages, in ascending order of the share of changed cells.

    A column whose share is withheld is left out. The list is empty for a measure that does not average columns.
    """
    if measure not in OF_NOISE:
        return []
    rows = rows[rows.variant.isin(["noisy", "perturbed"]) & rows.value.notna()].sort_values("value", kind="stable")
    own = [(name, share) for name, share in zip(rows.target, rows.value, strict=True) if name in schema.names()]
    return [{"name": name, "value": float(share)} for name, share in own if schema[name].numeric is OF_NOISE[measure]]


def _alternatives(decision: Decision) -> Iterator[Part]:
    """Yield other releases that an owner may prefer, each with its `kind`."""
    chosen, kept = decision.chosen, decision.kept
    if chosen is None:
        return
    if (least := decision.least) is not None and least.loss < chosen.loss - ROUNDING:
        yield _release(decision, least) | {"kind": "lower loss"}
    safer = kept[(kept.used < chosen.used - ROUNDING) & (kept.lenient <= chosen.lenient)]
    if len(safer):
        yield _release(decision, safer.loc[safer.loss.idxmin()]) | {"kind": "lower risk"}
    if (other := decision.certain_free_alternative) is not None:
        yield _release(decision, other) | {"kind": "nobody certain"}
    out = decision.releases[~decision.releases.kept & (decision.releases.status != "refused")]
    cheaper = out[out.loss < chosen.loss - ROUNDING]
    if len(cheaper):
        yield _release(decision, cheaper.loc[cheaper.loss.idxmin()]) | {"kind": "ruled out"}


def list_stricter(decision: Decision, results: pd.DataFrame) -> Iterator[Part]:
    """Yield each capped risk with smaller caps, and the measured release of least loss that meets each smaller cap.

    That release also meets all other caps of the policy. The attribute risk of the worst-off person comes last if the
    policy does not cap it.

    Yields
    ------
    dict
        `subject`, the risk; `cap`, the cap of the policy, or None; `value`, the risk of the chosen release; and
        `steps`, a list of dicts. Each dict has `caps`, a list of smaller caps; `is_kept`, whether the chosen release
        meets these caps; and `other`, the release that these caps require, or None.
    """
    chosen, losses = decision.chosen, [*SETTING_COLUMNS, "setting", *LOSSES]
    kept = decision.kept[losses]
    columns = [*SETTING_COLUMNS, "axis", "value", "high", "cap"]
    capped = decision.vectors.loc[(decision.vectors.axis != LOSS) & (decision.vectors.cap > 0), columns]
    risks: list[tuple[str, float | None, tuple[float, ...]]] = [
        (str(axis), float(rows.cap.iloc[0]), PARTS) for axis, rows in capped.groupby("axis", sort=False)
    ]
    if PERSON not in [subject for subject, *_ in risks]:
        person = results[(results.measure == "attribute_risk") & (results.variant == "largest")]
        person = person[(person.group == "") & (person.control == "")]
        person = person.groupby(SETTING_COLUMNS, as_index=False)[["value", "high"]].agg(
            lambda each: each.max(skipna=False)
        )
        capped = pd.concat([capped, person.assign(axis=PERSON, high=person.high.fillna(person.value), cap=np.nan)])
        risks.append((PERSON, None, PERSON_CAPS))
    for subject, cap, parts in risks:
        found = kept.merge(capped[capped.axis == subject], on=SETTING_COLUMNS)
        own = found[(found.sanitizer == chosen.sanitizer) & (found.parameters == chosen.parameters)]
        if own.empty or np.isnan(own.high.iloc[0]):
            continue
        value = plain_number(own.value.iloc[0])
        if cap is None and own.high.iloc[0] <= min(parts):
            continue
        steps = list[Part]()
        for part in parts:
            most = part if cap is None else cap * part
            fits = found[found.high <= most + ROUNDING].sort_values("loss", kind="stable")
            is_kept = bool(own.high.iloc[0] <= most + ROUNDING)
            other = None
            if not is_kept and len(fits):
                other = {"setting": fits.setting.iloc[0], "loss": _loss(fits.iloc[0])}
            if steps and (steps[-1]["is_kept"], steps[-1]["other"]) == (is_kept, other):
                steps[-1]["caps"].append(float(most))
            else:
                steps.append({"caps": [float(most)], "is_kept": is_kept, "other": other})
        yield {"subject": subject, "cap": cap, "value": value, "steps": steps}


def _next(decision: Decision) -> Part:
    """Return the next releases that comply, and the settings of releases with the same loss and risk as the choice."""
    others, chosen = decision.kept[1:], decision.chosen
    if chosen is None:
        return {"next": [], "equal": []}
    same = nearly_equal(others.loss, chosen.loss) & nearly_equal(others.used, chosen.used)
    different = others[~same].drop_duplicates(["loss", "used"])
    return {
        "next": [_release(decision, row) for _, row in different[:NEXT].iterrows()],
        "equal": others.setting[same].tolist(),
    }


def _nearest(decision: Decision) -> pd.DataFrame:
    """Return the release that is nearest to the policy if no release complies with the policy."""
    return decision.nearest_first[:1] if decision.chosen is None else decision.releases[:0]


def count_ruled_out(decision: Decision) -> list[Part]:
    """Return the number of releases that each reason rules out, as a list of dicts (`kind`, `subject`, `number`).

    A release that several reasons rule out counts for each of these reasons.
    """
    releases = decision.releases
    able = releases[releases.status != "refused"]
    found = [
        {"kind": "measured", "subject": "", "number": len(releases)},
        {"kind": "kept", "subject": "", "number": len(decision.kept)},
    ]
    broken = decision.vectors[decision.vectors.setting.isin(able.setting)]
    broken = broken[(broken.axis != LOSS) & ~keeps_cap(broken)]
    for axis, high in broken.groupby("axis", sort=False).high:
        found.append({"kind": CAP, "subject": axis, "number": len(high), "unknown": int(high.isna().sum())})
    first = [reason.kind for reasons in releases.reasons[releases.status == "refused"] for reason in reasons[:1]]
    of_loss = [{reason.kind for reason in reasons} - {CAP} for reasons in able.reasons]
    below = sum(kind in (BELOW, PERHAPS_BELOW) for kind in first)
    rest = {
        "minimum": below,
        UNSURE: first.count(UNSURE),
        IS_ORIGINAL: first.count(IS_ORIGINAL),
        "loss": sum(bool(kinds - {UNKNOWN_LOSS}) for kinds in of_loss),
        UNKNOWN_LOSS: sum(UNKNOWN_LOSS in kinds for kinds in of_loss),
        "file": len(decision.refused),
    }
    return found + [{"kind": kind, "subject": "", "number": int(number)} for kind, number in rest.items() if number]


def _search(found: PolicySearch) -> Iterator[Part]:
    """Yield the numbers of settings that the search tried, as entries of `counts`."""
    made = {*map(tuple, found.decision.releases[SETTING_COLUMNS].to_numpy())}
    for rung, _ in found.steps:
        yield {"kind": "tried", "subject": "", "number": rung.settings, "records": rung.records}
    if impossible := sum(find_release_key(each) not in made for each in found.sanitizers):
        yield {"kind": "impossible", "subject": "", "number": impossible}
    if found.too_many:
        yield {"kind": "too_many", "subject": "", "number": found.too_many, "records": base.MAX_RECORDS}


def _columns(found: PolicySearch, dataset: Dataset) -> Part:
    """Return what happens to columns that have no role in the search, and why."""
    schema = dataset.schema
    neutral = schema.names(Role.NEUTRAL)
    by_role = {role: [name for name, own in found.roles.items() if own is role] for role in Role}
    reasons = dict.fromkeys(schema.unknowable.values())
    return {
        "generalized": by_role[Role.QUASI_IDENTIFIER],
        "left_out": by_role[Role.UNUSED],
        "tried_in_vain": [*found.in_vain],
        "without_them": [*found.without],
        "published_unchanged": [name for name in neutral if name not in schema.unknowable],
        "stated_unknowable": [
            {"names": [name for name in neutral if schema.unknowable.get(name) == reason], "why": reason.rstrip(".")}
            for reason in reasons
            if any(schema.unknowable.get(name) == reason for name in neutral)
        ],
    }


def help_for(found: PolicySearch, dataset: Dataset) -> Part:
    """Return advice, a `kind` and values, if no release complies with the policy or if the chosen release loses much.

    The dictionary is empty if there is no advice.
    """
    decision, schema = found.decision, dataset.schema
    if decision.chosen is not None:
        return {"kind": "much_lost", "loss": float(decision.chosen.loss)} if decision.chosen.loss > MUCH else {}
    if not schema.sensitive and any(cap.risk == "attribute" for cap in decision.policy.caps):
        return {"kind": "no_sensitive"}
    names = [name for name in schema.knowable if schema[name].role is Role.NEUTRAL]
    return {"kind": "knowable", "names": names} if names and not found.in_vain else {}
