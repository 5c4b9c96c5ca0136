"""Synthetic records with the distributions of the table's columns and their rank correlations."""

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
from privnb.sanitizers.algorithms.linear import take_root
from privnb.sanitizers.base import Facts
from privnb.sanitizers.eligibility import check_records
from privnb.sanitizers.synthetic.base import Synthetic


@dataclass(frozen=True)
class LatinHypercube(Synthetic):
    """Publish synthetic records that have the distribution of each column and the rank correlations of the columns.

    The release has as many records as the table. For each column, one value is drawn from each of n equal shares of the
    column's distribution. Numbers between recorded numbers also occur, on the steps of their domain, but no numbers
    below the smallest or above the largest recorded number. A category counts as its position in its public domain. The
    frequency of a category changes by at most one record, and the part of its association with other columns that rises
    or falls in this order is also preserved. First, missing numbers are replaced by numbers drawn from their columns,
    and the provenance counts the drawn numbers. Other associations are lost, and the release promises nothing: an
    extreme value may belong to a real person. No row derives from a single record.

    Source: Dandekar, Cohen, Kirkendall, Inference Control in Statistical Databases, LNCS 2316, 2002; Aggarwal and Yu
    2008, section 3.5.3; Iman and Conover 1982 for the order.
    """

    title = "Latin hypercube"

    def _check(self, dataset: Microdata, names: Sequence[str]) -> None:
        check_records(self, dataset, len(names) + 2, f"more than its {len(names)} correlated columns")

    def _invented(
        self, schema: Schema, names: Sequence[str], values: FloatArray, rng: np.random.Generator
    ) -> tuple[dict[str, Array], Facts]:
        return invent_records(schema, names, values, rng), {}


def invent_records(
    schema: Schema, names: Sequence[str], values: FloatArray, rng: np.random.Generator
) -> dict[str, Array]:
    """Return a synthetic record for each row of `values`, (n, d), as `{name: array (n,)}`."""
    correlation = np.atleast_2d(np.corrcoef(pd.DataFrame(values).rank().to_numpy().T))  # Spearman's
    shares = arrange_ranks(draw_strata(len(values), len(names), rng), correlation, rng)
    return {name: draw_values(schema[name], values[:, at], shares[:, at]) for at, name in enumerate(names)}


def draw_values(attribute: Any, values: FloatArray, shares: FloatArray) -> Array:
    """Return the values of an attribute at these shares of its distribution, as an array (m,).

    Each number is rounded to the nearest step. `values`: the values of the records, from `read_numbers`.
    """
    ordered, last = np.sort(values), len(values) - 1  # np.quantile takes seconds for many shares
    if not attribute.numeric:
        places = ordered[np.minimum(shares * len(values), last).astype(int)].astype(int)
        return np.asarray(attribute.domain.values, dtype=object)[places]
    numbers = np.interp(shares * last, np.arange(len(values)), ordered)
    return attribute.domain.rounded(pd.Series(numbers)).to_numpy()


def draw_strata(size: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """Return points in the unit cube, (size, columns), one in each of `size` equal strata of each column.

    Source: McKay, Beckman, Conover, Technometrics 21(2), 1979.
    """
    return (_shuffled(np.arange(size), columns, rng) + rng.random((size, columns))) / size


def arrange_ranks(points: FloatArray, correlation: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the points with each column reordered so that rank correlations come near `correlation` (d, d).

    The columns get the order of normal scores with exactly these correlations. There must be more points than columns.

    Source: Iman and Conover, Communications in Statistics B 11(3), 1982.
    """
    size, columns = points.shape
    scores = _shuffled(ndtri(np.arange(1, size + 1) / (size + 1)), columns, rng)
    # # Shuffled columns correlate by chance: this correlation is removed before the target correlation is added.
    mixed = scores @ take_root(np.corrcoef(scores.T).reshape(columns, columns))[1] @ take_root(correlation)[0]
    ranks = mixed.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.take_along_axis(np.sort(points, axis=0), ranks, axis=0)


def _shuffled(values: Array, columns: int, rng: np.random.Generator) -> Array:
    return rng.permuted(np.tile(values[:, None], columns), axis=0)
