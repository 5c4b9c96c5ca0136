"""The deFinetti attack: learn from all buckets which values come with which cells, and tell rows of a bucket apart."""

from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from privnb.attacks.base import Attack
from privnb.datasets.dataset import Dataset
from privnb.microdata.bands import Bands
from privnb.microdata.counts import encode_values
from privnb.microdata.release import Published, Release
from privnb.microdata.schema import Numbers, Schema, SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.validation import Count, validated

BUCKET = "bucket"
ENUMERATED = 4  # rows of a bucket whose one-to-one matches are all compared
SCALINGS = 10  # passes that fit the probabilities of a bucket to its rows and to its counts


class Buckets(NamedTuple):
    """The rows of a release by bucket, and the values that each bucket holds.

    `codes` holds the position of each row's cell in each column, as integers (rows, columns); a cell that the model has
    not seen has the position after the last. `bucket` is the bucket of each row, as integers (rows,). `counts` is the
    number of people of each bucket with each value, as integers (buckets, values).
    """

    codes: IntArray
    bucket: IntArray
    counts: IntArray


class BucketModel(NamedTuple):
    """A naive Bayes model of a sensitive attribute: the logarithms of its probabilities.

    `columns` are the names and the distinct cells of the columns; `values` are the values of the attribute; `prior` is
    a float array (values,), and `given` has one float array (cells + 1, values) for each column, whose last row is for
    unknown cells.
    """

    columns: dict[str, Array]
    values: Array
    prior: FloatArray
    given: list[FloatArray]

    def score(self, codes: IntArray) -> FloatArray:
        """Return the logarithm of the joint probability of each row and each value, as a float array (rows, values)."""
        return self.prior + sum(table[codes[:, place]] for place, table in enumerate(self.given))


class Guesses(NamedTuple):
    """The result of the attack: the model, and the votes of the rows with the same cells.

    `place` is the position of each combination of cells. `assigned` counts the rows of a combination that received each
    value, and `by_bucket` sums the shares of each value in their buckets: float arrays (combinations, values).
    """

    model: BucketModel
    place: dict[tuple[int, ...], int]
    assigned: FloatArray
    by_bucket: FloatArray


@dataclass(frozen=True)
class DeFinetti(Attack[Guesses]):
    """Guess the sensitive value of a person from a bucketization, with the person's quasi-identifiers alone.

    The rows of a bucket are exchangeable to an adversary who looks at one bucket. All buckets together show, however,
    which values come with which cells. The adversary fits a naive Bayes model to the buckets by expectation
    maximization: in each step, the model weighs the values of a bucket for each of its rows, and the weights give the
    next model. Finally, each row receives one of the values of its bucket, each value as often as the bucket lists it,
    so that the assignment is the likeliest under the model. The person is found by the exact quasi-identifiers; if
    several rows fit, the value that most of them received is the guess.

    The weights inside a bucket are those of the model, scaled until the rows sum to one and the values to their counts
    (Sinkhorn and Knopp). This approximates the sum over all assignments.

    Parameters
    ----------
    target : str
        The sensitive attribute, which is published in buckets.
    steps : int
        The number of steps of expectation maximization.

    Source: Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009; the approximation is ours.
    """

    target: Annotated[str, lambda name, value: expect.text(name, value, "a sensitive attribute")]
    steps: Count = 5
    title = "deFinetti"
    supported_treatments: ClassVar[tuple[str, ...]] = ("exact", "bucketized")

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        """Return an example attack on a table of this schema, for the contract tests."""
        return [cls(schema.sensitive[0], 3)]

    @classmethod
    def can_read(cls, release: Release | Published) -> bool:
        """Return whether the release lists sensitive values in buckets."""
        return release.buckets is not None and super().can_read(release)

    def _learn(self, published: Published) -> Guesses:
        names = self._names(published)
        held = _held(published, self.target)
        values = np.unique(held["value"].to_numpy().astype(str))
        columns = {name: np.unique(_cells(published, published.table[name], name)[1]) for name in names}
        model = BucketModel(columns, values, np.zeros(len(values)), [])
        buckets = read_buckets(published, self.target, model)
        model = fit_buckets(buckets, model, self.steps)
        guess = assign_values(buckets, model)
        kind, index = np.unique(buckets.codes, axis=0, return_inverse=True)
        assigned = np.zeros((len(kind), len(values)))
        np.add.at(assigned, (index, guess), 1)
        by_bucket = np.zeros((len(kind), len(values)))
        shares = buckets.counts / buckets.counts.sum(axis=1, keepdims=True)
        np.add.at(by_bucket, index, shares[buckets.bucket])
        place = {tuple(row): number for number, row in enumerate(kind.tolist())}
        return Guesses(model, place, assigned, by_bucket)

    @validated
    def predict(self, known: pd.DataFrame) -> Array:
        """Return the guesses as an array (m,) of values of the target; None for people whom no row fits."""
        return self._vote(known, self.learned.assigned)

    @validated
    def baseline(self, known: pd.DataFrame) -> Array:
        """Return the most common value of the person's bucket, the first in sorted order if equal, as an array (m,)."""
        return self._vote(known, self.learned.by_bucket)

    def assign(self, published: Published) -> Array:
        """Return the value that each row of a bucketization receives, as an array (rows,).

        The release may be the one that the attack learned from, or a release of other people with the same columns, for
        which the model of the attack is used as it is.
        """
        model = self.learned.model
        return model.values[assign_values(read_buckets(published, self.target, model), model)]

    def truth(self, dataset: Dataset) -> Array:
        """Return the original values of the target: array (n,)."""
        return dataset.table[self.target].astype(str).to_numpy()

    def _names(self, published: Published) -> list[str]:
        return [name for name in published.schema.quasi_identifiers if name in published.table]

    def _vote(self, known: pd.DataFrame, votes: FloatArray) -> Array:
        model, place = self.learned.model, self.learned.place
        self._check_known(model.columns, known)
        if gaps := [name for name in model.columns if known[name].isna().any()]:
            raise SchemaError(
                f"'{gaps[0]}' has missing values in the table of known people. Leave these people out, or write the "
                "mark of a missing value."
            )
        codes = _codes(self.published, known, model.columns)
        where = np.array([place.get(tuple(row), -1) for row in codes.tolist()], dtype=np.int64)
        found = model.values[votes[where].argmax(axis=1)].astype(object)
        found[where < 0] = None
        return found


def read_buckets(published: Published, target: str, model: BucketModel) -> Buckets:
    """Return the rows of a bucketization in the columns and values of a model.

    Raises Unreadable if the release does not list the attribute `target` in buckets.
    """
    held = _held(published, target)
    number = pd.Index(np.unique(published.table[BUCKET]))
    counts = np.zeros((len(number), len(model.values)), dtype=np.int64)
    value = pd.Index(model.values).get_indexer(held["value"].to_numpy().astype(str))
    np.add.at(counts, (number.get_indexer(held["bucket"]), value), held["count"].to_numpy())
    codes = _codes(published, published.table, model.columns)
    return Buckets(codes, number.get_indexer(published.table[BUCKET]), counts)


def fit_buckets(buckets: Buckets, model: BucketModel, steps: int) -> BucketModel:
    """Return the naive Bayes model after `steps` steps of expectation maximization over the buckets."""
    totals = buckets.counts.sum(axis=0)
    prior = np.log((totals + 1) / (totals.sum() + len(totals)))
    weights = (buckets.counts / buckets.counts.sum(axis=1, keepdims=True))[buckets.bucket]
    for step in range(steps):
        given = []
        for place, cells in enumerate(model.columns.values()):
            table = np.empty((len(cells) + 1, len(model.values)))
            for value in range(len(model.values)):
                table[:, value] = np.bincount(buckets.codes[:, place], weights[:, value], len(cells) + 1)
            given.append(np.log((table + 1) / (table.sum(axis=0) + len(table))))
        model = model._replace(prior=prior, given=given)
        if step < steps - 1:
            weights = scale_weights(buckets, model)
    return model


def scale_weights(buckets: Buckets, model: BucketModel) -> FloatArray:
    """Return the weight of each value of its bucket for each row, as a float array (rows, values)."""
    counts = buckets.counts[buckets.bucket]
    scores = np.where(counts > 0, model.score(buckets.codes), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    order = np.argsort(buckets.bucket, kind="stable")
    starts = np.flatnonzero(np.diff(buckets.bucket[order], prepend=-1))
    weights, own = weights[order], buckets.counts[buckets.bucket[order][starts]]
    sizes = np.diff([*starts, len(order)])
    for _ in range(SCALINGS):
        sums = np.add.reduceat(weights, starts, axis=0)
        weights *= np.repeat(np.divide(own, sums, out=np.zeros_like(sums), where=sums > 0), sizes, axis=0)
        weights /= weights.sum(axis=1, keepdims=True)
    found = np.empty_like(weights)
    found[order] = weights
    return found


def assign_values(buckets: Buckets, model: BucketModel) -> IntArray:
    """Return the value that each row receives, as an integer array (rows,): the likeliest assignment of each bucket."""
    scores = model.score(buckets.codes)
    found = np.empty(len(scores), dtype=np.int64)
    order, sizes = np.argsort(buckets.bucket, kind="stable"), np.bincount(buckets.bucket, minlength=len(buckets.counts))
    starts = np.cumsum(sizes) - sizes
    slots = np.repeat(np.tile(np.arange(buckets.counts.shape[1]), len(sizes)), buckets.counts.ravel())
    for size in np.unique(sizes[sizes > 0]):
        places = starts[sizes == size][:, None] + np.arange(size)
        rows, values = order[places], slots[places]
        found[rows] = np.take_along_axis(values, _match(scores[rows[:, :, None], values[:, None, :]]), axis=1)
    return found


def _match(scores: FloatArray) -> IntArray:
    """Return the likeliest one-to-one match of each bucket: scores (buckets, rows, slots), result (buckets, rows)."""
    size = scores.shape[1]
    if size > ENUMERATED:
        return np.array([linear_sum_assignment(each, maximize=True)[1] for each in scores])
    every = np.array([*permutations(range(size))])
    sums = np.stack([scores[:, np.arange(size), each].sum(axis=1) for each in every])
    return every[sums.argmax(axis=0)]


def _held(published: Published, target: str) -> pd.DataFrame:
    held = published.buckets
    if held is None or target not in set(held["attribute"]):
        raise Unreadable(f"the release does not list '{target}' in buckets. Choose Anatomy or Bucketize.")
    return held[held["attribute"] == target]


def _cells(published: Published, column: Any, name: str) -> tuple[IntArray, Array]:
    """Return the distinct cells of a column as texts, and the number of each row's cell.

    Numbers are replaced by their public band, because the model counts each cell.
    """
    domain = published.schema[name].domain
    found = (
        np.asarray(Bands.of(domain).labels(np.asarray(column)), dtype=object) if isinstance(domain, Numbers) else column
    )
    codes, cells = encode_values(found)
    return codes, np.asarray(cells).astype(str).astype(object)


def _codes(published: Published, table: pd.DataFrame, columns: dict[str, Array]) -> IntArray:
    found = []
    for name, known in columns.items():
        codes, cells = _cells(published, table[name], name)
        places = pd.Index(known).get_indexer(cells)
        found.append(np.where(places < 0, len(known), places)[codes])
    return np.column_stack(found)
