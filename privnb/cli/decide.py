"""Choose a release by a policy: caps on its risks, what users must keep."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer, Notice
from privnb.cli.arguments import Parser, add_release, add_roles, add_study, add_table

if TYPE_CHECKING:
    from privnb.datasets.dataset import Dataset
    from privnb.microdata.schema import Role


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command)
    command.value("--policy", "POLICY", "a .toml file of yours, or one of `privnb list policies`", required=True)
    command.value("--out", "OUT", "also make the chosen release: a new .csv or .parquet file")
    add_study(command)
    add_roles(command)
    command.value("--profile", "PROFILE", "how much is tried: quick (minutes) or full", default="quick")
    command.value("--records", "N", "of a random sample of N records (all)", type=int, default=0)
    command.value("--seeds", "N", "repeats of what is drawn (the profile's)", type=int, default=0)
    command.value("--store", "DIR", "a folder that keeps what is finished, so that a stopped run goes on")
    add_release(command)
    command.examples(
        "decide people --policy ontario-2025 --out release.csv",
        "decide people --policy ours.toml --keep cost --drop discharge",
    )


def run(args: Namespace) -> Answer:
    """Choose a release by a policy, and write it if asked; status 1 if none keeps it."""
    from privnb.datasets.dataset import load
    from privnb.decision import policies
    from privnb.decision.policy_search import searched_in_roles
    from privnb.decision.recommended import as_they_are, what_would_help
    from privnb.evaluation.parameters import study
    from privnb.evaluation.samples import record_by_record
    from privnb.publishing import decided
    from privnb.reporting import release_card
    from privnb.runtime.errors import UsageError

    policy = policies.read(args.policy)
    if args.out:
        decided.refuse_place(args.out, spreadsheet_safe=args.spreadsheet_safe, force=args.force)
    elif option := _of_a_file(args):
        raise UsageError(f"{option} is for the file that --out names. Add --out OUT.csv, or leave out {option}.")
    table = tables.described_table(args, "decide")
    asked = tables.roles_of(args, table)
    name = str(table.description) if tables.is_file(args.table) else args.table
    named = study(name, args.study or "")

    def in_roles(roles: Mapping[str, Role], records: int = args.records) -> Dataset:
        return load(name, named, records=records, rng=0, roles={**asked, **roles} or None)

    whole = in_roles({}, 0)
    dataset = record_by_record(whole.sample(args.records, rng=0) if args.records else whole, args.records)
    dataset, found = searched_in_roles(
        lambda roles: record_by_record(in_roles(roles), args.records), dataset, policy, profile=args.profile,
        seeds=args.seeds, store=args.store or "", records=len(whole),
    )  # fmt: skip
    ended = decided.end(
        name, found, dataset, args.out, render=release_card.texts, study=named,
        spreadsheet_safe=args.spreadsheet_safe, bounds=args.bounds, force=args.force, allow=args.allow, roles=asked,
        call=args.call,
    )  # fmt: skip
    help_said, kept = what_would_help(ended.found, dataset), as_they_are(dataset)
    notes = [str(each) for each in (help_said, kept) if each]
    return Answer(
        _values(args, ended, asked),
        [ended.said, *notes],
        [Notice("what-would-help", help_said)] * bool(help_said)
        + ([Notice("published-as-they-are", str(kept))] if kept else []),
        "" if ended.found.chosen is not None else f"no release keeps the policy '{policy.name}'.",
    )


def _of_a_file(args: Namespace) -> str:
    """Return an option that is for a file of the release; empty where none is given."""
    from privnb.tables.spreadsheets import OPTION

    given = {
        "--allow": args.allow is not None,
        OPTION: args.spreadsheet_safe,
        "--bounds": args.bounds,
        "--force": args.force,
    }
    return next((name for name, is_given in given.items() if is_given), "")


def _values(args: Namespace, ended: Any, asked: Mapping[str, Role]) -> dict[str, Any]:
    """Return a decision for programs."""
    decision, chosen = ended.found.decision, ended.found.decision.chosen
    written = None if ended.card is None else args.out
    return {
        "table": args.table,
        "policy": decision.policy.name,
        "chosen": None if ended.found.chosen is None else repr(ended.found.chosen),
        "setting": None if chosen is None else chosen.setting,
        "loss": None if chosen is None else chosen.loss,
        "tried": len(decision.releases),
        "roles": {**asked, **ended.found.roles},
        "out": written,
        "card": None if ended.card is None else ended.card.content,
    }
