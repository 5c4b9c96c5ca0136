"""Show the columns of a described table, and give them roles."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from privnb.cli.arguments import Parser, add_roles
from privnb.runtime.names import columns_in
from privnb.runtime.processes import runs_as

if TYPE_CHECKING:
    from privnb.datasets.own_table import OwnTable


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.value("name", "NAME", "its folder under data/, or its .toml file")
    add_roles(command)


def run(args: Namespace) -> int:
    """Give roles to the columns of a table, and show them; status 1 if they cannot be confirmed as asked."""
    from privnb.datasets import description
    from privnb.datasets.own_table import OwnTable

    table, said = described(OwnTable.open(args.name), args)
    columns = table.seen(table.roles)
    width = max(len(each.name) for each in columns)
    for each in columns:
        seen = f"{each.kind}, {each.different:,} different, {each.missing:,} missing; {each.examples}".rstrip("; ")
        print(f"{each.name:<{width}}  {table.roles.chosen[each.name]:<16}  {seen}")
    print(*said, sep="\n")
    if args.confirm and not table.is_draft:
        print(f"The roles in {table.path.name} are confirmed.", description.unconfirmed(table.text))
        print(f"Next: `{shlex.quote(runs_as())} report --dataset {shlex.quote(args.name)}`.")
    return unconfirmed(args, table)


def unconfirmed(args: Namespace, table: OwnTable) -> int:
    """Return 1 where a table should be confirmed and cannot be, and say so; else 0."""
    if still := args.confirm and table.is_draft:
        print(f"privnb: {table.path.name} is not confirmed; what it lacks stands above.", file=sys.stderr)
    return int(still)


def described(table: OwnTable, args: Namespace) -> tuple[OwnTable, list[str]]:
    """Return the table with the roles that are given, which are written, and what stands out and is missing."""
    from privnb.datasets.roles import checked, parsed, parsed_days
    from privnb.microdata.schema import Role, SchemaError
    from privnb.runtime.names import renaming
    from privnb.runtime.sentences import listed

    roles, names = table.roles, []
    if args.sensitive is not None:
        names = [table.renamed.get(name, name) for name in columns_in(args.sensitive, [*roles.chosen, *table.renamed])]
        first, *more = [checked(name, roles.chosen) for name in names] or [""]
        roles = roles.sensitive(first).having(dict.fromkeys(more, Role.SENSITIVE))
    roles = roles.having(parsed(args.roles or "", roles.chosen, table.renamed))
    if twice := [name for name in names if roles.chosen.get(name) is not Role.SENSITIVE]:
        raise SchemaError(f"{listed(twice)}: sensitive by --sensitive, and not by --roles. Say one of the two.")
    roles = replace(roles, days={**roles.days, **parsed_days(args.days or "", roles.chosen, table.renamed)})
    if args.confirm and not roles.names(Role.PERSON):
        roles = roles.person("")
    lacks = roles.lacks
    if roles != table.roles or (args.confirm and table.is_draft):
        table, lacks = table.save(roles, confirm=args.confirm)
    alerts = [f"{each.name}: {alert}." for each in table.seen(roles) for alert in each.alerts]
    return table, [*renaming(table.renamed), *alerts, *filter(None, [table.copies]), roles.publishes, *lacks]
