"""Choose a release by a policy, which caps the risks and states the required utility."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer, unmet_condition
from privnb.cli.arguments import Parser, add_outside, add_release, add_roles, add_study, add_table
from privnb.runtime.language import ENGLISH, LANGUAGES
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.microdata.schema import Role


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command)
    command.value(
        "--policy", "POLICY", "the policy: a name from `privnb list policies`, or your own .toml file", required=True
    )
    command.value(
        "--previous", "OLD",
        "the file of an earlier release about the same people: the risks are those of an adversary who holds both",
    )  # fmt: skip
    command.value("--out", "OUT", "also write the chosen release to this new .csv or .parquet file")
    add_study(command)
    add_roles(command)
    add_outside(command)
    command.value(
        "--profile",
        "PROFILE",
        "the extent of the search: quick, which takes minutes, or full (default: quick)",
        default="quick",
    )
    command.value("--records", "N", "search on a random sample of N records (default: all)", type=int, default=0)
    command.value(
        "--seeds",
        "N",
        "the number of repetitions of each random step (default: that of the profile)",
        type=int,
        default=0,
    )
    command.value("--sign", "FILE", "a .toml file with the purpose and the other statements for the card")
    command.value(
        "--language",
        "LANGUAGE",
        f"the language of the text and of the page of the card: {' or '.join(LANGUAGES)} (default: {ENGLISH})",
        choices=LANGUAGES,
        default=ENGLISH,
    )
    command.value("--store", "DIR", "a folder for finished work, so that a stopped run can continue")
    add_release(command)
    command.examples(
        "decide people --policy ontario-2025 --out release.csv",
        "decide people --policy ours.toml --keep cost --drop discharge",
        "decide people --policy ontario-2025 --previous last-year.csv --out release.csv",
    )


def run(args: Namespace) -> Answer:
    """Choose a release by a policy, and write the release if --out is given.

    The status is 1 if no release complies with the policy.
    """
    from privnb.decision import policies
    from privnb.decision.signature import read_signature
    from privnb.evaluation.parameters import choose_study
    from privnb.publishing import chosen_release
    from privnb.runtime.errors import MissingFileError, UsageError
    from privnb.runtime.language import in_language
    from privnb.runtime.sentences import strip_markup
    from privnb.runtime.wording import line
    from privnb.workbench.decision import decide
    from privnb.workbench.table import Table

    policy = policies.read(args.policy)
    signature = None if args.sign is None else read_signature(args.sign)
    if args.previous and not Path(args.previous).exists():
        raise MissingFileError(f"there is no file {args.previous}. Give --previous the file of an earlier release.")
    if args.out:
        chosen_release.check_place(args.out, spreadsheet_safe=args.spreadsheet_safe, force=args.force)
    elif option := _of_a_file(args):
        raise UsageError(f"{option} is for the file that --out names. Add --out OUT.csv, or leave out {option}.")
    named = tables.describe_if_needed(args)
    table = named.guessed
    if table is None:
        assert named.description is not None
        table = Table(named.description, choose_study(str(named.description), args.study or ""), outside=args.outside)
        if asked := tables.read_roles(args, named):
            table.set_roles(asked)
    made = decide(
        table, args.policy, profile=args.profile, records=args.records, seeds=args.seeds, store=args.store or "",
        previous=args.previous,
    )  # fmt: skip
    ended = made.publish(
        args.out, spreadsheet_safe=args.spreadsheet_safe, bounds=args.bounds, force=args.force, allow=args.allow,
        call=args.call, signature=signature, language=args.language,
    )  # fmt: skip
    explained = made.explanation
    with in_language(args.language):
        helpful, kept = (
            strip_markup(line("decision/decision", macro, part))
            for macro, part in (("help", explained["help"]), ("columns", explained))
        )
    warnings = [
        *tables.list_assumptions(named),
        *([Notice(helpful, "what-would-help")] if helpful else []),
        *([Notice(kept, "published-as-they-are")] if kept else []),
    ]
    return Answer(
        _values(args, ended, table.roles_changed or {}),
        [*ended.sentences, *warnings],
        unmet_condition(
            "" if ended.found.chosen is not None else f"no release complies with the policy '{policy.name}'."
        ),
    )


def _of_a_file(args: Namespace) -> str:
    """Return the first option in the arguments that needs --out; empty if there is no such option."""
    from privnb.tables.spreadsheets import OPTION

    given = {
        "--allow": args.allow is not None,
        "--sign": args.sign is not None,
        OPTION: args.spreadsheet_safe,
        "--bounds": args.bounds,
        "--force": args.force,
    }
    return next((name for name, is_given in given.items() if is_given), "")


def _values(args: Namespace, ended: Any, asked: Mapping[str, Role]) -> dict[str, Any]:
    """Return the decision as values for programs."""
    decision, chosen = ended.found.decision, ended.found.decision.chosen
    written = None if ended.card is None else args.out
    return {
        "table": args.table,
        "policy": decision.policy.name,
        "chosen": None if ended.found.chosen is None else repr(ended.found.chosen),
        "setting": None if chosen is None else chosen.setting,
        "loss": None if chosen is None else chosen.loss,
        "tried": len(decision.releases),
        "previous": args.previous,
        "roles": {**asked, **ended.found.roles},
        "out": written,
        "card": None if ended.card is None else ended.card.content,
    }
