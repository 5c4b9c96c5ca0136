"""Tidy results: one row per number, with the columns `COLUMNS`, which describe the number.

| column | meaning |
|---|---|
| `dataset` | The dataset and the study. |
| `sanitizer` | The class of the sanitizer that made the release. |
| `parameters` | The parameters of the sanitizer, as text. |
| `parameter` | The letter of the main parameter, such as "k" or "epsilon". |
| `bound` | The value of the main parameter. |
| `randomized` | Whether other seeds give other releases of the same records in their order, if no record is missing. |
| `seed` | The seed; empty if nothing was drawn. |
| `measure` | The name of the measure. |
| `variant` | The variant of the measure, such as "distinct", "weighted" or "at most"; else empty. |
| `scenario` | The scenario of the owner: "A", "B", "C" or "W"; else empty. |
| `knows` | The attributes that the adversary or the user is assumed to know, if these vary. |
| `control` | The control, such as "ZeroR", "permuted", "held-out" or "random labels"; empty for the measured release. |
| `miner_set` | The set of miners; empty for the main set. |
| `miner` | The miner, or "worst", "average", "worst by person", "fusion: vote" or "fusion: stacked" for several. |
| `target` | The attribute that is guessed or counted. |
| `group` | The group of people, or the value, that the number is about; empty for everybody. |
| `value` | The number. |
| `low` | The lower end of the 95% interval of the value; empty if the number cannot vary. |
| `high` | The upper end of the 95% interval of the value; empty if the number cannot vary. |
| `baseline` | The same number without the release. |
| `of` | The number of people that a utility is about, or the sum of their weights; empty for other numbers. |
| `better` | The direction that the data owner prefers, "higher" or "lower"; empty for a number that only describes. |
| `status` | Empty if measured; else "withheld", "refused", "unfinished", "unavailable" or "not possible". |
| `reason` | A sentence that states why there is no number, and what to do instead. |
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
from privnb.measures.base import measure_facts, register_package
from privnb.measures.intervals import class_interval, t_interval, wilson
from privnb.microdata import withholding
from privnb.microdata.withholding import LIMIT, MinCount, Number, ReportedCount
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.sanitizers import catalogue
from privnb.sanitizers.base import Sanitizer

# The columns that identify a number; with dataset, setting and seed, they are the key of a row.
QUESTION_COLUMNS = ["measure", "variant", "scenario", "knows", "control", "miner_set", "miner", "target", "group"]
SETTING_COLUMNS = ["sanitizer", "parameters"]
KEY_COLUMNS = ["dataset", *SETTING_COLUMNS, "seed", *QUESTION_COLUMNS]
NUMBER_COLUMNS = ["value", "low", "high", "baseline", "of"]
RELEASE_COLUMNS = ["dataset", *SETTING_COLUMNS, "parameter", "bound", "randomized", "seed"]
COLUMNS = [*RELEASE_COLUMNS, *QUESTION_COLUMNS, *NUMBER_COLUMNS, "better", "status", "reason"]
TEXT_COLUMNS = [column for column in COLUMNS if column not in ("bound", "randomized", "seed", *NUMBER_COLUMNS)]

# Why a number was not measured: a miner cannot read the data, ran out of time or is missing; no such release exists.
REASONS = ("refused", "unfinished", "unavailable", "not possible")
STATUSES = ("", "withheld", *REASONS)
# Names of several miners, whose numbers belong to the set.
SUMMARIES = ("worst", "average", "worst by person", "fusion: vote", "fusion: stacked")
PARAMETER_LETTERS = ("k", "l", "t", "delta", "epsilon")
DIVERSITY_KIND = re.compile(r"(?:partition=\w+ )?(\w+) l=")  # in the parameters of a setting


INSTEAD = {"results": "Try its `.results`.", "decide": "To decide on a table, try `table.decide(policy)`."}


def check_results(name: str, value: pd.DataFrame, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Raise TypeError unless `value` is a table, and ValueError unless it has the required columns of results."""
    hint = next((hint for has, hint in INSTEAD.items() if hasattr(value, has)), "")
    return expect.table(
        name, value, columns, hint or "Give tidy results, as the functions of `evaluation` return them."
    )


Row = dict[str, Any]  # as `build_row` makes it
Results = Annotated[pd.DataFrame, check_results]
register_package(__package__)


def join_results(*results: pd.DataFrame) -> pd.DataFrame:
    """Join several tables of results."""
    if not expect.all_of("results", results, pd.DataFrame):
        raise UsageError("there are no results to join. Give at least one table of results.")
    return pd.concat(results, ignore_index=True)


def collect_rows(parts: Sequence[Any]) -> pd.DataFrame:
    """Join lists of rows and tables of results, in their order.

    Consecutive lists of rows become one table together, because building a table takes longer than building its rows.
    """
    found: list[pd.DataFrame] = []
    for lists, group in groupby(parts, lambda part: isinstance(part, list)):
        some = list(group)
        found += [tidy(chain.from_iterable(some))] if lists else some
    return join_results(*found) if found else tidy([])


def build_row(
    measure: str, value: Number, *, dataset: str, sanitizer: str, parameters: str = "", parameter: str = "",
    bound: float = np.nan, randomized: bool = False, seed: Any = 1, variant: str = "", scenario: str = "",
    knows: str = "", control: str = "", miner_set: str = "", miner: str = "", target: str = "", group: str = "",
    interval: Sequence[float] = (np.nan, np.nan), baseline: Number = np.nan, of: float = np.nan, better: str = "",
    status: str = "", reason: str = "", min_count: int = LIMIT,
) -> Row:  # fmt: skip
    """Build one row of results; without `better`, the row takes the direction of the measure.

    `dataset` and `sanitizer` are texts, see `make_row_builder`. `interval` is (`low`, `high`). A `value` or `baseline`
    may be a `withholding.ReportedCount` or `Revealing`, which holds the number of people whom the value counts or would
    reveal. The function withholds the value if it would reveal a count of fewer than `min_count` people.
    """
    shown, low, high = withholding.withhold_number(value, min_count, interval)
    base = withholding.withhold_number(baseline, min_count)[0]
    return {
        "dataset": dataset, "sanitizer": sanitizer, "parameters": parameters, "parameter": parameter,
        "bound": float(bound), "randomized": bool(randomized), "seed": seed,
        "measure": measure, "variant": variant, "scenario": scenario, "knows": knows, "control": control,
        "miner_set": miner_set, "miner": miner, "target": target, "group": group,
        "value": float(shown), "low": float(low), "high": float(high), "baseline": float(base),
        "of": float(of),
        "better": better or measure_facts(measure).better, "status": status, "reason": reason,
    }  # fmt: skip


def make_row_builder(
    dataset: Dataset, sanitizer: Sanitizer, seed: int | str, min_count: int = LIMIT
) -> Callable[..., Any]:
    """Return a function `build_row(measure, value, **columns)` that builds one row of a release's results."""
    return partial(build_row, dataset=dataset.name, seed=seed, min_count=min_count, **describe_setting(sanitizer))


def describe_setting(sanitizer: Sanitizer) -> Row:
    """Return the columns of results that identify a sanitizer and its parameters.

    Examples
    --------
    >>> from privnb.sanitizers import KMember
    >>> describe_setting(KMember(10))
    {'sanitizer': 'KMember', 'parameters': 'k=10', 'parameter': 'k', 'bound': 10, 'randomized': False}
    """
    letter, bound = find_main_parameter(sanitizer)
    name, parameters = type(sanitizer).__name__, sanitizer.changed_params()
    return {
        "sanitizer": name, "parameters": parameters, "parameter": letter, "bound": bound,
        "randomized": sanitizer.randomized,
    }  # fmt: skip


def name_setting(row: Any) -> str:
    """Return a readable name of a row's release: its sanitizer and main parameter.

    If the sanitizer has no main parameter, the name has all parameters. If the main parameter is l, the name includes
    the kind of diversity.

    Examples
    --------
    >>> name_setting(pd.Series(describe_setting(catalogue.kinds()["KMember"](10, start=3))))
    'k-member clustering, k = 10'
    >>> model = catalogue.MODEL_BY_LETTER["l"](2, "job")
    >>> name_setting(pd.Series(describe_setting(catalogue.kinds()["Mondrian"](model))))
    'Mondrian, frequency l = 2'
    """
    if not row.parameter:
        return name_full_setting(row)
    name, kind = (
        catalogue.sanitizer_label(row.sanitizer, {row.parameter: row.bound}),
        DIVERSITY_KIND.match(row.parameters),
    )
    return name.replace(", l = ", f", {kind[1]} l = ") if kind and row.parameter == "l" else name


def name_full_setting(row: Any) -> str:
    """Return a readable name of a row's release, with all parameters of the sanitizer."""
    return catalogue.sanitizer_label(row.sanitizer, more=row.parameters)


def name_settings(rows: pd.DataFrame) -> list[str]:
    """Return a readable name of each row's release, with all parameters if the short name is not unique."""
    own = {(row.sanitizer, row.parameters): row for row in rows[[*SETTING_COLUMNS, "parameter", "bound"]].itertuples()}
    short = {key: name_setting(row) for key, row in own.items()}
    many = Counter(short.values())
    names = {key: name if many[name] == 1 else name_full_setting(own[key]) for key, name in short.items()}
    return [names[key] for key in zip(*(rows[column] for column in SETTING_COLUMNS), strict=True)]


def find_main_parameter(sanitizer: Sanitizer) -> tuple[Any, ...]:
    """Return the letter and the number of a sanitizer's main parameter; ("", NaN) if there is no main parameter."""
    made = getattr(sanitizer, "partition", sanitizer)  # buckets keep the bound of their partition
    for part in (made, *getattr(made, "models", ())):
        for letter in PARAMETER_LETTERS:
            if expect.is_number(bound := getattr(part, letter, None)):
                return letter, bound
    return "", np.nan


def tidy(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows built by `build_row` as a table of results."""
    rows = list(rows)
    if not rows:  # otherwise text columns would be numeric
        return pd.DataFrame(columns=COLUMNS).astype(dict.fromkeys(["bound", *NUMBER_COLUMNS], float))
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in COLUMNS}
    columns |= {name: np.array(columns[name], dtype=float) for name in ("bound", *NUMBER_COLUMNS)}
    pairs = zip(columns["status"], np.isnan(columns["value"]), strict=True)
    columns["status"] = ["withheld" if bare and status == "" else status for status, bare in pairs]
    return pd.DataFrame(columns, columns=COLUMNS)


@validated
def compute_row_ids(results: Results) -> list[str]:
    """Return the id of each row, by which pages, cards and `results.csv` refer to the row.

    An id consists of eight hexadecimal digits, which depend on the columns `KEY_COLUMNS` and not on the value.

    Examples
    --------
    >>> compute_row_ids(tidy([build_row("accuracy_gain", 0.2, dataset="adult", sanitizer="Suppress")]))
    ['6b582b57']
    """
    return _digest_columns(results, KEY_COLUMNS)


@validated
def compute_mean_ids(results: Results) -> list[str]:
    """Return an id of each row that does not depend on the seed: rows that differ only in their seed have the same id.

    Examples
    --------
    >>> rows = [build_row("accuracy_gain", 0.2, dataset="adult", sanitizer="Suppress", seed=seed) for seed in (1, 2)]
    >>> compute_mean_ids(tidy(rows))
    ['6c7fd61d', '6c7fd61d']
    """
    return _digest_columns(results, [column for column in KEY_COLUMNS if column != "seed"])


@validated
def compute_release_ids(rows: Annotated[pd.DataFrame, partial(check_results, columns=SETTING_COLUMNS)]) -> list[str]:
    """Return the id of each row's release; the id depends on the columns `SETTING_COLUMNS`."""
    return _digest_columns(rows, SETTING_COLUMNS)


def _digest_columns(rows: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    # Seeds are whole numbers in memory and floats when they are read from a file.
    texts = (pd.to_numeric(rows[name]).astype(float) if name == "seed" else rows[name] for name in columns)
    keys = zip(*(map(str, column.tolist()) for column in texts), strict=True)  # faster than `map` of a column
    return [hashlib.sha256("\x1f".join(key).encode()).hexdigest()[:8] for key in keys]


@validated
def describe_source(results: Results) -> str:
    """Return a text with the dataset, study and sensitive attribute, on which the numbers of all releases depend.

    Examples
    --------
    >>> gain = build_row("accuracy_gain", 0.2, dataset="adult/li-li", sanitizer="Suppress", target="occupation")
    >>> describe_source(tidy([gain]))
    'adult/li-li, sensitive occupation'
    """
    secret = results.target[results.measure.isin(["accuracy_gain", "privacy_loss", "utility_loss"])]
    said = [*results.dataset.head(1), *(f"sensitive {name}" for name in secret.head(1))]
    return ", ".join(said)


def mark_withheld(results: pd.DataFrame) -> pd.DataFrame:
    """Set the status of rows that have neither a value nor a status to "withheld"."""
    bare = results.value.isna() & (results.status == "")
    return results.assign(status=results.status.mask(bare, "withheld")) if bare.any() else results


def select_measured(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose number was measured, even if it is withheld; leave out rows with another status."""
    return results[~results.status.isin(REASONS)]


def is_single_miner(results: pd.DataFrame) -> pd.Series:
    """Return, as a boolean Series, whether each row belongs to a single miner."""
    return ~results.miner.isin(("", *SUMMARIES)) & (results.control == "")


@validated
def summarize_miners(results: Results, miner_set: str = "", *, averages: bool = True) -> pd.DataFrame:
    """Return the worst value over miners and the average over miners, for each sanitizer, seed, measure and target.

    A withheld worst value keeps its bounds. An average that would reveal a withheld number has bounds instead of a
    value. If a withheld number without bounds may be the worst, neither the worst value nor the average is shown.

    Parameters
    ----------
    results : DataFrame
        Tidy results of the miners of one set, in which the highest value is the worst.
    miner_set : str
        The name of the set in the rows; empty for the main set.
    averages : bool
        Whether to also return averages.

    Returns
    -------
    DataFrame
        Rows of the miners `worst` and `average`, with `miner_set` in the column `miner_set`.
    """
    expect.kind("miner_set", miner_set, str)
    expect.kind("averages", averages, bool)
    rows, case = [], [column for column in KEY_COLUMNS if column not in ("miner_set", "miner")]
    for _, part in select_measured(results).groupby(case, sort=False, dropna=False):
        worst = part.loc[part.value.fillna(part.high).fillna(np.inf).idxmax()]
        rows.append({**worst, "miner_set": miner_set, "miner": "worst"})
        if averages:
            average = {"value": part.value.mean(skipna=False), "low": np.nan, "high": np.nan, "status": ""}
            if part.value.isna().any():
                average |= {bound: part.value.fillna(part[bound]).mean(skipna=False) for bound in ("low", "high")}
            rows.append({**worst, "miner_set": miner_set, "miner": "average", **average})
    return tidy(rows)


def group_positions(results: pd.DataFrame, columns: Sequence[str]) -> list[IntArray]:
    """Return the positions of each group of rows with equal `columns`, as integer arrays by first appearance."""
    number = results.groupby(columns, sort=False, dropna=False).ngroup().to_numpy()
    return np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1]) if len(number) else []


@validated
def average_seeds(results: Results) -> pd.DataFrame:
    """Replace rows that differ only in their seed by one row: their mean, with the 95% interval over the repeats.

    A row with only one seed keeps its own interval, which covers the variation of people. If one of the values is
    withheld, the mean has no value, and its bounds are the smallest and the largest bound of the values. The threshold
    rule also applies to a mean of counts: the counts 21, 0 and 0 may be shown, but their mean, 7, may not.
    """
    results = select_measured(results)
    keys = [column for column in COLUMNS if column not in ("seed", *NUMBER_COLUMNS, "status")]
    parts = group_positions(results, keys)
    together = results.iloc[[part[0] for part in parts]][COLUMNS].reset_index(drop=True)
    again = [place for place, part in enumerate(parts) if len(part) > 1]
    if not again:
        return together
    columns = {name: results[name].to_numpy() for name in ("measure", "variant", *NUMBER_COLUMNS)}
    means = [_average({name: column[parts[place]] for name, column in columns.items()}) for place in again]
    rows = together.iloc[again].to_dict("records")
    means = tidy(row | mean for row, mean in zip(rows, means, strict=True)).set_axis(again)
    return pd.concat([together.drop(again), means]).sort_index()


def _average(part: Mapping[str, Array | FloatArray]) -> dict[str, Any]:
    values, measure = part["value"], measure_facts(part["measure"][0])
    positive = measure.counts_people or measure.bounds[0] >= 0
    most = min(measure.bounds[1], np.nan_to_num(part["of"][0], nan=np.inf))
    bounds = np.fmin.reduce(part["low"]), np.fmax.reduce(part["high"])
    low, high = bounds if np.isnan(values).any() else t_interval(values.tolist())
    mean, baseline = values.mean(), part["baseline"].mean()
    # Student's t may leave the range of a count or share. A difference may be below 0.
    low = max(low, 0) if positive and np.fmin.reduce(values) >= 0 else low
    high = min(high, most) if np.fmax.reduce(values) <= most else high
    if measure.counts_people and part["variant"][0] != "weighted":
        if _is_few_on_average(values, most):
            mean, low, high = withholding.withhold_count(mean, most)
        baseline = np.nan if _is_few_on_average(part["baseline"], most) else baseline
    return {
        "seed": np.nan, "value": mean, "low": low, "high": high, "baseline": baseline, "of": part["of"][0],
        "status": "",
    }  # fmt: skip


def _is_few_on_average(counts: FloatArray, of: float) -> bool:
    """Return whether the threshold rule withholds the mean of counts but not the counts themselves.

    If a count below the limit is shown, the user requested a lower limit, which is at most this count.
    """
    for people in (counts, of - counts):
        shown = people[people > 0]
        if shown.size and 0 < people.mean() < min(LIMIT, shown.min()):
            return True
    return False


@validated
def convert_to_shares(results: Results) -> pd.DataFrame:
    """Divide each number of a row that has a whole, `of`, by this whole, so that the number becomes a share."""
    numbers = [name for name in NUMBER_COLUMNS if name != "of"]
    return results.assign(**results[numbers].div(results.of.fillna(1), axis=0))


def _check_people(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is a number of people, or infinite."""
    if not (isinstance(value, float) and value == np.inf):
        expect.whole(name, value, 1)


@validated
def withhold_counts(
    results: Results, min_count: MinCount, of: Annotated[float, _check_people] = np.inf
) -> pd.DataFrame:
    """Withhold counts that include or leave out fewer than `min_count` people, and show only their bounds.

    A baseline that is such a count is withheld without bounds.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    min_count : int
        Counts of fewer people are withheld.
    of : int, or infinite
        The number of people who could be counted; infinite if unknown.

    Returns
    -------
    DataFrame
        Tidy results.
    """
    counts, results = find_people_counts(results).to_numpy(), results.copy()
    hidden, base = (
        counts & withholding.reveals_few(results[of_it].to_numpy(), of, min_count) for of_it in ("value", "baseline")
    )
    for place, value in results.value[hidden].items():
        results.loc[place, ["value", "low", "high"]] = withholding.withhold_count(value, of, min_count)
    if base.any():
        results["baseline"] = results.baseline.mask(base)
    return mark_withheld(results)


def find_people_counts(results: pd.DataFrame) -> pd.Series:
    """Return, as a boolean Series, whether each row is a count of people."""
    people = [measure for measure in dict.fromkeys(results.measure) if measure_facts(measure).counts_people]
    return results.measure.isin(people) & (results.variant != "weighted")


def describe_bounds(low: Any, high: Any) -> str:
    """Return words that describe a withheld count by its bounds.

    Examples
    --------
    >>> describe_bounds(1, 9), describe_bounds(391, 399)
    ('fewer than 10', 'more than 390')
    """
    return f"more than {low - 1:,.0f}" if low > 1 else f"fewer than {high + 1:,.0f}"


def estimate_share(people: float, of: int) -> ReportedCount:
    """Return the share `people` / `of` with Wilson's 95% interval.

    The interval is valid for other people who are drawn at random, one by one, and guessed by the same rule.
    `estimate_share_in_classes` gives a wider interval for people who are right or wrong together.

    Examples
    --------
    >>> estimate_share(3, 40).shown(10)
    (nan, 0.025, 0.225)
    """
    return withholding.ReportedCount(people, of, wilson(int(people), of))


def estimate_share_in_classes(who: BoolArray, classes: IntArray | None) -> ReportedCount:
    """Return the share of people whom `who`, a boolean array (m,), selects, with the interval for a sample of classes.

    >>> estimate_share_in_classes(np.arange(40) < 20, np.arange(40) // 10).shown(10)[0]
    0.5
    """
    found = estimate_share(int(who.sum()), len(who))
    return found if classes is None else found._replace(interval=class_interval(who, classes))


def compute_people_interval(people: float, of: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of the share `people` / `of`, multiplied by `of`, as two numbers of people."""
    low, high = wilson(int(people), of)
    return low * of, high * of
