"""Sanitize a table and write the release to a file."""

from argparse import Namespace

from privnb.cli import tables
from privnb.cli.answer import Answer
from privnb.cli.arguments import (
    Parser,
    add_encoding,
    add_memory,
    add_model,
    add_outside,
    add_release,
    add_roles,
    add_study,
    add_table,
)


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command)
    add_model(command, "the privacy models that every class must satisfy; see `privnb list models`", required=True)
    command.value("--out", "OUT", "the release: a new .parquet or .csv file, or a new folder", required=True)
    command.value(
        "--algorithm",
        "SANITIZER",
        "the sanitizer that enforces the models (default: Mondrian); see `privnb list sanitizers`",
        default="Mondrian",
    )
    command.value("--description", "DATASET", "the dataset whose description applies to the columns of the file")
    add_study(command)
    add_roles(command)
    add_outside(command)
    add_memory(command)
    add_encoding(command)
    add_release(command)
    command.examples(
        'sanitize people --model "k=10, t=0.2:illness" --out release.csv',
        "sanitize people.parquet --sensitive illness --drop name --model k=10 --out release.parquet",
    )


def run(args: Namespace) -> Answer:
    """Sanitize a table, write the release to a file, and describe the release."""
    from privnb.publishing import from_files

    tables.drop_own_description(args)
    table = tables.find_table(args.table)
    described = (
        tables.NamedTable(args.description, tables.resolve_description(args.description)) if args.description else table
    )
    roles = tables.read_roles(args, described)
    # A described file is read by its description.
    source = table.name if args.description or table.description is None else str(table.description)
    made = from_files.sanitize(
        source, args.model, args.out, algorithm=args.algorithm, dataset=args.description, study=args.study,
        memory=args.memory, spreadsheet_safe=args.spreadsheet_safe, allow=args.allow, encoding=args.encoding,
        roles=roles or None, outside=args.outside, bounds=args.bounds, force=args.force, call=args.call,
    )  # fmt: skip
    values = {
        "table": args.table,
        "out": made.path,
        "sanitizer": repr(made.sanitizer),
        "records": made.records,
        "combinations": made.combinations,
        "classes": made.classes,
        "smallest_class": made.smallest,
        "suppressed": made.suppressed,
        "provenance": made.provenance,
    }
    return Answer(values, made.sentences)
