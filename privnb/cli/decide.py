"""Choose a release by a policy: caps on its risks, what users must keep."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from privnb.cli.arguments import Parser, add_release

if TYPE_CHECKING:
    from privnb.datasets.dataset import Dataset
    from privnb.microdata.schema import Role


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.value("name", "NAME", "its folder under data/, or its .toml file")
    command.value("--policy", "POLICY", f"a .toml file of yours, or one of {', '.join(_policies())}", required=True)
    command.value("--study", "STUDY", "in the roles of this study of its description")
    command.value("--profile", "PROFILE", "how much is tried: quick (minutes) or full", default="quick")
    command.value("--records", "N", "of a random sample of so many records (all)", type=int, default=0)
    command.value("--seeds", "N", "repeats of what is drawn (the profile's)", type=int, default=0)
    command.value("--store", "DIR", "a folder that keeps what is finished, so that a stopped run goes on")
    command.value("--release", "OUT", "also make the chosen release: a new .csv or .parquet file")
    add_release(command)


def run(args: Namespace) -> int:
    """Choose a release by a policy, and write it if asked; status 1 if none keeps it."""
    from privnb.datasets.dataset import load
    from privnb.decision import policies
    from privnb.decision.policy_search import searched_in_roles
    from privnb.decision.recommended import as_they_are, what_would_help
    from privnb.evaluation.parameters import study
    from privnb.evaluation.samples import record_by_record
    from privnb.microdata.schema import SchemaError
    from privnb.publishing import decided
    from privnb.reporting import release_card
    from privnb.tables.spreadsheets import OPTION

    policy = policies.read(args.policy)
    if args.release:
        decided.refuse_place(args.release, spreadsheet_safe=args.spreadsheet_safe)
    elif option := "--allow" if args.allow is not None else args.spreadsheet_safe and OPTION:
        raise SchemaError(
            f"{option} is for the file that --release names. Add --release OUT.csv, or leave out {option}."
        )
    named = study(args.name, args.study or "")
    whole = load(args.name, named)
    dataset = record_by_record(whole.sample(args.records, rng=0) if args.records else whole, args.records)

    def in_roles(roles: Mapping[str, Role]) -> Dataset:
        table = load(args.name, named, records=args.records, rng=0, roles=roles)
        return record_by_record(table, args.records)

    dataset, found = searched_in_roles(
        in_roles, dataset, policy, profile=args.profile, seeds=args.seeds, store=args.store or "", records=len(whole)
    )
    ended = decided.end(
        args.name, found, dataset, args.release, render=release_card.texts, study=named,
        spreadsheet_safe=args.spreadsheet_safe, allow=args.allow,
    )  # fmt: skip
    print(*filter(None, [ended.said, what_would_help(ended.found, dataset), as_they_are(dataset)]), sep="\n")
    return int(ended.found.chosen is None)


def _policies() -> list[str]:
    """Return the names of the ready policies, without reading them."""
    folder = Path(__file__).parents[1] / "decision" / "policies"
    return sorted(path.stem for path in folder.glob("*.toml"))
