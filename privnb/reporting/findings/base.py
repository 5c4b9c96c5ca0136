"""How answers say numbers and names."""

import re

import pandas as pd

from privnb.evaluation.results import bounded


def of(results, measure):
    return results[results.measure == measure]


def name(row):
    main = re.sub(r", \w+=.*", "", row.parameters)
    return f"{row.sanitizer}({main})"


def people(row, value):
    """A count, the row's value or its baseline; a withheld one by the bound that the row has.

    Without bounds a value need not be small: it may be withheld for what it would tell of another number.
    """
    if pd.notna(value):
        return f"{value:,.0f} people"
    if pd.notna(row.value):  # then it is the baseline, which has no bounds
        return "few people, or all but few"
    return f"{bounded(row.low, row.high)} people" if pd.notna(row.high) else "a number of people that is withheld"


def from_to(rows, format):
    """The smallest and the largest value with their settings, or the one that there is."""
    least, most = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
    if len(rows) == 1:
        return f"{least.value:{format}} ({name(least)})"
    return f"{least.value:{format}} ({name(least)}) to {most.value:{format}} ({name(most)})"


def share(row):
    """A share in words; of one that is withheld its bounds, where they are wide."""
    if pd.isna(row.value):
        return f"{row.low:.0%} to {row.high:.0%}" if row.high > 0.05 else "hardly any"
    return f"{row.value:.1%}"


def by_strictness(rows):
    """Rows of one sanitizer from the loosest to the strictest: k upwards, epsilon downwards."""
    looser_first = not (rows.parameter == "epsilon").any()
    return rows.dropna(subset="bound").sort_values("bound", ascending=looser_first)


def interval(row, format):
    """The 95 % interval of a row in brackets, or nothing where it has none."""
    return "" if pd.isna(row.low) else f" (95 % interval {row.low:{format}} to {row.high:{format}})"


def listed(names):
    """Names as a person lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


WORST = "worst miner"
CRITERIA = {
    "worst by person": "each person's worst miner",
    "worst": WORST,
    "average": "average miner",
    "fusion: vote": "vote of all miners",
    "fusion: stacked": "all miners stacked",
}
LESS = {"guess": "worst less the guess", "permuted": "worst less chance"}


def criterion(rows):
    """How a person names a criterion of choice, or other rows that are no single miner's: Series of text."""
    named = rows.control.map(LESS).fillna(rows.miner.map(CRITERIA)).fillna(rows.miner)
    return named.where(rows.miner_set == "", rows.miner_set + ": " + named)


def scenario(rows):
    """How a person names a scenario: "A", or of distinct records "A_distinct"; Series of text."""
    return rows.scenario.mask(rows.variant == "distinct", rows.scenario + "_distinct")
