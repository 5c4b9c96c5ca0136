"""Made-up records whose columns are as the table's, and go together as its ranks do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.runtime.arrays import Array, FloatArray
from privnb.sanitizers.algorithms.linear import root
from privnb.sanitizers.base import Facts
from privnb.sanitizers.eligibility import check_records
from privnb.sanitizers.synthetic.base import Synthetic


@dataclass(frozen=True)
class LatinHypercube(Synthetic):
    """Publish as many made-up records as there are, with each column's distribution and the columns' rank correlations.

    Of each column one value is drawn in each of n equal shares of its distribution. Numbers between recorded ones are
    drawn, too, on the steps of their domain, none beyond the smallest and the largest. A category stands at its place
    in its public domain: how often it occurs is kept to one record, and of what it goes with, what rises or falls along
    that order. Missing numbers are drawn from their columns before, and the provenance counts them. Nothing else of
    several columns is kept, and nothing is promised: an extreme value may be somebody's
    own. A release takes no row from a record, so that nobody has one.

    Source: Dandekar, Cohen, Kirkendall, Inference Control in Statistical Databases, LNCS 2316, 2002; Aggarwal and Yu
    2008, section 3.5.3; Iman and Conover 1982 for the order.
    """

    title = "Latin hypercube"

    def _check(self, dataset: Microdata, names: Sequence[str]) -> None:
        check_records(self, dataset, len(names) + 2, f"more than the {len(names)} columns that go together")

    def _invented(
        self, schema: Schema, names: Sequence[str], values: FloatArray, rng: np.random.Generator
    ) -> tuple[dict[str, Array], Facts]:
        return invented(schema, names, values, rng), {}


def invented(schema: Schema, names: Sequence[str], values: FloatArray, rng: np.random.Generator) -> dict[str, Array]:
    """As many invented records as there are, `values` (n, d) being theirs: `{name: array (n,)}`."""
    correlation = np.atleast_2d(np.corrcoef(pd.DataFrame(values).rank().to_numpy().T))  # Spearman's
    shares = arranged(strata(len(values), len(names), rng), correlation, rng)
    return {name: drawn(schema[name], values[:, at], shares[:, at]) for at, name in enumerate(names)}


def drawn(attribute: Any, values: FloatArray, shares: FloatArray) -> Array:
    """The values of an attribute at these shares of its distribution, array (m,): of numbers on the nearest step each.
    `values`: the records', as `numbered` gives them.
    """
    ordered, last = np.sort(values), len(values) - 1  # of many shares np.quantile takes seconds
    if not attribute.numeric:
        places = ordered[np.minimum(shares * len(values), last).astype(int)].astype(int)
        return np.asarray(attribute.domain.values, dtype=object)[places]
    numbers = np.interp(shares * last, np.arange(len(values)), ordered)
    return attribute.domain.rounded(pd.Series(numbers)).to_numpy()


def strata(size: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """Points in the unit cube of which each column has one in each of `size` equal strata: float array (size, columns).

    Source: McKay, Beckman, Conover, Technometrics 21(2), 1979.
    """
    return (_shuffled(np.arange(size), columns, rng) + rng.random((size, columns))) / size


def arranged(points: FloatArray, correlation: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The points with each column in another order, in which the rank correlations come near `correlation` (d, d).

    The columns are ordered as normal scores are that have exactly these correlations. Of n points it takes more than
    there are columns.

    Source: Iman and Conover, Communications in Statistics B 11(3), 1982.
    """
    size, columns = points.shape
    scores = _shuffled(ndtri(np.arange(1, size + 1) / (size + 1)), columns, rng)
    # Shuffled columns go together by chance; that is taken off before what is wanted is put in.
    mixed = scores @ root(np.corrcoef(scores.T).reshape(columns, columns))[1] @ root(correlation)[0]
    ranks = mixed.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.take_along_axis(np.sort(points, axis=0), ranks, axis=0)


def _shuffled(values: Array, columns: int, rng: np.random.Generator) -> Array:
    return rng.permuted(np.tile(values[:, None], columns), axis=0)
