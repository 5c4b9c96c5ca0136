"""How answers say numbers and names."""

import re

import pandas as pd

from privnb.evaluation.results import bound, bounded


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
    looser_first = not rows.parameters.str.startswith("epsilon").any()
    return rows.assign(bound=bound(rows)).dropna(subset="bound").sort_values("bound", ascending=looser_first)


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


def criterion(miner):
    """How a person names a criterion of choice, or another row that is no single miner's.

    >>> criterion("worst"), criterion("modern average"), criterion("fusion: vote")
    ('worst miner', 'modern: average miner', 'vote of all miners')
    """
    names = {
        "worst by person": "each person's worst miner",
        "worst": "worst miner",
        "average": "average miner",
        "fusion: vote": "vote of all miners",
        "fusion: stacked": "all miners stacked",
    }
    for ending, said in names.items():
        if miner.endswith(ending):
            prefix = miner.removesuffix(ending).strip()
            return f"{prefix}: {said}" if prefix else said
    return miner
