"""How a number stands in a panel: with its unit, what is reached without the release, its interval, which direction is
better, and what it means; and small tables.
"""

import numpy as np
import pandas as pd
from markupsafe import Markup

from privnb.evaluation.results import full_name, measured
from privnb.explorer.controls import attribute, together
from privnb.explorer.counting import IN_WORDS
from privnb.measures.base import facts
from privnb.reporting.findings.base import reported
from privnb.runtime import expect
from privnb.runtime.sentences import Page
from privnb.runtime.tolerances import ROUNDING

NUMBER = Markup(
    '<li data-key="{key}"><details class="privnb-explain" data-key="{key}"><summary title="Explain">{title}'
    '&nbsp;<i aria-hidden="true">?</i></summary><p>{meaning} {source}</p></details><b>{value}</b>'
    "<small>{beside}</small></li>"
)


def numbers(rows):
    """A list of numbers, one per explained line. `rows`: those of tidy results, as tuples."""
    lines = together(map(number, rows))
    return Markup('<ul class="privnb-numbers">{}</ul>').format(lines) if lines else Markup("")


def number(row, title=""):
    """One number: its title with an explanation to open, its value, and what stands beside it."""
    source = facts(row.measure).source
    return NUMBER.format(
        key=f"{row.measure} {row.scenario} {row.control} {row.miner} {row.target}",
        title=title or _titled(row),
        meaning=meaning(row),
        source=Markup("<br>Source: {}.").format(source) if source else "",
        value=value(row),
        beside="; ".join(beside(row)),
    )


def listed(results):
    """The numbers of tidy results as the panels write them, with what they mean: a table to look at.

    Rows that say who is hit, of which there are many, are left out.
    """
    expect.these(results=results)
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


def value(row):
    """A number with its unit; a withheld one by what may be said of it."""
    of = facts(row.measure)
    if row.measure in IN_WORDS and pd.notna(row.value):
        return IN_WORDS[row.measure][1](row.value)
    if of.counts_people and row.variant != "weighted":
        return reported(of.format, row.value, row.low, row.high)
    return of.written(row.value) if pd.notna(row.value) else "withheld"


def beside(row):
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


def meaning(row):
    """What a number means, and what is special to its variant and scenario."""
    of = facts(row.measure)
    special = [of.readings[each] for each in (row.variant, row.scenario) if each in of.readings]
    return " ".join([of.sentence, *(f"{each[0].upper()}{each[1:].rstrip('.')}." for each in special)])


def trouble(what, text):
    """What went wrong, and what to do."""
    return Markup('<p class="privnb-trouble" role="alert"><b>{}</b> {}</p>').format(what, text)


def note(text):
    return Markup('<p class="privnb-note">{}</p>').format(text) if text else Markup("")


def lead(text):
    """The sentence that a panel begins with."""
    return Markup('<p class="privnb-lead">{}</p>').format(text) if text else Markup("")


def table(columns, rows, caption, *, right=()):
    """A small table that scrolls by keyboard where it is too wide. `right`: places of columns of numbers."""
    side = [Markup(' class="n"') if place in right else Markup("") for place in range(len(columns))]
    head = together(Markup("<th scope=col{}>{}</th>").format(*pair) for pair in zip(side, columns, strict=True))
    body = together(
        Markup("<tr>{}</tr>").format(
            together(Markup("<td{}>{}</td>").format(*pair) for pair in zip(side, row, strict=True))
        )
        for row in rows
    )
    return Markup(
        '<div class="privnb-scroll" tabindex="0" role="region"{}><table><thead><tr>{}</tr></thead><tbody>{}</tbody>'
        "</table></div>"
    ).format(attribute("aria-label", caption), head, body)


def _titled(row):
    """Title of a number, and whose it is."""
    scenario = f"scenario {row.scenario}" if row.scenario else ""
    of = row.target if row.measure == "attribute_vulnerability" else ""
    return ", ".join(filter(None, [facts(row.measure).title, row.variant, scenario, row.miner, row.control, of]))


def _held(row):
    if pd.isna(row.value):
        return "withheld"
    holds = row.value >= row.baseline - ROUNDING if row.better == "higher" else row.value <= row.baseline + ROUNDING
    return "kept ✓" if holds else "not kept ✗"
