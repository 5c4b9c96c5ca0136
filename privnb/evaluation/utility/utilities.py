"""What honest users want of a release and what adversaries must not get: guesses, and what they are worth (Sramka et
al. 2010, sections 2.3 and 2.4).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import published_name
from privnb.evaluation.cases import Case
from privnb.evaluation.predictions import AsksMiners, Mined, Miners, mine, name_miners, unseen
from privnb.evaluation.results import Row, people_interval, tidy, withheld
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.counts import most_of_people
from privnb.microdata.hierarchy import flat
from privnb.microdata.release import Release
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import names_in
from privnb.runtime.validation import Folds, Validated, validated


class Scores(NamedTuple):
    """What guesses are worth: of each miner and of the guess without the release an array (n,), and the weights."""

    by_miner: dict[str, FloatArray]
    baseline: np.ndarray
    weights: np.ndarray

    @property
    def utilities(self) -> dict[str, float]:
        return {name: mining.weighted_sum(values, self.weights) for name, values in self.by_miner.items()}

    @property
    def counts(self) -> bool:
        """Whether a utility is a number of people."""
        return all(np.isin(values, (0, 1)).all() for values in (*self.by_miner.values(), self.weights, self.baseline))

    @property
    def of(self) -> int:
        """How many people are weighed at all."""
        return int(np.count_nonzero(self.weights))

    def tells(self, values: FloatArray, limit: int) -> bool:
        """Whether a utility comes from few people or, where each counts in full or not at all, from all but few."""
        people = np.count_nonzero(values * self.weights)
        of = self.of if np.isin(values, (0, 1)).all() else np.inf
        return bool(withholding.tells(people, of, limit))


def _check_targets(name: str, value: Any) -> None:
    """Raise TypeError or ValueError unless `value` names columns, or gives a function for each."""
    if isinstance(value, str):
        expect.text(name, value, "columns")
    elif not expect.kind(name, value, str, Mapping, instead="Name columns, or give a function for each."):
        raise UsageError(f"{name} must name one column or more, got {value!r}.")
    else:
        for column, function in value.items():
            expect.function(f"{name}[{column!r}]", function)


@dataclass(frozen=True, eq=False)
class _Idea(AsksMiners, Validated, ABC):
    """What both utilities have in common: who guesses which columns, and how a guess counts. See the two below."""

    targets: Annotated[str | Mapping[str, Callable[..., Any]], _check_targets]
    weights: Annotated[Any, lambda name, value: value is None or callable(value) or expect.column(name, value)] = None
    miners: Miners = "three"
    folds: Folds | None = None
    how: mining.How = "sum"
    default: ClassVar[Callable[..., Any]]

    def __post_init__(self) -> None:
        Validated.__post_init__(self)
        AsksMiners.__post_init__(self)

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The function that judges the guesses of each target: `{name: function}`."""
        if isinstance(self.targets, str):
            return dict.fromkeys(names_in(self.targets), self.default)
        return dict(self.targets)

    @property
    def label(self) -> str:
        """The targets as results name them."""
        return f" {'+' if self.how == 'sum' else self.how} ".join(self.functions)

    @validated
    def check(self, dataset: Dataset) -> None:
        """Raises ValueError for weights that weigh nobody, tried on the original in the place of a release."""
        self._interest(dataset, dataset)

    def scored(self, case: Case) -> Scores:
        """The `Scores` of miners that can guess all targets as the release of the case publishes them."""
        return self.score(self.mined(case), case.dataset, case.release)

    def mined(self, case: Case) -> dict[str, Mined]:
        """What the miners guess of each target: `{target: mined.Mined}`."""
        found, order = {}, case.stream("publish")
        for name in map(partial(published_name, case.dataset), self.functions):
            if self.folds is None:
                found[name] = mine(case.release, name, self.miners, rng=order)
            else:
                found[name] = unseen(case.release, name, self.miners, folds=self.folds, seed=case.seed)
        return found

    def score(self, mined: Mapping[str, Mined], dataset: Dataset, release: Release) -> Scores:
        """The `Scores` of guesses that are there already: `{target: mined.Mined}`."""
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
        return Scores(by_miner, self.worth(without, dataset, release), weights)

    @abstractmethod
    def _judged(
        self, function: Callable[..., Any], name: str, guess: Array, dataset: Dataset, release: Release
    ) -> Array:
        """What each guess is worth: array (n,)."""

    @abstractmethod
    def _weighed(self, dataset: Dataset, release: Dataset | Release) -> Any:
        """The weights that a function gives: array (n,)."""

    @abstractmethod
    def _without(self, guesses: dict[str, Array], dataset: Dataset, weights: FloatArray) -> dict[str, Array]:
        """What is guessed of each target without the release."""

    def worth(self, guesses: Mapping[str, Array], dataset: Dataset, release: Release) -> FloatArray:
        """What each person's guesses are worth, over all targets: array (n,). Of one with several records the best is,
        as whoever is found by any of them is found.
        """
        values: list[FloatArray] = []
        for name, function in self.functions.items():
            worth: FloatArray = np.asarray(self._judged(function, name, guesses[name], dataset, release), dtype=float)
            if worth.shape != (len(dataset),) or not np.isfinite(worth).all():
                raise UsageError(
                    f"the function that judges guesses of '{name}' must give a finite number for each of "
                    f"{len(dataset)} people; it gave an array of shape {worth.shape}."
                )
            values.append(worth)
        return most_of_people(mining.combine(values, self.how), dataset.people)

    def _interest(self, dataset: Dataset, release: Dataset | Release) -> FloatArray:
        given = self._weighed(dataset, release) if callable(self.weights) else self.weights
        weights = np.ones(len(dataset)) if given is None else np.asarray(given, dtype=float)
        if weights.shape != (len(dataset),) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
            raise UsageError(
                f"interest weights are {len(dataset)} numbers from 0, one per person and not all 0; got an array of "
                f"shape {weights.shape} with sum {weights.sum():g}."
            )
        return most_of_people(weights, dataset.people)


@dataclass(frozen=True, eq=False)
class GoodUtility(_Idea):
    """What an honest user does with a release: guess `targets`, to be right. Section 2.3.

    Its baseline is the best single answer for everybody, ZeroR for exact match.

    Parameters
    ----------
    targets : str, or dict of str to function
        Names of columns separated by commas, judged by exact match, or an error implication function of each:
        `error(predicted, true)` gives an array (n,), high where there is no error.
    weights : array or function, optional
        w, the interest in each person, (n,) in the dataset's order, or a function of the original table that gives it;
        None: 1.
    miners : str, estimator, or list of those
        The set L, see `miners.reference_set`.
    folds : int or None
        Each person is guessed by miners that learned from the other folds, or, with None, by miners that learned from
        everybody, the paper's M(S(DB), S(x)).
    how : str
        "sum", "any" or "all" of several targets.
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
        """The answer that, given for everybody, is worth most: array (n,) of one value."""
        true, error = dataset.table[name].to_numpy(), self.functions[name]
        # Of numbers a hundred quantiles are tried: a column may hold as many values as people.
        numeric = is_numeric_dtype(true)
        known = true[~np.isnan(true)] if numeric else true
        answers = np.unique(np.quantile(known, np.linspace(0, 1, 101), method="nearest") if numeric else known)
        everybody = [np.full(len(true), answer, dtype=true.dtype) for answer in answers]

        def worth(same: Array) -> float:
            return mining.weighted_sum(most_of_people(error(same, true), dataset.people), weights)

        return max(everybody, key=worth)


@dataclass(frozen=True, eq=False)
class AntiUtility(_Idea):
    """What an adversary does with a release: guess `targets`, to know more than was released. Section 2.4.

    Its baseline is the guess without the release of `MinerInference.baseline`.

    Parameters
    ----------
    targets : str, or dict of str to function
        Names of columns separated by commas, judged by `mining.nearer` with c = 0, or an error reduction function of
        each, `reduction(predicted, released, true, hierarchy=...)`; `partial(mining.nearer, c=50)` asks for more.
    weights : array or function, optional
        v, the wish to protect each person, (n,), or a function of the original and the released table, such as `lambda
        table, released: mining.first_occurrences(released)` for distinct records; None: 1.
    miners : str, estimator, or list of those
        The reference set M.
    folds : int or None
        None, for the adversary learns from whom they attack; a number gives the control, miners that never saw the
        attacked people.
    how : str
        As of `GoodUtility`.
    """

    miners: Miners = "five"
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


def failed_rows(row: Callable[..., Row], measure: str, found: Mined, **columns: Any) -> list[Row]:
    """A row of each miner of a `predictions.Mined` that has no guess, with the reason."""
    return [row(measure, np.nan, **found.columns(name), **columns) for name in found.failed]


def bad_rows(row: Callable[..., Row], scores: Scores, fewest: int) -> pd.DataFrame:
    """Rows of anti-utility by miner; a number that fewer than `fewest` people make, or all but so few, is withheld."""
    (counted, interval), rows = unit(scores), []
    made = partial(row, "anti_utility", baseline=shown_baseline(scores, fewest), **counted)
    for name, value in scores.utilities.items():
        # Of a count `withheld` keeps the bounds; any other sum of few people has none.
        few = not scores.counts and scores.tells(scores.by_miner[name], fewest)
        rows.append(made(np.nan if few else value, miner=name, interval=interval(value)))
    return withheld(tidy(rows), fewest, scores.of)


def shown_baseline(scores: Scores, fewest: int) -> float:
    """The anti-utility of the guess; NaN for a sum that tells of fewer than `fewest` (counts `withheld` masks)."""
    few = not scores.counts and scores.tells(scores.baseline, fewest)
    return np.nan if few else mining.weighted_sum(scores.baseline, scores.weights)


def unit(scores: Scores) -> tuple[dict[str, int], Callable[..., Any]]:
    """Columns that say of a utility what it counts, and a function from its value to its interval.

    A sum that does not count people is "weighted" and has no interval.
    """
    if scores.counts:
        return {"of": scores.of}, lambda value: people_interval(value, scores.of)
    return {"variant": "weighted", "of": scores.weights.sum()}, lambda value: (np.nan, np.nan)
