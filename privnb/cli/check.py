"""Check how many people of a table are indistinguishable, and whether the claims of a release hold."""

from __future__ import annotations

import datetime
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer, unmet_condition
from privnb.cli.arguments import (
    Parser,
    add_memory,
    add_model,
    add_roles,
    add_study,
    add_table,
    has_roles,
    parse_role_options,
)
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    import pandas as pd

    from privnb.datasets.dataset import DatasetDescription
    from privnb.datasets.undescribed_files import UndescribedTable
    from privnb.microdata.schema import Schema
    from privnb.privacy_models import PrivacyModel
    from privnb.privacy_models.star import Star
    from privnb.publishing.recheck import Recount
    from privnb.runtime.arrays import IntArray
    from privnb.tables.long_tables import Memory

MAX_LINES = 10  # columns whose contribution is printed; --json has all
COUNTS = "These counts may concern fewer than 10 people: they are for the owner of the table, not for a report."
STARS: Mapping[str, str] = {
    "own": "A suppressed or missing cell counts as a category of its own (--star own).",
    "any": "A suppressed or missing cell matches every value (--star any): a person counts in every class to which the "
    "person could belong.",
    "conservative": "A suppressed or missing cell matches every value, but protects nobody else (--star conservative): "
    "the class of a person has the person and the matching people without such cells.",
}
UNCOUNTED = "Ask the maker of the release for evidence, and then accept the claims with --accept-uncounted."


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.description = (
        "Check how many people of a table are indistinguishable. For a release, the command reads the provenance next "
        "to the file and counts each claim again in the file. The exit status is 1 if a claim does not hold or cannot "
        "be counted, if the gate refuses the file, or if a person is alone in a class and nobody named the "
        "quasi-identifiers."
    )
    add_table(command)
    add_roles(command)
    add_model(command, "the privacy models that every class must satisfy; if a class does not, the exit status is 1")
    command.add_argument(
        "--star", choices=["own", "any", "conservative"], default="own",
        help="the meaning of a suppressed or missing quasi-identifier: a category of its own (own, the "
        "default), a match of every value (any), or a match of every value that does not enlarge the classes of other "
        "people (conservative)",
    )  # fmt: skip
    command.flag("--accept-uncounted", text="end with exit status 0 even if some claims cannot be counted in the file")
    command.value(
        "--description",
        "DATASET",
        "the dataset from which the release was made; its roles apply, and the gate checks the file",
    )
    add_study(command)
    command.value("--card", "CARD", "verify this release card against the file, and skip all other checks")
    command.value("--policy", "POLICY", "with --card: also compare the policy of the card with this policy")
    add_memory(command)
    command.examples("check release.csv", 'check people.csv --quasi age,zip --model "k=5, l=2:illness"')


@dataclass
class _Subject:
    """The table that is checked, the provenance of the table, and the roles of the columns."""

    name: str
    table: UndescribedTable
    memory: Memory
    done: Mapping[str, Any] = field(default_factory=dict)
    described: DatasetDescription | None = None  # the description of the original table
    schema: Schema | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    quasi: list[str] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)
    person: str | None = None
    key: str | None = None  # the person column of the original table
    source: str = ""  # the origin of the quasi-identifiers; empty if nobody named them

    @property
    def lost(self) -> str | None:
        """The person column of the original table if the file does not have this column; otherwise, None."""
        return None if self.person else self.key

    @property
    def buckets(self) -> pd.DataFrame | None:
        """The second table of a bucketized release, which is next to the file; None if there is no such table."""
        import pandas as pd

        from privnb.tables.writing import BUCKETS

        buckets = Path(f"{self.name}{BUCKETS}")
        return pd.read_csv(buckets) if buckets.is_file() else None


def run(args: Namespace) -> Answer:
    """Grade a table by its equivalence classes, and verify the claims; the status is 1 if a claim does not hold.

    If a card is given, verify that the card belongs to the file, and compare the numbers of the card with the numbers
    that are counted again in the file. The status is then 1 if the numbers differ, or if the file violates the policy
    of the card.
    """
    if args.card:
        return _check_card(args)
    from privnb.evaluation.contributions import rank_contributions
    from privnb.microdata.schema import SchemaError
    from privnb.runtime.sentences import join_names

    subject = _subject(args)
    models, unread = _models(args, subject)
    lost = subject.lost
    if lost and args.model:
        raise SchemaError(
            f"{args.table} lacks '{lost}', the person column of {subject.source}, so people cannot be counted. Name "
            "the person column with --person, or leave out --model."
        )
    as_written = _is_as_written(subject)
    if args.star != "own" and subject.person:
        raise SchemaError(
            f"--star {args.star} counts records, and '{subject.person}' may name several records of a person. Use "
            "--star own."
        )
    cells, times = _count_cells(subject)
    grades = _grades(subject, _star_cells(subject, cells, args.star), times, args.star)
    contributions = rank_contributions(cells, subject.quasi, subject.person, times)
    recounted = [*_recounts(subject, models, args.star), *unread]
    verdict = _verdict(subject) if subject.described else None
    k = grades.value[grades.measure == "k achieved"].iloc[0]
    uncounted = [each.model for each in recounted if each.is_kept is None]
    are = "are" if uncounted[1:] else "is"
    sentences = [
        *_claims(args, subject, recounted),
        STARS[args.star],
        *map(_line, grades.itertuples()),
        *_contribution_lines(contributions),
        *_notices(args, subject, lost),
        *(verdict.sentences if verdict else ()),
    ]
    values = {
        "table": args.table,
        "quasi_identifiers": subject.quasi,
        "sensitive": subject.sensitive,
        "person": subject.person,
        "roles_from": subject.source or None,
        "star": args.star,
        "k": int(k),
        "grades": [
            {"measure": row.measure, "value": row.value, "unit": row.unit, "meaning": row.meaning}
            for row in grades.itertuples()
        ],
        "contributions": [
            {
                "column": row.column,
                "share": row.share,
                "value": row.value,
                "value_share": row.value_share if row.value is not None else None,
            }
            for row in contributions.itertuples()
        ],
        "models": [each._asdict() for each in recounted],
        "provenance": bool(subject.done),
        "is_as_written": as_written,
        "gate": None if verdict is None else verdict.data,
    }
    edited = "The file was changed after its provenance was written: the SHA-256 digests differ."
    wrong = [edited] if as_written is False else []
    wrong += [str(each) for each in recounted if each.is_kept is False]
    if uncounted and not args.accept_uncounted:
        wrong.append(f"{join_names(uncounted)} cannot be counted in {args.table} and {are} not verified. {UNCOUNTED}")
    wrong += ["The gate refuses the file."] if verdict is not None and verdict.is_refused else []
    if not subject.source and k < 2 and not args.model:
        wrong.append(
            "A person is alone in a class, and nobody named the quasi-identifiers. Name them with --quasi, or name "
            "with --description the dataset from which the release was made."
        )
    return Answer(values, sentences, unmet_condition(" ".join(wrong)))


def _claims(args: Namespace, subject: _Subject, recounted: Sequence[Recount]) -> list[str]:
    """Return sentences about the models that were counted again in a file, and the models that were not."""
    if not recounted:
        return ["The provenance claims no privacy model."] * bool(subject.done)
    counted, not_counted = (
        ", ".join(each.model for each in recounted if (each.is_kept is None) is unknown) or "none"
        for unknown in (False, True)
    )
    what = "Models of --model" if args.model else "Claims in the provenance"
    return [
        f"{what}, counted again in the file: {counted}. Not counted: {not_counted}.",
        *(str(each) if each.is_kept is not None else Notice(str(each), "claim-not-counted") for each in recounted),
    ]


def _subject(args: Namespace) -> _Subject:
    """Return the table to check, with the roles that the options, a description or the provenance state."""
    from privnb.datasets.dataset import load
    from privnb.datasets.undescribed_files import UndescribedTable
    from privnb.decision.card import read_file_provenance
    from privnb.publishing.recheck import check_provenance
    from privnb.runtime.names import rename_invalid
    from privnb.tables.long_tables import Memory
    from privnb.tables.writing import FACTS

    tables.drop_own_description(args)
    memory, table = Memory.of(args.memory), tables.find_table(args.table)
    computes = table.description is not None and bool(_described(table.description, args).schema.derived)
    if table.description is not None and not args.description and (computes or not tables.is_file(args.table)):
        dataset = load(table.description, args.study)
        own = UndescribedTable([*dataset.cells], [], dataset.cells)
        found = _Subject(args.table, own, memory, schema=dataset.schema, source=dataset.schema.dataset)
    else:
        found = _Subject(args.table, UndescribedTable.of(args.table), memory)
        if Path(f"{args.table}{FACTS}").is_file():
            found.done = read_file_provenance(Path(args.table))
            check_provenance(found.done, args.table)
        if args.description:
            found.described = _described(tables.resolve_description(args.description), args)
        elif table.description is not None:
            found.schema = _described(table.description, args).schema
        elif found.done:
            found.described = _described_by(found)
        found.schema = found.described.schema if found.described else found.schema
        found.source = found.schema.dataset if found.schema else ""
        _refuse_sources(found)
    recorded = found.done.get("renamed", {})
    found.renamed = {own: name for own, name in recorded.items() if own not in found.table.names}
    _give_roles(args, found, rename_invalid(found.table.names))
    return found


def _described(path: Path, args: Namespace) -> DatasetDescription:
    from privnb.datasets.dataset import DatasetDescription

    return DatasetDescription.of(path, args.study)


def _refuse_sources(subject: _Subject) -> None:
    """Raise UsageError for a file from which the description computes columns, because `check` computes none."""
    from privnb.runtime.errors import UsageError

    if (described := subject.described) is None:
        return
    own = {new: name for name, new in described.renamed.items()}
    for name, rule in described.derived.rules.items():
        if name not in subject.table.names and {own.get(each, each) for each in rule.sources} <= {*subject.table.names}:
            raise UsageError(
                f"{subject.name} must have the column '{name}'; got the columns from which the description computes "
                f"it. Check the described table with `privnb check {described.path.stem}`, or give a release."
            )


def _is_as_written(subject: _Subject) -> bool | None:
    """Return whether the digest of a release is that in its provenance; None if the provenance states no digest."""
    from privnb.datasets.description import file_digest

    recorded = subject.done.get("made", {}).get("sha256")
    return None if recorded is None else file_digest(Path(subject.name)) == recorded


def _described_by(subject: _Subject) -> DatasetDescription | None:
    """Return the description of the dataset that a provenance names.

    The result is None if there is no such description, or if the description does not have the columns.
    """
    from privnb.datasets.dataset import DatasetDescription, find_description
    from privnb.runtime.errors import InputError

    name, _, study = str(subject.done.get("dataset", "")).partition("/")
    try:
        chosen = DatasetDescription.of(find_description(name), study or None)
    except InputError:
        return None
    return chosen if {*subject.done["columns"]} <= {*chosen.columns.names()} else None


def _give_roles(args: Namespace, subject: _Subject, odd: Mapping[str, str]) -> None:
    """Set the quasi-identifiers, the sensitive attributes and the person column of the table to check."""
    from privnb.datasets.dataset import DatasetDescription
    from privnb.microdata.schema import Role
    from privnb.privacy_models.grading import select_quasi_identifiers
    from privnb.publishing.model_spec import find_sensitive_names
    from privnb.runtime.names import suggest

    names = subject.table.names
    called = {**{new: own for own, new in odd.items()}, **subject.renamed}
    asked = parse_role_options(args, names, called)
    if subject.described:  # the gate also uses these roles
        there = {*subject.described.columns.names()}
        own = {name: role for name, role in asked.items() if name in there and role is not Role.PERSON}
        subject.described = DatasetDescription.of(subject.described.path, subject.described.study, own)
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
    named = [called.get(name, name) for name in (find_sensitive_names(args.model) if args.model else ())]
    if absent := [name for name in named if name not in names]:
        from privnb.runtime.errors import UsageError

        raise UsageError(f"--model: there is no column '{absent[0]}'.{suggest(absent, names)}")
    subject.sensitive = by[Role.SENSITIVE] or subject.sensitive
    subject.sensitive += [name for name in named if name not in subject.sensitive]
    subject.person = next(iter(by[Role.PERSON]), subject.person)
    if by[Role.QUASI_IDENTIFIER]:
        subject.quasi, subject.source = by[Role.QUASI_IDENTIFIER], "the options"
    elif not subject.source:
        subject.quasi = [name for name in names if name not in {*away, *subject.sensitive, subject.person}]
    else:
        subject.quasi = [name for name in subject.quasi if name not in {*away, *subject.sensitive, subject.person}]
    select_quasi_identifiers(names, subject.quasi, next(iter(subject.sensitive), None), subject.person)


def _by_provenance(subject: _Subject) -> tuple[list[str], list[str]]:
    """Return the quasi-identifiers and sensitive attributes that a provenance states."""
    from privnb.publishing.recheck import read_claims

    names, roles = subject.table.names, subject.done.get("roles", {})
    if roles:
        of = {role: [name for name in names if roles.get(name) == role] for role in ("quasi-identifier", "sensitive")}
        return of["quasi-identifier"], of["sensitive"]
    models, _ = read_claims(subject.done)
    sensitive = [name for name in dict.fromkeys(model.sensitive for model in models) if name in names]
    return [name for name in names if name not in sensitive and name in subject.done["columns"]], [*map(str, sensitive)]


def _count_cells(subject: _Subject) -> tuple[pd.DataFrame, IntArray | None]:
    """Return the combinations of cells in the columns to check, and the number of records with each combination."""
    names = [*subject.quasi, *subject.sensitive, *filter(None, [subject.person])]
    cells, times = subject.table.counted(names, subject.memory)
    return subject.described.with_one_mark(cells) if subject.described else cells, times


def _star_cells(subject: _Subject, cells: pd.DataFrame, star: Star) -> pd.DataFrame:
    """Return the cells, in which `*` replaces missing quasi-identifiers unless `*` is a separate category."""
    from privnb.privacy_models.star import star_missing

    described = subject.described.columns if subject.described else subject.schema
    return cells if star == "own" else star_missing(cells, subject.quasi, described)


def _grades(subject: _Subject, cells: pd.DataFrame, times: IntArray | None, star: Star) -> pd.DataFrame:
    """Return the grades of the equivalence classes, without a sensitive attribute and for each sensitive attribute."""
    import pandas as pd

    from privnb.privacy_models.grading import grade

    sensitive: list[str | None] = [*subject.sensitive] or [None]
    first, *others = (grade(cells, subject.quasi, name, subject.person, times, star) for name in sensitive)
    for each in others:  # their equivalence classes are the same
        first = pd.concat([first, each[each.measure.eq("sensitive values").cummax()]])
    return first


def _line(row: Any) -> str:
    number = f"{row.value:.1%}" if row.unit == "share" else f"{row.value:,.4f}".rstrip("0").rstrip(".")
    return f"{row.measure:<20}{number:>10}  {row.meaning}"


def _contribution_lines(ranked: pd.DataFrame) -> list[str]:
    """Return a sentence about the SUDA score, and a line for each column that contributes most to the score."""
    from privnb.runtime.names import escape_invisible

    if ranked.empty:
        return []
    size = ranked.max_size.iloc[0]
    some = "the single columns" if size == 1 else f"the sets of up to {size} columns"
    searched = "all sets of columns" if size == len(ranked) else some
    lines = [
        "The SUDA score of a person counts the smallest sets of columns that single out the person; small sets count "
        f"most. These columns have the largest shares of the total score, from {searched}:"
    ]
    for row in ranked.head(MAX_LINES).itertuples():
        text = "" if row.value is None or row.value != row.value else str(row.value)
        value = f"{row.value_share:.1%} with the value '{escape_invisible(text)}'." if text else ""
        lines.append(f"{escape_invisible(row.column):<20}{row.share:>10.1%}  {value}".rstrip())
    return lines


def _models(args: Namespace, subject: _Subject) -> tuple[list[PrivacyModel], list[Recount]]:
    """Return the models to count, and the claims that cannot be counted.

    The models are those of --model or, without this option, the models that the provenance claims.
    """
    from privnb.publishing.model_spec import parse_models
    from privnb.publishing.recheck import read_claims

    if args.model:
        return parse_models(args.model, _schema(subject), subject.renamed), []
    return read_claims(subject.done)


def _recounts(subject: _Subject, models: Sequence[PrivacyModel], star: Star) -> list[Recount]:
    from privnb.publishing.recheck import Recount, recount_models

    if not models:
        return []
    if subject.lost:
        why = f"it counts people by '{subject.lost}', and the file lacks this column."
        return [Recount(repr(model), None, None, why) for model in models]
    return recount_models(
        models, subject.table, _schema(subject), subject.done, subject.memory, buckets=subject.buckets,
        person=subject.person, described=subject.described, star=star,
    )  # fmt: skip


def _schema(subject: _Subject) -> Schema:
    """Return the schema of the columns to check, with the roles that the command uses."""
    from privnb.microdata.hierarchy import SUPPRESSED
    from privnb.microdata.schema import Attribute, Categories, Role, Schema

    roles = dict.fromkeys(subject.quasi, Role.QUASI_IDENTIFIER) | dict.fromkeys(subject.sensitive, Role.SENSITIVE)
    described = subject.described.columns if subject.described else subject.schema
    stated = {each.name: each.domain for each in described.attributes} if described else {}

    def domain(name: str, role: Role) -> Any:
        """Return the domain that a description states; for a sensitive attribute, otherwise the values in the file.

        Without a description, the domain of a quasi-identifier has no values, because quasi-identifiers only form
        classes.
        """
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
    """The verdict of the gate on a file."""

    is_refused: bool
    sentences: list[str]
    data: dict[str, Any]


def _verdict(subject: _Subject) -> _Gate:
    """Return the verdict of the gate on a file; a refusal that the owner has overridden does not count as a refusal."""
    from privnb.publishing.gate import judge_file

    assert subject.described is not None
    done = subject.done
    verdict = judge_file(subject.table, subject.described.schema, done, subject.memory, buckets=subject.buckets)
    recorded = done.get("gate", {})
    # The file lacks the person column. The gate counted people when the file was made.
    before = [reason["says"] for reason in recorded.get("reasons", ())] if verdict.allowed else []
    is_refused = bool(before) or not verdict.allowed
    said = verdict.refusal or " ".join(["The gate refuses this file.", *before])
    override = recorded.get("override", "") if is_refused else ""
    sentences = [said if is_refused else "The gate allows this file."]
    if override:
        sentences.append(Notice(f"The owner of the release overrides this refusal: {override}", "override"))
    sentences += [each.notice for each in verdict.notices if str(each) not in before]
    data = verdict.data() | {"allowed": not is_refused, "override": override}
    return _Gate(is_refused and not override, sentences, data)


def _notices(args: Namespace, subject: _Subject, lost: str | None) -> list[Notice]:
    """Return warnings about a table and its grades."""
    from privnb.microdata.provenance import INVENTED
    from privnb.microdata.schema import Role
    from privnb.runtime.wording import line

    table, schema, found = subject.table, subject.schema, list[Notice]()
    if subject.done.get("declared") == INVENTED or (subject.described and subject.described.schema.invented):
        today = datetime.date.today().isoformat()
        found.append(Notice(line("microdata/declared", "invented", today), "declared-invented"))
    lacking, strange = list[str](), list[str]()
    if subject.described:
        lacking = [name for name in subject.described.schema.quasi_identifiers if name not in table.names]
        strange = [name for name in table.names if name not in subject.described.columns.names()]
    if lacking:
        said = (
            f"{args.table} lacks {', '.join(lacking)}, which {subject.source} lists as quasi-identifiers. They are not "
            "counted."
        )
        found.append(Notice(said, "not-in-the-file"))
    if not subject.done:  # in a release, records are indistinguishable on purpose
        roles = {each.name: each.role for each in schema.attributes if each.name in table.names} if schema else {}
        if said := table.copies(roles | ({subject.person: Role.PERSON} if subject.person else {}), subject.memory):
            found.append(Notice(said, "records-repeated"))
    if strange:
        said = f"{subject.source} does not describe {', '.join(strange)}. They are not counted."
        found.append(Notice(said, "not-described"))
    if lost:
        said = (
            f"{args.table} lacks '{lost}', the person column of {subject.source}. These are counts of records, and a "
            "person may have several records."
        )
        found.append(Notice(said, "people-not-counted"))
    if not subject.source:
        others = f" except {', '.join(subject.sensitive)}" if subject.sensitive else ""
        said = (
            f"Nobody named the quasi-identifiers, so privnb assumes that an adversary knows all columns{others}. Name "
            "the quasi-identifiers with --quasi."
        )
        found.append(Notice(said, "roles-assumed"))
    return [*found, Notice(COUNTS, "counts-of-few")]


def _check_card(args: Namespace) -> Answer:
    """Verify that a card agrees with the file that it describes."""
    from privnb.decision import policies
    from privnb.decision.card import Card, CardError, verify
    from privnb.runtime.sentences import list_lines
    from privnb.runtime.wording import Worded

    if has_roles(args) or any(getattr(args, name) is not None for name in ("description", "study", "model")):
        raise CardError("--card needs no roles, models or description. Leave out these options, or leave out --card.")
    card = Card.read(args.card)
    wrong = verify(card, args.table, args.policy and policies.read(args.policy))
    release, answer = card.content["release"], card.content["answer"]
    values = {
        "table": args.table,
        "card": {"path": args.card, "sha256": card.sha256, "wrong": wrong, "keeps": answer["keeps"]},
    }
    if wrong:
        return Answer(values, (), unmet_condition(" ".join([f"{args.card} does not hold for {args.table}:", *wrong])))
    k = "" if release["k"] is None else f", and k is {release['k']:,} again"
    said = f"{args.card} belongs to {args.table}: the digest is the same, {release['rows']:,} rows{k}."
    broken = "" if answer["keeps"] else "the release does not comply with its policy."
    return Answer(values, [said, *list_lines(Worded("decision/card", card.content).parts)], unmet_condition(broken))
