"""How a number stands in a panel: with its unit, what is reached without the release, its interval, which direction is
better, and what it means; and small tables.
"""

import numpy as np
import pandas as pd
from markupsafe import Markup

from privnb.evaluation.results import bounded, measured
from privnb.explorer.controls import attribute, together
from privnb.explorer.meanings import MEANINGS
from privnb.measures.base import facts
from privnb.microdata import expect

NUMBER = Markup(
    '<li data-key="{key}"><details class="privnb-explain" data-key="{key}"><summary title="Explain">{title}'
    '&nbsp;<i aria-hidden="true">?</i></summary><p>{meaning} {source}</p></details><b>{value}</b>'
    "<small>{beside}</small></li>"
)
# How numbers are written, by measure; others with three digits.
WRITTEN = {
    **dict.fromkeys(["k_achieved", "median_class_size", "median_bucket_size", "suppressed_records"], "{:,.0f} people"),
    **dict.fromkeys(["good_utility", "anti_utility"], "{:,.0f} people"),
    **dict.fromkeys(
        ["certain_disclosure_share", "identity_vulnerability", "attribute_vulnerability"], "{:.2%} of people"
    ),
    **dict.fromkeys(["classes", "buckets"], "{:,.0f}"),
    **dict.fromkeys(["utility_loss", "privacy_loss", "mean_privacy_loss"], "{:.3g} nats"),
    "suppressed_cells": "{:,.0f} cells",
    "certainty_penalty": "{:.1%} of the domain",
    "mean_absolute_error": "{:.1%} of the domain",
    "change_rate": "{:.1%} of records",
    **dict.fromkeys(["sensitive_vulnerability", "bucket_vulnerability"], "{:.1%} of people"),
    "accuracy_gain": "{:+.2%} of people",
    "worse_than_trivial": "{:.1%} of groups",
    "utility_decline": "{:.1%}",
}
LEVELS = ("k_achieved", "l_achieved", "t_achieved", "delta_achieved")
# What a baseline is, where it is not what is reached without the release.
BASELINES = {
    **dict.fromkeys(["accuracy_gain", "knowledge_gain", "privacy_loss", "mean_privacy_loss"], "by chance"),
    "utility_loss": "trivial release",
    "good_utility": "commonest value for all",
}


def numbers(rows):
    """A list of numbers, one an explained line. `rows`: those of tidy results, as tuples."""
    lines = together(map(number, rows))
    return Markup('<ul class="privnb-numbers">{}</ul>').format(lines) if lines else Markup("")


def number(row, title=""):
    """One number: its title with an explanation to open, its value, and what stands beside it."""
    _, meaning, source = _meant(row)
    return NUMBER.format(
        key=f"{row.measure} {row.scenario} {row.control} {row.miner} {row.target}",
        title=title or _titled(row),
        meaning=meaning,
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
    return pd.DataFrame(
        {
            "number": [_titled(row) for row in rows],
            "release": [f"{row.sanitizer} {row.parameters}".strip() for row in rows],
            "value": [value(row) for row in rows],
            "beside it": ["; ".join(beside(row)) for row in rows],
            "what it means": [_meant(row)[1] for row in rows],
        }
    ).style.hide(axis="index")


def value(row):
    """A number with its unit; a withheld one by what may be told of it."""
    if pd.notna(row.value):
        return written(row.measure, row.value)
    few = facts(row.measure).counts_people and row.variant != "weighted" and pd.notna(row.high)
    return f"{bounded(row.low, row.high)} people" if few else "withheld"


def beside(row):
    """What stands beside a number: what was asked or is reached without the release, the interval, the direction."""
    unit = row.measure
    if unit in LEVELS:
        yield f"asked: {written(unit, row.baseline)}, {_held(row)}" if pd.notna(row.baseline) else "not asked for"
    elif pd.notna(row.baseline):
        yield f"{BASELINES.get(row.measure, 'without it')}: {written(unit, row.baseline)}"
    if pd.notna(row.value) and pd.notna(row.low):
        high = "more" if np.isposinf(row.high) else written(unit, row.high)
        yield f"95 %: {written(unit, row.low).split(' ')[0]} to {high}"
    if row.better:
        yield f"{row.better} is better"


def written(measure, number):
    """A number in the unit of its measure.

    >>> written("certainty_penalty", 0.525), written("classes", 1234), written("delta_achieved", float("inf"))
    ('52.5% of the domain', '1,234', 'unbounded')
    """
    if np.isinf(number):
        return "unbounded"
    return WRITTEN.get(measure, "{:.3g}").format(number)


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


def _meant(row):
    """Title, meaning and source of a number; of weights and distinct records as of the plain measure."""
    names = f"{row.measure}, {row.variant}", f"{row.measure}_{row.scenario}", row.measure
    title, meaning, _, source = next((MEANINGS[name] for name in names if name in MEANINGS), ("", "", "", ""))
    return title or row.measure.replace("_", " "), meaning, source


def _titled(row):
    """Title of a number, and whose it is."""
    of = row.target if row.measure == "attribute_vulnerability" else ""
    return ", ".join(filter(None, [_meant(row)[0], row.miner, of]))


def _held(row):
    if pd.isna(row.value):
        return "withheld"
    holds = row.value >= row.baseline - 1e-9 if row.better == "higher" else row.value <= row.baseline + 1e-9
    return "kept ✓" if holds else "not kept ✗"
