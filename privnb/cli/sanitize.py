"""Make a release of a table, from file to file, however long it is."""

from argparse import Namespace

from privnb.cli.arguments import Parser, add_encoding, add_memory, add_release


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.more = _models
    command.value("source", "IN", "CSV, Parquet, a folder of either, or the name of a described dataset")
    command.value(
        "--model", "'k=10, t=0.2:SALARY'",
        "what every class keeps: names of models, each with its bound and its sensitive attribute; l=2 asks for two "
        "different values. The names are listed below",
        required=True,
    )  # fmt: skip
    command.value("--out", "OUT", "a new .parquet or .csv file, or a folder", required=True)
    command.value("--algorithm", "NAME", "which sanitizer keeps it, such as 'local recoding'", default="Mondrian")
    command.value("--dataset", "NAME", "the dataset whose description says what the columns are")
    command.value("--study", "NAME", "in the roles of this study of its description")
    add_memory(command)
    add_encoding(command)
    add_release(command)


def run(args: Namespace) -> None:
    """Make a release of a table, from file to file; say what is in it."""
    from privnb.publishing import from_files

    made = from_files.sanitize(
        args.source, args.model, args.out, algorithm=args.algorithm, dataset=args.dataset, study=args.study,
        memory=args.memory, spreadsheet_safe=args.spreadsheet_safe, allow=args.allow,
        encoding=args.encoding,
    )  # fmt: skip
    print(*made.said, sep="\n")


def _models() -> str:
    """Return every model that `--model` can ask for: how it is written, and what it asks for."""
    from privnb.publishing.in_words import forms

    lines = [line for form, meaning in forms() for line in (f"  {form}", f"      {meaning}")]
    note = "  l=L:SENSITIVE\n      The same as distinct-l."
    head = 'models, with commas between them; names and values with separators stand in quotes, t=0.2:"City, State":'
    return "\n" + "\n".join([head, *lines, note]) + "\n"
