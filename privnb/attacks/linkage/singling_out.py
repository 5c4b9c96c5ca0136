"""Predicates that an adversary learns from a release in order to single out a person in the original table.

Source: Giomi, Boenisch, Wehmeyer, Tasnadi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs
2023, section 5.1; the idea is from Cohen and Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS
117(15), 2020.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.random import Generator

from privnb.attacks.algorithms.predicates import AMONG, ANYTHING, MISSING, NOT_AMONG, count_matches
from privnb.attacks.linkage.released_cells import ReleasedColumn
from privnb.microdata.release import Published
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray

BATCH, MAX_TRIES = 2000, 200_000  # combinations that are tried at a time and in total


class Predicates(NamedTuple):
    """Predicates with the same number of terms. A record matches a predicate if it matches all terms.

    Attributes
    ----------
    columns, kinds, terms : integer arrays (predicates, terms)
        The column of each term, the kind of the term (see `algorithms.predicates`), and the released cell in the term.
    ends : float array (predicates, terms, 2)
        The first and the last number of each term.
    """

    columns: IntArray
    kinds: IntArray
    terms: IntArray
    ends: FloatArray

    def of(self, chosen: IntArray | BoolArray) -> Self:
        """Return the chosen predicates."""
        return type(self)(self.columns[chosen], self.kinds[chosen], self.terms[chosen], self.ends[chosen])

    def joined(self, other: Self) -> Self:
        """Return these predicates followed by other predicates."""
        parts: list[Any] = [np.concatenate(each) for each in zip(self, other, strict=True)]
        return type(self)(*parts)


class _Records(NamedTuple):
    """Records in the form in which `count_matches` reads them."""

    codes: IntArray
    cells: FloatArray
    gaps: BoolArray
    covers: BoolArray
    widths: IntArray


@dataclass(frozen=True, eq=False)
class SinglingOut:
    """The predicates that an adversary learns from the values and labels of a release.

    A univariate predicate consists of one cell of a column, or of the largest or the smallest numbers of a column. A
    multivariate predicate combines several columns of one released row: the value of each category, and, for each
    number, "at least this number" if the number exceeds the median, otherwise "at most this number". A label stands for
    all values that it covers, and `*` stands for any value. The adversary uses a predicate if it could match exactly
    one released row.

    Parameters
    ----------
    published : Published
    names : sequence of str
        The columns that the predicates read.
    """

    published: Published
    names: tuple[str, ...]

    @cached_property
    def columns(self) -> list[ReleasedColumn]:
        """The released columns that the predicates read."""
        return [ReleasedColumn.of(self.published, name) for name in self.names]

    @cached_property
    def _rows(self) -> _Records:
        covers = []
        for column in self.columns:
            if column.numeric:
                covers.append(np.zeros((0, len(column.low)), dtype=bool))
            else:
                values = column.shares_covered(np.arange(column.domain_size, dtype=float)) > 0
                covers.append(values.T.astype(np.int64) @ values > 0)
        ends = [_ends(column) for column in self.columns]
        return _records([c.codes for c in self.columns], ends, [c.gap for c in self.columns], covers)

    @cached_property
    def _kinds(self) -> list[IntArray]:
        """The kind of a term with each distinct cell, one integer array per column."""
        kinds = []
        for column in self.columns:
            everything = column.sizes == column.domain_size
            kinds.append(np.where(everything, ANYTHING, np.where(column.gap & (column.sizes == 1), MISSING, AMONG)))
        return kinds

    @cached_property
    def _numeric(self) -> BoolArray:
        return np.array([column.numeric for column in self.columns])

    def count(self, predicates: Predicates, table: pd.DataFrame, owners: IntArray) -> IntArray:
        """Return the number of people in a table whom each predicate matches, as an integer array (predicates,)."""
        codes, ends, gaps, covers = [], [], [], []
        for column in self.columns:
            values, code = np.unique(column.values(table[column.name]), return_inverse=True)
            codes.append(code.ravel())
            ends.append(np.column_stack([values, values]))
            gaps.append(np.isnan(values))
            none = np.zeros((0, len(values)), dtype=bool)
            covers.append(none if column.numeric else column.shares_covered(values).T > 0)
        return self._count(predicates, _records(codes, ends, gaps, covers), owners)

    def _count(self, predicates: Predicates, records: _Records, owners: IntArray, enough: int = 2**62) -> IntArray:
        sizes = [len(column.low) * width for column, width in zip(self.columns, records.widths, strict=True)]
        sizes = [0 if numeric else size for size, numeric in zip(sizes, self._numeric, strict=True)]
        starts = np.append(0, np.cumsum(sizes)[:-1])
        columns, kinds, terms, ends = predicates
        return count_matches(
            columns, kinds, ends, terms, records.codes, records.cells, records.gaps, self._numeric, records.covers,
            starts, records.widths, owners, enough,
        )  # fmt: skip

    def _single_out(self, predicates: Predicates) -> BoolArray:
        """Return, as a boolean array (predicates,), which predicates could match exactly one released row."""
        rows = np.arange(len(self.published.table))
        return self._count(predicates, self._rows, rows, enough=2) == 1

    def learn_univariate(self, number: int, rng: Generator) -> Predicates:
        """Return at most `number` predicates with one term that each single out a released row."""
        columns, kinds, terms, ends = [], [], [], []
        for place, column in enumerate(self.columns):
            own, bounds = self._kinds[place], _ends(column)
            told = np.flatnonzero(own != ANYTHING)
            parts = [(told, own[told], bounds[told])]
            exact = np.flatnonzero(own == AMONG)
            if column.numeric and len(exact):
                least, most = bounds[exact, 1].min(), bounds[exact, 0].max()
                parts.append((exact[:1], np.array([AMONG]), np.array([[-np.inf, least]])))
                parts.append((exact[:1], np.array([AMONG]), np.array([[most, np.inf]])))
            for cell, kind, interval in parts:
                columns.append(np.full(len(cell), place))
                kinds.append(kind)
                terms.append(cell)
                ends.append(interval)
        found = Predicates(*(np.concatenate(part)[:, None] for part in (columns, kinds, terms, ends)))
        found = found.of(self._single_out(found))
        return found.of(rng.permutation(len(found.columns))[:number])

    def learn_multivariate(self, number: int, terms: int, rng: Generator) -> Predicates:
        """Return at most `number` different predicates with `terms` columns that each single out a released row.

        If there are at most `MAX_TRIES` combinations of a row and a set of columns, all combinations are tried.
        Otherwise, `MAX_TRIES` combinations are drawn at random.
        """
        terms = min(terms, len(self.columns))
        known = dict[bytes, None]()
        found = Predicates(*(np.zeros((0, terms), dtype=np.int64),) * 3, np.zeros((0, terms, 2)))
        for rows, chosen in self._draw(terms, rng):
            cells = self._rows.codes[chosen, rows[:, None]]
            kinds, ends = np.zeros_like(cells), np.zeros((*cells.shape, 2))
            for place, column in enumerate(self.columns):
                there = chosen == place
                kinds[there] = self._kinds[place][cells[there]]
                ends[there] = _beyond_median(column)[cells[there]]
            keys = np.concatenate([chosen, kinds, cells], axis=1)
            new = np.array([row for row, key in enumerate(keys) if key.tobytes() not in known], dtype=np.int64)
            tried, keys = Predicates(chosen, kinds, cells, ends).of(new), keys[new]
            alone = np.flatnonzero(self._single_out(tried))
            first = alone[np.sort(np.unique(keys[alone], axis=0, return_index=True)[1])]
            known |= dict.fromkeys(key.tobytes() for key in keys[first])
            found = found.joined(tried.of(first))
            if len(found.columns) >= number:
                break
        return found.of(np.arange(min(number, len(found.columns))))

    def _draw(self, terms: int, rng: Generator) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield, in parts, m rows, integer array (m,), and a set of columns for each row, integer array (m, terms)."""
        rows, columns = len(self.published.table), len(self.columns)
        if rows * comb(columns, terms) <= MAX_TRIES:
            sets = np.array([*combinations(range(columns), terms)])
            every = rng.permutation(rows * len(sets))
            for start in range(0, len(every), BATCH):
                part = every[start : start + BATCH]
                yield part // len(sets), sets[part % len(sets)]
            return
        for _ in range(MAX_TRIES // BATCH):
            drawn = rng.random((BATCH, columns)).argsort(axis=1)[:, :terms]
            yield rng.integers(rows, size=BATCH), np.sort(drawn, axis=1)

    def guess(self, number: int, terms: int, rng: Generator) -> Predicates:
        """Return predicates with random columns, random released cells of these columns, and random comparisons."""
        terms = min(terms, len(self.columns))
        chosen = rng.random((number, len(self.columns))).argsort(axis=1)[:, :terms]
        cells, kinds, ends = np.zeros_like(chosen), np.zeros_like(chosen), np.zeros((*chosen.shape, 2))
        for place, column in enumerate(self.columns):
            there, bounds = chosen == place, _ends(column)
            cell = rng.integers(len(bounds), size=there.sum())
            low, high = bounds[cell].T
            after, before = np.nextafter(high, np.inf), np.nextafter(low, -np.inf)
            every = np.full(len(cell), np.inf)
            ways = np.array([(low, high), (low, high), (after, every), (-every, before), (low, every), (-every, high)])
            way = rng.integers(len(ways) if column.numeric else 2, size=len(cell))
            kind = np.where(way == 1, NOT_AMONG, AMONG)
            own = ways[way, :, np.arange(len(cell))]
            gap = np.isnan(low)
            kind[gap & (kind == AMONG)] = MISSING
            own[gap] = -np.inf, np.inf  # not missing: not the mark
            kind[gap & (kind == NOT_AMONG)] = AMONG
            cells[there], kinds[there], ends[there] = cell, kind, own
        return Predicates(chosen, kinds, cells, ends)


def _ends(column: ReleasedColumn) -> FloatArray:
    """Return the first and the last value of each distinct cell, or NaN for a missing number: array (cells, 2)."""
    missing = np.isnan(column.low).all(axis=1)
    low, high = column.low.copy(), column.high.copy()
    low[missing] = high[missing] = 0
    found = np.column_stack([np.nanmin(low, axis=1), np.nanmax(high, axis=1)])
    found[missing] = np.nan
    return found


def _beyond_median(column: ReleasedColumn) -> FloatArray:
    """Return the interval of numbers at least as far from the median as each distinct cell: float array (cells, 2)."""
    ends = _ends(column)
    middle = ends.mean(axis=1)
    known = middle[column.codes]
    known = known[~np.isnan(known)]
    above = middle > (np.median(known) if len(known) else 0)
    return np.column_stack([np.where(above, ends[:, 0], -np.inf), np.where(above, np.inf, ends[:, 1])])


def _records(
    codes: Sequence[IntArray], ends: Sequence[FloatArray], gaps: Sequence[BoolArray], covers: Sequence[BoolArray]
) -> _Records:
    widths = np.array([len(each) for each in ends])
    cells, missing = np.zeros((len(ends), widths.max(), 2)), np.zeros((len(ends), widths.max()), dtype=bool)
    for place, (own, gap) in enumerate(zip(ends, gaps, strict=True)):
        cells[place, : len(own)], missing[place, : len(own)] = own, gap
    flat = np.concatenate([np.asarray(each, dtype=bool).ravel() for each in covers])
    return _Records(np.array(codes), cells, missing, flat, widths)
