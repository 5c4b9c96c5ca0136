"""Fusions: miners that combine the predictions of several other miners, as an adversary may do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import factorize
from privnb.miners.encoding import Encoded
from privnb.miners.estimators import NaiveBayes
from privnb.miners.miner import Miner, check_encoded, check_miners, cross_val_predictions, select_able
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError

LastStep = Callable[[Sequence[Array]], Array]  # from the guesses of the members to one guess


def vote(guesses: Sequence[Array]) -> Array:
    """Return, as an array (n,), the most common label or the median number among miners' guesses for each record.

    `guesses` contains an array (n,) of labels or of numbers for each miner. If several labels are equally common, the
    result is the first of these labels in sorted order. A guess of None is not a vote; if all guesses for a record are
    None, the result is None.

    >>> vote([["30-39", "20-29"], ["20-29", "20-29"], ["40-49", "*"]]).tolist()
    ['20-29', '20-29']
    """
    if not expect.kind("guesses", guesses, list, tuple, instead="Give an array (n,) for each miner."):
        raise UsageError("`guesses` must be the guesses of at least one miner; got none.")
    for place, each in enumerate(guesses):
        expect.column(f"guesses[{place}]", each, len(guesses[0]))
    table = np.column_stack([np.asarray(each) for each in guesses])
    if is_numeric_dtype(table.dtype):
        return np.median(table, axis=1)
    codes, labels = factorize(table.ravel(), sort=True)
    codes = codes.reshape(table.shape)
    times = np.sum([codes == codes[:, [column]] for column in range(len(guesses))], axis=0)
    times[codes < 0] = 0  # code -1 is None
    won = np.where(times == times.max(axis=1, keepdims=True), codes, len(labels)).min(axis=1)
    return np.concatenate([np.asarray(labels, dtype=object), [None]])[won]


def voting(members: Sequence[Miner], encoded: Encoded, target: Array) -> LastStep:
    """Return `vote`, the last step of "fusion: vote", without any learning."""
    return vote


@dataclass(frozen=True, eq=False)
class Vote:
    """A miner that combines the predictions of its members, by default by `vote`.

    Members that cannot predict a target do not vote. The method `fit` also fits the members. By default, the
    predictions are the result of `vote` for the members' guesses. `learn` replaces this last step, for example by
    `stacking`, which learns from the release how reliable each member is.
    """

    name: str
    members: tuple[Miner, ...] = field(repr=False)
    learn: Callable[[Sequence[Miner], Encoded, Array], LastStep] = field(default=voting, repr=False)
    last: LastStep | None = field(default=None, repr=False)

    def predicts(self, target: Array) -> bool:
        """Return whether at least one member can predict a column like `target`."""
        return any(member.predicts(target) for member in self.members)

    def fit(self, encoded: Encoded, target: Array) -> Self:
        """Return a copy whose members have learned `target`; see `Miner.fit`."""
        members, names = select_able(self.members, target)
        if not members:
            raise UsageError(
                f"the miner '{self.name}' combines {names}, which cannot predict this target. Add a miner that can "
                "predict the target."
            )
        last = self.learn(members, encoded, np.asarray(target))
        return replace(self, members=tuple(member.fit(encoded, target) for member in members), last=last)

    def predict(self, encoded: Encoded) -> Array:
        """Return a guess, a number or a label, for each of n encoded records; equal records get equal guesses."""
        if self.last is None:
            raise UsageError(f"the miner '{self.name}' has learned nothing yet. Predict with the result of `fit`.")
        return self.last([member.predict(encoded) for member in self.members])


def stacking(members: Sequence[Miner], encoded: Encoded, target: Array) -> LastStep:
    """Return the last step of "fusion: stacked": a function that predicts the target from the members' guesses.

    At most 5,000 records are drawn at random once (seed 0) and divided into three folds, so that each member predicts
    records on which it was not trained. Naive Bayes, or ridge regression for numbers, then learns to predict the target
    from these guesses. The function learns only from the release.

    Source: Wolpert, "Stacked generalization", 1992.

    Parameters
    ----------
    members : list of Miner
    encoded : Encoded
        n records of the release.
    target : array (n,)
        The numbers or labels to learn.

    Returns
    -------
    function
        A function from the members' guesses, arrays (n,), to one array (n,).
    """
    check_miners("members", members)
    if not members:
        raise UsageError(f"`members` must hold at least one miner; got {members!r}.")
    check_encoded(encoded, target)
    target = np.asarray(target)
    chosen = np.sort(np.random.default_rng(0).permutation(len(target))[:5000])
    encoded, shown = encoded[chosen], target[chosen]
    folds = min(3, len(shown))
    guesses = [cross_val_predictions(member, encoded, shown, folds=folds) for member in members]
    if is_numeric_dtype(target.dtype):
        return _line(guesses, shown)
    shown, labels = factorize(shown.astype(str), sort=True)
    known = np.unique(target.astype(str))
    bayes = NaiveBayes().fit(_nominal(guesses, known), shown)
    return lambda guesses: np.asarray(labels, dtype=object)[bayes.predict(_nominal(guesses, known))]


def _line(guesses: list[Array], target: Array) -> LastStep:
    from sklearn.linear_model import Ridge

    known = ~np.isnan(target)
    model = Ridge(alpha=1.0).fit(np.column_stack(guesses)[known], target[known])
    return lambda guesses: model.predict(np.column_stack(guesses))


def _nominal(guesses: Sequence[Array], known: Array) -> pd.DataFrame:
    return pd.DataFrame({str(i): pd.Categorical(each, categories=known) for i, each in enumerate(guesses)})
