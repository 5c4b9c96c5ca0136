"""An owner's scenario: what honest users want of a release, what adversaries must not get, and the verdict on a
sanitizer (Sramka et al. 2010, section 2).

`Scenario(GoodUtility("salary"), AntiUtility("age")).judge(dataset, KMember(10))` is the paper's scenario A.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.encoding import encode
from privnb.evaluation import mine, published_name, stream
from privnb.hierarchy import flat
from privnb.measures import mining
from privnb.miners import able, cross_val_predictions, reference_set
from privnb.results import people_interval, rows_of, tidy, withheld
from privnb.sanitizers import Identity


class _Scores(NamedTuple):
    """What guesses are worth: of each miner and of the guess without the release an array (n,), and the weights."""

    by_miner: dict
    baseline: np.ndarray
    weights: np.ndarray

    @property
    def utilities(self):
        return {name: mining.weighted_sum(values, self.weights) for name, values in self.by_miner.items()}

    @property
    def counts(self):
        """Whether a utility is a number of people."""
        return all(np.isin(values, (0, 1)).all() for values in (*self.by_miner.values(), self.weights, self.baseline))

    def people(self, values):
        """How many people a utility comes from."""
        return int(np.count_nonzero(values * self.weights))


@dataclass(frozen=True, eq=False)
class _Idea:
    """What both utilities have in common: who guesses which columns, and how a guess counts. See the two below."""

    targets: str | Mapping[str, Callable]
    weights: object = None
    miners: str = "three"
    folds: int | None = None
    how: str = "sum"

    @property
    def functions(self):
        """The function that judges the guesses of each target: `{name: function}`."""
        if isinstance(self.targets, str):
            return {name.strip(): self.default for name in self.targets.split(",")}
        return dict(self.targets)

    @property
    def label(self):
        """The targets as results name them."""
        return f" {'+' if self.how == 'sum' else self.how} ".join(self.functions)

    def _scored(self, dataset, release, seed, sanitizer):
        """The `_Scores` of miners that can guess all targets as this release publishes them."""
        order = stream(seed, sanitizer, "publish")
        mined = {name: self._mined(release, published_name(dataset, name), seed, order) for name in self.functions}
        able_to_all = [
            m.name for m in reference_set(self.miners) if all(m.name in found for found, _ in mined.values())
        ]
        if not able_to_all:
            raise ValueError(f"no miner of {self.miners!r} can guess all of {', '.join(mined)}. Add another miner.")
        weights = self._interest(dataset, release)
        by_miner = {
            miner: self._worth({name: found[miner] for name, (found, _) in mined.items()}, dataset, release)
            for miner in able_to_all
        }
        without = self._without({name: guess for name, (_, guess) in mined.items()}, dataset, weights)
        return _Scores(by_miner, self._worth(without, dataset, release), weights)

    def _mined(self, release, target, seed, order):
        """`{miner: guesses}` of one target, arrays (n,), and the guess without the release."""
        if self.folds is None:
            return mine(release, target, self.miners, rng=order)
        _, guess = mine(release, target, "majority", rng=order)
        column = release.table[target].to_numpy()
        others = [name for name in release.schema.published if name != target]
        encoded = encode(release.table, others, release.schema, release.hierarchies)
        miners, _ = able(reference_set(self.miners), column)
        return {m.name: cross_val_predictions(m, encoded, column, folds=self.folds, seed=seed) for m in miners}, guess

    def _worth(self, guesses, dataset, release):
        """What each person's guesses are worth, over all targets: array (n,)."""
        values = []
        for name, function in self.functions.items():
            worth = np.asarray(self._judged(function, name, guesses[name], dataset, release), dtype=float)
            if worth.shape != (len(dataset),) or not np.isfinite(worth).all():
                raise ValueError(
                    f"the function that judges guesses of '{name}' must give a finite number for each of "
                    f"{len(dataset)} people; it gave an array of shape {worth.shape}."
                )
            values.append(worth)
        return mining.combine(values, self.how)

    def _interest(self, dataset, release):
        given = self._weighed(dataset, release) if callable(self.weights) else self.weights
        weights = np.ones(len(dataset)) if given is None else np.asarray(given, dtype=float)
        if weights.shape != (len(dataset),) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
            raise ValueError(
                f"interest weights are {len(dataset)} numbers from 0, one a person and not all 0; got an array of "
                f"shape {weights.shape} with sum {weights.sum():g}."
            )
        return weights


@dataclass(frozen=True, eq=False)
class GoodUtility(_Idea):
    """What an honest user does with a release: guess `targets`, to be right.

    `targets`: names of columns separated by commas, judged by exact match, or `{name: error}` with an error
    implication function each: `error(predicted, true)` gives an array (n,), high where there is no error. `weights`: w,
    the interest in each person, array (n,) in the dataset's order or a function of the original table that gives one;
    None: 1. `miners`: the set L, see `miners.reference_set`. `folds`: each person is guessed by miners that learned
    from the other folds, or, with None, by miners that learned from everybody, the paper's M(S(DB), S(x)). `how`:
    "sum", "any" or "all" of several targets. Its baseline is the best single answer for everybody, ZeroR for exact
    match. Section 2.3.
    """

    folds: int | None = 10
    default = staticmethod(mining.exact_match)

    def _judged(self, error, name, guess, dataset, release):
        return error(guess, dataset.table[name].to_numpy())

    def _weighed(self, dataset, release):
        return self.weights(dataset.table)

    def _without(self, guesses, dataset, weights):
        return {name: self._single_answer(name, dataset, weights) for name in self.functions}

    def _single_answer(self, name, dataset, weights):
        """The answer that, given for everybody, is worth most: array (n,) of one value."""
        true, error = dataset.table[name].to_numpy(), self.functions[name]
        # Of numbers a hundred quantiles are tried: a column may hold as many values as people.
        numeric = is_numeric_dtype(true)
        answers = np.unique(np.quantile(true, np.linspace(0, 1, 101), method="nearest") if numeric else true)
        everybody = [np.full(len(true), answer, dtype=true.dtype) for answer in answers]
        return max(everybody, key=lambda same: mining.weighted_sum(error(same, true), weights))


@dataclass(frozen=True, eq=False)
class AntiUtility(_Idea):
    """What an adversary does with a release: guess `targets`, to know more than was released.

    As `GoodUtility`, but `{name: reduction}` has error reduction functions, `reduction(predicted, released, true,
    hierarchy=...)`; a name alone is judged by `mining.nearer` with c = 0, and `partial(mining.nearer, c=50)` asks for
    more. `weights`: v, the wish to protect each person, array (n,) or a function of the original and the released
    table, such as `lambda table, released: mining.first_occurrences(released)` for distinct records. `miners`: the
    reference set M. `folds`: None, for the adversary learns from whom they attack; a number gives the control, miners
    that never saw the attacked people. Its baseline is the guess without the release of
    `MinerInference.baseline`. Section 2.4.
    """

    miners: str = "five"
    default = staticmethod(partial(mining.nearer, c=0))

    def _judged(self, reduction, name, guess, dataset, release):
        hierarchy = release.hierarchies.get(name) or flat(release.schema[name])
        released, true = release.table[name].to_numpy(), dataset.table[name].to_numpy()
        return reduction(guess, released, true, hierarchy=hierarchy)

    def _weighed(self, dataset, release):
        return self.weights(dataset.table, release.table)

    def _without(self, guesses, dataset, weights):
        return guesses


@dataclass(frozen=True)
class Acceptance:
    """Whether a sanitizer is acceptable to the owner (its truth value), and why not.

    `breaks`: the miners that break a threshold, `{"good": name, "bad": name}` with those that are broken alone.
    """

    breaks: Mapping[str, str]
    reason: str

    def __bool__(self):
        return not self.breaks


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """A sanitizer's place in a scenario. Section 2: (1 - `delta`, L)-utility-preserving and (`average`, `worst`,
    `worst_miner`)-privacy-losing.

    `original`, `utility`: good utility by miner's name, on the original and on the release; `utility_baseline`: of the
    best single answer. `delta`: the largest utility decline, 0 or more, and `declines_most`, its miner. `anti_utility`
    by miner's name, with `average`, `worst`, the `worst_miner` that attains it, and `worst_by_person`, which takes for
    each person their own worst miner; `baseline`: of the guess without the release. Lower protects more.
    `left_out`: the miners of each set, "good" and "bad", that cannot guess this release's columns: in no number.

    `table`: all of it as tidy `results`, for people: numbers that fewer than `fewest` people make are withheld there.
    The other fields are exact, for the owner alone.
    """

    sanitizer: object
    original: Mapping[str, float]
    utility: Mapping[str, float]
    utility_baseline: float
    delta: float
    declines_most: str
    anti_utility: Mapping[str, float]
    average: float
    worst: float
    worst_miner: str
    worst_by_person: float
    baseline: float
    left_out: Mapping[str, tuple[str, ...]]
    table: pd.DataFrame = field(repr=False)

    def __repr__(self):
        return (
            f"Verdict({self.sanitizer!r}: ({1 - self.delta:.4f}, {{{', '.join(self.utility)}}})-utility-preserving; "
            f"anti-utility {self._told('average')} on average, {self._told('worst')} at worst)"
        )

    def acceptable(self, min_good, max_bad):
        """The owner's decision, an `Acceptance`: true if every miner of L keeps enough and no miner of M gets too much.

        `min_good`: the smallest share of the original's good utility to keep, 1 - delta, 0..1. `max_bad`: the largest
        anti-utility of any one miner, in the scenario's unit (people, where guesses count 0 or 1). Section 2.1.
        """
        if not 0 <= min_good <= 1 or not max_bad >= 0:
            raise ValueError(
                f"min_good is a share of the original's good utility, 0..1, and max_bad an anti-utility from 0; got "
                f"{min_good!r} and {max_bad!r}."
            )
        breaks, reasons = {}, []
        if 1 - self.delta < min_good - 1e-12:  # 1 - 0.9 is a little less than 0.1
            breaks["good"] = self.declines_most
            reasons.append(f"{self.declines_most} keeps {1 - self.delta:.2%} of its good utility, below {min_good:.2%}")
        if self.worst > max_bad:
            breaks["bad"] = self.worst_miner
            reasons.append(f"{self.worst_miner} attains an anti-utility of {self._told('worst')}, above {max_bad:g}")
        return Acceptance(breaks, "; ".join(reasons) or "acceptable: no miner breaks a threshold")

    def _told(self, which):
        """An anti-utility as the table tells it."""
        rows = self.table[self.table.measure.str.endswith("anti_utility") & (self.table.miner == which)]
        value = rows.value.item()
        return "withheld (few people)" if np.isnan(value) else f"{value:g}"


@dataclass(frozen=True, eq=False)
class Scenario:
    """What an owner wants of a release and fears from it; `judge` says where a sanitizer stands. Section 2."""

    good: GoodUtility
    bad: AntiUtility

    def judge(self, dataset, sanitizer, *, rng=1, fewest=10):
        """The `Verdict` on one sanitizer. `rng`: int seed or Generator; the noise of a seed is that of `evaluation`.

        Raises ValueError where a miner's good utility on the original is not positive, since no decline is defined
        then, and for a release that miners do not read.
        """
        return self.compare(dataset, [sanitizer], rng=rng, fewest=fewest)[0]

    def compare(self, dataset, sanitizers, *, rng=1, fewest=10):
        """The verdicts on several sanitizers, in their order; the original is mined once."""
        seed = int(rng) if isinstance(rng, int | np.integer) else int(np.random.default_rng(rng).integers(2**32))
        as_is = Identity()
        original = self.good._scored(dataset, as_is.sanitize(dataset, rng=seed), seed, as_is)
        return [self._verdict(dataset, sanitizer, original, seed, fewest) for sanitizer in sanitizers]

    def _verdict(self, dataset, sanitizer, original, seed, fewest):
        release = sanitizer.sanitize(dataset, rng=stream(seed, sanitizer, "sanitize"))
        good = self.good._scored(dataset, release, seed, sanitizer)
        bad = self.bad._scored(dataset, release, seed, sanitizer)
        delta, declines_most = mining.utility_preserving(original.utilities, good.utilities)
        average, worst, worst_miner = mining.average_and_worst(bad.utilities)
        sets = {"good": (self.good.miners, good), "bad": (self.bad.miners, bad)}
        return Verdict(
            sanitizer=sanitizer,
            original=original.utilities,
            utility=good.utilities,
            utility_baseline=mining.weighted_sum(good.baseline, good.weights),
            delta=delta,
            declines_most=declines_most,
            anti_utility=bad.utilities,
            average=average,
            worst=worst,
            worst_miner=worst_miner,
            worst_by_person=mining.weighted_sum(mining.worst_by_person(bad.by_miner), bad.weights),
            baseline=mining.weighted_sum(bad.baseline, bad.weights),
            left_out={
                side: tuple(m.name for m in reference_set(names) if m.name not in scores.by_miner)
                for side, (names, scores) in sets.items()
            },
            table=withheld(
                tidy(
                    _good_rows(rows_of(dataset, Identity(), seed), self.good.label, original, original)
                    + _good_rows(rows_of(dataset, sanitizer, seed), self.good.label, good, original)
                    + _bad_rows(rows_of(dataset, sanitizer, seed), self.bad.label, bad, fewest)
                ),
                fewest,
            ),
        )


def _good_rows(row, target, scores, original):
    rows, (measure, interval) = [], _unit("good_utility", scores)
    baseline = mining.weighted_sum(scores.baseline, scores.weights)
    for name, value in scores.utilities.items():
        rows.append(row(measure, value, name, target, *interval(value), baseline, "higher"))
        decline = mining.utility_decline(original.utilities[name], value)
        rows.append(row("utility_decline", decline, name, target, better="lower"))
    delta, _ = mining.utility_preserving(original.utilities, scores.utilities)
    return [*rows, row("utility_decline", delta, "worst", target, better="lower")]


def _bad_rows(row, target, scores, fewest):
    """Rows per miner, `average`, `worst` and `worst by person`, without numbers that few people make."""
    measure, interval = _unit("anti_utility", scores)
    by_miner = scores.by_miner
    average, _, worst_miner = mining.average_and_worst(scores.utilities)
    sums = {**by_miner, "worst": by_miner[worst_miner], "worst by person": mining.worst_by_person(by_miner)}
    few = {name: 0 < scores.people(values) < fewest for name, values in sums.items()}
    baseline = mining.weighted_sum(scores.baseline, scores.weights)
    if not scores.counts and 0 < scores.people(scores.baseline) < fewest:
        baseline = np.nan
    rows = []
    for name, values in sums.items():
        value = mining.weighted_sum(values, scores.weights)
        # Of a count `withheld` keeps the bounds; any other sum of few people has none.
        told = np.nan if few[name] and not scores.counts else value
        rows.append(row(measure, told, name, target, *interval(value), baseline, "lower"))
    average = np.nan if any(few.values()) else average  # with the others it would tell the withheld ones
    return [*rows, row(measure, average, "average", target, baseline=baseline, better="lower")]


def _unit(measure, scores):
    """The measure's name and its interval: a sum that does not count people is `weighted_...` and has none."""
    if scores.counts:
        return measure, lambda value: people_interval(value, int(scores.weights.sum()))
    return f"weighted_{measure}", lambda value: (np.nan, np.nan)
