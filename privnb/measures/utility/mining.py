"""What miners can do with a release: the honest user's utility and the adversary's (Sramka et al. 2010, section 2).

Both are a sum over people of an interest weight times a function of the guess. All arrays hold one entry a person,
in the same order. The functions score guesses; how they were made is not their business.

One module: both utilities are the same sum, and what goes into it stands beside it.
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
from privnb.microdata.counts import factorized
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, Share, instead, validated

ByMiner = Annotated[Mapping[str, Any], instead(Mapping, "Give them by miner's name.")]
ErrorFunction = Callable[[Any, Any], Any]  # of guesses and true values: one number a person


def exact_match(predicted: Any, true: Any) -> FloatArray:
    """Error implication of classification accuracy: 1 where the guess is right, else 0. Section 2.3."""
    predicted, true = _alike(predicted, true)
    return (predicted == true).astype(float)


def within(tolerance: float) -> ErrorFunction:
    """Error implication for numbers: 1 where the guess lies at most `tolerance` (in the target's units) from the
    truth, else 0.
    """
    if not (expect.is_number(tolerance) and tolerance >= 0):
        raise UsageError(f"a tolerance is a distance from 0, got {expect.found(tolerance)}.")

    def error(predicted: Any, true: Any) -> FloatArray:
        predicted, true = _alike(predicted, true)
        if not is_numeric_dtype(true):
            raise UsageError("labels have no distance to be within. Give numbers.")
        return (np.abs(predicted - true) <= tolerance).astype(float)

    return error


How = Literal["sum", "any", "all"]
WAYS: dict[How, Callable[..., FloatArray]] = {"sum": np.sum, "any": np.max, "all": np.min}


@validated
def combine(values: Any, how: How) -> FloatArray:
    """One value a person from those of several fields: their "sum", "any" of them (the largest) or "all" (the least).

    `values`: one array (n,) a field, of error implications or reductions. The paper leaves open how fields combine.
    """
    return WAYS[how](np.asarray(values, dtype=float), axis=0)


@measure(
    kind="utility",
    better="higher",
    bounds=(-math.inf, math.inf),
    unit="people",
    baseline="commonest value for all",
    counts_people=True,
)
def good_utility(
    predicted: Any, true: Any, error: ErrorFunction = exact_match, weights: ArrayLike | None = None
) -> float:
    """People whose sensitive value the miner predicts rightly, in cross-validation.

    In general, a weighted sum. U_good. Nobody predicts a missing number rightly.

    Parameters
    ----------
    predicted, true : array (n,)
    error : function
        Of both, an array (n,): high where there is no error and low or negative where one is serious.
    weights : array (n,), optional
        Interest in each person, by default 1.

    Returns
    -------
    float

    Source: Sramka et al. 2010, section 2.3.
    """
    return weighted_sum(error(predicted, true), weights)


@measure(kind="utility", better="lower", bounds=(0, math.inf), unit="share", format="{:%}")
def utility_decline(original: float, sanitized: float) -> float:
    """Share of the right predictions on the original that is lost.

    The paper's delta.

    Parameters
    ----------
    original, sanitized : float
        Good utility of a miner before and after.

    Returns
    -------
    float
        0 if none is lost, at most 1 where the error implication is never negative.

    Raises
    ------
    ValueError
        Unless `original` is positive: there is no share of nothing.

    Source: Sramka et al. 2010, section 2.3.
    """
    if not original > 0:
        raise UsageError(
            f"the good utility of the original data is {original}; a decline needs a positive one. Give errors a "
            "milder penalty or choose a better miner."
        )
    return max(0.0, 1 - sanitized / original)


@validated
def utility_preserving(originals: ByMiner, sanitized: ByMiner) -> tuple[float, str]:
    """The delta at which a sanitization is (1 - delta, L)-utility-preserving, and the miner that declines most.

    Section 2.3.

    Parameters
    ----------
    originals, sanitized : dict of str to float
        Good utility by miner's name, over the same set L.

    Returns
    -------
    delta : float
    name : str
        Of the miner.
    """
    if set(originals) != set(sanitized):
        raise UsageError(f"originals and sanitized have other miners: {sorted(originals)} and {sorted(sanitized)}.")
    declines = {name: utility_decline(originals[name], sanitized[name]) for name in originals}
    _, worst, name = average_and_worst(declines)
    return worst, name


def nearer(predicted: Any, released: Any, true: Any, c: float, hierarchy: Any) -> BoolArray:
    """Whose guess is `c` %-nearer to the truth than what was released of them.

    The distance to the truth of a number is the absolute difference. Of a label it is the length of the label, from
    low to high end with both counted (40-44 has length 5; a label of categories has as many as it covers leaves), and
    infinite for a guess that does not cover the truth. A guess counts if it is strictly nearer than the released cell
    and its distance is at most (100 - c) % of the released one's, or if it is exact: a single value, or a number that
    rounds to the truth in steps of its domain. So c = 0 asks for any improvement, c = 100 for the exact value, the
    sets shrink as c grows, and nothing is nearer than a cell that was released as it is. No number is nearer to a
    missing one; a label that covers a missing one is.

    Section 2.4.

    Parameters
    ----------
    predicted, released, true : array (n,)
        Guesses and released cells are both numbers or both labels.
    c : float
        Per cent, 0 to 100.
    hierarchy : Generalization
        The target's.

    Returns
    -------
    boolean array (n,)

    Raises
    ------
    ValueError
        For c outside 0 to 100, or numbers against labels.
    """
    check_c(c)
    predicted, released = _alike(predicted, released)
    true = np.asarray(true)
    if is_numeric_dtype(released):
        guess, given = np.abs(predicted - true), np.abs(released - true)
        exact = np.rint(guess / _step(hierarchy)) == 0
    else:
        covers, right = (_covers(labels, true, hierarchy) for labels in (predicted, released))
        numeric = is_numeric_dtype(true)
        guess, given = (lengths(labels, hierarchy, numeric=numeric) for labels in (predicted, released))
        exact = guess == (_step(hierarchy) if numeric else 1)
        guess = np.where(covers, guess, np.inf)
        # A label that noise made wrong tells nothing: any that is right is nearer. Not infinite: 0 times that is nan.
        given = np.where(right, given, 1e300)
    return (guess < given) & (exact | (100 * guess <= (100 - c) * given))


def check_c(c: float) -> None:
    """Raises ValueError unless `c` is a percentage."""
    if not (expect.is_number(c) and 0 <= c <= 100):
        raise UsageError(f"c is a percentage from 0 (any improvement) to 100 (the exact value), got {expect.found(c)}.")


@measure(
    kind="privacy",
    better="lower",
    bounds=(-math.inf, math.inf),
    title="Anti-utility",
    unit="people",
    baseline="the guess without the release",
    counts_people=True,
    readings={
        "A": "everybody, any prediction nearer to the truth than what was released",
        "B": "everybody, exact predictions",
        "C": "a twentieth of the people, chosen by lot; any nearer prediction",
    },
)
def anti_utility(reduction: ArrayLike, weights: ArrayLike | None = None) -> float:
    """People for whom the miner's prediction is nearer to the truth than what was released.

    In general, a weighted sum. U_bad.

    Parameters
    ----------
    reduction : array (n,)
        The error reduction of each person's guess, such as the result of `nearer`.
    weights : array (n,), optional
        The owner's wish to protect each person, by default 1 (scenarios A and B), or `selected` (C).

    Returns
    -------
    float

    Source: Sramka et al. 2010, section 2.4.
    """
    return weighted_sum(reduction, weights)


@validated
def average_and_worst(by_miner: ByMiner) -> tuple[float, float, str]:
    """(average, worst, name of the miner that attains the worst) of anti-utilities by miner's name.

    The average is what an adversary reaches who does not know which miner is best. Of equals the first is named.
    Raises ValueError without a miner. Section 2.4.
    """
    if not by_miner:
        raise UsageError("by_miner is empty: no miner's result was given, and an average needs at least one.")
    name = max(by_miner, key=by_miner.__getitem__)
    return float(np.mean(list(by_miner.values()))), by_miner[name], name


@validated
def selected(n: int, share: Share, *, rng: Randomness) -> FloatArray:
    """Interest weights that protect a random share of n people, at least one of them.

    Scenario C of section 4.4 protects 2,261 of 45,222 people, 5 %. How they were chosen is not stated; here by lot.

    Parameters
    ----------
    n : int
    share : float
        Above 0, at most 1.
    rng : int, Generator or None

    Returns
    -------
    float array (n,)
        Ones and zeros.
    """
    if not (expect.is_whole(n) and 1 <= n < 2**31):
        raise UsageError(f"n must be a number of people, got {expect.found(n)}.")
    weights = np.zeros(n)
    weights[np.random.default_rng(rng).choice(n, max(round(share * n), 1), replace=False)] = 1
    return weights


@validated
def first_occurrences(table: pd.DataFrame) -> BoolArray:
    """Whether a record is the first of those released exactly like it: boolean array (n,).

    As weights it counts distinct released records instead of people. The paper does not say which of the two its
    Table 2 counts; its k-anonymity columns fit the distinct records.
    """
    return ~table.duplicated().to_numpy()


def interest(condition: str, weight: float, otherwise: float = 1.0) -> Callable[..., FloatArray]:
    """Interest weights by a condition on the columns.

    Section 2.3: `interest("sex == 'Female' and age > 55", 10)`.

    Parameters
    ----------
    condition : str
        See `conditions.condition`, which refuses what is none with a ValueError.
    weight, otherwise : float
        Of those who meet it and of all others; from 0.

    Returns
    -------
    function
        Of the table, giving a float array (n,).
    """
    for name, number in (("weight", weight), ("otherwise", otherwise)):
        if not (expect.is_number(number) and number >= 0):
            raise UsageError(f"{name} is an interest weight, a number from 0, got {expect.found(number)}.")
    holds = conditions.condition(condition)

    def weights(table: pd.DataFrame, released: object = None) -> FloatArray:
        return np.where(holds(table), float(weight), float(otherwise))

    return weights


@validated
def interest_of(text: str) -> Callable[..., FloatArray]:
    """`interest` as an owner writes it: "CONDITION: WEIGHT", and after a comma the weight of all others, by default 1.

    >>> interest_of("age > 80: 1, 0")(pd.DataFrame({"age": [81, 30]})).tolist()
    [1.0, 0.0]

    Raises ValueError for what is not written so.
    """
    condition, _, numbers = text.rpartition(":")
    try:
        weight, *others = map(float, numbers.split(","))
        otherwise = others.pop() if others else 1.0
    except ValueError:
        others = [np.nan]
    if others or not condition.strip():
        raise UsageError(f"interest weights are written 'CONDITION: WEIGHT, WEIGHT OF OTHERS', got {text!r}.")
    return interest(condition.strip(), weight, otherwise)


@validated
def worst_by_person(by_miner: ByMiner) -> FloatArray:
    """The value of each person's own worst miner: array (n,), of arrays (n,) by miner's name.

    Its weighted sum is the anti-utility of an adversary who always knows which miner to trust: no miner's is higher,
    and no choice among their guesses gives more. Raises ValueError without a miner.
    """
    if not by_miner:
        raise UsageError("by_miner is empty: no miner's result was given, and a worst case needs at least one.")
    return np.max([np.asarray(values, dtype=float) for values in by_miner.values()], axis=0)


def weighted_sum(values: Any, weights: ArrayLike | None = None) -> float:
    """What both utilities are: the sum over people of an interest weight, 1 by default, times a value."""
    values = np.asarray(values, dtype=float)
    return float(values.sum() if weights is None else values @ np.asarray(weights, dtype=float))


def _alike(predicted: Any, other: Any) -> tuple[Array, Array]:
    """Both as arrays, if they are of one length and of one kind, numbers or labels."""
    predicted, other = np.asarray(predicted), np.asarray(other)
    if predicted.shape != other.shape or is_numeric_dtype(predicted) != is_numeric_dtype(other):
        raise UsageError(
            f"guesses {predicted.dtype}{predicted.shape} cannot be compared with {other.dtype}{other.shape}: "
            "give one for each person, numbers with numbers or labels with labels."
        )
    return predicted, other


def _step(hierarchy: Any) -> float:
    """The distance of neighbouring values of a numeric attribute."""
    if hasattr(hierarchy, "domain"):
        return hierarchy.domain.step
    return float(np.fmin.reduce(np.diff(np.sort(hierarchy.numbers))))


def lengths(labels: Any, hierarchy: Any, *, numeric: bool) -> Array:
    """How many values each label covers, or for `numeric` attributes the length of its interval: array (n,)."""
    codes, distinct = factorized(np.asarray(labels, dtype=object), use_na_sentinel=False)
    if numeric:
        low, high = _bounds(distinct, hierarchy)
        return (np.nan_to_num(high - low) + _step(hierarchy))[codes]
    return np.array([(np.diff(hierarchy.runs(label)) + 1).sum() for label in distinct], dtype=np.int64)[codes]


def _covers(labels: Any, true: Any, hierarchy: Any) -> BoolArray:
    """Whether each label covers the true value: boolean array (n,)."""
    # A missing label is no label, which the hierarchy says; as code -1 it would pass for the last one.
    codes, distinct = factorized(np.asarray(labels, dtype=object), use_na_sentinel=False)
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
    """The low and the high end of each label of numbers, NaN for a missing one: float array (2, labels)."""
    return (
        np.array([(np.nan, np.nan) if pd.isna(label) else hierarchy.bounds(label) for label in labels]).reshape(-1, 2).T
    )
