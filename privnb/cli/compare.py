"""Compare two release cards, or two releases of the same people: what changed, and what only the pair reveals."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from privnb.cli import tables
from privnb.cli.answer import Answer, unmet_condition
from privnb.cli.arguments import Parser, add_study, parse_assignment
from privnb.runtime.notices import Notice


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.description = (
        "Compare two release cards of one dataset, or two releases of the same people. For cards, report which "
        "settings, risks, utility and caps changed. For releases, also report what an adversary who holds both learns, "
        "and neither release reveals alone. The exit status is 1 if a policy is given and the pair breaks it."
    )
    command.value("old", "OLD", "the earlier card (.card.json), or the file of the earlier release")
    command.value("new", "NEW", "the later card, or the file of the later release")
    command.value("--dataset", "DATASET", "the dataset from which both releases were made; required for releases")
    add_study(command)
    command.value(
        "--policy", "POLICY",
        "a policy whose caps the pair of releases must meet: a name from `privnb list policies`, or your .toml file",
    )  # fmt: skip
    command.value(
        "--hierarchy", "COLUMN=FILE", "another tool's hierarchy of a column, in the format of ARX",
        action="append", type=parse_assignment, default=[],
    )  # fmt: skip
    command.value("--out", "OUT", "also write the comparison as JSON to this new file")
    command.examples(
        "compare 2024.csv.card.json 2025.csv.card.json",
        "compare 2024.csv 2025.csv --dataset people --policy ontario-2025",
    )


def run(args: Namespace) -> Answer:
    """Compare two cards or two releases; the status is 1 if the pair of releases breaks the policy."""
    from privnb.runtime.errors import MissingFileError, OutputExistsError, UsageError
    from privnb.runtime.sentences import list_lines
    from privnb.runtime.wording import Worded

    for file in (args.old, args.new):
        if not Path(file).exists():
            raise MissingFileError(f"there is no file {file}. Give two cards, or the files of two releases.")
    if args.out and Path(args.out).exists():
        raise OutputExistsError(f"--out must name a new file; {args.out} exists. Choose another name.")
    cards = [is_card(file) for file in (args.old, args.new)]
    if any(cards) and not all(cards):
        raise UsageError(
            f"OLD and NEW must be two cards or two releases; got the card {args.old if cards[0] else args.new} and the "
            f"release {args.new if cards[0] else args.old}. Give two of one kind."
        )
    given = {"--dataset": args.dataset, "--study": args.study, "--policy": args.policy, "--hierarchy": args.hierarchy}
    if all(cards) and (extra := [name for name, value in given.items() if value]):
        raise UsageError(f"{extra[0]} is for releases; got two cards. Leave out {extra[0]}, or give two releases.")
    if not any(cards) and not args.dataset:
        raise UsageError("--dataset must name the dataset from which both releases were made. Add --dataset DATASET.")
    content, broken = (_compare_cards(args), "") if all(cards) else _compare_releases(args)
    if args.out:
        Path(args.out).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="ascii")
    sentences = list_lines(Worded("decision/comparison", content).parts)
    return Answer({**content, "out": args.out}, [*sentences, *_notices(content)], unmet_condition(broken))


def is_card(path: str) -> bool:
    """Return whether a file is a release card, judged by the name or the content of the file."""
    from privnb.tables.writing import CARD

    if path.endswith(CARD):
        return True
    if not path.endswith(".json"):
        return False
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return False
    return isinstance(content, dict) and {"card", "release"} <= {*content}


def _compare_cards(args: Namespace) -> dict[str, Any]:
    """Return the comparison of two cards as plain values."""
    from privnb.decision.card import Card
    from privnb.decision.card_changes import compare_cards

    return compare_cards(Card.read(args.old), Card.read(args.new))


def _compare_releases(args: Namespace) -> tuple[dict[str, Any], str]:
    """Return the comparison of two releases as plain values, and a sentence about the caps that the pair breaks."""
    from privnb.datasets.dataset import load
    from privnb.decision import policies
    from privnb.decision.comparison import compare_releases
    from privnb.evaluation.parameters import choose_study
    from privnb.runtime.names import join_names

    policy = policies.read(args.policy) if args.policy else None
    description = tables.resolve_description(args.dataset)
    dataset = load(description, choose_study(str(description), args.study or "") or None)
    found = compare_releases(args.old, args.new, dataset, policy, hierarchies=dict(args.hierarchy))
    broken = [cap["name"] for cap in found.broken]
    said = f"the pair breaks the policy '{args.policy}': {join_names(broken)}." if broken else ""
    return found.content, said


def _notices(content: dict[str, Any]) -> list[Notice]:
    """Return warnings about rows that cover no record of the dataset."""
    files = [content[side] for side, some in content.get("without_record", {}).items() if some]
    return [
        Notice(
            f"Some rows of {file} cover no record of {content['dataset']}. They count as people who are not in the "
            f"dataset, and the risks of {file} alone are upper bounds.",
            "rows-without-record",
        )
        for file in files
    ]
