"""Describe the columns of a table: draft a description, show it, and change it."""

from __future__ import annotations

import shutil
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import serving
from privnb.cli.answer import Answer, unmet
from privnb.cli.arguments import (
    Parser,
    add_encoding,
    add_roles,
    add_server,
    add_table,
    asked_roles,
    has_roles,
)
from privnb.cli.tables import described, is_file
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.datasets.own_table import OwnTable

WORDS = ("roles", "days", "confirm", "missing", "encoding", "again")  # what the form asks for by itself


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command)
    command.flag("--form", text="choose the roles by menu, on a page of this machine")
    command.value("--name", "NAME", "the name of a new description, its folder under data/ (the name of the file)")
    add_roles(command, may_be_none=True)
    command.value(
        "--roles", "'A: ROLE, q*: ROLE'",
        "the roles of columns, and of all columns whose names begin with q: identifier, person, weight (the number of "
        "people that a row represents), quasi-identifier, sensitive, neutral or unused",
    )  # fmt: skip
    command.value("--days", "'A: dd/mm/yyyy'", "how dates are written, if the file does not show it")
    command.value("--missing", "'A: 97|98, B: -'", "texts that mark missing values, in addition to empty cells and NA")
    add_encoding(command)
    command.flag("--again", text="draft a corrected file again, with the roles of its description")
    command.flag("--confirm", text="confirm the draft; without a person column each row is one person")
    add_server(command)
    command.examples(
        "describe people.csv --sensitive illness --person patient_id --confirm",
        "describe people --roles 'zip: neutral, q*: unused'",
    )


def run(args: Namespace) -> Answer:
    """Draft the description of a file that has none, change the roles of a described table, and show its columns."""
    if args.form:
        return _form(args)
    from privnb.datasets.own_table import OwnTable

    if not is_file(args.table):
        _refuse_of_a_file(args)
        changes = has_roles(args) or args.roles or args.days or args.confirm
        table = OwnTable.open(described(args.table), may_have_studies=not changes)
        return _shown(args, *changed(table, args))
    return _of_file(args)


def _of_file(args: Namespace) -> Answer:
    """Return the answer of a file: its description is drafted, unless it is there already."""
    from privnb.datasets.draft import drafted, named
    from privnb.datasets.own_table import OwnTable, described as described_or_drafted, redescribed
    from privnb.datasets.roles import parsed_missing

    missing = parsed_missing(args.missing or "")
    place = Path("data", args.name or named(Path(args.table)))
    if args.again:
        table, news = redescribed(args.table, args.name, missing=missing, encoding=args.encoding)
        return _shown(args, *changed(table, args), news)
    if (place / f"{place.name}.toml").is_file() and not (missing or args.encoding):
        path = described_or_drafted(args.table, args.name or "")  # which refuses the description of another file
        return _shown(args, *changed(OwnTable.open(str(path)), args))
    path, cells = drafted(args.table, args.name, missing=missing, encoding=args.encoding)
    try:
        table, said = changed(OwnTable.open(str(path), cells), args)
    except ValueError:
        shutil.rmtree(path.parent)  # so that the same command can be corrected
        raise
    copied = (
        f"{path.parent} also holds a copy of {args.table}, which later changes of that file do not reach. Git ignores "
        "that folder, because it holds people's data."
    )
    return _shown(args, table, said, [copied], path)


def _shown(
    args: Namespace, table: OwnTable, said: list[str], news: list[str] | None = None, path: Path | None = None
) -> Answer:
    """Return the columns of a table, and what is to do next; status 1 if it cannot be confirmed as asked."""
    from privnb.datasets import description

    columns = table.seen(table.roles)
    width = max(len(each.name) for each in columns)
    lines = [str(path)] if path else []
    for each in columns:
        seen = f"{each.kind}, {each.different:,} different, {each.missing:,} missing; {each.examples}".rstrip("; ")
        lines.append(f"{each.name:<{width}}  {table.roles.chosen[each.name]:<16}  {seen}")
    lines += [*said, *(news or ())]
    if table.studies:
        lines.append(f"It has studies, whose roles go before these: {', '.join(table.studies)}.")
    name = args.name or table.path.stem if is_file(args.table) else args.table
    if table.is_draft:
        lines.append(
            f"This is a draft. Say what its columns are by menu (`privnb describe {name} --form`), in words "
            f"(`privnb describe --help`), or in an editor as its first lines say. Then run `privnb report {name}`."
        )
    elif args.confirm:
        lines.append(f"The roles in {table.path.name} are confirmed. {description.unconfirmed(table.text)}".strip())
    if not table.is_draft:
        lines.append(f"Next: `privnb report {name}`.")
    values: dict[str, Any] = {
        "description": table.path,
        "is_draft": table.is_draft,
        "studies": table.studies,
        "records": len(table.cells),
        "columns": [
            {
                "name": each.name,
                "role": table.roles.chosen[each.name],
                "kind": each.kind,
                "different": each.different,
                "missing": each.missing,
                "examples": each.examples,
                "alerts": each.alerts,
            }
            for each in columns
        ],
        "lacks": table.roles.lacks,
    }
    lacks = f"{table.path.name} is not confirmed; what it lacks is listed above." if args.confirm else ""
    return Answer(values, lines, unmet(lacks if table.is_draft else ""))


def changed(table: OwnTable, args: Namespace) -> tuple[OwnTable, list[str]]:
    """Return the table with the roles that are given, which are written, and what stands out and is missing."""
    from privnb.datasets.roles import parsed, parsed_days
    from privnb.microdata.schema import Role
    from privnb.runtime.errors import UsageError
    from privnb.runtime.names import renaming
    from privnb.runtime.sentences import listed

    roles = table.roles
    asked = asked_roles(args, roles.chosen, table.renamed)
    if args.sensitive is not None:
        first, *more = [name for name, role in asked.items() if role is Role.SENSITIVE] or [""]
        roles = roles.sensitive(first).having(dict.fromkeys(more, Role.SENSITIVE))
    if args.person is not None:
        roles = roles.person(next(name for name, role in asked.items() if role is Role.PERSON))
    own = parsed(args.roles or "", roles.chosen, table.renamed)
    if twice := [name for name, role in asked.items() if own.get(name, role) is not role]:
        raise UsageError(f"{listed(twice)}: --roles gives another role than another option does. Say one of the two.")
    roles = roles.having(asked | own)
    roles = replace(roles, days={**roles.days, **parsed_days(args.days or "", roles.chosen, table.renamed)})
    if args.confirm and not roles.names(Role.PERSON):
        roles = roles.person("")
    lacks = roles.lacks
    if roles != table.roles or (args.confirm and table.is_draft):
        table, lacks = table.save(roles, confirm=args.confirm)
    notices = [
        *(Notice(each, "column-renamed") for each in renaming(table.renamed)),
        *(Notice(f"{each.name}: {alert}.", "alert") for each in table.seen(roles) for alert in each.alerts),
        *([Notice(table.copies, "records-repeated")] if table.copies else []),
    ]
    return table, [*notices, roles.publishes, *lacks]


def _form(args: Namespace) -> Answer:
    """Show the columns of a table as a page; refused here if it cannot be opened there."""
    serving.begin()
    hub = serving.settings(args)
    from privnb.datasets.own_table import OwnTable, described as described_or_drafted
    from privnb.reporting.notebooks import ReportError, own_notebooks

    if has_roles(args) or any(getattr(args, word) for word in WORDS):
        raise ReportError("--form asks for the roles of columns. Leave out all options that state them.")
    path = own_notebooks() / "your_table.ipynb"
    if not path.is_file():
        raise ReportError(f"{path.parent} lacks {path.name}. Copy it there, or work in another folder.")
    if not is_file(args.table):
        _refuse_of_a_file(args)
    path_of = described_or_drafted(args.table, args.name or "") if is_file(args.table) else described(args.table)
    table = OwnTable.open(path_of)
    serving.serve(serving.Page(path, {"FILE": "", "NAME": str(table.path)}), args.rest, **hub)
    return Answer()


def _refuse_of_a_file(args: Namespace) -> None:
    """Raise UsageError for what is asked of a table that is described already, and needs its file."""
    from privnb.runtime.errors import UsageError

    for word in ("name", "missing", "encoding", "again"):
        if getattr(args, word):
            raise UsageError(
                f"--{word} is for a file that is described again; got the description {args.table}. Name the file."
            )
