"""The release card: data, stored next to a release, on what was done, promised, measured and not tried.

A card holds only aggregates. Each number is a mean over rows of results, and is stored with the key of these rows.
`reporting.release_card` makes the page of a card.
"""

import contextlib
import datetime
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.datasets import description
from privnb.datasets.dataset import Dataset
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.decision import policies
from privnb.decision.answer import Part, answer
from privnb.decision.by_policy import ENDS, LOSS, Decision, plain_number
from privnb.decision.evidence import add_months, gather_evidence
from privnb.decision.explanation import LOSSES, count_ruled_out, explain_rule
from privnb.decision.frameworks import CRITERIA
from privnb.decision.policies import Policy
from privnb.decision.policy_changes import explain_changed_caps, policy_values
from privnb.decision.release_risks import (
    ATTACKED,
    ROW,
    groups_at_risk,
    list_attributes,
    list_informed,
    mean_and_worst,
    numbers_of,
    risk_of,
)
from privnb.decision.signature import Signature
from privnb.evaluation.label_widths import WHOLE
from privnb.evaluation.results import SETTING_COLUMNS, Results, select_measured
from privnb.microdata import withholding
from privnb.microdata.bands import name_treatment
from privnb.microdata.counts import count_people_by_group
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy
from privnb.microdata.schema import Attribute, Schema, SchemaError, to_text
from privnb.microdata.treatment import KINDS, MEANINGS, TRUE
from privnb.privacy_models import KAnonymity
from privnb.privacy_models.grading import grade
from privnb.privacy_models.star import Star
from privnb.runtime import expect, validation
from privnb.runtime.errors import InputError, MissingFileError
from privnb.runtime.registry import first_paragraph
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import kinds
from privnb.sanitizers.made_elsewhere import MadeElsewhere
from privnb.tables import spreadsheets
from privnb.tables.long_tables import Memory
from privnb.tables.writing import CARD, FACTS

VERSION = 8  # the version of the card's format, see card.schema.json
READABLE = (7, VERSION)  # a card of format 7 has no evidence
SCHEMA = Path(__file__).with_name("card.schema.json")
TOO_FEW = "too few attempts for a rate"
CERTAIN_FREE = "nobody's value certain"  # the kind of an alternative that discloses nothing with certainty
NEVER_TRIED = ("second_release", "more_knowledge", "by_hand", "new_attack")  # attacks that no card measures
LONG = 200  # a taxonomy of more values is not written out
NAMED = 20  # releases that the card lists as ruled out
VALUES = (
    "exact",
    "suppressed",
    "perturbed",
    "synthetic",
)  # the treatments after which a cell holds a single value, or *
COVERING = ("generalized", "suppressed")  # the treatments after which a cell can cover all values
STARS_ONLY = r"^\*+$"  # cells of other tools that are suppressed
K = KAnonymity.__name__  # the beginning of a claim of k-anonymity
COUNTED = (
    "certainty_penalty", "change_rate", "mean_absolute_error", "utility_loss", "worse_than_trivial", "workload_utility",
    "good_utility",
)  # fmt: skip


class CardError(InputError):
    """A card that cannot be made or read; the message states the cause and the cure."""


@dataclass(frozen=True, eq=False)
class Card:
    """The card of one release; `content` is a dictionary of plain values in the format of `card.schema.json`."""

    HINT: ClassVar[str] = "decision.card.make_card(...) makes one."

    content: Part

    @property
    def text(self) -> str:
        """The content as JSON in ASCII, without invisible characters and characters that change the text direction."""
        return json.dumps(self.content, indent=1, allow_nan=False) + "\n"

    @property
    def sha256(self) -> str:
        """The digest of the content without the field that stores the digest."""
        return digest_card(self.content)

    @property
    def name(self) -> str:
        """The name of the card's file."""
        return self.content["release"]["file"] + CARD

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Card":
        """Read a card; raise CardError for a file that is not a card, and OSError for a file that cannot be read."""
        content = _parsed(Path(expect.path("path", path)), "card", f"Give the file that ends in {CARD}.")
        if not isinstance(content, dict) or "card" not in content or not isinstance(content.get("release"), dict):
            raise CardError(f"{path} is not a release card. Give the file that ends in {CARD}.")
        if content["card"] not in READABLE:
            raise CardError(
                f"{path} is a card in format {content['card']!r}, and this version of privnb reads the formats "
                f"{' and '.join(map(str, READABLE))}. "
                "Update privnb, or decide again to make a card in this format."
            )
        return cls(content)


@validated
def make_card(
    release_path: validation.Path,
    decision: Decision,
    results: Results,
    dataset: Dataset | Schema,
    of: pd.Series | None = None,
    *,
    done: Part | None = None,
    copies: Part | None = None,
    signature: Signature | None = None,
) -> Card:
    """Make the card of a release that was part of a decision, by default the card of the chosen release.

    Parameters
    ----------
    release_path : str or path-like
        The file or folder of the release, with its provenance next to it, as `privnb sanitize` or `privnb decide`
        writes them.
    decision : Decision
        The decision that chose the release.
    results : DataFrame
        The tidy results from which the decision was made.
    dataset : Dataset or Schema
        The released table; with a schema alone, the card has no taxonomies.
    of : Series, optional
        The row of `decision.releases` for this file; if None, the row of the chosen release.
    done : dict, optional
        The provenance as plain values, for a release that was made elsewhere; if None, the provenance is read from the
        file next to the release.
    copies : dict, optional
        How many synthetic rows equal a record, and the estimated share of copies, as plain values; None if nobody
        counted copies.
    signature : Signature, optional
        The statements of the person who signs the card; if None, the card has empty fields to fill in by hand.

    Returns
    -------
    Card

    Raises
    ------
    CardError
        If the release has no provenance or was made by another sanitizer, or if `of` is None and no release is chosen.
    OSError
        If the file cannot be read.
    """
    path = Path(release_path)
    of = decision.chosen if of is None else of
    if of is None:
        raise CardError(
            f"no release complies with the policy '{decision.policy.name}', so no card can be made. Give a row of "
            "`decision.releases` as `of`."
        )
    done = read_file_provenance(path) if done is None else done
    schema = dataset.schema if isinstance(dataset, Dataset) else dataset
    hierarchies = getattr(dataset, "hierarchies", {})
    own = results[_of(results, of) & (results.control == "")]
    axes = decision.vectors[_of(decision.vectors, of)]
    bound = "" if own.parameter.iloc[0] == "" else f"={own.bound.iloc[0]:g}"
    if done["sanitizer"].partition("(")[0] != own.sanitizer.iloc[0] or bound not in done["sanitizer"]:
        raise CardError(
            f"{path.name} was made by {done['sanitizer']}, and the decision chose {of.setting}. Make the "
            "chosen release, or decide again."
        )
    groups, people = groups_at_risk(own, dataset), getattr(dataset, "headcount", None)
    made = datetime.date.today()
    content = {
        "card": VERSION,
        "made": made.isoformat(),
        "answer": {},
        "release": facts_of_file(path, [name for name in schema.quasi_identifiers if name in done["columns"]], done),
        "measured_on": str(own.dataset.iloc[0]),
        "smallest_class": next(iter(numbers_of(own[own.measure == "smallest_combination"])), None),
        "people": people,
        "decision": _decision(decision, of) | {"next": _next(decision, results, of)},
        "policy": _policy(decision.policy),
        "done": done,
        "risks": [risk_of(risk, own, axes, decision.policy, groups, people) for risk in policies.RISKS],
        "worst_groups": groups,
        "criteria": list_criteria(own),
        "copies": copies,
        "uses": _uses(own, axes, decision.policy),
        "vanished": list_vanished(path, dataset, done) if isinstance(dataset, Dataset) else [],
        "unmeasured": list_unmeasured(own, schema),
        "empty_columns": list_empty_columns(path, dataset, done) if isinstance(dataset, Dataset) else [],
        "not_tried": [*_not_tried(own, schema, done, decision.previous)],
        "dictionary": [_entry(schema, hierarchies, name, how) for name, how in done["columns"].items()],
    }
    if attributes := list_attributes(own, schema.sensitive, decision.policy):
        content["attributes"] = attributes
    if informed := list_informed(own):
        content["informed"] = informed
    if signature is not None:
        content["signed"] = signature.facts()
    again = add_months(made, decision.policy.measure_again_after)
    content |= {"answer": answer(content), "evidence": gather_evidence(content, again.isoformat())}
    return Card(content | {"sha256": digest_card(content)})


def read_file_provenance(path: Path) -> Part:
    """Return the provenance of a release from the file next to the release.

    Raises CardError if there is no provenance.
    """
    facts = path.with_name(path.name + FACTS)
    if not path.exists():
        raise MissingFileError(f"there is no release at {path}. Give the path of a release.")
    if not facts.is_file():
        raise CardError(
            f"{path.name} has no provenance: {facts.name} is not in the same folder. A card needs the provenance of "
            "its release. Make the release with `privnb sanitize` or `privnb decide --out`."
        )
    done: Part = _parsed(facts, "provenance file", "Make the release again.")
    lacking = {"sanitizer", "parameters", "claims", "promise", "columns", "rows", "use"} - {*done}
    if lacking:
        raise CardError(
            f"{facts} is not a provenance file: it lacks {', '.join(sorted(lacking))}. Make the release again."
        )
    return done


def _parsed(path: Path, what: str, advice: str) -> Any:
    text = path.read_bytes()
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CardError(f"{path} is not a {what}: it is not JSON ({error}). {advice}") from None


def facts_of_file(path: Path, names: list[str], done: Part) -> Part:
    """Return the facts about a released file that can be counted again.

    The facts are the name, the digest and the number of rows of the file, and k, which is counted over the labels of
    the quasi-identifiers `names`. `done` is the provenance of the file. If the cells may be untrue of their records, k
    is null unless the file promises a k.
    """
    columns, promised = done["columns"], any(claim.startswith(K) for claim in done["claims"])
    file = UndescribedTable.of(path)
    there = [name for name in columns if spreadsheets.name_in_file(done, name) in file.names]
    names = [name for name in names if name in there]  # a column that the file lacks is suppressed for everybody
    true = promised or all(any(columns[name].startswith(kind) for kind in TRUE) for name in names)
    cells, times = spreadsheets.read_unescaped(
        done, names or there[:1], lambda written: file.counted(written, Memory.of("2GB"))
    )
    k = None
    if names and true:
        star: Star = done.get("parameters", {}).get("star", "own")
        cells = cells if star == "own" else cells.replace(STARS_ONLY, SUPPRESSED, regex=True)
        grades = grade(cells, names, None, None, times, star).set_index("measure").value
        k = int(grades["k achieved"])
    rows = len(cells) if times is None else int(np.sum(times))
    return {
        "file": path.name,
        "sha256": description.file_digest(path),
        "rows": rows,
        "quasi_identifiers": names,
        "k": k,
    }


def digest_card(content: Part) -> str:
    """Return the SHA-256 of a card's content without the entry of the digest itself."""
    said = {key: value for key, value in content.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@validated
def verify(found: Card, release_path: validation.Path, policy: Policy | None = None) -> list[str]:
    """Return a sentence for each difference between a card and its file.

    Parameters
    ----------
    found : Card
    release_path : str or path-like
    policy : Policy, optional
        The present policy; if None, the package's policy of the name in the card, if such a policy exists.

    Returns
    -------
    list of str
        Sentences, each with a cure; empty if the whole card is correct.

    Raises
    ------
    CardError
        If the release has no provenance, and privnb made it.
    OSError
        If the file cannot be read.
    """
    content, path = found.content, Path(release_path)
    stated = content["release"]
    wrong = []
    if content.get("sha256") != found.sha256:
        wrong.append("The card was edited after it was made: its digest differs. Ask for the original card.")
    has_provenance = path.with_name(path.name + FACTS).is_file()
    made_elsewhere = content["decision"]["sanitizer"] == MadeElsewhere.__name__  # without a provenance file
    done = content["done"] if made_elsewhere and not has_provenance else read_file_provenance(path)
    if done != content.get("done"):
        wrong.append("The provenance next to the file differs from that of the card. Compare the two.")
    names = [name for name in stated["quasi_identifiers"] if name in done["columns"]]
    now = facts_of_file(path, names, done)
    if now["sha256"] != stated["sha256"]:
        wrong.append(
            f"The card describes another file: {stated['file']} with the SHA-256 {stated['sha256'][:12]}…, but "
            f"{path.name} has {now['sha256'][:12]}…. Use the file and the card that were published together."
        )
    if now["rows"] != stated["rows"]:
        wrong.append(
            f"The file has {now['rows']:,} rows, and the card states {stated['rows']:,}. Ask for the file of this card."
        )
    if now["k"] != stated["k"]:
        wrong.append(
            f"Counted again, k is {now['k']}, and the card states {stated['k']}. Ask for the file of this card."
        )
    if policy is None and content["policy"]["name"] in policies.list_policy_names():
        policy = policies.read(content["policy"]["name"])
    if policy is not None and policy.sha256 != content["policy"]["sha256"]:
        wrong.append(f"The policy '{policy.name}' was changed after the decision. Decide again, or restore the policy.")
    return wrong


def _next(decision: Decision, results: pd.DataFrame, of: pd.Series) -> Part | None:
    """Return the release to compare with the release `of`, and the loss and the risks of both releases.

    If the release `of` discloses a value with certainty, and if there is a release that does not, the other release is
    such a release. The result is None if no other release complies with the policy.
    """
    others = decision.releases[decision.releases.kept & ~_of(decision.releases, of)]
    if others.empty:
        return None
    first, alternative = others.iloc[0], decision.certain_free_alternative if others.index[0] else None
    other = first if alternative is None else alternative
    is_it = "chosen" if others.index[0] == 0 else "runner-up" if alternative is None else CERTAIN_FREE
    this = _in_short(results, of)
    return {"release": other.setting, "is": is_it, "this": this, "other": _in_short(results, other, this["risks"])}


def _in_short(results: pd.DataFrame, row: pd.Series, like: Sequence[Part] = ()) -> Part:
    """Return the loss of the users and the risks of a release, for the same attributes as in the risks `like`."""
    own = results[_of(results, row) & (results.control == "")]
    lost = {name: plain_number(row[column]) for name, column in zip(ENDS, LOSSES, strict=True)}
    of = {each["risk"]: (each["mean"], each["worst_person"]) for each in like}
    pairs = {risk: mean_and_worst(risk, own, of.get(risk, (None, None))) for risk in policies.RISKS}
    risks = [{"risk": risk, "mean": mean, "worst_person": largest} for risk, (mean, largest) in pairs.items()]
    return {"lost": lost, "risks": risks}


def _uses(own: pd.DataFrame, axes: pd.DataFrame, policy: Policy) -> Part:
    """Return the loss of the users, and the measures of utility."""
    loss = axes[axes.axis == LOSS].iloc[0]
    needs = dict.fromkeys(need.measure for need in policy.needs)
    rows = own[own.measure.isin([*needs, *COUNTED]) & (own.variant == "") & (own.group == "")]
    rows = rows[rows.miner.isin(["", "worst"])]
    lost = {name: plain_number(loss[name]) for name in ENDS}
    return {"lost": lost, "by": [*needs], "measures": numbers_of(rows)}


def _of(table: pd.DataFrame, release: pd.Series) -> pd.Series:
    """Return, as a boolean Series, whether each row of a table belongs to a release."""
    return (table[SETTING_COLUMNS] == [*release[SETTING_COLUMNS]]).all(axis=1)


def _decision(decision: Decision, of: pd.Series) -> Part:
    out = decision.ruled_out
    return {
        "release": of.setting,
        "chosen": decision.setting,
        "sanitizer": of.sanitizer,
        "parameters": of.parameters,
        "drawn": bool(of.random) or not kinds()[of.sanitizer].order_invariant,
        "random": bool(of.random),
        "reasons": [reason.data for reason in of.reasons],
        "runner_up": decision.runner_up,
        "as_good": list(decision.near),
        "releases": len(decision.releases),
        "ruled_out": len(out),
        "why": explain_rule(decision),
        "counts": count_ruled_out(decision),
        "ruled_out_each": [{"release": name, "why": reasons[0].data} for name, reasons in out[:NAMED]],
        **explain_changed_caps(decision),
    }


def _policy(policy: Policy) -> Part:
    # The package's policy of that name may have changed since.
    changed = policy.name in policies.list_policy_names() and policies.read(policy.name).sha256 != policy.sha256
    return policy_values(policy) | {"changed": changed}


def _not_tried(own: pd.DataFrame, schema: Schema, done: Part, previous: str = "") -> Iterator[Part]:
    """Yield the subject of each threat that no attack tried, and the `kind` of its sentence in `templates/card.j2`."""
    for risk in policies.RISKS:
        measure = policies.measure_of(risk)
        if not (own.measure == measure).any():
            yield {"kind": "risk_not_measured", "subject": risk}
        elif select_measured(own[own.measure == measure]).empty:
            yield {"kind": "risk_not_measurable", "subject": risk}
    for name in list_unmeasured(own, schema):
        yield {"kind": "attribute_not_measured", "subject": name}
    has_buckets = any(how.startswith("bucketized") for how in done["columns"].values())
    if all(each["is"] != ATTACKED for each in list_informed(own)):
        yield {"kind": "buckets_together" if has_buckets else "algorithm", "subject": ""}
    if previous:
        yield {"kind": "third_release", "subject": previous}
    yield from ({"kind": kind, "subject": ""} for kind in NEVER_TRIED[bool(previous) :])


def list_criteria(own: pd.DataFrame) -> list[Part]:
    """Return the numbers of the three criteria, each with the number of attempts, which is 0 if nothing can be tried.

    A number of too few attempts is null, because a rate of few attempts is uncertain.
    """
    named = own.measure.isin([each.replace(" ", "_") for each in CRITERIA])
    found = []
    for _, part in own[named].groupby(ROW, sort=False, dropna=False):
        attempts = int(part.of.min()) if part.of.notna().all() else 0
        for number in numbers_of(part):
            few = 0 < attempts < withholding.LIMIT
            unknown: Part = {**dict.fromkeys(ENDS), "unknown": TOO_FEW} if few else {}
            found.append(number | {"attempts": attempts} | unknown)
    return found


def list_unmeasured(own: pd.DataFrame, schema: Schema) -> list[str]:
    """Return the sensitive attributes whose disclosure was not measured."""
    guessed = {*select_measured(own[own.measure == policies.measure_of("attribute")]).target}
    return [name for name in schema.sensitive[1:] if name not in guessed]


def list_vanished(path: Path, dataset: Dataset, done: Part) -> list[Part]:
    """Return the columns of a file in which common values of the table are missing, with the number of such values.

    A value is common if the number of people who have it is at least the minimum count. The result lists only columns
    whose cells hold single values, because the labels of generalized columns cover their values.
    """
    file, memory, found = UndescribedTable.of(path), Memory.of("2GB"), []
    for name, how in done["columns"].items():
        treated = next(filter(how.startswith, VALUES), "")
        if not treated or name not in dataset.cells or spreadsheets.name_in_file(done, name) not in file.names:
            continue
        attribute = dataset.schema[name]
        index, values = attribute.coded(dataset.cells[name])
        common = count_people_by_group(index, dataset.people, len(values)) >= withholding.LIMIT
        cells, _ = spreadsheets.read_unescaped(done, [name], lambda written: file.counted(written, memory))
        before = {_plain(value, attribute) for value in np.asarray(values, dtype=object)[common]}
        after = {_plain(value, attribute) for value in cells.iloc[:, 0].unique()}
        if vanished := len(before - after - {attribute.public_domain.mark}):
            found.append({"column": name, "values": vanished, "treated": treated})
    return found


def list_empty_columns(path: Path, dataset: Dataset, done: Part) -> list[str]:
    """Return the quasi-identifiers of a file whose cells contain no information: each cell covers all values."""
    file, memory, found = UndescribedTable.of(path), Memory.of("2GB"), []
    for name in dataset.schema.quasi_identifiers:
        can_be_empty = str(done["columns"].get(name, "")).startswith(COVERING)
        if not can_be_empty or spreadsheets.name_in_file(done, name) not in file.names:
            continue
        hierarchy = dataset.hierarchies[name]
        cells, _ = spreadsheets.read_unescaped(done, [name], lambda written: file.counted(written, memory))
        with contextlib.suppress(SchemaError):  # a cell that is not a label contains information
            if all(hierarchy.width(str(cell)) >= WHOLE for cell in cells.iloc[:, 0].unique()):
                found.append(name)
    return found


def _plain(value: Any, attribute: Attribute) -> Any:
    """Return a value as a number if its column holds numbers, and otherwise as text."""
    number = pd.to_numeric(value, errors="coerce") if attribute.numeric else np.nan
    return to_text(value) if np.isnan(number) else float(number)


def _entry(schema: Schema, hierarchies: Mapping[str, Any], name: str, how: str) -> Part:
    """Return a published column: its role, its public domain, its treatment, and how it generalizes."""
    kind = next((kind for kind in KINDS if how.startswith(kind)), "")
    if name not in schema.names():
        means, empty = KINDS.get(kind, ""), {"domain": "", "unit": "", "labels": "", "taxonomy": []}
        return {"name": name, "treated": how, "means": means, "role": "of the release", **empty}
    attribute, generalization = schema[name], hierarchies.get(name) if kind == "generalized" else None
    of_records = getattr(attribute.domain, "of_records", False)
    paths = generalization.rows if isinstance(generalization, Taxonomy) and not of_records else ()
    treated = name_treatment(how, attribute.domain)
    return {
        "name": name,
        "treated": treated,
        "means": MEANINGS.get(treated, KINDS.get(kind, "")),
        "role": str(attribute.role),
        "domain": str(attribute.domain or ""),
        "unit": attribute.unit,
        **({"derived": attribute.derived} if attribute.derived else {}),
        "labels": "" if generalization is None else first_paragraph(type(generalization)),
        "taxonomy": [[str(label) for label in path] for path in paths] if len(paths) <= LONG else [],
    }
