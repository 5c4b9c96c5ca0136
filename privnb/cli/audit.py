"""Report which single values follow from published totals."""

from argparse import Namespace

from privnb.cli.answer import Answer, unmet_condition
from privnb.cli.arguments import Parser
from privnb.runtime.notices import Notice

TOTALS = """\
FILE has the columns total (a name), covers (its records or groups, separated by ;) and value.
The optional column kind states whether the total is a sum, a max or a min. For example:
  total,covers,value
  all wards,north;south;east,61.5
  north and south,north;south,40
These totals disclose east = 21.5.
"""
BOUNDS = "An adversary who already knows some of the values, or bounds on some values, may learn more."


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.description = (
        "Report which single values follow exactly from published totals, and list the totals that prove each value. "
        "The exit status is 1 if at least one value follows."
    )
    command.value("file", "FILE", "a table with one row per published total")
    command.examples("audit totals.csv", "audit totals.csv --json")
    shown = command.more
    command.more = lambda: f"\n{TOTALS}{shown()}"


def run(args: Namespace) -> Answer:
    """Report, with proofs, which single values follow from published totals; the status is 1 if a value follows."""
    from privnb.measures.count_tables.totals import read_totals, solve_totals
    from privnb.microdata.schema import SchemaError

    totals = read_totals(args.file)
    try:
        found = solve_totals(totals)
    except ValueError as error:
        raise SchemaError(f"{args.file}: {error}") from None
    names = {name for total in totals for name in total.of}
    published = f"the {len(totals)} published totals" if len(totals) > 1 else "this 1 published total"
    values = {
        "totals": len(totals),
        "names": len(names),
        "disclosed": [
            {
                "name": each.name,
                "value": float(each.value),
                "proof": {total: float(times) for total, times in each.proof.items()},
            }
            for each in found
        ],
    }
    more = Notice(BOUNDS, "more-may-follow")
    if not found:
        return Answer(values, [f"No value of {len(names)} follows from {published} alone.", more])
    return Answer(
        values,
        [
            f"{len(found)} of {len(names)} values follow exactly from {published}:",
            *map(str, found),
            "Publish fewer totals, or totals of sets that overlap differently, and audit them again.",
            more,
        ],
        unmet_condition(f"{len(found)} of {len(names)} values follow from the totals."),
    )
