"""How near attacks come to the numbers behind noise or a rotation."""

import pandas as pd

from privnb.measures import facts
from privnb.microdata import expect
from privnb.reporting.charts.base import WIDTH, alt, finish, intervals, none, settings
from privnb.reporting.charts.measures import ranges
from privnb.reporting.findings.base import Finding
from privnb.reporting.findings.rows import same_release

LITERAL = "taken literally"


def recovery(results, measure="recovery_error"):
    """A point for each release and attack, ticks for the guess without anybody's row; a panel for each table.

    Parameters
    ----------
    results : DataFrame
        Tidy results of attacks that recover numbers.
    measure : str
        `recovery_error`, or `cell_error` of made-up records, whose ticks are the noisy numbers as they stand.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    expect.these(results=results, measure=measure)
    of, rows = facts(measure), of_all(results, measure)
    if rows.empty:
        return none(measure)
    rows = settings(rows)
    order = list(dict.fromkeys(rows.miner))
    panels = [
        ranges(part, "miner", of.label, format=of.format, order=order).properties(
            title=alt.Title(name, fontSize=12), width=WIDTH
        )
        for name, part in rows.groupby("dataset", sort=False)
    ]
    best = rows.loc[(rows.value / rows.baseline).idxmin()]
    literal = same_release(rows[(rows.miner == LITERAL) & (rows.dataset == best.dataset)], best)
    beside = {LITERAL: literal.value.iloc[0]} if len(literal) and best.miner != LITERAL else {}
    lines = f"; lines: {intervals(rows)}" if rows.low.notna().any() else ""
    return finish(
        alt.vconcat(*panels).resolve_scale(x="shared") if len(panels) > 1 else panels[0].properties(title=""),
        Finding.of(best, f"{of.title} of {best.miner}, which comes nearest", beside=beside).title,
        f"Points: {of.label} by release and attack, lower is nearer{lines}; ticks: {of.baseline}.",
    )


def of_all(results, measure):
    """The rows of a measure about all columns and everybody, the released numbers as they stand as one more attack."""
    rows = results[(results.measure == measure) & (results.group == "") & (results.control == "")]
    rows = rows[(rows.target == "") & rows.value.notna()]
    as_it_stands = rows[rows.variant == LITERAL]
    keys = ["dataset", "sanitizer", "parameters"]
    once = as_it_stands.drop_duplicates(keys).assign(miner=LITERAL, variant="")
    attacks = rows[rows.variant == ""]
    known = attacks.miner.where(attacks.knows == "", attacks.miner + ": " + attacks.knows)
    return pd.concat([attacks.assign(miner=known), once], ignore_index=True)
