"""How densely a release covers a record, beside how densely other people do who are not in it.

A released row covers a record to a degree, from 0 to 1, and stands for it with a weight:

- a label covers each of its values in full, and each with 1 / (how many it covers);
- in a bucket each value is covered by its share of the bucket;
- a number that was moved covers others the less the farther they are, by a normal curve: as wide as the noise of a
  known law, else as Silverman's rule says;
- a category that was moved covers others by its law, or by `OTHER` where none is known.

The density of a record is the sum over rows of their number times degree times weight. The other people's is the same
sum, of how many of them each row covers.
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
from privnb.attacks.linkage.record_linkage import points
from privnb.microdata.treatment import UNTRUE, Unreadable
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray

OTHER = 0.1  # how far a moved category covers another one, where no law says it
FEW = 0.5  # other people whom each row covers beside those seen: nobody seen does not mean nobody there
CHUNK = 1024  # records at a time
FAR = 4.0  # widths of a normal curve, beyond which it covers nothing


@dataclass(frozen=True, eq=False)
class Cover:
    """The distinct rows of a release, as what covers records.

    Build it by `of`.

    Attributes
    ----------
    times, weights : array (rows,)
        How often each row is published, and how much it stands for each record that it covers.
    labels : dict of str to (integer array (rows,), list of integer arrays)
        Which cell each row has, and the runs of positions that each cell covers.
    tables : dict of str to (integer array (rows,), function, float array (values, cells))
        Which cell each row has; the function says which row of the table of degrees each value has.
    numbers : dict of str to (float array (rows,), float)
        The moved number of each row, and the width of the curve about it.
    """

    release: Any
    times: np.ndarray
    weights: np.ndarray
    labels: dict[str, Any]
    tables: dict[str, Any]
    numbers: dict[str, Any]

    @classmethod
    def of(cls, release: Any, names: Sequence[str]) -> Cover:
        """Of the attributes `names` that the release publishes, one or more, in rows or by bucket."""
        kept = ["bucket" if release.columns[name].kind == "bucketized" else name for name in names]
        columns, times, _ = release.counted_rows([*dict.fromkeys(kept)])
        weights, labels, tables, numbers = np.ones(len(times)), {}, {}, {}
        for name in names:
            kind = release.columns[name].kind
            codes, values = columns["bucket" if kind == "bucketized" else name]
            values = pd.Series(values)
            if kind == "bucketized":
                tables[name] = codes, *_of_buckets(release, name, values)
            elif kind in UNTRUE and release.schema[name].numeric:
                numbers[name] = points(release, name, values)[codes], _width(release, name)
            elif kind in UNTRUE:
                *moved, total = _of_moved(release, name, values)
                tables[name] = codes, *moved
                weights /= total[codes]
            else:
                place, held = cells_of(release, name, values)
                size = np.array([sum(last - first + 1 for first, last in runs) for runs in held])
                weights /= size[place][codes]
                labels[name] = place[codes], held
        return cls(release, times, weights, labels, tables, numbers)

    def densities(self, records: pd.DataFrame, others: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
        """How densely each of the records is covered by the release, and by other people.

        Parameters
        ----------
        records, others : DataFrame
            m and r records of a dataset.

        Returns
        -------
        release, others : float array (m,)
            Each by person, on one scale; 0 where nothing covers the record.
        """
        seen = np.zeros(len(self.times))
        for asked in self._parts(others):
            _hold(asked, seen)
        found, there, begin = np.zeros(len(records)), np.zeros(len(records)), 0
        published, beside = self.times * self.weights, (seen + FEW) * self.weights
        for asked in self._parts(records):
            part = slice(begin, begin := begin + len(asked[0]))
            _add_up(asked, published, beside, found[part], there[part])
        return found / self.times.sum(), there / max(len(others), 1)

    def _parts(self, records: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
        """What kernels read of some records at a time: which rows cover each in part, bit matrix (some, bytes of 8
        rows), and the degrees of tables and numbers.
        """
        n, bits, tables, numbers = len(self.times), [], [], []
        for name, (cell, held) in self.labels.items():
            index, known = cells_of(self.release, name, records[name])
            number = np.repeat(np.arange(len(held)), [len(runs) for runs in held])
            first, last = np.concatenate(held).T
            there = np.zeros((len(known), len(held)), dtype=bool)
            for own, meets in zip(known, there, strict=True):
                meets[number[(first <= own[0, 0]) & (own[0, 0] <= last)]] = True
            bits.append((index, _bits(there, cell)))
        for name, (cell, row, degrees) in self.tables.items():
            tables.append((row(records[name]), cell, degrees))
            bits.append((tables[-1][0], _bits(degrees > 0, cell)))
        for name, (moved, width) in self.numbers.items():
            values, index = np.unique(points(self.release, name, records[name]), return_inverse=True)
            near = np.array([np.packbits(np.abs(moved - value) <= FAR * width) for value in values])
            bits.append((index, near))
            numbers.append((values[index], moved, width))
        everyone = np.packbits(np.ones(n, dtype=bool))
        begins = np.cumsum([0, *(degrees.size for _, _, degrees in tables)])[:-1].astype(np.int64)
        widths = np.array([degrees.shape[1] for _, _, degrees in tables], dtype=np.int64)
        flat = np.concatenate([*(degrees.ravel() for _, _, degrees in tables), np.zeros(0)])
        rows, cells = (_stack([each[side] for each in tables], size, int) for side, size in ((0, len(records)), (1, n)))
        own, moved = (_stack([e[side] for e in numbers], size, float) for side, size in ((0, len(records)), (1, n)))
        curve = np.array([width for _, _, width in numbers], dtype=float)
        for begin in range(0, len(records), CHUNK):
            part = slice(begin, begin + CHUNK)
            fit = np.tile(everyone, (len(rows[part]), 1))
            for index, each in bits:
                fit &= each[index[part]]
            yield fit, rows[part], cells, flat, begins, widths, own[part], moved, curve


def _bits(there: BoolArray, cell: IntArray) -> IntArray:
    """Which rows cover each value: bit matrix (values, bytes). there: boolean (values, cells); cell: of each row."""
    return np.array([np.packbits(covers[cell]) for covers in there])


def _stack(columns: Sequence[Any], rows: int, dtype: type[Any]) -> Array:
    return np.ascontiguousarray(np.column_stack(columns), dtype=dtype) if columns else np.zeros((rows, 0), dtype=dtype)


def _of_buckets(release: Any, name: str, numbers: Any) -> Any:
    """The share of each value in each bucket: which row a value has, a function, and a float array (values + 1,
    buckets), whose last row is of any other value.
    """
    held = release.buckets[release.buckets["attribute"] == name]
    wide = held.pivot_table(index="value", columns="bucket", values="count", aggfunc="sum", fill_value=0, observed=True)
    wide = wide.reindex(columns=numbers, fill_value=0)
    shares = np.vstack([wide.to_numpy(dtype=float), np.zeros(len(numbers))])

    def row(column: Any) -> Any:
        place = wide.index.astype(object).get_indexer(np.asarray(column, dtype=object))
        return np.where(place < 0, len(wide), place)

    return row, shares / np.maximum(shares.sum(axis=0), 1)


def _of_moved(release: Any, name: str, cells: pd.Series) -> tuple[Callable[..., Any], FloatArray, FloatArray]:
    """How far each released category covers each value: which row a value has, a function, a float array (rows, cells),
    and the sum over all values of the domain, (cells,).
    """
    domain, law = release.schema[name].domain, release.columns[name].law
    seen = domain.codes(cells)
    if law is not None and law.together is None:
        with contextlib.suppress(Unreadable):
            degrees = law.transition(len(domain.values))
            degrees = (degrees / degrees.max(axis=0))[:, seen]
            return domain.codes, degrees, degrees.sum(axis=0)
    places, at = np.unique(seen, return_inverse=True)

    def row(column: pd.Series) -> IntArray:  # the last is that of all values that no cell has
        found = domain.codes(column)
        return np.where(np.isin(found, places), np.searchsorted(places, found), len(places))

    degrees = np.where(np.arange(len(places) + 1)[:, None] == at, 1.0, OTHER)
    return row, degrees, np.full(len(seen), 1 + OTHER * (len(domain.values) - 1))


def _width(release: Any, name: str) -> float:
    """How wide the normal curve about a moved number is, in its unit."""
    law, domain = release.columns[name].law, release.schema[name].domain
    column = points(release, name, release.cells[name])
    if law is not None:
        try:
            return max(float(np.sqrt(law.variance)), domain.step / 2)
        except Unreadable:
            pass
    # Silverman, Density Estimation, 1986, equation 3.28.
    return max(1.06 * float(column.std()) * len(column) ** -0.2, domain.step / 2)


@njit(cache=True)
def _degree(asked: Any, x: Any, b: Any) -> Any:
    """How far row `b` covers record `x`. asked: fit (records, bytes); rows (records, tables) and cells (rows, tables),
    which place degrees in `flat`; own (records, numbers), moved (rows, numbers).
    """
    _, rows, cells, flat, begins, widths, own, moved, curve = asked
    degree = 1.0
    for c in range(len(begins)):
        degree *= flat[begins[c] + rows[x, c] * widths[c] + cells[b, c]]
    for c in range(len(curve)):
        degree *= np.exp(-(((own[x, c] - moved[b, c]) / curve[c]) ** 2) / 2)
    return degree


@njit(cache=True)
def _hold(asked: Any, seen: Any) -> None:
    """Add to each row, float array (rows,), how far it covers each record."""
    fit = asked[0]
    for x in range(len(fit)):
        for byte in range(fit.shape[1]):
            bits = fit[x, byte]
            for bit in range(8) if bits else range(0):
                if bits & (128 >> bit):
                    b = byte * 8 + bit
                    seen[b] += _degree(asked, x, b)


@njit(cache=True)
def _add_up(asked: Any, first: Any, second: Any, found: Any, there: Any) -> None:
    """Add to each record the sums over rows of degree times `first`, and times `second`, float arrays (rows,)."""
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
