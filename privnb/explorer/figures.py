"""How a number stands in a panel: with its unit, what is reached without the release, its interval, which direction is
better, and what it means.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, full_name, measured
from privnb.explorer.counting import IN_WORDS
from privnb.measures.base import facts
from privnb.reporting.findings.base import reported
from privnb.runtime.sentences import Page
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated


class Figure(NamedTuple):
    """A number as a panel shows it. `key`: what it is, whatever its value; `beside`: what stands next to it."""

    key: str
    title: str
    meaning: str
    source: str
    value: str
    beside: list[str]


def number(row: Any, title: str = "") -> Figure:
    """Return one number of tidy results, a row as tuple; its own `title` if none is given."""
    key = f"{row.measure} {row.scenario} {row.control} {row.miner} {row.target}"
    return Figure(key, title or _titled(row), meaning(row), facts(row.measure).source, value(row), [*beside(row)])


@validated
def listed(results: Results) -> Page:
    """The numbers of tidy results as the panels write them, with what they mean: a table to look at.

    Rows that say who is hit, of which there are many, are left out.
    """
    rows = [*measured(results[(results.measure != "nearer_share") & (results.variant != "distinct")]).itertuples()]
    table = pd.DataFrame(
        {
            "number": [_titled(row) for row in rows],
            "release": [full_name(row) for row in rows],
            "value": [value(row) for row in rows],
            "beside it": ["; ".join(beside(row)) for row in rows],
            "what it means": [meaning(row) for row in rows],
        }
    )
    return Page(table, f"{len(table)} numbers")


def value(row: Any) -> str:
    """A number with its unit; a withheld one by what may be said of it."""
    of = facts(row.measure)
    if row.measure in IN_WORDS and pd.notna(row.value):
        return IN_WORDS[row.measure][1](row.value)
    if of.counts_people and row.variant != "weighted":
        return reported(of.format, row.value, row.low, row.high)
    return of.written(row.value) if pd.notna(row.value) else "withheld"


def beside(row: Any) -> Iterator[str]:
    """What stands beside a number: what was asked or is reached without the release, the interval, the direction."""
    of, letter = facts(row.measure), IN_WORDS[row.measure][0] if row.measure in IN_WORDS else ""
    if letter and pd.notna(row.value):
        yield f"{letter} = {of.written(row.value)}"
    if of.baseline == "asked":
        yield f"asked: {of.written(row.baseline)}, {_held(row)}" if pd.notna(row.baseline) else "not asked for"
    elif pd.notna(row.baseline):
        yield f"{of.baseline}: {of.written(row.baseline)}"
    if pd.notna(row.value) and pd.notna(row.low):
        yield f"95%: {of.bare(row.low)} to {'more' if np.isposinf(row.high) else of.written(row.high)}"
    if of.unit == "nats":
        yield "to learn how a coin fell is 0.69 nats"
    if row.better:
        yield f"of {letter}, {row.better} is better" if letter else f"{row.better} is better"


def meaning(row: Any) -> str:
    """What a number means, and what is special to its variant and scenario."""
    of = facts(row.measure)
    special = [of.readings[each] for each in (row.variant, row.scenario) if each in of.readings]
    return " ".join([of.sentence, *(f"{each[0].upper()}{each[1:].rstrip('.')}." for each in special)])


def _titled(row: Any) -> str:
    """Title of a number, and whose it is."""
    scenario = f"scenario {row.scenario}" if row.scenario else ""
    of = row.target if row.measure == "attribute_vulnerability" else ""
    return ", ".join(filter(None, [facts(row.measure).title, row.variant, scenario, row.miner, row.control, of]))


def _held(row: Any) -> str:
    if pd.isna(row.value):
        return "withheld"
    holds = row.value >= row.baseline - ROUNDING if row.better == "higher" else row.value <= row.baseline + ROUNDING
    return "kept ✓" if holds else "not kept ✗"
