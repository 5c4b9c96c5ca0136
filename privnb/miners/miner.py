"""What learns one column of a table from others and guesses it for other records, by resubstitution or unseen."""

import warnings
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype


@dataclass(frozen=True, eq=False)
class Miner:
    """A named pair of scikit-learn estimators: `classifier` for labels, `regressor` for numbers, None if there is none.

    `view` is the one of `encoding.Encoded` that they read, "features" or "labels". `fit` leaves the miner as it was.
    """

    name: str
    classifier: object = field(default=None, repr=False)
    regressor: object = field(default=None, repr=False)
    view: str = field(default="features", repr=False)
    most: float = field(default=float("inf"), repr=False)
    model: object = field(default=None, repr=False)
    values: object = field(default=None, repr=False)

    def predicts(self, target):
        """Whether it can guess a column like `target`: numbers take a regressor, labels a classifier.

        More than `most` different labels it cannot.
        """
        target = pd.Series(target)
        if is_numeric_dtype(target):
            return self.regressor is not None
        return self.classifier is not None and (self.most == float("inf") or target.nunique() <= self.most)

    def fit(self, encoded, target):
        """A copy that has learned `target`, array (n,) of numbers or labels, from n encoded records.

        Raises ValueError where it has no estimator for such a target: see `able`.
        """
        target = pd.Series(np.asarray(target))
        if not self.predicts(target):
            kind = "numbers" if is_numeric_dtype(target) else "labels"
            limit = f" of more than {self.most} values" if kind == "labels" and self.classifier is not None else ""
            raise ValueError(f"the miner '{self.name}' does not predict {kind}{limit}. Leave it out, as `able` does.")
        if is_numeric_dtype(target):
            model, learned, values = self.regressor, target.to_numpy(dtype=float), None
        else:
            learned, values = pd.factorize(target.astype(str), sort=True)
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

    def predict(self, encoded):
        """The guesses for n encoded records: array (n,) of numbers or labels. Equal records get equal guesses."""
        if self.model is None:
            raise ValueError(f"the miner '{self.name}' has learned nothing yet. Predict with what `fit` returns.")
        # A release has few distinct records: each is asked for once.
        _, first, back = np.unique(encoded.row, return_index=True, return_inverse=True)
        guesses = self.model.predict(getattr(encoded[first], self.view))[back]
        return guesses if self.values is None else self.values[guesses]


class _Constant:
    def fit(self, records, target):
        self.value = target[0]

    def predict(self, records):
        return np.full(len(records), self.value)


def able(miners, target):
    """Those of `miners` that can guess a column like `target`, and the names of the others, for results to state."""
    return [m for m in miners if m.predicts(target)], [m.name for m in miners if not m.predicts(target)]


def cross_val_predictions(miner, encoded, target, folds=10, seed=1):
    """A guess for each record by a miner that did not see it: array (n,) in the order of the records.

    The records are shuffled with `seed` and dealt to `folds` folds, label by label for a target of labels
    (stratified); the miner learns from all folds but one and guesses that one. A miner that has a method of this name,
    as Weka's have, guesses in its own way. Raises ValueError unless 2 <= folds <= n.
    """
    if hasattr(miner, "cross_val_predictions"):
        return miner.cross_val_predictions(encoded, target, folds=folds, seed=seed)
    target = np.asarray(target)
    fold = fold_numbers(target, folds, seed)
    guesses = np.empty(len(target), dtype=float if is_numeric_dtype(target) else object)
    for number in range(folds):
        held = fold == number
        guesses[held] = miner.fit(encoded[~held], target[~held]).predict(encoded[held])
    return guesses


def fold_numbers(target, folds, seed):
    """The fold, 0 to `folds` - 1, of each record: integer array (n,). Each label is spread evenly over the folds."""
    if not 2 <= folds <= len(target):
        raise ValueError(f"cross-validation needs 2 to {len(target)} folds (the number of records), got {folds}.")
    order = np.random.default_rng(seed).permutation(len(target))
    if not is_numeric_dtype(target):
        order = order[np.argsort(pd.factorize(target, sort=True)[0][order], kind="stable")]
    fold = np.empty(len(target), dtype=int)
    fold[order] = np.arange(len(target)) % folds
    return fold
