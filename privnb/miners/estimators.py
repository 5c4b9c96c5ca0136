"""Estimators that scikit-learn lacks, or whose scikit-learn version would be too slow.

Estimators have the methods `fit(records, target)` and `predict(records)`; `records` is one of the views of
`encoding.Encoded`. A target of labels is an integer array that contains all numbers from 0 to t - 1; a target of
numbers is a float array. If several labels are equally good, an estimator predicts the label with the lowest number.
"""

from functools import cache
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import factorize, group_codes
from privnb.miners.encoding import Encoded, take_records
from privnb.runtime.arrays import Array, FloatArray, IntArray


class Estimator(Protocol):
    """An object with the methods `fit` and `predict` of scikit-learn's estimators."""

    def fit(self, records: Any, target: Array, /) -> Any:
        """Learn the target from n records."""

    def predict(self, records: Any, /) -> Array:
        """Return a guess for each record."""


class Around:
    """The base class of estimators that wrap another estimator."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    def predict(self, records: Any) -> Array:
        """Return the wrapped estimator's guess for each record."""
        return self.estimator.predict(records)


class NaiveBayes:
    """A naive Bayes classifier for columns of numbers and of labels, assumed to be independent within each class.

    Numbers have a Gaussian distribution within each class; 1e-9 times the largest variance of a column is added to each
    variance, as in scikit-learn. 1 is added to the count of each label. A label that was absent in training (code -1)
    and a missing number have no effect.
    """

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        """Learn `target`, integers (n,) from 0 to t - 1, from `labels` (n, attributes) of numbers and Categoricals."""
        size = np.bincount(target)
        numeric = [name for name in labels if is_numeric_dtype(labels[name])]
        jitter = 1e-9 * max((np.var(labels[name]) for name in numeric), default=0) or 1e-9
        self.prior = np.log(size / size.sum())
        self.tables: dict[str, FloatArray] = {}
        self.bells: dict[str, tuple[FloatArray, FloatArray]] = {}
        for name in labels:
            if name in numeric:
                self.bells[name] = _bells(labels[name].to_numpy(), target, jitter)
                continue
            width = len(labels[name].cat.categories)
            codes = labels[name].cat.codes.to_numpy().astype(int)
            shown = codes >= 0
            counts = np.bincount(target[shown] * width + codes[shown], minlength=len(size) * width) + 1.0
            counts = counts.reshape(len(size), width)
            # # The last column belongs to code -1.
            shares = np.log(counts / counts.sum(axis=1, keepdims=True))
            self.tables[name] = np.column_stack([shares, np.zeros(len(size))]).T
        return self

    def log_likelihood(self, labels: pd.DataFrame) -> FloatArray:
        """Return the logarithm of the joint probability of each record and each class, as a float array (n, t)."""
        total = np.tile(self.prior, (len(labels), 1))
        for name, table in self.tables.items():
            total += table[labels[name].cat.codes.to_numpy()]
        for name, (mean, variance) in self.bells.items():
            distance = (labels[name].to_numpy()[:, None] - mean) ** 2
            surprise = (np.log(2 * np.pi * variance) + distance / variance) / 2
            total -= np.where(np.isnan(distance), 0, surprise)
        return total

    def predict(self, labels: pd.DataFrame) -> Array:
        """Return the most likely class of each record, as an integer array (n,)."""
        return self.log_likelihood(labels).argmax(axis=1)


def _bells(values: FloatArray, target: IntArray, jitter: float) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the variance of a column's numbers in each class, as two float arrays (t,).

    Missing numbers are left out. If all numbers of a class are missing, the class gets the mean and the variance over
    all classes.
    """
    known, classes = ~np.isnan(values), int(target.max()) + 1
    values, target = values[known], target[known]
    people = np.bincount(target, minlength=classes)
    size = np.maximum(people, 1)
    mean = np.bincount(target, values, classes) / size
    variance = np.bincount(target, (values - mean[target]) ** 2, classes) / size
    if not people.all() and len(values):
        mean, variance = np.where(people > 0, (mean, variance), [[values.mean()], [values.var()]])
    return mean, variance + jitter


class Discretised(Around):
    """A wrapper that replaces numbers by labels, their tenths in the training records, for an estimator of labels.

    A missing number is replaced by a separate label.
    """

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        """Divide the numbers of each column into tenths, and fit the estimator to these tenths."""
        tenths = np.linspace(0, 1, 11)[1:-1]
        numbers = {name: labels[name].to_numpy() for name in labels if is_numeric_dtype(labels[name])}
        known = {name: column[~np.isnan(column)] for name, column in numbers.items()}
        self.edges = {n: np.unique(np.quantile(c, tenths, method="lower")) if len(c) else c for n, c in known.items()}
        self.widths = {n: len(self.edges[n]) + 1 + (len(known[n]) < len(numbers[n])) for n in numbers}
        self.estimator.fit(self._cut(labels), target)
        return self

    def predict(self, labels: pd.DataFrame) -> Array:
        """Return the estimator's guess for each record, from the tenths of the record's numbers."""
        return self.estimator.predict(self._cut(labels))

    def _cut(self, labels: pd.DataFrame) -> pd.DataFrame:
        cut = {}
        for name, edges in self.edges.items():
            codes, width = np.searchsorted(edges, labels[name], side="left"), self.widths[name]
            missing = len(edges) + 1 if width > len(edges) + 1 else -1  # -1 if no number was missing in training
            codes = np.where(np.isnan(labels[name]), missing, codes)
            cut[name] = pd.Categorical.from_codes(codes, range(width))
        return pd.DataFrame({name: cut.get(name, labels[name].array) for name in labels})


class OnceEach:
    """A wrapper that fits a scikit-learn tree to each distinct record only once.

    The fitted tree is the same as without the wrapper; for most releases, the fit takes less time. The wrapper reads
    the whole `encoding.Encoded`, which identifies equal records.
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def fit(self, records: Any, target: Array) -> Self:
        """Fit the tree to the distinct records, each weighted by the number of times that it occurs."""
        first, index = _equal(records, target)
        self.tree = fit_weighted(self.tree, records.features[first], target[first], np.bincount(index))
        return self

    def predict(self, records: Any) -> Array:
        """Return the tree's guess for each record."""
        return self.tree.predict(records.features)


def fit_weighted(tree: Any, records: FloatArray, target: Array, times: IntArray) -> Any:
    """Return a new scikit-learn tree, fitted to distinct `records`, (m, columns), that are weighted by `times`, (m,).

    The result equals a tree that is fitted to a table in which each record occurs `times` times.
    """
    from sklearn.base import clone

    tree, many, min_records = clone(tree), int(times.sum()), tree.min_samples_leaf
    if 2 * min_records > many:  # no split is possible, and scikit-learn refuses such a share
        return tree.fit(np.repeat(records, times, axis=0), np.repeat(target, times))
    # Leaves are counted by weight. A quarter is subtracted so that rounding does not reach the whole number.
    tree.set_params(min_samples_leaf=1, min_weight_fraction_leaf=(min_records - 0.25) / many)
    return tree.fit(records, target, sample_weight=times)


class ForestOnceEach:
    """A random forest for labels that reads each distinct record once; a leaf may consist of a single person.

    The trees and guesses are those of scikit-learn's `RandomForestClassifier` with the same number of trees and seed.
    """

    def __init__(self, trees: int, seed: int) -> None:
        from sklearn.tree import DecisionTreeClassifier

        lots = np.random.RandomState(seed)
        self.trees = [
            DecisionTreeClassifier(max_features="sqrt", random_state=lots.randint(np.iinfo(np.int32).max))
            for _ in range(trees)
        ]

    def fit(self, records: Any, target: Array) -> Self:
        """Fit each tree to a bootstrap sample of the records."""
        first, index = _equal(records, target)
        features, values = records.features[first], target[first]
        for tree in self.trees:
            drawn = np.random.RandomState(tree.random_state).randint(0, len(target), len(target), dtype=np.int32)
            tree.fit(features, values, sample_weight=np.bincount(index[drawn], minlength=len(first)))
        return self

    def predict(self, records: Any) -> Array:
        """Return the forest's guess for each record."""
        return np.sum([tree.predict_proba(records.features) for tree in self.trees], axis=0).argmax(axis=1)


class OfFeatures(Around):
    """A wrapper for an estimator of features, if the other estimator of a miner reads the whole `encoding.Encoded`."""

    def fit(self, records: Any, target: Array) -> Self:
        """Fit the estimator to the features."""
        self.estimator.fit(records.features, target)
        return self

    def predict(self, records: Any) -> Array:
        """Return the estimator's guess for each record, from the features of the record."""
        return self.estimator.predict(records.features)


def _equal(records: Encoded, target: Array) -> tuple[IntArray, IntArray]:
    """Group records with equal columns and targets; return the first record of each group, and each record's group."""
    codes = factorize(target)[0]
    return group_codes([records.row, codes], [records.row.max() + 1, codes.max() + 1])


class Subsampled(Around):
    """A wrapper that fits an estimator to at most `most` records, which are drawn at random once (seed 0)."""

    def __init__(self, estimator: Estimator, most: int) -> None:
        super().__init__(estimator)
        self.most = most

    def fit(self, records: Any, target: Array) -> Self:
        """Draw the records, and fit the estimator to them."""
        chosen = np.sort(np.random.default_rng(0).permutation(len(target))[: self.most])
        part = take_records(records, chosen)
        if target.dtype.kind == "f":
            self.values, learned = None, target[chosen]
        else:  # a rare label may be absent from the draw
            self.values, learned = np.unique(target[chosen], return_inverse=True)
        self.only = self.values[0] if self.values is not None and len(self.values) == 1 else None
        if self.only is None:
            self.estimator.fit(part, learned)
        return self

    def predict(self, records: Any) -> Array:
        """Return the estimator's guess for each record, or the drawn label if only one label was drawn."""
        if self.only is not None:
            return np.full(len(records), self.only)
        guesses = super().predict(records)
        return guesses if self.values is None else self.values[guesses]


class FeatureVotes:
    """A classifier in which each attribute votes for classes, and the class with the largest sum of votes is predicted.

    An attribute's vote for a class is the share of the class's training records that have the label of the predicted
    record. The votes of an attribute are scaled to add up to 1 (voting feature intervals: Demiroz and Guvenir 1997,
    like Weka's VFI). With `share=False`, the vote is 1 if any training record of the class has the label, and otherwise
    0 (like Weka's HyperPipes).
    """

    def __init__(self, share: bool = True) -> None:
        self.share = share

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        """Count the labels of each attribute in each class."""
        size = np.bincount(target)
        self.votes: dict[str, FloatArray] = {}
        for name in labels:
            width = len(labels[name].cat.categories) + 1  # code -1 is last and has no vote
            codes = labels[name].cat.codes.to_numpy().astype(int) % width
            counts = np.bincount(codes * len(size) + target, minlength=width * len(size)).reshape(width, len(size))
            if self.share:
                shares = counts / size
                votes = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
            else:
                votes = (counts > 0).astype(float)
            votes[-1] = 0
            self.votes[name] = votes
        return self

    def predict(self, labels: pd.DataFrame) -> Array:
        """Return, for each record, the class with the largest sum of votes."""
        votes = [votes[labels[name].cat.codes.to_numpy()] for name, votes in self.votes.items()]
        return np.sum(votes, axis=0).argmax(axis=1)


class DecisionTable:
    """A decision table of the most common label, or the mean, of records that agree in a few attributes (Kohavi 1995).

    The estimator adds attributes one by one, up to `most` attributes, as long as the leave-one-out guesses improve.
    With `most=1`, the table is the one-rule classifier of Holte 1993. A cell with fewer than `min_records` training
    records predicts the most common label, or the mean, of all training records, so that no number is predicted from
    itself alone.
    """

    def __init__(self, most: int | None = None, min_records: int = 1) -> None:
        self.most, self.min_records = most, min_records

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        """Choose the attributes, and compute the guess for each cell."""
        numbers = target.dtype.kind == "f"
        merit = self._squares if numbers else self._hits
        codes = {name: labels[name].cat.codes.to_numpy().astype(int) + 1 for name in labels}
        self.steps: list[tuple[str, int, IntArray]] = []
        cell: IntArray = np.zeros(len(target), dtype=int)
        best = merit(cell, target)
        while codes and len(self.steps) != self.most:
            trials = {}
            for name in codes:
                width = len(labels[name].cat.categories) + 1
                keys, finer = np.unique(cell * width + codes[name], return_inverse=True)
                trials[name] = merit(finer, target), (name, width, keys), finer
            name = max(trials, key=lambda name: trials[name][0])  # the first of several best ones
            merits, step, finer = trials[name]
            if merits <= best and (self.steps or self.most != 1):
                break
            best, cell = merits, finer
            self.steps.append(step)
            del codes[name]
        size = np.bincount(cell)
        if numbers:
            self.rest, self.answers = target.mean(), np.bincount(cell, target) / size
        else:
            labelled, counts = np.unique(np.column_stack([cell, target]), axis=0, return_counts=True)
            order = np.lexsort((labelled[:, 1], -counts, labelled[:, 0]))
            first = np.unique(labelled[order, 0], return_index=True)[1]
            self.rest, self.answers = np.bincount(target).argmax(), labelled[order, 1][first]
        self.answers = np.where(size >= self.min_records, self.answers, self.rest)
        return self

    def predict(self, labels: pd.DataFrame) -> Array:
        """Return the guess for each record's cell; if the cell is new, return the guess from all training records."""
        cell = np.zeros(len(labels), dtype=int)
        for name, width, keys in self.steps:
            key = np.where(cell < 0, -1, cell * width + labels[name].cat.codes.to_numpy() + 1)
            cell = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            cell = np.where(keys[cell] == key, cell, -1)
        return np.where(cell < 0, self.rest, self.answers[cell])

    def _hits(self, cell: IntArray, target: IntArray) -> float:
        """Return the number of records whose label is the most common one among the other records of their cell."""
        labels = target.max() + 1
        pairs, counts = np.unique(cell * labels + target, return_counts=True)
        cells = pairs // labels
        order = np.lexsort((-counts, cells))
        cells, counts = cells[order], counts[order]
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        second = np.where(np.append(first[1:], len(cells)) - first > 1, counts[(first + 1) % len(counts)], 0)
        # # Without the record itself, its label must still be more common than the next; only the most common label can
        # be.
        return counts[first][counts[first] - 1 > second].sum()

    def _squares(self, cell: IntArray, target: FloatArray) -> float:
        """Return the negative sum of squared errors if the mean of the other records in its cell predicts each record.

        In a cell with fewer than 2 or fewer than `min_records` records, the mean of all records is the prediction.
        """
        size = np.bincount(cell)
        counts = size[cell]
        mean = (np.bincount(cell, target) / size)[cell]
        alone = counts < max(self.min_records, 2)
        error = np.where(alone, target - target.mean(), (target - mean) * counts / np.maximum(counts - 1, 1))
        return -(error**2).sum()


class Neighbours:
    """A nearest-neighbor estimator, which predicts the most common label, or the mean, of the k nearest people.

    The distance is Euclidean, with features scaled to the range from 0 to 1. Distances are measured to distinct
    training records, each of which counts for all people with this record. The nearest records are added one by one
    until they include at least k people. All records at the same distance as the last added record also count, so that
    the order of records has no effect. If there are more than 20,000 distinct records, 20,000 are drawn at random once
    (seed 0).
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def fit(self, features: FloatArray, target: Array) -> Self:
        """Store the distinct records, the number of people with each distinct record, and their targets."""
        from scipy.sparse import csr_array

        self.low = features.min(axis=0)
        self.span = np.maximum(features.max(axis=0) - self.low, 1e-9)
        points, row = np.unique(self._scaled(features), axis=0, return_inverse=True)
        kept = np.sort(np.random.default_rng(0).permutation(len(points))[:20_000])
        self.points, self.people = points[kept], np.bincount(row)[kept]
        self.numbers = target.dtype.kind == "f"
        weight, column = (target, np.zeros(len(row), int)) if self.numbers else (np.ones(len(row)), target)
        self.counts = csr_array((weight, (row, column)), shape=(len(points), column.max() + 1))[kept]
        return self

    def predict(self, features: FloatArray) -> Array:
        """Return, for each record, the guess from the nearest people."""
        from scipy.sparse import csr_array

        asked, squares, nearest = self._scaled(features), (self.points**2).sum(axis=1), min(self.k, len(self.points))
        answers = []
        for start in range(0, len(asked), 500):
            part = asked[start : start + 500]
            distance = squares - 2 * (part @ self.points.T) + (part**2).sum(axis=1, keepdims=True)
            close = np.argpartition(distance, nearest - 1, axis=1)[:, :nearest]
            far = np.take_along_axis(distance, close, axis=1)
            order = np.argsort(far, axis=1, kind="stable")
            held = np.take_along_axis(self.people[close], order, axis=1).cumsum(axis=1)
            last = np.minimum((held < self.k).sum(axis=1), nearest - 1)
            radius = np.take_along_axis(np.take_along_axis(far, order, axis=1), last[:, None], axis=1)
            near = csr_array(distance <= radius + 1e-4)  # equal distances differ in their last digits
            sums = (near @ self.counts).toarray()
            answers.append(sums[:, 0] / (near @ self.people) if self.numbers else sums.argmax(axis=1))
        return np.concatenate(answers)

    def _scaled(self, features: FloatArray) -> FloatArray:
        return (features - self.low) / self.span


class TrimmedSquares(Around):
    """A linear regression that is fitted to the half of the records with the smallest errors.

    This half is found in ten steps that begin with a fit to all records. The method is least trimmed squares (Rousseeuw
    and Van Driessen 2006) with a single start; `estimator` fits the line.
    """

    def fit(self, features: FloatArray, target: Array) -> Self:
        """Fit the line to all records, and then ten times to the half of the records with the smallest errors."""
        self.estimator.fit(features, target)
        for _ in range(10):
            error = np.abs(self.estimator.predict(features) - target)
            half = np.sort(np.argsort(error, kind="stable")[: (len(target) + 1) // 2])
            self.estimator.fit(features[half], target[half])
        return self


@cache
def _libraries() -> Any:
    """Return the loaded libraries that use threads.

    The search for these libraries takes longer than a small fit, so the function searches only once.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class OneThread(Around):
    """A wrapper that runs an estimator on one thread.

    Sums then have a fixed order, so that guesses are reproducible, and no thread waits for another thread.
    """

    def fit(self, records: Any, target: Array) -> Self:
        """Fit the estimator on one thread."""
        with _libraries().limit(limits=1):
            self.estimator.fit(records, target)
        return self

    def predict(self, records: Any) -> Array:
        """Return the estimator's guess for each record, on one thread."""
        with _libraries().limit(limits=1):
            return self.estimator.predict(records)
