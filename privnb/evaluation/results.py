"""Tidy results: one row per number, with the columns `COLUMNS`. What a number is stands in columns, never in a name.

| column | what it says |
|---|---|
| `dataset`, `seed` | whose table; which repeat, empty where nothing was drawn |
| `sanitizer`, `parameters` | what made the release; the parameters as text to print |
| `parameter`, `bound` | the main parameter's letter, such as "k" or "epsilon", and its number |
| `randomized` | whether the release is drawn by lot, so that another seed gives another one |
| `measure`, `variant` | what was measured; how, where there are several ways: "distinct", "weighted", "at most", ... |
| `scenario` | what the owner fears: "A", "B", "C", "W" |
| `knows` | what the adversary or user is assumed to know, where that varies |
| `control` | which control it is: "ZeroR", "permuted", "held-out", "random labels"; of a choice, what is taken off |
| `miner_set`, `miner` | "" the main set, or its name; a miner, or one of `SUMMARIES` |
| `target`, `group` | which attribute is guessed or counted; of which people or of which value alone |
| `value`, `low`, `high` | the number, and a 95% interval where it could have come out otherwise |
| `baseline`, `better` | what is reached without the release; "higher", "lower", or "" of what is no score |
| `of` | of how many people a utility is, or the sum of their weights; empty of other numbers |
| `status` | "" measured, "withheld", since it counts too few people, or why there is none: one of `REASONS` |
| `reason` | of what was refused or is not possible a sentence for people: what cannot be, and what to do instead |
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.measures.base import facts, room
from privnb.measures.intervals import of_classes, t_interval, wilson
from privnb.microdata import withholding
from privnb.microdata.withholding import LIMIT, Counted, MinCount, Number
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.sanitizers import catalogue
from privnb.sanitizers.base import Sanitizer

# What a number is of; with dataset, setting and seed the key of a row.
QUESTION = ["measure", "variant", "scenario", "knows", "control", "miner_set", "miner", "target", "group"]
SETTING = ["sanitizer", "parameters"]
KEY = ["dataset", *SETTING, "seed", *QUESTION]
NUMBERS = ["value", "low", "high", "baseline", "of"]
MADE = ["dataset", *SETTING, "parameter", "bound", "randomized", "seed"]
COLUMNS = [*MADE, *QUESTION, *NUMBERS, "better", "status", "reason"]
TEXTS = [column for column in COLUMNS if column not in ("bound", "randomized", "seed", *NUMBERS)]

# Why a number was not measured: a miner takes no such data, ran out of time, or is not there; no such release exists.
REASONS = ("refused", "unfinished", "unavailable", "not possible")
STATUSES = ("", "withheld", *REASONS)
# Miners that are several: their numbers are a set's.
SUMMARIES = ("worst", "average", "worst by person", "fusion: vote", "fusion: stacked")
LETTERS = ("k", "l", "t", "delta", "epsilon")
KIND_OF_L = re.compile(r"(?:partition=\w+ )?(\w+) l=")  # in the parameters of a setting


INSTEAD = {"results": "Try its `.results`.", "decide": "To decide on a table, try `table.decide(policy)`."}


def check_results(name: str, value: pd.DataFrame, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Raise TypeError unless `value` is a table, and ValueError unless it has these of the columns of results."""
    hint = next((hint for has, hint in INSTEAD.items() if hasattr(value, has)), "")
    return expect.table(
        name, value, columns, hint or "It must be tidy results, as the functions of `evaluation` give them."
    )


Row = dict[str, Any]  # as `row` makes it
Results = Annotated[pd.DataFrame, check_results]
room(__package__)


def join(*results: pd.DataFrame) -> pd.DataFrame:
    """Several tables of results as one."""
    if not expect.all_of("results", results, pd.DataFrame):
        raise UsageError("there are no results to join. Give one table or more.")
    return pd.concat(results, ignore_index=True)


def collect(parts: Sequence[Any]) -> pd.DataFrame:
    """Lists of rows made by `row`, and tables of results, as one table in their order.

    Lists that follow each other become one table at once: to make a table takes longer than its rows do.
    """
    found: list[pd.DataFrame] = []
    for lists, group in groupby(parts, lambda part: isinstance(part, list)):
        some = list(group)
        found += [tidy(chain.from_iterable(some))] if lists else some
    return join(*found) if found else tidy([])


def row(
    measure: str, value: Number, *, dataset: str, sanitizer: str, parameters: str = "", parameter: str = "",
    bound: float = np.nan, randomized: bool = False, seed: Any = 1, variant: str = "", scenario: str = "",
    knows: str = "", control: str = "", miner_set: str = "", miner: str = "", target: str = "", group: str = "",
    interval: Sequence[float] = (np.nan, np.nan), baseline: Number = np.nan, of: float = np.nan, better: str = "",
    status: str = "", reason: str = "", fewest: int = LIMIT,
) -> Row:  # fmt: skip
    """One row of results, by name; without `better` the direction that the measure's facts state.

    `dataset`, `sanitizer`: texts, see `row_builder`. `interval`: `low` and `high`. A `value` or `baseline` that says
    which people it counts or reveals, a `withholding.Counted` or `Revealing`, is withheld here if `fewest` are more.
    """
    shown, low, high = withholding.shown(value, fewest, interval)
    base = withholding.shown(baseline, fewest)[0]
    return {
        "dataset": dataset, "sanitizer": sanitizer, "parameters": parameters, "parameter": parameter,
        "bound": float(bound), "randomized": bool(randomized), "seed": seed,
        "measure": measure, "variant": variant, "scenario": scenario, "knows": knows, "control": control,
        "miner_set": miner_set, "miner": miner, "target": target, "group": group,
        "value": float(shown), "low": float(low), "high": float(high), "baseline": float(base),
        "of": float(of),
        "better": better or facts(measure).better, "status": status, "reason": reason,
    }  # fmt: skip


def row_builder(dataset: Dataset, sanitizer: Sanitizer, seed: int | str, fewest: int = LIMIT) -> Callable[..., Any]:
    """A function that makes one row of a release's results: `row(measure, value, **columns)`."""
    return partial(row, dataset=dataset.name, seed=seed, fewest=fewest, **setting(sanitizer))


def setting(sanitizer: Sanitizer) -> Row:
    """How results name a sanitizer: `sanitizer`, `parameters`, `parameter`, `bound` and `randomized`.

    >>> from privnb.sanitizers import KMember
    >>> setting(KMember(10))
    {'sanitizer': 'KMember', 'parameters': 'k=10', 'parameter': 'k', 'bound': 10, 'randomized': False}
    """
    letter, bound = main_parameter(sanitizer)
    name, parameters = type(sanitizer).__name__, sanitizer.changed_params()
    return {
        "sanitizer": name, "parameters": parameters, "parameter": letter, "bound": bound,
        "randomized": sanitizer.randomized,
    }  # fmt: skip


def setting_name(row: Any) -> str:
    """Return what a person calls the release of a row: its sanitizer and main parameter, or all parameters if none is
    the main one. The name of an l says which diversity it is.

    >>> setting_name(pd.Series(setting(catalogue.kinds()["KMember"](10, start=3))))
    'k-member clustering, k = 10'
    >>> model = catalogue.MODELS["l"](2, "job")
    >>> setting_name(pd.Series(setting(catalogue.kinds()["Mondrian"](model))))
    'Mondrian, frequency l = 2'
    """
    if not row.parameter:
        return full_name(row)
    name, kind = catalogue.label(row.sanitizer, {row.parameter: row.bound}), KIND_OF_L.match(row.parameters)
    return name.replace(", l = ", f", {kind[1]} l = ") if kind and row.parameter == "l" else name


def full_name(row: Any) -> str:
    """What a person calls the release of a row, with all its parameters."""
    return catalogue.label(row.sanitizer, more=row.parameters)


def setting_names(rows: pd.DataFrame) -> list[str]:
    """What a person calls the release of each row: with all its parameters where the main one is that of another."""
    own = {(row.sanitizer, row.parameters): row for row in rows[[*SETTING, "parameter", "bound"]].itertuples()}
    short = {key: setting_name(row) for key, row in own.items()}
    many = Counter(short.values())
    names = {key: name if many[name] == 1 else full_name(own[key]) for key, name in short.items()}
    return [names[key] for key in zip(*(rows[column] for column in SETTING), strict=True)]


def main_parameter(sanitizer: Sanitizer) -> tuple[Any, ...]:
    """The letter and number of a sanitizer's main parameter; of several models the first one's; ("", NaN) without."""
    made = getattr(sanitizer, "partition", sanitizer)  # buckets keep the bound of their partition
    for part in (made, *getattr(made, "models", ())):
        for letter in LETTERS:
            if expect.is_number(bound := getattr(part, letter, None)):
                return letter, bound
    return "", np.nan


def tidy(rows: Iterable[Row]) -> pd.DataFrame:
    """Rows made by `row` as a table of results."""
    rows = list(rows)
    if not rows:  # else its texts would be numbers
        return pd.DataFrame(columns=COLUMNS).astype(dict.fromkeys(["bound", *NUMBERS], float))
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in COLUMNS}
    columns |= {name: np.array(columns[name], dtype=float) for name in ("bound", *NUMBERS)}
    pairs = zip(columns["status"], np.isnan(columns["value"]), strict=True)
    columns["status"] = ["withheld" if bare and status == "" else status for status, bare in pairs]
    return pd.DataFrame(columns, columns=COLUMNS)


@validated
def identified(results: Results) -> list[str]:
    """Return the id of each row: eight hexadecimal digits that depend on what the number is of (`KEY`), and not on its
    value. Pages, cards and `results.csv` name a row by it.

    >>> identified(tidy([row("accuracy_gain", 0.2, dataset="adult", sanitizer="Suppress")]))
    ['06719647']
    """
    keys = zip(*(results[column].map(str) for column in KEY), strict=True)
    return [hashlib.sha256("\x1f".join(key).encode()).hexdigest()[:8] for key in keys]


@validated
def whose(results: Results) -> str:
    """Which table, by which study, and which sensitive attribute the results are of: under another one the same release
    has other numbers.

    >>> whose(tidy([row("accuracy_gain", 0.2, dataset="adult/li-li", sanitizer="Suppress", target="occupation")]))
    'adult/li-li, sensitive occupation'
    """
    secret = results.target[results.measure.isin(["accuracy_gain", "privacy_loss", "utility_loss"])]
    said = [*results.dataset.head(1), *(f"sensitive {name}" for name in secret.head(1))]
    return ", ".join(said)


def mark_withheld(results: pd.DataFrame) -> pd.DataFrame:
    """The results; whatever has no value, and no reason why, was withheld."""
    bare = results.value.isna() & (results.status == "")
    return results.assign(status=results.status.mask(bare, "withheld")) if bare.any() else results


def measured(results: pd.DataFrame) -> pd.DataFrame:
    """The rows of what was measured, withheld or not: without those that say why there is no number."""
    return results[~results.status.isin(REASONS)]


def of_one_miner(results: pd.DataFrame) -> pd.Series:
    """Which rows are a single miner's own: boolean Series."""
    return ~results.miner.isin(("", *SUMMARIES)) & (results.control == "")


@validated
def summary(results: Results, miner_set: str = "", *, averages: bool = True) -> pd.DataFrame:
    """The worst case over miners, and their average, of each sanitizer, seed, measure and target.

    A worst case whose value is withheld keeps its bounds; an average that would tell a withheld number has no value,
    but the bounds that follow from those that are shown. Where a withheld number has no bounds, it may be the worst,
    and nothing is shown.

    Parameters
    ----------
    results : DataFrame
        Tidy results of all the miners of one set, and of no other, where the worst is the highest.
    miner_set : str
        The name that rows give the set; empty for the main one.
    averages : bool
        Whether averages are given too.

    Returns
    -------
    DataFrame
        Rows of miner `worst` and `average`, of that `miner_set`.
    """
    expect.kind("miner_set", miner_set, str)
    expect.kind("averages", averages, bool)
    rows, case = [], [column for column in KEY if column not in ("miner_set", "miner")]
    for _, part in measured(results).groupby(case, sort=False, dropna=False):
        worst = part.loc[part.value.fillna(part.high).fillna(np.inf).idxmax()]
        rows.append({**worst, "miner_set": miner_set, "miner": "worst"})
        if averages:
            average = {"value": part.value.mean(skipna=False), "low": np.nan, "high": np.nan, "status": ""}
            if part.value.isna().any():
                average |= {bound: part.value.fillna(part[bound]).mean(skipna=False) for bound in ("low", "high")}
            rows.append({**worst, "miner_set": miner_set, "miner": "average", **average})
    return tidy(rows)


def places_alike(results: pd.DataFrame, columns: Sequence[str]) -> list[IntArray]:
    """The positions of the rows that are alike in `columns`: a list of integer arrays, in the order of their first."""
    number = results.groupby(columns, sort=False, dropna=False).ngroup().to_numpy()
    return np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1]) if len(number) else []


@validated
def over_seeds(results: Results) -> pd.DataFrame:
    """One row instead of several seeds: their mean, and the 95% interval of that mean over repeats (other noise, order
    and folds).

    A row that has one seed only keeps its own interval, which is about people. A mean of a withheld value has none,
    but the widest bounds.
    """
    results = measured(results)
    keys = [column for column in COLUMNS if column not in ("seed", *NUMBERS, "status")]
    parts = places_alike(results, keys)
    together = results.iloc[[part[0] for part in parts]][COLUMNS].reset_index(drop=True)
    again = [place for place, part in enumerate(parts) if len(part) > 1]
    if not again:
        return together
    columns = {name: results[name].to_numpy() for name in ("measure", *NUMBERS)}
    means = [_mean({name: column[parts[place]] for name, column in columns.items()}) for place in again]
    rows = together.iloc[again].to_dict("records")
    means = tidy(row | mean for row, mean in zip(rows, means, strict=True)).set_axis(again)
    return pd.concat([together.drop(again), means]).sort_index()


def _mean(part: Mapping[str, Array | FloatArray]) -> dict[str, Any]:
    values, measure = part["value"], facts(part["measure"][0])
    positive = measure.counts_people or measure.bounds[0] >= 0
    most = min(measure.bounds[1], np.nan_to_num(part["of"][0], nan=np.inf))
    bounds = np.fmin.reduce(part["low"]), np.fmax.reduce(part["high"])
    low, high = bounds if np.isnan(values).any() else t_interval(values.tolist())
    return {
        "seed": np.nan,
        "value": values.mean(),
        # No count or share is below 0 or above all, which Student's t does not know; a difference may be below 0.
        "low": max(low, 0) if positive and np.fmin.reduce(values) >= 0 else low,
        "high": min(high, most) if np.fmax.reduce(values) <= most else high,
        "baseline": part["baseline"].mean(),
        "of": part["of"][0],
        "status": "",
    }


@validated
def as_shares(results: Results) -> pd.DataFrame:
    """The results, with numbers that have an `of` as shares of it: tidy results."""
    numbers = [name for name in NUMBERS if name != "of"]
    return results.assign(**results[numbers].div(results.of.fillna(1), axis=0))


def _check_people(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number of people, or infinite."""
    if not (isinstance(value, float) and value == np.inf):
        expect.whole(name, value, 1)


@validated
def withheld(results: Results, fewest: MinCount, of: Annotated[float, _check_people] = np.inf) -> pd.DataFrame:
    """Counts of 1 to `fewest` - 1 people, and of all but so few of `of`, keep no value but only bounds: they are
    persons. A baseline that is one keeps nothing.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    fewest : int
        Counts below are withheld.
    of : int, or infinite
        How many people could be counted; infinite: not known.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    counts, results = counts_people(results).to_numpy(), results.copy()
    hidden, base = (
        counts & withholding.tells(results[of_it].to_numpy(), of, fewest) for of_it in ("value", "baseline")
    )
    for place, value in results.value[hidden].items():
        results.loc[place, ["value", "low", "high"]] = withholding.counted(value, of, fewest)
    if base.any():
        results["baseline"] = results.baseline.mask(base)
    return mark_withheld(results)


def counts_people(results: pd.DataFrame) -> pd.Series:
    """Which rows count people: boolean Series."""
    people = [measure for measure in dict.fromkeys(results.measure) if facts(measure).counts_people]
    return results.measure.isin(people) & (results.variant != "weighted")


def bounded(low: Any, high: Any) -> str:
    """What is said of a count that is withheld with these bounds: of few people, or of all but few.

    >>> bounded(1, 9), bounded(391, 399)
    ('fewer than 10', 'more than 390')
    """
    return f"more than {low - 1:,.0f}" if low > 1 else f"fewer than {high + 1:,.0f}"


def guessed(people: float, of: int) -> Counted:
    """A share of `of` people with Wilson's 95% interval.

    The interval is that of other people, each drawn at random and guessed by what was learned before; of people who are
    right or wrong together `share_in_classes` gives a wider one.

    >>> guessed(3, 40).shown(10)
    (nan, 0.025, 0.225)
    """
    return withholding.Counted(people, of, wilson(int(people), of))


def share_in_classes(who: BoolArray, classes: IntArray | None) -> Counted:
    """Return the share of people `who`, boolean array (m,), with the 95% interval of a sample of classes.

    >>> share_in_classes(np.arange(40) < 20, np.arange(40) // 10).shown(10)[0]
    0.5
    """
    found = guessed(int(who.sum()), len(who))
    return found if classes is None else found._replace(interval=of_classes(who, classes))


def people_interval(people: float, of: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share, as people."""
    low, high = wilson(int(people), of)
    return low * of, high * of
