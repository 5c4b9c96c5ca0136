"""Grade a table: who is alike, which k it reaches."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from privnb.cli.arguments import Parser, add_memory, name_list
from privnb.runtime.names import columns_in, unquoted

if TYPE_CHECKING:
    from privnb.datasets.unknown_files import Unknown
    from privnb.microdata.schema import Schema
    from privnb.tables.long_tables import Memory

COUNTS = "Counts of fewer than 10 people are shown here: they are for the table's owner, not for a report."
GRADES = ("quasi_identifiers", "sensitive", "person", "dataset", "study", "at_least_k")  # what grades a table


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.value("file", "FILE", "a table, such as a release, or a dataset's .toml file")
    command.value(
        "--quasi-identifiers", "A,B", "what an adversary may know (all other columns); quote a name that has a comma",
        type=name_list,
    )  # fmt: skip
    command.value("--sensitive", "C", "what nobody should learn")
    command.value("--person", "D", "the key of the person whose record it is: k counts people")
    command.value(
        "--dataset", "NAME",
        "take all three from this dataset's description, and ask the gate: status 1 if it refuses the file",
    )  # fmt: skip
    command.value("--study", "NAME", "with --dataset: in the roles of this study of it")
    command.value("--card", "CARD", "verify this release card against the file instead")
    command.value("--policy", "POLICY", "with --card: the policy as it is now")
    command.value("--at-least-k", "K", "exit with status 1 if k is less", type=int)
    add_memory(command)


def run(args: Namespace) -> int:
    """Grade a table by its equivalence classes; status 1 if the k that was asked for is not reached, and if the gate
    refuses a file of a described dataset.

    With a card: whether it is of this file, and what can be counted in the file is as it says; status 1 if not, and if
    the file breaks its policy.
    """
    if args.card:
        return _check_card(args)
    import pandas as pd

    from privnb.datasets.dataset import Chosen, find, load
    from privnb.datasets.unknown_files import Unknown
    from privnb.microdata.schema import Role, SchemaError
    from privnb.privacy_models import check_k
    from privnb.privacy_models.grading import grade, known
    from privnb.tables.long_tables import Memory
    from privnb.tables.writing import FACTS

    memory = Memory.of(args.memory)
    described: Chosen | None = None
    schema: Schema | None
    if args.at_least_k is not None:
        check_k(args.at_least_k)
    if args.file.endswith(".toml"):
        dataset = load(args.file)
        table, schema = Unknown([*dataset.cells], [], dataset.cells), dataset.schema
    else:
        table, described = Unknown.of(args.file), Chosen.of(find(args.dataset), args.study) if args.dataset else None
        schema = described.schema if described else None
    called = _renamed_in(args.file, table.names)
    names = args.quasi_identifiers and columns_in(args.quasi_identifiers, [*table.names, *called])
    names = names and [called.get(name, name) for name in names]
    secrets = [args.sensitive if args.sensitive in (None, *table.names) else unquoted(args.sensitive)]
    secrets = [called.get(name, name) for name in secrets]
    if schema:
        names = names or [name for name in schema.quasi_identifiers if name in table.names and name not in secrets]
        if args.sensitive is None:
            secrets = [name for name in schema.sensitive if name in table.names and name not in names] or secrets
    key, source = (schema.person, schema.dataset) if schema else (None, "")
    person = args.person or (key if key in table.names else None)
    unknown = f"'{key}' of {source}, the key of people, is not in {args.file}" if key and not person else ""
    if unknown and args.at_least_k is not None:
        raise SchemaError(f"{unknown}: its k of people cannot be counted. Name the column that is it with --person.")
    lacking = [name for name in described.schema.quasi_identifiers if name not in table.names] if described else []
    strange = [name for name in table.names if name not in described.columns.names()] if described else []
    names = known(table.names, names, secrets[0], person)
    cells, times = table.counted([*names, *filter(None, (*secrets, person))], memory)
    cells = described.with_one_mark(cells) if described else cells
    grades, *others = (grade(cells, names, secret, person, times) for secret in secrets)
    for each in others:  # whose classes are the same
        grades = pd.concat([grades, each[each.measure.eq("sensitive values").cummax()]])
    for row in grades.itertuples():
        number = f"{row.value:.1%}" if row.unit == "share" else f"{row.value:,.4f}".rstrip("0").rstrip(".")
        print(f"{row.measure:<20}{number:>10}  {row.meaning}")
    if lacking:
        print(f"Not in {args.file}, and so not counted: {', '.join(lacking)}, by {source} quasi-identifiers.")
    if not Path(f"{args.file}{FACTS}").is_file():  # in a release, records are alike on purpose
        roles = {each.name: each.role for each in schema.attributes if each.name in table.names} if schema else {}
        if said := table.copies(roles | ({person: Role.PERSON} if person else {}), memory):
            print(said)
    if strange:
        print(f"Not described by {source}, and so not counted: {', '.join(strange)}.")
    if unknown:
        print(f"{unknown}: these are counts of records, of which a person may have several.")
    print(COUNTS)
    status = _say_gate(args.file, table, described.schema, memory) if described else 0
    reached = grades.value[grades.measure == "k achieved"].iloc[0]
    if args.at_least_k is not None and reached < args.at_least_k:
        print(f"privnb: k is {reached:g}, less than the {args.at_least_k} asked for.", file=sys.stderr)
        return 1
    return status


def _renamed_in(file: str, names: list[str]) -> dict[str, str]:
    """Return what columns of a release are called, by the source's names, as its provenance records them.

    A name that the release has itself means that column.
    """
    from privnb.decision.card import provenance
    from privnb.tables.writing import FACTS

    recorded = provenance(Path(file)).get("renamed", {}) if Path(f"{file}{FACTS}").is_file() else {}
    return {own: name for own, name in recorded.items() if own not in names}


def _say_gate(file: str, table: Unknown, schema: Schema, memory: Memory) -> int:
    """Say what the gate says of a file; return 1 for one that it refuses, unless its owner has overridden that."""
    import pandas as pd

    from privnb.decision.card import provenance
    from privnb.publishing.gate import judged
    from privnb.tables.writing import BUCKETS, FACTS

    beside, held = Path(f"{file}{FACTS}"), Path(f"{file}{BUCKETS}")
    done = provenance(Path(file)) if beside.is_file() else {}
    buckets = pd.read_csv(held) if held.is_file() else None
    verdict = judged(table, schema, done, memory, buckets=buckets)
    recorded = done.get("gate", {})
    # A file has no key of people, whom the gate counted when it was made.
    before = [reason["says"] for reason in recorded.get("reasons", ())] if verdict.allowed else []
    refused = bool(before) or not verdict.allowed
    print(verdict.refusal or " ".join(["The gate refuses this file.", *before]) if refused else "The gate allows it.")
    if refused and recorded.get("override"):
        print(f"Its owner overrides this refusal: {recorded['override']}")
    for notice in verdict.notices:
        if str(notice) not in before:
            print(notice)
    return int(refused and not recorded.get("override"))


def _check_card(args: Namespace) -> int:
    from privnb.decision import policies
    from privnb.decision.card import Card, CardError, verify

    if any(getattr(args, name) is not None for name in GRADES):
        raise CardError("--card asks for all of it by itself: leave out what grades a table, or leave out --card.")
    card = Card.read(args.card)
    wrong = verify(card, args.file, args.policy and policies.read(args.policy))
    if wrong:
        print(f"privnb: {args.card} does not hold for {args.file}:", *wrong, sep="\n", file=sys.stderr)
        return 1
    release = card.content["release"]
    k = "" if release["k"] is None else f", k is {release['k']:,} again"
    print(f"{args.card} is of {args.file}: the same digest, {release['rows']:,} rows{k}.")
    answer = card.content["answer"]
    print(*answer["sentences"], sep="\n")
    return int(not answer["keeps"])
