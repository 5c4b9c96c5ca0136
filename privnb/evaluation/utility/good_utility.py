"""What an honest user keeps of a release: people guessed right, and the decline against the original (Sramka et al.
2010, sections 2.3 and 4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import sensitive_name
from privnb.evaluation.cases import SEEDS_AT_A_TIME, Case, Question, ask, reached
from privnb.evaluation.predictions import AsksMiners, Mined, Miners
from privnb.evaluation.results import Row
from privnb.evaluation.utility.utilities import GoodUtility, Scores, failed_rows, unit
from privnb.measures.intervals import normal_interval
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.runtime.validation import AttributeName, Folds, OneOrMore, Seed, as_list, validated
from privnb.sanitizers import Identity
from privnb.sanitizers.base import Sanitizer


@validated
def good_utility(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    miners: Miners = "three",
    target: AttributeName | None = None,
    seed: Seed = 1,
    folds: Folds = 10,
    fewest: MinCount = LIMIT,
) -> pd.DataFrame:
    """What an honest user keeps: correct predictions of `target` by miners, in cross-validation (Sramka et al. 2010,
    Table 1).

    `target` defaults to the sensitive attribute. `seed` says the noise, the order of the records and the folds. Counts
    below `fewest` are withheld. Rows of each miner for the original and for each sanitizer: `good_utility` (people;
    baseline: the commonest value) and `utility_decline` against the original; or, in `status`, why it has no guess, see
    `predictions.Mined`. Where no miner has one on the original, the releases are not mined.
    """
    target = sensitive_name(dataset, target)
    if dataset.schema[target].numeric:
        raise UsageError(
            f"'{target}' is a number, seldom predicted exactly. Predict its bands, `dataset.in_bands('{target}')`, or "
            "choose a TARGET of categories."
        )
    kept = Kept(target, miners, folds)
    runs = [(each, seed, [kept]) for each in dict.fromkeys([Identity(), *as_list(sanitizers)])]
    return reached(ask(dataset, runs, fewest=fewest))


@dataclass(frozen=True)
class Kept(AsksMiners, Question):
    """What an honest user keeps of a release; fields and rows as of `good_utility`."""

    target: str
    miners: Miners = "three"
    folds: int = 10

    main = "good_utility"
    reorders = varies = True

    def rows(self, case: Case) -> list[Row]:
        guessed, original = _original(case.dataset, case.seed, self)
        scores = original
        if case.sanitizer != Identity():
            if original is None:
                return []
            guessed, scores = self.scored(case)
        rows = failed_rows(case.row, "good_utility", guessed, target=self.target)
        return rows + good_rows(case.row, self.target, scores, original, case.fewest) if scores and original else rows

    def scored(self, case: Case) -> tuple[Mined, Scores | None]:
        """What the miners guess, and what it is worth; None where none has a guess."""
        user = GoodUtility(name_list([self.target]), miners=self.miners, folds=self.folds)
        found = user.mined(case)
        guessed = found[self.target]
        return guessed, user.score(found, case.dataset, case.release) if guessed.guesses else None


@lru_cache(maxsize=SEEDS_AT_A_TIME)
def _original(dataset: Dataset, seed: int, asked: Kept) -> tuple[Mined, Scores | None]:
    return asked.scored(Case(dataset, Identity(), seed))


def good_rows(row: Callable[..., Row], target: str, scores: Scores, original: Scores, fewest: int) -> list[Row]:
    """Rows of good utility and of its decline, by miner: declines with a 95% interval, each person compared with
    themselves on the original. A miner that has no guess on the original, or is right for nobody there, has no decline.
    """
    rows, (counted, interval) = [], unit(scores)
    kept = partial(row, "good_utility", target=target, **counted)
    lost = partial(row, "utility_decline", target=target)

    def hides(scores: Scores, values: FloatArray) -> bool:  # a count of people; a sum of anything else is none
        return scores.counts and scores.tells(values, fewest)

    hidden = hides(scores, scores.baseline)
    baseline = np.nan if hidden else mining.weighted_sum(scores.baseline, scores.weights)
    for name, value in scores.utilities.items():
        hidden = hides(scores, scores.by_miner[name])
        shown, *bounds = withholding.counted(value, scores.of, fewest) if hidden else (value, *interval(value))
        rows.append(kept(shown, miner=name, interval=bounds, baseline=baseline))
        if name not in original.by_miner:
            continue
        if hidden or hides(original, original.by_miner[name]):
            rows.append(lost(np.nan, miner=name))
            continue
        if original.utilities[name] == 0:
            continue
        decline = mining.utility_decline(original.utilities[name], value)
        ends = decline_interval(original.by_miner[name] * scores.weights, scores.by_miner[name] * scores.weights)
        rows.append(lost(decline, miner=name, interval=ends))
    return rows


def decline_interval(original: FloatArray, sanitized: FloatArray) -> tuple[float, float]:
    """A 95% interval of the utility decline, by the same people's values before and after: (low, high), from 0.

    `original`, `sanitized`: arrays (n,). The normal approximation of a ratio of two paired means (Fieller's linear
    term); exact equality of the two gives (0, 0).
    """
    kept = sanitized.sum() / original.sum()
    error = np.std(sanitized - kept * original) * np.sqrt(len(original)) / original.sum()
    low, high = normal_interval(1 - kept, error)
    return max(0.0, low), max(0.0, high)
