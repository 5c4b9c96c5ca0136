"""Utilities of users and of adversaries: guesses, and their values (Sramka et al. 2010, sections 2.3 and 2.4)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import check_published
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.predictions import (
    Miners,
    Predictions,
    WithMiners,
    name_miners,
    predict_cross_validated,
    predict_in_sample,
)
from privnb.evaluation.results import Row, compute_people_interval, tidy, withhold_counts
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.counts import max_per_person
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Release
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import parse_names
from privnb.runtime.validation import Folds, Validated, validated


class GuessValues(NamedTuple):
    """The values of guesses, as arrays (n,) for each miner and for the guess without the release, and the weights."""

    by_miner: dict[str, FloatArray]
    baseline: np.ndarray
    weights: np.ndarray

    @property
    def utilities(self) -> dict[str, float]:
        """Return the utility of each miner, `{miner: utility}`: the weighted sum of the values of its guesses."""
        return {name: mining.sum_weighted(values, self.weights) for name, values in self.by_miner.items()}

    @property
    def counts(self) -> bool:
        """Return whether a utility is a number of people."""
        return all(np.isin(values, (0, 1)).all() for values in (*self.by_miner.values(), self.weights, self.baseline))

    @property
    def of(self) -> int:
        """Return the number of people with a weight above 0."""
        return int(np.count_nonzero(self.weights))

    def tells(self, values: FloatArray, limit: int) -> bool:
        """Return whether few people contribute to a utility.

        If each person counts in full or not at all, also return True if only few people do not contribute.
        """
        people = np.count_nonzero(values * self.weights)
        of = self.of if np.isin(values, (0, 1)).all() else np.inf
        return bool(withholding.reveals_few(people, of, limit))


def _check_targets(name: str, value: Any) -> None:
    """Raise TypeError or ValueError unless `value` lists columns, or maps each column to a function."""
    if isinstance(value, str):
        expect.text(name, value, "columns")
    elif not expect.kind(name, value, str, Mapping, instead="Name columns, or give a function for each."):
        raise UsageError(f"{name} must name at least one column; got {value!r}.")
    else:
        for column, function in value.items():
            expect.function(f"{name}[{column!r}]", function)


@dataclass(frozen=True, eq=False)
class _Objective(WithMiners, Validated, ABC):
    """The common part of `GoodUtility` and `AntiUtility`: the target columns, the miners, and the value of a guess."""

    targets: Annotated[str | Mapping[str, Callable[..., Any]], _check_targets]
    weights: Annotated[Any, lambda name, value: value is None or callable(value) or expect.column(name, value)] = None
    miners: Miners = "basic"
    folds: Folds | None = None
    how: mining.How = "sum"
    default: ClassVar[Callable[..., Any]]

    def __post_init__(self) -> None:
        Validated.__post_init__(self)
        WithMiners.__post_init__(self)

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the function that judges the guesses of each target, `{name: function}`."""
        if isinstance(self.targets, str):
            return dict.fromkeys(parse_names(self.targets), self.default)
        return dict(self.targets)

    @property
    def label(self) -> str:
        """Return the name of the targets in results."""
        return f" {'+' if self.how == 'sum' else self.how} ".join(self.functions)

    @validated
    def check(self, dataset: Dataset) -> None:
        """Raise ValueError if the weights are invalid or all 0 when the original takes the place of a release."""
        self._interest(dataset, dataset)

    def scored(self, case: Case) -> GuessValues:
        """Return the `GuessValues` of miners that can guess all targets in the form that the release publishes."""
        return self.score(self.mined(case), case.dataset, case.release)

    def mined(self, case: Case) -> dict[str, Predictions]:
        """Return the miners' predictions of each target, `{target: Predictions}`."""
        found, order = {}, case.stream("publish")
        for name in map(partial(check_published, case.dataset), self.functions):
            if self.folds is None:
                found[name] = predict_in_sample(case.release, name, self.miners, rng=order)
            else:
                found[name] = predict_cross_validated(case.release, name, self.miners, folds=self.folds, seed=case.seed)
        return found

    def score(self, mined: Mapping[str, Predictions], dataset: Dataset, release: Release) -> GuessValues:
        """Return the `GuessValues` of given predictions, `{target: Predictions}`."""
        first, *others = mined.values()
        names = [name for name in first.guesses if all(name in found.guesses for found in others)]
        if not names:
            raise UsageError(
                f"no miner of {name_miners(self.miners)!r} can guess all of {', '.join(mined)}. Add another miner."
            )
        weights = self._interest(dataset, release)
        by_miner = {
            miner: self.worth({name: found.guesses[miner] for name, found in mined.items()}, dataset, release)
            for miner in names
        }
        without = self._without({name: found.baseline for name, found in mined.items()}, dataset, weights)
        return GuessValues(by_miner, self.worth(without, dataset, release), weights)

    @abstractmethod
    def _judged(
        self, function: Callable[..., Any], name: str, guess: Array, dataset: Dataset, release: Release
    ) -> Array:
        """Return the value of each guess, as an array (n,)."""

    @abstractmethod
    def _weighed(self, dataset: Dataset, release: Dataset | Release) -> Any:
        """Return, as an array (n,), the weights that the function `weights` computes."""

    @abstractmethod
    def _without(self, guesses: dict[str, Array], dataset: Dataset, weights: FloatArray) -> dict[str, Array]:
        """Return the guesses about each target that are made without the release."""

    def worth(self, guesses: Mapping[str, Array], dataset: Dataset, release: Release) -> FloatArray:
        """Return, as a float array (n,), the value of the guesses about each person, combined over all targets.

        If a person has several records, the best guess counts, because one record is enough for a correct guess.

        Parameters
        ----------
        guesses : dict of str to array
            The guesses of each target.
        dataset : Dataset
        release : Release

        Returns
        -------
        float array (n,)

        Raises
        ------
        ValueError
            If a function that judges guesses does not return a finite number for each record.
        """
        values: list[FloatArray] = []
        for name, function in self.functions.items():
            worth: FloatArray = np.asarray(self._judged(function, name, guesses[name], dataset, release), dtype=float)
            if worth.shape != (len(dataset),) or not np.isfinite(worth).all():
                raise UsageError(
                    f"the function that judges guesses of '{name}' must give a finite number for each of "
                    f"{len(dataset)} people; got an array of shape {worth.shape}."
                )
            values.append(worth)
        return max_per_person(mining.combine(values, self.how), dataset.people)

    def _interest(self, dataset: Dataset, release: Dataset | Release) -> FloatArray:
        given = self._weighed(dataset, release) if callable(self.weights) else self.weights
        weights = np.ones(len(dataset)) if given is None else np.asarray(given, dtype=float)
        if weights.shape != (len(dataset),) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
            raise UsageError(
                f"interest weights must be {len(dataset)} numbers of at least 0, one for each person and not all 0; "
                f"got an array of shape {weights.shape} with sum {weights.sum():g}."
            )
        return max_per_person(weights, dataset.people)


@dataclass(frozen=True, eq=False)
class GoodUtility(_Objective):
    """The utility of a release for an honest user, who predicts `targets` (section 2.3).

    The baseline is the single answer that has the largest value if it is given for everybody; for exact match, this is
    the answer of ZeroR.

    Parameters
    ----------
    targets : str, or dict of str to function
        Names of columns, separated by commas, whose guesses are judged by exact match; or a dict with an error
        implication function for each column. The function `error(predicted, true)` returns an array (n,) with high
        values for guesses without an error.
    weights : array or function, optional
        w, the interest in each person: an array (n,) in the order of the dataset, or a function of the original table
        that returns such an array; if None, all weights are 1.
    miners : str, estimator, or list of those
        The set L, see `miners.reference_set`.
    folds : int or None
        The number of folds; each person is predicted by miners that learned from the other folds. If None, each person
        is predicted by miners that learned from everybody, as in the paper's M(S(DB), S(x)).
    how : str
        The way to combine the values of several targets: "sum", "any" or "all".
    """

    folds: Folds | None = 10
    default = staticmethod(mining.exact_match)

    def _judged(
        self, function: Callable[..., Any], name: str, guess: Array, dataset: Dataset, release: Release
    ) -> Array:
        return function(guess, dataset.table[name].to_numpy())

    def _weighed(self, dataset: Dataset, release: Dataset | Release) -> Any:
        return self.weights(dataset.table)

    def _without(self, guesses: dict[str, Array], dataset: Dataset, weights: FloatArray) -> dict[str, Array]:
        return {name: self._single_answer(name, dataset, weights) for name in self.functions}

    def _single_answer(self, name: str, dataset: Dataset, weights: FloatArray) -> Array:
        """Return an array (n,) that repeats the answer with the largest total value if it is given for everybody."""
        true, error = dataset.table[name].to_numpy(), self.functions[name]
        # A numeric column may have a different value for each person, so only a hundred quantiles are tried.
        numeric = is_numeric_dtype(true)
        known = true[~np.isnan(true)] if numeric else true
        answers = np.unique(np.quantile(known, np.linspace(0, 1, 101), method="nearest") if numeric else known)
        everybody = [np.full(len(true), answer, dtype=true.dtype) for answer in answers]

        def worth(same: Array) -> float:
            return mining.sum_weighted(max_per_person(error(same, true), dataset.people), weights)

        return max(everybody, key=worth)


@dataclass(frozen=True, eq=False)
class AntiUtility(_Objective):
    """The utility of a release for an adversary, whose predictions of `targets` improve on the release (section 2.4).

    The baseline is the guess without the release; see `MinerInference.baseline`.

    Parameters
    ----------
    targets : str, or dict of str to function
        Names of columns, separated by commas, whose guesses are judged by `mining.nearer` with c = 0; or a dict with an
        error reduction function `reduction(predicted, released, true, hierarchy=...)` for each column. For example,
        `partial(mining.nearer, c=50)` requires a larger reduction of the error.
    weights : array or function, optional
        v, the wish to protect each person: an array (n,), or a function of the original and the released table that
        returns such an array. For example, `lambda table, released: mining.first_occurrences(released)` counts distinct
        records. If None, all weights are 1.
    miners : str, estimator, or list of those
        The reference set M.
    folds : int or None
        If None, the miners learn from the people who are attacked. If a number of folds is given, the miners do not
        learn from the attacked people; this is a control.
    how : str
        See `GoodUtility`.
    """

    miners: Miners = "standard"
    default = staticmethod(partial(mining.nearer, c=0))

    def _judged(
        self, function: Callable[..., Any], name: str, guess: Array, dataset: Dataset, release: Release
    ) -> BoolArray:
        hierarchy = release.hierarchies.get(name) or flat(release.schema[name])
        released, true = release.table[name].to_numpy(), dataset.table[name].to_numpy()
        return function(guess, released, true, hierarchy=hierarchy)

    def _weighed(self, dataset: Dataset, release: Dataset | Release) -> Any:
        return self.weights(dataset.table, release.table)

    def _without(self, guesses: dict[str, Array], dataset: Dataset, weights: FloatArray) -> dict[str, Array]:
        return guesses


def build_failed_rows(row: Callable[..., Row], measure: str, found: Predictions, **columns: Any) -> list[Row]:
    """Return, for each miner without a guess, a row with the reason."""
    return [row(measure, np.nan, **found.columns(name), **columns) for name in found.failed]


def build_anti_utility_rows(row: Callable[..., Row], scores: GuessValues, min_count: int) -> pd.DataFrame:
    """Return rows of anti-utility by miner, withheld if they count few people, or all people but a few."""
    (counted, interval), rows = describe_unit(scores), []
    made = partial(row, "anti_utility", baseline=withhold_baseline(scores, min_count), **counted)
    for name, value in scores.utilities.items():
        # A withheld count keeps its bounds; any other sum over few people has no bounds.
        few = not scores.counts and scores.tells(scores.by_miner[name], min_count)
        rows.append(made(np.nan if few else value, miner=name, interval=interval(value)))
    return withhold_counts(tidy(rows), min_count, scores.of)


def withhold_baseline(scores: GuessValues, min_count: int) -> float:
    """Return the anti-utility of the guess without the release; NaN for a sum over few people."""
    few = not scores.counts and scores.tells(scores.baseline, min_count)
    return np.nan if few else mining.sum_weighted(scores.baseline, scores.weights)


def describe_unit(scores: GuessValues) -> tuple[dict[str, int], Callable[..., Any]]:
    """Return the columns that describe what a utility counts, and a function from a utility's value to its interval.

    A sum that does not count people is "weighted" and has no interval.
    """
    if scores.counts:
        return {"of": scores.of}, lambda value: compute_people_interval(value, scores.of)
    return {"variant": "weighted", "of": scores.weights.sum()}, lambda value: (np.nan, np.nan)
