"""Check a table or a release: who is indistinguishable, and whether what it claims holds."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer, unmet
from privnb.cli.arguments import (
    Parser,
    add_memory,
    add_model,
    add_roles,
    add_study,
    add_table,
    asked_roles,
    has_roles,
)
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    import pandas as pd

    from privnb.datasets.dataset import Chosen
    from privnb.datasets.unknown_files import Unknown
    from privnb.microdata.schema import Schema
    from privnb.privacy_models import PrivacyModel
    from privnb.publishing.recounted import Recount
    from privnb.tables.long_tables import Memory

COUNTS = "Counts of fewer than 10 people are shown here: they are for the table's owner, not for a report."
UNCOUNTED = "Ask the maker of the release for evidence, and then accept that with --accept-uncounted."


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.description = (
        "Check a table: how many people are indistinguishable. For a release the command reads the provenance next to "
        "it and counts each claim again in the file. Status 1 if a claim does not hold or cannot be counted, if the "
        "gate refuses the file, or if a person is alone in a class and nobody named the quasi-identifiers."
    )
    add_table(command)
    add_roles(command)
    add_model(command, "status 1 unless every class keeps these models")
    command.flag("--accept-uncounted", text="status 0 also if a claim cannot be counted in the file")
    command.value("--description", "DATASET", "the dataset that the release was made of: its roles and its gate apply")
    add_study(command)
    command.value("--card", "CARD", "verify this release card against the file instead")
    command.value("--policy", "POLICY", "with --card: the policy in its current form")
    add_memory(command)
    command.examples("check release.csv", 'check people.csv --quasi age,zip --model "k=5, l=2:illness"')


@dataclass
class _Subject:
    """The table that is checked, its provenance, and the roles of its columns."""

    name: str
    table: Unknown
    memory: Memory
    done: Mapping[str, Any] = field(default_factory=dict)
    described: Chosen | None = None  # whose release it is
    schema: Schema | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    quasi: list[str] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)
    person: str | None = None
    key: str | None = None  # that of people in the table that the file was made of
    source: str = ""  # who says what the quasi-identifiers are; empty: nobody

    @property
    def lost(self) -> str | None:
        """The key of people, where the file does not have it; else None."""
        return None if self.person else self.key

    @property
    def buckets(self) -> pd.DataFrame | None:
        """The second table of a bucketized release, next to the file."""
        import pandas as pd

        from privnb.tables.writing import BUCKETS

        buckets = Path(f"{self.name}{BUCKETS}")
        return pd.read_csv(buckets) if buckets.is_file() else None


def run(args: Namespace) -> Answer:
    """Grade a table by its equivalence classes, and verify what is claimed of it; status 1 if that does not hold.

    With a card: whether it is of this file, and what can be counted in the file is as it says; status 1 if not, and if
    the file breaks its policy.
    """
    if args.card:
        return _check_card(args)
    from privnb.microdata.schema import SchemaError
    from privnb.runtime.sentences import listed

    subject = _subject(args)
    models, unread = _models(args, subject)
    lost = subject.lost
    if lost and args.model:
        raise SchemaError(
            f"'{lost}' of {subject.source}, the key of people, is not in {args.table}: people cannot be counted. Name "
            "their column with --person, or leave out --model."
        )
    as_written = _is_as_written(subject)
    grades = _grades(subject)
    recounted = [*_recounts(subject, models), *unread]
    verdict = _verdict(subject) if subject.described else None
    k = grades.value[grades.measure == "k achieved"].iloc[0]
    uncounted = [each.model for each in recounted if each.is_kept is None]
    are = "are" if uncounted[1:] else "is"
    sentences = [
        *_claims(args, subject, recounted),
        *map(_line, grades.itertuples()),
        *_notices(args, subject, lost),
        *(verdict.sentences if verdict else ()),
    ]
    values = {
        "table": args.table,
        "quasi_identifiers": subject.quasi,
        "sensitive": subject.sensitive,
        "person": subject.person,
        "roles_from": subject.source or None,
        "k": int(k),
        "grades": [
            {"measure": row.measure, "value": row.value, "unit": row.unit, "meaning": row.meaning}
            for row in grades.itertuples()
        ],
        "models": [each._asdict() for each in recounted],
        "provenance": bool(subject.done),
        "is_as_written": as_written,
        "gate": None if verdict is None else verdict.data,
    }
    edited = "The file is not the one that its provenance is of: its SHA-256 is another."
    wrong = [edited] if as_written is False else []
    wrong += [str(each) for each in recounted if each.is_kept is False]
    if uncounted and not args.accept_uncounted:
        wrong.append(f"{listed(uncounted)} cannot be counted in {args.table} and {are} not verified. {UNCOUNTED}")
    wrong += ["The gate refuses the file."] if verdict is not None and verdict.is_refused else []
    if not subject.source and k < 2 and not args.model:
        wrong.append(
            "A person is alone in a class, and nobody named the quasi-identifiers. Name them with --quasi, or name "
            "with --description the dataset that the release was made of."
        )
    return Answer(values, sentences, unmet(" ".join(wrong)))


def _claims(args: Namespace, subject: _Subject, recounted: Sequence[Recount]) -> list[str]:
    """Return which models were counted again in a file, and which ones were not."""
    if not recounted:
        return ["Its provenance claims no privacy model."] * bool(subject.done)
    counted, not_counted = (
        ", ".join(each.model for each in recounted if (each.is_kept is None) is unknown) or "none"
        for unknown in (False, True)
    )
    what = "Models that were asked for" if args.model else "Claims in the provenance"
    return [
        f"{what}, counted again in the file: {counted}. Not counted: {not_counted}.",
        *(str(each) if each.is_kept is not None else Notice(str(each), "claim-not-counted") for each in recounted),
    ]


def _subject(args: Namespace) -> _Subject:
    """Return what is checked, in the roles that the options, a description or the provenance give it."""
    from privnb.datasets.dataset import Chosen, load
    from privnb.datasets.unknown_files import Unknown
    from privnb.decision.card import provenance
    from privnb.publishing.recounted import check_form
    from privnb.runtime.names import renamed_in
    from privnb.tables.long_tables import Memory
    from privnb.tables.writing import FACTS

    memory, table = Memory.of(args.memory), tables.table_of(args.table)
    if table.description is not None and not args.description and not tables.is_file(args.table):
        dataset = load(table.description, args.study)
        own = Unknown([*dataset.cells], [], dataset.cells)
        found = _Subject(args.table, own, memory, schema=dataset.schema, source=dataset.schema.dataset)
    else:
        found = _Subject(args.table, Unknown.of(args.table), memory)
        if Path(f"{args.table}{FACTS}").is_file():
            found.done = provenance(Path(args.table))
            check_form(found.done, args.table)
        if args.description:
            found.described = Chosen.of(tables.described(args.description), args.study)
        elif table.description is not None:
            found.schema = Chosen.of(table.description, args.study).schema
        elif found.done:
            found.described = _described_by(found)
        found.schema = found.described.schema if found.described else found.schema
        found.source = found.schema.dataset if found.schema else ""
    recorded = found.done.get("renamed", {})
    found.renamed = {own: name for own, name in recorded.items() if own not in found.table.names}
    _give_roles(args, found, renamed_in(found.table.names))
    return found


def _is_as_written(subject: _Subject) -> bool | None:
    """Return whether a release has the digest that its provenance records; None where it records none."""
    from privnb.datasets.description import file_digest

    recorded = subject.done.get("made", {}).get("sha256")
    return None if recorded is None else file_digest(Path(subject.name)) == recorded


def _described_by(subject: _Subject) -> Chosen | None:
    """Return the description of the dataset that a provenance names, where it is here and has these columns."""
    from privnb.datasets.dataset import Chosen, find
    from privnb.runtime.errors import InputError

    name, _, study = str(subject.done.get("dataset", "")).partition("/")
    try:
        chosen = Chosen.of(find(name), study or None)
    except InputError:
        return None
    return chosen if {*subject.done["columns"]} <= {*chosen.columns.names()} else None


def _give_roles(args: Namespace, subject: _Subject, odd: Mapping[str, str]) -> None:
    """Say which columns are quasi-identifiers and sensitive, and which one is the key of people."""
    from privnb.datasets.dataset import Chosen
    from privnb.microdata.schema import Role
    from privnb.privacy_models.grading import known
    from privnb.publishing.in_words import sensitive_names
    from privnb.runtime.names import meant

    names = subject.table.names
    called = {**{new: own for own, new in odd.items()}, **subject.renamed}
    asked = asked_roles(args, names, called)
    if subject.described:  # the gate judges in these roles, too
        there = {*subject.described.columns.names()}
        own = {name: role for name, role in asked.items() if name in there and role is not Role.PERSON}
        subject.described = Chosen.of(subject.described.path, subject.described.study, own)
    by = {role: [name for name, own in asked.items() if own is role] for role in Role}
    away = {*by[Role.NEUTRAL], *by[Role.UNUSED], *by[Role.IDENTIFIER]}
    schema = subject.schema
    if schema is not None:
        subject.quasi = [name for name in schema.quasi_identifiers if name in names]
        subject.sensitive = [name for name in schema.sensitive if name in names]
        subject.key = schema.person
        subject.person = schema.person if schema.person in names else None
    elif subject.done:
        subject.quasi, subject.sensitive = _by_provenance(subject)
        subject.key = next((name for name, role in subject.done.get("roles", {}).items() if role == Role.PERSON), None)
        subject.source = "the provenance"
    named = [called.get(name, name) for name in (sensitive_names(args.model) if args.model else ())]
    if absent := [name for name in named if name not in names]:
        from privnb.runtime.errors import UsageError

        raise UsageError(f"--model: there is no column '{absent[0]}'.{meant(absent, names)}")
    subject.sensitive = by[Role.SENSITIVE] or subject.sensitive
    subject.sensitive += [name for name in named if name not in subject.sensitive]
    subject.person = next(iter(by[Role.PERSON]), subject.person)
    if by[Role.QUASI_IDENTIFIER]:
        subject.quasi, subject.source = by[Role.QUASI_IDENTIFIER], "the options"
    elif not subject.source:
        subject.quasi = [name for name in names if name not in {*away, *subject.sensitive, subject.person}]
    else:
        subject.quasi = [name for name in subject.quasi if name not in {*away, *subject.sensitive, subject.person}]
    known(names, subject.quasi, next(iter(subject.sensitive), None), subject.person)


def _by_provenance(subject: _Subject) -> tuple[list[str], list[str]]:
    """Return quasi-identifiers and sensitive attributes as a provenance tells them."""
    from privnb.publishing.recounted import claimed

    names, roles = subject.table.names, subject.done.get("roles", {})
    if roles:
        of = {role: [name for name in names if roles.get(name) == role] for role in ("quasi-identifier", "sensitive")}
        return of["quasi-identifier"], of["sensitive"]
    models, _ = claimed(subject.done)
    sensitive = [name for name in dict.fromkeys(model.sensitive for model in models) if name in names]
    return [name for name in names if name not in sensitive and name in subject.done["columns"]], [*map(str, sensitive)]


def _grades(subject: _Subject) -> pd.DataFrame:
    """Return the numbers of the equivalence classes, and those of each sensitive attribute."""
    import pandas as pd

    from privnb.privacy_models.grading import grade

    secrets: list[str | None] = [*subject.sensitive] or [None]
    names = [*subject.quasi, *filter(None, (*secrets, subject.person))]
    cells, times = subject.table.counted(names, subject.memory)
    if subject.described:
        cells = subject.described.with_one_mark(cells)
    first, *others = (grade(cells, subject.quasi, secret, subject.person, times) for secret in secrets)
    for each in others:  # whose classes are the same
        first = pd.concat([first, each[each.measure.eq("sensitive values").cummax()]])
    return first


def _line(row: Any) -> str:
    number = f"{row.value:.1%}" if row.unit == "share" else f"{row.value:,.4f}".rstrip("0").rstrip(".")
    return f"{row.measure:<20}{number:>10}  {row.meaning}"


def _models(args: Namespace, subject: _Subject) -> tuple[list[PrivacyModel], list[Recount]]:
    """Return the models that are asked for, or else claimed, and the claims that cannot be counted."""
    from privnb.publishing.in_words import asked_models
    from privnb.publishing.recounted import claimed

    if args.model:
        return asked_models(args.model, _schema(subject), subject.renamed), []
    return claimed(subject.done)


def _recounts(subject: _Subject, models: Sequence[PrivacyModel]) -> list[Recount]:
    from privnb.publishing.recounted import Recount, recounts

    if not models:
        return []
    if subject.lost:
        why = f"it counts people by '{subject.lost}', which is not in the file."
        return [Recount(repr(model), None, None, why) for model in models]
    return recounts(
        models, subject.table, _schema(subject), subject.done, subject.memory, buckets=subject.buckets,
        person=subject.person, described=subject.described,
    )  # fmt: skip


def _schema(subject: _Subject) -> Schema:
    """Return what the columns are in the roles in which they are checked."""
    from privnb.microdata.hierarchy import SUPPRESSED
    from privnb.microdata.schema import Attribute, Categories, Role, Schema

    roles = dict.fromkeys(subject.quasi, Role.QUASI_IDENTIFIER) | dict.fromkeys(subject.sensitive, Role.SENSITIVE)
    described = subject.described.columns if subject.described else subject.schema
    stated = {each.name: each.domain for each in described.attributes} if described else {}

    def domain(name: str, role: Role) -> Any:
        """Return the domain that is stated, or else the values in the file; of the others only classes are counted."""
        if stated.get(name) is not None:
            return stated[name]
        if role is not Role.SENSITIVE:
            return Categories((SUPPRESSED,), of_records=True)
        cells, _ = subject.table.counted([name], subject.memory)
        return Categories(tuple(map(str, cells[name].dropna().unique())), of_records=True)

    attributes = tuple(Attribute(name, role, domain(name, role)) for name, role in roles.items())
    return Schema(subject.source or "this file", attributes)


@dataclass(frozen=True)
class _Gate:
    """What the gate says of a file."""

    is_refused: bool
    sentences: list[str]
    data: dict[str, Any]


def _verdict(subject: _Subject) -> _Gate:
    """Return what the gate says of a file; its refusal is empty where its owner has overridden that."""
    from privnb.publishing.gate import judged

    assert subject.described is not None
    done = subject.done
    verdict = judged(subject.table, subject.described.schema, done, subject.memory, buckets=subject.buckets)
    recorded = done.get("gate", {})
    # A file has no key of people, whom the gate counted when it was made.
    before = [reason["says"] for reason in recorded.get("reasons", ())] if verdict.allowed else []
    is_refused = bool(before) or not verdict.allowed
    said = verdict.refusal or " ".join(["The gate refuses this file.", *before])
    override = recorded.get("override", "") if is_refused else ""
    sentences = [said if is_refused else "The gate allows it."]
    if override:
        sentences.append(Notice(f"Its owner overrides this refusal: {override}", "override"))
    sentences += [each.notice for each in verdict.notices if str(each) not in before]
    data = verdict.data() | {"allowed": not is_refused, "override": override}
    return _Gate(is_refused and not override, sentences, data)


def _notices(args: Namespace, subject: _Subject, lost: str | None) -> list[Notice]:
    """Return what else is to know of a table and its grades."""
    from privnb.microdata.schema import Role

    table, schema, found = subject.table, subject.schema, list[Notice]()
    lacking, strange = list[str](), list[str]()
    if subject.described:
        lacking = [name for name in subject.described.schema.quasi_identifiers if name not in table.names]
        strange = [name for name in table.names if name not in subject.described.columns.names()]
    if lacking:
        said = f"Not in {args.table}, and so not counted: {', '.join(lacking)}, by {subject.source} quasi-identifiers."
        found.append(Notice(said, "not-in-the-file"))
    if not subject.done:  # in a release, records are alike on purpose
        roles = {each.name: each.role for each in schema.attributes if each.name in table.names} if schema else {}
        if said := table.copies(roles | ({subject.person: Role.PERSON} if subject.person else {}), subject.memory):
            found.append(Notice(said, "records-repeated"))
    if strange:
        said = f"Not described by {subject.source}, and so not counted: {', '.join(strange)}."
        found.append(Notice(said, "not-described"))
    if lost:
        said = (
            f"'{lost}' of {subject.source}, the key of people, is not in {args.table}: these are counts of records, of "
            "which a person may have several."
        )
        found.append(Notice(said, "people-not-counted"))
    if not subject.source:
        others = f" but {', '.join(subject.sensitive)}" if subject.sensitive else ""
        said = (
            f"Nobody said which columns are quasi-identifiers: it is assumed that an adversary knows all{others}. Name "
            "them with --quasi."
        )
        found.append(Notice(said, "roles-assumed"))
    return [*found, Notice(COUNTS, "counts-of-few")]


def _check_card(args: Namespace) -> Answer:
    from privnb.decision import policies
    from privnb.decision.card import Card, CardError, verify

    if has_roles(args) or any(getattr(args, name) is not None for name in ("description", "study", "model")):
        raise CardError("--card needs no roles, models or description. Leave them out, or leave out --card.")
    card = Card.read(args.card)
    wrong = verify(card, args.table, args.policy and policies.read(args.policy))
    release, answer = card.content["release"], card.content["answer"]
    values = {
        "table": args.table,
        "card": {"path": args.card, "sha256": card.sha256, "wrong": wrong, "keeps": answer["keeps"]},
    }
    if wrong:
        return Answer(values, (), unmet(" ".join([f"{args.card} does not hold for {args.table}:", *wrong])))
    k = "" if release["k"] is None else f", k is {release['k']:,} again"
    said = f"{args.card} is of {args.table}: the same digest, {release['rows']:,} rows{k}."
    broken = "" if answer["keeps"] else "the release does not keep its policy."
    return Answer(values, [said, *answer["sentences"]], unmet(broken))
