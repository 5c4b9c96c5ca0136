"""Tidy results: one row a number, with the columns `COLUMNS`.

`low` and `high` bound a 95 % interval where a number could have come out otherwise; `baseline` is what is reached
without the release; `better` says which direction is. A number without a value was withheld, because it counts too few
people.
"""

import numpy as np
import pandas as pd

from privnb.measures.base import facts, t_interval, wilson
from privnb.microdata import expect, withholding

COLUMNS = [
    "dataset", "sanitizer", "parameters", "seed", "measure", "miner", "target",
    "value", "low", "high", "baseline", "better",
]  # fmt: skip

NUMBERS = ["value", "low", "high", "baseline"]

CASE = ["dataset", "sanitizer", "parameters", "measure", "target"]  # what miners and seeds are compared in


def check_results(name, value, columns=COLUMNS):
    """Raise TypeError unless `value` is a table, and ValueError unless it has these of the columns of results."""
    return expect.table(name, value, columns, "It must be tidy results, as the functions of `evaluation` give them.")


expect.WORDS["results"] = check_results

DIFFERENCES = ("_gain", "_decline")  # measures that may be below 0 end with one of these
PEOPLE = ("anti_utility", "good_utility", "suppressed_records")  # measures that count people start with one of these


def join(*results):
    """Several tables of results as one."""
    if not expect.all_of("results", results, pd.DataFrame):
        raise ValueError("there are no results to join. Give one table or more.")
    return pd.concat(results, ignore_index=True)


def rows_of(dataset, sanitizer, seed):
    """A function that makes one row of results: `row(measure, value, miner, target, low, high, baseline, better)`."""

    def row(measure, value, miner="", target="", low=np.nan, high=np.nan, baseline=np.nan, better=""):
        return (
            dataset.name, type(sanitizer).__name__, sanitizer.changed_params(), seed, measure, miner, target,
            float(value), float(low), float(high), float(baseline), better or facts(measure).better,
        )  # fmt: skip

    return row


def tidy(rows):
    """Rows made by `rows_of` as a table of results."""
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))


def summary(results, prefix="", *, averages=True):
    """The worst case over miners, and their average, of each sanitizer, seed, measure and target: rows of miner
    `worst` and `average`, with `prefix` before.

    `results`: rows of all the miners of one set, and of no other, where the worst is the highest. A worst case whose
    value is withheld keeps its bounds; an average that would tell a withheld number has no value, but the bounds that
    follow from those told. Where a withheld number has no bounds, it may be the worst, and nothing is told.
    """
    expect.these(results=results, prefix=prefix)
    expect.kind("averages", averages, bool)
    rows = []
    for _, part in results.groupby([*CASE, "seed"], sort=False, dropna=False):
        worst = part.loc[part.value.fillna(part.high).fillna(np.inf).idxmax()]
        rows.append({**worst, "miner": f"{prefix}worst"})
        if averages:
            average = {"value": part.value.mean(skipna=False), "low": np.nan, "high": np.nan}
            if part.value.isna().any():
                average |= {bound: part.value.fillna(part[bound]).mean(skipna=False) for bound in ("low", "high")}
            rows.append({**worst, "miner": f"{prefix}average", **average})
    return pd.DataFrame(rows, columns=COLUMNS)


def set_of(results):
    """The set of miners that each row of a single miner belongs to, by name: "" is the main one. Series of text.

    A set's miners stand before its worst case, which names the set. A miner of two sets stands in the first alone.

    >>> set_of(pd.DataFrame({"miner": ["naive Bayes", "worst", "tuned forest", "modern worst"]})).tolist()
    ['', '', 'modern', 'modern']
    """
    check_results("results", results, ["miner"])
    worst = results.miner.where(results.miner.str.endswith("worst"))
    return worst.str.removesuffix("worst").str.strip().bfill().fillna("")


def bound(results):
    """The number that the main parameter of each row asks for, such as k or epsilon; missing where it is none.

    >>> bound(pd.DataFrame({"parameters": ["k=10, start=3", "epsilon=0.5", "what=age", ""]})).tolist()
    [10.0, 0.5, nan, nan]
    """
    check_results("results", results, ["parameters"])
    return results.parameters.str.extract(r"^\w+=([0-9][0-9.e+-]*)")[0].astype(float)


def over_seeds(results):
    """One row instead of several seeds: their mean, and the 95 % interval of that mean over repeats (other noise, order
    and folds).

    A row that has one seed only keeps its own interval, which is about people. A mean of a withheld value has none,
    but the widest bounds.
    """
    expect.these(results=results)
    keys = [*CASE, "miner", "better"]
    repeated = results.duplicated(keys, keep=False)
    means = [
        dict(zip(keys, key, strict=True)) | _mean(part)
        for key, part in results[repeated].groupby(keys, sort=False, dropna=False)
    ]
    order = results.drop_duplicates(keys)[keys]
    together = pd.concat([results[~repeated], pd.DataFrame(means, columns=COLUMNS)]) if means else results
    return order.merge(together, on=keys, how="left", validate="one_to_one")[COLUMNS]


def _mean(part):
    value = part.value.mean(skipna=False)
    low, high = t_interval(part.value.tolist()) if part.value.notna().all() else (part.low.min(), part.high.max())
    return {
        "seed": np.nan,
        "value": value,
        # No count or share is below 0, and Student's t does not know it; what is a difference may be.
        "low": max(low, 0) if part.value.min() >= 0 and not part.measure.iloc[0].endswith(DIFFERENCES) else low,
        "high": high,
        "baseline": part.baseline.mean(skipna=False),
    }


def withheld(results, fewest, of=np.inf):
    """Counts of 1 to `fewest` - 1 people, and of all but so few of `of`, keep no value but only bounds: they are
    persons. A baseline that is one keeps nothing.
    """
    expect.these(results=results, fewest=fewest)
    if not (isinstance(of, float) and of == np.inf):
        expect.whole("of", of, 1)
    counts, results = results.measure.str.startswith(PEOPLE), results.copy()
    for place, value in results.value[counts & withholding.tells(results.value, of, fewest)].items():
        results.loc[place, ["value", "low", "high"]] = withholding.counted(value, of, fewest)
    return results.assign(baseline=results.baseline.mask(counts & withholding.tells(results.baseline, of, fewest)))


def bounded(low, high):
    """What is said of a count that is withheld with these bounds: of few people, or of all but few.

    >>> bounded(1, 9), bounded(391, 399)
    ('fewer than 10', 'more than 390')
    """
    return f"more than {low - 1:.0f}" if low > 1 else f"fewer than {high + 1:.0f}"


def people_interval(people, of):
    """Wilson's 95 % interval of a share, as people."""
    low, high = wilson(int(people), of)
    return low * of, high * of
