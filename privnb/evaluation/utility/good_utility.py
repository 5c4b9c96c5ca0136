"""Good utility of a release for an honest user, and its decline compared with the original.

Source: Sramka et al. 2010, sections 2.3 and 4.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive
from privnb.evaluation.evaluation_loop import MAX_CACHED_SEEDS, Case, Question, ask, require_possible
from privnb.evaluation.predictions import Miners, Predictions, WithMiners
from privnb.evaluation.results import Row
from privnb.evaluation.utility.utilities import GoodUtility, GuessValues, build_failed_rows, describe_unit
from privnb.measures.intervals import normal_interval
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names
from privnb.runtime.validation import AttributeName, Folds, OneOrMore, Seed, as_list, validated
from privnb.sanitizers import Identity
from privnb.sanitizers.base import Sanitizer


@validated
def measure_good_utility(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    miners: Miners = "basic",
    target: AttributeName | None = None,
    seed: Seed = 1,
    folds: Folds = 10,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Measure the good utility of releases: correct predictions of `target` by miners, in cross-validation.

    If no miner has a guess on the original, the releases are not mined.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
    miners : str, estimator, or list of those
        See `miners.reference_set`.
    target : str, optional
        The attribute that miners predict; if None, the first sensitive attribute.
    seed : int
        The seed of the noise, of the order of the records and of the folds.
    folds : int
        The number of folds.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    DataFrame
        Rows of each miner for the original and for each sanitizer: `good_utility`, a number of people whose baseline is
        the guess of the most common value, and `utility_decline`, which compares this number with the original. If a
        miner has no guess, `status` gives the reason; see `predictions.Predictions`.

    Raises
    ------
    ValueError
        If `target` is a number.

    References
    ----------
    Sramka et al. 2010, Table 1.
    """
    target = choose_sensitive(dataset, target)
    if dataset.schema[target].numeric:
        raise UsageError(
            f"'{target}' is a number, and numbers are seldom predicted exactly. Predict its bands, "
            f"`dataset.in_bands('{target}')`, or choose a TARGET of categories."
        )
    kept = UserUtility(target, miners, folds)
    runs = [(each, seed, [kept]) for each in dict.fromkeys([Identity(), *as_list(sanitizers)])]
    return require_possible(ask(dataset, runs, min_count=min_count))


@dataclass(frozen=True)
class UserUtility(WithMiners, Question):
    """Question about the good utility of a release for its user; see `measure_good_utility` for the fields and rows."""

    target: str
    miners: Miners = "basic"
    folds: int = 10

    primary_measure = "good_utility"
    permutes_records = stochastic = True

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        guessed, original = _score_original(case.dataset, case.seed, self)
        scores = original
        if case.sanitizer != Identity():
            if original is None:
                return []
            guessed, scores = self.scored(case)
        rows = build_failed_rows(case.row, "good_utility", guessed, target=self.target)
        return (
            rows + build_good_utility_rows(case.row, self.target, scores, original, case.min_count)
            if scores and original
            else rows
        )

    def scored(self, case: Case) -> tuple[Predictions, GuessValues | None]:
        """Return the miners' guesses and the scores of the guesses; the scores are None if no miner has a guess."""
        user = GoodUtility(join_names([self.target]), miners=self.miners, folds=self.folds)
        found = user.mined(case)
        guessed = found[self.target]
        return guessed, user.score(found, case.dataset, case.release) if guessed.guesses else None


@lru_cache(maxsize=MAX_CACHED_SEEDS)
def _score_original(dataset: Dataset, seed: int, asked: UserUtility) -> tuple[Predictions, GuessValues | None]:
    return asked.scored(Case(dataset, Identity(), seed))


def build_good_utility_rows(
    row: Callable[..., Row], target: str, scores: GuessValues, original: GuessValues, min_count: int
) -> list[Row]:
    """Return the rows of good utility and of its decline for each miner.

    A decline has a 95% interval from paired values: each person's value is compared with the same person's value on the
    original. A miner that has no guess, or no correct guess, on the original has no decline.

    Parameters
    ----------
    row : function
        A function that builds a row; see `results.make_row_builder`.
    target : str
        The attribute that is predicted.
    scores, original : GuessValues
        The scores on the release and on the original.
    min_count : int
        Counts of fewer people are withheld.

    Returns
    -------
    list of Row
    """
    rows, (counted, interval) = [], describe_unit(scores)
    kept = partial(row, "good_utility", target=target, **counted)
    lost = partial(row, "utility_decline", target=target)

    def hides(scores: GuessValues, values: FloatArray) -> bool:  # only a count of people is withheld
        return scores.counts and scores.tells(values, min_count)

    hidden = hides(scores, scores.baseline)
    baseline = np.nan if hidden else mining.sum_weighted(scores.baseline, scores.weights)
    for name, value in scores.utilities.items():
        hidden = hides(scores, scores.by_miner[name])
        shown, *bounds = (
            withholding.withhold_count(value, scores.of, min_count) if hidden else (value, *interval(value))
        )
        rows.append(kept(shown, miner=name, interval=bounds, baseline=baseline))
        if name not in original.by_miner:
            continue
        if hidden or hides(original, original.by_miner[name]):
            rows.append(lost(np.nan, miner=name))
            continue
        if original.utilities[name] == 0:
            continue
        decline = mining.utility_decline(original.utilities[name], value)
        ends = compute_decline_interval(
            original.by_miner[name] * scores.weights, scores.by_miner[name] * scores.weights
        )
        rows.append(lost(decline, miner=name, interval=ends))
    return rows


def compute_decline_interval(original: FloatArray, sanitized: FloatArray) -> tuple[float, float]:
    """Return a 95% interval (low, high), with ends of at least 0, of the utility decline from paired values of people.

    The interval is the normal approximation of a ratio of two paired means (Fieller's linear term). If both arrays are
    equal, the interval is (0, 0).

    Parameters
    ----------
    original, sanitized : float array (n,)
        The values of the guesses about each person on the original and on the release.

    Returns
    -------
    low, high : float
    """
    kept = sanitized.sum() / original.sum()
    error = np.std(sanitized - kept * original) * np.sqrt(len(original)) / original.sum()
    low, high = normal_interval(1 - kept, error)
    return max(0.0, low), max(0.0, high)
