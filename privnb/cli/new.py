"""Draft the description of a table of your own."""

import shlex
import shutil
from argparse import Namespace
from pathlib import Path

from privnb.cli import describe
from privnb.cli.arguments import Parser, add_encoding, add_roles
from privnb.runtime.processes import runs_as


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.value(
        "file", "FILE", "a table: CSV, Parquet, Excel, OpenDocument, SPSS, Stata, SAS, or a folder of its parts"
    )
    command.value("--name", "NAME", "its folder under data/ (the file's name)")
    command.value(
        "--missing", "'A: 97|98, B: -'", "texts that say that no value is there, beside empty cells, NA and the like"
    )
    add_encoding(command)
    command.flag("--again", "FILE was corrected: take over the roles that its description has")
    add_roles(command)


def run(args: Namespace) -> int:
    """Draft the description, with the roles that are given; status 1 if it cannot be confirmed as asked."""
    from privnb.datasets.draft import drafted
    from privnb.datasets.own_table import OwnTable, redescribed
    from privnb.datasets.roles import parsed_missing

    us, missing = shlex.quote(runs_as()), parsed_missing(args.missing or "")
    news: list[str] = []
    if args.again:
        table, news = redescribed(args.file, args.name, missing=missing, encoding=args.encoding)
        path = Path("data", table.path.stem, table.path.name)
    else:
        path, table = drafted(args.file, args.name, missing=missing, encoding=args.encoding)
    try:
        table, said = describe.described(table if args.again else OwnTable.open(str(path), table), args)
    except ValueError:
        if not args.again:
            shutil.rmtree(path.parent)  # so that the same command can be corrected
        raise
    draft_still = (
        f"This is a draft. Say what its columns are by menu (`{us} app --describe {path.stem}`), in words "
        f"(`{us} describe --help`), or in an editor as its first lines say. Then"
    )
    print(path, *said, *news, sep="\n")
    print(
        f"{draft_still if table.is_draft else 'Now'} run `{us} report --dataset {path.stem}`. "
        f"{path.parent} also holds a copy of {args.file}, which later changes of that file do not reach. Git ignores "
        "that folder, because it holds people's data."
    )
    return describe.unconfirmed(args, table)
