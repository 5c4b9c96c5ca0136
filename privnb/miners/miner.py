"""What learns one column of a table from others and guesses it for other records, by resubstitution or unseen."""

import warnings
from collections.abc import Sequence, Sized
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import distinct_codes, factorized
from privnb.microdata.treatment import Unreadable
from privnb.miners.encoding import Encoded, taken
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.runtime.validation import Seed, validated


class Failed(Unreadable):
    """A miner cannot learn from such records, or cannot guess them."""


class Predictor(Protocol):
    """What a miner's `fit` returns: something that guesses for n encoded records, array (n,) of numbers or labels."""

    def predict(self, encoded: Encoded) -> Array: ...


AnyMiner = TypeVar("AnyMiner", bound=Any)


@dataclass(frozen=True, eq=False)
class Miner:
    """A named pair of scikit-learn estimators.

    `fit` leaves the miner as it was.

    Parameters
    ----------
    name : str
    classifier, regressor : estimator, optional
        For labels and for numbers; None if there is none.
    view : str
        The one of `encoding.Encoded` that they read: "features", "labels" or, all of it, "records".
    most : float
        How many different labels it can guess.
    model, values : object
        What `fit` learned: the fitted estimator, and the labels that its guesses stand for.
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
                raise UsageTypeError(
                    f"{name} must be an estimator of scikit-learn's kind, got {getattr(self, name)!r}."
                )
        expect.one_of("view", self.view, ("features", "labels", "records"))
        if not (isinstance(self.most, float) and self.most == float("inf")):
            expect.above("most", self.most, 0, "it is how many labels it can guess")

    def predicts(self, target: Any) -> bool:
        """Whether it can guess a column like `target`: numbers take a regressor, labels a classifier.

        More than `most` different labels it cannot.
        """
        target = pd.Series(target)
        if is_numeric_dtype(target):
            return self.regressor is not None
        return self.classifier is not None and (self.most == float("inf") or target.nunique() <= self.most)

    def explain_refusal(self, target: Any) -> str:
        """Return why it cannot guess a column like `target`, as a sentence."""
        kind = "numbers" if is_numeric_dtype(pd.Series(target)) else "labels"
        limit = f" of more than {self.most} values" if kind == "labels" and self.classifier is not None else ""
        return f"the miner '{self.name}' does not predict {kind}{limit}. Leave it out, as `able` does."

    def fit(self, encoded: Encoded, target: Any) -> Self:
        """A copy that has learned `target`, array (n,) of numbers or labels, from n encoded records.

        Of whom the number is missing nothing is learned. Raises ValueError where it has no estimator for such a target:
        see `able`.
        """
        target = pd.Series(np.asarray(target))
        if not self.predicts(target):
            raise Failed(self.explain_refusal(target))
        if is_numeric_dtype(target):
            model, learned, values = self.regressor, target.to_numpy(dtype=float), None
            if (missing := np.isnan(learned)).any():
                encoded, learned = encoded[~missing], learned[~missing]
        else:
            learned, values = factorized(target.astype(str), sort=True)
            # Some estimators refuse to learn a single label, which everything else would answer with.
            model = self.classifier if len(values) > 1 else _Constant()
            values = np.asarray(values, dtype=object)
        model = deepcopy(model)
        with warnings.catch_warnings():
            # A released column may hold nearly as many labels as records; they are labels all the same.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
            # Where the steps are bounded, the fit of the last one stands.
            warnings.filterwarnings("ignore", message="lbfgs failed to converge")
            model.fit(getattr(encoded, self.view), learned)
        return replace(self, model=model, values=values)

    def predict(self, encoded: Encoded) -> Array:
        """Return the guesses for n encoded records, numbers or labels; equal records get equal ones."""
        if self.model is None:
            raise UsageError(f"the miner '{self.name}' has learned nothing yet. Predict with what `fit` returns.")
        # A release has few distinct records: each is asked for once.
        first, back = distinct_codes([encoded.row], [encoded.row.max(initial=0) + 1])
        guesses = self.model.predict(taken(getattr(encoded, self.view), first))[back]
        return guesses if self.values is None else self.values[guesses]


class _Constant:
    def fit(self, records: object, target: Array) -> None:
        self.value = target[0]

    def predict(self, records: Sized) -> Array:
        return np.full(len(records), self.value)


def check_miners(name: str, miners: object) -> None:
    """Raise TypeError unless `miners` is a list of what says whether it predicts a column: miners of any kind."""
    if not isinstance(miners, list | tuple) or not all(hasattr(miner, "predicts") for miner in miners):
        raise UsageTypeError(f"{name} must be miners, as reference_set(names) gives them, got {expect.found(miners)}.")


def check_encoded(encoded: Any, target: Any) -> None:
    """Raise unless records are encoded, and each has its value of `target`."""
    expect.kind("encoded", encoded, Encoded, instead="`encoding.encode` gives it.")
    expect.column("target", target, len(encoded))


def able(miners: Sequence[AnyMiner], target: Any) -> tuple[list[AnyMiner], list[str]]:
    """Return those of `miners` that can guess a column like `target`, and the others, for results to state.

    Parameters
    ----------
    miners : list of Miner
    target : array (n,)

    Returns
    -------
    able : list of Miner
    others : list of str
        Their names.
    """
    check_miners("miners", miners)
    expect.column("target", target)
    return [m for m in miners if m.predicts(target)], [m.name for m in miners if not m.predicts(target)]


@validated
def cross_val_predictions(
    miner: Any, encoded: Encoded, target: Any, folds: int = 10, seed: Seed = 1, people: IntArray | None = None
) -> Array:
    """A guess for each record by a miner that did not see it.

    The records are shuffled with `seed` and dealt to `folds` folds, label by label for a target of labels (stratified);
    the miner learns from all folds but one and guesses that one. A miner that has a method of this name, as Weka's
    have, guesses in its own way.

    Parameters
    ----------
    miner : Miner
    encoded : Encoded
        n records.
    target : array (n,)
        Numbers or labels.
    folds : int
        2 to n.
    seed : int
    people : integer array (n,), optional
        Whose each record is, from 0: all of a person's fall into one fold, for no miner learns from whom it guesses.
        None: each is another person's.

    Returns
    -------
    array (n,)
        In the order of the records.

    Raises
    ------
    ValueError
        For another number of folds.
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
    """The fold of each record. Each label is spread evenly over the folds.

    Parameters
    ----------
    target : array (n,)
    folds : int
        2 to n.
    seed : int

    Returns
    -------
    integer array (n,)
        0 to `folds` - 1.

    Raises
    ------
    ValueError
        For another number of folds.
    """
    expect.column("target", target)
    if not (expect.is_whole(folds) and 2 <= folds <= len(target)):
        raise UsageError(
            f"cross-validation needs 2 to {len(target)} folds (the number of records), got {expect.found(folds)}."
        )
    target = np.asarray(target)
    order = np.random.default_rng(seed).permutation(len(target))
    if not is_numeric_dtype(target):
        order = order[np.argsort(factorized(target, sort=True)[0][order], kind="stable")]
    fold = np.empty(len(target), dtype=int)
    fold[order] = np.arange(len(target)) % folds
    return fold
