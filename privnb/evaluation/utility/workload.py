"""The utility of a release for a researcher with a workload (Brickell and Shmatikov, KDD 2008, sections 5 and 6).

A workload is one sensitive or neutral attribute that the researcher wants to predict. The researcher reads all
published attributes. The utility is the share of people whose value is predicted correctly, compared with the same
reference releases as for the adversary of `disclosures`. A parameter selects the neutral attributes that the researcher
uses; if the selection differs from that of the paper, the column `knows` lists the selected attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from privnb.attacks import MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import check_published
from privnb.evaluation.disclosure.disclosures import (
    choose_neutral,
    choose_release,
    is_withheld,
    list_trivial_sanitizers,
    sanitize_or_replace,
)
from privnb.evaluation.evaluation_loop import MAX_CACHED_SEEDS, Case, Question
from privnb.evaluation.predictions import Miners, WithMiners, predict_cross_validated, resolve_miners
from privnb.evaluation.results import Row, estimate_share
from privnb.measures.base import register_measure
from privnb.measures.intervals import mean_interval, normal_interval, wilson
from privnb.measures.utility.mining import exact_match
from privnb.microdata import withholding
from privnb.microdata.counts import max_per_person
from privnb.microdata.release import Release
from privnb.microdata.schema import Role
from privnb.microdata.withholding import ReportedCount
from privnb.miners import select_able
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.base import Sanitizer

register_measure(
    "workload_utility",
    kind="utility",
    better="higher",
    sentence="This is the share of people whose workload attribute a researcher's miner predicts correctly, in "
    "cross-validation.",
    source="Brickell and Shmatikov, KDD 2008, section 5, U_san",
    unit="share of people",
    baseline="most common value for all",
    varies=True,
    axis=True,
)
register_measure(
    "workload_gain",
    kind="utility",
    better="higher",
    bounds=(-1, 1),
    sentence="This is the share of people whose workload attribute a researcher's miner predicts correctly, minus "
    "this share for the better trivial release.",
    source="Brickell and Shmatikov, KDD 2008, section 5",
    unit="share of people",
    format="{:+%} of people",
    baseline="trivial release",
    axis=True,
)


@dataclass(frozen=True)
class WorkloadUtility(WithMiners, Question):
    """The share of people whose value of `target` is predicted correctly by miners of a release, in cross-validation.

    The share is U_san(w) of section 5, and U_max for the original. Table 2 of the paper shows the results for
    `reference_sanitizers()`, which are the original and the release without quasi-identifiers, for each target.

    The rows are `workload_utility` (0 to 1) of each miner, with a 95% interval; the baseline is the share of the most
    common value. If a release publishes the target in a separate table, miners can only guess the most common value. If
    a miner has no guess, `status` gives the reason; no miner reads a bucketized release. With sampling weights, the
    shares are shares of the population. A person with several records counts if the prediction for at least one of the
    records is correct.

    Parameters
    ----------
    target : str
        A categorical sensitive or neutral attribute.
    miners : str, estimator, or list of those
        See `miners.reference_set`.
    neutral : str
        The neutral attributes that the researcher uses in addition to quasi-identifiers and sensitive attributes: names
        separated by commas, "all" for all, or an empty text for none.
    folds : int
        The number of folds of the cross-validation, at least 2.
    """

    target: str
    miners: Miners = "decision tree"
    neutral: str = "all"
    folds: int = 10

    primary_measure = "workload_utility"
    axes = ("workload_utility",)
    permutes_records = stochastic = True

    def check(self, dataset: Dataset) -> None:
        """Raise ValueError if `target` is not a workload of the dataset, or if `neutral` lists other attributes."""
        attribute = dataset.schema[check_published(dataset, self.target)]
        if attribute.role is Role.QUASI_IDENTIFIER or attribute.numeric:
            raise UsageError(
                f"'{self.target}' is not a workload: it is "
                f"{'a number' if attribute.numeric else 'a quasi-identifier'}, "
                "which is seldom published or predicted exactly. Choose a categorical sensitive or neutral attribute."
            )
        choose_neutral(dataset, self.neutral, self.target)

    def row(self, case: Case, measure: str = primary_measure) -> Callable[..., Row]:
        """Return a function that builds a row with the columns of this question."""
        used = ", ".join(choose_neutral(case.dataset, self.neutral, self.target)) or "no neutral attribute"
        return partial(case.row, measure, target=self.target, knows=used if self._unused(case.dataset) else "")

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        return self._kept(case, *self._learned(case.dataset, choose_release(case), case.seed, self.miners))

    def _unused(self, dataset: Dataset) -> list[Any]:
        used = choose_neutral(dataset, self.neutral, self.target)
        return [name for name in dataset.schema.names(Role.NEUTRAL) if name not in (*used, self.target)]

    def _learned(self, dataset: Dataset, release: Release, seed: int, miners: Miners) -> tuple[Any, ...]:
        """Return whether each miner predicts each person correctly, `{miner: array (people,) of 0 and 1}`.

        The prediction for a person counts as correct if the prediction for any of the person's records is correct. The
        second result is a list with the row columns of each miner without a guess.
        """
        true, commonest = dataset.table[self.target].to_numpy(), _guess_commonest(dataset, self.target)
        if is_withheld(release, self.target):
            right = max_per_person(exact_match(commonest, true), dataset.people)
            return {miner.name: right for miner in select_able(resolve_miners(miners), commonest)[0]}, []
        if not MinerInference.can_read(release):  # buckets do not publish which person has which value
            return {}, [{"miner": miner.name, "status": "refused"} for miner in resolve_miners(miners)]
        unused = self._unused(dataset)
        schema = release.schema.with_roles({a.name: a.role for a in release.schema.attributes if a.name not in unused})
        read = replace(release, table=release.table.drop(columns=unused), schema=schema)
        found = predict_cross_validated(read, self.target, miners, folds=self.folds, seed=seed)
        guesses, failed = found.guesses.items(), [found.columns(name) for name in found.failed]
        return {name: max_per_person(exact_match(guess, true), dataset.people) for name, guess in guesses}, failed

    def _kept(self, case: Case, by_miner: Mapping[str, FloatArray], failed: Sequence[Any]) -> list[Row]:
        row, dataset, values = self.row(case), case.dataset, case.dataset.table[self.target]
        commonest = max_per_person((values == values.mode()[0]).to_numpy(), dataset.people)
        share = partial(_estimate_share, weights=_find_weights(dataset))
        rows = [row(np.nan, **columns) for columns in failed]
        return rows + [row(share(right), miner=name, baseline=share(commonest)) for name, right in by_miner.items()]


def _find_weights(dataset: Dataset) -> FloatArray | None:
    """Return the number of people in the population that each person represents: float array (people,), or None."""
    return None if dataset.weights is None else max_per_person(dataset.weights, dataset.people)


def _count_effective(weights: Any) -> float:
    """Return the effective sample size under unequal weights: Kish, Survey Sampling, 1965."""
    return weights.sum() ** 2 / (weights**2).sum()


def _estimate_share(right: Array, weights: FloatArray | None) -> ReportedCount:
    """Return the share of the population that is represented by the people in `right`, an array (people,) of 0 and 1.

    The share has a 95% interval. The share is withheld if the unweighted number of people would disclose a small count.
    """
    if weights is None:
        return estimate_share(right.sum(), len(right))
    share, n = np.average(right, weights=weights), _count_effective(weights)

    def of_population(people: Any, of: Any, limit: int) -> Any:
        value, *bounds = withholding.withhold_share(people, of, limit)
        return value if np.isnan(value) else share, *bounds

    return withholding.ReportedCount(right.sum(), len(right), wilson(share * n, n), of_population)


def _guess_commonest(dataset: Dataset, target: str) -> Array:
    return np.full(len(dataset), dataset.table[target].mode()[0], dtype=object)


@dataclass(frozen=True)
class WorkloadGain(WorkloadUtility):
    """The gain of a release in a researcher's utility: U_san(w) - U_base(w) of section 5.

    The gain is the gain of the researcher in Figures 1 to 4. U_base is the utility of the best miner on the better of
    the two trivial sanitizations.

    The rows are those of `WorkloadUtility`, and `workload_gain`: a share of people, with a 95% interval from paired
    values of the same people. The baseline is 0, the gain of the trivial sanitization. The gain of the original is the
    maximum gain.

    Parameters
    ----------
    target, miners, neutral, folds
        See `WorkloadUtility`.
    over : (Sanitizer, str), optional
        The trivial sanitization and the name of the miner that give U_base, if both are known. If given, only this
        miner is run on this sanitization, and the other trivial release is not mined.
    """

    over: tuple[Sanitizer, str] | None = None

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        by_miner, failed = self._learned(case.dataset, choose_release(case), case.seed, self.miners)
        rows, base = self._kept(case, by_miner, failed), _find_base(case.dataset, case.seed, self)
        for name, right in by_miner.items() if base is not None else ():
            gained = partial(self.row(case, "workload_gain"), miner=name)
            stand_for = _find_weights(case.dataset)
            if stand_for is None:
                gain, interval = np.mean(right - base), mean_interval(right - base)
            else:
                gain = np.average(right - base, weights=stand_for)
                spread = np.average((right - base - gain) ** 2, weights=stand_for)
                interval = normal_interval(gain, np.sqrt(spread / _count_effective(stand_for)))
            reveals = partial(withholding.Revealing, people=np.array([right.sum(), base.sum()]), of=len(base))
            rows.append(gained(reveals(gain, interval=interval), baseline=reveals(0)))
        return rows


@lru_cache(maxsize=MAX_CACHED_SEEDS)
def _find_base(dataset: Dataset, seed: int, asked: WorkloadGain) -> Any:
    """Return, as an array (people,), which people the best miner on the better trivial release predicts correctly.

    If `over` names the best sanitization and miner, only these are run. The result is None if no miner finished.
    """
    if asked.over:
        sanitizer, miner = asked.over
        return asked._learned(dataset, sanitize_or_replace(dataset, sanitizer, seed), seed, miner)[0].get(miner)
    learned = [
        asked._learned(dataset, sanitize_or_replace(dataset, each, seed), seed, asked.miners)[0]
        for each in list_trivial_sanitizers()
    ]
    return max((right for by_miner in learned for right in by_miner.values()), key=np.mean, default=None)
