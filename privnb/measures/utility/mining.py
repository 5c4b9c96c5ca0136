"""The utility of a release for miners of honest users and for miners of adversaries (Sramka et al. 2010, section 2).

Good utility and anti-utility are both sums over people of an interest weight times a function of the guess. All arrays
have one entry for each person, in the same order. The functions can score guesses of any origin.
"""

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_numeric_dtype

from privnb.measures import conditions
from privnb.measures.base import measure
from privnb.microdata.counts import factorize
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, Share, instead, validated

ByMiner = Annotated[Mapping[str, Any], instead(Mapping, "Give them by miner's name.")]
ErrorFunction = Callable[[Any, Any], Any]  # from guesses and true values to one number for each person


def exact_match(predicted: Any, true: Any) -> FloatArray:
    """Return the error implication of classification accuracy, which is 1 if a guess is correct and 0 otherwise.

    Source: Sramka et al. 2010, section 2.3.
    """
    predicted, true = _comparable(predicted, true)
    return (predicted == true).astype(float)


def within(tolerance: float) -> ErrorFunction:
    """Return an error implication for numbers.

    The error implication is a function that returns 1 if a guess differs from the truth by at most `tolerance`, and 0
    otherwise.

    The tolerance is in the unit of the target.
    """
    if not (expect.is_number(tolerance) and tolerance >= 0):
        raise UsageError(f"`tolerance` must be a number of at least 0; got {expect.describe_value(tolerance)}.")

    def error(predicted: Any, true: Any) -> FloatArray:
        predicted, true = _comparable(predicted, true)
        if not is_numeric_dtype(true):
            raise UsageError("`tolerance` needs guesses of numbers; got labels. Use `exact_match` for labels.")
        return (np.abs(predicted - true) <= tolerance).astype(float)

    return error


How = Literal["sum", "any", "all"]
COMBINATIONS: dict[How, Callable[..., FloatArray]] = {"sum": np.sum, "any": np.max, "all": np.min}


@validated
def combine(values: Any, how: How) -> FloatArray:
    """Return one value for each person, combined from the values of several fields.

    `values`: for each field, an array (n,) of error implications or error reductions. `how`: "sum" returns the sum,
    "any" the largest and "all" the smallest of a person's values. The paper does not state how to combine fields.
    """
    return COMBINATIONS[how](np.asarray(values, dtype=float), axis=0)


@measure(
    kind="utility",
    better="higher",
    bounds=(-math.inf, math.inf),
    sentence="A miner that learns from the release predicts the sensitive value of this number of people correctly, in "
    "cross-validation. Higher is better.",
    unit="people",
    baseline="most common value for all",
    counts_people=True,
)
def good_utility(
    predicted: Any, true: Any, error: ErrorFunction = exact_match, weights: ArrayLike | None = None
) -> float:
    """Return the good utility, a weighted sum of error implications; by default, the number of correct predictions.

    A prediction of a missing number is never correct.

    Parameters
    ----------
    predicted, true : array (n,)
    error : function
        The error implication, a function of both arrays that returns an array (n,). The values are high if there is no
        error, and low or negative if the error is serious.
    weights : array (n,), optional
        The interest weight of each person; by default, 1.

    Source: Sramka et al. 2010, section 2.3.
    """
    return sum_weighted(error(predicted, true), weights)


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    sentence="This share of a miner's correct predictions is lost if the miner learns from the release instead of "
    "the original; a gain counts as 0. Lower is better.",
    unit="share",
    format="{:%}",
)
def utility_decline(original: float, sanitized: float) -> float:
    """Return the relative loss of good utility, which the paper calls delta.

    Parameters
    ----------
    original, sanitized : float
        The good utility of a miner for the original and for the release.

    Returns
    -------
    float
        The loss, which is 0 if no utility is lost, and at most 1 if the error implication is never negative.

    Raises
    ------
    ValueError
        If `original` is not positive.

    Source: Sramka et al. 2010, section 2.3.
    """
    if not original > 0:
        raise UsageError(
            f"the good utility of the original must be positive, so that a decline can be computed; got {original}. "
            "Try a milder penalty of errors or a better miner."
        )
    return max(0.0, 1 - sanitized / original)


@validated
def utility_preserving(originals: ByMiner, sanitized: ByMiner) -> tuple[float, str]:
    """Return the delta of (1 - delta, L)-utility preservation in section 2.3, and the miner with the largest decline.

    Parameters
    ----------
    originals, sanitized : dict of str to float
        The good utility of each miner, by the name of the miner. Both dicts must have the same set L of miners.

    Returns
    -------
    delta : float
    name : str
        The name of the miner with the largest decline.
    """
    if set(originals) != set(sanitized):
        raise UsageError(
            f"`originals` and `sanitized` must have the same miners; got {sorted(originals)} and {sorted(sanitized)}."
        )
    declines = {name: utility_decline(originals[name], sanitized[name]) for name in originals}
    _, worst, name = average_and_worst(declines)
    return worst, name


def nearer(predicted: Any, released: Any, true: Any, c: float, hierarchy: Any) -> BoolArray:
    """Return whether the guess about each person is c%-nearer to the truth than the released cell, as an array (n,).

    The distance between a number and the truth is the absolute difference. The distance between a label and the truth
    is the length of the label, including both ends: 40-44 has the length 5, and a label of categories has the number of
    leaves that it covers. A guess that is a label and does not cover the truth has an infinite distance.

    A guess counts if it is strictly nearer than the released cell and if its distance is at most (100 - c)% of the
    cell's distance. A guess also counts if it is exact, which means that it is the true single value, or a number that
    rounds to the truth in steps of the domain. With c = 0, any improvement counts; with c = 100, only an exact guess
    counts. If c is larger, fewer guesses count. No guess is nearer than an unchanged cell. If the true number is
    missing, no number is nearer than the cell, but a label that covers missing numbers may be nearer.

    Source: Sramka et al. 2010, section 2.4.

    Parameters
    ----------
    predicted, released, true : array (n,)
        The guesses, the released cells and the true values. Guesses and released cells must be both numbers or both
        labels.
    c : float
        A percentage, from 0 to 100.
    hierarchy : Generalization
        The hierarchy of the target.

    Returns
    -------
    boolean array (n,)

    Raises
    ------
    ValueError
        If c is not from 0 to 100, or if numbers are compared with labels.
    """
    check_c(c)
    predicted, released = _comparable(predicted, released)
    true = np.asarray(true)
    if is_numeric_dtype(released):
        guess, given = np.abs(predicted - true), np.abs(released - true)
        exact = np.rint(guess / _step(hierarchy)) == 0
    else:
        covers, right = (_covers(labels, true, hierarchy) for labels in (predicted, released))
        numeric = is_numeric_dtype(true)
        guess, given = (label_lengths(labels, hierarchy, numeric=numeric) for labels in (predicted, released))
        exact = guess == (_step(hierarchy) if numeric else 1)
        guess = np.where(covers, guess, np.inf)
        # # Noise makes a label wrong and useless, so any right label is nearer. The length is finite because 0 * inf is
        # nan.
        given = np.where(right, given, 1e300)
    return (guess < given) & (exact | (100 * guess <= (100 - c) * given))


def check_c(c: float) -> None:
    """Raise ValueError unless `c` is a percentage from 0 to 100."""
    if not (expect.is_number(c) and 0 <= c <= 100):
        raise UsageError(
            "`c` must be a percentage from 0 (any improvement) to 100 (the exact value); got "
            f"{expect.describe_value(c)}."
        )


@measure(
    kind="privacy",
    better="lower",
    bounds=(-math.inf, math.inf),
    title="Anti-utility",
    sentence="For this number of people, a miner's prediction is nearer to the truth than the released cell. Lower "
    "protects more.",
    unit="people",
    baseline="the guess without the release",
    counts_people=True,
    readings={
        "A": "all people are counted, with any prediction that is nearer to the truth than the released cell",
        "B": "all people are counted, with exact predictions only",
        "C": "one in twenty people, drawn at random, is counted, with any nearer prediction",
    },
)
def anti_utility(reduction: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the anti-utility U_bad, a weighted sum of error reductions; by default, the number of nearer predictions.

    Parameters
    ----------
    reduction : array (n,)
        The error reduction of each person's guess, such as the result of `nearer`.
    weights : array (n,), optional
        The owner's interest in the protection of each person. By default, the weights are 1 (scenarios A and B); for
        scenario C, use `draw_weights`.

    Source: Sramka et al. 2010, section 2.4.
    """
    return sum_weighted(reduction, weights)


@validated
def average_and_worst(by_miner: ByMiner) -> tuple[float, float, str]:
    """Return the mean and the largest of the miners' anti-utilities in section 2.4, and the name of the worst miner.

    An adversary who does not know which miner is best, and chooses one at random, has the mean anti-utility in
    expectation. The worst miner is the miner with the largest anti-utility; among equal miners, the first one.
    """
    if not by_miner:
        raise UsageError("`by_miner` must hold the result of at least one miner; got an empty mapping.")
    name = max(by_miner, key=by_miner.__getitem__)
    return float(np.mean(list(by_miner.values()))), by_miner[name], name


@validated
def draw_weights(n: int, share: Share, *, rng: Randomness) -> FloatArray:
    """Draw interest weights that protect a random share of n people, but at least one person.

    Scenario C of section 4.4 protects 2,261 of 45,222 people (5%). The paper does not state how these people were
    chosen; this function draws them at random.

    Parameters
    ----------
    n : int
    share : float
        The share of people to protect, above 0 and at most 1.
    rng : int, Generator or None

    Returns
    -------
    float array (n,)
        The weights, which are 1 for each person to protect and 0 for all other people.
    """
    if not (expect.is_whole(n) and 1 <= n < 2**31):
        raise UsageError(f"`n` must be a number of people, at least 1; got {expect.describe_value(n)}.")
    weights = np.zeros(n)
    weights[np.random.default_rng(rng).choice(n, max(round(share * n), 1), replace=False)] = 1
    return weights


@validated
def first_occurrences(table: pd.DataFrame) -> BoolArray:
    """Return, as a boolean array (n,), whether each record is the first one with its released row.

    If the result is used as weights, measures count distinct released rows instead of people. The paper does not state
    whether its Table 2 counts rows or people; the k-anonymity columns of Table 2 are consistent with counts of distinct
    rows.
    """
    return ~table.duplicated().to_numpy()


def interest(condition: str, weight: float, otherwise: float = 1.0) -> Callable[..., FloatArray]:
    """Return a function that computes interest weights from a table, by a condition on the columns.

    An example of section 2.3 is `interest("sex == 'Female' and age > 55", 10)`.

    Parameters
    ----------
    condition : str
        See `conditions.parse_condition`.
    weight, otherwise : float
        The weight of people who meet the condition, and the weight of all other people; both are at least 0.

    Returns
    -------
    function
        A function that takes a table of n records and returns a float array (n,).
    """
    for name, number in (("weight", weight), ("otherwise", otherwise)):
        if not (expect.is_number(number) and number >= 0):
            raise UsageError(
                f"`{name}` must be an interest weight, a number of at least 0; got {expect.describe_value(number)}."
            )
    holds = conditions.parse_condition(condition)

    def weights(table: pd.DataFrame, released: object = None) -> FloatArray:
        return np.where(holds(table), float(weight), float(otherwise))

    return weights


@validated
def parse_interest(text: str) -> Callable[..., FloatArray]:
    """Return the result of `interest` for a text of the form "CONDITION: WEIGHT, WEIGHT OF ALL OTHERS".

    The second weight may be left out, and is then 1.

    >>> parse_interest("age > 80: 1, 0")(pd.DataFrame({"age": [81, 30]})).tolist()
    [1.0, 0.0]
    """
    condition, _, numbers = text.rpartition(":")
    try:
        weight, *others = map(float, numbers.split(","))
        otherwise = others.pop() if others else 1.0
    except ValueError:
        others = [np.nan]
    if others or not condition.strip():
        raise UsageError(f"interest weights must be written as 'CONDITION: WEIGHT, WEIGHT OF OTHERS'; got {text!r}.")
    return interest(condition.strip(), weight, otherwise)


@validated
def worst_by_person(by_miner: ByMiner) -> FloatArray:
    """Return, as an array (n,), the largest value that any miner has for each person.

    `by_miner`: an array (n,) of values for each miner, by the name of the miner. The weighted sum of the result is the
    anti-utility of an adversary who knows the best miner for each person. No single miner and no choice among the
    guesses of the miners has a larger anti-utility.
    """
    if not by_miner:
        raise UsageError("`by_miner` must hold the result of at least one miner; got an empty mapping.")
    return np.max([np.asarray(values, dtype=float) for values in by_miner.values()], axis=0)


def sum_weighted(values: Any, weights: ArrayLike | None = None) -> float:
    """Return the sum over people of the interest weight (by default, 1) times the value."""
    values = np.asarray(values, dtype=float)
    return float(values.sum() if weights is None else values @ np.asarray(weights, dtype=float))


def _comparable(predicted: Any, other: Any) -> tuple[Array, Array]:
    """Return both arguments as arrays; raise ValueError unless they have the same length and are comparable.

    Two arrays are comparable if both contain numbers or both contain labels.
    """
    predicted, other = np.asarray(predicted), np.asarray(other)
    if predicted.shape != other.shape or is_numeric_dtype(predicted) != is_numeric_dtype(other):
        raise UsageError(
            f"guesses of type {predicted.dtype} and shape {predicted.shape} cannot be compared with values of type "
            f"{other.dtype} and shape {other.shape}. Give one guess for each person, numbers with numbers or labels "
            "with labels."
        )
    return predicted, other


def _step(hierarchy: Any) -> float:
    """Return the distance between neighboring values of a numeric attribute."""
    if hasattr(hierarchy, "domain"):
        return hierarchy.domain.step
    return float(np.fmin.reduce(np.diff(np.sort(hierarchy.numbers))))


def label_lengths(labels: Any, hierarchy: Any, *, numeric: bool) -> Array:
    """Return the number of values that each label covers, or the length of each interval if `numeric`: array (n,)."""
    codes, distinct = factorize(np.asarray(labels, dtype=object), use_na_sentinel=False)
    if numeric:
        low, high = _bounds(distinct, hierarchy)
        return (np.nan_to_num(high - low) + _step(hierarchy))[codes]
    return np.array([(np.diff(hierarchy.runs(label)) + 1).sum() for label in distinct], dtype=np.int64)[codes]


def _covers(labels: Any, true: Any, hierarchy: Any) -> BoolArray:
    """Return whether each label covers the true value, as a boolean array (n,)."""
    # # The hierarchy refuses a missing label, because its code -1 would be taken for the last label.
    codes, distinct = factorize(np.asarray(labels, dtype=object), use_na_sentinel=False)
    distinct = distinct.astype(str)
    if not is_numeric_dtype(true):
        leaves, order = hierarchy.codes(true), np.argsort(codes, kind="stable")
        ends, covers = np.cumsum(np.bincount(codes, minlength=len(distinct))), np.empty(len(codes), dtype=bool)
        for label, rows in zip(distinct, np.split(order, ends[:-1]), strict=True):
            covers[rows] = hierarchy.covers(label, leaves[rows])
        return covers
    low, high = _bounds(distinct, hierarchy)[:, codes]
    covers, missing = (low <= true) & (true <= high), np.isnan(true)
    if missing.any():
        covers |= missing & np.array([hierarchy.covers_missing(label) for label in distinct])[codes]
    return covers


def _bounds(labels: Any, hierarchy: Any) -> FloatArray:
    """Return the low and the high end of each label of numbers as a float array (2, labels), NaN if missing."""
    return (
        np.array([(np.nan, np.nan) if pd.isna(label) else hierarchy.bounds(label) for label in labels]).reshape(-1, 2).T
    )
