"""Choose a release by a policy, which caps its risks and states what users must keep."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer, unmet
from privnb.cli.arguments import Parser, add_outside, add_release, add_roles, add_study, add_table
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.microdata.schema import Role


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command)
    command.value("--policy", "POLICY", "a .toml file of yours, or one of `privnb list policies`", required=True)
    command.value("--out", "OUT", "also write the chosen release: a new .csv or .parquet file")
    add_study(command)
    add_roles(command)
    add_outside(command)
    command.value("--profile", "PROFILE", "the extent of the search: quick (minutes) or full", default="quick")
    command.value("--records", "N", "search on a random sample of N records (all)", type=int, default=0)
    command.value("--seeds", "N", "repeats of each random step (as the profile states)", type=int, default=0)
    command.value("--store", "DIR", "a folder that keeps finished work, so that a stopped run can continue")
    add_release(command)
    command.examples(
        "decide people --policy ontario-2025 --out release.csv",
        "decide people --policy ours.toml --keep cost --drop discharge",
    )


def run(args: Namespace) -> Answer:
    """Choose a release by a policy, and write it if asked; status 1 if none keeps it."""
    from privnb.decision import policies
    from privnb.decision.recommended import as_they_are, what_would_help
    from privnb.evaluation.parameters import study
    from privnb.publishing import decided
    from privnb.runtime.errors import UsageError
    from privnb.workbench.decision import decide
    from privnb.workbench.table import Table

    policy = policies.read(args.policy)
    if args.out:
        decided.refuse_place(args.out, spreadsheet_safe=args.spreadsheet_safe, force=args.force)
    elif option := _of_a_file(args):
        raise UsageError(f"{option} is for the file that --out names. Add --out OUT.csv, or leave out {option}.")
    named = tables.described_table(args)
    table = named.guessed
    if table is None:
        assert named.description is not None
        table = Table(named.description, study(str(named.description), args.study or ""), outside=args.outside)
        if asked := tables.roles_of(args, named):
            table.set_roles(asked)
    made = decide(
        table, args.policy, profile=args.profile, records=args.records, seeds=args.seeds, store=args.store or ""
    )
    ended = made.end(
        args.out, spreadsheet_safe=args.spreadsheet_safe, bounds=args.bounds, force=args.force, allow=args.allow,
        call=args.call,
    )  # fmt: skip
    help_said, kept = what_would_help(ended.found, made.dataset), as_they_are(made.dataset)
    warnings = [
        *tables.assumed(named),
        *([Notice(help_said, "what-would-help")] if help_said else []),
        *([Notice(str(kept), "published-as-they-are")] if kept else []),
    ]
    return Answer(
        _values(args, ended, table.roles_changed or {}),
        [*ended.sentences, *warnings],
        unmet("" if ended.found.chosen is not None else f"no release keeps the policy '{policy.name}'."),
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
