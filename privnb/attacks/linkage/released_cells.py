"""Released cells in the form in which an adversary compares them with known values.

Each cell is a value or a label of several values. The distance between a known value and a cell is Gower's distance.
For numbers, the distance is the difference as a share of the width of the public domain; for categories, the distance
is 0 or 1. The distance between a known value and a label is the mean over the values that the label covers, so an exact
cell with the known value is nearer than a label that also covers other values. The label `*` covers all values.

Source: Gower, "A general coefficient of similarity and some of its properties", Biometrics 27, 1971; Giomi, Boenisch,
Wehmeyer, Tasnadi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, section 5.2. The
mean over the values of a label was added by this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from privnb.attacks.linkage.linkage import cells_of
from privnb.microdata.counts import encode_values
from privnb.microdata.hierarchy import SUPPRESSED, flat
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.release import Published
from privnb.microdata.treatment import UNTRUE
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """The cells of one released column.

    Parameters
    ----------
    published : Published
    name : str
    codes : integer array (rows,)
        The number of the distinct cell of each row.
    low, high : float array (cells, runs)
        The first and the last value of each run of values that a distinct cell covers, NaN for a cell with fewer runs.
        Values are numbers or, for categories, positions.
    gap : boolean array (cells,)
        Whether a distinct cell covers a missing number.
    """

    published: Published
    name: str
    codes: IntArray
    low: FloatArray
    high: FloatArray
    gap: BoolArray

    @classmethod
    def of(cls, published: Published, name: str) -> ReleasedColumn:
        """Return the `ReleasedColumn` of the column `name` of a release."""
        attribute, column = published.schema[name], published.table[name]
        if attribute.numeric and name in published.treated("exact", *UNTRUE):
            codes, numbers = encode_values(attribute.numbers.read(column).to_numpy(dtype=float))
            ends = np.asarray(numbers, dtype=float)[:, None]
            return cls(published, name, codes, ends, ends, np.isnan(ends[:, 0]))
        codes, runs = cells_of(published, name, column)
        low, high = np.full((2, len(runs), max(map(len, runs))), np.nan)
        for cell, each in enumerate(runs):
            low[cell, : len(each)], high[cell, : len(each)] = np.transpose(each)
        gap = np.zeros(len(runs), dtype=bool)
        if attribute.numeric:
            domain = attribute.numbers
            gap = np.nanmax(high, axis=1) > domain.steps
            low[low > domain.steps] = np.nan  # the run has only the mark
            high = np.where(np.isnan(low), np.nan, np.minimum(high, domain.steps))
            low, high = domain.low + low * domain.step, domain.low + high * domain.step
        return cls(published, name, codes, low, high, gap)

    @property
    def numeric(self) -> bool:
        """Whether the values of the column are numbers."""
        return self.published.schema[self.name].numeric

    @property
    def hierarchy(self) -> Generalization:
        """The hierarchy of the column, which determines the values that a label covers."""
        return self.published.hierarchies.get(self.name) or flat(self.published.schema[self.name])

    @property
    def domain_size(self) -> int:
        """The number of values that `*` covers."""
        first, last = self.hierarchy.runs(SUPPRESSED).T
        return int((last - first + 1).sum())

    @property
    def step(self) -> float:
        """The difference between neighboring values of the domain; 1 for categories."""
        return self.published.schema[self.name].numbers.step if self.numeric else 1.0

    @property
    def sizes(self) -> FloatArray:
        """The number of values that each distinct cell covers, as a float array (cells,)."""
        return np.nansum(np.rint((self.high - self.low) / self.step) + 1, axis=1) + self.gap

    def values(self, column: pd.Series) -> FloatArray:
        """Return known values as numbers or positions of categories, NaN for a missing number, as an array (m,)."""
        attribute = self.published.schema[self.name]
        if attribute.numeric:
            return attribute.numbers.read(column).to_numpy(dtype=float)
        return self.hierarchy.codes(column).astype(float)

    def count_between(self, first: FloatArray, last: FloatArray) -> FloatArray:
        """Return the number of values of each cell that are from `first` to `last`, as a float array (m, cells).

        `first`, `last`: float arrays (m,).
        """
        found = np.zeros((len(first), len(self.codes_of_cells)))
        for low, high in zip(self.low.T, self.high.T, strict=True):
            start = np.maximum(0, np.ceil((first[:, None] - low) / self.step - 1e-9))
            end = np.minimum(np.rint((high - low) / self.step), np.floor((last[:, None] - low) / self.step + 1e-9))
            found += np.nan_to_num(np.maximum(end - start + 1, 0))
        return found

    @property
    def codes_of_cells(self) -> range:
        """The codes of the distinct cells."""
        return range(len(self.low))

    def shares_covered(self, values: FloatArray) -> FloatArray:
        """Return the probability that a random value of each cell is each known value, as a float array (m, cells).

        `values`: the known values, float array (m,), as the method `values` returns them.
        """
        found = self.count_between(values, values)
        found[np.isnan(values)] = self.gap
        return found / self.sizes

    def shares_near(self, values: FloatArray, tolerance: float) -> FloatArray:
        """Return the probability that a random value of each cell is a correct guess, as a float array (m, cells).

        A category is correct if it equals the known value. A number x is correct for the known number v if |x - v| <=
        `tolerance` |x|.
        """
        if not self.numeric or not tolerance:
            return self.shares_covered(values)
        ends = np.sort(np.stack([values / (1 + tolerance), values / (1 - tolerance)]), axis=0)
        found = self.count_between(*ends)
        found[np.isnan(values)] = self.gap
        return found / self.sizes

    def distances(self, values: FloatArray) -> FloatArray:
        """Return the mean distance between each known value and the values of each cell: float array (m, cells).

        Examples
        --------
        The ages 30 and 40 and the label 30-39, in a domain from 0 to 100, have the mean distances (0 + ... + 9) / 10 /
        100 = 0.045 and (1 + ... + 10) / 10 / 100 = 0.055.
        """
        if not self.numeric:
            return 1 - self.shares_covered(values)
        domain = self.published.schema[self.name].numbers
        total = np.zeros((len(values), len(self.codes_of_cells)))
        for low, high in zip(self.low.T, self.high.T, strict=True):
            number = np.rint((high - low) / self.step) + 1
            left, right = (values[:, None] - low) / self.step, (high - values[:, None]) / self.step
            inside = (left * (left + 1) + right * (right + 1)) / 2
            outside = number * np.abs(left - right) / 2
            total += np.nan_to_num(np.where((left < 0) | (right < 0), outside, inside) * self.step / domain.width)
        missing = np.isnan(values)
        total[~missing] += self.gap  # a missing number is as far from each number as low is from high
        total[missing] = self.sizes - self.gap
        return total / self.sizes


def join_distances(columns: Sequence[ReleasedColumn], values: Sequence[FloatArray]) -> FloatArray:
    """Return the distances between m people and the cells of all columns, side by side: float array (m, cells)."""
    return np.column_stack([column.distances(own) for column, own in zip(columns, values, strict=True)])
