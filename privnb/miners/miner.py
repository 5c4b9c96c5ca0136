"""The `Miner`, which learns one column of a table from other columns, and cross-validation of its predictions."""

import warnings
from collections.abc import Sequence, Sized
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import factorize, group_codes
from privnb.microdata.treatment import Unreadable
from privnb.miners.encoding import Encoded, take_records
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.validation import Seed, validated


class Failed(Unreadable):
    """The error of a miner that cannot learn from some records, or cannot predict them."""


class Predictor(Protocol):
    """A fitted miner, which `fit` returns."""

    def predict(self, encoded: Encoded) -> Array:
        """Return, as an array (n,), a guess for each of n encoded records; a guess is a number or a label."""


AnyMiner = TypeVar("AnyMiner", bound=Any)
OLD_SETS = {"three": "basic", "five": "standard"}  # sets of miners by their names of version 0.1


@dataclass(frozen=True, eq=False)
class Miner:
    """A pair of scikit-learn estimators with a name; `fit` returns a fitted copy and leaves the miner unchanged.

    Parameters
    ----------
    name : str
    classifier, regressor : estimator, optional
        The estimators for labels and for numbers.
    view : str
        The view of `encoding.Encoded` that the estimators read: "features", "labels", or "records" for both views.
    most : float
        The maximum number of different labels that the miner can predict.
    model, values : object
        The fitted estimator, and the labels of its predictions.
    """

    HINT: ClassVar[str] = "reference_set(names) gives some."
    name: str
    classifier: Any = field(default=None, repr=False)
    regressor: Any = field(default=None, repr=False)
    view: str = field(default="features", repr=False)
    most: float = field(default=float("inf"), repr=False)
    model: Any = field(default=None, repr=False)
    values: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        expect.text("name", self.name, "the miner")
        for name in ("classifier", "regressor"):
            if getattr(self, name) is not None and not hasattr(getattr(self, name), "fit"):
                raise UsageTypeError(f"`{name}` must be a scikit-learn estimator; got {getattr(self, name)!r}.")
        expect.one_of("view", self.view, ("features", "labels", "records"))
        if not (isinstance(self.most, float) and self.most == float("inf")):
            expect.above("most", self.most, 0, "it is the number of labels that the miner can predict")

    def predicts(self, target: Any) -> bool:
        """Return whether the miner can predict a column like `target`.

        A column of numbers requires a regressor. A column of labels requires a classifier, and must have at most `most`
        different labels.
        """
        target = pd.Series(target)
        if is_numeric_dtype(target):
            return self.regressor is not None
        return self.classifier is not None and (self.most == float("inf") or target.nunique() <= self.most)

    def explain_refusal(self, target: Any) -> str:
        """Return a sentence that explains why the miner cannot predict a column like `target`."""
        kind = "numbers" if is_numeric_dtype(pd.Series(target)) else "labels"
        limit = f" of more than {self.most} values" if kind == "labels" and self.classifier is not None else ""
        return f"the miner '{self.name}' does not predict {kind}{limit}. Leave it out, as `select_able` does."

    def fit(self, encoded: Encoded, target: Any) -> Self:
        """Return a copy that has learned `target`, an array (n,) of numbers or labels, from n encoded records.

        If `target` is numeric, records with a missing number in `target` are left out. Raises ValueError if the miner
        cannot predict the target; see `select_able`.
        """
        target = pd.Series(np.asarray(target))
        if not self.predicts(target):
            raise Failed(self.explain_refusal(target))
        if is_numeric_dtype(target):
            model, learned, values = self.regressor, target.to_numpy(dtype=float), None
            if (missing := np.isnan(learned)).any():
                encoded, learned = encoded[~missing], learned[~missing]
        else:
            learned, values = factorize(target.astype(str), sort=True)
            # Some estimators refuse to learn a single label; all others would always predict it.
            model = self.classifier if len(values) > 1 else _Constant()
            values = np.asarray(values, dtype=object)
        model = deepcopy(model)
        with warnings.catch_warnings():
            # A released column may have nearly one label for each record.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
            # # The number of steps is bounded, and the fit of the last step is good enough.
            warnings.filterwarnings("ignore", message="lbfgs failed to converge")
            model.fit(getattr(encoded, self.view), learned)
        return replace(self, model=model, values=values)

    def predict(self, encoded: Encoded) -> Array:
        """Return a guess, a number or a label, for each of n encoded records; equal records get equal guesses."""
        if self.model is None:
            raise UsageError(f"the miner '{self.name}' has learned nothing yet. Predict with the result of `fit`.")
        # A release has few distinct records: each is predicted once.
        first, back = group_codes([encoded.row], [encoded.row.max(initial=0) + 1])
        guesses = self.model.predict(take_records(getattr(encoded, self.view), first))[back]
        return guesses if self.values is None else self.values[guesses]


class _Constant:
    def fit(self, records: object, target: Array) -> None:
        self.value = target[0]

    def predict(self, records: Sized) -> Array:
        return np.full(len(records), self.value)


def check_miners(name: str, miners: object) -> None:
    """Raise TypeError unless `miners` is a list of miners, which are objects with a method `predicts`."""
    if not isinstance(miners, list | tuple) or not all(hasattr(miner, "predicts") for miner in miners):
        raise UsageTypeError(
            f"`{name}` must be a list of miners; got {expect.describe_value(miners)}. Try reference_set(names)."
        )


def check_encoded(encoded: Any, target: Any) -> None:
    """Raise an error unless `encoded` contains encoded records and `target` contains one value for each record."""
    expect.kind("encoded", encoded, Encoded, instead="`encoding.encode` gives it.")
    expect.column("target", target, len(encoded))


def rename_set(name: str) -> str:
    """Return the current name of a set of miners, with a warning if the given name is from version 0.1.

    Any other name is returned unchanged.
    """
    if name not in OLD_SETS:
        return name
    warn_renamed(name, OLD_SETS[name])
    return OLD_SETS[name]


def select_able(miners: Sequence[AnyMiner], target: Any) -> tuple[list[AnyMiner], list[str]]:
    """Return the miners that can predict a column like `target`, and the names of the other miners.

    Parameters
    ----------
    miners : list of Miner
    target : array (n,)

    Returns
    -------
    able : list of Miner
    names : list of str
        The names of the miners that cannot predict such a column; results list these names.
    """
    check_miners("miners", miners)
    expect.column("target", target)
    return [m for m in miners if m.predicts(target)], [m.name for m in miners if not m.predicts(target)]


@validated
def cross_val_predictions(
    miner: Any, encoded: Encoded, target: Any, folds: int = 10, seed: Seed = 1, people: IntArray | None = None
) -> Array:
    """Return a prediction for each record by a miner that was not trained on that record.

    The records are shuffled with `seed` and divided into folds, stratified by label. For each fold, the miner learns
    from the records of all other folds and predicts the records of this fold. If `people` is None, a miner that has a
    method `cross_val_predictions`, such as a Weka miner, uses this method instead.

    Parameters
    ----------
    miner : Miner
    encoded : Encoded
        n records.
    target : array (n,)
        The numbers or labels to predict.
    folds : int
        The number of folds, from 2 to n.
    seed : int
    people : integer array (n,), optional
        The person of each record, from 0. All records of a person are in one fold, so that no miner learns from a
        person whom it predicts. If None, each record belongs to a different person.

    Returns
    -------
    array (n,)
        The predictions in the order of the records.

    Raises
    ------
    ValueError
        If the number of folds is out of range.
    """
    check_miners("miner", [miner])
    check_encoded(encoded, target)
    if people is not None:
        expect.vector("people", people, len(target))
    if people is None and hasattr(miner, "cross_val_predictions"):
        return miner.cross_val_predictions(encoded, target, folds=folds, seed=seed)
    target = np.asarray(target)
    if people is None:
        fold = fold_numbers(target, folds, seed)
    else:
        _, first, person = np.unique(people, return_index=True, return_inverse=True)
        fold = fold_numbers(target[first], folds, seed)[person]
    guesses = np.empty(len(target), dtype=float if is_numeric_dtype(target) else object)
    for number in range(folds):
        held = fold == number
        guesses[held] = miner.fit(encoded[~held], target[~held]).predict(encoded[held])
    return guesses


@validated
def fold_numbers(target: Any, folds: int, seed: Seed) -> IntArray:
    """Return the fold of each record; each label is spread evenly over the folds.

    Parameters
    ----------
    target : array (n,)
    folds : int
        The number of folds, from 2 to n.
    seed : int

    Returns
    -------
    integer array (n,)
        The fold of each record, 0 to `folds` - 1.

    Raises
    ------
    ValueError
        If the number of folds is out of range.
    """
    expect.column("target", target)
    if not (expect.is_whole(folds) and 2 <= folds <= len(target)):
        raise UsageError(
            f"`folds` must be from 2 to {len(target)}, the number of records; got {expect.describe_value(folds)}."
        )
    target = np.asarray(target)
    order = np.random.default_rng(seed).permutation(len(target))
    if not is_numeric_dtype(target):
        order = order[np.argsort(factorize(target, sort=True)[0][order], kind="stable")]
    fold = np.empty(len(target), dtype=int)
    fold[order] = np.arange(len(target)) % folds
    return fold
