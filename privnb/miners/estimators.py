"""Estimators that scikit-learn lacks or does not make affordable here: `fit(records, target)`, `predict(records)`.

`records` is one of the views of `encoding.Encoded`. A target of labels is an integer array, 0 to t - 1 with none
left out; a target of numbers is a float array. Ties go to the lowest label.

One module: small estimators behind the same two methods.
"""

from functools import cache
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.microdata.counts import distinct_codes, factorized
from privnb.miners.encoding import Encoded, taken
from privnb.runtime.arrays import Array, FloatArray, IntArray


class Estimator(Protocol):
    """What has the two methods of scikit-learn's estimators."""

    def fit(self, records: Any, target: Array, /) -> Any: ...

    def predict(self, records: Any, /) -> Array: ...


class Around:
    """Another estimator, learned from and asked in another way."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    def predict(self, records: Any) -> Array:
        return self.estimator.predict(records)


class NaiveBayes:
    """Naive Bayes over numbers and labels together: within a class every column is independent of the others.

    Numbers are Gaussian (with 1e-9 of the largest variance added, as in scikit-learn), labels are counted with one
    added to each count. A label that training showed nothing of (code -1) says nothing, nor does a missing number.
    """

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        """`labels`: DataFrame (n, attributes) of numbers and Categoricals; `target`: integer array (n,), 0 to t - 1."""
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
            # The last column serves code -1.
            shares = np.log(counts / counts.sum(axis=1, keepdims=True))
            self.tables[name] = np.column_stack([shares, np.zeros(len(size))]).T
        return self

    def log_likelihood(self, labels: pd.DataFrame) -> FloatArray:
        """Logarithm of class and record together, float array (n, t)."""
        total = np.tile(self.prior, (len(labels), 1))
        for name, table in self.tables.items():
            total += table[labels[name].cat.codes.to_numpy()]
        for name, (mean, variance) in self.bells.items():
            distance = (labels[name].to_numpy()[:, None] - mean) ** 2
            says = (np.log(2 * np.pi * variance) + distance / variance) / 2
            total -= np.where(np.isnan(distance), 0, says)
        return total

    def predict(self, labels: pd.DataFrame) -> Array:
        """The likeliest class of each record, integer array (n,)."""
        return self.log_likelihood(labels).argmax(axis=1)


def _bells(values: FloatArray, target: IntArray, jitter: float) -> tuple[FloatArray, FloatArray]:
    """The mean and the variance of a column's numbers in each class, of those that are not missing: two float arrays
    (t,). Where a class has none of them: those of all.
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
    """Another estimator on labels alone: each number is replaced by its tenth of the records it learned from, a missing
    one by a label of its own.
    """

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        tenths = np.linspace(0, 1, 11)[1:-1]
        numbers = {name: labels[name].to_numpy() for name in labels if is_numeric_dtype(labels[name])}
        known = {name: column[~np.isnan(column)] for name, column in numbers.items()}
        self.edges = {n: np.unique(np.quantile(c, tenths, method="lower")) if len(c) else c for n, c in known.items()}
        self.widths = {n: len(self.edges[n]) + 1 + (len(known[n]) < len(numbers[n])) for n in numbers}
        self.estimator.fit(self._cut(labels), target)
        return self

    def predict(self, labels: pd.DataFrame) -> Array:
        return self.estimator.predict(self._cut(labels))

    def _cut(self, labels: pd.DataFrame) -> pd.DataFrame:
        cut = {}
        for name, edges in self.edges.items():
            codes, width = np.searchsorted(edges, labels[name], side="left"), self.widths[name]
            missing = len(edges) + 1 if width > len(edges) + 1 else -1  # training may have shown none
            codes = np.where(np.isnan(labels[name]), missing, codes)
            cut[name] = pd.Categorical.from_codes(codes, range(width))
        return pd.DataFrame({name: cut.get(name, labels[name].array) for name in labels})


class OnceEach:
    """A tree of scikit-learn that reads equal records once: the same tree, and of most releases in a fraction of the
    time.

    Its records are all of `encoding.Encoded`, which knows the equal ones.
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def fit(self, records: Any, target: Array) -> Self:
        first, index = _equal(records, target)
        self.tree = grown(self.tree, records.features[first], target[first], np.bincount(index))
        return self

    def predict(self, records: Any) -> Array:
        return self.tree.predict(records.features)


def grown(tree: Any, records: FloatArray, target: Array, times: IntArray) -> Any:
    """A scikit-learn tree fitted to records, (m, columns), of which each stands for `times` equal ones: a new tree, the
    one that is fitted to all of them one by one.
    """
    from sklearn.base import clone

    tree, many, fewest = clone(tree), int(times.sum()), tree.min_samples_leaf
    if 2 * fewest > many:  # nothing to divide, and no share that scikit-learn takes
        return tree.fit(np.repeat(records, times, axis=0), np.repeat(target, times))
    # Leaves are counted by weight. A quarter less than the whole number, so that no rounding reaches it.
    tree.set_params(min_samples_leaf=1, min_weight_fraction_leaf=(fewest - 0.25) / many)
    return tree.fit(records, target, sample_weight=times)


class ForestOnceEach:
    """A random forest of labels, whose leaves may hold one person, that reads equal records once: the trees and the
    guesses of scikit-learn's `RandomForestClassifier` of as many trees and the same seed.
    """

    def __init__(self, trees: int, seed: int) -> None:
        from sklearn.tree import DecisionTreeClassifier

        lots = np.random.RandomState(seed)
        self.trees = [
            DecisionTreeClassifier(max_features="sqrt", random_state=lots.randint(np.iinfo(np.int32).max))
            for _ in range(trees)
        ]

    def fit(self, records: Any, target: Array) -> Self:
        first, index = _equal(records, target)
        features, values = records.features[first], target[first]
        for tree in self.trees:  # each learns from as many people as there are, drawn with repetition
            drawn = np.random.RandomState(tree.random_state).randint(0, len(target), len(target), dtype=np.int32)
            tree.fit(features, values, sample_weight=np.bincount(index[drawn], minlength=len(first)))
        return self

    def predict(self, records: Any) -> Array:
        return np.sum([tree.predict_proba(records.features) for tree in self.trees], axis=0).argmax(axis=1)


class OfFeatures(Around):
    """Another estimator of features, for a miner whose other one reads whole `encoding.Encoded`."""

    def fit(self, records: Any, target: Array) -> Self:
        self.estimator.fit(records.features, target)
        return self

    def predict(self, records: Any) -> Array:
        return self.estimator.predict(records.features)


def _equal(records: Encoded, target: Array) -> tuple[IntArray, IntArray]:
    """Of encoded records and their targets the first of each that are equal, and which of these each one is."""
    codes = factorized(target)[0]
    return distinct_codes([records.row, codes], [records.row.max() + 1, codes.max() + 1])


class Subsampled(Around):
    """Another estimator that learns from at most `most` of the records, drawn at random once (seed 0)."""

    def __init__(self, estimator: Estimator, most: int) -> None:
        super().__init__(estimator)
        self.most = most

    def fit(self, records: Any, target: Array) -> Self:
        chosen = np.sort(np.random.default_rng(0).permutation(len(target))[: self.most])
        part = taken(records, chosen)
        if target.dtype.kind == "f":
            self.values, learned = None, target[chosen]
        else:  # a rare label may not be drawn
            self.values, learned = np.unique(target[chosen], return_inverse=True)
        self.only = self.values[0] if self.values is not None and len(self.values) == 1 else None
        if self.only is None:
            self.estimator.fit(part, learned)
        return self

    def predict(self, records: Any) -> Array:
        if self.only is not None:
            return np.full(len(records), self.only)
        guesses = super().predict(records)
        return guesses if self.values is None else self.values[guesses]


class FeatureVotes:
    """Each attribute votes for the classes in which it took the record's label; the votes are added, not multiplied.

    A vote is the label's share within each class, scaled to add up to 1 (voting feature intervals: Demiroz and
    Guvenir 1997, as Weka's VFI), or with `share=False` whether the class showed the label at all (Weka's HyperPipes).
    """

    def __init__(self, share: bool = True) -> None:
        self.share = share

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
        size = np.bincount(target)
        self.votes: dict[str, FloatArray] = {}
        for name in labels:
            width = len(labels[name].cat.categories) + 1  # code -1 comes last, with no vote
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
        said = [votes[labels[name].cat.codes.to_numpy()] for name, votes in self.votes.items()]
        return np.sum(said, axis=0).argmax(axis=1)


class DecisionTable:
    """The commonest label, or the mean, of the records that agree in a few attributes (Kohavi 1995).

    Attributes are added one by one while guesses for records left out of their own cell get better; at most `most`
    of them: 1 is the one rule of Holte 1993. Records in cells of fewer than `fewest` get the commonest label or the
    mean of all, so that a number is not guessed by itself.
    """

    def __init__(self, most: int | None = None, fewest: int = 1) -> None:
        self.most, self.fewest = most, fewest

    def fit(self, labels: pd.DataFrame, target: Array) -> Self:
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
            name = max(trials, key=lambda name: trials[name][0])  # the first of several
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
        self.answers = np.where(size >= self.fewest, self.answers, self.rest)
        return self

    def predict(self, labels: pd.DataFrame) -> Array:
        cell = np.zeros(len(labels), dtype=int)
        for name, width, keys in self.steps:
            key = np.where(cell < 0, -1, cell * width + labels[name].cat.codes.to_numpy() + 1)
            cell = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            cell = np.where(keys[cell] == key, cell, -1)
        return np.where(cell < 0, self.rest, self.answers[cell])

    def _hits(self, cell: IntArray, target: IntArray) -> float:
        """How many records the others of their cell guess."""
        labels = target.max() + 1
        pairs, counts = np.unique(cell * labels + target, return_counts=True)
        cells = pairs // labels
        order = np.lexsort((-counts, cells))
        cells, counts = cells[order], counts[order]
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        second = np.where(np.append(first[1:], len(cells)) - first > 1, counts[(first + 1) % len(counts)], 0)
        # Without itself a record's label must still beat the next one; only the commonest label can.
        return counts[first][counts[first] - 1 > second].sum()

    def _squares(self, cell: IntArray, target: FloatArray) -> float:
        """Minus the squared errors of the means of the others, in cells that are large enough to answer."""
        size = np.bincount(cell)
        counts = size[cell]
        mean = (np.bincount(cell, target) / size)[cell]
        alone = counts < max(self.fewest, 2)
        error = np.where(alone, target - target.mean(), (target - mean) * counts / np.maximum(counts - 1, 1))
        return -(error**2).sum()


class Neighbours:
    """The commonest label, or the mean, of the k nearest people (Euclid, every feature scaled to 0..1).

    Distances are taken to distinct records, each with its people: the nearest records are added until they hold at
    least k people, and all that are as far as the last of them count too, so that no order of records matters. More
    than 20,000 distinct records are thinned to as many, drawn at random once (seed 0).
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def fit(self, features: FloatArray, target: Array) -> Self:
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
    """Linear regression on the half of the records that it fits best, sought in ten steps from the fit to all.

    Least trimmed squares (Rousseeuw and Van Driessen 2006) from one start; `estimator` fits the line.
    """

    def fit(self, features: FloatArray, target: Array) -> Self:
        self.estimator.fit(features, target)
        for _ in range(10):
            error = np.abs(self.estimator.predict(features) - target)
            half = np.sort(np.argsort(error, kind="stable")[: (len(target) + 1) // 2])
            self.estimator.fit(features[half], target[half])
        return self


@cache
def _libraries() -> Any:
    """Those with threads: to look for them takes longer than a small fit. By then scikit-learn has loaded its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class OneThread(Around):
    """Another estimator on one thread: sums in one order, so the same guesses each time, and no threads that wait."""

    def fit(self, records: Any, target: Array) -> Self:
        with _libraries().limit(limits=1):
            self.estimator.fit(records, target)
        return self

    def predict(self, records: Any) -> Array:
        with _libraries().limit(limits=1):
            return self.estimator.predict(records)
