"""Describe the columns of a table: draft a description, show it, and change it."""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privnb.cli import serving
from privnb.cli.answer import Answer, unmet_condition
from privnb.cli.arguments import (
    Parser,
    add_encoding,
    add_roles,
    add_server,
    add_table,
    has_roles,
    parse_role_options,
)
from privnb.cli.tables import is_file, resolve_description
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.datasets.description_editor import DescriptionEditor
    from privnb.tables.derivation import Derivation

OFFERED = 4  # the maximum number of derived columns that the output proposes
FORM_OPTIONS = (
    "roles",
    "days",
    "derive",
    "confirm",
    "missing",
    "encoding",
    "again",
    "repair",
)  # the options that the form replaces


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    add_table(command)
    command.flag("--form", text="choose the roles from menus, on a page that this machine serves")
    command.value(
        "--name", "NAME", "the name of a new description and its folder under data/ (default: the name of the file)"
    )
    add_roles(command, may_be_none=True)
    command.value(
        "--roles", "'A: ROLE, q*: ROLE'",
        "the roles of columns; q* stands for all columns whose names begin with q. The roles are identifier, person, "
        "weight (the number of people that a row represents), quasi-identifier, sensitive, neutral and unused",
    )  # fmt: skip
    command.value("--days", "'A: dd/mm/yyyy'", "the format of the dates of a column, if the values leave it open")
    command.value(
        "--derive", "'A: years from B to C'",
        "a new column that is computed from others: 'years from B to C', 'days from B to C' (C may be a day such as "
        "2024-12-31), 'year of B', 'quarter of B', 'month of B' or 'first 2 characters of B'; 'A: none' removes the "
        "column",
    )  # fmt: skip
    command.value("--repair", "A,B", "columns to repair: one spelling for each value, and lost leading zeros of codes")
    command.value("--missing", "'A: 97|98, B: -'", "texts that mark a missing value, in addition to empty cells and NA")
    add_encoding(command)
    command.flag("--again", text="draft the description of a corrected file again, with the same roles")
    command.flag("--confirm", text="confirm the draft; without a person column, each row counts as one person")
    add_server(command)
    command.examples(
        "describe people.csv --sensitive illness --person patient_id --confirm",
        "describe people --roles 'zip: neutral, q*: unused'",
        "describe visits --derive 'age: years from birth to admission, stay: days from admission to discharge'",
    )


def run(args: Namespace) -> Answer:
    """Draft the description of a new file, or change the roles of a described table, and show the columns."""
    if args.form:
        return _form(args)
    from privnb.datasets.description_editor import DescriptionEditor

    if not is_file(args.table):
        _refuse_of_a_file(args)
        changes = has_roles(args) or args.roles or args.days or args.derive or args.repair or args.confirm
        table = DescriptionEditor.open(resolve_description(args.table), may_have_studies=not changes)
        return _shown(args, *apply_changes(table, args))
    return _of_file(args)


def _of_file(args: Namespace) -> Answer:
    """Return the answer for a file; if the file has no description, a description is drafted first."""
    from privnb.datasets.description_editor import (
        DescriptionEditor,
        describe_again,
        find_or_draft as described_or_drafted,
    )
    from privnb.datasets.draft import dataset_name, draft_table
    from privnb.datasets.roles import parse_missing

    missing = parse_missing(args.missing or "")
    place = Path("data", args.name or dataset_name(Path(args.table)))
    if args.again:
        table, news = describe_again(args.table, args.name, missing=missing, encoding=args.encoding)
        return _shown(args, *apply_changes(table, args), news)
    if (place / f"{place.name}.toml").is_file() and not (missing or args.encoding):
        path = described_or_drafted(args.table, args.name or "")  # this refuses the description of another file
        return _shown(args, *apply_changes(DescriptionEditor.open(str(path)), args))
    path, cells = draft_table(args.table, args.name, missing=missing, encoding=args.encoding)
    try:
        table, said = apply_changes(DescriptionEditor.open(str(path), cells), args)
    except ValueError:
        shutil.rmtree(path.parent)  # removed, so that the same command can be run again
        raise
    copied = (
        f"{path.parent} also holds a copy of {args.table}; later changes to that file do not reach the copy. Git "
        "ignores that folder, because it holds people's data."
    )
    return _shown(args, table, said, [copied], path)


def _shown(
    args: Namespace, table: DescriptionEditor, said: list[str], news: list[str] | None = None, path: Path | None = None
) -> Answer:
    """Return the columns of a table and the next step.

    The status is 1 if --confirm is given and facts that the owner must state are missing.
    """
    from privnb.datasets import description
    from privnb.microdata.schema import PUBLISHED

    columns = table.seen(table.roles)
    width = max(len(each.name) for each in columns)
    lines = [str(path)] if path else []
    for each in columns:
        seen = f"{each.kind}, {each.different:,} different, {each.missing:,} missing; {each.examples}".rstrip("; ")
        seen += f"; computed: {each.derived}" * bool(each.derived)
        lines.append(f"{each.name:<{width}}  {table.roles.chosen[each.name]:<16}  {seen}")
    lines += [*said, *(news or ())]
    possible = table.derivations(table.roles)
    if offers := [
        f"'{each.name}: {each.rule.words}'"
        for name, proposals in possible.items()
        for each in proposals
        if table.roles.chosen[name] in PUBLISHED
    ]:
        more = f" (and {len(offers) - OFFERED} more)" if len(offers) > OFFERED else ""
        lines.append(
            f"Dates and codes single people out, and users may need what can be computed from them. Add a column with "
            f"--derive: {', '.join(offers[:OFFERED])}{more}."
        )
    if table.studies:
        lines.append(
            f"The roles of a study take precedence over the roles above. The studies are: {', '.join(table.studies)}."
        )
    name = args.name or table.path.stem if is_file(args.table) else args.table
    if table.is_draft:
        lines.append(
            f"This is a draft. State the roles of its columns from menus (`privnb describe {name} --form`), by options "
            f"(`privnb describe --help`), or in an editor, as its first lines explain. Confirm them with "
            f"`privnb describe {name} --confirm`, then run `privnb report {name}`."
        )
    elif args.confirm:
        lines.append(
            f"The roles in {table.path.name} are confirmed. {description.describe_unconfirmed(table.text)}".strip()
        )
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
                "derived": each.derived,
            }
            for each in columns
        ],
        "possible": {
            name: [{"name": each.name, "derived": each.rule.words} for each in proposals]
            for name, proposals in possible.items()
        },
        "lacks": table.roles.lacks,
    }
    lacks = f"{table.path.name} is not confirmed; the missing facts are listed above." if args.confirm else ""
    return Answer(values, lines, unmet_condition(lacks if table.is_draft else ""))


def apply_changes(table: DescriptionEditor, args: Namespace) -> tuple[DescriptionEditor, list[str]]:
    """Write the roles that the options state into the description.

    Return the table, and sentences about values of another type and about missing facts.
    """
    from privnb.datasets.roles import parse_days, parse_derived, parse_roles
    from privnb.microdata.schema import Role
    from privnb.runtime.errors import UsageError
    from privnb.runtime.names import describe_renaming, parse_columns
    from privnb.runtime.sentences import join_names

    repaired: list[str] = []
    if args.repair:
        named = parse_columns(args.repair, [*table.roles.chosen, *table.renamed])
        table, repaired = table.repair([table.renamed.get(each, each) for each in named])
    days = parse_days(args.days or "", table.roles.chosen, table.renamed)
    table, said = _derive(table, parse_derived(args.derive or "", table.file_columns, table.renamed), args, days)
    roles = table.roles
    asked = parse_role_options(args, roles.chosen, table.renamed)
    if args.sensitive is not None:
        first, *more = [name for name, role in asked.items() if role is Role.SENSITIVE] or [""]
        roles = roles.sensitive(first).having(dict.fromkeys(more, Role.SENSITIVE))
    if args.person is not None:
        roles = roles.person(next(name for name, role in asked.items() if role is Role.PERSON))
    own = parse_roles(args.roles or "", roles.chosen, table.renamed)
    if twice := [name for name, role in asked.items() if own.get(name, role) is not role]:
        raise UsageError(
            f"--roles and another option give different roles to {join_names(twice)}. Give each column one role."
        )
    roles = roles.having(asked | own)
    roles = replace(roles, days={**roles.days, **days})
    if args.confirm and not roles.names(Role.PERSON):
        roles = roles.person("")
    lacks = roles.lacks
    if roles != table.roles or (args.confirm and table.is_draft):
        table, lacks = table.save(roles, confirm=args.confirm)
    notices = [
        *(Notice(each, "column-renamed") for each in describe_renaming(table.renamed)),
        *(Notice(f"{each.name}: {alert}.", "alert") for each in table.seen(roles) for alert in each.alerts),
        *([Notice(table.copies, "records-repeated")] if table.copies else []),
    ]
    return table, [*repaired, *said, *notices, roles.publishes, *lacks]


def _derive(
    table: DescriptionEditor, rules: Mapping[str, Derivation | None], args: Namespace, days: Mapping[str, str]
) -> tuple[DescriptionEditor, list[str]]:
    """Add and remove derived columns, and return the table and sentences about them.

    The roles that the options state are checked before anything is written.
    """
    from privnb.datasets.roles import parse_roles

    if not rules:
        return table, []
    new = {name: rule for name, rule in rules.items() if rule is not None}
    names = [*dict.fromkeys([*table.roles.chosen, *new])]
    parse_role_options(args, names, table.renamed)
    own = parse_roles(args.roles or "", names, table.renamed)
    said = []
    for name in (each for each, rule in rules.items() if rule is None):
        table, about = table.remove_derived(name)
        said += about
    if new:
        roles = table.roles.having({name: role for name, role in own.items() if name in table.roles.chosen})
        table, about = table.derive(new, replace(roles, days={**roles.days, **days}))
        said += about
    return table, said


def _form(args: Namespace) -> Answer:
    """Show the columns of a table on a page.

    If the page could not open the table, an error is raised before the page is served.
    """
    serving.begin()
    hub = serving.list_options(args)
    from privnb.datasets.description_editor import DescriptionEditor, find_or_draft as described_or_drafted
    from privnb.reporting.notebooks import ReportError

    if has_roles(args) or any(getattr(args, word) for word in FORM_OPTIONS):
        raise ReportError("--form lets you choose the roles on a page. Leave out all options that state roles.")
    path = serving.find_app()
    if not is_file(args.table):
        _refuse_of_a_file(args)
    path_of = (
        described_or_drafted(args.table, args.name or "") if is_file(args.table) else resolve_description(args.table)
    )
    table = DescriptionEditor.open(path_of)
    opened = f"{serving.describe_copy(table.path)}\nThe form is open at {{url}}\nCtrl-C ends it."
    serving.serve(serving.Page(path, {"FILE": "", "NAME": str(table.path)}, opened), args.rest, **hub)
    return Answer()


def _refuse_of_a_file(args: Namespace) -> None:
    """Raise UsageError for an option that needs a file, because the argument TABLE is not a file.

    Raises MissingFileError if TABLE is not a described table either.
    """
    from privnb.runtime.errors import UsageError

    for word in ("name", "missing", "encoding", "again"):
        if getattr(args, word):
            resolve_description(args.table)  # this states that there is neither a file nor a dataset of that name
            raise UsageError(f"--{word} needs the file of the table; got the description {args.table}. Name the file.")
