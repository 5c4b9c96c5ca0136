"""The density with which a release covers a record, compared with the density of people who are not in the release.

A released row covers a record to a degree, from 0 to 1, and has a weight:

- a label covers each of its values with degree 1 and weight 1 / (number of values that it covers);
- a bucket covers each value with the value's share of the bucket;
- a number that was moved covers other numbers by a normal curve, which falls with the distance. The curve is as wide as
  the noise if the law of the noise is known, and otherwise as wide as in Silverman's rule;
- a category that was moved covers other categories by its law, or by `OTHER_DEGREE` if the law is unknown.

The density of a record is the sum, over rows, of the number of equal rows times degree times weight. The density of the
other people is the same sum, with the number of other people whom each row covers in place of the number of equal rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from privnb.attacks.linkage.linkage import cells_of
from privnb.attacks.linkage.record_linkage import to_coordinates
from privnb.microdata.treatment import UNTRUE, Unreadable
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray

OTHER_DEGREE = 0.1  # degree to which a moved category covers another one if its law is unknown
UNSEEN_PEOPLE = 0.5  # added to the number of other people that each row covers, so that no row covers 0 of them
CHUNK = 1024  # records at a time
MAX_WIDTHS = 4.0  # widths of a normal curve, beyond which it covers nothing


@dataclass(frozen=True, eq=False)
class Coverage:
    """The distinct rows of a release, with the degrees to which they cover records.

    `Coverage.of` builds such an object.

    Attributes
    ----------
    times, weights : array (rows,)
        The number of times that each row is published, and its weight for each record that it covers.
    labels : dict of str to (integer array (rows,), list of integer arrays)
        The cell of each row, and the runs of positions that each cell covers.
    tables : dict of str to (integer array (rows,), function, float array (values, cells))
        The cell of each row, a function that returns the row of the table of degrees for each value, and that table.
    numbers : dict of str to (float array (rows,), float)
        The moved number of each row, and the width of the normal curve around it.
    """

    release: Any
    times: np.ndarray
    weights: np.ndarray
    labels: dict[str, Any]
    tables: dict[str, Any]
    numbers: dict[str, Any]

    @classmethod
    def of(cls, release: Any, names: Sequence[str]) -> Coverage:
        """Build the coverage of one or more attributes `names` that the release publishes, in rows or by bucket."""
        kept = ["bucket" if release.columns[name].kind == "bucketized" else name for name in names]
        columns, times, _ = release.counted_rows([*dict.fromkeys(kept)])
        weights, labels, tables, numbers = np.ones(len(times)), {}, {}, {}
        for name in names:
            kind = release.columns[name].kind
            codes, values = columns["bucket" if kind == "bucketized" else name]
            values = pd.Series(values)
            if kind == "bucketized":
                tables[name] = codes, *_share_by_bucket(release, name, values)
            elif kind in UNTRUE and release.schema[name].numeric:
                numbers[name] = to_coordinates(release, name, values)[codes], _compute_width(release, name)
            elif kind in UNTRUE:
                *moved, total = _degree_by_category(release, name, values)
                tables[name] = codes, *moved
                weights /= total[codes]
            else:
                place, held = cells_of(release, name, values)
                size = np.array([sum(last - first + 1 for first, last in runs) for runs in held])
                weights /= size[place][codes]
                labels[name] = place[codes], held
        return cls(release, times, weights, labels, tables, numbers)

    def densities(self, records: pd.DataFrame, others: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """Return the densities with which the release and the other people cover each of the records.

        Parameters
        ----------
        records, others : DataFrame
            m and r records of a dataset.

        Returns
        -------
        release, others : float array (m,)
            The densities per person, on a common scale; 0 if no row covers the record.
        """
        seen = np.zeros(len(self.times))
        for asked in self._parts(others):
            _add_degrees(asked, seen)
        found, there, begin = np.zeros(len(records)), np.zeros(len(records)), 0
        published, unpublished = self.times * self.weights, (seen + UNSEEN_PEOPLE) * self.weights
        for asked in self._parts(records):
            part = slice(begin, begin := begin + len(asked[0]))
            _add_densities(asked, published, unpublished, found[part], there[part])
        return found / self.times.sum(), there / max(len(others), 1)

    def _parts(self, records: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
        """Yield the input of the kernels for `CHUNK` records at a time.

        Each part has a bit matrix (records, bytes of 8 rows) of the rows that cover each record at least in part, and
        the degrees of tables and numbers.
        """
        n, bits, tables, numbers = len(self.times), [], [], []
        for name, (cell, held) in self.labels.items():
            index, known = cells_of(self.release, name, records[name])
            number = np.repeat(np.arange(len(held)), [len(runs) for runs in held])
            first, last = np.concatenate(held).T
            there = np.zeros((len(known), len(held)), dtype=bool)
            for own, meets in zip(known, there, strict=True):
                meets[number[(first <= own[0, 0]) & (own[0, 0] <= last)]] = True
            bits.append((index, _pack_bits(there, cell)))
        for name, (cell, row, degrees) in self.tables.items():
            tables.append((row(records[name]), cell, degrees))
            bits.append((tables[-1][0], _pack_bits(degrees > 0, cell)))
        for name, (moved, width) in self.numbers.items():
            values, index = np.unique(to_coordinates(self.release, name, records[name]), return_inverse=True)
            near = np.array([np.packbits(np.abs(moved - value) <= MAX_WIDTHS * width) for value in values])
            bits.append((index, near))
            numbers.append((values[index], moved, width))
        everyone = np.packbits(np.ones(n, dtype=bool))
        begins = np.cumsum([0, *(degrees.size for _, _, degrees in tables)])[:-1].astype(np.int64)
        widths = np.array([degrees.shape[1] for _, _, degrees in tables], dtype=np.int64)
        flat = np.concatenate([*(degrees.ravel() for _, _, degrees in tables), np.zeros(0)])
        rows, cells = (
            _stack_columns([each[side] for each in tables], size, int) for side, size in ((0, len(records)), (1, n))
        )
        own, moved = (
            _stack_columns([e[side] for e in numbers], size, float) for side, size in ((0, len(records)), (1, n))
        )
        curve = np.array([width for _, _, width in numbers], dtype=float)
        for begin in range(0, len(records), CHUNK):
            part = slice(begin, begin + CHUNK)
            fit = np.tile(everyone, (len(rows[part]), 1))
            for index, each in bits:
                fit &= each[index[part]]
            yield fit, rows[part], cells, flat, begins, widths, own[part], moved, curve


def _pack_bits(there: BoolArray, cell: IntArray) -> IntArray:
    """Return the rows that cover each value, as a bit matrix (values, bytes); `there` is (values, cells)."""
    return np.array([np.packbits(covers[cell]) for covers in there])


def _stack_columns(columns: Sequence[Any], rows: int, dtype: type[Any]) -> Array:
    return np.ascontiguousarray(np.column_stack(columns), dtype=dtype) if columns else np.zeros((rows, 0), dtype=dtype)


def _share_by_bucket(release: Any, name: str, numbers: Any) -> Any:
    """Return the share of each value in each bucket.

    The result is a function that returns the row of a value, and a float array (values + 1, buckets), whose last row
    belongs to any other value.
    """
    held = release.buckets[release.buckets["attribute"] == name]
    wide = held.pivot_table(index="value", columns="bucket", values="count", aggfunc="sum", fill_value=0, observed=True)
    wide = wide.reindex(columns=numbers, fill_value=0)
    shares = np.vstack([wide.to_numpy(dtype=float), np.zeros(len(numbers))])

    def row(column: Any) -> Any:
        place = wide.index.astype(object).get_indexer(np.asarray(column, dtype=object))
        return np.where(place < 0, len(wide), place)

    return row, shares / np.maximum(shares.sum(axis=0), 1)


def _degree_by_category(release: Any, name: str, cells: pd.Series) -> tuple[Callable[..., Any], FloatArray, FloatArray]:
    """Return the degree to which each released category covers each value.

    The result is a function that returns the row of a value, a float array (rows, cells) of degrees, and the sum of
    the degrees over all values of the domain, float array (cells,).
    """
    domain, law = release.schema[name].domain, release.columns[name].law
    seen = domain.codes(cells)
    if law is not None and law.together is None:
        with contextlib.suppress(Unreadable):
            degrees = law.transition(len(domain.values))
            degrees = (degrees / degrees.max(axis=0))[:, seen]
            return domain.codes, degrees, degrees.sum(axis=0)
    places, at = np.unique(seen, return_inverse=True)

    def row(column: pd.Series) -> IntArray:  # the last row belongs to all values that are in no cell
        found = domain.codes(column)
        return np.where(np.isin(found, places), np.searchsorted(places, found), len(places))

    degrees = np.where(np.arange(len(places) + 1)[:, None] == at, 1.0, OTHER_DEGREE)
    return row, degrees, np.full(len(seen), 1 + OTHER_DEGREE * (len(domain.values) - 1))


def _compute_width(release: Any, name: str) -> float:
    """Return the width of the normal curve around a moved number, in the unit of the number."""
    law, domain = release.columns[name].law, release.schema[name].domain
    column = to_coordinates(release, name, release.cells[name])
    if law is not None:
        try:
            return max(float(np.sqrt(law.variance)), domain.step / 2)
        except Unreadable:
            pass
    # Silverman, Density Estimation, 1986, equation 3.28.
    return max(1.06 * float(column.std()) * len(column) ** -0.2, domain.step / 2)


@njit(cache=True)
def _degree(asked: Any, x: Any, b: Any) -> Any:
    """Return the degree to which row `b` covers record `x`.

    `asked` is a tuple that contains `fit` (records, bytes); `rows` (records, tables) and `cells` (rows, tables), which
    locate the degrees in `flat`; and `own` (records, numbers) and `moved` (rows, numbers).
    """
    _, rows, cells, flat, begins, widths, own, moved, curve = asked
    degree = 1.0
    for c in range(len(begins)):
        degree *= flat[begins[c] + rows[x, c] * widths[c] + cells[b, c]]
    for c in range(len(curve)):
        degree *= np.exp(-(((own[x, c] - moved[b, c]) / curve[c]) ** 2) / 2)
    return degree


@njit(cache=True)
def _add_degrees(asked: Any, seen: Any) -> None:
    """Add to `seen`, a float array (rows,), the degree to which each row covers each record."""
    fit = asked[0]
    for x in range(len(fit)):
        for byte in range(fit.shape[1]):
            bits = fit[x, byte]
            for bit in range(8) if bits else range(0):
                if bits & (128 >> bit):
                    b = byte * 8 + bit
                    seen[b] += _degree(asked, x, b)


@njit(cache=True)
def _add_densities(asked: Any, first: Any, second: Any, found: Any, there: Any) -> None:
    """Add the sum over rows of degree times `first` to `found`, and the sum of degree times `second` to `there`."""
    fit = asked[0]
    for x in range(len(fit)):
        for byte in range(fit.shape[1]):
            bits = fit[x, byte]
            for bit in range(8) if bits else range(0):
                if bits & (128 >> bit):
                    b = byte * 8 + bit
                    degree = _degree(asked, x, b)
                    found[x] += degree * first[b]
                    there[x] += degree * second[b]
