"""Tidy results: one row a number, with the columns `COLUMNS`.

`low` and `high` bound a 95 % interval where a number could have come out otherwise; `baseline` is what is reached
without the release; `better` says which direction is. A number without a value was withheld, because it counts too few
people.
"""

import numpy as np
import pandas as pd

from privnb.measures.base import wilson

COLUMNS = [
    "dataset", "sanitizer", "parameters", "seed", "measure", "miner", "target",
    "value", "low", "high", "baseline", "better",
]  # fmt: skip

PEOPLE = ("anti_utility", "suppressed_records")  # measures that count people start with one of these


def join(*results):
    """Several tables of results as one."""
    return pd.concat(results, ignore_index=True)


def rows_of(dataset, sanitizer, seed):
    """A function that makes one row of results: `row(measure, value, miner, target, low, high, baseline, better)`."""

    def row(measure, value, miner="", target="", low=np.nan, high=np.nan, baseline=np.nan, better=""):
        return (
            dataset.name, type(sanitizer).__name__, sanitizer.changed_params(), seed, measure, miner, target,
            float(value), float(low), float(high), float(baseline), better,
        )  # fmt: skip

    return row


def tidy(rows):
    """Rows made by `rows_of` as a table of results."""
    return pd.DataFrame(rows, columns=COLUMNS)


def withheld(results, fewest):
    """Counts of 1 to `fewest` - 1 people keep no value, only the bounds 1 and `fewest` - 1: they are persons."""
    if fewest < 2:
        raise ValueError(f"fewest must be 2 or more, got {fewest}: a count of one is a person.")
    few = results.measure.str.startswith(PEOPLE) & results.value.between(0, fewest, inclusive="neither")
    results.loc[few, ["value", "low", "high"]] = [np.nan, 1, fewest - 1]
    guessed = results.measure.str.startswith(PEOPLE) & results.baseline.between(0, fewest, inclusive="neither")
    return results.assign(baseline=results.baseline.mask(guessed))


def people_interval(people, of):
    """Wilson's 95 % interval of a share, as people."""
    low, high = wilson(int(people), of)
    return low * of, high * of
