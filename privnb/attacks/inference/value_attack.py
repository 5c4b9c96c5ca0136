"""The base class of attacks that compute the probability of each sensitive value of a person."""

from abc import abstractmethod
from copy import copy
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from privnb.attacks.base import Attack
from privnb.attacks.linkage.linkage import Linkage
from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import encode_values, group_codes, tabulate
from privnb.microdata.release import Published
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.validation import validated

Learned = TypeVar("Learned")
Target = Annotated[str, lambda name, value: expect.text(name, value, "a sensitive attribute")]


class ValueGroups(NamedTuple):
    """The groups of rows whose sensitive values a release lists together: equivalence classes, or buckets.

    `linkage` links people to the equivalence classes; its release has one row for each class. `rows` is a sparse array
    (classes, groups) with the number of rows of each class in each group. `counts` holds how often each group lists
    each value: integers (groups, values). `values` are the values, as texts in sorted order.
    """

    linkage: Linkage
    rows: csr_array
    counts: IntArray
    values: Array

    @classmethod
    def read(cls, published: Published, target: str) -> Self:
        """Return the groups of a release.

        Raises Unreadable unless the release publishes exact values of `target`, or lists them in buckets.
        """
        names = [name for name in published.schema.quasi_identifiers if name in published.table]
        coded = [encode_values(published.table[name]) for name in names]
        length = len(published.table)
        first, of_row = (
            group_codes([codes for codes, _ in coded], [len(found) for _, found in coded])
            if coded
            else (np.zeros(min(length, 1), dtype=np.int64), np.zeros(length, dtype=np.int64))
        )
        linkage = Linkage().fit(published._replace(table=published.table.iloc[first].reset_index(drop=True)))
        held = published.buckets
        if held is not None and target in set(held["attribute"]):
            held = held[held["attribute"] == target]
            numbers, of_group = np.unique(published.table["bucket"], return_inverse=True)
            values, codes = np.unique(held["value"].to_numpy().astype(str), return_inverse=True)
            of_bucket = np.searchsorted(numbers, held["bucket"].to_numpy())
            counts = tabulate(of_bucket, codes, (len(numbers), len(values)), held["count"].to_numpy())
        elif target in published.table and published.columns[target].kind == "exact":
            of_group = np.asarray(of_row)
            values, codes = np.unique(published.table[target].to_numpy().astype(str), return_inverse=True)
            counts = tabulate(of_row, codes, (len(first), len(values)))
        else:
            raise Unreadable(
                f"the release does not publish exact values of '{target}'. Choose a sensitive attribute that the "
                "release leaves as it is or lists in buckets."
            )
        shape = len(first), len(counts)
        rows = csr_array((np.ones(length), (of_row, of_group)), shape=shape)
        return cls(linkage, rows, counts.astype(np.int64), values)

    def weigh(self, known: pd.DataFrame) -> csr_array:
        """Return the number of rows in each group that fit each known person, as a sparse array (m, groups)."""
        index, bits = self.linkage.fits(known)
        words = bits.view(np.uint64)  # most of them are 0: a person fits few classes
        group, word = np.nonzero(words)
        inside = np.unpackbits(words[group, word].view(np.uint8)).reshape(-1, 64)
        entry, bit = np.nonzero(inside)
        shape = len(bits), self.rows.shape[0]
        fit = csr_array((np.ones(len(entry)), (group[entry], word[entry] * 64 + bit)), shape=shape)
        return csr_array(fit @ self.rows)[index]

    def share(self, known: pd.DataFrame, counts: IntArray | FloatArray | None = None) -> FloatArray:
        """Return the share of each value among the rows that fit each known person, as a float array (m, values).

        `counts`, by default those of the release, are the counts to use. A person whom no row fits has zeros only.
        """
        counts = self.counts if counts is None else counts
        sizes = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, sizes, out=np.zeros(counts.shape), where=sizes > 0)
        return normalize(self.weigh(known) @ shares)


def normalize(weights: FloatArray) -> FloatArray:
    """Return the rows of an array, each divided by its sum; a row of zeros stays as it is."""
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights, dtype=float), where=sums > 0)


class ValueAttack(Attack[Learned], Generic[Learned]):
    """An adversary who computes the probability of each value of a sensitive attribute for each known person.

    A subclass defines `posterior`. A probability of exactly 0 is a statement: the adversary excludes the value with
    certainty. If all values except one are excluded, the value of the person is certain.

    Attributes
    ----------
    target : str
        The sensitive attribute.
    """

    target: str
    _knowledge: Any = None
    supported_treatments: ClassVar[tuple[str, ...]] = ("exact", "generalized", "suppressed", "bucketized")

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        """Return an example attack on a table of this schema, for the contract tests."""
        return [cls(schema.sensitive[0])]

    def _knowing(self, knowledge: Any) -> Self:
        """Return a copy of this attack whose adversary has further knowledge."""
        knowing = copy(self)
        object.__setattr__(knowing, "_knowledge", knowledge)  # no parameter, so that its rows are never shown
        return knowing

    @property
    @abstractmethod
    def groups(self) -> ValueGroups:
        """The groups of the release that the attack was fitted to."""

    @abstractmethod
    def posterior(self, known: pd.DataFrame) -> FloatArray:
        """Return the probability of each of the `values` for each person, as a float array (m, values).

        The row of a person about whom the adversary learns nothing, for example because no released row fits, contains
        zeros only.
        """

    @property
    def values(self) -> Array:
        """The values of the sensitive attribute in the release, as texts in sorted order: array (values,)."""
        return self.groups.values

    @property
    def prior(self) -> FloatArray:
        """The share of each value in the whole release, as a float array (values,)."""
        totals: FloatArray = self.groups.counts.sum(axis=0)
        return totals / totals.sum()

    @validated
    def predict(self, known: pd.DataFrame) -> Array:
        """Return the most probable value of each person, as an array (m,); None if the adversary learns nothing."""
        found = self.posterior(known)
        guess = self.values[found.argmax(axis=1)].astype(object)
        guess[found.sum(axis=1) == 0] = None
        return guess

    @validated
    def baseline(self, known: pd.DataFrame) -> Array:
        """Return the most common value of the release for each person, as an array (m,)."""
        return np.repeat(self.values[[self.prior.argmax()]].astype(object), len(known))

    @validated
    def certain(self, known: pd.DataFrame) -> BoolArray:
        """Return whether the value of each person is certain, as a boolean array (m,)."""
        return (self.posterior(known) > 0).sum(axis=1) == 1

    def truth(self, dataset: Dataset) -> Array:
        """Return the original values of the sensitive attribute: array (n,)."""
        return dataset.table[self.target].astype(str).to_numpy()
