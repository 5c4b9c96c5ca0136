"""What a release gives a researcher with a workload (Brickell and Shmatikov, KDD 2008, sections 5 and 6).

A workload is one attribute that the researcher wants to predict, sensitive or neutral. They read all that is published,
and are measured in people guessed right, against the same ends as the adversary of `disclosures`. Which neutral
attributes they use is a parameter; other choices than the paper's stand in `knows`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from privnb.attacks import MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import published_name
from privnb.evaluation.cases import SEEDS_AT_A_TIME, Case, Question
from privnb.evaluation.disclosure.disclosures import is_withheld, neutral_names, released, stand_in, trivial
from privnb.evaluation.predictions import AsksMiners, Miners, miners_of, unseen
from privnb.evaluation.results import Row, guessed
from privnb.measures.base import state
from privnb.measures.intervals import mean_interval, normal_interval, wilson
from privnb.measures.utility.mining import exact_match
from privnb.microdata import withholding
from privnb.microdata.counts import most_of_people
from privnb.microdata.release import Release
from privnb.microdata.schema import Role
from privnb.microdata.withholding import Counted
from privnb.miners import able
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.sanitizers.base import Sanitizer

state(
    "workload_utility",
    kind="utility",
    better="higher",
    sentence="Share of people whose workload attribute a researcher's miner predicts rightly, in cross-validation.",
    source="Brickell and Shmatikov, KDD 2008, section 5, U_san",
    unit="share of people",
    baseline="commonest value for all",
    varies=True,
    axis=True,
)
state(
    "workload_gain",
    kind="utility",
    better="higher",
    bounds=(-1, 1),
    sentence="How many more people, as a share, a researcher's miner predicts rightly than from the better trivial "
    "release.",
    source="Brickell and Shmatikov, KDD 2008, section 5",
    unit="share of people",
    format="{:+%} of people",
    baseline="trivial release",
    axis=True,
)


@dataclass(frozen=True)
class Utility(AsksMiners, Question):
    """Share of people whose `target` miners predict rightly from each release, in cross-validation: U_san(w) of section
    5; U_max for the original. Table 2 is `reference_sanitizers()`, the original and the one without quasi-identifiers,
    for each target.

    Rows `workload_utility` (0 to 1) of each miner, with a 95% interval; baseline: the commonest value. Where a release
    withholds the target, that is all that anybody can guess, from the table of its own that it is in. Or, in `status`,
    why a miner has no guess: of a bucketized release none has, for miners do not read those. With sampling weights the
    shares are of the population, of whoever has several records by any of them.

    Parameters
    ----------
    target : str
        A sensitive or neutral attribute of categories.
    miners : str, estimator, or list of those
        See `miners.reference_set`.
    neutral : str
        The neutral attributes that the researcher uses beside quasi-identifiers and sensitive ones: names separated by
        commas; "all", or empty for none.
    folds : int
        Of the cross-validation, from 2.
    """

    target: str
    miners: Miners = "decision tree"
    neutral: str = "all"
    folds: int = 10

    main = "workload_utility"
    axes = ("workload_utility",)
    reorders = varies = True

    def check(self, dataset: Dataset) -> None:
        """Raise ValueError for what is no workload of this dataset, and for names that are no neutral attributes."""
        attribute = dataset.schema[published_name(dataset, self.target)]
        if attribute.role is Role.QUASI_IDENTIFIER or attribute.numeric:
            raise UsageError(
                f"'{self.target}' is no workload: it is {'a number' if attribute.numeric else 'a quasi-identifier'}, "
                "seldom published or predicted exactly. Choose a sensitive or neutral attribute of categories."
            )
        neutral_names(dataset, self.neutral, self.target)

    def row(self, case: Case, measure: str = main) -> Callable[..., Row]:
        used = ", ".join(neutral_names(case.dataset, self.neutral, self.target)) or "no neutral attribute"
        return partial(case.row, measure, target=self.target, knows=used if self._unused(case.dataset) else "")

    def rows(self, case: Case) -> list[Row]:
        return self._kept(case, *self._learned(case.dataset, stand_in(case), case.seed, self.miners))

    def _unused(self, dataset: Dataset) -> list[Any]:
        used = neutral_names(dataset, self.neutral, self.target)
        return [name for name in dataset.schema.names(Role.NEUTRAL) if name not in (*used, self.target)]

    def _learned(self, dataset: Dataset, release: Release, seed: int, miners: Miners) -> tuple[Any, ...]:
        """Whom the miners guess right, if only by one of their records: `{miner: array (people,) of 0 and 1}`; and what
        rows say of others, which have no guess.
        """
        true, commonest = dataset.table[self.target].to_numpy(), _commonest(dataset, self.target)
        if is_withheld(release, self.target):
            right = most_of_people(exact_match(commonest, true), dataset.people)
            return {miner.name: right for miner in able(miners_of(miners), commonest)[0]}, []
        if not MinerInference.can_read(release):  # buckets: whose value is whose is not published
            return {}, [{"miner": miner.name, "status": "refused"} for miner in miners_of(miners)]
        unused = self._unused(dataset)
        schema = release.schema.with_roles({a.name: a.role for a in release.schema.attributes if a.name not in unused})
        read = replace(release, table=release.table.drop(columns=unused), schema=schema)
        found = unseen(read, self.target, miners, folds=self.folds, seed=seed)
        guesses, failed = found.guesses.items(), [found.columns(name) for name in found.failed]
        return {name: most_of_people(exact_match(guess, true), dataset.people) for name, guess in guesses}, failed

    def _kept(self, case: Case, by_miner: Mapping[str, FloatArray], failed: Sequence[Any]) -> list[Row]:
        row, dataset, values = self.row(case), case.dataset, case.dataset.table[self.target]
        commonest = most_of_people((values == values.mode()[0]).to_numpy(), dataset.people)
        share = partial(_share, weights=_weights(dataset))
        rows = [row(np.nan, **columns) for columns in failed]
        return rows + [row(share(right), miner=name, baseline=share(commonest)) for name, right in by_miner.items()]


def _weights(dataset: Dataset) -> FloatArray | None:
    """For how many people of the population each person stands: float array (people,), or None."""
    return None if dataset.weights is None else most_of_people(dataset.weights, dataset.people)


def _effective(weights: Any) -> float:
    """How many people with equal weights would say as much: Kish, Survey Sampling, 1965."""
    return weights.sum() ** 2 / (weights**2).sum()


def _share(right: Array, weights: FloatArray | None) -> Counted:
    """The share of people who are `right`, array (people,) of 0 and 1, of the population that they stand for, and its
    95% interval; withheld where so many people, whatever they stand for, would tell of few.
    """
    if weights is None:
        return guessed(right.sum(), len(right))
    share, n = np.average(right, weights=weights), _effective(weights)

    def of_population(people: Any, of: Any, limit: int) -> Any:
        value, *bounds = withholding.share(people, of, limit)
        return value if np.isnan(value) else share, *bounds

    return withholding.Counted(right.sum(), len(right), wilson(share * n, n), of_population)


def _commonest(dataset: Dataset, target: str) -> Array:
    return np.full(len(dataset), dataset.table[target].mode()[0], dtype=object)


@dataclass(frozen=True)
class Gained(Utility):
    """What a release adds to a researcher's utility: U_san(w) - U_base(w) of section 5 (the researcher of Figures 1 to
    4). U_base is that of the best miner from the better trivial sanitization.

    Rows as `Utility` has, and `workload_gain`: a share of people, with a 95% interval, each person compared with
    themselves; baseline: 0, the trivial sanitization's. That of the original is all that there is to gain.

    Parameters
    ----------
    target, miners, neutral, folds
        As of `Utility`.
    over : (Sanitizer, str), optional
        The trivial sanitization and the miner, by name, that are known to give U_base: then the trivial ones are not
        mined again.
    """

    over: tuple[Sanitizer, str] | None = None

    def rows(self, case: Case) -> list[Row]:
        by_miner, failed = self._learned(case.dataset, stand_in(case), case.seed, self.miners)
        rows, base = self._kept(case, by_miner, failed), _base(case.dataset, case.seed, self)
        for name, right in by_miner.items() if base is not None else ():
            gained = partial(self.row(case, "workload_gain"), miner=name)
            stand_for = _weights(case.dataset)
            if stand_for is None:
                gain, interval = np.mean(right - base), mean_interval(right - base)
            else:
                gain = np.average(right - base, weights=stand_for)
                spread = np.average((right - base - gain) ** 2, weights=stand_for)
                interval = normal_interval(gain, np.sqrt(spread / _effective(stand_for)))
            reveals = partial(withholding.Revealing, people=np.array([right.sum(), base.sum()]), of=len(base))
            rows.append(gained(reveals(gain, interval=interval), baseline=reveals(0)))
        return rows


@lru_cache(maxsize=SEEDS_AT_A_TIME)
def _base(dataset: Dataset, seed: int, asked: Gained) -> Any:
    """Whom the best miner on the better trivial release guesses right, or the one that is known to be best: array (n,);
    None where none finished.
    """
    if asked.over:
        sanitizer, miner = asked.over
        return asked._learned(dataset, released(dataset, sanitizer, seed), seed, miner)[0].get(miner)
    learned = [asked._learned(dataset, released(dataset, each, seed), seed, asked.miners)[0] for each in trivial()]
    return max((right for by_miner in learned for right in by_miner.values()), key=np.mean, default=None)
