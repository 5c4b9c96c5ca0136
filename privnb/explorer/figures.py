"""The numbers of the panels, with unit, baseline, interval, better direction and explanation."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, name_full_setting, select_measured
from privnb.explorer.readings import IN_WORDS
from privnb.measures.base import measure_facts
from privnb.reporting.findings.numbers import number_of_row
from privnb.runtime.sentences import FullTable
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated
from privnb.runtime.wording import write_quantity


class Figure(NamedTuple):
    """A number of a panel.

    `key` identifies the number, whatever its value; `details` holds the requested bound or the baseline, and the
    interval; `direction` states which numbers are better, or is empty; `row` is the row of tidy results.
    """

    key: str
    title: str
    meaning: str
    source: str
    value: str
    details: list[str]
    direction: str
    row: Any

    @property
    def context(self) -> list[str]:
        """The texts next to the number: the details and the direction."""
        return [*self.details, *filter(None, [self.direction])]


def make_figure(row: Any, title: str = "") -> Figure:
    """Return the figure of a row of tidy results, given as a tuple; an empty `title` means the measure's title."""
    key = f"{row.measure} {row.scenario} {row.control} {row.miner} {row.target}"
    return Figure(
        key,
        title or _title(row),
        explain_number(row),
        measure_facts(row.measure).source,
        format_value(row),
        [*describe_details(row)],
        describe_direction(row),
        row,
    )


@validated
def list_numbers(results: Results) -> FullTable:
    """Return a table of the numbers of tidy results as the panels write them, each with its meaning.

    The rows about the groups that are hit, which are numerous, are left out.
    """
    rows = [
        *select_measured(results[(results.measure != "nearer_share") & (results.variant != "distinct")]).itertuples()
    ]
    table = pd.DataFrame(
        {
            "number": [_title(row) for row in rows],
            "release": [name_full_setting(row) for row in rows],
            "value": [format_value(row) for row in rows],
            "context": ["; ".join(describe_context(row)) for row in rows],
            "meaning": [explain_number(row) for row in rows],
        }
    )
    return FullTable(table, f"{len(table)} numbers")


def format_value(row: Any) -> str:
    """Return a number with its unit, or the bounds of a withheld number that may be shown."""
    of = measure_facts(row.measure)
    if row.measure in IN_WORDS and pd.notna(row.value):
        return IN_WORDS[row.measure][1](row.value)
    if of.counts_people and row.variant != "weighted":
        return write_quantity(number_of_row(row))
    return of.written(row.value) if pd.notna(row.value) else "withheld"


def describe_context(row: Any) -> list[str]:
    """Return the texts next to a number: the requested bound or the baseline, the interval, and the direction."""
    return [*describe_details(row), *filter(None, [describe_direction(row)])]


def describe_details(row: Any) -> Iterator[str]:
    """Yield the requested bound or the baseline of a number, and its interval."""
    of, letter = measure_facts(row.measure), IN_WORDS[row.measure][0] if row.measure in IN_WORDS else ""
    if letter and pd.notna(row.value):
        yield f"{letter} = {of.written(row.value)}"
    if of.baseline == "asked":
        yield f"requested: {of.written(row.baseline)}, {_verdict(row)}" if pd.notna(row.baseline) else "not requested"
    elif pd.notna(row.baseline):
        yield f"{of.baseline}: {of.written(row.baseline)}"
    if pd.notna(row.value) and pd.notna(row.low):
        yield f"95% CI: {of.bare(row.low)} to {'more' if np.isposinf(row.high) else of.written(row.high)}"
    if of.unit == "nats":
        yield "the result of a coin toss is 0.69 nats"


def describe_direction(row: Any) -> str:
    """Return which numbers are better, such as "lower is better"; empty for a number without a better direction."""
    letter = IN_WORDS[row.measure][0] if row.measure in IN_WORDS else ""
    return f"{row.better} is better{f' for {letter}' if letter else ''}" if row.better else ""


def explain_number(row: Any) -> str:
    """Return the meaning of a number, including the meaning of its variant and scenario."""
    of = measure_facts(row.measure)
    special = [of.readings[each] for each in (row.variant, row.scenario) if each in of.readings]
    return " ".join([of.sentence, *(f"{each[0].upper()}{each[1:].rstrip('.')}." for each in special)])


def _title(row: Any) -> str:
    """Return the title of a number with its variant, scenario, miner, control and attribute."""
    scenario = f"scenario {row.scenario}" if row.scenario else ""
    of = row.target if row.measure == "attribute_vulnerability" else ""
    return ", ".join(
        filter(None, [measure_facts(row.measure).title, row.variant, scenario, row.miner, row.control, of])
    )


def _verdict(row: Any) -> str:
    if pd.isna(row.value):
        return "withheld"
    holds = row.value >= row.baseline - ROUNDING if row.better == "higher" else row.value <= row.baseline + ROUNDING
    return "kept ✓" if holds else "not kept ✗"
