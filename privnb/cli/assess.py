"""Assess a release that another tool made: measure its risks and its utility, and apply a policy."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import tables
from privnb.cli.answer import Answer, unmet_condition
from privnb.cli.arguments import Parser, add_study, parse_assignment
from privnb.cli.check import STARS

if TYPE_CHECKING:
    import pandas as pd

    from privnb.decision.assessment import Assessment
    from privnb.sanitizers.made_elsewhere import Correspondence

ROWS: Mapping[str, Correspondence] = {"in-order": "in order", "synthetic": "synthetic"}

CARD_ENDINGS = ".html", ".json"
CRITERIA = ("singling_out", "linkability", "inference")


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.description = (
        "Assess a release that another tool made from a described dataset: report how each column was read, compare "
        "the risks with the caps of a policy, and measure the utility. The exit status is 1 if the release breaks the "
        "policy."
    )
    command.value("file", "THEIRS", "the release: a file, or a folder of its parts")
    command.value("--dataset", "DATASET", "the dataset from which the release was made", required=True)
    add_study(command)
    command.value(
        "--policy", "POLICY",
        "the policy: a name from `privnb list policies`, or your own .toml file (default: ontario-2025)",
        default="ontario-2025",
    )  # fmt: skip
    command.value(
        "--holdout",
        "FILE",
        "records of people who are not in the release, to measure the membership risk and the three criteria",
    )
    command.add_argument(
        "--rows", choices=[*ROWS],
        help="the kind of rows: records in the order of the original table, or synthetic records (default: each row is "
        "matched with a record)",
    )  # fmt: skip
    command.add_argument(
        "--star", choices=["own", "any", "conservative"], default="own",
        help="the meaning of a suppressed or missing quasi-identifier in class sizes and for an adversary: a category "
        "of its own (default), a match of every value, or a match of every value that protects nobody else",
    )  # fmt: skip
    command.value(
        "--treatment",
        "'age: generalized, zip: suppressed'",
        "the treatments of columns, to confirm the recognized treatments",
    )
    command.value(
        "--hierarchy", "COLUMN=FILE", "the other tool's hierarchy of a column, in the format of ARX",
        action="append", type=parse_assignment, default=[],
    )  # fmt: skip
    command.value(
        "--card", "OUT", "also write the release card to this new file: as a page that a person can sign if the name "
        "ends in .html, and for programs if it ends in .json; may be repeated",
        action="append", default=[],
    )  # fmt: skip
    command.value("--seeds", "N", "the number of repetitions of each random step (default: 3)", type=int, default=3)
    command.value("--store", "DIR", "a folder for finished work, so that a stopped run can continue")
    command.examples(
        "assess theirs.csv --dataset people --holdout others.csv",
        "assess synthetic.parquet --dataset adult --rows synthetic --holdout others.csv --json",
    )


def run(args: Namespace) -> Answer:
    """Assess a release that another tool made; the status is 1 if the release violates the policy."""
    from privnb.datasets.dataset import load
    from privnb.datasets.foreign_file import parse_treatments
    from privnb.decision import policies
    from privnb.decision.assessment import assess_release
    from privnb.evaluation.parameters import choose_study
    from privnb.reporting.release_card import page
    from privnb.runtime.errors import MissingFileError, OutputExistsError, UsageError
    from privnb.runtime.sentences import list_lines
    from privnb.runtime.wording import write
    from privnb.sanitizers.made_elsewhere import MadeElsewhere

    for file in filter(None, (args.file, args.holdout)):
        if not Path(file).exists():
            raise MissingFileError(f"there is no file {file}.")
    for file in args.card:
        if Path(file).suffix not in CARD_ENDINGS:
            raise UsageError(f"--card must name a file that ends in .html or .json; got {file}.")
        if Path(file).exists():
            raise OutputExistsError(f"--card must name a new file; {file} exists. Choose another name.")
    policy = policies.read(args.policy)
    description = tables.resolve_description(args.dataset)
    dataset = load(description, choose_study(str(description), args.study or "") or None)
    sanitizer = MadeElsewhere(
        args.file, rows=ROWS.get(args.rows, "measured"),
        treatments=parse_treatments(args.treatment or "", "--treatment"),
        hierarchies=dict(args.hierarchy), holdout=args.holdout or "",
        star=args.star,
    )  # fmt: skip
    found = assess_release(sanitizer, dataset, policy, seeds=args.seeds, store=args.store or "")
    card = found.card
    document = next((Path(file).name for file in args.card if Path(file).suffix == ".json"), "")
    for file in args.card:
        is_page = Path(file).suffix == ".html"
        Path(file).write_text(page(card, file=document) if is_page else card.text, encoding="utf-8")
    criteria = list_criteria(found.results)
    questions = list_lines(write("decision/assessment", "frameworks", card.content, args.card))
    read = [STARS[args.star], *found.sentences]
    return Answer(
        _values(args, found, card.content, criteria),
        [*found.answer, *map(describe_criterion, criteria), *read, *questions],
        unmet_condition("" if found.keeps else f"{args.file} breaks the policy '{policy.name}'."),
    )


def list_criteria(results: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the results for the three criteria as values for programs, one per variant and attribute."""
    from privnb.decision.by_policy import plain_number
    from privnb.decision.card import TOO_FEW
    from privnb.microdata.withholding import LIMIT

    found = []
    for row in results[results.measure.isin([f"excess_{name}" for name in CRITERIA])].itertuples():
        name = str(row.measure).removeprefix("excess_")
        same = (results.measure == f"{name}_success") & (results.variant == row.variant)
        rates = results[same & (results.target == row.target)].set_index("control")
        few = row.of < LIMIT  # a rate of few attempts is uncertain
        attack, control = (plain_number(rates.value.get(each, float("nan"))) for each in ("", "held-out"))
        found.append(
            {
                "criterion": name, "variant": row.variant, "target": row.target,
                **{end: None if few else plain_number(getattr(row, end)) for end in ("value", "low", "high")},
                "attempts": plain_number(row.of),
                "attack": None if few else attack, "control": None if few else control,
                "random_guess": plain_number(rates.baseline.get("", float("nan"))),
                "unknown": TOO_FEW if few else row.reason or row.status,
            }
        )  # fmt: skip
    return found


def describe_criterion(found: Mapping[str, Any]) -> str:
    """Return a sentence about the result for one of the three criteria."""
    from privnb.decision.card import TOO_FEW
    from privnb.microdata.withholding import LIMIT
    from privnb.runtime.numerals import write_percent, write_share

    what = ", ".join(filter(None, [found["variant"], found["target"]]))
    name = f"Excess {found['criterion'].replace('_', ' ')}{f' ({what})' if what else ''}"
    one, many = ("predicate", "predicates") if found["criterion"] == "singling_out" else ("person", "people")
    tried = f"{found['attempts'] or 0:,.0f} {one if found['attempts'] == 1 else many}"
    if found["unknown"] == TOO_FEW:
        return f"{name} is not reported: the attack tries {tried}, too few for a rate; at least {LIMIT} are needed."
    if found["value"] is None:
        return f"{name} is not reported: {found['unknown']}."
    if found["attempts"] is None:
        return f"{name}: 0%, because no predicate singles out a released row."
    share = write_share(found["value"], found["low"], found["high"])
    rates = [write_percent(found[each]) for each in ("attack", "control", "random_guess")]
    return (
        f"{name}: {share}. The attack succeeds for {rates[0]} of {tried} of the table, "
        f"for {rates[1]} of the hold-out, and a random guess for {rates[2]}."
    )


def _values(args: Namespace, found: Assessment, card: dict[str, Any], criteria: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the assessment as values for programs."""
    facts = found.facts
    return {
        "file": args.file,
        "dataset": args.dataset,
        "policy": found.decision.policy.name,
        "keeps": found.keeps,
        "rows": facts["origin"],
        "star": args.star,
        **{name: facts[name] for name in ("columns", "lacking", "holdout", "copies")},
        "criteria": criteria,
        "card": card,
    }
