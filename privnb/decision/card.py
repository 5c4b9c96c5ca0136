"""The release card: what was done, promised, measured and not tried of one release, as data that leaves beside it.

It holds aggregates alone, and each number carries the key of the rows of results that it is the mean of. The page of it
is made by `reporting.release_card`. Long, since a card is one document: what is written into it and what is checked of
it later stand side by side.
"""

import datetime
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.datasets import description
from privnb.datasets.dataset import Dataset
from privnb.datasets.unknown_files import Unknown
from privnb.decision import policies
from privnb.decision.answer import Part, answer
from privnb.decision.by_policy import LOSS, Decision, averaged, how_bad, keeps
from privnb.decision.policies import Policy
from privnb.evaluation.results import KEY, SETTING, Results, identified, measured
from privnb.evaluation.risks.groups import OTHERS, groups_of
from privnb.measures.base import facts
from privnb.microdata import withholding
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import KINDS, TRUE
from privnb.privacy_models import KAnonymity
from privnb.privacy_models.grading import grade
from privnb.runtime import expect, validation
from privnb.runtime.errors import InputError, MissingFileError
from privnb.runtime.family import opening
from privnb.runtime.sentences import listed
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import kinds
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory
from privnb.tables.writing import CARD, FACTS

VERSION = 6  # of the card's form, see card.schema.json
SCHEMA = Path(__file__).with_name("card.schema.json")
SAFER = "nobody's value certain"  # of another release, where somebody's is
LONG = 200  # values of a taxonomy that is written out
NAMED = 20  # releases that are ruled out by name
ROW = [name for name in KEY if name not in ("seed", "miner")]  # a number is a mean over seeds, of the best miner each
ENDS = ("value", "low", "high")
K = KAnonymity.__name__  # as claims begin
COUNTED = (
    "certainty_penalty", "change_rate", "mean_absolute_error", "utility_loss", "worse_than_trivial", "workload_utility",
    "good_utility",
)  # fmt: skip

# What each risk asks, in words that need no others; who asks; what its mean counts.
ASKS = {
    "identity": (
        "Can somebody find a person's row?",
        "knows a person's quasi-identifiers, and looks for the row",
        "of people are found",
    ),
    "attribute": (
        "Can somebody learn what a person keeps secret?",
        "knows a person's quasi-identifiers, and guesses what is sensitive",
        "more of the people are guessed right than from all other people's records",
    ),
    "certainty": (
        "Does the file disclose a person's secret with certainty?",
        "knows whatever others may know of a person, and no private record",
        "of people have their secret disclosed with certainty",
    ),
    "linkability": (
        "Can somebody join two parts of a person's record?",
        "holds parts of records, and joins them",
        "of people have both parts joined",
    ),
    "membership": (
        "Can somebody tell whether a person is in the table?",
        "knows a person's record, and compares the file with other people",
        "more people of the table than others are taken for members",
    ),
    "anti-utility": (
        "Can a machine guess what the owner wants to hide?",
        "trains a data miner on the file, and guesses a column",
        "more of the people are guessed nearer than without the file",
    ),
}
# Why some risks are of nobody alone.
ONE_PERSON = {
    "attribute": "a miner does not say how sure each guess is",
    "certainty": "it counts the people whose secret is certain",
    "membership": "it counts how many people are taken for members",
    "anti-utility": "it counts how many people are guessed nearer",
}
# What no card measures: said on each.
NOT_TRIED = (
    "Nobody who holds a second release of the same people was tried.",
    "Nobody who knows more about a person than the policy says was tried.",
    "No attack was made by hand, and none with other files.",
    "A new attack may find more. That none here found more does not mean that there is none.",
)


class CardError(InputError):
    """A card that cannot be made or read; the message says why, and what to do."""


@dataclass(frozen=True, eq=False)
class Card:
    """What is known of one release. `content`: a dictionary of plain values, as `card.schema.json` says."""

    HINT: ClassVar[str] = "decision.card.card(...) makes one."

    content: Part

    @property
    def text(self) -> str:
        """The same as JSON, in ASCII: no character is invisible or turns the direction of others."""
        return json.dumps(self.content, indent=1, allow_nan=False) + "\n"

    @property
    def sha256(self) -> str:
        """The digest of all that it says, which stands in it."""
        return digest(self.content)

    @property
    def name(self) -> str:
        """Of its file."""
        return self.content["release"]["file"] + CARD

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Card":
        """A card from its file. Raises CardError for what is none, and OSError for what cannot be read."""
        content = _parsed(Path(expect.path("path", path)), "card", f"Give the file that ends in {CARD}.")
        if not isinstance(content, dict) or "card" not in content or not isinstance(content.get("release"), dict):
            raise CardError(f"{path} is no card of a release. Give the file that ends in {CARD}.")
        if content["card"] != VERSION:
            raise CardError(
                f"{path} is a card of form {content['card']!r}, and this reads form {VERSION}. Update privnb, or "
                "decide anew for a card of this form."
            )
        return cls(content)


@validated
def card(
    release_path: validation.Path,
    decision: Decision,
    results: Results,
    dataset: Dataset | Schema,
    of: pd.Series | None = None,
) -> Card:
    """The card of a release that a policy was decided on, by default of the chosen one.

    Parameters
    ----------
    release_path : str or path-like
        The file or folder of the release, its provenance beside it, as `privnb sanitize` or `decide` writes them.
    decision : Decision
        That chose it.
    results : DataFrame
        The tidy results that the decision was made of.
    dataset : Dataset or Schema
        What was released; of a schema alone the card has no taxonomies.
    of : Series, optional
        The row of `decision.releases` that the file is of; None: the chosen one.

    Returns
    -------
    Card

    Raises
    ------
    CardError
        For a release without provenance or by another sanitizer, and without `of` for a decision that chose none.
    OSError
        For a file that cannot be read.
    """
    path = Path(release_path)
    of = decision.chosen if of is None else of
    if of is None:
        raise CardError(f"no release keeps the policy '{decision.policy.name}', so there is none to make a card of.")
    done = provenance(path)
    schema = dataset.schema if isinstance(dataset, Dataset) else dataset
    hierarchies = getattr(dataset, "hierarchies", {})
    own = results[_of(results, of) & (results.control == "")]
    axes = decision.vectors[_of(decision.vectors, of)]
    bound = "" if own.parameter.iloc[0] == "" else f"={own.bound.iloc[0]:g}"
    if done["sanitizer"].partition("(")[0] != own.sanitizer.iloc[0] or bound not in done["sanitizer"]:
        raise CardError(
            f"{path.name} was made by {done['sanitizer']}, and the decision chose {of.setting}. Make the "
            "chosen release, or decide anew."
        )
    groups, people = _groups(own, dataset), getattr(dataset, "headcount", None)
    content = {
        "card": VERSION,
        "made": datetime.date.today().isoformat(),
        "answer": {},
        "release": facts_of_file(path, [name for name in schema.quasi_identifiers if name in done["columns"]], done),
        "measured_on": str(own.dataset.iloc[0]),
        "alike": next(iter(_numbers(own[own.measure == "smallest_combination"])), None),
        "decision": _decision(decision, of) | {"beside": _beside(decision, results, of)},
        "policy": _policy(decision.policy),
        "done": done,
        "risks": [_risk(risk, own, axes, decision.policy, groups, people) for risk in policies.RISKS],
        "worst_groups": groups,
        "uses": _uses(own, axes, decision.policy),
        "unmeasured": _others(own, schema),
        "not_tried": [*_unmeasured(own, schema), *_of_buckets(done), *NOT_TRIED],
        "dictionary": [_entry(schema, hierarchies, name, how) for name, how in done["columns"].items()],
    }
    content |= {"answer": answer(content)}
    return Card(content | {"sha256": digest(content)})


def provenance(path: Path) -> Part:
    """How a release was made, of the file beside it: a dictionary. Raises CardError where there is none."""
    beside = path.with_name(path.name + FACTS)
    if not path.exists():
        raise MissingFileError(f"there is no release at {path}.")
    if not beside.is_file():
        raise CardError(
            f"{path.name} has no provenance: {beside.name} is not beside it. A card is of a release whose making is "
            "known. Make it with `privnb sanitize` or `privnb decide --out`."
        )
    done: Part = _parsed(beside, "provenance", "Make the release anew.")
    lacking = {"sanitizer", "parameters", "claims", "promise", "columns", "rows", "use"} - {*done}
    if lacking:
        raise CardError(f"{beside} is no provenance: it lacks {', '.join(sorted(lacking))}. Make the release anew.")
    return done


def _parsed(path: Path, what: str, advice: str) -> Any:
    text = path.read_bytes()
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CardError(f"{path} is no {what}: it is no JSON ({error}). {advice}") from None


def facts_of_file(path: Path, names: list[str], done: Part) -> Part:
    """What can be counted again of a released file: its name, digest, rows, and k of the quasi-identifiers `names`.

    `done`: its provenance; k is of labels, and null where cells are not true of their records, unless it is promised.
    """
    columns, promised = done["columns"], any(claim.startswith(K) for claim in done["claims"])
    true = promised or all(any(columns[name].startswith(kind) for kind in TRUE) for name in names)
    cells, times = spreadsheets.read(
        done, names or [*columns][:1], lambda written: Unknown.of(path).counted(written, Memory.of("2GB"))
    )
    k = None
    if names and true:
        grades = grade(cells, names, None, None, times).set_index("measure").value
        k = int(grades["k achieved"])
    rows = len(cells) if times is None else int(np.sum(times))
    return {
        "file": path.name,
        "sha256": description.file_digest(path),
        "rows": rows,
        "quasi_identifiers": names,
        "k": k,
    }


def digest(content: Part) -> str:
    """The SHA-256 of what a card says, but for this line itself."""
    said = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@validated
def verify(found: Card, release_path: validation.Path, policy: Policy | None = None) -> list[str]:
    """What of a card does not hold of a file.

    Parameters
    ----------
    found : Card
    release_path : str or path-like
    policy : Policy, optional
        The policy as it is now; None: that of the package by the card's name, where there is one.

    Returns
    -------
    list of str
        Sentences, each with what to do; empty if all of it holds.

    Raises
    ------
    CardError
        For a release without provenance.
    OSError
        For a file that cannot be read.
    """
    content, path = found.content, Path(release_path)
    stated = content["release"]
    wrong = []
    if content.get("sha256") != found.sha256:
        wrong.append("The card was edited after it was made: its digest is another. Ask for the card as it was made.")
    done = provenance(path)
    if done != content.get("done"):
        wrong.append("The provenance beside the file is another than the card's. Compare the two.")
    names = [name for name in stated["quasi_identifiers"] if name in done["columns"]]
    now = facts_of_file(path, names, done)
    if now["sha256"] != stated["sha256"]:
        wrong.append(
            f"The card is of another file: of {stated['file']} with the SHA-256 {stated['sha256'][:12]}…, and "
            f"{path.name} has {now['sha256'][:12]}…. Use the file and the card that left together."
        )
    if now["rows"] != stated["rows"]:
        wrong.append(f"The file has {now['rows']:,} rows, and the card says {stated['rows']:,}.")
    if now["k"] != stated["k"]:
        wrong.append(f"Counted again, k is {now['k']}, and the card says {stated['k']}.")
    if policy is None and content["policy"]["name"] in policies.ready():
        policy = policies.read(content["policy"]["name"])
    if policy is not None and policy.sha256 != content["policy"]["sha256"]:
        wrong.append(
            f"The policy '{policy.name}' was changed after the decision. Decide anew, or keep the policy as it was."
        )
    return wrong


def _number(rows: pd.DataFrame, **more: object) -> Part:
    """A number of results as plain values, the mean over the seeds of its rows, with their key and their ids in
    `results.csv`.
    """
    found = averaged(rows, bool(rows.randomized.any()))
    numbers = {name: _plain(found[name]) for name in ("value", "low", "high", "baseline")}
    key = {name: str(rows[name].iloc[0]) for name in ROW if rows[name].iloc[0] != ""}
    return {
        **numbers,
        "seeds": int(found["seeds"]),
        "unknown": found["reason"],
        "row": key,
        "ids": identified(rows),
        **more,
    }


def _plain(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _numbers(rows: pd.DataFrame) -> list[Part]:
    """Each number of some rows of results: a list."""
    return [_number(part) for _, part in measured(rows).groupby(ROW, sort=False, dropna=False)]


def _of_everybody(
    risk: str, own: pd.DataFrame, beside: tuple[Part | None, Part | None] = (None, None)
) -> list[Part | None]:
    """The mean of a risk over everybody, and that of the worst-off person: two numbers, or None; of several sensitive
    attributes of the one that is worst, or of those that two other numbers are `beside`.
    """
    found, whole = [], own[(own.measure == policies.measure_of(risk)) & (own.group == "")]
    for variant, other in zip(("", "largest"), beside, strict=True):
        numbers = _numbers(whole[whole.variant == variant])
        found.append(max([each for each in numbers if other is None or _alike(each, other)], key=_badly, default=None))
    return found


def _alike(number: Part, other: Part) -> bool:
    """Whether two numbers are of the same attribute."""
    return number["row"].get("target") == other["row"].get("target")


def _badly(number: Part) -> tuple[bool, bool, float, float]:
    return how_bad(*(math.nan if number[name] is None else number[name] for name in ("value", "high", "baseline")))


def _risk(risk: str, own: pd.DataFrame, axes: pd.DataFrame, policy: Policy, groups: Part, people: int | None) -> Part:
    """One of the risks: what it asks, its numbers, and the caps on it."""
    measure, (asks, who, counts) = policies.measure_of(risk), ASKS[risk]
    rows = own[own.measure == measure]
    everybody, targets = rows[rows.group == ""], [*dict.fromkeys(filter(None, rows.target))]
    mean, largest = _of_everybody(risk, own)
    reasons = ["It was not measured."] if rows.empty else [*filter(None, everybody.reason), "It was withheld."]
    unknown = "" if mean or largest else reasons[0]
    shown = [each for each in groups["shown"] if each["row"]["measure"] == measure]
    others = _numbers(own[own.measure == "guessed_without_them"]) if risk == "attribute" else []
    measures = [*policies.DISCLOSURES.values()] if risk == "certainty" else [measure]
    certain, near = (_numbers(own[own.measure == name]) for name in measures) if len(measures) > 1 else ([], [])
    each_surest = _numbers(everybody[everybody.variant == "largest"])
    bare = [each for each in certain if each["value"] is None] or [each for each in each_surest if _bare(each)]
    capped = [cap for cap in policy.caps if cap.measure in measures]
    held = [row for row in axes.itertuples() if row.axis != LOSS and row.measure in measures]
    stated = ("unit", "baseline", "source")
    unit, baseline, source = ("" if rows.empty else getattr(facts(measure), name) for name in stated)
    return {
        "risk": risk,
        "asks": asks,
        "adversary": f"{who}: {listed(targets)}" if targets else who,
        "counts": counts,
        "unknown": unknown,
        "mean": mean,
        "worst_person": largest,
        "no_person": _no_person(risk, largest, unknown),
        "worst_group": next((each for each in shown if each["value"] > 0), None),
        "groups": len(shown),
        "groups_withheld": groups["withheld_by"].get(measure, 0),
        "ceiling": next(iter(_numbers(own[(own.measure == f"{risk}_ceiling") & (own.group == "")])), None),
        "others": next((each for each in others if mean and _alike(each, mean)), None),
        "certain": _counted(certain, people),
        "nearly_certain": _counted(near, people),
        "of": targets,
        "withheld": [each["row"].get("target", "") for each in bare],
        "unit": unit,
        "baseline_is": baseline,
        "source": source,
        "caps": [_cap(*pair, shown) for pair in zip(held, capped, strict=True)],
    }


def _counted(numbers: list[Part], people: int | None) -> list[Part]:
    """Shares of people above 0, the largest first, each with how many of `people` it is; None: nobody said how many."""
    shown = sorted((each for each in numbers if each["value"]), key=lambda each: -each["value"])
    return [each | {"people": None if people is None else round(people * each["value"])} for each in shown]


def _no_person(risk: str, largest: Part | None, unknown: str) -> str:
    """Why the risk of the worst-off person stands nowhere: a sentence, empty where it does."""
    if largest is not None:
        return f"withheld, because it tells of fewer than {withholding.LIMIT} people" if _bare(largest) else ""
    if unknown:
        return "not measured, because the risk is unknown"
    return f"not measured, because {ONE_PERSON.get(risk, 'no attack measures it')}"


def _bare(number: Part) -> bool:
    return number["value"] is None and number["high"] is None


def _cap(row: Any, cap: policies.Cap, groups: list[Part]) -> Part:
    """One cap with the risk that it limits; for a mean over everybody also the groups whose interval lies above it."""
    numbers = {name: _plain(getattr(row, name)) for name in ("value", "low", "high", "cap")}
    over = [each for each in groups if each["low"] is not None and each["low"] > row.cap]
    plain = cap.statistic == "mean" and cap.group == "everybody" and not cap.counted
    says = f"{row.axis} ({row.target})" if row.target else row.axis
    said = {"says": says, "statistic": cap.statistic, "group": row.group, **numbers, "written": float(cap.at_most)}
    return said | {"kept": bool(keeps(row)), "exceeded_in": over if plain else [], "unknown": row.reason}


def _groups(own: pd.DataFrame, dataset: Dataset | Schema) -> Part:
    """The mean risks of groups of people, the worst first; those that tell of too few are counted, not shown."""
    rows = own[own.measure.isin([policies.measure_of(risk) for risk in policies.RISKS]) & (own.group != "")]
    found = list[Part]()
    for _, of_it in rows[rows.variant == ""].groupby("measure", sort=False):
        largest: dict[str, Part] = {}  # by group: of several sensitive attributes the number that is largest
        for number in _numbers(of_it):
            both = largest.get(group := number["row"]["group"], number), number
            largest[group] = max(both, key=lambda each: (each["value"] is not None, each["value"] or 0.0))
        people = group_sizes(dataset, [*largest]) if isinstance(dataset, Dataset) else {}
        found += [number | {"people": people.get(group)} for group, number in largest.items()]
    bare = Counter(each["row"]["measure"] for each in found if each["value"] is None)
    shown = [each for each in found if each["value"] is not None]
    order = sorted(shown, key=lambda each: (each["row"]["measure"], -each["value"]))
    return {"shown": order, "withheld": sum(bare.values()), "withheld_by": dict(bare)}


def group_sizes(dataset: Dataset, names: Sequence[str]) -> dict[str, int]:
    """Return how many people of a table are in each group.

    Parameters
    ----------
    dataset : Dataset
    names : list of str
        All groups of one risk, as `Groups.among` names them.

    Returns
    -------
    dict of str to int
        All are of one partition of the table per attribute, so that no smaller group follows from two of them. A group
        that is none of that partition is left out, and one of few people, or of all but few.
    """
    everybody, found = np.arange(dataset.headcount), dict[str, int]()
    for partition in groups_of(dataset).among(everybody, withholding.LIMIT):
        counts = {name: int(chosen.sum()) for name, chosen in partition.items()}
        attribute = next(iter(counts)).partition(": ")[0]
        if {name for name in names if name.startswith(f"{attribute}: ")} - {*counts}:
            counts.pop(f"{attribute}: {OTHERS}", None)  # others than those of the risk
        found |= counts
    least, most = withholding.LIMIT, dataset.headcount - withholding.LIMIT
    return {name: found[name] for name in names if least <= found.get(name, 0) <= most}


def _beside(decision: Decision, results: pd.DataFrame, of: pd.Series) -> Part | None:
    """The release that is next to this one, the safer one where somebody's value is certain under this; and what both
    lose and risk. None where no other keeps the policy.
    """
    others = decision.releases[decision.releases.kept & ~_of(decision.releases, of)]
    if others.empty:
        return None
    first, safer = others.iloc[0], decision.safer if others.index[0] else None
    both = {"this": of, "other": first if safer is None else safer}
    is_it = "chosen" if others.index[0] == 0 else "runner-up" if safer is None else SAFER
    said = {"release": both["other"].setting, "is": is_it}
    this = _in_short(results, both["this"])
    return said | {"this": this, "other": _in_short(results, both["other"], this["risks"])}


def _in_short(results: pd.DataFrame, row: pd.Series, beside: Sequence[Part] = ()) -> Part:
    """What its users lose and its risks, of the attributes that the risks `beside` it are of."""
    own = results[_of(results, row) & (results.control == "")]
    lost = {name: _plain(row[column]) for name, column in zip(ENDS, ("loss", "loss_low", "loss_high"), strict=True)}
    of = {each["risk"]: (each["mean"], each["worst_person"]) for each in beside}
    pairs = {risk: _of_everybody(risk, own, of.get(risk, (None, None))) for risk in policies.RISKS}
    risks = [{"risk": risk, "mean": mean, "worst_person": largest} for risk, (mean, largest) in pairs.items()]
    return {"lost": lost, "risks": risks}


def _uses(own: pd.DataFrame, axes: pd.DataFrame, policy: Policy) -> Part:
    """What users lose, and the measures of it."""
    loss = axes[axes.axis == LOSS].iloc[0]
    needs = dict.fromkeys(need.measure for need in policy.needs)
    rows = own[own.measure.isin([*needs, *COUNTED]) & (own.variant == "") & (own.group == "")]
    rows = rows[rows.miner.isin(["", "worst"])]
    lost = {name: _plain(loss[name]) for name in ENDS}
    return {"lost": lost, "by": [*needs], "measures": _numbers(rows)}


def _of(table: pd.DataFrame, release: pd.Series) -> pd.Series:
    """Which rows of a table are of a release: boolean Series."""
    return (table[SETTING] == [*release[SETTING]]).all(axis=1)


def _decision(decision: Decision, of: pd.Series) -> Part:
    out = decision.releases[~decision.releases.kept]
    return {
        "release": of.setting,
        "chosen": decision.setting,
        "sanitizer": of.sanitizer,
        "parameters": of.parameters,
        "drawn": bool(of.random) or not kinds()[of.sanitizer].order_invariant,
        "runner_up": decision.runner_up,
        "as_good": list(decision.near),
        "releases": len(decision.releases),
        "ruled_out": len(out),
        "why": decision.why,
        "ruled_out_by": decision.ruled_out_by,
        "ruled_out_each": [{"release": name, "why": reasons[0]} for name, reasons in decision.ruled_out[:NAMED]],
    }


def _policy(policy: Policy) -> Part:
    stated = ("name", *policies.TEXTS, "verified", "floor", "near_certainty", "sha256")
    texts = {name: getattr(policy, name) for name in stated}
    caps = [{"risk": cap.risk, "says": str(cap), "most": cap.most} for cap in policy.caps]
    needs = [{"measure": need.measure, "most_lost": need.most_lost, "weight": need.weight} for need in policy.needs]
    # Whether the package's policy of that name is another one by now.
    changed = policy.name in policies.ready() and policies.read(policy.name).sha256 != policy.sha256
    return texts | {"changed": changed, "caps": caps, "needs": needs}


def _unmeasured(own: pd.DataFrame, schema: Schema) -> Iterator[str]:
    """Which risks nobody measured, and of which sensitive attributes: sentences."""
    for risk in policies.RISKS:
        measure = policies.measure_of(risk)
        if not (own.measure == measure).any():
            yield f"The risk of {risk} was not measured."
        elif measured(own[own.measure == measure]).empty:
            yield f"The risk of {risk} cannot be measured of this release."
    for name in _others(own, schema):
        yield f"Nobody measured what the file gives away of {name}, which is sensitive."


def _others(own: pd.DataFrame, schema: Schema) -> list[str]:
    """The sensitive attributes of which nobody measured what the file gives away."""
    guessed = {*measured(own[own.measure == policies.measure_of("attribute")]).target}
    return [name for name in schema.sensitive[1:] if name not in guessed]


def _of_buckets(done: Part) -> Iterator[str]:
    """What nobody tried on buckets: sentences."""
    if any(how.startswith("bucketized") for how in done["columns"].values()):
        yield "Nobody learned from all buckets together whose value is whose (Kifer, SIGMOD 2009), which may tell more."


def _entry(schema: Schema, hierarchies: Mapping[str, Any], name: str, how: str) -> Part:
    """A published column: its role, public domain, how it was treated, and how it generalizes."""
    kind = next((kind for kind in KINDS if how.startswith(kind)), "")
    entry = {"name": name, "treated": how, "means": KINDS.get(kind, "")}
    if name not in schema.names():
        return {**entry, "role": "of the release", "domain": "", "unit": "", "labels": "", "taxonomy": []}
    attribute, generalization = schema[name], hierarchies.get(name) if kind == "generalized" else None
    of_records = getattr(attribute.domain, "of_records", False)
    paths = generalization.rows if isinstance(generalization, Taxonomy) and not of_records else ()
    return {
        **entry,
        "role": str(attribute.role),
        "domain": str(attribute.domain or ""),
        "unit": attribute.unit,
        "labels": "" if generalization is None else opening(type(generalization)),
        "taxonomy": [[str(label) for label in path] for path in paths] if len(paths) <= LONG else [],
    }
