"""Miners by name: what learns one column of a table from others, and guesses it for other records.

Trained and asked on the same records (resubstitution, as adversaries do: they have no others), a tree repeats what it
was shown. A guess of a noisy number is then the noise itself, so trees for numbers have at least 50 records a leaf:
a record's own released value weighs at most 2 % in its guess. Trees for labels keep the usual small leaves, and
mostly repeat the released label: a weak attack, but the one that such a miner is.
"""

import warnings
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

SETS = {
    # Sramka et al. 2010, section 4.3: the set L of Table 1.
    "three": ("naive Bayes", "decision tree", "random forest"),
    # Five for either kind of target: naive Bayes guesses labels only, linear regression numbers only.
    "five": ("majority", "decision stump", "naive Bayes", "linear regression", "decision tree", "random forest"),
}


@dataclass(frozen=True, eq=False)
class Miner:
    """A named pair of scikit-learn estimators: `classifier` for labels, `regressor` for numbers, None if there is none.

    `view` is the one of `encoding.Encoded` that they read, "features" or "labels". `fit` leaves the miner as it was.
    """

    name: str
    classifier: object = field(default=None, repr=False)
    regressor: object = field(default=None, repr=False)
    view: str = field(default="features", repr=False)
    model: object = field(default=None, repr=False)
    values: object = field(default=None, repr=False)

    def predicts(self, target):
        """Whether it can guess a column like `target`: numbers take a regressor, labels a classifier."""
        return (self.regressor if is_numeric_dtype(pd.Series(target)) else self.classifier) is not None

    def fit(self, encoded, target):
        """A copy that has learned `target`, array (n,) of numbers or labels, from n encoded records.

        Raises ValueError where it has no estimator for such a target: see `able`.
        """
        target = pd.Series(np.asarray(target))
        if not self.predicts(target):
            kind = "numbers" if is_numeric_dtype(target) else "labels"
            raise ValueError(f"the miner '{self.name}' does not predict {kind}. Leave it out, as `able` does.")
        if is_numeric_dtype(target):
            model, learned, values = self.regressor, target.to_numpy(dtype=float), None
        else:
            learned, values = pd.factorize(target.astype(str), sort=True)
            model, values = self.classifier, np.asarray(values, dtype=object)
        model = deepcopy(model)
        with warnings.catch_warnings():
            # A released column may hold nearly as many labels as records; they are labels all the same.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
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


def reference_set(names):
    """The miners of a set ("three", "five") or of a comma-separated list of their names, as a tuple.

    Raises ValueError for an unknown name, with the list of those known.

    >>> [miner.name for miner in reference_set("majority, three")]
    ['majority', 'naive Bayes', 'decision tree', 'random forest']
    """
    known = _miners()
    parts = [part.strip() for part in names.split(",")]
    unknown = [part for part in parts if part not in SETS and part not in known]
    if unknown:
        raise ValueError(f"there is no miner {unknown}. Name a set, {', '.join(SETS)}, or miners: {', '.join(known)}.")
    return tuple(known[name] for name in dict.fromkeys(name for part in parts for name in SETS.get(part, (part,))))


def able(miners, target):
    """Those of `miners` that can guess a column like `target`, and the names of the others, for results to state."""
    return [m for m in miners if m.predicts(target)], [m.name for m in miners if not m.predicts(target)]


def cross_val_predictions(miner, encoded, target, folds=10, seed=1):
    """A guess for each record by a miner that did not see it: array (n,) in the order of the records.

    The records are shuffled with `seed` and dealt to `folds` folds, label by label for a target of labels
    (stratified); the miner learns from all folds but one and guesses that one.
    Raises ValueError unless 2 <= folds <= n.
    """
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


class NaiveBayes:
    """Naive Bayes over numbers and labels together: within a class every column is independent of the others.

    Numbers are Gaussian (with 1e-9 of the largest variance added, as in scikit-learn), labels are counted with one
    added to each count. A label that training showed nothing of (code -1) says nothing.
    """

    def fit(self, labels, target):
        """`labels`: DataFrame (n, attributes) of numbers and Categoricals; `target`: integer array (n,), 0 to t - 1."""
        size = np.bincount(target)
        numeric = [name for name in labels if is_numeric_dtype(labels[name])]
        jitter = 1e-9 * max((np.var(labels[name]) for name in numeric), default=0) or 1e-9
        self.prior, self.tables, self.bells = np.log(size / size.sum()), {}, {}
        for name in labels:
            if name in numeric:
                values = labels[name].to_numpy()
                mean = np.bincount(target, values) / size
                self.bells[name] = mean, np.bincount(target, (values - mean[target]) ** 2) / size + jitter
                continue
            width = len(labels[name].cat.categories)
            codes = labels[name].cat.codes.to_numpy().astype(int)
            shown = codes >= 0
            counts = np.bincount(target[shown] * width + codes[shown], minlength=len(size) * width) + 1.0
            counts = counts.reshape(len(size), width)
            # The last column serves code -1.
            shares = np.log(counts / counts.sum(axis=1, keepdims=True))
            self.tables[name] = np.column_stack([shares, np.zeros(len(size))]).T
        return self

    def log_likelihood(self, labels):
        """Logarithm of class and record together, float array (n, t)."""
        total = np.tile(self.prior, (len(labels), 1))
        for name, table in self.tables.items():
            total += table[labels[name].cat.codes.to_numpy()]
        for name, (mean, variance) in self.bells.items():
            distance = (labels[name].to_numpy()[:, None] - mean) ** 2
            total -= (np.log(2 * np.pi * variance) + distance / variance) / 2
        return total

    def predict(self, labels):
        """The likeliest class of each record, integer array (n,)."""
        return self.log_likelihood(labels).argmax(axis=1)


@cache
def _miners():
    """All miners by name. Settings are stated here and tuned to no result."""
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    # Ten trees are Weka 3.6's default. A fixed seed: trees draw lots even where they consider all columns.
    forest = {"n_estimators": 10, "n_jobs": 1, "random_state": 0}
    miners = (
        Miner("majority", DummyClassifier(strategy="most_frequent"), DummyRegressor(strategy="mean")),
        Miner(
            "decision stump",
            DecisionTreeClassifier(max_depth=1, random_state=0),
            DecisionTreeRegressor(max_depth=1, random_state=0),
        ),
        Miner("naive Bayes", NaiveBayes(), view="labels"),
        # The ridge makes the answer unique, since the shares of an attribute's leaves add up to 1; in double precision,
        # since noise dwarfs shares.
        Miner(
            "linear regression",
            regressor=make_pipeline(FunctionTransformer(np.float64), StandardScaler(), Ridge(alpha=1.0)),
        ),
        Miner(
            "decision tree",
            DecisionTreeClassifier(min_samples_leaf=2, ccp_alpha=5e-5, random_state=0),
            DecisionTreeRegressor(min_samples_leaf=50, random_state=0),
        ),
        Miner(
            "random forest",
            RandomForestClassifier(**forest),
            RandomForestRegressor(min_samples_leaf=50, **forest),
        ),
    )
    return {miner.name: miner for miner in miners}
